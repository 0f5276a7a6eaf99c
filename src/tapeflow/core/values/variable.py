"""`tf.Variable`: a tensor that can be assigned.

A variable holds the tensor that is its current value. Reading returns that tensor, assigning replaces it; only where
nobody else can see the memory is it updated in place. While a tape records, a read returns the same value under an id
of its own, which the tape relates to the variable.
"""

from __future__ import annotations

import functools
import inspect
from abc import ABCMeta
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from tapeflow.core import device as devices
from tapeflow.core.context import detours, listeners, override, state
from tapeflow.core.fork_locks import new_rlock
from tapeflow.core.hooks import hooks
from tapeflow.core.ops.convert import convert, operand
from tapeflow.core.ops.kernels import status_error
from tapeflow.core.scopes import init_scope
from tapeflow.core.types.dtypes import DType, as_dtype, resource
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.types.spec import VariableSpec
from tapeflow.core.values.boxed_objects import hold_object
from tapeflow.core.values.save_slice_info import SaveSliceInfo
from tapeflow.core.values.tensor import EagerTensor, ReadAsTensor, Reference, Tensor, next_id, numpy_text
from tapeflow.core.values.trackable import Trackable
from tapeflow.core.values.variable_copies import VariableAggregation, VariableSynchronization
from tapeflow.core.values.variable_in_graph import OfGraph
from tapeflow.core.values.variable_scatter import AssignsParts
from tapeflow.core.values.variable_updates import Owned, Updates

if TYPE_CHECKING:
    from tapeflow.core.ops.elements import Element, ElementBuilder
    from tapeflow.core.types.aliases import DTypeLike, ShapeLike, TensorLike
    from tapeflow.core.values.strings import StringArray


class VariableMeta(ABCMeta):
    """Lets the `tf.variable_creator_scope`s in force create the variable of `tf.Variable(...)`.

    It is a metaclass of abstract classes, so a class may derive from an abstract class and from `tf.Variable`;
    `isinstance` stays Python's own.
    """

    __instancecheck__ = type.__instancecheck__
    __subclasscheck__ = type.__subclasscheck__

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        if cls is not Variable:
            return super().__call__(*args, **kwargs)
        if not state.variable_creators:
            return type.__call__(ResourceVariable, *args, **kwargs)
        make: Callable[..., Any] = lambda **kw: type.__call__(ResourceVariable, **kw)  # noqa: E731
        kwargs = {**_DEFAULTS, **dict(zip(_DEFAULTS, args, strict=False)), **kwargs}
        for creator in state.variable_creators:
            make = functools.partial(creator, make)
        return make(**kwargs)


# The kernels for a compiled graph's changes of variables. They take raw values.


def _assign_value(variable: Variable, value: StringArray | torch.Tensor) -> None:
    current = getattr(variable, "_value", None)  # a session's variable has none before it is initialized
    if (current is None or current.value.shape != value.shape) and not variable.shape.is_compatible_with(value.shape):
        variable.assign(EagerTensor(value, variable.dtype))  # raises the error
    variable._set(value)


def _add_delta(variable: Variable, delta: torch.Tensor) -> None:
    variable._update("AssignAddVariableOp", EagerTensor(delta, variable.dtype), torch.add, torch.Tensor.add_)


def _subtract_delta(variable: Any, delta: Any) -> None:
    variable._update("AssignSubVariableOp", EagerTensor(delta, variable.dtype), torch.sub, torch.Tensor.sub_)


# Their element forms.


def _assigned_element(b: Any, old: Element, value: Element) -> Any:
    return value


def _sum_element(b: ElementBuilder, old: Element, delta: Element) -> Any:
    return b.add(old, delta)


def _difference_element(b: ElementBuilder, old: Element, delta: Element) -> Any:
    return b.sub(old, delta)


def _outside_of_graphs(initial_value: Callable[[], Any]) -> Any:
    """Computes the initial value of a variable created while a graph is built: at once, outside of it."""
    with init_scope():
        return convert(initial_value())


