"""Descriptions of the features of `tf.train.Example`s, for `tf.io.parse_example`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

from tapeflow.core.types.dtypes import DType, int32


class FixedLenFeature(NamedTuple):
    """A feature that has the same shape in each example: parsed to a tensor.

    Attributes:
        shape: the shape of the feature in one example.
        dtype: float32, int64 or string.
        default_value: the value for examples that lack the feature; None if it is required.

    Example:
        >>> features = {"x": tf.train.Feature(float_list=tf.train.FloatList(value=[1.0, 2.0]))}
        >>> example = tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString()
        >>> tf.io.parse_single_example(example, {"x": tf.io.FixedLenFeature([2], tf.float32)})["x"].numpy().tolist()
        [1.0, 2.0]
    """

    shape: Any
    dtype: Any
    default_value: Any = None


class FixedLenSequenceFeature(NamedTuple):
    """A sequence of values of the same shape: parsed to a tensor, padded to the longest sequence of the batch.

    Attributes:
        shape: of one value.
        dtype: float32, int64 or string.
        allow_missing: accepts examples that lack the feature; required by `tf.io.parse_example`.
        default_value: the padding; by default 0 or "".

    Example:
        >>> features = {"x": tf.train.Feature(float_list=tf.train.FloatList(value=[1.0, 2.0]))}
        >>> example = tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString()
        >>> spec = {"x": tf.io.FixedLenSequenceFeature([], tf.float32, allow_missing=True)}
        >>> tf.io.parse_example([example], spec)["x"].numpy().tolist()
        [[1.0, 2.0]]
    """

    shape: Any
    dtype: Any
    allow_missing: bool = False
    default_value: Any = None


class VarLenFeature(NamedTuple):
    """A feature of any number of values: parsed to a `tf.SparseTensor`.

    Attributes:
        dtype: float32, int64 or string.

    Example:
        >>> features = {"x": tf.train.Feature(float_list=tf.train.FloatList(value=[1.0, 2.0]))}
        >>> example = tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString()
        >>> tf.io.parse_single_example(example, {"x": tf.io.VarLenFeature(tf.float32)})["x"].values.numpy().tolist()
        [1.0, 2.0]
    """

    dtype: Any


class SparseFeature(NamedTuple):
    """A sparse tensor whose indices and values are separate features: parsed to a `tf.SparseTensor`.

    Attributes:
        index_key: the key of the int64 feature of the indices, or a list of one key for each dimension.
        value_key: the key of the feature of the values.
        dtype: the dtype of the values.
        size: the size of the dimension, or a list of sizes.
        already_sorted: declares that the indices are sorted.

    Example:
        >>> features = {
        ...     "at": tf.train.Feature(int64_list=tf.train.Int64List(value=[3])),
        ...     "x": tf.train.Feature(float_list=tf.train.FloatList(value=[1.5])),
        ... }
        >>> example = tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString()
        >>> sparse = tf.io.parse_single_example(example, {"s": tf.io.SparseFeature("at", "x", tf.float32, 5)})["s"]
        >>> tf.sparse.to_dense(sparse).numpy().tolist()
        [0.0, 0.0, 0.0, 1.5, 0.0]
    """

    index_key: Any
    value_key: str
    dtype: Any
    size: Any
    already_sorted: bool = False


class RowSplits(NamedTuple):
    """A partition by the indices of the first elements of rows, followed by the end of the last row."""

    key: str


class RowLengths(NamedTuple):
    """A partition by the lengths of rows."""

    key: str


class RowStarts(NamedTuple):
    """A partition by the indices of the first elements of rows."""

    key: str


class RowLimits(NamedTuple):
    """A partition by the indices of the ends of rows."""

    key: str


class ValueRowIds(NamedTuple):
    """A partition by the index of the row of each value."""

    key: str


class UniformRowLength(NamedTuple):
    """A partition into rows of the same length."""

    length: int


class _RaggedFields(NamedTuple):
    """The fields of a `RaggedFeature`."""

    dtype: DType
    value_key: str | None
    partitions: tuple[Any, ...]
    row_splits_dtype: DType
    validate: bool


class RaggedFeature(_RaggedFields):
    """A feature of any number of values, which other features may partition into rows: parsed to a `tf.RaggedTensor`.

    Args:
        dtype: float32, int64 or string.
        value_key: the key of the feature of the values; by default the key of this feature.
        partitions: the partitions of the values of one example into rows, the outermost first:
            `RaggedFeature.RowSplits(key)`, `RowLengths(key)`, `RowStarts(key)`, `RowLimits(key)`, `ValueRowIds(key)` or
            `UniformRowLength(length)`.
        row_splits_dtype: the dtype of the row splits, int32 or int64; int32 by default.
        validate: without effect; partitions are always checked.

    Raises:
        TypeError: an entry of `partitions` has another type.

    Example:
        >>> features = {"x": tf.train.Feature(float_list=tf.train.FloatList(value=[1.0, 2.0]))}
        >>> example = tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString()
        >>> tf.io.parse_example([example], {"x": tf.io.RaggedFeature(tf.float32)})["x"]
        <tf.RaggedTensor [[1.0, 2.0]]>
    """

    __slots__ = ()

    RowSplits: ClassVar[type] = RowSplits
    RowLengths: ClassVar[type] = RowLengths
    RowStarts: ClassVar[type] = RowStarts
    RowLimits: ClassVar[type] = RowLimits
    ValueRowIds: ClassVar[type] = ValueRowIds
    UniformRowLength: ClassVar[type] = UniformRowLength

    def __new__(
        cls, dtype: Any, value_key: str | None = None, partitions: Sequence[Any] = (), row_splits_dtype: Any = int32,
        validate: bool = False,
    ) -> RaggedFeature:  # fmt: skip
        kinds = RowSplits, RowLengths, RowStarts, RowLimits, ValueRowIds, UniformRowLength
        for p in partitions:
            if not isinstance(p, kinds):
                raise TypeError(
                    f"`partitions` must be a list of partition objects {[k.__name__ for k in kinds]}, and got {p!r}"
                )
        return super().__new__(cls, dtype, value_key, tuple(partitions), row_splits_dtype, bool(validate))
