"""`tf.distribute.Strategy`, the default strategy, and the replica contexts of all strategies."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

from tapeflow.array.concat_and_split import concat, split
from tapeflow.array.identities import group, identity
from tapeflow.array.properties import shape
from tapeflow.autodiff.custom_gradients import custom_gradient
from tapeflow.autograph.conversion import convert_function
from tapeflow.core.context import discard, state
from tapeflow.core.device import device
from tapeflow.core.ops.convert import convert
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.values import nest
from tapeflow.core.values.indexed_slices import IndexedSlices
from tapeflow.core.values.tensor import Tensor
from tapeflow.core.values.variable import Variable
from tapeflow.distribute.context import Place, move_thread, place, require_cross_replica
from tapeflow.distribute.input import DistributedDataset, dealt, divide_batches
from tapeflow.distribute.options import InputContext, InputOptions, ValueContext
from tapeflow.distribute.replica_reductions import (
    CrossDeviceOps,
    ReduceOp,
    copied_to,
    reduce_op_of,
    reduce_over_replicas,
)
from tapeflow.distribute.v1_methods import V1Methods
from tapeflow.distribute.values import (
    DistributedValues,
    MirroredValues,
    PerReplica,
    local_results,
    regroup,
    select_replica,
)
from tapeflow.math.arithmetic import add_n
from tapeflow.math.casting import cast
from tapeflow.math.division import truediv
from tapeflow.math.reduction import reduce_sum

if TYPE_CHECKING:
    from google.protobuf.message import Message

    from tapeflow.data.dataset import Dataset


class ReplicaContext:
    """The state of a running replica, and the operations among replicas.

    Args:
        strategy: the strategy.
        replica_id_in_sync_group: an int, the number of the replica in this process.

    Example:
        >>> strategy = tf.distribute.MirroredStrategy(["/cpu:0"])
        >>> strategy.run(lambda: tf.distribute.get_replica_context().num_replicas_in_sync)
        1
    """

    def __init__(self, strategy: Strategy, replica_id_in_sync_group: Any) -> None:
        self._strategy, self._id = strategy, replica_id_in_sync_group
        self._scopes: list[Any] = []

    def __enter__(self) -> None:
        self._scopes.append(move_thread(self._strategy, self, self._id))
        self._scopes[-1].__enter__()

    def __exit__(self, *error: Any) -> None:
        self._scopes.pop().__exit__(*error)

    @property
    def strategy(self) -> Any:
        """The strategy."""
        return self._strategy

    @property
    def num_replicas_in_sync(self) -> int:
        """The number of replicas."""
        return self._strategy.num_replicas_in_sync

    @property
    def replica_id_in_sync_group(self) -> Any:
        """The number of the replica: an int32 scalar, or an int where there is one replica only."""
        return self._global_id if self.num_replicas_in_sync == 1 else convert(self._global_id)

    @property
    def _global_id(self) -> int:
        return self._strategy.extended._first_replica + self._id

    @property
    def devices(self) -> tuple[str, ...]:
        """The device of the replica."""
        return (self._strategy.extended.worker_devices[self._id],)

    def merge_call(self, merge_fn: Callable[..., Any], args: Sequence[Any] = (), kwargs: Any = None) -> Any:
        """Waits for all replicas to come here, and calls a function once, in cross-replica context.

        Args:
            merge_fn: takes the strategy, then the arguments of all replicas as distributed values.
            args, kwargs: this replica's arguments.

        Returns:
            This replica's part of the function's result.

        Raises:
            RuntimeError: it is called in cross-replica context, or not by all replicas.
        """
        self._require_running()
        with move_thread(self._strategy, None):
            return merge_fn(self._strategy, *args, **(kwargs or {}))

    def all_reduce(self, reduce_op: ReduceOp | str, value: TensorLike, options: Any = None) -> Any:
        """Returns the sum or mean over all replicas, in each of them. Gradients are reduced the same way.

        Args:
            reduce_op: a `tf.distribute.ReduceOp`, or its name.
            value: a tensor, `tf.IndexedSlices`, or a nest of them, of equal structure in all replicas. A tensor from
                outside, the same object in all replicas, is summed once, as in TensorFlow.
            options: accepted, and without effect within one process.

        Returns:
            The totals, in the structure of `value`.

        Raises:
            ValueError: there is no such reduction.
        """
        op = reduce_op_of(reduce_op)
        self._require_running()
        if self.num_replicas_in_sync == 1:
            return value
        flat = nest.flatten(value)

        def merge(strategy: Strategy, *values: Any) -> Any:
            return strategy.extended.batch_reduce_to(op, [(v, v) for v in values])

        def reduce_all(*tensors: Any) -> Any:
            total = self.merge_call(merge, args=tensors)
            return total, lambda *dys: self.all_reduce(op, list(dys))

        dense = [i for i, v in enumerate(flat) if not isinstance(v, IndexedSlices)]
        if dense:
            totals = custom_gradient(reduce_all)(*[_tensor_of_replica(flat[i]) for i in dense])
            for i, v in zip(dense, totals, strict=True):
                flat[i] = v
        if len(dense) < len(flat):
            sparse = [i for i in range(len(flat)) if i not in dense]
            for i, v in zip(sparse, self.merge_call(merge, args=[flat[i] for i in sparse]), strict=True):
                flat[i] = v
        return nest.pack_sequence_as(value, flat)

    def all_gather(self, value: TensorLike, axis: int, options: Any = None) -> Any:
        """Returns the values of all replicas concatenated along an axis, in each of them.

        Args:
            value: a tensor or a nest of them, of the same rank in all replicas and the same shape but for `axis`.
            axis: the axis of the concatenation.
            options: accepted, and without effect within one process.

        Returns:
            The joined tensors, in the structure of `value`.

        Raises:
            ValueError: a value is `tf.IndexedSlices`.
        """
        flat = nest.flatten(value)
        if any(isinstance(v, IndexedSlices) for v in flat):
            raise ValueError("all_gather does not support IndexedSlices")
        self._require_running()
        if self.num_replicas_in_sync == 1:
            return value
        index = self._global_id

        def merge(strategy: Strategy, *values: Any) -> Any:
            joined = [strategy.extended._gather(v, axis) for v in values]
            return [MirroredValues([copied_to(d, j) for d in strategy.extended.worker_devices]) for j in joined]

        def gather_all(*tensors: Any) -> Any:
            joined = self.merge_call(merge, args=tensors)

            def backward(*dys: Any) -> Any:
                sizes = self.all_gather([shape(t)[axis : axis + 1] for t in tensors], 0)
                totals = self.all_reduce(ReduceOp.SUM, list(dys))
                return [split(dy, s, axis)[index] for dy, s in zip(totals, sizes, strict=True)]

            return joined, backward

        return nest.pack_sequence_as(value, custom_gradient(gather_all)(*[convert(v) for v in flat]))

    def _require_running(self) -> None:
        if place.replica is not self:
            raise RuntimeError("This ReplicaContext is not the one of the replica that is running here.")


def _tensor_of_replica(value: TensorLike) -> Tensor:
    """Converts a value to a tensor; a Python value becomes a tensor of this replica alone."""
    return convert(value) if isinstance(value, (Tensor, Variable)) else identity(value)


class StrategyExtended:
    """The interface of a strategy for libraries, as `strategy.extended`.

    Args:
        container_strategy: the strategy.
        devices: the devices of its replicas.
        cross_device_ops: the reductions among them.

    Example:
        >>> strategy = tf.distribute.MirroredStrategy(["/cpu:0"])
        >>> strategy.extended.worker_devices
        ('/job:localhost/replica:0/task:0/device:CPU:0',)
    """

    def __init__(
        self, container_strategy: Strategy, devices: Sequence[str] = (), cross_device_ops: CrossDeviceOps | None = None
    ) -> None:
        self._strategy = container_strategy
        self._devices = tuple(devices)
        self._cross_device_ops = cross_device_ops or CrossDeviceOps()

    @property
    def worker_devices(self) -> tuple[str, ...]:
        """The devices of the replicas."""
        return self._devices

    @property
    def parameter_devices(self) -> tuple[str, ...]:
        """The devices of variables."""
        return self._devices

    @property
    def experimental_require_static_shapes(self) -> bool:
        """Returns False: shapes need not be static."""
        return False

    @property
    def should_checkpoint(self) -> bool:
        """Returns True if this process is the one that writes checkpoints and summaries which others read."""
        return True

    @property
    def should_save_summary(self) -> bool:
        """Returns the same as `should_checkpoint`."""
        return self.should_checkpoint

    @property
    def _num_replicas_in_sync(self) -> int:
        return max(1, len(self._devices))

    _first_replica = 0  # the number of this process's first replica among the replicas of all workers
    _global_batch_size = True  # a dataset's batch size counts all replicas together; Keras 2 reads it

    def _use_merge_call(self) -> bool:
        return self._num_replicas_in_sync > 1

    def _in_multi_worker_mode(self) -> bool:
        return False

    def _reduce(self, op: ReduceOp, value: Any) -> Any:
        """Returns the sum or mean of a value over all replicas, as one tensor."""
        if self._num_replicas_in_sync == 1:
            return value.values[0] if isinstance(value, DistributedValues) else value
        return reduce_over_replicas(op, value)

    def _reduce_along(self, op: ReduceOp, value: Any, axis: Any) -> Any:
        """Returns the sum or mean of a value over all replicas and an axis, as one tensor."""
        total, count = self._sums_along(value, axis)
        return total if op is ReduceOp.SUM else truediv(total, cast(count, total.dtype))

    def _sums_along(self, value: Any, axis: Any) -> tuple[Any, Any]:
        """Returns the sum of the replicas' values along an axis, and the number of terms."""
        values = value.values if isinstance(value, DistributedValues) else (value,) * max(1, len(self._devices))
        tensors = [convert(v) for v in values]
        return add_n([reduce_sum(t, axis) for t in tensors]), add_n([shape(t)[axis] for t in tensors])

    def _gather(self, value: Any, axis: int) -> Any:
        """Returns the values of all replicas concatenated along an axis."""
        return concat(list(value.values), axis) if isinstance(value, DistributedValues) else value

    def _input_context(self) -> InputContext:
        return InputContext(num_replicas_in_sync=self._num_replicas_in_sync)

    def _distribute_dataset(self, dataset: Dataset, options: InputOptions | None) -> Any:
        return DistributedDataset(dataset, self._strategy, options, divide_batches(self._num_replicas_in_sync))

    def _distribute_datasets_from_function(self, dataset_fn: Callable[..., Any], options: InputOptions | None) -> Any:
        dataset = dataset_fn(self._input_context())
        return DistributedDataset(dataset, self._strategy, options, dealt(self._num_replicas_in_sync))

    def _make_variable(self, next_creator: Callable[..., Any], **kwargs: Any) -> Any:
        """Creates the variable for a call of `tf.Variable` in the strategy's scope."""
        variable = next_creator(**kwargs)
        variable._strategy = self._strategy
        return variable

    def _devices_of_copies(self, on_read: bool) -> tuple[str, ...]:
        """Returns the devices of a variable's copies.

        Args:
            on_read: whether the replicas write to copies of their own, which are reduced when they are read.
        """
        return self._devices

    def _agree_on_first_value(self, variable: Variable) -> None:
        """Lets all workers begin with the same value of a variable that was created just now."""

    def variable_created_in_scope(self, v: Any) -> bool:
        """Returns True if a variable was created in the scope of this strategy.

        Args:
            v: a variable.
        """
        return getattr(v, "_strategy", Place.strategy) is self._strategy

    def colocate_vars_with(self, colocate_with_variable: Any) -> AbstractContextManager[Any]:
        """Returns a scope whose variables are on the devices of another variable.

        Args:
            colocate_with_variable: the other variable.

        Raises:
            ValueError: the other variable belongs to another strategy.
        """
        if not self.variable_created_in_scope(colocate_with_variable):
            raise ValueError(
                "`colocate_vars_with` must only be passed a variable created in this tf.distribute.Strategy.scope(), "
                f"not: {colocate_with_variable!r}"
            )
        return nullcontext()

    def value_container(self, value: Any) -> Any:
        """Returns the distributed variable that a copy belongs to; any other value itself.

        Args:
            value: any value.
        """
        container = getattr(value, "_distributed_container", None)
        return value if container is None else container()

    def call_for_each_replica(self, fn: Callable[..., Any], args: Sequence[Any] = (), kwargs: Any = None) -> Any:
        """Calls a function once for each replica. See `Strategy.run`.

        Args:
            fn: the function.
            args, kwargs: its arguments.

        Raises:
            RuntimeError: it is called in a replica.
        """
        require_cross_replica(self._strategy)
        return self._call_for_each_replica(fn, args, kwargs or {})

    def _call_for_each_replica(self, fn: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        with ReplicaContext(self._strategy, 0), device(self._devices[0]):
            return fn(*select_replica(0, tuple(args)), **select_replica(0, kwargs))

    def reduce_to(self, reduce_op: ReduceOp | str, value: Any, destinations: Any, options: Any = None) -> Any:
        """Returns the sum or mean of the replicas' values, on the devices of `destinations`.

        Args:
            reduce_op: a `tf.distribute.ReduceOp`, or its name.
            value: distributed values, or a value that all replicas share.
            destinations: a device, or a value whose devices are used.
            options: accepted, and without effect within one process.

        Raises:
            RuntimeError: it is called in a replica.
            ValueError: `reduce_op` is a sum, and the value is the same in all replicas.
        """
        require_cross_replica(self._strategy)
        op = reduce_op_of(reduce_op)
        if not isinstance(value, DistributedValues):
            if len(self._devices) < 2:
                return value
            return self._cross_device_ops.broadcast(reduce_over_replicas(op, value), destinations)
        if isinstance(value, MirroredValues) and op is ReduceOp.MEAN:
            return value
        return self._cross_device_ops.reduce(op, value, destinations, options)

    def batch_reduce_to(
        self, reduce_op: ReduceOp | str, value_destination_pairs: Sequence[tuple[Any, Any]], options: Any = None
    ) -> list[Any]:
        """Calls `reduce_to` for each pair of value and destinations; broadcasts values that are not distributed.

        Args:
            reduce_op: a `tf.distribute.ReduceOp`, or its name.
            value_destination_pairs: pairs of a value and destinations, see `reduce_to`.
            options: accepted, and without effect within one process.

        Returns:
            A list of the results.

        Raises:
            RuntimeError: it is called in a replica.
        """
        require_cross_replica(self._strategy)
        return [
            self.reduce_to(reduce_op, v, d, options)
            if isinstance(v, DistributedValues)
            else self._cross_device_ops.broadcast(v, d)
            for v, d in value_destination_pairs
        ]

    def update(
        self, var: Any, fn: Callable[..., Any], args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None,
        group: bool = True,
    ) -> Any:  # fmt: skip
        """Calls `fn(copy, ...)` for each copy of a variable, on its device.

        Args:
            var: the variable.
            fn: takes a copy, and the copy's part of distributed values.
            args, kwargs: its other arguments.
            group: whether to return the results as one distributed value, rather than a tuple.

        Returns:
            The result of `fn`, or the results as a distributed value or a tuple.
        """
        if not self._devices:  # the default strategy: nothing is distributed
            with move_thread(self._strategy, None, 0, updating=True):
                return fn(var, *args, **(kwargs or {}))
        copies = var.values if isinstance(var, DistributedValues) else (var,)
        results = []
        for i, copy in enumerate(copies):
            own_args = select_replica(i, tuple(args), variables=True)
            own_kwargs = select_replica(i, kwargs or {}, variables=True)
            with self._on_device(i), move_thread(self._strategy, None, i, updating=True):
                results.append(fn(copy, *own_args, **own_kwargs))
        if not group:
            return tuple(results) if isinstance(var, DistributedValues) else results[0]
        values = [r.value() if isinstance(r, Variable) and isinstance(var, DistributedValues) else r for r in results]
        return regroup(values, MirroredValues)

    def _on_device(self, index: int) -> AbstractContextManager[Any]:
        return device(self.parameter_devices[index])


class _Scope:
    """The context manager of `strategy.scope()`."""

    def __init__(self, strategy: Strategy) -> None:
        self._strategy = strategy
        self._entered: list[Any] = []

    def __enter__(self) -> Any:
        strategy = self._strategy
        require_cross_replica(strategy)
        if place.strategy is strategy:  # it is in force already
            self._entered.append(None)
            return strategy
        scope, creator = move_thread(strategy, None), strategy.extended._make_variable
        scope.__enter__()
        state.variable_creators.append(creator)
        self._entered.append((scope, creator))
        return strategy

    def __exit__(self, *error: Any) -> None:
        entered = self._entered.pop()
        if entered is not None:
            scope, creator = entered
            discard(state.variable_creators, creator)
            scope.__exit__(*error)


class Strategy(V1Methods):
    """A way to run a program on several devices: the base of all strategies.

    Args:
        extended: the `StrategyExtended` of the strategy.

    Example:
        >>> strategy = tf.distribute.MirroredStrategy(["/cpu:0"])
        >>> isinstance(strategy, tf.distribute.Strategy)
        True
    """

    _should_use_with_coordinator = False  # read by Keras 2; True of strategies with parameter servers

    def __init__(self, extended: Any) -> None:
        self._extended = extended

    @property
    def extended(self) -> Any:
        """The interface of the strategy for libraries."""
        return self._extended

    @property
    def num_replicas_in_sync(self) -> int:
        """The number of replicas."""
        return self._extended._num_replicas_in_sync

    @property
    def cluster_resolver(self) -> Any:
        """The cluster's resolver; None in a single process."""
        return None

    def scope(self) -> AbstractContextManager[Any]:
        """Returns a scope that puts the strategy in force. The strategy creates the variables inside.

        Raises:
            RuntimeError: it is entered in a replica, or in the scope of another strategy.

        Example:
            >>> with tf.distribute.MirroredStrategy(["CPU:0"]).scope():
            ...     type(tf.Variable(1.0)).__name__
            'MirroredVariable'
        """
        return _Scope(self)

    def run(self, fn: Callable[..., Any], args: Sequence[Any] = (), kwargs: Any = None, options: Any = None) -> Any:
        """Calls a function once for each replica, with the replica's part of distributed values.

        Args:
            fn: the function; in it, `tf.distribute.get_replica_context()` identifies the replica.
            args, kwargs: its arguments.
            options: a `tf.distribute.RunOptions`; accepted, and without effect.

        Returns:
            The result of the function. If the replicas return different objects, a `tf.distribute.DistributedValues` of
            them.

        Raises:
            ValueError: `fn` is not callable.

        Example:
            >>> strategy = tf.distribute.MirroredStrategy(["CPU:0"])
            >>> strategy.run(lambda x: x + 1, args=(tf.constant(1),)).numpy().item()
            2
        """
        if not callable(fn):
            raise ValueError(f"The argument `fn` of Strategy.run must be a function, not {fn!r}")
        if state.graph is not None:
            fn = convert_function(fn)
        with self.scope():
            return self._extended.call_for_each_replica(fn, args, kwargs)

    def experimental_run_v2(
        self, fn: Callable[..., Any], args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None,
        options: Any = None,
    ) -> Any:  # fmt: skip
        """Calls `run`; the name of TensorFlow 2.0.

        Args:
            fn: the function that each replica calls.
            args, kwargs: its arguments; of distributed values, each replica gets its part.
            options: a `tf.distribute.RunOptions`; accepted, and without effect.

        Returns:
            The result of the function; a `tf.distribute.DistributedValues` if the replicas return different objects.
        """
        return self.run(fn, args, kwargs, options)

    def reduce(self, reduce_op: ReduceOp | str, value: Any, axis: int | None) -> Any:
        """Returns the sum or mean of the replicas' values.

        Args:
            reduce_op: a `tf.distribute.ReduceOp`, or its name.
            value: distributed values, or a nest of them.
            axis: an int, an axis of each value to reduce too; a mean is then over all elements. None reduces only
                over replicas.

        Returns:
            Tensors, in the structure of `value`.

        Raises:
            RuntimeError: it is called in a replica.
            ValueError: there is no such reduction; or it is a sum, and the value is the same in all replicas.

        Example:
            >>> strategy = tf.distribute.MirroredStrategy(["CPU:0"])
            >>> strategy.reduce("MEAN", tf.constant([1.0, 3.0]), axis=0).numpy().item()
            2.0
        """
        if place.strategy is not Place.strategy or self is not Place.strategy:
            require_cross_replica(self)
        op = reduce_op_of(reduce_op)
        if axis is None:
            return nest.map_structure(lambda v: self._extended._reduce(op, v), value)
        return nest.map_structure(lambda v: self._extended._reduce_along(op, v, axis), value)

    def gather(self, value: Any, axis: int) -> Any:
        """Returns the values of all replicas concatenated along an axis.

        Args:
            value: distributed values, or a nest of them, of the same shape but for `axis`.
            axis: the axis of the concatenation.

        Returns:
            Tensors, in the structure of `value`.

        Raises:
            RuntimeError: it is called in a replica.
            ValueError: a value is `tf.IndexedSlices`.
        """
        if place.strategy is not Place.strategy or self is not Place.strategy:
            require_cross_replica(self)

        def joined(v: Any) -> Any:
            if isinstance(v, IndexedSlices):
                raise ValueError("gather does not support IndexedSlices")
            return self._extended._gather(v, axis)

        return nest.map_structure(joined, value)

    def experimental_local_results(self, value: Any) -> tuple[Any, ...]:
        """Returns the values of the replicas, as a tuple.

        Args:
            value: a result of `run`, or any value.
        """
        return local_results(value, max(1, len(self._extended._devices)))

    def unwrap(self, value: Any) -> tuple[Any, ...]:
        """Calls `experimental_local_results`; its older name.

        Args:
            value: a result of `run`, or any value.
        """
        return self.experimental_local_results(value)

    def group(self, value: Any, name: str | None = None) -> Any:
        """Groups the values of the replicas, see `tf.group`; returns None in eager mode.

        Args:
            value: a result of `run`, or any value.
            name: the name of the operation.
        """
        return group(*self.experimental_local_results(value), name=name)

    def colocate_vars_with(self, colocate_with_variable: Any) -> AbstractContextManager[Any]:
        """Calls `extended.colocate_vars_with`; its older name.

        Args:
            colocate_with_variable: the other variable.
        """
        return self._extended.colocate_vars_with(colocate_with_variable)

    def experimental_distribute_values_from_function(self, value_fn: Callable[[ValueContext], Any]) -> Any:
        """Returns distributed values of a function that is called for each replica.

        Args:
            value_fn: takes a `tf.distribute.experimental.ValueContext`.

        Returns:
            The values as a `tf.distribute.DistributedValues`; of a single replica, its value.
        """
        count, first = self.num_replicas_in_sync, self._extended._first_replica
        values = [value_fn(ValueContext(first + i, count)) for i in range(max(1, len(self._extended._devices)))]
        return values[0] if len(values) == 1 else PerReplica(values)

    def experimental_distribute_dataset(self, dataset: Dataset, options: InputOptions | None = None) -> Any:
        """Returns a dataset whose batches are divided among the replicas.

        Args:
            dataset: a `tf.data.Dataset` of batches for all replicas.
            options: a `tf.distribute.InputOptions`.

        Returns:
            A `tf.distribute.DistributedDataset`.
        """
        return self._extended._distribute_dataset(dataset, options)

    def distribute_datasets_from_function(
        self, dataset_fn: Callable[[InputContext], Any], options: InputOptions | None = None
    ) -> Any:
        """Returns a dataset whose batches go to one replica after the other.

        Args:
            dataset_fn: takes a `tf.distribute.InputContext`, and returns a `tf.data.Dataset` of batches for a replica.
            options: a `tf.distribute.InputOptions`.

        Returns:
            A `tf.distribute.DistributedDataset`.
        """
        return self._extended._distribute_datasets_from_function(dataset_fn, options)

    experimental_distribute_datasets_from_function = distribute_datasets_from_function

    def update_config_proto(self, config_proto: Message) -> Any:
        """Returns the `ConfigProto` unchanged."""
        return config_proto

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return self


class _DefaultExtended(StrategyExtended):
    @property
    def worker_devices(self) -> tuple[str, ...]:
        raise RuntimeError("worker_devices() method unsupported by default tf.distribute.Strategy.")

    @property
    def parameter_devices(self) -> tuple[str, ...]:
        raise RuntimeError("parameter_devices() method unsupported by default tf.distribute.Strategy.")

    def call_for_each_replica(self, fn: Callable[..., Any], args: Sequence[Any] = (), kwargs: Any = None) -> Any:
        with _default_replica:
            return fn(*args, **(kwargs or {}))


class _DefaultReplicaContext(ReplicaContext):
    @property
    def replica_id_in_sync_group(self) -> int:
        return 0

    @property
    def devices(self) -> tuple[str, ...]:
        return ("",)

    def __enter__(self) -> None:
        self._scopes.append(move_thread(self._strategy, self))
        self._scopes[-1].__enter__()


class _DefaultStrategy(Strategy):
    """The strategy outside of all scopes: one replica, on the devices where ops run anyway."""

    def __init__(self) -> None:
        super().__init__(_DefaultExtended(self))

    def scope(self) -> AbstractContextManager[Any]:
        if place.strategy is not self:
            raise RuntimeError(f"Mixing different tf.distribute.Strategy objects: {place.strategy} is not {self}")
        return nullcontext(self)

    def run(self, fn: Callable[..., Any], args: Sequence[Any] = (), kwargs: Any = None, options: Any = None) -> Any:
        if place.replica is _default_replica:
            return fn(*args, **(kwargs or {}))
        return super().run(fn, args, kwargs, options)

    def experimental_distribute_dataset(self, dataset: Dataset, options: Any = None) -> Any:
        return dataset

    def distribute_datasets_from_function(self, dataset_fn: Callable[[InputContext], Any], options: Any = None) -> Any:
        return dataset_fn(InputContext())


default_strategy = _DefaultStrategy()
_default_replica = _DefaultReplicaContext(default_strategy, 0)
Place.strategy, Place.replica = default_strategy, _default_replica


def experimental_set_strategy(strategy: Strategy | None) -> None:
    """Puts a strategy in force for this thread without a scope.

    Args:
        strategy: the strategy; None puts the default one back.

    Returns:
        None.

    Example:
        >>> tf.distribute.experimental_set_strategy(None)
    """
    creators = [c for c in state.variable_creators if isinstance(getattr(c, "__self__", None), StrategyExtended)]
    for creator in creators:
        discard(state.variable_creators, creator)
    place.move(Place.strategy, Place.replica)
    if strategy is not None:
        place.move(strategy, None)
        state.variable_creators.append(strategy.extended._make_variable)
