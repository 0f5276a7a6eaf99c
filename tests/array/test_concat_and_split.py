"""Joining, splitting and repeating tensors, in every way to call them."""

import numpy as np
import pytest

import tapeflow as tf
from ways import check, check_static_shape

Invalid = tf.errors.InvalidArgumentError
X = np.arange(24.0, dtype=np.float32).reshape(2, 3, 4)
Y = -np.arange(12.0, dtype=np.float32).reshape(2, 3, 2)
F, INT = tf.float32, tf.int32
N, V, U = tf.TensorSpec([], INT), tf.TensorSpec([2], INT), tf.TensorSpec([None], INT)


def test_joined_tensors():
    def joined(x, y):
        return [
            tf.concat([x, y], 2), tf.concat([x, y, x], -1), tf.concat([x, x], 0), tf.concat([x, X], -2),
            tf.concat([X, y], tf.constant(2)), tf.concat([x], 0), tf.concat(x, 0), tf.concat([x[:0], x], 0),
            tf.stack([x, 2 * x]), tf.stack([x, X], 3), tf.stack([x, x], -1), tf.stack([x, x, x], -4), tf.stack([y], 1),
        ]  # fmt: skip

    xy, xx = np.concatenate([X, Y], 2), np.concatenate([X, X])
    want = [
        xy, np.concatenate([xy, X], 2), xx, np.concatenate([X, X], 1), xy, X, X, X, np.stack([X, 2 * X]),
        np.stack([X, X], 3), np.stack([X, X], 3), np.stack([X, X, X]), Y[:, None],
    ]  # fmt: skip
    check(joined, X, Y, want=want, knows=["static", "dims"])
    check(lambda x, y: [tf.concat([x, y], 2), tf.concat([x, X], 0)], X, Y, knows=["rank"], slices=False)


def test_joined_along_an_axis_of_a_tensor():
    def joined(x, y, axis):
        return [tf.concat([x, y, x], axis), tf.concat([x, y], axis - 3)]

    want = [np.concatenate([X, Y, X], 2), np.concatenate([X, Y], 2)]
    check(joined, X, Y, 2, want=want, slices=False, knows=["static", "dims"])
    check(lambda x, a: tf.concat([x, X, 3 * x], a), X, -2, slices=False)


def test_separated_tensors():
    sizes = np.array([1, 2])

    def separated(x):
        return [
            *tf.unstack(x), *tf.unstack(x, 3, 1), *tf.unstack(x, axis=-1), *tf.split(x, 2), *tf.split(x, 2, -1),
            *tf.split(x, 1, 1), *tf.split(x, [1, 2], 1), *tf.split(x, [1, -1, 2], 2), *tf.split(x, sizes, -2),
            *tf.split(x, tf.constant([4, 0]), 2), *tf.split(x, np.int64(3), 1), *tf.split(x, [2]),
            *tf.split(x, [-1, 0], 1), *tf.split(x, tf.constant(sizes), tf.constant(1)),
        ]  # fmt: skip

    want = [
        *X, *np.moveaxis(X, 1, 0), *np.moveaxis(X, 2, 0), *np.split(X, 2), *np.split(X, 2, 2), X,
        *np.split(X, [1], 1), X[..., :1], X[..., 1:2], X[..., 2:], *np.split(X, [1], 1), X, X[..., :0],
        *np.split(X, 3, 1), X, X, X[:, :0], *np.split(X, [1], 1),
    ]  # fmt: skip
    check(separated, X, want=want, knows=["static"])

    def of_known_number(x):
        return [*tf.unstack(x, 3, 1), *tf.split(x, 2, 2), *tf.split(x, [1, -1], 1), *tf.split(x, [1, 1])]

    check(of_known_number, X, knows=["dims", "rank"], slices=False)


def test_separated_along_tensors():
    def separated(x, axis, sizes):
        return [*tf.split(x, 2, axis), *tf.split(x, [1, 3], axis), *tf.split(x, sizes, axis, 2)]

    want = [*np.split(X, 2, 2), *np.split(X, [1], 2), *np.split(X, [3], 2)]
    check(separated, X, 2, [3, 1], want=want, slices=False)
    check(separated, X, -1, [3, -1], want=want, slices=False, knows=["dims"])


