"""The public `tf.types.experimental` namespace: types of values and functions."""

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

__all__ = [
    "AtomicFunction", "Callable", "ConcreteFunction", "FunctionType", "GenericFunction", "PolymorphicFunction",
    "SupportsTracingProtocol", "TensorLike", "TraceType", "distributed",
]  # fmt: skip
__dir__ = __all__.copy
