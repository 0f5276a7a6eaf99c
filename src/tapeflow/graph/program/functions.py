"""The protocol of functions and loops that programs and machine code use: `transform.body.Body` and `Loop` have it."""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Any, Protocol

from tapeflow.core.values.symbolic import SymbolicTensor


class Body(Protocol):
    """A traced function: a branch, or the condition or body of a loop."""

    graph: Any
    name: str
    inputs: list[SymbolicTensor]
    outputs: list[SymbolicTensor]

    @property
    def compiled(self) -> Any:
        """The compiled function, with its `program`."""

    @property
    def differentiable(self) -> Body:
        """The function that returns residuals."""

    @property
    def optimized(self) -> bool:
        """False if each of its operations runs as it stands."""

    @property
    def stateful(self) -> bool:
        """True if running it has side effects."""

    def returning(self, outputs: Sequence[SymbolicTensor]) -> Any:
        """Returns the compiled function of other outputs."""

    def function(self, *arguments: Any, **options: Any) -> Any:
        """Returns a compiled function of the graph."""


class Loop(Protocol):
    """A loop: the kernel of a `While` operation."""

    name: str
    condition: Body
    body: Body
    count: int
    places: tuple[Sequence[int], Sequence[int]]
    limited: bool
    uniform: Container[int]
    residuals: Sequence[SymbolicTensor] | None
    gradients: list[Any]

    @property
    def prologue(self) -> Any:
        """The hoisted part of the body."""

    @property
    def in_rows(self) -> list[SymbolicTensor]:
        """The residuals that iterations compute."""

    @property
    def results(self) -> int:
        """The number of returned values."""

    def __call__(self, *values: Any) -> tuple[Any, ...]:
        """Runs the loop on raw values."""
