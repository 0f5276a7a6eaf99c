"""The public `tf.graph_util` namespace."""
