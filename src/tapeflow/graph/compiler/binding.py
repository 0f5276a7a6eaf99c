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


def updating(handles: Sequence[str], lines: Sequence[str]) -> list[str]:
    """Returns source lines that change variables while holding their locks.

    The memory of variable `v0` is `m0` for the lines, which write to it.

    Args:
        handles: the names of the variables: `v0`, `v1`, ...
        lines: the lines.
    """
    count = range(len(handles))
    return [
        f"    with several: {'; '.join(f'{v}._lock.acquire()' for v in handles)}",  # as `Locked` does
        "    try:",
        *[f"        t{i}, m{i} = v{i}._begin()" for i in count],
        *[f"    {line}" for line in lines],
        f"        changed(({', '.join(f'm{i}' for i in count)},))",
        *[f"        if type(t{i}) is not Owned: v{i}._end(t{i}, m{i})" for i in count],
        "    finally:",
        f"        {'; '.join(f'{v}._lock.release()' for v in handles)}",
    ]
