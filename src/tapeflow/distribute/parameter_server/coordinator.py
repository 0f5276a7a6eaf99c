"""`ClusterCoordinator`: sends functions to workers, and again where a worker died."""

from __future__ import annotations

import atexit
import itertools
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tapeflow.core.context import discard, state
from tapeflow.core.logger import get_logger
from tapeflow.core.values import nest
from tapeflow.data.dataset import Dataset
from tapeflow.distribute.input import DistributedDataset
from tapeflow.distribute.parameter_server.dispatch import dispatching
from tapeflow.distribute.parameter_server.queue import Closure, ClosureQueue
from tapeflow.distribute.parameter_server.remote_functions import argument_message, message_of
from tapeflow.distribute.parameter_server.strategy import ParameterServerStrategy
from tapeflow.distribute.parameter_server.values import PerWorkerIterator, RemoteValue, WorkerValue, of_worker
from tapeflow.distribute.parameter_server.variables import OWNER
from tapeflow.function import Function
from tapeflow.function.concrete import ConcreteFunction
from tapeflow.transport.calls import Client, TaskUnavailableError, client_of

if TYPE_CHECKING:
    from tapeflow.distribute.strategy import Strategy

_RETRY_SECONDS = 1.0
_MOST_SECONDS_TO_END = 5.0
_workers: weakref.WeakSet[_Worker] = weakref.WeakSet()


@atexit.register
def _end_workers() -> None:
    for worker in list(_workers):
        worker.end()


class _Worker:
    """A worker, and the thread that sends it closures one by one.

    Args:
        index: its number.
        client: calls it.
        queue: has the closures.
    """

    def __init__(self, index: int, client: Client, queue: ClosureQueue) -> None:
        self.index, self.client = index, client
        self._queue = queue
        self._thread = threading.Thread(target=self._serve, name=f"tapeflow-{client.task}", daemon=True)
        self._thread.start()
        _workers.add(self)

    def _serve(self) -> None:
        self._meet()
        while (closure := self._queue.take()) is not None:
            self._run(closure)
            del closure  # nothing is held while the next one is waited for

    def _run(self, closure: Closure) -> None:
        try:
            result = closure.run(self)
        except TaskUnavailableError as error:
            get_logger().warning("%s Its function goes to another worker.", error)
            self._queue.put_back(closure)
            self._meet()
        except BaseException as error:
            self._queue.end(closure, error=error)
        else:
            self._queue.end(closure, result)

    def end(self) -> None:
        """Ends the thread, as the process ends: one that the interpreter has to kill in gRPC's code aborts it."""
        self._queue.stop()
        self.client.close()
        self._thread.join(_MOST_SECONDS_TO_END)

    def _meet(self) -> None:
        """Waits until the worker is up."""
        while not self._queue.stopped:
            try:
                self.client.call("begin", OWNER, timeout=_RETRY_SECONDS, wait=True)
                return
            except TaskUnavailableError:
                time.sleep(_RETRY_SECONDS / 10)

    def run(self, key: str, message: dict[str, Any], arguments: list[Any]) -> list[Any]:
        """Runs a function there, which is sent first where the worker does not have it."""
        results = self.client.call("run", key, arguments, self.index)
        if results is None:
            self.client.call("define", key, message)
            results = self.client.call("run", key, arguments, self.index)
        return results


