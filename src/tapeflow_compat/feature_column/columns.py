"""The functions that create columns of one value, or a set of categories, for each example."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from tapeflow.core.scopes import executing_eagerly
from tapeflow.core.types.aliases import DTypeLike, ShapeLike, TensorLike
from tapeflow.core.types.dtypes import DType, as_dtype, float32, string
from tapeflow.core.values.tensor import Tensor
from tapeflow.data import TFRecordDataset
from tapeflow.io import gfile
from tapeflow_compat.compat.v1 import initializers
from tapeflow_compat.feature_column.categorical import (
    CrossedColumn,
    HashedCategoricalColumn,
    IdentityCategoricalColumn,
    SequenceCategoricalColumn,
    VocabularyFileCategoricalColumn,
    VocabularyListCategoricalColumn,
    WeightedCategoricalColumn,
    check_words,
)
from tapeflow_compat.feature_column.dense import (
    BucketizedColumn,
    EmbeddingColumn,
    IndicatorColumn,
    NumericColumn,
    SharedEmbeddingColumn,
    SharedEmbeddingColumnCreator,
)
from tapeflow_compat.feature_column.protocol import CategoricalColumn, FeatureColumn


def make_parse_example_spec(feature_columns: Iterable[FeatureColumn]) -> dict[str, Any]:
    """Returns the features that columns need, for `tf.io.parse_example`.

    Args:
        feature_columns: the columns of a model.

    Returns:
        A map from keys to `tf.io.FixedLenFeature`s and `tf.io.VarLenFeature`s.

    Raises:
        ValueError: one is no column, or two need different features of one key.

    Example:
        >>> price = tf.feature_column.numeric_column("price")
        >>> color = tf.feature_column.categorical_column_with_hash_bucket("color", 10)
        >>> tf.feature_column.make_parse_example_spec([price, color])["color"]
        VarLenFeature(dtype=tf.string)
    """
    return parse_example_spec(feature_columns, "FeatureColumn", lambda column: isinstance(column, FeatureColumn))


def parse_example_spec(columns: Iterable[Any], kind: str, accepts: Callable[[Any], bool]) -> dict[str, Any]:
    """Returns the features that columns need, of those columns that are accepted."""
    result: dict[str, Any] = {}
    for column in columns:
        if not accepts(column):
            raise ValueError(f"All feature_columns must be {kind} instances. Given: {column}")
        for key, value in column.parse_example_spec.items():
            if key in result and value != result[key]:
                raise ValueError(
                    f"feature_columns contain different parse_spec for key {key}. Given {value} and {result[key]}"
                )
            result[key] = value
    return result


# ---- numbers ---------------------------------------------------------------------------------------------------------


def check_key(key: Any) -> None:
    """Raises a ValueError for a key that is no string."""
    if not isinstance(key, str):
        raise ValueError(f"key must be a string. Got: type {type(key)}. Given key: {key}.")


def check_numbers(dtype: Any, key: Any, normalizer_fn: Any) -> None:
    """Checks the arguments that columns of numbers share."""
    if not (dtype.is_integer or dtype.is_floating):
        raise ValueError(f"dtype must be convertible to float. dtype: {dtype}, key: {key}")
    if normalizer_fn is not None and not callable(normalizer_fn):
        raise TypeError(f"normalizer_fn must be a callable. Given: {normalizer_fn}")


def shape_of_example(shape: ShapeLike, key: Any) -> tuple[int, ...]:
    """Returns the shape of a feature as a tuple."""
    dims = tuple(shape) if isinstance(shape, Iterable) else (shape,)
    for dim in dims:
        if not isinstance(dim, int):
            raise TypeError(f"shape dimensions must be integer. shape: {dims}, key: {key}")
        if dim < 1:
            raise ValueError(f"shape dimensions must be greater than 0. shape: {dims}, key: {key}")
    return dims


def _default_of(shape: tuple[int, ...], value: Any, dtype: DType, key: str) -> Any:
    """Returns the default value of a feature, as tuples of its shape."""
    if value is None:
        return None
    fits = (int, float) if dtype.is_floating else (int,)
    array = np.asarray(value, dtype=object)
    if array.ndim == 0 and isinstance(value, fits):
        array = np.full(shape, value, dtype=object)
    elif array.ndim and array.shape != shape:
        raise ValueError(
            "The shape of default_value must be equal to given shape. "
            f"default_value: {value.tolist() if isinstance(value, np.ndarray) else value}, shape: {shape}, key: {key}"
        )
    elif not array.ndim or not all(isinstance(v, fits) for v in np.asarray(value).ravel().tolist()):
        raise TypeError(
            f"default_value must be compatible with dtype. default_value: {value}, dtype: {dtype}, key: {key}"
        )
    return _as_tuple(np.asarray(array.tolist(), dtype=object).tolist())


def _as_tuple(value: Any) -> Any:
    return tuple(_as_tuple(v) for v in value) if isinstance(value, list) else value


def numeric_column(
    key: str, shape: int | Sequence[int] = (1,), default_value: TensorLike | None = None, dtype: DTypeLike = float32,
    normalizer_fn: Callable[[Any], Any] | None = None,
) -> Any:  # fmt: skip
    """Creates a column of numbers.

    Args:
        key: a string, the feature's key and the column's name.
        shape: an int or a sequence of ints, the shape of one example; `(1,)` by default.
        default_value: a number, or an array of `shape`: the value of examples without the feature. None makes the
            feature required.
        dtype: the feature's dtype; float32 by default. The column gives float32.
        normalizer_fn: a function from a tensor to a tensor, applied to the feature first; or None.

    Returns:
        A dense column.

    Raises:
        TypeError: a dimension is no integer, or the default value is of another dtype.
        ValueError: a dimension is below 1, the default value has another shape, or the dtype is not numeric.

    Example:
        >>> column = tf.feature_column.numeric_column("price", normalizer_fn=lambda x: x / 10.0)
        >>> tf.compat.v1.feature_column.input_layer({"price": [5.0, 20.0]}, column).numpy().tolist()
        [[0.5], [2.0]]
    """
    dims, as_type = shape_of_example(shape, key), as_dtype(dtype)
    check_numbers(as_type, key, None)
    default_value = _default_of(dims, default_value, as_type, key)
    check_numbers(as_type, key, normalizer_fn)
    check_key(key)
    return NumericColumn(key, dims, default_value, as_type, normalizer_fn)


def bucketized_column(source_column: Any, boundaries: Sequence[float]) -> Any:
    """Creates a column of the ranges that numbers are in.

    Args:
        source_column: a column of `numeric_column` with one dimension.
        boundaries: a sorted list of floats; a range contains its lower boundary, but not its upper one.

    Returns:
        A column that is dense, a one for the range of each number, and categorical.

    Raises:
        ValueError: the source is another column, or the boundaries are not sorted.

    Example:
        >>> price = tf.feature_column.numeric_column("price")
        >>> column = tf.feature_column.bucketized_column(price, [0.0, 10.0])
        >>> tf.compat.v1.feature_column.input_layer({"price": [5.0, 10.0]}, column).numpy().tolist()
        [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    if not isinstance(source_column, NumericColumn):
        raise ValueError(f"source_column must be a column generated with numeric_column(). Given: {source_column}")
    if len(source_column.shape) > 1:
        raise ValueError(f"source_column must be one-dimensional column. Given: {source_column}")
    if not boundaries:
        raise ValueError("boundaries must not be empty.")
    if not isinstance(boundaries, (list, tuple)) or any(a >= b for a, b in itertools.pairwise(boundaries)):
        raise ValueError("boundaries must be a sorted list.")
    return BucketizedColumn(source_column, tuple(boundaries))


# ---- categories ------------------------------------------------------------------------------------------------------


def categorical_column_with_hash_bucket(key: str, hash_bucket_size: int, dtype: DTypeLike = string) -> Any:
    """Creates a column whose categories are the hashes of strings or integers.

    Args:
        key: a string, the feature's key and the column's name.
        hash_bucket_size: an int, the number of categories.
        dtype: the feature's dtype, string (the default) or an integer dtype.

    Returns:
        A categorical column.

    Raises:
        ValueError: the number is below 1, or the dtype neither of strings nor of integers.

    Example:
        >>> column = tf.feature_column.categorical_column_with_hash_bucket("color", 10)
        >>> column.name, column.num_buckets
        ('color', 10)
    """
    if hash_bucket_size is None:
        raise ValueError(f"hash_bucket_size must be set. key: {key}")
    if hash_bucket_size < 1:
        raise ValueError(f"hash_bucket_size must be at least 1. hash_bucket_size: {hash_bucket_size}, key: {key}")
    check_key(key)
    as_type = as_dtype(dtype)
    check_words(as_type, f"column_name: {key}")
    return HashedCategoricalColumn(key, hash_bucket_size, as_type)


def _check_buckets(num_oov_buckets: int | None, has_default: bool, key: str) -> None:
    if num_oov_buckets:
        if has_default:
            raise ValueError(f"Can't specify both num_oov_buckets and default_value in {key}.")
        if num_oov_buckets < 0:
            raise ValueError(f"Invalid num_oov_buckets {num_oov_buckets} in {key}.")


def _count(path: str, compressed: bool) -> Any:
    if compressed:
        count = TFRecordDataset(path, "GZIP").reduce(0, lambda n, _: n + 1)
        return count.numpy() if executing_eagerly() else count
    with gfile.GFile(path, mode="rb") as file:
        return sum(1 for _ in file)


def categorical_column_with_vocabulary_file(
    key: str, vocabulary_file: str, vocabulary_size: int | None = None, dtype: DTypeLike = string,
    default_value: int | None = None, num_oov_buckets: int | None = 0, file_format: str | None = None,
) -> Any:  # fmt: skip
    """Creates a column whose categories are the numbers of lines of a file.

    Args:
        key: a string, the feature's key and the column's name.
        vocabulary_file: a path, a text file with one word a line, or a compressed file of records.
        vocabulary_size: an int, the number of lines to use; None for all.
        dtype: the words' dtype; string by default.
        default_value: an int, the category of other words; by default -1, no category.
        num_oov_buckets: an int, the number of further categories for other words, by their hash; 0 by default.
        file_format: "tfrecord_gzip" for records; None infers it from the file's name.

    Returns:
        A categorical column.

    Raises:
        ValueError: there is no such file, a number is below 1, there are both a default and further categories, or the
            dtype is neither of strings nor of integers.

    Example:
        >>> import os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "colors.txt")
        >>> tf.io.write_file(path, "red\\ngreen\\n")
        >>> column = tf.feature_column.categorical_column_with_vocabulary_file("color", path, num_oov_buckets=1)
        >>> dense = tf.feature_column.indicator_column(column)
        >>> tf.compat.v1.feature_column.input_layer({"color": ["green", "grey"]}, dense).numpy().tolist()
        [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    if not vocabulary_file:
        raise ValueError(f"Missing vocabulary_file in {key}.")
    if file_format is None and vocabulary_file.endswith("tfrecord.gz"):
        file_format = "tfrecord_gzip"
    if vocabulary_size is None:
        if not gfile.exists(vocabulary_file):
            raise ValueError(f"vocabulary_file in {key} does not exist.")
        vocabulary_size = _count(vocabulary_file, file_format == "tfrecord_gzip")
    if not isinstance(vocabulary_size, Tensor) and vocabulary_size < 1:
        raise ValueError(f"Invalid vocabulary_size in {key}.")
    _check_buckets(num_oov_buckets, default_value is not None, key)
    as_type = as_dtype(dtype)
    check_words(as_type, f"column_name: {key}")
    check_key(key)
    return VocabularyFileCategoricalColumn(
        key, vocabulary_file, vocabulary_size, num_oov_buckets or 0, as_type,
        -1 if default_value is None else default_value, file_format,
    )  # fmt: skip


def categorical_column_with_vocabulary_list(
    key: str, vocabulary_list: Sequence[Any], dtype: DTypeLike = None, default_value: int = -1, num_oov_buckets: int = 0
) -> Any:
    """Creates a column whose categories are the positions of words in a list.

    Args:
        key: a string, the feature's key and the column's name.
        vocabulary_list: a list of distinct strings or integers.
        dtype: the dtype of the feature; by default the list's dtype.
        default_value: an int, the category of other words; by default -1, no category.
        num_oov_buckets: an int, the number of further categories for other words, by their hash; 0 by default.

    Returns:
        A categorical column.

    Raises:
        ValueError: the list is empty, holds a word twice, or is of another dtype; or there are both a default and
            further categories.

    Example:
        >>> column = tf.feature_column.categorical_column_with_vocabulary_list("color", ["red", "green"])
        >>> dense = tf.feature_column.indicator_column(column)
        >>> tf.compat.v1.feature_column.input_layer({"color": ["green", "grey"]}, dense).numpy().tolist()
        [[0.0, 1.0], [0.0, 0.0]]
    """
    if vocabulary_list is None or len(vocabulary_list) < 1:
        raise ValueError(f"vocabulary_list {vocabulary_list} must be non-empty, column_name: {key}")
    if len(set(vocabulary_list)) != len(vocabulary_list):
        raise ValueError(f"Duplicate keys in vocabulary_list {vocabulary_list}, column_name: {key}")
    own = as_dtype(np.array(vocabulary_list).dtype)
    _check_buckets(num_oov_buckets, default_value != -1, key)
    check_words(own, f"column_name: {key} vocabulary")
    as_type = own if dtype is None else as_dtype(dtype)
    if as_type.is_integer != own.is_integer:
        raise ValueError(f"dtype {as_type} and vocabulary dtype {own} do not match, column_name: {key}")
    check_words(as_type, f"column_name: {key}")
    check_key(key)
    return VocabularyListCategoricalColumn(key, tuple(vocabulary_list), as_type, default_value, num_oov_buckets)


def categorical_column_with_identity(key: str, num_buckets: int, default_value: int | None = None) -> Any:
    """Creates a column of integers that are categories already.

    Args:
        key: a string, the feature's key and the column's name.
        num_buckets: an int, the number of categories, the integers from 0 to `num_buckets - 1`.
        default_value: an int, the category of other integers; None if there are none.

    Returns:
        A categorical column.

    Raises:
        ValueError: there is no category, or the default is none.

    Example:
        >>> column = tf.feature_column.categorical_column_with_identity("floor", 3, default_value=0)
        >>> dense = tf.feature_column.indicator_column(column)
        >>> tf.compat.v1.feature_column.input_layer({"floor": [2, 7]}, dense).numpy().tolist()
        [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]
    """
    if num_buckets < 1:
        raise ValueError(f"num_buckets {num_buckets} < 1, column_name {key}")
    if default_value is not None and not 0 <= default_value < num_buckets:
        raise ValueError(f"default_value {default_value} not in range [0, {num_buckets}), column_name {key}")
    check_key(key)
    return IdentityCategoricalColumn(key, num_buckets, default_value)


def weighted_categorical_column(categorical_column: Any, weight_feature_key: str, dtype: DTypeLike = float32) -> Any:
    """Creates a column of categories with weights.

    Args:
        categorical_column: the column of the categories.
        weight_feature_key: a string, the key of the weights, one per category.
        dtype: the dtype of the weights; float32 by default.

    Returns:
        A categorical column.

    Raises:
        ValueError: the dtype is not numeric.

    Example:
        >>> words = tf.feature_column.categorical_column_with_identity("word", 3)
        >>> column = tf.feature_column.weighted_categorical_column(words, "count")
        >>> features = {"word": [[0, 2]], "count": [[0.5, 4.0]]}
        >>> dense = tf.feature_column.indicator_column(column)
        >>> tf.compat.v1.feature_column.input_layer(features, dense).numpy().tolist()
        [[0.5, 0.0, 4.0]]
    """
    as_type = None if dtype is None else as_dtype(dtype)
    if as_type is None or not (as_type.is_integer or as_type.is_floating):
        raise ValueError(f"dtype {as_type} is not convertible to float.")
    return WeightedCategoricalColumn(categorical_column, weight_feature_key, as_type)


def crossed_column(keys: Sequence[Any], hash_bucket_size: int, hash_key: int | None = None) -> Any:
    """Creates a column whose categories are the hashes of all combinations of features.

    Args:
        keys: a list of two or more keys of string features, or categorical columns.
        hash_bucket_size: an int, the number of categories.
        hash_key: an int, the key of the hash; by default TensorFlow's own.

    Returns:
        A categorical column.

    Raises:
        ValueError: there are too few keys or categories, or one is neither a key nor a column that can be combined.

    Example:
        >>> column = tf.feature_column.crossed_column(["color", "size"], 10)
        >>> column.name, column.num_buckets
        ('color_X_size', 10)
    """
    if not hash_bucket_size or hash_bucket_size < 1:
        raise ValueError(f"hash_bucket_size must be > 1. hash_bucket_size: {hash_bucket_size}")
    if not keys or len(keys) < 2:
        raise ValueError(f"keys must be a list with length > 1. Given: {keys}")
    for key in keys:
        if not isinstance(key, (str, CategoricalColumn)):
            raise ValueError(
                "Unsupported key type. All keys must be either string, or categorical column except "
                f"HashedCategoricalColumn. Given: {key}"
            )
        if isinstance(key, HashedCategoricalColumn):
            raise ValueError(
                "categorical_column_with_hash_bucket is not supported for crossing. Hashing before crossing will "
                f"increase probability of collision. Instead, use the feature name as a string. Given: {key}"
            )
    return CrossedColumn(tuple(keys), hash_bucket_size, hash_key)


# ---- vectors of categories -------------------------------------------------------------------------------------------


def indicator_column(categorical_column: Any) -> Any:
    """Creates a column of how often each category is there.

    Args:
        categorical_column: the column of the categories. If they have weights, the weights are summed.

    Returns:
        A dense column.

    Raises:
        ValueError: it is no categorical column.

    Example:
        >>> words = tf.feature_column.categorical_column_with_vocabulary_list("word", ["a", "b"])
        >>> dense = tf.feature_column.indicator_column(words)
        >>> tf.compat.v1.feature_column.input_layer({"word": [["a", "a"], ["b", ""]]}, dense).numpy().tolist()
        [[2.0, 0.0], [0.0, 1.0]]
    """
    if not isinstance(categorical_column, CategoricalColumn):
        raise ValueError(f"Unsupported input type. Input must be a CategoricalColumn. Given: {categorical_column}")
    return IndicatorColumn(categorical_column)


def initializer_of(
    dimension: int, ckpt_to_load_from: Any, tensor_name_in_ckpt: Any, initializer: Any, of_column: str = ""
) -> Any:
    """Checks the arguments of embeddings, and returns the initializer."""
    if dimension is None or dimension < 1:
        raise ValueError(f"Invalid dimension {dimension}.")
    if (ckpt_to_load_from is None) != (tensor_name_in_ckpt is None):
        raise ValueError("Must specify both `ckpt_to_load_from` and `tensor_name_in_ckpt` or none of them.")
    if initializer is not None and not callable(initializer):
        raise ValueError(f"initializer must be callable if specified.{of_column}")
    return initializer or initializers.TruncatedNormal(0.0, 1 / math.sqrt(dimension))


def embedding_column(
    categorical_column: Any, dimension: int, combiner: str = "mean", initializer: Callable[..., Any] | None = None,
    ckpt_to_load_from: str | None = None, tensor_name_in_ckpt: str | None = None, max_norm: float | None = None,
    trainable: bool = True, use_safe_embedding_lookup: bool = True,
) -> Any:  # fmt: skip
    """Creates a column of rows of a table, one for each category.

    Args:
        categorical_column: the column of the categories.
        dimension: an int, the length of a row.
        combiner: the reduction of an example's rows: "mean" (the default), "sqrtn" or "sum".
        initializer: an initializer of the table; by default a truncated normal distribution.
        ckpt_to_load_from, tensor_name_in_ckpt: strings, a checkpoint with the table's first value, and the value's name
            in it.
        max_norm: a float; rows with a larger Euclidean norm are scaled down to it. None for no limit.
        trainable: whether the table is trained; True by default.
        use_safe_embedding_lookup: whether examples without categories get zeros; True by default.

    Returns:
        A dense column.

    Raises:
        ValueError: the dimension is below 1, an argument on the checkpoint is missing, or the initializer is no
            function.

    Example:
        >>> words = tf.feature_column.categorical_column_with_identity("word", 3)
        >>> ones = tf.compat.v1.ones_initializer()
        >>> column = tf.feature_column.embedding_column(words, 2, "sum", ones)
        >>> tf.compat.v1.feature_column.input_layer({"word": [[0, 2]]}, column).numpy().tolist()
        [[2.0, 2.0]]
    """
    of_column = f" Embedding of column_name: {categorical_column.name}" if initializer is not None else ""
    initializer = initializer_of(dimension, ckpt_to_load_from, tensor_name_in_ckpt, initializer, of_column)
    return EmbeddingColumn(
        categorical_column, dimension, combiner, initializer, ckpt_to_load_from, tensor_name_in_ckpt, max_norm,
        trainable, use_safe_embedding_lookup,
    )  # fmt: skip


def check_shared(categorical_columns: Iterable[Any], name: str | None) -> tuple[int, str]:
    """Checks the columns that are to share a table.

    Args:
        categorical_columns: a list of categorical columns.
        name: a string, the name of the table; by default made of the columns' names.

    Returns:
        The number of rows, and the name.
    """
    columns = sorted(categorical_columns, key=lambda column: column.name)
    buckets = columns[0].num_buckets
    if not isinstance(columns[0], CategoricalColumn):
        raise ValueError(
            "All categorical_columns must be subclasses of CategoricalColumn. "
            f"Given: {columns[0]}, of type: {type(columns[0])}"
        )
    first, *others = [_innermost(column) for column in columns]
    for column in others:
        if not isinstance(column, type(first)):
            raise ValueError(
                "To use shared_embedding_column, all categorical_columns must have the same type, or be "
                f"weighted_categorical_column or sequence column of the same type. Given column: {first} of type: "
                f"{type(first)} does not match given column: {column} of type: {type(column)}"
            )
        if buckets != column.num_buckets:
            raise ValueError(
                "To use shared_embedding_column, all categorical_columns must have the same number of buckets. "
                f"Given column: {first} with buckets: {buckets} does  not match column: {column} with buckets: "
                f"{column.num_buckets}"
            )
    return buckets, name or "_".join(column.name for column in columns) + "_shared_embedding"


def _innermost(column: Any) -> Any:
    while isinstance(column, (WeightedCategoricalColumn, SequenceCategoricalColumn)):
        column = column.categorical_column
    return column


def shared_embeddings(
    categorical_columns: Sequence[Any], dimension: int, combiner: str = "mean",
    initializer: Callable[..., Any] | None = None, shared_embedding_collection_name: str | None = None,
    ckpt_to_load_from: str | None = None, tensor_name_in_ckpt: str | None = None, max_norm: float | None = None,
    trainable: bool = True, use_safe_embedding_lookup: bool = True,
) -> list[SharedEmbeddingColumn]:  # fmt: skip
    """Creates columns of rows of one table, which they share.

    Args:
        categorical_columns: a list of categorical columns of one kind with the same number of categories.
        shared_embedding_collection_name: a string, the name of the table; by default made of the columns' names.
        dimension, combiner, initializer, ckpt_to_load_from, tensor_name_in_ckpt: see `embedding_column`.
        max_norm, trainable, use_safe_embedding_lookup: see `embedding_column`.

    Returns:
        A list of dense columns.

    Raises:
        RuntimeError: no graph is being built: the columns are for graphs of TensorFlow 1.
        ValueError: the columns are of different kinds, or an argument is invalid.

    Example:
        >>> watched = tf.feature_column.categorical_column_with_identity("watched", 3)
        >>> liked = tf.feature_column.categorical_column_with_identity("liked", 3)
        >>> with tf.Graph().as_default():
        ...     columns = tf.feature_column.shared_embeddings([watched, liked], 2)
        >>> [column.name for column in columns]
        ['watched_shared_embedding', 'liked_shared_embedding']
    """
    if executing_eagerly():
        raise RuntimeError("shared_embedding_columns are not supported when eager execution is enabled.")
    initializer = initializer_of(dimension, ckpt_to_load_from, tensor_name_in_ckpt, initializer)
    buckets, name = check_shared(categorical_columns, shared_embedding_collection_name)
    create = SharedEmbeddingColumnCreator(
        dimension, initializer, ckpt_to_load_from, tensor_name_in_ckpt, buckets, trainable, name,
        use_safe_embedding_lookup,
    )  # fmt: skip
    return [create(column, combiner, max_norm) for column in categorical_columns]
