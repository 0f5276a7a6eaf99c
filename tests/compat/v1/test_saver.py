"""Savers: which variables they write, under which names, which checkpoints they keep, and what they refuse."""

import os
import pathlib
import threading

import numpy as np
import pytest

import tapeflow as tf
from tapeflow_compat.compat.v1.train import saver as saver_module

v1 = tf.compat.v1


@pytest.fixture
def sess():
    with tf.Graph().as_default(), v1.Session() as sess:
        yield sess


def initialize(sess, **values):
    """Creates and initializes variables."""
    variables = {name: v1.get_variable(name, initializer=value) for name, value in values.items()}
    sess.run(v1.global_variables_initializer())
    return variables


# ---- arguments -------------------------------------------------------------------------------------------------------


def test_the_build_is_deferred_only_without_variables(sess):
    v = initialize(sess, v=1.0)["v"]
    with pytest.raises(ValueError, match="If `var_list` is provided then build cannot be deferred"):
        v1.train.Saver([v], defer_build=True)


def test_variables_are_collected_by_the_build(sess, tmp_path):
    initialize(sess, v=1.0)
    now, later = v1.train.Saver(), v1.train.Saver(defer_build=True)
    initialize(sess, w=[2.0, 3.0])
    later.build()
    names = [
        v1.train.list_variables(saver.save(sess, str(tmp_path / name)))
        for name, saver in zip("ab", [now, later], strict=False)
    ]
    assert names == [[("v", [])], [("v", []), ("w", [2])]]


def test_a_saver_without_variables(sess, tmp_path):
    with pytest.raises(ValueError, match="No variables to save"):
        v1.train.Saver()
    saver = v1.train.Saver(allow_empty=True)
    assert saver.save(sess, str(tmp_path / "m")) is None and saver.last_checkpoints == []
    assert [p.name for p in tmp_path.iterdir()] == ["m.meta"]
    assert saver.save(sess, str(tmp_path / "other"), write_meta_graph=False) is None
    assert [p.name for p in tmp_path.iterdir()] == ["m.meta"]


@pytest.mark.parametrize("wrong", [3, "v", np.zeros(2)])
def test_only_variables_are_saved(sess, wrong):
    with pytest.raises(TypeError, match=r"[Nn]ot a [Vv]ariable"):
        v1.train.Saver({"a": wrong})


def test_two_variables_of_one_name(sess):
    v = initialize(sess, v=1.0)["v"]
    with pytest.raises(ValueError, match="At least two variables have the same name: v"):
        v1.train.Saver([v, v])


def test_the_message_of_a_saver(sess):
    initialize(sess, v=1.0)
    proto = v1.train.Saver(max_to_keep=3, keep_checkpoint_every_n_hours=2.5).to_proto()
    assert (proto.max_to_keep, proto.keep_checkpoint_every_n_hours, proto.version) == (3, 2.5, 2)
    default = v1.train.Saver().as_saver_def()
    assert (default.max_to_keep, default.keep_checkpoint_every_n_hours) == (5, 10000.0)
    again = v1.train.Saver.from_proto(proto).to_proto()
    assert (again.max_to_keep, again.keep_checkpoint_every_n_hours) == (3, 2.5)
    for every in (None, 0):
        assert v1.train.Saver(max_to_keep=every).to_proto().max_to_keep == 0


# ---- names of checkpoints --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pad", "step", "ending"), [(False, 7, "-7"), (True, 7, "-00000007"), (False, 0, "-0"), (False, None, "")]
)
def test_names_with_steps(sess, tmp_path, pad, step, ending):
    initialize(sess, v=1.0)
    path = v1.train.Saver(pad_step_number=pad).save(sess, str(tmp_path / "m"), global_step=step)
    assert path == str(tmp_path / "m") + ending
    assert v1.train.checkpoint_exists(path) and v1.train.latest_checkpoint(str(tmp_path)) == path


def test_the_step_of_a_variable_or_a_tensor(sess, tmp_path):
    step = initialize(sess, step=np.int64(12))["step"]
    saver = v1.train.Saver()
    assert saver.save(sess, str(tmp_path / "m"), global_step=step) == str(tmp_path / "m-12")
    assert saver.save(sess, str(tmp_path / "m"), global_step=tf.constant(3)) == str(tmp_path / "m-3")
    assert saver.save(sess, str(tmp_path / "m"), global_step=np.int64(4)) == str(tmp_path / "m-4")


