"""The public `tf.distribute.experimental.coordinator` namespace: what functions give that run on other machines.

Nothing here schedules such functions; libraries ask whether a value is one of theirs.
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
        """Waits for the result and gives it as arrays."""

    @abstractmethod
    def get(self) -> Any:
        """Waits for the result and gives it as tensors."""
