"""`tf.train.ExponentialMovingAverage`: averages of variables that forget the past slowly."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tapeflow.core.convert import convert
from tapeflow.core.variable import Variable
from tapeflow.math import minimum
from tapeflow.math.casting import cast
from tapeflow.scopes import init_scope


class ExponentialMovingAverage:
    """Moving averages of variables: `average = decay * average + (1 - decay) * variable` at every `apply`.

    Args:
        decay: a float below 1; near it, the averages move slowly.
        num_updates: a number or variable that counts the training steps; then the decay is at most
            `(1 + num_updates) / (10 + num_updates)`, so that the averages move faster in the beginning.
        zero_debias: accepted: averages of variables begin with their values, and there is no bias towards zero.
        name: what the averages' names end with.

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
        decay: Any,
        num_updates: Any = None,
        zero_debias: bool = False,
        name: str = "ExponentialMovingAverage",
    ) -> None:
        self._decay, self._num_updates, self._zero_debias, self._name = decay, num_updates, zero_debias, name
        self._averages: dict[Any, tuple[Variable, Variable]] = {}  # by the variable's reference: it and its average

    @property
    def name(self) -> str:
        """What the averages' names end with."""
        return self._name

    def apply(self, var_list: Iterable[Any] | None = None) -> None:
        """Updates the averages of variables; one that has none yet begins with the variable's value.

        Args:
            var_list: floating variables.

        Raises:
            TypeError: one of them is no variable, or not floating.
        """
        variables = list(var_list or ())
        for variable in variables:
            if not isinstance(variable, Variable):
                raise TypeError(f"tf.train.ExponentialMovingAverage takes variables, not {variable!r}.")
            if not variable.dtype.is_floating:
                raise TypeError(f"The variables must be half, float, or double: {variable.name}")
            if variable.ref() not in self._averages:
                with init_scope():
                    average = Variable(variable.read_value(), trainable=False, name=self.average_name(variable))
                self._averages[variable.ref()] = variable, average
        for variable in variables:
            average = self._averages[variable.ref()][1]
            rate = cast(1.0 - self._decay_now(), variable.dtype)
            average.assign_sub((average - variable) * rate)

    def _decay_now(self) -> Any:
        decay = convert(self._decay)
        if self._num_updates is None:
            return decay
        count = cast(self._num_updates, decay.dtype)
        return minimum(decay, (1.0 + count) / (10.0 + count))

    def average(self, var: Any) -> Variable | None:
        """The variable that holds a variable's average, or None before the first `apply`."""
        found = self._averages.get(var.ref())
        return None if found is None else found[1]

    def average_name(self, var: Any) -> str:
        """The name of a variable's average."""
        return f"{var.name.partition(':')[0]}/{self._name}"

    def variables_to_restore(self, moving_avg_variables: Iterable[Any] | None = None) -> dict[str, Any]:
        """What to restore from a checkpoint of TensorFlow 1 by which names, for variables that take their averages.

        Args:
            moving_avg_variables: those that do, beside those that have an average here.
        """
        variables = [v for v, _ in self._averages.values()] + list(moving_avg_variables or ())
        return {self.average_name(v): v for v in variables}
