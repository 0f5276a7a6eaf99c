"""Binding: selects a step's function by its attrs or its size once, not at each call.

A registered kernel reads its attrs at every call. A program's attrs never change, so it calls the selected function
directly. Ops declare this function with `@f.inline`. A step with a large tensor, or one of unknown size, gets its op's
kernel for many elements.
"""

from __future__ import annotations

from typing import Any

from tapeflow.core.ops.definition import MANY
from tapeflow.graph.ir.operation import GraphOp
from tapeflow.graph.program.program import Program, Step


def bind(program: Program) -> None:
    """Replaces kernels by the ATen functions that they would select."""
    program.steps = [_bind_step(step) or step for step in program.steps]


def _bind_step(step: Step) -> Step | None:
    """Returns a step that calls the selected function, or None if the step keeps its kernel."""
    op = step.op
    if not op.registered or (op.inline is None and op.kernel_for_many is None) or step.placed or not step.native:
        return None
    if not step.outputs[0].dtype.is_floating or step.outputs[0].shape.rank == 0:  # a scalar may be a Python number
        return None
    call = op.inline(*step.args) if op.inline is not None else _for_many(step)
    if call is None:
        return None
    kernel, template = call
    return Step(GraphOp(step.name, kernel, template=template), op.tensors(step.args), step.outputs, step.origins)


def _for_many(step: Step) -> tuple[Any, str] | None:
    shape, operands = step.outputs[0].shape, ", ".join([f"{{{i}}}" for i in range(len(step.args))])
    few = shape.is_fully_defined() and shape.num_elements() < MANY
    return None if few else (step.op.kernel_for_many, f"{{kernel}}({operands})")
