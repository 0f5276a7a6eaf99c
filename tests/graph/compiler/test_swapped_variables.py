"""Loop variables that change places in the machine code of loops: each is copied before its memory is written."""

import numpy as np
import pytest

import tapeflow as tf

FIRST, SECOND, THIRD = (np.arange(33, dtype=np.float32) + 100 * i for i in range(3))


def swap(n, a, b, c):
    for _ in tf.range(n):
        a, b = b, a
    return a, b, c


def rotate(n, a, b, c):
    for _ in tf.range(n):
        a, b, c = b, c, a
    return a, b, c


def swap_and_change(n, a, b, c):
    for _ in tf.range(n):
        a, b = b + 1.0, a
        c = c + a - b
    return a, b, c


def shift(n, a, b, c):
    for _ in tf.range(n):
        c, b, a = b, a, a * 0.5
    return a, b, c


def fibonacci(n, a, b, c):
    for _ in tf.range(n):
        a, b = b, tf.minimum(a + b, 1e6)
    return a, b, c


@pytest.mark.parametrize("count", [0, 1, 2, 101])
@pytest.mark.parametrize("loop", [swap, rotate, swap_and_change, shift, fibonacci], ids=lambda f: f.__name__)
def test_swapped_variables(loop, count):
    f = tf.function(loop)
    arguments = tf.constant(count), *map(tf.constant, (FIRST, SECOND, THIRD))
    assert "op_Native" in f.get_concrete_function(*arguments).source()
    expected = loop(count, *(FIRST, SECOND, THIRD))
    for got, want in zip(f(*arguments), expected, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-5)
