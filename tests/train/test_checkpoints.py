"""Checkpoints: what TensorFlow wrote is restored, what is saved is restored, and nothing is half saved."""

import collections
import os
import pathlib
import runpy
import shutil
import subprocess
import sys
import types
import weakref

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.train import bundle as bundles
from tapeflow.train import manager as managers
from tapeflow.train.bundle import Bundle

ROOT = pathlib.Path(__file__).parents[2]
GOLDEN = ROOT / "tests" / "fixtures" / "checkpoints"
SCRIPT = ROOT / "scripts" / "record.py"
_script = runpy.run_path(str(ROOT / "scripts" / "recording" / "checkpoints.py"))
make_model, values = _script["model"], _script["values"]


@pytest.fixture
def prefix(tmp_path):
    return str(tmp_path / "ckpt")


# ---- TensorFlow's files ----------------------------------------------------------------------------------------------


def test_restores_what_tensorflow_wrote():
    model, z = make_model(tf, 0), tf.Variable(0)
    checkpoint = tf.train.Checkpoint(model=model, z=z)
    checkpoint.restore(str(GOLDEN / "objects-1")).assert_consumed()
    assert values(model) == values(make_model(tf, 1))
    assert (z.numpy(), checkpoint.save_counter.numpy()) == (9, 1)


def test_writes_what_tensorflow_writes(prefix):
    path = tf.train.Checkpoint(model=make_model(tf, 1), z=tf.Variable(9, name="zz")).save(prefix)
    ours, theirs = Bundle(path), Bundle(str(GOLDEN / "objects-1"))
    assert set(ours.entries) == set(theirs.entries)
    from tensorboard.compat.proto.trackable_object_graph_pb2 import TrackableObjectGraph

    for key, entry in theirs.entries.items():
        if key == "_CHECKPOINTABLE_OBJECT_GRAPH":
            graphs = [TrackableObjectGraph.FromString(b.read(key).numpy()) for b in (ours, theirs)]
            assert graphs[0] == graphs[1]
        else:
            mine = ours.entries[key]
            assert (mine.dtype, mine.shape, mine.size, mine.crc32c) == (
                entry.dtype,
                entry.shape,
                entry.size,
                entry.crc32c,
            ), key


def test_the_index_is_byte_for_byte_tensorflows():
    from tapeflow.train.table import read_table, table_bytes

    for path in GOLDEN.glob("*.index"):
        data = path.read_bytes()
        assert table_bytes(read_table(data).items()) == data, path.name


def test_variables_by_their_names():
    assert tf.train.list_variables(str(GOLDEN / "names")) == [("plain", [3]), ("s/a", [200, 2])]
    pieces = tf.train.load_variable(str(GOLDEN / "names"), "s/a")
    np.testing.assert_array_equal(
        pieces[[0, 66, 67, 133, 134, 199]], np.repeat([0, 1, 2], 2)[:, None] * np.ones([1, 2])
    )
    plain = tf.Variable([0, 0, 0], name="plain")
    status = tf.train.Checkpoint(plain).restore(str(GOLDEN / "names"))
    assert plain.numpy().tolist() == [1, 2, 3]
    assert status.assert_consumed() is status  # the checkpoint may have more


def test_slot_variables_of_an_optimizer():
    class Optimizer(tf.Module):
        def _create_or_restore_slot_variable(self, slot_variable_position, slot_name, variable):
            slot = tf.Variable(tf.zeros_like(variable))
            slot_variable_position.restore(slot)
            self.slots[slot_name] = slot.numpy().tolist()

    optimizer, v = Optimizer(), tf.Variable([0.0, 0.0])
    optimizer.slots = {}
    tf.train.Checkpoint(optimizer=optimizer, v=v).read(str(GOLDEN / "slots")).expect_partial()
    np.testing.assert_allclose(optimizer.slots["m"], [0.1, 0.1], rtol=1e-5)
    np.testing.assert_allclose(optimizer.slots["v"], [0.001, 0.001], rtol=1e-4)


