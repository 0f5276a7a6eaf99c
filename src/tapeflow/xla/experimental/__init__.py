"""The public `tf.xla.experimental` namespace: older forms of `tf.function(jit_compile=True)`."""

from tapeflow.core.public_names import publish as _publish
from tapeflow.xla.experimental.compile_function import compile, jit_scope

_publish(globals())
