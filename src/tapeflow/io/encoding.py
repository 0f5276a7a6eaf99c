"""Ops between tensors and their encodings: base64, bytes, serialized messages."""

from __future__ import annotations

import base64
import binascii
import re
from typing import Any

import numpy as np
import torch
from google.protobuf.message import DecodeError

from tapeflow.array.protos import make_ndarray, make_tensor_proto
from tapeflow.core.ops.convert import convert, datatype_name
from tapeflow.core.ops.op import not_differentiable, op
from tapeflow.core.types.dtypes import DType, as_dtype, string
from tapeflow.core.values.tensor import EagerTensor, invalid


def _each(function: Any, array: Any) -> np.ndarray:
    made = np.empty(array.shape, object)
    for place in np.ndindex(array.shape):
        made[place] = function(array[place])
    return made


def _encode(input: Any, pad: bool = False) -> np.ndarray:
    def one(text: bytes) -> bytes:
        encoded = base64.urlsafe_b64encode(text)
        return encoded if pad else encoded.rstrip(b"=")

    return _each(one, input)


@op("EncodeBase64", kernel=_encode, strings=_encode, elementwise=True)
def encode_base64(input: Any, pad: bool = False, name: str | None = None) -> Any:
    """Strings as base64, with `-` and `_` for what is not safe in URLs.

    Args:
        input: strings.
        pad: ends them with `=` to a multiple of four.

    Example:
        >>> tf.io.encode_base64("hello").numpy()
        b'aGVsbG8'
    """


def _decode(input: Any) -> np.ndarray:
    def one(text: bytes) -> bytes:
        bare = text.rstrip(b"=")
        if len(bare) % 4 == 1:
            raise invalid("Base64 string length cannot be 1 modulo 4.")
        padded = len(text) - len(bare)
        if not re.fullmatch(rb"[-_A-Za-z0-9]*", bare) or (padded and (len(text) % 4 or padded > 2)):
            raise invalid("Invalid character found in base64.")
        try:
            return base64.urlsafe_b64decode(bare + b"=" * (-len(bare) % 4))
        except binascii.Error:
            raise invalid("Invalid character found in base64.") from None

    return _each(one, input)


@op("DecodeBase64", kernel=_decode, strings=_decode, elementwise=True)
def decode_base64(input: Any, name: str | None = None) -> Any:
    """What was encoded as base64, with `-` and `_` for what is not safe in URLs.

    Args:
        input: strings.

    Raises:
        InvalidArgumentError: one is no base64.

    Example:
        >>> tf.io.decode_base64("aGVsbG8").numpy()
        b'hello'
    """


def _elements(data: bytes, dtype: DType, little_endian: bool) -> np.ndarray:
    array = np.frombuffer(data, as_dtype(dtype).as_numpy_dtype)
    return array if little_endian or array.itemsize == 1 else array.byteswap()


def _tensor(rows: list[np.ndarray], shape: tuple[int, ...], dtype: DType) -> torch.Tensor:
    array = np.array(rows, as_dtype(dtype).as_numpy_dtype) if rows else np.zeros(0, as_dtype(dtype).as_numpy_dtype)
    return convert(array.reshape(shape), as_dtype(dtype)).value


