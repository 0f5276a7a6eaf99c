"""The public `tf.nn.experimental` namespace."""

from tapeflow.nn.dropouts import general_dropout, stateless_dropout

__all__ = ["general_dropout", "stateless_dropout"]
__dir__ = __all__.copy
