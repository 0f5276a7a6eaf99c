"""What a table holds: Python values in a dict, between the tensors that go in and come out."""

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
    """Python values as the bare value of a tensor."""
    if dtype is string:
        array = np.empty(len(values), object)
        array[:] = values
        return array.reshape(shape)
    return torch.from_numpy(np.array(values, dtype.as_numpy_dtype)).reshape(tuple(shape))


def texts(value: Any) -> str:
    """Bytes as text, for messages."""
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)


def shown(shape: Sequence[int]) -> str:
    """A shape as messages print it."""
    return str(list(shape)).replace(" ", "")


class Storage:
    """Keys and values.

    Args:
        key_dtype, value_dtype: of both.
        key_shape, value_shape: of one key and of one value.
    """

    def __init__(
        self, key_dtype: DType, value_dtype: DType, key_shape: Sequence[int] = (), value_shape: Sequence[int] = ()
    ) -> None:
        self.key_dtype, self.value_dtype = key_dtype, value_dtype
        self.key_shape, self.value_shape = tuple(key_shape), tuple(value_shape)
        self.items: dict[Any, Any] = {}
        self.lock = threading.Lock()

    def rows(self, tensor: EagerTensor, row_shape: Sequence[int]) -> list[Any]:
        """A tensor as a list of Python values, each of a key's or value's shape."""
        value = tensor.value
        if not row_shape:
            return value.reshape(-1).tolist()
        return [tuple(row) for row in value.reshape((-1, int(np.prod(row_shape)))).tolist()]

    def keys(self, tensor: EagerTensor) -> list[Any]:
        """Keys as Python values.

        Raises:
            InvalidArgumentError: they have another shape.
        """
        shape = tuple(tensor.value.shape)
        if self.key_shape and shape[len(shape) - len(self.key_shape) :] != self.key_shape:
            raise invalid(f"Expected key shape to end in {shown(self.key_shape)}, but got {shown(shape)}")
        return self.rows(tensor, self.key_shape)

    def _pairs(self, keys: EagerTensor, values: EagerTensor) -> Any:
        found = self.keys(keys)
        shape = tuple(keys.value.shape)
        expected = shape[: len(shape) - len(self.key_shape)] + self.value_shape
        if tuple(values.value.shape) != expected:
            raise invalid(f"Expected shape {shown(expected)} for value, got {shown(values.value.shape)}")
        return zip(found, self.rows(values, self.value_shape), strict=True)

    def fill(self, keys: EagerTensor, values: EagerTensor) -> None:
        """Adds keys that never change their values.

        Raises:
            FailedPreconditionError: a key has another value already.
        """
        with self.lock:
            for key, value in self._pairs(keys, values):
                if self.items.setdefault(key, value) != value:
                    raise FailedPreconditionError(
                        None,
                        None,
                        f"HashTable has different value for same key. Key {texts(key)} has {texts(self.items[key])} "
                        f"and trying to add value {texts(value)}",
                    )

    def insert(self, keys: EagerTensor, values: EagerTensor) -> None:
        """Adds keys, or gives them new values."""
        pairs = self._pairs(keys, values)
        with self.lock:
            self.items.update(pairs)

    def replace(self, keys: EagerTensor, values: EagerTensor) -> None:
        """Has these keys and values take the place of all."""
        pairs = self._pairs(keys, values)
        with self.lock:
            self.items = dict(pairs)

    def remove(self, keys: EagerTensor) -> None:
        """Takes keys out; those that are not there don't matter."""
        found = self.keys(keys)
        with self.lock:
            for key in found:
                self.items.pop(key, None)

    def find(self, keys: EagerTensor, default: EagerTensor) -> EagerTensor:
        """The values of keys; `default`, or its row, for a key that is not there."""
        found, get = self.keys(keys), self.items.get
        shape = tuple(keys.value.shape)
        shape = shape[: len(shape) - len(self.key_shape)] + self.value_shape
        if tuple(default.value.shape) == self.value_shape:
            fallback = self.rows(default, self.value_shape)[0]
            values = [get(key, fallback) for key in found]
        elif tuple(default.value.shape) == shape:
            values = [get(*pair) for pair in zip(found, self.rows(default, self.value_shape), strict=True)]
        else:
            raise invalid(
                f"Expected shape {shown(self.value_shape)} or {shown(shape)} for default value, got "
                f"{shown(default.value.shape)}"
            )
        return self._values(values, shape)

    def export(self) -> list[EagerTensor]:
        """All keys and all values."""
        with self.lock:
            items = list(self.items.items())
        keys = _flat([k for k, _ in items], self.key_shape)
        made = EagerTensor(bare(keys, self.key_dtype, (len(items), *self.key_shape)), self.key_dtype)
        return [made, self._values([v for _, v in items], (len(items), *self.value_shape))]

    def _values(self, values: list[Any], shape: Sequence[int]) -> EagerTensor:
        return EagerTensor(bare(_flat(values, self.value_shape), self.value_dtype, shape), self.value_dtype)


def _flat(rows: list[Any], row_shape: Sequence[int]) -> list[Any]:
    return [v for row in rows for v in row] if row_shape else rows
