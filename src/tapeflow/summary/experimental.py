"""The public `tf.summary.experimental` namespace."""

from tapeflow.summary.summary_state import get_step, set_step
from tapeflow.summary.write_ops import summary_scope, write_raw_pb

__all__ = ["get_step", "set_step", "summary_scope", "write_raw_pb"]
__dir__ = __all__.copy
