"""Updates by optimizers: one thread at a time, and compiled in loops that call them eagerly.

An optimizer reads its moments and its count before it writes them, and would lose another thread's update in between.
So threads that share an optimizer apply gradients one after the other, as do functions that apply them. (Not replicas
of a strategy, which wait for each other within an update.)

For each variable, Keras calls about a dozen ops, and each reads and writes whole tensors. Once an optimizer has counted
a few updates, the next ones run as a `tf.function`, in one pass over memory. Their last bits may differ. The count is
part of checkpoints, so a training that goes on from one has the same bits as one that never stopped. Only optimizers of
Keras itself are compiled: the `update_step` of another class may do more than update.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from numbers import Number
from typing import Any

import keras

from tapeflow.core.context import state
from tapeflow.core.fork_locks import new_rlock
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
_MOST = 8  # functions of an optimizer; later variables and attributes stay eager, as they may change with each update


def add() -> None:
    """Changes the optimizers of Keras."""
    internals.BaseOptimizer.apply = _one_by_one(internals.BaseOptimizer.apply)
    replace("keras:Optimizer", "_backend_update_step", _compile_update)
    replace("keras:Optimizer", "_apply_weight_decay", _compiling_decay)


class _Updating:
    """The lock and the updates of an optimizer. A copy of the optimizer has its own.

    Attributes:
        lock: held by a thread that applies gradients; None for replicas of a strategy.
        functions: the functions of methods, by the method, the variables and the optimizer's attributes. They stand
            with these attributes, so no other object gets their ids.
    """

    def __init__(self) -> None:
        self.lock = new_rlock() if hooks.replicas() == 1 else None
        self.functions: dict[Any, tuple[Callable[..., None], list[Any]]] = {}

    def __reduce__(self) -> Any:
        return _Updating, ()


def _is_updating(optimizer: Any) -> _Updating:
    attributes = optimizer.__dict__  # Keras would track an assignment
    if "_updating" not in attributes:
        attributes["_updating"] = _Updating()
    return attributes["_updating"]


def _one_by_one(apply: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(apply)
    def apply_one_by_one(self: Any, grads: Any, trainable_variables: Any = None) -> Any:
        lock = _is_updating(self).lock
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


def _compile_update(update: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(update)
    def update_compiled(self: Any, grads: Any, trainable_variables: Any, learning_rate: Any) -> None:
        variables = _variable_values(trainable_variables)
        if not (_may_compile(self, variables) and all(type(g) in (EagerTensor, IndexedSlices) for g in grads)):
            update(self, grads, trainable_variables, learning_rate)
            return

        def run(grads: Any, rate: Any) -> None:
            update(self, grads, variables, rate)

        _run_update(self, update.__name__, variables, run, list(grads), convert(learning_rate))

    return update_compiled


def _compiling_decay(decay: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(decay)
    def decay_compiled(self: Any, variables: Any) -> None:
        variables = _variable_values(variables)
        has_schedule = not isinstance(self._learning_rate, keras.Variable)  # it computes the rate by code of its own
        if self.weight_decay is None or has_schedule or not _may_compile(self, variables):
            decay(self, variables)
        else:
            _run_update(self, decay.__name__, variables, lambda: decay(self, variables))

    return decay_compiled


def _variable_values(variables: Sequence[Any]) -> list[Any]:
    """Returns TapeFlow's variables for variables of Keras."""
    return [v.value if isinstance(v, keras.Variable) else v for v in variables]


def _may_compile(optimizer: Any, variables: Sequence[Any]) -> bool:
    """Returns True if a function may replace updates of variables."""
    if state.graph is not None or state.tapes or state.on_slices or has_strategy() or settings.deterministic:
        return False
    return type(optimizer).__module__.startswith("keras.") and all(type(v) is ResourceVariable for v in variables)


def _run_update(optimizer: Any, name: str, variables: Sequence[Any], run: Callable[..., None], *tensors: Any) -> None:
    """Updates variables by `run(*tensors)`, the method of a name, or by its compiled function."""
    if int(optimizer.iterations.numpy()) >= _EAGER:
        functions = _is_updating(optimizer).functions
        attributes = [*optimizer.__dict__.values()]  # a function has them as constants
        key = (name, *map(id, variables), *(v if isinstance(v, (Number, str)) else id(v) for v in attributes))
        if key not in functions and len(functions) < _MOST:
            functions[key] = function(run, autograph=False, reduce_retracing=True), attributes
        run, _ = functions.get(key, (run, None))
    run(*tensors)
