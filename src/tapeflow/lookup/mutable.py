"""Tables that change: public in `tf.lookup.experimental`."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow.core.fork_locks import cached_property
from tapeflow.core.ops.convert import convert
from tapeflow.core.types.aliases import DTypeLike, TensorLike
from tapeflow.core.types.dtypes import DType, string
from tapeflow.core.types.spec import TensorSpec
from tapeflow.core.values.tensor import next_id
from tapeflow.function.function import Function, Options
from tapeflow.graph.ir.operation import Operation
from tapeflow.lookup.storage import DenseStorage, MutableStorage, TableStorage
from tapeflow.lookup.table_ops import empty_like, fill
from tapeflow.lookup.tables import LookupTable
from tapeflow.math.arithmetic import add
from tapeflow.tracking.resources import SaveSpec, saved_functions


class TableSaveable:
    """The entries of a table of a graph, for savers of TensorFlow 1.

    Args:
        table: the table.
        name: its name in checkpoints.

    Attributes:
        op: the table's handle.
        name: its name in checkpoints.
        specs: the specs of the keys and of the values.
    """

    def __init__(self, table: MutableHashTable, name: str) -> None:
        self.op, self.name = table.resource_handle, name
        with self.op.graph.as_default():
            keys, values = table.export()
        self.specs = [SaveSpec(t, "", f"{name}-{part}", t.dtype) for t, part in ((keys, "keys"), (values, "values"))]

    @property
    def device(self) -> str:
        """The device of the table."""
        return self.op.device

    def restore(self, restored_tensors: Any, restored_shapes: Any) -> Operation:
        """Returns the operation that replaces the entries.

        Args:
            restored_tensors: a list of the keys and the values.
            restored_shapes: not used.
        """
        return fill(self.op, *restored_tensors)


class MutableHashTable(LookupTable):
    """A table with keys to add and remove, which checkpoints save.

    Args:
        key_dtype, value_dtype: the dtypes of keys and values.
        default_value: the value of missing keys. All values have its shape.
        name: the name of the table in a graph of TensorFlow 1.
        checkpoint: True to save the entries in checkpoints of such a graph.
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
        super().__init__(key_dtype, value_dtype, default_value, "MutableHashTableV2", MutableStorage, name)
        self._add_saveable(checkpoint)

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
        if isinstance(keys, (np.ndarray, np.generic)):
            keys = convert(keys)
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

    def _add_saveable(self, checkpoint: bool) -> None:
        """Has the savers of the table's graph, if it has one, save the entries."""
        if self.name is not None and checkpoint:
            self.resource_handle.graph.add_to_collection("saveable_objects", TableSaveable(self, self.name))

    def _serialize_to_tensors(self) -> dict[str, Any]:
        keys, values = self.storage.export()
        return {"table-keys": keys, "table-values": values}

    def _restore_from_tensors(self, restored_tensors: dict[str, Any]) -> None:
        self.storage.fill(restored_tensors["table-keys"], restored_tensors["table-values"])

    @cached_property
    def _saved_functions(self) -> dict[str, Any]:
        """The functions in a SavedModel that create the table, and save and restore its entries."""

        def save_fn(checkpoint_key: Any) -> Any:
            names = [add(checkpoint_key, "-keys"), add(checkpoint_key, "-values")]
            return [
                {"name": name, "slice_spec": convert(""), "tensor": tensor}
                for name, tensor in zip(names, self.export(), strict=True)
            ]

        def restore_fn(keys: Any, values: Any) -> Any:
            fill(self._handle, keys, values)
            return convert(1)

        functions = saved_functions(lambda: empty_like(self.storage, f"table_{next_id()}").outputs[0], lambda: None)
        entries = [TensorSpec(None, self.key_dtype, "keys"), TensorSpec(None, self.value_dtype, "values")]
        save = Function(save_fn, Options([TensorSpec([], string, "checkpoint_key")], autograph=False))
        restore = Function(restore_fn, Options(entries, autograph=False))
        return functions | {
            "_save_table": save.get_concrete_function(), "_restore_table": restore.get_concrete_function()
        }  # fmt: skip

    def _state_functions(self) -> dict[str, tuple[str, str]]:
        """Returns the names of the functions that save and restore each part of the state, see `StatefulObject`."""
        return {"table": ("_save_table", "_restore_table")}


class DenseHashTable(MutableHashTable):
    """A table with keys to add and remove. Two keys are reserved for empty buckets.

    Args:
        key_dtype, value_dtype: the dtypes of keys and values.
        default_value: the value of missing keys. All values have its shape.
        empty_key, deleted_key: the keys of empty buckets. No entry may have them. All keys have their shape.
        initial_num_buckets: an int, the number of buckets at first: a power of 2, at least 4.
        name: the name of the table in a graph of TensorFlow 1.
        checkpoint: True to save the entries in checkpoints of such a graph.
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
        buckets = 131072 if initial_num_buckets is None else int(initial_num_buckets)

        def storage(key_dtype: DType, value_dtype: DType, _: Any, value_shape: Any) -> TableStorage:
            empty, deleted = convert(empty_key, key_dtype), convert(deleted_key, key_dtype)
            return DenseStorage(value_dtype, value_shape, empty, deleted, buckets)

        LookupTable.__init__(self, key_dtype, value_dtype, default_value, "MutableDenseHashTableV2", storage, name)
        self._add_saveable(checkpoint)

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
