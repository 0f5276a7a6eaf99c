"""Kernels for many elements where ATen's own go through them one by one.

On a CPU, ATen's kernels that write bools, or choose by them, are not vectorized. These kernels compute the same bits in
another way: comparisons by NumPy or in the operands' dtype, choices by masks of bits, bools as bytes. They call ATen's
kernel for few elements, for other dtypes and devices, under a compiler or `vmap` (no values to read), and when torch's
autograd records. Functions of floats are machine code of their element forms.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from tapeflow.core import aten
from tapeflow.core.hooks import hooks
from tapeflow.core.ops.definition import MANY, Op
from tapeflow.core.ops.elements import FUNCTIONS, OF_SLEEF, Element, Probe, Unsupported
from tapeflow.core.types.dtypes import float32, float64
from tapeflow.core.values.tensor import is_traced

SOME = 1 << 12  # elements: from here on a few more calls are worth it

_FEW_THREADS = 2

# Dtypes whose comparisons are vectorized, and the integers with their bits.
_BITS = {torch.float32: torch.int32, torch.int32: torch.int32, torch.float16: torch.int16, torch.bfloat16: torch.int16}
_COMPARED_BY_NUMPY = {torch.float32, torch.float64, torch.int32, torch.int64}


def by_value(x: torch.Tensor, count: int = 0) -> bool:
    """Returns True if a tensor has at least so many elements, on the CPU, with values to look at, which torch's
    autograd does not follow."""
    return x.numel() >= count and x.is_cpu and not x.requires_grad and not is_traced(x) and not aten.is_batchedtensor(x)


def comparison(function: Callable[..., torch.Tensor], numpys: np.ufunc) -> Callable[..., torch.Tensor]:
    """Returns the kernel of a comparison, such as `torch.eq`, which NumPy calls `numpys`."""

    def kernel(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        if x.numel() < MANY or x.dtype is not y.dtype or not (by_value(x) and by_value(y)):
            return function(x, y)
        if _is_numpys(x) and (x.shape == y.shape or not y.ndim):  # NumPy's error for others would not be TensorFlow's
            return torch.from_numpy(numpys(x.numpy(), y.resolve_neg().numpy()))
        return function(x, y, out=torch.empty(0, dtype=x.dtype)).bool() if x.dtype in _BITS else function(x, y)

    return kernel


def _is_numpys(x: torch.Tensor) -> bool:
    return x.dtype in _COMPARED_BY_NUMPY and torch.get_num_threads() <= _FEW_THREADS and not x.is_neg()


equal, not_equal = comparison(torch.eq, np.equal), comparison(torch.ne, np.not_equal)


def _test_kernel(
    function: Callable[[torch.Tensor], torch.Tensor], numpys: np.ufunc, of_many: Callable[[torch.Tensor], torch.Tensor]
) -> Callable[[torch.Tensor], torch.Tensor]:
    """Returns the kernel of a test of floats, such as `torch.isnan`; `of_many` is another way to compute it."""

    def kernel(x: torch.Tensor) -> torch.Tensor:
        if x.numel() < MANY:
            return function(x)
        if by_value(x) and _is_numpys(x):
            return torch.from_numpy(numpys(x.numpy()))
        return of_many(x) if x.dtype in _BITS else function(x)

    return kernel


is_nan = _test_kernel(torch.isnan, np.isnan, lambda x: not_equal(x, x))
is_inf = _test_kernel(torch.isinf, np.isinf, lambda x: equal(x.abs(), _scalar_like(math.inf, x)))
# Only a number that is finite is zero less itself.
is_finite = _test_kernel(torch.isfinite, np.isfinite, lambda x: equal(x - x, _scalar_like(0.0, x)))


def _scalar_like(number: float, like: torch.Tensor) -> torch.Tensor:
    return torch.scalar_tensor(number, dtype=like.dtype, device=like.device)


def select(condition: torch.Tensor, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Returns `x` where the condition is true, `y` elsewhere, as `torch.where` does."""
    bits = _BITS.get(x.dtype)
    few = condition.numel() < MANY and x.numel() < MANY and y.numel() < MANY
    if few or bits is None or x.dtype is not y.dtype:
        return torch.where(condition, x, y)
    if not (by_value(condition) and by_value(x) and by_value(y)):
        return torch.where(condition, x, y)
    flags = condition.view(torch.uint8).to(bits)
    if not x.ndim and y.ndim:
        flags, x, y = 1 - flags, y, x
    if not y.ndim:
        other = int(y.view(bits).item())
        if not other or flags.numel() < x.numel():
            return _where_flagged(flags, x.view(bits), other).view(x.dtype)
    mask = flags.neg_()  # all ones, or all zeros
    others = y.view(bits)
    chosen = torch.bitwise_xor(x.view(bits), others)
    chosen = chosen.bitwise_and_(mask) if chosen.shape == mask.shape else torch.bitwise_and(mask, chosen)
    return chosen.bitwise_xor_(others).view(x.dtype)


