"""`TensorProto` messages and tensors: large tensors of equal elements take no memory."""

import numpy as np
import pytest

import tapeflow as tf

MANY = [2**11, 2**11]


def proto_of(dtype, dims, **values):
    message = tf.make_tensor_proto(0.0)
    message.Clear()
    message.dtype = dtype.as_datatype_enum
    for size in dims:
        message.tensor_shape.dim.add().size = size
    for field, value in values.items():
        getattr(message, field).extend(value)
    return message


@pytest.mark.parametrize(
    ("dtype", "values", "element"),
    [
        (tf.float32, {"float_val": [1.5]}, 1.5),
        (tf.float32, {}, 0.0),
        (tf.int64, {"int64_val": [-3]}, -3),
        (tf.complex64, {"scomplex_val": [1.0, 2.0]}, 1 + 2j),
        (tf.bool, {"bool_val": [True]}, True),
        (tf.bfloat16, {"half_val": [0x3FC0]}, 1.5),
        (tf.string, {"string_val": [b"ab"]}, b"ab"),
    ],
)
def test_equal_elements_take_the_memory_of_one(dtype, values, element):
    tensor = tf.io.parse_tensor(proto_of(dtype, MANY, **values).SerializeToString(), dtype)
    assert tensor.shape == MANY
    assert tensor.dtype == dtype
    if dtype != tf.string:
        assert tensor.value.untyped_storage().nbytes() <= 16
    assert np.ravel(tensor[5].numpy())[7] == element


@pytest.mark.parametrize("given", [[1.0, 2.0], [1.0, 2.0, 3.0]])
def test_the_last_element_is_repeated(given):
    for size in (7, 2**19):
        tensor = tf.io.parse_tensor(proto_of(tf.float32, [size], float_val=given).SerializeToString(), tf.float32)
        assert tensor.numpy()[: len(given)].tolist() == given
        assert np.unique(tensor.numpy()[len(given) :]).tolist() == [given[-1]]
