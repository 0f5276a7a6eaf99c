"""Tensors in JSON, as TensorFlow Serving's documentation of its REST API describes them."""

import pickle

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.core.values.strings import StringArray
from tapeflow.serving import json_values
from tapeflow.serving.json_values import BadRequest

TWO = ["x", "y"]


def test_bodies():
    assert json_values.parse_body(b'{"a": [1, 2.5, null]}') == {"a": [1, 2.5, None]}
    assert json_values.parse_body('{"ä": 1}'.encode("utf-16")) == {"ä": 1}
    for body in (b"", b"{", b"\xff\xff", b"[" * 100_000):
        with pytest.raises(BadRequest, match="The body is not JSON"):
            json_values.parse_body(body)
    for body in (b"[]", b"3", b'"a"'):
        with pytest.raises(BadRequest, match="The body is not a JSON object"):
            json_values.parse_body(body)


@pytest.mark.parametrize(("request_", "names", "expected"), [
    ({"inputs": [1, 2]}, ["x"], ({"x": [1, 2]}, False)),
    ({"inputs": {"x": [1, 2]}}, ["x"], ({"x": [1, 2]}, False)),
    ({"inputs": {"z": [1, 2]}}, ["x"], ({"x": {"z": [1, 2]}}, False)),
    ({"inputs": {"x": 1, "y": 2}}, TWO, ({"x": 1, "y": 2}, False)),
    ({"instances": [1, 2]}, ["x"], ({"x": [1, 2]}, True)),
    ({"instances": [{"x": 1}, {"x": 2}]}, ["x"], ({"x": [1, 2]}, True)),
    ({"instances": [{"b64": "YQ=="}]}, ["x"], ({"x": [{"b64": "YQ=="}]}, True)),
    ({"instances": [{"x": 1}, 2]}, ["x"], ({"x": [{"x": 1}, 2]}, True)),
    ({"instances": [{"x": 1, "y": 2}, {"y": 4, "x": 3}]}, TWO, ({"x": [1, 3], "y": [2, 4]}, True)),
])  # fmt: skip
def test_columns(request_, names, expected):
    assert json_values.columns(request_, names) == expected


@pytest.mark.parametrize(("request_", "names", "message"), [
    ({}, ["x"], 'either "instances" or "inputs"'),
    ({"inputs": 1, "instances": [1]}, ["x"], 'either "instances" or "inputs"'),
    ({"inputs": [1]}, TWO, r"has to be an object with the inputs \['x', 'y'\]"),
    ({"instances": []}, ["x"], "at least one instance"),
    ({"instances": {"x": 1}}, ["x"], "at least one instance"),
    ({"instances": [{"x": 1, "y": 2}, {"x": 3}]}, TWO, r"instances\[1\] has to be an object"),
    ({"instances": [1, 2]}, TWO, r"instances\[0\] has to be an object"),
])  # fmt: skip
def test_columns_that_are_refused(request_, names, message):
    with pytest.raises(BadRequest, match=message) as caught:
        json_values.columns(request_, names)
    assert caught.value.status == 400


def array(value, shape, dtype):
    return json_values.array("x", value, tf.TensorSpec(shape, dtype))


@pytest.mark.parametrize(("value", "shape", "dtype", "expected"), [
    (3, [], tf.int32, 3),
    ([[1, 2.5], [3, 4]], [None, 2], tf.float32, [[1.0, 2.5], [3.0, 4.0]]),
    ([True, False], [2], tf.bool, [True, False]),
    ([255, 0], [None], tf.uint8, [255, 0]),
    ([], [None], tf.int64, []),
    ([[], []], [2, None], tf.float64, [[], []]),
    ([[[1]]], None, tf.int16, [[[1]]]),
    ([1, 2], [None], tf.float16, [1.0, 2.0]),
])  # fmt: skip
def test_arrays(value, shape, dtype, expected):
    found = array(value, shape, dtype)
    assert (found.tolist(), found.dtype) == (expected, dtype.as_numpy_dtype)