def zero_where_zero(result: torch.Tensor, factor: torch.Tensor) -> torch.Tensor:
    """Sets a result to 0 where a factor is 0, even if other factors are infinite or NaN.

    Args:
        result: a product or a quotient.
        factor: the factor, which broadcasts with the result.
    """
    if not by_value(factor, MANY) or not by_value(result) or factor.is_complex():
        return result.masked_fill(factor == 0, 0)
    zeros = equal(factor, _scalar_like(0, factor))
    if not zeros.numpy().any():
        return result
    return select(zeros, _scalar_like(0, result), result)


def _where_flagged(flags: torch.Tensor, x: torch.Tensor, other: int) -> torch.Tensor:
    """Returns integers `x` where flags are 1, and a number where they are 0; it may use the flags' memory."""
    others = (1 - flags).mul_(other) if other else None
    chosen = flags.mul_(x) if flags.shape == x.shape else torch.mul(flags, x)  # laid out as the flags are
    return chosen if others is None else chosen.add_(others)


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

    def of_some(x: torch.Tensor, axis: int | Sequence[int], keepdims: bool) -> torch.Tensor:
        if not by_value(x, SOME):
            return whole(x, axis, keepdims)
        return extreme(x.view(torch.uint8), axis, keepdims).view(torch.bool)

    return of_all, of_some


def may_have_nan(x: torch.Tensor) -> bool:
    """Returns True if there may be NaN: on the CPU a check costs less than replacing it."""
    if not by_value(x):
        return True
    return math.isnan(torch.sum(x).item()) if x.numel() >= SOME else not torch.equal(x, x)


# ---- functions of floats ---------------------------------------------------------------------------------------------

_COMPILED = {torch.float32: float32, torch.float64: float64}


class CompiledKernel:
    """A kernel for many floats: machine code of the forms of ops.

    Last digits of results may differ from ATen's. The first call for a dtype and a pattern of broadcasts waits for the
    compiler: some hundredths of a second, or two thousandths if an earlier process on the machine compiled it.

    Args:
        name: its name.
        compute: a function of ops that one kernel can compute.
        kernel: computes the same for few elements, and for other dtypes and devices.
        count: the number of tensors that it takes.
        rank: their rank, if one is reduced.
    """

    def __init__(
        self,
        name: str,
        compute: Callable[..., Any],
        kernel: Callable[..., Any],
        count: int = 1,
        rank: int | None = None,
    ) -> None:
        def compiled(dtype: torch.dtype) -> Any:
            return hooks.compiled_kernel(name, compute, _COMPILED[dtype], count, rank)

        self._compiled, self._kernel = functools.cache(compiled), kernel

    def __call__(self, *args: torch.Tensor) -> Any:
        dtype = args[0].dtype
        is_compiled = dtype in _COMPILED and args[0].numel() >= MANY
        if is_compiled and all(x.dtype is dtype and by_value(x) and not x.is_neg() for x in args):
            return self._compiled(dtype)(*args)
        return self._kernel(*args)


def computes_function(op: Op) -> bool:
    """Returns True if machine code of an op's form is faster than ATen's kernel: it has a function or a square root."""
    if op.element is None or set(op.kinds or ()) != {"tensor"}:
        return op.row is not None
    names = set()

    class Names(Probe):
        def emit(self, name: str, *_: Any) -> None:
            names.add(name)

    try:
        op.element(Names(), *[Element(None, float32)] * len(op.kinds or ()))
    except Unsupported:
        return False
    return not names.isdisjoint(FUNCTIONS - OF_SLEEF | {"sqrt"})
