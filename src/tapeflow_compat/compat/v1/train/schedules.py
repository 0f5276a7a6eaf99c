"""Learning rates that change with the global step."""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Sequence
from typing import Any, ParamSpec

from tapeflow.array.masks import where
from tapeflow.core.context import state
from tapeflow.core.ops.convert import convert
from tapeflow.core.scopes import name_scope
from tapeflow.core.types.aliases import DTypeLike, TensorLike
from tapeflow.math.casting import cast
from tapeflow.math.elementwise import exp, log, sqrt
from tapeflow.math.extrema import maximum, minimum
from tapeflow.math.rounding import ceil, floor
from tapeflow.math.trigonometric import cos
from tapeflow.random import normal

P = ParamSpec("P")
Rate = Any  # a scalar tensor; eagerly, a function without arguments that gives one


def _schedule(scope: str, label: str) -> Callable[[Callable[P, Any]], Callable[P, Rate]]:
    """Makes a schedule of a function that computes a rate from the rate, the step and so on. In a graph the schedule
    returns a tensor, eagerly a function that follows the step.

    Args:
        scope: the default of the name scope, `name`.
        label: the schedule in the error where there is no step.
    """

    def decorate(compute: Callable[P, Any]) -> Callable[P, Rate]:
        signature = inspect.signature(compute)

        @functools.wraps(compute)
        def schedule(*args: P.args, **kwargs: P.kwargs) -> Rate:
            arguments = signature.bind(*args, **kwargs).arguments
            if arguments["global_step"] is None:
                raise ValueError(f"global_step is required for {label}.")

            def rate() -> Any:
                with name_scope(arguments.get("name") or scope):
                    return compute(*args, **kwargs)

            return rate if state.graph is None else rate()

        return schedule

    return decorate


@_schedule("ExponentialDecay", "exponential_decay")
def exponential_decay(
    learning_rate: TensorLike,
    global_step: TensorLike,
    decay_steps: TensorLike,
    decay_rate: TensorLike,
    staircase: bool = False,
    name: str | None = None,
) -> Rate:
    """`learning_rate * decay_rate ** (global_step / decay_steps)`.

    Args:
        learning_rate: the first rate.
        global_step: the step, a number, a tensor or a variable.
        decay_steps: a number of steps.
        decay_rate: a float, the factor of the rate's change over `decay_steps` steps.
        staircase: rounds the exponent down.

    Returns:
        A scalar tensor; eagerly, a function without arguments that gives it.

    Raises:
        ValueError: there is no `global_step`.

    Example:
        >>> tf.compat.v1.train.exponential_decay(1.0, 20, 10, 0.5)().numpy().item()
        0.25
    """
    rate = convert(learning_rate)
    return rate * cast(decay_rate, rate.dtype) ** _parts(global_step, decay_steps, rate.dtype, staircase)


def _parts(step: Any, of: Any, dtype: DTypeLike, staircase: bool = False) -> Any:
    result = cast(convert(step), dtype) / cast(of, dtype)
    return floor(result) if staircase else result


def piecewise_constant(
    x: TensorLike, boundaries: Sequence[Any], values: Sequence[Any], name: str | None = None
) -> Rate:
    """Returns the value of the interval of `x`: the first value up to and including the first boundary, and so on.

    Args:
        x: the step, a number, a tensor or a variable.
        boundaries: increasing steps.
        values: of one dtype.

    Returns:
        A scalar tensor; eagerly, a function without arguments that gives it.

    Raises:
        ValueError: there is not one value more than boundaries.

    Example:
        >>> [tf.compat.v1.train.piecewise_constant(x, [5], [1.0, 0.1])().numpy().item() for x in (5, 6)]
        [1.0, 0.10000000149011612]
    """
    if len(boundaries) != len(values) - 1:
        raise ValueError("The length of boundaries should be 1 less than the length of values")
    return _piece(values, x, boundaries, name)


@_schedule("PiecewiseConstant", "piecewise_constant")
def _piece(values: Sequence[Any], global_step: TensorLike, boundaries: Sequence[Any], name: str | None) -> Any:
    at = convert(global_step)
    result = convert(values[-1])
    for boundary, value in zip(reversed(boundaries), reversed(values[:-1]), strict=True):
        result = where(at <= cast(boundary, at.dtype), cast(value, result.dtype), result)
    return result


piecewise_constant_decay = piecewise_constant


