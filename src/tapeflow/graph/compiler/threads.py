"""Torch's OpenMP threads in machine code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import llvmlite.ir as ir

from tapeflow.core.machine_code import target
from tapeflow.graph.compiler.instructions import (
    I32,
    I64,
    POINTER,
    VOID,
    declared,
    entry,
    load_entry,
    minimum,
    new_function,
    number,
    store_entry,
)


def has_threads() -> bool:
    """Returns True if machine code can start threads."""
    names = "GOMP_parallel", "omp_get_max_threads", "omp_get_thread_num", "omp_get_num_threads"
    return all(map(target().has, names))


def write_worker(body: ir.Function, first: int) -> ir.Function:
    """Writes the function that each thread runs: it takes chunks of a range until none is left.

    Args:
        body: computes a chunk. It takes a table, the chunk's begin and its end.
        first: the first of three entries of the table: the next chunk's begin, the chunk size, the end of the range.
    """
    worker, b = new_function(body.module, "worker", [POINTER])
    again, work, done = (worker.append_basic_block(n) for n in ("again", "work", "done"))
    (table,) = worker.args
    start, size, end = (entry(b, table, first + i) for i in range(3))
    chunk, last = b.load(size, typ=I64), b.load(end, typ=I64)
    b.branch(again)
    b.position_at_end(again)
    begin = b.atomic_rmw("add", start, chunk, "monotonic")
    b.cbranch(b.icmp_signed("<", begin, last), work, done)
    b.position_at_end(work)
    stop = b.add(begin, chunk)
    b.call(body, [table, begin, minimum(b, stop, last)])
    b.branch(again)
    b.position_at_end(done)
    b.ret_void()
    return worker


def write_kernel(body: ir.Function, first: int, is_large: Callable[[ir.IRBuilder, Any], Any], multiple: int = 1) -> str:
    """Writes the function `{name}`, whose threads divide a range, and returns the text of its module.

    Args:
        body, first: see `write_worker`.
        is_large: writes the test if several threads pay, from the builder and the table.
        multiple: all chunk sizes are multiples of it.
    """
    worker = write_worker(body, first)
    kernel, b = new_function(body.module, "kernel", [POINTER], linkage="")
    (table,) = kernel.args
    end = load_entry(b, table, first + 2)

    def divide(threads: Any) -> None:
        parts = b.mul(threads, number(multiple))
        count = b.udiv(b.sub(b.add(end, parts), number(1)), parts)
        store_entry(b, b.mul(count, number(multiple)), table, first + 1)

    run_worker(b, worker, table, lambda: b.call(body, [table, number(0), end]), is_large(b, table), divide)
    b.ret_void()
    return str(body.module).replace('@"kernel"', '@"{name}"')


def run_worker(
    b: ir.IRBuilder, worker: ir.Function, argument: Any, alone: Callable[[], Any], is_large: Any = None,
    divide: Callable[[Any], Any] = lambda threads: None,
) -> None:  # fmt: skip
    """Writes the call of a function from each thread, if there are several.

    Args:
        b: the builder.
        worker: the function.
        argument: its argument.
        alone: writes the work of a single thread.
        is_large: True if threads pay.
        divide: writes instructions before the call, from the number of threads.
    """
    if not has_threads():
        alone()
        return
    is_large = ir.Constant(ir.IntType(1), 1) if is_large is None else is_large
    before = b.block
    with b.if_then(is_large, likely=False):
        available, inside = b.call(declared(worker.module, "omp_get_max_threads", I32, []), []), b.block
    threads = b.phi(I32)
    threads.add_incoming(ir.Constant(I32, 1), before)
    threads.add_incoming(available, inside)
    with b.if_else(b.icmp_signed(">", threads, ir.Constant(I32, 1)), likely=False) as (several, one):
        with several:
            divide(b.zext(threads, I64))
            start = declared(worker.module, "GOMP_parallel", VOID, [POINTER, POINTER, I32, I32])
            b.call(start, [worker, argument, threads, ir.Constant(I32, 0)])
        with one:
            alone()
