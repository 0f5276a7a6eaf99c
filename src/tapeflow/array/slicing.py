"""Slices: `tf.slice`, `tf.strided_slice`, and the square brackets of tensors and variables.

Brackets are a `StridedSlice`, which writes Python's ints, slices, None and `...` as numbers and bit masks. Torch gets
most brackets unchanged, because they mean the same there. A tape records the numbers and masks.
"""

from __future__ import annotations

import functools
import numbers
import operator
from collections.abc import Iterator, Sequence
from types import EllipsisType, NoneType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch

from tapeflow.array.batched import with_slice_numbers
from tapeflow.array.concat_and_split import stack, unstack
from tapeflow.array.creation import ones_like_op
from tapeflow.array.gathers import gather_nd_op, gather_v2
from tapeflow.array.identities import cast_to
from tapeflow.array.masks import boolean_mask, select_v2
from tapeflow.array.properties import shape_op
from tapeflow.array.reshapes import transpose_op
from tapeflow.array.scatters import scatter_nd_op
from tapeflow.core.autodiff.gradients import DynamicShape, shape_argument, sum_to_shape
from tapeflow.core.autodiff.tape import Call, record_unary
from tapeflow.core.context import detours, listeners, state
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.ops.batch_rules import Batch, NoRule, Slices, vector
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.definition import NotStatic, ops
from tapeflow.core.ops.dispatchers import dispatchers, offer_call
from tapeflow.core.ops.op import op
from tapeflow.core.ops.raw_kernels import defined_op
from tapeflow.core.ops.shape_rules import (
    certainly_broadcasts,
    check_rank,
    leave_to_kernel,
    merge_shapes,
    same,
    stated_dims,
    text,
    with_rank,
)
from tapeflow.core.ops.static import elements, host_static
from tapeflow.core.types.aliases import ShapeLike, TensorLike
from tapeflow.core.types.dtypes import int16, int32, int64
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.strings import StringArray
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.tensor import EagerTensor, Tensor, invalid
from tapeflow.math.arithmetic import add
from tapeflow.math.casting import cast_op
from tapeflow.math.comparison import less

if TYPE_CHECKING:
    from tapeflow.core.values.variable import Variable

# ---- slice -----------------------------------------------------------------------------------------------------------


def _slice_rule(x: TensorShape, begin: tuple[int, ...], size: tuple[int, ...]) -> TensorShape:
    check_rank(begin, 1)
    check_rank(size, 1)
    if isinstance(begin, tuple) and state.graph is not None:
        stated_dims(begin)
    if isinstance(size, Tensor):  # not static
        return TensorShape(None if x.rank is None else [None] * x.rank)
    rank = len(size) if x.rank is None and isinstance(size, tuple) else x.rank
    if isinstance(begin, Tensor):
        begin = (None,) * (rank or 0)
    if np.shape(begin) != (rank,) or np.shape(size) != (rank,):
        raise invalid(
            f"Expected begin and size arguments to be 1-D tensors of size {rank}, "
            f"but got shapes {text(np.shape(begin))} and {text(np.shape(size))} instead."
        )
    if x.rank is None:
        return TensorShape([None if s == -1 else s for s in size])
    dims: list[int | None] = []
    for i, (b, s, d) in enumerate(zip(begin, size, x, strict=True)):
        rest = None if d is None or b is None else d - b
        if rest is not None and rest < 0 and s == -1:
            raise invalid(f"Negative dimension size caused by subtracting {b} from {d}")
        if s is not None and s < -1:
            raise invalid(f"Expected size[{i}] in [0, {rest}], but got {s}")
        if d is not None and b is not None and not 0 <= b <= d:
            leave_to_kernel(f"Expected begin[{i}] in [0, {d}], but got {b}")
        if rest is not None and s is not None and s != -1 and not 0 <= s <= rest:
            leave_to_kernel(f"Expected size[{i}] in [0, {rest}], but got {s}")
        dims.append(rest if s == -1 else s)
    return TensorShape(dims)


