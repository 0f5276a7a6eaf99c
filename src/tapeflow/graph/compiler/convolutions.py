"""Convolutions of images that read TensorFlow's layouts: `nn/direct_convolutions.py` plans them.

A tile, some pixels or rows of a matrix and some vectors of channels, stays in registers. Threads divide the tiles, so
the bits do not depend on their number. All kernels take a table: the addresses of images, filters and results, the
numbers of channels, the address of the plan, the three entries of a worker, and True if several threads pay.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import llvmlite.ir as ir

from tapeflow.core.machine_code import target
from tapeflow.core.ops.elements import Element
from tapeflow.core.types.dtypes import float32, int64
from tapeflow.graph.compiler.calling import table_maker
from tapeflow.graph.compiler.instructions import I32, I64, POINTER, load_entry, minimum, new_function, number, repeated
from tapeflow.graph.compiler.products import write_tile
from tapeflow.graph.compiler.target import HEIGHTS, function
from tapeflow.graph.compiler.threads import write_kernel
from tapeflow.graph.compiler.vectors import Register, Vectors
from tapeflow.nn.direct_convolutions import OF_BLOCK, OF_KIND

_WIDTH = 2  # vectors of a tile
_WORKER, _IS_LARGE = 6, 9  # entries of the table

_new_table = table_maker(10)


def convolve(*operands: int, tiles: int, is_large: bool) -> None:
    """Computes the pixels of all kinds.

    Args:
        operands: the addresses of images, filters and results, the numbers of channels of both, the address of the
            plan.
        tiles: the number of tiles of all kinds.
        is_large: True if several threads pay.
    """
    _kernel("convolve", _write_images)(_new_table(*operands, 0, tiles, tiles, is_large))


def add_products(*operands: int, tiles: int, is_large: bool) -> None:
    """Adds the products of pixels of images and results to filters; arguments as in `convolve`."""
    _kernel("convolution_filters", _write_filters)(_new_table(*operands, 0, tiles, tiles, is_large))


def swap_channels(filters: int, swapped: int, channels: Sequence[int], taps: int, is_large: bool) -> None:
    """Transposes the matrix of each tap.

    Args:
        filters, swapped: the addresses of the filters and of the result.
        channels: the sizes of a matrix, multiples of the lanes of a vector.
        taps: the number of matrices.
        is_large: True if several threads pay.
    """
    tiles = taps * channels[0] // target().lanes
    table = _new_table(filters, swapped, 0, *channels, 0, 0, tiles, tiles, is_large)
    _kernel("swap_channels", _write_swapping)(table)


@functools.cache
def _kernel(name: str, write: Callable[[Vectors], ir.Function]) -> Any:
    return function(name, "", lambda: _kernel_text(write))


def _kernel_text(write: Callable[[Vectors], ir.Function]) -> str:
    vectors = Vectors(ir.Module("convolutions"), target().lanes)

    def is_large(b: ir.IRBuilder, table: Any) -> Any:
        return b.icmp_signed("!=", load_entry(b, table, _IS_LARGE), number(0))

    return write_kernel(write(vectors), _WORKER, is_large)


def _new_function(vectors: Vectors, name: str, pointers: int, integers: int) -> ir.Function:
    """Returns a new function of pointers and integers, which the builder of vectors now writes."""
    new, vectors.block = new_function(vectors.module, name, [*[POINTER] * pointers, *[I64] * integers])
    return new


def _load_entries(b: ir.IRBuilder, table: Any, count: int, pointers: int = 0) -> list[Any]:
    """Returns the first entries of a table; the very first are pointers."""
    entries = [load_entry(b, table, i) for i in range(count)]
    return [b.inttoptr(e, POINTER) if i < pointers else e for i, e in enumerate(entries)]


class _IntegerRegister:
    """An integer that instructions change."""

    def __init__(self, vectors: Vectors, first: Any) -> None:
        self._register = Register(vectors.one, int64, Element(first, int64))
        self._b = vectors.block

    @property
    def value(self) -> Any:
        """Its current value."""
        return self._register.load().value

    @value.setter
    def value(self, value: Any) -> None:
        self._register.store(Element(value, int64))

    def add(self, *values: Any) -> None:
        """Adds values to it."""
        self.value = functools.reduce(self._b.add, values, self.value)


def _float_at(vectors: Vectors, pointer: Any, *offsets: Any) -> Any:
    """Returns the address of a float32 number behind an address."""
    return vectors.moved(pointer, functools.reduce(vectors.block.add, offsets), float32)


def _value_if(b: ir.IRBuilder, condition: Any, value: Any) -> Any:
    return b.select(condition, value, number(0))


def _channel_panels(vectors: Vectors, channels: Any) -> Iterator[tuple[int, Any]]:
    """Repeats instructions for each panel of channels. Yields its number of vectors and its first channel, twice.

    Args:
        vectors: the builder.
        channels: the number of channels, a multiple of the lanes.
    """
    b, wide = vectors.block, _WIDTH * vectors.lanes
    rest = b.sub(channels, b.urem(channels, number(wide)))
    with repeated(b, number(0), rest, wide) as channel:
        yield _WIDTH, channel
    with b.if_then(b.icmp_signed("<", rest, channels)):
        yield 1, rest


# ---- images ----------------------------------------------------------------------------------------------------------


def _write_images(vectors: Vectors) -> ir.Function:
    """Writes the function that computes a range of the tiles of all kinds of pixels."""
    pixels, *_ = HEIGHTS[vectors.lanes]
    functions = {w: _write_pixels(vectors, _write_tile_of_pixels(vectors, w)) for w in (1, _WIDTH)}
    body = _new_function(vectors, "body", 1, 2)
    table, begin, end = body.args
    b = vectors.block
    x, filters, y, _, channels, plan = _load_entries(b, table, 6, pointers=3)
    plan = b.inttoptr(plan, POINTER)
    before = _IntegerRegister(vectors, number(0))
    with repeated(b, number(0), load_entry(b, plan, 0)) as i:
        kind = b.gep(plan, [b.add(b.mul(i, number(OF_KIND)), number(1))], source_etype=I64)
        tiles = b.udiv(b.add(load_entry(b, kind, 0), number(pixels - 1)), number(pixels))
        first = b.sub(begin, before.value)
        first = _value_if(b, b.icmp_signed(">", first, number(0)), first)
        last = minimum(b, b.sub(end, before.value), tiles)
        with b.if_then(b.icmp_signed("<", first, last)):
            for width, channel in _channel_panels(vectors, channels):
                addresses = [_float_at(vectors, pointer, channel) for pointer in (filters, y)]
                b.call(functions[width], [kind, plan, table, x, *addresses, first, last])
        before.add(tiles)
    b.ret_void()
    return body


def _write_tile_of_pixels(vectors: Vectors, width: int) -> ir.Function:
    """Writes the function that computes a tile: pixels at some addresses, and some vectors of channels."""
    pixels, *_ = HEIGHTS[vectors.lanes]
    tile = _new_function(vectors, f"tile_{width}", 2 * pixels + 2, 3)
    tile.attributes.add("noinline")
    b = vectors.block
    ins, outs, (filters, taps, count, depth, step) = (
        tile.args[:pixels], tile.args[pixels : 2 * pixels], tile.args[2 * pixels :]
    )  # fmt: skip

    @contextlib.contextmanager
    def over_taps() -> Iterator[Any]:
        with repeated(b, number(0), count) as tap:
            of_images, of_filters = _load_entries(b, b.gep(taps, [b.shl(tap, number(1))], source_etype=I64), 2)
            rows = [_float_at(vectors, pointer, of_images) for pointer in ins]
            with repeated(b, number(0), depth) as k:
                yield rows, _float_at(vectors, filters, of_filters, b.mul(k, step)), k

    def load_pixel(place: Any, i: int) -> Element:
        rows, _, k = place
        return vectors.load_one(_float_at(vectors, rows[i], k), float32)

    def load_filters(place: Any, j: int) -> Element:
        return vectors.load(_float_at(vectors, place[1], number(j * vectors.lanes)), float32)

    sums = write_tile(vectors, float32, (pixels, width), over_taps(), load_pixel, load_filters)
    for pointer, of_pixel in zip(outs, sums, strict=True):
        for j, total in enumerate(of_pixel):
            vectors.store(total.load(), _float_at(vectors, pointer, number(j * vectors.lanes)))
    b.ret_void()
    return tile


def _write_pixels(vectors: Vectors, tile: ir.Function) -> ir.Function:
    """Writes the function that computes some tiles of the pixels of one kind."""
    pixels, *_ = HEIGHTS[vectors.lanes]
    of_kind = _new_function(vectors, f"pixels_{tile.name}", 6, 2)
    kind, plan, table, x, filters, y, begin, end = of_kind.args
    b = vectors.block
    depth, channels = load_entry(b, table, 3), load_entry(b, table, 4)
    total, rows, columns, *x_moves, y_begin, y_step, y_row, y_image, at, taps = _load_entries(b, kind, OF_KIND)
    taps_of_kind = b.gep(plan, [at], source_etype=I64)
    first = b.mul(begin, number(pixels))
    line = b.udiv(first, columns)
    image = b.udiv(line, rows)
    column = _IntegerRegister(vectors, b.sub(first, b.mul(line, columns)))
    row = _IntegerRegister(vectors, b.sub(line, b.mul(image, rows)))
    moves = [x_moves, [y_step, y_row, y_image]]
    offsets = []
    for start, own in zip((number(0), y_begin), moves, strict=True):
        products = [b.mul(n, move) for n, move in zip((first, line, image), own, strict=True)]
        offsets.append(_IntegerRegister(vectors, functools.reduce(b.add, products, start)))
    with repeated(b, begin, end) as index:
        places = []
        for pixel in range(pixels):
            places.append([_float_at(vectors, pointer, o.value) for pointer, o in zip((x, y), offsets, strict=True)])
            is_inside = b.icmp_signed("<", b.add(b.mul(index, number(pixels)), number(pixel + 1)), total)
            column.add(number(1))
            is_row = b.icmp_signed("==", column.value, columns)
            column.value = b.select(is_row, number(0), column.value)
            row.add(b.zext(is_row, I64))
            is_image = b.icmp_signed("==", row.value, rows)
            row.value = b.select(is_image, number(0), row.value)
            for offset, (step, of_row, of_image) in zip(offsets, moves, strict=True):
                move = b.add(step, b.add(_value_if(b, is_row, of_row), _value_if(b, is_image, of_image)))
                offset.add(_value_if(b, is_inside, move))  # the last tile computes the last pixel several times
        ins, outs = zip(*places, strict=True)
        b.call(tile, [*ins, *outs, filters, taps_of_kind, taps, depth, channels])
    b.ret_void()
    return of_kind


# ---- filters ---------------------------------------------------------------------------------------------------------


def _write_filters(vectors: Vectors) -> ir.Function:
    """Writes the function that computes a range of the tiles of all taps: rows of a matrix, some at a time."""
    heights = HEIGHTS[vectors.lanes]
    functions = {(h, w): _write_tile_of_filters(vectors, h, w) for h in heights for w in (1, _WIDTH)}
    body = _new_function(vectors, "body", 1, 2)
    table, begin, end = body.args
    b = vectors.block
    x, filters, y, m, n, plan = _load_entries(b, table, 6, pointers=3)
    plan = b.inttoptr(plan, POINTER)
    blocks, x_step, batch, several, x_size, y_size, per_tap = _load_entries(b, plan, 7)
    with repeated(b, number(0), batch, several) as image, repeated(b, number(0), blocks) as i:
        block = b.gep(plan, [b.add(b.mul(i, number(OF_BLOCK)), number(7))], source_etype=I64)
        rows, columns, x_row, x_image, y_row, y_image, *begins, tap = _load_entries(b, block, OF_BLOCK)
        lines = b.mul(minimum(b, b.sub(batch, image), several), rows)
        of_x = _float_at(vectors, x, b.mul(image, x_size), begins[0])
        of_y = _float_at(vectors, y, b.mul(image, y_size), begins[1])
        matrix, tile, row = _float_at(vectors, filters, begins[2]), b.mul(tap, per_tap), number(0)
        moves = [lines, rows, columns, x_step, x_row, x_image, n, y_row, y_image]
        for height in heights:
            stop = b.sub(m, b.urem(b.sub(m, row), number(height)))
            with repeated(b, row, stop, height) as k:
                this = b.add(tile, b.udiv(b.sub(k, row), number(height)))
                is_own = b.and_(b.icmp_signed("<=", begin, this), b.icmp_signed("<", this, end))
                with b.if_then(is_own):
                    for width, channel in _channel_panels(vectors, n):
                        result = _float_at(vectors, matrix, b.mul(k, n), channel)
                        addresses = [_float_at(vectors, of_x, k), _float_at(vectors, of_y, channel), result]
                        b.call(functions[height, width], [*addresses, *moves])
            tile, row = b.add(tile, b.udiv(b.sub(stop, row), number(height))), stop
    b.ret_void()
    return body


def _write_tile_of_filters(vectors: Vectors, height: int, width: int) -> ir.Function:
    """Writes the function that adds the products of pixels of images and results to a tile of a tap's matrix."""
    tile = _new_function(vectors, f"tile_{height}_{width}", 3, 9)
    tile.attributes.add("noinline")
    x, y, result, lines, rows, columns, *x_moves, y_step, y_row, y_image = tile.args
    b = vectors.block
    moves = [x_moves, [y_step, y_row, y_image]]
    row, *offsets = (_IntegerRegister(vectors, number(0)) for _ in range(3))

    @contextlib.contextmanager
    def over_pixels() -> Iterator[Any]:
        with repeated(b, number(0), lines):
            with repeated(b, number(0), columns):
                yield [_float_at(vectors, pointer, o.value) for pointer, o in zip((x, y), offsets, strict=True)]
                for offset, (step, _, _) in zip(offsets, moves, strict=True):
                    offset.add(step)
            row.add(number(1))
            is_image = b.icmp_signed("==", row.value, rows)
            row.value = b.select(is_image, number(0), row.value)
            for offset, (_, of_row, of_image) in zip(offsets, moves, strict=True):
                offset.add(of_row, _value_if(b, is_image, of_image))

    def load_image(places: Any, i: int) -> Element:
        return vectors.load_one(_float_at(vectors, places[0], number(i)), float32)

    def load_result(places: Any, j: int) -> Element:
        return vectors.load(_float_at(vectors, places[1], number(j * vectors.lanes)), float32)

    sums = write_tile(vectors, float32, (height, width), over_pixels(), load_image, load_result)
    for i, of_row in enumerate(sums):
        for j, total in enumerate(of_row):
            at = _float_at(vectors, result, b.mul(y_step, number(i)), number(j * vectors.lanes))
            vectors.store(vectors.add(total.load(), vectors.load(at, float32)), at)
    b.ret_void()
    return tile


