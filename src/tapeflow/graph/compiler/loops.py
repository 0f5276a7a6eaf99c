"""The loops of a kernel: the fewest loops that visit all its inputs and outputs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from tapeflow.core.types.dtypes import DType

CONTIGUOUS, STRIDED, SCATTERED = "contiguous", "strided", "scattered"
REPEATED, EXPANDED = "repeated", "expanded"
# Elements of an inner loop: a shorter one, as for channels, becomes one loop with the loop around it. An operand
# with a broadcast dimension there is repeated on the stack, which has room for so many elements of each.
SHORT, _LONG = 64, 512
_LEAST_REPEATED = 1 << 14  # elements: with fewer, repeating takes as long


class Operand(NamedTuple):
    """An input of a kernel.

    Attributes:
        dtype: its dtype.
        varies: for each loop, True if it varies, False if it is broadcast.
        access: `CONTIGUOUS`, or `STRIDED` if the kernel's table has its strides along the outer loops. The inner loop
            repeats a short row that is `REPEATED`, or each element if it is `EXPANDED`: the table also has the length
            of the row, or the stride of the elements and their number of repetitions. Kernels can't read an operand
            that is `SCATTERED`: the elements of the inner loop do not lie side by side.
    """

    dtype: DType
    varies: tuple[bool, ...]
    access: str = CONTIGUOUS

    def entries(self) -> int:
        """Returns the number of its entries in the table."""
        more = {STRIDED: -1, REPEATED: 0, EXPANDED: 1}.get(self.access)
        return 0 if more is None else len(self.varies) + more


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
    sizes, steps = fewest_axes(shape, _strides_along(shape, shapes, strides), rows)
    joined = None if rows else _join_rows(sizes, steps)
    length, (sizes, steps, accesses) = sizes[-1], joined or (sizes, steps, [CONTIGUOUS] * len(steps))
    operands, entries = [], []
    for dtype, own, access in zip(dtypes, steps, accesses, strict=True):
        varies = tuple(map(bool, own))
        within = [n if v else 1 for n, v in zip(sizes, varies, strict=True)]
        natural = [math.prod(within[j + 1 :]) for j in range(len(sizes))]
        if access != CONTIGUOUS:
            operands.append(Operand(dtype, varies, access))
            entries += [*(own if access == EXPANDED else own[:-1]), length]
        elif own[-1] not in (0, 1):
            operands.append(Operand(dtype, varies, SCATTERED))
        elif any(s and s != n for s, n in zip(own, natural, strict=True)):
            operands.append(Operand(dtype, varies, STRIDED))
            entries += own[:-1]
        else:
            operands.append(Operand(dtype, varies))
    return sizes, operands, entries


def has_short_rows(shapes: Sequence[Sequence[int]], shape: Sequence[int]) -> bool:
    """Returns True if the inner loop over a shape is short, because inputs are broadcast.

    Args:
        shapes: the shapes of the inputs.
        shape: the broadcast shape.
    """
    sizes, _ = fewest_axes(shape, _strides_along(shape, shapes), rows=False)
    return len(sizes) > 1 and sizes[-1] < SHORT


def _strides_along(
    shape: Sequence[int], shapes: Sequence[Sequence[int]], strides: Sequence[Sequence[int] | None] = ()
) -> list[list[int]]:
    """Returns the strides of inputs along a shape; 0 broadcasts. By default, all inputs are contiguous."""
    along = []
    for size, own in zip(shapes, strides or [None] * len(shapes), strict=True):
        own = own or [math.prod(size[i + 1 :]) for i in range(len(size))]
        along.append([0] * (len(shape) - len(size)) + [0 if n == 1 else s for n, s in zip(size, own, strict=True)])
    return along


def _join_rows(
    sizes: list[int], steps: Sequence[tuple[int, ...]]
) -> tuple[list[int], list[tuple[int, ...]], list[str]] | None:
    """Returns sizes and strides with a longer inner loop, and the accesses of operands that it may repeat.

    Args:
        sizes: the sizes of the loops.
        steps: the strides of the operands.

    Returns:
        None if the inner loop is long, or two loops can't become one.
    """
    if len(sizes) < 2 or sizes[-1] >= SHORT or math.prod(sizes) < _LEAST_REPEATED:
        return None
    *outer, count, size = sizes
    accesses = [_joined_access(size, *own) for own in steps]
    times = next((n for n in range(_LONG // size, 3, -1) if count % n == 0), None)
    if times is None or SCATTERED in accesses or len(steps) - accesses.count(CONTIGUOUS) > _LONG // SHORT:
        return None
    keeps = count > times or not outer
    inner = [own[-2] if access == EXPANDED else own[-1] for own, access in zip(steps, accesses, strict=True)]
    return (
        [*outer, *[count // times] * keeps, times * size],
        [(*own[:-2], *[own[-2] * times] * keeps, step) for own, step in zip(steps, inner, strict=True)],
        accesses,
    )


def _joined_access(size: int, *strides: int) -> str:
    """Returns the access of an operand if its two inner loops become one.

    Args:
        size: the size of the inner loop.
        strides: its strides.
    """
    *others, outer, inner = strides
    if outer == size * inner:
        return CONTIGUOUS
    if not inner and not all(others):  # the copies of an element are read several times
        return EXPANDED
    return REPEATED if inner == 1 and not outer else SCATTERED


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
