"""Slices: `tf.slice`, `tf.strided_slice`, and the square brackets of tensors and variables.

Brackets are a `StridedSlice`, which says in numbers and bit masks what Python says in ints, slices, None and `...`.
Most of them mean the same to torch, which then takes them as they are; a tape gets the numbers and masks.
"""

from __future__ import annotations

import functools
import numbers
from types import EllipsisType, NoneType
from typing import Any, NamedTuple

import numpy as np
import torch

from tapeflow.array.joining import unstack
from tapeflow.core.autodiff.gradients import shape_argument
from tapeflow.core.autodiff.tape import Call, record_unary
from tapeflow.core.context import detours, listeners, state
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.definition import ops
from tapeflow.core.ops.op import op
from tapeflow.core.ops.shape_rules import text
from tapeflow.core.types.dtypes import int16, int32, int64
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import EagerTensor, Tensor, invalid

# ---- slice -----------------------------------------------------------------------------------------------------------


def _slice_rule(x: TensorShape, begin: Any, size: Any) -> TensorShape:
    if x.rank is None:
        return TensorShape([None if s == -1 else s for s in size])
    rank = x.rank
    if np.shape(begin) != (rank,) or np.shape(size) != (rank,):
        raise invalid(
            f"Expected begin and size arguments to be 1-D tensors of size {rank}, "
            f"but got shapes {text(TensorShape(np.shape(begin)))} and {text(TensorShape(np.shape(size)))} instead."
        )
    for i, (b, s, d) in enumerate(zip(begin, size, x, strict=True)):
        if d is not None and not 0 <= b <= d:
            raise invalid(f"Expected begin[{i}] in [0, {d}], but got {b}")
        if d is not None and s != -1 and not 0 <= s <= d - b:
            raise invalid(f"Expected size[{i}] in [0, {d - b}], but got {s}")
    return TensorShape([s if s != -1 else None if d is None else d - b for b, s, d in zip(begin, size, x, strict=True)])


def _part(x: torch.Tensor, begin: Any, size: Any) -> torch.Tensor:
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


@op("Slice", kernel=_part, host=("begin", "size"), shape=_slice_rule, moves=True)
def slice(input_: Any, begin: Any, size: Any, name: str | None = None) -> Any:
    """A part of a tensor: from `begin` on, of the given size.

    Args:
        input_: of any dtype, of rank n.
        begin: n numbers, the first index in each dimension.
        size: n numbers; -1 stands for all that is left.

    Raises:
        InvalidArgumentError: the part does not lie in the tensor.

    Example:
        >>> tf.slice([[1, 2, 3], [4, 5, 6]], [0, 1], [-1, 2]).numpy().tolist()
        [[2, 3], [5, 6]]
    """


@slice.gradient(needs="shapes")
def _(call: Call, dy: Any) -> Any:
    from tapeflow.array.padding import pad

    begin, size = call.attrs
    if not all(isinstance(v, tuple) for v in (begin, size, call.shape(0))):
        return pad(dy, _paddings(dy, begin, call.shape(0)))
    paddings = [(b, 0 if s == -1 else d - b - s) for b, s, d in zip(begin, size, call.shape(0), strict=True)]
    return pad(dy, paddings)


def _paddings(part: Any, begin: Any, whole: Any) -> Any:
    """What is missing around a part that begins somewhere, in a graph where not all numbers are known."""
    from tapeflow.array.joining import stack
    from tapeflow.array.properties import shape
    from tapeflow.math.casting import cast

    begin = cast(begin, int32) if isinstance(begin, Tensor) else convert(list(begin), int32)
    return stack([begin, convert(shape_argument(whole), int32) - shape(part) - begin], 1)


# ---- strided slice ---------------------------------------------------------------------------------------------------


class _Spec(NamedTuple):
    """The numbers and masks of a StridedSlice; bit i of a mask speaks of entry i of the lists."""

    begin: Any
    end: Any
    strides: Any
    begin_mask: int = 0
    end_mask: int = 0
    ellipsis_mask: int = 0
    new_axis_mask: int = 0
    shrink_axis_mask: int = 0


