"""Lists of tensors as values of a graph: the ops that a `tf.TensorArray` in a graph is composed of.

The raw value of a list is a 0-d object array that holds a sequence of raw tensors, None where nothing was written. It
never changes: writing gives a new one (see `list_values.py`), which shares its tensors with the old one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

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
    swap_batch_and_entries,
    with_entries_at,
)
from tapeflow.array.concat_and_split import split_sizes
from tapeflow.array.creation import zeros
from tapeflow.array.list_values import (
    EntrySpec,
    ListVariant,
    Raw,
    Rows,
    Sparse,
    Zeros,
    as_variant,
    spec_of,
    with_entry,
    without_last,
    zeros_variant,
)
from tapeflow.array.properties import shape_op
from tapeflow.array.reshapes import broadcast_to
from tapeflow.core.autodiff.tape import Call
from tapeflow.core.hooks import hooks
from tapeflow.core.ops.batch_rules import Batch, NoRule, Slices, static, times
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.definition import ops
from tapeflow.core.ops.kernels import on_one_device
from tapeflow.core.ops.memory import UNFILLED, check_memory
from tapeflow.core.ops.op import not_differentiable, op
from tapeflow.core.ops.raw_kernels import defined_op
from tapeflow.core.ops.sequences import datatype_name
from tapeflow.core.ops.shape_rules import (
    argument_shape,
    check_shape_scalar,
    listed_shape,
    merge_shapes,
    scalar,
    text,
    unknown,
    with_rank,
)
from tapeflow.core.ops.static import host_static
from tapeflow.core.types.aliases import ShapeLike
from tapeflow.core.types.dtypes import FROM_TORCH, DType, string, variant
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.boxed_objects import Addend, box_object
from tapeflow.core.values.strings import StringArray
from tapeflow.core.values.tensor import EagerTensor, Tensor, invalid

if TYPE_CHECKING:
    from tapeflow.core.autodiff.gradients import DynamicShape


def _list_op(name: str, **options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Declares an op on a list, as `@op` does: the decorated function is the kernel, and a tensor is no list."""

    def decorate(kernel: Callable[..., Any]) -> Any:
        function = op(name, strings=True, **options)(kernel)
        function.op.kernel = _no_tensors
        return function

    return decorate


def _no_tensors(*args: Any) -> Any:
    raise invalid("Input handle is not a list. Saw: a tensor")


def _element(shape: ShapeLike) -> TensorShape:
    """Returns the static shape that an `element_shape` argument names; -1 stands for an unknown dimension."""
    if not isinstance(shape, (tuple, list)):
        if isinstance(shape, int) and shape != -1:
            raise invalid("The only valid scalar shape tensor is the fully unknown shape specified as -1.")
        return TensorShape(None)
    dims = [d if isinstance(d, (int, np.integer)) else -1 for d in shape]
    if min(dims, default=0) < -1:
        raise invalid(f"Dimension {min(dims)} must be >= -1")
    return TensorShape([None if d < 0 else d for d in dims])


def _merge_shapes(shape: TensorShape, other: TensorShape) -> TensorShape:
    """Returns the common shape of entries."""
    if shape.is_compatible_with(other):
        return shape.merge_with(other)
    if shape.rank != other.rank:
        raise invalid(f"PartialTensorShape: Incompatible ranks during merge: {shape.rank} vs. {other.rank}")
    raise invalid(f"PartialTensorShape: Incompatible shapes during merge: {text(shape)} vs. {text(other)}")


def _is_same_type(a: DType, b: DType) -> bool:
    """Returns True if two dtypes have the same raw values."""
    return a is b or a.torch is b.torch is not None


def _raw_dtype(raw: Raw) -> DType:
    if isinstance(raw, torch.Tensor):
        return FROM_TORCH[raw.dtype]
    return string if isinstance(raw, StringArray) else variant


def _check_dtype(entries: np.ndarray, dtype: DType, what: str = "op elements {} but list elements {}") -> None:
    """Raises InvalidArgumentError unless the entries of a list have a dtype."""
    spec = spec_of(entries)
    if spec is not None and spec.dtype is not dtype and not _is_same_type(spec.dtype, dtype):
        raise invalid("Invalid data types; " + what.format(datatype_name(dtype), datatype_name(spec.dtype)))


def _check_entry(entries: np.ndarray, entry: Raw, failure: str) -> None:
    """Raises InvalidArgumentError unless a list may hold an entry."""
    spec = spec_of(entries)
    if spec is None or (type(entry) is torch.Tensor and entry.dtype is spec.dtype.torch and entry.shape == spec.dims):
        return
    _check_dtype(entries, _raw_dtype(entry))
    shape = _element(tuple(entry.shape))  # a symbolic size of torch is unknown
    if not spec.shape.is_compatible_with(shape):
        raise invalid(f"Tried to {failure} element shape: {text(shape)} list shape: {text(spec.shape)}")


