"""Summary writers."""

from __future__ import annotations

import os
import weakref
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from tapeflow.core.context import override
from tapeflow.core.ops.convert import convert
from tapeflow.core.scopes import executing_eagerly, init_scope
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.dtypes import int32, string
from tapeflow.core.values.tensor import EagerTensor
from tapeflow.graph.ir.python_op import python_op
from tapeflow.summary.event_file import EventFile
from tapeflow.summary.summary_state import recording


class SummaryWriter:
    """A destination of summaries. `tf.summary.create_file_writer` creates one that writes an event file.

    Example:
        >>> import tempfile
        >>> writer = tf.summary.create_file_writer(tempfile.mkdtemp())
        >>> isinstance(writer, tf.summary.SummaryWriter)
        True
    """

    def set_as_default(self, step: TensorLike | None = None) -> None:
        """Sets it as the default writer of this thread.

        Args:
            step: becomes the default step, unless it is None.
        """
        recording.writer = self
        if step is not None:
            recording.step = step

    def as_default(self, step: TensorLike | None = None) -> AbstractContextManager[Any]:
        """Sets it as the default writer in a scope, and flushes it at the end.

        Args:
            step: the default step in the scope, unless it is None.

        Returns:
            A context manager.
        """
        return self._scope(step)

    @contextmanager
    def _scope(self, step: Any) -> Iterator[Any]:
        values = {"writer": self} if step is None else {"writer": self, "step": step}
        with override(recording, **values):
            try:
                yield self
            finally:
                self.flush()

    def init(self) -> None:
        """Prepares the writer for writing."""
        raise NotImplementedError()

    def flush(self) -> None:
        """Writes the summaries in memory."""
        raise NotImplementedError()

    def close(self) -> None:
        """Flushes, and closes the writer for good."""
        raise NotImplementedError()


class FileWriter(SummaryWriter):
    """The writer of an event file. It is closed when nobody holds it any more, or the process ends."""

    def __init__(self, logdir: str, max_queue: int, flush_millis: int, suffix: str) -> None:

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

    def set_as_default(self, step: TensorLike | None = None) -> None:
        """Sets it as the default writer of this thread, with a default step unless that is None.

        Raises:
            RuntimeError: it is closed.
        """
        self._check_open()
        super().set_as_default(step)

    def as_default(self, step: TensorLike | None = None) -> AbstractContextManager[Any]:
        """Sets it as the default writer in a scope, with a default step unless that is None.

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
        """Writes the summaries in memory; in a graph, when it runs."""
        if executing_eagerly():
            if not self._closed:
                self._file.flush()
        else:
            python_op("FlushSummaryWriter", self._file.flush, [])

    def close(self) -> None:
        """Flushes, and closes the file for good."""
        if executing_eagerly():
            self._closed = True
            self._finalizer()
        else:
            python_op("CloseSummaryWriter", self._file.close, [])


class NoopWriter(SummaryWriter):
    """A writer that never becomes the default, and does nothing."""

    def set_as_default(self, step: TensorLike | None = None) -> None:
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
    logdir: TensorLike | os.PathLike[str],
    max_queue: TensorLike | None = None,
    flush_millis: TensorLike | None = None,
    filename_suffix: TensorLike | None = None,
    name: str | None = None,
    experimental_trackable: bool = False,
    experimental_mesh: object = None,
) -> SummaryWriter:
    """Returns a writer of a new event file.

    Args:
        logdir: the folder for the file; created if it is missing.
        max_queue: how many summaries may wait in memory; 10 by default.
        flush_millis: how long they may wait; 120,000 by default.
        filename_suffix: the end of the file's name; ".v2" by default.
        name: accepted, and has no effect.
        experimental_trackable: accepted: a writer is no part of a checkpoint or SavedModel here.
        experimental_mesh: accepted: tensors of several devices are gathered anyway.

    Returns:
        A `tf.summary.SummaryWriter`.

    Raises:
        ValueError: there is no `logdir`, or an argument is a tensor of a graph.
        NotFoundError, PermissionDeniedError: the folder can't be created.

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
            _as_value("logdir", logdir, string).decode(),
            _as_value("max_queue", 10 if max_queue is None else max_queue, int32),
            _as_value("flush_millis", 120_000 if flush_millis is None else flush_millis, int32),
            _as_value("filename_suffix", ".v2" if filename_suffix is None else filename_suffix, string).decode(),
        )


def _as_value(argument: str, value: Any, dtype: Any) -> Any:
    tensor = convert(str(value) if hasattr(value, "__fspath__") else value, dtype)
    if not isinstance(tensor, EagerTensor):
        raise ValueError(
            f"Invalid graph Tensor argument '{argument}={value}' to create_file_writer(): the file is created while "
            "the function is traced, when the tensor has no value yet."
        )
    return tensor.numpy()


def create_noop_writer() -> SummaryWriter:
    """Returns a writer that does nothing, for code that needs one.

    Returns:
        A `tf.summary.SummaryWriter`.

    Example:
        >>> with tf.summary.create_noop_writer().as_default():
        ...     tf.summary.scalar("loss", 1.0, step=0).numpy().item()
        False
    """
    return NoopWriter()


def flush(writer: SummaryWriter | None = None, name: str | None = None) -> None:
    """Writes the summaries in a writer's memory.

    Args:
        writer: by default the default writer; without one, nothing happens.
        name: accepted, and has no effect.

    Raises:
        ValueError: `writer` is no writer.

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