def _slice_kernel(x: torch.Tensor, begin: Sequence[int], size: Sequence[Tensor | int]) -> torch.Tensor:
    if not len(begin) == len(size) == x.ndim:
        raise TypeError("the shape rule says what is wrong")
    parts = []
    for b, s, d in zip(begin, size, x.shape, strict=True):
        end = d if s == -1 else b + s
        if b < 0 or end < b or end > d:
            raise TypeError("the shape rule says what is wrong")
        parts.append(_slice_type(b, end))
    return x[tuple(parts)]


_slice_type = slice  # Python's; `slice` is TensorFlow's from here on


@op("Slice", _slice_kernel, host=("begin", "size"), shape=_slice_rule, moves=True, in_loops=lambda b, *_: b.slice())
def slice(input_: TensorLike, begin: ShapeLike, size: ShapeLike, name: str | None = None) -> Tensor:
    """Takes a part of a tensor: from `begin` on, of size `size`.

    Args:
        input_: a tensor of any dtype, of rank n.
        begin: n numbers, the first index in each dimension.
        size: n numbers; -1 stands for all elements from `begin` on.

    Returns:
        A tensor of the same dtype and rank.

    Raises:
        InvalidArgumentError: the part does not lie in the tensor.

    Example:
        >>> tf.slice([[1, 2, 3], [4, 5, 6]], [0, 1], [-1, 2]).numpy().tolist()
        [[2, 3], [5, 6]]
    """


@slice.gradient(needs="shapes")
def _(call: Call, dy: Tensor) -> Any:
    begin, size = call.attrs
    if not all(isinstance(v, tuple) for v in (begin, size, call.shape(0))):
        return ops.Pad(dy, _paddings_of_part(dy, begin, call.shape(0)))
    paddings = [(b, 0 if s == -1 else d - b - s) for b, s, d in zip(begin, size, call.shape(0), strict=True)]
    return ops.Pad(dy, paddings)


def _paddings_of_part(part: Tensor, begin: Tensor | Sequence[int], whole: DynamicShape | tuple[int, ...]) -> Any:
    """Returns the paddings from a part of a tensor to the whole, in a graph, if not all numbers are static."""
    begin = cast_to(begin, int32) if isinstance(begin, Tensor) else convert(list(begin), int32)
    return stack([begin, convert(shape_argument(whole), int32) - shape_op(part) - begin], 1)


@slice.batching
def _(batch: Batch, x: Slices, begin: tuple[int, ...], size: tuple[int, ...]) -> Any:
    return batch.run(x.value, (0, *vector(begin)), (-1, *vector(size)))


# ---- strided slice ---------------------------------------------------------------------------------------------------

Ints = Sequence[int]
Vector = Slices | tuple[int, ...]  # of a batching rule


class _Spec(NamedTuple):
    """The numbers and masks of a StridedSlice; bit i of a mask is about entry i of the lists."""

    begin: Any
    end: Any
    strides: Any
    begin_mask: int = 0
    end_mask: int = 0
    ellipsis_mask: int = 0
    new_axis_mask: int = 0
    shrink_axis_mask: int = 0


def _torch_index(shape: Any, spec: _Spec) -> tuple[tuple[Any, ...], list[int]]:
    """Returns torch's index for a spec, with positive steps, and the dimensions of the result to reverse.

    Follows the rules of TensorFlow's `ValidateStridedSliceOp`. Dimensions may be None, and then nothing is checked.

    Raises:
        InvalidArgumentError: the spec is not valid, or does not fit the shape.
    """
    begin, end, strides, begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask = spec
    sequences = all(isinstance(v, (list, tuple)) for v in (begin, end, strides))
    if not (sequences and np.ndim(begin) == 1 and len(begin) == len(end) == len(strides)):
        shapes = [text(np.shape(v)) for v in (begin, end, strides)]
        raise invalid(
            f"Expected begin, end, and strides to be 1D equal size tensors, but got shapes {shapes[0]}, {shapes[1]}, "
            f"and {shapes[2]} instead."
        )
    if ellipsis_mask & (ellipsis_mask - 1):
        raise invalid("Multiple ellipses in slice spec not allowed")
    rank, count = len(shape), len(begin)
    index: list[Any] = []
    flips: list[int] = []
    axis = out = 0
    for i in range(count):
        if ellipsis_mask >> i & 1:
            after = sum(1 for j in range(i + 1, count) if not new_axis_mask >> j & 1)
            skipped = max(rank - axis - after, 0)
            index.extend([_slice_type(None)] * skipped)
            axis, out = axis + skipped, out + skipped
            continue
        if new_axis_mask >> i & 1:
            index.append(None)
            out += 1
            continue
        if rank == 0:
            raise invalid("Attempting to slice scalar input.")
        if axis >= rank:
            raise invalid(f"Index out of range using input dim {axis}; input has only {rank} dims")
        length, stride = shape[axis], strides[i]
        if stride == 0:
            raise invalid(f"strides[{i}] must be non-zero")
        if shrink_axis_mask >> i & 1:
            if stride < 0:
                raise invalid("only stride 1 allowed on non-range indexing.")
            at = begin[i] if begin[i] >= 0 or length is None else begin[i] + length
            if length is not None and not 0 <= at < length:
                raise invalid(f"slice index {at} of dimension {axis} out of bounds.")
            index.append(begin[i])  # not `at`: in a compiler, that is a symbol
        else:
            first = None if begin_mask >> i & 1 else begin[i]
            last = None if end_mask >> i & 1 else end[i]
            index.append(_positive_slice(first, last, stride, length))
            if stride < 0:
                flips.append(out)
            out += 1
        axis += 1
    return tuple(index), flips


