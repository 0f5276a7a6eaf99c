"""The HTTP server: TensorFlow Serving's REST API on aiohttp.

GET  /v1/models/NAME[/versions/N]            the states of versions
GET  /v1/models/NAME[/versions/N]/metadata   the signatures
POST /v1/models/NAME[/versions/N]:predict    {"signature_name": ..., "instances": [...]} or {"inputs": ...}
POST /v1/models/NAME[/versions/N]:classify   {"signature_name": ..., "examples": [...]}; and :regress
GET  /monitoring/prometheus/metrics          counts and times of requests
"""

from __future__ import annotations

import asyncio
import gc
import json
import time
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, suppress
from typing import Any

from aiohttp import web

from tapeflow.logger import get_logger
from tapeflow.serving import examples, json_values
from tapeflow.serving.connections import listening
from tapeflow.serving.json_values import BadRequest
from tapeflow.serving.models import Servable, ServedSignature, ServedVersion
from tapeflow.serving.request_batching import Batcher

_MODEL = r"/v1/models/{name:[^/:]+}"
_VERSION = r"/versions/{version:\d{1,18}}"
_SMALL = 1 << 14  # bytes that are read or written within a few milliseconds


class Server:
    """Answers requests for models.

    Args:
        models: the models.
        max_batch_size: the most rows of a call that answers several requests.
        batch_timeout: how many seconds a request waits for others to be answered with.
        threads: how many calls run at a time.
        max_request_bytes: the largest body of a request.
        max_result_bytes: the largest result of a call, all outputs together.

    Raises:
        ValueError: two models have the same name.
    """

    def __init__(
        self, models: list[Servable], max_batch_size: int = 32, batch_timeout: float = 0.001, threads: int = 1,
        max_request_bytes: int = 64 << 20, max_result_bytes: int = 256 << 20,
    ) -> None:  # fmt: skip
        self._models = {m.name: m for m in models}
        if len(self._models) < len(models):
            twice = next(name for name, count in Counter(m.name for m in models).items() if count > 1)
            raise ValueError(f"Two models have the name {twice!r}: name them NAME=PATH.")
        self._most, self._wait = max_batch_size, batch_timeout
        self._most_bytes, self._most_result_bytes = max_request_bytes, max_result_bytes
        self._large = ThreadPoolExecutor(1, "tapeflow-serving-large")  # reads and writes large JSON, one at a time
        self._executor = ThreadPoolExecutor(threads, "tapeflow-serving")
        self._batchers: dict[int, Batcher] = {}
        self._at_work: dict[object, web.Request] = {}  # the requests that are being answered, by their handlers
        self._requests: Counter[tuple[str, int]] = Counter()
        self._seconds: defaultdict[str, float] = defaultdict(float)

    def application(self) -> web.Application:
        """Returns the server as an application of aiohttp."""
        app = web.Application(client_max_size=self._most_bytes, middlewares=[self._answered])
        for path in (_MODEL, _MODEL + _VERSION):
            app.router.add_get(path, self._status)
            app.router.add_get(path + "/metadata", self._metadata)
            for method, handler in (
                ("predict", self._predict), ("classify", self._classify), ("regress", self._regress)
            ):  # fmt: skip
                app.router.add_post(f"{path}:{method}", handler, name=f"{method}{len(path)}")
        app.router.add_get("/monitoring/prometheus/metrics", self._metrics)
        return app

    def listening(self, host: str, port: int) -> AbstractAsyncContextManager[asyncio.Server]:
        """Returns a context. Inside, the server accepts connections; port 0 stands for a free port."""
        return listening(self.application(), self._at_work, host, port)

    @web.middleware
    async def _answered(
        self, request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
    ) -> web.StreamResponse:
        """Answers errors as TensorFlow Serving does, and counts."""
        begin = time.perf_counter()
        self._at_work[request.protocol] = request
        method = request.path.rpartition(":")[2] if ":" in request.path else "get"
        try:
            response = await handler(request)
        except BadRequest as error:
            response = _json({"error": str(error)}, error.status)
        except web.RequestPayloadError as error:  # for example, the body is not compressed as declared
            response = _json({"error": f"The request's body can't be read: {error}"}, 400)
        except web.HTTPException as error:
            response = _json({"error": error.text or error.reason}, error.status)
        except Exception as error:  # the server goes on; the log has it
            get_logger().exception("serving: %s failed", request.path)
            response = _json({"error": f"The model failed: {type(error).__name__}. The server's log says more."}, 500)
        finally:
            del self._at_work[request.protocol]
        label = method if method in ("predict", "classify", "regress", "get") else "other"
        self._requests[label, response.status] += 1
        self._seconds[label] += time.perf_counter() - begin
        return response

    # ---- models ----------------------------------------------------------------------------------------------------

    def _model(self, request: web.Request) -> tuple[Servable, ServedVersion]:
        """Returns the model and version that a request names.

        Raises:
            HTTPNotFound: there is none.
        """
        name, number = request.match_info["name"], request.match_info.get("version")
        model = self._models.get(name)
        version = None if model is None else model.version(None if number is None else int(number))
        if model is None or version is None:
            which = f"version {number} of " if model is not None else ""
            raise web.HTTPNotFound(text=f"There is no {which}model {name!r}.")
        return model, version

    async def _status(self, request: web.Request) -> web.Response:
        model, version = self._model(request)
        numbers = [version.number] if "version" in request.match_info else sorted(model.versions, reverse=True)
        status = {"error_code": "OK", "error_message": ""}
        return _json(
            {"model_version_status": [{"version": str(n), "state": "AVAILABLE", "status": status} for n in numbers]}
        )

    async def _metadata(self, request: web.Request) -> web.Response:
        model, version = self._model(request)
        return _json(version.metadata(model.name))

    # ---- methods ---------------------------------------------------------------------------------------------------

    async def _predict(self, request: web.Request) -> web.Response:
        return await self._call(request, _columns, lambda outputs, in_rows: json_values.predictions(outputs, in_rows))

    async def _classify(self, request: web.Request) -> web.Response:
        return await self._call(request, _examples, lambda outputs, _: _result(examples.classes(outputs)))

    async def _regress(self, request: web.Request) -> web.Response:
        return await self._call(request, _examples, lambda outputs, _: _result(examples.values(outputs)))

    async def _call(self, request: web.Request, read: Callable[..., Any], write: Callable[..., str]) -> web.Response:
        """Answers a request by a call of a signature.

        Args:
            request: the request.
            read: returns the arrays of its JSON value for a signature, and whether these are rows.
            write: returns the JSON text of the outputs.
        """
        _, version = self._model(request)
        body = await request.read()
        signature, arrays, in_rows = await self._aside(len(body), _read, body, version, read)
        outputs = await self._run(signature, arrays)
        size = sum(value.nbytes for value in outputs.values())
        if size > self._most_result_bytes:
            raise BadRequest(
                f"The result has {size} bytes, and the server sends at most {self._most_result_bytes}.", 429
            )
        text = await self._aside(size, write, outputs, in_rows)
        return web.Response(body=text.encode(), content_type="application/json")

    async def _aside(self, size: int, function: Callable[..., Any], *args: Any) -> Any:
        """Calls a function with a value of this many bytes, in another thread if that takes long."""
        if size <= _SMALL:
            return function(*args)
        return await asyncio.get_running_loop().run_in_executor(self._large, function, *args)

    async def _run(self, signature: ServedSignature, arrays: Any) -> dict[str, Any]:
        batcher = self._batchers.get(id(signature))
        if batcher is None:
            batcher = self._batchers[id(signature)] = Batcher(signature, self._executor, self._most, self._wait)
        return await batcher.run(arrays)

    async def _metrics(self, request: web.Request) -> web.Response:
        lines = ["# TYPE tapeflow_requests_total counter"]
        for (method, status), count in sorted(self._requests.items()):
            lines.append(f'tapeflow_requests_total{{method="{method}",status="{status}"}} {count}')
        lines.append("# TYPE tapeflow_request_seconds_total counter")
        for method, seconds in sorted(self._seconds.items()):
            lines.append(f'tapeflow_request_seconds_total{{method="{method}"}} {seconds:.6f}')
        return web.Response(text="\n".join(lines) + "\n")


