"""Builders of the nodes of a `GraphDef` that call no registered op: constants, variables, calls, control flow.

A builder takes the graph's `Builder`, the node and its inputs, and returns the operation that it added.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tapeflow.array import (
    legacy_ops,  # noqa: F401 (registers them)
    tensor_list,  # noqa: F401 (registers its ops)
)
from tapeflow.array.gathers import gather
from tapeflow.array.identities import identity
from tapeflow.array.protos import tensor_of_proto
from tapeflow.array.tensor_text import print as print_
from tapeflow.array.tensor_text import stream_of
from tapeflow.control.conditions_and_loops import check_assertion
from tapeflow.core import errors
from tapeflow.core.hooks import hooks
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.definition import ops
from tapeflow.core.types.dtypes import bool_, resource, string
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.indexed_slices import IndexedSlices
from tapeflow.core.values.tensor import EagerTensor
from tapeflow.core.values.variable import _add_delta, _assign_value, _subtract_delta
from tapeflow.graph.graphdef.builders import Build, register
from tapeflow.graph.graphdef.import_graph import Builder
from tapeflow.graph.graphdef.node_protos import NAMED_AFTER_NODE, ParsedNode, node_attr, without_identities
from tapeflow.graph.ir.graph import READ, Graph
from tapeflow.graph.ir.operation import GraphOp, Operation, variable_in, variable_of
from tapeflow.graph.ir.python_op import assert_op, executing_eagerly, python_op
from tapeflow.graph.ir.variables import is_initialized, without_value
from tapeflow.graph.transform.control_flow import conditional
from tapeflow.graph.transform.loops import loop
from tapeflow.math.comparison import not_equal

# ---- values ----------------------------------------------------------------------------------------------------------


def _import_constant(builder: Builder, node: ParsedNode, inputs: list[Any]) -> Operation:
    proto = node.attrs["value"].tensor
    dtype = node_attr(node, "dtype")
    where = f"Node '{builder.prefix}{node.name}'"
    if proto.dtype != dtype.as_datatype_enum:
        raise ValueError(f"{where}: Inconsistent values for attr 'dtype' {dtype.name} vs. that of its tensor")
    dims = [d.size for d in proto.tensor_shape.dim]
    if any(d < 0 for d in dims):
        raise ValueError(f"{where}: Shape {dims} is not fully defined")
    try:
        value = tensor_of_proto(proto)
    except (ValueError, TypeError, IndexError) as error:
        raise ValueError(f"{where}: Cannot parse tensor from proto: {error}") from None
    return builder.graph.constant(value, node.name).op


def _import_placeholder(builder: Builder, node: ParsedNode, inputs: list[Any]) -> Operation:
    return builder.graph.placeholder(node_attr(node, "dtype"), node_attr(node, "shape"), node.name).op


def placeholder_with_default(graph: Graph, value: Any, shape: Any, name: str) -> Operation:
    """Adds an operation whose output is `value`, unless a session feeds it another one."""
    op = GraphOp(
        "PlaceholderWithDefault",
        lambda v: v,
        template="{0}",
        gradient=lambda call, dy: (dy,),
        attrs={"shape": TensorShape(shape)},
    )
    return graph.node(op, [value], [(value.dtype, TensorShape(shape))], name)


def _no_op(builder: Builder, node: ParsedNode, inputs: list[Any]) -> Operation:
    kind = "ControlTrigger" if node.op == "ControlTrigger" else "NoOp"
    return builder.graph.insert(GraphOp(kind), builder.graph.unique_name(node.name), ())


# ---- variables -------------------------------------------------------------------------------------------------------


def _variable_handle(builder: Builder, node: ParsedNode, inputs: list[Any]) -> Operation:
    graph = builder.graph
    name = node_attr(node, "shared_name") or node.name
    if not node_attr(node, "shared_name") or (NAMED_AFTER_NODE in node.attrs and node.attrs[NAMED_AFTER_NODE].b):
        name = builder.prefix + name
    shared = node_attr(node, "container"), name
    variable = builder.variables.get(shared)
    if variable is not None:
        builder.used_variables.add(variable._id)
        if graph.building_function:
            return graph.capture_variable(variable, node.name).op
        return graph.handle_of(variable, node.name).op
    variable = graph._shared_variables.get(shared)
    if variable is None:
        variable = without_value(node_attr(node, "dtype"), node_attr(node, "shape"), shared[1])
        graph._shared_variables[shared] = variable
        graph._own_variables[variable._id] = None
    return graph.handle_of(variable, node.name).op


def _read_variable(builder: Builder, node: ParsedNode, inputs: list[Any]) -> Operation:
    variable, name = variable_of(inputs[0]), builder.graph.unique_name(node.name)
    shape = None if variable is None else variable.shape
    return builder.graph.insert_tensor(READ, name, inputs[:1], node_attr(node, "dtype"), shape).op


def _variable_update(kernel: Callable[..., Any]) -> Build:
    """Returns the builder of an op that changes a variable by a kernel and has no outputs."""

    def build(builder: Builder, node: ParsedNode, inputs: list[Any]) -> Operation:
        return builder.graph.node(GraphOp(node.op, kernel, stateful=True), inputs, (), node.name)

    return build


def _scatter_builder(method: str) -> Build:
    """Returns the builder of an op that changes a variable by a method `scatter_...` or `scatter_nd_...`."""

    def build(builder: Builder, node: ParsedNode, inputs: list[Any]) -> Operation:
        dtypes = [t.dtype for t in inputs[1:]]

        def kernel(handle: Any, *values: Any) -> None:
            with executing_eagerly():
                indices, updates = (EagerTensor(v, d) for v, d in zip(values, dtypes, strict=True))
                scatter = getattr(variable_in(handle), method)
                scatter(indices, updates) if "_nd_" in method else scatter(IndexedSlices(updates, indices))

        return builder.graph.node(GraphOp(node.op, kernel, stateful=True), inputs, (), node.name)

    return build


def _variable_shape(builder: Builder, node: ParsedNode, inputs: list[Any]) -> Operation:
    variable, dtype = variable_of(inputs[0]), node_attr(node, "out_type")

    def kernel(handle: Any) -> Any:
        return convert(list(variable_in(handle)._value.shape), dtype).value

    return builder.graph.node(
        GraphOp(node.op, kernel), inputs, [(dtype, [None if variable is None else variable.shape.rank])], node.name
    )


def _resource_gather(builder: Builder, node: ParsedNode, inputs: list[Any]) -> Operation:
    if node_attr(node, "batch_dims"):
        raise errors.UnimplementedError.of(f"Node '{node.name}' of op {node.op}: batch_dims other than 0")
    variable: Any = variable_of(inputs[0])
    if hasattr(variable, "staged_rows"):
        return variable.staged_rows(*inputs).op
    reading = ParsedNode(f"{node.name}/Read", "ReadVariableOp", [], [], {"dtype": node.attrs["dtype"]})
    return gather(_read_variable(builder, reading, inputs[:1]).outputs[0], inputs[1]).op


# ---- side effects in Python ------------------------------------------------------------------------------------------


def _import_assert(builder: Builder, node: ParsedNode, inputs: list[Any]) -> Operation:
    summarize = node_attr(node, "summarize")
    condition, *data = inputs
    return assert_op(check_assertion(summarize), condition, data, summarize)


def _import_print(builder: Builder, node: ParsedNode, inputs: list[Any]) -> Operation:
    stream, end = node_attr(node, "output_stream"), node_attr(node, "end")
    if stream_of(stream) is None:
        raise errors.UnimplementedError.of(
            f"Node '{node.name}' of op {node.op}: prints to {stream!r}, not to stdout, stderr, a log or a file"
        )
    return python_op(
        node.op, lambda text: print_(text, output_stream=stream_of(stream), end=end), inputs,
        attrs={"output_stream": stream, "end": end}, diagnostic=True,
    )  # fmt: skip


# ---- calls and control flow ------------------------------------------------------------------------------------------


def _import_call(builder: Builder, node: ParsedNode, inputs: list[Any]) -> Operation:
    body = builder.body(node, "f", inputs, [t.shape for t in inputs])
    body.call(inputs)
    return builder.graph._operations[-1]


def _import_if(builder: Builder, node: ParsedNode, inputs: list[Any]) -> Operation:
    index, values = inputs[0], inputs[1:]
    shapes = [t.shape for t in values]
    names = ["then_branch", "else_branch"]
    bodies = [builder.body(node, name, values, shapes) for name in names]
    return _add_conditional(node, _as_boolean(index), values, bodies, names)


def _import_case(builder: Builder, node: ParsedNode, inputs: list[Any]) -> Operation:
    index, values = inputs[0], inputs[1:]
    shapes = [t.shape for t in values]
    functions = [builder.function(node, f.name) for f in node.attrs["branches"].list.func]
    bodies = [builder.body_of(node, function, values, shapes) for function in functions]
    return _add_conditional(node, index, values, bodies, [f"branch{i}" for i in range(len(bodies))])


def _as_boolean(value: Any) -> Any:
    """Returns a scalar as a boolean: false for the number 0 and the empty string."""
    if value.dtype is bool_:
        return value
    return not_equal(value, "" if value.dtype is string else convert(0, value.dtype))


def _add_conditional(
    node: ParsedNode, index: Any, values: Sequence[Any], bodies: Sequence[Any], names: Sequence[str]
) -> Operation:
    """Adds a conditional whose branches take all of `values`."""
    dtypes = [[t.dtype.name for t in body.outputs] for body in bodies]
    if any(d != dtypes[0] for d in dtypes):
        raise ValueError(f"Node '{node.name}': the branches of an {node.op} give {dtypes}, which must be alike")
    return conditional(index, values, bodies, names, [range(len(values))] * len(bodies), node.name)


def _import_while(builder: Builder, node: ParsedNode, inputs: list[Any]) -> Any:
    """Adds a loop. Loop variables that its body only passes on are loop-invariant inputs of the operation: gradients
    pass to the variables whose handles they are."""
    shapes = [TensorShape(None) if t.dtype is not resource else t.shape for t in inputs]
    if "output_shapes" in node.attrs and len(node.attrs["output_shapes"].list.shape) == len(inputs):
        shapes = list(node_attr(node, "output_shapes"))
    elif node.functions:
        shapes = _invariant_shapes(builder, node, inputs)
    changing = _changing_places(builder, node, inputs)
    invariant = [i for i in range(len(inputs)) if i not in changing]
    order, results = ((*changing, *invariant), changing) if invariant else (None, None)
    condition = builder.body(node, "cond", inputs, shapes, order)
    body = builder.body(node, "body", inputs, shapes, order, results)
    expected = [inputs[i].dtype for i in changing]
    if [t.dtype for t in body.outputs] != expected or [t.dtype for t in condition.outputs] != [bool_]:
        raise ValueError(
            f"Node '{node.name}': the functions of a {node.op} give {[t.dtype.name for t in condition.outputs]} and "
            f"{[t.dtype.name for t in body.outputs]} for {[d.name for d in expected]}"
        )
    last = range(len(invariant))
    operation = loop(
        [inputs[i] for i in changing], [inputs[i] for i in invariant], condition, body, (last, last),
        [(inputs[i].dtype, shapes[i]) for i in changing], None, node.name,
    )  # fmt: skip
    finals = dict(zip(changing, operation.outputs, strict=True))
    outputs = [finals.get(i, t) for i, t in enumerate(inputs)]
    if changing == list(range(len(changing))):
        return operation, outputs
    return ops.IdentityN(outputs)[0].op  # its outputs have TensorFlow's numbers


def _changing_places(builder: Builder, node: ParsedNode, inputs: Sequence[Any]) -> list[int]:
    """Returns the places of a loop's variables, without those at the end, and the handles, that its body passes on.

    All count as changing if the body is no function of a `GraphDef`, or if no variable is left.
    """
    every = list(range(len(inputs)))
    if "body" not in node.functions and not hasattr(node.attrs["body"], "func"):
        return every
    function = node.functions.get("body") or builder.function(node, node.attrs["body"].func.name)
    nodes = {node.name: node for node in function.nodes}
    passed = [without_identities(nodes, output) == (name, 0)
              for name, output in zip(function.arguments, function.outputs, strict=False)]  # fmt: skip
    if len(passed) != len(inputs):
        return every
    last = max((i for i, same in enumerate(passed) if not same), default=-1)
    return [i for i in every[: last + 1] if not passed[i] or inputs[i].dtype is not resource] or every


def _invariant_shapes(builder: Builder, node: ParsedNode, inputs: Sequence[Any]) -> list[TensorShape]:
    """Returns the shapes of loop variables in all iterations: the initial ones, as far as the body preserves them."""
    shapes = [t.shape for t in inputs]
    for _ in range(len(inputs) + 1):
        outputs = builder.body(node, "body", inputs, shapes).outputs
        common = [s.most_specific_compatible_shape(o.shape) for s, o in zip(shapes, outputs, strict=True)]
        if [str(s) for s in common] == [str(s) for s in shapes]:
            return shapes
        shapes = common
    return [TensorShape(None)] * len(inputs)


def _control_flow(builder: Builder, node: ParsedNode, inputs: list[Any]) -> Operation:
    """Adds an operation of TensorFlow 1's control flow, unconverted."""
    operation: Operation = hooks.compat_module("v1_graphs").control_flow_operation(builder, node, inputs)
    return operation


