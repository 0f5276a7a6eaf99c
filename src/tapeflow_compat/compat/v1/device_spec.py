"""`tf.compat.v1.DeviceSpec`: the parts of a device's name, which can be set."""

from __future__ import annotations

from typing import Any

from tapeflow.core import device_spec

_PARTS = ("job", "replica", "task", "device_type", "device_index")


def _part(name: str) -> property:
    """Returns the property of a part."""

    def set_part(self: DeviceSpec, value: Any) -> None:
        self._set({**self._parts(), name: value})

    return property(getattr(device_spec.DeviceSpec, name).fget, set_part, doc=f"The name's {name}, or None.")


class DeviceSpec(device_spec.DeviceSpec):
    """A device name in its parts, see `tf.DeviceSpec`, which can be set one by one.

    Args:
        job: the job's name.
        replica: the replica's index.
        task: the task's index.
        device_type: "CPU" or "GPU".
        device_index: the index among the devices of that type.

    Example:
        >>> spec = tf.compat.v1.DeviceSpec(job="worker")
        >>> spec.device_type = "gpu"
        >>> spec.to_string()
        '/job:worker/device:GPU:*'
    """

    __slots__ = ()

    job, replica, task, device_type, device_index = map(_part, _PARTS)

    def parse_from_string(self, spec: str) -> DeviceSpec:
        """Sets all parts from a device's name, and returns this object.

        Raises:
            ValueError: something in it is no part of a device's name.
        """
        self._set(self.from_string(spec)._parts())
        return self

    def merge_from(self, dev: device_spec.DeviceSpec) -> None:
        """Sets the parts that `dev` specifies."""
        self._set(self.make_merged_spec(dev)._parts())

    def _set(self, parts: dict[str, Any]) -> None:
        device_spec.DeviceSpec.__init__(self, **parts)

    __hash__ = device_spec.DeviceSpec.__hash__
