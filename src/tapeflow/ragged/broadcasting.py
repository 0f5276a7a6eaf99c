"""Ragged tensors element by element, with broadcasting.

A uniform dimension of length 1 is repeated to the lengths of the other operands' rows, as are missing leading dimensions; all
other rows must be equally long.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tapeflow.array.gathering import gather
from tapeflow.array.shaping import reshape
from tapeflow.core.convert import convert
from tapeflow.core.dtypes import int32, int64
from tapeflow.core.op import is_tensor_like
from tapeflow.core.tensor import invalid
from tapeflow.ragged.row_partition import offsets_in_rows, tensor_of
from tapeflow.ragged.tensor import RaggedTensor


def apply(function: Callable[..., Any], operands: Sequence[Any]) -> Any:
    """Calls a function on the flat values of ragged tensors, and of dense ones broadcast to them.

    Raises:
        InvalidArgumentError: rows are of different lengths.
    """
    ragged = [o for o in operands if isinstance(o, RaggedTensor)]
    first = ragged[0]
    dtype = next(o.dtype for o in operands if is_tensor_like(o) or isinstance(o, RaggedTensor))
    converted = [_operand(o, dtype) for o in operands]
    if all(_same_rows(first, o) if isinstance(o, RaggedTensor) else not len(o.shape) for o in converted):
        flat = [o.flat_values if isinstance(o, RaggedTensor) else o for o in converted]
        return first.with_flat_values(function(*flat))
    return _broadcast(function, converted)


def _operand(value: Any, dtype: Any) -> Any:
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
        at: for each row of the result so far, the row of the operand that it comes from.
        uniform: the length of all rows of the current level, if they are equally long.
    """

    def __init__(self, value: Any, rank: int) -> None:
        self.value = value
        self.partitions = value._nested_row_partitions if isinstance(value, RaggedTensor) else ()
        self.flat = value.flat_values if isinstance(value, RaggedTensor) else value
        self.offset = rank - len(value.shape)  # how many leading dimensions are missing
        self.count = 1 if self.offset else value.shape[0]
        self.at = np.arange(self.count)
        self.uniform: int | None = None
        self.starts = self.lengths = self.at

    @property
    def ragged_until(self) -> int:
        return self.offset + len(self.partitions)

    def enter(self, level: int) -> None:
        """Looks at the rows of a level: where each begins, and how long it is."""
        axis = level - self.offset
        if 1 <= axis <= len(self.partitions):
            partition = self.partitions[axis - 1]
            self.uniform = partition.static_uniform_row_length
            self.starts, self.lengths = partition.splits()[:-1][self.at], partition.lengths()[self.at]
            return
        inner = axis - len(self.partitions)
        self.uniform = 1 if axis < 0 else self.value.shape[0] if axis == 0 else self.flat.shape[inner]
        self.starts = self.at * self.uniform
        self.lengths = np.full(len(self.at), self.uniform)

    def descend(self, lengths: np.ndarray, stretched: bool) -> None:
        """Goes on to what is in the rows, each of which gives that many."""
        offsets = 0 if stretched else offsets_in_rows(lengths)
        self.at = np.repeat(self.starts, lengths) + offsets

    def values(self, levels: int) -> Any:
        """The flat values in the order of the result."""
        axis = levels - self.offset
        flat = self.flat
        if axis < 0:
            return reshape(flat, [1, *flat.shape])
        split = axis - len(self.partitions) + 1
        shape = flat.shape.as_list()
        if split != 1:
            flat = reshape(flat, [math.prod(shape[:split]), *shape[split:]])
        if len(self.at) == flat.shape[0] and np.array_equal(self.at, np.arange(len(self.at))):
            return flat
        return gather(flat, self.at)


def _broadcast(function: Callable[..., Any], operands: Sequence[Any]) -> Any:
    rank = max(len(o.shape) for o in operands)
    # Scalars broadcast in the function itself.
    levels = [_Levels(o, rank) if len(o.shape) else None for o in operands]
    present = [v for v in levels if v is not None]
    depth = max(v.ragged_until for v in present)
    rows = max(v.count for v in present) if all(v.count for v in present) else 0
    for v in present:
        if v.count not in (1, rows):
            raise _mismatch(0, [np.array([p.count]) for p in present])
        if v.count == 1 and rows != 1:
            v.at = np.zeros(rows, np.int64)
    partitions: list[tuple[np.ndarray, int | None]] = []
    for level in range(1, depth + 1):
        for v in present:
            v.enter(level)
        long = [v for v in present if v.uniform != 1] or present[:1]
        lengths = long[0].lengths
        if not all(np.array_equal(v.lengths, lengths) for v in long):
            raise _mismatch(level, [v.lengths for v in long])
        uniform = next((v.uniform for v in long if v.uniform is not None), None)
        for v in present:
            v.descend(lengths, stretched=v.uniform == 1 and uniform != 1)
        partitions.append((lengths, uniform if all(v.uniform is not None for v in long) else None))
    result = function(*[o if v is None else v.values(depth) for o, v in zip(operands, levels, strict=True)])
    ragged = [o for o in operands if isinstance(o, RaggedTensor)]
    dtype = int32 if all(o.row_splits.dtype is int32 for o in ragged) else int64
    for lengths, uniform in reversed(partitions):
        if uniform is not None:
            result = RaggedTensor.from_uniform_row_length(result, tensor_of(uniform, dtype), len(lengths))
        else:
            result = RaggedTensor.from_row_lengths(result, tensor_of(lengths, dtype), validate=False)
    return result


def _mismatch(level: int, lengths: list[np.ndarray]) -> Exception:
    said = " and ".join(str(n.tolist()) for n in lengths)
    return invalid(f"Unable to broadcast: dimension size mismatch in dimension {level}: lengths {said}")
