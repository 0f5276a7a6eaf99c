"""Comparisons, logic, and tests of floats, element by element. All give bools, and none has a gradient."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import torch

from tapeflow.core.context import state
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.ops import elementwise_kernels
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.elementwise_kernels import comparison
from tapeflow.core.ops.kernels import on_strings
from tapeflow.core.ops.op import not_differentiable, op
from tapeflow.core.ops.shape_rules import broadcast, same
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.composite import CompositeTensor
from tapeflow.core.values.strings import StringArray
from tapeflow.core.values.tensor import ReadAsTensor, Tensor

_COMPARISON: dict[str, Any] = {"shape": broadcast, "allocates": True}
_ORDER: dict[str, Any] = {**_COMPARISON, "orders": True}


def _equal_arrays(x: StringArray, y: StringArray) -> torch.Tensor:
    """Compares strings, or arrays of quantized integers."""
    shape = x.shape if x.shape == y.shape else tuple(broadcast(TensorShape(x.shape), TensorShape(y.shape)))
    if isinstance(x, StringArray):
        return torch.from_numpy(x.broadcast_to(shape).equals(y if y.size == 1 else y.broadcast_to(shape)))
    return torch.from_numpy(np.asarray(x == y))


@op("Equal", elementwise_kernels.equal, **_COMPARISON, element=lambda b, x, y: b.equal(x, y), strings=_equal_arrays)
def equal(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Tests whether elements are equal, with broadcasting. NaN equals nothing.

    Args:
        x, y: tensors of one dtype, any, whose shapes broadcast.

    Returns:
        A bool tensor of the broadcast shape.

    Raises:
        InvalidArgumentError: the dtypes differ, or the shapes do not broadcast. (`x == y` gives False there.)

    Example:
        >>> tf.equal([1, 2], 2).numpy().tolist()
        [False, True]
    """


