"""Models over HTTP, as a client of TensorFlow Serving asks for them."""

import asyncio
import base64
import json
import random
import socket
import string
import threading

import numpy as np
import pytest

import malformed_requests
import tapeflow as tf
from tapeflow.__main__ import main
from tapeflow.serving import Servable
from tapeflow.serving.configs import Batching, VersionPolicy

aiohttp_test = pytest.importorskip("aiohttp.test_utils")

from tapeflow.serving.server import Server  # noqa: E402

ALL = VersionPolicy(None)


class Model(tf.Module):
    def __init__(self, factor):
        super().__init__()
        self.factor = tf.Variable(factor)

    @tf.function(input_signature=[tf.TensorSpec([None, 2], name="x")])
    def scaled(self, x):
        return {"y": x * self.factor}

    @tf.function(input_signature=[tf.TensorSpec([None, 2], name="x"), tf.TensorSpec([None], tf.string, name="words")])
    def two(self, x, words):
        return {"sum": tf.reduce_sum(x, 1), "upper": tf.strings.upper(words), "same_bytes": words}

    @tf.function(input_signature=[tf.TensorSpec([], tf.int32, name="n")])
    def whole(self, n):
        return {"squares": tf.range(n) ** 2}

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, name="examples")])
    def examples(self, examples):
        length = tf.cast(tf.strings.length(examples), tf.float32)
        scores = tf.stack([length, -length], 1)
        return {"scores": scores, "classes": tf.fill(tf.shape(scores), "c"), "outputs": length * 10.0}

    @tf.function(input_signature=[tf.TensorSpec([], tf.int64, name="n")])
    def cells(self, n):
        return {"zeros": tf.fill([n], 0.0)}

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, name="names")])
    def file(self, names):
        return {"text": tf.io.read_file(names[0])}

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, name="text")])
    def numbers(self, text):
        return {"number": tf.strings.to_number(text)}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("scaled")
    for number, factor in ((1, 2.0), (3, 10.0)):
        model = Model(factor)
        signatures = {"serving_default": model.scaled, "two": model.two, "whole": model.whole, "ex": model.examples}
        signatures |= {"numbers": model.numbers, "cells": model.cells, "file": model.file}
        tf.saved_model.save(model, path / str(number), signatures=signatures)
    return path


@pytest.fixture(scope="module")
def servable(folder):
    return Servable("scaled", folder, ALL)


def ask(servable, requests, **options):
    """The statuses and values of requests `(path, body)` that are sent at once; without a body it is a GET."""

    async def all_answers():
        server = aiohttp_test.TestServer(Server([servable], **options).application())
        async with aiohttp_test.TestClient(server) as client:

            async def one(path, body=None):
                if body is not None and not isinstance(body, (bytes, str)):
                    body = json.dumps(body)
                response = await (client.get(path) if body is None else client.post(path, data=body))
                text = await response.text()
                return response.status, json.loads(text) if response.content_type == "application/json" else text

            return await asyncio.gather(*[one(*request) for request in requests])

    return asyncio.run(all_answers())


PREDICT = "/v1/models/scaled:predict"
ROW = b'{"instances": [[1.0, 2.0]]}'


def test_rows_and_columns(servable):
    answers = ask(
        servable,
        [
            (PREDICT, {"instances": [[1.0, 2.0], [3, 4]]}),
            (PREDICT, {"instances": [{"x": [1.0, 2.0]}]}),
            (PREDICT, {"inputs": [[1.0, 2.0]]}),
            (PREDICT, {"inputs": {"x": [[1.0, 2.0]]}}),
            ("/v1/models/scaled/versions/1:predict", {"instances": [[1.0, 2.0]]}),
            (PREDICT, {"signature_name": "whole", "inputs": 4}),
        ],
    )
    assert answers == [
        (200, {"predictions": [[10.0, 20.0], [30.0, 40.0]]}),
        (200, {"predictions": [[10.0, 20.0]]}),
        (200, {"outputs": [[10.0, 20.0]]}),
        (200, {"outputs": [[10.0, 20.0]]}),
        (200, {"predictions": [[2.0, 4.0]]}),
        (200, {"outputs": [0, 1, 4, 9]}),
    ]


def test_several_inputs_and_strings(servable):
    encoded = base64.b64encode(b"\xff\x00").decode()
    rows = [{"x": [1, 2], "words": "ab"}, {"x": [3, 4], "words": {"b64": encoded}}]
    ((status, value),) = ask(servable, [(PREDICT, {"signature_name": "two", "instances": rows})])
    assert status == 200
    assert value["predictions"][0] == {"sum": 3, "upper": "AB", "same_bytes": {"b64": base64.b64encode(b"ab").decode()}}
    assert value["predictions"][1]["same_bytes"] == {"b64": encoded}


