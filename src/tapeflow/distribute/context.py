"""The strategy and the replica that a thread is in. A query costs no more than reading an attribute."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from tapeflow.core.context import contexts
from tapeflow.core.hooks import hooks

if TYPE_CHECKING:
    from tapeflow.distribute.strategy import ReplicaContext, Strategy


class Place(threading.local):
    """The place of a thread in the scopes of strategies.

    Attributes:
        strategy: the strategy in force; outside of all scopes, the default one.
        replica: the `ReplicaContext`, or None in cross-replica context.
        index: the number of the replica whose copies of variables are read and written, in a replica or an update; else
            None.
        updating: whether `StrategyExtended.update` is calling.
        key: the part of a trace's cache key that depends on the place; None at a thread's initial place.
    """

    strategy: Any = None  # `strategy.py` sets the default strategy and its replica context
    replica: Any = None
    index: int | None = None
    updating: bool = False
    key: Any = None

    def move(self, strategy: Strategy, replica: Any, index: int | None = None, updating: bool = False) -> None:
        """Moves this thread to another place."""
        self.strategy, self.replica, self.index, self.updating = strategy, replica, index, updating
        at_first = strategy is Place.strategy and replica is Place.replica and index is None and not updating
        self.key = None if at_first else (id(strategy), replica is None, index, updating)


place = Place()
contexts.append(lambda: place.key)


@contextmanager
def move_thread(strategy: Strategy, replica: Any, index: int | None = None, updating: bool = False) -> Iterator[None]:
    """Moves this thread to another place for the length of a scope."""
    before = place.strategy, place.replica, place.index, place.updating
    place.move(strategy, replica, index, updating)
    try:
        yield
    finally:
        place.move(*before)


def get_strategy() -> Strategy:
    """Returns the strategy in force.

    Returns:
        The `tf.distribute.Strategy` whose `scope()` is entered; outside of all scopes, the default one.

    Example:
        >>> tf.distribute.get_strategy().num_replicas_in_sync
        1
    """
    return place.strategy


def has_strategy() -> bool:
    """Returns True if a strategy other than the default one is in force.

    Returns:
        True or False.

    Example:
        >>> tf.distribute.has_strategy()
        False
    """
    return place.strategy is not Place.strategy


def get_replica_context() -> ReplicaContext | None:
    """Returns the context of the replica that is running.

    Returns:
        A `tf.distribute.ReplicaContext`, or None in cross-replica context.

    Example:
        >>> tf.distribute.get_replica_context().replica_id_in_sync_group
        0
    """
    return place.replica


def in_cross_replica_context() -> bool:
    """Returns True if this thread is in the scope of a strategy, but in none of its replicas.

    Returns:
        True or False.

    Example:
        >>> tf.distribute.in_cross_replica_context()
        False
    """
    return place.replica is None


def require_cross_replica(strategy: Strategy) -> None:
    """Checks that this thread is neither in a replica nor in the scope of another strategy.

    Raises:
        RuntimeError: the thread is in a replica, or in the scope of another strategy.
    """
    if place.strategy is not strategy and has_strategy():
        raise RuntimeError(f"Mixing different tf.distribute.Strategy objects: {place.strategy} is not {strategy}")
    if place.replica is not None and place.strategy is strategy:
        raise RuntimeError("Method requires being in cross-replica context, use get_replica_context().merge_call()")


hooks.replicas = lambda: get_strategy().num_replicas_in_sync
