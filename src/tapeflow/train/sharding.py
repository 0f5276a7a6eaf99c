"""Divides a checkpoint's tensors among data files: `tf.train.experimental.ShardingCallback` and its kinds."""

from __future__ import annotations

import abc
import dataclasses
import math
from collections.abc import MutableMapping, Sequence
from typing import Any

import numpy as np

from tapeflow.core.types.dtypes import DType, string
from tapeflow.core.values.tensor import Tensor

Shard = MutableMapping[str, MutableMapping[Any, Tensor]]


@dataclasses.dataclass(frozen=True, eq=False)
class ShardableTensor:
    """A tensor that goes into a checkpoint, or a slice of it.

    Attributes:
        tensor: the tensor.
        dtype: its dtype.
        device: its device.
        name: the name of its entry.
        shape: its shape.
        slice_spec: its place in the whole tensor; empty for a whole one.
        checkpoint_key: the key of its entry.
        trackable: the object that it belongs to.

    Example:
        >>> one = tf.constant([1.0, 2.0])
        >>> t = tf.train.experimental.ShardableTensor(None, one, tf.float32, "", "v", one.shape, "", "v", None)
        >>> t.name
        'v'
    """

    _tensor_save_spec: Any
    tensor: Tensor
    dtype: DType
    device: str
    name: str
    shape: Any
    slice_spec: str
    checkpoint_key: str
    trackable: Any


class ShardingCallback(abc.ABC):
    """Divides the tensors of a checkpoint into shards. Each shard is a data file.

    Example:
        >>> class OneFile(tf.train.experimental.ShardingCallback):
        ...     @property
        ...     def description(self):
        ...         return "One file of all tensors."
        ...     def __call__(self, shardable_tensors):
        ...         return [{t.checkpoint_key: {t.slice_spec: t.tensor} for t in shardable_tensors}]
        >>> OneFile()([])
        [{}]
    """

    @property
    @abc.abstractmethod
    def description(self) -> str:
        """A sentence on the division, for messages."""

    @abc.abstractmethod
    def __call__(self, shardable_tensors: Sequence[ShardableTensor]) -> Sequence[Shard]:
        """Returns the shards, dicts from keys to dicts from slices to tensors.

        Args:
            shardable_tensors: the tensors of one task.
        """

    def __hash__(self) -> int:
        return hash(self.description)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ShardingCallback) and self.description == other.description


class ShardByTaskPolicy(ShardingCallback):
    """Puts all tensors of a task into one shard, as checkpoints are written without a callback.

    Example:
        >>> tf.train.experimental.ShardByTaskPolicy()([])
        []
    """

    description = "Split tensors into shards based on their device's task."

    def __call__(self, shardable_tensors: Sequence[ShardableTensor]) -> Sequence[Shard]:
        """Returns one shard for the tensors of each task.

        Args:
            shardable_tensors: the tensors.
        """
        tasks: dict[str, Shard] = {}
        for tensor in shardable_tensors:
            task = tensor.device.split("/device:")[0]
            _add_part(tasks.setdefault(task, {}), tensor.checkpoint_key, tensor.slice_spec, tensor.tensor)
        return list(tasks.values())


def _add_part(shard: Shard, key: str, place: Any, tensor: Tensor) -> None:
    shard.setdefault(key, {})[place] = tensor


class MaxShardSizePolicy(ShardingCallback):
    """Fills shards up to a size, and cuts tensors along their first dimension if they do not fit.

    Args:
        max_shard_size: an int, the most bytes of tensors in a shard.

    Raises:
        ValueError: the size is not positive.

    Example:
        >>> policy = tf.train.experimental.MaxShardSizePolicy(max_shard_size=8)
        >>> one = tf.constant([1.0, 2.0, 3.0])
        >>> t = tf.train.experimental.ShardableTensor(None, one, tf.float32, "", "v", one.shape, "", "v", None)
        >>> [[v.numpy().tolist() for v in shard["v"].values()] for shard in policy([t])]
        [[[1.0, 2.0]], [[3.0]]]
    """

    def __init__(self, max_shard_size: int) -> None:
        if max_shard_size <= 0:
            raise ValueError(f"max_shard_size must be positive, but is {max_shard_size}")
        self.max_shard_size = max_shard_size

    description = "Split tensors into shards with a max shard size."

    def __call__(self, shardable_tensors: Sequence[ShardableTensor]) -> Sequence[Shard]:
        """Returns the shards.

        Args:
            shardable_tensors: the tensors.
        """
        shards: list[Shard] = [{}]
        left = self.max_shard_size
        for item in shardable_tensors:
            rows, start = (item.tensor.shape[0] if item.tensor.shape.rank else 1), 0
            row_size = self._size(item) / max(rows, 1)
            while start < max(rows, 1):
                count = min(rows - start, int(left // row_size)) if row_size else rows
                if count < 1 and left < self.max_shard_size:  # the next shard is empty, and takes a row at least
                    shards.append({})
                    left = self.max_shard_size
                    continue
                count = max(count, 1)
                whole = count >= rows
                part = item.tensor if whole else item.tensor[start : start + count]
                place = item.slice_spec if whole else self._place(item, start, count)
                _add_part(shards[-1], item.checkpoint_key, place, part)
                left -= math.ceil(count * row_size)
                start += count
        return [shard for shard in shards if shard]

    @staticmethod
    def _size(item: ShardableTensor) -> int:
        if item.dtype is string:
            return sum(len(text) for text in np.array(item.tensor.numpy(), object).reshape(-1).tolist())
        return math.prod(item.tensor.shape.as_list()) * item.dtype.size

    @staticmethod
    def _place(item: ShardableTensor, start: int, count: int) -> Any:
        dims = item.tensor.shape.as_list()
        rest = "".join(f":0,{size}" for size in dims[1:])
        return f"{' '.join(map(str, dims))} {start},{count}{rest}"
