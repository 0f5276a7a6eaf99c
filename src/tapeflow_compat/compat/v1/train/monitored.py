"""Monitored sessions: they initialize, restore and save by themselves, call hooks, and know when to stop."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tapeflow.core import errors
from tapeflow.core.logger import get_logger
from tapeflow.train.coordinator import Coordinator
from tapeflow_compat.compat.v1.protos import message
from tapeflow_compat.compat.v1.session import Session
from tapeflow_compat.compat.v1.train.hooks import SessionRunArgs, SessionRunContext, SessionRunHook, SessionRunValues
from tapeflow_compat.compat.v1.train.progress_hooks import StepCounterHook
from tapeflow_compat.compat.v1.train.queue_runner import start_queue_runners
from tapeflow_compat.compat.v1.train.saving_hooks import CheckpointSaverHook, SummarySaverHook
from tapeflow_compat.compat.v1.train.scaffold import Scaffold
from tapeflow_compat.compat.v1.train.session_creators import ChiefSessionCreator, SessionCreator, WorkerSessionCreator
from tapeflow_compat.compat.v1.variables import GraphKeys, get_collection
from tapeflow_compat.default_graph import get_default_graph

if TYPE_CHECKING:
    from google.protobuf.message import Message

# After these a training goes on in a new session.
_PREEMPTIONS = (errors.AbortedError, errors.UnavailableError)


class StepContext:
    """The interface to a session for a function that `run_step_fn` calls."""

    def __init__(self, session: Session, run_with_hooks: Callable[..., Any]) -> None:
        self._session = session
        self._run_with_hooks = run_with_hooks

    @property
    def session(self) -> Session:
        """The session, which has no hooks."""
        return self._session

    def run_with_hooks(self, *args: Any, **kwargs: Any) -> Any:
        """Runs the session with its hooks, as `MonitoredSession.run`."""
        return self._run_with_hooks(*args, **kwargs)

    def request_stop(self) -> None:
        """Ends the training: raises StopIteration, which `with` statements of monitored sessions take."""
        raise StopIteration("step_fn has requested the iterations to stop.")


class _Attempt:
    """A session with its hooks and the coordinator of its threads, until it is closed or was preempted."""

    def __init__(self, session: Session, hooks: Sequence[SessionRunHook], grace_seconds: float) -> None:
        self.session = session
        self.coordinator = Coordinator(clean_stop_exception_types=())
        self._hooks, self._grace_seconds = hooks, grace_seconds
        self._stop = False
        if get_collection(GraphKeys.QUEUE_RUNNERS):
            start_queue_runners(session, self.coordinator)
        for hook in hooks:
            hook.after_create_session(session, self.coordinator)

    def should_stop(self) -> bool:
        """Returns True if a hook or a thread requested a stop.

        Raises:
            Exception: the exception of a thread that requested a stop with one.
        """
        self.coordinator.raise_requested_exception()
        return self._stop or self.coordinator.should_stop()

    def close(self) -> None:
        """Stops the threads and closes the session.

        Raises:
            Exception: the exception of a thread that requested a stop with one.
        """
        self.coordinator.request_stop()
        try:
            self.coordinator.join(stop_grace_period_secs=self._grace_seconds, ignore_live_threads=True)
        finally:
            self.session.close()

    def run(self, fetches: Any, feed_dict: Any, options: Any, run_metadata: Message) -> Any:
        """Runs the session and the hooks around it.

        Raises:
            Exception: the exception of a hook, of the session or, before the run, of a thread.
        """
        try:
            return self._run(fetches, feed_dict, options, run_metadata)
        except _PREEMPTIONS:
            raise
        except Exception as error:
            try:
                self.coordinator.raise_requested_exception()
            except _PREEMPTIONS:
                raise
            except Exception:
                raise error from None
            raise

    def _run(self, fetches: Any, feed_dict: Any, options: Any, run_metadata: Message) -> Any:
        if self._stop:
            raise RuntimeError("Run called even after should_stop requested.")
        options = message("RunOptions")() if options is None else options
        run_metadata = message("RunMetadata")() if run_metadata is None else run_metadata
        context = SessionRunContext(SessionRunArgs(fetches, feed_dict), self.session)
        requests = [hook.before_run(context) or SessionRunArgs(None) for hook in self._hooks]
        for request in requests:
            if request.options is not None:
                _merge_options(options, request.options)
        more = [request.fetches for request in requests if request.fetches is not None]
        feeds = _merged_feeds(feed_dict, [request.feed_dict for request in requests if request.feed_dict])
        values, hook_values = self.session.run([fetches, more], feeds, options, run_metadata)
        results = iter(hook_values)
        for hook, request in zip(self._hooks, requests, strict=True):
            result = None if request.fetches is None else next(results)
            hook.after_run(context, SessionRunValues(result, options, run_metadata))
        self._stop = self._stop or context.stop_requested
        return values


def _merged_feeds(feed_dict: Any, feeds_of_hooks: Sequence[Mapping[Any, Any]]) -> Any:
    """Merges the feeds of a run and the feeds of its hooks.

    Raises:
        RuntimeError: something is fed twice.
    """
    hook_feeds: dict[Any, Any] = {}
    for feeds in feeds_of_hooks:
        _check_apart(hook_feeds, feeds, "Same tensor is fed by two hooks.")
        hook_feeds.update(feeds)
    if not hook_feeds or not feed_dict:
        return hook_feeds or feed_dict
    _check_apart(feed_dict, hook_feeds, "Same tensor is fed by a SessionRunHook and user.")
    return {**hook_feeds, **feed_dict}


def _check_apart(one: Mapping[Any, Any], other: Mapping[Any, Any], message: str) -> None:
    common = set(one) & set(other)
    if common:
        raise RuntimeError(f"{message} Conflict(s): {list(common)}")


def _merge_options(options: Any, more: Any) -> None:
    """Merges the run options of a hook into the options of the run."""
    maxima = {
        name: max(getattr(options, name), getattr(more, name))
        for name in ("trace_level", "timeout_in_ms", "inter_op_thread_pool")
    }
    options.MergeFrom(more)
    for name, value in maxima.items():
        setattr(options, name, value)


class _MonitoredSession:
    """Base class of the two kinds of monitored sessions."""

    _recovers: bool  # goes on in a new session after a preemption
    StepContext = StepContext

    def __init__(
        self, session_creator: SessionCreator | None, hooks: Sequence[SessionRunHook] | None, grace_seconds: float
    ) -> None:
        self._was_finalized = get_default_graph().finalized
        self._hooks = list(hooks or ())
        for hook in self._hooks:
            hook.begin()
        self._creator = ChiefSessionCreator() if session_creator is None else session_creator
        self._grace_seconds = grace_seconds
        self._attempt: _Attempt | None = self._new_attempt()
        self._closed = False

    def _new_attempt(self) -> _Attempt:
        while True:
            try:
                return _Attempt(self._creator.create_session(), self._hooks, self._grace_seconds)
            except _PREEMPTIONS as error:
                if not self._recovers:
                    raise
                get_logger().info("A session could not be created; trying again: %s", error)

    @property
    def graph(self) -> Any:
        """The graph, or None for a session that is closed."""
        return None if self._attempt is None else self._attempt.session.graph

    def run(self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Message | None = None) -> Any:
        """Runs the session and its hooks, see `tf.compat.v1.Session.run`.

        Args:
            fetches, feed_dict: see `tf.compat.v1.Session.run`.
            options: a `RunOptions` message, for hooks.
            run_metadata: a `RunMetadata` message, for hooks.

        Raises:
            RuntimeError: it is closed, or a hook requested a stop before.
        """
        return self._with_recovery(lambda attempt: attempt.run(fetches, feed_dict, options, run_metadata))

    def run_step_fn(self, step_fn: Callable[..., Any]) -> Any:
        """Calls a function with a `StepContext`, whose methods run the session with and without hooks.

        Args:
            step_fn: a function with one argument, named `step_context`.

        Returns:
            What it gave.

        Raises:
            ValueError: it takes other arguments.
            StopIteration: it requested a stop.

        Example:
            >>> with tf.Graph().as_default():
            ...     x = tf.constant(2.0)
            ...     with tf.compat.v1.train.MonitoredSession() as sess:
            ...         print(sess.run_step_fn(lambda step_context: step_context.session.run(x)))
            2.0
        """
        names = [name for name in inspect.signature(step_fn).parameters if name != "self"]
        if names != ["step_context"]:
            raise ValueError(
                "`step_fn` may either have one `step_context` argument, or `self` and `step_context` arguments if it's "
                f"an instance method. Got {names} instead."
            )

        def call(attempt: _Attempt) -> Any:
            def run(
                fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Message | None = None
            ) -> Any:
                return attempt.run(fetches, feed_dict, options, run_metadata)

            return step_fn(StepContext(attempt.session, run))

        return self._with_recovery(call)

    def _with_recovery(self, function: Callable[[_Attempt], Any]) -> Any:
        """Calls a function with the session; again with a new one if that was preempted."""
        if self._closed:
            raise RuntimeError("Attempted to use a closed Session.")
        while True:
            if self._attempt is None:
                self._attempt = self._new_attempt()
            try:
                return function(self._attempt)
            except _PREEMPTIONS as error:
                if not self._recovers:
                    raise
                self._handle_preemption(error)

    def _handle_preemption(self, error: Exception) -> None:
        get_logger().info("A session was preempted, and another one will go on: %s", error)
        attempt, self._attempt = self._attempt, None
        if attempt is not None:
            with contextlib.suppress(*_PREEMPTIONS):
                attempt.close()

    def should_stop(self) -> bool:
        """Returns True if a hook or a thread requested a stop, or the session is closed."""
        if self._attempt is None:
            return True
        try:
            return self._attempt.should_stop()
        except _PREEMPTIONS as error:
            if not self._recovers:
                raise
            self._handle_preemption(error)
            self._attempt = self._new_attempt()
            return False
        except Exception:
            if not self._recovers:
                raise
            return True

    def close(self) -> None:
        """Calls the hooks' `end`, stops the threads and closes the session.

        Raises:
            RuntimeError: it is closed.
            Exception: the exception of a thread that requested a stop with one.
        """
        self._close(failed=False)

    def _close(self, failed: bool) -> None:
        try:
            if not failed:
                for hook in self._hooks:
                    hook.end(None if self._attempt is None else self._attempt.session)
        finally:
            attempt, self._attempt = self._attempt, None
            was_closed, self._closed = self._closed, True
            try:
                if was_closed:
                    raise RuntimeError("Session is already closed.")
                if attempt is not None:
                    attempt.close()
            finally:
                if not self._was_finalized:
                    get_default_graph()._unsafe_unfinalize()

    def __enter__(self) -> Any:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: Any, trace: Any) -> bool:
        """Closes the session. That the input is at its end, and StopIteration, is how a training ends, and no error."""
        ended = kind in (None, errors.OutOfRangeError, StopIteration)
        self._close(failed=not ended)
        return ended


class MonitoredSession(_MonitoredSession):
    """A session that initializes or restores its variables, calls hooks around each run, and goes on in a new session
    if it is preempted.

    Args:
        session_creator: a `SessionCreator`; by default a `ChiefSessionCreator`.
        hooks: a list of `SessionRunHook`s.
        stop_grace_period_secs: a float, the seconds that threads may take to stop; 120 by default.

    Example:
        >>> with tf.Graph().as_default():
        ...     v = tf.Variable(1.0)
        ...     double = tf.compat.v1.assign(v, v * 2.0)
        ...     with tf.compat.v1.train.MonitoredSession() as sess:
        ...         print(sess.run(double), sess.run(double))
        2.0 4.0
    """

    _recovers = True

    def __init__(
        self,
        session_creator: SessionCreator | None = None,
        hooks: Sequence[SessionRunHook] | None = None,
        stop_grace_period_secs: float = 120,
    ) -> None:
        super().__init__(session_creator, hooks, stop_grace_period_secs)


class SingularMonitoredSession(_MonitoredSession):
    """A `MonitoredSession` whose session is created once and accessible.

    Args:
        hooks: a list of `SessionRunHook`s.
        scaffold, master, config, checkpoint_dir, checkpoint_filename_with_path: see `ChiefSessionCreator`.
        stop_grace_period_secs: a float, the seconds that threads may take to stop; 120 by default.

    Example:
        >>> with tf.Graph().as_default():
        ...     v = tf.Variable(1.0)
        ...     with tf.compat.v1.train.SingularMonitoredSession() as sess:
        ...         print(sess.raw_session().run(v))
        1.0
    """

    _recovers = False

    def __init__(
        self,
        hooks: Sequence[SessionRunHook] | None = None,
        scaffold: Scaffold | None = None,
        master: str = "",
        config: Any = None,
        checkpoint_dir: str | None = None,
        stop_grace_period_secs: float = 120,
        checkpoint_filename_with_path: Any = None,
    ) -> None:
        creator = ChiefSessionCreator(scaffold, master, config, checkpoint_dir, checkpoint_filename_with_path)
        super().__init__(creator, hooks, stop_grace_period_secs)

    def raw_session(self) -> Session | None:
        """Returns the session, which has no hooks; None if it is closed."""
        return None if self._attempt is None else self._attempt.session


class _Default:
    """The type of a default that is no value."""

    def __repr__(self) -> str:
        return "USE_DEFAULT"


USE_DEFAULT: Any = _Default()


def MonitoredTrainingSession(
    master: str = "",
    is_chief: bool = True,
    checkpoint_dir: str | None = None,
    scaffold: Scaffold | None = None,
    hooks: Sequence[SessionRunHook] | None = None,
    chief_only_hooks: Sequence[SessionRunHook] | None = None,
    save_checkpoint_secs: Any = USE_DEFAULT,
    save_summaries_steps: Any = USE_DEFAULT,
    save_summaries_secs: Any = USE_DEFAULT,
    config: Any = None,
    stop_grace_period_secs: float = 120,
    log_step_count_steps: int | None = 100,
    max_wait_secs: float = 7200,
    save_checkpoint_steps: Any = USE_DEFAULT,
    summary_dir: Any = None,
    save_graph_def: bool = True,
) -> MonitoredSession:
    """Returns a `MonitoredSession` for training, with hooks that save checkpoints and summaries.

    Args:
        master, config: see `Session`.
        is_chief: whether this process initializes, restores and saves; otherwise it waits for the chief. True by
            default.
        checkpoint_dir: the folder of the checkpoints. Training resumes from its latest checkpoint.
        scaffold: a `Scaffold`, the operations that a session needs; by default the graph's operations.
        hooks: a list of `SessionRunHook`s.
        chief_only_hooks: further hooks, only for the chief.
        save_checkpoint_secs, save_checkpoint_steps: numbers, the interval between checkpoints; None or 0 for never. By
            default 600 seconds, if neither is specified.
        save_summaries_steps, save_summaries_secs: numbers, the interval between summaries. By default 100 steps, if
            neither is specified.
        stop_grace_period_secs: a float, the seconds that threads may take to stop; 120 by default.
        log_step_count_steps: an int, the steps between two logs of the steps per second; 100 by default, None for
            never.
        max_wait_secs: a float, the longest wait of a process that is not the chief, in seconds; 7200 by default.
        summary_dir: the folder of summaries; by default the folder of the checkpoints.
        save_graph_def: whether checkpoints come with the graph; True by default.

    Raises:
        RuntimeError: there is a folder, and no global step.

    Example:
        >>> import tempfile
        >>> folder = tempfile.mkdtemp()
        >>> for _ in range(2):
        ...     with tf.Graph().as_default():
        ...         step = tf.compat.v1.train.get_or_create_global_step()
        ...         train = tf.compat.v1.assign_add(step, 1)
        ...         hooks = [tf.compat.v1.train.StopAtStepHook(num_steps=2)]
        ...         with tf.compat.v1.train.MonitoredTrainingSession(checkpoint_dir=folder, hooks=hooks) as sess:
        ...             while not sess.should_stop():
        ...                 print(sess.run(train))
        1
        2
        3
        4
    """
    if save_summaries_steps is USE_DEFAULT and save_summaries_secs is USE_DEFAULT:
        save_summaries_steps = 100
    if save_checkpoint_steps is USE_DEFAULT and save_checkpoint_secs is USE_DEFAULT:
        save_checkpoint_secs = 600
    summaries, checkpoints = (
        {key: value for key, value in intervals.items() if value not in (USE_DEFAULT, None) and value > 0}
        for intervals in (
            {"save_steps": save_summaries_steps, "save_secs": save_summaries_secs},
            {"save_steps": save_checkpoint_steps, "save_secs": save_checkpoint_secs},
        )
    )
    scaffold = Scaffold() if scaffold is None else scaffold
    if not is_chief:
        worker = WorkerSessionCreator(scaffold, master, config, max_wait_secs)
        return MonitoredSession(worker, hooks, stop_grace_period_secs)
    all_hooks = list(chief_only_hooks or ())
    summary_dir = summary_dir or checkpoint_dir
    if summary_dir:
        if log_step_count_steps is not None and log_step_count_steps > 0:
            all_hooks.append(StepCounterHook(every_n_steps=log_step_count_steps, output_dir=summary_dir))
        if summaries:
            all_hooks.append(SummarySaverHook(**summaries, output_dir=summary_dir, scaffold=scaffold))
    if checkpoint_dir and checkpoints:
        all_hooks.append(
            CheckpointSaverHook(checkpoint_dir, **checkpoints, scaffold=scaffold, save_graph_def=save_graph_def)
        )
    all_hooks += hooks or ()
    chief = ChiefSessionCreator(scaffold, master, config, checkpoint_dir)
    return MonitoredSession(chief, all_hooks, stop_grace_period_secs)
