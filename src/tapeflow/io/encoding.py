"""Ops that encode and decode tensors: base64, bytes and serialized messages."""

from __future__ import annotations

import base64
import binascii
import re
from typing import Any

import numpy as np
import torch
from google.protobuf.message import DecodeError

from tapeflow.array.protos import make_tensor_proto, tensor_of_proto
from tapeflow.core.ops.convert import convert, datatype_name
from tapeflow.core.ops.memory import UNFILLED, check_memory
from tapeflow.core.ops.op import not_differentiable, op
from tapeflow.core.ops.shape_rules import same
from tapeflow.core.types.aliases import DTypeLike, TensorLike
from tapeflow.core.types.dtypes import DType, as_dtype, string, variant
from tapeflow.core.types.dtypes import bool as bool_
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.types.spec import TensorSpec
from tapeflow.core.values.tensor import EagerTensor, Tensor, invalid, mistyped
from tapeflow.graph.ir.python_op import python_op
from tapeflow.strings.kernels import strings_of

_TO_URL = bytes.maketrans(b"+/", b"-_")
_FROM_URL = bytes.maketrans(b"-_", b"+/")


def _encode_base64_kernel(input: Any, pad: bool = False) -> np.ndarray:
    lines = b"".join(map(binascii.b2a_base64, input.reshape(-1).tolist())).translate(_TO_URL, b"" if pad else b"=")
    return strings_of(lines.split(b"\n")[: input.size]).reshape(input.shape)


@op("EncodeBase64", kernel=_encode_base64_kernel, strings=_encode_base64_kernel, shape=same, elementwise=True)
def encode_base64(input: TensorLike, pad: bool = False, name: str | None = None) -> Tensor:
    """Encodes strings as web-safe base64, with `-` and `_` for the characters that are not safe in URLs.

    Args:
        input: a string tensor.
        pad: pads the results with `=` to a multiple of four characters.

    Returns:
        A string tensor of the same shape.

    Example:
        >>> tf.io.encode_base64("hello").numpy()
        b'aGVsbG8'
    """


def _decode_base64_kernel(input: Any) -> np.ndarray:
    strings = input.reshape(-1).tolist()
    bare = [text.rstrip(b"=") for text in strings]
    valid = re.fullmatch(rb"[-_A-Za-z0-9]*", b"".join(bare)) and strings == bare
    if not valid or any(len(text) % 4 == 1 for text in bare):
        for text, rest in zip(strings, bare, strict=True):
            _check_base64(text, rest)
    lines = b"==\n".join([*bare, b""]).translate(_FROM_URL).split(b"\n")  # more padding than needed does no harm
    return strings_of(list(map(binascii.a2b_base64, lines[: len(strings)]))).reshape(input.shape)


def _check_base64(text: bytes, bare: bytes) -> None:
    """Raises InvalidArgumentError if `text` is not base64. `bare` is `text` without padding."""
    if len(bare) % 4 == 1:
        raise invalid("Base64 string length cannot be 1 modulo 4.")
    padded = len(text) - len(bare)
    if not re.fullmatch(rb"[-_A-Za-z0-9]*", bare) or (padded and (len(text) % 4 or padded > 2)):
        raise invalid("Invalid character found in base64.")


@op("DecodeBase64", kernel=_decode_base64_kernel, strings=_decode_base64_kernel, shape=same, elementwise=True)
def decode_base64(input: TensorLike, name: str | None = None) -> Tensor:
    """Decodes strings of web-safe base64, see `tf.io.encode_base64`.

    Args:
        input: a string tensor, padded or not.

    Returns:
        A string tensor of the same shape.

    Raises:
        InvalidArgumentError: a string is not valid base64.

    Example:
        >>> tf.io.decode_base64("aGVsbG8").numpy()
        b'hello'
    """


def _tensor(rows: list[bytes], shape: tuple[int, ...], dtype: DType, little_endian: bool) -> torch.Tensor:
    """Returns the tensor of the numbers that bytes hold."""
    array = np.frombuffer(b"".join(rows), as_dtype(dtype).as_numpy_dtype)
    array = array if little_endian or array.itemsize == 1 else array.byteswap()
    return convert(array.reshape(shape), as_dtype(dtype)).value


def _decoded_shape(input_bytes: TensorShape, *_: Any) -> TensorShape:
    return input_bytes.concatenate([None])


