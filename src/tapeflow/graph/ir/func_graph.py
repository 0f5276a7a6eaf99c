"""The graph of a Python function: traced by calling the function with symbolic tensors."""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

from tapeflow.core.autodiff.tape import id_of
from tapeflow.core.context import state
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.definition import ops
from tapeflow.core.types.aliases import ShapeLike
from tapeflow.core.types.dtypes import DType, resource, variant
from tapeflow.core.types.spec import TensorSpec
from tapeflow.core.values import nest
from tapeflow.core.values.composite import CompositeTensor
from tapeflow.core.values.symbolic import SymbolicTensor, out_of_scope
from tapeflow.core.values.tensor import EagerTensor, ReadAsTensor, Tensor
from tapeflow.core.values.variable import Variable
from tapeflow.graph.ir.graph import _MOST_CONSTANT, READ, Graph, default_graph
from tapeflow.graph.ir.operation import GraphOp, Operation, variable_of
from tapeflow.graph.ir.positions import Positions
from tapeflow.graph.ir.python_op import executing_eagerly


class FuncGraph(Graph):
    """The graph of a function.

    Attributes:
        name: the function's name.
        inputs: the placeholders of the arguments, then of the captures.
        outputs: its result tensors.
        structured_outputs: the result of the Python function, with symbolic tensors.
        captures: pairs of an outside value (an eager tensor, a variable, a tensor of the graph around) and its
            placeholder.
    """

    building_function = True

    def __init__(self, name: str, scope: str = "") -> None:
        super().__init__()
        self.name = name
        self.scope = scope  # the name scope of all operations: the name of the operation that calls the function
        self.inputs: list[SymbolicTensor] = []
        self.outputs: list[SymbolicTensor] = []
        self.structured_outputs: Any = None
        self.structured_input_signature: Any = None
        self.captures: list[tuple[Any, SymbolicTensor]] = []
        self.variables_made: list[Any] = []
        self.may_make_variables = True
        self.is_alternative = False  # another function computes the same on another device
        self.inference_name = ""  # of a function that a user calls: TensorFlow's name of it
        self.names_results = False  # results are named `Identity`, as for a function that a user calls
        self.may_return_operations = True  # as branches, bodies of loops and wrapped functions may, for their effects
        self.traced = False  # from a Python function; otherwise a program fills it itself, and may never run it
        self.copies: dict[int, SymbolicTensor] = {}  # of a copy: its tensors, by the ids of the first graph's
        self.original: FuncGraph | None = None  # of a copy: the first graph
        self.is_differentiable = False  # it is a copy with operations that can return residuals
        self.depth = 0  # the number of outer functions that are being traced
        self.around = state.graph
        # of the functions in it, if it is not TapeFlow alone that compiles them
        self.compiler: Any = state.compiler
        self.locks: list[Any] = []  # held while it runs, because it reads variables before it updates them
        self.arguments: dict[int, Any] = {}  # while a call is traced: the arguments, by the ids of placeholders
        self._captured: dict[int, SymbolicTensor] = {}

    def __repr__(self) -> str:
        return f"FuncGraph(name={self.name}, id={id(self)})"

    def input(self, spec: Tensor | TensorSpec, name: str) -> SymbolicTensor:
        """Returns a new placeholder for an argument."""
        placeholder = self.placeholder(spec.dtype, spec.shape, name)
        self.inputs.append(placeholder)
        return placeholder

    def input_like(self, tensor: Tensor | TensorSpec) -> SymbolicTensor:
        """Returns a new placeholder for a tensor of another graph; for a variable's handle, a handle of it."""
        variable = variable_of(tensor)
        if variable is not None:
            return self.input_of_variable(variable, "input")
        return self.input(TensorSpec(tensor.shape, tensor.dtype), "input")

    def input_of_variable(self, variable: Variable, name: str) -> SymbolicTensor:
        """Returns the placeholder of the handle of a variable that is an argument."""
        placeholder = self._captured.get(variable._id)
        if placeholder is None:
            placeholder = self._captured[variable._id] = self.input(TensorSpec([], resource), name)
            placeholder.op.op.attrs["variable"] = variable
            placeholder._id = variable._id
        return placeholder

    # ---- captures ------------------------------------------------------------------------------------------------

    def _capture_as(
        self, outer: Any, key: int, dtype: DType, shape: ShapeLike, name: str, attrs: dict[Any, Any] | None = None
    ) -> SymbolicTensor:
        with self._outside_of_scopes():
            op = GraphOp("Placeholder", attrs=attrs)
            inner = self.insert_tensor(op, self.unique_name(name), (), dtype, shape)
        self.captures.append((outer, inner))
        self._captured[key] = inner
        return inner

    def _from_eager(self, tensor: EagerTensor, name: str = "") -> SymbolicTensor:
        count = tensor.value.numel() if hasattr(tensor.value, "numel") else tensor.value.size
        is_constant = count <= _MOST_CONSTANT and tensor.dtype not in (resource, variant)
        if not tensor._id and is_constant:
            return super()._from_eager(tensor, name)
        inner = self._captured.get(id(tensor))
        if inner is None:
            inner = self._capture_as(tensor, id(tensor), tensor.dtype, tensor.shape, name or "Placeholder")
            inner._id = id_of(tensor)
            if is_constant:
                inner.op.static = (tensor.value,)
        return inner

    def _from_other_graph(self, tensor: SymbolicTensor, scope: str) -> SymbolicTensor:
        captured = self._captured.get(tensor._id)
        if captured is not None:
            return captured
        if tensor.op.type == "Const" and not tensor.dtype.differentiable:  # others may be sources of a gradient
            constant = self.capture(tensor.op.op.attrs["value"], tensor.op.name, scope=scope or self.scope)
            constant.op.captured = tensor
            return constant
        around = _graphs_around(self)
        for graph in around:
            if isinstance(graph, FuncGraph) and id(tensor) in graph.copies:
                tensor = graph.copies[id(tensor)]
                break
        if tensor.graph not in around and (around[-1].traced or self in _graphs_around(tensor.graph)):
            raise out_of_scope(tensor, self)
        outer = tensor if self.around is None else self.around.passed_on(tensor)
        of_variable = isinstance(tensor.op.op, GraphOp) and "variable" in tensor.op.op.attrs
        attrs = tensor.op.op.attrs if of_variable else None
        name = f"{scope or self.scope}/{tensor.op.name}" if scope or self.scope else tensor.op.name
        inner = self._capture_as(outer, tensor._id, tensor.dtype, tensor.shape, name, attrs)
        inner._id = tensor._id
        inner.op.captured = tensor
        return inner

    def passed_on(self, tensor: SymbolicTensor) -> SymbolicTensor:
        if not self.finalized or tensor.graph is self:
            return super().passed_on(tensor)
        return self._captured.get(tensor._id, tensor)

    def capture_variable(self, variable: Any, name: str = "") -> SymbolicTensor:
        """Returns the placeholder of a variable's handle."""
        variable = getattr(variable, "_variable", variable)
        captured = self._captured.get(variable._id)
        if captured is None:
            captured = self._capture_as(
                variable, variable._id, resource, [], name or "resource", {"variable": variable}
            )
            captured._id = variable._id  # gradients of ops that take the handle are the variable's
        return captured

    @property
    def outer_graph(self) -> Graph:
        """The outer graph; the default graph for an outermost one."""
        return default_graph() if self.around is None else self.around

    @outer_graph.setter
    def outer_graph(self, graph: Graph | None) -> None:
        self.around = graph

    @property
    def variables(self) -> tuple[Any, ...]:
        """The variables that the function uses."""
        return tuple(t.op.op.attrs["variable"] for _, t in self.captures if "variable" in t.op.op.attrs)

    @property
    def trainable_variables(self) -> tuple[Any, ...]:
        """The trainable variables that the function uses."""
        return tuple(v for v in self.variables if v.trainable)

    @property
    def external_captures(self) -> list[Any]:
        """The captured outside values."""
        return [outer for outer, _ in self.captures]

    @property
    def internal_captures(self) -> list[SymbolicTensor]:
        """The placeholders of the captures."""
        return [inner for _, inner in self.captures]

    @property
    def function_captures(self) -> SimpleNamespace:
        """The captured outside values and their placeholders, as dicts by the ids of the values."""
        return SimpleNamespace(
            by_val_external={id(outer): outer for outer, _ in self.captures},
            by_val_internal={id(outer): inner for outer, inner in self.captures},
        )

    @property
    def is_stateful(self) -> bool:
        """Returns True if a call of the function has effects by TensorFlow's rules. Reads of variables count."""
        return any(map(_is_stateful, self._operations))

    def effects(self) -> list[Operation]:
        """Returns the operations that run even if their outputs are unused."""
        return [op for op in self._operations if op.stateful]

    def own_variable(self, variable: Variable) -> None:
        """Notes that the function creates a variable, in an `init_scope` or not.

        Raises:
            ValueError: the function was traced before, when it should have created its variables.
        """
        if not self.may_make_variables:
            raise ValueError(
                "tf.function only supports singleton tf.Variables created on the first call. Make sure the tf.Variable "
                "is only created once or created outside tf.function. See "
                "https://www.tensorflow.org/guide/function#creating_tfvariables for more information."
            )
        self.variables_made.append(variable)

    def _argument_value(self, placeholder: SymbolicTensor) -> Any:
        argument = self.arguments.get(id(placeholder))
        if argument is None:
            argument = next((outer for outer, inner in self.captures if inner is placeholder), None)
        if argument is None or isinstance(argument, ReadAsTensor):
            return argument
        if isinstance(argument, SymbolicTensor):
            return argument.graph.value_now(argument)
        with executing_eagerly():
            return convert(argument, placeholder.dtype).value

    def add_variable(self, variable: Any, value: Any) -> None:
        """Does nothing: a variable created in a function gets its value immediately."""

    # ---- tracing -------------------------------------------------------------------------------------------------

    def trace(self, function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """Calls a function with symbolic tensors, and stores its result.

        Raises:
            TypeError: a leaf of the result can't be an output of a graph.
        """
        self.traced = True
        with self.as_default():
            state.name_scope = self.scope
            before, self._positions = self._positions, Positions(sys._getframe())
            try:
                result = function(*args, **kwargs)
            finally:
                self._positions = before
            state.name_scope = self.scope
            self.set_result(nest.map_structure(lambda v: self.as_output(v, function), result))
        return self.structured_outputs

    def set_result(self, result: Any) -> None:
        """Sets the result. Its tensors are the outputs."""
        self.structured_outputs = result
        leaves = nest.flatten(result, expand_composites=True)
        self.outputs = [t for t in leaves if isinstance(t, SymbolicTensor)]

    def result_packer(self) -> Callable[[Sequence[Any]], Any]:
        """Returns a function from values of the outputs to the structure of the result.

        Leaves of the result that are not tensors become None.
        """
        structure = self.structured_outputs
        if isinstance(structure, SymbolicTensor):
            return operator.itemgetter(0)
        if structure is None:
            return lambda values: None
        leaves = nest.flatten(structure, expand_composites=True)

        def pack(values: Sequence[Any]) -> Any:
            rest = iter(values)
            filled = [next(rest) if isinstance(leaf, SymbolicTensor) else None for leaf in leaves]
            return nest.pack_sequence_as(structure, filled, expand_composites=True)

        return pack

    def as_output(self, value: Any, function: Callable[..., Any] | str) -> Any:
        """Returns a leaf of the result as a tensor of this graph."""
        if value is None or (isinstance(value, Operation) and self.may_return_operations):
            return value
        if isinstance(value, CompositeTensor):
            composite = value._convert_variables_to_tensors()
            return nest.map_structure(lambda v: self.as_output(v, function), composite, expand_composites=True)
        if hasattr(type(value), "__tf_graph_components__"):
            return value.__tf_graph_components__(self)
        try:
            tensor = value if isinstance(value, Tensor) else convert(value)
        except (TypeError, ValueError):
            raise TypeError(
                "To be compatible with tf.function, Python functions must return zero or more Tensors or "
                f"ExtensionTypes or None values; in compilation of {function}, found return value of type "
                f"{type(value).__name__}, which is not a Tensor or ExtensionType."
            ) from None
        inner = tensor if self.names_results else self.capture(tensor)
        if self.names_results or inner.op.type == "Placeholder":
            return ops.Identity(inner)
        return inner


def _graphs_around(graph: Graph) -> list[Graph]:
    """Returns a graph and its outer graphs, outermost last."""
    return [graph] if graph.around is None else [graph, *_graphs_around(graph.around)]


def _is_stateful(operation: Operation) -> bool:
    op = operation.op
    if operation.stateful or op is READ or op.random:
        return True
    bodies = operation.op.bodies if isinstance(operation.op, GraphOp) else {}
    return any(body.named_stateful for body in bodies.values())
