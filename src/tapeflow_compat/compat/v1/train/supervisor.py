"""`tf.compat.v1.train.Supervisor`: a session with threads that save checkpoints and summaries."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from tapeflow.core import errors
from tapeflow.core.context import state
from tapeflow.core.logger import get_logger
from tapeflow.core.types.aliases import TensorLike
from tapeflow.io.graphs import write_graph
from tapeflow.train.coordinator import Coordinator
from tapeflow_compat.compat.v1.global_step import get_global_step
from tapeflow_compat.compat.v1.global_step import global_step as step_of
from tapeflow_compat.compat.v1.protos import message
from tapeflow_compat.compat.v1.session import Session
from tapeflow_compat.compat.v1.summary.kinds import merge_all
from tapeflow_compat.compat.v1.summary.writers import FileWriter
from tapeflow_compat.compat.v1.train.looper import LooperThread
from tapeflow_compat.compat.v1.train.meta_graph import export_meta_graph
from tapeflow_compat.compat.v1.train.saver import Saver
from tapeflow_compat.compat.v1.train.scaffold import Scaffold, first_or_new
from tapeflow_compat.compat.v1.train.session_manager import SessionManager
from tapeflow_compat.compat.v1.variables import (
    GraphKeys,
    global_variables,
    global_variables_initializer,
    report_uninitialized_variables,
)
from tapeflow_compat.default_graph import get_default_graph


class Supervisor:
    """Initializes or restores a session; its threads save checkpoints and summaries while a program trains.

    `MonitoredTrainingSession` replaced it. Operations that are not specified are looked up in the graph, or created.

    Args:
        graph: the graph, which is finalized; by default the default graph.
        ready_op, ready_for_local_init_op, local_init_op, init_op, init_feed_dict: see `Scaffold`.
        is_chief: whether this process initializes, restores and saves; otherwise it waits for the chief. True by
            default.
        logdir: a path, the folder of checkpoints and summaries; None for neither.
        summary_op: the summary; by default all summaries of the graph. None for no thread that writes them.
        saver: a `Saver`; by default a new one for all variables.
        global_step: the variable that counts steps; by default the graph's global step.
        save_summaries_secs, save_model_secs: floats, the seconds between two summaries and two checkpoints; 120 and 600
            by default, 0 for never.
        recovery_wait_secs: a float, the seconds between two attempts to find ready variables; 30 by default.
        stop_grace_secs: a float, the seconds that threads may take to stop; 120 by default.
        checkpoint_basename: a string, the beginning of the checkpoints' names; "model.ckpt" by default.
        session_manager: a `SessionManager` that creates the sessions; by default a new one.
        summary_writer: a `FileWriter`; by default one for `logdir`. None for none.
        init_fn: a function that is called with the session after `init_op`.
        local_init_run_options: accepted, and without effect.

    Raises:
        RuntimeError: no graph is being built.

    Example:
        >>> import tempfile
        >>> with tf.Graph().as_default():
        ...     v = tf.Variable(1.0)
        ...     double = tf.compat.v1.assign(v, v * 2.0)
        ...     supervisor = tf.compat.v1.train.Supervisor(logdir=tempfile.mkdtemp())
        ...     with supervisor.managed_session() as sess:
        ...         while not supervisor.should_stop():
        ...             if sess.run(double) > 5.0:
        ...                 supervisor.request_stop()
        ...         print(sess.run(v))
        8.0
    """

    USE_DEFAULT = 0

    def __init__(
        self,
        graph: Any = None,
        ready_op: Any = USE_DEFAULT,
        ready_for_local_init_op: Any = USE_DEFAULT,
        is_chief: bool = True,
        init_op: Any = USE_DEFAULT,
        init_feed_dict: Any = None,
        local_init_op: Any = USE_DEFAULT,
        logdir: str | None = None,
        summary_op: Any = USE_DEFAULT,
        saver: Any = USE_DEFAULT,
        global_step: TensorLike = USE_DEFAULT,
        save_summaries_secs: float | None = 120,
        save_model_secs: float | None = 600,
        recovery_wait_secs: float = 30,
        stop_grace_secs: float = 120,
        checkpoint_basename: str = "model.ckpt",
        session_manager: SessionManager | None = None,
        summary_writer: Any = USE_DEFAULT,
        init_fn: Callable[[Any], Any] | None = None,
        local_init_run_options: Any = None,
    ) -> None:
        if state.graph is None:
            raise RuntimeError("Supervisors are incompatible with eager execution.")
        self._graph = get_default_graph() if graph is None else graph
        self._is_chief, self._init_feed_dict, self._init_fn = is_chief, init_feed_dict, init_fn
        self._coord, self._grace_seconds = Coordinator(), stop_grace_secs
        with self._graph.as_default():
            self._ready_op = _chosen(ready_op, GraphKeys.READY_OP, report_uninitialized_variables)
            self._ready_for_local_init_op = _chosen(
                ready_for_local_init_op, GraphKeys.READY_FOR_LOCAL_INIT_OP, lambda: None
            )
            self._init_op = _chosen(init_op, GraphKeys.INIT_OP, global_variables_initializer)
            self._local_init_op = _chosen(local_init_op, GraphKeys.LOCAL_INIT_OP, Scaffold.default_local_init_op)
            self._saver = _chosen(saver, GraphKeys.SAVERS, lambda: Saver() if global_variables() else None)
            self._summary_op = _chosen(summary_op, GraphKeys.SUMMARY_OP, merge_all)
            self._global_step = _chosen(global_step, GraphKeys.GLOBAL_STEP, get_global_step)
            self._logdir = os.fspath(logdir) if logdir and is_chief else None
            self._writer: Any = None
            if is_chief:
                self._writer = summary_writer
                if summary_writer is Supervisor.USE_DEFAULT:
                    self._writer = FileWriter(self._logdir) if self._logdir else None
        self._save_summaries_secs = save_summaries_secs if is_chief else None
        self._save_model_secs = save_model_secs if is_chief else None
        self._save_path = os.path.join(self._logdir, checkpoint_basename) if self._logdir else None
        self._graph_is_written = False
        self._manager = session_manager or SessionManager(
            local_init_op=self._local_init_op,
            ready_op=self._ready_op,
            ready_for_local_init_op=self._ready_for_local_init_op,
            graph=self._graph,
            recovery_wait_secs=recovery_wait_secs,
        )
        self._graph.finalize()

    # ---- its parts ---------------------------------------------------------------------------------------------------

    @property
    def is_chief(self) -> bool:
        """Is True where it initializes, restores and saves."""
        return self._is_chief

    @property
    def session_manager(self) -> SessionManager:
        """The `SessionManager` that creates the sessions."""
        return self._manager

    @property
    def coord(self) -> Coordinator:
        """The coordinator of its threads."""
        return self._coord

    @property
    def init_op(self) -> Any:
        """The operation that initializes the variables."""
        return self._init_op

    @property
    def init_feed_dict(self) -> Any:
        """The feeds of `init_op`."""
        return self._init_feed_dict

    @property
    def ready_op(self) -> Any:
        """The operation that returns the names of the uninitialized variables."""
        return self._ready_op

    @property
    def ready_for_local_init_op(self) -> Any:
        """The operation that returns the names of the variables that `local_init_op` waits for."""
        return self._ready_for_local_init_op

    @property
    def summary_writer(self) -> Any:
        """The writer of the summaries, or None."""
        return self._writer

    @property
    def summary_op(self) -> Any:
        """The summary, or None."""
        return self._summary_op

    @property
    def save_summaries_secs(self) -> float | None:
        """The seconds between two summaries."""
        return self._save_summaries_secs

    @property
    def global_step(self) -> Any:
        """The global step, or None."""
        return self._global_step

    @property
    def saver(self) -> Any:
        """The `Saver` of the checkpoints, or None."""
        return self._saver

    @property
    def save_model_secs(self) -> float | None:
        """The seconds between two checkpoints."""
        return self._save_model_secs

    @property
    def save_path(self) -> str | None:
        """The checkpoints' name without the step, or None."""
        return self._save_path

    # ---- sessions ----------------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def managed_session(
        self,
        master: str = "",
        config: Any = None,
        start_standard_services: bool = True,
        close_summary_writer: bool = True,
    ) -> Iterator[Session]:
        """Returns a context with a ready session. Leaving the context stops the threads and raises their exceptions.

        Args:
            master, config, start_standard_services: see `prepare_or_wait_for_session`.
            close_summary_writer: whether to close the summary writer, too; True by default.
        """
        sess = None
        try:
            sess = self.prepare_or_wait_for_session(master, config, start_standard_services=start_standard_services)
            yield sess
        except Exception as error:
            self.request_stop(error)
        finally:
            try:
                self.stop(close_summary_writer=close_summary_writer)
            finally:
                if sess is not None:
                    sess.close()

    def prepare_or_wait_for_session(
        self,
        master: str = "",
        config: Any = None,
        wait_for_checkpoint: bool = False,
        max_wait_secs: float = 7200,
        start_standard_services: bool = True,
    ) -> Session:
        """Returns a session that is ready.

        Args:
            master, config: see `Session`.
            wait_for_checkpoint, max_wait_secs: see `SessionManager.prepare_session`.
            start_standard_services: whether to start the threads, too; True by default.
        """
        self._coord.clear_stop()
        if self._writer is not None:
            self._writer.reopen()
        if self._is_chief:
            sess = self._manager.prepare_session(
                master,
                init_op=self._init_op,
                saver=self._saver,
                checkpoint_dir=self._logdir,
                wait_for_checkpoint=wait_for_checkpoint,
                max_wait_secs=max_wait_secs,
                config=config,
                init_feed_dict=self._init_feed_dict,
                init_fn=self._init_fn,
            )
            self._write_graph()
            if start_standard_services:
                self.start_standard_services(sess)
        else:
            sess = self._manager.wait_for_session(master, config, max_wait_secs)
        if start_standard_services:
            self.start_queue_runners(sess)
        return sess

    def _write_graph(self) -> None:
        if self._logdir is not None:
            write_graph(self._graph.as_graph_def(add_shapes=True), self._logdir, "graph.pbtxt")
        if self._writer is not None and not self._graph_is_written:
            self._writer.add_graph(self._graph)
            saver_def = None if self._saver is None else self._saver.as_saver_def()
            self._writer.add_meta_graph(export_meta_graph(graph=self._graph, saver_def=saver_def, collection_list=[]))
            self._graph_is_written = True

    # ---- threads -----------------------------------------------------------------------------------------------------

    def start_standard_services(self, sess: Session) -> list[threading.Thread] | None:
        """Starts the threads that save checkpoints and summaries.

        Args:
            sess: the session that the threads save.

        Returns:
            A list of the threads; None without a `logdir`.

        Raises:
            RuntimeError: the supervisor is not the chief.
        """
        if not self._is_chief:
            raise RuntimeError(
                "Only chief supervisor can start standard services. Because only chief supervisors can write events."
            )
        if self._logdir is None:
            get_logger().warning("Standard services need a 'logdir' passed to the SessionManager")
            return None
        if self._global_step is not None:
            self._log("START", step_of(sess, self._global_step))
        threads = []
        if self._save_summaries_secs and self._writer is not None:
            if self._summary_op is not None:
                threads.append(self.loop(self._save_summaries_secs, self._write_summary, [sess]))
            if self._global_step is not None:
                counter = _StepRate(self._global_step, sess, self._writer)
                threads.append(self.loop(self._save_summaries_secs, counter.write))
        if self._saver is not None and self._save_model_secs:
            threads.append(self.loop(self._save_model_secs, self._save, [sess]))
        return list(threads)

    def _log(self, status: str, step: int | None = None) -> None:
        if self._writer is not None:
            session_log = message("SessionLog")
            path = self._save_path if status == "CHECKPOINT" else None
            self._writer.add_session_log(
                session_log(status=session_log.SessionStatus.Value(status), checkpoint_path=path), step
            )

    def _write_summary(self, sess: Session) -> None:
        if self._global_step is None:
            self._writer.add_summary(sess.run(self._summary_op))
        else:
            self._writer.add_summary(*sess.run([self._summary_op, self._global_step]))

    def _save(self, sess: Session) -> None:
        get_logger().info("Saving checkpoint to path %s", self._save_path)
        self._saver.save(sess, self._save_path, global_step=self._global_step)
        if self._global_step is not None:
            self._log("CHECKPOINT", step_of(sess, self._global_step))

    def start_queue_runners(self, sess: Session, queue_runners: Sequence[Any] | None = None) -> list[threading.Thread]:
        """Starts the threads of queue runners.

        Args:
            sess: the session that fills the queues.
            queue_runners: the queue runners; by default all of the graph.

        Returns:
            A list of the threads.
        """
        if queue_runners is None:
            queue_runners = self._graph.get_collection(GraphKeys.QUEUE_RUNNERS)
        return [t for runner in queue_runners for t in runner.create_threads(sess, self._coord, True, True)]

    def loop(
        self,
        timer_interval_secs: float | None,
        target: Callable[..., Any],
        args: Sequence[Any] | None = None,
        kwargs: Mapping[str, Any] | None = None,
    ) -> LooperThread:
        """Starts a `LooperThread` that the supervisor's coordinator stops.

        Args:
            timer_interval_secs: a float, the seconds between the beginnings of two calls; None for no pause.
            target: the function to call repeatedly.
            args, kwargs: its arguments, a sequence and a dict; none by default.

        Returns:
            The thread.
        """
        return LooperThread.loop(self._coord, timer_interval_secs, target, args, kwargs)

    def stop(self, threads: Any = None, close_summary_writer: bool = True, ignore_live_threads: bool = False) -> None:
        """Stops the threads, and raises their exceptions.

        Args:
            threads: threads to wait for besides its own.
            close_summary_writer: whether to close the summary writer, too; True by default.
            ignore_live_threads: whether threads that do not stop in time raise no error; False by default.
        """
        self._coord.request_stop()
        try:
            self._coord.join(threads, self._grace_seconds, ignore_live_threads)
        finally:
            if close_summary_writer and self._writer is not None:
                self._log("STOP")
                self._writer.close()
                self._graph_is_written = False

    def request_stop(self, ex: Any = None) -> None:
        """Asks the threads to stop, see `tf.train.Coordinator.request_stop`.

        Args:
            ex: an exception to raise in `stop`, or None.
        """
        self._coord.request_stop(ex)

    def should_stop(self) -> bool:
        """Returns True if a stop was requested."""
        return self._coord.should_stop()

    def stop_on_exception(self) -> Any:
        """Returns a context that asks the threads to stop when an exception leaves it."""
        return self._coord.stop_on_exception()

    def wait_for_stop(self) -> None:
        """Waits until a stop is requested."""
        self._coord.wait_for_stop()

    def summary_computed(self, sess: Session, summary: TensorLike, global_step: int | None = None) -> None:
        """Writes a summary that the program has computed.

        Args:
            sess: the session, for the global step.
            summary: a `Summary` message, or a serialized one.
            global_step: an int, the step; by default the session's global step.

        Raises:
            RuntimeError: there is no writer.
        """
        if self._writer is None:
            raise RuntimeError("Writing a summary requires a summary writer.")
        if global_step is None and self._global_step is not None:
            global_step = step_of(sess, self._global_step)
        self._writer.add_summary(summary, global_step)

    PrepareSession = prepare_or_wait_for_session
    StartQueueRunners = start_queue_runners
    StartStandardServices = start_standard_services
    Stop = stop
    RequestStop = request_stop
    Loop = loop
    ShouldStop = should_stop
    StopOnException = stop_on_exception
    WaitForStop = wait_for_stop
    SummaryComputed = summary_computed


