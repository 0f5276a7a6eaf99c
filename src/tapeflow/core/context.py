"""What a thread is in the middle of: its tapes, its device scopes, its name scope.

State is per thread. Two lists are shared by all threads and are only hints, so that an op which nobody listens to need
not look into its thread's state: while `listeners` is empty no tape is recording anywhere, and while `detours` is empty
no thread has anything in force that takes ops off the fast path. List appends and removals are atomic in CPython, and a
thread that finds a list non-empty because of another thread only takes the longer way to the same result.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


class ThreadState(threading.local):
    """The state of one thread."""

    def __init__(self) -> None:
        self.tapes: list[Any] = []  # recording tapes and accumulators, outermost first
        self.devices: list[Any] = []  # device scopes in force, outermost first
        self.name_scope = ""
        self.variable_creators: list[Any] = []
        self.graph: Any = None  # the graph that this thread builds
        self.sessions: list[Any] = []  # default sessions, outermost first
        self.default_graph: Any = None  # the graph of a thread that builds none, once somebody asks for it
        self.on_slices = False  # whether `tf.vectorized_map` calls a function on all slices of a batch

    def default_session(self) -> Any:
        """Returns the innermost session of the thread, or None."""
        return self.sessions[-1] if self.sessions else None


state = ThreadState()
listeners: list[Any] = []
detours: list[Any] = []
# each gives what of a thread's situation a trace depends on (a strategy), hashable
contexts: list[Callable[[], Any]] = []
# what collects the graphs of functions as they are called (`tf.summary.trace_on`): one or none
graph_traces: list[Any] = []


def discard(items: list[Any], item: object) -> None:
    """Removes the last entry that *is* `item`; scopes may close in any order."""
    for i in range(len(items) - 1, -1, -1):
        if items[i] is item:
            del items[i]
            return


def once_for_each_slice(what: str) -> None:
    """Is told of what must happen once for each slice, where a function may be running once for all of them.

    Raises:
        RuntimeError: it is.
    """
    if state.on_slices:
        raise RuntimeError(f"vectorized_map: {what} happens once for each slice")


@contextmanager
def nobody_listening() -> Iterator[None]:
    """No tape of this thread records what happens inside."""
    tapes, state.tapes = state.tapes, []
    try:
        yield
    finally:
        state.tapes = tapes
