"""Tables that datasets fill. Expected values are TensorFlow's."""

import pytest

import tapeflow as tf

experimental = tf.data.experimental
WORDS = ["a", "b", "c"]


def pairs(values=(10, 20, 30)):
    words = tf.data.Dataset.from_tensor_slices(WORDS)
    return tf.data.Dataset.zip((words, tf.data.Dataset.from_tensor_slices(tf.constant(values, tf.int64))))


def words(dtype=tf.string):
    return tf.data.Dataset.from_tensor_slices(
        tf.constant(WORDS) if dtype is tf.string else tf.constant([7, 8, 9], dtype)
    )


def found(table, *keys):
    return table.lookup(tf.constant(keys, table.key_dtype)).numpy().tolist()


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, [10, 30, -1]),
        ({"default_value": 5}, [10, 30, 5]),
        ({"default_value": 0}, [10, 30, 0]),
        ({"vocab_size": 2}, [10, -1, -1]),
        ({"vocab_size": 3, "default_value": 7}, [10, 30, 7]),
        ({"vocab_size": 1, "default_value": 7}, [10, 7, 7]),
    ],
)
def test_tables_of_pairs(options, expected):
    table = experimental.table_from_dataset(pairs(), **options)
    assert isinstance(table, tf.lookup.StaticHashTable)
    assert found(table, "a", "c", "x") == expected and table.value_dtype == tf.int64


@pytest.mark.parametrize(
    ("options", "size", "expected"),
    [
        ({}, 3, [0, 2, -1]),
        ({"default_value": 9}, 3, [0, 2, 9]),
        ({"vocab_size": 2}, 2, [0, -1, -1]),
        ({"vocab_size": 2, "num_oov_buckets": 1}, 3, [0, 2, 2]),
        ({"num_oov_buckets": 1}, 4, [0, 2, 3]),
    ],
)
def test_tables_of_numbers(options, size, expected):
    table = experimental.index_table_from_dataset(words(), **options)
    assert int(table.size()) == size and found(table, "a", "c", "x") == expected


MISSING = [f"word {i}" for i in range(20)]


@pytest.mark.parametrize("make", ["table_from_dataset", "index_table_from_dataset"])
def test_hashes_of_missing_words(make):
    dataset = pairs((0, 1, 2)) if make == "table_from_dataset" else words()
    make = getattr(experimental, make)
    table = make(dataset, num_oov_buckets=5)
    fast = (tf.strings.to_hash_bucket_fast(MISSING, 5) + 3).numpy().tolist()
    assert found(table, *MISSING, "b") == [*fast, 1]


def test_numbers_as_keys():
    for dtype in (tf.int64, tf.int32):
        table = experimental.index_table_from_dataset(words(tf.int64), num_oov_buckets=3, key_dtype=dtype)
        assert table.key_dtype == dtype and found(table, 8, 7) == [1, 0]
        expected = (tf.strings.to_hash_bucket_fast(["100", "-5"], 3) + 3).numpy().tolist()
        assert found(table, 100, -5) == expected
    assert found(experimental.index_table_from_dataset(words(tf.int64), key_dtype=tf.int64), 9, 1) == [2, -1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_oov_buckets": -1}, "num_oov_buckets"),
        ({"vocab_size": 0}, "vocab_size"),
        ({"vocab_size": -1}, "vocab_size"),
        ({"key_dtype": tf.float32}, "key_dtype|string"),
        ({"key_dtype": tf.bool}, "key_dtype|string"),
    ],
)
@pytest.mark.parametrize("make", ["table_from_dataset", "index_table_from_dataset"])
def test_arguments_that_are_refused(make, options, message):
    dataset = pairs() if make == "table_from_dataset" else words()
    with pytest.raises((ValueError, TypeError), match=message):
        getattr(experimental, make)(dataset, **options)
