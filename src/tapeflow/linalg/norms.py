"""Norms, and what is scaled by them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import tapeflow as tf
from tapeflow.core.ops.convert import convert, host_value
from tapeflow.core.values.indexed_slices import IndexedSlices
from tapeflow.core.values.tensor import Tensor

_MATRIX_NORMS = ("euclidean", "fro", 1, 2, np.inf)


def norm(tensor: Any, ord: Any = "euclidean", axis: Any = None, keepdims: bool | None = None, name: Any = None) -> Any:
    """Norms of vectors or of matrices.

    Args:
        tensor: of a float or complex dtype.
        ord: "euclidean", `np.inf` or a positive number `p`: the root of order `p` of the sum of the absolute values to
            the power `p`. For matrices "euclidean" or "fro" (the root of the sum of squares), 1 (the largest sum of a
            column), `np.inf` (of a row), or 2 (the largest singular value).
        axis: the dimension of vectors, or the two dimensions of matrices; None for all elements as one vector.
        keepdims: keeps the reduced dimensions, with length 1.

    Returns:
        A tensor of the dtype of `tensor`; of its real dtype where `tensor` is complex and `ord` is not "euclidean".

    Raises:
        ValueError: there is no such norm, or `axis` names no vector or matrix.

    Example:
        >>> tf.norm([3.0, 4.0]).numpy().item()
        5.0
        >>> tf.norm([[1.0, -2.0], [3.0, 4.0]], ord=1, axis=[0, 1]).numpy().item()
        6.0
    """
    axis = host_value(axis)
    is_matrix = isinstance(axis, tuple) and len(axis) == 2
    if isinstance(axis, tuple):
        if len(axis) not in (1, 2) or len(set(axis)) != len(axis):
            raise ValueError(f"'axis' must be None, an integer, or a tuple of 2 unique integers, got {axis}")
        axis = axis if is_matrix else axis[0]
    if is_matrix and ord not in _MATRIX_NORMS:
        raise ValueError(f"'ord' must be a supported matrix norm in {list(_MATRIX_NORMS)}, got {ord}")
    if not is_matrix and (ord != "euclidean" if isinstance(ord, str) else ord <= 0):
        raise ValueError(f"'ord' must be a supported vector norm, got {ord}")
    x = tensor if isinstance(tensor, Tensor) else convert(tensor)
    keepdims = bool(keepdims)
    if ord in ("fro", "euclidean", 2):
        if is_matrix and ord == 2:
            return _spectral_norm(x, axis, keepdims)
        squares = x * tf.math.conj(x) if x.dtype.is_complex else tf.square(x)
        return tf.sqrt(tf.reduce_sum(squares, axis, keepdims), name)
    x = tf.abs(x)
    if ord == 1:
        sums = tf.reduce_sum(x, axis[0] if is_matrix else axis, is_matrix or keepdims)
        return _max_over(sums, axis[1], axis, keepdims) if is_matrix else sums
    if ord == np.inf:
        if is_matrix:
            return _max_over(tf.reduce_sum(x, axis[1], True), axis[0], axis, keepdims)
        return tf.reduce_max(x, axis, keepdims)
    return tf.pow(tf.reduce_sum(tf.pow(x, ord), axis, keepdims), 1.0 / ord)


def _max_over(sums: Any, axis: int, axes: tuple[int, int], keepdims: bool) -> Any:
    largest = tf.reduce_max(sums, axis, True)
    return largest if keepdims else tf.squeeze(largest, axes)


def _spectral_norm(x: Any, axes: tuple[int, int], keepdims: bool) -> Any:
    """The largest singular value of the matrices in two dimensions."""
    rank = len(x.shape)
    rows, columns = axes[0] % rank, axes[1] % rank
    others = [i for i in range(rank) if i not in (rows, columns)]
    values = tf.linalg.svd(tf.transpose(x, [*others, rows, columns]), compute_uv=False)
    largest = tf.reduce_max(values, -1)
    for i in sorted((rows, columns)) if keepdims else ():
        largest = tf.expand_dims(largest, i)
    return largest


def normalize(tensor: Any, ord: Any = "euclidean", axis: Any = None, name: Any = None) -> tuple[Any, Any]:
    """Divides vectors or matrices by their norms.

    Args:
        tensor, ord, axis: see `tf.norm`.

    Returns:
        The quotients, and the norms with the reduced dimensions kept.

    Raises:
        ValueError: see `tf.norm`.

    Example:
        >>> tf.linalg.normalize([3.0, 4.0])[1].numpy().tolist()
        [5.0]
    """
    x = tensor if isinstance(tensor, Tensor) else convert(tensor)
    length = tf.cast(norm(x, ord, axis, keepdims=True), x.dtype)
    return x / length, length


# ---- many tensors ----------------------------------------------------------------------------------------------------


def _values(x: Any) -> Any:
    return x.values if isinstance(x, IndexedSlices) else x if isinstance(x, Tensor) else convert(x)


def _list_of_tensors(t_list: Any) -> list[Any]:
    if not isinstance(t_list, Sequence) or isinstance(t_list, (str, bytes)):
        raise TypeError(f"`t_list` should be a sequence of tensors. Received {type(t_list)}.")
    return list(t_list)


def global_norm(t_list: Any, name: Any = None) -> Any:
    """The Euclidean norm of all elements of many tensors: the root of the sum of their squares.

    Args:
        t_list: tensors or `IndexedSlices`; a None counts as nothing.

    Returns:
        A scalar.

    Raises:
        TypeError: `t_list` is not a sequence.

    Example:
        >>> tf.linalg.global_norm([[3.0], [[4.0]], None]).numpy().item()
        5.0
    """
    parts = [tf.reduce_sum(tf.square(_values(x))) for x in _list_of_tensors(t_list) if x is not None]
    return tf.sqrt(tf.add_n(parts) if parts else tf.constant(0.0), name)


def clip_by_norm(t: Any, clip_norm: Any, axes: Any = None, name: Any = None) -> Any:
    """Scales a tensor down so that its Euclidean norm is `clip_norm` at most.

    Args:
        t: of a float dtype, or `IndexedSlices`, whose rows are then taken for the tensor.
        clip_norm: the largest norm allowed; it broadcasts against `t`.
        axes: the dimensions over which a norm is taken; None for all.

    Returns:
        A tensor (or `IndexedSlices`) like `t`: itself where its norm is small enough.

    Raises:
        InvalidArgumentError: `t` is not of a float dtype.
        ValueError: `clip_norm` has more dimensions than `t`.

    Example:
        >>> tf.clip_by_norm([3.0, 4.0], 10.0).numpy().tolist()
        [3.0, 4.0]
    """
    x = _values(t)
    squares = tf.reduce_sum(x * x, axes, True)
    positive = squares > 0
    # The root's gradient is infinite at 0, and would be NaN in the gradient of a choice between it and something else.
    length = tf.where(positive, tf.sqrt(tf.where(positive, squares, tf.ones_like(squares))), squares)
    limit = tf.maximum(tf.convert_to_tensor(clip_norm, x.dtype), tf.zeros([], x.dtype))
    clipped = x * limit / tf.maximum(length, limit)
    x.shape.assert_is_compatible_with(clipped.shape)
    return IndexedSlices(clipped, t.indices, t.dense_shape) if isinstance(t, IndexedSlices) else clipped


def clip_by_global_norm(t_list: Any, clip_norm: Any, use_norm: Any = None, name: Any = None) -> tuple[list[Any], Any]:
    """Scales many tensors by one factor so that their global norm is `clip_norm` at most.

    Args:
        t_list: tensors or `IndexedSlices`; None stays None.
        clip_norm: the largest global norm allowed.
        use_norm: the global norm, where it is known already.

    Returns:
        The scaled tensors, and the global norm as it was. If that is infinite or NaN, all elements become NaN.

    Raises:
        TypeError: `t_list` is not a sequence.

    Example:
        >>> scaled, length = tf.clip_by_global_norm([tf.constant([3.0]), None, tf.constant([4.0])], 2.5)
        >>> scaled[0].numpy().tolist(), scaled[1], length.numpy().item()
        ([1.5], None, 5.0)
    """
    tensors = _list_of_tensors(t_list)
    length = global_norm(tensors) if use_norm is None else tf.convert_to_tensor(use_norm)
    limit = tf.convert_to_tensor(clip_norm, length.dtype)
    factor = limit * tf.minimum(1.0 / length, tf.ones([], length.dtype) / limit)
    factor += length - length  # NaN where the norm is not finite
    clipped: list[Any] = []
    for x in tensors:
        values = None if x is None else _values(x) * factor
        clipped.append(IndexedSlices(values, x.indices, x.dense_shape) if isinstance(x, IndexedSlices) else values)
    return clipped, length
