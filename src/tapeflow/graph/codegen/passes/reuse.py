"""In-place reuse: a result takes the memory of an input that nobody needs any more.

It saves the memory, and with large tensors most of the time: fresh pages cost more than the arithmetic.

Only memory that is certainly a step's own is written to: that of a result which its kernel always allocates, which no
later step takes, and which no step before could keep or look at through a view. So all steps that take it must be of
ops that are known to do neither.
"""

from __future__ import annotations

from tapeflow.core.ops.definition import Op
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.graph.codegen.program import Program, Step
from tapeflow.graph.ir.operation import GraphOp

_FROM = 1 << 15  # bytes: below that, an allocation costs nothing worth mentioning


def reuse(program: Program) -> None:
    """Lets steps write into the memory of an input at its last use."""
    takers: dict[int, list[int]] = {}
    for i, step in enumerate(program.steps):
        for t in step.inputs:
            takers.setdefault(id(t), []).append(i)
    kept = {id(t) for t in (*program.inputs, *program.outputs)} | set(program.constants)
    own: dict[int, bool] = {}
    for i, step in enumerate(program.steps):
        place = _place(step, i, own, takers)
        if place is not None:
            program.steps[i] = _in_place(step, place)
        if step.op.allocates and len(step.outputs) == 1:
            out = step.outputs[0]
            users = takers.get(id(out), ())
            own[id(out)] = id(out) not in kept and all(_keeps_nothing(program.steps[j].op) for j in users)


def _place(step: Step, index: int, own: dict[int, bool], takers: dict[int, list[int]]) -> int | None:
    """Which of a step's inputs can take its result."""
    if step.op.in_place is None or step.placed or not step.native:
        return None
    out = step.outputs[0]
    for i, t in enumerate(step.inputs[: 2 if step.op.commutative else 1]):
        if own.get(id(t)) and takers[id(t)][-1] == index and _alike(t, out):
            return i
    return None


def _alike(tensor: SymbolicTensor, out: SymbolicTensor) -> bool:
    """Whether a tensor's memory certainly fits the result, and is worth having."""
    if tensor.dtype is not out.dtype or not out.dtype.is_floating or tensor.shape != out.shape:
        return False
    return tensor.shape.is_fully_defined() and tensor.shape.num_elements() * out.dtype.size >= _FROM


def _in_place(step: Step, place: int) -> Step:
    """Returns the step that writes into the input at a place; the step itself where its attrs forbid that."""
    how = step.op.in_place
    call = (None, how) if isinstance(how, str) else how(*step.args) if how is not None else None
    if call is None:
        return step
    tensors = step.inputs[::-1] if place == 1 else step.inputs
    kernel, template = call
    return Step(GraphOp(step.name, kernel, template=template), tensors, step.outputs, step.origins)


def _keeps_nothing(op: Op) -> bool:
    return op.allocates or op.keeps_nothing
