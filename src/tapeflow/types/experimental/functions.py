"""What counts as a function of tensors."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from typing import Any

from tapeflow.function.concrete import ConcreteFunction as TracedFunction
from tapeflow.function.function import Function


class Callable(metaclass=ABCMeta):
    """A function of tensors: what `tf.function` gives, and its concrete functions.

    Example:
        >>> double = tf.function(lambda x: x * 2)
        >>> isinstance(double, tf.types.experimental.Callable)
        True
    """

    @abstractmethod
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls it."""


class PolymorphicFunction(Callable):
    """A function that is traced for each kind of its arguments: what `tf.function` gives. Also `GenericFunction`.

    Example:
        >>> double = tf.function(lambda x: x * 2)
        >>> isinstance(double, tf.types.experimental.GenericFunction)
        True
    """

    @abstractmethod
    def get_concrete_function(self, *args: Any, **kwargs: Any) -> ConcreteFunction:
        """Returns the trace for arguments like these."""


GenericFunction = PolymorphicFunction


class ConcreteFunction(Callable):
    """A function for one kind of arguments.

    Example:
        >>> double = tf.function(lambda x: x * 2).get_concrete_function(tf.TensorSpec([2]))
        >>> isinstance(double, tf.types.experimental.ConcreteFunction)
        True
    """


PolymorphicFunction.register(Function)
ConcreteFunction.register(TracedFunction)
