"""Values of attrs, from what a caller passes."""

import enum

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.core.ops import op_def
from tapeflow.core.ops.attr_values import attr_value, items_of

NUMBER = enum.IntEnum("NUMBER", {"three": 3})


def attr_of(op, name):
    definition = op_def.get(op)
    return definition, definition.attrs[name]


@pytest.mark.parametrize(
    ("op", "name", "value", "expected"),
    [
        ("Pack", "axis", 2, 2),
        ("Pack", "axis", 2.9, 2),
        ("Pack", "axis", np.int64(3), 3),
        ("Pack", "axis", NUMBER.three, 3),
        ("Pack", "axis", None, 0),
        ("Pack", "axis", True, 1),
        ("LeakyRelu", "alpha", 1, 1.0),
        ("LeakyRelu", "alpha", np.float32(0.5), 0.5),
        ("MatMul", "transpose_a", True, True),
        ("MatMul", "transpose_a", None, False),
        ("BiasAdd", "data_format", "NCHW", "NCHW"),
        ("BiasAdd", "data_format", b"NCHW", "NCHW"),
        ("BiasAdd", "data_format", None, "NHWC"),
        ("Cast", "DstT", "int32", tf.int32),
        ("Cast", "DstT", np.float64, tf.float64),
        ("ArgMax", "output_type", None, tf.int64),
        ("Squeeze", "squeeze_dims", [1, 2.0], (1, 2)),
        ("Squeeze", "squeeze_dims", (), ()),
        ("MaxPool", "ksize", np.zeros([0]), ()),
        ("MaxPool", "ksize", [1, 2], (1, 2)),
        ("MaxPool", "padding", "SAME", "SAME"),
        ("Placeholder", "shape", None, None),
        ("Placeholder", "shape", [2, None], [2, None]),
    ],
)
def test_values(op, name, value, expected):
    found = attr_value(*attr_of(op, name), value)
    assert found == expected and type(found) is type(expected)


@pytest.mark.parametrize(
    ("op", "name", "value", "said"),
    [
        ("Pack", "axis", "1", "Expected int for argument 'axis' not '1'"),
        ("Pack", "axis", [1], r"Expected int for argument 'axis' not \[1\]"),
        ("Pack", "axis", float("inf"), "Expected int for argument 'axis' not inf"),
        ("LeakyRelu", "alpha", "1", "Expected float for argument 'alpha' not '1'"),
        ("LeakyRelu", "alpha", 1j, "Expected float for argument 'alpha' not 1j"),
        ("MatMul", "transpose_a", 1, "Expected bool for argument 'transpose_a' not 1"),
        ("MatMul", "transpose_a", np.True_, "Expected bool for argument 'transpose_a' not"),
        ("BiasAdd", "data_format", 3, "Expected string for argument 'data_format' not 3"),
        ("Cast", "DstT", None, "Expected DataType for argument 'DstT' not None"),
        ("MaxPool", "ksize", 2, "Expected list for 'ksize' argument to 'max_pool' Op, not 2"),
        ("MaxPool", "ksize", np.array([1, 2]), "Expected list for 'ksize' argument to 'max_pool' Op"),
        ("MaxPool", "ksize", [1, "a"], "Expected int for argument 'ksize' not 'a'"),
        ("MaxPool", "padding", None, "Expected string for argument 'padding' not None"),
    ],
)
def test_values_that_are_refused(op, name, value, said):
    with pytest.raises(TypeError, match=said):
        attr_value(*attr_of(op, name), value)


def test_lists_that_are_left_out():
    assert attr_value(*attr_of("MaxPool", "ksize"), None) == ()
    with tf.Graph().as_default():
        with pytest.raises(TypeError, match="Expected list for 'ksize' argument to 'max_pool' Op, not None"):
            attr_value(*attr_of("MaxPool", "ksize"), None)
        x = tf.compat.v1.placeholder(tf.int32, [])
        with pytest.raises(TypeError, match="Error converting shape to a TensorShape: Dimension value must be integer"):
            attr_value(*attr_of("Placeholder", "shape"), [2, x])
    assert items_of("op", "name", tf.zeros([0])) == () and items_of("op", "name", [1, (2,)]) == (1, (2,))
    for wrong in (tf.zeros([1]), "text", 3, {1: 2}):
        with pytest.raises(TypeError, match="Expected list for 'name' argument to 'op' Op"):
            items_of("op", "name", wrong)