class Variable(Updates, AssignsParts, OfGraph, ReadAsTensor, Trackable, metaclass=VariableMeta):
    """A tensor whose value can be changed by `assign` and its kin.

    Args:
        initial_value: anything convertible to a tensor, or a function without arguments that returns it.
        trainable: whether `GradientTape`s watch it when it is read. Default True (False for synchronization ON_READ).
        validate_shape: accepted, and without effect: the initial value decides the shape.
        name: its name, without the `:0`.
        dtype: the dtype to convert the initial value to.
        constraint: a function of the value, for optimizers to apply after an update.
        shape: a shape less precise than the initial value's, with unknown dimensions, for values of changing shape.

    Raises:
        ValueError: there is no initial value, or it does not fit `shape`.

    Example:
        >>> v = tf.Variable([1.0, 2.0])
        >>> v.assign_add([1.0, 1.0])
        <tf.Variable 'UnreadVariable' shape=(2,) dtype=float32, numpy=array([2., 3.], dtype=float32)>
        >>> v * 2
        <tf.Tensor: shape=(2,), dtype=float32, numpy=array([4., 6.], dtype=float32)>
    """

    SaveSliceInfo = SaveSliceInfo

    __slots__ = (
        "__dict__", "__weakref__", "_aggregation", "_constraint", "_dtype", "_id", "_lock", "_name", "_shape",
        "_synchronization", "_tape_value", "_trainable", "_value",
    )  # fmt: skip
    __array_priority__ = 100
    _has_copies = False  # on several devices: more than one value

    _tape_value: EagerTensor | None
    _device: str | None = None  # the logical CPU of its creation, if not the first

    def __init__(
        self,
        initial_value: Any = None,
        trainable: bool | None = None,
        validate_shape: bool = True,
        caching_device: Any = None,
        name: str | None = None,
        variable_def: Any = None,
        dtype: DTypeLike = None,
        import_scope: str | None = None,
        constraint: Callable[[Tensor], Tensor] | None = None,
        synchronization: VariableSynchronization = VariableSynchronization.AUTO,
        aggregation: VariableAggregation = VariableAggregation.NONE,
        shape: ShapeLike = None,
        experimental_enable_variable_lifting: bool = True,
    ) -> None:
        if initial_value is None:
            if not isinstance(self, ResourceVariable):  # to a class that derives from it, TensorFlow's is abstract
                raise NotImplementedError
            raise ValueError(
                "The `initial_value` arg to `tf.Variable` must be specified except when you are not providing a "
                "`variable_def`. You provided neither."
            )
        if not isinstance(synchronization, VariableSynchronization):
            raise ValueError(f"Invalid variable synchronization mode: {synchronization} for variable: {name}")
        if not isinstance(aggregation, VariableAggregation):
            raise ValueError(f"Invalid variable aggregation mode: {aggregation} for variable: {name}")
        if constraint is not None and not callable(constraint):
            raise ValueError(f"Argument `constraint` must be None or a callable. Got a {type(constraint)}.")
        if callable(initial_value) and not isinstance(initial_value, (Tensor, ReadAsTensor)):
            initial_value = initial_value() if state.graph is None else _outside_of_graphs(initial_value)
        graph, first = state.graph, initial_value
        if state.tracing is not None and (graph is None or graph.building_function):
            state.tracing.own_variable(self)
        if graph is not None:
            initial_value = graph.initial_value(self, initial_value, dtype)
            with override(state, graph=None):
                value = convert(initial_value, None if dtype is None else as_dtype(dtype).base_dtype)
        else:
            value = convert(initial_value, None if dtype is None else as_dtype(dtype).base_dtype)
        self._dtype: DType = value.dtype
        self._id = next_id()
        self._name = _in_scope("Variable" if name is None else name)
        self._synchronization, self._aggregation = synchronization, aggregation
        self._trainable = synchronization is not VariableSynchronization.ON_READ if trainable is None else trainable
        self._constraint = constraint
        self._shape = None if shape is None else TensorShape(shape)
        if self._shape is not None and not self._shape.is_compatible_with(value.shape):
            raise ValueError(
                f"In this `tf.Variable` creation, the initial value's shape ({value.shape}) is not compatible with "
                f"the explicitly supplied `shape` argument ({shape})."
            )
        if devices.machine.has_gpu and self.dtype.torch is not None:
            self._place = devices.current_or_default()
        self._lock = new_rlock()
        self._set(value.value)
        if state.devices:
            devices.stamp((self,))
        if graph is not None:
            graph.add_variable(self, first)

    # ---- reading ---------------------------------------------------------------------------------------------------

    def _read(self) -> EagerTensor:
        """Returns the tensor this variable holds now, which ops take in its place."""
        if not listeners:
            tensor = self._value
            if type(tensor) is Owned:
                tensor.value  # noqa: B018  (hands the memory out)
            return tensor
        if state.graph is not None:
            return state.graph.read_variable(self)
        tapes = state.tapes
        if not tapes:
            return self._held()
        read = self._tape_value
        if read is not None:
            for tape in tapes:
                if read._id not in tape.seen:
                    break
            else:
                return read
        # A tensor that somebody may hold from an earlier read must not stand for the variable on a tape begun since.
        value = self._value
        read = EagerTensor(value.value, self.dtype)
        read._id = next_id()
        if self._value is value: self._tape_value = read  # noqa: E701  # fmt: skip
        for tape in tapes:
            tape.variable_read(self, read._id)
        return read

    def _held(self) -> EagerTensor:
        """Returns the tensor this variable holds now, whose memory nobody writes to any more."""
        tensor = self._value
        tensor.value  # noqa: B018  (hands the memory out)
        return tensor

    def value(self) -> EagerTensor:
        """Returns the tensor this variable holds now.

        Raises:
            FailedPreconditionError: the variable is uninitialized.
        """
        try:
            return self._read()
        except AttributeError as error:
            raise status_error(error) or error from None

    read_value = value

    def __tf_tensor__(self, dtype: DType | None = None, name: str | None = None) -> EagerTensor:
        if dtype is not None and dtype is not self.dtype:
            raise ValueError(
                f"Incompatible type conversion requested to type {dtype.name!r} for `tf.Variable of type "
                f"{self.dtype.name!r}. (Variable: {self!r})"
            )
        return self._read()

    def _dense_var_to_tensor(self, dtype: DType | None = None, name: str | None = None, as_ref: bool = False) -> Any:
        """Returns the variable's tensor: TensorFlow's name of `__tf_tensor__`, for classes that wrap a variable."""
        return self.__tf_tensor__(dtype, name)

    def numpy(self) -> Any:
        """Returns the value as a NumPy array; always a copy.

        Raises:
            NotImplementedError: a graph is being built. Its result would contain the value of that moment for ever.
            FailedPreconditionError: the variable is uninitialized.
        """
        refuse_in_graphs("numpy")
        try:
            return self._value.numpy()
        except AttributeError as error:
            raise status_error(error) or error from None

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        refuse_in_graphs("numpy")
        return self._value.__array__(dtype, copy)

    def _for_python(self) -> Any:
        """Returns the value for Python's conversions. While a graph is built there is none.

        Raises:
            AttributeError: a graph is being built.
        """
        return self._read().numpy() if detours and state.graph is not None else self._value

    # ---- writing -----------------------------------------------------------------------------------------------------

    def assign(
        self, value: TensorLike | None, use_locking: bool = False, name: str | None = None, read_value: bool = True
    ) -> Variable:
        """Makes `value` the variable's value.

        Args:
            value: a value that converts to the variable's dtype, of a shape that fits its shape.
            read_value: with False, returns None (in eager TensorFlow, an operation that is None too).

        Returns:
            The variable.

        Raises:
            ValueError: shape or dtype do not fit.
        """
        if detours and state.graph is not None:
            return self._stage_assign(value, read_value, name)
        tensor = value if type(value) is EagerTensor and value.dtype is self.dtype else convert(value, self.dtype)
        if tensor.value.shape != self._value.value.shape and not self.shape.is_compatible_with(tensor.shape):
            raise self._shape_mismatch(tensor.shape)
        self._set(tensor.value)
        return self._assigned() if read_value else None  # type: ignore[return-value]

    def assign_add(
        self, delta: TensorLike, use_locking: bool = False, name: str | None = None, read_value: bool = True
    ) -> Variable:
        """Adds `delta` to the variable. See `assign`."""
        if detours and state.graph is not None:
            return self._stage(
                "AssignAddVariableOp", _add_delta, (convert(delta, self.dtype),), read_value, name, _sum_element
            )
        self._update("AssignAddVariableOp", delta, torch.add, torch.Tensor.add_)
        return self._assigned() if read_value else None  # type: ignore[return-value]

    def assign_sub(
        self, delta: TensorLike, use_locking: bool = False, name: str | None = None, read_value: bool = True
    ) -> Variable:
        """Subtracts `delta` from the variable. See `assign`."""
        if detours and state.graph is not None:
            values = (convert(delta, self.dtype),)
            return self._stage("AssignSubVariableOp", _subtract_delta, values, read_value, name, _difference_element)
        self._update("AssignSubVariableOp", delta, torch.sub, torch.Tensor.sub_)
        return self._assigned() if read_value else None  # type: ignore[return-value]

    # While a graph is built, a change is an operation of the graph.

    def _stage(
        self,
        op: str,
        kernel: Callable[..., Any],
        values: Sequence[Any],
        read_value: bool = True,
        name: str | None = None,
        element: Callable[..., Any] | None = None,
    ) -> Any:
        operation = state.graph.assign_variable(op, self, kernel, *values, label=name, element=element)
        if not read_value:
            return operation
        alias = self._assigned()
        alias._staged = operation
        return alias

    def _stage_assign(self, value: Any, read_value: bool, name: str | None) -> Any:
        tensor = convert(value, self.dtype)
        if not self.shape.is_compatible_with(tensor.shape):
            raise self._shape_mismatch(tensor.shape)
        return self._stage("AssignVariableOp", _assign_value, (tensor,), read_value, name, _assigned_element)

    def _shape_mismatch(self, shape: TensorShape) -> ValueError:
        return ValueError(
            f"Cannot assign value to variable ' {self.name}': Shape mismatch."
            f"The variable shape {self.shape}, and the assigned value shape {shape} are incompatible."
        )

    def _assigned(self) -> Any:
        alias = _new(_UnreadVariable)
        alias._variable = self
        return alias

    # ---- properties --------------------------------------------------------------------------------------------------

    @property
    def shape(self) -> TensorShape:
        """The shape its values have; dimensions may be unknown where the argument `shape` had unknown ones."""
        return self._value.shape if self._shape is None else self._shape

    def get_shape(self) -> TensorShape:
        """Returns the same as `.shape`."""
        return self.shape

    def set_shape(self, shape: list[int]) -> None:
        """Makes the variable's shape more precise."""
        self._shape = self.shape.merge_with(shape)

    @property
    def name(self) -> str:
        """The variable's name, with `:0`."""
        return f"{self._name}:0"

    @property
    def _handle_name(self) -> str:
        """The name, which Keras 2 sets when it loads a SavedModel."""
        return self.name

    @_handle_name.setter
    def _handle_name(self, name: str) -> None:
        self._name = name.removesuffix(":0")

    @property
    def _unique_id(self) -> str:
        """A name that no other variable has, for Keras's optimizers."""
        return f"{self._shared_name}_{self._id}"

    @property
    def _shared_name(self) -> str:
        return self._name

    @property
    def trainable(self) -> bool:
        """A bool: whether tapes watch the variable when it is read."""
        return self._trainable

    @property
    def device(self) -> str:
        """The name of the device that holds the value."""
        return self._device or self._value.device

    @property
    def synchronization(self) -> VariableSynchronization:
        return self._synchronization

    @property
    def aggregation(self) -> VariableAggregation:
        return self._aggregation

    @property
    def constraint(self) -> Callable[[Tensor], Tensor] | None:
        """The function an optimizer applies to the value after an update, or None."""
        return self._constraint

    @property
    def handle(self) -> EagerTensor:
        """A scalar resource tensor that holds the variable."""
        if self._graph is not None:
            return self._graph.capture_variable(self)
        handle = hold_object(self, resource)
        if self._device is not None:
            handle._device = self._device
        return handle

    @property
    def _type_spec(self) -> Any:
        return VariableSpec.from_value(self)

    def initialized_value(self) -> Tensor:
        return self._read()

    def is_initialized(self, name: str | None = None) -> EagerTensor:
        """Returns a boolean scalar tensor: whether the variable has a value, which it always has here."""
        return operand(True, None)

    def _serialize_to_tensors(self) -> dict[str, Any]:
        return {"VARIABLE_VALUE": self._held()}

    def _restore_from_tensors(self, restored_tensors: dict[str, Any]) -> None:
        value = restored_tensors["VARIABLE_VALUE"]
        if not self.shape.is_compatible_with(value.shape):
            raise ValueError(
                f"Received incompatible tensor with shape {value.shape} when attempting to restore variable with shape "
                f"{self.shape} and name {self.name}."
            )
        self._set(value.value)

    def ref(self) -> Reference:
        """Returns a hashable reference to this variable, for sets and dict keys."""
        return Reference(self)

    def experimental_ref(self) -> Reference:
        return Reference(self)

    def __hash__(self) -> int:
        if self._graph is not None:
            return id(self)
        raise TypeError(f"Variable is unhashable. Instead, use variable.ref() as the key. (Variable: {self!r})")

    def __bool__(self) -> bool:
        return bool(self._read())

    def __int__(self) -> int:
        return int(self._for_python())

    def __float__(self) -> float:
        return float(self._for_python())

    def __complex__(self) -> complex:
        return complex(self._for_python())

    def __format__(self, format_spec: str) -> str:
        if not format_spec:
            return repr(self)
        return format(self._read() if state.graph is not None else self._value, format_spec)

    def __iter__(self) -> Any:
        return iter(self._read())

    def __copy__(self) -> Variable:
        return self

    def __deepcopy__(self, memo: dict[Any, Any]) -> Variable:
        refuse_in_graphs("__deepcopy__")
        with override(state, tracing=None):  # as in TensorFlow, no function creates the copy
            copied = Variable(
                self._value,
                trainable=self._trainable,
                constraint=self._constraint,
                shape=self._shape,
                name=self._name,
                synchronization=self._synchronization,
                aggregation=self._aggregation,
            )
        memo[id(self)] = copied
        return copied

    def __reduce__(self) -> Any:
        return (_from_state, (self.numpy(), self.dtype.name, self._trainable, self._name))

    def __repr__(self) -> str:
        if state.graph is not None:
            return f"<tf.Variable '{self.name}' shape={self.shape} dtype={self.dtype.name}>"
        value = getattr(self, "_value", None)
        text = "numpy=<unavailable>" if value is None else numpy_text(value, is_repr=True)
        return f"<tf.Variable '{self.name}' shape={self.shape} dtype={self.dtype.name}, {text}>"


