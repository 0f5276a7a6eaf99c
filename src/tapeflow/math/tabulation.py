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

from tapeflow.core.loops import Float64s, Int32s, loop
from tapeflow.core.ops.elementwise_kernels import SOME, by_value

Function = Callable[[torch.Tensor], torch.Tensor]

_LOW_BITS = 15  # of a float32, within an interval
_CENTER = 1 << _LOW_BITS - 1
_HALF = 1.0 / _CENTER  # of an interval, in units of the last bit
_DEGREE = 4
_MAGNITUDE = 0x7FFFFFFF  # the bits of a float32 but its sign


def _interval_number(x: float) -> int:
    """Returns the number of the interval that begins at a power of two."""
    return int(np.float32(x).view(np.int32)) >> _LOW_BITS


_LEAST = 2.0**-24
_FIRST = _interval_number(_LEAST)


def _polynomial_coefficients(function: Function, last: int) -> torch.Tensor:
    """Returns the polynomials' coefficients, the constant ones first. The ends of an interval are -1 and 1."""
    starts = np.arange(_FIRST, last + 1, dtype=np.int32) << _LOW_BITS
    edges = starts.view(np.float32).astype(np.float64)
    centers, half = (edges[1:] + edges[:-1]) / 2, np.diff(edges)[:, None] / 2
    nodes = np.cos((np.arange(_DEGREE + 1) + 0.5) * (np.pi / (_DEGREE + 1)))
    values = function(torch.from_numpy(centers[:, None] + half * nodes)).numpy()
    return torch.from_numpy(np.ascontiguousarray(values @ np.linalg.inv(np.vander(nodes, increasing=True)).T))


@loop
def _look_up(bits: Int32s, size: int, parity: int, last: int, table: Float64s, results: Float64s) -> int:
    """Computes the polynomials for the bits of float32s, and returns the number of elements outside of the table."""
    outside = 0
    for i in range(size):
        # Positive floats are in the order of their bits.
        magnitude = bits[i] & _MAGNITUDE if parity else bits[i]
        inside = min(max(magnitude, _FIRST << _LOW_BITS), (last << _LOW_BITS) - 1)
        outside += inside != magnitude
        place = ((inside >> _LOW_BITS) - _FIRST) * (_DEGREE + 1)
        x = ((inside & 2 * _CENTER - 1) - _CENTER) * _HALF
        value = table[place + 3] + x * table[place + 4]
        value = table[place] + x * (table[place + 1] + x * (table[place + 2] + x * value))
        results[i] = -value if parity < 0 and bits[i] < 0 else value
    return outside


def tabulated_kernel(function: Function, parity: int = 0, end: float = 32.0) -> Function:
    """Returns the kernel of a smooth function that is computed in float64.

    Args:
        function: computes the function of a float64 tensor.
        parity: 1 for even functions, -1 for odd ones; 0 if the table is of no use for negative numbers.
        end: the end of the table, a power of two. From there on the function is computed by its formula.
    """
    last = _interval_number(end)
    table = functools.cache(functools.partial(_polynomial_coefficients, function, last))

    def by_formula(x: torch.Tensor) -> torch.Tensor:
        return function(x.to(torch.float64)).to(x.dtype)

    def kernel(x: torch.Tensor) -> torch.Tensor:
        if x.dtype is not torch.float32 or not by_value(x, SOME):
            return by_formula(x)
        bits = x.resolve_neg().contiguous().view(torch.int32)
        results = torch.empty(x.shape, dtype=torch.float64)
        outside = _look_up(bits, bits.numel(), parity, last, table(), results)
        result = results.to(torch.float32)
        if outside:
            magnitude = x.abs() if parity else x
            places = ~((magnitude >= _LEAST) & (magnitude < end))
            result[places] = by_formula(x[places])
        return result

    return kernel
