"""`tf.train.ExponentialMovingAverage`: averages of variables that forget the past slowly."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tapeflow.array.creation import zeros, zeros_like
from tapeflow.array.identities import group
from tapeflow.control.conditions_and_loops import cond
from tapeflow.core.context import state
from tapeflow.core.ops.convert import convert
from tapeflow.core.scopes import init_scope, name_scope
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.tensor import Tensor
from tapeflow.core.values.variable import Variable
from tapeflow.graph.ir.operation import Operation
from tapeflow.graph.ir.variables import is_initialized
from tapeflow.math.casting import cast
from tapeflow.math.extrema import minimum


class ExponentialMovingAverage:
    """Moving averages of variables: `average = decay * average + (1 - decay) * variable` at every `apply`.

    Args:
        decay: a float below 1; near it, the averages move slowly.
        num_updates: a number or variable that counts the training steps. The decay is then at most `(1 + num_updates) /
            (10 + num_updates)`, and the averages move faster in the beginning.
        zero_debias: removes the bias towards zero from the averages of tensors, which begin with zero (as in section 3
            of Kingma and Ba 2015, https://arxiv.org/abs/1412.6980). Those of variables begin with their values.
        name: the last part of the averages' names.

    Example:
        >>> ema, v = tf.train.ExponentialMovingAverage(decay=0.75), tf.Variable(4.0)
        >>> ema.apply([v])
        >>> v.assign(8.0)
        <tf.Variable 'UnreadVariable' shape=() dtype=float32, numpy=8.0>
        >>> ema.apply([v])
        >>> ema.average(v).numpy().item()
        5.0
    """

    def __init__(
        self,
        decay: TensorLike,
        num_updates: TensorLike | None = None,
        zero_debias: bool = False,
        name: str = "ExponentialMovingAverage",
    ) -> None:
        self._decay, self._num_updates, self._zero_debias, self._name = decay, num_updates, zero_debias, name
        self._averages: dict[Any, tuple[Any, Variable]] = {}  # by the variable's reference: it and its average
        self._biased: dict[Any, tuple[Variable, Variable]] = {}  # the same: the sum before the bias is out, the steps

    @property
    def name(self) -> str:
        """The last part of the averages' names."""
        return self._name

    def apply(self, var_list: Iterable[Any] | None = None) -> Operation | None:
        """Updates the averages of variables; one that has none yet begins with the variable's value.

        Args:
            var_list: floating variables; in a graph also tensors, whose averages begin with zero. In a graph, by
                default all trainable variables.

        Returns:
            In a graph, the operation that does it; eagerly None.

        Raises:
            TypeError: an element of `var_list` is not a variable, or not floating.
        """
        if var_list is None:
            var_list = state.graph.get_collection("trainable_variables") if _builds_session_graph() else ()
        values = list(var_list)
        for value in values:
            self._begin(value)
        with name_scope(self._name) as scope:
            updates = [self._update(value) for value in values]
        return group(*updates, name=scope)

    def _begin(self, value: Any) -> None:
        """Creates the average of a variable or a tensor, if it has none."""
        if not isinstance(value, (Variable, SymbolicTensor)):
            raise TypeError(
                f"tf.train.ExponentialMovingAverage takes variables, and tensors of a graph, not {value!r}."
            )
        if not value.dtype.is_floating:
            raise TypeError(f"The variables must be half, float, or double: {value.name}")
        if value.ref() in self._averages:
            return
        name = self.average_name(value)
        with init_scope(), name_scope(""):
            if isinstance(value, Variable):
                average = Variable(_first_value(value), trainable=False, name=name)
                if _builds_session_graph():
                    state.graph.add_to_collection("moving_average_variables", value)
            else:
                average = Variable(_zeros_of(value), trainable=False, name=name, shape=value.shape)
                if self._zero_debias:
                    biased = Variable(_zeros_of(value), trainable=False, name=f"{name}/biased", shape=value.shape)
                    steps = Variable(zeros([], value.dtype), trainable=False, name=f"{name}/local_step")
                    self._biased[value.ref()] = biased, steps
        self._averages[value.ref()] = value, average

    def _update(self, value: Any) -> Any:
        """Moves one average."""
        average = self._averages[value.ref()][1]
        decay = cast(self._decay_now(), value.dtype)
        if value.ref() not in self._biased:
            return average.assign_sub((average - value) * (1.0 - decay))
        biased, steps = self._biased[value.ref()]
        total = biased.assign_sub((biased - value) * (1.0 - decay))
        return average.assign(total / (1.0 - decay ** steps.assign_add(1.0)))

    def _decay_now(self) -> Any:
        decay = convert(self._decay)
        if self._num_updates is None:
            return decay
        count = cast(self._num_updates, decay.dtype)
        return minimum(decay, (1.0 + count) / (10.0 + count))

    def average(self, var: Variable | Tensor) -> Variable | None:
        """Returns the variable that holds an average.

        Args:
            var: the variable or tensor that is averaged.

        Returns:
            A variable, or None before the first `apply`.
        """
        entry = self._averages.get(var.ref())
        return None if entry is None else entry[1]

    def average_name(self, var: Variable | Tensor) -> str:
        """Returns the name of an average.

        Args:
            var: the variable or tensor that is averaged.

        Returns:
            The name, without `:0`.
        """
        return f"{var.name.partition(':')[0]}/{self._name}"

    def variables_to_restore(self, moving_avg_variables: Iterable[Any] | None = None) -> dict[str, Any]:
        """Returns the variables to restore from a checkpoint of TensorFlow 1 by the names of their averages. Restoring
        then assigns the averages to the variables.

        Args:
            moving_avg_variables: further variables to restore from averages; by default none. In a graph, by default
                all that are trainable or have an average.

        Returns:
            Variables by names; in a graph also the variables without averages, by their own names.
        """
        variables = [v for v, _ in self._averages.values() if isinstance(v, Variable)]
        if moving_avg_variables is not None:
            variables += moving_avg_variables
        elif _builds_session_graph():
            collection = state.graph.get_collection
            variables += [*collection("trainable_variables"), *collection("moving_average_variables")]
        by_name = {self.average_name(v): v for v in variables}
        if _builds_session_graph():
            averaged = {v.name for v in variables}
            for v in state.graph.get_collection("variables"):
                if v.name not in averaged:
                    by_name.setdefault(v.name.partition(":")[0], v)
        return by_name


def _builds_session_graph() -> bool:
    """Returns True if this thread builds a graph that sessions run, as TensorFlow 1 does."""
    return state.graph is not None and not state.graph.building_function


def _first_value(variable: Variable) -> Any:
    """Returns a variable's value. If a session may initialize the variable later, it returns the future value."""
    if not _builds_session_graph():
        return variable.read_value()
    return cond(is_initialized(variable), variable.read_value, lambda: variable.initial_value)


def _zeros_of(tensor: Any) -> Any:
    return zeros(tensor.shape, tensor.dtype) if tensor.shape.is_fully_defined() else zeros_like(tensor)
