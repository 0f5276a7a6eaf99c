"""Scalar tensors that hold a Python object: resources, variants, strings."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow.core.types.dtypes import DType
from tapeflow.core.values.tensor import EagerTensor


def boxed(value: Any) -> np.ndarray:
    """Returns a Python object, such as `bytes`, as the bare value of a scalar."""
    array = np.empty((), object)
    array[()] = value
    return array


def held(value: Any, dtype: DType) -> EagerTensor:
    """Returns a scalar tensor that holds a Python object."""
    return EagerTensor(boxed(value), dtype)


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
