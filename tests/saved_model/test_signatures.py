"""Signatures of SavedModels: their inputs and outputs by name, and functions that can be none."""

import pytest

import tapeflow as tf


def saved(signatures, folder, **attributes):
    """The signatures of a model, after saving and loading."""
    module = tf.Module()
    for name, value in attributes.items():
        setattr(module, name, value)
    tf.saved_model.save(module, str(folder), signatures)
    return tf.saved_model.load(str(folder)).signatures


SPEC = tf.TensorSpec([None], tf.float32, name="x")


@pytest.mark.parametrize(
    ("result", "names"),
    [
        (lambda x: x * 2.0, ["output_0"]),
        (lambda x: [x, x + 1.0], ["output_0", "output_1"]),
        (lambda x: (x * 2.0,), ["output_0"]),
        (lambda x: {"b": x, "a": x + 1.0}, ["a", "b"]),
    ],
)
def test_outputs_by_name(result, names, tmp_path):
    function = tf.function(lambda x: result(x), input_signature=[SPEC])
    signatures = saved(function, tmp_path)
    assert list(signatures) == ["serving_default"]
    assert len(signatures) == 1
    found = signatures["serving_default"](x=tf.constant([1.0, 2.0]))
    assert sorted(found) == names
    assert sorted(signatures["serving_default"].structured_outputs) == names
    expected = result(tf.constant([1.0, 2.0]))
    if isinstance(expected, dict):
        assert {k: v.numpy().tolist() for k, v in found.items()} == {k: v.numpy().tolist() for k, v in expected.items()}
    else:
        first = expected[0] if isinstance(expected, (list, tuple)) else expected
        assert found["output_0"].numpy().tolist() == first.numpy().tolist()


def test_several_signatures(tmp_path):
    v = tf.Variable(3.0)
    add = tf.function(lambda x, y: {"sum": x + y * v})
    concrete = add.get_concrete_function(SPEC, tf.TensorSpec([], tf.float32, name="y"))
    twice = tf.function(lambda x: x * 2.0, input_signature=[SPEC])
    signatures = saved({"add": concrete, "twice": twice}, tmp_path, v=v, add=add)
    assert sorted(signatures) == ["add", "twice"]
    assert signatures["add"](x=tf.constant([1.0]), y=tf.constant(2.0))["sum"].numpy().tolist() == [7.0]
    with pytest.raises(TypeError):
        signatures["add"](tf.constant([1.0]), tf.constant(2.0))
    assert signatures["twice"](tf.constant([2.0]))["output_0"].numpy().tolist() == [4.0]  # one may stand alone
    assert {k: v.shape.as_list() for k, v in signatures["add"].structured_input_signature[1].items()} == {
        "x": [None],
        "y": [],
    }
    with pytest.raises(TypeError):
        signatures["new"] = twice


@pytest.mark.parametrize(
    ("make", "kind", "message"),
    [
        (lambda: tf.function(lambda x: x), ValueError, "input.signature|concrete function"),
        (lambda: lambda x: x, ValueError, "Expected a TensorFlow function"),
        (lambda: {"a": 3}, ValueError, "Expected a TensorFlow function"),
        (
            lambda: tf.function(lambda x: [[x]], input_signature=[SPEC]),
            ValueError,
            "(?s)non-Tensor|signatures give a tensor",
        ),
        (
            lambda: tf.function(lambda x: None, input_signature=[SPEC]),
            ValueError,
            "(?s)non-Tensor|signatures give a tensor",
        ),
        (lambda: tf.function(lambda x: {1: x}, input_signature=[SPEC]), ValueError, "(?s)string|gives|key"),
    ],
)
def test_signatures_that_are_none(make, kind, message, tmp_path):
    with pytest.raises(kind, match=message):
        saved(make(), tmp_path)


def test_static_shapes_of_results_that_only_the_program_knew(tmp_path):
    def function(x):
        y, z = tf.reshape(x, tf.shape(x)), tf.reshape(x, [-1])
        y.set_shape([2, None])
        return {"y": y, "z": (z, x)}

    module = tf.Module()
    module.f = tf.function(function, input_signature=[tf.TensorSpec(None)])
    tf.saved_model.save(module, str(tmp_path))
    f = tf.saved_model.load(str(tmp_path)).f
    shapes = []

    @tf.function
    def outer(x):
        results = f(x)
        shapes.extend(str(t.shape) for t in tf.nest.flatten(results))
        return results

    outer(tf.ones([2, 3]))
    assert shapes == ["(2, None)", "(None,)", "<unknown>"]
