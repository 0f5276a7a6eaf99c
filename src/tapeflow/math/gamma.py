"""The gamma function and its relatives, element by element.

Formulas by their numbers in the NIST Digital Library of Mathematical Functions (dlmf.nist.gov).
"""

from __future__ import annotations

from typing import Any

import torch

from tapeflow.array.reshapes import broadcast_to, reshape
from tapeflow.core.ops.batch_rules import Batch, Slices
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.elementwise_kernels import by_value
from tapeflow.core.ops.op import not_differentiable, op
from tapeflow.core.ops.shape_rules import broadcast, same, text
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import Tensor, invalid
from tapeflow.math.arithmetic import add, multiply, negative, subtract
from tapeflow.math.derivatives import declare_derivative, declare_partial_derivatives
from tapeflow.math.elementwise import exp, log, xlog1py, xlogy
from tapeflow.math.reduction import reduce_sum
from tapeflow.math.series import integrate_beta, sum_zeta

_MOST_STEPS = 20_000


@op("Lgamma", kernel=torch.lgamma, shape=same, element=lambda b, x: b.lgamma(x))
def lgamma(x: TensorLike, name: str | None = None) -> Tensor:
    """Computes the logarithm of the absolute value of the gamma function of each element.

    Args:
        x: a floating tensor of any shape.

    Returns:
        A tensor of the shape and dtype of `x`.

    Raises:
        InvalidArgumentError: `x` is not floating.

    Example:
        >>> tf.math.lgamma([1.0, 3.0]).numpy().tolist()
        [0.0, 0.6931471824645996]
    """


def _digamma_kernel(x: torch.Tensor) -> torch.Tensor:
    # In float64, as torch's float32 loses half of its digits near the roots. NaN at the poles, 0 being one.
    return torch.digamma(x.to(torch.float64)).to(x.dtype).masked_fill(x == 0, torch.nan)


@op("Digamma", kernel=_digamma_kernel, shape=same, elementwise=True)
def digamma(x: TensorLike, name: str | None = None) -> Tensor:
    """Computes the derivative of `lgamma` at each element.

    Args:
        x: a floating tensor of any shape.

    Returns:
        A tensor of the shape and dtype of `x`.

    Raises:
        InvalidArgumentError: `x` is not floating.

    Example:
        >>> tf.math.digamma(1.0).numpy().round(5).item()
        -0.5772200226783752
    """


declare_derivative(lgamma, digamma)


