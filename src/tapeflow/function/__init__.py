"""`tf.function`: Python functions as graphs."""

from tapeflow.function.concrete import ConcreteFunction
from tapeflow.function.function import Function, function

__all__ = ["ConcreteFunction", "Function", "function"]
