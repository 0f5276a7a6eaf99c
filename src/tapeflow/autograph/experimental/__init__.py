"""The public `tf.autograph.experimental` namespace."""

from tapeflow.autograph.experimental.options import Feature, do_not_convert, set_loop_options

__all__ = ["Feature", "do_not_convert", "set_loop_options"]
__dir__ = __all__.copy
