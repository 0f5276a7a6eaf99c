"""Variables of a graph that has no values for them: a session has."""

from __future__ import annotations

from typing import Any

from tapeflow.core.dtypes import DType
from tapeflow.core.shape import TensorShape
from tapeflow.core.tensor import next_id
from tapeflow.core.variable import Variable, VariableAggregation, VariableSynchronization


def without_value(dtype: DType, shape: Any, name: str, trainable: bool = True) -> Variable:
    """A variable that was declared and not initialized.

    Args:
        dtype: its dtype.
        shape: what is known of its shape.
        name: its name, without `:0`.
        trainable: whether tapes watch it.
    """
    made: Variable = object.__new__(Variable)
    made.dtype = dtype
    made._id = next_id()
    made._name = name
    made._shape = TensorShape(shape)
    made._trainable = trainable
    made._constraint = None
    made._synchronization = VariableSynchronization.AUTO
    made._aggregation = VariableAggregation.NONE
    made._tape_value = None
    return made


def held_by_session(variable: Variable) -> Variable:
    """What a session knows a graph's variable by: one of its own, without a value until it is initialized there."""
    made = without_value(variable.dtype, variable.shape, variable._name, variable._trainable)
    made._id = variable._id
    made._constraint = variable._constraint
    return made


def has_value(variable: Variable) -> bool:
    """Whether the variable was initialized."""
    return hasattr(variable, "_value")
