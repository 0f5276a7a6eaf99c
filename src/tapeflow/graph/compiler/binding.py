"""The Python side of machine code: generated functions that pass the addresses of tensors.

A function generated for its operands needs no lists and loops: a call takes about as long as three calls of ATen.
"""

from __future__ import annotations

from collections.abc import Sequence


def bound(values: Sequence[str], addresses: Sequence[str], otherwise: str, contiguous: int = 0) -> list[str]:
    """Returns source lines that make tensors contiguous and take their addresses.

    Args:
        values: the names of the tensors.
        addresses: the names of their addresses.
        otherwise: the expression to return if a tensor has no address.
        contiguous: the number of tensors at the start that are known to be contiguous.
    """
    taken = [f"({a} := {v}.data_ptr())" for v, a in zip(values, addresses, strict=True)]
    return [
        *[f"    if not {v}.is_contiguous(): {v} = {v}.contiguous()" for v in values[contiguous:]],
        # A tensor with the address 0 has no elements, or another object holds its memory.
        f"    if not ({' and '.join(taken) or True}):",
        f"        return {otherwise}",
    ]
