"""Waiting for other threads, without keeping a program from ending."""

from __future__ import annotations

import atexit
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tapeflow.core import errors

_POLL = 0.1  # seconds between two looks at whether it is still worth waiting
_PATIENCE = 2.0  # seconds that an operation may wait, and threads may take to stop, when the program ends


class _Patience(threading.local):
    """How the operations of this thread wait.

    Attributes:
        until: until when they may; None for as long as it takes.
        tell: called when one begins to wait.
        stopped: set when it is no use any more.
    """

    until: float | None = None
    tell: Callable[[], None] | None = None
    stopped: threading.Event | None = None


_patience = _Patience()
_ending = threading.Event()
_threads: weakref.WeakKeyDictionary[threading.Thread, Any] = weakref.WeakKeyDictionary()


class time_limit:
    """A context in which operations of this thread wait so long at most.

    Args:
        seconds: how long; 0 for no limit.
    """

    __slots__ = ("_before", "_seconds")

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    def __enter__(self) -> None:
        self._before = _patience.until
        _patience.until = time.monotonic() + self._seconds if self._seconds else None

    def __exit__(self, *_: object) -> None:
        _patience.until = self._before


def limit() -> float:
    """How many seconds operations of this thread may still wait; 0 for no limit."""
    return 0 if _patience.until is None else max(_patience.until - time.monotonic(), 1e-3)


@contextmanager
def observed(tell: Callable[[], None], stopped: threading.Event) -> Iterator[None]:
    """A context in which another thread knows of what waits here.

    Args:
        tell: called when an operation of this thread begins to wait.
        stopped: makes what waits fail when it is set.
    """
    before = _patience.tell, _patience.stopped
    _patience.tell, _patience.stopped = tell, stopped
    try:
        yield
    finally:
        _patience.tell, _patience.stopped = before


def wait_until(changed: threading.Condition, ready: Callable[[], bool]) -> None:
    """Waits until something holds, of which `changed` tells; that is held by this thread.

    Raises:
        DeadlineExceededError: it took longer than this thread may wait.
        CancelledError: the program ends, or what this thread is part of has failed.
    """
    orphaned = None  # since when the program has no other end to wait for
    while not ready():
        if _patience.tell is not None:
            _patience.tell()
        now = time.monotonic()
        if _patience.until is not None and now >= _patience.until:
            raise errors.DeadlineExceededError(None, None, "Timed out waiting for notification")
        if _patience.stopped is not None and _patience.stopped.is_set():
            raise errors.CancelledError(None, None, "Another operation of the same run failed")
        if _ending.is_set():
            raise errors.CancelledError(None, None, "The program ends")
        if ending():
            orphaned = orphaned or now
            if now - orphaned > _PATIENCE:
                raise errors.CancelledError(None, None, "The program ends")
        changed.wait(_POLL)


def ending() -> bool:
    """Whether the program ends, so that what was cancelled is no error."""
    return _ending.is_set() or not threading.main_thread().is_alive()


def stopped_at_exit(thread: threading.Thread, coordinator: Any = None) -> None:
    """Has a thread, which works with queues, stop before the program ends.

    Python would stop a daemon in the middle of a kernel, which ends the process by a signal.

    Args:
        thread: the thread.
        coordinator: is asked to stop.
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
