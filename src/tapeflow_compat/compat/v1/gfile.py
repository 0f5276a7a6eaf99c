"""The public `tf.compat.v1.gfile` namespace: `tf.io.gfile` by the names of TensorFlow 1."""
# ruff: noqa: F401 (what is imported here is public)

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tapeflow.io import gfile
from tapeflow.io.gfile import GFile
from tapeflow.io.gfile import GFile as FastGFile
from tapeflow.io.gfile import GFile as Open


def Copy(oldpath: Any, newpath: Any, overwrite: bool = False) -> None:
    """Copies a file, see `tf.io.gfile.copy`.

    Raises:
        NotFoundError: there is no such file.
        AlreadyExistsError: the new one is there, and `overwrite` is false.

    Example:
        >>> import tempfile
        >>> folder = tempfile.mkdtemp()
        >>> with tf.compat.v1.gfile.GFile(folder + "/a", "w") as file:
        ...     file.write("text")
        >>> tf.compat.v1.gfile.Copy(folder + "/a", folder + "/b")
        >>> sorted(tf.compat.v1.gfile.ListDirectory(folder))
        ['a', 'b']
    """
    gfile.copy(oldpath, newpath, overwrite)


def Rename(oldname: Any, newname: Any, overwrite: bool = False) -> None:
    """Renames or moves a file or folder, see `tf.io.gfile.rename`.

    Raises:
        NotFoundError: there is no such file.
        AlreadyExistsError: the new one is there, and `overwrite` is false.

    Example:
        >>> import tempfile
        >>> folder = tempfile.mkdtemp()
        >>> tf.compat.v1.gfile.MkDir(folder + "/a")
        >>> tf.compat.v1.gfile.Rename(folder + "/a", folder + "/b")
        >>> tf.compat.v1.gfile.ListDirectory(folder)
        ['b']
    """
    gfile.rename(oldname, newname, overwrite)


def Remove(filename: Any) -> None:
    """Removes a file, see `tf.io.gfile.remove`.

    Raises:
        NotFoundError: there is no such file.

    Example:
        >>> import tempfile
        >>> path = tempfile.mkstemp()[1]
        >>> tf.compat.v1.gfile.Remove(path)
        >>> tf.compat.v1.gfile.Exists(path)
        False
    """
    gfile.remove(filename)


def DeleteRecursively(dirname: Any) -> None:
    """Removes a folder with all that is in it, see `tf.io.gfile.rmtree`.

    Raises:
        NotFoundError: there is no such folder.

    Example:
        >>> import tempfile
        >>> folder = tempfile.mkdtemp()
        >>> tf.compat.v1.gfile.DeleteRecursively(folder)
        >>> tf.compat.v1.gfile.Exists(folder)
        False
    """
    gfile.rmtree(dirname)


def Exists(filename: Any) -> bool:
    """Returns whether a file or folder exists, see `tf.io.gfile.exists`.

    Example:
        >>> tf.compat.v1.gfile.Exists("/nowhere")
        False
    """
    return gfile.exists(filename)


def IsDirectory(dirname: Any) -> bool:
    """Returns whether a path is a folder, see `tf.io.gfile.isdir`.

    Example:
        >>> tf.compat.v1.gfile.IsDirectory("/")
        True
    """
    return gfile.isdir(dirname)


def Glob(filename: Any) -> list[str]:
    """Returns the paths that match patterns with `*`, `?` and `[...]`, see `tf.io.gfile.glob`.

    Args:
        filename: a pattern, or several.

    Example:
        >>> tf.compat.v1.gfile.Glob("/nowhere/*")
        []
    """
    return gfile.glob(filename)


def ListDirectory(dirname: Any) -> list[str]:
    """Returns the names of a folder's entries, in no order, see `tf.io.gfile.listdir`.

    Raises:
        NotFoundError: there is no such folder.

    Example:
        >>> import tempfile
        >>> tf.compat.v1.gfile.ListDirectory(tempfile.mkdtemp())
        []
    """
    return gfile.listdir(dirname)


def MakeDirs(dirname: Any) -> None:
    """Creates a folder, and those above it that are missing, see `tf.io.gfile.makedirs`.

    Example:
        >>> import tempfile
        >>> path = tempfile.mkdtemp() + "/a/b"
        >>> tf.compat.v1.gfile.MakeDirs(path)
        >>> tf.compat.v1.gfile.IsDirectory(path)
        True
    """
    gfile.makedirs(dirname)


def MkDir(dirname: Any) -> None:
    """Creates a folder, see `tf.io.gfile.mkdir`.

    Raises:
        NotFoundError: the one that it should be in is not there.

    Example:
        >>> import tempfile
        >>> path = tempfile.mkdtemp() + "/a"
        >>> tf.compat.v1.gfile.MkDir(path)
        >>> tf.compat.v1.gfile.IsDirectory(path)
        True
    """
    gfile.mkdir(dirname)


def Stat(filename: Any) -> Any:
    """Returns the size, time and kind of a file or folder, see `tf.io.gfile.stat`.

    Raises:
        NotFoundError: there is none.

    Example:
        >>> tf.compat.v1.gfile.Stat("/").is_directory
        True
    """
    return gfile.stat(filename)


def Walk(top: Any, in_order: bool = True) -> Iterator[tuple[str, list[str], list[str]]]:
    """Returns the folders below one, each as its path and the names of the folders and files in it, see
    `tf.io.gfile.walk`.

    Args:
        top: where to begin.
        in_order: gives a folder before those in it, and not after them.

    Example:
        >>> import tempfile
        >>> folder = tempfile.mkdtemp()
        >>> list(tf.compat.v1.gfile.Walk(folder)) == [(folder, [], [])]
        True
    """
    return gfile.walk(top, in_order)
