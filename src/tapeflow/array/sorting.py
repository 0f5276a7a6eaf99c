"""Ops that put elements in order, and ops on indices."""

from __future__ import annotations

import collections
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from tapeflow.array.batched import joined_batches
from tapeflow.array.properties import shape_op
from tapeflow.array.reshapes import reshape, transpose
from tapeflow.array.unranked import around_axis
from tapeflow.bitwise.bits import invert
from tapeflow.core.autodiff.gradients import is_unranked, shape_of
from tapeflow.core.loops import Numbers, loop
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.elementwise_kernels import may_have_nan
from tapeflow.core.ops.op import not_differentiable, op
from tapeflow.core.ops.raw_kernels import defined_op
from tapeflow.core.ops.shape_rules import check_ranks_first, text
from tapeflow.core.types.aliases import DTypeLike, ShapeLike, TensorLike
from tapeflow.core.types.dtypes import DType, as_dtype, int32
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.string_index import StringIndex
from tapeflow.core.values.strings import StringArray
from tapeflow.core.values.tensor import Tensor, invalid
from tapeflow.math.arithmetic import negative
from tapeflow.math.topk import top_k_op

# ---- sort ------------------------------------------------------------------------------------------------------------

_DIRECTIONS = frozenset({"ASCENDING", "DESCENDING"})


def sort(values: TensorLike, axis: int = -1, direction: str = "ASCENDING", name: str | None = None) -> Tensor:
    """Sorts a tensor along a dimension.

    Args:
        values: real numbers, of rank at least 1.
        axis: an int, the dimension; -1 by default.
        direction: "ASCENDING" or "DESCENDING"; "ASCENDING" by default.

    Returns:
        A tensor of the same dtype and shape.

    Raises:
        ValueError: there is no such direction.
        InvalidArgumentError: there is no such axis, or the dtype has no order.

    Example:
        >>> tf.sort([3, 1, 2]).numpy().tolist()
        [1, 2, 3]
    """
    return _sort_by_top_k(values, axis, direction, 0)


def argsort(
    values: TensorLike, axis: int = -1, direction: str = "ASCENDING", stable: bool = False, name: str | None = None
) -> Tensor:
    """Returns the indices that sort a tensor along a dimension.

    Args:
        values: real numbers, of rank at least 1.
        axis: an int, the dimension; -1 by default.
        direction: "ASCENDING" or "DESCENDING"; "ASCENDING" by default.
        stable: equal elements keep their order; they always do.

    Returns:
        An int32 tensor of the same shape.

    Raises:
        ValueError: there is no such direction.
        InvalidArgumentError: there is no such axis, or the dtype has no order.

    Example:
        >>> tf.argsort([3, 1, 2]).numpy().tolist()
        [1, 2, 0]
    """
    return _sort_by_top_k(values, axis, direction, 1)


def _sort_by_top_k(values: Any, axis: Any, direction: str, output: int) -> Any:
    """Sorts with TopKV2, as TensorFlow does; for an ascending order it sorts the reversed values."""
    if direction not in _DIRECTIONS:
        raise ValueError(
            f"Argument `direction` should be one of ASCENDING, DESCENDING. Received: direction={direction}"
        )
    values = convert(values)
    if not isinstance(axis, int):
        axis = convert(axis)
        if axis.shape.rank:
            raise ValueError(f"Argument `axis` must be a constant scalar. Received: axis={axis}.")
    axis = int(axis)
    rank = values.shape.rank
    if rank is None:
        return reshape(_sort_by_top_k(around_axis(values, axis)[0], 1, direction, output), shape_op(values))
    if not -(2**63) <= axis < 2**63 - 1:  # as a slice from it to the next one
        raise ValueError("Can't convert Python sequence with out-of-range integer to Tensor.")
    if not -rank <= axis < rank:
        raise invalid(f"slice index {axis} of dimension 0 out of bounds. [Op:StridedSlice] name: strided_slice/")
    # -1 - x reverses the order of all integers, unsigned and smallest ones too.
    reverse_order = invert if values.dtype.is_integer else negative
    if direction == "ASCENDING":
        values = reverse_order(values)
    order = list(range(rank))
    order[axis], order[-1] = order[-1], order[axis]
    last = axis % rank == rank - 1
    result = top_k_op(values if last else transpose(values, order), shape_of(values)[axis])[output]
    if not last:
        result = transpose(result, order)
    return reverse_order(result) if direction == "ASCENDING" and output == 0 else result


