"""Memory, determinism, precision and policies of devices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from tapeflow.config.devices import check_exists
from tapeflow.core.device import Device, LogicalDeviceConfiguration, PhysicalDevice, accelerator, machine
from tapeflow.core.device_spec import DeviceSpec
from tapeflow.core.settings import settings

VirtualDeviceConfiguration = LogicalDeviceConfiguration
_POLICIES = ("silent", "silent_for_int32", "warn", "explicit")


class ClusterDeviceFilters:
    """The devices that each task of a cluster sees.

    Example:
        >>> filters = tf.config.experimental.ClusterDeviceFilters()
        >>> filters.set_device_filters("worker", 0, ["/job:ps"])
    """

    def __init__(self) -> None:
        self._filters: dict[str, dict[int, tuple[str, ...]]] = {}

    def set_device_filters(self, job_name: str, task_index: int, device_filters: Sequence[str]) -> None:
        """Sets the devices that a task sees.

        Args:
            job_name: the task's job.
            task_index: its number in the job.
            device_filters: the beginnings of the devices' names, such as "/job:ps".

        Raises:
            ValueError: a filter is no string.
        """
        if not all(isinstance(f, str) for f in device_filters):
            raise ValueError(f"Device filter spec must be strings. Got {device_filters}")
        self._filters.setdefault(job_name, {})[task_index] = tuple(device_filters)


def get_device_details(device: PhysicalDevice) -> dict[str, Any]:
    """Returns details of a device.

    Args:
        device: a physical device.

    Returns:
        A dict. For a GPU, it has the `device_name`, and the `compute_capability` if torch reports it. For a CPU, it is
        empty.

    Raises:
        ValueError: there is no such device.

    Example:
        >>> cpu = tf.config.list_physical_devices("CPU")[0]
        >>> tf.config.experimental.get_device_details(cpu)
        {}
    """
    if device not in machine.physical_devices():
        raise ValueError(
            f"The PhysicalDevice must be one obtained from calling `tf.config.list_physical_devices`, but got: {device}"
        )
    if device.device_type == "CPU":
        return {}
    place = accelerator(int(device.name.rsplit(":", 1)[1]))
    if place.type != "cuda":
        name = getattr(torch.get_device_module(place), "get_device_name", None)
        return {} if name is None else {"device_name": name(place)}
    properties = torch.cuda.get_device_properties(place)
    return {"device_name": properties.name, "compute_capability": (properties.major, properties.minor)}


def get_memory_growth(device: PhysicalDevice) -> bool:
    """Returns True if memory growth was set for a GPU. Here memory is always allocated as needed.

    Args:
        device: a physical GPU.

    Returns:
        True or False, as set by `set_memory_growth`.

    Raises:
        ValueError: there is no such GPU.

    Example:
        >>> any(tf.config.experimental.get_memory_growth(gpu) for gpu in tf.config.list_physical_devices("GPU"))
        False
    """
    check_exists(device)
    if device.device_type != "GPU":
        raise ValueError(f"Memory growth is a setting of GPUs, not of {device!r}")
    return machine.memory_growth.get(device, False)


def set_memory_growth(device: PhysicalDevice, enable: bool) -> None:
    """Sets memory growth for a GPU. Here memory is always allocated as needed.

    Args:
        device: a physical GPU.
        enable: True or False.

    Returns:
        None.

    Raises:
        ValueError: there is no such GPU, or it is split into logical devices.
        RuntimeError: the devices are in use.

    Example:
        >>> for gpu in tf.config.list_physical_devices("GPU"):
        ...     tf.config.experimental.set_memory_growth(gpu, True)  # doctest: +SKIP
    """
    check_exists(device)
    if device in machine.split:
        raise ValueError("Cannot set memory growth on device when virtual devices configured")
    if device.device_type != "GPU":
        raise ValueError("Cannot set memory growth on non-GPU and non-Pluggable devices")
    if machine.initialized and machine.memory_growth.get(device, False) != enable:
        raise RuntimeError("Physical devices cannot be modified after being initialized")
    machine.memory_growth[device] = bool(enable)


def _logical_device(device: str) -> Device:
    spec = DeviceSpec.from_string(device) if ":" in device else None
    if spec is None or spec.device_type is None or spec.device_index is None:
        raise ValueError(
            f"Failed parsing device name: '{device}'. Note a valid device string should at least contain a device type "
            'and a device index, like "GPU:0".'
        )
    for logical in machine.logical_devices():
        if (logical.kind, logical.index) == (spec.device_type, spec.device_index):
            return logical
    raise ValueError(f"No matching devices found for '{device}'")


def get_memory_info(device: str) -> dict[str, int]:
    """Returns the memory in use on a device, now and at the peak.

    Args:
        device: the name of a logical device, such as "GPU:0".

    Returns:
        A dict with `current` and `peak`, in bytes; zeros for CPUs, whose memory is not counted.

    Raises:
        ValueError: there is no such device.

    Example:
        >>> tf.config.experimental.get_memory_info("CPU:0")
        {'current': 0, 'peak': 0}
    """
    logical = _logical_device(device)
    if logical.kind == "CPU":
        return {"current": 0, "peak": 0}
    return {
        "current": torch.accelerator.memory_allocated(logical.torch),
        "peak": torch.accelerator.max_memory_allocated(logical.torch),
    }


def get_memory_usage(device: str) -> int:
    """Returns the memory in use on a device.

    Args:
        device: the name of a logical device, such as "GPU:0".

    Returns:
        The number of bytes; see `get_memory_info`.

    Raises:
        ValueError: there is no such device.

    Example:
        >>> tf.config.experimental.get_memory_usage("CPU:0")
        0
    """
    return get_memory_info(device)["current"]


def reset_memory_stats(device: str) -> None:
    """Resets the peak of `get_memory_info` to the memory in use now.

    Args:
        device: the name of a logical device, such as "GPU:0".

    Returns:
        None.

    Raises:
        ValueError: there is no such device.

    Example:
        >>> tf.config.experimental.reset_memory_stats("CPU:0")
    """
    logical = _logical_device(device)
    if logical.kind == "GPU":
        torch.accelerator.reset_peak_memory_stats(logical.torch)


def ops_computed_on_cpu() -> dict[str, list[str]]:
    """Lists the ops that were computed on the CPU because the GPU of their inputs has no kernel for them.

    TensorFlow has no such function. It tells why a program on a GPU is slow.

    Returns:
        A dict from the ops' names to the dtypes of their inputs.

    Example:
        >>> tf.config.experimental.ops_computed_on_cpu()
        {}
    """
    return {name: sorted(dtypes) for name, dtypes in sorted(machine.computed_on_cpu.items())}


def get_device_policy() -> str:
    """Returns the policy for inputs on another device than their op's.

    Returns:
        One of the names that `set_device_policy` accepts.

    Example:
        >>> tf.config.experimental.get_device_policy()
        'silent'
    """
    return settings.device_policy


def set_device_policy(device_policy: str | None) -> None:
    """Sets the policy for inputs on another device than their op's.

    Args:
        device_policy: None or "silent" copies them. "silent_for_int32", "warn" and "explicit" are accepted, and copy
            too.

    Returns:
        None.

    Raises:
        ValueError: there is no such policy.

    Example:
        >>> tf.config.experimental.set_device_policy("warn")
        >>> tf.config.experimental.get_device_policy()
        'warn'
        >>> tf.config.experimental.set_device_policy(None)
    """
    if device_policy is not None and device_policy not in _POLICIES:
        raise ValueError(
            f"Invalid argument `device_policy`: {device_policy!r}. It must be one of {', '.join(map(repr, _POLICIES))}."
        )
    settings.device_policy = device_policy or "silent"


def get_synchronous_execution() -> bool:
    """Returns True if ops run synchronously.

    Returns:
        True or False.

    Example:
        >>> tf.config.experimental.get_synchronous_execution()
        True
    """
    return settings.synchronous


def set_synchronous_execution(enable: bool | None) -> None:
    """Sets whether ops run synchronously; accepted, and without effect.

    Args:
        enable: True or False; None is True.

    Returns:
        None.

    Example:
        >>> tf.config.experimental.set_synchronous_execution(True)
        >>> tf.config.experimental.get_synchronous_execution()
        True
    """
    settings.synchronous = enable is not False


def enable_op_determinism() -> None:
    """Makes ops deterministic; random ops then need a seed, and kernels always use the same number of threads.

    Returns:
        None.

    Example:
        >>> tf.config.experimental.enable_op_determinism()  # doctest: +SKIP
    """
    settings.deterministic = True
    torch.use_deterministic_algorithms(True, warn_only=True)


def tensor_float_32_execution_enabled() -> bool:
    """Returns True if float32 products on a GPU may use TensorFloat-32.

    Returns:
        True or False.

    Example:
        >>> tf.config.experimental.tensor_float_32_execution_enabled()
        True
    """
    return settings.tensor_float_32


def enable_tensor_float_32_execution(enabled: bool) -> None:
    """Sets whether float32 products on a GPU may use TensorFloat-32, which is faster and rounds more.

    Args:
        enabled: True or False.

    Returns:
        None.

    Example:
        >>> tf.config.experimental.enable_tensor_float_32_execution(False)
        >>> tf.config.experimental.tensor_float_32_execution_enabled()
        False
        >>> tf.config.experimental.enable_tensor_float_32_execution(True)
    """
    settings.tensor_float_32 = bool(enabled)
    torch.backends.cuda.matmul.allow_tf32 = bool(enabled)
    torch.backends.cudnn.allow_tf32 = bool(enabled)


def enable_mlir_bridge() -> None:
    """Accepts the call, without effect: there is no MLIR bridge here.

    Returns:
        None.

    Example:
        >>> tf.config.experimental.enable_mlir_bridge()
    """


def disable_mlir_bridge() -> None:
    """Accepts the call, without effect: there is no MLIR bridge here.

    Returns:
        None.

    Example:
        >>> tf.config.experimental.disable_mlir_bridge()
    """
