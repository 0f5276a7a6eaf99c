"""The Python side of machine code: functions that pass the addresses of tensors, written for their operands.

A function written for its operands goes through no lists: a call takes about as long as three of ATen's.
"""

from __future__ import annotations

from collections.abc import Sequence


def bound(values: Sequence[str], addresses: Sequence[str], otherwise: str, contiguous: int = 0) -> list[str]:
    """Returns the lines of a function that take the addresses of tensors, made contiguous where they are not.

    Args:
        values: the names of the tensors.
        addresses: the names of their addresses.
        otherwise: what the function returns if a tensor has no memory of its own.
        contiguous: how many of the tensors, the first ones, are contiguous.
    """
    taken = [f"({a} := {v}.data_ptr())" for v, a in zip(values, addresses, strict=True)]
    return [
        *[f"    if not {v}.is_contiguous(): {v} = {v}.contiguous()" for v in values[contiguous:]],
        # The memory of a tensor with an address of 0 is held by others, or it has no elements.
        f"    if not ({' and '.join(taken) or True}):",
        f"        return {otherwise}",
    ]
