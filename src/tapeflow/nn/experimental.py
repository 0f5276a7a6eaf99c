"""The public `tf.nn.experimental` namespace."""

