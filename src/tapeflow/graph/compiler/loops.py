"""The loops of a kernel: the fewest loops that visit all its inputs and outputs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from tapeflow.core.types.dtypes import DType


class Operand(NamedTuple):
    """An input of a kernel.

    Attributes:
        dtype: its dtype.
        varies: for each loop, True if it varies, False if it is broadcast.
    """

    dtype: DType
    varies: tuple[bool, ...]


def loops_of(
    shapes: Sequence[Sequence[int]], shape: tuple[int, ...], dtypes: Sequence[DType], rows: bool
) -> tuple[list[int], list[Operand]]:
    """Returns the sizes of the fewest loops over a shape, and how the inputs vary in them.

    Args:
        shapes: the shapes of the inputs.
        shape: the broadcast shape.
        dtypes: the dtypes of the inputs.
        rows: True to give the last dimension its own loop.
    """
    rank = len(shape)
    padded = [(1,) * (rank - len(s)) + tuple(s) for s in shapes]
    strides = [[0 if n == 1 else math.prod(s[i + 1 :]) for i, n in enumerate(s)] for s in padded]
    sizes, steps = fewest_axes(shape, strides, rows)
    return sizes, [Operand(d, tuple(map(bool, s))) for d, s in zip(dtypes, steps, strict=True)]


def fewest_axes(
    shape: Sequence[int], strides: Sequence[Sequence[int]], rows: bool
) -> tuple[list[int], list[tuple[int, ...]]]:
    """Returns the sizes of the fewest loops over a shape, and the operands' strides along them.

    Args:
        shape: the shape.
        strides: the strides of each operand; 0 broadcasts.
        rows: True to give the last dimension its own loop.
    """
    sizes: list[int] = []
    steps: list[tuple[int, ...]] = []  # for each axis, of all operands
    for axis, (size, *along) in enumerate(zip(shape, *strides, strict=True)):
        is_row = rows and axis == len(shape) - 1
        if size == 1 and not is_row:
            continue
        if sizes and not is_row and steps[-1] == tuple([s * size for s in along]):
            sizes[-1], steps[-1] = sizes[-1] * size, tuple(along)
        else:
            sizes.append(size)
            steps.append(tuple(along))
    if not sizes:
        sizes, steps = [1], [(0,) * len(strides)]
    return sizes, list(zip(*steps, strict=True))
