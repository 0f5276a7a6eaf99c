"""The public `tf.config` namespace: devices, threads, and how ops run.

What changes the devices must come before their first use, as in TensorFlow.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.config import experimental, optimizer, threading
from tapeflow.core.device import LogicalDevice, LogicalDeviceConfiguration, PhysicalDevice, machine
from tapeflow.core.settings import settings

__all__ = ["LogicalDevice", "LogicalDeviceConfiguration", "PhysicalDevice", "experimental", "optimizer", "threading"]


def list_physical_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """Returns the devices of this machine.

    Args:
        device_type: "CPU" or "GPU" lists only those.

    Example:
        >>> tf.config.list_physical_devices("CPU")
        [PhysicalDevice(name='/physical_device:CPU:0', device_type='CPU')]
    """
    return [d for d in machine.physical_devices() if device_type is None or d.device_type == device_type]


def list_logical_devices(device_type: str | None = None) -> list[LogicalDevice]:
    """Returns the devices that ops run on. After this call the devices can no longer be configured.

    Args:
        device_type: "CPU" or "GPU" lists only those.

    Example:
        >>> tf.config.list_logical_devices("CPU")[0].name
        '/device:CPU:0'
    """
    return [
        LogicalDevice(f"/device:{d.kind}:{d.index}", d.kind)
        for d in machine.logical_devices()
        if device_type is None or d.kind == device_type
    ]


def _known(device: Any) -> PhysicalDevice:
    if device not in machine.physical_devices():
        raise ValueError(f"Unrecognized device: {device!r}")
    return device


def set_visible_devices(devices: Any, device_type: str | None = None) -> None:
    """Chooses the devices to use.

    Args:
        devices: a physical device or a list of them; all others are left alone.
        device_type: "CPU" or "GPU" changes only what is used of those.

    Raises:
        ValueError: a device is unknown, or of another type than `device_type`.
        RuntimeError: the devices are in use.

    Example:
        >>> tf.config.set_visible_devices([], "GPU")
    """
    chosen = (
        list(devices) if isinstance(devices, (list, tuple)) and not isinstance(devices, PhysicalDevice) else [devices]
    )
    for device in chosen:
        _known(device)
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

    Example:
        >>> [device.name for device in tf.config.get_visible_devices("CPU")]
        ['/physical_device:CPU:0']
    """
    return [d for d in machine.visible_devices() if device_type is None or d.device_type == device_type]


def get_logical_device_configuration(device: PhysicalDevice) -> list[LogicalDeviceConfiguration] | None:
    """What a physical device is split into; None where nothing was said.

    Raises:
        ValueError: there is no such device.

    Example:
        >>> cpu = tf.config.list_physical_devices("CPU")[0]
        >>> tf.config.get_logical_device_configuration(cpu) is None
        True
    """
    return machine.split.get(_known(device))


def set_logical_device_configuration(
    device: PhysicalDevice, logical_devices: Sequence[LogicalDeviceConfiguration]
) -> None:
    """Splits a physical device into logical ones, as to try on one CPU what is meant for several devices.

    Raises:
        ValueError: there is no such device, or a CPU is given a memory limit.
        RuntimeError: the devices are in use.

    Example:
        >>> cpu = tf.config.list_physical_devices("CPU")[0]
        >>> two = [tf.config.LogicalDeviceConfiguration()] * 2
        >>> tf.config.set_logical_device_configuration(cpu, two)  # doctest: +SKIP
    """
    _known(device)
    if device.device_type == "CPU" and any(c.memory_limit is not None for c in logical_devices):
        raise ValueError("Setting memory limit on CPU virtual devices is currently not supported")
    if machine.memory_growth.get(device):
        raise ValueError("Cannot configure virtual devices: memory growth is set on this device")
    if machine.split.get(device) == list(logical_devices):
        return
    if machine.initialized:
        raise RuntimeError("Virtual devices cannot be modified after being initialized")
    machine.split[device] = list(logical_devices)


def get_soft_device_placement() -> bool:
    """Returns whether an op that asks for a device that is not there runs on another one.

    Example:
        >>> tf.config.get_soft_device_placement()
        True
    """
    return machine.soft_placement


def set_soft_device_placement(enabled: bool) -> None:
    """Says whether an op that asks for a device that is not there runs on another one. Default True.

    Example:
        >>> tf.config.set_soft_device_placement(False)
        >>> tf.config.get_soft_device_placement()
        False
        >>> tf.config.set_soft_device_placement(True)
    """
    machine.soft_placement = bool(enabled)


def run_functions_eagerly(run_eagerly: bool) -> None:
    """Makes every `tf.function` run its Python function directly, as for debugging.

    Example:
        >>> tf.config.run_functions_eagerly(True)
        >>> tf.function(lambda: tf.executing_eagerly())()
        True
        >>> tf.config.run_functions_eagerly(False)
    """
    settings.run_functions_eagerly = bool(run_eagerly)


def functions_run_eagerly() -> bool:
    """Returns whether every `tf.function` runs its Python function directly.

    Example:
        >>> tf.config.functions_run_eagerly()
        False
    """
    return settings.run_functions_eagerly


experimental_run_functions_eagerly = run_functions_eagerly
experimental_functions_run_eagerly = functions_run_eagerly
