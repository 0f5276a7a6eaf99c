"""The definitions of ops, and the version of graphs, as TensorFlow's messages."""

from __future__ import annotations

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
        _describe(proto.input_arg.add(), argument)
    for argument in definition.outputs:
        _describe(proto.output_arg.add(), argument)
    for attr in definition.attrs.values():
        _describe_attr(proto.attr.add(), attr)
    return proto


def _describe(proto: Any, argument: ArgDef) -> None:
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
