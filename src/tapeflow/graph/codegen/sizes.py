"""Programs for inputs of known shapes.

A function that was traced for unknown sizes, such as batches of any length, computes shapes while it runs, and its
gradients sum to shapes that turn out to be equal. A program for the sizes of a call does neither.
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
    """Returns a copy of a program for inputs of other static shapes.

    Args:
        program: the program.
        shapes: the shapes, by the ids of inputs. Other inputs stay as they are.

    Returns:
        The program; None if a shape rule refuses the shapes, or contradicts what the graph says. The kernel that
        refuses them too then runs with the program as it is.
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
    """Returns a step with tensors whose shapes are known, and enters its outputs among these."""
    if not any(id(t) in known for t in step.inputs):
        return step
    args = substituted(step.args, known)
    if not step.registered:
        return Step(step.op, args, step.outputs, step.origins, step.must_run)
    args = step.op.map(lambda t: t, args, host=_host)
    operation = _copied(step.operation, step.op, args)
    with operation.graph.as_default():  # some rules know less while a graph is built
        shapes = infer(step.op, args, operation.types, len(step.outputs))
    for t, shape in zip(step.outputs, shapes, strict=True):
        known[id(t)] = SymbolicTensor(operation, t.value_index, t.dtype, t.shape.merge_with(shape))
        operation.outputs.append(known[id(t)])
    return Step(step.op, args, list(operation.outputs), [*step.origins[:-1], operation], step.must_run)


def _host(arg: Any) -> Any:
    """Returns the Python numbers of an argument that kernels take as such, if they are all known; else the argument."""
    static = host_static(arg)
    return arg if has_none(static) else static


def _copied(operation: Operation, op: Any, args: list[Any]) -> Operation:
    """Returns an operation of the same name and place, which its graph does not list."""
    result = Operation(operation.graph, op, operation.name, args, operation.types)
    result.device, result.position = operation.device, operation.position
    return result
