"""Conditions of converted functions: values of branches, and what both must agree on."""

import numpy as np
import pytest

import tapeflow as tf


def run(function, *args):
    return tf.nest.map_structure(lambda t: np.asarray(t).tolist(), tf.function(function)(*args))


def sign(x):
    if x > 0:
        y, z = x * 2, [x]
    elif x == 0:
        y, z = x + 100, [x]
    else:
        y, z = -x, [x + 1]
    return y, z


@pytest.mark.parametrize("staged", [True, False])
@pytest.mark.parametrize(("x", "expected"), [(3, (6, [3])), (0, (100, [0])), (-3, (3, [-2]))])
def test_branches(staged, x, expected):
    assert run(sign, tf.constant(x) if staged else x) == expected


def test_branches_change_only_their_variables():
    def change(x):
        a, b, kept = 1, tf.constant(2), {"k": 3}
        if x > 0:
            a = 10
        else:
            b = b + 5
        return a, b, kept["k"]

    assert run(change, tf.constant(1)) == (10, 2, 3) and run(change, tf.constant(-1)) == (1, 7, 3)


def test_expressions():
    def choose(x):
        return (x if x > 0 else -x), (1 if x > 2 else 2)

    assert run(choose, tf.constant(3)) == (3, 1) and run(choose, tf.constant(-3)) == (3, 2)


def test_python_values_that_are_equal_stay():
    def choose(x):
        flag, text, nothing = False, "a", None
        if x > 0:
            flag, y = True, x
        else:
            flag, y = True, -x
        return y, tf.constant(flag is True), tf.constant(text), nothing is None

    assert run(choose, tf.constant(-3)) == (3, True, b"a", True)


@pytest.mark.parametrize("x", [3, -3])
def test_returns_of_one_branch(x):
    def early(x):
        if x > 0:
            return {"a": x * 2, "b": tf.RaggedTensor.from_row_lengths([x, x], [2])}
        x = x + 1
        return {"a": x, "b": tf.RaggedTensor.from_row_lengths([x], [1])}

    result = tf.function(early)(tf.constant(x))
    assert result["a"].numpy() == (6 if x > 0 else -2)
    assert result["b"].to_list() == ([[3, 3]] if x > 0 else [[-2]])


@pytest.mark.parametrize("x", [3, -3])
def test_arrays_of_one_branch(x):
    def early(x):
        if x > 0:
            return tf.TensorArray(tf.int32, 0, dynamic_size=True, element_shape=[]).write(0, x)
        return tf.TensorArray(tf.int32, 0, dynamic_size=True, element_shape=[]).write(0, -x).write(1, x)

    def stack(x):
        return early(x).stack()

    assert run(stack, tf.constant(x)) == ([3] if x > 0 else [3, -3])


REFUSED = {
    "undefined after else": (lambda x: only_main(x), ValueError, "'y' must also be initialized in the else branch"),
    "undefined after main": (lambda x: only_else(x), ValueError, "'y' must also be initialized in the main branch"),
    "no return": (lambda x: one_return(x), ValueError, "else branch must also have a return statement|must return"),
    "None": (lambda x: none_in_else(x), ValueError, "'y' is None at the end of the else branch"),
    "dtypes": (lambda x: dtypes(x), TypeError, "'y' has dtype int32 in the main branch, but dtype float32 in the else"),
    "structures": (lambda x: structures(x), TypeError, "'y' must have the same nested structure in the main and else"),
    "objects": (lambda x: objects(x), (TypeError, ValueError), "y"),
    "a vector": (lambda x: vector(x), (ValueError, TypeError), "if statement|scalar"),
}


def only_main(x):
    if x > 0:
        y = x
    return y


def only_else(x):
    if x > 0:
        pass
    else:
        y = x
    return y


def one_return(x):  # noqa: RET503
    if x > 0:
        return x


def none_in_else(x):
    y = x
    if x > 0:
        y = x + 1
    else:
        y = None
    return y


def dtypes(x):
    if x > 0:
        y = x
    else:
        y = 1.5
    return y


def structures(x):
    if x > 0:
        y = [x]
    else:
        y = [x, x]
    return y


def objects(x):
    if x > 0:
        y = object
    else:
        y = int
    return tf.constant(1) if y is int else x


def vector(x):
    if tf.stack([x, x]) > 0:
        x = -x
    return x


@pytest.mark.parametrize("name", REFUSED)
def test_branches_agree(name):
    function, error, message = REFUSED[name]
    with pytest.raises(error, match=message):
        run(function, tf.constant(1))


def test_values_that_are_only_used_in_branches():
    def local(x):
        if x > 0:
            y = x * 2
            x = y + 1
        else:
            z = [x, x]
            x = z[0] + z[1]
        return x

    assert run(local, tf.constant(3)) == 7 and run(local, tf.constant(-3)) == -6


def test_variables_decide():
    v = tf.Variable(1)

    def by_variable(flag):
        if v > 0:
            y = 1
        else:
            y = 2
        if flag:
            y += 10
        return y

    flag = tf.Variable(True)
    assert run(lambda: by_variable(flag)) == 11
    flag.assign(False)
    v.assign(-1)
    assert run(lambda: by_variable(flag)) == 2
