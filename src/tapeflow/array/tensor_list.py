"""Lists of tensors as values of a graph: the ops that a staged `tf.TensorArray` is made of.

The raw value of a list is a 0-d object array that holds a sequence of raw tensors, None where nothing was written. It
is never changed: writing gives a new one (see `list_values.py`), which shares its tensors with the old.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from tapeflow.array import list_values
from tapeflow.array.list_values import KINDS, Raw, Sparse, Zeros, as_variant, with_entry, without_last
from tapeflow.core.autodiff.tape import Call
from tapeflow.core.hooks import hooks
from tapeflow.core.ops.definition import ops
from tapeflow.core.ops.kernels import on_one_device
from tapeflow.core.ops.op import op
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import invalid


def zeros_variant() -> np.ndarray:
    """The raw value of a list of zeros, of any length."""
    return as_variant(Zeros())


def zeros_of_list(held: np.ndarray) -> np.ndarray:
    """A list of zeros like those of another one: what `ZerosLike` gives."""
    items = held[()]
    if isinstance(items, Zeros) or not isinstance(items, KINDS):
        return zeros_variant()
    zeros_like = torch.zeros_like
    return as_variant([zeros_like(v) if isinstance(v, torch.Tensor) else v and zeros_of_list(v) for v in items])


def _no_tensors(*args: Any) -> Any:
    raise invalid("Input handle is not a list. Saw: a tensor")


def _scalar(*args: Any) -> TensorShape:
    return TensorShape([])


def _element(shape: Any) -> TensorShape:
    """What an `element_shape` argument says: -1 for what is not known."""
    if not isinstance(shape, tuple):
        return TensorShape(None)
    return TensorShape([None if type(d) is not int or d < 0 else d for d in shape])


def _zeros_item(items: Sequence[Any], element_shape: Any, dtype: Any) -> Raw:
    """What stands for an entry that was not written."""
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
        return np.full(shape.as_list(), b"", object)
    return torch.zeros(shape.as_list(), dtype=dtype.torch, device=None if like is None else like.device)


def _check_index(index: int, items: Sequence[Any]) -> None:
    if not 0 <= index < len(items):
        raise invalid(f"Trying to access element {index} in a list with {len(items)} elements.")


def _joined(tensors: Sequence[Raw], element_shape: Any, dtype: Any) -> Raw:
    """Tensors as one, with a new first dimension."""
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
    return np.stack(tensors) if isinstance(tensors[0], np.ndarray) else on_one_device(_stack)(*tensors)


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
    return tensor.unbind(0) if isinstance(tensor, torch.Tensor) else [np.asarray(v, object) for v in tensor]


# ---- making lists ----------------------------------------------------------------------------------------------------


def _reserved(element_shape: Any, num_elements: int, element_dtype: Any) -> np.ndarray:
    if num_elements < 0:
        raise invalid(f"The num_elements to reserve must be a non negative number, but got {num_elements}")
    return as_variant(Sparse(num_elements))


@op("TensorListReserve", kernel=_reserved, host=("element_shape", "num_elements"), shape=_scalar)
def list_reserve(element_shape: Any, num_elements: Any, element_dtype: Any, name: str | None = None) -> Any:
    """A list of `num_elements` entries, none of them written."""


@op(
    "EmptyTensorList",
    kernel=lambda shape, most, dtype: as_variant(()),
    host=("element_shape", "max_num_elements"),
    shape=_scalar,
)
def empty_list(element_shape: Any, max_num_elements: Any, element_dtype: Any, name: str | None = None) -> Any:
    """A list without entries."""


list_reserve.op.differentiable = empty_list.op.differentiable = False


def _unstacked(tensor: Raw, element_shape: Any) -> np.ndarray:
    return as_variant(_slices(tensor))


@op("TensorListFromTensor", kernel=_unstacked, strings=_unstacked, host=("element_shape",), shape=_scalar)
def list_from_tensor(tensor: Any, element_shape: Any, name: str | None = None) -> Any:
    """The slices of a tensor along its first dimension."""


@list_from_tensor.gradient(needs="shapes dtypes")
def _(call: Call, dy: Any) -> Any:
    shape = _known(call.shape(0))
    dtype = call.dtype(0)
    whole = sum_of_lists(list_reserve(shape[1:], shape[0], dtype), dy)
    return list_stack(whole, shape[1:], dtype)


def _known(shape: Any) -> Any:
    """A shape as ops take it: a tuple, or a tensor where it is not known yet."""
    return tuple(shape) if isinstance(shape, tuple) else shape.__tf_tensor__()


# ---- one entry -------------------------------------------------------------------------------------------------------


def _item(held: Any, index: int, element_shape: Any, dtype: Any) -> Raw:
    items = held[()]
    if isinstance(items, Zeros):
        return _zeros_item((), element_shape, dtype)
    _check_index(index, items)
    found = items[index]
    return _zeros_item(items, element_shape, dtype) if found is None else found


@op("TensorListGetItem", kernel=_no_tensors, strings=_item, host=("index", "element_shape"),
    shape=lambda held, index, shape, dtype: _element(shape))  # fmt: skip
def list_get_item(
    input_handle: Any, index: Any, element_shape: Any, element_dtype: Any, name: str | None = None
) -> Any:
    """The entry at `index`; zeros where none was written."""


@list_get_item.gradient(needs="input0")
def _(call: Call, dy: Any) -> Any:
    index, shape, dtype = call.attrs
    # A list of zeros of any length has none, and grows.
    return list_set_item(list_reserve(shape, list_length(call.inputs[0]), dtype), index, dy, True)


def _with_item(held: Any, index: int, item: Raw, resize: bool) -> np.ndarray:
    items = held[()]
    grows = resize or isinstance(items, Zeros)
    if grows and index > len(items):
        items = [*items, *[None] * (index - len(items))]
    if not (grows and index == len(items)):
        _check_index(index, items)
    return as_variant(with_entry(items, index, item))


@op("TensorListSetItem", kernel=_no_tensors, strings=_with_item, host=("index",), shape=_scalar,
    rename={"resize": "resize_if_index_out_of_bounds"})  # fmt: skip
def list_set_item(input_handle: Any, index: Any, item: Any, resize: bool = False, name: str | None = None) -> Any:
    """The list with another entry at `index`."""


@list_set_item.gradient(needs="shapes dtypes")
def _(call: Call, dy: Any) -> Any:
    from tapeflow import zeros

    index, shape, dtype = call.attrs[0], _known(call.shape(1)), call.dtype(1)
    entry = list_get_item(dy, index, shape, dtype) if call.wanted[1] else None
    return list_set_item(dy, index, zeros(shape, dtype), True) if call.wanted[0] else None, entry


def _pushed(held: Any, tensor: Raw) -> np.ndarray:
    items = held[()]
    return as_variant(with_entry(items, len(items), tensor))


@op("TensorListPushBack", kernel=_no_tensors, strings=_pushed, shape=_scalar)
def list_push_back(input_handle: Any, tensor: Any, name: str | None = None) -> Any:
    """The list with one more entry."""


@list_push_back.gradient(needs="input0 shapes dtypes")
def _(call: Call, dy: Any) -> Any:
    index, shape, dtype = list_length(call.inputs[0]), _known(call.shape(1)), call.dtype(1)
    return list_resize(dy, index), list_get_item(list_resize(dy, index + 1), index, shape, dtype)


def _length(held: Any) -> torch.Tensor:
    return torch.tensor(len(held[()]), dtype=torch.int32)


@op("TensorListLength", kernel=_no_tensors, strings=_length, shape=_scalar, reads_shape=True)
def list_length(input_handle: Any, name: str | None = None) -> Any:
    """The number of entries."""


list_length.op.differentiable = False


# ---- all entries -----------------------------------------------------------------------------------------------------


def _stacked(held: Any, element_shape: Any, dtype: Any, num_elements: int) -> Raw:
    items = held[()]
    if num_elements >= 0 and len(items) != num_elements and not isinstance(items, Zeros):
        raise invalid(
            f"Operation expected a list with {num_elements} elements but got a list with {len(items)} elements."
        )
    return _joined(_filled(items, element_shape, dtype), element_shape, dtype)


def _stack_shape(held: Any, element_shape: Any, dtype: Any, num_elements: int) -> TensorShape:
    return TensorShape([num_elements if num_elements >= 0 else None]).concatenate(_element(element_shape))


@op("TensorListStack", kernel=_no_tensors, strings=_stacked, host=("element_shape",), shape=_stack_shape)
def list_stack(
    input_handle: Any, element_shape: Any, element_dtype: Any, num_elements: int = -1, name: str | None = None
) -> Any:
    """All entries as one tensor."""


@list_stack.gradient()
def _(call: Call, dy: Any) -> Any:
    return list_from_tensor(dy, call.attrs[0])


def _gathered(held: Any, indices: torch.Tensor, element_shape: Any, dtype: Any) -> Raw:
    items = held[()]
    places = indices.tolist()
    if isinstance(items, Zeros):
        items = (None,) * (max(places, default=-1) + 1)
    for i in places:
        _check_index(i, items)
    return _joined(_filled([items[i] for i in places], element_shape, dtype), element_shape, dtype)


def _gather_shape(held: Any, indices: TensorShape, element_shape: Any, dtype: Any) -> TensorShape:
    return indices.concatenate(_element(element_shape))


@op("TensorListGather", kernel=_no_tensors, strings=_gathered, host=("element_shape",), shape=_gather_shape)
def list_gather(
    input_handle: Any, indices: Any, element_shape: Any, element_dtype: Any, name: str | None = None
) -> Any:
    """Some entries as one tensor."""


@list_gather.gradient(needs="input0 input1 dtypes")
def _(call: Call, dy: Any) -> Any:
    held, indices = call.inputs[:2]
    empty = list_reserve(call.attrs[0], list_length(held), call.attrs[1])
    return list_scatter(empty, dy, indices), None


def _scattered(held: Any, tensor: Raw, indices: torch.Tensor) -> np.ndarray:
    items = list(held[()])
    for i, value in zip(indices.tolist(), _slices(tensor), strict=True):
        if i < 0:
            raise invalid(f"Indices in TensorListScatter must all be non-negative, not {i}.")
        items.extend([None] * (i + 1 - len(items)))
        items[i] = value
    return as_variant(items)


@op("TensorListScatterIntoExistingList", kernel=_no_tensors, strings=_scattered, shape=_scalar)
def list_scatter(input_handle: Any, tensor: Any, indices: Any, name: str | None = None) -> Any:
    """The list with the slices of a tensor at `indices`; it grows as it must."""


@list_scatter.gradient(needs="input2 shapes dtypes")
def _(call: Call, dy: Any) -> Any:
    from tapeflow import zeros

    indices, shape, dtype = call.inputs[2], _known(call.shape(1)), call.dtype(1)
    return list_scatter(dy, zeros(shape, dtype), indices), list_gather(dy, indices, shape[1:], dtype), None


def _concatenated(held: Any, element_shape: Any, leading_dims: Any, dtype: Any) -> tuple[Raw, torch.Tensor]:
    items = held[()]
    if not items:
        shape = _element(element_shape)
        if shape.rank is None or not shape[1:].is_fully_defined():
            raise invalid(
                "All except the first dimension must be fully defined when concating an empty tensor list. "
                f"element_shape: {shape}"
            )
        return _zeros_item((), (0, *shape[1:]), dtype), torch.zeros(0, dtype=torch.int64)
    tensors = _filled(items, element_shape, dtype)
    whole = np.concatenate(tensors) if isinstance(tensors[0], np.ndarray) else torch.cat(tensors)
    return whole, torch.tensor([len(t) for t in tensors])


def _concat_shape(held: Any, element_shape: Any, leading_dims: Any, dtype: Any) -> list[TensorShape]:
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
    input_handle: Any, element_shape: Any, leading_dims: Any, element_dtype: Any, name: str | None = None
) -> Any:
    """All entries joined along their first dimension, and their lengths."""


@list_concat.gradient(needs="outputs", none_for_zero=True)
def _(call: Call, dy: Any, dlengths: Any) -> Any:
    return None if dy is None else list_split(dy, call.attrs[0], call.outputs[1])


def _concatenated_first(held: Any, dtype: Any, element_shape: Any) -> tuple[Raw, torch.Tensor]:
    return _concatenated(held, _host_shape(element_shape), (), dtype)


def _host_shape(shape: Any) -> Any:
    """The value of a shape attr as an `element_shape` argument says it."""
    dims = TensorShape(shape)
    return -1 if dims.rank is None else tuple([-1 if d is None else d for d in dims])


@op("TensorListConcat", kernel=_no_tensors, strings=_concatenated_first,
    shape=lambda held, dtype, shape: _concat_shape(held, _host_shape(shape), (), dtype))  # fmt: skip
def list_concat_first(input_handle: Any, element_dtype: Any, element_shape: Any = None, name: str | None = None) -> Any:
    """All entries joined along their first dimension, and their lengths."""


@list_concat_first.gradient(needs="outputs", none_for_zero=True)
def _(call: Call, dy: Any, dlengths: Any) -> Any:
    return None if dy is None else list_split(dy, _host_shape(call.attrs[1]), call.outputs[1])


def _split(tensor: Raw, element_shape: Any, lengths: torch.Tensor) -> np.ndarray:
    sizes = lengths.tolist()
    if not tensor.ndim or sum(sizes) != tensor.shape[0]:
        raise invalid(
            f"Expected sum of lengths to be equal to values.shape[0], but sum of lengths is {sum(sizes)} and value's "
            f"shape is: {list(tensor.shape)} "
        )
    if isinstance(tensor, torch.Tensor):
        return as_variant(torch.split(tensor, sizes))
    return as_variant(np.split(tensor, np.cumsum(sizes)[:-1]))


@op("TensorListSplit", kernel=_split, strings=_split, host=("element_shape",), shape=_scalar)
def list_split(tensor: Any, element_shape: Any, lengths: Any, name: str | None = None) -> Any:
    """The pieces of a tensor along its first dimension."""


@list_split.gradient(needs="input1 shapes dtypes")
def _(call: Call, dy: Any) -> Any:
    from tapeflow import zeros

    whole, dtype, lengths = _known(call.shape(0)), call.dtype(0), call.inputs[-1]
    # Zeros in between make entries of the right lengths where the gradient has none.
    full = sum_of_lists(list_split(zeros(whole, dtype), call.attrs[0], lengths), dy)
    return list_concat(full, call.attrs[0], (), dtype)[0], None


# ---- longer and shorter ----------------------------------------------------------------------------------------------


def _popped(held: Any, element_shape: Any, dtype: Any) -> tuple[np.ndarray, Raw]:
    items = held[()]
    if not items:
        raise invalid("Trying to pop from an empty list.")
    last = _zeros_item(items, element_shape, dtype) if items[-1] is None else items[-1]
    return as_variant(without_last(items)), last


@op("TensorListPopBack", kernel=_no_tensors, strings=_popped, host=("element_shape",),
    shape=lambda held, shape, dtype: [TensorShape([]), _element(shape)])  # fmt: skip
def list_pop_back(input_handle: Any, element_shape: Any, element_dtype: Any, name: str | None = None) -> Any:
    """The list without its last entry, and that entry."""


@list_pop_back.gradient(needs="outputs", none_for_zero=True)
def _(call: Call, d_list: Any, d_last: Any) -> Any:
    index, (shape, dtype) = list_length(call.outputs[0]), call.attrs
    d_list = list_reserve(shape, index, dtype) if d_list is None else d_list
    return d_list if d_last is None else list_set_item(d_list, index, d_last, True)


def _resized(held: Any, size: int) -> np.ndarray:
    items = held[()]
    if size < 0:
        raise invalid(f"TensorListSlice expects size to be non-negative. Got: {size}")
    return as_variant((*items[:size], *[None] * (size - len(items))))


@op("TensorListResize", kernel=_no_tensors, strings=_resized, host=("size",), shape=_scalar)
def list_resize(input_handle: Any, size: Any, name: str | None = None) -> Any:
    """The first `size` entries; what is not there yet is not written."""


@list_resize.gradient(needs="input0")
def _(call: Call, dy: Any) -> Any:
    return list_resize(dy, list_length(call.inputs[0]))


@op("TensorListConcatLists", kernel=_no_tensors, strings=lambda a, b, _: as_variant((*a[()], *b[()])), shape=_scalar)
def list_concat_lists(input_a: Any, input_b: Any, element_dtype: Any, name: str | None = None) -> Any:
    """The entries of one list, then those of another."""


list_concat_lists.op.differentiable = False  # TensorFlow has no gradient of it


def _new_scattered(tensor: Raw, indices: torch.Tensor, element_shape: Any, num_elements: int) -> np.ndarray:
    count = max(num_elements, 0)
    return _scattered(as_variant((None,) * count), tensor, indices)


@op("TensorListScatterV2", kernel=_new_scattered, strings=_new_scattered, host=("element_shape", "num_elements"),
    shape=_scalar)  # fmt: skip
def list_scatter_new(tensor: Any, indices: Any, element_shape: Any, num_elements: Any, name: str | None = None) -> Any:
    """A list with the slices of a tensor at `indices`, at least `num_elements` long."""


@op("TensorListScatter", kernel=lambda tensor, indices, shape: _new_scattered(tensor, indices, shape, 0),
    strings=lambda tensor, indices, shape: _new_scattered(tensor, indices, shape, 0), host=("element_shape",),
    shape=_scalar)  # fmt: skip
def list_scatter_first(tensor: Any, indices: Any, element_shape: Any, name: str | None = None) -> Any:
    """A list with the slices of a tensor at `indices`, as long as it must be."""


@list_scatter_first.gradient(needs="input1 dtypes")
@list_scatter_new.gradient(needs="input1 dtypes")
def _(call: Call, dy: Any) -> Any:
    return list_gather(dy, call.inputs[1], call.attrs[0], call.dtype(0)), None


def _element_shape(held: Any, shape_type: Any) -> torch.Tensor:
    shapes = {tuple(v.shape) for v in held[()] if v is not None}
    if not shapes or len({len(s) for s in shapes}) > 1:
        return torch.tensor(-1, dtype=shape_type.torch)
    return torch.tensor([d[0] if len(set(d)) == 1 else -1 for d in zip(*shapes, strict=True)], dtype=shape_type.torch)


@op(
    "TensorListElementShape",
    kernel=_no_tensors,
    strings=_element_shape,
    shape=lambda *_: TensorShape(None),
    reads_shape=True,
)
def list_element_shape(input_handle: Any, shape_type: Any, name: str | None = None) -> Any:
    """The shape of the entries, -1 for what differs; the scalar -1 where there are none."""


list_element_shape.op.differentiable = False


# ---- sums ------------------------------------------------------------------------------------------------------------


def added(inputs: Sequence[np.ndarray]) -> np.ndarray:
    """The raw value of the sum of lists: what `AddN` does with variants."""
    total: Any = Zeros()
    for held in inputs:
        entries: Any = held[()]
        total = list_values.added(total, entries)
    return as_variant(total)


def sum_of_lists(*lists: Any) -> Any:
    """The sum of lists, entry by entry; what is not there counts as zero."""
    return ops.AddN(list(lists))


hooks.zeros_variant = zeros_variant
