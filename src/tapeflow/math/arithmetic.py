"""Arithmetic of two tensors, element by element."""

from __future__ import annotations

from typing import Any

import torch

from tapeflow.core.convert import convert
from tapeflow.core.dtypes import DType, float32, float64, int8, int16, uint8, uint16
from tapeflow.core.op import op
from tapeflow.core.shape_rules import broadcast
from tapeflow.core.tape import Call
from tapeflow.core.tensor import EagerTensor, invalid
from tapeflow.errors import NotFoundError
from tapeflow.math.gradients import conj, sum_like, sum_to_shape


def _add_text(x: Any, y: Any) -> Any:
    return x + y


@op("AddV2", kernel=torch.add, shape=broadcast, promotes=True, strings=_add_text)
def add(x: Any, y: Any, name: str | None = None) -> Any:
    """Adds two tensors element by element, with broadcasting; joins strings.

    Args:
        x, y: of one numeric dtype, or strings.

    Raises:
        InvalidArgumentError: the dtypes differ, or the shapes do not broadcast.

    Example:
        >>> tf.add([1, 2], 3).numpy().tolist()
        [4, 5]
    """


@add.gradient(needs="shapes")
def _(call: Call, dy: Any) -> Any:
    x, y = call.wanted
    return sum_to_shape(dy, call.shape(0)) if x else None, sum_to_shape(dy, call.shape(1)) if y else None


@op("Sub", kernel=torch.sub, shape=broadcast)
def subtract(x: Any, y: Any, name: str | None = None) -> Any:
    """Subtracts `y` from `x` element by element, with broadcasting.

    Args:
        x, y: of one numeric dtype.

    Raises:
        InvalidArgumentError: the dtypes differ, or the shapes do not broadcast.

    Example:
        >>> tf.subtract([5, 6], [1, 2]).numpy().tolist()
        [4, 4]
    """


@subtract.gradient(needs="shapes")
def _(call: Call, dy: Any) -> Any:
    x, y = call.wanted
    return (
        sum_to_shape(dy, call.shape(0)) if x else None,
        negative(sum_to_shape(dy, call.shape(1))) if y else None,
    )


@op("Mul", kernel=torch.mul, shape=broadcast)
def multiply(x: Any, y: Any, name: str | None = None) -> Any:
    """Multiplies two tensors element by element, with broadcasting.

    Args:
        x, y: of one numeric dtype.

    Raises:
        InvalidArgumentError: the dtypes differ, or the shapes do not broadcast.

    Example:
        >>> tf.multiply([1.0, 2.0], 3.0).numpy().tolist()
        [3.0, 6.0]
    """


@multiply.gradient(needs="inputs")
def _(call: Call, dy: Any) -> Any:
    x, y = call.inputs
    want_x, want_y = call.wanted
    return (
        sum_like(multiply(dy, conj(y)), x) if want_x else None,
        sum_like(multiply(dy, conj(x)), y) if want_y else None,
    )


@op("Neg", kernel=torch.neg)
def negative(x: Any, name: str | None = None) -> Any:
    """Computes `-x` element by element.

    Example:
        >>> tf.negative([1, -2]).numpy().tolist()
        [-1, 2]
    """


@negative.gradient()
def _(call: Call, dy: Any) -> Any:
    return negative(dy)


def _real_divide(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    if not (x.is_floating_point() or x.is_complex()):
        raise NotFoundError(None, None, "RealDiv has no kernel for integers: cast to a float, or use tf.math.truediv")
    return torch.div(x, y)


@op("RealDiv", kernel=_real_divide, shape=broadcast)
def realdiv(x: Any, y: Any, name: str | None = None) -> Any:
    """Divides floats or complex numbers element by element, with broadcasting.

    Example:
        >>> tf.realdiv(1.0, [2.0, 4.0]).numpy().tolist()
        [0.5, 0.25]
    """


@realdiv.gradient(needs="inputs")
def _(call: Call, dy: Any) -> Any:
    x, y = call.inputs
    want_x, want_y = call.wanted
    by_x = realdiv(dy, conj(y))
    return (
        sum_like(by_x, x) if want_x else None,
        sum_like(multiply(by_x, negative(conj(realdiv(x, y)))), y) if want_y else None,
    )


# What integers become before they are divided.
_DIVIDED_AS = {int8: float32, uint8: float32, int16: float32, uint16: float32}


def truediv(x: Any, y: Any, name: str | None = None) -> Any:
    """Divides element by element as Python 3 does: integers give floats.

    Args:
        x, y: of one numeric dtype. 8 and 16 bit integers are divided as float32, wider ones as float64.

    Raises:
        TypeError: the dtypes differ or are not numeric.

    Example:
        >>> tf.math.truediv(7, 2).numpy().item()
        3.5
    """
    if type(x) is EagerTensor and type(y) is EagerTensor and x.dtype is y.dtype and x.dtype.is_floating:
        return realdiv(x, y)
    x = convert(x)
    y = convert(y, hint=x.dtype)
    dtype: DType = x.dtype
    if dtype is not y.dtype:
        raise TypeError(f"`x` and `y` must have the same dtype, got {dtype!r} != {y.dtype!r}.")
    if dtype.is_floating or dtype.is_complex:
        return realdiv(x, y)
    if not dtype.is_integer:
        raise TypeError(f"Invalid dtype {dtype!r} in __truediv__. Expected a number.")
    from tapeflow.math.casting import cast

    to = _DIVIDED_AS.get(dtype, float64)
    return realdiv(cast(x, to), cast(y, to))


def divide(x: Any, y: Any, name: str | None = None) -> Any:
    """Divides `x` by `y` as Python 3 does: `x / y`. See `tf.math.truediv`."""
    return truediv(x, y) if not hasattr(x, "__truediv__") or isinstance(x, (int, float, complex)) else x / y


def _integer_guard(name: str, y: torch.Tensor) -> None:
    if not y.is_floating_point() and not y.is_complex() and bool((y == 0).any()):
        raise invalid("Integer division by zero")


def _floor_divide(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    _integer_guard("FloorDiv", y)
    if x.is_floating_point():
        return torch.floor(torch.div(x, y))
    return torch.div(x, y, rounding_mode="floor")


@op("FloorDiv", kernel=_floor_divide, shape=broadcast)
def floordiv(x: Any, y: Any, name: str | None = None) -> Any:
    """Divides and rounds towards minus infinity, element by element.

    Raises:
        InvalidArgumentError: an integer is divided by zero.

    Example:
        >>> tf.math.floordiv(-7, 2).numpy().item()
        -4
    """


floordiv.op.differentiable = False


def _floor_mod(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    _integer_guard("FloorMod", y)
    return torch.remainder(x, y)


@op("FloorMod", kernel=_floor_mod, shape=broadcast)
def floormod(x: Any, y: Any, name: str | None = None) -> Any:
    """The remainder of floor division, `x - floor(x / y) * y`, which has the sign of `y`.

    Raises:
        InvalidArgumentError: an integer is divided by zero.

    Example:
        >>> tf.math.floormod(-7, 3).numpy().item()
        2
    """


@floormod.gradient(needs="inputs")
def _(call: Call, dy: Any) -> Any:
    x, y = call.inputs
    want_x, want_y = call.wanted
    return (
        sum_like(dy, x) if want_x else None,
        sum_like(multiply(dy, negative(floordiv(x, y))), y) if want_y else None,
    )


mod = floormod
