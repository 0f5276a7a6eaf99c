"""What goldens can't show of specs: protos, pickling, nests, values put together again."""

import pickle

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.core.types import spec as spec_module
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


def test_specs_of_tensors():
    spec = tf.TensorSpec([2, None])
    assert spec.dtype is tf.float32 and spec.name is None and spec.shape.as_list() == [2, None]
    assert repr(tf.TensorSpec([1], "int64", "n")) == "TensorSpec(shape=(1,), dtype=tf.int64, name='n')"
    x = tf.constant([[1], [2]])
    assert tf.TensorSpec.from_tensor(x, "x") == tf.TensorSpec([2, 1], tf.int32, "x")
    assert tf.TensorSpec.from_tensor(x).name is None
    with pytest.raises(ValueError, match=r"`tensor` should be a tf.Tensor, but got type <class 'list'>"):
        tf.TensorSpec.from_tensor([1])
    named = tf.TensorSpec([3], tf.int32, "a")
    assert tf.TensorSpec.from_spec(named) == named
    assert tf.TensorSpec.from_spec(named, "b") == tf.TensorSpec([3], tf.int32, "b")


def test_compatible_tensors():
    spec = tf.TensorSpec([2, None], tf.int32, "n")
    assert spec.is_compatible_with(tf.zeros([2, 5], tf.int32))
    assert spec.is_compatible_with(tf.TensorSpec([None, 3], tf.int32, "m"))
    for other in (tf.zeros([2, 5]), tf.zeros([3, 5], tf.int32), tf.zeros([2], tf.int32), [[1], [2]], None):
        assert not spec.is_compatible_with(other)


def test_subtypes():
    spec = tf.TensorSpec([2, 3], tf.int32, "n")
    assert spec.is_subtype_of(tf.TensorSpec([2, None], tf.int32, "n"))
    for other in (
        tf.TensorSpec([2, 3], tf.int32),
        tf.TensorSpec([2, 3], tf.int64, "n"),
        tf.TensorSpec([2, 4], tf.int32, "n"),
        BoundedTensorSpec([2, 3], tf.int32, 0, 1, "n"),
    ):
        assert not spec.is_subtype_of(other)
    assert not tf.TensorSpec([2, None]).is_subtype_of(tf.TensorSpec([2, 3]))


def test_equal_specs():
    spec = tf.TensorSpec([2, None], tf.int32, "n")
    assert spec == tf.TensorSpec([2, None], tf.int32, "n")
    assert hash(spec) == hash(tf.TensorSpec([2, None], tf.int32, "n"))
    others = [
        tf.TensorSpec([2, 1], tf.int32, "n"),
        tf.TensorSpec([2, None], tf.int64, "n"),
        tf.TensorSpec([2, None], tf.int32),
        BoundedTensorSpec([2, None], tf.int32, 0, 1, "n"),
        "text",
    ]
    assert not any(spec == other for other in others) and all(spec != other for other in others)


def test_batches_of_tensors():
    spec = tf.TensorSpec([3, None], tf.int32, "n")
    assert spec._batch(2) == tf.TensorSpec([2, 3, None], tf.int32)
    assert spec._batch(None) == tf.TensorSpec([None, 3, None], tf.int32)
    assert spec._unbatch() == tf.TensorSpec([None], tf.int32)
    assert tf.TensorSpec(None)._unbatch() == tf.TensorSpec(None)
    with pytest.raises(ValueError, match="Unbatching a tensor is only supported for rank >= 1"):
        tf.TensorSpec([])._unbatch()
    assert spec._without_tensor_names() == tf.TensorSpec([3, None], tf.int32)
    unnamed = tf.TensorSpec([2])
    assert unnamed._without_tensor_names() is unnamed


class Casts:
    """A context of casts, as `tf.types.experimental` has it."""

    def __init__(self, allow_specs):
        self.allow_specs = allow_specs


def test_casts_to_tensors():
    spec = tf.TensorSpec([None, 2], tf.float32, "x")
    for context in (None, Casts(False), Casts(True)):
        found = spec.cast([[1, 2]], context)
        assert found.dtype is tf.float32 and found.numpy().tolist() == [[1.0, 2.0]]
    x = tf.zeros([3, 2])
    assert spec.cast(x, None) is x
    with pytest.raises(TypeError, match=r"Can not cast TensorSpec\(shape=\(3,\).* to TensorSpec\(shape=\(None, 2\)"):
        spec.cast(tf.zeros([3]), None)
    assert spec.cast(tf.TensorSpec([5, 2], name="x"), Casts(True)) is spec
    with pytest.raises(TypeError, match=r"Can not cast TensorSpec\(shape=\(5, 3\)"):
        spec.cast(tf.TensorSpec([5, 3], name="x"), Casts(True))
    for context in (None, Casts(False)):
        with pytest.raises((TypeError, ValueError), match="TensorSpec"):
            spec.cast(tf.TensorSpec([5, 2], name="x"), context)


