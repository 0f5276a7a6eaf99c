"""What functions use and is no tensor: the base of tables, `tf.saved_model.experimental.TrackableResource`."""

from __future__ import annotations

from typing import Any

from tapeflow.core.scopes import init_scope
from tapeflow.core.values.trackable import Trackable


class TrackableResource(Trackable):
    """The base class of resources that functions use: a subclass makes its own in `_create_resource`.

    Args:
        device: the device it is made on.

    Example:
        >>> class Number(tf.saved_model.experimental.TrackableResource):
        ...     def _create_resource(self):
        ...         return tf.constant(3)
        >>> int(Number().resource_handle)
        3
    """

    def __init__(self, device: str = "") -> None:
        self._resource_device = device
        self._resource_handle: Any = None

    @property
    def resource_device(self) -> str:
        """The device it is made on."""
        return self._resource_device

    @property
    def resource_handle(self) -> Any:
        """What `_create_resource` gave, once."""
        if self._resource_handle is None:
            from tapeflow.core.device import device

            with init_scope(), device(self._resource_device or None):
                self._resource_handle = self._create_resource()
        return self._resource_handle

    def _create_resource(self) -> Any:
        """Makes the resource; for subclasses."""
        raise NotImplementedError("TrackableResource._create_resource not implemented.")

    def _initialize(self) -> None:
        """Makes the resource ready for use; for subclasses."""