def _torch_index(shape: Any, spec: _Spec) -> tuple[tuple[Any, ...], list[int]]:
    """What torch takes for a spec: an index with positive steps, and the dimensions of the result to turn round.

    Follows the rules of TensorFlow's `ValidateStridedSliceOp`. Dimensions may be None, and then nothing is checked.
    """
    begin, end, strides, begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask = spec
    if not (np.ndim(begin) == 1 and len(begin) == len(end) == len(strides)):
        shapes = [text(TensorShape(np.shape(v))) for v in (begin, end, strides)]
        raise invalid(
            f"Expected begin, end, and strides to be 1D equal size tensors, but got shapes {shapes[0]}, {shapes[1]}, "
            f"and {shapes[2]} instead."
        )
    if ellipsis_mask & (ellipsis_mask - 1):
        raise invalid("Multiple ellipses in slice spec not allowed")
    rank, count = len(shape), len(begin)
    named = sum(1 for i in range(count) if not (ellipsis_mask | new_axis_mask) >> i & 1)
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
        if named > rank and axis >= rank:
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
            index.append(at)
        else:
            first = None if begin_mask >> i & 1 else begin[i]
            last = None if end_mask >> i & 1 else end[i]
            index.append(_positive(first, last, stride, length))
            if stride < 0:
                flips.append(out)
            out += 1
        axis += 1
    return tuple(index), flips


def _positive(first: Any, last: Any, stride: int, length: int) -> Any:
    """The slice with a positive step that has the same elements."""
    if stride > 0:
        return _slice_type(first, last, stride)
    places = range(*_slice_type(first, last, stride).indices(length))
    return _slice_type(places[-1], places[0] + 1, -stride) if places else _slice_type(0, 0)


def _strided(input: torch.Tensor, *spec: Any) -> torch.Tensor:
    index, flips = _torch_index(input.shape, _Spec(*spec))
    part = input[index]
    return torch.flip(part, flips) if flips else part


def _strided_rule(input: TensorShape, *spec: Any) -> TensorShape:
    if input.rank is None:
        return TensorShape(None)
    known = _Spec(*spec)
    if any(isinstance(v, tuple) and None in v for v in known[:3]):
        return _partly_known_rule(input, known)
    dims: list[int | None] = []
    shape = input.as_list()
    # A slice of an unknown length has an unknown length.
    index, _ = _torch_index([2**62 if d is None else d for d in shape], known)
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


_FAR = 2**40  # past the end of every dimension


def _partly_known_rule(input: TensorShape, spec: _Spec) -> TensorShape:
    """`_strided_rule` in a graph, where some numbers are not known: what differs between two guesses is not either."""
    if None in spec.strides:
        return TensorShape(None)
    trials = []
    for first, last in ((0, _FAR), (_FAR, 0)):
        begin = [(0 if spec.shrink_axis_mask >> i & 1 else first) if b is None else b for i, b in enumerate(spec.begin)]
        end = [(1 if spec.shrink_axis_mask >> i & 1 else last) if e is None else e for i, e in enumerate(spec.end)]
        trials.append(_strided_rule(input, begin, end, *spec[2:]).as_list())
    return TensorShape([a if a == b else None for a, b in zip(*trials, strict=True)])


@op(
    "StridedSlice",
    kernel=_strided,
    host=("begin", "end", "strides"),
    shape=_strided_rule,
    moves=True,
    node_name="strided_slice",
)
def _strided_slice(
    input: Any, begin: Any, end: Any, strides: Any, begin_mask: int = 0, end_mask: int = 0, ellipsis_mask: int = 0,
    new_axis_mask: int = 0, shrink_axis_mask: int = 0, name: str | None = None,
) -> Any:  # fmt: skip
    """A part of a tensor, with steps."""


@_strided_slice.gradient(needs="shapes")
def _(call: Call, dy: Any) -> Any:
    begin, end, strides, *masks = call.attrs
    return _strided_slice_grad(shape_argument(call.shape(0)), begin, end, strides, dy, *masks)


def _spread(shape: Any, begin: Any, end: Any, strides: Any, dy: torch.Tensor, *masks: int) -> torch.Tensor:
    index, flips = _torch_index(shape, _Spec(begin, end, strides, *masks))
    dx = dy.new_zeros(shape)
    dx[index] = torch.flip(dy, flips) if flips else dy
    return dx


def _given_shape(shape: Any, *_: Any) -> TensorShape:
    return TensorShape([d if type(d) is int else None for d in shape] if isinstance(shape, tuple) else None)


@op("StridedSliceGrad", kernel=_spread, host=("shape", "begin", "end", "strides"), shape=_given_shape, moves=True)
def _strided_slice_grad(
    shape: Any, begin: Any, end: Any, strides: Any, dy: Any, begin_mask: int = 0, end_mask: int = 0,
    ellipsis_mask: int = 0, new_axis_mask: int = 0, shrink_axis_mask: int = 0, name: str | None = None,
) -> Any:  # fmt: skip
    """Zeros of a shape, with `dy` where the slice was."""