def _entries_shape(entries: np.ndarray, element_shape: int | Sequence[int], dtype: DType) -> TensorShape:
    """Returns the static shape of the entries, from the list and an op's argument."""
    _check_dtype(entries, dtype)
    spec = spec_of(entries)
    return _element(element_shape) if spec is None else _merge_shapes(_element(element_shape), spec.shape)


def _with_shapes(shape: TensorShape, shapes: Sequence[Sequence[int]]) -> TensorShape:
    """Returns the static shape of entries, from a list's and the shapes of its written entries."""
    for i, other in enumerate(shapes):
        if not i or other != shapes[i - 1]:  # most have one shape; torch's symbolic sizes have no hash
            shape = _merge_shapes(shape, _element(other))
    return shape


def _written_shapes(items: Sequence[Any]) -> list[tuple[int, ...]]:
    """Returns the shapes of the entries that are written."""
    return [tuple(v.shape) for v in (items.written.values() if isinstance(items, Sparse) else items) if v is not None]


def _unwritten_entry(shape: TensorShape, dtype: DType, items: Sequence[Any], message: str) -> Raw:
    """Returns zeros in the place of an entry that was not written; raises an error if the shape is unknown."""
    if not shape.is_fully_defined():
        raise invalid(message.format(text(shape)))
    if dtype.torch is None:
        return StringArray.full(shape.as_list(), b"")
    like = next((v for v in (items.written.values() if isinstance(items, Sparse) else items) if v is not None), None)
    return torch.zeros(shape.as_list(), dtype=dtype.torch, device=None if like is None else like.device)


def _check_length(length: int) -> None:
    """Raises ResourceExhaustedError for a list that would be much longer than its written entries."""
    check_memory([length], _BYTES_OF_ENTRY, UNFILLED)


_BYTES_OF_ENTRY = 16


def _check_index(index: int, items: Sequence[Any], message: str = "Trying to access element") -> None:
    if not 0 <= index < len(items):
        raise invalid(f"{message} {index} in a list with {len(items)} elements.")


def _join_entries(items: Sequence[Any], shape: TensorShape, dtype: DType, empty: str, unwritten: str) -> Raw:
    """Returns entries as one tensor, with a new first dimension.

    Args:
        items: the entries; None for those that were not written.
        shape: their shape, as the list declares it.
        dtype: their dtype.
        empty: the message if there are no entries, and the shape is unknown.
        unwritten: the message if no entry is written, and the shape is unknown.
    """
    if not items:
        return _unwritten_entry(TensorShape([0]).concatenate(shape), dtype, (), empty.replace("{}", text(shape)))
    shape = _with_shapes(shape, _written_shapes(items))
    if any(v is None for v in items):
        zeros = _unwritten_entry(shape, dtype, items, unwritten)
        items = [zeros if v is None else v for v in items]
    return StringArray.stack(items) if isinstance(items[0], StringArray) else on_one_device(torch.stack)(list(items))


def _tensor_slices(tensor: Raw) -> Sequence[Raw]:
    if not tensor.ndim:
        raise invalid("Tensor must be at least a vector, but saw shape: []")
    return Rows(tensor) if isinstance(tensor, torch.Tensor) else [tensor.take(row) for row in tensor.places()]


def _spec_of_slices(tensor: Raw, element_shape: int | Sequence[int]) -> EntrySpec:
    """Returns the spec of a list of the slices of a tensor."""
    spec = EntrySpec.of(_raw_dtype(tensor), _element(element_shape))
    if tensor.ndim and not spec.shape.is_compatible_with(tensor.shape[1:]):
        own = TensorShape(tuple(tensor.shape[1:]))
        raise invalid(f"Specified a list with shape {text(spec.shape)} from a tensor with shape {text(own)}")
    return spec


# ---- new lists -------------------------------------------------------------------------------------------------------


def _entry_shape(element_shape: ShapeLike) -> TensorShape:
    """Returns the static shape of a list's entries, from the argument that says it.

    Raises:
        InvalidArgumentError: it is a number, and not the -1 that stands for an unknown shape.
    """
    check_shape_scalar(element_shape)
    if argument_shape(element_shape).rank != 0:
        return listed_shape(element_shape)
    if element_shape != -1:
        raise invalid(f"Received an invalid shape scalar with a static value that is not '-1': {element_shape}")
    return TensorShape(None)


def _new_list_rule(element_shape: ShapeLike, *_: Any) -> TensorShape:
    _entry_shape(element_shape)
    return TensorShape([])


def _list_of_tensor_rule(tensor: TensorShape, element_shape: int | tuple[int | None, ...]) -> TensorShape:
    merge_shapes(with_rank(tensor, -1)[1:], _entry_shape(element_shape))
    return TensorShape([])


