"""TorchInductor on a graph of ATen calls: in this process, or in a second one, which fills the cache on disk.

This file is the second process's program too (`background.py` starts it by its path), so that it imports torch alone.
The process ends with the one that started it, with the compilers that it runs.
"""

from __future__ import annotations

import contextlib
import io
import os
import pickle
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.fx
from torch.fx.node import map_aggregate

DONE = "compiled"
NICENESS = 15
# Of an argument: its shape, its strides if it is not contiguous, its dtype and device.
Argument = tuple[tuple[int, ...], tuple[int, ...] | None, torch.dtype, torch.device]


def empty(argument: Argument) -> torch.Tensor:
    """Returns a tensor like an argument."""
    shape, strides, dtype, device = argument
    if strides is None:
        return torch.empty(shape, dtype=dtype, device=device)
    return torch.empty_strided(shape, strides, dtype=dtype, device=device)


def compiled(module: torch.fx.GraphModule, arguments: Sequence[Argument], **options: Any) -> Callable[..., Any]:
    """Compiles a graph, or loads what TorchInductor's cache has for it.

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
        examples = [empty(argument) for argument in arguments]
    with torch.no_grad(), tracing(TracingContext(mode)):
        run: Any = compile_fx(module, examples, ignore_shape_env=True, **options)
    # What keeps Dynamo, which is not at work here, from looking into it takes a tenth of a small call.
    return getattr(run, "_torchdynamo_orig_callable", run)


class _Pickler(pickle.Pickler):
    """Writes nodes and ops as their names. torch's own pickler of graphs loads TorchInductor, which takes seconds."""

    def persistent_id(self, obj: Any) -> Any:
        if isinstance(obj, torch.fx.Node):
            return "node", obj.name
        if isinstance(obj, torch._ops.OpOverload):
            return "op", obj.namespace, obj._opname, obj._overloadname
        return None


class _Unpickler(pickle.Unpickler):
    """Reads what `_Pickler` writes."""

    def persistent_load(self, pid: Any) -> Any:
        if pid[0] == "node":
            return _Named(pid[1])
        return getattr(getattr(getattr(torch.ops, pid[1]), pid[2]), pid[3])


class _Named(str):
    """The name of a node among arguments."""


def packed(graphs: Sequence[tuple[torch.fx.GraphModule, Sequence[Argument]]]) -> bytes:
    """Returns graphs and the number of threads as what the second process reads.

    Args:
        graphs: the graphs, with their arguments.
    """
    file = io.BytesIO()
    described = [
        ([(node.op, node.name, node.target, node.args, node.kwargs) for node in module.graph.nodes], arguments)
        for module, arguments in graphs
    ]
    _Pickler(file, pickle.HIGHEST_PROTOCOL).dump((torch.get_num_threads(), described))
    return file.getvalue()


def unpacked(data: bytes) -> tuple[int, list[tuple[torch.fx.GraphModule, Sequence[Argument]]]]:
    """Returns the number of threads and the graphs of `packed`.

    Args:
        data: what `packed` returned.
    """
    threads, described = _Unpickler(io.BytesIO(data)).load()
    return threads, [(_module(nodes), arguments) for nodes, arguments in described]


def _module(nodes: Sequence[Any]) -> torch.fx.GraphModule:
    graph = torch.fx.Graph()
    by_name: dict[str, torch.fx.Node] = {}
    node_of: Callable[[Any], Any] = lambda x: by_name[x] if isinstance(x, _Named) else x  # noqa: E731
    for op, name, target, args, kwargs in nodes:
        args, kwargs = map_aggregate(args, node_of), map_aggregate(kwargs, node_of)
        by_name[name] = graph.create_node(op, target, args, kwargs, name)
    return torch.fx.GraphModule({}, graph)


def main() -> None:
    """Compiles the graphs that standard input has, and says so, or what failed, on standard output."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # compilers print
    size = int.from_bytes(sys.stdin.buffer.read(8), "little")
    data = sys.stdin.buffer.read(size)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    with contextlib.suppress(AttributeError, OSError):
        os.nice(NICENESS)
    try:
        threads, graphs = unpacked(data)
        torch.set_num_threads(threads)
        for module, arguments in graphs:
            compiled(module, arguments)
        answer = DONE
    except Exception as error:
        answer = f"{type(error).__name__}: {error}".partition("\n")[0]
    answers.write(answer)
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