def test_strings():
    found = array([["a", "ä"], ["", "b"]], [None, 2], tf.string)
    assert isinstance(found, StringArray)
    assert found.tolist() == [[b"a", "ä".encode()], [b"", b"b"]]
    assert array(["a", {"b64": "/wA="}], [2], tf.string).tolist() == [b"a", b"\xff\x00"]
    assert array("a", [], tf.string).tolist() == b"a"


@pytest.mark.parametrize(("value", "shape", "dtype", "message"), [
    ([1, 2], [3], tf.int32, r"takes int32 of shape \(3,\), not of shape \(2,\)"),
    ([1.5], [None], tf.int32, "not 1.5"),
    ([True], [None], tf.int32, "not true"),
    ([1], [None], tf.bool, "not 1"),
    (["a"], None, tf.float32, 'takes float32 of shape any rank, not "a"'),
    ([{"a": 1}], [None], tf.float32, "not an object"),
    ([None], [None], tf.float32, "not null"),
    ([300], [None], tf.uint8, "takes uint8"),
    ([[1], [2, 3]], None, tf.int32, "its lists are of different lengths"),
    ([[1], 2], None, tf.int32, "its lists are of different lengths"),
    ([1], [None], tf.string, "takes strings, not 1"),
    ([{"b64": "!"}], [None], tf.string, "a string that is not base64"),
    ([{"b64": 3}], [None], tf.string, "takes strings, not an object"),
    (["\ud800"], [None], tf.string, "a string that is not Unicode"),
])  # fmt: skip
def test_arrays_that_are_refused(value, shape, dtype, message):
    with pytest.raises(BadRequest, match=message):
        array(value, shape, dtype)


def test_lists_in_lists():
    value = 1
    for _ in range(32):
        value = [value]
    assert array(value, None, tf.int32).shape == (1,) * 32
    with pytest.raises(BadRequest, match="nested more than 32 deep"):
        array([value], None, tf.int32)


def strings(*rows):
    return StringArray.of([text for row in rows for text in row], (len(rows), len(rows[0])))


@pytest.mark.parametrize(("outputs", "in_rows", "expected"), [
    ({"y": np.array([[1, 2], [3, 4]])}, True, {"predictions": [[1, 2], [3, 4]]}),
    ({"y": np.array([[1, 2], [3, 4]])}, False, {"outputs": [[1, 2], [3, 4]]}),
    ({"y": np.array([1, 2]), "z": np.array([[0.5], [1.5]])}, True,
     {"predictions": [{"y": 1, "z": [0.5]}, {"y": 2, "z": [1.5]}]}),
    ({"y": np.array([1, 2]), "z": np.array(3)}, False, {"outputs": {"y": [1, 2], "z": 3}}),
    ({"y": strings([b"a"], [b"\xff"])}, True, {"predictions": [["a"], ["\ufffd"]]}),
    ({"y_bytes": strings([b"a"], [b"\xff"])}, True, {"predictions": [[{"b64": "YQ=="}], [{"b64": "/w=="}]]}),
    ({"y": strings([b"a", b"b"])}, False, {"outputs": [["a", "b"]]}),
])  # fmt: skip
def test_predictions(outputs, in_rows, expected):
    assert json_values.predictions(outputs, in_rows) == expected


@pytest.mark.parametrize("outputs", [
    {"y": np.array(1)}, {"y": np.array([1, 2]), "z": np.array([1, 2, 3])}, {"y": np.array([1]), "z": np.array(1)},
])  # fmt: skip
def test_outputs_without_rows(outputs):
    with pytest.raises(BadRequest, match="no rows in common"):
        json_values.predictions(outputs, True)


def test_bad_requests_travel_between_processes():
    copy = pickle.loads(pickle.dumps(BadRequest("wrong", 429)))
    assert (str(copy), copy.status, type(copy)) == ("wrong", 429, BadRequest)
    assert BadRequest("wrong").status == 400
