"""Products of images with the matrices that resize them.

A new row or column depends on a few neighboring old ones, so nearly all weights are zero. Only the others are kept, and
multiplied: a pixel without a weight is not in a sum, even if it is infinite.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from tapeflow.core.loops import Int32s, Int64s, Numbers, loop, simd_range
from tapeflow.core.ops.elementwise_kernels import by_value
from tapeflow.core.ops.memory import check_memory

FEW_CHANNELS = 8  # up to here, the columns of all channels are computed at once
_MOST_KEPT = 1 << 22  # elements of a matrix
_BYTES_OF_WEIGHT = 8


@loop
def _weigh_rows(
    images: Numbers, count: int, old: int, new: int, length: int, taps: int, places: Int64s, weights: Numbers,
    results: Numbers,
) -> None:  # fmt: skip
    """Computes weighted sums of rows.

    Args:
        images: `[count, old, length]`.
        places: the rows of each sum, `[new, taps]`.
        weights: their weights.
        results: receives the sums, `[count, new, length]`.
    """
    at = 0
    for image in range(count):
        for row in range(new):
            for tap in range(taps):
                start = (image * old + places[row * taps + tap]) * length - at
                weight = weights[row * taps + tap]
                if tap == 0:
                    for k in simd_range(at, at + length):
                        results[k] = images[start + k] * weight
                else:
                    for k in simd_range(at, at + length):
                        results[k] += images[start + k] * weight
            at += length


@loop
def _weigh_elements(
    lines: Numbers, count: int, old: int, new: int, taps: int, places: Int32s, weights: Numbers, results: Numbers
) -> None:  # fmt: skip
    """Computes weighted sums of elements of lines.

    Args:
        lines: `[count, old]`.
        places: the elements of each sum, `[taps, new]`.
        weights: their weights.
        results: receives the sums, `[count, new]`.
    """
    for line in range(count):
        start, at = line * old, line * new
        for k in simd_range(new):
            results[at + k] = lines[start + places[k]] * weights[k]
        for tap in range(1, taps):
            first = tap * new
            for k in simd_range(new):
                results[at + k] += lines[start + places[first + k]] * weights[first + k]


class Weights:
    """The weights `[new, old]` of each old row or column in the new ones.

    Args:
        columns: the old rows or columns with weights, `[new, taps]`. One may occur several times.
        values: their weights.
        old: the number of old rows or columns.

    Attributes:
        new, old: the sizes of the matrix.
    """

    def __init__(self, columns: np.ndarray, values: np.ndarray, old: int) -> None:
        self.new, self.old = len(columns), old
        counts = (values != 0).sum(1)
        order = np.argsort(values == 0, axis=1, kind="stable")[:, : max(counts.max(initial=0), 1)]
        self._columns, self._values = (np.take_along_axis(x, order, 1) for x in (columns, values))
        for tap in range(1, order.shape[1]):  # of fewer weights, the last one is split: a zero times infinity is NaN
            split = np.flatnonzero((counts <= tap) & (counts > 0))
            self._values[split, tap - 1] /= 2
            self._values[split, tap], self._columns[split, tap] = (
                x[split, tap - 1] for x in (self._values, self._columns)
            )
        self._empty = torch.from_numpy(np.flatnonzero(counts == 0))
        self.matrix = functools.cache(self._matrix)
        self.transposed = functools.cache(self._transposed)
        self._taps = functools.cache(self._make_taps)

    def _transposed(self) -> Weights:
        """Returns the transposed matrix."""
        new, taps = self._values.nonzero()
        rows, values = self._columns[new, taps], self._values[new, taps]
        order = np.argsort(rows, kind="stable")
        rows = rows[order]
        counts = np.bincount(rows, minlength=self.old)
        taps = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
        columns_of_rows = np.zeros((self.old, max(counts.max(), 1)), self._columns.dtype)
        values_of_rows = np.zeros(columns_of_rows.shape, self._values.dtype)
        columns_of_rows[rows, taps], values_of_rows[rows, taps] = new[order], values[order]
        return Weights(columns_of_rows, values_of_rows, self.new)

    def _matrix(self, dtype: torch.dtype, device: torch.device) -> torch.Tensor:
        """Returns the matrix as a tensor."""
        check_memory([self.new, self.old], _BYTES_OF_WEIGHT)
        dense = np.zeros((self.new, self.old), self._values.dtype)
        np.add.at(dense, (np.arange(self.new)[:, None], self._columns), self._values)
        return torch.as_tensor(dense, dtype=dtype, device=device)

    def _make_taps(self, dtype: torch.dtype, channels: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Returns the places and weights for `_weigh_rows`; with `channels`, for `_weigh_elements`."""
        places, values = self._columns.astype(np.int64), self._values
        if channels:
            places = (places.T[..., None] * channels + np.arange(channels)).astype(np.int32)
            values = np.repeat(values.T, channels, 1)
        return torch.from_numpy(np.ascontiguousarray(places)), torch.as_tensor(
            np.ascontiguousarray(values), dtype=dtype
        )

    def by_selection(self, images: torch.Tensor, axis: int) -> torch.Tensor:
        """Multiplies a dimension of images that have no values to look at: the same bits, by ATen's kernels."""
        shape = [self.new if d == axis else 1 for d in range(4)]
        parts = (
            images.index_select(axis, torch.as_tensor(columns, device=images.device))
            * torch.as_tensor(values, dtype=images.dtype, device=images.device).view(shape)
            for columns, values in zip(self._columns.T, self._values.T, strict=True)
        )
        return functools.reduce(torch.add, parts)

    def of_rows(self, images: torch.Tensor) -> torch.Tensor:
        """Multiplies the rows of images `[batch, height, width, channels]`, which are contiguous."""
        batch, height, width, channels = images.shape
        places, values = self._taps(images.dtype, 0)
        sums = images.new_empty(batch, self.new, width, channels)
        _weigh_rows(images, batch, height, self.new, width * channels, values.shape[1], places, values, sums)
        return sums.index_fill_(1, self._empty, 0) if len(self._empty) else sums

    def of_columns(self, images: torch.Tensor) -> torch.Tensor:
        """Multiplies the columns of images; see `of_rows`."""
        batch, height, width, channels = images.shape
        if channels > FEW_CHANNELS:
            sums = self.of_rows(images.view(batch * height, width, 1, channels))
            return sums.view(batch, height, self.new, channels)
        places, values = self._taps(images.dtype, channels)
        sums = images.new_empty(batch, height, self.new, channels)
        lengths = width * channels, self.new * channels
        _weigh_elements(images, batch * height, *lengths, len(values), places, values, sums)
        return sums.index_fill_(2, self._empty, 0) if len(self._empty) else sums


