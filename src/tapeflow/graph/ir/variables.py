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
from tapeflow.graph.ir.operation import GraphOp, variable_in, variable_of


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


def held_by_session(variable: Variable) -> Variable:
    """Returns a session's own copy of a graph's variable, without a value until it is initialized there."""
    own = without_value(variable.dtype, variable.shape, variable._name, variable._trainable)
    own._id = variable._id
    own._constraint = variable._constraint
    return own


def has_value(variable: Variable) -> bool:
    """Returns True if the variable is initialized."""
    return hasattr(variable, "_value")


def is_initialized(variable: Variable) -> SymbolicTensor:
    """Returns a boolean scalar of the current graph: True if the variable has a value at run time."""
    op = GraphOp("VarIsInitializedOp", lambda handle: convert(has_value(variable_in(handle))).value)
    return state.graph.node(op, [variable], [(bool_, [])]).outputs[0]


# ---- in files --------------------------------------------------------------------------------------------------------


def variable_def(variable: Any, graph: Any) -> Any:
    """Returns a variable of a graph as a `VariableDef` message: the names of its operations."""
    from tensorboard.compat.proto.variable_pb2 import VariableDef

    initializer = variable.initializer
    return VariableDef(
        variable_name=variable.name,
        initial_value_name=initializer.inputs[1].name,
        initializer_name=initializer.name,
        snapshot_name=graph.read_of(variable).name,
        is_resource=True,
        trainable=variable.trainable,
    )


def variable_of_def(graph: Any, definition: Any, scope: str) -> Variable:
    """Returns the variable of a `VariableDef` message. The graph must contain the operations that it names.

    Raises:
        ValueError: a name does not belong to an operation of a resource variable.
    """
    scope = f"{scope.rstrip('/')}/" if scope else ""
    try:
        handle = graph.as_graph_element(scope + definition.variable_name, allow_operation=False)
        initializer = graph.get_operation_by_name(scope + definition.initializer_name)
    except KeyError as error:
        raise ValueError(f"The graph has no variable {definition.variable_name}: {error}") from None
    name, source = handle.op.name, handle
    if handle.op.type == "ReadVariableOp":  # a reference variable has the same name as its value
        source = handle.op.inputs[0]
        initializer = next((c for c in initializer.control_inputs if c.type == "AssignVariableOp"), initializer)
    handle, variable = source, variable_of(source)
    if variable is None:
        raise ValueError(f"The graph has no variable {definition.variable_name}: that is the name of another operation")
    variable._graph, variable._trainable = graph, definition.trainable
    variable._name = name
    graph._constants[id(variable)] = variable, handle
    graph._own_variables[variable._id] = initializer
    return variable
