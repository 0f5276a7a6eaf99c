"""Square brackets of ragged tensors."""

from __future__ import annotations

import builtins
from typing import Any

from tapeflow.array.gathering import gather
from tapeflow.array.joining import concat
from tapeflow.array.masks import where
from tapeflow.core.values.tensor import EagerTensor, Tensor
from tapeflow.math.extrema import maximum, minimum
from tapeflow.ragged.row_partition import (
    RowPartition,
    length_of,
    number_of,
    offsets_of,
    repeated,
    splits_of,
    tensor_of,
    up_to,
)
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
        return RaggedTensor.from_uniform_row_length(inside, length_of(inside), 1)
    if isinstance(first, builtins.slice):
        chosen = rt if first == _EVERYTHING else _sliced_rows(rt, first)
        return _inside(chosen, inner)
    i = _index(first)
    count = rt._row_partition.static_nrows
    if isinstance(i, int) and count is not None and not -count <= i < count:
        raise IndexError(f"Row key {i} out of bounds")
    splits = rt.row_splits
    if isinstance(i, int) and isinstance(splits, EagerTensor) and count is not None:
        start, end = splits.value[i % count : i % count + 2].tolist()
    else:
        i = _from_front(i, rt._row_partition.nrows())
        start, end = splits[i], splits[i + 1]
    return _rows(rt.values[start:end], inner)


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
        return RaggedTensor.from_uniform_row_length(inside, 1, length_of(inside))
    if isinstance(first, builtins.slice):
        chosen = rt if first == _EVERYTHING else _sliced_columns(rt, first)
        return chosen.with_values(_inside(chosen.values, inner))
    i = _index(first)
    if rt.uniform_row_length is None:
        raise ValueError("Cannot index into an inner ragged dimension.")
    length = rt._row_partition.static_uniform_row_length
    if isinstance(i, int) and length is not None and not -length <= i < length:
        raise IndexError(f"Row key {i} out of bounds")
    i = _from_front(i, rt.uniform_row_length)
    return _inside(_taken(rt.values, rt._row_partition.row_starts() + i), inner)


def _from_front(i: Any, count: Any) -> Any:
    """An index counted from the front."""
    if isinstance(i, int):
        return count + i if i < 0 else tensor_of(i, count.dtype)
    i = tensor_of(i, count.dtype)
    return where(i < 0, i + count, i)


def _expanded(keys: list[Any], rank: int) -> list[Any]:
    """The keys with `...` written out as slices."""
    used = sum(k is not None and k is not Ellipsis for k in keys)
    return [_EVERYTHING] * max(rank - used, 0) + keys[1:]


def _index(key: Any) -> Any:
    """The int of an index; a symbolic tensor as it is."""
    if isinstance(key, bool) or not hasattr(key, "__index__") or getattr(key, "shape", ()) not in ((), []):
        raise TypeError(
            "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar tf.int32/tf.int64 tensors "
            f"are valid indices, got {key!r}"
        )
    return number_of(key)


def _bounds(key: builtins.slice) -> tuple[Any, Any, int]:
    """The beginning, the end and the step of a slice."""
    start, stop, step = (None if k is None else _index(k) for k in (key.start, key.stop, key.step))
    if not isinstance(step, (int, type(None))):
        raise ValueError("The step of a slice of a ragged tensor must be known when a function is traced.")
    return start, stop, 1 if step is None else step


def _sliced_rows(rt: RaggedTensor, key: builtins.slice) -> RaggedTensor:
    start, stop, step = _bounds(key)
    key = builtins.slice(start, stop, step)
    if step != 1:
        return take_rows(rt, up_to(rt._row_partition.nrows())[key])
    partition = rt._row_partition
    starts, limits = partition.row_starts()[key], partition.row_limits()[key]
    nothing = tensor_of([0], partition.dtype)
    values = rt.values[concat([starts, nothing], 0)[0] : concat([nothing, limits], 0)[-1]]
    return _with_lengths(rt, values, limits - starts)


def _with_lengths(like: RaggedTensor, values: Any, lengths: Any) -> RaggedTensor:
    """Rows of those lengths, known to be equally long where those of `like` are."""
    uniform = like._row_partition.uniform_row_length()
    if uniform is None:
        new = RowPartition.from_row_lengths(lengths, validate=False)
    else:
        new = RowPartition.from_uniform_row_length(uniform, nrows=length_of(lengths))
    return RaggedTensor._from_row_partition(values, new, validate=False)


def _sliced_columns(rt: RaggedTensor, key: builtins.slice) -> RaggedTensor:
    """A slice of each row."""
    partition = rt._row_partition
    first, counts, step = _slice_of(_bounds(key), partition.row_lengths())
    splits = splits_of(counts)
    places = repeated(partition.row_starts() + first, splits) + offsets_of(splits) * tensor_of(step, partition.dtype)
    values = _taken(rt.values, places)
    uniform = partition.uniform_row_length()
    if uniform is not None:
        length = _slice_of(_bounds(key), uniform)[1]
        return RaggedTensor.from_uniform_row_length(values, length, partition.nrows())
    return RaggedTensor.from_row_splits(values, splits, validate=False)


def _slice_of(bounds: tuple[Any, Any, int], lengths: Any) -> tuple[Any, Any, int]:
    """Of a slice of rows of those lengths: the first place in each, how many it takes, and the step."""
    start, stop, step = bounds
    least, most = (0, lengths) if step > 0 else (-1, lengths - 1)

    def clipped(place: Any, default: Any) -> Any:
        if place is None:
            return default
        place = tensor_of(place, lengths.dtype)
        place = where(place < 0, place + lengths, place)
        return maximum(minimum(place, most), least)

    first = clipped(start, least if step > 0 else most)
    end = clipped(stop, most if step > 0 else least)
    distance = end - first if step > 0 else first - end
    return first, maximum((distance + (abs(step) - 1)) // abs(step), 0), step


def _taken(value: Any, places: Any) -> Any:
    """The rows of a tensor or ragged tensor at these places."""
    return take_rows(value, places) if isinstance(value, RaggedTensor) else gather(value, places)


def take_rows(rt: RaggedTensor, rows: Any) -> RaggedTensor:
    """The rows of a ragged tensor at these places, a vector, in their order."""
    partition = rt._row_partition
    lengths = gather(partition.row_lengths(), rows)
    splits = splits_of(lengths)
    shift = gather(partition.row_starts(), rows) - splits[:-1]
    values = _taken(rt.values, repeated(shift, splits) + up_to(splits[-1]))
    return _with_lengths(rt, values, lengths)
