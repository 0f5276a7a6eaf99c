"""`tf.import_graph_def`: operations from a `GraphDef`.

A node becomes a call of the registered op of its name, so that what TensorFlow wrote runs on the same kernels, and has
the same gradients, as what was traced here. `node_ops.py` has what only graphs know: variables, calls, control flow.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from typing import Any

import numpy as np

from tapeflow.array.protos import make_ndarray
from tapeflow.core import errors
from tapeflow.core.context import state
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.definition import find
from tapeflow.core.ops.op_def import NO_DEFAULT, OpDef
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.graph.graphdef.builders import builder_of
from tapeflow.graph.graphdef.node_protos import (
    Function,
    Node,
    Output,
    attr_of,
    check_attrs,
    check_inputs,
    definition_of,
    function_of,
    in_order,
    nodes_of_graph,
)
from tapeflow.graph.graphdef.v1_control_flow import functional
from tapeflow.graph.ir.graph import default_graph
from tapeflow.graph.ir.operation import Operation, variable_of

# Attrs that say how TensorFlow's runtime goes about it, or whether wrong shapes are an error, and not what comes out.
_WITHOUT_EFFECT = frozenset(
    {"allowed_devices", "container", "debug_name", "grad_a", "grad_b", "grad_x", "grad_y", "incompatible_shape_error",
     "parallel_iterations", "shared_name", "swap_memory", "use_cudnn_on_gpu", "use_inter_op_parallelism", "use_locking",
     "validate_indices", "validate_shape"}
)  # fmt: skip


def import_graph_def(
    graph_def: Any,
    input_map: Mapping[str, Any] | None = None,
    return_elements: Iterable[str] | None = None,
    name: str | None = None,
    op_dict: Any = None,
    producer_op_list: Any = None,
) -> list[Any] | None:
    """Adds the nodes of a `GraphDef` to the default graph.

    TensorFlow 1's conditionals and loops (`Switch`, `Merge`, `Enter`, ...) become functional ones; of their nodes those
    that give results, `Merge` and `Exit`, can be found by their names.

    Args:
        graph_def: the `GraphDef` proto.
        input_map: from names of tensors in it (`"x:0"`) to the tensors that take their places.
        return_elements: names of operations (`"x"`) and tensors (`"x:0"`) in it.
        name: the prefix of the imported names; by default `"import"`, none for the empty string.
        op_dict: accepted, and without effect.
        producer_op_list: an `OpList` of what the producer knew: attrs that it knew of, and that have their default,
            may be unknown here. Unknown attrs are left out in any case.

    Returns:
        The operations and tensors of `return_elements`, in their order, or None without it.

    Raises:
        TypeError: an argument is not of its type.
        ValueError: the proto contradicts itself, or a name is not in it.
        NotFoundError: no op has the name that a node gives.
        UnimplementedError: the op is TensorFlow's, and not here; its message names it.

    Example:
        >>> with tf.Graph().as_default() as g:
        ...     x = tf.compat.v1.placeholder(tf.float32, [], name="x")
        ...     y = tf.square(x, name="y")
        >>> with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
        ...     y, = tf.import_graph_def(g.as_graph_def(), {"x:0": tf.constant(3.0)}, ["y:0"])
        ...     print(sess.run(y))
        9.0
    """
    _check_arguments(graph_def, input_map)
    wanted = _names(return_elements)
    graph = _default_graph()
    with graph.as_default() if state.graph is not graph else ExitStack():
        scope, state.name_scope = state.name_scope, state.name_scope
        prefix = (
            graph.unique_name("import" if name is None else name.rstrip("/")) + "/"
            if name != ""
            else scope and f"{scope}/"
        )
        given = {_key(k): convert(v) if not isinstance(v, Operation) else v for k, v in (input_map or {}).items()}
        nodes = in_order(functional(nodes_of_graph(graph_def)))
        builder = Builder(graph, {f.signature.name: f for f in graph_def.library.function}, prefix)
        builder.replaced = given
        state.name_scope = ""
        try:
            builder.add(nodes)
        finally:
            state.name_scope = scope
    unused = [k for k in (input_map or {}) if _key(k) not in builder.used]
    if unused:
        raise ValueError(f"Attempted to map inputs that were not found in graph_def: [{', '.join(unused)}]")
    return None if wanted is None else [builder.element(text) for text in wanted]


def _default_graph() -> Any:
    return default_graph() if state.graph is None else state.graph


def _check_arguments(graph_def: Any, input_map: Any) -> None:
    if not hasattr(graph_def, "library") or not hasattr(graph_def, "node"):
        raise TypeError("Argument `graph_def` must be a GraphDef proto.")
    if input_map is not None and not isinstance(input_map, Mapping):
        raise TypeError(f"Argument `input_map` must be a dictionary. Obtained {type(input_map).__name__}")
    wrong = [k for k in input_map or () if not isinstance(k, str)]
    if wrong:
        raise TypeError(f"All keys for argument `input_map` must be strings. Obtained keys: {list(input_map or ())}")


def _names(elements: Any) -> list[str] | None:
    if elements is None:
        return None
    names = list(elements)
    if not all(isinstance(n, str) for n in names):
        raise TypeError(f"Argument `return_elements` must be a list of strings. Obtained {elements}.")
    return names


def _key(text: str) -> Output:
    """What a key of `input_map` stands for; -1 for a control input."""
    if text.startswith("^"):
        return text[1:], -1
    name, colon, index = text.rpartition(":")
    return (name, int(index)) if colon and index.isdigit() else (text, 0)


class Builder:
    """Adds nodes to a graph.

    Attributes:
        graph: the graph.
        library: the `FunctionDef`s by name.
        prefix: of the names of the operations.
        values: the tensors that each node gives, by its name.
        operations: the operations, by their nodes' names.
        replaced: tensors that take the place of nodes' outputs.
        used: those of them that some node would have taken.
    """

    def __init__(self, graph: Any, library: Mapping[str, Any], prefix: str = "", around: Builder | None = None) -> None:
        self.graph = graph
        self.library = library
        self.prefix = prefix
        self.values: dict[str, list[SymbolicTensor]] = {}
        self.operations: dict[str, Operation] = {}
        self.replaced: dict[Output, Any] = {}
        self.used: set[Output] = set()
        self.functions: dict[str, Function] = {} if around is None else around.functions
        self.bodies: dict[Any, Any] = {} if around is None else around.bodies
        self.open: tuple[str, ...] = () if around is None else around.open  # the functions that are being built

    def add(self, nodes: Sequence[Node]) -> None:
        """Adds nodes, each of which comes after those that it depends on."""
        for node in nodes:
            self._add(node)

    def _add(self, node: Node) -> None:
        definition = definition_of(node.op)
        tensors = [self._tensor(node, output) for output in node.inputs]
        build = builder_of(node.op)
        if not node.functions:
            check_attrs(node, definition, self.prefix)
            check_inputs(node, definition, tensors, self.prefix)
        state.name_scope = f"{self.prefix}{node.name}"  # for what else it takes to make the operation
        with ExitStack() as stack:
            controls = [o for c in node.controls for o in self._control(c)]
            if controls:
                stack.enter_context(self.graph.control_dependencies(controls))
            operation = self._registered(node, definition, tensors) if build is None else build(self, node, tensors)
        state.name_scope = ""
        if operation is None:  # nothing to do, such as the deletion of what goes by itself
            self.values[node.name] = []
            return
        if operation.device == "":
            operation.device = node.device
        self._rename(operation, self.prefix + node.name)
        self.operations[node.name] = operation
        self.values[node.name] = list(operation.outputs)

    def _tensor(self, node: Node, output: Output) -> Any:
        found = self.replaced.get(output)
        if found is not None:
            self.used.add(output)
            return found
        outputs = self.values[output[0]]
        if output[1] >= len(outputs):
            raise ValueError(
                f"Node '{node.name}': Connecting to invalid output {output[1]} of source node {output[0]} which has "
                f"{len(outputs)} outputs."
            )
        return outputs[output[1]]

    def _control(self, name: str) -> list[Operation]:
        found = self.replaced.get((name, -1))
        if found is not None:
            self.used.add((name, -1))
            return [found if isinstance(found, Operation) else found.op]
        return [self.operations[name]] if name in self.operations else []

    def _rename(self, operation: Operation, name: str) -> None:
        """Gives an operation its node's name, with a number where an operation of the graph has it."""
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
        """The operation or tensor that a name stands for.

        Raises:
            ValueError: there is none.
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

    def _registered(self, node: Node, definition: OpDef, tensors: list[Any]) -> Operation:
        """A call of the registered op of the node's name."""
        op = find(node.op)
        if op is None:
            raise errors.UnimplementedError(
                None,
                None,
                f"Op type {node.op!r} of node '{self.prefix}{node.name}' is TensorFlow's, and TapeFlow has no kernel "
                "for it yet",
            )
        args: list[Any] = []
        rest = iter(tensors)
        for argument, kind in zip(op.opdef.inputs, op.kinds, strict=False):
            if argument.number_attr:
                args.append([next(rest) for _ in range(attr_of(node, definition, argument.number_attr))])
            elif argument.type_list_attr:
                args.append([next(rest) for _ in attr_of(node, definition, argument.type_list_attr)])
            else:
                args.append(next(rest))
            if kind == "host" and type(args[-1]) is list:
                args[-1] = tuple(args[-1])
        known = list(op.attr_names.values())
        args += [attr_of(node, definition, a) if a in definition.attrs else attr_of(node, op.opdef, a) for a in known]
        self._check_left_out(node, definition, known)
        self.graph.add(op, tuple(args))
        return self.graph._operations[-1]

    def _check_left_out(self, node: Node, definition: OpDef, known: Sequence[str]) -> None:
        """Refuses attrs that would change the result and that the op does not know here."""
        told = {t for a in definition.inputs for t in (a.type_attr, a.number_attr, a.type_list_attr)}
        for name in definition.attrs:
            if name in known or name in told or name in _WITHOUT_EFFECT or name not in node.attrs:
                continue
            default = definition.attrs[name].default
            if default is NO_DEFAULT:
                continue
            value = attr_of(node, definition, name)
            if isinstance(default, np.ndarray):
                value = make_ndarray(value)
            if definition.attrs[name].type != "shape" and not np.array_equal(value, default):
                raise errors.UnimplementedError(
                    None,
                    None,
                    f"Node '{self.prefix}{node.name}' of op {node.op}: attr '{name}' can only have its default "
                    f"{default!r}, not {value!r}",
                )

    # ---- functions ---------------------------------------------------------------------------------------------------

    def body(self, node: Node, attr: str, inputs: Sequence[Any], shapes: Sequence[Any]) -> Any:
        """The body of the function that an attr of a node names, see `body_of`."""
        return self.body_of(
            node, node.functions.get(attr) or self.function(node, node.attrs[attr].func.name), inputs, shapes
        )

    def body_of(self, node: Node, function: Function, inputs: Sequence[Any], shapes: Sequence[Any]) -> Any:
        """The body of a function that a node calls.

        Args:
            node: the node.
            function: the function.
            inputs: the tensors that it is called with.
            shapes: what is known of the shapes of its arguments.

        Raises:
            ValueError: the function takes other inputs.
        """
        from tapeflow.graph.control.body import Body

        if [t.dtype for t in inputs] != function.dtypes:
            raise ValueError(
                f"Node '{self.prefix}{node.name}': function '{function.name}' takes "
                f"{[d.name for d in function.dtypes]}, and is called "
                f"with {[t.dtype.name for t in inputs]}"
            )
        variables = [variable_of(t) for t in inputs]
        key = (id(function), tuple(map(str, shapes)), tuple(map(id, variables)))
        known = self.bodies.get(key)
        if known is None:
            known = self.bodies[key] = Body(self._func_graph(function, inputs, shapes, variables))
        return known

    def function(self, node: Node, name: str) -> Function:
        """The function of that name in the library.

        Raises:
            NotFoundError: there is none.
        """
        if name not in self.functions:
            if name not in self.library:
                raise errors.NotFoundError(
                    None, None, f"Node '{self.prefix}{node.name}': function '{name}' is not in the library"
                )
            self.functions[name] = function_of(self.library[name])
        return self.functions[name]

    def _func_graph(
        self, function: Function, inputs: Sequence[Any], shapes: Sequence[Any], variables: Sequence[Any]
    ) -> Any:
        from tapeflow.graph.ir.func_graph import FuncGraph
        from tapeflow.graph.ir.operation import GraphOp

        if function.name in self.open:
            raise errors.UnimplementedError(
                None, None, f"Function '{function.name}' calls itself: that can't be imported"
            )
        graph = FuncGraph(function.name)
        inner = Builder(graph, self.library, around=self)
        inner.open = (*self.open, function.name)
        with graph.as_default():
            for name, tensor, shape, variable in zip(function.arguments, inputs, shapes, variables, strict=True):
                attrs = None if variable is None else {"variable": variable}
                made = graph.insert(GraphOp("Placeholder", attrs=attrs), graph.unique_name(name), ())
                made.outputs.append(SymbolicTensor(made, 0, tensor.dtype, shape))
                if variable is not None:
                    made.outputs[0]._id = variable._id
                graph.inputs.append(made.outputs[0])
                inner.values[name] = [made.outputs[0]]
            inner.add(in_order(function.nodes, function.arguments))
            graph.outputs = [inner._tensor(Node("result", "", [], [], {}), output) for output in function.outputs]
        graph.structured_outputs = list(graph.outputs)
        return graph
