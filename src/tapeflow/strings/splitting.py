"""Splitting strings."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from tapeflow.array.creation import ones_like
from tapeflow.array.shaping import reshape
from tapeflow.core.autodiff.gradients import shape_of
from tapeflow.core.ops.convert import convert
from tapeflow.core.types.dtypes import int64, string
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import invalid
from tapeflow.strings.kernels import string_op, strings_of


def in_rows(input: Any, function: Callable[[Any], list[Any]]) -> list[Any]:
    """What a function gives that makes a row of each string, for strings of any shape.

    Args:
        input: strings; a tensor or a `RaggedTensor`.
        function: takes a vector of strings, and gives ragged tensors with a row for each.

    Returns:
        For each of those, a vector for a scalar, and a ragged tensor with one more dimension than `input` for all else.
    """
    from tapeflow.ragged import RaggedTensor

    if isinstance(input, RaggedTensor):
        return [input.with_flat_values(found) for found in in_rows(input.flat_values, function)]
    tensor = convert(input)
    if tensor.dtype is not string:
        raise invalid(
            f"cannot compute a split as the input was expected to be a string tensor but is {tensor.dtype.name}"
        )
    rank = tensor.shape.rank
    if rank is None:
        raise ValueError("The rank of the strings to split must be known: say it with tf.ensure_shape.")
    if rank == 0:
        return [found.values for found in function(reshape(tensor, [1]))]
    results = function(tensor if rank == 1 else reshape(tensor, [-1]))
    dims = tuple(shape_of(tensor))
    for i in range(rank - 1, 0, -1):
        rows = math.prod(dims[:i])
        results = [RaggedTensor.from_uniform_row_length(r, dims[i], nrows=rows) for r in results]
    return results


def _parts(input: np.ndarray, sep: np.ndarray, maxsplit: int) -> tuple[torch.Tensor, np.ndarray, torch.Tensor]:
    separator = sep[()] or None
    rows = [text.split(separator, maxsplit) for text in input.tolist()]
    indices = [(i, j) for i, row in enumerate(rows) for j in range(len(row))]
    shape = [len(rows), max(map(len, rows), default=0)]
    places = torch.tensor(indices, dtype=torch.int64).reshape(-1, 2)
    return places, strings_of([part for row in rows for part in row]), torch.tensor(shape)


_PARTS_SHAPES = [TensorShape([None, 2]), TensorShape([None]), TensorShape([2])]


@string_op("StringSplitV2", _parts, shape=lambda input, sep, maxsplit: _PARTS_SHAPES)
def _string_split(input: Any, sep: Any, maxsplit: int = -1, name: str | None = None) -> Any:
    """The parts of each string of a vector, as the components of a sparse matrix."""


def bytes_split(input: Any, name: str | None = None) -> Any:
    """The single bytes of each string.

    Returns:
        A vector for a scalar, otherwise a `RaggedTensor` with one dimension more than `input`.

    Example:
        >>> tf.strings.bytes_split("abc").numpy().tolist()
        [b'a', b'b', b'c']
    """
    from tapeflow.ragged import RaggedTensor
    from tapeflow.ragged.row_partition import RowPartition, repeated
    from tapeflow.strings.text import length, substr

    def split_vector(vector: Any) -> list[Any]:
        partition = RowPartition.from_row_lengths(length(vector), validate=False)
        places = partition.offsets_in_rows()
        values = substr(repeated(vector, partition.row_splits()), places, ones_like(places))
        return [RaggedTensor._from_row_partition(values, partition.with_dtype(int64), validate=False)]

    return in_rows(input if isinstance(input, RaggedTensor) else convert(convert(input), string), split_vector)[0]


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
    from tapeflow.ragged import RaggedTensor

    separator = convert("" if sep is None else sep, string)

    def split_vector(vector: Any) -> list[Any]:
        indices, values, shape = _string_split(vector, separator, maxsplit, name)
        return [RaggedTensor.from_value_rowids(values, indices[:, 0], shape[0], validate=False)]

    return in_rows(input if isinstance(input, RaggedTensor) else convert(input, string), split_vector)[0]
