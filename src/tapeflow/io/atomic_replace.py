"""Files and folders that are replaced as wholes: if a process is killed, the old one or the new one is there.

The new contents of `name` are written in a temporary folder beside it, `name.tempstate.<16 hex digits>`, and renamed.
The writer locks the folder. The system drops the lock when the process ends, for any reason. The next process that
saves there deletes the temporary folders without a lock.
"""

from __future__ import annotations

import ctypes
import os
import re
import secrets
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from tapeflow.core import errors
from tapeflow.core.os_errors import translate_os_errors
from tapeflow.io import gfile

try:
    import fcntl
except ImportError:  # Windows: nothing is locked there, and nothing abandoned is deleted
    fcntl = None  # type: ignore[assignment]

_TEMPORARY = re.compile(r".*\.tempstate\.[0-9a-f]{16}", re.DOTALL)
_PATIENCE = 10.0  # seconds to wait for another writer: who holds a folder for longer does so for other reasons

# ---- locks -----------------------------------------------------------------------------------------------------------


def _lock_folder(descriptor: int) -> bool | None:
    """Locks an open folder. Returns whether it did; None if there are no locks."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


@contextmanager
def exclusive(folder: str) -> Iterator[None]:
    """Lets one writer at a time rename files in a folder, of all threads and processes that ask."""
    if fcntl is None:
        yield
        return
    descriptor, end = os.open(folder or ".", os.O_RDONLY), time.monotonic() + _PATIENCE
    try:
        while _lock_folder(descriptor) is False and time.monotonic() < end:
            time.sleep(0.01)
        yield
    finally:
        with suppress(OSError):  # closing is not enough: a process that was forked meanwhile holds the descriptor too
            fcntl.flock(descriptor, fcntl.LOCK_UN)
        os.close(descriptor)


# ---- temporary folders -----------------------------------------------------------------------------------------------


@contextmanager
def temporary_folder(path: str) -> Iterator[str]:
    """Creates a folder for new contents beside a file, and deletes it at the end.

    Raises:
        NotFoundError, PermissionDeniedError, ...: there is no such directory, or nothing can be written there.
    """
    directory, name = os.path.split(path)
    _delete_abandoned(directory)
    while True:
        folder = os.path.join(directory, f"{name[:50]}.tempstate.{secrets.token_hex(8)}")
        with translate_os_errors(path):
            os.mkdir(folder)
        descriptor = _hold_folder(folder)
        if descriptor is not None:
            break
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if descriptor >= 0:
            os.close(descriptor)


def _hold_folder(folder: str) -> int | None:
    """Locks a new folder. Returns the open folder; -1 without locks; None if another writer took it for abandoned."""
    if fcntl is None:
        return -1
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except FileNotFoundError:
        return None
    if _lock_folder(descriptor) is False or not os.path.exists(folder):
        os.close(descriptor)
        return None
    return descriptor


def _delete_abandoned(directory: str) -> None:
    """Deletes the temporary folders of writers that are no more."""
    if fcntl is None:
        return
    with suppress(OSError):
        for name in filter(_TEMPORARY.fullmatch, os.listdir(directory or ".")):
            folder = os.path.join(directory, name)
            with suppress(OSError):
                descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
                try:
                    if _lock_folder(descriptor):
                        shutil.rmtree(folder, ignore_errors=True)
                finally:
                    os.close(descriptor)


# ---- files -----------------------------------------------------------------------------------------------------------


def sync(path: str) -> None:
    """Waits until a file, or the names in a folder, are on the disk."""
    if os.path.isdir(path) and not hasattr(os, "O_DIRECTORY"):
        return  # Windows has no such thing
    with translate_os_errors(path):
        descriptor = os.open(path, os.O_RDONLY if os.path.isdir(path) else os.O_RDWR)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def sync_tree(folder: str) -> None:
    """Waits until everything in a folder is on the disk."""
    for directory, _, files in os.walk(folder):
        for name in [*files, ""]:
            sync(os.path.join(directory, name))


def rename(new: str, path: str) -> None:
    """Renames a file, which is synced, over another, and waits until that is on the disk."""
    with translate_os_errors(path):
        os.replace(new, path)
    sync(os.path.dirname(path) or ".")


@contextmanager
def replaced_file(path: str) -> Iterator[str]:
    """Yields the path of a file to write, which takes the place of another at the end, if nothing is raised."""
    with translate_os_errors(path):
        name, path = os.path.basename(path), os.path.realpath(path)
    exists = os.path.exists(path)
    if exists and not (os.path.isfile(path) and os.access(os.path.dirname(path), os.W_OK)):
        yield path  # a pipe, or a file in a folder of somebody else
        return
    with temporary_folder(path) as folder:
        new = os.path.join(folder, name)
        yield new
        sync(new)
        if exists:
            with translate_os_errors(path):
                shutil.copymode(path, new)
        rename(new, path)


def write_file(path: str, contents: bytes) -> None:
    """Writes a whole file, or leaves the old one."""
    with replaced_file(path) as new, translate_os_errors(path), open(new, "wb") as file:
        file.write(contents)


# ---- folders ---------------------------------------------------------------------------------------------------------


@contextmanager
def replaced_folder(path: str, last: str, parts: str) -> Iterator[str]:
    """Yields a folder to write, which takes the place of another at the end, if nothing is raised.

    Files that only the old folder has remain. A folder without `last` is incomplete and is written in place. So is a
    folder that the system can't exchange for another one in one step, as on Windows.

    Args:
        path: the folder; created if it is missing.
        last: the name of the file that is written last. A folder without it has no meaning.
        parts: a pattern for the names of all files in such a folder. A folder with other files is written in place,
            because other programs may be writing these files.
    """
    gfile.makedirs(path)
    path = os.path.realpath(path)
    if not _is_whole(path, last, parts):
        yield path
        return
    with temporary_folder(path) as folder:
        new, other = os.path.join(folder, "new"), os.path.join(folder, "other")
        for part in (new, other):
            with translate_os_errors(path):
                os.mkdir(part)
        if not _exchange_folders(new, other):
            yield path
            return
        yield new
        sync_tree(new)
        with translate_os_errors(path):
            _add_links(path, new)
            shutil.copystat(path, new)
        if not _exchange_folders(new, path):
            raise errors.UnknownError.of(f"{path}; The folder can't be replaced")
        sync(os.path.dirname(path))


def _is_whole(path: str, last: str, parts: str) -> bool:
    """Returns True if a folder is complete, and can be another one from now on."""
    _delete_abandoned(path)
    names = gfile.listdir(path)
    is_current = os.path.join(os.getcwd(), "").startswith(os.path.join(path, ""))
    movable = os.access(os.path.dirname(path), os.W_OK) and not os.path.ismount(path) and not is_current
    return movable and last in names and all(re.fullmatch(parts, name) for name in names)


def _add_links(path: str, new: str) -> None:
    """Adds to a new folder links to the files of the old one that it lacks."""
    for directory, folders, files in os.walk(path):
        folders[:] = [name for name in folders if not _TEMPORARY.fullmatch(name)]
        below = os.path.join(new, os.path.relpath(directory, path))
        for name in folders:
            os.makedirs(os.path.join(below, name), exist_ok=True)
        for name in files:
            if not os.path.lexists(os.path.join(below, name)):
                os.link(os.path.join(directory, name), os.path.join(below, name), follow_symlinks=False)


def _exchange_folders(a: str, b: str) -> bool:
    """Exchanges two folders at once. Returns whether the system can."""
    try:
        system = ctypes.CDLL(None)
        if sys.platform == "darwin":
            return system.renamex_np(os.fsencode(a), os.fsencode(b), 2) == 0
        return system.renameat2(-100, os.fsencode(a), -100, os.fsencode(b), 2) == 0
    except (AttributeError, TypeError):  # Windows, or an old library
        return False
