"""The nodes of a `GraphDef`, of its graph and of the functions in its library, checked and in one form."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Container, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np
from tensorboard.compat.proto.attr_value_pb2 import AttrValue

from tapeflow.core import errors
from tapeflow.core.ops import op_def as op_defs
from tapeflow.core.ops.op_def import NO_DEFAULT, ArgDef, OpDef
from tapeflow.core.ops.sequences import datatype_name
from tapeflow.core.types.dtypes import DType, as_dtype
from tapeflow.core.types.shape import TensorShape
from tapeflow.graph.graphdef.builders import load_services

if TYPE_CHECKING:
    from google.protobuf.message import Message

Output = tuple[str, int]  # a node's name and the index of its output

_MOST_OUTPUTS = 1 << 16  # of a node with an attr for their number
_VALID_NAME = re.compile(r"[A-Za-z0-9._][A-Za-z0-9_.\\/>-]*")
# The fields of an AttrValue, by the type of the attr.
_FIELDS = {"int": "i", "float": "f", "bool": "b", "string": "s"}
_FIELDS |= {kind: kind for kind in ("type", "shape", "tensor", "func")}
_FIELD_NAMES = {field: kind for kind, field in _FIELDS.items()} | {"list": "list", "placeholder": "placeholder"}


def node_name(text: str) -> str:
    """Returns the name of the node in the text of an input, such as `node`, `node:1` and `^node`."""
    return text.removeprefix("^").partition(":")[0]


@dataclasses.dataclass(slots=True)
class ParsedNode:
    """A node.

    Attributes:
        name: its name.
        op: the name of its op.
        inputs: the outputs of other nodes that are its inputs.
        controls: the names of the nodes that run before it.
        attrs: `AttrValue`s by name.
        device: the name of its device.
        functions: the functions that it calls and that are not in the library, by the attr's name: those into which
            TensorFlow 1's control flow was converted.
    """

    name: str
    op: str
    inputs: list[Output]
    controls: list[str]
    attrs: Mapping[str, Any]
    device: str = ""
    functions: dict[str, LibraryFunction] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(slots=True)
class LibraryFunction:
    """A function.

    Attributes:
        name: its name.
        arguments: the names of its arguments.
        dtypes: the dtypes of its arguments.
        nodes: its nodes.
        outputs: its results.
        effects: the names of the nodes that run even if no result depends on them.
    """

    name: str
    arguments: list[str]
    dtypes: list[DType]
    nodes: list[ParsedNode]
    outputs: list[Output]
    effects: list[str] = dataclasses.field(default_factory=list)


# The attr of a `VarHandleOp` whose shared name is its node's, and gets the node's prefix.
NAMED_AFTER_NODE = "_named_after_node"


def without_identities(nodes: Mapping[str, ParsedNode], output: Output) -> Output:
    """Returns the output, or the argument, that identities pass on as an output."""
    while output[0] in nodes and nodes[output[0]].op == "Identity":
        output = nodes[output[0]].inputs[0]
    return output


def definition_of(op: str) -> OpDef:
    """Returns the definition of an op.

    Raises:
        NotFoundError: no op has the name.
    """
    with suppress(LookupError):
        return op_defs.get(op)
    for load in load_services:  # services declare the ops of TensorFlow that are not in `tf.raw_ops`
        load()
    try:
        return op_defs.get(op)
    except LookupError:
        raise errors.NotFoundError.of(
            f"Op type not registered {op!r}. Graphs may use TensorFlow's own ops, but no custom ones."
        ) from None


def nodes_of_graph(graph_def: Message) -> list[ParsedNode]:
    """Returns the nodes of a graph, in the order of the proto.

    Raises:
        ValueError: a name is not valid or not unique, or an input names no node.
    """
    nodes = []
    for proto in graph_def.node:
        inputs, controls = [], []
        for text in proto.input:
            if text.startswith("^"):
                controls.append(text[1:])
            elif controls:
                raise ValueError(f"Node '{proto.name}': Control dependencies must come after regular dependencies")
            else:
                inputs.append(_named_output(proto.name, text))
        nodes.append(ParsedNode(proto.name, proto.op, inputs, controls, proto.attr, proto.device))
    _check_names(nodes)
    return nodes


def _check_names(nodes: Sequence[ParsedNode], arguments: Iterable[str] = ()) -> None:
    """Raises a ValueError if a name is invalid or not unique, or names no node and none of `arguments`."""
    names = set(arguments)
    for node in nodes:
        if not _VALID_NAME.fullmatch(node.name):
            raise ValueError(f"Node '{node.name}': Node name contains invalid characters")
        if node.name in names:
            raise ValueError(f"Node '{node.name}' is not unique")
        names.add(node.name)
    for node in nodes:
        for name in [n for n, _ in node.inputs if n not in names]:
            raise ValueError(f"Node '{node.name}': Unknown input node '{name}'")
        for name in [n for n in node.controls if n not in names]:
            raise ValueError(f"Node '{node.name}': Unknown input node '^{name}'")


def _named_output(node: str, text: str) -> Output:
    """Returns the output that an input of a node in a graph names."""
    name, colon, index = text.rpartition(":")
    if not colon:
        return text, 0
    if not index.isdigit() or len(index) > 9:
        raise ValueError(f"Node '{node}': Input '{text}' is no output of a node: write 'name' or 'name:number'")
    return name, int(index)


def in_order(nodes: Sequence[ParsedNode], arguments: Iterable[str] = ()) -> list[ParsedNode]:
    """Returns nodes with each one after those that it depends on, and otherwise in their order.

    Args:
        nodes: the nodes.
        arguments: further names that they may depend on.

    Raises:
        ValueError: nodes depend on each other in a cycle.
    """
    by_name = {node.name: node for node in nodes}
    done = set(arguments)
    ordered: list[ParsedNode] = []
    for first in nodes:
        stack = [first]
        waiting = set()
        while stack:
            node = stack[-1]
            if node.name in done:
                stack.pop()
                continue
            missing = [n for n in _needed_nodes(node) if n not in done]
            if not missing:
                done.add(node.name)
                ordered.append(node)
                stack.pop()
            elif node.name in waiting and any(n in waiting for n in missing):
                raise ValueError(f"{_cycle_length(by_name, done)} nodes in a cycle")
            else:
                waiting.add(node.name)
                stack.extend(by_name[n] for n in reversed(missing))
    return ordered


def _needed_nodes(node: ParsedNode) -> list[str]:
    """Returns the names of the nodes that a node depends on."""
    return [*(n for n, _ in node.inputs), *node.controls]


def _cycle_length(by_name: Mapping[str, ParsedNode], done: set[str]) -> int:
    """Returns the number of nodes that wait for each other."""
    waiting = {n for n in by_name if n not in done}
    while True:
        ready = {n for n in waiting if not any(m in waiting for m in _needed_nodes(by_name[n]))}
        if not ready:
            return len(waiting)
        waiting -= ready


# ---- functions -------------------------------------------------------------------------------------------------------


def function_of(proto: Message) -> LibraryFunction:
    """Returns a `FunctionDef` as a `LibraryFunction`.

    Raises:
        ValueError: an input or a result names no output of the function's nodes.
        UnimplementedError: the function is generic in an argument.
    """
    name = proto.signature.name
    arguments = [arg.name for arg in proto.signature.input_arg]
    dtypes = []
    for arg in proto.signature.input_arg:
        if arg.type_attr or arg.number_attr or arg.type_list_attr:
            raise errors.UnimplementedError.of(
                f"Function {name!r} is generic in its argument {arg.name!r}: only functions of fixed dtypes can be "
                "imported"
            )
        dtypes.append(dtype_of(arg.type))
    protos = {node.name: node for node in proto.node_def}
    layouts: dict[str, dict[str, int]] = {}

    def resolve(text: str) -> Output:
        if text in arguments:
            return text, 0
        node, _, place = text.partition(":")
        label, _, index = place.partition(":")
        if node not in protos:
            raise ValueError(f"Function '{name}': '{text}' is the output of no node")
        if node not in layouts:
            layouts[node] = output_offsets(protos[node])
        if label not in layouts[node] or not (index or "0").isdigit():
            raise ValueError(f"Function '{name}': node '{node}' of op {protos[node].op} has no output '{place}'")
        return node, layouts[node][label] + int(index or 0)

    nodes = []
    for node in proto.node_def:
        inputs = [resolve(text) for text in node.input if not text.startswith("^")]
        controls = [text[1:] for text in node.input if text.startswith("^")]
        nodes.append(ParsedNode(node.name, node.op, inputs, controls, node.attr, node.device))
    _check_names(nodes, arguments)
    missing = [out.name for out in proto.signature.output_arg if out.name not in proto.ret]
    if missing:
        raise ValueError(f"Function '{name}': no node gives its result '{missing[0]}'")
    outputs = [resolve(proto.ret[out.name]) for out in proto.signature.output_arg]
    return LibraryFunction(name, arguments, dtypes, nodes, outputs, list(proto.control_ret.values()))


def output_offsets(proto: Message) -> dict[str, int]:
    """Returns the first index of each output of a `NodeDef`, by the output's name."""
    starts, count = {}, 0
    node, definition = ParsedNode(proto.name, proto.op, [], [], proto.attr), definition_of(proto.op)
    for out in definition.outputs:
        starts[out.name] = count
        count += tensor_count(node, definition, out)
    return starts


