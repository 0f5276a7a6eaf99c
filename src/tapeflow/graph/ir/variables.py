"""Variables of graphs. Sessions hold their values, graphs do not."""

from __future__ import annotations

from typing import Any

from tapeflow.core.context import state
from tapeflow.core.fork_locks import new_rlock
from tapeflow.core.ops.convert import convert
from tapeflow.core.types.dtypes import DType, bool_
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.tensor import next_id
from tapeflow.core.values.variable import ResourceVariable, Variable, VariableAggregation, VariableSynchronization
from tapeflow.graph.ir.operation import GraphOp, variable_in


def without_value(dtype: DType, shape: Any, name: str, trainable: bool = True) -> Variable:
    """Returns an uninitialized variable.

    Args:
        dtype: its dtype.
        shape: its static shape.
        name: its name, without `:0`.
        trainable: True if tapes watch it.
    """
    variable: Variable = object.__new__(ResourceVariable)
    variable._dtype = dtype
    variable._id = next_id()
    variable._lock = new_rlock()
    variable._name = name
    variable._shape = TensorShape(shape)
    variable._trainable = trainable
    variable._constraint = None
    variable._synchronization = VariableSynchronization.AUTO
    variable._aggregation = VariableAggregation.NONE
    variable._tape_value = None
    return variable


def has_value(variable: Variable) -> bool:
    """Returns True if the variable is initialized."""
    return hasattr(variable, "_value")


def is_initialized(variable: Variable | SymbolicTensor) -> SymbolicTensor:
    """Returns a boolean scalar of the current graph: True if the variable, or its handle, has a value at run time."""
    op = GraphOp("VarIsInitializedOp", lambda handle: convert(has_value(variable_in(handle))).value)
    return state.graph.node(op, [variable], [(bool_, [])]).outputs[0]
