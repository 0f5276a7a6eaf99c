"""The effects of functions that fail: what does not depend on the failed operation runs. Recorded from TensorFlow."""

import random

import keras
import numpy as np
import pytest

import tapeflow as tf

CASES = {}


def case(build):
    """Registers a function that returns a Python function, its arguments and the variables to look at."""
    CASES[build.__name__] = build
    return build


class Sum:
    """A variable of which the sum of its elements counts."""

    def __init__(self, variable):
        self.variable = variable

    def numpy(self):
        return tf.reduce_sum(self.variable).numpy()


def variable(value=0):
    return tf.Variable(value)


def numbers(count=0):
    return iter(tf.data.Dataset.range(count))


@case
def after_next():
    v = variable()
    return (lambda it: (next(it), v.assign_add(1))[0], lambda: (numbers(),), [v])


@case
def data_dep():
    v = variable(tf.constant(0, tf.int64))
    w = variable()

    def f(it):
        r = next(it)
        v.assign_add(r)
        w.assign_add(1)
        return r

    return f, lambda: (numbers(),), [v, w]


@case
def same_var_after_blocked():
    v = variable(tf.constant(0, tf.int64))
    w = variable()

    def f(it):
        r = next(it)
        v.assign_add(r)
        v.assign_add(5)
        w.assign_add(1)
        return r

    return f, lambda: (numbers(),), [v, w]


@case
def read_blocked_var():
    v = variable(tf.constant(0, tf.int64))
    w = variable(tf.constant(0, tf.int64))

    def f(it):
        r = next(it)
        v.assign_add(r)
        w.assign_add(v + 1)
        return r

    return f, lambda: (numbers(),), [v, w]


@case
def chain():
    v = variable(1.0)
    w = variable(0.0)

    def f(it):
        r = next(it)
        v.assign(v * 2.0 + 1.0)
        w.assign(v * 3.0)
        return r

    return f, lambda: (numbers(),), [v, w]


@case
def in_cond():
    v = variable()
    w = variable()

    def f(it, c):
        if c:
            r = next(it)
            v.assign_add(1)
        else:
            r = tf.constant(0, tf.int64)
        w.assign_add(1)
        return r

    return f, lambda: (numbers(), tf.constant(True)), [v, w]


@case
def in_loop():
    v = variable()
    w = variable()

    def f(it, n):
        for _i in tf.range(n):
            next(it)
            v.assign_add(1)
        w.assign_add(1)
        return v.read_value()

    return f, lambda: (numbers(2), tf.constant(5)), [v, w]


@case
def in_loop_dep():
    v = variable(tf.constant(0, tf.int64))
    w = variable()

    def f(it, n):
        for _i in tf.range(n):
            v.assign_add(next(it))
            w.assign_add(1)
        return n

    return f, lambda: (numbers(2), tf.constant(5)), [v, w]


@case
def nested_fn():
    v = variable(tf.constant(0, tf.int64))
    w = variable()
    u = variable()

    @tf.function
    def g(d):
        v.assign_add(d)
        w.assign_add(1)
        return d * 2

    def f(it):
        r = g(next(it))
        u.assign_add(1)
        return r

    return f, lambda: (numbers(),), [v, w, u]


@case
def nested_next():
    v = variable()
    w = variable()

    @tf.function
    def g(it):
        r = next(it)
        v.assign_add(1)
        return r

    def f(it):
        r = g(it)
        w.assign_add(1)
        return r

    return f, lambda: (numbers(),), [v, w]


@case
def nested2():
    v = variable(tf.constant(0, tf.int64))
    w = variable()
    u = variable()

    @tf.function
    def h(d):
        w.assign_add(1)
        return d

    @tf.function
    def g(d):
        v.assign_add(d)
        u.assign_add(1)
        return h(d)

    def f(it):
        return g(next(it))

    return f, lambda: (numbers(),), [v, w, u]


