"""Fusing: computes two consecutive steps in one kernel.

Ops declare their fusions with `@f.fuses(g)`, for example a product and a bias (`addmm`), or a convolution and a bias. A
following activation then works in the result's memory (see `reuse.py`). The inner result must have no other use. A
fused kernel rounds once instead of twice, so its last bits may differ from eager results.
"""

from __future__ import annotations

from tapeflow.graph.codegen.patterns import Call, Capture, Captures, Matcher, Rule
from tapeflow.graph.ir.operation import GraphOp
from tapeflow.graph.program.program import NATIVE, Program, Step


def fuse(program: Program) -> None:
    """Replaces pairs of steps by one step, if the op of the second step declares a fusion with the first."""
    fusions = {step.name: tuple(step.op.fusions) for step in program.steps if step.op.fusions}
    if fusions:
        pairs = _Pairs(program)
        pairs.replace([pairs.rule(outer, inner) for outer, inner in fusions.items()])


class _Pairs(Matcher):
    """The pairs of steps that one kernel computes."""

    def rule(self, outer: str, inner: tuple[str, ...]) -> Rule:
        """Returns the rule for one kernel of two ops: `outer`, and before it one of `inner`."""
        pattern = Call(outer, Call(inner, name="inner", once=True), Capture("other"))
        return Rule(pattern, self._replace_pair, dtypes=NATIVE)

    def _replace_pair(self, step: Step, captures: Captures) -> str | None:
        """Lets a step also compute its producer. `prune` then removes the producer."""
        inner = self.producers[id(captures["inner"])]
        fused = step.op.fusions[inner.name](inner, step, captures["other"]) if inner.registered else None
        if fused is None:
            return "there is no kernel"
        kernel, template, step.args = fused
        step.op = GraphOp(f"{inner.name}{step.name}", kernel, template=template)
        step.op.allocates = True
        step.origins = [*inner.origins, *step.origins]
        return None
