"""Updates by optimizers: one thread at a time, and compiled in loops that call them eagerly.

An optimizer reads its moments and its count before it writes them, and would lose another thread's update in between.
So threads that share an optimizer apply gradients one after the other, as do functions that apply them. (Not replicas
of a strategy, which wait for each other within an update.)

For each variable, Keras calls about a dozen ops, and each reads and writes whole tensors. Once a loop has made a few
eager updates of the same variables, the next ones run as a `tf.function`, in one pass over memory. Their last bits may
differ, so `enable_op_determinism` keeps all updates eager. Only optimizers of Keras itself are compiled: the
`update_step` of another class may do more than update.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Sequence
from numbers import Number
from typing import Any

import keras

from tapeflow.core.context import state
from tapeflow.core.hooks import hooks
from tapeflow.core.ops.convert import convert
from tapeflow.core.settings import settings
from tapeflow.core.values.indexed_slices import IndexedSlices
from tapeflow.core.values.tensor import EagerTensor
from tapeflow.core.values.variable import ResourceVariable
from tapeflow.distribute.context import has_strategy
from tapeflow.function.function import function
from tapeflow.graph.ir.func_graph import FuncGraph
from tapeflow.keras import internals
from tapeflow.keras.internals import replace

_EAGER = 8  # updates before compiling, which takes as long as five to ten of them


def add() -> None:
    """Changes the optimizers of Keras."""
    internals.BaseOptimizer.apply = _one_by_one(internals.BaseOptimizer.apply)
    replace("keras:Optimizer", "_backend_update_step", _compiling)


class _Updating:
    """The lock and the updates of an optimizer. A copy of the optimizer has its own.

    Attributes:
        lock: held by a thread that applies gradients; None for replicas of a strategy.
        updates: the updates of the variables that it updated last.
    """

    def __init__(self) -> None:
        self.lock = threading.RLock() if hooks.replicas() == 1 else None
        self.updates: _Updates | None = None

    def __reduce__(self) -> Any:
        return _Updating, ()


def _updating(optimizer: Any) -> _Updating:
    attributes = optimizer.__dict__  # Keras would track an assignment
    if "_updating" not in attributes:
        attributes["_updating"] = _Updating()
    return attributes["_updating"]


def _one_by_one(apply: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(apply)
    def apply_one_by_one(self: Any, grads: Any, trainable_variables: Any = None) -> Any:
        lock = _updating(self).lock
        if lock is None:
            return apply(self, grads, trainable_variables)
        graph = state.graph
        while isinstance(graph, FuncGraph):
            if lock not in graph.locks:
                graph.locks.append(lock)
            graph = graph.around
        with lock:
            return apply(self, grads, trainable_variables)

    return apply_one_by_one


class _Updates:
    """The updates of some variables by an optimizer.

    Args:
        update: the method of Keras.
        optimizer: the optimizer.
        variables: the variables.
        key: the identities of the variables, and the optimizer's attributes.
    """

    def __init__(self, update: Callable[..., Any], optimizer: Any, variables: Sequence[Any], key: Any) -> None:
        self.key, self._count = key, 0

        def step(grads: Sequence[Any], learning_rate: Any) -> None:
            update(optimizer, grads, variables, learning_rate)

        self._eager, self._compiled = step, function(step, autograph=False, reduce_retracing=True)

    def __call__(self, grads: Sequence[Any], learning_rate: Any) -> None:
        """Updates the variables."""
        self._count += 1
        if self._count <= _EAGER:
            self._eager(grads, learning_rate)
        else:
            self._compiled(list(grads), convert(learning_rate))


def _compiling(update: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(update)
    def update_compiled(self: Any, grads: Any, trainable_variables: Any, learning_rate: Any) -> Any:
        variables = [v.value if isinstance(v, keras.Variable) else v for v in trainable_variables]
        if not _may_compile(self, grads, variables):
            return update(self, grads, trainable_variables, learning_rate)
        updating = _updating(self)
        # A function has the attributes as constants.
        attributes = [v if isinstance(v, (Number, str)) else id(v) for v in self.__dict__.values()]
        key = (*map(id, variables), *attributes)
        if updating.updates is None or updating.updates.key != key:
            updating.updates = _Updates(update, self, variables, key)
        updating.updates(grads, learning_rate)
        return None

    return update_compiled


def _may_compile(optimizer: Any, grads: Sequence[Any], variables: Sequence[Any]) -> bool:
    """Returns True if a function may replace an update."""
    if state.graph is not None or state.tapes or state.on_slices or has_strategy() or settings.deterministic:
        return False
    if not type(optimizer).__module__.startswith("keras."):
        return False
    return all(type(v) is ResourceVariable for v in variables) and all(
        type(g) in (EagerTensor, IndexedSlices) for g in grads
    )
