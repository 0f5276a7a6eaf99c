"""Types of public parameters: the values that TensorFlow accepts as a tensor, a shape, a dtype or an axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, Union

import numpy as np
import torch

from tapeflow.core.types.dtypes import DType
from tapeflow.core.types.shape import TensorShape

if TYPE_CHECKING:
    from tapeflow.core.values.composite import CompositeTensor
    from tapeflow.core.values.tensor import ReadAsTensor, Tensor


class ConvertsToTensor(Protocol):
    """An object that converts itself to a tensor, as Keras's variables do."""

    def __tf_tensor__(self, dtype: Any = None, name: str | None = None) -> Any: ...


# Forward references, for use by the modules that define the types.
TensorLike: TypeAlias = Union[
    "Tensor", "ReadAsTensor", "CompositeTensor", ConvertsToTensor, torch.Tensor, np.ndarray, np.generic,
    bool, int, float, complex, str, bytes, Sequence[Any],
]  # fmt: skip
ShapeLike: TypeAlias = Union["Tensor", TensorShape, np.ndarray, Sequence[Any], int, None]
DTypeLike: TypeAlias = Union[DType, np.dtype, type, str, int, None]  # noqa: UP007
AxisLike: TypeAlias = Union["Tensor", np.ndarray, Sequence[Any], int, None]
