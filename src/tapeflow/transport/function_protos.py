"""Functions as messages: graphs as TensorFlow's `FunctionDef`s."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tensorboard.compat.proto import function_pb2

from tapeflow.graph.graphdef.export import FunctionWriter
from tapeflow.graph.graphdef.import_graph import Builder
from tapeflow.graph.graphdef.node_protos import ParsedNode, function_of, in_order
from tapeflow.graph.ir.func_graph import FuncGraph
from tapeflow.graph.ir.positions import Position, Positions
from tapeflow.graph.transform.body import Body


class _Nowhere(Positions):
    """Finds no positions: the operations of a function that came from another process have none here."""

    def here(self, depth: int) -> Position | None:
        return None


def definitions_of(body: Body) -> list[bytes]:
    """Returns a function of all inputs of a body, and the functions that it calls, as `FunctionDef`s."""
    writer = FunctionWriter()
    writer.add("main", body)
    return [f.SerializeToString() for f in writer.library.values()]


def graph_of(name: str, definitions: Sequence[Any], inputs: Callable[[FuncGraph], Sequence[Any]]) -> FuncGraph:
    """Returns the graph of a function that came as a message.

    Args:
        name: the graph's name.
        definitions: the result of `definitions_of`, as string tensors.
        inputs: adds the graph's arguments and captures, in the order of the function's, and returns them.

    Raises:
        NotFoundError, UnimplementedError, ValueError: it can't run here.
    """
    protos = [function_pb2.FunctionDef.FromString(d.value[()]) for d in definitions]
    library = {proto.signature.name: proto for proto in protos}
    definition = function_of(library["main"])
    graph = FuncGraph(name)
    graph._positions = _Nowhere()
    builder = Builder(graph, library)
    with graph.as_default():
        tensors = inputs(graph)
        builder.values.update((a, [t]) for a, t in zip(definition.arguments, tensors, strict=True))
        builder.add(in_order(definition.nodes, definition.arguments))
        result = ParsedNode("result", "", [], [], {})
        graph.outputs = [graph.as_output(builder.tensor(result, o), graph.name) for o in definition.outputs]
    graph.structured_outputs = list(graph.outputs)
    return graph
