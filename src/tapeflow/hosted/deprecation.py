"""`tensorflow.python.util.deprecation`, as TensorBoard uses it: there are no such warnings here to be silenced."""

from contextlib import nullcontext as silence

__all__ = ["silence"]
