"""The dispatcher of the data service: it tells workers what to compute, and consumers where to read.

Workers and consumers call it. It calls a worker only when a consumer reports the worker as unreachable. A call of
`worker_news` or `client_news` waits until there is news.
"""

from __future__ import annotations

import time
import weakref
from contextlib import closing, suppress
from typing import Any, NamedTuple

from tapeflow.core.errors import InvalidArgumentError, NotFoundError, OpError
from tapeflow.core.fork_locks import new_condition
from tapeflow.core.types.spec_proto import to_proto
from tapeflow.data.experimental.service.config import DispatcherConfig, ShardingPolicy
from tapeflow.data.experimental.service.state import Entry, Iteration, Job, Journal, State, Task
from tapeflow.data.node import INFINITE
from tapeflow.transport.calls import Client, Endpoint, from_bytes, to_bytes

_METHODS = (
    "register_dataset", "metadata", "definition", "open", "client_news", "ended", "release", "worker_news", "splits",
)  # fmt: skip
_MOST_CALLS = 4096  # that wait for news at the same time
_WORKER_SECONDS, _CLIENT_SECONDS, _JOB_SECONDS = 20.0, 60.0, 300.0
_PING_SECONDS = 5.0
_STATIC = (ShardingPolicy.FILE, ShardingPolicy.DATA, ShardingPolicy.FILE_OR_DATA, ShardingPolicy.HINT)


class _Worker:
    """A worker that has called.

    Attributes:
        process: the name of its process.
        seen: when it called last.
    """

    def __init__(self, process: str) -> None:
        self.process = process
        self.seen = time.monotonic()


class _Registered(NamedTuple):
    """A dataset: its message, and its properties for consumers and the dispatcher."""

    message: Any
    spec: Any
    cardinality: int
    sizes: list[int]
    compression: str | None


