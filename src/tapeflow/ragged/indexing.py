"""Indexing of ragged tensors."""

from __future__ import annotations

import builtins
from typing import Any

from tapeflow.array.concat_and_split import concat
from tapeflow.array.masks import where
from tapeflow.core.ops.dispatchers import offer_call
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.values.tensor import EagerTensor, Tensor
from tapeflow.math.extrema import maximum, minimum
from tapeflow.ragged.ragged_ops import boolean_mask
from tapeflow.ragged.row_partition import length_of, number_of, offsets_of, repeat_values, splits_of, tensor_of, up_to
from tapeflow.ragged.rows import gather_rows, take_rows, with_lengths
from tapeflow.ragged.tensor import RaggedTensor, methods

_EVERYTHING = builtins.slice(None)


def getitem(rt: RaggedTensor, key: Any) -> Any:
    """Returns `rt[key]`.

    Args:
        rt: a ragged tensor.
        key: ints, slices, `...`, `tf.newaxis`, scalar integer tensors; or a mask of booleans.

    Raises:
        IndexError: there is no such row.
        ValueError: an int for a ragged dimension inside of a slice: not all rows have that element.
        TypeError: a key is of another type.
    """
    if not isinstance(rt, RaggedTensor):  # a library's symbol for one
        result = offer_call(getitem, (rt, key), {})
        if result is not NotImplemented:
            return result
    if isinstance(key, (RaggedTensor, Tensor)) and key.dtype.is_bool:
        return boolean_mask(rt, key)
    return _index_rows(rt, list(key) if isinstance(key, (list, tuple)) else [key])


def _index_rows(rt: Tensor | RaggedTensor, keys: list[Any]) -> Any:
    """Applies the first key to the rows and the others to their elements."""
    if not keys:
        return rt
    if not isinstance(rt, RaggedTensor):
        return rt[tuple(keys)]
    first, inner = keys[0], keys[1:]
    if first is Ellipsis:
        return _index_rows(rt, _expand_keys(keys, rt.shape.rank))
    if first is None:
        inside = _index_rows(rt, inner)
        return RaggedTensor.from_uniform_row_length(inside, tensor_of(length_of(inside), rt.row_splits.dtype), 1)
    if isinstance(first, builtins.slice):
        chosen = rt if first == _EVERYTHING else _sliced_rows(rt, first)
        return _index_inside(chosen, inner)
    i = _index_number(first)
    count = rt._row_partition.static_nrows
    if isinstance(i, int) and count is not None and not -count <= i < count:
        raise IndexError(f"Row key {i} out of bounds")
    splits = rt.row_splits
    if isinstance(i, int) and isinstance(splits, EagerTensor) and count is not None:
        start, end = splits.value[i % count : i % count + 2].tolist()
    else:
        i = _from_front(i, rt._row_partition.nrows())
        start, end = splits[i], splits[i + 1]
    return _index_rows(rt.values[start:end], inner)


def _index_inside(rt: Tensor | RaggedTensor, keys: list[Any]) -> Any:
    """Applies keys to each row."""
    if not keys:
        return rt
    if not isinstance(rt, RaggedTensor):
        return rt[(_EVERYTHING, *keys)]
    first, inner = keys[0], keys[1:]
    if first is Ellipsis:
        return _index_inside(rt, _expand_keys(keys, rt.shape.rank - 1))
    if first is None:
        inside = _index_inside(rt, inner)
        one, count = (tensor_of(n, rt.row_splits.dtype) for n in (1, length_of(inside)))
        return RaggedTensor.from_uniform_row_length(inside, one, count)
    if isinstance(first, builtins.slice):
        chosen = rt if first == _EVERYTHING else _sliced_columns(rt, first)
        return chosen.with_values(_index_inside(chosen.values, inner))
    i = _index_number(first)
    if rt.uniform_row_length is None:
        raise ValueError("Cannot index into an inner ragged dimension.")
    length = rt._row_partition.static_uniform_row_length
    if isinstance(i, int) and length is not None and not -length <= i < length:
        raise IndexError(f"Row key {i} out of bounds")
    i = _from_front(i, rt.uniform_row_length)
    return _index_inside(gather_rows(rt.values, rt._row_partition.row_starts() + i), inner)


