"""Inspection: adds a step after each step that searches its outputs for infinities and NaNs."""

from __future__ import annotations

from typing import Any

from tapeflow.core.ops.numerics import checked_outputs, is_finite, not_finite
from tapeflow.graph.codegen.program import CALLS, Program, Step
from tapeflow.graph.ir.operation import GraphOp


class Inspection(GraphOp):
    """The op of a step that checks another one.

    Args:
        step: the step to check.
        places: the places of the checked outputs.
    """

    diagnostic = True

    def __init__(self, step: Step, places: list[int]) -> None:
        super().__init__("CheckNumerics", self._check, stateful=True)
        self._step, self._places = step, places
        self.inputs = [t for t in step.inputs if t.dtype.is_floating]

    def _check(self, *values: Any) -> None:
        for place, value in zip(self._places, values, strict=False):
            if not is_finite(value):
                step = self._step
                texts = list(map(str, step.inputs))
                by_tensor = dict(zip(map(id, self.inputs), values[len(self._places) :], strict=True))
                raw = [by_tensor.get(id(t)) for t in step.inputs]
                graph: Any = step.operation.graph
                raise not_finite(value, place, len(step.outputs), step.name, "graph", texts, raw, graph.name)


def keep_results(program: Program) -> None:
    """Keeps other passes from removing steps with results to check."""
    for step in program.steps:
        step.must_run = step.must_run or bool(checked_outputs(step.name, [t.dtype for t in step.outputs]))


def inspect_results(program: Program) -> None:
    """Adds a check after each step with floating-point outputs."""
    steps = []
    for step in program.steps:
        steps.append(step)
        inside = step.name in CALLS and not step.registered and not step.op.bodies["f"].optimized
        places = [] if inside else checked_outputs(step.name, [t.dtype for t in step.outputs])
        if places:
            op = Inspection(step, places)
            steps.append(Step(op, [*(step.outputs[i] for i in places), *op.inputs], [], step.origins, must_run=True))
    program.steps = steps
