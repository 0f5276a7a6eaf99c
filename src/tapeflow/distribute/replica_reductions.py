"""Reductions of the values of replicas."""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from typing import Any

from tapeflow.array.concat_and_split import concat
from tapeflow.array.identities import identity
from tapeflow.core.device import device
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.values.indexed_slices import IndexedSlices
from tapeflow.core.values.variable import VariableAggregation
from tapeflow.distribute.values import DistributedValues, MirroredValues
from tapeflow.math.arithmetic import add_n
from tapeflow.math.division import truediv


class ReduceOp(enum.Enum):
    """A reduction: the sum, or the mean.

    Example:
        >>> tf.distribute.ReduceOp("SUM")
        <ReduceOp.SUM: 'SUM'>
    """

    SUM = "SUM"
    MEAN = "MEAN"

    @staticmethod
    def from_variable_aggregation(aggregation: VariableAggregation) -> ReduceOp:
        """Returns the op that a variable's aggregation stands for.

        Args:
            aggregation: a `tf.VariableAggregation`.

        Raises:
            ValueError: the aggregation is neither SUM nor MEAN.
        """
        ops = {VariableAggregation.SUM: ReduceOp.SUM, VariableAggregation.MEAN: ReduceOp.MEAN}
        if aggregation not in ops:
            raise ValueError(
                f"Could not convert from `tf.VariableAggregation` {aggregation} to`tf.distribute.ReduceOp` type"
            )
        return ops[aggregation]


def reduce_op_of(value: ReduceOp | str) -> ReduceOp:
    """Returns a `ReduceOp`: the argument itself, or the member with its name in any case.

    Raises:
        ValueError: there is no `ReduceOp` of that name.
    """
    return ReduceOp(value.upper()) if isinstance(value, str) else ReduceOp(value)


def reduce_values(reduce_op: ReduceOp, values: Sequence[Any]) -> Any:
    """Returns the sum or mean of tensors, on the device of the first; of `IndexedSlices`, as `IndexedSlices`.

    Raises:
        ValueError: only some of the values are `IndexedSlices`.
    """
    if any(isinstance(v, IndexedSlices) for v in values):
        if not all(isinstance(v, IndexedSlices) for v in values):
            raise ValueError("IndexedSlices and tensors can't be reduced together.")
        total = concat([v.values for v in values], 0)
        if reduce_op is ReduceOp.MEAN:
            total = total / len(values)
        return IndexedSlices(total, concat([v.indices for v in values], 0), values[0].dense_shape)
    total = add_n(list(values)) if len(values) > 1 else values[0]
    return truediv(total, len(values)) if reduce_op is ReduceOp.MEAN else total


def reduce_over_replicas(reduce_op: ReduceOp, value: Any) -> Any:
    """Returns the sum or mean over the replicas.

    Raises:
        ValueError: the value is the same in all replicas, which makes its sum ambiguous.
    """
    if not isinstance(value, DistributedValues):
        if reduce_op is ReduceOp.MEAN or (isinstance(value, (int, float)) and value == 0):
            return value
        raise ValueError(
            f"A non-DistributedValues value {value!s} cannot be reduced with the given reduce op {reduce_op}."
        )
    if reduce_op is ReduceOp.MEAN and isinstance(value, MirroredValues):
        return value.values[0]
    return reduce_values(reduce_op, value.values)


def copied_to(place: str, value: Any) -> Any:
    """Returns the value on a device."""
    with device(place):
        if isinstance(value, IndexedSlices):
            return IndexedSlices(identity(value.values), identity(value.indices), value.dense_shape)
        return identity(value)


def devices_of(destinations: Any) -> tuple[str, ...]:
    """Returns the devices that a device name, a tensor, a variable or distributed values stand for."""
    if isinstance(destinations, str):
        return (destinations,)
    if isinstance(destinations, DistributedValues):
        places = getattr(destinations, "_places", None)  # variables have them
        return tuple(v.device for v in destinations.values) if places is None else places
    return (destinations.device,)