def weights(function: Callable[..., tuple[np.ndarray, np.ndarray]]) -> Callable[..., Weights]:
    """Decorates a function that computes the columns and values of weights: keeps the last ones, unless they are large.

    The columns of the function may be outside of the matrix, if their weights are 0.
    """

    def compute(new: int, old: int, *options: Any) -> Weights:
        columns, values = function(new, old, *options)
        return Weights(columns.clip(0, old - 1).astype(np.int64), values, old)

    kept = functools.lru_cache(maxsize=256)(compute)

    @functools.wraps(function)
    def of_sizes(new: int, old: int, *options: Any) -> Weights:
        return (kept if new * old <= _MOST_KEPT else compute)(new, old, *options)

    return of_sizes


def product(rows: Weights, images: torch.Tensor, columns: Weights) -> torch.Tensor:
    """Multiplies images `[batch, height, width, channels]` on the CPU by the weights of rows and of columns."""
    if not images.numel():
        return images.new_zeros(images.shape[0], rows.new, columns.new, images.shape[3])
    if by_value(images):
        images, of_rows, of_columns = images.contiguous(), rows.of_rows, columns.of_columns
    else:
        of_rows, of_columns = (functools.partial(w.by_selection, axis=i) for i, w in ((1, rows), (2, columns)))
    if rows.new > images.shape[1]:  # the columns of fewer rows
        return of_rows(of_columns(images))
    return of_columns(of_rows(images))