def test_casts_to_composite_values():
    spec = tf.RaggedTensorSpec([2, None], tf.int32)
    value = tf.ragged.constant([[1], []])
    for context in (None, Casts(False), Casts(True)):
        assert spec.cast(value, context) is value
    assert spec.cast(tf.RaggedTensorSpec([2, None], tf.int32), Casts(True)) is spec
    for other in (tf.RaggedTensorSpec([3, None], tf.int32), tf.TensorSpec([2, 1], tf.int32)):
        with pytest.raises(TypeError, match="Can not cast"):
            spec.cast(other, Casts(True))
    for wrong in (tf.ragged.constant([[1.0], []]), tf.constant([[1], [2]])):
        with pytest.raises(TypeError, match=r"Can not cast .* to RaggedTensorSpec"):
            spec.cast(wrong, None)


def test_placeholders():
    class Context:
        def placeholder(self, spec):
            return tf.fill(spec.shape, tf.cast(7, spec.dtype))

    assert tf.TensorSpec([2], tf.int32).placeholder_value(Context()).numpy().tolist() == [7, 7]
    slices = tf.IndexedSlicesSpec([5, 2], tf.float64, tf.int32, tf.int64, [3]).placeholder_value(Context())
    assert isinstance(slices, tf.IndexedSlices) and slices.values.shape == (3, 2)
    assert slices.values.dtype is tf.float64 and slices.indices.dtype is tf.int32 and slices.dense_shape.shape == (2,)


def test_bounds_must_fit_the_shape():
    for low, high, wrong in ((None, 1, "minimum"), (0, None, "maximum")):
        with pytest.raises(ValueError, match=f"`{wrong}` can not be None"):
            BoundedTensorSpec([2], tf.int32, low, high)
    for bound in ([0, 1, 2], [[0, 1]]):
        with pytest.raises(ValueError, match=r"`minimum` .* is not compatible with shape \(2,\)"):
            BoundedTensorSpec([2], tf.int32, bound, 5)
        with pytest.raises(ValueError, match=r"`maximum` .* is not compatible with shape \(2,\)"):
            BoundedTensorSpec([2], tf.int32, 0, bound)
    spec = BoundedTensorSpec([None, 2], tf.float32, [[1], [2], [3]], [4, 5], "name")
    assert spec.minimum.dtype == spec.maximum.dtype == np.float32 and spec.name == "name"
    assert spec.minimum.tolist() == [[1.0], [2.0], [3.0]] and spec.maximum.tolist() == [4.0, 5.0]
    assert BoundedTensorSpec(None, tf.int32, [[[1]]], 2).minimum.shape == (1, 1, 1)
    text = "BoundedTensorSpec(shape=(2,), dtype=tf.int32, name='n', minimum=array(0, dtype=int32), maximum=array(3, "
    assert repr(BoundedTensorSpec([2], tf.int32, 0, 3, "n")) == f"{text}dtype=int32))"


def test_bounds_of_other_specs():
    spec = BoundedTensorSpec([2], tf.int32, 1, [5, 6], "a")
    assert BoundedTensorSpec.from_spec(spec) == spec
    assert BoundedTensorSpec.from_spec(spec, "b") == BoundedTensorSpec([2], tf.int32, 1, [5, 6], "b")
    of_dtype = BoundedTensorSpec.from_spec(tf.TensorSpec([2], tf.int8, "c"))
    assert of_dtype == BoundedTensorSpec([2], tf.int8, -128, 127, "c")
    assert hash(spec) == hash(BoundedTensorSpec([2], tf.int32, 1, [5, 6], "a"))
    for low, high in ((2, [5, 6]), (1, [5, 7])):
        other = BoundedTensorSpec([2], tf.int32, low, high, "a")
        assert spec != other and not spec.is_subtype_of(other)
        assert spec.most_specific_common_supertype([spec, other]) is None
    wide = BoundedTensorSpec([3], tf.int32, 1, [5], "a")
    narrow = BoundedTensorSpec([2], tf.int32, 1, [5], "a")
    assert narrow.most_specific_common_supertype([wide]) == BoundedTensorSpec([None], tf.int32, 1, [5], "a")
    assert narrow.most_specific_common_supertype([tf.TensorSpec([2], tf.int32, "a")]) is None
    assert narrow.most_specific_common_supertype([BoundedTensorSpec([2], tf.int64, 1, [5], "a")]) is None


