"""Hooks that watch a training: when to stop, what to log, whether the loss is a number."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.core import errors
from tapeflow.core.logger import get_logger
from tapeflow_compat.compat.v1.global_step import get_global_step, readable_global_step
from tapeflow_compat.compat.v1.protos import message
from tapeflow_compat.compat.v1.summary.writers import FileWriterCache
from tapeflow_compat.compat.v1.train.hooks import (
    SecondOrStepTimer,
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
)
from tapeflow_compat.default_graph import get_default_graph

if TYPE_CHECKING:
    from tapeflow_compat.compat.v1.session import Session

_WARNINGS = 5  # that the global step does not grow


def step_for(hook: SessionRunHook) -> Any:
    """Returns the tensor of the global step, for a hook.

    It comes after the operations of the training in the graph, and so a run that counts up gives the new number.

    Args:
        hook: the hook, for the message of the error.

    Raises:
        RuntimeError: the graph has none.
    """
    step = readable_global_step()
    if step is None:
        raise RuntimeError(f"Global step should be created to use {type(hook).__name__}.")
    return step


class StopAtStepHook(SessionRunHook):
    """Requests a stop when the global step reaches a limit.

    Args:
        num_steps: an int, the number of steps after the session's first one.
        last_step: an int, the last step, in place of `num_steps`.

    Raises:
        ValueError: there are both, or neither.

    Example:
        >>> with tf.Graph().as_default():
        ...     step = tf.compat.v1.train.get_or_create_global_step()
        ...     train = tf.compat.v1.assign_add(step, 1)
        ...     hook = tf.compat.v1.train.StopAtStepHook(last_step=3)
        ...     with tf.compat.v1.train.MonitoredSession(hooks=[hook]) as sess:
        ...         while not sess.should_stop():
        ...             print(sess.run(train))
        1
        2
        3
    """

    def __init__(self, num_steps: int | None = None, last_step: int | None = None) -> None:
        if num_steps is None and last_step is None:
            raise ValueError("One of num_steps or last_step must be specified.")
        if num_steps is not None and last_step is not None:
            raise ValueError("Only one of num_steps or last_step can be specified.")
        self._num_steps, self._last_step = num_steps, last_step

    def begin(self) -> None:
        """Looks up the global step of the graph.

        Raises:
            RuntimeError: the graph has no global step.
        """
        self._step = step_for(self)

    def after_create_session(self, session: Session, coord: Any) -> None:
        """Computes the last step from `num_steps` and the step that the session begins with.

        Args:
            session: the session.
            coord: the coordinator, not used.
        """
        if self._last_step is None:
            self._last_step = session.run(self._step) + self._num_steps

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Adds the global step to the fetches of the run.

        Args:
            run_context: the run, not used.

        Returns:
            A `SessionRunArgs`.
        """
        return SessionRunArgs(self._step)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Requests a stop if the global step has reached the last step.

        Args:
            run_context: a `SessionRunContext`, the run to stop after.
            run_values: a `SessionRunValues` with the global step.
        """
        if self._last_step is not None and run_values.results >= self._last_step:
            run_context.request_stop()


class GlobalStepWaiterHook(SessionRunHook):
    """Makes the first run wait until the global step, which others count up, reaches a limit.

    Args:
        wait_until_step: an int, the step to wait for.

    Example:
        >>> with tf.Graph().as_default():
        ...     step = tf.compat.v1.train.get_or_create_global_step()
        ...     hook = tf.compat.v1.train.GlobalStepWaiterHook(0)
        ...     with tf.compat.v1.train.MonitoredSession(hooks=[hook]) as sess:
        ...         print(sess.run(step))
        0
    """

    _POLL_SECONDS = 0.5

    def __init__(self, wait_until_step: int) -> None:
        self._wait_until_step = wait_until_step

    def begin(self) -> None:
        """Looks up the global step of the graph.

        Raises:
            RuntimeError: the graph has no global step.
        """
        self._started = False
        self._step = step_for(self)

    def before_run(self, run_context: SessionRunContext) -> None:
        """Waits, before the first run only, until the global step has reached `wait_until_step`.

        Args:
            run_context: a `SessionRunContext`, whose session reads the step.
        """
        if self._started:
            return
        if self._wait_until_step > 0:
            get_logger().info("Waiting for global step %d before starting training.", self._wait_until_step)
            while run_context.session.run(self._step) < self._wait_until_step:
                time.sleep(self._POLL_SECONDS)
        self._started = True


class StepCounterHook(SessionRunHook):
    """Logs the number of steps per second, and writes it as the summary `global_step/sec`.

    Args:
        every_n_steps: an int, the steps between two logs; 100 by default, None to count seconds.
        every_n_secs: a float, the seconds between two logs; None to count steps.
        output_dir: a path, the folder for summaries; None writes none.
        summary_writer: a `FileWriter`, in place of a folder.

    Raises:
        ValueError: there are steps and seconds, or neither.

    Example:
        >>> with tf.Graph().as_default():
        ...     step = tf.compat.v1.train.get_or_create_global_step()
        ...     train = tf.compat.v1.assign_add(step, 1)
        ...     hook = tf.compat.v1.train.StepCounterHook(every_n_steps=10)
        ...     with tf.compat.v1.train.MonitoredSession(hooks=[hook]) as sess:
        ...         print(sess.run(train))
        1
    """

    def __init__(
        self,
        every_n_steps: int | None = 100,
        every_n_secs: float | None = None,
        output_dir: Any = None,
        summary_writer: Any = None,
    ) -> None:
        if (every_n_steps is None) == (every_n_secs is None):
            raise ValueError("exactly one of every_n_steps and every_n_secs should be provided.")
        self._timer = SecondOrStepTimer(every_n_secs, every_n_steps)
        self._writer, self._output_dir = summary_writer, output_dir
        self._last_step: int | None = None
        self._warned = 0

    def begin(self) -> None:
        """Looks up the global step of the graph, and opens the writer of `output_dir`.

        Raises:
            RuntimeError: the graph has no global step.
        """
        if self._writer is None and self._output_dir:
            self._writer = FileWriterCache.get(self._output_dir)
        self._step = step_for(self)
        self._tag = f"{get_global_step().op.name}/sec"

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Adds the global step to the fetches of the run.

        Args:
            run_context: the run, not used.

        Returns:
            A `SessionRunArgs`.
        """
        return SessionRunArgs(self._step)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Logs and writes the steps per second if they are due. Warns if the global step does not grow.

        Args:
            run_context: the run, not used.
            run_values: a `SessionRunValues` with the global step.
        """
        step = run_values.results
        if self._timer.should_trigger_for_step(step):
            seconds, steps = self._timer.update_last_triggered_step(step)
            if seconds is not None and steps is not None:
                self._write_rate(steps / max(seconds, 1e-9), step)
        if step == self._last_step and self._warned < _WARNINGS:
            self._warned += 1
            get_logger().warning(
                "The global step (tf.train.get_global_step) stays at %s: have it counted up by passing it to "
                "Optimizer.minimize or Optimizer.apply_gradients.",
                step,
            )
        self._last_step = step

    def _write_rate(self, rate: float, step: int) -> None:
        if self._writer is not None:
            value = message("Summary").Value(tag=self._tag, simple_value=rate)
            self._writer.add_summary(message("Summary")(value=[value]), step)
        get_logger().info("%s: %g", self._tag, rate)


class LoggingTensorHook(SessionRunHook):
    """Logs the values of tensors.

    Args:
        tensors: tensors or their names, in a list, or in a dict by their names in the log.
        every_n_iter: an int, the runs between two logs; None to count seconds.
        every_n_secs: a float, the seconds between two logs; None to count runs.
        at_end: whether to log also when the session ends. Without an interval, it logs only then. False by default.
        formatter: a function from a dict of values to the text; by default `name = value, ...`.

    Raises:
        ValueError: none of the intervals is specified, or two are.

    Example:
        >>> import logging
        >>> with tf.Graph().as_default():
        ...     x = tf.constant([1.0, 2.0], name="x")
        ...     hook = tf.compat.v1.train.LoggingTensorHook({"x": "x:0"}, every_n_iter=10)
        ...     with tf.compat.v1.train.MonitoredSession(hooks=[hook]) as sess:
        ...         print(sess.run(x))
        [1. 2.]
    """

    def __init__(
        self,
        tensors: Any,
        every_n_iter: int | None = None,
        every_n_secs: float | None = None,
        at_end: bool = False,
        formatter: Callable[[Any], str] | None = None,
    ) -> None:
        only_at_end = at_end and every_n_iter is None and every_n_secs is None
        if not only_at_end and (every_n_iter is None) == (every_n_secs is None):
            raise ValueError("either at_end and/or exactly one of every_n_iter and every_n_secs must be provided.")
        if every_n_iter is not None and every_n_iter <= 0:
            raise ValueError(f"invalid every_n_iter={every_n_iter}.")
        self._tags = sorted(tensors) if isinstance(tensors, dict) else list(tensors)
        self._named_tensors = tensors if isinstance(tensors, dict) else {t: t for t in tensors}
        self._formatter, self._at_end = formatter, at_end
        self._timer = None if only_at_end else SecondOrStepTimer(every_n_secs, every_n_iter)
        self._last_log_time: float | None = None

    def begin(self) -> None:
        """Looks up the tensors in the graph, and resets the interval.

        Raises:
            ValueError: a tensor belongs to another graph, or a name stands for an operation with several outputs.
            KeyError: there is no tensor or operation of a name.
        """
        if self._timer is not None:
            self._timer.reset()
        self._runs, self._last_log_time = 0, None
        self._tensors = [_element(self._named_tensors[tag]) for tag in self._tags]

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs | None:
        """Adds the tensors to the fetches of the run if they are due.

        Args:
            run_context: the run, not used.

        Returns:
            A `SessionRunArgs`, or None.
        """
        self._due = self._timer is not None and self._timer.should_trigger_for_step(self._runs)
        return SessionRunArgs(self._tensors) if self._due else None

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Logs the values if they were due.

        Args:
            run_context: the run, not used.
            run_values: a `SessionRunValues` with the values of the tensors.
        """
        if self._due:
            if self._timer is not None:
                self._timer.update_last_triggered_step(self._runs)
            self._log(run_values.results)
        self._runs += 1

    def end(self, session: Any) -> None:
        """Logs the values with `at_end`.

        Args:
            session: the session, which computes the values.
        """
        if self._at_end:
            self._log(session.run(self._tensors))

    def _log(self, values: Sequence[Any]) -> None:
        now = time.time()
        elapsed = "" if self._last_log_time is None else f" ({now - self._last_log_time:.3f} sec)"
        self._last_log_time = now
        if self._formatter is not None:
            get_logger().info(self._formatter(dict(zip(self._tags, values, strict=True))))
            return
        with np.printoptions(suppress=True):
            stats = [f"{tag} = {value}" for tag, value in zip(self._tags, values, strict=True)]
        get_logger().info("%s%s", ", ".join(stats), elapsed)


