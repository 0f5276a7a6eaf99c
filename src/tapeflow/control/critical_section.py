"""`tf.CriticalSection`: one thread at a time."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from tapeflow.core.fork_locks import new_lock, new_rlock
from tapeflow.core.ops.convert import convert
from tapeflow.core.values import nest

_locks: dict[str, threading.RLock] = {}
_registering = new_lock()  # held while a shared lock is looked up or added


class CriticalSection:
    """A section that lets only one thread at a time execute functions.

    Args:
        name: of the section.
        shared_name: sections of the same shared name exclude each other.
        critical_section_def, import_scope: ignored.

    Example:
        >>> v = tf.Variable(0)
        >>> tf.CriticalSection().execute(lambda: v.assign_add(2)).numpy().item()
        2
    """

    def __init__(
        self, name: str | None = None, shared_name: str | None = None, critical_section_def: Any = None,
        import_scope: str | None = None,
    ) -> None:  # fmt: skip
        self._name = name or shared_name or "critical_section"
        self._lock: Any = new_rlock()
        if shared_name is not None:
            with _registering:
                self._lock = _locks.setdefault(shared_name, self._lock)
        self._owner: int | None = None

    @property
    def name(self) -> str:
        """The section's name."""
        return self._name

    def execute(self, fn: Callable[[], Any], exclusive_resource_access: bool = True, name: str | None = None) -> Any:
        """Calls `fn` while no other thread executes anything in the section.

        Args:
            fn: a function without arguments.
            exclusive_resource_access: ignored.
            name: ignored.

        Returns:
            The result of `fn`, with values converted to tensors.

        Raises:
            ValueError: `fn` enters the section again.
        """
        if self._owner == threading.get_ident():
            raise ValueError(
                f"Attempting to lock the CriticalSection {self._name!r} in which we are already running. This is "
                "illegal and may cause deadlocks."
            )
        with self._lock:
            self._owner = threading.get_ident()
            try:
                result = fn()
            finally:
                self._owner = None
        return nest.map_structure(lambda v: v if v is None else convert(v), result, expand_composites=True)
