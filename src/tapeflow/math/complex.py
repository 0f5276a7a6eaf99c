"""Complex numbers and their parts, element by element."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch

from tapeflow.array.creation import zeros_like_op
from tapeflow.array.masks import select_v2
from tapeflow.core.autodiff.gradients import declare_adjoint, sum_to_shape
from tapeflow.core.autodiff.tape import Call
from tapeflow.core.ops.convert import as_operand, convert
from tapeflow.core.ops.op import op
from tapeflow.core.ops.raw_kernels import defined_op
from tapeflow.core.ops.shape_rules import broadcast, same
from tapeflow.core.types.aliases import DTypeLike, TensorLike
from tapeflow.core.types.dtypes import complex64, complex128, float32, float64, variant
from tapeflow.core.values.boxed_objects import Addend, box_object
from tapeflow.core.values.tensor import Tensor
from tapeflow.math.arithmetic import multiply, negative
from tapeflow.math.comparison import less
from tapeflow.math.division import reciprocal

_COMPLEX_OF = {float32: complex64, float64: complex128}


@op("Complex", kernel=lambda real, imag, Tout: torch.complex(real, imag), shape=broadcast, elementwise=True)
def _complex_op(real: TensorLike, imag: TensorLike, Tout: DTypeLike = complex64, name: str | None = None) -> Any:
    """Combines real and imaginary parts into complex numbers."""


@_complex_op.gradient(needs="shapes")
def _(call: Call, dy: Tensor) -> Any:
    want_real, want_imag = call.wanted
    return (
        sum_to_shape(real(dy), call.shape(0)) if want_real else None,
        sum_to_shape(imag(dy), call.shape(1)) if want_imag else None,
    )


def complex(real: TensorLike, imag: TensorLike, name: str | None = None) -> Tensor:
    """Combines real and imaginary parts into complex numbers, with broadcasting.

    Args:
        real, imag: of shapes that broadcast; both float32, which gives complex64, or both float64, which gives
            complex128.

    Returns:
        A complex64 or complex128 tensor of the broadcast shape.

    Raises:
        TypeError: they are of other dtypes.
        InvalidArgumentError: the shapes do not broadcast.

    Example:
        >>> tf.complex(1.0, [2.0, 3.0]).numpy().tolist()
        [(1+2j), (1+3j)]
    """
    x, y = as_operand(real), as_operand(imag)
    to = _COMPLEX_OF.get(x.dtype)
    if to is None or x.dtype is not y.dtype:
        raise TypeError(
            f"The `real` and `imag` components have incorrect types: {x.dtype.name} {y.dtype.name}. "
            "They must be consistent, and one of [tf.float32, tf.float64]"
        )
    return _complex_op(x, y, to, name)


# Returns the real parts.
_real_op = defined_op("Real", lambda input, Tout: torch.real(input).contiguous(), shape=same, elementwise=True)


@_real_op.gradient()
def _(call: Call, dy: Tensor) -> Any:
    return complex(dy, convert(0, dy.dtype))


def real(input: TensorLike, name: str | None = None) -> Tensor:
    """Returns the real part of each element; of a real tensor the tensor itself.

    Args:
        input: a tensor of a numeric dtype, of any shape.

    Returns:
        A tensor of the shape of `input`: float32 for complex64, float64 for complex128.

    Raises:
        TypeError: it is not numeric.

    Example:
        >>> tf.math.real([1 + 2j, 3 - 1j]).numpy().tolist()
        [1.0, 3.0]
    """
    x = as_operand(input)
    if x.dtype.is_complex:
        return _real_op(x, x.dtype.real_dtype, name)
    if not x.dtype.is_numeric:
        raise TypeError(f"input must be a numeric tensor, but got tensor with dtype {x.dtype}")
    return x


# Returns the imaginary parts.
_imag_op = defined_op("Imag", lambda input, Tout: torch.imag(input).contiguous(), shape=same, elementwise=True)


@_imag_op.gradient()
def _(call: Call, dy: Tensor) -> Any:
    return complex(convert(0, dy.dtype), dy)


def imag(input: TensorLike, name: str | None = None) -> Tensor:
    """Returns the imaginary part of each element; zeros for a real tensor.

    Args:
        input: a tensor of any dtype and shape.

    Returns:
        A tensor of the shape of `input`: float32 for complex64, float64 for complex128, else of its own dtype.

    Raises:
        ValueError: `input` does not convert to a tensor.

    Example:
        >>> tf.math.imag([1 + 2j, 3 - 1j]).numpy().tolist()
        [2.0, -1.0]
    """
    x = as_operand(input)
    return _imag_op(x, x.dtype.real_dtype, name) if x.dtype.is_complex else zeros_like_op(x)


def _conj_of_variant(variant: np.ndarray) -> Any:
    return box_object(variant[()].conj()) if isinstance(variant[()], Addend) else variant


# `torch.conj` would only mark the memory as conjugated, and not every reader of it looks for the mark.
# Computes the complex conjugate.
_conj_op = defined_op("Conj", torch.conj_physical, strings=_conj_of_variant, shape=same, elementwise=True)


declare_adjoint(_conj_op, _conj_op)


def conj(x: TensorLike, name: str | None = None) -> Tensor:
    """Computes the complex conjugate of each element; a real tensor is its own.

    Args:
        x: a tensor of a numeric dtype, of any shape.

    Returns:
        A tensor of the shape and dtype of `x`.

    Raises:
        TypeError: it is not numeric.

    Example:
        >>> tf.math.conj([1 + 2j, 3.0 + 0j]).numpy().tolist()
        [(1-2j), (3-0j)]
    """
    tensor = x if isinstance(x, Tensor) else as_operand(x)
    if tensor.dtype.is_complex or tensor.dtype is variant:
        return _conj_op(tensor, name)
    if not tensor.dtype.is_numeric:
        raise TypeError(f"Expected numeric or variant tensor, got dtype {tensor.dtype!r}.")
    return tensor


# Computes the angles of complex numbers.
_angle_op = defined_op("Angle", lambda input, Tout: torch.angle(input), shape=same, elementwise=True)


@_angle_op.gradient(needs="input0")
def _(call: Call, dy: Tensor) -> Any:
    # d(atan2(b, a)) = (a db - b da) / |z|**2, which is -1 / (b + ia) in TensorFlow's convention for gradients.
    z = call.inputs[0]
    turned = complex(imag(z), real(z))
    return negative(multiply(complex(dy, convert(0, dy.dtype)), reciprocal(turned)))


def angle(input: TensorLike, name: str | None = None) -> Tensor:
    """Computes the angle of each element in the complex plane, from -pi to pi.

    The angle of a real number is 0, or pi where it is negative.

    Args:
        input: a floating or complex tensor of any shape.

    Returns:
        A tensor of the shape of `input`: float32 for complex64, float64 for complex128, else of its own dtype.

    Raises:
        TypeError: it is of integers.

    Example:
        >>> tf.math.angle([1.0 + 0j, 1j, -1.0 + 0j]).numpy().round(4).tolist()
        [0.0, 1.5708, 3.1416]
    """
    x = as_operand(input)
    if x.dtype.is_complex:
        return _angle_op(x, x.dtype.real_dtype, name)
    zero, pi = convert(0, x.dtype), convert(math.pi, x.dtype)
    return select_v2(less(x, zero), pi, zero)
