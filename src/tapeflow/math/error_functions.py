"""The error function and its relatives, element by element."""

from __future__ import annotations

import math

import torch

from tapeflow.core.ops.convert import as_operand
from tapeflow.core.ops.op import op
from tapeflow.core.ops.shape_rules import same
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.values.tensor import Tensor
from tapeflow.math.arithmetic import multiply, negative
from tapeflow.math.derivatives import declare_derivative
from tapeflow.math.elementwise import exp, square


@op("Erf", kernel=torch.erf, shape=same, element=lambda b, x: b.erf(x), allocates=True, takes_sparse=True)
def erf(x: TensorLike, name: str | None = None) -> Tensor:
    """Computes the error function of each element: `2 / sqrt(pi)` times the integral of `exp(-t * t)` from 0 to `x`.

    Args:
        x: a floating tensor of any shape.

    Returns:
        A tensor of the shape and dtype of `x`.

    Raises:
        InvalidArgumentError: `x` is not floating.

    Example:
        >>> tf.math.erf([0.0, 1.0]).numpy().tolist()
        [0.0, 0.8427007794380188]
    """


declare_derivative(erf, lambda x: multiply(exp(negative(square(x))), 2 / math.sqrt(math.pi)))


@op("Erfc", kernel=torch.erfc, shape=same, element=lambda b, x: b.erfc(x))
def erfc(x: TensorLike, name: str | None = None) -> Tensor:
    """Computes the complementary error function, `1 - erf(x)`, of each element, exact for large `x` too.

    Args:
        x: a floating tensor of any shape.

    Returns:
        A tensor of the shape and dtype of `x`.

    Raises:
        InvalidArgumentError: `x` is not floating.

    Example:
        >>> tf.math.erfc([0.0, 1.0]).numpy().round(6).tolist()
        [1.0, 0.1572989970445633]
    """


declare_derivative(erfc, lambda x: multiply(exp(negative(square(x))), -2 / math.sqrt(math.pi)))


def _erfinv_kernel(x: torch.Tensor) -> torch.Tensor:
    """Computes the inverse of the error function as a quantile, of `x + 1`: a tiny `x` is rounded so."""
    return torch.erfinv(x + 1 - 1)


@op("Erfinv", kernel=_erfinv_kernel, shape=same, elementwise=True)
def erfinv(x: TensorLike, name: str | None = None) -> Tensor:
    """Computes the inverse of the error function of each element; NaN outside [-1, 1].

    Args:
        x: a floating tensor of any shape.

    Returns:
        A tensor of the shape and dtype of `x`.

    Raises:
        InvalidArgumentError: `x` is not floating.

    Example:
        >>> tf.math.erfinv([0.0, 1.0]).numpy().tolist()
        [0.0, inf]
    """


declare_derivative(erfinv, lambda y: multiply(exp(square(y)), math.sqrt(math.pi) / 2), needs="outputs")


@op("Ndtri", kernel=torch.special.ndtri, shape=same, elementwise=True)
def ndtri(x: TensorLike, name: str | None = None) -> Tensor:
    """Computes the quantile of the standard normal distribution at each element; NaN outside [0, 1].

    Args:
        x: a floating tensor of any shape.

    Returns:
        A tensor of the shape and dtype of `x`.

    Raises:
        InvalidArgumentError: `x` is not floating.

    Example:
        >>> tf.math.ndtri([0.5, 1.0]).numpy().tolist()
        [0.0, inf]
    """


declare_derivative(ndtri, lambda y: multiply(exp(multiply(square(y), 0.5)), math.sqrt(2 * math.pi)), needs="outputs")


def erfcinv(x: TensorLike, name: str | None = None) -> Tensor:
    """Computes the inverse of the complementary error function of each element; NaN outside [0, 2].

    Args:
        x: a floating tensor of any shape.

    Returns:
        A tensor of the shape and dtype of `x`.

    Raises:
        TypeError: `x` is of integers.

    Example:
        >>> tf.math.erfcinv([1.0, 0.0]).numpy().tolist()
        [-0.0, inf]
    """
    return multiply(negative(ndtri(multiply(as_operand(x), 0.5))), math.sqrt(0.5), name)
