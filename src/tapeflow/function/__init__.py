"""`tf.function`: Python functions as graphs."""

from tapeflow.core.hooks import hooks
from tapeflow.core.values.trackable import function_types
from tapeflow.function.concrete import ConcreteFunction
from tapeflow.function.function import Function, compiled_function, function

__all__ = ["ConcreteFunction", "Function", "function"]

hooks.compiled_function = compiled_function
function_types.extend([Function, ConcreteFunction])
