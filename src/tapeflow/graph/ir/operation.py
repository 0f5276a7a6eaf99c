"""An operation of a graph, and the ops that only graphs have: placeholders, constants, calls, control flow.

An operation has an op, as a tape and the compiler use it (`core/ops/definition.py`). `GraphOp` is an op that eager mode
does not have.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from traceback import StackSummary
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tapeflow.core.context import state
from tapeflow.core.hooks import hooks
from tapeflow.core.ops import op_def as op_defs
from tapeflow.core.ops.definition import Op
from tapeflow.core.types.dtypes import DType, as_dtype
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.boxed_objects import held_object
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.tensor import Tensor
from tapeflow.core.values.variable import Variable
from tapeflow.core.values.variable_in_graph import OfGraph
from tapeflow.graph.ir.attrs import attrs_of
from tapeflow.graph.ir.positions import Position, stack_summary

if TYPE_CHECKING:
    from google.protobuf.message import Message

    from tapeflow.core.autodiff.tape import Tape
    from tapeflow.core.types.spec import TensorSpec
    from tapeflow.graph.ir.graph import Graph


class GradientOf(NamedTuple):
    """A description of a loop's gradient.

    The gradient's inputs are the loop's trip count and residuals, cotangents, other values, the primal inputs, and the
    backward function's captures from outside the body's graph, in this order.

    Attributes:
        operation: the loop.
        targets: the outputs with cotangents.
        sources: the inputs with gradients.
        residuals: the number of the first inputs: the trip count and residuals.
        others: the number of other values.
        outside: the backward function's captures from outside the body's graph.
    """

    operation: Operation
    targets: Sequence[int]
    sources: Sequence[int]
    residuals: int
    others: int
    outside: Sequence[Any]


class GraphOp(Op):
    """An op that exists only in graphs. Its kernel belongs to one operation.

    Attributes:
        name: TensorFlow's name of the op.
        kernel: takes the raw values of the inputs in order, and returns one raw value, a tuple of them, or None.
        stateful: True if it must run in program order, even without uses of its outputs.
        in_place: a kernel that computes the same in the memory of its first input, or None.
        template: the code that the compiler writes for a call: an expression of `{0}`, `{1}`, ... (the inputs) and
            `{kernel}`.
        gradient: `gradient(call, *dys)`; without it, no gradient passes.
        attrs: its attrs, by TensorFlow's names.
        bodies: the functions that it calls, by TensorFlow's attr names.
        places: for each function, the places of its inputs among the operation's inputs after the first `steering`.
        gives_tuple: True if the kernel returns a tuple even for one output.
        steering: the number of first inputs that only control execution: a predicate or a limit.
        specialized: of a conditional or loop, returns its programs with faster kernels.
        lowered: returns the operations that replace an operation of this op in a `GraphDef`.
        gradient_of: for the gradient of a loop, its description.
        residuals: the residuals that the branches of a differentiated conditional return.
        part: the program of the steps that it computes at once, or None.
        diagnostic: True if it only checks, prints or records its inputs.
        recorded: `recorded(tape, operation)` records an operation for `tf.gradients` in its own way; or None.
        first_output: TensorFlow's number of the first output: its loops return a counter and a limit before the
            carried values.
    """

    steering = 0
    first_output = 0
    diagnostic = False
    residuals: Any = None
    part: Any = None
    in_place: Callable[..., Any] | None = None
    lowered: Callable[[Operation], list[Operation]] | None = None
    recorded: Callable[[Tape, Operation], None] | None = None
    specialized: Callable[[], list[Any]]
    runs_python = True  # not only kernels on tensors

    def __init__(
        self,
        name: str,
        kernel: Callable[..., Any] | None = None,
        *,
        stateful: bool = False,
        template: str = "",
        gradient: Callable[..., Any] | None = None,
        attrs: dict[str, Any] | None = None,
        bodies: dict[str, Any] | None = None,
        places: dict[str, Sequence[int]] | None = None,
        gives_tuple: bool = False,
        gradient_of: GradientOf | None = None,
    ) -> None:
        self.name = name
        self.kernel = kernel
        self.stateful = stateful
        self.template = template
        self.gradient = gradient
        self.differentiable = gradient is not None
        self.none_for_zero = True
        self.attrs = attrs or {}
        self.bodies = bodies or {}
        self.places = places or {}
        self.gives_tuple = gives_tuple
        self.gradient_of = gradient_of

    @property
    def programs(self) -> list[Any]:
        """The programs of the functions that it calls."""
        return [body.compiled.program for body in self.bodies.values()]

    def input_name(self, i: int) -> str:
        """Returns TensorFlow's name of an input, or "" if it has none."""
        if self.bodies:
            return f"input_{i - self.steering + self.first_output}" if self.control != "call" else ""
        try:
            arguments = op_defs.get(self.name).inputs
        except LookupError:
            return ""
        return arguments[i].name if i < len(arguments) else ""


