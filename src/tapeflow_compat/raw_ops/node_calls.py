"""Raw ops that are built like the nodes of a `GraphDef`: variables, tables, queues, control flow.

In a graph the builder of the op's nodes adds the operation. Eagerly, a function of the operation alone is
traced for each kind of inputs, and called.
"""

from __future__ import annotations

import typing
from collections.abc import Sequence

from tensorboard.compat.proto import attr_value_pb2

from tapeflow.core.context import state
from tapeflow.core.ops import decompositions, op_def
from tapeflow.core.types.dtypes import resource
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.variable import Variable
from tapeflow.graph.graphdef.builders import Build
from tapeflow.graph.graphdef.export import set_attr
from tapeflow.graph.graphdef.import_graph import Builder
from tapeflow.graph.graphdef.node_protos import LibraryFunction, ParsedNode
from tapeflow.graph.ir.func_graph import FuncGraph
from tapeflow.graph.transform.body import Body


class _Called(Builder):
    """Adds one node whose functions are concrete functions, given as attrs."""

    def body(self, node: ParsedNode, attr: str, *_: typing.Any) -> typing.Any:
        """Returns the body of the function that is an attr."""
        return node.attrs[attr].body

    def body_of(self, node: ParsedNode, function: typing.Any, *_: typing.Any, **__: typing.Any) -> typing.Any:
        """Returns the body of a function."""
        return function.body

    def function(self, node: ParsedNode, name: typing.Any) -> LibraryFunction:
        """Returns a function unchanged."""
        return name


class _Named(typing.NamedTuple):
    """A function in the place of its name."""

    name: typing.Any


class _Functions(typing.NamedTuple):
    """A list of functions in the place of an attr's proto."""

    func: Sequence[_Named]

    @property
    def list(self) -> _Functions:
        """The functions, as the field of a proto."""
        return self


def _attr(kind: str, value: typing.Any) -> typing.Any:
    """Returns an attr's value as graphs that are read have it."""
    if kind in ("func", "list(func)"):
        return value if kind == "func" else _Functions([_Named(f) for f in value])
    proto = attr_value_pb2.AttrValue()
    if kind == "tensor" and hasattr(value, "tensor_shape"):
        proto.tensor.CopyFrom(value)
    elif kind == "shape":
        set_attr(proto, TensorShape(value))
    elif kind == "list(shape)":
        set_attr(proto, [TensorShape(v) for v in value])
    else:
        set_attr(proto, value)
    return proto


def call(name: str, build: Build, arguments: dict[str, typing.Any], label: str | None) -> list[typing.Any]:
    """Calls the op of a builder.

    Args:
        name: the op.
        build: the builder of its nodes.
        arguments: its inputs and attrs, by their registered names.
        label: the operation's name.

    Returns:
        The outputs in one flat list, or the operation in a graph if there are none.
    """
    op = decompositions.unregistered_op(name)
    converted, types = op.convert_arguments(tuple([arguments[p] for p in op.params]))
    tensors = op.tensors(converted)
    attrs = {op.attr_names[p]: v for p, v in zip(op.params, converted, strict=True) if p in op.attr_names}
    for argument, value in zip(op.opdef.inputs, converted, strict=False):
        if argument.number_attr:
            attrs[argument.number_attr] = len(value)
    attrs |= types
    definition = op_def.get(name)
    protos = {
        n: _attr(definition.attrs[n].type, v) for n, v in attrs.items() if n in definition.attrs and v is not None
    }

    def added(graph: typing.Any, inputs: list[typing.Any]) -> tuple[typing.Any, list[typing.Any]]:
        node = ParsedNode(label or name, name, [], [], protos)
        built = build(_Called(graph, {}), node, inputs)
        operation, outputs = built if isinstance(built, tuple) else (built, () if built is None else built.outputs)
        return operation, list(outputs)

    if state.graph is not None:
        operation, outputs = added(state.graph, [state.graph.capture(t) for t in tensors])
        return outputs or ([] if operation is None else [operation])
    graph = FuncGraph(f"{name}_at_once")
    with graph.as_default():
        inputs = [_placeholder(graph, t) for t in tensors]
        _, graph.outputs = added(graph, inputs)
    return Body(graph).call([*[t for t in tensors if _variable(t) is None], *graph.external_captures])


def _variable(tensor: typing.Any) -> Variable | None:
    """Returns the variable whose handle a tensor is."""
    value = tensor.value[()] if tensor.dtype is resource else None
    return value if isinstance(value, Variable) else None


def _placeholder(graph: FuncGraph, tensor: typing.Any) -> typing.Any:
    variable = _variable(tensor)
    return graph.input(tensor, "input") if variable is None else graph.capture_variable(variable)
