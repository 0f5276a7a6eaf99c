"""`tf.train` beside the files of checkpoints: saving in the background and in functions, averages, views, clusters."""

import random
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.train import checkpoint as checkpoint_module

ASYNC = tf.train.CheckpointOptions(enable_async=True)


# ---- in the background -----------------------------------------------------------------------------------------------


@pytest.fixture
def held_back(monkeypatch):
    """Writing that waits for an event."""
    go, write = threading.Event(), checkpoint_module.write_bundle

    def wait_and_write(*args):
        assert go.wait(30)
        write(*args)

    monkeypatch.setattr(checkpoint_module, "write_bundle", wait_and_write)
    return go


def test_a_save_in_the_background_takes_the_values_of_when_it_was_asked_for(tmp_path, held_back):
    v = tf.Variable(tf.zeros([100_000]))
    checkpoint = tf.train.Checkpoint(v=v)
    path = checkpoint.save(tmp_path / "ckpt", options=ASYNC)
    assert path.endswith("ckpt-1") and tf.train.latest_checkpoint(tmp_path) is None
    for _ in range(3):
        v.assign_add(tf.ones([100_000]))
    held_back.set()
    checkpoint.sync()
    assert tf.train.latest_checkpoint(tmp_path) == path
    checkpoint.restore(path).assert_consumed()
    np.testing.assert_array_equal(v, np.zeros(100_000))


def test_a_manager_in_the_background_keeps_the_last(tmp_path, held_back):
    checkpoint = tf.train.Checkpoint(v=tf.Variable(1.0))
    manager = tf.train.CheckpointManager(checkpoint, tmp_path, max_to_keep=2)
    assert manager.save(options=ASYNC) and manager.latest_checkpoint is None
    held_back.set()
    paths = [manager.save(options=ASYNC) for _ in range(3)]
    manager.sync()
    assert manager.checkpoints == paths[1:] and manager.latest_checkpoint == paths[-1]
    assert sorted(p.name for p in tmp_path.glob("*.index")) == ["ckpt-3.index", "ckpt-4.index"]


def test_what_fails_in_the_background_is_told_at_the_next_chance(tmp_path):
    (tmp_path / "taken").write_text("a file where a folder is asked for")
    checkpoint = tf.train.Checkpoint(v=tf.Variable(1.0))
    checkpoint.write(tmp_path / "taken" / "ckpt", options=ASYNC)
    with pytest.raises(tf.errors.FailedPreconditionError):
        checkpoint.sync()
    checkpoint.sync()
    assert checkpoint.write(tmp_path / "ckpt", options=ASYNC)
    checkpoint.read(tmp_path / "ckpt").assert_consumed()


# ---- in functions ----------------------------------------------------------------------------------------------------


def test_a_function_writes_each_time_it_runs(tmp_path):
    v = tf.Variable(0.0)
    checkpoint = tf.train.Checkpoint(v=v)

    @tf.function
    def step(path):
        v.assign_add(1.0)
        return checkpoint.write(path)

    for i in (1, 2):
        path = step(tf.constant(str(tmp_path / f"step{i}"))).numpy().decode()
        assert tf.train.load_variable(path, "v/.ATTRIBUTES/VARIABLE_VALUE") == i


def test_a_function_refuses_what_depends_on_files(tmp_path):
    checkpoint = tf.train.Checkpoint(v=tf.Variable(0.0))
    manager = tf.train.CheckpointManager(checkpoint, tmp_path, max_to_keep=1)
    path = checkpoint.write(tmp_path / "ckpt")
    calls = [manager.save, *(lambda f=f: f(path) for f in (checkpoint.save, checkpoint.read, checkpoint.restore))]
    for call in calls:
        with pytest.raises(NotImplementedError, match="from a function is not supported"):
            tf.function(call)()


# ---- damage ----------------------------------------------------------------------------------------------------------


