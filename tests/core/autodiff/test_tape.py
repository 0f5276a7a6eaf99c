"""What tapes record, and the gradients that follow."""

import threading

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.core.ops.definition import ops


def values(gradients):
    return [None if g is None else tf.convert_to_tensor(g).numpy().tolist() for g in gradients]


X, Y = tf.constant([1.0, 2.0]), tf.constant([3.0, 5.0])


def test_watched_tensors_alone_have_gradients():
    with tf.GradientTape() as tape:
        tape.watch(X)
        z = X * Y + Y * Y
    assert values(tape.gradient(z, [X, Y])) == [[3.0, 5.0], None]
    with tf.GradientTape() as tape:
        tape.watch(X)
        z = Y * Y
    assert tape.gradient(z, X) is None


@pytest.mark.parametrize("watched", [(True, True), (True, False), (False, True)])
@pytest.mark.parametrize(
    ("function", "dx", "dy"),
    [
        (lambda x, y: x * y, [3.0, 5.0], [1.0, 2.0]),
        (lambda x, y: x - y, [1.0, 1.0], [-1.0, -1.0]),
        (lambda x, y: x / y, [1 / 3, 0.2], [-1 / 9, -0.08]),
        (lambda x, y: tf.maximum(x, y), [0.0, 0.0], [1.0, 1.0]),
        (lambda x, y: tf.stack([x, y]) * [[2.0], [3.0]], [2.0, 2.0], [3.0, 3.0]),
        (lambda x, y: tf.concat([x, y], 0) * [1.0, 2.0, 3.0, 4.0], [1.0, 2.0], [3.0, 4.0]),
        (lambda x, y: x * 2.0 + y * x * x, [8.0, 22.0], [1.0, 4.0]),
    ],
)
def test_inputs_of_which_some_are_watched(function, dx, dy, watched):
    with tf.GradientTape() as tape:
        for value, is_watched in zip((X, Y), watched, strict=True):
            if is_watched:
                tape.watch(value)
        z = function(X, Y)
    for found, expected, is_watched in zip(tape.gradient(z, [X, Y]), (dx, dy), watched, strict=True):
        if is_watched:
            np.testing.assert_allclose(found, expected, rtol=1e-6)
        else:
            assert found is None


def test_sources_on_the_way_and_targets_that_are_sources():
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(X)
        a = X * 2.0
        b = a * a
        c = b + a
    assert values(tape.gradient(c, [X, a, b, c])) == [[10.0, 18.0], [5.0, 9.0], [1.0, 1.0], [1.0, 1.0]]
    assert values(tape.gradient([a, c], [a])) == [[6.0, 10.0]]
    assert values(tape.gradient([c, c], [b])) == [[2.0, 2.0]]
    assert values(tape.gradient(a, [b, X, X])) == [None, [2.0, 2.0], [2.0, 2.0]]
    weighted = tape.gradient({"k": c}, {"s": a}, output_gradients={"k": tf.constant([10.0, 0.0])})
    assert values([weighted["s"]]) == [[50.0, 0.0]]


def test_a_tape_is_used_once_unless_it_is_persistent():
    with tf.GradientTape() as tape:
        tape.watch(X)
        z = X * X
    assert values([tape.gradient(z, X)]) == [[2.0, 4.0]]
    with pytest.raises(RuntimeError, match="A non-persistent GradientTape can only be used to"):
        tape.gradient(z, X)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(X)
        z = X * X
    assert values([tape.gradient(z, X) for _ in range(2)]) == [[2.0, 4.0]] * 2
    assert tape.gradient(z * 1.0, X) is None  # it was computed outside


def test_variables_are_watched_when_they_are_read():
    v, w = tf.Variable([2.0, 4.0]), tf.Variable([1.0, 1.0], trainable=False)
    with tf.GradientTape() as tape:
        z = v * v * w + v.read_value()
        assert [x is v for x in tape.watched_variables()] == [True]
        v.assign_add([1.0, 1.0])
        z += v * 10.0
    assert values(tape.gradient(z, [v, w])) == [[15.0, 19.0], None]
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        a = v * w
        tape.watch(w)
        b = v * w
    assert values(tape.gradient([a, b], [v, w])) == [None, [3.0, 5.0]]
    with tf.GradientTape() as tape:
        tape.watch(w)
        tape.watch(w)
        z = w * w * v
    assert values(tape.gradient(z, [w, v])) == [[6.0, 10.0], [1.0, 1.0]]
    assert [x is y for x, y in zip(tape.watched_variables(), (v, w), strict=True)] == [True, True]


def test_a_value_read_before_the_tape_is_a_constant():
    v = tf.Variable(3.0)
    before = v.read_value()
    with tf.GradientTape() as outer:
        seen = tf.convert_to_tensor(v)
        with tf.GradientTape() as inner:
            z = before * seen * v
        assert float(inner.gradient(z, v)) == 9.0
    assert float(outer.gradient(seen * 1.0, v) or 0.0) == 0.0


