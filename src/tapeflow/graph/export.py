"""Graphs as `GraphDef` protos, in TensorFlow's own op names and attrs."""

from __future__ import annotations

from typing import Any

import numpy as np
from tensorboard.compat.proto import attr_value_pb2, function_pb2, graph_pb2, node_def_pb2, tensor_shape_pb2

from tapeflow.core.dtypes import DType
from tapeflow.core.shape import TensorShape
from tapeflow.core.symbolic import SymbolicTensor
from tapeflow.core.tensor import EagerTensor, Tensor
from tapeflow.graph.attrs import _dtype, attrs_of
from tapeflow.graph.operation import NodeOp, Operation

# What only this runtime can run has no form in a GraphDef.
_PRODUCER = 1087


def graph_def(graph: Any, from_version: int | None = None, add_shapes: bool = False) -> Any:
    """A graph as a `GraphDef`."""
    proto = graph_pb2.GraphDef()
    proto.versions.producer = _PRODUCER
    library: dict[str, Any] = {}
    for operation in graph.get_operations()[from_version or 0 :]:
        nodes = _nodes(operation, library)
        if add_shapes:
            for t in operation.outputs:
                nodes[-1].attr["_output_shapes"].list.shape.append(_shape(t.shape))
        proto.node.extend(nodes)
    for function in library.values():
        proto.library.function.append(function)
    return proto


def node_def(operation: Operation) -> Any:
    """An operation as a `NodeDef`."""
    return _nodes(operation, {})[-1]


def _nodes(operation: Operation, library: dict[str, Any]) -> list[Any]:
    """The node of an operation, after those of the constants that it takes."""
    op = operation.op
    node = node_def_pb2.NodeDef(name=operation.name, op=operation.type, device=operation.device)
    before = []
    if isinstance(op, NodeOp):
        node.input.extend(map(_input, operation.inputs))
    else:
        for argument, param, kind, arg in zip(op.opdef.inputs, op.params, op.kinds, operation.args, strict=False):
            if kind == "list" or isinstance(arg, list):
                node.input.extend(map(_input, arg))
            elif isinstance(arg, SymbolicTensor):
                node.input.append(_input(arg))
            else:
                constant = _constant_node(f"{operation.name}/{param}", _host_value(operation, argument, arg))
                before.append(constant)
                node.input.append(constant.name)
    node.input.extend(f"^{c.name}" for c in operation._control_inputs)
    for name, value in attrs_of(operation).items():
        if value is not None:
            _set(node.attr[name], value)
    if isinstance(op, NodeOp) and op.bodies:
        _add_bodies(node, operation, library)
    return [*before, node]


def _input(tensor: SymbolicTensor) -> str:
    return tensor.op.name if tensor.value_index == 0 else f"{tensor.op.name}:{tensor.value_index}"


def _host_value(operation: Operation, argument: Any, value: Any) -> Any:
    dtype = attrs_of(operation).get(argument.type_attr) if argument.type_attr else argument.type
    if value is None:  # all dimensions
        rank = next(t.shape.rank for t in operation.inputs)
        value = list(range(rank or 0))
    return np.array(value, (dtype or _dtype(value)).as_numpy_dtype), dtype or _dtype(value)


def _constant_node(name: str, value: Any) -> Any:
    array, dtype = value
    node = node_def_pb2.NodeDef(name=name, op="Const")
    node.attr["dtype"].type = dtype.as_datatype_enum
    _set_tensor(node.attr["value"].tensor, array, dtype)
    return node


def _set(attr: attr_value_pb2.AttrValue, value: Any) -> None:
    if isinstance(value, DType):
        attr.type = value.as_datatype_enum
    elif isinstance(value, bool):
        attr.b = value
    elif isinstance(value, int):
        attr.i = value
    elif isinstance(value, float):
        attr.f = value
    elif isinstance(value, str):
        attr.s = value.encode()
    elif isinstance(value, bytes):
        attr.s = value
    elif isinstance(value, TensorShape):
        attr.shape.CopyFrom(_shape(value))
    elif isinstance(value, Tensor):
        _set_tensor(attr.tensor, value._numpy() if isinstance(value, EagerTensor) else value, value.dtype)
    elif isinstance(value, (list, tuple)):
        attr.list.SetInParent()
        for v in value:
            if isinstance(v, DType):
                attr.list.type.append(v.as_datatype_enum)
            elif isinstance(v, bool):
                attr.list.b.append(v)
            elif isinstance(v, int):
                attr.list.i.append(v)
            elif isinstance(v, float):
                attr.list.f.append(v)
            elif isinstance(v, str):
                attr.list.s.append(v.encode())
            elif isinstance(v, TensorShape):
                attr.list.shape.append(_shape(v))


