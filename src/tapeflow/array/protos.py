"""Tensors as TensorFlow's `TensorProto` messages, and back. TensorBoard ships the message classes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from tapeflow.core.ops.convert import convert, storage_type
from tapeflow.core.ops.memory import UNFILLED, check_memory
from tapeflow.core.ops.sequences import array_of, is_sequence
from tapeflow.core.types.aliases import DTypeLike, ShapeLike, TensorLike
from tapeflow.core.types.dtypes import FROM_TORCH, DType, as_dtype, string, variant
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.strings import StringArray, offsets_of
from tapeflow.core.values.tensor import EagerTensor
from tapeflow.core.varint import read_varint, varint

if TYPE_CHECKING:
    from tensorboard.compat.proto.tensor_pb2 import TensorProto

# The field of a TensorProto that holds the elements of a dtype, one by one.
VALUE_FIELDS = {
    "float16": "half_val", "bfloat16": "half_val", "float32": "float_val", "float64": "double_val", "int32": "int_val",
    "uint8": "int_val", "uint16": "int_val", "int8": "int_val", "int16": "int_val", "qint8": "int_val",
    "quint8": "int_val", "qint16": "int_val", "quint16": "int_val", "qint32": "int_val", "uint32": "uint32_val",
    "uint64": "uint64_val", "int64": "int64_val", "bool": "bool_val", "string": "string_val",
    "complex64": "scomplex_val", "complex128": "dcomplex_val",
}  # fmt: skip
# A message that would take more bytes, and more than this many times its own, is refused.
_MOST_BYTES, _MOST_REPEATED, _MOST_EXPANSION = 1 << 32, 1 << 24, 1000
_SHARED_BYTES = 1 << 20  # smaller tensors are written out: ops are faster on these
# Dtypes of several elements whose bytes TensorFlow packs into `tensor_content`.
_PACKED = frozenset({
    "float16", "bfloat16", "float32", "float64", "int8", "uint8", "int16", "int32", "uint32", "int64", "uint64",
})  # fmt: skip


def _proto_array(values: Any, dtype: DType | None) -> tuple[Any, DType]:
    if isinstance(values, EagerTensor) or not (is_sequence(values) and not isinstance(values, np.ndarray)):
        if dtype is None or isinstance(values, EagerTensor):
            tensor = convert(values)
        else:
            try:
                tensor = convert(values, dtype)
            except TypeError:
                raise TypeError(f"Expected {dtype.name}, but got {values} of type '{type(values).__name__}'.") from None
        return tensor.value if tensor.dtype is string else tensor._array(), tensor.dtype
    array, dtype = array_of(values, dtype)
    return (array if dtype is string else array.astype(storage_type(dtype))), dtype


def make_tensor_proto(
    values: TensorLike,
    dtype: DTypeLike = None,
    shape: ShapeLike = None,
    verify_shape: bool = False,
    allow_broadcast: bool = False,
) -> TensorProto:
    """Creates a `TensorProto` message with the values of a tensor.

    Args:
        values: a Python value, nested list, array or tensor, of any shape.
        dtype: the dtype of the message; by default by the rules of `tf.convert_to_tensor`.
        shape: the shape of the message; a message with fewer values than that repeats its last one.
        verify_shape: refuses values of another shape than `shape`.
        allow_broadcast: with `shape`, accepts values of that shape, or a single one.

    Returns:
        The message.

    Raises:
        ValueError: `values` is None, or there are too many values for `shape`.
        TypeError: the values do not fit `dtype` or, with one of the flags, `shape`.
        ImportError: the package `tensorboard` is not installed.

    Example:
        >>> tf.make_ndarray(tf.make_tensor_proto(7, shape=[2])).tolist()  # doctest: +SKIP
        [7, 7]
    """
    from tensorboard.compat.proto.tensor_pb2 import TensorProto

    if values is None:
        raise ValueError("None values not supported.")
    if isinstance(values, EagerTensor) and values.dtype is variant:
        return _of_variants(values.value)
    dtype = None if dtype is None else as_dtype(dtype).base_dtype
    array, dtype = _proto_array(values, dtype)
    dims = array.shape if shape is None else tuple(TensorShape(shape).as_list())
    size = int(np.prod(dims, dtype=np.int64))
    wrong = (verify_shape and array.shape != dims) or (allow_broadcast and array.shape != dims and array.size != 1)
    if wrong:
        raise TypeError(f"Expected Tensor's shape: {dims}, but got {array.shape}.")
    if array.size > size:
        raise ValueError(f"Too many elements provided. Takes at most {size}, but got {array.size}.")
    proto = TensorProto(dtype=dtype.as_datatype_enum, tensor_shape=TensorShape(dims).as_proto())
    if dtype.name in _PACKED and array.size == size and size > 1:
        proto.tensor_content = array.astype(array.dtype.newbyteorder("<")).tobytes()
        return proto
    field = VALUE_FIELDS.get(dtype.name)
    if field is None:
        raise TypeError(f"Unrecognized tensor type: {dtype.name}")
    flat = array.reshape(-1)
    if field == "half_val":
        flat = flat.view(np.uint16)
    elif dtype.is_complex:
        flat = flat.view(flat.real.dtype)
    getattr(proto, field).extend(flat.tolist())
    return proto


def _read_strings(content: bytes, count: int) -> StringArray:
    """Returns the strings of a message's content: the lengths of all, then all bytes."""
    lengths, position = [], 0
    for _ in range(count):
        length, position = read_varint(content, position)
        lengths.append(length)
    if position + sum(lengths) != len(content):
        raise ValueError("the lengths of strings do not fit their bytes")
    return StringArray(content, position + offsets_of(np.array(lengths, np.int64)))


