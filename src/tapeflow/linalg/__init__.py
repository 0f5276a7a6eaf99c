"""The public `tf.linalg` namespace."""

from tapeflow.linalg.products import matmul
