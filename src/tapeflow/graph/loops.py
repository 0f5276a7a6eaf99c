"""The kernel of a loop."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tapeflow import errors
from tapeflow.graph.compile import Written
from tapeflow.graph.regions import LoopRegion, region_of
from tapeflow.graph.structured import StructuredWriter

if TYPE_CHECKING:
    from tapeflow.function.body import Body


class Loop(Written):
    """Takes the loop variables' first values and what is captured, and gives the last values.

    Its first iteration runs the functions of condition and body, whose kernels have to show what they give. With the next one it
    is a function of its own.

    Args:
        condition, body: what is called on the loop variables.
        count: how many loop variables there are.
        places: which of the captured values condition and body take after the loop variables.
        limited: whether the first value is how often the body runs at most.
    """

    def __init__(
        self, condition: Body, body: Body, count: int, places: tuple[Sequence[int], Sequence[int]], limited: bool
    ) -> None:
        super().__init__(body.name)
        self._condition, self._body = condition, body
        self._count, self._places, self._limited = count, places, limited
        self.stale = True

    def region(self) -> LoopRegion:
        """The loop as a part of a program."""
        parts = region_of(self._condition), region_of(self._body)
        return LoopRegion(*parts, self._count, self._places, self._limited)

    def __call__(self, *values: Any) -> tuple[Any, ...]:
        """Runs the loop on raw values.

        Raises:
            OpError: an op failed.
        """
        limit = int(values[0]) if self._limited else -1
        values = values[1:] if self._limited else values
        now, captured = values[: self._count], values[self._count :]
        if self.stale:
            of_condition, of_body = ([captured[i] for i in places] for places in self._places)
            test, step = self._condition.compiled, self._body.compiled
            while True:
                if not limit or not test(*now, *of_condition)[0]:
                    return tuple(now)
                now = step(*now, *of_body)
                limit -= 1
                if not test.stale and not step.stale:
                    break
            self._write(len(captured))
        try:
            return self.function(limit, *now, *captured)
        except Exception as error:
            raise self.explained(error) from (error.__cause__ if isinstance(error, errors.OpError) else error)

    def _write(self, captured: int) -> None:
        self.stale = False
        writer = StructuredWriter(self.careful)
        writer.write_loop(self.name, self.region(), captured)
        self.compile(writer)
