"""The state of a thread: its tapes, its device scopes, its name scope.

State is per thread. All threads share two lists, which are only hints: an op that nothing records need not look into
its thread's state. While `listeners` is empty, no tape is recording anywhere. While `detours` is empty, no thread takes
ops off the fast path. List appends and removals are atomic in CPython. A thread that finds a list non-empty because of
another thread only takes the longer way to the same result.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Any


class ThreadState(threading.local):
    """The state of one thread."""

    def __init__(self) -> None:
        self.tapes: list[Any] = []  # recording tapes and accumulators, outermost first
        self.devices: list[Any] = []  # device scopes in force, outermost first
        self.name_scope = ""
        self.variable_creators: list[Any] = []
        self.graph: Any = None  # the graph that this thread builds
        self.tracing: Any = None  # the graph of the innermost `tf.function` that this thread traces
        self.sessions: list[Any] = []  # default sessions, outermost first
        self.default_graph: Any = None  # the graph of a thread that builds none, created at its first use
        self.in_turn = False  # whether ops convert their inputs in turn outside of graphs too
        self.compiler: Any = None  # of the graphs that this thread traces, if it checks each result
        self.on_slices = False  # whether `tf.vectorized_map` calls a function on all slices of a batch

    def default_session(self) -> Any:
        """Returns the innermost session of the thread, or None."""
        return self.sessions[-1] if self.sessions else None


# A debug mode for tests of compiled functions, see `graph/program/program_checks.py`.
CHECKS_PROGRAMS = os.environ.get("TAPEFLOW_CHECK_PASSES") == "1"
state = ThreadState()
listeners: list[Any] = []
detours: list[Any] = []
# each returns a hashable part of a thread's state that traces depend on (a strategy)
contexts: list[Callable[[], Any]] = []
# one or none: the collector of the graphs of called functions (`tf.summary.trace_on`)
graph_traces: list[Any] = []


def discard(items: list[Any], item: object) -> None:
    """Removes the last entry that *is* `item`; scopes may close in any order."""
    for i in range(len(items) - 1, -1, -1):
        if items[i] is item:
            del items[i]
            return


def once_for_each_slice(what: str) -> None:
    """Checks that a side effect, which happens once for each slice, is not run once for all of them.

    Raises:
        RuntimeError: a function is running once for all slices of a batch.
    """
    if state.on_slices:
        raise RuntimeError(f"vectorized_map: {what} happens once for each slice")


class override:
    """A context that gives other values to attributes of an object, and then those from before. It serves once.

    Args:
        target: the object.
        **values: by attribute, its value in the context.
    """

    def __init__(self, target: Any, **values: Any) -> None:
        self._target, self._values = target, values

    def _swap(self, *_: object) -> None:
        target, values = self._target, self._values
        self._values = {name: getattr(target, name) for name in values}
        for name, value in values.items():
            setattr(target, name, value)

    __enter__ = __exit__ = _swap


def nobody_listening() -> override:
    """Stops the recording of this thread's tapes."""
    return override(state, tapes=[])
