"""Tables that change: public in `tf.lookup.experimental`."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow.core.ops.convert import convert
from tapeflow.core.types.dtypes import DType, as_dtype, string
from tapeflow.core.values.tensor import EagerTensor, invalid
from tapeflow.lookup.storage import Storage, bare
from tapeflow.lookup.tables import LookupTable
from tapeflow.strings.hashing import murmur


class MutableHashTable(LookupTable):
    """A table that can be added to and taken from; checkpoints save what is in it.

    Args:
        key_dtype, value_dtype: of both.
        default_value: the value of keys that are not there; its shape is that of all values.
        checkpoint: whether checkpoints save it.
        experimental_is_anonymous: taken as TensorFlow does.

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
        key_dtype: Any,
        value_dtype: Any,
        default_value: Any,
        name: str = "MutableHashTable",
        checkpoint: bool = True,
        experimental_is_anonymous: bool = False,
    ) -> None:
        super().__init__(key_dtype, value_dtype, default_value, (), "MutableHashTableV2")
        self._checkpoint = checkpoint

    def lookup(self, keys: Any, dynamic_default_values: Any = None, name: str | None = None) -> Any:
        """The values of keys.

        Args:
            keys: a tensor of keys of any shape; or a ragged or sparse one.
            dynamic_default_values: a value for each key, in place of the table's default.

        Raises:
            TypeError: the keys are of another dtype.
            InvalidArgumentError: there are not as many default values as keys.
        """
        if dynamic_default_values is None:
            return self._values_of(keys)
        return self._found(self._keys(keys), convert(dynamic_default_values, self.value_dtype))

    def _keys(self, keys: Any) -> Any:
        """Keys as a tensor.

        Raises:
            TypeError: they are of another dtype.
        """
        if getattr(keys, "dtype", self.key_dtype) is not self.key_dtype:
            raise TypeError(f"Dtype of argument `keys` must be {self.key_dtype!s}, received: {keys.dtype!s}")
        return convert(keys, self.key_dtype)

    def insert(self, keys: Any, values: Any, name: str | None = None) -> Any:
        """Adds keys, or gives them new values.

        Args:
            keys: a tensor of any shape.
            values: a tensor of values, one for each key.

        Raises:
            TypeError, ValueError: they are of other dtypes.
            InvalidArgumentError: there are not as many values as keys.
        """
        tensors = [convert(keys, self.key_dtype), convert(values, self.value_dtype)]
        return self._run("LookupTableInsertV2", lambda table, k, v: table.insert(k, v), tensors, [])

    def remove(self, keys: Any, name: str | None = None) -> Any:
        """Takes keys out; those that are not there don't matter.

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
    """A table that can be added to and taken from, for keys of which two are never used.

    Args:
        key_dtype, value_dtype: of both.
        default_value: the value of keys that are not there; its shape is that of all values.
        empty_key, deleted_key: keys that stand for what is not there; their shape is that of all keys.
        initial_num_buckets: how many places there are at first: a power of 2, at least 4.
        checkpoint: whether checkpoints save it.
        experimental_is_anonymous: taken as TensorFlow does.

    Raises:
        NotFoundError: there are no tables of such dtypes.
        InvalidArgumentError: the two keys are the same, or there is no such number of buckets.

    Example:
        >>> table = tf.lookup.experimental.DenseHashTable(tf.int64, tf.int64, -1, empty_key=-1, deleted_key=-2)
        >>> table.insert([3, 4], [30, 40])
        >>> table.lookup([4, 5]).numpy().tolist()
        [40, -1]
    """

    def __init__(
        self,
        key_dtype: Any,
        value_dtype: Any,
        default_value: Any,
        empty_key: Any,
        deleted_key: Any,
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
        self.storage: Storage = _DenseStorage(self.storage, empty, deleted, buckets)

    def insert_or_assign(self, keys: Any, values: Any, name: str | None = None) -> Any:
        """Another name of `insert`."""
        return self.insert(keys, values, name)

    def erase(self, keys: Any, name: str | None = None) -> Any:
        """Another name of `remove`."""
        return self.remove(keys, name)


class _DenseStorage(Storage):
    """Keys and values that are exported as the buckets of TensorFlow's table, which takes them as they are.

    A key goes into the bucket of its hash, or the first free one at distances 1, 3, 6, 10, ... from there.
    """

    def __init__(self, like: Storage, empty: EagerTensor, deleted: EagerTensor, buckets: int) -> None:
        super().__init__(like.key_dtype, like.value_dtype, like.key_shape, like.value_shape)
        self._unused = {"empty": super().keys(empty)[0], "deleted": super().keys(deleted)[0]}
        if self._unused["empty"] == self._unused["deleted"]:
            raise invalid("Empty and deleted keys cannot be equal [Op:MutableDenseHashTableV2] name: ")
        self._buckets = buckets

    def keys(self, tensor: EagerTensor) -> list[Any]:
        found = super().keys(tensor)
        for name, key in self._unused.items():
            if key in found:
                raise invalid(f"Using the {name}_key as a table key is not allowed")
        return found

    def export(self) -> list[EagerTensor]:
        count = self._buckets
        while len(self.items) > 0.8 * count:
            count *= 2
        places: dict[int, tuple[Any, Any]] = {}
        with self.lock:
            for item in self.items.items():
                place, step = _hash(item[0], self.key_dtype) % count, 0
                while place in places:
                    step += 1
                    place = (place + step) % count
                places[place] = item
        keys = self._filled(
            count, self.key_dtype, self.key_shape, self._unused["empty"], {p: k for p, (k, _) in places.items()}
        )
        fill = b"" if self.value_dtype is string else 0
        nothing = (fill,) * int(np.prod(self.value_shape)) if self.value_shape else fill
        values = self._filled(
            count, self.value_dtype, self.value_shape, nothing, {p: v for p, (_, v) in places.items()}
        )
        return [keys, values]

    def _filled(self, count: int, dtype: DType, shape: Any, nothing: Any, rows: dict[int, Any]) -> EagerTensor:
        width = shape or (1,)
        row = bare([*nothing] if shape else [nothing], dtype, (1, *width))
        value = row.repeat(count, 0) if dtype is string else row.repeat(count, *[1] * len(width))
        for place, found in rows.items():
            value[place] = bare([*found] if shape else [found], dtype, width)
        return EagerTensor(value, dtype)

    def replace(self, keys: EagerTensor, values: EagerTensor) -> None:
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
