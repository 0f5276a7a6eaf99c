"""Quotients and remainders, element by element."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from tapeflow.core.autodiff.gradients import conj, sum_like, sum_wanted
from tapeflow.core.autodiff.tape import Call
from tapeflow.core.errors import InternalError, InvalidArgumentError, NotFoundError, OpError
from tapeflow.core.ops import elementwise_kernels
from tapeflow.core.ops.convert import as_operand, convert
from tapeflow.core.ops.elements import Element, ElementBuilder, divisor
from tapeflow.core.ops.elementwise_kernels import zero_where_zero
from tapeflow.core.ops.op import not_differentiable, op, widen
from tapeflow.core.ops.raw_kernels import defined_op
from tapeflow.core.ops.shape_rules import broadcast, same
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.dtypes import float32, float64, int8, int16, uint8, uint16
from tapeflow.core.values.tensor import Tensor, invalid
from tapeflow.core.values.variable import Variable
from tapeflow.math.arithmetic import multiply, negative
from tapeflow.math.casting import cast
from tapeflow.math.comparison import not_equal
from tapeflow.math.derivatives import declare_partial_derivatives


def _needs_real_numbers(name: str, x: torch.Tensor) -> None:
    if x.is_complex():
        raise NotFoundError.of(f"{name} has no kernel for complex numbers")


def _has_divisor(divisor: int, x: torch.Tensor, y: torch.Tensor) -> bool:
    """Tests whether an integer is divided by this number, which torch may not notice (an exporter has no values)."""
    if y.is_floating_point() or y.is_complex() or torch.compiler.is_exporting() or not x.numel():
        return False
    if y.numel() < _VECTOR and elementwise_kernels.by_value(y):
        return divisor in y.reshape(-1).tolist()
    return bool((y == divisor).any())


def _by_one_number(x: torch.Tensor, y: torch.Tensor) -> bool:
    """Returns True if many integers are divided by one positive number. NumPy multiplies instead, which takes a tenth
    of the time."""
    if y.ndim or x.is_floating_point() or x.is_complex():
        return False
    return elementwise_kernels.by_value(x, elementwise_kernels.SOME) and elementwise_kernels.by_value(y) and int(y) > 0


def _for_uint64(function: Callable[..., Any], x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Computes uint64 by NumPy's function: no other integer type of ATen can stand in for it."""
    return torch.from_numpy(np.asarray(function(x.cpu().numpy(), y.cpu().numpy()))).to(x.device)


# ---- quotients -------------------------------------------------------------------------------------------------------