@case
def assert_():
    v = variable()

    def f(c):
        tf.debugging.Assert(c, ["m"])
        v.assign_add(1)
        return v.read_value()

    return f, lambda: (tf.constant(False),), [v]


@case
def assert_eq():
    v = variable()

    def f(c):
        tf.debugging.assert_equal(c, True)
        v.assign_add(1)
        return v.read_value()

    return f, lambda: (tf.constant(False),), [v]


@case
def gather():
    v = variable()

    def f(i):
        r = tf.gather(tf.range(3), i)
        v.assign_add(1)
        return r

    return f, lambda: (tf.constant(7),), [v]


@case
def gather_dep():
    v = variable()
    w = variable()

    def f(i):
        r = tf.gather(tf.range(3), i)
        v.assign_add(r)
        w.assign_add(1)
        return r

    return f, lambda: (tf.constant(7),), [v, w]


@case
def div():
    v = variable()

    def f(i):
        r = tf.constant(3) // i
        v.assign_add(1)
        return r

    return f, lambda: (tf.constant(0),), [v]


@case
def pyf():
    v = variable()

    def bad(x):
        raise ValueError("bad")

    def f(i):
        r = tf.numpy_function(bad, [i], tf.int32)
        v.assign_add(1)
        return r

    return f, lambda: (tf.constant(0),), [v]


@case
def pyf_dep():
    v = variable()
    w = variable()

    def bad(x):
        raise ValueError("bad")

    def f(i):
        r = tf.numpy_function(bad, [i], tf.int32)
        v.assign_add(r)
        w.assign_add(1)
        return r

    return f, lambda: (tf.constant(0),), [v, w]


@case
def two_py():
    v = variable()

    def bad(x):
        raise ValueError("bad")

    def good(x):
        v.assign_add(1)
        return x

    def f(i):
        r = tf.numpy_function(bad, [i], tf.int32)
        tf.numpy_function(good, [i], tf.int32)
        return r

    return f, lambda: (tf.constant(0),), [v]


@case
def rng():
    g = tf.random.Generator.from_seed(1)

    def f(it):
        r = next(it)
        return r, g.normal([])

    return f, lambda: (numbers(),), [g.state]


@case
def before():
    v = variable()

    def f(it):
        v.assign_add(1)
        return next(it)

    return f, lambda: (numbers(),), [v]


@case
def gradstep():
    v = variable(2.0)
    n = variable()
    m = variable(0.0)

    def f(it):
        x = tf.cast(next(it), tf.float32)
        with tf.GradientTape() as tape:
            loss = v * x
        g = tape.gradient(loss, v)
        m.assign(m * 0.9 + g * 0.1)
        v.assign_sub(m * 0.1)
        n.assign_add(1)
        return loss

    return f, lambda: (numbers(),), [v, m, n]


@case
def scatter():
    v = variable([0.0, 0.0])

    def f(it):
        r = next(it)
        v.scatter_nd_add([[0]], [1.0])
        v[1].assign(5.0)
        return r

    return f, lambda: (numbers(),), [v]


@case
def ctrl():
    v = variable()

    def f(it):
        r = next(it)
        with tf.control_dependencies([r]):
            v.assign_add(1)
        return r

    return f, lambda: (numbers(),), [v]


@case
def loop_after():
    v = variable()

    def f(it, n):
        r = next(it)
        for _i in tf.range(n):
            v.assign_add(1)
        return r

    return f, lambda: (numbers(), tf.constant(3)), [v]


@case
def cond_after():
    v = variable()

    def f(it, n):
        r = next(it)
        if n > 0:
            v.assign_add(1)
        return r

    return f, lambda: (numbers(), tf.constant(3)), [v]


@case
def cond_dep_after():
    v = variable()

    def f(it, n):
        r = next(it)
        if r > 0:
            v.assign_add(1)
        return r

    return f, lambda: (numbers(), tf.constant(3)), [v]


