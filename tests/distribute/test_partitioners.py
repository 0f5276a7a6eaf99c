"""Partitioners: the number of parts of a variable."""

import pytest

import tapeflow as tf

partitioners = tf.distribute.experimental.partitioners


@pytest.mark.parametrize(
    ("partitioner", "shape", "axis", "expected"),
    [
        (partitioners.FixedShardsPartitioner(3), [10, 4], 0, [3, 1]),
        (partitioners.FixedShardsPartitioner(3), [2, 4], 0, [2, 1]),
        (partitioners.FixedShardsPartitioner(3), [2, 4], 1, [1, 3]),
        (partitioners.MinSizePartitioner(), [1 << 20], 0, [1]),
        (partitioners.MinSizePartitioner(max_shards=9), [1 << 18], 0, [4]),
        (partitioners.MinSizePartitioner(8, 10), [6, 1], 0, [3, 1]),
        (partitioners.MinSizePartitioner(8, 2), [6, 1], 0, [2, 1]),
        (partitioners.MinSizePartitioner(8, 10), [3, 4], 1, [1, 4]),
        (partitioners.MaxSizePartitioner(8), [6, 1], 0, [3, 1]),
        (partitioners.MaxSizePartitioner(8, max_shards=2), [6, 1], 0, [2, 1]),
        (partitioners.MaxSizePartitioner(16), [3, 4], 1, [1, 4]),
    ],
)
def test_partitioners(partitioner, shape, axis, expected):
    assert partitioner(tf.TensorShape(shape), tf.float32, axis) == expected


def test_sizes_of_strings():
    assert partitioners.MinSizePartitioner(32, 10)(tf.TensorShape([6]), tf.string) == [3]
    assert partitioners.MinSizePartitioner(32, 10, bytes_per_string=8)(tf.TensorShape([6]), tf.string) == [2]
    assert partitioners.MaxSizePartitioner(32)(tf.TensorShape([6]), tf.string) == [3]
    assert partitioners.MaxSizePartitioner(32, bytes_per_string=32)(tf.TensorShape([6]), tf.string) == [6]


@pytest.mark.parametrize(
    ("create", "name"),
    [
        (lambda: partitioners.MinSizePartitioner(0), "min_shard_bytes"),
        (lambda: partitioners.MinSizePartitioner(max_shards=0), "max_shards"),
        (lambda: partitioners.MinSizePartitioner(bytes_per_string=-1), "bytes_per_string"),
        (lambda: partitioners.MaxSizePartitioner(0), "max_shard_bytes"),
        (lambda: partitioners.MaxSizePartitioner(1, max_shards=-2), "max_shards"),
        (lambda: partitioners.MaxSizePartitioner(1, bytes_per_string=0), "bytes_per_string"),
    ],
)
def test_sizes_are_positive(create, name):
    with pytest.raises(ValueError, match=f"Argument `{name}` must be positive"):
        create()


def test_axes_of_partitioners():
    with pytest.raises(ValueError, match="Cannot partition variable along axis 2 when shape is only"):
        partitioners.MinSizePartitioner()(tf.TensorShape([4, 4]), tf.float32, axis=2)
