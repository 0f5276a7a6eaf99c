"""`freeze_graph`: a graph with the values of a checkpoint in the place of its variables."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tensorboard.compat.proto.graph_pb2 import GraphDef
from tensorboard.compat.proto.meta_graph_pb2 import MetaGraphDef
from tensorboard.compat.proto.saver_pb2 import SaverDef

from tapeflow.array.creation import constant
from tapeflow.core.values.variable import Variable
from tapeflow.graph.ir.graph import Graph
from tapeflow.io import gfile
from tapeflow.train.reader import CheckpointReader
from tapeflow_compat.compat.v1.graph_util import convert_variables_to_constants, import_graph_def
from tapeflow_compat.compat.v1.saved_model import load
from tapeflow_compat.compat.v1.session import Session
from tapeflow_compat.compat.v1.train import Saver, checkpoint_exists, import_meta_graph
from tapeflow_compat.tensorflow_python.tools.commands import (
    add_switch,
    add_text,
    read_message,
    run_command,
    split_names,
)
from tapeflow_compat.tensorflow_python.tools.saved_model_utils import get_meta_graph_def

if TYPE_CHECKING:
    from google.protobuf.message import Message


def run_main() -> None:
    """Runs the command in `sys.argv`, and ends the process."""
    parser = argparse.ArgumentParser("freeze_graph", description="Writes a graph with constants for its variables.")
    add_text(parser, "input_graph", "a GraphDef's file")
    add_text(parser, "input_saver", "a SaverDef's file")
    add_text(parser, "input_checkpoint", "the checkpoint of the variables")
    add_text(parser, "checkpoint_version", "1 or 2, the format of the checkpoint", 2, type=int, choices=(1, 2))
    add_text(parser, "output_graph", "the file to write")
    add_switch(parser, "input_binary", "the files of messages are binary, not text")
    add_text(parser, "output_node_names", "the nodes whose values are wanted, joined by commas")
    add_text(parser, "restore_op_name", "ignored", "save/restore_all")
    add_text(parser, "filename_tensor_name", "ignored", "save/Const:0")
    add_switch(parser, "clear_devices", "remove the devices of nodes", True)
    add_text(parser, "initializer_nodes", "nodes to run before, joined by commas")
    add_text(parser, "variable_names_whitelist", "the variables that become constants; by default, all")
    add_text(parser, "variable_names_denylist", "the variables that stay")
    add_text(parser, "input_meta_graph", "a MetaGraphDef's file")
    add_text(parser, "input_saved_model_dir", "the directory of a SavedModel")
    add_text(parser, "saved_model_tags", "the tags of its graph, joined by commas", "serve")
    run_command("freeze_graph", lambda: None if freeze_graph(**vars(parser.parse_args())) else 1)


main = run_main


def freeze_graph(
    input_graph: str | None,
    input_saver: str | None,
    input_binary: bool,
    input_checkpoint: str | None,
    output_node_names: str,
    restore_op_name: str | None,
    filename_tensor_name: str | None,
    output_graph: str | None,
    clear_devices: bool,
    initializer_nodes: str | None,
    variable_names_whitelist: str = "",
    variable_names_denylist: str = "",
    input_meta_graph: str | None = None,
    input_saved_model_dir: str | None = None,
    saved_model_tags: str = "serve",
    checkpoint_version: int = 2,
) -> Any:
    """Returns the graph of some files, with constants in the place of its variables, and writes it.

    Args:
        input_graph: the name of a file with a `GraphDef`, if there is one.
        input_saver: the name of a file with a `SaverDef`, which tells how the checkpoint is read.
        input_binary: True if the files of messages are binary, False if they are text.
        input_checkpoint: the checkpoint of the variables, unless a SavedModel has them.
        output_node_names: the names of the nodes whose values are wanted, joined by commas.
        restore_op_name, filename_tensor_name: ignored.
        output_graph: the name of the file to write, or an empty string.
        clear_devices: True if the devices of nodes are removed.
        initializer_nodes: the names of nodes that run before, joined by commas.
        variable_names_whitelist: the names of the variables that become constants; by default, all.
        variable_names_denylist: the names of the variables that stay.
        input_meta_graph: the name of a file with a `MetaGraphDef`.
        input_saved_model_dir: the directory of a SavedModel.
        saved_model_tags: the tags of its graph, joined by commas.
        checkpoint_version: the format of the checkpoint.

    Returns:
        A `GraphDef`.

    Raises:
        OSError: there is no such file.
        ValueError: the files have no graph, no variables, or no checkpoint.
    """
    graph_def = meta_graph = saver = None
    if input_saved_model_dir:
        graph_def = get_meta_graph_def(input_saved_model_dir, saved_model_tags).graph_def
    elif input_graph:
        graph_def = read_message(input_graph, GraphDef(), input_binary, "Input graph file")
    if input_meta_graph:
        meta_graph = read_message(input_meta_graph, MetaGraphDef(), input_binary, "Input meta graph file")
    if input_saver:
        saver = read_message(input_saver, SaverDef(), input_binary, "Input saver file")
    return freeze_graph_with_def_protos(
        graph_def, saver, input_checkpoint, output_node_names, restore_op_name, filename_tensor_name, output_graph,
        clear_devices, initializer_nodes, variable_names_whitelist, variable_names_denylist, meta_graph,
        input_saved_model_dir, split_names(saved_model_tags), checkpoint_version,
    )  # fmt: skip


def freeze_graph_with_def_protos(
    input_graph_def: Message,
    input_saver_def: Any,
    input_checkpoint: str | None,
    output_node_names: str,
    restore_op_name: str | None,
    filename_tensor_name: str | None,
    output_graph: str | None,
    clear_devices: bool,
    initializer_nodes: str | None,
    variable_names_whitelist: str = "",
    variable_names_denylist: str = "",
    input_meta_graph_def: Any = None,
    input_saved_model_dir: str | None = None,
    saved_model_tags: Sequence[str] | None = None,
    checkpoint_version: int = 2,
) -> Any:
    """Does for messages what `freeze_graph` does for files. See there.

    Raises:
        ValueError: there is no graph, no checkpoint, or no variable.
    """
    if not input_saved_model_dir and not (input_checkpoint and checkpoint_exists(input_checkpoint)):
        raise ValueError(f"Input checkpoint '{input_checkpoint}' doesn't exist!")
    outputs = split_names(output_node_names)
    if not outputs:
        raise ValueError("You need to supply the name of a node to --output_node_names.")
    if input_graph_def is None and input_meta_graph_def is None:
        raise ValueError("There is no graph: pass --input_graph, --input_meta_graph or --input_saved_model_dir.")
    graph_def = input_meta_graph_def.graph_def if input_meta_graph_def is not None else input_graph_def
    for node in graph_def.node if clear_devices else ():
        node.device = ""
    with Graph().as_default() as graph, Session(graph=graph) as session:
        if input_saved_model_dir:
            load(session, list(saved_model_tags or ()), input_saved_model_dir)
        else:
            if input_meta_graph_def is not None:
                saver = import_meta_graph(input_meta_graph_def, clear_devices=True)
            else:
                import_graph_def(input_graph_def, name="")
                by_graph = input_saver_def is not None and input_saver_def.restore_op_name
                saver = Saver(saver_def=input_saver_def) if by_graph else None
            if saver is None:
                session.run(_assign_variables(graph, str(input_checkpoint)))
            else:
                saver.restore(session, input_checkpoint)
        if initializer_nodes:
            session.run(split_names(initializer_nodes))
        frozen = convert_variables_to_constants(
            session,
            graph_def,
            outputs,
            variable_names_whitelist=split_names(variable_names_whitelist) or None,
            variable_names_blacklist=split_names(variable_names_denylist) or None,
        )
    if output_graph:
        with gfile.GFile(output_graph, "wb") as file:
            file.write(frozen.SerializeToString(deterministic=True))
    return frozen


def _assign_variables(graph: Graph, checkpoint: str) -> list[Any]:
    """Adds operations to a graph that assign the tensors of a checkpoint to the variables of the same names.

    Raises:
        ValueError: there is none, or a variable is in parts.
    """
    reader = CheckpointReader(checkpoint)
    variables = {
        operation.name.removesuffix("/handle"): operation.op.attrs["variable"]
        for operation in graph.get_operations()
        if operation.type == "VarHandleOp"
    }
    saved = reader.get_variable_to_shape_map().keys()
    if any(name.rpartition("/part_")[0] in saved for name in variables if re.search(r"/part_\d+$", name)):
        raise ValueError(
            "Models containing partition variables cannot be converted from checkpoint files. Please pass in a "
            "SavedModel using the flag --input_saved_model_dir."
        )
    if variables.keys().isdisjoint(saved):
        raise ValueError(
            "No variables were found in this model. It is likely the model was frozen previously. You cannot freeze a "
            "graph twice."
        )

    def initialize(variable: Variable, value: Any) -> None:
        variable._set(value)

    return [
        graph.assign_variable("AssignVariableOp", variables[key], initialize, constant(reader.get_tensor(key)))
        for key in sorted(saved & variables.keys())
    ]
