# Written by `scripts/record.py stubs`.
from tapeflow.lookup.initializers import KeyValueTensorInitializer as KeyValueTensorInitializer
from tapeflow.lookup.tables import StaticHashTable as StaticHashTable
from tapeflow.lookup.tables import StaticVocabularyTable as StaticVocabularyTable
from tapeflow.lookup.initializers import TextFileIndex as TextFileIndex
from tapeflow.lookup.initializers import TextFileInitializer as TextFileInitializer
from tapeflow.lookup import experimental as experimental
