"""Functions of the top level that make and arrange tensors, with the parameters of TensorFlow 1."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tapeflow.array import blocks, creation, gathers, masks, padding, reshapes
from tapeflow.array.protos import make_ndarray, make_tensor_proto
from tapeflow.array.reshapes import reshape
from tapeflow.core.context import state
from tapeflow.core.ops.convert import convert
from tapeflow.core.types import dtypes
from tapeflow.core.types.aliases import DTypeLike, ShapeLike, TensorLike
from tapeflow.core.types.dtypes import as_dtype, int32
from tapeflow.core.values.indexed_slices import IndexedSlices
from tapeflow.core.values.tensor import Tensor, invalid
from tapeflow.math.casting import cast
from tapeflow.math.comparison import equal, logical_not
from tapeflow.math.reduction import reduce_any
from tapeflow.sparse.tensor import SparseTensor, SparseTensorValue
from tapeflow_compat.compat.v1.aliases import either

# ---- making tensors --------------------------------------------------------------------------------------------------


def constant(
    value: Any, dtype: DTypeLike = None, shape: ShapeLike = None, name: str = "Const", verify_shape: bool = False
) -> Any:
    """Returns a constant. In a graph, the last value of a list fills the rest of a larger `shape`.

    Args:
        value: a value, or a nest of lists of them.
        dtype: a dtype; by default the dtype of the values.
        shape: a shape; by default the shape of the values. A single value fills any shape.
        verify_shape: whether to refuse values of another shape; False by default.

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


def convert_to_tensor_or_indexed_slices(value: Any, dtype: DTypeLike = None, name: str | None = None) -> Any:
    """Converts a value to a tensor. `tf.IndexedSlices` and sparse tensors stay unchanged.

    Raises:
        ValueError: the value is of another dtype.

    Example:
        >>> tf.compat.v1.convert_to_tensor_or_indexed_slices([1, 2]).dtype
        tf.int32
    """
    return _convert_others(value, (IndexedSlices, SparseTensor), dtype, name)


def convert_to_tensor_or_sparse_tensor(value: Any, dtype: DTypeLike = None, name: str | None = None) -> Any:
    """Converts a value to a tensor. Sparse tensors stay unchanged.

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


def _convert_others(value: Any, accepted: Any, dtype: DTypeLike, name: str | None) -> Any:
    """Converts a value to a tensor, unless its type is in `accepted`."""
    if not isinstance(value, accepted):
        return creation.convert_to_tensor(value, dtype, name=name)
    if dtype is not None and as_dtype(dtype) is not value.dtype:
        raise ValueError(
            f"Incompatible tensor conversion requested to `dtype` {as_dtype(dtype).name} for `value` ({value}) with "
            f"dtype {value.dtype.name}"
        )
    return value


# ---- dimensions ------------------------------------------------------------------------------------------------------


def expand_dims(input: TensorLike, axis: TensorLike | None = None, name: str | None = None, dim: Any = None) -> Any:
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
    return reshapes.expand_dims(input, at, name)


# ---- choosing --------------------------------------------------------------------------------------------------------


def where(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Any:
    """Returns `x` where a condition holds and `y` elsewhere. Without these, returns the indices of true elements.

    Args:
        condition: a tensor of the shape of `x` and `y`, or a vector that chooses whole rows of them.
        x, y: tensors of one shape.

    Returns:
        A tensor of the shape of `x`; without `x` and `y` the indices, int64 of shape [count, rank].

    Raises:
        ValueError: only one of `x` and `y` is specified.

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


def batch_gather(params: TensorLike, indices: Any, name: str | None = None) -> Any:
    """`tf.gather` along the last dimension of the indices, for each entry of those before.

    Args:
        params: a tensor of shape [*batch, n, ...].
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
    return gathers.gather(params, indices, batch_dims=(rank or 1) - 1, name=name)


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
    missing = logical_not(reduce_any(equal(reshapes.expand_dims(x, 1), reshapes.expand_dims(y, 0)), 1))
    at = reshape(masks.where(missing), [-1])
    return ListDiff(gathers.gather(x, at, name=name), cast(at, index_dtype))


# ---- batches, space and depth ----------------------------------------------------------------------------------------


def reverse_sequence(
    input: TensorLike, seq_lengths: Any, seq_axis: int | None = None, batch_axis: int | None = None,
    name: str | None = None, seq_dim: int | None = None, batch_dim: int | None = None,
) -> Any:  # fmt: skip
    """Returns a batch of sequences, the first elements of each turned around, see `tf.reverse_sequence`.

    Args:
        input: a tensor of any dtype.
        seq_lengths: int32 or int64 of shape [batch], the number of elements to reverse in each sequence.
        seq_axis, seq_dim: an int, the dimension of the sequences, by either name.
        batch_axis, batch_dim: an int, the dimension of the batch, by either name; by default 0.

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


def batch_to_space(
    input: TensorLike, crops: Any, block_size: int, name: str | None = None, block_shape: int | None = None
) -> Any:
    """Returns entries of the batch into blocks of space, see `tf.batch_to_space`.

    Args:
        input: a tensor of shape [batch, height, width, depth].
        crops: integers of shape [2, 2], the lengths to cut off the result's height and width, at either end.
        block_size, block_shape: an int, the length of the blocks' sides, by either name.

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


def space_to_batch(
    input: TensorLike,
    paddings: Tensor,
    block_size: int | None = None,
    name: str | None = None,
    block_shape: int | None = None,
) -> Any:
    """Returns blocks of space into entries of the batch, see `tf.space_to_batch`: undoes `batch_to_space`.

    Args:
        input: a tensor of shape [batch, height, width, depth].
        paddings: integers of shape [2, 2], the zeros to add to height and width first, at either end.
        block_size, block_shape: an int, the length of the blocks' sides, by either name.

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
