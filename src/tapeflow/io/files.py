"""Ops that read, write and list files."""

from __future__ import annotations

import os
from typing import Any

from tapeflow.core.context import state
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.op import not_differentiable, op
from tapeflow.core.ops.shape_rules import scalar
from tapeflow.core.scopes import executing_eagerly
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.dtypes import string
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.strings import StringArray
from tapeflow.core.values.tensor import Tensor, invalid
from tapeflow.core.values.variable import Variable
from tapeflow.graph.ir.operation import Operation
from tapeflow.graph.ir.python_op import python_op
from tapeflow.io import gfile


def _scalar_path(array: StringArray, argument: str) -> str:
    """Returns the path in a string scalar."""
    if array.ndim:
        raise invalid(f"Input {argument} tensor must be scalar, but had shape: {list(array.shape)}")
    return os.fsdecode(array.item())


def _read_kernel(filename: Any) -> StringArray:
    with gfile.GFile(_scalar_path(filename, "filename"), "rb") as file:
        return StringArray.scalar(file.read())


@op("ReadFile", kernel=_read_kernel, strings=_read_kernel, shape=scalar)
def read_file(filename: TensorLike, name: str | None = None) -> Tensor:
    """Reads a file.

    Args:
        filename: the path, a string scalar.

    Returns:
        The contents, a string scalar.

    Raises:
        NotFoundError: the file does not exist.
        InvalidArgumentError: `filename` is not a scalar.

    Example:
        >>> import os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "file")
        >>> tf.io.write_file(path, "text")
        >>> tf.io.read_file(path).numpy()
        b'text'
    """


def _match_kernel(pattern: Any) -> StringArray:
    if pattern.ndim > 1:
        raise invalid(f"Input pattern tensor must be scalar or vector, but had shape: {list(pattern.shape)}")
    matches = gfile.glob([os.fsdecode(p) for p in pattern.reshape(-1).tolist()])
    return StringArray.of(sorted(os.fsencode(m) for m in matches))


def match_filenames_once(pattern: TensorLike, name: str | None = None) -> Variable:
    """Lists the files that match patterns, once: a variable keeps them.

    Args:
        pattern: a string scalar or vector, see `matching_files`.
        name: the variable's name.

    Returns:
        A local variable of a string vector.

    Raises:
        TypeError, InvalidArgumentError: `pattern` is not a string tensor.

    Example:
        >>> import pathlib, tempfile
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> (folder / "a.txt").touch()
        >>> tf.io.match_filenames_once(str(folder / "*.txt")).shape
        TensorShape([None])
    """
    variable = Variable(matching_files(pattern), trainable=False, name=name, shape=TensorShape([None]))
    if state.graph is not None and not state.graph.building_function:
        state.graph.get_collection_ref("variables").remove(variable)
        state.graph.add_to_collection("local_variables", variable)
    return variable


@op("MatchingFiles", kernel=_match_kernel, strings=_match_kernel, shape=lambda *_: TensorShape([None]))
def matching_files(pattern: TensorLike, name: str | None = None) -> Tensor:
    """Returns the paths that match patterns with `*`, `?` and `[...]`, see `tf.io.gfile.glob`.

    Args:
        pattern: a string scalar or vector.

    Returns:
        A sorted string vector.

    Raises:
        InvalidArgumentError: `pattern` has more than one dimension.

    Example:
        >>> import tempfile
        >>> folder = tempfile.mkdtemp()
        >>> tf.io.write_file(folder + "/a.txt", "text")
        >>> [path.endswith(b"/a.txt") for path in tf.io.matching_files(folder + "/*.txt").numpy()]
        [True]
    """


not_differentiable(read_file, matching_files)


def write_file(filename: TensorLike, contents: TensorLike, name: str | None = None) -> Operation | None:
    """Writes a file, and creates the folders for it.

    Args:
        filename: the path, a string scalar.
        contents: the contents, a string scalar.

    Returns:
        None, or the operation if a graph is being built.

    Raises:
        InvalidArgumentError: an argument is not a scalar.

    Example:
        >>> import os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "folder", "file")
        >>> tf.io.write_file(path, "text")
        >>> tf.io.read_file(path).numpy()
        b'text'
    """

    def write(filename: Any, contents: Any) -> None:
        path = _scalar_path(filename.value, "filename")
        if contents.value.ndim:
            raise invalid(f"Contents tensor must be scalar, but had shape: {list(contents.shape)} [Op:WriteFile]")
        gfile.makedirs(os.path.dirname(path))
        with gfile.GFile(path, "wb") as file:
            file.write(contents.value.item())

    inputs = [convert(filename, string), convert(contents, string)]
    if executing_eagerly():
        write(*inputs)
        return None
    return python_op("WriteFile", write, inputs)
