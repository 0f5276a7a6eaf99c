"""Trigonometric and hyperbolic functions and their inverses, element by element. Angles are in radians."""

from __future__ import annotations

from typing import Any

import torch

from tapeflow.core.autodiff.gradients import conj, sum_wanted
from tapeflow.core.autodiff.tape import Call
from tapeflow.core.ops.op import op
from tapeflow.core.ops.shape_rules import broadcast, same
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.values.tensor import Tensor
from tapeflow.math.arithmetic import add, multiply, negative
from tapeflow.math.derivatives import declare_derivative
from tapeflow.math.division import realdiv, reciprocal
from tapeflow.math.elementwise import rsqrt, square


@op("Sin", kernel=torch.sin, shape=same, element=lambda b, x: b.sin(x), allocates=True, takes_sparse=True)
def sin(x: TensorLike, name: str | None = None) -> Tensor:
    """Computes the sine of each element.

    Args:
        x: a floating or complex tensor of any shape.

    Returns:
        A tensor of the shape and dtype of `x`.

    Raises:
        InvalidArgumentError: `x` is neither floating nor complex.

    Example:
        >>> tf.sin([0.0, 1.0]).numpy().tolist()
        [0.0, 0.8414709568023682]
    """


@op("Cos", kernel=torch.cos, shape=same, element=lambda b, x: b.cos(x), allocates=True)
def cos(x: TensorLike, name: str | None = None) -> Tensor:
    """Computes the cosine of each element.

    Args:
        x: a floating or complex tensor of any shape.

    Returns:
        A tensor of the shape and dtype of `x`.

    Raises:
        InvalidArgumentError: `x` is neither floating nor complex.

    Example:
        >>> tf.cos([0.0, 1.0]).numpy().tolist()
        [1.0, 0.5403023362159729]
    """


declare_derivative(sin, cos)
declare_derivative(cos, lambda x: negative(sin(x)))


@op("Tan", kernel=torch.tan, shape=same, element=lambda b, x: b.tan(x), takes_sparse=True)
def tan(x: TensorLike, name: str | None = None) -> Tensor:
    """Computes the tangent of each element.

    Args:
        x: a floating or complex tensor of any shape.

    Returns:
        A tensor of the shape and dtype of `x`.

    Raises:
        InvalidArgumentError: `x` is neither floating nor complex.

    Example:
        >>> tf.tan(0.0).numpy().item()
        0.0
    """


declare_derivative(tan, lambda x: square(reciprocal(cos(x))))


@op("Asin", kernel=torch.asin, shape=same, element=lambda b, x: b.asin(x), takes_sparse=True)
def asin(x: TensorLike, name: str | None = None) -> Tensor:
    """Computes the inverse sine of each element, from -pi/2 to pi/2; NaN for floats outside [-1, 1].

    Args:
        x: a floating or complex tensor of any shape.

    Returns:
        A tensor of the shape and dtype of `x`.

    Raises:
        InvalidArgumentError: `x` is neither floating nor complex.

    Example:
        >>> tf.asin([0.0, 1.0]).numpy().tolist()
        [0.0, 1.5707963705062866]
    """


declare_derivative(asin, lambda x: rsqrt(1.0 - square(x)))


@op("Acos", kernel=torch.acos, shape=same, element=lambda b, x: b.acos(x))
def acos(x: TensorLike, name: str | None = None) -> Tensor:
    """Computes the inverse cosine of each element, from 0 to pi; NaN for floats outside [-1, 1].

    Args:
        x: a floating or complex tensor of any shape.

    Returns:
        A tensor of the shape and dtype of `x`.

    Raises:
        InvalidArgumentError: `x` is neither floating nor complex.

    Example:
        >>> tf.acos([1.0, 0.0]).numpy().tolist()
        [0.0, 1.5707963705062866]
    """


declare_derivative(acos, lambda x: negative(rsqrt(1.0 - square(x))))


@op("Atan", kernel=torch.atan, shape=same, element=lambda b, x: b.atan(x), takes_sparse=True)
def atan(x: TensorLike, name: str | None = None) -> Tensor:
    """Computes the inverse tangent of each element, from -pi/2 to pi/2.

    Args:
        x: a floating or complex tensor of any shape.

    Returns:
        A tensor of the shape and dtype of `x`.

    Raises:
        InvalidArgumentError: `x` is neither floating nor complex.

    Example:
        >>> tf.atan([0.0, 1.0]).numpy().tolist()
        [0.0, 0.7853981852531433]
    """