V1 = tf.compat.v1.train
OLDER = {
    "Adam": lambda: V1.AdamOptimizer(0.1),
    "Momentum": lambda: V1.MomentumOptimizer(0.1, 0.9),
    "RMSProp": lambda: V1.RMSPropOptimizer(0.01, momentum=0.5, centered=True),
    "Ftrl": lambda: V1.FtrlOptimizer(0.1),
}


def _train(optimizer, v, target):
    losses = []
    for _ in range(3):
        losses.append(float(tf.reduce_sum((v - target) ** 2)))
        optimizer.minimize(lambda: tf.reduce_sum((v - target) ** 2), var_list=[v])
    return losses


@pytest.mark.parametrize("name", OLDER)
def test_older_optimizers_train_on(prefix, name):
    optimizer, v = OLDER[name](), tf.Variable([1.0, 2.0])
    _train(optimizer, v, 5.0)
    tf.train.Checkpoint(optimizer=optimizer, v=v).write(prefix)
    expected = _train(optimizer, v, 5.0)

    optimizer, v = OLDER[name](), tf.Variable([0.0, 0.0])  # which creates its slots when it is restored
    status = tf.train.Checkpoint(optimizer=optimizer, v=v).read(prefix)
    assert _train(optimizer, v, 5.0) == expected
    status.assert_consumed()

    _train(optimizer, v, -5.0)  # and now it has them
    tf.train.Checkpoint(optimizer=optimizer, v=v).read(prefix).assert_consumed()
    assert _train(optimizer, v, 5.0) == expected


def test_slots_of_what_is_set_later(prefix):
    optimizer, v = OLDER["Adam"](), tf.Variable([1.0, 2.0])
    _train(optimizer, v, 5.0)
    tf.train.Checkpoint(model=tf.train.Checkpoint(v=v), optimizer=optimizer).write(prefix)
    expected = _train(optimizer, v, 5.0)
    model, optimizer = tf.Module(), OLDER["Adam"]()
    status = tf.train.Checkpoint(model=model, optimizer=optimizer).read(prefix)
    with pytest.raises(AssertionError, match="Unresolved"):
        status.assert_consumed()
    model.v = tf.Variable([0.0, 0.0])
    assert _train(optimizer, model.v, 5.0) == expected
    status.assert_consumed()


def test_slots_that_a_checkpoint_lacks(prefix):
    v = tf.Variable([1.0, 2.0])
    tf.train.Checkpoint(optimizer=OLDER["Momentum"](), v=v).write(prefix)
    optimizer = OLDER["Momentum"]()
    _train(optimizer, v, 5.0)
    status = tf.train.Checkpoint(optimizer=optimizer, v=v).read(prefix)
    with pytest.raises(AssertionError, match="not bound to checkpointed values"):
        status.assert_existing_objects_matched()


def test_slots_of_tensorflows_adam():
    optimizer, v = OLDER["Adam"](), tf.Variable([0.0, 0.0])
    tf.train.Checkpoint(optimizer=optimizer, v=v).read(str(GOLDEN / "slots")).expect_partial()
    np.testing.assert_allclose(optimizer.get_slot(v, "m"), [0.1, 0.1], rtol=1e-5)
    np.testing.assert_allclose(optimizer.get_slot(v, "v"), [0.001, 0.001], rtol=1e-4)


@pytest.mark.tensorflow
def test_tensorflow_restores_ours(prefix):
    checkpoint = tf.train.Checkpoint(model=make_model(tf, 1), z=tf.Variable(9))
    path = checkpoint.save(prefix)
    checkpoint.write(path)  # over itself
    subprocess.run([sys.executable, str(SCRIPT), "checkpoints", "check", path], check=True)


# ---- saving and restoring --------------------------------------------------------------------------------------------


