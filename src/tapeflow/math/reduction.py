"""Reductions over dimensions."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from tapeflow.array.concat_and_split import concat_v2
from tapeflow.array.creation import range_op
from tapeflow.array.gathers import gather_v2
from tapeflow.array.identities import stop_gradient
from tapeflow.array.masks import boolean_mask, select_v2
from tapeflow.array.properties import shape_op, size_op
from tapeflow.array.reshapes import broadcast_to, reshape, transpose_op
from tapeflow.core.autodiff.gradients import DynamicShape, conj, is_unranked, shape_of
from tapeflow.core.autodiff.tape import Call
from tapeflow.core.ops.batch_rules import along_axis
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.definition import ops
from tapeflow.core.ops.elementwise_kernels import MANY, SOME, along, by_value, may_have_nan
from tapeflow.core.ops.op import OpFunction, P, R, converting, not_differentiable, op
from tapeflow.core.ops.shape_rules import (
    argument_shape,
    leave_to_kernel,
    reduced_dimensions,
    reduction,
    text,
    with_rank,
)
from tapeflow.core.ops.static import Unknown
from tapeflow.core.types.aliases import AxisLike, DTypeLike, TensorLike
from tapeflow.core.types.dtypes import DType, as_dtype, int32, int64
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import Tensor, invalid
from tapeflow.math.arithmetic import add, multiply, subtract
from tapeflow.math.casting import cast
from tapeflow.math.comparison import equal, is_finite, not_equal
from tapeflow.math.complex import real
from tapeflow.math.cumulative import cumprod
from tapeflow.math.division import realdiv, truediv
from tapeflow.math.elementwise import exp, log, sqrt, square
from tapeflow.math.extrema import maximum

Kernel = Callable[[torch.Tensor, Any, Any], torch.Tensor]
WholeKernel = Callable[[torch.Tensor], torch.Tensor]


def _declare_reduction(name: str, kernel: Kernel, **traits: Any) -> Callable[[Callable[P, R]], OpFunction[P, R]]:
    """Declares a reduction, whose public function takes any truth value as `keepdims`."""

    def decorate(declared: Callable[P, R]) -> OpFunction[P, R]:
        options = {"host": ("axis",), "rename": {"keepdims": "keep_dims"}, "shape": reduction, **traits}
        return converting(keepdims=bool)(op(name, kernel, **options)(declared))

    return decorate


_SHORT = 64  # elements of a row


def _ends_in_short_rows(x: torch.Tensor, axis: Any) -> bool:
    """Returns True if ATen takes several times as long for some dimensions at once as for the last one after the
    others: it is short, and the one before it stays."""
    rank = x.ndim
    axes = {a + rank if a < 0 else a for a in axis}
    is_split = rank - 1 in axes and rank - 2 not in axes and x.shape[-1] <= _SHORT
    return is_split and len(axes) == len(axis) and x.dtype in (torch.float32, torch.float64)


def _reduction_kernel(whole: WholeKernel, along: Kernel, none: WholeKernel = torch.clone) -> Kernel:
    """Returns the kernel of a reduction.

    Args:
        whole: reduces all dimensions away.
        along: `along(x, axis, keepdims)` reduces one dimension, or a tuple of at least one.
        none: the result of the reduction over no dimensions at all.
    """

    def kernel(x: torch.Tensor, axis: Any, keepdims: Any) -> torch.Tensor:
        if axis is None and not keepdims:
            return whole(x)
        if type(keepdims) is bool and x.ndim and (type(axis) is int or (axis and type(axis[0]) is int)):
            if not isinstance(axis, int) and len(axis) > 1 and x.numel() >= MANY and _ends_in_short_rows(x, axis):
                others = [a for a in axis if a not in (-1, x.ndim - 1)]
                x, axis = along(x, others, True), -1
                return along(x, axis, True) if keepdims else along(x, axis, True).squeeze([*others, -1])
            return along(x, axis, keepdims)  # torch says if the dimensions are wrong
        axis = reduced_dimensions(axis, x.ndim)
        return along(x, axis, bool(keepdims)) if axis else none(x)

    return kernel


def _spread_gradient(dy: Tensor, shape: DynamicShape | tuple[int, ...], axis: AxisLike, keepdims: bool) -> Any:
    """Broadcasts the gradient of a reduction back to `shape`."""
    return broadcast_to(_with_reduced(dy, shape, axis, keepdims), shape)


def _with_reduced(dy: Tensor, shape: DynamicShape | tuple[int, ...], axis: Any, keepdims: bool) -> Any:
    """Restores the reduced dimensions with length 1. The result then broadcasts against the input of the reduction."""
    if keepdims or axis is None:
        return dy
    if isinstance(axis, Tensor) or is_unranked(shape):
        return reshape(dy, _shape_with_ones(shape, axis))
    axes = reduced_dimensions(axis, len(shape))
    return reshape(dy, tuple([1 if i in axes else d for i, d in enumerate(shape)]))


def _shape_with_ones(shape: Any, axis: Any) -> Any:
    """Replaces the reduced dimensions by 1 in a shape that is unknown while a graph is built."""
    shape = convert(list(shape), int32) if isinstance(shape, tuple) else shape.__tf_tensor__()
    rank = size_op(shape)
    axes = (reshape(cast(convert(axis), int32), (1, -1)) + rank) % rank
    positions = reshape(range_op(0, rank, 1), (-1, 1))
    return select_v2(reduce_any(equal(positions, axes), 1), convert(1, shape.dtype), shape)


# ---- sums and means --------------------------------------------------------------------------------------------------


# A float's sum is of its dtype anyhow; to say so takes a tenth of the time of a small sum.


def _sum_of_all(x: torch.Tensor) -> torch.Tensor:
    return torch.sum(x) if x.is_floating_point() else torch.sum(x, dtype=x.dtype)


def _sum_along(x: torch.Tensor, axis: Any, keepdims: bool) -> torch.Tensor:
    return torch.sum(x, axis, keepdims) if x.is_floating_point() else torch.sum(x, axis, keepdims, dtype=x.dtype)


@_declare_reduction(
    "Sum", _reduction_kernel(_sum_of_all, _sum_along), reduced=lambda b, x: b.reduce("add", x), keeps_nothing=True
)
def reduce_sum(
    input_tensor: TensorLike, axis: AxisLike = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """Sums over dimensions. Integers wrap around.

    Args:
        input_tensor: a numeric tensor of any shape.
        axis: an int or a list of ints, the dimension or dimensions to reduce; None for all.
        keepdims: retains the reduced dimensions, with length 1.

    Returns:
        A tensor of the same dtype, without the reduced dimensions.

    Raises:
        InvalidArgumentError: there is no such dimension, or it is named twice.

    Example:
        >>> tf.reduce_sum([[1, 2], [3, 4]], axis=0).numpy().tolist()
        [4, 6]
    """


@reduce_sum.gradient(needs="shapes")
def _(call: Call, dy: Tensor) -> Any:
    return _spread_gradient(dy, call.shape(0), *call.attrs)


class _Counts(dict[int, torch.Tensor]):
    """Numbers as scalar tensors of a dtype, created on first use."""

    def __init__(self, dtype: torch.dtype) -> None:
        self.dtype = dtype

    def __missing__(self, number: int) -> torch.Tensor:
        if len(self) >= 1024:
            self.clear()
        self[number] = count = torch.scalar_tensor(number, dtype=self.dtype)
        return count


# On the CPU torch's mean is a sum and a division by a Python number; one by a tensor is faster, and the same to the
# bit. Not for float16: there TensorFlow's sum overflows, and torch's mean would not.
_COUNTS = {dtype: _Counts(dtype) for dtype in (torch.float16, torch.float32, torch.float64)}


def _mean_of_all(x: torch.Tensor) -> torch.Tensor:
    counts = _COUNTS.get(x.dtype)
    if counts is not None and type(x) is torch.Tensor and x.is_cpu:
        return torch.sum(x).div_(counts[x.numel()])
    if x.is_complex() and not x.numel():
        return torch.sum(x)  # 0, but the mean of an empty real tensor is NaN
    return torch.mean(x) if x.is_floating_point() or x.is_complex() else _integer_mean(x, None, False)


def _mean_along(x: torch.Tensor, axis: Any, keepdims: bool) -> torch.Tensor:
    if x.dtype is torch.float16 and type(x) is torch.Tensor and x.is_cpu:
        total = torch.sum(x, axis, keepdims)
        return total.div_(_COUNTS[x.dtype][x.numel() // max(total.numel(), 1)])
    if x.is_floating_point() or x.is_complex():
        return torch.mean(x, axis, keepdims) if x.numel() or not x.is_complex() else torch.sum(x, axis, keepdims)
    return _integer_mean(x, axis, keepdims)


_any_mean = _reduction_kernel(_mean_of_all, _mean_along)


def _mean_kernel(x: torch.Tensor, axis: int | Sequence[int] | None, keepdims: bool) -> torch.Tensor:
    counts = _COUNTS.get(x.dtype)
    if counts is not None and type(axis) is int and type(keepdims) is bool and type(x) is torch.Tensor and x.is_cpu:
        shape = x.shape
        count = shape[axis]
        exact = count in _EXACT and x.dtype is not torch.float16
        if exact and len(shape) == 2 and (axis == 1 or axis == -1) and not keepdims:
            return torch.mv(x, _equal_shares(count, x.dtype))
        return torch.sum(x, axis, keepdims).div_(counts[count])
    return _any_mean(x, axis, keepdims)


# The mean of a short row is its product with a vector of 1/n: one kernel instead of a sum and a division. If 1/n is a
# binary fraction, the results are equal up to the order of the sum.
_EXACT = frozenset({2, 4, 8, 16, 32, 64})


@functools.cache
def _equal_shares(count: int, dtype: torch.dtype) -> torch.Tensor:
    return torch.full((count,), 1 / count, dtype=dtype)


def _integer_mean(x: torch.Tensor, axis: Any, keepdims: bool) -> torch.Tensor:
    """Computes the mean of 64-bit sums, rounded towards zero; 0 for no elements."""
    total = torch.sum(x.view(torch.int64) if x.dtype == torch.uint64 else x.to(torch.int64), axis, keepdims)
    count = x.numel() // max(total.numel(), 1)
    if not count:
        return total.to(x.dtype)
    if x.dtype == torch.uint64:  # ATen does not divide it
        return torch.from_numpy(np.asarray(total.cpu().numpy().view(np.uint64) // np.uint64(count))).to(x.device)
    return torch.div(total, count, rounding_mode="trunc").to(x.dtype)


@_declare_reduction(
    "Mean", _mean_kernel, reduced=lambda b, x: b.div(b.reduce("add", x), b.length(x.dtype)), keeps_nothing=True
)
def reduce_mean(
    input_tensor: TensorLike, axis: AxisLike = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """Computes the mean over dimensions. The mean of integers is an integer, rounded towards zero.

    Args:
        input_tensor: a numeric tensor of any shape.
        axis: an int or a list of ints, the dimension or dimensions to reduce; None for all.
        keepdims: retains the reduced dimensions, with length 1.

    Returns:
        A tensor of the same dtype, without the reduced dimensions. The mean of no elements is NaN (0 for
        integers and complex numbers).

    Raises:
        InvalidArgumentError: there is no such dimension, or it is named twice.

    Example:
        >>> tf.reduce_mean([[1.0, 2.0], [3.0, 4.0]], axis=0).numpy().tolist()
        [2.0, 3.0]
    """


@reduce_mean.gradient(needs="shapes")
def _(call: Call, dy: Tensor) -> Any:
    shape, reduced = call.shape(0), shape_of(dy)
    size = math.prod(shape) if isinstance(shape, tuple) else size_op(shape.tensor)
    if isinstance(shape, tuple) and isinstance(reduced, tuple):
        count: Any = size // max(math.prod(reduced), 1)
    else:
        count = cast(size // maximum(size_op(dy), 1), dy.dtype)
    return _spread_gradient(realdiv(dy, count), shape, *call.attrs)


# ---- extremes --------------------------------------------------------------------------------------------------------


def _extreme_kernel(whole: WholeKernel, along: Kernel, start: float) -> Kernel:
    """Returns the kernel of a maximum or a minimum. Of no elements it is `start`, an infinity, or for integers the
    limit of the dtype on that side."""

    def of_any(x: torch.Tensor, axis: Any, keepdims: bool) -> torch.Tensor:
        if x.numel():
            return along(x, axis, keepdims)
        limit = start if x.is_floating_point() else torch.iinfo(x.dtype).min if start < 0 else torch.iinfo(x.dtype).max
        return x.new_full(reduction(TensorShape(x.shape), axis, keepdims).as_list(), limit)

    return _reduction_kernel(lambda x: whole(x) if x.numel() else of_any(x, None, False), of_any)


@_declare_reduction(
    "Max",
    _extreme_kernel(torch.max, torch.amax, -math.inf),
    reduced=lambda b, x: b.reduce("maximum", x),
    orders=True,
    keeps_nothing=True,
)
def reduce_max(
    input_tensor: TensorLike, axis: AxisLike = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """Returns the largest element over dimensions; NaN if there is a NaN.

    The gradient is shared by all largest elements.

    Args:
        input_tensor: a real tensor of any shape.
        axis: an int or a list of ints, the dimension or dimensions to reduce; None for all.
        keepdims: retains the reduced dimensions, with length 1.

    Returns:
        A tensor of the same dtype, without the reduced dimensions. The maximum of no elements is the lowest value of
        the dtype.

    Raises:
        InvalidArgumentError: there is no such dimension, or it is named twice.

    Example:
        >>> tf.reduce_max([[1, 2], [4, 3]], axis=1).numpy().tolist()
        [2, 4]
    """


@_declare_reduction(
    "Min",
    _extreme_kernel(torch.min, torch.amin, math.inf),
    reduced=lambda b, x: b.reduce("minimum", x),
    orders=True,
    keeps_nothing=True,
)
def reduce_min(
    input_tensor: TensorLike, axis: AxisLike = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """Returns the smallest element over dimensions; NaN if there is a NaN.

    The gradient is shared by all smallest elements.

    Args:
        input_tensor: a real tensor of any shape.
        axis: an int or a list of ints, the dimension or dimensions to reduce; None for all.
        keepdims: retains the reduced dimensions, with length 1.

    Returns:
        A tensor of the same dtype, without the reduced dimensions. The minimum of no elements is the highest value of
        the dtype.

    Raises:
        InvalidArgumentError: there is no such dimension, or it is named twice.

    Example:
        >>> tf.reduce_min([[1, 2], [4, 3]], axis=1).numpy().tolist()
        [1, 3]
    """


@reduce_max.gradient(needs="inputs outputs")
@reduce_min.gradient(needs="inputs outputs")
def _shared_by_extremes(call: Call, dy: Tensor) -> Any:
    x, y = call.inputs[0], call.outputs[0]
    axis, keepdims = call.attrs
    shape = shape_of(x)
    chosen = cast(equal(_with_reduced(y, shape, axis, keepdims), x), dy.dtype)
    ties = reduce_sum(chosen, axis, True) if axis is not None else reduce_sum(chosen)
    return multiply(realdiv(chosen, ties), _with_reduced(dy, shape, axis, keepdims))


# ---- products and norms ----------------------------------------------------------------------------------------------


def _prod_along(x: torch.Tensor, axis: int | Sequence[int], keepdims: bool) -> torch.Tensor:
    if type(axis) is int:
        return torch.prod(x, axis, keepdims, dtype=x.dtype)
    for dim in sorted(reduced_dimensions(axis, x.ndim), reverse=True):  # ATen takes one at a time
        x = torch.prod(x, dim, keepdims, dtype=x.dtype)
    return x


@_declare_reduction("Prod", _reduction_kernel(lambda x: torch.prod(x, dtype=x.dtype), _prod_along), keeps_nothing=True)
def reduce_prod(
    input_tensor: TensorLike, axis: AxisLike = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """Multiplies elements over dimensions; 1 for no elements. Integers wrap around.

    Args:
        input_tensor: a numeric tensor of any shape.
        axis: an int or a list of ints, the dimension or dimensions to reduce; None for all.
        keepdims: retains the reduced dimensions, with length 1.

    Returns:
        A tensor of the same dtype, without the reduced dimensions.

    Raises:
        InvalidArgumentError: there is no such dimension, or it is named twice.

    Example:
        >>> tf.reduce_prod([[1, 2], [3, 4]], axis=1).numpy().tolist()
        [2, 12]
    """


@reduce_prod.gradient(needs="inputs")
def _(call: Call, dy: Tensor) -> Any:
    """Multiplies `dy` by the product of all other elements: the ones before times the ones after. It never divides."""
    x, (axis, keepdims) = call.inputs[0], call.attrs
    shape = shape_of(x)
    if is_unranked(shape) or isinstance(axis, Tensor):
        return multiply(_with_reduced(dy, shape, axis, keepdims), _product_of_others(x, axis))
    reduced = reduced_dimensions(axis, len(shape))
    retained = [i for i in range(len(shape)) if i not in reduced]
    order = (*reduced, *retained)
    rows = math.prod([shape[i] for i in reduced])
    columns = math.prod([shape[i] for i in retained])
    others = _others_of_columns(reshape(transpose_op(x, order), (rows, columns)))
    others = reshape(others, tuple([shape[i] for i in order]))
    inverse = tuple([order.index(i) for i in range(len(shape))])
    return multiply(_with_reduced(dy, shape, axis, keepdims), transpose_op(others, inverse))


def _others_of_columns(table: Tensor) -> Any:
    """Computes for each element of a table the product of the others of its column."""
    before, after = cumprod(table, 0, True, False), cumprod(table, 0, True, True)
    return multiply(conj(before), conj(after))


def _product_of_others(x: Tensor, axis: Any) -> Any:
    """Computes for each element the product of the others that it is multiplied with, for dynamic dimensions."""
    shape = shape_op(x)
    rank = size_op(shape)
    dimensions = range_op(0, rank, 1)
    reduced = dimensions if axis is None else reshape(cast(convert(axis), int32), [-1]) % rank
    differs = not_equal(reshape(dimensions, [-1, 1]), reshape(reduced, [1, -1]))
    retained = boolean_mask(dimensions, reduce_all(differs, 1))
    order = concat_v2([reduced, retained], 0)
    rows, columns = (reduce_prod(gather_v2(shape, part, 0)) for part in (reduced, retained))
    table = reshape(transpose_op(x, order), [rows, columns])
    others = reshape(_others_of_columns(table), gather_v2(shape, order, 0))
    return transpose_op(others, ops.InvertPermutation(order))


def _norm_along(x: torch.Tensor, axis: int | tuple[int, ...] | None, keepdims: bool) -> torch.Tensor:
    if x.is_floating_point():
        return torch.sqrt(torch.sum(torch.square(x), axis, keepdims))
    if x.is_complex():
        return torch.sqrt(torch.sum(torch.square(torch.abs(x)), axis, keepdims)).to(x.dtype)
    squares = torch.sum(torch.square(x.to(torch.int64)), axis, keepdims).to(x.dtype)  # wraps
    return torch.sqrt(squares.to(torch.float64)).nan_to_num(0.0).to(x.dtype)


@_declare_reduction(
    "EuclideanNorm",
    _reduction_kernel(lambda x: _norm_along(x, None, False), _norm_along, none=lambda x: torch.abs(x).to(x.dtype)),
)
def reduce_euclidean_norm(
    input_tensor: TensorLike, axis: AxisLike = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """Computes the Euclidean norm over dimensions: the square root of the sum of the squared magnitudes.

    Args:
        input_tensor: a numeric tensor of any shape; integers give integers, rounded towards zero.
        axis: an int or a list of ints, the dimension or dimensions to reduce; None for all.
        keepdims: retains the reduced dimensions, with length 1.

    Returns:
        A tensor of the same dtype, without the reduced dimensions.

    Raises:
        InvalidArgumentError: there is no such dimension, or it is named twice.

    Example:
        >>> tf.math.reduce_euclidean_norm([[3.0, 4.0], [0.0, 2.0]], axis=1).numpy().tolist()
        [5.0, 2.0]
    """


@reduce_euclidean_norm.gradient(needs="inputs outputs")
def _(call: Call, dy: Tensor) -> Any:
    x, y = call.inputs[0], call.outputs[0]
    return multiply(x, _with_reduced(realdiv(dy, y), shape_of(x), *call.attrs))


# ---- logic -----------------------------------------------------------------------------------------------------------


@_declare_reduction("All", _reduction_kernel(*along(torch.all, torch.amin)))
def reduce_all(
    input_tensor: TensorLike, axis: AxisLike = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """Tests whether all elements are true, over dimensions; true for no elements.

    Args:
        input_tensor: a bool tensor of any shape.
        axis: an int or a list of ints, the dimension or dimensions to reduce; None for all.
        keepdims: retains the reduced dimensions, with length 1.

    Returns:
        A bool tensor, without the reduced dimensions.

    Raises:
        InvalidArgumentError: there is no such dimension, or it is named twice.

    Example:
        >>> tf.reduce_all([[True, False], [True, True]], axis=1).numpy().tolist()
        [False, True]
    """


@_declare_reduction("Any", _reduction_kernel(*along(torch.any, torch.amax)))
def reduce_any(
    input_tensor: TensorLike, axis: AxisLike = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """Tests whether any element is true, over dimensions; false for no elements.

    Args:
        input_tensor: a bool tensor of any shape.
        axis: an int or a list of ints, the dimension or dimensions to reduce; None for all.
        keepdims: retains the reduced dimensions, with length 1.

    Returns:
        A bool tensor, without the reduced dimensions.

    Raises:
        InvalidArgumentError: there is no such dimension, or it is named twice.

    Example:
        >>> tf.reduce_any([[True, False], [False, False]], axis=1).numpy().tolist()
        [True, False]
    """


# ---- where the extremes are ------------------------------------------------------------------------------------------


# NumPy's search along the last dimension is vectorized, and ATen's is not: a tenth of the time for rows of 1,000.
_BY_NUMPY = {torch.argmax: np.argmax, torch.argmin: np.argmin}
_VECTORIZED = frozenset({torch.float32, torch.float64, torch.int32, torch.int64})


def _position_of(extreme: Callable[..., torch.Tensor], worst: float) -> Callable[..., torch.Tensor]:
    """Returns the kernel of ArgMax or ArgMin; NaN, which no comparison prefers, counts as the worst value."""

    def kernel(x: torch.Tensor, axis: int | tuple[int, ...] | None, output_type: DType) -> torch.Tensor:
        if axis is None:
            axis = 0
        if not isinstance(axis, int):
            raise TypeError("the shape rule says what is wrong")
        if not x.ndim:
            raise invalid(f"Expected dimension in the range [0, 0), but got {axis}")
        if x.is_floating_point() and may_have_nan(x):
            x = torch.nan_to_num(x, worst, math.inf, -math.inf)
        positions = position_in_rows(extreme, x) if axis in (-1, x.ndim - 1) else extreme(x, axis)
        return positions if output_type is int64 else positions.to(output_type.torch)

    return kernel


def position_in_rows(extreme: Callable[..., torch.Tensor], x: torch.Tensor) -> torch.Tensor:
    """Finds the first position of the largest or the smallest element of each row.

    Args:
        extreme: `torch.argmax` or `torch.argmin`.
        x: numbers without NaN.
    """
    if not by_value(x, SOME) or x.dtype not in _VECTORIZED or not x.is_contiguous():
        return extreme(x, -1)
    return torch.from_numpy(np.asarray(_BY_NUMPY[extreme](x.numpy(), axis=-1)))


def _position_rule(x: TensorShape, axis: TensorLike | None, *_: Any) -> TensorShape:
    if axis is None:
        axis = 0
    if isinstance(axis, Unknown):
        with_rank(axis, 0)
        return TensorShape(None if x.rank is None else [None] * (x.rank - 1))
    if not isinstance(axis, int):
        raise invalid(f"dim must be a scalar, but received tensor of shape: {text(argument_shape(axis))}")
    if x.rank is None:
        return TensorShape(None)
    if not -x.rank <= axis < x.rank:
        wrong = f"Expected dimension in the range [{-x.rank}, {x.rank}), but got {axis}"
        if x.rank > 1:
            raise invalid(wrong)
        leave_to_kernel(wrong)
        return TensorShape([])
    if x[axis] == 0:
        leave_to_kernel(f"Reduction axis {axis} is empty in shape {text(x)}")
    return reduction(x, axis)


def _argmax_rule(x: TensorShape, axis: AxisLike, *_: Any) -> TensorShape:
    """Infers the shape of positions; that the axis is no list is checked by the function, other than `argmin`'s."""
    if isinstance(axis, tuple) and None not in axis:
        raise TypeError("axis must be int or Tensor with integer datatype")
    return _position_rule(x, axis)


