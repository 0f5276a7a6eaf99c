"""`tf.experimental.numpy`: arrays from values, ranges, and matrices of a pattern."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from tapeflow.array import ranges
from tapeflow.array.concat_and_split import concat
from tapeflow.array.creation import fill
from tapeflow.array.creation import ones as tf_ones
from tapeflow.array.creation import ones_like as tf_ones_like
from tapeflow.array.creation import range as tf_range
from tapeflow.array.creation import zeros as tf_zeros
from tapeflow.array.creation import zeros_like as tf_zeros_like
from tapeflow.array.identities import identity as tf_identity
from tapeflow.array.masks import where
from tapeflow.array.properties import ensure_shape
from tapeflow.array.properties import rank as rank_op
from tapeflow.array.properties import shape as shape_of
from tapeflow.array.reshapes import broadcast_to as tf_broadcast_to
from tapeflow.array.reshapes import expand_dims, reshape
from tapeflow.core.context import state
from tapeflow.core.ops.convert import host_value
from tapeflow.core.ops.static import host_static
from tapeflow.core.types.aliases import DTypeLike, ShapeLike, TensorLike
from tapeflow.core.types.dtypes import as_dtype
from tapeflow.core.types.dtypes import bool_ as tf_bool
from tapeflow.core.types.dtypes import int32 as tf_int32
from tapeflow.core.values.tensor import Tensor, invalid
from tapeflow.experimental.numpy.documentation import SHAPES, numpy_function
from tapeflow.experimental.numpy.manipulation import atleast_1d, moveaxis, nonzero
from tapeflow.experimental.numpy.math import log10, sign
from tapeflow.experimental.numpy.types import as_array, convert, default_float, preferences, rank_of, result_type
from tapeflow.linalg import band_part
from tapeflow.linalg import diag as tf_diag
from tapeflow.linalg import diag_part as tf_diag_part
from tapeflow.math import floor, real
from tapeflow.math import pow as tf_pow
from tapeflow.math.casting import cast
from tapeflow.math.extrema import maximum
from tapeflow.sparse.tensor import SparseTensor

_MOST_DIMENSIONS = 32


# ---- from values -----------------------------------------------------------------------------------------------------


@numpy_function("[[1, 2], [3, 4]], float")
def array(val: TensorLike, dtype: DTypeLike = None, copy: bool = True, ndmin: int = 0) -> Tensor:
    """Returns the tensor of a value, with the dtype that NumPy would give it."""
    if ndmin > _MOST_DIMENSIONS:
        raise ValueError(f"ndmin bigger than allowable number of dimensions: {_MOST_DIMENSIONS}.")
    result = as_array(val, dtype)
    if copy:
        result = tf_identity(result)
    if not ndmin or (result.shape.rank or 0) >= ndmin:
        return result
    missing = maximum(ndmin - rank_op(result), 0)
    return reshape(result, concat([fill([missing], 1), shape_of(result)], 0))


@numpy_function("[1, 2]")
def asarray(a: TensorLike, dtype: DTypeLike = None) -> Tensor:
    """Returns the tensor of a value, with the dtype that NumPy would give it."""
    return as_array(a, dtype)


@numpy_function("[1, 2]")
def asanyarray(a: TensorLike, dtype: DTypeLike = None) -> Tensor:
    """Returns the tensor of a value, as `asarray`."""
    return as_array(a, dtype)


@numpy_function("3")
def ascontiguousarray(a: TensorLike, dtype: DTypeLike = None) -> Tensor:
    """Returns the tensor of a value, of at least one dimension."""
    return array(a, dtype, ndmin=1)


@numpy_function("[1, 2]")
def copy(a: TensorLike) -> Tensor:
    """Returns a tensor of the same values."""
    return array(a, copy=True)


@numpy_function("[2, 2]")
def zeros(shape: ShapeLike, dtype: DTypeLike = float) -> Tensor:
    """Returns a tensor of zeros."""
    if dtype:
        return tf_zeros(shape, result_type(dtype))
    return tf_zeros(shape, as_dtype(np.float32 if preferences.float32 else np.float64))


@numpy_function("[[1, 2]]")
def zeros_like(a: TensorLike, dtype: DTypeLike = None) -> Tensor:
    """Returns a tensor of zeros of the shape and dtype of another."""
    return tf_zeros_like(a, result_type(dtype or (_array_like(a) if state.graph is None else a)))


@numpy_function("2", comparison=SHAPES)
def empty(shape: ShapeLike, dtype: DTypeLike = float) -> Tensor:
    """Returns a tensor of zeros: memory is never left as it was."""
    return zeros(shape, dtype)


@numpy_function("[[1, 2]]", comparison=SHAPES)
def empty_like(a: TensorLike, dtype: DTypeLike = None) -> Tensor:
    """Returns a tensor of zeros of the shape and dtype of another."""
    return zeros_like(a, dtype)


@numpy_function("[2, 2]")
def ones(shape: ShapeLike, dtype: DTypeLike = float) -> Tensor:
    """Returns a tensor of ones."""
    return tf_ones(shape, result_type(dtype) if dtype else as_dtype(np.float32))


@numpy_function("[[1, 2]]")
def ones_like(a: TensorLike, dtype: DTypeLike = None) -> Tensor:
    """Returns a tensor of ones with the shape and dtype of another."""
    value = _array_like(a)
    return tf_ones_like(value, result_type(dtype or value))


def _array_like(value: TensorLike) -> TensorLike:
    """Returns a value that has a dtype or converts to an array. A sparse tensor becomes an array."""
    return as_array(value) if isinstance(value, SparseTensor) else value


@numpy_function("[2, 2], 7")
def full(shape: ShapeLike, fill_value: TensorLike, dtype: DTypeLike = None) -> Tensor:
    """Returns a tensor of a shape, filled with a value that broadcasts to it.

    Raises:
        TypeError, ValueError: an argument is invalid for `numpy.full`.
        InvalidArgumentError: the value does not broadcast to the shape.
    """
    shape = atleast_1d(convert(shape, tf_int32))
    return tf_broadcast_to(as_array(fill_value, dtype), shape)


@numpy_function("[[1, 2]], 7")
def full_like(
    a: TensorLike,
    fill_value: TensorLike,
    dtype: DTypeLike = None,
    order: str = "K",
    subok: bool = True,
    shape: ShapeLike = None,
) -> Tensor:
    """Returns a tensor of the shape and dtype of another, filled with a value; order, subok and shape can't be set.

    Raises:
        TypeError, ValueError: an argument is invalid for `numpy.full_like`.
        InvalidArgumentError: the value does not broadcast to the shape.
    """
    if order != "K":
        raise ValueError("Non-standard orders are not supported.")
    if not subok:
        raise ValueError("subok being False is not supported.")
    if shape:
        raise ValueError("Overriding the shape is not supported.")
    x = as_array(a)
    return tf_broadcast_to(as_array(fill_value, dtype or x.dtype), shape_of(x))


# ---- ranges ----------------------------------------------------------------------------------------------------------


@numpy_function("1, 9, 2")
def arange(start: Any, stop: Any = None, step: Any = 1, dtype: DTypeLike = None) -> Tensor:
    """Returns the numbers from start to stop, without it, by steps."""
    if not step:
        raise ValueError("step must be non-zero.")
    kind = result_type(dtype) if dtype else result_type(*(v for v in (start, step, stop) if v is not None))
    first, last = (0, start) if stop is None else (start, stop)
    if (step > 0 and first > last) or (step < 0 and first < last):
        return tf_zeros([0], kind)
    return cast(tf_range(first, last, step), kind)


@numpy_function("1., 3., 5")
def linspace(
    start: TensorLike,
    stop: TensorLike,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: DTypeLike = float,
    axis: int = 0,
) -> Tensor | tuple[Tensor, Tensor]:
    """Returns numbers in even steps from start to stop."""
    kind = _inexact_type(start, stop) if dtype else None
    first, last = as_array(start, kind), as_array(stop, kind)
    if num < 0:
        raise ValueError(f"Argument `num` (number of samples) must be a non-negative integer. Received: num={num}")
    steps = num - 1 if endpoint else num
    step: Any = (last - first) / cast(steps, last.dtype) if steps > 0 else convert(float("nan"))
    end = last if endpoint or num <= 1 else cast(last, step.dtype) - step
    result = ranges.linspace(cast(first, end.dtype), end, num, axis=axis)
    if kind is not None:
        result = cast(floor(result) if kind.is_integer else result, kind)
    return (result, step) if retstep else result


def _inexact_type(start: Any, stop: Any) -> Any:
    """Returns the dtype of the values between two, which has fractions."""
    return result_type(start * 1.0, stop * 1.0)


@numpy_function("0., 2., 5")
def logspace(
    start: TensorLike,
    stop: TensorLike,
    num: int = 50,
    endpoint: bool = True,
    base: float = 10.0,
    dtype: DTypeLike = None,
    axis: int = 0,
) -> Tensor:
    """Returns numbers that are evenly spaced as logarithms."""
    exponents: Any = linspace(start, stop, num, endpoint, dtype=_inexact_type(start, stop), axis=axis)
    return tf_pow(cast(base, exponents.dtype), exponents)


@numpy_function("1., 1000., 4")
def geomspace(
    start: TensorLike, stop: TensorLike, num: int = 50, endpoint: bool = True, dtype: DTypeLike = None, axis: int = 0
) -> Tensor:
    """Returns numbers that are each a constant multiple of the one before.

    Raises:
        TypeError, ValueError: an argument is invalid for `numpy.geomspace`.
        InvalidArgumentError: the shapes do not broadcast.
    """
    kind = as_dtype(dtype) if dtype else result_type(start, stop, float(num), default_float())
    computed = np.promote_types(kind.as_numpy_dtype, np.float32)
    first, last = as_array(start, computed), as_array(stop, computed)
    both_negative = (1 - sign(real(first))) * (1 - sign(real(last))) // 2
    flip = cast(1 - both_negative, first.dtype)
    powers = logspace(log10(flip * first), log10(flip * last), num, endpoint, dtype=computed)
    result = flip * powers
    return cast(moveaxis(result, 0, axis) if axis else result, kind)


@numpy_function("[1, 2], [3, 4, 5]")
def meshgrid(*xi: TensorLike, **kwargs: Any) -> list[Tensor]:
    """Returns the coordinates of a grid's points, an array for each axis; sparse ones are not supported."""
    if kwargs.get("sparse", False):
        raise ValueError("Function `meshgrid` does not support returning sparse arrays yet. Received: sparse=True")
    if not kwargs.get("copy", True):
        raise ValueError("Function `meshgrid` only supports copy=True. Received: copy=False")
    return ranges.meshgrid(*(as_array(x) for x in xi), indexing=kwargs.get("indexing", "xy"))


