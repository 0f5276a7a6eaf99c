"""Assertions about the dtypes of tensors and the types of values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from tapeflow.core.ops.convert import convert
from tapeflow.core.types.aliases import DTypeLike, TensorLike
from tapeflow.core.types.dtypes import DType, as_dtype, float32
from tapeflow.core.values.tensor import ReadAsTensor, Tensor


def prefix_of(message: str | None) -> str:
    """Returns a caller's message as a prefix of the error's own."""
    return f"{message}.  " if message else ""


def assert_type(tensor: TensorLike, tf_type: DTypeLike, message: str | None = None, name: str | None = None) -> None:
    """Checks the dtype of a tensor.

    Args:
        tensor: a tensor of any shape.
        tf_type: the expected dtype.
        message: text before the error's message.

    Returns:
        None.

    Raises:
        TypeError: the dtype differs.

    Example:
        >>> tf.debugging.assert_type(tf.constant(1.0), tf.float32)
    """
    expected = as_dtype(tf_type)
    dtype: Any = tensor.dtype if hasattr(tensor, "dtype") else convert(tensor).dtype
    if dtype != expected:
        raise TypeError(f"{prefix_of(message)}tensor must be of type {expected!r}; got {as_dtype(dtype)!r}")


def assert_integer(x: TensorLike, message: str | None = None, name: str | None = None) -> None:
    """Checks that a tensor is of an integer dtype.

    Args:
        x: a tensor of any shape.
        message: text before the error's message.

    Returns:
        None.

    Raises:
        TypeError: the dtype is not an integer one.

    Example:
        >>> tf.debugging.assert_integer([1, 2])
    """
    dtype = convert(x).dtype
    if not dtype.is_integer:
        raise TypeError(f'{prefix_of(message)}Expected "x" to be integer type.  Found: tensor of dtype {dtype}')


def assert_same_float_dtype(tensors: Sequence[TensorLike | None] | None = None, dtype: DTypeLike = None) -> DType:
    """Checks that tensors are all of one floating dtype.

    Args:
        tensors: tensors of any shapes; None among them is ignored.
        dtype: the dtype they must have.

    Returns:
        The dtype; float32 if there is neither a tensor nor a `dtype`.

    Raises:
        ValueError: the dtypes differ, or are not floating.

    Example:
        >>> tf.debugging.assert_same_float_dtype([tf.constant(1.0)])
        tf.float32
    """
    expected = None if dtype is None else as_dtype(dtype)
    first: Any = None
    values: Sequence[Any] = tensors or ()
    for tensor in values:
        if tensor is None:
            continue
        own: Any = tensor.dtype if hasattr(tensor, "dtype") else convert(tensor).dtype
        own = as_dtype(own).base_dtype
        if expected is None:
            expected, first = own, tensor
        elif own is not expected:
            other = "" if first is None else f" as {first}"
            raise ValueError(f"{tensor}, type={own}, must be of the same type ({expected}){other}.")
    expected = expected or float32
    if not expected.is_floating:
        raise ValueError(f"Expected floating point type, got {expected}.")
    return expected


def assert_proper_iterable(values: Iterable[Any]) -> None:
    """Checks that a value is an iterable, and neither a tensor, an array nor a string.

    Args:
        values: the value.

    Returns:
        None.

    Raises:
        TypeError: it is something else.

    Example:
        >>> tf.debugging.assert_proper_iterable([tf.constant(1)])
    """
    if isinstance(values, (Tensor, ReadAsTensor, np.ndarray, bytes, str)):
        raise TypeError(f'Expected argument "values" to be a "proper" iterable.  Found: {type(values)}')
    if not hasattr(values, "__iter__"):
        raise TypeError(f'Expected argument "values" to be iterable.  Found: {type(values)}')


def is_numeric_tensor(tensor: object) -> bool:
    """Returns True if a value is a tensor of numbers.

    Args:
        tensor: any value.

    Returns:
        True or False.

    Example:
        >>> tf.debugging.is_numeric_tensor(tf.constant(1)), tf.debugging.is_numeric_tensor("1")
        (True, False)
    """
    return isinstance(tensor, Tensor) and tensor.dtype.is_numeric
