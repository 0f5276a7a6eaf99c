"""Sharding callbacks of checkpoints."""

import pytest

import tapeflow as tf

experimental = tf.train.experimental


def shardable(name, value, device="/job:a/device:CPU:0"):
    tensor = tf.constant(value)
    return experimental.ShardableTensor(None, tensor, tensor.dtype, device, name, tensor.shape, "", name, None)


def plain(shards):
    return [{k: {p: t.numpy().tolist() for p, t in parts.items()} for k, parts in shard.items()} for shard in shards]


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
