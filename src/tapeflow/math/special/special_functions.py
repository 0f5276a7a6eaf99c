"""Bessel functions and integrals that have names, element by element.

Formulas by their numbers in the NIST Digital Library of Mathematical Functions (dlmf.nist.gov).
"""

from __future__ import annotations

import math
from typing import Any

import torch

from tapeflow.array.masks import select_v2
from tapeflow.core.autodiff.tape import Call
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.op import op
from tapeflow.core.ops.shape_rules import same
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.values.tensor import Tensor
from tapeflow.math.arithmetic import add, multiply, negative, subtract
from tapeflow.math.bessel import bessel_j0_kernel, bessel_j1_kernel, bessel_y0_kernel, bessel_y1_kernel
from tapeflow.math.comparison import equal
from tapeflow.math.derivatives import declare_derivative
from tapeflow.math.division import realdiv, reciprocal
from tapeflow.math.elementwise import exp, log, sign, square
from tapeflow.math.tabulation import Function, tabulated_kernel
from tapeflow.math.trigonometric import cos, sin


def _by_x(y: Tensor, x: Tensor) -> Any:
    """Computes `y / x`, and its limit at 0 for a function `y` of slope 1/2, as J1 and I1 are."""
    at_zero = equal(x, convert(0, x.dtype))
    quotient = realdiv(y, select_v2(at_zero, convert(1, x.dtype), x))
    return select_v2(at_zero, convert(0.5, x.dtype), quotient)


# ---- Bessel functions, and their derivatives by 10.6 and 10.29 -------------------------------------------------------


def _limited_kernel(function: Function, limit: float) -> Function:
    """Returns the kernel of a function of positive numbers, with its limit at 0 for all others."""
    return tabulated_kernel(lambda x: function(x).masked_fill(x <= 0, limit))


_LIMITED: dict[str, Any] = {"shape": same, "elementwise": True, "autograd": False}


@op("BesselI0", kernel=tabulated_kernel(torch.special.i0, 1), shape=same, elementwise=True)
def bessel_i0(x: TensorLike, name: str | None = None) -> Tensor:
    """Computes the modified Bessel function of the first kind of order 0.

    Args:
        x: a floating tensor of any shape.

    Returns:
        A tensor of the shape and dtype of `x`.

    Raises:
        InvalidArgumentError: `x` is not floating.

    Example:
        >>> tf.math.special.bessel_i0([0.0, 1.0]).numpy().round(4).tolist()
        [1.0, 1.2661000490188599]
    """


@op("BesselI0e", kernel=tabulated_kernel(torch.special.i0e, 1), shape=same, elementwise=True, takes_sparse=True)
def bessel_i0e(x: TensorLike, name: str | None = None) -> Tensor:
    """Computes `exp(-|x|) * bessel_i0(x)` without overflow.

    Args:
        x: a floating tensor of any shape.

    Returns:
        A tensor of the shape and dtype of `x`.

    Raises:
        InvalidArgumentError: `x` is not floating.

    Example:
        >>> tf.math.special.bessel_i0e([0.0, 1.0]).numpy().round(4).tolist()
        [1.0, 0.4657999873161316]
    """


@op("BesselI1", kernel=tabulated_kernel(torch.special.i1, -1), shape=same, elementwise=True)
def bessel_i1(x: TensorLike, name: str | None = None) -> Tensor:
    """Computes the modified Bessel function of the first kind of order 1.

    Args:
        x: a floating tensor of any shape.

    Returns:
        A tensor of the shape and dtype of `x`.

    Raises:
        InvalidArgumentError: `x` is not floating.

    Example:
        >>> tf.math.special.bessel_i1([0.0, 1.0]).numpy().round(4).tolist()
        [0.0, 0.5651999711990356]
    """


declare_derivative(bessel_i0, bessel_i1)
declare_derivative(bessel_i1, lambda x, y: subtract(bessel_i0(x), _by_x(y, x)), needs="input0 outputs")


