"""Absolute values, signs, powers, exponentials and logarithms, element by element."""

from __future__ import annotations

from typing import Any

import torch

from tapeflow.array.creation import zeros_like_op
from tapeflow.array.masks import select_v2
from tapeflow.core.autodiff.gradients import conj, sum_like
from tapeflow.core.autodiff.tape import Call
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.elements import Element, ElementBuilder
from tapeflow.core.ops.elementwise_kernels import may_have_nan, zero_where_zero
from tapeflow.core.ops.op import op, widen
from tapeflow.core.ops.raw_kernels import defined_op
from tapeflow.core.ops.shape_rules import broadcast, same
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.dtypes import float16
from tapeflow.core.values.composite import CompositeTensor
from tapeflow.core.values.tensor import Tensor, invalid, is_traced
from tapeflow.math.arithmetic import add, multiply, negative, subtract
from tapeflow.math.casting import cast
from tapeflow.math.comparison import greater, not_equal
from tapeflow.math.derivatives import declare_derivative, declare_partial_derivatives
from tapeflow.math.division import divide_no_nan, nonzero, realdiv, reciprocal, xdivy

# ---- absolute value and sign -----------------------------------------------------------------------------------------


# Computes the absolute value of real numbers.
abs_op = defined_op("Abs", torch.abs, shape=same, element=lambda b, x: b.abs(x), allocates=True, takes_sparse=True)


# Computes the modulus of complex numbers.
_complex_abs = defined_op("ComplexAbs", lambda x, Tout: torch.abs(x), shape=same, elementwise=True, takes_sparse=True)


@_complex_abs.gradient(needs="input0")
def _(call: Call, dy: Tensor) -> Any:
    x = call.inputs[0]
    return multiply(cast(dy, x.dtype), sign(x))


def _abs_of_number(args: tuple[Any], name: str | None = None) -> Any:
    x: Any = args[0] if isinstance(args[0], CompositeTensor) else convert(args[0])
    return _complex_abs(x, x.dtype.real_dtype, name) if x.dtype.is_complex else abs_op.op.run((x,), name)


@widen(abs_op, _abs_of_number)
def abs(x: TensorLike, name: str | None = None) -> Tensor:
    """Computes the absolute value of each element; for complex numbers the modulus, which is real.

    Args:
        x: signed integers, floating or complex; of any shape.

    Returns:
        A tensor of the shape of `x`, and of its dtype: float32 for complex64, float64 for complex128.

    Raises:
        InvalidArgumentError: `x` is unsigned, bool or string.

    Example:
        >>> tf.abs([-1.5, 2.0]).numpy().tolist()
        [1.5, 2.0]
        >>> tf.abs(3 + 4j).numpy().item()
        5.0
    """


@op(
    "Sign",
    shape=same,
    element=lambda b, x: b.select(b.less(x, 0), -1, b.select(b.less(0, x), 1, b.add(x, 0))),
    takes_sparse=True,
)
def sign_op(x: torch.Tensor) -> torch.Tensor:
    """Computes the sign of real numbers."""
    result = torch.sgn(x)
    if x.is_floating_point() and may_have_nan(x):
        return result.masked_fill(x != x, torch.nan)
    return result


@sign_op.gradient()
def _(call: Call, dy: Tensor) -> Any:
    return zeros_like_op(dy)


def _sign_of_number(args: tuple[Any], name: str | None = None) -> Any:
    x: Any = args[0] if isinstance(args[0], CompositeTensor) else convert(args[0])
    if x.dtype.is_complex:  # not a step as for real numbers, and so with a gradient
        return divide_no_nan(x, cast(abs(x), x.dtype), name)
    return sign_op.op.run((x,), name)


