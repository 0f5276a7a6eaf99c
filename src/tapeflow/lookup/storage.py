"""The storage of tables: Python values in a dict, between the tensors that go in and come out."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from tapeflow.core.errors import FailedPreconditionError
from tapeflow.core.types.dtypes import DType, string
from tapeflow.core.values.tensor import EagerTensor, invalid


def bare(values: Sequence[Any], dtype: DType, shape: Sequence[int] = (-1,)) -> Any:
    """Returns Python values as the bare value of a tensor."""
    if dtype is string:
        array = np.empty(len(values), object)
        array[:] = values
        return array.reshape(shape)
    return torch.from_numpy(np.array(values, dtype.as_numpy_dtype)).reshape(tuple(shape))


def text_of(value: Any) -> str:
    """Returns bytes as text, for messages."""
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)


def shape_text(shape: Sequence[int]) -> str:
    """Returns a shape as messages print it."""
    return str(list(shape)).replace(" ", "")


class TableStorage:
    """Keys and values.

    Args:
        key_dtype, value_dtype: the dtypes of keys and values.
        key_shape, value_shape: the shapes of one key and of one value.
    """

    def __init__(
        self, key_dtype: DType, value_dtype: DType, key_shape: Sequence[int] = (), value_shape: Sequence[int] = ()
    ) -> None:
        self.key_dtype, self.value_dtype = key_dtype, value_dtype
        self.key_shape, self.value_shape = tuple(key_shape), tuple(value_shape)
        self.items: dict[Any, Any] = {}
        self.filled = False  # by an initializer
        self.lock = threading.Lock()

    def rows(self, tensor: EagerTensor, row_shape: Sequence[int]) -> list[Any]:
        """Returns a tensor as a list of Python values, each of a key's or value's shape."""
        value = tensor.value
        if not row_shape:
            return value.reshape(-1).tolist()
        return [tuple(row) for row in value.reshape((-1, int(np.prod(row_shape)))).tolist()]

    def keys(self, tensor: EagerTensor) -> list[Any]:
        """Returns keys as Python values.

        Raises:
            InvalidArgumentError: they have another shape.
        """
        shape = tuple(tensor.value.shape)
        if self.key_shape and shape[len(shape) - len(self.key_shape) :] != self.key_shape:
            raise invalid(f"Expected key shape to end in {shape_text(self.key_shape)}, but got {shape_text(shape)}")
        return self.rows(tensor, self.key_shape)

    def _pairs(self, keys: EagerTensor, values: EagerTensor) -> Any:
        rows = self.keys(keys)
        shape = tuple(keys.value.shape)
        expected = shape[: len(shape) - len(self.key_shape)] + self.value_shape
        if tuple(values.value.shape) != expected:
            raise invalid(f"Expected shape {shape_text(expected)} for value, got {shape_text(values.value.shape)}")
        return zip(rows, self.rows(values, self.value_shape), strict=True)

    def fill(self, keys: EagerTensor, values: EagerTensor) -> None:
        """Adds keys that never change their values.

        Raises:
            FailedPreconditionError: a key has another value already.
        """
        with self.lock:
            for key, value in self._pairs(keys, values):
                if self.items.setdefault(key, value) != value:
                    raise FailedPreconditionError.of(
                        f"HashTable has different value for same key. Key {text_of(key)} has "
                        f"{text_of(self.items[key])} and trying to add value {text_of(value)}"
                    )
            self.filled = True

    def insert(self, keys: EagerTensor, values: EagerTensor) -> None:
        """Adds keys, or sets new values of existing ones."""
        pairs = self._pairs(keys, values)
        with self.lock:
            self.items.update(pairs)

    def replace(self, keys: EagerTensor, values: EagerTensor) -> None:
        """Replaces all keys and values."""
        pairs = self._pairs(keys, values)
        with self.lock:
            self.items = dict(pairs)

    def remove(self, keys: EagerTensor) -> None:
        """Removes keys; missing ones are ignored."""
        rows = self.keys(keys)
        with self.lock:
            for key in rows:
                self.items.pop(key, None)

    def find(self, keys: EagerTensor, default: EagerTensor) -> EagerTensor:
        """Returns the values of keys; `default`, or its row, for a missing key."""
        rows, get = self.keys(keys), self.items.get
        shape = tuple(keys.value.shape)
        shape = shape[: len(shape) - len(self.key_shape)] + self.value_shape
        if tuple(default.value.shape) == self.value_shape:
            fallback = self.rows(default, self.value_shape)[0]
            values = [get(key, fallback) for key in rows]
        elif tuple(default.value.shape) == shape:
            values = [get(*pair) for pair in zip(rows, self.rows(default, self.value_shape), strict=True)]
        else:
            raise invalid(
                f"Expected shape {shape_text(self.value_shape)} or {shape_text(shape)} for default value, got "
                f"{shape_text(default.value.shape)}"
            )
        return self._values(values, shape)

    def export(self) -> list[EagerTensor]:
        """Returns all keys and all values."""
        with self.lock:
            items = list(self.items.items())
        flat = _flat([k for k, _ in items], self.key_shape)
        keys = EagerTensor(bare(flat, self.key_dtype, (len(items), *self.key_shape)), self.key_dtype)
        return [keys, self._values([v for _, v in items], (len(items), *self.value_shape))]

    def _values(self, values: list[Any], shape: Sequence[int]) -> EagerTensor:
        return EagerTensor(bare(_flat(values, self.value_shape), self.value_dtype, shape), self.value_dtype)


def _flat(rows: list[Any], row_shape: Sequence[int]) -> list[Any]:
    return [v for row in rows for v in row] if row_shape else rows