@op("BesselI1e", kernel=tabulated_kernel(torch.special.i1e, -1), shape=same, elementwise=True, takes_sparse=True)
def bessel_i1e(x: TensorLike, name: str | None = None) -> Tensor:
    """Computes `exp(-|x|) * bessel_i1(x)` without overflow.

    Args:
        x: a floating tensor of any shape.

    Returns:
        A tensor of the shape and dtype of `x`.

    Raises:
        InvalidArgumentError: `x` is not floating.

    Example:
        >>> tf.math.special.bessel_i1e([0.0, 1.0]).numpy().round(4).tolist()
        [0.0, 0.2079000025987625]
    """


declare_derivative(bessel_i0e, lambda x, y: subtract(bessel_i1e(x), multiply(sign(x), y)), needs="input0 outputs")
declare_derivative(bessel_i1e, lambda x, y: bessel_i0e(x) - _by_x(y, x) - sign(x) * y, needs="input0 outputs")


@op("BesselJ0", kernel=tabulated_kernel(bessel_j0_kernel, 1), shape=same, elementwise=True)
def bessel_j0(x: TensorLike, name: str | None = None) -> Tensor:
    """Computes the Bessel function of the first kind of order 0.

    Args:
        x: a floating tensor of any shape.

    Returns:
        A tensor of the shape and dtype of `x`.

    Raises:
        InvalidArgumentError: `x` is not floating.

    Example:
        >>> tf.math.special.bessel_j0([0.0, 1.0]).numpy().round(4).tolist()
        [1.0, 0.7652000188827515]
    """


@op("BesselJ1", kernel=tabulated_kernel(bessel_j1_kernel, -1), shape=same, elementwise=True)
def bessel_j1(x: TensorLike, name: str | None = None) -> Tensor:
    """Computes the Bessel function of the first kind of order 1.

    Args:
        x: a floating tensor of any shape.

    Returns:
        A tensor of the shape and dtype of `x`.

    Raises:
        InvalidArgumentError: `x` is not floating.

    Example:
        >>> tf.math.special.bessel_j1([0.0, 1.0]).numpy().round(4).tolist()
        [0.0, 0.4401000142097473]
    """


declare_derivative(bessel_j0, lambda x: negative(bessel_j1(x)))
declare_derivative(bessel_j1, lambda x, y: subtract(bessel_j0(x), _by_x(y, x)), needs="input0 outputs")


@op("BesselY0", kernel=_limited_kernel(bessel_y0_kernel, -torch.inf), shape=same, elementwise=True)
def bessel_y0(x: TensorLike, name: str | None = None) -> Tensor:
    """Computes the Bessel function of the second kind of order 0.

    Args:
        x: a floating tensor of any shape; -inf below 0.

    Returns:
        A tensor of the shape and dtype of `x`.

    Raises:
        InvalidArgumentError: `x` is not floating.

    Example:
        >>> tf.math.special.bessel_y0(1.0).numpy().round(4).item()
        0.08829999715089798
    """


@op("BesselY1", kernel=_limited_kernel(bessel_y1_kernel, -torch.inf), shape=same, elementwise=True)
def bessel_y1(x: TensorLike, name: str | None = None) -> Tensor:
    """Computes the Bessel function of the second kind of order 1.

    Args:
        x: a floating tensor of any shape; -inf below 0.

    Returns:
        A tensor of the shape and dtype of `x`.

    Raises:
        InvalidArgumentError: `x` is not floating.

    Example:
        >>> tf.math.special.bessel_y1(1.0).numpy().round(4).item()
        -0.7811999917030334
    """


declare_derivative(bessel_y0, lambda x: negative(bessel_y1(x)))
declare_derivative(bessel_y1, lambda x, y: subtract(bessel_y0(x), realdiv(y, x)), needs="input0 outputs")


@op("BesselK0", kernel=_limited_kernel(torch.special.modified_bessel_k0, torch.inf), **_LIMITED)
def bessel_k0(x: TensorLike, name: str | None = None) -> Tensor:
    """Computes the modified Bessel function of the second kind of order 0.

    Args:
        x: a floating tensor of any shape; inf below 0.

    Returns:
        A tensor of the shape and dtype of `x`.

    Raises:
        InvalidArgumentError: `x` is not floating.

    Example:
        >>> tf.math.special.bessel_k0(1.0).numpy().round(4).item()
        0.42100000381469727
    """


