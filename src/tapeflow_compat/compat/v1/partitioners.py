"""Partitioners: into how many parts `get_variable` cuts a variable."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow.core.types.partitions import fewest_parts, most_parts, parts_along, size_of_element


def fixed_size_partitioner(num_shards: int, axis: int = 0) -> Callable[..., list[int]]:
    """Returns a partitioner that cuts one dimension into a number of parts.

    Example:
        >>> tf.compat.v1.fixed_size_partitioner(2)(shape=tf.TensorShape([4, 3]), dtype=tf.float32)
        [2, 1]
    """

    return lambda shape, **_: parts_along(shape, axis, min(num_shards, shape[axis]))


def variable_axis_size_partitioner(
    max_shard_bytes: int, axis: int = 0, bytes_per_string_element: int = 16, max_shards: int | None = None
) -> Callable[..., list[int]]:
    """Returns a partitioner that keeps each part below a number of bytes.

    Raises:
        ValueError: a limit is not positive.

    Example:
        >>> tf.compat.v1.variable_axis_size_partitioner(16)(shape=tf.TensorShape([4, 2]), dtype=tf.float32)
        [2, 1]
    """
    if max_shard_bytes < 1 or bytes_per_string_element < 1:
        raise ValueError(
            "Both max_shard_bytes and bytes_per_string_element must be positive. Currently, max_shard_bytes is "
            f"{max_shard_bytes} and bytes_per_string_element is {bytes_per_string_element}"
        )
    if max_shards and max_shards < 1:
        raise ValueError(f"max_shards must be positive, not {max_shards}.")

    return lambda shape, dtype: fewest_parts(
        shape, axis, size_of_element(dtype, bytes_per_string_element), max_shard_bytes, max_shards
    )


def min_max_variable_partitioner(
    max_partitions: int = 1, axis: int = 0, min_slice_size: int = 256 << 10, bytes_per_string_element: int = 16
) -> Callable[..., list[int]]:
    """Returns a partitioner that cuts into as many parts of at least a number of bytes as it may.

    Example:
        >>> partitioner = tf.compat.v1.min_max_variable_partitioner(8, min_slice_size=16)
        >>> partitioner(shape=tf.TensorShape([4, 2]), dtype=tf.float32)
        [2, 1]
    """

    return lambda shape, dtype: most_parts(
        shape, axis, size_of_element(dtype, bytes_per_string_element), min_slice_size, max_partitions
    )


def no_regularizer(_: Any) -> None:
    """Returns a regularizer that adds nothing; it keeps a scope's from being used.

    Example:
        >>> with tf.Graph().as_default():
        ...     with tf.compat.v1.variable_scope("a", regularizer=lambda v: v):
        ...         v = tf.compat.v1.get_variable("w", [2], regularizer=tf.compat.v1.no_regularizer)
        ...     print(tf.compat.v1.losses.get_regularization_losses())
        []
    """
