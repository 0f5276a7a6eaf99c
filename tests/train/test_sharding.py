"""Sharding callbacks of checkpoints."""

import numpy as np
import pytest

import tapeflow as tf

experimental = tf.train.experimental


def shardable(name, value, device="/job:a/device:CPU:0"):
    tensor = tf.constant(value)
    return experimental.ShardableTensor(None, tensor, tensor.dtype, device, name, tensor.shape, "", name, None)


def plain(shards):
    return [
        {k: {p: np.array(t.numpy(), object).tolist() for p, t in parts.items()} for k, parts in shard.items()}
        for shard in shards
    ]


def test_a_shard_for_each_task():
    tensors = [shardable("a", 1.0), shardable("b", 2.0, "/job:b/device:CPU:0"), shardable("c", 3.0)]
    shards = experimental.ShardByTaskPolicy()(tensors)
    assert plain(shards) == [{"a": {"": 1.0}, "c": {"": 3.0}}, {"b": {"": 2.0}}]


def test_shards_of_a_size():
    shards = experimental.MaxShardSizePolicy(max_shard_size=12)(
        [shardable("a", [1.0, 2.0]), shardable("b", [[3.0], [4.0]])]
    )
    assert plain(shards) == [{"a": {"": [1.0, 2.0]}, "b": {"2 1 0,1:0,1": [[3.0]]}}, {"b": {"2 1 1,1:0,1": [[4.0]]}}]


def test_checkpoints_have_one_shard(tmp_path):
    options = tf.train.CheckpointOptions(experimental_sharding_callback=experimental.ShardByTaskPolicy())
    path = tf.train.Checkpoint(v=tf.Variable(1.0)).save(tmp_path / "c", options)
    assert tf.train.load_variable(path, "v/.ATTRIBUTES/VARIABLE_VALUE") == 1.0
    with pytest.raises(NotImplementedError, match="one data file"):
        tf.train.CheckpointOptions(experimental_sharding_callback=experimental.MaxShardSizePolicy(5))


def test_sizes_of_shards_must_be_positive():
    for size in (0, -1):
        with pytest.raises(ValueError, match="max_shard_size must be"):
            experimental.MaxShardSizePolicy(size)
    assert experimental.MaxShardSizePolicy(1).max_shard_size == 1


def test_tensors_larger_than_a_shard():
    tensors = [shardable("a", 1.0), shardable("b", [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])]
    assert plain(experimental.MaxShardSizePolicy(20)(tensors)) == [
        {"a": {"": 1.0}, "b": {"3 2 0,2:0,2": [[1.0, 2.0], [3.0, 4.0]]}},
        {"b": {"3 2 2,1:0,2": [[5.0, 6.0]]}},
    ]
    assert plain(experimental.MaxShardSizePolicy(28)(tensors)) == [
        {"a": {"": 1.0}, "b": {"": [[1, 2], [3, 4], [5, 6]]}}
    ]


def test_texts_by_their_bytes():
    tensors = [shardable("a", ["abcd", "efgh"]), shardable("b", "ij")]
    assert plain(experimental.MaxShardSizePolicy(10)(tensors)) == [{"a": {"": [b"abcd", b"efgh"]}, "b": {"": b"ij"}}]
    assert plain(experimental.MaxShardSizePolicy(9)(tensors)) == [{"a": {"": [b"abcd", b"efgh"]}}, {"b": {"": b"ij"}}]


def test_tensors_without_elements():
    tensors = [shardable("a", []), shardable("b", [1.0])]
    (shard,) = experimental.MaxShardSizePolicy(4)(tensors)
    assert sorted(shard) == ["a", "b"]
    assert experimental.MaxShardSizePolicy(4)([]) == []


def test_callbacks_are_equal_by_their_description():
    one, two = experimental.ShardByTaskPolicy(), experimental.ShardByTaskPolicy()
    assert one == two
    assert hash(one) == hash(two)
    assert one != experimental.MaxShardSizePolicy(1)
    assert one != "text"
    assert one.description == "Split tensors into shards based on their device's task."