def test_damaged_files_are_refused_by_name(tmp_path):
    """Random changes of whole pieces; single bits and cuts are in `test_checkpoints.py`."""
    module = tf.Module()
    module.a, module.s, module.l = tf.Variable(np.eye(3)), tf.Variable(["ab", "c"]), [tf.Variable(1), tf.Variable(True)]
    checkpoint = tf.train.Checkpoint(module=module)
    path = checkpoint.write(tmp_path / "ckpt")
    files = {file: file.read_bytes() for file in tmp_path.iterdir()}
    reader = tf.train.load_checkpoint(path)
    values = {name: reader.get_tensor(name) for name in reader.get_variable_to_shape_map()}
    draw = random.Random(0)
    refused = 0
    for _ in range(150):
        file = draw.choice(sorted(files))
        data = bytearray(files[file])
        start = draw.randrange(len(data))
        data[start : start + draw.randrange(16)] = draw.randbytes(draw.randrange(1, 16))
        file.write_bytes(data)
        try:
            reader = tf.train.load_checkpoint(path)
            found = {name: reader.get_tensor(name) for name in values}
        except (tf.errors.DataLossError, tf.errors.NotFoundError):
            refused += 1
        else:  # what was changed belongs to no value, such as bytes after the last one
            for name, value in values.items():
                np.testing.assert_array_equal(found[name], value)
        file.write_bytes(files[file])
    assert refused > 120


