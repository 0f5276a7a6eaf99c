"""Convolutions as machine code that reads TensorFlow's layouts, on CPUs.

oneDNN has to reorder the filters, and a call of ATen costs as much as a convolution of a small image: between large
kernels, caches hold none of its code. This code reads channels-last images and "HWIO" filters without a copy. A tile of
the result, some pixels and some vectors of channels, stays in registers. The pixels of a tile have the same taps, which
are the places in a window that lie in the image. Images of gradients are convolutions with other taps, and filters with
swapped channels. This module plans the tiles, and `graph/compiler/convolutions.py` computes them.
"""

from __future__ import annotations

import array
import functools
import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import torch

from tapeflow.core import mkl
from tapeflow.core.hooks import hooks
from tapeflow.core.ops.elementwise_kernels import by_value
from tapeflow.nn.conv_layout import Layout

_FEW = 1 << 19  # multiplications: fewer are computed by one thread
_BLOCK_PIXELS = 256  # of results whose products with pixels of images are added up in registers
_MANY = 1 << 29  # multiplications: for more, the time of oneDNN's call does not matter
OF_KIND, OF_BLOCK = 12, 10  # the numbers that describe a kind of pixels, and a block of pixels for a tap


class _Plan(NamedTuple):
    """The work of machine code for some sizes.

    Attributes:
        numbers: integers of 64 bits that describe it.
        tiles: the number of tiles.
    """

    numbers: array.array[int]
    tiles: int


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
    if not (
        layout.channels_last
        and layout.groups == 1
        and len(sizes) == 4
        and math.prod(layout.output[:-1]) * math.prod(sizes) <= _MANY
        and (not layout.pointwise or mkl.products_are_slow())
        and all(t.dtype is torch.float32 and by_value(t) and not t.is_neg() for t in tensors)
    ):
        return False
    code = hooks.wide_code()
    return code is not None and not channels % code.lanes


def convolution(layout: Layout, x: torch.Tensor, filters: torch.Tensor) -> torch.Tensor:
    """Computes a convolution."""
    plan = _forward_plan(layout, tuple(x.shape), tuple(filters.shape))
    y = x.new_empty(layout.output)
    channels = filters.shape[2:]
    _run_code(hooks.wide_code().convolve, x, filters, y, channels, plan, x.numel() * channels[1])
    return y


def image_gradient(layout: Layout, sizes: tuple[int, ...], filters: torch.Tensor, dy: torch.Tensor) -> torch.Tensor:
    """Computes the gradient of a convolution by its images, whose shape is `sizes`."""
    plan = _gradient_plan(layout, tuple(sizes), tuple(filters.shape))
    dx = dy.new_empty(sizes)
    channels, results = filters.shape[2:]
    swapped = _swap_channels(filters)
    _run_code(hooks.wide_code().convolve, dy, swapped, dx, (results, channels), plan, dx.numel() * results)
    return dx


def _swap_channels(filters: torch.Tensor) -> torch.Tensor:
    """Transposes the matrix of each tap. ATen's copy takes several times as long."""
    height, width, channels, results = filters.shape
    code = hooks.wide_code()
    if results % code.lanes:
        return filters.transpose(2, 3).contiguous()
    filters = filters.contiguous()
    swapped = filters.new_empty((height, width, results, channels))
    is_large = filters.numel() >= 4 * _FEW
    code.swap_channels(filters.data_ptr(), swapped.data_ptr(), (channels, results), height * width, is_large)
    return swapped


def filter_gradient(layout: Layout, x: torch.Tensor, sizes: tuple[int, ...], dy: torch.Tensor) -> torch.Tensor:
    """Computes the gradient of a convolution by its filters, whose shape is `sizes`."""
    plan = _filter_plan(layout, tuple(x.shape), tuple(sizes))
    dfilters = x.new_zeros(sizes)
    _run_code(hooks.wide_code().add_products, x, dfilters, dy, sizes[2:], plan, x.numel() * sizes[3])
    return dfilters


def _run_code(
    code: Callable[..., None], x: torch.Tensor, filters: torch.Tensor, y: torch.Tensor, channels: Sequence[int],
    plan: _Plan, work: int,
) -> None:  # fmt: skip
    """Calls machine code with tensors in contiguous memory."""
    x, filters, y = x.contiguous(), filters.contiguous(), y.contiguous()
    addresses = x.data_ptr(), filters.data_ptr(), y.data_ptr()
    code(*addresses, *channels, plan.numbers.buffer_info()[0], tiles=plan.tiles, is_large=work >= _FEW)