def tensor_count(node: ParsedNode, definition: OpDef, argument: ArgDef) -> int:
    """Returns the number of tensors that an input or an output of a node's op stands for."""
    if argument.number_attr:
        count: int = attr_of(node, definition, argument.number_attr)
        return count
    return len(attr_of(node, definition, argument.type_list_attr)) if argument.type_list_attr else 1


# ---- attrs -----------------------------------------------------------------------------------------------------------


def dtype_of(enum: int) -> DType:
    """Returns the dtype of a `DataType` enum.

    Raises:
        ValueError: no dtype has that number.
    """
    try:
        return as_dtype(enum).base_dtype
    except (TypeError, ValueError, KeyError):
        raise ValueError(f"{enum} is the number of no dtype") from None


def check_attrs(node: ParsedNode, definition: OpDef, prefix: str) -> None:
    """Checks that a node has the attrs that its op requires, of the right types.

    Raises:
        ValueError: an attr is missing or of another type.
    """
    for name in definition.attrs:
        kind = definition.attrs[name].type
        expected = "list" if kind.startswith("list(") else _FIELDS[kind]
        if name not in node.attrs:
            if definition.attrs[name].default is NO_DEFAULT and name not in node.functions:
                raise _missing_attr(node, definition, name, prefix)
            continue
        field = node.attrs[name].WhichOneof("value")
        if field is None and expected == "list":
            continue
        if field != expected:
            actual = _FIELD_NAMES.get(field, "none")
            raise ValueError(
                f"AttrValue had value with type '{actual}' when '{kind}' expected\n\t for attr '{name}'\n\t; NodeDef: "
                f"{{{{node {prefix}{node.name}}}}}; {definition.signature}"
            )


