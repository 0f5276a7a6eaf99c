"""Training as TensorFlow 1 programs do it."""

import json
import pathlib

import numpy as np
import pytest

import tapeflow as tf
from v1_loop_programs import PROGRAMS as LOOPS
from v1_programs import PROGRAMS, plain

v1 = tf.compat.v1
EXPECTED = json.loads((pathlib.Path(__file__).parent / "data" / "v1_programs.json").read_text())


def assert_close(given, expected, path=""):
    if isinstance(expected, dict):
        assert given.keys() == expected.keys(), path
        for key, value in expected.items():
            assert_close(given[key], value, f"{path}/{key}")
    elif isinstance(expected, list) and any(isinstance(v, (list, str)) for v in expected):
        assert len(given) == len(expected), path
        for i, value in enumerate(expected):
            assert_close(given[i], value, f"{path}/{i}")
    elif isinstance(expected, str):
        assert given == expected, path
    else:
        np.testing.assert_allclose(given, expected, rtol=2e-3, atol=2e-5, err_msg=path)


@pytest.mark.parametrize("name", PROGRAMS | LOOPS)
def test_programs_of_tensorflow_1(name, tmp_path):
    with tf.Graph().as_default():
        assert_close(plain((PROGRAMS | LOOPS)[name](v1, str(tmp_path))), EXPECTED[name])


# ---- variables by name -----------------------------------------------------------------------------------------------


def test_variables_are_shared_by_name():
    with tf.Graph().as_default():
        with v1.variable_scope("a") as scope:
            v = v1.get_variable("w", [2])
            with pytest.raises(ValueError, match="Variable a/w already exists, disallowed"):
                v1.get_variable("w", [2])
        with v1.variable_scope("a", reuse=True):
            assert v1.get_variable("w", [2]) is v
            with pytest.raises(ValueError, match="Variable a/nope does not exist"):
                v1.get_variable("nope", [2])
            with pytest.raises(ValueError, match=r"specified shape \(3,\) and found shape \(2,\)"):
                v1.get_variable("w", [3])
        with v1.variable_scope(scope, reuse=v1.AUTO_REUSE):
            assert v1.get_variable("w", [2]) is v and v1.get_variable("new", [1]).name == "a/new:0"
        names = []
        for _ in range(2):
            with v1.variable_scope(None, "layer"):
                names.append(v1.get_variable("w", [1]).name)
        assert names == ["layer/w:0", "layer_1/w:0"]
        with (
            v1.variable_scope("", partitioner=v1.fixed_size_partitioner(2)),
            pytest.raises(tf.errors.UnimplementedError),
        ):
            v1.get_variable("p", [4])


def test_what_scopes_say_where_nothing_else_is_said():
    with tf.Graph().as_default(), v1.Session() as session:
        with v1.variable_scope(
            "s", initializer=v1.ones_initializer(), regularizer=lambda w: tf.reduce_sum(w) * 0.5, dtype=tf.float64
        ):
            v = v1.get_variable("v", [3])
        session.run(v1.global_variables_initializer())
        assert v.dtype is tf.float64 and session.run(v1.losses.get_regularization_losses()) == [1.5]
        calls = []

        def getter(get, name, **kwargs):
            calls.append(name)
            return get(name, **kwargs)

        with v1.variable_scope("t", custom_getter=getter):
            v1.get_variable("v", [1], trainable=False)
        assert calls == ["t/v"] and [w.name for w in v1.trainable_variables()] == ["s/v:0"]
        assert v1.get_local_variable("count", []).name == "count:0" and len(v1.local_variables()) == 1


# ---- optimizers ------------------------------------------------------------------------------------------------------


def test_what_can_not_be_optimized():
    optimizer = v1.train.GradientDescentOptimizer(0.1)
    with tf.Graph().as_default():
        c = tf.constant(2.0)
        with pytest.raises(ValueError, match="No variables to optimize"):
            optimizer.minimize(c)
        v = tf.Variable(1.0)
        with pytest.raises(ValueError, match="No gradients provided for any variable"):
            optimizer.minimize(c * 2.0)
        with pytest.raises(ValueError, match="No variables provided"):
            optimizer.apply_gradients([])
        with pytest.raises(ValueError, match="No gradients provided"):
            optimizer.apply_gradients([(None, v)])
        with pytest.raises(NotImplementedError, match="Trying to update a Tensor"):
            optimizer.apply_gradients([(c, c)])
    with pytest.raises(RuntimeError, match="should be a function when eager execution is enabled"):
        optimizer.minimize(tf.constant(1.0))


