"""The public `tf.experimental.dtensor` namespace: tensors divided among the devices of a mesh."""

from tapeflow.experimental.dtensor.accelerators import (
    barrier,
    create_tpu_mesh,
    initialize_accelerator_system,
    shutdown_accelerator_system,
)
from tapeflow.experimental.dtensor.api import (
    call_with_layout,
    check_layout,
    copy_to_mesh,
    default_mesh,
    device_name,
    fetch_layout,
    get_default_mesh,
    is_dtensor,
    pack,
    relayout,
    relayout_like,
    run_on,
    unpack,
)
from tapeflow.experimental.dtensor.checkpoint import (
    DTensorCheckpoint,
    enable_save_as_bf16,
    name_based_restore,
    name_based_save,
    sharded_save,
)
from tapeflow.experimental.dtensor.clients import (
    client_id,
    full_job_name,
    heartbeat_enabled,
    job_name,
    jobs,
    local_devices,
    num_clients,
    num_global_devices,
    num_local_devices,
    preferred_device_type,
)
from tapeflow.experimental.dtensor.dataset import DTensorDataset
from tapeflow.experimental.dtensor.layout import MATCH, UNSHARDED, Layout
from tapeflow.experimental.dtensor.mesh import Mesh, create_distributed_mesh, create_mesh
from tapeflow.experimental.dtensor.variable import DVariable

initialize_multi_client = initialize_tpu_system = initialize_accelerator_system
shutdown_tpu_system = shutdown_accelerator_system

__all__ = [
    "MATCH", "UNSHARDED", "DTensorCheckpoint", "DTensorDataset", "DVariable", "Layout", "Mesh", "barrier",
    "call_with_layout", "check_layout", "client_id", "copy_to_mesh", "create_distributed_mesh", "create_mesh",
    "create_tpu_mesh", "default_mesh", "device_name", "enable_save_as_bf16", "fetch_layout", "full_job_name",
    "get_default_mesh", "heartbeat_enabled", "initialize_accelerator_system", "initialize_multi_client",
    "initialize_tpu_system", "is_dtensor", "job_name", "jobs", "local_devices", "name_based_restore",
    "name_based_save", "num_clients", "num_global_devices", "num_local_devices", "pack", "preferred_device_type",
    "relayout", "relayout_like", "run_on", "sharded_save", "shutdown_accelerator_system", "shutdown_tpu_system",
    "unpack",
]  # fmt: skip
__dir__ = __all__.copy