def test_what_is_written_beside_the_values(sess, tmp_path):
    initialize(sess, v=1.0)
    saver = v1.train.Saver()
    saver.save(sess, str(tmp_path / "m"), meta_graph_suffix="graph", latest_filename="newest")
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        "m.data-00000-of-00001", "m.graph", "m.index", "newest",
    ]  # fmt: skip
    assert v1.train.latest_checkpoint(str(tmp_path)) is None
    assert v1.train.latest_checkpoint(str(tmp_path), "newest") == str(tmp_path / "m")
    other = tmp_path / "other"
    saver.save(sess, str(other / "m"), write_meta_graph=False, write_state=False)
    assert sorted(p.name for p in other.iterdir()) == ["m.data-00000-of-00001", "m.index"]
    assert saver.last_checkpoints == [str(tmp_path / "m")]
    with pytest.raises(ValueError, match="'latest_filename' must not contain path components"):
        saver.save(sess, str(tmp_path / "m"), latest_filename="a/b")
    for name, latest in (("checkpoint", None), ("m", "m")):
        with pytest.raises(ValueError, match="'latest_filename' collides with 'save_path'"):
            saver.save(sess, str(tmp_path / name), latest_filename=latest)
    assert saver.save(sess, str(tmp_path / "checkpoint"), global_step=1) == str(tmp_path / "checkpoint-1")


def test_a_folder_that_is_a_file(sess, tmp_path):
    initialize(sess, v=1.0)
    (tmp_path / "file").write_text("")
    with pytest.raises((ValueError, tf.errors.FailedPreconditionError)):
        v1.train.Saver().save(sess, str(tmp_path / "file" / "m"))


def test_sessions_are_asked_for_values(sess, tmp_path):
    initialize(sess, v=1.0)
    with pytest.raises(TypeError, match="'sess' must be a Session"):
        v1.train.Saver().save("session", str(tmp_path / "m"))


# ---- kept checkpoints ------------------------------------------------------------------------------------------------


def existing(folder):
    """The checkpoints in a folder."""
    return sorted(p.stem for p in pathlib.Path(folder).glob("*.index"))


@pytest.mark.parametrize(("most", "kept"), [(1, ["m-3"]), (2, ["m-2", "m-3"]), (0, ["m-1", "m-2", "m-3"])])
def test_old_checkpoints_are_deleted(sess, tmp_path, most, kept):
    initialize(sess, v=1.0)
    saver = v1.train.Saver(max_to_keep=most)
    for step in (1, 2, 2, 3):
        saver.save(sess, str(tmp_path / "m"), global_step=step)
    assert existing(tmp_path) == kept == sorted(p.stem for p in tmp_path.glob("*.meta"))
    assert v1.train.get_checkpoint_state(str(tmp_path)).all_model_checkpoint_paths == (
        [str(tmp_path / name) for name in kept] if most else [str(tmp_path / "m-3")]
    )


def test_a_checkpoint_of_each_interval_is_kept(sess, tmp_path):
    initialize(sess, v=1.0)
    never = v1.train.Saver(max_to_keep=1, keep_checkpoint_every_n_hours=1.0)
    every = v1.train.Saver(max_to_keep=1, keep_checkpoint_every_n_hours=1e-9)
    for name, saver in (("never", never), ("every", every)):
        for step in (1, 2):
            saver.save(sess, str(tmp_path / name), global_step=step)
    assert existing(tmp_path) == ["every-1", "every-2", "never-2"]
    assert every.last_checkpoints == [str(tmp_path / "every-2")]


def test_two_threads_save(sess, tmp_path, monkeypatch):
    v = tf.Variable(1.0)
    sess.run(v.initializer)
    saver = v1.train.Saver([v])
    second = threading.Thread(target=saver.save, args=(sess, str(tmp_path / "c"), 2))
    write = saver_module.write_bundle

    def write_beside_the_second(path, tensors):
        if path.endswith("-1"):
            second.start()
            second.join(0.2)  # it ends only if it does not wait for this save
        write(path, tensors)

    monkeypatch.setattr(saver_module, "write_bundle", write_beside_the_second)
    saver.save(sess, str(tmp_path / "c"), 1)
    second.join()
    assert [p[-2:] for p in saver.last_checkpoints] == ["-1", "-2"]
    assert tf.train.latest_checkpoint(str(tmp_path)).endswith("-2")


