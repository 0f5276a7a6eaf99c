"""TensorFlow Serving's gRPC services: `PredictionService` and `ModelService`, for the clients of its protos."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import grpc
import numpy as np
from google.protobuf import json_format
from google.protobuf.message import DecodeError
from tensorboard.compat.proto.meta_graph_pb2 import SignatureDef
from tensorboard.compat.proto.tensor_pb2 import TensorProto

from tapeflow.array.protos import make_ndarray, make_tensor_proto
from tapeflow.core import errors
from tapeflow.core.logger import get_logger
from tapeflow.core.ops.convert import datatype_name
from tapeflow.core.protos import Example, message_class
from tapeflow.core.types.dtypes import as_dtype, string
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.strings import StringArray
from tapeflow.core.values.tensor import EagerTensor
from tapeflow.serving.configs import list_models
from tapeflow.serving.json_values import BadRequest
from tapeflow.serving.metrics import STATUSES
from tapeflow.serving.models import Servable, ServedSignature, ServedVersion, check_inputs
from tapeflow.serving.server import Server

_STATES = {"AVAILABLE": 30, "END": 50}  # of the enum of a version's states
_UNKNOWN = 2  # of the enum of statuses
_CLASSIFY, _REGRESS = "tensorflow/serving/classify", "tensorflow/serving/regress"
_Method = Callable[[Any], Awaitable[Any]]


@asynccontextmanager
async def listening(server: Server, host: str, port: int) -> AsyncIterator[int]:
    """Accepts gRPC calls inside a `with` block. Gives the port: 0 stands for a free one.

    Args:
        server: the models, and the calls that requests share.
        host: the address to listen at.
        port: the port.

    Raises:
        OSError: the port is in use.
    """
    limits = [("grpc.max_receive_message_length", server.most_bytes), ("grpc.max_send_message_length", -1)]
    accepting = grpc.aio.server(options=[*limits, ("grpc.so_reuseport", 0)])
    accepting.add_generic_rpc_handlers(PredictionService(server).handlers())
    try:
        number = accepting.add_insecure_port(f"{host}:{port}")
    except RuntimeError:
        raise OSError(f"can't listen at {host}, port {port}: is it in use?") from None
    await accepting.start()
    try:
        yield number
    finally:
        await accepting.stop(5)


class PredictionService:
    """The methods of both services.

    Args:
        server: the models, and the calls that requests share.
    """

    def __init__(self, server: Server) -> None:
        self._server = server

    def handlers(self) -> tuple[Any, ...]:
        """Returns the handlers for a server of gRPC."""
        predict: dict[str, tuple[str, str, _Method]] = {
            "Predict": ("PredictRequest", "PredictResponse", self.predict),
            "Classify": ("ClassificationRequest", "ClassificationResponse", self.classify),
            "Regress": ("RegressionRequest", "RegressionResponse", self.regress),
            "MultiInference": ("MultiInferenceRequest", "MultiInferenceResponse", self.infer_several),
            "GetModelMetadata": ("GetModelMetadataRequest", "GetModelMetadataResponse", self.metadata),
        }
        status: dict[str, tuple[str, str, _Method]] = {
            "GetModelStatus": ("GetModelStatusRequest", "GetModelStatusResponse", self.status),
            "HandleReloadConfigRequest": ("ReloadConfigRequest", "ReloadConfigResponse", self.reload),
        }
        return tuple(
            grpc.method_handlers_generic_handler(
                f"tensorflow.serving.{name}", {n: self._handler(n, *method) for n, method in methods.items()}
            )
            for name, methods in (("PredictionService", predict), ("ModelService", status))
        )

    def _handler(self, name: str, request: str, response: str, method: _Method) -> Any:
        """Returns the handler of a method, whose errors become gRPC's statuses, and which counts."""

        async def answer(message: str, context: Any) -> Any:
            begin, status, text = time.perf_counter(), 500, ""
            try:
                result = await method(message)
                status = 200
                return result
            except BadRequest as error:
                status, text = error.status, str(error)
            except Exception as error:  # the server goes on; the log has it
                get_logger().exception("serving: %s failed", name)
                status, text = 500, f"The model failed: {type(error).__name__}. The server's log says more."
            finally:
                model = message.model_spec.name if hasattr(message, "model_spec") else ""
                if model in self._server.manager.models:
                    self._server.metrics.record(model, name, "GRPC", status, time.perf_counter() - begin)
            return await context.abort(grpc.StatusCode[STATUSES.get(status, "UNKNOWN")], text)

        return grpc.unary_unary_rpc_method_handler(
            answer, message_class(request).FromString, message_class(response).SerializeToString
        )

    # ---- methods -----------------------------------------------------------------------------------------------------

    async def predict(self, request: Any) -> Any:
        """Calls a signature with tensors."""
        spec, signature = self._find(request.model_spec)
        arrays = _request_arrays(request.inputs, signature, self._server.most_bytes)
        outputs = await self._server.call(signature, arrays)
        wanted = list(request.output_filter) or list(outputs)
        for name in wanted:
            if name not in outputs:
                raise BadRequest(f"The signature {signature.name!r} has no output {name!r}: it has {sorted(outputs)}.")
        tensors = {name: _encode_tensor(outputs[name], signature.outputs[name]) for name in wanted}
        return message_class("PredictResponse")(model_spec=spec, outputs=tensors)

    async def classify(self, request: Any) -> Any:
        """Calls a signature with examples, and returns classes and scores."""
        spec, signature = self._find(request.model_spec)
        result = _classify_outputs(await self._server.call(signature, _serialized_examples(request.input, signature)))
        return message_class("ClassificationResponse")(model_spec=spec, result=result)

    async def regress(self, request: Any) -> Any:
        """Calls a signature with examples, and returns a number for each."""
        spec, signature = self._find(request.model_spec)
        result = _regress_outputs(await self._server.call(signature, _serialized_examples(request.input, signature)))
        return message_class("RegressionResponse")(model_spec=spec, result=result)

    async def infer_several(self, request: Any) -> Any:
        """Calls several signatures of one model with the same examples."""
        if not request.tasks:
            raise BadRequest("Inference request must have at least one InferenceTask.")
        if len({task.model_spec.name for task in request.tasks}) > 1:
            raise BadRequest("All ModelSpecs in a MultiInferenceRequest must access the same model name.")
        response = message_class("MultiInferenceResponse")()
        for task in request.tasks:
            spec, signature = self._find(task.model_spec)
            if task.method_name not in (_CLASSIFY, _REGRESS):
                raise BadRequest(f"Unsupported signature method_name: {task.method_name}", 501)
            outputs = await self._server.call(signature, _serialized_examples(request.input, signature))
            result = response.results.add(model_spec=spec)
            if task.method_name == _CLASSIFY:
                result.classification_result.CopyFrom(_classify_outputs(outputs))
            else:
                result.regression_result.CopyFrom(_regress_outputs(outputs))
        return response

    async def metadata(self, request: Any) -> Any:
        """Returns the signatures of a model."""
        for field in request.metadata_field or [""]:
            if field != "signature_def":
                raise BadRequest(f"Metadata field {field} is not supported: ask for signature_def.")
        model, version = self._server.manager.find(*_choice_of(request.model_spec))
        described = version.metadata(model.name)["metadata"]["signature_def"]["signature_def"]
        signatures = message_class("SignatureDefMap")()
        for name, signature in described.items():
            parsed = json_format.ParseDict({k: v for k, v in signature.items() if k != "defaults"}, SignatureDef())
            signatures.signature_def[name] = parsed.SerializeToString()
        response = message_class("GetModelMetadataResponse")(model_spec=_model_spec(model, version, ""))
        response.metadata["signature_def"].type_url = "type.googleapis.com/tensorflow.serving.SignatureDefMap"
        response.metadata["signature_def"].value = signatures.SerializeToString()
        return response

    async def status(self, request: Any) -> Any:
        """Returns the states of a model's versions."""
        response = message_class("GetModelStatusResponse")()
        for s in self._server.manager.states(*_choice_of(request.model_spec)):
            added = response.model_version_status.add(version=s.number, state=_STATES[s.name])
            added.status.error_code, added.status.error_message = 0 if s.code == "OK" else _UNKNOWN, s.message
        return response

    async def reload(self, request: Any) -> Any:
        """Serves the models of another config, all or none."""
        try:
            await self._server.reload(list_models(request.config))
        except (ValueError, OSError, errors.OpError) as error:
            get_logger().error("serving: a config was refused: %s", error)
            raise BadRequest(str(error), 404 if isinstance(error, OSError) else 400) from None
        return message_class("ReloadConfigResponse")(status=message_class("StatusProto")())

    def _find(self, spec: Any) -> tuple[Any, ServedSignature]:
        """Returns the `ModelSpec` of the answer, and the signature that a request calls."""
        model, version = self._server.manager.find(*_choice_of(spec))
        signature = version.signature(spec.signature_name or "serving_default")
        return _model_spec(model, version, signature.name), signature


