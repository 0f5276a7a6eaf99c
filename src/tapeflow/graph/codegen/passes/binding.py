"""Binding: where a step's attrs choose among ATen's functions, the choice is made once.

A registered kernel looks at its attrs at every call. In a program they never change, so that the function they lead to
can be called itself. Which that is stands at the op (`@f.inline`).
"""

from __future__ import annotations

from tapeflow.graph.codegen.program import Program, Step
from tapeflow.graph.ir.operation import GraphOp


def bind(program: Program) -> None:
    """Puts ATen's own functions in the place of kernels that would choose them."""
    program.steps = [_bound(step) or step for step in program.steps]


def _bound(step: Step) -> Step | None:
    if step.op.inline is None or not step.op.registered or step.placed or not step.native:
        return None
    if not step.outputs[0].dtype.is_floating or step.outputs[0].shape.rank == 0:  # loops have better for scalars
        return None
    call = step.op.inline(*step.args)
    if call is None:
        return None
    kernel, template = call
    return Step(GraphOp(step.name, kernel, template=template), step.inputs, step.outputs, step.origins)
