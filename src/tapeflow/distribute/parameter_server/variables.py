"""Variables that another task holds: reads and changes are calls of that task, each of them atomic."""

from __future__ import annotations

import itertools
import uuid
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from tapeflow.array.gathers import gather_v2
from tapeflow.array.reshapes import reshape
from tapeflow.core.context import listeners, state
from tapeflow.core.errors import UnimplementedError
from tapeflow.core.fork_locks import new_rlock
from tapeflow.core.ops.convert import convert
from tapeflow.core.types.dtypes import DType
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.indexed_slices import IndexedSlices
from tapeflow.core.values.tensor import EagerTensor, Tensor, next_id
from tapeflow.core.values.variable import Variable
from tapeflow.core.values.variable_copies import VariableAggregation, VariableSynchronization
from tapeflow.graph.ir.operation import GraphOp
from tapeflow.transport.calls import Client, client_of

if TYPE_CHECKING:
    from tapeflow.core.autodiff.tape import Call

OWNER = uuid.uuid4().hex  # this process, in the names of its variables in other tasks
_numbers = itertools.count()
_METHODS = {"AssignAddVariableOp": "assign_add", "AssignSubVariableOp": "assign_sub"}
_SCATTER = {"_scatter_rows": "scatter_{}", "_scatter_places": "scatter_nd_{}", "_scatter_batch": "batch_scatter_{}"}


class VariablePlace(NamedTuple):
    """A variable as tasks tell each other about it.

    Attributes:
        address: the address of the task that holds it.
        task: that task's name.
        key: the variable's name there.
        name: the name that it was created with.
        dtype: its dtype.
        shape: its static shape.
        trainable: whether tapes watch it.
    """

    address: str
    task: str
    key: str
    name: str
    dtype: DType
    shape: TensorShape
    trainable: bool


def new_key() -> str:
    """Returns a name for something that this process creates in another task."""
    return f"{OWNER}/{next(_numbers)}"


def device_of(task: str) -> str:
    """Returns the name of a task's CPU, such as `/job:ps/replica:0/task:1/device:CPU:0` for `ps:1`."""
    job, _, index = task.partition(":")
    return f"/job:{job}/replica:0/task:{index}/device:CPU:0"


