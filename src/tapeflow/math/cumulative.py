"""Cumulative sums and products along a dimension."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch

from tapeflow.array.concat_and_split import concat_v2
from tapeflow.array.masks import select_v2
from tapeflow.array.padding import reverse as reverse_op
from tapeflow.array.slicing import slice as slice_op
from tapeflow.core.autodiff.gradients import shape_of
from tapeflow.core.autodiff.tape import Call
from tapeflow.core.ops.batch_rules import along_axis
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.op import op
from tapeflow.core.ops.shape_rules import leave_to_kernel
from tapeflow.core.ops.static import Unknown
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import Tensor, invalid
from tapeflow.math.arithmetic import add, multiply, negative, subtract
from tapeflow.math.comparison import greater, is_finite, logical_and
from tapeflow.math.division import divide_no_nan
from tapeflow.math.elementwise import exp, log


def _scan_kernel(step: Callable[[torch.Tensor, int], torch.Tensor], start: float) -> Callable[..., torch.Tensor]:
    """Returns the kernel of a scan.

    Args:
        step: the inclusive scan along a dimension.
        start: the first element of an exclusive scan.
    """

    def kernel(x: torch.Tensor, axis: int, exclusive: bool, reverse: bool) -> torch.Tensor:
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


def _scan_rule(x: TensorShape, axis: TensorLike, *_: Any) -> TensorShape:
    if isinstance(axis, Unknown):
        return x
    if not isinstance(axis, int):
        leave_to_kernel(f"ScanOp: axis must be a scalar, not {axis!r}")
    elif x.rank is not None and not -x.rank <= axis < x.rank:
        leave_to_kernel(f"ScanOp: Expected scan axis in the range [{-x.rank}, {x.rank}), but got {axis}")
    return x


_SCAN: dict[str, Any] = {"host": ("axis",), "shape": _scan_rule, "batching": along_axis}


@op("Cumsum", kernel=_scan_kernel(lambda x, axis: torch.cumsum(x, axis, dtype=x.dtype), 0), **_SCAN)
def cumsum(
    x: TensorLike, axis: Tensor | int = 0, exclusive: bool = False, reverse: bool = False, name: str | None = None
) -> Tensor:
    """Sums each element and all before it along a dimension. Integers wrap around.

    Args:
        x: a numeric tensor with at least one dimension.
        axis: the dimension; 0 by default.
        exclusive: leaves the element itself out. The first sum is then 0.
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
def _(call: Call, dy: Tensor) -> Any:
    axis, exclusive, reverse = call.attrs
    return cumsum(dy, axis, exclusive, not reverse)


@op("Cumprod", kernel=_scan_kernel(lambda x, axis: torch.cumprod(x, axis, dtype=x.dtype), 1), **_SCAN)
def cumprod(
    x: TensorLike, axis: Tensor | int = 0, exclusive: bool = False, reverse: bool = False, name: str | None = None
) -> Tensor:
    """Multiplies each element with all before it along a dimension. Integers wrap around.

    The gradient divides by `x`, and is 0 where that is 0; of complex numbers it is not conjugated: as TensorFlow's.

    Args:
        x: a numeric tensor with at least one dimension.
        axis: the dimension; 0 by default.
        exclusive: leaves the element itself out. The first product is then 1.
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
def _(call: Call, dy: Tensor) -> Any:
    axis, exclusive, reverse = call.attrs
    x, y = call.inputs[0], call.outputs[0]
    return divide_no_nan(cumsum(multiply(y, dy), axis, exclusive, not reverse), x)


@op("CumulativeLogsumexp", kernel=_scan_kernel(torch.logcumsumexp, -math.inf), **_SCAN)
def cumulative_logsumexp(
    x: TensorLike, axis: Tensor | int = 0, exclusive: bool = False, reverse: bool = False, name: str | None = None
) -> Tensor:
    """Computes `log(cumsum(exp(x)))` along a dimension, without overflow.

    Args:
        x: a floating tensor with at least one dimension.
        axis: the dimension; 0 by default.
        exclusive: leaves the element itself out. The first result is then `-inf`.
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
def _(call: Call, dy: Tensor) -> Any:
    """Sums `dy[j] * exp(x - y[j])` over all later `j`; no factor overflows."""
    axis, exclusive, reverse = call.attrs
    x, y = call.inputs[0], call.outputs[0]
    length = None if isinstance(axis, Tensor) else shape_of(x)[axis]
    if not isinstance(length, int):
        return _by_signs(x, y, dy, *call.attrs)
    if not length:
        return dy
    if reverse:
        x, y, dy = (reverse_op(t, (axis,)) for t in (x, y, dy))
    later = _decayed_sums(dy, y, axis)
    if exclusive:
        dx = multiply(
            _part_along(later, axis, 1, None), _exp_ratio(_part_along(x, axis, 0, -1), _part_along(y, axis, 1, None))
        )
        last = multiply(convert(0, dy.dtype), _part_along(dy, axis, -1, None))
        dx = concat_v2([dx, last], axis)
    else:
        dx = multiply(later, _exp_ratio(x, y))
    return reverse_op(dx, (axis,)) if reverse else dx


def _by_signs(x: Tensor, y: Tensor, dy: Tensor, axis: int, exclusive: bool, reverse: bool) -> Any:
    """Computes the same for a dimension of unknown length, as logarithms of the positive and of the negative `dy`."""

    def of_sign(part: Tensor) -> Any:
        zero, one = convert(0, part.dtype), convert(1, part.dtype)
        counts = logical_and(greater(part, zero), is_finite(y))
        logs = subtract(log(select_v2(counts, part, one)), select_v2(counts, y, zero))
        logs = select_v2(counts, logs, convert(-math.inf, part.dtype))
        return exp(add(cumulative_logsumexp(logs, axis, exclusive, not reverse), x))

    return subtract(of_sign(dy), of_sign(negative(dy)))


def _decayed_sums(dy: Tensor, y: Tensor, axis: int) -> Any:
    """Sums `dy[j] * exp(y[i] - y[j])` over `j >= i`, and doubles the number of summands in each step.

    `y` never falls, so all factors are at most 1.
    """
    length, span = shape_of(y)[axis], 1
    while span < length:
        near, far = (0, -span), (span, None)
        decay = _exp_ratio(_part_along(y, axis, *near), _part_along(y, axis, *far))
        longer = add(_part_along(dy, axis, *near), multiply(decay, _part_along(dy, axis, *far)))
        dy = concat_v2([longer, _part_along(dy, axis, -span, None)], axis)
        span *= 2
    return dy


def _exp_ratio(a: Tensor, b: Tensor) -> Any:
    """Computes `exp(a - b)`, and 0 where `b` is infinite."""
    difference = subtract(a, b)
    return exp(select_v2(is_finite(b), difference, convert(-math.inf, difference.dtype)))


def _part_along(x: Tensor, axis: int, start: int, stop: int | None) -> Any:
    """Returns `x[start:stop]` along a dimension."""
    shape = shape_of(x)
    axis %= len(shape)
    first, end, _ = slice(start, stop).indices(shape[axis])
    begin = tuple([first if i == axis else 0 for i in range(len(shape))])
    size = tuple([end - first if i == axis else d for i, d in enumerate(shape)])
    return slice_op(x, begin, size)
