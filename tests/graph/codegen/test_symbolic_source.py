"""Sizes in functions for torch's compilers are arithmetic on the sizes of inputs."""

import numpy as np
import pytest
import torch

import tapeflow as tf

# The result of a function of `x`, whose shape is [None, None, 3], and the lines that torch sees.
PROGRAMS = {
    "tf.reshape(x, [tf.shape(x)[0], -1])": ["Reshape(x, (x.shape[0], -1))"],
    "tf.zeros(tf.shape(x)[:2])": ["Fill((x.shape[0], x.shape[1]), zeros_Const)"],
    "tf.zeros(tf.shape(x)[1:2])": ["Fill((x.shape[1],), zeros_Const)"],
    "tf.zeros(tf.shape(x)[::-1])": ["Fill((3, x.shape[1], x.shape[0]), zeros_Const)"],
    "tf.zeros(tf.shape(x)[::2])": ["Fill((x.shape[0], 3), zeros_Const)"],
    "tf.zeros(tf.shape(x)[-2:-1])": ["Fill((x.shape[1],), zeros_Const)"],
    "tf.zeros(tf.shape(x)[None, :2][0])": [
        "tensor_of((x.shape[0], x.shape[1], 3), dtype=torch.int32, device=x.device)",
        "StridedSlice(Shape, (0, 0), (0, 2), (1, 1), 2, 0, 0, 1, 0)",
        "StridedSlice(strided_slice, (0,), (1,), (1,), 0, 0, 0, 0, 1)",
        "Fill(host(strided_slice_1), zeros_Const)",
    ],
    "tf.ones(tf.concat([tf.shape(x)[1:], [2]], 0))": ["Fill((x.shape[1], 3, 2), ones_Const)"],
    "tf.ones(tf.gather(tf.shape(x), [1, 0]))": ["Fill((x.shape[1], x.shape[0]), ones_Const)"],
    "tf.ones([tf.gather(tf.shape(x), 1), 2])": ["Fill((x.shape[1], 2), ones_Const)"],
    "tf.ones(tf.concat([tf.expand_dims(tf.shape(x)[0], 0), [4]], 0))": ["Fill((x.shape[0], 4), ones_Const)"],
    "tf.ones(tf.cast(tf.cast(tf.shape(x), tf.int64)[:2], tf.int32))": ["Fill((x.shape[0], x.shape[1]), ones_Const)"],
    "tf.ones(tf.identity(tf.shape(x))[:1])": ["Fill((x.shape[0],), ones_Const)"],
    "tf.reshape(x, [tf.reduce_prod(tf.shape(x))])": ["Reshape(x, ((x.shape[0] * x.shape[1] * 3),))"],
    "tf.reshape(x, [tf.reduce_prod(tf.shape(x)[1:]), -1])": ["Reshape(x, ((x.shape[1] * 3), -1))"],
    "tf.reshape(x, [tf.size(x)])": ["Reshape(x, ((x.shape[0] * x.shape[1] * 3),))"],
    "tf.ones([tf.shape(x)[0] * 2 + 1, tf.shape(x)[1] // 2])": [
        "Fill((((x.shape[0] * 2) + 1), (x.shape[1] // 2)), ones_Const)"
    ],
    "tf.ones(tf.shape(x) * 2 - 1)": [
        "Fill((((x.shape[0] * 2) - 1), ((x.shape[1] * 2) - 1), ((3 * 2) - 1)), ones_Const)"
    ],
    "tf.ones(tf.shape(x)[:2] + tf.shape(x)[1:])": ["Fill(((x.shape[0] + x.shape[1]), (x.shape[1] + 3)), ones_Const)"],
    "tf.ones([tf.maximum(tf.shape(x)[0], tf.shape(x)[1])])": ["Fill((max(x.shape[0], x.shape[1]),), ones_Const)"],
    "tf.range(1, tf.shape(x)[0], 2)": ["torch.arange(1, x.shape[0], 2, dtype=torch.int32, device=x.device)"],
    "tf.range(tf.cast(tf.shape(x)[1], tf.float32))": [
        "torch.arange(0, x.shape[1], 1, dtype=torch.float32, device=x.device)"
    ],
    "tf.range(2.0, tf.cast(tf.shape(x)[1], tf.float32))": [
        "torch.arange(2, x.shape[1], 1, dtype=torch.float32, device=x.device)"
    ],
    "tf.range(0.5, tf.cast(tf.shape(x)[1], tf.float32))": [
        "tensor_of((x.shape[0], x.shape[1], 3), dtype=torch.int32, device=x.device)",
        "tensor_of(x.shape[1], dtype=torch.int32, device=x.device)",
        "Cast(strided_slice, float32)",
        "Range(range_start, Cast_1, Cast_1_1)",
    ],
    "tf.zeros(tf.shape(tf.sin(x) * 2.0)[:1])": ["Fill((x.shape[0],), zeros_Const)"],
    "tf.zeros(tf.shape(tf.einsum('abc,abd->acd', x, x)))": ["Fill((x.shape[0], 3, 3), zeros_Const)"],
    "tf.zeros(tf.shape(tf.einsum('abc, cd->dab', x, tf.ones([3, 4]))))": [
        "Fill((4, x.shape[0], x.shape[1]), zeros_Const)"
    ],
    "tf.reduce_sum(tf.shape(x))": [
        "tensor_of((x.shape[0], x.shape[1], 3), dtype=torch.int32, device=x.device)",
        "Sum(Shape, None, False)",
    ],
    "tf.function(lambda y, n: tf.reshape(y, [n, -1]))(x, tf.shape(x)[1])": ["Reshape(x, (x.shape[1], -1))"],
}


@pytest.mark.parametrize("source", PROGRAMS)
def test_sizes_are_numbers_of_python(source):
    function = tf.function(eval(f"lambda x: {source}", {"tf": tf}), autograph=False)
    concrete = function.get_concrete_function(tf.TensorSpec([None, None, 3]))
    module = tf.torch.module(concrete)
    x = torch.rand(4, 5, 3)
    result, expected = module(x), concrete(tf.torch.from_torch(x))
    assert tuple(result.shape) == tuple(expected.shape)
    np.testing.assert_array_equal(result, expected)
    lines = module.source().splitlines()[1:-1]
    assert [line.partition(" = ")[2] for line in lines] == PROGRAMS[source]


def test_a_branch_has_the_sizes_of_its_arguments():
    function = tf.function(lambda x: tf.cond(tf.shape(x)[0] > 2, lambda: tf.ones(tf.shape(x)[:1]), lambda: x[0, :, 0]))
    module = tf.torch.module(function, tf.TensorSpec([None, None, 3]))
    assert "cond_ones = Fill((x.shape[0],), cond_ones_Const)" in module.source()
    assert [tuple(module(torch.rand(n, 7, 3)).shape) for n in (2, 4)] == [(7,), (4,)]
