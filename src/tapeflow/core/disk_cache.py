"""Files that a later process reads instead of computing their contents again: object code, measurements.

A file ends with the hash of its contents, so half a file or a damaged one counts as missing. If the files together
become too large, those that were not used for the longest time are removed.
"""

from __future__ import annotations

import hashlib
import itertools
import os
import pathlib
import tempfile
import time

_HASH_BYTES = hashlib.sha256().digest_size
_MOST_BYTES = 1 << 28  # of all files
_BETWEEN_LOOKS = 64  # writes of a process, after which it looks for old files
_SECONDS_OF_A_DAY = 86400
_writes = itertools.count()


def read(name: str) -> bytes | None:
    """Returns the contents of a file of the cache, or None if it is missing or anyone else could have written it."""
    path = _cache_folder() / name
    try:
        data = path.read_bytes() if _is_private(path.parent) else b""
        if data and time.time() - path.stat().st_mtime > _SECONDS_OF_A_DAY:
            os.utime(path)  # it is in use
    except OSError:
        return None
    contents, check = data[:-_HASH_BYTES], data[-_HASH_BYTES:]
    return contents if hashlib.sha256(contents).digest() == check else None


def write(name: str, contents: bytes) -> None:
    """Writes a file of the cache, beside its place and then in its place. Errors do not change the cache."""
    folder = _cache_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not _is_private(folder):
            return
        with tempfile.NamedTemporaryFile(dir=folder, delete=False) as file:
            file.write(contents + hashlib.sha256(contents).digest())
        os.replace(file.name, folder / name)
        if next(_writes) % _BETWEEN_LOOKS == 0:
            _remove_oldest(folder)
    except OSError:
        return


def _remove_oldest(folder: pathlib.Path) -> None:
    """Removes old files, down to three quarters of the limit, if the files are larger than the limit."""
    with os.scandir(folder) as entries:
        files = sorted([(e.stat().st_mtime_ns, e.stat().st_size, e.path) for e in entries if e.is_file()])
    size = sum(size for _, size, _ in files)
    if size <= _MOST_BYTES:
        return
    for _, bytes_of_file, path in files:
        if size <= _MOST_BYTES * 3 // 4:
            return
        os.unlink(path)
        size -= bytes_of_file


def _cache_folder() -> pathlib.Path:
    """Returns the folder of the cache."""
    base = os.environ.get("TAPEFLOW_CACHE_DIR") or os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return pathlib.Path(os.path.expanduser(base), "tapeflow", "kernels")  # Path.expanduser raises without a home


def _is_private(folder: pathlib.Path) -> bool:
    """Returns True if only this user can write into a folder: code from there is run."""
    if not hasattr(os, "getuid"):
        return True
    status = folder.stat()
    return status.st_uid == os.getuid() and not status.st_mode & 0o022
