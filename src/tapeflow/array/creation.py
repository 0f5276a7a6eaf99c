"""Ops that make tensors from nothing but numbers."""

from __future__ import annotations

from typing import Any

from tapeflow.core.convert import convert
from tapeflow.core.dtypes import as_dtype
from tapeflow.core.tensor import EagerTensor


def convert_to_tensor(value: Any, dtype: Any = None, dtype_hint: Any = None, name: str | None = None) -> Any:
    """The tensor of a value. See `tapeflow/core/convert.py` for the rules."""
    return convert(
        value,
        None if dtype is None else as_dtype(dtype).base_dtype,
        None if dtype_hint is None else as_dtype(dtype_hint).base_dtype,
    )


def constant(value: Any, dtype: Any = None, shape: Any = None, name: str = "Const") -> Any:
    """A new tensor of a value."""
    tensor = convert_to_tensor(value, dtype)
    return EagerTensor(tensor.value, tensor.dtype)
