"""Control flow of TensorFlow 1 that stays as it stands in a graph, because `If` and `While` can't express it."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from tapeflow.core.types.dtypes import bool_, int32
from tapeflow.graph.graphdef.import_graph import READS, Builder, Unstructured
from tapeflow.graph.graphdef.node_protos import (
    LibraryFunction,
    Output,
    ParsedNode,
    attr_of,
    definition_of,
    in_order,
    node_attr,
)
from tapeflow.graph.ir.operation import Operation, variable_of
from tapeflow.graph.transform.body import Body
from tapeflow_compat.v1_graphs.control_flow import functional
from tapeflow_compat.v1_graphs.switch_merge import ControlFlowOp


def add_unconverted(builder: Builder, nodes: Sequence[ParsedNode]) -> None:
    """Adds the nodes of a graph with TensorFlow 1's control flow, unconverted. Its loops are cycles: a
    `NextIteration` gets its input last."""
    builder.dataflow = {node.name: node for node in nodes}
    last = [n for n in nodes if n.op == "NextIteration"]
    for node in last:
        op, name = ControlFlowOp(node.op, {"T": node_attr(node, "T")}), builder.prefix + node.name
        result = builder.graph.insert_tensor(op, builder.graph.unique_name(name), [], op.attrs["T"], None)
        builder.operations[node.name], builder.values[node.name] = result.op, [result]
    names = [n.name for n in last]
    builder.add(in_order([n for n in nodes if n.op != "NextIteration"], names))
    for node in last:
        operation = builder.operations[node.name]
        operation.args = [builder.tensor(node, node.inputs[0])]
        operation._control_inputs += tuple([o for c in node.controls for o in builder.control(c)])


def control_flow_operation(builder: Builder, node: ParsedNode, inputs: list[Any]) -> Operation:
    """Adds an operation of TensorFlow 1's control flow, unconverted."""
    definition = definition_of(node.op)
    attrs = {name: attr_of(node, definition, name) for name in definition.attrs}
    dtype = bool_ if node.op == "LoopCond" else attrs["T"]
    shape = inputs[0].shape
    if node.op == "Merge":
        for other in inputs[1:]:
            shape = shape.most_specific_compatible_shape(other.shape)
    if variable_of(inputs[0]) is not None:  # gradients pass to it
        attrs["variable"] = variable_of(inputs[0])
    specs = [(dtype, shape)] + [(dtype, shape)] * (node.op == "Switch") + [(int32, [])] * (node.op == "Merge")
    builder.graph.has_control_flow = True
    loop = functools.cache(lambda: _loop_before(builder, node)) if node.op == "Exit" and builder.dataflow else None
    return builder.graph.node(ControlFlowOp(node.op, attrs, loop), inputs, specs, node.name)


def _loop_before(builder: Builder, node: ParsedNode) -> tuple[list[Any], Body | None]:
    """Returns the tensors that enter the loop of an `Exit`, and a body that computes the loop's result from them.

    The body is None if the loop has side effects, or a different form from the loops of `tf.while_loop`.
    """
    nodes = builder.dataflow
    first = node
    for op in ("Switch", "Merge", "Enter"):
        first = nodes[first.inputs[0][0]]
        if first.op != op:
            return [builder.tensor(node, node.inputs[0])], None
    frame = first.attrs["frame_name"].s
    runs_again = True
    inside: dict[str, ParsedNode] = {}
    entering: dict[Output, str] = {}
    stack = [node.name]
    while stack:
        part = nodes[stack.pop()]
        if part.name in inside:
            continue
        inputs, controls = part.inputs, part.controls
        if part.op == "Enter" and part.attrs["frame_name"].s == frame:
            argument = entering.setdefault(inputs[0], f"entering_{len(entering)}")
            inputs, controls = [(argument, 0)], []
        else:
            runs_again &= part.op in READS or not definition_of(part.op).stateful
            stack += [name for name, _ in inputs]
            stack += controls
        inside[part.name] = ParsedNode(part.name, part.op, inputs, controls, part.attrs, part.device)
    tensors = [builder.tensor(node, output) for output in entering]
    if not runs_again:
        return tensors, None
    ordered = [inside[name] for name in nodes if name in inside]
    function = LibraryFunction(
        node.name, list(entering.values()), [t.dtype for t in tensors], ordered, [(node.name, 0)]
    )
    try:
        stubs = [builder.stub(n, t.dtype) for n, t in zip(entering.values(), tensors, strict=True)]
        functional([*stubs, *ordered])
    except Unstructured:
        return tensors, None
    return tensors, builder.body_of(node, function, tensors, [t.shape for t in tensors])
