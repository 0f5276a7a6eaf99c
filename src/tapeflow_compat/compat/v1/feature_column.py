"""The public `tf.compat.v1.feature_column` namespace: columns, and the layers that variable scopes name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from tapeflow.array.concat_and_split import concat
from tapeflow.array.properties import shape
from tapeflow.array.reshapes import reshape
from tapeflow.core.scopes import executing_eagerly
from tapeflow.core.types.aliases import DTypeLike, TensorLike
from tapeflow.core.types.dtypes import float32, string
from tapeflow.core.types.shape import TensorShape
from tapeflow.linalg.products import matmul
from tapeflow.math.arithmetic import add_n
from tapeflow.nn.bias import bias_add
from tapeflow.nn.embedding import safe_embedding_lookup_sparse
from tapeflow.sparse.concat_and_slice import reshape as sparse_reshape
from tapeflow_compat.compat.v1.initializers import Zeros
from tapeflow_compat.compat.v1.variable_scopes import get_variable, get_variable_scope, variable_scope
from tapeflow_compat.compat.v1.variables import GraphKeys, add_to_collection, get_collection
from tapeflow_compat.feature_column import (
    bucketized_column,
    categorical_column_with_hash_bucket,
    categorical_column_with_identity,
    categorical_column_with_vocabulary_list,
    columns,
    crossed_column,
    embedding_column,
    indicator_column,
    numeric_column,
    sequence_categorical_column_with_hash_bucket,
    sequence_categorical_column_with_identity,
    sequence_categorical_column_with_vocabulary_file,
    sequence_categorical_column_with_vocabulary_list,
    sequence_numeric_column,
    weighted_categorical_column,
)
from tapeflow_compat.feature_column.dense import EmbeddedColumn, SequenceNumericColumn, restore
from tapeflow_compat.feature_column.protocol import (
    CategoricalColumn,
    DenseColumn,
    FeatureColumn,
    FeatureTransformationCache,
    StateManager,
)

__all__ = [
    "bucketized_column", "categorical_column_with_hash_bucket", "categorical_column_with_identity",
    "categorical_column_with_vocabulary_file", "categorical_column_with_vocabulary_list", "crossed_column",
    "embedding_column", "indicator_column", "input_layer", "linear_model", "make_parse_example_spec", "numeric_column",
    "sequence_categorical_column_with_hash_bucket", "sequence_categorical_column_with_identity",
    "sequence_categorical_column_with_vocabulary_file", "sequence_categorical_column_with_vocabulary_list",
    "sequence_numeric_column", "shared_embedding_columns", "weighted_categorical_column",
]  # fmt: skip


def _accepts(column: Any) -> bool:
    return isinstance(column, FeatureColumn) and not isinstance(column, SequenceNumericColumn)


def make_parse_example_spec(feature_columns: Iterable[Any]) -> dict[str, Any]:
    """Returns the features that columns need, see `tf.feature_column.make_parse_example_spec`.

    Args:
        feature_columns: the columns of a model.

    Raises:
        ValueError: one is no column, or two need different features of one key.

    Example:
        >>> api = tf.compat.v1.feature_column
        >>> list(api.make_parse_example_spec([api.numeric_column("price"), api.numeric_column("size")]))
        ['price', 'size']
    """
    return columns.parse_example_spec(feature_columns, "_FeatureColumn", _accepts)


def categorical_column_with_vocabulary_file(
    key: str, vocabulary_file: str, vocabulary_size: int | None = None, num_oov_buckets: int | None = 0,
    default_value: int | None = None, dtype: DTypeLike = string,
) -> Any:  # fmt: skip
    """Creates a column of the lines of a file, see `tf.feature_column.categorical_column_with_vocabulary_file`.

    Args:
        key: a string, the feature's key and the column's name.
        vocabulary_file: a text with one word in each line, or, compressed, records of them.
        vocabulary_size: the number of lines; None for all.
        num_oov_buckets: the number of further categories for other words.
        default_value: the category of other words; by default -1, which stands for none.
        dtype: the words' dtype.

    Raises:
        ValueError: an argument is invalid, or there is no such file.

    Example:
        >>> import os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "colors.txt")
        >>> tf.io.write_file(path, "red\\ngreen\\n")
        >>> tf.compat.v1.feature_column.categorical_column_with_vocabulary_file("color", path, None, 3).num_buckets
        5
    """
    return columns.categorical_column_with_vocabulary_file(
        key, vocabulary_file, vocabulary_size, dtype, default_value, num_oov_buckets
    )


class _Variables(StateManager):
    """Creates variables by `get_variable`, in the variable scope in force."""

    def __init__(self, collections: Sequence[str] | None, trainable: bool) -> None:
        super().__init__(None, trainable)
        self._collections = list(collections or [])
        for name in (GraphKeys.GLOBAL_VARIABLES, GraphKeys.MODEL_VARIABLES):
            if name not in self._collections:
                self._collections.append(name)

    def _new_variable(self, feature_column: Any, name: str, **options: Any) -> Any:
        return get_variable(name, collections=self._collections, **options)


def _normalized(feature_columns: Any) -> list[Any]:
    """Returns columns by their names."""
    if isinstance(feature_columns, dict):
        raise ValueError("Expected feature_columns to be iterable, found dict.")
    listed = [feature_columns] if isinstance(feature_columns, FeatureColumn) else list(feature_columns)
    by_name: dict[str, Any] = {}
    for column in listed:
        if not _accepts(column):
            raise ValueError(
                f"Items of feature_columns must be a _FeatureColumn. Given (type {type(column)}): {column}."
            )
    if not listed:
        raise ValueError("feature_columns must not be empty.")
    for column in listed:
        other = by_name.setdefault(column.name, column)
        if other is not column:
            raise ValueError(
                f"Duplicate feature column name found for columns: {column} and {other}. This usually means that these "
                "columns refer to same base feature. Either one must be discarded or a duplicated but renamed item "
                "must be inserted in features dict."
            )
    return [by_name[name] for name in sorted(by_name)]


def _in_scopes(listed: list[Any]) -> Iterator[Any]:
    """Yields each column, in a variable scope of its own."""
    for column in listed:
        with variable_scope(None, default_name=column._var_scope_name):
            yield column


def _variables_in_scope() -> list[Any]:
    return get_collection(GraphKeys.GLOBAL_VARIABLES, get_variable_scope().name)


def _as_matrix(column: Any, cache: FeatureTransformationCache, variables: _Variables) -> Any:
    tensor = column.get_dense_tensor(cache, variables)
    return reshape(tensor, [shape(tensor)[0], column.variable_shape.num_elements()])


def _check_batches(tensors: list[Any], listed: list[Any]) -> None:
    sizes = [(column.name, tensor.shape[0]) for tensor, column in zip(tensors, listed, strict=True)]
    static = [(name, size) for name, size in sizes if size is not None]
    for name, size in static[1:]:
        if size != static[0][1]:
            raise ValueError(
                "Batch size (first dimension) of each feature must be same. Batch size of columns "
                f"({static[0][0]}, {name}): ({static[0][1]}, {size})"
            )


def input_layer(
    features: dict[str, Any], feature_columns: Any, weight_collections: Sequence[str] | None = None,
    trainable: bool = True, cols_to_vars: dict[Any, Any] | None = None,
    cols_to_output_tensors: dict[Any, Any] | None = None,
) -> Any:  # fmt: skip
    """Returns the outputs of dense columns for features, concatenated along the last dimension.

    Args:
        features: a map from keys to tensors.
        feature_columns: dense columns; they come in the order of their names.
        weight_collections: collections that the variables are added to.
        trainable: whether the variables are trained.
        cols_to_vars: gets the variables of each column.
        cols_to_output_tensors: gets the part of the result of each column.

    Returns:
        A float32 tensor `[batch, total]`.

    Raises:
        ValueError: a column is not dense, or the features have different batch sizes.

    Example:
        >>> api = tf.compat.v1.feature_column
        >>> price = api.numeric_column("price")
        >>> floor = api.indicator_column(api.categorical_column_with_identity("floor", 2))
        >>> api.input_layer({"price": [5.0, 9.0], "floor": [1, 0]}, [price, floor]).numpy().tolist()
        [[0.0, 1.0, 5.0], [1.0, 0.0, 9.0]]
    """
    listed = _normalized(feature_columns)
    for column in listed:
        if not isinstance(column, DenseColumn):
            raise ValueError(
                "Items of feature_columns must be a _DenseColumn. You can wrap a categorical column with an "
                f"embedding_column or indicator_column. Given: {column}"
            )
    cache, variables = FeatureTransformationCache(features), _Variables(weight_collections, trainable)
    tensors = []
    with variable_scope(None, default_name="input_layer"):
        for column in _in_scopes(listed):
            column.create_state(variables)
            tensors.append(_as_matrix(column, cache, variables))
            if cols_to_vars is not None:
                cols_to_vars[column] = _variables_in_scope()
            if cols_to_output_tensors is not None:
                cols_to_output_tensors[column] = tensors[-1]
        _check_batches(tensors, listed)
        return concat(tensors, 1)


def linear_model(
    features: dict[str, Any], feature_columns: Any, units: int = 1, sparse_combiner: str = "sum",
    weight_collections: Sequence[str] | None = None, trainable: bool = True, cols_to_vars: dict[Any, Any] | None = None,
) -> Any:  # fmt: skip
    """Returns a linear function of features, with a weight for each number and each category, and a bias.

    Args:
        features: a map from keys to tensors.
        feature_columns: dense and categorical columns.
        units: the length of the result.
        sparse_combiner: of the weights of the categories of an example: "sum", "mean" or "sqrtn".
        weight_collections: collections that the variables are added to.
        trainable: whether the variables are trained.
        cols_to_vars: a dict that receives the variables of each column, and the variable of "bias".

    Returns:
        A float32 tensor `[batch, units]`.

    Raises:
        ValueError: a column is neither dense nor categorical, or the features have different batch sizes.

    Example:
        >>> api = tf.compat.v1.feature_column
        >>> api.linear_model({"price": [5.0, 9.0]}, api.numeric_column("price")).numpy().tolist()
        [[0.0], [0.0]]
    """
    listed = _normalized(feature_columns)
    for column in listed:
        if not isinstance(column, (DenseColumn, CategoricalColumn)):
            raise ValueError(
                f"Items of feature_columns must be either a _DenseColumn or _CategoricalColumn. Given: {column}"
            )
    cache, variables = FeatureTransformationCache(features), _Variables(weight_collections, trainable)
    by_column = {} if cols_to_vars is None else cols_to_vars
    sums = []
    with variable_scope(None, default_name="linear_model"):
        for column in _in_scopes(listed):
            rows = column.num_buckets if isinstance(column, CategoricalColumn) else column.variable_shape.num_elements()
            weights = variables.create_variable(column, "weights", [rows, units], float32, initializer=Zeros())
            sums.append(_weighted_sum(column, cache, variables, weights, sparse_combiner))
            by_column[column] = _variables_in_scope()
        _check_batches(sums, listed)
        bias = variables.create_variable("bias", "bias_weights", [units], float32, initializer=Zeros())
        by_column["bias"] = [bias]
        return bias_add(add_n(sums, name="weighted_sum_no_bias"), bias, name="weighted_sum")


def _weighted_sum(
    column: Any, cache: FeatureTransformationCache, variables: _Variables, weights: TensorLike, combiner: str
) -> Any:
    if not isinstance(column, CategoricalColumn):
        column.create_state(variables)
        return matmul(_as_matrix(column, cache, variables), weights)
    pair = column.get_sparse_tensors(cache, variables)
    ids = sparse_reshape(pair.id_tensor, [shape(pair.id_tensor)[0], -1])
    of_ids = pair.weight_tensor
    if of_ids is not None:
        of_ids = sparse_reshape(of_ids, [shape(of_ids)[0], -1])
    return safe_embedding_lookup_sparse(weights, ids, of_ids, combiner)


class _Shared(NamedTuple):
    categorical_column: Any
    dimension: int
    combiner: str
    initializer: Any
    shared_embedding_collection_name: str
    ckpt_to_load_from: str | None
    tensor_name_in_ckpt: str | None
    max_norm: Any
    trainable: bool
    use_safe_embedding_lookup: bool = True


class _SharedEmbeddingColumn(EmbeddedColumn, _Shared):
    """Rows of a table that several columns share: the only variable of a collection."""

    @property
    def _is_v2_column(self) -> bool:
        return False

    @property
    def _var_scope_name(self) -> str:
        return self.shared_embedding_collection_name

    @property
    def variable_shape(self) -> TensorShape:
        return TensorShape([self.dimension])

    def create_state(self, state_manager: StateManager) -> None:
        if not get_collection(self.shared_embedding_collection_name):
            table = state_manager.create_variable(
                self, "embedding_weights", (self.categorical_column.num_buckets, self.dimension), float32,
                self.trainable, initializer=self.initializer,
            )  # fmt: skip
            add_to_collection(self.shared_embedding_collection_name, table)

    def _table(self, state_manager: StateManager) -> Any:
        tables = get_collection(self.shared_embedding_collection_name)
        fix = (
            "Suggested fix A: Choose a unique name for this collection. Suggested fix B: Do not add any variables to "
            "this collection. The feature_column library already adds a variable under the hood."
        )
        if len(tables) > 1:
            raise ValueError(f"Collection {tables} can only contain one variable. {fix}")
        expected = (self.categorical_column.num_buckets, self.dimension)
        if tables[0].shape != expected:
            raise ValueError(
                f"Shared embedding collection {self.shared_embedding_collection_name} contains variable "
                f"{tables[0].name} of unexpected shape {tables[0].shape}. Expected shape is {expected}. {fix}"
            )
        restore(tables[0], self.ckpt_to_load_from, self.tensor_name_in_ckpt)
        return tables[0]


def shared_embedding_columns(
    categorical_columns: Sequence[Any], dimension: int, combiner: str = "mean",
    initializer: Callable[..., Any] | None = None, shared_embedding_collection_name: str | None = None,
    ckpt_to_load_from: str | None = None, tensor_name_in_ckpt: str | None = None, max_norm: float | None = None,
    trainable: bool = True, use_safe_embedding_lookup: bool = True,
) -> list[Any]:  # fmt: skip
    """Creates columns of rows of one table, which they share, see `tf.feature_column.shared_embeddings`.

    Args:
        categorical_columns: the columns of the categories, of one kind and with equally many.
        shared_embedding_collection_name: the collection that the table is in; by default the columns' names.
        dimension, combiner, initializer, ckpt_to_load_from, tensor_name_in_ckpt, max_norm, trainable,
            use_safe_embedding_lookup: see `tf.feature_column.embedding_column`.

    Raises:
        RuntimeError: no graph is being built.
        ValueError: the columns are of different kinds, or an argument is invalid.

    Example:
        >>> api = tf.compat.v1.feature_column
        >>> ids = [api.categorical_column_with_identity(key, 3) for key in ("watched", "liked")]
        >>> with tf.Graph().as_default():
        ...     shared = api.shared_embedding_columns(ids, 2)
        ...     layer = api.input_layer({"watched": [0, 1], "liked": [2, 1]}, shared)
        ...     print(layer.shape, len(tf.compat.v1.global_variables()))
        (2, 4) 1
    """
    if executing_eagerly():
        raise RuntimeError("shared_embedding_columns are not supported when eager execution is enabled.")
    initializer = columns.initializer_of(dimension, ckpt_to_load_from, tensor_name_in_ckpt, initializer)
    _, name = columns.check_shared(categorical_columns, shared_embedding_collection_name)
    return [
        _SharedEmbeddingColumn(
            column, dimension, combiner, initializer, name, ckpt_to_load_from, tensor_name_in_ckpt, max_norm, trainable,
            use_safe_embedding_lookup,
        )
        for column in categorical_columns
    ]  # fmt: skip
