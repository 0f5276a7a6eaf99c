"""Arithmetic on the indices of sparse tensors, which the kernels of sparse ops share."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch

from tapeflow.core.loops import Int64s, loop
from tapeflow.core.ops.shape_rules import text
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import invalid


def flat(indices: torch.Tensor, shape: Sequence[int]) -> torch.Tensor:
    """Converts rows of indices to flat indices in row-major order."""
    if not len(shape):
        return indices.new_zeros(len(indices))
    numbers = indices[:, 0]
    for column, length in zip(indices.unbind(1)[1:], shape[1:], strict=True):
        numbers = torch.add(column, numbers, alpha=length)
    return numbers.contiguous()


def unflat(numbers: torch.Tensor, shape: Sequence[int]) -> torch.Tensor:
    """Returns the rows of indices for such numbers."""
    columns = []
    for i in range(len(shape)):
        stride = math.prod(shape[i + 1 :])
        columns.append(torch.div(numbers, stride, rounding_mode="floor") % max(shape[i], 1))
    return torch.stack(columns, 1) if columns else numbers.new_empty((len(numbers), 0))


def order(indices: torch.Tensor, shape: Sequence[int]) -> torch.Tensor:
    """Returns the positions of the rows in sorted order; equal rows stay in their order."""
    if math.prod(shape) < 2**62 and are_inside(indices, shape):
        return torch.argsort(flat(indices, shape), stable=True)
    positions = torch.arange(len(indices), device=indices.device)
    for column in range(indices.shape[1] - 1, -1, -1):  # no row is one number: by one column after the other
        positions = positions[torch.argsort(indices[positions, column], stable=True)]
    return positions


def _rows_in_memory(indices: torch.Tensor, rank: int) -> tuple[torch.Tensor, int, int]:
    """Returns rows of indices for a loop, and the distances between two rows and between two columns. Many are columns
    in memory.
    """
    if indices.dim() != 2 or indices.shape[1] != rank:
        raise invalid(f"indices must be a matrix with {rank} columns, got the shape {list(indices.shape)}")
    indices = indices.cpu()
    if indices.is_contiguous():
        return indices, rank, 1
    return indices.t().contiguous(), 1, len(indices)


@loop
def _first_outside(indices: Int64s, step: int, column: int, count: int, shape: Int64s, rank: int) -> int:
    """Returns the number of the first row of indices that is not inside of a shape, or -1."""
    for i in range(count):
        for d in range(rank):
            if not 0 <= indices[i * step + d * column] < shape[d]:
                return i
    return -1


@loop
def _order_of_rows(a: Int64s, i: int, column: int, b: Int64s, j: int, column2: int, rank: int) -> int:
    """Returns a negative number, zero or a positive one: the order of the rows at two places."""
    for d in range(rank):
        if a[i + d * column] != b[j + d * column2]:
            return -1 if a[i + d * column] < b[j + d * column2] else 1
    return 0


@loop
def _first_unordered(indices: Int64s, step: int, column: int, count: int, rank: int) -> int:
    """Returns the number of the first row of indices that is not greater than the one before, or -1."""
    for i in range(1, count):
        if _order_of_rows(indices, (i - 1) * step, column, indices, i * step, column, rank) >= 0:
            return i
    return -1


@loop
def _write_box(
    indices: Int64s, step: int, column: int, count: int, rank: int, start: Int64s, end: Int64s, kept: Int64s,
    moved: Int64s,
) -> int:  # fmt: skip
    """Writes the numbers of the rows of indices in a box, and these rows, counted from its start. Returns their count.
    The buffers have a row more than there are."""
    size = 0
    for i in range(count):
        kept[size], inside = i, 1
        for d in range(rank):
            index = indices[i * step + d * column]
            inside &= start[d] <= index < end[d]
            moved[size * rank + d] = index - start[d]
        size += inside
    return size


def rows_in_box(indices: torch.Tensor, start: Sequence[int], end: Sequence[int]) -> tuple[torch.Tensor, torch.Tensor]:
    """Returns the numbers of the rows of indices in a box, and these rows, counted from its start."""
    count, rank = len(indices), len(start)
    kept, moved = torch.empty(count + 1, dtype=torch.int64), torch.empty((count + 1, rank), dtype=torch.int64)
    corners = (torch.tensor(corner, dtype=torch.int64) for corner in (start, end))
    size = _write_box(*_rows_in_memory(indices, rank), count, rank, *corners, kept, moved)
    return kept[:size].to(indices.device, copy=True), moved[:size].to(indices.device, copy=True)


def _find_outside(indices: torch.Tensor, shape: Sequence[int]) -> int:
    lengths = torch.tensor(shape, dtype=torch.int64)
    return _first_outside(*_rows_in_memory(indices, len(shape)), len(indices), lengths, len(shape))


def are_inside(indices: torch.Tensor, shape: Sequence[int]) -> bool:
    """Returns True if all rows of indices are inside of a shape."""
    return _find_outside(indices, shape) < 0


def check(indices: torch.Tensor, shape: Sequence[int], sorted_once: bool = True) -> None:
    """Checks that indices are inside of the shape and, with `sorted_once`, sorted and different.

    Raises:
        InvalidArgumentError: they are not.
    """
    i = _find_outside(indices, shape)
    if i >= 0:
        raise invalid(f"indices[{i}] = {text(indices[i])} is out of bounds: need 0 <= index < {text(shape)}")
    if sorted_once and len(shape):
        i = _first_unordered(*_rows_in_memory(indices, len(shape)), len(indices), len(shape))
        if i >= 0 and bool((indices[i] == indices[i - 1]).all()):
            raise invalid(f"indices[{i}] = {text(indices[i])} is repeated")
        if i >= 0:
            raise invalid(
                f"indices[{i}] = {text(indices[i])} is out of order. Many sparse ops require sorted indices.\n"
                "    Use `tf.sparse.reorder` to create a correctly ordered copy.\n\n"
            )


def check_same_shape(a: Sequence[int], b: Sequence[int]) -> None:
    """Checks that two sparse operands have one shape.

    Raises:
        InvalidArgumentError: they have not.
    """
    if len(a) != len(b):
        raise invalid(f"Operands' ranks do not match: got {len(a)} and {len(b)}")
    for i, (m, n) in enumerate(zip(a, b, strict=True)):
        if m != n:
            raise invalid(f"Operands' shapes do not match: got {m} and {n} for dimension {i}")


def rank_of(shape: Any) -> int | None:
    """Returns the number of dimensions of a shape, or None if it is not static.

    Args:
        shape: as a shape rule gets it: numbers (None if they are not static), a symbolic vector, or None.
    """
    return len(shape) if isinstance(shape, tuple) else 1 if isinstance(shape, int) else None


def components(rank: int | None, count: int | None = None) -> list[TensorShape]:
    """Returns the static shapes of the indices, the values and the shape of a sparse tensor of `count` elements."""
    return [TensorShape([count, rank]), TensorShape([count]), TensorShape([rank])]


def merge_indices(
    a: torch.Tensor, b: torch.Tensor, shape: Sequence[int]
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Merges the indices of two sparse tensors, and returns them with the position of each row of `a` and of `b`.

    Unsorted or repeated rows are merged in their order: the lesser of the two next rows comes first.
    """
    if not len(shape):
        raise invalid("Tensors must not be empty")
    rank = len(shape)
    both = torch.empty(len(a) + len(b), rank, dtype=torch.int64)
    at_a, at_b = (torch.empty(len(rows), dtype=torch.int64) for rows in (a, b))
    count = _merge_rows(*_rows_in_memory(a, rank), len(a), *_rows_in_memory(b, rank), len(b), rank, both, at_a, at_b)
    return both[:count].to(a.device), at_a.to(a.device), at_b.to(a.device)


