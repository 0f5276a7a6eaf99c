"""Running a graph one operation at a time. A run can stop and continue with more feeds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tapeflow.core import errors
from tapeflow.core.ops.kernels import compute
from tapeflow.core.ops.static import numbers
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.tensor import EagerTensor
from tapeflow.graph.codegen.program import Step
from tapeflow.graph.ir.operation import GraphOp, Operation


class Stepping:
    """A run in several parts. Each operation runs at most once.

    Args:
        resources: maps each variable to the variable to use.
    """

    def __init__(self, resources: Callable[[Any], Any]) -> None:
        self._resources = resources
        self._values: dict[int, Any] = {}  # raw values by the tensors' ids
        self._done: set[int] = set()

    def run(self, fed: dict[int, Any], wanted: Sequence[Any]) -> list[Any]:
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
            self._step(operation)
        return [self._values[id(w)] if isinstance(w, SymbolicTensor) else None for w in wanted]

    def _missing(self, wanted: Sequence[Any]) -> list[Operation]:
        """Returns the operations that must still run for `wanted`, in program order."""
        missing: dict[int, Operation] = {}
        stack = [w.op if isinstance(w, SymbolicTensor) else w for w in wanted if id(w) not in self._values]
        while stack:
            operation = stack.pop()
            if id(operation) in missing or id(operation) in self._done:
                continue
            if operation.type == "Placeholder":
                raise errors.InvalidArgumentError(
                    None,
                    None,
                    f"Fetch {wanted[0].name} can't be computed from the feeds that have been fed so far: feed "
                    f"{operation.name}.",
                )
            missing[id(operation)] = operation
            stack.extend(t.op for t in operation.inputs if id(t) not in self._values)
            stack.extend(operation._control_inputs)
        return sorted(missing.values(), key=lambda o: o.index)

    def _step(self, operation: Operation) -> None:
        results = computed(operation, lambda tensor: self._values[id(tensor)], self._resources)
        self._done.add(id(operation))
        self._values.update(zip(map(id, operation.outputs), results, strict=False))


def computed(
    operation: Operation | Step, value_of: Callable[[SymbolicTensor], Any], resources: Callable[[Any], Any]
) -> Sequence[Any]:
    """Returns the raw values of an operation's outputs.

    Args:
        operation: the operation, or a step that computes one.
        value_of: returns the raw value of an input.
        resources: maps each variable to the variable to use.
    """
    op = operation.op
    if isinstance(op, GraphOp):
        if op.name == "Const":
            result = op.attrs["value"].value
        elif op.name == "VarHandleOp":
            result = resources(op.attrs["variable"])
        else:
            result = None if op.kernel is None else op.kernel(*map(value_of, operation.inputs))
        many = op.gives_tuple
    else:
        args = op.map(
            lambda tensor: EagerTensor(value_of(tensor), tensor.dtype),
            operation.args,
            host=lambda arg: numbers(value_of(arg)) if isinstance(arg, SymbolicTensor) else arg,
        )
        result, _ = compute(op, args, operation.types, operation.name)
        many = isinstance(result, (list, tuple))
    if result is None:
        return ()
    values: Sequence[Any] = result if many or len(operation.outputs) > 1 else [result]
    return values