@op("TensorListReserve", host=("element_shape", "num_elements"), shape=_new_list_rule,
    in_loops=lambda b, *args: b.new_list(*args))  # fmt: skip
def list_reserve(element_shape: int | tuple[int, ...], num_elements: int, element_dtype: DType) -> np.ndarray:
    """Returns a list of `num_elements` entries, none of them written."""
    if num_elements < 0:
        raise invalid(f"The num_elements to reserve must be a non negative number, but got {num_elements}")
    return as_variant(Sparse(num_elements), EntrySpec.of(element_dtype, _element(element_shape)))


# Returns a list without entries.
empty_list = defined_op(
    "EmptyTensorList",
    lambda shape, most, dtype: as_variant((), EntrySpec.of(dtype, _element(shape), most)),
    host=("element_shape", "max_num_elements"),
    shape=_new_list_rule,
)


not_differentiable(list_reserve, empty_list)


@op("TensorListFromTensor", strings=True, host=("element_shape",), shape=_list_of_tensor_rule,
    in_loops=lambda b, tensor, _: b.rows(tensor))  # fmt: skip
def list_from_tensor(tensor: Raw, element_shape: int | Sequence[int]) -> np.ndarray:
    """Returns a list of the slices of a tensor along its first dimension."""
    return as_variant(_tensor_slices(tensor), _spec_of_slices(tensor, element_shape))


@list_from_tensor.gradient(needs="shapes dtypes")
def _(call: Call, dy: Tensor) -> Any:
    shape = _shape_argument(call.shape(0))
    dtype = call.dtype(0)
    whole = sum_of_lists(list_reserve(shape[1:], shape[0], dtype), dy)
    return list_stack(whole, shape[1:], dtype)


@list_from_tensor.batching
def _(batch: Batch, tensor: Slices, element_shape: tuple[int, ...]) -> Any:
    return batch.run(swap_batch_and_entries(tensor.value), batched_dims(batch, entry_dims(element_shape)))


def _shape_argument(shape: DynamicShape | tuple[int, ...]) -> Any:
    """Returns a shape as ops take it: a tuple, or a tensor if it is not static."""
    return tuple(shape) if isinstance(shape, tuple) else shape.__tf_tensor__()


# ---- one entry -------------------------------------------------------------------------------------------------------

_UNREADABLE = (
    "Trying to read an uninitialized tensor but element_shape is not fully defined: {} and no list element is set."
)


@_list_op("TensorListGetItem", host=("index", "element_shape"),
    shape=lambda entries, index, shape, dtype: _element(shape),
    in_loops=lambda b, handle, index, *_: b.item(handle, index))  # fmt: skip
def list_get_item(input_handle: Any, index: int, element_shape: Any, element_dtype: Any) -> Raw:
    """Returns the entry at `index`; zeros where none was written."""
    items = input_handle[()]
    _check_dtype(input_handle, element_dtype)
    item = None
    if not isinstance(items, Zeros):
        if type(items) is Rows:  # a loop reads them one by one, faster from a tuple
            items = input_handle[()] = items[:]
        _check_index(index, items)
        item = items[index]
    if item is not None:
        return item
    shape = _entries_shape(input_handle, element_shape, element_dtype)
    shape = shape if shape.is_fully_defined() else _with_shapes(shape, _written_shapes(items))
    return _unwritten_entry(shape, element_dtype, items, _UNREADABLE)


@list_get_item.gradient(needs="input0")
def _(call: Call, dy: Tensor) -> Any:
    index, shape, dtype = call.attrs
    entries = call.inputs[0]
    # The length of a list of zeros of any length is 0: it grows.
    empty = list_reserve(-1 if _holds_others(entries, shape) else shape, list_length(entries), dtype)
    return list_set_item(empty, index, dy, True)


def _holds_others(entries: Tensor, element_shape: int | Sequence[int]) -> bool:
    """Returns True if entries of other shapes than this are seen in a list."""
    if isinstance(entries, EagerTensor):
        written = [v for v in entries.value[()] if v is not None]
    else:
        written = []
        while entries.op.op is list_set_item.op:
            written.append(entries.op.args[2])
            entries = entries.op.args[0]
    shape = _element(host_static(element_shape))
    return not all(shape.is_compatible_with(v.shape) for v in written)


@list_get_item.batching
def _(batch: Batch, entries: Slices, index: Slices, element_shape: int | tuple[int, ...], dtype: DType) -> Any:
    if isinstance(index, Slices) and index.stacked:
        return entries_at(batch, entries, index, element_shape, dtype)
    return batch.run(entries.value, shared_value(index), batched_dims(batch, entry_dims(element_shape)), dtype)


@_list_op("TensorListSetItem", host=("index",), shape=scalar, rename={"resize": "resize_if_index_out_of_bounds"},
    in_loops=lambda b, *args: b.with_item(*args))  # fmt: skip
