"""Models, labels, batching and monitoring as TensorFlow Serving's files and requests configure them."""

import asyncio
import json
import shutil
import threading

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.__main__ import main
from tapeflow.core.protos import message_class

grpc = pytest.importorskip("grpc")
aiohttp_test = pytest.importorskip("aiohttp.test_utils")

from google.protobuf import text_format  # noqa: E402

from tapeflow.serving import BadRequest, Servable, configs, prediction_service  # noqa: E402
from tapeflow.serving.models import LoadRetries  # noqa: E402
from tapeflow.serving.server import Server  # noqa: E402

ROW = {"instances": [[1.0, 2.0]]}


class Model(tf.Module):
    def __init__(self, factor):
        super().__init__()
        self.factor = tf.Variable(factor)

    @tf.function(input_signature=[tf.TensorSpec([None, 2], name="x")])
    def scaled(self, x):
        return {"y": x * self.factor}

    @tf.function(
        input_signature=[tf.TensorSpec([None, None], name="x"), tf.TensorSpec([None, None], tf.string, name="words")]
    )
    def long(self, x, words):
        return {"shape": tf.tile([tf.shape(x)], [tf.shape(x)[0], 1]), "x": x, "words": words}


def save(factor, path):
    model = Model(factor)
    tf.saved_model.save(model, path, signatures={"serving_default": model.scaled, "long": model.long})


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "scaled"
    for number, factor in ((1, 2.0), (2, 3.0), (10, 5.0)):
        save(factor, path / str(number))
    return path


def parse(text, name="ModelServerConfig"):
    return text_format.Parse(text, message_class(name)())


def model_text(folder, rest="", name="scaled", platform="tensorflow"):
    return f"config {{ name: '{name}' base_path: '{folder}' model_platform: '{platform}' {rest} }}"


def config(*models):
    return "model_config_list { " + " ".join(models) + " }"


def servables(text):
    return [Servable(c.name, c.path, c.policy, c.labels) for c in configs.list_models(parse(text))]


ALL = "model_version_policy { all {} }"
LABELS = "version_labels { key: 'stable' value: 1 } version_labels { key: 'canary' value: 10 }"


def ask(server, *requests):
    """The statuses and values of requests `(path, body)`, one after another; without a body it is a GET."""

    async def answers():
        async with aiohttp_test.TestClient(aiohttp_test.TestServer(server.application())) as client:
            found = []
            for path, *body in requests:
                response = await (client.post(path, data=json.dumps(body[0])) if body else client.get(path))
                is_json = response.content_type == "application/json"
                found.append((response.status, await (response.json() if is_json else response.text())))
            return found

    return asyncio.run(answers())


def call(server, *requests):
    """The answers to calls of gRPC `(path, request, response class)`: messages, or codes with texts."""

    async def answers():
        listening = prediction_service.listening(server, "127.0.0.1", 0)
        async with listening as port, grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
            found = []
            for path, request, response in requests:
                method = channel.unary_unary(
                    f"/tensorflow.serving.{path}", request_serializer=lambda message: message.SerializeToString(),
                    response_deserializer=message_class(response).FromString,
                )  # fmt: skip
                try:
                    found.append(await method(request, timeout=60))
                except grpc.RpcError as error:
                    found.append((error.code().name, error.details()))
            return found

    return asyncio.run(answers())


def predict(**spec):
    proto = tf.make_tensor_proto(np.float32([[1, 2]])).SerializeToString()
    spec = message_class("ModelSpec")(name="scaled", **spec)
    request = message_class("PredictRequest")(model_spec=spec, inputs={"x": proto})
    return "PredictionService/Predict", request, "PredictResponse"


def reload(text):
    request = message_class("ReloadConfigRequest")(config=parse(text))
    return "ModelService/HandleReloadConfigRequest", request, "ReloadConfigResponse"


# ---- versions and labels ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("policy", "numbers"),
    [
        ("", [10]),
        ("model_version_policy { latest { num_versions: 2 } }", [2, 10]),
        ("model_version_policy { latest { } }", [10]),
        ("model_version_policy { specific { versions: 2 versions: 1 versions: 7 } }", [1, 2]),
        (ALL, [1, 2, 10]),
    ],
)
def test_policies_of_versions(folder, policy, numbers):
    (model,) = servables(config(model_text(folder, policy)))
    assert sorted(model.versions) == numbers


