"""TensorFlow Serving's gRPC services, and versions that come and go while a server runs."""

import asyncio
import shutil

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.core.protos import message_class

grpc = pytest.importorskip("grpc")
pytest.importorskip("aiohttp")

from tensorboard.compat.proto.meta_graph_pb2 import SignatureDef  # noqa: E402
from tensorboard.compat.proto.tensor_pb2 import TensorProto  # noqa: E402

from tapeflow.serving import Servable  # noqa: E402
from tapeflow.serving.configs import VersionPolicy  # noqa: E402
from tapeflow.serving.prediction_service import PredictionService, listening  # noqa: E402
from tapeflow.serving.server import Server  # noqa: E402


class Model(tf.Module):
    def __init__(self, factor):
        super().__init__()
        self.factor = tf.Variable(factor)

    @tf.function(input_signature=[tf.TensorSpec([None, 2], name="x")])
    def scaled(self, x):
        return {"y": x * self.factor, "sum": tf.reduce_sum(x, 1)}

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, name="examples")])
    def examples(self, examples):
        parsed = tf.io.parse_example(examples, {"a": tf.io.FixedLenFeature([], tf.float32, -1.0)})["a"]
        scores = tf.stack([parsed, -parsed], 1)
        return {"scores": scores, "classes": tf.fill(tf.shape(scores), "c"), "outputs": parsed * 10.0}


def save(factor, path):
    model = Model(factor)
    tf.saved_model.save(model, path, signatures={"serving_default": model.scaled, "ex": model.examples})


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "scaled"
    save(2.0, path / "1")
    save(10.0, path / "3")
    return path


def call(folder, *requests, **options):
    """The answers to requests `(service, method, request, response class)`: messages, or codes with texts."""

    async def answers():
        server = Server([Servable("scaled", folder, VersionPolicy(None))], **options)
        async with listening(server, "127.0.0.1", 0) as port, grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:

            async def one(path, request, response):
                method = channel.unary_unary(
                    f"/tensorflow.serving.{path}", request_serializer=lambda message: message.SerializeToString(),
                    response_deserializer=message_class(response).FromString,
                )  # fmt: skip
                try:
                    return await method(request, timeout=20)
                except grpc.RpcError as error:
                    return error.code(), error.details()

            return await asyncio.gather(*[one(*request) for request in requests])

    return asyncio.run(answers())


def spec(name="scaled", **fields):
    if "version" in fields:
        fields["version"] = message_class("Int64Value")(value=fields["version"])
    return message_class("ModelSpec")(name=name, **fields)


def predict(value, model=None, names=(), **inputs):
    tensors = {"x": value, **inputs}
    protos = {
        name: v if isinstance(v, bytes) else tf.make_tensor_proto(v).SerializeToString()
        for name, v in tensors.items()
        if v is not None
    }
    request = message_class("PredictRequest")(model_spec=model or spec(), inputs=protos, output_filter=names)
    return "PredictionService/Predict", request, "PredictResponse"


def outputs(response):
    return {name: tf.make_ndarray(TensorProto.FromString(data)).tolist() for name, data in response.outputs.items()}


ROWS = np.array([[1.0, 2.0], [3.0, 4.0]], np.float32)


def test_predictions(folder):
    latest, first, filtered = call(folder, predict(ROWS), predict(ROWS, spec(version=1)), predict(ROWS, names=["sum"]))
    assert outputs(latest) == {"y": [[10.0, 20.0], [30.0, 40.0]], "sum": [3.0, 7.0]}
    assert latest.model_spec == spec(version=3, signature_name="serving_default")
    assert outputs(first)["y"] == [[2.0, 4.0], [6.0, 8.0]] and first.model_spec.version.value == 1
    assert outputs(filtered) == {"sum": [3.0, 7.0]}


def large():
    proto = tf.make_tensor_proto(1.0)
    for size in (10**12, 2):
        proto.tensor_shape.dim.add(size=size)
    return proto.SerializeToString()


