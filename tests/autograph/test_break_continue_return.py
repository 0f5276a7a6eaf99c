# ruff: noqa
# The oddities are what is tested.
"""Jumps of converted functions: they give in graphs what they give of numbers."""

import pytest

import tapeflow as tf


def else_always_returns(x):
    if x > 0:
        x = x * 2
    else:
        return -x
    x = x + 1
    return x


def both_return(x):
    if x > 0:
        if x > 2:
            return x
        else:
            return x + 10
    else:
        return -x
    return 99


def nested_ifs(x):
    if x > -2:
        if x > 1:
            x = x * 3
        else:
            return 50
        x = x + 1
    else:
        x = 7
    return x


def breaks_both(x):
    total = 0
    for i in range(10):
        if i > x:
            if total > 5:
                break
            else:
                break
        total += i
    return total


def continues(x):
    total = 0
    for i in range(6):
        if i == x:
            continue
        total += i
        if total > 8:
            continue
        total += 100
    return total


def breaks_the_inner_loop(x):
    total = 0
    for i in range(3):
        for j in range(4):
            if j > x:
                break
            total += 10 * i + j
        else:
            total += 1000
        if i > 1:
            continue
        total += 100
    return total


def while_with_else(x):
    while x < 5:
        x = x + 2
        if x == 4:
            break
    else:
        x = x + 100
    return x


def returns_from_loops(x):
    for i in range(5):
        for j in range(5):
            if i * j > x:
                return 10 * i + j
    return -1


def returns_from_while(x):
    y = x
    while True:
        y = y + 3
        if y > 10:
            return y
        if y == 4:
            break
    return -y


def with_and_return(x):
    with tf.name_scope("a"):
        if x > 0:
            return x
        x = x - 1
    return x * 2


def try_and_return(x):
    try:
        if x > 0:
            return x + 1
        x = x - 1
    except KeyError:
        return 5
    else:
        x = x * 3
    return x


def try_in_a_loop(x):
    total = 0
    for i in range(4):
        try:
            if i == x:
                continue
            total += i
        finally:
            total += 10
    return total


def lambda_and_return(x):
    f = lambda a: a + 1
    if x > 0:
        return f(x)
    return f(-x)


FUNCTIONS = [v for v in list(globals().values()) if callable(v) and getattr(v, "__module__", "") == __name__]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_graphs_give_what_numbers_give(function):
    for x in (3, 1, 0, -3):
        expected = function(x)
        assert int(tf.function(function)(x)) == expected, x
        try:
            found = int(tf.function(function)(tf.constant(x)))
        except NotImplementedError:
            assert function.__name__ in PYTHON_LOOPS
            continue
        assert found == expected, x


PYTHON_LOOPS = {"breaks_both", "breaks_the_inner_loop", "returns_from_loops"}  # which a tensor may not leave


def staged_loops(x, n):
    total = 0
    for i in tf.range(n):
        if i == 1:
            continue
        for j in tf.range(n):
            if j > x:
                break
            total += 10 * i + j
        if total > 60:
            break
    return total


def staged_return(x, n):
    for i in tf.range(n):
        if i * i > x:
            return i
    return -1


def staged_return_of_a_loop(x, n):
    y = 0
    while y < n:
        if y * 2 > x:
            return y * 100
        y = y + 1
    return y


@pytest.mark.parametrize("function", [staged_loops, staged_return, staged_return_of_a_loop])
def test_jumps_of_staged_loops(function):
    for x in (3, 1, 0):
        for n in (0, 1, 5):
            expected = int(function(x, n))
            assert int(tf.function(function)(tf.constant(x), tf.constant(n))) == expected, (x, n)


def test_a_return_in_a_finally_block_stays_python():
    def last_word(x):
        try:
            x = x + 1
        finally:
            return x * 2

    assert int(tf.function(last_word)(tf.constant(3))) == 8


def test_a_function_must_return_in_every_case():
    def sometimes(x):
        if x > 0:
            return x

    with pytest.raises(ValueError, match="return"):
        tf.function(sometimes)(tf.constant(1))
    assert tf.function(sometimes)(-1) is None