def test_specs_of_variables():
    spec = VariableSpec([2, None], tf.int32)
    assert spec.trainable is True and spec.alias_id is None and spec.value_type is tf.Variable
    assert VariableSpec([2]).dtype is tf.float32
    v = tf.Variable([[1, 2, 3]] * 2)
    assert spec.is_compatible_with(v) and spec.is_compatible_with(VariableSpec([None, 3], tf.int32, True, 5))
    for other in (
        tf.Variable([[1, 2, 3]] * 2, trainable=False),
        tf.Variable([[1.0]] * 2),
        tf.Variable([[1]] * 3),
        tf.constant([[1, 2, 3]] * 2),
    ):
        assert not spec.is_compatible_with(other)
    found = VariableSpec.from_value(tf.Variable([1.0], trainable=False))
    assert found == VariableSpec([1], tf.float32, False)
    assert repr(VariableSpec([2], tf.int32, False, 3)) == (
        "VariableSpec(shape=(2,), dtype=tf.int32, trainable=False, alias_id=3)"
    )
    assert spec.to_tensors(v) == [v] and next(iter([v])) is spec.from_tensors(iter([v]))
    assert spec.flatten() == spec._component_specs == [tf.TensorSpec([], tf.resource)]


def test_specs_of_slices():
    spec = tf.IndexedSlicesSpec([None, 3])
    assert spec._serialize() == (tf.TensorShape([None, 3]), tf.float32, tf.int64, None, tf.TensorShape([None]))
    assert spec._component_specs == (tf.TensorSpec([None, 3]), tf.TensorSpec([None], tf.int64))
    full = tf.IndexedSlicesSpec([4, 3], tf.int32, tf.int32, tf.int64, [2])
    assert full._component_specs == (
        tf.TensorSpec([2, 3], tf.int32),
        tf.TensorSpec([2], tf.int32),
        tf.TensorSpec([2], tf.int64),
    )
    with pytest.raises(ValueError, match="rank 1"):
        tf.IndexedSlicesSpec([4, 3], indices_shape=[2, 2])


def test_specs_of_none():
    spec = tf.NoneTensorSpec()
    assert spec == tf.type_spec_from_value(None) and spec.value_type is type(None)
    assert spec.flatten() == [] and spec.to_tensors(None) == [] and spec.from_tensors(iter([])) is None
    assert spec._batch(3) is spec._unbatch() is spec
    assert spec.is_compatible_with(None) and not spec.is_compatible_with(tf.constant(1))
    assert spec.most_specific_compatible_shape(tf.NoneTensorSpec()) is spec
    with pytest.raises(ValueError, match=r"No `TypeSpec` is compatible with both NoneTensorSpec\(\) and TensorSpec"):
        spec.most_specific_compatible_shape(tf.TensorSpec([2]))


def test_specs_of_values():
    assert tf.type_spec_from_value(np.zeros([2, 3], np.int8)) == tf.TensorSpec([2, 3], tf.int8)
    assert tf.type_spec_from_value([np.zeros([2], np.int8)] * 3) == tf.TensorSpec([3, 2], tf.int8)
    assert tf.type_spec_from_value([np.zeros([2]), np.zeros([2])]) == tf.TensorSpec([2, 2], tf.float64)
    assert tf.type_spec_from_value(3) == tf.TensorSpec([], tf.int32)
    assert tf.type_spec_from_value([[1, 2]]) == tf.TensorSpec([1, 2], tf.int32)
    for wrong in (object(), tf.TensorSpec([2])):
        with pytest.raises(TypeError, match=r"Could not build a TypeSpec for .* of unsupported type"):
            tf.type_spec_from_value(wrong)


def test_specs_of_classes_with_a_converter(monkeypatch):
    class Own:
        pass

    monkeypatch.setattr(spec_module, "_converters", [])
    spec_module.register_type_spec_from_value_converter(Own, lambda value: tf.TensorSpec([7]))
    assert tf.type_spec_from_value(Own()) == tf.TensorSpec([7])
    assert tf.type_spec_from_value(1.5) == tf.TensorSpec([])


def test_a_bound_of_terabytes_is_refused():
    message = BoundedTensorSpec([2], tf.float32, 0.0, 1.0).experimental_as_proto()
    message.minimum.Clear()
    message.minimum.dtype = tf.float32.as_datatype_enum
    message.minimum.tensor_shape.dim.add().size = 2**40
    for values in ([1.0], [1.0, 2.0]):
        del message.minimum.float_val[:]
        message.minimum.float_val.extend(values)
        with pytest.raises(ValueError, match="is too large"):
            BoundedTensorSpec.experimental_from_proto(message)
