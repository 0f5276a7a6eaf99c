"""`GradientTape`: its life, what it watches, and the options of gradients and Jacobians."""

import numpy as np
import pytest

import tapeflow as tf

ZERO = tf.UnconnectedGradients.ZERO


def values(gradients):
    return tf.nest.map_structure(lambda g: None if g is None else np.asarray(g).tolist(), gradients)


def squares(persistent=False):
    """Returns a tape, what it watches, and the squares that it recorded."""
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape(persistent=persistent) as tape:
        tape.watch(x)
        y = x * x
    return tape, x, y


# ---- its life --------------------------------------------------------------------------------------------------------


def test_a_tape_records_again_where_it_is_entered_again():
    x = tf.constant(3.0)
    tape = tf.GradientTape(persistent=True)
    with tape:
        tape.watch(x)
        y = x * x
    outside = y * y
    with tape:
        z = y * 2.0
    assert values(tape.gradient([y, z], x)) == 18.0 and tape.gradient(outside, x) is None
    with tape, pytest.raises(ValueError, match="Tape is still recording"):
        tape.__enter__()


def test_a_tape_that_was_used_up():
    tape, x, y = squares()
    assert values(tape.gradient(y, x)) == [2.0, 4.0]
    for again in (
        lambda: tape.gradient(y, x),
        lambda: tape.jacobian(y, x),
        lambda: tape.batch_jacobian(y[None], x[None]),
    ):
        with pytest.raises(RuntimeError, match="A non-persistent GradientTape can only be used to"):
            again()
    with pytest.raises(RuntimeError, match="A non-persistent GradientTape"):
        tf.GradientTape().gradient(y, x)
    for method in ("jacobian", "batch_jacobian"):
        x = tf.constant([[1.0, 2.0]])
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x
        getattr(tape, method)(y, x)
        with pytest.raises(RuntimeError, match="A non-persistent GradientTape"):
            tape.gradient(y, x)


def test_a_tape_that_is_not_persistent_stops_at_its_gradient():
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
        assert values(tape.gradient(y, x)) == 6.0
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
        first = tape.gradient(y, x)
        second = tape.gradient(first, x)
    assert values(first) == 6.0 and values(second) == 2.0


def test_a_tape_forgets_what_it_recorded():
    v = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        before = v * 1.0
        tape.reset()
        assert tape.watched_variables() == ()
        after = v * v
    assert values(tape.gradient([before, after], v)) == 4.0
    with tape:
        again = v * 5.0
    assert values(tape.gradient(again, v)) == 5.0


