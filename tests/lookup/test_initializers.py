"""What fills tables: tensors, columns of files, datasets, and what they refuse."""

import numpy as np
import pytest

import tapeflow as tf

lookup = tf.lookup
WHOLE, NUMBER = lookup.TextFileIndex.WHOLE_LINE, lookup.TextFileIndex.LINE_NUMBER


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "words.txt"
    path.write_bytes(b"10,a,1.5\n20,b,2.5\n30,c,-3.5\n")
    return str(path)


def table_of(initializer, default=-1):
    return lookup.StaticHashTable(initializer, default)


@pytest.mark.parametrize(
    ("key", "value", "keys", "default", "expected"),
    [
        ((tf.string, 1), (tf.int64, 0), ["a", "c", "x"], -1, [10, 30, -1]),
        ((tf.int64, 0), (tf.string, 1), [10, 20, 5], "none", [b"a", b"b", b"none"]),
        ((tf.string, 1), (tf.int64, NUMBER), ["c", "b"], -1, [2, 1]),
        ((tf.int64, NUMBER), (tf.string, WHOLE), [0, 2], "", [b"10,a,1.5", b"30,c,-3.5"]),
        ((tf.string, 1), (tf.float32, 2), ["c", "x"], 0.5, [-3.5, 0.5]),
        ((tf.string, 1), (tf.int32, 0), ["b"], 0, [20]),
    ],
)
def test_columns(file, key, value, keys, default, expected):
    initializer = lookup.TextFileInitializer(file, *key, *value, delimiter=",")
    assert (initializer.key_dtype, initializer.value_dtype) == (key[0], value[0])
    table = table_of(initializer, default)
    found = table.lookup(tf.constant(keys, key[0]))
    assert found.numpy().tolist() == expected
    assert found.dtype == value[0]
    assert table.size().numpy() == 3


def test_offsets_and_numbers_of_lines(file):
    first = lookup.TextFileInitializer(file, tf.string, WHOLE, tf.int64, NUMBER, vocab_size=2, value_index_offset=5)
    table = table_of(first)
    assert table.lookup(tf.constant(["10,a,1.5", "20,b,2.5", "30,c,-3.5"])).numpy().tolist() == [5, 6, -1]
    keys = lookup.TextFileInitializer(file, tf.int64, NUMBER, tf.string, 1, delimiter=",", value_index_offset=0)
    assert table_of(keys, "").lookup(tf.constant([0, 2], tf.int64)).numpy().tolist() == [b"a", b"c"]
    assert table_of(lookup.TextFileInitializer(file, tf.string, WHOLE, tf.int64, NUMBER, vocab_size=3)).size() == 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("", tf.string, 0, tf.int64, 1), "`filename` argument required"),
        (("f", tf.string, -3, tf.int64, 1), "`?key_index`? .*-2"),
        (("f", tf.string, 0, tf.int64, -3), "`?value_index`? .*-2"),
        (("f", tf.string, NUMBER, tf.int64, 1), "dtype.* int64"),
        (("f", tf.string, 1, tf.int32, NUMBER), "dtype.* int64"),
        (("f", tf.float32, WHOLE, tf.int64, 1), "integer or string"),
        (("f", tf.string, 1, tf.float32, WHOLE), "integer or string|string"),
        (("f", tf.string, 0, tf.int64, 1, 0), "vocab_size.*> 0"),
        (("f", tf.string, 0, tf.int64, 1, -1), "vocab_size.*> 0"),
    ],
)
def test_arguments_of_files(arguments, message):
    with pytest.raises(ValueError, match=message):
        lookup.TextFileInitializer(*arguments)


