"""What depends on variables alone is computed again only when one of them has changed."""

import gc
import threading
import weakref

import numpy as np
import pytest

import tapeflow as tf

SIZE = 200  # its square takes more memory than `Variable` updates out of place


def variable(*shape, seed=0):
    return tf.Variable(np.random.default_rng(seed).normal(size=shape).astype("float32"))


class OfVariables:
    """A function of an input and of what depends on two variables alone."""

    def __init__(self):
        self.v, self.w = variable(SIZE, SIZE), variable(SIZE, SIZE, seed=1)
        self.concrete = tf.function(self.function).get_concrete_function(tf.TensorSpec((SIZE, SIZE)))
        self.cache = self.concrete.body.compiled.function.__globals__["cache"]
        self.entry = None

    def function(self, x):
        return x + tf.square(self.v) * tf.exp(self.w)

    def check(self, computes):
        """Calls it, and checks the result, and whether what depends on the variables is computed."""
        x, before = tf.ones([SIZE, SIZE]), self.cache.entry
        np.testing.assert_allclose(self.concrete(x), self.function(x), rtol=1e-5)
        assert (self.cache.entry is not before) == computes


@pytest.fixture
def program():
    return OfVariables()


def test_it_is_computed_once(program):
    assert "if entry.results is None:" in program.concrete.source()
    for computes in (True, False, False):
        program.check(computes)


def test_an_assignment_has_it_computed_again(program):
    program.check(True)
    for v in (program.v, program.w):
        v.assign(tf.ones([SIZE, SIZE]))
        program.check(True)
        program.check(False)


def test_an_update_in_place_has_it_computed_again(program):
    memory = program.v.value().value.data_ptr()
    gc.collect()
    program.check(True)
    program.v.assign_add(tf.ones([SIZE, SIZE]))
    assert program.v.value().value.data_ptr() == memory  # the cache does not hold it
    program.check(True)
    program.v.scatter_nd_update([[0, 0]], [7.0])
    program.check(True)


def test_steps_of_optimizers_have_it_computed_again(program):
    optimizer = tf.keras.optimizers.Adam(0.1)

    @tf.function
    def train():
        optimizer.apply_gradients([(tf.ones([SIZE, SIZE]), v) for v in (program.v, program.w)])

    program.check(True)
    for _ in range(3):
        train()
        program.check(True)


def test_the_cache_holds_no_variable(program):
    program.check(True)
    held = weakref.ref(program.v.value().value)
    program.v.assign(tf.ones([SIZE, SIZE]))
    gc.collect()
    assert held() is None


def test_a_function_that_changes_a_variable_caches_nothing():
    v = variable(SIZE, SIZE)

    def f(x):
        y = x * tf.exp(tf.square(v))
        v.assign_add(x)
        return y

    assert "entry" not in tf.function(f).get_concrete_function(tf.TensorSpec((SIZE, SIZE))).source()


def test_what_is_returned_or_a_view_is_not_cached():
    v = variable(SIZE, SIZE)
    source = tf.function(lambda: tf.exp(v)).get_concrete_function().source()
    assert "entry" not in source
    source = tf.function(lambda x: x * tf.transpose(v)).get_concrete_function(tf.TensorSpec((SIZE, SIZE))).source()
    assert "entry" not in source


def test_what_takes_more_memory_than_the_variables_is_not_cached():
    v, w = variable(SIZE), variable(SIZE, seed=1)
    f = tf.function(lambda x: x + tf.exp(v)[:, None] * tf.exp(w)[None] * 2.0)
    source = f.get_concrete_function(tf.TensorSpec((SIZE, SIZE))).source()
    block = source[source.find("if entry") : source.find("cache.entry =")]
    assert "op_Mul" in source and "op_Mul" not in block


def test_what_costs_less_than_the_check_is_not_cached():
    v = tf.Variable([1.0, 2.0])
    assert "entry" not in tf.function(lambda x: x * (v + 1.0)).get_concrete_function(tf.TensorSpec((2,))).source()


def test_a_gradient_is_that_of_the_values_of_now():
    v = variable(SIZE, SIZE)
    f = tf.function(lambda x: tf.reduce_sum(x * tf.exp(tf.square(v))))
    for _ in range(2):
        with tf.GradientTape() as tape:
            y = f(tf.ones([SIZE, SIZE]))
        np.testing.assert_allclose(tape.gradient(y, v), 2 * v * tf.exp(tf.square(v)), rtol=1e-4)
        v.assign(v * 0.5)


def test_threads_see_the_values_of_their_variables(program):
    program.check(True)
    x, wrong = tf.zeros([SIZE, SIZE]), []
    expected = [tf.square(tf.fill([SIZE, SIZE], float(i))) * tf.exp(program.w) for i in range(2)]

    def run():
        for _ in range(20):
            result = program.concrete(x).numpy()
            if not any(np.allclose(result, e, rtol=1e-4) for e in expected):
                wrong.append(result)

    program.v.assign(tf.zeros([SIZE, SIZE]))
    threads = [threading.Thread(target=run) for _ in range(2)]
    for t in threads:
        t.start()
    for i in range(20):
        program.v.assign(tf.fill([SIZE, SIZE], float(i % 2)))
    for t in threads:
        t.join()
    assert not wrong
    np.testing.assert_allclose(program.concrete(x), expected[1], rtol=1e-4)