def test_an_element_that_was_broadcast(prefix):
    v = tf.Variable(tf.broadcast_to(tf.constant(3.0), [1, 1]))
    w = tf.Variable(tf.broadcast_to(tf.constant([2.0]), [3]))
    tf.train.Checkpoint(v=v, w=w).write(prefix)
    v.assign([[0.0]])
    w.assign([0.0, 0.0, 0.0])
    tf.train.Checkpoint(v=v, w=w).read(prefix).assert_consumed()
    assert v.numpy().tolist() == [[3.0]]
    assert w.numpy().tolist() == [2.0, 2.0, 2.0]


def test_restores_into_what_is_made_later():
    model = tf.Module()
    status = tf.train.Checkpoint(model=model).restore(str(GOLDEN / "objects-1"))
    status.assert_existing_objects_matched().assert_nontrivial_match().expect_partial()
    model.a = tf.Variable([0.0, 0.0])
    model.l = []
    model.l.append(tf.Variable(0.0))
    model.d = {}
    model.d["q"] = tf.Variable(0.0)
    model.t = (tf.Variable(0.0),)
    assert model.a.numpy().tolist() == [1.0, 2.0]
    assert [v.numpy() for v in (model.l[0], model.d["q"], model.t[0])] == [3.0, 7.0, 5.0]
    with pytest.raises(AssertionError, match=r"Unresolved object in checkpoint \(root\)"):
        status.assert_consumed()


def test_a_later_restore_wins_over_a_deferred_one(prefix):
    paths = [tf.train.Checkpoint(m=tf.train.Checkpoint(v=tf.Variable(x))).write(f"{prefix}{x}") for x in (1.0, 2.0)]
    module = tf.Module()
    for path in paths:
        tf.train.Checkpoint(m=module).read(path).expect_partial()
    module.v = tf.Variable(0.0)
    assert module.v.numpy() == 2.0


def test_the_root_may_be_the_object_itself(prefix):
    model = tf.Module()
    model.v = tf.Variable(1.0)
    path = tf.train.Checkpoint(model, step=tf.Variable(5)).save(prefix)
    assert [n for n, _ in tf.train.list_variables(path)] == [
        "_CHECKPOINTABLE_OBJECT_GRAPH", "save_counter/.ATTRIBUTES/VARIABLE_VALUE", "step/.ATTRIBUTES/VARIABLE_VALUE",
        "v/.ATTRIBUTES/VARIABLE_VALUE",
    ]  # fmt: skip
    model.v.assign(0.0)
    step = tf.Variable(0)
    tf.train.Checkpoint(model, step=step).restore(path).assert_consumed()
    assert (model.v.numpy(), step.numpy()) == (1.0, 5)
    with pytest.raises(ValueError, match=r"root\.v already exists"):
        tf.train.Checkpoint(model, v=tf.Variable(1.0))


def test_assertions(prefix):
    path = tf.train.Checkpoint(v=tf.Variable(1.0)).write(prefix)
    with pytest.raises(AssertionError, match="Found 1 Python objects that were not bound"):
        tf.train.Checkpoint(v=tf.Variable(1.0), w=tf.Variable(1.0)).read(path).assert_consumed()
    with pytest.raises(AssertionError, match="Nothing except the root object matched"):
        tf.train.Checkpoint(w=tf.Variable(1.0)).read(path).expect_partial().assert_nontrivial_match()
    nothing = tf.train.Checkpoint(v=tf.Variable(1.0)).restore(None)
    nothing.initialize_or_restore()
    for name in ("assert_consumed", "assert_existing_objects_matched", "assert_nontrivial_match", "run_restore_ops"):
        with pytest.raises(AssertionError, match="nothing is being restored"):
            getattr(nothing, name)()


@pytest.mark.parametrize(
    ("value", "error", "match"),
    [([1.0, 2.0], tf.errors.InvalidArgumentError, "expected dtype float does not equal original dtype int32"),
     ([1, 2],
     ValueError, r"incompatible tensor with shape \(\) when attempting to restore variable with shape \(2,\)")],
)  # fmt: skip
def test_values_that_do_not_fit(value, error, match):
    with pytest.raises(error, match=match):
        tf.train.Checkpoint(z=tf.Variable(value)).restore(str(GOLDEN / "objects-1"))