_POSITION: dict[str, Any] = {"host": ("axis",), "orders": True, "batching": along_axis, "default_axis": 0}


@op("ArgMax", kernel=_position_of(torch.argmax, -math.inf), shape=_argmax_rule, **_POSITION, keeps_nothing=True)
def argmax(input: TensorLike, axis: AxisLike = None, output_type: DTypeLike = int64, name: str | None = None) -> Tensor:
    """Finds the position of the largest element along a dimension. Of several equal elements, it returns the first.

    Args:
        input: real, or bools; of any shape. NaN is never the largest.
        axis: an int, the dimension, 0 by default.
        output_type: int16, uint16, int32 or int64; int64 by default.

    Returns:
        A tensor of `output_type`, without that dimension.

    Raises:
        InvalidArgumentError: there is no such dimension, or it is empty.

    Example:
        >>> tf.argmax([[1, 5, 3], [4, 2, 4]], axis=1).numpy().tolist()
        [1, 0]
    """


@op("ArgMin", kernel=_position_of(torch.argmin, math.inf), shape=_position_rule, **_POSITION)
def argmin(input: TensorLike, axis: AxisLike = None, output_type: DTypeLike = int64, name: str | None = None) -> Tensor:
    """Finds the position of the smallest element along a dimension. Of several equal elements, it returns the first.

    Args:
        input: real, or bools; of any shape. NaN is never the smallest.
        axis: an int, the dimension, 0 by default.
        output_type: int32 or int64; int64 by default.

    Returns:
        A tensor of `output_type`, without that dimension.

    Raises:
        InvalidArgumentError: there is no such dimension, or it is empty.

    Example:
        >>> tf.argmin([[1, 5, 3], [4, 2, 2]], axis=1).numpy().tolist()
        [0, 1]
    """


