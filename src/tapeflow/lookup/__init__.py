"""The public `tf.lookup` namespace: tables from keys to values."""

from tapeflow.core.public_names import publish as _publish
from tapeflow.lookup import experimental
from tapeflow.lookup.initializers import KeyValueTensorInitializer, TextFileIndex, TextFileInitializer
from tapeflow.lookup.tables import StaticHashTable, StaticVocabularyTable

_publish(globals(), "experimental")
