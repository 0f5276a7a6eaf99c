"""Settings of the execution of ops and functions."""

from __future__ import annotations

from tapeflow.core.device import machine
from tapeflow.core.settings import settings


def get_soft_device_placement() -> bool:
    """Returns True if an op runs on another device when the specified one does not exist.

    Returns:
        True or False.

    Example:
        >>> tf.config.get_soft_device_placement()
        True
    """
    return machine.soft_placement


def set_soft_device_placement(enabled: bool) -> None:
    """Sets whether an op runs on another device when the specified one does not exist. Default True.

    Args:
        enabled: True or False.

    Returns:
        None.

    Example:
        >>> tf.config.set_soft_device_placement(False)
        >>> tf.config.get_soft_device_placement()
        False
        >>> tf.config.set_soft_device_placement(True)
    """
    machine.soft_placement = bool(enabled)


def run_functions_eagerly(run_eagerly: bool) -> None:
    """Makes every `tf.function` run its Python function directly, for debugging.

    Args:
        run_eagerly: True or False.

    Returns:
        None.

    Example:
        >>> tf.config.run_functions_eagerly(True)
        >>> tf.function(lambda: tf.executing_eagerly())()
        True
        >>> tf.config.run_functions_eagerly(False)
    """
    settings.run_functions_eagerly = bool(run_eagerly)


def functions_run_eagerly() -> bool:
    """Returns True if every `tf.function` runs its Python function directly.

    Returns:
        True or False.

    Example:
        >>> tf.config.functions_run_eagerly()
        False
    """
    return settings.run_functions_eagerly
