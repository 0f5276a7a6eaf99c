"""Event files: records of the TFRecord format, which TensorBoard reads.

TensorBoard's own writer would do, but for its checksums, which are computed in Python.
"""

from __future__ import annotations

import itertools
import os
import socket
import time
from typing import Any

from tensorboard.compat.proto import event_pb2

from tapeflow.core.fork_locks import new_lock
from tapeflow.io import gfile
from tapeflow.io.records import frame_record

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
        gfile.makedirs(logdir)
        self._file: gfile.GFile | None = gfile.GFile(self.path, "wb")
        self._max_queue, self._flush_seconds = max_queue, flush_millis / 1000
        self._waiting: list[bytes] = []
        self._flushed = time.monotonic()
        self._lock = new_lock()
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
            file, self._file = self._file, None
            if file is not None:
                with file:
                    self._write_to(file)

    def _write(self) -> None:
        if self._file is not None:
            self._write_to(self._file)

    def _write_to(self, file: gfile.GFile) -> None:
        data = b"".join([frame_record(record) for record in self._waiting])
        self._waiting.clear()
        file.write(data)
        file.flush()
        self._flushed = time.monotonic()
