import logging

import pytest
import torch

from tapeflow.function import compilers
from tapeflow.graph.backends import division, graph_source, torch_compile


@pytest.fixture
def for_gpus(monkeypatch):
    """The compiler of GPUs compiles every function with `jit_compile=True`."""
    monkeypatch.setattr(compilers, "compiler_of", lambda name, *_: torch_compile.TorchCompile(name))


@pytest.fixture
def no_debug_messages(monkeypatch):
    """pytest would keep the messages of the compiler, and with them all that they mention."""
    for name in ("torch.__trace", "torch._dynamo.convert_frame", "torch._subclasses.fake_tensor"):
        monkeypatch.setattr(logging.getLogger(name), "disabled", True)


@pytest.fixture
def graphs(monkeypatch):
    """The graphs that Dynamo makes of sources, as the names of the ops, which run as they are; small ones too."""
    found = []

    def backend(module, inputs):
        calls = [n for n in module.graph.nodes if n.op == "call_function"]
        found.append([
            n.args[0] if n.target is graph_source.run_kernel else getattr(n.target, "__name__", "") for n in calls
        ])  # fmt: skip
        return module.forward

    def compiled(self, function, **options):
        options["guard_filter_fn"] = torch.compiler.skip_guard_on_globals_unsafe
        return torch.compile(function, fullgraph=True, backend=backend, options=options)

    monkeypatch.setattr(torch_compile.TorchCompile, "compile", compiled)
    monkeypatch.setattr(division, "LEAST_COST", 0)
    return found
