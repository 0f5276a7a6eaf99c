"""Variables of graphs as `VariableDef` messages: the names of their operations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorboard.compat.proto.variable_pb2 import VariableDef

from tapeflow.core.values.variable import Variable
from tapeflow.graph.ir.operation import variable_of

if TYPE_CHECKING:
    from tapeflow.graph.ir.graph import Graph


def variable_def(variable: Variable, graph: Graph) -> Any:
    """Returns a variable of a graph as a `VariableDef` message: the names of its operations."""
    initializer = variable.initializer
    return VariableDef(
        variable_name=variable.name,
        initial_value_name=initializer.inputs[1].name,
        initializer_name=initializer.name,
        snapshot_name=graph.read_of(variable).name,
        is_resource=True,
        trainable=variable.trainable,
    )


def variable_of_def(graph: Graph, definition: Any, scope: str) -> Variable:
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
