"""Ops that move and arrange elements; all public at the top level, `tf.reshape`."""

import tapeflow.array.sum_to_shape  # an op that no public name leads to
