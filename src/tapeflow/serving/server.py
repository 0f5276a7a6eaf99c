"""The HTTP server: TensorFlow Serving's REST API on aiohttp.

GET  /v1/models/NAME[/versions/N|/labels/L]            the states of versions
GET  /v1/models/NAME[/versions/N|/labels/L]/metadata   the signatures
POST /v1/models/NAME[/versions/N|/labels/L]:predict    {"signature_name": ..., "instances": [...]} or {"inputs": ...}
POST /v1/models/NAME[/versions/N|/labels/L]:classify   {"signature_name": ..., "examples": [...]}; and :regress
GET  /monitoring/prometheus/metrics                    counts and times of requests
"""

from __future__ import annotations

import asyncio
import importlib
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, AsyncExitStack, suppress
from typing import Any, NamedTuple

from aiohttp import web

from tapeflow.core import errors
from tapeflow.core.logger import get_logger
from tapeflow.core.values.strings import StringArray
from tapeflow.serving import examples, json_values
from tapeflow.serving.configs import JOINED, Batching, ModelConfig, list_models, read_message
from tapeflow.serving.connections import listening
from tapeflow.serving.json_process import JsonProcess
from tapeflow.serving.json_values import BadRequest
from tapeflow.serving.metrics import Metrics
from tapeflow.serving.models import (
    RETRIES,
    LoadRetries,
    ModelManager,
    Servable,
    ServedSignature,
    SignatureInputs,
    check_signature,
)
from tapeflow.serving.request_batches import Batcher

_MODEL = r"/v1/models/{name:[^/:]+}"
_CHOICES = ("", r"/versions/{version:\d{1,18}}", r"/labels/{label:[^/:]+}")
METRICS_PATH = "/monitoring/prometheus/metrics"
_METHODS = {"predict": "Predict", "classify": "Classify", "regress": "Regress"}
_CORS = {
    "Access-Control-Allow-Origin": "*", "Access-Control-Allow-Methods": "POST, GET",
    "Access-Control-Allow-Headers": "Content-Type",
}  # fmt: skip
_SMALL = 1 << 15  # bytes that are read or written within a few milliseconds
_PIECE = 1 << 17  # bytes of an answer that are sent at a time


