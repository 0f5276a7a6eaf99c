"""Assertions with the parameters of TensorFlow 1: `data` and `summarize` stand before the message."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tapeflow import debugging
from tapeflow.array.identities import group
from tapeflow.core.context import state
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.ops.convert import convert
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.values.tensor import Tensor, invalid
from tapeflow.graph.ir.python_op import assertion, nothing_to_check
from tapeflow_compat.compat.v1.aliases import either


def _check(
    function: Callable[..., Any], tensors: Sequence[Any], data: Any, summarize: int | None, message: str | None
) -> Any:
    """Returns an assertion of `tf.debugging`, whose error shows `data`, if specified."""
    if data is None:
        return function(*tensors, message=message, summarize=summarize)
    shown = 3 if summarize is None else summarize

    def check(*values: Any) -> None:
        try:
            function(*values[: len(tensors)])
        except InvalidArgumentError:
            lines = [message] if message else []
            raise invalid("\n".join(lines + [_text(v, shown) for v in values[len(tensors) :]])) from None

    return assertion(check, *tensors, *map(convert, data))


def _text(value: Any, shown: int) -> str:
    """Returns the first elements of a tensor; all of them for a negative number."""
    flat = np.asarray(value).reshape(-1).tolist()
    few = flat if shown < 0 else flat[:shown]
    words = [v.decode("utf-8", "replace") if isinstance(v, bytes) else str(v) for v in few]
    return ", ".join(words + (["..."] if len(few) < len(flat) else []))


def _comparison(name: str, operator: str, example: str) -> Callable[..., Any]:
    function = getattr(debugging, name)

    def check(
        x: Tensor,
        y: Tensor,
        data: TensorLike | None = None,
        summarize: int | None = None,
        message: str | None = None,
        name: str | None = None,
    ) -> Any:
        return _check(function, [convert(x), convert(y)], data, summarize, message)

    return _documented(check, name, f"`x {operator} y`, element by element, with broadcasting", example)


def _comparison_with_zero(name: str, condition: str, example: str) -> Callable[..., Any]:
    function = getattr(debugging, name)

    def check(
        x: Any, data: Any = None, summarize: int | None = None, message: str | None = None, name: str | None = None
    ) -> Any:
        return _check(function, [convert(x)], data, summarize, message)

    return _documented(check, name, f"every element of `x` is {condition}", example)


def _documented(check: Callable[..., Any], name: str, condition: str, example: str) -> Callable[..., Any]:
    check.__name__ = check.__qualname__ = name
    check.__doc__ = f"""Checks that {condition}, see `tf.debugging.{name}`.

    Args:
        data: a list of tensors to show in the error, in place of the operands.
        summarize: how many elements of each tensor to show; by default 3.
        message: the beginning of the error message.

    Returns:
        In a graph, the operation that checks; eagerly None.

    Raises:
        InvalidArgumentError: it is not so; in a graph, when the operation runs.

    Example:
        >>> tf.compat.v1.{name}({example})
    """
    return check


assert_equal = _comparison("assert_equal", "==", "[1, 2], [1, 2]")
assert_none_equal = _comparison("assert_none_equal", "!=", "[1, 2], 3")
assert_greater = _comparison("assert_greater", ">", "[1, 2], 0")
assert_greater_equal = _comparison("assert_greater_equal", ">=", "[1, 2], 1")
assert_less = _comparison("assert_less", "<", "[1, 2], 3")
assert_less_equal = _comparison("assert_less_equal", "<=", "[1, 2], 2")
assert_positive = _comparison_with_zero("assert_positive", "> 0", "[1, 2]")
assert_negative = _comparison_with_zero("assert_negative", "< 0", "[-1.0, -2.0]")
assert_non_negative = _comparison_with_zero("assert_non_negative", ">= 0", "[0, 1]")
assert_non_positive = _comparison_with_zero("assert_non_positive", "<= 0", "[0, -1]")


def assert_near(
    x: TensorLike, y: Tensor, rtol: Any = None, atol: Any = None, data: Tensor | None = None,
    summarize: int | None = None, message: str | None = None, name: str | None = None,
) -> Any:  # fmt: skip
    """Checks that `abs(x - y) <= atol + rtol * abs(y)`, see `tf.debugging.assert_near`.

    Args:
        x, y: floating or complex, of one dtype, of shapes that broadcast.
        rtol, atol: the tolerances; by default 10 times the machine epsilon of the dtype.
        data, summarize, message: see `assert_equal`.

    Raises:
        InvalidArgumentError: it is not so; in a graph, when the operation runs.

    Example:
        >>> tf.compat.v1.assert_near([1.0, 2.0], [1.0, 2.1], atol=0.2)
    """

    def near(x: TensorLike, y: TensorLike, message: str | None = None, summarize: int | None = None) -> Any:
        return debugging.assert_near(x, y, rtol, atol, message, summarize)

    first = convert(x)
    return _check(near, (first, convert(y, first.dtype)), data, summarize, message)


def add_check_numerics_ops() -> Any:
    """Returns an operation that checks all floating tensors of the default graph for infinities and NaNs.

    Raises:
        RuntimeError: eager execution is enabled.
        InvalidArgumentError: there is one, when the operation runs.

    Example:
        >>> with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
        ...     y = tf.math.log(tf.constant([1.0, 2.0]))
        ...     sess.run(tf.compat.v1.add_check_numerics_ops())
    """
    graph = state.graph
    if graph is None:
        raise RuntimeError("add_check_numerics_ops() is not compatible with eager execution.")
    tensors = [t for op in graph.get_operations() for t in op.outputs if t.dtype.is_floating]
    return group(*[debugging.check_numerics(t, f"{t.op.name}:{t.value_index}") for t in tensors])


# ---- ranks and dtypes ------------------------------------------------------------------------------------------------


def assert_shapes(
    shapes: Any, data: Any = None, summarize: int | None = None, message: str | None = None, name: str | None = None
) -> Any:
    """Checks the shapes of tensors, and that dimensions with one name are equal: see `tf.debugging.assert_shapes`.

    Args:
        shapes: pairs of a tensor and its shape: sizes, names, and None for any size.
        data, summarize: accepted, and without effect: the error shows the shapes.
        message: the beginning of the error message.

    Raises:
        ValueError: a shape is another.

    Example:
        >>> tf.compat.v1.debugging.assert_shapes([(tf.ones([2, 3]), ("N", "D")), (tf.ones([3]), ("D",))])
    """
    debugging.assert_shapes(shapes, data, summarize, message, name)
    return nothing_to_check()


def assert_integer(x: TensorLike, message: str | None = None, name: str | None = None) -> Any:
    """Checks that `x` is of an integer dtype, see `tf.debugging.assert_integer`.

    Raises:
        TypeError: it is not.

    Example:
        >>> tf.compat.v1.assert_integer([1, 2])
    """
    debugging.assert_integer(x, message, name)
    return nothing_to_check()


def assert_type(tensor: TensorLike, tf_type: Any, message: str | None = None, name: str | None = None) -> Any:
    """Checks that a tensor is of a dtype, see `tf.debugging.assert_type`.

    Raises:
        TypeError: it is of another.

    Example:
        >>> tf.compat.v1.assert_type(tf.constant(1.0), tf.float32)
    """
    debugging.assert_type(tensor, tf_type, message, name)
    return nothing_to_check()


def assert_scalar(tensor: TensorLike, name: str | None = None, message: str | None = None) -> Any:
    """Checks that a tensor is a scalar, see `tf.debugging.assert_scalar`, and returns it.

    Raises:
        ValueError: it is none.

    Example:
        >>> tf.compat.v1.assert_scalar(2.5).numpy().item()
        2.5
    """
    tensor = convert(tensor)
    debugging.assert_scalar(tensor, message, name)
    return tensor


def verify_tensor_all_finite(
    t: Any = None,
    msg: str | None = None,
    name: str | None = None,
    x: TensorLike | None = None,
    message: str | None = None,
) -> Any:
    """Checks that a tensor has no infinity and no NaN, and returns it, see `tf.debugging.assert_all_finite`.

    Args:
        x, t: floating, by either name.
        message, msg: the beginning of the error message, by either name.

    Raises:
        InvalidArgumentError: there is one.
        ValueError: the tensor or the message was passed under both names.
        TypeError: there is no message.

    Example:
        >>> tf.compat.v1.verify_tensor_all_finite([1.0, 2.0], "weights").numpy().tolist()
        [1.0, 2.0]
    """
    text = either("message", message, "msg", msg)
    value = convert(either("x", x, "t", t))
    if text is None:
        raise TypeError("Expected string for argument 'message' not None.")
    return debugging.assert_all_finite(value, text, name)
