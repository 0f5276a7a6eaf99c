"""Shapes and batches: functions of all operators for arguments whose leading dimensions broadcast."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from tapeflow.array.concat_and_split import concat
from tapeflow.array.creation import zeros
from tapeflow.array.properties import broadcast_dynamic_shape, shape_op
from tapeflow.array.reshapes import broadcast_to, expand_dims, squeeze
from tapeflow.core.autodiff.gradients import shape_of
from tapeflow.core.ops.convert import convert
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.shape import TensorShape, broadcast_shape
from tapeflow.core.values.tensor import Tensor
from tapeflow.core.values.variable import Variable
from tapeflow.debugging.values import assert_equal, assert_less
from tapeflow.linalg.diagonals import diag_part, set_diag
from tapeflow.linalg.solvers import solve
from tapeflow.math.complex import imag
from tapeflow.math.elementwise import abs as abs_op


def parameter(value: TensorLike) -> Any:
    """Returns a parameter as a tensor. A variable stays a variable, and the operator sees its changes."""
    return value if isinstance(value, (Variable, Tensor)) else convert(value)


def dimensions(x: Any) -> list[Any]:
    """Returns the dimensions of a tensor: numbers, and scalar tensors for those that are not static."""
    return list(shape_of(x))


def broadcast_static(*shapes: TensorShape) -> TensorShape:
    """Returns the static shape that shapes broadcast to."""
    return functools.reduce(broadcast_shape, shapes)


def broadcast_dynamic(*shapes: Any) -> Any:
    """Returns the shape that shapes broadcast to, all of them integer tensors."""
    return functools.reduce(broadcast_dynamic_shape, shapes)


def square_static(vectors: Any, *others: Any) -> TensorShape:
    """Returns the static shape `[..., n, n]` of the matrices that vectors of shape `[..., n]` define."""
    shape = broadcast_static(vectors.shape, *[v.shape for v in others]) if others else vectors.shape
    return shape + shape[-1:]


def square_dynamic(*vectors: Any) -> Any:
    """Returns the shape `[..., n, n]` of the matrices that vectors of shape `[..., n]` define, as a tensor."""
    shape = broadcast_dynamic(*[shape_op(v) for v in vectors])
    return concat([shape, shape[-1:]], 0)


def broadcast_batches(tensors: Sequence[Any], inner: int = 2) -> list[Any]:
    """Broadcasts the leading dimensions of tensors, and keeps the last `inner` dimensions."""
    batches = [x.shape[: x.shape.rank - inner] for x in tensors]
    batch: Any = broadcast_static(*batches)
    if not batch.is_fully_defined():
        batch = broadcast_dynamic(*[shape_op(x)[:-inner] for x in tensors])
        return [broadcast_to(x, concat([batch, shape_op(x)[-inner:]], 0)) for x in tensors]
    return [
        x if own == batch else broadcast_to(x, [*batch, *dimensions(x)[x.shape.rank - inner :]])
        for x, own in zip(tensors, batches, strict=True)
    ]


def solve_dense(matrix: Tensor, rhs: Any, adjoint: bool) -> Any:
    """Solves linear equations with dense matrices. Their leading dimensions broadcast with the ones in `rhs`."""
    matrix, rhs = broadcast_batches([matrix, rhs])
    return solve(matrix, rhs, adjoint)


def add_to_diagonal(x: Any, diagonal: TensorLike) -> Any:
    """Adds `diagonal` to the main diagonals of the matrices in `x`, with broadcasting."""
    diagonal = diag_part(x) + diagonal
    x, column = broadcast_batches([x, expand_dims(diagonal, -1)])
    return set_diag(x, squeeze(column, -1))


def check_same_dimension(a: int | None, b: int | None) -> None:
    """Raises ValueError if two dimensions, None for those that are not static, differ."""
    if a is not None and b is not None and a != b:
        raise ValueError(f"Dimensions {a} and {b} are not compatible")


def check_rank(tensor: Any, least: int, name: str) -> None:
    """Raises ValueError if a parameter has less than `least` dimensions."""
    if tensor.shape.rank is not None and tensor.shape.rank < least:
        plural = "dimension" if least == 1 else "dimensions"
        raise ValueError(f"Argument {name} must have at least {least} {plural}. Found: {tensor}")


def assert_nonzero(x: Tensor, message: str) -> Any:
    """Asserts that no element is zero."""
    x = abs_op(x)
    return assert_less(zeros([], x.dtype), x, message=message)


def assert_real(x: Tensor, message: str) -> Any:
    """Asserts that no element has an imaginary part."""
    if not x.dtype.is_complex:
        return None
    imaginary = imag(x)
    return assert_equal(zeros([], imaginary.dtype), imaginary, message=message)
