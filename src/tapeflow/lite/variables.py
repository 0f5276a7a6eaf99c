"""Variables that functions change: a file assigns their first values once, before a signature runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.core.values.tensor import EagerTensor
from tapeflow.graph.ir.operation import variable_of
from tapeflow.lite.forms.resources import assign
from tapeflow.lite.lower import FileState, Writer, changes_variable
from tapeflow.lite.program import LiteOperator, Signature, Subgraph, lite_dtype


def assigned_variables(bodies: Sequence[Any]) -> dict[int, Any]:
    """Returns the variables that functions change, by their ids."""
    variables: dict[int, Any] = {}
    for body in bodies:
        handles = {id(t): variable_of(t) for t in body.inputs}
        _collect_variables(body, handles, variables)
    return variables


def _collect_variables(body: Any, handles: dict[int, Any], variables: dict[int, Any]) -> None:
    """Adds the variables that a body changes, whose handles are given by the ids of symbolic tensors."""
    for operation in body.graph.get_operations():
        if changes_variable(operation):
            handle = operation.inputs[0]
            variable = handles.get(id(handle), variable_of(handle))
            if variable is not None:
                variables[id(variable)] = variable
        op = operation.op
        for label, inner in getattr(op, "bodies", {}).items():
            values = operation.inputs[op.steering :]
            inputs = [values[p] for p in op.places[label]]
            pairs = zip(inner.inputs, inputs, strict=True)
            below = {id(t): handles.get(id(v), variable_of(v)) for t, v in pairs}
            _collect_variables(inner, below, variables)


def add_variables(signatures: Sequence[Signature], assigned: dict[int, Any], state: FileState) -> None:
    """Adds the first values of variables to a file: each signature begins with a call of their assignments."""
    initializer = Subgraph("initialize_variables")
    writer = Writer(initializer, state)
    for variable in assigned.values():
        value = EagerTensor(variable._value.value, variable.dtype).numpy()
        dtype = lite_dtype(variable.dtype)
        assign(writer, variable, writer.constant(value.astype(dtype.as_numpy_dtype), dtype))
    for signature in signatures:
        once = LiteOperator("CALL_ONCE", [], [], {"initSubgraphIndex": initializer})
        signature.subgraph.operators.insert(0, once)