# ---- variants --------------------------------------------------------------------------------------------------------

# A variant in an element of a dataset holds a ragged tensor, as a pair of its splits and its values, or one tensor, as
# the bytes of its message.
_RAGGED, _TENSOR = "RaggedTensorVariant", "tensorflow::Tensor"


def holds_tensors(array: np.ndarray) -> bool:
    """Returns True if messages can hold all variants of an array."""
    return all(isinstance(v, (tuple, bytes)) for v in array.ravel().tolist())


def _of_variants(array: np.ndarray) -> TensorProto:
    from tensorboard.compat.proto.tensor_pb2 import TensorProto, VariantTensorDataProto

    texts = []
    for content in array.ravel().tolist():
        if isinstance(content, bytes):
            data = VariantTensorDataProto(type_name=_TENSOR, tensors=[TensorProto.FromString(content)])
        elif isinstance(content, tuple):
            splits, values = content
            parts = [EagerTensor(p, string if isinstance(p, StringArray) else FROM_TORCH[p.dtype])
                     for p in (*splits, values)]  # fmt: skip
            data = VariantTensorDataProto(type_name=_RAGGED, tensors=map(make_tensor_proto, parts))
        else:
            raise TypeError(f"A message can't hold a variant with a {type(content).__name__}")
        texts.append(data.SerializeToString())
    content = b"".join(map(varint, map(len, texts))) + b"".join(texts)
    shape = TensorShape(array.shape).as_proto()
    return TensorProto(dtype=variant.as_datatype_enum, tensor_shape=shape, tensor_content=content)


def _read_variants(tensor: TensorProto, count: int) -> np.ndarray:
    """Returns the variants of a message.

    Raises:
        TypeError: they hold something else than tensors.
    """
    from tensorboard.compat.proto.tensor_pb2 import VariantTensorDataProto

    messages: Any = tensor.variant_val
    if tensor.tensor_content:
        messages = map(VariantTensorDataProto.FromString, _read_strings(tensor.tensor_content, count).flat)
    out = np.empty(count, object)
    for i, message in enumerate(messages):
        parts = list(message.tensors)
        if any(as_dtype(p.dtype) is variant for p in parts) or message.type_name not in (_RAGGED, _TENSOR) or not parts:
            raise TypeError(f"Unsupported variant: {message.type_name!r}")
        if message.type_name == _TENSOR:
            out[i] = parts[0].SerializeToString()
        else:
            *splits, values = [convert(make_ndarray(p), as_dtype(p.dtype)).value for p in parts]
            out[i] = tuple(splits), values
    return out


# ---- arrays ----------------------------------------------------------------------------------------------------------


