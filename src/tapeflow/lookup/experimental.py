"""The public `tf.lookup.experimental` namespace: tables that change."""

from tapeflow.lookup.mutable import DenseHashTable, MutableHashTable

__all__ = ["DenseHashTable", "MutableHashTable"]
__dir__ = __all__.copy
