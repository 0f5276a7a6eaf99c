"""The Python side of machine code: generated functions that pass the addresses of tensors.

A function generated for its operands needs no lists and loops: a call takes about as long as three calls of ATen. A
cluster and a native function are called by one function (`caller`), a native loop by two (`native_loops.py`), because
a call may run it in several parts.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Sequence
from types import CodeType
from typing import Any

import torch

from tapeflow.core import aten
from tapeflow.core.values.variable_updates import Owned, several
from tapeflow.graph.compiler.target import function

# What generated functions use.
NAMES = {
    "empty": torch.empty, "like": torch.empty_like, "strided": torch.empty_strided, "float64": torch.float64,
    "several": several, "Owned": Owned, "changed": aten.increment_version,
}  # fmt: skip


def caller(variables: int, inputs: int, checks: Sequence[str], lines: Sequence[str], result: str) -> CodeType:
    """Returns the code of the function `call`. It takes variables `v0`, `v1`, ... and tensors `x0`, ...

    Machine code writes to the memory of variables, so the function holds their locks.

    Args:
        variables, inputs: their numbers.
        checks: the lines that come first.
        lines: the lines that run machine code. `m0` is the memory of `v0`, and `p0`, `p1`, ... are the addresses, those
            of variables first.
        result: the returned expression.
    """
    handles, values, memory = (
        [f"{c}{i}" for i in range(n)] for c, n in (("v", variables), ("x", inputs), ("m", variables))
    )
    addresses = [f"p{i}" for i in range(variables + inputs)]
    call = [*bound([*memory, *values], addresses, fallback(variables, inputs)), *lines]
    if variables:
        call = _updating(handles, call)
    text = [f"def call({', '.join([*handles, *values])}):", *checks, *call, f"    return {result}"]
    return compile("\n".join(text), f"<caller of {inputs} inputs>", "exec")  # it is written here alone


def fallback(variables: int, inputs: int) -> str:
    """Returns the call of the fallback of `caller`, which has the name `one_by_one`."""
    return f"one_by_one({', '.join([*(f'v{i}' for i in range(variables)), *(f'x{i}' for i in range(inputs))])})"


def table_names(name: str, code: Any, **names: Any) -> dict[str, Any]:
    """Returns the names that the lines of `filling` use. The kernel is compiled at its first call.

    Args:
        name: the name of the kernel.
        code: its code.
        names: other names.
    """
    text = code.text()

    def first_call(table: Any) -> None:
        result["kernel"] = kernel = function(name, text, lambda: text)
        kernel(table)

    array: Any = ctypes.c_int64 * len(code.table)
    result = NAMES | {
        "kernel": first_call, "array": array.from_buffer_copy, "pack": packer(len(code.table)),
        "table": code.table, "bytes": torch.uint8, **names,
    }  # fmt: skip
    return result


def filling(table: Sequence[Any], operands: Sequence[str], limit: str, work: str, failed: str) -> list[str]:
    """Returns source lines that fill a table of integers and run machine code with it.

    Args:
        table: descriptions of the entries. `recorded` values and others that the lines create are `b0`, `b1`, ...
        operands: the addresses of the operands `x0`, `x1`, ...
        limit, work: the maximal trip count, and the number of instructions between two looks for signals.
        failed: what is returned if a variable has another shape.
    """
    lines: list[str] = []
    own = {"limit": limit, "status": "0", "work": work, "error": "0"}
    entries = []
    for i, (what, *rest) in enumerate(table):
        if what in own:
            entries.append(own[what])
        elif what == "constant":
            entries.append(str(rest[0].data_ptr()))
        elif what == "operand":
            entries.append(operands[rest[0]])
        elif what == "length":
            entries.append(f"len(x{rest[0]})")
        else:
            entries.append(f"y{rest[0]}.data_ptr()" if what == "output" else f"b{i}.data_ptr()")
        if what == "drawn":
            lines.append(f"    b{i} = drawn(table[{i}][1], {limit})")
        elif what == "memory":
            lines.append(f"    b{i} = empty({rest[0]}, dtype=bytes)")
        elif what == "recorded":
            shape, _, is_shared = rest
            size = f"{shape}" if is_shared else f"({limit}, *{shape})"
            lines.append(f"    b{i} = empty({size}, dtype=table[{i}][2].torch)")
        elif what in ("read", "variable"):
            source = f"x{rest[0]}" if what == "read" else f"table[{i}][1]"
            lines += [f"    b{i} = value({source}, table[{i}][2])", f"    if b{i} is None: return {failed}"]
    return [*lines, f"    numbers = array(pack({', '.join(entries)}))", "    kernel(numbers)"]


def packer(count: int) -> Callable[..., bytes]:
    """Returns the function that packs 64-bit integers for a table, in a third of the time of an array of `ctypes`."""
    return struct.Struct(f"{count}q").pack


def table_maker(count: int) -> Callable[..., Any]:
    """Returns the function that makes a table of 64-bit integers that machine code may change."""
    array: Any = ctypes.c_int64 * count
    copy, pack = array.from_buffer_copy, packer(count)
    return lambda *entries: copy(pack(*entries))


def contiguous(values: Sequence[str]) -> list[str]:
    """Returns source lines that make tensors contiguous."""
    return [f"    if not {v}.is_contiguous(): {v} = {v}.contiguous()" for v in values]


def bound(values: Sequence[str], addresses: Sequence[str], otherwise: str) -> list[str]:
    """Returns source lines that take the addresses of tensors.

    Args:
        values: the names of the tensors.
        addresses: the names of their addresses.
        otherwise: the expression to return if a tensor has no address.
    """
    taken = [f"({a} := {v}.data_ptr())" for v, a in zip(values, addresses, strict=True)]
    return [
        # A tensor with the address 0 has no elements, or another object holds its memory.
        f"    if not ({' and '.join(taken) or True}):",
        f"        return {otherwise}",
    ]


def _updating(handles: Sequence[str], lines: Sequence[str]) -> list[str]:
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
