"""Graphs for gradients: forward graphs return residuals, and backward graphs take them."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

from tapeflow.core.autodiff.tape import Tape, backpropagate, dense, sum_gradients
from tapeflow.core.ops.definition import MANY
from tapeflow.core.ops.op import RegisteredOp
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.graph.ir.func_graph import FuncGraph
from tapeflow.graph.ir.operation import GraphOp, Operation
from tapeflow.graph.program.program import elements_of, substitute

_LEAST_RATIO = 8  # elements of a result for each element of an operand: such a result is computed again

# ---- copies ----------------------------------------------------------------------------------------------------------


def copy_of(graph: FuncGraph) -> FuncGraph:
    """Returns an extensible copy of a function's graph, with its own operations and tensors.

    Custom gradients may refer to tensors of the original graph. In the copy and its inner graphs, these are replaced by
    their copies.
    """
    other = copy.copy(graph)
    tensors: dict[int, SymbolicTensor] = {}
    operations: dict[int, Operation] = {}
    for operation in graph._operations:
        own = operations[id(operation)] = _copy_of(operation, other)
        tensors.update(zip(map(id, operation.outputs), own.outputs, strict=True))
    for own in operations.values():
        own.args = substitute(own.args, tensors)
        own._control_inputs = tuple([operations[id(o)] for o in own._control_inputs])
        of = own.op.gradient_of if isinstance(own.op, GraphOp) else None
        if of is not None and id(of.operation) in operations:
            own.op = copy.copy(own.op)
            own.op.gradient_of = of._replace(operation=operations[id(of.operation)])
    other._finalized, other.original = False, graph
    other._operations = list(operations.values())
    other._by_name = {operation.name: operation for operation in other._operations}
    other._name_counts, other._collections, other._reads = dict(graph._name_counts), dict(graph._collections), {}
    other._constants = {i: (value, tensors[id(t)]) for i, (value, t) in graph._constants.items()}
    other._captured = {i: tensors[id(t)] for i, t in graph._captured.items()}
    other.inputs, other.outputs = substitute(graph.inputs, tensors), substitute(graph.outputs, tensors)
    other.captures = [(outer, tensors[id(t)]) for outer, t in graph.captures]
    other.copies = {i: tensors[id(t)] for i, t in graph.copies.items()} | tensors
    return other


def _copy_of(operation: Operation, graph: FuncGraph) -> Operation:
    """Returns a copy of an operation in another graph, with the original's inputs."""
    own = Operation(graph, operation.op, operation.name, operation.args, operation.types)
    own.__dict__.update(operation.__dict__)
    own._control_inputs, own.device, own.index = operation._control_inputs, operation.device, operation.index
    own.position, own.static = operation.position, operation.static
    for t in operation.outputs:
        output = SymbolicTensor(own, t.value_index, t.dtype, t.shape)
        output._id = t._id  # for tapes and captures, both are the same tensor
        own.outputs.append(output)
    return own


def forward_graph(graph: FuncGraph) -> FuncGraph:
    """Returns a copy of a function's graph that can return residuals for backward graphs."""
    forward = copy_of(graph)
    forward.is_differentiable = True
    return forward


class _BackwardGraph(FuncGraph):
    """The graph of a backward function. It computes large products and sums of small tensors again."""

    def _from_other_graph(self, tensor: SymbolicTensor, scope: str) -> SymbolicTensor:
        if tensor._id not in self._captured and _is_broadcast(tensor):
            self._captured[tensor._id] = tensor.op.op.function(*tensor.op.args)
        return super()._from_other_graph(tensor, scope)


def _is_broadcast(tensor: SymbolicTensor) -> bool:
    """Returns True if one element-wise operation computes a large tensor from much smaller ones."""
    op, args = tensor.op.op, tensor.op.args
    if not isinstance(op, RegisteredOp) or op.element is None or set(op.kinds) != {"tensor"}:
        return False
    count = elements_of(tensor)
    return count >= MANY and all(_LEAST_RATIO * elements_of(t) <= count for t in args)


def backward_graph(forward: FuncGraph, outputs: Sequence[SymbolicTensor], differentiated: Sequence[bool]) -> FuncGraph:
    """Returns the graph from the cotangents of outputs to the gradients of the inputs, and of the captures.

    It captures residuals from the forward graph. Its `structured_outputs` has None for an input without a gradient.

    Args:
        forward: a graph from `forward_graph`.
        outputs: tensors of the forward graph: its outputs, and intermediate results with cotangents.
        differentiated: for each of `outputs`, True if it has a cotangent.
    """
    graph = _BackwardGraph(f"backward_{forward.name}")
    graph.outer_graph, graph.compiler = forward, forward.compiler
    with graph.as_default():
        tape = Tape(persistent=False, watch_accessed=False)
        sources = [t._id for t in (*forward.inputs, *forward.internal_captures)]
        tape.watched.update(sources)
        tape.roots.update(sources)
        for operation in forward._operations:
            if operation.outputs:
                tape.record(operation.op, operation.tensor_inputs, operation.statics, operation.outputs)
        grads: dict[int, Any] = {}
        for t, has_cotangent in zip(outputs, differentiated, strict=True):
            if has_cotangent:
                dy = graph.input(t, "gradient")
                grads[t._id] = dy if t._id not in grads else sum_gradients(grads[t._id], dy)
        results = backpropagate(tape.calls, grads, sources, tape.roots, keep=False)
        graph.structured_outputs = [None if g is None else graph.capture(dense(g)) for g in results]
        graph.outputs = [g for g in graph.structured_outputs if g is not None]
    return graph
