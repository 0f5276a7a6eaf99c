"""`tf.train.ExponentialMovingAverage`, eagerly and in graphs of TensorFlow 1. Expected values are TensorFlow's."""

import pytest

import tapeflow as tf

v1 = tf.compat.v1
Average = tf.train.ExponentialMovingAverage


def names_of(variables):
    return [v.name for v in variables]


def test_names_and_defaults():
    assert Average(0.5).name == "ExponentialMovingAverage" and Average(0.5, name="slow").name == "slow"
    v = tf.Variable(1.0, name="v")
    ema = Average(0.5, name="slow")
    assert ema.average(v) is None and ema.average_name(v) == "v/slow"
    assert ema.apply([v]) is None
    average = ema.average(v)
    assert average.name == "v/slow:0" and not average.trainable and average.dtype is tf.float32
    ema.apply([v])
    assert ema.average(v) is average and average.numpy() == 1.0


@pytest.mark.parametrize(
    ("decay", "updates", "expected"),
    [
        (0.9, None, 2.0 * 0.1),
        (0.9, 0, 2.0 * 0.9),
        (0.9, 1, 2.0 * 9 / 11),
        (0.9, 10, 2.0 * 9 / 20),
        (0.9, 80, 2.0 * 0.1),
        (0.25, 10, 2.0 * 0.75),
        (tf.constant(0.75), None, 2.0 * 0.25),
    ],
)
@pytest.mark.parametrize("dtype", [tf.float32, tf.float64, tf.float16])
def test_decays(decay, updates, expected, dtype):
    v = tf.Variable(tf.zeros([2], dtype))
    ema = Average(decay, updates)
    ema.apply([v])
    v.assign([2.0, 0.0])
    ema.apply([v])
    assert ema.average(v).dtype is dtype
    assert ema.average(v).numpy().tolist() == pytest.approx([expected, 0.0], rel=2e-3 if dtype is tf.float16 else 1e-6)


def test_several_variables():
    a, b = tf.Variable(1.0, name="a"), tf.Variable(2.0, name="b")
    ema = Average(0.5)
    ema.apply([a])
    a.assign(3.0)
    ema.apply([a, b])
    assert (ema.average(a).numpy(), ema.average(b).numpy()) == (2.0, 2.0)
    b.assign(4.0)
    ema.apply([b])
    assert (ema.average(a).numpy(), ema.average(b).numpy()) == (2.0, 3.0)
    assert ema.apply([]) is None
    for wrong in (tf.Variable(1), tf.Variable(True), tf.constant(1.0), 1.0):
        with pytest.raises((TypeError, ValueError, AttributeError)):
            ema.apply([wrong])


def test_variables_to_restore():
    a, b = tf.Variable(1.0, name="a"), tf.Variable(2.0, name="b")
    restored = Average(0.5).variables_to_restore([a, b])
    assert {name: v.name for name, v in restored.items()} == {
        "a/ExponentialMovingAverage": "a:0", "b/ExponentialMovingAverage": "b:0"
    }  # fmt: skip


# ---- graphs of TensorFlow 1 ------------------------------------------------------------------------------------------


def test_a_graph_averages_its_trainable_variables():
    with tf.Graph().as_default(), v1.Session() as session:
        v = v1.get_variable("v", initializer=2.0)
        other = v1.get_variable("other", initializer=5.0, trainable=False)
        ema = Average(0.5)
        update = ema.apply()
        assert ema.average(other) is None
        assert names_of(v1.moving_average_variables()) == ["v:0"]
        assert names_of(v1.trainable_variables()) == ["v:0"]
        average = ema.average(v)
        assert average.name == "v/ExponentialMovingAverage:0"
        session.run(v1.global_variables_initializer())
        assert session.run(average) == 2.0
        session.run(v.assign(4.0))
        session.run(update)
        assert session.run(average) == 3.0
        names = {name: x.name for name, x in ema.variables_to_restore().items()}
        assert names == {"v/ExponentialMovingAverage": "v:0", "other": "other:0"}


def test_an_average_begins_with_the_value_of_an_initialized_variable():
    with tf.Graph().as_default(), v1.Session() as session:
        v = v1.get_variable("v", initializer=2.0)
        session.run(v.initializer)
        session.run(v.assign(7.0))
        ema = Average(0.5)
        ema.apply([v])
        session.run(ema.average(v).initializer)
        assert session.run(ema.average(v)) == 7.0


@pytest.mark.parametrize(
    ("debias", "shape", "expected"),
    [
        (False, [2], [[1.0, 2.0], [2.5, 5.0]]),
        (False, [None], [[1.0, 2.0], [2.5, 5.0]]),
        (True, [2], [[2.0, 4.0], [10 / 3, 20 / 3]]),
    ],
)
def test_averages_of_tensors(debias, shape, expected):
    """They begin with zero; the bias towards it can be removed."""
    with tf.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder_with_default(tf.constant([2.0, 4.0]), shape, "x")
        ema = Average(0.5, zero_debias=debias)
        update = ema.apply([x])
        average = ema.average(x)
        assert average.name == "x/ExponentialMovingAverage:0" and average.shape.as_list() == shape
        assert names_of(v1.moving_average_variables()) == []
        session.run(v1.global_variables_initializer())
        assert session.run(average).tolist() == [0.0, 0.0]
        session.run(update)
        assert session.run(average).tolist() == pytest.approx(expected[0])
        session.run(update, {x: [4.0, 8.0]})
        assert session.run(average).tolist() == pytest.approx(expected[1])
        assert all(not v.trainable for v in v1.global_variables())


def test_an_update_has_the_averages_name():
    with tf.Graph().as_default():
        v = v1.get_variable("v", initializer=1.0)
        assert Average(0.5, name="slow").apply([v]).name == "slow"