# ---- search ----------------------------------------------------------------------------------------------------------


def _bound_kernel(right: bool) -> Any:
    def kernel(sorted_inputs: torch.Tensor, values: torch.Tensor, out_type: DType = int32) -> torch.Tensor:
        if sorted_inputs.shape[0] != values.shape[0]:
            raise invalid("Leading dim_size of both tensors must match.")
        wide = _COMPARED_AS.get(values.dtype)
        if wide is not None:
            sorted_inputs, values = sorted_inputs.to(wide), values.to(wide)
        places = torch.searchsorted(sorted_inputs.contiguous(), values.contiguous(), right=right)
        if values.is_floating_point():  # nothing is less than NaN, and NaN is less than nothing
            places = torch.where(torch.isnan(values), sorted_inputs.shape[1] if right else 0, places)
        return places.to(out_type.torch)

    return kernel


_COMPARED_AS = {torch.bfloat16: torch.float32, torch.float16: torch.float32, torch.uint16: torch.int32,
                torch.uint32: torch.int64, torch.bool: torch.uint8}  # fmt: skip


_BOUND_RULE = check_ranks_first(lambda s, values, _: values, 2, 2)


# Returns the first places in sorted rows where values could be inserted.
_lower_bound = defined_op("LowerBound", _bound_kernel(False), orders=True, shape=_BOUND_RULE, batching=joined_batches)


# Returns the last places in sorted rows where values could be inserted.
_upper_bound = defined_op("UpperBound", _bound_kernel(True), orders=True, shape=_BOUND_RULE, batching=joined_batches)


not_differentiable(_lower_bound, _upper_bound)


def searchsorted(
    sorted_sequence: TensorLike,
    values: TensorLike,
    side: str = "left",
    out_type: DTypeLike = int32,
    name: str | None = None,
) -> Tensor:
    """Returns the places where values could be inserted into sorted rows, which stay sorted.

    Args:
        sorted_sequence: a tensor of shape `[..., n]`, sorted along the last dimension.
        values: of the same dtype, of shape `[..., m]`.
        side: "left" for the first place, "right" for the last one.
        out_type: int32 or int64; int32 by default.

    Returns:
        A tensor of the shape of `values`.

    Raises:
        ValueError: there is no such side.
        InvalidArgumentError: the leading dimensions differ, or an argument is a scalar.

    Example:
        >>> tf.searchsorted([1, 3, 5], [0, 3, 9]).numpy().tolist()
        [0, 1, 3]
    """
    rows, targets = convert(sorted_sequence), convert(values)
    for shape in (rows.shape, targets.shape):
        if shape.rank == 0:
            raise invalid("slice index -1 of dimension 0 out of bounds. [Op:StridedSlice] name: strided_slice/")
    rows, flat = _as_matrix(rows), _as_matrix(targets)
    if side not in ("left", "right"):
        raise ValueError(f"Argument `side` must be either 'right' or 'left'. Received: `side` = '{side}'.")
    bound = _upper_bound if side == "right" else _lower_bound
    return reshape(bound(rows, flat, as_dtype(out_type), name), shape_op(targets))


def _as_matrix(x: Tensor) -> Any:
    """Returns a tensor with its leading dimensions joined to one."""
    dims = shape_of(x)
    if is_unranked(dims):
        return around_axis(x, -1)[0][:, :, 0]
    *leading, columns = dims
    return reshape(x, [math.prod(leading), columns])


