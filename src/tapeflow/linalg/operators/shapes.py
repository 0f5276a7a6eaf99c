"""Shapes and batches: what the operators share for arguments whose leading dimensions broadcast."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from tapeflow.array.creation import zeros
from tapeflow.array.joining import concat, unstack
from tapeflow.array.properties import broadcast_dynamic_shape
from tapeflow.array.shaping import broadcast_to, expand_dims, squeeze
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.definition import ops
from tapeflow.core.types.shape import TensorShape, broadcast_shape
from tapeflow.core.values.tensor import Tensor
from tapeflow.core.values.variable import Variable
from tapeflow.debugging.values import assert_equal, assert_less
from tapeflow.linalg.diagonals import diag_part, set_diag
from tapeflow.linalg.solvers import solve
from tapeflow.math.complex import imag
from tapeflow.math.elementwise import abs as abs_op


def parameter(value: Any) -> Any:
    """What an operator keeps of a parameter: a variable as it is, so that changes to it show; a tensor of the rest."""
    return value if isinstance(value, (Variable, Tensor)) else convert(value)


def dimensions(x: Any) -> list[Any]:
    """The dimensions of a tensor: numbers, and scalar tensors where a graph does not know them."""
    known = x.shape.as_list()
    if None not in known:
        return known
    found = unstack(ops.Shape(x), len(known))
    return [f if k is None else k for k, f in zip(known, found, strict=True)]


def broadcast_static(*shapes: TensorShape) -> TensorShape:
    """The static shape that shapes broadcast to."""
    return functools.reduce(broadcast_shape, shapes)


def broadcast_dynamic(*shapes: Any) -> Any:
    """The shape that shapes broadcast to, all of them integer tensors."""
    return functools.reduce(broadcast_dynamic_shape, shapes)


def square_static(vectors: Any) -> TensorShape:
    """The static shape of the square matrices that are made of vectors, `[..., n]`: `[..., n, n]`."""
    return vectors.shape + vectors.shape[-1:]


def square_dynamic(vectors: Any) -> Any:
    """The shape of the square matrices that are made of vectors, as a tensor."""
    shape = ops.Shape(vectors)
    return concat([shape, shape[-1:]], 0)


def broadcast_batches(tensors: Sequence[Any], inner: int = 2) -> list[Any]:
    """Tensors with their leading dimensions broadcast; the last `inner` dimensions stay as they are."""
    batches = [x.shape[: x.shape.rank - inner] for x in tensors]
    batch: Any = broadcast_static(*batches)
    if not batch.is_fully_defined():
        batch = broadcast_dynamic(*[ops.Shape(x)[:-inner] for x in tensors])
        return [broadcast_to(x, concat([batch, ops.Shape(x)[-inner:]], 0)) for x in tensors]
    return [
        x if own == batch else broadcast_to(x, [*batch, *dimensions(x)[x.shape.rank - inner :]])
        for x, own in zip(tensors, batches, strict=True)
    ]


def solve_dense(matrix: Any, rhs: Any, adjoint: bool = False) -> Any:
    """Solves linear equations with dense matrices, whose leading dimensions broadcast against those of `rhs`."""
    matrix, rhs = broadcast_batches([matrix, rhs])
    return solve(matrix, rhs, adjoint)


def add_to_diagonal(x: Any, diagonal: Any) -> Any:
    """`x` with `diagonal` added to the main diagonals of its matrices, with broadcasting."""
    diagonal = diag_part(x) + diagonal
    x, column = broadcast_batches([x, expand_dims(diagonal, -1)])
    return set_diag(x, squeeze(column, -1))


def check_same_dimension(a: int | None, b: int | None) -> None:
    """Refuses two dimensions that are known and differ.

    Raises:
        ValueError: they do.
    """
    if a is not None and b is not None and a != b:
        raise ValueError(f"Dimensions {a} and {b} are not compatible")


def check_rank(tensor: Any, least: int, name: str) -> None:
    """Refuses a parameter with too few dimensions.

    Raises:
        ValueError: it has less than `least`.
    """
    if tensor.shape.rank is not None and tensor.shape.rank < least:
        plural = "dimension" if least == 1 else "dimensions"
        raise ValueError(f"Argument {name} must have at least {least} {plural}. Found: {tensor}")


def assert_nonzero(x: Any, message: str) -> None:
    """Asserts that no element is zero."""
    x = abs_op(x)
    assert_less(zeros([], x.dtype), x, message=message)


def assert_real(x: Any, message: str) -> None:
    """Asserts that no element has an imaginary part."""
    if x.dtype.is_complex:
        imaginary = imag(x)
        assert_equal(zeros([], imaginary.dtype), imaginary, message=message)
