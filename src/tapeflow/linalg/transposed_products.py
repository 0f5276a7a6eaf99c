"""Products of a transposed matrix with another one, on CPUs: the gradients of weights.

Both matrices have contiguous rows, and each pair of rows adds to all elements of the result. oneDNN and MKL first
copy the transposed matrix. This code reads both as they are: a tile of the result stays in registers while it goes
through a block of rows. The rows of the result are divided among torch's OpenMP threads. The blocks do not depend on
the number of threads, so the bits don't either.
"""

from __future__ import annotations

import ctypes
import functools
import importlib.util
from typing import Any

import torch

from tapeflow.core.machine_code import target
from tapeflow.core.ops.elements import Unsupported

_TILES = {16: (6, 4), 8: (6, 2)}  # rows and vectors of a tile, by the lanes of a vector: all registers but a few
_BLOCK = 128  # rows that a tile goes through: those of one column of tiles stay in the level 1 cache
_FEW = 1 << 19  # multiplications: fewer are computed by one thread


def is_available() -> bool:
    """Returns True if there is machine code for this processor."""
    return _compiled() is not None


def transposed_product(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Computes `a.t() @ b`.

    Args:
        a: `[rows, m]` of float32, in contiguous memory.
        b: `[rows, n]` of float32, in contiguous memory.
    """
    (rows, m), n = a.shape, b.shape[1]
    result = a.new_zeros((m, n))
    sizes = (ctypes.c_int64 * 6)(rows, m, n, a.data_ptr(), b.data_ptr(), result.data_ptr())
    _compiled()(ctypes.addressof(sizes))
    return result


@functools.cache
def _compiled() -> Any:
    """Returns the function of a table of sizes and addresses, or None if the processor has no wide vectors."""
    if importlib.util.find_spec("llvmlite") is None:
        return None
    try:
        lanes = target().lanes
    except Unsupported:
        return None
    if lanes not in _TILES or not target().has_fma:
        return None
    threads = all(map(target().has, ("GOMP_parallel", "omp_get_max_threads", "omp_get_thread_num")))
    text = _module_text(lanes, *_TILES[lanes], threads)
    code = target().load("transposed_product", text, lambda: text)
    function: Any = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(code.address)
    function.code = code  # it is freed with the function
    return function


def _module_text(lanes: int, height: int, width: int, threads: bool) -> str:
    """Returns the LLVM IR: a function for each size of a tile, a worker and the entry point."""
    vector, mask = f"<{lanes} x float>", f"<{lanes} x i1>"
    heights = [height, 2, 1]
    tiles = [_tile_text(lanes, h, w) for h in heights for w in range(1, width + 1)]
    counting = ", ".join(f"i64 {i}" for i in range(lanes))
    return "\n".join([
        f"declare {vector} @llvm.fma.v{lanes}f32({vector}, {vector}, {vector})",
        f"declare {vector} @llvm.masked.load.v{lanes}f32.p0(ptr, i32, {mask}, {vector})",
        f"declare void @llvm.masked.store.v{lanes}f32.p0({vector}, ptr, i32, {mask})",
        *tiles,
        _range_text(lanes, heights, width, counting),
        *([_THREADS] if threads else [_ONE_THREAD]),
    ])  # fmt: skip


def _tile_text(lanes: int, height: int, width: int) -> str:
    """Returns the function that adds a block of rows to a tile of the result. A mask cuts off its last vector."""
    vector, mask = f"<{lanes} x float>", f"<{lanes} x i1>"
    cells = [(i, j) for i in range(height) for j in range(width)]

    def load(name: str, pointer: str, j: int) -> str:
        if j < width - 1:
            return f"  %{name} = load {vector}, ptr %{pointer}, align 4"
        return (
            f"  %{name} = call {vector} @llvm.masked.load.v{lanes}f32.p0(ptr %{pointer}, i32 4, {mask} %mask, "
            f"{vector} zeroinitializer)"
        )

    lines = [
        f"define internal void @tile_{height}_{width}(ptr %a, ptr %b, ptr %c, i64 %m, i64 %n, i64 %rows, {mask} %mask) "
        "noinline {",
        "entry:",
    ]
    for i, j in cells:
        lines += [
            f"  %r{i}_{j} = mul i64 %n, {i}",
            f"  %o{i}_{j} = add i64 %r{i}_{j}, {j * lanes}",
            f"  %p{i}_{j} = getelementptr float, ptr %c, i64 %o{i}_{j}",
        ]
    lines += [
        "  br label %again",
        "again:",
        "  %row = phi i64 [0, %entry], [%next, %again]",
        "  %x = phi ptr [%a, %entry], [%x2, %again]",
        "  %y = phi ptr [%b, %entry], [%y2, %again]",
        *[f"  %t{i}_{j} = phi {vector} [zeroinitializer, %entry], [%s{i}_{j}, %again]" for i, j in cells],
    ]
    for j in range(width):
        lines += [f"  %q{j} = getelementptr float, ptr %y, i64 {j * lanes}", load(f"f{j}", f"q{j}", j)]
    for i in range(height):
        lines += [
            f"  %g{i} = getelementptr float, ptr %x, i64 {i}",
            f"  %e{i} = load float, ptr %g{i}, align 4",
            f"  %h{i} = insertelement {vector} poison, float %e{i}, i32 0",
            f"  %v{i} = shufflevector {vector} %h{i}, {vector} poison, <{lanes} x i32> zeroinitializer",
        ]
        lines += [
            f"  %s{i}_{j} = call {vector} @llvm.fma.v{lanes}f32({vector} %v{i}, {vector} %f{j}, {vector} %t{i}_{j})"
            for j in range(width)
        ]
    lines += [
        "  %x2 = getelementptr float, ptr %x, i64 %m",
        "  %y2 = getelementptr float, ptr %y, i64 %n",
        "  %next = add i64 %row, 1",
        "  %more = icmp slt i64 %next, %rows",
        "  br i1 %more, label %again, label %done",
        "done:",
    ]
    for i, j in cells:
        lines += [load(f"c{i}_{j}", f"p{i}_{j}", j), f"  %z{i}_{j} = fadd {vector} %s{i}_{j}, %c{i}_{j}"]
        if j < width - 1:
            lines.append(f"  store {vector} %z{i}_{j}, ptr %p{i}_{j}, align 4")
        else:
            lines.append(
                f"  call void @llvm.masked.store.v{lanes}f32.p0({vector} %z{i}_{j}, ptr %p{i}_{j}, i32 4, {mask} %mask)"
            )
    return "\n".join([*lines, "  ret void", "}"])


def _range_text(lanes: int, heights: list[int], width: int, counting: str) -> str:
    """Returns the function that computes rows of the result, block by block of the operands' rows, in tiles."""
    mask, panel = f"<{lanes} x i1>", lanes * width
    lines = ["define internal void @range(ptr %table, i64 %begin, i64 %end) {", "entry:"]
    for i, (name, kind) in enumerate(zip(("rows", "m", "n", "a", "b", "c"), ["i64"] * 3 + ["ptr"] * 3, strict=True)):
        lines += [f"  %at_{name} = getelementptr i64, ptr %table, i64 {i}", f"  %{name} = load {kind}, ptr %at_{name}"]
    lines += [
        "  br label %block",
        "block:",
        "  %row = phi i64 [0, %entry], [%row2, %blockend]",
        "  %row2 = add i64 %row, " + str(_BLOCK),
        "  %isin = icmp slt i64 %row2, %rows",
        "  %stop = select i1 %isin, i64 %row2, i64 %rows",
        "  %many = sub i64 %stop, %row",
        "  %arow = mul i64 %row, %m",
        "  %brow = mul i64 %row, %n",
        "  br label %panel",
        "panel:",
        "  %col = phi i64 [0, %block], [%col2, %panelend]",
        f"  %col2 = add i64 %col, {panel}",
        "  %left = sub i64 %n, %col",
        f"  %iswide = icmp slt i64 %left, {panel}",
        f"  %wide = select i1 %iswide, i64 %left, i64 {panel}",
        f"  %up = add i64 %wide, {lanes - 1}",
        f"  %vectors = udiv i64 %up, {lanes}",
        "  %before = sub i64 %vectors, 1",
        f"  %full = mul i64 %before, {lanes}",
        "  %rest = sub i64 %wide, %full",
        f"  %rest1 = insertelement <{lanes} x i64> poison, i64 %rest, i32 0",
        f"  %rests = shufflevector <{lanes} x i64> %rest1, <{lanes} x i64> poison, <{lanes} x i32> zeroinitializer",
        f"  %mask = icmp slt <{lanes} x i64> <{counting}>, %rests",
        "  %bat = add i64 %brow, %col",
        "  %bp = getelementptr float, ptr %b, i64 %bat",
        "  br label %r0",
    ]
    previous, first = "panel", "%begin"
    for number, height in enumerate(heights):
        # rows of tiles of one height; the next height goes on where it ends
        at, after = f"%k{number}", f"r{number + 1}" if number + 1 < len(heights) else "panelend"
        lines += [
            f"r{number}:",
            f"  {at} = phi i64 [{first}, %{previous}], [{at}n, %r{number}end]",
            f"  {at}n = add i64 {at}, {height}",
            f"  %fits{number} = icmp sle i64 {at}n, %end",
            f"  br i1 %fits{number}, label %r{number}body, label %{after}",
            f"r{number}body:",
            f"  %ao{number} = add i64 %arow, {at}",
            f"  %ap{number} = getelementptr float, ptr %a, i64 %ao{number}",
            f"  %cr{number} = mul i64 {at}, %n",
            f"  %co{number} = add i64 %cr{number}, %col",
            f"  %cp{number} = getelementptr float, ptr %c, i64 %co{number}",
            f"  switch i64 %vectors, label %r{number}w{width} ["
            + " ".join(f"i64 {w}, label %r{number}w{w}" for w in range(1, width))
            + "]",
        ]
        for w in range(1, width + 1):
            lines += [
                f"r{number}w{w}:",
                f"  call void @tile_{height}_{w}(ptr %ap{number}, ptr %bp, ptr %cp{number}, i64 %m, i64 %n, i64 %many, "
                f"{mask} %mask)",
                f"  br label %r{number}end",
            ]
        lines += [f"r{number}end:", f"  br label %r{number}"]
        previous, first = f"r{number}", at
    lines += [
        "panelend:",
        "  %morecols = icmp slt i64 %col2, %n",
        "  br i1 %morecols, label %panel, label %blockend",
        "blockend:",
        "  %moreblocks = icmp slt i64 %row2, %rows",
        "  br i1 %moreblocks, label %block, label %done",
        "done:",
        "  ret void",
        "}",
    ]
    return "\n".join(lines)


_ONE_THREAD = """
define void @{name}(ptr %table) {
  %place = getelementptr i64, ptr %table, i64 1
  %m = load i64, ptr %place
  call void @range(ptr %table, i64 0, i64 %m)
  ret void
}"""

_THREADS = f"""
declare void @GOMP_parallel(ptr, ptr, i32, i32)
declare i32 @omp_get_max_threads()
declare i32 @omp_get_thread_num()

define internal void @worker(ptr %arguments) {{
  %table = load ptr, ptr %arguments
  %place = getelementptr i64, ptr %arguments, i64 1
  %part = load i64, ptr %place
  %end = getelementptr i64, ptr %table, i64 1
  %m = load i64, ptr %end
  %thread = call i32 @omp_get_thread_num()
  %index = zext i32 %thread to i64
  %begin = mul i64 %index, %part
  %next = add i64 %begin, %part
  %isin = icmp slt i64 %next, %m
  %stop = select i1 %isin, i64 %next, i64 %m
  call void @range(ptr %table, i64 %begin, i64 %stop)
  ret void
}}

define void @{{name}}(ptr %table) {{
  %arguments = alloca [2 x i64]
  %at1 = getelementptr i64, ptr %table, i64 1
  %at2 = getelementptr i64, ptr %table, i64 2
  %rows = load i64, ptr %table
  %m = load i64, ptr %at1
  %n = load i64, ptr %at2
  %cells = mul i64 %m, %n
  %work = mul i64 %cells, %rows
  %available = call i32 @omp_get_max_threads()
  %several = icmp sgt i32 %available, 1
  %large = icmp sge i64 %work, {_FEW}
  %divided = and i1 %several, %large
  br i1 %divided, label %threads, label %one
threads:
  %count = zext i32 %available to i64
  %tiles = mul i64 %count, 6
  %up = add i64 %m, %tiles
  %up1 = sub i64 %up, 1
  %per = udiv i64 %up1, %tiles
  %part = mul i64 %per, 6
  store ptr %table, ptr %arguments
  %place = getelementptr i64, ptr %arguments, i64 1
  store i64 %part, ptr %place
  call void @GOMP_parallel(ptr @worker, ptr %arguments, i32 %available, i32 0)
  ret void
one:
  call void @range(ptr %table, i64 0, i64 %m)
  ret void
}}"""
