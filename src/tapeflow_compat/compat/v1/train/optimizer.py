"""`tf.compat.v1.train.Optimizer`: the base class of the optimizers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from tapeflow.array.creation import fill
from tapeflow.array.properties import shape
from tapeflow.array.sorting import unique
from tapeflow.autodiff import GradientTape
from tapeflow.autodiff.custom_gradients import gradients
from tapeflow.core.context import state
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.definition import registry
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.dtypes import float32
from tapeflow.core.values.indexed_slices import IndexedSlices
from tapeflow.core.values.tensor import Tensor
from tapeflow.core.values.trackable import CHECKPOINT, Trackable
from tapeflow.core.values.variable import Variable, _add_delta
from tapeflow.graph.ir.operation import GraphOp, VariableUpdate
from tapeflow.math.casting import cast
from tapeflow.math.segment import unsorted_segment_sum
from tapeflow_compat.compat.v1.variable_scopes import at_the_root, names_of
from tapeflow_compat.compat.v1.variables import GraphKeys, get_collection
from tapeflow_compat.v1_graphs import optimizer_ops  # noqa: F401 (registers them)

if TYPE_CHECKING:
    from tapeflow.graph.ir.graph import Graph


class Optimizer(Trackable):
    """Base class of the optimizers, which update variables to minimize a loss.

    Args:
        use_locking: accepted, and without effect.
        name: the prefix of the names of its operations and slots.
        use_own_namescope_for_non_slot_vars: accepted, and without effect.

    Raises:
        ValueError: the name is empty.

    Example:
        >>> with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
        ...     v = tf.Variable(3.0)
        ...     train = tf.compat.v1.train.GradientDescentOptimizer(0.1).minimize(v * v)
        ...     sess.run(tf.compat.v1.global_variables_initializer())
        ...     sess.run(train)
        ...     print(sess.run(v))
        2.4
    """

    GATE_NONE = 0
    GATE_OP = 1
    GATE_GRAPH = 2
    _slot_names: tuple[str, ...] = ()
    _first_values: Mapping[str, float] = MappingProxyType({})

    def __init__(self, use_locking: bool, name: str, use_own_namescope_for_non_slot_vars: bool = False) -> None:
        if not name:
            raise ValueError("Must specify the optimizer name")
        self._name, self._use_locking = name, use_locking
        self._slots: dict[str, dict[int, Variable]] = {}
        self._own: dict[tuple[str, Any], Variable] = {}  # variables that are no slots, by name and graph
        self._waiting: dict[tuple[str, int], list[Any]] = {}  # restorations of slots, by name and variable

    def get_name(self) -> str:
        """Returns the name."""
        return self._name

    # ---- the public methods -----------------------------------------------------------------------------------------

    def minimize(
        self,
        loss: Any,
        global_step: Variable | None = None,
        var_list: Sequence[Variable] | None = None,
        gate_gradients: int = GATE_OP,
        aggregation_method: Any = None,
        colocate_gradients_with_ops: bool = False,
        name: str | None = None,
        grad_loss: Any = None,
    ) -> Any:
        """`compute_gradients`, then `apply_gradients`.

        Args:
            loss: a tensor of the graph; eagerly, a function without arguments.
            global_step: a variable that becomes one larger.
            var_list: the variables to change; by default all trainable ones.
            gate_gradients, aggregation_method, colocate_gradients_with_ops: accepted, and without effect.
            name: the operation's name.
            grad_loss: the gradient of the loss; by default 1.

        Returns:
            The operation that does it; eagerly it is done, and there is None.

        Raises:
            ValueError: there are no variables, or the loss depends on none of them.
        """
        pairs = self.compute_gradients(
            loss, var_list, gate_gradients, aggregation_method, colocate_gradients_with_ops, grad_loss
        )
        if not any(g is not None for g, _ in pairs):
            raise ValueError(
                "No gradients provided for any variable, check your graph for ops that do not support gradients, "
                f"between variables {[str(v) for _, v in pairs]} and loss {loss}."
            )
        return self.apply_gradients(pairs, global_step, name)

    def compute_gradients(
        self,
        loss: Any,
        var_list: Sequence[Variable] | None = None,
        gate_gradients: int = GATE_OP,
        aggregation_method: Any = None,
        colocate_gradients_with_ops: bool = False,
        grad_loss: Any = None,
    ) -> list[tuple[Any, Variable]]:
        """Returns the gradients of a loss, each with its variable; None where the loss does not depend on it.

        Args:
            loss: a tensor of the graph; eagerly, a function without arguments.
            var_list: the variables to differentiate with respect to; by default all trainable ones.
            gate_gradients, aggregation_method, colocate_gradients_with_ops: accepted, and without effect.
            grad_loss: the gradient of the loss, a tensor of its shape; by default 1.

        Returns:
            A list of pairs of a gradient and its variable.

        Raises:
            ValueError: there are no variables.
            RuntimeError: eager execution is enabled, and the loss is no function.
        """
        if callable(loss) and not isinstance(loss, (Tensor, Variable)):
            return self._by_tape(loss, var_list, grad_loss)
        if state.graph is None:
            raise RuntimeError(
                "`loss` passed to Optimizer.compute_gradients should be a function when eager execution is enabled."
            )
        variables = get_collection(GraphKeys.TRAINABLE_VARIABLES) if var_list is None else list(var_list)
        if not variables:
            raise ValueError("No variables to optimize.")
        return list(zip(gradients(loss, variables, grad_loss), variables, strict=True))

    def _by_tape(self, loss: Callable[[], Any], var_list: Any, grad_loss: Any) -> list[tuple[Any, Variable]]:
        with GradientTape() as tape:
            value = loss()
        variables = list(var_list() if callable(var_list) else var_list or tape.watched_variables())
        return list(zip(tape.gradient(value, variables, grad_loss), variables, strict=True))

    def apply_gradients(
        self,
        grads_and_vars: Any,
        global_step: Variable | None = None,
        name: str | None = None,
        skip_gradients_aggregation: bool = False,
    ) -> Any:
        """Updates variables by gradients.

        Args:
            grads_and_vars: pairs of a gradient (a tensor, `tf.IndexedSlices` or None) and a variable.
            global_step: a variable that becomes one larger.
            name: the operation's name.
            skip_gradients_aggregation: accepted, and without effect: gradients are never aggregated.

        Returns:
            The operation that does it; eagerly it is done, and there is None.

        Raises:
            ValueError: there is no pair, or none with a gradient.
            TypeError: something else than that is in a pair.
        """
        pairs = [(self._gradient(g), _check_variable(v)) for g, v in grads_and_vars]
        if not pairs:
            raise ValueError("No variables provided.")
        used = [(g, v) for g, v in pairs if g is not None]
        if not used:
            raise ValueError(f"No gradients provided for any variable: {[str(v) for _, v in pairs]}.")
        with at_the_root(""):
            self._create_slots([v for _, v in used])
        with names_of(name or self._name):
            scope = state.name_scope
            self._prepare()
            last = self._finish([self._update(g, v) for g, v in used])
        if state.graph is None:
            if global_step is not None:
                global_step.assign_add(1)
            return None
        with state.graph.control_dependencies(last):
            done = _increment(state.graph, global_step, scope)
        if done not in get_collection(GraphKeys.TRAIN_OP):
            state.graph.add_to_collection(GraphKeys.TRAIN_OP, done)
        return done

    def _gradient(self, gradient: Any) -> Any:
        return gradient if gradient is None or isinstance(gradient, IndexedSlices) else convert(gradient)

    # ---- slots -------------------------------------------------------------------------------------------------------

    def get_slot(self, var: Variable, name: str) -> Variable | None:
        """Returns the slot of that name that goes with a variable, or None.

        Args:
            var: the variable.
            name: a string, the slot's name, such as "momentum"; see `get_slot_names`.
        """
        return self._slots.get(name, {}).get(_key(var))

    def _handles(self, var: Variable, *slots: str) -> list[Variable]:
        """Returns a variable and some of its slots."""
        return [var, *[self._slots[name][_key(var)] for name in slots]]

    def get_slot_names(self) -> list[str]:
        """Returns the names of its slots."""
        return sorted(self._slots)

    def variables(self) -> list[Variable]:
        """Returns the variables that the optimizer created."""
        graph = _outer_graph()
        variables = [v for slots in self._slots.values() for v in slots.values()]
        variables += [v for (_, owner), v in self._own.items() if graph is None or owner is graph]
        return sorted(variables, key=lambda v: v.name)

    def _slot(self, var: Variable, name: str, first: Any, label: str | None = None) -> Variable:
        """Returns the slot of a variable; creates it, with `first` in every element, if it does not exist."""
        slots = self._slots.setdefault(name, {})
        if _key(var) not in slots:
            value = fill(var.shape.as_list(), convert(first, var.dtype))
            slot: Any = Variable(value, trainable=False, name=f"{var._name}/{label or self._name}")
            slots[_key(var)] = slot
            for position in sorted(self._waiting.pop((name, _key(var)), ()), key=lambda p: p.restore_uid):
                position.restore(slot)
            part = getattr(var, "_save_slice_info", None)
            if part is not None:  # the slot is a part, too
                slot._save_slice_info = part._replace(full_name=part.full_name + slot._name.removeprefix(var._name))
        return slots[_key(var)]

    def _variable(self, name: str, first: float) -> Variable:
        """Returns a variable of the optimizer's own, one for each graph: a function creates it outside of itself."""
        key = name, _outer_graph()
        if key not in self._own:
            self._own[key] = Variable(first, trainable=False, name=name, dtype=float32)
            self._handle_deferred_dependencies(name, self._own[key])
        return self._own[key]

    # ---- checkpoints -------------------------------------------------------------------------------------------------

    def _trackable_children(self, save_type: str = CHECKPOINT, **kwargs: Any) -> dict[str, Any]:
        own = {name: v for (name, graph), v in self._own.items() if graph is _outer_graph()}
        return own | super()._trackable_children(save_type, **kwargs)

    def _create_or_restore_slot_variable(
        self, slot_variable_position: Any, slot_name: str, variable: Variable
    ) -> Variable | None:
        """Returns the slot to restore; None if it is restored when it is created."""
        position, creators = slot_variable_position, state.variable_creators
        if self.get_slot(variable, slot_name) is None:
            if state.graph is not None or creators or not position.is_simple_variable():
                self._waiting.setdefault((slot_name, _key(variable)), []).append(position)
                return None
            self._slot(variable, slot_name, 0.0)
        return self.get_slot(variable, slot_name)

    # ---- for subclasses ----------------------------------------------------------------------------------------------

    def _create_slots(self, var_list: Sequence[Variable]) -> None:
        for v in var_list:
            for name in self._slot_names:
                self._slot(v, name, self._first_values.get(name, 0.0))

    def _prepare(self) -> None:
        """Converts the hyperparameters to tensors."""

    def _apply_dense(self, grad: Any, var: Variable) -> Any:
        raise NotImplementedError

    def _apply_sparse(self, grad: Any, indices: TensorLike, var: Variable) -> Any:
        """By default, as a dense gradient that is 0 elsewhere."""
        dense = convert(IndexedSlices(grad, indices, convert(var.shape.as_list())))
        return self._apply_dense(dense, var)

    def _finish(self, updates: list[Any]) -> list[Any]:
        return updates

    def _update(self, grad: Any, var: Variable) -> Any:
        if isinstance(grad, IndexedSlices):
            update = self._apply_sparse(*_summed_by_row(grad), var)
        else:
            update = self._apply_dense(grad, var)
        if var.constraint is None:
            return update
        if state.graph is None:
            return var.assign(var.constraint(var.read_value()))
        with state.graph.control_dependencies([update]):
            return var.assign(var.constraint(var.read_value())).op

    def _number(self, value: Any, like: Variable) -> Any:
        """Returns a hyperparameter as a tensor of a variable's dtype; a function is called for its value."""
        value = value() if callable(value) and not isinstance(value, (Tensor, Variable)) else value
        return cast(value, like.dtype)

    def _run(self, op: str, handles: Sequence[Variable], *args: Any, attrs: tuple[Any, ...] = ()) -> Any:
        """Calls an op that updates variables."""
        resources = [_handle(v) for v in handles]
        return registry[op].function(*resources, *args, self._use_locking, *attrs)


