"""Convolutions as machine code that reads TensorFlow's layouts, on CPUs.

oneDNN has to reorder the filters, and a call of ATen costs as much as a convolution of a small image: between large
kernels, caches hold none of its code. This code reads channels-last images and "HWIO" filters as they are. A tile of
the result, some pixels and some vectors of channels, stays in registers. The pixels of a tile have the same taps, which
are the places in a window that lie in the image. Images of gradients are convolutions with other taps, and filters with
swapped channels. The tiles are divided among torch's OpenMP threads, so the bits do not depend on their number.
"""

from __future__ import annotations

import ctypes
import functools
import importlib.util
import itertools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch

from tapeflow.core import mkl
from tapeflow.core.machine_code import target
from tapeflow.core.ops.elements import Unsupported
from tapeflow.core.ops.elementwise_kernels import by_value
from tapeflow.nn.conv_layout import Layout

_TILES = {16: (8, 2), 8: (6, 2)}  # pixels and vectors of a tile, by the lanes of a vector
_FEW = 1 << 19  # multiplications: fewer are computed by one thread
_BLOCK_PIXELS = 256  # of results whose products with pixels of images are added up in registers
_MANY = 1 << 29  # multiplications: for more, the time of oneDNN's call does not matter


class _Run(NamedTuple):
    """Places along one dimension of the result with the same taps.

    Attributes:
        first, step, length: the places.
        stride: the step between the places that the first tap reads.
        taps: the place in the filter and the first place in the image, for each tap.
    """

    first: int
    step: int
    length: int
    stride: int
    taps: tuple[tuple[int, int], ...]


def is_direct(layout: Layout, sizes: Sequence[int], channels: int, *tensors: torch.Tensor) -> bool:
    """Returns True if this module's functions compute a convolution or a gradient of it.

    Args:
        layout: the convolution.
        sizes: the shape of the filters.
        channels: the number of channels of the result.
        *tensors: the operands.
    """
    return (
        layout.channels_last
        and layout.groups == 1
        and len(sizes) == 4
        and math.prod(layout.output[:-1]) * math.prod(sizes) <= _MANY
        and (not layout.pointwise or mkl.products_are_slow())
        and all(t.dtype is torch.float32 and by_value(t) and not t.is_neg() for t in tensors)
        and compiled() is not None
        and not channels % compiled().lanes
    )


def convolution(layout: Layout, x: torch.Tensor, filters: torch.Tensor) -> torch.Tensor:
    """Computes a convolution."""
    plan = _forward_plan(layout, tuple(x.shape), tuple(filters.shape))
    y = x.new_empty(layout.output)
    channels = filters.shape[2:]
    _call_code(_CONVOLVE, x.contiguous(), filters.contiguous(), y, channels, plan, x.numel() * channels[1])
    return y


def image_gradient(layout: Layout, sizes: tuple[int, ...], filters: torch.Tensor, dy: torch.Tensor) -> torch.Tensor:
    """Computes the gradient of a convolution by its images, whose shape is `sizes`."""
    plan = _gradient_plan(layout, tuple(sizes), tuple(filters.shape))
    dx = dy.new_empty(sizes)
    channels, results = filters.shape[2:]
    swapped = _swap_channels(filters)
    _call_code(_CONVOLVE, dy.contiguous(), swapped, dx, (results, channels), plan, dx.numel() * results)
    return dx


def _swap_channels(filters: torch.Tensor) -> torch.Tensor:
    """Transposes the matrix of each tap. ATen's copy takes several times as long."""
    height, width, channels, results = filters.shape
    if results % compiled().lanes:
        return filters.transpose(2, 3).contiguous()
    swapped = filters.new_empty((height, width, results, channels))
    _call_code(_SWAP, filters.contiguous(), swapped, None, (channels, results), height * width, filters.numel() >> 2)
    return swapped


def filter_gradient(layout: Layout, x: torch.Tensor, sizes: tuple[int, ...], dy: torch.Tensor) -> torch.Tensor:
    """Computes the gradient of a convolution by its filters, whose shape is `sizes`."""
    plan = _filter_plan(layout, tuple(x.shape), tuple(sizes))
    dfilters = x.new_zeros(sizes)
    _call_code(_FILTERS, x.contiguous(), dfilters, dy.contiguous(), sizes[2:], plan, x.numel() * sizes[3])
    return dfilters


_CONVOLVE, _FILTERS, _SWAP = range(3)  # what the machine code computes


