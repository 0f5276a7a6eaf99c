"""Lambdas in a loop keep the values of their iteration, functions see the last ones. Recorded from TensorFlow."""

import pytest

import tapeflow as tf


def of_target(x):
    fs = []
    for i in range(3):
        fs.append(lambda: x + i)  # noqa: B023
    return fs


def of_local(x):
    fs = []
    for i in range(3):
        j = i * 10
        fs.append(lambda: x + j)  # noqa: B023
    j = 100
    return fs


def changed_in_the_body(x):
    fs = []
    for i in range(3):
        fs.append(lambda: x + i)  # noqa: B023
        i += 10
    return fs


def under_a_condition(x):
    fs = []
    for i in range(3):
        if x > 0:
            k = i
            fs.append(lambda: x + k)  # noqa: B023
    return fs


def with_break(x):
    fs = []
    for i in range(3):
        fs.append(lambda: x + i)  # noqa: B023
        if i == 1:
            break
    return fs


def in_nested_loops(x):
    fs = []
    for i in range(2):
        for j in range(2):
            fs.append(lambda: x + 10 * i + j)  # noqa: B023
    return fs


def in_a_nested_function(x):
    def make():
        fs = []
        for i in range(3):
            fs.append(lambda: x + i)  # noqa: B023
        return fs

    return make()


def over_tensors(x):
    fs = []
    for i in [tf.constant(1), tf.constant(2)]:
        fs.append(lambda: x + i)  # noqa: B023
    return fs


def in_try(x):
    fs = []
    for i in range(3):
        try:
            fs.append(lambda: x + i)  # noqa: B023
        finally:
            pass
    return fs


def of_a_generator(x):
    gens = []
    for i in range(3):
        gens.append(x + k + i for k in range(1))
    return [lambda g=g: next(g) for g in gens]


def of_a_carried_variable(x):
    fs, c = [], 0
    for _ in range(3):
        c += 1  # noqa: SIM113
        fs.append(lambda: x + c)  # noqa: B023
    return fs


def of_while(x):
    fs, i = [], 0
    while i < 3:
        fs.append(lambda: x + i)  # noqa: B023
        i += 1
    return fs


def of_definitions(x):
    fs = []
    for i in range(3):

        def f():
            return x + i  # noqa: B023

        fs.append(f)
    return fs


def of_a_comprehension(x):
    return [lambda: x + i for i in range(3)]  # noqa: B023


EXPECTED = {
    of_target: [1, 2, 3], of_local: [1, 11, 21], changed_in_the_body: [11, 12, 13], under_a_condition: [1, 2, 3],
    with_break: [1, 2], in_nested_loops: [1, 2, 11, 12], in_a_nested_function: [1, 2, 3], over_tensors: [2, 3],
    in_try: [1, 2, 3], of_a_generator: [1, 2, 3], of_a_carried_variable: [4, 4, 4], of_while: [4, 4, 4],
    of_definitions: [3, 3, 3], of_a_comprehension: [3, 3, 3],
}  # fmt: skip


@pytest.mark.parametrize("make", EXPECTED, ids=lambda f: f.__name__)
def test_closures(make):
    results = tf.function(lambda x: [f() for f in make(x)])(tf.constant(1))
    assert [r.numpy() for r in results] == EXPECTED[make]


def test_a_target_that_is_read_after_the_loop_is_shared():
    @tf.function
    def f(x):
        fs = []
        for i in range(3):
            fs.append(lambda: x + i)  # noqa: B023
        return [g() for g in fs], i

    results, last = f(tf.constant(1))
    assert ([r.numpy() for r in results], last.numpy()) == ([3, 3, 3], 2)


def test_a_variable_that_only_some_iterations_set_is_shared():
    @tf.function
    def f(x):
        fs = []
        for i in range(2):
            if i == 1:
                y = x * 10
            fs.append(lambda: y)  # noqa: B023
        return [g() for g in fs]

    assert [r.numpy() for r in f(tf.constant(1))] == [10, 10]