not_differentiable(reduce_all, reduce_any, argmax, argmin)


# ---- composed of the others ------------------------------------------------------------------------------------------


def reduce_logsumexp(
    input_tensor: TensorLike, axis: AxisLike = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """Computes `log(sum(exp(x)))` over dimensions, without overflow: the largest element is subtracted first.

    Args:
        input_tensor: a floating tensor of any shape.
        axis: an int or a list of ints, the dimension or dimensions to reduce; None for all.
        keepdims: retains the reduced dimensions, with length 1.

    Returns:
        A tensor of the same dtype, without the reduced dimensions. `-inf` for no elements.

    Raises:
        InvalidArgumentError: there is no such dimension, or `input_tensor` is not floating.

    Example:
        >>> tf.reduce_logsumexp([1000.0, 1000.0]).numpy().item()
        1000.6931762695312
    """
    largest: Any = reduce_max(input_tensor, axis, True)
    if not isinstance(input_tensor, Tensor) and not hasattr(type(input_tensor), "__tf_dispatch__"):
        input_tensor = convert(input_tensor)
    shift = stop_gradient(select_v2(is_finite(largest), largest, convert(0, largest.dtype)))
    result = log(reduce_sum(exp(subtract(input_tensor, shift)), axis, keepdims))
    return add(result, shift if keepdims else reshape(shift, shape_of(result)))


def reduce_variance(
    input_tensor: TensorLike, axis: AxisLike = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """Computes the variance over dimensions: the mean of the squared distances from the mean.

    Args:
        input_tensor: a floating or complex tensor of any shape.
        axis: an int or a list of ints, the dimension or dimensions to reduce; None for all.
        keepdims: retains the reduced dimensions, with length 1.

    Returns:
        A tensor of the same dtype, real if the input is complex, without the reduced dimensions.

    Raises:
        InvalidArgumentError: there is no such dimension, or it is named twice.
        TypeError: `input_tensor` is of integers.

    Example:
        >>> tf.math.reduce_variance([[1.0, 3.0], [2.0, 8.0]], axis=1).numpy().tolist()
        [1.0, 9.0]
    """
    if hasattr(type(input_tensor), "flat_values"):
        # Rows of different lengths do not broadcast against their means. Integers have the dtype of their mean.
        numbers: Any = input_tensor
        numbers = truediv(numbers, 1) if numbers.dtype.is_integer else numbers
        return reduce_mean(square(numbers), axis, keepdims) - square(reduce_mean(numbers, axis, keepdims))
    if not isinstance(input_tensor, Tensor):
        input_tensor = convert(input_tensor)
    means = reduce_mean(input_tensor, axis, True)
    if means.dtype.is_integer:
        raise TypeError(f"Input must be either real or complex. Received integer type {means.dtype}.")
    distances = subtract(input_tensor, means)
    if distances.dtype.is_complex:
        return reduce_mean(real(multiply(conj(distances), distances)), axis, keepdims)
    return reduce_mean(square(distances), axis, keepdims)


def reduce_std(
    input_tensor: TensorLike, axis: AxisLike = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """Computes the standard deviation over dimensions: the square root of the variance.

    Args:
        input_tensor: a floating or complex tensor of any shape.
        axis: an int or a list of ints, the dimension or dimensions to reduce; None for all.
        keepdims: retains the reduced dimensions, with length 1.

    Returns:
        A tensor of the same dtype, real if the input is complex, without the reduced dimensions.

    Raises:
        InvalidArgumentError: there is no such dimension, or it is named twice.
        TypeError: `input_tensor` is of integers.

    Example:
        >>> tf.math.reduce_std([[1.0, 3.0], [2.0, 8.0]], axis=1).numpy().tolist()
        [1.0, 3.0]
    """
    return sqrt(reduce_variance(input_tensor, axis, keepdims))


def count_nonzero(
    input: TensorLike,
    axis: AxisLike = None,
    keepdims: bool | None = None,
    dtype: DTypeLike = int64,
    name: str | None = None,
) -> Tensor:
    """Counts the elements that are not zero, over dimensions.

    Args:
        input: numeric, bools, or strings, of any shape. The empty string counts as zero.
        axis: an int or a list of ints, the dimension or dimensions to reduce; None for all.
        keepdims: retains the reduced dimensions, with length 1.
        dtype: the dtype of the result; int64 by default.

    Returns:
        A tensor of `dtype`, without the reduced dimensions.

    Raises:
        InvalidArgumentError: there is no such dimension, or it is named twice.

    Example:
        >>> tf.math.count_nonzero([[0, 1], [2, 3]], axis=1).numpy().tolist()
        [1, 2]
    """
    x = convert(input)
    zero = convert("" if x.dtype == "string" else False if x.dtype.is_bool else 0, x.dtype)
    counts = reduce_sum(cast(not_equal(x, zero), int64), axis, bool(keepdims))
    return cast(counts, as_dtype(dtype))