def test_lists_of_checkpoints_are_replaced(sess, tmp_path):
    initialize(sess, v=1.0)
    paths = [v1.train.Saver().save(sess, str(tmp_path / "m"), global_step=step) for step in (1, 2, 3)]
    saver = v1.train.Saver(max_to_keep=2)
    saver.set_last_checkpoints(paths[:2])
    assert saver.last_checkpoints == paths[:2]
    saver.save(sess, str(tmp_path / "m"), global_step=4)
    assert existing(tmp_path) == ["m-1", "m-2", "m-3", "m-4"]  # without a time, none is deleted
    saver.set_last_checkpoints_with_time([(paths[0], 4.0), (paths[2], 5.0)])
    assert saver.last_checkpoints == [paths[0], paths[2]]
    saver.save(sess, str(tmp_path / "m"), global_step=5)
    assert existing(tmp_path) == ["m-2", "m-3", "m-4", "m-5"]
    saver.recover_last_checkpoints(paths)
    assert saver.last_checkpoints == paths[1:]  # the first was deleted
    saver.save(sess, str(tmp_path / "m"), global_step=6)
    assert existing(tmp_path) == ["m-3", "m-4", "m-5", "m-6"]


def test_one_checkpoint_is_deleted_with_its_graph(sess, tmp_path):
    initialize(sess, v=1.0)
    saver = v1.train.Saver()
    one = saver.save(sess, str(tmp_path / "m"), global_step=1)
    two = saver.save(sess, str(tmp_path / "m"), global_step=2, meta_graph_suffix="graph")
    times = v1.train.get_checkpoint_mtimes([one, str(tmp_path / "none"), two])
    assert [int(t) for t in times] == [int(os.path.getmtime(f"{p}.index")) for p in (one, two)]
    v1.train.remove_checkpoint(one)
    v1.train.remove_checkpoint(two, meta_graph_suffix="graph")
    assert [p.name for p in tmp_path.iterdir()] == ["checkpoint"]
    assert not v1.train.checkpoint_exists(one) and v1.train.get_checkpoint_mtimes([one]) == []


# ---- restoring -------------------------------------------------------------------------------------------------------


def test_values_of_each_dtype_are_restored(sess, tmp_path):
    values = {"f": np.float64([1.5, -2.0]), "i": np.int32([[1, 2, 3]]), "b": np.array([True, False]), "s": ["x", "yz"]}
    variables = initialize(sess, **values)
    path = v1.train.Saver().save(sess, str(tmp_path / "m"))
    empty = {"f": [0.0, 0.0], "i": [[0, 0, 0]], "b": [False, False], "s": ["", ""]}
    sess.run([variables[name].assign(value).op for name, value in empty.items()])
    v1.train.Saver().restore(sess, path)
    assert sess.run(variables["f"]).tolist() == [1.5, -2.0] and sess.run(variables["i"]).tolist() == [[1, 2, 3]]
    assert sess.run(variables["b"]).tolist() == [True, False] and sess.run(variables["s"]).tolist() == [b"x", b"yz"]


def test_names_in_the_checkpoint(sess, tmp_path):
    v, w = initialize(sess, v=1.0, w=2.0).values()
    path = v1.train.Saver({"second": w, "first": v}).save(sess, str(tmp_path / "m"))
    assert v1.train.list_variables(path) == [("first", []), ("second", [])]
    v1.train.Saver({"second": v, "first": w}).restore(sess, path)
    assert sess.run([v, w]) == [2.0, 1.0]


