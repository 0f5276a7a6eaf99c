"""Texts about SavedModels and checkpoints, which `tapeflow show` prints."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from tapeflow.core.types.dtypes import as_dtype
from tapeflow.core.types.shape import TensorShape
from tapeflow.io import gfile
from tapeflow.saved_model.messages import read_model, signature_of, variables_prefix
from tapeflow.train.reader import CheckpointReader, load_checkpoint


def describe_saved_model(export_dir: str) -> str:
    """Returns the signatures, functions and variables of a SavedModel, as a text.

    Args:
        export_dir: its directory.

    Raises:
        OSError: there is none, or it is damaged.
    """
    lines = []
    for graph in read_model(export_dir):
        info = graph.meta_info_def
        writer = f", written by TensorFlow {info.tensorflow_version}" if info.tensorflow_version else ""
        lines.append(f"SavedModel {export_dir}, tags {', '.join(info.tags) or 'none'}{writer}")
        for key, signature in sorted(graph.signature_def.items()):
            if signature.inputs or signature.method_name:
                lines.append(f"  signature {key}")
                lines += _describe_tensors("input", signature.inputs) + _describe_tensors("output", signature.outputs)
        if graph.HasField("object_graph_def"):
            lines += _describe_functions(graph.object_graph_def)
    if gfile.exists(f"{variables_prefix(export_dir)}.index"):
        lines += _describe_variables(CheckpointReader(variables_prefix(export_dir)))
    return "\n".join(lines)


def describe_checkpoint(path: str) -> str:
    """Returns the tensors of a checkpoint, as a text.

    Args:
        path: its name, or a directory, for the latest one there.

    Raises:
        ValueError, NotFoundError: there is none.
    """
    return "\n".join([f"Checkpoint {path}", *_describe_variables(load_checkpoint(path))])


def _describe_tensors(kind: str, tensors: Any) -> list[str]:
    rows = [
        (f"{kind} {name}", as_dtype(tensor.dtype).name, str(TensorShape(tensor.tensor_shape)))
        for name, tensor in sorted(tensors.items())
    ]
    return _align_columns(rows, "    ")


def _describe_functions(objects: Any) -> list[str]:
    """Returns a line for each function of a saved object, with its parameters and its number of traces."""
    lines = []
    for child in sorted(objects.nodes[0].children, key=lambda child: child.local_name):
        node = objects.nodes[child.node_id]
        if node.WhichOneof("kind") == "function":
            parameters = [p.name for p in signature_of(node.function.function_spec).parameters.values()]
            number = len(node.function.concrete_functions)
            traces = "1 trace" if number == 1 else f"{number} traces"
            lines.append(f"  function {child.local_name}({', '.join(parameters)}): {traces}")
    return lines


def _describe_variables(reader: Any) -> list[str]:
    shapes, dtypes = reader.get_variable_to_shape_map(), reader.get_variable_to_dtype_map()
    names = sorted(name for name in shapes if name != "_CHECKPOINTABLE_OBJECT_GRAPH")
    sizes = {name: math.prod(shapes[name]) for name in names}
    total = sum(sizes[name] * dtypes[name].size for name in names)
    rows = [(n.removesuffix("/.ATTRIBUTES/VARIABLE_VALUE"), dtypes[n].name, str(tuple(shapes[n]))) for n in names]
    head = f"  {len(names)} variables with {sum(sizes.values()):,} values, {total:,} bytes"
    return [head, *_align_columns(rows, "    ")]


def _align_columns(rows: Iterable[tuple[str, ...]], indent: str) -> list[str]:
    rows = list(rows)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    padded = ([cell.ljust(width) for cell, width in zip(row, widths, strict=True)] for row in rows)
    return [(indent + "  ".join(row)).rstrip() for row in padded]
