"""The entry to TensorFlow's graph optimizer, for tools that hand it a graph before they convert it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tapeflow_compat.compat.v1.freezing import freeze

if TYPE_CHECKING:
    from google.protobuf.message import Message


def OptimizeGraph(
    config_proto: Message, metagraph: Any, verbose: bool = True, graph_id: bytes = b"graph_to_optimize",
    cluster: Any = None, strip_default_attributes: bool = False,
) -> Any:  # fmt: skip
    """Returns the graph of a `MetaGraphDef` with the nodes of called functions in the place of calls.

    TapeFlow optimizes graphs when it runs them. Apart from inlining, the graph stays unchanged whatever `config_proto`
    says.

    Returns:
        A `GraphDef`.
    """
    return freeze(metagraph.graph_def, {}, inline=True)