class Dispatcher:
    """The methods that workers and consumers call.

    Args:
        config: the configuration.

    Raises:
        UnknownError: another process uses the port.
        DataLossError: the journal is damaged.
    """

    def __init__(self, config: DispatcherConfig) -> None:
        self._config = config
        self._worker_seconds = (config.worker_timeout_ms or 0) / 1000 or _WORKER_SECONDS
        self._changed = new_condition()
        self._version = 0
        self._stopped = False
        self._state = State()
        self._datasets: dict[str, _Registered] = {}
        self._workers: dict[str, _Worker] = {}
        self._seen: dict[str, float] = {}  # when a consumer called last
        self._unread: dict[int, float] = {}  # since when nobody reads an iteration
        self._journal = Journal(str(config.work_dir)) if config.fault_tolerant_mode else None
        if self._journal is not None:
            self._replay(self._journal)
        # A free port is for this machine; a port that was agreed on is for other hosts too.
        host = "localhost" if config.port == 0 else "0.0.0.0"
        methods = {method: getattr(self, method) for method in _METHODS}
        self.endpoint = Endpoint(f"{host}:{config.port}", methods, _MOST_CALLS)

    def _replay(self, journal: Journal) -> None:
        for entry in journal.read():
            self._state.apply(entry)
        journal.replace(self._state.entry())
        for id in self._state.datasets:
            self._datasets[id] = _Registered(*from_bytes(journal.dataset(id)))
        now = time.monotonic()
        self._seen = dict.fromkeys(self._state.clients, now)
        tasks = [t for i in self._state.iterations.values() for t in i.tasks.values() if not t.dead]
        self._workers = {t.address: _Worker(t.process) for t in tasks}  # they have some time to call

    def _change(self, change: str, **fields: Any) -> None:
        """Changes the state, and writes that down first."""
        entry: Entry = {"change": change, **fields}
        if self._journal is not None:
            self._journal.write(entry)
        self._state.apply(entry)
        if change != "splits":  # which nobody waits for
            self._version += 1
            self._changed.notify_all()

    def stop(self) -> None:
        """Ends the answers."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()
        self.endpoint.end()

    @property
    def worker_count(self) -> int:
        """The number of workers."""
        with self._changed:
            return len(self._workers)

    # ---- datasets ----------------------------------------------------------------------------------------------------

    def register_dataset(
        self, message: str, spec: Any, cardinality: int, sizes: list[int], compression: str | None, id: str | None
    ) -> str:
        """Takes in a dataset; returns its id.

        Raises:
            InvalidArgumentError: a dataset with another spec has the id.
        """
        with self._changed:
            number = self._state.last + (id is None)
            id = str(number) if id is None else id
            before = self._datasets.get(id)
            if before is not None:
                if to_proto(before.spec) != to_proto(spec):
                    raise InvalidArgumentError.of(
                        "Failed to register dataset: Datasets with the same ID should have the same structure, got "
                        f"diff for dataset ID {id} with different element_spec: {before.spec} -> {spec}. To fix this "
                        "error, make sure you're registering the same dataset with the same ID."
                    )
                return id
            registered = _Registered(message, spec, cardinality, sizes, compression)
            if self._journal is not None:
                self._journal.add_dataset(id, to_bytes(list(registered)))
            self._datasets[id] = registered
            self._change("dataset", id=id, number=number)
            return id

    def metadata(self, id: str) -> Any:
        """Returns the spec of a dataset's elements, and their number; None for an unknown id."""
        with self._changed:
            registered = self._datasets.get(id)
        return None if registered is None else [registered.spec, registered.cardinality]

    def definition(self, id: str) -> Any:
        """Returns a dataset's message, the number of its elements, and the compression."""
        registered = self._datasets[id]
        return [registered.message, registered.cardinality, registered.compression]

    # ---- consumers ---------------------------------------------------------------------------------------------------

    def open(
        self, client: str, id: str, policy: int, job_name: str, consumers: int | None, cached: bool, repetition: int
    ) -> None:
        """Begins to read, for a consumer, one repetition of a job, which is created if there is none.

        Raises:
            InvalidArgumentError: the job has another sharding policy, or can't be cached.
            NotFoundError: the dataset is not registered, or can't be sharded among these workers.
        """
        with self._changed:
            if client in self._state.clients:
                return  # the answer to an earlier call was lost
            if id not in self._datasets:
                raise not_registered(id)
            wanted = Job(job_name or client, id, policy, consumers, cached)
            job = self._job(wanted)
            iterations = self._state.iterations.values()
            iteration = next((i for i in iterations if i.job is job and i.repetition == repetition), None)
            if iteration is None:
                iteration = self._begin(job, repetition)
            self._seen[client] = time.monotonic()
            self._unread.pop(iteration.id, None)
            self._change("client", id=client, iteration=iteration.id)

    def _job(self, wanted: Job) -> Job:
        job = self._state.jobs.get(wanted.name)
        if job is None:
            self._check_cached(wanted)
            self._change("job", **vars(wanted))
            return self._state.jobs[wanted.name]
        if (job.policy, job.consumers, job.cached) != (wanted.policy, wanted.consumers, wanted.cached):
            old, new = [(ShardingPolicy(j.policy).name, j.consumers, j.cached) for j in (job, wanted)]
            raise InvalidArgumentError.of(
                f"Failed to get or create job for dataset with id {wanted.dataset}: Tried to create job with name "
                f"{job.name}, but found an existing job with different parameters: Existing processing mode: "
                f"{old[0]}; got {new[0]}. Existing number of consumers: {old[1]}; got {new[1]}. Existing cross-trainer "
                f"caching: {old[2]}; got {new[2]}."
            )
        return job

    def _check_cached(self, job: Job) -> None:
        cardinality = self._datasets[job.dataset].cardinality
        if job.cached and cardinality != INFINITE:
            raise InvalidArgumentError.of(
                f"Cross-trainer caching requires the input dataset to be infinite. Got input with cardinality "
                f"{cardinality}"
            )

    def _begin(self, job: Job, repetition: int) -> Iteration:
        if job.policy in _STATIC:
            for address in self._workers:
                self._index(address)
        number = self._state.last + 1
        sizes = self._datasets[job.dataset].sizes if job.policy == ShardingPolicy.DYNAMIC else []
        self._change("iteration", id=number, job=job.name, repetition=repetition, sizes=sizes)
        iteration = self._state.iterations[number]
        for address in self._workers:
            self._add_task(iteration, address)
        return iteration

    def client_news(self, client: str, version: int, consumed: list[Any], unreachable: list[int], wait: float) -> Any:
        """Returns the tasks of a consumer's iteration, after a change or some time.

        Args:
            client: the consumer.
            version: the version that it has.
            consumed: for tasks, how many splits are part of elements that it has got.
            unreachable: tasks whose workers it can't reach.
            wait: the most seconds to wait.

        Returns:
            The version, whether all is read, and the tasks: their number, worker's address, and whether the worker is
            gone or everything is read.

        Raises:
            NotFoundError: nobody knows the consumer.
        """
        addresses = {t.address for n in unreachable if (t := self._state.task(n)) is not None and not t.dead}
        gone = [(a, w.process) for a in addresses if (w := self._workers.get(a)) and not _process_answers(a, w.process)]
        with self._changed:
            for address, process in gone:
                self._lose(address, process)
            iteration = self._iteration_of(client)
            self._seen[client] = time.monotonic()
            silent = any(client in t.silent for t in iteration.tasks.values())
            if silent:
                self._change("report", client=client, consumed=consumed)
            else:  # of use when a worker dies, and then it is reported again
                self._state.apply({"change": "report", "client": client, "consumed": consumed})
            self._tend()
            self._wait(version, wait)
            iteration = self._iteration_of(client)
            tasks = iteration.slots() if iteration.job.consumers else list(iteration.tasks.values())
            return [self._version, iteration.finished, [[t.id, t.address, t.dead, t.ended] for t in tasks]]

    def ended(self, client: str, task: int) -> None:
        """Notes that a consumer has got all elements of a task."""
        with self._changed:
            reported = self._state.task(task)
            if reported is not None and not reported.ended and not reported.dead:
                self._change("ended", task=task)
                self._tend()

    def release(self, client: str, consumed: list[Any]) -> None:
        """Ends the reading of a consumer."""
        with self._changed:
            self._seen.pop(client, None)
            number = self._state.clients.get(client)
            if number is None:
                return
            self._change("release", client=client, consumed=consumed)
            iteration = self._state.iterations[number]
            if iteration.job.name == client:
                self._change("forgotten", iteration=number)
            elif not iteration.clients:
                self._unread[number] = time.monotonic()

    def _iteration_of(self, client: str) -> Iteration:
        number = self._state.clients.get(client)
        if number is None or number not in self._state.iterations:
            raise NotFoundError.of("The dispatcher does not know this reader: it was started again without its journal")
        return self._state.iterations[number]

    # ---- workers -----------------------------------------------------------------------------------------------------

    def worker_news(self, address: str, process: str, version: int, tasks: list[int], wait: float) -> Any:
        """Returns the tasks of a worker, after a change or some time.

        Args:
            address: the worker's address.
            process: the name of its process.
            version: the version that it has.
            tasks: the numbers of the tasks that it has.
            wait: the most seconds to wait.

        Returns:
            The version, new tasks (their number, dataset, sharding policy, the worker's number among those of static
            sharding and how many these are, consumers, whether trainers share the elements, and the splits that are
            fixed), and the numbers of tasks that are over.
        """
        with self._changed:
            worker = self._workers.get(address)
            if worker is not None and worker.process != process:
                self._lose(address, worker.process)
                worker = None
            if worker is None:
                worker = self._workers[address] = _Worker(process)
                for iteration in list(self._state.iterations.values()):
                    if not iteration.finished and not any(t.process == process for t in iteration.tasks.values()):
                        self._add_task(iteration, address)
            worker.seen = time.monotonic()
            self._tend()
            self._wait(version, min(wait, self._worker_seconds / 3))
            worker.seen = time.monotonic()
            own = {
                t.id: (i, t) for i in self._state.iterations.values() if not i.finished
                for t in i.tasks.values() if t.process == process and not t.dead
            }  # fmt: skip
            new = [self._definition_of(*own[n]) for n in own if n not in tasks]
            return [self._version, new, [n for n in tasks if n not in own]]

    def splits(self, task: int, source: int, repetition: int, count: int) -> list[int]:
        """Returns the next splits for a task; none at the end.

        Args:
            task: its number.
            source: the source of the dataset.
            repetition: how often the task has begun the source anew.
            count: how many splits of the source it has.

        Raises:
            NotFoundError: the task is over.
        """
        with self._changed:
            holder = self._state.task(task)
            if holder is None or holder.dead or holder.fixed:
                raise NotFoundError.of(f"Task {task} is over.")
            handed = holder.splits[source]
            if count < len(handed):  # the answer to an earlier call was lost
                return handed[count:]
            cursor = self._state.iterations[holder.iteration].sources[source]
            numbers = cursor.next(repetition, max(len(self._workers), 1))
            if numbers or repetition > cursor.repetition:
                self._change("splits", task=task, source=source, repetition=repetition,
                             start=numbers.start, stop=numbers.stop)  # fmt: skip
            return list(numbers)

    def _definition_of(self, iteration: Iteration, task: Task) -> list[Any]:
        job = iteration.job
        index = self._index(task.address) if job.policy in _STATIC else 0
        fixed = task.splits if task.fixed else None
        workers = len(self._config.worker_addresses or ())
        return [task.id, job.dataset, job.policy, index, workers, job.consumers, job.cached, fixed]

    def _index(self, address: str) -> int:
        """Returns the number of a worker in the list of workers.

        Raises:
            NotFoundError: it is not in there.
        """
        entries = list(self._config.worker_addresses or ())
        left = dict(enumerate(entries))
        # Those that are named have the first choice.
        for other in sorted(self._workers, key=lambda a: a not in entries):
            for number, entry in left.items():
                host, _, port = entry.rpartition(":") if ":" in entry else (entry, "", "%port%")
                if other == entry or (port in ("%port%", "%dts_port%") and other.rpartition(":")[0] == host):
                    if other == address:
                        return number
                    del left[number]
                    break
        raise NotFoundError.of(
            f"Failed to shard dataset in tf.data service: Worker {address} is not in the workers list. Got workers "
            f"list {','.join(entries)}."
        )

    def _add_task(self, iteration: Iteration, address: str, fixed: bool = False) -> None:
        job, slot = iteration.job, len(iteration.tasks)
        if job.consumers is not None and iteration.tasks and iteration.clients:
            # Consumers agree on the tasks of the beginning. A task that is gone may come back.
            places = [t.slot for t in iteration.slots() if t.dead and t.address == address]
            if not places:
                return
            slot = places[0]
        if job.policy in _STATIC:
            try:
                self._index(address)
            except NotFoundError:
                return  # a worker that came later, and belongs to others
        fields = {"id": self._state.last + 1, "process": self._workers[address].process, "fixed": fixed}
        self._change("task", iteration=iteration.id, address=address, slot=slot, **fields)

    # ---- timeouts and lost workers -----------------------------------------------------------------------------------

    def _wait(self, version: int, seconds: float) -> None:
        self._changed.wait_for(lambda: self._stopped or self._version != version, seconds)

    def _lose(self, address: str, process: str) -> None:
        """Gives up a worker: consumers have to report the elements that they got of its tasks."""
        if self._workers.get(address) is None or self._workers[address].process != process:
            return
        del self._workers[address]
        for iteration in self._state.iterations.values():
            for task in iteration.tasks.values():
                if task.process == process and not (task.ended or task.dead or iteration.finished):
                    self._change("dead", task=task.id)

    def _tend(self) -> None:
        """Gives up silent workers and consumers, and moves their work to others."""
        now = time.monotonic()
        for address, worker in list(self._workers.items()):
            if now - worker.seen > self._worker_seconds:
                self._lose(address, worker.process)
        for client, seen in list(self._seen.items()):
            if now - seen > _CLIENT_SECONDS:
                self.release(client, [])
        unused = self._config.job_gc_timeout_ms
        limit = _JOB_SECONDS if unused == 0 else unused / 1000
        for number, since in list(self._unread.items()):
            iteration = self._state.iterations[number]
            if limit >= 0 and now - since > limit and not iteration.finished:
                del self._unread[number]
                self._change("forgotten", iteration=number)
        for iteration in list(self._state.iterations.values()):
            if not iteration.finished:
                self._recover(iteration)

    def _recover(self, iteration: Iteration) -> None:
        coordinated = iteration.job.consumers is not None  # there a dead task keeps its place
        for task in list(iteration.tasks.values()):
            if task.dead and not task.silent and not coordinated:
                self._change("lost", task=task.id)
        while iteration.lost and self._workers:
            busy = {a: sum(t.address == a and not t.ended for t in iteration.tasks.values()) for a in self._workers}
            self._add_task(iteration, min(busy, key=lambda a: busy[a]), fixed=True)
        tasks = list(iteration.tasks.values())
        if tasks and not iteration.lost and all(t.ended for t in tasks) and not all(t.fixed for t in tasks):
            self._change("finished", iteration=iteration.id)