@case
def cond_dep_inner():
    v = variable(tf.constant(0, tf.int64))
    w = variable()

    def f(it, n):
        r = next(it)
        if n > 0:
            v.assign_add(r)
            w.assign_add(1)
        return r

    return f, lambda: (numbers(), tf.constant(3)), [v, w]


@case
def loop_dep_inner():
    v = variable(tf.constant(0, tf.int64))
    w = variable()

    def f(it, n):
        r = next(it)
        for _i in tf.range(n):
            v.assign_add(r)
            w.assign_add(1)
        return r

    return f, lambda: (numbers(), tf.constant(3)), [v, w]


@case
def in_loop_with_read():
    v = variable(1.0)

    def f(it, n):
        for _i in tf.range(n):
            next(it)
            v.assign(v * 0.5)
        return v.read_value()

    return f, lambda: (numbers(2), tf.constant(4)), [v]


@case
def cond_on_same_resource():
    v = variable()
    w = variable()

    def f(it, n):
        r = next(it)
        if n > 0:
            v.assign_add(1)
            r = next(it)
        w.assign_add(1)
        return r

    return f, lambda: (numbers(), tf.constant(3)), [v, w]


@case
def loop_on_same_resource():
    v = variable()
    w = variable()

    def f(it, n):
        r = next(it)
        for _i in tf.range(n):
            v.assign_add(1)
            r = next(it)
        w.assign_add(1)
        return r

    return f, lambda: (numbers(), tf.constant(3)), [v, w]


@case
def neverloop():
    v = variable()

    def f(n):
        for i in tf.range(n):
            x = i
        v.assign_add(1)
        return x

    return f, lambda: (tf.constant(0),), [v]


@case
def reshape():
    v = variable()

    def f(x, n):
        r = tf.reshape(x, [n, n])
        v.assign_add(1)
        return r

    return f, lambda: (tf.ones([3]), tf.constant(2)), [v]


@case
def tworead():
    v = variable(1.0)
    w = variable(0.0)
    u = variable(0.0)

    def f(it):
        a = v + 1.0
        r = next(it)
        v.assign(10.0)
        w.assign(a)
        u.assign(v + a)
        return r

    return f, lambda: (numbers(),), [v, w, u]


@case
def loop_div():
    v = variable()
    w = variable()

    def f(n):
        s = tf.constant(0)
        for i in tf.range(n):
            s += 10 // (3 - i)
        v.assign(s)
        w.assign_add(1)
        return s

    return f, lambda: (tf.constant(6),), [v, w]


@case
def loop_gather():
    v = variable()
    w = variable()
    u = variable(0)

    def f(n):
        s = tf.constant(0)
        x = tf.range(4)
        for i in tf.range(n):
            s += x[i]
            u.assign_add(1)
        v.assign(s)
        w.assign_add(1)
        return s

    return f, lambda: (tf.constant(6),), [v, w]


@case
def cluster():
    n = 5000
    v = variable(tf.ones([n]))
    w = variable(tf.ones([n]))
    u = variable(tf.ones([n]))
    c = variable(0.0)

    def f(it):
        r = tf.cast(next(it), tf.float32)
        v.assign(v * 2.0 + 1.0)
        u.assign(u + r * v)
        w.assign(w * 3.0 + v)
        c.assign_add(1.0)
        u.assign(u * 2.0)
        return r

    return f, lambda: (numbers(),), [Sum(v), Sum(w), Sum(u), c]


@case
def cluster_shared_read():
    v = variable(tf.ones([50]))
    w = variable(tf.ones([50]))

    def f(it):
        a = tf.exp(v) * 2.0
        r = tf.cast(next(it), tf.float32)
        w.assign(a + 1.0)
        v.assign(a * r)
        return r

    return f, lambda: (numbers(),), [Sum(v), Sum(w)]