@op(
    "NotEqual",
    kernel=elementwise_kernels.not_equal,
    **_COMPARISON,
    element=lambda b, x, y: b.not_equal(x, y),
    strings=lambda x, y: ~_equal_arrays(x, y),
)
def not_equal(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Tests whether elements differ, with broadcasting. NaN differs from everything.

    Args:
        x, y: tensors of one dtype, any, whose shapes broadcast.

    Returns:
        A bool tensor of the broadcast shape.

    Raises:
        InvalidArgumentError: the dtypes differ, or the shapes do not broadcast. (`x != y` gives True there.)

    Example:
        >>> tf.not_equal([1, 2], 2).numpy().tolist()
        [True, False]
    """


def compare_whole(function: Any, x: Any, y: Any, unlike: bool, name: str | None = None) -> Any:
    """Returns `equal` or `not_equal`, or `unlike` for tensors whose shapes do not broadcast.

    Args:
        function: `equal` or `not_equal`.
        x, y: the operands.
        unlike: the result for operands that are unequal as a whole.
    """
    if state.graph is not None:
        a, b = (v._read() if isinstance(v, ReadAsTensor) else v for v in (x, y))
        if isinstance(a, Tensor) and isinstance(b, (list, tuple, np.ndarray)):
            b = convert(b, hint=a.dtype)
        pair = isinstance(a, Tensor) and isinstance(b, Tensor) and a.dtype is b.dtype
        if pair and a is not b and _may_be_unlike(a.shape, b.shape):
            return _compared_or_unlike(a, b, unlike, name=name)
    try:
        return function.op.operate((x, y), name)
    except (InvalidArgumentError, ValueError) as error:
        if str(error).startswith(("Incompatible shapes", "Dimensions must be equal")):  # eagerly, and in a graph
            return convert(unlike)
        if state.graph is None and any(isinstance(v, CompositeTensor) for v in (x, y)):  # ragged rows
            return unlike
        raise


def _dimension_pairs(x: TensorShape, y: TensorShape) -> list[tuple[int | None, int | None]]:
    """Returns the pairs of dimensions that two shapes of static rank have at the same place from the end."""
    return list(itertools.zip_longest(x.as_list()[::-1], y.as_list()[::-1], fillvalue=1))[::-1]


def _may_be_unlike(x: TensorShape, y: TensorShape) -> bool:
    """Tests whether it is not static that two shapes broadcast, or that they do not."""
    if x.rank is None or y.rank is None:
        return 0 not in (x.rank, y.rank)
    pairs = [pair for pair in _dimension_pairs(x, y) if 1 not in pair]
    return all(None in pair or pair[0] == pair[1] for pair in pairs) and any(None in pair for pair in pairs)


def _rule_or_unlike(x: TensorShape, y: TensorShape, *_: Any) -> TensorShape:
    """Infers the broadcast shape. If a dimension is unknown in one tensor, and neither unknown nor 1 in the other, the
    whole shape is unknown: the op may return a scalar."""
    if x.rank is None or y.rank is None:
        return TensorShape(None)
    pairs = _dimension_pairs(x, y)
    if any(None in pair and 1 not in pair and pair != (None, None) for pair in pairs):
        return TensorShape(None)
    return TensorShape([n if m == 1 else m for m, n in pairs])


@op("EqualOrUnlike", strings=True, shape=_rule_or_unlike, signature="x:T, y:T -> z:bool; attr=T:type; attr=unlike:bool")
def _compared_or_unlike(x: StringArray | torch.Tensor, y: StringArray | torch.Tensor, unlike: bool) -> torch.Tensor:
    """Compares elements for equality, or for inequality if it is `unlike`: the result for shapes that turn out not to
    broadcast."""
    try:
        np.broadcast_shapes(x.shape, y.shape)
    except ValueError:
        return torch.tensor(unlike, device=getattr(x, "device", None))
    compare = not_equal.op if unlike else equal.op
    return (compare.kernel if isinstance(x, torch.Tensor) else on_strings(compare))(x, y)


@_compared_or_unlike.decomposition
def _(x: Any, y: Any, unlike: bool) -> Any:
    return (not_equal if unlike else equal)(x, y)


equal.op.variants = {"incompatible_shape_error": lambda x, y, name: compare_whole(equal, x, y, False, name)}
not_equal.op.variants = {"incompatible_shape_error": lambda x, y, name: compare_whole(not_equal, x, y, True, name)}


@op("Less", comparison(torch.lt, np.less), **_ORDER, element=lambda b, x, y: b.less(x, y))
def less(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Tests whether `x < y`, element by element, with broadcasting.

    Args:
        x, y: tensors of one real dtype, whose shapes broadcast.

    Returns:
        A bool tensor of the broadcast shape.

    Raises:
        InvalidArgumentError: the dtypes differ, or the shapes do not broadcast.

    Example:
        >>> tf.less([1, 2, 3], 2).numpy().tolist()
        [True, False, False]
    """


@op("LessEqual", comparison(torch.le, np.less_equal), **_ORDER, element=lambda b, x, y: b.less_equal(x, y))
def less_equal(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Tests whether `x <= y`, element by element, with broadcasting.

    Args:
        x, y: tensors of one real dtype, whose shapes broadcast.

    Returns:
        A bool tensor of the broadcast shape.

    Raises:
        InvalidArgumentError: the dtypes differ, or the shapes do not broadcast.

    Example:
        >>> tf.less_equal([1, 2, 3], 2).numpy().tolist()
        [True, True, False]
    """


@op("Greater", comparison(torch.gt, np.greater), **_ORDER, element=lambda b, x, y: b.less(y, x))
def greater(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Tests whether `x > y`, element by element, with broadcasting.

    Args:
        x, y: tensors of one real dtype, whose shapes broadcast.

    Returns:
        A bool tensor of the broadcast shape.

    Raises:
        InvalidArgumentError: the dtypes differ, or the shapes do not broadcast.

    Example:
        >>> tf.greater([1, 2, 3], 2).numpy().tolist()
        [False, False, True]
    """


@op("GreaterEqual", comparison(torch.ge, np.greater_equal), **_ORDER, element=lambda b, x, y: b.less_equal(y, x))
def greater_equal(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Tests whether `x >= y`, element by element, with broadcasting.

    Args:
        x, y: tensors of one real dtype, whose shapes broadcast.

    Returns:
        A bool tensor of the broadcast shape.

    Raises:
        InvalidArgumentError: the dtypes differ, or the shapes do not broadcast.

    Example:
        >>> tf.greater_equal([1, 2, 3], 2).numpy().tolist()
        [False, True, True]
    """


# ---- logic -----------------------------------------------------------------------------------------------------------


@op("LogicalAnd", kernel=torch.logical_and, shape=broadcast, element=lambda b, x, y: b.bit_and(x, y))
def logical_and(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Tests whether both elements are true, with broadcasting.

    Args:
        x, y: bool tensors, whose shapes broadcast.

    Returns:
        A bool tensor of the broadcast shape.

    Raises:
        TypeError: they are Python numbers.
        InvalidArgumentError: they are tensors of another dtype, or the shapes do not broadcast.

    Example:
        >>> tf.logical_and(True, [True, False]).numpy().tolist()
        [True, False]
    """


@op("LogicalOr", kernel=torch.logical_or, shape=broadcast, element=lambda b, x, y: b.bit_or(x, y))
def logical_or(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Computes logical OR element-wise, with broadcasting.

    Args:
        x, y: bool tensors, whose shapes broadcast.

    Returns:
        A bool tensor of the broadcast shape.

    Raises:
        TypeError: they are Python numbers.
        InvalidArgumentError: they are tensors of another dtype, or the shapes do not broadcast.

    Example:
        >>> tf.logical_or(False, [True, False]).numpy().tolist()
        [True, False]
    """


@op("LogicalNot", kernel=torch.logical_not, shape=same, element=lambda b, x: b.logical_not(x))
def logical_not(x: TensorLike, name: str | None = None) -> Tensor:
    """Returns the opposite truth value of each element.

    Args:
        x: a bool tensor of any shape.

    Returns:
        A bool tensor of the shape of `x`.

    Raises:
        InvalidArgumentError: `x` is not bool.

    Example:
        >>> tf.logical_not([True, False]).numpy().tolist()
        [False, True]
    """


def logical_xor(x: TensorLike, y: TensorLike, name: str | None = "LogicalXor") -> Tensor:
    """Computes logical XOR (exactly one element is true) element-wise, with broadcasting.

    Args:
        x, y: bool tensors, whose shapes broadcast.

    Returns:
        A bool tensor of the broadcast shape.

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


@op("IsNan", kernel=elementwise_kernels.is_nan, shape=same, element=lambda b, x: b.is_nan(x))
def is_nan(x: TensorLike, name: str | None = None) -> Tensor:
    """Tests which elements are NaN.

    Args:
        x: a floating tensor of any shape.

    Returns:
        A bool tensor of the shape of `x`.

    Raises:
        InvalidArgumentError: `x` is not floating.

    Example:
        >>> tf.math.is_nan([1.0, float("nan")]).numpy().tolist()
        [False, True]
    """


@op("IsInf", kernel=elementwise_kernels.is_inf, shape=same, element=lambda b, x: b.equal(b.abs(x), math.inf))
def is_inf(x: TensorLike, name: str | None = None) -> Tensor:
    """Tests which elements are infinite.

    Args:
        x: a floating tensor of any shape.

    Returns:
        A bool tensor of the shape of `x`.

    Raises:
        InvalidArgumentError: `x` is not floating.

    Example:
        >>> tf.math.is_inf([1.0, float("-inf")]).numpy().tolist()
        [False, True]
    """


@op("IsFinite", kernel=elementwise_kernels.is_finite, shape=same, element=lambda b, x: b.less(b.abs(x), math.inf))
def is_finite(x: TensorLike, name: str | None = None) -> Tensor:
    """Tests which elements are neither infinite nor NaN.

    Args:
        x: a floating tensor of any shape.

    Returns:
        A bool tensor of the shape of `x`.

    Raises:
        InvalidArgumentError: `x` is not floating.

    Example:
        >>> tf.math.is_finite([1.0, float("nan")]).numpy().tolist()
        [True, False]
    """


not_differentiable(equal, not_equal, _compared_or_unlike, less, less_equal, greater, greater_equal)
not_differentiable(logical_and, logical_or, logical_not, is_nan, is_inf, is_finite)