def test_recording_is_suspended():
    x = tf.constant(3.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        with tape.stop_recording():
            silent = x * x
            with pytest.raises(ValueError, match="Tape is not recording"), tape.stop_recording():
                pass
        with pytest.raises(KeyError), tape.stop_recording():
            raise KeyError("x")
        loud = x * 4.0
    assert tape.gradient(silent, x) is None and values(tape.gradient(loud, x)) == 4.0
    with pytest.raises(ValueError, match="Tape is not recording"), tape.stop_recording():
        pass
    with pytest.raises(RuntimeError, match="a tape which is not recording"), tf.GradientTape().stop_recording():
        pass


# ---- what it watches -------------------------------------------------------------------------------------------------


def test_nests_are_watched():
    a, b, v = tf.constant(1.0), tf.constant(2.0), tf.Variable(3.0, trainable=False)
    ragged = tf.ragged.constant([[1.0], [2.0, 3.0]])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch({"a": a, "rest": [b, (v,)], "ragged": ragged})
        y = a * b * v + tf.reduce_sum(ragged.flat_values)
    assert values(tape.gradient(y, [a, b, v])) == [6.0, 3.0, 2.0]
    assert values(tape.gradient(y, ragged.flat_values)) == [1.0, 1.0, 1.0]
    for wrong in (1.0, [a, "x"], np.ones(2), {"a": None}):
        with tf.GradientTape() as tape, pytest.raises(ValueError, match="Passed in object"):
            tape.watch(wrong)


def test_watching_outside_of_the_tape():
    with pytest.raises((ValueError, AttributeError)):
        tf.GradientTape().watch(tf.constant(1.0))


def test_watched_variables():
    a, b, c = tf.Variable(1.0), tf.Variable(2.0), tf.Variable(3.0, trainable=False)
    with tf.GradientTape() as tape:
        assert tape.watched_variables() == ()
        _ = b * c
        _ = a * b
        assert [v.ref() for v in tape.watched_variables()] == [a.ref(), b.ref()]
        tape.watch(c)
    assert [v.ref() for v in tape.watched_variables()] == [a.ref(), b.ref(), c.ref()]
    tape.gradient(tf.constant(1.0), a)
    assert len(tape.watched_variables()) == 3
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(a)
        y = a * b
    assert [v.ref() for v in tape.watched_variables()] == [a.ref()]
    assert values(tape.gradient(y, [a, b])) == [2.0, None]
    assert tf.GradientTape().watched_variables() == ()


# ---- gradients -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("targets", "seeds", "expected"),
    [
        (lambda y, z: y, [3.0, 5.0], [6.0, 20.0]),
        (lambda y, z: y, tf.constant([3.0, 5.0]), [6.0, 20.0]),
        (lambda y, z: [y], [tf.constant([3.0, 5.0])], [6.0, 20.0]),
        (lambda y, z: [y, z], [tf.constant([1.0, 0.0]), tf.constant([0.0, 1.0])], [2.0, 3.0]),
        (lambda y, z: {"y": y, "z": z}, {"y": tf.constant([1.0, 1.0]), "z": tf.constant([2.0, 2.0])}, [8.0, 10.0]),
        (lambda y, z: [y, z], None, [5.0, 7.0]),
        (lambda y, z: [y, y], None, [4.0, 8.0]),
        (lambda y, z: [tf.cast(y, tf.int32), z], None, [3.0, 3.0]),
    ],
)
def test_targets_and_output_gradients(targets, seeds, expected):
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        target = targets(x * x, 3.0 * x)
    if isinstance(seeds, list) and isinstance(seeds[0], float):
        seeds = tf.constant(seeds)
    assert values(tape.gradient(target, x, seeds)) == expected


@pytest.mark.parametrize("unconnected", ["none", "zero", ZERO, tf.UnconnectedGradients.NONE])
def test_sources_without_influence(unconnected):
    x, v, other = tf.constant(1.0), tf.Variable([2.0, 3.0]), tf.constant([[1.0]], tf.float64)
    is_zero = unconnected in ("zero", ZERO)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([x, other])
        y = x * 2.0
    found = tape.gradient(y, {"x": x, "rest": [v, (other,)]}, unconnected_gradients=unconnected)
    assert values(found) == {"x": 2.0, "rest": [[0.0, 0.0], ([[0.0]],)] if is_zero else [None, (None,)]}
    if is_zero:
        assert found["rest"][1][0].dtype == tf.float64
    found = tape.gradient(y, [v, x], unconnected_gradients=unconnected)
    assert values(found) == [[0.0, 0.0] if is_zero else None, 2.0]
    assert values(tape.jacobian(y, [v, x], unconnected_gradients=unconnected)) == [[0.0, 0.0] if is_zero else None, 2.0]
    found = tape.batch_jacobian(tf.ones([2, 3]), tf.ones([2, 1]), unconnected_gradients=unconnected)
    assert values(found) == np.zeros([2, 3, 1]).tolist()  # TensorFlow's are zeros in both cases


def test_unconnected_gradients_are_none_or_zero():
    tape, x, y = squares(persistent=True)
    for name in ("nonsense", None, 0):
        with pytest.raises(ValueError, match="Unknown value for unconnected_gradients"):
            tape.gradient(y, x, unconnected_gradients=name)


@pytest.mark.parametrize("sources", [1.0, "x", [1.0], None])
def test_sources_are_tensors(sources):
    tape, _, y = squares()
    with pytest.raises((TypeError, ValueError, AttributeError)):
        tape.gradient(y, sources)


# ---- Jacobians -------------------------------------------------------------------------------------------------------

FORMS = [{}, {"experimental_use_pfor": False}, {"parallel_iterations": 2}, {"parallel_iterations": 100}]


