"""The public `tf.config.experimental` namespace: memory, determinism and precision."""

from tapeflow.config.devices import get_logical_device_configuration as get_virtual_device_configuration
from tapeflow.config.devices import (
    get_visible_devices,
    list_logical_devices,
    list_physical_devices,
    set_visible_devices,
)
from tapeflow.config.devices import set_logical_device_configuration as set_virtual_device_configuration
from tapeflow.config.experimental.runtime import (
    ClusterDeviceFilters,
    VirtualDeviceConfiguration,
    disable_mlir_bridge,
    enable_mlir_bridge,
    enable_op_determinism,
    enable_tensor_float_32_execution,
    get_device_details,
    get_device_policy,
    get_memory_growth,
    get_memory_info,
    get_memory_usage,
    get_synchronous_execution,
    ops_computed_on_cpu,
    reset_memory_stats,
    set_device_policy,
    set_memory_growth,
    set_synchronous_execution,
    tensor_float_32_execution_enabled,
)
from tapeflow.core.public_names import publish as _publish

_publish(globals())
