"""`saved_model_cli`: shows, runs and scans SavedModels. What it prints is TensorFlow's output, line by line."""

from __future__ import annotations

import argparse
import ast
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from tensorboard.compat.proto.types_pb2 import DataType

from tapeflow.core.protos import Example
from tapeflow.core.types.spec import TensorSpec
from tapeflow.core.types.spec_proto import from_proto
from tapeflow.graph.ir.graph import Graph
from tapeflow.saved_model.fingerprint import trace_number
from tapeflow_compat.compat.v1.logging import warning
from tapeflow_compat.compat.v1.saved_model import load
from tapeflow_compat.compat.v1.session import Session
from tapeflow_compat.tensorflow_python.tools.commands import add_switch, add_text, check_names, run_command, split_names
from tapeflow_compat.tensorflow_python.tools.saved_model_utils import (
    get_meta_graph_def,
    get_saved_model_tag_sets,
    read_saved_model,
)

if TYPE_CHECKING:
    from google.protobuf.message import Message

_DENYLIST = ("WriteFile", "ReadFile", "PrintV2")
_CALLS = ("PartitionedCall", "StatefulPartitionedCall")


def main() -> None:
    """Runs the command in `sys.argv`, and ends the process."""
    options = create_parser().parse_args()
    run_command("saved_model_cli", lambda: options.run(options))


def create_parser() -> argparse.ArgumentParser:
    """Returns the parser of the command line."""
    parser = argparse.ArgumentParser("saved_model_cli", description="Shows, runs and scans SavedModels.")
    parser.add_argument("-v", "--version", action="version", version="0.1.0")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")

    def add_command(name: str, run: Any, text: str, tags: bool = False) -> argparse.ArgumentParser:
        command = commands.add_parser(name, help=text, description=text)
        command.set_defaults(run=run)
        add_text(command, "dir", "the directory of the SavedModel", required=True)
        add_text(command, "tag_set", "the tags of a graph, joined by commas", None, required=tags)
        return command

    show = add_command("show", show_command, "Prints the tags, signatures, operations and functions of a SavedModel.")
    add_switch(show, "all", "print everything")
    add_switch(show, "list_ops", "print the ops of the graph")
    add_text(show, "signature_def", "the signature to print", None)

    run = add_command("run", run_of_options, "Calls a signature, and prints or saves its outputs.", tags=True)
    add_text(run, "signature_def", "the signature to call", required=True)
    add_text(run, "inputs", "KEY=FILE or KEY=FILE[NAME], joined by semicolons; .npy and .npz files")
    add_text(run, "input_exprs", "KEY=LITERAL, joined by semicolons, such as 'x=[[1.0, 2.0]]'")
    add_text(run, "input_examples", "KEY=[{FEATURE: [VALUES]}], joined by semicolons: a tf.train.Example for each")
    add_text(run, "outdir", "the directory for a .npy file of each output", None)
    add_switch(run, "overwrite", "replace files there")
    add_text(run, "worker", "a session's target", None)
    for name in ("init_tpu", "use_tfrt", "tf_debug"):
        add_switch(run, name, "not supported")

    scan = add_command("scan", scan_command, "Looks for ops that read or write files or print.")
    add_text(scan, "op_denylist", "the ops to look for, joined by commas", None)

    for name, what in (("convert", "TensorRT"), ("freeze_model", "XLA"), ("aot_compile_cpu", "XLA")):
        command = commands.add_parser(name, help=f"not supported: it needs {what} in TensorFlow", prefix_chars="+")
        command.add_argument("rest", nargs="*")
        command.set_defaults(run=refuse_command, command=name, what=what)
    return parser


def refuse_command(options: argparse.Namespace) -> None:
    """Raises RuntimeError: TapeFlow has no such compiler."""
    raise RuntimeError(
        f"`saved_model_cli {options.command}` needs {options.what}, which is part of TensorFlow's binaries. "
        "`tapeflow convert` writes ONNX, PyTorch and TensorFlow Lite files."
    )


def show_command(options: argparse.Namespace) -> None:
    """Prints what the flags of `show` ask for."""
    if options.all:
        show_all(options.dir)
    elif options.tag_set is None:
        if options.list_ops:
            print("--list_ops must be paired with a tag-set or with --all.")
        tag_sets = get_saved_model_tag_sets(options.dir)
        print("The given SavedModel contains the following tag-sets:")
        for tags in sorted(tag_sets):
            print(repr(", ".join(sorted(tags))))
    else:
        graph = _tagged_graph(options)
        if options.list_ops:
            _show_ops(graph)
        if options.signature_def is not None:
            _show_signature(graph, options.signature_def)
            return
        print("The given SavedModel MetaGraphDef contains SignatureDefs with the following keys:")
        for key in sorted(graph.signature_def):
            print(f'SignatureDef key: "{key}"')


