"""What the operations of a graph hold between runs, such as queues: each session has its own."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any


class Resources:
    """Things by their names, made when they are first asked for."""

    def __init__(self) -> None:
        self._found: dict[Any, Any] = {}
        self._lock = threading.Lock()
        self._closed = False

    def get(self, key: Any, make: Callable[[], Any]) -> Any:
        """The thing of that key."""
        with self._lock:
            if key not in self._found:
                self._found[key] = made = make()
                if self._closed and hasattr(made, "cancel"):
                    made.cancel()
            return self._found[key]

    def close(self) -> None:
        """Has whatever waits for one of them, now or later, be cancelled."""
        with self._lock:
            self._closed = True
            found = list(self._found.values())
        for held in found:
            if hasattr(held, "cancel"):
                held.cancel()


class in_use:
    """A context in which the operations that this thread runs hold these resources."""

    __slots__ = ("_before", "_resources")

    def __init__(self, resources: Resources) -> None:
        self._resources = resources

    def __enter__(self) -> None:
        self._before, _running.resources = _running.resources, self._resources

    def __exit__(self, *_: object) -> None:
        _running.resources = self._before


class _Running(threading.local):
    """Whose operations a thread runs: a session's, or else of the whole process."""

    def __init__(self) -> None:
        self.resources = _of_process


_of_process = Resources()
_running = _Running()


def held_here(key: Any, make: Callable[[], Any]) -> Any:
    """The thing of that key of the session that runs in this thread."""
    return _running.resources.get(key, make)
