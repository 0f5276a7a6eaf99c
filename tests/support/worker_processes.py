"""Runs a program in several processes on this machine, as the workers of one job."""

import contextlib
import json
import os
import pathlib
import random
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import tapeflow

PROGRAMS = pathlib.Path(__file__).with_name("worker_programs")
_FIRST_PORT, _SYSTEM_PORTS = 10_000, 32_768
TIMEOUT = 120.0  # seconds; a bound for a machine that is busy, not an expectation


class Ended(NamedTuple):
    """A process that ended.

    Attributes:
        code: its exit status; negative is a signal's number.
        result: what it printed, as JSON; None if it printed nothing.
        errors: the end of what it wrote to the standard error.
    """

    code: int
    result: Any
    errors: str


def free_addresses(count: int) -> list[str]:
    """Returns addresses of ports on loopback that nothing uses.

    The processes bind them a while later. Until then no other process is given one of them: they lie below the ports
    that the system takes for connections and for servers that ask for any.
    """
    with contextlib.ExitStack() as stack:
        ports: list[int] = []
        for port in random.SystemRandom().sample(range(_FIRST_PORT, _ports_of_system()), 100 * count):
            tried = stack.enter_context(socket.socket())
            with contextlib.suppress(OSError):
                tried.bind(("127.0.0.1", port))
                ports.append(port)
            if len(ports) == count:
                return [f"127.0.0.1:{port}" for port in ports]
    raise AssertionError("too few ports are free")


def _ports_of_system() -> int:
    """Returns the first of the ports that the system hands out by itself."""
    path = pathlib.Path("/proc/sys/net/ipv4/ip_local_port_range")
    return int(path.read_text().split()[0]) if path.exists() else _SYSTEM_PORTS


def tf_configs(count: int) -> list[dict[str, str]]:
    """Returns the environment of each worker of a cluster of so many."""
    cluster = {"worker": free_addresses(count)}
    return [
        {"TF_CONFIG": json.dumps({"cluster": cluster, "task": {"type": "worker", "index": i}})} for i in range(count)
    ]


def torchrun_environments(count: int) -> list[dict[str, str]]:
    """Returns what `torchrun` sets for each of so many workers."""
    (address,) = free_addresses(1)
    host, port = address.split(":")
    return [{"RANK": str(i), "WORLD_SIZE": str(count), "MASTER_ADDR": host, "MASTER_PORT": port} for i in range(count)]


def run_workers(program: str, environments: Sequence[Mapping[str, str]], *args: str, servers: int = 0) -> list[Ended]:
    """Runs a program of `worker_programs` once for each environment, all at the same time, until the first ones end.

    A process that stopped itself by SIGSTOP counts as ended when all others have; none is left behind.

    Args:
        program: the name of the program.
        environments: the variables of each process, beside those of this one.
        *args: its arguments.
        servers: the number of processes, the last ones, that do not end by themselves, and are killed after the others.

    Returns:
        The processes that ended by themselves, as they did.
    """
    base = {k: v for k, v in os.environ.items() if k not in ("TF_CONFIG", "RANK", "WORLD_SIZE")}
    base |= {"PYTHONPATH": str(pathlib.Path(tapeflow.__file__).parents[1]), "OMP_NUM_THREADS": "1",
             "PYTHONDONTWRITEBYTECODE": "1", "KERAS_BACKEND": "tensorflow"}  # fmt: skip
    command = [sys.executable, str(PROGRAMS / f"{program}.py"), *args]
    processes = [
        subprocess.Popen(command, env=base | dict(e), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for e in environments
    ]
    try:
        return [_ended(process, processes) for process in processes[: len(processes) - servers]]
    finally:
        for process in processes:
            process.kill()
            process.wait()


def clusters(**counts: int) -> list[dict[str, str]]:
    """Returns the environment of each task of a cluster with so many tasks of each job, job after job."""
    addresses = iter(free_addresses(sum(counts.values())))
    cluster = {job: [next(addresses) for _ in range(count)] for job, count in counts.items()}
    tasks = [{"type": job, "index": i} for job, count in counts.items() for i in range(count)]
    return [{"TF_CONFIG": json.dumps({"cluster": cluster, "task": task})} for task in tasks]


def _ended(process: subprocess.Popen, all_processes: Sequence[subprocess.Popen]) -> Ended:
    output, errors = process.communicate(timeout=TIMEOUT)
    for other in all_processes:  # those that hang on purpose, once one of the others came to its end
        if other.poll() is None and _is_stopped(other.pid):
            other.send_signal(signal.SIGKILL)
    lines = [line for line in output.splitlines() if line.startswith("{")]
    return Ended(process.returncode, json.loads(lines[-1]) if lines else None, errors[-3000:])


def _is_stopped(pid: int) -> bool:
    return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"
