"""Saves functions with pipelines in a SavedModel, with TensorFlow 2.21 as tests/fixtures/pipelines; or runs saved ones.

record.py pipelines FOLDER         saves the functions
record.py pipelines FOLDER run     prints their results as JSON

`tests/data/test_graphs.py` has TapeFlow save and run the same functions.
"""

import json
import os
import sys

import tensorflow as tf

Dataset = tf.data.Dataset
INT = tf.TensorSpec([], tf.int64)


def collected(dataset):
    """Returns the sum of each element, as a vector."""
    sums = tf.TensorArray(tf.int64, 0, dynamic_size=True)
    count = 0
    for element in dataset:
        sums = sums.write(count, tf.reduce_sum(element) + 100 * tf.size(element, tf.int64))
        count += 1  # noqa: SIM113
    return sums.stack()


class Pipelines(tf.Module):
    def __init__(self):
        self.factor = tf.Variable(3, dtype=tf.int64)
        self.kept = Dataset.range(6).map(lambda x: x * 3).batch(4)
        self.words = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2]), -1)

    @tf.function(input_signature=[tf.TensorSpec([None], tf.int64)])
    def slices(self, values):
        return collected(Dataset.from_tensor_slices({"a": values, "b": values * 2}).map(lambda e: e["a"] + e["b"]))

    @tf.function(input_signature=[INT, INT])
    def range(self, start, step):
        return collected(Dataset.range(start, 10, step).skip(1).take(4).concatenate(Dataset.range(3)).enumerate())

    @tf.function(input_signature=[INT, INT])
    def map(self, count, factor):
        doubled = Dataset.range(count).map(lambda x: x * factor, num_parallel_calls=2)
        return collected(doubled.map(lambda x: x + self.factor))

    @tf.function(input_signature=[INT, INT])
    def filter(self, count, divisor):
        return collected(Dataset.range(count).filter(lambda x: x % divisor == 0).take_while(lambda x: x < 20))

    @tf.function(input_signature=[INT])
    def interleave(self, count):
        turns = Dataset.range(count).interleave(lambda x: Dataset.range(x), cycle_length=2, block_length=2)
        threads = Dataset.range(count).interleave(
            lambda x: Dataset.from_tensors(x).repeat(2), cycle_length=2, num_parallel_calls=2
        )
        return collected(turns.concatenate(threads))

    @tf.function(input_signature=[INT])
    def shuffle(self, count):
        return collected(Dataset.range(count).shuffle(5, seed=42).repeat(2).shard(2, 1))

    @tf.function(input_signature=[INT, INT])
    def batch(self, count, size):
        return collected(Dataset.range(count).batch(size, drop_remainder=True).prefetch(2).cache())

    @tf.function(input_signature=[INT])
    def padded_batch(self, count):
        rows = Dataset.range(count).map(lambda x: tf.fill([x], x))
        return collected(rows.padded_batch(2, padded_shapes=[None], padding_values=tf.constant(-1, tf.int64)))

    @tf.function(input_signature=[INT])
    def prefetch(self, count):
        options = tf.data.Options()
        options.deterministic = True
        options.threading.private_threadpool_size = 2
        iterator = iter(Dataset.range(count).with_options(options).prefetch(tf.data.AUTOTUNE))
        return next(iterator) + next(iterator), iterator.get_next_as_optional().has_value()

    @tf.function(input_signature=[INT])
    def reduce(self, count):
        scanned = Dataset.range(count).scan(tf.constant(1, tf.int64), lambda s, x: (s + x, s * x))
        return scanned.reduce((tf.constant(0, tf.int64), self.factor), lambda s, x: (s[0] + x, s[1] + 1))

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
    def records(self, paths):
        numbers = tf.data.TFRecordDataset(paths).map(lambda s: tf.strings.to_number(s, tf.int64))
        lines = tf.data.TextLineDataset(paths, num_parallel_reads=2).map(tf.strings.length)
        return collected(numbers), lines.reduce(0, lambda s, x: s + 1)

    @tf.function(input_signature=[INT])
    def windows(self, count):
        windows = Dataset.range(count).window(3, shift=2).flat_map(lambda window: window.batch(3))
        groups = Dataset.range(count).group_by_window(lambda x: x % 2, lambda key, window: window.batch(2), 2)
        return collected(windows.unbatch().batch(2)), collected(groups)

    @tf.function(input_signature=[INT])
    def ragged(self, count):
        rows = Dataset.range(count).map(tf.range).ragged_batch(2)
        sparse = Dataset.from_tensor_slices(tf.sparse.from_dense([[1, 0], [0, 2], [3, 4]])).batch(2)
        first = [batch.to_tensor() for batch in [next(iter(rows))]]
        return first, tf.sparse.to_dense(sparse.take(1).get_single_element())

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
    def look_up(self, words):
        numbers = Dataset.from_tensor_slices(words).map(self.words.lookup).unique()
        return numbers.reduce(0, lambda s, x: s * 10 + x), numbers.cardinality()

    @tf.function(input_signature=[])
    def tracked(self):
        return collected(self.kept), self.kept.map(tf.reduce_sum).reduce(tf.constant(0, tf.int64), lambda s, x: s + x)


def arguments(folder):
    records = os.path.join(folder, "records")
    with tf.io.TFRecordWriter(records) as writer:
        for i in range(4):
            writer.write(str(i))
    number = lambda n: tf.constant(n, tf.int64)  # noqa: E731
    return {
        "slices": [tf.constant([3, 1, 2], tf.int64)], "range": [number(1), number(2)], "map": [number(4), number(3)],
        "filter": [number(30), number(3)], "interleave": [number(5)], "shuffle": [number(10)],
        "batch": [number(7), number(3)], "padded_batch": [number(5)], "prefetch": [number(5)], "reduce": [number(5)],
        "records": [tf.constant([records])], "windows": [number(7)], "ragged": [number(4)],
        "look_up": [tf.constant(["a", "b", "c", "a"])], "tracked": [],
    }  # fmt: skip


def main(*arguments_given):
    folder, *action = arguments_given or sys.argv[1:]
    if action == ["run"]:
        import tempfile

        model = tf.saved_model.load(folder)
        results = {
            name: tf.nest.map_structure(lambda t: t.numpy().tolist(), getattr(model, name)(*args))
            for name, args in arguments(tempfile.mkdtemp()).items()
        }
        print(json.dumps(results))
    else:
        tf.saved_model.save(Pipelines(), folder)
