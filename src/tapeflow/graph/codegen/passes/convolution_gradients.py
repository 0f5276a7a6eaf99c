"""Gradients of convolutions: computes the gradients by images and by filters in one call.

Both take the gradient of the result. Two calls would look up two kernels, and bring the tensors into ATen's order of
dimensions twice.
"""

from __future__ import annotations

from tapeflow.graph.ir.operation import GraphOp
from tapeflow.graph.program.program import Program, Step
from tapeflow.nn.conv import conv2d_backprop_filter, conv2d_backprop_input
from tapeflow.nn.static_convolutions import gradients_kernel, static_layout


def join_gradients(program: Program) -> None:
    """Replaces the two gradients of a convolution by one step, in the place of the first."""
    by_results: dict[int, list[Step]] = {}
    for step in program.steps:
        if step.op in (conv2d_backprop_input.op, conv2d_backprop_filter.op) and not step.placed:
            by_results.setdefault(id(step.args[2]), []).append(step)
    makers = {id(t): i for i, step in enumerate(program.steps) for t in step.outputs}
    for steps in by_results.values():
        joined = _join_pair(*steps) if len(steps) == 2 else None
        if joined is not None:
            first, second = map(program.steps.index, steps)
            if all(makers.get(id(t), -1) < first for t in joined.inputs):
                program.steps[first] = joined
                del program.steps[second]
                makers = {id(t): i for i, step in enumerate(program.steps) for t in step.outputs}


def _join_pair(first: Step, second: Step) -> Step | None:
    """Returns the step that computes two gradients, or None if they are of two convolutions or there is no kernel."""
    if first.op is conv2d_backprop_filter.op:
        first, second = second, first
    if first.op is second.op or first.args[3:] != second.args[3:]:
        return None
    sizes, filters, dy = first.args[:3]
    x, filter_sizes = second.args[:2]
    if (x.shape, filters.shape) != (sizes, filter_sizes):
        return None
    layout = static_layout("Conv2D", dy.dtype, x.shape, filters.shape, first.args[3:])
    kernel = None if layout is None else gradients_kernel(layout, filter_sizes)
    if kernel is None:
        return None
    op = GraphOp("Conv2DBackprop", kernel, template="{kernel}({0}, {1}, {2})", gives_tuple=True)
    op.allocates = True
    return Step(op, [x, filters, dy], [*first.outputs, *second.outputs], [*first.origins, *second.origins])
