"""`tf.experimental.numpy`: reductions along axes, and sorting."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow import math
from tapeflow.array import sorting
from tapeflow.array.concat_and_split import concat
from tapeflow.array.creation import constant
from tapeflow.array.masks import boolean_mask, where
from tapeflow.array.properties import rank as rank_op
from tapeflow.array.properties import shape as shape_of
from tapeflow.array.reshapes import broadcast_to, reshape
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.types.aliases import AxisLike, DTypeLike, TensorLike
from tapeflow.core.types.dtypes import bool_, int32, int64
from tapeflow.core.values.tensor import Tensor
from tapeflow.experimental.numpy.documentation import named_function, numpy_function
from tapeflow.experimental.numpy.manipulation import atleast_1d
from tapeflow.experimental.numpy.types import (
    Function,
    as_array,
    as_inexact,
    axis_of,
    by_rank,
    default_float,
    rank_of,
    result_type,
)
from tapeflow.graph.ir.python_op import check_or_defer
from tapeflow.linalg.contraction import tensordot
from tapeflow.math.casting import cast


def _widen_integers(a: Tensor) -> Any:
    """Returns integers and bools as 64-bit integers: NumPy adds and multiplies in these."""
    if a.dtype is bool_:
        return cast(a, int64)
    wide = result_type(a.dtype, np.uint64 if a.dtype.is_unsigned else np.int64) if a.dtype.is_integer else a.dtype
    return a if a.dtype is wide else cast(a, wide)


def _reduce_array(
    of: Function, a: Any, axis: AxisLike, dtype: DTypeLike, keepdims: bool | None, widen: Function | None,
    of_bools: Function | None = None,
) -> Any:  # fmt: skip
    """Returns a reduction.

    Args:
        of: TensorFlow's reduction.
        a: the operand, anything that converts to a tensor.
        axis: an int or a sequence of ints, the axes; None for all.
        dtype: the dtype of the computation; None for the operand's dtype.
        keepdims: whether to keep dimensions of size 1.
        widen: the cast of integers if there is no dtype. None leaves integers unchanged, and reduces bools by
            `of_bools`.
        of_bools: the reduction of bools, for `dtype=bool` too.
    """
    a = as_array(a, dtype or None)
    if of_bools is not None and a.dtype is bool_ and (dtype or widen is None):
        of = of_bools
    elif not dtype and widen is not None:
        a = widen(a)
    if isinstance(axis, Tensor) and axis.dtype not in (int32, int64):
        axis = cast(axis, int64)
    return of(a, axis=axis, keepdims=bool(keepdims))


def _refuse_out(out: object) -> None:
    if out is not None:
        raise ValueError("Setting out is not supported.")


@numpy_function("[[1, 2], [3, 4]], 0")
def sum(a: TensorLike, axis: AxisLike = None, dtype: DTypeLike = None, keepdims: bool | None = None) -> Tensor:
    """Adds up elements; integers as 64-bit ones."""
    return _reduce_array(math.reduce_sum, a, axis, dtype, keepdims, _widen_integers, math.reduce_any)


@numpy_function("[[1, 2], [3, 4]], 0")
def prod(a: TensorLike, axis: AxisLike = None, dtype: DTypeLike = None, keepdims: bool | None = None) -> Tensor:
    """Multiplies elements; integers as 64-bit ones."""
    return _reduce_array(math.reduce_prod, a, axis, dtype, keepdims, _widen_integers, math.reduce_all)


@numpy_function("[[1, 2], [3, 4]], 0")
def mean(
    a: TensorLike, axis: AxisLike = None, dtype: DTypeLike = None, out: None = None, keepdims: bool | None = None
) -> Tensor:
    """Averages elements; integers as floats."""
    _refuse_out(out)
    return _reduce_array(math.reduce_mean, a, axis, dtype, keepdims, as_inexact)


@numpy_function("[[1, 2], [3, 4]], 0")
def amax(a: TensorLike, axis: AxisLike = None, out: None = None, keepdims: bool | None = None) -> Tensor:
    """Returns the largest elements."""
    _refuse_out(out)
    return _reduce_array(math.reduce_max, a, axis, None, keepdims, None, math.reduce_any)


@numpy_function("[[1, 2], [3, 4]], 0")
def amin(a: TensorLike, axis: AxisLike = None, out: None = None, keepdims: bool | None = None) -> Tensor:
    """Returns the smallest elements."""
    _refuse_out(out)
    return _reduce_array(math.reduce_min, a, axis, None, keepdims, None, math.reduce_all)


@numpy_function("[[1, 2], [3, 4]], 0")
def max(a: TensorLike, axis: AxisLike = None, keepdims: bool | None = None) -> Tensor:
    """Returns the largest elements."""
    return amax(a, axis, keepdims=keepdims)


@numpy_function("[[1, 2], [3, 4]], 0")
def min(a: TensorLike, axis: AxisLike = None, keepdims: bool | None = None) -> Tensor:
    """Returns the smallest elements."""
    return amin(a, axis, keepdims=keepdims)


@numpy_function("[[1, 2], [3, 7]], 0")
def ptp(a: TensorLike, axis: AxisLike = None, keepdims: bool | None = None) -> Tensor:
    """Returns the difference of the largest and the smallest element."""
    return amax(a, axis, keepdims=keepdims) - amin(a, axis, keepdims=keepdims)


@numpy_function("[[1, 2], [3, 7]], 0")
def std(a: TensorLike, axis: AxisLike = None, keepdims: bool | None = None) -> Tensor:
    """Returns standard deviations."""
    return _reduce_array(math.reduce_std, a, axis, None, keepdims, as_inexact)


@numpy_function("[[1, 2], [3, 7]], 0")
def var(
    a: TensorLike,
    axis: AxisLike = None,
    dtype: DTypeLike = None,
    out: None = None,
    ddof: int = 0,
    keepdims: bool | None = None,
) -> Tensor:
    """Returns variances."""
    _refuse_out(out)

    def with_freedom(x: Tensor, axis: AxisLike, keepdims: bool) -> Any:
        centered = x - math.reduce_mean(x, axis, keepdims=True)
        squares = cast(math.real(centered * math.conj(centered)), x.dtype)
        total = math.reduce_sum(squares, axis, keepdims)
        count = math.reduce_sum(ones_of(x), axis, keepdims)
        return total / (count - cast(ddof, x.dtype))

    def ones_of(x: Tensor) -> Any:
        return broadcast_to(cast(1, x.dtype), shape_of(x))

    kind = result_type(as_array(a), dtype) if dtype else None
    result = _reduce_array(with_freedom if ddof else math.reduce_variance, a, axis, kind, keepdims, as_inexact)
    return cast(result, dtype) if dtype else result


@numpy_function("[[1, 0], [3, 4]], 0")
def all(a: TensorLike, axis: AxisLike = None, keepdims: bool | None = None) -> Tensor:
    """Tells whether all elements are true."""
    return math.reduce_all(as_array(a, bool), axis, bool(keepdims))


@numpy_function("[[1, 0], [3, 0]], 0")
def any(a: TensorLike, axis: AxisLike = None, keepdims: bool | None = None) -> Tensor:
    """Tells whether an element is true."""
    return math.reduce_any(as_array(a, bool), axis, bool(keepdims))


@numpy_function("[[1, 0], [3, 4]], 0")
def count_nonzero(a: TensorLike, axis: AxisLike = None) -> Tensor:
    """Counts the elements that are not zero."""
    return math.count_nonzero(as_array(a), axis)


def _without_nan(a: Any, instead: float) -> Any:
    a = as_array(a)
    return where(math.is_nan(a), cast(instead, a.dtype), a) if a.dtype.is_floating or a.dtype.is_complex else a


@numpy_function("[1., np.nan, 2.]")
def nansum(a: TensorLike, axis: AxisLike = None, dtype: DTypeLike = None, keepdims: bool = False) -> Tensor:
    """Adds up the elements that are not NaN."""
    return sum(_without_nan(a, 0), axis, dtype, keepdims)


@numpy_function("[1., np.nan, 2.]")
def nanprod(a: TensorLike, axis: AxisLike = None, dtype: DTypeLike = None, keepdims: bool = False) -> Tensor:
    """Multiplies the elements that are not NaN."""
    return prod(_without_nan(a, 1), axis, dtype, keepdims)


@numpy_function("[1., np.nan, 2.]")
def nanmean(a: TensorLike, axis: AxisLike = None, dtype: DTypeLike = None, keepdims: bool | None = None) -> Tensor:
    """Averages the elements that are not NaN."""
    x = as_array(a)
    if x.dtype is bool_ or x.dtype.is_integer:
        return mean(x, axis, dtype, keepdims=keepdims)
    kind = dtype or x.dtype
    count = sum(math.logical_not(math.is_nan(x)), axis, kind, keepdims)
    return nansum(x, axis, kind, bool(keepdims)) / count


def _check_sizes(sizes: Tensor, sizes_of_weights: Tensor) -> None:
    """Raises InvalidArgumentError for weights of another shape than the elements'. As in TensorFlow, the shapes are
    compared as tensors, which broadcast."""
    if not np.all(sizes.numpy() == sizes_of_weights.numpy()):
        raise InvalidArgumentError.of(
            f"Expected the shape of `weights`, {sizes_of_weights}, to be that of `a`, {sizes}"
        )


@numpy_function("[[1., 2.], [3., 4.]], 0")
def average(
    a: TensorLike, axis: int | None = None, weights: TensorLike | None = None, returned: bool = False
) -> Tensor | tuple[Tensor, Tensor]:
    """Averages elements, with weights; with `returned`, gives the sum of the weights too.

    Raises:
        TypeError, ValueError: an argument is invalid for `numpy.average`.
        InvalidArgumentError: `axis` is out of range, or the shape of `weights` differs from `a.shape`.
    """
    if axis is not None and not isinstance(axis, int):
        raise ValueError(f"Argument `axis` must be an integer. Received axis={axis} (of type {type(axis)})")
    x = as_array(a)
    if weights is None:
        x = as_inexact(x)
        total: Any = broadcast_to(cast(1, x.dtype), shape_of(x))
        weights_of_axis = total
    else:
        exact = not (x.dtype.is_floating or x.dtype.is_complex)
        kind = result_type(x.dtype, weights, *([default_float()] if exact else []))
        x, weights_of_axis = as_array(x, kind), as_array(weights, kind)
    if axis is None or x.shape.rank == weights_of_axis.shape.rank:
        check_or_defer(_check_sizes, shape_of(x), shape_of(weights_of_axis))
        total = math.reduce_sum(weights_of_axis, axis)
        result = math.reduce_sum(x * weights_of_axis, axis) / total
    else:
        total = math.reduce_sum(weights_of_axis)
        result = tensordot(x, weights_of_axis, [[axis], [0]]) / total
    return (result, broadcast_to(total, shape_of(result))) if returned else result


# ---- along one axis --------------------------------------------------------------------------------------------------


def _accumulate_array(of: Function, a: Any, axis: int | None, dtype: Any) -> Any:
    a = as_array(a, dtype)
    if dtype is None and a.dtype.is_integer:
        a = as_array(a, result_type(a.dtype, np.int64))
    if axis is None:
        return of(reshape(a, [-1]), 0)
    return of(a, axis + rank_op(a) if axis < 0 else axis)


@numpy_function("[[1, 2], [3, 4]], 0")
def cumsum(a: TensorLike, axis: int | None = None, dtype: DTypeLike = None) -> Tensor:
    """Adds up elements cumulatively."""
    return _accumulate_array(math.cumsum, a, axis, dtype)


@numpy_function("[[1, 2], [3, 4]], 0")
def cumprod(a: TensorLike, axis: int | None = None, dtype: DTypeLike = None) -> Tensor:
    """Multiplies elements cumulatively."""
    return _accumulate_array(math.cumprod, a, axis, dtype)


@numpy_function("[1, 4, 9], 2")
def diff(a: TensorLike, n: int = 1, axis: int = -1) -> Tensor:
    """Subtracts each element from the next, n times; of bools, tells where they differ.

    Raises:
        TypeError, ValueError: an argument is invalid for `numpy.diff`.
    """
    x = as_array(a)
    rank = rank_of(x, "diff")
    place = axis_of(axis, rank)
    if place < 0 < rank:
        raise IndexError(f"axis {axis} is out of bounds for an array of rank {rank}")
    if place >= rank:
        raise ValueError(f"Argument `axis` (received axis={axis}) is out of bounds for input {x} of rank {rank}.")
    if n < 0:
        raise ValueError(f"Argument `order` must be a non-negative integer. Received: axis={n}")
    before = (slice(None),) * int(place)
    for _ in range(n):
        after, first = x[(*before, slice(1, None))], x[(*before, slice(None, -1))]
        x = math.not_equal(after, first) if x.dtype is bool_ else math.subtract(after, first)
    return x


def _arg_extremum(name: str, of: Function, summary: str) -> Function:
    def function(a: TensorLike, axis: int | None = None) -> Tensor:
        x = as_array(a)
        return of(reshape(x, [-1]), 0) if axis is None else of(atleast_1d(x), axis)

    return named_function(function, name, summary, "[[1, 4], [3, 2]], 0")


argmax = _arg_extremum("argmax", math.argmax, "Returns the indices of the largest elements.")
argmin = _arg_extremum("argmin", math.argmin, "Returns the indices of the smallest elements.")


def _check_order(kind: str, kinds: tuple[str, ...], order: None) -> None:
    if kind not in kinds:
        supported = " and ".join(f'kind="{k}"' for k in kinds)
        raise ValueError(
            f"Invalid value for argument `kind`. Only {supported} {'is' if len(kinds) == 1 else 'are'} supported. "
            f"Received: kind={kind}"
        )
    if order is not None:
        raise ValueError("The `order` argument is not supported. Pass order=None")


@numpy_function("[3, 1, 2]")
def sort(a: TensorLike, axis: int | None = -1, kind: str = "quicksort", order: None = None) -> Tensor:
    """Sorts elements along an axis.

    Args:
        a, axis, kind, order: as for `numpy.sort`; `a` is a tensor with at least one dimension.
    """
    _check_order(kind, ("quicksort",), order)
    x = as_array(a)
    return sorting.sort(reshape(x, [-1]), 0) if axis is None else sorting.sort(x, axis)


@numpy_function("[3, 1, 2]")
def argsort(a: TensorLike, axis: int | None = -1, kind: str = "quicksort", order: None = None) -> Tensor:
    """Returns the indices that sort elements along an axis, as int64."""
    _check_order(kind, ("quicksort", "stable"), order)
    x = as_array(a)
    if x.dtype.is_complex:
        raise TypeError(f"argsort does not support complex64/complex128 dtypes. Received dtype: {x.dtype!r}")
    if axis is None:
        x, axis = reshape(x, [-1]), 0
    place, stable = axis, kind == "stable"
    indices = by_rank(x, 0, lambda: constant([0]), lambda: sorting.argsort(x, place, stable=stable))
    return cast(indices, int64)


@numpy_function("[True, False, True], [1, 2, 3]")
def compress(condition: TensorLike, a: TensorLike, axis: int | None = None) -> Tensor:
    """Returns the slices along an axis that a condition selects. Slices beyond the condition's length are left out.

    Args:
        condition, a, axis: as for `numpy.compress`; `condition` is a vector, `a` a tensor of any shape.
    """
    mask = as_array(condition, bool)
    if mask.shape.rank != 1:
        raise ValueError("condition must be a 1-d array.")
    x = as_array(a)
    if axis is None or x.shape.rank == 0:
        x, axis = reshape(x, [-1]), 0
    place = axis_of(axis, rank_of(x, "compress"))
    length = shape_of(x)[place]
    missing = math.maximum(length - shape_of(mask)[0], 0)
    mask = concat([mask, broadcast_to(False, reshape(missing, [1]))], 0)
    return boolean_mask(x, mask, axis=place)
