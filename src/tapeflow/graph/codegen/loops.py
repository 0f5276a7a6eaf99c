"""The kernel of a loop."""

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
    """Takes the loop variables' first values and what is captured, and gives the last values. If a gradient is asked
    for, it also
    gives a record: for each iteration, what the gradient takes of it.

    Args:
        condition, body: what is called on the loop variables.
        count: how many loop variables there are.
        captured: how many values are captured.
        places: which of the captured values condition and body take after the loop variables.
        limited: whether the first value is how often the body runs at most.

    Attributes:
        kept: the tensors of the body's graph that the record has of each iteration; None if there is no record.
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
        self.kept: list[SymbolicTensor] | None = None

    def keep(self, tensors: Sequence[SymbolicTensor]) -> list[int]:
        """Has the loop give a record of all iterations, with these tensors of the body's graph among others.

        Returns:
            Where they are in the record of an iteration.
        """
        self.rewrite()
        self.kept = kept = self.kept or []
        known = {id(t): i for i, t in enumerate(kept)}
        new = [t for t in tensors if id(t) not in known]
        known.update((id(t), len(kept) + i) for i, t in enumerate(new))
        kept += new
        return [known[id(t)] for t in tensors]

    @property
    def _step(self) -> Compiled:
        """What runs the body, and gives the tensors that are kept too."""
        return self.body.giving([*self.body.outputs, *self.kept]) if self.kept else self.body.compiled

    def region(self, graphs: set[int] | None = None) -> LoopRegion:
        """The loop as a part of a program; `graphs` as of `Region`."""
        graphs = set() if graphs is None else graphs
        parts = Region(self.condition.compiled.specialized(), graphs), Region(self._step.specialized(), graphs)
        return LoopRegion(*parts, self.count, self.places, self.limited)

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
        return tuple(last) if self.kept is None else (*last, boxed(record))

    def _write(self) -> Writer:
        writer = StructuredWriter()
        writer.write_loop(self.name, self.region(), self.captured, self.kept is not None)
        return writer
