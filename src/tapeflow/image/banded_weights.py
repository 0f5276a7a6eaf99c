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
_MOST_KEPT = 1 << 24  # weights of a matrix
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
    """The weights `[new, old]` of each old row or column in the new ones, float64."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array
        self.blocks = functools.cache(self._blocks)
        self.matrix = functools.cache(self._matrix)
        self.transposed = functools.cache(lambda: Weights(np.ascontiguousarray(array.T)))

    def _matrix(self, dtype: torch.dtype, device: torch.device) -> torch.Tensor:
        """Returns the matrix as a tensor."""
        return torch.as_tensor(self.array, dtype=dtype, device=device)

    def _blocks(self, dtype: torch.dtype, channels: int) -> list[_Block]:
        """Returns the blocks; with `channels`, transposed and repeated for images of so many channels side by side."""
        new, old = self.array.shape
        # Smaller blocks make short products, larger ones more zeros. Small images are one block.
        size = new if old <= _SMALL else 16 if old <= 2 * new else 8
        size = max(4, _BLOCK_WIDTH // channels) if channels else size
        blocks = []
        for first in range(0, new, size):
            rows = self.array[first : first + size]
            used = np.flatnonzero(rows.any(0))
            begin, end = (int(used[0]), int(used[-1]) + 1) if used.size else (0, 1)
            weights = rows[:, begin:end]
            if channels:
                weights = np.kron(weights.T, np.eye(channels))
            blocks.append(_Block(first, first + len(rows), begin, end, torch.as_tensor(weights, dtype=dtype)))
        return blocks


def weights(function: Callable[..., np.ndarray]) -> Callable[..., Weights]:
    """Decorates a function that computes weights `[new, old]`: keeps the last ones, unless they are large."""

    @functools.lru_cache(maxsize=256)
    def kept(*args: Any) -> Weights:
        return Weights(function(*args))

    @functools.wraps(function)
    def of_sizes(new: int, old: int, *options: Any) -> Weights:
        if new * old <= _MOST_KEPT:
            return kept(new, old, *options)
        check_memory([new, old], _BYTES_OF_WEIGHT)
        return Weights(function(new, old, *options))

    return of_sizes


def product(rows: Weights, images: torch.Tensor, columns: Weights) -> torch.Tensor:
    """Multiplies images `[batch, height, width, channels]` by the weights of rows and of columns.

    The images are on the CPU, and torch's autograd does not follow.
    """
    images = images.contiguous()
    if len(rows.array) > images.shape[1]:  # the columns of fewer rows
        return _rows_product(rows, columns_product(images, columns))
    return columns_product(_rows_product(rows, images), columns)


def _rows_product(rows: Weights, images: torch.Tensor) -> torch.Tensor:
    batch, height, width, channels = images.shape
    flat = images.view(batch, height, width * channels)
    out = flat.new_empty(batch, len(rows.array), width * channels)
    for first, last, begin, end, block in rows.blocks(images.dtype, 0):
        torch.bmm(block.expand(batch, *block.shape), flat[:, begin:end], out=out[:, first:last])
    return out.view(batch, len(rows.array), width, channels)


def columns_product(images: torch.Tensor, columns: Weights) -> torch.Tensor:
    """Multiplies contiguous images by the weights of columns alone; see `product`."""
    batch, height, width, channels = images.shape
    if channels > MOST_BLOCKED_CHANNELS:
        lines = _rows_product(columns, images.view(batch * height, width, 1, channels))
        return lines.view(batch, height, len(columns.array), channels)
    flat = images.view(batch * height, width * channels)
    out = flat.new_empty(batch * height, len(columns.array) * channels)
    for first, last, begin, end, block in columns.blocks(images.dtype, channels):
        part = out[:, first * channels : last * channels]
        torch.mm(flat[:, begin * channels : end * channels], block, out=part)
    return out.view(batch, height, len(columns.array), channels)