@pytest.mark.parametrize("options", FORMS)
@pytest.mark.parametrize("in_function", [False, True])
def test_jacobians(options, in_function):
    def jacobians(x):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch([x, other])
            y = tf.stack([x[0] * x[1], x[1] ** 2.0, x[0], x[0] + 3.0 * x[1], other])
            nothing = tf.reshape(y[:0], [0, 3])
        return (
            tape.jacobian(y, x, **options),
            tape.jacobian(nothing, x, **options),
            tape.jacobian(y, {"x": [x], "v": v, "other": other}, ZERO, **options),
        )

    v, other = tf.Variable([[1.0, 2.0]]), tf.constant(1.0)
    x = tf.constant([3.0, 5.0])
    whole, empty, several = values((tf.function(jacobians) if in_function else jacobians)(x))
    expected = [[5.0, 3.0], [0.0, 10.0], [1.0, 0.0], [1.0, 3.0], [0.0, 0.0]]
    assert whole == expected
    assert empty == []
    assert several == {"x": [expected], "v": np.zeros([5, 1, 2]).tolist(), "other": [0.0, 0.0, 0.0, 0.0, 1.0]}


@pytest.mark.parametrize("options", FORMS)
@pytest.mark.parametrize("in_function", [False, True])
def test_batch_jacobians(options, in_function):
    def jacobian(x):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = tf.stack([x[:, 0] * x[:, 1], x[:, 1], tf.ones([2])], 1)[:, :, None]
        return tape.batch_jacobian(y, x, **options)

    x = tf.constant([[3.0, 5.0], [7.0, 11.0]])
    found = (tf.function(jacobian) if in_function else jacobian)(x)
    assert found.shape == [2, 3, 1, 2]
    assert values(found[:, :, 0]) == [[[5.0, 3.0], [0.0, 1.0], [0.0, 0.0]], [[11.0, 7.0], [0.0, 1.0], [0.0, 0.0]]]


@pytest.mark.parametrize("shape", [[None, 2], [None, None]])
def test_static_shapes_of_jacobians(shape):
    @tf.function(input_signature=[tf.TensorSpec(shape)])
    def jacobians(x):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = tf.concat([x, x * x], 1)
            y.set_shape([None, 4])
        found = tape.jacobian(y, x)
        unconnected = tape.jacobian(y, v, ZERO)
        if shape == [None, 2]:
            assert found.shape.as_list() == [None, 4, None, 2]
        return found, unconnected

    v = tf.Variable([1.0, 2.0], trainable=False)
    found, unconnected = jacobians(tf.constant([[1.0, 2.0], [3.0, 4.0]]))
    assert found.shape == [2, 4, 2, 2] and unconnected.shape == [2, 4, 2]
    assert values(found)[1][3] == [[0.0, 0.0], [0.0, 8.0]] and values(found)[0][0] == [[1.0, 0.0], [0.0, 0.0]]


@pytest.mark.parametrize("method", ["jacobian", "batch_jacobian"])
def test_refused_options_of_jacobians(method):
    def call(persistent=False, **options):
        x = tf.ones([2, 3])
        with tf.GradientTape(persistent=persistent) as tape:
            tape.watch(x)
            y = x * x
        return getattr(tape, method)(y, x, **options)

    with pytest.raises(RuntimeError, match="persistent=True"):
        call(experimental_use_pfor=False)
    assert call(True, experimental_use_pfor=False).shape[-1] == 3
    for number in (1, 0, -1):
        with pytest.raises(ValueError, match="Vectorization can be disabled"):
            call(parallel_iterations=number)
    assert tf.function(lambda: call(experimental_use_pfor=False))().shape[-1] == 3


@pytest.mark.parametrize(("target", "source"), [([2, 3], [3, 3]), ([2], [2, 3]), ([2, 3], [2])])
def test_refused_shapes_of_batch_jacobians(target, source):
    with tf.GradientTape() as tape, pytest.raises(ValueError, match=r"first dimension|rank"):
        tape.batch_jacobian(tf.ones(target), tf.ones(source))
