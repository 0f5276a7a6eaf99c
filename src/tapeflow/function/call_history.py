"""The recent calls of functions, and how many of them traced. Warnings follow TensorFlow's counts."""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Callable
from typing import Any

from tapeflow.core.tracebacks import is_engine_file

_WARN_AFTER = 5  # traces
_MOST_CALLS = 10  # from the second trace on: before that, the first trace is forgotten
_MOST_WARNINGS = 2


class CallHistory:
    """The calls of all `tf.function`s with the same code: a function created in a loop traces each time.

    Attributes:
        calls: the number of calls.
    """

    def __init__(self) -> None:
        self.calls = 0
        self._traces: deque[int] = deque()  # the numbers of the calls that traced
        self._warnings = 0

    def traced(self) -> tuple[int, int] | None:
        """Notes that the latest call traced.

        Returns:
            The number of traces and the number of calls, if they are worth a warning; else None.
        """
        traces = self._traces
        traces.append(self.calls)
        while len(traces) > 1 and self.calls - traces[1] >= _MOST_CALLS:
            traces.popleft()
        if len(traces) < _WARN_AFTER or self._warnings >= _MOST_WARNINGS:
            return None
        self._warnings += 1
        return len(traces), self.calls - traces[0] + 1


_histories: weakref.WeakKeyDictionary[Any, CallHistory] = weakref.WeakKeyDictionary()


def history_of(function: Callable[..., Any]) -> CallHistory:
    """Returns the history of the code of a Python function, below its decorators."""
    while hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    code = getattr(getattr(function, "__func__", function), "__code__", None)
    if code is None or is_engine_file[code.co_filename]:  # TapeFlow creates functions for each object
        return CallHistory()
    return _histories.setdefault(code, CallHistory())
