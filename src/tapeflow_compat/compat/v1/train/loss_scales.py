"""Loss scales: the loss is multiplied to keep gradients of narrow types from vanishing, then the gradients are
divided."""

from __future__ import annotations

import abc
from collections.abc import Mapping
from typing import Any

from tapeflow import nest
from tapeflow.array.creation import constant
from tapeflow.array.identities import group, no_op
from tapeflow.core.context import state
from tapeflow.core.logger import get_logger
from tapeflow.core.ops.convert import convert
from tapeflow.core.types.aliases import DTypeLike
from tapeflow.core.types.dtypes import float32, int64
from tapeflow.core.values.indexed_slices import IndexedSlices
from tapeflow.core.values.tensor import Tensor
from tapeflow.core.values.trackable import CHECKPOINT, Trackable
from tapeflow.core.values.variable import Variable
from tapeflow.math.casting import cast
from tapeflow.math.comparison import is_finite
from tapeflow.math.extrema import maximum
from tapeflow.math.reduction import reduce_all
from tapeflow_compat.compat.v1.control_flow import cond
from tapeflow_compat.compat.v1.train.optimizer import Optimizer, _outer_graph
from tapeflow_compat.compat.v1.variable_scopes import at_the_root


class LossScale(Trackable, metaclass=abc.ABCMeta):
    """Base class of the loss scales. A subclass is called for its value, and updated with the gradients of each step.

    Example:
        >>> isinstance(tf.compat.v1.mixed_precision.FixedLossScale(8), tf.compat.v1.mixed_precision.LossScale)
        True
    """

    def __init__(self) -> None:
        self._weights: dict[tuple[str, Any], Variable] = {}

    @abc.abstractmethod
    def __call__(self) -> Tensor:
        """Returns the scale, a float32 scalar."""

    @abc.abstractmethod
    def update(self, grads: Any) -> tuple[Any, Any]:
        """Updates the scale after a step.

        Args:
            grads: the gradients.

        Returns:
            An operation that does it (eagerly it is done), and whether the gradients should be applied.
        """

    def _add_weight(self, name: str, initial_value: Any, dtype: DTypeLike = None) -> Variable:
        """Creates a variable of the scale.

        Raises:
            RuntimeError: the graph has a variable of that name.
        """
        key = name, _outer_graph()
        if key in self._weights:
            raise RuntimeError(f"Duplicate variables detected. {key}")
        variable: Any = Variable(initial_value, trainable=False, name=name, dtype=dtype)
        self._weights[key] = variable
        self._handle_deferred_dependencies(name, variable)
        return variable

    def _trackable_children(self, save_type: str = CHECKPOINT, **kwargs: Any) -> dict[str, Any]:
        own = {name: v for (name, graph), v in self._weights.items() if graph is _outer_graph()}
        return own | super()._trackable_children(save_type, **kwargs)

    @abc.abstractmethod
    def get_config(self) -> dict[str, Any]:
        """Returns the arguments that create the scale."""

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> LossScale:
        """Creates a scale from its arguments.

        Args:
            config: a dict, the result of `get_config`.
        """
        return cls(**config)


class FixedLossScale(LossScale):
    """A scale that never changes.

    Args:
        loss_scale_value: the scale, at least 1.

    Raises:
        ValueError: it is no number, or less than 1.

    Example:
        >>> tf.compat.v1.mixed_precision.FixedLossScale(8)().numpy().item()
        8.0
    """

    def __init__(self, loss_scale_value: float) -> None:
        super().__init__()
        if not isinstance(loss_scale_value, (int, float)):
            raise ValueError("loss_scale_value must be a Python int or float.")
        if loss_scale_value < 1:
            raise ValueError("loss_scale_value must be at least 1.")
        self._loss_scale_value = float(loss_scale_value)

    def __call__(self) -> Tensor:
        return constant(self._loss_scale_value, float32)

    def update(self, grads: Any) -> tuple[Any, Any]:
        """Changes nothing: the scale is fixed.

        Args:
            grads: the gradients, ignored.

        Returns:
            An operation without effect (None in eager mode), and True: the gradients should be applied.
        """
        return no_op(), True

    def __repr__(self) -> str:
        return f"FixedLossScale({self._loss_scale_value})"

    def get_config(self) -> dict[str, Any]:
        """Returns the arguments that create the scale.

        Returns:
            A dict with `loss_scale_value`.
        """
        return {"loss_scale_value": self._loss_scale_value}


