"""Products of large matrices in functions. oneDNN computes them if MKL has only general code for the processor."""

from __future__ import annotations

import torch

from tapeflow.core import aten
from tapeflow.core.ops.elementwise_kernels import by_value, mkl_is_slow
from tapeflow.core.types.dtypes import DType, float32
from tapeflow.core.types.shape import TensorShape

_LEAST = 1 << 24  # multiplications: below, the overhead of a longer call exceeds the gain


def is_large(dtype: DType, rows: TensorShape, columns: int | None, least: int = _LEAST) -> bool:
    """Returns True if `by_onednn` computes a product in less time than ATen.

    Args:
        dtype: the dtype of both matrices.
        rows: the shape of the rows.
        columns: the number of columns of the result, or None if it is not static.
        least: the fewest multiplications.
    """
    count = rows.num_elements()
    return dtype is float32 and None not in (count, columns) and count * columns >= least and mkl_is_slow()


def by_onednn(rows: torch.Tensor, weights: torch.Tensor, bias: torch.Tensor | None = None) -> torch.Tensor:
    """Computes `rows @ weights.mT + bias`, as `torch.nn.functional.linear` does.

    Args:
        rows: of any number of dimensions.
        weights: a matrix.
        bias: a vector, or None.
    """
    if not (by_value(rows) and by_value(weights) and (bias is None or by_value(bias))):
        return torch.nn.functional.linear(rows, weights, bias)
    vector = None if bias is None else bias.contiguous()  # oneDNN does not look at its stride
    return aten.onednn_linear(rows, weights, vector, "none", [], "")