def _call_code(
    function: int, x: torch.Tensor, filters: torch.Tensor, y: torch.Tensor | None, channels: Sequence[int], plan: Any,
    work: int,
) -> None:  # fmt: skip
    """Calls the machine code with tensors in contiguous memory."""
    plan = plan if isinstance(plan, int) else ctypes.addressof(plan)
    addresses = x.data_ptr(), filters.data_ptr(), 0 if y is None else y.data_ptr()
    threads = torch.get_num_threads() if work >= _FEW else 1
    table = (ctypes.c_int64 * 8)(*addresses, *channels, plan, threads, function)
    compiled()(ctypes.addressof(table))


# ---- plans -----------------------------------------------------------------------------------------------------------


@functools.lru_cache(4096)
def _forward_plan(layout: Layout, images: tuple[int, ...], filters: tuple[int, ...]) -> Any:
    """Returns the plan of a convolution."""
    geometry, runs = layout.geometry, []
    for dim in range(2):
        size, window, out = images[1 + dim], filters[dim], geometry.out[dim]
        stride, rate, before = geometry.strides[dim], layout.rates[dim], geometry.before[dim]
        taps = [
            tuple((k, i) for k in range(window) if 0 <= (i := place * stride + k * rate - before) < size)
            for place in range(out)
        ]
        runs.append(_find_runs(range(out), taps, stride))
    return _new_plan(runs, images, layout.output, filters[1], filters[2] * filters[3])


