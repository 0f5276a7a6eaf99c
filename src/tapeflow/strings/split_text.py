"""Splits of strings into parts."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from tapeflow.array.properties import ensure_shape
from tapeflow.array.reshapes import reshape
from tapeflow.core.autodiff.gradients import shape_of
from tapeflow.core.context import state
from tapeflow.core.loops import Bytes, Int64s, equal, loop
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.shape_rules import check_ranks_first
from tapeflow.core.ops.shape_rules import text as shape_text
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.dtypes import int64, string
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.strings import SLACK, StringArray, copy_string
from tapeflow.core.values.tensor import Tensor, dtype_error, invalid
from tapeflow.math.casting import cast
from tapeflow.strings.kernels import string_op

if TYPE_CHECKING:
    from tapeflow.ragged.tensor import RaggedTensor


def in_rows(input: Any, function: Callable[[Any], list[Any]]) -> list[Any]:
    """Applies a function that computes a row for each string to strings of any shape.

    Args:
        input: strings; a tensor or a `RaggedTensor`.
        function: computes, for a vector of strings, a list of ragged tensors with a row for each string.

    Returns:
        A list with, for each of those, a vector if `input` is a scalar, and otherwise a ragged tensor with one more
        dimension than `input`.

    Raises:
        InvalidArgumentError: `input` is not of strings.
        ValueError: its rank is not static.
    """
    from tapeflow.ragged.tensor import RaggedTensor

    if isinstance(input, RaggedTensor):
        return [input.with_flat_values(rows) for rows in in_rows(input.flat_values, function)]
    tensor = convert(input)
    rank = tensor.shape.rank
    if rank is None:
        raise ValueError("Rank of `input` must be statically known.")
    if tensor.dtype is not string:
        raise dtype_error(
            f"cannot compute a split as the input was expected to be a string tensor but is {tensor.dtype.name}"
        )
    if rank == 0:
        return [rows.values for rows in function(reshape(tensor, [1]))]
    results = function(tensor if rank == 1 else reshape(tensor, [-1]))
    dims = tuple(shape_of(tensor))
    for i in range(rank - 1, 0, -1):
        length, count = (cast(n, int64) for n in (dims[i], math.prod(dims[:i])))
        results = [RaggedTensor.from_uniform_row_length(r, length, nrows=count) for r in results]
    return results


def _check_vector(input: StringArray) -> None:
    if input.ndim != 1:
        raise invalid(f"input must be a vector, got shape: {shape_text(input.shape)}")


def _split_text(text: bytes, separator: bytes | None, maxsplit: int) -> list[bytes]:
    """Splits a string. Unlike Python, it keeps the rest after the last split at white space even if it is empty. With
    `maxsplit` 0, it returns the text unchanged, with its white space.
    """
    parts = text.split(separator, maxsplit) if maxsplit else [text]
    return [*parts, b""] if separator is None and 0 < maxsplit == len(parts) else parts


@loop
def _split_at(
    data: Bytes, data_size: int, offsets: Int64s, rows: int, separator: Bytes, size: int, maxsplit: int, out: Bytes,
    ends: Int64s, indices: Int64s,
) -> int:  # fmt: skip
    """Splits strings at a separator; returns the number of parts."""
    count, first, ends[0] = 0, separator[0], 0
    for row in range(rows):
        begin, end, part = offsets[row], offsets[row + 1], 0
        at = begin
        while at + size <= end and part != maxsplit:
            if data[at] == first and equal(data, at, separator, 0, size):
                count = _add_part(data, data_size, begin, at, row, part, out, ends, indices, count)
                part += 1
                at += size
                begin = at
            else:
                at += 1
        count = _add_part(data, data_size, begin, end, row, part, out, ends, indices, count)
    return count


@loop
def _add_part(
    data: Bytes, size: int, begin: int, end: int, row: int, part: int, out: Bytes, ends: Int64s, indices: Int64s,
    count: int,
) -> int:  # fmt: skip
    """Adds a part, which is a range of `data`, whose size is `size`; returns the new number of parts."""
    copy_string(out, ends[count], data, size, begin, end - begin)
    indices[2 * count], indices[2 * count + 1] = row, part
    ends[count + 1] = ends[count] + end - begin
    return count + 1


@loop
def _split_at_spaces(
    data: Bytes, data_size: int, offsets: Int64s, rows: int, maxsplit: int, out: Bytes, ends: Int64s, indices: Int64s
) -> int:
    """Splits strings at runs of white space; returns the number of parts. After as many splits as allowed, the rest is
    a part, even if it is empty. With `maxsplit` 0, each string is a part as it is, with its white space."""
    count, ends[0] = 0, 0
    for row in range(rows):
        at, end, part = offsets[row], offsets[row + 1], 0
        while True:
            while maxsplit != 0 and at < end and (data[at] == 32 or 9 <= data[at] <= 13):
                at += 1
            if at == end and part != maxsplit:
                break
            begin = at
            while at < end and (part == maxsplit or not (data[at] == 32 or 9 <= data[at] <= 13)):
                at += 1
            count = _add_part(data, data_size, begin, at, row, part, out, ends, indices, count)
            part += 1
            if part > maxsplit >= 0:
                break
    return count


_PARTS_SHAPES = [TensorShape([None, 2]), TensorShape([None]), TensorShape([2])]


@string_op("StringSplitV2", shape=check_ranks_first(lambda *_: _PARTS_SHAPES, 1, 0))
def _string_split(
    input: StringArray, sep: StringArray, maxsplit: int = -1
) -> tuple[torch.Tensor, StringArray, torch.Tensor]:
    """Splits each string of a vector; the parts are the components of a sparse matrix."""
    _check_vector(input)
    separator, rows = sep.item(), input.size
    if rows == 1:
        few = _split_text(input.item(), separator or None, maxsplit)
        indices = np.zeros((len(few), 2), np.int64)
        indices[:, 1] = np.arange(len(few))
        return torch.from_numpy(indices), StringArray.of(few), torch.from_numpy(np.array([1, len(few)]))
    size = int(input.lengths.sum())
    most = (size // len(separator) if separator else size // 2 + 1) + 2 * rows
    out, offsets, pairs = np.empty(size + SLACK, np.uint8), np.empty(most + 1, np.int64), np.empty(2 * most, np.int64)
    buffers, results = (input.data, len(input.data), input.offsets, rows), (maxsplit, out, offsets, pairs)
    count = (
        _split_at(*buffers, separator, len(separator), *results) if separator else _split_at_spaces(*buffers, *results)
    )
    indices = pairs.reshape(-1, 2)[:count]
    longest = int(indices[:, 1].max(initial=-1)) + 1
    parts = StringArray(out[: offsets[count]], offsets[: count + 1])
    return torch.from_numpy(indices), parts, torch.from_numpy(np.array([rows, longest]))


@loop
def _split_at_marks(
    data: Bytes, data_size: int, offsets: Int64s, rows: int, is_mark: Bytes, skip_empty: int, out: Bytes, ends: Int64s,
    indices: Int64s,
) -> int:  # fmt: skip
    """Splits strings at every byte that is a mark; returns the number of parts. An empty string has none."""
    count, ends[0] = 0, 0
    for row in range(rows):
        begin, end, part = offsets[row], offsets[row + 1], 0
        for at in range(begin, end + 1):
            if at < end and not is_mark[data[at]]:
                continue
            if at > begin or (not skip_empty and end > offsets[row]):
                count = _add_part(data, data_size, begin, at, row, part, out, ends, indices, count)
                part += 1
            begin = at + 1
    return count


@loop
def _number_bytes(offsets: Int64s, rows: int, indices: Int64s) -> None:
    for row in range(rows):
        for at in range(offsets[row], offsets[row + 1]):
            indices[2 * at], indices[2 * at + 1] = row, at - offsets[row]


@string_op("StringSplit", shape=check_ranks_first(lambda *_: _PARTS_SHAPES, 1, 0))
def split_at_any(input: StringArray, delimiter: StringArray, skip_empty: bool = True) -> tuple[Any, ...]:
    """Splits each string of a vector at every byte of `delimiter`, or into its bytes if that is empty. The parts are
    the components of a sparse matrix."""
    _check_vector(input)
    marks, rows, (data, offsets) = delimiter.item(), input.size, input.packed()
    size = len(data)
    if marks:
        out, ends = np.empty(size + SLACK, np.uint8), np.empty(size + rows + 1, np.int64)
        indices = np.empty((size + rows, 2), np.int64)
        is_mark = np.zeros(256, np.uint8)
        is_mark[list(marks)] = 1
        count = _split_at_marks(data, size, offsets, rows, is_mark, skip_empty, out, ends, indices.reshape(-1))
        parts, indices = StringArray(out[: ends[count]], ends[: count + 1]), indices[:count]
    else:
        parts, indices = StringArray(data, np.arange(size + 1)), np.empty((size, 2), np.int64)
        _number_bytes(offsets, rows, indices.reshape(-1))
    longest = int(indices[:, 1].max(initial=-1)) + 1
    return torch.from_numpy(indices), parts, torch.from_numpy(np.array([rows, longest]))


def _rows_of_parts(indices: Any, values: Any, shape: Any) -> list[Any]:
    """Returns the components of a sparse matrix as rows."""
    from tapeflow.ragged.tensor import RaggedTensor

    return [RaggedTensor.from_value_rowids(values, indices[:, 0], shape[0], validate=False)]


def bytes_split(input: TensorLike, name: str | None = None) -> Tensor | RaggedTensor:
    """Splits each string into its bytes.

    Args:
        input: a string tensor or `RaggedTensor` of any shape.

    Returns:
        Strings: a vector for a scalar, otherwise a `RaggedTensor` with one dimension more than `input`.

    Raises:
        ValueError: the rank of `input` is not static.

    Example:
        >>> tf.strings.bytes_split("abc").numpy().tolist()
        [b'a', b'b', b'c']
    """
    from tapeflow.ragged.tensor import RaggedTensor

    text = (
        input if isinstance(input, RaggedTensor) else convert(convert(input), string if state.graph is None else None)
    )
    return in_rows(text, lambda vector: _rows_of_parts(*split_at_any(vector, "", False, name)))[0]


def split(
    input: TensorLike, sep: TensorLike | None = None, maxsplit: int = -1, name: str | None = None
) -> Tensor | RaggedTensor:
    """Splits each string at separators.

    Args:
        input: a string tensor or `RaggedTensor` of any shape.
        sep: the separator, a scalar; without one, runs of white space separate, and empty parts are left out.
        maxsplit: an int, the largest number of splits; -1 for any number.

    Returns:
        Strings: a vector for a scalar, otherwise a `RaggedTensor` with one dimension more than `input`.

    Raises:
        InvalidArgumentError: the rank of `input` is not static, and not 1.

    Example:
        >>> tf.strings.split("a,b,,c", ",").numpy().tolist()
        [b'a', b'b', b'', b'c']
    """
    from tapeflow.ragged.tensor import RaggedTensor

    strings: Any = input if isinstance(input, RaggedTensor) else convert(input, string)
    separator = convert("" if sep is None else sep, string)

    if isinstance(strings, Tensor) and strings.shape.rank is None:
        strings = ensure_shape(strings, [None])  # as in TensorFlow
    return in_rows(strings, lambda vector: _rows_of_parts(*_string_split(vector, separator, maxsplit, name)))[0]
