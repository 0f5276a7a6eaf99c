"""Training as TensorFlow 1 programs do it."""

import json
import pathlib

import numpy as np
import pytest

import tapeflow as tf
from v1_loop_programs import PROGRAMS as LOOPS
from v1_programs import PROGRAMS, plain

v1 = tf.compat.v1
FIXTURES = pathlib.Path(__file__).parents[2] / "fixtures"
EXPECTED = json.loads((FIXTURES / "v1_programs.json").read_text())


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
            saver.save(session, str(tmp_path / "x" / "y" / "z"))
    with tf.Graph().as_default(), v1.Session() as session:
        tf.Variable([0.0, 0.0, 0.0], name="v")
        with pytest.raises(tf.errors.InvalidArgumentError, match="shapes of both tensors to match"):
            v1.train.Saver().restore(session, paths[2])


def test_restores_what_tensorflow_saved():
    path = FIXTURES / "checkpoints" / "names"
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


# ---- variables in parts ----------------------------------------------------------------------------------------------


def in_two(axis=0):
    return v1.fixed_size_partitioner(2, axis=axis)


def test_a_variable_in_parts():
    with tf.Graph().as_default(), v1.Session() as sess:
        v = v1.get_variable("v", [3, 5], partitioner=in_two(1), initializer=v1.ones_initializer())
        assert [(p.name, p.shape.as_list()) for p in v] == [("v/part_0:0", [3, 3]), ("v/part_1:0", [3, 2])]
        assert (v.name, v.dtype, v.shape, v.get_shape(), len(v)) == ("v", tf.float32, (3, 5), (3, 5), 2)
        assert tf.convert_to_tensor(v).name == "v:0"
        assert tf.matmul(v, tf.ones([5, 1])).shape == (3, 1)
        sess.run(v1.global_variables_initializer())
        sess.run(v.assign(tf.reshape(tf.range(15.0), [3, 5])))
        added = sess.run(v.assign_add(tf.ones([3, 5])))
        assert [a.shape for a in added] == [(3, 3), (3, 2)]
        sess.run(v.assign_sub(tf.ones([3, 5])))
        assert sess.run(v.as_tensor()).tolist() == np.arange(15.0).reshape(3, 5).tolist()
        whole = v1.get_variable("whole", [3], partitioner=lambda shape, dtype: [1], initializer=v1.ones_initializer())
        scalar = v1.get_variable("scalar", [], partitioner=in_two())
        assert [p.name for p in whole] == ["whole/part_0:0"] and scalar.name == "scalar:0"


def test_initializers_of_parts():
    told = []

    def first(shape, dtype=None, partition_info=None):
        told.append((shape, partition_info.full_shape, partition_info.var_offset))
        return tf.zeros(shape)

    with tf.Graph().as_default(), v1.Session() as sess:
        v1.get_variable("f", [5], initializer=first, partitioner=in_two())
        assert told == [([3], [5], [0]), ([2], [5], [3])]
        value = v1.get_variable("value", initializer=tf.range(5.0), partitioner=in_two())
        sess.run(v1.global_variables_initializer())
        assert [p.tolist() for p in sess.run(list(value))] == [[0.0, 1.0, 2.0], [3.0, 4.0]]


def test_parts_are_shared_by_the_name_of_the_whole():
    with tf.Graph().as_default():
        v = v1.get_variable("v", [4, 2], partitioner=in_two())
        with v1.variable_scope("", reuse=True):
            assert v1.get_variable("v", [4, 2]) is v
            assert v1.get_variable("v", [4, 2], partitioner=in_two()) is v
            with pytest.raises(ValueError, match=r"specified partitions \[1, 2\] and found partitions \[2, 1\]"):
                v1.get_variable("v", [4, 2], partitioner=in_two(1))
            with pytest.raises(ValueError, match="specified shape"):
                v1.get_variable("v", [4, 3])
        with pytest.raises(ValueError, match="already exists"):
            v1.get_variable("v", [4, 2], partitioner=in_two())


def test_parts_by_a_list():
    with tf.Graph().as_default():
        parts = v1.create_partitioned_variables([4, 2], [2, 1], v1.zeros_initializer(), name="cut")
        assert [p.name for p in parts] == ["cut/part_0:0", "cut/part_1:0"]
        with pytest.raises(ValueError, match="same length"):
            v1.create_partitioned_variables([4, 2], [2], v1.zeros_initializer())


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ([2, 2], "Can only slice a variable along one dimension"),
        ([2], "does not match the Variable's rank"),
        (2, "must return a sequence"),
        ([0, 1], "zero partitions"),
    ],
)
def test_partitioners_that_are_not_possible(parts, message):
    with tf.Graph().as_default(), pytest.raises(ValueError, match=message):
        v1.get_variable("v", [4, 4], partitioner=lambda shape, dtype: parts)


def test_variables_that_begin_with_one_tensor_are_restored_apart(tmp_path):
    with tf.Graph().as_default(), v1.Session() as sess:
        first = tf.constant([1.0, 2.0])
        a, b = tf.Variable(first, name="a"), tf.Variable(first, name="b")
        sess.run(v1.global_variables_initializer())
        sess.run(b.assign([5.0, 6.0]))
        saver = v1.train.Saver()
        path = saver.save(sess, str(tmp_path / "model"))
        sess.run(v1.global_variables_initializer())
        saver.restore(sess, path)
        assert [x.tolist() for x in sess.run([a, b])] == [[1.0, 2.0], [5.0, 6.0]]


def test_a_saver_creates_the_folder_but_none_above_it(tmp_path):
    saver = v1.train.Saver([tf.Variable(1.0, name="v")])
    path = saver.save(None, str(tmp_path / "new" / "model"))
    assert tf.train.latest_checkpoint(str(tmp_path / "new")) == path
    with pytest.raises(ValueError, match=r"Parent directory of .* doesn't exist, can't save"):
        saver.save(None, str(tmp_path / "a" / "b" / "model"))


@pytest.mark.parametrize("name", ["AdamOptimizer", "RMSPropOptimizer", "GradientDescentOptimizer"])
def test_an_optimizer_serves_several_traces_of_a_function(name):
    v = tf.Variable([1.0, 2.0])
    optimizer = getattr(tf.compat.v1.train, name)(0.1)

    @tf.function
    def step(x):
        optimizer.minimize(lambda: tf.reduce_sum(v * v) * tf.reduce_sum(x), var_list=[v])

    step(tf.constant([1.0]))
    count = len(optimizer.variables())
    step(tf.constant([1.0, 2.0]))
    tf.function(lambda: step(tf.constant([1.0, 2.0, 3.0])))()
    assert len(optimizer.variables()) == count
    again = tf.Variable([1.0, 2.0])
    other = getattr(tf.compat.v1.train, name)(0.1)
    for x in ([1.0], [1.0, 2.0], [1.0, 2.0, 3.0]):
        other.minimize(lambda x=x: tf.reduce_sum(again * again) * sum(x), var_list=[again])
    np.testing.assert_allclose(v.numpy(), again.numpy(), rtol=1e-6)
