"""The public `tf.types` namespace."""

from tapeflow.core.public_names import publish as _publish
from tapeflow.types import experimental

_publish(globals(), "experimental")
