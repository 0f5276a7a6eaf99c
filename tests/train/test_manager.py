"""Checkpoint managers: which checkpoints they keep, when they save, and how they go on in another process."""

import pathlib

import pytest

import tapeflow as tf


@pytest.fixture
def checkpoint():
    return tf.train.Checkpoint(v=tf.Variable(1.0))


def names(paths):
    return [pathlib.Path(path).name for path in paths]


def existing(folder):
    return sorted(path.stem for path in folder.glob("*.index"))


@pytest.mark.parametrize(("most", "kept"), [(1, ["c-3"]), (2, ["c-2", "c-3"]), (None, ["c-1", "c-2", "c-3"])])
def test_the_newest_are_kept(checkpoint, tmp_path, most, kept):
    manager = tf.train.CheckpointManager(checkpoint, str(tmp_path), most, checkpoint_name="c")
    assert manager.latest_checkpoint is None
    assert manager.checkpoints == []
    for number in range(1, 4):
        assert manager.save() == str(tmp_path / f"c-{number}") == manager.latest_checkpoint
    assert names(manager.checkpoints) == kept == existing(tmp_path)
    assert manager.directory == str(tmp_path)
    assert manager.checkpoint is checkpoint
    state = tf.train.get_checkpoint_state(str(tmp_path))
    assert names(state.all_model_checkpoint_paths) == kept
    assert names([state.model_checkpoint_path]) == ["c-3"]
    assert len(state.all_model_checkpoint_timestamps) == len(kept)
    assert state.last_preserved_timestamp > 1e9


@pytest.mark.parametrize("most", [0, -1])
def test_numbers_that_are_none(checkpoint, tmp_path, most):
    with pytest.raises(ValueError, match="Expected a positive integer or `None` for `max_to_keep`"):
        tf.train.CheckpointManager(checkpoint, str(tmp_path), most)
    with pytest.raises(ValueError, match="`step_counter` should be passed if `checkpoint_interval` is not None"):
        tf.train.CheckpointManager(checkpoint, str(tmp_path), 1, checkpoint_interval=2)


def test_some_are_kept_for_ever(checkpoint, tmp_path):
    manager = tf.train.CheckpointManager(checkpoint, str(tmp_path), 1, keep_checkpoint_every_n_hours=1e-9)
    for _ in range(3):
        manager.save()
    assert names(manager.checkpoints) == ["ckpt-3"]
    assert existing(tmp_path) == ["ckpt-1", "ckpt-2", "ckpt-3"]
    never = tmp_path / "never"
    manager = tf.train.CheckpointManager(checkpoint, str(never), 1, keep_checkpoint_every_n_hours=1.0)
    for _ in range(2):
        manager.save()
    assert len(existing(never)) == 1


def test_intervals_of_steps(checkpoint, tmp_path):
    step = tf.Variable(0, dtype=tf.int64)
    manager = tf.train.CheckpointManager(checkpoint, str(tmp_path), 5, step_counter=step, checkpoint_interval=3)
    assert manager.checkpoint_interval == 3
    saved = []
    for number in range(8):
        step.assign(number)
        saved.append(manager.save() is not None)
    assert saved == [True, False, False, True, False, False, True, False]
    assert manager.save(check_interval=False) is not None
    step.assign(20)
    assert names([manager.save(checkpoint_number=42)]) == ["ckpt-42"]


def test_another_process_goes_on(checkpoint, tmp_path):
    first = tf.train.CheckpointManager(checkpoint, str(tmp_path), 2)
    for _ in range(2):
        first.save()
    second = tf.train.CheckpointManager(checkpoint, str(tmp_path), 2)
    assert second.checkpoints == first.checkpoints
    assert second.latest_checkpoint == first.latest_checkpoint
    second.save()
    assert names(second.checkpoints) == ["ckpt-2", "ckpt-3"] == existing(tmp_path)


def test_states_without_times(checkpoint, tmp_path):
    paths = [checkpoint.save(str(tmp_path / "c")) for _ in range(2)]
    state = tf.compat.v1.train
    state.update_checkpoint_state(str(tmp_path), paths[1], paths)
    manager = tf.train.CheckpointManager(checkpoint, str(tmp_path), 2)
    assert manager.checkpoints == paths
    manager.save()
    assert existing(tmp_path) == ["c-2", "ckpt-3"]


def test_checkpoints_that_are_gone(checkpoint, tmp_path):
    first = tf.train.CheckpointManager(checkpoint, str(tmp_path), 3)
    paths = [first.save() for _ in range(3)]
    for path in tmp_path.glob("ckpt-2*"):
        path.unlink()
    second = tf.train.CheckpointManager(checkpoint, str(tmp_path), 2)
    second.save()
    assert set(existing(tmp_path)) == {"ckpt-3", "ckpt-4"}
    assert paths[1] not in second.checkpoints


def test_restoring_or_initializing(checkpoint, tmp_path):
    called = []
    manager = tf.train.CheckpointManager(checkpoint, str(tmp_path), 2, init_fn=lambda: called.append(1))
    assert manager.restore_or_initialize() is None
    assert called == [1]
    plain = tf.train.CheckpointManager(checkpoint, str(tmp_path), 2)
    assert plain.restore_or_initialize() is None
    path = manager.save()
    checkpoint.v.assign(9.0)
    assert manager.restore_or_initialize() == path
    assert called == [1]
    assert checkpoint.v.numpy() == 1.0


def test_options_reach_the_checkpoint(checkpoint, tmp_path):
    seen = []
    options = tf.train.CheckpointOptions(experimental_write_callbacks=[seen.append, lambda: seen.append("none")])
    path = tf.train.CheckpointManager(checkpoint, str(tmp_path), 2).save(options=options)
    assert seen == [path, "none"]
    with pytest.raises((TypeError, AssertionError)):
        checkpoint.write(
            str(tmp_path / "w"), tf.train.CheckpointOptions(experimental_write_callbacks=[lambda a, b: None])
        )
