"""Fusing: computes two consecutive steps in one kernel.

Ops declare their fusions with `@f.fuses(g)`, for example a product and a bias (`addmm`), or a convolution and a bias. A
following activation then works in the result's memory (see `reuse.py`). The inner result must have no other use. A
fused kernel rounds once instead of twice, so its last bits may differ from eager results.
"""

from __future__ import annotations

from typing import Any

from tapeflow.graph.codegen.program import Program, Step
from tapeflow.graph.ir.operation import GraphOp


def fuse(program: Program) -> None:
    """Replaces pairs of steps by one step, if the op of the second step declares a fusion with the first."""
    fusing = _Fusing(program)
    program.steps = [fusing.fused(step) for step in program.steps]


class _Fusing:
    """The state of a walk through a program: the steps seen so far, by their outputs."""

    def __init__(self, program: Program) -> None:
        self._uses = program.use_counts()
        self._producers: dict[int, Step] = {}

    def fused(self, step: Step) -> Step:
        """Returns the step, or a step that also computes its producer. `prune` then removes the producer."""
        if step.op.fusions and _may_fuse(step):
            step = self._with_producer(step) or step
        for tensor in step.outputs:
            self._producers[id(tensor)] = step
        return step

    def _with_producer(self, outer: Step) -> Step | None:
        """Returns a step that computes `outer` and the producer of one of its inputs, or None."""
        tensors = outer.inputs
        for tensor, other in (tensors, tensors[::-1])[: 2 if outer.op.commutative else 1]:
            inner = self._producer(tensor)
            rule = None if inner is None else outer.op.fusions.get(inner.name)
            fused = None if inner is None or rule is None else rule(inner, outer, other)
            if inner is not None and fused is not None:
                kernel, template, args = fused
                op = GraphOp(f"{inner.name}{outer.name}", kernel, template=template)
                op.allocates = True
                return Step(op, args, outer.outputs, [*inner.origins, *outer.origins])
        return None

    def _producer(self, tensor: Any) -> Step | None:
        """Returns the step that computes a tensor, if it may be fused and the tensor has no other use."""
        step = self._producers.get(id(tensor))
        if step is None or not _may_fuse(step):
            return None
        return step if self._uses[id(tensor)] == 1 else None


def _may_fuse(step: Step) -> bool:
    if not step.op.registered or step.placed:
        return False
    return step.native and step.outputs[0].dtype.is_floating
