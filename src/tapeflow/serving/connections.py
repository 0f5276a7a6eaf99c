"""The connections of a server, and how it listens for them."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import cast

from aiohttp import web

_TURNS = 3  # of the event loop, from the bytes of a request to its handler


class Connection(asyncio.Protocol):
    """A connection whose client may shut its side after a request, and still gets the answer.

    asyncio closes a connection when its client shuts its side. aiohttp does not prevent that, and the answer is lost.
    TensorFlow Serving reads nothing while it answers, and so sends the answer before it notices.

    Args:
        handler: aiohttp's protocol.
        at_work: the requests that are being answered, by their handlers.
    """

    def __init__(self, handler: web.RequestHandler, at_work: Mapping[object, web.Request]) -> None:
        self._handler, self._at_work = handler, at_work

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._handler.connection_made(transport)

    def connection_lost(self, error: BaseException | None) -> None:
        self._handler.connection_lost(error)

    def data_received(self, data: bytes) -> None:
        self._handler.data_received(data)

    def pause_writing(self) -> None:
        self._handler.pause_writing()

    def resume_writing(self) -> None:
        self._handler.resume_writing()

    def eof_received(self) -> bool:
        """Keeps the connection open, for now."""
        self._close_when_answered(_TURNS)
        return True

    def _close_when_answered(self, turns: int) -> None:
        """Closes the connection after the answer to a whole request; at once if there is none in this many turns."""
        request = self._at_work.get(self._handler)
        if request is not None and request.content.is_eof():
            self._handler.close()
        elif request is None and turns:
            asyncio.get_running_loop().call_soon(self._close_when_answered, turns - 1)
        else:
            self._transport.close()


@asynccontextmanager
async def listening(
    app: web.Application, at_work: Mapping[object, web.Request], host: str, port: int
) -> AsyncIterator[asyncio.Server]:
    """Opens a context: inside, an application accepts connections.

    Args:
        app: the application.
        at_work: the requests that are being answered, by the handlers of their connections.
        host: the address to listen at.
        port: the port; 0 for a free one.

    Raises:
        OSError: nobody can listen there, for example because another program does.
    """
    runner = web.AppRunner(app, handle_signals=True)
    await runner.setup()
    try:
        server = runner.server
        assert server is not None  # it is set up
        loop = asyncio.get_running_loop()
        try:
            accepting = await loop.create_server(lambda: Connection(server(), at_work), host, port)
        except OSError as error:
            raise OSError(f"can't listen at {host}, port {port}: {os.strerror(error.errno or 0)}") from None
        try:
            yield accepting
        finally:
            accepting.close()
    finally:
        await runner.cleanup()
