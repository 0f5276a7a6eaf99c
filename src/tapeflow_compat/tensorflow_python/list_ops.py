"""Lists of tensors as libraries that use them directly make and read them. A shape of None is unknown."""

from __future__ import annotations

from typing import Any

from tapeflow.array import tensor_list
from tapeflow.array.tensor_list import list_concat_lists as tensor_list_concat_lists
from tapeflow.array.tensor_list import list_element_shape as tensor_list_element_shape
from tapeflow.array.tensor_list import list_length as tensor_list_length
from tapeflow.array.tensor_list import list_push_back as tensor_list_push_back
from tapeflow.array.tensor_list import list_resize as tensor_list_resize
from tapeflow.array.tensor_list import shape_argument
from tapeflow.core.types.aliases import DTypeLike, ShapeLike, TensorLike
from tapeflow.core.types.dtypes import as_dtype
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import Tensor

__all__ = [
    "empty_tensor_list", "tensor_list_concat", "tensor_list_concat_lists", "tensor_list_element_shape",
    "tensor_list_from_tensor", "tensor_list_gather", "tensor_list_get_item", "tensor_list_length",
    "tensor_list_pop_back", "tensor_list_push_back", "tensor_list_reserve", "tensor_list_resize",
    "tensor_list_scatter", "tensor_list_set_item", "tensor_list_split", "tensor_list_stack",
]  # fmt: skip


def _shape_input(shape: ShapeLike) -> Any:
    return shape if isinstance(shape, Tensor) else shape_argument(TensorShape(shape))


def empty_tensor_list(
    element_shape: ShapeLike, element_dtype: DTypeLike, max_num_elements: int | None = None, name: str | None = None
) -> Tensor:
    """Returns a list without entries."""
    most = -1 if max_num_elements is None else max_num_elements
    return tensor_list.empty_list(_shape_input(element_shape), most, as_dtype(element_dtype), name)


def tensor_list_reserve(
    element_shape: ShapeLike, num_elements: Any, element_dtype: DTypeLike, name: str | None = None
) -> Tensor:
    """Returns a list of entries that are not written."""
    return tensor_list.list_reserve(_shape_input(element_shape), num_elements, as_dtype(element_dtype), name)


def tensor_list_from_tensor(tensor: TensorLike, element_shape: ShapeLike, name: str | None = None) -> Tensor:
    """Returns a list of the slices of a tensor along its first dimension."""
    return tensor_list.list_from_tensor(tensor, _shape_input(element_shape), name)


def tensor_list_get_item(
    input_handle: Any, index: Any, element_dtype: DTypeLike, element_shape: ShapeLike = None, name: str | None = None
) -> Tensor:
    """Returns the entry at an index."""
    return tensor_list.list_get_item(input_handle, index, _shape_input(element_shape), as_dtype(element_dtype), name)


def tensor_list_set_item(
    input_handle: Any, index: Any, item: Any, resize_if_index_out_of_bounds: bool = False, name: str | None = None
) -> Tensor:
    """Returns the list with another entry at an index."""
    return tensor_list.list_set_item(input_handle, index, item, resize_if_index_out_of_bounds, name)


def tensor_list_pop_back(input_handle: Any, element_dtype: DTypeLike, name: str | None = None) -> Any:
    """Returns the list without its last entry, and that entry."""
    return tensor_list.list_pop_back(input_handle, -1, as_dtype(element_dtype), name)


def tensor_list_gather(
    input_handle: Any,
    indices: TensorLike,
    element_dtype: DTypeLike,
    element_shape: ShapeLike = None,
    name: str | None = None,
) -> Tensor:
    """Returns some entries as one tensor."""
    return tensor_list.list_gather(input_handle, indices, _shape_input(element_shape), as_dtype(element_dtype), name)


def tensor_list_scatter(
    tensor: TensorLike,
    indices: TensorLike,
    element_shape: ShapeLike = None,
    input_handle: Any = None,
    name: str | None = None,
) -> Tensor:
    """Returns a list with the slices of a tensor at indices: a given list, or a new one."""
    if input_handle is not None:
        return tensor_list.list_scatter(input_handle, tensor, indices, name)
    return tensor_list.list_scatter_new(tensor, indices, _shape_input(element_shape), -1, name)


def tensor_list_stack(
    input_handle: Any,
    element_dtype: DTypeLike,
    num_elements: int = -1,
    element_shape: ShapeLike = None,
    name: str | None = None,
) -> Tensor:
    """Returns all entries as one tensor."""
    shape = _shape_input(element_shape)
    return tensor_list.list_stack(input_handle, shape, as_dtype(element_dtype), num_elements, name)


def tensor_list_concat(
    input_handle: Any, element_dtype: DTypeLike, element_shape: ShapeLike = None, name: str | None = None
) -> Tensor:
    """Returns all entries joined along their first dimension."""
    shape = _shape_input(element_shape)
    return tensor_list.list_concat(input_handle, shape, (), as_dtype(element_dtype), name)[0]


def tensor_list_split(
    tensor: TensorLike, element_shape: ShapeLike, lengths: TensorLike, name: str | None = None
) -> Tensor:
    """Returns a list of the pieces of a tensor along its first dimension."""
    return tensor_list.list_split(tensor, _shape_input(element_shape), lengths, name)
