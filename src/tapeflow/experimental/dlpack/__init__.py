"""The public `tf.experimental.dlpack` namespace: tensors in DLPack capsules, for other libraries."""

from tapeflow.experimental.dlpack.capsules import from_dlpack, to_dlpack

__all__ = ["from_dlpack", "to_dlpack"]
__dir__ = __all__.copy