@functools.lru_cache(4096)
def _gradient_plan(layout: Layout, images: tuple[int, ...], filters: tuple[int, ...]) -> Any:
    """Returns the plan of the gradient of a convolution by its images."""
    geometry, runs = layout.geometry, []
    for dim in range(2):
        size, window, out = images[1 + dim], filters[dim], geometry.out[dim]
        stride, rate, before = geometry.strides[dim], layout.rates[dim], geometry.before[dim]
        found = []
        for first in range(min(stride, size)):
            places = range(first, size, stride)
            taps = [
                tuple(
                    (k, at // stride)
                    for k in range(window)
                    if not (at := place + before - k * rate) % stride and 0 <= at // stride < out
                )
                for place in places
            ]
            found += _find_runs(places, taps, 1)
        runs.append(found)
    return _new_plan(runs, layout.output, images, filters[1], filters[2] * filters[3])


@functools.lru_cache(4096)
def _filter_plan(layout: Layout, images: tuple[int, ...], filters: tuple[int, ...]) -> Any:
    """Returns the plan of the gradient of a convolution by its filters: blocks of pixels, for each tap."""
    geometry, (batch, height, width, channels) = layout.geometry, images
    (rows_out, columns_out), (row_step, column_step) = geometry.out, geometry.strides
    results, row_in, row_out = filters[3], width * channels, columns_out * filters[3]
    tap_rows, tap_columns = (_tap_ranges(layout, dim, images[1 + dim], filters[dim]) for dim in range(2))
    per_block = max(1, _BLOCK_PIXELS // columns_out)
    images_per_block = min(batch, max(1, per_block // rows_out))
    blocks: list[int] = []
    for row in range(0, rows_out, per_block):
        for (k, (low, high)), (m, (left, right)) in itertools.product(enumerate(tap_rows), enumerate(tap_columns)):
            first, last = max(low, row), min(high, row + per_block)
            if first >= last or left >= right:
                continue
            y = first * row_step + k * layout.rates[0] - geometry.before[0]
            x = left * column_step + m * layout.rates[1] - geometry.before[1]
            rows, columns, tap = last - first, right - left, k * filters[1] + m
            blocks += [
                rows, columns,
                row_step * row_in - columns * column_step * channels, (height - rows * row_step) * row_in,
                row_out - columns * results, (rows_out - rows) * row_out,
                y * row_in + x * channels, first * row_out + left * results,
                tap * channels * results, tap * (channels // 3 + 3),
            ]  # fmt: skip
    count, x_size, y_size = len(blocks) // len(_BLOCK), height * row_in, rows_out * row_out
    return _new_array([count, column_step * channels, batch, images_per_block, x_size, y_size, *blocks])


def _tap_ranges(layout: Layout, dim: int, size: int, window: int) -> list[tuple[int, int]]:
    """Returns the first place of the result at which each tap lies in the image, and the first one after these."""
    geometry = layout.geometry
    stride, rate, before, out = geometry.strides[dim], layout.rates[dim], geometry.before[dim], geometry.out[dim]
    offsets = [k * rate - before for k in range(window)]
    return [(max(0, -(offset // stride)), min(out, (size - 1 - offset) // stride + 1)) for offset in offsets]


def _find_runs(places: range, taps: list[tuple[tuple[int, int], ...]], stride: int) -> list[_Run]:
    """Divides places into runs with the same taps."""
    runs = []
    for _, group in itertools.groupby(range(len(places)), lambda i: [tap[0] for tap in taps[i]]):
        first, *others = group
        runs.append(_Run(places[first], places.step, 1 + len(others), stride, taps[first]))
    return runs


def _new_plan(runs: list[list[_Run]], images: tuple[int, ...], result: tuple[int, ...], width: int, matrix: int) -> Any:
    """Returns a plan in memory: for each kind of pixels numbers that describe them, and where its taps are."""
    batch, height_in, width_in, channels_in = images
    _, height_out, width_out, channels_out = result
    row_in, row_out = width_in * channels_in, width_out * channels_out
    kinds: list[int] = []
    taps: list[int] = []
    pairs = list(itertools.product(*runs))
    for rows, columns in pairs:
        at = 1 + len(_KIND) * len(pairs) + len(taps)
        here = [(i * row_in + j * channels_in, (k * width + m) * matrix) for k, i in rows.taps for m, j in columns.taps]
        kinds += [
            batch * rows.length * columns.length, rows.length, columns.length,
            columns.stride * channels_in, rows.stride * row_in - columns.length * columns.stride * channels_in,
            height_in * row_in - rows.length * rows.stride * row_in,
            rows.first * row_out + columns.first * channels_out, columns.step * channels_out,
            rows.step * row_out - columns.length * columns.step * channels_out,
            height_out * row_out - rows.length * rows.step * row_out,
            at, len(here),
        ]  # fmt: skip
        taps += itertools.chain.from_iterable(here)
    return _new_array([len(pairs), *kinds, *taps])


def _new_array(numbers: list[int]) -> Any:
    return (ctypes.c_int64 * len(numbers))(*numbers)


# ---- machine code ----------------------------------------------------------------------------------------------------


@functools.cache
def compiled() -> Any:
    """Returns the function of a table of addresses and sizes, or None if the processor has no wide vectors."""
    if importlib.util.find_spec("llvmlite") is None:
        return None
    try:
        lanes = target().lanes
    except Unsupported:
        return None
    if lanes not in _TILES or not target().has_fma:
        return None
    threads = all(map(target().has, ("GOMP_parallel", "omp_get_num_threads", "omp_get_thread_num")))
    text = _module_text(lanes, *_TILES[lanes], threads)
    code = target().load("direct_convolution", text, lambda: text)
    function: Any = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(code.address)
    function.code = code  # it is freed with the function
    function.lanes = lanes
    return function


def _module_text(lanes: int, pixels: int, width: int, threads: bool) -> str:
    vector = f"<{lanes} x float>"
    return "\n".join([
        f"declare {vector} @llvm.fma.v{lanes}f32({vector}, {vector}, {vector})",
        *[_tile_text(lanes, pixels, w) for w in range(1, width + 1)],
        *[_pixels_text(lanes, pixels, w) for w in range(1, width + 1)],
        _images_text(lanes, pixels, width),
        *[_matrix_text(lanes, height, w) for height in (pixels, 3, 1) for w in range(1, width + 1)],
        _filters_text(lanes, [pixels, 3, 1], width),
        _swap_text(lanes),
        _ENTRY,
        _THREADS if threads else _ONE_THREAD,
    ])  # fmt: skip


def _product_lines(
    lanes: int, cells: Sequence[tuple[int, int]], numbers: Sequence[str], vectors: str, old: str
) -> list[str]:
    """Returns the lines that add products to the sums of a tile: `%s0_0` is the new sum of row 0 and vector 0.

    Args:
        lanes: the number of elements of a vector.
        cells: the rows and vectors of the tile.
        numbers: the place of each row's number in memory.
        vectors: the address of the vectors.
        old: the name of the sums so far.
    """
    vector = f"<{lanes} x float>"
    lines = []
    for j in {j: None for _, j in cells}:
        lines += [
            f"  %q{j} = getelementptr float, ptr {vectors}, i64 {j * lanes}",
            f"  %f{j} = load {vector}, ptr %q{j}, align 4",
        ]
    for i, number in enumerate(numbers):
        lines += [
            f"  %g{i} = getelementptr float, {number}",
            f"  %e{i} = load float, ptr %g{i}, align 4",
            f"  %h{i} = insertelement {vector} poison, float %e{i}, i32 0",
            f"  %v{i} = shufflevector {vector} %h{i}, {vector} poison, <{lanes} x i32> zeroinitializer",
        ]
    return lines + [
        f"  %s{i}_{j} = call {vector} @llvm.fma.v{lanes}f32({vector} %v{i}, {vector} %f{j}, {vector} %{old}{i}_{j})"
        for i, j in cells
    ]


def _load_lines(pointer: str, names: Sequence[str]) -> list[str]:
    """Returns the lines that read the entries of a table."""
    lines = []
    for i, name in enumerate(names):
        kind = "ptr" if name in _ADDRESSES else "i64"
        lines += [
            f"  %at_{name} = getelementptr i64, ptr {pointer}, i64 {i}",
            f"  %{name} = load {kind}, ptr %at_{name}",
        ]
    return lines


_ADDRESSES = ["x", "w", "y", "plan"]


def _tile_text(lanes: int, pixels: int, width: int) -> str:
    """Returns the function that computes a tile: pixels at some addresses, and some vectors of channels."""
    vector = f"<{lanes} x float>"
    cells = [(i, j) for i in range(pixels) for j in range(width)]
    ins, outs = (", ".join([f"ptr %{name}{i}" for i in range(pixels)]) for name in "xy")
    lines = [
        f"define internal void @tile_{width}({ins}, {outs}, ptr %w, ptr %taps, i64 %count, i64 %depth, "
        "i64 %step) noinline {",
        "entry:",
        "  %any = icmp sgt i64 %count, 0",
        "  br i1 %any, label %tap, label %done",
        "tap:",
        "  %t = phi i64 [0, %entry], [%t2, %tapend]",
        *[f"  %u{i}_{j} = phi {vector} [zeroinitializer, %entry], [%s{i}_{j}, %tapend]" for i, j in cells],
        "  %at = shl i64 %t, 1",
        "  %atx = getelementptr i64, ptr %taps, i64 %at",
        "  %ox = load i64, ptr %atx",
        "  %atw = getelementptr i64, ptr %atx, i64 1",
        "  %ow = load i64, ptr %atw",
        "  %w0 = getelementptr float, ptr %w, i64 %ow",
        *[f"  %p{i} = getelementptr float, ptr %x{i}, i64 %ox" for i in range(pixels)],
        "  br label %again",
        "again:",
        "  %k = phi i64 [0, %tap], [%k2, %again]",
        "  %wk = phi ptr [%w0, %tap], [%wk2, %again]",
        *[f"  %r{i}_{j} = phi {vector} [%u{i}_{j}, %tap], [%s{i}_{j}, %again]" for i, j in cells],
    ]
    lines += _product_lines(lanes, cells, [f"ptr %p{i}, i64 %k" for i in range(pixels)], "%wk", "r")
    lines += [
        "  %wk2 = getelementptr float, ptr %wk, i64 %step",
        "  %k2 = add i64 %k, 1",
        "  %more = icmp slt i64 %k2, %depth",
        "  br i1 %more, label %again, label %tapend",
        "tapend:",
        "  %t2 = add i64 %t, 1",
        "  %moretaps = icmp slt i64 %t2, %count",
        "  br i1 %moretaps, label %tap, label %done",
        "done:",
        *[f"  %z{i}_{j} = phi {vector} [zeroinitializer, %entry], [%s{i}_{j}, %tapend]" for i, j in cells],
    ]
    for i, j in cells:
        lines += [
            f"  %o{i}_{j} = getelementptr float, ptr %y{i}, i64 {j * lanes}",
            f"  store {vector} %z{i}_{j}, ptr %o{i}_{j}, align 4",
        ]
    return "\n".join([*lines, "  ret void", "}"])


_KIND = ["total", "rows", "columns", "xstep", "xrow", "ximage", "ybegin", "ystep", "yrow", "yimage", "at", "taps"]


def _pixels_text(lanes: int, pixels: int, width: int) -> str:
    """Returns the function that computes some tiles of the pixels of one kind."""
    lines = [
        f"define internal void @pixels_{width}(ptr %kind, ptr %plan, ptr %x, ptr %w, ptr %y, i64 %depth, "
        "i64 %step, i64 %begin, i64 %end) {",
        "entry:",
    ]
    lines += _load_lines("%kind", _KIND)
    lines += [
        "  %tap = getelementptr i64, ptr %plan, i64 %at",
        f"  %first = mul i64 %begin, {pixels}",
        "  %line = udiv i64 %first, %columns",
        "  %inline = mul i64 %line, %columns",
        "  %j0 = sub i64 %first, %inline",
        "  %n0 = udiv i64 %line, %rows",
        "  %inimage = mul i64 %n0, %rows",
        "  %i0 = sub i64 %line, %inimage",
    ]
    for name, start in (("x", 0), ("y", "%ybegin")):
        lines += [
            f"  %{name}a = mul i64 %first, %{name}step",
            f"  %{name}b = mul i64 %line, %{name}row",
            f"  %{name}c = mul i64 %n0, %{name}image",
            f"  %{name}d = add i64 %{name}a, %{name}b",
            f"  %{name}e = add i64 %{name}d, %{name}c",
            f"  %{name}f = add i64 %{name}e, {start}",
            f"  %{name}0 = getelementptr float, ptr %{name}, i64 %{name}f",
        ]
    lines += [
        "  br label %tile",
        "tile:",
        "  %number = phi i64 [%begin, %entry], [%number2, %tile]",
        "  %index0 = phi i64 [%first, %entry], [%indexnext, %tile]",
        f"  %it0 = phi i64 [%i0, %entry], [%it{pixels}, %tile]",
        f"  %jt0 = phi i64 [%j0, %entry], [%jt{pixels}, %tile]",
        f"  %xt0 = phi ptr [%x0, %entry], [%xt{pixels}, %tile]",
        f"  %yt0 = phi ptr [%y0, %entry], [%yt{pixels}, %tile]",
        f"  %indexnext = add i64 %index0, {pixels}",
    ]
    for p in range(pixels):
        q = p + 1
        lines += [
            f"  %index{q} = add i64 %index0, {q}",
            f"  %isin{q} = icmp slt i64 %index{q}, %total",
            f"  %j{q} = add i64 %jt{p}, 1",
            f"  %newrow{q} = icmp eq i64 %j{q}, %columns",
            f"  %jt{q} = select i1 %newrow{q}, i64 0, i64 %j{q}",
            f"  %i{q} = zext i1 %newrow{q} to i64",
            f"  %iu{q} = add i64 %it{p}, %i{q}",
            f"  %newimage{q} = icmp eq i64 %iu{q}, %rows",
            f"  %it{q} = select i1 %newimage{q}, i64 0, i64 %iu{q}",
        ]
        for name in "xy":
            lines += [
                f"  %{name}r{q} = select i1 %newrow{q}, i64 %{name}row, i64 0",
                f"  %{name}m{q} = select i1 %newimage{q}, i64 %{name}image, i64 0",
                f"  %{name}s{q} = add i64 %{name}r{q}, %{name}m{q}",
                f"  %{name}u{q} = add i64 %{name}s{q}, %{name}step",
                f"  %{name}v{q} = select i1 %isin{q}, i64 %{name}u{q}, i64 0",
                f"  %{name}t{q} = getelementptr float, ptr %{name}t{p}, i64 %{name}v{q}",
            ]
    ins, outs = (", ".join([f"ptr %{name}t{i}" for i in range(pixels)]) for name in "xy")
    lines += [
        f"  call void @tile_{width}({ins}, {outs}, ptr %w, ptr %tap, i64 %taps, i64 %depth, i64 %step)",
        "  %number2 = add i64 %number, 1",
        "  %more = icmp slt i64 %number2, %end",
        "  br i1 %more, label %tile, label %done",
        "done:",
        "  ret void",
        "}",
    ]
    return "\n".join(lines)


def _images_text(lanes: int, pixels: int, width: int) -> str:
    """Returns the function that computes the part of one of some workers: tiles of each kind of pixels."""
    lines = ["define internal void @images(ptr %table, i64 %me, i64 %workers) {", "entry:"]
    lines += _load_lines("%table", ["x", "w", "y", "depth", "step", "plan"])
    lines += [
        "  %kinds = load i64, ptr %plan",
        "  %me2 = add i64 %me, 1",
        "  br label %kind",
        "kind:",
        "  %number = phi i64 [0, %entry], [%number2, %next]",
        f"  %far = mul i64 %number, {len(_KIND)}",
        "  %far1 = add i64 %far, 1",
        "  %this = getelementptr i64, ptr %plan, i64 %far1",
        "  %total = load i64, ptr %this",
        f"  %up = add i64 %total, {pixels - 1}",
        f"  %tiles = udiv i64 %up, {pixels}",
        "  %low = mul i64 %tiles, %me",
        "  %begin = udiv i64 %low, %workers",
        "  %high = mul i64 %tiles, %me2",
        "  %end = udiv i64 %high, %workers",
        "  %any = icmp slt i64 %begin, %end",
        "  br i1 %any, label %panel, label %next",
        "panel:",
        "  %col = phi i64 [0, %kind], [%col2, %panelend]",
        "  %wp = getelementptr float, ptr %w, i64 %col",
        "  %yp = getelementptr float, ptr %y, i64 %col",
        "  %left = sub i64 %step, %col",
        f"  %iswide = icmp sge i64 %left, {width * lanes}",
        f"  %wide = select i1 %iswide, i64 {width * lanes}, i64 {lanes}",
        "  %col2 = add i64 %col, %wide",
        f"  br i1 %iswide, label %panel{width}, label %panel1",
    ]
    for w in (1, width):
        lines += [
            f"panel{w}:",
            f"  call void @pixels_{w}(ptr %this, ptr %plan, ptr %x, ptr %wp, ptr %yp, i64 %depth, i64 %step, "
            "i64 %begin, i64 %end)",
            "  br label %panelend",
        ]
    lines += [
        "panelend:",
        "  %morecols = icmp slt i64 %col2, %step",
        "  br i1 %morecols, label %panel, label %next",
        "next:",
        "  %number2 = add i64 %number, 1",
        "  %more = icmp slt i64 %number2, %kinds",
        "  br i1 %more, label %kind, label %done",
        "done:",
        "  ret void",
        "}",
    ]
    return "\n".join(lines)


def _matrix_text(lanes: int, height: int, width: int) -> str:
    """Returns the function that adds the products of pixels of images and results to a tile of a tap's matrix."""
    vector = f"<{lanes} x float>"
    cells = [(i, j) for i in range(height) for j in range(width)]
    lines = [
        f"define internal void @matrix_{height}_{width}(ptr %a, ptr %b, ptr %c, i64 %lines, i64 %rows, i64 %columns, "
        "i64 %xstep, i64 %xrow, i64 %ximage, i64 %ystep, i64 %yrow, i64 %yimage) noinline {",
        "entry:",
        "  br label %line",
        "line:",
        "  %l = phi i64 [0, %entry], [%l2, %lineend]",
        "  %i = phi i64 [0, %entry], [%i2, %lineend]",
        "  %xl = phi ptr [%a, %entry], [%x3, %lineend]",
        "  %yl = phi ptr [%b, %entry], [%y3, %lineend]",
        *[f"  %u{i}_{j} = phi {vector} [zeroinitializer, %entry], [%s{i}_{j}, %lineend]" for i, j in cells],
        "  br label %again",
        "again:",
        "  %k = phi i64 [0, %line], [%k2, %again]",
        "  %x = phi ptr [%xl, %line], [%x2, %again]",
        "  %y = phi ptr [%yl, %line], [%y2, %again]",
        *[f"  %t{i}_{j} = phi {vector} [%u{i}_{j}, %line], [%s{i}_{j}, %again]" for i, j in cells],
    ]
    lines += _product_lines(lanes, cells, [f"ptr %x, i64 {i}" for i in range(height)], "%y", "t")
    lines += [
        "  %x2 = getelementptr float, ptr %x, i64 %xstep",
        "  %y2 = getelementptr float, ptr %y, i64 %ystep",
        "  %k2 = add i64 %k, 1",
        "  %more = icmp slt i64 %k2, %columns",
        "  br i1 %more, label %again, label %lineend",
        "lineend:",
        "  %l2 = add i64 %l, 1",
        "  %i1 = add i64 %i, 1",
        "  %newimage = icmp eq i64 %i1, %rows",
        "  %i2 = select i1 %newimage, i64 0, i64 %i1",
    ]
    for name in "xy":
        lines += [
            f"  %{name}m = select i1 %newimage, i64 %{name}image, i64 0",
            f"  %{name}o = add i64 %{name}m, %{name}row",
            f"  %{name}3 = getelementptr float, ptr %{name}2, i64 %{name}o",
        ]
    lines += ["  %morelines = icmp slt i64 %l2, %lines", "  br i1 %morelines, label %line, label %done", "done:"]
    for i, j in cells:
        lines += [
            f"  %r{i}_{j} = mul i64 %ystep, {i}",
            f"  %o{i}_{j} = add i64 %r{i}_{j}, {j * lanes}",
            f"  %p{i}_{j} = getelementptr float, ptr %c, i64 %o{i}_{j}",
            f"  %c{i}_{j} = load {vector}, ptr %p{i}_{j}, align 4",
            f"  %z{i}_{j} = fadd {vector} %s{i}_{j}, %c{i}_{j}",
            f"  store {vector} %z{i}_{j}, ptr %p{i}_{j}, align 4",
        ]
    return "\n".join([*lines, "  ret void", "}"])


_BLOCK = ["rows", "columns", "xrow", "ximage", "yrow", "yimage", "xbegin", "ybegin", "cbegin", "unit"]


def _filters_text(lanes: int, heights: list[int], width: int) -> str:
    """Returns the function that computes the part of one of some workers: tiles of the matrices of all taps."""
    lines = ["define internal void @filters(ptr %table, i64 %me, i64 %workers) {", "entry:"]
    lines += _load_lines("%table", ["x", "w", "y", "m", "n", "plan"])
    lines += _load_lines("%plan", ["blocks", "xstep", "batch", "several", "xsize", "ysize"])
    lines += [
        "  %nothing = icmp eq i64 %blocks, 0",
        "  br i1 %nothing, label %done, label %group",
        "group:",
        "  %image = phi i64 [0, %entry], [%image2, %groupend]",
        "  %image2 = add i64 %image, %several",
        "  %isin = icmp slt i64 %image2, %batch",
        "  %stop = select i1 %isin, i64 %image2, i64 %batch",
        "  %images = sub i64 %stop, %image",
        "  %xo = mul i64 %image, %xsize",
        "  %yo = mul i64 %image, %ysize",
        "  %xg = getelementptr float, ptr %x, i64 %xo",
        "  %yg = getelementptr float, ptr %y, i64 %yo",
        "  br label %block",
        "block:",
        "  %number = phi i64 [0, %group], [%number2, %next]",
        f"  %far = mul i64 %number, {len(_BLOCK)}",
        "  %far2 = add i64 %far, 6",
        "  %this = getelementptr i64, ptr %plan, i64 %far2",
    ]
    lines += _load_lines("%this", _BLOCK)
    lines += [
        "  %lines = mul i64 %images, %rows",
        "  %xb = getelementptr float, ptr %xg, i64 %xbegin",
        "  %yb = getelementptr float, ptr %yg, i64 %ybegin",
        "  %cb = getelementptr float, ptr %w, i64 %cbegin",
        "  br label %r0",
    ]
    previous, first, unit = "block", "0", "%unit"
    for h, height in enumerate(heights):
        after = f"r{h + 1}" if h + 1 < len(heights) else "next"
        lines += [
            f"r{h}:",
            f"  %k{h} = phi i64 [{first}, %{previous}], [%k{h}n, %r{h}end]",
            f"  %unit{h} = phi i64 [{unit}, %{previous}], [%unit{h}n, %r{h}end]",
            f"  %k{h}n = add i64 %k{h}, {height}",
            f"  %unit{h}n = add i64 %unit{h}, 1",
            f"  %fits{h} = icmp sle i64 %k{h}n, %m",
            f"  br i1 %fits{h}, label %r{h}check, label %{after}",
            f"r{h}check:",
            f"  %whose{h} = urem i64 %unit{h}, %workers",
            f"  %mine{h} = icmp eq i64 %whose{h}, %me",
            f"  br i1 %mine{h}, label %r{h}body, label %r{h}end",
            f"r{h}body:",
            f"  %xp{h} = getelementptr float, ptr %xb, i64 %k{h}",
            f"  %cr{h} = mul i64 %k{h}, %n",
            f"  %cp{h} = getelementptr float, ptr %cb, i64 %cr{h}",
            f"  br label %r{h}panel",
            f"r{h}panel:",
            f"  %col{h} = phi i64 [0, %r{h}body], [%col{h}n, %r{h}panelend]",
            f"  %yp{h} = getelementptr float, ptr %yb, i64 %col{h}",
            f"  %cq{h} = getelementptr float, ptr %cp{h}, i64 %col{h}",
            f"  %left{h} = sub i64 %n, %col{h}",
            f"  %iswide{h} = icmp sge i64 %left{h}, {width * lanes}",
            f"  %wide{h} = select i1 %iswide{h}, i64 {width * lanes}, i64 {lanes}",
            f"  %col{h}n = add i64 %col{h}, %wide{h}",
            f"  br i1 %iswide{h}, label %r{h}w{width}, label %r{h}w1",
        ]
        for w in (1, width):
            lines += [
                f"r{h}w{w}:",
                f"  call void @matrix_{height}_{w}(ptr %xp{h}, ptr %yp{h}, ptr %cq{h}, i64 %lines, i64 %rows, "
                "i64 %columns, i64 %xstep, i64 %xrow, i64 %ximage, i64 %n, i64 %yrow, i64 %yimage)",
                f"  br label %r{h}panelend",
            ]
        lines += [
            f"r{h}panelend:",
            f"  %morecols{h} = icmp slt i64 %col{h}n, %n",
            f"  br i1 %morecols{h}, label %r{h}panel, label %r{h}end",
            f"r{h}end:",
            f"  br label %r{h}",
        ]
        previous, first, unit = f"r{h}", f"%k{h}", f"%unit{h}"
    lines += [
        "next:",
        "  %number2 = add i64 %number, 1",
        "  %more = icmp slt i64 %number2, %blocks",
        "  br i1 %more, label %block, label %groupend",
        "groupend:",
        "  br i1 %isin, label %group, label %done",
        "done:",
        "  ret void",
        "}",
    ]
    return "\n".join(lines)


def _swap_text(lanes: int) -> str:
    """Returns the function that transposes the part of one of some workers of the matrices of all taps."""
    vector = f"<{lanes} x float>"
    lines = ["define internal void @swap(ptr %table, i64 %me, i64 %workers) {", "entry:"]
    lines += _load_lines("%table", ["x", "w", "y", "m", "n", "taps"])
    lines += [
        "  %lines = mul i64 %taps, %m",
        "  %size = mul i64 %m, %n",
        f"  %first = mul i64 %me, {lanes}",
        f"  %far = mul i64 %workers, {lanes}",
        "  %any = icmp slt i64 %first, %lines",
        "  br i1 %any, label %line, label %done",
        "line:",
        "  %l = phi i64 [%first, %entry], [%l2, %lineend]",
        "  %tap = udiv i64 %l, %m",
        "  %before = mul i64 %tap, %m",
        "  %i = sub i64 %l, %before",
        "  %o = mul i64 %tap, %size",
        "  %xo = mul i64 %l, %n",
        "  %yo = add i64 %o, %i",
        "  br label %block",
        "block:",
        "  %j = phi i64 [0, %line], [%j2, %block]",
        "  %xj = add i64 %xo, %j",
        "  %jm = mul i64 %j, %m",
        "  %yj = add i64 %yo, %jm",
    ]
    for r in range(lanes):
        lines += [
            f"  %xr{r} = mul i64 %n, {r}",
            f"  %xs{r} = add i64 %xj, %xr{r}",
            f"  %xp{r} = getelementptr float, ptr %x, i64 %xs{r}",
            f"  %v{r}_{lanes} = load {vector}, ptr %xp{r}, align 4",
        ]
    step = lanes
    while step > 1:
        half = step // 2
        low = ", ".join([f"i32 {lanes + c - half if c & half else c}" for c in range(lanes)])
        high = ", ".join([f"i32 {lanes + c if c & half else c + half}" for c in range(lanes)])
        for r in range(lanes):
            if not r & half:
                pair = f"{vector} %v{r}_{step}, {vector} %v{r + half}_{step}"
                lines += [
                    f"  %v{r}_{half} = shufflevector {pair}, <{lanes} x i32> <{low}>",
                    f"  %v{r + half}_{half} = shufflevector {pair}, <{lanes} x i32> <{high}>",
                ]
        step = half
    for r in range(lanes):
        lines += [
            f"  %yr{r} = mul i64 %m, {r}",
            f"  %ys{r} = add i64 %yj, %yr{r}",
            f"  %yp{r} = getelementptr float, ptr %w, i64 %ys{r}",
            f"  store {vector} %v{r}_1, ptr %yp{r}, align 4",
        ]
    return "\n".join([
        *lines,
        f"  %j2 = add i64 %j, {lanes}",
        "  %more = icmp slt i64 %j2, %n",
        "  br i1 %more, label %block, label %lineend",
        "lineend:",
        "  %l2 = add i64 %l, %far",
        "  %morelines = icmp slt i64 %l2, %lines",
        "  br i1 %morelines, label %line, label %done",
        "done:",
        "  ret void",
        "}",
    ])  # fmt: skip


_ENTRY = """
define internal void @run(ptr %table, i64 %me, i64 %workers) {
  %at = getelementptr i64, ptr %table, i64 7
  %function = load i64, ptr %at
  switch i64 %function, label %swap [i64 0, label %images i64 1, label %filters]
images:
  call void @images(ptr %table, i64 %me, i64 %workers)
  ret void
filters:
  call void @filters(ptr %table, i64 %me, i64 %workers)
  ret void
swap:
  call void @swap(ptr %table, i64 %me, i64 %workers)
  ret void
}
"""

_ONE_THREAD = """
define void @{name}(ptr %table) {
  call void @run(ptr %table, i64 0, i64 1)
  ret void
}"""

_THREADS = """
declare void @GOMP_parallel(ptr, ptr, i32, i32)
declare i32 @omp_get_num_threads()
declare i32 @omp_get_thread_num()

define internal void @worker(ptr %table) {
  %thread = call i32 @omp_get_thread_num()
  %threads = call i32 @omp_get_num_threads()
  %me = zext i32 %thread to i64
  %workers = zext i32 %threads to i64
  call void @run(ptr %table, i64 %me, i64 %workers)
  ret void
}

define void @{name}(ptr %table) {
  %at = getelementptr i64, ptr %table, i64 6
  %threads = load i64, ptr %at
  %several = icmp sgt i64 %threads, 1
  br i1 %several, label %parallel, label %one
parallel:
  %count = trunc i64 %threads to i32
  call void @GOMP_parallel(ptr @worker, ptr %table, i32 %count, i32 0)
  ret void
one:
  call void @run(ptr %table, i64 0, i64 1)
  ret void
}"""
