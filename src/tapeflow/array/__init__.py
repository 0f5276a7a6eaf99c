"""Ops that move and arrange elements; all public at the top level, `tf.reshape`."""
