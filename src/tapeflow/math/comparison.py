"""Comparisons, logic, and tests of floats, element by element. All give bools, and none has a gradient."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from tapeflow.core.ops import bulk
from tapeflow.core.ops.op import not_differentiable, op
from tapeflow.core.ops.scalars import ScalarForm
from tapeflow.core.ops.shape_rules import broadcast, same
from tapeflow.core.types.shape import TensorShape


def _of_text(function: Callable[..., Any]) -> Callable[..., torch.Tensor]:
    """The kernel for strings of a NumPy comparison."""

    def kernel(x: Any, y: Any) -> torch.Tensor:
        broadcast(TensorShape(x.shape), TensorShape(y.shape))
        return torch.from_numpy(np.asarray(function(x, y), dtype=np.bool_))

    return kernel


@op(
    "Equal",
    kernel=bulk.equal,
    shape=broadcast,
    strings=_of_text(np.equal),
    elementwise=True,
    allocates=True,
    scalar=ScalarForm("{0} == {1}", to_bool=True),
)
def equal(x: Any, y: Any, name: str | None = None) -> Any:
    """Whether elements are equal, with broadcasting. NaN equals nothing.

    Args:
        x, y: of one dtype, any.

    Raises:
        InvalidArgumentError: the dtypes differ, or the shapes do not broadcast. (`x == y` gives False there.)

    Example:
        >>> tf.equal([1, 2], 2).numpy().tolist()
        [False, True]
    """


@op(
    "NotEqual",
    kernel=bulk.not_equal,
    shape=broadcast,
    strings=_of_text(np.not_equal),
    elementwise=True,
    allocates=True,
    scalar=ScalarForm("{0} != {1}", to_bool=True),
)
def not_equal(x: Any, y: Any, name: str | None = None) -> Any:
    """Whether elements differ, with broadcasting. NaN differs from everything.

    Args:
        x, y: of one dtype, any.

    Raises:
        InvalidArgumentError: the dtypes differ, or the shapes do not broadcast. (`x != y` gives True there.)

    Example:
        >>> tf.not_equal([1, 2], 2).numpy().tolist()
        [True, False]
    """


@op(
    "Less",
    kernel=bulk.comparison(torch.lt),
    shape=broadcast,
    orders=True,
    elementwise=True,
    allocates=True,
    scalar=ScalarForm("{0} < {1}", to_bool=True),
)
def less(x: Any, y: Any, name: str | None = None) -> Any:
    """Whether `x < y`, element by element, with broadcasting.

    Args:
        x, y: of one real dtype.

    Raises:
        InvalidArgumentError: the dtypes differ, or the shapes do not broadcast.

    Example:
        >>> tf.less([1, 2, 3], 2).numpy().tolist()
        [True, False, False]
    """


@op(
    "LessEqual",
    kernel=bulk.comparison(torch.le),
    shape=broadcast,
    orders=True,
    elementwise=True,
    allocates=True,
    scalar=ScalarForm("{0} <= {1}", to_bool=True),
)
def less_equal(x: Any, y: Any, name: str | None = None) -> Any:
    """Whether `x <= y`, element by element, with broadcasting.

    Args:
        x, y: of one real dtype.

    Raises:
        InvalidArgumentError: the dtypes differ, or the shapes do not broadcast.

    Example:
        >>> tf.less_equal([1, 2, 3], 2).numpy().tolist()
        [True, True, False]
    """


@op(
    "Greater",
    kernel=bulk.comparison(torch.gt),
    shape=broadcast,
    orders=True,
    elementwise=True,
    allocates=True,
    scalar=ScalarForm("{0} > {1}", to_bool=True),
)
def greater(x: Any, y: Any, name: str | None = None) -> Any:
    """Whether `x > y`, element by element, with broadcasting.

    Args:
        x, y: of one real dtype.

    Raises:
        InvalidArgumentError: the dtypes differ, or the shapes do not broadcast.

    Example:
        >>> tf.greater([1, 2, 3], 2).numpy().tolist()
        [False, False, True]
    """


@op(
    "GreaterEqual",
    kernel=bulk.comparison(torch.ge),
    shape=broadcast,
    orders=True,
    elementwise=True,
    allocates=True,
    scalar=ScalarForm("{0} >= {1}", to_bool=True),
)
def greater_equal(x: Any, y: Any, name: str | None = None) -> Any:
    """Whether `x >= y`, element by element, with broadcasting.

    Args:
        x, y: of one real dtype.

    Raises:
        InvalidArgumentError: the dtypes differ, or the shapes do not broadcast.

    Example:
        >>> tf.greater_equal([1, 2, 3], 2).numpy().tolist()
        [False, True, True]
    """


# ---- logic -----------------------------------------------------------------------------------------------------------


@op(
    "LogicalAnd",
    kernel=torch.logical_and,
    shape=broadcast,
    elementwise=True,
    scalar=ScalarForm("{0} and {1}", to_bool=True),
)
def logical_and(x: Any, y: Any, name: str | None = None) -> Any:
    """Whether both are true, element by element, with broadcasting.

    Args:
        x, y: bools.

    Raises:
        TypeError: they are Python numbers.
        InvalidArgumentError: they are tensors of another dtype, or the shapes do not broadcast.

    Example:
        >>> tf.logical_and(True, [True, False]).numpy().tolist()
        [True, False]
    """


@op(
    "LogicalOr",
    kernel=torch.logical_or,
    shape=broadcast,
    elementwise=True,
    scalar=ScalarForm("{0} or {1}", to_bool=True),
)
def logical_or(x: Any, y: Any, name: str | None = None) -> Any:
    """Whether at least one is true, element by element, with broadcasting.

    Args:
        x, y: bools.

    Raises:
        TypeError: they are Python numbers.
        InvalidArgumentError: they are tensors of another dtype, or the shapes do not broadcast.

    Example:
        >>> tf.logical_or(False, [True, False]).numpy().tolist()
        [True, False]
    """


@op("LogicalNot", kernel=torch.logical_not, shape=same, elementwise=True, scalar=ScalarForm("not {0}", to_bool=True))
def logical_not(x: Any, name: str | None = None) -> Any:
    """The opposite truth value of each element.

    Args:
        x: bools.

    Example:
        >>> tf.logical_not([True, False]).numpy().tolist()
        [False, True]
    """


def logical_xor(x: Any, y: Any, name: str | None = "LogicalXor") -> Any:
    """Whether exactly one is true, element by element, with broadcasting.

    Args:
        x, y: bools.

    Raises:
        TypeError: they are Python numbers.
        InvalidArgumentError: they are tensors of another dtype, or the shapes do not broadcast.

    Example:
        >>> tf.math.logical_xor(True, [True, False]).numpy().tolist()
        [False, True]
    """
    # TensorFlow has no op for it, and makes it of these.
    return logical_and(logical_or(x, y), logical_not(logical_and(x, y)), name)


# ---- tests of floats -------------------------------------------------------------------------------------------------


@op("IsNan", kernel=bulk.is_nan, shape=same, elementwise=True)
def is_nan(x: Any, name: str | None = None) -> Any:
    """Which elements are NaN.

    Args:
        x: floating.

    Example:
        >>> tf.math.is_nan([1.0, float("nan")]).numpy().tolist()
        [False, True]
    """


@op("IsInf", kernel=bulk.is_inf, shape=same, elementwise=True)
def is_inf(x: Any, name: str | None = None) -> Any:
    """Which elements are infinite.

    Args:
        x: floating.

    Example:
        >>> tf.math.is_inf([1.0, float("-inf")]).numpy().tolist()
        [False, True]
    """


@op("IsFinite", kernel=bulk.is_finite, shape=same, elementwise=True)
def is_finite(x: Any, name: str | None = None) -> Any:
    """Which elements are neither infinite nor NaN.

    Args:
        x: floating.

    Example:
        >>> tf.math.is_finite([1.0, float("nan")]).numpy().tolist()
        [True, False]
    """


not_differentiable(equal, not_equal, less, less_equal, greater, greater_equal)
not_differentiable(logical_and, logical_or, logical_not, is_nan, is_inf, is_finite)
