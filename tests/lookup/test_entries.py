"""Entries of tables: keys and values of each kind, in small and in growing numbers, removed and added again."""

import numpy as np
import pytest

import tapeflow as tf

lookup = tf.lookup.experimental
TEXTS = [f"t{i}" for i in range(40)]


def exported(table):
    keys, values = table.export()
    return dict(zip(keys.numpy().tolist(), values.numpy().tolist(), strict=False))


@pytest.mark.parametrize(
    ("key_dtype", "value_dtype", "keys", "values", "default"),
    [
        (tf.string, tf.string, TEXTS, TEXTS[::-1], "none"),
        (tf.string, tf.int64, TEXTS, list(range(40)), -1),
        (tf.int64, tf.string, list(range(5, 45)), TEXTS, "none"),
        (tf.int64, tf.float32, list(range(5, 45)), [i / 2 for i in range(40)], -1.0),
        (tf.int32, tf.int32, list(range(40)), list(range(40, 80)), -1),
        (tf.string, tf.bool, TEXTS, [i % 3 == 0 for i in range(40)], False),
    ],
)
def test_growing_tables(key_dtype, value_dtype, keys, values, default):
    table = lookup.MutableHashTable(key_dtype, value_dtype, default)
    k, v = tf.constant(keys, key_dtype), tf.constant(values, value_dtype)
    for start, end in ((0, 3), (3, 17), (17, 40)):
        table.insert(k[start:end], v[start:end])
        assert table.size().numpy() == end
    assert table.lookup(k).numpy().tolist() == v.numpy().tolist()
    assert exported(table) == dict(zip(k.numpy().tolist(), v.numpy().tolist(), strict=False))
    table.insert(k[1:3], v[5:7])
    assert table.lookup(k[:4]).numpy().tolist() == v.numpy()[[0, 5, 6, 3]].tolist()
    assert table.size().numpy() == 40
    table.remove(k[:10])
    missing = tf.constant([default], value_dtype).numpy().tolist()
    assert table.lookup(k[8:12]).numpy().tolist() == [*missing * 2, *v.numpy()[10:12].tolist()]
    table.insert(k[9:10], v[:1])
    assert table.lookup(k[8:11]).numpy().tolist() == [*missing, *v.numpy()[[0, 10]].tolist()]
    assert table.size().numpy() == 31 == len(exported(table))
    assert table.lookup(k[0]).numpy() == tf.constant(default, value_dtype).numpy()


def test_the_last_of_equal_keys_counts():
    for values, expected, default in (([1, 2, 3], 3, -1), (["a", "b", "c"], b"c", "")):
        table = lookup.MutableHashTable(tf.string, tf.constant(values).dtype, default)
        table.insert(tf.constant(["k"] * 3), tf.constant(values))
        assert table.lookup(tf.constant("k")).numpy() == expected
        assert table.size().numpy() == 1


def test_vectors_of_texts():
    table = lookup.MutableHashTable(tf.string, tf.string, ["-", "-"])
    pairs = [[f"a{i}", f"b{i}"] for i in range(20)]
    table.insert(tf.constant(TEXTS[:20]), tf.constant(pairs))
    found = table.lookup(tf.constant([["t3", "none"], ["t19", "t0"]])).numpy().tolist()
    assert found == [[[b"a3", b"b3"], [b"-", b"-"]], [[b"a19", b"b19"], [b"a0", b"b0"]]]
    assert table.lookup(tf.constant("t5")).numpy().tolist() == [b"a5", b"b5"]
    assert table.lookup(tf.constant("x")).numpy().tolist() == [b"-", b"-"]


def test_keys_that_are_vectors():
    table = lookup.DenseHashTable(tf.string, tf.float32, [0.0, 1.0], empty_key=["", ""], deleted_key=["x", ""])
    keys = tf.constant([[f"a{i}", f"b{i % 3}"] for i in range(25)])
    values = tf.constant([[float(i), -float(i)] for i in range(25)])
    table.insert(keys, values)
    assert table.lookup(keys[7:9]).numpy().tolist() == [[7.0, -7.0], [8.0, -8.0]]
    assert table.lookup(tf.constant([["b1", "a7"]])).numpy().tolist() == [[0.0, 1.0]]
    assert table.lookup(tf.reshape(keys[:4], [2, 2, 2])).shape == [2, 2, 2]
    table.erase(keys[:5])
    assert table.size().numpy() == 20
    found, rows = table.export()
    kept = [
        (k, v)
        for k, v in zip(found.numpy().tolist(), rows.numpy().tolist(), strict=False)
        if k != [b"", b""] and k[0] != b"x"
    ]
    assert sorted(v[0] for _, v in kept) == [float(i) for i in range(5, 25)]
    assert found.shape[1] == 2


def test_the_arrays_of_the_caller_stay():
    table = lookup.MutableHashTable(tf.int64, tf.float32, 0.0)
    values = np.float32([1.0, 2.0])
    table.insert(np.int64([1, 2]), values)
    values[:] = 9.0
    assert table.lookup(np.int64([1, 2])).numpy().tolist() == [1.0, 2.0]
    found = table.lookup(np.int64([1])).numpy()
    row = table.lookup(tf.constant(1, tf.int64))
    table.insert(np.int64([1]), np.float32([5.0]))
    assert found.tolist() == [1.0]
    assert row.numpy() == 1.0


def test_tables_are_saved(tmp_path):
    table = lookup.MutableHashTable(tf.string, tf.int64, -1)
    table.insert(tf.constant(["a", "b", "c"]), tf.constant([1, 2, 3], tf.int64))
    table.remove(tf.constant(["b"]))
    path = tf.train.Checkpoint(t=table).write(str(tmp_path / "m"))
    other = lookup.MutableHashTable(tf.string, tf.int64, -1)
    other.insert(tf.constant(["z"]), tf.constant([9], tf.int64))
    tf.train.Checkpoint(t=other).read(path)
    assert exported(other) == {b"a": 1, b"c": 3}
