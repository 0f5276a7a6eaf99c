"""NumPy's dtypes and its rules for their promotion, applied to tensors, and values as tensors by these rules."""

from __future__ import annotations

import contextlib
import numbers
from collections.abc import Callable, Iterable
from typing import Any

import ml_dtypes
import numpy as np

from tapeflow.array.creation import convert_to_tensor
from tapeflow.array.properties import broadcast_dynamic_shape, shape
from tapeflow.array.properties import rank as rank_op
from tapeflow.control.conditions_and_loops import cond
from tapeflow.core.types.aliases import DTypeLike, TensorLike
from tapeflow.core.types.dtypes import DType, as_dtype, uint64
from tapeflow.core.values import nest
from tapeflow.core.values.indexed_slices import IndexedSlices
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.tensor import ReadAsTensor, Tensor
from tapeflow.experimental.numpy.documentation import numpy_function
from tapeflow.math.casting import cast

Function = Callable[..., Any]


class _Preferences:
    """Holds what `experimental_enable_numpy_behavior` was asked for.

    Attributes:
        float32: Python floats are float32, not float64.
    """

    float32 = False


preferences = _Preferences()


def _numpy_type(value: Any) -> Any:
    """Returns an argument for NumPy's `result_type`: the dtype of a tensor, numbers and arrays unchanged."""
    if isinstance(value, (Tensor, ReadAsTensor, IndexedSlices)):
        return value.dtype.as_numpy_dtype
    if isinstance(value, DType):
        return value.as_numpy_dtype
    if preferences.float32 and isinstance(value, (float, complex)):
        return np.float32 if isinstance(value, float) else np.complex64
    if isinstance(value, numbers.Number) or value is None or isinstance(value, (str, type, np.ndarray, np.dtype)):
        return value
    dtype = getattr(value, "dtype", value)  # a ragged tensor has one too, though it can't be an array
    return dtype.as_numpy_dtype if isinstance(dtype, DType) else dtype


def result_type(*arrays_and_dtypes: Any) -> DType:
    """Returns the common dtype that values are promoted to.

    Args:
        *arrays_and_dtypes: tensors, arrays, Python numbers, dtypes, or nests of these.

    Returns:
        A `tf.DType`.

    Raises:
        TypeError: there is no common dtype.

    Example:
        >>> from tapeflow.experimental import numpy as tnp
        >>> tnp.result_type(tf.constant([1]), 2.5)
        tf.float64
    """
    values = [_numpy_type(v) for v in nest.flatten(arrays_and_dtypes)]
    return as_dtype(np.result_type(*values) if values else np.float64)


def promote_types(type1: DTypeLike, type2: DTypeLike) -> np.dtype:
    """Returns the smallest dtype that two dtypes can be cast to.

    Args:
        type1: a dtype.
        type2: another.

    Returns:
        A NumPy dtype.

    Example:
        >>> from tapeflow.experimental import numpy as tnp
        >>> tnp.promote_types(tf.int32, tf.float32).name
        'float64'
    """
    types: list[Any] = [t.as_numpy_dtype if isinstance(t, DType) else t for t in (type1, type2)]
    return np.promote_types(*types)


def finfo(dtype: DTypeLike) -> np.finfo | ml_dtypes.finfo:
    """Returns the limits of a floating dtype, as `np.finfo`.

    Args:
        dtype: a floating dtype.

    Returns:
        An object with the attributes of `np.finfo`.

    Example:
        >>> from tapeflow.experimental import numpy as tnp
        >>> float(tnp.finfo(tf.float32).max) > 3.4e38
        True
    """
    kind = as_dtype(dtype).as_numpy_dtype
    return np.finfo(kind) if np.dtype(kind).kind == "f" else ml_dtypes.finfo(kind)


def default_float() -> DType:
    """Returns the dtype that integers take in functions whose results have fractions."""
    return result_type(float)


def convert(value: Any, hint: DType | None = None) -> Any:
    """Returns the tensor of a value. Large Python integers become uint64, and floats get the default dtype."""
    if isinstance(value, int) and value >= 2**63:
        return convert_to_tensor(value, uint64)
    if hint is None and isinstance(value, float):
        return convert_to_tensor(value, as_dtype(np.float32) if preferences.float32 else default_float())
    return convert_to_tensor(value, dtype_hint=hint)


def as_array(value: Any, dtype: DTypeLike = None) -> Any:
    """Returns the tensor of a value: of `dtype`, of its own dtype, or of the dtype that NumPy promotes its elements
    to."""
    if dtype is None and isinstance(value, Tensor):
        return value
    if dtype is not None:
        dtype = result_type(dtype)
    elif isinstance(value, (str, bytes)):
        dtype = as_dtype(np.bytes_)
    elif not isinstance(value, ReadAsTensor):
        dtype = result_type(value)
    value = convert(value, dtype)
    return value if dtype is None or value.dtype is dtype else cast(value, dtype)


def promote_values(*values: Any) -> list[Any]:
    """Returns the tensors of values, all promoted to their common dtype."""
    dtype = result_type(*values)
    return [as_array(v, dtype) for v in values]


def operands(first: Any, second: Any) -> list[Any]:
    """Returns the tensors of the operands of a function of two. As `promote_values`, but a dictionary is no operand.

    Raises:
        TypeError: there is no common dtype.
    """
    pair = (first, second)
    if any(isinstance(v, dict) for v in pair) and not any(isinstance(v, (list, tuple)) for v in pair):
        with contextlib.suppress(ValueError):
            np.result_type(_numpy_type(first), _numpy_type(second))
    return promote_values(first, second)


def as_inexact(value: Any) -> Any:
    """Returns the tensor of a value, with integers and bools as floats of the default dtype."""
    value = as_array(value)
    return value if value.dtype.is_floating or value.dtype.is_complex else cast(value, default_float())


def broadcast_shape_of(values: Iterable[Any]) -> Any:
    """Returns the common broadcast shape of values, as a tensor."""
    first, *others = [shape(v) for v in values]
    for other in others:
        first = broadcast_dynamic_shape(first, other)
    return first


def axis_of(axis: Any, rank: int | None) -> Any:
    """Returns an axis counted from the front if the rank is static, else unchanged."""
    return axis + rank if rank is not None and axis < 0 else axis


def by_rank(value: Tensor, rank: int, of_it: Callable[[], Any], of_others: Callable[[], Any]) -> Any:
    """Calls the first function for a tensor of a rank, the second one for others; in a graph that does not know the
    rank, either as it runs."""
    actual = rank_op(value) if value.shape.rank is None else value.shape.rank
    return either(actual == rank, of_it, of_others)


def either(condition: Any, of_it: Callable[[], Any], of_others: Callable[[], Any]) -> Any:
    """Calls the first function where a condition holds, else the second one; of a tensor of a graph, as it runs."""
    if isinstance(condition, SymbolicTensor):
        return cond(condition, of_it, of_others)
    return of_it() if condition else of_others()


def rank_of(value: Tensor, caller: str) -> int:
    """Returns the rank of a tensor.

    Raises:
        ValueError: the rank is not static.
    """
    rank = value.shape.rank
    if rank is None:
        raise ValueError(f"tf.experimental.numpy.{caller} needs a tensor of a known rank, got {value!r}.")
    return int(rank)


@numpy_function("[1j]")
def iscomplexobj(x: TensorLike) -> bool:
    """Returns True if the dtype is complex."""
    return bool(as_array(x).dtype.is_complex)


@numpy_function("[1.0]")
def isrealobj(x: TensorLike) -> bool:
    """Returns True if the dtype is not complex."""
    return not iscomplexobj(x)