def test_what_is_no_checkpoint(tmp_path):
    checkpoint = tf.train.Checkpoint(v=tf.Variable(1.0))
    with pytest.raises(tf.errors.NotFoundError, match="missing the checkpoint suffix"):
        checkpoint.restore(str(tmp_path / "none"))
    with pytest.raises(tf.errors.NotFoundError, match="Failed to find any matching files"):
        tf.train.load_checkpoint(str(tmp_path / "none"))
    with pytest.raises(ValueError, match="was expecting a to be a trackable object"):
        tf.train.Checkpoint(a=1)
    with pytest.raises(tf.errors.NotFoundError, match="Key nope not found"):
        tf.train.load_variable(str(GOLDEN / "root"), "nope")


def test_python_state(prefix):
    class Text(tf.train.experimental.PythonState):
        text = "hi"

        def serialize(self):
            return self.text

        def deserialize(self, string_value):
            self.text = string_value.decode()

    text = Text()
    path = tf.train.Checkpoint(s=text).write(prefix)
    text.text = ""
    tf.train.Checkpoint(s=text).read(path).assert_consumed()
    assert text.text == "hi"
    assert ("s/.ATTRIBUTES/py_state", []) in tf.train.list_variables(path)


# ---- lists and dicts -------------------------------------------------------------------------------------------------


def test_containers_are_still_lists_and_dicts():
    m = tf.Module()
    m.l, m.d = [1, [2]], {"a": [3]}
    m.o, m.f = collections.OrderedDict(x=1), collections.defaultdict(list)
    m.o["v"] = tf.Variable(1.0)
    assert isinstance(m.l, list)
    assert isinstance(m.d, dict)
    assert isinstance(m.o, collections.OrderedDict)
    assert type(m.f) is collections.defaultdict
    assert (type(m.l).__name__, type(m.d).__name__) == ("ListWrapper", "_DictWrapper")
    assert (m.l, m.d) == ([1, [2]], {"a": [3]})
    assert len(m.variables) == 1
    assert tf.nest.flatten([m.l, m.d]) == [1, 2, 3]


def _insert(m):
    m.l.insert(0, tf.Variable(1.0))


def _behind_its_back(m):
    m.original.append(tf.Variable(1.0))


def _number_as_a_key(m):
    m.d[1] = tf.Variable(1.0)


@pytest.mark.parametrize(
    ("change", "match"),
    [(_insert, "append-only"), (_behind_its_back, "modified outside the wrapper"),
    (_number_as_a_key, "non-string key")],
)  # fmt: skip
def test_containers_that_could_not_be_restored_are_refused(change, match, prefix):
    m = tf.Module()
    original = [tf.Variable(1.0)]
    m.l, m.d = original, {"a": tf.Variable(1.0)}
    object.__setattr__(m, "original", original)
    change(m)
    with pytest.raises(ValueError, match=match):
        tf.train.Checkpoint(m=m).write(prefix)


@pytest.mark.parametrize(
    "change",
    [lambda x: x.clear(), lambda x: x.reverse(), lambda x: x.pop(), lambda x: x.sort(), lambda x: x.insert(0, 3)],
    ids=["clear", "reverse", "pop", "sort", "insert"],
)
def test_lists_without_children_may_change(change, prefix):
    m = tf.Module()
    m.l, plain = [2, 1], [2, 1]
    change(m.l)
    change(plain)
    assert m.l == plain
    tf.train.Checkpoint(m=m).write(prefix)


def test_lists_can_be_repeated():
    m = tf.Module()
    m.l = [tf.Variable(1.0)]
    m.l *= 3
    assert type(m.l).__name__ == "ListWrapper"
    assert len(m.l) == 3
    m.l *= 0
    assert m.l == []


# ---- managers --------------------------------------------------------------------------------------------------------