declare_derivative(atan, lambda x: reciprocal(add(square(x), 1.0)))


@op("Atan2", kernel=torch.atan2, shape=broadcast, element=lambda b, y, x: b.atan2(y, x))
def atan2(y: TensorLike, x: TensorLike, name: str | None = None) -> Tensor:
    """Computes the angle of the point `(x, y)`, from -pi to pi, element by element, with broadcasting.

    Args:
        y, x: floating tensors of one dtype, whose shapes broadcast.

    Returns:
        A tensor of the same dtype and of the broadcast shape.

    Raises:
        InvalidArgumentError: the dtypes differ, or the shapes do not broadcast.

    Example:
        >>> tf.atan2([0.0, 1.0], [1.0, 0.0]).numpy().tolist()
        [0.0, 1.5707963705062866]
    """


@atan2.gradient(needs="inputs")
def _(call: Call, dy: Tensor) -> Any:
    y, x = call.inputs
    by_square = realdiv(dy, add(square(x), square(y)))
    return sum_wanted(call, lambda: multiply(x, by_square), lambda: multiply(negative(y), by_square))


@op("Sinh", kernel=torch.sinh, shape=same, element=lambda b, x: b.sinh(x))
def sinh(x: TensorLike, name: str | None = None) -> Tensor:
    """Computes the hyperbolic sine of each element.

    Args:
        x: a floating or complex tensor of any shape.

    Returns:
        A tensor of the shape and dtype of `x`.

    Raises:
        InvalidArgumentError: `x` is neither floating nor complex.

    Example:
        >>> tf.sinh([0.0, 1.0]).numpy().tolist()
        [0.0, 1.175201177597046]
    """


@op("Cosh", kernel=torch.cosh, shape=same, element=lambda b, x: b.cosh(x))
def cosh(x: TensorLike, name: str | None = None) -> Tensor:
    """Computes the hyperbolic cosine of each element.

    Args:
        x: a floating or complex tensor of any shape.

    Returns:
        A tensor of the shape and dtype of `x`.

    Raises:
        InvalidArgumentError: `x` is neither floating nor complex.

    Example:
        >>> tf.cosh([0.0, 1.0]).numpy().tolist()
        [1.0, 1.54308...]
    """


declare_derivative(sinh, cosh)
declare_derivative(cosh, sinh)


@op("Asinh", kernel=torch.asinh, shape=same, element=lambda b, x: b.asinh(x), takes_sparse=True)
def asinh(x: TensorLike, name: str | None = None) -> Tensor:
    """Computes the inverse hyperbolic sine of each element.

    Args:
        x: a floating or complex tensor of any shape.

    Returns:
        A tensor of the shape and dtype of `x`.

    Raises:
        InvalidArgumentError: `x` is neither floating nor complex.

    Example:
        >>> tf.asinh([0.0, 1.0]).numpy().tolist()
        [0.0, 0.8813735842704773]
    """


@asinh.gradient(needs="outputs")
def _(call: Call, dy: Tensor) -> Any:
    return realdiv(dy, cosh(conj(call.outputs[0])))


@op("Acosh", kernel=torch.acosh, shape=same, element=lambda b, x: b.acosh(x))
def acosh(x: TensorLike, name: str | None = None) -> Tensor:
    """Computes the inverse hyperbolic cosine of each element; NaN for floats below 1.

    Args:
        x: a floating or complex tensor of any shape.

    Returns:
        A tensor of the shape and dtype of `x`.

    Raises:
        InvalidArgumentError: `x` is neither floating nor complex.

    Example:
        >>> tf.acosh([1.0, 2.0]).numpy().tolist()
        [0.0, 1.316957950592041]
    """


@acosh.gradient(needs="outputs")
def _(call: Call, dy: Tensor) -> Any:
    return realdiv(dy, sinh(conj(call.outputs[0])))


@op("Atanh", kernel=torch.atanh, shape=same, element=lambda b, x: b.atanh(x), takes_sparse=True)
def atanh(x: TensorLike, name: str | None = None) -> Tensor:
    """Computes the inverse hyperbolic tangent of each element; NaN for floats outside [-1, 1].

    Args:
        x: a floating or complex tensor of any shape.

    Returns:
        A tensor of the shape and dtype of `x`.

    Raises:
        InvalidArgumentError: `x` is neither floating nor complex.

    Example:
        >>> tf.atanh([0.0, 0.5]).numpy().tolist()
        [0.0, 0.5493061542510986]
    """


declare_derivative(atanh, lambda x: reciprocal(1.0 - square(x)))
