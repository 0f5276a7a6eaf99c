"""Changes of variables in a program, as a module of torch makes them: in place, unseen by autograd."""

from __future__ import annotations

from typing import Any

import torch

from tapeflow.core.values.variable import _add_delta, _assign_value, _subtract_delta
from tapeflow.graph.ir.operation import variable_of
from tapeflow.graph.program.program import Step
from tapeflow.graph.transform.body import Body

METHODS = {
    _assign_value: "copy_",
    _add_delta: "add_",
    _subtract_delta: "sub_",
}  # torch's, by the kernels of assignments


def is_change(step: Step) -> bool:
    """Returns True if a step assigns to a variable."""
    return not step.registered and step.op.kernel in METHODS and variable_of(step.args[0]) is not None


def changed_variables(body: Body) -> list[Any]:
    """Returns the variables that a function changes, and those that the functions that it calls do."""
    variables = []
    for operation in body.graph._operations:
        if operation.op.kernel in METHODS and operation.args:
            variables.append(variable_of(operation.args[0]))
        for inner in getattr(operation.op, "bodies", {}).values():
            variables += changed_variables(inner)
    return variables


def change(variable: torch.Tensor, method: str, value: torch.Tensor) -> None:
    """Changes a buffer or parameter in place, unseen by autograd."""
    with torch.no_grad():
        getattr(variable, method)(value)
