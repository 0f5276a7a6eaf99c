"""The public `tf.config` namespace: devices, threads, and the execution of ops.

Devices can be configured only before their first use, as in TensorFlow.
"""

import typing as _typing

from tapeflow.config import experimental, optimizer, threading
from tapeflow.config.devices import (
    get_logical_device_configuration,
    get_visible_devices,
    list_logical_devices,
    list_physical_devices,
    set_logical_device_configuration,
    set_visible_devices,
)
from tapeflow.config.execution import (
    functions_run_eagerly,
    get_soft_device_placement,
    run_functions_eagerly,
    set_soft_device_placement,
)
from tapeflow.core.device import LogicalDevice, LogicalDeviceConfiguration, PhysicalDevice
from tapeflow.core.unsupported import below as _below

experimental_run_functions_eagerly = run_functions_eagerly
experimental_functions_run_eagerly = functions_run_eagerly

__all__ = [
    "LogicalDevice", "LogicalDeviceConfiguration", "PhysicalDevice", "experimental", "experimental_connect_to_cluster",
    "experimental_connect_to_host", "experimental_functions_run_eagerly", "experimental_run_functions_eagerly",
    "functions_run_eagerly", "get_logical_device_configuration", "get_soft_device_placement", "get_visible_devices",
    "list_logical_devices", "list_physical_devices", "optimizer", "run_functions_eagerly",
    "set_logical_device_configuration", "set_soft_device_placement", "set_visible_devices", "threading",
]  # fmt: skip
__dir__ = __all__.copy


if not _typing.TYPE_CHECKING:
    __getattr__ = _below("config")
