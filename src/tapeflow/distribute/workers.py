"""The processes that train together: their rendezvous, and the collectives among them, by `torch.distributed`.

Gloo transports tensors on CPUs, NCCL tensors on GPUs. A collective always ends. If a worker dies or exceeds the
timeout, the other workers get an error. Every later collective of the group then fails with the same error, since the
workers may wait for different collectives. The job is then restarted from its last checkpoint.
"""

from __future__ import annotations

import atexit
import itertools
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as c10d

from tapeflow.core import errors
from tapeflow.core.values.tensor import flat_bytes
from tapeflow.distribute.cluster_resolver.environment import TorchrunClusterResolver
from tapeflow.distribute.cluster_resolver.resolver import ClusterResolver
from tapeflow.transport.calls import is_loopback

TIMEOUT_SECONDS = 600.0
_RESTART = (
    "Look for the first error among the workers' logs, and start all workers again: training goes on from the last "
    "checkpoint (see tf.train.CheckpointManager, tf.keras.callbacks.BackupAndRestore)."
)


class WorkerGroup:
    """The workers of a job, among them this process.

    Args:
        store: the store that all workers reach.
        rank: the number of this worker.
        size: the number of workers.
        host: the name or address of this worker's host, which decides the network interface; None leaves it to Gloo.
        timeout_seconds: the time after which a collective fails.
        bytes_per_pack: the number of bytes that are sent at once; 0 leaves it open.

    Attributes:
        bytes_sent: the number of bytes that this worker passed to reductions.
        collectives: the number of reductions.
    """

    def __init__(
        self, store: Any, rank: int, size: int, host: str | None, timeout_seconds: float, bytes_per_pack: int = 0
    ) -> None:
        self.rank, self.size = rank, size
        self.timeout = timedelta(seconds=timeout_seconds)
        self.bytes_per_pack = bytes_per_pack
        self.bytes_sent = self.collectives = 0
        self._store = store
        self._error: errors.OpError | None = None
        self._under_way: dict[int, tuple[Any, torch.Tensor]] = {}  # by the numbers of reductions
        gloo: Any = c10d.ProcessGroupGloo  # whose stubs lack much
        options = gloo._Options()
        options._timeout = self.timeout
        if host is not None:
            options._devices = [gloo.create_device(hostname=host)]
        with self._reporting("the connection of the workers"):
            self._gloo = gloo(c10d.PrefixStore("gloo", store), rank, size, options)
        self._nccl: Any = None
        self.key = next(_keys)
        groups[self.key] = self

    def backend(self, tensor: torch.Tensor) -> Any:
        """Returns the process group for tensors of this one's device."""
        if not tensor.is_cuda:
            return self._gloo
        if self._nccl is None:
            options: Any = c10d.ProcessGroupNCCL.Options()
            options._timeout = self.timeout
            self._nccl = c10d.ProcessGroupNCCL(c10d.PrefixStore("nccl", self._store), self.rank, self.size, options)
        return self._nccl

    def close(self) -> None:
        """Ends the connections, unless a collective is under way: closing would wait for it."""
        if not self._under_way and self._error is None:
            self._gloo = self._nccl = self._store = None

    @contextmanager
    def _reporting(self, what: str) -> Iterator[None]:
        """Raises TensorFlow's errors in place of errors of `torch.distributed`."""
        if self._error is not None:
            raise type(self._error).of(f"An earlier collective failed: {self._error.message}")
        try:
            yield
        except RuntimeError as error:
            kind = _kind_of(error)
            cause, hint = f"a worker ended, or can't be reached, during {what}", ""
            if kind is errors.DeadlineExceededError:
                cause = f"a worker did not come to {what} within {self.timeout.total_seconds():g} s"
                hint = "CommunicationOptions(timeout_seconds=) sets the time. "
            self._error = kind.of(f"Worker {self.rank} of {self.size}: {cause}. {hint}{_RESTART} ({error})")
            raise self._error from error

    def start(self, values: Sequence[torch.Tensor]) -> int:
        """Starts to sum tensors over the workers, and returns without waiting.

        Args:
            values: tensors of one dtype, of the same shapes in all workers; they may be changed afterwards.

        Returns:
            An int for `finish`, the number of the sums.

        Raises:
            UnavailableError, DeadlineExceededError: a worker is gone.
        """
        with self._reporting("an all-reduce"):
            buffer = torch.cat([v.reshape(-1) for v in values]) if len(values) > 1 else values[0].clone().reshape(-1)
            sent = torch.view_as_real(buffer) if buffer.is_complex() else buffer
            self.bytes_sent += sent.numel() * sent.element_size()
            self.collectives += 1
            self._under_way[self.collectives] = self.backend(sent).allreduce([sent]), buffer
        return self.collectives

    def finish(self, number: int, values: Sequence[torch.Tensor], divisor: int) -> list[torch.Tensor]:
        """Waits for sums, and returns them.

        Args:
            number: an int, the result of `start`.
            values: the arguments of `start`, or tensors of the same shapes.
            divisor: an int, the divisor of the sums; 1 for integers.

        Raises:
            UnavailableError, DeadlineExceededError: a worker is gone, or did not come in time.
        """
        work, buffer = self._under_way.pop(number)
        with self._reporting("an all-reduce"):
            work.wait()
        if divisor != 1:
            buffer.div_(divisor)
        parts = buffer.split([v.numel() for v in values])
        return [part.view(v.shape) for part, v in zip(parts, values, strict=True)]

    def all_gather(self, value: torch.Tensor, axis: int) -> torch.Tensor:
        """Returns the values of all workers concatenated along an axis, along which their sizes may differ.

        Raises:
            UnavailableError, DeadlineExceededError: a worker is gone, or did not come in time.
        """
        value = value.movedim(axis, 0).contiguous()
        with self._reporting("an all-gather"):
            size = torch.tensor([value.shape[0]], device=value.device)
            sizes = [torch.empty_like(size) for _ in range(self.size)]
            self.backend(size).allgather([sizes], [size]).wait()
            counts = [int(s) for s in sizes]
            sent = value.new_zeros([max(counts), *value.shape[1:]])
            sent[: value.shape[0]] = value
            parts = [torch.empty_like(sent) for _ in counts]
            if sent.numel():
                self.backend(sent).allgather([[flat_bytes(p) for p in parts]], [flat_bytes(sent)]).wait()
        return torch.cat([p[:n] for p, n in zip(parts, counts, strict=True)]).movedim(0, axis)

    def broadcast(self, value: torch.Tensor, what: str) -> torch.Tensor:
        """Returns the first worker's value.

        Args:
            value: a tensor; in the first worker the one to send, of the same dtype and shape in all.
            what: describes the tensor in messages.

        Raises:
            InvalidArgumentError: a worker has a tensor of another dtype or shape.
            UnavailableError, DeadlineExceededError: a worker is gone, or did not come in time.
        """
        with self._reporting(f"the broadcast of {what}"):
            description = f"{what}: {value.dtype} {list(value.shape)}".encode()[:256].ljust(256)
            own = torch.frombuffer(bytearray(description), dtype=torch.uint8)
            others = [torch.empty_like(own) for _ in range(self.size)]
            self._gloo.allgather([others], [own]).wait()
        texts = [bytes(t.tolist()).decode(errors="replace").rstrip() for t in others]
        if len(set(texts)) > 1:
            raise errors.InvalidArgumentError.of(
                "The workers do not create the same variables in the same order: "
                + "; ".join(f"worker {i} is at {text}" for i, text in enumerate(texts))
            )
        sent = value.clone(memory_format=torch.contiguous_format)
        if sent.numel():
            with self._reporting(f"the broadcast of {what}"):
                self.backend(sent).broadcast([flat_bytes(sent)]).wait()
        return sent


