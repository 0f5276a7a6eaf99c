"""`tf.import_graph_def`: operations from a `GraphDef`.

A node becomes a call of the registered op of its name. So a graph from TensorFlow has the kernels and gradients of a
graph traced here. `node_ops.py` builds the nodes of other ops: variables, calls, control flow.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import numpy as np
from tensorboard.compat.proto.attr_value_pb2 import AttrValue

from tapeflow.array.identities import identity_n
from tapeflow.array.protos import make_ndarray
from tapeflow.core import errors
from tapeflow.core.context import override, state
from tapeflow.core.fork_locks import cached_property
from tapeflow.core.hooks import hooks
from tapeflow.core.ops import decompositions
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.definition import find
from tapeflow.core.ops.op_def import NO_DEFAULT, OpDef
from tapeflow.core.types.dtypes import resource
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.types.spec import TensorSpec
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.graph.graphdef.builders import builder_of
from tapeflow.graph.graphdef.calls import called_by, check_calls
from tapeflow.graph.graphdef.export import GRADIENT_NAME
from tapeflow.graph.graphdef.node_protos import (
    LibraryFunction,
    Output,
    ParsedNode,
    attr_of,
    check_attrs,
    check_inputs,
    definition_of,
    function_of,
    in_order,
    nodes_of_graph,
    output_dtypes,
    shape_of,
    tensor_count,
    type_attr,
)
from tapeflow.graph.ir.func_graph import FuncGraph
from tapeflow.graph.ir.graph import Graph, current_graph
from tapeflow.graph.ir.operation import GraphOp, Operation, variable_of
from tapeflow.graph.transform.body import Body

if TYPE_CHECKING:
    from google.protobuf.message import Message

# Attrs that steer how TensorFlow's runtime computes a result, or which shapes it checks, and not the result.
_WITHOUT_EFFECT = frozenset(
    {"allowed_devices", "container", "debug_name", "grad_a", "grad_b", "grad_x", "grad_y", "incompatible_shape_error",
     "parallel_iterations", "shared_name", "swap_memory", "use_cudnn_on_gpu", "use_inter_op_parallelism", "use_locking",
     "validate_indices", "validate_shape"}
)  # fmt: skip


_V1_CONTROL_FLOW = ("Switch", "Merge", "Enter", "Exit", "NextIteration", "LoopCond")
CONTROL_FLOW = frozenset({f"{reference}{name}" for name in _V1_CONTROL_FLOW for reference in ("", "Ref")})
READS = frozenset({"ReadVariableOp", "VarHandleOp"})  # stateful ops that may run twice


class Unstructured(Exception):
    """Control flow of TensorFlow 1 that can't be expressed by `If` and `While`."""


def import_graph_def(
    graph_def: Message,
    input_map: Mapping[str, Any] | None = None,
    return_elements: Iterable[str] | None = None,
    name: str | None = None,
    op_dict: Any = None,
    producer_op_list: Any = None,
) -> list[Any] | None:
    """Adds the nodes of a `GraphDef` to the default graph.

    TensorFlow 1's conditionals and loops (`Switch`, `Merge`, `Enter`, ...) become functional ones; the nodes of their
    results, `Merge` and `Exit`, keep their names.

    Args:
        graph_def: the `GraphDef` proto.
        input_map: from names of tensors in it (`"x:0"`) to the tensors that replace them.
        return_elements: names of operations (`"x"`) and tensors (`"x:0"`) in it.
        name: the prefix of the imported names; by default `"import"`, none for the empty string.
        op_dict: accepted for compatibility, and without effect.
        producer_op_list: accepted for compatibility, and without effect: attrs that are not defined here are left out
            in any case.

    Returns:
        The operations and tensors of `return_elements`, in their order, or None without it.

    Raises:
        TypeError: an argument is not of its type.
        ValueError: the proto contradicts itself, or a name is not in it.
        NotFoundError: a node names no op of TensorFlow, or a function that is not in the library.
        UnimplementedError: TapeFlow lacks an op; the message names it.

    Example:
        >>> with tf.Graph().as_default() as g:
        ...     x = tf.compat.v1.placeholder(tf.float32, [], name="x")
        ...     y = tf.square(x, name="y")
        >>> with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
        ...     y, = tf.import_graph_def(g.as_graph_def(), {"x:0": tf.constant(3.0)}, ["y:0"])
        ...     print(sess.run(y))
        9.0
    """
    return add_graph_def(graph_def, input_map, return_elements, name)