def _choice_of(spec: Any) -> tuple[str, int | None, str | None]:
    """Returns the name of a request's model, and the number or label of its version, if it has one.

    Raises:
        BadRequest: the request names no model.
    """
    if not spec.name:
        raise BadRequest("Missing ModelSpec: the request names no model.")
    choice = spec.WhichOneof("version_choice")
    number = spec.version.value if choice == "version" else None
    return spec.name, number, spec.version_label if choice == "version_label" else None


def _model_spec(model: Servable, version: ServedVersion, signature: str) -> Any:
    number = message_class("Int64Value")(value=version.number)
    return message_class("ModelSpec")(name=model.name, version=number, signature_name=signature)


def _request_arrays(inputs: Mapping[str, bytes], signature: ServedSignature, most: int) -> dict[str, Any]:
    """Returns the tensors of a request as arrays.

    Raises:
        BadRequest: an input is missing, not an input, or of another dtype or shape.
    """
    check_inputs(signature.name, signature.inputs, inputs)
    return {name: _decode_array(name, inputs[name], spec, most) for name, spec in signature.inputs.items()}


def _decode_array(name: str, data: bytes, spec: Any, most: int) -> Any:
    try:
        proto = TensorProto.FromString(data)
        shape = TensorShape(proto.tensor_shape)
        dtype = as_dtype(proto.dtype)
    except (DecodeError, TypeError, ValueError) as error:
        raise BadRequest(f"The input {name!r} is no tensor: {error}") from None
    if dtype is not spec.dtype:
        asked = datatype_name(spec.dtype).upper()
        raise BadRequest(f"The input {name!r} is of dtype DT_{datatype_name(dtype).upper()}, and not DT_{asked}.")
    if not shape.is_fully_defined() or not spec.shape.is_compatible_with(shape):
        raise BadRequest(f"The input {name!r} has the shape {shape}, and the signature takes {spec.shape}.")
    if (shape.num_elements() or 0) * max(dtype.size, 1) > most:  # one value may stand for all
        raise BadRequest(f"The input {name!r} of shape {shape} is larger than the {most} bytes of a request.", 429)
    try:
        array: np.ndarray = make_ndarray(proto)
    except (TypeError, ValueError) as error:
        raise BadRequest(f"The input {name!r} can't be read: {error}") from None
    return StringArray.of(list(array.reshape(-1)), array.shape) if spec.dtype is string else array


