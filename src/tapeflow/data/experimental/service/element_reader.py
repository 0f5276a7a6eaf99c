"""The datasets that read from a data service.

A reader has a thread that hears of tasks from the dispatcher, and one for each task that takes its elements. What a
thread has fetched it keeps for the consumer, and it tells the dispatcher when the worker dies, so that everything else
that the worker held goes to another.
"""

from __future__ import annotations

import itertools
import secrets
import time
import weakref
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, NamedTuple

from tapeflow.core.errors import FailedPreconditionError, NotFoundError, OpError, UnavailableError
from tapeflow.core.fork_locks import new_condition
from tapeflow.core.values.tensor import invalid
from tapeflow.data import elements
from tapeflow.data.elements import Element
from tapeflow.data.experimental.service.compression import decompress
from tapeflow.data.experimental.service.config import CrossTrainerCache, ShardingPolicy
from tapeflow.data.experimental.service.remote_calls import Caller
from tapeflow.data.experimental.service.worker import OVER, local_workers
from tapeflow.data.node import INFINITE, UNKNOWN, Node
from tapeflow.data.threads import END, Failure, start
from tapeflow.transport.calls import Client, TaskUnavailableError, from_bytes

DISPATCHER_SECONDS = 60.0  # how long to wait for a dispatcher that does not answer
_NEWS_SECONDS = 1.0
_AUTOMATIC = 16  # elements that are requested, or wait for the consumer, by default
_PROTOCOLS = (None, "grpc", "local")
_TARGETS = ("AUTO", "ANY", "LOCAL")


class Reading(NamedTuple):
    """The way to read a dataset.

    Attributes:
        address: the dispatcher's address.
        id: the dataset's id.
        policy: the sharding policy.
        job_name: the job's name; "" for a job without a name.
        consumer: the number of this consumer, for coordinated reads.
        consumers: the number of consumers of coordinated reads, else None.
        outstanding: how many elements are requested, or wait, at most; None for a choice.
        protocol: the protocol of the elements.
        cache: the cache that trainers share, or None.
        targets: "AUTO", "ANY" or "LOCAL".
    """

    address: str
    id: str
    policy: ShardingPolicy
    job_name: str
    consumer: int
    consumers: int | None
    outstanding: int | None
    protocol: str | None
    cache: CrossTrainerCache | None
    targets: str

    @property
    def only_local(self) -> bool:
        """True if it reads from workers of this process alone."""
        static = self.policy not in (ShardingPolicy.OFF, ShardingPolicy.DYNAMIC)
        return self.targets == "LOCAL" or (self.targets == "AUTO" and static)


class DataService(Node):
    """The elements that the workers of a data service compute.

    Args:
        reading: how to read them.
        spec: the spec of the elements.
        registered: the number of elements of the registered dataset.

    Raises:
        InvalidArgumentError: there are no such target workers.
    """

    reading: Reading
    spec: Any
    registered: int

    name = "_DataServiceDatasetV2"

    def element_spec(self) -> Any:
        if self.reading.targets not in _TARGETS:
            raise invalid(f"Unrecognized target workers: {self.reading.targets} [Op:DataServiceDatasetV4] name: ")
        self._repetitions = itertools.count()
        return self.spec

    def cardinality(self) -> int:
        return INFINITE if self.registered == INFINITE else UNKNOWN

    def iterate(self) -> Iterator[Element]:
        reader = _Reader(self.reading, elements.flatten(self.spec), next(self._repetitions))
        return _Elements(reader) if self.reading.consumers is None else _ElementsInRounds(reader)


class _Elements:
    """The elements that a reader takes, in the order of their arrival."""

    def __init__(self, reader: _Reader) -> None:
        self._reader = reader
        self.close = weakref.finalize(self, reader.close)

    def __iter__(self) -> _Elements:
        return self

    def __next__(self) -> Element:
        element = self._reader.take()
        if element is END:
            raise StopIteration
        if type(element) is Failure:
            raise element.error
        return element


class _ElementsInRounds(_Elements):
    """An element of each task in turn. Other consumers get the following elements of the task."""

    _round = -1

    def __next__(self) -> Element:
        self._round += 1
        return self._reader.take_of_round(self._round)


