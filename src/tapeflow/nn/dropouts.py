"""Dropout: sets random elements to 0, and scales the others to keep the expected value."""

from __future__ import annotations

import functools
import numbers
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tapeflow.array.masks import where
from tapeflow.core.autodiff.gradients import shape_of
from tapeflow.core.ops.convert import convert, operand
from tapeflow.core.types.aliases import ShapeLike, TensorLike
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.tensor import Tensor
from tapeflow.math.arithmetic import multiply
from tapeflow.math.comparison import greater_equal
from tapeflow.math.division import realdiv

if TYPE_CHECKING:
    from tapeflow.core.types.dtypes import DType


def dropout(
    x: TensorLike, rate: TensorLike, noise_shape: ShapeLike = None, seed: int | None = None, name: str | None = None
) -> Tensor:
    """Sets a random share of the elements to 0, and divides the others by the share that stays.

    Args:
        x: a floating tensor of any shape.
        rate: the share to drop, in [0, 1): a number or a scalar tensor.
        noise_shape: the shape of the random choices; the shape of `x` by default. It broadcasts against `x`: along a
            dimension of length 1 (or a missing one), elements are dropped together. None stands for the dimension of
            `x`.
        seed: an int, the op's seed; see `tf.random.set_seed`.

    Returns:
        A tensor of the shape and dtype of `x`.

    Raises:
        ValueError: the rate is out of range, or `x` is not floating.

    Example:
        >>> sorted(set(tf.nn.dropout(tf.ones([1000]), 0.5).numpy().tolist()))
        [0.0, 2.0]
    """
    from tapeflow.random.stateful import uniform  # random ops are loaded when they are first used

    return _drop_elements(x, rate, noise_shape, functools.partial(uniform, seed=seed), name)


def stateless_dropout(
    x: TensorLike,
    rate: TensorLike,
    seed: TensorLike,
    rng_alg: int | str | None = None,
    noise_shape: ShapeLike = None,
    name: str | None = None,
) -> Tensor:
    """Applies dropout whose choices depend on the seed alone.

    Args:
        x: a floating tensor of any shape.
        rate: the share to drop, in [0, 1): a number or a scalar tensor.
        seed: an integer tensor of shape `[2]`.
        rng_alg: the random number generator, as in `tf.random.stateless_uniform`; by default "auto_select".
        noise_shape: the shape of the random choices; see `tf.nn.dropout`.

    Returns:
        A tensor of the shape and dtype of `x`.

    Raises:
        ValueError: the rate is out of range, or `x` is not floating.

    Example:
        >>> x = tf.ones([100])
        >>> first, again = (tf.nn.experimental.stateless_dropout(x, 0.5, seed=[1, 2]) for _ in range(2))
        >>> bool(tf.reduce_all(first == again))
        True
    """
    from tapeflow.random.stateless import stateless_uniform  # loaded on first use, too

    sampler = functools.partial(stateless_uniform, seed=seed, alg=rng_alg or "auto_select")
    return _drop_elements(x, rate, noise_shape, sampler, name)


def general_dropout(
    x: TensorLike,
    rate: TensorLike,
    uniform_sampler: Callable[..., Any],
    noise_shape: ShapeLike = None,
    name: str | None = None,
) -> Tensor:
    """Applies dropout by the caller's random number generator.

    Args:
        x: a floating tensor of any shape.
        rate: the share to drop, in [0, 1): a number or a scalar tensor.
        uniform_sampler: `uniform_sampler(shape=..., dtype=...)` gives numbers uniform in [0, 1).
        noise_shape: the shape of the random choices; see `tf.nn.dropout`.

    Returns:
        A tensor of the shape and dtype of `x`.

    Raises:
        ValueError: the rate is out of range, or `x` is not floating.

    Example:
        >>> halves = lambda shape, dtype: tf.constant([0.1, 0.9], dtype)
        >>> tf.nn.experimental.general_dropout([1.0, 1.0], 0.5, halves).numpy().tolist()
        [0.0, 2.0]
    """
    return _drop_elements(x, rate, noise_shape, uniform_sampler, name)


def _drop_elements(x: Any, rate: Any, noise_shape: Any, sampler: Callable[..., Any], name: str | None) -> Any:
    is_number = isinstance(rate, numbers.Real)
    if is_number and not 0 <= rate < 1:
        raise ValueError(f"`rate` must be a scalar tensor or a float in the range [0, 1). Received: rate={rate}")
    if hasattr(type(x), "flat_values"):  # ragged
        return x.with_flat_values(_drop_elements(x.flat_values, rate, noise_shape, sampler, name))
    x = convert(x)
    dtype = x.dtype
    if not dtype.is_floating:
        raise ValueError(f"`x.dtype` must be a floating point tensor as `x` will be scaled. Received: x_dtype={dtype}")
    if is_number:
        if rate == 0:
            sampler(shape=(), dtype=dtype)  # the random numbers that follow do not depend on the rate
            return x
        scaled = multiply(x, 1 / (1 - rate))
    else:
        rate = _rate_tensor(rate, dtype)
        scaled = realdiv(x, 1 - rate)
    keep = greater_equal(sampler(shape=_noise_shape(x, noise_shape), dtype=dtype), rate)
    dropped = where(keep, scaled, operand(0.0, dtype), name)
    if isinstance(dropped, SymbolicTensor):  # as the random choices may be of a shape that only the graph knows
        dropped.set_shape(x.shape)
    return dropped


def _rate_tensor(rate: Any, dtype: DType) -> Any:
    if not isinstance(rate, Tensor) and not hasattr(type(rate), "__tf_tensor__"):
        raise ValueError(f"`rate` must be a scalar or scalar tensor. Received: rate={rate}")
    rate = convert(rate)
    if rate.shape.rank:
        raise ValueError(f"Shape {rate.shape} must have rank 0")
    if rate.dtype is not dtype:
        raise ValueError(
            f"`x.dtype` must be compatible with `rate.dtype`. Received: x.dtype={dtype} and rate.dtype={rate.dtype}"
        )
    return rate


def _noise_shape(x: Tensor, noise_shape: ShapeLike) -> Any:
    """Returns the shape of the choices, with the dimensions of `x` in the place of None."""
    if noise_shape is None:
        return shape_of(x)
    if isinstance(noise_shape, (list, tuple, TensorShape)) and len(noise_shape) == x.shape.rank:
        return tuple([n if d is None else d for d, n in zip(noise_shape, shape_of(x), strict=True)])
    return noise_shape