@op("BesselK0e", kernel=_limited_kernel(torch.special.scaled_modified_bessel_k0, torch.inf), **_LIMITED)
def bessel_k0e(x: TensorLike, name: str | None = None) -> Tensor:
    """Computes `exp(x) * bessel_k0(x)` without underflow.

    Args:
        x: a floating tensor of any shape; inf below 0.

    Returns:
        A tensor of the shape and dtype of `x`.

    Raises:
        InvalidArgumentError: `x` is not floating.

    Example:
        >>> tf.math.special.bessel_k0e(1.0).numpy().round(4).item()
        1.1445000171661377
    """


@op("BesselK1", kernel=_limited_kernel(torch.special.modified_bessel_k1, torch.inf), **_LIMITED)
def bessel_k1(x: TensorLike, name: str | None = None) -> Tensor:
    """Computes the modified Bessel function of the second kind of order 1.

    Args:
        x: a floating tensor of any shape; inf below 0.

    Returns:
        A tensor of the shape and dtype of `x`.

    Raises:
        InvalidArgumentError: `x` is not floating.

    Example:
        >>> tf.math.special.bessel_k1(1.0).numpy().round(4).item()
        0.6018999814987183
    """


declare_derivative(bessel_k0, lambda x: negative(bessel_k1(x)))
declare_derivative(bessel_k1, lambda x, y: negative(add(bessel_k0(x), realdiv(y, x))), needs="input0 outputs")


@op("BesselK1e", kernel=_limited_kernel(torch.special.scaled_modified_bessel_k1, torch.inf), **_LIMITED)
def bessel_k1e(x: TensorLike, name: str | None = None) -> Tensor:
    """Computes `exp(x) * bessel_k1(x)` without underflow.

    Args:
        x: a floating tensor of any shape; inf below 0.

    Returns:
        A tensor of the shape and dtype of `x`.

    Raises:
        InvalidArgumentError: `x` is not floating.

    Example:
        >>> tf.math.special.bessel_k1e(1.0).numpy().round(4).item()
        1.636199951171875
    """


declare_derivative(bessel_k0e, lambda x, y: subtract(y, bessel_k1e(x)), needs="input0 outputs")
declare_derivative(bessel_k1e, lambda x, y: y * (1.0 - reciprocal(x)) - bessel_k0e(x), needs="input0 outputs")


# ---- integrals -------------------------------------------------------------------------------------------------------


def _dawsn_kernel(x: torch.Tensor) -> torch.Tensor:
    """Computes Rybicki's sum of Gaussians (Computers in Physics 3, 85 (1989)); beyond 10, the asymptotic series.

    With steps of 1/4 the sum is exact to `exp(-(2 pi)**2)`. The sum of its terms for n and -n is positive.
    """
    h = 0.25
    a = x.abs()
    near = torch.clamp(a, max=10.0)
    total = torch.zeros_like(a)
    for n in range(1, 68, 2):
        total -= torch.exp(-((near - n * h) ** 2)) * torch.expm1(-4 * n * h * near) / n
    total /= math.sqrt(math.pi)
    w = 0.5 / torch.clamp(a, min=10.0) ** 2
    series, term = torch.ones_like(a), torch.ones_like(a)
    for k in range(1, 20):
        term = term * (2 * k - 1) * w
        series = series + term
    far = 0.5 * series / a
    return torch.sign(x) * torch.where(a > 10, far, total) + 0 * torch.where(torch.isnan(x), x, 0)


