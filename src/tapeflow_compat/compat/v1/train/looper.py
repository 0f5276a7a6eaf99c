"""`tf.compat.v1.train.LooperThread`: a thread that calls a function in a loop."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tapeflow.train.coordinator import Coordinator


class LooperThread(threading.Thread):
    """A thread that calls a function until its coordinator asks to stop, which it does itself at an exception.

    Args:
        coord: the coordinator.
        timer_interval_secs: the seconds between the beginnings of two calls; None for no pause.
        target: the function; without one, `run_loop` is for a subclass to define.
        args, kwargs: its arguments.

    Raises:
        ValueError: `coord` is no coordinator, or there are arguments and no function.

    Example:
        >>> coordinator, seen = tf.train.Coordinator(), []
        >>> def work():
        ...     seen.append(len(seen))
        ...     if len(seen) == 3:
        ...         coordinator.request_stop()
        >>> thread = tf.compat.v1.train.LooperThread.loop(coordinator, None, work)
        >>> coordinator.join()
        >>> seen
        [0, 1, 2]
    """

    def __init__(
        self,
        coord: Coordinator,
        timer_interval_secs: float | None,
        target: Callable[..., Any] | None = None,
        args: Sequence[Any] | None = None,
        kwargs: Mapping[str, Any] | None = None,
    ) -> None:
        if not isinstance(coord, Coordinator):
            raise ValueError(f"'coord' argument must be a Coordinator: {coord}")
        if target is None and (args or kwargs):
            raise ValueError("'args' and 'kwargs' argument require that you also pass 'target'")
        super().__init__(daemon=True)
        self._coord, self._interval = coord, timer_interval_secs
        self._function, self._arguments = target, (tuple(args or ()), dict(kwargs or {}))
        coord.register_thread(self)

    @staticmethod
    def loop(
        coord: Coordinator,
        timer_interval_secs: float | None,
        target: Callable[..., Any],
        args: Sequence[Any] | None = None,
        kwargs: Mapping[str, Any] | None = None,
    ) -> LooperThread:
        """Creates a thread and starts it.

        Args:
            coord: a `tf.train.Coordinator`, which stops the thread.
            timer_interval_secs: a float, the seconds between the beginnings of two calls; None for no pause.
            target: the function to call repeatedly.
            args, kwargs: its arguments, a sequence and a dict; none by default.

        Returns:
            The `LooperThread`.

        Raises:
            ValueError: `coord` is no coordinator.
        """
        looper = LooperThread(coord, timer_interval_secs, target, args, kwargs)
        looper.start()
        return looper

    def run(self) -> None:
        """Runs the loop in the thread."""
        with self._coord.stop_on_exception():
            self.start_loop()
            due = time.monotonic()
            while not self._coord.wait_for_stop(0 if self._interval is None else max(0.0, due - time.monotonic())):
                due += self._interval or 0
                self.run_loop()
            self.stop_loop()

    def start_loop(self) -> None:
        """Is called when the thread begins."""

    def stop_loop(self) -> None:
        """Is called when the thread ends."""

    def run_loop(self) -> None:
        """Is called repeatedly."""
        if self._function is not None:
            args, kwargs = self._arguments
            self._function(*args, **kwargs)
