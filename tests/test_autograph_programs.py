"""The programs of `autograph_programs/` against what TensorFlow gave: eagerly, converted, and as `tf.function`."""

import importlib.util
import json

import pytest

import tapeflow as tf
from autograph_programs.case import FOLDER, load
from goldens.case import Case
from goldens.result import difference, encode
from tapeflow.autograph.conversion import converted

PROGRAMS = load(tf)
RECORD = json.loads((FOLDER / "recorded.json").read_text())["programs"]
TO_COME = {"loops/for_over_tensor_array"}
CAN_STAGE = importlib.util.find_spec("tapeflow.graph.control_flow") is not None and hasattr(tf, "function")


def outcome(function, args):
    try:
        return {"result": encode(function(*map(tf.constant, args)), tf)}
    except Exception as error:
        return {"error": type(error).__name__}


def disagreement(expected, actual):
    if "error" in expected or "error" in actual:
        return None if expected == actual else f"{actual}, not {expected}"
    return difference(expected["result"], actual["result"], Case("", ""))


def test_all_programs_are_on_record():
    assert set(RECORD) == set(PROGRAMS)
    assert len(RECORD) >= 150


@pytest.mark.parametrize("title", PROGRAMS)
def test_eager(title):
    function, args = PROGRAMS[title]
    assert disagreement(RECORD[title]["eager"], outcome(function, args)) is None


@pytest.mark.parametrize("title", PROGRAMS)
def test_converted(title):
    """Converted code does the same, called eagerly."""
    function, args = PROGRAMS[title]
    assert disagreement(RECORD[title]["eager"], outcome(converted(function), args)) is None


@pytest.mark.skipif(not CAN_STAGE, reason="needs conditions and loops in graphs")
@pytest.mark.parametrize("title", [
    pytest.param(t, marks=[pytest.mark.xfail(reason="needs more of loops in graphs")] if t in TO_COME else [])
    for t in PROGRAMS
])  # fmt: skip
def test_traced(title):
    """As `tf.function`: what TensorFlow's gives; where that can't, the same error, or what eager execution gives."""
    function, args = PROGRAMS[title]
    actual = outcome(tf.function(function), args)
    against = [disagreement(RECORD[title]["traced"], actual)]
    if "error" in RECORD[title]["traced"]:
        eager = RECORD[title]["eager"]
        if type(eager.get("result")) in (bool, int, float):  # a function of a graph gives tensors
            eager = {"result": encode(tf.constant(eager["result"]), tf)}
        against.append(disagreement(eager, actual))
    assert None in against
