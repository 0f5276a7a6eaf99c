"""The kinds of optimizers: which op updates a variable, and with which arguments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.compat.v1.train.optimizer import Optimizer
from tapeflow.core.context import state
from tapeflow.core.types.dtypes import int64
from tapeflow.core.values.variable import Variable
from tapeflow.math.casting import cast


class GradientDescentOptimizer(Optimizer):
    """Gradient descent: `v -= learning_rate * gradient`.

    Args:
        learning_rate: a number, a tensor, or eagerly a function without arguments that gives one.
        use_locking: accepted, and without effect.
        name: of the optimizer.

    Example:
        >>> v = tf.Variable(1.0)
        >>> tf.compat.v1.train.GradientDescentOptimizer(0.1).minimize(lambda: 3.0 * v, var_list=[v])
        >>> print(v.numpy().round(4))
        0.7
    """

    def __init__(self, learning_rate: Any, use_locking: bool = False, name: str = "GradientDescent") -> None:
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate

    def _apply_dense(self, grad: Any, var: Variable) -> Any:
        return self._run("ResourceApplyGradientDescent", [var], self._number(self._learning_rate, var), grad)


class MomentumOptimizer(Optimizer):
    """Gradient descent with momentum: `accumulation = momentum * accumulation + gradient`, `v -= learning_rate *
    accumulation`.

    Args:
        learning_rate: a number, a tensor, or eagerly a function without arguments that gives one.
        momentum: the same.
        use_locking: accepted, and without effect.
        name: of the optimizer.
        use_nesterov: Nesterov's momentum, as in Sutskever et al. 2013
            (http://proceedings.mlr.press/v28/sutskever13.pdf).

    Example:
        >>> v = tf.Variable(1.0)
        >>> tf.compat.v1.train.MomentumOptimizer(0.1, 0.9).minimize(lambda: 3.0 * v, var_list=[v])
        >>> print(v.numpy().round(4))
        0.7
    """

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
        self._learning_rate, self._momentum, self._use_nesterov = learning_rate, momentum, use_nesterov

    def _apply_dense(self, grad: Any, var: Variable) -> Any:
        rate, momentum = self._number(self._learning_rate, var), self._number(self._momentum, var)
        return self._run(
            "ResourceApplyMomentum", self._handles(var, "momentum"), rate, grad, momentum, attrs=(self._use_nesterov,)
        )

    def _apply_sparse(self, grad: Any, indices: Any, var: Variable) -> Any:
        rate, momentum = self._number(self._learning_rate, var), self._number(self._momentum, var)
        handles = self._handles(var, "momentum")
        return self._run(
            "ResourceSparseApplyMomentum", handles, rate, grad, indices, momentum, attrs=(self._use_nesterov,)
        )


class AdamOptimizer(Optimizer):
    """Adam (Kingma and Ba 2015, https://arxiv.org/abs/1412.6980), with the `epsilon` of its section 2 ("epsilon hat").

    Args:
        learning_rate: a number, a tensor, or eagerly a function without arguments that gives one.
        beta1, beta2: how slowly the means of gradients and of their squares move.
        epsilon: a small number that keeps the quotient finite.
        use_locking: accepted, and without effect.
        name: of the optimizer.
        use_own_namescope_for_non_slot_vars: accepted, and without effect.

    Example:
        >>> v = tf.Variable(1.0)
        >>> tf.compat.v1.train.AdamOptimizer(0.1).minimize(lambda: 3.0 * v, var_list=[v])
        >>> print(v.numpy().round(4))
        0.9
    """

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
        self._learning_rate, self._beta1, self._beta2, self._epsilon = learning_rate, beta1, beta2, epsilon

    def _create_slots(self, var_list: Sequence[Variable]) -> None:
        self._powers()
        super()._create_slots(var_list)

    def _powers(self) -> tuple[Variable, Variable]:
        betas = [b() if callable(b) else b for b in (self._beta1, self._beta2)]
        return self._variable("beta1_power", betas[0]), self._variable("beta2_power", betas[1])

    def _apply_dense(self, grad: Any, var: Variable) -> Any:
        numbers = [*self._powers(), self._learning_rate, self._beta1, self._beta2, self._epsilon]
        handles = self._handles(var, "m", "v")
        return self._run("ResourceApplyAdam", handles, *[self._number(n, var) for n in numbers], grad, attrs=(False,))

    def _finish(self, updates: list[Any]) -> list[Any]:
        powers = self._powers()
        if state.graph is None:
            return [p.assign(p * self._number(b, p)) for p, b in zip(powers, (self._beta1, self._beta2), strict=True)]
        with state.graph.control_dependencies(updates):
            changed = [
                p.assign(p * self._number(b, p)).op for p, b in zip(powers, (self._beta1, self._beta2), strict=True)
            ]
        return [*updates, *changed]


class AdagradOptimizer(Optimizer):
    """Adagrad (Duchi et al. 2011, https://jmlr.org/papers/v12/duchi11a.html).

    Args:
        learning_rate: a number, a tensor, or eagerly a function without arguments that gives one.
        initial_accumulator_value: the initial value of the sums of squares.
        use_locking: accepted, and without effect.
        name: of the optimizer.

    Raises:
        ValueError: `initial_accumulator_value` is not positive.

    Example:
        >>> v = tf.Variable(1.0)
        >>> tf.compat.v1.train.AdagradOptimizer(0.1).minimize(lambda: 3.0 * v, var_list=[v])
        >>> print(v.numpy().round(4))
        0.9006
    """

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
        self._learning_rate = learning_rate
        self._first_values = {"accumulator": initial_accumulator_value}

    def _apply_dense(self, grad: Any, var: Variable) -> Any:
        handles = self._handles(var, "accumulator")
        return self._run("ResourceApplyAdagrad", handles, self._number(self._learning_rate, var), grad, attrs=(True,))

    def _apply_sparse(self, grad: Any, indices: Any, var: Variable) -> Any:
        handles, rate = self._handles(var, "accumulator"), self._number(self._learning_rate, var)
        return self._run("ResourceSparseApplyAdagrad", handles, rate, grad, indices, attrs=(True,))


class RMSPropOptimizer(Optimizer):
    """RMSProp (Tieleman and Hinton 2012).

    Args:
        learning_rate: a number, a tensor, or eagerly a function without arguments that gives one.
        decay: of the mean of squares.
        momentum: how much of the last step is in the next.
        epsilon: a small number that keeps the quotient finite.
        use_locking: accepted, and without effect.
        name: of the optimizer.
        centered: divides by the estimated variance, not by the mean of squares.

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
        self._centered = centered
        self._slot_names = ("mg", "rms", "momentum") if centered else ("rms", "momentum")
        self._first_values = {"rms": 1.0}

    def _create_slots(self, var_list: Sequence[Variable]) -> None:
        for v in var_list:
            self._slot(v, "rms", 1.0)
            if self._centered:
                self._slot(v, "mg", 0.0)
            self._slot(v, "momentum", 0.0)

    def _op(self, kind: str, var: Variable, *rest: Any) -> Any:
        handles = self._handles(var, *self._slot_names)
        name = f"Resource{kind}{'Centered' if self._centered else ''}RMSProp"
        return self._run(name, handles, *[self._number(n, var) for n in self._numbers], *rest)

    def _apply_dense(self, grad: Any, var: Variable) -> Any:
        return self._op("Apply", var, grad)

    def _apply_sparse(self, grad: Any, indices: Any, var: Variable) -> Any:
        return self._op("SparseApply", var, grad, indices)


class AdadeltaOptimizer(Optimizer):
    """Adadelta (Zeiler 2012, https://arxiv.org/abs/1212.5701).

    Args:
        learning_rate: a number, a tensor, or eagerly a function without arguments that gives one.
        rho: how slowly the means of squares move.
        epsilon: a small number that keeps the quotient finite.
        use_locking: accepted, and without effect.
        name: of the optimizer.

    Example:
        >>> v = tf.Variable(1.0)
        >>> tf.compat.v1.train.AdadeltaOptimizer(1.0, epsilon=0.01).minimize(lambda: 3.0 * v, var_list=[v])
        >>> print(v.numpy().round(4))
        0.5577
    """

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

    def _op(self, kind: str, var: Variable, *rest: Any) -> Any:
        handles = self._handles(var, *self._slot_names)
        return self._run(f"Resource{kind}Adadelta", handles, *[self._number(n, var) for n in self._numbers], *rest)

    def _apply_dense(self, grad: Any, var: Variable) -> Any:
        return self._op("Apply", var, grad)

    def _apply_sparse(self, grad: Any, indices: Any, var: Variable) -> Any:
        return self._op("SparseApply", var, grad, indices)


class FtrlOptimizer(Optimizer):
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
        self._learning_rate, self._power = learning_rate, learning_rate_power
        self._first = initial_accumulator_value
        self._l1, self._l2, self._shrinkage = (
            l1_regularization_strength,
            l2_regularization_strength,
            l2_shrinkage_regularization_strength,
        )
        self._beta = 0.0 if beta is None else beta
        self._names = accum_name, linear_name

    def _create_slots(self, var_list: Sequence[Variable]) -> None:
        for v in var_list:
            self._slot(v, "accum", self._first, self._names[0])
            self._slot(v, "linear", 0.0, self._names[1])

    def _op(self, kind: str, var: Variable, *gradient: Any) -> Any:
        rate, l2 = self._number(self._learning_rate, var), self._number(self._l2, var)
        if self._beta:
            l2 = l2 + self._number(self._beta, var) / (2.0 * rate)
        numbers = [rate, self._number(self._l1, var), l2]
        if self._shrinkage > 0.0:
            numbers.append(self._number(self._shrinkage, var))
        handles = self._handles(var, "accum", "linear")
        name = f"Resource{kind}Ftrl{'V2' if self._shrinkage > 0.0 else ''}"
        return self._run(name, handles, *gradient, *numbers, self._number(self._power, var), attrs=(False,))

    def _apply_dense(self, grad: Any, var: Variable) -> Any:
        return self._op("Apply", var, grad)

    def _apply_sparse(self, grad: Any, indices: Any, var: Variable) -> Any:
        return self._op("SparseApply", var, grad, indices)


class ProximalGradientDescentOptimizer(Optimizer):
    """Gradient descent, then towards zero (Duchi and Singer 2009, https://papers.nips.cc/paper/3793).

    Args:
        learning_rate: a number, a tensor, or eagerly a function without arguments that gives one.
        l1_regularization_strength, l2_regularization_strength: how far towards zero.
        use_locking: accepted, and without effect.
        name: of the optimizer.

    Example:
        >>> v = tf.Variable(1.0)
        >>> optimizer = tf.compat.v1.train.ProximalGradientDescentOptimizer(0.1, l1_regularization_strength=1.0)
        >>> optimizer.minimize(lambda: 3.0 * v, var_list=[v])
        >>> print(v.numpy().round(4))
        0.6
    """

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

    def _apply_dense(self, grad: Any, var: Variable) -> Any:
        return self._run(
            "ResourceApplyProximalGradientDescent", [var], *[self._number(n, var) for n in self._numbers], grad
        )

    def _apply_sparse(self, grad: Any, indices: Any, var: Variable) -> Any:
        numbers = [self._number(n, var) for n in self._numbers]
        return self._run("ResourceSparseApplyProximalGradientDescent", [var], *numbers, grad, indices)


class ProximalAdagradOptimizer(Optimizer):
    """Adagrad, then towards zero (Duchi and Singer 2009, https://papers.nips.cc/paper/3793).

    Args:
        learning_rate: a number, a tensor, or eagerly a function without arguments that gives one.
        initial_accumulator_value: the initial value of the sums of squares.
        l1_regularization_strength, l2_regularization_strength: how far towards zero.
        use_locking: accepted, and without effect.
        name: of the optimizer.

    Raises:
        ValueError: `initial_accumulator_value` is not positive.

    Example:
        >>> v = tf.Variable(1.0)
        >>> optimizer = tf.compat.v1.train.ProximalAdagradOptimizer(0.1, l1_regularization_strength=1.0)
        >>> optimizer.minimize(lambda: 3.0 * v, var_list=[v])
        >>> print(v.numpy().round(4))
        0.8674
    """

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

    def _op(self, kind: str, var: Variable, *gradient: Any) -> Any:
        handles = self._handles(var, "accumulator")
        return self._run(
            f"Resource{kind}ProximalAdagrad", handles, *[self._number(n, var) for n in self._numbers], *gradient
        )

    def _apply_dense(self, grad: Any, var: Variable) -> Any:
        return self._op("Apply", var, grad)

    def _apply_sparse(self, grad: Any, indices: Any, var: Variable) -> Any:
        return self._op("SparseApply", var, grad, indices)


class AdagradDAOptimizer(Optimizer):
    """Adagrad by dual averaging, for sparse linear models (Duchi et al. 2011,
    https://jmlr.org/papers/v12/duchi11a.html).

    Args:
        learning_rate: a number, a tensor, or eagerly a function without arguments that gives one.
        global_step: a variable that counts the steps.
        initial_gradient_squared_accumulator_value: the initial value of the sums of squares.
        l1_regularization_strength, l2_regularization_strength: how far towards zero.
        use_locking: accepted, and without effect.
        name: of the optimizer.

    Raises:
        ValueError: `initial_gradient_squared_accumulator_value` is not positive.

    Example:
        >>> v = tf.Variable(1.0)
        >>> optimizer = tf.compat.v1.train.AdagradDAOptimizer(0.1, tf.Variable(0, dtype=tf.int64))
        >>> optimizer.minimize(lambda: 3.0 * v, var_list=[v])
        >>> print(v.numpy().round(4))
        -0.0994
    """

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
        self._global_step, self._first = global_step, initial_gradient_squared_accumulator_value
        self._numbers = (learning_rate, l1_regularization_strength, l2_regularization_strength)

    def _create_slots(self, var_list: Sequence[Variable]) -> None:
        for v in var_list:
            self._slot(v, "gradient_accumulator", 0.0)
            self._slot(v, "gradient_squared_accumulator", self._first)

    def _op(self, kind: str, var: Variable, *gradient: Any) -> Any:
        handles = self._handles(var, "gradient_accumulator", "gradient_squared_accumulator")
        step = cast(self._global_step, int64) + 1
        return self._run(
            f"Resource{kind}AdagradDA", handles, *gradient, *[self._number(n, var) for n in self._numbers], step
        )

    def _apply_dense(self, grad: Any, var: Variable) -> Any:
        return self._op("Apply", var, grad)

    def _apply_sparse(self, grad: Any, indices: Any, var: Variable) -> Any:
        return self._op("SparseApply", var, grad, indices)
