"""The public `tf.linalg.experimental` namespace."""

from tapeflow.core.public_names import publish as _publish
from tapeflow.linalg.experimental.conjugate_gradient import conjugate_gradient

_publish(globals())
