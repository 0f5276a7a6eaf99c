"""Lowers the graphs of functions to subgraphs of TFLite's operators.

Variables that a function only reads become constants, and operations on constants are computed. Sizes that are known
are constants, too: a reshape whose target has one unknown size takes -1 for it, so files for any batch size have static
graphs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.definition import NotStatic
from tapeflow.core.ops.static import compute_static, elements
from tapeflow.core.types.dtypes import DType, as_dtype, int32, resource, string, variant
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.tensor import EagerTensor
from tapeflow.graph.graphdef.export import host_constant, lower_operation
from tapeflow.graph.ir.attrs import attrs_of, dtype_of_value
from tapeflow.graph.ir.operation import GraphOp, Operation, reachable, variable_of
from tapeflow.lite.forms import FORMS
from tapeflow.lite.kernel_dtypes import kernel_dtype
from tapeflow.lite.program import LiteOperator, LiteTensor, Subgraph, lite_dtype, static_shape
from tapeflow.lite.table import NoForm

_LARGE = 1 << 16  # a constant of more elements is computed only if its inputs have nearly as many


class Unconvertible(TypeError):
    """A function has no form in TFLite. The text names the op, its layer and the user's line."""


class LoweredCall:
    """An operation that a form lowers.

    Attributes:
        operation: the operation.
        attrs: its attrs, by TensorFlow's names.
        outputs: the symbolic tensors that it returns.
    """

    def __init__(self, operation: Operation) -> None:
        self.operation = operation
        self.attrs = attrs_of(operation)
        self.outputs = operation.outputs

    @property
    def code(self) -> str:
        """The op's name as the schema writes names of operators: LOG_SOFTMAX for LogSoftmax."""
        return re.sub("(?<=[a-z])(?=[A-Z])", "_", self.operation.type).upper()

    @property
    def shape(self) -> tuple[int | None, ...]:
        """The static shape of the first output."""
        return static_shape(self.outputs[0])

    @property
    def dtype(self) -> DType:
        """The dtype of the first output."""
        return lite_dtype(self.outputs[0].dtype)


