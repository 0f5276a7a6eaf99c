"""Targets, initial gradients and sources of each kind. Expected values are TensorFlow's."""

import numpy as np
import pytest

import tapeflow as tf

ZERO = tf.UnconnectedGradients.ZERO


def value(x):
    return None if x is None else np.asarray(x).tolist()


def test_structures_of_sources():
    a, b, v = tf.constant(1.0), tf.constant(2.0), tf.Variable(3.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([a, b])
        y = a * b * v
    assert value(tape.gradient(y, a)) == 6.0 and value(tape.gradient(y, v)) == 2.0
    found = tape.gradient(y, [a, v])
    assert type(found) is list and [value(g) for g in found] == [6.0, 2.0]
    found = tape.gradient(y, (a, [b, {"v": v}]))
    assert type(found) is tuple and value(found[0]) == 6.0 and value(found[1][0]) == 3.0
    assert value(found[1][1]["v"]) == 2.0
    assert tape.gradient(y, []) == [] and tape.gradient(y, {}) == {}


def test_ragged_sources_and_targets():
    x = tf.ragged.constant([[1.0, 2.0], [], [3.0]])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
        total = tf.reduce_sum(y)
        other = tf.constant(1.0) * 2.0
    for target in (y, total):
        found = tape.gradient(target, x)
        assert isinstance(found, tf.RaggedTensor) and found.to_list() == [[2.0, 4.0], [], [6.0]]
    assert tape.gradient(other, x) is None
    found = tape.gradient(other, [x.flat_values], unconnected_gradients=ZERO)
    assert value(found[0]) == [0.0, 0.0, 0.0]
    found = tape.gradient([y, total], {"x": x})
    assert found["x"].to_list() == [[4.0, 8.0], [], [12.0]]


def test_sparse_sources():
    x = tf.sparse.from_dense([[1.0, 0.0], [0.0, 2.0]])
    with tf.GradientTape() as tape:
        tape.watch(x.values)
        y = tf.reduce_sum(tf.sparse.to_dense(x) ** 2.0)
    assert value(tape.gradient(y, x.values)) == [2.0, 4.0]


def test_slices_as_initial_gradients():
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * 2.0
    seed = tf.IndexedSlices(tf.constant([[5.0, 7.0]]), tf.constant([1]), tf.constant([2, 2]))
    assert value(tf.convert_to_tensor(tape.gradient(y, x, seed))) == [[0.0, 0.0], [10.0, 14.0]]


def test_slices_as_gradients():
    v, x = tf.Variable([[1.0, 2.0], [3.0, 4.0]]), tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = tf.reduce_sum(tf.gather(v, [1, 1]) * 2.0) + tf.reduce_sum(tf.gather(x, [0, 2]))
    found = tape.gradient(y, v)
    assert isinstance(found, tf.IndexedSlices)
    assert value(found.indices) == [1, 1] and value(found.values) == [[2.0, 2.0]] * 2
    assert value(tf.convert_to_tensor(tape.gradient(y, x))) == [1.0, 0.0, 1.0]
    assert value(tape.jacobian(y, v)) == [[0.0, 0.0], [4.0, 4.0]]


@pytest.mark.parametrize("dtype", [tf.float16, tf.bfloat16, tf.float32, tf.float64, tf.complex64])
@pytest.mark.parametrize("shape", [[], [2], [0, 3]])
def test_initial_gradients_are_ones(dtype, shape):
    x = tf.ones(shape, dtype)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * 3
    found = tape.gradient(y, x)
    assert found.dtype == dtype and found.shape == shape and np.array_equal(found, np.full(shape, 3))


def test_initial_gradients_are_converted():
    x = tf.constant([1.0, 2.0], tf.float64)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * 2
    for seed in ([1, 2], np.array([1.0, 2.0]), tf.constant([1.0, 2.0], tf.float64)):
        found = tape.gradient(y, [x], [seed] if not isinstance(seed, list) else tf.constant(seed, tf.float64))
        assert value(found[0]) == [2.0, 4.0] and found[0].dtype == tf.float64


def test_targets_of_integers_have_no_gradient():
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        whole = tf.cast(x, tf.int32)
        y = x * 2.0
    assert tape.gradient(whole, x) is None
    assert value(tape.gradient([whole, y], x)) == [2.0, 2.0]
    assert value(tape.gradient(whole, x, unconnected_gradients=ZERO)) == [0.0, 0.0]


def test_keras_variables_as_sources():
    v = tf.keras.Variable([1.0, 2.0])
    with tf.GradientTape(persistent=True) as tape:
        y = tf.reduce_sum(v.value * v.value)
    assert value(tape.gradient(y, [v.value])[0]) == [2.0, 4.0]
    if "tapeflow" in tf.__name__:
        assert value(tape.gradient(y, [v])[0]) == [2.0, 4.0] and value(tape.gradient(y, v)) == [2.0, 4.0]
        assert value(tape.gradient(y, {"v": v})["v"]) == [2.0, 4.0]


@pytest.mark.parametrize("target", [None, 1.0, [1.0], "x", [tf.constant(1.0), None]])
def test_targets_that_are_no_tensors(target):
    x = tf.constant(1.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
    with pytest.raises((TypeError, ValueError, AttributeError)):
        tape.gradient(target, x)


def test_unknown_shapes_in_functions():
    @tf.function(input_signature=[tf.TensorSpec([None, 2]), tf.TensorSpec([None])])
    def gradients(x, other):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch([x, other])
            y = x * x
        return tape.gradient(y, [x, other], unconnected_gradients=ZERO), tape.jacobian(y, other, ZERO)

    (first, second), third = gradients(tf.constant([[1.0, 2.0]]), tf.ones([3]))
    assert value(first) == [[2.0, 4.0]] and value(second) == [0.0] * 3 and third.shape == [1, 2, 3]
