"""Lists of tensors in exported programs, whose loops carry tensors alone.

In unrolled loops, indices are numbers, and a list is a list of `array/tensor_list.py`. If an index is a tensor, or a
loop or conditional of torch passes the list, its entries are the rows of one tensor.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from tapeflow.array.list_values import Sparse
from tapeflow.array.tensor_list import (
    list_from_tensor,
    list_gather,
    list_get_item,
    list_length,
    list_reserve,
    list_scatter,
    list_set_item,
    list_stack,
)
from tapeflow.core.ops.definition import Op
from tapeflow.core.types.aliases import DTypeLike, ShapeLike
from tapeflow.core.values.boxed_objects import box_object
from tapeflow.torch.unconvertible import Unconvertible


class Stacked:
    """A list whose entries are the rows of a tensor; rows that were not written are zeros."""

    __slots__ = ("rows",)

    def __init__(self, rows: torch.Tensor) -> None:
        self.rows = rows


def of_rows(rows: torch.Tensor) -> np.ndarray:
    """Returns the raw value of the list of a tensor's rows."""
    return box_object(Stacked(rows))


def _written_entries(variant: np.ndarray) -> list[Any]:
    """Returns the entries that were written of a list that is not stacked."""
    items = variant[()]
    return list(items.written.values()) if isinstance(items, Sparse) else [v for v in items if v is not None]


def shape_is_open(variant: np.ndarray) -> bool:
    """Returns True if nothing says which shape and dtype the entries of a list have."""
    return not isinstance(variant[()], Stacked) and not _written_entries(variant)


def rows_of(variant: np.ndarray, like: torch.Tensor | None = None) -> torch.Tensor:
    """Returns the entries of a list as the rows of a tensor.

    Args:
        variant: the list.
        like: rows of the shape and dtype of those that were not written; by default these are as those that were.
    """
    items: Any = variant[()]
    if isinstance(items, Stacked):
        return items.rows
    if like is None:
        like = _written_entries(variant)[0].unsqueeze(0)
    shape = tuple(like.shape[1:])
    if not _written_entries(variant):
        length = items.length if isinstance(items, Sparse) else len(items)
        return torch.zeros((length, *shape), dtype=like.dtype, device=like.device)
    empty = torch.zeros(shape, dtype=like.dtype, device=like.device)
    return torch.stack([empty if v is None else v for v in items])


def _is_stacked(variant: np.ndarray, place: Any) -> bool:
    """Returns True if an entry is to be looked up in the rows of a tensor."""
    items = variant[()]
    return isinstance(items, Stacked) or not isinstance(place, int) or (
        isinstance(items, Sparse) and not isinstance(items.length, int)
    )  # fmt: skip


def _place_vector(place: Any, rows: torch.Tensor) -> torch.Tensor:
    """Returns a place, or places, as a vector of indices."""
    if isinstance(place, torch.Tensor):
        return place.reshape(-1).long()
    return torch.full((1,), place, dtype=torch.int64, device=rows.device)


def at_place(tensor: torch.Tensor, axis: int, place: torch.Tensor) -> torch.Tensor:
    """Returns the part of a tensor at a place of an axis, counted from the end if it is negative; the axis stays."""
    size = torch.scalar_tensor(tensor.shape[axis], dtype=torch.int64, device=tensor.device)
    return tensor.index_select(axis, torch.remainder(_place_vector(place, tensor), size))


def _reserve_list(element_shape: Any, num_elements: Any, element_dtype: Any) -> np.ndarray:
    static = isinstance(element_shape, tuple) and all(type(d) is int and d >= 0 for d in element_shape)
    if static and not isinstance(num_elements, int):
        return of_rows(torch.zeros((num_elements, *element_shape), dtype=element_dtype.torch))
    return box_object(Sparse(num_elements))


def _list_item(variant: np.ndarray, index: Any, element_shape: ShapeLike, element_dtype: DTypeLike) -> torch.Tensor:
    if not _is_stacked(variant, index):
        return _in_a_row(list_get_item.op)(variant, index, element_shape, element_dtype)
    rows = rows_of(variant)
    return rows[index] if isinstance(index, int) else rows.index_select(0, _place_vector(index, rows)).squeeze(0)


def _with_item(variant: np.ndarray, index: Any, item: torch.Tensor, resize: bool) -> np.ndarray:
    if not _is_stacked(variant, index):
        return _in_a_row(list_set_item.op)(variant, index, item, resize)
    rows = rows_of(variant, item.unsqueeze(0))
    return of_rows(torch.index_put(rows, (_place_vector(index, rows),), item.unsqueeze(0)))


def _stack_list(
    variant: np.ndarray, element_shape: ShapeLike, element_dtype: DTypeLike, num_elements: int
) -> torch.Tensor:
    if isinstance(variant[()], Stacked):
        return rows_of(variant)
    return _in_a_row(list_stack.op)(variant, element_shape, element_dtype, num_elements)


def _scatter_list(variant: np.ndarray, tensor: torch.Tensor, indices: torch.Tensor) -> np.ndarray:
    rows = rows_of(variant, tensor)
    return of_rows(torch.index_put(rows, (indices.long(),), tensor))


def _list_length(variant: np.ndarray) -> torch.Tensor:
    items: Any = variant[()]
    length = items.rows.shape[0] if isinstance(items, Stacked) else getattr(items, "length", None)
    length = len(items) if length is None else length  # `len` would make a number of a symbol
    return torch.scalar_tensor(length, dtype=torch.int32)


def _in_a_row(op: Op) -> Callable[..., Any]:
    """Returns the kernel of an op for lists that are sequences, which says so where one is stacked."""
    of_sequences: Any = getattr(op, "string_kernel")  # noqa: B009  (of a registered op)

    def kernel(*values: Any) -> Any:
        if any(isinstance(v, np.ndarray) and isinstance(v[()], Stacked) for v in values):
            raise Unconvertible(
                f"{op.name} changes the length of a TensorArray in a loop or a conditional that torch.export keeps: "
                "create it with its final size"
            )
        return of_sequences(*values)

    return kernel


_KERNELS: dict[Op, Callable[..., Any]] = {
    list_reserve.op: _reserve_list, list_get_item.op: _list_item, list_set_item.op: _with_item,
    list_stack.op: _stack_list, list_scatter.op: _scatter_list, list_length.op: _list_length,
    list_from_tensor.op: lambda tensor, element_shape: of_rows(tensor),
    list_gather.op: lambda variant, indices, *_: rows_of(variant).index_select(0, indices.long()),
}  # fmt: skip


def kernel_of(op: Op) -> Callable[..., Any]:
    """Returns the kernel of an op on lists, which takes the places of entries as numbers or as tensors."""
    return _KERNELS.get(op) or _in_a_row(op)
