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
