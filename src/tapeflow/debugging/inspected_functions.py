"""Functions that show the result of each operation to inspectors.

A thread that called `tf.debugging.enable_check_numerics` or `enable_dump_debug_info` traces graphs for these functions.
They run each operation as it stands: no pass removes, merges or replaces one with a result to look at.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, Protocol

from tapeflow.core.context import state
from tapeflow.core.ops.numerics import checked_outputs, is_finite, not_finite
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.graph.codegen.compile import Compiled
from tapeflow.graph.codegen.pass_order import specialize_inner
from tapeflow.graph.ir.operation import GraphOp, Operation
from tapeflow.graph.program.program import Program, Step
from tapeflow.graph.program.simplify import simplify


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


class Inspected(Compiled):
    """A function of a graph that shows the results of its steps; other arguments as in `Compiled`.

    Args:
        inspectors: look at the results.
    """

    def __init__(
        self, name: str, inputs: Sequence[SymbolicTensor], outputs: Sequence[SymbolicTensor],
        effects: Iterable[Operation] = (), *, inspectors: Sequence[Inspector], **options: Any,
    ) -> None:  # fmt: skip
        # With constants folded, sizes and indices stay constants.
        self.simplifying_passes = functools.partial(keep_results, inspectors=inspectors), simplify
        self.special_passes = functools.partial(inspect_results, inspectors=inspectors), specialize_inner
        self.inner_passes = self.special_passes
        effects = [*effects]
        graph: Any = next((o.graph for o in (*(t.op for t in outputs), *effects)), None)
        operations = [] if graph is None else graph.get_operations()
        if graph is not None and graph.traced:  # unused results are looked at, too
            effects += [o for o in operations if _is_computation(o)]
        super().__init__(name, inputs, outputs, effects, **options)
        for inspector in inspectors:
            inspector.enter(operations)

    def adapt(self) -> None:
        """Does nothing: there is one function for all sizes."""

    def text(self, optimized: bool, captured: Sequence[Any]) -> str:
        """Returns the source of the function; the arguments are ignored."""
        return self.source


def _is_computation(operation: Operation) -> bool:
    """Returns True if an operation computes floating-point numbers from tensors."""
    op = operation.op
    return not isinstance(op, GraphOp) and not op.creates and any(t.dtype.is_floating for t in operation.outputs)


@dataclasses.dataclass(frozen=True)
class InspectingCompiler:
    """The compiler of graphs that are traced while results are looked at.

    Args:
        inspectors: look at the results.
    """

    inspectors: tuple[Inspector, ...]
    optimizes: ClassVar[bool] = False

    def compiled(self, *arguments: Any, **options: Any) -> Compiled:
        """Returns a function of a graph; arguments as in `Compiled`."""
        return Inspected(*arguments, inspectors=self.inspectors, **options)

    def explanation(self) -> str:
        """Returns the reason for not compiling."""
        return "not compiled: " + ", ".join(inspector.reason for inspector in self.inspectors)


def add_inspector(inspector: Inspector) -> None:
    """Has functions that this thread traces from now on show their results to an inspector, too."""
    state.compiler = InspectingCompiler((*getattr(state.compiler, "inspectors", ()), inspector))


def remove_inspector(inspector: Inspector) -> None:
    """Ends what `add_inspector` began."""
    others = tuple(other for other in getattr(state.compiler, "inspectors", ()) if other is not inspector)
    state.compiler = InspectingCompiler(others) if others else None