@numpy_function("[0, 1], [2]", comparison="[np.shape(t) for t in {}] == [np.shape(t) for t in {}]")
def ix_(*args: TensorLike) -> list[Tensor]:
    """Returns indices, or the positions of True, shaped to index an open mesh together.

    Args:
        args: vectors of integers or bools.
    """
    meshed = []
    for place, arg in enumerate(args):
        index = as_array(arg)
        if rank_of(index, "ix_") != 1:
            raise ValueError(f"Arguments must be 1-d, got arg {place} of rank {index.shape.rank}")
        if index.dtype is tf_bool:
            index = nonzero(index)[0]
        elif not index.dtype.is_integer:
            raise ValueError(f"Only integer and bool dtypes are supported, got {index.dtype!r}")
        meshed.append(reshape(index, [-1 if i == place else 1 for i in builtins.range(len(args))]))
    return meshed


# ---- matrices --------------------------------------------------------------------------------------------------------


@numpy_function("2, 3, 1")
def eye(N: int, M: int | None = None, k: int = 0, dtype: DTypeLike = float) -> Tensor:
    """Returns a matrix with ones on a diagonal."""
    rows, columns, k = int(N), int(M or N), int(k)
    kind = result_type(dtype) if dtype else as_dtype(np.float32)
    length = min(rows + min(k, 0), columns - max(k, 0))
    if length <= 0:
        return tf_zeros([rows, columns], kind)
    return tf_diag(tf_ones([length], kind), k=k, num_rows=rows, num_cols=columns)


