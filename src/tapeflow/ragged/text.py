"""Ragged tensors as text, in the notation of `tf.print` and `tf.strings.format`."""

from __future__ import annotations

from typing import Any

from tapeflow.array.masks import boolean_mask, where
from tapeflow.array.reshapes import expand_dims
from tapeflow.core.types.dtypes import string
from tapeflow.math.comparison import logical_or
from tapeflow.ragged.row_partition import repeat_values, tensor_of
from tapeflow.ragged.rows import as_ragged
from tapeflow.ragged.tensor import RaggedTensor
from tapeflow.strings.formatting import as_string
from tapeflow.strings.join_and_ngrams import join, unsorted_segment_join
from tapeflow.strings.regex import regex_replace


def text_of(rt: RaggedTensor, edge: int | None) -> Any:
    """Returns a ragged tensor as a scalar string.

    Args:
        rt: the ragged tensor.
        edge: the number of elements shown at both ends of longer rows; None shows all.
    """
    value: Any = as_ragged(rt, len(rt.shape) - 1)
    flat = value.flat_values
    if flat.dtype is string:
        words = join(["'", regex_replace(flat, r"(['\\])", r"\\\1"), "'"])
    else:
        words = as_string(flat)
    value = value.with_flat_values(words)
    while isinstance(value, RaggedTensor):
        value = _innermost_joined(value, edge)
    return _join_words(RaggedTensor.from_tensor(expand_dims(value, 0)), edge)[0]


def _innermost_joined(value: RaggedTensor, edge: int | None) -> Any:
    if isinstance(value.values, RaggedTensor):
        return value.with_values(_innermost_joined(value.values, edge))
    return _join_words(value, edge)


def _join_words(rows: RaggedTensor, edge: int | None) -> Any:
    """Joins each row of words to one word in brackets."""
    words, rowids = rows.values, rows.value_rowids()
    if edge is not None:
        limit = tensor_of(edge, rowids.dtype)
        offsets = rows._row_partition.offsets_in_rows()
        lengths = repeat_values(rows.row_lengths(), rows.row_splits)
        from_end = lengths - offsets
        words = where(logical_or(offsets != limit, lengths <= 2 * limit), words, "...")
        shown = logical_or(logical_or(offsets <= limit, from_end <= limit), lengths <= 2 * limit)
        words, rowids = boolean_mask(words, shown), boolean_mask(rowids, shown)
    return join(["[", unsorted_segment_join(words, rowids, rows.nrows(), ", "), "]"])
