"""Square brackets of ragged tensors."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from tapeflow.array.gathering import gather
from tapeflow.core.tensor import Tensor
from tapeflow.ragged.row_partition import RowPartition, offsets_in_rows, tensor_of
from tapeflow.ragged.tensor import RaggedTensor

_EVERYTHING = builtins.slice(None)


def getitem(rt: RaggedTensor, key: Any) -> Any:
    """`rt[key]`: ints, slices, `...`, `tf.newaxis`, scalar integer tensors.

    Raises:
        IndexError: there is no such row.
        ValueError: an int for a ragged dimension inside of a slice: not all rows have that element.
        TypeError: a key is something else.
    """
    if isinstance(key, (RaggedTensor, Tensor)) and key.dtype.is_bool:
        from tapeflow.ragged.functions import boolean_mask

        return boolean_mask(rt, key)
    return _rows(rt, list(key) if isinstance(key, (list, tuple)) else [key])


def _rows(rt: Any, keys: list[Any]) -> Any:
    """Applies the first key to the rows and the others to what is in them."""
    if not keys:
        return rt
    if not isinstance(rt, RaggedTensor):
        return rt[tuple(keys)]
    first, inner = keys[0], keys[1:]
    if first is Ellipsis:
        return _rows(rt, _expanded(keys, rt.shape.rank))
    if first is None:
        inside = _rows(rt, inner)
        return RaggedTensor.from_uniform_row_length(inside, _length(inside), 1)
    if isinstance(first, builtins.slice):
        chosen = rt if first == _EVERYTHING else _sliced_rows(rt, first)
        return _inside(chosen, inner)
    i = _index(first)
    count = rt._row_partition.static_nrows
    if not -count <= i < count:
        raise IndexError(f"Row key {i} out of bounds")
    splits = rt._row_partition.splits()
    i %= count
    return _rows(rt.values[int(splits[i]) : int(splits[i + 1])], inner)


def _inside(rt: Any, keys: list[Any]) -> Any:
    """Applies keys to each row."""
    if not keys:
        return rt
    if not isinstance(rt, RaggedTensor):
        return rt[(_EVERYTHING, *keys)]
    first, inner = keys[0], keys[1:]
    if first is Ellipsis:
        return _inside(rt, _expanded(keys, rt.shape.rank - 1))
    if first is None:
        inside = _inside(rt, inner)
        return RaggedTensor.from_uniform_row_length(inside, 1, _length(inside))
    if isinstance(first, builtins.slice):
        chosen = rt if first == _EVERYTHING else _sliced_columns(rt, first)
        return chosen.with_values(_inside(chosen.values, inner))
    i = _index(first)
    length = rt._row_partition.static_uniform_row_length
    if length is None:
        raise ValueError("Cannot index into an inner ragged dimension.")
    if not -length <= i < length:
        raise IndexError(f"Row key {i} out of bounds")
    return _inside(_taken(rt.values, rt._row_partition.splits()[:-1] + i % length), inner)


def _expanded(keys: list[Any], rank: int) -> list[Any]:
    """The keys with `...` written out as slices."""
    used = sum(k is not None and k is not Ellipsis for k in keys)
    return [_EVERYTHING] * max(rank - used, 0) + keys[1:]


def _index(key: Any) -> int:
    """The int of an index."""
    if isinstance(key, bool) or not hasattr(key, "__index__") or getattr(key, "shape", ()) not in ((), []):
        raise TypeError(
            "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar tf.int32/tf.int64 tensors are "
            f"valid indices, got {key!r}"
        )
    return key.__index__()


def _ints(key: builtins.slice) -> builtins.slice:
    return builtins.slice(*[None if k is None else _index(k) for k in (key.start, key.stop, key.step)])


def _length(value: Any) -> int:
    return value.shape[0]


def _sliced_rows(rt: RaggedTensor, key: builtins.slice) -> RaggedTensor:
    return take_rows(rt, np.arange(rt._row_partition.static_nrows)[_ints(key)])


def _sliced_columns(rt: RaggedTensor, key: builtins.slice) -> RaggedTensor:
    """A slice of each row."""
    key = _ints(key)
    starts, lengths = rt._row_partition.splits()[:-1], rt._row_partition.lengths()
    by_length = {n: np.arange(n)[key] for n in set(lengths.tolist())}
    places = [start + by_length[n] for start, n in zip(starts, lengths.tolist(), strict=True)]
    counts = [len(p) for p in places]
    values = _taken(rt.values, np.concatenate([np.zeros(0, np.int64), *places]))
    uniform = rt._row_partition.static_uniform_row_length
    if uniform is not None:
        dtype = rt.row_splits.dtype
        return RaggedTensor.from_uniform_row_length(values, tensor_of(len(range(uniform)[key]), dtype), len(places))
    return RaggedTensor.from_row_lengths(values, tensor_of(counts, rt.row_splits.dtype), validate=False)


def _taken(value: Any, places: np.ndarray) -> Any:
    """The rows of a tensor or ragged tensor at these places."""
    return take_rows(value, places) if isinstance(value, RaggedTensor) else gather(value, places)


def take_rows(rt: RaggedTensor, rows: np.ndarray) -> RaggedTensor:
    """The rows of a ragged tensor at these places, in their order."""
    partition = rt._row_partition
    lengths = partition.lengths()[rows]
    starts = partition.splits()[:-1][rows]
    if len(rows) and (rows[1:] - rows[:-1] == 1).all():  # neighbours: their values are neighbours too
        values = rt.values[int(starts[0]) : int(starts[-1] + lengths[-1])]
    else:
        values = _taken(rt.values, np.repeat(starts, lengths) + offsets_in_rows(lengths))
    uniform = partition.uniform_row_length()
    if uniform is not None:
        new = RowPartition.from_uniform_row_length(uniform, nrows=len(rows))
    else:
        new = RowPartition.from_row_lengths(tensor_of(lengths, partition.dtype), validate=False)
    return RaggedTensor._from_row_partition(values, new, validate=False)