@widen(sign_op, _sign_of_number)
def sign(x: TensorLike, name: str | None = None) -> Tensor:
    """Returns -1, 0 or 1, as each element is below, at or above 0; for complex numbers `x / |x|`, or 0.

    Args:
        x: signed integers, floating or complex; of any shape.

    Returns:
        A tensor of the shape and dtype of `x`.

    Raises:
        InvalidArgumentError: `x` is unsigned, bool or string.

    Example:
        >>> tf.sign([-3.5, 0.0, 2.0]).numpy().tolist()
        [-1.0, 0.0, 1.0]
    """


declare_derivative(abs_op, sign)


# ---- powers and roots ------------------------------------------------------------------------------------------------


@op("Square", kernel=torch.square, shape=same, element=lambda b, x: b.mul(x, x), allocates=True, takes_sparse=True)
def square(x: TensorLike, name: str | None = None) -> Tensor:
    """Computes `x * x` element by element.

    Args:
        x: a tensor of a numeric dtype, of any shape.

    Returns:
        A tensor of the shape and dtype of `x`.

    Raises:
        InvalidArgumentError: `x` is not numeric.

    Example:
        >>> tf.square([-2, 3]).numpy().tolist()
        [4, 9]
    """


declare_derivative(square, lambda x: multiply(x, 2.0))


@op("Sqrt", kernel=torch.sqrt, shape=same, element=lambda b, x: b.sqrt(x), allocates=True, takes_sparse=True)
def sqrt(x: TensorLike, name: str | None = None) -> Tensor:
    """Computes the square root of each element; NaN for negative floats.

    Args:
        x: a floating or complex tensor of any shape.

    Returns:
        A tensor of the shape and dtype of `x`.

    Raises:
        InvalidArgumentError: `x` is neither floating nor complex.

    Example:
        >>> tf.sqrt([4.0, 9.0]).numpy().tolist()
        [2.0, 3.0]
    """


# Computes the gradient of `y = sqrt(x)` from its result: `dy / (2 * y)`, and 0 where `dy` is 0.
sqrt_grad = defined_op(
    "SqrtGrad",
    lambda y, dy: zero_where_zero(torch.div(torch.mul(dy, 0.5), y), dy),
    shape=same,
    element=lambda b, y, dy: b.zero_where_zero(b.div(b.rounded(b.mul(dy, 0.5)), y), dy),
    allocates=True,
)


@sqrt.gradient(needs="outputs")
def _(call: Call, dy: Tensor) -> Any:
    return sqrt_grad(conj(call.outputs[0]), dy)


@sqrt_grad.gradient(needs="inputs outputs")
def _(call: Call, g: Tensor) -> Any:
    by_y = realdiv(g, conj(call.inputs[0]))
    return negative(multiply(by_y, conj(call.outputs[0]))), multiply(by_y, 0.5)


@op("Rsqrt", kernel=torch.rsqrt, shape=same, element=lambda b, x: b.div(1.0, b.rounded(b.sqrt(x))), allocates=True)
def rsqrt(x: TensorLike, name: str | None = None) -> Tensor:
    """Computes `1 / sqrt(x)` element by element.

    Args:
        x: a floating or complex tensor of any shape.

    Returns:
        A tensor of the shape and dtype of `x`.

    Raises:
        InvalidArgumentError: `x` is neither floating nor complex.

    Example:
        >>> tf.math.rsqrt([4.0, 16.0]).numpy().tolist()
        [0.5, 0.25]
    """


def _rsqrt_grad_of_elements(b: ElementBuilder, y: Element, dy: Element) -> Element:
    cube = b.rounded(b.mul(b.rounded(b.mul(y, y)), y))
    return b.zero_where_zero(b.mul(b.rounded(b.mul(dy, -0.5)), cube), dy)


# Computes the gradient of `y = rsqrt(x)` from its result: `-dy * y**3 / 2`, and 0 where `dy` is 0.
rsqrt_grad = defined_op(
    "RsqrtGrad",
    lambda y, dy: zero_where_zero(torch.mul(torch.mul(dy, -0.5), y * y * y), dy),
    shape=same,
    element=_rsqrt_grad_of_elements,
    allocates=True,
)


