"""`tf.__operators__`: Python's operators on tensors."""

import operator
from typing import Any

import numpy as np

from tapeflow.core.ops.convert import convert
from tapeflow.core.types.aliases import TensorLike
from tapeflow.ragged import indexing

__all__ = ["add", "eq", "getitem", "ne", "ragged_getitem"]


def add(x: TensorLike, y: Any, name: str | None = None) -> Any:
    """Returns `x + y`."""
    return operator.add(x, y)


def eq(self: Any, other: Any) -> Any:
    """Returns `self == other`."""
    return operator.eq(self, other)


def ne(self: Any, other: Any) -> Any:
    """Returns `self != other`."""
    return operator.ne(self, other)


def getitem(tensor: Any, slice_spec: Any, var: Any = None) -> Any:
    """Returns `tensor[slice_spec]`. Arrays and lists become tensors."""
    tensor = convert(tensor) if isinstance(tensor, (np.ndarray, list, tuple)) else tensor
    return tensor[tuple(slice_spec) if isinstance(slice_spec, list) else slice_spec]


def ragged_getitem(rt_input: Any, key: Any) -> Any:
    """Returns `rt_input[key]` of a ragged tensor."""
    return rt_input[tuple(key) if isinstance(key, list) else key]


# The names of the functions above, by the functions that operators offer to dispatchers.
OF_PYTHON = {
    operator.add: "add", operator.eq: "eq", operator.ne: "ne", operator.getitem: "getitem",
    indexing.getitem: "ragged_getitem",
}  # fmt: skip
