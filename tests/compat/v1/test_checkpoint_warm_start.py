"""Warm starts: which variables begin with the values of a checkpoint, and under which vocabulary."""

import pytest

import tapeflow as tf

v1 = tf.compat.v1
train = v1.train


@pytest.fixture
def saved(tmp_path):
    """A checkpoint with `a/v`, `a/w` and `b`."""
    with tf.Graph().as_default(), v1.Session() as sess:
        v1.get_variable("a/v", initializer=[[1.0], [2.0], [3.0]])
        v1.get_variable("a/w", initializer=[4.0])
        v1.get_variable("b", initializer=5.0, trainable=False)
        sess.run(v1.global_variables_initializer())
        train.Saver().save(sess, str(tmp_path / "m"))
    return str(tmp_path)


def started(saved, shape=(3, 1), **options):
    """The values of the variables after a warm start."""
    with tf.Graph().as_default(), v1.Session() as sess:
        zeros = v1.zeros_initializer()
        variables = [v1.get_variable(n, s, initializer=zeros) for n, s in (("a/v", shape), ("a/w", [1]))]
        variables.append(v1.get_variable("b", [], initializer=zeros, trainable=False))
        if callable(options.get("vars_to_warm_start")):
            options["vars_to_warm_start"] = options["vars_to_warm_start"](variables)
        train.warm_start(saved, **options)
        sess.run(v1.global_variables_initializer())
        v, w, b = sess.run(variables)
        return v.ravel().tolist(), w.tolist(), float(b)


@pytest.mark.parametrize(
    ("which", "expected"),
    [
        (".*", ([1.0, 2.0, 3.0], [4.0], 0.0)),
        ("a/w", ([0.0] * 3, [4.0], 0.0)),
        (None, ([0.0] * 3, [0.0], 0.0)),
        (["b", "a/v"], ([1.0, 2.0, 3.0], [0.0], 5.0)),
        (lambda variables: variables[1:], ([0.0] * 3, [4.0], 5.0)),
    ],
)
def test_which_variables(saved, which, expected):
    if which is None:
        with tf.Graph().as_default():
            v1.get_variable("x", [1])
            with pytest.raises(ValueError):
                train.warm_start(saved, vars_to_warm_start=3)
            with pytest.raises(ValueError):
                train.warm_start(saved, vars_to_warm_start=[3])
        return
    assert started(saved, vars_to_warm_start=which) == expected


def test_other_names(saved):
    with tf.Graph().as_default(), v1.Session() as sess:
        w = v1.get_variable("new", [1], initializer=v1.zeros_initializer())
        train.warm_start(saved, var_name_to_prev_var_name={"new": "a/w"})
        sess.run(v1.global_variables_initializer())
        assert sess.run(w).tolist() == [4.0]
        with pytest.raises(ValueError, match="that were not used"):
            train.warm_start(saved, vars_to_warm_start="nothing", var_name_to_prev_var_name={"other": "a/w"})


def test_vocabularies(saved, tmp_path):
    old, new = tmp_path / "old.txt", tmp_path / "new.txt"
    old.write_text("x\ny\nz\n")
    new.write_text("z\nq\nx\np\n")
    info = train.VocabInfo(str(new), 4, 0, str(old), backup_initializer=v1.constant_initializer(9.0))
    v, w, _ = started(saved, [4, 1], var_name_to_vocab_info={"a/v": info})
    assert v == [3.0, 9.0, 1.0, 9.0]
    assert w == [4.0]
    fewer = train.VocabInfo(str(new), 3, 0, str(old), old_vocab_size=2)
    v, _, _ = started(saved, [3, 1], var_name_to_vocab_info={"a/v": fewer}, vars_to_warm_start="a/v")
    assert v[2] == 1.0
    assert 3.0 not in v


def test_checkpoints_of_objects(tmp_path):
    v = tf.Variable([1.0, 2.0], name="v")
    path = tf.train.Checkpoint(some=v).write(str(tmp_path / "m"))
    with tf.Graph().as_default(), v1.Session() as sess:
        w = v1.get_variable("v", [2], initializer=v1.zeros_initializer())
        train.warm_start(path)
        sess.run(v1.global_variables_initializer())
        assert sess.run(w).tolist() == [1.0, 2.0]
        v1.get_variable("missing", [2])
        with pytest.raises(ValueError, match="The following variables were missing"):
            train.warm_start(path)