def _increment(graph: Graph, global_step: Variable | None, name: str) -> Any:
    """Returns the last operation of a step, named like its scope: it counts up the global step, or does nothing."""
    if global_step is None:
        return graph.insert(GraphOp("NoOp"), name, ())
    one = graph.capture(convert(1, global_step.dtype))
    op = VariableUpdate("AssignAddVariableOp", _add_delta)
    return graph.insert(op, name, [graph.capture_variable(global_step), one])


def _summed_by_row(grad: IndexedSlices) -> tuple[Any, Any]:
    """Returns the values and indices of a gradient, with the values of repeated rows added up."""
    rows, places = unique(grad.indices)
    return unsorted_segment_sum(grad.values, places, shape(rows)[0]), rows


def _check_variable(var: Any) -> Variable:
    if isinstance(var, Tensor):
        raise NotImplementedError(f"Trying to update a Tensor {var!r}: optimizers change tf.Variables.")
    if not isinstance(var, Variable):
        raise TypeError(
            f"Trying to optimize unsupported type {type(var).__name__}: {var!r}. Optimizers change tf.Variables."
        )
    return var


def _key(var: Variable) -> int:
    return getattr(var, "_variable", var)._id


def _handle(var: Variable) -> Any:
    return var.handle if state.graph is None else state.graph.capture_variable(var)


def _outer_graph() -> Any:
    """Returns the graph that is built outside of all functions; None in eager mode."""
    graph = state.graph
    while graph is not None and graph.building_function:
        graph = graph.around
    return graph
