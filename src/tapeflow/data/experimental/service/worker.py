"""A worker of the data service: it computes the elements of its tasks, and hands them to consumers that ask."""

from __future__ import annotations

import functools
import secrets
import weakref
from collections import deque
from collections.abc import Generator, Iterator
from typing import Any

from tapeflow.core.errors import FailedPreconditionError, OpError, UnavailableError
from tapeflow.core.fork_locks import new_condition, new_lock
from tapeflow.core.logger import get_logger
from tapeflow.data import elements
from tapeflow.data.elements import Element
from tapeflow.data.experimental.service.compression import compress
from tapeflow.data.experimental.service.config import WorkerConfig
from tapeflow.data.experimental.service.remote_calls import Caller
from tapeflow.data.experimental.service.splits import Part
from tapeflow.data.graph_defs import node_of
from tapeflow.data.node import INFINITE, Node
from tapeflow.data.threads import AUTOTUNE, ahead, raises_failures, start, with_failures
from tapeflow.transport.calls import Endpoint, to_bytes

Produced = tuple[Element, list[int]]  # an element, and for each source how many splits were needed up to it

_NEWS_SECONDS = 1.0
_DISPATCHER_SECONDS = 3600.0
_ELEMENT_SECONDS = 60.0  # how long an element waits for a dispatcher that does not answer
_TASK_SECONDS = 30.0  # a task that consumers know of, and the worker does not, arrives within so long
_CACHE_ELEMENTS = 256  # that trainers share: who is slower misses some
_DATASETS = 16  # that are ready to be read again
_MOST_CALLS = 1024  # of consumers that wait for elements at the same time
_SNAPPY = "SNAPPY"
OVER = "over"  # the answer for a task that the worker does not have

# The workers of this process by their addresses. Consumers in this process take their elements without a message.
local_workers: weakref.WeakValueDictionary[str, Worker] = weakref.WeakValueDictionary()


class _Task:
    """The elements of one task.

    Args:
        elements: the elements, with the splits that were needed for them.
        cardinality: the number of elements of the whole dataset.
        consumers: the number of consumers of coordinated reads, else None.
        cached: whether trainers share the elements.
        specs: the specs of an element's components.
        compressed: whether elements are compressed on their way.
    """

    def __init__(
        self, elements: Iterator[Produced], cardinality: int, consumers: int | None, cached: bool, specs: list[Any],
        compressed: bool,
    ) -> None:  # fmt: skip
        self.specs, self.compressed = specs, compressed
        self._elements = ahead(elements, AUTOTUNE)
        self._lock = new_lock()
        self._cardinality, self._consumers, self._cached = cardinality, consumers, cached
        self._round = -1
        self._shares: list[Produced] = []
        self._window: deque[Produced] = deque(maxlen=_CACHE_ELEMENTS)
        self._produced = 0
        self._places: dict[str, int] = {}

    def next(self, consumer: int, round: int, trainer: str) -> Produced | None:
        """Returns an element for a consumer; None at the end."""
        with self._lock:
            if self._consumers is not None:
                return self._of_round(consumer, round, self._consumers)
            return self._of_window(trainer) if self._cached else next(self._elements, None)

    def _of_round(self, consumer: int, round: int, consumers: int) -> Produced:
        if self._cardinality != INFINITE:
            raise FailedPreconditionError.of(
                "Round robin reads require that the input dataset has infinite cardinality, but the dataset has "
                f"cardinality {self._cardinality}. Consider adding a `.repeat()` transformation to the dataset."
            )
        if not 0 <= consumer < consumers:
            raise FailedPreconditionError.of(
                f"Requesting data for consumer index {consumer}, but the task is configured for only {consumers} "
                "consumers"
            )
        if round < self._round:
            raise FailedPreconditionError.of(
                f"Consumer {consumer} asks for round {round}, and others for round {self._round} already."
            )
        if round > self._round:
            self._shares = [next(self._elements) for _ in range(consumers)]
            self._round = round
        return self._shares[consumer]

    def _of_window(self, trainer: str) -> Produced | None:
        oldest = self._produced - len(self._window)
        place = max(self._places.get(trainer, oldest), oldest)
        if place == self._produced:
            produced = next(self._elements, None)
            if produced is None:
                return None
            self._window.append(produced)
            self._produced += 1
        self._places[trainer] = place + 1
        return self._window[place - self._produced]


