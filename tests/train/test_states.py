"""The file that names the checkpoints of a folder."""

import pytest

import tapeflow as tf

train = tf.train


def test_states_that_are_not_there(tmp_path):
    assert train.get_checkpoint_state(str(tmp_path)) is None
    assert train.latest_checkpoint(str(tmp_path)) is None
    assert train.get_checkpoint_state(str(tmp_path / "no")) is None
    (tmp_path / "checkpoint").write_text("")
    assert train.get_checkpoint_state(str(tmp_path)) is None
    (tmp_path / "checkpoint").write_text("no: message {")
    assert train.get_checkpoint_state(str(tmp_path)) is None
    (tmp_path / "checkpoint").write_text('model_checkpoint_path: "gone"\n')
    assert train.latest_checkpoint(str(tmp_path)) is None
    assert train.get_checkpoint_state(str(tmp_path)).model_checkpoint_path == str(tmp_path / "gone")


def test_paths_are_relative_to_the_folder(tmp_path):
    (tmp_path / "mine").write_text(
        'model_checkpoint_path: "b"\nall_model_checkpoint_paths: "/abs/a"\nall_model_checkpoint_paths: "b"\n'
    )
    state = train.get_checkpoint_state(str(tmp_path), "mine")
    assert state.model_checkpoint_path == str(tmp_path / "b")
    assert list(state.all_model_checkpoint_paths) == ["/abs/a", str(tmp_path / "b")]
    assert train.get_checkpoint_state(str(tmp_path)) is None


def test_folders_can_be_moved(tmp_path):
    checkpoint = train.Checkpoint(v=tf.Variable(3.0))
    checkpoint.save(str(tmp_path / "a" / "c"))
    (tmp_path / "a").rename(tmp_path / "b")
    assert train.latest_checkpoint(str(tmp_path / "b")) == str(tmp_path / "b" / "c-1")
    with pytest.raises(TypeError):
        train.latest_checkpoint(3)


def test_each_checkpoint_once(tmp_path):
    checkpoint = train.Checkpoint(v=tf.Variable(3.0))
    calls = []

    def ended():
        calls.append(1)
        if len(calls) == 1:
            checkpoint.save(str(tmp_path / "c"))
        return len(calls) == 2

    checkpoint.save(str(tmp_path / "c"))
    found = list(train.checkpoints_iterator(str(tmp_path), timeout=0, timeout_fn=ended))
    assert [path.rpartition("-")[2] for path in found] == ["1", "2"]
    assert len(calls) == 2
    assert list(train.checkpoints_iterator(str(tmp_path / "none"), timeout=0)) == []
    assert list(train.checkpoints_iterator(str(tmp_path), timeout=0.0)) == [str(tmp_path / "c-2")]