def list_set_item(input_handle: Any, index: int, item: Raw, resize: bool = False) -> np.ndarray:
    """Returns the list with another entry at `index`."""
    items = input_handle[()]
    _check_entry(input_handle, item, "set a tensor with incompatible shape at a list index. Item")
    grows = resize or isinstance(items, Zeros)
    if grows and index > len(items):
        _check_length(index + 1)
        items = [*items, *[None] * (index - len(items))]
    if not (grows and index == len(items)):
        _check_index(index, items, "Trying to modify element")
    return as_variant(with_entry(items, index, item), spec_of(input_handle))


@list_set_item.gradient(needs="shapes dtypes")
def _(call: Call, dy: Tensor) -> Any:
    (index, resize), shape, dtype = call.attrs, _shape_argument(call.shape(1)), call.dtype(1)
    entry = list_get_item(dy, index, shape, dtype) if call.wanted[1] else None
    return list_set_item(dy, index, zeros(shape, dtype), resize) if call.wanted[0] else None, entry


@list_set_item.batching
def _(batch: Batch, entries: Slices, index: Slices, item: Slices, resize: bool) -> Any:
    stacked, items = stacked_list(batch, entries), batch.stack(item)
    if not (isinstance(index, Slices) and index.stacked):
        return batch.run(stacked, shared_value(index), items, resize)
    if resize and not is_as_long_as_another(entries.slice):
        raise NoRule
    return with_entries_at(batch, stacked, index.value, items, batch.dims(item), item.slice.dtype)


@list_set_item.summed
def _(batch: Batch, entries: Slices, index: Slices, item: Slices, resize: bool) -> Any:
    """Lists that are empty but for one entry, as gradients of `TensorListGetItem` are."""
    if entries.slice.op.op is not list_reserve.op or not (isinstance(index, Slices) and index.stacked):
        raise NoRule
    total = ops.UnsortedSegmentSum(batch.stack(item), index.value, list_length(entries.value))
    return list_from_tensor(total, batch.dims(item))


@_list_op("TensorListPushBack", shape=scalar)
def list_push_back(input_handle: Any, tensor: Raw) -> np.ndarray:
    """Returns the list with one more entry."""
    items, spec = input_handle[()], spec_of(input_handle)
    _check_entry(input_handle, tensor, "append a tensor with incompatible shape to a list. Op")
    if spec is not None and -1 < spec.most <= len(items):
        raise invalid(f"Tried to push item into a full list list size: {len(items)} max_num_elements: {spec.most}")
    return as_variant(with_entry(items, len(items), tensor), spec)


@list_push_back.gradient(needs="input0 shapes dtypes")
def _(call: Call, dy: Tensor) -> Any:
    index, shape, dtype = list_length(call.inputs[0]), _shape_argument(call.shape(1)), call.dtype(1)
    return list_resize(dy, index), list_get_item(list_resize(dy, index + 1), index, shape, dtype)


@list_push_back.batching
def _(batch: Batch, entries: Slices, tensor: Slices) -> Any:
    return batch.run(stacked_list(batch, entries), batch.stack(tensor))


@_list_op("TensorListLength", shape=scalar, reads_shape=True, in_loops=lambda b, handle: b.length(handle))
def list_length(input_handle: ListVariant) -> torch.Tensor:
    """Returns the number of entries."""
    return torch.tensor(len(input_handle[()]), dtype=torch.int32)


not_differentiable(list_length)


# ---- all entries -----------------------------------------------------------------------------------------------------


@_list_op("TensorListStack", host=("element_shape",),
    shape=lambda entries, shape, dtype, n: TensorShape([n if n >= 0 else None]).concatenate(_element(shape)),
    in_loops=lambda b, handle, *_: b.stack(handle))  # fmt: skip
def list_stack(
    input_handle: Any, element_shape: int | Sequence[int], element_dtype: Any, num_elements: int = -1
) -> Raw:
    """Returns all entries as one tensor."""
    items = input_handle[()]
    if num_elements >= 0 and len(items) != num_elements and not isinstance(items, Zeros):
        raise invalid(
            f"Operation expected a list with {num_elements} elements but got a list with {len(items)} elements."
        )
    shape = _entries_shape(input_handle, element_shape, element_dtype)
    if isinstance(items, Rows) and len(items):
        _with_shapes(shape, [tuple(items.tensor.shape[1:])])
        return items.tensor
    unwritten = "Tried to stack list which only contains uninitialized tensors and has a"
    empty = "Tried to stack elements of an empty list with"
    messages = [f"{message} non-fully-defined element_shape: {{}}" for message in (empty, unwritten)]
    return _join_entries(items[:], shape, element_dtype, *messages)