def _missing_attr(node: ParsedNode, definition: OpDef, name: str, prefix: str = "") -> ValueError:
    return ValueError(
        f"NodeDef missing attr '{name}' from {definition.signature}; NodeDef: {{{{node {prefix}{node.name}}}}}"
    )


def attr_of(node: ParsedNode, definition: OpDef, name: str) -> Any:
    """Returns an attr of a node, or the op's default, as a Python value.

    Raises:
        ValueError: there is neither.
    """
    attr = definition.attrs[name]
    if name not in node.attrs:
        default = attr.default
        if default is NO_DEFAULT:
            raise _missing_attr(node, definition, name)
        if attr.type == "shape":
            return TensorShape(None if default is None else [None if d < 0 else d for d in default])
        return tuple(default) if isinstance(default, list) else default
    value = node.attrs[name]
    if attr.type.startswith("list("):
        kind = attr.type[len("list(") : -1]
        return tuple([_python_value(kind, v) for v in getattr(value.list, _FIELDS[kind])])
    return _python_value(attr.type, getattr(value, _FIELDS[attr.type]))


def type_attr(dtype: DType) -> AttrValue:
    """Returns a dtype as the value of an attr."""
    return AttrValue(type=dtype.as_datatype_enum)


def unused_name(name: str, used: Container[str]) -> str:
    """Returns a name that is not in use: this one, with underscores behind it if necessary."""
    while name in used:
        name += "_"
    return name