def _read(body: bytes, version: ServedVersion, read: Callable[..., Any]) -> tuple[ServedSignature, Any, bool]:
    """Returns the signature that a request calls, its arrays, and whether these are rows.

    Raises:
        BadRequest: the body is not what the signature takes.
    """
    try:
        value = json_values.parsed(body)
        name = value.get("signature_name", "serving_default")
        if not isinstance(name, str):
            raise BadRequest('"signature_name" has to be a string.')
        signature = version.signature(name)
        return signature, *read(value, signature)
    except RecursionError:
        raise BadRequest("The body is nested too deeply.") from None


def _columns(value: dict[str, Any], signature: ServedSignature) -> tuple[Any, bool]:
    columns, in_rows = json_values.columns(value, list(signature.inputs))
    return signature.arrays(columns), in_rows


def _examples(value: dict[str, Any], signature: ServedSignature) -> tuple[Any, bool]:
    return examples.arrays(value, signature), True


def _result(value: list[Any]) -> str:
    return json.dumps({"result": value})


def _json(value: Any, status: int = 200) -> web.Response:
    return web.Response(body=json.dumps(value).encode(), status=status, content_type="application/json")


def run(server: Server, host: str, port: int) -> None:
    """Serves until the process is told to stop.

    Args:
        server: the server.
        host: the address to listen at.
        port: the port.
    """
    # This process serves alone. No other thread runs during a collection, and large requests are many objects.
    gc.freeze()
    gc.set_threshold(50_000, 10, 100)
    with suppress(web.GracefulExit, KeyboardInterrupt):
        asyncio.run(_serve(server, host, port))


async def _serve(server: Server, host: str, port: int) -> None:
    async with server.listening(host, port) as accepting:
        print(f"Serving at http://{host}:{port} (Press CTRL+C to quit)", flush=True)
        await accepting.serve_forever()
