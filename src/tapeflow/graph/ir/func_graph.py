"""The graph of a Python function: traced by calling the function with symbolic tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tapeflow.core.autodiff.tape import id_of
from tapeflow.core.context import state
from tapeflow.core.errors import InaccessibleTensorError
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.definition import ops
from tapeflow.core.types.dtypes import resource
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values import nest
from tapeflow.core.values.composite import CompositeTensor
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.tensor import EagerTensor, ReadAsTensor, Tensor
from tapeflow.graph.ir.graph import _MOST_CONSTANT, READ, Graph, default_graph
from tapeflow.graph.ir.operation import GraphOp, Operation
from tapeflow.graph.ir.python_op import executing_eagerly


class FuncGraph(Graph):
    """The graph of a function.

    Attributes:
        name: the function's name.
        inputs: its placeholders: those of the arguments, then those of what it captures.
        outputs: the tensors that it gives.
        structured_outputs: what the Python function gave, with symbolic tensors.
        captures: pairs of what is outside (an eager tensor, a variable, a tensor of the graph around) and its
            placeholder.
    """

    building_function = True

    def __init__(self, name: str, scope: str = "") -> None:
        super().__init__()
        self.name = name
        self.scope = scope  # of the names of all that is traced: that of the operation whose function it is
        self.inputs: list[SymbolicTensor] = []
        self.outputs: list[SymbolicTensor] = []
        self.structured_outputs: Any = None
        self.structured_input_signature: Any = None
        self.captures: list[tuple[Any, SymbolicTensor]] = []
        self.variables_made: list[Any] = []
        self.may_make_variables = True
        self.is_alternative = False  # another function may do the same on another device
        self.names_results = False  # what it gives is called `Identity`, as of a function that a user calls
        self.depth = 0  # how many functions are being traced around it
        self.around = state.graph
        self.given: dict[int, Any] = {}  # while a call is traced: the arguments, by the ids of placeholders
        self._captured: dict[int, SymbolicTensor] = {}
        self._tapes = [tape for tape in state.tapes if hasattr(tape, "watched")]  # those that record its calls

    def __repr__(self) -> str:
        return f"FuncGraph(name={self.name}, id={id(self)})"

    def input(self, spec: Any, name: str) -> SymbolicTensor:
        """Returns a new placeholder for an argument."""
        made = self.placeholder(spec.dtype, spec.shape, name)
        self.inputs.append(made)
        return made

    # ---- captures ------------------------------------------------------------------------------------------------

    def _capture_as(self, outer: Any, key: int, dtype: Any, shape: Any, name: str, attrs: Any = None) -> SymbolicTensor:
        with self._outside_of_scopes():
            made = self.insert(GraphOp("Placeholder", attrs=attrs), self.unique_name(name), ())
            inner = SymbolicTensor(made, 0, dtype, TensorShape(shape))
            made.outputs.append(inner)
        self.captures.append((outer, inner))
        self._captured[key] = inner
        return inner

    def _from_eager(self, tensor: EagerTensor, name: str = "") -> SymbolicTensor:
        count = tensor.value.numel() if hasattr(tensor.value, "numel") else tensor.value.size
        if not tensor._id and count <= _MOST_CONSTANT and tensor.dtype is not resource:
            return super()._from_eager(tensor, name)
        inner = self._captured.get(id(tensor))
        if inner is None:
            inner = self._capture_as(tensor, id(tensor), tensor.dtype, tensor.shape, name or "Placeholder")
            inner._id = id_of(tensor)
        return inner

    def _from_other_graph(self, tensor: SymbolicTensor, scope: str) -> SymbolicTensor:
        known = self._captured.get(tensor._id)
        if known is not None:
            return known
        if tensor.op.type == "Const" and not self._may_have_gradient(tensor):
            return self.capture(tensor.op.op.attrs["value"], tensor.op.name, scope=scope or self.scope)
        around = self.around
        while around is not None and around is not tensor.graph:
            around = around.around
        if around is None:
            raise _out_of_scope(tensor, self)
        outer = self.around.capture(tensor)  # type: ignore[union-attr]
        of_variable = isinstance(tensor.op.op, GraphOp) and "variable" in tensor.op.op.attrs
        attrs = tensor.op.op.attrs if of_variable else None
        name = f"{scope or self.scope}/{tensor.op.name}" if scope or self.scope else tensor.op.name
        made = self._capture_as(outer, tensor._id, tensor.dtype, tensor.shape, name, attrs)
        made._id = tensor._id
        return made

    def _may_have_gradient(self, constant: SymbolicTensor) -> bool:
        """Returns whether a gradient for a constant of a graph around may be asked for."""
        if not constant.dtype.differentiable:
            return False
        if not constant.op.graph.building_function:
            return True  # `tf.gradients` says later
        around: Any = self
        while isinstance(around, FuncGraph):
            if any(constant._id in tape.watched for tape in around._tapes):
                return True
            around = around.around
        return False

    def capture_variable(self, variable: Any, name: str = "") -> SymbolicTensor:
        """Returns the placeholder of a variable's handle."""
        variable = getattr(variable, "_variable", variable)
        known = self._captured.get(variable._id)
        if known is None:
            known = self._capture_as(variable, variable._id, resource, [], name or "resource", {"variable": variable})
            known._id = variable._id  # gradients of what takes the handle are the variable's
        return known

    @property
    def outer_graph(self) -> Graph:
        """The graph around it; outside of all, the default one."""
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
        """Those of them that are trainable."""
        return tuple(v for v in self.variables if v.trainable)

    @property
    def external_captures(self) -> list[Any]:
        """What it captures from outside."""
        return [outer for outer, _ in self.captures]

    @property
    def internal_captures(self) -> list[SymbolicTensor]:
        """The placeholders of what it captures."""
        return [inner for _, inner in self.captures]

    @property
    def is_stateful(self) -> bool:
        """Returns whether TensorFlow takes a call of the function for one that has effects: reads of variables are
        too.
        """
        return any(map(_is_stateful, self._operations))

    def effects(self) -> list[Operation]:
        """Returns the operations that run in any case."""
        return [op for op in self._operations if op.stateful]

    def initial_value(self, variable: Any, value: Any, dtype: Any) -> Any:
        """Returns the first value of a variable made in the function; it is the function's for good.

        Raises:
            ValueError: the function was traced before, when it should have made its variables.
        """
        if not self.may_make_variables:
            raise ValueError(
                "tf.function only supports singleton tf.Variables created on the first call. Make sure the tf.Variable "
                "is only created once or created outside tf.function. See "
                "https://www.tensorflow.org/guide/function#creating_tfvariables for more information."
            )
        self.variables_made.append(variable)
        around = self.around
        while around is not None:
            if isinstance(around, FuncGraph):
                around.variables_made.append(variable)
            around = around.around
        return super().initial_value(variable, value, dtype)

    def _given_to(self, placeholder: SymbolicTensor) -> Any:
        given = self.given.get(id(placeholder))
        if given is None:
            given = next((outer for outer, inner in self.captures if inner is placeholder), None)
        if given is None or isinstance(given, ReadAsTensor):
            return given
        if isinstance(given, SymbolicTensor):
            return given.graph.value_now(given)
        with executing_eagerly():
            return convert(given, placeholder.dtype).value

    def variable_made(self, variable: Any, value: Any) -> None:
        """A variable made in a function has its value at once."""

    # ---- tracing -------------------------------------------------------------------------------------------------

    def trace(self, function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """Calls a function with symbolic tensors, and keeps what it gave.

        Raises:
            TypeError: it gave something that no function of a graph can give.
        """
        with self.as_default():
            state.name_scope = self.scope
            result = function(*args, **kwargs)
            state.name_scope = self.scope
            self.structured_outputs = nest.map_structure(lambda v: self.as_output(v, function), result)
            flat = nest.flatten(self.structured_outputs, expand_composites=True)
            self.outputs = [t for t in flat if isinstance(t, SymbolicTensor)]
        return self.structured_outputs

    def as_output(self, value: Any, function: Any) -> Any:
        """Returns a leaf of the result as a tensor of this graph."""
        if value is None or isinstance(value, Operation):
            return None if value is None else value
        if isinstance(value, CompositeTensor):
            return nest.map_structure(lambda v: self.as_output(v, function), value, expand_composites=True)
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


def _is_stateful(operation: Operation) -> bool:
    op = operation.op
    if operation.stateful or op is READ or op.random:
        return True
    bodies = operation.op.bodies if isinstance(operation.op, GraphOp) else {}
    return any(body.graph.is_stateful for body in bodies.values())


def _out_of_scope(tensor: SymbolicTensor, graph: FuncGraph) -> Exception:
    return InaccessibleTensorError(
        f"{tensor!r} is out of scope and cannot be used here. Use return values, explicit Python locals or TensorFlow "
        "collections to access it.\nPlease see "
        "https://www.tensorflow.org/guide/function#all_outputs_of_a_tffunction_must_be_return_values for more "
        f"information.\n\n{tensor!r} was defined here: {tensor.graph}\n\nThe tensor {tensor!r} cannot be accessed from "
        f"{graph}, because it was defined in {tensor.graph}, which is out of scope."
    )
