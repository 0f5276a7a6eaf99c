"""Cumulative sums and products along a dimension."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch

from tapeflow.core.autodiff.gradients import conj, shape_of
from tapeflow.core.autodiff.tape import Call
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.definition import ops, registry
from tapeflow.core.ops.op import op
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import invalid
from tapeflow.math.arithmetic import add, multiply, subtract
from tapeflow.math.comparison import is_finite
from tapeflow.math.division import divide_no_nan
from tapeflow.math.elementwise import exp


def _scan(step: Callable[[torch.Tensor, int], torch.Tensor], start: float) -> Callable[..., torch.Tensor]:
    """The kernel of a scan.

    Args:
        step: the inclusive scan along a dimension.
        start: what an exclusive scan begins with.
    """

    def kernel(x: torch.Tensor, axis: Any, exclusive: bool, reverse: bool) -> torch.Tensor:
        if not (exclusive or reverse) and x.ndim:
            return step(x, axis)
        if not x.ndim:
            raise invalid(f"ScanOp: Expected scan axis in the range [0, 0), but got {axis}")
        if reverse:
            x = torch.flip(x, (axis,))
        if exclusive and x.shape[axis]:
            first = torch.full_like(x.narrow(axis, 0, 1), start)
            x = torch.cat([first, step(x.narrow(axis, 0, x.shape[axis] - 1), axis)], axis)
        else:
            x = step(x, axis)
        return torch.flip(x, (axis,)) if reverse else x

    return kernel


def _scan_rule(x: TensorShape, axis: Any, *_: Any) -> TensorShape:
    if not isinstance(axis, int):
        raise invalid(f"ScanOp: axis must be a scalar, not {axis!r}")
    if x.rank is not None and not -x.rank <= axis < x.rank:
        raise invalid(f"ScanOp: Expected scan axis in the range [{-x.rank}, {x.rank}), but got {axis}")
    return x


@op("Cumsum", kernel=_scan(lambda x, axis: torch.cumsum(x, axis, dtype=x.dtype), 0), host=("axis",), shape=_scan_rule)
def cumsum(x: Any, axis: Any = 0, exclusive: bool = False, reverse: bool = False, name: str | None = None) -> Any:
    """The sum of each element and all before it along a dimension. Integers wrap around.

    Args:
        x: numeric.
        axis: the dimension.
        exclusive: leaves the element itself out, so that the first sum is 0.
        reverse: sums from the last element on.

    Returns:
        A tensor of the shape and dtype of `x`.

    Raises:
        InvalidArgumentError: there is no such dimension.

    Example:
        >>> tf.cumsum([1, 2, 3]).numpy().tolist()
        [1, 3, 6]
        >>> tf.cumsum([1, 2, 3], exclusive=True, reverse=True).numpy().tolist()
        [5, 3, 0]
    """


@cumsum.gradient()
def _(call: Call, dy: Any) -> Any:
    axis, exclusive, reverse = call.attrs
    return cumsum(dy, axis, exclusive, not reverse)


@op("Cumprod", kernel=_scan(lambda x, axis: torch.cumprod(x, axis, dtype=x.dtype), 1), host=("axis",), shape=_scan_rule)
def cumprod(x: Any, axis: Any = 0, exclusive: bool = False, reverse: bool = False, name: str | None = None) -> Any:
    """The product of each element and all before it along a dimension. Integers wrap around.

    The gradient divides by `x`, and is 0 where that is 0, as TensorFlow's is.

    Args:
        x: numeric.
        axis: the dimension.
        exclusive: leaves the element itself out, so that the first product is 1.
        reverse: multiplies from the last element on.

    Returns:
        A tensor of the shape and dtype of `x`.

    Raises:
        InvalidArgumentError: there is no such dimension.

    Example:
        >>> tf.math.cumprod([2, 3, 4]).numpy().tolist()
        [2, 6, 24]
    """


@cumprod.gradient(needs="inputs outputs")
def _(call: Call, dy: Any) -> Any:
    axis, exclusive, reverse = call.attrs
    x, y = call.inputs[0], call.outputs[0]
    return divide_no_nan(cumsum(multiply(conj(y), dy), axis, exclusive, not reverse), conj(x))


@op("CumulativeLogsumexp", kernel=_scan(torch.logcumsumexp, -math.inf), host=("axis",), shape=_scan_rule)
def cumulative_logsumexp(
    x: Any, axis: Any = 0, exclusive: bool = False, reverse: bool = False, name: str | None = None
) -> Any:
    """Computes `log(cumsum(exp(x)))` along a dimension, without overflow.

    Args:
        x: floating.
        axis: the dimension.
        exclusive: leaves the element itself out, so that the first result is `-inf`.
        reverse: goes from the last element on.

    Returns:
        A tensor of the shape and dtype of `x`.

    Raises:
        InvalidArgumentError: there is no such dimension.

    Example:
        >>> tf.math.cumulative_logsumexp([0.0, 0.0]).numpy().tolist()
        [0.0, 0.6931471824645996]
    """


@cumulative_logsumexp.gradient(needs="inputs outputs")
def _(call: Call, dy: Any) -> Any:
    """The sum over all later `j` of `dy[j] * exp(x - y[j])`, of which no factor overflows."""
    axis, exclusive, reverse = call.attrs
    x, y = call.inputs[0], call.outputs[0]
    length = shape_of(x)[axis]
    if not isinstance(length, int):
        return _by_signs(x, y, dy, *call.attrs)
    if not length:
        return dy
    flip = ops.ReverseV2
    if reverse:
        x, y, dy = flip(x, (axis,)), flip(y, (axis,)), flip(dy, (axis,))
    later = _decayed_sums(dy, y, axis)
    if exclusive:
        dx = multiply(_part(later, axis, 1, None), _ratio(_part(x, axis, 0, -1), _part(y, axis, 1, None)))
        last = multiply(convert(0, dy.dtype), _part(dy, axis, -1, None))
        dx = ops.ConcatV2([dx, last], axis)
    else:
        dx = multiply(later, _ratio(x, y))
    return flip(dx, (axis,)) if reverse else dx


def _by_signs(x: Any, y: Any, dy: Any, axis: Any, exclusive: bool, reverse: bool) -> Any:
    """The same for a dimension of unknown length: as logarithms, of the positive and the negative `dy` apart."""

    def of_sign(part: Any) -> Any:
        there = logical_and(greater(part, convert(0, part.dtype)), is_finite(y))
        number = ops.Log(select(there, part, convert(1, part.dtype)))
        logs = select(there, subtract(number, select(there, y, convert(0, y.dtype))), convert(-math.inf, part.dtype))
        sums = cumulative_logsumexp(logs, axis, exclusive, not reverse)
        return exp(add(sums, x))

    select, greater, logical_and = (registry[name].function for name in ("SelectV2", "Greater", "LogicalAnd"))
    return subtract(of_sign(dy), of_sign(ops.Neg(dy)))


def _decayed_sums(dy: Any, y: Any, axis: int) -> Any:
    """The sum over `j >= i` of `dy[j] * exp(y[i] - y[j])`: by doubling how many are summed.

    `y` never falls, so that no factor is above 1.
    """
    length, span = shape_of(y)[axis], 1
    while span < length:
        near, far = (0, -span), (span, None)
        decay = _ratio(_part(y, axis, *near), _part(y, axis, *far))
        longer = add(_part(dy, axis, *near), multiply(decay, _part(dy, axis, *far)))
        dy = ops.ConcatV2([longer, _part(dy, axis, -span, None)], axis)
        span *= 2
    return dy


def _ratio(a: Any, b: Any) -> Any:
    """`exp(a - b)`, and 0 where `b` is infinite."""
    difference = subtract(a, b)
    return exp(ops.SelectV2(is_finite(b), difference, convert(-math.inf, difference.dtype)))


def _part(x: Any, axis: int, start: int, stop: int | None) -> Any:
    """`x[start:stop]` along a dimension."""
    shape = shape_of(x)
    axis %= len(shape)
    first, end, _ = slice(start, stop).indices(shape[axis])
    begin = tuple([first if i == axis else 0 for i in range(len(shape))])
    size = tuple([end - first if i == axis else d for i, d in enumerate(shape)])
    return ops.Slice(x, begin, size)
