"""Files and folders of this machine."""

from __future__ import annotations

import fnmatch
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any, NamedTuple, TypeAlias

from tapeflow.core import errors
from tapeflow.core.os_errors import translate_os_errors

FilePath: TypeAlias = str | bytes | os.PathLike[Any]

_MODES = ("r", "w", "a", "r+", "w+", "a+")


def local_path(path: Any) -> Any:
    """Returns a path for the operating system: without `file://`."""
    path = os.fspath(path)
    start = "file://" if isinstance(path, str) else b"file://"
    return path[len(start) :] if path.startswith(start) else path


class GFile:
    """A file, for reading or writing text or bytes.

    Args:
        name: a string, the path.
        mode: "r", "w", "a", "r+", "w+" or "a+", with "b" for bytes. The file is opened at its first use. The default is
            "r".

    Raises:
        InvalidArgumentError: the mode is unknown.

    Example:
        >>> import os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "file")
        >>> with tf.io.gfile.GFile(path, "w") as f:
        ...     f.write("two\\nlines\\n")
        >>> tf.io.gfile.GFile(path).readlines()
        ['two\\n', 'lines\\n']
    """

    def __init__(self, name: FilePath, mode: str = "r") -> None:
        kind = mode.replace("b", "")
        if kind not in _MODES:
            raise errors.InvalidArgumentError.of("mode is not 'r' or 'w' or 'a' or 'r+' or 'w+' or 'a+'")
        self._name, self._mode, self._kind = name, mode, kind
        self._file: Any = None

    @property
    def name(self) -> Any:
        """The path."""
        return self._name

    @property
    def mode(self) -> str:
        """The mode."""
        return self._mode

    def _opened(self, to: str) -> Any:
        """Returns the open file, for reading or writing."""
        allowed = self._kind[-1] == "+" or (self._kind == "r") == (to == "read")
        if not allowed:
            raise errors.PermissionDeniedError.of(f"File isn't open for {to[:-1] if to == 'write' else to}ing")
        if self._file is None:
            with translate_os_errors(self._name):
                self._file = open(local_path(self._name), self._kind + "b")  # noqa: SIM115 (closed by `close`)
        return self._file

    def _call(self, to: str, method: str, *args: Any) -> Any:
        """Calls a method of the file, which is open for reading or writing."""
        file = self._opened(to)
        with translate_os_errors(self._name):
            return getattr(file, method)(*args)

    def _read(self, method: str, *args: Any) -> Any:
        data = self._call("read", method, *args)
        return data if "b" in self._mode else data.decode()

    def read(self, n: int = -1) -> Any:
        """Reads `n` bytes, or all the rest for -1; returns text unless the mode has a "b"."""
        return self._read("read", n)

    def readline(self) -> Any:
        """Reads a line, with its newline; returns an empty one at the end of the file."""
        return self._read("readline")

    def readlines(self) -> list[Any]:
        """Reads all remaining lines."""
        return list(self)

    def write(self, file_content: Any) -> None:
        """Writes text or bytes."""
        self._call("write", "write", file_content.encode() if isinstance(file_content, str) else file_content)

    def seek(self, offset: int | None = None, whence: int = 0, position: int | None = None) -> None:
        """Moves to a position in the file.

        Args:
            offset: the distance in bytes.
            whence: the reference: 0 for the start of the file, 1 for the current position, 2 for the end.
            position: an old name of `offset`.

        Raises:
            TypeError: there is no offset.
            InvalidArgumentError: the position is before the start of the file, or `whence` is something else.
        """
        if offset is None and position is None:
            raise TypeError("seek(): offset argument required")
        if whence not in (0, 1, 2):
            raise errors.InvalidArgumentError.of(f"Invalid whence argument: {whence}. Valid values are 0, 1, or 2.")
        self._call("read", "seek", position if offset is None else offset, whence)

    def tell(self) -> int:
        """Returns the position in the file, in bytes."""
        return self._opened("read" if self._kind[0] == "r" else "write").tell()

    def seekable(self) -> bool:
        """Returns True: `seek` is supported."""
        return True

    def size(self) -> int:
        """Returns the size of the file in bytes."""
        return stat(self._name).length

    def flush(self) -> None:
        """Hands the written bytes to the operating system."""
        if self._file is not None:
            with translate_os_errors(self._name):
                self._file.flush()

    def close(self) -> None:
        """Closes the file."""
        file, self._file = self._file, None
        if file is not None:
            with translate_os_errors(self._name):
                file.close()

    def next(self) -> Any:
        """Returns the next line."""
        return next(self)

    def __iter__(self) -> Any:
        return self

    def __next__(self) -> Any:
        line = self.readline()
        if not line:
            raise StopIteration
        return line

    def __enter__(self) -> GFile:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_file", None) is not None:
            with suppress(OSError):  # nobody can catch it here
                self._file.close()


class FileStatistics(NamedTuple):
    """The result of `stat`.

    Attributes:
        length: the size in bytes.
        mtime_nsec: the time of the last change, in nanoseconds.
        is_directory: True for a folder.
    """

    length: int
    mtime_nsec: int
    is_directory: bool