@list_stack.gradient()
def _(call: Call, dy: Tensor) -> Any:
    return list_from_tensor(dy, call.attrs[0])


@list_stack.batching
def _(batch: Batch, entries: Slices, element_shape: Slices | tuple[Any, ...], dtype: DType, num_elements: int) -> Any:
    dims = batched_dims(batch, entry_dims(element_shape))
    return swap_batch_and_entries(batch.run(entries.value, dims, dtype, num_elements))


@_list_op("TensorListGather", host=("element_shape",),
    shape=lambda entries, indices, shape, dtype: indices.concatenate(_element(shape)))  # fmt: skip
def list_gather(
    input_handle: ListVariant, indices: torch.Tensor, element_shape: int | tuple[int, ...], element_dtype: DType
) -> Raw:
    """Returns some entries as one tensor."""
    items = input_handle[()]
    places = indices.reshape(-1).tolist()
    if isinstance(items, Zeros):
        items = (None,) * (max(places, default=-1) + 1)
    if outside := [i for i in places if not 0 <= i < len(items)]:
        raise invalid(f"Index {outside[0]} out of range; list only has {len(items)} elements.")
    shape = _entries_shape(input_handle, element_shape, element_dtype)
    unwritten = "Tried to gather uninitialized tensors from a list with non-fully-defined element_shape: {}"
    empty = "Tried to gather 0-elements from a list with non-fully-defined shape: {}"
    return _join_entries([items[i] for i in places], shape, element_dtype, empty, unwritten)


@list_gather.gradient(needs="input0 input1 dtypes")
def _(call: Call, dy: Tensor) -> Any:
    entries, indices = call.inputs[:2]
    empty = list_reserve(call.attrs[0], list_length(entries), call.attrs[1])
    return list_scatter(empty, dy, indices), None


@list_gather.batching
def _(batch: Batch, entries: Slices, indices: Slices, element_shape: Any, dtype: DType) -> Any:
    if indices.stacked:
        return entries_at(batch, entries, indices, element_shape, dtype)
    dims = batched_dims(batch, entry_dims(element_shape))
    return swap_batch_and_entries(batch.run(entries.value, indices.value, dims, dtype))


def _with_items(variant: ListVariant, tensor: Raw, indices: torch.Tensor) -> np.ndarray:
    items, slices, places = list(variant[()]), _tensor_slices(tensor), indices.reshape(-1).tolist()
    _check_dtype(variant, _raw_dtype(tensor), "input tensor type: {} list element_type: {}")
    if len(places) != len(slices):
        raise invalid(f"Expected len(indices) == tensor.shape[0], but saw: {len(places)} vs. {len(slices)}")
    _check_length(max(places, default=0))
    for i, value in zip(places, slices, strict=True):
        if i < 0:
            raise invalid(f"Indices in TensorListScatter must all be non-negative, not {i}.")
        items.extend([None] * (i + 1 - len(items)))
        items[i] = value
    return as_variant(items, spec_of(variant))


@_list_op("TensorListScatterIntoExistingList", shape=scalar)
def list_scatter(input_handle: ListVariant, tensor: Raw, indices: torch.Tensor) -> np.ndarray:
    """Returns the list with the slices of a tensor at `indices`; it grows where it has to."""
    return _with_items(input_handle, tensor, indices)


@list_scatter.gradient(needs="input2 shapes dtypes")
def _(call: Call, dy: Tensor) -> Any:
    indices, shape, dtype = call.inputs[2], _shape_argument(call.shape(1)), call.dtype(1)
    return list_scatter(dy, zeros(shape, dtype), indices), list_gather(dy, indices, shape[1:], dtype), None


@list_scatter.batching
def _(batch: Batch, entries: Slices, tensor: Slices, indices: Slices) -> Any:
    stacked, rows = stacked_list(batch, entries), batch.stack(tensor)
    if indices.stacked and is_as_long_as_another(entries.slice):
        return with_entries_at(batch, stacked, indices.value, rows, batch.dims(tensor)[1:], tensor.slice.dtype)
    return batch.run(stacked, swap_batch_and_entries(rows), shared_value(indices))


