"""`tf.train.Coordinator`: stops a group of threads together."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from tapeflow.core import errors
from tapeflow.core.fork_locks import new_event, new_lock
from tapeflow.core.logger import get_logger


class Coordinator:
    """Lets any of a group of threads ask all of them to stop, and tells the one that joins them of their exceptions.

    Args:
        clean_stop_exception_types: exceptions that only request a stop; `tf.errors.OutOfRangeError` by default.

    Example:
        >>> coordinator, seen = tf.train.Coordinator(), []
        >>> def work():
        ...     while not coordinator.should_stop():
        ...         seen.append(1)
        ...         coordinator.request_stop()
        >>> import threading
        >>> thread = threading.Thread(target=work)
        >>> thread.start()
        >>> coordinator.join([thread])
        >>> seen
        [1]
    """

    def __init__(self, clean_stop_exception_types: Sequence[type[BaseException]] | None = None) -> None:
        clean = (errors.OutOfRangeError,) if clean_stop_exception_types is None else clean_stop_exception_types
        self._clean = tuple(clean)
        self._lock = new_lock()
        self._stop = new_event()
        self._error: BaseException | None = None
        self._joined = False
        self._registered: set[threading.Thread] = set()

    def request_stop(self, ex: Any = None) -> None:
        """Asks the threads to stop.

        Args:
            ex: an exception, or the tuple of `sys.exc_info()`, for `join` to raise; the first one counts.

        Raises:
            BaseException: `ex`, if `join` has already returned.
        """
        error = ex[1] if isinstance(ex, tuple) else ex
        with self._lock:
            if isinstance(error, self._clean):
                error = None
            if self._joined:
                if error is not None:
                    raise error
                return
            if not self._stop.is_set():
                self._error = error
                self._stop.set()
            elif error is not None:
                get_logger().info("Exception after the stop was requested: %r", error)

    def clear_stop(self) -> None:
        """Withdraws the request to stop."""
        with self._lock:
            self._joined, self._error = False, None
            self._stop.clear()

    def should_stop(self) -> bool:
        """Returns True if a stop was requested.

        Returns:
            True from the first `request_stop` on.
        """
        return self._stop.is_set()

    @contextlib.contextmanager
    def stop_on_exception(self) -> Iterator[None]:
        """Turns an exception inside into a request to stop, and goes on.

        Returns:
            A context manager.
        """
        try:
            yield
        except Exception:
            self.request_stop(ex=sys.exc_info())

    def wait_for_stop(self, timeout: float | None = None) -> bool:
        """Waits until a stop is requested.

        Args:
            timeout: how many seconds to wait; None for ever.

        Returns:
            Whether it was requested in that time.
        """
        return self._stop.wait(timeout)

    def register_thread(self, thread: threading.Thread) -> None:
        """Adds a thread for `join` to wait for.

        Args:
            thread: the thread.
        """
        with self._lock:
            self._registered.add(thread)

    def join(
        self,
        threads: Iterable[threading.Thread] | None = None,
        stop_grace_period_secs: float = 120,
        ignore_live_threads: bool = False,
    ) -> None:
        """Waits for the threads, and raises the exception of the first one that requested a stop with one.

        Args:
            threads: the threads to wait for beside the registered ones.
            stop_grace_period_secs: how long they may take after a stop was requested.
            ignore_live_threads: accepts threads that take longer.

        Raises:
            RuntimeError: some did not stop in time.
            BaseException: the exception of the request.
        """
        with self._lock:
            waiting = {*self._registered, *(threads or ())}
        while any(t.is_alive() for t in waiting) and not self.wait_for_stop(0.05):
            pass
        deadline = time.monotonic() + stop_grace_period_secs
        for thread in waiting:
            thread.join(max(0.0, deadline - time.monotonic()))
        late = [t.name for t in waiting if t.is_alive()]
        with self._lock:
            self._joined = True
            self._registered = set()
            error = self._error
        if error is not None:
            raise error
        if late and not ignore_live_threads:
            raise RuntimeError(f"Coordinator stopped with threads still running: {' '.join(late)}")

    @property
    def joined(self) -> bool:
        """True when `join` has returned."""
        return self._joined

    def raise_requested_exception(self) -> None:
        """Raises the exception of the request to stop, if there is one.

        Raises:
            BaseException: that one.
        """
        with self._lock:
            if self._error is not None:
                raise self._error
