"""Ops on whole files."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.op import not_differentiable, op
from tapeflow.core.scopes import executing_eagerly
from tapeflow.core.types.dtypes import string
from tapeflow.core.values.tensor import invalid
from tapeflow.io import gfile


def _scalar(array: Any, what: str) -> str:
    if array.ndim:
        raise invalid(f"Input {what} tensor must be scalar, but had shape: {list(array.shape)}")
    return os.fsdecode(array.item())


def _read(filename: Any) -> np.ndarray:
    with gfile.GFile(_scalar(filename, "filename"), "rb") as file:
        return np.array(file.read(), object)


@op("ReadFile", kernel=_read, strings=_read)
def read_file(filename: Any, name: str | None = None) -> Any:
    """The contents of a file.

    Args:
        filename: a string scalar.

    Returns:
        A string scalar.

    Raises:
        NotFoundError: there is no such file.
        InvalidArgumentError: `filename` is no scalar.

    Example:
        >>> import os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "file")
        >>> tf.io.write_file(path, "text")
        >>> tf.io.read_file(path).numpy()
        b'text'
    """


def _match(pattern: Any) -> np.ndarray:
    if pattern.ndim > 1:
        raise invalid(f"Input pattern tensor must be scalar or vector, but had shape: {list(pattern.shape)}")
    found = gfile.glob([os.fsdecode(p) for p in pattern.ravel().tolist()])
    names = np.empty(len(found), object)
    names[:] = sorted(os.fsencode(f) for f in found)
    return names


@op("MatchingFiles", kernel=_match, strings=_match)
def matching_files(pattern: Any, name: str | None = None) -> Any:
    """The paths that match patterns with `*`, `?` and `[...]`.

    Args:
        pattern: a string scalar or vector.

    Returns:
        A string vector, sorted.

    Example:
        >>> import tempfile
        >>> folder = tempfile.mkdtemp()
        >>> tf.io.write_file(folder + "/a.txt", "text")
        >>> [path.endswith(b"/a.txt") for path in tf.io.matching_files(folder + "/*.txt").numpy()]
        [True]
    """


not_differentiable(read_file, matching_files)


def write_file(filename: Any, contents: Any, name: str | None = None) -> Any:
    """Writes a file, and makes the folders for it.

    Args:
        filename, contents: string scalars.

    Returns:
        None, or the operation that writes in the graph that is being built.

    Raises:
        InvalidArgumentError: one is no scalar.

    Example:
        >>> import os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "folder", "file")
        >>> tf.io.write_file(path, "text")
        >>> tf.io.read_file(path).numpy()
        b'text'
    """

    def write(filename: Any, contents: Any) -> None:
        path = _scalar(filename.value, "filename")
        if contents.value.ndim:
            raise invalid(f"Contents tensor must be scalar, but had shape: {list(contents.shape)} [Op:WriteFile]")
        gfile.makedirs(os.path.dirname(path) or ".")
        with gfile.GFile(path, "wb") as file:
            file.write(contents.value.item())

    inputs = [convert(filename, string), convert(contents, string)]
    if executing_eagerly():
        write(*inputs)
        return None
    from tapeflow.graph.ir.python_op import python_op

    return python_op("WriteFile", write, inputs)
