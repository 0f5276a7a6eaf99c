"""The kernel of `While` operations."""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Any

from tapeflow.array.list_values import Repeated, Rows
from tapeflow.core import errors
from tapeflow.core.fork_locks import cached_property
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.graph.codegen.compile import Written
from tapeflow.graph.codegen.control_flow_source import ControlFlowWriter
from tapeflow.graph.codegen.prologue import Prologue
from tapeflow.graph.codegen.step_source import Writer
from tapeflow.graph.program.loops import LoopParts, Record, returned_values
from tapeflow.graph.program.program import Program


class Loop(Written):
    """A loop: computes the last values of its loop variables from their first values and the loop-invariant values.

    If a gradient needs residuals, the loop also returns its trip count, and for each residual a list of its values in
    all iterations.

    Args:
        condition, body: the functions of the loop variables, `control.body.Body`s.
        count: the number of loop variables.
        captured: the number of loop-invariant values.
        places: for condition and body, the places of the loop-invariant values that follow the loop variables.
        limited: True if the first value is the maximal trip count.
        uniform: the places of the loop-invariant lists without missing entries and with entries of one shape.
        residuals: the residuals, tensors of the body's graph; None without a gradient.

    Attributes:
        gradients: the kernels of the gradients that use its residuals.
    """

    def __init__(
        self,
        condition: Any,
        body: Any,
        count: int,
        captured: int,
        places: tuple[Sequence[int], Sequence[int]],
        limited: bool,
        uniform: Container[int] = (),
        residuals: Sequence[SymbolicTensor] | None = None,
    ) -> None:
        super().__init__(body.name)
        self.condition, self.body = condition, body
        self.count, self.captured, self.places, self.limited = count, captured, places, limited
        self.uniform = uniform
        self.residuals = residuals
        self.gradients: list[Any] = []

    def recording(self, tensors: Sequence[SymbolicTensor]) -> Loop:
        """Returns a loop with additional residuals.

        Args:
            tensors: the residuals, tensors of the `differentiable` body's graph.
        """
        residuals = {id(t): t for t in (*(self.residuals or ()), *tensors)}
        if self.residuals is not None and len(residuals) == len(self.residuals):
            return self
        loop = Loop(
            self.condition, self.body.differentiable, self.count, self.captured, self.places, self.limited,
            self.uniform, list(residuals.values()),
        )  # fmt: skip
        loop.gradients += self.gradients
        return loop

    @property
    def results(self) -> int:
        """The number of returned values."""
        return self.count + (0 if self.residuals is None else 1 + len(self.residuals))

    @cached_property
    def prologue(self) -> Prologue:
        """The hoisted part of the body."""
        return Prologue(self)

    @property
    def in_rows(self) -> list[SymbolicTensor]:
        """The residuals that iterations compute. The others are hoisted."""
        ahead = {id(t) for t in self.prologue.tensors}
        return [t for t in self.residuals or () if id(t) not in ahead]

    @property
    def _ahead(self) -> list[SymbolicTensor]:
        """The hoisted residuals."""
        wanted = {id(t) for t in self.residuals or ()}
        return [t for t in self.prologue.tensors if id(t) in wanted]

    def _lists(self, record: Record) -> list[Any]:
        """Returns the raw trip count and the raw lists of the residuals."""
        trips, stacked = len(record.rows), {id(t) for t in self.prologue.stacked}
        lists: dict[int, Any] = dict(zip(map(id, self.in_rows), zip(*record.rows, strict=True), strict=False))
        for t, value in zip(self._ahead, record.ahead, strict=bool(trips)):
            lists[id(t)] = Rows(value) if id(t) in stacked else Repeated(value, trips)
        return returned_values(trips, [lists.get(id(t), ()) for t in self.residuals or ()])

    def specialized(self) -> list[Program]:
        """Returns the programs of condition, body and hoisted part with faster kernels."""
        own, prologue = self.body, self.prologue
        step = own.returning([*own.outputs, *self.in_rows]) if self.residuals else own.compiled
        ahead = []
        if prologue.tensors:
            inputs = [*own.inputs, *prologue.tensors]  # the graph's static values stay valid for hoisted tensors
            step = own.function(step.name, inputs, [*own.outputs, *self.in_rows], static=True)
            ahead = [prologue.function.specialized()]
        return [self.condition.compiled.specialized(), step.specialized(), *ahead]

    def __call__(self, *values: Any) -> tuple[Any, ...]:
        """Runs the loop on raw values.

        Raises:
            OpError: an op failed.
        """
        limit = int(values[0]) if self.limited else -1
        record = Record()
        try:
            last = self.function(limit, record, *(values[1:] if self.limited else values))
        except Exception as error:
            raise self.finish(error) from (error.__cause__ if isinstance(error, errors.OpError) else error)
        return tuple(last) if self.residuals is None else (*last, *self._lists(record))

    def _write(self) -> Writer:
        writer = ControlFlowWriter()
        wanted = {id(t) for t in self._ahead}
        ahead = [i for i, t in enumerate(self.prologue.tensors) if id(t) in wanted]
        recorded = None if self.residuals is None else ahead
        writer.write_loop(self.name, LoopParts(self.specialized(), self), self.captured, recorded)
        return writer
