"""Tables that `lookup_ops` makes in one call. Numbers of buckets were recorded from TensorFlow 2.21."""

import pytest

import tapeflow as tf
from tapeflow_compat.tensorflow_python import lookup_tables

WORDS = tf.constant(["y", "zz", "q"])


def test_tables_of_words():
    table = lookup_tables.index_table_from_tensor(["x", "y"], num_oov_buckets=2)
    assert table.lookup(WORDS).numpy().tolist() == [1, 2, 3] and int(table.size()) == 4
    assert lookup_tables.index_table_from_tensor(["x", "y"]).lookup(WORDS).numpy().tolist() == [1, -1, -1]
    back = lookup_tables.index_to_string_table_from_tensor(["x", "y"], "?")
    assert back.lookup(tf.constant([1, 5], tf.int64)).numpy().tolist() == [b"y", b"?"]
    numbers = lookup_tables.index_table_from_tensor([7, 9], dtype=tf.int32)
    assert numbers.key_dtype is tf.int64 and numbers.lookup(tf.constant([9, 8], tf.int64)).numpy().tolist() == [1, -1]


def test_tables_of_files(tmp_path):
    path = tmp_path / "words"
    path.write_text("a\nb\nc\n")
    table = lookup_tables.index_table_from_file(str(path), vocab_size=2, default_value=9)
    assert table.lookup(tf.constant(["a", "c"])).numpy().tolist() == [0, 9]
    back = lookup_tables.index_to_string_table_from_file(str(path), default_value="no")
    assert back.lookup(tf.constant([2, 7], tf.int64)).numpy().tolist() == [b"c", b"no"]


def test_hashes():
    strong = lookup_tables.index_table_from_tensor(["x"], 3, hasher_spec=lookup_tables.StrongHashSpec([1, 2]))
    buckets = tf.strings.to_hash_bucket_strong(["q"], 3, [1, 2]).numpy()
    assert strong.lookup(tf.constant(["q"])).numpy().tolist() == (buckets + 1).tolist()
    with pytest.raises(ValueError, match="must have size 2"):
        lookup_tables.StrongHashSpec([1])


@pytest.mark.parametrize("arguments", [(None,), (["x"], -1), ([1],), ([],)])
def test_what_is_no_vocabulary(arguments):
    with pytest.raises(ValueError, match=r"must be|Invalid"):
        lookup_tables.index_table_from_tensor(*arguments)
