"""Casts from dtype to dtype."""

from __future__ import annotations

from typing import Any

import torch

from tapeflow.core.convert import convert
from tapeflow.core.dtypes import DType, as_dtype
from tapeflow.core.op import op
from tapeflow.core.shape_rules import same
from tapeflow.core.tape import Call
from tapeflow.core.tensor import Tensor


def _to(x: torch.Tensor, DstT: DType) -> torch.Tensor:
    if x.is_complex() and not DstT.is_complex:
        x = x.real
    return x.to(DstT.torch)


@op("Cast", kernel=_to, shape=same)
def _cast(x: Any, DstT: Any, name: str | None = None) -> Any:
    """Casts to a dtype."""


@_cast.gradient(needs="shapes")
def _(call: Call, dy: Any) -> Any:
    return cast(dy, call.dtype(0))


def cast(x: Any, dtype: Any, name: str | None = None) -> Any:
    """Casts a tensor to a dtype.

    Floats are cut off towards zero when they become integers; complex numbers lose their imaginary part.

    Args:
        x: a tensor, or what converts to one; `IndexedSlices` stay sparse.
        dtype: the dtype, or its name.

    Returns:
        A tensor of the same shape and of that dtype; `x` itself where it has it already.

    Example:
        >>> tf.cast([1.8, 2.2], tf.int32).numpy().tolist()
        [1, 2]
    """
    dtype = as_dtype(dtype).base_dtype
    if not isinstance(x, Tensor):
        x = convert(x)
    return x if x.dtype is dtype else _cast(x, dtype, name)
