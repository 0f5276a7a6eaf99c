"""Values on workers: results of scheduled functions, and a value for each worker."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from collections.abc import Sequence
from typing import Any

from tapeflow.core.fork_locks import new_event
from tapeflow.core.types.spec import type_spec_from_value
from tapeflow.core.values import nest


class RemoteValue(metaclass=ABCMeta):
    """The result of a function on a worker, which may not be there yet.

    Example:
        >>> isinstance(tf.constant(1), tf.distribute.experimental.coordinator.RemoteValue)
        False
    """

    @abstractmethod
    def fetch(self) -> Any:
        """Waits for the result and returns it as arrays.

        Raises:
            CancelledError: the function was not run, as another one failed.
        """

    @abstractmethod
    def get(self) -> Any:
        """Waits for the result and returns it as tensors.

        Raises:
            CancelledError: the function was not run, as another one failed.
        """


class ScheduledValue(RemoteValue):
    """The result of a scheduled function."""

    def __init__(self) -> None:
        self._ended = new_event()
        self._result: Any = None
        self._error: BaseException | None = None

    def end(self, result: Any = None, error: BaseException | None = None) -> None:
        """Stores the result, or why there is none.

        Args:
            result: the result, as tensors.
            error: the error.
        """
        self._result, self._error = result, error
        self._ended.set()

    def get(self) -> Any:
        self._ended.wait()
        if self._error is not None:
            raise self._error
        return self._result

    def fetch(self) -> Any:
        return nest.map_structure(lambda v: v.numpy() if hasattr(v, "numpy") else v, self.get())


class WorkerValue(RemoteValue):
    """A worker's own value: an iterator, which stays where it is."""

    def __init__(self, value: Any) -> None:
        self._held = value

    @property
    def _type_spec(self) -> Any:
        return type_spec_from_value(self._held)

    def get(self) -> Any:
        return self._held

    def fetch(self) -> Any:
        return self._held


class PerWorkerValues:
    """A value for each worker: as an argument of a scheduled function, the value of the worker that runs it.

    `iter` of a dataset from `ClusterCoordinator.create_per_worker_dataset` returns an instance.

    Args:
        values: a `RemoteValue` for each worker.

    Raises:
        AssertionError: an item is not a `RemoteValue`.

    Example:
        >>> tf.distribute.coordinator.PerWorkerValue([1])
        Traceback (most recent call last):
        ...
        AssertionError: `PerWorkerValues` should only take `RemoteValue`s.
    """

    def __init__(self, values: Sequence[RemoteValue]) -> None:
        if not all(isinstance(v, RemoteValue) for v in values):
            raise AssertionError("`PerWorkerValues` should only take `RemoteValue`s.")
        self._values = tuple(values)


class PerWorkerIterator(PerWorkerValues):
    """An iterator for each worker."""

    def __next__(self) -> Any:
        return self.get_next()

    def get_next(self, name: str | None = None) -> Any:
        """Refuses: a scheduled function takes the elements.

        Raises:
            NotImplementedError: always.
        """
        raise NotImplementedError("Iterating over an `AsyncDistributedIterator` is not supported right now.")


def of_worker(worker: int, arguments: Any) -> Any:
    """Returns arguments as a worker gets them: its own of values for each worker."""

    def own(value: Any) -> Any:
        return value._values[worker].get() if isinstance(value, PerWorkerValues) else value

    return nest.map_structure(own, arguments)