def add_graph_def(
    graph_def: Message,
    input_map: Mapping[str, Any] | None = None,
    return_elements: Iterable[str] | None = None,
    name: str | None = None,
    accepts_any_op: bool = False,
) -> list[Any] | None:
    """Adds the nodes of a `GraphDef` to the default graph.

    Args:
        graph_def: the `GraphDef`.
        input_map: tensors and operations that replace others, by the names in the `GraphDef`.
        return_elements: names of operations (`"x"`) and tensors (`"x:0"`).
        name: the prefix of the new names; "import" by default.
        accepts_any_op: adds nodes of TensorFlow's ops that are not here, too. They raise an error when they run: whole
            models have nodes that few programs run.

    Returns:
        The same as `import_graph_def`, with the same errors.
    """
    _check_arguments(graph_def, input_map)
    elements = _element_names(return_elements)
    graph = current_graph()
    with graph.as_default() if state.graph is not graph else ExitStack():
        scope, state.name_scope = state.name_scope, state.name_scope
        prefix = (
            graph.unique_name("import" if name is None else name.rstrip("/")) + "/"
            if name != ""
            else scope and f"{scope}/"
        )
        replaced = {
            _output_of_key(k): v if isinstance(v, Operation) else convert(v) for k, v in (input_map or {}).items()
        }
        nodes = nodes_with_handles(graph_def)
        library = {f.signature.name: f for f in graph_def.library.function}
        check_calls(library, called_by(graph_def.node))
        builder = Builder(graph, library, prefix)
        builder.replaced, builder.accepts_any_op, builder.resource_scope = replaced, accepts_any_op, prefix
        state.name_scope = ""
        try:
            builder.add_graph(nodes)
        finally:
            state.name_scope = scope
    unused = [k for k in (input_map or {}) if _output_of_key(k) not in builder.used]
    if unused:
        raise ValueError(f"Attempted to map inputs that were not found in graph_def: [{', '.join(unused)}]")
    return None if elements is None else [builder.element(text) for text in elements]


def nodes_with_handles(graph_def: Message) -> list[ParsedNode]:
    """Returns the nodes of a `GraphDef`, with resource variables in place of TensorFlow 1's reference variables."""
    nodes: list[ParsedNode] = _v1_graphs().without_references(nodes_of_graph(graph_def))
    return nodes


def _v1_graphs() -> Any:
    """Returns the module that rewrites graphs of TensorFlow 1."""
    return hooks.compat_module("v1_graphs")


def _check_arguments(graph_def: Message, input_map: Any) -> None:
    if not hasattr(graph_def, "library") or not hasattr(graph_def, "node"):
        raise TypeError("Argument `graph_def` must be a GraphDef proto.")
    if input_map is not None and not isinstance(input_map, Mapping):
        raise TypeError(f"Argument `input_map` must be a dictionary. Obtained {type(input_map).__name__}")
    wrong = [k for k in input_map or () if not isinstance(k, str)]
    if wrong:
        raise TypeError(f"All keys for argument `input_map` must be strings. Obtained keys: {list(input_map or ())}")


def _element_names(elements: Any) -> list[str] | None:
    if elements is None:
        return None
    names = list(elements)
    if not all(isinstance(n, str) for n in names):
        raise TypeError(f"Argument `return_elements` must be a list of strings. Obtained {elements}.")
    return names


def _output_of_key(text: str) -> Output:
    """Returns the output that a key of `input_map` names; its index is -1 for a control input."""
    if text.startswith("^"):
        return text[1:], -1
    name, colon, index = text.rpartition(":")
    return (name, int(index)) if colon and index.isdigit() else (text, 0)


def create_operation(graph: Graph, op: str, inputs: list[Any], attrs: Mapping[str, Any], name: str | None) -> Operation:
    """Adds an operation of an op to a graph that is being built.

    Args:
        graph: the graph.
        op: the op.
        inputs: its tensors.
        attrs: `AttrValue` messages by name; type attrs and lengths that follow from the inputs may be left out.
        name: the operation's name; the op's by default.
    """
    definition = definition_of(op)
    single = len(definition.inputs) == 1 and definition.inputs[0].is_list
    protos = dict(attrs)
    for argument, tensor in zip(definition.inputs, inputs, strict=False):
        if argument.type_attr and argument.type_attr not in protos:
            protos[argument.type_attr] = type_attr(tensor.dtype)
        if single and argument.number_attr and argument.number_attr not in protos:
            protos[argument.number_attr] = AttrValue(i=len(inputs))
    builder = Builder(graph, {})
    if not graph.building_function:  # a session keeps what the operation creates
        builder.resource_scope = ""
    node_name = graph.unique_name(name or op)
    builder.values = {f"input{i}": [graph.capture(t)] for i, t in enumerate(inputs)}
    with override(state, name_scope=state.name_scope):
        builder.add([ParsedNode(node_name, op, [(f"input{i}", 0) for i in range(len(inputs))], [], protos)])
    return builder.operations[node_name]


