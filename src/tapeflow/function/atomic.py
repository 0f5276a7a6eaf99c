"""The inner function of a concrete function. It takes flat tensors, and its captured tensors too as arguments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tapeflow.core.types.dtypes import resource
from tapeflow.core.values.tensor import EagerTensor, ReadAsTensor

if TYPE_CHECKING:
    from tapeflow.function.concrete import ConcreteFunction


class AtomicFunction:
    """A traced function that takes the tensors it captures as arguments.

    Args:
        concrete: the concrete function that it is of.
    """

    def __init__(self, concrete: ConcreteFunction) -> None:
        self._concrete = concrete

    @property
    def name(self) -> bytes:
        """The name under which a graph calls it."""
        return self._concrete.name

    @property
    def function_type(self) -> Any:
        """The types of its parameters."""
        return self._concrete.function_type

    @property
    def graph(self) -> Any:
        """The traced graph."""
        return self._concrete.graph

    @property
    def definition(self) -> Any:
        """The function as a `FunctionDef` message."""
        return self._concrete.function_def

    def __call__(self, *args: Any) -> list[Any]:
        """Calls it with a flat list of tensors, captured ones last; returns a flat list."""
        return self.call_flat(*args)

    def call_flat(self, *args: Any) -> list[Any]:
        """Calls it with a flat list of tensors, captured ones last; returns a flat list."""
        return self._concrete.body.call([*map(_variable_of, args)])

    def call_with_captures(self, args: Sequence[Any], kwargs: Mapping[str, Any], captures: Sequence[Any]) -> Any:
        """Calls it with structured arguments and the captured tensors; returns the structured result."""
        concrete = self._concrete
        return concrete._pack(self.call_flat(*concrete.binding.tensors(tuple(args), dict(kwargs)), *captures))

    def __repr__(self) -> str:
        return f"<AtomicFunction> {self._concrete._short()}"


def _variable_of(value: Any) -> Any:
    """Returns the variable of a handle, as which `captured_inputs` lists it; other values unchanged."""
    if type(value) is not EagerTensor or value.dtype is not resource:
        return value
    held = value.value[()]
    return held if isinstance(held, ReadAsTensor) else value