def test_repeated_tensors():
    def repeated(x):
        return [
            tf.tile(x, [2, 1, 3]), tf.tile(x, [0, 1, 2]), tf.tile(x[0, 0, 1], []), tf.repeat(x, 2), tf.repeat(x, 3, 1),
            tf.repeat(x, [2, 0, 1], 1), tf.repeat(x, [3], -1), tf.repeat(x, [1, 2], axis=0), tf.repeat(x[0, 0, 0], 4),
            tf.repeat(x, 0, 2), tf.repeat(x[:0], 2, 0), tf.repeat(x, tf.constant([0, 1, 0, 2], tf.int64), 2),
            tf.repeat(x[0, 0], [0, 1, 2, 1]), tf.repeat(x, np.int32(2), 0), tf.repeat(x[0, 0, 0], 2, 0),
            tf.repeat(x, [1, -1], 0),
        ]  # fmt: skip

    want = [
        np.tile(X, [2, 1, 3]), np.tile(X, [0, 1, 2]), X[0, 0, 1], np.repeat(X, 2), np.repeat(X, 3, 1),
        np.repeat(X, [2, 0, 1], 1), np.repeat(X, 3, 2), np.repeat(X, [1, 2], 0), np.zeros(4), X[..., :0], X[:0],
        np.repeat(X, [0, 1, 0, 2], 2), np.repeat(X[0, 0], [0, 1, 2, 1]), np.repeat(X, 2, 0), np.zeros(2), X[:1],
    ]  # fmt: skip
    check(repeated, X, want=want, knows=["static", "dims"])

    def by_tensors(x, copies, counts, n):
        return [tf.tile(x, copies), tf.repeat(x, counts, 0), tf.repeat(x, counts[:1], 2), tf.repeat(x, n, 1)]

    want = [np.tile(X, [1, 2, 3]), np.repeat(X, [2, 1], 0), np.repeat(X, 2, 2), np.repeat(X, 3, 1)]
    check(by_tensors, X, [1, 2, 3], [2, 1], 3, want=want, slices=False, knows=["static", "dims"])
    check(lambda x, c, n: [tf.tile(x, c), tf.repeat(x, n, 1)], X, [1, 2, 3], 3, want=[want[0], want[3]], slices=False)
    check(lambda x, n: tf.repeat(x, n, 1), X, np.int64(2), want=np.repeat(X, 2, 1), slices=False)


