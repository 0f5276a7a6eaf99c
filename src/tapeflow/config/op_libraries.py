"""`tf.load_op_library` and `tf.load_library`: libraries of ops for TensorFlow's own runtime, which can't be loaded."""

from __future__ import annotations

import errno
import os
from typing import Any, NoReturn

from tapeflow.core.errors import NotFoundError


def load_op_library(library_filename: str | os.PathLike[str]) -> NoReturn:
    """Raises an error: the library of ops is not there, or needs TensorFlow's own binaries.

    Programs that catch the error go on without the library.

    Args:
        library_filename: the path of the library.

    Returns:
        It never returns.

    Raises:
        NotFoundError: always.

    Example:
        >>> try:
        ...     tf.load_op_library("missing.so")
        ... except tf.errors.NotFoundError as error:
        ...     print(error.message)
        missing.so: cannot open shared object file: No such file or directory
    """
    path = os.fspath(library_filename)
    if not os.path.exists(path):
        raise NotFoundError.of(f"{path}: cannot open shared object file: No such file or directory")
    raise NotFoundError.of(
        f"{path}: libraries of ops need TensorFlow's own binaries, which are not part of TapeFlow. Install TensorFlow "
        "to use it."
    )


def load_library(library_location: Any) -> NoReturn:
    """Raises an error: the libraries of kernels are not there, or need TensorFlow's own binaries.

    Args:
        library_location: the path of a library, or of a folder of libraries.

    Returns:
        It never returns.

    Raises:
        FileNotFoundError: there is no such file or folder.
        NotFoundError: the file or folder exists. It is never loaded.

    Example:
        >>> try:
        ...     tf.load_library("missing.so")
        ... except FileNotFoundError as error:
        ...     print(error.strerror)
        The file or folder to load kernel libraries from does not exist.
    """
    path = os.fspath(library_location)
    if not os.path.exists(path):
        message = "The file or folder to load kernel libraries from does not exist."
        raise FileNotFoundError(errno.ENOENT, message, path)
    load_op_library(path)
