"""The configurations of the data service's servers, and the options of its datasets."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import NamedTuple


class ShardingPolicy(enum.IntEnum):
    """The ways to divide a dataset among the workers of the data service.

    OFF: each worker produces all elements. DYNAMIC: the dispatcher hands the elements of the sources (file names, rows,
    numbers) to the workers that ask for them, and hands out each once. FILE: each worker reads files of its
    own. DATA: each takes every n-th element. FILE_OR_DATA: by files where there are some, else by elements. HINT: each
    takes its shard where the program wrote `shard(SHARD_HINT, SHARD_HINT)`. The last four need
    `DispatcherConfig(worker_addresses=...)`.

    Example:
        >>> tf.data.experimental.service.ShardingPolicy.DYNAMIC.value
        1
    """

    OFF = 0
    DYNAMIC = 1
    FILE = 2
    DATA = 3
    FILE_OR_DATA = 4
    HINT = 5


class CrossTrainerCache:
    """Lets trainers that run at the same time share the elements of a job: each trainer gets all that workers produce.

    Args:
        trainer_id: the trainer's name.

    Raises:
        ValueError: the name is empty.

    Example:
        >>> tf.data.experimental.service.CrossTrainerCache("first").trainer_id
        'first'
    """

    def __init__(self, trainer_id: str) -> None:
        if not trainer_id:
            raise ValueError("tf.data service cross-trainer cache requires a non-empty trainer ID.")
        self.trainer_id = trainer_id


def _as_milliseconds(value: int | None) -> int:
    """Returns a time for a field of TensorFlow's servers, whose 0 stands for the default."""
    return 1 if value == 0 else value or 0


class _DispatcherFields(NamedTuple):
    port: int
    protocol: str
    work_dir: str | None
    fault_tolerant_mode: bool
    worker_addresses: Sequence[str] | None
    job_gc_check_interval_ms: int
    job_gc_timeout_ms: int
    worker_timeout_ms: int | None
    worker_max_concurrent_snapshots: int


class DispatcherConfig(_DispatcherFields):
    """The configuration of a `DispatchServer`.

    Args:
        port: the port; 0 for a free one, which only this machine reaches.
        protocol: "grpc".
        work_dir: the folder of the journal.
        fault_tolerant_mode: whether the state is written to a journal, so that a dispatcher that is started again goes
            on.
        worker_addresses: the workers, for static sharding, as "host" or "host:port"; "%port%" stands for any port.
        job_gc_check_interval_ms: accepted, and without effect: jobs are looked at whenever somebody calls.
        job_gc_timeout_ms: the time after which a job that nobody reads is forgotten; -1 for never.
        worker_timeout_ms: the time after which a worker that does not call is gone.
        worker_max_concurrent_snapshots: accepted, and without effect.

    Example:
        >>> tf.data.experimental.service.DispatcherConfig(port=5050).protocol
        'grpc'
    """

    __slots__ = ()

    def __new__(
        cls, port: int = 0, protocol: str | None = None, work_dir: str | None = None, fault_tolerant_mode: bool = False,
        worker_addresses: Sequence[str] | None = None, job_gc_check_interval_ms: int | None = None,
        job_gc_timeout_ms: int | None = None, worker_timeout_ms: int | None = None,
        worker_max_concurrent_snapshots: int = 0,
    ) -> DispatcherConfig:  # fmt: skip
        return super().__new__(
            cls, port, "grpc" if protocol is None else protocol, work_dir, fault_tolerant_mode, worker_addresses,
            _as_milliseconds(job_gc_check_interval_ms), _as_milliseconds(job_gc_timeout_ms), worker_timeout_ms,
            worker_max_concurrent_snapshots,
        )  # fmt: skip

    def __repr__(self) -> str:
        return _show_config(self)


class _WorkerFields(NamedTuple):
    dispatcher_address: str
    worker_address: str
    port: int
    protocol: str
    heartbeat_interval_ms: int
    dispatcher_timeout_ms: int
    data_transfer_protocol: str | None
    data_transfer_address: str


class WorkerConfig(_WorkerFields):
    """The configuration of a `WorkerServer`.

    Args:
        dispatcher_address: the dispatcher's address.
        worker_address: the worker's address for others; "%port%" stands for its port.
        port: the port; 0 for a free one.
        protocol: "grpc".
        heartbeat_interval_ms: how long a call to the dispatcher waits for news.
        dispatcher_timeout_ms: how long to try to reach the dispatcher; an hour by default.
        data_transfer_protocol, data_transfer_address: accepted, and without effect: elements take the same way.

    Example:
        >>> tf.data.experimental.service.WorkerConfig("localhost:5050").worker_address
        'localhost:%port%'
    """

    __slots__ = ()

    def __new__(
        cls, dispatcher_address: str, worker_address: str | None = None, port: int = 0, protocol: str | None = None,
        heartbeat_interval_ms: int | None = None, dispatcher_timeout_ms: int | None = None,
        data_transfer_protocol: str | None = None, data_transfer_address: str | None = None,
    ) -> WorkerConfig:  # fmt: skip
        return super().__new__(
            cls, dispatcher_address, "localhost:%port%" if worker_address is None else worker_address, port,
            "grpc" if protocol is None else protocol, _as_milliseconds(heartbeat_interval_ms),
            _as_milliseconds(dispatcher_timeout_ms), data_transfer_protocol,
            "localhost:%dts_port%" if data_transfer_address is None else data_transfer_address,
        )  # fmt: skip

    def __repr__(self) -> str:
        return _show_config(self)


def _show_config(config: NamedTuple) -> str:
    fields = ", ".join(f"{name}={value!r}" for name, value in config._asdict().items())
    return f"{type(config).__name__}({fields})"
