"""Waiting for other threads, in a way that lets the program end."""

from __future__ import annotations

import atexit
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tapeflow.core import errors
from tapeflow.core.fork_locks import new_event

_POLL = 0.1  # seconds between two checks of the reasons to stop waiting
_PATIENCE = 2.0  # seconds that an operation may wait, and threads may take to stop, when the program ends


class _Limits(threading.local):
    """The limits of the operations of this thread that wait.

    Attributes:
        until: the time when they must end; None for no limit.
        on_wait: called when one begins to wait.
        stopped: set when they must end.
    """

    until: float | None = None
    on_wait: Callable[[], None] | None = None
    stopped: threading.Event | None = None


_limits = _Limits()
_ending = new_event()
_threads: weakref.WeakKeyDictionary[threading.Thread, Any] = weakref.WeakKeyDictionary()


class time_limit:
    """A context that limits how long operations of this thread wait.

    Args:
        seconds: the limit; 0 for none.
    """

    __slots__ = ("_before", "_seconds")

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    def __enter__(self) -> None:
        self._before = _limits.until
        _limits.until = time.monotonic() + self._seconds if self._seconds else None

    def __exit__(self, *_: object) -> None:
        _limits.until = self._before


def limit() -> float:
    """Returns the seconds that operations of this thread may still wait; 0 for no limit."""
    return 0 if _limits.until is None else max(_limits.until - time.monotonic(), 1e-3)


@contextmanager
def observed(on_wait: Callable[[], None], stopped: threading.Event) -> Iterator[None]:
    """Allows another thread to observe the operations that wait in this context.

    Args:
        on_wait: called when an operation of this thread begins to wait.
        stopped: makes operations that wait fail when it is set.
    """
    before = _limits.on_wait, _limits.stopped
    _limits.on_wait, _limits.stopped = on_wait, stopped
    try:
        yield
    finally:
        _limits.on_wait, _limits.stopped = before


def wait_until(changed: threading.Condition, ready: Callable[[], bool]) -> None:
    """Waits until a condition holds.

    Args:
        changed: is notified when it may hold; this thread has acquired it.
        ready: returns True if it holds.

    Raises:
        DeadlineExceededError: it took longer than this thread may wait.
        CancelledError: the program ends, or another operation of the same run failed.
    """
    orphaned = None  # the time since the program is ending
    while not ready():
        if _limits.on_wait is not None:
            _limits.on_wait()
        now = time.monotonic()
        if _limits.until is not None and now >= _limits.until:
            raise errors.DeadlineExceededError.of("Timed out waiting for notification")
        if _limits.stopped is not None and _limits.stopped.is_set():
            raise errors.CancelledError.of("Another operation of the same run failed")
        if _ending.is_set():
            raise errors.CancelledError.of("The program ends")
        if ending():
            orphaned = orphaned or now
            if now - orphaned > _PATIENCE:
                raise errors.CancelledError.of("The program ends")
        changed.wait(_POLL)


def ending() -> bool:
    """Returns True if the program is ending. A cancelled operation is then no error."""
    return _ending.is_set() or not threading.main_thread().is_alive()


def stopped_at_exit(thread: threading.Thread, coordinator: Any = None) -> None:
    """Registers a thread that works with queues, to stop it before the program ends.

    Python would stop a daemon in the middle of a kernel, which ends the process by a signal.

    Args:
        thread: the thread.
        coordinator: its `request_stop` is called then.
    """
    _threads[thread] = coordinator


@atexit.register
def _stop_all() -> None:
    _ending.set()
    left = list(_threads.items())
    for _, coordinator in left:
        if coordinator is not None:
            coordinator.request_stop()
    until = time.monotonic() + _PATIENCE
    for thread, _ in left:
        if thread.is_alive():
            thread.join(max(until - time.monotonic(), 0))