class Worker:
    """The methods that consumers call, and the thread that asks the dispatcher for tasks.

    Args:
        config: the configuration.

    Raises:
        UnknownError: another process uses the port.
    """

    def __init__(self, config: WorkerConfig) -> None:
        host = config.worker_address.rpartition(":")[0]
        seconds = config.dispatcher_timeout_ms / 1000
        self._interval = config.heartbeat_interval_ms / 1000 or _NEWS_SECONDS
        self._process = secrets.token_hex(8)
        self._changed = new_condition()
        self._definitions: dict[int, Any] = {}
        self._tasks: dict[int, _Task] = {}
        self._over: set[int] = set()
        self._version = -1
        self._creating = new_lock()
        self._dataset = functools.lru_cache(_DATASETS)(self._read)
        self.endpoint = Endpoint(f"{host}:{config.port}", {"ping": self.ping, "element": self.element}, _MOST_CALLS)
        port = self.endpoint.address.rpartition(":")[2]
        self.address = config.worker_address.replace("%port%", port)
        address = config.dispatcher_address.rpartition("://")[2]
        self._dispatcher = Caller(address, "The dispatcher", seconds or _DISPATCHER_SECONDS)
        self._for_tasks = Caller(address, "The dispatcher", _ELEMENT_SECONDS)  # calls for tasks, while a consumer waits

    def start(self) -> None:
        """Begins to answer, and reports to the dispatcher.

        Raises:
            UnavailableError: the dispatcher can't be reached.
        """
        self.endpoint.start()
        local_workers[self.address] = self
        self._ask(wait=0.0)
        start("tf_data_service_worker", self.stop, _work_loop, weakref.ref(self), self._dispatcher, self._interval)

    def stop(self) -> None:
        """Ends the answers."""
        local_workers.pop(self.address, None)
        self._dispatcher.close()
        self._for_tasks.close()
        with self._changed:
            self._tasks.clear()  # their threads end, too
            self._changed.notify_all()
        self.endpoint.end()

    @property
    def task_count(self) -> int:
        """The number of tasks."""
        return len(self._definitions)

    def _ask(self, wait: float) -> None:
        """Asks the dispatcher for news."""
        own = self.address, self._process, self._version, list(self._definitions)
        version, new, over = self._dispatcher.call("worker_news", *own, wait)
        with self._changed:
            self._version = version
            self._definitions.update((definition[0], definition) for definition in new)
            self._over.update(over)
            for number in over:
                self._definitions.pop(number, None)
                self._tasks.pop(number, None)
            self._changed.notify_all()

    # ---- remote calls ------------------------------------------------------------------------------------------------

    def ping(self) -> str:
        """Returns the name of the process."""
        return self._process

    def element(self, number: int, consumer: int, round: int, trainer: str) -> Any:
        """Returns the tensors of a task's next element, and the splits that were needed; None at the end, and `OVER`.

        Args:
            number: the task's number.
            consumer, round: for coordinated reads, the consumer's number, and how many elements it has.
            trainer: the trainer that shares elements with others.

        Raises:
            OpError: the element can't be computed.
        """
        produced = self.produced(number, consumer, round, trainer)
        task = self._tasks.get(number)
        if type(produced) is not tuple or task is None:
            return OVER if produced is not None else None
        tensors = elements.to_tensors(produced[0], task.specs)
        return [compress(to_bytes(tensors)) if task.compressed else tensors, produced[1]]

    def produced(self, number: int, consumer: int, round: int, trainer: str) -> Any:
        """Returns the same for a consumer in this process, with the element in place of its tensors."""
        task = self._task(number)
        if task is None:
            return OVER
        produced = None
        try:
            produced = task.next(consumer, round, trainer)
        except UnavailableError:
            if not self._for_tasks.closed:
                raise
        # A worker that stops can't ask for splits any more: for the task that is no end.
        return OVER if produced is None and self._for_tasks.closed else produced

    def _task(self, number: int) -> _Task | None:
        """Returns a task; None if it is over. The dispatcher's news of it may be on the way."""
        with self._changed:
            self._changed.wait_for(
                lambda: number in self._definitions or number in self._over or self._dispatcher.closed, _TASK_SECONDS
            )
            definition = self._definitions.get(number)
        if definition is None or self._dispatcher.closed:
            return None
        with self._creating:
            task = self._tasks.get(number)
            if task is None:
                task = self._tasks[number] = self._created(*definition)
        return task

    def _created(
        self, number: int, id: str, policy: int, index: int, workers: int, consumers: int | None, cached: bool,
        fixed: list[list[int]] | None,
    ) -> _Task:  # fmt: skip
        counts: dict[int, int] = {}

        def splits(source: int, repetition: int) -> list[int]:
            if fixed is not None:
                numbers = [] if source in counts else fixed[source]
            else:
                numbers = self._for_tasks.call("splits", number, source, repetition, counts.get(source, 0))
            counts[source] = counts.get(source, 0) + len(numbers)
            return numbers

        node, cardinality, compression = self._dataset(id)
        specs = elements.flatten(node.spec)
        produced = _part_elements(node, policy, index, workers, splits)
        return _Task(produced, cardinality, consumers, cached, specs, compression == _SNAPPY)

    def _read(self, id: str) -> Any:
        message, cardinality, compression = self._for_tasks.call("definition", id)
        return node_of(message.value[()]), cardinality, compression


