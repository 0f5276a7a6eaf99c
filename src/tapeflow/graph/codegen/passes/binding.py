"""Binding: where a step's attrs, or its size, choose among functions, they choose once.

A registered kernel looks at its attrs at every call. In a program they never change, so that the function which they
select can be called directly. The op declares it (`@f.inline`). A step whose tensor is, or may be, large gets its op's
kernel for many elements.
"""

from __future__ import annotations

from typing import Any

from tapeflow.core.ops.definition import MANY, Op
from tapeflow.core.types.shape import TensorShape
from tapeflow.graph.codegen.program import Program, Step
from tapeflow.graph.ir.operation import GraphOp


def bind(program: Program) -> None:
    """Replaces kernels that would choose among ATen's functions by the functions."""
    program.steps = [_bound(step) or step for step in program.steps]


def _bound(step: Step) -> Step | None:
    """Returns the step with the function that its attrs select, or None if it stays."""
    op = step.op
    if (op.inline is None and op.kernel_for_many is None) or not op.registered or step.placed or not step.native:
        return None
    if not step.outputs[0].dtype.is_floating or step.outputs[0].shape.rank == 0:  # a scalar may be a Python number
        return None
    call = op.inline(*step.args) if op.inline is not None else _for_many(op, step.outputs[0].shape)
    if call is None:
        return None
    kernel, template = call
    return Step(GraphOp(step.name, kernel, template=template), op.tensors(step.args), step.outputs, step.origins)


def _for_many(op: Op, shape: TensorShape) -> tuple[Any, str] | None:
    few = shape.is_fully_defined() and shape.num_elements() < MANY
    return None if few else (op.kernel_for_many, "{kernel}({0})")
