"""The state of a dispatcher: jobs, their iterations and tasks, and which splits each task was handed.

The state changes by entries alone (`State.apply`), which a fault-tolerant dispatcher also writes to its journal: to go
through the journal again gives the same state. When a dispatcher starts, one entry takes the place of all before it.
"""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Iterator
from typing import Any

from tapeflow.core.errors import DataLossError
from tapeflow.data.node import INFINITE
from tapeflow.io.atomic_replace import write_file
from tapeflow.io.gfile import files as gfile

Entry = dict[str, Any]
_MOST_AT_ONCE = 64  # splits that a task is handed at a time


@dataclasses.dataclass
class Task:
    """A worker's part of an iteration.

    Attributes:
        id: its number.
        iteration: the iteration's number.
        address: the worker's address.
        process: the worker's process, which has another name after a restart.
        slot: its place among the tasks of coordinated reads.
        splits: for each source of the dataset, the splits it was handed.
        fixed: whether it was handed all of its splits at once: those that a worker lost.
        consumed: for each source, how many of these are part of elements that consumers have.
        ended: whether a consumer has got all of its elements.
        dead: whether its worker is gone.
        silent: the consumers that have not reported yet how much they got of a dead task.
    """

    id: int
    iteration: int
    address: str
    process: str
    slot: int
    splits: list[list[int]]
    fixed: bool
    consumed: list[int]
    ended: bool = False
    dead: bool = False
    silent: set[str] = dataclasses.field(default_factory=set)

    def saw(self, consumed: list[int]) -> None:
        """Notes the splits that a consumer has got."""
        if consumed and self.consumed:
            self.consumed = [max(a, b) for a, b in zip(self.consumed, consumed, strict=True)]


