"""The sigmoid and its relatives, element by element."""

from __future__ import annotations

from typing import Any

import torch

from tapeflow.core import aten
from tapeflow.core.autodiff.gradients import conj
from tapeflow.core.autodiff.tape import Call
from tapeflow.core.ops.elements import Element, ElementBuilder
from tapeflow.core.ops.op import op
from tapeflow.core.ops.raw_kernels import defined_op
from tapeflow.core.ops.shape_rules import of_both, same
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.dtypes import float16
from tapeflow.core.values.tensor import Tensor
from tapeflow.math.arithmetic import add, multiply, negative, subtract
from tapeflow.math.division import realdiv
from tapeflow.math.elementwise import abs as absolute
from tapeflow.math.elementwise import sign

# Overloads save the search for the right one at each call.


@op(
    "Sigmoid", kernel=torch.sigmoid, shape=same, element=lambda b, x: b.sigmoid(x), allocates=True,
    for_many=lambda: None,  # ATen's kernel is as fast
)  # fmt: skip
def sigmoid(x: TensorLike, name: str | None = None) -> Tensor:
    """Computes `1 / (1 + exp(-x))` element by element.

    Args:
        x: a floating or complex tensor of any shape.

    Returns:
        A tensor of the shape and dtype of `x`.

    Raises:
        InvalidArgumentError: `x` is neither floating nor complex.

    Example:
        >>> tf.sigmoid([0.0, 100.0]).numpy().tolist()
        [0.5, 1.0]
    """


def _sigmoid_grad_of_elements(b: ElementBuilder, y: Element, dy: Element) -> Element:
    rounded = b.rounded if y.dtype is float16 else lambda x: x  # ATen rounds float16 in between, and bfloat16 not
    return b.mul(rounded(b.mul(dy, rounded(b.sub(1.0, y)))), y)


@op("SigmoidGrad", shape=same, element=_sigmoid_grad_of_elements, allocates=True)
def sigmoid_grad(y: torch.Tensor, dy: torch.Tensor) -> torch.Tensor:
    """Computes the gradient of `y = sigmoid(x)` from its result: `dy * y * (1 - y)`."""
    # ATen's conjugates `y`, TensorFlow's gradient of sigmoid does it before.
    return torch.mul(dy, y - y * y) if y.is_complex() else aten.sigmoid_backward(dy, y)


@sigmoid_grad.inline
def _(y: Tensor, dy: Tensor) -> Any:
    return aten.sigmoid_backward, "{kernel}({1}, {0})"  # of real numbers


@sigmoid.gradient(needs="outputs")
def _(call: Call, dy: Tensor) -> Any:
    return sigmoid_grad(conj(call.outputs[0]), dy)


@sigmoid_grad.gradient(needs="inputs")
def _(call: Call, g: Tensor) -> Any:
    y, dy = conj(call.inputs[0]), conj(call.inputs[1])
    by_dy = multiply(g, dy)
    return subtract(by_dy, multiply(multiply(by_dy, y), 2.0)), sigmoid_grad(y, g)


@op("Tanh", kernel=torch.tanh, shape=same, element=lambda b, x: b.tanh(x), allocates=True, takes_sparse=True)
def tanh(x: TensorLike, name: str | None = None) -> Tensor:
    """Computes the hyperbolic tangent of each element.

    Args:
        x: a floating or complex tensor of any shape.

    Returns:
        A tensor of the shape and dtype of `x`.

    Raises:
        InvalidArgumentError: `x` is neither floating nor complex.

    Example:
        >>> tf.tanh([0.0, 50.0]).numpy().tolist()
        [0.0, 1.0]
    """


# With one rounding less, as compilers make ATen's kernel.
@op("TanhGrad", shape=same, element=lambda b, y, dy: b.mul(dy, b.fma(b.neg(y), y, 1.0)), allocates=True)
def tanh_grad(y: torch.Tensor, dy: torch.Tensor) -> torch.Tensor:
    """Computes the gradient of `y = tanh(x)` from its result: `dy * (1 - y * y)`."""
    return aten.tanh_backward(dy, y.conj() if y.is_complex() else y)  # ATen conjugates it


@tanh_grad.inline
def _(y: Tensor, dy: Tensor) -> Any:
    return aten.tanh_backward, "{kernel}({1}, {0})"  # of real numbers


