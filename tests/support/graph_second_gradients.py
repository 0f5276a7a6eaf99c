"""Graphs with gradients of gradients of calls, conditionals and loops, in float64, as `graph_programs.py` has them."""

from __future__ import annotations

from typing import Any

import numpy as np

from graph_gradients import bounded_loop, calls, conditional_in_loop, loop_in_conditional, nested_loops
from graph_programs import VALUES, Built, program

WIDE = VALUES.astype(np.float64)


def number(tf: Any, name: str = "x") -> Any:
    return tf.compat.v1.placeholder(tf.float64, [], name=name)


def vector(tf: Any, size: int | None = None) -> Any:
    return tf.compat.v1.placeholder(tf.float64, [size], name="x")


def rows(tf: Any) -> Any:
    return tf.compat.v1.placeholder(tf.float64, [None, 3], name="x")


def up_to(order: int, tf: Any, y: Any, xs: Any) -> list[Any]:
    """A tensor and its gradients, those of the sum of their squares, and so on."""
    found = [y]
    for _ in range(order):
        grads = [g for g in tf.gradients(y, xs) if g is not None]
        found += grads
        y = sum(tf.reduce_sum(g * g) for g in grads)
    return found


# ---- conditionals ----------------------------------------------------------------------------------------------------


def _branching(tf: Any) -> Any:
    x, z = number(tf), number(tf, "z")
    return x, z, tf.cond(x > 0.0, lambda: x * tf.sin(x) * z, lambda: tf.exp(x) * 3.0)


@program
def second_gradients_of_conditional(tf):
    x, z, y = _branching(tf)
    return Built(up_to(3, tf, y, [x, z]), {x: 1.5, z: 2.0})


@program
def second_gradients_of_the_other_branch(tf):
    x, z, y = _branching(tf)
    return Built(up_to(2, tf, y, [x, z]), {x: -1.5, z: 2.0})


@program
def second_gradients_of_nested_conditionals(tf):
    x = number(tf)
    y = tf.cond(x > 0.0, lambda: tf.cond(x > 1.0, lambda: x * x * x * x, lambda: x * 2.0), lambda: -x)
    return Built(up_to(2, tf, y, [x]), {x: 1.5})


@program
def second_gradients_of_switch_case(tf):
    x, i = number(tf), tf.compat.v1.placeholder(tf.int32, [], name="i")
    y, z = tf.switch_case(i, [lambda: (x * 2.0, x), lambda: (x * x * x, x * 3.0), lambda: (tf.sin(x), x)])
    return Built(up_to(2, tf, y * z, [x]), {x: 1.5, i: 1})


@program
def second_gradients_of_conditional_for_variables(tf):
    x, v = number(tf), tf.Variable(2.0, dtype=tf.float64, name="v")
    y = tf.cond(x > 0.0, lambda: v * v * v * x * x, lambda: v - x)
    return Built(up_to(2, tf, y, [x, v]), {x: 1.5})


# ---- loops -----------------------------------------------------------------------------------------------------------


def _turning(tf: Any) -> Any:
    x, n = number(tf), tf.compat.v1.placeholder(tf.int32, [], name="n")
    return x, n, tf.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, tf.sin(y) * x), [0, x])[1]


@program
def second_gradients_of_loop(tf):
    x, n, y = _turning(tf)
    return Built(up_to(3, tf, y, [x]), {x: 1.5, n: 4})


@program
def second_gradients_of_loop_without_iterations(tf):
    x, n, y = _turning(tf)
    return Built(up_to(2, tf, y * y, [x]), {x: 1.5, n: 0})


@program
def second_gradients_of_bounded_loop(tf):
    x, w = rows(tf), tf.constant(np.eye(3) * 0.5 + 0.1)
    return Built(up_to(2, tf, bounded_loop(tf, x, w), [x, w]), {x: WIDE})


@program
def second_gradients_of_loop_for_variables(tf):
    x, w = rows(tf), tf.Variable(np.eye(3) * 0.5 + 0.1, name="w")
    y = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, tf.matmul(y, w)), [0, x])[1]
    return Built(up_to(2, tf, y, [x, w]), {x: WIDE})


@program
def second_gradients_of_nested_loops(tf):
    x = number(tf)
    return Built(up_to(2, tf, nested_loops(tf, x), [x]), {x: 1.1})


@program
def second_gradients_of_conditional_in_loop(tf):
    x = number(tf)
    return Built(up_to(2, tf, conditional_in_loop(tf, x), [x]), {x: 1.1})


@program
def second_gradients_of_loop_in_conditional(tf):
    x = number(tf)
    return Built(up_to(2, tf, loop_in_conditional(tf, x), [x]), {x: 1.1})


@program
def second_gradients_of_loops_over_lists(tf):
    x = vector(tf)
    found = [
        tf.map_fn(lambda a: a * a * a * 3.0, x),
        tf.scan(lambda a, b: a * b, x),
        tf.foldl(lambda a, b: tf.sin(a) + b, x),
    ]
    return Built([t for y in found for t in up_to(2, tf, y, [x])], {x: [1.0, 2.0, 3.0]})


# ---- calls -----------------------------------------------------------------------------------------------------------


@program
def third_gradients_of_calls(tf):
    x = vector(tf)
    return Built(up_to(3, tf, calls(tf, x), [x]), {x: [1.0, 2.0, 3.0]})


@program
def second_gradients_of_array_written_in_loop(tf):
    x = vector(tf, 3)

    @tf.function
    def sums(x):
        made, total = tf.TensorArray(tf.float64, size=3), tf.constant(0.0, tf.float64)
        for i in tf.range(3):
            total += x[i] * x[i] * x[i]
            made = made.write(i, total)
        return made.stack()

    return Built(up_to(2, tf, sums(x), [x]), {x: [1.0, 2.0, 3.0]})


@program
def second_gradients_of_written_control_flow(tf):
    x = number(tf)

    @tf.function
    def f(a):
        found = a
        for i in tf.range(10):
            if found > 5.0:
                break
            if tf.equal(i, 1):
                continue
            found = found * a + tf.sin(found)
        return found

    return Built(up_to(2, tf, f(x), [x]), {x: 1.3})


@program
def tapes_in_tapes_in_a_function(tf):
    x = number(tf)

    @tf.function
    def f(a):
        with tf.GradientTape() as outer:
            outer.watch(a)
            with tf.GradientTape() as tape:
                tape.watch(a)
                y = tf.cond(a > 0.0, lambda: a * a * a, lambda: -a)
                y = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * a), [0, y])[1]
            g = tape.gradient(y, a)
        return y, g, outer.gradient(g, a)

    return Built(list(f(x)), {x: 0.7})


@program
def hessian_through_control_flow(tf):
    x = vector(tf, 3)

    @tf.function
    def f(a):
        y = tf.reduce_sum(a * a)
        for i in tf.range(3):
            y = y * tf.sin(y) + a[i]
            if y > 0.0:
                y = y * a[0]
        return y

    y = f(x)
    return Built([y, tf.hessians(y, x)[0]], {x: [1.0, 2.0, 3.0]})