def _joined_items(variant: Any, element_shape: Any, leading_dims: Any, dtype: Any) -> tuple[Raw, torch.Tensor]:
    items, spec = variant[()], spec_of(variant)
    shape = _entries_shape(variant, element_shape, dtype)
    if shape.rank == 0:
        raise invalid("Concat requires elements to be at least vectors, found scalars instead.")
    length, rest = (None, shape) if shape.rank is None else (shape[0], shape[1:])
    if spec is None or not spec.shape.is_fully_defined():
        length, rest = _shape_of_pieces(items, length, rest)
    if not items:
        message = (
            "All except the first dimension must be fully defined when concating an empty tensor list. element_shape: "
        )
        empty = _unwritten_entry(TensorShape([0]).concatenate(rest), dtype, (), message + text(rest))
        return empty, torch.zeros(0, dtype=torch.int64)
    lengths = [length if v is None else len(v) for v in items]
    for i, v in enumerate(items):
        if v is None and i < len(leading_dims):
            lengths[i] = leading_dims[i]
        elif lengths[i] is None:
            raise invalid(
                f"List contains uninitialized tensor at index {i} but leading_dims has only "
                f"{len(leading_dims)} elements."
            )
    unwritten = (
        "Trying to concat list with only uninitialized tensors but element_shape_except_first_dim is not fully "
        "defined: "
    )
    tensors = [
        _unwritten_entry(TensorShape([n]).concatenate(rest), dtype, items, unwritten + text(rest)) if v is None else v
        for n, v in zip(lengths, items, strict=True)
    ]
    whole = StringArray.concatenate(tensors) if isinstance(tensors[0], StringArray) else torch.cat(tensors)
    return whole, torch.tensor(lengths)


def _shape_of_pieces(items: Sequence[Any], length: int | None, rest: TensorShape) -> tuple[int | None, TensorShape]:
    """Returns the length of entries that were not written, if all others have it, and the other dimensions."""
    shapes = [tuple(v.shape) for v in items if v is not None]
    for i, v in enumerate(items):
        if v is not None and not v.ndim:
            raise invalid(f"Concat saw a scalar shape at index {i} but requires at least vectors.")
        if v is not None and length not in (None, v.shape[0]):
            raise invalid(
                "First entry of element_shape input does not match the first dim of list element at index: "
                f"{i} Expected: {length} Actual: {v.shape[0]}"
            )
    lengths = {shape[0] for shape in shapes}
    return length if len(lengths) != 1 else lengths.pop(), _with_shapes(rest, [shape[1:] for shape in shapes])


def _concat_shapes(element_shape: tuple[int, ...]) -> list[TensorShape]:
    shape = _element(element_shape)
    joined = shape if shape.rank is None else TensorShape([None]).concatenate(shape[1:])
    return [joined, TensorShape([None])]


@_list_op("TensorListConcatV2", host=("element_shape", "leading_dims"),
    shape=lambda entries, shape, *_: _concat_shapes(shape))  # fmt: skip
def list_concat(
    input_handle: ListVariant, element_shape: Any, leading_dims: Any, element_dtype: DType
) -> tuple[Raw, torch.Tensor]:
    """Returns all entries joined along their first dimension, and their lengths."""
    return _joined_items(input_handle, element_shape, leading_dims, element_dtype)


@list_concat.gradient(needs="outputs", none_for_zero=True)
def _(call: Call, dy: Tensor, dlengths: Any) -> Any:
    return None if dy is None else list_split(dy, call.attrs[0], call.outputs[1])


@list_concat.batching
def _(batch: Batch, entries: Slices, element_shape: Any, leading_dims: Any, dtype: DType) -> Any:
    dims = entry_dims(element_shape)
    if dims == -1 or not all(isinstance(d, int) and d >= 0 for d in dims):
        raise NoRule  # entries may differ in length
    rows = swap_batch_and_entries(as_tensor(batch, entries, dims, dtype))
    length = shape_op(rows)[1]
    lengths = broadcast_to(convert(dims[0], batch.outputs[1].dtype), (length,))
    return [batch.reshape(rows, [times(length, dims[0]), *dims[1:]]), Slices(lengths, batch.outputs[1], False)]


@_list_op("TensorListConcat", shape=lambda entries, dtype, shape: _concat_shapes(shape_argument(shape)))
def list_concat_first(
    input_handle: ListVariant, element_dtype: DType, element_shape: Any = None
) -> tuple[Raw, torch.Tensor]:
    """Returns all entries joined along their first dimension, and their lengths."""
    shape = shape_argument(element_shape)  # of its first dimension, the kernel takes no notice
    return _joined_items(input_handle, shape if shape == -1 else (-1, *shape[1:]), (), element_dtype)


@list_concat_first.gradient(needs="outputs", none_for_zero=True)
def _(call: Call, dy: Tensor, dlengths: Any) -> Any:
    return None if dy is None else list_split(dy, shape_argument(call.attrs[1]), call.outputs[1])