@raises_failures
def _part_elements(node: Node, *part: Any) -> Generator[Any]:
    yield from with_failures(Part(node, *part).elements())


def _work_loop(reference: weakref.ref[Worker], dispatcher: Caller, interval: float) -> None:
    while (worker := reference()) is not None and not dispatcher.closed:
        try:
            worker._ask(interval)
        except OpError as error:
            if not dispatcher.closed:
                get_logger().warning("A worker of the data service ends: %s", error.message)
            return
        del worker


class WorkerServer:
    """A worker of a data service, which runs in threads of this process.

    Args:
        config: a `tf.data.experimental.service.WorkerConfig`.
        start: whether it starts at once.

    Raises:
        ValueError: the configuration names no dispatcher.
        UnknownError: another process uses the port.
        UnavailableError: the dispatcher can't be reached.

    Example:
        >>> dispatcher = tf.data.experimental.service.DispatchServer()
        >>> config = tf.data.experimental.service.WorkerConfig(dispatcher.target.split("://")[1])
        >>> worker = tf.data.experimental.service.WorkerServer(config)
        >>> worker.stop(), dispatcher.stop()
        (None, None)
    """

    def __init__(self, config: WorkerConfig, start: bool = True) -> None:
        if config.dispatcher_address is None:
            raise ValueError("Must specify a `dispatcher_address` in the `config` passed to `WorkerServer`.")
        self._worker = Worker(config)
        self._stop_once = weakref.finalize(self, self._worker.stop)
        if start:
            self.start()

    def start(self) -> None:
        """Begins to work.

        Raises:
            UnavailableError: the dispatcher can't be reached.
        """
        self._worker.start()

    def join(self) -> None:
        """Waits until the server has stopped."""
        self._worker.endpoint.wait()

    def stop(self) -> None:
        """Stops the server."""
        self._stop_once()

    @property
    def _address(self) -> str:
        return self._worker.address

    def _num_tasks(self) -> int:
        return self._worker.task_count