def _set_tensor(proto: Any, array: Any, dtype: DType) -> None:
    proto.dtype = dtype.as_datatype_enum
    array = np.asarray(array)
    for d in array.shape:
        proto.tensor_shape.dim.add(size=d)
    if array.dtype == object:
        proto.string_val.extend(array.reshape(-1).tolist())
    else:
        proto.tensor_content = np.ascontiguousarray(array).tobytes()


def _shape(shape: TensorShape) -> tensor_shape_pb2.TensorShapeProto:
    proto = tensor_shape_pb2.TensorShapeProto()
    if shape.rank is None:
        proto.unknown_rank = True
    else:
        for d in shape:
            proto.dim.add(size=-1 if d is None else d)
    return proto


# ---- functions -------------------------------------------------------------------------------------------------------


def _add_bodies(node: Any, operation: Operation, library: dict[str, Any]) -> None:
    """The attrs of what calls functions, and the functions into the library."""
    count = 1 if operation.type.endswith(("If", "Case")) else 0
    inputs = operation.inputs
    node.attr["Tin"].list.type.extend(t.dtype.as_datatype_enum for t in inputs[count:])
    node.attr["Tout"].list.type.extend(t.dtype.as_datatype_enum for t in operation.outputs)
    if count:
        node.attr["Tcond"].type = inputs[0].dtype.as_datatype_enum
    for label, body in operation.op.bodies.items():
        name = f"{operation.name.replace('/', '_')}_{label}_{len(library)}"
        node.attr[label].func.name = name
        outputs = getattr(operation.op, "gives", body.outputs)  # a call may give more, for gradients
        library[name] = _function_def(name, body, outputs, inputs[count:], library)


def _function_def(name: str, body: Any, outputs: Any, inputs: Any, library: dict[str, Any]) -> Any:
    """A body that gives `outputs` as a `FunctionDef`, whose arguments are the inputs of the operation that calls it."""
    proto = function_pb2.FunctionDef()
    proto.signature.name = name
    own = {id(outer): inner for outer, inner in body.graph.captures}
    names: dict[int, str] = {}
    for i, t in enumerate(inputs):
        argument = f"arg{i}"
        proto.signature.input_arg.add(name=argument, type=t.dtype.as_datatype_enum)
        inner = own.get(id(t))
        if inner is not None:
            names[id(inner)] = argument
        elif i < len(body.graph.inputs):
            names[id(body.graph.inputs[i])] = argument
    for operation in body.graph.get_operations():
        if operation.type == "Placeholder":
            continue
        for node in _nodes(operation, library):
            taken = list(node.input)
            del node.input[:]
            by_name = {_input(t): t for t in operation.inputs}
            for entry in taken:
                t = by_name.get(entry)
                if entry.startswith("^"):
                    node.input.append(entry)
                elif t is None:
                    node.input.append(f"{entry}:output:0")
                else:
                    node.input.append(names.get(id(t)) or _argument(t))
            proto.node_def.append(node)
    for i, t in enumerate(outputs):
        proto.signature.output_arg.add(name=f"out{i}", type=t.dtype.as_datatype_enum)
        proto.ret[f"out{i}"] = names.get(id(t)) or _argument(t)
    return proto


def _argument(tensor: SymbolicTensor) -> str:
    """A tensor of a function as its nodes name it: by the output's name, and its place under that name."""
    op = tensor.op.op
    if isinstance(op, NodeOp):
        label = {"Const": "output", "ReadVariableOp": "value", "VarHandleOp": "resource"}.get(op.name, "output")
        return f"{tensor.op.name}:{label}:{tensor.value_index}"
    start = 0
    for out in op.opdef.outputs:
        size = len(tensor.op.outputs) if out.number_attr or out.type_list_attr else 1
        if tensor.value_index < start + size:
            return f"{tensor.op.name}:{out.name}:{tensor.value_index - start}"
        start += size
    return f"{tensor.op.name}:output:{tensor.value_index}"