def test_a_manager_keeps_the_last(tmp_path):
    checkpoint = tf.train.Checkpoint(v=tf.Variable(1.0))
    manager = tf.train.CheckpointManager(checkpoint, str(tmp_path), max_to_keep=2)
    assert [os.path.basename(manager.save()) for _ in range(3)] == ["ckpt-1", "ckpt-2", "ckpt-3"]
    assert sorted(os.listdir(tmp_path)) == [
        "checkpoint", "ckpt-2.data-00000-of-00001", "ckpt-2.index", "ckpt-3.data-00000-of-00001", "ckpt-3.index",
    ]  # fmt: skip
    assert manager.latest_checkpoint == tf.train.latest_checkpoint(tmp_path) == str(tmp_path / "ckpt-3")
    state = tf.train.get_checkpoint_state(tmp_path)
    assert list(state.all_model_checkpoint_paths) == manager.checkpoints
    assert (
        (tmp_path / "checkpoint")
        .read_text()
        .startswith(
            'model_checkpoint_path: "ckpt-3"\nall_model_checkpoint_paths: "ckpt-2"\n'
            'all_model_checkpoint_paths: "ckpt-3"\n'
            "all_model_checkpoint_timestamps: "
        )
    )
    again = tf.train.CheckpointManager(checkpoint, str(tmp_path), max_to_keep=1)
    assert again.restore_or_initialize() == str(tmp_path / "ckpt-3")
    again.save()
    assert sorted(os.listdir(tmp_path)) == ["checkpoint", "ckpt-4.data-00000-of-00001", "ckpt-4.index"]


def test_a_manager_waits_for_its_interval(tmp_path):
    step, begun = tf.Variable(0), []
    manager = tf.train.CheckpointManager(
        tf.train.Checkpoint(step=step), str(tmp_path), max_to_keep=None, checkpoint_name="nm", step_counter=step,
        checkpoint_interval=3, init_fn=lambda: begun.append(1),
    )  # fmt: skip
    assert manager.restore_or_initialize() is None
    assert begun == [1]
    saved = []
    for _ in range(7):
        saved.append(manager.save() is not None)
        step.assign_add(1)
    assert saved == [True, False, False, True, False, False, True]
    assert manager.save(check_interval=False) is not None
    with pytest.raises(ValueError, match="`step_counter` should be passed"):
        tf.train.CheckpointManager(tf.train.Checkpoint(), str(tmp_path), 1, checkpoint_interval=1)
    with pytest.raises(ValueError, match="got 0"):
        tf.train.CheckpointManager(tf.train.Checkpoint(), str(tmp_path), 0)


def test_a_manager_goes_on_from_the_restored_step(tmp_path):
    def manager(step):
        checkpoint = tf.train.Checkpoint(step=step)
        return tf.train.CheckpointManager(checkpoint, str(tmp_path), 2, step_counter=step, checkpoint_interval=3)

    manager(tf.Variable(5)).save()
    step = tf.Variable(0)
    again = manager(step)
    assert again.restore_or_initialize() == str(tmp_path / "ckpt-1")
    assert step.numpy() == 5
    assert again.save() is None
    assert again.save(check_interval=False) is None
    step.assign(7)
    assert again.save() is None
    step.assign(8)
    assert again.save() == str(tmp_path / "ckpt-2")
    assert (again.directory, again.checkpoint_interval) == (str(tmp_path), 3)
    assert again.checkpoint.step is step


def test_a_manager_keeps_one_for_some_hours(tmp_path, monkeypatch):
    clock = types.SimpleNamespace(now=1000.0, time=lambda: clock.now)
    monkeypatch.setattr(managers, "time", clock)

    def save_at(manager, *hours):
        for hour in hours:
            clock.now = 1000.0 + 3600 * hour
            manager.save()
        return sorted(path.stem for path in tmp_path.glob("*.index"))

    def manager():
        return tf.train.CheckpointManager(tf.train.Checkpoint(v=v), str(tmp_path), 1, keep_checkpoint_every_n_hours=2)

    v = tf.Variable(1.0)
    assert save_at(manager(), 1, 1.9, 2, 3) == ["ckpt-3", "ckpt-4"]  # the third is 2 hours younger than the manager
    assert tf.train.get_checkpoint_state(tmp_path).last_preserved_timestamp == 1000.0 + 3600 * 2
    again = manager()
    again.restore_or_initialize()
    assert again.checkpoints == [str(tmp_path / "ckpt-4")]
    assert save_at(again, 3.9, 4.1, 5) == ["ckpt-3", "ckpt-6", "ckpt-7"]


