"""Graphs of operations in program order, their transforms, and the Python functions compiled from them."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from tapeflow.core.hooks import hooks


def _later(module: str, function: str) -> Callable[..., Any]:
    """Returns a function of a module in this folder. The module loads at the first call: the compiler, or code for
    TensorFlow's protocol buffers."""

    def call(*args: Any) -> Any:
        return getattr(import_module(f"{__name__}.{module}"), function)(*args)

    return call


hooks.form_when_run = _later("ir.deferred_ops", "form")
hooks.graph_def = _later("graphdef.export", "graph_def")
hooks.node_def = _later("graphdef.export", "node_def")
hooks.create_operation = _later("graphdef.importing", "create_operation")
hooks.op_def_proto = _later("graphdef.definitions", "op_def_proto")
hooks.graph_def_versions = _later("graphdef.definitions", "versions")
hooks.value_now = _later("codegen.compile", "value_now")
