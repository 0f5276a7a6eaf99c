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

if TYPE_CHECKING:
    from tapeflow.graph.control.body import Body


class Loop(Written):
    """Takes the loop variables' first values and what is captured, and gives the last values. If a gradient is asked
    for, it also
    gives a record: for each iteration, what the gradient takes of it.

    Its first iteration runs the functions of condition and body, whose kernels have to show what they give. With the
    next one it is a function of its own.

    Args:
        condition, body: what is called on the loop variables.
        count: how many loop variables there are.
        places: which of the captured values condition and body take after the loop variables.
        limited: whether the first value is how often the body runs at most.

    Attributes:
        kept: the tensors of the body's graph that the record has of each iteration; None if there is no record.
    """

    def __init__(
        self, condition: Body, body: Body, count: int, places: tuple[Sequence[int], Sequence[int]], limited: bool
    ) -> None:
        super().__init__(body.name)
        self.condition, self.body = condition, body
        self.count, self.places, self.limited = count, places, limited
        self.kept: list[SymbolicTensor] | None = None
        self.stale = True

    def keep(self, tensors: Sequence[SymbolicTensor]) -> list[int]:
        """Has the loop give a record of all iterations, with these tensors of the body's graph among others.

        Returns:
            Where they are in the record of an iteration.
        """
        self.stale = True
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
        values = values[1:] if self.limited else values
        now, captured = values[: self.count], values[self.count :]
        record: list[Any] = []
        if self.stale:
            of_condition, of_body = ([captured[i] for i in places] for places in self.places)
            test, step = self.condition.compiled, self._step
            while True:
                if not limit or not test(*now, *of_condition)[0]:
                    return self._given(now, record)
                made = step(*now, *of_body)
                now = made[: self.count]
                record.append(made[self.count :])
                limit -= 1
                if not test.stale and not step.stale:
                    break
            self._write(len(captured))
        try:
            return self._given(self.function(limit, record, *now, *captured), record)
        except Exception as error:
            raise self.explained(error) from (error.__cause__ if isinstance(error, errors.OpError) else error)

    def _given(self, last: Sequence[Any], record: list[Any]) -> tuple[Any, ...]:
        return tuple(last) if self.kept is None else (*last, boxed(record))

    def _write(self, captured: int) -> None:
        self.stale = False
        writer = StructuredWriter(self.careful)
        writer.write_loop(self.name, self.region(), captured, self.kept is not None)
        self.compile(writer)