@op("DecodeRaw", strings=True, shape=_decoded_shape)
def _decode_raw(bytes: Any, out_type: Any, little_endian: bool = True) -> torch.Tensor:
    """Decodes the bytes of numbers."""
    texts, size = bytes.ravel().tolist(), as_dtype(out_type).size
    length = len(texts[0]) if texts else 0
    different = next((i for i, size in enumerate(map(len, texts)) if size != length), None)
    if different is not None:
        raise invalid(
            "DecodeRaw requires input strings to all be the same size, but element "
            f"{different} has size {length} != {len(texts[different])}"
        )
    if length % size:
        raise invalid(
            f"Input to DecodeRaw has length {length} that is not a multiple of {size}, the size of "
            f"{as_dtype(out_type).name}"
        )
    return _tensor(texts, (*bytes.shape, length // size), out_type, little_endian)


def _decoded_padded_shape(input_bytes: TensorShape, fixed_length: Any, out_type: Any, *_: Any) -> TensorShape:
    length = fixed_length // as_dtype(out_type).size if type(fixed_length) is int else None
    return input_bytes.concatenate([length])


_COPIES = 4  # of the bytes: padded, joined, as an array and as a tensor


@op("DecodePaddedRaw", strings=True, host=("fixed_length",), shape=_decoded_padded_shape)
def _decode_padded_raw(input_bytes: Any, fixed_length: Any, out_type: Any, little_endian: bool = True) -> torch.Tensor:
    """Decodes the bytes of numbers, truncated or padded with zeros to a length."""
    size = as_dtype(out_type).size
    if fixed_length % size:
        raise invalid(f"fixed_length ({fixed_length}) must be a multiple of the size of out_type ({size})")
    check_memory([input_bytes.size, max(fixed_length, 0)], _COPIES, UNFILLED)
    texts = [t[:fixed_length].ljust(fixed_length, b"\0") for t in input_bytes.ravel().tolist()]
    return _tensor(texts, (*input_bytes.shape, fixed_length // size), out_type, little_endian)


not_differentiable(encode_base64, decode_base64, _decode_raw, _decode_padded_raw)


def decode_raw(
    input_bytes: TensorLike,
    out_type: DTypeLike,
    little_endian: bool = True,
    fixed_length: TensorLike | None = None,
    name: str | None = None,
) -> Tensor:
    """Decodes strings that hold the bytes of numbers.

    Args:
        input_bytes: a string tensor; all strings have the same length unless `fixed_length` is specified.
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
        return _decode_padded_raw(input_bytes, fixed_length, out_type, little_endian, name)
    return _decode_raw(input_bytes, out_type, little_endian, name)


def serialize_tensor(tensor: TensorLike, name: str | None = None) -> Tensor:
    """Serializes a tensor as a `TensorProto` message.

    Args:
        tensor: the tensor.

    Returns:
        A string scalar.

    Example:
        >>> tf.io.parse_tensor(tf.io.serialize_tensor([1, 2]), tf.int32).numpy().tolist()
        [1, 2]
    """
    value = convert(tensor)
    if isinstance(value, EagerTensor):
        return _serialized(value)
    return _in_graph("SerializeTensor", _serialized, value, string, [])


def _serialized(tensor: EagerTensor) -> EagerTensor:
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
        value = _value_of(proto)
        if value.dtype is not dtype:
            raise invalid(
                f"Type mismatch between parsed tensor ({datatype_name(value.dtype)}) and dtype "
                f"({datatype_name(dtype)}) [Op:ParseTensor] name: "
            )
        return value

    text = serialized if isinstance(serialized, Tensor) else convert(serialized, string)
    if text.dtype is not string:
        raise mistyped(
            "cannot compute ParseTensor as input #0(zero-based) was expected to be a string tensor but is a "
            f"{datatype_name(text.dtype)} tensor [Op:ParseTensor] name: "
        )
    return parsed(text) if isinstance(text, EagerTensor) else _in_graph("ParseTensor", parsed, text, dtype, None)


def _value_of(proto: Any) -> EagerTensor:
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


def _in_graph(name: str, function: Any, tensor: Any, dtype: DType, shape: Any) -> Any:
    """Adds an operation to the graph that calls a function on the tensor."""
    return python_op(name, lambda t: [function(t)], [tensor], [TensorSpec(shape, dtype)], stateful=False).outputs[0]