class Server:
    """Answers requests for models.

    Args:
        models: the models.
        batching: how requests share calls.
        max_request_bytes: the largest body of a request.
        max_result_bytes: the largest result of a call, all outputs together.
        metrics_path: the path of the counts of requests; None for none.
        enables_cors: whether programs of other sites may call the server from browsers.
        retries: when versions that can't be loaded are tried again, after another config was loaded.

    Attributes:
        manager: the models and their versions.
        metrics: the counts of requests.
        most_bytes: as `max_request_bytes`.

    Raises:
        ValueError: two models have the same name.
    """

    def __init__(
        self, models: list[Servable], batching: Batching = JOINED,
        max_request_bytes: int = 64 << 20, max_result_bytes: int = 256 << 20, metrics_path: str | None = METRICS_PATH,
        enables_cors: bool = False, retries: LoadRetries = RETRIES,
    ) -> None:  # fmt: skip
        self.manager = ModelManager(models, retries)
        self.metrics = Metrics()
        self._batching, self._metrics_path, self._enables_cors = batching, metrics_path, enables_cors
        self.most_bytes, self._most_result_bytes = max_request_bytes, max_result_bytes
        self._json_process = JsonProcess()
        self._large = ThreadPoolExecutor(1, "tapeflow-serving-large")  # calls that process
        self._executor = ThreadPoolExecutor(batching.threads, "tapeflow-serving")
        self._slots = asyncio.Semaphore(batching.threads + 1)  # a thread that ends a call finds the next one
        self._loader = ThreadPoolExecutor(1, "tapeflow-serving-loader")
        self._batchers: dict[int, Batcher] = {}
        self._at_work: dict[object, web.Request] = {}  # the requests that are being answered, by their handlers

    def application(self) -> web.Application:
        """Returns the server as an application of aiohttp."""
        app = web.Application(client_max_size=self.most_bytes, middlewares=[self._answered])
        app.on_cleanup.append(self._end_json_process)
        for choice in _CHOICES:
            path = _MODEL + choice
            app.router.add_get(path, self._status)
            app.router.add_get(path + "/metadata", self._metadata)
            for method, handler in (
                ("predict", self._predict), ("classify", self._classify), ("regress", self._regress)
            ):  # fmt: skip
                app.router.add_post(f"{path}:{method}", handler, name=f"{method}{len(path)}")
        if self._metrics_path is not None:
            app.router.add_get(self._metrics_path, self._metrics)
        if self._enables_cors:
            app.on_response_prepare.append(_add_cors_headers)
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
        try:
            if self._enables_cors and request.method == "OPTIONS":
                if "Origin" not in request.headers:
                    raise BadRequest("Origin header is missing in CORS preflight")
                response: web.StreamResponse = web.Response()
            else:
                response = await handler(request)
        except BadRequest as error:
            response = _json_response({"error": str(error)}, error.status)
        except web.RequestPayloadError as error:  # for example, the body is not compressed as declared
            response = _json_response({"error": f"The request's body can't be read: {error}"}, 400)
        except web.HTTPException as error:
            response = _json_response({"error": error.text}, error.status)
        except Exception as error:  # the server goes on; the log has it
            get_logger().exception("serving: %s failed", request.path)
            text = f"The model failed: {type(error).__name__}. The server's log says more."
            response = _json_response({"error": text}, 500)
        finally:
            del self._at_work[request.protocol]
        name = request.match_info.get("name", "")
        if name in self.manager.models:
            method = _METHODS.get(request.path.rpartition(":")[2])
            method = method or ("GetModelMetadata" if request.path.endswith("/metadata") else "GetModelStatus")
            self.metrics.record(name, method, "REST", response.status, time.perf_counter() - begin)
        return response

    # ---- models ----------------------------------------------------------------------------------------------------

    async def refresh(self) -> None:
        """Loads new versions of the models, and lets go of those that are not to be served any more."""
        await self._change_models(self.manager.refresh)

    async def reload(self, configs: list[ModelConfig]) -> None:
        """Serves other models: all that a config lists or, if one can't be loaded, the same as before.

        Raises:
            OSError: there is no SavedModel.
            ValueError: a label names a version that is not served, or a SavedModel is damaged.
            OpError: a SavedModel is damaged.
        """
        await self._change_models(self.manager.reload, configs)

    async def _change_models(self, change: Callable[..., None], *args: Any) -> None:
        """Changes the models in the one thread that does so, while others answer."""
        await asyncio.get_running_loop().run_in_executor(self._loader, change, *args)
        versions = [version for model in self.manager.models.values() for version in model.versions.values()]
        alive = {id(signature) for version in versions for signature in version.signatures.values()}
        self._batchers = {key: batcher for key, batcher in self._batchers.items() if key in alive}

    async def poll(self, seconds: float) -> None:
        """Looks for new versions until the task is cancelled."""
        while True:
            await asyncio.sleep(seconds)
            try:
                await self.refresh()
            except Exception:  # the server goes on; the log has it
                get_logger().exception("serving: looking for new versions failed")

    async def poll_config(self, path: str, seconds: float) -> None:
        """Serves the models that a file lists, whenever it changes, until the task is cancelled.

        Args:
            path: the file: a `ModelServerConfig` in text.
            seconds: how often to read it.
        """
        current: list[ModelConfig] | None = None
        failure = ""
        while True:
            await asyncio.sleep(seconds)
            try:
                configs = list_models(read_message(path, "ModelServerConfig"))
                if configs != current:
                    await self.reload(configs)
                    get_logger().info("serving: %s is served", path)
                current, failure = configs, ""
            except (OSError, ValueError, errors.OpError) as error:
                if failure != str(error):
                    get_logger().error("serving: %s is not served; the models of before are: %s", path, error)
                failure = str(error)

    async def _status(self, request: web.Request) -> web.Response:
        states = [
            {"version": str(s.number), "state": s.name, "status": {"error_code": s.code, "error_message": s.message}}
            for s in self.manager.states(*_choice_of(request))
        ]
        return _json_response({"model_version_status": states})

    async def _metadata(self, request: web.Request) -> web.Response:
        model, version = self.manager.find(*_choice_of(request))
        return _json_response(version.metadata(model.name))

    # ---- methods ---------------------------------------------------------------------------------------------------

    async def _predict(self, request: web.Request) -> web.StreamResponse:
        return await self._call(request, _read_columns, json_values.predictions)

    async def _classify(self, request: web.Request) -> web.StreamResponse:
        return await self._call(request, _read_examples, _classes_answer)

    async def _regress(self, request: web.Request) -> web.StreamResponse:
        return await self._call(request, _read_examples, _values_answer)

    async def _call(
        self, request: web.Request, read: Callable[..., Any], answer: Callable[..., Any]
    ) -> web.StreamResponse:
        """Answers a request by a call of a signature.

        Args:
            request: the request.
            read: returns the arrays of its JSON value for a signature's inputs, and whether these are rows.
            answer: returns the JSON value of the outputs.
        """
        _, version = self.manager.find(*_choice_of(request))
        pieces = [piece async for piece in self._pieces(request)]
        size = sum(map(len, pieces))
        name, arrays, in_rows = await self._aside(size, _read_inputs, version.inputs, read, *pieces)
        outputs = await self.call(version.signature(name), arrays)
        size = sum(_byte_size(value) for value in outputs.values())
        text = await self._aside(size, _write_answer, answer, outputs, in_rows)
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        response.content_length = len(text)
        await response.prepare(request)
        for i in range(0, len(text), _PIECE):
            await response.write(text[i : i + _PIECE])
        return response

    async def _pieces(self, request: web.Request) -> AsyncIterator[bytes]:
        """Yields the pieces of a request's body. Nothing else happens while a large body is joined."""
        size = 0
        async for piece in request.content.iter_any():
            size += len(piece)
            if size > self.most_bytes:
                raise web.HTTPRequestEntityTooLarge(self.most_bytes, size)
            yield piece

    async def _aside(self, size: int, function: Callable[..., Any], *args: Any) -> Any:
        """Calls a function with a value of this many bytes, in another process if that takes long."""
        if size <= _SMALL:
            return function(*args)
        return await asyncio.get_running_loop().run_in_executor(self._large, self._json_process.call, function, *args)

    def start_json_process(self) -> None:
        """Starts the process for large requests, so that the first one need not wait for its start."""
        self._large.submit(self._json_process.start)

    async def _end_json_process(self, _: web.Application) -> None:
        self._json_process.close()

    async def call(self, signature: ServedSignature, arrays: Any) -> dict[str, Any]:
        """Returns the outputs of a signature for a request's arrays, which may share a call with other requests.

        Raises:
            BadRequest: the model refuses the arrays, or the result is too large.
        """
        batcher = self._batchers.get(id(signature))
        if batcher is None:
            batcher = self._batchers[id(signature)] = Batcher(signature, self._executor, self._slots, self._batching)
        outputs = await batcher.run(arrays)
        size = sum(_byte_size(value) for value in outputs.values())
        if size > self._most_result_bytes:
            raise BadRequest(
                f"The result has {size} bytes, and the server sends at most {self._most_result_bytes}.", 429
            )
        return outputs

    async def _metrics(self, _: web.Request) -> web.Response:
        return web.Response(text=self.metrics.text())


