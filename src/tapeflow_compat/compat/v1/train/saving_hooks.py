"""Hooks that write files: checkpoints and summaries."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tapeflow.core.logger import get_logger
from tapeflow.io.graphs import write_graph
from tapeflow_compat.compat.v1.protos import message
from tapeflow_compat.compat.v1.summary.writers import FileWriterCache
from tapeflow_compat.compat.v1.train.hooks import (
    SecondOrStepTimer,
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
)
from tapeflow_compat.compat.v1.train.meta_graph import export_meta_graph
from tapeflow_compat.compat.v1.train.progress_hooks import step_for
from tapeflow_compat.compat.v1.variables import GraphKeys, get_collection
from tapeflow_compat.default_graph import get_default_graph

if TYPE_CHECKING:
    from tapeflow_compat.compat.v1.session import Session


class CheckpointSaverListener:
    """Base class of listeners to the saving of checkpoints by `CheckpointSaverHook`.

    Example:
        >>> import tempfile
        >>> class Tell(tf.compat.v1.train.CheckpointSaverListener):
        ...     def after_save(self, session, global_step_value):
        ...         print("saved at", global_step_value)
        >>> with tf.Graph().as_default():
        ...     step = tf.compat.v1.train.get_or_create_global_step()
        ...     hook = tf.compat.v1.train.CheckpointSaverHook(
        ...         tempfile.mkdtemp(), save_steps=10, saver=tf.compat.v1.train.Saver(), listeners=[Tell()])
        ...     with tf.compat.v1.train.MonitoredSession(hooks=[hook]) as sess:
        ...         _ = sess.run(step)
        saved at 0
    """

    def begin(self) -> None:
        """Is called once, before the session is created."""

    def before_save(self, session: Session, global_step_value: int) -> None:
        """Is called before a checkpoint is written.

        Args:
            session: the session.
            global_step_value: an int, the step of the checkpoint.
        """

    def after_save(self, session: Session, global_step_value: int) -> bool | None:
        """Is called after a checkpoint was written.

        Args:
            session: the session.
            global_step_value: an int, the step of the checkpoint.

        Returns:
            True to stop the training, False or None to continue.
        """
        return None

    def end(self, session: Any, global_step_value: int) -> None:
        """Is called before the session is closed.

        Args:
            session: the session.
            global_step_value: an int, the last step.
        """


class CheckpointSaverHook(SessionRunHook):
    """Saves checkpoints: when the session begins, every `save_steps` steps or `save_secs` seconds, and at the end.

    Args:
        checkpoint_dir: a path, the folder of the checkpoints. It also gets an event file and the graph, `graph.pbtxt`.
        save_secs: a float, the seconds between two checkpoints; None to count steps.
        save_steps: an int, the steps between two checkpoints; None to count seconds.
        saver: a `Saver`; by default the scaffold's, or the graph's only one.
        checkpoint_basename: a string, the beginning of the checkpoints' names; "model.ckpt" by default.
        scaffold: a `Scaffold`, in place of a saver.
        listeners: a list of `CheckpointSaverListener`s.
        save_graph_def: whether to write the graph; True by default.

    Raises:
        ValueError: there is a saver and a scaffold; or both or neither of steps and seconds.

    Example:
        >>> import tempfile
        >>> folder = tempfile.mkdtemp()
        >>> with tf.Graph().as_default():
        ...     step = tf.compat.v1.train.get_or_create_global_step()
        ...     train = tf.compat.v1.assign_add(step, 1)
        ...     hook = tf.compat.v1.train.CheckpointSaverHook(folder, save_steps=2, saver=tf.compat.v1.train.Saver())
        ...     with tf.compat.v1.train.MonitoredSession(hooks=[hook]) as sess:
        ...         for _ in range(3):
        ...             _ = sess.run(train)
        >>> [path.rpartition("-")[2] for path in
        ...  tf.train.get_checkpoint_state(folder).all_model_checkpoint_paths]
        ['0', '2', '3']
    """

    def __init__(
        self,
        checkpoint_dir: Any,
        save_secs: float | None = None,
        save_steps: int | None = None,
        saver: Any = None,
        checkpoint_basename: str = "model.ckpt",
        scaffold: Any = None,
        listeners: Sequence[CheckpointSaverListener] | None = None,
        save_graph_def: bool = True,
    ) -> None:
        if saver is not None and scaffold is not None:
            raise ValueError("You cannot provide both saver and scaffold.")
        self._saver, self._scaffold = saver, scaffold
        self._directory = os.fspath(checkpoint_dir)
        self._path = os.path.join(self._directory, checkpoint_basename)
        self._timer = SecondOrStepTimer(save_secs, save_steps)
        self._listeners = list(listeners or ())
        self._save_graph_def = save_graph_def

    def begin(self) -> None:
        """Opens the event file, looks up the global step, and calls the listeners.

        Raises:
            RuntimeError: the graph has no global step.
        """
        self._writer = FileWriterCache.get(self._directory)
        self._step = step_for(self)
        for listener in self._listeners:
            listener.begin()

    def after_create_session(self, session: Session, coord: Any) -> None:
        """Writes the graph and the first checkpoint.

        Args:
            session: the session.
            coord: the coordinator, not used.

        Raises:
            RuntimeError: neither a saver nor a scaffold was specified, and the graph has no saver or several.
        """
        step = session.run(self._step)
        graph = get_default_graph()
        if self._save_graph_def:
            write_graph(graph.as_graph_def(add_shapes=True), self._directory, "graph.pbtxt")
        self._writer.add_graph(graph)
        saver_def = self._chosen_saver().as_saver_def()
        self._writer.add_meta_graph(export_meta_graph(graph=graph, saver_def=saver_def, collection_list=[]))
        self._save(session, step)
        self._timer.update_last_triggered_step(step)

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Adds the global step to the fetches of the run.

        Args:
            run_context: the run, not used.

        Returns:
            A `SessionRunArgs`.
        """
        return SessionRunArgs(self._step)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Saves a checkpoint if one is due. Requests a stop if a listener does.

        Args:
            run_context: a `SessionRunContext`, the run.
            run_values: a `SessionRunValues` with the global step.
        """
        step = run_values.results
        if self._timer.should_trigger_for_step(step):
            self._timer.update_last_triggered_step(step)
            if self._save(run_context.session, step):
                run_context.request_stop()

    def end(self, session: Any) -> None:
        """Saves the last checkpoint, unless this step has one, and calls the listeners.

        Args:
            session: the session.
        """
        step = session.run(self._step)
        if step != self._timer.last_triggered_step():
            self._save(session, step)
        for listener in self._listeners:
            listener.end(session, step)

    def _save(self, session: Session, step: int) -> bool:
        """Saves a checkpoint. Returns whether a listener requests a stop."""
        step = int(step)
        for listener in self._listeners:
            listener.before_save(session, step)
        get_logger().info("Saving checkpoints for %d into %s.", step, self._path)
        self._chosen_saver().save(session, self._path, global_step=step, write_meta_graph=self._save_graph_def)
        session_log = message("SessionLog")
        log = session_log(status=session_log.CHECKPOINT, checkpoint_path=self._path)
        self._writer.add_session_log(log, step)
        stop_requests = [listener.after_save(session, step) for listener in self._listeners]
        return any(stop_requests)

    def _chosen_saver(self) -> Any:
        """Returns the saver.

        Raises:
            RuntimeError: there is none, or the graph has several.
        """
        if self._saver is None:
            self._saver = the_only_saver() if self._scaffold is None else self._scaffold.saver
            if self._saver is None:
                raise RuntimeError(
                    f"No items in collection {GraphKeys.SAVERS}. Please add a saver to the collection or provide a "
                    "saver or scaffold."
                )
        return self._saver


def the_only_saver() -> Any:
    """Returns the saver in the graph's collection of savers, or None.

    Raises:
        RuntimeError: there are several.
    """
    savers = get_collection(GraphKeys.SAVERS)
    if len(savers) > 1:
        raise RuntimeError(
            f"More than one item in collection {GraphKeys.SAVERS}. Please indicate which one to use by passing it to "
            "the constructor."
        )
    return savers[0] if savers else None


class SummarySaverHook(SessionRunHook):
    """Writes summaries: with the first run, then every `save_steps` steps or `save_secs` seconds.

    Args:
        save_steps: an int, the steps between two summaries; None to count seconds.
        save_secs: a float, the seconds between two summaries; None to count steps.
        output_dir: a path, the folder for summaries.
        summary_writer: a `FileWriter`, in place of a folder.
        scaffold: a `Scaffold` whose summary is written.
        summary_op: a summary, or a list of them, in place of a scaffold.

    Raises:
        ValueError: both or neither of scaffold and summary, or of steps and seconds, are specified.

    Example:
        >>> import tempfile
        >>> with tf.Graph().as_default():
        ...     step = tf.compat.v1.train.get_or_create_global_step()
        ...     summary = tf.compat.v1.summary.scalar("loss", 0.5)
        ...     hook = tf.compat.v1.train.SummarySaverHook(
        ...         save_steps=10, output_dir=tempfile.mkdtemp(), summary_op=summary)
        ...     with tf.compat.v1.train.MonitoredSession(hooks=[hook]) as sess:
        ...         print(sess.run(step))
        0
    """

    def __init__(
        self,
        save_steps: int | None = None,
        save_secs: float | None = None,
        output_dir: Any = None,
        summary_writer: Any = None,
        scaffold: Any = None,
        summary_op: Any = None,
    ) -> None:
        if (scaffold is None) == (summary_op is None):
            raise ValueError("Exactly one of scaffold or summary_op must be provided.")
        self._scaffold, self._summary_op = scaffold, summary_op
        self._writer, self._output_dir = summary_writer, output_dir
        self._timer = SecondOrStepTimer(save_secs, save_steps)

    def begin(self) -> None:
        """Looks up the global step of the graph, and opens the writer of `output_dir`.

        Raises:
            RuntimeError: the graph has no global step.
        """
        if self._writer is None and self._output_dir:
            self._writer = FileWriterCache.get(self._output_dir)
        self._next_step: int | None = None
        self._step = step_for(self)

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Adds the global step, and the summaries if they are due, to the fetches of the run.

        Args:
            run_context: the run, not used.

        Returns:
            A `SessionRunArgs`.
        """
        self._due = self._next_step is None or self._timer.should_trigger_for_step(self._next_step)
        return SessionRunArgs([self._step, self._summaries() if self._due else []])

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Writes the summaries if they were due.

        Args:
            run_context: the run, not used.
            run_values: a `SessionRunValues` with the global step and the summaries.
        """
        if self._writer is None:
            return
        step, summaries = int(run_values.results[0]), run_values.results[1]
        if self._next_step is None:
            session_log = message("SessionLog")
            self._writer.add_session_log(session_log(status=session_log.START), step)
        if self._due:
            self._timer.update_last_triggered_step(step)
            for summary in summaries:
                self._writer.add_summary(summary, step)
        self._next_step = step + 1

    def end(self, session: Any = None) -> None:
        """Writes the summaries in memory to the file.

        Args:
            session: the session, not used.
        """
        if self._writer is not None:
            self._writer.flush()

    def _summaries(self) -> list[Any]:
        summaries = self._scaffold.summary_op if self._summary_op is None else self._summary_op
        if summaries is None:
            return []
        return list(summaries) if isinstance(summaries, (list, tuple)) else [summaries]
