"""Functions that do the same to every number of an element, so that one call computes them for many elements.

The graph of such a function is written again for elements with one more dimension in front.
"""

from __future__ import annotations

from typing import Any

from tapeflow.core.ops.shape_rules import same
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.types.spec import TensorSpec
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.graph.control.body import Body
from tapeflow.graph.ir.func_graph import FuncGraph
from tapeflow.graph.ir.operation import Operation


def is_elementwise(body: Body) -> bool:
    """Returns whether a body does the same to every number of its inputs, so that these may be whole batches.

    Its ops must have the trait `elementwise`. Tensors that differ from element to element must all have one rank, so
    that a batch of them broadcasts against each other, and against constants, as the elements do.
    """
    graph = body.graph
    if graph.variables or any(isinstance(c, SymbolicTensor) for c in graph.external_captures):
        return False
    if any(t.shape.rank is None or t.dtype.torch is None for t in (*graph.inputs, *body.outputs)):
        return False
    varying = {id(t) for t in graph.inputs}  # the tensors that differ from element to element
    for operation in graph._operations:
        if operation.type in ("Const", "Placeholder"):
            continue
        if not _is_elementwise_op(operation):
            return False
        varies = [id(t) in varying for t in operation.inputs]
        if any(varies):
            if getattr(operation.op, "shape", None) is same and not all(varies):
                return False  # its kernel need not broadcast
            ranks = {t.shape.rank for t, v in zip(operation.inputs, varies, strict=True) if v}
            if ranks != {operation.outputs[0].shape.rank}:
                return False
            varying.add(id(operation.outputs[0]))
    return True


def _is_elementwise_op(operation: Operation) -> bool:
    """Returns whether an operation's op maps numbers, none of them random, and takes nothing else from tensors."""
    op = operation.op
    if not op.elementwise or op.random:
        return False
    return not any(isinstance(arg, SymbolicTensor) for arg in op.hosts(operation.args))


def batched(body: Body) -> Body:
    """Returns an elementwise body for many elements at once, stacked along a new first dimension."""
    old, new = body.graph, FuncGraph(f"{body.name}_of_batches")
    with new.as_default():
        tensors: dict[int, Any] = {}  # by the ids of those of the old graph
        for t in old.inputs:
            tensors[id(t)] = new.input(TensorSpec(TensorShape([None]).concatenate(t.shape), t.dtype), "columns")
        for outer, inner in old.captures:
            tensors[id(inner)] = new.capture(outer)
        for operation in old._operations:
            if operation.type == "Const":
                tensors[id(operation.outputs[0])] = new.capture(operation.op.attrs["value"])
            elif operation.type != "Placeholder":
                args = tuple([tensors.get(id(arg), arg) for arg in operation.args])
                tensors[id(operation.outputs[0])] = operation.op.run(args)
        new.outputs = [new.as_output(tensors[id(t)], body.name) for t in body.outputs]
        new.structured_outputs = new.outputs
    return Body(new)