def test_sums_of_dense_and_sparse_gradients():
    v = tf.Variable([[1.0], [2.0], [3.0]])
    with tf.GradientTape(persistent=True) as tape:
        a, b, c = tf.gather(v, [2, 0]), tf.gather(v, [2]), v * 10.0
        sparse, mixed = tf.reduce_sum(a) + tf.reduce_sum(b), tf.reduce_sum(a) + tf.reduce_sum(c)
        other = tf.reduce_sum(c) + tf.reduce_sum(a) + tf.reduce_sum(c)
    found = tape.gradient(sparse, v)
    assert isinstance(found, tf.IndexedSlices) and values([found]) == [[[1.0], [0.0], [2.0]]]
    assert values([tape.gradient(mixed, v)]) == [[[11.0], [10.0], [11.0]]]
    assert values([tape.gradient(other, v)]) == [[[21.0], [20.0], [21.0]]]


def test_ops_of_several_outputs():
    x = tf.constant([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        a, b, c = tf.unstack(x, axis=1)
        values_of, places = tf.math.top_k(x, 2)
    assert values([tape.gradient(b, x)]) == [[[0.0, 1.0, 0.0], [0.0, 1.0, 0.0]]]
    assert values([tape.gradient([a, c], x, [None, tf.constant([2.0, 3.0])])]) == [[[1.0, 0.0, 2.0], [1.0, 0.0, 3.0]]]
    assert values([tape.gradient(values_of, x)]) == [[[0.0, 1.0, 1.0], [0.0, 1.0, 1.0]]]
    assert values(tape.gradient([a, b * 2.0], [b, a])) == [None, [1.0, 1.0]]
    assert places.dtype is tf.int32


def test_integers_have_no_gradients():
    x = tf.constant([1.5, 2.5])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.cast(x, tf.int32)
        z = tf.cast(y, tf.float32) * x
    assert values([tape.gradient(z, x)]) == [[1.0, 2.0]]


def test_tapes_in_tapes():
    x = tf.constant(3.0)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = x**4
        first = inner.gradient(y, x)
    assert float(first) == 108.0 and float(outer.gradient(first, x)) == 108.0
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x * x
        first = tape.gradient(y, x)
    assert float(tape.gradient(first, x)) == 18.0


def test_recording_stops_and_begins_again():
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        a = x * x
        with tape.stop_recording():
            b = x * x
        c = a + b
    assert float(tape.gradient(c, x)) == 6.0
    with tf.GradientTape() as tape:
        tape.watch(x)
        a = x * x
        tape.reset()
        tape.watch(x)
        b = x * 5.0
    assert float(tape.gradient(b, x)) == 5.0


def test_tapes_belong_to_their_threads():
    x, found = tf.constant(3.0), []

    def other():
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * 2.0
        found.append((float(tape.gradient(y, x)), y))

    with tf.GradientTape() as tape:
        tape.watch(x)
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        z = x * x + found[0][1]
    assert found[0][0] == 2.0 and float(tape.gradient(z, x)) == 6.0


def test_sums_of_several_gradients_do_not_change_the_cotangents():
    x = tf.constant([1.0, 2.0])
    cotangent = tf.constant([3.0, 4.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.identity(x)
        z = x + tf.identity(y) + tf.identity(x)
    assert values([tape.gradient(z, x, output_gradients=cotangent)]) == [[9.0, 12.0]]
    assert cotangent.numpy().tolist() == [3.0, 4.0]
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * 1.0
        z = [y + 0.0, y + 0.0, y + 0.0]
    gx, gy = tape.gradient(z, [x, y])
    assert values([gx, gy]) == [[3.0, 3.0], [3.0, 3.0]]


def test_gradients_of_larger_products_add_up():
    a, b = tf.constant(np.arange(6.0).reshape(2, 3)), tf.constant(np.arange(12.0).reshape(3, 4))
    with tf.GradientTape() as tape:
        tape.watch([a, b])
        y = tf.matmul(a, b)
        z = tf.reduce_sum(tf.matmul(y, b, transpose_b=True)) + tf.reduce_sum(tf.matmul(a, b) * 2.0)
    da, db = tape.gradient(z, [a, b])
    ones = np.ones
    dy = ones([2, 3]) @ b.numpy() + 2.0
    np.testing.assert_allclose(da, dy @ b.numpy().T)
    np.testing.assert_allclose(db, a.numpy().T @ dy + ones([3, 2]) @ (a.numpy() @ b.numpy()))


def test_gradients_of_another_number():
    op = ops.Sign.op
    before = op.gradient
    op.gradient = lambda call, dy: (dy, dy)
    try:
        with tf.GradientTape() as tape:
            tape.watch(X)
            y = tf.sign(X)
        with pytest.raises(ValueError, match="The gradient of Sign gave 2 gradients for 1 inputs"):
            tape.gradient(y, X)
    finally:
        op.gradient = before