def test_status_and_metadata(servable):
    status, one, metadata, none, version = ask(
        servable,
        [
            ("/v1/models/scaled",),
            ("/v1/models/scaled/versions/1",),
            ("/v1/models/scaled/metadata",),
            ("/v1/models/other",),
            ("/v1/models/scaled/versions/2",),
        ],
    )
    assert [v["version"] for v in status[1]["model_version_status"]] == ["3", "1"]
    assert one[1]["model_version_status"] == [
        {"version": "1", "state": "AVAILABLE", "status": {"error_code": "OK", "error_message": ""}}
    ]
    signature = metadata[1]["metadata"]["signature_def"]["signature_def"]["serving_default"]
    assert signature["inputs"]["x"]["dtype"] == "DT_FLOAT"
    assert [d["size"] for d in signature["inputs"]["x"]["tensor_shape"]["dim"]] == ["-1", "2"]
    assert none == (404, {"error": "Could not find any versions of model other"})
    assert version == (404, {"error": "Could not find version 2 of model scaled"})


def example(a, b):
    train = tf.train
    features = {
        "a": train.Feature(float_list=train.FloatList(value=a)),
        "b": train.Feature(int64_list=train.Int64List(value=b)),
    }
    return train.Example(features=train.Features(feature=features))


def test_classify_and_regress(servable):
    body = {"signature_name": "ex", "context": {"b": 1}, "examples": [{"a": 0.25}, {"a": 0.5}]}
    classified, regressed, wrong = ask(
        servable,
        [
            ("/v1/models/scaled:classify", body),
            ("/v1/models/scaled:regress", body),
            ("/v1/models/scaled:regress", {"examples": [{"a": 1.0}]}),
        ],
    )
    features = [{"a": [0.25], "b": [1]}, {"a": [0.5], "b": [1]}]
    lengths = [float(len(example(**f).SerializeToString())) for f in features]
    assert classified == (200, {"result": [[["c", n], ["c", -n]] for n in lengths]})
    assert regressed == (200, {"result": [n * 10 for n in lengths]})
    assert wrong[0] == 400
    assert "does not take examples" in wrong[1]["error"]


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("{", "not JSON"),
        ("[1]", "not a JSON object"),
        ({}, '"instances" or "inputs"'),
        ({"instances": []}, "at least one"),
        ({"instances": [[1.0, 2.0, 3.0]]}, "Input 'x' takes float32 of shape (None, 2), not of shape (1, 3)"),
        ({"instances": [[1.0], [1.0, 2.0]]}, "different lengths"),
        ({"instances": [["a", "b"]]}, "Input 'x' takes float32 of shape (None, 2), not \"a\""),
        ({"instances": [[None, 1.0]]}, "not null"),
        ({"instances": [[True, 1.0]]}, "not true"),
        ({"instances": [{"z": [1.0, 2.0]}]}, "lacks the input 'x'"),
        ({"inputs": {"x": [[1.0, 2.0]], "z": 1}}, "Input 'x'"),
        ({"signature_name": "none", "instances": [1]}, "no signature 'none'"),
        ({"signature_name": 3, "instances": [1]}, "has to be a string"),
        ({"signature_name": "two", "instances": [{"x": [1, 2]}, {}]}, "instances[1]"),
        ({"signature_name": "two", "inputs": {"x": [[1, 2]], "words": ["a", "b"]}}, "different numbers of rows"),
        ({"signature_name": "two", "inputs": {"x": [[1, 2]], "words": [{"b64": "!"}]}}, "not base64"),
        ({"signature_name": "whole", "inputs": 10**30}, "Input 'n' takes int32"),
        ({"signature_name": "whole", "inputs": 1.5}, "not 1.5"),
        ('{"instances": ' + "[" * 900 + "1" + "]" * 900 + "}", "nested more than 32 deep"),
        ('{"instances": ' + '{"x": ' * 900 + "1" + "}" * 900 + "}", "has to be a list"),
        ('{"instances": ' + '[{"x": ' * 400 + "1" + "}]" * 400 + "}", "not of shape (1, 1)"),
        ('{"a": ' * 100_000, "not JSON"),
        ('{"instances": [[1, 2]], "instances" [1]}', "not JSON"),
        ('{"instances": [[1, 2]]} {}', "Extra data"),
        (b'{"instances": [[1, "\xff"]]}', "not JSON"),
        ({"instances": [[float("nan"), {}]]}, "not an object"),
        ({"signature_name": "whole", "inputs": float("nan")}, "not NaN"),
        ({"instances": [[10**400, 1]]}, "Input 'x' takes float32"),
        ({"instances": [{"b64": "AA=="}]}, "Input 'x'"),
        ({"signature_name": "\ud800", "instances": [1]}, "no signature"),
        ({"\ud800": 1}, '"instances" or "inputs"'),
        ({"inputs": {"\ud800": 1}}, "Input 'x'"),
        ({"signature_name": "two", "inputs": {"x": [[1, 2]], "words": ["\ud800"]}}, "not Unicode"),
        ({"signature_name": "two", "inputs": {"x": [[1, 2]], "words": [{"b64": "\u00e9"}]}}, "not base64"),
        ({"signature_name": "two", "inputs": {"x": [[1, 2]], "words": [{"b64": "AA==", "a": 1}]}}, "takes strings"),
    ],
)
def test_bad_requests_name_what_is_wrong(servable, body, says):
    ((status, value),) = ask(servable, [(PREDICT, body)])
    assert (status, says in value["error"]) == (400, True), value


