"""Fusing: neighbouring steps that one kernel of ATen computes together.

Which do stands at the ops (`@f.fuses(g)`): a product with a bias (`addmm`), a convolution with a bias, products and
quotients that are added to something (`addcmul`, `addcdiv`). An activation that follows is then done in the result's
own memory (see `reuse.py`). The inner result must be of no use to anybody else. A fused kernel rounds once where two
would round twice, so that last bits may differ from eager ones.
"""

from __future__ import annotations

from typing import Any

from tapeflow.graph.codegen.program import Program, Step
from tapeflow.graph.ir.operation import GraphOp


def fuse(program: Program) -> None:
    """Puts one step in the place of two."""
    fusing = _Fusing(program)
    program.steps = [fusing.fused(step) for step in program.steps]


class _Fusing:
    """What has been seen of a program on the way through it."""

    def __init__(self, program: Program) -> None:
        self._uses = program.uses()
        self._makers: dict[int, Step] = {}

    def fused(self, step: Step) -> Step:
        """Returns the step, or one that does the work of the one before it too, which is pruned later: nobody takes
        what it gives."""
        if step.op.fusions and _may_fuse(step):
            step = self._with_an_input(step) or step
        for tensor in step.outputs:
            self._makers[id(tensor)] = step
        return step

    def _with_an_input(self, outer: Step) -> Step | None:
        tensors = outer.inputs
        for tensor, other in (tensors, tensors[::-1])[: 2 if outer.op.commutative else 1]:
            inner = self._maker(tensor)
            rule = None if inner is None else outer.op.fusions.get(inner.name)
            both = None if inner is None or rule is None else rule(inner, outer, other)
            if inner is not None and both is not None:
                kernel, template, args = both
                op = GraphOp(f"{inner.name}{outer.name}", kernel, template=template)
                op.allocates = True
                return Step(op, args, outer.outputs, [*inner.origins, *outer.origins])
        return None

    def _maker(self, tensor: Any) -> Step | None:
        """Returns the step that gives a tensor which is taken only once."""
        step = self._makers.get(id(tensor))
        return step if step is not None and _may_fuse(step) and self._uses[id(tensor)] == 1 else None


def _may_fuse(step: Step) -> bool:
    return step.op.registered and step.native and not step.placed and step.outputs[0].dtype.is_floating
