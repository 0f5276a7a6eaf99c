"""The public `tf.lookup` namespace: tables from keys to values."""

from tapeflow.lookup import experimental
from tapeflow.lookup.initializers import KeyValueTensorInitializer, TextFileIndex, TextFileInitializer
from tapeflow.lookup.tables import StaticHashTable, StaticVocabularyTable

__all__ = [
    "KeyValueTensorInitializer", "StaticHashTable", "StaticVocabularyTable", "TextFileIndex", "TextFileInitializer",
    "experimental",
]  # fmt: skip
__dir__ = __all__.copy
