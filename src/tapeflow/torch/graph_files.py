"""Functions of TensorFlow 1's files: frozen `GraphDef`s, and checkpoints and SavedModels with a `MetaGraphDef`."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Mapping, Sequence
from typing import Any

from google.protobuf.message import DecodeError, Message
from tensorboard.compat.proto.graph_pb2 import GraphDef
from tensorboard.compat.proto.meta_graph_pb2 import MetaGraphDef
from tensorboard.compat.proto.variable_pb2 import VariableDef

from tapeflow.core.types.dtypes import bool_
from tapeflow.core.types.spec import TensorSpec
from tapeflow.core.values.variable import Variable
from tapeflow.function.concrete import ConcreteFunction
from tapeflow.function.function import function
from tapeflow.graph.graphdef.import_graph import import_graph_def
from tapeflow.graph.graphdef.node_protos import dtype_of, node_name, shape_of
from tapeflow.saved_model.messages import read_model
from tapeflow.torch.unconvertible import Unconvertible
from tapeflow.train.reader import load_checkpoint

_VARIABLES = ("VariableV2", "Variable", "VarHandleOp")
_NO_RESULTS = ("NoOp", "Const", "Placeholder", "Assert", *_VARIABLES)


def function_of_file(path: str, outputs: Sequence[str] | None, training: bool) -> ConcreteFunction | None:
    """Returns the function of a file of TensorFlow 1.

    Args:
        path: a `GraphDef` (`.pb`), a `.meta` file or the prefix of a checkpoint that has one, or the folder of a
            SavedModel that TensorFlow 1 wrote.
        outputs: the names of the tensors, or operations, that it returns; by default the outputs of the serving
            signature, or of the graph: the tensors without a use in it.
        training: the value of the placeholders with a default that decide between training and inference.

    Returns:
        The function; None for a SavedModel of TensorFlow 2.

    Raises:
        OSError: there is no such file, or it holds something else.
        ValueError: the graph has no such outputs, or none that nothing uses.
    """
    if os.path.isdir(path):
        meta_graphs = read_model(path)
        if not meta_graphs or meta_graphs[0].HasField("object_graph_def"):
            return None
        return _of_meta_graph(meta_graphs[0], os.path.join(path, "variables", "variables"), outputs, training)
    prefix = path.removesuffix(".meta")
    if os.path.exists(f"{prefix}.meta"):
        return _of_meta_graph(_read_message(MetaGraphDef, f"{prefix}.meta"), prefix, outputs, training)
    return _of_graph(_read_message(GraphDef, path), {}, None, outputs, training)


def _read_message(kind: Any, path: str) -> Any:
    try:
        return kind.FromString(pathlib.Path(path).read_bytes())
    except DecodeError as error:
        raise OSError(f"{path} holds no {kind.__name__}.") from error


def _of_meta_graph(meta: Message, checkpoint: str, outputs: Sequence[str] | None, training: bool) -> ConcreteFunction:
    entries = meta.collection_def["trainable_variables"].bytes_list.value
    trainable = {VariableDef.FromString(entry).variable_name.partition(":")[0] for entry in entries}
    variables = {}
    if os.path.exists(f"{checkpoint}.index"):
        reader = load_checkpoint(checkpoint)
        in_checkpoint = reader.get_variable_to_shape_map()
        for node in meta.graph_def.node:
            if node.op in _VARIABLES and node.name in in_checkpoint:
                value = reader.get_tensor(node.name)
                variables[node.name] = Variable(value, trainable=node.name in trainable, name=node.name)
    signatures = dict(meta.signature_def)
    signature = signatures.get("serving_default") or next((s for s in signatures.values() if s.outputs), None)
    return _of_graph(meta.graph_def, variables, None if outputs else signature, outputs, training)


def _of_graph(
    graph_def: Message, variables: Mapping[str, Any], signature: Any, outputs: Sequence[str] | None, training: bool
) -> ConcreteFunction:
    """Returns the function of a graph, whose arguments are its placeholders.

    Args:
        graph_def: the graph.
        variables: the values of its variables by their names.
        signature: names its inputs and outputs; or None.
        outputs: the names of the tensors that it returns; by default the signature's.
        training: the value of the placeholders with a default that decide between training and inference.
    """
    if signature is not None:
        names = {key: info.name for key, info in signature.outputs.items()}
    else:
        names = {name.partition(":")[0]: name for name in outputs or _unused_outputs(graph_def)}
    graph, reads = _reading_part(graph_def, variables, list(names.values()))
    for node in filter(_is_learning_phase, graph.node):
        node.CopyFrom(type(node)(name=node.name, op="Const"))
        node.attr["dtype"].type = node.attr["value"].tensor.dtype = bool_.as_datatype_enum
        node.attr["value"].tensor.tensor_shape.SetInParent()
        node.attr["value"].tensor.bool_val.append(training)
    placeholders = [node for node in graph.node if node.op == "Placeholder" and node.name not in reads]
    arguments = {node.name: node.name for node in placeholders}
    if signature is not None:
        arguments |= {info.name.partition(":")[0]: key for key, info in signature.inputs.items()}
    specs = [
        TensorSpec(shape_of(n.attr["shape"].shape), dtype_of(n.attr["dtype"].type), name=arguments[n.name])
        for n in placeholders
    ]

    @function(autograph=False, input_signature=specs)
    def forward(*inputs: Any) -> Any:
        values = {f"{node.name}:0": x for node, x in zip(placeholders, inputs, strict=True)}
        values |= {f"{name}:0": variable.read_value() for name, variable in reads.items()}
        results = import_graph_def(graph, values, [n if ":" in n else f"{n}:0" for n in names.values()], name="")
        by_key = dict(zip(names, results or (), strict=True))
        return by_key if signature is not None or len(by_key) > 1 else next(iter(by_key.values()))

    return forward.get_concrete_function()


def _is_learning_phase(node: Any) -> bool:
    """Returns True if a node is a placeholder with a default that decides between training and inference.

    Nothing but its name says so. A graph for training has a default of true.
    """
    if node.op != "PlaceholderWithDefault" or dtype_of(node.attr["dtype"].type) is not bool_:
        return False
    return any(word in node.name.lower() for word in ("training", "is_train", "train_mode", "learning_phase"))


def _unused_outputs(graph_def: Message) -> list[str]:
    """Returns the names of the operations whose results nothing uses, and that depend on a placeholder.

    Raises:
        ValueError: there are none.
    """
    used = {node_name(name) for node in graph_def.node for name in node.input}
    fed: set[str] = set()
    for _ in range(2):  # nodes need not be in order
        for node in graph_def.node:
            if node.op == "Placeholder" or any(node_name(name) in fed for name in node.input):
                fed.add(node.name)
    sinks = [n.name for n in graph_def.node if n.name in fed - used and n.op not in _NO_RESULTS]
    if not sinks:
        raise ValueError("Nothing in the graph is its result: name the outputs.")
    return sinks


def _reading_part(
    graph_def: Message, variables: Mapping[str, Any], outputs: Sequence[str]
) -> tuple[Any, dict[str, Any]]:
    """Returns the part of a graph that computes outputs, with placeholders that read variables, and their variables.

    Raises:
        ValueError: there is no such output.
        Unconvertible: it uses a variable that has no value, or in another way than to read it.
    """
    nodes = {node.name: node for node in graph_def.node}
    reads: dict[str, Any] = {}
    part: dict[str, Any] = {}
    stack = [node_name(name) for name in outputs]
    while stack:
        name = stack.pop()
        if name in part:
            continue
        if name not in nodes:
            raise ValueError(f"The graph has no operation {name!r}.")
        node = part[name] = nodes[name]
        handle = nodes.get(node_name(node.input[0])) if node.op == "ReadVariableOp" else node
        if handle is not None and handle.op in _VARIABLES:
            if handle.name not in variables or (handle is node and node.op == "VarHandleOp"):
                raise Unconvertible(f"{node.op} ({name}) is of a variable without a value, or does not only read it")
            reads[name] = variables[handle.name]
            part[name] = type(node)(name=name, op="Placeholder")
            part[name].attr["dtype"].type = node.attr["dtype"].type
        else:
            stack += [node_name(i) for i in node.input if not i.startswith("^")]
    graph = type(graph_def)(versions=graph_def.versions, library=graph_def.library)
    for node in graph_def.node:
        if node.name in part:
            graph.node.add().CopyFrom(part[node.name])
            graph.node[-1].input[:] = [i for i in part[node.name].input if node_name(i) in part]
    return graph, reads
