"""Weighted sums of pixels anywhere in images."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import torch

Pair = Sequence[torch.Tensor] | torch.Tensor  # of two


def place_dtype(images: torch.Tensor) -> torch.dtype:
    """Returns the dtype of the numbers of pixels."""
    return torch.int32 if images.numel() < 2**31 else torch.int64


def blended(images: torch.Tensor, rows: Pair, columns: Pair, of_rows: Pair, of_columns: Pair) -> torch.Tensor:
    """Computes points that lie between two rows and two columns of pixels.

    The images are on the CPU, and torch's autograd does not follow.

    Args:
        images: float32 `[batch, height, width, channels]`.
        rows: the numbers of the first pixels of both rows, among all pixels of all images, of the dtype
            `place_dtype(images)`.
        columns: the numbers of both columns, of that dtype.
        of_rows, of_columns: the weights of the rows and of the columns.

    Returns:
        The points, with a last dimension of channels. The others are those of the arguments, which broadcast.
    """
    pixels = images.reshape(-1, images.shape[-1])
    shape = np.broadcast_shapes(rows[0].shape, columns[0].shape)
    places = torch.empty((*shape, 4), dtype=rows[0].dtype)
    shares = torch.empty((*shape, 4))
    corners = zip(itertools.product(range(2), repeat=2), places.unbind(-1), shares.unbind(-1), strict=True)
    for (i, j), place, share in corners:
        torch.add(rows[i], columns[j], out=place)
        torch.mul(of_rows[i], of_columns[j], out=share)
    if not places.numel() or not pixels.shape[-1]:
        return images.new_zeros((*shape, images.shape[-1]))
    points = torch.nn.functional.embedding_bag(
        places.view(-1, 4), pixels, mode="sum", per_sample_weights=shares.view(-1, 4)
    )
    return points.view(*shape, -1)