def _positive_slice(first: int | None, last: int | None, stride: int, length: int) -> Any:
    """Returns the slice with a positive step that has the same elements."""
    if stride > 0:
        return _slice_type(first, last, stride)
    places = range(*_slice_type(first, last, stride).indices(length))
    return _slice_type(places[-1], places[0] + 1, -stride) if places else _slice_type(0, 0)


def _strided_slice_kernel(input: torch.Tensor, *spec: Any) -> torch.Tensor:
    index, flips = _torch_index(input.shape, _Spec(*spec))
    part = input[index]
    return torch.flip(part, flips) if flips else part


def _strided_strings(input: StringArray | np.ndarray, *spec: Any) -> Any:
    index, flips = _torch_index(input.shape, _Spec(*spec))
    if not isinstance(input, StringArray):
        part = input[(*index, ...)]
    elif isinstance(part := input[index], bytes):
        return StringArray.scalar(part)
    return np.flip(part, tuple(flips)) if flips else part


def _strided_rule(input: TensorShape, *spec: Any) -> TensorShape:
    merge_shapes(*[with_rank(part, 1) for part in spec[:3]])
    if input.rank is None:
        return TensorShape(None)
    slice_spec = _with_length(_Spec(*spec))
    if any(isinstance(v, Tensor) for v in slice_spec[:3]):  # not static
        return TensorShape(None)
    if all(isinstance(v, tuple) for v in slice_spec[:3]) and any(None in v for v in slice_spec[:3]):
        return _partly_static_rule(input, slice_spec)
    dims: list[int | None] = []
    shape = input.as_list()
    # A slice of an unknown length has an unknown length.
    index, _ = _torch_index([2**62 if d is None else d for d in shape], slice_spec)
    axis = 0
    for entry in index:
        if entry is None:
            dims.append(1)
            continue
        length = shape[axis]
        axis += 1
        if isinstance(entry, _slice_type):
            dims.append(None if length is None else len(range(*entry.indices(length))))
    dims.extend(shape[axis:])
    return TensorShape(dims)


def _with_length(spec: _Spec) -> _Spec:
    """Replaces vectors that are not static by lists of None, if their length is static."""
    if not any(isinstance(v, Tensor) for v in spec[:2]):
        return spec
    lengths = [v.shape.num_elements() if isinstance(v, Tensor) else len(v) for v in spec[:3]]
    count = next((n for n in lengths if n is not None), None)
    if count is None:
        return spec
    begin, end = ((None,) * count if isinstance(v, Tensor) else v for v in spec[:2])
    return spec._replace(begin=begin, end=end)


_FAR = 2**40  # past the end of every dimension