@loop
def _merge_rows(
    a: Int64s, a_step: int, a_column: int, a_count: int, b: Int64s, b_step: int, b_column: int, b_count: int,
    rank: int, both: Int64s, at_a: Int64s, at_b: Int64s,
) -> int:  # fmt: skip
    """Writes merged rows and their positions, see `merge_indices`, and returns the number of rows."""
    i, j, count = 0, 0, 0
    while i < a_count or j < b_count:
        order = -1 if j == b_count else 1
        if i < a_count and j < b_count:
            order = _order_of_rows(a, i * a_step, a_column, b, j * b_step, b_column, rank)
        for d in range(rank):
            both[count * rank + d] = a[i * a_step + d * a_column] if order <= 0 else b[j * b_step + d * b_column]
        if order <= 0:
            at_a[i] = count
            i += 1
        if order >= 0:
            at_b[j] = count
            j += 1
        count += 1
    return count


def times_dense(
    rows: torch.Tensor, columns: torch.Tensor, values: torch.Tensor, shape: tuple[int, int], b: torch.Tensor
) -> torch.Tensor:
    """Returns the product of the matrix that has values at these rows and columns with a dense one."""
    if values.dtype in (torch.float32, torch.float64):
        a = torch.sparse_coo_tensor(torch.stack([rows, columns]), values, shape, check_invariants=False)
        return torch.sparse.mm(a, b)
    return values.new_zeros((shape[0], b.shape[1])).index_add_(0, rows, values[:, None] * b[columns])
