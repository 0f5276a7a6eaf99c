"""`tf.Graph`: operations in the order of their creation.

While a thread builds a graph (`state.graph`), every op that it calls comes to `Graph.add` instead of running.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from tapeflow.core import device as devices
from tapeflow.core import errors
from tapeflow.core.autodiff.tape import Call, record
from tapeflow.core.context import detours, discard, listeners, state
from tapeflow.core.hooks import hooks
from tapeflow.core.ops.convert import convert, operand
from tapeflow.core.ops.op import OPERATORS
from tapeflow.core.types.dtypes import DType, resource
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.tensor import EagerTensor, ReadAsTensor, Tensor
from tapeflow.graph.ir import shapes
from tapeflow.graph.ir.deferred_ops import gradient
from tapeflow.graph.ir.graph_members import Collections, GraphMembers
from tapeflow.graph.ir.messages import check_attr_lists, check_host_dtype, check_lists, shape_error, type_error
from tapeflow.graph.ir.names import GraphNames
from tapeflow.graph.ir.operation import GraphOp, Operation, VariableUpdate, variable_in, variable_of
from tapeflow.graph.ir.positions import Positions

_MOST_CONSTANT = 128  # elements of an eager tensor that becomes a constant; a larger one is captured


class Graph(Collections, GraphNames, GraphMembers):
    """Operations and the tensors between them, for running later.

    Example:
        >>> g = tf.Graph()
        >>> with g.as_default():
        ...     c = tf.constant(30.0)
        >>> c.graph is g
        True
    """

    building_function = False
    takes_control_flow = False  # of TensorFlow 1, as it stands, though it is a function's

    def __init__(self) -> None:
        super().__init__()
        self._operations: list[Operation] = []
        self._constants: dict[int, tuple[Any, SymbolicTensor]] = {}
        self._finalized = False
        self._positions = Positions()
        self._reads: dict[int, SymbolicTensor] = {}  # the reads that sessions fetch for variables
        # the initializers of the variables created in it, by their ids
        self._own_variables: dict[int, Operation | None] = {}
        self._shared_variables: dict[tuple[str, str], Any] = {}  # by container and shared name
        self.seed: int | None = None
        self.around: Graph | None = None  # the outer graph that is being built
        self._control_flow_context: Any = None
        self.has_control_flow = False  # of TensorFlow 1, as it stands: `Switch`, `Merge`, ...
        self.declares_shapes = False  # `set_shape` told more of a shape than the ops do
        self.traced = True  # it is no scratch graph, which takes the tensors of any other

    # ---- contents -----------------------------------------------------------------------------------------------

    def get_operations(self) -> list[Operation]:
        """Returns the operations, in the order of their creation.

        Example:
            >>> with tf.Graph().as_default() as g:
            ...     c = tf.constant(1.0, name="c")
            >>> g.get_operations()
            [<tf.Operation 'c' type=Const>]
        """
        return list(self._operations)

    @property
    def operations(self) -> list[Operation]:
        return list(self._operations)

    def get_operation_by_name(self, name: str) -> Operation:
        """Returns the operation of that name.

        Raises:
            KeyError: there is none.
            TypeError: the name is no string.

        Example:
            >>> with tf.Graph().as_default() as g:
            ...     c = tf.constant(1.0, name="c")
            >>> g.get_operation_by_name("c") is c.op
            True
        """
        if not isinstance(name, str):
            raise TypeError(f"Operation names are strings (or similar), not {type(name).__name__}.")
        try:
            return self._by_name[name]
        except KeyError:
            raise KeyError(f"The name '{name}' refers to an Operation not in the graph.") from None

    def get_tensor_by_name(self, name: str) -> SymbolicTensor:
        """Returns the tensor of that name, such as `add:0`.

        Raises:
            KeyError: there is none.
            ValueError: it is no name of a tensor.

        Example:
            >>> with tf.Graph().as_default() as g:
            ...     c = tf.constant(1.0, name="c")
            >>> g.get_tensor_by_name("c:0") is c
            True
        """
        operation, colon, index = name.rpartition(":")
        if not colon or not index.isdigit():
            raise ValueError(
                f"The name '{name}' looks like an (invalid) Operation name, not a Tensor. Tensor names must be of the "
                'form "<op_name>:<output_index>".'
            )
        outputs = self._by_name[operation].outputs if operation in self._by_name else []
        for tensor in outputs:
            if tensor.value_index == int(index):
                return tensor
        raise KeyError(f"The name '{name}' refers to a Tensor which does not exist in the graph.")

    def as_graph_element(self, obj: Any, allow_tensor: bool = True, allow_operation: bool = True) -> Any:
        """Returns the tensor or operation for an object or a name.

        Args:
            obj: a tensor, operation or variable of the graph, or a name.
            allow_tensor, allow_operation: the kinds of element that are accepted.

        Raises:
            TypeError: it is of another kind.
            ValueError: it is of another graph.
            KeyError: the graph has nothing of that name.

        Example:
            >>> with tf.Graph().as_default() as g:
            ...     c = tf.constant(1.0, name="c")
            >>> g.as_graph_element("c:0") is c, g.as_graph_element("c") is c.op
            (True, True)
        """
        if hasattr(obj, "_as_graph_element"):
            obj = obj._as_graph_element()
        if isinstance(obj, str):
            if ":" in obj and allow_tensor:
                return self.get_tensor_by_name(obj)
            if allow_operation:
                return self.get_operation_by_name(obj)
        if (isinstance(obj, SymbolicTensor) and allow_tensor) or (isinstance(obj, Operation) and allow_operation):
            if obj.graph is not self:
                kind = "Tensor" if isinstance(obj, SymbolicTensor) else "Operation"
                raise ValueError(f"{kind} {obj} is not an element of this graph.")
            return obj
        raise TypeError(f"Can not convert a {type(obj).__name__} into a Tensor or Operation.")

    def _get_control_flow_context(self) -> Any:
        """TensorFlow 1's context of loops and conditionals. These are functions here: only a program sets a context."""
        return self._control_flow_context

    def _set_control_flow_context(self, ctx: Any) -> None:
        self._control_flow_context = ctx

    @property
    def version(self) -> int:
        """The number of operations, which grows with each."""
        return len(self._operations)

    @property
    def finalized(self) -> bool:
        """A bool: whether adding operations is an error."""
        return self._finalized

    def finalize(self) -> None:
        """Makes adding an operation a RuntimeError from now on.

        Example:
            >>> g = tf.Graph()
            >>> g.finalize()
            >>> g.finalized
            True
        """
        self._finalized = True

    def _unsafe_unfinalize(self) -> None:
        """Allows adding operations again, as TensorFlow's monitored sessions do when they end."""
        self._finalized = False

    # ---- building ------------------------------------------------------------------------------------------------

    @contextmanager
    def as_default(self) -> Iterator[Graph]:
        """Makes this thread's ops add operations to this graph.

        Example:
            >>> g = tf.Graph()
            >>> with g.as_default():
            ...     tf.executing_eagerly()
            False
        """
        if state.graph is self:  # it is already the default, and tapes go on watching
            yield self
            return
        before = state.graph, state.name_scope, state.tapes
        state.graph, state.name_scope, state.tapes = self, "", []
        detours.append(self)
        listeners.append(self)
        try:
            yield self
        finally:
            discard(detours, self)
            discard(listeners, self)
            state.graph, state.name_scope, state.tapes = before

    def device(self, device_name_or_function: Any) -> Any:
        """Returns a device scope; the same as `tf.device`."""
        return devices.device(device_name_or_function)

    @contextmanager
    def control_dependencies(self, control_inputs: Any) -> Iterator[None]:
        """Returns a context: its operations run after `control_inputs`. None clears the outer control inputs.

        Args:
            control_inputs: operations, tensors, and results of `Variable.assign`.

        Example:
            >>> with tf.Graph().as_default() as g, tf.compat.v1.Session() as sess:
            ...     v = tf.Variable(1.0)
            ...     sess.run(v.initializer)
            ...     with g.control_dependencies([v.assign(5.0)]):
            ...         c = tf.constant(2.0) * 1.0
            ...     print(sess.run(c), sess.run(v))
            2.0 5.0
        """
        before = self._control
        if control_inputs is None:
            self._control = []
        else:
            operations = [c for c in map(_operation_of, control_inputs) if c is not None]
            self._control = [*before, operations]
        try:
            yield
        finally:
            self._control = before

    def add(self, op: Any, args: tuple[Any, ...], name: str | None = None, promotes: bool = False) -> Any:
        """Adds an operation of a registered op, called with `args`; returns its symbolic outputs."""
        key = op.likeness(args)
        settled = None if key is None else op.settled.get(key)
        if settled is None:
            result = op.dispatched(args) if key is None else NotImplemented
            if result is not NotImplemented:
                return result
            if name in OPERATORS and isinstance(args[0], ReadAsTensor):
                args = (args[0]._read(), *args[1:])  # the operators of variables read them first
        unique = self._operation_name(name or op.node_name or op.name)
        if settled is None:
            arguments, types = self._arguments(op, args, promotes, unique)
            dtypes = op.output_dtypes(types, 1 if op.single else shapes.output_count(op, arguments, types))
            if key is not None:
                op.settle(key, types, arguments, dtypes)
        else:
            types, attrs, dtypes = settled
            arguments = [*self._inputs(op, args, types, unique), *attrs]
        output_shapes = self.shapes(op, arguments, types, len(dtypes), unique)
        operation = self.insert(op, unique, arguments, types)
        operation.position = self._positions.here(4)  # the op's function and `run` call this
        for i, (dtype, shape) in enumerate(zip(dtypes, output_shapes, strict=True)):
            operation.outputs.append(SymbolicTensor(operation, i, dtype, shape))
        if state.tapes:
            record(op, operation.tensor_inputs, operation.statics, operation.outputs)
        if op.single:
            return operation.outputs[0]
        return list(operation.outputs) if op.opdef.outputs else operation

    def shapes(self, op: Any, arguments: Sequence[Any], types: dict[str, Any], count: int, name: str
               ) -> list[TensorShape]:  # fmt: skip
        """Returns the static shapes of an op's outputs for the arguments of an operation `name`."""
        try:
            return shapes.infer(op, arguments, types, count)
        except (errors.OpError, ValueError):
            try:
                return shapes.infer_without_captures(self, op, arguments, types, count)
            except (errors.OpError, ValueError) as error:
                raise shape_error(op, name, arguments, types, error) from None

    def _inputs(self, op: Any, args: Sequence[Any], types: dict[str, Any], name: str) -> Iterator[Any]:
        """Yields the inputs of an operation whose types are settled: tensors of this graph and Python values."""
        for kind, arg, definition in zip(op.kinds, args, op.opdef.inputs, strict=False):
            cls = type(arg)
            if cls is SymbolicTensor:
                yield arg if arg.op.graph is self else self.capture(arg, definition.name, scope=name)
            elif kind == "tensor":
                dtype = types[definition.type_attr] if definition.type_attr else definition.type
                yield self._outer_constant(operand(arg, dtype), f"{name}/{definition.name}")
            elif kind == "list":
                label = definition.name
                yield [self.capture(item, f"{label}_{j}", scope=name) for j, item in enumerate(arg)]
            else:
                yield tuple(arg) if cls is list else arg

    def converted(self, op: Any, args: tuple[Any, ...], promotes: bool, name: str) -> tuple[list[Any], dict[str, Any]]:
        """Returns an operation's arguments as tensors, eager ones too, and Python values, and its type attrs."""
        if "list" in op.kinds:
            check_lists(op, args)
        scope, state.name_scope = state.name_scope, name  # the scope of conversions, such as the reads of variables
        try:
            converted, types = op.convert_arguments(args, promotes or op.promotes)
        except errors.InvalidArgumentError as error:
            raise type_error(op, error) from None
        finally:
            state.name_scope = scope
        check_attr_lists(op, converted)
        _check_hosts(op, args, converted, types)
        return converted, types

    def _arguments(self, op: Any, args: tuple[Any, ...], promotes: bool, name: str) -> tuple[list[Any], dict[str, Any]]:
        """Returns an operation's arguments as tensors of this graph and Python values, and its type attrs."""
        converted, types = self.converted(op, args, promotes, name)
        out: list[Any] = []
        for i, (kind, arg) in enumerate(zip(op.kinds, converted, strict=True)):
            if kind == "tensor":
                out.append(self._argument(args[i], arg, name, op.opdef.inputs[i].name))
            elif kind == "list":
                label = op.opdef.inputs[i].name
                before = args[i] if type(args[i]) in (list, tuple) and len(args[i]) == len(arg) else arg
                pairs = enumerate(zip(before, arg, strict=True))
                out.append([self._argument(b, a, name, f"{label}_{j}") for j, (b, a) in pairs])
            elif kind == "host":
                out.append(self._host(arg, op, i, types))
            else:
                out.append(arg)
        return out, types

    def _argument(self, before: Any, tensor: Any, name: str, label: str) -> Any:
        """Returns the tensor of this graph for an argument of the operation `name`.

        Args:
            before: the argument before its conversion.
            tensor: the converted argument.
            label: the name of the op's input.
        """
        if type(tensor) is EagerTensor and type(before) is not EagerTensor:
            return self._outer_constant(tensor, f"{name}/{label}")
        return self.capture(tensor, label, scope=name)

    def _host(self, arg: Any, op: Any, i: int, types: dict[str, Any]) -> Any:
        """Returns the host argument `i` of an op: Python numbers, or a tensor of them."""
        if isinstance(arg, Tensor):
            return self.capture(arg)
        if type(arg) is tuple and _has_symbolic(arg):
            return self.capture(op.convert_input(list(arg), op.opdef.inputs[i], dict(types), i, False, ()))
        return arg

    def differentiate(self, call: Call, dys: Sequence[Any]) -> Any:
        """Returns the gradients of a call's inputs as operations of this graph, which is the one being built."""
        return gradient(call, dys)

    def insert(self, op: Any, name: str, args: Sequence[Any], types: dict[str, Any] | None = None) -> Operation:
        """Appends an operation whose name is unique already; the caller appends its outputs."""
        if self._finalized:
            raise RuntimeError("Graph is finalized and cannot be modified.")
        operation = Operation(self, self._with_own_gradient(op) if self._gradients else op, name, args, types)
        operation.index = len(self._operations)
        if state.devices:
            operation.device = devices.requested_device()
        for inputs in self._control:
            operation._control_inputs = tuple(dict.fromkeys([*operation._control_inputs, *inputs]))
        self._operations.append(operation)
        self._by_name[name] = operation
        return operation

    def insert_tensor(self, op: Any, name: str, args: Sequence[Any], dtype: DType, shape: Any) -> SymbolicTensor:
        """Appends an operation with one output whose name is unique already; returns the output."""
        operation = self.insert(op, name, args)
        operation.outputs.append(SymbolicTensor(operation, 0, dtype, TensorShape(shape)))
        return operation.outputs[0]

    def node(
        self, op: GraphOp, inputs: Sequence[Any], outputs: Sequence[tuple[DType, Any]], name: str | None = None
    ) -> Operation:
        """Adds an operation of a `GraphOp`.

        Args:
            op: the op.
            inputs: tensors or variables.
            outputs: the dtype and shape of each output.
        """
        unique = self._operation_name(name or op.name)
        args = [self.capture(t, op.input_name(i), scope=unique) for i, t in enumerate(inputs)]
        operation = self.insert(op, unique, args)
        operation.position = self._positions.here(2)
        for i, (dtype, shape) in enumerate(outputs, op.first_output):
            operation.outputs.append(SymbolicTensor(operation, i, dtype, TensorShape(shape)))
        if state.tapes:
            if op.differentiable:
                note_reads(args)
            record(op, args, (), operation.outputs)
        return operation

    def constant(self, tensor: EagerTensor, name: str = "Const") -> SymbolicTensor:
        """Adds a constant with the value of an eager tensor."""
        op = GraphOp("Const", attrs={"value": tensor})
        constant = self.insert_tensor(op, self._operation_name(name), (), tensor.dtype, tensor.shape)
        constant.op.static = (tensor.value,)
        return constant

    def _outer_constant(self, tensor: EagerTensor, name: str) -> SymbolicTensor:
        """Adds a constant for an operation, named after the input that it is: `mul/y`."""
        with self._outside_of_scopes():
            return self.constant(tensor, name)

    def placeholder(self, dtype: DType, shape: Any, name: str = "Placeholder") -> SymbolicTensor:
        """Adds an input of the graph."""
        return self.insert_tensor(GraphOp("Placeholder"), self.unique_name(name), (), dtype, shape)

    # ---- values from outside -------------------------------------------------------------------------------------

    def capture(self, tensor: Any, name: str | None = None, shape: Any = None, scope: str = "") -> Any:
        """Returns the tensor of this graph that represents a tensor or variable from outside.

        Args:
            tensor: a tensor or a variable.
            name: the name for an eager tensor or a variable; another graph's tensor has the name of its operation.
            shape: accepted, and without effect.
            scope: is put before the name.
        """
        if isinstance(tensor, SymbolicTensor):
            return tensor if tensor.op.graph is self else self._from_other_graph(tensor, scope)
        if isinstance(tensor, EagerTensor):
            entry = self._constants.get(id(tensor))
            if entry is None:
                entry = self._constants[id(tensor)] = (tensor, self._from_eager(tensor, _scoped_name(scope, name)))
            return entry[1]
        if isinstance(tensor, Tensor):
            return tensor
        return self.capture_variable(tensor, _scoped_name(scope, name))

    def passed_on(self, tensor: SymbolicTensor) -> SymbolicTensor:
        """Returns the tensor that an inner function captures for a tensor of this graph or an outer one.

        The graph captures the tensor itself first. The finalized graph of a function can't have more inputs: it returns
        the tensor unchanged if it has not captured it.
        """
        return self.capture(tensor)

    def _from_eager(self, tensor: EagerTensor, name: str = "") -> SymbolicTensor:
        constant = self._outer_constant(tensor, name or "Const")
        if tensor._id:
            constant._id = tensor._id
        return constant

    def _from_other_graph(self, tensor: SymbolicTensor, scope: str) -> SymbolicTensor:
        raise ValueError(
            f"{tensor} must be from the same graph as Tensors that it meets (graphs are {tensor.graph} and {self})."
        )

    def capture_variable(self, variable: Any, name: str = "") -> SymbolicTensor:
        """Returns the handle of a variable; `name` is the name of its placeholder in a function."""
        variable = getattr(variable, "_variable", variable)
        entry = self._constants.get(id(variable))
        if entry is None:
            entry = self._constants[id(variable)] = (variable, self.handle_of(variable, "VarHandleOp"))
        return entry[1]

    def handle_of(self, variable: Any, name: str) -> SymbolicTensor:
        """Returns the output of a new operation for a variable's handle."""
        op = GraphOp("VarHandleOp", attrs={"variable": variable})
        with self._outside_of_scopes():
            handle = self.insert_tensor(op, self._operation_name(name), (), resource, [])
        handle._id = variable._id  # gradients of ops that take the handle are the variable's
        return handle

    def read_variable(self, variable: Any) -> SymbolicTensor:
        """Returns the value of a variable at this point of the graph."""
        name = self.unique_name("ReadVariableOp")
        args = (self.capture_variable(variable, f"{name}/resource"),)
        out = self.insert_tensor(READ, name, args, variable.dtype, variable.shape)
        if state.tapes:
            note_reads(args)
            record(READ, args, (), out.op.outputs)
        return out

    def read_of(self, variable: Any, after: Operation | None = None) -> SymbolicTensor:
        """Returns the read that a session runs for the value of a variable, at its beginning or after a change."""
        key = variable._id if after is None else -after.index
        read = self._reads.get(key)
        if read is None:
            with self.extend(), self.control_dependencies([] if after is None else [after]):
                read = self._reads[key] = self.read_variable(variable)
        return read

    @contextmanager
    def extend(self) -> Iterator[None]:
        """Returns a context that adds operations, even to a finalized graph. They must not change its results."""
        finalized, self._finalized = self._finalized, False
        try:
            with self.as_default():
                yield
        finally:
            self._finalized = finalized

    def initial_value(self, variable: Any, value: Any, dtype: Any) -> Any:
        """Computes the initial value of a variable that is created while this graph is built.

        Zeros stand for a value that sessions feed: only its dtype and shape are known.
        """
        if not isinstance(value, SymbolicTensor):
            return value
        try:
            return EagerTensor(self.value_now(value), value.dtype)
        except errors.InvalidArgumentError:
            if self.building_function or value.dtype.torch is None or not value.shape.is_fully_defined():
                raise
            return np.zeros(value.shape.as_list(), value.dtype.as_numpy_dtype)

    def value_now(self, tensor: SymbolicTensor) -> Any:
        """Computes the raw value of a tensor while this graph is being built.

        Raises:
            InvalidArgumentError: the tensor depends on a placeholder without a value.
        """
        return hooks.value_now(tensor, self._argument_value)

    def _argument_value(self, placeholder: SymbolicTensor) -> Any:
        """Returns a placeholder's raw value or variable in the call that this graph is built for, or None."""
        return None

    def add_variable(self, variable: Any, value: Any) -> None:
        """Adds a variable that was created while this graph is built: each session holds its own value of it."""
        first = convert(value, variable.dtype)
        name = variable._name
        handle = self.handle_of(variable, f"{name}/" if name == state.name_scope else name)
        variable._name, variable._graph = handle.op.name, self
        self._constants[id(variable)] = variable, handle
        self._shared_variables["", variable._name] = variable

        def initialize(held: Any, raw: Any) -> None:
            held._set(raw)

        with self._outside_of_scopes():
            op = VariableUpdate("AssignVariableOp", initialize)
            self._own_variables[variable._id] = self.node(op, [variable, first], (), f"{variable._name}/Assign")
        self.add_to_collection("variables", variable)
        if variable.trainable:
            self.add_to_collection("trainable_variables", variable)

    def assign_variable(
        self, name: str, variable: Any, kernel: Callable[..., Any], *values: Any, label: str | None = None,
        element: Callable[..., Any] | None = None,
    ) -> Operation:  # fmt: skip
        """Adds an operation that changes a variable.

        Args:
            name: the name of its op.
            variable: the variable.
            kernel: `kernel(variable, *raw values)`.
            *values: the other arguments of the kernel.
            label: the name of the operation; by default the op's.
            element: the element form; see `VariableUpdate`.
        """
        return self.node(VariableUpdate(name, kernel, element), [variable, *values], (), label)

    def stateful(
        self,
        name: str,
        kernel: Callable[..., Any],
        inputs: Sequence[Any],
        outputs: Sequence[tuple[DType, Any]],
        attrs: dict[str, Any],
    ) -> Operation:
        """Adds an operation that must run in its place, whose kernel is `kernel(*raw values)`."""
        return self.node(GraphOp(name, kernel, stateful=True, attrs=attrs), inputs, outputs)

    def variable_def(self, variable: Any) -> Any:
        """Returns a variable of this graph as a `VariableDef` message."""
        return hooks.compat_module("v1_graphs.variable_defs").variable_def(variable, self)

    def variable_of_def(self, definition: Any, scope: str) -> Any:
        """Returns the variable whose operations a `VariableDef` message names."""
        return hooks.compat_module("v1_graphs.variable_defs").variable_of_def(self, definition, scope)

    # ---- export --------------------------------------------------------------------------------------------------

    def as_graph_def(
        self, from_version: int | None = None, add_shapes: bool = False, use_pybind11_proto: bool = False
    ) -> Any:
        """Returns the graph as a `GraphDef` proto, which TensorFlow can import.

        Python functions, and the gradients of a few ops for tensors of unknown size, are operations that only this
        runtime has.

        Args:
            from_version: leaves out the operations that existed at that `version` of the graph.
            add_shapes: adds an attr `_output_shapes` to every node.
            use_pybind11_proto: accepted, and without effect.

        Example:
            >>> with tf.Graph().as_default() as g:
            ...     c = tf.constant(1.0, name="c")
            >>> [(node.name, node.op) for node in g.as_graph_def().node]
            [('c', 'Const')]
        """
        return hooks.graph_def(self, from_version, add_shapes)


