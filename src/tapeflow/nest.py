"""The public `tf.nest` namespace: structures of lists, tuples, dictionaries and the like, nested in each other."""

from tapeflow.core.values.nest import assert_same_structure, flatten, is_nested, map_structure, pack_sequence_as

__all__ = ["assert_same_structure", "flatten", "is_nested", "map_structure", "pack_sequence_as"]
__dir__ = __all__.copy