SAVES_FOR_EVER = """
import sys, tapeflow as tf
a, b = tf.Variable(tf.zeros([50_000])), tf.Variable(tf.zeros([50_000]))
manager = tf.train.CheckpointManager(tf.train.Checkpoint(a=a, b=b), sys.argv[1], max_to_keep=2)
while True:
    a.assign_add(tf.ones_like(a)); b.assign_add(tf.ones_like(b))
    print(manager.save(), flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_a_killed_process_leaves_a_whole_checkpoint(tmp_path):
    with subprocess.Popen([sys.executable, "-c", SAVES_FOR_EVER, str(tmp_path)], stdout=subprocess.PIPE) as process:
        said = [process.stdout.readline() for _ in range(5)]
        process.send_signal(signal.SIGKILL)
    assert said[-1].strip().endswith(b"ckpt-5")
    a, b = tf.Variable(tf.zeros([50_000])), tf.Variable(tf.zeros([50_000]))
    latest = tf.train.latest_checkpoint(tmp_path)
    tf.train.Checkpoint(a=a, b=b).restore(latest).expect_partial()
    step = int(latest.rpartition("-")[2])
    assert step >= 5
    np.testing.assert_array_equal(a, np.full(50_000, step))
    np.testing.assert_array_equal(b, a)


# ---- averages --------------------------------------------------------------------------------------------------------


def test_moving_averages():
    ema = tf.train.ExponentialMovingAverage(0.9)
    v = tf.Variable([1.0, 2.0], name="v")
    assert ema.average(v) is None and ema.average_name(v) == "v/ExponentialMovingAverage"
    ema.apply([v])
    v.assign([2.0, 4.0])
    ema.apply([v])
    np.testing.assert_allclose(ema.average(v), [1.1, 2.2], rtol=1e-6)
    ema.apply([v])
    np.testing.assert_allclose(ema.average(v), [1.19, 2.38], rtol=1e-6)
    assert ema.average(v).name == "v/ExponentialMovingAverage:0" and not ema.average(v).trainable
    assert list(ema.variables_to_restore()) == ["v/ExponentialMovingAverage"]
    with pytest.raises(TypeError, match="must be half, float, or double: n:0"):
        ema.apply([tf.Variable(3, name="n")])
    with pytest.raises(TypeError, match="takes variables"):
        ema.apply([tf.constant(1.0)])


@pytest.mark.parametrize(("updates", "expected"), [(0, 0.9), (5, 0.6), (100, 0.08181816)])
def test_moving_averages_are_faster_in_the_beginning(updates, expected):
    ema, v = tf.train.ExponentialMovingAverage(0.99, num_updates=tf.Variable(updates)), tf.Variable(0.0)
    ema.apply([v])
    v.assign(1.0)
    ema.apply([v])
    assert ema.average(v).numpy() == pytest.approx(expected, rel=1e-5)


def test_moving_averages_in_a_function():
    ema, v = tf.train.ExponentialMovingAverage(0.5), tf.Variable(1.0)

    @tf.function
    def step():
        v.assign_add(1.0)
        ema.apply([v])
        return ema.average(v).read_value()

    assert [float(step()) for _ in range(3)] == [1.5, 2.25, 3.125]


# ---- views -----------------------------------------------------------------------------------------------------------


def test_views(tmp_path):
    root = tf.train.Checkpoint(leaf=tf.Variable(1.0), m=tf.Module())
    root.m.v = tf.Variable(2)
    path = root.save(tmp_path / "ckpt")
    view = tf.train.TrackableView(root)
    assert list(tf.train.TrackableView.children(root)) == ["leaf", "m", "save_counter"]
    assert view.root is root and view.descendants() == [root, root.leaf, root.m, root.save_counter, root.m.v]

    saved = tf.train.CheckpointView(path)
    assert saved.children(0) == {"leaf": 1, "m": 2, "save_counter": 3} and saved.children(1) == {}
    assert saved.descendants() == [0, 1, 2, 3, 4]
    other = tf.train.Checkpoint(leaf=tf.Module(), q=tf.Variable(1))
    matched, nodes, objects = saved.diff(other)
    assert matched == {0: other, 1: other.leaf} == saved.match(other)
    assert nodes == [2, 3, 4] and objects == [other.q]
    with pytest.raises(ValueError, match="Expected a Trackable, got 3"):
        saved.match(3)
    with pytest.raises(tf.errors.NotFoundError):
        tf.train.CheckpointView(tmp_path / "none")


# ---- clusters --------------------------------------------------------------------------------------------------------


def test_a_view_enters_lists_that_objects_give_as_children():
    class Pair(tf.Module):
        def _trackable_children(self, save_type="checkpoint", **kwargs):
            return {"parts": [first, {"k": second}]}

    first, second = tf.Variable(1.0), tf.Variable(2.0)
    found = tf.train.TrackableView(Pair()).descendants()
    assert any(v is first for v in found) and any(v is second for v in found)


def test_clusters():
    cluster = tf.train.ClusterSpec({"worker": ["a:1", "b:2"], "ps": ["c:3"]})
    assert repr(cluster) == "ClusterSpec({'ps': ['c:3'], 'worker': ['a:1', 'b:2']})"
    assert (
        cluster.jobs == ["worker", "ps"]
        and cluster.num_tasks("worker") == 2
        and cluster.task_indices("worker") == [0, 1]
    )
    assert cluster == tf.train.ClusterSpec(cluster.as_cluster_def()) and cluster != tf.train.ClusterSpec({})
    sparse = tf.train.ClusterSpec({"worker": {3: "d", 1: "b"}})
    assert sparse.as_dict() == {"worker": {1: "b", 3: "d"}} and sparse.job_tasks("worker") == [None, "b", None, "d"]
    with pytest.raises(ValueError, match="No task with index 0 in job 'worker'"):
        sparse.task_address("worker", 0)
    with pytest.raises(ValueError, match="No such job in cluster: 'chief'"):
        cluster.num_tasks("chief")


@pytest.mark.parametrize(
    ("cluster", "message"),
    [
        (3, "`cluster` must be a dictionary"),
        ({"a": 3}, "tasks for job 'a' must be a list or a dictionary"),
        ({"a": [1]}, "Task address 1 must be bytes or unicode"),
        ({3: ["a"]}, "Job name 3 must be bytes or unicode"),
    ],
)
def test_no_clusters(cluster, message):
    with pytest.raises(TypeError, match=message):
        tf.train.ClusterSpec(cluster)
