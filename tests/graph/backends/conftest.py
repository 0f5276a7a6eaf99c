import logging

import pytest

from tapeflow.graph.backends import inductor
from tapeflow.graph.compiler import jit


@pytest.fixture
def for_gpus(monkeypatch):
    """The compiler of GPUs compiles every function with `jit_compile=True`."""
    monkeypatch.setattr(jit, "compiler_of", inductor.JitCompile)


@pytest.fixture
def no_debug_messages(monkeypatch):
    """pytest would keep the messages of the compiler, and with them all that they mention."""
    monkeypatch.setattr(logging.getLogger("torch.__trace"), "disabled", True)
