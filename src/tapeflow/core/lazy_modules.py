"""Modules that are loaded on first use, by one thread at a time.

Python locks each module while it is imported. Two threads that import a package and its module, or two modules that
import each other, would wait for each other. Python then gives one of them an error, or an incomplete module. So a
thread waits for its turn before it loads anything. Python has already locked the modules of an import statement.
While the thread waits, it unlocks them, and others may load them. It does not wait for a thread that waits for it.

A statement `import a.b` locks `a.b` and then `a`, and a package that imports its module locks them the other way. So a
thread locks all modules of a package before it runs the package.
"""

from __future__ import annotations

import importlib
import os
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from tapeflow.core.fork_locks import hold_during_forks, new_rlock
from tapeflow.core.gc_pause import pause_collection

_SECONDS = 0.01  # between two looks at the modules that other threads wait for
_PACKAGES = ("tapeflow", "tensorflow", "keras")


class _Turn:
    """A lock that a thread can hold several times, with the thread that holds it."""

    def __init__(self) -> None:
        self._lock = new_rlock()
        self._holder: int | None = None
        self._depth = 0

    def acquire(self) -> bool:
        """Waits for the turn. Returns False if the thread that has it waits for this one."""
        me = threading.get_ident()
        if not self._lock.acquire(blocking=False):
            with _unlocked_modules(me):
                while not self._lock.acquire(timeout=_SECONDS):
                    if _waits_for(self._holder, me):
                        return False
        self._holder, self._depth = me, self._depth + 1
        return True

    def release(self) -> None:
        """Gives the turn back."""
        self._depth -= 1
        if not self._depth:
            self._holder = None
        self._lock.release()


@contextmanager
def _unlocked_modules(me: int) -> Iterator[None]:
    """Opens a context: inside, a thread does not lock the modules that it has not yet begun to run."""
    held: list[Any] = []
    for name, reference in list(importlib._bootstrap._module_locks.items()):  # type: ignore[attr-defined]
        lock = reference()
        if lock is not None and lock.owner == me and name.startswith(_PACKAGES) and name not in sys.modules:
            held.append(lock)  # in the order in which the thread locked them
            lock.release()
    try:
        yield
    finally:
        for lock in held:
            lock.acquire()


@contextmanager
def _locked_submodules(me: int, spec: ModuleSpec) -> Iterator[None]:
    """Opens a context: inside, no other thread has locked a submodule of a package that this one is about to run."""
    find: Any = importlib._bootstrap._get_module_lock  # type: ignore[attr-defined]
    # The deepest first, as import statements do.
    locks = [find(name) for name in sorted(_submodules(spec), key=lambda name: -name.count("."))]
    own = find(spec.name)
    if own.owner != me or all(lock.owner == me for lock in locks):  # a module has none
        yield
        return
    held = [lock for lock in [*locks, own] if lock.owner == me]
    for lock in held:  # a thread that waits for the package may lock it now, and then waits for its turn
        lock.release()
    for lock in [*locks, *held]:
        lock.acquire()
    try:
        yield
    finally:
        for lock in locks:
            lock.release()


def _submodules(spec: ModuleSpec) -> Iterable[str]:
    """Returns the names of the modules in a package's folder, if other threads could be importing them."""
    if threading.active_count() == 1:
        return
    for path in spec.submodule_search_locations or ():
        for folder, folders, files in os.walk(path):
            package = ".".join([spec.name, *os.path.relpath(folder, path).split(os.sep)]).removesuffix("..")
            folders[:] = [name for name in folders if name != "__pycache__"]
            for name in [*folders, *(file.removesuffix(".py") for file in files if file.endswith(".py"))]:
                if name != "__init__":
                    yield f"{package}.{name}"


def _waits_for(thread: int | None, other: int) -> bool:
    """Returns True if a thread waits for a module that another one is importing, itself or by way of others."""
    waiting: Any = importlib._bootstrap._blocking_on  # type: ignore[attr-defined]  # by thread: a lock, or a list
    seen: set[int | None] = set()
    threads = [thread]
    while threads:
        current = threads.pop()
        if current == other:
            return True
        if current is not None and current not in seen:
            seen.add(current)
            locks = waiting.get(current, ())
            threads += [lock.owner for lock in (locks if isinstance(locks, (list, tuple)) else [locks])]
    return False


_turn = _Turn()


@contextmanager
def one_at_a_time(spec: ModuleSpec | None = None) -> Iterator[None]:
    """Opens a context: inside, no other thread loads modules of TapeFlow or Keras.

    Args:
        spec: of a module that the import system is about to create and to run, if it does. If `sys.modules` has the
            module inside, then another thread has loaded it meanwhile.
    """
    if not _turn.acquire():
        yield
        return
    try:
        if spec is None or spec.name in sys.modules:
            yield
        else:
            with _locked_submodules(threading.get_ident(), spec):
                yield
    finally:
        _turn.release()


def is_incomplete(module: ModuleType) -> bool:
    """Returns True if a module is still being imported."""
    return getattr(module.__spec__, "_initializing", False)


def load(name: str) -> Any:
    """Imports a module when its turn has come.

    Args:
        name: the module's name.

    Returns:
        The module, complete.

    Example:
        >>> from tapeflow.core.lazy_modules import load
        >>> load("tapeflow.signal") is tf.signal
        True
    """
    module = sys.modules.get(name)
    if module is not None and not is_incomplete(module):
        return module
    package = name.rpartition(".")[0]
    if package:  # first: Python locks it only after its module, and another thread may be importing it
        load(package)
    with one_at_a_time(), pause_collection():
        return importlib.import_module(name)


hold_during_forks(_turn.acquire, _turn.release)  # a forked process would find the modules of another thread locked
