"""What the tests of programs in Python share."""

import pytest

from tapeflow.graph.compiler import native_loops


@pytest.fixture
def without_machine_code(monkeypatch):
    """Writes loops in Python, as where LLVM is not installed."""
    monkeypatch.setattr(native_loops, "has_llvm", lambda: False)
