"""Splits of strings into parts."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from operator import methodcaller
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from tapeflow.array.creation import ones_like
from tapeflow.array.passing import less_static
from tapeflow.array.properties import ensure_shape
from tapeflow.array.shaping import reshape
from tapeflow.core.autodiff.gradients import shape_of
from tapeflow.core.context import state
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.shape_rules import ranked
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.dtypes import int64, string
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import Tensor, mistyped
from tapeflow.math.casting import cast
from tapeflow.strings.kernels import joined, string_op, strings_of
from tapeflow.strings.text import length, substr

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
        raise mistyped(
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


def _split(text: bytes, separator: bytes | None, maxsplit: int) -> list[bytes]:
    """Splits a string. Unlike Python, it keeps the rest after the last split at white space even if it is empty. With
    `maxsplit` 0, it returns the text unchanged, with its white space.
    """
    parts = text.split(separator, maxsplit) if maxsplit else [text]
    return [*parts, b""] if separator is None and 0 < maxsplit == len(parts) else parts


_END, _BLANK, _LETTER = range(3)
_KINDS = bytes(_END if byte == 0 else _BLANK if bytes([byte]).isspace() else _LETTER for byte in range(256))


def _words(whole: bytes) -> tuple[list[bytes], np.ndarray]:
    """Splits strings that zero bytes join at white space; returns all parts, and the number of parts of each string."""
    kinds = np.frombuffer(b"\0%b\0" % whole.translate(_KINDS), np.uint8)
    begins = np.flatnonzero((kinds[1:] == _LETTER) & (kinds[:-1] != _LETTER))
    counts = np.diff(np.searchsorted(begins, np.flatnonzero(kinds == _END)))
    return whole.replace(b"\0", b" ").split(), counts


_MARK = b"\xff"  # no byte of UTF-8


def _separated(
    strings: list[bytes], whole: bytes, separator: bytes, maxsplit: int
) -> tuple[list[bytes], np.ndarray]:  # fmt: skip
    """Splits strings at a separator; `whole` joins them by zero bytes. See `_words`."""
    mark = separator if len(separator) == 1 else _MARK
    marked = whole.replace(separator, mark)
    buffer = np.frombuffer(marked + b"\0", np.uint8)
    cuts = buffer[(buffer == 0) | (buffer == mark[0])]
    counts = np.diff(np.flatnonzero(cuts == 0), prepend=-1)
    if maxsplit < 0:
        return marked.replace(mark, b"\0").split(b"\0"), counts
    first = b"\0".join(map(methodcaller("replace", separator, b"\0", maxsplit), strings))
    return first.split(b"\0"), np.minimum(counts, maxsplit + 1)


_MANY = 16  # fewer strings are split one by one


def _parts(input: np.ndarray, sep: np.ndarray, maxsplit: int) -> tuple[torch.Tensor, np.ndarray, torch.Tensor]:
    separator, strings = sep.item(), input.tolist()
    whole = joined(strings) if len(strings) >= _MANY else None
    if whole is not None and not separator and maxsplit < 0:
        values, lengths = _words(whole)
    elif whole is not None and separator and b"\0" not in separator and (len(separator) == 1 or _MARK not in whole):
        values, lengths = _separated(strings, whole, separator, maxsplit)
    else:
        rows = [_split(text, separator or None, maxsplit) for text in strings]
        values, lengths = list(itertools.chain.from_iterable(rows)), np.array(list(map(len, rows)), np.int64)
    parts = strings_of(values)
    indices = np.empty((parts.size, 2), np.int64)
    indices[:, 0] = np.arange(len(strings)).repeat(lengths)
    indices[:, 1] = np.arange(parts.size) - (lengths.cumsum() - lengths).repeat(lengths)
    shape = np.array([len(strings), lengths.max(initial=0)])
    return torch.from_numpy(indices), parts, torch.from_numpy(shape)


_PARTS_SHAPES = [TensorShape([None, 2]), TensorShape([None]), TensorShape([2])]


@string_op("StringSplitV2", _parts, shape=ranked(lambda *_: _PARTS_SHAPES, 1, 0))
def _string_split(input: TensorLike, sep: TensorLike, maxsplit: int = -1, name: str | None = None) -> list[Tensor]:
    """Splits each string of a vector; the parts are the components of a sparse matrix."""


def bytes_split(input: TensorLike, name: str | None = None) -> Tensor | RaggedTensor:
    """Splits each string into its bytes.

    Args:
        input: a string tensor or `RaggedTensor`.

    Returns:
        Strings: a vector for a scalar, otherwise a `RaggedTensor` with one dimension more than `input`.

    Raises:
        ValueError: the rank of `input` is not static.

    Example:
        >>> tf.strings.bytes_split("abc").numpy().tolist()
        [b'a', b'b', b'c']
    """
    from tapeflow.ragged.row_partition import RowPartition, repeated
    from tapeflow.ragged.tensor import RaggedTensor

    def split_vector(vector: Any) -> list[Any]:
        partition = RowPartition.from_row_lengths(length(vector), validate=False)
        places = partition.offsets_in_rows()
        values = less_static(substr(repeated(vector, partition.row_splits()), places, ones_like(places)), [None])
        return [RaggedTensor._from_row_partition(values, partition.with_dtype(int64), validate=False)]

    text = (
        input if isinstance(input, RaggedTensor) else convert(convert(input), string if state.graph is None else None)
    )
    return in_rows(text, split_vector)[0]


def split(
    input: TensorLike, sep: TensorLike | None = None, maxsplit: int = -1, name: str | None = None
) -> Tensor | RaggedTensor:
    """Splits each string at separators.

    Args:
        input: a string tensor or `RaggedTensor`.
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

    def split_vector(vector: Any) -> list[Any]:
        indices, values, shape = _string_split(vector, separator, maxsplit, name)
        return [RaggedTensor.from_value_rowids(values, indices[:, 0], shape[0], validate=False)]

    if isinstance(strings, Tensor) and strings.shape.rank is None:
        strings = ensure_shape(strings, [None])  # as in TensorFlow
    return in_rows(strings, split_vector)[0]