@numpy_function("3")
def identity(n: int, dtype: DTypeLike = float) -> Tensor:
    """Returns an identity matrix."""
    return eye(n, n, dtype=dtype)


@numpy_function("[1, 2], 1")
def diag(v: TensorLike, k: int = 0) -> Tensor:
    """Returns the matrix that has a vector as a diagonal, or a diagonal of a matrix.

    Args:
        v, k: as for `numpy.diag`; a tensor with one or two dimensions takes the place of an array.
    """
    x = as_array(v)
    rank = rank_of(x, "diag")
    if rank not in (1, 2):
        raise ValueError(f"Shape {x.shape} must have rank 1 or 2")
    if rank == 2:
        rows, columns = x.shape
        if (rows is not None and k <= -rows) or (columns is not None and k >= columns):
            return tf_zeros([0], x.dtype)
        return tf_diag_part(x, k=k)
    return tf_zeros([abs(k), abs(k)], x.dtype) if x.shape[0] == 0 else tf_diag(x, k=k)


@numpy_function("[[1, 2], [3, 4]]")
def diagflat(v: TensorLike, k: int = 0) -> Tensor:
    """Returns the matrix that has the elements of a tensor as a diagonal."""
    return diag(reshape(as_array(v), [-1]), k)


@numpy_function("3")
def diag_indices(n: int, ndim: int = 2) -> tuple[Tensor, ...]:
    """Returns the indices of the main diagonal, one for each axis."""
    for name, value in (("n", n), ("ndim", ndim)):
        if value < 0:
            raise ValueError(f"{name} argument to diag_indices must be nonnegative, got {value}")
    return (tf_range(n),) * ndim


