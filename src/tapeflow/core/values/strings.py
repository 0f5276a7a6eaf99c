"""The value of a string tensor: a buffer of bytes and one of offsets, the layout of Arrow's large binary arrays."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from tapeflow.core.loops import (
    Bytes,
    Int64s,
    Objects,
    Strings,
    copy,
    equal,
    loop,
    read_string,
    trailing_zeros,
    word,
    write_bytes,
)

_new = object.__new__
_FLAT = (-1,)
SLACK = 16  # bytes that loops may write behind a string
FEW = 32  # strings: up to here, `bytes` are faster than loops over buffers
_LARGE = 1 << 26  # bytes: a buffer above is not made by a guess
_FEWER = 8  # strings to pick from a larger array
_LITTLE = 1 << 16  # bytes: up to here, a few strings are kept as `bytes` beside their buffers


class StringArray:
    """An array of strings, which never changes.

    String `i`, counted in row-major order, is `data[offsets[i] : offsets[i + 1]]`. Parts of an array share its buffers,
    so the first offset may be greater than zero. A small array may be a list of `bytes` until its buffers are needed.

    Attributes:
        shape: a tuple of ints.
    """

    __slots__ = ("_data", "_offsets", "_strings", "shape")

    shape: tuple[int, ...]
    _data: Any
    _offsets: Any  # None as long as there are no buffers
    _strings: list[bytes] | None  # of a small array; never changed

    def __init__(self, data: bytes | np.ndarray, offsets: np.ndarray, shape: Sequence[int] = _FLAT) -> None:
        """Creates an array of buffers, which nobody may change afterwards.

        Args:
            data: bytes.
            offsets: int64, with one more element than there are strings; ascending.
            shape: the shape; -1 stands for a dimension that follows from the others.
        """
        count = len(offsets) - 1
        self._data, self._offsets, self._strings = data, offsets, None
        self.shape = (count,) if shape is _FLAT else _whole_shape(shape, count)

    @staticmethod
    def scalar(value: bytes) -> StringArray:
        """Returns the array of shape `[]` with a string."""
        array = _new(StringArray)
        array._strings, array._offsets, array.shape = [value], None, ()
        return array

    @staticmethod
    def of(values: Sequence[bytes], shape: Sequence[int] = _FLAT) -> StringArray:
        """Returns the array of a list of `bytes`."""
        count = len(values)
        if count <= FEW:
            array = _new(StringArray)
            array._strings, array._offsets = [*values], None
            array.shape = (count,) if shape is _FLAT else _whole_shape(shape, count)
            return array
        return StringArray(*_buffers_of(values), shape)

    @staticmethod
    def of_text(values: list[str]) -> StringArray:
        """Returns the array of a list of `str`, as UTF-8.

        Raises:
            TypeError: something else is in it.
            UnicodeEncodeError: a text has half of a surrogate pair.
        """
        return StringArray.of([*map(str.encode, values)]) if len(values) <= FEW else StringArray(*_buffers_of(values))

    @staticmethod
    def from_separated(data: bytes, shape: Sequence[int]) -> StringArray | None:
        """Returns the strings that zero bytes separate, or None if they are more than a shape has elements."""
        count = math.prod(shape)
        if len(data) < 256:
            parts = data.split(b"\0") if count else []
            return StringArray.of(parts, shape) if len(parts) == count else None
        out, offsets = np.empty(len(data) + 8, np.uint8), np.zeros(count + 1, np.int64)
        if _separate_loop(data, len(data), out, offsets, count) != count:
            return None
        return StringArray(out[: offsets[-1]], offsets, shape)

    @staticmethod
    def from_objects(array: Any) -> StringArray:
        """Returns the array of a NumPy array of `bytes`."""
        array = np.asarray(array, object)
        return StringArray.of(array.reshape(-1).tolist(), array.shape)

    @staticmethod
    def full(shape: Sequence[int], value: bytes) -> StringArray:
        """Returns an array of a shape, filled with one string."""
        size = math.prod(shape)
        if size <= FEW:
            return StringArray.of([value] * size, shape)
        return StringArray(value * size, np.arange(size + 1) * len(value), shape)

    @staticmethod
    def concatenate(arrays: Sequence[StringArray], axis: int = 0) -> StringArray:
        """Returns arrays joined along a dimension; all others must be equal."""
        if len(arrays) == 1:
            return arrays[0]
        shape = [*arrays[0].shape]
        shape[axis] = sum([a.shape[axis] for a in arrays])
        whole = _join_arrays(arrays)
        if axis == 0:
            return whole.reshape(shape)
        starts = np.cumsum([0, *[a.size for a in arrays]])
        return whole.take(np.concatenate([a.places() + s for a, s in zip(arrays, starts, strict=False)], axis))

    @staticmethod
    def stack(arrays: Sequence[StringArray]) -> StringArray:
        """Returns arrays of one shape as the rows of an array."""
        return _join_arrays(arrays).reshape(len(arrays), *arrays[0].shape)

    # ---- as other arrays have them -----------------------------------------------------------------------------------

    @property
    def data(self) -> Any:
        """The bytes of all strings in order, a contiguous uint8 array or `bytes`."""
        if self._offsets is None:
            self._make_buffers()
        return self._data

    @property
    def offsets(self) -> np.ndarray:
        """The int64 offsets of the strings' starts in `data`, and of the end of the last one."""
        if self._offsets is None:
            self._make_buffers()
        return self._offsets

    def _make_buffers(self) -> None:
        strings: Any = self._strings
        self._data = strings[0] if len(strings) == 1 else b"".join(strings)
        # The offsets come last: other threads take them for a sign that both are there.
        self._offsets = np.array([0, *accumulate(map(len, strings))], np.int64)

    @property
    def few(self) -> list[bytes] | None:
        """The strings of a small array in row-major order, a list that nobody may change; None for a larger array."""
        if self._strings is None:
            offsets = self._offsets
            if len(offsets) <= FEW + 1 and offsets.item(-1) - offsets.item(0) <= _LITTLE:
                self._strings = self._split_buffers()
        return self._strings

    @property
    def listed(self) -> list[bytes] | None:
        """`few` if that takes no work, or little; None otherwise."""
        return self._strings if self.size > _FEWER else self.few

    @property
    def buffer(self) -> np.ndarray:
        """`data` as a uint8 array."""
        data = self.data
        return np.frombuffer(data, np.uint8) if type(data) is bytes else data

    @property
    def lengths(self) -> np.ndarray:
        """The int64 lengths of all strings in bytes, a vector."""
        if self._strings is not None:
            return np.array(list(map(len, self._strings)), np.int64)
        offsets = self.offsets
        return offsets[1:] - offsets[:-1]

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return len(self._offsets) - 1 if self._strings is None else len(self._strings)

    def __len__(self) -> int:
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.tolist()) if self.ndim == 1 else (self[i] for i in range(len(self)))

    def __copy__(self) -> StringArray:
        return self

    def __deepcopy__(self, memo: dict[Any, Any]) -> StringArray:
        return self

    def __repr__(self) -> str:
        return f"StringArray({self.tolist()!r})"

    def item(self) -> bytes:
        """Returns the only string."""
        if self.size != 1:
            raise ValueError("can only convert an array of size 1 to bytes")
        return self.flat[0]

    def tolist(self) -> Any:
        """Returns the strings as `bytes`, in lists nested like the dimensions."""
        if not self.shape:
            return self.item()
        return [*self.flat] if len(self.shape) == 1 else self.__array__().tolist()

    @property
    def flat(self) -> list[bytes]:
        """All strings in row-major order, a list that nobody may change."""
        few = self.few
        return self._split_buffers() if few is None else few

    def _split_buffers(self) -> list[bytes]:
        if self.size > FEW:
            return self._objects().tolist()
        ends = self.offsets.tolist()
        whole, first = bytes(self._data[ends[0] : ends[-1]]), ends[0]
        return [whole[i - first : j - first] for i, j in pairwise(ends)]

    def _objects(self) -> np.ndarray:
        """Returns a vector with a new `bytes` for each string."""
        out = np.empty(self.size, object)
        _write_objects(self.data, self.offsets, out, self.size)
        return out

    def packed(self) -> tuple[bytes, np.ndarray]:
        """Returns the bytes of these strings and no others, and offsets that begin with zero."""
        offsets = self.offsets
        first, last = offsets.item(0), offsets.item(-1)
        data = self._data[first:last]
        return data if type(data) is bytes else data.tobytes(), offsets - first if first else offsets

    def separated(self) -> bytes | None:
        """Returns the strings joined by zero bytes, for work on all at once; None if a string has a zero byte."""
        data, offsets = self.packed()
        if not self.size or 0 in data:
            return None
        out = np.empty(len(data) + self.size + SLACK, np.uint8)
        _join_by_zeros(data, len(data), offsets, out, self.size)
        return out[: len(data) + self.size - 1].tobytes()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        """Returns a NumPy array of `bytes` objects."""
        few = self._strings or self.few
        out = self._objects() if few is None else np.fromiter(few, object, len(few))
        if len(self.shape) != 1:
            out = out.reshape(self.shape)
        return out if dtype is None or dtype is object else out.astype(dtype)

    # ---- moves -------------------------------------------------------------------------------------------------------

    def reshape(self, *shape: Any) -> StringArray:
        """Returns the same strings in another shape; -1 stands for a dimension that follows from the others."""
        array = _new(StringArray)
        array._strings, array._offsets = self._strings, self._offsets
        if self._offsets is not None:
            array._data = self._data
        dims = shape if len(shape) != 1 or isinstance(shape[0], int) else shape[0]
        array.shape = _whole_shape(dims, self.size)
        return array

    def take(self, indices: np.ndarray) -> StringArray:
        """Returns the strings at places of all strings in row-major order.

        Args:
            indices: a NumPy array of integers; its shape is the result's.
        """
        shape = indices.shape
        few = self.few
        if few is not None and indices.size <= FEW:
            return StringArray.of([few[i] for i in indices.reshape(-1).tolist()], shape)
        offsets = self.offsets
        if indices.size <= _FEWER:
            data, places = self.data, indices.reshape(-1).tolist()
            return StringArray.of([bytes(data[offsets[i] : offsets[i + 1]]) for i in places], shape)
        flat = np.ascontiguousarray(indices, np.int64).reshape(-1)
        if flat.size and flat[-1] - flat[0] == flat.size - 1 and (flat[1:] - flat[:-1] == 1).all():
            return StringArray(self.data, offsets[flat[0] : flat[-1] + 2], shape)
        return gather_ranges(self.data, offsets[:-1][flat], self.lengths[flat], shape)

    def __getitem__(self, key: Any) -> Any:
        """Returns what NumPy's indexing would return: `bytes` for one string."""
        if type(key) is tuple and len(key) < 2:
            if not key:
                return self if self.shape else self.item()
            key = key[0]
        if type(key) is int and self.shape:
            count = self.shape[0]
            if not -count <= key < count:
                raise IndexError(f"index {key} is out of bounds for axis 0 with size {count}")
            key = key % count
            if len(self.shape) == 1:
                if self._strings is not None:
                    return self._strings[key]
                offsets = self._offsets
                return bytes(self._data[offsets.item(key) : offsets.item(key + 1)])
            return self._rows(key, key + 1).reshape(self.shape[1:])
        if type(key) is slice and self.shape and key.step in (None, 1):
            return self._rows(*key.indices(self.shape[0])[:2])
        if isinstance(key, np.ndarray) and key.dtype.kind == "i" and self.shape:
            inner = self.shape[1:]
            width = math.prod(inner)
            rows = np.where(key < 0, key + self.shape[0], key)
            if not inner:
                return self.take(rows)
            return self.take(rows.reshape(-1, 1) * width + np.arange(width)).reshape((*key.shape, *inner))
        places = self.places()[key]
        return self.take(places) if isinstance(places, np.ndarray) else self.reshape(-1)[int(places)]

    def _rows(self, start: int, stop: int) -> StringArray:
        """Returns the rows of the first dimension in a range, without a copy."""
        stop = max(start, stop)
        inner = self.shape[1:]
        width = math.prod(inner) if inner else 1
        array = _new(StringArray)
        array.shape = (stop - start, *inner)
        if self._strings is not None:
            array._strings, array._offsets = self._strings[start * width : stop * width], None
        else:
            array._data, array._offsets = self._data, self._offsets[start * width : stop * width + 1]
            array._strings = None
        return array

    def places(self) -> np.ndarray:
        """Returns the places of the strings, in this shape: what moves places moves strings."""
        return np.arange(self.size).reshape(self.shape)

    def broadcast_to(self, shape: Sequence[int]) -> StringArray:
        """Returns the strings repeated to a shape.

        Raises:
            ValueError: the shapes do not fit.
        """
        shape = tuple(shape)
        if self.size == 1 and len(shape) >= len(self.shape) and shape != self.shape:
            return StringArray.full(shape, self.item())
        return self if shape == self.shape else self.take(np.broadcast_to(self.places(), shape))

    def padded(self, shape: Sequence[int], fill: bytes = b"") -> StringArray:
        """Returns the strings at the beginning of a larger array, which holds another one everywhere else."""
        places = np.zeros(shape, np.int64)
        places[tuple(map(slice, self.shape))] = 1 + self.places()
        return StringArray.concatenate([StringArray.of([fill]), self.reshape(-1)]).take(places)

    def transpose(self, *axes: int) -> StringArray:
        """Returns the strings with the dimensions in another order."""
        return self if axes == tuple(range(self.ndim)) else self.take(self.places().transpose(*axes))

    def select(self, condition: np.ndarray, other: StringArray) -> StringArray:
        """Chooses between these strings and another array's, by a condition; all have one shape."""
        few, others = self.few, other.few
        if few is not None and others is not None:
            choices = zip(condition.reshape(-1).tolist(), few, others, strict=True)
            return StringArray.of([a if holds else b for holds, a, b in choices], self.shape)
        holds, offsets = np.ascontiguousarray(condition, np.bool_).reshape(-1), np.empty(self.size + 1, np.int64)
        size = _select_offsets(holds, self.offsets, other.offsets, offsets, self.size)
        out = np.empty(size + SLACK, np.uint8)
        buffers = [part for a in (self, other) for part in (a.data, len(a.data), a.offsets)]
        _select_loop(holds, *buffers, out, self.size)
        return StringArray(out, offsets, self.shape)

    def equals(self, other: StringArray) -> np.ndarray:
        """Compares strings with those of an array of the same shape, or with one string.

        Returns:
            A bool array of that shape.
        """
        few, others = self.few, other.few
        if few is not None and others is not None:
            pairs = zip(few, others if len(others) == len(few) else others * len(few), strict=True)
            return np.array([a == b for a, b in pairs], np.bool_).reshape(self.shape)
        out = np.empty(self.size, np.uint8)
        _compare_loop(self.data, self.offsets, other.data, other.offsets, other.size != 1, out, self.size)
        return out.view(np.bool_).reshape(self.shape)


