"""The kinds of optimizers: the ops that update a variable, and their arguments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.core.context import state
from tapeflow.core.ops.definition import registry
from tapeflow.core.scopes import control_dependencies
from tapeflow.core.types.dtypes import int64
from tapeflow.core.values.variable import Variable
from tapeflow.math.casting import cast
from tapeflow_compat.compat.v1.train.optimizer import Optimizer


class _OneOpOptimizer(Optimizer):
    """An optimizer that updates a variable by one registered op.

    The op is named after its rule, `ResourceApply...`, and `ResourceSparseApply...` where there is one for gradients of
    rows. It takes the variable, the slots, `_numbers`, the gradient, and after `use_locking` the `_attrs`.
    """

    _rule: str
    _numbers: tuple[Any, ...]
    _attrs: tuple[bool, ...] = ()

    def _apply_dense(self, grad: Any, var: Variable) -> Any:
        return self._op(f"ResourceApply{self._rule}", var, grad)

    def _apply_sparse(self, grad: Any, indices: Any, var: Variable) -> Any:
        op = f"ResourceSparseApply{self._rule}"
        return self._op(op, var, grad, indices) if op in registry else super()._apply_sparse(grad, indices, var)

    def _op(self, op: str, var: Variable, *gradient: Any) -> Any:
        handles = self._handles(var, *self._slot_names)
        return self._run(op, handles, *self._arguments(var, *gradient), attrs=self._attrs)

    def _arguments(self, var: Variable, *gradient: Any) -> list[Any]:
        return [*[self._number(n, var) for n in self._numbers], *gradient]


class GradientDescentOptimizer(_OneOpOptimizer):
    """Gradient descent: `v -= learning_rate * gradient`.

    Args:
        learning_rate: a number, a tensor, or eagerly a function without arguments that gives one.
        use_locking: accepted, and without effect.
        name: a string, the optimizer's name.

    Example:
        >>> v = tf.Variable(1.0)
        >>> tf.compat.v1.train.GradientDescentOptimizer(0.1).minimize(lambda: 3.0 * v, var_list=[v])
        >>> print(v.numpy().round(4))
        0.7
    """

    _rule = "GradientDescent"

    def __init__(self, learning_rate: Any, use_locking: bool = False, name: str = "GradientDescent") -> None:
        super().__init__(use_locking, name)
        self._numbers = (learning_rate,)


class MomentumOptimizer(_OneOpOptimizer):
    """Gradient descent with momentum: `accumulation = momentum * accumulation + gradient`, `v -= learning_rate *
    accumulation`.

    Args:
        learning_rate: a number, a tensor, or eagerly a function without arguments that gives one.
        momentum: the share of the last step in the next, a number, a tensor, or eagerly a function.
        use_locking: accepted, and without effect.
        name: a string, the optimizer's name.
        use_nesterov: whether to use Nesterov's momentum, as in Sutskever et al. 2013
            (http://proceedings.mlr.press/v28/sutskever13.pdf); False by default.

    Example:
        >>> v = tf.Variable(1.0)
        >>> tf.compat.v1.train.MomentumOptimizer(0.1, 0.9).minimize(lambda: 3.0 * v, var_list=[v])
        >>> print(v.numpy().round(4))
        0.7
    """

    _rule = "Momentum"
    _slot_names = ("momentum",)

    def __init__(
        self,
        learning_rate: Any,
        momentum: Any,
        use_locking: bool = False,
        name: str = "Momentum",
        use_nesterov: bool = False,
    ) -> None:
        super().__init__(use_locking, name)
        self._numbers, self._attrs = (learning_rate, momentum), (use_nesterov,)

    def _arguments(self, var: Variable, *gradient: Any) -> list[Any]:
        rate, momentum = super()._arguments(var)
        return [rate, *gradient, momentum]


class AdamOptimizer(_OneOpOptimizer):
    """Adam (Kingma and Ba 2015, https://arxiv.org/abs/1412.6980), with the `epsilon` of its section 2 ("epsilon hat").

    Args:
        learning_rate: a number, a tensor, or eagerly a function without arguments that gives one.
        beta1, beta2: floats, the decay rates of the running means of gradients and of their squares; 0.9 and 0.999 by
            default.
        epsilon: a small number that keeps the quotient finite.
        use_locking: accepted, and without effect.
        name: a string, the optimizer's name.
        use_own_namescope_for_non_slot_vars: accepted, and without effect.

    Example:
        >>> v = tf.Variable(1.0)
        >>> tf.compat.v1.train.AdamOptimizer(0.1).minimize(lambda: 3.0 * v, var_list=[v])
        >>> print(v.numpy().round(4))
        0.9
    """

    _rule = "Adam"
    _attrs = (False,)
    _slot_names = ("m", "v")

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta1: Any = 0.9,
        beta2: Any = 0.999,
        epsilon: Any = 1e-8,
        use_locking: bool = False,
        name: str = "Adam",
        use_own_namescope_for_non_slot_vars: bool = False,
    ) -> None:
        super().__init__(use_locking, name, use_own_namescope_for_non_slot_vars)
        self._numbers, self._betas = (learning_rate, beta1, beta2, epsilon), (beta1, beta2)

    def _create_slots(self, var_list: Sequence[Variable]) -> None:
        self._powers()
        super()._create_slots(var_list)

    def _powers(self) -> tuple[Variable, Variable]:
        betas = [b() if callable(b) else b for b in self._betas]
        return self._variable("beta1_power", betas[0]), self._variable("beta2_power", betas[1])

    def _arguments(self, var: Variable, *gradient: Any) -> list[Any]:
        return [*[self._number(p, var) for p in self._powers()], *super()._arguments(var, *gradient)]

    def _finish(self, updates: list[Any]) -> list[Any]:
        with control_dependencies(updates):
            changed = [p.assign(p * self._number(b, p)) for p, b in zip(self._powers(), self._betas, strict=True)]
        return changed if state.graph is None else [*updates, *[c.op for c in changed]]


class AdagradOptimizer(_OneOpOptimizer):
    """Adagrad (Duchi et al. 2011, https://jmlr.org/papers/v12/duchi11a.html).

    Args:
        learning_rate: a number, a tensor, or eagerly a function without arguments that gives one.
        initial_accumulator_value: the initial value of the sums of squares.
        use_locking: accepted, and without effect.
        name: a string, the optimizer's name.

    Raises:
        ValueError: `initial_accumulator_value` is not positive.

    Example:
        >>> v = tf.Variable(1.0)
        >>> tf.compat.v1.train.AdagradOptimizer(0.1).minimize(lambda: 3.0 * v, var_list=[v])
        >>> print(v.numpy().round(4))
        0.9006
    """

    _rule = "Adagrad"
    _attrs = (True,)
    _slot_names = ("accumulator",)

    def __init__(
        self,
        learning_rate: Any,
        initial_accumulator_value: float = 0.1,
        use_locking: bool = False,
        name: str = "Adagrad",
    ) -> None:
        if initial_accumulator_value <= 0.0:
            raise ValueError(f"initial_accumulator_value must be positive: {initial_accumulator_value}")
        super().__init__(use_locking, name)
        self._numbers = (learning_rate,)
        self._first_values = {"accumulator": initial_accumulator_value}


class RMSPropOptimizer(_OneOpOptimizer):
    """RMSProp (Tieleman and Hinton 2012).

    Args:
        learning_rate: a number, a tensor, or eagerly a function without arguments that gives one.
        decay: a float, the decay rate of the running mean of squares; 0.9 by default.
        momentum: a float, the share of the last step in the next; 0 by default.
        epsilon: a small number that keeps the quotient finite.
        use_locking: accepted, and without effect.
        name: a string, the optimizer's name.
        centered: whether to divide by the estimated variance instead of the mean of squares; False by default.

    Example:
        >>> v = tf.Variable(1.0)
        >>> tf.compat.v1.train.RMSPropOptimizer(0.1).minimize(lambda: 3.0 * v, var_list=[v])
        >>> print(v.numpy().round(4))
        0.7764
    """

    def __init__(
        self,
        learning_rate: Any,
        decay: Any = 0.9,
        momentum: Any = 0.0,
        epsilon: Any = 1e-10,
        use_locking: bool = False,
        centered: bool = False,
        name: str = "RMSProp",
    ) -> None:
        super().__init__(use_locking, name)
        self._numbers = (learning_rate, decay, momentum, epsilon)
        self._rule = "CenteredRMSProp" if centered else "RMSProp"
        self._slot_names = ("mg", "rms", "momentum") if centered else ("rms", "momentum")

    def _create_slots(self, var_list: Sequence[Variable]) -> None:
        for v in var_list:
            self._slot(v, "rms", 1.0)
            for name in self._slot_names:
                self._slot(v, name, 0.0)  # `rms` has its slot already


class AdadeltaOptimizer(_OneOpOptimizer):
    """Adadelta (Zeiler 2012, https://arxiv.org/abs/1212.5701).

    Args:
        learning_rate: a number, a tensor, or eagerly a function without arguments that gives one.
        rho: a float, the decay rate of the running means of squares; 0.95 by default.
        epsilon: a small number that keeps the quotient finite.
        use_locking: accepted, and without effect.
        name: a string, the optimizer's name.

    Example:
        >>> v = tf.Variable(1.0)
        >>> tf.compat.v1.train.AdadeltaOptimizer(1.0, epsilon=0.01).minimize(lambda: 3.0 * v, var_list=[v])
        >>> print(v.numpy().round(4))
        0.5577
    """

    _rule = "Adadelta"
    _slot_names = ("accum", "accum_update")

    def __init__(
        self,
        learning_rate: Any = 0.001,
        rho: Any = 0.95,
        epsilon: Any = 1e-8,
        use_locking: bool = False,
        name: str = "Adadelta",
    ) -> None:
        super().__init__(use_locking, name)
        self._numbers = (learning_rate, rho, epsilon)


class FtrlOptimizer(_OneOpOptimizer):
    """FTRL-proximal (McMahan et al. 2013, https://research.google.com/pubs/archive/41159.pdf).

    Args:
        learning_rate_power: at most 0; 0 keeps the learning rate.
        initial_accumulator_value: at least 0.
        l1_regularization_strength, l2_regularization_strength, l2_shrinkage_regularization_strength: at least 0; the
            last only adds to the gradients.
        accum_name, linear_name: the slots' names.
        beta: at least 0.

    Raises:
        ValueError: a number is out of its range.

    Example:
        >>> v = tf.Variable(1.0)
        >>> tf.compat.v1.train.FtrlOptimizer(0.1).minimize(lambda: 3.0 * v, var_list=[v])
        >>> print(v.numpy().round(4))
        0.7957
    """

    _attrs = (False,)
    _slot_names = ("accum", "linear")

    def __init__(
        self,
        learning_rate: Any,
        learning_rate_power: float = -0.5,
        initial_accumulator_value: float = 0.1,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        use_locking: bool = False,
        name: str = "Ftrl",
        accum_name: str | None = None,
        linear_name: str | None = None,
        l2_shrinkage_regularization_strength: float = 0.0,
        beta: float | None = None,
    ) -> None:
        super().__init__(use_locking, name)
        for value, label in (
            (initial_accumulator_value, "initial_accumulator_value"),
            (l1_regularization_strength, "l1_regularization_strength"),
            (l2_regularization_strength, "l2_regularization_strength"),
            (l2_shrinkage_regularization_strength, "l2_shrinkage_regularization_strength"),
        ):
            if value < 0.0:
                raise ValueError(f"{label} {value:f} needs to be positive or zero")
        if learning_rate_power > 0.0:
            raise ValueError(f"learning_rate_power {learning_rate_power:f} needs to be negative or zero")
        self._numbers = (learning_rate, l1_regularization_strength, l2_regularization_strength)
        self._power, self._beta, self._first = learning_rate_power, beta, initial_accumulator_value
        self._rule = "FtrlV2" if l2_shrinkage_regularization_strength > 0.0 else "Ftrl"
        self._shrinkage = [l2_shrinkage_regularization_strength] if self._rule == "FtrlV2" else []
        self._names = accum_name, linear_name

    def _create_slots(self, var_list: Sequence[Variable]) -> None:
        for v in var_list:
            self._slot(v, "accum", self._first, self._names[0])
            self._slot(v, "linear", 0.0, self._names[1])

    def _arguments(self, var: Variable, *gradient: Any) -> list[Any]:
        rate, l1, l2 = super()._arguments(var)
        if self._beta:
            l2 = l2 + self._number(self._beta, var) / (2.0 * rate)
        return [*gradient, rate, l1, l2, *[self._number(n, var) for n in (*self._shrinkage, self._power)]]


class ProximalGradientDescentOptimizer(_OneOpOptimizer):
    """Gradient descent, then towards zero (Duchi and Singer 2009, https://papers.nips.cc/paper/3793).

    Args:
        learning_rate: a number, a tensor, or eagerly a function without arguments that gives one.
        l1_regularization_strength, l2_regularization_strength: floats, the strengths of the pull towards zero; 0 by
            default.
        use_locking: accepted, and without effect.
        name: a string, the optimizer's name.

    Example:
        >>> v = tf.Variable(1.0)
        >>> optimizer = tf.compat.v1.train.ProximalGradientDescentOptimizer(0.1, l1_regularization_strength=1.0)
        >>> optimizer.minimize(lambda: 3.0 * v, var_list=[v])
        >>> print(v.numpy().round(4))
        0.6
    """

    _rule = "ProximalGradientDescent"

    def __init__(
        self,
        learning_rate: Any,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        use_locking: bool = False,
        name: str = "ProximalGradientDescent",
    ) -> None:
        super().__init__(use_locking, name)
        self._numbers = (learning_rate, l1_regularization_strength, l2_regularization_strength)


class ProximalAdagradOptimizer(_OneOpOptimizer):
    """Adagrad, then towards zero (Duchi and Singer 2009, https://papers.nips.cc/paper/3793).

    Args:
        learning_rate: a number, a tensor, or eagerly a function without arguments that gives one.
        initial_accumulator_value: the initial value of the sums of squares.
        l1_regularization_strength, l2_regularization_strength: floats, the strengths of the pull towards zero; 0 by
            default.
        use_locking: accepted, and without effect.
        name: a string, the optimizer's name.

    Raises:
        ValueError: `initial_accumulator_value` is not positive.

    Example:
        >>> v = tf.Variable(1.0)
        >>> optimizer = tf.compat.v1.train.ProximalAdagradOptimizer(0.1, l1_regularization_strength=1.0)
        >>> optimizer.minimize(lambda: 3.0 * v, var_list=[v])
        >>> print(v.numpy().round(4))
        0.8674
    """

    _rule = "ProximalAdagrad"
    _slot_names = ("accumulator",)

    def __init__(
        self,
        learning_rate: Any,
        initial_accumulator_value: float = 0.1,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        use_locking: bool = False,
        name: str = "ProximalAdagrad",
    ) -> None:
        if initial_accumulator_value <= 0.0:
            raise ValueError(f"initial_accumulator_value must be positive: {initial_accumulator_value}")
        super().__init__(use_locking, name)
        self._numbers = (learning_rate, l1_regularization_strength, l2_regularization_strength)
        self._first_values = {"accumulator": initial_accumulator_value}


class AdagradDAOptimizer(_OneOpOptimizer):
    """Adagrad by dual averaging, for sparse linear models (Duchi et al. 2011,
    https://jmlr.org/papers/v12/duchi11a.html).

    Args:
        learning_rate: a number, a tensor, or eagerly a function without arguments that gives one.
        global_step: a variable that counts the steps.
        initial_gradient_squared_accumulator_value: the initial value of the sums of squares.
        l1_regularization_strength, l2_regularization_strength: floats, the strengths of the pull towards zero; 0 by
            default.
        use_locking: accepted, and without effect.
        name: a string, the optimizer's name.

    Raises:
        ValueError: `initial_gradient_squared_accumulator_value` is not positive.

    Example:
        >>> v = tf.Variable(1.0)
        >>> optimizer = tf.compat.v1.train.AdagradDAOptimizer(0.1, tf.Variable(0, dtype=tf.int64))
        >>> optimizer.minimize(lambda: 3.0 * v, var_list=[v])
        >>> print(v.numpy().round(4))
        -0.0994
    """

    _rule = "AdagradDA"
    _slot_names = ("gradient_accumulator", "gradient_squared_accumulator")

    def __init__(
        self,
        learning_rate: Any,
        global_step: Variable,
        initial_gradient_squared_accumulator_value: float = 0.1,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        use_locking: bool = False,
        name: str = "AdagradDA",
    ) -> None:
        if initial_gradient_squared_accumulator_value <= 0.0:
            raise ValueError(
                "initial_gradient_squared_accumulator_value must be positive: "
                f"{initial_gradient_squared_accumulator_value}"
            )
        super().__init__(use_locking, name)
        self._global_step = global_step
        self._numbers = (learning_rate, l1_regularization_strength, l2_regularization_strength)
        self._first_values = {"gradient_squared_accumulator": initial_gradient_squared_accumulator_value}

    def _arguments(self, var: Variable, *gradient: Any) -> list[Any]:
        return [*gradient, *super()._arguments(var), cast(self._global_step, int64) + 1]
