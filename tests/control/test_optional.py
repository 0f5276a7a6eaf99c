"""`tf.experimental.Optional`: values, structures, specs and absence."""

import numpy as np
import pytest

import tapeflow as tf

Optional = tf.experimental.Optional


def test_values():
    optional = Optional.from_value({"a": 1, "b": (tf.constant([2.0]), np.array([3, 4]))})
    assert bool(optional.has_value()) and optional.has_value().dtype == tf.bool
    value = optional.get_value()
    assert (
        value["a"].numpy() == 1 and value["b"][0].numpy().tolist() == [2.0] and value["b"][1].numpy().tolist() == [3, 4]
    )
    assert optional.element_spec == {
        "a": tf.TensorSpec([], tf.int32),
        "b": (tf.TensorSpec([1]), tf.TensorSpec([2], tf.int64)),
    }


def test_absence():
    spec = {"a": tf.TensorSpec([None]), "b": tf.TensorSpec([], tf.string)}
    optional = Optional.empty(spec)
    assert not bool(optional.has_value()) and optional.element_spec == spec
    with pytest.raises(tf.errors.InvalidArgumentError, match="does not have a value"):
        optional.get_value()


def test_composite_values():
    ragged, sparse = tf.ragged.constant([[1], [2, 3]]), tf.sparse.from_dense([[0, 5]])
    value = Optional.from_value((ragged, sparse)).get_value()
    assert value[0].to_list() == [[1], [2, 3]] and tf.sparse.to_dense(value[1]).numpy().tolist() == [[0, 5]]


@pytest.mark.parametrize(
    ("value", "error"), [({}, tf.errors.InvalidArgumentError), (object(), TypeError), ({"a": object()}, TypeError)]
)
def test_what_is_no_value(value, error):
    with pytest.raises(error):
        Optional.from_value(value)


def test_optionals_pass_functions():
    @tf.function
    def negate(optional):
        if optional.has_value():
            return -optional.get_value()["a"]
        return tf.constant(9.0)

    spec = {"a": tf.TensorSpec([])}
    assert negate(Optional.from_value({"a": tf.constant(2.0)})).numpy() == -2.0
    assert negate(Optional.empty(spec)).numpy() == 9.0
    full = tf.function(lambda x: Optional.from_value({"a": x, "b": tf.ragged.stack([x])}))(tf.constant([1.0, 2.0]))
    assert full.get_value()["a"].numpy().tolist() == [1.0, 2.0] and full.get_value()["b"].to_list() == [[1.0, 2.0]]
    none = tf.function(lambda: Optional.empty(spec))()
    assert not bool(none.has_value()) and none.element_spec == spec


def test_a_graph_takes_no_value_from_an_empty_optional():
    function = tf.function(lambda optional: optional.get_value())
    with pytest.raises(tf.errors.InvalidArgumentError, match="does not have a value"):
        function(Optional.empty(tf.TensorSpec([])))


def test_specs():
    spec = tf.OptionalSpec(tf.TensorSpec([2]))
    optional = Optional.from_value(tf.constant([1.0, 2.0]))
    assert tf.OptionalSpec.from_value(optional) == spec == tf.type_spec_from_value(optional)
    assert spec != tf.OptionalSpec(tf.TensorSpec([3])) and spec.value_type is Optional
    assert spec.is_compatible_with(optional)
    components = tf.nest.flatten(optional, expand_composites=True)
    assert len(components) == 1 and components[0].dtype == tf.variant and components[0].shape == []
    again = tf.nest.pack_sequence_as(optional, components, expand_composites=True)
    assert again.get_value().numpy().tolist() == [1.0, 2.0]
    none = tf.nest.map_structure(lambda t: t, Optional.empty(tf.TensorSpec([2])), expand_composites=True)
    assert not bool(none.has_value())
    with pytest.raises(NotImplementedError, match="Batching for"):
        spec._batch(3)


def test_raw_ops():
    variant = tf.raw_ops.OptionalFromValue(components=[tf.constant([1, 2]), tf.constant("a")])
    assert bool(tf.raw_ops.OptionalHasValue(optional=variant))
    assert not bool(tf.raw_ops.OptionalHasValue(optional=tf.raw_ops.OptionalNone()))

    def get(types, shapes):
        return tf.raw_ops.OptionalGetValue(optional=variant, output_types=types, output_shapes=shapes)

    a, b = get([tf.int32, tf.string], [[None], []])
    assert a.numpy().tolist() == [1, 2] and b.numpy() == b"a"
    for types, shapes, message in (
        ([tf.int32], [[2]], "has 2 components, expected 1"),
        ([tf.int64, tf.string], [[2], []], "does not match the expected type for component 0"),
        ([tf.int32, tf.int32], [[2], []], "does not match the expected type for component 1"),
        ([tf.string, tf.string], [[2], []], "does not match the expected type for component 0"),
        ([tf.int32, tf.string], [[3], []], "does not match the expected shape for component 0"),
        ([tf.int32, tf.string], [[2], [1]], "does not match the expected shape for component 1"),
    ):
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            get(types, shapes)
