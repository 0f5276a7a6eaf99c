"""Tables made of datasets: public in `tf.data.experimental`."""

from __future__ import annotations

from typing import Any, NamedTuple

from tapeflow.core.types.dtypes import as_dtype, string
from tapeflow.lookup.initializers import DatasetInitializer
from tapeflow.lookup.tables import StaticHashTable, StaticVocabularyTable


class HasherSpec(NamedTuple):
    """How words that a table does not know are hashed.

    Attributes:
        hasher: "fasthash" or "stronghash".
        key: of the latter, two integers.
    """

    hasher: str
    key: Any


FastHashSpec = HasherSpec("fasthash", None)


class _HashedTable(StaticVocabularyTable):
    """A vocabulary with a choice of the hash."""

    def __init__(self, initializer: Any, num_oov_buckets: int, key_dtype: Any, hasher: HasherSpec) -> None:
        super().__init__(initializer, num_oov_buckets, key_dtype)
        self._hasher = hasher

    def _bucket(self, words: Any) -> Any:
        if self._hasher.hasher == "fasthash":
            return super()._bucket(words)
        from tapeflow.strings import to_hash_bucket_strong

        return to_hash_bucket_strong(words, self._num_oov_buckets, self._hasher.key)


def table_from_dataset(
    dataset: Any = None,
    num_oov_buckets: int = 0,
    vocab_size: int | None = None,
    default_value: Any = None,
    hasher_spec: Any = FastHashSpec,
    key_dtype: Any = string,
    name: str | None = None,
) -> Any:
    """A static table of the pairs of keys and values that a dataset gives.

    Args:
        dataset: of pairs of scalars.
        num_oov_buckets: how many buckets there are for keys that are not there; their numbers follow the table's size.
        vocab_size: how many pairs are taken; None for all.
        default_value: the value of keys that are not there, where there are no buckets.
        hasher_spec: how they are hashed.
        key_dtype: of the keys that are looked up: string or an integer one.

    Raises:
        ValueError: `num_oov_buckets` is negative, `vocab_size` not positive, or keys are no strings or integers.

    Example:
        >>> ds = tf.data.Dataset.zip((tf.data.Dataset.from_tensor_slices(["a", "b"]), tf.data.Dataset.range(2)))
        >>> table = tf.data.experimental.table_from_dataset(ds, default_value=-1)
        >>> table.lookup(tf.constant(["b", "c"])).numpy().tolist()
        [1, -1]
    """
    dtype = as_dtype(key_dtype)
    if num_oov_buckets < 0:
        raise ValueError(f"`num_oov_buckets` must be greater than or equal to 0, got {num_oov_buckets}.")
    if vocab_size is not None and vocab_size < 1:
        raise ValueError(f"`vocab_size` must be greater than 0, got {vocab_size}.")
    if not dtype.is_integer and dtype is not string:
        raise ValueError(f"`key_dtype` must be either an integer or string type, got {key_dtype}.")
    if vocab_size is not None:
        dataset = dataset.take(vocab_size)
    initializer = DatasetInitializer(dataset)
    if num_oov_buckets:
        return _HashedTable(initializer, num_oov_buckets, dtype, hasher_spec)
    return StaticHashTable(initializer, -1 if default_value is None else default_value)


def index_table_from_dataset(
    dataset: Any = None,
    num_oov_buckets: int = 0,
    vocab_size: int | None = None,
    default_value: Any = -1,
    hasher_spec: Any = FastHashSpec,
    key_dtype: Any = string,
    name: str | None = None,
) -> Any:
    """A static table from the elements of a dataset to their numbers.

    Args:
        dataset: of scalars.
        num_oov_buckets, vocab_size, default_value, hasher_spec, key_dtype: as for `table_from_dataset`.

    Raises:
        ValueError: as for `table_from_dataset`.

    Example:
        >>> ds = tf.data.Dataset.from_tensor_slices(["a", "b"])
        >>> table = tf.data.experimental.index_table_from_dataset(ds, num_oov_buckets=2)
        >>> table.lookup(tf.constant(["b", "c"])).numpy().tolist()
        [1, 2]
    """
    pairs = dataset.enumerate().map(lambda number, key: (key, number))
    return table_from_dataset(pairs, num_oov_buckets, vocab_size, default_value, hasher_spec, key_dtype, name)
