"""TensorFlow 1's tensor arrays as lists.

The ops of a `TensorArray` of TensorFlow 1 change an object that they get by a handle, and pass on a number, the flow,
that orders them. Here the flow becomes a list of tensors, and the handle is gone: so gradients pass, and loops over
arrays need no operation with side effects.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from tensorboard.compat.proto.attr_value_pb2 import AttrValue

from tapeflow.array import tensor_list  # noqa: F401 (registers its ops)
from tapeflow.array.protos import make_tensor_proto
from tapeflow.array.tensor_list import (
    list_concat,
    list_gather,
    list_get_item,
    list_length,
    list_reserve,
    list_scatter,
    list_set_item,
    list_split,
)
from tapeflow.core.types.dtypes import DType, int32, int64, variant
from tapeflow.graph.graphdef.node_protos import Output, ParsedNode, node_attr, type_attr, unused_name

_NEW = "TensorArrayV3"
_PASSING = frozenset({"Identity", "Switch", "Merge", "Enter", "Exit", "NextIteration"})
_WITHOUT_GRADIENTS = {
    "TensorArrayWriteV3": list_set_item.op,
    "TensorArrayReadV3": list_get_item.op,
    "TensorArrayGatherV3": list_gather.op,
    "TensorArrayScatterV3": list_scatter.op,
    "TensorArrayConcatV3": list_concat.op,
    "TensorArraySplitV3": list_split.op,
    "TensorArraySizeV3": list_length.op,
    "TensorArrayCloseV3": None,
}
_CHANGING = ("TensorArrayWriteV3", "TensorArrayScatterV3", "TensorArraySplitV3")  # these return a flow


def with_lists(nodes: Sequence[ParsedNode]) -> list[ParsedNode]:
    """Returns the nodes of a graph with lists in place of tensor arrays.

    If an array's handle or flow has another use, such as TensorFlow 1's gradients, nothing is replaced.
    """
    if not any(node.op == _NEW for node in nodes):
        return list(nodes)
    return _Rewriting(nodes).run()


class _Rewriting:
    """The rewriting of one graph.

    Attributes:
        handles: the outputs that are handles, with the node that created the array, or None if there are several.
        flows: the outputs that are flows.
    """

    def __init__(self, nodes: Sequence[ParsedNode]) -> None:
        self.nodes = {node.name: node for node in nodes}
        self.handles: dict[Output, ParsedNode | None] = {}
        self.flows: set[Output] = set()
        self.added: list[ParsedNode] = []

    def run(self) -> list[ParsedNode]:
        """Returns the rewritten nodes of the graph."""
        self._trace()
        if not all(map(self._is_usual, self.nodes.values())):
            return list(self.nodes.values())
        result = []
        for node in self.nodes.values():
            new = self._rewritten(node)
            if new is not None:
                result.append(new)
        result += self.added
        names = {node.name for node in result}
        for node in result:
            node.controls = [c for c in node.controls if c in names]
        return result

    def _trace(self) -> None:
        """Finds the handles and flows."""
        consumers: dict[str, list[ParsedNode]] = {}
        for node in self.nodes.values():
            for name, _ in node.inputs:
                consumers.setdefault(name, []).append(node)
        stack: list[tuple[Output, ParsedNode | None]] = []  # with the array of a handle
        for node in self.nodes.values():
            if node.op == _NEW:
                self.handles[node.name, 0] = node
                self.flows.add((node.name, 1))
                stack += [((node.name, 0), node), ((node.name, 1), None)]
            elif node.op in _CHANGING:
                self.flows.add((node.name, 0))
                stack.append(((node.name, 0), None))
        while stack:
            output, array = stack.pop()
            for node in consumers.get(output[0], ()):
                if node.op not in _PASSING or output not in node.inputs[: 2 if node.op == "Merge" else 1]:
                    continue
                for index in range(2 if node.op == "Switch" else 1):
                    new = node.name, index
                    if array is not None and new not in self.handles:
                        self.handles[new] = array
                        stack.append((new, array))
                    elif array is None and new not in self.flows:
                        self.flows.add(new)
                        stack.append((new, None))

    def _is_usual(self, node: ParsedNode) -> bool:
        """Returns True if a node is no gradient's, and takes a handle or a flow as arrays do."""
        if node.op in _WITHOUT_GRADIENTS or node.op == _NEW:
            return True
        special = [i for i in node.inputs if i in self.handles or i in self.flows]
        if not special:
            return not node.op.startswith("TensorArrayGrad")
        carried = node.inputs if node.op == "Merge" else node.inputs[:1]
        return node.op in _PASSING and all(i in special for i in carried)

    # ---- nodes -------------------------------------------------------------------------------------------------------

    def _rewritten(self, node: ParsedNode) -> ParsedNode | None:
        """Returns the node in place of one; None if there is none."""
        if node.op == _NEW:
            shape = self._shape(node, node, node.controls)
            attrs = {"element_dtype": node.attrs["dtype"], "shape_type": type_attr(int32)}
            reserve = list_reserve.op.name
            return ParsedNode(node.name, reserve, [shape, *node.inputs], node.controls, attrs, node.device)
        if any((node.name, i) in self.handles for i in (0, 1)):
            return None
        inputs = [self._input(i) for i in node.inputs]
        if node.op in _WITHOUT_GRADIENTS:
            return self._on_list(node, inputs)
        passed = {**node.attrs, "T": type_attr(variant)} if (node.name, 0) in self.flows else node.attrs
        return ParsedNode(node.name, node.op, inputs, node.controls, passed, node.device)

    def _input(self, output: Output) -> Output:
        """Returns the output that replaces one. An array's list is the first output; its flow was the second."""
        return (output[0], 0) if self.nodes[output[0]].op == _NEW else output

    def _on_list(self, node: ParsedNode, inputs: list[Output]) -> ParsedNode | None:
        """Returns the node of an op on lists, which takes the flow first."""
        op = _WITHOUT_GRADIENTS[node.op]
        if op is None:
            return None
        array = self.handles.get(node.inputs[0])
        dtype = node.attrs.get("T", node.attrs.get("dtype"))
        attrs = {} if dtype is None else {"element_dtype": dtype}
        *others, flow = inputs[1:]
        after = [flow[0]]
        if op is list_set_item.op:
            grows = array is None or node_attr(array, "dynamic_size")
            attrs["resize_if_index_out_of_bounds"] = AttrValue(b=grows)
            others = [flow, *others]
        elif op is list_scatter.op:
            others = [flow, others[1], others[0]]
        elif op is list_split.op:
            attrs["shape_type"] = type_attr(int32)
            others = [others[0], self._constant(node, "element_shape", -1, int32, after), others[1]]
        elif op is list_concat.op:
            attrs["shape_type"] = type_attr(int32)
            rest = node_attr(node, "element_shape_except0")
            shape: Any = -1 if rest.rank is None else [-1, *(-1 if d is None else d for d in rest)]
            dims = self._constant(node, "leading_dims", [], int64, after)
            others = [flow, self._constant(node, "element_shape", shape, int32, after), dims]
        elif op is list_length.op:
            others = [flow]
        else:
            others = [flow, *others, self._shape(node, array, after)]
        return ParsedNode(node.name, op.name, others, node.controls, attrs, node.device)

    def _shape(self, node: ParsedNode, array: ParsedNode | None, after: Sequence[str]) -> Output:
        """Returns a constant with the shape of an array's elements."""
        shape = None if array is None else node_attr(array, "element_shape")
        if "element_shape" in node.attrs and (shape is None or shape.rank is None):
            shape = node_attr(node, "element_shape")
        dims = -1 if shape is None or shape.rank is None else [-1 if d is None else d for d in shape]
        return self._constant(node, "element_shape", dims, int32, after)

    def _constant(self, node: ParsedNode, label: str, value: Any, dtype: DType, after: Sequence[str]) -> Output:
        """Returns a constant, in the iteration of the nodes that it comes after."""
        name = unused_name(f"{node.name}/{label}", self.nodes)
        tensor = make_tensor_proto(np.array(value, dtype.as_numpy_dtype), dtype)
        attrs = {"dtype": type_attr(dtype), "value": AttrValue(tensor=tensor)}
        self.added.append(ParsedNode(name, "Const", [], list(after), attrs, node.device))
        return name, 0
