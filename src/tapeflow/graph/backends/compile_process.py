"""TorchInductor on a graph of ATen calls: in this process, or in a second one, which fills the cache on disk.

This file is the second process's program too (`background.py` starts it by its path), so that it imports torch alone.
The process ends with the one that started it, with the compilers that it runs.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.fx

NICENESS = 15
# Of an argument: its shape, dtype and device.
Argument = tuple[tuple[int, ...], torch.dtype, torch.device]


def compiled(module: torch.fx.GraphModule, arguments: Sequence[Argument], **options: Any) -> Callable[..., Any]:
    """Compiles a graph for contiguous arguments, or loads what TorchInductor's cache has for it.

    Args:
        module: the graph, which is consumed.
        arguments: what it takes.
        options: further arguments of `compile_fx`.
    """
    from torch._guards import TracingContext, tracing
    from torch._inductor.compile_fx import compile_fx
    from torch._subclasses.fake_tensor import FakeTensorMode
    from torch.fx.experimental.symbolic_shapes import ShapeEnv

    mode = FakeTensorMode(shape_env=ShapeEnv())  # without one, nothing is cached
    with mode:
        examples = [torch.empty(shape, dtype=dtype, device=device) for shape, dtype, device in arguments]
    with torch.no_grad(), tracing(TracingContext(mode)):
        run: Any = compile_fx(module, examples, ignore_shape_env=True, **options)
    return run


def packed(graphs: Sequence[tuple[torch.fx.GraphModule, Sequence[Argument]]]) -> bytes:
    """Returns graphs and the number of threads as what the second process reads."""
    from torch.fx._graph_pickler import GraphPickler, Options

    return GraphPickler.dumps((torch.get_num_threads(), list(graphs)), Options(ops_filter=None))


def main() -> None:
    """Compiles the graphs that standard input has, and says so, or what failed, on standard output."""
    from torch._subclasses.fake_tensor import FakeTensorMode
    from torch.fx._graph_pickler import GraphPickler

    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # compilers print
    size = int.from_bytes(sys.stdin.buffer.read(8), "little")
    data = sys.stdin.buffer.read(size)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    with contextlib.suppress(AttributeError, OSError):
        os.nice(NICENESS)
    threads, graphs = GraphPickler.loads(data, FakeTensorMode())  # written by the parent, into a pipe
    torch.set_num_threads(threads)
    for module, arguments in graphs:
        compiled(module, arguments)
    answers.write("compiled")
    answers.close()
    _end()


def _end_with_parent() -> None:
    """Waits for the end of standard input, which is that of the parent, or its wish."""
    sys.stdin.buffer.read()
    _end()


def _end() -> None:
    """Ends this process and what it started, without waiting for anything."""
    if hasattr(os, "killpg") and os.getpgid(0) == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(0)


if __name__ == "__main__":
    main()
