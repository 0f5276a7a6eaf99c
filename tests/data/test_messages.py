"""Datasets as messages: what another process reads has the same spec and the same elements."""

import collections
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.data.graph_defs import message_of, node_of

Dataset = tf.data.Dataset
Pair = collections.namedtuple("Pair", "first second")


def values(element):
    return tf.nest.map_structure(lambda t: t.to_list() if hasattr(t, "to_list") else np.asarray(t).tolist(), element)


@pytest.fixture
def files(tmp_path):
    for i in range(3):
        (tmp_path / f"{i}.txt").write_text("\n".join(f"{i}-{j}" for j in range(4)))
    (tmp_path / "a.csv").write_text("a,b\n1,2.5\n3,\n")
    return tmp_path


def sources(files):
    names = [str(files / f"{i}.txt") for i in range(3)]
    table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2]), -1)
    variable = tf.Variable(3.0)
    numbers, words = Dataset.range(6), Dataset.from_tensor_slices(["a", "b", "c"])
    return {
        "slices": Dataset.from_tensor_slices({"a": np.arange(4.0), "b": ["x", "y", "z", "w"]}),
        "shuffled": Dataset.range(10).shuffle(10, seed=3).repeat(2),
        "random": Dataset.random(seed=4).take(3),
        "ragged": Dataset.from_tensor_slices(tf.ragged.constant([[1], [2, 3], []])).batch(2),
        "list": tf.data.experimental.from_list([(1, "a"), (2, "b")]),
        "files": tf.data.TextLineDataset(names, num_parallel_reads=2),
        "interleaved files": Dataset.from_tensor_slices(names).interleave(tf.data.TextLineDataset, cycle_length=2),
        "files in a function": Dataset.from_tensor_slices(names).flat_map(
            lambda name: tf.data.TextLineDataset(name).skip(1).map(tf.strings.upper)
        ),
        "csv": tf.data.experimental.CsvDataset(str(files / "a.csv"), [tf.int32, [0.5]], header=True),
        "variable": numbers.map(lambda x: tf.cast(x, tf.float32) * variable),
        "table": words.map(table.lookup),
        "loop": numbers.map(lambda x: tf.while_loop(lambda i, s: i < x, lambda i, s: (i + 1, s + i), (x * 0, x))[1]),
        "named tuple": numbers.map(lambda x: Pair(x, x + 1)),
        "scan": numbers.scan(np.int64(0), lambda s, x: (s + x, s + x)),
        "windows": numbers.window(3).flat_map(lambda window: window.batch(3)),
        "groups": numbers.group_by_window(lambda x: x % 3, lambda key, window: window.batch(2), 2),
        "buckets": numbers.bucket_by_sequence_length(lambda x: tf.cast(x, tf.int32), [2, 4], [2, 2, 2]),
        "several": Dataset.zip(numbers, numbers.map(lambda x: -x)).concatenate(Dataset.zip(numbers, numbers)),
        "sampled": Dataset.sample_from_datasets([numbers, numbers.skip(2)], seed=1),
        "batches": numbers.padded_batch(4).unbatch().cache().batch(4, drop_remainder=True),
        "counts in a function": numbers.flat_map(lambda n: Dataset.range(n).take(n)),
        "tensors in a function": numbers.flat_map(lambda n: Dataset.from_tensors((n, 2 * n)).repeat(n)),
        "functions in a function": numbers.flat_map(lambda n: Dataset.range(4).map(lambda x: x + n)),
        "a dataset in a function": numbers.flat_map(lambda n: words.take(n)),
        "unique": numbers.map(lambda x: x % 2).unique(),
        "saved": saved(words.map(lambda w: (w, w)), files / "saved"),
        "a file cache": numbers.cache(str(files / "cache")),
        "a snapshot": numbers.snapshot(str(files / "snapshots"), shard_func=lambda x: x % 2),
    }


def sent(dataset):
    """The dataset that another process reads."""
    return Dataset(node_of(message_of(dataset._node)))


def saved(dataset, folder):
    dataset.save(str(folder), shard_func=lambda *_: np.int64(0))
    return Dataset.load(str(folder), reader_func=lambda shards: shards.flat_map(lambda shard: shard.repeat(2)))


