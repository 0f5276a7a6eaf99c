"""The public `tf.test.experimental` namespace."""

from __future__ import annotations

from tapeflow.core import device as devices


def sync_devices() -> None:
    """Waits for all kernels on the devices; called before and after timed code.

    Returns:
        None.

    Example:
        >>> tf.test.experimental.sync_devices()
    """
    devices.synchronize()