def _from_front(i: Any, count: Any) -> Any:
    """Returns an index, counted from the front."""
    if isinstance(i, int):
        return count + i if i < 0 else tensor_of(i, count.dtype)
    i = tensor_of(i, count.dtype)
    return where(i < 0, i + count, i)


def _expand_keys(keys: list[Any], rank: int) -> list[Any]:
    """Returns the keys with `...` written out as slices."""
    used = sum(k is not None and k is not Ellipsis for k in keys)
    return [_EVERYTHING] * max(rank - used, 0) + keys[1:]


def _index_number(key: Any) -> Any:
    """Returns an index as an int. A symbolic tensor is returned unchanged."""
    if isinstance(key, bool) or not hasattr(key, "__index__") or getattr(key, "shape", ()) not in ((), []):
        raise TypeError(
            "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar tf.int32/tf.int64 tensors "
            f"are valid indices, got {key!r}"
        )
    return number_of(key)


def _slice_bounds(key: builtins.slice) -> tuple[Any, Any, int]:
    """Returns the beginning, the end and the step of a slice."""
    start, stop, step = (None if k is None else _index_number(k) for k in (key.start, key.stop, key.step))
    if not isinstance(step, (int, type(None))):
        raise ValueError("The step of a slice of a ragged tensor must be known when a function is traced.")
    return start, stop, 1 if step is None else step


def _sliced_rows(rt: RaggedTensor, key: builtins.slice) -> RaggedTensor:
    start, stop, step = _slice_bounds(key)
    key = builtins.slice(start, stop, step)
    if step != 1:
        return take_rows(rt, up_to(rt._row_partition.nrows())[key])
    partition = rt._row_partition
    starts, limits = partition.row_starts()[key], partition.row_limits()[key]
    zero = tensor_of([0], partition.dtype)  # for tensors without rows
    values = rt.values[concat([starts, zero], 0)[0] : concat([zero, limits], 0)[-1]]
    return with_lengths(rt, values, limits - starts)


def _sliced_columns(rt: RaggedTensor, key: builtins.slice) -> RaggedTensor:
    """Returns a slice of each row."""
    partition = rt._row_partition
    first, counts, step = _slice_of(_slice_bounds(key), partition.row_lengths())
    splits = splits_of(counts)
    positions = repeat_values(partition.row_starts() + first, splits) + offsets_of(splits) * tensor_of(
        step, partition.dtype
    )
    values = gather_rows(rt.values, positions)
    uniform = partition.uniform_row_length()
    if uniform is not None:
        length = _slice_of(_slice_bounds(key), uniform)[1]
        return RaggedTensor.from_uniform_row_length(values, length, partition.nrows())
    return RaggedTensor.from_row_splits(values, splits, validate=False)


def _slice_of(bounds: tuple[Any, Any, int], lengths: Any) -> tuple[Any, Any, int]:
    """Returns the first position, the number of elements and the step of a slice, for rows of these lengths."""
    start, stop, step = bounds
    least, most = (0, lengths) if step > 0 else (-1, lengths - 1)

    def clipped(position: Any, default: TensorLike) -> Any:
        if position is None:
            return default
        position = tensor_of(position, lengths.dtype)
        position = where(position < 0, position + lengths, position)
        return maximum(minimum(position, most), least)

    first = clipped(start, least if step > 0 else most)
    end = clipped(stop, most if step > 0 else least)
    distance = end - first if step > 0 else first - end
    return first, maximum((distance + (abs(step) - 1)) // abs(step), 0), step


methods.getitem = getitem
