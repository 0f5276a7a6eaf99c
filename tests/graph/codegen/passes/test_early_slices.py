"""Slices that are taken before what computes each row by itself, seen in the source, and that results stay."""

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.keras import layers


def random(*shape, seed=0):
    return tf.constant(np.random.default_rng(seed).normal(0.5, 1.0, shape), tf.float32)


W, BIAS, BIAS6 = random(6, 5, seed=1), random(5, seed=2), random(6, seed=3)


def norm(x):
    mean, variance = tf.nn.moments(x, [-1], keepdims=True)
    return tf.nn.batch_normalization(x, mean, variance, BIAS6, BIAS6, 1e-3)


def dense(x):
    return tf.nn.bias_add(tf.reshape(tf.matmul(tf.reshape(x, [-1, 6]), W), [-1, x.shape[1], 5]), BIAS)


def check(function, *arguments):
    """Compares a function with eager calls; its first step is a slice."""
    concrete = tf.function(function).get_concrete_function(*arguments)
    for got, want in zip(tf.nest.flatten(concrete(*arguments)), tf.nest.flatten(function(*arguments)), strict=True):
        assert got.shape == want.shape and got.dtype == want.dtype
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6 * max(1.0, np.abs(want).max()))  # sums near 0
    source = concrete.source()
    assert source.splitlines()[1].partition(" = ")[2].startswith("op_StridedSlice("), source
    return source


CASES = {
    "softmax": (lambda x: tf.nn.softmax(x)[:, 1], 1),
    "logarithm": (lambda x: tf.nn.log_softmax(x)[:, -1], 1),
    "some rows": (lambda x: tf.nn.softmax(tf.sin(x))[1:3, ::2], 1),
    "backwards": (lambda x: tf.nn.softmax(x)[:, ::-1], 1),
    "one batch": (lambda x: tf.exp(x * 2.0)[2], 1),
    "one row": (lambda x: tf.nn.softmax(x)[2, 1], 1),
    "a sum of two": (lambda x: (tf.sin(x) + tf.cos(x))[:, 0], 1),
    "the same twice": (lambda x: tf.square(tf.sin(x) * 3.0)[:, 0], 1),
    "a column": (lambda x: (tf.sin(x) * tf.reduce_sum(x, -1, keepdims=True))[:, 0], 1),
    "one row by a column": (lambda x: (x - tf.reduce_mean(x, 2, keepdims=True))[1, 2], 1),
    "a row for all": (lambda x: (tf.sin(x) * tf.reshape(BIAS6, [1, 1, 6]))[:, 0], 1),
    "a vector": (lambda x: (tf.sin(x) * tf.range(6.0))[:, 0], 1),
    "a bias": (lambda x: tf.nn.bias_add(tf.sin(x), tf.range(6.0))[:, :2], 1),
    "a product": (lambda x: tf.nn.softmax(dense(tf.sin(x)))[:, 2], 1),
    "a product of several rows": (lambda x: dense(tf.sin(x))[:, 1:], 1),
    "a product of one row": (lambda x: dense(tf.sin(x))[1, 1], 1),
    "a product in batches": (lambda x: tf.matmul(tf.sin(x), W)[2, 1], 1),
    "a choice": (lambda x: tf.where(x > 0.5, tf.sin(x), 0.0)[:, 1], 1),
    "RMS normalization": (
        lambda x: (x * tf.math.rsqrt(tf.reduce_mean(x * x, -1, keepdims=True) + 1.0) * BIAS6)[:, 1],
        1,
    ),
    "GELU": (lambda x: tf.nn.gelu(dense(tf.nn.gelu(x, True)))[:, 1], 1),
    "layer normalization": (lambda x: dense(norm(x) + x)[:, 1], 1),
}


@pytest.mark.parametrize("name", CASES)
def test_a_slice_is_taken_first(name):
    function, slices = CASES[name]
    source = check(function, random(5500, 3, 6))
    assert source.count("op_StridedSlice") == slices