@tanh.gradient(needs="outputs")
def _(call: Call, dy: Tensor) -> Any:
    return tanh_grad(conj(call.outputs[0]), dy)


@tanh_grad.gradient(needs="inputs")
def _(call: Call, g: Tensor) -> Any:
    y, dy = conj(call.inputs[0]), conj(call.inputs[1])
    return multiply(multiply(multiply(g, -2.0), dy), y), tanh_grad(y, g)


# Above it `log(1 + exp(x))` is `x` in float64 too; torch's own threshold of 20 is meant for float32.
_LINEAR_FROM = 40


@op(
    "Softplus",
    kernel=lambda features: torch.nn.functional.softplus(features, 1, _LINEAR_FROM),
    shape=same,
    element=lambda b, x: b.select(b.less(_LINEAR_FROM, x), x, b.log1p(b.exp(x))),
)
def softplus(features: TensorLike, name: str | None = None) -> Tensor:
    """Computes `log(1 + exp(features))` element by element.

    Args:
        features: a floating tensor of any shape.

    Returns:
        A tensor of the shape and dtype of `features`.

    Raises:
        InvalidArgumentError: `features` is not floating.

    Example:
        >>> tf.math.softplus([0.0, 50.0]).numpy().tolist()
        [0.6931471824645996, 50.0]
    """


# Computes the gradient of softplus: `gradients * sigmoid(features)`.
softplus_grad = defined_op(
    "SoftplusGrad",
    lambda gradients, features: torch.mul(gradients, torch.sigmoid(features)),
    shape=of_both,
    element=lambda b, dy, x: b.mul(dy, b.rounded(b.sigmoid(x))),
)


@softplus.gradient(needs="input0")
def _(call: Call, dy: Tensor) -> Any:
    return softplus_grad(dy, call.inputs[0])


@softplus_grad.gradient(needs="inputs")
def _(call: Call, g: Tensor) -> Any:
    gradients, features = call.inputs
    return softplus_grad(g, features), sigmoid_grad(sigmoid(features), multiply(g, gradients))


def log_sigmoid(x: TensorLike, name: str | None = None) -> Tensor:
    """Computes `log(1 / (1 + exp(-x)))` element by element, without overflow.

    Args:
        x: a floating tensor of any shape.

    Returns:
        A tensor of the shape and dtype of `x`.

    Raises:
        InvalidArgumentError: `x` is not floating.

    Example:
        >>> tf.math.log_sigmoid([0.0, -100.0]).numpy().tolist()
        [-0.6931471824645996, -100.0]
    """
    return negative(softplus(negative(x)), name)


@op(
    "Softsign",
    kernel=lambda features: torch.div(features, torch.abs(features).add_(1)),
    shape=same,
    element=lambda b, x: b.div(x, b.rounded(b.add(b.abs(x), 1.0))),
)
def softsign(features: TensorLike, name: str | None = None) -> Tensor:
    """Computes `features / (1 + |features|)` element by element.

    Args:
        features: a floating tensor of any shape.

    Returns:
        A tensor of the shape and dtype of `features`.

    Raises:
        InvalidArgumentError: `features` is not floating.

    Example:
        >>> tf.math.softsign([-1.0, 3.0]).numpy().tolist()
        [-0.5, 0.75]
    """


def _softsign_grad_of_elements(b: ElementBuilder, dy: Element, x: Element) -> Element:
    root = b.rounded(b.add(b.abs(x), 1.0))
    return b.div(dy, b.rounded(b.mul(root, root)))


# Computes the gradient of softsign: `gradients / (1 + |features|)**2`.
softsign_grad = defined_op(
    "SoftsignGrad",
    lambda gradients, features: torch.div(gradients, torch.square(torch.abs(features) + 1)),
    shape=of_both,
    element=_softsign_grad_of_elements,
)


@softsign.gradient(needs="input0")
def _(call: Call, dy: Tensor) -> Any:
    return softsign_grad(dy, call.inputs[0])


@softsign_grad.gradient(needs="inputs")
def _(call: Call, g: Any) -> Any:
    gradients, features = call.inputs
    by_features = multiply(softsign_grad(multiply(g, gradients), features), multiply(sign(features), -2.0))
    return softsign_grad(g, features), realdiv(by_features, add(absolute(features), 1.0))