@pytest.mark.parametrize(
    ("function", "shapes", "want"),
    [
        (lambda *v: tf.concat(v, 0), [[2, 3], [None, 3]], [None, 3]),
        (lambda *v: tf.concat(v, 0), [[2, None], [1, 3]], [3, 3]),
        (lambda *v: tf.concat(v, 0), [None, [1, 3]], [None, 3]),
        (lambda *v: tf.concat(v, 0), [None, None], None),
        (lambda *v: tf.concat(v, 0), [[2, 3], [1, 4]], "error"),
        (lambda *v: tf.concat(v, -1), [[2, 3], [2, 4]], [2, 7]),
        (lambda *v: tf.concat(v, 2), [[2, 3], [2, 4]], "error"),
        (lambda *v: tf.concat(v, -3), [[2, 3], [2, 4]], "error"),
        (lambda *v: tf.concat(v, 0), [[2], [2, 3]], "error"),
        (lambda *v: tf.concat(v, 0), [[], []], "error"),
        (lambda *v: tf.concat(v, 1), [[None, 3], None, [1, None]], [1, None]),
        (lambda x, y, n: tf.concat([x, y], n), [[2, 3], [2, 3], N], [None, None]),
        (lambda x: tf.concat([x, x], [0]), [[2]], "error"),
        (lambda *v: tf.stack(v), [[2, None], [None, 3]], [2, 2, 3]),
        (lambda *v: tf.stack(v), [None, [2]], [2, 2]),
        (lambda *v: tf.stack(v), [None, None], None),
        (lambda *v: tf.stack(v), [[2], [3]], "error"),
        (lambda *v: tf.stack(v, -1), [[3], [3]], [3, 2]),
        (lambda *v: tf.stack(v, -2), [[3], [3]], [2, 3]),
        (lambda *v: tf.stack(v, 2), [[2], [2]], "error"),
        (lambda *v: tf.stack(v, -3), [[2], [2]], "error"),
        (lambda x: tf.unstack(x), [[2, 3]], [[3], [3]]),
        (lambda x: tf.unstack(x, axis=1), [[2, None]], "error"),
        (lambda x: tf.unstack(x, 2, 1), [[3, None]], [[3], [3]]),
        (lambda x: tf.unstack(x, 2), [None], [None, None]),
        (lambda x: tf.unstack(x), [None], "error"),
        (lambda x: tf.unstack(x, 3), [[2, 3]], "error"),
        (lambda x: tf.unstack(x, axis=2), [[2, 3]], "error"),
        (lambda x: tf.unstack(x, axis=-3), [[2, 3]], "error"),
        (lambda x: tf.unstack(x, 2, 2), [[2, 3]], "error"),
        (lambda x: tf.split(x, 2), [[4, 3]], [[2, 3], [2, 3]]),
        (lambda x: tf.split(x, 2), [[None, 3]], [[None, 3], [None, 3]]),
        (lambda x: tf.split(x, 2), [None], [None, None]),
        (lambda x: tf.split(x, 3), [[4, 3]], "error"),
        (lambda x: tf.split(x, [1, 3]), [[4, 3]], [[1, 3], [3, 3]]),
        (lambda x: tf.split(x, [1, -1]), [[4, 3]], [[1, 3], [3, 3]]),
        (lambda x: tf.split(x, [1, -1]), [[None, 3]], [[1, 3], [None, 3]]),
        (lambda x: tf.split(x, [4, -1]), [[4, 3]], [[4, 3], [0, 3]]),
        (lambda x: tf.split(x, [1, 2]), [[4, 3]], "error"),
        (lambda x: tf.split(x, [-1, -1]), [[4, 3]], "error"),
        (lambda x: tf.split(x, [5, -1]), [[4, 3]], "error"),
        (lambda x: tf.split(x, [1]), [[]], "error"),
        (lambda x: tf.split(x, 2, -2), [[4, 3]], [[2, 3], [2, 3]]),
        (lambda x: tf.split(x, 2, 2), [[4, 3]], "error"),
        (lambda x: tf.split(x, 2, -3), [[4, 3]], "error"),
        (lambda x: tf.split(x, [1, 2]), [None], [None, None]),
        (lambda x: tf.split(x, [-2, 6]), [[4, 3]], "error"),
        (lambda x, n: tf.split(x, 2, n), [[4, 3], N], [[None, None], [None, None]]),
        (lambda x, n: tf.split(x, n), [[4, 3], V], [[None, 3], [None, 3]]),
        (lambda x, n: tf.split(x, n), [[4, 3], U], "error"),
        (lambda x, n: tf.split(x, n, num=2), [[4, 3], U], [[None, 3], [None, 3]]),
        (lambda x, n: tf.split(x, n), [[4, 3], N], "error"),
        (lambda x, n: tf.split(x, n, num=2), [[4, 3], tf.TensorSpec(None, INT)], [[None, 3], [None, 3]]),
        (lambda x, n: tf.split(x, n), [[4, 3], tf.TensorSpec(None, INT)], "error"),
        (lambda x: tf.tile(x, [2, 3]), [[2, None]], [4, None]),
        (lambda x: tf.tile(x, [2, 0]), [[2, None]], [4, 0]),
        (lambda x: tf.tile(x, [2, 2]), [[0, None]], [0, None]),
        (lambda x: tf.tile(x, [2, 3]), [None], [None, None]),
        (lambda x: tf.tile(x, [2]), [[2, 3]], "error"),
        (lambda x: tf.tile(x, 2), [[2, 3]], "error"),
        (lambda x: tf.tile(x, [[1, 2]]), [[2, 3]], "error"),
        (lambda x: tf.tile(x, [2, -1]), [[2, 3]], [4, None]),
        (lambda x, m: tf.tile(x, m), [[2, 3], V], [None, None]),
        (lambda x, m: tf.tile(x, m), [None, V], [None, None]),
        (lambda x, m: tf.tile(x, m), [[2, 3], tf.TensorSpec([1, 2], INT)], "error"),
        (lambda x: tf.repeat(x, 2), [[2, 3]], [12]),
        (lambda x: tf.repeat(x, 2, 0), [[2, 3]], [4, 3]),
        (lambda x: tf.repeat(x, [1, 2], 0), [[2, 3]], [None, 3]),
        (lambda x: tf.repeat(x, 2, 1), [[None, 3]], [None, 6]),
        (lambda x: tf.repeat(x, 3), [[]], [3]),
        (lambda x: tf.repeat(x, [1, 2, 3], 0), [[2, 3]], "error"),
        (lambda x: tf.repeat(x, 2, 2), [[2, 3]], "error"),
        (lambda x: tf.repeat(x, 2, -3), [[2, 3]], "error"),
        (lambda x: tf.repeat(x, [[1, 2]], 0), [[2, 3]], "error"),
        (lambda x: tf.repeat(x, 2, 0), [None], None),
    ],
)  # fmt: skip
def test_static_shapes(function, shapes, want):
    check_static_shape(function, shapes, want)


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: tf.concat([X, Y], 0), Invalid),
        (lambda: tf.concat([X, Y], 3), Invalid),
        (lambda: tf.concat([X, X[0]], 0), Invalid),
        (lambda: tf.concat([np.zeros([0]), X], 0), Invalid),
        (lambda: tf.concat([1.0, 2.0], 0), Invalid),
        (lambda: tf.concat([X], [0]), ValueError),
        (lambda: tf.stack([X, Y]), Invalid),
        (lambda: tf.stack([X, X], 4), ValueError),
        (lambda: tf.stack([X, X], -5), ValueError),
        (lambda: tf.unstack(X, 3), Invalid),
        (lambda: tf.unstack(X, axis=3), ValueError),
        (lambda: tf.unstack(X, axis=-4), ValueError),
        (lambda: tf.unstack(X, 2, axis=3), Invalid),
        (lambda: tf.unstack(1.0), ValueError),
        (lambda: tf.split(X, 3), Invalid),
        (lambda: tf.split(X, 2, 3), Invalid),
        (lambda: tf.split(X, 2, -4), Invalid),
        (lambda: tf.split(X, 2, [0, 1]), Invalid),
        (lambda: tf.split(X, [1, 2]), Invalid),
        (lambda: tf.split(X, [-1, -1]), Invalid),
        (lambda: tf.split(X, [3, -1]), Invalid),
        (lambda: tf.split(X, [-2, 4]), Invalid),
        (lambda: tf.split(X, [1, 1], 0, 3), Invalid),
        (lambda: tf.split(X, tf.constant(2)), ValueError),
        (lambda: tf.split(tf.ragged.constant([[1]]), np.int64(1)), TypeError),
        (lambda: tf.tile(X, [1, 2]), Invalid),
        (lambda: tf.tile(X, [1, 1, -1]), Invalid),
        (lambda: tf.tile(X, 2), Invalid),
        (lambda: tf.tile(X, [[1, 1, 1]]), Invalid),
        (lambda: tf.repeat(X, [1, 2, 3], 0), ValueError),
        (lambda: tf.repeat(X, [[1, 2]], 0), ValueError),
        (lambda: tf.repeat(X, 2, 3), ValueError),
        (lambda: tf.repeat(X, 2, -4), ValueError),
        (lambda: tf.repeat(X, 2.0, 0), TypeError),
        (lambda: tf.repeat(X, 2, 1.0), TypeError),
        (lambda: tf.parallel_stack([X, X]), RuntimeError),
    ],
)  # fmt: skip
def test_what_is_refused(call, error):
    with pytest.raises(error):
        call()


