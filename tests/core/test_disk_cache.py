"""The files that later processes read."""

import itertools
import os
import pathlib
import time

import pytest

from tapeflow.core import disk_cache


def test_the_oldest_files_are_removed(monkeypatch, tmp_path):
    monkeypatch.setenv("TAPEFLOW_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(disk_cache, "_MOST_BYTES", 40_000)
    for i in range(200):
        disk_cache.write(f"file{i}", bytes(1000))
        os.utime(tmp_path / "tapeflow" / "kernels" / f"file{i}", (i, i))
    sizes = {path.name: path.stat().st_size for path in (tmp_path / "tapeflow" / "kernels").iterdir()}
    assert sum(sizes.values()) < 110_000  # it looks at every 64th write
    assert "file199" in sizes
    assert "file0" not in sizes


def test_a_file_that_is_read_becomes_young(monkeypatch, tmp_path):
    monkeypatch.setenv("TAPEFLOW_CACHE_DIR", str(tmp_path))
    disk_cache.write("file", b"contents")
    path = tmp_path / "tapeflow" / "kernels" / "file"
    os.utime(path, (1, 1))
    assert disk_cache.read("file") == b"contents"
    assert path.stat().st_mtime > 1


@pytest.fixture
def folder(monkeypatch, tmp_path):
    """An empty cache."""
    monkeypatch.setenv("TAPEFLOW_CACHE_DIR", str(tmp_path))
    return tmp_path / "tapeflow" / "kernels"


@pytest.mark.parametrize("contents", [b"", b"x", bytes(range(256)) * 3])
def test_contents_are_read_again(folder, contents):
    assert disk_cache.read("file") is None
    disk_cache.write("file", contents)
    assert disk_cache.read("file") == contents
    disk_cache.write("file", b"other")
    assert disk_cache.read("file") == b"other"
    assert [path.name for path in folder.iterdir()] == ["file"]
    assert folder.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("damage", [lambda data: data[:-1], lambda data: b"X" + data[1:], lambda data: data[:10]])
def test_damaged_files_are_missing(folder, damage):
    disk_cache.write("file", b"some contents")
    (folder / "file").write_bytes(damage((folder / "file").read_bytes()))
    assert disk_cache.read("file") is None


def test_files_of_a_folder_that_others_write_are_missing(folder):
    disk_cache.write("file", b"contents")
    for mode in (0o720, 0o702):
        folder.chmod(mode)
        assert disk_cache.read("file") is None
        disk_cache.write("other", b"contents")
        assert not (folder / "other").exists()
    folder.chmod(0o755)
    assert disk_cache.read("file") == b"contents"


def test_a_folder_that_can_not_be_made_changes_nothing(folder, tmp_path):
    (tmp_path / "tapeflow").write_bytes(b"a file")
    disk_cache.write("file", b"contents")
    assert disk_cache.read("file") is None


def test_only_old_files_become_young(folder):
    disk_cache.write("file", b"contents")
    now = time.time()
    for age, renewed in ((86400 - 1000, False), (86400 + 1000, True)):
        os.utime(folder / "file", (now - age, now - age))
        assert disk_cache.read("file") == b"contents"
        assert ((folder / "file").stat().st_mtime > now - 1000) is renewed


def test_places_of_the_cache(monkeypatch):
    for name in ("TAPEFLOW_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", "/home/user")
    end = pathlib.Path("tapeflow", "kernels")
    assert disk_cache._cache_folder() == "/home/user/.cache" / end
    monkeypatch.setenv("XDG_CACHE_HOME", "/cache")
    assert disk_cache._cache_folder() == "/cache" / end
    monkeypatch.setenv("TAPEFLOW_CACHE_DIR", "~/own")
    assert disk_cache._cache_folder() == "/home/user/own" / end


@pytest.mark.parametrize(
    ("limit", "kept"), [(400, "abcd"), (399, "cd"), (268, "cd"), (267, "cd"), (266, "d"), (10, "")]
)
def test_files_are_removed_down_to_three_quarters(monkeypatch, tmp_path, limit, kept):
    for age, name in enumerate("dcba"):
        (tmp_path / name).write_bytes(bytes(100))
        os.utime(tmp_path / name, (1000 - age, 1000 - age))
    (tmp_path / "folder").mkdir()
    monkeypatch.setattr(disk_cache, "_MOST_BYTES", limit)
    disk_cache._remove_oldest(tmp_path)
    assert "".join(sorted(path.name for path in tmp_path.iterdir() if path.is_file())) == kept


def test_old_files_are_looked_for_at_every_64th_write(monkeypatch, folder):
    looks = []
    monkeypatch.setattr(disk_cache, "_remove_oldest", looks.append)
    monkeypatch.setattr(disk_cache, "_writes", itertools.count())
    for _ in range(65):
        disk_cache.write("file", b"contents")
    assert looks == [folder, folder]
