"""Shape rules and the batching rule that the ops on matrices share."""

from __future__ import annotations

from typing import Any

import torch

from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.ops.batch_rules import Batch, Slices
from tapeflow.core.ops.shape_rules import broadcast, text
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import invalid


def sizes(shape: TensorShape) -> list[int]:
    """Returns the dimensions of a fully defined shape."""
    return [int(d) for d in shape]


def is_static(argument: TensorLike) -> bool:
    """Returns True if a shape rule sees the whole value of a host argument. Kernels may get the caller's list."""
    return isinstance(argument, int) or (isinstance(argument, (tuple, list)) and None not in argument)


def matrices(x: TensorShape, *_: Any) -> TensorShape:
    """Returns the shape of the input, which must hold matrices in the last two dimensions."""
    if x.rank is not None and x.rank < 2:
        raise invalid(f"Input tensor 0 must have rank >= 2, got {x.rank}")
    return x


def square_matrices(x: TensorShape, *_: Any) -> TensorShape:
    """Returns the shape of the input, which must hold square matrices in the last two dimensions: each says the other's
    length."""
    matrices(x)
    if x.rank is None:
        return x
    if not x[-1:].is_compatible_with(x[-2:-1]):
        raise invalid("Input matrix must be square.")
    side = x[-1:].merge_with(x[-2:-1])
    return x[:-2] + side + side


def one_each(x: TensorShape, *_: Any) -> TensorShape:
    """Returns the shape of one scalar for each square matrix."""
    return square_matrices(x)[:-2] if x.rank is not None else x


def batch_of_both(x: TensorShape, y: TensorShape) -> TensorShape:
    """Returns the shape that the leading dimensions of two stacks of matrices, neither of unknown rank, broadcast to.

    Raises:
        InvalidArgumentError: a shape has a rank below 2, or the leading dimensions do not broadcast.
    """
    for i, shape in enumerate((x, y)):
        if shape.rank < 2:
            raise invalid(f"In[{i}] ndims must be >= 2: {shape.rank}")
    try:
        return broadcast(x[:-2], y[:-2])
    except (InvalidArgumentError, ValueError):
        raise invalid(f"In[0] and In[1] must have compatible batch dimensions: {text(x)} vs. {text(y)}") from None


def check_square(x: torch.Tensor) -> None:
    """Raises TensorFlow's error for matrices that are not square, which some of ATen's kernels would take."""
    if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        square_matrices(TensorShape(x.shape))


def solve_slices(batch: Batch, matrix: Slices, rhs: Slices, *attrs: Any) -> Any:
    """Solves the equations of all slices; the batching rule of ops that solve `matrix @ x = rhs`."""
    rank = max(matrix.rank, rhs.rank)
    stacked = [batch.lift(Slices(batch.stack(x), x.slice, True), rank) for x in (matrix, rhs)]
    return batch.run(*stacked, *attrs)


def is_singular(pivots: torch.Tensor) -> bool:
    """Returns True if TensorFlow considers one of several matrices singular, by the pivots of its factors or by the
    diagonal of a triangle. TensorFlow tests if their least absolute value is 0. It finds the least by comparisons in
    turn, which skip every NaN but the first."""
    return bool((pivots == 0).any()) or bool(torch.isnan(pivots[..., :1]).any())
