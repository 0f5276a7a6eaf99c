"""Products with a matrix of few columns in functions, which the product of the transposes may take the place of."""

import numpy as np
import pytest
import torch

import tapeflow as tf
from tapeflow.core.ops.elementwise_kernels import mkl_is_slow
from tapeflow.core.types.dtypes import float32, float64
from tapeflow.linalg.narrow_products import by_transposes, by_transposes_with_bias, is_narrow

A, B = torch.randn(300, 64), torch.randn(64, 10)


@pytest.mark.parametrize(
    ("a", "b", "bias"),
    {
        "plain": (A, B, torch.randn(10)),
        "few rows": (A[:3], B, torch.randn(10)),
        "a transposed": (torch.randn(64, 300).t(), B, torch.randn(300, 1)),
        "both transposed": (torch.randn(64, 300).t(), torch.randn(10, 64).t(), torch.randn(300, 10)),
        "gaps": (torch.randn(600, 128)[::2, ::2], torch.randn(64, 20)[:, ::2], torch.randn(30)[::3]),
        "repeated": (A[:1].expand(300, 64), B[:, :1].expand(64, 10), torch.randn(1).expand(10)),
        "negated": (A._neg_view(), B._neg_view(), torch.randn(10)._neg_view()),
    }.values(),
)
def test_the_product_is_that_of_aten(a, b, bias):
    product, biased = by_transposes(a, b), by_transposes_with_bias(bias, a, b)
    torch.testing.assert_close(product, torch.mm(a, b), rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(biased, torch.addmm(bias, a, b), rtol=1e-4, atol=1e-4)
    assert product.is_contiguous() and biased.is_contiguous()


def test_torch_may_follow_the_product():
    a = A.clone().requires_grad_()
    by_transposes_with_bias(torch.zeros(10), a, B).sum().backward()
    torch.testing.assert_close(a.grad, B.sum(1).expand(300, 64), rtol=1e-4, atol=1e-4)


def test_few_columns_beside_a_large_matrix_are_narrow():
    assert is_narrow(float32, tf.TensorShape([256, 64]), 10) == mkl_is_slow()
    assert is_narrow(float32, tf.TensorShape([None, 64]), 10) == mkl_is_slow()
    assert not is_narrow(float32, tf.TensorShape([16, 64]), 10)
    assert not any(is_narrow(float32, tf.TensorShape([256, 64]), columns) for columns in (0, 1, 16, None))
    assert not is_narrow(float64, tf.TensorShape([256, 64]), 10)


@pytest.mark.parametrize("rows", [300, 0])
def test_a_classifier_in_a_function_computes_what_eager_code_does(rows):
    rng = np.random.default_rng(0)
    x, w, b = (tf.constant(rng.standard_normal(s), tf.float32) for s in ((rows, 64), (64, 10), (10,)))

    def step(x, w, b):
        with tf.GradientTape() as tape:
            tape.watch([x, w, b])
            loss = tf.reduce_sum(tf.nn.log_softmax(x @ w + b)[:, 0])
        return loss, *tape.gradient(loss, [x, w, b])

    unknown = [tf.TensorSpec(shape, tf.float32) for shape in ([None, 64], [64, 10], [10])]
    for function in (tf.function(step), tf.function(step, input_signature=unknown)):
        for ours, expected in zip(function(x, w, b), step(x, w, b), strict=True):
            np.testing.assert_allclose(ours, expected, rtol=1e-4, atol=1e-4)
