"""Locks that stay usable in a forked process.

A forked process has one thread, the one that forked. A lock that another thread held would stay locked there for ever.
So all locks that outlive a call are made here, and a forked process unlocks those of other threads. What such a lock
protects is Python objects, which a thread leaves usable between any two instructions.

LLVM and imports of Python are not like that. So a fork waits until no thread is inside.
"""

from __future__ import annotations

import functools
import os
import sys
import threading
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if sys.version_info >= (3, 12) or TYPE_CHECKING:
    from functools import cached_property
else:

    class cached_property(functools.cached_property):
        """`functools.cached_property` without the lock that Python 3.11 holds for all instances of a class."""

        def __get__(self, instance, owner=None):
            if instance is None:
                return self
            value = instance.__dict__[self.attrname] = self.func(instance)
            return value


_renewed: weakref.WeakSet[Any] = weakref.WeakSet()


def new_lock() -> Any:
    """Returns a `threading.Lock`."""
    return renew_in_children(threading.Lock())


def new_rlock() -> Any:
    """Returns a `threading.RLock`."""
    return renew_in_children(threading.RLock())


def new_condition() -> threading.Condition:
    """Returns a `threading.Condition`."""
    return renew_in_children(threading.Condition())


def new_event() -> threading.Event:
    """Returns a `threading.Event`."""
    return renew_in_children(threading.Event())


def hold_during_forks(acquire: Callable[[], bool], release: Callable[[], None]) -> None:
    """Has a forking thread hold a lock from before the fork until after it, in both processes.

    Args:
        acquire: waits for the lock. It returns False if the thread must fork without the lock, as it holds something
            that the lock's holder waits for.
        release: releases the lock.
    """
    held = threading.local()

    def before() -> None:
        held.is_held = acquire()

    def after() -> None:
        if held.is_held:
            release()

    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=before, after_in_parent=after, after_in_child=after)


def renew_in_children(value: Any) -> Any:
    """Returns a lock, or another object whose `_at_fork_reinit()` is called in forked processes."""
    _renewed.add(value)
    return value


def _unlock_all() -> None:
    """Unlocks the locks, except for those that the forking thread holds: it goes on in this process."""
    for lock in _renewed:
        if not (hasattr(lock, "_is_owned") and lock._is_owned()):
            lock._at_fork_reinit()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_unlock_all)
