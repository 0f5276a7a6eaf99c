"""Products of images with the matrices that resize them.

A new row or column depends on a few neighboring old ones, so nearly all weights are zero: the matrices are bands. They
are cut into blocks of neighboring rows, and only the band's columns of each block are multiplied.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import torch

from tapeflow.core.ops.memory import check_memory

MOST_BLOCKED_CHANNELS = 8  # up to here, columns of all channels are multiplied at once
_SMALL = 48  # rows or columns
_MOST_KEPT = 1 << 22  # elements of a matrix
_BYTES_OF_WEIGHT = 8
_BLOCK_WIDTH = 48  # numbers in a row of the result of a block of columns: whole vectors for 1, 3 and 4 channels


class _Block(NamedTuple):
    """A block of a matrix of weights: the rows `first` to `last`, whose weights lie in the columns `begin` to `end`."""

    first: int
    last: int
    begin: int
    end: int
    weights: torch.Tensor


class Weights:
    """The weights `[new, old]` of each old row or column in the new ones.

    Args:
        columns: the old rows or columns with weights, `[new, taps]`. One may occur several times.
        values: their weights.
        old: the number of old rows or columns.
        limits: the least and the largest weight. Others are replaced by these.

    Attributes:
        new, old: the sizes of the matrix.
    """

    def __init__(
        self, columns: np.ndarray, values: np.ndarray, old: int, limits: tuple[float, float] = (-np.inf, np.inf)
    ) -> None:
        self.new, self.old = len(columns), old
        self._columns, self._values, self._limits = columns, values, limits
        self.blocks = functools.cache(self._blocks)
        self.matrix = functools.cache(self._matrix)
        self.transposed = functools.cache(self._transposed)

    def limited(self, least: float, largest: float) -> Weights:
        """Returns the matrix with other limits."""
        return Weights(self._columns, self._values, self.old, (least, largest))

    def _transposed(self) -> Weights:
        """Returns the transposed matrix, without limits."""
        order = np.argsort(self._columns, axis=None, kind="stable")
        rows = self._columns.ravel()[order]
        counts = np.bincount(rows, minlength=self.old)
        taps = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
        columns = np.zeros((self.old, counts.max()), self._columns.dtype)
        values = np.zeros(columns.shape, self._values.dtype)
        columns[rows, taps] = order // self._columns.shape[1]
        values[rows, taps] = self._values.ravel()[order]
        return Weights(columns, values, self.new)

    def _dense(self, first: int, last: int, begin: int, end: int) -> np.ndarray:
        """Returns a part of the matrix: from row `first` to `last`, the columns `begin` to `end`."""
        columns, values = self._columns[first:last], self._values[first:last]
        part = np.zeros((len(columns), end - begin), values.dtype)
        row, tap = values.nonzero()
        np.add.at(part, (row, columns[row, tap] - begin), values[row, tap])
        return part.clip(*self._limits)

    def _matrix(self, dtype: torch.dtype, device: torch.device) -> torch.Tensor:
        """Returns the matrix as a tensor."""
        check_memory([self.new, self.old], _BYTES_OF_WEIGHT)
        return torch.as_tensor(self._dense(0, self.new, 0, self.old), dtype=dtype, device=device)

    def _blocks(self, dtype: torch.dtype, channels: int) -> list[_Block]:
        """Returns the blocks; with `channels`, transposed and repeated for images of so many channels side by side."""
        # Smaller blocks make short products, larger ones more zeros. Small images are one block.
        size = self.new if self.old <= _SMALL else 16 if self.old <= 2 * self.new else 8
        size = max(4, _BLOCK_WIDTH // channels) if channels else size
        blocks = []
        for first in range(0, self.new, size):
            last = min(first + size, self.new)
            used = self._columns[first:last][self._values[first:last] != 0]
            begin, end = (int(used.min()), int(used.max()) + 1) if used.size else (0, 1)
            weights = self._dense(first, last, begin, end)
            if channels:
                weights = np.kron(weights.T, np.eye(channels))
            blocks.append(_Block(first, last, begin, end, torch.as_tensor(weights, dtype=dtype)))
        return blocks


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
    """Multiplies images `[batch, height, width, channels]` by the weights of rows and of columns.

    The images are on the CPU, and torch's autograd does not follow.
    """
    if not images.numel():
        return images.new_zeros(images.shape[0], rows.new, columns.new, images.shape[3])
    images = images.contiguous()
    if rows.new > images.shape[1]:  # the columns of fewer rows
        return _rows_product(rows, columns_product(images, columns))
    return columns_product(_rows_product(rows, images), columns)


def _rows_product(rows: Weights, images: torch.Tensor) -> torch.Tensor:
    batch, height, width, channels = images.shape
    flat = images.view(batch, height, width * channels)
    out = flat.new_empty(batch, rows.new, width * channels)
    for first, last, begin, end, block in rows.blocks(images.dtype, 0):
        torch.bmm(block.expand(batch, *block.shape), flat[:, begin:end], out=out[:, first:last])
    return out.view(batch, rows.new, width, channels)


def columns_product(images: torch.Tensor, columns: Weights) -> torch.Tensor:
    """Multiplies contiguous images by the weights of columns alone; see `product`."""
    batch, height, width, channels = images.shape
    if channels > MOST_BLOCKED_CHANNELS:
        lines = _rows_product(columns, images.view(batch * height, width, 1, channels))
        return lines.view(batch, height, columns.new, channels)
    flat = images.view(batch * height, width * channels)
    out = flat.new_empty(batch * height, columns.new * channels)
    for first, last, begin, end, block in columns.blocks(images.dtype, channels):
        part = out[:, first * channels : last * channels]
        torch.mm(flat[:, begin * channels : end * channels], block, out=part)
    return out.view(batch, height, columns.new, channels)
