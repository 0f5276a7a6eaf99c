"""Columns of dense tensors: numbers, and categories as vectors, for each example or each step of a sequence."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn
from weakref import WeakKeyDictionary

from tapeflow.array.concat_and_split import concat, stack
from tapeflow.array.creation import range as range_
from tapeflow.array.creation import zeros
from tapeflow.array.properties import shape
from tapeflow.array.ranges import one_hot
from tapeflow.array.reshapes import reshape
from tapeflow.array.scatters import scatter_nd
from tapeflow.array.sorting import bucketize_op
from tapeflow.core.types.dtypes import DType, float32, int64
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.trackable import AutoTrackable
from tapeflow.io.features import FixedLenFeature, VarLenFeature
from tapeflow.math.casting import cast
from tapeflow.math.reduction import reduce_sum
from tapeflow.math.rounding import ceil
from tapeflow.math.segment import segment_max
from tapeflow.nn.embedding import embedding_lookup_sparse, safe_embedding_lookup_sparse
from tapeflow.sparse.concat_and_slice import slice as sparse_slice
from tapeflow.sparse.dense import to_dense
from tapeflow.sparse.tensor import SparseTensor
from tapeflow_compat.compat.v1.sparse import merge
from tapeflow_compat.compat.v1.train.saver import init_from_checkpoint
from tapeflow_compat.compat.v1.variable_scopes import get_variable
from tapeflow_compat.default_graph import get_default_graph
from tapeflow_compat.feature_column.categorical import SequenceCategoricalColumn
from tapeflow_compat.feature_column.configuration import Configured, OfFeature
from tapeflow_compat.feature_column.protocol import (
    CategoricalColumn,
    DenseColumn,
    FeatureTransformationCache,
    IdWeightPair,
    SequenceDenseColumn,
    TensorSequenceLengthPair,
)


class _Numeric(NamedTuple):
    key: str
    shape: tuple[int, ...]
    default_value: Any
    dtype: DType
    normalizer_fn: Callable[[Any], Any] | None


class _Numbers(OfFeature):
    """A column of the numbers of one feature."""

    shape: tuple[int, ...]

    @property
    def variable_shape(self) -> TensorShape:
        return TensorShape(self.shape)


class NumericColumn(_Numbers, DenseColumn, _Numeric):
    """Numbers."""

    _objects = ("normalizer_fn",)

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        return {self.key: FixedLenFeature(self.shape, self.dtype, self.default_value)}

    def transform_feature(self, transformation_cache: FeatureTransformationCache, state_manager: Any) -> Any:
        numbers = transformation_cache.get(self.key, state_manager)
        if isinstance(numbers, SparseTensor):
            raise ValueError(
                "The corresponding Tensor of numerical column must be a Tensor. SparseTensor is not supported. key: "
                + self.key
            )
        return cast(numbers if self.normalizer_fn is None else self.normalizer_fn(numbers), float32)

    def get_dense_tensor(self, transformation_cache: FeatureTransformationCache, state_manager: Any) -> Any:
        return transformation_cache.get(self, state_manager)


class SequenceNumericColumn(_Numbers, SequenceDenseColumn, _Numeric):
    """Sequences of numbers."""

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        return {self.key: VarLenFeature(self.dtype)}

    def transform_feature(self, transformation_cache: FeatureTransformationCache, state_manager: Any) -> Any:
        numbers = transformation_cache.get(self.key, state_manager)
        return numbers if self.normalizer_fn is None else self.normalizer_fn(numbers)

    def get_sequence_dense_tensor(
        self, transformation_cache: FeatureTransformationCache, state_manager: Any
    ) -> TensorSequenceLengthPair:
        numbers = transformation_cache.get(self, state_manager)
        dense = to_dense(numbers, default_value=self.default_value)
        steps = reshape(dense, concat([shape(dense)[:1], [-1], self.shape], 0))
        of_a_step = self.variable_shape.num_elements() if numbers.shape.rank == 2 else 1
        return TensorSequenceLengthPair(steps, _lengths(numbers, of_a_step))


def _lengths(tensor: SparseTensor, of_a_step: int | None = 1) -> Any:
    """Returns the lengths of sequences, whose steps take so many columns of a sparse tensor each."""
    last = segment_max(tensor.indices[:, 1] + 1, tensor.indices[:, 0])
    lengths = cast(ceil(last / of_a_step), int64)
    missing = shape(tensor)[:1] - shape(lengths)[:1]  # of the examples behind the last that has values
    return concat([lengths, zeros(missing, int64)], 0)


class _Bucketized(NamedTuple):
    source_column: Any
    boundaries: tuple[float, ...]


class BucketizedColumn(DenseColumn, CategoricalColumn, Configured, _Bucketized):
    """Numbers, by the ranges that they are in."""

    @property
    def name(self) -> str:
        return f"{self.source_column.name}_bucketized"

    @property
    def parents(self) -> list[Any]:
        return [self.source_column]

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        return self.source_column.parse_example_spec

    def transform_feature(self, transformation_cache: FeatureTransformationCache, state_manager: Any) -> Any:
        return bucketize_op(transformation_cache.get(self.source_column, state_manager), list(self.boundaries))

    @property
    def variable_shape(self) -> TensorShape:
        return TensorShape([*self.source_column.shape, len(self.boundaries) + 1])

    def get_dense_tensor(self, transformation_cache: FeatureTransformationCache, state_manager: Any) -> Any:
        buckets = transformation_cache.get(self, state_manager)
        return one_hot(cast(buckets, int64), len(self.boundaries) + 1, 1.0, 0.0)

    @property
    def num_buckets(self) -> int:
        return (len(self.boundaries) + 1) * self.source_column.shape[0]

    def get_sparse_tensors(self, transformation_cache: FeatureTransformationCache, state_manager: Any) -> IdWeightPair:
        buckets = transformation_cache.get(self, state_manager)
        columns = self.source_column.shape[0]
        count = shape(buckets)[0]
        places = range_(count * columns)
        rows, column = places // columns, places % columns  # each column has categories of its own
        ids = reshape(buckets, [-1]) + (len(self.boundaries) + 1) * column
        indices = cast(stack([rows, column], 1), int64)
        return IdWeightPair(SparseTensor(indices, ids, cast(stack([count, columns]), int64)), None)


class VectorColumn(SequenceDenseColumn, DenseColumn):
    """A column of vectors of another column's categories: one vector for each example, or for each step."""

    categorical_column: Any
    _kind: str  # in messages

    @property
    def parents(self) -> list[Any]:
        return [self.categorical_column]

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        return self.categorical_column.parse_example_spec

    def _vectors(self, transformation_cache: FeatureTransformationCache, state_manager: Any) -> Any:
        raise NotImplementedError

    def get_dense_tensor(self, transformation_cache: FeatureTransformationCache, state_manager: Any) -> Any:
        if isinstance(self.categorical_column, SequenceCategoricalColumn):
            raise ValueError(
                f"In {self._kind}: {self.name}. categorical_column must not be of type SequenceCategoricalColumn. "
                "Suggested fix A: If you wish to use DenseFeatures, use a non-sequence categorical_column_with_*. "
                "Suggested fix B: If you wish to create sequence input, use SequenceFeatures instead of DenseFeatures. "
                f"Given (type {type(self.categorical_column)}): {self.categorical_column}"
            )
        return self._vectors(transformation_cache, state_manager)

    def get_sequence_dense_tensor(
        self, transformation_cache: FeatureTransformationCache, state_manager: Any
    ) -> TensorSequenceLengthPair:
        if not isinstance(self.categorical_column, SequenceCategoricalColumn):
            raise ValueError(
                f"In {self._kind}: {self.name}. categorical_column must be of type SequenceCategoricalColumn to use "
                "SequenceFeatures. Suggested fix: Use one of sequence_categorical_column_with_*. Given (type "
                f"{type(self.categorical_column)}): {self.categorical_column}"
            )
        vectors = self._vectors(transformation_cache, state_manager)
        ids, _ = self.categorical_column.get_sparse_tensors(transformation_cache, state_manager)
        return TensorSequenceLengthPair(vectors, _lengths(ids))