class DynamicLossScale(LossScale):
    """A scale that becomes larger after a number of steps with finite gradients, and smaller after one without.

    Args:
        initial_loss_scale: the first scale.
        increment_period: the number of steps.
        multiplier: the scale is multiplied or divided by it; it never falls below 1.

    Example:
        >>> scale = tf.compat.v1.mixed_precision.DynamicLossScale(8.0, increment_period=1)
        >>> _, apply = scale.update([tf.constant(1.0)])
        >>> scale().numpy().item()
        16.0
    """

    def __init__(
        self, initial_loss_scale: float = 2**15, increment_period: int = 2000, multiplier: float = 2.0
    ) -> None:
        super().__init__()
        self._initial_loss_scale, self._multiplier = float(initial_loss_scale), float(multiplier)
        self._increment_period = int(increment_period)
        self._current_loss_scale = self._add_weight("current_loss_scale", self._initial_loss_scale, float32)
        self._num_good_steps = self._add_weight("good_steps", 0, int64)

    @property
    def initial_loss_scale(self) -> float:
        """The first scale."""
        return self._initial_loss_scale

    @property
    def increment_period(self) -> int:
        """The number of steps with finite gradients after which the scale becomes larger."""
        return self._increment_period

    @property
    def multiplier(self) -> float:
        """The factor between two scales."""
        return self._multiplier

    def __call__(self) -> Tensor:
        return convert(self._current_loss_scale)

    def update(self, grads: Any) -> tuple[Any, Any]:
        """Multiplies the scale after `increment_period` steps with finite gradients, and divides it after a step
        without.

        Args:
            grads: a nest of tensors, `tf.IndexedSlices` and None, the gradients of the step.

        Returns:
            An operation that updates the scale (eagerly it is done), and a boolean scalar, True if all gradients are
            finite and should be applied.
        """
        scale, steps = self._current_loss_scale, self._num_good_steps
        values = [g.values if isinstance(g, IndexedSlices) else g for g in nest.flatten(grads) if g is not None]
        finite = reduce_all([reduce_all(is_finite(v)) for v in values])

        def larger() -> Any:
            new = scale * self._multiplier
            return group(cond(is_finite(new), lambda: _operation(scale.assign(new)), no_op), steps.assign(0))

        def smaller() -> Any:
            return group(steps.assign(0), scale.assign(maximum(scale / self._multiplier, 1.0)))

        def after_finite() -> Any:
            return cond(steps + 1 >= self._increment_period, larger, lambda: _operation(steps.assign_add(1)))

        return cond(finite, after_finite, smaller), finite

    def __repr__(self) -> str:
        values = self.get_config()
        if state.graph is None:
            now = {"current_loss_scale": self._current_loss_scale, "num_good_steps": self._num_good_steps}
            values = {name: variable.numpy() for name, variable in now.items()} | values
        return f"DynamicLossScale({', '.join(f'{name}={value}' for name, value in values.items())})"

    def get_config(self) -> dict[str, Any]:
        """Returns the arguments that create the scale.

        Returns:
            A dict with `initial_loss_scale`, `increment_period` and `multiplier`. The current scale is not part of it.
        """
        return {
            "initial_loss_scale": self.initial_loss_scale, "increment_period": self.increment_period,
            "multiplier": self.multiplier,
        }  # fmt: skip


def _operation(updated: Any) -> Any:
    return updated if state.graph is None else updated.op


def _loss_scale(identifier: Any) -> LossScale:
    """Returns a scale by its number, by "dynamic", or itself.

    Raises:
        ValueError: it is something else.
    """
    if identifier is None:
        raise ValueError("loss_scale cannot be None")
    if isinstance(identifier, (int, float)):
        return FixedLossScale(identifier)
    if isinstance(identifier, LossScale):
        return identifier
    if identifier != "dynamic":
        raise ValueError(f"Could not interpret loss scale identifier: {identifier}")
    return DynamicLossScale()