async def _add_cors_headers(_: web.Request, response: web.StreamResponse) -> None:
    response.headers.update(_CORS)


def _choice_of(request: web.Request) -> tuple[str, int | None, str | None]:
    """Returns the name of a request's model, and the number or label of its version, if it has one."""
    number = request.match_info.get("version")
    return request.match_info["name"], None if number is None else int(number), request.match_info.get("label")


def _read_inputs(
    inputs: Mapping[str, SignatureInputs], read: Callable[..., Any], *pieces: bytes
) -> tuple[str, Any, bool]:
    """Returns the name of the signature that a request calls, its arrays, and whether these are rows.

    Args:
        inputs: the inputs of the signatures.
        read: see `Server._call`.
        *pieces: the request's body.

    Raises:
        BadRequest: the signature takes other inputs than the body has.
    """
    try:
        value = json_values.parse_body(b"".join(pieces))
        name = value.get("signature_name", "serving_default")
        if not isinstance(name, str):
            raise BadRequest('"signature_name" has to be a string.')
        check_signature(name, inputs)
        return name, *read(value, inputs[name])
    except RecursionError:
        raise BadRequest("The body is nested too deeply.") from None


def _write_answer(answer: Callable[..., Any], outputs: Mapping[str, Any], in_rows: bool) -> bytes:
    """Returns the JSON text of an answer."""
    return json.dumps(answer(outputs, in_rows)).encode()


