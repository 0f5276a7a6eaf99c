"""Means and variances, and normalization by them."""

from __future__ import annotations

from typing import Any

import tapeflow as tf
from tapeflow.core.autodiff.gradients import shape_of
from tapeflow.core.ops.convert import convert
from tapeflow.core.types.dtypes import bfloat16, float16, float32, int64
from tapeflow.math.arithmetic import add, multiply, subtract
from tapeflow.math.division import realdiv

_LOW = (float16, bfloat16)  # too coarse for sums of squares


def moments(x: Any, axes: Any, shift: Any = None, keepdims: bool = False, name: str | None = None) -> tuple[Any, Any]:
    """The mean and the variance over dimensions.

    As in TensorFlow, the gradient takes the mean within the variance for a constant: exact to first order only.

    Args:
        x: numeric; half and bfloat16 are computed in float32.
        axes: the dimensions to reduce.
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
    y = tf.cast(x, float32) if x.dtype in _LOW else x
    mean = tf.reduce_mean(y, axes, keepdims=True)
    variance = tf.reduce_mean(tf.math.squared_difference(y, tf.stop_gradient(mean)), axes, keepdims=True)
    return _squeezed(mean, axes, keepdims, x.dtype), _squeezed(variance, axes, keepdims, x.dtype)


def _squeezed(moment: Any, axes: Any, keepdims: bool, dtype: Any) -> Any:
    if not keepdims:
        moment = tf.squeeze(moment, axes)
    return moment if moment.dtype is dtype else tf.cast(moment, dtype)


def weighted_moments(
    x: Any, axes: Any, frequency_weights: Any, keepdims: bool = False, name: str | None = None
) -> tuple[Any, Any]:
    """The mean and the variance over dimensions, of elements that count `frequency_weights` times.

    Args:
        x: floating; half is computed in float32.
        axes: the dimensions to reduce.
        frequency_weights: broadcasts against `x`.
        keepdims: keeps the reduced dimensions, with length 1.

    Returns:
        The mean and the variance, of the dtype of `x`.

    Raises:
        InvalidArgumentError: there is no such dimension, or the weights do not broadcast.

    Example:
        >>> [m.numpy().item() for m in tf.nn.weighted_moments([0.0, 3.0], [0], [2.0, 1.0])]
        [1.0, 2.0]
    """
    x = convert(x)
    dtype = x.dtype
    if dtype is float16:
        x = tf.cast(x, float32)
    weights = convert(frequency_weights)
    if weights.dtype is not x.dtype:
        weights = tf.cast(weights, x.dtype)
    weights = add(weights, tf.zeros_like(x))
    share = tf.math.reciprocal(tf.reduce_sum(weights, axes, keepdims=True))
    mean = multiply(tf.reduce_sum(multiply(weights, x), axes, keepdims=True), share)
    squares = multiply(weights, tf.math.squared_difference(x, mean))
    variance = multiply(tf.reduce_sum(squares, axes, keepdims=True), share)
    return _squeezed(mean, axes, keepdims, dtype), _squeezed(variance, axes, keepdims, dtype)


def sufficient_statistics(
    x: Any, axes: Any, shift: Any = None, keepdims: bool = False, name: str | None = None
) -> tuple[Any, Any, Any, Any]:
    """What `normalize_moments` needs to know of a tensor to give its mean and variance.

    Args:
        x: numeric.
        axes: the dimensions to reduce.
        shift: a value near the mean, subtracted first so that the sums stay small; or None.
        keepdims: keeps the reduced dimensions, with length 1.

    Returns:
        The number of elements, their sum, the sum of their squares, and the shift, of the dtype of `x`.

    Raises:
        InvalidArgumentError: there is no such dimension.

    Example:
        >>> [s.numpy().item() for s in tf.nn.sufficient_statistics([1.0, 2.0], [0])[:3]]
        [2.0, 3.0, 5.0]
    """
    x = convert(x)
    shape = shape_of(x)
    count = 1
    for a in {a % len(shape) for a in axes}:
        count *= shape[a]
    if shift is None:
        centered, squares = x, multiply(x, x)
    else:
        shift = convert(shift, x.dtype)
        centered, squares = subtract(x, shift), tf.math.squared_difference(x, shift)
    return (
        tf.constant(count, x.dtype),
        tf.reduce_sum(centered, axes, keepdims=keepdims),
        tf.reduce_sum(squares, axes, keepdims=keepdims),
        shift,
    )


def normalize_moments(
    counts: Any, mean_ss: Any, variance_ss: Any, shift: Any, name: str | None = None
) -> tuple[Any, Any]:
    """The mean and variance, from what `sufficient_statistics` gives.

    Args:
        counts: the number of elements, a floating scalar.
        mean_ss: the sums of the (shifted) elements.
        variance_ss: the sums of their squares.
        shift: what was subtracted, or None.

    Returns:
        The mean and the variance.

    Example:
        >>> [m.numpy().item() for m in tf.nn.normalize_moments(tf.constant(2.0), 4.0, 10.0, None)]
        [2.0, 1.0]
    """
    share = tf.math.reciprocal(counts)
    shifted = multiply(mean_ss, share)
    mean = shifted if shift is None else add(shifted, shift)
    return mean, subtract(multiply(variance_ss, share), tf.square(shifted))


def batch_normalization(
    x: Any, mean: Any, variance: Any, offset: Any, scale: Any, variance_epsilon: Any, name: str | None = None
) -> Any:
    """Normalizes by a mean and variance, then scales and shifts (Ioffe and Szegedy, 2015).

    It is `scale * (x - mean) / sqrt(variance + variance_epsilon) + offset`.

    Args:
        x: floating.
        mean, variance: broadcast against `x`.
        offset, scale: broadcast against `x`; or None.
        variance_epsilon: a small number, so that nothing is divided by 0.

    Returns:
        A tensor of the shape and dtype of `x`.

    Raises:
        InvalidArgumentError: the shapes do not broadcast.

    Example:
        >>> tf.nn.batch_normalization(tf.constant([3.0]), 1.0, tf.constant(4.0), 5.0, 2.0, 0.0).numpy().tolist()
        [7.0]
    """
    inverse = tf.math.rsqrt(add(variance, variance_epsilon))
    if scale is not None:
        inverse = multiply(inverse, scale)
    shift = multiply(-mean, inverse) if offset is None else subtract(offset, multiply(mean, inverse))
    x = convert(x, hint=inverse.dtype)
    if inverse.dtype is not x.dtype:
        inverse, shift = tf.cast(inverse, x.dtype), tf.cast(shift, x.dtype)
    return add(multiply(x, inverse), shift, name=name)


def batch_norm_with_global_normalization(
    input: Any,
    mean: Any,
    variance: Any,
    beta: Any,
    gamma: Any,
    variance_epsilon: Any,
    scale_after_normalization: bool,
    name: str | None = None,
) -> Any:
    """Normalizes images by their channels' mean and variance; `batch_normalization` does the same and more.

    Args:
        input: `[batch, height, width, channels]`.
        mean, variance, beta, gamma: `[channels]`.
        variance_epsilon: a small number, so that nothing is divided by 0.
        scale_after_normalization: whether to multiply by `gamma`.

    Returns:
        A tensor of the shape of `input`.

    Example:
        >>> one = tf.ones([1])
        >>> tf.nn.batch_norm_with_global_normalization(one, one, one, [2.0], one, 0.0, True).numpy().tolist()
        [2.0]
    """
    gamma = gamma if scale_after_normalization else None
    return batch_normalization(input, mean, variance, beta, gamma, variance_epsilon, name)


def zero_fraction(value: Any, name: str | None = None) -> Any:
    """The share of zeros among the elements.

    Args:
        value: numeric.

    Returns:
        A float32 scalar; NaN where there are no elements.

    Example:
        >>> tf.math.zero_fraction([0, 0, 1, 2]).numpy().item()
        0.5
    """
    value = convert(value)
    zeros = tf.reduce_sum(tf.cast(tf.equal(value, tf.zeros((), value.dtype)), int64))
    return realdiv(tf.cast(zeros, float32), tf.cast(tf.size(value), float32), name=name)