@case
def momentum():
    ms = [variable(tf.ones([3])) for _ in range(3)]
    vs = [variable(tf.ones([3])) for _ in range(3)]
    n = variable()
    lr = variable(1.0)

    def f(it):
        x = tf.cast(next(it), tf.float32)
        with tf.GradientTape() as tape:
            loss = tf.add_n([tf.reduce_sum(v * x) for v in vs])
        n.assign_add(1)
        lr.assign(lr * 0.5)
        for v, m, g in zip(vs, ms, tape.gradient(loss, vs), strict=False):
            m.assign(m * 0.9 + g)
            v.assign_sub(lr * m)
        return loss

    return f, lambda: (numbers(),), [*ms, *vs, n, lr]


@case
def jit():
    v = variable(1.0)
    w = variable(0.0)

    def f(i):
        r = tf.gather(tf.range(3), i)
        v.assign(v * 2.0)
        w.assign_add(tf.cast(r, tf.float32))
        return r

    return f, lambda: (tf.constant(7),), [v, w]


@case
def while_cond():
    v = variable()
    w = variable()

    def f(it):
        while next(it) < 3:
            v.assign_add(1)
        w.assign_add(1)
        return w.read_value()

    return f, lambda: (numbers(2),), [v, w]


@case
def dataset_loop():
    v = variable()
    w = variable()

    def bad(x):
        tf.debugging.Assert(x < 2, ["no"])
        return x

    def f(n):
        for _x in tf.data.Dataset.range(5).map(bad):
            v.assign_add(1)
        w.assign_add(1)
        return n

    return f, lambda: (tf.constant(1),), [v, w]


@case
def switch():
    v = variable()
    w = variable()

    def f(it, i):
        r = next(it)

        def a():
            v.assign_add(1)
            return tf.constant(0)

        def b():
            v.assign_add(10)
            w.assign_add(tf.cast(r, tf.int32))
            return tf.constant(1)

        return tf.switch_case(i, [a, b])

    return f, lambda: (numbers(), tf.constant(1)), [v, w]


@case
def nested_cond_loop():
    v = variable()
    w = variable()
    u = variable(tf.constant(0, tf.int64))

    def f(it, n):
        for i in tf.range(n):
            if i > 0:
                u.assign_add(next(it))
                v.assign_add(1)
            w.assign_add(1)
        return n

    return f, lambda: (numbers(1), tf.constant(5)), [v, w, u]


@case
def inner_loop_nested():
    v = variable()
    w = variable()
    u = variable()

    def f(it, n):
        for _i in tf.range(n):
            for _j in tf.range(n):
                next(it)
                v.assign_add(1)
            w.assign_add(1)
        u.assign_add(1)
        return n

    return f, lambda: (numbers(3), tf.constant(2)), [v, w, u]


@case
def grad_of_call():
    v = variable(2.0)
    n = variable()

    @tf.function
    def g(x):
        n.assign_add(1)
        return x * v

    def f(it):
        x = tf.cast(next(it), tf.float32)
        with tf.GradientTape() as tape:
            loss = g(x)
        v.assign_sub(tape.gradient(loss, v))
        return loss

    return f, lambda: (numbers(),), [v, n]


@case
def map_fn():
    v = variable()
    w = variable()

    def f(x):
        r = tf.map_fn(lambda e: (v.assign_add(1), tf.gather(tf.range(3), e))[1], x)
        w.assign_add(1)
        return r

    return f, lambda: (tf.constant([0, 1, 7, 2]),), [w]


@case
def optional():
    v = variable()
    w = variable(tf.constant(0, tf.int64))

    def f(it):
        o = it.get_next_as_optional()
        v.assign_add(1)
        w.assign(o.get_value())
        v.assign_add(1)
        return v.read_value()

    return f, lambda: (numbers(),), [v, w]


