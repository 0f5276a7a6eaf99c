"""`tf.autodiff.ForwardAccumulator`: tangents, structures, and what it refuses."""

import pytest

import tapeflow as tf

Accumulator = tf.autodiff.ForwardAccumulator
X, DX = tf.constant([1.0, 2.0, 3.0]), tf.constant([1.0, 10.0, 100.0])


def test_products():
    with Accumulator(X, DX) as accumulator:
        y = X * X
        whole = tf.cast(y, tf.int32)
        other = tf.constant(1.0) * 2.0
    assert accumulator.jvp(y).numpy().tolist() == [2.0, 40.0, 600.0]
    assert accumulator.jvp(whole) is None and accumulator.jvp(other) is None
    assert accumulator.jvp(other, unconnected_gradients="zero").numpy() == 0.0
    assert accumulator.jvp([y, {"a": other}])[1]["a"] is None
    assert accumulator.jvp(X).numpy().tolist() == DX.numpy().tolist()


def test_structures_of_primals():
    v = tf.Variable([1.0, 2.0])
    tangents = {"x": tf.constant([1.0, 0.0, 0.0]), "v": tf.constant([0.0, 5.0])}
    with Accumulator({"x": X, "v": v}, tangents) as accumulator:
        y, z = tf.reduce_sum(X * 3.0), v * v
    assert accumulator.jvp(y).numpy() == 3.0 and accumulator.jvp(z).numpy().tolist() == [0.0, 20.0]
    assert accumulator.jvp(v).numpy().tolist() == [0.0, 5.0]


def test_what_is_computed_outside():
    with Accumulator(X, DX) as accumulator:
        y = X * 2.0
    after = y * 3.0
    assert accumulator.jvp(after) is None and accumulator.jvp(y).numpy().tolist() == [2.0, 20.0, 200.0]
    with accumulator:  # goes on
        again = y * 5.0
    assert accumulator.jvp(again).numpy().tolist() == [10.0, 100.0, 1000.0]


def test_errors():
    accumulator = Accumulator(X, DX)
    with accumulator, pytest.raises(ValueError, match="Accumulator is already recording"):
        accumulator.__enter__()
    with pytest.raises(ValueError, match="already has a tangent"):
        Accumulator([X, X], [DX, DX])
    with pytest.raises(ValueError, match="shape"):
        Accumulator(X, tf.constant([1.0, 2.0]))
    for primals, tangents in (([X], DX), ({"a": X}, {"b": DX}), ([X, X + 1.0], [DX])):
        with pytest.raises((ValueError, TypeError)):
            Accumulator(primals, tangents)
    accumulator.__exit__(None, None, None)  # twice is harmless
    y = X * 2.0
    assert accumulator.jvp(y) is None


def test_hessians_by_products():
    with Accumulator(X, DX) as accumulator, tf.GradientTape() as tape:
        tape.watch(X)
        y = tf.reduce_sum(X**3)
    with accumulator:
        gradient = tape.gradient(y, X)
    # The tape inside the accumulator computes its gradient there.
    with Accumulator(X, DX) as accumulator:
        with tf.GradientTape() as tape:
            tape.watch(X)
            y = tf.reduce_sum(X**3)
        gradient = tape.gradient(y, X)
    assert accumulator.jvp(gradient).numpy().tolist() == [6.0, 120.0, 1800.0]


def test_nested_accumulators():
    with Accumulator(X, DX) as outer:
        with Accumulator(X, tf.ones([3])) as inner:
            y = X**3
        first = inner.jvp(y)
    assert first.numpy().tolist() == [3.0, 12.0, 27.0]
    assert outer.jvp(y).numpy().tolist() == [3.0, 120.0, 2700.0]
    assert outer.jvp(first).numpy().tolist() == [6.0, 120.0, 1800.0]


def test_tapes_around_an_accumulator():
    with tf.GradientTape() as tape:
        tape.watch(X)
        with Accumulator(X, DX) as accumulator:
            y = X**2
        tangent = accumulator.jvp(y)
    assert tape.gradient(tangent, X).numpy().tolist() == [2.0, 20.0, 200.0]


@pytest.mark.parametrize("inside", [True, False])
def test_functions(inside):
    def product(x, dx):
        with Accumulator(x, dx) as accumulator:
            y = tf.exp(x) * x
            if inside:
                y = tf.reduce_sum(tf.gather(y, [0, 2]))
        return accumulator.jvp(y)

    assert tf.function(product)(X, DX).numpy() == pytest.approx(product(X, DX).numpy())
    traced = tf.function(lambda x: tf.sin(x) * 2.0)
    with Accumulator(X, DX) as accumulator:
        y = traced(X)
    assert accumulator.jvp(y).numpy() == pytest.approx((2.0 * tf.cos(X) * DX).numpy())


def test_slices_of_rows():
    table = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    with Accumulator(table, tf.constant([[1.0, 0.0], [0.0, 10.0]])) as accumulator:
        y = tf.gather(table, [1, 1, 0])
    assert accumulator.jvp(y).numpy().tolist() == [[0.0, 10.0], [0.0, 10.0], [1.0, 0.0]]