def _partly_static_rule(input: TensorShape, spec: _Spec) -> TensorShape:
    """Applies `_strided_rule` if some numbers are not static: dimensions that differ between two trials are not."""
    if None in spec.strides:
        return TensorShape(None)
    if any(b is None and spec.shrink_axis_mask >> i & 1 for i, b in enumerate(spec.begin)):
        # An index that is not static may be of an empty dimension: a loop over it never runs.
        input = TensorShape([d or None for d in input.as_list()])
    trials = []
    for first, last in ((0, _FAR), (_FAR, 0)):
        begin = [(0 if spec.shrink_axis_mask >> i & 1 else first) if b is None else b for i, b in enumerate(spec.begin)]
        end = [(1 if spec.shrink_axis_mask >> i & 1 else last) if e is None else e for i, e in enumerate(spec.end)]
        trials.append(_strided_rule(input, begin, end, *spec[2:]).as_list())
    return TensorShape([a if a == b else None for a, b in zip(*trials, strict=True)])


# Takes a part of a tensor, with steps.
strided_slice_op = defined_op(
    "StridedSlice",
    _strided_slice_kernel,
    strings=_strided_strings,
    host=("begin", "end", "strides"),
    shape=_strided_rule,
    moves=True,
    in_loops=lambda b, *_: b.strided_slice(),
    node_name="strided_slice",
    constant_names={"begin": "stack", "end": "stack_1", "strides": "stack_2"},
)


@strided_slice_op.static_value
def _(input: Tensor, begin: TensorLike, end: TensorLike, strides: TensorLike, *masks: int) -> Any:
    begin_mask, end_mask, *other_masks = masks
    begin = host_static(begin)
    if input.shape.rank != 1 or type(begin) is not tuple or len(begin) != 1:
        raise NotStatic
    whole, first = elements(input), begin[0]
    if other_masks == [0, 0, 1]:  # one element
        if first is None or not -len(whole) <= first < len(whole):
            raise NotStatic
        return whole[first]
    end, strides = host_static(end), host_static(strides)
    if any(other_masks) or type(end) is not tuple or type(strides) is not tuple or None in (first, *end, *strides):
        raise NotStatic
    return whole[None if begin_mask & 1 else first : None if end_mask & 1 else end[0] : strides[0]]


@strided_slice_op.inline
def _(input: Tensor, *args: Any) -> Any:
    index = None if input.shape.rank is None else _static_index(input.shape.as_list(), args)
    return None if index is None else (operator.itemgetter(index), "{kernel}({0})")


def _static_index(dims: Sequence[int | None], args: Sequence[Any]) -> tuple[Any, ...] | None:
    """Returns torch's index for the arguments of a slice, or None if it is not static or has negative steps."""
    spec = _Spec(*map(host_static, args))
    static = all(isinstance(v, tuple) and None not in v for v in spec[:3])
    return _torch_index(dims, spec)[0] if static and min(spec.strides, default=1) > 0 else None


@strided_slice_op.gradient(needs="shapes")
def _(call: Call, dy: Tensor) -> Any:
    begin, end, strides, *masks = call.attrs
    shape = shape_argument(call.shape(0))
    dtype = next((t.dtype for t in (begin, end, strides) if isinstance(t, Tensor)), int32)
    if dtype is not int32:
        shape = cast_op(shape, dtype)
    return _strided_slice_grad(shape, begin, end, strides, dy, *masks)


class _PickedElements:
    """A strided slice that takes elements at places that differ between slices of a batch, along some axes, and all
    elements along the others.

    Attributes:
        order: the axes along which it takes one element, then the others.

    Raises:
        NoRule: it takes something else.
    """

    def __init__(self, rank: int, begin: Slices, strides: list[int], *masks: int) -> None:
        begin_mask, end_mask, ellipsis, new, shrink = masks
        if new:
            raise NoRule
        self._begin, self._entries = begin, []
        axes, axis = [], 0
        for i, step in enumerate(strides):
            if ellipsis >> i & 1:
                axis += rank - (len(strides) - 1)
                continue
            if shrink >> i & 1:
                axes.append(axis)
                self._entries.append(i)
            elif step != 1 or not (begin_mask & end_mask) >> i & 1:
                raise NoRule
            axis += 1
        self.order = (*axes, *(a for a in range(rank) if a not in axes))

    def places(self, dims: Sequence[Any]) -> Slices:
        """Returns the places of the elements in a tensor of this shape; none of them negative."""
        places = gather_v2(self._begin.value, self._entries, 1)
        lengths = convert([dims[a] for a in self.order[: len(self._entries)]], places.dtype)
        negative = less(places, convert(0, places.dtype))
        return self._begin._replace(value=select_v2(negative, add(places, lengths), places))


