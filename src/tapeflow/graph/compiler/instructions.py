"""Integers, tables and counted loops as LLVM instructions.

Kernels of clusters (`kernels.py`) and native loops (`loop_code.py`) are written with these and with `vectors.py`. A
kernel of a cluster has dynamic sizes and is called from Python. A nest in a native loop has static sizes. Both compute
rows by the passes of `kernels.py`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

import llvmlite.ir as ir

I1, I8, I16, I32, I64 = (ir.IntType(n) for n in (1, 8, 16, 32, 64))
POINTER, VOID = ir.PointerType(), ir.VoidType()


def number(value: int) -> ir.Constant:
    """Returns an integer of 64 bits."""
    return ir.Constant(I64, value)


def value_of(value: Any) -> Any:
    """Returns a value of 64 bits, also for a static integer."""
    return number(value) if isinstance(value, int) else value


def new_function(
    module: ir.Module, name: str, arguments: Sequence[Any], result: Any = VOID, linkage: str = "internal"
) -> tuple[ir.Function, ir.IRBuilder]:
    """Returns a new function of a module, and the builder of its first instructions."""
    function = ir.Function(module, ir.FunctionType(result, arguments), name)
    function.linkage = linkage
    return function, ir.IRBuilder(function.append_basic_block("entry"))


def minimum(b: ir.IRBuilder, x: Any, y: Any) -> Any:
    """Returns the minimum of two signed integers."""
    return b.select(b.icmp_signed("<", x, y), x, y)


def entry(b: ir.IRBuilder, table: Any, i: int) -> Any:
    """Returns the address of an entry of a table of integers."""
    return b.gep(table, [number(i)], source_etype=I64)


def load_entry(b: ir.IRBuilder, table: Any, i: int) -> Any:
    """Returns an entry of a table of integers."""
    return b.load(entry(b, table, i), typ=I64)


def store_entry(b: ir.IRBuilder, value: Any, table: Any, i: int) -> None:
    """Changes an entry of a table of integers."""
    b.store(value, entry(b, table, i))


def declared(module: ir.Module, name: str, result: Any, arguments: Sequence[Any]) -> ir.Function:
    """Returns the function of a name, which is declared on its first use."""
    return module.globals.get(name) or ir.Function(module, ir.FunctionType(result, arguments), name)


def allocated(b: ir.IRBuilder, kind: Any, count: Any = None) -> Any:
    """Returns the address of new memory on the stack, for a value or for several ones."""
    pointer = b.alloca(kind, count)
    pointer.type = POINTER
    return pointer


@contextlib.contextmanager
def repeated(b: ir.IRBuilder, begin: Any, end: Any, step: Any = 1) -> Iterator[Any]:
    """Repeats instructions for the indices `begin`, `begin + step`, ... below `end`.

    Args:
        b: the builder of the instructions.
        begin, end: the range: values of 64 bits, or static integers. A static range is not empty. If it has only one
            index, there is no loop.
        step: the step: a static integer, or a value of 64 bits.
    """
    is_static = isinstance(end, int)
    if is_static:
        is_one, begin, end = end - begin <= step, number(begin), number(end)
        if is_one:
            yield begin
            return
    before, body, after = b.block, b.append_basic_block("body"), b.append_basic_block("after")
    if is_static:
        b.branch(body)
    else:
        b.cbranch(b.icmp_signed("<", begin, end), body, after)
    b.position_at_end(body)
    index = b.phi(I64)
    index.add_incoming(begin, before)
    yield index
    following = b.add(index, value_of(step))
    index.add_incoming(following, b.block)
    b.cbranch(b.icmp_signed("<", following, end), body, after)
    b.position_at_end(after)
