"""Clusters that the workload manager Slurm started, described by its environment variables."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping

import torch

from tapeflow.distribute.cluster_resolver.resolver import AddressResolver
from tapeflow.train.cluster import ClusterSpec


def _slurm_variable(name: str) -> str:
    name = f"SLURM_{name}"
    if name not in os.environ:
        raise RuntimeError(f"{name} not found in environment. Not running inside a SLURM step?")
    return os.environ[name]


def expand_hosts(text: str) -> list[str]:
    """Returns the hosts of Slurm's compressed list: `n[1-2],m5` is `n1`, `n2`, `m5`.

    Raises:
        ValueError: it is no such list.
    """
    if not re.fullmatch(r"[^,\[\]]*(\[[^\[\]]+\])?(,[^,\[\]]+(\[[^\[\]]+\])?|,\[[^\[\]]+\])*", text):
        raise ValueError(f'Invalid hostlist format "{text}"')
    return [host for prefix, _, numbers in re.findall(r"([^,\[\]]*)(\[([^\]]+)\])?(?:,|$)", text)
            if prefix or numbers for host in _number_hosts(text, prefix, numbers)]  # fmt: skip


def _number_hosts(text: str, prefix: str, numbers: str) -> Iterator[str]:
    if not numbers:
        yield prefix
        return
    for part in numbers.split(","):
        match = re.fullmatch(r"(\d+)(?:-(\d+))?", part)
        if match is None:
            raise ValueError(f'Invalid hostlist format "{text}": {part!r} is no range of numbers')
        first, last = match[1], match[2] or match[1]
        yield from (f"{prefix}{str(i).zfill(len(first))}" for i in range(int(first), int(last) + 1))


def expand_tasks(text: str) -> list[int]:
    """Returns the numbers of Slurm's compressed list: `3(x2),2,1` is 3, 3, 2, 1.

    Raises:
        ValueError: it is no such list.
    """
    numbers: list[int] = []
    for part in text.split(","):
        match = re.fullmatch(r"(\d+)(?:\(x(\d+)\))?", part)
        if match is None:
            raise ValueError(f'Invalid tasks-per-node list format "{text}": {part!r}')
        numbers += [int(match[1])] * int(match[2] or 1)
    return numbers


def _number_of_gpus() -> int:
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    return torch.cuda.device_count() if visible is None else len([d for d in visible.split(",") if d])


class SlurmClusterResolver(AddressResolver):
    """Resolves the processes of a Slurm step by `SLURM_PROCID`, `SLURM_STEP_NODELIST` and the like.

    Args:
        jobs: a dict from the names of jobs to the number of tasks; by default all tasks are workers.
        port_base: the port of the first process on each host; the next one has the next port.
        gpus_per_node: the number of GPUs of a host; by default the number on this host.
        gpus_per_task: the number of GPUs of a process; by default equal parts.
        tasks_per_node: the number of processes on each host, or a dict of them by host; by default Slurm's own numbers.
        auto_set_gpu: whether `cluster_spec` sets CUDA_VISIBLE_DEVICES to this process's GPUs, if it has any.
        rpc_layer: the protocol between the processes.

    Raises:
        RuntimeError: a variable is missing, or there are not as many processes or GPUs as asked for.

    Example:
        >>> import os
        >>> os.environ["SLURM_PROCID"] = "1"
        >>> resolver = tf.distribute.cluster_resolver.SlurmClusterResolver(
        ...     {"worker": 2}, tasks_per_node={"host0": 1, "host1": 1}, gpus_per_node=0, gpus_per_task=0
        ... )
        >>> resolver.cluster_spec()
        ClusterSpec({'worker': ['host0:8888', 'host1:8888']})
        >>> resolver.get_task_info()
        ('worker', 1)
        >>> del os.environ["SLURM_PROCID"]
    """

    def __init__(
        self,
        jobs: Mapping[str, int] | None = None,
        port_base: int = 8888,
        gpus_per_node: int | None = None,
        gpus_per_task: int | None = None,
        tasks_per_node: int | Mapping[str, int] | None = None,
        auto_set_gpu: bool = True,
        rpc_layer: str = "grpc",
    ) -> None:
        self._rank = int(_slurm_variable("PROCID"))
        self._jobs = dict(jobs) if jobs is not None else {"worker": int(_slurm_variable("STEP_NUM_TASKS"))}
        self._port_base, self._auto_set_gpu, self._rpc_layer = port_base, auto_set_gpu, rpc_layer
        if isinstance(tasks_per_node, Mapping):
            self._tasks = dict(tasks_per_node)
        else:
            hosts = expand_hosts(_slurm_variable("STEP_NODELIST"))
            if tasks_per_node is None:
                counts = expand_tasks(_slurm_variable("STEP_TASKS_PER_NODE"))
            else:
                counts = [tasks_per_node] * len(hosts)
            self._tasks = dict(zip(hosts, counts, strict=False))
        most = max(self._tasks.values())
        self._gpus_per_node = _number_of_gpus() if gpus_per_node is None else gpus_per_node
        self._gpus_per_task = self._gpus_per_node // most if gpus_per_task is None else gpus_per_task
        if most * self._gpus_per_task > self._gpus_per_node:
            raise RuntimeError("Requested more GPUs per node than available.")
        requested, assigned = sum(self._jobs.values()), sum(self._tasks.values())
        if requested != assigned:
            raise RuntimeError(f"Requested {requested} tasks but only {assigned} were assigned.")

    def cluster_spec(self) -> ClusterSpec:
        """Returns the addresses of all tasks; jobs and hosts in the order of their names."""
        places = [(host, i) for host, count in sorted(self._tasks.items()) for i in range(count)]
        addresses = [f"{host}:{self._port_base + i}" for host, i in places]
        jobs: dict[str, list[str]] = {}
        start = 0
        for job, count in sorted(self._jobs.items()):
            jobs[job] = addresses[start : start + count]
            if start <= self._rank < start + count:
                self._task_type, self._task_id = job, self._rank - start
            start += count
        if self._auto_set_gpu and self._gpus_per_task:
            first = places[self._rank][1] * self._gpus_per_task
            os.environ["CUDA_VISIBLE_DEVICES"] = ",".join(map(str, range(first, first + self._gpus_per_task)))
        return ClusterSpec(jobs)

    def get_task_info(self) -> tuple[str | None, int | None]:
        """Returns the job of this process and its number in it; None before `cluster_spec` was called."""
        return self.task_type, self.task_id

    def num_accelerators(
        self, task_type: str | None = None, task_id: int | None = None, config_proto: object = None
    ) -> dict[str, int]:
        return {"GPU": self._gpus_per_task}