@_schedule("PolynomialDecay", "polynomial_decay")
def polynomial_decay(
    learning_rate: TensorLike,
    global_step: TensorLike,
    decay_steps: TensorLike,
    end_learning_rate: Any = 0.0001,
    power: Any = 1.0,
    cycle: bool = False,
    name: str | None = None,
) -> Rate:
    """From `learning_rate` to `end_learning_rate` as `(1 - global_step / decay_steps) ** power`.

    Args:
        learning_rate: the first rate.
        global_step: the step, a number, a tensor or a variable.
        decay_steps: a number of steps.
        end_learning_rate: the last rate.
        cycle: begins anew, over as many times `decay_steps` as the step needs.

    Returns:
        A scalar tensor; eagerly, a function without arguments that gives it.

    Raises:
        ValueError: there is no `global_step`.

    Example:
        >>> print(tf.compat.v1.train.polynomial_decay(1.0, 5, 10, 0.0)().numpy().round(4))
        0.5
    """
    rate = convert(learning_rate)
    dtype = rate.dtype
    end, step, length = (cast(v, dtype) for v in (end_learning_rate, convert(global_step), decay_steps))
    length, step = (length * maximum(ceil(step / length), 1.0), step) if cycle else (length, minimum(step, length))
    return (rate - end) * (1.0 - step / length) ** cast(power, dtype) + end


@_schedule("NaturalExpDecay", "natural_exp_decay")
def natural_exp_decay(
    learning_rate: TensorLike,
    global_step: TensorLike,
    decay_steps: TensorLike,
    decay_rate: TensorLike,
    staircase: bool = False,
    name: str | None = None,
) -> Rate:
    """`learning_rate * exp(-decay_rate * global_step / decay_steps)`, the quotient rounded down with `staircase`.

    Args:
        learning_rate: the first rate, a float or a scalar tensor.
        global_step: the step, a number, a tensor or a variable.
        decay_steps: a number of steps, the divisor of the step.
        decay_rate: a number, the rate of decay per `decay_steps` steps.
        staircase: whether to round the quotient down; False by default.

    Returns:
        A scalar tensor; eagerly, a function without arguments that gives it.

    Raises:
        ValueError: there is no `global_step`.

    Example:
        >>> print(tf.compat.v1.train.natural_exp_decay(1.0, 10, 10, 1.0)().numpy().round(4))
        0.3679
    """
    rate = convert(learning_rate)
    return rate * exp(-cast(decay_rate, rate.dtype)) ** _parts(global_step, decay_steps, rate.dtype, staircase)


@_schedule("InverseTimeDecay", "inverse_time_decay")
def inverse_time_decay(
    learning_rate: TensorLike,
    global_step: TensorLike,
    decay_steps: TensorLike,
    decay_rate: TensorLike,
    staircase: bool = False,
    name: str | None = None,
) -> Rate:
    """`learning_rate / (1 + decay_rate * global_step / decay_steps)`, the quotient rounded down with `staircase`.

    Args:
        learning_rate: the first rate, a float or a scalar tensor.
        global_step: the step, a number, a tensor or a variable.
        decay_steps: a number of steps, the divisor of the step.
        decay_rate: a number, the factor of the quotient.
        staircase: whether to round the quotient down; False by default.

    Returns:
        A scalar tensor; eagerly, a function without arguments that gives it.

    Raises:
        ValueError: there is no `global_step`.

    Example:
        >>> print(tf.compat.v1.train.inverse_time_decay(1.0, 10, 10, 1.0)().numpy().round(4))
        0.5
    """
    rate = convert(learning_rate)
    return rate / (1.0 + cast(decay_rate, rate.dtype) * _parts(global_step, decay_steps, rate.dtype, staircase))


def _half_cosine(part: Any) -> Any:
    return 0.5 * (1.0 + cos(math.pi * part))


@_schedule("CosineDecay", "cosine decay")
def cosine_decay(
    learning_rate: TensorLike,
    global_step: TensorLike,
    decay_steps: TensorLike,
    alpha: float = 0.0,
    name: str | None = None,
) -> Rate:
    """Computes half a cosine from `learning_rate` to `alpha * learning_rate` in `decay_steps` (Loshchilov and Hutter
    2017, https://arxiv.org/abs/1608.03983).

    Args:
        learning_rate: the first rate, a float or a scalar tensor.
        global_step: the step, a number, a tensor or a variable.
        decay_steps: a number of steps; afterwards the rate stays.
        alpha: a float, the lowest rate as a fraction of `learning_rate`; 0 by default.

    Returns:
        A scalar tensor; eagerly, a function without arguments that gives it.

    Raises:
        ValueError: there is no `global_step`.

    Example:
        >>> print(tf.compat.v1.train.cosine_decay(1.0, 5, 10)().numpy().round(4))
        0.5
    """
    rate = convert(learning_rate)
    part = minimum(_parts(global_step, decay_steps, rate.dtype), 1.0)
    return rate * ((1.0 - alpha) * _half_cosine(part) + alpha)