def test_a_native_function_computes_rows_that_are_used():
    function = tf.function(lambda x: tf.nn.softmax(dense(tf.nn.gelu(tf.tanh(x) * BIAS6)))[:, 1])
    x = random(20, 30, 6)
    assert "= op_NativeStridedSlice" in function.get_concrete_function(x).source()
    np.testing.assert_allclose(function(x), function.python_function(x), rtol=1e-5, atol=1e-6)


def test_rows_that_are_counted_otherwise():
    function = tf.function(lambda x: tf.reshape(tf.matmul(tf.reshape(x, [-1, 6]), W), [3, 4, 5])[:, 1])
    x = random(4, 3, 6)
    source = function.get_concrete_function(x).source()
    assert source.index("x.reshape((3, 4, 6))") < source.index("op_StridedSlice(") < source.index("op_MatMul(")
    np.testing.assert_allclose(function(x), function.python_function(x), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: tf.nn.softmax(x)[:, :, 1],
        lambda x: tf.nn.softmax(x)[..., 1],
        lambda x: tf.nn.softmax(x)[:, None, 1],
        lambda x: tf.nn.softmax(x, 1)[:, 1],
        lambda x: tf.cumsum(x, 1)[:, 1],
        lambda x: [(y := tf.nn.softmax(x))[:, 1], y],
        lambda x: [(y := tf.nn.softmax(x))[:, 1], y[:, 2]],
        lambda x: tf.reshape(tf.sin(x), [4, 2, 9])[:, 1],
        lambda x: (x - tf.reduce_mean(x, 1, keepdims=True))[:, 1],
    ],
)
def test_what_needs_all_rows_stays(function):
    concrete, x = tf.function(function).get_concrete_function(tf.TensorSpec([4, 3, 6])), random(4, 3, 6)
    assert "op_StridedSlice(" not in concrete.source().splitlines()[1]
    for got, want in zip(tf.nest.flatten(concrete(x)), tf.nest.flatten(function(x)), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


def test_operands_that_are_broadcast_stay():
    function = lambda x, y: (x + y)[:, 1]  # noqa: E731
    x, y = random(4, 3, 6), random(1, 3, 6)
    for spec in (tf.TensorSpec([1, 3, 6]), tf.TensorSpec([None, 3, 6])):
        concrete = tf.function(function).get_concrete_function(tf.TensorSpec([4, 3, 6]), spec)
        assert concrete.source().splitlines()[1].partition(" = ")[2].startswith("op_AddV2(")
        np.testing.assert_allclose(concrete(x, y), function(x, y))


@pytest.mark.parametrize("last", [dense, lambda x: norm(x) + x])
def test_batches_of_any_size(last):
    function = lambda x: tf.nn.softmax(last(norm(tf.sin(x))))[:, -1]  # noqa: E731
    concrete = tf.function(function).get_concrete_function(tf.TensorSpec([None, 3, 6]))
    assert "op_StridedSlice(" in concrete.source().splitlines()[1]
    for count in (0, 1, 4):
        np.testing.assert_allclose(concrete(random(count, 3, 6)), function(random(count, 3, 6)), rtol=1e-5, atol=1e-6)


def test_a_place_that_a_loop_counts():
    norm = layers.LayerNormalization()
    norm.build((None, 3, 6))

    @tf.function
    def function(x):
        total = tf.zeros([4, 5])
        for place in tf.range(3):
            total += tf.nn.softmax(dense(norm(x + tf.reduce_sum(total))))[:, place]
        return total

    x, total = random(4, 3, 6), tf.zeros([4, 5])
    for place in range(3):
        total += tf.nn.softmax(dense(norm(x + tf.reduce_sum(total))))[:, place]
    np.testing.assert_allclose(function(x), total, rtol=1e-5, atol=1e-6)
    source = function.get_concrete_function(x).source()
    assert source.index("op_StridedSlice(") < source.index("SquaredDifference") < source.index("op_Softmax(")


def test_a_place_outside():
    function = tf.function(lambda x, i: tf.nn.softmax(x)[:, i])
    with pytest.raises(tf.errors.InvalidArgumentError, match="slice index 7 of dimension 1 out of bounds"):
        function(random(4, 3, 6), tf.constant(7))


def test_gradients():
    def step(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            loss = tf.reduce_sum(tf.nn.softmax(dense(x))[:, 1] ** 2)
        return loss, tape.gradient(loss, x)

    x = random(4, 3, 6)
    for got, want in zip(tf.function(step)(x), step(x), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


def random_rows(seed):
    """Returns a function that computes each row of tensors like `x` from the same row, and takes a slice at the end."""
    rng, is_known = np.random.default_rng(seed), seed % 2 == 0
    sizes = [int(n) for n in rng.integers(1, 4, rng.integers(1, 4))]
    unary = [
        tf.sin, tf.nn.softmax, tf.nn.log_softmax, tf.nn.gelu, lambda t: t * 0.5, lambda t: tf.where(t > 0.2, t, -t),
        lambda t: t - tf.reduce_mean(t, -1, keepdims=True), lambda t: t + tf.reduce_max(t, t.shape.rank - 1, True),
        lambda t: tf.reshape(tf.sin(tf.reshape(t, [-1, t.shape[-1]])), [*t.shape]) if is_known else t,
        lambda t: tf.squeeze(tf.cos(t[..., None, :]), -2), lambda t: t + tf.range(1.0, t.shape[-1] + 1.0),
        lambda t: t * tf.reshape(tf.range(1.0, t.shape[-1] + 1.0), [1] * (t.shape.rank - 1) + [-1]),
    ]  # fmt: skip
    steps = [(int(rng.integers(len(unary) + 3)), int(rng.integers(1, 4)), int(rng.integers(1, 5))) for _ in range(9)]
    begins = [int(rng.integers(n)) for n in sizes]
    key = tuple(
        [begin, slice(begin, None), slice(None, None, -1), slice(None)][rng.integers(4)]
        for begin in begins[: rng.integers(1, len(sizes) + 1)]
    )
    kernels = [tf.constant(rng.normal(size=(6, 6)), tf.float32) for _ in range(4)]

    def function(x):
        values = [x]
        for kind, back, width in steps:
            t, other = values[-1], values[-min(back, len(values))]
            if kind < len(unary):
                values.append(unary[kind](t))
            elif kind == len(unary) and t.shape[-1] == other.shape[-1]:
                values.append(t * other)
            elif kind == len(unary) + 1 and is_known:
                flat = tf.matmul(tf.reshape(t, [-1, t.shape[-1]]), kernels[width - 1][: t.shape[-1], :width])
                values.append(tf.reshape(tf.nn.bias_add(flat, tf.range(1.0, width + 1.0)), [*t.shape[:-1], width]))
            elif t.shape.rank > 1:
                values.append(tf.matmul(t, kernels[width - 1][: t.shape[-1], :width]))
        return values[-1][key], tf.reduce_sum(values[len(values) // 2]) if seed % 3 == 0 else tf.constant(0.0)

    shape = [*sizes, int(rng.integers(1, 6))]
    unknown = [None if rng.random() < 0.3 else n for n in sizes]
    x = tf.constant(rng.normal(size=shape), tf.float32)
    return function, x, tf.TensorSpec(shape if is_known else [*unknown, shape[-1]])


@pytest.mark.parametrize("first", range(0, 40, 10))
def test_random_rows(first):
    for seed in range(first, first + 10):
        function, x, spec = random_rows(seed)
        concrete = tf.function(function).get_concrete_function(spec)
        for got, want in zip(concrete(x), function(x), strict=True):
            assert got.shape == want.shape
            np.testing.assert_allclose(got, want, rtol=2e-4, atol=1e-5, err_msg=str(seed))
