"""Saved datasets, snapshots and caches in files. Expected values are TensorFlow's."""

import os

import numpy as np
import pytest

import tapeflow as tf

Dataset = tf.data.Dataset
r6 = Dataset.range(6)


def numbers(dataset):
    return [int(x) for x in dataset]


@pytest.mark.parametrize("compression", [None, "GZIP", "NONE"])
def test_datasets_come_back(tmp_path, compression):
    path = str(tmp_path / "saved")
    pairs = r6.map(lambda x: {"a": x, "b": tf.fill([x], "s")})
    pairs.save(path, compression=compression)
    loaded = Dataset.load(path, compression=compression)
    assert loaded.element_spec == pairs.element_spec
    assert int(loaded.cardinality()) == len(loaded) == 6
    assert [(int(e["a"]), e["b"].numpy().tolist()) for e in loaded] == [(i, [b"s"] * i) for i in range(6)]
    again = Dataset.load(path, element_spec=pairs.element_spec, compression=compression)
    assert [int(e["a"]) for e in again] == list(range(6))


def test_shards_are_read_in_turn_or_by_a_reader(tmp_path):
    path = str(tmp_path / "saved")
    r6.save(path, shard_func=lambda x: x % 2)
    assert numbers(Dataset.load(path)) == [0, 1, 2, 3, 4, 5]
    assert numbers(Dataset.load(path, reader_func=lambda shards: shards.flat_map(lambda s: s))) == [0, 2, 4, 1, 3, 5]
    files = sorted(f for _, _, found in os.walk(path) for f in found if f.endswith(".snapshot"))
    assert len(files) == 2
    r6.take(2).save(path)
    assert numbers(Dataset.load(path)) == [0, 1]
    r6.filter(lambda x: x > 2).save(path)
    assert (numbers(Dataset.load(path)), len(Dataset.load(path))) == ([3, 4, 5], 3)
    r6.take(0).save(path)
    assert numbers(Dataset.load(path)) == []


def test_shards_that_are_no_numbers(tmp_path):
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError), match="shard_func` must return a scalar int64"):
        r6.save(str(tmp_path / "saved"), shard_func=lambda x: tf.cast(x, tf.int32))
    with pytest.raises(tf.errors.NotFoundError):
        Dataset.load(str(tmp_path / "nothing"))


def test_older_names(tmp_path):
    path = str(tmp_path / "saved")
    tf.data.experimental.save(r6, path, "GZIP", lambda x: x % 3)
    loaded = tf.data.experimental.load(path, tf.TensorSpec([], tf.int64), "GZIP", lambda s: s.flat_map(lambda x: x))
    assert numbers(loaded) == [0, 3, 1, 4, 2, 5]


def test_snapshots(tmp_path):
    path = str(tmp_path / "snapshot")
    calls = []

    def counted(x):
        calls.append(int(x))
        return x * 10

    source = r6.map(lambda x: tf.numpy_function(counted, [x], tf.int64))
    kept = source.snapshot(path)
    assert kept.cardinality() == 6
    assert numbers(kept) == [0, 10, 20, 30, 40, 50]
    assert numbers(kept) == [0, 10, 20, 30, 40, 50]
    assert sorted(calls) == [0, 1, 2, 3, 4, 5]


def test_snapshots_in_shards(tmp_path):
    arguments = {"compression": "GZIP", "shard_func": lambda x: x % 2, "reader_func": lambda s: s.flat_map(lambda x: x)}
    kept = r6.snapshot(str(tmp_path), **arguments)
    assert numbers(kept) == [0, 1, 2, 3, 4, 5]
    assert numbers(kept) == [0, 2, 4, 1, 3, 5]
    other = r6.map(lambda x: -x).apply(tf.data.experimental.snapshot(str(tmp_path)))
    assert numbers(other) == [0, -1, -2, -3, -4, -5] == numbers(other)


def test_caches_in_files(tmp_path):
    path = str(tmp_path / "cache")
    calls = []

    def counted(x):
        calls.append(int(x))
        return x * 10

    source = r6.map(lambda x: tf.numpy_function(counted, [x], tf.int64))
    kept = source.cache(path)
    assert numbers(kept.take(6)) == numbers(kept) == numbers(source.take(0).cache(path)) == [0, 10, 20, 30, 40, 50]
    assert sorted(set(calls)) == [0, 1, 2, 3, 4, 5]
    assert any(name.startswith("cache") for name in os.listdir(tmp_path))
    count = len(calls)
    memory = source.cache()
    for _ in range(3):
        assert numbers(memory) == [0, 10, 20, 30, 40, 50]
    assert len(calls) == count + 6


def test_saved_components(tmp_path):
    path = str(tmp_path / "saved")
    several = Dataset.from_tensors((
        tf.ragged.constant([[1, 2], [], [3]]), tf.sparse.from_dense([[0, 1], [2, 0]]),
        tf.constant([1.5, -2.5], tf.bfloat16), np.array(["a", "bc"]), np.array([[True], [False]]),
    )).repeat(2)  # fmt: skip
    several.save(path)
    first, second = Dataset.load(path)
    for ragged, sparse, half, words, flags in (first, second):
        assert ragged.to_list() == [[1, 2], [], [3]]
        assert tf.sparse.to_dense(sparse).numpy().tolist() == [[0, 1], [2, 0]]
        assert (half.dtype, half.numpy().tolist()) == (tf.bfloat16, [1.5, -2.5])
        assert words.numpy().tolist() == [b"a", b"bc"]
        assert flags.numpy().tolist() == [[True], [False]]


def test_other_arguments(tmp_path):
    with pytest.raises(tf.errors.InvalidArgumentError, match="'LZ4'"):
        r6.save(str(tmp_path / "saved"), compression="LZ4")
    with pytest.raises(NotImplementedError, match="checkpoints on the way"):
        r6.save(str(tmp_path / "saved"), checkpoint_args={"directory": "a"})
    assert not os.listdir(tmp_path)
