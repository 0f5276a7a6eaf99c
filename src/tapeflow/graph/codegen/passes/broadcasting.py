"""Broadcasting: what reductions and their gradients reshape and repeat, element-wise ops can take as it is.

The gradient of a sum repeats its cotangent to the shape of the summed tensor; an element-wise op does that by itself. A
sum that is reshaped to keep its dimensions is a sum that keeps them. Without these steps, clusters go on.
"""

from __future__ import annotations

from tapeflow.core.ops.definition import ops
from tapeflow.core.ops.shape_rules import broadcast
from tapeflow.core.ops.static import host_static
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.graph.codegen.producers import Producers
from tapeflow.graph.codegen.program import Program, Step, substituted


def unbroadcast(program: Program) -> None:
    """Lets element-wise steps take tensors before they are repeated, and sums keep dimensions."""
    producers = Producers(program)
    steps: list[Step] = []
    for step in program.steps:
        new = _repeated_later(step, producers) or [_kept(step, producers) or _taking_less(step, producers)]
        producers.producers.update((id(t), s) for s in new for t in s.outputs)
        steps += new
    program.steps = steps


def _repeated_later(step: Step, producers: Producers) -> list[Step] | None:
    """Returns the steps that compute with a tensor before it is repeated, and repeat the result, or None."""
    tensors = step.inputs
    if step.op.element is None or step.placed or len(step.outputs) != 1 or not tensors:
        return None
    tensor, *others = sorted(tensors, key=lambda t: -(t.shape.rank or 0))
    repeating = producers.of(tensor, ops.BroadcastTo)
    if repeating is None or any(t.shape.rank != 0 for t in others) or not step.outputs[0].shape.is_fully_defined():
        return None
    source, out = repeating.args[0], step.outputs[0]
    small = SymbolicTensor(out.op, out.value_index, out.dtype, source.shape)
    computed = Step(step.op, substituted(step.args, {id(tensor): source}), [small], step.origins)
    return [computed, Step(ops.BroadcastTo.op, [small, tuple(out.shape.as_list())], [out], step.origins)]


def _kept(step: Step, producers: Producers) -> Step | None:
    """Returns the reduction that keeps its dimensions for a step that adds them to one that does not, or None."""
    if step.op is not ops.Reshape.op or step.placed:
        return None
    reduction = producers.producers.get(id(step.args[0]))
    if reduction is None or reduction.op.over_rows is None or reduction.placed or reduction.args[2]:
        return None
    x, axes = reduction.args[0], host_static(reduction.args[1])
    axes = axes if type(axes) is tuple else (axes,)
    if x.shape.rank is None or not all(type(axis) is int for axis in axes):
        return None
    reduced = {axis % x.shape.rank for axis in axes}
    kept = [1 if i in reduced else d for i, d in enumerate(x.shape)]
    if kept.count(None) > 1 or step.outputs[0].shape.as_list() != kept:
        return None
    return Step(reduction.op, [x, reduction.args[1], True], step.outputs, [*reduction.origins, *step.origins])


def _taking_less(step: Step, producers: Producers) -> Step:
    """Returns a step that takes tensors before they are repeated, if its other tensor has the shape of its result."""
    if not step.registered or step.op.shape is not broadcast or step.placed:
        return step
    shape = step.outputs[0].shape
    for i, other in ((0, 1), (1, 0)):
        source = producers.of(step.args[i], ops.BroadcastTo)
        if source is not None and shape.is_fully_defined() and step.args[other].shape == shape:
            step.args[i] = source.args[0]
            break
    return step