class MixedPrecisionLossScaleOptimizer(Optimizer):
    """An optimizer that scales the loss of another one, and drops steps whose gradients are not finite.

    Args:
        opt: the optimizer.
        loss_scale: a `LossScale`, a number, or "dynamic".

    Raises:
        ValueError: an argument is something else.

    Example:
        >>> inner = tf.compat.v1.train.GradientDescentOptimizer(0.1)
        >>> optimizer = tf.compat.v1.mixed_precision.MixedPrecisionLossScaleOptimizer(inner, "dynamic")
        >>> v = tf.Variable(3.0)
        >>> optimizer.minimize(lambda: v * v, var_list=[v])
        >>> round(v.numpy().item(), 3)
        2.4
    """

    def __init__(self, opt: Any, loss_scale: Any) -> None:
        if not isinstance(opt, Optimizer):
            raise ValueError(f'"opt" must be an instance of Optimizer, but got: {type(opt)}')
        super().__init__(opt._use_locking, opt.get_name())
        self._optimizer, self._loss_scale = opt, _loss_scale(loss_scale)
        self._track_trackable(self._optimizer, "base_optimizer")
        self._track_trackable(self._loss_scale, "loss_scale")

    def compute_gradients(self, loss: Any, *args: Any, **kwargs: Any) -> list[tuple[Any, Variable]]:
        """Computes the gradients of a loss: of the scaled loss, divided by the scale.

        Args:
            loss: a tensor of the graph; eagerly, a function without arguments.
            *args, **kwargs: further arguments of `Optimizer.compute_gradients`.

        Returns:
            A list of pairs of a gradient and its variable; the gradient is None if the loss does not depend on the
            variable.
        """
        scale = self._loss_scale()

        def scaled(value: Any) -> Any:
            return value * cast(scale, value.dtype)

        called = callable(loss) and not isinstance(loss, (Tensor, Variable))
        scaled_loss = (lambda: scaled(loss())) if called else scaled(loss)
        pairs = self._optimizer.compute_gradients(scaled_loss, *args, **kwargs)
        factor = 1.0 / self._loss_scale()
        return [(None if g is None else _times(g, factor), v) for g, v in pairs]

    def apply_gradients(  # type: ignore[override]  # without `skip_gradients_aggregation`, as in TensorFlow
        self, grads_and_vars: Any, global_step: Variable | None = None, name: str | None = None
    ) -> Any:
        """Updates variables by gradients. A dynamic scale drops steps with gradients that are not finite.

        Args:
            grads_and_vars: pairs of a gradient (a tensor, `tf.IndexedSlices` or None) and a variable.
            global_step: an integer variable that is incremented, or None.
            name: the operation's name; by default the optimizer's.

        Returns:
            The operation that updates the variables and the scale; None in eager mode.
        """
        if not isinstance(self._loss_scale, DynamicLossScale):
            return self._optimizer.apply_gradients(grads_and_vars, global_step, name)
        pairs, name = tuple(grads_and_vars), name or self.get_name()
        with at_the_root(""):  # not in a branch
            self._optimizer._create_slots([v for g, v in pairs if g is not None])
        update, finite = self._loss_scale.update([g for g, _ in pairs])

        def apply() -> Any:
            done = self._optimizer.apply_gradients(pairs, global_step, f"{name}-wrapped")
            return no_op() if done is None else done

        return group(cond(finite, apply, no_op), update, name=name)

    def variables(self) -> list[Variable]:
        """Returns the variables of the optimizer and of the scale."""
        return [*self._optimizer.variables(), *self._loss_scale._weights.values()]


def _times(gradient: Any, factor: Any) -> Any:
    if isinstance(gradient, IndexedSlices):
        values = gradient.values * cast(factor, gradient.values.dtype)
        return IndexedSlices(values, gradient.indices, gradient.dense_shape)
    return gradient * cast(factor, gradient.dtype)


def enable_mixed_precision_graph_rewrite(opt: Any, loss_scale: Any = "dynamic") -> Any:
    """Returns an optimizer with a loss scale. Graphs are not rewritten: ops compute in the types they have.

    Args:
        opt: an optimizer of `tf.compat.v1.train`.
        loss_scale: a `LossScale`, a number, or "dynamic".

    Raises:
        ValueError: `opt` is something else, or has a loss scale.

    Example:
        >>> optimizer = tf.compat.v1.train.GradientDescentOptimizer(0.1)
        >>> type(tf.compat.v1.mixed_precision.enable_mixed_precision_graph_rewrite(optimizer, 8.0)).__name__
        'MixedPrecisionLossScaleOptimizer'
    """
    if isinstance(opt, MixedPrecisionLossScaleOptimizer):
        raise ValueError(
            '"opt" must not already be an instance of a MixedPrecisionLossScaleOptimizer. '
            "`enable_mixed_precision_graph_rewrite` will automatically wrap the optimizer with a "
            "MixedPrecisionLossScaleOptimizer."
        )
    if not isinstance(opt, Optimizer):
        raise ValueError(
            f'"opt" must be an instance of a tf.train.Optimizer or a tf.keras.optimizers.Optimizer, but got: {opt}'
        )
    return MixedPrecisionLossScaleOptimizer(opt, loss_scale)


def disable_mixed_precision_graph_rewrite() -> None:
    """Does nothing but log: graphs are never rewritten for narrower types.

    Example:
        >>> tf.compat.v1.mixed_precision.disable_mixed_precision_graph_rewrite()
    """
    get_logger().warning("disable_mixed_precision_graph_rewrite() called when mixed precision is already disabled.")
