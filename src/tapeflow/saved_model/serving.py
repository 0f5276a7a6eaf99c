"""The graph of a SavedModel: its signatures and its saver, for servers and TensorFlow 1, which ignore the objects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from tapeflow.array.protos import make_tensor_proto
from tapeflow.core.types.dtypes import DType, string
from tapeflow.core.values.tensor import EagerTensor
from tapeflow.core.values.variable import Variable
from tapeflow.function.concrete import ConcreteFunction

if TYPE_CHECKING:
    from google.protobuf.message import Message

_METHOD = "tensorflow/serving/predict"


class Call(NamedTuple):
    """A call of a function of the graph.

    Attributes:
        function: the name of the function.
        concrete: the function.
        captured: the names of the nodes that it takes for its captures.
    """

    function: str
    concrete: ConcreteFunction
    captured: Sequence[str]


class SavedTable(NamedTuple):
    """A table whose entries are in the checkpoint.

    Attributes:
        tensors: the dtypes of the tensors of its entries, by their names in the checkpoint.
        save, restore: the functions that return and set the tensors.
    """

    tensors: dict[str, DType]
    save: Call
    restore: Call


def _add_node(graph_def: Message, name: str, op: str, inputs: Sequence[str] = (), **types: DType) -> Any:
    node = graph_def.node.add(name=name, op=op)
    node.input.extend(inputs)
    for attr, dtype in types.items():
        node.attr[attr].type = dtype.as_datatype_enum
    return node


def add_constant(graph_def: Message, name: str, value: Any, dtype: DType | None = None) -> str:
    """Adds a constant; returns its name."""
    dtype = value.dtype if isinstance(value, EagerTensor) else dtype
    assert dtype is not None
    node = _add_node(graph_def, name, "Const", dtype=dtype)
    node.attr["value"].tensor.CopyFrom(make_tensor_proto(value, dtype))
    return name


def add_variable(graph_def: Message, variable: Variable, name: str) -> str:
    """Adds a variable's handle; returns its name."""
    node = _add_node(graph_def, name, "VarHandleOp", dtype=variable.dtype)
    node.attr["shape"].shape.CopyFrom(variable.shape.as_proto())
    node.attr["shared_name"].s = name.encode()
    node.attr["container"].s = b""
    return name


def add_call(graph_def: Message, name: str, call: Call, inputs: Sequence[str] = ()) -> Any:
    """Adds a call of a function; returns its node.

    Args:
        graph_def: the graph.
        name: the node's name.
        call: the function, and its captures.
        inputs: the function's arguments, before the captures.
    """
    node = _add_node(graph_def, name, "StatefulPartitionedCall", [*inputs, *call.captured])
    node.attr["f"].func.name = call.function
    node.attr["Tin"].list.type.extend(t.dtype.as_datatype_enum for t in call.concrete.inputs)
    node.attr["Tout"].list.type.extend(t.dtype.as_datatype_enum for t in call.concrete.outputs)
    return node


def add_signature(meta: Message, name: str, call: Call) -> None:
    """Adds placeholders and a call of a signature's function, and lists them as the signature's inputs and outputs."""
    prefix = f"signature_{len(meta.signature_def)}"
    signature = meta.signature_def[name]
    signature.method_name = _METHOD
    inputs = []
    for argument, spec in call.concrete.structured_input_signature[1].items():
        node = _add_node(meta.graph_def, f"{prefix}/{argument}", "Placeholder", dtype=spec.dtype)
        node.attr["shape"].shape.CopyFrom(spec.shape.as_proto())
        inputs.append(node.name)
        _describe_tensor(signature.inputs[argument], f"{node.name}:0", spec)
    node = add_call(meta.graph_def, f"{prefix}/call", call, inputs)
    for i, (result, spec) in enumerate(sorted(call.concrete._output_specs.items())):  # as nests are flattened
        _describe_tensor(signature.outputs[result], f"{node.name}:{i}", spec)


def _describe_tensor(info: Any, name: str, spec: Any) -> None:
    info.name = name
    info.dtype = spec.dtype.as_datatype_enum
    info.tensor_shape.CopyFrom(spec.shape.as_proto())


def add_saver(meta: Message, variables: Sequence[tuple[str, str, Variable]], tables: Sequence[SavedTable] = ()) -> None:
    """Adds the nodes that save and restore the variables and tables.

    Args:
        meta: the `MetaGraphDef`.
        variables: each one's name in the checkpoint, its handle's name, and itself.
        tables: the tables with entries in the checkpoint.
    """
    graph_def, saver = meta.graph_def, meta.saver_def
    dtypes = {key: variable.dtype for key, _, variable in variables}
    for table in tables:
        dtypes.update(table.tensors)
    filename = _add_node(graph_def, "saver_filename", "Placeholder", dtype=string)
    filename.attr["shape"].shape.SetInParent()
    names = list(dtypes)
    keys = add_constant(graph_def, "saver/names", [key.encode() for key in names], string)
    slices = add_constant(graph_def, "saver/slices", [b""] * len(names), string)
    done = []
    if names:  # the ops take one tensor at least
        restored = _add_node(graph_def, "saver/restored", "RestoreV2", [filename.name, keys, slices])
        saved = _add_node(graph_def, "saver/save", "SaveV2", [filename.name, keys, slices])
        for node in (restored, saved):
            node.attr["dtypes"].list.type.extend(dtype.as_datatype_enum for dtype in dtypes.values())
    for i, (key, handle, variable) in enumerate(variables):
        _add_node(graph_def, f"saver/read_{i}", "ReadVariableOp", [handle], dtype=variable.dtype)
        saved.input.append(f"saver/read_{i}")
        value = f"saver/restored:{names.index(key)}"
        node = _add_node(graph_def, f"saver/assign_{i}", "AssignVariableOp", [handle, value], dtype=variable.dtype)
        done.append(node)
    for i, table in enumerate(tables):
        key = add_constant(graph_def, f"saver/key_{i}", b"", string)
        add_call(graph_def, f"saver/export_{i}", table.save, [key])  # for each tensor its name, slice and the tensor
        saved.input.extend(f"saver/export_{i}:{3 * k + 2}" for k in range(len(table.tensors)))
        values = [f"saver/restored:{names.index(key)}" for key in table.tensors]
        done.append(add_call(graph_def, f"saver/import_{i}", table.restore, values))
    _add_node(graph_def, "saver/restore", "NoOp", [f"^{node.name}" for node in done])
    _add_node(graph_def, "saver/path", "Identity", [filename.name, *(["^saver/save"] if names else [])], T=string)
    saver.filename_tensor_name, saver.save_tensor_name = "saver_filename:0", "saver/path:0"
    saver.restore_op_name, saver.version = "saver/restore", saver.V2
