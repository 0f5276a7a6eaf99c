"""The public `tf.compat.v1.sparse` namespace: sparse tensors with the parameters of TensorFlow 1."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow.array import concat_and_split, reshapes
from tapeflow.array.concat_and_split import stack
from tapeflow.core.ops.convert import convert
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.dtypes import float32, int64
from tapeflow.linalg import products
from tapeflow.math.casting import cast
from tapeflow.sparse import concat_and_slice, reduction
from tapeflow.sparse.concat_and_slice import reorder
from tapeflow.sparse.tensor import SparseTensor
from tapeflow_compat import raw_ops
from tapeflow_compat.compat.v1 import names
from tapeflow_compat.compat.v1.aliases import either, member

# ---- sums and joins --------------------------------------------------------------------------------------------------


def concat(
    axis: int, sp_inputs: Any, name: str | None = None, expand_nonconcat_dim: bool = False, concat_dim: Any = None,
    expand_nonconcat_dims: Any = None,
) -> Any:  # fmt: skip
    """Concatenates sparse tensors along a dimension, see `tf.sparse.concat`.

    Args:
        axis, concat_dim: the dimension, by either name.
        sp_inputs: a list of `tf.SparseTensor`s of one rank and dtype.
        expand_nonconcat_dims, expand_nonconcat_dim: makes the other dimensions as large as the largest, by either name.

    Raises:
        ValueError: the dimension was passed under both names.
        InvalidArgumentError: the other dimensions differ, and are not to be expanded.

    Example:
        >>> a = tf.SparseTensor([[0, 1]], [2.0], [1, 2])
        >>> tf.compat.v1.sparse_concat(1, [a, a]).indices.numpy().tolist()
        [[0, 1], [0, 3]]
    """
    wider = expand_nonconcat_dim if expand_nonconcat_dims is None else expand_nonconcat_dims
    return concat_and_slice.concat(either("concat_dim", concat_dim, "axis", axis), sp_inputs, wider, name)


_Required: Any = object()  # the default of a required keyword argument


def split(
    keyword_required: Any = _Required, sp_input: Any = None, num_split: int | None = None, axis: int | None = None,
    name: str | None = None, split_dim: int | None = None,
) -> Any:  # fmt: skip
    """Splits a sparse tensor along a dimension, see `tf.sparse.split`; its arguments are keyword arguments.

    Args:
        keyword_required: must not be specified: the others are keyword arguments.
        sp_input: a `tf.SparseTensor`.
        num_split: the number of parts; the first ones are larger by one if need be.
        axis, split_dim: the dimension, by either name.

    Raises:
        ValueError: an argument is missing, or was passed by position or under both names.

    Example:
        >>> a = tf.SparseTensor([[0, 1]], [2.0], [1, 4])
        >>> [part.dense_shape.numpy().tolist() for part in tf.compat.v1.sparse_split(sp_input=a, num_split=2, axis=1)]
        [[1, 2], [1, 2]]
    """
    if keyword_required is not _Required:
        raise ValueError("Keyword arguments are required for this function.")
    if sp_input is None:
        raise ValueError("sp_input is required")
    if num_split is None:
        raise ValueError("num_split is required")
    along = either("axis", axis, "split_dim", split_dim)
    if along is None:
        raise ValueError("axis is required")
    return concat_and_slice.split(sp_input, num_split, along, name)


def merge(sp_ids: Any, sp_values: Any, vocab_size: Any, name: str | None = None, already_sorted: bool = False) -> Any:
    """Returns one sparse tensor of numbers and of values at them: the numbers become places in the last dimension.

    Args:
        sp_ids: a `tf.SparseTensor` of int32 or int64, or a list of them for a dimension each.
        sp_values: a `tf.SparseTensor` with the same places.
        vocab_size: the size of the last dimension, or a list of sizes.
        already_sorted: leaves the elements in their order.

    Raises:
        TypeError: an argument is of another type.
        ValueError: there is not one size for each `sp_ids`.

    Example:
        >>> ids, values = (tf.SparseTensor([[0, 0], [0, 1]], v, [1, 2]) for v in ([3, 1], [0.5, 0.25]))
        >>> tf.sparse.to_dense(tf.compat.v1.sparse_merge(ids, values, 4)).numpy().tolist()
        [[0.0, 0.25, 0.0, 0.5]]
    """
    several = isinstance(sp_ids, (list, tuple))
    all_ids, sizes = (sp_ids, vocab_size) if several else ([sp_ids], [vocab_size])
    if several is not isinstance(vocab_size, (list, tuple)):
        raise TypeError(f"vocab_size must be a list where sp_ids is one, and only there. Found {type(vocab_size)}")
    if len(all_ids) != len(sizes):
        raise ValueError("sp_ids and vocab_size have to have equal lengths.")
    if not all(isinstance(s, SparseTensor) for s in [*all_ids, sp_values]):
        raise TypeError("sp_ids and sp_values must be tf.SparseTensors.")
    rows = all_ids[0].indices[:, :-1]
    columns = [reshapes.expand_dims(cast(s.values, int64), 1) for s in all_ids]
    shape = concat_and_split.concat([all_ids[0].dense_shape[:-1], cast(stack(list(sizes)), int64)], 0)
    merged = SparseTensor(concat_and_split.concat([rows, *columns], 1), sp_values.values, shape)
    return merged if already_sorted else reorder(merged)


# ---- reductions ------------------------------------------------------------------------------------------------------


def _reduction(name: str, function: Callable[..., Any], sparse: bool, summary: str, result: str) -> Callable[..., Any]:
    kind, shown = ("sparse", "tf.sparse.to_dense(result)") if sparse else ("dense", "result")

    @member(name, summary=summary, result=result, kind=kind, shown=shown)
    def reduce(
        sp_input: Any, axis: TensorLike | None = None, keepdims: bool | None = None, reduction_axes: Any = None,
        keep_dims: bool | None = None,
    ) -> Any:  # fmt: skip
        """{summary} over dimensions, as a {kind} tensor.

        Args:
            sp_input: a `tf.SparseTensor` of numbers.
            axis, reduction_axes: the dimensions to reduce, by either name; None for all.
            keepdims, keep_dims: keeps them with length 1, by either name.

        Raises:
            ValueError: an argument was passed under both names.

        Example:
            >>> a = tf.SparseTensor([[0, 0], [0, 1]], [2.0, 5.0], [1, 2])
            >>> result = tf.compat.v1.sparse.{name}(a, reduction_axes=1)
            >>> {shown}.numpy().tolist()
            {result}
        """
        dims = either("axis", axis, "reduction_axes", reduction_axes)
        return function(sp_input, dims, bool(either("keepdims", keepdims, "keep_dims", keep_dims)), sparse)

    return reduce


reduce_max = _reduction("reduce_max", reduction.reduce_max, False, "Computes the largest element", "[5.0]")
reduce_max_sparse = _reduction("reduce_max_sparse", reduction.reduce_max, True, "Computes the largest element", "[5.0]")
reduce_sum = _reduction("reduce_sum", reduction.reduce_sum, False, "Computes the sum", "[7.0]")
reduce_sum_sparse = _reduction("reduce_sum_sparse", reduction.reduce_sum, True, "Computes the sum", "[7.0]")


def _segments(name: str, function: Callable[..., Any], summary: str, result: str) -> Callable[..., Any]:
    @member(name, summary=summary, result=result)
    def segments(
        data: TensorLike, indices: TensorLike, segment_ids: TensorLike, name: str | None = None,
        num_segments: TensorLike | None = None, sparse_gradient: bool = False,
    ) -> Any:  # fmt: skip
        """{summary} of the rows of each segment, see `tf.sparse.{name}`.

        Args:
            data: a tensor of shape [rows, ...].
            indices: int32 or int64, of shape [count]: the numbers of the rows.
            segment_ids: sorted int32 or int64 of the same shape, the segment of each row.
            num_segments: the number of segments; by default the largest id plus 1.
            sparse_gradient: gives `tf.IndexedSlices` as the gradient of `data`.

        Raises:
            InvalidArgumentError: a number is out of range, or the segments are not sorted.

        Example:
            >>> print(tf.compat.v1.sparse.{name}(tf.constant([[1.0], [3.0], [9.0]]), [0, 1], [0, 0]).numpy().round(4))
            {result}
        """
        return function(data, indices, segment_ids, num_segments, name, sparse_gradient)

    return segments


segment_mean = _segments("segment_mean", reduction.segment_mean, "Computes the means", "[[2.]]")
segment_sqrt_n = _segments(
    "segment_sqrt_n", reduction.segment_sqrt_n, "Computes the sums, divided by the roots of the numbers of rows,",
    "[[2.8284]]",
)  # fmt: skip
segment_sum = _segments("segment_sum", reduction.segment_sum, "Computes the sums", "[[4.]]")


# ---- to and from tensors ---------------------------------------------------------------------------------------------


def sparse_to_dense(
    sparse_indices: Any, output_shape: Any, sparse_values: Any, default_value: TensorLike = 0,
    validate_indices: bool = True, name: str | None = None,
) -> Any:  # fmt: skip
    """Returns a dense tensor with values at the specified indices.

    Args:
        sparse_indices: int32 or int64, a matrix of places, a vector for a vector's, or a scalar.
        output_shape: of the tensor.
        sparse_values: a vector, or one for all places.
        default_value: the value elsewhere.
        validate_indices: checks that the places are in order, and none of them twice.

    Raises:
        InvalidArgumentError: they are not, or one is out of range.

    Example:
        >>> tf.compat.v1.sparse_to_dense([0, 2], [4], 1, -1).numpy().tolist()
        [1, -1, 1, -1]
    """
    values = convert(sparse_values)
    default = convert(default_value, values.dtype)
    indices = convert(sparse_indices)
    shape = convert(output_shape, indices.dtype)
    return raw_ops.SparseToDense(
        sparse_indices=indices, output_shape=shape, sparse_values=values, default_value=default,
        validate_indices=validate_indices, name=name,
    )  # fmt: skip


def sparse_matmul(
    a: Any, b: Any, transpose_a: bool = False, transpose_b: bool = False, a_is_sparse: bool = False,
    b_is_sparse: bool = False, name: str | None = None,
) -> Any:  # fmt: skip
    """Computes the product of two dense matrices that may have many zeros, which makes no difference here: see
    `tf.matmul`.

    Args:
        a, b: matrices of float32 or bfloat16.
        transpose_a, transpose_b: takes the transpose of one.
        a_is_sparse, b_is_sparse: accepted, and without effect.

    Returns:
        A matrix of float32.

    Example:
        >>> tf.compat.v1.sparse_matmul([[1.0, 0.0]], [[2.0], [3.0]], a_is_sparse=True).numpy().tolist()
        [[2.0]]
    """
    a, b = (cast(convert(m), float32) for m in (a, b))
    return products.matmul(a, b, transpose_a, transpose_b, name=name)


__getattr__ = names.finder("sparse")
