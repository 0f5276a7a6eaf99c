"""`tf.nondifferentiable_batch_function`."""

import threading

import pytest

import tapeflow as tf


def together(function, arguments):
    """What the function gives for each argument, called by as many threads at once."""
    results = [None] * len(arguments)

    def call(i):
        try:
            results[i] = function(arguments[i]).numpy().tolist()
        except Exception as error:
            results[i] = error

    threads = [threading.Thread(target=call, args=(i,)) for i in range(len(arguments))]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    return results


def test_calls_of_several_threads_are_computed_as_one():
    sizes = []

    @tf.nondifferentiable_batch_function(1, 4, 60_000_000)
    def double(x):
        sizes.append(x.shape[0])
        return x * 2

    assert together(double, [[1], [2, 3], [4]]) == [[2], [4, 6], [8]]
    assert sizes == [4]


def test_long_calls_are_split_and_short_ones_padded():
    sizes = []

    @tf.nondifferentiable_batch_function(1, 4, 0, allowed_batch_sizes=[2, 4])
    def double(x):
        sizes.append(x.shape[0])
        return {"y": x * 2}

    assert double(tf.range(5))["y"].numpy().tolist() == [0, 2, 4, 6, 8]
    assert sizes == [4, 2]


def test_an_error_reaches_every_call():
    @tf.nondifferentiable_batch_function(1, 2, 60_000_000)
    def fail(x):
        raise ValueError("on purpose")

    errors = together(fail, [[1], [2]])
    assert [str(e) for e in errors] == ["on purpose", "on purpose"]


def test_calls_are_checked():
    @tf.nondifferentiable_batch_function(1, 2, 0, enable_large_batch_splitting=False)
    def same(x, y=None):
        return x

    with pytest.raises(tf.errors.InvalidArgumentError, match="0th-dimension"):
        same([1], [1, 2])
    with pytest.raises(tf.errors.InvalidArgumentError, match="larger than"):
        same([1, 2, 3])
    with pytest.raises(tf.errors.InvalidArgumentError, match="at least one dimension"):
        same(1)


def test_no_gradient_passes():
    x = tf.constant([1.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.nondifferentiable_batch_function(1, 2, 0)(lambda x: x * 2.0)(x)
    assert tape.gradient(y, x) is None