def make_ndarray(tensor: TensorProto) -> np.ndarray:
    """Returns the array of a `TensorProto` message.

    Args:
        tensor: the message.

    Returns:
        A NumPy array of the dtype and shape of the message.

    Raises:
        TypeError: its dtype has no NumPy type.
        ValueError: the elements do not fit the shape, or one of them is to fill more than 4 GiB, or the last of several
            more than 16 MiB.

    Example:
        >>> tf.make_ndarray(tf.make_tensor_proto([1, 2])).tolist()  # doctest: +SKIP
        [1, 2]
    """
    return np.asarray(_value(tensor))


def _value(tensor: TensorProto) -> Any:
    """Returns the value of a message as an array, a `StringArray` for strings."""
    dims, size = _proto_dims(tensor), math.prod(_proto_dims(tensor))
    if as_dtype(tensor.dtype) is variant:
        return _read_variants(tensor, size).reshape(dims)
    row = _read_elements(tensor)
    if not len(row):
        row = StringArray.full([size], b"") if isinstance(row, StringArray) else np.zeros(size, row.dtype)
    elif len(row) < size:  # the last one is repeated
        row = row[np.minimum(np.arange(size), len(row) - 1)]
    return row.reshape(dims)


def tensor_of_proto(tensor: TensorProto) -> EagerTensor:
    """Returns the tensor of a `TensorProto` message. Many equal elements share the memory of one.

    Raises:
        TypeError, ValueError: as `make_ndarray`.
    """
    dims, dtype = _proto_dims(tensor), as_dtype(tensor.dtype)
    if dtype is not variant and math.prod(dims) * dtype.size > _SHARED_BYTES:
        row = _read_elements(tensor)
        if len(row) <= 1:
            if isinstance(row, StringArray):
                text = row.item() if len(row) else b""
                check_memory(dims, 8 + len(text), UNFILLED)
                return EagerTensor(StringArray.full(dims, text), dtype)
            one = convert(row.reshape(()) if len(row) else np.zeros((), row.dtype), dtype).value
            return EagerTensor(one.expand(dims) if isinstance(one, torch.Tensor) else np.broadcast_to(one, dims), dtype)
    value = _value(tensor)
    return EagerTensor(value, dtype) if dtype in (variant, string) else convert(value, dtype)


def _proto_dims(tensor: TensorProto) -> list[int]:
    return [d.size for d in tensor.tensor_shape.dim]


def _read_elements(tensor: TensorProto) -> Any:
    """Returns the elements of a message that are written down: the last stands for all others of its shape.

    Raises:
        TypeError, ValueError: as `make_ndarray`.
    """
    dims, dtype = _proto_dims(tensor), as_dtype(tensor.dtype)
    size = math.prod(dims)
    if dtype.name not in VALUE_FIELDS:
        raise TypeError(f"Unsupported tensor type: {tensor.dtype}. See the dtypes of tf.dtypes for those that are.")
    kind = storage_type(dtype)
    needed = size * np.dtype(kind).itemsize
    written = len(getattr(tensor, VALUE_FIELDS[dtype.name])) // (2 if dtype.is_complex else 1)
    if needed > (_MOST_BYTES if written <= 1 else _MOST_REPEATED) and needed > _MOST_EXPANSION * tensor.ByteSize():
        raise ValueError(
            f"Shape {dims} is too large: it needs {needed} bytes, and the message has {tensor.ByteSize()}. If the file "
            "is to be trusted, write this tensor with all its elements, or create it with tf.fill."
        )
    if tensor.tensor_content and dtype is string:
        return _read_strings(tensor.tensor_content, size)
    if tensor.tensor_content:
        return np.frombuffer(tensor.tensor_content, np.dtype(kind).newbyteorder("<")).astype(kind).reshape(size)
    field = VALUE_FIELDS[dtype.name]
    values = list(getattr(tensor, field))
    if dtype is string:
        return StringArray.of(values)
    if field == "half_val":
        return np.array(values, np.int32).astype(np.uint16).view(kind)
    if dtype.is_complex:
        return np.array(values, np.float64).view(np.complex128).astype(kind)
    # Integers have 32 bits each, even if the dtype has fewer.
    return np.array(values, np.int32 if field == "int_val" else kind).astype(kind, copy=False)
