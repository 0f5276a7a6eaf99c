"""TensorFlow 1's reference variables as resource variables.

`VariableV2` has an output that is a reference: ops that change variables take it as such, all others read it. Here each
such node becomes two: a handle, and a read that keeps the name. `Assign`, `ApplyAdam` and the like become the ops that
take handles, followed by a read that keeps their names. Queues and tables, whose handles were references to strings,
become those with resources as handles.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tensorboard.compat.proto.attr_value_pb2 import AttrValue

from tapeflow.core import errors
from tapeflow.core.ops import op_def as op_defs
from tapeflow.core.ops.op_def import ArgDef, OpDef
from tapeflow.core.types.dtypes import DType, resource, string
from tapeflow.graph.graphdef.node_protos import (
    NAMED_AFTER_NODE,
    Output,
    ParsedNode,
    attr_of,
    definition_of,
    type_attr,
    unused_name,
)

_ON_HANDLES = {"Assign": "AssignVariableOp", "AssignAdd": "AssignAddVariableOp", "AssignSub": "AssignSubVariableOp",
               "IsVariableInitialized": "VarIsInitializedOp"}  # fmt: skip
_VARIABLES = ("VariableV2", "Variable")
_HANDLE = "handle"


def op_on_handles(name: str) -> str | None:
    """Returns the resource counterpart of an op on references, or None."""
    version = "V3" if name.startswith("TensorArray") else "V2"
    candidates = (_ON_HANDLES.get(name, ""), f"Resource{name}", f"{name}{version}")
    return next((c for c in candidates if c in op_defs.names()), None)


def without_references(nodes: list[ParsedNode]) -> list[ParsedNode]:
    """Returns the nodes of a graph with handles in place of references.

    Raises:
        UnimplementedError: a node's op has no resource counterpart.
    """
    definitions = {node.name: definition_of(node.op) for node in nodes}
    if not any(a.is_ref for d in definitions.values() for a in (*d.outputs, *d.inputs)):
        return nodes
    return _Rewriting(nodes, definitions).run()


class _Rewriting:
    """The rewriting of one graph."""

    def __init__(self, nodes: list[ParsedNode], definitions: Mapping[str, OpDef]) -> None:
        self.nodes = {node.name: node for node in nodes}
        self.definitions = definitions
        self.names = set(self.nodes)
        self.added: list[ParsedNode] = []
        self.handles: dict[str, str] = {}  # the nodes of the handles that updates return, by the updates' names

    def run(self) -> list[ParsedNode]:
        """Returns the new nodes."""
        result: list[ParsedNode] = []
        for node in self.nodes.values():
            self.added = []
            last = self._rewritten(node)
            result += [*self.added, last]
        return result

    def _rewritten(self, node: ParsedNode) -> ParsedNode:
        definition = self.definitions[node.name]
        if node.op in _VARIABLES:
            return self._variable(node)
        references = [a.is_ref for a in definition.inputs]
        inputs = [
            self._handle(output) if is_reference else self._value(node, output)
            for output, is_reference in zip(node.inputs, _by_input(node, definition, references), strict=False)
        ]
        inputs += node.inputs[len(inputs) :]
        if any(a.type is string and a.is_ref for a in (*definition.inputs, *definition.outputs)):
            op = op_on_handles(node.op) or node.op
            return ParsedNode(node.name, op, inputs, node.controls, node.attrs, node.device)
        if not any(references):
            return ParsedNode(node.name, node.op, inputs, node.controls, node.attrs, node.device)
        if self._passes_reference(definition):
            attrs = {**node.attrs, "T": type_attr(resource)}
            return ParsedNode(node.name, node.op.removeprefix("Ref"), inputs, node.controls, attrs, node.device)
        return self._update(node, definition, inputs)

    def _variable(self, node: ParsedNode) -> ParsedNode:
        """Returns the read of a variable, and adds its handle."""
        dtype = node.attrs["dtype"]
        attrs = {n: node.attrs[n] for n in ("container", "dtype", "shape") if n in node.attrs}
        if node.op == "Variable" and not node.attrs["shape"].shape.dim:  # which stands for an unknown shape
            attrs["shape"] = AttrValue()
            attrs["shape"].shape.unknown_rank = True
        shared = node.attrs["shared_name"].s if "shared_name" in node.attrs else b""
        attrs["shared_name"] = AttrValue(s=shared or node.name.encode())
        attrs[NAMED_AFTER_NODE] = AttrValue(b=not shared)
        handle = ParsedNode(self._handle((node.name, 0))[0], "VarHandleOp", [], [], attrs, node.device)
        self.added.append(handle)
        return ParsedNode(node.name, "ReadVariableOp", [(handle.name, 0)], node.controls, {"dtype": dtype}, node.device)

    def _update(self, node: ParsedNode, definition: OpDef, inputs: list[Output]) -> ParsedNode:
        """Returns the node of an op that changes or inspects variables by their handles."""
        op = self._op_of(node)
        target = op_defs.get(op)
        dtype = self._dtype(node, next(a for a in definition.inputs if a.is_ref))
        attrs = {name: node.attrs[name] for name in target.attrs if name in node.attrs}
        if "dtype" in target.attrs:
            attrs.setdefault("dtype", type_attr(dtype))
        if target.outputs or not definition.outputs:
            return ParsedNode(node.name, op, inputs, node.controls, attrs, node.device)
        name = self._new_name(f"{node.name}/update")
        self.added.append(ParsedNode(name, op, inputs, node.controls, attrs, node.device))
        return ParsedNode(node.name, "ReadVariableOp", inputs[:1], [name], {"dtype": type_attr(dtype)}, node.device)

    def _op_of(self, node: ParsedNode) -> str:
        op = op_on_handles(node.op)
        if op is None:
            raise errors.UnimplementedError.of(
                f"Node '{node.name}' of op {node.op} takes or gives a reference, and its op has no resource "
                "counterpart: save the model with resource variables (tf.compat.v1.enable_resource_variables)"
            )
        return op

    # ---- outputs -----------------------------------------------------------------------------------------------------

    def _handle(self, output: Output) -> Output:
        """Returns the handle of the variable behind an output."""
        node = self.nodes[output[0]]
        definition = self.definitions[node.name]
        if node.op in _VARIABLES:
            return f"{node.name}/{_HANDLE}" + "_" * (f"{node.name}/{_HANDLE}" in self.names), 0
        references = _by_input(node, definition, [a.is_ref for a in definition.inputs])
        if not self._is_reference(output) or True not in references or self._passes_reference(definition):
            return output
        name = self.handles.get(node.name)
        if name is None:  # its consumers run after the change
            handle = self._handle(node.inputs[references.index(True)])
            name = self.handles[node.name] = self._new_name(f"{node.name}/{_HANDLE}")
            attrs = {"T": type_attr(resource)}
            self.added.append(ParsedNode(name, "Identity", [handle], [node.name], attrs, node.device))
        return name, 0

    def _value(self, node: ParsedNode, output: Output) -> Output:
        """Returns the output with the value of an input that is no reference."""
        if not self._is_reference(output):
            return output
        source = self.nodes[output[0]]
        definition = self.definitions[source.name]
        if not self._passes_reference(definition) and (source.op not in _VARIABLES or not node.controls):
            return output
        argument = definition.outputs[0]
        dtype = self._dtype(source, argument)
        read = ParsedNode(
            self._new_name(f"{node.name}/read_{source.name}"), "ReadVariableOp", [self._handle(output)],
            node.controls, {"dtype": type_attr(dtype)}, node.device,
        )  # fmt: skip
        self.added.append(read)
        return read.name, 0

    def _is_reference(self, output: Output) -> bool:
        """Returns True if an output refers to a variable."""
        outputs = self.definitions[output[0]].outputs[output[1] : output[1] + 1]
        return any(a.is_ref and a.type is not string for a in outputs)

    def _passes_reference(self, definition: OpDef) -> bool:
        """Returns True if an op returns an input reference: control flow, and identities."""
        return definition.name.startswith("Ref")

    def _dtype(self, node: ParsedNode, argument: ArgDef) -> DType:
        definition = self.definitions[node.name]
        dtype: Any = attr_of(node, definition, argument.type_attr) if argument.type_attr else argument.type
        return dtype

    def _new_name(self, name: str) -> str:
        name = unused_name(name, self.names)
        self.names.add(name)
        return name


def _by_input(node: ParsedNode, definition: OpDef, flags: Sequence[bool]) -> list[bool]:
    """Returns for each input of a node the flag of its argument."""
    result: list[bool] = []
    for argument, flag in zip(definition.inputs, flags, strict=True):
        if argument.type_list_attr:
            count = len(attr_of(node, definition, argument.type_list_attr))
        else:
            count = attr_of(node, definition, argument.number_attr) if argument.number_attr else 1
        result += [flag] * count
    return result
