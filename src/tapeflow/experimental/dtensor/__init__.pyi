# Written by `scripts/record.py stubs`.
from tapeflow.experimental.dtensor.checkpoint import DTensorCheckpoint as DTensorCheckpoint
from tapeflow.experimental.dtensor.dataset import DTensorDataset as DTensorDataset
from tapeflow.experimental.dtensor.variable import DVariable as DVariable
from tapeflow.experimental.dtensor.layout import Layout as Layout
from tapeflow.experimental.dtensor.layout import MATCH as MATCH
from tapeflow.experimental.dtensor.mesh import Mesh as Mesh
from tapeflow.experimental.dtensor.layout import UNSHARDED as UNSHARDED
from tapeflow.experimental.dtensor.accelerators import barrier as barrier
from tapeflow.experimental.dtensor.api import call_with_layout as call_with_layout
from tapeflow.experimental.dtensor.api import check_layout as check_layout
from tapeflow.experimental.dtensor.clients import client_id as client_id
from tapeflow.experimental.dtensor.api import copy_to_mesh as copy_to_mesh
from tapeflow.experimental.dtensor.mesh import create_distributed_mesh as create_distributed_mesh
from tapeflow.experimental.dtensor.mesh import create_mesh as create_mesh
from tapeflow.experimental.dtensor.accelerators import create_tpu_mesh as create_tpu_mesh
from tapeflow.experimental.dtensor.api import default_mesh as default_mesh
from tapeflow.experimental.dtensor.api import device_name as device_name
from tapeflow.experimental.dtensor.checkpoint import enable_save_as_bf16 as enable_save_as_bf16
from tapeflow.experimental.dtensor.api import fetch_layout as fetch_layout
from tapeflow.experimental.dtensor.clients import full_job_name as full_job_name
from tapeflow.experimental.dtensor.api import get_default_mesh as get_default_mesh
from tapeflow.experimental.dtensor.clients import heartbeat_enabled as heartbeat_enabled
from tapeflow.experimental.dtensor.accelerators import initialize_accelerator_system as initialize_accelerator_system
initialize_multi_client = initialize_accelerator_system
initialize_tpu_system = initialize_accelerator_system
from tapeflow.experimental.dtensor.api import is_dtensor as is_dtensor
from tapeflow.experimental.dtensor.clients import job_name as job_name
from tapeflow.experimental.dtensor.clients import jobs as jobs
from tapeflow.experimental.dtensor.clients import local_devices as local_devices
from tapeflow.experimental.dtensor.checkpoint import name_based_restore as name_based_restore
from tapeflow.experimental.dtensor.checkpoint import name_based_save as name_based_save
from tapeflow.experimental.dtensor.clients import num_clients as num_clients
from tapeflow.experimental.dtensor.clients import num_global_devices as num_global_devices
from tapeflow.experimental.dtensor.clients import num_local_devices as num_local_devices
from tapeflow.experimental.dtensor.api import pack as pack
from tapeflow.experimental.dtensor.clients import preferred_device_type as preferred_device_type
from tapeflow.experimental.dtensor.api import relayout as relayout
from tapeflow.experimental.dtensor.api import relayout_like as relayout_like
from tapeflow.experimental.dtensor.api import run_on as run_on
from tapeflow.experimental.dtensor.checkpoint import sharded_save as sharded_save
from tapeflow.experimental.dtensor.accelerators import shutdown_accelerator_system as shutdown_accelerator_system
shutdown_tpu_system = shutdown_accelerator_system
from tapeflow.experimental.dtensor.api import unpack as unpack
