# Written by `scripts/record.py stubs`.
from typing import Any
from tapeflow.core.device import LogicalDevice as LogicalDevice
from tapeflow.core.device import LogicalDeviceConfiguration as LogicalDeviceConfiguration
from tapeflow.core.device import PhysicalDevice as PhysicalDevice
from tapeflow.config import experimental as experimental
experimental_connect_to_cluster: Any
experimental_connect_to_host: Any
experimental_functions_run_eagerly = functions_run_eagerly
experimental_run_functions_eagerly = run_functions_eagerly
from tapeflow.config.execution import functions_run_eagerly as functions_run_eagerly
from tapeflow.config.devices import get_logical_device_configuration as get_logical_device_configuration
from tapeflow.config.execution import get_soft_device_placement as get_soft_device_placement
from tapeflow.config.devices import get_visible_devices as get_visible_devices
from tapeflow.config.devices import list_logical_devices as list_logical_devices
from tapeflow.config.devices import list_physical_devices as list_physical_devices
from tapeflow.config import optimizer as optimizer
from tapeflow.config.execution import run_functions_eagerly as run_functions_eagerly
from tapeflow.config.devices import set_logical_device_configuration as set_logical_device_configuration
from tapeflow.config.execution import set_soft_device_placement as set_soft_device_placement
from tapeflow.config.devices import set_visible_devices as set_visible_devices
from tapeflow.config import threading as threading
