"""The public `tf.compat.v1.math` namespace."""
# ruff: noqa: F401 (what is imported here is public)

from typing import Any

from tapeflow_compat.compat.v1 import names
from tapeflow_compat.compat.v1.arithmetic import bincount, confusion_matrix, scalar_mul
from tapeflow_compat.compat.v1.nn import in_top_k, log_softmax, softmax
from tapeflow_compat.compat.v1.reductions import (
    argmax,
    argmin,
    count_nonzero,
    reduce_all,
    reduce_any,
    reduce_logsumexp,
    reduce_max,
    reduce_mean,
    reduce_min,
    reduce_prod,
    reduce_sum,
)

_find = names.finder("math")


def __getattr__(name: str) -> Any:
    return _find(name)


def __dir__() -> list[str]:
    return sorted({*globals(), *names.listed("math")})
