"""The public `tf.xla.experimental` namespace: older forms of `tf.function(jit_compile=True)`."""

from tapeflow.xla.experimental.compile_function import compile, jit_scope

__all__ = ["compile", "jit_scope"]
__dir__ = __all__.copy