def _whole_shape(shape: Sequence[int], size: int) -> tuple[int, ...]:
    """Returns a shape of so many elements as a tuple of ints.

    Raises:
        ValueError: there are more or fewer elements.
    """
    dims = tuple(shape)
    if (len(dims) == 1 and dims[0] == size) or (not dims and size == 1):
        return dims
    if -1 in dims:
        known = -math.prod(dims)
        dims = tuple(size // known if d == -1 and known else 0 if d == -1 else d for d in dims)
    if math.prod(dims) != size:
        raise ValueError(f"cannot reshape array of size {size} into shape {tuple(shape)}")
    return dims


def _buffers_of(values: Sequence[Any]) -> tuple[np.ndarray, np.ndarray]:
    """Returns the buffers of a list of `bytes`, or of `str`: data and offsets."""
    values, count, done = values if type(values) is list else [*values], len(values), 0
    size = (2 * sorted(map(len, values[:: count // 8]))[4] + 8) * count  # pages that nobody writes to cost nothing
    if size > _LARGE:
        size = sum(map(len, values))
    out, offsets = np.empty(size, np.uint8), np.zeros(count + 1, np.int64)
    while True:
        done = _read_list(out, len(out), offsets, values, done, count, type(values[0]) is str)
        if done == count:
            return out[: offsets[-1]], offsets
        size = int(offsets[done])
        larger = np.empty(2 * len(out) + 4 * len(values[done]), np.uint8)
        larger[:size] = out[:size]
        out = larger


def offsets_of(lengths: np.ndarray) -> np.ndarray:
    """Returns where strings of these lengths begin one after the other, and the end of the last one."""
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


def numbers_within(counts: np.ndarray) -> np.ndarray:
    """Returns the numbers from 0 to each count, one range after the other."""
    ends = np.cumsum(counts)
    return np.arange(int(counts.sum())) - np.repeat(ends - counts, counts)


def gather_ranges(data: Any, starts: np.ndarray, lengths: np.ndarray, shape: Sequence[int] = _FLAT) -> StringArray:
    """Returns the array of ranges of a buffer.

    Args:
        data: bytes.
        starts: int64, where each string begins.
        lengths: int64, how long each is.
        shape: the result's shape.
    """
    if len(starts) == 1:
        start = int(starts[0])
        return StringArray.of([bytes(data[start : start + int(lengths[0])])], shape)
    starts, lengths = np.ascontiguousarray(starts, np.int64), np.ascontiguousarray(lengths, np.int64)
    out, offsets = np.empty(int(lengths.sum()) + SLACK, np.uint8), np.empty(len(starts) + 1, np.int64)
    _gather_loop(data, len(data), starts, lengths, out, offsets, len(starts))
    return StringArray(out, offsets, shape)


def _join_arrays(arrays: Sequence[StringArray]) -> StringArray:
    """Returns the strings of all arrays, a vector."""
    if sum([a.size for a in arrays]) <= FEW:
        return StringArray.of([v for a in arrays for v in a.flat])
    parts = [a.packed() for a in arrays]
    starts = np.cumsum([0, *[len(p) for p, _ in parts]])
    offsets = np.concatenate([*[o[:-1] + s for (_, o), s in zip(parts, starts, strict=False)], starts[-1:]])
    return StringArray(b"".join([p for p, _ in parts]), offsets)


# ---- loops -----------------------------------------------------------------------------------------------------------


@loop
def copy_string(out: Bytes, to: int, data: Bytes, end: int, start: int, size: int) -> None:
    """Copies a string. If it is short, this is one step, which writes up to `SLACK` bytes more.

    Args:
        out: the buffer to write to.
        to: the place in it.
        data: the buffer to read from.
        end: its size.
        start: the string's place in it.
        size: the string's size.
    """
    if size <= 16 and start + 16 <= end:
        copy(out, to, data, start, 16)
    else:
        copy(out, to, data, start, size)


@loop
def _read_list(out: Bytes, room: int, offsets: Int64s, strings: Strings, done: int, count: int, is_text: int) -> int:
    """Copies the strings of a list to a buffer, as long as there is room; returns how many it holds then."""
    at = offsets[done]
    for i in range(done, count):
        left = room - at
        size = read_string(strings, i, is_text, out, at, left)
        if size < 0:
            return -1
        if size > left:
            return i
        at += size
        offsets[i + 1] = at
    return count


@loop
def _write_objects(data: Bytes, offsets: Int64s, out: Objects, count: int) -> int:
    for i in range(count):
        if write_bytes(out, i, data, offsets[i], offsets[i + 1] - offsets[i]) < 0:
            return -1
    return 0


@loop
def _gather_loop(data: Bytes, end: int, starts: Int64s, sizes: Int64s, out: Bytes, offsets: Int64s, count: int) -> None:
    at, offsets[0] = 0, 0
    for i in range(count):
        copy_string(out, at, data, end, starts[i], sizes[i])
        at += sizes[i]
        offsets[i + 1] = at


@loop
def _select_offsets(condition: Bytes, a_offsets: Int64s, b_offsets: Int64s, offsets: Int64s, count: int) -> int:
    at, offsets[0] = 0, 0
    for i in range(count):
        a, b = a_offsets[i + 1] - a_offsets[i], b_offsets[i + 1] - b_offsets[i]
        at += b + (a - b) * condition[i]
        offsets[i + 1] = at
    return at


@loop
def _select_loop(
    condition: Bytes, a: Bytes, a_end: int, a_offsets: Int64s, b: Bytes, b_end: int, b_offsets: Int64s, out: Bytes,
    count: int,
) -> None:  # fmt: skip
    """Copies one string of each pair. The other is copied as an empty string: a branch would cost more."""
    at = 0
    for i in range(count):
        size = (a_offsets[i + 1] - a_offsets[i]) * condition[i]
        copy_string(out, at, a, a_end, a_offsets[i], size)
        at += size
        size = (b_offsets[i + 1] - b_offsets[i]) * (1 - condition[i])
        copy_string(out, at, b, b_end, b_offsets[i], size)
        at += size


@loop
def _join_by_zeros(data: Bytes, end: int, offsets: Int64s, out: Bytes, count: int) -> None:
    for i in range(count):
        at = offsets[i]
        copy_string(out, at + i, data, end, at, offsets[i + 1] - at)
        out[offsets[i + 1] + i] = 0


@loop
def _compare_loop(a: Bytes, a_offsets: Int64s, b: Bytes, b_offsets: Int64s, step: int, out: Bytes, count: int) -> None:
    for i in range(count):
        size, j = a_offsets[i + 1] - a_offsets[i], i * step
        out[i] = size == b_offsets[j + 1] - b_offsets[j] and equal(a, a_offsets[i], b, b_offsets[j], size)


_ONES, _HIGHS = 0x0101010101010101, 0x8080808080808080


@loop
def _separate_loop(data: Bytes, size: int, out: Bytes, offsets: Int64s, count: int) -> int:
    """Copies the strings between zero bytes; returns how many there are, or a greater number than `count`."""
    found, at, i = 0, 0, 0
    while found < count:
        while i + 8 <= size:  # eight bytes at once, of which those before the first zero count
            eight = word(data, i, 8)
            zeros = (eight - _ONES) & ~eight & _HIGHS
            copy(out, at, data, i, 8)
            if zeros:
                step = trailing_zeros(zeros) >> 3
                i += step
                at += step
                break
            i += 8
            at += 8
        while i < size and data[i]:
            out[at] = data[i]
            i += 1
            at += 1
        found += 1
        offsets[found] = at
        if i == size:
            return found
        i += 1  # the zero
    return count + 1