# ---- counters --------------------------------------------------------------------------------------------------------


def _count_up_to(builder: Builder, node: ParsedNode, inputs: list[Any]) -> Operation:
    limit, dtype = node_attr(node, "limit"), node_attr(node, "T")
    op = GraphOp(node.op, lambda handle: variable_in(handle).count_up_to(limit).value, stateful=True,
                attrs={"limit": limit, "T": dtype})  # fmt: skip
    return builder.graph.node(op, inputs, [(dtype, [])], node.name)


_CHANGES = ("add", "div", "max", "min", "mul", "sub", "update")
_CHANGES_OF_ENTRIES = ("add", "max", "min", "sub", "update")

register(
    {
        "Const": _import_constant,
        **dict.fromkeys(("Placeholder", "PlaceholderV2"), _import_placeholder),
        "PlaceholderWithDefault": lambda builder, node, inputs: placeholder_with_default(
            builder.graph, inputs[0], node_attr(node, "shape"), node.name
        ),
        **dict.fromkeys(("NoOp", "ControlTrigger", "DisableCopyOnRead"), _no_op),
        **dict.fromkeys(("Snapshot", "DebugGradientIdentity"), lambda builder, node, inputs: identity(inputs[0]).op),
        "VarHandleOp": _variable_handle,
        "ReadVariableOp": _read_variable,
        "AssignVariableOp": _variable_update(lambda handle, value: _assign_value(variable_in(handle), value)),
        "AssignAddVariableOp": _variable_update(lambda handle, value: _add_delta(variable_in(handle), value)),
        "AssignSubVariableOp": _variable_update(lambda handle, value: _subtract_delta(variable_in(handle), value)),
        **{f"ResourceScatter{kind.title()}": _scatter_builder(f"scatter_{kind}") for kind in _CHANGES},
        **{f"ResourceScatterNd{k.title()}": _scatter_builder(f"scatter_nd_{k}") for k in _CHANGES_OF_ENTRIES},
        "VarIsInitializedOp": lambda builder, node, inputs: is_initialized(inputs[0]).op,
        "VariableShape": _variable_shape,
        "ResourceGather": _resource_gather,
        "Assert": _import_assert,
        "PrintV2": _import_print,
        **dict.fromkeys(("PartitionedCall", "StatefulPartitionedCall"), _import_call),
        **dict.fromkeys(("If", "StatelessIf"), _import_if),
        **dict.fromkeys(("Case", "StatelessCase"), _import_case),
        **dict.fromkeys(("While", "StatelessWhile"), _import_while),
        "ResourceCountUpTo": _count_up_to,
        **dict.fromkeys(("Switch", "Merge", "Enter", "Exit", "LoopCond"), _control_flow),
    }
)
