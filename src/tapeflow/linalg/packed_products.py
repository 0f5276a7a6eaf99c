"""Products with matrices of weights that are packed once, for functions that are called again with the same weights.

oneDNN computes with weights in blocks, and a bias and an activation before it writes the result.
"""

from __future__ import annotations

from collections.abc import Callable

import torch

from tapeflow.core import aten
from tapeflow.core.ops.layer import Activation, WeightLayer
from tapeflow.core.values.tensor import Tensor
from tapeflow.linalg.large_products import is_large

_LEAST = 1 << 23  # multiplications: below, the overhead of a longer call exceeds the gain


def layer_of_product(
    rows: Tensor, weights: Tensor, transposes_rows: bool = False, is_transposed: bool = False
) -> WeightLayer | None:
    """Returns the layer of a product of rows, of any number of dimensions, with a matrix, as `@f.layer` wants it."""
    if transposes_rows or weights.shape.rank != 2 or not rows.shape.rank or not weights.shape.is_fully_defined():
        return None
    channels = weights.shape[0 if is_transposed else 1]
    if not is_large(rows.dtype, rows.shape, channels, _LEAST):
        return None
    count = rows.shape.num_elements() // rows.shape[-1]

    def prepare(matrix: torch.Tensor, factors: torch.Tensor | None) -> torch.Tensor:
        matrix = matrix if is_transposed else matrix.t()
        if factors is not None:
            matrix = matrix * factors.unsqueeze(1)
        return aten.onednn_packed_matrix(matrix.contiguous(), count)

    return WeightLayer(channels, prepare, _packed_kernel, lambda activation: None)


def _packed_kernel(activation: Activation) -> Callable[[torch.Tensor, torch.Tensor, torch.Tensor], torch.Tensor]:
    """Returns the function of the rows, the packed weights and a bias."""
    arguments = activation.arguments

    def kernel(rows: torch.Tensor, weights: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
        return aten.onednn_linear(rows, weights, bias, *arguments)

    return kernel
