"""Sobol's quasi-random sequence."""

from __future__ import annotations

import functools

import torch

from tapeflow.core.loops import Int64s, Numbers, loop, trailing_zeros
from tapeflow.core.ops.op import op
from tapeflow.core.ops.shape_rules import length
from tapeflow.core.types.aliases import DTypeLike, TensorLike
from tapeflow.core.types.dtypes import DType, float32
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import Tensor, invalid

_MOST_DIMENSIONS = 21_200
_BITS = 30
_SMALLEST = 2.0**-_BITS


def _sobol_points(dim: int, num_results: int, skip: int, dtype: DType, device: torch.device) -> torch.Tensor:
    if not 1 <= dim <= _MOST_DIMENSIONS:
        raise invalid(f"dim must be {'at least one' if dim < 1 else f'at most {_MOST_DIMENSIONS}'}, not {dim}")
    if num_results < 1:
        raise invalid(f"num_results must be at least one, not {num_results}")
    if skip < 0:
        raise invalid(f"skip must be non-negative, not {skip}")
    points = torch.empty((num_results, dim), dtype=dtype.torch)
    _draw_points(_directions(dim), dim, skip, num_results, points)
    return points.to(device)


@functools.lru_cache(16)
def _directions(dim: int) -> torch.Tensor:
    """Returns torch's direction numbers, `[dim, _BITS]`."""
    return torch.quasirandom.SobolEngine(dim).sobolstate.contiguous()


@loop
def _draw_points(directions: Int64s, dim: int, skip: int, count: int, points: Numbers) -> None:
    """Writes the points after the origin and `skip` others; the bits of a point are its number in Gray code."""
    for d in range(dim):
        place = 0
        for bit in range(_BITS):
            if (skip ^ skip >> 1) >> bit & 1:
                place ^= directions[d * _BITS + bit]
        for i in range(count):
            bit = trailing_zeros(skip + i + 1)
            if bit < _BITS:
                place ^= directions[d * _BITS + bit]
            points[i * dim + d] = place * _SMALLEST


@op(
    "SobolSample", kernel=_sobol_points, host=("dim", "num_results", "skip"),
    shape=lambda dim, num_results, *_: TensorShape([length(num_results), length(dim)]), creates=True,
)  # fmt: skip
def sobol_sample(
    dim: TensorLike, num_results: TensorLike, skip: TensorLike = 0, dtype: DTypeLike = float32, name: str | None = None
) -> Tensor:
    """Returns points of the Sobol sequence, which fill the unit cube evenly.

    Direction numbers by Joe and Kuo (https://web.maths.unsw.edu.au/~fkuo/sobol).

    Args:
        dim: the number of dimensions, up to 21200.
        num_results: a scalar, the number of points.
        skip: a scalar, the number of points to leave out at the beginning; 0 by default.
        dtype: float32 or float64; float32 by default.

    Returns:
        A tensor of shape `[num_results, dim]` and of `dtype`, with values from 0 to 1.

    Raises:
        InvalidArgumentError: a number is out of range.

    Example:
        >>> tf.math.sobol_sample(2, 3).numpy().tolist()
        [[0.5, 0.5], [0.75, 0.25], [0.25, 0.75]]
    """
