"""Calls of a server that may be started again: they are repeated until it answers."""

from __future__ import annotations

import time
from typing import Any

from tapeflow.core.fork_locks import new_event
from tapeflow.transport.calls import Client, TaskUnavailableError

_PAUSE = 0.1  # seconds between two attempts


class Caller:
    """Calls the methods of a server, and tries again where it can't be reached.

    Args:
        address: its address.
        name: its name, for messages.
        seconds: how long to try.
    """

    def __init__(self, address: str, name: str, seconds: float) -> None:
        self._client = Client(address, name)
        self._name, self._address, self._seconds = name, address, seconds
        self._closed = new_event()

    @property
    def closed(self) -> bool:
        """True once `close` was called."""
        return self._closed.is_set()

    def call(self, method: str, *args: Any) -> Any:
        """Calls a method, which must not mind to be called twice.

        Raises:
            OpError: the method raised it.
            UnavailableError: the server can't be reached, or the caller is closed.
        """
        until = time.monotonic() + self._seconds
        while not self.closed:
            try:
                return self._client.call(method, *args, timeout=max(until - time.monotonic(), _PAUSE), wait=True)
            except TaskUnavailableError:
                if time.monotonic() > until:
                    raise
            except ValueError:  # gRPC raises it for a closed channel
                if not self.closed:
                    raise
            self._closed.wait(_PAUSE)
        raise TaskUnavailableError.of(f"{self._name} at {self._address} is not called any more")

    def close(self) -> None:
        """Ends the calls under way, and refuses others."""
        self._closed.set()
        self._client.close()