@dataclasses.dataclass
class Source:
    """The cursor of a source of a dataset.

    Attributes:
        size: the number of its elements, if that is certain.
        repetition: how often it was begun anew.
        position: the next element.
    """

    size: int
    repetition: int = 0
    position: int = 0

    def next(self, repetition: int, workers: int) -> range:
        """Returns the next splits; none at the end.

        A share of the rest: few at the end, to have all workers end together.
        """
        position = 0 if repetition > self.repetition else self.position
        if repetition < self.repetition:
            return range(0)
        if self.size < 0:
            return range(position, position + (_MOST_AT_ONCE if self.size == INFINITE else 1))
        left = self.size - position
        return range(position, position + min(left, max(1, min(_MOST_AT_ONCE, left // (8 * workers)))))


@dataclasses.dataclass
class Job:
    """A dataset that consumers read together.

    Attributes:
        name: its name.
        dataset: the dataset's id.
        policy: the sharding policy's number.
        consumers: the number of consumers of coordinated reads, else None.
        cached: whether trainers share its elements.
    """

    name: str
    dataset: str
    policy: int
    consumers: int | None
    cached: bool


@dataclasses.dataclass
class Iteration:
    """One time through a job's dataset.

    Attributes:
        id: its number.
        job: the job.
        repetition: which time.
        sources: the cursors of dynamic sharding.
        tasks: its tasks, by their numbers.
        clients: the consumers that read it.
        lost: splits that dead workers held, to be handed to others.
        finished: whether consumers have got everything.
    """

    id: int
    job: Job
    repetition: int
    sources: list[Source]
    tasks: dict[int, Task] = dataclasses.field(default_factory=dict)
    clients: set[str] = dataclasses.field(default_factory=set)
    lost: list[list[list[int]]] = dataclasses.field(default_factory=list)
    finished: bool = False

    def slots(self) -> list[Task]:
        """Returns the tasks of coordinated reads, in their order."""
        return [t for _, t in sorted({t.slot: t for t in self.tasks.values()}.items())]


class State:
    """The state of a dispatcher.

    Attributes:
        datasets: the ids of the datasets.
        jobs: by their names.
        iterations: by their numbers.
        clients: the iteration of each consumer.
        last: the last number that was handed out.
    """

    def __init__(self) -> None:
        self.datasets: set[str] = set()
        self.jobs: dict[str, Job] = {}
        self.iterations: dict[int, Iteration] = {}
        self.clients: dict[str, int] = {}
        self.last = 999

    def apply(self, entry: Entry) -> None:
        """Makes the change that an entry describes.

        Raises:
            KeyError, TypeError: it is no entry, or does not belong here.
        """
        fields = dict(entry)
        getattr(self, f"_on_{fields.pop('change')}")(**fields)

    def entry(self) -> Entry:
        """Returns an entry that gives this state, whatever the state was before."""
        iterations = [
            {f.name: getattr(i, f.name) for f in dataclasses.fields(i)}
            | {"job": i.job.name, "sources": [vars(s) for s in i.sources], "clients": sorted(i.clients)}
            | {"tasks": [vars(t) | {"silent": sorted(t.silent)} for t in i.tasks.values()]}
            for i in self.iterations.values()
        ]
        jobs = [vars(job) for job in self.jobs.values()]
        return {
            "change": "state", "datasets": sorted(self.datasets), "jobs": jobs, "iterations": iterations,
            "clients": self.clients, "last": self.last,
        }  # fmt: skip

    def task(self, number: int) -> Task | None:
        """Returns a task by its number; None if its iteration is over."""
        return next((t for i in self.iterations.values() if (t := i.tasks.get(number)) is not None), None)

    # ---- changes -----------------------------------------------------------------------------------------------------

    def _on_state(
        self, datasets: list[str], jobs: list[Any], iterations: list[Any], clients: dict[str, int], last: int
    ) -> None:
        self.datasets, self.clients, self.last = set(datasets), dict(clients), last
        self.jobs = {job["name"]: Job(**job) for job in jobs}
        self.iterations = {}
        for fields in iterations:
            parts = {
                "job": self.jobs[fields["job"]], "sources": [Source(**s) for s in fields["sources"]],
                "clients": set(fields["clients"]),
                "tasks": {t["id"]: Task(**t | {"silent": set(t["silent"])}) for t in fields["tasks"]},
            }  # fmt: skip
            self.iterations[fields["id"]] = Iteration(**fields | parts)

    def _on_dataset(self, id: str, number: int) -> None:
        self.datasets.add(id)
        self.last = max(self.last, number)

    def _on_job(self, **fields: Any) -> None:
        job = Job(**fields)
        self.jobs[job.name] = job

    def _on_iteration(self, id: int, job: str, repetition: int, sizes: list[int]) -> None:
        self.last = max(self.last, id)
        self.iterations[id] = Iteration(id, self.jobs[job], repetition, [Source(size) for size in sizes])

    def _on_client(self, id: str, iteration: int) -> None:
        self.clients[id] = iteration
        self.iterations[iteration].clients.add(id)

    def _on_release(self, client: str, consumed: list[Any]) -> None:
        iteration = self.iterations.get(self.clients.pop(client, -1))
        if iteration is None:
            return
        iteration.clients.discard(client)
        self._note(iteration, client, consumed)

    def _on_report(self, client: str, consumed: list[Any]) -> None:
        self._note(self.iterations[self.clients[client]], client, consumed)

    def _note(self, iteration: Iteration, client: str, consumed: list[Any]) -> None:
        for number, counts in consumed:
            if number in iteration.tasks:
                iteration.tasks[number].saw(counts)
        reported = {number for number, _ in consumed}
        for task in iteration.tasks.values():
            if task.id in reported or client not in iteration.clients:
                task.silent.discard(client)

    def _on_task(self, id: int, iteration: int, address: str, process: str, slot: int, fixed: bool) -> None:
        self.last = max(self.last, id)
        around = self.iterations[iteration]
        splits = around.lost.pop(0) if fixed else [[] for _ in around.sources]
        around.tasks[id] = Task(id, iteration, address, process, slot, splits, fixed, [0] * len(around.sources))

    def _on_splits(self, task: int, source: int, repetition: int, start: int, stop: int) -> None:
        holder = self.task(task)
        if holder is None:
            raise KeyError(task)
        cursor = self.iterations[holder.iteration].sources[source]
        cursor.repetition, cursor.position = repetition, stop
        holder.splits[source].extend(range(start, stop))

    def _on_ended(self, task: int) -> None:
        ended = self.task(task)
        if ended is not None:
            ended.ended = True

    def _on_dead(self, task: int) -> None:
        dead = self.task(task)
        if dead is not None:
            dead.dead = True
            dead.silent = set(self.iterations[dead.iteration].clients)

    def _on_lost(self, task: int) -> None:
        """Keeps the splits of a dead task that no consumer has got, for another worker."""
        dead = self.task(task)
        if dead is None:
            raise KeyError(task)
        iteration = self.iterations[dead.iteration]
        splits = [handed[count:] for handed, count in zip(dead.splits, dead.consumed, strict=True)]
        if any(splits):
            iteration.lost.append(splits)
        del iteration.tasks[task]

    def _on_finished(self, iteration: int) -> None:
        """Keeps of an iteration that consumers have got everything, for those that come later."""
        self.iterations[iteration].finished = True
        for task in self.iterations[iteration].tasks.values():
            task.splits, task.consumed = [], []

    def _on_forgotten(self, iteration: int) -> None:
        job = self.iterations.pop(iteration).job
        if all(i.job is not job for i in self.iterations.values()):
            self.jobs.pop(job.name, None)


class Journal:
    """The changes of a state, as lines of JSON, and the datasets beside them.

    Args:
        folder: the work folder.
    """

    def __init__(self, folder: str) -> None:
        self._folder = os.path.join(gfile.local_path(folder), "tf_data_dispatcher")
        os.makedirs(os.path.join(self._folder, "datasets"), exist_ok=True)
        self._path = os.path.join(self._folder, "journal.jsonl")

    def read(self) -> Iterator[Entry]:
        """Yields the entries. A last line that was cut off is no entry: nobody was told of that change.

        Raises:
            DataLossError: another line is damaged.
        """
        if not os.path.exists(self._path):
            return
        with open(self._path, "rb+") as file:
            end = 0
            for number, line in enumerate(file, 1):
                if not line.endswith(b"\n"):
                    file.truncate(end)
                    return
                end += len(line)
                try:
                    entry = json.loads(line)
                except ValueError as error:
                    raise DataLossError.of(f"Line {number} of {self._path} is damaged: {error}") from error
                yield entry

    def replace(self, entry: Entry) -> None:
        """Puts one entry in place of all: after a crash there are either these or that one."""
        write_file(self._path, json.dumps(entry).encode() + b"\n")

    def write(self, entry: Entry) -> None:
        """Adds an entry, which is on the disk when this returns."""
        with open(self._path, "ab") as file:
            file.write(json.dumps(entry).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())

    def dataset(self, id: str) -> bytes:
        """Returns a dataset as it was registered."""
        with open(self._dataset_path(id), "rb") as file:
            return file.read()

    def add_dataset(self, id: str, registered: bytes) -> None:
        """Writes a dataset, before the entry that names it."""
        write_file(self._dataset_path(id), registered)

    def _dataset_path(self, id: str) -> str:
        return os.path.join(self._folder, "datasets", id.encode().hex())