@strided_slice_op.batching
def _(batch: Batch, x: Slices, begin: Vector, end: Vector, strides: Vector, *masks: int) -> Any:
    if isinstance(begin, Slices) and begin.stacked:
        picked = _PickedElements(x.rank, begin, vector(strides), *masks)
        values = transpose_op(x.value, (0, *(a + 1 for a in picked.order)) if x.stacked else picked.order)
        places = picked.places(batch.dims(x))
        return gather_nd_op(values, with_slice_numbers(batch, places) if x.stacked else places.value)
    begins, ends, steps = (vector(v) for v in (begin, end, strides))
    begin_mask, end_mask, *others = (m << 1 for m in masks)
    return batch.run(x.value, (0, *begins), (0, *ends), (1, *steps), begin_mask | 1, end_mask | 1, *others)


def _spread_slice(shape: Ints, begin: Ints, end: Ints, strides: Ints, dy: torch.Tensor, *masks: int) -> torch.Tensor:
    index, flips = _torch_index(shape, _Spec(begin, end, strides, *masks))
    dx = dy.new_zeros(shape)
    dx[index] = torch.flip(dy, flips) if flips else dy
    return dx


def _shape_rule(shape: ShapeLike, *_: Any) -> TensorShape:
    with_rank(shape, 1)
    return TensorShape([d if type(d) is int else None for d in shape] if isinstance(shape, tuple) else None)


# Returns zeros of a shape, with `dy` in the place of the slice.
_strided_slice_grad = defined_op(
    "StridedSliceGrad",
    _spread_slice,
    host=("shape", "begin", "end", "strides"),
    shape=_shape_rule,
    moves=True,
    in_loops=lambda b, *_: b.strided_slice_gradient(),
)


@_strided_slice_grad.inline
def _(shape: ShapeLike, begin: TensorLike, end: TensorLike, strides: Sequence[int], dy: Tensor, *masks: int) -> Any:
    dims = host_static(shape)
    static = isinstance(dims, tuple) and None not in dims
    index = _static_index(dims, (begin, end, strides, *masks)) if static else None
    if index is None or any(not isinstance(i, _slice_type) or i.step not in (None, 1) for i in index):
        return None
    paddings: list[int] = []
    for part, length in zip(index, dims, strict=False):
        first, last, _ = part.indices(length)
        paddings = [first, length - max(first, last), *paddings]  # torch wants the last dimension first
    return torch.constant_pad_nd, f"{{kernel}}({{0}}, {[0] * 2 * (len(dims) - len(index)) + paddings})"


@_strided_slice_grad.gradient()
def _(call: Call, dy: Tensor) -> Any:
    _, begin, end, strides, *masks = call.attrs
    return strided_slice_op(dy, begin, end, strides, *masks)


@_strided_slice_grad.batching
def _(batch: Batch, shape: Vector, begin: Vector, end: Vector, strides: Vector, dy: Slices, *masks: int) -> Any:
    dims = vector(shape)
    if isinstance(begin, Slices) and begin.stacked:
        picked = _PickedElements(len(dims), begin, vector(strides), *masks)
        places = with_slice_numbers(batch, picked.places(dims))
        whole = scatter_nd_op(places, batch.stack(dy), (batch.count, *[dims[a] for a in picked.order]))
        return transpose_op(whole, (0, *[picked.order.index(a) + 1 for a in range(len(dims))]))
    begins, ends, steps = (vector(v) for v in (begin, end, strides))
    begin_mask, end_mask, *others = (m << 1 for m in masks)
    masks = (begin_mask | 1, end_mask | 1, *others)
    return batch.run((batch.count, *dims), (0, *begins), (0, *ends), (1, *steps), dy.value, *masks)


def _strided_update_kernel(
    input: torch.Tensor, begin: Ints, end: Ints, strides: Ints, value: torch.Tensor, *masks: int
) -> torch.Tensor:
    index, flips = _torch_index(input.shape, _Spec(begin, end, strides, *masks))
    out = input.clone(memory_format=torch.contiguous_format)
    final = out[index].shape
    if value.shape != final:
        if not certainly_broadcasts(TensorShape(value.shape), TensorShape(final)):
            shapes = text(value.shape), text(TensorShape(final))
            raise invalid(f"Cannot broadcast input shape {shapes[0]} into final shape {shapes[1]}")
        value = value.expand(final)
    out[index] = torch.flip(value, flips) if flips else value
    return out