@op("Dawsn", kernel=tabulated_kernel(_dawsn_kernel, -1), shape=same, elementwise=True)
def dawsn(x: TensorLike, name: str | None = None) -> Tensor:
    """Computes Dawson's integral, `exp(-x * x)` times the integral of `exp(t * t)` from 0 to `x`.

    Args:
        x: a floating tensor of any shape.

    Returns:
        A tensor of the shape and dtype of `x`.

    Raises:
        InvalidArgumentError: `x` is not floating.

    Example:
        >>> tf.math.special.dawsn(1.0).numpy().round(4).item()
        0.538100004196167
    """


declare_derivative(dawsn, lambda x, y: 1.0 - 2.0 * multiply(x, y), needs="input0 outputs")


def _expint_kernel(x: torch.Tensor) -> torch.Tensor:
    """Computes the power series 6.6.2 up to 40, and the asymptotic series 6.12.2 beyond."""
    near = torch.clamp(x, 0.0, 40.0)
    term, total = torch.ones_like(x), torch.zeros_like(x)
    for k in range(1, 160):
        term = term * near / k
        total = total + term / k
        if bool((term <= 1e-17 * total).all()):
            break
    series = 0.57721566490153286 + torch.log(x) + total
    far = torch.clamp(x, min=40.0)
    term, total = torch.ones_like(x), torch.ones_like(x)
    for k in range(1, 40):
        term = term * k / far
        total = total + term
    result = torch.where(x > 40, torch.exp(x) * (total / x), series)
    return result.masked_fill(x == torch.inf, torch.inf)


@op("Expint", kernel=tabulated_kernel(_expint_kernel), shape=same, elementwise=True)
def expint(x: TensorLike, name: str | None = None) -> Tensor:
    """Computes the exponential integral Ei: the integral of `exp(t) / t` from minus infinity to `x`.

    Args:
        x: floating, positive, of any shape; NaN below 0.

    Returns:
        A tensor of the shape and dtype of `x`.

    Raises:
        InvalidArgumentError: `x` is not floating.

    Example:
        >>> tf.math.special.expint(1.0).numpy().round(4).item()
        1.8950999975204468
    """


declare_derivative(expint, lambda x: realdiv(exp(x), x))


