"""Tables that datasets fill: public in `tf.data.experimental`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from tapeflow.core.types.aliases import DTypeLike, TensorLike
from tapeflow.core.types.dtypes import as_dtype, string
from tapeflow.lookup.initializers import DatasetInitializer
from tapeflow.lookup.tables import StaticHashTable, StaticVocabularyTable
from tapeflow.strings.hash_buckets import to_hash_bucket_strong

if TYPE_CHECKING:
    from tapeflow.data.dataset import Dataset


class HasherSpec(NamedTuple):
    """The hash of words that are not in a table.

    Attributes:
        hasher: "fasthash" or "stronghash".
        key: two integers, the key of "stronghash".
    """

    hasher: str
    key: Any


FastHashSpec = HasherSpec("fasthash", None)


class _HashedTable(StaticVocabularyTable):
    """A vocabulary with a hash to choose."""

    def __init__(self, initializer: Any, num_oov_buckets: int, key_dtype: Any, hasher: HasherSpec) -> None:
        if not isinstance(hasher, HasherSpec):
            raise TypeError(f"`hasher_spec` must be of type HasherSpec, got {type(hasher)}.")
        super().__init__(initializer, num_oov_buckets, key_dtype)
        self._hasher = hasher

    def _bucket(self, words: Any) -> Any:
        if self._hasher.hasher == "fasthash":
            return super()._bucket(words)
        return to_hash_bucket_strong(words, self._num_oov_buckets, self._hasher.key)


def table_from_dataset(
    dataset: Dataset | None = None,
    num_oov_buckets: int = 0,
    vocab_size: int | None = None,
    default_value: TensorLike | None = None,
    hasher_spec: HasherSpec = FastHashSpec,
    key_dtype: DTypeLike = string,
    name: str | None = None,
) -> StaticHashTable | StaticVocabularyTable:
    """Creates a static table of the pairs of keys and values that a dataset yields.

    Args:
        dataset: a dataset of pairs of scalars: keys and values.
        num_oov_buckets: an int, the number of buckets for missing keys; their numbers follow the table's size. The
            default is 0.
        vocab_size: an int, the number of pairs to read; None for all.
        default_value: a scalar, the value of missing keys, used if there are no buckets.
        hasher_spec: the hash of missing keys.
        key_dtype: the dtype of the keys that are looked up: string or an integer one. The default is string.

    Returns:
        A `tf.lookup.StaticVocabularyTable` if there are buckets, else a `tf.lookup.StaticHashTable`.

    Raises:
        ValueError: `num_oov_buckets` is negative, `vocab_size` not positive, or keys are no strings or integers.
        TypeError: there are buckets, and `hasher_spec` is no `HasherSpec`.

    Example:
        >>> ds = tf.data.Dataset.zip((tf.data.Dataset.from_tensor_slices(["a", "b"]), tf.data.Dataset.range(2)))
        >>> table = tf.data.experimental.table_from_dataset(ds, default_value=-1)
        >>> table.lookup(tf.constant(["b", "c"])).numpy().tolist()
        [1, -1]
    """
    pairs: Any = dataset
    initializer = DatasetInitializer(pairs if not vocab_size else pairs.take(vocab_size))
    return table_of_numbers(initializer, num_oov_buckets, vocab_size, default_value, hasher_spec, key_dtype)


def table_of_numbers(
    initializer: Any, num_oov_buckets: int, vocab_size: int | None, default_value: Any, hasher_spec: HasherSpec,
    key_dtype: DTypeLike,
) -> StaticHashTable | StaticVocabularyTable:  # fmt: skip
    """Returns the table that an initializer fills, with the other arguments of `table_from_dataset`."""
    dtype = as_dtype(key_dtype)
    if num_oov_buckets < 0:
        raise ValueError(f"`num_oov_buckets` must be greater than or equal to 0, got {num_oov_buckets}.")
    if vocab_size is not None and vocab_size < 1:
        raise ValueError(f"`vocab_size` must be greater than 0, got {vocab_size}.")
    if not dtype.is_integer and dtype is not string:
        raise ValueError(f"`key_dtype` must be either an integer or string type, got {key_dtype}.")
    if num_oov_buckets:
        return _HashedTable(initializer, num_oov_buckets, dtype, hasher_spec)
    return StaticHashTable(initializer, -1 if default_value is None else default_value)


def index_table_from_dataset(
    dataset: Dataset | None = None,
    num_oov_buckets: int = 0,
    vocab_size: int | None = None,
    default_value: TensorLike = -1,
    hasher_spec: HasherSpec = FastHashSpec,
    key_dtype: DTypeLike = string,
    name: str | None = None,
) -> StaticHashTable | StaticVocabularyTable:
    """Creates a static table from the elements of a dataset to their numbers.

    Args:
        dataset: a dataset of scalars.
        num_oov_buckets: an int, the number of buckets for missing keys; their numbers follow the table's size. The
            default is 0.
        vocab_size: an int, the number of elements to read; None for all.
        default_value: the number of missing keys, used if there are no buckets; -1 by default.
        hasher_spec: the hash of missing keys.
        key_dtype: the dtype of the keys that are looked up: string or an integer one. The default is string.

    Returns:
        A `tf.lookup.StaticVocabularyTable` if there are buckets, else a `tf.lookup.StaticHashTable`.

    Raises:
        ValueError: `num_oov_buckets` is negative, `vocab_size` not positive, or keys are no strings or integers.
        TypeError: there are buckets, and `hasher_spec` is no `HasherSpec`.

    Example:
        >>> ds = tf.data.Dataset.from_tensor_slices(["a", "b"])
        >>> table = tf.data.experimental.index_table_from_dataset(ds, num_oov_buckets=2)
        >>> table.lookup(tf.constant(["b", "c"])).numpy().tolist()
        [1, 2]
    """
    keys: Any = dataset
    pairs = keys.enumerate().map(lambda number, key: (key, number))
    return table_from_dataset(pairs, num_oov_buckets, vocab_size, default_value, hasher_spec, key_dtype, name)
