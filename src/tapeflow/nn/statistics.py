"""Means and variances, and normalization by them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from tapeflow.array.creation import constant, zeros, zeros_like
from tapeflow.array.identities import stop_gradient
from tapeflow.array.properties import size
from tapeflow.array.reshapes import squeeze
from tapeflow.core.autodiff.gradients import is_unranked, shape_of, size_of
from tapeflow.core.ops.composites import composite, is_compiled
from tapeflow.core.ops.convert import convert
from tapeflow.core.types.aliases import AxisLike, TensorLike
from tapeflow.core.types.dtypes import DType, bfloat16, float16, float32, int64
from tapeflow.core.values.tensor import EagerTensor, Tensor
from tapeflow.math.arithmetic import add, multiply, squared_difference, subtract
from tapeflow.math.casting import cast
from tapeflow.math.comparison import equal
from tapeflow.math.division import divide_no_nan, realdiv, reciprocal
from tapeflow.math.elementwise import rsqrt, square
from tapeflow.math.reduction import reduce_mean, reduce_sum

# The square of the relative rounding of a mean, at most 32 units in the last place.
_ROUNDING = {dtype: (32 * torch.finfo(dtype).eps) ** 2 for dtype in (torch.float32, torch.float64)}
_LOW = (float16, bfloat16)  # too coarse for sums of squares


def moments(
    x: TensorLike, axes: AxisLike, shift: TensorLike | None = None, keepdims: bool = False, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """Computes the mean and the variance over dimensions.

    As in TensorFlow, the gradient treats the mean within the variance as a constant, which is exact to first order.

    Args:
        x: a numeric tensor of any shape; half and bfloat16 are computed in float32.
        axes: an int or a list of ints, the dimensions to reduce.
        shift: not used.
        keepdims: keeps the reduced dimensions, with length 1.

    Returns:
        The mean and the (biased) variance, of the dtype of `x`.

    Raises:
        InvalidArgumentError: there is no such dimension.

    Example:
        >>> [m.numpy().item() for m in tf.nn.moments(tf.constant([1.0, 3.0]), [0])]
        [2.0, 1.0]
    """
    y: Any = x
    dtype = y.dtype
    if dtype in _LOW:
        y = cast(y, float32)
    if is_compiled(y):
        mean, variance = _moments_of_many(y, axes)
    else:
        mean = reduce_mean(y, axes, keepdims=True)
        variance = reduce_mean(squared_difference(y, stop_gradient(mean)), axes, keepdims=True)
        if isinstance(mean, EagerTensor) and _is_rounding(mean.value, variance.value):
            mean = add(mean, reduce_mean(subtract(y, mean), axes, keepdims=True))
            variance = reduce_mean(squared_difference(y, stop_gradient(mean)), axes, keepdims=True)
    return _squeeze_moment(mean, axes, keepdims, dtype), _squeeze_moment(variance, axes, keepdims, dtype)


@composite
def _moments_of_many(x: Tensor, axes: list[int]) -> tuple[Any, Any]:
    mean = reduce_mean(x, axes, keepdims=True)
    mean = add(mean, stop_gradient(reduce_mean(subtract(x, mean), axes, keepdims=True)))  # corrects its rounding
    return mean, reduce_mean(squared_difference(x, stop_gradient(mean)), axes, keepdims=True)


def _is_rounding(mean: torch.Tensor, variance: torch.Tensor) -> bool:
    """Returns True if a variance may be a rounding error of the mean, such as the variance of equal numbers.

    Normalization divides by its root, and turns the rounding into a visible error. On a GPU the check would wait for
    the device.
    """
    rounding = _ROUNDING.get(mean.dtype)
    if rounding is None or type(mean) is not torch.Tensor or not mean.is_cpu or not mean.numel():
        return False
    return torch.addcmul(variance, mean, mean, value=-rounding).min().item() < 0


def _squeeze_moment(moment: Tensor, axes: AxisLike, keepdims: bool, dtype: DType) -> Any:
    moment = moment if keepdims else squeeze(moment, axes)
    return moment if moment.dtype is dtype else cast(moment, dtype)  # dispatchers get no cast that TensorFlow lacks


def weighted_moments(
    x: TensorLike, axes: AxisLike, frequency_weights: TensorLike, keepdims: bool = False, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """Computes the mean and the variance over dimensions, of elements that count `frequency_weights` times.

    Args:
        x: a floating tensor of any shape; half is computed in float32.
        axes: an int or a list of ints, the dimensions to reduce.
        frequency_weights: a tensor that broadcasts against `x`, the weight of each element.
        keepdims: keeps the reduced dimensions, with length 1.

    Returns:
        The mean and the variance, of the dtype of `x`.

    Raises:
        InvalidArgumentError: there is no such dimension, or the weights do not broadcast.

    Example:
        >>> [m.numpy().item() for m in tf.nn.weighted_moments([0.0, 3.0], [0], [2.0, 1.0])]
        [1.0, 2.0]
    """
    y = convert(x)
    dtype = y.dtype
    if dtype is float16:
        y = cast(y, float32)
    weights = add(cast(convert(frequency_weights), y.dtype), zeros_like(y))
    total = reduce_sum(weights, axes, keepdims=True)
    mean = divide_no_nan(reduce_sum(multiply(weights, y), axes, keepdims=True), total)
    squares = multiply(weights, squared_difference(y, mean))
    variance = divide_no_nan(reduce_sum(squares, axes, keepdims=True), total)
    return _squeeze_moment(mean, axes, keepdims, dtype), _squeeze_moment(variance, axes, keepdims, dtype)


def sufficient_statistics(
    x: TensorLike, axes: Sequence[int], shift: TensorLike | None = None, keepdims: bool = False, name: str | None = None
) -> tuple[Tensor, Tensor, Tensor, Tensor | None]:
    """Computes sums for `normalize_moments`, which computes the mean and the variance from them.

    Args:
        x: a numeric tensor of any shape.
        axes: a list of ints, the dimensions to reduce.
        shift: a value near the mean, of a shape that broadcasts to `x.shape`, or None. It is subtracted first, to
            keep the sums small.
        keepdims: keeps the reduced dimensions, with length 1.

    Returns:
        The number of elements, their sum, the sum of their squares, and the shift, of the dtype of `x`.

    Raises:
        InvalidArgumentError: there is no such dimension.

    Example:
        >>> [s.numpy().item() for s in tf.nn.sufficient_statistics([1.0, 2.0], [0])[:3]]
        [2.0, 3.0, 5.0]
    """
    axes = list(set(axes))
    y = convert(x)
    shape = shape_of(y)
    count = size_of([shape[a] for a in (axes if is_unranked(shape) else {a % len(shape) for a in axes})])
    if shift is None:
        origin, centered, squares = None, y, multiply(y, y)
    else:
        origin = convert(shift)
        centered, squares = subtract(y, origin), squared_difference(y, origin)
    return (
        constant(count, y.dtype) if isinstance(count, int) else cast(count, y.dtype),
        reduce_sum(centered, axes, keepdims=keepdims),
        reduce_sum(squares, axes, keepdims=keepdims),
        origin,
    )


def normalize_moments(
    counts: TensorLike, mean_ss: TensorLike, variance_ss: TensorLike, shift: TensorLike | None, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """Computes the mean and the variance from the results of `sufficient_statistics`.

    Args:
        counts: the number of elements, a floating scalar.
        mean_ss: a floating tensor of any shape, the sums of the (shifted) elements.
        variance_ss: a floating tensor of the shape of `mean_ss`, the sums of the squares of the (shifted) elements.
        shift: the value that was subtracted from the elements, of a shape that broadcasts, or None.

    Returns:
        The mean and the variance.

    Raises:
        InvalidArgumentError: the dtypes differ or are not numeric, or the shapes do not broadcast.

    Example:
        >>> [m.numpy().item() for m in tf.nn.normalize_moments(tf.constant(2.0), 4.0, 10.0, None)]
        [2.0, 1.0]
    """
    share = reciprocal(counts)
    shifted = multiply(mean_ss, share)
    mean = shifted if shift is None else add(shifted, shift)
    return mean, subtract(multiply(variance_ss, share), square(shifted))


def batch_normalization(
    x: TensorLike,
    mean: TensorLike,
    variance: TensorLike,
    offset: TensorLike | None,
    scale: TensorLike | None,
    variance_epsilon: TensorLike,
    name: str | None = None,
) -> Tensor:
    """Normalizes by a mean and variance, then scales and shifts (Ioffe and Szegedy, 2015).

    It is `scale * (x - mean) / sqrt(variance + variance_epsilon) + offset`.

    Args:
        x: a floating tensor of any shape.
        mean, variance: tensors that broadcast against `x`.
        offset, scale: tensors that broadcast against `x`; or None.
        variance_epsilon: a small scalar. It avoids division by 0.

    Returns:
        A tensor of the shape and dtype of `x`.

    Raises:
        InvalidArgumentError: the shapes do not broadcast.

    Example:
        >>> tf.nn.batch_normalization(tf.constant([3.0]), 1.0, tf.constant(4.0), 5.0, 2.0, 0.0).numpy().tolist()
        [7.0]
    """
    return _normalize(x, mean, variance, offset, scale, variance_epsilon, name)


@composite
def _normalize(
    x: Tensor, mean: Any, variance: Any, offset: Any, scale: Any, variance_epsilon: Any, name: str | None
) -> Any:
    inverse = rsqrt(add(variance, variance_epsilon))
    if scale is not None:
        inverse = multiply(inverse, scale)
    shift = multiply(inverse, -mean) if offset is None else offset - multiply(inverse, mean)
    y = convert(x, hint=inverse.dtype)
    if inverse.dtype is not y.dtype:
        inverse, shift = cast(inverse, y.dtype), cast(shift, y.dtype)
    return add(multiply(y, inverse), shift, name=name)


def batch_norm_with_global_normalization(
    input: TensorLike,
    mean: TensorLike,
    variance: TensorLike,
    beta: TensorLike,
    gamma: TensorLike,
    variance_epsilon: TensorLike,
    scale_after_normalization: bool,
    name: str | None = None,
) -> Tensor:
    """Normalizes images by their channels' mean and variance; `batch_normalization` does the same and more.

    Args:
        input: a tensor of shape `[batch, height, width, channels]`.
        mean, variance, beta, gamma: tensors of shape `[channels]`.
        variance_epsilon: a small scalar. It avoids division by 0.
        scale_after_normalization: multiplies by `gamma`.

    Returns:
        A tensor of the shape of `input`.

    Raises:
        InvalidArgumentError: the dtypes differ, or the shapes do not broadcast.

    Example:
        >>> one = tf.ones([1])
        >>> tf.nn.batch_norm_with_global_normalization(one, one, one, [2.0], one, 0.0, True).numpy().tolist()
        [2.0]
    """
    scale = gamma if scale_after_normalization else None
    return batch_normalization(input, mean, variance, beta, scale, variance_epsilon, name)


def zero_fraction(value: TensorLike, name: str | None = None) -> Tensor:
    """Computes the share of zeros among the elements.

    Args:
        value: a numeric tensor of any shape.

    Returns:
        A float32 scalar; NaN if there are no elements.

    Raises:
        ValueError: `value` does not convert to a tensor.

    Example:
        >>> tf.math.zero_fraction([0, 0, 1, 2]).numpy().item()
        0.5
    """
    x = convert(value)
    count = reduce_sum(cast(equal(x, zeros((), x.dtype)), int64))
    return realdiv(cast(count, float32), cast(size(x), float32), name=name)
