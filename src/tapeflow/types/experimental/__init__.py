"""The public `tf.types.experimental` namespace: types of values and functions."""

from tapeflow.core.public_names import publish as _publish
from tapeflow.types.experimental import distributed
from tapeflow.types.experimental.callables import (
    AtomicFunction,
    Callable,
    ConcreteFunction,
    FunctionType,
    GenericFunction,
    PolymorphicFunction,
)
from tapeflow.types.experimental.tracing import SupportsTracingProtocol, TensorLike, TraceType

_publish(globals(), "distributed")
