"""Machine code and its cache on disk."""

import ctypes
import gc
import subprocess
import sys
import weakref

import pytest

pytest.importorskip("llvmlite")

from tapeflow.core import disk_cache
from tapeflow.core.machine_code import Target

SUCCESSOR = 'define i64 @"{name}"(i64 %x) {\n  %y = add i64 %x, 1\n  ret i64 %y\n}\n'


def test_code_cached_under_another_name(monkeypatch, tmp_path):
    """A process that finds the code of a function on disk does not take it for a function of another name."""
    monkeypatch.setenv("TAPEFLOW_CACHE_DIR", str(tmp_path))
    for name in ("first", "second"):
        code = Target().load(name, SUCCESSOR, lambda: SUCCESSOR)
        successor = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(code.address)
        assert successor(41) == 42


@pytest.mark.skipif(sys.platform == "win32", reason="folders have no modes")
def test_code_in_a_folder_that_others_write_is_not_run(monkeypatch, tmp_path):
    monkeypatch.setenv("TAPEFLOW_CACHE_DIR", str(tmp_path))
    target = Target()
    target.load("first", SUCCESSOR, lambda: SUCCESSOR)
    (path,) = (tmp_path / "tapeflow" / "kernels").iterdir()
    path.parent.chmod(0o777)
    before = path.stat().st_mtime_ns, path.read_bytes()
    assert disk_cache.read(path.name) is None
    assert Target().load("first", SUCCESSOR, lambda: SUCCESSOR)
    assert (path.stat().st_mtime_ns, path.read_bytes()) == before


def test_code_is_freed_with_its_functions(monkeypatch, tmp_path):
    monkeypatch.setenv("TAPEFLOW_CACHE_DIR", str(tmp_path))
    target = Target()
    held, dropped = (target.load(name, SUCCESSOR, lambda: SUCCESSOR) for name in ("held", "dropped"))
    successor, dropped = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(held.address), weakref.ref(dropped)
    again = target.load("held", SUCCESSOR, lambda: SUCCESSOR)
    assert again is held
    for i in range(200):  # the code of recent functions stays for a while
        target.load(f"other{i}", SUCCESSOR, lambda: SUCCESSOR)
    gc.collect()
    assert dropped() is None
    assert successor(41) == 42


def test_a_new_process_knows_the_symbols_of_python():
    """The first loop of a process looks for signals, too."""
    program = "from tapeflow.graph.compiler.target import target; print(target().has('PyErr_CheckSignals'))"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=100)
    assert result.stdout.strip() == "True"