class RemoteVariable(Variable):
    """A variable that another task holds.

    Args:
        where: the variable's place: the task that holds it, and its key there.
        like: a variable to copy the other attributes from, or None.
    """

    def __init__(self, where: VariablePlace, like: Variable | None = None) -> None:
        self.where = where
        self._client: Client = client_of(where.address, where.task)
        self.dtype, self._name, self._trainable = where.dtype, where.name, where.trainable
        self._shape = where.shape
        self._id = next_id()
        self._device = device_of(where.task)
        self._lock = new_rlock()
        self._constraint = None if like is None else like._constraint
        self._synchronization = VariableSynchronization.AUTO if like is None else like._synchronization
        self._aggregation = VariableAggregation.NONE if like is None else like._aggregation

    # ---- reading -----------------------------------------------------------------------------------------------------

    @property  # type: ignore[misc]  # nothing is stored here
    def _value(self) -> EagerTensor:  # type: ignore[override]
        return self._client.call("read", self.where.key)

    def _read(self) -> EagerTensor:
        if state.graph is not None:
            return state.graph.read_variable(self)
        value = self._value
        if listeners and state.tapes:
            value._id = next_id()
            for tape in state.tapes:
                tape.variable_read(self, value._id)
        return value

    def __tf_dispatch__(self, function: Any, args: tuple[Any, ...]) -> Any:
        """Gathers rows in the task that holds them, and transfers only these. Other ops read the whole variable, and so
        does `tf.gather` in eager mode."""
        rows = function.op is gather_v2.op and args[0] is self and args[2:] in ((0,), (0, 0))
        if not rows or state.graph is None:
            return NotImplemented
        return self.staged_rows(state.graph.capture_variable(self), convert(args[1]))

    def sparse_read(self, indices: Any, name: str | None = None) -> Tensor:
        if state.graph is not None or state.tapes:
            return super().sparse_read(indices, name)
        return self._rows(convert(indices))

    def _rows(self, indices: EagerTensor) -> EagerTensor:
        return self._client.call("rows", self.where.key, indices)

    def staged_rows(self, handle: Tensor, indices: Any) -> Any:
        """Returns rows as a tensor of the graph that is being built.

        Args:
            handle: the variable's handle in the graph.
            indices: their numbers.
        """
        dtype = indices.dtype

        def kernel(variable: RemoteVariable, at: Any) -> Any:
            return variable._rows(EagerTensor(at, dtype)).value

        def gradient(call: Call, dy: Tensor) -> Any:
            flat = reshape(dy, [-1, *self.shape[1:]])
            return IndexedSlices(flat, reshape(call.inputs[1], [-1]), convert(self.shape.as_list())), None

        attrs = {"dtype": self.dtype, "Tindices": dtype}
        op = GraphOp("ResourceGather", kernel, stateful=True, gradient=gradient, attrs=attrs)
        shape = indices.shape.concatenate(self.shape[1:])
        return state.graph.node(op, [handle, indices], [(self.dtype, shape)]).outputs[0]

    # ---- writing -----------------------------------------------------------------------------------------------------

    def change(self, method: str, *args: Any) -> None:
        """Calls a method of the variable in the task that holds it.

        Args:
            method: a method of `tf.Variable` that writes.
            *args: its tensors.
        """
        self._client.call("change", self.where.key, method, *args)

    def _set(self, raw: bytes, before: EagerTensor | None = None) -> None:
        self.change("assign", EagerTensor(raw, self.dtype))

    def assign(self, value: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True) -> Any:
        if state.graph is not None:
            return self._stage_assign(value, read_value, name)
        tensor = convert(value, self.dtype)
        if not self.shape.is_compatible_with(tensor.shape):
            raise self._shape_mismatch(tensor.shape)
        self._set(tensor.value)
        return self._assigned() if read_value else None

    def _update(self, op: str, delta: Any, kernel: Callable[..., Any], kernel_in_place: Callable[..., Any]) -> None:
        self.change(_METHODS[op], convert(delta, self.dtype))

    def _now_or_later(self, op: str, scatter: Callable[..., Any], change: Any, indices: Any, updates: Any) -> Any:
        if state.graph is None:
            kind = op.removeprefix("ResourceScatter").removeprefix("Nd").lower()
            self.change(_SCATTER[scatter.__name__].format(kind), indices, updates)
            return self._assigned()
        dtypes = indices.dtype, updates.dtype

        def kernel(variable: RemoteVariable, *values: Any) -> None:
            tensors = [EagerTensor(v, d) for v, d in zip(values, dtypes, strict=True)]
            variable._now_or_later(op, scatter, change, *tensors)

        return self._stage(op, kernel, (indices, updates))

    def count_up_to(self, limit: int) -> Any:
        raise UnimplementedError.of("Variables of parameter servers can't count: use `assign_add`.")

    def __deepcopy__(self, memo: dict[int, Any]) -> RemoteVariable:
        return self


_WRITES = frozenset(
    {"assign", "assign_add", "assign_sub", "batch_scatter_update"}
    | {f"scatter_{kind}" for kind in ("add", "sub", "mul", "div", "min", "max", "update")}
    | {f"scatter_nd_{kind}" for kind in ("add", "sub", "min", "max", "update")}
)


def apply_change(variable: Variable, method: str, args: tuple[Any, ...]) -> None:
    """Changes a variable as another task asks for it.

    Args:
        variable: the variable, which this task holds.
        method: the method of `tf.Variable`.
        args: its tensors.

    Raises:
        UnimplementedError: it is no method that writes.
    """
    if method not in _WRITES:
        raise UnimplementedError.of(f"Variables can't be changed by '{method}' from another task.")
    if "scatter" in method and "_nd_" not in method:
        indices, updates = args
        args = (IndexedSlices(updates, indices),)
    getattr(variable, method)(*args)
