"""Starting the devices of all clients: the processes meet by `torch.distributed`."""

from __future__ import annotations

import atexit
import datetime
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from tapeflow.core import errors
from tapeflow.core.device import LogicalDeviceConfiguration, machine
from tapeflow.core.logger import get_logger
from tapeflow.experimental.dtensor import clients

if TYPE_CHECKING:
    from tapeflow.experimental.dtensor.mesh import Mesh

TIMEOUT = datetime.timedelta(minutes=10)  # for the others to come, to the first meeting and to collectives
_initialized: list[str] = []  # the type of the devices, once they are


def is_initialized() -> bool:
    """Returns True if `initialize_accelerator_system` was called."""
    return bool(_initialized)


def initialize_accelerator_system(
    device_type: str | None = None,
    enable_coordination_service: bool | None = True,
    num_logical_cpu_devices: int | None = None,
    experimental_reset_context: bool | None = False,
    experimental_enable_megcore: bool | None = False,
) -> str:
    """Starts the devices, before anything else uses them; with several clients, meets the others.

    The environment variable `DTENSOR_JOBS` lists the clients' addresses; they meet at the first one.
    `DTENSOR_CLIENT_ID` is this client's number. Gloo transports tensors on CPUs, NCCL tensors on GPUs.

    Args:
        device_type: "CPU" or "GPU"; by default "GPU" if there is one.
        enable_coordination_service: accepted, and without effect.
        num_logical_cpu_devices: an int, the number of logical devices to split the CPU into; None keeps their number.
        experimental_reset_context: whether to start anew even if devices were used; their configuration stays. False by
            default.
        experimental_enable_megcore: accepted, and without effect.

    Returns:
        The type of the devices.

    Raises:
        ValueError: this was called before, or devices were used; there is no such type.
        UnavailableError, DeadlineExceededError: the other clients could not be met.

    Example:
        >>> tf.experimental.dtensor.initialize_accelerator_system("CPU")  # doctest: +SKIP
        'CPU'
    """
    if _initialized:
        raise ValueError(
            "Accelerator system has already been initialized. Call "
            "tf.experimental.dtensor.shutdown_accelerator_system() first."
        )
    if machine.initialized and not experimental_reset_context:
        raise ValueError(
            "TensorFlow has already been initialized. tf.experimental.dtensor.initialize_accelerator_system() must be "
            "called before TensorFlow is initialized."
        )
    kind = (device_type or clients.preferred_device_type()).upper()
    if kind not in ("CPU", "GPU", "TPU"):
        raise ValueError(f"Unknown device_type {kind}. Allowed values are CPU, GPU, or TPU")
    if kind == "TPU":
        raise errors.UnimplementedError.of("tf.experimental.dtensor has no TPUs.")
    if num_logical_cpu_devices is not None:
        (cpu,) = [d for d in machine.physical_devices() if d.device_type == "CPU"]
        machine.split[cpu] = [LogicalDeviceConfiguration()] * num_logical_cpu_devices
    if clients.jobs():
        _meet_clients(kind)
    _initialized.append(kind)
    return kind


def _meet_clients(kind: str) -> None:
    """Connects this process to the other clients."""
    import torch.distributed as c10d

    jobs, rank = clients.jobs(), clients.client_id()
    backend = "cpu:gloo,cuda:nccl" if kind == "GPU" else "gloo"
    with reporting(f"the meeting at {jobs[0]}: see that all are started with the same DTENSOR_JOBS"):
        c10d.init_process_group(backend, f"tcp://{jobs[0]}", TIMEOUT, rank=rank, world_size=len(jobs))
    atexit.register(_leave_clients)


def _leave_clients() -> None:
    """Ends the connections while Python can still wait for their threads: later these end the process by an abort."""
    import torch.distributed as c10d

    if c10d.is_initialized():
        c10d.destroy_process_group()


@contextmanager
def reporting(what: str) -> Iterator[None]:
    """Raises TensorFlow's errors in place of errors of `torch.distributed`.

    Args:
        what: the name of the collective for messages.

    Raises:
        UnavailableError: a client is gone.
        DeadlineExceededError: a client did not come in time.
    """
    try:
        yield
    except (RuntimeError, OSError) as error:
        late = "imed out" in str(error) or "timeout" in str(error).lower()
        kind = errors.DeadlineExceededError if late else errors.UnavailableError
        cause = "did not come in time to" if late else "ended, or can't be reached, during"
        raise kind.of(f"Client {clients.client_id()} of {clients.num_clients()}: a client {cause} {what}. ({error})"
                      ) from error  # fmt: skip


def shutdown_accelerator_system() -> None:
    """Undoes `initialize_accelerator_system`.

    Raises:
        ValueError: that was not called, or there are several clients.

    Example:
        >>> tf.experimental.dtensor.shutdown_accelerator_system()
        Traceback (most recent call last):
        ...
        ValueError: Accelerator system is not initialized. Call tf.experimental.dtensor.initialize_accelerator_system...
    """
    if not _initialized:
        raise ValueError(
            "Accelerator system is not initialized. Call tf.experimental.dtensor.initialize_accelerator_system first."
        )
    if clients.jobs():
        raise ValueError("Shutting down accelerator system under multi-client mode is not supported.")
    _initialized.clear()


def create_tpu_mesh(*args: Any, **kwargs: Any) -> Any:
    """Refuses: there are no TPUs.

    Args:
        *args: ignored.
        **kwargs: ignored.

    Returns:
        Nothing.

    Raises:
        UnimplementedError: always.

    Example:
        >>> tf.experimental.dtensor.create_tpu_mesh(["x"], [8], "tpus")
        Traceback (most recent call last):
        ...
        tapeflow.errors.UnimplementedError: tf.experimental.dtensor has no TPUs.
    """
    raise errors.UnimplementedError.of("tf.experimental.dtensor has no TPUs.")


def barrier(mesh: Mesh, barrier_name: str | None = None, timeout_in_ms: int | None = None) -> None:
    """Waits until all clients have come here.

    Args:
        mesh: a `tf.experimental.dtensor.Mesh`.
        barrier_name: a string, a name for logs.
        timeout_in_ms: an int, the longest wait in milliseconds; None for the timeout of collectives.

    Raises:
        UnavailableError, DeadlineExceededError: a client is gone, or did not come in time.

    Example:
        >>> mesh = tf.experimental.dtensor.create_mesh([("x", 1)], devices=["CPU:0"])
        >>> tf.experimental.dtensor.barrier(mesh)
    """
    if not clients.jobs():
        return
    import torch.distributed as c10d

    name = barrier_name or "(barrier)"
    get_logger().info("entering barrier before op: %s", name)
    with reporting(f"the barrier {name}"):
        c10d.monitored_barrier(
            timeout=TIMEOUT if timeout_in_ms is None else datetime.timedelta(milliseconds=timeout_in_ms)
        )
