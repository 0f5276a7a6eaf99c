"""The part that a dtype and a shape take in the signature of a `tf.function`: they hold no tensors."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


class ValuelessType:
    """The base of types (`tf.types.experimental.TraceType`) whose values hold no tensors."""

    __slots__ = ()

    def placeholder_value(self, placeholder_context: object) -> None:
        """Returns None: there is no value for a placeholder to stand for."""
        return

    def to_tensors(self, value: ValuelessType) -> list[Any]:
        """Returns the tensors of a value: none."""
        return []

    def from_tensors(self, tensors: Iterable[Any]) -> None:
        """Takes no tensor from `tensors`."""
        return

    def flatten(self) -> list[Any]:
        """Returns the specs of the tensors of a value: none."""
        return []

    def cast(self, value: Any, cast_context: Any) -> Any:
        """Returns `value` if it is of this type.

        Raises:
          AssertionError: if it is not.
        """
        if value is None:
            return value
        raise AssertionError(f"Can not cast {value!r} to type {self!r}")
