"""Frames of signals beside slices of them."""

import numpy as np
import pytest

import tapeflow as tf


def framed(x, length, step, pad_end, value, axis):
    x = np.moveaxis(x, axis, 0)
    size = len(x)
    count = -(-size // step) if pad_end else max(0, 1 + (size - length) // step)
    wide = np.concatenate([x, np.full((length + step * count, *x.shape[1:]), value, x.dtype)])
    frames = [wide[i * step : i * step + length] for i in range(count)]
    frames = np.stack(frames) if frames else np.zeros((0, length, *x.shape[1:]), x.dtype)
    axis %= x.ndim
    return np.moveaxis(frames, (0, 1), (axis, axis + 1))


@pytest.mark.parametrize("pad_end", [False, True])
@pytest.mark.parametrize(("length", "step"), [(4, 2), (3, 5), (5, 3), (1, 1), (6, 4), (9, 1), (12, 5), (0, 2), (6, 6)])
def test_frames(length, step, pad_end):
    for shape, axis in (((9,), -1), ((3, 9), 1), ((9, 2), 0), ((2, 9, 3), -2), ((2, 0), 1)):
        x = np.random.default_rng(0).integers(1, 99, shape).astype(np.int32)
        expected = framed(x, length, step, pad_end, -7, axis)
        result = tf.signal.frame(tf.constant(x), length, step, pad_end, -7, axis)
        np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("pad_end", [False, True])
@pytest.mark.parametrize("dims", [[None, None, None], None])
def test_frames_of_unknown_sizes(dims, pad_end):
    x = np.random.default_rng(0).integers(1, 99, (2, 9, 3)).astype(np.int32)
    for axis in (0, -2, 2):
        function = tf.function(
            lambda x, n, s, axis=axis: tf.signal.frame(x, n, s, pad_end, -7, axis),
            input_signature=[tf.TensorSpec(dims, tf.int32), *[tf.TensorSpec([], tf.int32)] * 2],
        )
        for length, step in ((4, 2), (3, 5), (5, 3), (1, 1), (6, 4), (12, 5)):
            expected = framed(x, length, step, pad_end, -7, axis)
            np.testing.assert_array_equal(function(x, length, step), expected)


def test_defaults():
    x = tf.range(1, 6)
    assert tf.signal.frame(x, 2, 2).numpy().tolist() == [[1, 2], [3, 4]]
    assert tf.signal.frame(x, 2, 2, True).numpy().tolist() == [[1, 2], [3, 4], [5, 0]]


@pytest.mark.parametrize(
    ("frames", "length", "step"), [(4, 6, 2), (3, 5, 5), (1, 4, 3), (5, 3, 1), (3, 4, 7), (4, 5, 3)]
)
def test_overlapping_frames_add_up(frames, length, step):
    for batch in ((), (2,), (2, 3)):
        x = np.random.default_rng(0).integers(0, 99, (*batch, frames, length)).astype(np.int32)
        expected = np.zeros((*batch, (frames - 1) * step + length), np.int32)
        for i in range(frames):
            expected[..., i * step : i * step + length] += x[..., i, :]
        np.testing.assert_array_equal(tf.signal.overlap_and_add(tf.constant(x), step), expected)
        for dims in ([None] * x.ndim, None) if (frames, len(batch)) == (4, 1) else ():
            function = tf.function(
                tf.signal.overlap_and_add, input_signature=[tf.TensorSpec(dims, tf.int32), tf.TensorSpec([], tf.int32)]
            )
            np.testing.assert_array_equal(function(x, step), expected)


X = tf.range(9.0)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: tf.signal.frame(1.0, 2, 1), ValueError, "rank"),
        (lambda: tf.signal.frame(X, [2], 1), ValueError, "rank"),
        (lambda: tf.signal.frame(X, 2, [1]), ValueError, "rank"),
        (lambda: tf.signal.frame(X, 2, 1, axis=[0]), ValueError, "rank"),
        (lambda: tf.signal.frame(X, 2, 1, True, [0.0]), ValueError, "rank"),
        (lambda: tf.signal.frame(X, 2, 1, axis=1), IndexError, "dimension 1"),
        (lambda: tf.signal.frame(X, 2, 1, axis=-2), IndexError, "dimension -2"),
        (lambda: tf.signal.frame(X, 2, 1, axis=True), TypeError, "integers or slices"),
        (lambda: tf.signal.frame(X, 2, 0), tf.errors.InvalidArgumentError, "division by zero"),
        (lambda: tf.signal.frame(X, -2, 1), tf.errors.InvalidArgumentError, "start <= limit"),
        (lambda: tf.signal.frame(X, 2, -1, True), tf.errors.InvalidArgumentError, "start <= limit"),
        (lambda: tf.signal.frame(X, 2.0, 1.0), ValueError, "must be an integer type"),
        (lambda: tf.signal.frame(X, "a", 1), TypeError, "unsupported operand"),
        (lambda: tf.signal.frame(X, tf.constant(2, tf.int64), 1), tf.errors.InvalidArgumentError, "FloorDiv"),
        (lambda: tf.signal.overlap_and_add(X, 1), ValueError, "rank"),
        (lambda: tf.signal.overlap_and_add([[1.0]], 1.0), ValueError, "must be an integer"),
        (lambda: tf.signal.overlap_and_add([[1.0]], 0), tf.errors.InvalidArgumentError, "must be positive"),
    ],
)
def test_arguments_that_are_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()
