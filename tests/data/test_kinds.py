"""Datasets that sample, bucket, group, save and read; iterators in checkpoints. Expected values are TensorFlow's."""

import os
import sqlite3

import numpy as np
import pytest

import tapeflow as tf

Dataset, experimental = tf.data.Dataset, tf.data.experimental
r6 = Dataset.range(6)
hundreds = Dataset.range(100, 106)


def values(dataset):
    return [
        tf.nest.map_structure(lambda x: x.tolist() if hasattr(x, "tolist") else x, e)
        for e in dataset.as_numpy_iterator()
    ]


def sequences():
    return Dataset.from_generator(lambda: ([n] * n for n in [1, 5, 2, 3, 7, 4]), tf.int64, [None])


# ---- sampling --------------------------------------------------------------------------------------------------------


def test_samples_are_tensorflows_for_a_seed():
    tf.random.set_seed(1)
    expected = [0, 100, 101, 102, 1, 103, 2, 104, 105, 3, 4, 5]
    assert values(Dataset.sample_from_datasets([r6, hundreds], seed=3)) == expected
    assert values(Dataset.sample_from_datasets([r6, hundreds], [0.2, 0.8], seed=3)) == expected
    weights = Dataset.from_tensors([0.3, 0.7]).repeat()
    assert values(Dataset.sample_from_datasets([r6, hundreds], weights, seed=3)) == expected
    stopped = Dataset.sample_from_datasets([r6, hundreds], [0.5, 0.5], seed=3, stop_on_empty_dataset=True)
    assert values(stopped) == expected[:-1]
    assert values(Dataset.sample_from_datasets([r6, hundreds], [0.0, 1.0])) == list(range(100, 106))


def test_rejection_gives_classes_the_wanted_shares():
    def parity(x):
        return tf.cast(x % 2, tf.int32)

    for initial in ([0.5, 0.5], None):
        kept = values(Dataset.range(2000).rejection_resample(parity, [0.9, 0.1], initial, seed=1))
        assert all(label == x % 2 for label, x in kept)
        assert 0.05 < np.mean([label for label, _ in kept]) < 0.15
        assert len(kept) > 900


@pytest.mark.parametrize(
    ("initial", "target", "labels"),
    [
        ([0.5, 0.5], [0.2, 0.8], "0101111101111111101110110111011111011111"),
        ([0.5, 0.5], [0.5, 0.5], "0101010101010101010101010101010101010101"),
        ([0.5, 0.5], [1.0, 0.0], "0" * 40),
        (None, [0.2, 0.8], "0101111101111111101110110111011111011111"),
        ([0.3, 0.7], [0.2, 0.8], "0101111010110101111101011011110101011111"),
        ([0.3, 0.7], [0.5, 0.5], "0100010101001010001001001000100101000001"),
    ],
)
def test_rejection_with_a_seed(initial, target, labels):
    numbers = Dataset.range(400).map(lambda x: x % 2)
    resampled = numbers.rejection_resample(lambda x: tf.cast(x, tf.int32), target, initial, seed=5)
    assert "".join(str(label) for label, _ in values(resampled.take(40))) == labels


def test_rejection_estimates_changing_shares_as_tensorflow():
    labels = Dataset.range(200).map(lambda x: tf.cast((x < 31) | (x % 4 == 0), tf.int32))
    resampled = labels.rejection_resample(lambda x: x, [0.5, 0.5], seed=5).take(60)
    expected = "111001011110111001001110110010111111001111111010001000010001"
    assert "".join(str(label) for label, _ in values(resampled)) == expected


def test_rejection_of_structures():
    pairs = Dataset.range(60).map(lambda x: (x, x % 2))
    resampled = pairs.rejection_resample(lambda x, y: tf.cast(y, tf.int32), [0.1, 0.9], seed=4)
    expected = [
        1, 3, 0, 5, 7, 9, 11, 13, 15, 17, 19, 1, 21, 23, 2, 25, 27, 29, 31, 33, 35, 37, 3, 39, 41, 43, 45, 4, 47, 49,
        51, 53, 55, 5, 57, 59,
    ]  # fmt: skip
    assert [x for _, (x, _) in values(resampled.repeat(2))] == expected * 2
    assert resampled.cardinality().numpy() == tf.data.UNKNOWN_CARDINALITY


