"""Files that a later process reads instead of computing their contents again: object code, measurements.

A file ends with the hash of its contents, so half a file or a damaged one counts as missing.
"""

from __future__ import annotations

import hashlib
import os
import pathlib
import tempfile

_HASH_BYTES = hashlib.sha256().digest_size


def read(name: str) -> bytes | None:
    """Returns the contents of a file of the cache, or None if it is missing or anyone else could have written it."""
    folder = _folder()
    try:
        data = (folder / name).read_bytes() if _is_private(folder) else b""
    except OSError:
        return None
    contents, check = data[:-_HASH_BYTES], data[-_HASH_BYTES:]
    return contents if hashlib.sha256(contents).digest() == check else None


def write(name: str, contents: bytes) -> None:
    """Writes a file of the cache, beside its place and then in its place. Errors do not change the cache."""
    folder = _folder()
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not _is_private(folder):
            return
        with tempfile.NamedTemporaryFile(dir=folder, delete=False) as file:
            file.write(contents + hashlib.sha256(contents).digest())
        os.replace(file.name, folder / name)
    except OSError:
        return


def _folder() -> pathlib.Path:
    """Returns the folder of the cache."""
    base = os.environ.get("TAPEFLOW_CACHE_DIR") or os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return pathlib.Path(os.path.expanduser(base), "tapeflow", "kernels")  # Path.expanduser raises without a home


def _is_private(folder: pathlib.Path) -> bool:
    """Returns True if only this user can write into a folder: code from there is run."""
    if not hasattr(os, "getuid"):
        return True
    status = folder.stat()
    return status.st_uid == os.getuid() and not status.st_mode & 0o022
