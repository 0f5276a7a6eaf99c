"""The devices that ops run on: the machine's devices, the visible ones, and their split into logical devices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.core.device import LogicalDevice, LogicalDeviceConfiguration, PhysicalDevice, machine


def list_physical_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """Returns the devices of this machine.

    Args:
        device_type: "CPU" or "GPU" lists only those.

    Returns:
        A list of `tf.config.PhysicalDevice`.

    Example:
        >>> tf.config.list_physical_devices("CPU")
        [PhysicalDevice(name='/physical_device:CPU:0', device_type='CPU')]
    """
    return [d for d in machine.physical_devices() if device_type is None or d.device_type == device_type]


def list_logical_devices(device_type: str | None = None) -> list[LogicalDevice]:
    """Returns the devices that ops run on. After this call the devices can no longer be configured.

    Args:
        device_type: "CPU" or "GPU" lists only those.

    Returns:
        A list of `tf.config.LogicalDevice`.

    Example:
        >>> tf.config.list_logical_devices("CPU")[0].name
        '/device:CPU:0'
    """
    return [
        LogicalDevice(f"/device:{d.kind}:{d.index}", d.kind)
        for d in machine.logical_devices()
        if device_type is None or d.kind == device_type
    ]


def check_exists(device: PhysicalDevice) -> None:
    """Checks that this machine has a physical device.

    Raises:
        ValueError: it is not.
    """
    if device not in machine.physical_devices():
        raise ValueError(f"Unrecognized device: {device!r}")


def set_visible_devices(devices: PhysicalDevice | Sequence[PhysicalDevice], device_type: str | None = None) -> None:
    """Selects the devices to use.

    Args:
        devices: a physical device or a list of them; no others are used.
        device_type: "CPU" or "GPU" sets only the visible devices of this type, and keeps the others.

    Returns:
        None.

    Raises:
        ValueError: a device is unknown, or of another type than `device_type`.
        RuntimeError: the devices are in use.

    Example:
        >>> tf.config.set_visible_devices([], "GPU")
    """
    single = isinstance(devices, PhysicalDevice) or not isinstance(devices, (list, tuple))
    chosen: list[Any] = [devices] if single else list(devices)
    for device in chosen:
        check_exists(device)
        if device_type is not None and device.device_type != device_type:
            raise ValueError(f"Unrecognized device: {device!r}")
    if device_type is not None:
        chosen += [d for d in machine.visible_devices() if d.device_type != device_type]
        chosen = [d for d in machine.physical_devices() if d in chosen]
    if chosen == machine.visible_devices():
        return
    if machine.initialized:
        raise RuntimeError("Visible devices cannot be modified after being initialized")
    machine.visible = chosen


def get_visible_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """Returns the physical devices in use.

    Args:
        device_type: "CPU" or "GPU" lists only those.

    Returns:
        A list of `tf.config.PhysicalDevice`.

    Example:
        >>> [device.name for device in tf.config.get_visible_devices("CPU")]
        ['/physical_device:CPU:0']
    """
    return [d for d in machine.visible_devices() if device_type is None or d.device_type == device_type]


def get_logical_device_configuration(device: PhysicalDevice) -> list[LogicalDeviceConfiguration] | None:
    """Returns the logical devices that a physical device is split into.

    Args:
        device: the physical device.

    Returns:
        A list of `tf.config.LogicalDeviceConfiguration`; None if there was none.

    Raises:
        ValueError: there is no such device.

    Example:
        >>> cpu = tf.config.list_physical_devices("CPU")[0]
        >>> tf.config.get_logical_device_configuration(cpu) is None
        True
    """
    check_exists(device)
    return machine.split.get(device)


def set_logical_device_configuration(
    device: PhysicalDevice, logical_devices: Sequence[LogicalDeviceConfiguration]
) -> None:
    """Splits a physical device into logical ones, for example to test on one CPU a program for several devices.

    Args:
        device: the physical device.
        logical_devices: a configuration for each logical device.

    Returns:
        None.

    Raises:
        ValueError: there is no such device, a CPU has a memory limit, or memory growth is set on the device.
        RuntimeError: the devices are in use.

    Example:
        >>> cpu = tf.config.list_physical_devices("CPU")[0]
        >>> two = [tf.config.LogicalDeviceConfiguration()] * 2
        >>> tf.config.set_logical_device_configuration(cpu, two)  # doctest: +SKIP
    """
    check_exists(device)
    if device.device_type == "CPU" and any(c.memory_limit is not None for c in logical_devices):
        raise ValueError("Setting memory limit on CPU virtual devices is currently not supported")
    if machine.memory_growth.get(device):
        raise ValueError("Cannot configure virtual devices: memory growth is set on this device")
    if machine.split.get(device) == list(logical_devices):
        return
    if machine.initialized:
        raise RuntimeError("Virtual devices cannot be modified after being initialized")
    machine.split[device] = list(logical_devices)
