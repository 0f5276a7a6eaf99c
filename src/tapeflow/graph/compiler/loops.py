"""The loops of a kernel: the fewest loops that visit all its inputs and outputs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from tapeflow.core.types.dtypes import DType

CONTIGUOUS, STRIDED, REPEATED, SCATTERED = "contiguous", "strided", "repeated", "scattered"
# Elements of an inner loop: a shorter one, as for channels, becomes one loop with the loop around it. Rows that are
# broadcast are repeated in memory on the stack, which has room for so many elements of each.
SHORT, _LONG = 64, 512
_LEAST_REPEATED = 1 << 14  # elements: with fewer, repeating the rows takes as long


class Operand(NamedTuple):
    """An input of a kernel.

    Attributes:
        dtype: its dtype.
        varies: for each loop, True if it varies, False if it is broadcast.
        access: `CONTIGUOUS`, `STRIDED` if the kernel's table has its strides along the outer loops, or `REPEATED` if
            the table has the length of its only row, which the inner loop repeats. Kernels can't read one that is
            `SCATTERED`: the elements of the inner loop do not lie side by side.
    """

    dtype: DType
    varies: tuple[bool, ...]
    access: str = CONTIGUOUS

    def entries(self) -> int:
        """Returns the number of its entries in the table."""
        return {CONTIGUOUS: 0, SCATTERED: 0, STRIDED: len(self.varies) - 1, REPEATED: 1}[self.access]


def loops_of(
    shapes: Sequence[Sequence[int]], shape: tuple[int, ...], dtypes: Sequence[DType], rows: bool,
    strides: Sequence[Sequence[int] | None] = (),
) -> tuple[list[int], list[Operand], list[int]]:  # fmt: skip
    """Returns the sizes of the fewest loops over a shape, how the inputs vary in them, and their entries of the table.

    Args:
        shapes: the shapes of the inputs.
        shape: the broadcast shape.
        dtypes: the dtypes of the inputs.
        rows: True to give the last dimension its own loop.
        strides: the strides of the inputs; None for one that is contiguous. By default, all are.
    """
    rank = len(shape)
    along = []
    for size, own in zip(shapes, strides or [None] * len(shapes), strict=True):
        own = own or [math.prod(size[i + 1 :]) for i in range(len(size))]
        along.append([0] * (rank - len(size)) + [0 if n == 1 else s for n, s in zip(size, own, strict=True)])
    sizes, steps = fewest_axes(shape, along, rows)
    short = None if rows else _repeated_rows(sizes, steps)
    if short is not None:
        length, (sizes, steps, repeats) = sizes[-1], short
    operands, entries = [], []
    for i, (dtype, own) in enumerate(zip(dtypes, steps, strict=True)):
        varies = tuple(map(bool, own))
        within = [n if v else 1 for n, v in zip(sizes, varies, strict=True)]
        natural = [math.prod(within[j + 1 :]) for j in range(len(sizes))]
        if short is not None and repeats[i]:
            operands.append(Operand(dtype, varies, REPEATED))
            entries.append(length)
        elif own[-1] not in (0, 1):
            operands.append(Operand(dtype, varies, SCATTERED))
        elif any(s and s != n for s, n in zip(own, natural, strict=True)):
            operands.append(Operand(dtype, varies, STRIDED))
            entries += own[:-1]
        else:
            operands.append(Operand(dtype, varies))
    return sizes, operands, entries


def _repeated_rows(
    sizes: list[int], steps: Sequence[tuple[int, ...]]
) -> tuple[list[int], list[tuple[int, ...]], list[bool]] | None:
    """Returns sizes and strides with a longer inner loop, and for each operand whether its row is repeated.

    Args:
        sizes: the sizes of the loops.
        steps: the strides of the operands.

    Returns:
        None if the inner loop is long, or an operand varies along the loop around it alone.
    """
    if len(sizes) < 2 or sizes[-1] >= SHORT or math.prod(sizes) < _LEAST_REPEATED:
        return None
    *outer, count, size = sizes
    repeats = [own[-1] == 1 and not any(own[:-1]) for own in steps]
    if not all(r or (own[-1] in (0, 1) and own[-2] == size * own[-1]) for r, own in zip(repeats, steps, strict=True)):
        return None
    times = next((n for n in range(_LONG // size, 3, -1) if count % n == 0), None)
    if times is None or sum(repeats) > _LONG // SHORT:
        return None
    keeps = count > times or not outer
    return (
        [*outer, *[count // times] * keeps, times * size],
        [(*own[:-2], *[own[-2] * times] * keeps, own[-1]) for own in steps],
        repeats,
    )


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