def test_labels(folder):
    server = Server(servables(config(model_text(folder, ALL + LABELS))))
    base = "/v1/models/scaled/labels/"
    stable, canary, status, metadata, unknown = ask(
        server, (f"{base}stable:predict", ROW), (f"{base}canary:predict", ROW), (f"{base}stable",),
        (f"{base}canary/metadata",), (f"{base}none:predict", ROW),
    )  # fmt: skip
    assert stable[1] == {"predictions": [[2.0, 4.0]]} and canary[1] == {"predictions": [[5.0, 10.0]]}
    assert [v["version"] for v in status[1]["model_version_status"]] == ["1"]
    assert metadata[1]["model_spec"]["version"] == "10"
    assert unknown == (400, {"error": "Unrecognized servable version label: none"})
    first, wrong = call(server, predict(version_label="stable"), predict(version_label="none"))
    assert first.model_spec.version.value == 1
    assert wrong == ("INVALID_ARGUMENT", "Unrecognized servable version label: none")


def test_folders_that_are_no_versions(tmp_path):
    save(1.0, tmp_path / "007")
    for name in ("²", "1" * 30, "x", "-1"):
        (tmp_path / name).mkdir()
    (tmp_path / "9").write_text("a file")
    assert sorted(Servable("scaled", tmp_path).versions) == [7]


# ---- config files ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "no model_config_list"),
        ("model_config_list { config { name: 'a' }", "is no ModelServerConfig in text"),
        ("model_config_list { config { nam: 'a' } }", 'has no field named "nam"'),
        ("model_config_list {}", "lists no models"),
        ("custom_model_config { type_url: 'x' }", "no model_config_list"),
        (config("config { base_path: '/x' }"), "has no name: base_path"),
        (config(model_text("/m"), model_text("/m")), "Illegal to list model scaled multiple times"),
        (config(model_text("relative/m")), "absolute path; got base_path()='relative/m'"),
        (config(model_text("/m\\000")), "absolute path"),
        (config(model_text("/no/such/folder")), "No such file or directory: '/no/such/folder'"),
        (config(model_text("/m", platform="caffe")), "has the platform 'caffe'"),
        (config(model_text("/m", "model_version_policy { specific {} }")), "name one at least"),
        (config(model_text("FOLDER", "model_version_policy { specific { versions: 7 } }")), "none of the versions [7]"),
        (config(model_text("FOLDER", LABELS)), "Request to assign label to version 1 of model scaled, which is not"),
        ("\udcff", "is no ModelServerConfig in text"),
    ],
)
def test_configs_that_are_refused(folder, tmp_path, capsys, text, says):
    file = tmp_path / "models.config"
    file.write_bytes(text.replace("FOLDER", str(folder)).encode("utf-8", "surrogateescape"))
    assert main(["serve", f"--model_config_file={file}"]) == 1
    error = capsys.readouterr().err
    assert says in error and error.startswith("tapeflow serve: "), error


def test_flags_that_do_not_fit(folder, tmp_path, capsys):
    for arguments, says in (
        ([], "name models, or a --model_config_file"),
        ([str(folder), "--model-config-file", "x"], "and not both"),
        ([str(folder), "--enable_batching=maybe"], "neither true nor false"),
        ([str(folder), "--file_system_poll_wait_seconds=nan"], "no time of 0 or more"),
    ):
        with pytest.raises(SystemExit, match="2"):
            main(["serve", *arguments])
        assert says in capsys.readouterr().err
    assert main(["serve", str(folder), "--enable_batching=false", "--batching_parameters_file=x"]) == 1
    assert "without setting --enable_batching" in capsys.readouterr().err
    for flag in ("--model_config_file", "--batching_parameters_file", "--monitoring_config_file"):
        models = [] if flag == "--model_config_file" else [str(folder)]
        assert main(["serve", *models, flag, str(tmp_path / "none")]) == 1
        assert "No such file or directory" in capsys.readouterr().err


def test_a_server_reads_its_config_again(folder, tmp_path, caplog):
    file = tmp_path / "models.config"
    first, second = config(model_text(folder)), config(model_text(folder, ALL + LABELS), model_text(folder, name="b"))
    file.write_text(first)

    async def wait_for(condition):
        while not condition():
            await asyncio.sleep(0)

    async def change():
        server = Server(servables(first))
        manager = server.manager
        version = manager.models["scaled"].versions[10]
        polling = asyncio.create_task(server.poll_config(str(file), 0.001))
        file.write_text("model_config_list {")  # half of it
        await wait_for(lambda: "is no ModelServerConfig" in caplog.text)
        assert list(manager.models) == ["scaled"]
        file.write_text(second)
        await wait_for(lambda: "b" in manager.models)
        assert manager.find("scaled", label="stable")[1].number == 1
        assert manager.models["scaled"].versions[10] is version  # it was not loaded again
        file.write_text(config(model_text(folder, name="b")))
        await wait_for(lambda: "scaled" not in manager.models)
        polling.cancel()

    asyncio.run(asyncio.wait_for(change(), 120))


