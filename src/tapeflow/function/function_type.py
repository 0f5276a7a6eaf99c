"""The types of functions as programs see them: `tf.types.experimental.FunctionType`."""

from __future__ import annotations

import inspect
from abc import ABCMeta

from tapeflow.function.signature import FunctionType as TraceType


class FunctionType(inspect.Signature, metaclass=ABCMeta):
    """The parameters of a `tf.function`, or the parameter types of one of its concrete functions.

    Args:
        parameters: the parameters, `inspect.Parameter`s.
        return_annotation: the type of the result.

    Example:
        >>> double = tf.function(lambda x, k=2: x * k)
        >>> print(double.function_type)
        (x, k=2)
        >>> concrete = double.get_concrete_function(tf.TensorSpec([], tf.float32))
        >>> isinstance(concrete.function_type, tf.types.experimental.FunctionType)
        True
    """


FunctionType.register(TraceType)
