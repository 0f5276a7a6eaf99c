"""The public `tf.sets` namespace: the rows of tensors as sets."""

from tapeflow.core.public_names import publish as _publish
from tapeflow_compat.sets.operations import difference, intersection, size, union

_publish(globals())
