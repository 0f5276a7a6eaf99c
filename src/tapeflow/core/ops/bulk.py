"""Kernels for many elements where ATen's own go through them one by one.

On a CPU, ATen's kernels that write bools, or choose by them, are not vectorized. These kernels compute the same
bits in another way: comparisons in the dtype of the operands, choices by masks of bits, bools as bytes. For few
elements, other dtypes and devices, and where there are no values to read (a compiler, `vmap`) or torch's autograd
follows them, they call ATen's kernel. Functions of floats are NumPy's where it computes them faster, and the same but
for the last digits.
"""

from __future__ import annotations

import functools
import math
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from tapeflow.core.values.tensor import traced

_is_batched = torch._C._functorch.is_batchedtensor  # by `torch.func.vmap`

SOME = 1 << 12  # elements: from here on a few more calls are worth it
MANY = 1 << 14

# Dtypes whose comparisons are vectorized, and the integers with their bits.
_BITS = {torch.float32: torch.int32, torch.int32: torch.int32, torch.float16: torch.int16, torch.bfloat16: torch.int16}


def by_value(x: torch.Tensor, count: int = 0) -> bool:
    """Returns whether a tensor has at least so many elements, on the CPU, with values to look at, which torch's
    autograd does not follow."""
    return x.numel() >= count and x.is_cpu and not x.requires_grad and not traced(x) and not _is_batched(x)


@functools.cache
def mkl_is_slow() -> bool:
    """Returns whether ATen calls MKL for functions of floats on a processor that MKL has only general code for."""
    if sys.platform != "linux" or not (torch.backends.mkl.is_available() and torch.backends.mkldnn.is_available()):
        return False
    try:
        with open("/proc/cpuinfo", "rb") as file:
            return b"AuthenticAMD" in file.read(512)
    except OSError:
        return False


def comparison(function: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
    """Returns the kernel of a comparison, such as `torch.eq`."""

    def kernel(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        if x.numel() < MANY or x.dtype not in _BITS or x.dtype is not y.dtype or not (by_value(x) and by_value(y)):
            return function(x, y)
        return function(x, y, out=torch.empty(0, dtype=x.dtype, device=x.device)).bool()

    return kernel


equal, not_equal = comparison(torch.eq), comparison(torch.ne)


def is_nan(x: torch.Tensor) -> torch.Tensor:
    """Returns whether each element is NaN."""
    return torch.isnan(x) if x.numel() < MANY else not_equal(x, x)


def is_inf(x: torch.Tensor) -> torch.Tensor:
    """Returns whether each element is infinite."""
    return torch.isinf(x) if x.numel() < MANY or x.dtype not in _BITS else equal(x.abs(), _scalar(math.inf, x))


def is_finite(x: torch.Tensor) -> torch.Tensor:
    """Returns whether each element is neither NaN nor infinite: only then a number less itself is zero."""
    return torch.isfinite(x) if x.numel() < MANY or x.dtype not in _BITS else equal(x - x, _scalar(0.0, x))


def _scalar(number: float, like: torch.Tensor) -> torch.Tensor:
    return torch.scalar_tensor(number, dtype=like.dtype, device=like.device)


def select(condition: torch.Tensor, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Returns `x` where the condition is true, `y` elsewhere, as `torch.where` does."""
    bits = _BITS.get(x.dtype)
    if condition.numel() < MANY or bits is None or x.dtype is not y.dtype:
        return torch.where(condition, x, y)
    if not (by_value(condition) and by_value(x) and by_value(y)):
        return torch.where(condition, x, y)
    if y.ndim == 0 and x.shape == condition.shape and not y.view(bits).item():
        return torch.bitwise_and(x.view(bits), condition.view(torch.int8).neg()).view(x.dtype)
    mask = condition.view(torch.uint8).to(bits).neg_()  # all ones, or all zeros
    other = y.view(bits)
    chosen = torch.bitwise_xor(x.view(bits), other)
    chosen = chosen.bitwise_and_(mask) if chosen.shape == mask.shape else torch.bitwise_and(chosen, mask)
    return chosen.bitwise_xor_(other).view(x.dtype)


def as_bytes(x: torch.Tensor) -> torch.Tensor:
    """Returns bools as bytes, which ATen converts to other dtypes faster."""
    return x.view(torch.uint8) if by_value(x, SOME) else x


def along(
    whole: Callable[..., torch.Tensor], extreme: Callable[..., torch.Tensor]
) -> tuple[Callable[..., torch.Tensor], Callable[..., torch.Tensor]]:
    """Returns the kernels that reduce bools, to one and along dimensions: `torch.any`, which is the maximum of the
    bytes, or `torch.all`."""

    def of_all(x: torch.Tensor) -> torch.Tensor:
        return extreme(x.view(torch.uint8)).view(torch.bool) if by_value(x, SOME) else whole(x)

    def of_some(x: torch.Tensor, axis: Any, keepdims: bool) -> torch.Tensor:
        if not by_value(x, SOME):
            return whole(x, axis, keepdims)
        return extreme(x.view(torch.uint8), axis, keepdims).view(torch.bool)

    return of_all, of_some


def may_have_nan(x: torch.Tensor) -> bool:
    """Returns whether there may be NaN: on the CPU a check costs less than replacing it."""
    if not by_value(x):
        return True
    return math.isnan(torch.sum(x).item()) if x.numel() >= SOME else not torch.equal(x, x)


# ---- functions of floats ---------------------------------------------------------------------------------------------

_LARGE = 1 << 18  # elements: looking at some of them costs a hundredth of the kernel
_LOOKED_AT = 64
_WIDE = "AVX512", "X86_V4"  # NumPy's names of instruction sets


def where_ordinary(function: Callable[[torch.Tensor], torch.Tensor], numpys: np.ufunc) -> Any:
    """Returns the kernel of a function for which ATen has no fast code, such as `torch.asinh`.

    On one thread it is NumPy's where NumPy has code for this processor's widest vectors, and the results are numbers:
    that code is slow for others.
    """
    info = np.lib.introspect.opt_func_info(func_name=f"^{numpys.__name__}$", signature="float32")
    if not any(current["current"].startswith(_WIDE) for loops in info.values() for current in loops.values()):
        return function

    def kernel(x: torch.Tensor) -> torch.Tensor:
        if x.numel() < _LARGE or torch.get_num_threads() > 1 or not _may_be_numpys(x):
            return function(x)
        some = function(x.view(-1)[:: x.numel() // _LOOKED_AT])
        if not math.isfinite(some.sum().item()):
            return function(x)
        with np.errstate(all="ignore"):
            return torch.from_numpy(numpys(x.numpy()))

    return kernel


def _may_be_numpys(x: torch.Tensor) -> bool:
    return x.dtype is torch.float32 and by_value(x) and x.is_contiguous() and not x.is_neg()
