"""The files that later processes read."""

import os

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
