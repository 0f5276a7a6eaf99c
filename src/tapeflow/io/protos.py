"""Serialized protocol buffers of any type, to tensors of their fields and back."""

from __future__ import annotations

import functools
import pathlib
from collections import namedtuple
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory, text_format
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import DecodeError, Message

from tapeflow.core import errors, protos
from tapeflow.core.ops.definition import ops
from tapeflow.core.ops.raw_kernels import kernel_of
from tapeflow.core.types.aliases import DTypeLike, TensorLike
from tapeflow.core.types.dtypes import DType, bool_, float32, float64, int32, int64, string, uint32, uint64
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.strings import StringArray
from tapeflow.core.values.tensor import Tensor, invalid

_F = FieldDescriptor
# The dtypes that values of fields can have, by the fields' types. The first one holds all values exactly.
_DTYPES: dict[int, tuple[DType, ...]] = {
    **dict.fromkeys((_F.TYPE_INT32, _F.TYPE_SINT32, _F.TYPE_SFIXED32), (int32, int64)),
    **dict.fromkeys((_F.TYPE_INT64, _F.TYPE_SINT64, _F.TYPE_SFIXED64), (int64,)),
    **dict.fromkeys((_F.TYPE_UINT32, _F.TYPE_FIXED32), (uint32, int64, int32)),
    **dict.fromkeys((_F.TYPE_UINT64, _F.TYPE_FIXED64), (uint64, int64)),
    **dict.fromkeys((_F.TYPE_STRING, _F.TYPE_BYTES, _F.TYPE_MESSAGE, _F.TYPE_GROUP), (string,)),
    _F.TYPE_FLOAT: (float32, float64),
    _F.TYPE_DOUBLE: (float64,),
    _F.TYPE_BOOL: (bool_,),
    _F.TYPE_ENUM: (int32,),
}
_NAMES = {v: k.removeprefix("TYPE_").lower() for k, v in vars(_F).items() if k.startswith("TYPE_")}


@functools.lru_cache(maxsize=64)
def _message_type(name: str, source: str) -> Any:
    """Returns the class of a message.

    Args:
        name: its full name.
        source: "local://" for the messages of this process, the path of a file with a serialized `FileDescriptorSet`,
            or "bytes://" and the set itself.

    Raises:
        InvalidArgumentError: there is no such message, or no set.
    """
    if source in ("", "local://"):
        pools = [descriptor_pool.Default(), protos.pool]
    else:
        prefix = "bytes://"
        data = _text_bytes(source[len(prefix) :]) if source.startswith(prefix) else pathlib.Path(source).read_bytes()
        pools = [_descriptor_pool(data)]
    for pool in pools:
        try:
            return message_factory.GetMessageClass(pool.FindMessageTypeByName(name))
        except KeyError:
            continue
    raise invalid(f"No descriptor found for message type {name}")


def _text_bytes(text: str | bytes) -> bytes:
    return text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape")


def _descriptor_pool(data: bytes) -> descriptor_pool.DescriptorPool:
    try:
        files = descriptor_pb2.FileDescriptorSet.FromString(data)
    except DecodeError:
        raise invalid("Unable to parse the FileDescriptorSet of descriptor_source") from None
    pool = descriptor_pool.DescriptorPool()
    for file in files.file:
        pool.AddSerializedFile(file.SerializeToString())
    return pool


def _named_fields(descriptor: Descriptor, names: Sequence[str]) -> list[FieldDescriptor]:
    unknown = [n for n in names if n not in descriptor.fields_by_name]
    if unknown:
        raise invalid(f"Unknown field: {unknown[0]} in message type {descriptor.full_name}")
    return [descriptor.fields_by_name[n] for n in names]


def _field_items(message: Message, field: FieldDescriptor) -> list[Any]:
    """Returns the values that a message has for a field."""
    value = getattr(message, field.name)
    if not field.is_repeated:
        present = message.HasField(field.name) if field.has_presence else value != field.default_value
        value = [value] if present else []
    if field.message_type is not None:
        return [v.SerializeToString() for v in value]
    return [v.encode() if isinstance(v, str) else v for v in value]


def _field_default(field: FieldDescriptor, dtype: DType) -> Any:
    if dtype is string:
        value = field.default_value if not field.is_repeated and field.message_type is None else b""
        return value.encode() if isinstance(value, str) else value
    return 0 if field.is_repeated else field.default_value


def _field_column(rows: Sequence[Sequence[Any]], field: FieldDescriptor, dtype: DType, shape: Sequence[int]) -> Any:
    """Returns the values of a field of all messages, padded to the longest row, and at least to one value."""
    width = max(1, *map(len, rows)) if field.is_repeated else 1
    default = _field_default(field, dtype)
    flat = [v for row in rows for v in [*row, *[default] * (width - len(row))]]
    if dtype is string:
        return StringArray.of(flat, (*shape, width))
    numbers = np.array(flat, np.int64 if dtype is int32 else dtype.as_numpy_dtype).astype(dtype.as_numpy_dtype)
    return torch.from_numpy(numbers.reshape(*shape, width))


def _decode_shapes(texts: TensorShape, *args: Any) -> list[TensorShape]:
    count = len(args[1])
    return [texts.concatenate([count]), *[texts.concatenate([None])] * count]