class _Indicator(NamedTuple):
    categorical_column: Any


class IndicatorColumn(VectorColumn, Configured, _Indicator):
    """The counts of the categories, or the sums of their weights."""

    _kind = "indicator_column"

    @property
    def name(self) -> str:
        return f"{self.categorical_column.name}_indicator"

    @property
    def variable_shape(self) -> TensorShape:
        return TensorShape([1, self.categorical_column.num_buckets])

    def transform_feature(self, transformation_cache: FeatureTransformationCache, state_manager: Any) -> Any:
        ids, weights = self.categorical_column.get_sparse_tensors(transformation_cache, state_manager)
        count = int(self.categorical_column.num_buckets)
        if weights is None:
            return reduce_sum(one_hot(to_dense(ids, default_value=-1), count, 1.0, 0.0), -2)
        merged = merge(ids, weights, count)
        merged = sparse_slice(merged, [0, 0], merged.dense_shape)  # without unknown words, which are -1
        return scatter_nd(merged.indices, merged.values, merged.dense_shape)

    def _vectors(self, transformation_cache: FeatureTransformationCache, state_manager: Any) -> Any:
        return transformation_cache.get(self, state_manager)


class EmbeddedColumn(VectorColumn):
    """A column of rows of a table for the categories of another, which are combined."""

    _kind = "embedding_column"
    combiner: str
    max_norm: Any
    use_safe_embedding_lookup: bool

    @property
    def name(self) -> str:
        return f"{self.categorical_column.name}_shared_embedding"

    def transform_feature(self, transformation_cache: FeatureTransformationCache, state_manager: Any) -> Any:
        return transformation_cache.get(self.categorical_column, state_manager)

    def _table(self, state_manager: Any) -> Any:
        raise NotImplementedError

    def _vectors(self, transformation_cache: FeatureTransformationCache, state_manager: Any) -> Any:
        ids, weights = self.categorical_column.get_sparse_tensors(transformation_cache, state_manager)
        rank = ids.shape.rank
        look_up: Any = safe_embedding_lookup_sparse
        if not self.use_safe_embedding_lookup and rank is not None and rank <= 2:
            look_up = embedding_lookup_sparse
        return look_up(self._table(state_manager), ids, weights, combiner=self.combiner, max_norm=self.max_norm)


