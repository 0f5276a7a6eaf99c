"""Abstract classes of functions of tensors."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from typing import Any

from tapeflow.function.concrete import ConcreteFunction as TracedFunction
from tapeflow.function.function import Function


class Callable(metaclass=ABCMeta):
    """A function of tensors: a `tf.function`, or one of its concrete functions.

    Example:
        >>> double = tf.function(lambda x: x * 2)
        >>> isinstance(double, tf.types.experimental.Callable)
        True
    """

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


GenericFunction = PolymorphicFunction


class ConcreteFunction(Callable):
    """A function for one type of each argument.

    Example:
        >>> double = tf.function(lambda x: x * 2).get_concrete_function(tf.TensorSpec([2]))
        >>> isinstance(double, tf.types.experimental.ConcreteFunction)
        True
    """


PolymorphicFunction.register(Function)
ConcreteFunction.register(TracedFunction)
