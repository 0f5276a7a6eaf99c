"""`tf.train.ClusterSpec`: the processes of a cluster, by job and task; and the messages for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tensorboard.compat.proto.cluster_pb2 import ClusterDef, JobDef
from tensorboard.compat.proto.config_pb2 import ConfigProto

from tapeflow.core.protos import declare_message

__all__ = ["ClusterDef", "ClusterSpec", "JobDef", "ServerDef"]


ServerDef: Any = declare_message(  # which TensorBoard does not ship
    "ServerDef", cluster=(1, ClusterDef), job_name=(2, str), replica=(8, int), task_index=(3, int),
    default_session_config=(4, ConfigProto), protocol=(5, str), port=(6, int),
)  # fmt: skip
TARGETS_OF_SEVERAL: set[str] = set()  # the targets of this process's servers in clusters of several processes


class ClusterSpec:
    """The network addresses of the tasks of each job.

    Args:
        cluster: a dict from the names of jobs to lists of addresses, or to dicts from the numbers of tasks to
            addresses; a `ClusterDef` message; or a `ClusterSpec`.

    Raises:
        TypeError, ValueError: it is none of these.

    Example:
        >>> cluster = tf.train.ClusterSpec({"worker": ["worker0:2222", "worker1:2222"], "ps": ["ps0:2222"]})
        >>> cluster.task_address("worker", 1)
        'worker1:2222'
        >>> cluster.num_tasks("ps")
        1
    """

    def __init__(self, cluster: Mapping[str, Any] | ClusterDef | ClusterSpec) -> None:
        if isinstance(cluster, ClusterDef):
            cluster = {job.name: dict(job.tasks) for job in cluster.job}
        elif isinstance(cluster, ClusterSpec):
            cluster = cluster.as_dict()
        elif not isinstance(cluster, Mapping):
            raise TypeError(
                "`cluster` must be a dictionary mapping one or more job names to lists of network addresses, or a "
                "`ClusterDef` protocol buffer"
            )
        self._jobs = {_address_text("Job name", job): _task_dict(job, tasks) for job, tasks in cluster.items()}

    def __bool__(self) -> bool:
        return bool(self._jobs)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ClusterSpec) and self._jobs == other._jobs

    def __repr__(self) -> str:
        shown = ", ".join(f"{job!r}: {tasks!r}" for job, tasks in sorted(self.as_dict().items()))
        return f"ClusterSpec({{{shown}}})"

    @property
    def jobs(self) -> list[str]:
        """The names of the jobs."""
        return list(self._jobs)

    def as_dict(self) -> dict[str, Any]:
        """Returns the jobs as a dict.

        Returns:
            From the names of jobs to lists of addresses, or to dicts if numbers are left out or there are none.
        """
        return {
            job: list(tasks.values()) if tasks and list(tasks) == list(range(len(tasks))) else dict(tasks)
            for job, tasks in self._jobs.items()
        }

    def as_cluster_def(self) -> ClusterDef:
        """Returns the jobs as a message.

        Returns:
            A `ClusterDef`.
        """
        return ClusterDef(job=[JobDef(name=job, tasks=tasks) for job, tasks in sorted(self._jobs.items())])

    def _job(self, job_name: str) -> dict[int, str]:
        if job_name not in self._jobs:
            raise ValueError(f"No such job in cluster: {job_name!r}")
        return self._jobs[job_name]

    def num_tasks(self, job_name: str) -> int:
        """Returns the number of tasks of a job.

        Args:
            job_name: the name of the job.

        Returns:
            The number.

        Raises:
            ValueError: there is no such job.
        """
        return len(self._job(job_name))

    def task_indices(self, job_name: str) -> list[int]:
        """Returns the numbers of a job's tasks.

        Args:
            job_name: the name of the job.

        Returns:
            The numbers, in ascending order.

        Raises:
            ValueError: there is no such job.
        """
        return list(self._job(job_name))

    def task_address(self, job_name: str, task_index: int) -> str:
        """Returns the address of a task.

        Args:
            job_name: the name of the job.
            task_index: the number of the task.

        Returns:
            The address.

        Raises:
            ValueError: there is no such job or task.
        """
        tasks = self._job(job_name)
        if task_index not in tasks:
            raise ValueError(f"No task with index {task_index!r} in job {job_name!r}")
        return tasks[task_index]

    def job_tasks(self, job_name: str) -> list[str | None]:
        """Returns the addresses of a job's tasks.

        Args:
            job_name: the name of the job.

        Returns:
            The addresses by number; None for numbers that are left out.

        Raises:
            ValueError: there is no such job.
        """
        tasks = self._job(job_name)
        return [tasks.get(i) for i in range(max(tasks, default=-1) + 1)]


def _address_text(what: str, value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode()
    if not isinstance(value, str):
        raise TypeError(f"{what} {value!r} must be bytes or unicode")
    return value


def _task_dict(job: Any, tasks: Any) -> dict[int, str]:
    if isinstance(tasks, (list, tuple)):
        tasks = dict(enumerate(tasks))
    elif not isinstance(tasks, Mapping):
        raise TypeError(f"The tasks for job {job!r} must be a list or a dictionary from integers to strings.")
    return dict(sorted((int(i), _address_text("Task address", address)) for i, address in tasks.items()))
