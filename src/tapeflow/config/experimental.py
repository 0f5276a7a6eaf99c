"""The public `tf.config.experimental` namespace: memory, determinism and precision."""

from __future__ import annotations

from typing import Any

import torch

from tapeflow.core.device import Device, LogicalDeviceConfiguration, PhysicalDevice, machine
from tapeflow.core.device_spec import DeviceSpec
from tapeflow.core.settings import settings

VirtualDeviceConfiguration = LogicalDeviceConfiguration
_POLICIES = ("silent", "silent_for_int32", "warn", "explicit")


def __getattr__(name: str) -> Any:
    """Returns the functions that `tf.config` has under the same names."""
    from tapeflow import config

    shared = {
        "get_visible_devices": "get_visible_devices",
        "set_visible_devices": "set_visible_devices",
        "list_logical_devices": "list_logical_devices",
        "list_physical_devices": "list_physical_devices",
        "get_virtual_device_configuration": "get_logical_device_configuration",
        "set_virtual_device_configuration": "set_logical_device_configuration",
    }
    if name in shared:
        return getattr(config, shared[name])
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def get_device_details(device: PhysicalDevice) -> dict[str, Any]:
    """What is known of a device: for a GPU its name and compute capability.

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
    properties = torch.cuda.get_device_properties(int(device.name.rsplit(":", 1)[1]))
    return {"device_name": properties.name, "compute_capability": (properties.major, properties.minor)}


def _gpu_to_configure(device: Any) -> PhysicalDevice:
    if device not in machine.physical_devices():
        raise ValueError(f"Unrecognized device: {device!r}")
    return device


def get_memory_growth(device: PhysicalDevice) -> bool:
    """Returns whether memory of a GPU is taken as it is needed. Here it always is; this gives what was set.

    Raises:
        ValueError: there is no such GPU.

    Example:
        >>> any(tf.config.experimental.get_memory_growth(gpu) for gpu in tf.config.list_physical_devices("GPU"))
        False
    """
    if _gpu_to_configure(device).device_type != "GPU":
        raise ValueError(f"Memory growth is a setting of GPUs, not of {device!r}")
    return machine.memory_growth.get(device, False)


def set_memory_growth(device: PhysicalDevice, enable: bool) -> None:
    """Says whether memory of a GPU is taken as it is needed. Here it always is.

    Raises:
        ValueError: there is no such GPU, or it is split into logical devices.
        RuntimeError: the devices are in use.

    Example:
        >>> for gpu in tf.config.list_physical_devices("GPU"):
        ...     tf.config.experimental.set_memory_growth(gpu, True)  # doctest: +SKIP
    """
    _gpu_to_configure(device)
    if device in machine.split:
        raise ValueError("Cannot set memory growth on device when virtual devices configured")
    if device.device_type != "GPU":
        raise ValueError("Cannot set memory growth on non-GPU and non-Pluggable devices")
    if machine.initialized and machine.memory_growth.get(device, False) != enable:
        raise RuntimeError("Physical devices cannot be modified after being initialized")
    machine.memory_growth[device] = bool(enable)


def _logical(device: str) -> Device:
    spec = DeviceSpec.from_string(device) if ":" in device else None
    if spec is None or spec.device_type is None or spec.device_index is None:
        raise ValueError(
            f"Failed parsing device name: '{device}'. Note a valid device string should at least contain a device type "
            'and a device index, like "GPU:0".'
        )
    for found in machine.logical_devices():
        if (found.kind, found.index) == (spec.device_type, spec.device_index):
            return found
    raise ValueError(f"No matching devices found for '{device}'")


def get_memory_info(device: str) -> dict[str, int]:
    """Returns the bytes in use on a device, now and at the peak; zeros for CPUs, where nobody counts.

    Args:
        device: such as "GPU:0".

    Raises:
        ValueError: there is no such device.

    Example:
        >>> tf.config.experimental.get_memory_info("CPU:0")
        {'current': 0, 'peak': 0}
    """
    found = _logical(device)
    if found.kind == "CPU":
        return {"current": 0, "peak": 0}
    return {
        "current": torch.cuda.memory_allocated(found.torch),
        "peak": torch.cuda.max_memory_allocated(found.torch),
    }


def get_memory_usage(device: str) -> int:
    """Returns the bytes in use on a device. See `get_memory_info`.

    Example:
        >>> tf.config.experimental.get_memory_usage("CPU:0")
        0
    """
    return get_memory_info(device)["current"]


def reset_memory_stats(device: str) -> None:
    """Lets the peak of `get_memory_info` begin at what is in use now.

    Raises:
        ValueError: there is no such device.

    Example:
        >>> tf.config.experimental.reset_memory_stats("CPU:0")
    """
    found = _logical(device)
    if found.kind == "GPU":
        torch.cuda.reset_peak_memory_stats(found.torch)


def get_device_policy() -> str:
    """What happens to inputs on another device than their op's. See `set_device_policy`.

    Example:
        >>> tf.config.experimental.get_device_policy()
        'silent'
    """
    return settings.device_policy


def set_device_policy(device_policy: str | None) -> None:
    """Says what happens to inputs on another device than their op's.

    Args:
        device_policy: None or "silent" copies them. "silent_for_int32", "warn" and "explicit" are accepted, and copy
            too.

    Raises:
        ValueError: it is something else.

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
    """Returns whether ops are run synchronously.

    Example:
        >>> tf.config.experimental.get_synchronous_execution()
        True
    """
    return settings.synchronous


def set_synchronous_execution(enable: bool | None) -> None:
    """Says whether ops are run synchronously. Accepted: an op's value is always there when Python asks for it.

    Example:
        >>> tf.config.experimental.set_synchronous_execution(True)
        >>> tf.config.experimental.get_synchronous_execution()
        True
    """
    settings.synchronous = enable is not False


def enable_op_determinism() -> None:
    """Makes ops give the same result every time; random ops then need a seed.

    Example:
        >>> tf.config.experimental.enable_op_determinism()  # doctest: +SKIP
    """
    settings.deterministic = True
    torch.use_deterministic_algorithms(True, warn_only=True)


def tensor_float_32_execution_enabled() -> bool:
    """Returns whether float32 products on a GPU may use TensorFloat-32.

    Example:
        >>> tf.config.experimental.tensor_float_32_execution_enabled()
        True
    """
    return settings.tensor_float_32


def enable_tensor_float_32_execution(enabled: bool) -> None:
    """Says whether float32 products on a GPU may use TensorFloat-32, which is faster and rounds more.

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
    """Accepted: there is no MLIR bridge here.

    Example:
        >>> tf.config.experimental.enable_mlir_bridge()
    """


def disable_mlir_bridge() -> None:
    """Accepted: there is no MLIR bridge here.

    Example:
        >>> tf.config.experimental.disable_mlir_bridge()
    """
