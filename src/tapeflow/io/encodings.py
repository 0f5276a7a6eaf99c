"""Ops that encode and decode tensors: base64, bytes and serialized messages."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from google.protobuf.message import DecodeError, Message

from tapeflow.array.protos import make_tensor_proto, tensor_of_proto
from tapeflow.core.loops import Bytes, Int64s, loop
from tapeflow.core.ops.convert import convert, datatype_name
from tapeflow.core.ops.memory import UNFILLED, check_memory
from tapeflow.core.ops.op import not_differentiable, op
from tapeflow.core.ops.shape_rules import same
from tapeflow.core.types.aliases import DTypeLike, TensorLike
from tapeflow.core.types.dtypes import DType, as_dtype, string, variant
from tapeflow.core.types.dtypes import bool as bool_
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.types.spec import TensorSpec
from tapeflow.core.values.strings import StringArray, offsets_of
from tapeflow.core.values.tensor import EagerTensor, Tensor, dtype_error, invalid
from tapeflow.graph.ir.python_op import python_op
from tapeflow.strings.kernels import each


def _encode_base64_kernel(input: StringArray, pad: bool = False) -> StringArray:
    if input.few is not None:
        lines = b"".join(map(binascii.b2a_base64, input.few)).translate(_WEB_SAFE, b"" if pad else b"=")
        return StringArray.of(lines.split(b"\n")[:-1], input.shape)
    lengths = input.lengths
    offsets = offsets_of((lengths + 2) // 3 * 4 if pad else (lengths * 4 + 2) // 3)
    out = np.empty(offsets[-1], np.uint8)
    _write_base64(input.data, input.offsets, input.size, _ALPHABET, out, offsets)
    return StringArray(out, offsets, input.shape)


_ALPHABET = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
_WEB_SAFE, _USUAL = bytes.maketrans(b"+/", b"-_"), bytes.maketrans(b"-_", b"+/")


@loop
def _write_base64(data: Bytes, offsets: Int64s, count: int, alphabet: Bytes, out: Bytes, ends: Int64s) -> None:
    """Writes four characters for three bytes, without the padding that the ends leave no room for."""
    for i in range(count):
        to, end = ends[i], ends[i + 1]
        last = offsets[i + 1]
        for at in range(offsets[i], last, 3):
            bits = data[at] << 16
            if at + 1 < last:
                bits |= data[at + 1] << 8
            if at + 2 < last:
                bits |= data[at + 2]
            known = min(last - at, 3) + 1
            for j in range(4):
                if to < end:
                    out[to] = alphabet[bits >> (18 - 6 * j) & 63] if j < known else 61
                    to += 1


@op("EncodeBase64", kernel=_encode_base64_kernel, strings=_encode_base64_kernel, shape=same, elementwise=True)
def encode_base64(input: TensorLike, pad: bool = False, name: str | None = None) -> Tensor:
    """Encodes strings as web-safe base64, with `-` and `_` for the characters that are not safe in URLs.

    Args:
        input: a string tensor of any shape.
        pad: pads the results with `=` to a multiple of four characters.

    Returns:
        A string tensor of the same shape.

    Raises:
        InvalidArgumentError: `input` is not a string tensor.

    Example:
        >>> tf.io.encode_base64("hello").numpy()
        b'aGVsbG8'
    """


def _decode_base64_kernel(input: StringArray) -> StringArray:
    if input.few is not None:
        return each(_decode_few, input)
    out, offsets = np.empty(int(input.lengths.sum()), np.uint8), np.zeros(input.size + 1, np.int64)
    wrong = _read_base64(input.data, input.offsets, input.size, _SIXES, out, offsets)
    if wrong >= 0:
        text = input.reshape(-1)[wrong]
        _check_base64(text, text.rstrip(b"="))
    return StringArray(out[: offsets[-1]].copy(), offsets, input.shape)


_SIXES = bytes(max(_ALPHABET.find(byte), 0) if byte in _ALPHABET else 64 for byte in range(256))


@loop
def _read_base64(data: Bytes, offsets: Int64s, count: int, sixes: Bytes, out: Bytes, ends: Int64s) -> int:
    """Decodes strings. Returns the first one that is malformed, or -1."""
    to = 0
    for i in range(count):
        begin, end = offsets[i], offsets[i + 1]
        whole = end - begin
        while end > begin and data[end - 1] == 61:
            end -= 1
        size = end - begin
        padded = whole - size
        if size & 3 == 1 or (padded and (whole & 3 or padded > 2)):
            return i
        bits = 0
        for at in range(size):
            six = sixes[data[begin + at]]
            if six == 64:
                return i
            bits = (bits << 6 | six) & 0xFFFFFF
            if at & 3:
                out[to] = bits >> (6 - 2 * (at & 3)) & 255
                to += 1
        ends[i + 1] = to
    return -1


def _decode_few(text: bytes) -> bytes:
    bare = text.rstrip(b"=")
    _check_base64(text, bare)
    return binascii.a2b_base64(bare.translate(_USUAL) + b"==")


def _check_base64(text: bytes, bare: bytes) -> None:
    """Raises InvalidArgumentError if `text` is not base64. `bare` is `text` without padding."""
    if len(bare) % 4 == 1:
        raise invalid("Base64 string length cannot be 1 modulo 4.")
    padded = len(text) - len(bare)
    if bare.translate(None, _ALPHABET) or (padded and (len(text) % 4 or padded > 2)):
        raise invalid("Invalid character found in base64.")


@op("DecodeBase64", kernel=_decode_base64_kernel, strings=_decode_base64_kernel, shape=same, elementwise=True)
def decode_base64(input: TensorLike, name: str | None = None) -> Tensor:
    """Decodes strings of web-safe base64, see `tf.io.encode_base64`.

    Args:
        input: a string tensor of any shape, padded or not.

    Returns:
        A string tensor of the same shape.

    Raises:
        InvalidArgumentError: a string is not valid base64.

    Example:
        >>> tf.io.decode_base64("aGVsbG8").numpy()
        b'hello'
    """


def _decode_numbers(content: bytes, shape: tuple[int, ...], dtype: DType, little_endian: bool) -> torch.Tensor:
    """Returns the tensor of the numbers that bytes hold."""
    array = np.frombuffer(content, as_dtype(dtype).as_numpy_dtype)
    array = array if little_endian or array.itemsize == 1 else array.byteswap()
    return convert(array.reshape(shape), as_dtype(dtype)).value


def _decoded_shape(input_bytes: TensorShape, *_: Any) -> TensorShape:
    return input_bytes.concatenate([None])


@op("DecodeRaw", strings=True, shape=_decoded_shape)
def decode_raw_op(bytes: Any, out_type: Any, little_endian: bool = True) -> torch.Tensor:
    """Decodes the bytes of numbers."""
    size, few = as_dtype(out_type).size, bytes.few
    lengths = bytes.lengths if few is None else list(map(len, few))
    length = int(lengths[0]) if len(lengths) else 0
    if few is None or len(set(lengths)) > 1:
        different = np.flatnonzero(np.array(lengths) != length)
        if different.size:
            raise invalid(
                "DecodeRaw requires input strings to all be the same size, but element "
                f"{different[0]} has size {length} != {lengths[different[0]]}"
            )
    if length % size:
        raise invalid(
            f"Input to DecodeRaw has length {length} that is not a multiple of {size}, the size of "
            f"{as_dtype(out_type).name}"
        )
    return _decode_numbers(bytes.packed()[0], (*bytes.shape, length // size), out_type, little_endian)


def _decoded_padded_shape(input_bytes: TensorShape, fixed_length: Any, out_type: Any, *_: Any) -> TensorShape:
    length = fixed_length // as_dtype(out_type).size if type(fixed_length) is int else None
    return input_bytes.concatenate([length])


_COPIES = 4  # of the bytes: padded, joined, as an array and as a tensor


@op("DecodePaddedRaw", strings=True, host=("fixed_length",), shape=_decoded_padded_shape)
def decode_padded_raw(input_bytes: Any, fixed_length: Any, out_type: Any, little_endian: bool = True) -> torch.Tensor:
    """Decodes the bytes of numbers, truncated or padded with zeros to a length."""
    size = as_dtype(out_type).size
    if fixed_length <= 0:
        raise invalid(f"fixed_length ({fixed_length}) must be greater than zero.")
    if fixed_length % size:
        raise invalid(f"fixed_length ({fixed_length}) must be a multiple of the size of out_type ({size})")
    check_memory([input_bytes.size, fixed_length], _COPIES, UNFILLED)
    texts = [t[:fixed_length].ljust(fixed_length, b"\0") for t in input_bytes.reshape(-1).tolist()]
    return _decode_numbers(b"".join(texts), (*input_bytes.shape, fixed_length // size), out_type, little_endian)


not_differentiable(encode_base64, decode_base64, decode_raw_op, decode_padded_raw)


def decode_raw(
    input_bytes: TensorLike,
    out_type: DTypeLike,
    little_endian: bool = True,
    fixed_length: TensorLike | None = None,
    name: str | None = None,
) -> Tensor:
    """Decodes strings that hold the bytes of numbers.

    Args:
        input_bytes: a string tensor of any shape; all strings have the same length unless `fixed_length` is specified.
        out_type: the dtype of the numbers.
        little_endian: True if the first byte of a number is the least significant one; True by default.
        fixed_length: a scalar. Strings are truncated or padded with zeros to this number of bytes; None decodes their
            own bytes.

    Returns:
        A tensor of dtype `out_type` and shape `[*input_bytes.shape, numbers]`.

    Raises:
        InvalidArgumentError: the lengths differ, or are not a multiple of the size of a number.

    Example:
        >>> tf.io.decode_raw("abc", tf.uint8).numpy().tolist()
        [97, 98, 99]
    """
    if fixed_length is not None:
        return decode_padded_raw(input_bytes, fixed_length, out_type, little_endian, name)
    return decode_raw_op(input_bytes, out_type, little_endian, name)


def serialize_tensor(tensor: TensorLike, name: str | None = None) -> Tensor:
    """Serializes a tensor as a `TensorProto` message.

    Args:
        tensor: the tensor, of any shape.

    Returns:
        A string scalar.

    Raises:
        ValueError: `tensor` does not convert to a tensor.

    Example:
        >>> tf.io.parse_tensor(tf.io.serialize_tensor([1, 2]), tf.int32).numpy().tolist()
        [1, 2]
    """
    value = convert(tensor)
    if isinstance(value, EagerTensor):
        return _serialize_tensor(value)
    return _call_in_graph("SerializeTensor", _serialize_tensor, value, string, [])


def _serialize_tensor(tensor: EagerTensor) -> EagerTensor:
    proto = make_tensor_proto(tensor)
    if tensor.dtype not in (string, variant):  # all numbers as bytes, however few they are
        content = tensor._array().tobytes()
        proto = type(proto)(dtype=proto.dtype, tensor_shape=proto.tensor_shape, tensor_content=content)
    return convert(proto.SerializeToString())


def parse_tensor(serialized: TensorLike, out_type: DTypeLike, name: str | None = None) -> Tensor:
    """Parses a serialized `TensorProto` message.

    Args:
        serialized: a string scalar.
        out_type: the dtype of the tensor.

    Returns:
        The tensor, of dtype `out_type`.

    Raises:
        InvalidArgumentError: the string is not such a message, or the tensor has another dtype.

    Example:
        >>> tf.io.parse_tensor(tf.io.serialize_tensor([1.5, 2.5]), tf.float32).numpy().tolist()
        [1.5, 2.5]
    """
    dtype = as_dtype(out_type)

    def parsed(text: EagerTensor) -> EagerTensor:
        from tensorboard.compat.proto import tensor_pb2

        if text.ndim:
            shape = list(text.shape)
            raise invalid(f"Expected `serialized` to be a scalar, got shape: {shape} [Op:ParseTensor] name: ")
        try:
            proto = tensor_pb2.TensorProto.FromString(text.numpy())
        except DecodeError:
            shown = base64.b64encode(text.numpy()).decode()
            raise invalid(
                f"Could not parse `serialized` as TensorProto, base64: {shown} [Op:ParseTensor] name: "
            ) from None
        value = _proto_value(proto)
        if value.dtype is not dtype:
            raise invalid(
                f"Type mismatch between parsed tensor ({datatype_name(value.dtype)}) and dtype "
                f"({datatype_name(dtype)}) [Op:ParseTensor] name: "
            )
        return value

    text = serialized if isinstance(serialized, Tensor) else convert(serialized, string)
    if text.dtype is not string:
        raise dtype_error(
            "cannot compute ParseTensor as input #0(zero-based) was expected to be a string tensor but is a "
            f"{datatype_name(text.dtype)} tensor [Op:ParseTensor] name: "
        )
    return parsed(text) if isinstance(text, EagerTensor) else _call_in_graph("ParseTensor", parsed, text, dtype, None)


def _proto_value(proto: Message) -> EagerTensor:
    """Returns the tensor of a message that may lie about it.

    Raises:
        InvalidArgumentError: its parts do not fit together, or it would not fit into memory.
    """
    try:
        if any(d.size < 0 for d in proto.tensor_shape.dim):
            raise ValueError("a size is negative")
        dtype = as_dtype(proto.dtype)
        if dtype is bool_ and proto.tensor_content.strip(b"\0\1"):
            raise ValueError("a boolean is neither 0 nor 1")
        return tensor_of_proto(proto)
    except (ValueError, TypeError, OverflowError, MemoryError) as error:
        raise invalid(f"Cannot parse tensor from proto: {str(proto)[:200]} ({error}) [Op:ParseTensor] name: ") from None


def _call_in_graph(name: str, function: Callable[..., Any], tensor: Any, dtype: DType, shape: Any) -> Any:
    """Adds an operation to the graph that calls a function on the tensor."""
    return python_op(name, lambda t: [function(t)], [tensor], [TensorSpec(shape, dtype)], stateful=False).outputs[0]