def test_choices_are_drawn_in_blocks_as_one_by_one():
    hundreds = Dataset.range(100, 3100)
    sampled = Dataset.sample_from_datasets([Dataset.range(3000), hundreds], np.array([0.1, 0.9]), seed=3)
    later = values(sampled.skip(3000).take(12))
    assert later == [2805, 2806, 2807, 2808, 2809, 2810, 2811, 2812, 2813, 2814, 2815, 295]
    one_by_one = Dataset.sample_from_datasets(
        [Dataset.range(3000), hundreds], Dataset.from_tensors([0.1, 0.9]).repeat(), seed=3
    )
    assert values(one_by_one.take(300)) == values(sampled.take(300))
    in_function = tf.function(lambda: sampled.batch(600).take(1).get_single_element())
    assert in_function().numpy().tolist() == values(sampled.take(600))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: Dataset.sample_from_datasets([]), ValueError, "should not be empty"),
        (
            lambda: Dataset.sample_from_datasets([r6, r6], [0.1]),
            ValueError,
            r"`len\(weights\)=1` vs. `len\(datasets\)=2`",
        ),
        (lambda: Dataset.sample_from_datasets([r6, r6], [1, 2]), TypeError, "but is <dtype: 'int32'>"),
        (lambda: Dataset.sample_from_datasets([r6, Dataset.from_tensors("a")]), TypeError, "compatible element specs"),
        (lambda: Dataset.choose_from_datasets([r6], Dataset.from_tensors("a")), TypeError, "Invalid `choice_dataset`"),
        (lambda: r6.rebatch(2), ValueError, "a dataset with scalar elements"),
        (lambda: r6.map(lambda x: (x, x)).sparse_batch(2, [3]), TypeError, "single component"),
        (lambda: list(sequences().sparse_batch(2, [3])), tf.errors.DataLossError, "larger than the row shape"),
        (lambda: sequences().bucket_by_sequence_length(len, [3], [1]), ValueError, "must equal"),
        (lambda: r6.apply(experimental.pad_to_cardinality(8)), ValueError, "to be a dictionary"),
        (lambda: experimental.at(r6, 9), tf.errors.OutOfRangeError, r"Index out of range \[0, 6\):9"),
        (lambda: experimental.at(r6.filter(lambda x: True), 1), tf.errors.UnimplementedError, "Random access"),
        (lambda: experimental.from_list([]), ValueError, "should not be empty"),
        (lambda: Dataset.from_tensor_slices([1.0]).unique(), TypeError, "does not support type <dtype: 'float32'>"),
        (
            lambda: Dataset.load("/no/such"),
            tf.errors.NotFoundError,
            "element_spec file not found: /no/such/dataset_spec.pb",
        ),
        (lambda: r6.save("/tmp/never", shard_func=float), tf.errors.InvalidArgumentError, "must return a scalar int64"),
        (lambda: experimental.TFRecordWriter("/tmp/never").write(r6), TypeError, "scalar `tf.string` elements"),
    ],
)
def test_errors(call, error, message):
    with pytest.raises(error, match=message):
        call()


# ---- batches ---------------------------------------------------------------------------------------------------------


def test_buckets():
    def length(x):
        return tf.shape(x)[0]

    shapes = [np.shape(b) for b in values(sequences().bucket_by_sequence_length(length, [3, 5], [2, 2, 2]))]
    assert shapes == [(2, 2), (2, 7), (2, 4)]
    short = sequences().filter(lambda x: tf.shape(x)[0] < 5)
    padded = short.bucket_by_sequence_length(length, [3, 5], [2, 2, 2], pad_to_bucket_boundary=True)
    assert values(padded) == [[[1, 0], [2, 2]], [[3, 3, 3, 0], [4, 4, 4, 4]]]
    assert padded.element_spec == tf.TensorSpec([None, None], tf.int64)


