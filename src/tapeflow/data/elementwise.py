"""Functions that do the same to every number of an element: they can be given many elements at once.

Such a function's graph is written again for elements with one more dimension in front.
"""

from __future__ import annotations

from typing import Any

from tapeflow.core.ops.shape_rules import broadcast, same
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.types.spec import TensorSpec
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.graph.control.body import Body
from tapeflow.graph.ir.func_graph import FuncGraph
from tapeflow.graph.ir.operation import Operation

_LOOK_ACROSS = frozenset({"LRN"})  # of the shape of their input, and yet not element by element
_BROADCAST = frozenset({"ClipByValue", "SelectV2"})  # all their inputs broadcast against each other


def is_elementwise(body: Body) -> bool:
    """Whether a body does the same to every number of its inputs, so that these may have a dimension more in front."""
    graph = body.graph
    if graph.variables or any(isinstance(c, SymbolicTensor) for c in graph.external_captures):
        return False
    arguments = graph.inputs
    if any(t.shape.rank is None or t.dtype.torch is None for t in (*arguments, *body.outputs)):
        return False
    varying = {id(t) for t in arguments}  # what differs from element to element
    for operation in graph._operations:
        if operation.type in ("Const", "Placeholder"):
            continue
        if not _maps_numbers(operation):
            return False
        ranks = {t.shape.rank for t in operation.inputs if id(t) in varying}
        if ranks:
            varying.update(id(t) for t in operation.outputs)
            if ranks != {operation.outputs[0].shape.rank}:
                return False
    return True


def _maps_numbers(operation: Operation) -> bool:
    name, rule = operation.type, getattr(operation.op, "shape", None)
    if any(isinstance(arg, SymbolicTensor) for arg in _numbers(operation)):
        return False
    if name in _LOOK_ACROSS:
        return False
    return name in _BROADCAST or rule is broadcast or (rule is same and len(operation.inputs) == 1)


def _numbers(operation: Operation) -> list[Any]:
    """The arguments that have to be known, such as axes."""
    kinds = getattr(operation.op, "kinds", ())
    return [arg for kind, arg in zip(kinds, operation.args, strict=False) if kind == "host"]


def batched(body: Body) -> Body:
    """An elementwise body for many elements at once."""
    old, new = body.graph, FuncGraph(f"{body.name}_of_batches")
    with new.as_default():
        known: dict[int, Any] = {}
        for t in old.inputs:
            known[id(t)] = new.input(TensorSpec(TensorShape([None]).concatenate(t.shape), t.dtype), "columns")
        for outer, inner in old.captures:
            known[id(inner)] = new.capture(outer)
        for operation in old._operations:
            if operation.type == "Const":
                known[id(operation.outputs[0])] = new.capture(operation.op.attrs["value"])
            elif operation.type != "Placeholder":
                made = operation.op.run(tuple([known.get(id(arg), arg) for arg in operation.args]))
                known[id(operation.outputs[0])] = made
        new.outputs = [new.as_output(known[id(t)], body.name) for t in body.outputs]
        new.structured_outputs = new.outputs
    return Body(new)