class VariableUpdate(GraphOp):
    """An op that changes a variable, its first input, and has no other effect.

    Args:
        name: TensorFlow's name of the op.
        kernel: `kernel(variable, *raw values)`.
        element: the element form of an element-wise change. It takes an element of the variable and an element of each
            value.
    """

    def __init__(self, name: str, kernel: Callable[..., Any], element: Callable[..., Any] | None = None) -> None:
        super().__init__(name, kernel, stateful=True)
        self.element: Any = element


class Operation:
    """One op in a graph, with its inputs and outputs.

    Attributes:
        graph: the graph.
        op: the op.
        name: unique in its graph.
        args: the arguments in the order of the op's parameters: symbolic tensors, lists of them, Python values.
        types: the op's type attrs.
        outputs: its tensors.
        control_inputs: operations that run before.
        device: the device that the program asked for.
        captured: for the placeholder or constant of a captured tensor, that tensor of an outer graph; otherwise None.
        position: the line of the user's code that added it, see `positions.py`.

    Example:
        >>> with tf.Graph().as_default():
        ...     op = (tf.constant(1.0, name="a") + 2.0).op
        >>> op.type, [t.name for t in op.inputs][:1]
        ('AddV2', ['a:0'])
    """

    # The operation that this one was derived from, as in TensorFlow, whose errors list them.
    _original_op: Operation | None = None

    captured: SymbolicTensor | None = None

    __slots__ = (  # programs may set further attributes in `__dict__`
        "__dict__", "__weakref__", "_control_inputs", "args", "device", "graph", "index", "name", "op", "outputs",
        "position", "static", "types",
    )  # fmt: skip

    def __init__(
        self, graph: Graph, op: Any, name: str, args: Sequence[Any], types: dict[str, Any] | None = None
    ) -> None:
        self.graph = graph
        self.op = op
        self.name = name
        self.args = args
        self.types = types or {}
        self.outputs: list[SymbolicTensor] = []
        self._control_inputs: tuple[Operation, ...] = ()
        self.device = ""
        self.index = 0
        self.position: Position | None = None
        self.static: Any = None  # its cached static value, see `static.py`

    def _get_control_flow_context(self) -> None:
        """Returns None: there are no control flow contexts."""

    @property
    def type(self) -> str:
        """TensorFlow's name of the op."""
        return self.op.name

    @property
    def inputs(self) -> tuple[SymbolicTensor, ...]:
        """The input tensors."""
        return tuple(symbolic_in(self.args))

    @property
    def control_inputs(self) -> list[Operation]:
        """The operations that run before it, beside its inputs'."""
        return list(self._control_inputs)

    @property
    def _control_outputs(self) -> list[Operation]:
        """The operations that run after it, beside those that take its outputs."""
        return [o for o in self.graph.get_operations() if self in o._control_inputs]

    @property
    def stateful(self) -> bool:
        """A bool: True if it must run in program order, even without uses of its outputs."""
        return self.op.stateful

    @property
    def tensor_inputs(self) -> list[SymbolicTensor]:
        """The inputs that may have gradients: all except host arguments."""
        return list(symbolic_in(self.op.tensors(self.args)))

    @property
    def statics(self) -> list[Any]:
        """The other arguments, in the order of the op's parameters."""
        return self.op.statics(self.args)

    def also_return(self, op: Any, dtype: DType, shape: TensorShape) -> SymbolicTensor:
        """Replaces the op by one with an additional result for a gradient, and returns this result.

        Raises:
            RuntimeError: the graph is finalized.
        """
        if self.graph.finalized and not getattr(self.graph, "is_differentiable", False):
            raise RuntimeError(f"{self.graph} is finalized: its operation {self.name!r} can't return anything else.")
        output = SymbolicTensor(self, op.first_output + len(self.outputs), dtype, shape)
        self.op, self.outputs = op, [*self.outputs, output]
        return output

    def get_attr(self, name: str) -> Any:
        """Returns the value of an attr, as a `NodeDef` has it: `bytes` for a text, messages for shapes and tensors.

        Raises:
            ValueError: the op has no such attr.
        """
        attrs = self.node_def.attr
        if name in attrs:
            return _attr_value(attrs[name])
        own = attrs_of(self)
        if name not in own:
            raise ValueError(f"Operation '{self.name}' has no attr named '{name}'.")
        return own[name]

    @property
    def node_def(self) -> Any:
        """The operation as a `NodeDef` proto."""
        return hooks.node_def(self)

    @property
    def op_def(self) -> Any:
        """The op's definition in TensorFlow's registry, or None."""
        return getattr(self.op, "opdef", None)

    @property
    def traceback(self) -> StackSummary:
        """The lines of the user's code that added it, the outermost first."""
        return stack_summary(self.position)

    def colocation_groups(self) -> list[bytes]:
        """Returns the groups of operations that are placed together: its own alone."""
        return [f"loc:@{self.name}".encode()]

    def experimental_set_type(self, type_proto: Any) -> None:
        """Does nothing: types follow from the op.

        Args:
            type_proto: the type that TensorFlow's runtime would note.
        """

    @staticmethod
    def from_node_def(
        node_def: Message, g: Any, inputs: Any = None, output_types: Any = None, control_inputs: Any = None,
        input_types: Any = None, original_op: Any = None, op_def: Any = None,
    ) -> Operation:  # fmt: skip
        """Adds the operation that a `NodeDef` message describes to a graph.

        Args:
            node_def: the message.
            g: the graph.
            inputs: the tensors.
            control_inputs: operations that run before.
            output_types, input_types, original_op, op_def: accepted, and without effect.

        Returns:
            The operation.
        """
        with g.as_default(), g.control_dependencies(control_inputs or []):
            return g.create_op(node_def.op, inputs or [], name=node_def.name, attrs=dict(node_def.attr))

    def values(self) -> tuple[SymbolicTensor, ...]:
        """Returns the outputs."""
        return tuple(self.outputs)

    def run(self, feed_dict: dict[Any, Any] | None = None, session: Any = None) -> None:
        """Runs it in a session, by default the default one."""
        session = session or state.default_session()
        if session is None:
            raise ValueError(
                "Cannot execute operation using `run()`: No default session is registered. Use `with "
                "sess.as_default()` or pass an explicit session to `run(session=sess)`"
            )
        session.run(self, feed_dict)

    def __repr__(self) -> str:
        return f"<tf.Operation {self.name!r} type={self.type}>"


