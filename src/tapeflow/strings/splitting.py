"""Splitting strings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapeflow.core.convert import convert
from tapeflow.core.dtypes import string
from tapeflow.core.tensor import EagerTensor, invalid


def ragged(values: Any, function: Callable[[bytes], Any], dtype: Any = string) -> Any:
    """A row of `function(element)` for each string: a vector for a scalar, and ragged for all else."""
    if hasattr(values, "to_list") and hasattr(values, "with_values"):
        from tapeflow.ragged import constant

        def walk(v: Any) -> Any:
            return [walk(x) for x in v] if isinstance(v, list) else function(v)

        return constant(walk(values.to_list()), dtype=dtype)
    tensor = convert(values)
    if tensor.dtype is not string:
        raise invalid(f"cannot compute a split as the input was expected to be a string tensor but is {tensor.dtype.name}")
    array = tensor._numpy()
    if array.ndim == 0:
        return vector(function(array[()]), dtype)
    from tapeflow.ragged import RaggedTensor

    rows = [function(v) for v in array.reshape(-1)]
    result = RaggedTensor.from_row_lengths(vector([x for row in rows for x in row], dtype), [len(r) for r in rows])
    for length in reversed(array.shape[1:]):
        result = RaggedTensor.from_uniform_row_length(result, length)
    return result


def vector(values: list[Any], dtype: Any) -> EagerTensor:
    """A vector, of strings or of numbers."""
    if dtype is string:
        out = np.empty(len(values), object)
        out[:] = values
        return EagerTensor(out, string)
    return convert(np.array(values, dtype.as_numpy_dtype))


def bytes_split(input: Any, name: str | None = None) -> Any:
    """The single bytes of each string.

    Returns:
        A vector for a scalar, otherwise a `RaggedTensor` with one dimension more than `input`.

    Example:
        >>> tf.strings.bytes_split("abc").numpy().tolist()
        [b'a', b'b', b'c']
    """
    if not hasattr(input, "to_list"):
        input = convert(convert(input), string)
    return ragged(input, lambda v: [v[i : i + 1] for i in range(len(v))])


def split(input: Any, sep: Any = None, maxsplit: int = -1, name: str | None = None) -> Any:
    """The parts of each string between separators.

    Args:
        input: strings.
        sep: the separator; without one, runs of white space separate, and empty parts are left out.
        maxsplit: how often to split at most; -1 for always.

    Returns:
        A vector for a scalar, otherwise a `RaggedTensor` with one dimension more than `input`.

    Example:
        >>> tf.strings.split("a,b,,c", ",").numpy().tolist()
        [b'a', b'b', b'', b'c']
    """
    if not hasattr(input, "to_list"):
        input = convert(input, string)
    separator = None if sep is None else convert(sep, string)._numpy()[()]
    return ragged(input, lambda v: v.split(separator or None, maxsplit))