# ---- channels --------------------------------------------------------------------------------------------------------


def _write_swapping(vectors: Vectors) -> ir.Function:
    """Writes the function that transposes a range of groups of rows of all taps' matrices."""
    body = _new_function(vectors, "body", 1, 2)
    table, begin, end = body.args
    b, lanes = vectors.block, vectors.lanes
    filters, swapped, _, m, n = _load_entries(b, table, 5, pointers=2)
    with repeated(b, begin, end) as group, repeated(b, number(0), n, lanes) as column:
        line = b.mul(group, number(lanes))
        tap = b.udiv(line, m)
        of_filters = _float_at(vectors, filters, b.mul(line, n), column)
        of_result = _float_at(vectors, swapped, b.mul(b.sub(b.mul(tap, n), tap), m), line, b.mul(column, m))
        rows = [vectors.load(_float_at(vectors, of_filters, b.mul(n, number(r))), float32).value for r in range(lanes)]
        for r, row in enumerate(_transpose_rows(b, rows)):
            vectors.store(Element(row, float32), _float_at(vectors, of_result, b.mul(m, number(r))))
    b.ret_void()
    return body


def _transpose_rows(b: ir.IRBuilder, rows: Sequence[Any]) -> list[Any]:
    """Returns the columns of a square matrix as vectors: first halves change places, then quarters, and so on."""
    rows, lanes = list(rows), len(rows)
    half = lanes // 2
    while half:
        low = [lanes + c - half if c & half else c for c in range(lanes)]
        high = [lanes + c if c & half else c + half for c in range(lanes)]
        for r in range(lanes):
            if not r & half:
                pair = rows[r], rows[r + half]
                for place, order in ((r, low), (r + half, high)):
                    rows[place] = b.shuffle_vector(*pair, ir.Constant(ir.VectorType(I32, lanes), order))
        half //= 2
    return rows