def _fresnel_integrals(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Computes the Fresnel integrals S and C: up to 1.6 by 7.6.4 and 7.6.6, beyond by a continued fraction."""
    tolerance, terms = (1e-16, 40) if x.dtype is torch.float64 else (1e-11, 28)
    x = x.to(torch.float64)
    a = x.abs()
    near = torch.clamp(a, max=1.6)
    t = math.pi / 2 * near * near
    term, sums = near, [torch.zeros_like(a), torch.zeros_like(a)]
    for k in range(terms):  # the terms i^k t^k x / (k! (2k + 1)) are C's and S's in turn
        part = term / (2 * k + 1)
        sums[k % 2] = sums[k % 2] + (part if k % 4 < 2 else -part)
        term = term * t / (k + 1)
    far = a > 1.6
    far_c, far_s = _far_fresnel(a[far].clamp_(max=1e6), tolerance)
    c, s = sums[0].masked_scatter(far, far_c), sums[1].masked_scatter(far, far_s)
    c, s = torch.where(torch.isinf(a), 0.5, c), torch.where(torch.isinf(a), 0.5, s)
    return torch.sign(x) * s + 0 * torch.where(torch.isnan(x), x, 0), torch.sign(x) * c


def _far_fresnel(a: torch.Tensor, tolerance: float) -> tuple[torch.Tensor, torch.Tensor]:
    """Computes C and S by 7.5.8 and the continued fraction 7.9.2 of `erfc`, with Lentz's method."""
    phase = math.pi * a * a
    b = torch.complex(torch.ones_like(a), -phase)
    c = torch.full_like(b, 1e300)
    d = value = 1 / b
    for k in range(200):
        coefficient = -(2 * k + 1) * (2 * k + 2)
        b = b + 4
        d = 1 / (coefficient * d + b)
        c = b + coefficient / c
        step = c * d
        value = value * step
        if bool(((step - 1).abs() <= tolerance).all()):
            break
    turned = torch.polar(torch.ones_like(a), phase / 2)
    result = torch.complex(*[torch.full_like(a, 0.5)] * 2) * (1 - turned * (torch.complex(a, -a) * value))
    return result.real, result.imag


@op("FresnelCos", kernel=tabulated_kernel(lambda x: _fresnel_integrals(x)[1], -1, 8.0), shape=same, elementwise=True)
def fresnel_cos(x: TensorLike, name: str | None = None) -> Tensor:
    """Computes Fresnel's cosine integral, the integral of `cos(pi * t * t / 2)` from 0 to `x`.

    Args:
        x: a floating tensor of any shape.

    Returns:
        A tensor of the shape and dtype of `x`.

    Raises:
        InvalidArgumentError: `x` is not floating.

    Example:
        >>> tf.math.special.fresnel_cos(1.0).numpy().round(4).item()
        0.7799000144004822
    """


declare_derivative(fresnel_cos, lambda x: cos(multiply(square(x), math.pi / 2)))


@op("FresnelSin", kernel=tabulated_kernel(lambda x: _fresnel_integrals(x)[0], -1, 8.0), shape=same, elementwise=True)
def fresnel_sin(x: TensorLike, name: str | None = None) -> Tensor:
    """Computes Fresnel's sine integral, the integral of `sin(pi * t * t / 2)` from 0 to `x`.

    Args:
        x: a floating tensor of any shape.

    Returns:
        A tensor of the shape and dtype of `x`.

    Raises:
        InvalidArgumentError: `x` is not floating.

    Example:
        >>> tf.math.special.fresnel_sin(1.0).numpy().round(4).item()
        0.4383000135421753
    """


declare_derivative(fresnel_sin, lambda x: sin(multiply(square(x), math.pi / 2)))


# Bernoulli's numbers B(2n) / (2n + 1)!, from n = 1
_BERNOULLI = (
    1 / 36, -1 / 3600, 1 / 211680, -1 / 10886400, 1 / 526901760, -691 / 16999766784000, 1 / 1120863744000,
    -3617 / 181400588328960000,
)  # fmt: skip


def _spence_kernel(x: torch.Tensor) -> torch.Tensor:
    """Computes `spence(x) = Li2(1 - x)` by 25.12.3, 25.12.4 and 25.12.6 from arguments between 1/2 and 2.

    There `Li2(z) = sum of B(n) u**(n + 1) / (n + 1)!` with `u = -log(1 - z)`, which is at most 0.7.
    """
    inverted = x > 2
    y = torch.where(inverted, 1 / x, x)
    reflected = y < 0.5
    u = -torch.log(torch.where(reflected, 1 - y, y))
    square = u * u
    total = torch.zeros_like(u)
    for coefficient in reversed(_BERNOULLI):
        total = (total + coefficient) * square
    total = u * (1 + total) - square / 4
    total = torch.where(reflected, math.pi**2 / 6 + torch.xlogy(-torch.log1p(-y), y) - total, total)
    return torch.where(inverted, -total - 0.5 * torch.log(x) ** 2, total) + 0.0


@op("Spence", kernel=tabulated_kernel(_spence_kernel), shape=same, elementwise=True, autograd=False)
def spence(x: TensorLike, name: str | None = None) -> Tensor:
    """Computes Spence's integral, the dilogarithm of `1 - x`: the integral of `log(t) / (1 - t)` from 1 to `x`.

    Args:
        x: a floating tensor of any shape; NaN below 0.

    Returns:
        A tensor of the shape and dtype of `x`.

    Raises:
        InvalidArgumentError: `x` is not floating.

    Example:
        >>> tf.math.special.spence([1.0, 0.0]).numpy().round(4).tolist()
        [0.0, 1.6448999643325806]
    """


@spence.gradient(needs="input0")
def _(call: Call, dy: Tensor) -> Any:
    x = call.inputs[0]
    one = convert(1, x.dtype)
    at_one = equal(x, one)
    distance = subtract(one, select_v2(at_one, convert(0, x.dtype), x))
    return multiply(dy, select_v2(at_one, convert(-1.0, x.dtype), realdiv(log(x), distance)))
