"""Distributed datasets: a dataset's batches, divided among the replicas."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tapeflow import errors, nest
from tapeflow.array.creation import zeros
from tapeflow.array.properties import shape
from tapeflow.core.composite import CompositeTensor
from tapeflow.core.convert import convert
from tapeflow.core.spec import TensorSpec, TypeSpec
from tapeflow.distribute.options import InputOptions, InputReplicationMode
from tapeflow.distribute.reducing import copied_to
from tapeflow.distribute.values import PerReplicaSpec, regroup
from tapeflow.math import minimum


class DistributedDataset:
    """A dataset that gives a part of every batch to each replica; made by a strategy.

    Args:
        dataset: the `tf.data.Dataset`.
        strategy: whose replicas get the batches.
        options: a `tf.distribute.InputOptions`.
        divides: its batches are for all replicas, rather than for one.

    Raises:
        ValueError: the options ask for a dataset for each replica, or the dataset's elements are no batches.
    """

    __module__ = "tensorflow.python.distribute.input_lib"  # by which Keras tells it

    def __init__(self, dataset: Any, strategy: Any, options: InputOptions | None = None, divides: bool = True) -> None:
        options = options or InputOptions()
        if options.experimental_replication_mode is InputReplicationMode.PER_REPLICA:
            raise ValueError("InputReplicationMode.PER_REPLICA is not supported: use PER_WORKER.")
        self._dataset, self._strategy, self._options, self._divides = dataset, strategy, options, divides
        _check_batched(dataset.element_spec, strategy.num_replicas_in_sync, divides)

    @property
    def element_spec(self) -> Any:
        """What a replica gets, for each of them."""
        return _element_spec(self._dataset.element_spec, self._strategy.num_replicas_in_sync, self._divides)

    def __iter__(self) -> DistributedIterator:
        return DistributedIterator(iter(self._dataset), self._strategy, self._options, self._divides)

    def __len__(self) -> int:
        count = len(self._dataset)
        return count if self._divides else -(-count // self._strategy.num_replicas_in_sync)

    def cardinality(self) -> Any:
        """How many batches there are. See `tf.data.Dataset.cardinality`."""
        return self._dataset.cardinality()

    def reduce(self, initial_state: Any, reduce_func: Any) -> Any:
        """Folds the batches: `state = reduce_func(state, batch)` for one after the other."""
        state = initial_state
        for batch in self:
            state = reduce_func(state, batch)
        return state


class DistributedIterator(CompositeTensor):
    """The iterator of a distributed dataset."""

    def __init__(self, iterator: Any, strategy: Any, options: InputOptions, divides: bool) -> None:
        self._iterator, self._strategy, self._options, self._divides = iterator, strategy, options, divides

    @property
    def element_spec(self) -> Any:
        """What a replica gets, for each of them."""
        return _element_spec(self._iterator.element_spec, self._strategy.num_replicas_in_sync, self._divides)

    @property
    def _type_spec(self) -> DistributedIteratorSpec:
        return DistributedIteratorSpec(self._iterator._type_spec, self._strategy, self._options, self._divides)

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        try:
            return self.get_next()
        except errors.OutOfRangeError:
            raise StopIteration from None

    def get_next(self) -> Any:
        """The next batch, divided.

        Raises:
            OutOfRangeError: there is none.
        """
        if self._divides:
            return self._divided(self._iterator.get_next())
        parts = [self._iterator.get_next()]
        for _ in range(1, self._strategy.num_replicas_in_sync):
            try:
                parts.append(self._iterator.get_next())
            except errors.OutOfRangeError:  # the dataset ends between two replicas: the others get nothing
                parts.append(nest.map_structure(_nothing_like, parts[0]))
        return self._placed(parts)

    def get_next_as_optional(self) -> Any:
        """The next batch, divided, as a `tf.experimental.Optional`, which is empty where there is none."""
        from tapeflow.control_flow import cond
        from tapeflow.optional import Optional

        if not self._divides:
            try:
                return Optional.from_value(self.get_next())
            except errors.OutOfRangeError:
                return Optional.empty(self.element_spec)
        found = self._iterator.get_next_as_optional()
        return cond(
            found.has_value(),
            lambda: Optional.from_value(self._divided(found.get_value())),
            lambda: Optional.empty(self.element_spec),
        )

    def _divided(self, batch: Any) -> Any:
        count = self._strategy.num_replicas_in_sync
        return self._placed([nest.map_structure(lambda t, i=i: _part(t, i, count), batch) for i in range(count)])

    def _placed(self, parts: list[Any]) -> Any:
        if self._options.experimental_fetch_to_device:
            places = self._strategy.extended.worker_devices
            parts = [
                nest.map_structure(lambda t, d=d: t if hasattr(t, "_type_spec") else copied_to(d, t), part)
                for d, part in zip(places, parts, strict=True)
            ]
        return regroup(parts)


class DistributedIteratorSpec(TypeSpec):
    """The spec of a `DistributedIterator`: that of the iterator it divides."""

    __slots__ = ("_divides", "_options", "_spec", "_strategy")

    def __init__(self, spec: Any, strategy: Any, options: InputOptions, divides: bool) -> None:
        self._spec, self._strategy, self._options, self._divides = spec, strategy, options, divides

    @property
    def value_type(self) -> type:
        return DistributedIterator

    @property
    def _component_specs(self) -> Any:
        return [self._spec]

    def _to_components(self, value: DistributedIterator) -> Any:
        return [value._iterator]

    def _from_components(self, components: Any) -> DistributedIterator:
        return DistributedIterator(components[0], self._strategy, self._options, self._divides)

    def _serialize(self) -> tuple[Any, ...]:
        return self._spec, self._strategy, self._options, self._divides


def _part(batch: Any, index: int, count: int) -> Any:
    """A replica's part of a batch: the first replicas get one more, where the parts can't be equal."""
    if count == 1:
        return batch
    size = batch.shape[0] if batch.shape[0] is not None else shape(batch)[0]
    each, more = size // count, size % count
    if isinstance(size, int):
        start = index * each + min(index, more)
        return batch[start : start + each + (index < more)]
    start, end = (i * each + minimum(i, more) for i in (index, index + 1))
    return batch[start:end]


def _nothing_like(batch: Any) -> Any:
    tensor = convert(batch)
    return zeros([0, *tensor.shape.as_list()[1:]], tensor.dtype)


def _check_batched(spec: Any, count: int, divides: bool) -> None:
    for leaf in nest.flatten(spec):
        if divides and count > 1 and isinstance(leaf, TensorSpec) and leaf.shape.rank == 0:
            raise ValueError(
                "The dataset gives scalars, which can't be divided among replicas: batch it, "
                "`dataset.batch(global_batch_size)`, before it is distributed."
            )


def _element_spec(spec: Any, count: int, divides: bool) -> Any:
    if count == 1:
        return spec

    def per_replica(leaf: Any) -> Any:
        mine = leaf
        if divides and isinstance(leaf, TensorSpec) and leaf.shape.rank:
            size = leaf.shape[0]
            each = None if size is None or size % count else size // count
            mine = TensorSpec([each, *leaf.shape.as_list()[1:]], leaf.dtype)
        return PerReplicaSpec(*[mine] * count)

    return nest.map_structure(per_replica, spec)
