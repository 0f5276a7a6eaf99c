"""Machine code and its cache on disk."""

import ctypes
import sys

import pytest

pytest.importorskip("llvmlite")

from tapeflow.core import disk_cache
from tapeflow.graph.compiler.target import Target

SUCCESSOR = 'define i64 @"{name}"(i64 %x) {\n  %y = add i64 %x, 1\n  ret i64 %y\n}\n'


def test_code_cached_under_another_name(monkeypatch, tmp_path):
    """A process that finds the code of a function on disk does not take it for a function of another name."""
    monkeypatch.setenv("TAPEFLOW_CACHE_DIR", str(tmp_path))
    for name in ("first", "second"):
        target = Target()
        successor = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(target.address(name, SUCCESSOR, lambda: SUCCESSOR))
        assert successor(41) == 42


@pytest.mark.skipif(sys.platform == "win32", reason="folders have no modes")
def test_code_in_a_folder_that_others_write_is_not_run(monkeypatch, tmp_path):
    monkeypatch.setenv("TAPEFLOW_CACHE_DIR", str(tmp_path))
    target = Target()
    target.address("first", SUCCESSOR, lambda: SUCCESSOR)
    (path,) = (tmp_path / "tapeflow" / "kernels").iterdir()
    path.parent.chmod(0o777)
    before = path.stat().st_mtime_ns, path.read_bytes()
    assert disk_cache.read(path.name) is None
    assert Target().address("first", SUCCESSOR, lambda: SUCCESSOR)
    assert (path.stat().st_mtime_ns, path.read_bytes()) == before