# ---- damage ----------------------------------------------------------------------------------------------------------

REFUSED = (
    tf.errors.DataLossError,
    tf.errors.NotFoundError,
    tf.errors.InvalidArgumentError,
    tf.errors.UnimplementedError,
)


def _read_all(prefix):
    bundle = Bundle(prefix)
    return {key: bundle.read(key).numpy() for key in bundle.entries}


@pytest.mark.parametrize("name", ["root", "slots"])
@pytest.mark.parametrize("part", ["index", "data-00000-of-00001"])
def test_every_flipped_bit_and_every_cut_is_found(name, part, tmp_path):
    for suffix in ("index", "data-00000-of-00001"):
        shutil.copy(GOLDEN / f"{name}.{suffix}", tmp_path / f"x.{suffix}")
    target, prefix = tmp_path / f"x.{part}", str(tmp_path / "x")
    good = target.read_bytes()
    whole = _read_all(prefix)
    for i in range(len(good)):
        damaged = bytearray(good)
        damaged[i] ^= 1 << i % 8
        target.write_bytes(damaged)
        try:
            found = _read_all(prefix)
        except REFUSED:
            continue
        # The footer has bytes that mean nothing, and the block that the metaindex names is never read.
        assert part == "index" and all(np.array_equal(found[k], v) for k, v in whole.items()), i
    for length in range(len(good)):
        target.write_bytes(good[:length])
        with pytest.raises(REFUSED):
            _read_all(prefix)


def test_damage_is_named(tmp_path):
    shutil.copy(GOLDEN / "root.index", tmp_path / "x.index")
    with pytest.raises(tf.errors.NotFoundError, match=r"x\.data-00000-of-00001.*OBJECT_GRAPH"):
        tf.train.Checkpoint(tf.Variable(1.0)).read(str(tmp_path / "x"))
    data = bytearray((GOLDEN / "root.data-00000-of-00001").read_bytes())
    data[0] ^= 1
    (tmp_path / "x.data-00000-of-00001").write_bytes(data)
    variable = tf.Variable(5.0)
    with pytest.raises(tf.errors.DataLossError, match=r"x\.data-00000-of-00001, entry '/\.ATTRIBUTES/VARIABLE_VALUE'"):
        tf.train.Checkpoint(variable).read(str(tmp_path / "x"))
    assert variable.numpy() == 5.0


@pytest.mark.parametrize(
    ("field", "value"),
    [("size", 1 << 60), ("offset", 1 << 62), ("offset", -5), ("shard_id", 3), ("dtype", 99), ("dims", [1 << 40]),
     ("dims", [-1]), ("dims", [1 << 62, 1 << 62])],
)  # fmt: skip
def test_an_index_that_lies(field, value, prefix):
    from tapeflow.train.table import read_table, table_bytes

    tf.train.Checkpoint(tf.Variable([1.0])).write(prefix)
    index = pathlib.Path(f"{prefix}.index")
    table = read_table(index.read_bytes())
    key = b"/.ATTRIBUTES/VARIABLE_VALUE"
    entry = bundles.BundleEntryProto.FromString(table[key])
    if field == "dims":
        del entry.shape.dim[:]
        for size in value:
            entry.shape.dim.add(size=size)
    else:
        setattr(entry, field, value)
    table[key] = entry.SerializeToString()
    index.write_bytes(table_bytes(table.items()))
    with pytest.raises(tf.errors.DataLossError, match="VARIABLE_VALUE"):
        tf.train.Checkpoint(tf.Variable([1.0])).read(prefix)


class Killed(BaseException):
    pass


