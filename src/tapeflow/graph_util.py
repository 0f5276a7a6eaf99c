"""The public `tf.graph_util` namespace."""

from tapeflow.graph.graphdef.import_graph import import_graph_def

__all__ = ["import_graph_def"]
__dir__ = __all__.copy