def test_a_request_changes_the_config(folder):
    server = Server(servables(config(model_text(folder))))
    both = reload(config(model_text(folder, ALL + LABELS), model_text(folder, name="b")))
    damaged = reload(config(model_text(folder / "1" / "variables", name="c")))
    answers = call(
        server, predict(version_label="stable"), both, predict(version_label="stable"),
        reload(config(model_text(folder, LABELS))), damaged, reload(""), reload("custom_model_config {}"),
        reload(config(model_text("a/b"))), predict(version_label="canary"), reload("model_config_list {}"), predict(),
    )  # fmt: skip
    assert answers[0][0] == "INVALID_ARGUMENT" and answers[2].model_spec.version.value == 1
    assert answers[1].status.error_code == 0
    codes = ["INVALID_ARGUMENT", "NOT_FOUND", "INVALID_ARGUMENT", "INVALID_ARGUMENT", "INVALID_ARGUMENT"]
    assert [code for code, _ in answers[3:8]] == codes
    assert "Request to assign label to version 1 of model scaled" in answers[3][1]
    assert answers[8].model_spec.version.value == 10  # refused configs change nothing
    assert answers[10] == ("NOT_FOUND", "Servable not found for request: Latest(scaled)")


def test_a_damaged_model_is_refused_by_a_request(folder, tmp_path):
    (tmp_path / "1").mkdir()
    (tmp_path / "1" / "saved_model.pb").write_bytes(b"damaged")
    server = Server(servables(config(model_text(folder))))
    (code, text), after = call(server, reload(config(model_text(tmp_path))), predict())
    assert code in ("INVALID_ARGUMENT", "NOT_FOUND") and text
    assert after.model_spec.version.value == 10


# ---- versions that can't be loaded -----------------------------------------------------------------------------------


def test_a_version_is_tried_again(tmp_path, caplog):
    """A few times, with time between; and at once if its files change."""
    save(1.0, tmp_path / "1")
    now = [0.0]
    model = Servable("scaled", tmp_path, retries=LoadRetries(2, 60.0, lambda: now[0]))
    damaged = tmp_path / "2" / "saved_model.pb"
    damaged.parent.mkdir()
    damaged.write_bytes(b"damaged")

    def attempts():
        model.refresh()
        return sum("version 2 of 'scaled' can't be loaded" in r.getMessage() for r in caplog.records)

    assert [attempts(), attempts()] == [1, 1]
    now[0] = 61.0
    assert [attempts(), attempts()] == [2, 2]
    for now[0] in (122.0, 200.0, 300.0):
        assert attempts() == 3
    assert sorted(model.versions) == [1]
    states = model.states()
    assert [(s.number, s.name, s.code) for s in states] == [(2, "END", "UNKNOWN"), (1, "AVAILABLE", "OK")]
    assert str(tmp_path) not in states[0].message
    damaged.write_bytes(b"damaged, too")
    assert attempts() == 4
    shutil.rmtree(tmp_path / "2")
    save(2.0, tmp_path / "2")
    assert attempts() == 4 and sorted(model.versions) == [2]
    assert [s.name for s in model.states()] == ["AVAILABLE"]


def test_states_of_versions_that_can_not_be_loaded(tmp_path):
    save(1.0, tmp_path / "1")
    model = Servable("scaled", tmp_path)
    (tmp_path / "2").mkdir()
    model.refresh()
    server = Server([model])
    rest, one, none = ask(server, *[(f"/v1/models/scaled{end}",) for end in ("", "/versions/2", "/versions/3")])
    assert [(v["version"], v["state"]) for v in rest[1]["model_version_status"]] == [("2", "END"), ("1", "AVAILABLE")]
    assert one[1]["model_version_status"][0]["status"]["error_code"] == "UNKNOWN"
    assert none == (404, {"error": "Could not find version 3 of model scaled"})
    request = message_class("GetModelStatusRequest")(model_spec=message_class("ModelSpec")(name="scaled"))
    (status,) = call(server, ("ModelService/GetModelStatus", request, "GetModelStatusResponse"))
    assert [(v.version, v.state, v.status.error_code) for v in status.model_version_status] == [(2, 50, 2), (1, 30, 0)]