@_strided_slice_grad.gradient()
def _(call: Call, dy: Any) -> Any:
    _, begin, end, strides, *masks = call.attrs
    return _strided_slice(dy, begin, end, strides, *masks)


def _updated(input: torch.Tensor, begin: Any, end: Any, strides: Any, value: torch.Tensor, *masks: int) -> torch.Tensor:
    index, flips = _torch_index(input.shape, _Spec(begin, end, strides, *masks))
    out = input.clone(memory_format=torch.contiguous_format)
    wanted = out[index].shape
    if value.shape != wanted:
        try:
            value = value.expand(wanted)
        except RuntimeError:
            given = text(TensorShape(value.shape))
            final = text(TensorShape(wanted))
            raise invalid(f"Cannot broadcast input shape {given} into final shape {final}") from None
    out[index] = torch.flip(value, flips) if flips else value
    return out


@op("TensorStridedSliceUpdate", kernel=_updated, host=("begin", "end", "strides"), moves=True)
def tensor_strided_slice_update(
    input: Any, begin: Any, end: Any, strides: Any, value: Any, begin_mask: int = 0, end_mask: int = 0,
    ellipsis_mask: int = 0, new_axis_mask: int = 0, shrink_axis_mask: int = 0, name: str | None = None,
) -> Any:  # fmt: skip
    """The tensor with `value` put where the slice is."""


@tensor_strided_slice_update.gradient(needs="shapes")
def _(call: Call, dy: Any) -> Any:
    from tapeflow.array.creation import zeros
    from tapeflow.core.autodiff.gradients import sum_to_shape

    begin, end, strides, *masks = call.attrs
    part = _strided_slice(dy, begin, end, strides, *masks)
    without = tensor_strided_slice_update(dy, begin, end, strides, zeros([], dy.dtype), *masks)
    return without, sum_to_shape(part, call.shape(1))


def strided_slice(
    input_: Any,
    begin: Any,
    end: Any,
    strides: Any = None,
    begin_mask: int = 0,
    end_mask: int = 0,
    ellipsis_mask: int = 0,
    new_axis_mask: int = 0,
    shrink_axis_mask: int = 0,
    var: Any = None,
    name: str | None = None,
) -> Any:
    """A part of a tensor with steps: what `input_[begin:end:strides]` gives.

    Args:
        input_: of any dtype, of rank n.
        begin, end, strides: up to n numbers each (more with new axes); steps are 1 by default.
        begin_mask, end_mask: bit i set: `begin[i]` or `end[i]` does not count, the slice goes as far as it can.
        ellipsis_mask: bit i set: entry i is a `...`.
        new_axis_mask: bit i set: entry i is a `tf.newaxis`.
        shrink_axis_mask: bit i set: entry i is an index, and its dimension goes away.
        var: the variable that `input_` was read from; the result then has an `assign` method.

    Raises:
        InvalidArgumentError: an index is out of range, or the lists do not go together.

    Example:
        >>> tf.strided_slice([1, 2, 3, 4], [0], [4], [2]).numpy().tolist()
        [1, 3]
    """
    if strides is None:
        count = len(begin) if isinstance(begin, (list, tuple)) else convert(begin).shape
        strides = [1] * count if isinstance(count, int) else [1] * count[0] if len(count) else 1
    masks = begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask
    part = _strided_slice(input_, begin, end, strides, *masks, name=name)
    if var is not None:
        part.assign = functools.partial(_assign, var, _Spec(begin, end, strides, *masks))
    return part


# ---- square brackets -------------------------------------------------------------------------------------------------

_BASIC = frozenset({int, _slice_type, NoneType, EllipsisType})


def getitem(self: Any, key: Any) -> Any:
    """`tensor[key]`: ints, slices, `...`, `tf.newaxis`, scalar integer tensors, or a boolean mask."""
    kind = type(key)
    value = self.value
    if kind is int and type(value) is torch.Tensor and not detours:
        try:
            part = value[key]
        except Exception:
            return careful_getitem(self, key)
        out = EagerTensor(part, self.dtype)
        if listeners and self._id and state.tapes:
            record_unary(_strided_slice.op, self, spec_of(key), out)
        return out
    if (
        (kind is _slice_type or (kind is tuple and _BASIC.issuperset(map(type, key)) and key.count(Ellipsis) < 2))
        and type(value) is torch.Tensor
        and not detours
    ):
        try:
            if kind is _slice_type and type(key.step) is int and key.step < 0:
                part = value[_positive(key.start, key.stop, key.step, value.shape[0])]
                out = EagerTensor(torch.flip(part, (0,)), self.dtype)
            else:
                out = EagerTensor(value[key], self.dtype)
        except Exception:  # steps backwards, an error, or a dtype that torch can't slice
            return careful_getitem(self, key)
        if listeners and self._id and state.tapes:
            record_unary(_strided_slice.op, self, spec_of(key), out)
        return out
    return careful_getitem(self, key)