@numpy_function("3, 4, 1")
def tri(N: int, M: int | None = None, k: int = 0, dtype: DTypeLike = None) -> Tensor:
    """Returns a matrix with ones on and below a diagonal."""
    columns = N if M is None else M
    kind = result_type(dtype if dtype is not None else float)
    if k < 0:  # inverts the part above: `band_part` with a negative number keeps all
        above = band_part(fill([N, columns], True), min(-k - 1, N), -1)
        return cast(tf_zeros_like(above) if -k > N else where(above, False, True), kind)
    return band_part(tf_ones([N, columns], kind), -1, min(k, columns))


def _take_triangle(m: Any, k: int, name: str, lower: bool) -> Any:
    m = as_array(m)
    if m.shape.rank is None:
        raise ValueError(f"Argument to {name} should have known rank")
    if m.shape.rank < 2:
        raise ValueError(f"Argument to {name} must have rank at least 2")
    rows, columns = m.shape[-2:]
    if rows is None or columns is None:
        raise ValueError("Currently, the last two dimensions of the input array need to be known.")
    zero = tf_zeros([], m.dtype)
    mask = tri(rows, columns, k, bool)
    return where(mask, m, zero) if lower else where(mask, zero, m)


@numpy_function("[[1, 2], [3, 4]]")
def tril(m: TensorLike, k: int = 0) -> Tensor:
    """Returns matrices with zeros above a diagonal.

    Args:
        m, k: as for `numpy.tril`; `m` is a tensor [..., m, n].
    """
    return _take_triangle(m, k, "tril", True)


@numpy_function("[[1, 2], [3, 4]]")
def triu(m: TensorLike, k: int = 0) -> Tensor:
    """Returns matrices with zeros below a diagonal.

    Args:
        m, k: as for `numpy.triu`; `m` is a tensor [..., m, n].
    """
    return _take_triangle(m, k - 1, "triu", False)


@numpy_function("[1, 2, 3], 2")
def vander(x: TensorLike, N: int | None = None, increasing: bool = False) -> Tensor:
    """Returns a Vandermonde matrix: the powers of each element.

    Args:
        x, N, increasing: as for `numpy.vander`; `x` is a vector.
    """
    tensor = as_array(x)
    if N is None and tensor.shape.rank == 0:
        raise invalid("slice index 0 of dimension 0 out of bounds. [Op:StridedSlice] name: strided_slice/")
    static = host_static(host_value(N))
    if not isinstance(static, Tensor) and static is not None and static < 0:
        raise ValueError("N must be nonnegative")
    if tensor.shape.rank not in (None, 1):
        raise ValueError("x must be a one-dimensional array")
    vector = ensure_shape(tensor, [None])
    columns = shape_of(vector)[0] if N is None else N
    powers = tf_range(0, columns) if increasing else tf_range(columns - 1, -1, -1)
    return tf_pow(expand_dims(tensor if N is None else vector, -1), cast(powers, tensor.dtype))
