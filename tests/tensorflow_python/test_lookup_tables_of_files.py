"""Options of the tables that `lookup_ops` makes; the results are those of TensorFlow 2.21."""

import pytest

import tapeflow as tf
from tapeflow_compat.tensorflow_python import lookup_tables


@pytest.fixture
def words(tmp_path):
    path = tmp_path / "words"
    path.write_text("a;5\nb;7\nc;9\n")
    return str(path)


def look(table, keys, dtype=None):
    return table.lookup(tf.constant(keys, dtype)).numpy().tolist()


@pytest.mark.parametrize("key", [[1, 2.0], ["a", "b"], [1, None]])
def test_keys_of_hashes_are_integers(key):
    with pytest.raises(TypeError, match="Must be unsigned integer values"):
        lookup_tables.StrongHashSpec(key)


@pytest.mark.parametrize("key", [[1], [1, 2, 3]])
def test_keys_of_hashes_are_two(key):
    with pytest.raises(ValueError, match="`key` must have size 2"):
        lookup_tables.StrongHashSpec(key)


def test_hashes_have_their_key():
    spec = lookup_tables.StrongHashSpec([3, 4])
    assert spec.hasher == "stronghash" and list(spec.key) == [3, 4]
    assert lookup_tables.FastHashSpec.hasher == "fasthash"


@pytest.mark.parametrize("path", [None, ""])
def test_a_table_needs_a_file(path):
    with pytest.raises(ValueError, match="`vocabulary_file` must be specified and must not be empty"):
        lookup_tables.index_table_from_file(path)


def test_tables_from_words_to_numbers(words):
    whole = lookup_tables.index_table_from_file(words)
    assert look(whole, ["b;7", "a", "c;9"]) == [1, -1, 2]
    columns = lookup_tables.index_table_from_file(words, key_column_index=0, value_column_index=1, delimiter=";")
    assert look(columns, ["c", "a", "x"]) == [9, 5, -1]
    first = lookup_tables.index_table_from_file(
        words, vocab_size=2, default_value=8, key_column_index=0, value_column_index=-1, delimiter=";"
    )
    assert look(first, ["c", "b"]) == [8, 1] and int(first.size()) == 2
    buckets = lookup_tables.index_table_from_file(words, num_oov_buckets=1, vocab_size=3)
    assert look(buckets, ["x", "y", "a;5"]) == [3, 3, 0] and int(buckets.size()) == 4


def test_tables_from_integers_to_numbers(tmp_path):
    path = tmp_path / "numbers"
    path.write_text("7\n3\n")
    table = lookup_tables.index_table_from_file(str(path), key_dtype=tf.int64)
    assert table.key_dtype == tf.int64 and look(table, [3, 7, 5], tf.int64) == [1, 0, -1]
    buckets = lookup_tables.index_table_from_file(str(path), num_oov_buckets=1, key_dtype=tf.int64)
    assert look(buckets, [3, 5], tf.int64) == [1, 2]


def test_tables_from_numbers_to_words(words):
    table = lookup_tables.index_to_string_table_from_file(words)
    assert look(table, [0, 2, 5], tf.int64) == [b"a;5", b"c;9", b"UNK"]
    columns = lookup_tables.index_to_string_table_from_file(
        words, default_value="?", key_column_index=1, value_column_index=0, delimiter=";"
    )
    assert look(columns, [7, 9, 1], tf.int64) == [b"b", b"c", b"?"]
    first = lookup_tables.index_to_string_table_from_file(words, vocab_size=1)
    assert look(first, [0, 1], tf.int64) == [b"a;5", b"UNK"]
    given = lookup_tables.index_to_string_table_from_tensor(tf.constant(["x", "y"]))
    assert look(given, [1, 2], tf.int64) == [b"y", b"UNK"]


def test_tables_of_lists():
    table = lookup_tables.index_table_from_tensor(["x", "y"], default_value=7)
    assert look(table, ["y", "z"]) == [1, 7]
    wide = lookup_tables.index_table_from_tensor(tf.constant([5, 6], tf.int64), dtype=tf.int64)
    assert look(wide, [6, 7], tf.int64) == [1, -1]
    with pytest.raises(ValueError, match="`vocabulary_list` must be specified"):
        lookup_tables.index_table_from_tensor(None)
    with pytest.raises(ValueError, match="Expected"):
        lookup_tables.index_table_from_tensor(["x"], dtype=tf.int64)
