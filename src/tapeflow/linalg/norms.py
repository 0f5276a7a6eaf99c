"""Norms, and functions that scale tensors by them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tapeflow.array.creation import constant, convert_to_tensor, ones, ones_like
from tapeflow.array.identities import less_static
from tapeflow.array.masks import where
from tapeflow.array.properties import rank as rank_op
from tapeflow.array.properties import shape_op
from tapeflow.array.reshapes import expand_dims, reshape, squeeze, transpose
from tapeflow.array.unranked import joined_dims, other_dimensions
from tapeflow.core.ops.convert import convert
from tapeflow.core.types.aliases import AxisLike, TensorLike
from tapeflow.core.types.dtypes import int32
from tapeflow.core.values.indexed_slices import IndexedSlices
from tapeflow.core.values.tensor import Tensor, invalid
from tapeflow.linalg.spectral import svd
from tapeflow.math.arithmetic import add_n
from tapeflow.math.casting import cast
from tapeflow.math.complex import conj
from tapeflow.math.elementwise import abs as abs_op
from tapeflow.math.elementwise import pow as pow_op
from tapeflow.math.elementwise import sqrt, square
from tapeflow.math.extrema import maximum, minimum
from tapeflow.math.reduction import reduce_max, reduce_sum

_MATRIX_NORMS = ("euclidean", "fro", 1, 2, np.inf)


def norm(
    tensor: TensorLike,
    ord: str | float = "euclidean",
    axis: AxisLike = None,
    keepdims: bool | None = None,
    name: str | None = None,
) -> Tensor:
    """Computes norms of vectors or of matrices.

    Args:
        tensor: a tensor of a float or complex dtype, of any shape.
        ord: "euclidean", `np.inf` or a positive number `p`: the root of order `p` of the sum of the absolute values to
            the power `p`. For matrices "euclidean" or "fro" (the root of the sum of squares), 1 (the largest sum of a
            column), `np.inf` (of a row), or 2 (the largest singular value). The default is "euclidean".
        axis: the dimension of vectors, or the two dimensions of matrices; None for all elements as one vector.
        keepdims: keeps the reduced dimensions, with length 1.

    Returns:
        A tensor of the shape of `tensor` without the reduced dimensions, and of its dtype; of its real dtype if
        `tensor` is complex and `ord` is not "euclidean".

    Raises:
        ValueError: there is no such norm, or `axis` names neither a vector nor a matrix.
        TypeError: `ord` is a tensor.

    Example:
        >>> tf.norm([3.0, 4.0]).numpy().item()
        5.0
        >>> tf.norm([[1.0, -2.0], [3.0, 4.0]], ord=1, axis=[0, 1]).numpy().item()
        6.0
    """
    axes: Any = tuple(axis) if isinstance(axis, list) else axis
    is_matrix = isinstance(axes, tuple)
    if is_matrix:
        valid = len(axes) == 2 and all(isinstance(a, int) for a in axes) and axes[0] != axes[1]
    else:
        valid = axes is None or isinstance(axes, int)
    if not valid:
        raise ValueError(f"'axis' must be None, an integer, or a tuple of 2 unique integers, got {axis}")
    if isinstance(ord, Tensor):
        raise TypeError(f"Cannot convert 'euclidean' to EagerTensor of dtype {ord.dtype.name}")
    if is_matrix and ord not in _MATRIX_NORMS:
        raise ValueError(f"'ord' must be a supported matrix norm in {list(_MATRIX_NORMS)}, got {ord}")
    if not is_matrix and (ord != "euclidean" if isinstance(ord, (str, bytes)) else ord <= 0):
        raise ValueError(f"'ord' must be a supported vector norm, got {ord}")
    x: Any = tensor if isinstance(tensor, Tensor) else convert(tensor)
    keepdims = bool(keepdims)
    if x.shape.rank is None and axes is None and not keepdims:
        return squeeze(norm(x, ord, keepdims=True, name=name))
    if isinstance(ord, str) or ord == 2:
        if is_matrix and ord == 2:
            largest = _spectral_norm(x, axes, keepdims)
            return less_static(largest, None if x.shape.rank is None else [None] * (largest.shape.rank or 0))
        squares = square(x) if x.dtype.is_floating else x * conj(x)  # conj refuses texts
        return sqrt(reduce_sum(squares, axes, keepdims), name)
    x = abs_op(x)
    if ord == 1:
        sums = reduce_sum(x, axes[0] if is_matrix else axes, is_matrix or keepdims)
        return _max_over(sums, axes[1], axes, keepdims) if is_matrix else sums
    if ord == np.inf:
        if is_matrix:
            return _max_over(reduce_sum(x, axes[1], True), axes[0], axes, keepdims)
        return reduce_max(x, axes, keepdims)
    return pow_op(reduce_sum(pow_op(x, ord), axes, keepdims), 1.0 / ord)


def _max_over(sums: Tensor, axis: int, axes: tuple[int, int], keepdims: bool) -> Any:
    largest = reduce_max(sums, axis, True)
    return largest if keepdims else squeeze(largest, axes)


def _spectral_norm(x: Tensor, axes: tuple[int, int], keepdims: bool) -> Any:
    """Computes the largest singular values of the matrices in two dimensions."""
    rank = x.shape.rank
    if rank is None:
        last = convert(list(axes), int32) % rank_op(x)
        order = joined_dims(other_dimensions(x, last), last)
    else:
        wrong = [a for a in axes if not -rank <= a < rank]
        if wrong:
            raise invalid(f"there is no dimension {wrong[0]} in a tensor of rank {rank}")
        last = (axes[0] % rank, axes[1] % rank)
        order = [*(i for i in range(rank) if i not in last), *last]
    largest = reduce_max(svd(transpose(x, order), compute_uv=False), -1)
    if not keepdims:
        return largest
    if rank is None:
        return reshape(largest, shape_op(reduce_max(x, axes, True)))
    for i in sorted(last):
        largest = expand_dims(largest, i)
    return largest


def normalize(
    tensor: TensorLike, ord: str | float = "euclidean", axis: AxisLike = None, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """Divides vectors or matrices by their norms.

    Args:
        tensor: a tensor of a float or complex dtype, of any shape.
        ord: the kind of norm: "euclidean" (the default), "fro", `np.inf` or a positive number; see `tf.norm`.
        axis: the dimension of vectors, or the two dimensions of matrices; None for all elements as one vector.

    Returns:
        The quotients, of the shape and dtype of `tensor`, and the norms, of that dtype, whose reduced dimensions have
        length 1.

    Raises:
        ValueError: there is no such norm, or `axis` names neither a vector nor a matrix.

    Example:
        >>> tf.linalg.normalize([3.0, 4.0])[1].numpy().tolist()
        [5.0]
    """
    x: Any = tensor if isinstance(tensor, Tensor) else convert(tensor)
    length: Any = cast(norm(x, ord, axis, keepdims=True), x.dtype)
    return x / length, length


# ---- many tensors ----------------------------------------------------------------------------------------------------


def _rows_or_values(x: TensorLike) -> Any:
    """Returns the elements of a tensor, or of the rows of `IndexedSlices`, as a tensor."""
    return x.values if isinstance(x, IndexedSlices) else x if isinstance(x, Tensor) else convert(x)


def _list_of_tensors(t_list: TensorLike) -> list[Any]:
    """Returns a list of many tensors, or raises TypeError."""
    if not isinstance(t_list, Sequence) or isinstance(t_list, (str, bytes)):
        raise TypeError(f"`t_list` should be a sequence of tensors. Received {type(t_list)}.")
    return list(t_list)


def global_norm(t_list: Sequence[TensorLike | None], name: str | None = None) -> Tensor:
    """Computes the Euclidean norm of all elements of many tensors: the root of the sum of their squares.

    Args:
        t_list: tensors or `IndexedSlices` of one float dtype and of any shapes; None is skipped.

    Returns:
        A scalar of that dtype.

    Raises:
        TypeError: `t_list` is not a sequence.

    Example:
        >>> tf.linalg.global_norm([[3.0], [[4.0]], None]).numpy().item()
        5.0
    """
    parts = [reduce_sum(square(_rows_or_values(x))) for x in _list_of_tensors(t_list) if x is not None]
    return sqrt(add_n(parts) if parts else constant(0.0), name)


def clip_by_norm(
    t: TensorLike, clip_norm: TensorLike, axes: AxisLike = None, name: str | None = None
) -> Tensor | IndexedSlices:
    """Scales a tensor down to a Euclidean norm of at most `clip_norm`.

    Args:
        t: a tensor of a float dtype and any shape, or `IndexedSlices`, whose rows then count as the tensor.
        clip_norm: the largest norm allowed; it broadcasts against `t`.
        axes: the dimensions over which norms are computed; None for all.

    Returns:
        A tensor (or `IndexedSlices`) of the shape and dtype of `t`. Parts with a small enough norm are unchanged.

    Raises:
        InvalidArgumentError: `t` is not of a float dtype.
        ValueError: `clip_norm` has more dimensions than `t`.

    Example:
        >>> tf.clip_by_norm([3.0, 4.0], 10.0).numpy().tolist()
        [3.0, 4.0]
    """
    x = _rows_or_values(t)
    limit: Any = clip_norm
    is_scalar = np.isscalar(clip_norm)
    limit = max(limit, 0) if is_scalar else cast(maximum(limit, 0), x.dtype)
    squares: Any = reduce_sum(x * x, axes, True)
    positive = squares > 0
    # The root's gradient is infinite at 0, and times the zero that `where` passes on there it would be NaN.
    length = where(positive, sqrt(where(positive, squares, ones_like(squares))), squares)
    clipped = x * limit / maximum(length, limit)
    x.shape.assert_is_compatible_with(clipped.shape)
    return IndexedSlices(clipped, t.indices, t.dense_shape) if isinstance(t, IndexedSlices) else clipped


def clip_by_global_norm(
    t_list: Sequence[TensorLike | None],
    clip_norm: TensorLike,
    use_norm: TensorLike | None = None,
    name: str | None = None,
) -> tuple[list[Any], Tensor]:
    """Scales many tensors by one factor to a global norm of at most `clip_norm`.

    Args:
        t_list: tensors or `IndexedSlices` of one float dtype and of any shapes; None stays None.
        clip_norm: a scalar, the largest global norm allowed.
        use_norm: a scalar, the global norm, if it was computed before.

    Returns:
        The scaled tensors, and their global norm before scaling. If that is infinite or NaN, all elements become NaN.

    Raises:
        TypeError: `t_list` is not a sequence.

    Example:
        >>> scaled, length = tf.clip_by_global_norm([tf.constant([3.0]), None, tf.constant([4.0])], 2.5)
        >>> scaled[0].numpy().tolist(), scaled[1], length.numpy().item()
        ([1.5], None, 5.0)
    """
    tensors = _list_of_tensors(t_list)
    length: Any = global_norm(tensors) if use_norm is None else convert_to_tensor(use_norm)
    limit = convert_to_tensor(clip_norm, length.dtype)
    factor = limit * minimum(1.0 / length, ones([], length.dtype) / limit)
    factor += length - length  # NaN if the norm is not finite
    clipped: list[Any] = []
    for x in tensors:
        values = None if x is None else _rows_or_values(x) * factor
        clipped.append(IndexedSlices(values, x.indices, x.dense_shape) if isinstance(x, IndexedSlices) else values)
    return clipped, length
