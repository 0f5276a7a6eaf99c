"""Summary writers."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from tapeflow.core.ops.convert import convert
from tapeflow.core.scopes import executing_eagerly, init_scope
from tapeflow.core.types.dtypes import int32, string
from tapeflow.core.values.tensor import EagerTensor
from tapeflow.summary.recording import recording


class SummaryWriter:
    """What summaries go to. `tf.summary.create_file_writer` makes one that writes an event file.

    Example:
        >>> import tempfile
        >>> writer = tf.summary.create_file_writer(tempfile.mkdtemp())
        >>> isinstance(writer, tf.summary.SummaryWriter)
        True
    """

    def set_as_default(self, step: Any = None) -> None:
        """Makes it the default writer of this thread.

        Args:
            step: becomes the default step, unless it is None.
        """
        recording.writer = self
        if step is not None:
            recording.step = step

    def as_default(self, step: Any = None) -> AbstractContextManager[Any]:
        """A scope in which it is the default writer; it is flushed at the end.

        Args:
            step: the default step in the scope, unless it is None.
        """
        return self._scope(step)

    @contextmanager
    def _scope(self, step: Any) -> Iterator[Any]:
        writer, recording.writer = recording.writer, self
        if step is not None:
            step, recording.step = recording.step, step
            restore = True
        else:
            restore = False
        try:
            yield self
        finally:
            self.flush()
            recording.writer = writer
            if restore:
                recording.step = step

    def init(self) -> None:
        """Makes the writer ready to write."""
        raise NotImplementedError()

    def flush(self) -> None:
        """Writes what waits in memory."""
        raise NotImplementedError()

    def close(self) -> None:
        """Flushes, and closes the writer for good."""
        raise NotImplementedError()


class FileWriter(SummaryWriter):
    """The writer of an event file. It is closed when nobody holds it any more, or the process ends."""

    def __init__(self, logdir: str, max_queue: int, flush_millis: int, suffix: str) -> None:
        from tapeflow.summary.event_file import EventFile

        self._file = EventFile(logdir, max_queue, flush_millis, suffix)
        self._finalizer = weakref.finalize(self, self._file.close)
        self._closed = False

    def add(self, event: Any) -> None:
        """Adds an `Event` message."""
        self._check_open()
        self._file.add(event)

    def _check_open(self) -> None:
        if self._closed:
            raise RuntimeError(f"SummaryWriter {self!r} is already closed")

    def set_as_default(self, step: Any = None) -> None:
        """Makes it the default writer of this thread, with a default step unless that is None.

        Raises:
            RuntimeError: it is closed.
        """
        self._check_open()
        super().set_as_default(step)

    def as_default(self, step: Any = None) -> AbstractContextManager[Any]:
        """A scope in which it is the default writer, with a default step unless that is None.

        Raises:
            RuntimeError: it is closed.
        """
        self._check_open()
        return super().as_default(step)

    def init(self) -> None:
        """Does nothing: the file is there already.

        Raises:
            RuntimeError: it is closed.
        """
        self._check_open()

    def flush(self) -> None:
        """Writes what waits in memory, when the program comes by here."""
        if executing_eagerly():
            if not self._closed:
                self._file.flush()
        else:
            _in_graph("FlushSummaryWriter", self._file.flush)

    def close(self) -> None:
        """Flushes, and closes the file for good."""
        if executing_eagerly():
            self._closed = True
            self._finalizer()
        else:
            _in_graph("CloseSummaryWriter", self._file.close)


def _in_graph(name: str, function: Any) -> None:
    from tapeflow.graph.ir.python_op import python_op

    python_op(name, function, [])


class NoopWriter(SummaryWriter):
    """A writer that never becomes the default, and does nothing."""

    def set_as_default(self, step: Any = None) -> None:
        """Does nothing."""

    @contextmanager
    def _scope(self, step: Any) -> Iterator[None]:
        yield

    def init(self) -> None:
        """Does nothing."""

    def flush(self) -> None:
        """Does nothing."""

    def close(self) -> None:
        """Does nothing."""


def create_file_writer(
    logdir: Any,
    max_queue: Any = None,
    flush_millis: Any = None,
    filename_suffix: Any = None,
    name: str | None = None,
    experimental_trackable: bool = False,
    experimental_mesh: Any = None,
) -> SummaryWriter:
    """A writer of a new event file.

    Args:
        logdir: the folder for the file; made where it is missing.
        max_queue: how many summaries may wait in memory; 10 by default.
        flush_millis: how long they may wait; 120,000 by default.
        filename_suffix: ends the file's name; ".v2" by default.
        name: accepted, and without effect.
        experimental_trackable: accepted: a writer is no part of a checkpoint or SavedModel here.
        experimental_mesh: accepted: tensors of several devices are gathered anyway.

    Raises:
        ValueError: there is no `logdir`, or an argument is a tensor of a graph.
        NotFoundError, PermissionDeniedError: the folder can't be made.

    Example:
        >>> import tempfile
        >>> writer = tf.summary.create_file_writer(tempfile.mkdtemp())
        >>> with writer.as_default():
        ...     for step in range(3):
        ...         written = tf.summary.scalar("loss", 1.0 / (step + 1), step=step)
        >>> writer.close()
    """
    if logdir is None:
        raise ValueError("Argument `logdir` cannot be None")
    with init_scope():
        return FileWriter(
            _known("logdir", logdir, string).decode(),
            _known("max_queue", 10 if max_queue is None else max_queue, int32),
            _known("flush_millis", 120_000 if flush_millis is None else flush_millis, int32),
            _known("filename_suffix", ".v2" if filename_suffix is None else filename_suffix, string).decode(),
        )


def _known(argument: str, value: Any, dtype: Any) -> Any:
    tensor = convert(str(value) if hasattr(value, "__fspath__") else value, dtype)
    if not isinstance(tensor, EagerTensor):
        raise ValueError(
            f"Invalid graph Tensor argument '{argument}={value}' to create_file_writer(): the file is made while the "
            "function is traced, when the tensor has no value yet."
        )
    return tensor.numpy()


def create_noop_writer() -> SummaryWriter:
    """A writer that does nothing, for code that needs one.

    Example:
        >>> with tf.summary.create_noop_writer().as_default():
        ...     tf.summary.scalar("loss", 1.0, step=0).numpy().item()
        False
    """
    return NoopWriter()


def flush(writer: Any = None, name: str | None = None) -> None:
    """Writes what waits in a writer's memory.

    Args:
        writer: by default the default writer; without one, nothing happens.
        name: ignored.

    Raises:
        ValueError: `writer` is something else.

    Example:
        >>> tf.summary.flush()
    """
    if writer is None:
        writer = recording.writer
        if writer is None:
            return
    if not isinstance(writer, SummaryWriter):
        raise ValueError(f"Invalid argument to flush(): {writer!r}")
    writer.flush()