@pytest.mark.parametrize(
    "example", [{"a": 10**400}, {"a": "\ud800"}, {"\ud800": 1.0}, {"a": [[1]]}, {"a": None}, {"a": {"b64": "!"}}]
)
def test_examples_that_can_not_be_written(servable, example):
    ((status, value),) = ask(
        servable, [("/v1/models/scaled:classify", {"signature_name": "ex", "examples": [example]})]
    )
    assert status == 400, value


def test_clients_do_not_see_the_lines_of_the_server(folder, caplog):
    servable = Servable("scaled", folder)
    ((status, value),) = ask(servable, [(PREDICT, {"signature_name": "numbers", "inputs": ["x"]})])
    assert (status, value) == (400, {"error": "StringToNumberOp could not correctly convert string: x"})
    ((status, value),) = ask(servable, [(PREDICT, {"signature_name": "file", "inputs": ["/srv/secret"]})])
    assert status == 500
    assert value == {"error": "The model failed: NotFoundError. The server's log says more."}
    assert "/srv/secret; No such file or directory" in caplog.text


def test_results_that_are_too_large(servable):
    whole = (PREDICT, {"signature_name": "whole", "inputs": 1000})
    ((status, value), (no_memory, says)) = ask(
        servable, [whole, (PREDICT, {"signature_name": "cells", "inputs": 1 << 60})], max_result_bytes=3999
    )
    assert (status, value["error"]) == (429, "The result has 4000 bytes, and the server sends at most 3999.")
    assert (no_memory, "File" in says["error"]) == (429, False)
    ((status, value),) = ask(servable, [whole], max_result_bytes=4000)
    assert value == {"outputs": [n * n for n in range(1000)]}


def test_a_large_request_does_not_keep_others_waiting(servable):
    """It is read and written in another process, where it waits for the large request before it."""
    rows = [[float(i), 0.5] for i in range(30_000)]

    async def answers():
        server = Server([servable])
        ahead = threading.Event()
        server._large.submit(ahead.wait)
        second = server._large.submit(int)
        async with aiohttp_test.TestClient(aiohttp_test.TestServer(server.application())) as client:
            large = asyncio.create_task(client.post(PREDICT, json={"instances": rows}))
            for _ in range(3):
                response = await client.post(PREDICT, data=ROW)
                assert await response.json() == {"predictions": [[10.0, 20.0]]}
            taken_together = [large.done(), second.done()]
            ahead.set()
            assert taken_together == [False, False]
            return await (await large).json()

    assert asyncio.run(answers()) == {"predictions": [[10 * x, 10 * y] for x, y in rows]}


def test_large_requests_of_every_form(servable):
    """They are read and written in another process."""
    count = 20_000
    rows = [{"x": [i, 0], "words": f"w{i}"} for i in range(count)]
    columns = {"x": [r["x"] for r in rows], "words": [r["words"] for r in rows]}
    sums, texts = (
        [float(i) for i in range(count)],
        [{"b64": base64.b64encode(r["words"].encode()).decode()} for r in rows],
    )
    by_row, by_column, long = ask(
        servable,
        [
            (PREDICT, json.dumps({"signature_name": "two", "instances": rows}, indent=1)),
            (PREDICT, {"inputs": columns, "signature_name": "two"}),
            (PREDICT, {"signature_name": "whole", "inputs": 20_000}),
        ],
    )
    assert by_row[1] == {
        "predictions": [
            {"sum": s, "upper": r["words"].upper(), "same_bytes": t} for s, r, t in zip(sums, rows, texts, strict=True)
        ]
    }
    assert by_column[1]["outputs"]["sum"] == sums
    assert by_column[1]["outputs"]["same_bytes"] == texts
    assert long[1] == {"outputs": [n * n for n in range(20_000)]}


