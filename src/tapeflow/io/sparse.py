"""Serialization of sparse tensors: three strings for each, the `TensorProto`s of its indices, values and shape."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from google.protobuf.message import DecodeError

from tapeflow.array.protos import make_ndarray
from tapeflow.core.ops.convert import convert, datatype_name, from_numpy_type
from tapeflow.core.ops.op import not_differentiable, op
from tapeflow.core.ops.raw_kernels import kernel_of
from tapeflow.core.ops.shape_rules import check_ranks_first, text, with_dimension, with_rank
from tapeflow.core.types.aliases import DTypeLike, TensorLike
from tapeflow.core.types.dtypes import FROM_TORCH, DType, as_dtype, int64, string, variant
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.strings import StringArray
from tapeflow.core.values.tensor import EagerTensor, Tensor, invalid, strings
from tapeflow.core.varint import varint
from tapeflow.graph.ir.python_op import executing_eagerly
from tapeflow.io.encodings import parse_tensor
from tapeflow.sparse.index_order import check
from tapeflow.sparse.tensor import SparseTensor


def _check_sparse(value: Any) -> SparseTensor:
    if not isinstance(value, SparseTensor):
        raise TypeError("Input must be a SparseTensor.")
    return value


# ---- to strings ------------------------------------------------------------------------------------------------------


def _serialize_array(array: np.ndarray, dtype: DType) -> bytes:
    """Serializes an array as a `TensorProto` that holds its bytes, as TensorFlow's kernels do."""
    from tensorboard.compat.proto import tensor_pb2

    proto = tensor_pb2.TensorProto(dtype=dtype.as_datatype_enum)
    for length in array.shape:
        proto.tensor_shape.dim.add(size=length)
    if dtype is string:
        texts = array.reshape(-1).tolist()  # as TensorFlow packs them: the lengths of all, then all bytes
        proto.tensor_content = b"".join([*map(varint, map(len, texts)), *texts])
    else:
        proto.tensor_content = array.tobytes()
    return proto.SerializeToString()


def _serialize_parts(indices: np.ndarray, values: np.ndarray, shape: np.ndarray, dtype: DType) -> list[bytes]:
    """Serializes the three arrays of a sparse tensor."""
    return [_serialize_array(indices, int64), _serialize_array(values, dtype), _serialize_array(shape, int64)]


def _part_arrays(
    indices: torch.Tensor, values: Any, shape: torch.Tensor
) -> tuple[np.ndarray, np.ndarray, np.ndarray, DType]:
    """Returns the three raw values of a sparse tensor as arrays, and the dtype of its values."""
    if isinstance(values, StringArray):
        return indices.numpy(), np.asarray(values), shape.numpy(), string
    dtype = FROM_TORCH[values.dtype]
    return indices.cpu().numpy(), EagerTensor(values, dtype).numpy(), shape.cpu().numpy(), dtype


def _as_type(texts: StringArray, out_type: Any) -> Any:
    """Returns strings as what they are, or as variants, which hold `bytes`."""
    return texts if as_dtype(out_type) is string else np.asarray(texts)


def _check_type(out_type: Any) -> None:
    """Refuses other dtypes than strings and variants."""
    if as_dtype(out_type) not in (string, variant):
        raise invalid(f"Sparse tensors are serialized to strings or variants, not to {as_dtype(out_type).name}")


@op("SerializeSparse", strings=True, shape=check_ranks_first(lambda *_: TensorShape([3]), 2, 1, 1))
def serialize_sparse_op(
    sparse_indices: torch.Tensor, sparse_values: Any, sparse_shape: torch.Tensor, out_type: Any = string
) -> Any:
    """Serializes a sparse tensor as three strings."""
    _check_type(out_type)
    parts = _serialize_parts(*_part_arrays(sparse_indices, sparse_values, sparse_shape))
    return _as_type(StringArray.of(parts), out_type)


