# ruff: noqa
# fmt: off
# The oddities are what is tested.
"""What variables a statement reads and writes: functions give in graphs what they give of numbers."""

import pytest

import tapeflow as tf


def imports_in_branches(x):
    if x > 0:
        import math as numbers

        y = x + int(numbers.pi)
    else:
        from math import floor

        y = x - floor(2.5)
    return y


def imports_a_package(x):
    y = x
    while y < 20:
        import os.path

        y = y + len(os.path.join("a", "b"))
    return y


def adds_in_a_loop(x):
    total = 0
    for i in range(x):
        total += i
        if i > 1:
            total -= 1
    return total


def binds_in_comprehensions(x):
    i = 5
    if x > 0:
        y = sum([i * j for i in [1, 2] for j in [3]])
    else:
        y = sum([k for k in [i]])
    return y + i


def defines_functions(x):
    if x > 0:
        def f(a):
            return a + x
        y = f(10)
    else:
        def f(a):
            return a - x
        y = f(20)
    return y


def catches(x):
    y = 0
    try:
        y = x + 1
        if x > 0:
            y = y * 2
    except ValueError as error:
        y = -1
    else:
        y = y + 100
    finally:
        z = y + 1
    return y + z


def deletes(x):
    y = x
    if x > 0:
        y = x * 2
        t = y
        del t
    return y


def reads_after_with(x):
    with tf.name_scope("a") as scope:
        if x > 0:
            y = 1
        else:
            y = 2
    return y + x


def walrus(x):
    if (y := x + 1) > 0:
        z = y
    else:
        z = -y
    return z + y


def unpacks(x):
    a, (b, *c) = 0, (1, 2, 3)
    if x > 0:
        a, (b, *c) = x, (x + 1, x + 2, x + 3)
    return a + b + c[0] + c[1]


def nested_targets(x):
    d = {"k": 1, "l": [1, 2]}
    if x > 0:
        d["k"] = x
        d["l"][1] = x + 1
    return d["k"] + d["l"][1]


FUNCTIONS = [v for v in list(globals().values()) if callable(v) and getattr(v, "__module__", "") == __name__]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_graphs_give_what_numbers_give(function):
    staged = tf.function(function)
    for x in (3, -3, 0):
        expected = function(x)
        assert int(staged(tf.constant(x))) == expected
        assert int(staged(x)) == expected


def matches(command, x):
    match command:
        case {"op": "add", **rest}:
            if x > 0:
                x = x + rest["by"]
        case [first, *others]:
            while x < 10:
                x = x + first + len(others)
        case (1 | 2) as number if x is not None:
            x = x * number
        case str(text):
            x = x - len(text)
        case _:
            x = -x
    return x


@pytest.mark.parametrize("command", [{"op": "add", "by": 5}, {"op": "sub"}, [4, 5, 6], 2, "abc", None, {"op": "add", "by": 0}])
def test_matches(command):
    for x in (3, -3):
        assert int(tf.function(matches)(command, tf.constant(x))) == matches(command, x)


def test_undefined_variables():
    def only_sometimes(flag, x):
        if flag:
            y = x
        if x > 0:
            x = x + 1
        return y + x

    assert int(tf.function(only_sometimes)(True, tf.constant(3))) == 7
    with pytest.raises(UnboundLocalError, match="'y' is used before assignment"):
        tf.function(only_sometimes)(False, tf.constant(3))

    def adds(flag, x):
        if flag:
            y = x
        y += 1
        return y if x > 0 else x

    assert int(tf.function(adds)(True, tf.constant(3))) == 4
    with pytest.raises(UnboundLocalError, match="y"):
        tf.function(adds)(False, tf.constant(3))

    def deleted(x):
        y = x
        if x is not None:
            del y
        if tf.reduce_sum(x) > 0:
            x = x + 1
        return y

    with pytest.raises(UnboundLocalError, match="y"):
        tf.function(deleted)(tf.constant(3))
