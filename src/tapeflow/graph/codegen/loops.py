"""The kernel of `While` operations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tapeflow.core import errors
from tapeflow.core.values.held import boxed
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.graph.codegen.compile import Compiled, Written
from tapeflow.graph.codegen.regions import LoopRegion, Region
from tapeflow.graph.codegen.structured import StructuredWriter
from tapeflow.graph.codegen.writing import Writer

if TYPE_CHECKING:
    from tapeflow.graph.control.body import Body


class Loop(Written):
    """A loop: computes the last values of its loop variables from the first ones and the loop-invariant values.

    If a gradient needs them, it also returns a record of the residuals of each iteration.

    Args:
        condition, body: the functions of the loop variables.
        count: the number of loop variables.
        captured: the number of loop-invariant values.
        places: for condition and body, the places of the loop-invariant values that follow the loop variables.
        limited: whether the first value is the maximal trip count.

    Attributes:
        residuals: tensors of the body's graph that each iteration appends to the record; None if there is no
            record.
    """

    def __init__(
        self,
        condition: Body,
        body: Body,
        count: int,
        captured: int,
        places: tuple[Sequence[int], Sequence[int]],
        limited: bool,
    ) -> None:
        super().__init__(body.name)
        self.condition, self.body = condition, body
        self.count, self.captured, self.places, self.limited = count, captured, places, limited
        self.residuals: list[SymbolicTensor] | None = None

    def add_residuals(self, tensors: Sequence[SymbolicTensor]) -> list[int]:
        """Adds residuals to the record of iterations, which the loop returns from now on.

        Args:
            tensors: tensors of the body's graph.

        Returns:
            Their places in the record of an iteration.
        """
        self.rewrite()
        self.residuals = residuals = self.residuals or []
        places = {id(t): i for i, t in enumerate(residuals)}
        new = [t for t in tensors if id(t) not in places]
        places.update((id(t), len(residuals) + i) for i, t in enumerate(new))
        residuals += new
        return [places[id(t)] for t in tensors]

    @property
    def _step(self) -> Compiled:
        """The function of the body that returns the residuals too."""
        return self.body.returning([*self.body.outputs, *self.residuals]) if self.residuals else self.body.compiled

    def region(self, graphs: set[int] | None = None) -> LoopRegion:
        """Returns the loop as a part of a program; `graphs` as in `Region`."""
        graphs = set() if graphs is None else graphs
        regions = Region(self.condition.compiled.specialized(), graphs), Region(self._step.specialized(), graphs)
        return LoopRegion(*regions, self.count, self.places, self.limited)

    def __call__(self, *values: Any) -> tuple[Any, ...]:
        """Runs the loop on raw values.

        Raises:
            OpError: an op failed.
        """
        limit = int(values[0]) if self.limited else -1
        record: list[Any] = []
        try:
            last = self.function(limit, record, *(values[1:] if self.limited else values))
        except Exception as error:
            raise self.explained(error) from (error.__cause__ if isinstance(error, errors.OpError) else error)
        return tuple(last) if self.residuals is None else (*last, boxed(record))

    def _write(self) -> Writer:
        writer = StructuredWriter()
        writer.write_loop(self.name, self.region(), self.captured, self.residuals is not None)
        return writer
