"""The file `checkpoint` of a directory, which lists its checkpoints: `CheckpointState` in text form."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from google.protobuf import text_format
from google.protobuf.message import Message

from tapeflow.core.logger import get_logger
from tapeflow.core.protos import CheckpointState
from tapeflow.io.atomic_replace import write_file
from tapeflow.train.bundle import first_version_files


def _state_file(directory: Any, latest_filename: str | None) -> str:
    return os.path.join(os.fspath(directory), latest_filename or "checkpoint")


def checkpoint_exists(prefix: str) -> bool:
    """Returns True if there is a checkpoint of that name."""
    return os.path.exists(f"{prefix}.index") or bool(first_version_files(prefix))


def get_checkpoint_state(checkpoint_dir: str | os.PathLike[str], latest_filename: str | None = None) -> Message | None:
    """Reads a directory's `checkpoint` file, and joins its paths with the directory.

    Args:
        checkpoint_dir: the directory.
        latest_filename: the name of the file; "checkpoint" by default.

    Returns:
        A `CheckpointState` message, or None if there is no such file or it can't be parsed.

    Raises:
        TypeError: `checkpoint_dir` is not a path.

    Example:
        >>> import tempfile
        >>> directory = tempfile.mkdtemp()
        >>> manager = tf.train.CheckpointManager(tf.train.Checkpoint(v=tf.Variable(1.0)), directory, max_to_keep=2)
        >>> path = manager.save()
        >>> tf.train.get_checkpoint_state(directory).model_checkpoint_path == path
        True
    """
    path = _state_file(checkpoint_dir, latest_filename)
    try:
        with open(path, encoding="utf-8") as file:
            state = text_format.Parse(file.read(), CheckpointState())
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (text_format.ParseError, ValueError, OSError) as error:
        get_logger().warning("%s: Checkpoint ignored: %s", path, error)
        return None
    if not state.model_checkpoint_path:
        return None
    directory = os.fspath(checkpoint_dir)
    state.model_checkpoint_path = os.path.join(directory, state.model_checkpoint_path)
    state.all_model_checkpoint_paths[:] = [os.path.join(directory, p) for p in state.all_model_checkpoint_paths]
    return state


def update_checkpoint_state(
    directory: str | os.PathLike[str],
    latest: str,
    paths: Sequence[str] = (),
    timestamps: Sequence[float] = (),
    last_preserved: float | None = None,
    latest_filename: str | None = None,
) -> None:
    """Writes a directory's `checkpoint` file. Paths in the directory are written relative to it."""
    directory = os.fspath(directory)
    paths = list(paths)
    if not paths or paths[-1] != latest:
        paths.append(latest)

    def relative(path: str) -> str:
        return os.path.relpath(path, directory or ".") if not os.path.isabs(path) or os.path.isabs(directory) else path

    state = CheckpointState(
        model_checkpoint_path=relative(latest),
        all_model_checkpoint_paths=map(relative, paths),
        all_model_checkpoint_timestamps=timestamps,
    )
    if last_preserved is not None:
        state.last_preserved_timestamp = last_preserved
    write_file(_state_file(directory, latest_filename), text_format.MessageToString(state).encode())


def latest_checkpoint(checkpoint_dir: str | os.PathLike[str], latest_filename: str | None = None) -> str | None:
    """Returns the name of the latest checkpoint in a directory.

    Args:
        checkpoint_dir: the directory.
        latest_filename: the name of the file that lists the checkpoints; "checkpoint" by default.

    Returns:
        The name, or None if there is no checkpoint.

    Raises:
        TypeError: `checkpoint_dir` is not a path.

    Example:
        >>> import tempfile
        >>> directory = tempfile.mkdtemp()
        >>> manager = tf.train.CheckpointManager(tf.train.Checkpoint(v=tf.Variable(1.0)), directory, max_to_keep=2)
        >>> path = manager.save()
        >>> tf.train.latest_checkpoint(directory) == path
        True
    """
    state: Any = get_checkpoint_state(checkpoint_dir, latest_filename)
    if state is None:
        return None
    if checkpoint_exists(state.model_checkpoint_path):
        return state.model_checkpoint_path
    get_logger().error("Couldn't match files for checkpoint %s", state.model_checkpoint_path)
    return None


def checkpoints_iterator(
    checkpoint_dir: str | os.PathLike[str],
    min_interval_secs: float = 0,
    timeout: float | None = None,
    timeout_fn: Callable[[], bool] | None = None,
) -> Iterator[str]:
    """Yields the name of each new latest checkpoint in a directory, and waits for the next.

    Args:
        checkpoint_dir: the directory.
        min_interval_secs: a float, the least time between two; 0 by default.
        timeout: how many seconds to wait for one; None waits for ever.
        timeout_fn: called when none came in time: ends if it returns True; without it, ends then.

    Returns:
        An iterator over names.

    Raises:
        TypeError: `checkpoint_dir` is not a path.

    Example:
        >>> import tempfile
        >>> directory = tempfile.mkdtemp()
        >>> manager = tf.train.CheckpointManager(tf.train.Checkpoint(v=tf.Variable(1.0)), directory, max_to_keep=2)
        >>> path = manager.save()
        >>> list(tf.train.checkpoints_iterator(directory, timeout=0)) == [path]
        True
    """
    last = None
    while True:
        deadline = None if timeout is None else time.monotonic() + timeout
        while (latest := latest_checkpoint(checkpoint_dir)) is None or latest == last:
            if deadline is not None and time.monotonic() + 1 > deadline:
                latest = None
                break
            time.sleep(1)
        if latest is None:
            if timeout_fn is None or timeout_fn():
                return
            continue
        started, last = time.monotonic(), latest
        yield latest
        time.sleep(max(0.0, started + min_interval_secs - time.monotonic()))