def serialize_sparse(sp_input: SparseTensor, out_type: DTypeLike = string, name: str | None = None) -> Tensor:
    """Serializes a sparse tensor as strings.

    Args:
        sp_input: a `tf.SparseTensor`.
        out_type: `tf.string` or `tf.variant`.

    Returns:
        A tensor of shape `[3]`: the serialized indices, values and shape.

    Raises:
        TypeError: `sp_input` is not a sparse tensor.
        InvalidArgumentError: `out_type` is another dtype.

    Example:
        >>> serialized = tf.io.serialize_sparse(tf.sparse.from_dense([[0, 7]]))
        >>> tf.sparse.to_dense(tf.io.deserialize_many_sparse(serialized, tf.int32)).numpy().tolist()
        [[0, 7]]
    """
    sparse = _check_sparse(sp_input)
    return serialize_sparse_op(sparse.indices, sparse.values, sparse.dense_shape, out_type, name)


@op("SerializeManySparse", strings=True, shape=check_ranks_first(lambda *_: TensorShape([None, 3]), 2, 1, 1))
def serialize_many_sparse_op(
    sparse_indices: torch.Tensor, sparse_values: Any, sparse_shape: torch.Tensor, out_type: Any = string
) -> Any:
    """Serializes the parts of a sparse tensor along its first dimension, each as three strings."""
    _check_type(out_type)
    coordinates, array, dims, dtype = _part_arrays(sparse_indices, sparse_values, sparse_shape)
    if len(dims) < 2:
        raise invalid(f"Rank of input SparseTensor should be > 1, but saw rank: {len(dims)}")
    check(sparse_indices, dims.tolist())
    if math.prod(dims.tolist()) >= 2**63:
        raise invalid(f"Encountered overflow when multiplying the dimensions {dims.tolist()}")
    count = int(dims[0])
    rows = [_serialize_parts(coordinates[:0, 1:], array[:0], dims[1:], dtype)] * count  # of the rows without a value
    for row in np.unique(coordinates[:, 0]).tolist():
        own = coordinates[:, 0] == row
        rows[row] = _serialize_parts(np.ascontiguousarray(coordinates[own, 1:]), array[own], dims[1:], dtype)
    return _as_type(StringArray.of([text for row in rows for text in row], (count, 3)), out_type)


def serialize_many_sparse(sp_input: SparseTensor, out_type: DTypeLike = string, name: str | None = None) -> Tensor:
    """Serializes the parts of a sparse tensor along its first dimension.

    Args:
        sp_input: a `tf.SparseTensor` of rank 2 or more.
        out_type: `tf.string`.

    Returns:
        A string tensor of shape `[n, 3]`; see `tf.io.serialize_sparse`.

    Raises:
        TypeError: `sp_input` is not a sparse tensor.
        InvalidArgumentError: the rank is less than 2, or `out_type` is another dtype.

    Example:
        >>> tf.io.serialize_many_sparse(tf.sparse.from_dense([[0, 7], [8, 0]])).shape
        TensorShape([2, 3])
    """
    sparse = _check_sparse(sp_input)
    return serialize_many_sparse_op(sparse.indices, sparse.values, sparse.dense_shape, out_type, name)


# ---- from strings ----------------------------------------------------------------------------------------------------


def _parse_tensor(serialized: bytes) -> np.ndarray:
    """Parses a serialized `TensorProto`."""
    from tensorboard.compat.proto import tensor_pb2

    try:
        return make_ndarray(tensor_pb2.TensorProto.FromString(serialized))
    except (DecodeError, TypeError, ValueError):
        raise invalid("Could not parse serialized proto") from None


def _check_part(
    number: int, indices: np.ndarray, values: np.ndarray, shape: np.ndarray, rank: int, dtype: DType
) -> None:
    """Checks the arrays of one sparse tensor, part `number` of several."""
    actual = string if values.dtype.hasobject else from_numpy_type(values)
    if actual is not dtype:
        shown = datatype_name(actual) if actual is not None else values.dtype.name
        raise invalid(
            f"Requested SparseTensor of type {datatype_name(dtype)} but SparseTensor[{number}].values.dtype() == "
            f"{shown}"
        )
    if indices.ndim != 2 or shape.ndim != 1 or indices.shape != (len(values), len(shape)):
        raise invalid(f"SparseTensor[{number}] has indices of shape {indices.shape} and a shape of {shape.shape}")
    if len(shape) != rank:
        raise invalid(
            f"Inconsistent shape across SparseTensors: rank prior to SparseTensor[{number}] was: {rank} but rank of "
            f"SparseTensor[{number}] is: {len(shape)}"
        )


