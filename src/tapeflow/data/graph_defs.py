"""Datasets as TensorFlow's GraphDefs, which another process can run: no code travels, and nothing is pickled.

The graph creates the dataset and returns its variant. Tensors that functions capture are constants in it. Variables and
tables are nodes with their values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from google.protobuf.message import DecodeError, Message
from tensorboard.compat.proto import graph_pb2

from tapeflow.array.identities import identity_op
from tapeflow.core.context import state
from tapeflow.core.errors import NotFoundError, UnimplementedError
from tapeflow.core.farmhash import fingerprint64
from tapeflow.core.fork_locks import cached_property
from tapeflow.core.ops.convert import convert
from tapeflow.core.types.dtypes import resource, string, variant
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.tensor import EagerTensor
from tapeflow.core.values.trackable import CHECKPOINT, SAVED_MODEL, Trackable
from tapeflow.core.values.variable import Variable
from tapeflow.data.functions import MappedFunction
from tapeflow.data.node import Node, structure_node
from tapeflow.graph.graphdef.export import graph_def
from tapeflow.graph.graphdef.import_graph import add_graph_def, create_operation
from tapeflow.graph.ir.func_graph import FuncGraph
from tapeflow.graph.ir.graph import Graph
from tapeflow.graph.ir.python_op import executing_eagerly
from tapeflow.graph.transform.body import Body
from tapeflow.lookup.table_ops import Table, empty_like, fill
from tapeflow.lookup.tables import LookupTable
from tapeflow.tracking.resources import saved_functions
from tapeflow.transport.calls import from_bytes, to_bytes

if TYPE_CHECKING:
    from tapeflow.graph.ir.operation import Operation

_RESULT = "dataset"


def message_of(node: Node) -> bytes:
    """Returns a pipeline as a message: its GraphDef, and the spec of its elements.

    Raises:
        UnimplementedError: it calls Python, or holds objects of this process.
    """
    return to_bytes([convert(graph_def_of(node).SerializeToString(), string), node.spec])


def node_of(message: bytes) -> Node:
    """Returns the pipeline that a message holds.

    Raises:
        UnimplementedError: it can't run in this process.
        ValueError: it is no such message.
    """
    try:
        data, spec = from_bytes(message)
        proto = graph_pb2.GraphDef.FromString(data.value[()])
    except (AttributeError, DecodeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"This is no message of a dataset: {error}") from error
    return structure_node(_node_of_graph_def(proto), spec)


def fingerprint(node: Node) -> int:
    """Returns a hash of a pipeline's GraphDef. Pipelines built in the same way share it."""
    return fingerprint64(graph_def_of(node, runs=False).SerializeToString(deterministic=True))


def _node_of_graph_def(proto: Message) -> Node:
    """Returns the pipeline that a GraphDef of `graph_def_of` creates, with flat elements.

    Raises:
        UnimplementedError: it can't run in this process.
        ValueError: it creates no dataset.
    """
    graph = FuncGraph(_RESULT)
    try:
        with executing_eagerly(), graph.as_default():
            graph.outputs = list(add_graph_def(proto, return_elements=[f"{_RESULT}:0"], name="") or ())
        graph.structured_outputs = graph.outputs
        with executing_eagerly():
            (value,) = Body(graph).compiled()
    except (NotFoundError, ValueError) as error:
        raise UnimplementedError.of(
            f"A function of the dataset can't travel to another process, as it calls Python there: {error}"
        ) from error
    return value[()]


def graph_def_of(node: Node, runs: bool = True) -> Any:
    """Returns the GraphDef of a pipeline.

    Args:
        node: its last node, outside of graphs.
        runs: whether another process shall run it.

    Raises:
        UnimplementedError: it calls Python, or holds objects of this process.
    """
    graph = _SelfContained(_RESULT)
    with executing_eagerly(), graph.as_default():
        writer = _Writer(graph, runs)
        identity_op(writer.node(node).variant, name=_RESULT)
        return graph_def(graph)


class _SelfContained(FuncGraph):
    """A graph without captures."""

    def _from_eager(self, tensor: EagerTensor, name: str = "") -> SymbolicTensor:
        return Graph._from_eager(self, tensor, name)


class DatasetResource(Trackable):
    """A dataset in a SavedModel, with a function that creates it again.

    Args:
        node: its last node.
    """

    def __init__(self, node: Node) -> None:
        self.node = node

    @cached_property
    def _saved_functions(self) -> dict[str, Any]:
        return saved_functions(lambda: _Writer(state.graph, copies=False).node(self.node).variant, lambda: None)

    def _trackable_children(self, save_type: str = CHECKPOINT, **kwargs: Any) -> dict[str, Any]:
        return self._saved_functions if save_type == SAVED_MODEL else {}


class _Writer:
    """Adds datasets that exist now to a graph, as operations.

    Args:
        graph: the graph.
        runs: whether another process shall run it.
        copies: whether variables and tables have their values in the graph; else the graph captures them.
    """

    def __init__(self, graph: FuncGraph, runs: bool = True, copies: bool = True) -> None:
        self._graph, self._runs, self._copies = graph, runs, copies
        self._nodes: dict[int, tuple[Node, Node]] = {}
        self._captures: dict[int, tuple[Any, Any]] = {}

    def node(self, node: Node) -> Node:
        """Returns the node of the graph for another node."""
        if node.is_view:
            return self.node(node.inputs[0])
        if id(node) not in self._nodes:
            if self._runs and not node.is_op():
                raise _stays_error(node)
            copy: Node = node.over([self.node(i) for i in node.operands()])
            copy.graph, copy.symbolic = self._graph, None
            for name, function in node.functions().items():
                copy.__dict__[name] = function.with_captures([self._captured(c, function) for c in function._captured])
            self._nodes[id(node)] = node, copy
        return self._nodes[id(node)][1]

    def _captured(self, value: Any, function: MappedFunction) -> Any:
        """Returns the tensor of the graph for a tensor or variable that a function captures."""
        if id(value) not in self._captures:
            self._captures[id(value)] = value, self._added(value)
        return self._captures[id(value)][1]

    def _added(self, value: Any) -> Any:
        if hasattr(value, "_read"):
            return self._variable(value) if self._copies else value
        if not isinstance(value, EagerTensor) or value.dtype not in (resource, variant):
            return value
        content = value.value[()]
        if isinstance(content, Node):
            return self.node(content).variant
        if not self._copies:
            return value
        if isinstance(content, (LookupTable, Table)):
            table = empty_like(content.storage).outputs[0]
            if content.storage.filled:
                self._before(fill(table, *map(convert, content.storage.export())))
            return table
        if not self._runs:
            return value
        raise _stays_error(content)

    def _variable(self, variable: Variable) -> Any:
        with executing_eagerly():
            value = variable.value()
        handle = self._graph.handle_of(variable, "VarHandleOp")
        self._before(create_operation(self._graph, "AssignVariableOp", [handle, convert(value)], {}, None))
        return handle

    def _before(self, operation: Operation) -> None:
        """Has later operations run after one."""
        self._graph._control.append([operation])


def _stays_error(value: Any) -> UnimplementedError:
    return UnimplementedError.of(f"A dataset with a {type(value).__name__} can't travel to another process.")