@op("TensorListSplit", strings=True, host=("element_shape",), shape=scalar)
def list_split(tensor: Raw, element_shape: int | tuple[int, ...], lengths: torch.Tensor) -> np.ndarray:
    """Returns a list of the pieces of a tensor along its first dimension, of these lengths."""
    if not tensor.ndim:
        raise invalid("Tensor must be at least a vector, but saw shape: []")
    sizes, shape, begin = lengths.tolist(), _element(element_shape), 0
    whole = TensorShape(tuple(tensor.shape))
    if not (whole.rank == shape.rank and shape[1:].is_compatible_with(whole[1:])) and shape.rank is not None:
        raise invalid(f"tensor shape {text(whole)} is not compatible with element_shape {text(shape)}")
    for size in sizes:
        if size < 0:
            raise invalid(f"Invalid value in lengths: {size}")
        if begin + size > len(tensor):
            raise invalid(f"Attempting to slice [{begin}, {begin + size}] from tensor with length {len(tensor)}")
        begin += size
    if begin != len(tensor):
        raise invalid(f"Unused values in tensor. Length of tensor: {len(tensor)} Values used: {begin}")
    is_numbers = isinstance(tensor, torch.Tensor)
    pieces = torch.split(tensor, sizes) if is_numbers else np.split(tensor, np.cumsum(sizes)[:-1])
    return as_variant(pieces, EntrySpec.of(_raw_dtype(tensor), shape))


@list_split.gradient(needs="input1 shapes dtypes")
def _(call: Call, dy: Tensor) -> Any:
    whole, dtype, lengths = _shape_argument(call.shape(0)), call.dtype(0), call.inputs[-1]
    # Zeros in between make entries of the right lengths where the gradient has none.
    full = sum_of_lists(list_split(zeros(whole, dtype), call.attrs[0], lengths), dy)
    return list_concat(full, call.attrs[0], (), dtype)[0], None


@list_split.batching
def _(batch: Batch, x: Slices, element_shape: Any, lengths: Any) -> Any:
    sizes, dims = static(lengths), entry_dims(element_shape)
    dims = dims if dims == -1 else (None, *dims[1:])  # pieces have several lengths
    entries = list_reserve(batched_dims(batch, dims), len(sizes), x.slice.dtype)
    for i, part in enumerate(split_sizes(x.value, sizes, 1, len(sizes))):
        entries = list_set_item(entries, i, part)
    return entries


# ---- resizing --------------------------------------------------------------------------------------------------------


@_list_op("TensorListPopBack", host=("element_shape",),
    shape=lambda entries, shape, dtype: [TensorShape([]), _element(shape)])  # fmt: skip
def list_pop_back(input_handle: Any, element_shape: int | Sequence[int], element_dtype: Any) -> tuple[np.ndarray, Raw]:
    """Returns the list without its last entry, and that entry."""
    items = input_handle[()]
    _check_dtype(input_handle, element_dtype)
    if not items:
        raise invalid("Trying to pop from an empty list.")
    last = items[-1]
    if last is None:
        shape = _entries_shape(input_handle, element_shape, element_dtype)
        unwritten = "Trying to read an uninitialized tensor but element_shape is not fully defined.{}"
        last = _unwritten_entry(shape, element_dtype, items, unwritten)
    return as_variant(without_last(items), spec_of(input_handle)), last


@list_pop_back.gradient(needs="outputs", none_for_zero=True)
def _(call: Call, d_list: Tensor | None, d_last: Tensor) -> Any:
    index, (shape, dtype) = list_length(call.outputs[0]), call.attrs
    d_list = list_reserve(shape, index, dtype) if d_list is None else d_list
    return d_list if d_last is None else list_set_item(d_list, index, d_last, True)


@list_pop_back.batching
def _(batch: Batch, entries: Slices, element_shape: Any, dtype: DType) -> Any:
    return batch.run(entries.value, batched_dims(batch, entry_dims(element_shape)), dtype)


@_list_op("TensorListResize", host=("size",), shape=scalar)
def list_resize(input_handle: ListVariant, size: int) -> np.ndarray:
    """Returns a list of the first `size` entries; those past the end are not written."""
    items = input_handle[()]
    if size < 0:
        raise invalid(f"TensorListSlice expects size to be non-negative. Got: {size}")
    _check_length(size)
    return as_variant((*items[:size], *[None] * (size - len(items))), spec_of(input_handle))


@list_resize.gradient(needs="input0")
def _(call: Call, dy: Tensor) -> Any:
    return list_resize(dy, list_length(call.inputs[0]))


@list_resize.batching
def _(batch: Batch, entries: Slices, size: Any) -> Any:
    return batch.run(entries.value, shared_value(size))


@_list_op("TensorListConcatLists", shape=scalar)
def list_concat_lists(input_a: ListVariant, input_b: ListVariant, element_dtype: DType) -> np.ndarray:
    """Concatenates two lists."""
    first, second = spec_of(input_a), spec_of(input_b)
    for name, spec in (("input_a", first), ("input_b", second)):
        if spec is not None and not _is_same_type(spec.dtype, element_dtype):
            dtypes = f"{datatype_name(spec.dtype)} vs. {datatype_name(element_dtype)}"
            raise invalid(f"{name}[0].dtype != element_dtype.  Saw: {dtypes}")
    if first is not None and second is not None and first.dims != second.dims:
        raise invalid(
            "input_a and input_b TensorList element shapes are not identical at index 0.  Saw "
            f"{text(first.shape)} vs. {text(second.shape)}"
        )
    return as_variant((*input_a[()], *input_b[()]), first)


