"""Functions of the top level that make and arrange tensors, with the parameters of TensorFlow 1."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tapeflow.array import blocks, creation, gathering, masks, padding, properties, shaping
from tapeflow.array.protos import make_ndarray, make_tensor_proto
from tapeflow.array.shaping import reshape
from tapeflow.core.context import state
from tapeflow.core.ops.convert import convert
from tapeflow.core.types import dtypes
from tapeflow.core.types.dtypes import as_dtype, int32
from tapeflow.core.values.indexed_slices import IndexedSlices
from tapeflow.core.values.tensor import Tensor, invalid
from tapeflow.math.casting import cast
from tapeflow.math.comparison import equal, logical_not
from tapeflow.math.reduction import reduce_any
from tapeflow.nn import depth
from tapeflow.sparse.tensor import SparseTensor, SparseTensorValue
from tapeflow_compat.compat.v1.renamed import either

# ---- making tensors --------------------------------------------------------------------------------------------------


def constant(value: Any, dtype: Any = None, shape: Any = None, name: str = "Const", verify_shape: bool = False) -> Any:
    """Returns a constant. In a graph, the last of a list of values fills what is left of a larger `shape`.

    Args:
        value: a value, or a nest of lists of them.
        dtype: by default that of the values.
        shape: by default that of the values; one value fills any.
        verify_shape: refuses values of another shape.

    Raises:
        TypeError: the values do not fit the shape.
        ValueError: in a graph, there are more values than the shape has room for.

    Example:
        >>> with tf.Graph().as_default():
        ...     c = tf.compat.v1.constant([1, 2], shape=[3])
        >>> tf.get_static_value(c).tolist()
        [1, 2, 2]
    """
    if shape is None or state.graph is None or isinstance(value, Tensor):
        return creation.constant(value, dtype, shape, name)
    try:
        proto = make_tensor_proto(value, None if dtype is None else as_dtype(dtype), shape, verify_shape)
    except ValueError as error:
        if str(error).startswith("Too many elements"):
            raise
        raise TypeError(str(error)) from None
    return creation.constant(make_ndarray(proto), as_dtype(proto.dtype), name=name)


def convert_to_tensor(
    value: Any, dtype: Any = None, name: str | None = None, preferred_dtype: Any = None, dtype_hint: Any = None
) -> Any:
    """Converts a value to a tensor, see `tf.convert_to_tensor`.

    Args:
        value: an array, a number, a nest of lists of them, or anything that is registered as convertible.
        dtype: the dtype that it must have.
        dtype_hint, preferred_dtype: the dtype to try first, by either name.

    Raises:
        ValueError: the hint was passed under both names, or the value is of another dtype.

    Example:
        >>> tf.compat.v1.convert_to_tensor([1, 2], preferred_dtype=tf.float32).dtype
        tf.float32
    """
    return creation.convert_to_tensor(
        value, dtype, either("dtype_hint", dtype_hint, "preferred_dtype", preferred_dtype), name
    )


def zeros_like(tensor: Any, dtype: Any = None, name: str | None = None, optimize: bool = True) -> Any:
    """Returns zeros of a tensor's shape, and of its dtype if no other is named; `optimize` is without effect.

    Example:
        >>> tf.compat.v1.zeros_like([[1.5, 2.5]], tf.int32).numpy().tolist()
        [[0, 0]]
    """
    return creation.zeros_like(tensor, dtype, name)


def ones_like(tensor: Any, dtype: Any = None, name: str | None = None, optimize: bool = True) -> Any:
    """Returns ones of a tensor's shape, and of its dtype if no other is named; `optimize` is without effect.

    Example:
        >>> tf.compat.v1.ones_like([[1.5, 2.5]]).numpy().tolist()
        [[1.0, 1.0]]
    """
    return creation.ones_like(tensor, dtype, name)


def shape(input: Any, name: str | None = None, out_type: Any = None) -> Any:
    """Returns the shape of a tensor as a vector, int32 unless `out_type` is int64: see `tf.shape`.

    Example:
        >>> tf.compat.v1.shape([[1, 2, 3]], out_type=tf.int64).numpy().tolist()
        [1, 3]
    """
    return properties.shape(input, int32 if out_type is None else as_dtype(out_type), name)


def size(input: Any, name: str | None = None, out_type: Any = None) -> Any:
    """Returns the number of elements as a scalar, int32 unless `out_type` is int64: see `tf.size`.

    Example:
        >>> tf.compat.v1.size([[1, 2, 3]]).numpy().item()
        3
    """
    return properties.size(input, int32 if out_type is None else as_dtype(out_type), name)


def convert_to_tensor_or_indexed_slices(value: Any, dtype: Any = None, name: str | None = None) -> Any:
    """Converts a value to a tensor; `tf.IndexedSlices` and sparse tensors stay as they are.

    Raises:
        ValueError: the value is of another dtype.

    Example:
        >>> tf.compat.v1.convert_to_tensor_or_indexed_slices([1, 2]).dtype
        tf.int32
    """
    return _convert_others(value, (IndexedSlices, SparseTensor), dtype, name)


def convert_to_tensor_or_sparse_tensor(value: Any, dtype: Any = None, name: str | None = None) -> Any:
    """Converts a value to a tensor; sparse tensors stay as they are.

    Raises:
        RuntimeError: the sparse tensor is of another dtype.
        ValueError: the value is.

    Example:
        >>> tf.compat.v1.convert_to_tensor_or_sparse_tensor([1, 2]).dtype
        tf.int32
    """
    if isinstance(value, SparseTensorValue):
        value = SparseTensor.from_value(value)
    if isinstance(value, SparseTensor) and dtype is not None and as_dtype(dtype) is not value.dtype:
        raise RuntimeError(f"Sparse dtype mismatch. Requested: {as_dtype(dtype).name},  Actual: {value.dtype.name}")
    return _convert_others(value, (SparseTensor,), dtype, name)


def _convert_others(value: Any, accepted: Any, dtype: Any, name: str | None) -> Any:
    """Converts a value to a tensor, unless it is one of the accepted kinds."""
    if not isinstance(value, accepted):
        return creation.convert_to_tensor(value, dtype, name=name)
    if dtype is not None and as_dtype(dtype) is not value.dtype:
        raise ValueError(
            f"Incompatible tensor conversion requested to `dtype` {as_dtype(dtype).name} for `value` ({value}) with "
            f"dtype {value.dtype.name}"
        )
    return value


# ---- dimensions ------------------------------------------------------------------------------------------------------


def squeeze(input: Any, axis: Any = None, name: str | None = None, squeeze_dims: Any = None) -> Any:
    """Returns a tensor without dimensions of length 1, see `tf.squeeze`; `squeeze_dims` is the old name of `axis`.

    Raises:
        ValueError: both are specified.
        InvalidArgumentError: a dimension named is not of length 1.

    Example:
        >>> tf.compat.v1.squeeze([[[1], [2]]], squeeze_dims=[2]).shape
        TensorShape([1, 2])
    """
    return shaping.squeeze(input, either("axis", axis, "squeeze_dims", squeeze_dims), name)


def expand_dims(input: Any, axis: Any = None, name: str | None = None, dim: Any = None) -> Any:
    """Returns a tensor with one more dimension of length 1, see `tf.expand_dims`; `dim` is the old name of `axis`.

    Raises:
        ValueError: neither is specified, or both.

    Example:
        >>> tf.compat.v1.expand_dims([1, 2], dim=0).shape
        TensorShape([1, 2])
    """
    at = either("axis", axis, "dim", dim)
    if at is None:
        raise ValueError("Must specify an axis argument to tf.expand_dims()")
    return shaping.expand_dims(input, at, name)


def transpose(a: Any, perm: Any = None, name: str = "transpose", conjugate: bool = False) -> Any:
    """Returns a tensor with its dimensions in another order, see `tf.transpose`; by default reversed.

    Example:
        >>> tf.compat.v1.transpose([[1, 2], [3, 4]], [1, 0]).numpy().tolist()
        [[1, 3], [2, 4]]
    """
    return shaping.transpose(a, perm, conjugate, name)


def pad(tensor: Any, paddings: Any, mode: str = "CONSTANT", name: str | None = None, constant_values: Any = 0) -> Any:
    """Returns a tensor with elements around it, see `tf.pad`.

    Args:
        tensor: of rank n.
        paddings: of shape [n, 2]: how many elements before and after, in each dimension.
        mode: "CONSTANT" for `constant_values`, "REFLECT" or "SYMMETRIC" for elements of the tensor (without or with
            those at the border).

    Raises:
        ValueError: there is no such mode.

    Example:
        >>> tf.compat.v1.pad([1, 2], [[1, 0]], constant_values=9).numpy().tolist()
        [9, 1, 2]
    """
    return padding.pad(tensor, paddings, mode, constant_values, name)


# ---- choosing --------------------------------------------------------------------------------------------------------


def where(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Any:
    """`x` where a condition holds and `y` elsewhere; without these, where it holds.

    Args:
        condition: of the shape of `x` and `y`, or a vector that chooses whole rows of them.
        x, y: of one shape.

    Returns:
        A tensor of the shape of `x`; without `x` and `y` the indices, int64 of shape [count, rank].

    Raises:
        ValueError: only one of them is specified.

    Example:
        >>> tf.compat.v1.where([True, False], [[1, 2], [3, 4]], [[5, 6], [7, 8]]).numpy().tolist()
        [[1, 2], [7, 8]]
    """
    if (x is None) != (y is None):
        raise ValueError("x and y must both be non-None or both be None.")
    condition = convert(condition, dtypes.bool)
    if x is not None:
        x = convert(x)
        rank = x.shape.rank
        if condition.shape.rank == 1 and rank is not None and rank > 1:
            condition = reshape(condition, [-1] + [1] * (rank - 1))
        return masks.where(condition, x, convert(y, x.dtype), name)
    return masks.where(condition, name=name)


def gather(
    params: Any,
    indices: Any,
    validate_indices: Any = None,
    name: str | None = None,
    axis: Any = None,
    batch_dims: int = 0,
) -> Any:
    """Returns slices along `axis` by their indices, see `tf.gather`; `validate_indices` is without effect.

    Raises:
        InvalidArgumentError: an index is out of range.

    Example:
        >>> tf.compat.v1.gather([[1, 2], [3, 4]], [1, 0], axis=1).numpy().tolist()
        [[2, 1], [4, 3]]
    """
    return gathering.gather(params, indices, axis=axis, batch_dims=batch_dims, name=name)


def gather_nd(
    params: Any, indices: Any, name: str | None = None, batch_dims: int = 0, bad_indices_policy: str = ""
) -> Any:
    """Returns slices by the indices of several dimensions, see `tf.gather_nd`; `bad_indices_policy` is without effect.

    Raises:
        InvalidArgumentError: an index is out of range.

    Example:
        >>> tf.compat.v1.gather_nd([[1, 2], [3, 4]], [[0, 1], [1, 0]]).numpy().tolist()
        [2, 3]
    """
    return gathering.gather_nd(params, indices, batch_dims, name)


def batch_gather(params: Any, indices: Any, name: str | None = None) -> Any:
    """`tf.gather` along the last dimension of the indices, for each entry of those before.

    Args:
        params: of shape [*batch, n, ...].
        indices: integers of shape [*batch, k].

    Returns:
        A tensor of shape [*batch, k, ...].

    Raises:
        ValueError: the indices are a scalar.

    Example:
        >>> tf.compat.v1.batch_gather([[1, 2], [3, 4]], [[1], [0]]).numpy().tolist()
        [[2], [3]]
    """
    indices = convert(indices)
    rank = indices.shape.rank
    if rank == 0:
        raise ValueError("Argument `batch_dims` = -1 must be less than rank(`indices`) = 0")
    return gathering.gather(params, indices, batch_dims=(rank or 1) - 1, name=name)


def boolean_mask(tensor: Any, mask: Any, name: str = "boolean_mask", axis: Any = None) -> Any:
    """Returns the elements where a mask holds, see `tf.boolean_mask`.

    Args:
        tensor: of any dtype and shape.
        mask: booleans, of the shape of the dimensions of `tensor` from `axis` on.
        axis: by default 0.

    Raises:
        ValueError: the mask is a scalar, or of another shape.

    Example:
        >>> tf.compat.v1.boolean_mask([[1, 2], [3, 4]], [False, True]).numpy().tolist()
        [[3, 4]]
    """
    return masks.boolean_mask(tensor, mask, axis, name)


class ListDiff(NamedTuple):
    """The result of `setdiff1d`: `out`, the elements that are left, and `idx`, their positions.

    Example:
        >>> tf.compat.v1.setdiff1d([5, 6], [6]).idx.numpy().tolist()
        [0]
    """

    out: Any
    idx: Any


def setdiff1d(x: Any, y: Any, index_dtype: Any = int32, name: str | None = None) -> Any:
    """Returns the elements of `x` that are not in `y`, and their positions, as `index_dtype`.

    Raises:
        InvalidArgumentError: `x` or `y` is no vector.

    Example:
        >>> [t.numpy().tolist() for t in tf.compat.v1.setdiff1d([1, 2, 3], [2])]
        [[1, 3], [0, 2]]
    """
    x = convert(x)
    y = convert(y, x.dtype)
    for label, vector in (("x", x), ("y", y)):
        if vector.shape.rank not in (1, None):
            raise invalid(f"{label} should be a 1D vector, not of shape {vector.shape} [Op:ListDiff]")
    missing = logical_not(reduce_any(equal(shaping.expand_dims(x, 1), shaping.expand_dims(y, 0)), 1))
    at = reshape(masks.where(missing), [-1])
    return ListDiff(gathering.gather(x, at, name=name), cast(at, index_dtype))


# ---- batches, space and depth ----------------------------------------------------------------------------------------


def reverse_sequence(
    input: Any, seq_lengths: Any, seq_axis: Any = None, batch_axis: Any = None, name: str | None = None,
    seq_dim: Any = None, batch_dim: Any = None,
) -> Any:  # fmt: skip
    """Returns a batch of sequences, the first elements of each turned around, see `tf.reverse_sequence`.

    Args:
        input: of any dtype.
        seq_lengths: int32 or int64, of the length of the batch: how many elements to turn around.
        seq_axis, seq_dim: the dimension of the sequences, by either name.
        batch_axis, batch_dim: the dimension of the batch, by either name; by default 0.

    Raises:
        ValueError: a dimension was passed under both names.
        TypeError: there is no `seq_axis`.

    Example:
        >>> tf.compat.v1.reverse_sequence([[1, 2, 3]], [2], seq_dim=1).numpy().tolist()
        [[2, 1, 3]]
    """
    over = either("seq_axis", seq_axis, "seq_dim", seq_dim)
    batch = either("batch_axis", batch_axis, "batch_dim", batch_dim)
    if over is None:
        raise TypeError("reverse_sequence: expected int for argument 'seq_axis' (or 'seq_dim'), not None.")
    return padding.reverse_sequence(input, seq_lengths, over, batch, name)


def _square(block_shape: Any, block_size: Any) -> list[int]:
    """Returns the block of two dimensions with sides of one length, under either name."""
    side = either("block_shape", block_shape, "block_size", block_size)
    if side is None:
        raise TypeError("the length of the sides of the blocks, `block_size`, must be an int, not None")
    block = np.array([side, side], np.int64)
    if block.ndim != 1:
        raise invalid(f"block_shape rank should be 1 instead of {block.ndim}: `block_size` must be an int, not {side}")
    return block.tolist()


def batch_to_space(input: Any, crops: Any, block_size: Any, name: str | None = None, block_shape: Any = None) -> Any:
    """Returns entries of the batch into blocks of space, see `tf.batch_to_space`.

    Args:
        input: of shape [batch, height, width, depth].
        crops: of shape [2, 2]: how much of height and width to leave out afterwards, at either end.
        block_size, block_shape: the length of the blocks' sides, by either name.

    Returns:
        A tensor of shape [batch / block_size ** 2, height * block_size - crops, width * block_size - crops, depth].

    Raises:
        ValueError: the length was passed under both names.
        TypeError: it was passed under neither.
        InvalidArgumentError: it is no single number, or does not fit the shape.

    Example:
        >>> batch = [[[[1]]], [[[2]]], [[[3]]], [[[4]]]]
        >>> tf.compat.v1.batch_to_space(batch, [[0, 0], [0, 0]], 2)[0, :, :, 0].numpy().tolist()
        [[1, 2], [3, 4]]
    """
    return blocks.batch_to_space(input, _square(block_shape, block_size), crops, name)


def batch_to_space_nd(input: Any, block_shape: Any, crops: Any, name: str | None = None) -> Any:
    """Returns entries of the batch into blocks of any number of dimensions, see `tf.batch_to_space`.

    Args:
        input: of shape [batch, *dimensions, ...].
        block_shape: the sizes of the blocks.
        crops: of shape [len(block_shape), 2]: how much to leave out afterwards, at either end.

    Raises:
        InvalidArgumentError: the batch can't be divided so.

    Example:
        >>> tf.compat.v1.batch_to_space_nd([[[1]], [[2]]], [2], [[0, 0]])[0, :, 0].numpy().tolist()
        [1, 2]
    """
    return blocks.batch_to_space(input, block_shape, crops, name)


def space_to_batch(
    input: Any, paddings: Any, block_size: Any = None, name: str | None = None, block_shape: Any = None
) -> Any:
    """Returns blocks of space into entries of the batch, see `tf.space_to_batch`: undoes `batch_to_space`.

    Args:
        input: of shape [batch, height, width, depth].
        paddings: of shape [2, 2]: how many zeros to put around height and width first, at either end.
        block_size, block_shape: the length of the blocks' sides, by either name.

    Raises:
        ValueError: the length was passed under both names.
        TypeError: it was passed under neither.
        InvalidArgumentError: it is no single number, or does not fit the shape.

    Example:
        >>> image = tf.reshape(tf.range(4), [1, 2, 2, 1])
        >>> tf.compat.v1.space_to_batch(image, [[0, 0], [0, 0]], 2).shape
        TensorShape([4, 1, 1, 1])
    """
    return blocks.space_to_batch(input, _square(block_shape, block_size), paddings, name)


def space_to_depth(input: Any, block_size: int, name: str | None = None, data_format: str = "NHWC") -> Any:
    """Returns blocks of space into depth: [b, h, w, d] becomes [b, h / size, w / size, d * size ** 2].

    See `tf.nn.space_to_depth`.

    Example:
        >>> image = tf.reshape(tf.range(4), [1, 2, 2, 1])
        >>> tf.compat.v1.space_to_depth(image, 2).numpy().tolist()
        [[[[0, 1, 2, 3]]]]
    """
    return depth.space_to_depth(input, block_size, data_format, name)


def depth_to_space(input: Any, block_size: int, name: str | None = None, data_format: str = "NHWC") -> Any:
    """Returns depth into blocks of space: [b, h, w, d] becomes [b, h * size, w * size, d / size ** 2].

    See `tf.nn.depth_to_space`.

    Example:
        >>> tf.compat.v1.depth_to_space([[[[1, 2, 3, 4]]]], 2)[0, :, :, 0].numpy().tolist()
        [[1, 2], [3, 4]]
    """
    return depth.depth_to_space(input, block_size, data_format, name)
