"""`inspect_checkpoint`: prints the tensors of a checkpoint."""

from __future__ import annotations

import argparse
import re
import sys
from typing import Any

import numpy as np

from tapeflow.core import errors
from tapeflow.train.reader import CheckpointReader
from tapeflow_compat.tensorflow_python.tools.commands import add_switch, add_text, run_command


def main() -> None:
    """Runs the command in `sys.argv`, and ends the process."""
    parser = argparse.ArgumentParser("inspect_checkpoint", description="Prints the tensors of a checkpoint.")
    add_text(parser, "file_name", "the checkpoint: the part of its files' names that is common to them")
    add_text(parser, "tensor_name", "the tensor to print")
    add_text(parser, "count_exclude_pattern", "a regular expression: tensors with such names are not counted")
    add_switch(parser, "all_tensors", "print the names and values of all tensors")
    add_switch(parser, "all_tensor_names", "print the names of all tensors")
    parser.add_argument("--printoptions", nargs="*", type=parse_numpy_printoption, help="OPTION=VALUE of NumPy")
    options = parser.parse_args()
    if not options.file_name:
        parser.print_usage()
        sys.exit(1)

    def command() -> None:
        print_tensors_in_checkpoint_file(
            options.file_name, options.tensor_name, options.all_tensors, options.all_tensor_names,
            options.count_exclude_pattern,
        )  # fmt: skip

    run_command("inspect_checkpoint", command)


def print_tensors_in_checkpoint_file(
    file_name: str,
    tensor_name: str | None,
    all_tensors: bool,
    all_tensor_names: bool = False,
    count_exclude_pattern: str = "",
) -> None:
    """Prints the tensors of a checkpoint, or the error if it can't be read.

    Args:
        file_name: the common part of the names of the checkpoint's files.
        tensor_name: the tensor whose values are printed. Without a name, shapes are printed.
        all_tensors: True if the values of all tensors are printed.
        all_tensor_names: True if the names, dtypes and shapes of all tensors are printed.
        count_exclude_pattern: a regular expression. Tensors with such names are not counted.

    Example:
        >>> import tempfile
        >>> from tapeflow.tensorflow_python.tools.inspect_checkpoint import print_tensors_in_checkpoint_file
        >>> path = tf.train.Checkpoint(v=tf.Variable([1.0, 2.0])).write(tempfile.mkdtemp() + "/ckpt")
        >>> print_tensors_in_checkpoint_file(path, "v/.ATTRIBUTES/VARIABLE_VALUE", all_tensors=False)
        tensor: v/.ATTRIBUTES/VARIABLE_VALUE (float32) [2]
        [1. 2.]
        # Total number of params: 3
    """
    try:
        reader = CheckpointReader(file_name)
        names = sorted(reader.get_variable_to_shape_map())
        if not (all_tensors or all_tensor_names or tensor_name):
            print(reader.debug_string().decode("utf-8", errors="ignore"))
        elif not (all_tensors or all_tensor_names):
            if not reader.has_tensor(str(tensor_name)):
                print(f"Tensor {tensor_name} not found in checkpoint")
                return
            names = [str(tensor_name)]
        for name in names if all_tensors or all_tensor_names or tensor_name else ():
            dtype, shape = reader.get_variable_to_dtype_map()[name], reader.get_variable_to_shape_map()[name]
            print(f"tensor: {name} ({dtype.name}) {shape}")
            if all_tensors or not all_tensor_names:
                print(reader.get_tensor(name))
        print(f"# Total number of params: {_count_parameters(reader, count_exclude_pattern)}")
    except (OSError, ValueError, errors.OpError) as error:
        print(error)
        prefix, _, ending = file_name.rpartition(".")
        if ending in ("index", "meta") or ending.startswith("data-"):
            print(f"The name of a checkpoint has no ending of one of its files. Try --file_name={prefix}")


def _count_parameters(reader: Any, exclude: str) -> int:
    sizes = {name: int(np.prod(shape)) for name, shape in reader.get_variable_to_shape_map().items()}
    left_out = [name for name in sizes if exclude and re.search(exclude, name)]
    if exclude:
        number = sum(sizes[name] for name in left_out)
        print(f"# Excluding {len(left_out)} tensors ({number} params) that match {exclude} when counting.")
    return sum(sizes.values()) - sum(sizes[name] for name in left_out)


def parse_numpy_printoption(kv_str: str) -> None:
    """Sets an option of NumPy's printing from a text such as `threshold=100000`.

    Raises:
        argparse.ArgumentTypeError: there is no such option, or it has values of another type.
    """
    name, equals, text = kv_str.partition("=")
    known: dict[str, Any] = dict(np.get_printoptions())
    if not equals or not name:
        raise argparse.ArgumentTypeError(f"'{kv_str}' is not in the form k=v.")
    if name not in known:
        raise argparse.ArgumentTypeError(f"'{name}' is not a valid printoption.")
    kind = type(known[name])
    if kind not in (bool, int, str):
        raise argparse.ArgumentTypeError(f"Setting '{name}' from the command line is not supported.")
    try:
        options: dict[str, Any] = {name: text.lower() in ("true", "1") if kind is bool else kind(text)}
        np.set_printoptions(**options)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
