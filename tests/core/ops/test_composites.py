"""Compositions of ops with many elements: one compiled function, with the values and gradients of the ops."""

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.core.ops import composites

SHAPE = (40, 2000)  # more elements than take the ops


def random(shape=SHAPE, seed=0, dtype="float32"):
    return tf.constant(np.random.default_rng(seed).normal(size=shape), dtype)


def positive(seed=0):
    return tf.abs(random(seed=seed)) + 0.1


LABELS = tf.constant(np.random.default_rng(3).integers(0, 2, SHAPE), "float32")
COLUMN = random(SHAPE[1:], seed=4)
COMPOSITES = {
    "gelu": tf.nn.gelu,
    "gelu by tanh": lambda x: tf.nn.gelu(x, approximate=True),
    "silu": tf.nn.silu,
    "silu with a slope": lambda x: tf.nn.silu(x, 0.7),
    "l2_normalize": lambda x: tf.math.l2_normalize(x, 1),
    "moments": lambda x: tf.concat(tf.nn.moments(x, [1]), 0),
    "moments of columns": lambda x: tf.concat(tf.nn.moments(x, [0], keepdims=True), 0),
    "batch_normalization": lambda x: tf.nn.batch_normalization(x, COLUMN, COLUMN**2, COLUMN, None, 0.1),
    "sigmoid cross-entropy": lambda x: tf.nn.sigmoid_cross_entropy_with_logits(LABELS, x),
    "weighted cross-entropy": lambda x: tf.nn.weighted_cross_entropy_with_logits(LABELS, x, 2.0),
    "log_poisson_loss": lambda x: tf.nn.log_poisson_loss(LABELS * 3.0, x, compute_full_loss=True),
}


def gradients(function, x):
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = function(x)
            total = tf.reduce_sum(tf.sin(y))
        dx = tape.gradient(total, x)
        again = tf.reduce_sum(dx**2)
    return y, dx, outer.gradient(again, x)


@pytest.fixture
def calls(monkeypatch):
    """The operands of compiled functions."""
    count = []
    compiled = composites.is_compiled
    monkeypatch.setattr(composites, "is_compiled", lambda x: compiled(x) and (count.append(x) or True))
    return count


@pytest.mark.parametrize("name", COMPOSITES)
def test_values_and_gradients(name, monkeypatch, calls):
    function, x = COMPOSITES[name], random()
    got = gradients(function, x)
    assert calls
    monkeypatch.setattr(composites, "_LEAST", 1 << 60)
    expected = gradients(function, x)
    for a, b in zip(got[:2], expected[:2], strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=2e-5)
    np.testing.assert_allclose(got[2], expected[2], rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("dtype", ["float64", "float16", "bfloat16"])
@pytest.mark.parametrize("name", ["gelu", "silu", "l2_normalize"])
def test_dtypes(name, dtype, monkeypatch):
    x = random(dtype=dtype)
    y = COMPOSITES[name](x)
    assert y.dtype is x.dtype
    monkeypatch.setattr(composites, "_LEAST", 1 << 60)
    np.testing.assert_allclose(
        tf.cast(y, "float32"), tf.cast(COMPOSITES[name](x), "float32"), rtol=2e-2 if dtype == "bfloat16" else 2e-3,
        atol=1e-4,
    )  # fmt: skip


def test_sizes_that_change():
    for rows in (40, 41, 77, 300):
        x = random((rows, 2000))
        np.testing.assert_allclose(tf.nn.gelu(x)[:3], tf.nn.gelu(x[:3]), rtol=1e-5, atol=1e-6)


def test_errors_are_those_of_eager_mode():
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.math.l2_normalize(random(), 5)
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.nn.moments(random(), [3])


def test_the_variance_of_equal_numbers_is_zero():
    _, variance = tf.nn.moments(tf.fill([2, 70_000], 1000.1), [1])
    np.testing.assert_allclose(variance, 0.0, atol=1e-7)


def test_errors_of_a_compiled_function_show_in_tests(monkeypatch):
    def only_eager(x):
        if not tf.executing_eagerly():
            raise ValueError("a wrong function")
        return x + 1.0

    call, x = composites.composite(only_eager), random()
    with pytest.raises(ValueError, match="a wrong function"):
        call(x)
    monkeypatch.setattr(composites, "CHECKS_PROGRAMS", False)
    np.testing.assert_array_equal(call(x), x + 1.0)
