"""The tool that runs random calls under TensorFlow and TapeFlow. Its records are in `test_recorded_calls.py`."""

import json
import random
import sys

import numpy as np
import pytest

import tapeflow as tf
from fuzzing import drawing, outcomes, processes, sweeping, values

# ---- the tool itself -------------------------------------------------------------------------------------------------


def call(function, *args, **kwargs):
    return {"function": function, "args": list(args), "kwargs": kwargs}


ARGUMENTS = [
    tf.constant([1.5, float("inf"), -0.0]), tf.constant([[1, 2]], tf.uint8), tf.constant(["é", b"\xff"]),
    np.array([1, 2], np.int64), tf.ragged.constant([[1], [2, 3]]), tf.sparse.from_dense([[0, 1], [2, 0]]), 3, 2.5, None,
    True, "text", b"\x00\xff", 1 + 2j, (1, [2.0, "a"]), {"a": [1]}, tf.float16, tf.TensorShape([None, 2]),
    slice(None, -1, 2), ..., tf.constant([1.5], tf.bfloat16), tf.constant(1j, tf.complex64),
]  # fmt: skip


@pytest.mark.parametrize("value", ARGUMENTS, ids=lambda v: type(v).__name__)
def test_arguments_survive_json(value):
    description = json.loads(json.dumps(values.describe(value, tf)))
    again = values.build(description, tf)
    assert type(again) is type(value)
    assert values.describe(again, tf) == description


def test_inputs_of_a_call_can_be_replaced():
    x = {"tensor": ["float32", [2], [1.0, 2.0]]}
    described = call("add_n", [x, x])
    assert values.invoke(described, tf).numpy().tolist() == [2.0, 4.0]
    inputs = [tf.constant([5.0]), tf.constant([7.0])]
    assert values.invoke(described, tf, inputs).numpy().tolist() == [12.0]


def test_same_seed_draws_the_same_calls():
    seeds = {"add": [call("add", {"tensor": ["float32", [2, 3], [1.0] * 6]}, [1.0, 2.0, 3.0])]}
    drawer = drawing.Drawer(seeds, {"add": tf.add}, {"x": [1, [2]], "y": ["a"]})
    draws = [[drawer.draw(random.Random(i)) for i in range(200)] for _ in range(2)]
    assert draws[0] == draws[1]
    assert len({json.dumps(draw) for draw in draws[0]}) > 100
    assert seeds["add"][0]["args"][1] == [1.0, 2.0, 3.0]


def test_complex_numbers_stay_pairs_in_another_complex_dtype():
    assert drawing.converted([[1.0, 2.0]], "complex128", "complex64") == [[1.0, 2.0]]
    assert drawing.converted([1.0], "float32", "complex64") == [[1.0, 0.5]]


FLOATS, INTS = (values.describe(tf.constant(v), tf) for v in ([[1.5, 2.5]], [3, 4]))
RECORDED = call("concat", [FLOATS, FLOATS], 1, scale=0.5, name="n", index=INTS)


def variants(kind, described):
    return list(sweeping.KINDS[kind](described))


@pytest.mark.parametrize("kind", sweeping.KINDS)
def test_kinds_of_sweeps_change_a_call_and_leave_it_as_it_is(kind):
    before = json.dumps(RECORDED)
    several = variants(kind, RECORDED)
    assert several and json.dumps(RECORDED) == before
    assert kind == "plain" or before not in map(json.dumps, several)
    for changed in several:
        assert changed["function"] == "concat"
        values.build([changed["args"], *changed["kwargs"].values()], tf)


