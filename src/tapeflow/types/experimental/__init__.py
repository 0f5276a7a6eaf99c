"""The public `tf.types.experimental` namespace: what a value looks like to a trace, and what counts as a tensor."""

from tapeflow.types.experimental.tracing import SupportsTracingProtocol, TensorLike, TraceType
