"""The storage of tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from tapeflow.core.errors import AbortedError, FailedPreconditionError, UnimplementedError
from tapeflow.core.fork_locks import new_lock
from tapeflow.core.ops.shape_rules import text
from tapeflow.core.types.dtypes import DType, string
from tapeflow.core.values.boxed_objects import held_object
from tapeflow.core.values.strings import FEW, StringArray
from tapeflow.core.values.tensor import EagerTensor, Tensor, invalid
from tapeflow.lookup.entries import Entries, keys_of
from tapeflow.strings.hash_buckets import murmurs


def text_of(value: Any) -> str:
    """Returns bytes as text, for messages."""
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)


class TableStorage:
    """Keys that never change their values. They can be read when an initializer has filled the table.

    Args:
        key_dtype, value_dtype: the dtypes of keys and values.
        key_shape, value_shape: the shapes of one key and of one value.

    Attributes:
        filled: True if the table can be read.
    """

    filled = False

    def __init__(
        self, key_dtype: DType, value_dtype: DType, key_shape: Sequence[int] = (), value_shape: Sequence[int] = ()
    ) -> None:
        self.key_dtype, self.value_dtype = key_dtype, value_dtype
        self.key_shape, self.value_shape = tuple(key_shape), tuple(value_shape)
        self.entries = self._no_entries()
        self.lock = new_lock()

    def _no_entries(self) -> Entries:
        return Entries(self.key_dtype, self.value_dtype, self.key_shape, self.value_shape)

    def __len__(self) -> int:
        return len(self.entries)

    def keys(self, tensor: EagerTensor) -> Any:
        """Returns the raw value of keys.

        Raises:
            InvalidArgumentError: they have another shape.
        """
        shape = tuple(tensor.value.shape)
        if self.key_shape and shape[len(shape) - len(self.key_shape) :] != self.key_shape:
            raise invalid(f"Expected key shape to end in {text(self.key_shape)}, but got {text(shape)}")
        return tensor.value

    def _check_dtypes(self, keys: EagerTensor, values: EagerTensor) -> None:
        if keys.dtype is not self.key_dtype or values.dtype is not self.value_dtype:
            raise invalid(
                f"Signature mismatch: got keys of {keys.dtype.name} and values of {values.dtype.name} for a table from "
                f"{self.key_dtype.name} to {self.value_dtype.name}"
            )

    def _pairs(self, keys: EagerTensor, values: EagerTensor) -> tuple[Any, Any]:
        """Returns the raw values of keys and of values."""
        self._check_dtypes(keys, values)
        rows = self.keys(keys)
        shape = keys.value.shape
        expected = (*shape[: len(shape) - len(self.key_shape)], *self.value_shape)
        if values.value.shape != expected:
            raise invalid(f"Expected shape {text(expected)} for value, got {text(values.value.shape)}")
        return rows, values.value

    def fill(self, keys: EagerTensor, values: EagerTensor) -> None:
        """Adds keys. A filled table stays as it is, and TensorFlow compares no more than the number of entries then.

        Raises:
            InvalidArgumentError: there are no keys, or not as many values as keys.
            FailedPreconditionError: a key has two values, or the table is filled with another number of entries.
        """
        pair = self._pairs(keys, values)
        entries = self._no_entries()
        numbers = entries.put(*pair)
        if not len(entries):
            raise invalid("keys and values cannot be empty tensors.")
        if len(entries) < len(numbers):
            self._check_repeated(entries, numbers, *pair)
        with self.lock:
            if self.filled and len(entries) != len(self):
                raise FailedPreconditionError.of(
                    f"Table was already initialized with different data: it has {len(self)} entries, and would get "
                    f"{len(entries)}."
                )
            if not self.filled:
                self.entries, self.filled = entries, True

    def _check_repeated(self, entries: Entries, numbers: np.ndarray, keys: Any, values: Any) -> None:
        """Raises FailedPreconditionError if a key that occurs several times has several values."""
        held, given = (np.asarray(v).reshape(len(numbers), -1) for v in (entries.take(numbers), values))
        different = np.flatnonzero((held != given).any(1))
        if different.size:
            first = different[0]
            raise FailedPreconditionError.of(
                f"HashTable has different value for same key. Key "
                f"{text_of(np.asarray(keys).reshape(len(numbers), -1)[first].tolist())} has "
                f"{text_of(given[first].tolist())} and trying to add value {text_of(held[first].tolist())}"
            )

    def insert(self, keys: EagerTensor, values: EagerTensor) -> None:
        """Raises UnimplementedError, since keys never change."""
        raise UnimplementedError.of("Insert not supported: only an initializer adds keys to a table of this kind.")

    def remove(self, keys: EagerTensor) -> None:
        """Raises UnimplementedError, since keys never change."""
        raise UnimplementedError.of("Remove not supported: keys of a table of this kind can't be removed.")

    def find(self, keys: EagerTensor, default: EagerTensor) -> EagerTensor:
        """Returns the values of keys; `default`, or its row, for a missing key.

        Raises:
            FailedPreconditionError: no initializer has filled the table.
            InvalidArgumentError: `default` has another shape or dtype.
        """
        if not self.filled:
            raise FailedPreconditionError.of(
                "Table not initialized. Fill it first: adapt() a layer, or give it a vocabulary; run a table's "
                "initializer, or tf.compat.v1.tables_initializer(), in its session."
            )
        self._check_dtypes(keys, default)
        rows, shape, value_shape = self.keys(keys), tuple(keys.value.shape), self.value_shape
        if self.key_shape or value_shape:
            shape = shape[: len(shape) - len(self.key_shape)] + value_shape
        if default.value.shape not in (value_shape, shape):
            raise invalid(
                f"Expected shape {text(value_shape)} or {text(shape)} for default value, got "
                f"{text(default.value.shape)}"
            )
        with self.lock:
            numbers = self.entries.find(rows)
            any_missing = -1 in numbers.tolist() if len(numbers) <= FEW else numbers.min() < 0
            if len(numbers) == 1:
                value = default.value if any_missing else self.entries.row(numbers.item())
                return EagerTensor(value if value.shape == shape else value.reshape(shape), self.value_dtype)
            missing = numbers < 0 if any_missing else None
            values: Any = None
            if missing is None or len(self.entries.keys):
                values = self.entries.take(numbers if missing is None else np.maximum(numbers, 0))
        if missing is not None:
            values = _with_defaults(values, missing, default.value.reshape((-1, *self.value_shape)))
        return EagerTensor(values if values.shape == shape else values.reshape(shape), self.value_dtype)

    def export(self) -> list[EagerTensor]:
        """Returns all keys and all values.

        Raises:
            AbortedError: no initializer has filled the table.
        """
        if not self.filled:
            raise AbortedError.of("HashTable is not initialized.")
        with self.lock:
            keys, values = self.entries.export()
        return [EagerTensor(keys, self.key_dtype), EagerTensor(values, self.value_dtype)]

    def export_shapes(self) -> tuple[Sequence[int], Sequence[int]]:
        """Returns the shapes of one key and of one value as `export` returns them."""
        return self.key_shape, self.value_shape


def _with_defaults(values: Any, missing: np.ndarray, defaults: Any) -> Any:
    """Returns values with defaults in the place of missing ones.

    Args:
        values: a row for each key; None if all are missing.
        missing: for each key whether it is.
        defaults: a row for each key, or one row for all.
    """
    count = len(missing)
    if isinstance(defaults, StringArray) or values is None:
        own = np.arange(count) if len(defaults) == count else np.zeros(count, np.int64)
        if values is None:
            return defaults[own]
        places = np.where(missing, count + own, np.arange(count))
        return StringArray.concatenate([values, defaults])[places]
    where = torch.from_numpy(missing).view(-1, *[1] * (values.ndim - 1))
    return torch.where(where, defaults.cpu(), values)


class MutableStorage(TableStorage):
    """Keys to add and remove."""

    filled = True

    def fill(self, keys: EagerTensor, values: EagerTensor) -> None:
        """Replaces all keys and values."""
        entries = self._no_entries()
        entries.put(*self._pairs(keys, values))
        with self.lock:
            self.entries = entries

    def insert(self, keys: EagerTensor, values: EagerTensor) -> None:
        """Adds keys, or sets new values of existing ones."""
        pair = self._pairs(keys, values)
        with self.lock:
            self.entries.put(*pair)

    def remove(self, keys: EagerTensor) -> None:
        """Removes keys; missing ones are ignored."""
        rows = self.keys(keys)
        with self.lock:
            self.entries.remove(rows)


class DenseStorage(MutableStorage):
    """Keys and values that are exported as the buckets of TensorFlow's table. TensorFlow reads the buckets directly.

    A key goes into the bucket of its hash, or the first free one at distances 1, 3, 6, 10, ... from there.

    Args:
        value_dtype, value_shape: the dtype and shape of one value.
        empty_key, deleted_key: the keys of empty buckets.
        buckets: the number of buckets at first.

    Raises:
        InvalidArgumentError: the two keys are the same, or the number of buckets is no power of 2, or less than 4.
    """

    def __init__(
        self, value_dtype: DType, value_shape: Sequence[int], empty_key: EagerTensor, deleted_key: EagerTensor,
        buckets: int,
    ) -> None:  # fmt: skip
        super().__init__(empty_key.dtype, value_dtype, tuple(empty_key.value.shape), value_shape)
        self.empty_key, self.deleted_key, self.buckets = empty_key, deleted_key, buckets
        self._unused = keys_of(self.key_dtype, self.key_shape)
        for key in (empty_key, deleted_key):
            self._unused.add(key.value)
        if len(self._unused) < 2:
            raise invalid("Empty and deleted keys cannot be equal [Op:MutableDenseHashTableV2] name: ")
        if buckets < 4 or buckets & (buckets - 1):
            raise invalid(
                f"Number of buckets must be at least 4 and a power of 2, got: {buckets} "
                "[Op:MutableDenseHashTableV2] name: "
            )

    def keys(self, tensor: EagerTensor) -> Any:
        """Returns the raw value of keys.

        Raises:
            InvalidArgumentError: a key is reserved for empty buckets.
        """
        keys = super().keys(tensor)
        reserved = self._unused.find(keys)
        if (reserved >= 0).any():
            name = ("empty", "deleted")[reserved.max()]
            raise invalid(f"Using the {name}_key as a table key is not allowed")
        return keys

    def export(self) -> list[EagerTensor]:
        """Returns the keys and the values of all buckets."""
        with self.lock:
            keys, values = self.entries.export()
        count = self.buckets
        while len(keys) > 0.8 * count:
            count *= 2
        numbers = np.full(count, -1, np.int64)  # of the entries in the buckets
        for number, start in enumerate((_hash_keys(keys, self.key_shape) % np.uint64(count)).tolist()):
            bucket, step = start, 0
            while numbers[bucket] >= 0:
                step += 1
                bucket = (bucket + step) % count
            numbers[bucket] = number
        empty = StringArray.full((1, *self.value_shape), b"") if self.value_dtype is string else (
            torch.zeros((1, *self.value_shape), dtype=self.value_dtype.torch)
        )  # fmt: skip
        unused = self.empty_key.value.reshape((1, *self.key_shape))
        return [
            EagerTensor(_rows_or(column, numbers, other).reshape((count, *(shape or (1,)))), dtype)
            for column, other, shape, dtype in (
                (keys, unused, self.key_shape, self.key_dtype), (values, empty, self.value_shape, self.value_dtype)
            )
        ]  # fmt: skip

    def export_shapes(self) -> tuple[Sequence[int], Sequence[int]]:
        """Returns the shapes of one key and of one value as `export` returns them: vectors at least."""
        return self.key_shape or (1,), self.value_shape or (1,)

    def fill(self, keys: EagerTensor, values: EagerTensor) -> None:
        """Replaces all keys and values by the contents of buckets, without the empty ones."""
        used = np.flatnonzero(self._unused.find(keys.value) < 0)
        key_rows = keys.value.reshape((-1, *self.key_shape))
        entries = self._no_entries()
        entries.put(key_rows[used], values.value.reshape((-1, *self.value_shape))[used])
        with self.lock:
            self.entries = entries


def _rows_or(rows: Any, numbers: np.ndarray, other: Any) -> Any:
    """Returns rows by their numbers, and another one for each number that is negative."""
    places = np.where(numbers < 0, len(rows), numbers)
    return (StringArray.concatenate if isinstance(rows, StringArray) else torch.cat)([rows, other])[places]


def _hash_keys(keys: Any, shape: Sequence[int]) -> np.ndarray:
    """Returns the hash of each key as TensorFlow computes it, uint64."""
    flat = murmurs(keys) if isinstance(keys, StringArray) else keys.reshape(-1).to(torch.int64).numpy().view(np.uint64)
    if not shape:
        return flat
    total = np.zeros(len(keys), np.uint64)
    for part in flat.reshape(len(keys), -1).T:
        total ^= part + np.uint64(0x9E3779B97F4A7800) + (total << np.uint64(10)) + (total >> np.uint64(4))
    return total


def storage_of(handle: Tensor) -> TableStorage:
    """Returns the storage of a table, by its handle.

    Raises:
        InvalidArgumentError: it is the handle of something else.
    """
    table = held_object(handle.value if isinstance(handle, EagerTensor) else handle, object, "table")
    return held_object(getattr(table, "storage", table), TableStorage, "table")