class CrossDeviceOps:
    """Reductions and broadcasts among the devices of one strategy: the base of `ReductionToOneDevice` and others.

    The devices of one process share Python's thread. One device computes the sum, and the others get copies; between
    GPUs, torch copies directly from device to device.

    Example:
        >>> ops = tf.distribute.ReductionToOneDevice()
        >>> isinstance(ops, tf.distribute.CrossDeviceOps)
        True
    """

    def __init__(self) -> None: ...

    def reduce(self, reduce_op: ReduceOp, per_replica_value: Any, destinations: Any, options: Any = None) -> Any:
        """Returns the sum or mean of the values of all replicas, on each device of `destinations`.

        Args:
            reduce_op: a `tf.distribute.ReduceOp`.
            per_replica_value: distributed values.
            destinations: a device, or a tensor, variable or distributed values whose devices are used.
            options: accepted, and without effect within one process.

        Returns:
            A tensor; for several destinations a distributed value.

        Raises:
            ValueError: `reduce_op` is not a `tf.distribute.ReduceOp`.
        """
        if not isinstance(reduce_op, ReduceOp):
            raise ValueError("`reduce_op` must be Reduce.SUM or Reduce.MEAN.")
        return self.reduce_implementation(reduce_op, per_replica_value, destinations, options)

    def batch_reduce(
        self, reduce_op: ReduceOp | str, value_destination_pairs: Sequence[tuple[Any, Any]], options: Any = None
    ) -> list[Any]:
        """Calls `reduce` for each pair of values and destinations.

        Args:
            reduce_op: a `tf.distribute.ReduceOp`, or its name.
            value_destination_pairs: pairs of distributed values and destinations, see `reduce`.
            options: accepted, and without effect within one process.

        Returns:
            A list of the results of `reduce`.
        """
        return self.batch_reduce_implementation(reduce_op_of(reduce_op), value_destination_pairs, options)

    def broadcast(self, tensor: TensorLike, destinations: Any) -> Any:
        """Returns the tensor on each device of `destinations`.

        Args:
            tensor: a tensor or `tf.IndexedSlices`.
            destinations: a device, or a tensor, variable or distributed values whose devices are used.

        Returns:
            A tensor; for several destinations a distributed value.
        """
        return self.broadcast_implementation(tensor, destinations)

    def reduce_implementation(self, reduce_op: Any, per_replica_value: Any, destinations: Any, options: Any) -> Any:
        """Implements `reduce`; subclasses may override it."""
        values = per_replica_value.values if isinstance(per_replica_value, DistributedValues) else (per_replica_value,)
        return self.broadcast_implementation(reduce_values(reduce_op, values), destinations)

    def batch_reduce_implementation(
        self, reduce_op: ReduceOp, value_destination_pairs: Sequence[tuple[Any, Any]], options: Any
    ) -> list[Any]:
        """Implements `batch_reduce`; subclasses may override it."""
        return [self.reduce_implementation(reduce_op, v, d, options) for v, d in value_destination_pairs]

    def broadcast_implementation(self, tensor: Any, destinations: Any) -> Any:
        """Implements `broadcast`; subclasses may override it."""
        copies = [copied_to(d, tensor) for d in devices_of(destinations)]
        return MirroredValues(copies) if len(copies) > 1 else copies[0]


class ReductionToOneDevice(CrossDeviceOps):
    """Reduces on one device, and copies the result to the others.

    Args:
        reduce_to_device: the name of the device to reduce on; by default the first value's device.
        accumulation_fn: a function that sums a list of tensors; by default `tf.add_n`.

    Example:
        >>> strategy = tf.distribute.MirroredStrategy(["/cpu:0"], cross_device_ops=tf.distribute.ReductionToOneDevice())
        >>> strategy.reduce("SUM", strategy.run(lambda: tf.constant(2.0)), axis=None).numpy().item()
        2.0
    """

    def __init__(
        self, reduce_to_device: str | None = None, accumulation_fn: Callable[[list[Any]], Any] | None = None
    ) -> None:
        self.reduce_to_device, self.accumulation_fn = reduce_to_device, accumulation_fn

    def reduce_implementation(self, reduce_op: Any, per_replica_value: Any, destinations: Any, options: Any) -> Any:
        """Reduces on `reduce_to_device`, by `accumulation_fn`."""
        if self.reduce_to_device is None and self.accumulation_fn is None:
            return super().reduce_implementation(reduce_op, per_replica_value, destinations, options)
        with device(self.reduce_to_device or devices_of(per_replica_value)[0]):
            values = [v if isinstance(v, IndexedSlices) else identity(v) for v in per_replica_value.values]
            if self.accumulation_fn is None or any(isinstance(v, IndexedSlices) for v in values):
                total = reduce_values(reduce_op, values)
            else:
                total = self.accumulation_fn(values)
                total = truediv(total, len(values)) if reduce_op is ReduceOp.MEAN else total
        return self.broadcast_implementation(total, destinations)


class _AllReduce(CrossDeviceOps):
    """Reductions with a number of packs.

    Args:
        num_packs: accepted; the tensors are not packed.

    Raises:
        ValueError: `num_packs` is negative.
    """

    def __init__(self, num_packs: int = 1) -> None:
        if num_packs < 0:
            raise ValueError(f"num_packs must be greater than or equal to zero, but {num_packs} is specified.")
        self.num_packs = num_packs


class HierarchicalCopyAllReduce(_AllReduce):
    """Reduces on one device of the process, and copies from there.

    Args:
        num_packs: accepted; the tensors are not packed.

    Example:
        >>> ops = tf.distribute.HierarchicalCopyAllReduce()
        >>> strategy = tf.distribute.MirroredStrategy(["/cpu:0"], cross_device_ops=ops)
        >>> strategy.reduce("SUM", strategy.run(lambda: tf.constant(2.0)), axis=None).numpy().item()
        2.0
    """


class NcclAllReduce(_AllReduce):
    """Reduces the gradients of GPUs. In one process the copies of torch go from GPU to GPU without NCCL.

    Args:
        num_packs: accepted; the tensors are not packed.

    Example:
        >>> strategy = tf.distribute.MirroredStrategy(["/cpu:0"], cross_device_ops=tf.distribute.NcclAllReduce())
        >>> strategy.reduce("SUM", strategy.run(lambda: tf.constant(2.0)), axis=None).numpy().item()
        2.0
    """