def _deserialized_shapes(serialized: TensorShape, *_: Any) -> list[TensorShape]:
    with_dimension(with_rank(serialized, 2), 1, 3)
    return [TensorShape([None, None]), TensorShape([None]), TensorShape([None])]


@op("DeserializeManySparse", strings=True, shape=_deserialized_shapes)
def _deserialize_many_sparse(serialized_sparse: StringArray, dtype: Any) -> tuple[torch.Tensor, Any, torch.Tensor]:
    """Returns the indices, values and shape of several sparse tensors, joined."""
    shown = text(serialized_sparse.shape)
    if not serialized_sparse.ndim or serialized_sparse.shape[-1] != 3:
        raise invalid(f"Serialized sparse should have 3 as the last dimension {shown}")
    if not serialized_sparse.size:
        raise invalid(f"Serialized sparse should have at least 1 serialized tensor, but has a zero dimension {shown}")
    batch = serialized_sparse.shape[:-1]
    parts = [[_parse_tensor(t) for t in row] for row in serialized_sparse.reshape(-1, 3).tolist()]
    rank = len(parts[0][2])
    coordinates = []
    for number, ((indices, values, shape), outer) in enumerate(zip(parts, np.ndindex(batch), strict=True)):
        _check_part(number, indices, values, shape, rank, as_dtype(dtype))
        coordinates.append(np.concatenate([np.tile(np.array(outer, np.int64), (len(indices), 1)), indices], 1))
    shape = np.concatenate([np.array(batch, np.int64), np.max([p[2] for p in parts], 0)])
    values = convert(np.concatenate([p[1] for p in parts]), as_dtype(dtype)).value
    return torch.from_numpy(np.concatenate(coordinates).astype(np.int64)), values, torch.from_numpy(shape)


not_differentiable(serialize_sparse_op, serialize_many_sparse_op, _deserialize_many_sparse)


@kernel_of("DeserializeSparse", shape=lambda *_: [[None, None], [None], [None]])
def _deserialize_sparse(serialized_sparse: StringArray, dtype: DType) -> Any:
    with executing_eagerly():
        serialized = strings(serialized_sparse)
        if serialized_sparse.ndim > 1:
            sparse = deserialize_many_sparse(serialized, dtype)
            return sparse.indices.value, sparse.values.value, sparse.dense_shape.value
        parts = zip(serialized_sparse, (int64, dtype, int64), strict=True)
        return tuple([parse_tensor(EagerTensor(StringArray.scalar(text), string), d).value for text, d in parts])


def deserialize_many_sparse(
    serialized_sparse: TensorLike, dtype: DTypeLike, rank: int | None = None, name: str | None = None
) -> SparseTensor:
    """Deserializes sparse tensors, and joins them along new dimensions.

    Args:
        serialized_sparse: a string tensor of shape `[..., 3]`, as returned by `tf.io.serialize_many_sparse`.
        dtype: the dtype of the values.
        rank: an int, the rank of the result, if it is static.

    Returns:
        A `tf.SparseTensor`. Its first dimensions are `[...]`. The others are as long as in the longest sparse tensor.

    Raises:
        InvalidArgumentError: the strings are not sparse tensors of the same rank and of dtype `dtype`.

    Example:
        >>> serialized = tf.io.serialize_many_sparse(tf.sparse.from_dense([[0, 7], [8, 0]]))
        >>> tf.sparse.to_dense(tf.io.deserialize_many_sparse(serialized, tf.int32)).numpy().tolist()
        [[0, 7], [8, 0]]
    """
    outputs: Any = _deserialize_many_sparse(serialized_sparse, dtype, name)
    indices, values, shape = outputs
    indices.set_shape([None, rank])
    shape.set_shape([rank])
    return SparseTensor(indices, values, shape)
