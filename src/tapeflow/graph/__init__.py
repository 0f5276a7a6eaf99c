"""Graphs of operations in program order, their transforms, and the Python functions compiled from them."""

from __future__ import annotations

from tapeflow.core.hooks import hooks, later

hooks.form_when_run = later("tapeflow.graph.ir.deferred_ops", "form")
hooks.graph_def = later("tapeflow.graph.graphdef.export", "graph_def")
hooks.node_def = later("tapeflow.graph.graphdef.export", "node_def")
hooks.create_operation = later("tapeflow.graph.graphdef.import_graph", "create_operation")
hooks.op_def_proto = later("tapeflow.graph.graphdef.export", "op_def_proto")
hooks.graph_def_versions = later("tapeflow.graph.graphdef.export", "versions")
hooks.with_attention = later("tapeflow.graph.transform.attention", "with_attention")
hooks.value_now = later("tapeflow.graph.codegen.compile", "value_now")
hooks.one_by_one = later("tapeflow.graph.codegen.compile", "one_by_one")
hooks.compiled_kernel = later("tapeflow.graph.compiler.clusters", "compiled_kernel")
hooks.wide_code = later("tapeflow.graph.compiler.target", "wide_code")
