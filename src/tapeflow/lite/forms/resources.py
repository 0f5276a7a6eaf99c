"""TFLite forms of variables that a function changes."""

from __future__ import annotations

from typing import Any

from tapeflow.core.types.dtypes import resource
from tapeflow.lite.program import LiteTensor, lite_dtype
from tapeflow.lite.table import form


def _handle(w: Any, variable: Any) -> LiteTensor:
    """Adds the handle of a variable."""
    return w.add("VAR_HANDLE", [], [], resource, container="", sharedName=w.file.assigned_name(variable))


def read(w: Any, variable: Any) -> LiteTensor:
    """Adds a read of a variable."""
    shape = tuple(variable.shape.as_list())
    return w.add("READ_VARIABLE", [_handle(w, variable)], shape, lite_dtype(variable.dtype))


def assign(w: Any, variable: Any, value: LiteTensor) -> list[Any]:
    """Adds an assignment."""
    w.add_many("ASSIGN_VARIABLE", [_handle(w, variable), value], [])
    return []


@form("ReadVariableOp")
def _read(w: Any, call: Any, variable: Any) -> LiteTensor:
    return read(w, variable)


@form("AssignVariableOp")
def _assign(w: Any, call: Any, variable: Any, value: LiteTensor) -> list[Any]:
    return assign(w, variable, value)


@form("AssignAddVariableOp", "AssignSubVariableOp")
def _assign_add(w: Any, call: Any, variable: Any, value: LiteTensor) -> list[Any]:
    code = "ADD" if call.operation.type == "AssignAddVariableOp" else "SUB"
    old = read(w, variable)
    return assign(w, variable, w.add(code, [old, value], old.shape))