not_differentiable(list_concat_lists)  # TensorFlow has no gradient of it


@list_concat_lists.batching
def _(batch: Batch, a: Slices, b: Slices, dtype: DType) -> Any:
    return batch.run(stacked_list(batch, a), stacked_list(batch, b), dtype)


@op("TensorListScatterV2", strings=True, host=("element_shape", "num_elements"), shape=scalar)
def list_scatter_new(
    tensor: Raw, indices: torch.Tensor, element_shape: tuple[int, ...], num_elements: int
) -> np.ndarray:
    """Returns a list with the slices of a tensor at `indices`, at least `num_elements` long."""
    spec, places = _spec_of_slices(tensor, element_shape), indices.reshape(-1).tolist()
    if num_elements < -1:
        raise invalid(f"TensorListScatter expects num_elements >= -1, found: {num_elements}")
    if tensor.ndim and len(places) != len(tensor):
        raise invalid(f"Invalid number of rows in input tensor. Expected: {len(places)} Actual: {len(tensor)}")
    if num_elements >= 0 and (outside := [i for i in places if i >= num_elements]):
        raise invalid(f"TensorListScatter: Trying to scatter at index {outside[0]} in list with size {num_elements}")
    _check_length(max(num_elements, 0))
    return _with_items(as_variant((None,) * num_elements, spec), tensor, indices)


@op("TensorListScatter", strings=True, host=("element_shape",), shape=scalar)
def list_scatter_first(tensor: Raw, indices: torch.Tensor, element_shape: tuple[int, ...]) -> np.ndarray:
    """Returns a list with the slices of a tensor at `indices`, as long as they need it."""
    return list_scatter_new.op.kernel(tensor, indices, element_shape, -1)


@list_scatter_first.gradient(needs="input1 dtypes")
@list_scatter_new.gradient(needs="input1 dtypes")
def _(call: Call, dy: Tensor) -> Any:
    return list_gather(dy, call.inputs[1], call.attrs[0], call.dtype(0)), None


@list_scatter_first.batching
@list_scatter_new.batching
def _(batch: Batch, tensor: Slices, indices: Slices, element_shape: Any, *count: Any) -> Any:
    dims = batched_dims(batch, entry_dims(element_shape))
    return batch.run(swap_batch_and_entries(tensor.value), shared_value(indices), dims, *map(shared_value, count))


@_list_op("TensorListElementShape", shape=unknown, reads_shape=True)
def list_element_shape(input_handle: ListVariant, shape_type: DType) -> torch.Tensor:
    """Returns the shape of the entries, -1 where they differ; the scalar -1 for a list without written entries."""
    spec = spec_of(input_handle)
    dims = None if spec is None else spec.dims
    return torch.tensor(-1 if dims is None else [-1 if d is None else d for d in dims], dtype=shape_type.torch)


not_differentiable(list_element_shape)


# ---- sums ------------------------------------------------------------------------------------------------------------


def add_variants(inputs: Sequence[np.ndarray]) -> np.ndarray:
    """Returns the raw value of the sum of lists: the `AddN` of variants."""
    total: Any = Zeros()
    spec: EntrySpec | None = None
    for entries in inputs:
        spec = _spec_of_sum(spec, spec_of(entries))
        total = list_values.add_lists(total, entries[()])
    return box_object(total) if isinstance(total, Addend) else as_variant(total, spec)


def _spec_of_sum(a: EntrySpec | None, b: EntrySpec | None) -> EntrySpec | None:
    if a is None or b is None:
        return a or b
    if not _is_same_type(a.dtype, b.dtype):
        raise invalid(
            "Trying to add two lists of tensors of different dtypes. One is "
            f"{datatype_name(a.dtype)} and the other is {datatype_name(b.dtype)}"
        )
    if not a.shape.is_compatible_with(b.shape):
        raise invalid(
            "Trying to add two lists of tensors with incompatible element shapes. One is "
            f"{text(a.shape)} and the other is {text(b.shape)}"
        )
    return EntrySpec.of(a.dtype, a.shape.merge_with(b.shape), a.most)


def sum_of_lists(*lists: Tensor) -> Tensor:
    """Returns the sum of lists, entry by entry; entries that were not written count as zero."""
    return ops.AddN(list(lists))


hooks.zeros_variant = zeros_variant


def shape_argument(shape: TensorShape | Sequence[int | None] | None) -> Any:
    """Returns a shape as an argument of list ops: -1 for an unknown rank or dimension."""
    dims = TensorShape(shape)
    return -1 if dims.rank is None else tuple([-1 if d is None else d for d in dims])