@pytest.mark.parametrize(
    ("request_of", "code", "text"),
    [
        (lambda: predict(ROWS, spec("other")), "NOT_FOUND", r"Servable not found for request: Latest\(other\)"),
        (lambda: predict(ROWS, spec(version=7)), "NOT_FOUND", r"Specific\(scaled, 7\)"),
        (lambda: predict(ROWS, spec("")), "INVALID_ARGUMENT", "names no model"),
        (lambda: predict(ROWS, spec(version_label="stable")), "INVALID_ARGUMENT", "version label: stable"),
        (lambda: predict(ROWS, spec(signature_name="no")), "INVALID_ARGUMENT", "no signature 'no'"),
        (lambda: predict(None), "INVALID_ARGUMENT", "lacks the input 'x'"),
        (lambda: predict(ROWS, z=ROWS), "INVALID_ARGUMENT", "has 'z', which is no input"),
        (lambda: predict(ROWS.astype("i4")), "INVALID_ARGUMENT", "is of dtype DT_INT32, and not DT_FLOAT"),
        (lambda: predict(ROWS[:, :1]), "INVALID_ARGUMENT", r"the shape \(2, 1\), and the signature takes \(None, 2\)"),
        (lambda: predict(ROWS, names=["no"]), "INVALID_ARGUMENT", "no output 'no'"),
        (lambda: predict(b"\xff"), "INVALID_ARGUMENT", "is no tensor"),
        (lambda: predict(large()), "RESOURCE_EXHAUSTED", "is larger than"),
    ],
)
def test_bad_requests(folder, request_of, code, text):
    ((status, details), after) = call(folder, request_of(), predict(ROWS))
    assert status.name == code and pytest.approx(outputs(after)["sum"]) == [3.0, 7.0]
    with pytest.raises(AssertionError, match=text):
        raise AssertionError(details)


def example(value):
    features = {} if value is None else {"a": tf.train.Feature(float_list=tf.train.FloatList(value=[value]))}
    return tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString()


def test_examples(folder):
    rows = message_class("Input")(example_list={"examples": [example(1.5), example(2.0)]})
    context = {"examples": [example(None), example(2.0)], "context": example(7.0)}
    model = spec(signature_name="ex")
    tasks = [{"model_spec": model, "method_name": f"tensorflow/serving/{m}"} for m in ("classify", "regress")]
    classify = message_class("ClassificationRequest")(model_spec=model, input=rows)
    regress = message_class("RegressionRequest")(model_spec=model, input={"example_list_with_context": context})
    empty = message_class("RegressionRequest")(model_spec=model)
    wrong = message_class("ClassificationRequest")(model_spec=spec(), input=rows)
    several = message_class("MultiInferenceRequest")(tasks=tasks, input=rows)
    classes, numbers, both, nothing, tensors = call(
        folder,
        ("PredictionService/Classify", classify, "ClassificationResponse"),
        ("PredictionService/Regress", regress, "RegressionResponse"),
        ("PredictionService/MultiInference", several, "MultiInferenceResponse"),
        ("PredictionService/Regress", empty, "RegressionResponse"),
        ("PredictionService/Classify", wrong, "ClassificationResponse"),
    )
    found = [[(c.label, c.score) for c in row.classes] for row in classes.result.classifications]
    assert found == [[("c", 1.5), ("c", -1.5)], [("c", 2.0), ("c", -2.0)]]
    assert [r.value for r in numbers.result.regressions] == [70.0, 20.0]
    assert both.results[0].classification_result == classes.result
    assert [r.value for r in both.results[1].regression_result.regressions] == [15.0, 20.0]
    assert nothing == (grpc.StatusCode.INVALID_ARGUMENT, "Input is empty.")
    assert "use Predict" in tensors[1]