def show_all(saved_model_dir: str) -> None:
    """Prints the signatures, ops and functions of each graph of a SavedModel.

    Raises:
        OSError: there is no SavedModel, or it is damaged.
    """
    graphs = read_saved_model(saved_model_dir).meta_graphs
    for graph in sorted(graphs, key=lambda graph: list(graph.meta_info_def.tags)):
        tags = ", ".join(graph.meta_info_def.tags)
        print(f"\nMetaGraphDef with tag-set: '{tags}' contains the following SignatureDefs:")
        for key in sorted(graph.signature_def):
            print(f"\nsignature_def['{key}']:")
            _show_signature(graph, key, "  ")
        _show_ops(graph)
    for graph in graphs:
        if graph.HasField("object_graph_def"):
            _show_functions(graph.object_graph_def)
            break


def scan_command(options: argparse.Namespace) -> None:
    """Prints which ops of a list each graph has."""
    denied = set(_DENYLIST) if not options.op_denylist else set(split_names(options.op_denylist))
    graphs = read_saved_model(options.dir).meta_graphs if not options.tag_set else [_tagged_graph(options)]
    for graph in graphs:
        found = denied & used_ops(graph.graph_def)
        said = "contains the following" if found else "does not contain the default"
        print(f"MetaGraph with tag set {graph.meta_info_def.tags} {said} denylisted ops:", found or denied)


def _tagged_graph(options: argparse.Namespace) -> Any:
    tags = split_names(options.tag_set)
    check_names(tags, "tag_set")
    return get_meta_graph_def(options.dir, ",".join(tags))


def used_ops(graph_def: Message) -> set[str]:
    """Returns the names of the ops in a `GraphDef`, and in the functions that it calls."""
    functions = {function.signature.name: function for function in graph_def.library.function}
    used: set[str] = set()
    nodes = list(graph_def.node)
    for node in nodes:  # grows
        for name in (node.op, node.attr["f"].func.name if node.op in _CALLS else ""):
            if name in functions and name not in used:
                nodes.extend(functions[name].node_def)
            used.add(name)
    return used - functions.keys() - {""}


def _show_ops(graph: Any) -> None:
    print(
        f"The MetaGraph with tag set {graph.meta_info_def.tags} contains the following ops:", used_ops(graph.graph_def)
    )


def _signature(graph: Any, key: str) -> Any:
    if key not in graph.signature_def:
        raise ValueError(f'Could not find signature "{key}". Please choose from: {", ".join(graph.signature_def)}')
    return graph.signature_def[key]


def _show_signature(graph: Graph, key: str, indent: str = "") -> None:
    signature = _signature(graph, key)
    for kind, tensors in (("input", signature.inputs), ("output", signature.outputs)):
        print(f"{indent}The given SavedModel SignatureDef contains the following {kind}(s):")
        for name, tensor in sorted(tensors.items()):
            sizes = ", ".join(str(dim.size) for dim in tensor.tensor_shape.dim)
            print(f"{indent}  {kind}s['{name}'] tensor_info:")
            print(f"{indent}      dtype: {DataType.Name(tensor.dtype)}")
            print(f"{indent}      shape: {'unknown_rank' if tensor.tensor_shape.unknown_rank else f'({sizes})'}")
            print(f"{indent}      name: {tensor.name}")
    print(f"{indent}Method name is: {signature.method_name}")


def _show_functions(objects: Any) -> None:
    """Prints the traces of the functions that are attributes of a saved object, with their arguments."""
    print("\nConcrete Functions:", end="")
    for child in sorted(objects.nodes[0].children, key=lambda child: child.local_name):
        node = objects.nodes[child.node_id]
        if node.WhichOneof("kind") == "function":
            names = sorted(node.function.concrete_functions, key=trace_number)
        elif node.WhichOneof("kind") == "bare_concrete_function":
            names = [node.bare_concrete_function.concrete_function_name]
        else:
            continue
        print(f"\n  Function Name: '{child.local_name}'")
        for number, name in enumerate(names, 1):
            args, kwargs = from_proto(objects.concrete_functions[name].canonicalized_input_signature)
            if args:
                print(f"    Option #{number}\n      Callable with:")
                _show_arguments("Argument", args)
            if kwargs:
                _show_arguments("Named Argument", sorted(kwargs))


