"""Profiles of the time between a start and a stop.

torch's profiler measures: an event is a kernel of ATen, or a scope that a program marks with `Trace`.
"""

from __future__ import annotations

import os
import socket
import time
from collections import defaultdict
from typing import Any, NamedTuple

import torch

from tapeflow.core import errors
from tapeflow.core.fork_locks import new_lock
from tapeflow.io import gfile
from tapeflow.profiler.xplane import Event, space

_MARK = "tapeflow_trace#"
_QUIET = "6"  # a log level that hides the lines "USDT: profiler_start" of torch's profiler


class ProfilerOptions(NamedTuple):
    """Options of a profile.

    Attributes:
        host_tracer_level: 0 for nothing on the CPU.
        python_tracer_level: 1 for Python's calls too.
        device_tracer_level: 0 for nothing on GPUs.
        delay_ms: accepted, and without effect.

    Example:
        >>> tf.profiler.experimental.ProfilerOptions().host_tracer_level
        2
    """

    host_tracer_level: int = 2
    python_tracer_level: int = 0
    device_tracer_level: int = 1
    delay_ms: int | None = None


class _Session:
    """A running profile."""

    def __init__(self, logdir: Any, options: ProfilerOptions) -> None:
        self.logdir = logdir
        self.marks: list[Trace] = []
        kinds = torch.profiler.ProfilerActivity
        activities = [kinds.CPU] if options.host_tracer_level else []
        if options.device_tracer_level:
            activities += torch.profiler.supported_activities() - {kinds.CPU}
        self._profile = None
        if activities:
            os.environ.setdefault("KINETO_LOG_LEVEL", _QUIET)
            self._profile = torch.profiler.profile(activities=activities, with_stack=bool(options.python_tracer_level))
            self._profile.start()
        self._started = time.time_ns()

    def stop(self) -> bytes:
        """Stops the profile, and returns it as a serialized message."""
        stopped = time.time_ns()
        planes: dict[str, dict[str, list[Event]]] = {"/host:CPU": defaultdict(list)}
        if self._profile is not None:
            self._profile.stop()
            for event in self._profile.events() or ():
                on_host = event.device_type == torch.autograd.DeviceType.CPU
                plane = "/host:CPU" if on_host else f"/device:GPU:{event.device_index}"
                line = f"thread {event.thread}" if on_host else f"stream {event.thread}"
                planes.setdefault(plane, defaultdict(list))[line].append(self._event(event))
        return space(planes, self._started, stopped)

    def _event(self, event: Any) -> Event:
        name, stats = event.name, {}
        if name.startswith(_MARK):
            mark = self.marks[int(name.removeprefix(_MARK))]
            name, stats = mark.name, mark.metadata
        span = event.time_range
        return Event(name, round(span.start * 1000), round((span.end - span.start) * 1000), stats)


_lock = new_lock()
_running: list[_Session] = []  # at most one


def start(logdir: str, options: ProfilerOptions | None = None) -> None:
    """Starts a profile.

    Args:
        logdir: the folder of TensorBoard's logs; `stop` writes the profile below `plugins/profile` in it.
        options: the options of the profile.

    Returns:
        None.

    Raises:
        AlreadyExistsError: a profile is running.

    Example:
        >>> import tempfile
        >>> tf.profiler.experimental.start(tempfile.mkdtemp())
        >>> _ = tf.ones([2]) + 1.0
        >>> tf.profiler.experimental.stop()
    """
    with _lock:
        if _running:
            raise errors.AlreadyExistsError.of("Another profiler is running.")
        _running.append(_Session(logdir, options or ProfilerOptions()))


def stop(save: bool = True) -> None:
    """Stops the running profile.

    Args:
        save: whether to write the profile to a file.

    Raises:
        UnavailableError: no profile is running.

    Example:
        >>> import tempfile
        >>> tf.profiler.experimental.start(tempfile.mkdtemp())
        >>> tf.profiler.experimental.stop(save=False)
    """
    with _lock:
        if not _running:
            raise errors.UnavailableError.of("Cannot export profiling results. No profiler is running.")
        session = _running.pop()
        profile = session.stop()
    if save:
        folder = os.path.join(os.fspath(session.logdir), "plugins", "profile", time.strftime("%Y_%m_%d_%H_%M_%S"))
        gfile.makedirs(folder)
        with gfile.GFile(os.path.join(folder, f"{socket.gethostname()}.xplane.pb"), "wb") as file:
            file.write(profile)


class Profile:
    """A scope that is profiled.

    Args:
        logdir: the folder of TensorBoard's logs. The profile is written below `plugins/profile` in it.
        options: the options of the profile.

    Example:
        >>> import glob, tempfile
        >>> folder = tempfile.mkdtemp()
        >>> with tf.profiler.experimental.Profile(folder):
        ...     _ = tf.ones([2]) + 1.0
        >>> len(glob.glob(f"{folder}/plugins/profile/*/*.xplane.pb"))
        1
    """

    def __init__(self, logdir: str, options: ProfilerOptions | None = None) -> None:
        self._logdir, self._options = logdir, options

    def __enter__(self) -> None:
        start(self._logdir, self._options)

    def __exit__(self, *error: object) -> None:
        stop()


class Trace:
    """A scope that is an event of the running profile, if there is one: a training step, for example.

    Args:
        name: the name of the event.
        **kwargs: metadata of the event, such as `step_num`.

    Example:
        >>> for step in range(2):
        ...     with tf.profiler.experimental.Trace("train", step_num=step):
        ...         _ = tf.ones([2]) + 1.0
    """

    def __init__(self, name: str, **kwargs: Any) -> None:
        self.name, self.metadata = name, dict(kwargs)
        self._recorded: Any = None

    def __enter__(self) -> Trace:
        session = _running[0] if _running else None
        if session is not None:
            session.marks.append(self)
            self._recorded = torch.profiler.record_function(f"{_MARK}{len(session.marks) - 1}")
            self._recorded.__enter__()
        return self

    def set_metadata(self, **kwargs: Any) -> None:
        """Adds to the metadata of the event."""
        self.metadata.update(kwargs)

    def __exit__(self, *error: object) -> None:
        if self._recorded is not None:
            self._recorded.__exit__(None, None, None)
            self._recorded = None
