"""Scalar tensors that hold a Python object: resources, variants, strings."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow.core.types.dtypes import DType
from tapeflow.core.values.tensor import EagerTensor, invalid


def box_object(value: object) -> np.ndarray:
    """Returns a Python object, such as `bytes`, as the bare value of a scalar."""
    array = np.empty((), object)
    array[()] = value
    return array


def hold_object(value: object, dtype: DType) -> EagerTensor:
    """Returns a scalar tensor that holds a Python object."""
    return EagerTensor(box_object(value), dtype)


def held_object(handle: Any, kind: type | tuple[type, ...], title: str) -> Any:
    """Returns the object that the bare value of a handle or a variant holds, or is.

    Args:
        handle: the bare value.
        kind: the class of objects that the caller takes.
        title: what these are called.

    Raises:
        InvalidArgumentError: it is something else, as a file may say.
    """
    value = handle[()] if isinstance(handle, np.ndarray) and not handle.ndim else handle
    if not isinstance(value, kind):
        raise invalid(f"Expected the handle of a {title}, but it holds a {type(value).__name__.strip('_')}.")
    return value


class Addend:
    """A value that a variant holds and that a gradient can be: it has a sum with others, a conjugate, and zeros."""

    def __add__(self, other: Any) -> Any:
        raise NotImplementedError

    def conj(self) -> Any:
        """Returns its complex conjugate."""
        raise NotImplementedError

    def zeros(self) -> Any:
        """Returns zeros like it."""
        raise NotImplementedError
