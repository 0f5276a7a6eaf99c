"""Assembling: a sum of gradients of slices becomes one concatenation.

The gradient of each of `x[:, :n]` and `x[:, n:]` is a tensor of the shape of `x` with zeros elsewhere, and that of `x`
is their sum. Where the slices stand side by side along one axis and fill it, that is a concatenation of the smaller
gradients, or a stack of them for `x[:, 0]`, `x[:, 1]`, ...
"""

from __future__ import annotations

from tapeflow.array.slicing import Part, part_of_gradient
from tapeflow.core.ops.definition import ops
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.graph.codegen.program import Program, Step

Parts = list[tuple[Part, SymbolicTensor]]


def assemble(program: Program) -> None:
    """Replaces sums of gradients of slices; what is without uses then is pruned later."""
    gradients = [step for step in program.steps if step.op is ops.StridedSliceGrad.op and not step.placed]
    if len(gradients) > 1:
        parts: dict[int, Parts] = {}
        program.steps = [_assembled(step, parts) for step in program.steps]


def _assembled(step: Step, parts: dict[int, Parts]) -> Step:
    """Returns the step, or the one that assembles its result; `parts` is by the ids of the tensors seen so far."""
    if step.placed:
        return step
    if step.op is ops.StridedSliceGrad.op:
        part = part_of_gradient(step.args)
        if part is not None:
            parts[id(step.outputs[0])] = [(part, step.args[4])]
    elif step.op is ops.AddV2.op or step.op is ops.AddN.op:
        summands = [parts.get(id(t)) for t in step.inputs]
        together = [pair for own in summands if own is not None for pair in own]
        if None not in summands and _stand_apart(together):
            parts[id(step.outputs[0])] = together
            return _joined(step, together) or step
    return step


def _stand_apart(parts: Parts) -> bool:
    """Sorts the parts of a sum, and tests whether they are of one axis and overlap nowhere."""
    parts.sort(key=lambda pair: pair[0].first)
    pairs = zip(parts, parts[1:], strict=False)
    return all(a.axis == b.axis and a.single is b.single and a.last <= b.first for (a, _), (b, _) in pairs)


def _joined(step: Step, parts: Parts) -> Step | None:
    """Returns the step that joins parts without gaps; None if there are any."""
    first, last = parts[0][0], parts[-1][0]
    gaps = any(a.last != b.first for (a, _), (b, _) in zip(parts, parts[1:], strict=False))
    if gaps or first.first or last.last != last.length:
        return None
    op = ops.Pack.op if first.single else ops.ConcatV2.op
    return Step(op, [[t for _, t in parts], first.axis], step.outputs, step.origins)