# Returns the tensor with `value` written to the slice.
tensor_strided_slice_update = defined_op(
    "TensorStridedSliceUpdate", _strided_update_kernel, host=("begin", "end", "strides"), shape=same, moves=True
)


@tensor_strided_slice_update.gradient(needs="shapes")
def _(call: Call, dy: Tensor) -> Any:
    begin, end, strides, *masks = call.attrs
    part = strided_slice_op(dy, begin, end, strides, *masks)
    without = tensor_strided_slice_update(dy, begin, end, strides, convert(0, dy.dtype), *masks)
    return without, sum_to_shape(part, call.shape(1))


def strided_slice(
    input_: TensorLike,
    begin: ShapeLike,
    end: ShapeLike,
    strides: ShapeLike = None,
    begin_mask: int = 0,
    end_mask: int = 0,
    ellipsis_mask: int = 0,
    new_axis_mask: int = 0,
    shrink_axis_mask: int = 0,
    var: Variable | None = None,
    name: str | None = None,
) -> Tensor:
    """Takes a part of a tensor with steps: `input_[begin:end:strides]`.

    Args:
        input_: a tensor of any dtype, of rank n.
        begin, end, strides: up to n numbers each (more with new axes); steps are 1 by default.
        begin_mask, end_mask: bit i set: `begin[i]` or `end[i]` does not count, the slice goes as far as it can. The
            default is 0.
        ellipsis_mask: bit i set: entry i is a `...`. The default is 0.
        new_axis_mask: bit i set: entry i is a `tf.newaxis`. The default is 0.
        shrink_axis_mask: bit i set: entry i is an index, and its dimension goes away. The default is 0.
        var: the variable that `input_` was read from; the result then has an `assign` method.

    Returns:
        A tensor of the same dtype.

    Raises:
        InvalidArgumentError: an index is out of range, or the lists do not go together.

    Example:
        >>> tf.strided_slice([1, 2, 3, 4], [0], [4], [2]).numpy().tolist()
        [1, 3]
    """
    if strides is None and isinstance(begin, SymbolicTensor) and not begin.shape.is_fully_defined():
        strides = ones_like_op(begin)
    elif strides is None:
        count = len(begin) if isinstance(begin, (list, tuple)) else convert(begin).shape
        strides = [1] * count if isinstance(count, int) else [1] * count[0] if len(count) else 1
    masks = begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask
    part = strided_slice_op(input_, begin, end, strides, *masks, name=name)
    if var is not None:
        part.assign = functools.partial(_assign_slice, var, _Spec(begin, end, strides, *masks))
    return part


# ---- square brackets -------------------------------------------------------------------------------------------------

_BASIC = frozenset({int, _slice_type, NoneType, EllipsisType})


def getitem(self: Tensor, key: Any) -> Any:
    """Computes `tensor[key]`: ints, slices, `...`, `tf.newaxis`, scalar integer tensors, or a boolean mask."""
    kind = type(key)
    value = self.value
    if type(value) is not torch.Tensor or detours:
        return careful_getitem(self, key)
    try:
        if kind is int or (kind is tuple and _BASIC.issuperset(map(type, key)) and key.count(Ellipsis) < 2):
            part = value[key]
        elif kind is not _slice_type:
            return careful_getitem(self, key)
        elif type(key.step) is int and key.step < 0:
            part = torch.flip(value[_positive_slice(key.start, key.stop, key.step, value.shape[0])], (0,))
        else:
            part = value[key]
    except Exception:  # steps backwards, an error, or a dtype that torch can't slice
        return careful_getitem(self, key)
    out = EagerTensor(part, self.dtype)
    if listeners and self._id and state.tapes:
        record_unary(strided_slice_op.op, self, spec_of(key), out)
    return out


