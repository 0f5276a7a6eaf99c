"""Activation functions."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from tapeflow.array.concat_and_split import concat
from tapeflow.array.creation import zeros_like
from tapeflow.core import aten
from tapeflow.core.autodiff.tape import Call
from tapeflow.core.ops.composites import composite
from tapeflow.core.ops.convert import as_operand, convert
from tapeflow.core.ops.elements import Element, ElementBuilder
from tapeflow.core.ops.kernels import SAME_BITS
from tapeflow.core.ops.layer import Activation
from tapeflow.core.ops.op import op
from tapeflow.core.ops.raw_kernels import defined_op
from tapeflow.core.ops.shape_rules import of_both, same
from tapeflow.core.types.aliases import AxisLike, TensorLike
from tapeflow.core.types.dtypes import float32
from tapeflow.core.values.tensor import EagerTensor, Tensor
from tapeflow.math.arithmetic import add, multiply, negative
from tapeflow.math.casting import cast
from tapeflow.math.error_functions import erf
from tapeflow.math.sigmoid import sigmoid, tanh

if TYPE_CHECKING:
    from tapeflow.ragged.tensor import RaggedTensor
# Selu's two constants: Klambauer et al., Self-Normalizing Neural Networks, 2017.
SELU_ALPHA, SELU_SCALE = 1.6732632423543772, 1.0507009873554805


@op(
    "Relu", kernel=torch.relu, shape=same, element=lambda b, x: b.select(b.less(x, 0), 0, x),
    allocates=True, activation=Activation("relu"), uint64=torch.clone,
)  # fmt: skip
def relu(features: TensorLike, name: str | None = None) -> Tensor:
    """Computes `max(features, 0)` element by element.

    Args:
        features: a real tensor of any shape.

    Returns:
        A tensor of the same shape and dtype.

    Raises:
        InvalidArgumentError: `features` is not real.

    Example:
        >>> tf.nn.relu([-1.0, 2.0]).numpy().tolist()
        [0.0, 2.0]
    """


@op("ReluGrad", shape=of_both, element=lambda b, dy, x: b.select(b.less(0, x), dy, b.mul(dy, 0)), allocates=True)
def relu_grad(gradients: torch.Tensor, features: torch.Tensor) -> torch.Tensor:
    """Returns `gradients` where `features` (or relu's outputs) are positive, and 0 elsewhere."""
    try:
        return aten.leaky_relu_backward(gradients, features, 0, False)  # unlike a threshold's, it gives 0 at NaN
    except RuntimeError:
        if features.is_floating_point() or features.shape != gradients.shape:
            raise
    # ATen has no kernel for integers, and compares few unsigned ones. Unsigned numbers other than 0 are positive.
    bits = SAME_BITS[features.itemsize]
    positive = features > 0 if features.dtype.is_signed else features.view(bits) != 0
    return torch.where(positive, gradients.view(bits), 0).view(gradients.dtype)


@relu_grad.inline
def _(gradients: Tensor, features: Tensor) -> tuple[Any, str]:
    return aten.leaky_relu_backward, "{kernel}({0}, {1}, 0, False)"


def _declare_by_outputs(forward: Any, grad: Any) -> None:
    """Declares the op that computes the gradient of an activation function from its outputs."""

    @forward.gradient(needs="outputs")
    def _(call: Call, dy: Tensor) -> Any:
        return grad(dy, call.outputs[0])


def _declare_linear(grad: Any) -> None:
    """Declares the gradient of an op that multiplies `gradients` by a factor that is constant around `features`."""

    @grad.gradient(needs="input1")
    def _(call: Call, dy: Tensor) -> Any:
        features = call.inputs[1]
        want_gradients, want_features = call.wanted
        return (
            grad(dy, features, *call.attrs) if want_gradients else None,
            zeros_like(features) if want_features else None,
        )


_declare_by_outputs(relu, relu_grad)
_declare_linear(relu_grad)


def _relu6_of_uint64(features: torch.Tensor) -> torch.Tensor:
    bits = features.view(torch.int64)  # numbers of 2^63 and more are negative here
    return torch.where((bits < 0) | (bits > 6), 6, bits).view(torch.uint64)


def _relu6_of_elements(b: ElementBuilder, x: Element) -> Element:
    positive = b.select(b.less(x, 0), 0, x)
    return b.select(b.less(6, positive), 6, positive)


@op(
    "Relu6", kernel=lambda features: torch.clamp(features, 0, 6), shape=same, element=_relu6_of_elements,
    allocates=True, activation=Activation("hardtanh", (0.0, 6.0)), uint64=_relu6_of_uint64,
)  # fmt: skip
def relu6(features: TensorLike, name: str | None = None) -> Tensor:
    """Computes `min(max(features, 0), 6)` element by element.

    Args:
        features: a real tensor of any shape.

    Returns:
        A tensor of the same shape and dtype.

    Raises:
        InvalidArgumentError: `features` is not real.

    Example:
        >>> tf.nn.relu6([-1.0, 2.0, 7.0]).numpy().tolist()
        [0.0, 2.0, 6.0]
    """


@op(
    "Relu6Grad",
    shape=of_both,
    element=lambda b, dy, x: b.mul(dy, b.convert(b.bit_and(b.less(0, x), b.less(x, 6)), dy.dtype)),
)
def relu6_grad(gradients: torch.Tensor, features: torch.Tensor) -> torch.Tensor:
    """Returns `gradients` where `features` (or relu6's outputs) are between 0 and 6, and 0 elsewhere."""
    return gradients * ((features > 0) & (features < 6))


_declare_by_outputs(relu6, relu6_grad)
_declare_linear(relu6_grad)


def _scaled_below(b: ElementBuilder, x: Element, where: Element, alpha: float) -> Element:
    """Returns an element, or `alpha` times that where another element is not positive."""
    wide = b.wide(x)
    return b.convert(b.select(b.less(0, where), wide, b.mul(wide, alpha)), x.dtype)


# Computes `features` where positive and `alpha * features` elsewhere.
leaky_relu_op = defined_op(
    "LeakyRelu",
    torch.ops.aten.leaky_relu.default,
    shape=same,
    element=lambda b, x, alpha: _scaled_below(b, x, x, alpha),
)


@leaky_relu_op.gradient(needs="input0")
def _(call: Call, dy: Tensor) -> Any:
    return leaky_relu_grad(dy, call.inputs[0], call.attrs[0])


@op("LeakyReluGrad", shape=of_both, element=lambda b, dy, x, alpha: _scaled_below(b, dy, x, alpha))
def leaky_relu_grad(gradients: torch.Tensor, features: torch.Tensor, alpha: float = 0.2) -> torch.Tensor:
    """Returns `gradients` where `features` are positive, and `alpha * gradients` elsewhere."""
    return aten.leaky_relu_backward(gradients, features, alpha, False)


_declare_linear(leaky_relu_grad)


def leaky_relu(features: TensorLike, alpha: float = 0.2, name: str | None = None) -> Tensor:
    """Computes `features` where positive and `alpha * features` elsewhere (Maas et al., 2013).

    Args:
        features: a real tensor of any shape; integers become float32.
        alpha: a float, the slope below zero; 0.2 by default.

    Returns:
        A tensor of the same shape.

    Raises:
        TypeError: `alpha` is no number.

    Example:
        >>> tf.nn.leaky_relu([-1.0, 2.0], alpha=0.5).numpy().tolist()
        [-0.5, 2.0]
    """
    if type(features) is not EagerTensor or features.dtype.is_integer:
        tensor = as_operand(features)
        features = cast(tensor, float32) if tensor.dtype.is_integer else tensor
    if not isinstance(alpha, (int, float, np.ndarray, np.generic)):
        raise TypeError(f"Expected float for argument 'alpha' not {alpha!r}.")
    return leaky_relu_op(features, _round_to_float32(float(alpha)), name)


@functools.lru_cache(256)
def _round_to_float32(number: float) -> float:
    """Rounds a number to float32: TensorFlow stores an op's attrs in float32, whatever dtype the op computes in."""
    return float(np.float32(number))


@op("Elu", kernel=torch.ops.aten.elu.default, shape=same, element=lambda b, x: b.select(b.less(0, x), x, b.expm1(x)))
def elu(features: TensorLike, name: str | None = None) -> Tensor:
    """Computes `features` where positive and `exp(features) - 1` elsewhere (Clevert et al., 2015).

    Args:
        features: a floating tensor of any shape.

    Returns:
        A tensor of the same shape and dtype.

    Raises:
        InvalidArgumentError: `features` is not floating.

    Example:
        >>> tf.nn.elu([-1000.0, 2.0]).numpy().tolist()
        [-1.0, 2.0]
    """


@op("EluGrad", shape=of_both, element=lambda b, dy, y: b.select(b.less_equal(y, 0), b.mul(dy, b.add(y, 1.0)), dy))
def elu_grad(gradients: torch.Tensor, outputs: torch.Tensor) -> torch.Tensor:
    """Multiplies `gradients` by the derivative of elu: 1 where its outputs are positive, `outputs + 1` elsewhere."""
    return torch.ops.aten.elu_backward(gradients, 1, 1, 1, True, outputs)


def _declare_gradient(grad: Any) -> None:
    """Declares the gradient of an op that multiplies `gradients` by a function of `outputs`. The function is `outputs`
    plus a constant where they are negative, and another constant elsewhere."""

    @grad.gradient(needs="inputs")
    def _(call: Call, dy: Tensor) -> Any:
        gradients, outputs = call.inputs
        want_gradients, want_outputs = call.wanted
        return (
            grad(dy, outputs) if want_gradients else None,
            relu_grad(multiply(dy, gradients), negative(outputs)) if want_outputs else None,
        )


_declare_by_outputs(elu, elu_grad)
_declare_gradient(elu_grad)


def _selu_of_elements(b: ElementBuilder, x: Element) -> Element:
    wide = b.wide(x)
    below = b.mul(b.expm1(wide), SELU_ALPHA * SELU_SCALE)
    return b.convert(b.select(b.less(0, wide), b.mul(wide, SELU_SCALE), below), x.dtype)


@op("Selu", kernel=torch.selu, shape=same, element=_selu_of_elements)
def selu(features: TensorLike, name: str | None = None) -> Tensor:
    """Computes the scaled exponential linear function (Klambauer et al., 2017).

    It is `scale * features` where positive and `scale * alpha * (exp(features) - 1)` elsewhere, with the `scale` (about
    1.0507) and `alpha` (about 1.6733) under which mean 0 and variance 1 persist from layer to layer.

    Args:
        features: a floating tensor of any shape.

    Returns:
        A tensor of the same shape and dtype.

    Raises:
        InvalidArgumentError: `features` is not floating.

    Example:
        >>> tf.nn.selu([0.0, 1.0]).numpy().tolist()
        [0.0, 1.0507010221481323]
    """


_LEAST = {torch.float16: 2.0**-24}  # positive numbers; of other dtypes the least normal one


def _selu_grad_of_elements(b: ElementBuilder, dy: Element, y: Element) -> Element:
    dtype: Any = y.dtype.torch
    y = b.wide(b.rounded(b.add(y, _LEAST.get(dtype, torch.finfo(dtype).tiny))))
    slope = b.select(b.less_equal(y, 0), b.add(y, SELU_ALPHA * SELU_SCALE), SELU_SCALE)
    return b.convert(b.mul(b.wide(dy), slope), dy.dtype)


@op("SeluGrad", shape=of_both, element=_selu_grad_of_elements)
def selu_grad(gradients: torch.Tensor, outputs: torch.Tensor) -> torch.Tensor:
    """Multiplies `gradients` by the derivative of selu, computed from its outputs."""
    # TensorFlow takes the slope above 0 for that at 0, and ATen the one below.
    outputs = outputs + _LEAST.get(outputs.dtype, torch.finfo(outputs.dtype).tiny)
    return torch.ops.aten.elu_backward(gradients, SELU_ALPHA, SELU_SCALE, 1, True, outputs)


_declare_by_outputs(selu, selu_grad)
_declare_gradient(selu_grad)


# Of float32 for every dtype, as TensorFlow casts them from it.
_CUBED = float(np.float32(0.044715))
_SCALED = float(np.float32(2.0**-0.5))


def gelu(features: TensorLike, approximate: bool = False, name: str | None = None) -> Tensor:
    """Computes `features * P(X <= features)` for a standard normal `X` (Hendrycks and Gimpel, 2016).

    Args:
        features: a floating tensor of any shape.
        approximate: computes it by tanh, a little less exactly.

    Returns:
        A tensor of the same shape and dtype.

    Raises:
        ValueError: the dtype is not floating.

    Example:
        >>> tf.nn.gelu([0.0, 10.0]).numpy().tolist()
        [0.0, 10.0]
    """
    x = as_operand(features)
    if not x.dtype.is_floating:
        raise ValueError(f"`features.dtype` must be a floating point tensor. Received:features.dtype={x.dtype}")
    return _gelu(x, bool(approximate))


@composite
def _gelu(x: RaggedTensor | Tensor, approximate: bool) -> Any:
    half = multiply(x, 0.5)
    if approximate:
        cube = multiply(multiply(x, x), x)
        inner = multiply(add(x, multiply(cube, _CUBED)), 0.7978845608028654)  # sqrt(2 / pi)
        return multiply(half, add(tanh(inner), 1.0))
    return multiply(half, add(erf(multiply(x, _SCALED)), 1.0))


def silu(features: TensorLike, beta: TensorLike = 1.0) -> Tensor:
    """Computes `features * sigmoid(beta * features)`, also called swish (Ramachandran et al., 2017).

    Args:
        features: a floating tensor of any shape.
        beta: a number or a tensor that broadcasts against `features`; 1.0 by default.

    Returns:
        A tensor of the same shape and dtype.

    Raises:
        InvalidArgumentError: `features` are integers or bools.

    Example:
        >>> tf.nn.silu([0.0, 100.0]).numpy().tolist()
        [0.0, 100.0]
    """
    x = as_operand(features)
    if type(beta) is float and beta == 1.0 and x.dtype.is_floating:
        return _silu(x)
    return _silu(x, cast(beta, x.dtype))


@composite
def _silu(x: RaggedTensor | Tensor, beta: Tensor | None = None) -> Any:
    return multiply(x, sigmoid(x if beta is None else multiply(beta, x)))


swish = silu


def crelu(features: TensorLike, axis: AxisLike = -1, name: str | None = None) -> Tensor:
    """Joins relu of the features and relu of their negatives (Shang et al., 2016).

    Args:
        features: a real tensor with at least one dimension.
        axis: an int, the dimension to join along, which becomes twice as long; -1 by default.

    Returns:
        A tensor of the same dtype.

    Raises:
        InvalidArgumentError: `features` is not real or has no dimension.

    Example:
        >>> tf.nn.crelu([[-1.0, 2.0]]).numpy().tolist()
        [[0.0, 2.0, 1.0, 0.0]]
    """
    x = convert(features)
    return relu(concat([x, negative(x)], axis), name=name)
