"""Specs and structures as messages."""

import collections

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.core.types.spec import BoundedTensorSpec, VariableSpec
from tapeflow.core.types.spec_proto import from_proto, spec_from_proto, spec_to_proto, to_proto

Pair = collections.namedtuple("Pair", "first second")


@pytest.mark.parametrize(
    ("value", "field"),
    [
        (None, "none_value"),
        (True, "bool_value"),
        (0, "int64_value"),
        (-3, "int64_value"),
        (2.5, "float64_value"),
        ("", "string_value"),
        (tf.int64, "tensor_dtype_value"),
        (tf.TensorShape([2, None]), "tensor_shape_value"),
        (tf.TensorShape(None), "tensor_shape_value"),
        (tf.TensorSpec([2, None], tf.int32, "n"), "tensor_spec_value"),
        (BoundedTensorSpec([2], tf.float32, 0, [1, 2], "b"), "bounded_tensor_spec_value"),
        (VariableSpec([2], tf.int32, False, 3), "type_spec_value"),
        (tf.RaggedTensorSpec([2, None]), "type_spec_value"),
        ([], "list_value"),
        ((), "tuple_value"),
        ({}, "dict_value"),
        ([1, (2.5, [None])], "list_value"),
        ({"b": 1, "a": {"c": [tf.float32]}}, "dict_value"),
        (Pair(1, Pair("x", None)), "named_tuple_value"),
    ],
)
def test_structures(value, field):
    proto = to_proto(value)
    assert proto.WhichOneof("kind") == field
    found = from_proto(type(proto).FromString(proto.SerializeToString()))
    assert found == value and (type(found) is type(value) or isinstance(value, Pair))
    if isinstance(value, Pair):
        assert found._fields == Pair._fields and type(found).__name__ == "Pair" and found.second.first == "x"


def test_other_values():
    with pytest.raises(ValueError, match="No encoder for object"):
        to_proto([1, {2}])
    with pytest.raises(ValueError, match="A StructuredValue is empty"):
        from_proto(type(to_proto(1))())
    tensors = []

    def encode(value):
        tensors.append(value)
        return tf.make_tensor_proto(value)

    proto = to_proto({"k": [np.array([1, 2])]}, encode)
    assert len(tensors) == 1
    found = from_proto(proto, lambda message: tf.make_ndarray(message).tolist())
    assert found == {"k": [[1, 2]]}
    with pytest.raises(ValueError, match="No decoder for a StructuredValue with tensor_value"):
        from_proto(proto)


def test_messages_of_specs():
    spec = tf.TensorSpec([2, None], tf.int32)
    assert spec_to_proto(spec).name == "" and spec_from_proto(spec_to_proto(spec)).name is None
    ragged = spec_to_proto(tf.RaggedTensorSpec([2, None], tf.int32))
    assert ragged.type_spec_class_name == "RaggedTensorSpec" and ragged.num_flat_components == 2
    slices = spec_to_proto(tf.IndexedSlicesSpec([3], tf.float32, tf.int32, tf.int64))
    assert slices.type_spec_class == 2 and slices.num_flat_components == 3

    class Unregistered(tf.TypeSpec):
        value_type = int
        _component_specs = ()

        def _to_components(self, value):
            return ()

        def _from_components(self, components):
            return 0

        def _serialize(self):
            return ()

    with pytest.raises(ValueError, match=r"No TypeSpec has been registered for .*: it can't be written"):
        spec_to_proto(Unregistered())
    ragged.type_spec_class, ragged.type_spec_class_name = 0, "missing.Spec"
    with pytest.raises(ValueError, match=r"The TypeSpecProto is of class 'missing.Spec', which is not supported"):
        spec_from_proto(ragged)


NUMBERS = [
    (tf.float32, "float_val", 1.5, 2.5),
    (tf.float64, "double_val", 1.5, 2.5),
    (tf.float16, "half_val", 0x3E00, 0x4100),
    (tf.bfloat16, "half_val", 0x3FC0, 0x4020),
    (tf.int8, "int_val", -3, 5),
    (tf.uint8, "int_val", 3, 5),
    (tf.int32, "int_val", -3, 5),
    (tf.int64, "int64_val", -3, 2**40),
    (tf.uint32, "uint32_val", 3, 2**31),
    (tf.uint64, "uint64_val", 3, 2**63),
    (tf.bool, "bool_val", False, True),
]


@pytest.mark.parametrize(("dtype", "field", "low", "high"), NUMBERS)
def test_bounds_in_fields_of_numbers(dtype, field, low, high):
    """TensorFlow writes a number, or all that are equal to the last one, into a field of the number's type."""
    proto = spec_to_proto(BoundedTensorSpec([2], dtype, [0, 0], [1, 1]))
    for message, value in ((proto.minimum, low), (proto.maximum, high)):
        message.tensor_content = b""
        getattr(message, field).append(value)
    found = spec_from_proto(proto)
    expected = [1.5, 2.5] if dtype.is_floating else [low, high]
    assert found.dtype is dtype and found.minimum.dtype == found.maximum.dtype == dtype.as_numpy_dtype
    assert found.minimum.tolist() == expected[:1] * 2 and found.maximum.tolist() == expected[1:] * 2
    proto.minimum.tensor_shape.Clear()
    getattr(proto.maximum, field)[:] = [low, high]
    found = spec_from_proto(proto)
    assert found.minimum.shape == () and found.minimum.tolist() == expected[0] and found.maximum.tolist() == expected