def _attr_value(proto: Message) -> Any:
    """Returns the value of an `AttrValue`."""
    kind = proto.WhichOneof("value")
    if kind == "list":
        fields = proto.list.ListFields()
        return [as_dtype(v) if fields[0][0].name == "type" else v for v in fields[0][1]] if fields else []
    return as_dtype(proto.type) if kind == "type" else getattr(proto, kind) if kind else []


def symbolic_in(args: Iterable[Any]) -> Iterable[SymbolicTensor]:
    """Yields the symbolic tensors in arguments, in order."""
    for arg in args:
        if isinstance(arg, SymbolicTensor):
            yield arg
        elif type(arg) in (list, tuple):
            yield from symbolic_in(arg)


def variable_of(tensor: Tensor | TensorSpec) -> Any:
    """Returns the variable whose handle a tensor is, or None."""
    op = tensor.op.op if isinstance(tensor, SymbolicTensor) else None
    return op.attrs.get("variable") if isinstance(op, GraphOp) else None


def has_gradient(tensor: Tensor) -> bool:
    """Returns True if an input may have a gradient. The gradient of a variable's handle is the variable's gradient."""
    return tensor.dtype.differentiable or variable_of(tensor) is not None


def variable_in(handle: Variable | np.ndarray) -> Any:
    """Returns the variable that a raw resource is, or holds.

    Raises:
        InvalidArgumentError: it holds something else.
    """
    variable = handle[()] if isinstance(handle, np.ndarray) else handle
    return variable if isinstance(variable, OfGraph) else held_object(handle, OfGraph, "variable")


def reachable(targets: Iterable[Operation], stops: Container[int] = (), controls: bool = True) -> list[Operation]:
    """Returns operations and all that they depend on, in program order.

    Args:
        targets: the operations.
        stops: the ids of tensors and operations that need not be computed. Nothing behind them is reached.
        controls: True to follow control dependencies.
    """
    reached: dict[int, Operation] = {}
    stack = list(targets)
    while stack:
        operation = stack.pop()
        outputs = operation.outputs
        if id(operation) in reached or id(operation) in stops or (outputs and all(id(t) in stops for t in outputs)):
            continue
        reached[id(operation)] = operation
        stack += [t.op for t in operation.inputs if id(t) not in stops]
        if controls:
            stack += operation._control_inputs
    return sorted(reached.values(), key=lambda o: o.index)
