"""Functions that show the result of each operation to inspectors.

A thread that called `tf.debugging.enable_check_numerics` or `enable_dump_debug_info` traces graphs for these functions.
They run each operation as it stands: no pass removes, merges or replaces one with a result to look at.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

from tapeflow.core.context import state
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.graph.codegen.compile import Compiled, after_passes
from tapeflow.graph.codegen.pass_order import Pass, specialize_inner
from tapeflow.graph.codegen.passes.inspectors import Inspector, inspect_results, keep_results
from tapeflow.graph.ir.operation import GraphOp, Operation
from tapeflow.graph.program.program import Program
from tapeflow.graph.program.simplify import simplify


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
        effects = [*effects]
        graph: Any = next((o.graph for o in (*(t.op for t in outputs), *effects)), None)
        operations = [] if graph is None else graph.get_operations()
        if graph is not None and graph.traced:  # unused results are looked at, too
            effects += [o for o in operations if _is_computation(o)]
        super().__init__(name, inputs, outputs, effects, **options)
        for inspector in inspectors:
            inspector.enter(operations)

    def specialized(self, special_passes: Sequence[Pass] | None = None) -> Program:
        """Returns the program with its inspections, by default for a branch or loop body."""
        return after_passes(self.program, self.special_passes if special_passes is None else special_passes)

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
