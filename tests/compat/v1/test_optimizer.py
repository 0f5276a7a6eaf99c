"""The base class of optimizers: gradients, slots, steps, names, and updates by subclasses."""

import numpy as np
import pytest

import tapeflow as tf

v1 = tf.compat.v1
train = v1.train


def test_gradients():
    optimizer = train.GradientDescentOptimizer(0.5)
    with tf.Graph().as_default(), v1.Session() as sess:
        v, w = v1.get_variable("v", initializer=[1.0, 2.0]), v1.get_variable("w", initializer=3.0)
        unused = v1.get_variable("u", initializer=1.0, trainable=False)
        pairs = optimizer.compute_gradients(tf.reduce_sum(v * v) * 2.0)
        assert [p[1] for p in pairs] == [v, w]
        assert pairs[1][0] is None
        (pair,) = optimizer.compute_gradients(v * v, [v], grad_loss=tf.constant([1.0, 10.0]))
        none = optimizer.compute_gradients(unused * 2.0, [unused])
        sess.run(v1.global_variables_initializer())
        assert sess.run(pairs[0][0]).tolist() == [4.0, 8.0]
        assert sess.run(pair[0]).tolist() == [2.0, 40.0]
        assert sess.run(none[0][0]) == 2.0
    v = tf.Variable([1.0, 2.0])
    ((gradient, of),) = optimizer.compute_gradients(lambda: tf.reduce_sum(v * v), grad_loss=tf.constant(3.0))
    assert gradient.numpy().tolist() == [6.0, 12.0]
    assert of is v


def test_names_and_steps():
    with tf.Graph().as_default() as graph, v1.Session() as sess:
        v, step = v1.get_variable("v", initializer=1.0), train.create_global_step()
        optimizer = train.MomentumOptimizer(0.5, 0.9, name="Mine")
        assert optimizer.get_name() == "Mine"
        assert optimizer.get_slot_names() == []
        done = optimizer.minimize(v * 2.0, step, name="train")
        assert done.name == "train"
        assert v1.get_collection(v1.GraphKeys.TRAIN_OP) == [done]
        without = optimizer.apply_gradients([(tf.constant(1.0), v)], skip_gradients_aggregation=True)
        assert without.name == "Mine"
        assert without.type == "NoOp"
        assert optimizer.get_slot_names() == ["momentum"]
        assert optimizer.get_slot(v, "momentum").name == "v/Mine:0"
        assert optimizer.get_slot(v, "nothing") is None
        assert optimizer.get_slot(step, "momentum") is None
        assert optimizer.variables() == [optimizer.get_slot(v, "momentum")]
        assert optimizer.get_slot(v, "momentum") not in v1.trainable_variables()
        sess.run(v1.global_variables_initializer())
        sess.run(done)
        assert sess.run([v, step, optimizer.get_slot(v, "momentum")]) == [0.0, 1, 2.0]
        sess.run(without)
        assert sess.run(step) == 1
        assert sess.run(v) == pytest.approx(-1.4)
        assert graph.get_operation_by_name("train") is done


def test_what_can_not_be_optimized():
    optimizer = train.GradientDescentOptimizer(0.5)
    with tf.Graph().as_default():
        v = v1.get_variable("v", initializer=1.0)
        for pairs, kind, message in (
            ([], ValueError, "No variables provided"),
            ([(None, v)], ValueError, "No gradients provided for any variable"),
            (
                [(tf.constant(1.0), "v")],
                (TypeError, NotImplementedError),
                "(?s)Trying to (optimize|update)|unsupported",
            ),
        ):
            with pytest.raises(kind, match=message):
                optimizer.apply_gradients(pairs)
        with pytest.raises(ValueError, match="No gradients provided for any variable"):
            optimizer.minimize(tf.constant(1.0), var_list=[v])
    with pytest.raises(RuntimeError, match="should be a function when eager execution is enabled"):
        optimizer.compute_gradients(tf.constant(1.0))


def test_rows_that_occur_twice():
    for make in (
        train.GradientDescentOptimizer,
        lambda rate: train.MomentumOptimizer(rate, 0.0),
        train.AdagradOptimizer,
    ):
        v = tf.Variable([[1.0], [2.0], [3.0]])
        again = tf.Variable([[1.0], [2.0], [3.0]])
        slices = tf.IndexedSlices(tf.constant([[1.0], [2.0], [4.0]]), tf.constant([2, 0, 2]), tf.constant([3, 1]))
        make(0.5).apply_gradients([(slices, v)])
        make(0.5).apply_gradients([(tf.constant([[2.0], [0.0], [5.0]]), again)])
        np.testing.assert_allclose(v.numpy(), again.numpy(), rtol=1e-6)


def test_constraints():
    for graph in (None, tf.Graph()):
        with graph.as_default() if graph else tf.init_scope():
            v = tf.Variable([1.0, 2.0], constraint=lambda v: tf.clip_by_value(v, 0.0, 1.5))
            optimizer = train.GradientDescentOptimizer(1.0)
            if graph is None:
                optimizer.apply_gradients([(tf.constant([4.0, -4.0]), v)])
                assert v.numpy().tolist() == [0.0, 1.5]
                continue
            update = optimizer.apply_gradients([(tf.constant([4.0, -4.0]), v)])
            with v1.Session() as sess:
                sess.run(v.initializer)
                sess.run(update)
                assert sess.run(v).tolist() == [0.0, 1.5]


def test_slots_are_saved(tmp_path):
    v = tf.Variable([1.0, 2.0])
    optimizer = train.AdamOptimizer(0.5)
    optimizer.apply_gradients([(tf.constant([1.0, -2.0]), v)])
    path = tf.train.Checkpoint(v=v, optimizer=optimizer).save(str(tmp_path / "m"))
    expected = [x.numpy().tolist() for x in (optimizer.get_slot(v, "m"), optimizer.get_slot(v, "v"))]
    for restore_first in (True, False):
        w, other = tf.Variable([0.0, 0.0]), train.AdamOptimizer(0.5)
        checkpoint = tf.train.Checkpoint(v=w, optimizer=other)
        if restore_first:
            status = checkpoint.restore(path)
            other.apply_gradients([(tf.constant([0.0, 0.0]), w)])
            status.assert_consumed()
            continue
        other.apply_gradients([(tf.constant([5.0, 5.0]), w)])
        checkpoint.restore(path).assert_consumed()
        assert [other.get_slot(w, name).numpy().tolist() for name in ("m", "v")] == expected
    assert w.numpy().tolist() == v.numpy().tolist()


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda: train.GradientDescentOptimizer(lambda: 0.5), [0.5, 2.5]),
        (lambda: train.AdagradOptimizer(0.5, initial_accumulator_value=0.44), [1 - 0.5 / 1.2, 2 + 0.5 / 1.2]),
        (lambda: train.RMSPropOptimizer(0.5, decay=0.75, epsilon=0.0), [0.5, 2.5]),
        (lambda: train.AdamOptimizer(0.5, epsilon=0.0), [0.5, 2.5]),
        (lambda: train.ProximalGradientDescentOptimizer(0.5, l1_regularization_strength=0.5), [0.25, 2.25]),
        (lambda: train.FtrlOptimizer(0.5, initial_accumulator_value=0.0), [-0.5, 0.5]),
    ],
)
def test_one_step_of_each(make, expected):
    v = tf.Variable([1.0, 2.0])
    make().apply_gradients([(tf.constant([1.0, -1.0]), v)])
    if "Ftrl" in type(make()).__name__:
        assert np.isfinite(v.numpy()).all()
    else:
        np.testing.assert_allclose(v.numpy(), expected, rtol=1e-5)
