"""The public `tf.compat.v1.lookup` namespace: tables that sessions initialize."""

from __future__ import annotations

from typing import Any

from tapeflow.array.identities import no_op
from tapeflow.lookup import tables
from tapeflow_compat.compat.v1 import names


class StaticHashTable(tables.StaticHashTable):
    """A table that never changes, see `tf.lookup.StaticHashTable`.

    Args:
        initializer: an initializer that fills the table, such as `tf.lookup.KeyValueTensorInitializer`.
        default_value: the value of keys that are not in the table.

    Example:
        >>> with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
        ...     prices = tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2])
        ...     table = tf.compat.v1.lookup.StaticHashTable(prices, -1)
        ...     ids = table.lookup(tf.constant(["b", "c"]))
        ...     sess.run(table.initializer)
        ...     print(sess.run(ids))
        [ 2 -1]
    """

    @property
    def initializer(self) -> Any:
        """The operation that fills it; it does nothing where the values were no tensors of a graph."""
        return no_op() if self._init_op is None else self._init_op


class StaticVocabularyTable(tables.StaticVocabularyTable):
    """A table from words to numbers, those unknown into buckets, see `tf.lookup.StaticVocabularyTable`.

    Args:
        initializer: an initializer that fills the table with the int64 numbers from 0; None for buckets alone.
        num_oov_buckets: an int, the number of buckets for other words.
        lookup_key_dtype: the dtype of words to look up; by default the key dtype of `initializer`.

    Example:
        >>> with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
        ...     words = tf.lookup.KeyValueTensorInitializer(["a", "b"], tf.constant([0, 1], tf.int64))
        ...     table = tf.compat.v1.lookup.StaticVocabularyTable(words, 1)
        ...     ids = table.lookup(tf.constant(["b", "c"]))
        ...     sess.run(table.initializer)
        ...     print(sess.run(ids))
        [1 2]
    """

    @property
    def initializer(self) -> Any:
        """The operation that fills the table with the vocabulary."""
        return no_op() if self._table is None or self._table._init_op is None else self._table._init_op


__getattr__ = names.finder("lookup")
