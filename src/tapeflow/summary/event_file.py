"""Event files: records of the TFRecord format, which TensorBoard reads.

TensorBoard's own writer would do, but for its checksums, which are computed in Python.
"""

from __future__ import annotations

import itertools
import os
import socket
import threading
import time
from typing import Any

from tensorboard.compat.proto import event_pb2

from tapeflow.core import errors
from tapeflow.io.records import framed

_next_number = itertools.count().__next__


class EventFile:
    """A file of `Event` messages, which any thread may add to.

    Args:
        logdir: the folder, which is created if it is missing.
        max_queue: how many events may wait in memory.
        flush_millis: how long an event may wait, checked whenever one is added.
        suffix: the end of the file's name.

    Raises:
        NotFoundError, PermissionDeniedError, ...: the folder or the file can't be created.
    """

    def __init__(self, logdir: str, max_queue: int, flush_millis: int, suffix: str) -> None:
        name = (
            f"events.out.tfevents.{int(time.time()):010d}.{socket.gethostname()}.{os.getpid()}.{_next_number()}{suffix}"
        )
        self.path = os.path.join(logdir, name)
        try:
            os.makedirs(logdir, exist_ok=True)
            self._file = open(self.path, "wb")  # noqa: SIM115 (closed by `close`)
        except OSError as error:
            raise _tensorflow_error(error) from None
        self._max_queue, self._flush_seconds = max_queue, flush_millis / 1000
        self._waiting: list[bytes] = []
        self._flushed = time.monotonic()
        self._lock = threading.Lock()
        source = event_pb2.SourceMetadata(writer="tapeflow.summary")
        self.add(event_pb2.Event(wall_time=time.time(), file_version="brain.Event:2", source_metadata=source))
        self.flush()

    def add(self, event: Any) -> None:
        """Adds an event."""
        record = event.SerializeToString()
        with self._lock:
            self._waiting.append(record)
            if len(self._waiting) > self._max_queue or time.monotonic() - self._flushed > self._flush_seconds:
                self._write()

    def flush(self) -> None:
        """Writes the events in memory."""
        with self._lock:
            self._write()

    def close(self) -> None:
        """Writes the events in memory, and closes the file. Closing it again does nothing."""
        with self._lock:
            if not self._file.closed:
                self._write()
                self._file.close()

    def _write(self) -> None:
        for record in self._waiting:
            self._file.write(framed(record))
        self._waiting.clear()
        self._file.flush()
        self._flushed = time.monotonic()


def _tensorflow_error(error: OSError) -> errors.OpError:
    kinds: dict[type[OSError], Any] = {
        FileNotFoundError: errors.NotFoundError,
        PermissionError: errors.PermissionDeniedError,
        FileExistsError: errors.FailedPreconditionError,
        NotADirectoryError: errors.FailedPreconditionError,
    }
    kind = kinds.get(type(error), errors.UnknownError)
    return kind(None, None, f"{error.filename}; {error.strerror} [Op:CreateSummaryFileWriter] name: ")
