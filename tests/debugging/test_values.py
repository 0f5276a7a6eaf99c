"""Checks of values: tolerances, eagerly and in functions."""

import numpy as np
import pytest

import tapeflow as tf

near = tf.debugging.assert_near


def both(check, *args):
    """Runs a check eagerly, and in a function whose inputs have no values."""
    check(*args)
    tf.function(lambda *tensors: (check(*tensors), tensors[0])[1])(*args)


@pytest.mark.parametrize("dtype", [tf.float16, tf.float32, tf.float64, tf.complex64])
def test_default_tolerances(dtype):
    epsilon = float(np.finfo(dtype.real_dtype.as_numpy_dtype).eps)
    one = tf.constant(1.0, dtype)
    both(near, one, tf.constant(1.0 + 16.0 * epsilon, dtype))  # 10 epsilon of each tolerance
    for x, y in (
        (one, tf.constant(1.0 + 32.0 * epsilon, dtype)),
        (tf.constant(0.0, dtype), tf.constant(12.0 * epsilon, dtype)),
    ):
        with pytest.raises(tf.errors.InvalidArgumentError):
            near(x, y)
        with pytest.raises(tf.errors.InvalidArgumentError):
            tf.function(lambda x, y: (near(x, y), x)[1])(x, y)


def test_given_tolerances():
    x, y = tf.constant([100.0, -1.0]), tf.constant([101.0, -1.5])
    both(lambda x, y: near(x, y, rtol=0.0, atol=1.0), x, y)
    both(lambda x, y: near(x, y, rtol=0.34, atol=0.0), x, y)
    both(lambda x, y: near(x, y, rtol=0.3, atol=0.05), x, y)
    for options in ({"rtol": 0.0, "atol": 0.99}, {"rtol": 0.33, "atol": 0.0}):
        for run in (near, tf.function(lambda x, y, **o: (near(x, y, **o), x)[1])):
            with pytest.raises(tf.errors.InvalidArgumentError):
                run(x, y, **options)
    with pytest.raises(tf.errors.InvalidArgumentError):
        near(tf.constant(1.0), tf.constant(2.0), rtol=0.0, atol=float("nan"))


def test_messages():
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"(?s)because.*rtol = .*0\.5.*atol = .*0\.25.*1\.0, 2\.0"):
        near([1.0, 2.0], [9.0, 8.0], rtol=0.5, atol=0.25, message="because")
    with pytest.raises(ValueError, match="not inexact"):
        near(1, 2)


@pytest.mark.parametrize(
    ("check", "good", "bad"),
    [
        (tf.debugging.assert_equal, ([1, 2], [1, 2]), ([1, 2], [1, 3])),
        (tf.debugging.assert_none_equal, ([1, 2], [3, 4]), ([1, 2], [3, 2])),
        (tf.debugging.assert_less, ([1, 2], [2, 3]), ([1, 2], [2, 2])),
        (tf.debugging.assert_less_equal, ([1, 2], [1, 3]), ([1, 2], [1, 1])),
        (tf.debugging.assert_greater, ([2, 3], [1, 2]), ([2, 2], [1, 2])),
        (tf.debugging.assert_greater_equal, ([1, 3], [1, 2]), ([1, 1], [1, 2])),
    ],
)
def test_comparisons(check, good, bad):
    both(check, *map(tf.constant, good))
    both(check, tf.constant(good[0][:0]), tf.constant(good[1][:0]))  # all of none
    for run in (check, tf.function(lambda x, y: (check(x, y, message="because"), x)[1])):
        with pytest.raises(tf.errors.InvalidArgumentError):
            run(*map(tf.constant, bad))


@pytest.mark.parametrize(
    ("check", "good", "bad"),
    [
        (tf.debugging.assert_positive, [1, 2], [1, 0]), (tf.debugging.assert_negative, [-1, -2], [-1, 0]),
        (tf.debugging.assert_non_negative, [1, 0], [1, -1]), (tf.debugging.assert_non_positive, [-1, 0], [-1, 1]),
    ],
)  # fmt: skip
def test_signs(check, good, bad):
    both(check, tf.constant(good))
    for run in (check, tf.function(lambda x: (check(x), x)[1])):
        with pytest.raises(tf.errors.InvalidArgumentError):
            run(tf.constant(bad))
