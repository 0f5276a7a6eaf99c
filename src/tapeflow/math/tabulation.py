"""Functions of one number that take long: a table replaces their formulas for many numbers of float32.

The table has 256 intervals for each power of two, so it is as precise next to zero, and next to a pole there, as
elsewhere. In an interval the function is a polynomial, computed in float64. Few results differ from those of the
formula, by the last digit of float32.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np
import torch

from tapeflow.core.ops.elementwise_kernels import SOME, by_value

Function = Callable[[torch.Tensor], torch.Tensor]

_LOW_BITS = 15  # of a float32, within an interval
_CENTER = 1 << _LOW_BITS - 1
_DEGREE = 4


def _interval(x: float) -> int:
    """Returns the number of the interval that begins at a power of two."""
    return int(np.float32(x).view(np.int32)) >> _LOW_BITS


_FIRST = _interval(2.0**-24)


def _coefficients(function: Function, last: int) -> list[torch.Tensor]:
    """Returns the polynomials' coefficients, the constant ones first, in powers of the distance from the center of the
    interval."""
    starts = np.arange(_FIRST, last + 1, dtype=np.int32) << _LOW_BITS
    edges = starts.view(np.float32).astype(np.float64)
    centers, half = (edges[1:] + edges[:-1]) / 2, np.diff(edges)[:, None] / 2
    nodes = np.cos((np.arange(_DEGREE + 1) + 0.5) * (np.pi / (_DEGREE + 1)))
    values = function(torch.from_numpy(centers[:, None] + half * nodes)).numpy()
    scaled = values @ np.linalg.inv(np.vander(nodes, increasing=True)).T
    return [torch.from_numpy(column) for column in np.ascontiguousarray((scaled / half ** np.arange(_DEGREE + 1)).T)]


def tabulated(function: Function, parity: int = 0, end: float = 32.0) -> Function:
    """Returns the kernel of a smooth function that is computed in float64.

    Args:
        function: computes the function of a float64 tensor.
        parity: 1 for even functions, -1 for odd ones; 0 if the table is of no use for negative numbers.
        end: the end of the table, a power of two. From there on the function is computed by its formula.
    """
    last = _interval(end)
    table = functools.cache(functools.partial(_coefficients, function, last))

    def by_formula(x: torch.Tensor) -> torch.Tensor:
        return function(x.to(torch.float64)).to(x.dtype)

    def kernel(x: torch.Tensor) -> torch.Tensor:
        if x.dtype is not torch.float32 or not by_value(x, SOME):
            return by_formula(x)
        magnitude = (x.abs() if parity else x.resolve_neg()).contiguous().reshape(-1)
        # Positive floats are in the order of their bits. NaN and negative numbers become other numbers.
        bits = magnitude.view(torch.int32).clamp(_FIRST << _LOW_BITS, (last << _LOW_BITS) - 1)
        inside = bits.view(torch.float32)
        places = (bits >> _LOW_BITS) - _FIRST
        center = ((bits & -2 * _CENTER) | _CENTER).view(torch.float32)
        distance = (inside - center).to(torch.float64)  # both are of one size, and the difference is exact
        *lower, highest = table()
        total = highest.index_select(0, places)
        for coefficients in reversed(lower):
            total.mul_(distance).add_(coefficients.index_select(0, places))
        result = total.to(torch.float32).view(x.shape)
        if parity < 0:
            result.mul_(x.sign())
        outside = inside != magnitude
        if outside.any():
            outside = outside.view(x.shape)
            result[outside] = by_formula(x[outside])
        return result

    return kernel
