"""`tf.compat.v2`: the names of TensorFlow 2, which are those of `tf` itself."""

from __future__ import annotations

from typing import Any

import tapeflow
from tapeflow.compat.v1.switches import enable_v2_behavior

__all__ = ["enable_v2_behavior"]


def __getattr__(name: str) -> Any:
    return getattr(tapeflow, name)


def __dir__() -> list[str]:
    return sorted({*dir(tapeflow), *__all__})
