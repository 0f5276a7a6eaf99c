"""What goldens can't show of specs: protos, pickling, nests, values put together again."""

import pickle

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.core.types.spec import BoundedTensorSpec, VariableSpec
from tapeflow.core.types.spec_proto import from_proto, to_proto

SPECS = [
    tf.TensorSpec([2, None], tf.int32, "x"),
    tf.TensorSpec(None),
    BoundedTensorSpec([2], tf.float32, 0.0, [1.0, 2.0], "b"),
    tf.IndexedSlicesSpec([3, 2], tf.float64, tf.int32, tf.int64, [None]),
    tf.SparseTensorSpec([2, None], tf.string),
    tf.RaggedTensorSpec([2, None, None], tf.float32, 1, tf.int32),
    tf.TensorArraySpec([2], tf.int32, True, False),
    tf.OptionalSpec((tf.TensorSpec([2]), tf.RaggedTensorSpec([2, None]))),
    VariableSpec([2], tf.float32, False),
]


@pytest.mark.parametrize("spec", SPECS, ids=repr)
def test_a_spec_survives(spec):
    assert type(spec).experimental_from_proto(spec.experimental_as_proto()) == spec
    assert pickle.loads(pickle.dumps(spec)) == spec
    assert hash(pickle.loads(pickle.dumps(spec))) == hash(spec)
    assert spec.is_compatible_with(spec)
    assert spec.is_subtype_of(spec)
    assert spec.most_specific_compatible_type(spec) == spec


def test_structures_as_protos():
    structure = ("a", 1, 2.5, True, None, [tf.float32, tf.TensorShape([1, None])], {"k": tf.TensorSpec([2])})
    assert from_proto(to_proto(structure)) == structure
    with pytest.raises(ValueError, match="No encoder"):
        to_proto(object())


@pytest.mark.parametrize(
    "value",
    [
        tf.constant([1.0]),
        tf.SparseTensor([[0, 1]], [5], [2, 3]),
        tf.ragged.constant([[[1], [2, 3]], []]),
        tf.RaggedTensor.from_uniform_row_length([1, 2, 3, 4], 2),
        tf.IndexedSlices(tf.constant([[1.0]]), tf.constant([0]), tf.constant([2, 1])),
        tf.IndexedSlices(tf.constant([[1.0]]), tf.constant([0])),
    ],
    ids=lambda v: type(v).__name__,
)
def test_values_are_taken_apart_and_put_together(value):
    spec = tf.type_spec_from_value(value)
    again = spec.from_tensors(iter(spec.to_tensors(value)))
    assert tf.type_spec_from_value(again) == spec
    assert len(spec.flatten()) == len(spec.to_tensors(value))
    assert all(s.is_compatible_with(t) for s, t in zip(spec.flatten(), spec.to_tensors(value), strict=True))
    flat = tf.nest.flatten(value, expand_composites=True)
    packed = tf.nest.pack_sequence_as(value, flat, expand_composites=True)
    assert repr(packed) == repr(value) or isinstance(value, tf.IndexedSlices)


def test_a_variable_spec_gives_the_variable_back():
    v = tf.Variable([1.0])
    spec = tf.type_spec_from_value(v)
    assert spec._from_components(spec._to_components(v)) is v


def test_bounds():
    spec = BoundedTensorSpec([2], tf.int32, [0, 1], 5)
    with pytest.raises(ValueError, match="read-only"):
        spec.minimum[0] = 3
    assert not spec.is_subtype_of(BoundedTensorSpec([2], tf.int32, [0, 2], 5))
    assert BoundedTensorSpec.from_spec(tf.TensorSpec([2], tf.uint8)).maximum == 255
    np.testing.assert_array_equal(spec.minimum, [0, 1])


def test_a_spec_of_ones_own():
    class PairSpec(tf.TypeSpec):
        value_type = tuple

        def __init__(self, spec):
            self.spec = spec

        def _serialize(self):
            return (self.spec,)

        @property
        def _component_specs(self):
            return (self.spec, self.spec)

        def _to_components(self, value):
            return value

        def _from_components(self, components):
            return components

    a, b = PairSpec(tf.TensorSpec([1])), PairSpec(tf.TensorSpec([2]))
    assert a.most_specific_compatible_type(b) == PairSpec(tf.TensorSpec([None]))
    assert not a.is_compatible_with(b)
    assert a.is_subtype_of(PairSpec(tf.TensorSpec([None])))
    with pytest.raises(TypeError, match="abstract"):
        tf.TypeSpec()


def test_optional():
    from tapeflow.control.optional import Optional

    full = Optional.from_value({"a": 1, "b": tf.ragged.constant([[1.0]])})
    assert full.has_value()
    assert full.get_value()["a"].numpy() == 1
    assert full.element_spec["b"] == tf.RaggedTensorSpec([1, None])
    empty = Optional.empty(tf.TensorSpec([2]))
    assert not empty.has_value()
    with pytest.raises(tf.errors.InvalidArgumentError, match="does not have a value"):
        empty.get_value()
