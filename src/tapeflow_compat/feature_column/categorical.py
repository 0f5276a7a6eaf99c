"""Columns of categories: numbers of buckets, words or hashes, as sparse tensors."""

from __future__ import annotations

from typing import Any, NamedTuple

from tapeflow.array.gathers import gather_nd
from tapeflow.array.masks import where
from tapeflow.array.properties import shape
from tapeflow.core.scopes import init_scope
from tapeflow.core.types.dtypes import DType, float32, int64, string
from tapeflow.data import TFRecordDataset
from tapeflow.io.features import VarLenFeature
from tapeflow.lookup.from_dataset import index_table_from_dataset
from tapeflow.lookup.initializers import KeyValueTensorInitializer, TextFileIndex, TextFileInitializer
from tapeflow.lookup.tables import StaticHashTable, StaticVocabularyTable
from tapeflow.math.casting import cast
from tapeflow.math.comparison import not_equal
from tapeflow.math.reduction import reduce_prod
from tapeflow.sparse.concat_and_slice import reshape as sparse_reshape
from tapeflow.sparse.feature_cross import cross_hashed
from tapeflow.sparse.tensor import SparseTensor
from tapeflow.strings.formatting import as_string, to_number
from tapeflow.strings.hash_buckets import to_hash_bucket_fast
from tapeflow_compat.compat.v1.arrays import convert_to_tensor_or_sparse_tensor
from tapeflow_compat.feature_column.configuration import Configured, OfFeature
from tapeflow_compat.feature_column.protocol import (
    CategoricalColumn,
    FeatureTransformationCache,
    IdWeightPair,
    StateManager,
)


def to_sparse_without_missing(tensor: Any, missing: Any = None) -> SparseTensor:
    """Returns the elements of a tensor that are present. A sparse tensor is returned unchanged.

    Args:
        tensor: a tensor, dense or sparse.
        missing: the value that stands for a missing element; by default "", -1 or 0.0.
    """
    tensor = convert_to_tensor_or_sparse_tensor(tensor)
    if isinstance(tensor, SparseTensor):
        return tensor
    if missing is None:
        missing = "" if tensor.dtype is string else -1 if tensor.dtype.is_integer else 0.0
    indices = where(not_equal(tensor, missing))
    return SparseTensor(indices, gather_nd(tensor, indices), shape(tensor, out_type=int64))


def check_words(dtype: DType, what: str) -> None:
    """Raises a ValueError for a dtype of neither strings nor integers."""
    if dtype != string and not dtype.is_integer:
        raise ValueError(f"{what} dtype must be string or integer. dtype: {dtype}.")


class _OfKey(CategoricalColumn, OfFeature):
    """A column whose categories are numbers of the values of one feature."""

    dtype: DType

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        return {self.key: VarLenFeature(self.dtype)}

    def transform_feature(
        self, transformation_cache: FeatureTransformationCache, state_manager: StateManager
    ) -> SparseTensor:
        return self._ids(to_sparse_without_missing(transformation_cache.get(self.key, state_manager)), state_manager)

    def _ids(self, values: SparseTensor, state_manager: StateManager) -> SparseTensor:
        """Returns the categories of values."""
        raise NotImplementedError

    def _check_dtype(self, values: SparseTensor) -> None:
        if self.dtype.is_integer != values.dtype.is_integer:
            raise ValueError(
                f"Column dtype and SparseTensors dtype must be compatible. key: {self.key}, column dtype: "
                f"{self.dtype}, tensor dtype: {values.dtype}"
            )
        check_words(values.dtype, f"column_name: {self.key} input_tensor")

    def get_sparse_tensors(
        self, transformation_cache: FeatureTransformationCache, state_manager: StateManager
    ) -> IdWeightPair:
        return IdWeightPair(transformation_cache.get(self, state_manager), None)


class _Hashed(NamedTuple):
    key: str
    hash_bucket_size: int
    dtype: DType


class HashedCategoricalColumn(_OfKey, _Hashed):
    """The hashes of strings or integers."""

    def _ids(self, values: SparseTensor, state_manager: StateManager) -> SparseTensor:
        self._check_dtype(values)
        words = values.values if self.dtype == string else as_string(values.values)
        return SparseTensor(values.indices, to_hash_bucket_fast(words, self.hash_bucket_size), values.dense_shape)

    @property
    def num_buckets(self) -> int:
        return self.hash_bucket_size


