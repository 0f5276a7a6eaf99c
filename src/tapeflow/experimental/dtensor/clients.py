"""The processes (clients) that hold the devices of a mesh, by the environment, and their devices."""

from __future__ import annotations

import os

from tapeflow.core.device import machine
from tapeflow.core.device_spec import DeviceSpec


def local_devices(device_type: str, for_client_id: int | None = None) -> list[DeviceSpec]:
    """Returns the devices of a client.

    Args:
        device_type: "CPU", "GPU" or "TPU".
        for_client_id: the client; by default this process.

    Returns:
        A `tf.DeviceSpec` for each.

    Raises:
        ValueError: there is no such type.

    Example:
        >>> tf.experimental.dtensor.local_devices("CPU")[0].device_type
        'CPU'
    """
    if device_type.upper() not in ("CPU", "GPU", "TPU"):
        raise ValueError(f"Device type {device_type} is not CPU, GPU, or TPU.")
    task = client_id() if for_client_id is None else for_client_id
    return [DeviceSpec(job_name(), 0, task, device_type, i) for i in range(num_local_devices(device_type))]


def num_local_devices(device_type: str) -> int:
    """Returns the number of devices of this client.

    Args:
        device_type: "CPU", "GPU" or "TPU".

    Returns:
        An int.

    Example:
        >>> tf.experimental.dtensor.num_local_devices("TPU")
        0
    """
    return sum(device.kind == device_type.upper() for device in machine.logical_devices())


def num_global_devices(device_type: str) -> int:
    """Returns the number of devices of all clients, which have equally many.

    Args:
        device_type: "CPU", "GPU" or "TPU".

    Returns:
        An int.

    Example:
        >>> tf.experimental.dtensor.num_global_devices("TPU")
        0
    """
    return num_local_devices(device_type) * num_clients()


def client_id() -> int:
    """Returns the number of this client, which `DTENSOR_CLIENT_ID` says.

    Returns:
        An int.

    Raises:
        ValueError: there is no such client.

    Example:
        >>> tf.experimental.dtensor.client_id()
        0
    """
    number = int(os.environ.get("DTENSOR_CLIENT_ID", "0"))
    if number < 0:
        raise ValueError(f"Environment variable DTENSOR_CLIENT_ID must be >= 0, got {number}. ")
    if number >= num_clients():
        raise ValueError(f"Environment variable DTENSOR_CLIENT_ID must be < {num_clients()}, got {number}")
    return number


def num_clients() -> int:
    """Returns the number of clients.

    Returns:
        An int.

    Example:
        >>> tf.experimental.dtensor.num_clients()
        1
    """
    return len(jobs()) or 1


def job_name() -> str:
    """Returns the name of the clients' job, by `DTENSOR_JOB_NAME`.

    Returns:
        The name.

    Example:
        >>> tf.experimental.dtensor.job_name()
        'localhost'
    """
    return os.environ.get("DTENSOR_JOB_NAME", "localhost" if num_clients() == 1 else "worker")


def full_job_name(task_id: int | None = None) -> str:
    """Returns the name of a client's task.

    Args:
        task_id: the client; by default this process.

    Returns:
        The name, such as `worker/replica:0/task:1`.

    Raises:
        ValueError: this process is the only client, and another one is meant.

    Example:
        >>> tf.experimental.dtensor.full_job_name()
        'localhost/replica:0/task:0'
    """
    if task_id is None:
        task_id = client_id()
    if num_clients() == 1 and task_id != 0:
        raise ValueError(f"Unexpected task ID {task_id} in local runs")
    return f"{job_name()}/replica:0/task:{task_id}"


def jobs() -> list[str]:
    """Returns the addresses of the clients, which `DTENSOR_JOBS` lists with commas; none for a single process.

    Returns:
        A list of addresses.

    Example:
        >>> tf.experimental.dtensor.jobs()
        []
    """
    listed = os.environ.get("DTENSOR_JOBS")
    return [] if listed is None else listed.split(",")


def heartbeat_enabled() -> bool:
    """Returns True if the environment asks for heartbeats, which have no effect here: collectives time out.

    Returns:
        A bool.

    Example:
        >>> tf.experimental.dtensor.heartbeat_enabled()
        True
    """
    return os.environ.get("DTENSOR_ENABLE_HEARTBEAT", "true").lower() in ("true", "1")


def preferred_device_type() -> str:
    """Returns "GPU" where there is one, else "CPU".

    Returns:
        The type.

    Example:
        >>> tf.experimental.dtensor.preferred_device_type() in ("CPU", "GPU")
        True
    """
    return "GPU" if any(d.device_type == "GPU" for d in machine.physical_devices()) else "CPU"