def _show_arguments(kind: str, arguments: Iterable[Any]) -> None:
    indent = " " * 8
    for number, value in enumerate(arguments, 1):
        print(f"{indent}{kind} #{number}")
        if isinstance(value, str):
            print(f"{indent}  {value}")
        elif isinstance(value, TensorSpec):
            print(f"{indent}  {value.name}: {value!r}")
        else:
            print(f"{indent}  DType: {type(value).__name__}\n{indent}  Value: {_shown(value)}")


def _shown(value: Any) -> str:
    """Returns the text of a Python argument, with the two backspaces that TensorFlow prints at the end of a list."""

    def quote(item: Any) -> str:
        return f"'{item}'" if isinstance(item, str) else str(item)

    if isinstance(value, Mapping):
        return "{" + "".join(f"'{key}': {quote(item)}, " for key, item in sorted(value.items())) + "\b\b}"
    if isinstance(value, Iterable):
        return "[" + "".join(f"{quote(item)}, " for item in value) + "\b\b]"
    return str(value)


def run_of_options(options: argparse.Namespace) -> None:
    """Calls the signature that the flags of `run` name, with their inputs."""
    if not (options.inputs or options.input_exprs or options.input_examples):
        raise AttributeError("At least one of --inputs, --input_exprs or --input_examples must be required")
    for name in ("init_tpu", "use_tfrt", "tf_debug"):
        if getattr(options, name):
            raise RuntimeError(f"--{name} is not supported.")
    run_saved_model_with_feed_dict(
        options.dir,
        options.tag_set,
        options.signature_def,
        load_inputs_from_input_arg_string(options.inputs, options.input_exprs, options.input_examples),
        options.outdir,
        options.overwrite,
        options.worker,
    )


def run_saved_model_with_feed_dict(
    saved_model_dir: str,
    tag_set: str,
    signature_def_key: str,
    input_tensor_key_feed_dict: Mapping[str, Any],
    outdir: str | None,
    overwrite_flag: bool,
    worker: str | None = None,
) -> None:
    """Calls a signature, prints its outputs, and saves them as `KEY.npy` if there is a directory for them.

    Args:
        saved_model_dir: the directory of the SavedModel.
        tag_set: all tags of the graph, joined by commas.
        signature_def_key: the name of the signature.
        input_tensor_key_feed_dict: the inputs, by their names in the signature.
        outdir: a directory, which need not exist; or None.
        overwrite_flag: True if existing files may be replaced.
        worker: the target of a session.

    Raises:
        OSError: there is no SavedModel, or it is damaged.
        ValueError: it has no such signature or input.
        RuntimeError: it has no graph with these tags, or a file exists.
    """
    tags = split_names(tag_set)
    check_names(tags, "tag_set")
    signature = _signature(get_meta_graph_def(saved_model_dir, ",".join(tags)), signature_def_key)
    for key in input_tensor_key_feed_dict:
        if key not in signature.inputs:
            known = '", "'.join(signature.inputs)
            raise ValueError(f'"{key}" is not a valid input key. Please choose from "{known}", or use --show option.')
    feeds = {signature.inputs[key].name: value for key, value in input_tensor_key_feed_dict.items()}
    keys = sorted(signature.outputs)
    with Session(worker or "", graph=Graph()) as session:
        load(session, tags, saved_model_dir)
        outputs = session.run([signature.outputs[key].name for key in keys], feed_dict=feeds)
    for key, output in zip(keys, outputs, strict=True):
        print(f"Result for output key {key}:\n{output}")
        if outdir:
            os.makedirs(outdir, exist_ok=True)
            path = os.path.join(outdir, f"{key}.npy")
            if not overwrite_flag and os.path.exists(path):
                raise RuntimeError(
                    f'Output file {path} already exists. Add "--overwrite" to overwrite the existing output files.'
                )
            np.save(path, output)
            print(f"Output {key} is saved to {path}")


