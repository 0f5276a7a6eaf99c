"""The loops of a kernel: the fewest loops that visit all its inputs and outputs."""

from __future__ import annotations

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
    sizes: list[int] = []
    patterns: list[tuple[bool, ...]] = []
    for axis, size in enumerate(shape):
        is_row = rows and axis == rank - 1
        if size == 1 and not is_row:
            continue
        pattern = tuple([s[axis] != 1 for s in padded])
        if patterns and patterns[-1] == pattern and not is_row:
            sizes[-1] *= size
        else:
            sizes.append(size)
            patterns.append(pattern)
    if not sizes:
        sizes, patterns = [1], [(False,) * len(shapes)]
    return sizes, [Operand(d, tuple([p[i] for p in patterns])) for i, d in enumerate(dtypes)]
