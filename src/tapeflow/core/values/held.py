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