def load_inputs_from_input_arg_string(inputs_str: str, input_exprs_str: str, input_examples_str: str) -> dict[str, Any]:
    """Returns the inputs that three flags name, by key. An example comes before a literal, and both before a file.

    Raises:
        RuntimeError: a flag can't be parsed, or a file has not the one array.
        ValueError: a file can't be read, or an example is none.
    """
    places = preprocess_inputs_arg_string(inputs_str)
    inputs: dict[str, Any] = {key: _load_array(*place) for key, place in places.items()}
    for flag, values in (
        ("--input_exprs", preprocess_input_exprs_arg_string(input_exprs_str)),
        ("--input_examples", preprocess_input_examples_arg_string(input_examples_str)),
    ):
        for key in values.keys() & inputs.keys():
            warning(f"input_key {key} has been specified in multiple options. Value in {flag} will be used.")
        inputs.update(values)
    return inputs


def preprocess_inputs_arg_string(inputs_str: str) -> dict[str, tuple[str, str | None]]:
    """Returns the file, and the name of an array in it or None, for each key in `KEY=FILE[NAME];KEY=FILE`.

    Raises:
        RuntimeError: the text has another form.
    """
    places = {}
    for part in filter(None, inputs_str.split(";")):
        match = re.fullmatch(r"([^=]+)=([^\[\]]+)(?:\[([^\[\]]+)\])?", part)
        if match is None:
            raise RuntimeError(
                f'--inputs "{part}" format is incorrect. Please follow"<input_key>=<filename>", or'
                '"<input_key>=<filename>[<variable_name>]"'
            )
        places[match[1]] = (match[2], match[3])
    return places


def preprocess_input_exprs_arg_string(input_exprs_str: str, safe: bool = True) -> dict[str, Any]:
    """Returns the value for each key in `KEY=LITERAL;KEY=LITERAL`.

    Args:
        input_exprs_str: the text.
        safe: must be True: text is never run as a program.

    Raises:
        RuntimeError: the text has another form.
    """
    if not safe:
        raise RuntimeError("TapeFlow evaluates only literals, such as [[1.0, 2.0]], in input_exprs.")
    values = {}
    for part in filter(None, input_exprs_str.split(";")):
        key, equals, text = part.partition("=")
        if not equals:
            raise RuntimeError(
                f'--input_exprs "{input_exprs_str}" format is incorrect. Please follow"<input_key>=<python expression>"'
            )
        try:
            values[key] = ast.literal_eval(text.strip())
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            raise RuntimeError(f'Expression "{text}" is not a valid python literal.') from None
    return values


def preprocess_input_examples_arg_string(input_examples_str: str) -> dict[str, list[bytes]]:
    """Returns a list of serialized examples for each key in `KEY=[{FEATURE: [VALUES]}, ...]`.

    Raises:
        RuntimeError: the text has another form.
        ValueError: a value is not a list of dictionaries of lists.
    """
    values = preprocess_input_exprs_arg_string(input_examples_str)
    for key, examples in values.items():
        if not isinstance(examples, list):
            raise ValueError(f'tf.Example input must be a list of dictionaries, but "{examples}" is {type(examples)}')
        values[key] = [_create_example(example) for example in examples]
    return values


def _create_example(features: Mapping[str, Sequence[Any]]) -> bytes:
    example = Example()
    for name, values in features.items():
        if not isinstance(values, list):
            raise ValueError(f'feature value must be a list, but {name}: "{values}" is {type(values)}')
        feature, first = example.features.feature[name], values[0] if values else 0
        if isinstance(first, float):
            feature.float_list.value.extend(values)
        elif isinstance(first, (str, bytes)):
            feature.bytes_list.value.extend([v.encode() if isinstance(v, str) else v for v in values])
        elif isinstance(first, int):
            feature.int64_list.value.extend(values)
        else:
            raise ValueError(f"Type {type(first)} for value {first} is not supported for tf.train.Feature.")
    return bytes(example.SerializeToString())


def _load_array(path: str, name: str | None) -> np.ndarray:
    """Returns an array of a .npy or .npz file.

    Raises:
        RuntimeError: the file has several arrays and no name is given, or none of that name.
        ValueError: the file is neither.
    """
    try:
        data = np.load(path, allow_pickle=False)
    except ValueError:
        raise ValueError(f"{path} is not a .npy or .npz file. Pickles are not loaded: they run code.") from None
    if isinstance(data, np.ndarray):
        if name:
            warning(f'Input file {path} contains a single ndarray. Name key "{name}" ignored.')
        return data
    with data:
        if name is None:
            if len(data.files) != 1:
                raise RuntimeError(
                    f"Input file {path} contains more than one ndarrays. Please specify the name of ndarray to use."
                )
            name = data.files[0]
        elif name not in data:
            raise RuntimeError(f'Input file {path} does not contain variable with name "{name}".')
        array: np.ndarray = data[name]
        return array