def test_files_that_do_not_fit(file, tmp_path):
    empty = tmp_path / "empty"
    empty.write_bytes(b"")
    twice = tmp_path / "twice"
    twice.write_bytes(b"a\t1\na\t2\n")
    for arguments, options, kind in (
        ((file, tf.string, 5, tf.int64, 0), {"delimiter": ","}, tf.errors.InvalidArgumentError),
        ((file, tf.string, 1, tf.int64, 1), {"delimiter": ","}, tf.errors.InvalidArgumentError),
        ((file, tf.string, 1, tf.int64, 2), {"delimiter": ","}, tf.errors.InvalidArgumentError),
        ((file, tf.string, 1, tf.int64, 0), {"delimiter": "::"}, tf.errors.InvalidArgumentError),
        ((file, tf.string, 1, tf.int64, 0), {"delimiter": ""}, tf.errors.InvalidArgumentError),
        ((file, tf.string, WHOLE, tf.int64, NUMBER), {"vocab_size": 4}, tf.errors.InvalidArgumentError),
        ((str(empty), tf.string, WHOLE, tf.int64, NUMBER), {}, tf.errors.OpError),
        ((str(tmp_path / "no"), tf.string, WHOLE, tf.int64, NUMBER), {}, tf.errors.NotFoundError),
        ((str(twice), tf.string, 0, tf.int64, 1), {}, tf.errors.FailedPreconditionError),
    ):
        with pytest.raises(kind):
            table_of(lookup.TextFileInitializer(*arguments, **options))


def test_pairs_of_tensors():
    table = table_of(lookup.KeyValueTensorInitializer(["a", "b"], [1, 2], tf.string, tf.int64))
    assert table.key_dtype == tf.string
    assert table.value_dtype == tf.int64
    assert table.default_value.numpy() == -1
    keys, values = table.export()
    assert dict(zip(keys.numpy().tolist(), values.numpy().tolist(), strict=False)) == {b"a": 1, b"b": 2}
    assert table[tf.constant([["b"], ["x"]])].numpy().tolist() == [[2], [-1]]
    with pytest.raises(tf.errors.InvalidArgumentError):
        table_of(lookup.KeyValueTensorInitializer(["a", "b"], [1]))
    with pytest.raises((tf.errors.FailedPreconditionError, tf.errors.InvalidArgumentError)):
        table_of(lookup.KeyValueTensorInitializer(["a", "a"], [1, 2]))
    same = table_of(lookup.KeyValueTensorInitializer(["a", "a"], [1, 1]))
    assert same.size().numpy() == 1


def test_initializers_of_other_dtypes():
    class Wrong(lookup.KeyValueTensorInitializer):
        key_dtype = tf.int64

    class WrongValue(lookup.KeyValueTensorInitializer):
        value_dtype = tf.float32

    with pytest.raises(TypeError, match=r"(?i)key"):
        table_of(Wrong(["a"], np.int64([1])))
    with pytest.raises((TypeError, ValueError)):
        table_of(WrongValue(["a"], np.int64([1])))


def test_datasets():
    data = tf.data.Dataset.from_tensor_slices((["a", "b"], [1, 2]))
    initializer = tf.data.experimental.DatasetInitializer(data)
    assert (initializer.key_dtype, initializer.value_dtype) == (tf.string, tf.int32)
    assert table_of(initializer).lookup(tf.constant(["b", "x"])).numpy().tolist() == [2, -1]
    for wrong in (tf.data.Dataset.range(3), data.map(lambda a, b: (a, b, b)), data.map(lambda a, b: {"a": a, "b": b})):
        with pytest.raises(ValueError):
            tf.data.experimental.DatasetInitializer(wrong)
    with pytest.raises(ValueError):
        tf.data.experimental.table_from_dataset(data.enumerate().map(lambda i, p: (p[0], i)), vocab_size=0)
    table = tf.data.experimental.table_from_dataset(
        tf.data.Dataset.from_tensor_slices((["a", "b"], np.int64([5, 6]))), num_oov_buckets=0, default_value=9
    )
    assert table.lookup(tf.constant(["a", "x"])).numpy().tolist() == [5, 9]
