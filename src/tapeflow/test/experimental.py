"""The public `tf.test.experimental` namespace."""

from tapeflow.core.device import synchronize as _synchronize

__all__ = ["sync_devices"]
__dir__ = __all__.copy


def sync_devices() -> None:
    """Waits for all kernels on the devices; called before and after timed code.

    Returns:
        None.

    Example:
        >>> tf.test.experimental.sync_devices()
    """
    _synchronize()
