"""The public `tf.types.experimental` namespace: what values look like to a trace, tensors, functions."""

from tapeflow.types.experimental import distributed
from tapeflow.types.experimental.functions import Callable, ConcreteFunction, GenericFunction, PolymorphicFunction
from tapeflow.types.experimental.tracing import SupportsTracingProtocol, TensorLike, TraceType