# ---- batching --------------------------------------------------------------------------------------------------------


def batching(text):
    return configs.batching_of(parse(text, "BatchingParameters"))


def test_batching_parameters():
    text = "max_batch_size { value: 128 } batch_timeout_micros { value: 2000 } max_enqueued_batches { value: 7 } "
    text += "num_batch_threads { value: 3 } thread_pool_name { value: 'x' } allowed_batch_sizes: 8 "
    text += "allowed_batch_sizes: 128 pad_variable_length_inputs: true"
    assert batching(text) == configs.Batching(128, 0.002, 3, 7, (8, 128), True, False)
    split = "max_batch_size { value: 64 } enable_large_batch_splitting { value: true } "
    split += "max_execution_batch_size { value: 8 }"
    assert (batching(split).max_rows, batching(split).splits) == (8, True)
    assert batching("").max_rows == 1000 and batching("").max_enqueued == 10


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("max_batch_size { value: 0 }", "max_batch_size has to be at least 1; it is 0"),
        ("batch_timeout_micros { value: -1 }", "batch_timeout_micros has to be at least 0"),
        ("num_batch_threads { value: -4 }", "num_batch_threads has to be at least 1"),
        ("max_batch_size { value: 8 } allowed_batch_sizes: 4", "Last entry in allowed_batch_sizes must match"),
        ("max_batch_size { value: 8 } allowed_batch_sizes: 8 allowed_batch_sizes: 8", "in increasing order"),
        ("max_batch_size { value: 8 } allowed_batch_sizes: -2 allowed_batch_sizes: 8", "positive"),
        ("max_batch_size: 8", "Expected"),
        (
            "max_batch_size { value: 4 } enable_large_batch_splitting { value: true } "
            "max_execution_batch_size { value: 8 }",
            "is larger than max_batch_size",
        ),
    ],
)
def test_batching_parameters_that_are_refused(folder, tmp_path, capsys, text, says):
    file = tmp_path / "batching.config"
    file.write_text(text)
    assert main(["serve", str(folder), f"--batching_parameters_file={file}"]) == 1
    assert says in capsys.readouterr().err


def run_requests(model, parameters, requests, signature="serving_default"):
    """The answers to requests that arrive while the only thread is busy, and the numbers of rows of the calls."""
    sizes, busy = [], threading.Event()
    served = model.version().signature(signature)
    run = served.run

    def counted(arrays):
        busy.wait()
        sizes.append(len(arrays["x"]))
        return run(arrays)

    async def answers():
        server = Server([model], parameters)
        tasks = [asyncio.create_task(server.call(served, arrays)) for arrays in requests]
        for _ in range(10):  # all are in the queue
            await asyncio.sleep(0)
        busy.set()
        return await asyncio.gather(*tasks, return_exceptions=True)

    served.run = counted
    try:
        return asyncio.run(asyncio.wait_for(answers(), 60)), sizes
    finally:
        served.run = run


def rows(count, value=1.0):
    return {"x": np.full([count, 2], value, np.float32)}


def test_requests_join_a_call_when_it_begins(folder):
    """The first call takes one request; those that arrive while it runs share the next ones."""
    results, sizes = run_requests(
        Servable("scaled", folder), configs.Batching(8, 0.0), [rows(1, float(i)) for i in range(20)]
    )
    assert [r["y"][0, 0] for r in results] == [5.0 * i for i in range(20)]
    assert sizes == [8, 8, 4]


def test_allowed_sizes(folder):
    parameters = configs.Batching(8, 0.0, allowed_rows=(2, 8))
    results, sizes = run_requests(Servable("scaled", folder), parameters, [rows(3, 2.0), rows(2, 3.0), rows(9)])
    assert [r["y"].tolist() for r in results] == [[[10.0] * 2] * 3, [[15.0] * 2] * 2, [[5.0] * 2] * 9]
    assert sizes == [8, 9]
    _, sizes = run_requests(Servable("scaled", folder), parameters, [rows(1)])
    assert sizes == [2]


def test_large_requests_are_split(folder):
    parameters = configs.Batching(4, 0.0, splits=True)
    x = np.arange(22, dtype=np.float32).reshape(11, 2)
    (result,), sizes = run_requests(Servable("scaled", folder), parameters, [{"x": x}])
    np.testing.assert_array_equal(result["y"], x * 5)
    assert sizes == [4, 4, 3]


