"""The public `tf.linalg` namespace."""

from tapeflow.linalg.contraction import einsum, tensordot
from tapeflow.linalg.products import cross, matmul, matvec
