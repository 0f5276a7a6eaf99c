"""Event files: `tf.compat.v1.summary.FileWriter` writes the summaries of sessions, `summary_iterator` reads them."""

from __future__ import annotations

import os
import time
import warnings
import weakref
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar

from google.protobuf.message import DecodeError, Message

from tapeflow.core import errors
from tapeflow.core.context import state
from tapeflow.core.fork_locks import new_rlock
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.values.tensor import Tensor
from tapeflow.io.records import read_records
from tapeflow.summary.event_file import EventFile
from tapeflow_compat.compat.v1.protos import message
from tapeflow_compat.default_graph import get_default_graph

if TYPE_CHECKING:
    from tapeflow.graph.ir.graph import Graph
    from tapeflow_compat.compat.v1.session import Session


class FileWriter:
    """Writes event files.

    Args:
        logdir: the folder, which is created if it does not exist.
        graph: a graph to write at once.
        max_queue: the number of events that may wait in memory.
        flush_secs: how long, in seconds, an event may wait; looked at whenever one is added.
        graph_def: a `GraphDef` message to write at once.
        filename_suffix: ends the files' names.
        session: accepted, and without effect.

    Raises:
        RuntimeError: no graph is being built. Use `tf.summary` in eager mode.

    Example:
        >>> import tempfile
        >>> with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
        ...     loss = tf.compat.v1.summary.scalar("loss", 0.5)
        ...     with tf.compat.v1.summary.FileWriter(tempfile.mkdtemp(), sess.graph) as writer:
        ...         for step in range(3):
        ...             writer.add_summary(sess.run(loss), step)
    """

    def __init__(
        self,
        logdir: Any,
        graph: Graph | None = None,
        max_queue: int = 10,
        flush_secs: float = 120,
        graph_def: Message | None = None,
        filename_suffix: str | None = None,
        session: Session | None = None,
    ) -> None:
        if state.graph is None:
            raise RuntimeError(
                "tf.summary.FileWriter is not compatible with eager execution: make it while a tf.Graph is the default "
                "one, or use tf.summary.create_file_writer."
            )
        self._logdir = os.fspath(logdir)
        self._settings = max_queue, int(flush_secs * 1000), filename_suffix or ""
        self._described: set[str] = set()  # the tags whose metadata are in the file
        self._open()
        if graph is not None or graph_def is not None:
            self.add_graph(graph, graph_def=graph_def)
            proto = graph.as_graph_def(add_shapes=True) if graph is not None else graph_def
            self.add_meta_graph(message("MetaGraphDef")(graph_def=proto))

    def _open(self) -> None:
        self._file = EventFile(self._logdir, *self._settings)
        self._finalizer = weakref.finalize(self, self._file.close)
        self._closed = False

    def __enter__(self) -> FileWriter:
        return self

    def __exit__(self, *error: Any) -> None:
        self.close()

    def get_logdir(self) -> str:
        """Returns the folder."""
        return self._logdir

    # ---- adding ------------------------------------------------------------------------------------------------------

    def add_event(self, event: Any) -> None:
        """Adds an `Event` message. After `close` that warns and does nothing."""
        if self._closed:
            warnings.warn(
                "Attempting to use a closed FileWriter. The operation will be a noop unless the FileWriter is "
                "explicitly reopened.",
                stacklevel=3,
            )
            return
        self._file.add(event)

    def _add(self, global_step: Any, **content: Any) -> None:
        step = 0 if global_step is None else int(global_step)
        self.add_event(message("Event")(wall_time=time.time(), step=step, **content))

    def add_summary(self, summary: TensorLike, global_step: TensorLike | None = None) -> None:
        """Adds summaries.

        Args:
            summary: a `Summary` message, or a serialized one.
            global_step: the number of the step that they belong to.
        """
        copy = message("Summary")()
        if isinstance(summary, bytes):
            copy.ParseFromString(summary)
        else:
            copy.CopyFrom(summary)
        for value in copy.value:
            if value.HasField("metadata"):  # which readers take from the first summary of a tag
                if value.tag in self._described:
                    value.ClearField("metadata")
                self._described.add(value.tag)
        self._add(global_step, summary=copy)

    def add_session_log(self, session_log: Any, global_step: Any = None) -> None:
        """Adds a `SessionLog` message: that training began, stopped, or wrote a checkpoint."""
        self._add(global_step, session_log=session_log)

    def add_graph(self, graph: Any, global_step: Tensor | None = None, graph_def: Any = None) -> None:
        """Adds a graph for TensorBoard's graph explorer.

        Args:
            graph: a `tf.Graph`.
            global_step: the step that it belongs to.
            graph_def: a `GraphDef` message in place of it.

        Raises:
            ValueError: there are both, or neither.
            TypeError: `graph` is no graph.
        """
        if graph is not None and graph_def is not None:
            raise ValueError("Please pass only graph, or graph_def (deprecated), but not both.")
        if graph is None and graph_def is None:
            raise ValueError("Either graph or graph_def must be specified.")
        if graph is not None:
            if not hasattr(graph, "as_graph_def"):
                raise TypeError(f"The passed graph must be an instance of `Graph`, not {type(graph).__name__}.")
            graph_def = graph.as_graph_def(add_shapes=True)
        self._add(global_step, graph_def=graph_def.SerializeToString())

    def add_meta_graph(self, meta_graph_def: Any, global_step: Tensor | None = None) -> None:
        """Adds a graph with its collections.

        Raises:
            TypeError: it is no `MetaGraphDef` message.
        """
        if not isinstance(meta_graph_def, message("MetaGraphDef")):
            raise TypeError(f"meta_graph_def must be type MetaGraphDef, saw type: {type(meta_graph_def)}")
        self._add(global_step, meta_graph_def=meta_graph_def.SerializeToString())

    def add_run_metadata(self, run_metadata: Message, tag: str, global_step: Tensor | None = None) -> None:
        """Adds the metadata of a run.

        Args:
            run_metadata: a `RunMetadata` message.
            tag: its name, which no other has.
            global_step: the step that it belongs to.

        Raises:
            ValueError: there was something of that tag.
        """
        if tag in self._described:
            raise ValueError("The provided tag was already used for this event type")
        self._described.add(tag)
        tagged = message("TaggedRunMetadata")(tag=tag, run_metadata=run_metadata.SerializeToString())
        self._add(global_step, tagged_run_metadata=tagged)

    # ---- the file ----------------------------------------------------------------------------------------------------

    def flush(self) -> None:
        """Writes the events in memory to the file."""
        if not self._closed:
            self._file.flush()

    def close(self) -> None:
        """Writes the events in memory, and closes the file."""
        self._closed = True
        self._finalizer()

    def reopen(self) -> None:
        """After `close`, goes on with a new file in the same folder; before, does nothing."""
        if self._closed:
            self._open()