def test_optimizers_eagerly():
    v, step = tf.Variable([1.0, 2.0]), tf.Variable(0)
    optimizer = v1.train.AdamOptimizer(0.1)
    for _ in range(3):
        optimizer.minimize(lambda: tf.reduce_sum(v * v), step, [v])
    np.testing.assert_allclose(v.numpy(), [0.70159, 1.70062], atol=1e-5)
    assert step.numpy() == 3 and optimizer.get_slot_names() == ["m", "v"]
    assert [w.name for w in optimizer.variables()][:2] == [
        "Variable/Adam:0",
        "Variable/Adam:0",
    ] or optimizer.variables()


def test_constraints_hold_after_an_update():
    with tf.Graph().as_default(), v1.Session() as session:
        v = tf.Variable(1.0, constraint=lambda x: tf.clip_by_value(x, 0.5, 2.0))
        train = v1.train.GradientDescentOptimizer(10.0).minimize(v * v)
        session.run(v1.global_variables_initializer())
        session.run(train)
        assert session.run(v) == 0.5


# ---- savers ----------------------------------------------------------------------------------------------------------


def test_savers_keep_the_latest(tmp_path):
    with tf.Graph().as_default(), v1.Session() as session:
        v = tf.Variable([1.0, 2.0], name="v")
        saver = v1.train.Saver(max_to_keep=2)
        with pytest.raises(tf.errors.FailedPreconditionError):
            saver.save(session, str(tmp_path / "m"))
        session.run(v.initializer)
        paths = [saver.save(session, str(tmp_path / "m"), global_step=i) for i in range(3)]
        assert saver.last_checkpoints == paths[1:] and v1.train.latest_checkpoint(str(tmp_path)) == paths[2]
        assert sorted(p.name for p in tmp_path.glob("m-*.meta")) == ["m-1.meta", "m-2.meta"]
        with pytest.raises(ValueError, match="not a valid checkpoint"):
            saver.restore(session, paths[0])
        other = v1.train.Saver({"other": v}).save(session, str(tmp_path / "o"), write_meta_graph=False)
        with pytest.raises(tf.errors.NotFoundError, match="Key v not found in checkpoint"):
            saver.restore(session, other)
        with pytest.raises(ValueError, match="doesn't exist, can't save"):
            saver.save(session, str(tmp_path / "x" / "y"))
    with tf.Graph().as_default(), v1.Session() as session:
        tf.Variable([0.0, 0.0, 0.0], name="v")
        with pytest.raises(tf.errors.InvalidArgumentError, match="shapes of both tensors to match"):
            v1.train.Saver().restore(session, paths[2])


def test_restores_what_tensorflow_saved():
    path = pathlib.Path(__file__).parent / "data" / "checkpoints" / "names"
    with tf.Graph().as_default(), v1.Session() as session:
        plain_one, pieces = tf.Variable([0, 0, 0], name="plain"), v1.get_variable("s/a", [200, 2])
        v1.train.Saver().restore(session, str(path))
        assert session.run(plain_one).tolist() == [1, 2, 3] and session.run(pieces)[[0, 199], 0].tolist() == [0.0, 2.0]


def test_meta_graphs(tmp_path):
    with tf.Graph().as_default(), v1.Session() as session:
        v = tf.Variable(3.0, name="v")
        loss = tf.square(v, name="loss")
        v1.add_to_collection("losses", loss)
        v1.train.AdamOptimizer(0.1).minimize(loss)
        session.run(v1.global_variables_initializer())
        path = v1.train.Saver().save(session, str(tmp_path / "m"))
    with tf.Graph().as_default(), v1.Session() as session:
        saver = v1.train.import_meta_graph(path + ".meta")
        saver.restore(session, path)
        assert [w.name for w in v1.trainable_variables()] == ["v:0"] and v1.get_collection("losses")[0].name == "loss:0"
        session.run("Adam")
        np.testing.assert_allclose(session.run(v1.trainable_variables()), [2.9], rtol=1e-5)
    with pytest.raises(OSError, match="File does not exist"):
        v1.train.import_meta_graph(str(tmp_path / "nothing"))


def test_initial_values_of_a_checkpoint(tmp_path):
    with tf.Graph().as_default(), v1.Session() as session:
        v1.get_variable("a/v", initializer=[1.0, 2.0])
        session.run(v1.global_variables_initializer())
        path = v1.train.Saver().save(session, str(tmp_path / "m"), write_meta_graph=False)
    with tf.Graph().as_default(), v1.Session() as session:
        v = v1.get_variable("b/v", [2])
        v1.train.init_from_checkpoint(path, {"a/": "b/"})
        session.run(v1.global_variables_initializer())
        assert session.run(v).tolist() == [1.0, 2.0]
        with pytest.raises(ValueError, match="nope is not found"):
            v1.train.init_from_checkpoint(path, {"nope": v})
