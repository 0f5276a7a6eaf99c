"""Functions that string kernels share. Kernels compute on NumPy object arrays of `bytes`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from tapeflow.core.ops.op import op


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
    out = np.empty(array.shape, object)
    flat = out.reshape(-1)
    for i, element in enumerate(array.reshape(-1)):
        flat[i] = function(element)
    return out


def numbers(function: Callable[[bytes], Any], array: Any, dtype: torch.dtype | None) -> torch.Tensor:
    """Returns the tensor of `function(element)`."""
    array = np.asarray(array, object)
    return torch.tensor([function(v) for v in array.reshape(-1)], dtype=dtype).reshape(array.shape)


def text(element: bytes) -> str:
    """Decodes an element; bytes that are not UTF-8 survive decoding and encoding."""
    return element.decode("utf-8", "surrogateescape")


def encoded(element: str) -> bytes:
    """Encodes a text, as the inverse of `text`."""
    return element.encode("utf-8", "surrogateescape")


def strings_of(values: list[bytes]) -> np.ndarray:
    """Returns the raw value of a vector of strings."""
    out = np.empty(len(values), object)
    out[:] = values
    return out


def splits_of_rows(rows: Sequence[Sequence[Any]], dtype: Any = None) -> torch.Tensor:
    """Returns the row splits: the start of each row when all are joined, and the end of the last one."""
    lengths = [len(row) for row in rows]
    return torch.tensor(np.cumsum([0, *lengths]), dtype=torch.int64 if dtype is None else dtype.torch)