def note_reads(values: Iterable[Any]) -> None:
    """Reports variables and handles of variables among a call's inputs to the tapes, because the call may read them."""
    for value in values:
        variable = value if isinstance(value, ReadAsTensor) else variable_of(value)
        if variable is not None:
            for tape in state.tapes:
                tape.variable_read(variable, variable._id)


def value_of_variable(handle: Any) -> Any:
    """Returns the current raw value of a variable."""
    return variable_in(handle)._value.value


READ = GraphOp("ReadVariableOp", value_of_variable, gradient=lambda call, dy: dy)  # of the handle: the variable's
READ.passes_gradient = True


def _scoped_name(scope: str, name: str | None) -> str:
    return f"{scope}/{name}" if scope and name else name or ""


def _has_symbolic(value: Any) -> bool:
    return any(isinstance(v, Tensor) or (type(v) is tuple and _has_symbolic(v)) for v in value)


def _check_hosts(op: Any, args: Sequence[Any], converted: Sequence[Any], types: dict[str, Any]) -> None:
    """Checks the dtypes of tensors that kernels get as numbers. The first input of a type attr settles it."""
    settled: dict[str, Any] = dict(types)
    for i, kind in enumerate(op.kinds):
        if kind != "host":
            continue
        arg, attr = args[i], op.opdef.inputs[i].type_attr
        if isinstance(arg, (Tensor, ReadAsTensor)):
            check_host_dtype(op, i, arg.dtype, settled)
            settled.setdefault(attr, arg.dtype)
        elif attr and attr not in settled and any(other.type_attr == attr for other in op.opdef.inputs[i + 1 :]):
            settled[attr] = _dtype_of_numbers(arg if isinstance(arg, np.ndarray) else converted[i])


def _dtype_of_numbers(value: Any) -> DType | None:
    """Returns the dtype that numbers get as one tensor: the dtype of the first tensor among them. None for none."""
    if value is None or (type(value) is tuple and not value):
        return None
    if type(value) is tuple and _has_symbolic(value):
        first = next(v for v in value if isinstance(v, Tensor) or (type(v) is tuple and _has_symbolic(v)))
        return _dtype_of_numbers(first)
    dtype: DType = value.dtype if isinstance(value, Tensor) else convert(value).dtype
    return dtype


def _operation_of(value: Any) -> Operation | None:
    if isinstance(value, Operation):
        return value
    if isinstance(value, SymbolicTensor):
        return value.op
    operation = getattr(value, "_staged", None)  # a result of `variable.assign`
    return operation if isinstance(operation, Operation) else None


def default_graph() -> Graph:
    """Returns the default graph of a thread that builds no graph."""
    if state.default_graph is None:
        state.default_graph = Graph()
    return state.default_graph


def current_graph() -> Graph:
    """Returns the graph that this thread builds, or its default graph if it builds none."""
    return default_graph() if state.graph is None else state.graph
