"""Variables with a copy for each replica.

In a replica, or where a replica's copies are updated, such a variable is the replica's copy; elsewhere it is all of
them: mirrored copies are written together and the first is read, those synchronized on reading are written one by one
and reduced when they are read.
"""

from __future__ import annotations

import copy
import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tapeflow.core.device import device
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.values.tensor import EagerTensor, Tensor
from tapeflow.core.values.variable import Variable, VariableAggregation, VariableSynchronization, refuse_in_graphs
from tapeflow.core.values.variable_scatter import AssignsParts
from tapeflow.distribute.context import move_thread, place
from tapeflow.distribute.replica_reductions import ReduceOp
from tapeflow.distribute.values import DistributedValues, Mirrored, MirroredValues, PerReplica
from tapeflow.math.casting import cast
from tapeflow.math.division import truediv

if TYPE_CHECKING:
    from tapeflow.distribute.strategy import Strategy


class DistributedVariable(Variable, DistributedValues):
    """The copies of a variable, one for each replica.

    Args:
        strategy: the strategy whose replicas they belong to.
        values: the copies.
        synchronization: ON_WRITE or ON_READ.
        aggregation: the reduction of different values to one.
    """

    _has_copies = True

    def __init__(
        self, strategy: Strategy, values: Sequence[Variable], synchronization: Any, aggregation: VariableAggregation
    ) -> None:
        self._strategy = strategy
        self._values = tuple(values)
        self._how = synchronization, aggregation
        for value in self._values:
            value._distributed_container = weakref.ref(self)

    @property
    def distribute_strategy(self) -> Any:
        """The strategy whose replicas the copies belong to."""
        return self._strategy

    @property
    def synchronization(self) -> VariableSynchronization:
        return self._how[0]

    @property
    def aggregation(self) -> VariableAggregation:
        return self._how[1]

    @property
    def dtype(self) -> Any:  # type: ignore[override]
        return self._values[0].dtype

    @property
    def name(self) -> str:
        """The name of the first copy."""
        return self._values[0].name

    @property
    def _handle_name(self) -> str:
        return self.name

    @_handle_name.setter
    def _handle_name(self, name: str) -> None:
        for i, value in enumerate(self._values):
            value._handle_name = f"{name.removesuffix(':0')}/replica_{i}:0" if i else name

    @property
    def device(self) -> str:
        """The device of the copy that is read here: the replica's, or the first."""
        return self._copy().device

    @property
    def _unique_id(self) -> str:
        first = self._values[0]
        return f"{first._name}_{first._id}"

    @property
    def _places(self) -> tuple[str, ...]:
        """The devices of the copies."""
        return self._strategy.extended._devices_of_copies(self._how[0] is VariableSynchronization.ON_READ)

    def _copy(self) -> Variable:
        """Returns the copy of the replica that is running or being updated; else the first."""
        index = place.index
        return self._values[index if index is not None and index < len(self._values) else 0]

    def _in_replica(self) -> bool:
        return place.replica is not None and place.strategy is self._strategy

    def _read(self) -> EagerTensor:
        return self._copy()._read()

    def numpy(self) -> Any:
        refuse_in_graphs("DistributedVariable.numpy")
        return self._read().numpy()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        refuse_in_graphs("DistributedVariable.numpy")
        return self._read().__array__(dtype, copy)

    def _for_python(self) -> Any:
        return self._read().numpy()

    def __repr__(self) -> str:
        return self._text(repr)

    __str__ = __repr__

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        refuse_in_graphs("DistributedVariable.__deepcopy__")
        copied = type(self)(self._strategy, [copy.deepcopy(v, memo) for v in self._values], *self._how)
        memo[id(self)] = copied
        return copied

    # ---- in checkpoints ----------------------------------------------------------------------------------------------

    def _serialize_to_tensors(self) -> dict[str, Any]:
        with move_thread(self._strategy, None):
            return {"VARIABLE_VALUE": self._read()}

    def _restore_from_tensors(self, restored_tensors: dict[str, Any]) -> None:
        for variable in self._values:
            variable._restore_from_tensors(restored_tensors)

    # ---- writing -----------------------------------------------------------------------------------------------------

    def _write(self, method: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Calls a method of `tf.Variable` that writes, on the copy of the replica or on all copies."""
        if place.updating:
            return getattr(self._copy(), method)(*args, **kwargs)
        if self._in_replica():
            return self._write_in_replica(method, args, kwargs)
        return self._write_all(method, args, kwargs)

    def _write_in_replica(self, method: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return getattr(self._copy(), method)(*args, **kwargs)

    def _write_all(self, method: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Calls a method on each copy, with the replica's part of distributed values."""
        results = []
        for i, variable in enumerate(self._values):
            own_args = [a.values[i] if isinstance(a, DistributedValues) else a for a in args]
            with device(self._places[i]), move_thread(self._strategy, None, i, updating=True):
                results.append(getattr(variable, method)(*own_args, **kwargs))
        if results[0] is None or not isinstance(results[0], (Tensor, Variable)):
            return results[0]
        return MirroredValues([r.value() if isinstance(r, Variable) else r for r in results])


class MirroredVariable(DistributedVariable, Mirrored):
    """Copies that are equal: a value written in a replica is aggregated first, if the variable has an aggregation."""

    def _write_in_replica(self, method: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        aggregation = self._how[1]
        if aggregation is VariableAggregation.NONE:
            return super()._write_in_replica(method, args, kwargs)

        def write(strategy: Strategy, value: Any, *rest: Any) -> Any:
            if aggregation is VariableAggregation.ONLY_FIRST_REPLICA:
                total = value.values[0] if isinstance(value, DistributedValues) else value
            else:
                total = strategy.extended._reduce(ReduceOp.from_variable_aggregation(aggregation), value)
            return self._write_all(method, (total, *rest), kwargs)

        return place.replica.merge_call(write, args=args)


class SyncOnReadVariable(DistributedVariable):
    """Copies that differ, and are reduced when they are read outside of the replicas."""

    def _read(self) -> EagerTensor:
        if place.updating or self._in_replica() or self._strategy.num_replicas_in_sync == 1:
            return super()._read()
        if self._how[1] is VariableAggregation.ONLY_FIRST_REPLICA:
            return self._values[0]._read()
        op = ReduceOp.from_variable_aggregation(self._how[1])
        return self._strategy.extended._reduce(op, PerReplica([v._read() for v in self._values]))

    def _sums(self) -> bool:
        return self._how[1] is VariableAggregation.SUM

    def _share(self, value: TensorLike) -> Tensor:
        """Returns each copy's share of a sum."""
        return cast(truediv(cast(value, self.dtype), self._strategy.num_replicas_in_sync), self.dtype)

    def _restore_from_tensors(self, restored_tensors: dict[str, Any]) -> None:
        if self._sums():
            restored_tensors = {name: self._share(value) for name, value in restored_tensors.items()}
        super()._restore_from_tensors(restored_tensors)

    def _write_all(self, method: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        sums = self._sums()
        if method not in ("assign", "assign_add", "assign_sub"):
            raise NotImplementedError(f"Variables with `synchronization=ON_READ` doesn't support `{method}`")
        if sums and method != "assign":
            raise ValueError(
                f"SyncOnReadVariable does not support `{method}` in cross-replica context when aggregation is set to "
                "`tf.VariableAggregation.SUM`."
            )
        if sums and not isinstance(args[0], DistributedValues):
            args = (self._share(args[0]), *args[1:])
        written = super()._write_all(method, args, kwargs)
        return None if written is None else self._read()


def _of_the_copy(attribute: str) -> property:
    return property(
        lambda self: getattr(self._copy(), attribute), lambda self, value: setattr(self._copy(), attribute, value)
    )


def _write_method(method: str) -> Callable[..., Any]:
    def write(self: DistributedVariable, *args: Any, **kwargs: Any) -> Any:
        for first in ("value", "delta", "sparse_delta", "indices"):
            if not args and first in kwargs:
                args = (kwargs.pop(first),)
        return self._write(method, args, kwargs)

    write.__name__ = method
    write.__doc__ = f"`tf.Variable.{method}`, on the copy of the replica, or on all."
    return write


for _attribute in Variable.__slots__:
    if not _attribute.startswith("__") and _attribute not in vars(DistributedVariable):
        setattr(DistributedVariable, _attribute, _of_the_copy(_attribute))
_scatters = [m for m in vars(AssignsParts) if "scatter" in m and m[0] != "_"]
for _method in ("assign", "assign_add", "assign_sub", *_scatters):
    setattr(DistributedVariable, _method, _write_method(_method))


def make_distributed(
    strategy: Strategy,
    next_creator: Callable[..., Any],
    kwargs: dict[str, Any],
    on_write: type[DistributedVariable] = MirroredVariable,
) -> DistributedVariable:
    """Creates a variable of a strategy: a copy on each of its devices, all with the first one's initial value.

    Args:
        strategy: the strategy.
        next_creator: creates a copy.
        kwargs: the arguments of `tf.Variable`.
        on_write: the class of a variable whose copies are synchronized when they are written.

    Raises:
        ValueError: the synchronization is `NONE`.
    """
    synchronization = kwargs.get("synchronization") or VariableSynchronization.AUTO
    aggregation = kwargs.get("aggregation") or VariableAggregation.NONE
    if synchronization is VariableSynchronization.NONE:
        raise ValueError(
            "`NONE` variable synchronization mode is not supported with tf.distribute strategy. Please change the "
            f"`synchronization` for variable: {kwargs.get('name')}"
        )
    on_read = synchronization is VariableSynchronization.ON_READ
    copies: list[Any] = []
    with move_thread(strategy, None):
        for i, where in enumerate(strategy.extended._devices_of_copies(on_read)):
            own_kwargs = dict(kwargs)
            if copies:
                own_kwargs["initial_value"] = copies[0]._value
                own_kwargs["name"] = f"{kwargs.get('name') or 'Variable'}/replica_{i}"
            with device(where):
                copies.append(next_creator(**own_kwargs))
            if i == 0:
                strategy.extended._agree_on_first_value(copies[0])
    kind = SyncOnReadVariable if on_read else on_write
    mode = VariableSynchronization.ON_READ if on_read else VariableSynchronization.ON_WRITE
    return kind(strategy, copies, mode, aggregation)
