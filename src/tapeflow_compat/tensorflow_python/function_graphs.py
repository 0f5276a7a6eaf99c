"""The graphs of functions that a `FunctionDef` holds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.core.types.shape import TensorShape
from tapeflow.graph.graphdef.import_graph import Builder
from tapeflow.graph.graphdef.node_protos import function_of, shape_of
from tapeflow.graph.ir.func_graph import FuncGraph
from tapeflow.graph.ir.graph import Graph, current_graph


def function_def_to_graph(
    fdef: Any, structured_input_signature: Any = None, structured_outputs: Any = None,
    input_shapes: Sequence[Any] | None = None, propagate_device_spec: bool = False,
    include_library_functions: bool = False,
) -> FuncGraph:  # fmt: skip
    """Returns the graph of a function. Functions that it calls come from the default graph.

    Args:
        fdef: a `FunctionDef`.
        structured_input_signature, structured_outputs: the signature of the graph, or None.
        input_shapes: the shapes of the arguments, by default those in the `FunctionDef`.
        propagate_device_spec, include_library_functions: accepted, and without effect.

    Raises:
        ValueError: the number of shapes differs from the number of arguments.
    """
    function = function_of(fdef)
    written = [shape_of(shape) for shape in fdef.attr["_input_shapes"].list.shape]
    shapes = list(input_shapes or written or [None] * len(function.dtypes))
    if len(shapes) != len(function.dtypes):
        raise ValueError(
            f"Length of `input_shapes` must match the number of `input_arg`s in `fdef`. Got {len(shapes)} "
            f"`input_shapes` and {len(function.dtypes)} `input_arg`s."
        )
    outer = Graph()
    with outer.as_default():
        arguments = [outer.placeholder(dtype, None) for dtype in function.dtypes]
    library = {f.signature.name: f for f in current_graph().as_graph_def().library.function}
    shapes = [TensorShape(None) if shape is None else TensorShape(shape) for shape in shapes]
    graph = Builder(outer, library).func_graph(function, arguments, shapes, [None] * len(arguments))
    graph.structured_input_signature = structured_input_signature
    if structured_outputs is not None:
        graph.structured_outputs = structured_outputs
    return graph
