"""Names of `lookup_ops`: tables of words and their numbers, made in one call."""

from __future__ import annotations

from typing import Any

from tapeflow.core.ops.convert import convert
from tapeflow.core.types.aliases import DTypeLike, TensorLike
from tapeflow.core.types.dtypes import as_dtype, int64, string
from tapeflow.lookup.from_dataset import FastHashSpec as FastHashSpec
from tapeflow.lookup.from_dataset import HasherSpec as HasherSpec
from tapeflow.lookup.from_dataset import table_of_numbers
from tapeflow.lookup.initializers import KeyValueTensorInitializer, TextFileIndex, TextFileInitializer
from tapeflow.lookup.initializers import TableInitializer as TableInitializerBase  # noqa: F401
from tapeflow.lookup.tables import LookupTable as InitializableLookupTableBaseV1  # noqa: F401
from tapeflow.lookup.tables import StaticHashTable
from tapeflow.lookup.tables import StaticVocabularyTable as IdTableWithHashBuckets  # noqa: F401
from tapeflow.math.casting import cast


class StrongHashSpec(HasherSpec):
    """A hash that others can't predict.

    Args:
        key: two integers.

    Raises:
        ValueError: the key is no list of two integers.
    """

    __slots__ = ()

    def __new__(cls, key: Any) -> StrongHashSpec:
        if len(key) != 2:
            raise ValueError(f"`key` must have size 2, received {key}")
        if not all(type(part) is int for part in key):
            raise TypeError(f"Invalid key {key}. Must be unsigned integer values.")
        return super().__new__(cls, "stronghash", key)


class TextFileStringTableInitializer(TextFileInitializer):
    """Fills a table with the numbers of lines and the lines."""

    def __init__(
        self, filename: Any, key_column_index: int = TextFileIndex.LINE_NUMBER,
        value_column_index: int = TextFileIndex.WHOLE_LINE, vocab_size: int | None = None, delimiter: str = "\t",
        name: str | None = None,
    ) -> None:  # fmt: skip
        super().__init__(filename, int64, key_column_index, string, value_column_index, vocab_size, delimiter, name)


class TextFileIdTableInitializer(TextFileInitializer):
    """Fills a table with lines and their numbers."""

    def __init__(
        self, filename: Any, key_column_index: int = TextFileIndex.WHOLE_LINE,
        value_column_index: int = TextFileIndex.LINE_NUMBER, vocab_size: int | None = None, delimiter: str = "\t",
        name: str | None = None, key_dtype: Any = string,
    ) -> None:  # fmt: skip
        super().__init__(filename, key_dtype, key_column_index, int64, value_column_index, vocab_size, delimiter, name)


def index_table_from_file(
    vocabulary_file: Any = None, num_oov_buckets: int = 0, vocab_size: int | None = None, default_value: Any = -1,
    hasher_spec: HasherSpec = FastHashSpec, key_dtype: DTypeLike = string, name: str | None = None,
    key_column_index: int = TextFileIndex.WHOLE_LINE, value_column_index: int = TextFileIndex.LINE_NUMBER,
    delimiter: str = "\t",
) -> Any:  # fmt: skip
    """Creates a table from the lines of a file to their numbers.

    Args:
        vocabulary_file: the path of the file.
        num_oov_buckets: an int, the number of buckets for other keys.
        vocab_size: an int, the number of lines to read; None for all.
        default_value: the number of other keys, used if there are no buckets.
        hasher_spec: the hash of other keys.
        key_dtype: the dtype of the keys: string or an integer one.
        key_column_index, value_column_index, delimiter: see `tf.lookup.TextFileInitializer`.

    Raises:
        ValueError: there is no file, or a number is negative.
    """
    if vocabulary_file is None or (isinstance(vocabulary_file, str) and not vocabulary_file):
        raise ValueError("`vocabulary_file` must be specified and must not be empty.")
    of_file = string if key_dtype == string else int64
    initializer = TextFileIdTableInitializer(
        vocabulary_file, key_column_index, value_column_index, vocab_size, delimiter, key_dtype=of_file
    )
    return table_of_numbers(initializer, num_oov_buckets, vocab_size, default_value, hasher_spec, key_dtype)


def index_table_from_tensor(
    vocabulary_list: Any, num_oov_buckets: int = 0, default_value: Any = -1, hasher_spec: HasherSpec = FastHashSpec,
    dtype: DTypeLike = string, name: str | None = None,
) -> Any:  # fmt: skip
    """Creates a table from words to their numbers.

    Args:
        vocabulary_list: a vector of strings or integers.
        num_oov_buckets: an int, the number of buckets for other keys.
        default_value: the number of other keys, used if there are no buckets.
        hasher_spec: the hash of other keys.
        dtype: the dtype of the keys.

    Raises:
        ValueError: there are no words, or of another dtype, or `num_oov_buckets` is negative.
    """
    if vocabulary_list is None:
        raise ValueError("`vocabulary_list` must be specified.")
    keys, dtype = convert(vocabulary_list), as_dtype(dtype)
    if keys.dtype.is_integer and dtype.is_integer:
        keys = cast(keys, int64)
    elif keys.dtype is not dtype:
        raise ValueError(f"Invalid `dtype`: Expected {dtype!r}, got {keys.dtype!r}.")
    initializer = KeyValueTensorInitializer(keys, list(range(keys.shape[0])), keys.dtype, int64)
    return table_of_numbers(initializer, num_oov_buckets, None, default_value, hasher_spec, dtype)


def index_to_string_table_from_file(
    vocabulary_file: Any, vocab_size: int | None = None, default_value: TensorLike = "UNK", name: str | None = None,
    key_column_index: int = TextFileIndex.LINE_NUMBER, value_column_index: int = TextFileIndex.WHOLE_LINE,
    delimiter: str = "\t",
) -> StaticHashTable:  # fmt: skip
    """Creates a table from numbers to the lines of a file, see `index_table_from_file`."""
    initializer = TextFileStringTableInitializer(
        vocabulary_file, key_column_index, value_column_index, vocab_size, delimiter
    )
    return StaticHashTable(initializer, default_value)


def index_to_string_table_from_tensor(
    vocabulary_list: Any, default_value: TensorLike = "UNK", name: str | None = None
) -> StaticHashTable:
    """Creates a table from numbers to words, see `index_table_from_tensor`."""
    words = convert(vocabulary_list, string)
    return StaticHashTable(KeyValueTensorInitializer(list(range(words.shape[0])), words, int64, string), default_value)
