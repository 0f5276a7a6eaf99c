"""The public `tf.debugging.experimental` namespace: dumps of what a program computes."""

from tapeflow.debugging.dump_settings import disable_dump_debug_info, enable_dump_debug_info

__all__ = ["disable_dump_debug_info", "enable_dump_debug_info"]
__dir__ = __all__.copy