def _group_inputs(node: ParsedNode, definition: OpDef, tensors: Sequence[Any]) -> list[Any]:
    """Returns a node's inputs as the op takes them: a tensor or a list of them for each."""
    rest = iter(tensors)
    return [
        [next(rest) for _ in range(tensor_count(node, definition, argument))] if argument.is_list else next(rest)
        for argument in definition.inputs
    ]


class FunctionOfAttr:
    """A function that an attr of a node names, such as the one that a pipeline maps. It is built when it is needed.

    Attributes:
        captured_inputs: none: nodes pass captured tensors as inputs.
    """

    captured_inputs: Sequence[Any] = ()

    def __init__(self, builder: Builder, node: ParsedNode, name: str) -> None:
        self._builder, self._node, self.name = builder, node, name

    @cached_property
    def body(self) -> Body:
        """The function's body."""
        function = self._builder.function(self._node, self.name)
        recorded = self._builder.library[self.name].attr["_input_shapes"].list.shape
        shapes = [shape_of(s) for s in recorded] if len(recorded) == len(function.dtypes) else []
        shapes = [TensorShape(None) if d is resource else s for d, s in zip(function.dtypes, shapes, strict=False)]
        shapes = shapes or [TensorShape(None)] * len(function.dtypes)
        specs = [TensorSpec(s, d) for s, d in zip(shapes, function.dtypes, strict=True)]
        return Body(self._builder.func_graph(function, specs, shapes, [None] * len(specs)))

    def __repr__(self) -> str:
        return f"<function {self.name!r}>"