def test_a_kill_at_any_moment_leaves_a_whole_checkpoint(tmp_path, monkeypatch):
    """Every call that changes the directory is, in turn, the last one."""
    v = tf.Variable(np.zeros(10, np.float32))
    checkpoint, calls = tf.train.Checkpoint(v=v), [0]

    def counted(function):
        def call(*args, **kwargs):
            calls[0] -= 1
            if calls[0] == 0:
                raise Killed
            if calls[0] < 0:
                raise OSError("the process is gone")  # nothing tidies up after a kill
            return function(*args, **kwargs)

        return call

    for overwritten in (True, False):
        for moment in range(1, 30):
            directory = tmp_path / f"{overwritten}{moment}"
            directory.mkdir()
            prefix = str(directory / "x")
            v.assign(tf.zeros([10]))
            if overwritten:
                checkpoint.write(prefix)
            v.assign(tf.ones([10]))
            calls[0] = moment
            with monkeypatch.context() as patch:
                for name in ("replace", "link", "remove", "fsync"):
                    patch.setattr(os, name, counted(getattr(os, name)))
                try:
                    checkpoint.write(prefix)
                    done = True
                except (Killed, OSError):
                    done = False
            if overwritten or os.path.exists(f"{prefix}.index"):
                left = tf.train.load_variable(prefix, "v/.ATTRIBUTES/VARIABLE_VALUE")
                assert left.tolist() in ([0.0] * 10, [1.0] * 10)
                assert not done or left[0] == 1.0
            if done:
                assert sorted(os.listdir(directory)) == ["x.data-00000-of-00001", "x.index"]
                break
        else:
            raise AssertionError("it never came to an end")


# ---- formats ---------------------------------------------------------------------------------------------------------


def test_snappy():
    from tapeflow.train.snappy import decompress

    assert decompress(b"\x0b\x28hello world") == b"hello world"
    assert decompress(b"\x0a\x00a\x22\x01\x00") == b"a" * 10
    for damaged in (b"", b"\x05\x00a", b"\xff\xff\xff\xff\x0f\x00a", b"\x04\x00a\x0a\x09\x00", b"\x02\x05"):
        with pytest.raises(ValueError, match=r"Snappy|length"):
            decompress(damaged)


def test_a_table_of_many_blocks():
    from tapeflow.train.table import read_table, table_bytes

    entries = {f"key{i:06d}".encode(): os.urandom(3) * (i % 90) for i in range(8000)}
    assert read_table(table_bytes(entries.items())) == entries


def test_examples():
    example = tf.train.Example(
        features=tf.train.Features(feature={"a": tf.train.Feature(int64_list=tf.train.Int64List(value=[1, 2]))})
    )
    assert example.SerializeToString() == b"\n\r\n\x0b\n\x01a\x12\x06\x1a\x04\n\x02\x01\x02"
    assert tf.train.Example.FromString(example.SerializeToString()).features.feature["a"].int64_list.value == [1, 2]
    assert example.features.feature["a"].WhichOneof("kind") == "int64_list"


# ---- coordinators ----------------------------------------------------------------------------------------------------


def test_a_coordinator_stops_all_threads_and_tells_the_first_error():
    import threading

    coordinator = tf.train.Coordinator()

    def fail():
        with coordinator.stop_on_exception():
            raise KeyError("broken")

    threads = [threading.Thread(target=coordinator.wait_for_stop), threading.Thread(target=fail)]
    for thread in threads:
        thread.start()
    with pytest.raises(KeyError, match="broken"):
        coordinator.join(threads)
    assert coordinator.joined
    assert coordinator.should_stop()
    coordinator.clear_stop()
    coordinator.request_stop(tf.errors.OutOfRangeError(None, None, "the end"))
    coordinator.join([])


def test_a_root_may_be_held_weakly(tmp_path):
    module = tf.Module()
    module.v = tf.Variable(1.0)
    path = tf.train.Checkpoint(root=weakref.ref(module)).save(str(tmp_path / "ckpt"))
    module.v.assign(2.0)
    tf.train.Checkpoint(module).restore(path).assert_consumed()
    assert module.v.numpy() == 1.0