def _plain_array(output: Any) -> np.ndarray:
    """Returns an output as an array of NumPy, of bytes for strings."""
    return np.asarray(EagerTensor(output, string).numpy()) if isinstance(output, StringArray) else output


def _encode_tensor(output: Any, spec: Any) -> bytes:
    array = _plain_array(output)
    return bytes(make_tensor_proto(array, spec.dtype, array.shape).SerializeToString())


def _serialized_examples(request: Any, signature: ServedSignature) -> dict[str, Any]:
    """Returns the examples of a request as the one input of a signature, serialized.

    Raises:
        BadRequest: the request has none, or the signature does not take examples.
    """
    kind = request.WhichOneof("kind")
    examples = list(getattr(request, kind).examples) if kind else []
    if not examples:
        raise BadRequest("Input is empty.")
    inputs = list(signature.inputs.items())
    if len(inputs) != 1 or inputs[0][1].dtype is not string:
        raise BadRequest(f"Signature {signature.name!r} does not take examples: use Predict.")
    if kind == "example_list_with_context":
        examples = [_join_context(request.example_list_with_context.context, example) for example in examples]
    return {inputs[0][0]: StringArray.of(examples, [len(examples)])}


def _join_context(context: bytes, example: bytes) -> bytes:
    try:
        joined = Example.FromString(context)
        joined.MergeFromString(example)
    except DecodeError as error:
        raise BadRequest(f"An example can't be read: {error}") from None
    return bytes(joined.SerializeToString())


def _classify_outputs(outputs: Mapping[str, Any]) -> Any:
    labels, scores = (None if v is None else _plain_array(v) for v in (outputs.get("classes"), outputs.get("scores")))
    if labels is None and scores is None:
        raise BadRequest("The signature gives neither classes nor scores: use Predict.")
    rows = len(labels if labels is not None else scores)  # type: ignore[arg-type]
    result = message_class("ClassificationResult")()
    for i in range(rows):
        names = [""] * len(scores[i]) if labels is None else [_label_text(label) for label in labels[i]]  # type: ignore[index]
        numbers = [0.0] * len(names) if scores is None else scores[i]
        classes = result.classifications.add().classes
        for name, number in zip(names, numbers, strict=True):
            classes.add(label=name, score=number)
    return result


def _label_text(label: Any) -> str:
    return label.decode(errors="replace") if isinstance(label, bytes) else str(label)


def _regress_outputs(outputs: Mapping[str, Any]) -> Any:
    if "outputs" not in outputs:
        raise BadRequest("The signature gives no outputs: use Predict.")
    values = outputs["outputs"].reshape(-1)
    regression = message_class("Regression")
    return message_class("RegressionResult")(regressions=[regression(value=value) for value in values])
