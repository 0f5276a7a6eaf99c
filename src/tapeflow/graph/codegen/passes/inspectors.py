"""Inspection: adds a step after each step that shows its outputs to inspectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from tapeflow.core.ops.numerics import checked_outputs, is_finite, not_finite
from tapeflow.graph.ir.operation import GraphOp, Operation
from tapeflow.graph.program.program import Program, Step


class Inspector(Protocol):
    """Looks at the results of operations while functions run.

    Attributes:
        reason: why functions are not compiled then.
    """

    reason: str

    def choose(self, step: Step) -> list[int]:
        """Returns the places of the outputs of a step that it looks at."""

    def look(self, step: Step, place: int, value: Any, inputs: Sequence[Any]) -> None:
        """Looks at an output of a step.

        Args:
            step: the step.
            place: the place of the output.
            value: its raw value.
            inputs: the raw values of the step's inputs, None for those that are not floating-point.
        """

    def enter(self, operations: Sequence[Operation]) -> None:
        """Is called with the operations of a graph before it runs."""


class FiniteNumbers:
    """Raises an error at the first infinity or NaN."""

    reason = "tf.debugging.enable_check_numerics() checks the result of each op"

    def choose(self, step: Step) -> list[int]:
        """Returns the places of the floating-point outputs that are checked."""
        return checked_outputs(step.name, [t.dtype for t in step.outputs])

    def look(self, step: Step, place: int, value: Any, inputs: Sequence[Any]) -> None:
        """Raises InvalidArgumentError if an output has an infinity or a NaN."""
        if not is_finite(value):
            graph: Any = step.operation.graph
            texts = list(map(str, step.inputs))
            raise not_finite(value, place, len(step.outputs), step.name, "graph", texts, inputs, graph.name)

    def enter(self, operations: Sequence[Operation]) -> None:
        """Does nothing."""


FINITE_NUMBERS = FiniteNumbers()


class Inspection(GraphOp):
    """The op of a step that shows the outputs of another one to an inspector.

    Args:
        step: the other step.
        places: the places of the outputs.
        inspector: looks at them.
    """

    diagnostic = True

    def __init__(self, step: Step, places: list[int], inspector: Inspector) -> None:
        super().__init__("CheckNumerics", self._show, stateful=True)
        self._step, self._places, self._inspector = step, places, inspector
        self.inputs = [t for t in step.inputs if t.dtype.is_floating]

    def _show(self, *values: Any) -> None:
        by_tensor = dict(zip(map(id, self.inputs), values[len(self._places) :], strict=True))
        inputs = [by_tensor.get(id(t)) for t in self._step.inputs]
        for place, value in zip(self._places, values, strict=False):
            self._inspector.look(self._step, place, value, inputs)


def keep_results(program: Program, inspectors: Sequence[Inspector]) -> None:
    """Keeps other passes from removing steps with results to look at."""
    for step in program.steps:
        step.must_run = step.must_run or any(inspector.choose(step) for inspector in inspectors)


def inspect_results(program: Program, inspectors: Sequence[Inspector]) -> None:
    """Adds a step for each inspector after each step."""
    steps = []
    for step in program.steps:
        steps.append(step)
        inside = step.op.control == "call" and not step.op.bodies["f"].optimized
        for inspector in inspectors:
            places = [] if inside else inspector.choose(step)
            if places:
                op = Inspection(step, places, inspector)
                steps.append(
                    Step(op, [*(step.outputs[i] for i in places), *op.inputs], [], step.origins, must_run=True)
                )
    program.steps = steps
