"""The functions that create columns of sequences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tapeflow.core.types.aliases import DTypeLike, TensorLike
from tapeflow.core.types.dtypes import as_dtype, float32, string
from tapeflow_compat.feature_column import columns
from tapeflow_compat.feature_column.categorical import SequenceCategoricalColumn
from tapeflow_compat.feature_column.dense import SequenceNumericColumn


def sequence_numeric_column(
    key: str, shape: int | Sequence[int] = (1,), default_value: TensorLike = 0.0, dtype: DTypeLike = float32,
    normalizer_fn: Callable[[Any], Any] | None = None,
) -> Any:  # fmt: skip
    """Creates a column of sequences of numbers.

    Args:
        key: a string, the feature's key and the column's name.
        shape: an int or a sequence of ints, the shape of one step; `(1,)` by default.
        default_value: a scalar, the padding up to the length of the longest sequence; 0.0 by default.
        dtype: the feature's dtype; float32 by default.
        normalizer_fn: a function of the feature, a sparse tensor, applied first; or None.

    Returns:
        A column of sequences.

    Raises:
        TypeError: a dimension is no integer.
        ValueError: a dimension is below 1, or the dtype is not numeric.

    Example:
        >>> column = tf.feature_column.sequence_numeric_column("x")
        >>> features = {"x": tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [5.0, 6.0, 7.0], [2, 2])}
        >>> cache = tf.__internal__.feature_column.FeatureTransformationCache(features)
        >>> steps, lengths = column.get_sequence_dense_tensor(cache, None)
        >>> steps.numpy().tolist(), lengths.numpy().tolist()
        ([[[5.0], [6.0]], [[7.0], [0.0]]], [2, 1])
    """
    dims, as_type = columns.shape_of_example(shape, key), as_dtype(dtype)
    columns.check_numbers(as_type, key, normalizer_fn)
    return SequenceNumericColumn(key, dims, default_value, as_type, normalizer_fn)


def sequence_categorical_column_with_hash_bucket(key: str, hash_bucket_size: int, dtype: DTypeLike = string) -> Any:
    """Creates a column of sequences of hashes, see `tf.feature_column.categorical_column_with_hash_bucket`.

    Args:
        key: a string, the feature's key and the column's name.
        hash_bucket_size: an int, the number of categories.
        dtype: the feature's dtype, string (the default) or an integer dtype.

    Returns:
        A categorical column, for `embedding_column` and `indicator_column`.

    Raises:
        ValueError: an argument is invalid.

    Example:
        >>> tf.feature_column.sequence_categorical_column_with_hash_bucket("word", 10).num_buckets
        10
    """
    return SequenceCategoricalColumn(columns.categorical_column_with_hash_bucket(key, hash_bucket_size, dtype))


def sequence_categorical_column_with_vocabulary_file(
    key: str, vocabulary_file: str, vocabulary_size: int | None = None, num_oov_buckets: int = 0,
    default_value: int | None = None, dtype: DTypeLike = string,
) -> Any:  # fmt: skip
    """Creates a column of sequences of lines, see `tf.feature_column.categorical_column_with_vocabulary_file`.

    Args:
        key: a string, the feature's key and the column's name.
        vocabulary_file: a path, a text file with one word a line, or a compressed file of records.
        vocabulary_size: an int, the number of lines to use; None for all.
        num_oov_buckets: an int, the number of further categories for other words; 0 by default.
        default_value: an int, the category of other words; by default -1, no category.
        dtype: the words' dtype; string by default.

    Returns:
        A categorical column, for `embedding_column` and `indicator_column`.

    Raises:
        ValueError: an argument is invalid, or there is no such file.

    Example:
        >>> import os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "words.txt")
        >>> tf.io.write_file(path, "yes\\nno\\n")
        >>> tf.feature_column.sequence_categorical_column_with_vocabulary_file("word", path).num_buckets
        2
    """
    return SequenceCategoricalColumn(
        columns.categorical_column_with_vocabulary_file(
            key, vocabulary_file, vocabulary_size, dtype, default_value, num_oov_buckets
        )
    )


def sequence_categorical_column_with_vocabulary_list(
    key: str, vocabulary_list: Sequence[Any], dtype: DTypeLike = None, default_value: int = -1, num_oov_buckets: int = 0
) -> Any:
    """Creates a column of sequences of words, see `tf.feature_column.categorical_column_with_vocabulary_list`.

    Args:
        key: a string, the feature's key and the column's name.
        vocabulary_list: a list of distinct strings or integers.
        dtype: the dtype of the feature; by default the list's dtype.
        default_value: an int, the category of other words; by default -1, no category.
        num_oov_buckets: an int, the number of further categories for other words; 0 by default.

    Returns:
        A categorical column, for `embedding_column` and `indicator_column`.

    Raises:
        ValueError: an argument is invalid.

    Example:
        >>> tf.feature_column.sequence_categorical_column_with_vocabulary_list("word", ["yes", "no"]).num_buckets
        2
    """
    return SequenceCategoricalColumn(
        columns.categorical_column_with_vocabulary_list(key, vocabulary_list, dtype, default_value, num_oov_buckets)
    )


def sequence_categorical_column_with_identity(key: str, num_buckets: int, default_value: int | None = None) -> Any:
    """Creates a column of sequences of categories, see `tf.feature_column.categorical_column_with_identity`.

    Args:
        key: a string, the feature's key and the column's name.
        num_buckets: an int, the number of categories, the integers from 0 to `num_buckets - 1`.
        default_value: an int, the category of other integers; None if there are none.

    Returns:
        A categorical column, for `embedding_column` and `indicator_column`.

    Raises:
        ValueError: an argument is invalid.

    Example:
        >>> words = tf.feature_column.sequence_categorical_column_with_identity("word", 3)
        >>> column = tf.feature_column.indicator_column(words)
        >>> features = {"word": tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [2, 0, 1], [2, 2])}
        >>> cache = tf.__internal__.feature_column.FeatureTransformationCache(features)
        >>> steps, lengths = column.get_sequence_dense_tensor(cache, None)
        >>> steps.shape, lengths.numpy().tolist()
        (TensorShape([2, 2, 3]), [2, 1])
    """
    return SequenceCategoricalColumn(columns.categorical_column_with_identity(key, num_buckets, default_value))