@pytest.mark.parametrize(
    ("kind", "described", "arguments"),
    [
        ("none", call("f", 1, a=2), [([None], {"a": 2}), ([1], {"a": None})]),
        ("list", call("f", INTS), [([[3, 4]], {})]),
        ("variable", call("f", [INTS]), [([[{"variable": INTS["tensor"]}]], {})]),
        ("tensors32", call("f", 7, 1.0), [([{"tensor": ["int32", [], [7]]}, 1.0], {})]),
        ("smallints", call("f", 5), [([n], {}) for n in (0, -1, 6, -3)]),
        ("emptyall", call("f", INTS, INTS), [
            ([{"tensor": ["int32", [n], [3] * n]}] * 2, {}) for n in (0, 1)]),
        ("sizes", call("f", INTS), [([{"tensor": ["int32", [n], [3, 4, 3][:n]]}], {}) for n in (0, 1, 3)]),
        ("dropped", call("f", 1, 2, a=3), [([1, 2], {}), ([1], {"a": 3})]),
    ],
)  # fmt: skip
def test_a_sweep_makes_these_calls(kind, described, arguments):
    assert [(changed["args"], changed["kwargs"]) for changed in variants(kind, described)] == arguments


def test_a_sweep_has_each_call_once_and_begins_with_as_many_as_asked():
    calls = {"f": [call("f", n) for n in range(5)], "math.g": [call("math.g", 0)]}
    assert sweeping.sweep(calls, ["plain"]) == [call("f", 2), call("math.g", 0)]
    assert sweeping.sweep(calls, ["plain", "plain"], only="tf.f", each=9) == calls["f"]
    assert sweeping.sweep(calls, ["true"], only="tf.math") == [call("math.g", True)]


def result(value):
    return {"result": outcomes.encode(value, tf)}


@pytest.mark.parametrize(
    ("theirs", "ours", "kind"),
    [
        (result(tf.constant(1.0)), result(tf.constant(1.0 + 1e-6)), None),
        (result(tf.constant(1.0)), result(tf.constant(1.0 + 1e-4)), "value"),
        (result(tf.constant(float("nan"))), result(tf.constant(float("nan"))), None),
        (result(tf.constant(1)), result(tf.constant(2)), "value"),
        (result(tf.constant([1])), result(tf.constant(1)), "shape"),
        (result(tf.constant(1)), result(tf.constant(1.0)), "dtype"),
        (result([1]), result((1,)), "structure"),
        ({**result(1), "static": [[2]]}, {**result(1), "static": [None]}, "static shape"),
        ({"error": "ValueError", "message": ""}, result(1), "accepts"),
        (result(1), {"error": "ValueError", "message": "no"}, "refuses"),
        (result(1), {"error": "KeyError", "message": "no"}, "refuses: KeyError"),
        ({"error": "ValueError", "message": ""}, {"error": "TypeError", "message": ""}, "error class"),
        ({"error": "ValueError", "message": "a"}, {"error": "ValueError", "message": "b"}, None),
        ({"error": "A", "message": ""}, {"error": "A", "message": "size of tensor a (3)"}, "words of torch"),
        (result(1), {"crash": "SIGSEGV"}, "crash"),
        ({"skip": True}, {"skip": True}, None),
    ],
)
def test_differences_are_named(theirs, ours, kind):
    difference = outcomes.compare(theirs, ours)
    assert (difference and difference.kind) == kind


def test_rounding_of_the_arguments_explains_a_difference():
    theirs, ours = result(tf.constant(1.0)), result(tf.constant(1.1))
    assert outcomes.compare(theirs, ours, call("add"), [result(tf.constant(1.12))]) is None
    assert outcomes.compare(theirs, ours, call("add"), [result(tf.constant(1.1001))]).kind == "value"


def test_the_task_that_ends_a_process_is_the_culprit(tmp_path, monkeypatch):
    worker = tmp_path / "worker.py"
    worker.write_text(
        "import json, os, sys\n"
        "for line in open(sys.argv[2]):\n"
        "    task = json.loads(line)\n"
        "    if task['mode'] == 'crash': os.abort()\n"
        "    print(json.dumps([task['id'], {'result': 1}]), file=open(sys.argv[3], 'a'), flush=True)\n"
    )
    monkeypatch.setattr(processes, "WORKER", worker)
    tasks = [{"id": str(i), "mode": "crash" if i == 1 else "eager"} for i in range(4)]
    found = processes.run("tapeflow", sys.executable, tasks, tmp_path, timeout=60)
    assert [found[str(i)].get("result") for i in range(4)] == [1, None, 1, 1]
    assert "SIGABRT" in found["1"]["crash"]
