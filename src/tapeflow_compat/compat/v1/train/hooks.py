"""The base class of the hooks around the runs of a monitored session, and the classes of their arguments."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from tapeflow_compat.compat.v1.session import Session


class SessionRunArgs(NamedTuple):
    """The arguments that a hook adds to a run.

    Attributes:
        fetches: tensors and operations to fetch, as for `tf.compat.v1.Session.run`, or None.
        feed_dict: feeds, or None.
        options: a `RunOptions` message, or None.

    Example:
        >>> tf.compat.v1.train.SessionRunArgs("loss:0")
        SessionRunArgs(fetches='loss:0', feed_dict=None, options=None)
    """

    fetches: Any
    feed_dict: Any = None
    options: Any = None


class SessionRunValues(NamedTuple):
    """The results of a run, for a hook.

    Attributes:
        results: the values of its fetches, or None.
        options, run_metadata: the messages of the run.

    Example:
        >>> tf.compat.v1.train.SessionRunValues(results=1.5, options=None, run_metadata=None).results
        1.5
    """

    results: Any
    options: Any
    run_metadata: Any


class SessionRunContext:
    """A run of a monitored session.

    Args:
        original_args: the arguments of the program's own call.
        session: the session.

    Example:
        >>> context = tf.compat.v1.train.SessionRunContext(tf.compat.v1.train.SessionRunArgs("loss:0"), None)
        >>> context.request_stop()
        >>> context.stop_requested
        True
    """

    def __init__(self, original_args: SessionRunArgs, session: Session) -> None:
        self._original_args = original_args
        self._session = session
        self._stop_requested = False

    @property
    def original_args(self) -> SessionRunArgs:
        """The arguments of the program's own call, without those that hooks add."""
        return self._original_args

    @property
    def session(self) -> Any:
        """The session, which has no hooks."""
        return self._session

    @property
    def stop_requested(self) -> bool:
        """Is True after a hook requested a stop."""
        return self._stop_requested

    def request_stop(self) -> None:
        """Asks the monitored session to stop: its `should_stop` is True after this run."""
        self._stop_requested = True


class SessionRunHook:
    """Base class of hooks, which act around the runs of a monitored session.

    Example:
        >>> class Count(tf.compat.v1.train.SessionRunHook):
        ...     runs = 0
        ...     def after_run(self, run_context, run_values):
        ...         self.runs += 1
        >>> hook = Count()
        >>> with tf.Graph().as_default():
        ...     x = tf.constant(1.0)
        ...     with tf.compat.v1.train.MonitoredSession(hooks=[hook]) as sess:
        ...         for _ in range(3):
        ...             _ = sess.run(x)
        >>> hook.runs
        3
    """

    def begin(self) -> None:
        """Is called once, before the session is created; here the graph may still be changed."""

    def after_create_session(self, session: Session, coord: Any) -> None:
        """Is called when a session was created.

        Args:
            session: the session.
            coord: the coordinator of its threads.
        """

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs | None:
        """Is called before each run. Returns additions to it.

        Args:
            run_context: a `SessionRunContext`, the run.

        Returns:
            A `SessionRunArgs` with fetches, feeds and options to add to the run, or None.
        """
        return None

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Is called after each run that raised nothing.

        Args:
            run_context: a `SessionRunContext`, the run. Its `request_stop` ends the training.
            run_values: a `SessionRunValues`, the values of the fetches that `before_run` added.
        """

    def end(self, session: Any) -> None:
        """Is called before the session is closed, unless an exception ended it.

        Args:
            session: the session.
        """


class SecondOrStepTimer:
    """Decides when an action is due: every `every_steps` steps, or once in `every_secs` seconds.

    Args:
        every_secs: a float, the seconds between two actions; None to count steps.
        every_steps: an int, the steps between two actions; None to count seconds.

    Raises:
        ValueError: there are both, or neither.

    Example:
        >>> timer = tf.compat.v1.train.SecondOrStepTimer(every_steps=10)
        >>> timer.should_trigger_for_step(0), timer.update_last_triggered_step(0)
        (True, (None, None))
        >>> timer.should_trigger_for_step(9), timer.should_trigger_for_step(10)
        (False, True)
    """

    def __init__(self, every_secs: float | None = None, every_steps: int | None = None) -> None:
        if every_secs is None and every_steps is None:
            raise ValueError("Either every_secs or every_steps should be provided.")
        if every_secs is not None and every_steps is not None:
            raise ValueError("Can not provide both every_secs and every_steps.")
        self._every_secs, self._every_steps = every_secs, every_steps
        self.reset()

    def reset(self) -> None:
        """Forgets the last action: the next step is due."""
        self._last_step: int | None = None
        self._last_time = 0.0

    def should_trigger_for_step(self, step: int) -> bool:
        """Returns True if the action is due at this step. The first step is always due.

        Args:
            step: an int, the step.
        """
        if self._last_step is None:
            return True
        if self._last_step == step:
            return False
        if self._every_secs is not None:
            return time.time() >= self._last_time + self._every_secs
        return self._every_steps is not None and step >= self._last_step + self._every_steps

    def update_last_triggered_step(self, step: int) -> tuple[float | None, int | None]:
        """Records that the action was done at this step.

        Args:
            step: an int, the step.

        Returns:
            The seconds and the steps since the last action, or `(None, None)` for the first one.
        """
        now = time.time()
        since = (None, None) if self._last_step is None else (now - self._last_time, step - self._last_step)
        self._last_step, self._last_time = step, now
        return since

    def last_triggered_step(self) -> int | None:
        """Returns the step of the last action, or None."""
        return self._last_step
