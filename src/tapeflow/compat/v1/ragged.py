"""`tf.compat.v1.ragged`: ragged tensors, and their values as sessions give them."""

from tapeflow.compat.v1 import names
from tapeflow.ragged.value import RaggedTensorValue

__all__ = ["RaggedTensorValue"]

__getattr__ = names.finder("ragged")
