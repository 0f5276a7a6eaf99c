"""Tests for values of a graph, and their conversion from Python."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow.control.tensor_array import TensorArray
from tapeflow.core.context import state
from tapeflow.core.ops.convert import convert
from tapeflow.core.values.composite import CompositeTensor
from tapeflow.core.values.tensor import ReadAsTensor, Tensor

PYTHON_VALUES = (bool, int, float, complex, str, bytes, np.ndarray, np.generic)


def is_staged(value: Any) -> bool:
    """Returns True if a graph is being built, and the value is a tensor of it or a variable."""
    return isinstance(value, (Tensor, ReadAsTensor)) and graph_being_built() is not None


def graph_being_built() -> Any:
    """Returns the graph that this thread builds, or None."""
    return getattr(state, "graph", None)


def is_tensor_leaf(value: Any) -> bool:
    """Returns True if a graph can hold the value."""
    return isinstance(value, (Tensor, ReadAsTensor, CompositeTensor, TensorArray, *PYTHON_VALUES))


def as_tensor(value: Any) -> Any:
    """Converts a value to a tensor, unless it is composite."""
    return convert(value) if isinstance(value, (Tensor, ReadAsTensor, *PYTHON_VALUES)) else value


def checked_condition(value: Any, statement: str) -> Any:
    """Checks the condition of a staged statement, and returns it as a tensor.

    Raises:
        ValueError: it is not a boolean scalar.
    """
    if isinstance(value, ReadAsTensor):
        value = convert(value)
    if value.dtype.is_bool and value.shape.rank in (0, None):
        return value
    hint = "to check for None, use `is not None`"
    if not value.dtype.is_bool:
        hint = f"to use as boolean Tensor, use `tf.cast`; {hint}"
    raise ValueError(f"condition of {statement} expected to be `tf.bool` scalar, got {value}; {hint}")
