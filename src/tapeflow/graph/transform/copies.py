"""Copies of graphs. A traced graph never changes: transforms change copies of it."""

from __future__ import annotations

import copy

from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.graph.ir.func_graph import FuncGraph
from tapeflow.graph.ir.operation import GraphOp, Operation
from tapeflow.graph.program.program import substitute


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