@rsqrt.gradient(needs="outputs")
def _(call: Call, dy: Tensor) -> Any:
    return rsqrt_grad(conj(call.outputs[0]), dy)


@rsqrt_grad.gradient(needs="inputs")
def _(call: Call, g: Tensor) -> Any:
    y, dy = conj(call.inputs[0]), conj(call.inputs[1])
    return multiply(multiply(g, -1.5), multiply(dy, square(y))), rsqrt_grad(y, g)


# The value of an exponent of rank 0 is read from this many elements on: ATen has much faster kernels for a Python
# number (40 times for 2), but reading it costs as much as a small power.
_MANY = 64


def _power_kernel(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    if x.is_floating_point():
        if y.ndim == 0 and y.is_cpu and x.numel() >= _MANY and not is_traced(y):
            return torch.pow(x, y.item())
    elif not x.is_complex() and bool((y < 0).any()):
        raise invalid("Integers to negative integer powers are not allowed")
    return torch.pow(x, y)


def _power_of_elements(b: ElementBuilder, x: Element, y: Element) -> Element:
    """Returns a power. ATen's special exponents have the same formulas here."""
    n = y.constant
    if n == 1:
        return x
    if n in (2, 3, -2):
        square = b.mul(x, x)
        if n != 2 and x.dtype is not float16:  # ATen rounds bfloat16 in between, and float16 not
            square = b.rounded(square)
        return square if n == 2 else b.mul(square, x) if n == 3 else b.div(1.0, square)
    if n in (0.5, -0.5):
        return b.sqrt(x) if n == 0.5 else b.div(1.0, b.sqrt(x))
    return b.div(1.0, x) if n == -1 else b.pow(x, y)


@op("Pow", kernel=_power_kernel, shape=broadcast, element=_power_of_elements)
def pow(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Computes `x ** y` element by element, with broadcasting.

    Args:
        x, y: tensors of one dtype, whose shapes broadcast: signed integers, floating or complex.

    Returns:
        A tensor of the same dtype and of the broadcast shape.

    Raises:
        InvalidArgumentError: the exponent of an integer is negative, the dtypes differ, or the shapes do not broadcast.

    Example:
        >>> tf.pow([2, 3], [3, 2]).numpy().tolist()
        [8, 9]
    """


@pow.gradient(needs="inputs outputs")
def _(call: Call, dy: Tensor) -> Any:
    x, y = call.inputs
    want_x, want_y = call.wanted
    dx = None
    if want_x:
        cy = conj(y)
        dx = sum_like(multiply(multiply(dy, cy), pow(conj(x), subtract(cy, 1.0))), x)
    return dx, sum_like(_by_exponent(x, call.outputs[0], dy), y) if want_y else None


def _by_exponent(x: Tensor, z: Tensor, dy: Tensor) -> Any:
    """Computes `dy * log(x) * z`, with 0 for the logarithm of numbers that have none."""
    zero, one = convert(0, x.dtype), convert(1, x.dtype)
    has_log = not_equal(x, zero) if x.dtype.is_complex else greater(x, zero)
    log_x = select_v2(has_log, log(select_v2(has_log, x, one)), zero)
    return multiply(multiply(dy, conj(log_x)), conj(z))


# ---- exponentials and logarithms -------------------------------------------------------------------------------------


@op("Exp", kernel=torch.exp, shape=same, element=lambda b, x: b.exp(x), allocates=True)
def exp(x: TensorLike, name: str | None = None) -> Tensor:
    """Computes `e ** x` element by element.

    Args:
        x: a floating or complex tensor of any shape.

    Returns:
        A tensor of the shape and dtype of `x`.

    Raises:
        InvalidArgumentError: `x` is neither floating nor complex.

    Example:
        >>> tf.exp([0.0, 1.0]).numpy().tolist()
        [1.0, 2.7182817459106445]
    """


declare_derivative(exp, lambda y: y, needs="outputs")


@op("Expm1", kernel=torch.expm1, shape=same, element=lambda b, x: b.expm1(x), allocates=True)
def expm1(x: TensorLike, name: str | None = None) -> Tensor:
    """Computes `e ** x - 1` element by element, exact for small `x` too.

    Args:
        x: a floating or complex tensor of any shape.

    Returns:
        A tensor of the shape and dtype of `x`.

    Raises:
        InvalidArgumentError: `x` is neither floating nor complex.

    Example:
        >>> tf.math.expm1([0.0, 1e-10]).numpy().tolist()
        [0.0, 1.000000013351432e-10]
    """


declare_derivative(expm1, lambda y: add(y, 1.0), needs="outputs")


@op("Log", kernel=torch.log, shape=same, element=lambda b, x: b.log(x), allocates=True)
def log(x: TensorLike, name: str | None = None) -> Tensor:
    """Computes the natural logarithm of each element; -inf for 0 and NaN for negative floats.

    Args:
        x: a floating or complex tensor of any shape.

    Returns:
        A tensor of the shape and dtype of `x`.

    Raises:
        InvalidArgumentError: `x` is neither floating nor complex.

    Example:
        >>> tf.math.log([1.0, 0.0]).numpy().tolist()
        [0.0, -inf]
    """


declare_derivative(log, reciprocal)


@op("Log1p", kernel=torch.log1p, shape=same, element=lambda b, x: b.log1p(x), allocates=True)
def log1p(x: TensorLike, name: str | None = None) -> Tensor:
    """Computes `log(1 + x)` element by element, exact for small `x` too.

    Args:
        x: a floating or complex tensor of any shape.

    Returns:
        A tensor of the shape and dtype of `x`.

    Raises:
        InvalidArgumentError: `x` is neither floating nor complex.

    Example:
        >>> tf.math.log1p([0.0, -1.0]).numpy().tolist()
        [0.0, -inf]
    """


declare_derivative(log1p, lambda x: reciprocal(add(x, 1.0)))


@op(
    "Xlogy",
    kernel=lambda x, y: zero_where_zero(torch.mul(x, torch.log(y)), x),
    shape=broadcast,
    element=lambda b, x, y: b.zero_where_zero(b.mul(x, b.rounded(b.log(y))), x),
)
def xlogy(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Computes `x * log(y)` element by element, and 0 where `x` is 0, whatever `y` is.

    Args:
        x, y: floating or complex tensors of one dtype, whose shapes broadcast.

    Returns:
        A tensor of the same dtype and of the broadcast shape.

    Raises:
        InvalidArgumentError: the dtypes differ, or the shapes do not broadcast.

    Example:
        >>> tf.math.xlogy([0.0, 2.0], [0.0, 1.0]).numpy().tolist()
        [0.0, 0.0]
    """


declare_partial_derivatives(xlogy, lambda x, y: xlogy(nonzero(x), y), xdivy)


@op(
    "Xlog1py",
    kernel=lambda x, y: zero_where_zero(torch.mul(x, torch.log1p(y)), x),
    shape=broadcast,
    element=lambda b, x, y: b.zero_where_zero(b.mul(x, b.rounded(b.log1p(y))), x),
)
def xlog1py(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Computes `x * log(1 + y)` element by element, and 0 where `x` is 0, whatever `y` is.

    Args:
        x, y: floating or complex tensors of one dtype, whose shapes broadcast.

    Returns:
        A tensor of the same dtype and of the broadcast shape.

    Raises:
        InvalidArgumentError: the dtypes differ, or the shapes do not broadcast.

    Example:
        >>> tf.math.xlog1py([0.0, 2.0], [-1.0, 0.0]).numpy().tolist()
        [0.0, 0.0]
    """


declare_partial_derivatives(xlog1py, lambda x, y: xlog1py(nonzero(x), y), lambda x, y: xdivy(x, add(y, 1.0)))
