"""Tables that change: public in `tf.lookup.experimental`."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow.core.ops.convert import convert
from tapeflow.core.types.aliases import DTypeLike, TensorLike
from tapeflow.core.types.dtypes import DType, as_dtype, string
from tapeflow.core.values.tensor import EagerTensor, invalid
from tapeflow.lookup.storage import TableStorage, bare
from tapeflow.lookup.tables import LookupTable
from tapeflow.strings.hashing import murmur


class MutableHashTable(LookupTable):
    """A table with keys to add and remove, which checkpoints save.

    Args:
        key_dtype, value_dtype: the dtypes of keys and values.
        default_value: the value of missing keys. All values have its shape.
        checkpoint: False for a table that checkpoints do not save.
        experimental_is_anonymous: ignored.

    Raises:
        NotFoundError: there are no tables of such dtypes.
        TypeError: `default_value` is of another dtype.

    Example:
        >>> table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, default_value=-1)
        >>> table.insert(["a", "b"], [1, 2])
        >>> table.remove(tf.constant(["a"]))
        >>> table.lookup(["a", "b"]).numpy().tolist(), table.size().numpy().item()
        ([-1, 2], 1)
    """

    def __init__(
        self,
        key_dtype: DTypeLike,
        value_dtype: DTypeLike,
        default_value: TensorLike,
        name: str = "MutableHashTable",
        checkpoint: bool = True,
        experimental_is_anonymous: bool = False,
    ) -> None:
        super().__init__(key_dtype, value_dtype, default_value, (), "MutableHashTableV2")
        self._checkpoint = checkpoint

    def lookup(
        self, keys: TensorLike, dynamic_default_values: TensorLike | None = None, name: str | None = None
    ) -> Any:
        """Returns the values of keys.

        Args:
            keys: a tensor of keys of any shape; or a ragged or sparse one.
            dynamic_default_values: a value for each key, in the place of the table's default.

        Returns:
            The kind of tensor that `keys` is, with values in the place of keys.

        Raises:
            TypeError: the keys are of another dtype.
            InvalidArgumentError: there are not as many default values as keys.
        """
        if dynamic_default_values is None:
            return self._values_of(keys)
        return self._find(self._keys(keys), convert(dynamic_default_values, self.value_dtype))

    def _keys(self, keys: Any) -> Any:
        """Converts keys to a tensor.

        Raises:
            TypeError: they are of another dtype.
        """
        if getattr(keys, "dtype", self.key_dtype) is not self.key_dtype:
            raise TypeError(f"Dtype of argument `keys` must be {self.key_dtype!s}, received: {keys.dtype!s}")
        return convert(keys, self.key_dtype)

    def insert(self, keys: TensorLike, values: TensorLike, name: str | None = None) -> Any:
        """Adds keys, or sets new values of existing ones.

        Args:
            keys: a tensor of any shape.
            values: a tensor of values, one for each key.

        Returns:
            The operation, in a graph; eagerly None.

        Raises:
            TypeError, ValueError: they are of other dtypes.
            InvalidArgumentError: there are not as many values as keys.
        """
        tensors = [convert(keys, self.key_dtype), convert(values, self.value_dtype)]
        return self._run("LookupTableInsertV2", lambda table, k, v: table.insert(k, v), tensors, [])

    def remove(self, keys: TensorLike, name: str | None = None) -> Any:
        """Removes keys; missing ones are ignored.

        Args:
            keys: a tensor of any shape.

        Returns:
            The operation, in a graph; eagerly None.

        Raises:
            TypeError: they are of another dtype.
        """
        return self._run("LookupTableRemoveV2", lambda table, k: table.remove(k), [self._keys(keys)], [])

    # ---- checkpoints -------------------------------------------------------------------------------------------------

    _saveable_name = "table"

    def _serialize_to_tensors(self) -> dict[str, Any]:
        if not self._checkpoint:
            return {}
        keys, values = self.storage.export()
        return {"table-keys": keys, "table-values": values}

    def _restore_from_tensors(self, restored_tensors: dict[str, Any]) -> None:
        if self._checkpoint:
            self.storage.replace(restored_tensors["table-keys"], restored_tensors["table-values"])


class DenseHashTable(MutableHashTable):
    """A table with keys to add and remove. Two keys are reserved for empty buckets.

    Args:
        key_dtype, value_dtype: the dtypes of keys and values.
        default_value: the value of missing keys. All values have its shape.
        empty_key, deleted_key: the keys of empty buckets. No entry may have them. All keys have their shape.
        initial_num_buckets: an int, the number of buckets at first: a power of 2, at least 4.
        checkpoint: False for a table that checkpoints do not save.
        experimental_is_anonymous: ignored.

    Raises:
        NotFoundError: there are no tables of such dtypes.
        InvalidArgumentError: the two keys are the same, or the number of buckets is another.

    Example:
        >>> table = tf.lookup.experimental.DenseHashTable(tf.int64, tf.int64, -1, empty_key=-1, deleted_key=-2)
        >>> table.insert([3, 4], [30, 40])
        >>> table.lookup([4, 5]).numpy().tolist()
        [40, -1]
    """

    def __init__(
        self,
        key_dtype: DTypeLike,
        value_dtype: DTypeLike,
        default_value: TensorLike,
        empty_key: TensorLike,
        deleted_key: TensorLike,
        initial_num_buckets: int | None = None,
        name: str = "MutableDenseHashTable",
        checkpoint: bool = True,
        experimental_is_anonymous: bool = False,
    ) -> None:
        empty, deleted = convert(empty_key, as_dtype(key_dtype)), convert(deleted_key, as_dtype(key_dtype))
        LookupTable.__init__(
            self, key_dtype, value_dtype, default_value, empty.shape.as_list(), "MutableDenseHashTableV2"
        )
        self._checkpoint = checkpoint
        buckets = 131072 if initial_num_buckets is None else int(initial_num_buckets)
        if buckets < 4 or buckets & (buckets - 1):
            raise invalid(
                f"Number of buckets must be at least 4 and a power of 2, got: {buckets} "
                "[Op:MutableDenseHashTableV2] name: "
            )
        self.storage: TableStorage = _DenseStorage(self.storage, empty, deleted, buckets)

    def insert_or_assign(self, keys: TensorLike, values: TensorLike, name: str | None = None) -> Any:
        """Adds keys, or sets new values of existing ones, see `insert`.

        Args:
            keys: a tensor of any shape.
            values: a tensor of values, one for each key.
        """
        return self.insert(keys, values, name)

    def erase(self, keys: TensorLike, name: str | None = None) -> Any:
        """Removes keys, see `remove`.

        Args:
            keys: a tensor of any shape.
        """
        return self.remove(keys, name)


class _DenseStorage(TableStorage):
    """Keys and values that are exported as the buckets of TensorFlow's table. TensorFlow reads the buckets directly.

    A key goes into the bucket of its hash, or the first free one at distances 1, 3, 6, 10, ... from there.
    """

    def __init__(self, like: TableStorage, empty: EagerTensor, deleted: EagerTensor, buckets: int) -> None:
        super().__init__(like.key_dtype, like.value_dtype, like.key_shape, like.value_shape)
        self._unused = {"empty": super().keys(empty)[0], "deleted": super().keys(deleted)[0]}
        if self._unused["empty"] == self._unused["deleted"]:
            raise invalid("Empty and deleted keys cannot be equal [Op:MutableDenseHashTableV2] name: ")
        self._buckets = buckets

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
        count = self._buckets
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

    def _bucket_tensor(self, count: int, dtype: DType, shape: Any, empty: Any, rows: dict[int, Any]) -> EagerTensor:
        width = shape or (1,)
        row = bare([*empty] if shape else [empty], dtype, (1, *width))
        value = row.repeat(count, 0) if dtype is string else row.repeat(count, *[1] * len(width))
        for bucket, entry in rows.items():
            value[bucket] = bare([*entry] if shape else [entry], dtype, width)
        return EagerTensor(value, dtype)

    def replace(self, keys: EagerTensor, values: EagerTensor) -> None:
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
