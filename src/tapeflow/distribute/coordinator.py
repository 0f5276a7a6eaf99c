"""The public `tf.distribute.experimental.coordinator` namespace: results of functions that run on other machines.

Nothing here schedules such functions; libraries test whether a value is one of their results.
"""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from typing import Any


class RemoteValue(metaclass=ABCMeta):
    """The result of a function on another machine, which may not be there yet.

    Example:
        >>> isinstance(tf.constant(1), tf.distribute.experimental.coordinator.RemoteValue)
        False
    """

    @abstractmethod
    def fetch(self) -> Any:
        """Waits for the result and returns it as arrays."""

    @abstractmethod
    def get(self) -> Any:
        """Waits for the result and returns it as tensors."""