EXPECTED = {
    "after_next": ("OutOfRangeError", [1]),
    "data_dep": ("OutOfRangeError", [0, 1]),
    "same_var_after_blocked": ("OutOfRangeError", [0, 1]),
    "read_blocked_var": ("OutOfRangeError", [0, 0]),
    "chain": ("OutOfRangeError", [3.0, 9.0]),
    "in_cond": ("OutOfRangeError", [1, 1]),
    "in_loop": ("OutOfRangeError", [3, 1]),
    "in_loop_dep": ("OutOfRangeError", [1, 3]),
    "nested_fn": ("OutOfRangeError", [0, 1, 1]),
    "nested_next": ("OutOfRangeError", [1, 1]),
    "nested2": ("OutOfRangeError", [0, 1, 1]),
    "assert_": ("InvalidArgumentError", [1]),
    "assert_eq": ("InvalidArgumentError", [1]),
    "gather": ("InvalidArgumentError", [1]),
    "gather_dep": ("InvalidArgumentError", [0, 1]),
    "div": ("InvalidArgumentError", [1]),
    "pyf": ("InvalidArgumentError", [1]),
    "pyf_dep": ("InvalidArgumentError", [0, 1]),
    "two_py": ("InvalidArgumentError", [0]),
    "rng": ("OutOfRangeError", [[257, 0, 0]]),
    "before": ("OutOfRangeError", [1]),
    "gradstep": ("OutOfRangeError", [2.0, 0.0, 1]),
    "scatter": ("OutOfRangeError", [[1.0, 5.0]]),
    "ctrl": ("OutOfRangeError", [0]),
    "loop_after": ("OutOfRangeError", [3]),
    "cond_after": ("OutOfRangeError", [1]),
    "cond_dep_after": ("OutOfRangeError", [0]),
    "cond_dep_inner": ("OutOfRangeError", [0, 1]),
    "in_loop_with_read": ("OutOfRangeError", [0.125]),
    "cond_on_same_resource": ("OutOfRangeError", [0, 1]),
    "loop_on_same_resource": ("OutOfRangeError", [0, 1]),
    "loop_dep_inner": ("OutOfRangeError", [0, 1]),
    "neverloop": ("InvalidArgumentError", [1]),
    "reshape": ("InvalidArgumentError", [1]),
    "tworead": ("OutOfRangeError", [10.0, 2.0, 12.0]),
    "loop_div": ("InvalidArgumentError", [0, 1]),
    "loop_gather": ("InvalidArgumentError", [0, 1]),
    "cluster": ("OutOfRangeError", [15000.0, 30000.0, 5000.0, 1.0]),
    "cluster_shared_read": ("OutOfRangeError", [50.0, 321.8281555175781]),
    "momentum": (
        "OutOfRangeError",
        [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0], [1.0, 1.0, 1.0], [1.0, 1.0, 1.0], [1.0, 1.0, 1.0], [1.0, 1.0, 1.0], 1, 0.5],
    ),
    "jit": ("InvalidArgumentError", [2.0, 0.0]),
    "while_cond": ("OutOfRangeError", [2, 1]),
    "dataset_loop": ("InvalidArgumentError", [2, 1]),
    "switch": ("OutOfRangeError", [10, 0]),
    "nested_cond_loop": ("OutOfRangeError", [2, 3, 0]),
    "inner_loop_nested": ("OutOfRangeError", [4, 2, 1]),
    "grad_of_call": ("OutOfRangeError", [2.0, 1]),
    "map_fn": ("InvalidArgumentError", [1]),
    "optional": ("InvalidArgumentError", [2, 0]),
}


@pytest.mark.parametrize("jit_compile", [None, True])
@pytest.mark.parametrize("name", CASES)
def test_effects_that_do_not_depend_on_the_failure_happen(name, jit_compile):
    function, arguments, variables = CASES[name]()
    error, values = EXPECTED[name]
    with pytest.raises(getattr(tf.errors, error)):
        tf.function(function, jit_compile=jit_compile)(*arguments())
    for seen, value in zip(variables, values, strict=True):
        np.testing.assert_allclose(seen.numpy(), value, rtol=1e-5)