def careful_getitem(self: Tensor, key: Any) -> Any:
    """Computes `tensor[key]` for all that is not on the short path of `getitem`."""
    if not isinstance(self, Tensor):
        dispatch = getattr(type(self), "__tf_dispatch__", None)
        result = NotImplemented if dispatch is None else dispatch(self, operator.getitem, (self, key))
        if result is NotImplemented and dispatchers:
            result = offer_call(operator.getitem, (self, key), {})
        if result is not NotImplemented:
            return result
        self = convert(self)
    if _is_mask(key):
        return boolean_mask(self, key)
    # eager errors name it as a scope
    return strided_slice_op(self, *spec_of(key), name="strided_slice/" if state.graph is None else "strided_slice")


def _is_mask(key: object) -> bool:
    if isinstance(key, Tensor):
        return key.dtype.is_bool
    return isinstance(key, bool) or (isinstance(key, np.ndarray) and key.dtype == bool)


def spec_of(key: Any) -> _Spec:
    """Returns the StridedSlice that stands for a key in brackets.

    Raises:
        TypeError: an entry of it is no index.
    """
    begin: list[Any] = []
    end: list[Any] = []
    strides: list[Any] = []
    begin_mask = end_mask = ellipsis_mask = new_axis_mask = shrink_axis_mask = 0
    for i, entry in enumerate(key if isinstance(key, (tuple, list)) else (key,)):
        first, last, step = 0, 0, 1
        if type(entry) is _slice_type:
            begin_mask |= (entry.start is None) << i
            end_mask |= (entry.stop is None) << i
            first = 0 if entry.start is None else _as_index(entry.start)
            last = 0 if entry.stop is None else _as_index(entry.stop)
            step = 1 if entry.step is None else _as_index(entry.step)
        elif entry is Ellipsis:
            ellipsis_mask |= 1 << i
        elif entry is None:
            new_axis_mask |= 1 << i
        else:
            first = _as_index(entry)
            last = first + 1
            shrink_axis_mask |= 1 << i
        begin.append(first)
        end.append(last)
        strides.append(step)
    return _Spec(begin, end, strides, begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask)


def _as_index(value: Tensor | int) -> Any:
    """Returns an index as an int. A tensor of a graph stays a tensor."""
    if type(value) is int:
        return value
    if isinstance(value, (bool, np.bool_)):
        raise invalid("Value for attr 'Index' of bool is not in the list of allowed values: int16, int32, int64")
    if isinstance(value, numbers.Integral):
        return int(value)
    dtype = getattr(value, "dtype", None)
    shape: Any = getattr(value, "shape", None)
    is_scalar = shape == () if isinstance(shape, tuple) else getattr(shape, "rank", 1) in (0, None)
    if dtype is not None and dtype in (int16, int32, int64):
        if is_scalar:
            return int(value) if not isinstance(value, Tensor) or isinstance(value, EagerTensor) else value
        if len(shape) > 1:  # the indices of all dimensions are stacked to one vector
            raise invalid(f"Shape must be rank 1 but is rank {len(shape) + 1}")
    raise TypeError(
        "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar tf.int32/tf.int64 tensors are "
        f"valid indices, got {value!r}"
    )


def variable_getitem(self: Any, key: Any) -> Any:
    """Computes `variable[key]`: a part of its value, with a method `assign` that changes this part of the variable."""
    part = self._read()[key]
    if not _is_mask(key):
        part.assign = functools.partial(_assign_slice, self, key)
    return part


def _assign_slice(variable: Variable, key: Any, value: TensorLike, name: str | None = None) -> Any:
    spec: Any = key if type(key) is _Spec else spec_of(key)
    begin, end, strides, *masks = spec
    value = convert(value, variable.dtype)
    try:
        updated = tensor_strided_slice_update(variable.value(), begin, end, strides, value, *masks)
    except InvalidArgumentError as error:
        message = error.message.partition(" [Op:")[0]
        raise invalid(f"{message} [Op:ResourceStridedSliceAssign] name: strided_slice/_assign") from None
    return variable.assign(updated)


def iterate(self: Tensor) -> Iterator[Tensor]:
    """Iterates over the slices along the first dimension.

    Raises:
        TypeError: the tensor is a scalar.
    """
    shape = self.value.shape if type(self) is EagerTensor else self.shape
    if not len(shape):
        raise TypeError("Cannot iterate over a scalar tensor.")
    return iter(unstack(self))
