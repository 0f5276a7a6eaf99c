"""`tf.timestamp`."""

from __future__ import annotations

import time

import torch

from tapeflow.core.ops.op import not_differentiable, op
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import Tensor


def _current_time(device: torch.device) -> torch.Tensor:
    return torch.tensor(time.time(), dtype=torch.float64, device=device)


@op("Timestamp", kernel=_current_time, shape=lambda: TensorShape([]), creates=True)
def timestamp(name: str | None = None) -> Tensor:
    """Returns the time since the Unix epoch.

    Returns:
        A float64 scalar, in seconds.

    Example:
        >>> tf.timestamp().dtype
        tf.float64
    """


not_differentiable(timestamp)
