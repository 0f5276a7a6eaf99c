"""Computes one operation for all slices of a batch, by the batching rule of its op."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tapeflow.core.context import state
from tapeflow.core.ops.batch_rules import Batch, NoRule, Slices, rule_of
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.definition import ops
from tapeflow.core.rng.seeds import of_operation
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.graph.ir.operation import GraphOp, Operation


def draws(op: Any) -> bool:
    """Returns True if an op, or a function that it calls, may return a different result at each run, as random ops do.

    Each slice then has its own result. `CheckNumerics` and `GuaranteeConst` are exceptions: TensorFlow's registry calls
    them stateful, but they only check or pass on elements.
    """
    if isinstance(op, GraphOp):
        return any(draws(o.op) for body in op.bodies.values() for o in body.graph._operations)
    return op.opdef.stateful and not op.elementwise


def varying(operations: Iterable[Operation], slices: Iterable[SymbolicTensor]) -> set[Operation]:
    """Returns the operations of a function whose outputs differ between slices.

    Args:
        operations: the function's operations, in order.
        slices: the function's batched inputs.
    """
    differing = {t.op for t in slices}
    for operation in operations:
        if operation.op.reads_shape:  # all slices have the same shape, and all lists the same length
            continue
        if draws(operation.op) or any(t.op in differing for t in operation.inputs):
            differing.add(operation)
    return differing


def of_registered(operation: Operation, batch: Batch, values: dict[int, Slices]) -> list[Slices]:
    """Computes an operation's outputs for all slices.

    Args:
        operation: an operation of a registered op, or a constant.
        batch: the batch.
        values: the operation's inputs, by the ids of their tensors.

    Raises:
        NoRule: the op has no rule, or its rule excludes these arguments.
    """
    if operation.type == "Const":
        return [Slices(state.graph.constant(operation.op.attrs["value"]), operation.outputs[0], False)]
    op, args = operation.op, arguments(operation, values)
    stacked = any(values[id(t)].stacked for t in operation.inputs)
    if op.reads_shape and stacked:
        results: Any = _of_slice_shapes(op, *args)
        stacked = False
    elif not stacked and not draws(op):
        results = op.run(tuple([_unwrap_slices(a) for a in args]))
    else:
        stacked, rule = True, rule_of(op)
        if rule is None:
            raise NoRule
        rule = of_operation(operation, rule) if draws(op) else rule
        results = rule(batch.of_op(op, operation.outputs), *args)
    results = results if isinstance(results, (list, tuple)) else [results]
    pairs = zip(results, operation.outputs, strict=True)
    return [r if isinstance(r, Slices) else Slices(r, t, stacked) for r, t in pairs]


def arguments(operation: Operation, values: dict[int, Slices]) -> list[Any]:
    """Returns the arguments of an operation after replacing tensors by slices."""
    return [
        values[id(a)] if isinstance(a, SymbolicTensor) else [values[id(t)] for t in a] if type(a) is list else a
        for a in operation.args
    ]


def _unwrap_slices(arg: Any) -> Any:
    if isinstance(arg, Slices):
        return arg.value
    return [x.value for x in arg] if type(arg) is list else arg


def _of_slice_shapes(op: Any, x: Any, *attrs: Any) -> Any:
    """Computes an op that reads shapes once: all slices have the same shape, and all lists the same length."""
    if op is ops.Rank.op:
        return convert(x.rank)
    if op is ops.Size.op:
        return ops.Prod(ops.Shape(x.value, *attrs)[1:], 0, False)
    if op is ops.ShapeN.op:
        return [ops.Shape(each.value, *attrs)[int(each.stacked) :] for each in x]
    dims_or_length = op.run((x.value, *attrs))
    return dims_or_length if op is ops.TensorListLength.op else dims_or_length[1:]
