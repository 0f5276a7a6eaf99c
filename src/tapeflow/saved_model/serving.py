"""The graph of a SavedModel: its signatures and its saver, for servers and TensorFlow 1, which ignore the objects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.array.protos import make_tensor_proto
from tapeflow.core.types.dtypes import DType, string
from tapeflow.core.values.tensor import EagerTensor
from tapeflow.core.values.variable import Variable
from tapeflow.function.concrete import ConcreteFunction
from tapeflow.lookup.storage import TableStorage

_METHOD = "tensorflow/serving/predict"


def _node(graph_def: Any, name: str, op: str, inputs: Sequence[str] = (), **types: DType) -> Any:
    node = graph_def.node.add(name=name, op=op)
    node.input.extend(inputs)
    for attr, dtype in types.items():
        node.attr[attr].type = dtype.as_datatype_enum
    return node


def add_constant(graph_def: Any, name: str, value: Any, dtype: DType | None = None) -> str:
    """Adds a constant; returns its name."""
    dtype = value.dtype if isinstance(value, EagerTensor) else dtype
    assert dtype is not None
    node = _node(graph_def, name, "Const", dtype=dtype)
    node.attr["value"].tensor.CopyFrom(make_tensor_proto(value, dtype))
    return name


def add_variable(graph_def: Any, variable: Variable, name: str) -> str:
    """Adds a variable's handle; returns its name."""
    node = _node(graph_def, name, "VarHandleOp", dtype=variable.dtype)
    node.attr["shape"].shape.CopyFrom(variable.shape.as_proto())
    node.attr["shared_name"].s = name.encode()
    node.attr["container"].s = b""
    return name


def add_table(graph_def: Any, storage: TableStorage, name: str) -> str:
    """Adds a table's handle; returns its name."""
    node = _node(graph_def, name, "HashTableV2", key_dtype=storage.key_dtype, value_dtype=storage.value_dtype)
    node.attr["shared_name"].s = name.encode()
    return name


def add_call(graph_def: Any, name: str, function: str, concrete: ConcreteFunction, inputs: Sequence[str]) -> Any:
    """Adds a call of a function; returns its node."""
    call = _node(graph_def, name, "StatefulPartitionedCall", inputs)
    call.attr["f"].func.name = function
    call.attr["Tin"].list.type.extend(t.dtype.as_datatype_enum for t in concrete.inputs)
    call.attr["Tout"].list.type.extend(t.dtype.as_datatype_enum for t in concrete.outputs)
    return call


def add_signature(meta: Any, name: str, function: str, concrete: ConcreteFunction, captured: Sequence[str]) -> None:
    """Adds placeholders and a call of a signature's function, and lists them as the signature's inputs and outputs."""
    prefix = f"signature_{len(meta.signature_def)}"
    signature = meta.signature_def[name]
    signature.method_name = _METHOD
    inputs = []
    for argument, spec in concrete.structured_input_signature[1].items():
        node = _node(meta.graph_def, f"{prefix}/{argument}", "Placeholder", dtype=spec.dtype)
        node.attr["shape"].shape.CopyFrom(spec.shape.as_proto())
        inputs.append(node.name)
        _describe(signature.inputs[argument], f"{node.name}:0", spec)
    call = add_call(meta.graph_def, f"{prefix}/call", function, concrete, [*inputs, *captured])
    for i, (result, spec) in enumerate(sorted(concrete._output_specs.items())):  # as nests are flattened
        _describe(signature.outputs[result], f"{call.name}:{i}", spec)


def _describe(info: Any, name: str, spec: Any) -> None:
    info.name = name
    info.dtype = spec.dtype.as_datatype_enum
    info.tensor_shape.CopyFrom(spec.shape.as_proto())


def add_saver(meta: Any, variables: Sequence[tuple[str, str, Variable]]) -> None:
    """Adds the nodes that save and restore the variables.

    Args:
        variables: each one's name in the checkpoint, its handle's name, and itself.
    """
    graph_def, saver = meta.graph_def, meta.saver_def
    filename = _node(graph_def, "saver_filename", "Placeholder", dtype=string)
    filename.attr["shape"].shape.SetInParent()
    keys = add_constant(graph_def, "saver/names", [key.encode() for key, _, _ in variables], string)
    slices = add_constant(graph_def, "saver/slices", [b""] * len(variables), string)
    restored = _node(graph_def, "saver/restored", "RestoreV2", [filename.name, keys, slices])
    saved = _node(graph_def, "saver/save", "SaveV2", [filename.name, keys, slices])
    assigned = []
    for i, (_, handle, variable) in enumerate(variables):
        restored.attr["dtypes"].list.type.append(variable.dtype.as_datatype_enum)
        saved.attr["dtypes"].list.type.append(variable.dtype.as_datatype_enum)
        _node(graph_def, f"saver/read_{i}", "ReadVariableOp", [handle], dtype=variable.dtype)
        saved.input.append(f"saver/read_{i}")
        assign = _node(
            graph_def, f"saver/assign_{i}", "AssignVariableOp", [handle, f"saver/restored:{i}"], dtype=variable.dtype
        )
        assigned.append(f"^{assign.name}")
    if not variables:  # the ops take one tensor at least
        del graph_def.node[-2:]
    _node(graph_def, "saver/restore", "NoOp", assigned)
    _node(graph_def, "saver/path", "Identity", [filename.name, *(["^saver/save"] if variables else [])], T=string)
    saver.filename_tensor_name, saver.save_tensor_name = "saver_filename:0", "saver/path:0"
    saver.restore_op_name, saver.version = "saver/restore", saver.V2