@pytest.mark.parametrize(
    ("values", "error"),
    [
        (lambda x: [x, X], None),
        (lambda x: [x, tf.cast(x, tf.int32)], TypeError),
        (lambda x: [x, x[0]], ValueError),
        (lambda x: x, TypeError),
        (lambda x: [tf.boolean_mask(x, x > 1)], ValueError),
    ],
)
def test_parallel_stacks(values, error):
    stacked = tf.function(lambda x: tf.parallel_stack(values(x)))
    if error is None:
        assert stacked(tf.constant(X)).shape == [2, 2, 3, 4]
        return
    with pytest.raises(error):
        stacked(tf.constant(X))


@pytest.mark.parametrize(
    ("shape", "want"),
    [
        (lambda s, n: tf.stack([n, 3]), [None, 3]),
        (lambda s, n: tf.stack([n, -1]), [None, None]),
        (lambda s, n: tf.stack([s[1], 5], -1), [3, 5]),
        (lambda s, n: tf.concat([s[1:], [7], s[:1]], 0), [3, 4, 7, None]),
        (lambda s, n: tf.concat([[n], s[2:]], 0), [None, 4]),
        (lambda s, n: tf.unstack(s)[1:], [3, 4]),
        (lambda s, n: tf.reshape(tf.stack([s, s], 1), [-1]), [None] * 6),
    ],
)
def test_vectors_of_known_elements(shape, want):
    check_static_shape(lambda x, n: tf.zeros(shape(tf.shape(x), n)), [[None, 3, 4], N], want)


def test_gradients_of_some_of_the_joined_tensors():
    x, y = tf.constant(X), tf.constant(Y)
    for function in (lambda: tf.concat([Y, x, Y, x], -1), lambda: tf.concat([x, Y, y, Y, x, X], 2)):
        with tf.GradientTape() as tape:
            tape.watch(x)
            z = function()
            loss = tf.reduce_sum(z * np.arange(z.shape[-1], dtype=np.float32))
        first = np.arange(4) + 2 if z.shape[-1] == 12 else np.arange(4)
        second = np.arange(4) + (8 if z.shape[-1] == 12 else 10)
        np.testing.assert_array_equal(tape.gradient(loss, x), np.broadcast_to(first + second, X.shape))
