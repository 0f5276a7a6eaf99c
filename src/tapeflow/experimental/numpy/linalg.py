"""`tf.experimental.numpy`: products, traces and diagonals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tapeflow import linalg, math
from tapeflow.array.concat_and_split import concat, stack
from tapeflow.array.creation import zeros
from tapeflow.array.padding import pad
from tapeflow.array.properties import rank as rank_op
from tapeflow.array.properties import shape as shape_of
from tapeflow.array.reshapes import broadcast_to, reshape
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.types.aliases import DTypeLike, TensorLike
from tapeflow.core.types.dtypes import int32
from tapeflow.core.values.tensor import Tensor
from tapeflow.experimental.numpy.documentation import numpy_function
from tapeflow.experimental.numpy.manipulation import moveaxis
from tapeflow.experimental.numpy.reductions import sum
from tapeflow.experimental.numpy.types import (
    as_array,
    axis_of,
    broadcast_shape_of,
    by_rank,
    either,
    operands,
    promote_values,
    rank_of,
)


@numpy_function("[[1, 2], [3, 4]], [5, 6]")
def matmul(x1: TensorLike, x2: TensorLike) -> Tensor:
    """Multiplies matrices, or stacks of them; a vector is a row on the left, a column on the right.

    Args:
        x1, x2: as for `numpy.matmul`; tensors [..., n, k] and [..., k, m] or vectors take the place of arrays.

    Raises:
        TypeError, ValueError: an argument is invalid for `numpy.matmul`.
    """
    x, y = operands(x1, x2)
    try:
        return by_rank(
            y,
            1,
            lambda: linalg.tensordot(x, y, 1),
            lambda: by_rank(x, 1, lambda: linalg.tensordot(x, y, [[0], [-2]]), lambda: linalg.matmul(x, y)),
        )
    except InvalidArgumentError as error:
        raise ValueError(str(error)) from error


@numpy_function("[[1, 2], [3, 4]], [[5, 6], [7, 8]]")
def dot(a: TensorLike, b: TensorLike) -> Tensor:
    """Sums products over the last axis of `a` and the second-to-last axis of `b`, or its only axis.

    Raises:
        TypeError, ValueError: an argument is invalid for `numpy.dot`.
        InvalidArgumentError: the summed dimensions differ.
    """
    x, y = operands(a, b)
    return _contract_operands(
        x, y, lambda: by_rank(y, 1, lambda: _contract_last(x, y, -1), lambda: _contract_last(x, y, -2))
    )


@numpy_function("[[1, 2], [3, 4]], [5, 6]")
def inner(a: TensorLike, b: TensorLike) -> Tensor:
    """Sums products over the last axes of both.

    Raises:
        TypeError, ValueError: an argument is invalid for `numpy.inner`.
        InvalidArgumentError: the last dimensions differ.
    """
    x, y = operands(a, b)
    return _contract_operands(x, y, lambda: _contract_last(x, y, -1))


def _contract_operands(x: Tensor, y: Tensor, contraction: Callable[[], Any]) -> Any:
    """Returns the product if `x` or `y` is a scalar, otherwise their `contraction`."""
    return by_rank(x, 0, lambda: x * y, lambda: by_rank(y, 0, lambda: x * y, contraction))


def _contract_last(x: Tensor, y: Tensor, axis: int) -> Any:
    """Contracts the last axis of `x` with an axis of `y`."""
    return linalg.tensordot(x, y, [[-1], [axis]])


@numpy_function("[1, 2], [3, 4]")
def outer(a: TensorLike, b: TensorLike) -> Tensor:
    """Multiplies each element of one with each of the other."""
    x, y = operands(a, b)
    return reshape(x, [-1, 1]) * reshape(y, [-1])


@numpy_function("[1, 2j], [3, 4]")
def vdot(a: TensorLike, b: TensorLike) -> Tensor:
    """Sums the products of all elements, conjugates of the first.

    Raises:
        TypeError, ValueError: an argument is invalid for `numpy.vdot`.
        InvalidArgumentError: the numbers of elements differ.
    """
    x, y = promote_values(a, b)
    return linalg.tensordot(math.conj(reshape(x, [-1])), reshape(y, [-1]), 1)


@numpy_function("[[1, 2], [3, 4]], [[5, 6], [7, 8]], 1")
def tensordot(a: TensorLike, b: TensorLike, axes: int | Sequence[Any] = 2) -> Tensor:
    """Sums products over axes.

    Raises:
        TypeError, ValueError: an argument is invalid for `numpy.tensordot`.
        InvalidArgumentError: the summed dimensions differ.
    """
    x, y = operands(a, b)
    return linalg.tensordot(x, y, axes)


@numpy_function("[1, 2], [3, 4]")
def kron(a: TensorLike, b: TensorLike) -> Tensor:
    """Computes the Kronecker product."""
    x, y = promote_values(a, b)
    rank = max(rank_of(x, "kron"), rank_of(y, "kron"))
    shapes = [concat([np.ones(rank - t.shape.rank, np.int32), shape_of(t)], 0) for t in (x, y)]
    ones = np.ones(rank, np.int32)
    x = reshape(x, reshape(stack([shapes[0], ones], axis=1), [-1]))
    y = reshape(y, reshape(stack([ones, shapes[1]], axis=1), [-1]))
    return reshape(x * y, shapes[0] * shapes[1])


@numpy_function("[1, 2, 3], [4, 5, 6]")
def cross(
    a: TensorLike, b: TensorLike, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None
) -> Tensor:
    """Computes cross products of vectors of three elements, or two, the third being zero.

    Args:
        a, b, axisa, axisb, axisc, axis: as for `numpy.cross`; `a` and `b` are tensors [..., 2] or [..., 3].

    Raises:
        TypeError, ValueError: an argument is invalid for `numpy.cross`.
        FailedPreconditionError: the vectors have neither two nor three elements.
    """
    if axis is not None:
        axisa = axisb = axisc = axis
    x, y = operands(a, b)
    places = [axis_of(at, v.shape.rank) for v, at in ((x, axisa), (y, axisb))]
    if 0 in (x.shape.rank, y.shape.rank):
        raise IndexError("index -1 is out of bounds for axis 0 with size 0")
    x, y = (moveaxis(v, int(place), -1) for v, place in zip((x, y), places, strict=True))
    flat = [v.shape[-1] == 2 if v.shape.is_fully_defined() else shape_of(v)[-1] == 2 for v in (x, y)]
    x, y = _with_third(x), _with_third(y)
    common = broadcast_shape_of([x, y])
    product = linalg.cross(broadcast_to(x, common), broadcast_to(y, common))
    return either(
        flat[0] & flat[1],
        lambda: product[..., 2],
        lambda: moveaxis(product, -1, int(axis_of(axisc, product.shape.rank))),
    )


def _with_third(vectors: Tensor) -> Tensor:
    """Returns vectors with a third element, zero, if they have two."""
    size = None if vectors.shape.rank is None else vectors.shape[-1]
    return either(
        shape_of(vectors)[-1] == 2 if size is None else size == 2,
        lambda: pad(vectors, concat([zeros([rank_op(vectors) - 1, 2], int32), [[0, 1]]], 0)),
        lambda: vectors,
    )


@numpy_function("'ij,j->i', [[1, 2], [3, 4]], [5, 6]")
def einsum(subscripts: str, *operands: TensorLike, **kwargs: Any) -> Tensor:
    """Sums products by Einstein's convention.

    Raises:
        TypeError, ValueError: an argument is invalid for `numpy.einsum`.
        InvalidArgumentError: the shapes do not fit `subscripts`.
    """
    casting, optimize = kwargs.get("casting", "safe"), kwargs.get("optimize", False)
    if casting not in ("safe", "no"):
        raise ValueError(
            f'Invalid value for argument `casting`. Expected casting="safe" or casting="no". Received: '
            f"casting={casting}"
        )
    if optimize not in (False, True, "greedy", "optimal"):
        raise ValueError(
            f'Invalid value for argument `optimize`. Expected one of {{True, "greedy", "optimal"}}. Received: '
            f"optimize={optimize}"
        )
    values = promote_values(*operands) if casting == "safe" else [as_array(v) for v in operands]
    return linalg.einsum(subscripts, *values, optimize="optimal" if optimize == "optimal" else "greedy")


def _takes_the_diagonal(x: Tensor, offset: int, axis1: int, axis2: int) -> bool:
    """Returns True if the diagonals are main diagonals of the matrices in the last two dimensions."""
    rank = x.shape.rank
    return offset == 0 and rank is not None and axis1 in (-2, rank - 2) and axis2 in (-1, rank - 1)


@numpy_function("[[1, 2], [3, 4]], 1")
def diagonal(a: TensorLike, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Tensor:
    """Returns diagonals of the matrices in two axes.

    Args:
        a, offset, axis1, axis2: as for `numpy.diagonal`; `a` is a tensor with at least two dimensions.

    Raises:
        TypeError, ValueError: an argument is invalid for `numpy.diagonal`.
        InvalidArgumentError: there are fewer than two dimensions.
    """
    x = as_array(a)
    if _takes_the_diagonal(x, offset, axis1, axis2):
        return linalg.diag_part(x)
    x = moveaxis(x, (axis1, axis2), (-2, -1))
    if isinstance(offset, (list, tuple)):
        offset = np.asarray(offset)  # as NumPy compares it
    sizes = list(x.shape) if x.shape.is_fully_defined() else shape_of(x)
    outside = (offset <= -sizes[-2]) | (offset >= sizes[-1])
    x, offset = either(outside, lambda: (x[..., :0], 0), lambda: (x, offset))
    return linalg.diag_part(x, k=offset)


@numpy_function("[[1, 2], [3, 4]]")
def trace(a: TensorLike, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: DTypeLike = None) -> Tensor:
    """Sums diagonals of the matrices in two axes.

    Args:
        a, offset, axis1, axis2, dtype: as for `numpy.trace`; `a` is a tensor with at least two dimensions.

    Raises:
        TypeError, ValueError: an argument is invalid for `numpy.trace`.
        InvalidArgumentError: there are fewer than two dimensions.
    """
    x = as_array(a, dtype or None)
    if _takes_the_diagonal(x, offset, axis1, axis2):
        return linalg.trace(x)
    return sum(diagonal(x, offset, axis1, axis2), -1, dtype)