def node_attr(node: ParsedNode, name: str) -> Any:
    """Returns the value of a node's attr, by the definition of its op."""
    return attr_of(node, definition_of(node.op), name)


def _python_value(kind: str, value: Any) -> Any:
    """Returns an attr's value as a Python value."""
    if kind == "type":
        return dtype_of(value)
    if kind == "string":
        try:
            return value.decode()
        except UnicodeDecodeError:
            return value
    if kind == "shape":
        return shape_of(value)
    if kind == "float":  # the number that a program wrote: 1e-05, not the float32 9.999999747378752e-06
        return float(str(np.float32(value)))
    return value


def shape_of(proto: Any) -> TensorShape:
    """Returns a `TensorShapeProto` as a shape.

    Raises:
        ValueError: a dimension is below -1.
    """
    if proto.unknown_rank:
        return TensorShape(None)
    for d in proto.dim:
        if d.size < -1:
            raise ValueError(
                f"Shape {[d.size for d in proto.dim]} has dimensions with values below -1 (where -1 means unknown)"
            )
    return TensorShape([None if d.size == -1 else d.size for d in proto.dim])


def output_dtypes(node: ParsedNode, definition: OpDef) -> list[Any]:
    """Returns the dtypes that the node's attrs specify for its outputs."""
    return _argument_dtypes(node, definition, definition.outputs, _MOST_OUTPUTS)


def _argument_dtypes(node: ParsedNode, definition: OpDef, arguments: Sequence[ArgDef], most: int) -> list[Any]:
    dtypes: list[Any] = []
    for argument in arguments:
        if argument.type_list_attr:
            dtypes.extend(attr_of(node, definition, argument.type_list_attr))
            continue
        dtype = attr_of(node, definition, argument.type_attr) if argument.type_attr else argument.type
        count = min(attr_of(node, definition, argument.number_attr), most) if argument.number_attr else 1
        dtypes.extend([dtype] * count)
    return dtypes


def check_inputs(node: ParsedNode, definition: OpDef, tensors: Sequence[Any], prefix: str) -> None:
    """Checks that a node's inputs have the number and dtypes that its attrs specify.

    Raises:
        ValueError: there are more or fewer inputs, or one has another dtype.
    """
    expected = _argument_dtypes(node, definition, definition.inputs, len(node.inputs) + 1)
    if len(expected) != len(tensors):
        names = ", ".join(map(datatype_name, expected))
        raise ValueError(
            f"NodeDef expected inputs '{names}' do not match {len(tensors)} inputs specified; {definition.signature}; "
            f"NodeDef: {{{{node {prefix}{node.name}}}}}"
        )
    for i, (dtype, tensor) in enumerate(zip(expected, tensors, strict=True)):
        if tensor.dtype is not dtype:
            raise ValueError(
                f"Input {i} of node {prefix}{node.name} was passed {datatype_name(tensor.dtype)} from {tensor.name} "
                f"incompatible with expected {datatype_name(dtype)}."
            )
