"""The state of operations between runs of a graph, such as queues. Each session has its own state."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import Any

from tapeflow.core.context import override
from tapeflow.core.fork_locks import new_lock


class Resources:
    """Resources by their keys, created at their first use."""

    def __init__(self) -> None:
        self._resources: dict[Any, Any] = {}
        self._lock = new_lock()
        self._closed = False

    def get(self, key: Hashable, create: Callable[[], Any]) -> Any:
        """Returns the resource of a key, after creating it if necessary."""
        with self._lock:
            if key not in self._resources:
                self._resources[key] = resource = create()
                if self._closed and hasattr(resource, "cancel"):
                    resource.cancel()
            return self._resources[key]

    def close(self) -> None:
        """Cancels operations that wait for a resource, including later ones."""
        with self._lock:
            self._closed = True
            resources = list(self._resources.values())
        for resource in resources:
            if hasattr(resource, "cancel"):
                resource.cancel()


def in_use(resources: Resources) -> override:
    """Returns a context: the operations that this thread runs use these resources."""
    return override(_running, resources=resources)


class _Running(threading.local):
    """The resources of the operations that a thread runs: a session's, or the whole process's."""

    def __init__(self) -> None:
        self.resources = _of_process


_of_process = Resources()
_running = _Running()


def held_here(key: Hashable, create: Callable[[], Any]) -> Any:
    """Returns the resource of a key in this thread's session, after creating it if necessary."""
    return _running.resources.get(key, create)


def in_session() -> bool:
    """Returns True if this thread runs a session with its own resources."""
    return _running.resources is not _of_process
