"""Runs a program in several processes on this machine, as the workers of one job."""

import contextlib
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import tapeflow

PROGRAMS = pathlib.Path(__file__).with_name("worker_programs")
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
    """Returns addresses of ports on loopback that nothing uses."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [f"127.0.0.1:{each.getsockname()[1]}" for each in sockets]


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
