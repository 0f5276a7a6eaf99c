"""Distributed datasets: a dataset's batches, divided among the replicas."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from tapeflow.array.creation import zeros
from tapeflow.array.properties import shape
from tapeflow.control.conditions_and_loops import cond
from tapeflow.control.optional import Optional
from tapeflow.core import errors
from tapeflow.core.fork_locks import cached_property
from tapeflow.core.types.dtypes import int32
from tapeflow.core.types.spec import TensorSpec, TypeSpec, type_spec_from_value
from tapeflow.core.values import nest
from tapeflow.core.values.composite import CompositeTensor
from tapeflow.distribute.options import InputOptions, InputReplicationMode
from tapeflow.distribute.replica_reductions import ReduceOp, copied_to
from tapeflow.distribute.values import PerReplicaSpec, regroup
from tapeflow.math.casting import cast
from tapeflow.math.comparison import greater
from tapeflow.math.extrema import minimum

if TYPE_CHECKING:
    from tapeflow.data.dataset import Dataset
    from tapeflow.distribute.strategy import Strategy


@dataclasses.dataclass(frozen=True, slots=True)
class Division:
    """The division of a dataset's batches among the replicas of this process.

    Attributes:
        slots: the numbers of these replicas' parts of every batch; empty where each replica takes a batch of its own.
        count: the number of parts of a batch; without slots, the number of batches at a time.
        part: `part(tensor, slot, count)`, a part of a tensor.
        agrees: whether the workers ask each other, at each step, whether any of them has more batches: those that have
            none take part with empty ones.
    """

    slots: tuple[int, ...]
    count: int
    part: Callable[[Any, Any, int], Any]
    agrees: bool = False


def divide_batches(count: int) -> Division:
    """Returns the division of each batch into a part for each of so many replicas, all of this process."""
    return Division(tuple(range(count)), count, balanced_part)


def dealt(count: int, agrees: bool = False) -> Division:
    """Returns the division that passes whole batches to so many replicas, one after the other."""
    return Division((), count, balanced_part, agrees)


class DistributedDataset(CompositeTensor):
    """A dataset that passes a part of every batch to each replica; created by a strategy.

    Args:
        dataset: the `tf.data.Dataset`.
        strategy: the strategy whose replicas get the batches.
        options: a `tf.distribute.InputOptions`.
        division: the parts that the replicas get.

    Raises:
        ValueError: the options specify a dataset for each replica, or the dataset's elements are scalars.
    """

    __module__ = "tensorflow.python.distribute.input_lib"  # Keras knows the class by its name there

    def __init__(self, dataset: Dataset, strategy: Strategy, options: InputOptions | None, division: Division) -> None:
        options = options or InputOptions()
        if options.experimental_replication_mode is InputReplicationMode.PER_REPLICA:
            raise ValueError("InputReplicationMode.PER_REPLICA is not supported: use PER_WORKER.")
        self._dataset, self._strategy, self._options, self._division = dataset, strategy, options, division
        _check_batched(dataset.element_spec, division)

    @property
    def element_spec(self) -> Any:
        """The spec of the elements: for each replica, the spec of its part."""
        return _element_spec(self._dataset.element_spec, self._division)

    @property
    def _type_spec(self) -> DistributedDatasetSpec:
        spec = type_spec_from_value(self._dataset)
        return DistributedDatasetSpec(spec, self._strategy, self._options, self._division)

    def __iter__(self) -> DistributedIterator:
        return DistributedIterator(iter(self._dataset), self._strategy, self._options, self._division)

    def __tf_autograph_for__(self, loop: Any) -> None:
        iter(self).__tf_autograph_for__(loop)

    @property
    def cardinality(self) -> Any:
        """Returns the number of batches, as an int64 number. See `tf.data.Dataset.cardinality`."""
        return self._dataset.cardinality().numpy()

    def reduce(self, initial_state: Any, reduce_func: Any) -> Any:
        """Folds the batches: `state = reduce_func(state, batch)` for one after the other.

        Args:
            initial_state: the first state, a nest of tensors.
            reduce_func: takes the state and a batch, and returns the next state.

        Returns:
            The last state.
        """
        state = initial_state
        for batch in self:
            state = reduce_func(state, batch)
        return state


class DistributedIterator(CompositeTensor):
    """The iterator of a distributed dataset.

    Example:
        >>> strategy = tf.distribute.MirroredStrategy(["/cpu:0"])
        >>> it = iter(strategy.experimental_distribute_dataset(tf.data.Dataset.range(4).batch(2)))
        >>> isinstance(it, tf.distribute.DistributedIterator)
        True
    """

    def __init__(self, iterator: Any, strategy: Strategy, options: InputOptions, division: Division) -> None:
        self._iterator, self._strategy, self._options, self._division = iterator, strategy, options, division

    @property
    def element_spec(self) -> Any:
        """The spec of the elements: for each replica, the spec of its part."""
        return _element_spec(self._iterator.element_spec, self._division)

    @cached_property
    def _type_spec(self) -> DistributedIteratorSpec:
        spec = type_spec_from_value(self._iterator)
        return DistributedIteratorSpec(spec, self._strategy, self._options, self._division)

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        try:
            return self.get_next()
        except errors.OutOfRangeError:
            raise StopIteration from None

    def __tf_autograph_for__(self, loop: Any) -> None:
        loop.over(
            self._optionals(),
            more=lambda *optionals: self._more(optionals),
            take=lambda *optionals: (self._value(optionals), self._optionals),
        )

    def get_next(self) -> Any:
        """Returns the next batch, divided.

        Raises:
            OutOfRangeError: there are no more batches.
        """
        if not self._division.agrees:
            first = self._iterator.get_next()
            others = [self._iterator.get_next_as_optional() for _ in range(self._elements_at_a_time - 1)]
            return self._replicas(first, others)
        optionals = self._optionals()
        return cond(
            self._more(optionals),
            lambda: self._value(optionals),
            lambda: self._replicas(self._iterator.get_next(), optionals[1:]),  # which says that there is no more
        )

    def get_next_as_optional(self) -> Any:
        """Returns the next batch, divided, as a `tf.experimental.Optional`, which is empty at the end."""
        optionals = self._optionals()
        return cond(
            self._more(optionals),
            lambda: Optional.from_value(self._value(optionals)),
            lambda: Optional.empty(self.element_spec),
        )

    @property
    def _elements_at_a_time(self) -> int:
        """The number of elements of the dataset that the replicas get at a time."""
        return 1 if self._division.slots else self._division.count

    def _optionals(self) -> tuple[Any, ...]:
        """Returns the next elements of the dataset; at its end, empty."""
        return tuple([self._iterator.get_next_as_optional() for _ in range(self._elements_at_a_time)])

    def _more(self, optionals: Sequence[Any]) -> Any:
        """Returns True if there is a batch for any replica."""
        more = optionals[0].has_value()
        if not self._division.agrees:
            return more
        return greater(self._strategy.extended._reduce(ReduceOp.SUM, cast(more, int32)), 0)

    def _value(self, optionals: Sequence[Any]) -> Any:
        first = optionals[0]
        if not self._division.agrees:
            return self._replicas(first.get_value(), optionals[1:])
        empty = nest.map_structure(_empty_of_spec, self._iterator.element_spec)
        return self._replicas(cond(first.has_value(), first.get_value, lambda: empty), optionals[1:])

    def _replicas(self, first: Any, others: Sequence[Any]) -> Any:
        """Returns each replica's part of a batch, or a batch for each of them."""
        division = self._division
        if division.slots:
            return self._placed(
                [nest.map_structure(lambda t, i=i: division.part(t, i, division.count), first) for i in division.slots]
            )

        def nothing() -> Any:  # the dataset ended between two replicas
            return nest.map_structure(lambda t: t[:0], first)

        return self._placed([first, *(cond(o.has_value(), o.get_value, nothing) for o in others)])

    def _placed(self, parts: list[Any]) -> Any:
        if self._options.experimental_fetch_to_device:
            places = self._strategy.extended.worker_devices
            parts = [
                nest.map_structure(lambda t, d=d: t if hasattr(t, "_type_spec") else copied_to(d, t), part)
                for d, part in zip(places, parts, strict=True)
            ]
        return regroup(parts)


