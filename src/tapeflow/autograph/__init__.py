"""`tf.autograph`: Python's control flow, for tensors of a graph."""

from tapeflow.autograph import experimental
from tapeflow.autograph.api import set_verbosity, to_code, to_graph, trace

__all__ = ["experimental", "set_verbosity", "to_code", "to_graph", "trace"]
__dir__ = __all__.copy