def test_values_of_another_shape_or_dtype(sess, tmp_path):
    initialize(sess, v=[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    path = v1.train.Saver().save(sess, str(tmp_path / "m"))
    with tf.Graph().as_default(), v1.Session() as other:
        v = v1.get_variable("v", [3, 2])
        v1.train.Saver(reshape=True).restore(other, path)
        assert other.run(v).tolist() == [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]
    with tf.Graph().as_default(), v1.Session() as other:
        v1.get_variable("v", [3, 3])
        with pytest.raises(tf.errors.InvalidArgumentError):
            v1.train.Saver(reshape=True).restore(other, path)
    with tf.Graph().as_default(), v1.Session() as other:
        v1.get_variable("v", [2, 3], tf.float64)
        with pytest.raises(tf.errors.InvalidArgumentError):
            v1.train.Saver().restore(other, path)


def test_there_is_nothing_to_restore(sess, tmp_path):
    initialize(sess, v=1.0)
    saver = v1.train.Saver()
    with pytest.raises(ValueError, match="Can't load save_path when it is None"):
        saver.restore(sess, None)
    with pytest.raises(ValueError, match=r"The passed save_path is not a valid checkpoint: .*none"):
        saver.restore(sess, str(tmp_path / "none"))


def test_variables_of_eager_programs(tmp_path):
    v, w = tf.Variable([1.0, 2.0], name="v"), tf.Variable(3, name="w")
    saver = v1.train.Saver([v, w])
    path = saver.save(None, str(tmp_path / "m"), global_step=tf.Variable(9))
    assert path == str(tmp_path / "m-9") and not list(tmp_path.glob("*.meta"))
    v.assign([0.0, 0.0])
    w.assign(0)
    saver.restore(None, path)
    assert v.numpy().tolist() == [1.0, 2.0] and w.numpy() == 3


def test_checkpoints_of_objects_are_restored_by_names(tmp_path):
    v, w = tf.Variable([1.0, 2.0], name="v"), tf.Variable(3.0, name="w")
    path = tf.train.Checkpoint(a=v, b=w).write(str(tmp_path / "objects"))
    with tf.Graph().as_default(), v1.Session() as sess:
        v, w = v1.get_variable("v", [2]), v1.get_variable("w", [])
        v1.train.Saver().restore(sess, path)
        assert sess.run(v).tolist() == [1.0, 2.0] and sess.run(w) == 3.0


# ---- states of folders -----------------------------------------------------------------------------------------------


def test_messages_of_states():
    state = v1.train.generate_checkpoint_state_proto("models", "models/m-2", ["models/m-1"])
    assert state.model_checkpoint_path == "m-2" and state.all_model_checkpoint_paths == ["m-1", "m-2"]
    state = v1.train.generate_checkpoint_state_proto(
        "/models", "/models/m-2", ["/models/m-1", "/models/m-2"], [1.0, 2.0], 0.5
    )
    assert state.model_checkpoint_path == "/models/m-2"
    assert state.all_model_checkpoint_paths == ["/models/m-1", "/models/m-2"]
    assert state.all_model_checkpoint_timestamps == [1.0, 2.0] and state.last_preserved_timestamp == 0.5
    for paths, times in (([], [1.0, 2.0]), (["/models/m-1"], [1.0])):
        with pytest.raises(ValueError, match="must match checkpoint paths"):
            v1.train.generate_checkpoint_state_proto("/models", "/models/m-2", paths, times)
    mixed = v1.train.generate_checkpoint_state_proto("models", "/else/m")
    assert mixed.all_model_checkpoint_paths == ["/else/m"]


def test_states_in_files(tmp_path):
    folder = str(tmp_path)
    v1.train.update_checkpoint_state(
        folder, f"{folder}/m-2", [f"{folder}/m-1", f"{folder}/m-2"], "newest", [1.0, 2.0], 0.5
    )
    state = v1.train.get_checkpoint_state(folder, "newest")
    assert state.all_model_checkpoint_timestamps == [1.0, 2.0] and state.last_preserved_timestamp == 0.5
    assert state.all_model_checkpoint_paths == [f"{folder}/m-1", f"{folder}/m-2"]
    assert v1.train.get_checkpoint_state(folder) is None


# ---- initial values --------------------------------------------------------------------------------------------------


def save_two(sess, folder):
    """Saves `a/v` and `a/w`."""
    initialize(sess, **{"a/v": [1.0, 2.0], "a/w": [3.0]})
    return v1.train.Saver().save(sess, str(folder / "m"))


@pytest.mark.parametrize(
    ("assignment", "v", "w"),
    [
        ({"a/": "b/"}, [1.0, 2.0], [3.0]),
        ({"a/v": "b/v"}, [1.0, 2.0], [0.0]),
        ({"a/w": "b/w", "a/v": "b/v"}, [1.0, 2.0], [3.0]),
    ],
)
def test_initial_values_by_names(sess, tmp_path, assignment, v, w):
    path = save_two(sess, tmp_path)
    with tf.Graph().as_default(), v1.Session() as other:
        zeros = v1.zeros_initializer()
        variables = [v1.get_variable(name, shape, initializer=zeros) for name, shape in (("b/v", [2]), ("b/w", [1]))]
        v1.train.init_from_checkpoint(path, assignment)
        other.run(v1.global_variables_initializer())
        assert [x.tolist() for x in other.run(variables)] == [v, w]


def test_initial_values_of_everything_and_a_folder(sess, tmp_path):
    save_two(sess, tmp_path)
    with tf.Graph().as_default(), v1.Session() as other:
        variables = [v1.get_variable("a/v", [2]), v1.get_variable("a/w", [1])]
        v1.train.init_from_checkpoint(str(tmp_path), {"/": "/"})
        other.run(v1.global_variables_initializer())
        assert [x.tolist() for x in other.run(variables)] == [[1.0, 2.0], [3.0]]


def test_initial_values_that_are_not_there(sess, tmp_path):
    path = save_two(sess, tmp_path)
    with tf.Graph().as_default():
        v = v1.get_variable("v", [3])
        with pytest.raises(ValueError, match=r"Shape of variable v:0 .*doesn't match with shape of tensor a/v"):
            v1.train.init_from_checkpoint(path, {"a/v": v})
        with pytest.raises(ValueError):
            v1.train.init_from_checkpoint(path, {"a/v": "nowhere"})
        with pytest.raises(ValueError):
            v1.train.init_from_checkpoint(path, {"nothing": v})
