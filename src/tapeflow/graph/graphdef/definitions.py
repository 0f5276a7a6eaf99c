"""The definitions of ops, and the version of graphs, as TensorFlow's messages."""

from __future__ import annotations

import itertools
from typing import Any

from tensorboard.compat.proto.op_def_pb2 import OpDef as OpDefProto
from tensorboard.compat.proto.versions_pb2 import VersionDef

from tapeflow.core.ops.op_def import ArgDef, AttrDef
from tapeflow.core.types.shape import TensorShape
from tapeflow.graph.graphdef.export import PRODUCER, set_attr
from tapeflow.graph.graphdef.node_protos import definition_of


def versions() -> VersionDef:
    """Returns the version of the graphs that are written."""
    return VersionDef(producer=PRODUCER)


def op_def_proto(name: str) -> OpDefProto:
    """Returns the definition of an op.

    Raises:
        NotFoundError: no op has that name.
    """
    definition = definition_of(name)
    proto = OpDefProto(name=name, is_stateful=definition.stateful, is_commutative=definition.commutative)
    for argument in definition.inputs:
        _describe_argument(proto.input_arg.add(), argument)
    for argument in definition.outputs:
        _describe_argument(proto.output_arg.add(), argument)
    for attr in definition.attrs.values():
        _describe_attr(proto.attr.add(), attr)
    return proto


def strip_default_attrs(graph_def: Any) -> None:
    """Removes the attrs with default values from the nodes of a graph and of its functions: readers with an older
    definition of an op refuse those that they don't know.
    """
    functions = graph_def.library.function
    own = {f.signature.name for f in functions}
    defaults: dict[str, dict[str, Any]] = {}
    for node in itertools.chain(graph_def.node, *[f.node_def for f in functions]):
        if node.op in own:
            continue
        if node.op not in defaults:
            attrs = op_def_proto(node.op).attr
            defaults[node.op] = {a.name: a.default_value for a in attrs if a.HasField("default_value")}
        default = defaults[node.op]
        for name in [name for name, value in node.attr.items() if name in default and value == default[name]]:
            del node.attr[name]


def _describe_argument(proto: Any, argument: ArgDef) -> None:
    proto.name, proto.is_ref = argument.name, argument.is_ref
    if argument.type is not None:
        proto.type = argument.type.as_datatype_enum
    for field in ("type_attr", "number_attr", "type_list_attr"):
        if getattr(argument, field):
            setattr(proto, field, getattr(argument, field))


def _describe_attr(proto: Any, attr: AttrDef) -> None:
    proto.name, proto.type = attr.name, attr.type
    if attr.has_default:
        set_attr(proto.default_value, TensorShape(attr.default) if attr.type == "shape" else attr.default)
    if attr.minimum is not None:
        proto.has_minimum, proto.minimum = True, attr.minimum
    if attr.allowed is not None:
        set_attr(proto.allowed_values, list(attr.allowed))