class FileWriterCache:
    """The writers of this process, one for each folder.

    Example:
        >>> import tempfile
        >>> folder = tempfile.mkdtemp()
        >>> with tf.Graph().as_default():
        ...     writer = tf.compat.v1.summary.FileWriterCache.get(folder)
        ...     print(tf.compat.v1.summary.FileWriterCache.get(folder) is writer)
        ...     tf.compat.v1.summary.FileWriterCache.clear()
        True
    """

    _writers: ClassVar[dict[str, FileWriter]] = {}
    _lock: ClassVar[Any] = new_rlock()

    @staticmethod
    def get(logdir: str) -> FileWriter:
        """Returns the writer of a folder."""
        with FileWriterCache._lock:
            logdir = os.fspath(logdir)
            if logdir not in FileWriterCache._writers:
                FileWriterCache._writers[logdir] = FileWriter(logdir, graph=get_default_graph())
            return FileWriterCache._writers[logdir]

    @staticmethod
    def clear() -> None:
        """Closes the writers and forgets them."""
        with FileWriterCache._lock:
            for writer in FileWriterCache._writers.values():
                writer.close()
            FileWriterCache._writers.clear()


def summary_iterator(path: str | os.PathLike) -> Iterator[Any]:
    """Returns the `Event` messages of an event file, in order.

    Args:
        path: of the file.

    Raises:
        NotFoundError: there is no such file.
        DataLossError: it is damaged.

    Example:
        >>> import glob, tempfile
        >>> folder = tempfile.mkdtemp()
        >>> with tf.summary.create_file_writer(folder).as_default():
        ...     written = tf.summary.scalar("loss", 0.5, step=7)
        >>> path, = glob.glob(folder + "/*")
        >>> [event.step for event in tf.compat.v1.train.summary_iterator(path) if event.HasField("summary")]
        [7]
    """
    kind = message("Event")
    for record in read_records(path):
        try:
            event = kind.FromString(record)
        except DecodeError as error:
            raise errors.DataLossError.of(f"A record of {os.fspath(path)} is no event: {error}") from None
        yield event
