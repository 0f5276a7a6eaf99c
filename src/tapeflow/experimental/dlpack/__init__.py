"""The public `tf.experimental.dlpack` namespace: tensors in DLPack capsules, for other libraries."""

from tapeflow.core.public_names import publish as _publish
from tapeflow.experimental.dlpack.capsules import from_dlpack, to_dlpack

_publish(globals())