def _byte_size(value: Any) -> int:
    return len(value.buffer) + 8 * value.size if isinstance(value, StringArray) else value.nbytes


def _read_columns(value: dict[str, Any], signature: SignatureInputs) -> tuple[Any, bool]:
    columns, in_rows = json_values.columns(value, list(signature.inputs))
    return signature.arrays(columns), in_rows


def _read_examples(value: dict[str, Any], signature: SignatureInputs) -> tuple[Any, bool]:
    return examples.arrays(value, signature), True


def _classes_answer(outputs: Mapping[str, Any], _: bool) -> Any:
    return {"result": examples.classes(outputs)}


def _values_answer(outputs: Mapping[str, Any], _: bool) -> Any:
    return {"result": examples.values(outputs)}


def _json_response(value: Any, status: int = 200) -> web.Response:
    return web.Response(body=json.dumps(value).encode(), status=status, content_type="application/json")


class Endpoints(NamedTuple):
    """The addresses of a server, and the times between its looks at files.

    Args:
        host: the address.
        port: the port of HTTP.
        grpc_port: the port of gRPC; None for none.
        poll_seconds: how often to look for new versions; 0 for never.
        config_file: the file that lists the models; None for none.
        config_poll_seconds: how often to read it again; 0 for never.
    """

    host: str
    port: int
    grpc_port: int | None = None
    poll_seconds: float = 0.0
    config_file: str | None = None
    config_poll_seconds: float = 0.0


def run(server: Server, endpoints: Endpoints) -> None:
    """Serves until the process is told to stop."""
    server.start_json_process()
    with suppress(web.GracefulExit, KeyboardInterrupt):
        asyncio.run(_serve_until_stopped(server, endpoints))


async def _serve_until_stopped(server: Server, endpoints: Endpoints) -> None:
    host, port, grpc_port = endpoints[:3]
    async with AsyncExitStack() as stack:
        accepting = await stack.enter_async_context(server.listening(host, port))
        if grpc_port is not None:
            service: Any = importlib.import_module("tapeflow.serving.prediction_service")
            number = await stack.enter_async_context(service.listening(server, host, grpc_port))
            print(f"Serving gRPC at {host}:{number}", flush=True)
        polling = []
        if endpoints.poll_seconds > 0:
            polling.append(server.poll(endpoints.poll_seconds))
        if endpoints.config_file is not None and endpoints.config_poll_seconds > 0:
            polling.append(server.poll_config(endpoints.config_file, endpoints.config_poll_seconds))
        for task in [asyncio.create_task(coroutine) for coroutine in polling]:
            stack.callback(task.cancel)
        print(f"Serving at http://{host}:{port} (Press CTRL+C to quit)", flush=True)
        await accepting.serve_forever()
