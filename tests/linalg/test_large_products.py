"""Products of large matrices in functions, where oneDNN may take ATen's place."""

import numpy as np
import pytest
import torch

import tapeflow as tf
from tapeflow.core.ops.elementwise_kernels import mkl_is_slow
from tapeflow.core.types.dtypes import float32, float64
from tapeflow.linalg.large_products import by_onednn, is_large

needs_onednn = pytest.mark.skipif(not torch.backends.mkldnn.is_available(), reason="there is no oneDNN")

ROWS, WEIGHTS = torch.randn(24, 40), torch.randn(60, 80)


@needs_onednn
@pytest.mark.parametrize(
    ("rows", "weights", "bias"),
    {
        "plain": (ROWS, WEIGHTS[:, :40].contiguous(), torch.randn(60)),
        "three dimensions": (ROWS.view(2, 12, 40), WEIGHTS[:, :40].contiguous(), None),
        "transposed": (torch.randn(40, 24).t(), torch.randn(40, 60).t(), torch.randn(60)),
        "gaps": (ROWS, WEIGHTS[::2, ::2], torch.randn(90)[::3]),
        "repeated": (ROWS[:1].expand(24, 40), WEIGHTS[:, :1].expand(60, 40), torch.randn(1).expand(60)),
        "negated": (ROWS._neg_view(), WEIGHTS[:, :40]._neg_view(), torch.randn(60)._neg_view()),
    }.values(),
)
def test_the_product_is_that_of_aten(rows, weights, bias):
    result = by_onednn(rows, weights, bias)
    torch.testing.assert_close(result, torch.nn.functional.linear(rows, weights, bias), rtol=1e-4, atol=1e-4)


def test_torch_may_follow_the_product():
    weights = torch.randn(60, 40, requires_grad=True)
    by_onednn(ROWS, weights).sum().backward()
    torch.testing.assert_close(weights.grad, ROWS.sum(0).expand(60, 40), rtol=1e-4, atol=1e-4)


def test_only_large_matrices_of_static_shape_are_large():
    assert is_large(float32, tf.TensorShape([512, 512]), 512) == mkl_is_slow()
    assert not is_large(float32, tf.TensorShape([16, 64]), 64)
    assert not is_large(float32, tf.TensorShape([None, 4096]), 4096)
    assert not is_large(float32, tf.TensorShape([4096, 4096]), None)
    assert not is_large(float64, tf.TensorShape([512, 512]), 512)


def test_functions_of_matrices_of_unknown_rank_are_compiled():
    unknown = tf.TensorSpec(None)

    @tf.function(input_signature=[unknown, unknown, unknown])
    def product(a, b, bias):
        return tf.raw_ops.MatMul(a=a, b=b), tf.raw_ops.MatMul(a=a, b=b) + bias

    plain, biased = product(tf.ones([2, 3]), tf.ones([3, 4]), tf.ones(4))
    np.testing.assert_array_equal(plain, np.full((2, 4), 3.0))
    np.testing.assert_array_equal(biased, np.full((2, 4), 4.0))


@pytest.mark.parametrize("shape", [(320, 320), (2, 160, 320)])
@pytest.mark.parametrize("with_bias", [False, True])
def test_functions_of_large_matrices_compute_what_eager_code_does(shape, with_bias):
    rng = np.random.default_rng(0)
    x, w, b = (tf.constant(rng.standard_normal(s), tf.float32) for s in (shape, (320, 512), (512,)))

    def step(x, w, b):
        with tf.GradientTape() as tape:
            tape.watch([x, w, b])
            y = tf.matmul(x, w)
            y = tf.nn.bias_add(y, b) if with_bias else y
            loss = tf.reduce_mean(y**2)
        return y, *tape.gradient(loss, [x, w])

    for ours, expected in zip(tf.function(step)(x, w, b), step(x, w, b), strict=True):
        np.testing.assert_allclose(ours, expected, rtol=1e-4, atol=1e-4)