class Writer:
    """Adds the operators of a graph to a subgraph.

    Args:
        subgraph: the subgraph.
        file: the state of the file.
        source: the operation that the operators are named after.

    Attributes:
        values: the tensors of the subgraph for symbolic tensors, by their ids.
        file: see the argument.
    """

    def __init__(self, subgraph: Subgraph, file: FileState, source: Operation | None = None) -> None:
        self.subgraph, self.file, self._source = subgraph, file, source
        self.values: dict[int, Any] = {}
        self._folded: dict[int, Any] = {}  # raw values of constant symbolic tensors, by their ids
        self._outer: dict[int, LiteTensor] = {}

    # ---- called by forms -----------------------------------------------------------------------------------------

    def constant(self, value: Any, dtype: DType | None = None) -> LiteTensor:
        """Returns a constant.

        Args:
            value: an array, or numbers.
            dtype: its dtype; by default the array's, and int32 for integers.
        """
        if dtype is None:
            dtype = as_dtype(value.dtype) if isinstance(value, (np.ndarray, np.generic)) else dtype_of_value(value)
        array = np.asarray(value, object if dtype is string else dtype.as_numpy_dtype)
        return LiteTensor(self.file.unique_name(self._scope("const")), dtype, array.shape, array)

    def add(
        self, code: str, inputs: Sequence[LiteTensor | None], shape: Sequence[int | None], dtype: DType | None = None,
        **options: Any,
    ) -> LiteTensor:  # fmt: skip
        """Adds an operator with one result, and returns that.

        Args:
            code: the operator's name in the schema.
            inputs: its inputs.
            shape: the static shape of its result.
            dtype: the dtype of its result; by default the first input's.
            options: the fields of its options, by the schema's names.
        """
        if dtype is None:
            assert inputs[0] is not None
            dtype = inputs[0].dtype
        return self.add_many(code, inputs, [(shape, dtype)], **options)[0]

    def add_many(
        self, code: str, inputs: Sequence[LiteTensor | None], results: Sequence[tuple[Sequence[int | None], DType]],
        **options: Any,
    ) -> list[LiteTensor]:  # fmt: skip
        """Adds an operator with several results, given by their shapes and dtypes, and returns these."""
        dtype, computed = kernel_dtype(code, [None if t is None else t.dtype for t in inputs])
        if dtype is not computed:
            assert computed is not None
            inputs = [t if t is None or t.dtype is not dtype else self.cast(t, computed) for t in inputs]
        inside = [(s, (computed or d) if d is dtype else d) for s, d in results]
        outputs = [LiteTensor(self.file.unique_name(self._scope(code.lower())), d, s) for s, d in inside]
        self.subgraph.operators.append(LiteOperator(code, inputs, outputs, options, self._source))
        return [self.cast(t, d) for t, (_, d) in zip(outputs, results, strict=True)]

    def reshape(self, x: LiteTensor, shape: Sequence[int | None]) -> LiteTensor:
        """Adds a reshape to a static shape.

        Raises:
            NoForm: several dimensions of it are unknown.
        """
        unknown = list(shape).count(None)
        if x.shape == tuple(shape) and unknown <= 1:
            return x
        if unknown > 1:
            raise NoForm("several sizes of its result are unknown: give the function static ones, apart from the batch")
        if x.value is not None:
            return self.constant(x.value.reshape(shape), x.dtype)
        target = self.constant([-1 if d is None else d for d in shape], int32)
        return self.add("RESHAPE", [x, target], shape, newShape=target.value)

    def size(self, x: LiteTensor, axis: int) -> LiteTensor:
        """Adds the size of a tensor along an axis: a scalar."""
        static = x.shape[axis]
        if static is not None:
            return self.constant(static, int32)
        sizes = self.add("SHAPE", [x], [x.rank], int32, outType=self.file.type_numbers(int32))
        return self.add("GATHER", [sizes, self.constant(axis, int32)], [], axis=0, batchDims=0)

    def transpose(self, x: LiteTensor, order: Sequence[int]) -> LiteTensor:
        """Adds a transpose. A constant is transposed now."""
        if list(order) == list(range(len(order))):
            return x
        if x.value is not None:
            return self.constant(np.transpose(x.value, order), x.dtype)
        return self.add("TRANSPOSE", [x, self.constant(list(order), int32)], [x.shape[i] for i in order])

    def cast(self, x: LiteTensor, dtype: DType) -> LiteTensor:
        """Adds a conversion to another dtype."""
        if x.dtype is dtype:
            return x
        if x.value is not None:
            return self.constant(x.value.astype(dtype.as_numpy_dtype), dtype)
        kinds = self.file.type_numbers
        return self.add("CAST", [x], x.shape, dtype, inDataType=kinds(x.dtype), outDataType=kinds(dtype))

    # ---- functions -----------------------------------------------------------------------------------------------

    def function(self, name: str, inputs: Sequence[LiteTensor]) -> Writer:
        """Returns the writer of a new subgraph, with inputs like these tensors."""
        subgraph = Subgraph(name)
        inner = Writer(subgraph, self.file, self._source)
        subgraph.inputs = [LiteTensor(self.file.unique_name(f"{name}/arg"), t.dtype, t.shape) for t in inputs]
        inner._outer = dict(zip(map(id, inputs), subgraph.inputs, strict=True))
        return inner

    def stand_ins(self, values: Sequence[Any]) -> list[Any]:
        """Returns the inputs of this new subgraph for outer tensors. Constants and variables stand for themselves."""
        return [self._outer.get(id(v), v) for v in values]

    def inline(self, body: Any, arguments: Sequence[Any], results: Sequence[SymbolicTensor]) -> list[Any]:
        """Adds the operators of a body, and returns the tensors for some symbolic tensors of its graph.

        Args:
            body: the body.
            arguments: for each of its inputs the tensor, the variable, or the captured eager tensor.
            results: the symbolic tensors.
        """
        return Writer(self.subgraph, self.file, self._source)._body(body, arguments, results)

    def _body(self, body: Any, arguments: Sequence[Any], results: Sequence[SymbolicTensor]) -> list[Any]:
        for symbolic, value in zip(body.inputs, arguments, strict=True):
            if isinstance(value, EagerTensor):
                self._folded[id(symbolic)] = value.value
                continue
            self._enter(symbolic, value)
        effects = [o for o in body.graph.get_operations() if _has_effect(o)]
        needed = {id(o) for o in reachable([*(t.op for t in results), *effects], controls=False)}
        for operation in body.graph.get_operations():
            has_value = operation.outputs and any(id(operation.outputs[0]) in d for d in (self.values, self._folded))
            if id(operation) in needed and not has_value:
                self._operation(operation)
        return [self.value_of(t) for t in results]

    def value_of(self, tensor: Any) -> Any:
        """Returns the subgraph's tensor, or the variable, for a symbolic tensor."""
        lowered_tensor = self.values.get(id(tensor))
        if lowered_tensor is None:
            folded = self._folded_value(tensor)
            if folded is None:
                raise Unconvertible(f"{tensor.name} comes from outside of the function.")
            lowered_tensor = self.values[id(tensor)] = self._constant_of(folded, tensor)
        return lowered_tensor

    def _operation(self, operation: Operation) -> None:
        """Adds the operators of an operation."""
        if operation.type == "Placeholder" or operation.type == "VarHandleOp":
            variable = variable_of(operation.outputs[0])
            if variable is None:
                raise self._error(operation, "it has no value: pass it as an argument of the function")
            self.values[id(operation.outputs[0])] = variable
            return
        if operation.type == "Const":
            return  # `value_of` makes it
        values = self._computed(operation)
        if values is not None:
            self._folded.update((id(t), v) for t, v in zip(operation.outputs, values, strict=True))
            return
        self._source = operation
        parts = [operation] if operation.type in FORMS else lower_operation(operation)
        for part in parts[:-1]:
            self._operation(part)
        operation = parts[-1]
        if operation.type not in FORMS:
            raise self._error(operation, "TFLite's builtin operators lack this op")
        if any(t.shape.rank is None for t in operation.outputs if t.dtype not in (resource, variant)):
            raise self._error(operation, "the rank of its result is unknown: give the function a signature with shapes")
        try:
            results = FORMS[operation.type](self, LoweredCall(operation), *self._inputs(operation))
        except NoForm as error:
            raise self._error(operation, str(error)) from None
        results = results if isinstance(results, list) else [results]
        for symbolic, result in zip(operation.outputs, results, strict=False):
            self._enter(symbolic, result)

    def _enter(self, symbolic: SymbolicTensor, value: Any) -> None:
        """Enters the subgraph's tensor, or the variable, for a symbolic tensor."""
        self.values[id(symbolic)] = value
        if isinstance(value, LiteTensor) and value.value is not None and value.dtype is not string:
            array = value.value.astype(symbolic.dtype.as_numpy_dtype, copy=False)
            self._folded[id(symbolic)] = convert(array, symbolic.dtype).value

    def _inputs(self, operation: Operation) -> list[Any]:
        """Returns the tensors of an operation's inputs: host arguments are constants."""
        op = operation.op
        if isinstance(op, GraphOp):
            return [self._input(t) for t in operation.inputs]
        inputs: list[Any] = []
        for argument, arg in zip(op.opdef.inputs, operation.args, strict=False):
            if isinstance(arg, SymbolicTensor):
                inputs.append(self._input(arg))
            elif type(arg) is list:
                inputs.append([self._input(t) for t in arg])
            else:
                value, dtype = host_constant(operation, argument, arg)
                if value is None:
                    raise self._error(operation, "the rank of its input is unknown: give the function a signature")
                inputs.append(self.constant(value, dtype))
        return inputs

    def _input(self, tensor: SymbolicTensor) -> Any:
        value = self.value_of(tensor)
        if isinstance(value, LiteTensor) and value.value is None and value.dtype.is_integer and value.rank == 1:
            try:
                value.partial = elements(tensor)
            except NotStatic:
                value.partial = None
        return value

    # ---- constants -----------------------------------------------------------------------------------------------

    def _computed(self, operation: Operation) -> Sequence[Any] | None:
        """Returns the raw results of an operation on constants, or None."""
        op = operation.op
        if operation.type == "ReadVariableOp":
            variable = self.value_of(operation.args[0])
            if isinstance(variable, LiteTensor) or id(variable) in self.file.assigned:
                return None
            return [variable._value.value]
        if not op.registered or op.opdef.stateful:
            return None
        values = compute_static(op, operation.args, operation.types, self._folded_value)
        if values is None or any(t.dtype is variant for t in operation.outputs):
            return None
        sizes = [v.numel() for v in map(self._folded_value, operation.inputs) if hasattr(v, "numel")]
        if any(hasattr(v, "numel") and v.numel() > max(_LARGE, 2 * sum(sizes)) for v in values):
            return None
        return values

    def _folded_value(self, tensor: SymbolicTensor) -> Any:
        """Returns the raw value of a constant tensor, or None."""
        value = self._folded.get(id(tensor))
        if value is None and tensor.op.type == "Const":
            value = self._folded[id(tensor)] = tensor.op.op.attrs["value"].value
        return value

    def _constant_of(self, raw: bytes, tensor: SymbolicTensor) -> LiteTensor:
        """Returns the constant for the raw value of a symbolic tensor."""
        dtype = lite_dtype(tensor.dtype)
        if dtype in (resource, variant):
            raise self._error(tensor.op, "only variables have a form among resources, not tables or datasets")
        kind = object if dtype is string else dtype.as_numpy_dtype  # the interpreter takes arrays of `bytes`
        array = np.asarray(EagerTensor(raw, tensor.dtype).numpy(), kind)
        return LiteTensor(self.file.unique_name(tensor.op.name), dtype, array.shape, array)

    # ---- names and errors ----------------------------------------------------------------------------------------

    def _scope(self, name: str) -> str:
        return name if self._source is None else self._source.name

    def _error(self, operation: Operation, reason: str) -> Unconvertible:
        """Returns the error for an operation without a form."""
        layer = operation.name.rpartition("/")[0]
        trace = operation.traceback or (self._source.traceback if self._source is not None else [])
        frame = trace[-1] if trace else None
        where = f" in the layer {layer!r}" if layer else ""
        line = f", added at {frame.filename}:{frame.lineno}" if frame else ""
        line += f" ({frame.line})" if frame and frame.line else ""
        return Unconvertible(
            f"The operation {operation.name!r} ({operation.type}){where}{line}: {reason}. Write this part of the model "
            "with other ops, or leave it out of the converted function and compute it before or after the interpreter."
        )


