"""The public `tf.experimental.dtensor` namespace: tensors divided among the devices of a mesh."""

from tapeflow.core.public_names import publish as _publish
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

_publish(globals())