def test_metadata_and_status(folder):
    request = message_class("GetModelMetadataRequest")(model_spec=spec(), metadata_field=["signature_def"])
    status = message_class("GetModelStatusRequest")
    metadata, every, one = call(
        folder,
        ("PredictionService/GetModelMetadata", request, "GetModelMetadataResponse"),
        ("ModelService/GetModelStatus", status(model_spec=spec()), "GetModelStatusResponse"),
        ("ModelService/GetModelStatus", status(model_spec=spec(version=1)), "GetModelStatusResponse"),
    )
    packed = metadata.metadata["signature_def"]
    assert packed.type_url == "type.googleapis.com/tensorflow.serving.SignatureDefMap"
    signatures = message_class("SignatureDefMap").FromString(packed.value).signature_def
    signature = SignatureDef.FromString(signatures["serving_default"])
    assert set(signatures) == {"serving_default", "ex"} and set(signature.outputs) == {"y", "sum"}
    assert [d.size for d in signature.inputs["x"].tensor_shape.dim] == [-1, 2]
    assert [(v.version, v.state) for v in every.model_version_status] == [(3, 30), (1, 30)]
    assert [v.version for v in one.model_version_status] == [1]


def test_a_port_in_use_is_said(folder):
    async def twice():
        server = Server([Servable("scaled", folder)])
        async with listening(server, "127.0.0.1", 0) as port:
            with pytest.raises(OSError, match=f"can't listen at 127.0.0.1, port {port}"):
                async with listening(server, "127.0.0.1", port):
                    pass

    asyncio.run(twice())


# ---- versions --------------------------------------------------------------------------------------------------------


def test_no_request_fails_while_versions_change(tmp_path, caplog):
    """A version is loaded before the old one is let go; one that can't be loaded changes nothing."""
    save(1.0, tmp_path / "1")
    model = Servable("scaled", tmp_path, VersionPolicy(None))
    server, seen = Server([model]), []

    async def client(done):
        while not done.is_set():
            version = model.version()
            result = await server.call(version.signature("serving_default"), {"x": ROWS})
            assert result["y"][0, 0] == version.number
            seen.append(version.number)
            await asyncio.sleep(0)

    async def answered_by(number):
        while number not in seen:
            await asyncio.sleep(0)

    async def change():
        done = asyncio.Event()
        clients = [asyncio.create_task(client(done)) for _ in range(20)]
        for number in (2, 3):
            await answered_by(number - 1)
            save(float(number), tmp_path / str(number))
            await server.refresh()
            await answered_by(number)
            shutil.rmtree(tmp_path / str(number - 1))
            await server.refresh()
        (tmp_path / "4").mkdir()
        (tmp_path / "4" / "saved_model.pb").write_bytes(b"damaged")
        for _ in range(2):
            await server.refresh()
        assert sorted(model.versions) == [3]
        shutil.rmtree(tmp_path / "4")
        save(4.0, tmp_path / "4")
        await server.refresh()
        assert sorted(model.versions) == [3, 4]
        await answered_by(4)
        done.set()
        await asyncio.gather(*clients)
        await server.refresh()

    asyncio.run(change())
    assert set(seen) == {1, 2, 3, 4} and len(server._batchers) <= 2  # of the versions that are still there
    assert sum("version 4 of 'scaled' can't be loaded" in r.getMessage() for r in caplog.records) == 1


def test_a_server_looks_for_versions(tmp_path):
    save(1.0, tmp_path / "1")
    model = Servable("scaled", tmp_path, VersionPolicy(None))

    async def wait_for_second():
        polling = asyncio.create_task(Server([model]).poll(0.001))
        save(2.0, tmp_path / "2")
        while sorted(model.versions) != [1, 2]:
            await asyncio.sleep(0)
        polling.cancel()

    asyncio.run(asyncio.wait_for(wait_for_second(), 60))


EXAMPLES = [tf.TensorSpec([None], tf.string, name="examples")]


class Parts(tf.Module):
    """Signatures that give parts of what `Classify` and `Regress` return, or nothing of it."""

    @tf.function(input_signature=EXAMPLES)
    def labels(self, examples):
        return {"classes": tf.stack([examples, examples + "!"], 1)}

    @tf.function(input_signature=EXAMPLES)
    def scores(self, examples):
        length = tf.cast(tf.strings.length(examples), tf.float32)
        return {"scores": tf.stack([length, -length], 1)}

    @tf.function(input_signature=EXAMPLES)
    def other(self, examples):
        return {"text": examples}


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "parts"
    model = Parts()
    signatures = {"labels": model.labels, "scores": model.scores, "other": model.other}
    tf.saved_model.save(model, path / "1", signatures=signatures)
    return path