# ---- plans -----------------------------------------------------------------------------------------------------------


@functools.lru_cache(4096)
def _forward_plan(layout: Layout, images: tuple[int, ...], filters: tuple[int, ...]) -> _Plan:
    """Returns the plan of a convolution."""
    runs = []
    for size, window, out, stride, rate, before in _dimensions(layout, images, filters):
        taps = [
            tuple((k, i) for k in range(window) if 0 <= (i := place * stride + k * rate - before) < size)
            for place in range(out)
        ]
        runs.append(_find_runs(range(out), taps, stride))
    return _new_plan(runs, images, layout.output, filters[1], filters[2] * filters[3])


@functools.lru_cache(4096)
def _gradient_plan(layout: Layout, images: tuple[int, ...], filters: tuple[int, ...]) -> _Plan:
    """Returns the plan of the gradient of a convolution by its images."""
    runs = []
    for size, window, out, stride, rate, before in _dimensions(layout, images, filters):
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
def _filter_plan(layout: Layout, images: tuple[int, ...], filters: tuple[int, ...]) -> _Plan:
    """Returns the plan of the gradient of a convolution by its filters: blocks of pixels, for each tap."""
    geometry, (batch, height, width, channels) = layout.geometry, images
    (rows_out, columns_out), (row_step, column_step) = geometry.out, geometry.strides
    results, row_in, row_out = filters[3], width * channels, columns_out * filters[3]
    tap_rows, tap_columns = itertools.starmap(_tap_ranges, _dimensions(layout, images, filters))
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
                tap * channels * results, tap,
            ]  # fmt: skip
    count, per_tap, rest = len(blocks) // OF_BLOCK, 0, channels
    for rows in hooks.wide_code().heights:
        per_tap, rest = per_tap + rest // rows, rest % rows
    sizes = [count, column_step * channels, batch, images_per_block, height * row_in, rows_out * row_out, per_tap]
    return _Plan(array.array("q", [*sizes, *blocks]), math.prod(filters[:2]) * per_tap)


def _dimensions(
    layout: Layout, images: tuple[int, ...], filters: tuple[int, ...]
) -> Iterator[tuple[int, int, int, int, int, int]]:
    """Returns for rows and columns the sizes of image, window and result, the stride, the rate and the padding."""
    geometry = layout.geometry
    return zip(images[1:3], filters, geometry.out, geometry.strides, layout.rates, geometry.before, strict=False)


def _tap_ranges(size: int, window: int, out: int, stride: int, rate: int, before: int) -> list[tuple[int, int]]:
    """Returns each tap's range of places in the result: those for which the tap lies in the image.

    Args:
        size, window, out, stride, rate, before: see `_dimensions`.
    """
    offsets = [k * rate - before for k in range(window)]
    return [(max(0, -(offset // stride)), min(out, (size - 1 - offset) // stride + 1)) for offset in offsets]


def _find_runs(places: range, taps: list[tuple[tuple[int, int], ...]], stride: int) -> list[_Run]:
    """Divides places into runs with the same taps."""
    runs = []
    for _, group in itertools.groupby(range(len(places)), lambda i: [tap[0] for tap in taps[i]]):
        first, *others = group
        runs.append(_Run(places[first], places.step, 1 + len(others), stride, taps[first]))
    return runs


def _new_plan(
    runs: list[list[_Run]], images: tuple[int, ...], result: tuple[int, ...], width: int, matrix: int
) -> _Plan:
    """Returns a plan in memory: for each kind of pixels numbers that describe them, and where its taps are."""
    batch, height_in, width_in, channels_in = images
    _, height_out, width_out, channels_out = result
    row_in, row_out = width_in * channels_in, width_out * channels_out
    kinds: list[int] = []
    taps: list[int] = []
    pairs = list(itertools.product(*runs))
    for rows, columns in pairs:
        at = 1 + OF_KIND * len(pairs) + len(taps)
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
    pixels = hooks.wide_code().heights[0]
    tiles = sum(-(-total // pixels) for total in kinds[::OF_KIND])
    return _Plan(array.array("q", [len(pairs), *kinds, *taps]), tiles)
