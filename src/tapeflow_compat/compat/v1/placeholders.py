"""Placeholders: tensors of a graph whose values are fed when it runs."""

from __future__ import annotations

from typing import Any

from tapeflow.core.context import state
from tapeflow.core.ops.convert import convert
from tapeflow.core.types.aliases import DTypeLike, ShapeLike, TensorLike
from tapeflow.core.types.dtypes import as_dtype, int64
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import Tensor
from tapeflow.graph.graphdef.node_ops import placeholder_with_default as with_default
from tapeflow.sparse.tensor import SparseTensor


def placeholder(dtype: DTypeLike, shape: Any = None, name: str | None = None) -> Tensor:
    """Returns a tensor of the graph being built, whose value is fed when the graph runs.

    Args:
        dtype: its dtype.
        shape: its static shape; by default unknown.
        name: its operation's name.

    Raises:
        RuntimeError: no graph is being built.

    Example:
        >>> with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
        ...     x = tf.compat.v1.placeholder(tf.float32, [None])
        ...     print(sess.run(x * 2.0, {x: [1.0, 2.0]}))
        [2. 4.]
    """
    if state.graph is None:
        raise RuntimeError("tf.placeholder() is not compatible with eager execution.")
    return state.graph.placeholder(as_dtype(dtype), TensorShape(shape), name or "Placeholder")


def placeholder_with_default(input: TensorLike, shape: ShapeLike, name: str | None = None) -> Tensor:
    """Returns a tensor of the graph being built that has a value of its own where it is not fed; eagerly, that value.

    Args:
        input: the value.
        shape: the static shape of the values that may be fed.

    Raises:
        ValueError: `input` is of another shape.

    Example:
        >>> with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
        ...     x = tf.compat.v1.placeholder_with_default(2.0, [])
        ...     print(sess.run(x), sess.run(x, {x: 3.0}))
        2.0 3.0
    """
    value = convert(input)
    if state.graph is None:
        return value
    if not TensorShape(shape).is_compatible_with(value.shape):
        raise ValueError(f"The default of a placeholder of shape {TensorShape(shape)} is of shape {value.shape}.")
    return with_default(state.graph, value, shape, name or "PlaceholderWithDefault").outputs[0]


def sparse_placeholder(dtype: DTypeLike, shape: ShapeLike = None, name: str | None = None) -> Any:
    """Returns a `tf.SparseTensor` of the graph being built, whose value is fed when the graph runs.

    Args:
        dtype: of its values.
        shape: its static dense shape.
        name: the prefix of the names of its three placeholders.

    Raises:
        RuntimeError: no graph is being built.

    Example:
        >>> with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
        ...     x = tf.compat.v1.sparse_placeholder(tf.float32, [2, 2])
        ...     print(sess.run(tf.sparse.reduce_sum(x), {x: ([[0, 1]], [5.0], [2, 2])}))
        5.0
    """
    name = name or "SparsePlaceholder"
    dims = TensorShape(shape)
    if dims.is_fully_defined():
        dense_shape = placeholder_with_default(convert(dims.as_list(), int64), [dims.rank], f"{name}/shape")
    else:
        dense_shape = placeholder(int64, [dims.rank], f"{name}/shape")
    sparse = SparseTensor(
        placeholder(int64, [None, dims.rank], f"{name}/indices"),
        placeholder(dtype, [None], f"{name}/values"),
        dense_shape,
    )
    if dims.rank is not None:
        sparse.set_shape(dims)
    return sparse