_keys = itertools.count()
groups: dict[int, WorkerGroup] = {}  # by their keys, which ops have as an attr


@atexit.register
def _close_all() -> None:
    """Ends the connections while Python can still wait for their threads: later these end the process by an abort."""
    for group in groups.values():
        group.close()


def join(resolver: ClusterResolver, timeout_seconds: float | None, bytes_per_pack: int) -> WorkerGroup | None:
    """Meets the other workers of a cluster.

    Args:
        resolver: the resolver of the cluster.
        timeout_seconds: the time to wait for them, and for each other in collectives; by default ten minutes.
        bytes_per_pack: the number of bytes to send at once; 0 leaves it open.

    Returns:
        The group of workers; None where this process is the only one, or an evaluator, which is alone.

    Raises:
        ValueError: the resolver does not say which worker this is, or there is no such worker.
        UnavailableError, DeadlineExceededError: the others could not be met.
    """
    cluster = resolver.cluster_spec()  # first: some resolvers learn here which task this is
    if not cluster:
        return None
    task_type, task_id = resolver.task_type, resolver.task_id
    if task_type is None or task_id is None:
        raise ValueError("When `cluster_spec` is given, you must also specify `task_type` and `task_id`.")
    if task_type not in cluster.jobs or task_id not in cluster.task_indices(task_type):
        raise ValueError(f"The task {task_type}:{task_id} is not in the cluster {cluster}.")
    if task_type == "evaluator":
        return None
    if task_type not in ("chief", "worker"):
        raise ValueError(f"MultiWorkerMirroredStrategy runs chiefs, workers and evaluators, not a task {task_type!r}.")
    tasks = [(job, i) for job in ("chief", "worker") if job in cluster.jobs for i in cluster.task_indices(job)]
    rank, size = tasks.index((task_type, task_id)), len(tasks)
    if size == 1:
        return None
    seconds = TIMEOUT_SECONDS if timeout_seconds is None else timeout_seconds
    first = cluster.task_address(*tasks[0])
    own: str | None = cluster.task_address(task_type, task_id).rpartition(":")[0]
    if isinstance(resolver, TorchrunClusterResolver):
        url, own = "env://", "localhost" if is_loopback(first.rpartition(":")[0]) else None
    else:
        url = f"tcp://{first}"
    try:
        store = next(c10d.rendezvous(url, rank, size, timeout=timedelta(seconds=seconds)))[0]
    except (RuntimeError, OSError) as error:
        raise _kind_of(error).of(
            f"Worker {rank} of {size} could not meet the others at {first} within {seconds:g} s: see that all workers "
            "are started, that TF_CONFIG (or what torchrun was told) lists the same addresses for all, and that "
            f"nothing else uses the first worker's port. ({error})"
        ) from error
    return WorkerGroup(store, rank, size, own, seconds, bytes_per_pack)


def _kind_of(error: Exception) -> type[errors.OpError]:
    """Returns the class of TensorFlow's error for an error of `torch.distributed`."""
    late = "imed out" in str(error) or "timeout" in str(error).lower()
    return errors.DeadlineExceededError if late else errors.UnavailableError
