"""The public `tf.config` namespace: devices, threads, and the execution of ops.

Devices can be configured only before their first use, as in TensorFlow.
"""

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
from tapeflow.core.public_names import publish as _publish

experimental_run_functions_eagerly = run_functions_eagerly
experimental_functions_run_eagerly = functions_run_eagerly

_publish(globals(), "experimental", "optimizer", "threading")