def test_a_function_whose_conditional_effects_are_errors_too_raises_the_first():
    @tf.function
    def f(it, i):
        first = next(it)
        tf.debugging.Assert(i > 100, ["second"])
        return first

    with pytest.raises(tf.errors.OutOfRangeError, match="End of sequence"):
        f(numbers(), tf.constant(1))


def test_effects_behind_a_failure_happen_once_while_results_are_checked():
    called, v = [], tf.Variable(1.0)

    @tf.function
    def f(it):
        first = next(it)
        v.assign_add(tf.py_function(lambda: called.append(1) or 2.0, [], tf.float32))
        return first

    tf.debugging.enable_check_numerics()
    try:
        with pytest.raises(tf.errors.OutOfRangeError):
            f(numbers())
    finally:
        tf.debugging.disable_check_numerics()
    assert (len(called), v.numpy()) == (1, 3.0)


def test_fit_counts_the_step_that_finds_the_end_of_the_data():
    x, y = np.ones([8, 4], np.float32), np.ones([8, 1], np.float32)
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dropout(0.2, seed=1), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    model.fit(((x, y) for _ in range(5)), epochs=2, verbose=0)
    # Five batches in groups of steps, and the steps that find the end of the data.
    assert (model.optimizer.iterations.numpy(), model.layers[0].seed_generator.state.numpy()[1]) == (9, 9)


# ---- random functions ------------------------------------------------------------------------------------------------

FAILING = {
    "division": lambda i: 7 // i,
    "gather": lambda i: tf.gather(tf.range(3), i + 5),
    "slice": lambda i: tf.slice(tf.range(2), [i + 1], [2]),
    "scatter": lambda i: tf.tensor_scatter_nd_update(tf.range(3), [[i + 7]], [1]),
    "next": lambda i: next(numbers()),
}


def random_effects(seed, fail):
    """Returns a function with random effects on variables, and the variables; `fail` runs at a random place."""
    choose = random.Random(seed)
    a, c, d = tf.Variable(1), tf.Variable([0.5, -0.25]), tf.Variable([1.0, 2.0])
    effects = (
        lambda i, x: a.assign_add(2),
        lambda i, x: a.assign(a * 3 + i),
        lambda i, x: c.assign(tf.tanh(c * 2.0 + 1.0) * tf.sin(x)),
        lambda i, x: c.assign_sub(tf.tanh(tf.square(d) + tf.exp(x) * 0.5 - tf.sin(c)) * 0.25),
        lambda i, x: d.assign(tf.where(x > c, d * 0.5, x)),
        lambda i, x: d[1].assign(tf.reduce_sum(c)),
        lambda i, x: tf.cond(i > 0, lambda: a.assign_add(5), lambda: a.assign_sub(1)),
        lambda i, x: tf.while_loop(lambda j: j < 3, lambda j: [j + tf.sign(a.assign_add(1))], [0]),
    )
    steps = choose.choices(effects, k=choose.randint(3, 12))
    place = choose.randint(0, len(steps))

    def function(i, x):
        for step in steps[:place]:
            step(i, x)
        failed = fail(i)
        for step in steps[place:]:
            step(i, x)
        return failed

    return function, (a, c, d)


@pytest.mark.parametrize("jit_compile", [None, True])
@pytest.mark.parametrize("name", FAILING)
def test_effects_before_and_behind_a_failure_are_those_of_the_function_without_it(name, jit_compile):
    arguments = tf.constant(0), tf.constant([0.5, 1.0])
    for seed in range(8):
        function, variables = random_effects(seed, FAILING[name])
        with pytest.raises((tf.errors.InvalidArgumentError, tf.errors.OutOfRangeError)):
            tf.function(function, jit_compile=jit_compile)(*arguments)
        without, expected = random_effects(seed, tf.identity)
        without(*arguments)
        for seen, value in zip(variables, expected, strict=True):
            np.testing.assert_allclose(seen.numpy(), value.numpy(), rtol=1e-5, err_msg=f"seed {seed}")