class ClusterCoordinator:
    """Sends functions to the workers of a `tf.distribute.ParameterServerStrategy`; there is one for each strategy.

    A function runs on any worker. When the worker dies, or does not answer, the function runs again on another one; a
    worker that comes back is used again. So a function may run more than once.

    Args:
        strategy: the strategy.

    Raises:
        ValueError: it is another strategy.

    Example:
        >>> tf.distribute.coordinator.ClusterCoordinator(tf.distribute.get_strategy())
        Traceback (most recent call last):
        ...
        ValueError: Only `tf.distribute.experimental.ParameterServerStrategy` is supported...
    """

    _strategy: ParameterServerStrategy

    def __new__(cls, strategy: Strategy) -> ClusterCoordinator:
        if not isinstance(strategy, ParameterServerStrategy):
            raise ValueError(
                "Only `tf.distribute.experimental.ParameterServerStrategy` is supported to work with "
                "`tf.distribute.experimental.coordinator.ClusterCoordinator` currently."
            )
        if strategy._cluster_coordinator is None:
            strategy._cluster_coordinator = super().__new__(cls)
            strategy._cluster_coordinator._begin(strategy)
        return strategy._cluster_coordinator

    def __init__(self, strategy: Strategy) -> None: ...

    def _begin(self, strategy: ParameterServerStrategy) -> None:
        self._strategy = strategy
        self._task = strategy.extended._task
        self._queue = ClosureQueue()
        self._messages: weakref.WeakKeyDictionary[ConcreteFunction, tuple[str, dict[str, Any]]]
        self._messages = weakref.WeakKeyDictionary()
        self._numbers = itertools.count()
        cluster = strategy.cluster_resolver.cluster_spec()
        self._workers = [
            _Worker(i, client_of(cluster.task_address("worker", n), f"worker:{n}"), self._queue)
            for i, n in enumerate(cluster.task_indices("worker"))
        ]
        weakref.finalize(self, self._queue.stop)

    @property
    def strategy(self) -> ParameterServerStrategy:
        """The strategy."""
        return self._strategy

    def schedule(
        self, fn: Callable[..., Any], args: Sequence[Any] | None = None, kwargs: dict[str, Any] | None = None
    ) -> RemoteValue:
        """Schedules a function, which some worker will run.

        Args:
            fn: a `tf.function` or one of its concrete functions.
            args, kwargs: its arguments, a sequence and a dict; none by default. For a value per worker, such as an
                iterator of `create_per_worker_dataset`, the function gets its worker's value.

        Returns:
            A `tf.distribute.coordinator.RemoteValue`, whose `fetch` waits for the result.

        Raises:
            TypeError: `fn` is something else.
            ValueError: an argument is the result of another function.
            Exception: the first error of a function that was scheduled before. Those that waited are cancelled.
        """
        if not isinstance(fn, (Function, ConcreteFunction)):
            raise TypeError(
                "`tf.distribute.experimental.coordinator.ClusterCoordinator.schedule` only accepts a `tf.function` or "
                "a concrete function."
            )
        args, kwargs = tuple(args or ()), kwargs or {}
        if any(isinstance(v, RemoteValue) for v in nest.flatten((args, kwargs))):
            raise ValueError(
                "`tf.distribute.experimental.coordinator.RemoteValue` used as an input to scheduled function is not "
                "yet supported."
            )
        if isinstance(fn, Function):
            args, kwargs = fn._signature.bind(args, kwargs)  # with defaults, which a concrete function lacks
        with self._strategy.scope():
            own_args, own_kwargs = of_worker(0, (args, kwargs))
            concrete = fn.get_concrete_function(*own_args, **own_kwargs) if isinstance(fn, Function) else fn
            key, message = self._message(concrete)

        def run(worker: _Worker) -> Any:
            own_args, own_kwargs = of_worker(worker.index, (args, kwargs))
            tensors = concrete.binding.tensors(own_args, own_kwargs)
            arguments = [argument_message(t, self._task.share, message["name"]) for t in tensors]
            return concrete._pack(worker.run(key, message, arguments))

        closure = Closure(run)
        self._queue.put(closure)
        return closure.value

    def _message(self, concrete: ConcreteFunction) -> tuple[str, dict[str, Any]]:
        if concrete not in self._messages:
            self._messages[concrete] = f"{OWNER}/{next(self._numbers)}", message_of(concrete, self._task.share)
        return self._messages[concrete]

    def join(self) -> None:
        """Waits until all scheduled functions have run.

        Raises:
            Exception: the first error of a scheduled function. Those that waited are cancelled, and none runs any more.
        """
        self._queue.join()

    def done(self) -> bool:
        """Returns True if all scheduled functions have run.

        Raises:
            Exception: the first error of a scheduled function. Those that waited are cancelled, and none runs any more.
        """
        return self._queue.done()

    def fetch(self, val: Any) -> Any:
        """Waits for the results in a structure and returns them as arrays.

        Args:
            val: a nest of results of `schedule`; other values in it stay unchanged.

        Raises:
            CancelledError: a function was not run, as another one failed.
        """
        return nest.map_structure(lambda v: v.fetch() if isinstance(v, RemoteValue) else v, val)

    def create_per_worker_dataset(self, dataset_fn: Callable[..., Any]) -> PerWorkerDataset:
        """Creates a dataset for each worker.

        Args:
            dataset_fn: a function without arguments that returns a dataset, called for each worker; or a dataset.

        Returns:
            What `iter` takes. The iterators are arguments for `schedule`; their elements are computed in this process.

        Raises:
            ValueError: `dataset_fn` is neither, or creates variables.
        """
        return PerWorkerDataset(dataset_fn, self)


class PerWorkerDataset:
    """A dataset for each worker.

    Args:
        dataset_fn: a function without arguments that returns a worker's dataset, or a dataset.
        coordinator: the coordinator.
    """

    def __init__(self, dataset_fn: Any, coordinator: ClusterCoordinator) -> None:
        self._coordinator = coordinator
        create: Callable[[], Any]
        if isinstance(dataset_fn, (Dataset, DistributedDataset)):
            create = lambda: dataset_fn  # noqa: E731
        elif callable(dataset_fn):
            create = dataset_fn.python_function if isinstance(dataset_fn, Function) else dataset_fn
        else:
            raise ValueError("Unexpected dataset type!")
        self._datasets = []
        for worker in coordinator._workers:
            state.variable_creators.append(_refuse_variables)
            try:
                with dispatching(worker.index):
                    self._datasets.append(create())
            finally:
                discard(state.variable_creators, _refuse_variables)

    @property
    def element_spec(self) -> Any:
        """The spec of the elements."""
        return self._datasets[0].element_spec

    def __iter__(self) -> PerWorkerIterator:
        if state.graph is not None:
            raise RuntimeError("__iter__() is not supported inside of tf.function or in graph mode.")
        iterators = []
        for worker, dataset in zip(self._coordinator._workers, self._datasets, strict=True):
            with dispatching(worker.index):
                iterators.append(WorkerValue(iter(dataset)))
        return PerWorkerIterator(iterators)


def _refuse_variables(next_creator: Callable[..., Any], **kwargs: Any) -> Any:
    raise ValueError("Creating variables in `dataset_fn` is not allowed.")
