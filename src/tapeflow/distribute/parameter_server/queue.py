"""The scheduled functions that wait for a worker, and the first error among those that ran."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

from tapeflow.core.errors import CancelledError
from tapeflow.core.fork_locks import new_condition
from tapeflow.distribute.parameter_server.values import ScheduledValue

_MOST_WAITING = 256 * 1024  # closures; `schedule` waits while there are more


class Closure:
    """A function with its arguments, to be run on any worker.

    Args:
        run: `run(worker)` sends it to a worker, and returns its result.
    """

    def __init__(self, run: Callable[[Any], Any]) -> None:
        self.run = run
        self.value = ScheduledValue()


class ClosureQueue:
    """The closures of a coordinator.

    The first error cancels the waiting closures. When no closure runs any more, `put`, `join` or `done` raises the
    error, and the queue is ready for new closures.
    """

    def __init__(self) -> None:
        self._changed = new_condition()
        self._waiting: deque[Closure] = deque()
        self._running = 0
        self._error: BaseException | None = None
        self._stopped = False

    # ---- the program -------------------------------------------------------------------------------------------------

    def put(self, closure: Closure) -> None:
        """Adds a closure.

        Raises:
            Exception: the first error of the closures so far.
        """
        with self._changed:
            self._changed.wait_for(lambda: len(self._waiting) < _MOST_WAITING)
            self._waiting.append(closure)
            self._raise()
            self._changed.notify_all()

    def join(self) -> None:
        """Waits until all closures have run.

        Raises:
            Exception: the first error among them.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._error is not None or not (self._waiting or self._running))
            self._raise()

    def done(self) -> bool:
        """Returns True if all closures have run.

        Raises:
            Exception: the first error among them.
        """
        with self._changed:
            self._raise()
            return not (self._waiting or self._running)

    def stop(self) -> None:
        """Lets the workers' threads end."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()

    def _raise(self) -> None:
        if self._error is None:
            return
        self._cancel()
        self._changed.wait_for(lambda: not self._running)
        self._cancel()  # those that came back of a worker that died
        error, self._error = self._error, None
        raise error

    def _cancel(self) -> None:
        while self._waiting:
            self._waiting.popleft().value.end(error=CancelledError.of(
                "The corresponding function is cancelled. Please reschedule the function."
            ))  # fmt: skip

    # ---- the workers -------------------------------------------------------------------------------------------------

    @property
    def stopped(self) -> bool:
        """Returns True if the workers' threads should end."""
        return self._stopped

    def take(self) -> Closure | None:
        """Waits for a closure and returns it; None when the thread shall end."""
        with self._changed:
            self._changed.wait_for(lambda: self._stopped or (self._waiting and self._error is None))
            if self._stopped:
                return None
            self._running += 1
            return self._waiting.popleft()

    def put_back(self, closure: Closure) -> None:
        """Takes a closure back that another worker has to run."""
        with self._changed:
            self._waiting.appendleft(closure)
            self._running -= 1
            self._changed.notify_all()

    def end(self, closure: Closure, result: Any = None, error: BaseException | None = None) -> None:
        """Stores the result or the error of a closure."""
        closure.value.end(result, error)
        with self._changed:
            self._error = self._error or error
            self._running -= 1
            self._changed.notify_all()
