"""Files and folders that take the place of others at once."""

import os
import stat
import sys

import pytest

import tapeflow as tf
from tapeflow.io import atomic_replace
from tapeflow.io.atomic_replace import replaced_file, replaced_folder, temporary_folder, write_file

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows locks no folders")
PARTS = r"last|part\d"


def names(folder):
    return sorted(os.listdir(folder))


def put(folder, **contents):
    folder.mkdir(exist_ok=True)
    for name, text in contents.items():
        (folder / name).write_text(text)
    return str(folder)


def read(folder):
    return {name: open(os.path.join(folder, name)).read() for name in names(folder)}


# ---- files -----------------------------------------------------------------------------------------------------------


def test_files_are_replaced(tmp_path):
    path = tmp_path / "file"
    write_file(str(path), b"one")
    path.chmod(0o640)
    write_file(str(path), b"two")
    assert (path.read_bytes(), names(tmp_path)) == (b"two", ["file"])
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    with pytest.raises(ZeroDivisionError), replaced_file(str(path)) as new:
        assert os.path.basename(new) == "file"
        with open(new, "w") as file:
            file.write("half")
        assert path.read_bytes() == b"two"
        raise ZeroDivisionError
    assert (path.read_bytes(), names(tmp_path)) == (b"two", ["file"])


def test_links_stay_links(tmp_path):
    (tmp_path / "real").write_text("one")
    (tmp_path / "link").symlink_to("real")
    write_file(str(tmp_path / "link"), b"two")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "two"


def test_pipes_are_written_in_place(tmp_path):
    path = str(tmp_path / "pipe")
    os.mkfifo(path)
    with replaced_file(path) as new:
        assert new == path
    assert names(tmp_path) == ["pipe"]


def test_files_in_no_folder(tmp_path):
    with pytest.raises(tf.errors.NotFoundError):
        write_file(str(tmp_path / "missing" / "file"), b"")


def test_files_in_the_current_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_file("file", b"one")
    assert names(tmp_path) == ["file"]


# ---- temporary folders -----------------------------------------------------------------------------------------------


def test_temporary_folders_of_writers_that_are_gone_are_deleted(tmp_path):
    abandoned = tmp_path / ("file.tempstate." + "0" * 16)
    put(abandoned, part="x")
    kept = [
        tmp_path / n for n in ("file.tempstate." + "0" * 15, "other.tempstate." + "g" * 16, "x.tempstate." + "1" * 16)
    ]
    kept[0].mkdir()
    kept[1].mkdir()
    kept[2].write_text("a file")
    with temporary_folder(str(tmp_path / "file")) as first:
        assert not abandoned.exists()
        assert os.path.dirname(first) == str(tmp_path)
        assert os.path.basename(first).startswith("file.tempstate.")
        with temporary_folder(str(tmp_path / "file")) as second:  # the first is in use
            assert os.path.isdir(first) and first != second
        assert not os.path.exists(second)
    assert names(tmp_path) == sorted(path.name for path in kept)


def test_long_names_are_cut(tmp_path):
    with temporary_folder(str(tmp_path / ("a" * 240))) as folder:
        assert os.path.basename(folder).startswith("a" * 50 + ".tempstate.")


# ---- folders ---------------------------------------------------------------------------------------------------------


def test_folders_are_replaced(tmp_path):
    path = put(tmp_path / "folder", last="1", part1="a", part2="b")
    with replaced_folder(path, "last", PARTS) as new:
        assert new != path
        for name, text in (("last", "2"), ("part1", "c")):
            with open(os.path.join(new, name), "w") as file:
                file.write(text)
        assert read(path) == {"last": "1", "part1": "a", "part2": "b"}
    assert read(path) == {"last": "2", "part1": "c", "part2": "b"}
    assert names(tmp_path) == ["folder"]


def test_folders_stay_after_an_error(tmp_path):
    path = put(tmp_path / "folder", last="1", part1="a")
    with pytest.raises(ZeroDivisionError), replaced_folder(path, "last", PARTS) as new:
        put(tmp_path / os.path.relpath(new, tmp_path), last="2")
        raise ZeroDivisionError
    assert read(path) == {"last": "1", "part1": "a"}
    assert names(tmp_path) == ["folder"]


@pytest.mark.parametrize("contents", [{}, {"part1": "a"}, {"last": "1", "other": "b"}])
def test_folders_that_are_written_in_place(tmp_path, contents):
    path = put(tmp_path / "folder", **contents)
    with replaced_folder(path, "last", PARTS) as new:
        assert new == path
    assert read(path) == contents


def test_folders_that_are_missing_are_created(tmp_path):
    path = str(tmp_path / "a" / "b")
    with replaced_folder(path, "last", PARTS) as new:
        assert new == path
    assert os.path.isdir(path)


def test_the_current_folder_is_written_in_place(tmp_path, monkeypatch):
    path = put(tmp_path / "folder", last="1")
    (tmp_path / "folder" / "part1").mkdir()
    for current in (path, os.path.join(path, "part1")):
        monkeypatch.chdir(current)
        with replaced_folder(path, "last", PARTS) as new:
            assert new == path


def test_systems_that_exchange_no_folders(tmp_path, monkeypatch):
    path = put(tmp_path / "folder", last="1")
    monkeypatch.setattr(atomic_replace, "_exchange_folders", lambda a, b: False)
    with replaced_folder(path, "last", PARTS) as new:
        assert new == path
    answers = iter([True, False])
    monkeypatch.setattr(atomic_replace, "_exchange_folders", lambda a, b: next(answers))
    with (
        pytest.raises(tf.errors.UnknownError, match="The folder can't be replaced"),
        replaced_folder(path, "last", PARTS),
    ):
        pass
    assert read(path) == {"last": "1"}


def test_folders_in_folders_are_kept(tmp_path):
    path = put(tmp_path / "folder", last="1")
    put(tmp_path / "folder" / "part1", inside="x", both="old")
    put(tmp_path / "folder" / ("part2.tempstate." + "0" * 16), gone="y")
    with replaced_folder(path, "last", PARTS + r"|.*tempstate.*") as new:
        os.mkdir(os.path.join(new, "part1"))
        for name in ("last", os.path.join("part1", "both")):
            with open(os.path.join(new, name), "w") as file:
                file.write("new")
    assert read(os.path.join(path, "part1")) == {"inside": "x", "both": "new"}
    assert names(path) == ["last", "part1"]


def test_one_writer_at_a_time(tmp_path, monkeypatch):
    monkeypatch.setattr(atomic_replace, "_PATIENCE", 0.05)
    with atomic_replace.exclusive(str(tmp_path)):
        descriptor = os.open(tmp_path, os.O_RDONLY)
        assert atomic_replace._lock_folder(descriptor) is False
        with atomic_replace.exclusive(str(tmp_path)):  # waits, and goes on
            pass
        os.close(descriptor)
    descriptor = os.open(tmp_path, os.O_RDONLY)
    assert atomic_replace._lock_folder(descriptor) is True
    os.close(descriptor)