class _Embedding(NamedTuple):
    categorical_column: Any
    dimension: int
    combiner: str
    initializer: Any
    ckpt_to_load_from: str | None
    tensor_name_in_ckpt: str | None
    max_norm: Any
    trainable: bool
    use_safe_embedding_lookup: bool = True


class EmbeddingColumn(EmbeddedColumn, Configured, _Embedding):
    """Rows of a table of the column's own."""

    _objects = ("initializer",)

    @property
    def name(self) -> str:
        return f"{self.categorical_column.name}_embedding"

    @property
    def variable_shape(self) -> TensorShape:
        return TensorShape([self.dimension])

    def create_state(self, state_manager: Any) -> None:
        state_manager.create_variable(
            self, name="embedding_weights", shape=(self.categorical_column.num_buckets, self.dimension), dtype=float32,
            trainable=self.trainable, use_resource=True, initializer=self.initializer,
        )  # fmt: skip

    def _table(self, state_manager: Any) -> Any:
        table = state_manager.get_variable(self, name="embedding_weights")
        restore(table, self.ckpt_to_load_from, self.tensor_name_in_ckpt)
        return table


def restore(table: Any, ckpt_to_load_from: str | None, tensor_name_in_ckpt: str | None) -> None:
    """Gives a table its first value from a checkpoint, if there is one."""
    if ckpt_to_load_from is not None:
        init_from_checkpoint(ckpt_to_load_from, {str(tensor_name_in_ckpt): table})


class SharedEmbeddingColumnCreator(AutoTrackable):
    """Creates the columns that share a table, and the table.

    Args:
        dimension: the length of a row.
        initializer: gives the table's first value.
        ckpt_to_load_from, tensor_name_in_ckpt: a checkpoint with the table's first value instead, and its name there.
        num_buckets: the number of rows.
        trainable: whether the table is trained.
        name: of the variable.
        use_safe_embedding_lookup: whether examples without categories are zeros.
    """

    def __init__(
        self, dimension: int, initializer: Any, ckpt_to_load_from: str | None, tensor_name_in_ckpt: str | None,
        num_buckets: int, trainable: bool, name: str = "shared_embedding_column_creator",
        use_safe_embedding_lookup: bool = True,
    ) -> None:  # fmt: skip
        self._dimension, self._num_buckets = dimension, num_buckets
        self._options = {"initializer": initializer, "trainable": trainable}
        self._checkpoint = (ckpt_to_load_from, tensor_name_in_ckpt)
        self._name = name
        self._use_safe_embedding_lookup = use_safe_embedding_lookup
        self._tables: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()

    def __call__(self, categorical_column: Any, combiner: str, max_norm: Any) -> SharedEmbeddingColumn:
        """Returns a column of rows of the shared table."""
        return SharedEmbeddingColumn(categorical_column, self, combiner, max_norm, self._use_safe_embedding_lookup)

    @property
    def dimension(self) -> int:
        """The length of a row."""
        return self._dimension

    @property
    def embedding_weights(self) -> Any:
        """The table: one in each graph."""
        graph = get_default_graph()
        if graph not in self._tables:
            table = get_variable(self._name, (self._num_buckets, self._dimension), float32, **self._options)
            restore(table, *self._checkpoint)
            self._tables[graph] = table
        return self._tables[graph]


class _Shared(NamedTuple):
    categorical_column: Any
    shared_embedding_column_creator: SharedEmbeddingColumnCreator
    combiner: str
    max_norm: Any
    use_safe_embedding_lookup: bool = True


class SharedEmbeddingColumn(EmbeddedColumn, _Shared):
    """Rows of a table that several columns share."""

    @property
    def _is_v2_column(self) -> bool:
        return True

    @property
    def _var_scope_name(self) -> NoReturn:
        raise ValueError(
            "SharedEmbeddingColumns are not supported in `linear_model` or `input_layer`. Please use `DenseFeatures` "
            "or `LinearModel` instead."
        )

    @property
    def variable_shape(self) -> TensorShape:
        return TensorShape([self.shared_embedding_column_creator.dimension])

    def _table(self, state_manager: Any) -> Any:
        return self.shared_embedding_column_creator.embedding_weights
