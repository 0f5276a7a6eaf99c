"""Lists of tensors as values of a graph: the ops that a `tf.TensorArray` in a graph is composed of.

The raw value of a list is a 0-d object array that holds a sequence of raw tensors, None where nothing was written. It
never changes: writing gives a new one (see `list_values.py`), which shares its tensors with the old one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from tapeflow.array import list_values
from tapeflow.array.batched_lists import (
    as_tensor,
    batched_dims,
    entries_at,
    entry_dims,
    is_as_long_as_another,
    shared_value,
    stacked_list,
    swapped,
    with_entries_at,
)
from tapeflow.array.creation import zeros
from tapeflow.array.list_values import Raw, Rows, Sparse, Zeros, as_variant, with_entry, without_last, zeros_variant
from tapeflow.core.autodiff.tape import Call
from tapeflow.core.hooks import hooks
from tapeflow.core.ops.batching import Batch, NoRule, Slices, static, times
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.definition import ops
from tapeflow.core.ops.kernels import on_one_device
from tapeflow.core.ops.memory import UNFILLED, check_memory
from tapeflow.core.ops.op import not_differentiable, op
from tapeflow.core.ops.shape_rules import argument_shape, check_shape_scalar, listed, merged, scalar, unknown, with_rank
from tapeflow.core.types.aliases import DTypeLike, ShapeLike, TensorLike
from tapeflow.core.types.dtypes import DType
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.boxed_objects import Addend, boxed
from tapeflow.core.values.strings import StringArray
from tapeflow.core.values.tensor import Tensor, invalid


def _no_tensors(*args: Any) -> Any:
    raise invalid("Input handle is not a list. Saw: a tensor")


def _element(shape: Any) -> TensorShape:
    """Returns the static shape that an `element_shape` argument names; -1 stands for an unknown dimension."""
    if not isinstance(shape, tuple):
        return TensorShape(None)
    return TensorShape([None if type(d) is not int or d < 0 else d for d in shape])


def _zeros_item(items: Sequence[Any], element_shape: Any, dtype: Any) -> Raw:
    """Returns zeros in the place of an entry that was not written."""
    like = next((v for v in (items.written.values() if isinstance(items, Sparse) else items) if v is not None), None)
    shape = _element(element_shape)
    if like is not None:
        shape = shape.merge_with(TensorShape(tuple(like.shape))) if not shape.is_fully_defined() else shape
    if not shape.is_fully_defined():
        raise invalid(
            "Trying to read an uninitialized element but element_shape is not fully defined "
            f"({shape}) and no tensor of the list is there to know it by: give the TensorArray an element_shape"
        )
    if dtype.torch is None:
        return StringArray.full(shape.as_list(), b"")
    return torch.zeros(shape.as_list(), dtype=dtype.torch, device=None if like is None else like.device)


def _check_length(length: int) -> None:
    """Raises ResourceExhaustedError for a list that would be much longer than what is written to it."""
    check_memory([length], _BYTES_OF_ENTRY, UNFILLED)


_BYTES_OF_ENTRY = 16


def _check_index(index: int, items: Sequence[Any]) -> None:
    if not 0 <= index < len(items):
        raise invalid(f"Trying to access element {index} in a list with {len(items)} elements.")


def _joined(tensors: Sequence[Raw], element_shape: Any, dtype: Any) -> Raw:
    """Returns tensors as one, with a new first dimension."""
    if not tensors:
        shape = _element(element_shape)
        if not shape.is_fully_defined():
            raise invalid(f"Tried to stack elements of an empty list with non-fully-defined element_shape: {shape}")
        return _zeros_item((), (0, *shape.as_list()), dtype)
    first = tuple(tensors[0].shape)
    for t in tensors:
        if tuple(t.shape) != first:
            raise invalid(
                f"Tried to stack list which contains tensors of shapes {list(first)} and {list(t.shape)}: they must be "
                "equal"
            )
    return StringArray.stack(tensors) if isinstance(tensors[0], StringArray) else on_one_device(_stack)(*tensors)


def _stack(*tensors: torch.Tensor) -> torch.Tensor:
    return torch.stack(tensors)


def _filled(items: Sequence[Any], element_shape: Any, dtype: Any) -> list[Raw]:
    if all(v is not None for v in items):
        return list(items)
    empty = _zeros_item(items, element_shape, dtype)
    return [empty if v is None else v for v in items]


def _slices(tensor: Raw) -> Sequence[Raw]:
    if not tensor.ndim:
        raise invalid("Tensor must be at least a vector, but saw shape: []")
    return Rows(tensor) if isinstance(tensor, torch.Tensor) else [tensor.take(row) for row in tensor.places()]


# ---- new lists -------------------------------------------------------------------------------------------------------


def _entry_shape(element_shape: Any) -> TensorShape:
    """Returns the static shape of a list's entries, from the argument that says it.

    Raises:
        InvalidArgumentError: it is a number, and not the -1 that stands for an unknown shape.
    """
    check_shape_scalar(element_shape)
    if argument_shape(element_shape).rank != 0:
        return listed(element_shape)
    if element_shape != -1:
        raise invalid(f"Received an invalid shape scalar with a static value that is not '-1': {element_shape}")
    return TensorShape(None)


def _new_list_rule(element_shape: Any, *_: Any) -> TensorShape:
    _entry_shape(element_shape)
    return TensorShape([])


def _list_of_tensor_rule(tensor: TensorShape, element_shape: Any) -> TensorShape:
    merged(with_rank(tensor, -1)[1:], _entry_shape(element_shape))
    return TensorShape([])


@op("TensorListReserve", host=("element_shape", "num_elements"), shape=_new_list_rule,
    in_loops=lambda b, *args: b.new_list(*args))  # fmt: skip
def list_reserve(element_shape: Any, num_elements: int, element_dtype: Any) -> np.ndarray:
    """Returns a list of `num_elements` entries, none of them written."""
    if num_elements < 0:
        raise invalid(f"The num_elements to reserve must be a non negative number, but got {num_elements}")
    return as_variant(Sparse(num_elements))


@op(
    "EmptyTensorList",
    kernel=lambda shape, most, dtype: as_variant(()),
    host=("element_shape", "max_num_elements"),
    shape=_new_list_rule,
)
def empty_list(
    element_shape: ShapeLike, max_num_elements: TensorLike, element_dtype: DTypeLike, name: str | None = None
) -> Tensor:
    """Returns a list without entries."""


not_differentiable(list_reserve, empty_list)


@op("TensorListFromTensor", strings=True, host=("element_shape",), shape=_list_of_tensor_rule,
    in_loops=lambda b, tensor, _: b.rows(tensor))  # fmt: skip
def list_from_tensor(tensor: Raw, element_shape: Any) -> np.ndarray:
    """Returns a list of the slices of a tensor along its first dimension."""
    return as_variant(_slices(tensor))


@list_from_tensor.gradient(needs="shapes dtypes")
def _(call: Call, dy: Any) -> Any:
    shape = _shape_argument(call.shape(0))
    dtype = call.dtype(0)
    whole = sum_of_lists(list_reserve(shape[1:], shape[0], dtype), dy)
    return list_stack(whole, shape[1:], dtype)


@list_from_tensor.batching
def _(batch: Batch, tensor: Slices, element_shape: Any) -> Any:
    return batch.run(swapped(tensor.value), batched_dims(batch, entry_dims(element_shape)))


def _shape_argument(shape: Any) -> Any:
    """Returns a shape as ops take it: a tuple, or a tensor if it is not static."""
    return tuple(shape) if isinstance(shape, tuple) else shape.__tf_tensor__()


# ---- one entry -------------------------------------------------------------------------------------------------------


def _item(variant: Any, index: int, element_shape: Any, dtype: Any) -> Raw:
    items = variant[()]
    if isinstance(items, Zeros):
        return _zeros_item((), element_shape, dtype)
    if type(items) is Rows:  # a loop reads them one by one, faster from a tuple
        items = variant[()] = items[:]
    _check_index(index, items)
    item = items[index]
    return _zeros_item(items, element_shape, dtype) if item is None else item


@op("TensorListGetItem", kernel=_no_tensors, strings=_item, host=("index", "element_shape"),
    shape=lambda entries, index, shape, dtype: _element(shape),
    in_loops=lambda b, handle, index, *_: b.item(handle, index))  # fmt: skip
def list_get_item(
    input_handle: Tensor, index: TensorLike, element_shape: ShapeLike, element_dtype: DTypeLike, name: str | None = None
) -> Tensor:
    """Returns the entry at `index`; zeros where none was written."""


@list_get_item.gradient(needs="input0")
def _(call: Call, dy: Any) -> Any:
    index, shape, dtype = call.attrs
    # The length of a list of zeros of any length is 0: it grows.
    return list_set_item(list_reserve(shape, list_length(call.inputs[0]), dtype), index, dy, True)


@list_get_item.batching
def _(batch: Batch, entries: Slices, index: Any, element_shape: Any, dtype: DType) -> Any:
    if isinstance(index, Slices) and index.stacked:
        return entries_at(batch, entries, index, element_shape, dtype)
    return batch.run(entries.value, shared_value(index), batched_dims(batch, entry_dims(element_shape)), dtype)


def _with_item(variant: Any, index: int, item: Raw, resize: bool) -> np.ndarray:
    items = variant[()]
    grows = resize or isinstance(items, Zeros)
    if grows and index > len(items):
        _check_length(index + 1)
        items = [*items, *[None] * (index - len(items))]
    if not (grows and index == len(items)):
        _check_index(index, items)
    return as_variant(with_entry(items, index, item))


@op("TensorListSetItem", kernel=_no_tensors, strings=_with_item, host=("index",), shape=scalar,
    rename={"resize": "resize_if_index_out_of_bounds"},
    in_loops=lambda b, *args: b.with_item(*args))  # fmt: skip
def list_set_item(
    input_handle: Tensor, index: TensorLike, item: TensorLike, resize: bool = False, name: str | None = None
) -> Tensor:
    """Returns the list with another entry at `index`."""


@list_set_item.gradient(needs="shapes dtypes")
def _(call: Call, dy: Any) -> Any:
    (index, resize), shape, dtype = call.attrs, _shape_argument(call.shape(1)), call.dtype(1)
    entry = list_get_item(dy, index, shape, dtype) if call.wanted[1] else None
    return list_set_item(dy, index, zeros(shape, dtype), resize) if call.wanted[0] else None, entry


@list_set_item.batching
def _(batch: Batch, entries: Slices, index: Any, item: Slices, resize: bool) -> Any:
    stacked, items = stacked_list(batch, entries), batch.stack(item)
    if not (isinstance(index, Slices) and index.stacked):
        return batch.run(stacked, shared_value(index), items, resize)
    if resize and not is_as_long_as_another(entries.slice):
        raise NoRule
    return with_entries_at(batch, stacked, index.value, items, batch.dims(item), item.slice.dtype)


@list_set_item.summed
def _(batch: Batch, entries: Slices, index: Any, item: Slices, resize: bool) -> Any:
    """Lists that are empty but for one entry, as gradients of `TensorListGetItem` are."""
    if entries.slice.op.op is not list_reserve.op or not (isinstance(index, Slices) and index.stacked):
        raise NoRule
    total = ops.UnsortedSegmentSum(batch.stack(item), index.value, list_length(entries.value))
    return list_from_tensor(total, batch.dims(item))


def _pushed(variant: Any, tensor: Raw) -> np.ndarray:
    items = variant[()]
    return as_variant(with_entry(items, len(items), tensor))


@op("TensorListPushBack", kernel=_no_tensors, strings=_pushed, shape=scalar)
def list_push_back(input_handle: Tensor, tensor: TensorLike, name: str | None = None) -> Tensor:
    """Returns the list with one more entry."""


@list_push_back.gradient(needs="input0 shapes dtypes")
def _(call: Call, dy: Any) -> Any:
    index, shape, dtype = list_length(call.inputs[0]), _shape_argument(call.shape(1)), call.dtype(1)
    return list_resize(dy, index), list_get_item(list_resize(dy, index + 1), index, shape, dtype)


@list_push_back.batching
def _(batch: Batch, entries: Slices, tensor: Slices) -> Any:
    return batch.run(stacked_list(batch, entries), batch.stack(tensor))


def _length(variant: Any) -> torch.Tensor:
    return torch.tensor(len(variant[()]), dtype=torch.int32)


@op("TensorListLength", kernel=_no_tensors, strings=_length, shape=scalar, reads_shape=True,
    in_loops=lambda b, handle: b.length(handle))  # fmt: skip
def list_length(input_handle: Tensor, name: str | None = None) -> Tensor:
    """Returns the number of entries."""


not_differentiable(list_length)


# ---- all entries -----------------------------------------------------------------------------------------------------


def _stacked(variant: Any, element_shape: Any, dtype: Any, num_elements: int) -> Raw:
    items = variant[()]
    if num_elements >= 0 and len(items) != num_elements and not isinstance(items, Zeros):
        raise invalid(
            f"Operation expected a list with {num_elements} elements but got a list with {len(items)} elements."
        )
    if isinstance(items, Rows) and len(items):
        return items.tensor
    return _joined(_filled(items, element_shape, dtype), element_shape, dtype)


def _stack_shape(entries: Any, element_shape: Any, dtype: Any, num_elements: int) -> TensorShape:
    return TensorShape([num_elements if num_elements >= 0 else None]).concatenate(_element(element_shape))


@op("TensorListStack", kernel=_no_tensors, strings=_stacked, host=("element_shape",), shape=_stack_shape,
    in_loops=lambda b, handle, *_: b.stack(handle))  # fmt: skip
def list_stack(
    input_handle: Tensor,
    element_shape: ShapeLike,
    element_dtype: DTypeLike,
    num_elements: int = -1,
    name: str | None = None,
) -> Tensor:
    """Returns all entries as one tensor."""


@list_stack.gradient()
def _(call: Call, dy: Any) -> Any:
    return list_from_tensor(dy, call.attrs[0])


@list_stack.batching
def _(batch: Batch, entries: Slices, element_shape: Any, dtype: DType, num_elements: int) -> Any:
    dims = batched_dims(batch, entry_dims(element_shape))
    return swapped(batch.run(entries.value, dims, dtype, num_elements))


def _gathered(variant: Any, indices: torch.Tensor, element_shape: Any, dtype: Any) -> Raw:
    items = variant[()]
    places = indices.reshape(-1).tolist()
    if isinstance(items, Zeros):
        items = (None,) * (max(places, default=-1) + 1)
    for i in places:
        _check_index(i, items)
    return _joined(_filled([items[i] for i in places], element_shape, dtype), element_shape, dtype)


def _gather_shape(entries: Any, indices: TensorShape, element_shape: Any, dtype: Any) -> TensorShape:
    return indices.concatenate(_element(element_shape))


@op("TensorListGather", kernel=_no_tensors, strings=_gathered, host=("element_shape",), shape=_gather_shape)
def list_gather(
    input_handle: Tensor,
    indices: TensorLike,
    element_shape: ShapeLike,
    element_dtype: DTypeLike,
    name: str | None = None,
) -> Tensor:
    """Returns some entries as one tensor."""


@list_gather.gradient(needs="input0 input1 dtypes")
def _(call: Call, dy: Any) -> Any:
    entries, indices = call.inputs[:2]
    empty = list_reserve(call.attrs[0], list_length(entries), call.attrs[1])
    return list_scatter(empty, dy, indices), None


@list_gather.batching
def _(batch: Batch, entries: Slices, indices: Slices, element_shape: Any, dtype: DType) -> Any:
    if indices.stacked:
        return entries_at(batch, entries, indices, element_shape, dtype)
    dims = batched_dims(batch, entry_dims(element_shape))
    return swapped(batch.run(entries.value, indices.value, dims, dtype))


def _scattered(variant: Any, tensor: Raw, indices: torch.Tensor) -> np.ndarray:
    items = list(variant[()])
    _check_length(max(indices.tolist(), default=0))
    for i, value in zip(indices.tolist(), _slices(tensor), strict=True):
        if i < 0:
            raise invalid(f"Indices in TensorListScatter must all be non-negative, not {i}.")
        items.extend([None] * (i + 1 - len(items)))
        items[i] = value
    return as_variant(items)


@op("TensorListScatterIntoExistingList", kernel=_no_tensors, strings=_scattered, shape=scalar)
def list_scatter(input_handle: Tensor, tensor: TensorLike, indices: TensorLike, name: str | None = None) -> Tensor:
    """Returns the list with the slices of a tensor at `indices`; it grows where it has to."""


@list_scatter.gradient(needs="input2 shapes dtypes")
def _(call: Call, dy: Any) -> Any:
    indices, shape, dtype = call.inputs[2], _shape_argument(call.shape(1)), call.dtype(1)
    return list_scatter(dy, zeros(shape, dtype), indices), list_gather(dy, indices, shape[1:], dtype), None


@list_scatter.batching
def _(batch: Batch, entries: Slices, tensor: Slices, indices: Slices) -> Any:
    stacked, rows = stacked_list(batch, entries), batch.stack(tensor)
    if indices.stacked and is_as_long_as_another(entries.slice):
        return with_entries_at(batch, stacked, indices.value, rows, batch.dims(tensor)[1:], tensor.slice.dtype)
    return batch.run(stacked, swapped(rows), shared_value(indices))


def _concatenated(variant: Any, element_shape: Any, leading_dims: Any, dtype: Any) -> tuple[Raw, torch.Tensor]:
    items = variant[()]
    if not items:
        shape = _element(element_shape)
        if shape.rank is None or not shape[1:].is_fully_defined():
            raise invalid(
                "All except the first dimension must be fully defined when concating an empty tensor list. "
                f"element_shape: {shape}"
            )
        return _zeros_item((), (0, *shape[1:]), dtype), torch.zeros(0, dtype=torch.int64)
    tensors = _filled(items, element_shape, dtype)
    whole = StringArray.concatenate(tensors) if isinstance(tensors[0], StringArray) else torch.cat(tensors)
    return whole, torch.tensor([len(t) for t in tensors])


def _concat_shape(entries: Any, element_shape: Any, leading_dims: Any, dtype: Any) -> list[TensorShape]:
    shape = _element(element_shape)
    joined = shape if shape.rank is None else TensorShape([None]).concatenate(shape[1:])
    return [joined, TensorShape([None])]


@op(
    "TensorListConcatV2",
    kernel=_no_tensors,
    strings=_concatenated,
    host=("element_shape", "leading_dims"),
    shape=_concat_shape,
)
def list_concat(
    input_handle: Tensor,
    element_shape: ShapeLike,
    leading_dims: TensorLike,
    element_dtype: DTypeLike,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """Returns all entries joined along their first dimension, and their lengths."""


@list_concat.gradient(needs="outputs", none_for_zero=True)
def _(call: Call, dy: Any, dlengths: Any) -> Any:
    return None if dy is None else list_split(dy, call.attrs[0], call.outputs[1])


@list_concat.batching
def _(batch: Batch, entries: Slices, element_shape: Any, leading_dims: Any, dtype: DType) -> Any:
    dims = entry_dims(element_shape)
    if dims == -1 or not all(isinstance(d, int) and d >= 0 for d in dims):
        raise NoRule  # entries may differ in length
    rows = swapped(as_tensor(batch, entries, dims, dtype))
    length = ops.Shape(rows)[1]
    lengths = ops.BroadcastTo(convert(dims[0], batch.outputs[1].dtype), (length,))
    return [batch.reshape(rows, [times(length, dims[0]), *dims[1:]]), Slices(lengths, batch.outputs[1], False)]


def _concatenated_first(variant: Any, dtype: Any, element_shape: Any) -> tuple[Raw, torch.Tensor]:
    return _concatenated(variant, _host_shape(element_shape), (), dtype)


def _host_shape(shape: Any) -> Any:
    """Returns the value of a shape attr as an `element_shape` argument: -1 for unknown dimensions."""
    dims = TensorShape(shape)
    return -1 if dims.rank is None else tuple([-1 if d is None else d for d in dims])


@op("TensorListConcat", kernel=_no_tensors, strings=_concatenated_first,
    shape=lambda entries, dtype, shape: _concat_shape(entries, _host_shape(shape), (), dtype))  # fmt: skip
def list_concat_first(
    input_handle: Tensor, element_dtype: DTypeLike, element_shape: ShapeLike = None, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """Returns all entries joined along their first dimension, and their lengths."""


@list_concat_first.gradient(needs="outputs", none_for_zero=True)
def _(call: Call, dy: Any, dlengths: Any) -> Any:
    return None if dy is None else list_split(dy, _host_shape(call.attrs[1]), call.outputs[1])


@op("TensorListSplit", strings=True, host=("element_shape",), shape=scalar)
def list_split(tensor: Raw, element_shape: Any, lengths: torch.Tensor) -> np.ndarray:
    """Returns a list of the pieces of a tensor along its first dimension, of these lengths."""
    sizes = lengths.tolist()
    if not tensor.ndim or sum(sizes) != tensor.shape[0]:
        raise invalid(
            f"Expected sum of lengths to be equal to values.shape[0], but sum of lengths is {sum(sizes)} and value's "
            f"shape is: {list(tensor.shape)} "
        )
    if isinstance(tensor, torch.Tensor):
        return as_variant(torch.split(tensor, sizes))
    return as_variant(np.split(tensor, np.cumsum(sizes)[:-1]))


@list_split.gradient(needs="input1 shapes dtypes")
def _(call: Call, dy: Any) -> Any:
    whole, dtype, lengths = _shape_argument(call.shape(0)), call.dtype(0), call.inputs[-1]
    # Zeros in between make entries of the right lengths where the gradient has none.
    full = sum_of_lists(list_split(zeros(whole, dtype), call.attrs[0], lengths), dy)
    return list_concat(full, call.attrs[0], (), dtype)[0], None


@list_split.batching
def _(batch: Batch, x: Slices, element_shape: Any, lengths: Any) -> Any:
    sizes = static(lengths)
    entries = ops.TensorListReserve(batched_dims(batch, entry_dims(element_shape)), len(sizes), x.slice.dtype)
    for i, part in enumerate(ops.SplitV(x.value, sizes, 1, len(sizes))):
        entries = ops.TensorListSetItem(entries, i, part)
    return entries


# ---- resizing --------------------------------------------------------------------------------------------------------


def _popped(variant: Any, element_shape: Any, dtype: Any) -> tuple[np.ndarray, Raw]:
    items = variant[()]
    if not items:
        raise invalid("Trying to pop from an empty list.")
    last = _zeros_item(items, element_shape, dtype) if items[-1] is None else items[-1]
    return as_variant(without_last(items)), last


@op("TensorListPopBack", kernel=_no_tensors, strings=_popped, host=("element_shape",),
    shape=lambda entries, shape, dtype: [TensorShape([]), _element(shape)])  # fmt: skip
def list_pop_back(
    input_handle: Tensor, element_shape: ShapeLike, element_dtype: DTypeLike, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """Returns the list without its last entry, and that entry."""


@list_pop_back.gradient(needs="outputs", none_for_zero=True)
def _(call: Call, d_list: Any, d_last: Any) -> Any:
    index, (shape, dtype) = list_length(call.outputs[0]), call.attrs
    d_list = list_reserve(shape, index, dtype) if d_list is None else d_list
    return d_list if d_last is None else list_set_item(d_list, index, d_last, True)


@list_pop_back.batching
def _(batch: Batch, entries: Slices, element_shape: Any, dtype: DType) -> Any:
    return batch.run(entries.value, batched_dims(batch, entry_dims(element_shape)), dtype)


def _resized(variant: Any, size: int) -> np.ndarray:
    items = variant[()]
    if size < 0:
        raise invalid(f"TensorListSlice expects size to be non-negative. Got: {size}")
    _check_length(size)
    return as_variant((*items[:size], *[None] * (size - len(items))))


@op("TensorListResize", kernel=_no_tensors, strings=_resized, host=("size",), shape=scalar)
def list_resize(input_handle: Tensor, size: TensorLike, name: str | None = None) -> Tensor:
    """Returns a list of the first `size` entries; those past the end are not written."""


@list_resize.gradient(needs="input0")
def _(call: Call, dy: Any) -> Any:
    return list_resize(dy, list_length(call.inputs[0]))


@list_resize.batching
def _(batch: Batch, entries: Slices, size: Any) -> Any:
    return batch.run(entries.value, shared_value(size))


@op("TensorListConcatLists", kernel=_no_tensors, strings=lambda a, b, _: as_variant((*a[()], *b[()])), shape=scalar)
def list_concat_lists(input_a: Tensor, input_b: Tensor, element_dtype: DTypeLike, name: str | None = None) -> Tensor:
    """Concatenates two lists."""


not_differentiable(list_concat_lists)  # TensorFlow has no gradient of it


@list_concat_lists.batching
def _(batch: Batch, a: Slices, b: Slices, dtype: DType) -> Any:
    return batch.run(stacked_list(batch, a), stacked_list(batch, b), dtype)


def _new_scattered(tensor: Raw, indices: torch.Tensor, element_shape: Any, num_elements: int) -> np.ndarray:
    count = max(num_elements, 0)
    _check_length(count)
    return _scattered(as_variant((None,) * count), tensor, indices)


@op("TensorListScatterV2", kernel=_new_scattered, strings=_new_scattered, host=("element_shape", "num_elements"),
    shape=scalar)  # fmt: skip
def list_scatter_new(
    tensor: TensorLike, indices: TensorLike, element_shape: ShapeLike, num_elements: TensorLike, name: str | None = None
) -> Tensor:
    """Returns a list with the slices of a tensor at `indices`, at least `num_elements` long."""


@op("TensorListScatter", kernel=lambda tensor, indices, shape: _new_scattered(tensor, indices, shape, 0),
    strings=lambda tensor, indices, shape: _new_scattered(tensor, indices, shape, 0), host=("element_shape",),
    shape=scalar)  # fmt: skip
def list_scatter_first(
    tensor: TensorLike, indices: TensorLike, element_shape: ShapeLike, name: str | None = None
) -> Tensor:
    """Returns a list with the slices of a tensor at `indices`, as long as they need it."""


@list_scatter_first.gradient(needs="input1 dtypes")
@list_scatter_new.gradient(needs="input1 dtypes")
def _(call: Call, dy: Any) -> Any:
    return list_gather(dy, call.inputs[1], call.attrs[0], call.dtype(0)), None


@list_scatter_first.batching
@list_scatter_new.batching
def _(batch: Batch, tensor: Slices, indices: Slices, element_shape: Any, *num_elements: Any) -> Any:
    dims = batched_dims(batch, entry_dims(element_shape))
    return batch.run(swapped(tensor.value), shared_value(indices), dims, *map(shared_value, num_elements))


def _element_shape(variant: Any, shape_type: Any) -> torch.Tensor:
    shapes = {tuple(v.shape) for v in variant[()] if v is not None}
    if not shapes or len({len(s) for s in shapes}) > 1:
        return torch.tensor(-1, dtype=shape_type.torch)
    return torch.tensor([d[0] if len(set(d)) == 1 else -1 for d in zip(*shapes, strict=True)], dtype=shape_type.torch)


@op("TensorListElementShape", kernel=_no_tensors, strings=_element_shape, shape=unknown, reads_shape=True)
def list_element_shape(input_handle: Tensor, shape_type: DTypeLike, name: str | None = None) -> Tensor:
    """Returns the shape of the entries, -1 where they differ; the scalar -1 for a list without written entries."""


not_differentiable(list_element_shape)


# ---- sums ------------------------------------------------------------------------------------------------------------


def added(inputs: Sequence[np.ndarray]) -> np.ndarray:
    """Returns the raw value of the sum of lists: the `AddN` of variants."""
    total: Any = Zeros()
    for variant in inputs:
        entries: Any = variant[()]
        total = list_values.added(total, entries)
    return boxed(total) if isinstance(total, Addend) else as_variant(total)


def sum_of_lists(*lists: Tensor) -> Tensor:
    """Returns the sum of lists, entry by entry; entries that were not written count as zero."""
    return ops.AddN(list(lists))


hooks.zeros_variant = zeros_variant