class Builder:
    """Adds nodes to a graph.

    Attributes:
        graph: the graph.
        library: the `FunctionDef`s by name.
        prefix: the prefix of the operations' names.
        around: the builder of the graph that calls this builder's function, or None.
        values: the outputs of each node, by its name.
        operations: the operations, by their nodes' names.
        replaced: the tensors and operations that replace nodes' outputs and control inputs.
        used: the outputs among `replaced` that a node reads.
        functions: the functions of the library that were read, by name.
        bodies: their bodies, by function, shapes and variables.
        open: the names of the functions that are being built.
        dataflow: the nodes of a graph with TensorFlow 1's control flow, unconverted, by name.
        accepts_any_op: True to add nodes of unsupported ops, see `add_graph_def`.
        variables: the existing variables, by container and shared name.
        used_variables: the ids of the existing variables that nodes refer to.
        tables: returns the handle of a table, by its name and dtypes; None if the operations of tables create them.
        resource_scope: the prefix for names of nodes that hold state and have no shared name; None if each run of their
            operations creates the state.
        gradients: functions that set an operation's gradient, by the gradient's name in the node's attrs.
    """

    around: Builder | None = None
    open: tuple[str, ...] = ()
    accepts_any_op = False
    tables: Callable[..., Any] | None = None
    resource_scope: str | None = None

    def __init__(self, graph: Any, library: Mapping[str, Any], prefix: str = "") -> None:
        self.graph, self.library, self.prefix = graph, library, prefix
        self.values: dict[str, list[SymbolicTensor]] = {}
        self.operations: dict[str, Operation] = {}
        self.replaced: dict[Output, Any] = {}
        self.used: set[Output] = set()
        self.functions: dict[str, LibraryFunction] = {}
        self.bodies: dict[Any, Any] = {}
        self.dataflow: dict[str, ParsedNode] = {}
        self.variables: Mapping[tuple[str, str], Any] = {}
        self.used_variables: set[int] = set()
        self.gradients: Mapping[str, Callable[[Builder, Operation], None]] = {}

    def add(self, nodes: Sequence[ParsedNode]) -> None:
        """Adds nodes in topological order, except for existing ones."""
        for node in nodes:
            if node.name not in self.operations:
                self._add(node)

    def add_graph(self, nodes: Sequence[ParsedNode]) -> None:
        """Adds the nodes of a graph, in any order. TensorFlow 1's control flow becomes `If` and `While` if possible,
        and otherwise stays unconverted."""
        try:
            structured = in_order(_v1_graphs().functional(_v1_graphs().with_lists(nodes)))
        except Unstructured:
            if self.graph.building_function and not self.graph.takes_control_flow:
                raise errors.UnimplementedError.of(
                    "A tf.function can't run control flow of TensorFlow 1 that can't be expressed by If and While: "
                    "import the graph in tf.compat.v1.wrap_function, or run it in a session"
                ) from None
            _v1_graphs().add_unconverted(self, nodes)
        else:
            self.add(structured)

    def add_function(self, function: LibraryFunction) -> None:
        """Adds the nodes of a function, whose arguments are there already.

        Raises:
            UnimplementedError: the function has TensorFlow 1's control flow that is neither a conditional nor a loop.
        """
        if not any(node.op in CONTROL_FLOW for node in function.nodes):
            self.add(in_order(function.nodes, function.arguments))
            return
        arguments = [self.stub(*pair) for pair in zip(function.arguments, function.dtypes, strict=True)]
        try:
            self.add(in_order(_v1_graphs().functional([*arguments, *function.nodes])))
        except Unstructured:
            raise errors.UnimplementedError.of(
                f"The function '{function.name}' has control flow of TensorFlow 1 that can't be expressed by If and "
                "While: write it with tf.compat.v1.enable_control_flow_v2()"
            ) from None

    def stub(self, name: str, dtype: Any) -> ParsedNode:
        """Returns a placeholder for an argument of a function."""
        return ParsedNode(name, "Placeholder", [], [], {"dtype": type_attr(dtype)})

    def _add(self, node: ParsedNode) -> None:
        definition = definition_of(node.op)
        tensors = [self.tensor(node, output) for output in node.inputs]
        build = builder_of(node.op)
        if not node.functions:
            check_attrs(node, definition, self.prefix)
            check_inputs(node, definition, tensors, self.prefix)
        state.name_scope = f"{self.prefix}{node.name}"  # for further operations that a builder adds
        with ExitStack() as stack:
            controls = [o for c in node.controls for o in self.control(c)]
            if controls:
                stack.enter_context(self.graph.control_dependencies(controls))
            if build is not None:
                operation = build(self, node, tensors)
            elif node.op in decompositions.forms:
                operation = self._formed(node, definition, tensors)
            else:
                operation = self._registered(node, definition, tensors)
        state.name_scope = ""
        if operation is None:  # nothing to do, as for the deletion of a resource
            self.values[node.name] = []
            return
        operation, outputs = operation if isinstance(operation, tuple) else (operation, operation.outputs)
        if operation.device == "":
            operation.device = node.device
        self._rename(operation, self.prefix + node.name)
        self.operations[node.name] = operation
        self.values[node.name] = list(outputs)
        gradient = node.attrs[GRADIENT_NAME].s.decode() if GRADIENT_NAME in node.attrs else ""
        if gradient in self.gradients:
            self.gradients[gradient](self, operation)
        elif gradient and not getattr(operation.op, "bodies", None):  # a call has the gradient of its function
            operation.op = hooks.with_registered_gradient(operation.op, gradient)

    def tensor(self, node: ParsedNode, output: Output) -> Any:
        """Returns the tensor for an input of a node."""
        replacement = self.replaced.get(output)
        if replacement is not None:
            self.used.add(output)
            return replacement
        outputs = self.values[output[0]]
        if output[1] >= len(outputs):
            raise ValueError(
                f"Node '{node.name}': Connecting to invalid output {output[1]} of source node {output[0]} which has "
                f"{len(outputs)} outputs."
            )
        return outputs[output[1]]

    def control(self, name: str) -> list[Operation]:
        """Returns the operation for a control input, if there is one."""
        replacement = self.replaced.get((name, -1))
        if replacement is not None:
            self.used.add((name, -1))
            return [replacement if isinstance(replacement, Operation) else replacement.op]
        return [self.operations[name]] if name in self.operations else []

    def _rename(self, operation: Operation, name: str) -> None:
        """Renames an operation to its node's name, with a number if another operation has that name."""
        graph = self.graph
        if operation.name == name:
            return
        if name in graph._by_name:
            name = graph.unique_name(name)
        else:
            graph._name_counts.setdefault(name.lower(), 1)
        graph._by_name.pop(operation.name)
        operation.name = name
        graph._by_name[name] = operation

    def element(self, text: str) -> Any:
        """Returns the operation or tensor of a name.

        Raises:
            ValueError: the graph has none of that name.
        """
        name, colon, index = text.rpartition(":")
        if not colon or not index.isdigit():
            if text not in self.operations:
                raise ValueError(f"Requested return node '{text}' not found in graph def")
            return self.operations[text]
        if (name, int(index)) in self.replaced:
            return self.replaced[name, int(index)]
        if name not in self.values:
            raise ValueError(f"Requested return tensor '{text}' not found in graph def")
        outputs = self.values[name]
        if int(index) >= len(outputs):
            raise ValueError(f"Invalid return output {index} of node '{name}', which has {len(outputs)} output(s)")
        return outputs[int(index)]

    # ---- registered ops ----------------------------------------------------------------------------------------------

    def _registered(self, node: ParsedNode, definition: OpDef, tensors: list[Any]) -> Operation:
        """Adds a call of the node's op, which is a registered one."""
        op = find(node.op)
        if op is None:
            message = (
                f"Op type {node.op!r} of node '{self.prefix}{node.name}' is TensorFlow's, and TapeFlow has no kernel "
                "for it yet"
            )
            if self.accepts_any_op:
                return self._without_kernel(node, definition, tensors, message)
            raise errors.UnimplementedError.of(message)
        args = _group_inputs(node, op.opdef, tensors)
        attrs = list(op.attr_names.values())
        args += [self._attr(node, definition if a in definition.attrs else op.opdef, a) for a in attrs]
        if "shared_name" in attrs and definition.stateful and self.resource_scope is not None:
            at = len(args) - len(attrs) + attrs.index("shared_name")
            args[at] = args[at] or self.resource_scope + node.name
        self._check_other_attrs(node, definition, attrs)
        self.graph.add(op, tuple(op.map(lambda t: t, args, host=lambda a: tuple(a) if type(a) is list else a)))
        return self.graph._operations[-1]

    def _without_kernel(self, node: ParsedNode, definition: OpDef, tensors: list[Any], message: str) -> Operation:
        """Adds an operation that raises an error when it runs."""

        def refuse(*_: Any) -> Any:
            raise errors.UnimplementedError.of(message)

        protos = {name: attr_of(node, definition, name) for name in definition.attrs if name in node.attrs}
        attrs = {name: value for name, value in protos.items() if not definition.attrs[name].type.endswith("func")}
        op = GraphOp(node.op, refuse, stateful=definition.stateful, attrs=attrs, gives_tuple=True, gradient=refuse)
        outputs = [(dtype, None) for dtype in output_dtypes(node, definition)]
        return self.graph.node(op, tensors, outputs, node.name)

    def _attr(self, node: ParsedNode, definition: OpDef, name: str) -> Any:
        """Returns an attr of a node as ops here take it: functions as such."""
        value, kind = attr_of(node, definition, name), definition.attrs[name].type
        if kind == "func":
            return FunctionOfAttr(self, node, value.name) if value.name else None
        if kind == "list(func)":
            return tuple([FunctionOfAttr(self, node, v.name) for v in value])
        return value

    def _formed(self, node: ParsedNode, definition: OpDef, tensors: list[Any]) -> Operation:
        """Adds the operations that compute the node's op, and one that has their outputs."""
        inputs = {
            a.name: value for a, value in zip(definition.inputs, _group_inputs(node, definition, tensors), strict=True)
        }
        attrs = {name: attr_of(node, definition, name) for name in definition.attrs}
        outputs = [convert(t) for t in decompositions.apply_form(node.op, attrs | inputs)]
        if not outputs:
            return self.graph._operations[-1]
        if isinstance(outputs[0], SymbolicTensor) and list(map(id, outputs[0].op.outputs)) == list(map(id, outputs)):
            return outputs[0].op
        return identity_n(outputs)[0].op

    def _check_other_attrs(self, node: ParsedNode, definition: OpDef, supported: Sequence[str]) -> None:
        """Checks that attrs that the op lacks here, and that would change the result, have their defaults."""
        type_attrs = {t for a in definition.inputs for t in (a.type_attr, a.number_attr, a.type_list_attr)}
        for name in definition.attrs:
            if name in supported or name in type_attrs or name in _WITHOUT_EFFECT or name not in node.attrs:
                continue
            default = definition.attrs[name].default
            if default is NO_DEFAULT:
                continue
            value = attr_of(node, definition, name)
            if isinstance(default, np.ndarray):
                value = make_ndarray(value)
            if definition.attrs[name].type != "shape" and not np.array_equal(value, default):
                raise errors.UnimplementedError.of(
                    f"Node '{self.prefix}{node.name}' of op {node.op}: attr '{name}' can only have its default "
                    f"{default!r}, not {value!r}"
                )

    # ---- functions ---------------------------------------------------------------------------------------------------

    def body(self, node: ParsedNode, attr: str, inputs: Sequence[Any], shapes: Sequence[Any], *places: Any) -> Any:
        """Returns the body of the function that an attr of a node names, see `body_of`."""
        function = node.functions.get(attr) or self.function(node, node.attrs[attr].func.name)
        return self.body_of(node, function, inputs, shapes, *places)

    def body_of(
        self, node: ParsedNode, function: LibraryFunction, inputs: Sequence[Any], shapes: Sequence[Any],
        order: Sequence[int] | None = None, results: Sequence[int] | None = None,
    ) -> Any:  # fmt: skip
        """Returns the body of a function that a node calls.

        Args:
            node: the node.
            function: the function.
            inputs: the arguments of the call.
            shapes: the static shapes of the function's arguments.
            order: the places of the body's inputs among the arguments; by default their order.
            results: the places of the body's outputs among the results; by default all.

        Raises:
            ValueError: the inputs do not have the dtypes of the function's arguments.
        """
        if [t.dtype for t in inputs] != function.dtypes:
            raise ValueError(
                f"Node '{self.prefix}{node.name}': function '{function.name}' takes "
                f"{[d.name for d in function.dtypes]}, and is called with {[t.dtype.name for t in inputs]}"
            )
        variables = [variable_of(t) for t in inputs]
        places = [None if p is None else tuple(p) for p in (order, results)]
        key = id(function), tuple(map(str, shapes)), tuple(map(id, variables)), *places
        if key not in self.bodies:
            graph = self.func_graph(function, inputs, shapes, variables)
            if order is not None:
                graph.inputs = [graph.inputs[i] for i in order]
            if results is not None:
                graph.outputs = graph.structured_outputs = [graph.outputs[i] for i in results]
            self.bodies[key] = Body(graph)
        return self.bodies[key]

    def function(self, node: ParsedNode, name: str) -> LibraryFunction:
        """Returns the function of that name in the library.

        Raises:
            NotFoundError: the library has none of that name.
        """
        if name not in self.functions:
            if name not in self.library:
                raise errors.NotFoundError.of(
                    f"Node '{self.prefix}{node.name}': function '{name}' is not in the library"
                )
            self.functions[name] = function_of(self.library[name])
        return self.functions[name]

    def func_graph(
        self, function: LibraryFunction, inputs: Sequence[Any], shapes: Sequence[Any], variables: Sequence[Any]
    ) -> Any:
        """Returns the graph of a function.

        Args:
            function: the function.
            inputs: tensors of the dtypes of its arguments.
            shapes: the static shapes of its arguments.
            variables: for each argument the variable whose handle it is, or None.

        Raises:
            UnimplementedError: the function calls itself.
        """
        if function.name in self.open:
            raise errors.UnimplementedError.of(f"Function '{function.name}' calls itself: that can't be imported")
        graph = FuncGraph(function.name)
        inner = copy.copy(self)
        inner.graph, inner.prefix, inner.around, inner.open = graph, "", self, (*self.open, function.name)
        inner.values, inner.operations, inner.replaced, inner.used, inner.dataflow = {}, {}, {}, set(), {}
        with graph.as_default():
            for name, tensor, shape, variable in zip(function.arguments, inputs, shapes, variables, strict=True):
                placeholder = graph.placeholder(tensor.dtype, shape, name)
                if variable is not None:
                    placeholder.op.op.attrs["variable"], placeholder._id = variable, variable._id
                graph.inputs.append(placeholder)
                inner.values[name], inner.operations[name] = [placeholder], placeholder.op
            inner.add_function(function)
            graph.outputs = [inner.tensor(ParsedNode("result", "", [], [], {}), output) for output in function.outputs]
        graph.structured_outputs = list(graph.outputs)
        return graph