LARGE = b" " * (1 << 17)  # at the end of a body


def test_errors_of_large_requests(servable):
    """They are the errors of small ones."""
    deep = b"[" * 10_000
    bodies = [b"[", b'{"instances": "x"}', b'{"instances": [[1, "x"]]}', b'{"signature_name": "no", "inputs": 1}', deep]
    bodies += [b'{"a": "\xff"}', b'{"signature_name": "ex", "instances": ["\\ud800"]}']
    answers = [ask(servable, [(PREDICT, body + end) for body in bodies]) for end in (b"", LARGE)]
    for small, large in zip(*answers, strict=True):
        assert small[0] == large[0] == 400
        assert large[1]["error"].partition(":")[0] == small[1]["error"].partition(":")[0]


def test_the_process_for_large_requests_is_started_again(servable):
    """A system that lacks memory ends processes."""

    async def answers():
        server = Server([servable])
        async with aiohttp_test.TestClient(aiohttp_test.TestServer(server.application())) as client:
            before = await client.post(PREDICT, data=ROW + LARGE)
            server._json_process.start().kill()
            failed = await client.post(PREDICT, data=ROW + LARGE)
            after = await client.post(PREDICT, data=ROW + LARGE)
            process = server._json_process.start()
            result = await before.json(), failed.status, await after.json()
        assert process.poll() is not None  # it ends with the server
        return result

    row = {"predictions": [[10.0, 20.0]]}
    assert asyncio.run(answers()) == (row, 429, row)


@pytest.mark.parametrize(
    ("path", "headers", "expected"),
    [
        (PREDICT, {"Content-Encoding": "gzip"}, (400, "can't be read")),
        (PREDICT, {"Content-Encoding": "deflate"}, (400, "can't be read")),
        (f"/v1/models/scaled/versions/{'9' * 5000}:predict", {}, (404, "Not Found")),
        (f"/v1/models/scaled/versions/{'9' * 18}:predict", {}, (404, "Specific(scaled, 999999999999999999)")),
    ],
)
def test_bad_headers_and_versions(servable, path, headers, expected):
    async def answer():
        server = aiohttp_test.TestServer(Server([servable]).application())
        async with aiohttp_test.TestClient(server) as client:
            response = await client.post(path, data=b'{"instances": [[1.0, 2.0]]}', headers=headers)
            return response.status, (await response.json())["error"]

    status, error = asyncio.run(answer())
    assert (status, expected[1] in error) == (expected[0], True), error


def test_requests_are_joined(folder):
    servable = Servable("scaled", folder)
    signature = servable.version().signature("serving_default")
    run, sizes = signature.run, []

    def counted(arrays):
        sizes.append(len(arrays["x"]))
        return run(arrays)

    signature.run = counted
    bodies = [(PREDICT, {"instances": [[float(i), 0.0]] * (1 + i % 3)}) for i in range(20)]
    answers = ask(servable, bodies, batching=Batching(8, 0.2))
    assert [a[1]["predictions"] for a in answers] == [[[10.0 * i, 0.0]] * (1 + i % 3) for i in range(20)]
    assert sum(sizes) == sum(1 + i % 3 for i in range(20))
    assert max(sizes) <= 8
    assert len(sizes) < 12


def test_a_bad_request_fails_alone(folder):
    servable = Servable("scaled", folder)
    requests = [(PREDICT, {"signature_name": "numbers", "inputs": [w]}) for w in ("1.5", "x", "2")]
    answers = ask(servable, requests, batching=Batching(4, 0.2))
    assert [status for status, _ in answers] == [200, 400, 200]
    assert [answers[0][1], answers[2][1]] == [{"outputs": [1.5]}, {"outputs": [2.0]}]
    assert "x" in answers[1][1]["error"]


def mutated(rng):
    """A request for a prediction, damaged."""
    body = json.dumps({"signature_name": "two", "instances": [{"x": [1, 2], "words": "ab"}]})
    for _ in range(rng.randint(1, 4)):
        i = rng.randrange(len(body))
        inserted = rng.choice([*'{}[]",:0e-', "null", rng.choice(string.printable)])
        body = body[:i] + inserted + body[i + rng.randint(0, 3) :]
    return PREDICT if rng.random() < 0.9 else PREDICT + rng.choice("x/:%"), body.encode("utf-8", "replace")