class FileState:
    """The state that all subgraphs of a file share.

    Attributes:
        assigned: the variables that a function changes, by their ids.
        type_numbers: returns the schema's number of a dtype.
    """

    def __init__(self, assigned: dict[int, Any], type_numbers: Callable[..., Any]) -> None:
        self.assigned, self.type_numbers = assigned, type_numbers
        self._names: dict[str, int] = {}
        self._variables: dict[int, str] = {}

    def assigned_name(self, variable: Any) -> str:
        """Returns the name of a variable in the file."""
        if id(variable) not in self._variables:
            self._variables[id(variable)] = self.unique_name(variable.name)
        return self._variables[id(variable)]

    def unique_name(self, name: str) -> str:
        """Returns a name that no other tensor of the file has."""
        count = self._names.get(name, 0)
        self._names[name] = count + 1
        return f"{name};{count}" if count else name


def changes_variable(operation: Operation) -> bool:
    """Returns True if an operation changes its first input, a variable or another resource."""
    inputs = operation.inputs
    calls = getattr(operation.op, "bodies", None)
    return operation.stateful and not calls and bool(inputs) and inputs[0].dtype is resource


def _has_effect(operation: Operation) -> bool:
    """Returns True if an operation changes a variable. Checks and prints have no form in a file, and are left out."""
    if changes_variable(operation):
        return True
    return any(_has_effect(o) for body in getattr(operation.op, "bodies", {}).values()
               for o in body.graph.get_operations())  # fmt: skip