def careful_getitem(self: Any, key: Any) -> Any:
    """`getitem` for whatever is not on its short path."""
    if not isinstance(self, Tensor):
        self = convert(self)
    if _is_mask(key):
        from tapeflow.array.masks import boolean_mask

        return boolean_mask(self, key)
    # eager errors name it as a scope
    return _strided_slice(self, *spec_of(key), name="strided_slice/" if state.graph is None else "strided_slice")


def _is_mask(key: Any) -> bool:
    if isinstance(key, Tensor):
        return key.dtype.is_bool
    return isinstance(key, np.ndarray) and key.dtype == bool


def spec_of(key: Any) -> _Spec:
    """The StridedSlice that stands for what is in the brackets.

    Raises:
        TypeError: something in it is no index.
    """
    begin: list[Any] = []
    end: list[Any] = []
    strides: list[Any] = []
    begin_mask = end_mask = ellipsis_mask = new_axis_mask = shrink_axis_mask = 0
    for i, entry in enumerate(key if isinstance(key, (tuple, list)) else (key,)):
        first, last, step = 0, 0, 1
        if type(entry) is int:
            first, last = entry, entry + 1
            shrink_axis_mask |= 1 << i
        elif type(entry) is _slice_type:
            if entry.start is None:
                begin_mask |= 1 << i
            else:
                first = _index(entry.start)
            if entry.stop is None:
                end_mask |= 1 << i
            else:
                last = _index(entry.stop)
            if entry.step is not None:
                step = _index(entry.step)
        elif entry is Ellipsis:
            ellipsis_mask |= 1 << i
        elif entry is None:
            new_axis_mask |= 1 << i
        else:
            first = _index(entry)
            last = first + 1
            shrink_axis_mask |= 1 << i
        begin.append(first)
        end.append(last)
        strides.append(step)
    return _Spec(begin, end, strides, begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask)


def _index(value: Any) -> Any:
    """The int of an index; a tensor of a graph as it is."""
    if type(value) is int:
        return value
    if isinstance(value, (bool, np.bool_)):
        raise invalid("Value for attr 'Index' of bool is not in the list of allowed values: int16, int32, int64")
    if isinstance(value, numbers.Integral):
        return int(value)
    dtype, shape = getattr(value, "dtype", None), getattr(value, "shape", None)
    if dtype is not None and shape is not None and len(shape) == 0 and dtype in (int16, int32, int64):
        return int(value) if not isinstance(value, Tensor) or isinstance(value, EagerTensor) else value
    raise TypeError(
        "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar tf.int32/tf.int64 tensors are "
        f"valid indices, got {value!r}"
    )


def variable_getitem(self: Any, key: Any) -> Any:
    """`variable[key]`: the part of its value, with a method `assign` that changes this part of the variable."""
    part = self._read()[key]
    if not _is_mask(key):
        part.assign = functools.partial(_assign, self, key)
    return part


def _assign(variable: Any, key: Any, value: Any, name: str | None = None) -> Any:
    spec = key if type(key) is _Spec else spec_of(key)
    begin, end, strides, *masks = spec
    value = convert(value, variable.dtype)
    try:
        updated = ops.TensorStridedSliceUpdate(variable.value(), begin, end, strides, value, *masks)
    except Exception as error:
        from tapeflow.core import errors

        if isinstance(error, errors.InvalidArgumentError):
            message = error.message.partition(" [Op:")[0]
            raise invalid(f"{message} [Op:ResourceStridedSliceAssign] name: strided_slice/_assign") from None
        raise
    return variable.assign(updated)


def iterate(self: Any) -> Any:
    """The slices along the first dimension, one after the other.

    Raises:
        TypeError: the tensor is a scalar.
    """
    shape = self.value.shape if type(self) is EagerTensor else self.shape
    if not len(shape):
        raise TypeError("Cannot iterate over a scalar tensor.")
    return iter(unstack(self))
