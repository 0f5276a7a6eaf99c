"""Machine code and its cache on disk."""

import ctypes

import pytest

pytest.importorskip("llvmlite")

from tapeflow.graph.compiler.target import Target

SUCCESSOR = 'define i64 @"{name}"(i64 %x) {\n  %y = add i64 %x, 1\n  ret i64 %y\n}\n'


def test_code_cached_under_another_name(monkeypatch, tmp_path):
    """A process that finds the code of a function on disk does not take it for a function of another name."""
    monkeypatch.setenv("TAPEFLOW_CACHE_DIR", str(tmp_path))
    for name in ("first", "second"):
        target = Target()
        successor = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(target.address(SUCCESSOR, name))
        assert successor(41) == 42
