"""The public `tf.io.gfile` namespace: files and folders of this machine. Remote file systems are not reached."""

from __future__ import annotations

import errno
import fnmatch
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from tapeflow.core import errors

_MODES = ("r", "w", "a", "r+", "w+", "a+")
_KINDS: dict[int, Any] = {
    errno.ENOENT: errors.NotFoundError,
    errno.EEXIST: errors.AlreadyExistsError,
    errno.EACCES: errors.PermissionDeniedError,
    errno.EPERM: errors.PermissionDeniedError,
    errno.EISDIR: errors.FailedPreconditionError,
    errno.ENOTDIR: errors.FailedPreconditionError,
    errno.ENOTEMPTY: errors.FailedPreconditionError,
}


@contextmanager
def tensorflows_errors(path: Any) -> Iterator[None]:
    """What the operating system refuses becomes TensorFlow's error."""
    try:
        yield
    except OSError as error:
        kind = _KINDS.get(error.errno or 0, errors.UnknownError)
        raise kind(None, None, f"{path}; {error.strerror}") from None


def local_path(path: Any) -> Any:
    """A path as the operating system takes it."""
    path = os.fspath(path)
    start = "file://" if isinstance(path, str) else b"file://"
    return path[len(start) :] if path.startswith(start) else path


class GFile:
    """A file, for reading or writing text or bytes.

    Args:
        name: its path.
        mode: "r", "w", "a", "r+", "w+" or "a+", with "b" for bytes. The file is opened when it is first used.

    Raises:
        InvalidArgumentError: there is no such mode.

    Example:
        >>> import os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "file")
        >>> with tf.io.gfile.GFile(path, "w") as f:
        ...     f.write("two\\nlines\\n")
        >>> tf.io.gfile.GFile(path).readlines()
        ['two\\n', 'lines\\n']
    """

    def __init__(self, name: Any, mode: str = "r") -> None:
        kind = mode.replace("b", "")
        if kind not in _MODES:
            raise errors.InvalidArgumentError(None, None, "mode is not 'r' or 'w' or 'a' or 'r+' or 'w+' or 'a+'")
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
        allowed = self._kind[-1] == "+" or (self._kind == "r") == (to == "read")
        if not allowed:
            raise errors.PermissionDeniedError(None, None, f"File isn't open for {to[:-1] if to == 'write' else to}ing")
        if self._file is None:
            with tensorflows_errors(self._name):
                self._file = open(local_path(self._name), self._kind + "b")  # noqa: SIM115 (closed by `close`)
        return self._file

    def _as_read(self, data: bytes) -> Any:
        return data if "b" in self._mode else data.decode()

    def read(self, n: int = -1) -> Any:
        """The next `n` bytes, or all that is left; as text unless the mode has a "b"."""
        return self._as_read(self._opened("read").read(n))

    def readline(self) -> Any:
        """The next line, with its end; empty at the end of the file."""
        return self._as_read(self._opened("read").readline())

    def readlines(self) -> list[Any]:
        """All lines that are left."""
        return list(self)

    def write(self, file_content: Any) -> None:
        """Writes text or bytes."""
        self._opened("write").write(file_content.encode() if isinstance(file_content, str) else bytes(file_content))

    def seek(self, offset: int | None = None, whence: int = 0, position: int | None = None) -> None:
        """Goes to a place in the file, from its start (`whence` 0), the place now (1) or its end (2)."""
        if offset is None and position is None:
            raise TypeError("seek(): offset argument required")
        self._opened("read").seek(position if offset is None else offset, whence)

    def tell(self) -> int:
        """The place in the file."""
        return self._opened("read" if self._kind[0] == "r" else "write").tell()

    def seekable(self) -> bool:
        """Whether `seek` works; it does."""
        return True

    def size(self) -> int:
        """The size in bytes."""
        return stat(self._name).length

    def flush(self) -> None:
        """Hands what was written to the operating system."""
        if self._file is not None:
            self._file.flush()

    def close(self) -> None:
        """Closes the file."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def next(self) -> Any:
        """The next line."""
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
            self._file.close()


class FileStatistics(NamedTuple):
    """What `stat` gives.

    Attributes:
        length: in bytes.
        mtime_nsec: when it was last changed, in nanoseconds.
        is_directory: whether it is a folder.
    """

    length: int
    mtime_nsec: int
    is_directory: bool


def exists(path: Any) -> bool:
    """Whether there is such a file or folder.

    Example:
        >>> tf.io.gfile.exists("/no/such/file")
        False
    """
    return os.path.exists(local_path(path))


def isdir(path: Any) -> bool:
    """Whether there is such a folder.

    Args:
        path: of the folder; a string or `os.PathLike`.

    Example:
        >>> import tempfile
        >>> folder = tempfile.mkdtemp()
        >>> tf.io.gfile.isdir(folder)
        True
    """
    return os.path.isdir(local_path(path))


def stat(path: Any) -> FileStatistics:
    """Size, time and kind of a file or folder.

    Args:
        path: of the file or folder; a string or `os.PathLike`.

    Raises:
        NotFoundError: there is none.

    Example:
        >>> import tempfile
        >>> folder = tempfile.mkdtemp()
        >>> tf.io.gfile.stat(folder).is_directory
        True
    """
    with tensorflows_errors(path):
        found = os.stat(local_path(path))
    is_folder = os.path.isdir(local_path(path))
    return FileStatistics(found.st_size, found.st_mtime_ns, is_folder)


def mkdir(path: Any) -> None:
    """Makes a folder; nothing happens where there is one.

    Args:
        path: of the folder; a string or `os.PathLike`.

    Raises:
        NotFoundError: the folder for it is missing.

    Example:
        >>> import tempfile
        >>> folder = tempfile.mkdtemp()
        >>> tf.io.gfile.mkdir(folder + "/new")
        >>> tf.io.gfile.listdir(folder)
        ['new']
    """
    if not isdir(path):
        with tensorflows_errors(path):
            os.mkdir(local_path(path))


def makedirs(path: Any) -> None:
    """Makes a folder, and those above it that are missing.

    Args:
        path: of the folder; a string or `os.PathLike`.

    Example:
        >>> import tempfile
        >>> folder = tempfile.mkdtemp()
        >>> tf.io.gfile.makedirs(folder + "/one/two")
        >>> tf.io.gfile.isdir(folder + "/one/two")
        True
    """
    with tensorflows_errors(path):
        os.makedirs(local_path(path), exist_ok=True)


def listdir(path: Any) -> list[str]:
    """The names of what is in a folder, in no order.

    Args:
        path: of the folder; a string or `os.PathLike`.

    Raises:
        NotFoundError: there is no such folder.

    Example:
        >>> import tempfile
        >>> folder = tempfile.mkdtemp()
        >>> tf.io.write_file(folder + "/name", "text")
        >>> tf.io.gfile.listdir(folder)
        ['name']
    """
    if not isdir(path):
        raise errors.NotFoundError(None, None, f"Could not find directory {path}")
    return os.listdir(local_path(path))


def remove(path: Any) -> None:
    """Removes a file.

    Args:
        path: of the file; a string or `os.PathLike`.

    Raises:
        NotFoundError: there is none.
        FailedPreconditionError: it is a folder.

    Example:
        >>> import tempfile
        >>> folder = tempfile.mkdtemp()
        >>> tf.io.write_file(folder + "/name", "text")
        >>> tf.io.gfile.remove(folder + "/name")
        >>> tf.io.gfile.listdir(folder)
        []
    """
    with tensorflows_errors(path):
        os.remove(local_path(path))


def rmtree(path: Any) -> None:
    """Removes a folder with all that is in it, or a file.

    Args:
        path: of the folder or file; a string or `os.PathLike`.

    Raises:
        NotFoundError: there is none.

    Example:
        >>> import tempfile
        >>> folder = tempfile.mkdtemp()
        >>> tf.io.gfile.rmtree(folder)
        >>> tf.io.gfile.exists(folder)
        False
    """
    if not exists(path):
        raise errors.NotFoundError(None, None, f"{path} not found")
    with tensorflows_errors(path):
        (shutil.rmtree if isdir(path) else os.remove)(local_path(path))


def copy(src: Any, dst: Any, overwrite: bool = False) -> None:
    """Copies a file.

    Args:
        src, dst: paths: from where, and to where.
        overwrite: whether it takes the place of what is at `dst`.

    Raises:
        NotFoundError: there is no `src`.
        AlreadyExistsError: there is a `dst`, and `overwrite` is False.

    Example:
        >>> import tempfile
        >>> folder = tempfile.mkdtemp()
        >>> tf.io.write_file(folder + "/a", "text")
        >>> tf.io.gfile.copy(folder + "/a", folder + "/b")
        >>> tf.io.read_file(folder + "/b").numpy()
        b'text'
    """
    stat(src)
    _refuse_existing(dst, overwrite)
    with tensorflows_errors(dst):
        shutil.copyfile(local_path(src), local_path(dst))


def rename(src: Any, dst: Any, overwrite: bool = False) -> None:
    """Renames or moves a file or folder.

    Args:
        src, dst: paths: from where, and to where.
        overwrite: whether it takes the place of what is at `dst`.

    Raises:
        NotFoundError: there is no `src`.
        AlreadyExistsError: there is a `dst`, and `overwrite` is False.

    Example:
        >>> import tempfile
        >>> folder = tempfile.mkdtemp()
        >>> tf.io.write_file(folder + "/a", "text")
        >>> tf.io.gfile.rename(folder + "/a", folder + "/b")
        >>> tf.io.gfile.listdir(folder)
        ['b']
    """
    stat(src)
    _refuse_existing(dst, overwrite)
    with tensorflows_errors(src):
        os.replace(local_path(src), local_path(dst))


def _refuse_existing(path: Any, overwrite: bool) -> None:
    if not overwrite and exists(path):
        raise errors.AlreadyExistsError(None, None, "file already exists")


def glob(pattern: Any) -> list[str]:
    """The paths that match patterns with `*`, `?` and `[...]`, none of which matches a `/`.

    Args:
        pattern: one, or a list of them.

    Example:
        >>> import tempfile
        >>> folder = tempfile.mkdtemp()
        >>> tf.io.write_file(folder + "/a.txt", "text")
        >>> tf.io.gfile.glob(folder + "/*.txt") == [folder + "/a.txt"]
        True
    """
    patterns: Sequence[Any] = [pattern] if isinstance(pattern, (str, bytes, os.PathLike)) else list(pattern)
    return [found for p in patterns for found in sorted(_matching(os.fsdecode(local_path(p))))]


def _matching(pattern: str) -> list[str]:
    folder, name = os.path.split(pattern)
    if not name or not any(c in pattern for c in "*?["):
        return [pattern] if os.path.lexists(pattern) else []
    folders = _matching(folder) if any(c in folder for c in "*?[") else [folder or "."]
    found = []
    for f in folders:
        if os.path.isdir(f):
            found += [os.path.join(f, n) for n in fnmatch.filter(os.listdir(f), name)]
    return found


def join(path: Any, *paths: Any) -> Any:
    """Joins parts of a path. See `os.path.join`.

    Example:
        >>> tf.io.gfile.join("folder", "file")
        'folder/file'
    """
    return os.path.join(path, *paths)


def walk(
    top: Any, topdown: bool = True, onerror: Callable[[Any], Any] | None = None
) -> Iterator[tuple[Any, list[str], list[str]]]:
    """Goes through a folder and those in it: `(folder, names of folders, names of files)` for each.

    Args:
        top: where to begin.
        topdown: a folder comes before those in it.
        onerror: is called with an error, where a folder can't be read.

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
    folders = [n for n in names if isdir(os.path.join(top, n))]
    here = (top, folders, [n for n in names if n not in folders])
    if topdown:
        yield here
    for folder in folders:
        yield from walk(os.path.join(top, folder), topdown, onerror)
    if not topdown:
        yield here


def get_registered_schemes() -> list[str]:
    """The kinds of paths that can be opened: plain ones, and those with `file://`.

    Example:
        >>> tf.io.gfile.get_registered_schemes()
        ['', 'file']
    """
    return ["", "file"]
