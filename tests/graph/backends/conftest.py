import logging
import sys

import pytest

from tapeflow.graph.backends import inductor


@pytest.fixture
def for_gpus(monkeypatch):
    """The compiler of GPUs compiles every function with `jit_compile=True`."""
    monkeypatch.setattr(sys.modules["tapeflow.function.function"], "compiler_of", inductor.JitCompile)


@pytest.fixture
def no_debug_messages(monkeypatch):
    """pytest would keep the messages of the compiler, and with them all that they mention."""
    monkeypatch.setattr(logging.getLogger("torch.__trace"), "disabled", True)