def exists(path: FilePath) -> bool:
    """Returns True if a file or folder exists.

    Args:
        path: a string, the path.

    Returns:
        A Python bool.

    Raises:
        TypeError: `path` is not a path.

    Example:
        >>> tf.io.gfile.exists("/no/such/file")
        False
    """
    return os.path.exists(local_path(path))


def isdir(path: FilePath) -> bool:
    """Returns True if a path is a folder.

    Args:
        path: a string, the path.

    Returns:
        A Python bool.

    Raises:
        TypeError: `path` is not a path.

    Example:
        >>> import tempfile
        >>> folder = tempfile.mkdtemp()
        >>> tf.io.gfile.isdir(folder)
        True
    """
    return os.path.isdir(local_path(path))


def stat(path: FilePath) -> FileStatistics:
    """Returns size, time and kind of a file or folder.

    Args:
        path: a string, the path.

    Returns:
        A tuple `(length, mtime_nsec, is_directory)`.

    Raises:
        NotFoundError: the path does not exist.

    Example:
        >>> import tempfile
        >>> folder = tempfile.mkdtemp()
        >>> tf.io.gfile.stat(folder).is_directory
        True
    """
    with translate_os_errors(path):
        status = os.stat(local_path(path))
    return FileStatistics(status.st_size, status.st_mtime_ns, isdir(path))


def mkdir(path: FilePath) -> None:
    """Creates a folder, unless the path exists.

    Args:
        path: a string, the path. For an empty one, nothing is created.

    Raises:
        NotFoundError: the parent folder does not exist.

    Example:
        >>> import tempfile
        >>> folder = tempfile.mkdtemp()
        >>> tf.io.gfile.mkdir(folder + "/new")
        >>> tf.io.gfile.listdir(folder)
        ['new']
    """
    if path:
        with translate_os_errors(path), suppress(FileExistsError):
            os.mkdir(local_path(path))


def makedirs(path: FilePath) -> None:
    """Creates a folder, and its parents that do not exist.

    Args:
        path: a string, the path. For an empty one, nothing is created.

    Raises:
        FailedPreconditionError: the path, or a parent, is a file.
        PermissionDeniedError: the parent folder can't be written.

    Example:
        >>> import tempfile
        >>> folder = tempfile.mkdtemp()
        >>> tf.io.gfile.makedirs(folder + "/one/two")
        >>> tf.io.gfile.isdir(folder + "/one/two")
        True
    """
    folder = there = local_path(path)
    while there and not os.path.exists(there):
        there = os.path.dirname(there)
    if there and not os.path.isdir(there):
        raise errors.FailedPreconditionError.of(f"{os.fsdecode(there)} is not a directory")
    if folder:
        with translate_os_errors(path), suppress(FileExistsError):
            os.makedirs(folder, exist_ok=True)


def listdir(path: FilePath) -> list[str]:
    """Returns the names of the files and folders in a folder.

    Args:
        path: a string, the path of the folder.

    Returns:
        A list of names, in no particular order.

    Raises:
        NotFoundError: the folder does not exist.

    Example:
        >>> import tempfile
        >>> folder = tempfile.mkdtemp()
        >>> tf.io.write_file(folder + "/name", "text")
        >>> tf.io.gfile.listdir(folder)
        ['name']
    """
    if not isdir(path):
        raise errors.NotFoundError.of(f"Could not find directory {os.fsdecode(path)}")
    with translate_os_errors(path):
        return os.listdir(local_path(path))


def remove(path: FilePath) -> None:
    """Removes a file.

    Args:
        path: a string, the path of the file.

    Raises:
        NotFoundError: the file does not exist.
        FailedPreconditionError: the path is a folder.

    Example:
        >>> import tempfile
        >>> folder = tempfile.mkdtemp()
        >>> tf.io.write_file(folder + "/name", "text")
        >>> tf.io.gfile.remove(folder + "/name")
        >>> tf.io.gfile.listdir(folder)
        []
    """
    with translate_os_errors(path):
        os.remove(local_path(path))


def rmtree(path: FilePath) -> None:
    """Removes a folder with its contents, or a file.

    Args:
        path: a string, the path.

    Raises:
        NotFoundError: the path does not exist.

    Example:
        >>> import tempfile
        >>> folder = tempfile.mkdtemp()
        >>> tf.io.gfile.rmtree(folder)
        >>> tf.io.gfile.exists(folder)
        False
    """
    if not exists(path):
        raise errors.NotFoundError.of(f"{os.fsdecode(path)} not found")
    with translate_os_errors(path):
        (shutil.rmtree if isdir(path) else os.remove)(local_path(path))


