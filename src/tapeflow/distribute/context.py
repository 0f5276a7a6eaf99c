"""Which strategy and which replica a thread is in. Asking costs no more than reading an attribute."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tapeflow.core.context import contexts


class Place(threading.local):
    """Where a thread is.

    Attributes:
        strategy: the strategy in force; outside of all scopes, the default one.
        replica: the `ReplicaContext`, or None in cross-replica context.
        index: the number of the replica whose copies of variables are meant, in a replica or an update; else None.
        updating: whether `StrategyExtended.update` is calling.
    """

    strategy: Any = None  # the default strategy and its replica context are put here by `strategy.py`
    replica: Any = None
    index: int | None = None
    updating: bool = False


place = Place()
contexts.append(lambda: (id(place.strategy), place.replica is None, place.index, place.updating))


@contextmanager
def moved(strategy: Any, replica: Any, index: int | None = None, updating: bool = False) -> Iterator[None]:
    """This thread is somewhere else in a scope."""
    before = place.strategy, place.replica, place.index, place.updating
    place.strategy, place.replica, place.index, place.updating = strategy, replica, index, updating
    try:
        yield
    finally:
        place.strategy, place.replica, place.index, place.updating = before


def get_strategy() -> Any:
    """The strategy in force; outside of all `strategy.scope()`s, the default one.

    Example:
        >>> tf.distribute.get_strategy().num_replicas_in_sync
        1
    """
    return place.strategy


def has_strategy() -> bool:
    """Whether another than the default strategy is in force.

    Example:
        >>> tf.distribute.has_strategy()
        False
    """
    return place.strategy is not Place.strategy


def get_replica_context() -> Any:
    """The `tf.distribute.ReplicaContext` of the replica that is running, or None in cross-replica context.

    Example:
        >>> tf.distribute.get_replica_context().replica_id_in_sync_group
        0
    """
    return place.replica


def in_cross_replica_context() -> bool:
    """Whether this is in the scope of a strategy, but in none of its replicas.

    Example:
        >>> tf.distribute.in_cross_replica_context()
        False
    """
    return place.replica is None


def require_cross_replica(strategy: Any) -> None:
    """Refuses what can't be done in a replica, or in the scope of another strategy.

    Raises:
        RuntimeError: it is there.
    """
    if place.strategy is not strategy and has_strategy():
        raise RuntimeError(f"Mixing different tf.distribute.Strategy objects: {place.strategy} is not {strategy}")
    if place.replica is not None and place.strategy is strategy:
        raise RuntimeError("Method requires being in cross-replica context, use get_replica_context().merge_call()")
