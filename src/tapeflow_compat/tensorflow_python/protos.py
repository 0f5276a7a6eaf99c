"""TensorFlow's protocol buffers under its own names: `tensorflow.core.framework.graph_pb2` and its like.

The classes in these modules are the classes of TapeFlow's arguments and results: TensorBoard's, and the ones in
`core/protos.py`. Besides, TensorBoard's files are declared in the descriptor pool once more, under TensorFlow's names
(`tensorflow/core/framework/graph.proto`, with `tensorflow.GraphDef`): the generated modules of other libraries depend
on these. TensorBoard's own files and messages have other names (`tensorboard.GraphDef`), so the two never clash. A
message of such a library contains TensorFlow's messages as these second classes: the two exchange bytes.
"""

from __future__ import annotations

import functools
import importlib
from typing import Any

_FOLDERS = {
    "tensorflow/core/framework": "allocation_description api_def attr_value cost_graph full_type function graph "
    "graph_debug_info node_def op_def resource_handle step_stats summary tensor tensor_description tensor_shape types "
    "variable versions",
    "tensorflow/core/protobuf": "cluster config debug meta_graph rewriter_config saved_object_graph saver struct "
    "trackable_object_graph verifier_config",
    "tensorflow/core/util": "event",
    "xla/tsl/protobuf": "coordination_config histogram rpc_options",
}
_FOLDER_OF = {stem: folder for folder, stems in _FOLDERS.items() for stem in stems.split()}
_DECLARED_HERE = (
    "core.example.example_pb2", "core.example.feature_pb2", "core.framework.reader_base_pb2",
    "core.framework.tensor_slice_pb2", "core.protobuf.fingerprint_pb2", "core.protobuf.queue_runner_pb2",
    "core.protobuf.saved_model_pb2", "core.protobuf.tensor_bundle_pb2", "python.training.checkpoint_state_pb2",
)  # fmt: skip

# In the form of `libraries.MODULES`.
MODULES = {
    f"{folder.replace('/', '.')}.{stem}_pb2": {"*": f"tensorboard.compat.proto.{stem}_pb2"}
    for stem, folder in _FOLDER_OF.items()
    if folder.startswith("tensorflow/")
} | {f"tensorflow.{name}": {"*": "tapeflow.core.protos"} for name in _DECLARED_HERE}


def declare_of(module: str) -> None:
    """Declares the file of a module in the descriptor pool, under TensorFlow's name, if TensorBoard has it."""
    stem = module.rpartition(".")[2].removesuffix("_pb2")
    if module in MODULES and stem in _FOLDER_OF:
        _declare(stem)


@functools.cache
def _declare(stem: str) -> str:
    """Declares a file, and those it depends on, once; returns its name."""
    from google.protobuf import descriptor_pb2, descriptor_pool  # protocol buffers are loaded when they are asked for

    name, pool = f"{_FOLDER_OF[stem]}/{stem}.proto", descriptor_pool.Default()
    try:
        pool.FindFileByName(name)
    except KeyError:
        file = descriptor_pb2.FileDescriptorProto()
        importlib.import_module(f"tensorboard.compat.proto.{stem}_pb2").DESCRIPTOR.CopyToProto(file)
        file.name, file.package = name, "tensorflow"
        for i, dependency in enumerate(file.dependency):
            if dependency.startswith("tensorboard/"):
                file.dependency[i] = _declare(dependency.rpartition("/")[2].removesuffix(".proto"))
        for message in file.message_type:
            _rename(message)
        pool.AddSerializedFile(file.SerializeToString())
    return name


def _rename(message: Any) -> None:
    """Has the fields of a message refer to TensorFlow's messages in the place of TensorBoard's."""
    for field in message.field:
        if field.type_name.startswith(".tensorboard."):
            field.type_name = field.type_name.replace("tensorboard", "tensorflow", 1)
    for nested in message.nested_type:
        _rename(nested)