def _element(item: Any) -> Any:
    """Returns the tensor or operation of the default graph that an object is or names.

    Raises:
        ValueError: it is of another graph, or the operation of that name has several outputs.
    """
    graph = get_default_graph()
    if not isinstance(item, str):
        if getattr(item, "graph", None) is not graph and getattr(item, "_graph", None) is not graph:
            raise ValueError(f"Passed {item} should have graph attribute that is equal to current graph {graph}.")
        return item
    if ":" in item:
        return graph.as_graph_element(item)
    if len(graph.get_operation_by_name(item).outputs) > 1:
        raise ValueError(f"Name {item} is ambiguous, as this `Operation` has multiple outputs (at least 2).")
    return graph.as_graph_element(f"{item}:0")


class NanLossDuringTrainingError(RuntimeError):
    """The error that `NanTensorHook` raises.

    Example:
        >>> str(tf.compat.v1.train.NanLossDuringTrainingError())
        'NaN loss during training.'
    """

    def __str__(self) -> str:
        return "NaN loss during training."


class NanTensorHook(SessionRunHook):
    """Stops the training when its loss is no number any more.

    Args:
        loss_tensor: the loss, a scalar.
        fail_on_nan_loss: whether to raise; otherwise the hook requests a stop. True by default.

    Raises:
        NanLossDuringTrainingError: out of the run, if the loss is NaN.

    Example:
        >>> with tf.Graph().as_default():
        ...     loss = tf.math.log(-1.0)
        ...     hook = tf.compat.v1.train.NanTensorHook(loss, fail_on_nan_loss=False)
        ...     with tf.compat.v1.train.MonitoredSession(hooks=[hook]) as sess:
        ...         print(sess.run(loss), sess.should_stop())
        nan True
    """

    def __init__(self, loss_tensor: Any, fail_on_nan_loss: bool = True) -> None:
        self._loss, self._fail = loss_tensor, fail_on_nan_loss

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Adds the loss to the fetches of the run.

        Args:
            run_context: the run, not used.

        Returns:
            A `SessionRunArgs`.
        """
        return SessionRunArgs(self._loss)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Raises or requests a stop if the loss is NaN.

        Args:
            run_context: a `SessionRunContext`, the run to stop after.
            run_values: a `SessionRunValues` with the loss.

        Raises:
            NanLossDuringTrainingError: the loss is NaN, and `fail_on_nan_loss` is True.
        """
        if not np.isnan(run_values.results):
            return
        if self._fail:
            get_logger().error("Model diverged with loss = NaN.")
            raise NanLossDuringTrainingError
        get_logger().warning("Model diverged with loss = NaN.")
        run_context.request_stop()