class _TaskOf:
    """A task as a reader sees it.

    Attributes:
        number: its number.
        address: its worker's address.
        consumed: for each source, how many splits are part of the elements that the reader has; empty without any.
        reading: whether a thread takes its elements.
        ended: whether there are no more.
        dead: whether its worker is gone.
        unreached_since: since when its worker can't be reached.
    """

    def __init__(self, number: int, address: str) -> None:
        self.number, self.address = number, address
        self.consumed: list[int] = []
        self.reading = self.ended = self.dead = False
        self.unreached_since: float | None = None


class _Reader:
    """One repetition of a job, as one consumer reads it.

    Args:
        how: how to read.
        specs: the specs of the elements' components.
        repetition: which repetition.

    Raises:
        OpError: the job can't be read so.
    """

    def __init__(self, how: Reading, specs: list[Any], repetition: int) -> None:
        self._how, self._specs = how, specs
        self._trainer = how.cache.trainer_id if how.cache else ""
        self._name = secrets.token_hex(8)
        self._dispatcher = Caller(how.address, "The dispatcher", DISPATCHER_SECONDS)
        self._changed = new_condition()
        self._tasks: dict[int, _TaskOf] = {}
        self._order: list[_TaskOf] = []  # the turns of coordinated reads
        self._ready: deque[Any] = deque()
        self._outstanding = 0
        self._unreachable: set[int] = set()
        self._clients: dict[str, Client] = {}
        self._finished = self._closed = False
        job = int(how.policy), how.job_name, how.consumers, bool(self._trainer)
        try:
            self._dispatcher.call("open", self._name, how.id, *job, repetition)
        except OpError:
            self._dispatcher.close()
            raise
        start("tf_data_service_tasks", self.close, self._hear)

    # ---- the consumer ------------------------------------------------------------------------------------------------

    def take(self) -> Any:
        """Returns the next element, or a `Failure`; `END` after the last one."""
        with self._changed:
            self._changed.wait_for(lambda: self._ready or self._closed or (self._finished and self._idle()))
            if not self._ready:
                return END
            self._outstanding -= 1
            self._changed.notify_all()
            return self._ready.popleft()

    def take_of_round(self, number: int) -> Element:
        """Returns this consumer's element of a round of coordinated reads.

        Raises:
            UnavailableError: the worker whose turn it is does not come back.
        """
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._finished or self._turn(number) is not None, DISPATCHER_SECONDS)
                task = self._turn(number)
                if self._ready:  # the dispatcher is gone
                    raise self._ready.popleft().error
                if task is None:
                    raise UnavailableError.of("The worker whose turn it is in coordinated reads is gone.")
            try:
                answer = self._request(task, number)
            except TaskUnavailableError:
                answer = OVER
            if answer == OVER:
                with self._changed:
                    self._unreachable.add(task.number)
                    task.dead = True  # until the dispatcher says otherwise
            elif answer is None:
                raise FailedPreconditionError.of("A dataset of coordinated reads has ended, and must have no end.")
            else:
                return answer[0]

    def _turn(self, number: int) -> _TaskOf | None:
        """Returns the task of a round; None while its worker is gone."""
        task = self._order[number % len(self._order)] if self._order else None
        return None if task is None or task.dead else task

    def close(self) -> None:
        """Ends the threads, and leaves the job."""
        with self._changed:
            self._closed = self._finished = True
            self._changed.notify_all()

    # ---- news --------------------------------------------------------------------------------------------------------

    def _hear(self) -> None:
        """Hears of tasks until all is read."""
        version = -1
        try:
            while not self._finished:
                with self._changed:
                    unreachable, self._unreachable = list(self._unreachable), set()
                news = self._name, version, self._consumed(), unreachable, _NEWS_SECONDS
                version, finished, tasks = self._dispatcher.call("client_news", *news)
                with self._changed:
                    self._note(tasks)
                    self._finished = self._finished or finished
                    self._changed.notify_all()
        except OpError as error:
            self._end(error)
        with self._changed:
            self._changed.wait_for(lambda: self._closed or self._idle())
        self._leave()

    def _leave(self) -> None:
        with suppress(OpError):  # where the dispatcher is gone, the job is too
            self._dispatcher.call("release", self._name, self._consumed())
        self._dispatcher.close()
        with self._changed:
            clients, self._clients = self._clients, {}
        for client in clients.values():
            client.close()

    def _end(self, error: OpError) -> None:
        with self._changed:
            self._ready.append(Failure(error))
            self._outstanding += 1
            self._finished = True
            self._changed.notify_all()

    def _idle(self) -> bool:
        return not any(task.reading for task in self._tasks.values())

    def _consumed(self) -> list[Any]:
        """Returns the numbers of consumed splits, for the tasks that this reader has finished or lost."""
        with self._changed:
            return [[t.number, t.consumed] for t in self._tasks.values() if self._closed or not t.reading]

    def _note(self, tasks: list[Any]) -> None:
        for number, address, dead, ended in tasks:
            if self._how.only_local and address not in local_workers:
                continue
            task = self._tasks.setdefault(number, _TaskOf(number, address))
            task.dead, task.ended = dead, task.ended or ended
            if not (dead or task.ended or task.reading or self._finished or self._how.consumers):
                task.reading = True
                start("tf_data_service_task", self.close, self._read, task)
        self._order = [self._tasks[number] for number, *_ in tasks if number in self._tasks]
        if not self._how.only_local:
            return
        if tasks and not self._tasks:
            self._end(FailedPreconditionError.of(
                "The dataset is read from workers of this process alone, of which there is none."
            ))  # fmt: skip
        self._finished = self._finished or (bool(self._tasks) and all(t.ended for t in self._tasks.values()))

    # ---- elements ----------------------------------------------------------------------------------------------------

    def _read(self, task: _TaskOf) -> None:
        """Takes the elements of a task until there are no more, or its worker can't be reached."""
        try:
            while self._may_request():
                answer: Any = None
                try:
                    answer = self._request(task, -1)
                except TaskUnavailableError as error:
                    answer = self._unreached(task, error)
                except OpError as error:
                    answer = Failure(error), task.consumed
                with self._changed:
                    if answer is None or answer == OVER:
                        self._outstanding -= 1
                        task.ended = answer is None
                        break
                    task.unreached_since = None
                    self._ready.append(answer[0])
                    task.consumed = answer[1]
                    self._changed.notify_all()
            if task.ended:
                with suppress(OpError):  # who asked for the news raises it
                    self._dispatcher.call("ended", self._name, task.number)
        finally:
            with self._changed:
                task.reading = False
                self._changed.notify_all()

    def _unreached(self, task: _TaskOf, error: OpError) -> Any:
        """Has the dispatcher look at a worker; returns the error if that did not help for a long time."""
        now = time.monotonic()
        since = task.unreached_since = task.unreached_since or now
        with self._changed:
            self._unreachable.add(task.number)
        return (Failure(error), task.consumed) if now - since > DISPATCHER_SECONDS else OVER

    def _may_request(self) -> bool:
        """Waits until another element may be requested; returns whether there is a need for it."""
        with self._changed:
            limit = self._how.outstanding or -1
            most = limit if limit > 0 else max(_AUTOMATIC, 2 * len(self._tasks))
            self._changed.wait_for(lambda: self._finished or self._outstanding < most)
            self._outstanding += not self._finished
            return not self._finished

    def _request(self, task: _TaskOf, number: int) -> Any:
        """Returns an element of a task with the splits that it needed; None at the end, and `OVER`.

        Raises:
            NotFoundError: workers do not know the protocol.
            TaskUnavailableError: the worker can't be reached.
            OpError: the element can't be computed.
        """
        if self._how.protocol not in _PROTOCOLS:
            raise NotFoundError.of(f"Protocol '{self._how.protocol}' is not available for worker '{task.address}'.")
        asked = task.number, self._how.consumer, number, self._trainer
        worker = None if self._how.targets == "ANY" else local_workers.get(task.address)
        if worker is not None:
            return worker.produced(*asked)
        answer = self._client(task.address).call("element", *asked)
        if type(answer) is not list:
            return answer
        tensors, consumed = answer
        if type(tensors) is not list:
            tensors = from_bytes(decompress(tensors.value[()]))
        return elements.from_tensors(tensors, self._specs), consumed

    def _client(self, address: str) -> Client:
        with self._changed:
            if self._closed:
                raise TaskUnavailableError.of("The iterator is closed.")
            client = self._clients.get(address)
            if client is None:
                client = self._clients[address] = Client(address, "A worker of the data service")
            return client