class _DividedSpec(TypeSpec):
    """The spec of a distributed dataset or iterator: the spec of the whole, and its division."""

    __slots__ = ("_division", "_options", "_spec", "_strategy")

    def __init__(self, spec: Any, strategy: Strategy, options: InputOptions, division: Division) -> None:
        self._spec, self._strategy, self._options, self._division = spec, strategy, options, division

    @property
    def _component_specs(self) -> Any:
        return [self._spec]

    def _from_components(self, components: Sequence[Any]) -> Any:
        return self.value_type(components[0], self._strategy, self._options, self._division)

    def _serialize(self) -> tuple[Any, ...]:
        return self._spec, self._strategy, self._options, self._division

    def __hash__(self) -> int:  # of one part: functions look up their traces by it at each step
        return hash((type(self), self._spec))


class DistributedDatasetSpec(_DividedSpec):
    """The spec of a `DistributedDataset`."""

    __slots__ = ()

    value_type = DistributedDataset

    def _to_components(self, value: DistributedDataset) -> Any:
        return [value._dataset]


class DistributedIteratorSpec(_DividedSpec):
    """The spec of a `DistributedIterator`."""

    __slots__ = ()

    value_type = DistributedIterator

    def _to_components(self, value: DistributedIterator) -> Any:
        return [value._iterator]


