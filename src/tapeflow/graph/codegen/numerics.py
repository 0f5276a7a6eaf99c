"""Functions that check the result of each operation for infinities and NaNs.

A thread that called `tf.debugging.enable_check_numerics` traces graphs for these functions. They run each operation as
it stands: no pass removes, merges or replaces one with a floating-point result.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.graph.codegen.compile import Compiled, after_passes
from tapeflow.graph.codegen.passes import Pass
from tapeflow.graph.codegen.passes.folding import fold
from tapeflow.graph.codegen.passes.inspecting import inspect_results, keep_results
from tapeflow.graph.codegen.program import Program
from tapeflow.graph.ir.operation import GraphOp, Operation


class Inspected(Compiled):
    """A function of a graph with a check after each step; arguments as in `Compiled`."""

    simplifying_passes = keep_results, fold  # sizes and indices stay constants
    special_passes = (inspect_results,)

    def __init__(
        self, name: str, inputs: Sequence[SymbolicTensor], outputs: Sequence[SymbolicTensor],
        effects: Iterable[Operation] = (), **options: Any,
    ) -> None:  # fmt: skip
        effects = [*effects]
        graph: Any = next((o.graph for o in (*(t.op for t in outputs), *effects)), None)
        if graph is not None and graph.traced:  # unused results are checked, too
            effects += [o for o in graph.get_operations() if _is_computation(o)]
        super().__init__(name, inputs, outputs, effects, **options)

    def specialized(self, special_passes: Sequence[Pass] = special_passes) -> Program:
        """Returns the program with its checks, by default for a branch or loop body."""
        return after_passes(self.program, special_passes)

    def adapt(self) -> None:
        """Does nothing: there is one function for all sizes."""

    def text(self, optimized: bool, captured: Sequence[Any]) -> str:
        """Returns the source of the function; the arguments are ignored."""
        return self.source


def _is_computation(operation: Operation) -> bool:
    """Returns True if an operation computes floating-point numbers from tensors."""
    op = operation.op
    return not isinstance(op, GraphOp) and not op.creates and any(t.dtype.is_floating for t in operation.outputs)


class NumericsCompiler:
    """The compiler of graphs that are traced while results are checked."""

    optimizes = False

    def compiled(self, *arguments: Any, **options: Any) -> Compiled:
        """Returns a function of a graph; arguments as in `Compiled`."""
        return Inspected(*arguments, **options)

    def explanation(self) -> str:
        """Returns the reason for not compiling."""
        return "not compiled: tf.debugging.enable_check_numerics() checks the result of each op"


compiler = NumericsCompiler()
