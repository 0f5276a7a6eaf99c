"""`tf.lookup.StaticHashTable` and `tf.lookup.StaticVocabularyTable`, and the base of all tables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapeflow.array.masks import where
from tapeflow.core.context import state
from tapeflow.core.errors import NotFoundError
from tapeflow.core.fork_locks import cached_property
from tapeflow.core.ops.convert import convert
from tapeflow.core.scopes import init_scope
from tapeflow.core.types.aliases import DTypeLike, TensorLike
from tapeflow.core.types.dtypes import DType, as_dtype, bool_, float32, float64, int32, int64, resource, string
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.boxed_objects import hold_object
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.tensor import Tensor, next_id
from tapeflow.graph.ir.python_op import python_op
from tapeflow.lookup.initializers import TableInitializer
from tapeflow.lookup.storage import TableStorage, storage_of
from tapeflow.lookup.table_ops import empty_like, fill
from tapeflow.math.casting import cast
from tapeflow.ragged.tensor import RaggedTensor
from tapeflow.sparse.tensor import SparseTensor
from tapeflow.strings.formatting import as_string
from tapeflow.strings.hash_buckets import to_hash_bucket_fast
from tapeflow.tracking.resources import SavedResource, TrackableResource, saved_functions

_KEYS = (int32, int64, string)
_VALUES = (bool_, int32, int64, float32, float64, string)


class LookupTable(SavedResource):
    """A table from keys of one dtype to values of another.

    Args:
        key_dtype, value_dtype: the dtypes of keys and values.
        default_value: the value of missing keys.
        op: the name of the op that creates it, for messages.
        storage: the class of its storage, or another function of dtypes and shapes that returns one.
        name: the name of that operation in a graph.

    Raises:
        NotFoundError: there are no tables of such dtypes.
        TypeError: `default_value` is of another dtype.
    """

    def __init__(
        self,
        key_dtype: Any,
        value_dtype: Any,
        default_value: Any,
        op: str,
        storage: Callable[..., TableStorage] = TableStorage,
        name: str | None = None,
    ) -> None:
        super().__init__()
        key_dtype, value_dtype = as_dtype(key_dtype), as_dtype(value_dtype)
        if key_dtype not in _KEYS or value_dtype not in _VALUES:
            raise NotFoundError.of(
                f"Could not find device for a table from {key_dtype.name} to {value_dtype.name}: keys are "
                f"{', '.join(d.name for d in _KEYS)}, and values {', '.join(d.name for d in _VALUES)}. [Op:{op}]"
            )
        self._default = convert(default_value, value_dtype)
        self.storage = storage(key_dtype, value_dtype, (), self._default.shape.as_list())
        with init_scope():
            if state.graph is None:
                self._handle: Tensor = hold_object(self, resource)
            else:  # each session of TensorFlow 1 has its own table, which the operation creates
                self._handle = empty_like(self.storage, name=name).outputs[0]

    @property
    def key_dtype(self) -> DType:
        """The dtype of the keys."""
        return self.storage.key_dtype

    @property
    def value_dtype(self) -> DType:
        """The dtype of the values."""
        return self.storage.value_dtype

    @property
    def name(self) -> str | None:
        """The name, in a graph; None in eager mode, as in TensorFlow."""
        return self._handle.op.name if isinstance(self._handle, SymbolicTensor) else None

    @property
    def resource_handle(self) -> Tensor:
        """A scalar tensor that stands for the table."""
        return self._handle

    def check_dtypes(self, key_dtype: DType, value_dtype: DType) -> None:
        """Checks the dtypes of keys and values.

        Args:
            key_dtype, value_dtype: the dtypes of an initializer.

        Raises:
            TypeError: a dtype differs from the dtype of the table.
        """
        if key_dtype is not self.key_dtype:
            raise TypeError(f"Invalid key dtype for table, expected {self.key_dtype!s} but got {key_dtype!s}.")
        if value_dtype is not self.value_dtype:
            raise TypeError(f"Invalid value dtype for table, expected {self.value_dtype!s} but got {value_dtype!s}.")

    def _values_of(self, keys: Any) -> Any:
        return map_keys(keys, self.key_dtype, lambda k: self._find(k, self._default))

    def __getitem__(self, keys: TensorLike) -> Any:
        return self._values_of(keys)

    def _find(self, keys: Any, default: Any) -> Any:
        rank = len(self.storage.key_shape)
        shape = keys.shape if not rank else TensorShape(None) if keys.shape.rank is None else keys.shape[:-rank]
        specs = [(self.value_dtype, shape.concatenate(self.storage.value_shape))]
        return self._run("LookupTableFindV2", lambda table, k, d: [table.find(k, d)], [keys, default], specs)[0]

    def size(self, name: str | None = None) -> Tensor:
        """Returns the number of keys, an int64 scalar."""
        return self._run("LookupTableSizeV2", lambda table: [convert(len(table), int64)], [], [(int64, [])])[0]

    def export(self, name: str | None = None) -> tuple[Tensor, Tensor]:
        """Returns all keys and all values, in no order."""
        keys, values = self.storage.export_shapes()
        specs = [(self.key_dtype, [None, *keys]), (self.value_dtype, [None, *values])]
        attrs = {"Tkeys": self.key_dtype, "Tvalues": self.value_dtype}
        return tuple(self._run("LookupTableExportV2", lambda table: table.export(), [], specs, attrs))

    def _run(
        self, op: str, function: Callable[..., Any], tensors: list[Any], specs: list[Any], attrs: Any = None
    ) -> Any:
        """Applies a function to the storage, at once or when the graph runs."""
        inputs = [self._handle, *tensors]
        if state.graph is None and not any(isinstance(t, SymbolicTensor) for t in inputs):
            return function(self.storage, *tensors)
        operation = python_op(op, lambda h, *values: function(storage_of(h), *values), inputs, specs, attrs=attrs)
        return operation.outputs if specs else operation


def map_keys(keys: Any, dtype: DType, function: Callable[[Any], Any]) -> Any:
    """Applies a function to keys, or to the values of sparse and ragged ones.

    Args:
        keys: a tensor, or a ragged or sparse one.
        dtype: of the keys.
        function: takes a tensor of keys, and returns a tensor of the same shape.

    Returns:
        The kind of tensor that `keys` is.

    Raises:
        TypeError: the keys are of another dtype.
    """
    if not hasattr(keys, "dtype") or isinstance(keys, (np.ndarray, np.generic)):
        keys = convert(keys, dtype)
    if keys.dtype is not dtype:
        raise TypeError(f"Dtype of argument `keys` must be {dtype!s}, received: {keys.dtype!s}")
    if isinstance(keys, SparseTensor):
        return SparseTensor(keys.indices, function(keys.values), keys.dense_shape)
    if isinstance(keys, RaggedTensor):
        return keys.with_flat_values(function(keys.flat_values))
    return function(keys if isinstance(keys, Tensor) else convert(keys))


class StaticHashTable(LookupTable):
    """A table that is filled once.

    Args:
        initializer: an object that fills the table, such as `tf.lookup.KeyValueTensorInitializer`.
        default_value: the value of missing keys.
        experimental_is_anonymous: ignored.

    Raises:
        NotFoundError: there are no tables of such dtypes.
        FailedPreconditionError: a key has two values.
        TypeError, ValueError: `default_value` is of another dtype, or no scalar.

    Example:
        >>> table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2]), default_value=0)
        >>> table.lookup(tf.constant(["b", "z"])).numpy().tolist()
        [2, 0]
        >>> table[tf.ragged.constant([["a"], ["b", "a"]])]
        <tf.RaggedTensor [[1], [2, 1]]>
    """

    def __init__(
        self, initializer: TableInitializer, default_value: TensorLike, name: str | None = None,
        experimental_is_anonymous: bool = False,
    ) -> None:  # fmt: skip
        dtypes = initializer.key_dtype, initializer.value_dtype
        super().__init__(*dtypes, default_value, "HashTableV2", name=name or "hash_table")
        if self._default.shape.rank != 0:
            raise ValueError(f"Shapes {self._default.shape} and () are not compatible")
        self._initializer = self._track_trackable(initializer, "_initializer")
        self._init_op = initializer.initialize(self)
        if self._init_op is not None:  # filled when a session runs it, or `tf.compat.v1.tables_initializer`
            self._init_op.graph.add_to_collection("table_initializer", self._init_op)

    @cached_property
    def _saved_functions(self) -> dict[str, Any]:
        """The functions that create and fill the table when a SavedModel is loaded."""
        return saved_functions(
            lambda: empty_like(self.storage, f"table_{next_id()}").outputs[0],
            lambda: fill(self._handle, *self.storage.export()) if self.storage.filled else None,
        )

    def lookup(self, keys: TensorLike, name: str | None = None) -> Any:
        """Returns the values of keys.

        Args:
            keys: a tensor of keys of any shape; or a ragged or sparse one.

        Returns:
            The kind of tensor that `keys` is, with values in the place of keys.

        Raises:
            TypeError: the keys are of another dtype.
        """
        return self._values_of(keys)

    @property
    def default_value(self) -> Tensor:
        """The value of missing keys."""
        return self._default


class StaticVocabularyTable(TrackableResource):
    """A table of words, with buckets for missing ones, by their hash.

    Args:
        initializer: fills the table with the numbers from 0 on, int64; None for buckets alone.
        num_oov_buckets: an int, the number of buckets.
        lookup_key_dtype: the dtype of the keys that are looked up; by default the key dtype of the initializer.
        experimental_is_anonymous: ignored.

    Raises:
        ValueError: there is no bucket.
        TypeError: values are not int64, or keys can't be looked up as others.

    Example:
        >>> init = tf.lookup.KeyValueTensorInitializer(["a", "b"], tf.constant([0, 1], tf.int64))
        >>> table = tf.lookup.StaticVocabularyTable(init, num_oov_buckets=3)
        >>> table.lookup(tf.constant(["a", "b", "emerson"])).numpy().tolist()
        [0, 1, 3]
    """

    def __init__(
        self,
        initializer: TableInitializer | None,
        num_oov_buckets: int,
        lookup_key_dtype: DTypeLike = None,
        name: str | None = None,
        experimental_is_anonymous: bool = False,
    ) -> None:
        super().__init__()
        if num_oov_buckets <= 0:
            raise ValueError("`num_oov_buckets` must be > 0; use StaticHashTable.")
        key_dtype = None if lookup_key_dtype is None else as_dtype(lookup_key_dtype)
        if initializer is None:
            self._table = None
            self._key_dtype = key_dtype or string
        else:
            if initializer.value_dtype is not int64:
                raise TypeError(f"Invalid `value_dtype`, expected {int64!s} but got {initializer.value_dtype!s}.")
            self._key_dtype = key_dtype or initializer.key_dtype
            if self._key_dtype.is_integer != initializer.key_dtype.is_integer:
                kind = "integer" if self._key_dtype.is_integer else repr(self._key_dtype)
                raise TypeError(f"Invalid `key_dtype`, expected {kind} but got {initializer.key_dtype!s}.")
            self._table = self._track_trackable(StaticHashTable(initializer, -1), "_table")
        self._num_oov_buckets = num_oov_buckets

    @property
    def key_dtype(self) -> DType:
        """The dtype of the keys."""
        return self._key_dtype

    @property
    def value_dtype(self) -> DType:
        """int64."""
        return int64

    @property
    def name(self) -> str | None:
        """The name, in a graph; None in eager mode, as in TensorFlow."""
        return None

    @property
    def resource_handle(self) -> Tensor | None:
        """A scalar tensor that stands for the table of words; None if there are buckets alone."""
        return None if self._table is None else self._table.resource_handle

    def size(self, name: str | None = None) -> Tensor:
        """Returns the number of words and buckets, an int64 scalar."""
        buckets = convert(self._num_oov_buckets, int64)
        return buckets if self._table is None else self._table.size() + buckets

    def lookup(self, keys: TensorLike, name: str | None = None) -> Any:
        """Returns the numbers of words, or of their buckets.

        Args:
            keys: a tensor of any shape; or a ragged or sparse one.

        Returns:
            The kind of tensor that `keys` is, with int64 values.

        Raises:
            TypeError: the keys are of another dtype.
        """
        return map_keys(keys, self._key_dtype, self._find)

    def __getitem__(self, keys: TensorLike) -> Any:
        return self.lookup(keys)

    def _bucket(self, words: Any) -> Any:
        return to_hash_bucket_fast(words, self._num_oov_buckets)

    def _find(self, keys: Any) -> Any:
        buckets = self._bucket(as_string(keys) if self._key_dtype.is_integer else keys)
        if self._table is None:
            return buckets
        numbers = self._table.lookup(cast(keys, self._table.key_dtype) if self._key_dtype.is_integer else keys)
        return where(numbers >= 0, numbers, buckets + self._table.size())