def _decode_raw_kernel(bytes: Any, out_type: Any, little_endian: bool = True) -> torch.Tensor:
    texts, size = bytes.ravel().tolist(), as_dtype(out_type).size
    length = len(texts[0]) if texts else 0
    for i, text in enumerate(texts):
        if len(text) != length:
            raise invalid(
                "DecodeRaw requires input strings to all be the same size, but element "
                f"{i} has size {length} != {len(text)}"
            )
    if length % size:
        raise invalid(
            f"Input to DecodeRaw has length {length} that is not a multiple of {size}, the size of "
            f"{as_dtype(out_type).name}"
        )
    return _tensor([_elements(t, out_type, little_endian) for t in texts], (*bytes.shape, length // size), out_type)


@op("DecodeRaw", kernel=_decode_raw_kernel, strings=_decode_raw_kernel)
def _decode_raw(bytes: Any, out_type: Any, little_endian: bool = True, name: str | None = None) -> Any:
    """The elements whose bytes are given."""


def _decode_padded_kernel(
    input_bytes: Any, fixed_length: Any, out_type: Any, little_endian: bool = True
) -> torch.Tensor:
    size = as_dtype(out_type).size
    if fixed_length % size:
        raise invalid(f"fixed_length ({fixed_length}) must be a multiple of the size of out_type ({size})")
    texts = [t[:fixed_length].ljust(fixed_length, b"\0") for t in input_bytes.ravel().tolist()]
    rows = [_elements(t, out_type, little_endian) for t in texts]
    return _tensor(rows, (*input_bytes.shape, fixed_length // size), out_type)


@op("DecodePaddedRaw", kernel=_decode_padded_kernel, strings=_decode_padded_kernel, host=("fixed_length",))
def _decode_padded_raw(
    input_bytes: Any, fixed_length: Any, out_type: Any, little_endian: bool = True, name: str | None = None
) -> Any:
    """The elements whose bytes are given, cut off or filled with zeros to a length."""


not_differentiable(encode_base64, decode_base64, _decode_raw, _decode_padded_raw)


def decode_raw(
    input_bytes: Any, out_type: Any, little_endian: bool = True, fixed_length: Any = None, name: str | None = None
) -> Any:
    """The numbers whose bytes are the characters of strings.

    Args:
        input_bytes: strings, all of one length unless `fixed_length` is given.
        out_type: the dtype of the numbers.
        little_endian: the order of the bytes of a number.
        fixed_length: cuts each string to so many bytes, or fills it with zeros.

    Returns:
        A tensor of one dimension more than `input_bytes`.

    Raises:
        InvalidArgumentError: the lengths differ, or are no multiple of the size of a number.

    Example:
        >>> tf.io.decode_raw("abc", tf.uint8).numpy().tolist()
        [97, 98, 99]
    """
    if fixed_length is not None:
        return _decode_padded_raw(input_bytes, fixed_length, out_type, little_endian, name)
    return _decode_raw(input_bytes, out_type, little_endian, name)


def serialize_tensor(tensor: Any, name: str | None = None) -> Any:
    """A tensor as the bytes of a `TensorProto` message.

    Returns:
        A string scalar.

    Example:
        >>> tf.io.parse_tensor(tf.io.serialize_tensor([1, 2]), tf.int32).numpy().tolist()
        [1, 2]
    """
    tensor = convert(tensor)
    if isinstance(tensor, EagerTensor):
        return _serialized(tensor)
    return _in_graph("SerializeTensor", _serialized, tensor, string, [])


def _serialized(tensor: EagerTensor) -> EagerTensor:
    return convert(make_tensor_proto(tensor).SerializeToString())


def parse_tensor(serialized: Any, out_type: Any, name: str | None = None) -> Any:
    """The tensor of a serialized `TensorProto` message.

    Args:
        serialized: a string scalar.
        out_type: the dtype of the tensor.

    Raises:
        InvalidArgumentError: it is no such message, or one of another dtype.

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
        found = as_dtype(proto.dtype)
        if found is not dtype:
            raise invalid(
                f"Type mismatch between parsed tensor ({datatype_name(found)}) and dtype ({datatype_name(dtype)}) "
                "[Op:ParseTensor] name: "
            )
        return convert(make_ndarray(proto), dtype)

    text = convert(serialized, string)
    return parsed(text) if isinstance(text, EagerTensor) else _in_graph("ParseTensor", parsed, text, dtype, None)


def _in_graph(name: str, function: Any, tensor: Any, dtype: DType, shape: Any) -> Any:
    from tapeflow.core.types.spec import TensorSpec
    from tapeflow.graph.ir.python_op import python_op

    return python_op(name, lambda t: [function(t)], [tensor], [TensorSpec(shape, dtype)], stateful=False).outputs[0]
