"""Processes that are killed while they save, at every step: the last good state is always there."""

import itertools
import os
import re
import shutil
import threading

import numpy as np
import pytest

import tapeflow as tf
from support.kills import kills, survives
from support.saves import WAYS, checkpoint_write, leftovers
from tapeflow.io import atomic_replace
from tapeflow.train import bundle as bundles

_RENAMING = frozenset({"mkdir", "rmdir", "replace", "link", "remove"})

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork"),
    pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning"),
]


@pytest.fixture(autouse=True)
def _no_waiting_for_disks(monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)  # it is the process that is killed, not the machine


@pytest.mark.parametrize("name", WAYS)
def test_a_kill_at_any_step_loses_nothing(name, tmp_path):
    folder = tmp_path / "now"
    folder.mkdir()
    way = WAYS[name](str(folder), 10)
    way.save(1)
    way.save(2)
    states = 0
    for done in kills(lambda: way.save(3), folder):
        assert way.load() in ((3,) if done else (2, 3))
        states += 1
    assert states > 1
    survives(lambda: way.save(4), {"write"}, 1)
    way.save(5)
    assert way.load() == 5 and not leftovers(folder)


@pytest.mark.parametrize("links", [True, False])
def test_any_number_of_kills_loses_no_checkpoint(links, tmp_path, monkeypatch):
    """From every folder that kills can leave, a save is killed again, at every step."""
    if not links:
        monkeypatch.setattr(os, "link", _refuse)
    folder, copies = tmp_path / "now", tmp_path / "copies"
    folder.mkdir()
    way = checkpoint_write(str(folder), 10)
    way.save(1)
    number = 1
    kinds, to_do = set(), []

    def add():
        """Notes the present folder, unless there was one with the same files."""
        names = sorted(re.sub(r"[0-9a-f]{16}", "*", str(p.relative_to(folder))) for p in folder.rglob("*"))
        kind = (*names, bundles._count_of_shards(str(folder / "model.index")))
        if kind not in kinds:
            kinds.add(kind)
            to_do.append(shutil.copytree(folder, copies / str(len(kinds))))

    add()
    while to_do:
        shutil.rmtree(folder)
        shutil.copytree(to_do.pop(), folder)
        before, number = way.load(), number + 1
        for done in kills(lambda number=number: way.save(number), folder, _RENAMING):
            assert way.load() in ((number,) if done else (before, number))
            add()
            assert not done or (len(os.listdir(folder)) == 2 and (not links or not leftovers(folder)))
    assert len(kinds) > 5


def _refuse(*_args, **_kwargs):
    raise OSError("no links here")


def test_only_what_dead_writers_left_is_deleted(tmp_path):
    path = str(tmp_path / "model")
    write = tf.train.Checkpoint(v=tf.Variable(1.0)).write
    with atomic_replace.temporary_folder(path) as of_a_live_writer:
        assert not survives(lambda: write(path), {"replace"}, 0)
        assert len(os.listdir(tmp_path)) == 2
        write(str(tmp_path / "other"))
        assert os.path.isdir(of_a_live_writer)
        assert len(os.listdir(tmp_path)) == 3
    assert sorted(os.listdir(tmp_path)) == ["other.data-00000-of-00001", "other.index"]


def test_a_manager_deletes_what_a_kill_left_of_an_old_checkpoint(tmp_path):
    v = tf.Variable(1.0)

    def save(number):
        tf.train.CheckpointManager(tf.train.Checkpoint(v=v), str(tmp_path), max_to_keep=1).save(number)

    save(1)
    for count in itertools.count():
        if survives(lambda: save(2), {"remove"}, count):
            break
    save(3)
    assert sorted(os.listdir(tmp_path)) == ["checkpoint", "ckpt-3.data-00000-of-00001", "ckpt-3.index"]


# ---- others at the same time -----------------------------------------------------------------------------------------


def test_a_reader_has_one_checkpoint_while_others_replace_it(tmp_path, monkeypatch):
    path = str(tmp_path / "model")
    v, w = tf.Variable([1.0]), tf.Variable([1.0])
    checkpoint = tf.train.Checkpoint(v=v, w=w)
    checkpoint.write(path)
    overwrites, read_table = [2.0, 3.0], bundles.read_table

    def write(number):
        v.assign([number])
        w.assign([number])
        checkpoint.write(path)

    def read_and_overwrite(data):
        if overwrites:
            write(overwrites.pop(0))
        return read_table(data)

    monkeypatch.setattr(bundles, "read_table", read_and_overwrite)
    reader = tf.train.load_checkpoint(path)
    values = reader.get_tensor("v/.ATTRIBUTES/VARIABLE_VALUE")
    write(4.0)
    write(5.0)
    assert values == reader.get_tensor("w/.ATTRIBUTES/VARIABLE_VALUE") == 3.0


def test_writers_of_one_checkpoint_take_turns(tmp_path):
    path = str(tmp_path / "model")

    def write(number):
        v = [tf.Variable(tf.fill([100], number)) for _ in range(2)]
        for _ in range(10):
            tf.train.Checkpoint(v=v).write(path)

    threads = [threading.Thread(target=write, args=(float(i),)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    a, b = (tf.train.load_variable(path, f"v/{i}/.ATTRIBUTES/VARIABLE_VALUE") for i in range(2))
    assert np.ptp(np.concatenate([a, b])) == 0
    assert not leftovers(tmp_path)


# ---- folders ---------------------------------------------------------------------------------------------------------


def _save_model(path, number):
    module = tf.Module()
    module.v = tf.Variable(number)
    tf.saved_model.save(module, path)


def test_a_saved_model_keeps_what_else_is_in_its_folder(tmp_path):
    path = tmp_path / "model"
    path.mkdir(mode=0o700)
    _save_model(str(path), 1.0)
    (path / "assets.extra").mkdir()
    (path / "assets.extra" / "notes").write_text("mine")
    _save_model(str(path), 2.0)
    assert (path / "assets.extra" / "notes").read_text() == "mine"
    assert path.stat().st_mode & 0o777 == 0o700
    (path / "other").write_text("mine too")
    _save_model(str(path), 3.0)
    assert (path / "other").read_text() == "mine too"
    assert tf.saved_model.load(str(path)).v.numpy() == 3.0
    assert os.listdir(tmp_path) == ["model"]


def test_a_saved_model_in_the_current_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for number in (1.0, 2.0):
        _save_model(".", number)
        assert tf.saved_model.load(".").v.numpy() == number
    (tmp_path / "link").symlink_to(tmp_path)
    _save_model("link", 3.0)
    assert tf.saved_model.load(".").v.numpy() == 3.0
    (tmp_path / "link").unlink()
    assert sorted(os.listdir()) == ["assets", "fingerprint.pb", "saved_model.pb", "variables"]


def test_a_save_that_fails_leaves_the_old_model(tmp_path):
    path = str(tmp_path / "model")
    _save_model(path, 1.0)
    module = tf.Module()
    module.asset = tf.saved_model.Asset(str(tmp_path / "missing"))
    with pytest.raises(tf.errors.NotFoundError, match="missing"):
        tf.saved_model.save(module, path)
    assert tf.saved_model.load(path).v.numpy() == 1.0
    assert os.listdir(tmp_path) == ["model"]