def copy(src: FilePath, dst: FilePath, overwrite: bool = False) -> None:
    """Copies a file.

    Args:
        src: a string, the path of the source.
        dst: a string, the path of the destination.
        overwrite: replaces an existing file at `dst`.

    Raises:
        NotFoundError: `src` does not exist.
        AlreadyExistsError: `dst` exists, and `overwrite` is False.
        InvalidArgumentError: `src` is a folder.

    Example:
        >>> import tempfile
        >>> folder = tempfile.mkdtemp()
        >>> tf.io.write_file(folder + "/a", "text")
        >>> tf.io.gfile.copy(folder + "/a", folder + "/b")
        >>> tf.io.read_file(folder + "/b").numpy()
        b'text'
    """
    _refuse_existing(dst, overwrite)
    if stat(src).is_directory:
        raise errors.InvalidArgumentError.of(f"{os.fsdecode(src)}; Is a directory, and only files are copied")
    with translate_os_errors(dst):
        shutil.copyfile(local_path(src), local_path(dst))


def rename(src: FilePath, dst: FilePath, overwrite: bool = False) -> None:
    """Renames or moves a file or folder.

    Args:
        src: a string, the path of the source.
        dst: a string, the path of the destination.
        overwrite: replaces an existing file at `dst`.

    Raises:
        NotFoundError: `src` does not exist.
        AlreadyExistsError: `dst` exists, and `overwrite` is False.

    Example:
        >>> import tempfile
        >>> folder = tempfile.mkdtemp()
        >>> tf.io.write_file(folder + "/a", "text")
        >>> tf.io.gfile.rename(folder + "/a", folder + "/b")
        >>> tf.io.gfile.listdir(folder)
        ['b']
    """
    _refuse_existing(dst, overwrite)
    with translate_os_errors(src):
        os.replace(local_path(src), local_path(dst))


def _refuse_existing(path: Any, overwrite: bool) -> None:
    if not overwrite and exists(path):
        raise errors.AlreadyExistsError.of("file already exists")


def glob(pattern: FilePath | Sequence[FilePath]) -> list[str]:
    """Returns the paths that match patterns with `*`, `?` and `[...]`. These do not match `/`.

    Args:
        pattern: a pattern, or a list of patterns.

    Returns:
        A list of paths, sorted for each pattern.

    Raises:
        TypeError: a pattern is not a path.

    Example:
        >>> import tempfile
        >>> folder = tempfile.mkdtemp()
        >>> tf.io.write_file(folder + "/a.txt", "text")
        >>> tf.io.gfile.glob(folder + "/*.txt") == [folder + "/a.txt"]
        True
    """
    patterns = [pattern] if isinstance(pattern, (str, bytes, os.PathLike)) else pattern
    return [match for p in patterns for match in sorted(_matching_paths(os.fsdecode(local_path(p))))]


def _matching_paths(pattern: str) -> list[str]:
    """Returns the paths that match a pattern."""
    folder, name = os.path.split(pattern)
    if not name or not any(c in pattern for c in "*?["):
        return [pattern] if os.path.lexists(pattern) else []
    folders = _matching_paths(folder) if any(c in folder for c in "*?[") else [folder or "."]
    return [os.path.join(f, n) for f in folders if os.path.isdir(f) for n in fnmatch.filter(os.listdir(f), name)]


def join(path: FilePath, *paths: FilePath) -> str | bytes:
    """Joins parts of a path, see `os.path.join`.

    Args:
        path, paths: the parts, all text or all bytes.

    Returns:
        The path, text or bytes.

    Raises:
        TypeError: a part is not a path.

    Example:
        >>> tf.io.gfile.join("folder", "file")
        'folder/file'
    """
    parts: Any = (path, *paths)
    return os.path.join(*parts)


def walk(
    top: FilePath, topdown: bool = True, onerror: Callable[[Any], Any] | None = None
) -> Iterator[tuple[Any, list[str], list[str]]]:
    """Walks through a folder and the folders in it.

    Args:
        top: a string, the path of the folder.
        topdown: yields a folder before the folders in it, otherwise after them.
        onerror: `onerror(error)` is called if a folder can't be read.

    Returns:
        An iterator of tuples `(folder, names of folders, names of files)`.

    Raises:
        TypeError: `top` is not a path.

    Example:
        >>> import tempfile
        >>> folder = tempfile.mkdtemp()
        >>> tf.io.write_file(folder + "/sub/a.txt", "text")
        >>> [names for _, _, names in tf.io.gfile.walk(folder)]
        [[], ['a.txt']]
    """
    try:
        names = listdir(top)
    except errors.NotFoundError as error:
        if onerror is not None:
            onerror(error)
        return
    path: Any = top
    folders = [n for n in names if isdir(os.path.join(path, n))]
    here = (top, folders, [n for n in names if n not in folders])
    if topdown:
        yield here
    for folder in folders:
        yield from walk(os.path.join(path, folder), topdown, onerror)
    if not topdown:
        yield here


def get_registered_schemes() -> list[str]:
    """Returns the schemes of supported paths: none, and `file`.

    Returns:
        A list of strings.

    Example:
        >>> tf.io.gfile.get_registered_schemes()
        ['', 'file']
    """
    return ["", "file"]
