"""The programs of `autograph_programs/` against what TensorFlow gave: eagerly, converted, and as `tf.function`."""

import json

import pytest

import tapeflow as tf
from autograph_programs.case import FOLDER, load
from goldens.case import Case
from goldens.result import difference, encode
from tapeflow.autograph.conversion import convert_function

PROGRAMS = load(tf)
RECORD = json.loads((FOLDER / "recorded.json").read_text())["programs"]
BEYOND = {"loops/for_over_tensor_array": 3123}  # what works in functions here, and in TensorFlow nowhere


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
    assert disagreement(RECORD[title]["eager"], outcome(convert_function(function), args)) is None


@pytest.mark.parametrize("title", PROGRAMS)
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
    if title in BEYOND:
        against.append(disagreement({"result": encode(tf.constant(BEYOND[title]), tf)}, actual))
    assert None in against
