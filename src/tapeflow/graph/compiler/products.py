"""Matrix products in tiles, whose sums stay in registers.

Native loops write products of static sizes (`loop_code.py`). `transposed_product` is for all sizes. It computes
gradients of weights: each pair of rows of two matrices adds to all elements of the result. oneDNN and MKL first copy
the transposed matrix. This code reads both without a copy: each tile adds up a block of rows. Threads divide the rows
of the result. The blocks do not depend on the number of threads, so the bits don't either.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import llvmlite.ir as ir
import torch

from tapeflow.core.machine_code import target
from tapeflow.core.ops.elements import Element
from tapeflow.core.types.dtypes import DType, float32
from tapeflow.graph.compiler.calling import table_maker
from tapeflow.graph.compiler.instructions import I1, I64, POINTER, load_entry, minimum, new_function, number, repeated
from tapeflow.graph.compiler.target import TILES, function
from tapeflow.graph.compiler.threads import write_kernel
from tapeflow.graph.compiler.vectors import Register, Vectors

_BLOCK = 128  # rows in a block: one column of tiles reads them from the level 1 cache
_FEW = 1 << 19  # multiplications: fewer are computed by one thread

_new_table = table_maker(9)


def write_tile(
    vectors: Vectors, dtype: DType, size: tuple[int, int], loop: AbstractContextManager[Any],
    left: Callable[[Any, int], Element], right: Callable[[Any, int], Element],
) -> list[list[Register]]:  # fmt: skip
    """Writes the loop that computes a tile of a product, and returns the sums: vectors of each row.

    Args:
        vectors: the builder.
        dtype: the dtype of the sums.
        size: the numbers of rows and of vectors.
        loop: the loop over the products that are added up.
        left: returns a row's element for an index of the loop, in each lane.
        right: returns a vector for an index of the loop.
    """
    height, width = size
    zero = vectors.number(0, dtype)
    sums = [[Register(vectors, dtype, zero) for _ in range(width)] for _ in range(height)]
    with loop as index:
        factors = [right(index, j) for j in range(width)]
        for i, of_row in enumerate(sums):
            factor = left(index, i)
            for total, other in zip(of_row, factors, strict=True):
                total.store(vectors.fma(factor, other, total.load()))
    return sums


def transposed_product(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Computes `a.t() @ b`.

    Args:
        a: `[rows, m]` of float32, in contiguous memory.
        b: `[rows, n]` of float32, in contiguous memory.
    """
    (rows, m), n = a.shape, b.shape[1]
    result = a.new_zeros((m, n))
    _kernel()(_new_table(rows, m, n, a.data_ptr(), b.data_ptr(), result.data_ptr(), 0, m, m))
    return result


@functools.cache
def _kernel() -> Any:
    return function("transposed_product", "", _module_text)


def _module_text() -> str:
    """Returns the module. Its function takes a table: sizes and addresses, and the three entries of a worker."""
    module = ir.Module("products")
    vectors = Vectors(module, target().lanes)

    def is_large(b: ir.IRBuilder, table: Any) -> Any:
        rows, m, n = (load_entry(b, table, i) for i in range(3))
        return b.icmp_signed(">=", b.mul(b.mul(m, n), rows), number(_FEW))

    return write_kernel(_write_body(module, vectors), 6, is_large, TILES[vectors.lanes][0])


def _write_body(module: ir.Module, vectors: Vectors) -> ir.Function:
    """Writes the function that computes rows of the result, block by block of the operands' rows, in tiles."""
    lanes, (height, width) = vectors.lanes, TILES[vectors.lanes]
    heights = height, 2, 1
    tiles = {(h, w): _write_tile_function(module, vectors, h, w) for h in heights for w in range(1, width + 1)}
    body, b = new_function(module, "body", [POINTER, I64, I64])
    vectors.block = b
    table, begin, end = body.args
    rows, m, n = (load_entry(b, table, i) for i in range(3))
    left, right, result = (b.inttoptr(load_entry(b, table, i), POINTER) for i in range(3, 6))

    with repeated(b, number(0), rows, _BLOCK) as row, repeated(b, number(0), n, lanes * width) as column:
        many = minimum(b, b.sub(rows, row), number(_BLOCK))
        wide = minimum(b, b.sub(n, column), number(lanes * width))
        count = b.udiv(b.add(wide, number(lanes - 1)), number(lanes))
        rest = b.sub(wide, b.mul(b.sub(count, number(1)), number(lanes)))
        mask = vectors.mask_of_first(rest)
        of_right = vectors.moved(right, b.add(b.mul(row, n), column), float32)
        first = begin
        for high in heights:
            stop = b.sub(end, b.srem(b.sub(end, first), number(high)))
            with repeated(b, first, stop, high) as i:
                of_left = vectors.moved(left, b.add(b.mul(row, m), i), float32)
                place = vectors.moved(result, b.add(b.mul(i, n), column), float32)
                for w in range(1, width + 1):
                    with b.if_then(b.icmp_signed("==", count, number(w))):
                        b.call(tiles[high, w], [of_left, of_right, place, m, n, many, mask])
            first = stop
    b.ret_void()
    return body


def _write_tile_function(module: ir.Module, vectors: Vectors, height: int, width: int) -> ir.Function:
    """Writes the function that adds a block of rows to a tile of the result. A mask cuts off its last vector."""
    kinds = [POINTER, POINTER, POINTER, I64, I64, I64, vectors.vector(I1)]
    tile, b = new_function(module, f"tile_{height}_{width}", kinds)
    tile.attributes.add("noinline")
    vectors.block = b
    left, right, result, m, n, rows, mask = tile.args

    def load_left(row: Any, i: int) -> Element:
        return vectors.load_one(vectors.moved(left, b.add(b.mul(row, m), number(i)), float32), float32)

    def load_right(row: Any, j: int) -> Element:
        at = vectors.moved(right, b.add(b.mul(row, n), number(j * vectors.lanes)), float32)
        return vectors.load(at, float32, masks[j])

    masks = [*[None] * (width - 1), mask]
    sums = write_tile(vectors, float32, (height, width), repeated(b, number(0), rows), load_left, load_right)
    for i, of_row in enumerate(sums):
        for j, total in enumerate(of_row):
            at = vectors.moved(result, b.add(b.mul(number(i), n), number(j * vectors.lanes)), float32)
            vectors.store(vectors.add(total.load(), vectors.load(at, float32, masks[j])), at, masks[j])
    b.ret_void()
    return tile
