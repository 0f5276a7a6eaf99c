"""The storage of tables: Python values in a dict, between the tensors that go in and come out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tapeflow.core.errors import AbortedError, FailedPreconditionError, UnimplementedError
from tapeflow.core.forking import new_lock
from tapeflow.core.types.dtypes import DType, string
from tapeflow.core.values.boxed_objects import held_object
from tapeflow.core.values.tensor import EagerTensor, invalid
from tapeflow.strings.hashing import murmur
from tapeflow.strings.kernels import raw_value


def text_of(value: Any) -> str:
    """Returns bytes as text, for messages."""
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)


def shape_text(shape: Sequence[int]) -> str:
    """Returns a shape as messages print it."""
    return str(list(shape)).replace(" ", "")


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
        self.items: dict[Any, Any] = {}
        self.lock = new_lock()

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

    def _check_dtypes(self, keys: EagerTensor, values: EagerTensor) -> None:
        if keys.dtype is not self.key_dtype or values.dtype is not self.value_dtype:
            raise invalid(
                f"Signature mismatch: got keys of {keys.dtype.name} and values of {values.dtype.name} for a table from "
                f"{self.key_dtype.name} to {self.value_dtype.name}"
            )

    def _pairs(self, keys: EagerTensor, values: EagerTensor) -> Any:
        self._check_dtypes(keys, values)
        rows = self.keys(keys)
        shape = tuple(keys.value.shape)
        expected = shape[: len(shape) - len(self.key_shape)] + self.value_shape
        if tuple(values.value.shape) != expected:
            raise invalid(f"Expected shape {shape_text(expected)} for value, got {shape_text(values.value.shape)}")
        return zip(rows, self.rows(values, self.value_shape), strict=True)

    def fill(self, keys: EagerTensor, values: EagerTensor) -> None:
        """Adds keys. A filled table stays as it is, and TensorFlow compares no more than the number of entries then.

        Raises:
            InvalidArgumentError: there are no keys, or not as many values as keys.
            FailedPreconditionError: a key has two values, or the table is filled with another number of entries.
        """
        items: dict[Any, Any] = {}
        for key, value in self._pairs(keys, values):
            if items.setdefault(key, value) != value:
                raise FailedPreconditionError.of(
                    f"HashTable has different value for same key. Key {text_of(key)} has {text_of(items[key])} and "
                    f"trying to add value {text_of(value)}"
                )
        if not items:
            raise invalid("keys and values cannot be empty tensors.")
        with self.lock:
            if self.filled and len(items) != len(self.items):
                raise FailedPreconditionError.of(
                    f"Table was already initialized with different data: it has {len(self.items)} entries, and would "
                    f"get {len(items)}."
                )
            if not self.filled:
                self.items, self.filled = items, True

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
        """Returns all keys and all values.

        Raises:
            AbortedError: no initializer has filled the table.
        """
        if not self.filled:
            raise AbortedError.of("HashTable is not initialized.")
        with self.lock:
            items = list(self.items.items())
        flat = _flat([k for k, _ in items], self.key_shape)
        keys = EagerTensor(raw_value(flat, self.key_dtype, (len(items), *self.key_shape)), self.key_dtype)
        return [keys, self._values([v for _, v in items], (len(items), *self.value_shape))]

    def export_shapes(self) -> tuple[Sequence[int], Sequence[int]]:
        """Returns the shapes of one key and of one value as `export` returns them."""
        return self.key_shape, self.value_shape

    def _values(self, values: list[Any], shape: Sequence[int]) -> EagerTensor:
        return EagerTensor(raw_value(_flat(values, self.value_shape), self.value_dtype, shape), self.value_dtype)


def _flat(rows: list[Any], row_shape: Sequence[int]) -> list[Any]:
    return [v for row in rows for v in row] if row_shape else rows


class MutableStorage(TableStorage):
    """Keys to add and remove."""

    filled = True

    def fill(self, keys: EagerTensor, values: EagerTensor) -> None:
        """Replaces all keys and values."""
        pairs = self._pairs(keys, values)
        with self.lock:
            self.items = dict(pairs)

    def insert(self, keys: EagerTensor, values: EagerTensor) -> None:
        """Adds keys, or sets new values of existing ones."""
        pairs = self._pairs(keys, values)
        with self.lock:
            self.items.update(pairs)

    def remove(self, keys: EagerTensor) -> None:
        """Removes keys; missing ones are ignored."""
        rows = self.keys(keys)
        with self.lock:
            for key in rows:
                self.items.pop(key, None)


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
        self._unused = {"empty": super().keys(empty_key)[0], "deleted": super().keys(deleted_key)[0]}
        if self._unused["empty"] == self._unused["deleted"]:
            raise invalid("Empty and deleted keys cannot be equal [Op:MutableDenseHashTableV2] name: ")
        if buckets < 4 or buckets & (buckets - 1):
            raise invalid(
                f"Number of buckets must be at least 4 and a power of 2, got: {buckets} "
                "[Op:MutableDenseHashTableV2] name: "
            )

    def keys(self, tensor: EagerTensor) -> list[Any]:
        """Returns keys as Python values.

        Raises:
            InvalidArgumentError: a key is reserved for empty buckets.
        """
        keys = super().keys(tensor)
        for name, key in self._unused.items():
            if key in keys:
                raise invalid(f"Using the {name}_key as a table key is not allowed")
        return keys

    def export(self) -> list[EagerTensor]:
        """Returns the keys and the values of all buckets."""
        count = self.buckets
        while len(self.items) > 0.8 * count:
            count *= 2
        buckets: dict[int, tuple[Any, Any]] = {}
        with self.lock:
            for item in self.items.items():
                bucket, step = _hash(item[0], self.key_dtype) % count, 0
                while bucket in buckets:
                    step += 1
                    bucket = (bucket + step) % count
                buckets[bucket] = item
        keys = self._bucket_tensor(
            count, self.key_dtype, self.key_shape, self._unused["empty"], {b: k for b, (k, _) in buckets.items()}
        )
        fill = b"" if self.value_dtype is string else 0
        empty = (fill,) * int(np.prod(self.value_shape)) if self.value_shape else fill
        values = self._bucket_tensor(
            count, self.value_dtype, self.value_shape, empty, {b: v for b, (_, v) in buckets.items()}
        )
        return [keys, values]

    def export_shapes(self) -> tuple[Sequence[int], Sequence[int]]:
        """Returns the shapes of one key and of one value as `export` returns them: vectors at least."""
        return self.key_shape or (1,), self.value_shape or (1,)

    def _bucket_tensor(self, count: int, dtype: DType, shape: Any, empty: Any, rows: dict[int, Any]) -> EagerTensor:
        width = shape or (1,)
        row = raw_value([*empty] if shape else [empty], dtype, (1, *width))
        value = row.repeat(count, 0) if dtype is string else row.repeat(count, *[1] * len(width))
        for bucket, entry in rows.items():
            value[bucket] = raw_value([*entry] if shape else [entry], dtype, width)
        return EagerTensor(value, dtype)

    def fill(self, keys: EagerTensor, values: EagerTensor) -> None:
        """Replaces all keys and values by the contents of buckets, without the empty ones."""
        unused = set(self._unused.values())
        pairs = zip(self.rows(keys, self.key_shape), self.rows(values, self.value_shape), strict=True)
        with self.lock:
            self.items = {k: v for k, v in pairs if k not in unused}


def _hash(key: Any, dtype: DType) -> int:
    if isinstance(key, tuple):
        total = 0
        for part in key:
            total ^= (_hash(part, dtype) + 0x9E3779B97F4A7800 + (total << 10) + (total >> 4)) % 2**64
        return total
    return murmur(key) if dtype is string else key % 2**64


def storage_of(handle: Any) -> TableStorage:
    """Returns the storage of a table, by its handle.

    Raises:
        InvalidArgumentError: it is the handle of something else.
    """
    raw = handle.value if isinstance(handle, EagerTensor) else handle
    table = held_object(raw, object, "table")
    return held_object(getattr(table, "storage", table), TableStorage, "table")