def test_other_batches():
    assert values(r6.batch(4).rebatch([1, 2])) == [[0], [1, 2], [3], [4, 5]]
    assert values(r6.batch(4).rebatch(4, drop_remainder=True)) == [[0, 1, 2, 3]]
    assert values(r6.batch(2).rebatch([3]).batch(2)) == [[[0, 1, 2], [3, 4, 5]]]
    assert r6.batch(4).rebatch(3, True).element_spec == tf.TensorSpec([3], tf.int64)
    sparse = next(iter(sequences().sparse_batch(2, [6])))
    assert tf.sparse.to_dense(sparse).numpy().tolist() == [[1, 0, 0, 0, 0, 0], [5, 5, 5, 5, 5, 0]]
    padded = r6.take(1).map(lambda x: {"a": x + 1}).apply(experimental.pad_to_cardinality(2, "m"))
    assert values(padded) == [{"a": 1, "m": True}, {"a": 0, "m": False}]
    assert values(r6.apply(experimental.map_and_batch(lambda x: x * 2, 4))) == [[0, 2, 4, 6], [8, 10]]


# ---- elements from outside -------------------------------------------------------------------------------------------


def test_one_element_lists_variants_and_groups():
    assert [experimental.at(r6, 2).numpy(), experimental.at(r6.batch(2), 1).numpy().tolist()] == [2, [2, 3]]
    assert values(experimental.from_list([(1, "a"), (2, "b")])) == [(1, b"a"), (2, b"b")]
    assert values(experimental.from_variant(experimental.to_variant(r6), r6.element_spec)) == list(range(6))
    sums = experimental.Reducer(lambda key: np.int64(0), lambda s, x: s + x, lambda s: s)
    assert values(r6.apply(experimental.group_by_reducer(lambda x: x % 3, sums))) == [3, 5, 7]
    assert values(r6.apply(experimental.prefetch_to_device("/cpu:0"))) == list(range(6))


def test_fingerprints_tell_datasets_apart():
    def made(n):
        return int(Dataset.range(6).map(lambda x: x + n).fingerprint())

    assert made(1) == made(1) != made(2)
    assert r6.fingerprint().dtype == tf.uint64


def test_sql(tmp_path):
    path = str(tmp_path / "db")
    with sqlite3.connect(path) as database:
        database.execute("create table t (a text, b integer, c real)")
        database.executemany("insert into t values (?, ?, ?)", [("x", 1, 0.5), (None, 3, None)])
    rows = experimental.SqlDataset("sqlite", path, "select a, b, c from t", (tf.string, tf.int32, tf.float64))
    assert values(rows) == [(b"x", 1, 0.5), (b"", 3, 0.0)]
    with pytest.raises(tf.errors.UnknownError, match="no such column: z"):
        values(experimental.SqlDataset("sqlite", path, "select z from t", (tf.string,)))
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"columns in query \(2\) must match"):
        values(experimental.SqlDataset("sqlite", path, "select a, b from t", (tf.string,)))


# ---- files -----------------------------------------------------------------------------------------------------------


def mixed():
    return Dataset.from_tensor_slices(
        {"a": np.arange(5, dtype=np.float32).reshape(5, 1), "s": ["p", "qq", "", "t", "u"]}
    )


def test_saved_datasets_come_back(tmp_path):
    mixed().save(str(tmp_path / "plain"))
    loaded = Dataset.load(str(tmp_path / "plain"))
    assert (values(loaded), loaded.element_spec, len(loaded)) == (values(mixed()), mixed().element_spec, 5)
    mixed().save(str(tmp_path / "shards"), "GZIP", lambda e: tf.cast(e["a"][0], tf.int64) % 2)
    in_turn = Dataset.load(
        str(tmp_path / "shards"), compression="GZIP", reader_func=lambda shards: shards.flat_map(lambda s: s)
    )
    assert [e["s"] for e in values(in_turn)] == [b"p", b"", b"u", b"qq", b"t"]
    with pytest.raises(tf.errors.DataLossError):
        values(Dataset.load(str(tmp_path / "shards")))
    ragged = Dataset.range(3).map(lambda x: tf.ragged.range(tf.stack([x, x])))
    ragged.save(str(tmp_path / "ragged"))
    assert [x.to_list() for x in Dataset.load(str(tmp_path / "ragged"))] == [[[], []], [[0], [0]], [[0, 1], [0, 1]]]


