"""The protocol buffers that TensorBoard does not ship: those of checkpoints, examples, profiles and TensorFlow Serving.

`protos.proto` declares them, and `protos.binpb` has the same compiled. They are in a pool of their own, and each is an
attribute of this module.
"""

from __future__ import annotations

import pathlib
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory


def _compiled_pool() -> descriptor_pool.DescriptorPool:
    data = pathlib.Path(__file__).with_suffix(".binpb").read_bytes()
    compiled_pool = descriptor_pool.DescriptorPool()
    for file in descriptor_pb2.FileDescriptorSet.FromString(data).file:
        compiled_pool.AddSerializedFile(file.SerializeToString())
    return compiled_pool


pool = _compiled_pool()


def message_class(name: str) -> Any:
    """Returns the class of a message.

    Raises:
        AttributeError: `protos.proto` declares no such message.
    """
    try:
        return message_factory.GetMessageClass(pool.FindMessageTypeByName(f"tensorflow.{name}"))
    except KeyError:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None


def __getattr__(name: str) -> Any:
    return message_class(name)


def declare_message(name: str, **fields: tuple[int, Any]) -> Any:
    """Declares a message beside TensorBoard's own ones, which are types of its fields; returns its class.

    Args:
        name: the message's name.
        **fields: the number and the type of each field: `str`, `int`, a class of messages, or a list of the class for a
            repeated field.
    """
    field = descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(name=f"tapeflow/{name}.proto", syntax="proto3")
    message = file.message_type.add(name=name)
    for field_name, (number, kind) in fields.items():
        added = message.field.add(name=field_name, number=number, label=field.LABEL_OPTIONAL)
        if isinstance(kind, list):
            added.label, kind = field.LABEL_REPEATED, kind[0]
        if kind in (str, int):
            added.type = field.TYPE_STRING if kind is str else field.TYPE_INT32
        else:
            added.type, added.type_name = field.TYPE_MESSAGE, f".{kind.DESCRIPTOR.full_name}"
            file.dependency.append(kind.DESCRIPTOR.file.name)
            file.package = kind.DESCRIPTOR.file.package
    descriptor_pool.Default().AddSerializedFile(file.SerializeToString())
    descriptor = descriptor_pool.Default().FindMessageTypeByName(f"{file.package}.{name}")
    return message_factory.GetMessageClass(descriptor)
