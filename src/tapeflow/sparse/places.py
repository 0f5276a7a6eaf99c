"""Arithmetic on the indices of sparse tensors, which the kernels of sparse ops share."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch

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


def _outside(indices: torch.Tensor, shape: Sequence[int]) -> torch.Tensor:
    return (indices < 0) | (indices >= torch.tensor(shape, dtype=torch.int64, device=indices.device))


def are_inside(indices: torch.Tensor, shape: Sequence[int]) -> bool:
    """Returns True if all rows of indices are inside of a shape."""
    if not indices.numel():
        return True
    for column, length in zip(indices.unbind(1), shape, strict=True):
        low, high = column.aminmax()
        if int(low) < 0 or int(high) >= length:
            return False
    return True


def check(indices: torch.Tensor, shape: Sequence[int], sorted_once: bool = True) -> None:
    """Checks that indices are inside of the shape and, with `sorted_once`, sorted and different.

    Raises:
        InvalidArgumentError: they are not.
    """
    if not are_inside(indices, shape):
        outside = _outside(indices, shape)
        i = int(outside.any(1).nonzero()[0])
        raise invalid(f"indices[{i}] = {text(indices[i])} is out of bounds: need 0 <= index < {text(shape)}")
    if sorted_once and len(indices) > 1:
        numbers = flat(indices, shape)
        wrong = numbers[1:] <= numbers[:-1]
        if bool(wrong.any()):
            i = int(wrong.nonzero()[0]) + 1
            if bool(numbers[i] == numbers[i - 1]):
                raise invalid(f"indices[{i}] = {text(indices[i])} is repeated")
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
    if isinstance(shape, tuple):
        return len(shape)
    if isinstance(shape, int):
        return 1
    return None


def components(rank: int | None, count: int | None = None) -> list[TensorShape]:
    """Returns the static shapes of the indices, the values and the shape of a sparse tensor of `count` elements."""
    return [TensorShape([count, rank]), TensorShape([count]), TensorShape([rank])]


def text(row: Sequence[int] | torch.Tensor) -> str:
    """Returns indices or a shape as TensorFlow's messages print them: `[2,3]`."""
    return "[" + ",".join(str(int(v)) for v in row) + "]"


def merged(a: torch.Tensor, b: torch.Tensor, shape: Sequence[int]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Merges the indices of two sparse tensors, and returns them with the position of each row of `a` and of `b`.

    Unsorted or repeated rows are merged in their order: the lesser of the two next rows comes first.
    """
    if not len(shape):
        raise invalid("Tensors must not be empty")
    if are_inside(a, shape) and are_inside(b, shape):
        numbers = [flat(rows, shape) for rows in (a, b)]
        if all(bool((n[1:] > n[:-1]).all()) for n in numbers):
            ordered, order_of_both = torch.sort(torch.cat(numbers), stable=True)  # by radix, which is faster
            distinct, inverse = torch.unique_consecutive(ordered, return_inverse=True)
            inverse = torch.empty_like(inverse).index_copy_(0, order_of_both, inverse)
            at_both = inverse[: len(a)], inverse[len(a) :]
            both = a.new_empty((len(distinct), len(shape))).index_copy_(0, at_both[0], a).index_copy_(0, at_both[1], b)
            return both, *at_both
    rows_a, rows_b = a.tolist(), b.tolist()
    both_rows: list[list[int]] = []
    at: tuple[list[int], list[int]] = [], []
    while len(at[0]) < len(rows_a) or len(at[1]) < len(rows_b):
        next_rows = [
            rows[len(done)] if len(done) < len(rows) else None for rows, done in zip((rows_a, rows_b), at, strict=True)
        ]
        least = min(row for row in next_rows if row is not None)
        for row, done in zip(next_rows, at, strict=True):
            if row == least:
                done.append(len(both_rows))
        both_rows.append(least)
    at_a, at_b = (a.new_tensor(done, dtype=torch.int64) for done in at)
    return a.new_tensor(both_rows).reshape(-1, len(shape)), at_a, at_b


def times_dense(
    rows: torch.Tensor, columns: torch.Tensor, values: torch.Tensor, shape: tuple[int, int], b: torch.Tensor
) -> torch.Tensor:
    """Returns the product of the matrix that has values at these rows and columns with a dense one."""
    if values.dtype in (torch.float32, torch.float64):
        a = torch.sparse_coo_tensor(torch.stack([rows, columns]), values, shape, check_invariants=False)
        return torch.sparse.mm(a, b)
    return values.new_zeros((shape[0], b.shape[1])).index_add_(0, rows, values[:, None] * b[columns])
