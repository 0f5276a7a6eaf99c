"""Examples of `:classify` and `:regress`, and their results."""

import types

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.core.values.strings import StringArray
from tapeflow.serving import examples
from tapeflow.serving.json_values import BadRequest

SIGNATURE = types.SimpleNamespace(name="ex", inputs={"rows": tf.TensorSpec([None], tf.string)})


def parsed(request):
    (found,) = examples.arrays(request, SIGNATURE).values()
    return [tf.train.Example.FromString(row).features.feature for row in found.tolist()]


def test_features_of_each_kind():
    first, second = parsed({"examples": [{"a": 1, "b": [1, 2.5], "c": "x"}, {"a": [-(2**63), 2**63 - 1], "d": []}]})
    assert first["a"].int64_list.value == [1]
    assert first["b"].float_list.value == [1.0, 2.5]
    assert first["c"].bytes_list.value == [b"x"]
    assert second["a"].int64_list.value == [-(2**63), 2**63 - 1]
    assert second["d"].WhichOneof("kind") == "int64_list"
    (large,) = parsed({"examples": [{"a": 2**63}]})
    assert large["a"].float_list.value == [float(2**63)]
    (text,) = parsed({"examples": [{"a": [{"b64": "/w=="}, "y"]}]})
    assert text["a"].bytes_list.value == [b"\xff", b"y"]
    assert list(examples.arrays({"examples": [{}]}, SIGNATURE)) == ["rows"]


def test_a_context_is_in_each_example():
    first, second = parsed({"examples": [{"a": 1}, {"b": 5}], "context": {"b": 2, "c": 3}})
    assert {name: first[name].int64_list.value[0] for name in "abc"} == {"a": 1, "b": 2, "c": 3}
    assert {name: second[name].int64_list.value[0] for name in "bc"} == {"b": 5, "c": 3}
    assert "a" not in second


@pytest.mark.parametrize("request_", [
    {}, {"examples": []}, {"examples": {}}, {"examples": [1]}, {"examples": [{}, 1]}, {"examples": [{}], "context": 1},
])  # fmt: skip
def test_requests_without_examples(request_):
    with pytest.raises(BadRequest, match="has to be a list of objects"):
        examples.arrays(request_, SIGNATURE)


@pytest.mark.parametrize(("value", "message"), [
    (True, "takes strings, not true"), ([1, "x"], "takes strings, not 1"), (None, "takes strings, not null"),
    ({"x": 1}, "takes strings, not an object"),
])  # fmt: skip
def test_values_of_no_feature(value, message):
    with pytest.raises(BadRequest, match=message):
        parsed({"examples": [{"a": value}]})


@pytest.mark.parametrize("inputs", [
    {"x": tf.TensorSpec([None], tf.float32)},
    {"x": tf.TensorSpec([None], tf.string), "y": tf.TensorSpec([None], tf.string)},
])  # fmt: skip
def test_signatures_without_examples(inputs):
    with pytest.raises(BadRequest, match="Signature 'f' does not take examples: use :predict"):
        examples.arrays({"examples": [{}]}, types.SimpleNamespace(name="f", inputs=inputs))


def test_classes():
    labels = StringArray.of([b"a", b"b", b"c", b"d"], (2, 2))
    scores = np.array([[0.25, 0.75], [1.0, 0.0]])
    both = examples.classes({"classes": labels, "scores": scores})
    assert both == [[["a", 0.25], ["b", 0.75]], [["c", 1.0], ["d", 0.0]]]
    assert examples.classes({"scores": scores}) == [[["", 0.25], ["", 0.75]], [["", 1.0], ["", 0.0]]]
    assert examples.classes({"classes": labels}) == [[["a", 0.0], ["b", 0.0]], [["c", 0.0], ["d", 0.0]]]
    with pytest.raises(BadRequest, match="neither classes nor scores"):
        examples.classes({"outputs": scores})


def test_values():
    assert examples.values({"outputs": np.array([[1.5], [2.5]])}) == [1.5, 2.5]
    assert examples.values({"outputs": np.array([3, 4])}) == [3, 4]
    with pytest.raises(BadRequest, match="gives no outputs: use :predict"):
        examples.values({"scores": np.array([1.5])})
