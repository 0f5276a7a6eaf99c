"""Functions that travel: a trace as TensorFlow's `FunctionDef`s, with its captures.

Captured tensors travel by value, variables by their place. Iterators stay in the process of their creation, and their
elements travel.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from tapeflow.core.errors import UnimplementedError
from tapeflow.core.types.dtypes import int64, resource, variant
from tapeflow.core.types.spec import TensorSpec
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.tensor import EagerTensor, next_id
from tapeflow.core.values.variable import Variable
from tapeflow.data.iterators import Iterator
from tapeflow.function.concrete import ConcreteFunction
from tapeflow.graph.ir.func_graph import FuncGraph
from tapeflow.graph.transform.body import Body, raw
from tapeflow.transport.function_protos import definitions_of, graph_of

# Stands for the number of the worker: traces capture this tensor.
WORKER_INDEX = EagerTensor(torch.tensor(-1), int64)
WORKER_INDEX._id = next_id()  # with an id it is captured, not a constant


def message_of(concrete: ConcreteFunction, share: Callable[[Any], Any]) -> dict[str, Any]:
    """Returns a trace as a message.

    Args:
        concrete: the trace.
        share: a function from a variable or an iterator to its reference for other tasks.

    Raises:
        UnimplementedError: it captures something that can't travel, or returns it.
    """
    name = concrete.graph.name
    for tensor in concrete.outputs:
        if tensor.dtype in (resource, variant):
            raise UnimplementedError.of(f"The function {name} returns a {tensor.dtype.name}, which can't travel.")
    count = len(concrete.body.inputs) - len(concrete._captured)
    return {
        "name": name,
        "library": definitions_of(concrete.body),
        "arguments": [TensorSpec(t.shape, t.dtype) for t in concrete.body.inputs[:count]],
        "captures": [_capture_value(c, share, name) for c in concrete._captured],
    }


def _capture_value(value: Any, share: Callable[[Any], Any], name: str) -> Any:
    if value is WORKER_INDEX:
        return None
    if isinstance(value, SymbolicTensor):
        raise UnimplementedError.of(f"The function {name} captures a tensor of a graph that is being traced.")
    return share(value) if isinstance(value, Variable) else argument_message(value, share, name)


def argument_message(tensor: EagerTensor, share: Callable[[Any], Any], name: str) -> Any:
    """Returns a tensor as a message: its value, or the reference to the iterator that it holds.

    Raises:
        UnimplementedError: it holds something else that can't travel.
    """
    if tensor.dtype not in (resource, variant):
        return tensor
    held = tensor.value[()]
    if isinstance(held, Iterator):
        return share(held)
    raise UnimplementedError.of(f"The function {name} takes a {type(held).__name__}, which can't travel to a worker.")


class WorkerFunction:
    """A trace that came as a message.

    Args:
        message: the result of `message_of`.
        received: a function from a reference of `share` to the variable, or to the tensor that holds the iterator.

    Raises:
        NotFoundError, UnimplementedError, ValueError: it can't run here.
    """

    def __init__(self, message: dict[str, Any], received: Callable[[Any], Any]) -> None:
        self._indices = 0

        def inputs(graph: FuncGraph) -> list[Any]:
            tensors: list[Any] = [graph.input(spec, "input") for spec in message["arguments"]]
            for capture in message["captures"]:
                if capture is None:  # the worker's number
                    tensors.append(graph.input(TensorSpec([], WORKER_INDEX.dtype), "worker_index"))
                    self._indices += 1
                    continue
                value = received(capture)
                variable = isinstance(value, Variable)
                tensors.append(graph.capture_variable(value) if variable else graph.capture(value))
            return tensors

        graph = graph_of(message["name"], message["library"], inputs)
        self._body = Body(graph)
        self._captured = tuple([raw(c) for c in graph.external_captures])

    def __call__(self, arguments: Sequence[EagerTensor], worker: int) -> list[EagerTensor]:
        """Runs it.

        Args:
            arguments: its arguments.
            worker: the number of the worker that this is.

        Returns:
            Its results.
        """
        indices = [torch.tensor(worker)] * self._indices
        values = self._body.compiled(*[a.value for a in arguments], *indices, *self._captured)
        return [EagerTensor(v, t.dtype) for v, t in zip(values, self._body.outputs, strict=True)]