def asked(method, signature, *examples, **fields):
    name = {"Classify": "Classification", "Regress": "Regression"}[method]
    request = message_class(f"{name}Request")(
        model_spec=spec(signature_name=signature), input=fields or {"example_list": {"examples": examples}}
    )
    return f"PredictionService/{method}", request, f"{name}Response"


def test_parts_of_classes(parts):
    labels, scores, nothing, no_values = call(
        parts,
        asked("Classify", "labels", b"a", b"\xff"),
        asked("Classify", "scores", b"ab", b""),
        asked("Classify", "other", b"a"),
        asked("Regress", "other", b"a"),
    )
    found = [[(c.label, c.score) for c in row.classes] for row in labels.result.classifications]
    assert found == [[("a", 0.0), ("a!", 0.0)], [("\ufffd", 0.0), ("\ufffd!", 0.0)]]
    found = [[(c.label, c.score) for c in row.classes] for row in scores.result.classifications]
    assert found == [[("", 2.0), ("", -2.0)], [("", 0.0), ("", 0.0)]]
    invalid = grpc.StatusCode.INVALID_ARGUMENT
    assert nothing == (invalid, "The signature gives neither classes nor scores: use Predict.")
    assert no_values == (invalid, "The signature gives no outputs: use Predict.")


def test_examples_that_are_damaged(parts):
    context = {"examples": [b"\xff"], "context": b""}
    (status, text), empty = call(
        parts,
        asked("Classify", "scores", example_list_with_context=context),
        asked("Classify", "scores", example_list={"examples": []}),
    )
    assert status is grpc.StatusCode.INVALID_ARGUMENT and text.startswith("An example can't be read")
    assert empty == (grpc.StatusCode.INVALID_ARGUMENT, "Input is empty.")


def test_several_tasks_that_are_refused(folder):
    rows = message_class("Input")(example_list={"examples": [example(1.5)]})

    def several(*tasks):
        message = message_class("MultiInferenceRequest")(
            tasks=[{"model_spec": spec(name, signature_name="ex"), "method_name": m} for name, m in tasks], input=rows
        )
        return "PredictionService/MultiInference", message, "MultiInferenceResponse"

    none, two, method = call(
        folder,
        several(),
        several(("scaled", "tensorflow/serving/regress"), ("other", "tensorflow/serving/regress")),
        several(("scaled", "tensorflow/serving/predict")),
    )
    assert none == (grpc.StatusCode.INVALID_ARGUMENT, "Inference request must have at least one InferenceTask.")
    assert two[0] is grpc.StatusCode.INVALID_ARGUMENT and "must access the same model name" in two[1]
    unsupported = "Unsupported signature method_name: tensorflow/serving/predict"
    assert method == (grpc.StatusCode.UNIMPLEMENTED, unsupported)


def test_metadata_that_is_refused(folder):
    def metadata(*fields):
        message = message_class("GetModelMetadataRequest")(model_spec=spec(), metadata_field=fields)
        return "PredictionService/GetModelMetadata", message, "GetModelMetadataResponse"

    for answer in call(folder, metadata(), metadata("other"), metadata("signature_def", "other")):
        assert answer[0] is grpc.StatusCode.INVALID_ARGUMENT
        assert "is not supported: ask for signature_def" in answer[1]


def test_errors_that_nobody_expects_stay_in_the_log(folder, monkeypatch, caplog):
    async def fails(self, request):
        raise RuntimeError("a secret")

    monkeypatch.setattr(PredictionService, "predict", fails)
    status, text = call(folder, predict(ROWS))[0]
    assert status is grpc.StatusCode.INTERNAL
    assert text == "The model failed: RuntimeError. The server's log says more."
    assert "a secret" in caplog.text


def test_tensors_that_can_not_be_read(folder):
    wrong = tf.make_tensor_proto(ROWS)
    wrong.tensor_content = b"abc"
    status, text = call(folder, predict(wrong.SerializeToString()))[0]
    assert status is grpc.StatusCode.INVALID_ARGUMENT
    assert text.startswith("The input 'x' can't be read")