def _real_divide(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    if not (x.is_floating_point() or x.is_complex()):
        raise NotFoundError.of("RealDiv has no kernel for integers: cast to a float, or use tf.math.truediv")
    return torch.div(x, y)


@op(
    "RealDiv",
    kernel=_real_divide,
    shape=broadcast,
    element=lambda b, x, y: b.div(x, y),
    neutral=1.0,
    allocates=True,
    node_name="truediv",
)
def realdiv(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Divides floats or complex numbers element by element, with broadcasting.

    Args:
        x, y: floating or complex tensors of one dtype, whose shapes broadcast.

    Returns:
        A tensor of the same dtype and of the broadcast shape.

    Raises:
        NotFoundError: they are integers.
        InvalidArgumentError: the dtypes differ, or the shapes do not broadcast.

    Example:
        >>> tf.realdiv(1.0, [2.0, 4.0]).numpy().tolist()
        [0.5, 0.25]
    """


@realdiv.inline
def _(x: Tensor, y: Tensor) -> tuple[Any, str]:
    return torch.div, "{kernel}({0}, {1})"


@realdiv.gradient(needs="inputs")
def _gradients_of_quotient(call: Call, dy: Tensor) -> Any:
    x, y = call.inputs
    want_x, want_y = call.wanted
    by_y = realdiv(dy, conj(y))
    return (
        sum_like(by_y, x) if want_x else None,
        sum_like(multiply(by_y, negative(conj(realdiv(x, y)))), y) if want_y else None,
    )


# Narrow integers are divided in these dtypes, wider ones in float64.
_DIVIDED_AS = {int8: float32, uint8: float32, int16: float32, uint16: float32}


def _divide_numbers(division: Any, title: str, args: tuple[Any, Any], name: str | None) -> Any:
    """Divides numbers by an op for floats. Integers are cast to floats first.

    Raises:
        TypeError: the dtypes differ or are not numeric.
    """
    x = as_operand(args[0])
    y = as_operand(args[1], hint=x.dtype)
    dtype = x.dtype
    if dtype is not y.dtype:
        raise TypeError(f"`x` and `y` must have the same dtype, got {dtype!r} != {y.dtype!r}.")
    if dtype.is_floating or dtype.is_complex:
        return division.op.run((x, y), name)
    if not dtype.is_integer:
        raise TypeError(f"Invalid dtype {dtype!r} in {title}. Expected a number.")
    to = _DIVIDED_AS.get(dtype, float64)
    return division(cast(x, to), cast(y, to), name)


def true_divide(args: tuple[Any, Any], name: str | None = None) -> Any:
    """Divides as Python's `/` does: integers are cast to floats first."""
    return _divide_numbers(realdiv, "__truediv__", args, name)


@widen(realdiv, true_divide)
def truediv(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Divides element by element as Python 3 does: integers give floats.

    Args:
        x, y: tensors of one numeric dtype, whose shapes broadcast. 8 and 16 bit integers are divided as float32, wider
            ones as float64.

    Returns:
        A floating or complex tensor of the broadcast shape.

    Raises:
        TypeError: the dtypes differ or are not numeric.
        InvalidArgumentError: the shapes do not broadcast.

    Example:
        >>> tf.math.truediv(7, 2).numpy().item()
        3.5
    """


def _divide_values(args: tuple[Any, Any], name: str | None = None) -> Any:
    """Divides as the operator does: a first argument that is no tensor is converted to the dtype of the second."""
    x, y = args
    if isinstance(y, (Tensor, Variable)) and not isinstance(x, (Tensor, Variable)):
        x = as_operand(x, y.dtype)
    return true_divide((x, y), name)


@widen(realdiv, _divide_values)
def divide(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Divides `x` by `y` as Python 3's `x / y` does: integers give floats. See `tf.math.truediv`.

    Args:
        x, y: tensors of one numeric dtype, whose shapes broadcast. 8 and 16 bit integers are divided as float32, wider
            ones as float64.

    Returns:
        A floating or complex tensor of the broadcast shape.

    Raises:
        TypeError: the dtypes differ or are not numeric.
        InvalidArgumentError: the shapes do not broadcast.

    Example:
        >>> tf.divide([7, 8], [2, 4]).numpy().tolist()
        [3.5, 2.0]
    """


def _floor_divide(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    if x.is_floating_point():
        return torch.floor(torch.div(x, y))
    _needs_real_numbers("FloorDiv", x)
    if _has_divisor(0, x, y):
        raise invalid("Integer division by zero")
    if x.dtype is torch.uint64:
        return _for_uint64(np.floor_divide, x, y)
    if _by_one_number(x, y):
        return torch.from_numpy(np.floor_divide(x.numpy(), y.numpy()))
    return torch.div(x, y, rounding_mode="floor")


def _floor_divide_elements(b: ElementBuilder, x: Element, y: Element) -> Element:
    return b.floor(b.rounded(b.div(x, y))) if x.dtype.is_floating else b.floor_quotient(x, y)


@op("FloorDiv", kernel=_floor_divide, shape=broadcast, element=_floor_divide_elements, node_name="floordiv")
def floordiv(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Divides and rounds towards minus infinity, element by element. Its gradient is None.

    Args:
        x, y: tensors of one real dtype, whose shapes broadcast.

    Returns:
        A tensor of the same dtype and of the broadcast shape.

    Raises:
        InvalidArgumentError: an integer is divided by zero, the dtypes differ, or the shapes do not broadcast.
            A program of `torch.export` raises torch's RuntimeError; in ONNX Runtime the result is undefined.

    Example:
        >>> tf.math.floordiv(-7, 2).numpy().item()
        -4
    """


def _truncate_divide(x: torch.Tensor, y: torch.Tensor, by_zero: type[OpError] = InternalError) -> torch.Tensor:
    _needs_real_numbers("TruncateDiv", x)
    if _has_divisor(0, x, y):
        raise by_zero.of("Integer division by zero")
    if x.dtype is torch.uint64:
        return _for_uint64(np.floor_divide, x, y)
    if y.dtype in _TRAPPING and _has_divisor(-1, x, y):  # the processor traps on the least number by -1
        by_others = torch.div(x, y.masked_fill(y == -1, 1), rounding_mode="trunc")
        return torch.where(y == -1, -x, by_others)
    return torch.div(x, y, rounding_mode="trunc")


_TRAPPING = (torch.int32, torch.int64)  # ATen divides narrower integers as wider ones


@op(
    "TruncateDiv",
    kernel=_truncate_divide,
    shape=broadcast,
    element=lambda b, x, y: b.trunc(b.rounded(b.div(x, y))) if x.dtype.is_floating else b.quotient(x, divisor(y)),
)
def truncatediv(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Divides and rounds towards zero, as C does, element by element. Its gradient is None.

    Args:
        x, y: tensors of one real dtype, whose shapes broadcast.

    Returns:
        A tensor of the same dtype and of the broadcast shape.

    Raises:
        InternalError: an integer is divided by zero (TensorFlow's class for it).
            A program of `torch.export` raises torch's RuntimeError; in ONNX Runtime the result is undefined.

    Example:
        >>> tf.truncatediv(-7, 2).numpy().item()
        -3
    """


not_differentiable(floordiv, truncatediv)


@op("Div", shape=broadcast, element=lambda b, x, y: b.quotient(x, divisor(y)) if x.dtype.is_integer else b.div(x, y))
def div_op(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Divides, and rounds integers towards zero: TensorFlow 1's division, `tf.raw_ops.Div`."""
    real = x.is_floating_point() or x.is_complex()
    return torch.div(x, y) if real else _truncate_divide(x, y, InvalidArgumentError)


div_op.gradient(needs="inputs")(_gradients_of_quotient)


# ---- remainders ------------------------------------------------------------------------------------------------------


def _exact_remainder(
    function: Callable[..., torch.Tensor], exact: Callable[..., np.ndarray], x: torch.Tensor, y: torch.Tensor
) -> torch.Tensor:
    """Computes a remainder by ATen, and by NumPy if that has NaN: ATen's vectorized kernels give up on very large
    quotients.
    """
    result = function(x, y)
    if result.numel() < _VECTOR or result.dtype not in _COMPUTED_BY_FMOD or not elementwise_kernels.by_value(result):
        return result
    if not elementwise_kernels.may_have_nan(result):
        return result
    with np.errstate(invalid="ignore"):
        return torch.where(result.isnan(), torch.from_numpy(exact(x.numpy(), y.numpy())), result)


_VECTOR = 8  # ATen's vectorized kernels start at this number of elements
_COMPUTED_BY_FMOD = (torch.float32, torch.float64)


def _floor_mod(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    if _has_divisor(0, x, y):
        raise invalid("Integer division by zero")
    if x.dtype is torch.uint64:
        return _for_uint64(np.remainder, x, y)
    if _by_one_number(x, y):
        multiples = np.floor_divide(x.numpy(), y.numpy())
        multiples *= y.numpy()
        return torch.from_numpy(np.subtract(x.numpy(), multiples, out=multiples))
    return _exact_remainder(torch.remainder, np.remainder, x, y)


@op("FloorMod", kernel=_floor_mod, shape=broadcast, element=lambda b, x, y: b.floor_remainder(x, y))
def floormod(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Computes the remainder of floor division, `x - floor(x / y) * y`, which has the sign of `y`.

    Args:
        x, y: tensors of one real dtype, whose shapes broadcast.

    Returns:
        A tensor of the same dtype and of the broadcast shape.

    Raises:
        InvalidArgumentError: an integer is divided by zero, the dtypes differ, or the shapes do not broadcast.
            A program of `torch.export` raises torch's RuntimeError; in ONNX Runtime the result is undefined.

    Example:
        >>> tf.math.floormod(-7, 3).numpy().item()
        2
    """


mod = floormod


def _truncate_mod(x: torch.Tensor, y: torch.Tensor, by_zero: type[OpError] = InternalError) -> torch.Tensor:
    if _has_divisor(0, x, y):
        raise by_zero.of("Integer division by zero")
    return _exact_remainder(torch.fmod, np.fmod, x, y)


@op("TruncateMod", kernel=_truncate_mod, shape=broadcast, element=lambda b, x, y: b.remainder(x, divisor(y)))
def truncatemod(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Computes the remainder of division towards zero, as C's `fmod`, which has the sign of `x`.

    Args:
        x, y: tensors of one real dtype, whose shapes broadcast.

    Returns:
        A tensor of the same dtype and of the broadcast shape.

    Raises:
        InternalError: an integer is divided by zero (TensorFlow's class for it).
            A program of `torch.export` raises torch's RuntimeError; in ONNX Runtime the result is undefined.

    Example:
        >>> tf.truncatemod(-7, 3).numpy().item()
        -1
    """


# Computes `truncatemod`: TensorFlow 1's remainder, `tf.raw_ops.Mod`.
_mod_op = defined_op(
    "Mod",
    lambda x, y: _truncate_mod(x, y, InvalidArgumentError),
    shape=broadcast,
    element=lambda b, x, y: b.remainder(x, divisor(y)),
)


@_mod_op.gradient(needs="inputs")
@floormod.gradient(needs="inputs")
@truncatemod.gradient(needs="inputs")
def _(call: Call, dy: Tensor) -> Any:
    quotient = floordiv if call.op is floormod.op else truncatediv
    return sum_wanted(call, lambda: dy, lambda: multiply(dy, negative(quotient(*call.inputs))))


# ---- where zero divides ----------------------------------------------------------------------------------------------


def _is_number_but_zero(y: torch.Tensor) -> bool:
    """Tests whether `y` is a readable scalar other than 0, as the divisors of losses and means are."""
    return not y.ndim and elementwise_kernels.by_value(y) and bool(y.item())


@op("DivNoNan", shape=broadcast, element=lambda b, x, y: b.zero_where_zero(b.div(x, y), y), autograd=False)
def _divide_no_nan(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Computes the quotient, and 0 where `y` is 0."""
    quotient = torch.div(x, y)
    return quotient if _is_number_but_zero(y) else zero_where_zero(quotient, y)


@_divide_no_nan.gradient(needs="inputs")
def _(call: Call, dy: Tensor) -> Any:
    x, y = (conj(t) for t in call.inputs)
    return sum_wanted(
        call, lambda: _divide_no_nan(dy, y), lambda: multiply(dy, _divide_no_nan(_divide_no_nan(negative(x), y), y))
    )


def _divide_numbers_no_nan(args: tuple[Any, Any], name: str | None = None) -> Any:
    x, y = args
    if isinstance(y, Tensor) and not isinstance(x, Tensor):
        x = as_operand(x, y.dtype)
    return _divide_numbers(_divide_no_nan, "tf.math.divide_no_nan", (x, y), name)


@widen(_divide_no_nan, _divide_numbers_no_nan)
def divide_no_nan(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Divides element by element, with 0 where `y` is 0. Integers give floats, as in `tf.math.truediv`.

    Args:
        x, y: tensors of one numeric dtype, whose shapes broadcast.

    Returns:
        A floating or complex tensor of the broadcast shape.

    Raises:
        TypeError: the dtypes differ or are not numeric.
        InvalidArgumentError: the shapes do not broadcast.

    Example:
        >>> tf.math.divide_no_nan([1.0, 2.0], [0.0, 4.0]).numpy().tolist()
        [0.0, 0.5]
    """


def _xdivy_kernel(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return zero_where_zero(torch.div(x, y), x)


@op("Xdivy", kernel=_xdivy_kernel, shape=broadcast, element=lambda b, x, y: b.zero_where_zero(b.div(x, y), x))
def xdivy(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Computes `x / y` element by element, and 0 where `x` is 0, whatever `y` is.

    Args:
        x, y: floating or complex tensors of one dtype, whose shapes broadcast.

    Returns:
        A tensor of the same dtype and of the broadcast shape.

    Raises:
        InvalidArgumentError: the dtypes differ, or the shapes do not broadcast.

    Example:
        >>> tf.math.xdivy([0.0, 2.0], [0.0, 4.0]).numpy().tolist()
        [0.0, 0.5]
    """


declare_partial_derivatives(xdivy, lambda x, y: xdivy(nonzero(x), y), lambda x, y: xdivy(negative(x), multiply(y, y)))


def nonzero(x: Tensor) -> Any:
    """Returns 1 where `x` is not 0 and 0 where it is, in the dtype of `x`."""
    return cast(not_equal(x, convert(0, x.dtype)), x.dtype)


# ---- reciprocals -----------------------------------------------------------------------------------------------------


def _reciprocal_kernel(x: torch.Tensor) -> torch.Tensor:
    if not (x.is_floating_point() or x.is_complex()):
        raise NotFoundError.of("Reciprocal has no kernel for integers: cast to a float")
    return torch.reciprocal(x)


@op("Reciprocal", kernel=_reciprocal_kernel, shape=same, element=lambda b, x: b.div(1.0, x))
def reciprocal(x: TensorLike, name: str | None = None) -> Tensor:
    """Computes `1 / x` element by element.

    Args:
        x: a floating or complex tensor of any shape.

    Returns:
        A tensor of the shape and dtype of `x`.

    Raises:
        NotFoundError: `x` is of integers.

    Example:
        >>> tf.math.reciprocal([2.0, 4.0]).numpy().tolist()
        [0.5, 0.25]
    """


# Computes the gradient of `y = 1 / x` from its result: `-dy * y * y`, and 0 where `dy` is 0.
reciprocal_grad = defined_op(
    "ReciprocalGrad",
    lambda y, dy: zero_where_zero(torch.neg(torch.mul(dy, torch.square(y))), dy),
    shape=same,
    element=lambda b, y, dy: b.zero_where_zero(b.neg(b.mul(dy, b.rounded(b.mul(y, y)))), dy),
)


@reciprocal.gradient(needs="outputs")
def _(call: Call, dy: Tensor) -> Any:
    return reciprocal_grad(conj(call.outputs[0]), dy)


@reciprocal_grad.gradient(needs="inputs")
def _(call: Call, g: Tensor) -> Any:
    y, dy = conj(call.inputs[0]), conj(call.inputs[1])
    want_y, want_dy = call.wanted
    return (
        multiply(multiply(g, -2.0), multiply(dy, y)) if want_y else None,
        reciprocal_grad(y, g) if want_dy else None,
    )


def reciprocal_no_nan(x: TensorLike, name: str | None = None) -> Tensor:
    """Computes `1 / x` element by element, and 0 where `x` is 0.

    Args:
        x: a floating or complex tensor of any shape.

    Returns:
        A tensor of the shape and dtype of `x`.

    Raises:
        TypeError: `x` is not numeric.

    Example:
        >>> tf.math.reciprocal_no_nan([2.0, 0.0]).numpy().tolist()
        [0.5, 0.0]
    """
    divisor = as_operand(x)
    return _divide_no_nan(convert(1, divisor.dtype), divisor, name)
