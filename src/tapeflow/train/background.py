"""Work that runs while the program goes on."""

from __future__ import annotations

import threading
from collections.abc import Callable


class Background:
    """Runs one function at a time in a thread, which the end of the process waits for too."""

    def __init__(self) -> None:
        self._thread: threading.Thread | None = None
        self._error: Exception | None = None

    def start(self, function: Callable[[], None]) -> None:
        """Calls a function in a thread."""
        self.wait()
        self._thread = threading.Thread(target=self._run, args=(function,))
        self._thread.start()

    def _run(self, function: Callable[[], None]) -> None:
        try:
            function()
        except Exception as error:
            self._error = error

    def wait(self) -> None:
        """Waits until the function is done.

        Raises:
            Exception: the exception of the function, if it raised one.
        """
        if self._thread is None or self._thread is threading.current_thread():
            return
        self._thread.join()
        self._thread = None
        error, self._error = self._error, None
        if error is not None:
            raise error