@kernel_of("DecodeProtoV2", shape=_decode_shapes)
def _decode_messages(
    texts: StringArray, message_type: str, field_names: Sequence[str], output_types: Sequence[DType],
    descriptor_source: str, message_format: str, sanitize: bool,
) -> Any:  # fmt: skip
    if message_format not in ("binary", "text"):
        raise invalid("format must be one of binary or text")
    kind = _message_type(message_type, descriptor_source)
    fields = _named_fields(kind.DESCRIPTOR, field_names)
    for field, dtype in zip(fields, output_types, strict=True):
        if dtype not in _DTYPES[field.type]:
            raise invalid(f"Unexpected output type for {field.full_name}: {_NAMES[field.type]} to {dtype.name}")
    if not texts.size:
        raise invalid("Bufs argument must contain at least one value")
    messages = []
    for text in texts.reshape(-1).tolist():
        try:
            messages.append(kind.FromString(text) if message_format == "binary" else text_format.Parse(text, kind()))
        except DecodeError:
            raise errors.DataLossError.of("CountFields: Failed to consume entire buffer") from None
        except text_format.ParseError as error:
            raise errors.DataLossError.of(f"Unable to parse text protobuf: {error}") from None
    rows = [[_field_items(m, f) for m in messages] for f in fields]
    sizes = torch.tensor([[len(row) for row in column] for column in rows], dtype=torch.int32)
    columns = [_field_column(r, f, d, texts.shape) for r, f, d in zip(rows, fields, output_types, strict=True)]
    return sizes.t().reshape(*texts.shape, len(fields)), *columns


@kernel_of("EncodeProto", shape=lambda sizes, *_: sizes[:-1] if sizes.rank else TensorShape(None))
def _encode_messages(
    sizes: Any, values: Sequence[Any], field_names: Sequence[str], message_type: str, descriptor_source: str
) -> Any:
    kind = _message_type(message_type, descriptor_source)
    fields = _named_fields(kind.DESCRIPTOR, field_names)
    if not sizes.ndim or sizes.shape[-1] != len(fields):
        raise invalid(f"sizes.shape[-1] = {sizes.shape[-1] if sizes.ndim else 0} != len(field_names) = {len(fields)}")
    shape = tuple(sizes.shape[:-1])
    counts = sizes.reshape(-1, len(fields)).tolist()
    columns = [v.reshape(len(counts), -1).tolist() for v in values]
    texts = []
    for i, row in enumerate(counts):
        message = kind()
        for field, count, column in zip(fields, row, columns, strict=True):
            if count > len(column[i]):
                raise invalid(f"Size {count} for field {field.name} is larger than its values: {len(column[i])}")
            _set_field(message, field, column[i][:count])
        texts.append(message.SerializeToString())
    return StringArray.of(texts, shape)


def _set_field(message: str, field: FieldDescriptor, values: Sequence[Any]) -> None:
    """Sets a field of a message."""
    if field.message_type is not None:
        for value in values:
            target = getattr(message, field.name)
            (target.add() if field.is_repeated else target).MergeFromString(value)
        return
    values = [v.decode() for v in values] if field.type == _F.TYPE_STRING else values
    if field.is_repeated:
        getattr(message, field.name).extend(values)
    elif values:
        setattr(message, field.name, values[-1])


DecodeProtoV2 = namedtuple("DecodeProtoV2", ["sizes", "values"])


def decode_proto(
    bytes: TensorLike,
    message_type: str,
    field_names: Sequence[str],
    output_types: Sequence[DTypeLike],
    descriptor_source: str = "local://",
    message_format: str = "binary",
    sanitize: bool = False,
    name: str | None = None,
) -> Any:
    """Extracts fields of serialized protocol buffers.

    Args:
        bytes: a string tensor of messages, of any shape.
        message_type: the full name of their type.
        field_names: the fields.
        output_types: a dtype for each field; string for messages, which stay serialized.
        descriptor_source: "local://" for the types of this process, the path of a file with a serialized
            `FileDescriptorSet`, or "bytes://" followed by the set.
        message_format: "binary" or "text"; "binary" by default.
        sanitize: without effect.

    Returns:
        A named tuple: `sizes`, int32 of shape `[..., fields]`, the number of values that each field has; and `values`,
        for each field a tensor of shape `[..., most values]`, padded by the field's default.

    Raises:
        InvalidArgumentError: there is no such type or field, or a field has another dtype.
        DataLossError: a message is damaged.

    Example:
        >>> example = tf.train.BytesList(value=[b"a", b"b"]).SerializeToString()
        >>> decoded = tf.io.decode_proto([example], "tensorflow.BytesList", ["value"], [tf.string])
        >>> decoded.sizes.numpy().tolist(), decoded.values[0].numpy().tolist()
        ([[2]], [[b'a', b'b']])
    """
    sizes, *values = ops.DecodeProtoV2(
        bytes, message_type, list(field_names), list(output_types), descriptor_source, message_format, sanitize,
        name=name,
    )  # fmt: skip
    return DecodeProtoV2(sizes, values)


def encode_proto(
    sizes: TensorLike,
    values: Sequence[TensorLike],
    field_names: Sequence[str],
    message_type: str,
    descriptor_source: str = "local://",
    name: str | None = None,
) -> Tensor:
    """Serializes protocol buffers whose fields are in tensors.

    Args:
        sizes: an int32 tensor of shape `[..., fields]`, the number of values that each field of a message has.
        values: for each field a tensor of shape `[..., most values]`.
        field_names: the fields.
        message_type: the full name of the messages' type.
        descriptor_source: "local://" (the default) for the types of this process, the path of a file with a serialized
            `FileDescriptorSet`, or "bytes://" followed by the set.

    Returns:
        A string tensor of shape `[...]`.

    Raises:
        InvalidArgumentError: there is no such type or field, or a size is larger than its values.

    Example:
        >>> encoded = tf.io.encode_proto([[2]], [[[3, 5]]], ["value"], "tensorflow.Int64List")
        >>> list(tf.train.Int64List.FromString(encoded[0].numpy()).value)
        [3, 5]
    """
    return ops.EncodeProto(sizes, list(values), list(field_names), message_type, descriptor_source, name=name)
