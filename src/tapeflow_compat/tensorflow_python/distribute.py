"""`tf.__internal__.distribute`: the functions of Keras's optimizers for updates of variables from a replica."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from tapeflow.core.lazy_modules import load
from tapeflow.distribute.context import get_replica_context, get_strategy, has_strategy

if TYPE_CHECKING:
    from tapeflow.distribute.strategy import Strategy


def _maybe_merge_call(function: Callable[..., Any], strategy: Strategy, *args: Any, **kwargs: Any) -> Any:
    """Calls `function(strategy, ...)`, by `merge_call` only where the strategy needs it."""
    if strategy_supports_no_merge_call():
        return function(strategy, *args, **kwargs)
    replica: Any = get_replica_context()
    return replica.merge_call(function, args=args, kwargs=kwargs)


def strategy_supports_no_merge_call() -> bool:
    """Returns True if replicas of the strategy in force may update variables without `merge_call`."""
    return not has_strategy() or not get_strategy().extended._use_merge_call()


interim = SimpleNamespace(maybe_merge_call=_maybe_merge_call)


class ShardedVariable:
    """A variable in parts on several servers; no strategy here creates one."""


def variable_sync_on_read_context() -> AbstractContextManager[None]:
    """Returns a scope to read metrics in: without effect, as a replica reads its own part of a sum anyway."""
    return nullcontext()


def __getattr__(name: str) -> Any:
    if name == "combinations":
        return load("tapeflow.tensorflow_python.testing.distribution_combinations")
    raise AttributeError(f"TapeFlow has no tf.__internal__.distribute.{name}.")
