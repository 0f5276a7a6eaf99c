"""Methods of strategies that TensorFlow 2 still has for programs of TensorFlow 1: iterators, and runs over them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from tapeflow.distribute.options import InputContext, InputReplicationMode

if TYPE_CHECKING:
    from tapeflow.data.dataset import Dataset


class StrategyIterator:
    """An iterator over a strategy's dataset that can begin again.

    Args:
        dataset: the dataset, divided among the replicas.
    """

    def __init__(self, dataset: Any) -> None:
        self._dataset = dataset
        self._iterator = iter(dataset)

    def get_next(self) -> Any:
        """Returns the next batch, divided.

        Raises:
            OutOfRangeError: there are no more batches.
        """
        return self._iterator.get_next()

    def initialize(self) -> None:
        """Begins again with the first batch."""
        self._iterator = iter(self._dataset)


class V1Methods:
    """Methods of `tf.distribute.Strategy` for programs of TensorFlow 1."""

    run: Callable[..., Any]
    scope: Callable[[], AbstractContextManager[Any]]
    experimental_distribute_dataset: Callable[..., Any]
    distribute_datasets_from_function: Callable[..., Any]

    def make_dataset_iterator(self, dataset: Dataset) -> StrategyIterator:
        """Returns an iterator over a dataset whose batches are divided among the replicas.

        Args:
            dataset: a `tf.data.Dataset` of batches for all replicas together.
        """
        return StrategyIterator(self.experimental_distribute_dataset(dataset))

    def make_input_fn_iterator(
        self,
        input_fn: Callable[[InputContext], Any],
        replication_mode: InputReplicationMode = InputReplicationMode.PER_WORKER,
    ) -> StrategyIterator:
        """Returns an iterator over a dataset whose batches go to one replica after the other.

        Args:
            input_fn: a function from a `tf.distribute.InputContext` to a dataset of batches for one replica.
            replication_mode: `PER_WORKER`.

        Raises:
            ValueError: `replication_mode` is another.
        """
        if replication_mode is not InputReplicationMode.PER_WORKER:
            raise ValueError(f"Input replication mode not supported: {replication_mode!r}")
        return StrategyIterator(self.distribute_datasets_from_function(input_fn))

    def experimental_run(self, fn: Callable[..., Any], input_iterator: StrategyIterator | None = None) -> Any:
        """Calls `run` with the next batch of an iterator.

        Args:
            fn: the function.
            input_iterator: what `make_dataset_iterator` or `make_input_fn_iterator` returned; None for no arguments.
        """
        with self.scope():
            return self.run(fn, args=() if input_iterator is None else (input_iterator.get_next(),))

    def configure(
        self, session_config: Any = None, cluster_spec: Any = None, task_type: str | None = None,
        task_id: int | None = None,
    ) -> None:  # fmt: skip
        """Does nothing: a strategy knows its cluster from when it is created.

        Args:
            session_config: accepted, and without effect.
            cluster_spec, task_type, task_id: None.

        Raises:
            ValueError: there is a cluster.
        """
        if cluster_spec:
            raise ValueError(f"A strategy can't change its cluster to {cluster_spec}: create one with its resolver.")
