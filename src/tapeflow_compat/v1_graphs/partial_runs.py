"""Runs of a session in several parts: each goes on with more feeds, and runs each operation at most once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tapeflow.core import errors
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.graph.ir.operation import Operation, reachable
from tapeflow.graph.program.interpreter import interpret


class PartialRun:
    """A run in several parts.

    Args:
        resources: maps each variable to the variable to use.
    """

    def __init__(self, resources: Callable[[Any], Any]) -> None:
        self._resources = resources
        self._values: dict[int, Any] = {}  # raw values by the tensors' ids
        self._done: dict[int, Operation] = {}

    def resume(self, fed: dict[int, Any], wanted: Sequence[Any]) -> list[Any]:
        """Runs the operations behind the fetches, except those that have already run.

        Args:
            fed: raw values by the ids of the tensors that they replace.
            wanted: the fetches: tensors and operations.

        Returns:
            The raw values of tensors, and None for operations.

        Raises:
            InvalidArgumentError: a fetch depends on a placeholder that has not been fed.
        """
        self._values.update(fed)
        for operation in self._missing(wanted):
            self._run(operation)
        return [self._values[id(w)] if isinstance(w, SymbolicTensor) else None for w in wanted]

    def _missing(self, wanted: Sequence[Any]) -> list[Operation]:
        """Returns the operations that must still run for `wanted`, in program order."""
        targets = [w.op if isinstance(w, SymbolicTensor) else w for w in wanted if id(w) not in self._values]
        missing = reachable(targets, self._values.keys() | self._done.keys())
        unfed = next((o for o in missing if o.type == "Placeholder"), None)
        if unfed is not None:
            raise errors.InvalidArgumentError.of(
                f"Fetch {wanted[0].name} can't be computed from the feeds that have been fed so far: feed {unfed.name}."
            )
        return missing

    def _run(self, operation: Operation) -> None:
        results = interpret(operation, lambda tensor: self._values[id(tensor)], self._resources)
        self._done[id(operation)] = operation
        self._values.update(zip(map(id, operation.outputs), results, strict=False))