class _InTable(_OfKey):
    """A column whose categories a table has, with buckets for other values, or one default."""

    default_value: Any
    num_oov_buckets: int

    def _ids(self, values: SparseTensor, state_manager: StateManager) -> SparseTensor:
        self._check_dtype(values)
        if values.dtype.is_integer:
            values = SparseTensor(values.indices, cast(values.values, int64), values.dense_shape)
        return self._table(state_manager).lookup(values)

    def _table(self, state_manager: StateManager) -> Any:
        name = f"{self.key}_lookup"
        if state_manager is not None and state_manager.has_resource(self, name):
            return state_manager.get_resource(self, name)
        with init_scope():
            table = self._new_table(int64 if self.dtype.is_integer else self.dtype)
        if state_manager is not None:
            state_manager.add_resource(self, name, table)
        return table

    def _new_table(self, dtype: DType) -> Any:
        if self.num_oov_buckets:
            return StaticVocabularyTable(self._words(dtype), self.num_oov_buckets)
        return StaticHashTable(self._words(dtype), self.default_value)

    def _words(self, dtype: DType) -> Any:
        """Returns the initializer of the table."""
        raise NotImplementedError


class _FromFile(NamedTuple):
    key: str
    vocabulary_file: str
    vocabulary_size: Any
    num_oov_buckets: int
    dtype: DType
    default_value: Any
    file_format: str | None = None


class VocabularyFileCategoricalColumn(_InTable, _FromFile):
    """The numbers of the lines of a file."""

    def _new_table(self, dtype: DType) -> Any:
        if self.file_format != "tfrecord_gzip":
            return super()._new_table(dtype)
        words: Any = TFRecordDataset(self.vocabulary_file, compression_type="GZIP")
        if dtype != string:
            words = words.map(lambda word: to_number(word, dtype))
        return index_table_from_dataset(
            words, self.num_oov_buckets, self.vocabulary_size, self.default_value, key_dtype=dtype
        )

    def _words(self, dtype: DType) -> TextFileInitializer:
        line, number = TextFileIndex.WHOLE_LINE, TextFileIndex.LINE_NUMBER
        return TextFileInitializer(self.vocabulary_file, dtype, line, int64, number, self.vocabulary_size)

    @property
    def num_buckets(self) -> int:
        return self.vocabulary_size + self.num_oov_buckets


class _FromList(NamedTuple):
    key: str
    vocabulary_list: tuple[Any, ...]
    dtype: DType
    default_value: Any
    num_oov_buckets: int


class VocabularyListCategoricalColumn(_InTable, _FromList):
    """The positions of words in a list."""

    def _words(self, dtype: DType) -> KeyValueTensorInitializer:
        return KeyValueTensorInitializer(list(self.vocabulary_list), range(len(self.vocabulary_list)), dtype, int64)

    @property
    def num_buckets(self) -> int:
        return len(self.vocabulary_list) + self.num_oov_buckets


class _Identity(NamedTuple):
    key: str
    number_buckets: int
    default_value: int | None


class IdentityCategoricalColumn(_OfKey, _Identity):
    """Integers that are categories already."""

    dtype = int64

    def _ids(self, values: SparseTensor, state_manager: StateManager) -> SparseTensor:
        if not values.dtype.is_integer:
            raise ValueError(f"Invalid input, not integer. key: {self.key} dtype: {values.dtype}")
        ids = cast(values.values, int64)
        if self.default_value is not None:
            outside = (ids < 0) | (ids >= self.num_buckets)
            ids = where(outside, cast(self.default_value, int64), ids)
        return SparseTensor(values.indices, ids, values.dense_shape)

    @property
    def num_buckets(self) -> int:
        return self.number_buckets


class _OfCategories(CategoricalColumn, Configured):
    """A column of the categories of another."""

    categorical_column: Any

    @property
    def parents(self) -> list[Any]:
        return [self.categorical_column]

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        return self.categorical_column.parse_example_spec

    @property
    def num_buckets(self) -> int:
        return self.categorical_column.num_buckets


class _Weighted(NamedTuple):
    categorical_column: Any
    weight_feature_key: str
    dtype: DType


