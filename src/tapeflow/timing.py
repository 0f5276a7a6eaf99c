"""`tf.timestamp`."""

from __future__ import annotations

import time
from typing import Any

import torch

from tapeflow.core.ops.op import not_differentiable, op


def _now(device: torch.device) -> torch.Tensor:
    return torch.tensor(time.time(), dtype=torch.float64, device=device)


@op("Timestamp", kernel=_now, creates=True)
def timestamp(name: str | None = None) -> Any:
    """The time since the Unix epoch in seconds, as a scalar float64.

    Example:
        >>> tf.timestamp().dtype
        tf.float64
    """


not_differentiable(timestamp)