def _polygamma_kernel(a: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    # psi_n(x) = (-1)^(n + 1) n! zeta(n + 1, x), 25.11.12
    sign = 1 - 2 * torch.remainder(a + 1, 2)
    result = sign * torch.exp(torch.lgamma(a + 1)) * _zeta_kernel(a + 1, x)
    if not by_value(a) or bool((a == 0).any()):
        result = torch.where(a == 0, _digamma_kernel(x), result)
    return result.masked_fill((a < 0) | (a != torch.floor(a)), torch.nan)


@op("Polygamma", kernel=_polygamma_kernel, shape=broadcast, elementwise=True)
def polygamma(a: TensorLike, x: TensorLike, name: str | None = None) -> Tensor:
    """Computes the `a`-th derivative of `digamma` at `x`, element by element, with broadcasting.

    Args:
        a: whole numbers from 0 on, as floats; others give NaN. No gradient. Of any shape.
        x: a float32 or float64 tensor of the dtype of `a`, of a shape that broadcasts with its shape.

    Returns:
        A tensor of the same dtype and of the broadcast shape.

    Raises:
        InvalidArgumentError: the dtypes differ, or the shapes do not broadcast.

    Example:
        >>> tf.math.polygamma(1.0, 1.0).numpy().round(4).item()
        1.6448999643325806
    """


declare_derivative(digamma, lambda x: polygamma(convert(1.0, x.dtype), x))
declare_partial_derivatives(polygamma, None, lambda a, x: polygamma(add(a, 1.0), x))


def _zeta_kernel(x: torch.Tensor, q: torch.Tensor) -> torch.Tensor:
    x, q = torch.broadcast_tensors(x, q)
    if x.dtype is not torch.float32 or not (by_value(x) and by_value(q)):
        return _zeta_by_aten(x, q)
    wide = [v.to(torch.float64).contiguous() for v in (x, q)]
    series = torch.empty_like(wide[0])
    others = sum_zeta(*wide, series.numel(), series)
    result = series.float()
    if others:
        places = series.isnan()
        result[places] = _zeta_by_aten(x[places], q[places])
    return result


def _zeta_by_aten(x: torch.Tensor, q: torch.Tensor) -> torch.Tensor:
    # At the poles the sign depends on the side, unless x is even.
    pole = (q <= 0) & (q == torch.floor(q)) & (x > 1) & (torch.remainder(x, 2) != 0)
    series = torch.special.zeta(x, q)
    # Of powers that vanish, the kernel makes a NaN.
    return series.masked_fill(pole, torch.nan).masked_fill(series.isnan() & (q > 1) & (x > 1), 0)


@op("Zeta", kernel=_zeta_kernel, shape=broadcast, elementwise=True)
def zeta(x: TensorLike, q: TensorLike, name: str | None = None) -> Tensor:
    """Computes the Hurwitz zeta function, the sum of `(q + n) ** -x` over `n` from 0, with broadcasting.

    Args:
        x: above 1; NaN below. No gradient. Of any shape.
        q: a float32 or float64 tensor of the dtype of `x`, of a shape that broadcasts with its shape.

    Returns:
        A tensor of the same dtype and of the broadcast shape.

    Raises:
        InvalidArgumentError: the dtypes differ, or the shapes do not broadcast.

    Example:
        >>> tf.math.zeta(2.0, 1.0).numpy().round(4).item()
        1.6448999643325806
    """


declare_partial_derivatives(zeta, None, lambda x, q: multiply(negative(x), zeta(add(x, 1.0), q)))


# ---- the incomplete gamma functions ----------------------------------------------------------------------------------


def _igamma_kernel(a: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    return torch.special.gammainc(a, x).masked_fill(a <= 0, torch.nan).masked_fill(x == 0, 0)


@op("Igamma", kernel=_igamma_kernel, shape=broadcast, elementwise=True, autograd=False)
def igamma(a: TensorLike, x: TensorLike, name: str | None = None) -> Tensor:
    """Computes the lower regularized incomplete gamma function `P(a, x)`, element by element, with broadcasting.

    Args:
        a: above 0; NaN else. Of any shape.
        x: not below 0, of the dtype of `a`, and of a shape that broadcasts with its shape.

    Returns:
        A tensor of the same dtype and of the broadcast shape.

    Raises:
        InvalidArgumentError: the dtypes differ or are not floating, or the shapes do not broadcast.

    Example:
        >>> tf.math.igamma(1.0, 2.0).numpy().round(4).item()
        0.8647000193595886
    """


@op(
    "Igammac",
    kernel=lambda a, x: torch.special.gammaincc(a, x).masked_fill(a <= 0, torch.nan),
    shape=broadcast,
    elementwise=True,
    autograd=False,
)
def igammac(a: TensorLike, x: TensorLike, name: str | None = None) -> Tensor:
    """Computes the upper regularized incomplete gamma function `Q(a, x) = 1 - P(a, x)`, with broadcasting.

    Args:
        a: above 0; NaN else. Of any shape.
        x: not below 0, of the dtype of `a`, and of a shape that broadcasts with its shape.

    Returns:
        A tensor of the same dtype and of the broadcast shape.

    Raises:
        InvalidArgumentError: the dtypes differ or are not floating, or the shapes do not broadcast.

    Example:
        >>> tf.math.igammac(1.0, 2.0).numpy().round(4).item()
        0.13529999554157257
    """


def _igamma_grad_x(a: Tensor, x: Tensor) -> Any:
    """Computes the derivative of `igamma(a, x)` by `x`: `x^(a-1) e^-x / gamma(a)`, 8.8.13."""
    return exp(subtract(subtract(multiply(subtract(a, 1.0), log(x)), x), lgamma(a)))


def _by_series(a: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """Differentiates `P = x^a e^-x / gamma(a + 1) * sum of x^n / ((a + 1) ... (a + n))`, 8.7.1, by `a`."""
    term, d_term = torch.ones_like(a), torch.zeros_like(a)
    total, d_total = term.clone(), d_term.clone()
    for n in range(1, _MOST_STEPS):
        ratio = x / (a + n)
        d_term = (d_term - term / (a + n)) * ratio
        term = term * ratio
        total, d_total = total + term, d_total + d_term
        if n % 8 == 0 and bool(((d_term.abs() <= 1e-17 * d_total.abs()) & (term <= 1e-17 * total)).all()):
            break
    factor = torch.exp(a * torch.log(x) - x - torch.lgamma(a + 1))
    return factor * ((torch.log(x) - torch.digamma(a + 1)) * total + d_total)


def _by_fraction(a: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """Differentiates `P = 1 - x^a e^-x / gamma(a) * K` by `a`; K is the even part of the continued fraction 8.9.2.

    `K = 1 / (x + 1 - a - 1 (1 - a) / (x + 3 - a - 2 (2 - a) / (x + 5 - a - ...)))`, by its convergents p / q, which are
    carried with their derivatives and scaled down before they overflow.
    """
    zero, one = torch.zeros_like(a), torch.ones_like(a)
    b = x + 1 - a
    p0, dp0, q0, dq0 = zero, zero, one, zero
    p1, dp1, q1, dq1 = one, zero, b, -one
    value, d_value = p1 / q1, 1 / (q1 * q1)
    for n in range(1, _MOST_STEPS):
        b = b + 2
        c = n * (n - a)  # the derivative of c is -n, the derivative of b is -1
        p2, dp2 = b * p1 - c * p0, b * dp1 - p1 - c * dp0 + n * p0
        q2, dq2 = b * q1 - c * q0, b * dq1 - q1 - c * dq0 + n * q0
        scale = 1 / q2.abs().clamp_min(1.0)
        p0, dp0, q0, dq0 = p1 * scale, dp1 * scale, q1 * scale, dq1 * scale
        p1, dp1, q1, dq1 = p2 * scale, dp2 * scale, q2 * scale, dq2 * scale
        before, value = d_value, p1 / q1
        by_q = value * dq1 / q1
        d_value = dp1 / q1 - by_q
        # The difference has the rounding error of its larger operand.
        if n % 8 == 0 and bool(((d_value - before).abs() <= 1e-14 * (d_value.abs() + by_q.abs())).all()):
            break
    factor = torch.exp(a * torch.log(x) - x - torch.lgamma(a))
    return -factor * ((torch.log(x) - torch.digamma(a)) * value + d_value)


@op("IgammaGradA", shape=broadcast, elementwise=True)
def igamma_grad_a(a: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """Computes the derivative of `igamma(a, x)` by `a`.

    Differentiates the series or the continued fraction, whichever is quicker, term by term.
    """
    dtype = torch.promote_types(a.dtype, x.dtype)
    a, x = torch.broadcast_tensors(a.to(torch.float64), x.to(torch.float64))
    fits = (a > 0) & (x > 0) & torch.isfinite(a) & torch.isfinite(x)
    one = torch.ones((), dtype=torch.float64, device=a.device)
    in_series = fits & (x <= a + 1)
    in_fraction = fits & (x > a + 1)
    result = torch.where(in_series, _by_series(torch.where(in_series, a, one), torch.where(in_series, x, one)), 0.0)
    fraction = _by_fraction(torch.where(in_fraction, a, one), torch.where(in_fraction, x, 3 * one))
    result = torch.where(in_fraction, fraction, result)
    wrong = (a <= 0) | (x < 0) | torch.isnan(a) | torch.isnan(x)
    return result.masked_fill(wrong & (x != 0), torch.nan).to(dtype)


not_differentiable(igamma_grad_a)
declare_partial_derivatives(igamma, igamma_grad_a, _igamma_grad_x)
declare_partial_derivatives(igammac, lambda a, x: -igamma_grad_a(a, x), lambda a, x: -_igamma_grad_x(a, x))


# ---- beta ------------------------------------------------------------------------------------------------------------


def lbeta(x: TensorLike, name: str | None = None) -> Tensor:
    """Computes the logarithm of the absolute value of the multivariate beta function along the last dimension.

    Args:
        x: a floating tensor of shape `[..., n]`.

    Returns:
        `sum(lgamma(x)) - lgamma(sum(x))`: a tensor of shape `[...]` and of the dtype of `x`.

    Raises:
        InvalidArgumentError: `x` is not floating, or a scalar.

    Example:
        >>> tf.math.lbeta([1.0, 1.0]).numpy().item()
        0.0
    """
    return subtract(reduce_sum(lgamma(x), -1), lgamma(reduce_sum(x, -1)), name)


def _betainc_kernel(a: torch.Tensor, b: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    if len({v.shape for v in (a, b, x) if v.ndim}) > 1:  # only scalars broadcast
        raise TypeError("the shape rule says what is wrong")
    wide = torch.broadcast_tensors(*[v.to("cpu", torch.float64) for v in (a, b, x)])
    wide = [v.contiguous() for v in wide]
    log_betas = torch.lgamma(wide[0]) + torch.lgamma(wide[1]) - torch.lgamma(wide[0] + wide[1])
    results = torch.empty_like(wide[0])
    tolerance = 1e-15 if x.dtype is torch.float64 else 1e-10
    integrate_beta(*wide, log_betas, results.numel(), tolerance, results)
    return results.to(x)


def _betainc_rule(*shapes: TensorShape) -> TensorShape:
    """Returns the shape of all inputs that are no scalars."""
    arrays = {name: shape for name, shape in zip("abx", shapes, strict=True) if shape.rank != 0}
    merged = TensorShape(None) if arrays else TensorShape([])
    for name, shape in arrays.items():
        if not merged.is_compatible_with(shape):
            first = next(iter(arrays))
            raise invalid(f"Shapes of {first} and {name} are inconsistent: {text(merged)} vs. {text(shape)}")
        merged = merged.merge_with(shape)
    return merged


@op("Betainc", kernel=_betainc_kernel, shape=_betainc_rule, elementwise=True, autograd=False)
def betainc(a: TensorLike, b: TensorLike, x: TensorLike, name: str | None = None) -> Tensor:
    """Computes the regularized incomplete beta function `I_x(a, b)`, element by element, with broadcasting.

    Args:
        a, b: above 0; NaN else. They have no gradient. The shapes of all three broadcast.
        x: from 0 to 1, NaN else; of a shape that broadcasts with `a.shape` and `b.shape`. All three are float32 or all
            float64.

    Returns:
        A tensor of the same dtype and of the broadcast shape.

    Raises:
        InvalidArgumentError: the dtypes differ, or the shapes do not broadcast.

    Example:
        >>> tf.math.betainc(1.0, 1.0, 0.25).numpy().item()
        0.25
    """


@betainc.batching
def _(batch: Batch, *inputs: Slices) -> Any:
    dims = max((batch.dims(x) for x in inputs), key=len)
    missing = [[1] * (len(dims) - x.rank) for x in inputs]
    whole = [reshape(batch.stack(x), (batch.count, *ones, *batch.dims(x)))
             for x, ones in zip(inputs, missing, strict=True)]  # fmt: skip
    return batch.run(*[broadcast_to(x, (batch.count, *dims)) for x in whole])


def _betainc_grad_x(a: Tensor, b: Tensor, x: Tensor) -> Any:
    log_beta = subtract(add(lgamma(a), lgamma(b)), lgamma(add(a, b)))
    powers = add(xlog1py(subtract(b, 1.0), negative(x)), xlogy(subtract(a, 1.0), x))
    return exp(subtract(powers, log_beta))


declare_partial_derivatives(betainc, None, None, _betainc_grad_x)