def test_tensorflows_saved_datasets_are_read(tmp_path):
    run = tmp_path / "1" / "00000000.shard"
    run.mkdir(parents=True)
    (tmp_path / "dataset_spec.pb").write_bytes(bytes.fromhex("8a020412001807"))  # TensorSpec([], string)
    (tmp_path / "snapshot.metadata").write_bytes(bytes.fromhex("120131180120022a01073001c03e01"))
    with tf.io.TFRecordWriter(str(run / "00000000.snapshot")) as writer:
        writer.write(b'\x08\x07\x12\x00"\x03\x02qr')
    assert values(Dataset.load(str(tmp_path))) == [b"qr"]


def test_snapshots_and_caches_are_written_once(tmp_path):
    seen = []

    def counted(x):
        tf.py_function(lambda v: seen.append(int(v)), [x], [])
        return x

    for kept in (r6.map(counted).snapshot(str(tmp_path)), r6.map(counted).cache(os.path.join(tmp_path, "cache"))):
        seen.clear()
        next(iter(kept))
        assert values(kept) == values(kept) == list(range(6))
        assert sorted(seen) == sorted([0, *range(6)])


# ---- iterators in checkpoints ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "make",
    [
        lambda: Dataset.range(20),
        lambda: Dataset.range(20).shuffle(7),
        lambda: Dataset.range(4).shuffle(4, seed=1).repeat(5),
        lambda: Dataset.range(20).shuffle(9).batch(2).unbatch().prefetch(2),
        lambda: Dataset.random(),
        lambda: Dataset.range(20).interleave(lambda x: Dataset.from_tensors(x).repeat(3), 2),
    ],
)
def test_iterators_are_restored(tmp_path, make):
    iterator = iter(make())
    for _ in range(6):
        next(iterator)
    path = tf.train.Checkpoint(iterator=iterator).save(str(tmp_path / "ck"))
    rest = [x.numpy() for _, x in zip(range(8), iterator, strict=False)]
    assert "iterator/.ATTRIBUTES/ITERATOR_STATE" in dict(tf.train.list_variables(path))
    again = iter(make())  # of another dataset, with other seeds
    tf.train.Checkpoint(iterator=again).restore(path).assert_consumed()
    assert [x.numpy() for _, x in zip(range(8), again, strict=False)] == rest


def test_iterators_of_arrays_are_restored():
    iterator = Dataset.range(9).shuffle(5).as_numpy_iterator()
    next(iterator)
    state = iterator.save()
    rest = list(iterator)
    iterator.restore(state)
    assert list(iterator) == rest
    with pytest.raises(tf.errors.InvalidArgumentError):
        iterator.restore(b"!")


# ---- sessions --------------------------------------------------------------------------------------------------------


def test_sessions_take_elements():
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        once = v1.data.make_one_shot_iterator(v1.data.Dataset.range(2)).get_next()
        assert [session.run(once), session.run(once)] == [0, 1]
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(once)
        size = v1.placeholder(tf.int64, [])
        iterator = v1.data.make_initializable_iterator(Dataset.range(size).map(lambda x: x + 10))
        element = iterator.get_next()
        with pytest.raises(tf.errors.FailedPreconditionError, match="has not been initialized"):
            session.run(element)
        for count in (2, 1):
            session.run(iterator.initializer, {size: count})
            assert [session.run(element) for _ in range(count)] == [10, 11][:count]
        either = v1.data.Iterator.from_structure(tf.int64, [])
        element = either.get_next()
        for first in (3, 7):
            session.run(either.make_initializer(Dataset.range(first, 9)))
            assert session.run(element) == first
    assert v1.data.get_output_types(Dataset.range(2)) == tf.int64
