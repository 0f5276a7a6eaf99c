"""The devices of this machine, as libraries ask inside TensorFlow for them."""

from __future__ import annotations

from typing import Any, NamedTuple

from tapeflow.config import (
    LogicalDeviceConfiguration,
    get_logical_device_configuration,
    list_logical_devices,
    list_physical_devices,
    set_logical_device_configuration,
)


class DeviceAttributes(NamedTuple):
    """A device.

    Attributes:
        name: such as "/device:CPU:0".
        device_type: "CPU" or "GPU".
        memory_limit: 0, as none is set.
        physical_device_desc: empty for a CPU.
    """

    name: str
    device_type: str
    memory_limit: int = 0
    physical_device_desc: str = ""


def list_local_devices(session_config: Any = None) -> list[DeviceAttributes]:
    """Returns the devices; the configuration of a session has no effect."""
    return [DeviceAttributes(d.name, d.device_type, 0, _description(d)) for d in list_logical_devices()]


def _description(device: Any) -> str:
    index = device.name.rpartition(":")[2]
    return "" if device.device_type == "CPU" else f"device: {index}, name: {device.device_type}"


def num_gpus() -> int:
    """Returns the number of GPUs."""
    return len(list_physical_devices("GPU"))


def set_virtual_cpus_to_at_least(num_virtual_cpus: int) -> None:
    """Divides the CPU into logical devices, unless there are enough.

    Args:
        num_virtual_cpus: their number.

    Raises:
        ValueError: it is below 1.
        RuntimeError: the devices are in use.
    """
    if num_virtual_cpus < 1:
        raise ValueError(f"`num` must be at least 1 not {num_virtual_cpus!r}")
    cpu = list_physical_devices("CPU")[0]
    if len(get_logical_device_configuration(cpu) or [cpu]) < num_virtual_cpus:
        set_logical_device_configuration(cpu, [LogicalDeviceConfiguration()] * num_virtual_cpus)
