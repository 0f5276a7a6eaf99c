"""The operators of ragged tensors. They are the operators of tensors, because the ops dispatch."""

from __future__ import annotations

import tapeflow.math.operators  # noqa: F401 (binds the operators of tensors)
from tapeflow.core.values.tensor import Tensor
from tapeflow.ragged.tensor import RaggedTensor

for _name in (
    "abs", "add", "and", "eq", "floordiv", "ge", "gt", "invert", "le", "lt", "mod", "mul", "ne", "neg", "or", "pow",
    "radd", "rand", "rfloordiv", "rmod", "rmul", "ror", "rpow", "rsub", "rtruediv", "rxor", "sub", "truediv", "xor",
):  # fmt: skip
    setattr(RaggedTensor, f"__{_name}__", getattr(Tensor, f"__{_name}__"))
