"""Functions that string kernels share. Kernels compute on NumPy object arrays of `bytes`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from tapeflow.core.ops.op import op
from tapeflow.core.types.dtypes import DType, string


def string_op(name: str, kernel: Callable[..., Any], **options: Any) -> Callable[[Any], Any]:
    """Declares an op of strings, as `@op` does: `kernel` is the one for strings, and no gradient passes."""

    def decorate(declared: Any) -> Any:
        function = op(name, kernel, strings=kernel, **options)(declared)
        function.op.differentiable = False
        return function

    return decorate


def each(function: Callable[..., Any], array: Any) -> np.ndarray:
    """Returns the array of `function(element)`, again of objects."""
    array = np.asarray(array, object)
    return strings_of(list(map(function, array.reshape(-1).tolist()))).reshape(array.shape)


def numbers(function: Callable[[bytes], Any], array: Any, dtype: Any) -> torch.Tensor:
    """Returns the tensor of `function(element)`, of a NumPy type.

    Raises:
        OverflowError: a number is out of the type's range.
    """
    array = np.asarray(array, object)
    values = np.fromiter(map(function, array.reshape(-1).tolist()), dtype, array.size)
    return torch.from_numpy(values.reshape(array.shape))


def text(element: bytes) -> str:
    """Decodes an element; bytes that are not UTF-8 survive decoding and encoding."""
    return element.decode("utf-8", "surrogateescape")


def encoded(element: str) -> bytes:
    """Encodes a text, as the inverse of `text`."""
    return element.encode("utf-8", "surrogateescape")


def strings_of(values: Sequence[bytes]) -> np.ndarray:
    """Returns the raw value of a vector of strings."""
    out = np.empty(len(values), object)
    out[:] = values
    return out


def raw_value(values: Sequence[Any], dtype: DType, shape: Sequence[int] = (-1,)) -> Any:
    """Returns Python values as the raw value of a tensor: a `torch.Tensor`, or an array of strings."""
    if dtype is string:
        return strings_of(values).reshape(shape)
    return torch.from_numpy(np.array(values, dtype.as_numpy_dtype)).reshape(tuple(shape))


def splits_of_rows(rows: Sequence[Sequence[Any]], dtype: Any = None) -> torch.Tensor:
    """Returns the row splits: the start of each row when all are joined, and the end of the last one."""
    return torch.from_numpy(starts_of(rows)).to(torch.int64 if dtype is None else dtype.torch)


def starts_of(rows: Sequence[Sequence[Any]]) -> np.ndarray:
    """Returns the start of each row when all are joined, and the end of the last one."""
    out = np.zeros(len(rows) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, rows), np.int64, len(rows)), out=out[1:])
    return out


def joined(strings: list[bytes]) -> bytes | None:
    """Returns strings joined by zero bytes, for work on all at once; None if that could not be split again."""
    whole = b"\0".join(strings)
    return whole if strings and whole.count(0) == len(strings) - 1 else None


def characters(buffer: bytes) -> np.ndarray:
    """Returns where the characters of UTF-8 begin."""
    return np.flatnonzero((np.frombuffer(buffer, np.uint8) & 0xC0) != 0x80)