# The parameters of `tf.Variable`: creators are called with them all.
_DEFAULTS = {p.name: p.default for p in [*inspect.signature(Variable.__init__).parameters.values()][1:]}
# The slot itself, faster than a property. A subclass with a property of that name finds the slot as `_dtype`.
Variable.dtype = vars(Variable)["_dtype"]


class ResourceVariable(Variable):
    """A variable of one value, the result of `tf.Variable(...)`.

    Programs tell such variables from distributed ones, and from classes of their own, by this class and its name.
    """

    __slots__ = ()


class _UnreadVariable(Variable):
    """The result of an assignment: the variable by another name, whose reads in a graph come after the assignment."""

    __slots__ = ("_variable",)

    _variable: Variable

    @property
    def name(self) -> str:
        return "UnreadVariable"

    def _read(self) -> EagerTensor:
        operation = vars(self).get("_staged")
        if operation is None or operation.graph is not state.graph:
            return self._variable._read()
        with state.graph.control_dependencies([operation]):
            return self._variable._read()

    def _assigned(self) -> Any:
        return self._variable._assigned()

    @property
    def op(self) -> Any:
        """The assignment, as an operation of a graph; eagerly None."""
        return vars(self).get("_staged")

    def __getattr__(self, name: str) -> Any:
        return getattr(self._variable, name)


def _of_the_variable(attribute: str) -> property:
    return property(
        lambda self: getattr(self._variable, attribute), lambda self, value: setattr(self._variable, attribute, value)
    )


for _attribute in (*Variable.__slots__, "_graph", "_place"):
    if not _attribute.startswith("__"):
        setattr(_UnreadVariable, _attribute, _of_the_variable(_attribute))

_new = object.__new__


def _in_scope(name: str) -> str:
    """Returns a name below the name scopes in force. One that ends in `/` is a scope's, from the root."""
    if name.endswith("/"):
        return name.rstrip("/")
    return f"{state.name_scope}/{name}" if state.name_scope else name


def refuse_in_graphs(method: str) -> None:
    """Checks that no graph is being built: it would contain the value that a variable has at that moment for ever.

    Args:
        method: the method that returns the value to Python.

    Raises:
        NotImplementedError: a graph is being built.
    """
    if detours and state.graph is not None:
        raise NotImplementedError(f"{method}() is only available when eager execution is enabled.")


def _from_state(array: np.ndarray, dtype: str, trainable: bool, name: str) -> Variable:
    return Variable(array, dtype=dtype, trainable=trainable, name=name)


hooks.variable = Variable
