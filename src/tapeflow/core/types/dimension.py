"""TensorFlow 1's `Dimension`: an int, or unknown, in a wrapper."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from tapeflow.core.hooks import hooks


def dimension_size(value: Any) -> int | None:
    """Returns the size of one dimension, from anything that can be an index; None where it is unknown.

    Raises:
        TypeError: `value` is something else.
        ValueError: it is negative.
    """
    if value is None:
        return None
    if not hasattr(value, "__index__"):
        raise TypeError(
            "Dimension value must be integer or None or have an __index__ method, got value "
            f"'{value!r}' with type '{type(value)!r}'"
        )
    size = value if isinstance(value, int) else int(value.__index__())
    if size < 0:
        raise ValueError(f"Dimension {size} must be >= 0")
    return size


class Dimension:
    """One dimension of a shape: its length, or None where it is unknown.

    Args:
        value: an integer of at least 0, None, or another `Dimension`.

    Raises:
        TypeError: `value` is of another type.
        ValueError: it is negative.

    Example:
        >>> (tf.compat.v1.Dimension(3) + 2).value, (tf.compat.v1.Dimension(None) * 2).value
        (5, None)
    """

    __slots__ = ("_value",)

    def __init__(self, value: Any) -> None:
        self._value: int | None = value.value if isinstance(value, Dimension) else dimension_size(value)

    @property
    def value(self) -> int | None:
        """The length, or None."""
        return self._value

    def __repr__(self) -> str:
        return f"Dimension({self._value})"

    def __str__(self) -> str:
        return "?" if self._value is None else str(self._value)

    def __int__(self) -> Any:
        return self._value

    def __index__(self) -> Any:
        return self._value

    def __bool__(self) -> bool:
        return bool(self._value)

    def __tf_tensor__(self, dtype: Any = None, name: str | None = None) -> Any:
        if self._value is None:
            raise ValueError("Cannot convert a Dimension of unknown length to a Tensor.")
        return hooks.convert(self._value, dtype)

    # ---- with others ---------------------------------------------------------------------------------------------

    def is_compatible_with(self, other: Any) -> bool:
        """Returns True if the two are equal, or either is unknown."""
        other = Dimension(other)
        return self._value is None or other.value is None or self._value == other.value

    def assert_is_compatible_with(self, other: int | None) -> None:
        """Checks that the two are compatible.

        Raises:
            ValueError: they are not.
        """
        if not self.is_compatible_with(other):
            raise ValueError(f"Dimensions {self} and {Dimension(other)} are not compatible")

    def merge_with(self, other: Any) -> Dimension:
        """Returns the length that either has, or an unknown one.

        Raises:
            ValueError: they contradict each other.
        """
        self.assert_is_compatible_with(other)
        return Dimension(other if self._value is None else self._value)

    def __truediv__(self, other: int) -> Any:
        raise TypeError(
            f"unsupported operand type(s) for /: 'Dimension' and '{type(other).__name__}', please use // instead"
        )

    def __rtruediv__(self, other: int) -> Any:
        raise TypeError(
            f"unsupported operand type(s) for /: '{type(other).__name__}' and 'Dimension', please use // instead"
        )

    __hash__ = None  # type: ignore[assignment]  # as in TensorFlow, an unknown dimension equals nothing


def _as_dimension(value: Dimension | int | str | None) -> Dimension | None:
    try:
        return Dimension(value)
    except (TypeError, ValueError):
        return None


def _arithmetic_method(function: Callable[[Any, Any], Any], swapped: bool = False) -> Any:
    def method(self: Dimension, other: Dimension | int | str | None) -> Any:
        other = _as_dimension(other)
        if other is None:
            return NotImplemented
        if self.value is None or other.value is None:
            return Dimension(None)
        return Dimension(function(other.value, self.value) if swapped else function(self.value, other.value))

    return method


def _comparison_method(function: Callable[[Any, Any], Any]) -> Any:
    def method(self: Dimension, other: Dimension | int | None) -> Any:
        other = _as_dimension(other)
        if other is None:
            return NotImplemented
        return None if self.value is None or other.value is None else function(self.value, other.value)

    return method


for _name in ("add", "sub", "mul", "floordiv", "mod"):
    setattr(Dimension, f"__{_name}__", _arithmetic_method(getattr(operator, _name)))
    setattr(Dimension, f"__r{_name}__", _arithmetic_method(getattr(operator, _name), swapped=True))
for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    setattr(Dimension, f"__{_name}__", _comparison_method(getattr(operator, _name)))