@op("Bucketize", shape=lambda x, _: x)
def bucketize_op(input: torch.Tensor, boundaries: Sequence[float]) -> torch.Tensor:
    """Returns for each element the number of the sorted boundaries that are not above it."""
    edges = torch.tensor(boundaries, dtype=torch.float32, device=input.device)  # the precision of the attr
    if bool((edges[1:] < edges[:-1]).any()):
        raise invalid("Expected sorted boundaries")
    wide = input.dtype if input.dtype is torch.float64 else torch.float32
    return torch.bucketize(input.to(wide), edges.to(wide), right=True, out_int32=True)


not_differentiable(bucketize_op)


# ---- unique ----------------------------------------------------------------------------------------------------------

Unique = collections.namedtuple("Unique", ["y", "idx"])
UniqueWithCounts = collections.namedtuple("UniqueWithCounts", ["y", "idx", "count"])


def _in_order_of_appearance(codes: torch.Tensor, span: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Numbers distinct values by their first appearance.

    Args:
        codes: a number less than `span` for each element, int64. Equal elements have equal numbers.

    Returns:
        The place where each value appears first, the new number of each element, and the counts of the values.
    """
    count = codes.numel()
    places = torch.arange(count, device=codes.device)
    first = torch.full((span,), count, device=codes.device).scatter_reduce_(0, codes, places, "amin")
    is_first = torch.zeros(count + 1, dtype=torch.int64, device=codes.device).index_fill_(0, first, 1)
    where = (is_first.cumsum(0) - 1)[first].index_select(0, codes)
    first = torch.nonzero(is_first[:count]).squeeze(1)
    return first, where, torch.bincount(where, minlength=first.numel())


_BITS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


def _codes_of(x: torch.Tensor) -> tuple[torch.Tensor, int]:
    """Returns numbers that are equal where the elements of a vector are, and a limit of the numbers."""
    if x.is_complex() or (x.is_floating_point() and may_have_nan(x)):  # no NaN is equal to another one
        return torch.unique(x, return_inverse=True)[1], x.numel()
    if x.is_floating_point():
        x = x + 0.0  # -0.0 is equal to 0.0
    keys = x.view(_BITS[x.itemsize])
    if not keys.numel():
        return keys.long(), 0
    low, high = (int(end) for end in keys.aminmax())
    if high - low < 4 * keys.numel():
        return keys.long() - low, high - low + 1
    order = torch.argsort(keys, stable=True)
    ordered = keys[order]
    differs = torch.zeros_like(order)
    torch.ne(ordered[1:], ordered[:-1], out=differs[1:])
    return torch.empty_like(order).index_copy_(0, order, differs.cumsum(0)), keys.numel()


def _distinct_elements(x: StringArray | torch.Tensor) -> tuple[Any, torch.Tensor, torch.Tensor]:
    """Returns the distinct elements in the order of their first appearance, the place of each element among them, and
    their counts."""
    if x.ndim != 1:
        raise invalid("unique expects a 1D vector.")
    if isinstance(x, torch.Tensor):
        first, where, counts = _in_order_of_appearance(*_codes_of(x))
        return x[first], where, counts
    if x.few is not None:
        numbers: dict[bytes, int] = {}
        where = torch.from_numpy(np.array([numbers.setdefault(v, len(numbers)) for v in x.few], np.int64))
        return StringArray.of(list(numbers)), where, torch.bincount(where, minlength=len(numbers))
    index = StringIndex()
    where = torch.from_numpy(index.add(x))
    return index.strings, where, torch.bincount(where, minlength=len(index))


def _distinct_slices(x: Any, axis: Any) -> tuple[Any, torch.Tensor, torch.Tensor]:
    """Returns the distinct slices along a dimension, the place of each slice among them, and their counts."""
    number = _only_axis(TensorShape(x.shape), axis)
    if number is None or x.ndim == 1:
        return _distinct_elements(x)
    # Numbers that are equal where the elements are; NaNs never are.
    codes = _distinct_elements(x.reshape(-1))[1].reshape(x.shape)
    rows = codes.movedim(number, 0).flatten(1)
    rows = torch.nn.functional.pad(rows, (1, 0))  # slices without elements are equal
    codes = torch.unique(rows, dim=0, return_inverse=True)[1]
    first, where, counts = _in_order_of_appearance(codes, len(rows))
    if isinstance(x, StringArray):
        return x.take(x.places().take(first, number)), where, counts
    return x.index_select(number, first), where, counts


def _only_axis(x: TensorShape, axis: int | tuple[int, ...]) -> int | None:
    """Returns the dimension in a vector of one, or None for an empty vector."""
    if isinstance(axis, int):
        raise invalid("axis expects a 1D vector.")
    if len(axis) > 1:
        raise invalid("axis does not support input tensors larger than 1 elements")
    if not axis or x.rank is None:
        return axis[0] if axis else None
    if not -x.rank <= axis[0] < x.rank:
        raise invalid(f"axis has to be between [0, {x.rank})")
    return axis[0] % x.rank


def _with_numbers(outputs: tuple[Any, torch.Tensor, torch.Tensor], out_idx: DType) -> tuple[Any, ...]:
    """Returns the distinct elements, with the places and the counts in a dtype."""
    y, *numbers = outputs
    return y, *[n.to(out_idx.torch) for n in numbers]


@op("Unique", strings=True, moves=True, shape=check_ranks_first(lambda x, _: [[None], x], 1))
def _unique_op(x: StringArray | torch.Tensor, out_idx: DType = int32) -> Any:
    """Returns the distinct elements of a vector."""
    return _with_numbers(_distinct_elements(x), out_idx)[:2]


@op("UniqueWithCounts", strings=True, moves=True, shape=lambda x, _: [[None], x, [None]])
def _unique_with_counts(x: StringArray | torch.Tensor, out_idx: DType = int32) -> Any:
    """Returns the distinct elements of a vector, and the count of each."""
    return _with_numbers(_distinct_elements(x), out_idx)


def _unique_slices_rule(x: TensorShape, axis: Any, _: Any = None) -> Any:
    if x.rank is None or not isinstance(axis, (int, tuple)) or axis == (None,):
        return [None if x.rank is None else [None] * x.rank, [None]]
    number = _only_axis(x, axis)
    return [[None] * x.rank, x if number is None else [x[number]]]


@op("UniqueV2", strings=True, moves=True, host=("axis",), shape=_unique_slices_rule)
def _unique_slices(x: StringArray | torch.Tensor, axis: int | tuple[int, ...], out_idx: DType = int32) -> Any:
    """Returns the distinct slices along the only dimension in `axis`, in the order of their first appearance."""
    return _with_numbers(_distinct_slices(x, axis), out_idx)[:2]


@op("UniqueWithCountsV2", strings=True, moves=True, host=("axis",),
    shape=lambda x, axis, _=None: [*_unique_slices_rule(x, axis), [None]])  # fmt: skip
def _unique_slices_with_counts(x: StringArray | torch.Tensor, axis: Any, out_idx: DType = int32) -> Any:
    """Returns the distinct slices along the only dimension in `axis`, and the count of each."""
    return _with_numbers(_distinct_slices(x, axis), out_idx)


not_differentiable(_unique_op, _unique_with_counts, _unique_slices, _unique_slices_with_counts)


def unique(x: TensorLike, out_idx: DTypeLike = int32, name: str | None = None) -> Unique:
    """Returns the distinct elements of a vector, in the order of their first appearance.

    Args:
        x: a tensor of rank 1, of any dtype.
        out_idx: the dtype of the indices, int32 or int64; int32 by default.

    Returns:
        `(y, idx)`: the distinct elements, and for each element of `x` its index in `y`.

    Raises:
        InvalidArgumentError: `x` is no vector.

    Example:
        >>> y, idx = tf.unique([5, 3, 5])
        >>> y.numpy().tolist(), idx.numpy().tolist()
        ([5, 3], [0, 1, 0])
    """
    return Unique(*_unique_op(x, as_dtype(out_idx), name))


def unique_with_counts(x: TensorLike, out_idx: DTypeLike = int32, name: str | None = None) -> UniqueWithCounts:
    """Returns the distinct elements of a vector, in the order of their first appearance, and the count of each.

    Args:
        x: a tensor of rank 1, of any dtype.
        out_idx: the dtype of indices and counts, int32 or int64; int32 by default.

    Returns:
        `(y, idx, count)`: the distinct elements, for each element of `x` its index in `y`, and for each element of `y`
        its count.

    Raises:
        InvalidArgumentError: `x` is no vector.

    Example:
        >>> tf.unique_with_counts([5, 3, 5]).count.numpy().tolist()
        [2, 1]
    """
    return UniqueWithCounts(*_unique_with_counts(x, as_dtype(out_idx), name))


# ---- indices ---------------------------------------------------------------------------------------------------------


def _unravel_kernel(indices: torch.Tensor, dims: torch.Tensor) -> torch.Tensor:
    if dims.ndim != 1:
        raise TypeError("the shape rule says what is wrong")
    if indices.ndim > 1:
        raise invalid(f'The indices can only be scalar or vector, got "{text(indices.shape)}"')
    lengths = dims.tolist()
    count = int(np.prod(lengths))
    if 0 in lengths:
        raise invalid("Input dims cannot contain a dim of zero, but dims contains zero")
    if not indices.numel():
        raise invalid("received empty tensor indices")
    if int(indices.max()) >= count:
        raise invalid("index is out of bound as with dims")
    out = []
    for length in lengths:
        count //= length
        out.append(torch.fmod(torch.div(indices, count, rounding_mode="trunc"), length))
    return torch.stack(out) if out else indices.new_zeros((0, *indices.shape))


def _unravelled_rule(indices: TensorShape, dims: TensorShape) -> TensorShape:
    if dims.rank not in (1, None):
        raise invalid(f'The indices can only be 1-D, got "{text(dims)}"')
    return dims[:1].concatenate(indices)


@op("UnravelIndex", kernel=_unravel_kernel, shape=_unravelled_rule)
def unravel_index(indices: TensorLike, dims: ShapeLike, name: str | None = None) -> Tensor:
    """Returns the places in a tensor of a shape that flat indices stand for.

    Args:
        indices: int32 or int64, a scalar or vector.
        dims: the shape, of the same dtype.

    Returns:
        A tensor of shape `[len(dims)]`, or `[len(dims), n]` for n indices.

    Raises:
        InvalidArgumentError: an index is out of range.

    Example:
        >>> tf.unravel_index([2, 5], [2, 3]).numpy().tolist()
        [[0, 1], [2, 2]]
    """


@loop
def _write_inverse(x: Numbers, size: int, inverse: Numbers) -> int:
    """Inverts a permutation, or returns the first place of a number that is none of it; -1 otherwise."""
    for i in range(size):
        inverse[i] = -1
    for i in range(size):
        value = x[i]
        if not 0 <= value < size or inverse[value] >= 0:
            return i
        inverse[value] = i
    return -1


def _invert_permutation(x: torch.Tensor) -> torch.Tensor:
    if x.ndim != 1:
        raise invalid("invert_permutation expects a 1D vector.")
    numbers, size = x.cpu().contiguous(), x.numel()
    inverse = torch.empty_like(numbers)
    wrong = _write_inverse(numbers, size, inverse)
    if wrong >= 0:
        value = int(numbers[wrong])
        duplicated = 0 <= value < size
        raise invalid(f"{value} is {'duplicated in the input.' if duplicated else f'not between 0 and {size}'}")
    return inverse.to(x.device)


@op("InvertPermutation", kernel=_invert_permutation, shape=lambda x: x.with_rank(1))
def invert_permutation(x: TensorLike, name: str | None = None) -> Tensor:
    """Returns the permutation that undoes another.

    Args:
        x: an int32 or int64 tensor of shape `[n]`, with each number from 0 to n - 1 once.

    Returns:
        A tensor of the same dtype and shape.

    Raises:
        InvalidArgumentError: it is no permutation.

    Example:
        >>> tf.math.invert_permutation([2, 0, 1]).numpy().tolist()
        [1, 2, 0]
    """


not_differentiable(unravel_index, invert_permutation)