def test_too_many_requests_wait(folder):
    parameters = configs.Batching(2, 0.0, max_enqueued=2)
    results, _ = run_requests(Servable("scaled", folder), parameters, [rows(1) for _ in range(7)])
    refused = [r for r in results if isinstance(r, BadRequest)]
    assert len(refused) == 3 and {r.status for r in refused} == {503}
    assert "queue to which this task was submitted is full" in str(refused[0])


@pytest.mark.parametrize("pads", [False, True])
def test_inputs_of_different_lengths(folder, pads):
    requests = [{"x": np.float32([[7.0] * n]), "words": tf.constant([["w"] * (4 - n)]).value} for n in (1, 3, 2)]
    results, sizes = run_requests(
        Servable("scaled", folder), configs.Batching(8, 0.0, pads_inputs=pads), requests, "long"
    )
    assert sizes == ([3] if pads else [1, 1, 1])
    assert [r["shape"].tolist() for r in results] == [[[3, 3]]] * 3 if pads else [[[1, 1]], [[1, 3]], [[1, 2]]]
    for result, n in zip(results, (1, 3, 2), strict=True):
        assert result["x"][0, :n].tolist() == [7.0] * n
        assert result["words"].reshape(-1).flat[: 4 - n] == [b"w"] * (4 - n)


def test_errors_of_any_kind_are_the_request_s(folder):
    model = Servable("scaled", folder)

    def fail(arrays):
        raise ZeroDivisionError

    model.version().signature("serving_default").run = fail
    results, _ = run_requests(model, configs.Batching(8, 0.0), [rows(1), rows(2)])
    assert [type(r) for r in results] == [ZeroDivisionError] * 2


# ---- CORS and monitoring ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("enabled", [True, False])
def test_cors(folder, enabled):
    async def answers():
        server = Server([Servable("scaled", folder)], enables_cors=enabled)
        path, origin = "/v1/models/scaled:predict", {"Origin": "http://other.example"}
        async with aiohttp_test.TestClient(aiohttp_test.TestServer(server.application())) as client:
            return [
                (response.status, {k: v for k, v in response.headers.items() if k.startswith("Access-Control")})
                for response in (
                    await client.options(path, headers=origin),
                    await client.options(path),
                    await client.post(path, json=ROW, headers=origin),
                    await client.get("/v1/models/none", headers=origin),
                )
            ]

    headers = {
        "Access-Control-Allow-Origin": "*", "Access-Control-Allow-Methods": "POST, GET",
        "Access-Control-Allow-Headers": "Content-Type",
    }  # fmt: skip
    statuses = (200, 400, 200, 404) if enabled else (405, 405, 200, 404)
    assert asyncio.run(answers()) == [(status, headers if enabled else {}) for status in statuses]


def metrics_of(text):
    return configs.metrics_path(parse(text, "MonitoringConfig"), "/default")


def test_monitoring_config():
    assert metrics_of("prometheus_config { enable: true path: '/m' }") == "/m"
    assert metrics_of("prometheus_config { enable: true }") == "/default"
    assert metrics_of("prometheus_config { path: '/m' }") is None
    for path in ("m", "/{x}", "/a b", "/a?b"):
        with pytest.raises(ValueError, match="has to be a plain path"):
            metrics_of(f"prometheus_config {{ enable: true path: '{path}' }}")


def test_metrics_of_both_entrypoints(folder):
    server = Server([Servable("scaled", folder)], metrics_path="/m")
    call(server, predict(), predict(version_label="x"))
    ask(server, ("/v1/models/scaled:predict", ROW), ("/v1/models/scaled/metadata",), ("/v1/models/other:predict", ROW))
    ((_, none),) = ask(Server([Servable("scaled", folder)], metrics_path=None), ("/monitoring/prometheus/metrics",))
    ((status, text),) = ask(server, ("/m",))
    lines = text.splitlines()
    assert status == 200 and none == {"error": "404: Not Found"}
    assert ':tensorflow:serving:request_count{model_name="scaled",status="OK"} 3' in lines
    assert ':tensorflow:serving:request_count{model_name="scaled",status="INVALID_ARGUMENT"} 1' in lines
    for labels in ('API="Predict",entrypoint="GRPC"', 'API="Predict",entrypoint="REST"'):
        name = ":tensorflow:serving:request_latency"
        assert f'{name}_count{{model_name="scaled",{labels}}} 1' in lines
        assert f'{name}_bucket{{model_name="scaled",{labels},le="+Inf"}} 1' in lines
    assert "other" not in text  # clients can't add names
