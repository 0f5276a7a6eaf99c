"""Computes an operation of a registered op for all slices of a batch, by the op's batching rule."""

from __future__ import annotations

from typing import Any

from tapeflow.core.context import state
from tapeflow.core.ops.batching import Batch, NoRule, Slices, rule_of
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.definition import ops
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.graph.batching.vmapped import draws, own_stream
from tapeflow.graph.ir.operation import Operation


def of_registered(operation: Operation, batch: Batch, values: dict[int, Slices]) -> list[Slices]:
    """Computes an operation's outputs for all slices.

    Args:
        operation: the operation.
        batch: the batch.
        values: the tensors that it takes, by their ids.

    Raises:
        NoRule: the op has no rule, or one that does not hold here.
    """
    op, args = operation.op, arguments(operation, values)
    stacked = any(values[id(t)].stacked for t in operation.inputs)
    if op.reads_shape and stacked:
        results: Any = _of_slice_shapes(op, *args)
        stacked = False
    elif not stacked and not draws(op):
        results = op.run(tuple([_unwrapped(a) for a in args]))
    else:
        stacked, rule = True, rule_of(op)
        if rule is None:
            raise NoRule
        results = own_stream(operation, rule)(batch.of_op(op, operation.outputs), *args)
    results = results if isinstance(results, (list, tuple)) else [results]
    return [Slices(r, t, stacked) for r, t in zip(results, operation.outputs, strict=True)]


def of_plain(operation: Operation, batch: Batch, values: dict[int, Slices]) -> list[Slices]:
    """Computes the outputs of an operation of a registered op, or of a constant, in the graph that is being built.

    Args:
        operation, batch, values: as for `of_registered`.

    Raises:
        NoRule: the op has no rule, or one that does not hold here.
    """
    if operation.type == "Const":
        return [Slices(state.graph.constant(operation.op.attrs["value"]), operation.outputs[0], False)]
    return of_registered(operation, batch, values)


def arguments(operation: Operation, values: dict[int, Slices]) -> list[Any]:
    """Returns the arguments of an operation with slices in the place of tensors."""
    return [
        values[id(a)] if isinstance(a, SymbolicTensor) else [values[id(t)] for t in a] if type(a) is list else a
        for a in operation.args
    ]


def _unwrapped(arg: Any) -> Any:
    if isinstance(arg, Slices):
        return arg.value
    return [x.value for x in arg] if type(arg) is list else arg


def _of_slice_shapes(op: Any, x: Any, *attrs: Any) -> Any:
    """Computes an op that reads shapes: all slices have the same one, and lists of slices the same length."""
    if op is ops.Rank.op:
        return convert(x.rank)
    if op is ops.Size.op:
        return ops.Prod(ops.Shape(x.value, *attrs)[1:], 0, False)
    if op is ops.ShapeN.op:
        return [ops.Shape(each.value, *attrs)[int(each.stacked) :] for each in x]
    dims_or_length = op.run((x.value, *attrs))
    return dims_or_length if op is ops.TensorListLength.op else dims_or_length[1:]
