# Written by `scripts/record.py stubs`.
from tapeflow.types.experimental.callables import AtomicFunction as AtomicFunction
from tapeflow.types.experimental.callables import Callable as Callable
from tapeflow.types.experimental.callables import ConcreteFunction as ConcreteFunction
from tapeflow.types.experimental.callables import FunctionType as FunctionType
from tapeflow.types.experimental.callables import GenericFunction as GenericFunction
from tapeflow.types.experimental.callables import PolymorphicFunction as PolymorphicFunction
from tapeflow.types.experimental.tracing import SupportsTracingProtocol as SupportsTracingProtocol
from tapeflow.types.experimental.tracing import TensorLike as TensorLike
from tapeflow.types.experimental.tracing import TraceType as TraceType
from tapeflow.types.experimental import distributed as distributed