@_schedule("SGDRDecay", "cosine decay restarts")
def cosine_decay_restarts(
    learning_rate: TensorLike,
    global_step: TensorLike,
    first_decay_steps: Any,
    t_mul: float = 2.0,
    m_mul: float = 1.0,
    alpha: float = 0.0,
    name: str | None = None,
) -> Rate:
    """`cosine_decay` with restarts, each time over `t_mul` times as many steps, and from `m_mul` times the rate
    (Loshchilov and Hutter 2017, https://arxiv.org/abs/1608.03983).

    Args:
        learning_rate: the first rate, a float or a scalar tensor.
        global_step: the step, a number, a tensor or a variable.
        first_decay_steps: the number of steps before the first restart.
        t_mul: a float, the factor between the numbers of steps of two periods; 2 by default.
        m_mul: a float, the factor between the first rates of two periods; 1 by default.
        alpha: a float, the lowest rate as a fraction of `learning_rate`; 0 by default.

    Returns:
        A scalar tensor; eagerly, a function without arguments that gives it.

    Raises:
        ValueError: there is no `global_step`.

    Example:
        >>> print(tf.compat.v1.train.cosine_decay_restarts(1.0, 10, 10, m_mul=0.8)().numpy().round(4))
        0.8
    """
    rate = convert(learning_rate)
    part = _parts(global_step, first_decay_steps, rate.dtype)
    if t_mul == 1.0:
        restarts = floor(part)
        part = part - restarts
    else:
        restarts = floor(log(1.0 - part * (1.0 - t_mul)) / math.log(t_mul))
        power = convert(t_mul, rate.dtype) ** restarts
        part = (part - (1.0 - power) / (1.0 - t_mul)) / power
    return rate * ((1.0 - alpha) * convert(m_mul, rate.dtype) ** restarts * _half_cosine(part) + alpha)


@_schedule("LinearCosineDecay", "linear cosine decay")
def linear_cosine_decay(
    learning_rate: TensorLike,
    global_step: TensorLike,
    decay_steps: TensorLike,
    num_periods: float = 0.5,
    alpha: float = 0.0,
    beta: float = 0.001,
    name: str | None = None,
) -> Rate:
    """`(alpha + linear) * cosine + beta`, times `learning_rate` (Bello et al. 2017,
    https://arxiv.org/abs/1709.07417).

    Args:
        learning_rate: the first rate.
        global_step: the step, a number, a tensor or a variable.
        decay_steps: a number of steps.
        num_periods: of the cosine.
        alpha, beta: see above.

    Returns:
        A scalar tensor; eagerly, a function without arguments that gives it.

    Raises:
        ValueError: there is no `global_step`.

    Example:
        >>> print(tf.compat.v1.train.linear_cosine_decay(1.0, 5, 10)().numpy().round(4))
        0.251
    """
    return _linear_cosine(learning_rate, global_step, decay_steps, num_periods, alpha, beta, lambda step: 0.0)


@_schedule("NoisyLinearCosineDecay", "linear cosine decay")
def noisy_linear_cosine_decay(
    learning_rate: TensorLike,
    global_step: TensorLike,
    decay_steps: TensorLike,
    initial_variance: float = 1.0,
    variance_decay: float = 0.55,
    num_periods: float = 0.5,
    alpha: float = 0.0,
    beta: float = 0.001,
    name: str | None = None,
) -> Rate:
    """`linear_cosine_decay` with normal noise on the linear part, of variance
    `initial_variance / (1 + global_step) ** variance_decay`.

    Args:
        learning_rate: the first rate, a float or a scalar tensor.
        global_step: the step, a number, a tensor or a variable.
        decay_steps: a number of steps; afterwards the step counts as this.
        initial_variance, variance_decay: floats, see above; 1 and 0.55 by default.
        num_periods: a float, the number of periods of the cosine; 0.5 by default.
        alpha, beta: floats, see `linear_cosine_decay`; 0 and 0.001 by default.

    Returns:
        A scalar tensor; eagerly, a function without arguments that gives it.

    Raises:
        ValueError: there is no `global_step`.

    Example:
        >>> print(tf.compat.v1.train.noisy_linear_cosine_decay(1.0, 5, 10, initial_variance=0.0)().numpy().round(4))
        0.251
    """

    def noise(step: Any) -> Any:
        return sqrt(initial_variance / (1.0 + step) ** variance_decay) * normal([], dtype=step.dtype)

    return _linear_cosine(learning_rate, global_step, decay_steps, num_periods, alpha, beta, noise)


def _linear_cosine(rate: Any, step: Any, of: Any, periods: float, alpha: float, beta: float, noise: Any) -> Any:
    rate = convert(rate)
    length = cast(of, rate.dtype)
    step = minimum(cast(convert(step), rate.dtype), length)
    linear = (length - step) / length + noise(step)
    return rate * ((alpha + linear) * _half_cosine(2.0 * periods * (step / length)) + beta)