class _StepRate:
    """Writes the number of steps per second as a summary."""

    def __init__(self, step: Any, sess: Session, writer: Any) -> None:
        self._step, self._sess, self._writer = step, sess, writer
        self._last, self._time = step_of(sess, step), time.monotonic()

    def write(self) -> None:
        now, step = time.monotonic(), step_of(self._sess, self._step)
        rate = (step - self._last) / max(now - self._time, 1e-9)
        self._last, self._time = step, now
        value = message("Summary").Value(tag=f"{self._step.op.name}/sec", simple_value=rate)
        self._writer.add_summary(message("Summary")(value=[value]), step)


def _chosen(argument: Any, key: str, make: Callable[[], Any]) -> Any:
    """Returns the argument; by default the first item of a collection, or a new one, which is added."""
    if argument is not Supervisor.USE_DEFAULT:
        return argument
    return first_or_new(key, make)


def basic_train_loop(
    supervisor: Supervisor,
    train_step_fn: Callable[..., Any],
    args: Sequence[Any] | None = None,
    kwargs: Mapping[str, Any] | None = None,
    master: str = "",
) -> None:
    """Calls a function with a session until the supervisor asks to stop; goes on in a new session when one is aborted.

    Args:
        supervisor: the supervisor.
        train_step_fn: a function of the session and `args` and `kwargs`, called in a loop.
        args, kwargs: further arguments of `train_step_fn`, a sequence and a dict.
        master: see `Session`.

    Example:
        >>> with tf.Graph().as_default():
        ...     v = tf.Variable(0)
        ...     count = tf.compat.v1.assign_add(v, 1)
        ...     supervisor = tf.compat.v1.train.Supervisor()
        ...     def train_step(sess, last):
        ...         if sess.run(count) == last:
        ...             supervisor.request_stop()
        ...             print("done")
        ...     tf.compat.v1.train.basic_train_loop(supervisor, train_step, args=[3])
        done
    """
    while True:
        try:
            with supervisor.managed_session(master) as sess:
                while not supervisor.should_stop():
                    train_step_fn(sess, *(args or ()), **(kwargs or {}))
            return
        except errors.AbortedError:
            continue
