"""The entries of a table, in columns: keys are numbered, and the values of key `i` are row `i` of a column."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from tapeflow.core.types.dtypes import DType, string
from tapeflow.core.values.string_index import StringIndex, grow_array
from tapeflow.core.values.strings import StringArray
from tapeflow.core.values.tensor import as_numpy


class Keys:
    """Numbers for keys that are integers, or vectors of integers or strings."""

    def __init__(self, shape: Sequence[int]) -> None:
        self._shape = tuple(shape)
        self._numbers: dict[Any, int] = {}

    def __len__(self) -> int:
        return len(self._numbers)

    def _rows(self, keys: Any) -> list[Any]:
        if not self._shape:
            return keys.reshape(-1).tolist()
        return [tuple(row) for row in keys.reshape((-1, math.prod(self._shape))).tolist()]

    def add(self, keys: Any) -> np.ndarray:
        """Adds the keys that are new, raw values. Returns the numbers of all, an int64 vector."""
        numbers = self._numbers
        return np.array([numbers.setdefault(key, len(numbers)) for key in self._rows(keys)], np.int64)

    def find(self, keys: Any) -> np.ndarray:
        """Returns the numbers of keys, an int64 vector; -1 for keys that were not added."""
        get, rows = self._numbers.get, self._rows(keys)
        return np.fromiter((get(key, -1) for key in rows), np.int64, len(rows))

    def values(self, dtype: DType) -> Any:
        """Returns the raw value of all keys, in the order of their numbers."""
        rows = list(self._numbers)
        shape, flat = (len(rows), *self._shape), [v for row in rows for v in row] if self._shape else rows
        if dtype is string:
            return StringArray.of(flat, shape)
        return torch.from_numpy(np.array(flat, dtype.as_numpy_dtype)).reshape(shape)


class StringKeys(StringIndex):
    """Numbers for strings."""

    def values(self, dtype: DType) -> StringArray:
        """Returns the raw value of all keys, in the order of their numbers."""
        return self.strings


class Column:
    """Rows of numbers, of which any may change."""

    def __init__(self, dtype: DType, shape: Sequence[int]) -> None:
        self._dtype, self._rows = dtype, torch.zeros((16, *shape), dtype=dtype.torch)
        self._array = as_numpy(self._rows, dtype)  # in the same memory

    def put(self, places: np.ndarray, rows: torch.Tensor, count: int) -> None:
        """Sets rows, of which there are `count` then; of several rows for one place, the last one counts."""
        if count > len(self._array):
            more = self._rows.new_zeros((max(count, 2 * len(self._array)), *self._rows.shape[1:]))
            more[: len(self._array)] = self._rows
            self._rows, self._array = more, as_numpy(more, self._dtype)
        array = as_numpy(rows, self._dtype)
        self._array[places] = array if array.ndim == self._array.ndim else array.reshape(-1, *self._array.shape[1:])

    def take(self, places: np.ndarray) -> torch.Tensor:
        """Returns rows."""
        return self._rows.index_select(0, torch.from_numpy(places))

    def row(self, place: int) -> torch.Tensor:
        """Returns one row."""
        return self._rows[place].clone()


class StringColumn:
    """Rows of strings, of which any may change. Equal strings are stored once."""

    def __init__(self, dtype: DType, shape: Sequence[int]) -> None:
        self._strings, self._places = StringIndex(), np.zeros((16, *shape), np.int64)

    def put(self, places: np.ndarray, rows: StringArray, count: int) -> None:
        """Sets rows, of which there are `count` then; of several rows for one place, the last one counts."""
        if count > len(self._places):
            self._places = grow_array(self._places, count)
        self._places[places] = self._strings.add(rows).reshape(-1, *self._places.shape[1:])

    def take(self, places: np.ndarray) -> StringArray:
        """Returns rows."""
        return self._strings.strings.take(self._places[places])

    def row(self, place: int) -> StringArray:
        """Returns one row."""
        strings, number = self._strings.strings, self._places[place]
        return strings.take(number) if number.ndim else StringArray.scalar(strings[int(number)])


class Entries:
    """Keys with their values.

    Args:
        key_dtype, value_dtype: the dtypes of keys and values.
        key_shape, value_shape: the shapes of one key and of one value.
    """

    def __init__(
        self, key_dtype: DType, value_dtype: DType, key_shape: Sequence[int], value_shape: Sequence[int]
    ) -> None:
        self._description = key_dtype, value_dtype, key_shape, value_shape
        self.keys = keys_of(key_dtype, key_shape)
        self._values = (StringColumn if value_dtype is string else Column)(value_dtype, value_shape)
        self._is_removed = np.zeros(0, np.bool_)  # by number; keys beyond its end are not
        self._removed = 0

    def __len__(self) -> int:
        return len(self.keys) - self._removed

    def put(self, keys: Any, values: Any) -> np.ndarray:
        """Sets the values of keys, raw values. Returns the keys' numbers."""
        numbers = self.keys.add(keys)
        self._values.put(numbers, values, len(self.keys))
        if self._removed:
            self._mark(numbers, False)
        return numbers

    def _mark(self, numbers: np.ndarray, is_removed: bool) -> None:
        if len(self._is_removed) < len(self.keys):
            self._is_removed = np.pad(self._is_removed, (0, 2 * len(self.keys) - len(self._is_removed)))
        self._is_removed[numbers] = is_removed
        self._removed = int(np.count_nonzero(self._is_removed))

    def remove(self, keys: Any) -> None:
        """Removes keys; missing ones are ignored."""
        numbers = self.keys.find(keys)
        self._mark(numbers[numbers >= 0], True)
        if self._removed > len(self) + 1024:  # their room is worth having again
            left = Entries(*self._description)
            left.put(*self.export())
            self.__dict__.update(left.__dict__)

    def find(self, keys: Any) -> np.ndarray:
        """Returns the numbers of keys, an int64 vector; -1 for missing keys."""
        numbers = self.keys.find(keys)
        if self._removed:
            numbers[self._is_removed[numbers]] = -1
        return numbers

    def take(self, numbers: np.ndarray) -> Any:
        """Returns the values of keys by their numbers, as raw values."""
        return self._values.take(numbers)

    def row(self, number: int) -> Any:
        """Returns the value of one key by its number, as a raw value."""
        return self._values.row(number)

    def export(self) -> tuple[Any, Any]:
        """Returns all keys and all values, as raw values."""
        keys = self.keys.values(self._description[0])
        if not self._removed:
            return keys, self._values.take(np.arange(len(self.keys)))
        numbers = np.flatnonzero(~self._is_removed[: len(self.keys)])
        return keys[numbers], self._values.take(numbers)


def keys_of(dtype: DType, shape: Sequence[int]) -> Any:
    """Returns an empty numbering of keys of a dtype and shape."""
    return StringKeys() if dtype is string and not shape else Keys(shape)