class WeightedCategoricalColumn(_OfCategories, _Weighted):
    """Categories with weights, which are another feature."""

    @property
    def name(self) -> str:
        return f"{self.categorical_column.name}_weighted_by_{self.weight_feature_key}"

    @property
    def parents(self) -> list[Any]:
        return [self.categorical_column, self.weight_feature_key]

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        spec = self.categorical_column.parse_example_spec
        key = self.weight_feature_key
        if key in spec:
            raise ValueError(f"Parse config {spec[key]} already exists for {key}.")
        return {**spec, key: VarLenFeature(self.dtype)}

    def transform_feature(self, transformation_cache: FeatureTransformationCache, state_manager: StateManager) -> Any:
        weights = transformation_cache.get(self.weight_feature_key, state_manager)
        if weights is None:
            raise ValueError(f"Missing weights {self.weight_feature_key}.")
        weights = convert_to_tensor_or_sparse_tensor(weights)
        if self.dtype != weights.dtype:
            raise ValueError(f"Bad dtype, expected {self.dtype}, but got {weights.dtype}.")
        weights = to_sparse_without_missing(weights, 0)
        if not weights.dtype.is_floating:
            weights = SparseTensor(weights.indices, cast(weights.values, float32), weights.dense_shape)
        ids = to_sparse_without_missing(transformation_cache.get(self.categorical_column, state_manager))
        return ids, weights

    def get_sparse_tensors(
        self, transformation_cache: FeatureTransformationCache, state_manager: StateManager
    ) -> IdWeightPair:
        return IdWeightPair(*transformation_cache.get(self, state_manager))


class _Sequence(NamedTuple):
    categorical_column: Any


class SequenceCategoricalColumn(_OfCategories, _Sequence):
    """The categories of each step of a sequence."""

    @property
    def name(self) -> str:
        return self.categorical_column.name

    def transform_feature(self, transformation_cache: FeatureTransformationCache, state_manager: StateManager) -> Any:
        return self.categorical_column.transform_feature(transformation_cache, state_manager)

    def get_sparse_tensors(
        self, transformation_cache: FeatureTransformationCache, state_manager: StateManager
    ) -> IdWeightPair:
        pair = self.categorical_column.get_sparse_tensors(transformation_cache, state_manager)
        dims = shape(pair.id_tensor, out_type=int64)
        steps = [dims[0], dims[1], reduce_prod(dims[2:])]  # each step holds a set of ids, of one dimension
        return IdWeightPair(*(None if tensor is None else sparse_reshape(tensor, steps) for tensor in pair))


class _Crossed(NamedTuple):
    keys: tuple[Any, ...]
    hash_bucket_size: int
    hash_key: int | None


class CrossedColumn(CategoricalColumn, Configured, _Crossed):
    """The hashes of all combinations of features."""

    @property
    def _leaves(self) -> list[Any]:
        """The keys, with the keys of crossed columns in the place of these columns."""
        return [leaf for key in self.keys for leaf in (key._leaves if isinstance(key, CrossedColumn) else [key])]

    @property
    def name(self) -> str:
        return "_X_".join(sorted(leaf if isinstance(leaf, str) else leaf.name for leaf in self._leaves))

    @property
    def parents(self) -> list[Any]:
        return list(self.keys)

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        spec: dict[str, Any] = {}
        for key in self.keys:
            spec |= {key: VarLenFeature(string)} if isinstance(key, str) else key.parse_example_spec
        return spec

    def transform_feature(
        self, transformation_cache: FeatureTransformationCache, state_manager: StateManager
    ) -> SparseTensor:
        features = []
        for leaf in self._leaves:
            if isinstance(leaf, str):
                features.append(transformation_cache.get(leaf, state_manager))
                continue
            ids, weights = leaf.get_sparse_tensors(transformation_cache, state_manager)
            if weights is not None:
                raise ValueError(
                    "crossed_column does not support weight_tensor, but the given column populates weight_tensor. "
                    f"Given column: {leaf.name}"
                )
            features.append(ids)
        return cross_hashed(features, self.hash_bucket_size, self.hash_key)

    @property
    def num_buckets(self) -> int:
        return self.hash_bucket_size

    def get_sparse_tensors(
        self, transformation_cache: FeatureTransformationCache, state_manager: StateManager
    ) -> IdWeightPair:
        return IdWeightPair(transformation_cache.get(self, state_manager), None)
