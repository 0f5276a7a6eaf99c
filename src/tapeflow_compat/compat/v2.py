"""`tf.compat.v2`: the names of TensorFlow 2, the same as in `tf`."""

from typing import Any as _Any

import tapeflow as _tapeflow
from tapeflow_compat.compat.v1.behavior_flags import enable_v2_behavior

__all__ = [*dir(_tapeflow), "enable_v2_behavior"]
__dir__ = __all__.copy


def __getattr__(name: str) -> _Any:
    return getattr(_tapeflow, name)
