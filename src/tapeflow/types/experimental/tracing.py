"""Types for `tf.function`'s arguments."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, Protocol, Union, runtime_checkable

import numpy as np

from tapeflow.core.types.dtypes import DType
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.types.spec import TypeSpec
from tapeflow.core.values.composite import CompositeTensor
from tapeflow.core.values.tensor import Tensor
from tapeflow.core.values.variable import Variable

# The types that functions accept in the place of a tensor.
TensorLike = Union[  # noqa: UP007 (as TensorFlow's, an object of `typing`)
    Tensor, CompositeTensor, Variable, np.ndarray, np.generic, int, float, bool, complex, str, bytes, list, tuple
]


class TraceType(metaclass=ABCMeta):
    """The type of an argument of a `tf.function`. Calls whose arguments have equal types share a trace.

    Specs, dtypes and shapes are trace types.

    Example:
        >>> isinstance(tf.TensorSpec([2]), tf.types.experimental.TraceType)
        True
    """

    @abstractmethod
    def is_subtype_of(self, other: TraceType) -> bool:
        """Returns True if a function traced for `other` can be called with this type.

        Args:
            other: a type.
        """

    @abstractmethod
    def most_specific_common_supertype(self, others: Sequence[TraceType]) -> TraceType | None:
        """Returns the most specific type that this and all `others` are subtypes of, or None.

        Args:
            others: types.
        """

    @abstractmethod
    def placeholder_value(self, placeholder_context: Any) -> Any:
        """Returns the placeholder for a value of this type while a function is traced.

        Args:
            placeholder_context: None, or the context of the trace.
        """

    def to_tensors(self, value: Any) -> list[Any]:
        """Returns the tensors in a value of this type.

        Args:
            value: a value of this type.
        """
        return []

    def from_tensors(self, tensors: Iterator[Any]) -> Any:
        """Returns the value composed of the next tensors.

        Args:
            tensors: an iterator of tensors.
        """
        return self.placeholder_value(None)

    def flatten(self) -> list[Any]:
        """Returns the specs of the tensors in a value of this type."""
        return []

    def cast(self, value: Any, cast_context: Any) -> Any:
        """Returns the value cast to this type.

        Args:
            value: a value.
            cast_context: None, or the context of the call.

        Raises:
            AssertionError: the value can't be cast.
        """
        if value != self.placeholder_value(None):
            raise AssertionError(f"Can not cast {value!r} to type {self!r}")
        return value

    @abstractmethod
    def __hash__(self) -> int: ...

    @abstractmethod
    def __eq__(self, other: object) -> bool: ...


for _type in (TypeSpec, DType, TensorShape):
    TraceType.register(_type)


@runtime_checkable
class SupportsTracingProtocol(Protocol):
    """A value that defines its own type for traces.

    Example:
        >>> class Rate:
        ...     def __tf_tracing_type__(self, context):
        ...         return tf.TensorSpec([])
        >>> isinstance(Rate(), tf.types.experimental.SupportsTracingProtocol)
        True
    """

    def __tf_tracing_type__(self, context: Any) -> TraceType:
        """Returns the type of this value."""
