"""TFLite forms of variables that a function changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tapeflow.core.types.dtypes import resource
from tapeflow.lite.forms.gather_scatter import tensor_scatter
from tapeflow.lite.program import LiteTensor, lite_dtype
from tapeflow.lite.table import FORMS, form

if TYPE_CHECKING:
    from tapeflow.lite.lower import LoweredCall, Writer


def _add_handle(w: Writer, variable: LiteTensor) -> LiteTensor:
    """Adds the handle of a variable."""
    return w.add("VAR_HANDLE", [], [], resource, container="", sharedName=w.file.assigned_name(variable))


def read(w: Writer, variable: LiteTensor) -> LiteTensor:
    """Adds a read of a variable."""
    shape = tuple(variable.shape)
    return w.add("READ_VARIABLE", [_add_handle(w, variable)], shape, lite_dtype(variable.dtype))


def assign(w: Writer, variable: LiteTensor, value: LiteTensor) -> list[Any]:
    """Adds an assignment."""
    w.add_many("ASSIGN_VARIABLE", [_add_handle(w, variable), value], [])
    return []


@form("AssignAddVariableOp", "AssignSubVariableOp")
def _assign_add(w: Writer, call: LoweredCall, variable: LiteTensor, value: LiteTensor) -> list[Any]:
    code = "ADD" if call.operation.type == "AssignAddVariableOp" else "SUB"
    old = read(w, variable)
    return assign(w, variable, w.add(code, [old, value], old.shape))


_SCATTERS = {f"ResourceScatter{nd}{kind}": nd for nd in ("", "Nd") for kind in ("Add", "Sub", "Update")}


@form(*_SCATTERS)
def _lower_scatter(
    w: Writer, call: LoweredCall, variable: LiteTensor, indices: LiteTensor, updates: LiteTensor
) -> list[Any]:
    kind = call.operation.type
    if not _SCATTERS[kind]:
        indices = w.reshape(indices, [*indices.shape, 1])
    name = f"TensorScatter{kind.removeprefix('ResourceScatter').removeprefix('Nd')}"
    return assign(w, variable, tensor_scatter(w, name, read(w, variable), indices, updates))


FORMS.update({
    "AssignVariableOp": lambda w, call, variable, value: assign(w, variable, value),
    "ReadVariableOp": lambda w, call, variable: read(w, variable),
})  # fmt: skip