def not_registered(id: str) -> NotFoundError:
    """Returns the error for the id of no dataset."""
    return NotFoundError.of(
        f"Dataset id {id} not found. It must be registered with `register_dataset` before calling `from_dataset_id`."
    )


def _process_answers(address: str, process: str) -> bool:
    """Returns whether a worker's process answers."""
    with closing(Client(address, "The worker")) as worker, suppress(OpError):
        return worker.call("ping", timeout=_PING_SECONDS) == process
    return False


class DispatchServer:
    """The dispatcher of a data service, which runs in threads of this process.

    Args:
        config: a `tf.data.experimental.service.DispatcherConfig`.
        start: whether it starts at once.

    Raises:
        ValueError: it is to be fault-tolerant, and has no work folder.
        UnknownError: another process uses the port.

    Example:
        >>> dispatcher = tf.data.experimental.service.DispatchServer()
        >>> worker = tf.data.experimental.service.WorkerServer(
        ...     tf.data.experimental.service.WorkerConfig(dispatcher.target.split("://")[1]))
        >>> service = tf.data.experimental.service.distribute("parallel_epochs", dispatcher.target)
        >>> [x.item() for x in tf.data.Dataset.range(3).apply(service).as_numpy_iterator()]
        [0, 1, 2]
        >>> worker.stop(), dispatcher.stop()
        (None, None)
    """

    def __init__(self, config: DispatcherConfig | None = None, start: bool = True) -> None:
        config = config or DispatcherConfig()
        if config.fault_tolerant_mode and not config.work_dir:
            raise ValueError(
                "Cannot enable fault tolerant mode without configuring a work dir. Make sure to set `work_dir` in the "
                "`config` object passed to `DispatcherServer`."
            )
        self._config = config
        self._dispatcher = Dispatcher(config)
        self._stop_once = weakref.finalize(self, self._dispatcher.stop)
        self._started = False
        if start:
            self.start()

    def start(self) -> None:
        """Begins to answer."""
        self._started = True
        self._dispatcher.endpoint.start()

    def join(self) -> None:
        """Waits until the server has stopped."""
        self._dispatcher.endpoint.wait()

    def stop(self) -> None:
        """Stops the server."""
        self._stop_once()

    @property
    def target(self) -> str:
        """The address with its protocol, which `distribute` takes."""
        return f"{self._config.protocol}://{self._address}"

    @property
    def _address(self) -> str:
        port = self._dispatcher.endpoint.address.rpartition(":")[2] if self._started else "0"
        return f"localhost:{port}"

    def _num_workers(self) -> int:
        return self._dispatcher.worker_count