class FinalOpsHook(SessionRunHook):
    """Runs `final_ops` when the session ends.

    Args:
        final_ops: a nest of tensors and operations to fetch at the end.
        final_ops_feed_dict: a dict, the feeds for `final_ops`.

    Example:
        >>> with tf.Graph().as_default():
        ...     v = tf.Variable(1.0)
        ...     more = tf.compat.v1.assign_add(v, 1.0)
        ...     hook = tf.compat.v1.train.FinalOpsHook({"v": v})
        ...     with tf.compat.v1.train.MonitoredSession(hooks=[hook]) as sess:
        ...         _ = sess.run(more)
        >>> hook.final_ops_values
        {'v': np.float32(2.0)}
    """

    def __init__(self, final_ops: Any, final_ops_feed_dict: Any = None) -> None:
        self._ops, self._feeds = final_ops, final_ops_feed_dict
        self._values: Any = None

    @property
    def final_ops_values(self) -> Any:
        """The values of `final_ops`, or None before the end."""
        return self._values

    def end(self, session: Any) -> None:
        """Runs `final_ops` and keeps their values as `final_ops_values`.

        Args:
            session: the session.

        Raises:
            OutOfRangeError, StopIteration: `final_ops` take elements of an input that is at its end.
        """
        if self._ops is None:
            return
        try:
            self._values = session.run(self._ops, self._feeds)
        except (errors.OutOfRangeError, StopIteration):
            get_logger().warning(
                "What FinalOpsHook runs takes elements of an input that is at its end: it should only read variables."
            )
            raise


class FeedFnHook(SessionRunHook):
    """Feeds every run with the values that a function returns.

    Args:
        feed_fn: a function without arguments that returns a feed dict.

    Example:
        >>> with tf.Graph().as_default():
        ...     x = tf.compat.v1.placeholder(tf.float32, [])
        ...     hook = tf.compat.v1.train.FeedFnHook(lambda: {x: 3.0})
        ...     with tf.compat.v1.train.MonitoredSession(hooks=[hook]) as sess:
        ...         print(sess.run(x))
        3.0
    """

    def __init__(self, feed_fn: Callable[[], Any]) -> None:
        self.feed_fn = feed_fn

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Adds the feeds of `feed_fn` to the run.

        Args:
            run_context: the run, not used.

        Returns:
            A `SessionRunArgs` with the feeds.
        """
        return SessionRunArgs(fetches=None, feed_dict=self.feed_fn())