@pytest.mark.parametrize("name", [
    "slices", "shuffled", "random", "ragged", "list", "files", "interleaved files", "files in a function", "csv",
    "variable", "table", "loop", "named tuple", "scan", "windows", "groups", "buckets", "several", "sampled", "batches",
    "counts in a function", "tensors in a function", "functions in a function", "a dataset in a function", "unique",
    "saved", "a file cache", "a snapshot",
])  # fmt: skip
def test_elements_are_the_same(name, files):
    dataset = sources(files)[name]
    other = sent(dataset)
    assert other.element_spec == dataset.element_spec
    assert other.cardinality() == dataset.cardinality()
    elements = [values(x) for x in dataset.take(30)]
    assert elements and [values(x) for x in other.take(30)] == elements
    again = sent(other)  # what was read can travel on
    assert [values(x) for x in again.take(30)] == elements


def test_an_order_that_nobody_chose_is_drawn_anew():
    dataset = Dataset.range(1000).shuffle(1000)
    first, second = (sent(dataset) for _ in range(2))
    assert [int(x) for x in first] != [int(x) for x in second]


def test_options_travel():
    options = tf.data.Options()
    options.deterministic = False
    options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.DATA
    dataset = Dataset.range(3).with_options(options)
    assert sent(dataset).options() == dataset.options()


def test_what_calls_python_stays():
    generator = Dataset.from_generator(lambda: iter([1]), output_signature=tf.TensorSpec([], tf.int32))
    with pytest.raises(tf.errors.UnimplementedError, match="A dataset with a Generator can't travel"):
        message_of(generator._node)
    python = Dataset.range(3).map(lambda x: tf.numpy_function(lambda y: y, [x], tf.int64))
    with pytest.raises(tf.errors.UnimplementedError, match="calls Python"):
        sent(python)


@pytest.mark.parametrize("cut", [0, 3, -5])
def test_what_is_no_message_is_refused(cut):
    with pytest.raises(ValueError, match=r"empty|no message|no part"):
        node_of(message_of(Dataset.range(3)._node)[:cut])


def test_what_a_process_has_imported_does_not_matter(tmp_path):
    """A process that has imported nothing of datasets beyond the message's reader gets what it needs."""
    dataset = Dataset.range(4).apply(tf.data.experimental.dense_to_ragged_batch(2))
    (tmp_path / "message").write_bytes(message_of(dataset._node))
    source = (
        "import pathlib, sys; import tapeflow as tf; from tapeflow.data.graph_defs import node_of; "
        "dataset = tf.data.Dataset(node_of(pathlib.Path(sys.argv[1]).read_bytes())); "
        "print([b.to_list() if hasattr(b, 'to_list') else b.numpy().tolist() for b in dataset])"
    )
    environment = os.environ | {"PYTHONPATH": str(pathlib.Path(tf.__file__).parents[1])}
    command = [sys.executable, "-c", source, str(tmp_path / "message")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.stdout == "[[0, 1], [2, 3]]\n", done.stderr


# ---- bucket_by_sequence_length ---------------------------------------------------------------------------------------


def bucketed(length_of, boundaries=(2, 4), sizes=(1, 1, 1), **kwargs):
    rows = Dataset.from_tensor_slices(tf.ragged.constant([[0], [0] * 5, [0] * 3])).map(lambda x: x)
    return list(rows.bucket_by_sequence_length(length_of, list(boundaries), list(sizes), **kwargs))


def test_buckets_of_lengths():
    lengths = [batch.shape.as_list() for batch in bucketed(tf.size)]
    assert lengths == [[1, 1], [1, 5], [1, 3]]
    filled = bucketed(tf.size, (4, 6), pad_to_bucket_boundary=True)
    assert [batch.shape.as_list() for batch in filled] == [[1, 3], [1, 5], [1, 3]]
    assert [b.shape.as_list() for b in bucketed(tf.size, (), (2,))] == [[2, 5], [1, 3]]


@pytest.mark.parametrize(
    ("length_of", "arguments", "error", "message"),
    [
        (
            tf.size, {"pad_to_bucket_boundary": True}, tf.errors.InvalidArgumentError,
            r"elements must have length < max\(bucket_boundaries\)",
        ),
        (lambda x: tf.size(x, tf.int64), {}, TypeError, "has type int64 that does not match type int32"),
        (lambda x: 1.5, {}, TypeError, "int32"),
        (lambda x: tf.tile(x, [2]), {}, tf.errors.InvalidArgumentError, "Incompatible shapes"),
        (tf.size, {"sizes": (1, 0, 1)}, tf.errors.InvalidArgumentError, "Window size must be greater than zero"),
        (tf.size, {"sizes": (1, 1)}, ValueError, "must equal"),
        (tf.size, {"padded_shapes": [2]}, tf.errors.DataLossError, "smaller size than the input element"),
    ],
)  # fmt: skip
def test_wrong_buckets(length_of, arguments, error, message):
    with pytest.raises(error, match=message):
        bucketed(length_of, **arguments)
