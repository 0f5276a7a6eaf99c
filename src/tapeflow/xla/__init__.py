"""The public `tf.xla` namespace."""

from tapeflow.core.public_names import publish as _publish
from tapeflow.xla import experimental

_publish(globals(), "experimental")
