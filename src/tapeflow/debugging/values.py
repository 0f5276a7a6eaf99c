"""Assertions about the values of tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

from tapeflow.core.context import state
from tapeflow.core.ops.convert import convert
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.dtypes import DType
from tapeflow.core.values.tensor import Tensor, invalid
from tapeflow.debugging.types import prefix_of
from tapeflow.graph.ir.operation import Operation
from tapeflow.graph.ir.python_op import assertion
from tapeflow.math.casting import cast
from tapeflow.math.comparison import equal, greater, greater_equal, less, less_equal, not_equal
from tapeflow.math.elementwise import abs
from tapeflow.math.reduction import reduce_all

_SHOWN = 3  # the default number of elements in a message


def _assert_binary(
    sign: str, op: Callable[..., Any], x: TensorLike, y: TensorLike, message: str | None, summarize: int | None
) -> Any:
    x, y = convert(x), convert(y)
    if state.graph is not None:
        compared = op(x, y)  # raises for wrong dtypes and shapes
        return assertion(
            lambda a, b: _assert_binary(sign, op, a, b, message, summarize), x, y, holds=lambda: reduce_all(compared)
        )
    holds = op(x, y)
    if holds.dtype.is_bool and bool(reduce_all(holds)):
        return None
    shown = _SHOWN if summarize is None else max(summarize, 0)
    xs, ys = np.asarray(x), np.asarray(y)
    lines = [message] if message else []
    lines.append(f"Condition x {sign} y did not hold.")
    wrong = np.argwhere(~np.asarray(holds))
    if wrong.ndim == 2 and wrong.shape[1]:
        few = wrong[:shown]
        at = tuple(few.T)
        both = np.broadcast_arrays(xs, ys)
        lines += [
            f"Indices of first {len(few)} different values:", str(few),
            "Corresponding x values:", str(both[0][at]),
            "Corresponding y values:", str(both[1][at]),
        ]  # fmt: skip
    for name, array in (("x", xs), ("y", ys)):
        count = min(shown, array.size)
        lines += [f"First {count} elements of {name}:", str(array.reshape(-1)[:count])]
    raise invalid("\n".join(lines))


def assert_equal(
    x: TensorLike, y: TensorLike, message: str | None = None, summarize: int | None = None, name: str | None = None
) -> Operation | None:
    """Checks that `x == y` for all elements, with broadcasting.

    Args:
        x, y: tensors of one dtype, whose shapes broadcast.
        message: text before the error's message.
        summarize: the number of elements in the message. Default 3.

    Returns:
        None; in a graph outside of functions, the operation that checks.

    Raises:
        InvalidArgumentError: the condition does not hold.

    Example:
        >>> tf.debugging.assert_equal(tf.constant([1, 1]), 1)
    """
    return _assert_binary("==", equal, x, y, message, summarize)


def assert_none_equal(
    x: TensorLike, y: TensorLike, summarize: int | None = None, message: str | None = None, name: str | None = None
) -> Operation | None:
    """Checks that `x != y` for all elements, with broadcasting.

    Args:
        x, y: tensors of one dtype, whose shapes broadcast.
        message: text before the error's message.
        summarize: the number of elements in the message. Default 3.

    Returns:
        None; in a graph outside of functions, the operation that checks.

    Raises:
        InvalidArgumentError: the condition does not hold.

    Example:
        >>> tf.debugging.assert_none_equal([1, 2], 3)
    """
    return _assert_binary("!=", not_equal, x, y, message, summarize)


def assert_less(
    x: TensorLike, y: TensorLike, message: str | None = None, summarize: int | None = None, name: str | None = None
) -> Operation | None:
    """Checks that `x < y` for all elements, with broadcasting.

    Args:
        x, y: tensors of one dtype, whose shapes broadcast.
        message: text before the error's message.
        summarize: the number of elements in the message. Default 3.

    Returns:
        None; in a graph outside of functions, the operation that checks.

    Raises:
        InvalidArgumentError: the condition does not hold.

    Example:
        >>> tf.debugging.assert_less([1, 2], 3)
    """
    return _assert_binary("<", less, x, y, message, summarize)


def assert_less_equal(
    x: TensorLike, y: TensorLike, message: str | None = None, summarize: int | None = None, name: str | None = None
) -> Operation | None:
    """Checks that `x <= y` for all elements, with broadcasting.

    Args:
        x, y: tensors of one dtype, whose shapes broadcast.
        message: text before the error's message.
        summarize: the number of elements in the message. Default 3.

    Returns:
        None; in a graph outside of functions, the operation that checks.

    Raises:
        InvalidArgumentError: the condition does not hold.

    Example:
        >>> tf.debugging.assert_less_equal([1, 2], 2)
    """
    return _assert_binary("<=", less_equal, x, y, message, summarize)


def assert_greater(
    x: TensorLike, y: TensorLike, message: str | None = None, summarize: int | None = None, name: str | None = None
) -> Operation | None:
    """Checks that `x > y` for all elements, with broadcasting.

    Args:
        x, y: tensors of one dtype, whose shapes broadcast.
        message: text before the error's message.
        summarize: the number of elements in the message. Default 3.

    Returns:
        None; in a graph outside of functions, the operation that checks.

    Raises:
        InvalidArgumentError: the condition does not hold.

    Example:
        >>> tf.debugging.assert_greater([1, 2], 0)
    """
    return _assert_binary(">", greater, x, y, message, summarize)


def assert_greater_equal(
    x: TensorLike, y: TensorLike, message: str | None = None, summarize: int | None = None, name: str | None = None
) -> Operation | None:
    """Checks that `x >= y` for all elements, with broadcasting.

    Args:
        x, y: tensors of one dtype, whose shapes broadcast.
        message: text before the error's message.
        summarize: the number of elements in the message. Default 3.

    Returns:
        None; in a graph outside of functions, the operation that checks.

    Raises:
        InvalidArgumentError: the condition does not hold.

    Example:
        >>> tf.debugging.assert_greater_equal([1, 2], 1)
    """
    return _assert_binary(">=", greater_equal, x, y, message, summarize)


def _shape_and_dtype(tensor: Any) -> str:
    return f"(shape={tensor.shape} dtype={tensor.dtype.name})"


def _assert_sign(sign: str, op: Callable[..., Any], x: Any, message: str | None, summarize: int | None) -> Any:
    x = convert(x)
    if state.graph is not None:
        return assertion(
            lambda a: _assert_sign(sign, op, a, message, summarize),
            x,
            holds=lambda: reduce_all(op(x, convert(0, x.dtype))),
        )
    if bool(reduce_all(op(x, convert(0, x.dtype)))):
        return None
    values = _first_elements(x, summarize)
    title = f"Condition x {sign} 0 did not hold element-wise:"
    raise invalid(f"{prefix_of(message)}\n{title}\nx {_shape_and_dtype(x)} = \n{values}")


def _first_elements(tensor: Any, summarize: int | None) -> list[str]:
    count = _SHOWN if summarize is None else max(summarize, 0)
    elements = [str(v) for v in np.asarray(tensor).reshape(-1)]
    return elements[:count] + (["..."] if len(elements) > count else [])


def assert_negative(
    x: TensorLike, message: str | None = None, summarize: int | None = None, name: str | None = None
) -> Operation | None:
    """Checks that `x < 0` for all elements.

    Args:
        x: a tensor of numbers, of any shape.
        message: text before the error's message.
        summarize: the number of elements in the message. Default 3.

    Returns:
        None; in a graph outside of functions, the operation that checks.

    Raises:
        InvalidArgumentError: the condition does not hold.

    Example:
        >>> tf.debugging.assert_negative([-1.0, -2.0])
    """
    return _assert_sign("<", less, x, message, summarize)


def assert_positive(
    x: TensorLike, message: str | None = None, summarize: int | None = None, name: str | None = None
) -> Operation | None:
    """Checks that `x > 0` for all elements.

    Args:
        x: a tensor of numbers, of any shape.
        message: text before the error's message.
        summarize: the number of elements in the message. Default 3.

    Returns:
        None; in a graph outside of functions, the operation that checks.

    Raises:
        InvalidArgumentError: the condition does not hold.

    Example:
        >>> tf.debugging.assert_positive([1, 2])
    """
    return _assert_sign(">", greater, x, message, summarize)


def assert_non_negative(
    x: TensorLike, message: str | None = None, summarize: int | None = None, name: str | None = None
) -> Operation | None:
    """Checks that `x >= 0` for all elements.

    Args:
        x: a tensor of numbers, of any shape.
        message: text before the error's message.
        summarize: the number of elements in the message. Default 3.

    Returns:
        None; in a graph outside of functions, the operation that checks.

    Raises:
        InvalidArgumentError: the condition does not hold.

    Example:
        >>> tf.debugging.assert_non_negative([0, 1])
    """
    return _assert_sign(">=", greater_equal, x, message, summarize)


def assert_non_positive(
    x: TensorLike, message: str | None = None, summarize: int | None = None, name: str | None = None
) -> Operation | None:
    """Checks that `x <= 0` for all elements.

    Args:
        x: a tensor of numbers, of any shape.
        message: text before the error's message.
        summarize: the number of elements in the message. Default 3.

    Returns:
        None; in a graph outside of functions, the operation that checks.

    Raises:
        InvalidArgumentError: the condition does not hold.

    Example:
        >>> tf.debugging.assert_non_positive([0, -1])
    """
    return _assert_sign("<=", less_equal, x, message, summarize)


def assert_near(
    x: TensorLike,
    y: TensorLike,
    rtol: TensorLike | None = None,
    atol: TensorLike | None = None,
    message: str | None = None,
    summarize: int | None = None,
    name: str | None = None,
) -> Operation | None:
    """Checks that `abs(x - y) <= atol + rtol * abs(y)` for all elements.

    Args:
        x, y: floating or complex tensors of one dtype, whose shapes broadcast.
        rtol, atol: the tolerances, scalars. Default 10 times the machine epsilon of the dtype.
        message: text before the error's message.
        summarize: the number of elements in the message. Default 3.

    Returns:
        None; in a graph outside of functions, the operation that checks.

    Raises:
        InvalidArgumentError: the condition does not hold.
        ValueError: the dtype is not floating or complex.

    Example:
        >>> tf.debugging.assert_near(1.0, 1.0 + 1e-7)
    """
    a: Any = convert(x)
    b: Any = convert(y, a.dtype)
    real = a.dtype.real_dtype
    if not real.is_floating:
        raise ValueError(f"data type {real.as_numpy_dtype} not inexact: assert_near compares floats")
    epsilon = 10 * float(_machine_epsilon(real))
    relative = cast(convert(epsilon if rtol is None else rtol), real)
    absolute = cast(convert(epsilon if atol is None else atol), real)
    if state.graph is not None:

        def check(x: Tensor, y: Tensor, rtol: Tensor, atol: Tensor) -> None:
            assert_near(x, y, rtol, atol, message, summarize)

        return assertion(check, a, b, relative, absolute, holds=lambda: _are_near(a, b, relative, absolute))
    if bool(_are_near(a, b, relative, absolute)):
        return None
    x_text, y_text = (", ".join(_first_elements(tensor, summarize)) for tensor in (a, b))
    raise invalid(
        f"{prefix_of(message)}\nx and y not equal to tolerance rtol = {relative}, atol = {absolute}\n"
        f"x {_shape_and_dtype(a)} = \n{x_text}\ny {_shape_and_dtype(b)} = \n{y_text}"
    )


def _are_near(x: Tensor, y: Tensor, rtol: Tensor, atol: Tensor) -> Tensor:
    return reduce_all(less_equal(abs(x - y), atol + rtol * abs(y)))


def _machine_epsilon(dtype: DType) -> Any:
    return ml_dtypes.finfo(dtype.as_numpy_dtype).eps
