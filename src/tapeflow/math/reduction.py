"""Reductions over dimensions."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from tapeflow.core.autodiff.gradients import conj, is_unranked, shape_of
from tapeflow.core.autodiff.tape import Call
from tapeflow.core.ops.bulk import SOME, along, by_value, may_have_nan
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.definition import ops, registry
from tapeflow.core.ops.op import not_differentiable, op
from tapeflow.core.ops.shape_rules import reduced_dimensions, reduction, text
from tapeflow.core.types.dtypes import DType, as_dtype, int32, int64
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import Tensor, invalid
from tapeflow.math.arithmetic import add, multiply, subtract
from tapeflow.math.casting import cast
from tapeflow.math.comparison import equal, is_finite, not_equal
from tapeflow.math.complex import real
from tapeflow.math.division import realdiv
from tapeflow.math.elementwise import exp, log, sqrt, square

Kernel = Callable[[torch.Tensor, Any, Any], torch.Tensor]


def _over(
    whole: Callable[[torch.Tensor], torch.Tensor],
    along: Kernel,
    none: Callable[[torch.Tensor], torch.Tensor] = torch.clone,
) -> Kernel:
    """The kernel of a reduction.

    Args:
        whole: reduces all dimensions away.
        along: `along(x, axis, keepdims)` reduces one dimension, or a tuple of at least one.
        none: what the reduction over no dimensions at all does.
    """

    def kernel(x: torch.Tensor, axis: Any, keepdims: Any) -> torch.Tensor:
        if axis is None and not keepdims:
            return whole(x)
        if type(keepdims) is bool and x.ndim and (type(axis) is int or (axis and type(axis[0]) is int)):
            return along(x, axis, keepdims)  # torch says if the dimensions are wrong
        axis = reduced_dimensions(axis, x.ndim)
        return along(x, axis, bool(keepdims)) if axis else none(x)

    return kernel


def _spread(dy: Any, shape: Any, axis: Any, keepdims: bool) -> Any:
    """What was reduced from `shape`, stretched back to it."""
    return ops.BroadcastTo(_with_reduced(dy, shape, axis, keepdims), shape)


def _with_reduced(dy: Any, shape: Any, axis: Any, keepdims: bool) -> Any:
    """What was reduced from `shape`, with the reduced dimensions, of length 1, so that it broadcasts against it."""
    if keepdims or axis is None:
        return dy
    if isinstance(axis, Tensor) or is_unranked(shape):
        return ops.Reshape(dy, _kept_lengths(shape, axis))
    axes = reduced_dimensions(axis, len(shape))
    return ops.Reshape(dy, tuple([1 if i in axes else d for i, d in enumerate(shape)]))


def _kept_lengths(shape: Any, axis: Any) -> Any:
    """A shape with 1 for the reduced dimensions, where these are not known while a graph is built."""
    from tapeflow import range, where

    shape = convert(list(shape), int32) if isinstance(shape, tuple) else shape.__tf_tensor__()
    rank = ops.Size(shape)
    axes = (ops.Reshape(cast(convert(axis), int32), (1, -1)) + rank) % rank
    places = ops.Reshape(range(rank), (-1, 1))
    return where(reduce_any(equal(places, axes), 1), 1, shape)


def _reduced_shape(x: torch.Tensor, axis: Any, keepdims: bool) -> Any:
    return reduction(TensorShape(x.shape), axis, keepdims).as_list()


# ---- sums and means --------------------------------------------------------------------------------------------------


# A float's sum is of its dtype anyhow; to say so takes a tenth of the time of a small sum.


def _sum_of_all(x: torch.Tensor) -> torch.Tensor:
    return torch.sum(x) if x.is_floating_point() else torch.sum(x, dtype=x.dtype)


def _sum_along(x: torch.Tensor, axis: Any, keepdims: bool) -> torch.Tensor:
    return torch.sum(x, axis, keepdims) if x.is_floating_point() else torch.sum(x, axis, keepdims, dtype=x.dtype)


@op(
    "Sum",
    kernel=_over(_sum_of_all, _sum_along),
    host=("axis",),
    rename={"keepdims": "keep_dims"},
    shape=reduction,
    keeps_nothing=True,
)
def reduce_sum(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None) -> Any:
    """Sums over dimensions. Integers wrap around.

    Args:
        input_tensor: numeric.
        axis: the dimension or dimensions to sum over; None for all.
        keepdims: keeps the reduced dimensions, with length 1.

    Raises:
        InvalidArgumentError: there is no such dimension, or it is given twice.

    Example:
        >>> tf.reduce_sum([[1, 2], [3, 4]], axis=0).numpy().tolist()
        [4, 6]
    """


@reduce_sum.gradient(needs="shapes")
def _(call: Call, dy: Any) -> Any:
    return _spread(dy, call.shape(0), *call.attrs)


class _Counts(dict[int, torch.Tensor]):
    """Numbers as scalar tensors of a dtype, made when they are first asked for."""

    def __init__(self, dtype: torch.dtype) -> None:
        self.dtype = dtype

    def __missing__(self, number: int) -> torch.Tensor:
        if len(self) >= 1024:
            self.clear()
        self[number] = count = torch.scalar_tensor(number, dtype=self.dtype)
        return count


# On the CPU torch's mean is a sum and a division by a Python number; one by a tensor is faster, and the same to the
# bit.
_COUNTS = {dtype: _Counts(dtype) for dtype in (torch.float32, torch.float64)}


def _mean_of_all(x: torch.Tensor) -> torch.Tensor:
    counts = _COUNTS.get(x.dtype)
    if counts is not None and type(x) is torch.Tensor and x.is_cpu:
        return torch.sum(x).div_(counts[x.numel()])
    return torch.mean(x) if x.is_floating_point() or x.is_complex() else _integer_mean(x, None, False)


def _mean_along(x: torch.Tensor, axis: Any, keepdims: bool) -> torch.Tensor:
    if x.is_floating_point() or x.is_complex():
        return torch.mean(x, axis, keepdims)
    return _integer_mean(x, axis, keepdims)


_any_mean = _over(_mean_of_all, _mean_along)


def _mean(x: torch.Tensor, axis: Any, keepdims: Any) -> torch.Tensor:
    counts = _COUNTS.get(x.dtype)
    if counts is not None and type(axis) is int and type(keepdims) is bool and type(x) is torch.Tensor and x.is_cpu:
        shape = x.shape
        count = shape[axis]
        if count in _EXACT and len(shape) == 2 and (axis == 1 or axis == -1) and not keepdims:
            return torch.mv(x, _shares(count, x.dtype))
        return torch.sum(x, axis, keepdims).div_(counts[count])
    return _any_mean(x, axis, keepdims)


# The mean of a short row is its product with so many times 1/n: one kernel, where the sum and the division are two. It
# is the same but for the order of the sum only where 1/n is a binary fraction.
_EXACT = frozenset({2, 4, 8, 16, 32, 64})


@functools.cache
def _shares(count: int, dtype: torch.dtype) -> torch.Tensor:
    return torch.full((count,), 1 / count, dtype=dtype)


def _integer_mean(x: torch.Tensor, axis: Any, keepdims: bool) -> torch.Tensor:
    """The mean of 64-bit sums, rounded towards zero; 0 for no elements."""
    total = torch.sum(x.view(torch.int64) if x.dtype == torch.uint64 else x.to(torch.int64), axis, keepdims)
    count = x.numel() // max(total.numel(), 1)
    if not count:
        return total.to(x.dtype)
    if x.dtype == torch.uint64:  # ATen does not divide it
        return torch.from_numpy(np.asarray(total.cpu().numpy().view(np.uint64) // np.uint64(count))).to(x.device)
    return torch.div(total, count, rounding_mode="trunc").to(x.dtype)


@op("Mean", kernel=_mean, host=("axis",), rename={"keepdims": "keep_dims"}, shape=reduction, keeps_nothing=True)
def reduce_mean(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None) -> Any:
    """The mean over dimensions. The mean of integers is an integer, rounded towards zero.

    Args:
        input_tensor: numeric.
        axis: the dimension or dimensions to reduce; None for all.
        keepdims: keeps the reduced dimensions, with length 1.

    Returns:
        A tensor of the same dtype; NaN where there was nothing to take the mean of (0 for integers).

    Raises:
        InvalidArgumentError: there is no such dimension, or it is given twice.

    Example:
        >>> tf.reduce_mean([[1.0, 2.0], [3.0, 4.0]], axis=0).numpy().tolist()
        [2.0, 3.0]
    """


@reduce_mean.gradient(needs="shapes")
def _(call: Call, dy: Any) -> Any:
    shape = call.shape(0)
    if isinstance(shape, tuple):
        count = math.prod(shape) // max(math.prod(shape_of(dy)), 1)
    else:  # not known while a graph is built
        size, maximum = ops.Size, ops.Maximum
        count = cast(size(shape.tensor) // maximum(size(dy), 1), dy.dtype)
    return _spread(realdiv(dy, count), shape, *call.attrs)


# ---- extremes --------------------------------------------------------------------------------------------------------


def _lowest(dtype: torch.dtype) -> float:
    return -math.inf if dtype.is_floating_point else torch.iinfo(dtype).min


def _highest(dtype: torch.dtype) -> float:
    return math.inf if dtype.is_floating_point else torch.iinfo(dtype).max


def _max_along(x: torch.Tensor, axis: Any, keepdims: bool) -> torch.Tensor:
    if not x.numel():
        return x.new_full(_reduced_shape(x, axis, keepdims), _lowest(x.dtype))
    return torch.amax(x, axis, keepdims)


def _min_along(x: torch.Tensor, axis: Any, keepdims: bool) -> torch.Tensor:
    if not x.numel():
        return x.new_full(_reduced_shape(x, axis, keepdims), _highest(x.dtype))
    return torch.amin(x, axis, keepdims)


@op(
    "Max",
    kernel=_over(lambda x: torch.max(x) if x.numel() else _max_along(x, None, False), _max_along),
    host=("axis",),
    rename={"keepdims": "keep_dims"},
    shape=reduction,
    orders=True,
    keeps_nothing=True,
)
def reduce_max(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None) -> Any:
    """The largest element over dimensions; NaN where there is a NaN. The gradient is shared by all largest elements.

    Args:
        input_tensor: real.
        axis: the dimension or dimensions to reduce; None for all.
        keepdims: keeps the reduced dimensions, with length 1.

    Returns:
        A tensor of the same dtype; of no elements the maximum is the lowest value there is.

    Raises:
        InvalidArgumentError: there is no such dimension, or it is given twice.

    Example:
        >>> tf.reduce_max([[1, 2], [4, 3]], axis=1).numpy().tolist()
        [2, 4]
    """


@op(
    "Min",
    kernel=_over(lambda x: torch.min(x) if x.numel() else _min_along(x, None, False), _min_along),
    host=("axis",),
    rename={"keepdims": "keep_dims"},
    shape=reduction,
    orders=True,
    keeps_nothing=True,
)
def reduce_min(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None) -> Any:
    """The smallest element over dimensions; NaN where there is a NaN. The gradient is shared by all smallest elements.

    Args:
        input_tensor: real.
        axis: the dimension or dimensions to reduce; None for all.
        keepdims: keeps the reduced dimensions, with length 1.

    Returns:
        A tensor of the same dtype; of no elements the minimum is the highest value there is.

    Raises:
        InvalidArgumentError: there is no such dimension, or it is given twice.

    Example:
        >>> tf.reduce_min([[1, 2], [4, 3]], axis=1).numpy().tolist()
        [1, 3]
    """


@reduce_max.gradient(needs="inputs outputs")
@reduce_min.gradient(needs="inputs outputs")
def _shared_by_extremes(call: Call, dy: Any) -> Any:
    x, y = call.inputs[0], call.outputs[0]
    axis, keepdims = call.attrs
    shape = shape_of(x)
    chosen = cast(equal(_with_reduced(y, shape, axis, keepdims), x), dy.dtype)
    ties = reduce_sum(chosen, axis, True) if axis is not None else reduce_sum(chosen)
    return multiply(realdiv(chosen, ties), _with_reduced(dy, shape, axis, keepdims))


# ---- products and norms ----------------------------------------------------------------------------------------------


def _prod_along(x: torch.Tensor, axis: Any, keepdims: bool) -> torch.Tensor:
    if type(axis) is int:
        return torch.prod(x, axis, keepdims, dtype=x.dtype)
    for dim in sorted(reduced_dimensions(axis, x.ndim), reverse=True):  # ATen takes one at a time
        x = torch.prod(x, dim, keepdims, dtype=x.dtype)
    return x


@op(
    "Prod",
    kernel=_over(lambda x: torch.prod(x, dtype=x.dtype), _prod_along),
    host=("axis",),
    rename={"keepdims": "keep_dims"},
    shape=reduction,
    keeps_nothing=True,
)
def reduce_prod(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None) -> Any:
    """The product over dimensions; 1 of no elements. Integers wrap around.

    Args:
        input_tensor: numeric.
        axis: the dimension or dimensions to reduce; None for all.
        keepdims: keeps the reduced dimensions, with length 1.

    Raises:
        InvalidArgumentError: there is no such dimension, or it is given twice.

    Example:
        >>> tf.reduce_prod([[1, 2], [3, 4]], axis=1).numpy().tolist()
        [2, 12]
    """


@reduce_prod.gradient(needs="inputs")
def _(call: Call, dy: Any) -> Any:
    """`dy` times the product of all the others: of those before, and of those after, so that zeros need no division."""
    x, (axis, keepdims) = call.inputs[0], call.attrs
    shape, reshape, transpose = shape_of(x), ops.Reshape, ops.Transpose
    if is_unranked(shape) or isinstance(axis, Tensor):
        return multiply(_with_reduced(dy, shape, axis, keepdims), _others(x, axis))
    reduced = reduced_dimensions(axis, len(shape))
    kept = [i for i in range(len(shape)) if i not in reduced]
    order = (*reduced, *kept)
    rows = math.prod([shape[i] for i in reduced])
    columns = math.prod([shape[i] for i in kept])
    others = _others_of_columns(reshape(transpose(x, order), (rows, columns)))
    others = reshape(others, tuple([shape[i] for i in order]))
    back = tuple([order.index(i) for i in range(len(shape))])
    return multiply(_with_reduced(dy, shape, axis, keepdims), transpose(others, back))


def _others_of_columns(table: Any) -> Any:
    """For each element of a table the product of the others of its column."""
    from tapeflow.math.cumulative import cumprod

    return multiply(conj(cumprod(table, 0, True)), conj(cumprod(table, 0, True, True)))


def _others(x: Any, axis: Any) -> Any:
    """For each element the product of the others that it is multiplied with, where the dimensions are not known yet."""
    from tapeflow import boolean_mask, range

    reshape, gather, transpose = (registry[name].function for name in ("Reshape", "GatherV2", "Transpose"))
    shape = ops.Shape(x)
    rank = ops.Size(shape)
    everything = range(rank)
    reduced = everything if axis is None else reshape(cast(convert(axis), int32), [-1]) % rank
    apart = ops.NotEqual(reshape(everything, [-1, 1]), reshape(reduced, [1, -1]))
    kept = boolean_mask(everything, reduce_all(apart, 1))
    order = ops.ConcatV2([reduced, kept], 0)
    turned = transpose(x, order)
    table = reshape(turned, [reduce_prod(gather(shape, reduced, 0)), reduce_prod(gather(shape, kept, 0))])
    others = reshape(_others_of_columns(table), gather(shape, order, 0))
    return transpose(others, ops.InvertPermutation(order))


def _norm_along(x: torch.Tensor, axis: Any, keepdims: bool) -> torch.Tensor:
    if x.is_floating_point():
        return torch.sqrt(torch.sum(torch.square(x), axis, keepdims))
    if x.is_complex():
        return torch.sqrt(torch.sum(torch.square(torch.abs(x)), axis, keepdims)).to(x.dtype)
    squares = torch.sum(torch.square(x.to(torch.int64)), axis, keepdims).to(x.dtype)  # wraps
    return torch.sqrt(squares.to(torch.float64)).nan_to_num(0.0).to(x.dtype)


@op(
    "EuclideanNorm",
    kernel=_over(lambda x: _norm_along(x, None, False), _norm_along, none=lambda x: torch.abs(x).to(x.dtype)),
    host=("axis",),
    rename={"keepdims": "keep_dims"},
    shape=reduction,
)
def reduce_euclidean_norm(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None) -> Any:
    """The Euclidean norm over dimensions: the square root of the sum of the squared magnitudes.

    Args:
        input_tensor: numeric; integers give integers, cut off.
        axis: the dimension or dimensions to reduce; None for all.
        keepdims: keeps the reduced dimensions, with length 1.

    Raises:
        InvalidArgumentError: there is no such dimension, or it is given twice.

    Example:
        >>> tf.math.reduce_euclidean_norm([[3.0, 4.0], [0.0, 2.0]], axis=1).numpy().tolist()
        [5.0, 2.0]
    """


@reduce_euclidean_norm.gradient(needs="inputs outputs")
def _(call: Call, dy: Any) -> Any:
    x, y = call.inputs[0], call.outputs[0]
    return multiply(x, _with_reduced(realdiv(dy, y), shape_of(x), *call.attrs))


# ---- logic -----------------------------------------------------------------------------------------------------------


@op(
    "All",
    kernel=_over(*along(torch.all, torch.amin)),
    host=("axis",),
    rename={"keepdims": "keep_dims"},
    shape=reduction,
)
def reduce_all(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None) -> Any:
    """Whether all elements are true, over dimensions; true of no elements.

    Args:
        input_tensor: of bools.
        axis: the dimension or dimensions to reduce; None for all.
        keepdims: keeps the reduced dimensions, with length 1.

    Raises:
        InvalidArgumentError: there is no such dimension, or it is given twice.

    Example:
        >>> tf.reduce_all([[True, False], [True, True]], axis=1).numpy().tolist()
        [False, True]
    """


@op(
    "Any",
    kernel=_over(*along(torch.any, torch.amax)),
    host=("axis",),
    rename={"keepdims": "keep_dims"},
    shape=reduction,
)
def reduce_any(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None) -> Any:
    """Whether any element is true, over dimensions; false of no elements.

    Args:
        input_tensor: of bools.
        axis: the dimension or dimensions to reduce; None for all.
        keepdims: keeps the reduced dimensions, with length 1.

    Raises:
        InvalidArgumentError: there is no such dimension, or it is given twice.

    Example:
        >>> tf.reduce_any([[True, False], [False, False]], axis=1).numpy().tolist()
        [True, False]
    """


# ---- where the extremes are ------------------------------------------------------------------------------------------


# NumPy's search along the last dimension is vectorized, and ATen's is not: a tenth of the time for rows of 1,000.
_BY_NUMPY = {torch.argmax: np.argmax, torch.argmin: np.argmin}
_VECTORIZED = frozenset({torch.float32, torch.float64, torch.int32, torch.int64})


def _position_of(extreme: Callable[..., torch.Tensor], worst: float) -> Callable[..., torch.Tensor]:
    """The kernel of ArgMax or ArgMin; NaN, which no comparison prefers, counts as the worst value."""

    def kernel(x: torch.Tensor, axis: Any, output_type: DType) -> torch.Tensor:
        if axis is None:
            axis = 0
        if not x.ndim:
            raise invalid(f"Expected dimension in the range [0, 0), but got {axis}")
        if x.is_floating_point() and may_have_nan(x):
            x = torch.nan_to_num(x, worst, math.inf, -math.inf)
        found = _by_numpy(extreme, x) if x.numel() >= SOME and axis in (-1, x.ndim - 1) else None
        if found is None:
            found = extreme(x, axis)
        return found if output_type is int64 else found.to(output_type.torch)

    return kernel


def _by_numpy(extreme: Callable[..., torch.Tensor], x: torch.Tensor) -> torch.Tensor | None:
    """The positions along the last dimension, where NumPy can look at the values."""
    if not by_value(x) or x.dtype not in _VECTORIZED or not x.is_contiguous():
        return None
    return torch.from_numpy(np.asarray(_BY_NUMPY[extreme](x.numpy(), axis=-1)))


def _position_rule(x: TensorShape, axis: Any, *_: Any) -> TensorShape:
    if axis is None:
        axis = 0
    if not isinstance(axis, int):
        raise TypeError("axis must be int or Tensor with integer datatype")
    if x.rank is None:
        return TensorShape(None)
    if not -x.rank <= axis < x.rank:
        raise invalid(f"Expected dimension in the range [{-x.rank}, {x.rank}), but got {axis}")
    if x[axis] == 0:
        raise invalid(f"Reduction axis {axis} is empty in shape {text(x)}")
    return reduction(x, axis)


@op(
    "ArgMax",
    kernel=_position_of(torch.argmax, -math.inf),
    host=("axis",),
    shape=_position_rule,
    orders=True,
    keeps_nothing=True,
)
def argmax(input: Any, axis: Any = None, output_type: Any = int64, name: str | None = None) -> Any:
    """The position of the largest element along a dimension; of the first, where several are equal.

    Args:
        input: real, or bools. NaN is never the largest.
        axis: the dimension, 0 by default.
        output_type: int16, uint16, int32 or int64.

    Returns:
        A tensor of `output_type`, without that dimension.

    Raises:
        InvalidArgumentError: there is no such dimension, or it is empty.

    Example:
        >>> tf.argmax([[1, 5, 3], [4, 2, 4]], axis=1).numpy().tolist()
        [1, 0]
    """


@op("ArgMin", kernel=_position_of(torch.argmin, math.inf), host=("axis",), shape=_position_rule, orders=True)
def argmin(input: Any, axis: Any = None, output_type: Any = int64, name: str | None = None) -> Any:
    """The position of the smallest element along a dimension; of the first, where several are equal.

    Args:
        input: real, or bools. NaN is never the smallest.
        axis: the dimension, 0 by default.
        output_type: int32 or int64.

    Returns:
        A tensor of `output_type`, without that dimension.

    Raises:
        InvalidArgumentError: there is no such dimension, or it is empty.

    Example:
        >>> tf.argmin([[1, 5, 3], [4, 2, 2]], axis=1).numpy().tolist()
        [0, 1]
    """


not_differentiable(reduce_all, reduce_any, argmax, argmin)


# ---- made of the others ----------------------------------------------------------------------------------------------


def reduce_logsumexp(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None) -> Any:
    """Computes `log(sum(exp(x)))` over dimensions, without overflow: the largest element is taken out first.

    Args:
        input_tensor: floating.
        axis: the dimension or dimensions to reduce; None for all.
        keepdims: keeps the reduced dimensions, with length 1.

    Returns:
        A tensor of the same dtype; `-inf` of no elements.

    Raises:
        InvalidArgumentError: there is no such dimension, or `input_tensor` is not floating.

    Example:
        >>> tf.reduce_logsumexp([1000.0, 1000.0]).numpy().item()
        1000.6931762695312
    """
    if not isinstance(input_tensor, Tensor) and not hasattr(type(input_tensor), "__tf_dispatch__"):
        input_tensor = convert(input_tensor)
    largest = reduce_max(input_tensor, axis, True)
    zero = convert(0, largest.dtype)
    select, constant = ops.SelectV2, ops.StopGradient
    shift = constant(select(is_finite(largest), largest, zero))
    result = log(reduce_sum(exp(subtract(input_tensor, shift)), axis, keepdims))
    return add(result, shift if keepdims else ops.Reshape(shift, shape_of(result)))


def reduce_variance(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None) -> Any:
    """The variance over dimensions: the mean of the squared distances from the mean.

    Args:
        input_tensor: floating or complex.
        axis: the dimension or dimensions to reduce; None for all.
        keepdims: keeps the reduced dimensions, with length 1.

    Returns:
        A tensor of the same dtype, real where the input is complex.

    Raises:
        InvalidArgumentError: there is no such dimension, or it is given twice.
        TypeError: `input_tensor` is of integers.

    Example:
        >>> tf.math.reduce_variance([[1.0, 3.0], [2.0, 8.0]], axis=1).numpy().tolist()
        [1.0, 9.0]
    """
    if hasattr(type(input_tensor), "flat_values"):
        from tapeflow.ragged.reducing import variance

        return variance(input_tensor, axis, keepdims)
    if not isinstance(input_tensor, Tensor):
        input_tensor = convert(input_tensor)
    means = reduce_mean(input_tensor, axis, True)
    if means.dtype.is_integer:
        raise TypeError(f"Input must be either real or complex. Received integer type {means.dtype}.")
    distances = subtract(input_tensor, means)
    if distances.dtype.is_complex:
        return reduce_mean(real(multiply(conj(distances), distances)), axis, keepdims)
    return reduce_mean(square(distances), axis, keepdims)


def reduce_std(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None) -> Any:
    """The standard deviation over dimensions: the square root of the variance.

    Args:
        input_tensor: floating or complex.
        axis: the dimension or dimensions to reduce; None for all.
        keepdims: keeps the reduced dimensions, with length 1.

    Returns:
        A tensor of the same dtype, real where the input is complex.

    Raises:
        InvalidArgumentError: there is no such dimension, or it is given twice.
        TypeError: `input_tensor` is of integers.

    Example:
        >>> tf.math.reduce_std([[1.0, 3.0], [2.0, 8.0]], axis=1).numpy().tolist()
        [1.0, 3.0]
    """
    return sqrt(reduce_variance(input_tensor, axis, keepdims))


def count_nonzero(
    input: Any, axis: Any = None, keepdims: bool | None = None, dtype: Any = int64, name: str | None = None
) -> Any:
    """How many elements are not zero, over dimensions.

    Args:
        input: numeric, bools, or strings (of which the empty one is zero).
        axis: the dimension or dimensions to reduce; None for all.
        keepdims: keeps the reduced dimensions, with length 1.
        dtype: of the result.

    Raises:
        InvalidArgumentError: there is no such dimension, or it is given twice.

    Example:
        >>> tf.math.count_nonzero([[0, 1], [2, 3]], axis=1).numpy().tolist()
        [1, 2]
    """
    if not isinstance(input, Tensor):
        input = convert(input)
    zero = convert("" if input.dtype == "string" else False if input.dtype.is_bool else 0, input.dtype)
    counts = reduce_sum(cast(not_equal(input, zero), int64), axis, bool(keepdims))
    return cast(counts, as_dtype(dtype))
