"""`tf.function`: Python functions as graphs."""

from tapeflow.core.values.trackable import function_types
from tapeflow.function.concrete import ConcreteFunction
from tapeflow.function.function import Function, function

__all__ = ["ConcreteFunction", "Function", "function"]

function_types.extend([Function, ConcreteFunction])
