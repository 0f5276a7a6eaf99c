"""Binding: where a step's attrs choose among ATen's functions, they choose once.

A registered kernel looks at its attrs at every call. In a program they never change, so that the function which they
select can be called directly. The op declares it (`@f.inline`).
"""

from __future__ import annotations

from tapeflow.graph.codegen.program import Program, Step
from tapeflow.graph.ir.operation import GraphOp


def bind(program: Program) -> None:
    """Replaces kernels that would choose among ATen's functions by the functions."""
    program.steps = [_bound(step) or step for step in program.steps]


def _bound(step: Step) -> Step | None:
    """Returns the step with the function that its attrs select, or None if it stays."""
    if step.op.inline is None or not step.op.registered or step.placed or not step.native:
        return None
    if not step.outputs[0].dtype.is_floating or step.outputs[0].shape.rank == 0:  # a scalar may be a Python number
        return None
    call = step.op.inline(*step.args)
    if call is None:
        return None
    kernel, template = call
    return Step(GraphOp(step.name, kernel, template=template), step.op.tensors(step.args), step.outputs, step.origins)
