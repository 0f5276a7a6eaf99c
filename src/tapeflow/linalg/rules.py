"""Shape rules that the ops on matrices share."""

from __future__ import annotations

from typing import Any

import torch

from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import invalid


def sizes(shape: TensorShape) -> list[int]:
    """The dimensions of a shape that is known in full."""
    return [int(d) for d in shape]


def matrices(x: TensorShape, *_: Any) -> TensorShape:
    """Matrices, in the last two dimensions; the result has their shape."""
    if x.rank is not None and x.rank < 2:
        raise invalid(f"Input tensor 0 must have rank >= 2, got {x.rank}")
    return x


def square_matrices(x: TensorShape, *_: Any) -> TensorShape:
    """Square matrices; the result has their shape."""
    matrices(x)
    if x.rank is not None and not TensorShape(x[-1:]).is_compatible_with(x[-2:-1]):
        raise invalid("Input matrix must be square.")
    return x


def one_each(x: TensorShape, *_: Any) -> TensorShape:
    """A scalar for each square matrix."""
    return square_matrices(x)[:-2] if x.rank is not None else x


def check_square(x: torch.Tensor) -> None:
    """Raises what TensorFlow says of matrices that are not square, for kernels that would take them."""
    if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        square_matrices(TensorShape(x.shape))
