"""`tf.__internal__.distribute`: how Keras's optimizers leave a replica to update variables."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from types import SimpleNamespace
from typing import Any


def _maybe_merge_call(function: Callable[..., Any], strategy: Any, *args: Any, **kwargs: Any) -> Any:
    """`function(strategy, ...)`, through `merge_call` only where the strategy needs all replicas to meet for it."""
    if strategy_supports_no_merge_call():
        return function(strategy, *args, **kwargs)
    from tapeflow import distribute

    return distribute.get_replica_context().merge_call(function, args=args, kwargs=kwargs)


def strategy_supports_no_merge_call() -> bool:
    """Returns whether replicas of the strategy in force may update variables without meeting."""
    from tapeflow import distribute

    return not distribute.has_strategy() or not distribute.get_strategy().extended._use_merge_call()


interim = SimpleNamespace(maybe_merge_call=_maybe_merge_call)


class ShardedVariable:
    """A variable in parts on several servers; no strategy here makes one."""


def variable_sync_on_read_context() -> AbstractContextManager[None]:
    """Where metrics are read. A replica reads its own part of what replicas count together; outside it is the whole."""
    return nullcontext()
