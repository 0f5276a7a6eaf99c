"""The public `tf.test.experimental` namespace."""

from __future__ import annotations

import torch


def sync_devices() -> None:
    """Waits until everything that was asked of the devices is done: before and after what is timed.

    Example:
        >>> tf.test.experimental.sync_devices()
    """
    if torch.cuda.is_initialized():
        torch.cuda.synchronize()
