"""What `tf.train.Example`s hold, as `tf.io.parse_example` is told: the features of `tf.io`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

from tapeflow.core.types.dtypes import DType, int32


class FixedLenFeature(NamedTuple):
    """A feature that has the same shape in each example: parsed to a tensor.

    Attributes:
        shape: of the feature in one example.
        dtype: float32, int64 or string.
        default_value: taken where an example lacks the feature; None where it must not.

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
    """A feature that is a sequence of parts of the same shape: parsed to a tensor, padded to the longest of the batch.

    Attributes:
        shape: of one part.
        dtype: float32, int64 or string.
        allow_missing: whether an example may lack it; needed by `tf.io.parse_example`.
        default_value: what pads.

    Example:
        >>> features = {"x": tf.train.Feature(float_list=tf.train.FloatList(value=[1.0, 2.0]))}
        >>> example = tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString()
        >>> wanted = {"x": tf.io.FixedLenSequenceFeature([], tf.float32, allow_missing=True)}
        >>> tf.io.parse_example([example], wanted)["x"].numpy().tolist()
        [[1.0, 2.0]]
    """

    shape: Any
    dtype: Any
    allow_missing: bool = False
    default_value: Any = None


class VarLenFeature(NamedTuple):
    """A feature of as many values as there are: parsed to a `tf.SparseTensor`.

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
    """Indices and values of a sparse tensor, which stand in features of their own: parsed to a `tf.SparseTensor`.

    Attributes:
        index_key: the feature of the indices, int64, or a list of one for each dimension.
        value_key: the feature of the values.
        dtype: of the values.
        size: of the dimension, or a list of sizes.
        already_sorted: whether the indices are in order.

    Example:
        >>> features = {
        ...     "at": tf.train.Feature(int64_list=tf.train.Int64List(value=[3])),
        ...     "x": tf.train.Feature(float_list=tf.train.FloatList(value=[1.5])),
        ... }
        >>> example = tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString()
        >>> found = tf.io.parse_single_example(example, {"s": tf.io.SparseFeature("at", "x", tf.float32, 5)})["s"]
        >>> tf.sparse.to_dense(found).numpy().tolist()
        [0.0, 0.0, 0.0, 1.5, 0.0]
    """

    index_key: Any
    value_key: str
    dtype: Any
    size: Any
    already_sorted: bool = False


class RowSplits(NamedTuple):
    """Where rows begin and the last one ends."""

    key: str


class RowLengths(NamedTuple):
    """How long rows are."""

    key: str


class RowStarts(NamedTuple):
    """Where rows begin."""

    key: str


class RowLimits(NamedTuple):
    """Where rows end."""

    key: str


class ValueRowIds(NamedTuple):
    """To which row each value belongs."""

    key: str


class UniformRowLength(NamedTuple):
    """How long all rows are."""

    length: int


class _RaggedFields(NamedTuple):
    dtype: DType
    value_key: str | None
    partitions: tuple[Any, ...]
    row_splits_dtype: DType
    validate: bool


class RaggedFeature(_RaggedFields):
    """A feature of as many values as there are, which other features may part into rows: parsed to a `tf.RaggedTensor`.

    Args:
        dtype: float32, int64 or string.
        value_key: the feature of the values; by default the one it is given for.
        partitions: what parts the values of one example into rows, the outermost first: `RaggedFeature.RowSplits(key)`,
            `RowLengths(key)`, `RowStarts(key)`, `RowLimits(key)`, `ValueRowIds(key)` or `UniformRowLength(length)`.
        row_splits_dtype: int32 or int64.
        validate: taken as TensorFlow does; partitions are always checked.

    Raises:
        TypeError: something else is given as a partition.

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
