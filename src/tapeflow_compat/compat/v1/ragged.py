"""`tf.compat.v1.ragged`: ragged tensors, and their values as sessions give them."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow.core.scopes import name_scope
from tapeflow.core.types.aliases import DTypeLike, ShapeLike
from tapeflow.core.types.dtypes import as_dtype, int64
from tapeflow.core.types.shape import TensorShape
from tapeflow.ragged.conversion import constant
from tapeflow.ragged.tensor import RaggedTensor
from tapeflow.ragged.value import RaggedTensorValue
from tapeflow_compat.compat.v1 import names
from tapeflow_compat.compat.v1.placeholders import placeholder as dense_placeholder

__all__ = ["RaggedTensorValue", "constant_value", "placeholder"]

__getattr__ = names.finder("ragged")


def constant_value(
    pylist: Any, dtype: DTypeLike = None, ragged_rank: int | None = None, inner_shape: Any = None,
    row_splits_dtype: Any = "int64",
) -> Any:  # fmt: skip
    """Converts a nested list to a `RaggedTensorValue`, in NumPy's default dtypes.

    Args:
        pylist: lists, tuples and arrays, with all scalars at one depth.
        dtype: of the values, of NumPy or TensorFlow.
        ragged_rank: the number of ragged dimensions; by default all between the first one and `inner_shape`.
        inner_shape: of the innermost values, which are not ragged.
        row_splits_dtype: int32 or int64.

    Returns:
        A `RaggedTensorValue`; an array, if nothing is ragged.

    Raises:
        ValueError: scalars are at different depths, or the shapes do not fit.

    Example:
        >>> tf.compat.v1.ragged.constant_value([[1, 2], [], [3]]).to_list()
        [[1, 2], [], [3]]
    """
    scalars: list[Any] = []
    places = constant(_numbered(pylist, scalars), int64, ragged_rank, inner_shape, row_splits_dtype=row_splits_dtype)
    values = np.array(scalars)
    return _value_of(places, values if dtype is None else values.astype(as_dtype(dtype).as_numpy_dtype))


def _numbered(value: Any, scalars: list[Any]) -> Any:
    """Replaces each scalar in nested lists by its index in `scalars`, and adds it there."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [_numbered(v, scalars) for v in value]
    scalars.append(value)
    return len(scalars) - 1


def _value_of(places: Any, values: np.ndarray) -> Any:
    if isinstance(places, RaggedTensor):
        return RaggedTensorValue(_value_of(places.values, values), places.row_splits.numpy())
    return values[places.numpy()]


def placeholder(dtype: DTypeLike, ragged_rank: int, value_shape: ShapeLike = None, name: str | None = None) -> Any:
    """Returns a `tf.RaggedTensor` of the graph being built, whose value is fed when the graph runs.

    Args:
        dtype: of its values.
        ragged_rank: the number of ragged dimensions.
        value_shape: the static shape of its innermost values.
        name: the prefix of the names of its placeholders.

    Returns:
        The ragged tensor; a tensor, if `ragged_rank` is 0.

    Raises:
        RuntimeError: no graph is being built.

    Example:
        >>> with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
        ...     x = tf.compat.v1.ragged.placeholder(tf.int32, 1, [])
        ...     value = tf.compat.v1.ragged.constant_value([[1, 2], [3]], "int32")
        ...     print(sess.run(tf.reduce_sum(x, 1), {x: value}))
        [3 3]
    """
    if ragged_rank == 0:
        return dense_placeholder(dtype, value_shape, name)
    with name_scope(name or "RaggedPlaceholder"):
        result: Any = dense_placeholder(dtype, TensorShape([None]).concatenate(TensorShape(value_shape)), "flat_values")
        for i in reversed(range(ragged_rank)):
            splits = dense_placeholder(int64, [None], f"row_splits_{i}")
            result = RaggedTensor.from_row_splits(result, splits, validate=False)
    return result
