"""Graphs with their collections, in files: `MetaGraphDef`s."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from google.protobuf import text_format
from google.protobuf.message import DecodeError, Message

from tapeflow.core.protos import QueueRunnerDef
from tapeflow.core.values.variable import Variable
from tapeflow.graph.graphdef.import_graph import add_graph_def
from tapeflow.io import gfile
from tapeflow.io.atomic_replace import write_file
from tapeflow.version import VERSION
from tapeflow_compat.compat.v1.partitioned import SaveSliceInfo
from tapeflow_compat.compat.v1.protos import message
from tapeflow_compat.compat.v1.train.queue_runner import QueueRunner
from tapeflow_compat.compat.v1.variables import GraphKeys
from tapeflow_compat.default_graph import get_default_graph

if TYPE_CHECKING:
    from tapeflow.graph.ir.graph import Graph

_OF_VARIABLES = (
    "variables",
    "trainable_variables",
    "local_variables",
    "model_variables",
    "moving_average_variables",
    "global_step",
)


def export_meta_graph(
    filename: str | None = None,
    meta_info_def: Any = None,
    graph_def: Message | None = None,
    saver_def: Message | None = None,
    collection_list: Any = None,
    as_text: bool = False,
    graph: Graph | None = None,
    export_scope: str | None = None,
    clear_devices: bool = False,
    clear_extraneous_savers: bool = False,
    strip_default_attrs: bool = False,
    save_debug_info: bool = False,
    **kwargs: Any,
) -> Any:
    """Returns a graph with its collections, as a `MetaGraphDef` that TensorFlow can import.

    Args:
        filename: a file to write it to.
        meta_info_def, saver_def: messages to put into it.
        graph_def: a `GraphDef`; by default the graph's.
        collection_list: the collections; by default all.
        as_text: writes the message as text.
        graph: by default the default graph.
        clear_devices: leaves out where nodes are to run.
        export_scope, clear_extraneous_savers, strip_default_attrs, save_debug_info: accepted, and without effect.

    Example:
        >>> with tf.Graph().as_default():
        ...     v = tf.Variable(1.0)
        ...     sorted(tf.compat.v1.train.export_meta_graph().collection_def)
        ['trainable_variables', 'variables']
    """
    graph = graph or get_default_graph()
    meta = message("MetaGraphDef")()
    if meta_info_def is not None:
        meta.meta_info_def.CopyFrom(meta_info_def)
    meta.meta_info_def.tensorflow_version = VERSION
    if saver_def is not None:
        meta.saver_def.CopyFrom(saver_def)
    for key in graph.get_all_collection_keys() if collection_list is None else collection_list:
        _write_collection(meta.collection_def, key, graph.get_collection(key))
    meta.graph_def.CopyFrom(graph.as_graph_def() if graph_def is None else graph_def)
    if clear_devices:
        for node in meta.graph_def.node:
            node.device = ""
    if filename is not None:
        contents = text_format.MessageToString(meta).encode() if as_text else meta.SerializeToString()
        write_file(os.fspath(filename), contents)
    return meta


def _write_collection(collections: Any, key: str, items: list[Any]) -> None:
    """Writes a collection, if messages can hold its items."""
    if not items:
        return
    if all(isinstance(item, Variable) for item in items):
        collections[key].bytes_list.value.extend(_variable_proto(v) for v in items if v._graph is not None)
    elif all(isinstance(item, QueueRunner) for item in items):
        collections[key].bytes_list.value.extend(item.to_proto().SerializeToString() for item in items)
    elif all(hasattr(item, "graph") and hasattr(item, "name") for item in items):
        collections[key].node_list.value.extend(item.name for item in items)
    elif all(type(item) is int for item in items):
        collections[key].int64_list.value.extend(items)
    elif all(type(item) is float for item in items):
        collections[key].float_list.value.extend(items)
    elif all(isinstance(item, (str, bytes)) for item in items):
        collections[key].bytes_list.value.extend(item.encode() if isinstance(item, str) else item for item in items)


def _variable_proto(variable: Variable) -> bytes:
    """Returns a variable as a serialized message, with its place in a whole if it is a part."""
    proto, part = variable.to_proto(), getattr(variable, "_save_slice_info", None)
    if part is not None:
        proto.save_slice_info_def.MergeFrom(type(proto.save_slice_info_def)(**part._asdict()))
    return proto.SerializeToString()


def import_meta_graph(
    meta_graph_or_file: Any, clear_devices: bool = False, import_scope: str | None = None, **kwargs: Any
) -> Any:
    """Adds a graph with its collections to the default graph.

    Args:
        meta_graph_or_file: a `MetaGraphDef`, or the name of a file with one.
        clear_devices: leaves out where nodes are to run.
        import_scope: the prefix of the names.
        kwargs: of the saver.

    Returns:
        A `Saver` of its variables, or None if there are none.

    Raises:
        OSError: there is no such file, or no such message is in it.

    Example:
        >>> with tf.Graph().as_default():
        ...     v = tf.Variable(1.0, name="v")
        ...     meta_graph = tf.compat.v1.train.export_meta_graph()
        >>> with tf.Graph().as_default():
        ...     saver = tf.compat.v1.train.import_meta_graph(meta_graph)
        ...     print(tf.compat.v1.global_variables())
        [<tf.Variable 'v:0' shape=() dtype=float32>]
    """
    from tapeflow_compat.compat.v1.train.saver import Saver  # a saver writes meta graphs

    meta = _read(meta_graph_or_file)
    if clear_devices:
        for node in meta.graph_def.node:
            node.device = ""
    graph = get_default_graph()
    add_graph_def(meta.graph_def, name=import_scope or "", accepts_any_op=True)
    prefix = f"{import_scope}/" if import_scope else ""
    variables: dict[str, Any] = {}
    for key, collection in meta.collection_def.items():
        for item in _items(graph, key, collection, prefix, variables):
            graph.add_to_collection(key, item)
    saver_def = _scoped(meta.saver_def, prefix) if meta.HasField("saver_def") else None
    if saver_def is None and not graph.get_collection("variables"):
        return None
    return Saver(saver_def=saver_def, **{"allow_empty": saver_def is not None, **kwargs})


def _scoped(saver_def: Message, prefix: str) -> Any:
    """Returns a `SaverDef` message whose operations have a prefix before their names."""
    scoped = type(saver_def)()
    scoped.CopyFrom(saver_def)
    for field in ("filename_tensor_name", "save_tensor_name", "restore_op_name"):
        setattr(scoped, field, prefix + getattr(saver_def, field))
    return scoped


def _items(graph: Graph, key: str, collection: Any, prefix: str, variables: dict[str, Any]) -> list[Any]:
    """Returns the items of a collection of a message."""
    kind = collection.WhichOneof("kind")
    if kind is None:
        return []
    values = getattr(collection, kind).value
    if kind == "node_list":
        return [graph.as_graph_element(prefix + name) for name in values]
    if key == GraphKeys.QUEUE_RUNNERS:
        return [QueueRunner.from_proto(QueueRunnerDef.FromString(data), prefix.rstrip("/")) for data in values]
    if key not in _OF_VARIABLES or kind != "bytes_list":
        return list(values)
    items = []
    for data in values:
        definition = message("VariableDef").FromString(data)
        name = prefix + definition.variable_name
        if name not in variables:
            variables[name] = variable = Variable.from_proto(definition, prefix)
            if definition.HasField("save_slice_info_def"):
                part = definition.save_slice_info_def
                places = list(part.full_shape), list(part.var_offset), list(part.var_shape)
                variable._save_slice_info = SaveSliceInfo(prefix + part.full_name, *places)
        items.append(variables[name])
    return items


def _read(source: Any) -> Any:
    kind = message("MetaGraphDef")
    if isinstance(source, kind):
        copy = kind()
        copy.CopyFrom(source)
        return copy
    path = os.fspath(source)
    if not os.path.exists(path):
        raise OSError(f"File does not exist. Received: {path}.")
    with gfile.GFile(path, "rb") as file:
        data = file.read()
    try:
        return kind.FromString(data)
    except DecodeError:
        try:
            return text_format.Parse(data.decode(), kind())
        except (text_format.ParseError, UnicodeDecodeError) as error:
            raise OSError(f"Cannot parse file {path}: {error}.") from None
