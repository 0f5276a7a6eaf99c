"""Random numbers in functions: the arithmetic on their seeds, and clusters that draw them."""

import os
import subprocess
import sys

import numpy as np
import pytest

import tapeflow as tf

ENVIRONMENT = {**os.environ, "PYTHONHASHSEED": "0"}


def check(function, *arguments):
    """Compares a function of new variables with eager calls, twice, and returns its source."""
    traced, eager = tf.function(function()), function()
    for _ in range(2):
        for got, want in zip(tf.nest.flatten(traced(*arguments)), tf.nest.flatten(eager(*arguments)), strict=True):
            np.testing.assert_array_equal(got, want)
    return traced.get_concrete_function(*arguments).source()


def counting(change):
    """Draws by a seed that a variable counts, as a layer with dropout does."""

    def function():
        state = tf.Variable(tf.constant([2**40 + 12345, 7], tf.int64))

        def draw():
            seed = state * 1
            state.assign(state + [0, 1])
            return tf.random.stateless_uniform([3, 5], change(seed))

        return draw

    return function


CHANGES = {
    "none": lambda seed: seed,
    "a remainder and a cast": lambda seed: tf.cast(seed % (2**31 - 1), tf.int32),
    "a cast that wraps around": lambda seed: tf.cast(seed, tf.int32),
    "products that wrap around": lambda seed: (seed * 2**30) * 2**30 - 5,
    "negative numbers": lambda seed: -(5 - seed) % -1000,
}


@pytest.mark.parametrize("name", CHANGES)
def test_arithmetic_on_seeds(name):
    check(counting(CHANGES[name]))


def test_arguments_are_seeds():
    check(lambda: lambda seed: tf.random.stateless_normal([4], seed), tf.constant([3, 4]))


@pytest.mark.parametrize("rate", [0.0, 0.3, 0.5, 1.0, 1.5, -1.0, float("nan")])
@pytest.mark.parametrize("shape", [[3], [40, 50], [5, 4001], [0, 3], [70, 2, 33], [2, 20000]])
def test_draws_are_part_of_clusters(shape, rate):
    """Each element has the random word of its place, however the loops go through the elements."""
    inputs = tf.constant([3, 4]), tf.random.stateless_normal(shape, [1, 2]), tf.range(float(shape[-1]))

    def dropout(seed, x, bias):
        drawn = tf.random.stateless_uniform(shape, seed)
        return tf.where(drawn >= rate, x * 2.0, 0.0), drawn * x + bias, tf.reduce_max(drawn - x, -1)

    compiled = tf.function(dropout, jit_compile=True)
    for got, want in zip(compiled(*inputs), dropout(*inputs), strict=True):
        np.testing.assert_array_equal(got, want)
    source = compiled.get_concrete_function(*inputs).source()
    assert 0 in shape or "op_StatelessRandomUniformV2(" not in source, source


@pytest.mark.parametrize("counter", [0, 2**64 - 3, 2**64 - 1])
def test_the_number_of_a_block_is_carried(counter):
    key, counter = tf.constant([2**63 + 5], tf.uint64), tf.constant([counter, 2**64 - 1], tf.uint64)

    def draw(key, counter):
        drawn = tf.raw_ops.StatelessRandomUniformV2(shape=[9, 5], key=key, counter=counter, alg=1, dtype=tf.float32)
        return drawn * 2.0

    np.testing.assert_array_equal(tf.function(draw, jit_compile=True)(key, counter), draw(key, counter))


def test_draws_do_not_depend_on_threads():
    script = """
import sys, torch, tapeflow as tf
torch.set_num_threads(int(sys.argv[1]))
f = tf.function(lambda seed: tf.random.stateless_uniform([211, 1001], seed) * 2.0, jit_compile=True)
print(hash(f(tf.constant([1, 2])).numpy().tobytes()))
"""
    one, two = (
        subprocess.run([sys.executable, "-c", script, n], capture_output=True, check=True, env=ENVIRONMENT).stdout
        for n in "12"
    )
    assert one == two and one


def test_other_draws_are_steps_of_their_own():
    def function():
        def draw(seed):
            return [
                tf.random.stateless_normal([20], seed) * 2.0,
                tf.random.stateless_uniform([20], seed + 2, dtype=tf.float64) * 2.0,
                tf.random.stateless_uniform([20], seed + 3, dtype=tf.float16) * 2.0,
                tf.random.stateless_uniform([20, 1], seed + 4) + tf.range(3.0),
            ]

        return draw

    check(function, tf.constant([3, 4]))


def test_several_draws_of_one_seed():
    def function():
        return lambda seed: [tf.random.stateless_uniform([3], seed % 9), tf.random.stateless_normal([3], seed % 9)]

    check(function, tf.constant([30, 40]))


@pytest.mark.parametrize(
    "change",
    [
        lambda seed: tf.stack([seed[0], seed[1] + 1]),
        lambda seed: seed + seed[::-1],
        lambda seed: tf.cast(tf.cast(seed, tf.float32) * 2.0, tf.int32),
        lambda seed: seed % tf.constant([7, 9], tf.int64),
        lambda seed: tf.reshape(seed[:1] + tf.constant(0, tf.int64), [1]) * tf.constant([1, 2], tf.int64),
    ],
)
def test_other_changes_of_seeds(change):
    check(counting(change))


def test_a_key_that_is_used_as_a_tensor():
    def function():
        def draw(seed):
            key, counter = tf.raw_ops.StatelessRandomGetKeyCounter(seed=seed)
            drawn = tf.raw_ops.StatelessRandomUniformV2(shape=[3], key=key, counter=counter, alg=1, dtype=tf.float32)
            return drawn, tf.bitcast(key, tf.int64)

        return draw

    check(function, tf.constant([3, 4]))


def test_in_loops_and_branches():
    def function():
        def draw(seed):
            total = tf.zeros([3])
            for i in tf.range(3):
                total += tf.random.stateless_uniform([3], seed + i)
                if total[0] > 1.0:
                    total += tf.random.stateless_uniform([3], seed - i)
            return total

        return draw

    check(function, tf.constant([3, 4]))


def test_division_by_zero_is_refused():
    function = tf.function(lambda seed: tf.random.stateless_uniform([3], seed % 0))
    with pytest.raises(tf.errors.InvalidArgumentError, match="zero"):
        function(tf.constant([3, 4]))


def test_seeds_of_other_lengths_are_refused():
    function = tf.function(
        lambda seed: tf.random.stateless_uniform([3], seed), input_signature=[tf.TensorSpec([None], tf.int32)]
    )
    for numbers in ([3, 4, 5], [3]):
        with pytest.raises(tf.errors.InvalidArgumentError, match="seed must have shape"):
            function(tf.constant(numbers))


def test_calls_of_all_sizes_draw_from_one_stream():
    """The numbers are TensorFlow's. Each size may have a function of its own."""
    tf.random.set_seed(1)

    @tf.function(input_signature=[tf.TensorSpec([None])])
    def draw(x):
        return tf.random.uniform(tf.shape(x)) + tf.reduce_sum(tf.zeros_like(x) + x)

    drawn = [draw(tf.zeros([size])).numpy() for size in (3, 3, 5, 3, 5)]
    np.testing.assert_allclose([d[0] for d in drawn], [0.81269646, 0.8928561, 0.22804296, 0.66251075, 0.27085328])
    np.testing.assert_allclose(drawn[2], [0.22804296, 0.29250395, 0.26334667, 0.50494695, 0.27381837])
