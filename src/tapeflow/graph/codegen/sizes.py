"""Programs specialized to input shapes.

A function traced with unknown sizes, such as any batch size, computes shapes at run time. Its gradients contain
reductions for broadcasting that may turn out to have no effect. A program specialized to a call's sizes needs neither.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tapeflow.core.ops.static import has_none, host_static
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.graph.codegen.program import Program, Step, substituted
from tapeflow.graph.ir.operation import GraphOp, Operation
from tapeflow.graph.ir.shapes import infer


def with_shapes(program: Program, shapes: Mapping[int, TensorShape]) -> Program | None:
    """Returns a copy of a program for more specific input shapes.

    Args:
        program: the program.
        shapes: the shapes, by the ids of inputs. Other inputs keep their shapes.

    Returns:
        The program; None if a shape rule rejects the shapes or contradicts the graph. The caller then runs the original
        program, and its kernel raises the error.
    """
    known: dict[int, SymbolicTensor] = {}
    for t in program.inputs:
        if id(t) in shapes:
            operation = _copied(t.op, GraphOp("Placeholder"), [])
            known[id(t)] = SymbolicTensor(operation, t.value_index, t.dtype, shapes[id(t)])
    result = program.copied()
    result.inputs = substituted(program.inputs, known)
    try:
        result.steps = [_with_shapes(step, known) for step in result.steps]
    except Exception:
        return None
    result.outputs = substituted(program.outputs, known)
    return result


def _with_shapes(step: Step, known: dict[int, SymbolicTensor]) -> Step:
    """Returns a step with the tensors in `known` as inputs, and adds its outputs to `known`."""
    if not any(id(t) in known for t in step.inputs):
        return step
    args = substituted(step.args, known)
    if not step.registered:
        return Step(step.op, args, step.outputs, step.origins, step.must_run)
    args = step.op.map(lambda t: t, args, host=_host)
    operation = _copied(step.operation, step.op, args)
    with operation.graph.as_default():  # some shape rules give less specific shapes while a graph is built
        shapes = infer(step.op, args, operation.types, len(step.outputs))
    for t, shape in zip(step.outputs, shapes, strict=True):
        known[id(t)] = SymbolicTensor(operation, t.value_index, t.dtype, t.shape.merge_with(shape))
        operation.outputs.append(known[id(t)])
    return Step(step.op, args, list(operation.outputs), [*step.origins[:-1], operation], step.must_run)


def _host(arg: Any) -> Any:
    """Returns a host argument as Python numbers if all of them are known, otherwise unchanged."""
    static = host_static(arg)
    return arg if has_none(static) else static


def _copied(operation: Operation, op: Any, args: list[Any]) -> Operation:
    """Returns a copy of an operation with the same name and device. It is not part of the graph."""
    result = Operation(operation.graph, op, operation.name, args, operation.types)
    result.device, result.position = operation.device, operation.position
    return result
