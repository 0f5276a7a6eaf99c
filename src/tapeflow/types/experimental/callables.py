"""Abstract classes of functions of tensors."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from typing import Any

from tapeflow.function.atomic import AtomicFunction as InnerFunction
from tapeflow.function.concrete import ConcreteFunction as TracedFunction
from tapeflow.function.function import Function
from tapeflow.function.function_type import FunctionType


class Callable(metaclass=ABCMeta):
    """A function of tensors: a `tf.function` or a concrete function.

    Example:
        >>> double = tf.function(lambda x: x * 2)
        >>> isinstance(double, tf.types.experimental.Callable)
        True
    """

    @property
    @abstractmethod
    def function_type(self) -> FunctionType:
        """The parameters of the function."""

    @abstractmethod
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the function."""


class PolymorphicFunction(Callable):
    """A function that is traced for each type of its arguments, as by `tf.function`. Also `GenericFunction`.

    Example:
        >>> double = tf.function(lambda x: x * 2)
        >>> isinstance(double, tf.types.experimental.GenericFunction)
        True
    """

    @abstractmethod
    def get_concrete_function(self, *args: Any, **kwargs: Any) -> ConcreteFunction:
        """Returns the trace for arguments of these types."""

    @abstractmethod
    def experimental_get_compiler_ir(self, *args: Any, **kwargs: Any) -> Any:
        """Returns a function that returns the compiler's output for the trace of these arguments."""


GenericFunction = PolymorphicFunction


class ConcreteFunction(Callable):
    """A function for one type of each argument.

    Example:
        >>> double = tf.function(lambda x: x * 2).get_concrete_function(tf.TensorSpec([2]))
        >>> isinstance(double, tf.types.experimental.ConcreteFunction)
        True
    """

    @property
    @abstractmethod
    def inference_fn(self) -> AtomicFunction:
        """The function of flat tensors, those that it captures included."""


class AtomicFunction(Callable):
    """The inner function of a concrete one, which captures nothing.

    Example:
        >>> double = tf.function(lambda x: x * 2).get_concrete_function(tf.TensorSpec([2]))
        >>> isinstance(double.inference_fn, tf.types.experimental.AtomicFunction)
        True
    """

    @abstractmethod
    def call_with_captures(self, args: Any, kwargs: Any, captures: Any) -> Any:
        """Calls it with structured arguments and the captured tensors."""


AtomicFunction.register(InnerFunction)
PolymorphicFunction.register(Function)
ConcreteFunction.register(TracedFunction)
