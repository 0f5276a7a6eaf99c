"""Broadcasting of ragged tensors.

A uniform dimension of length 1 is repeated to the lengths of the other operands' rows. Missing leading dimensions are
repeated, too. All other rows must be equally long.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tapeflow.array.creation import zeros_like
from tapeflow.array.gathers import gather
from tapeflow.array.masks import where
from tapeflow.array.reshapes import expand_dims
from tapeflow.core.autodiff.gradients import shape_of
from tapeflow.core.ops.arguments import is_tensor_like
from tapeflow.core.ops.convert import convert
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.dtypes import DType, int32, int64
from tapeflow.core.values.tensor import EagerTensor, Tensor, invalid
from tapeflow.graph.ir.python_op import check_or_defer
from tapeflow.math.casting import cast
from tapeflow.math.comparison import equal, not_equal
from tapeflow.ragged.conversion import with_leading_merged
from tapeflow.ragged.row_partition import (
    array_of,
    length_of,
    number_of,
    offsets_of,
    repeat_values,
    splits_of,
    tensor_of,
    up_to,
)
from tapeflow.ragged.tensor import RaggedTensor


def apply(function: Callable[..., Any], operands: Sequence[Any]) -> Any:
    """Calls a function on the flat values of ragged tensors, and of dense ones broadcast to them.

    Args:
        function: takes a tensor for each operand and returns a tensor of as many rows.
        operands: ragged tensors, tensors, or values that convert to tensors; at least one is ragged.

    Returns:
        A ragged tensor.

    Raises:
        InvalidArgumentError: rows are of different lengths.
    """
    ragged = [o for o in operands if isinstance(o, RaggedTensor)]
    first = ragged[0]
    dtype = next(o.dtype for o in operands if is_tensor_like(o) or isinstance(o, RaggedTensor))
    converted = [_ragged_operand(o, dtype) for o in operands]
    if all(_same_rows(first, o) if isinstance(o, RaggedTensor) else o.shape.rank == 0 for o in converted):
        flat = [o.flat_values if isinstance(o, RaggedTensor) else o for o in converted]
        return first.with_flat_values(function(*flat))
    return _broadcast_operands(function, converted)


def _ragged_operand(value: TensorLike, dtype: DType) -> Any:
    if isinstance(value, RaggedTensor):
        return value
    try:
        return convert(value, None if is_tensor_like(value) else dtype)
    except (TypeError, ValueError):
        return convert(value)


def _same_rows(a: RaggedTensor, b: RaggedTensor) -> bool:
    mine, theirs = a._nested_row_partitions, b._nested_row_partitions
    if len(mine) != len(theirs) or len(a.shape) != len(b.shape):
        return False
    return all(p.same_as(q) for p, q in zip(mine, theirs, strict=True))


class _Levels:
    """An operand as rows within rows, down to the ragged rank of the result.

    Attributes:
        count: the number of its rows: an int, or a scalar tensor if that is not static.
        at: for each row of the result so far, the row of the operand that it comes from.
        uniform: the length of all rows of the current level, if they are equally long: an int or a scalar tensor.
        starts: the position where each row of the current level begins.
        lengths: the length of each.
    """

    def __init__(self, value: Tensor | RaggedTensor, rank: int, dtype: DType) -> None:
        self.value = value
        self.dtype = dtype
        self.partitions = (
            value.with_row_splits_dtype(dtype)._nested_row_partitions if isinstance(value, RaggedTensor) else ()
        )
        self.flat = value.flat_values if isinstance(value, RaggedTensor) else value
        self.offset = rank - len(value.shape)  # the number of missing leading dimensions
        self.count = 1 if self.offset else length_of(value)

    @property
    def ragged_until(self) -> int:
        """The innermost level whose rows are partitioned."""
        return self.offset + len(self.partitions)

    def begin(self, rows: Tensor | int) -> None:
        """Goes to the outermost rows, which are as many as in the result, or a single one."""
        self.at = up_to(tensor_of(rows, self.dtype)) * _length_stride(self.count, self.dtype)

    def enter(self, level: int) -> None:
        """Goes to the rows of a level."""
        axis = level - self.offset
        if 1 <= axis <= len(self.partitions):
            partition = self.partitions[axis - 1]
            uniform = partition.uniform_row_length()
            self.uniform = None if uniform is None else number_of(uniform)
            self.starts, self.lengths = (
                gather(partition.row_starts(), self.at),
                gather(partition.row_lengths(), self.at),
            )
            return
        dims = shape_of(self.flat)
        inner = axis - len(self.partitions)
        self.uniform = 1 if axis < 0 else length_of(self.value) if axis == 0 else dims[inner]
        length = tensor_of(self.uniform, self.dtype)
        self.starts = self.at * length
        self.lengths = zeros_like(self.at) + length

    def descend(self, splits: Tensor) -> None:
        """Goes to the elements of the rows of the result."""
        offsets = offsets_of(splits)
        if self.uniform is not None:
            offsets = offsets * _length_stride(self.uniform, self.dtype)
        self.at = repeat_values(self.starts, splits) + offsets

    def values(self, levels: int) -> Any:
        """Returns the flat values in the order of the result."""
        axis = levels - self.offset
        if axis < 0:
            return expand_dims(self.flat, 0)
        flat = with_leading_merged(self.flat, axis - len(self.partitions) + 1)
        if isinstance(self.at, EagerTensor) and np.array_equal(array_of(self.at), np.arange(flat.shape[0])):
            return flat
        return gather(flat, self.at)


def _length_stride(length: Tensor | int, dtype: DType) -> Any:
    """Returns the stride: 0 for a length of 1, whose one element is repeated, and 1 for any other."""
    return tensor_of(int(length != 1), dtype) if isinstance(length, int) else cast(not_equal(length, 1), dtype)


def _largest_length(lengths: Sequence[Any], dtype: DType) -> Any:
    """Returns the length that uniform lengths broadcast to: one that is not 1, if there is one."""
    if all(isinstance(n, int) for n in lengths):
        return next((n for n in lengths if n != 1), 1)
    largest = tensor_of(lengths[0], dtype)
    for n in lengths[1:]:
        largest = where(equal(largest, tensor_of(1, dtype)), tensor_of(n, dtype), largest)
    return largest


def _broadcast_operands(function: Callable[..., Any], operands: Sequence[Any]) -> Any:
    if any(o.shape.rank is None for o in operands):
        raise ValueError(
            "Unable to broadcast a ragged tensor with a tensor of unknown rank: specify it with tf.ensure_shape."
        )
    rank = max(len(o.shape) for o in operands)
    ragged = [o for o in operands if isinstance(o, RaggedTensor)]
    dtype = int32 if all(o.row_splits.dtype is int32 for o in ragged) else int64
    # Scalars broadcast in the function itself.
    levels = [_Levels(o, rank, dtype) if len(o.shape) else None for o in operands]
    present = [v for v in levels if v is not None]
    depth = max(v.ragged_until for v in present)
    rows = _largest_length([v.count for v in present], dtype)
    _must_match(0, [tensor_of([v.count], dtype) for v in present], [v.count for v in present], tensor_of([rows], dtype))
    for v in present:
        v.begin(rows)
    partitions: list[tuple[Any, Any]] = []
    for level in range(1, depth + 1):
        for v in present:
            v.enter(level)
        rows_differ = [v for v in present if v.uniform is None]
        uniform = None if rows_differ else _largest_length([v.uniform for v in present], dtype)
        lengths = rows_differ[0].lengths if rows_differ else zeros_like(present[0].at) + tensor_of(uniform, dtype)
        _must_match(level, [v.lengths for v in present], [v.uniform for v in present], lengths)
        splits = splits_of(lengths)
        for v in present:
            v.descend(splits)
        partitions.append((splits, uniform))
    result = function(*[o if v is None else v.values(depth) for o, v in zip(operands, levels, strict=True)])
    for splits, uniform in reversed(partitions):
        result = RaggedTensor.from_row_splits(result, splits, validate=False)
        if uniform is not None:
            partition = result._row_partition.with_uniform_row_length(uniform)
            result = RaggedTensor._from_row_partition(result.values, partition, validate=False)
    return result


def _must_match(level: int, lengths: Sequence[Any], uniform: Sequence[Any], expected: Tensor) -> None:
    """Checks that all rows have the expected lengths, or length 1.

    Raises:
        InvalidArgumentError: they are not.
    """
    may_stretch = [u is not None for u in uniform]

    def check(expected: Tensor, *lengths: Any) -> None:
        numbers = [array_of(n) for n in lengths]
        for n, may in zip(numbers, may_stretch, strict=True):
            if not np.array_equal(n, array_of(expected)) and not (may and (n == 1).all()):
                text = " and ".join(str(n.tolist()) for n in numbers)
                raise invalid(f"Unable to broadcast: dimension size mismatch in dimension {level}: lengths {text}")

    check_or_defer(check, expected, *lengths)
