"""The number of parts to cut a variable into."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from typing import Any

from tapeflow.core.types.aliases import DTypeLike
from tapeflow.core.types.partitions import fewest_parts, most_parts, parts_along, size_of_element
from tapeflow.core.types.shape import TensorShape


class Partitioner(metaclass=ABCMeta):
    """Chooses the number of parts of a variable: the base of all partitioners.

    Example:
        >>> partitioner = tf.distribute.experimental.partitioners.FixedShardsPartitioner(num_shards=2)
        >>> isinstance(partitioner, tf.distribute.experimental.partitioners.Partitioner)
        True
    """

    @abstractmethod
    def __call__(self, shape: TensorShape, dtype: DTypeLike, axis: int = 0) -> list[int]:
        """Returns the number of parts along each axis.

        Args:
            shape: the shape of the variable.
            dtype: its dtype.
            axis: the axis to cut.
        """


def _require_positive(end: str, **values: Any) -> None:
    for name, value in values.items():
        if value < 1:
            raise ValueError(f"Argument `{name}` must be positive. Received{end} {value}")


class FixedShardsPartitioner(Partitioner):
    """Cuts every variable into the same number of parts, as far as its dimension allows.

    Args:
        num_shards: the number of parts.

    Example:
        >>> partitioner = tf.distribute.experimental.partitioners.FixedShardsPartitioner(num_shards=2)
        >>> partitioner(tf.TensorShape([10, 3]), tf.float32)
        [2, 1]
    """

    def __init__(self, num_shards: int) -> None:
        self._num_shards = num_shards

    def __call__(self, shape: TensorShape, dtype: DTypeLike, axis: int = 0) -> list[int]:
        return parts_along(shape, axis, min(self._num_shards, shape[axis]))


class MinSizePartitioner(Partitioner):
    """Cuts variables into as many parts as have a number of bytes at least.

    Args:
        min_shard_bytes: the number of bytes.
        max_shards: the largest number of parts.
        bytes_per_string: the number of bytes of a string.

    Raises:
        ValueError: an argument is not positive.

    Example:
        >>> partitioner = tf.distribute.experimental.partitioners.MinSizePartitioner(min_shard_bytes=4, max_shards=10)
        >>> partitioner(tf.TensorShape([6, 1]), tf.float32)
        [6, 1]
    """

    def __init__(self, min_shard_bytes: int = 256 << 10, max_shards: int = 1, bytes_per_string: int = 16) -> None:
        _require_positive(
            ":", min_shard_bytes=min_shard_bytes, max_shards=max_shards, bytes_per_string=bytes_per_string
        )
        self._bytes, self._max, self._per_string = min_shard_bytes, max_shards, bytes_per_string

    def __call__(self, shape: TensorShape, dtype: DTypeLike, axis: int = 0) -> list[int]:
        if axis >= len(shape):
            raise ValueError(f"Cannot partition variable along axis {axis} when shape is only {shape}")
        return most_parts(shape, axis, size_of_element(dtype, self._per_string), self._bytes, self._max)


class MaxSizePartitioner(Partitioner):
    """Cuts variables into as few parts as have a number of bytes at most.

    Args:
        max_shard_bytes: the number of bytes.
        max_shards: the largest number of parts, which may make them larger; None for no limit.
        bytes_per_string: the number of bytes of a string.

    Raises:
        ValueError: an argument is not positive.

    Example:
        >>> partitioner = tf.distribute.experimental.partitioners.MaxSizePartitioner(max_shard_bytes=8)
        >>> partitioner(tf.TensorShape([6, 1]), tf.float32)
        [3, 1]
    """

    def __init__(self, max_shard_bytes: int, max_shards: int | None = None, bytes_per_string: int = 16) -> None:
        _require_positive("", max_shard_bytes=max_shard_bytes, max_shards=max_shards or 1)
        _require_positive(":", bytes_per_string=bytes_per_string)
        self._bytes, self._max, self._per_string = max_shard_bytes, max_shards, bytes_per_string

    def __call__(self, shape: TensorShape, dtype: DTypeLike, axis: int = 0) -> list[int]:
        return fewest_parts(shape, axis, size_of_element(dtype, self._per_string), self._bytes, self._max)