def test_a_thousand_malformed_requests(servable):
    rng = random.Random(7)
    requests = [mutated(rng) for _ in range(1000)]
    for begin in range(0, 1000, 100):
        answers = ask(servable, [*requests[begin : begin + 100], (PREDICT, {"instances": [[1.0, 2.0]]})])
        assert {status for status, _ in answers[:-1]} <= {200, 400, 404}
        assert answers[-1] == (200, {"predictions": [[10.0, 20.0]]})


def test_bytes_that_are_no_request():
    answers, unanswered = asyncio.run(malformed_requests.run(90, seed=3))
    assert not unanswered
    assert {status for _, status in answers} <= {"200", "400", "404", "closed"}


def head(path, body):
    return f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n".encode()


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (head(PREDICT, ROW) + ROW, b"200"),
        (b"GET /v1/models/scaled HTTP/1.1\r\nHost: localhost\r\n\r\n", b"200"),
        (head(PREDICT, b"{") + b"{", b"400"),
        (head(PREDICT, ROW) + ROW[:-3], b""),  # the rest will not come
        (head(PREDICT, ROW)[:-6], b""),
        (b"", b""),
    ],
)
@pytest.mark.parametrize("before", [0, 2])
def test_clients_that_shut_their_side_are_answered(servable, sent, status, before):
    """As TensorFlow Serving does; and a connection without a whole request is closed."""
    server = Server([servable])

    async def answer():
        async with server.listening("127.0.0.1", 0) as accepting:
            reader, writer = await asyncio.open_connection(*accepting.sockets[0].getsockname())
            for _ in range(before):  # the connection is used again
                writer.write(head(PREDICT, ROW) + ROW)
                answer = await reader.readuntil(b"}")
                assert answer.endswith(b'{"predictions": [[10.0, 20.0]]}')
            writer.write(sent)
            writer.write_eof()
            text = await reader.read()
            writer.close()
            return text

    text = asyncio.run(answer())
    assert text[9:12] == status, text
    if sent.endswith(ROW):
        assert text.endswith(b'{"predictions": [[10.0, 20.0]]}')


def test_metrics(servable):
    async def both():
        server = aiohttp_test.TestServer(Server([servable]).application())
        async with aiohttp_test.TestClient(server) as client:
            await client.post(PREDICT, data="{")
            return await (await client.get("/monitoring/prometheus/metrics")).text()

    assert ':tensorflow:serving:request_count{model_name="scaled",status="INVALID_ARGUMENT"} 1' in asyncio.run(both())


def test_values_equal_the_models(servable):
    x = np.random.default_rng(0).normal(size=(5, 2)).astype("float32")
    ((_, value),) = ask(servable, [(PREDICT, {"instances": x.tolist()})])
    np.testing.assert_array_equal(np.float32(value["predictions"]), x * np.float32(10))


def test_the_command_says_what_is_missing(tmp_path, capsys):
    assert main(["serve", str(tmp_path)]) == 1
    assert "no SavedModel" in capsys.readouterr().err


def test_the_command_says_what_is_wrong_in_one_line(folder, capsys):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        assert main(["serve", str(folder), "--port", port]) == 1
    assert capsys.readouterr().err == (
        f"tapeflow serve: can't listen at 127.0.0.1, port {port}: Address already in use\n"
    )
    assert main(["serve", f"a={folder}", f"a={folder}/1"]) == 1
    assert capsys.readouterr().err == "tapeflow serve: Two models have the name 'a': name them NAME=PATH.\n"
    for option, value in [("--port", "70000"), ("--threads", "0"), ("--max-request-mb", "-1")]:
        with pytest.raises(SystemExit, match="2"):
            main(["serve", str(folder), option, value])


def test_metadata_has_tensorflows_names_of_dtypes(tmp_path):
    names = {
        "float64": "DT_DOUBLE",
        "float16": "DT_HALF",
        "int64": "DT_INT64",
        "bool": "DT_BOOL",
        "string": "DT_STRING",
    }
    module = tf.Module()
    module.f = tf.function(lambda **x: x, input_signature=None).get_concrete_function(
        **{dtype: tf.TensorSpec([None], dtype, dtype) for dtype in names}
    )
    tf.saved_model.save(module, str(tmp_path), signatures=module.f)
    metadata = Servable("m", tmp_path).version().metadata("m")["metadata"]["signature_def"]["signature_def"]
    assert {n: i["dtype"] for n, i in metadata["serving_default"]["inputs"].items()} == names