def balanced_part(batch: Any, index: Any, count: int) -> Any:
    """Returns a replica's part of a batch. If the size is no multiple of `count`, the first parts get one more."""
    if count == 1:
        return batch
    size = batch.shape[0] if batch.shape[0] is not None else shape(batch)[0]
    each, more = size // count, size % count
    if isinstance(size, int):
        start = index * each + min(index, more)
        return batch[start : start + each + (index < more)]
    start, end = (i * each + minimum(i, more) for i in (index, index + 1))
    return batch[start:end]


def leading_part(batch: Any, index: Any, count: int) -> Any:
    """Returns a replica's part of a batch: all are as large as the first one, as far as the batch lasts."""
    size = batch.shape[0] if batch.shape[0] is not None else shape(batch)[0]
    each = -(-size // count)
    return batch[index * each : (index + 1) * each]


def _empty_of_spec(spec: Any) -> Any:
    """Returns a batch without elements; dimensions that are unknown are 0."""
    if not isinstance(spec, TensorSpec) or spec.shape.rank is None:
        raise TypeError(
            f"The workers' datasets may end at different steps, and there is no empty batch of {spec}: repeat the "
            "dataset, or let it drop the remainder."
        )
    return zeros([0, *[d or 0 for d in spec.shape.as_list()[1:]]][: spec.shape.rank], spec.dtype)


def _check_batched(spec: Any, division: Division) -> None:
    for leaf in nest.flatten(spec):
        if division.slots and division.count > 1 and isinstance(leaf, TensorSpec) and leaf.shape.rank == 0:
            raise ValueError(
                "The dataset gives scalars, which can't be divided among replicas: batch it, "
                "`dataset.batch(global_batch_size)`, before it is distributed."
            )


def _element_spec(spec: Any, division: Division) -> Any:
    slots, count = division.slots, division.count
    replicas = len(slots) or count

    def per_replica(leaf: Any) -> Any:
        spec = leaf
        if (division.agrees or (slots and count > 1)) and isinstance(leaf, TensorSpec) and leaf.shape.rank:
            size = leaf.shape[0] if slots else None
            each = None if size is None or size % count else size // count
            spec = TensorSpec([each, *leaf.shape.as_list()[1:]], leaf.dtype)
        return spec if replicas == 1 else PerReplicaSpec(*[spec] * replicas)

    return nest.map_structure(per_replica, spec)
