"""Distributed datasets and iterators: how batches are divided, and their specs."""

import pytest

import tapeflow as tf
from tapeflow.distribute.input import balanced_part, leading_part

pytestmark = pytest.mark.usefixtures("two_cpus")


def parts(batch):
    return [v.numpy().tolist() for v in batch.values]


@pytest.mark.parametrize(
    ("size", "count", "balanced", "leading"),
    [
        (4, 2, [[0, 1], [2, 3]], [[0, 1], [2, 3]]),
        (5, 3, [[0, 1], [2, 3], [4]], [[0, 1], [2, 3], [4]]),
        (7, 3, [[0, 1, 2], [3, 4], [5, 6]], [[0, 1, 2], [3, 4, 5], [6]]),
        (1, 3, [[0], [], []], [[0], [], []]),
        (4, 3, [[0, 1], [2], [3]], [[0, 1], [2, 3], []]),
        (0, 2, [[], []], [[], []]),
        (3, 1, [[0, 1, 2]], [[0, 1, 2]]),
    ],
)
def test_parts(size, count, balanced, leading):
    batch = tf.range(size)

    @tf.function(input_signature=[tf.TensorSpec([None], tf.int32), tf.TensorSpec([], tf.int32)])
    def in_graph(batch, i):
        return balanced_part(batch, i, count), leading_part(batch, i, count)

    for i in range(count):
        assert balanced_part(batch, i, count).numpy().tolist() == balanced[i]
        assert leading_part(batch, i, count).numpy().tolist() == leading[i]
        assert [t.numpy().tolist() for t in in_graph(batch, i)] == [balanced[i], leading[i]]


def test_a_distributed_dataset(strategy):
    dataset = strategy.experimental_distribute_dataset(tf.data.Dataset.range(7).batch(4))
    assert isinstance(dataset, tf.distribute.DistributedDataset)
    assert [parts(b) for b in dataset] == [[[0, 1], [2, 3]], [[4, 5], [6]]]
    assert [parts(b) for b in dataset] == [[[0, 1], [2, 3]], [[4, 5], [6]]]  # again
    assert dataset.cardinality == 2
    totals = dataset.reduce(tf.constant(100, tf.int64), lambda s, b: s + strategy.reduce("SUM", b, axis=0))
    assert totals.numpy() == 121
    with pytest.raises(ValueError, match="batch it"):
        strategy.experimental_distribute_dataset(tf.data.Dataset.range(4))
    one = tf.distribute.OneDeviceStrategy("CPU:1")
    assert [int(x) for x in one.experimental_distribute_dataset(tf.data.Dataset.range(2))] == [0, 1]


def test_a_distributed_iterator(strategy):
    dataset = strategy.experimental_distribute_dataset(tf.data.Dataset.range(3).batch(2))
    iterator = iter(dataset)
    assert iter(iterator) is iterator and isinstance(iterator, tf.distribute.DistributedIterator)
    assert iterator.element_spec == dataset.element_spec
    assert parts(next(iterator)) == [[0], [1]]
    last = iterator.get_next_as_optional()
    assert bool(last.has_value()) and parts(last.get_value()) == [[2], []]
    assert not bool(iterator.get_next_as_optional().has_value())
    with pytest.raises(tf.errors.OutOfRangeError):
        iterator.get_next()
    with pytest.raises(StopIteration):
        next(iterator)


def test_dealt_batches(strategy):
    def make(context):
        assert context.num_replicas_in_sync == 2 and context.input_pipeline_id == 0
        return tf.data.Dataset.range(5).batch(context.get_per_replica_batch_size(4))

    dataset = strategy.distribute_datasets_from_function(make)
    assert [parts(b) for b in dataset] == [[[0, 1], [2, 3]], [[4], []]]
    iterator = iter(dataset)
    assert [bool(iterator.get_next_as_optional().has_value()) for _ in range(3)] == [True, True, False]


def test_options(strategy):
    dataset, modes = tf.data.Dataset.range(4).batch(2), tf.distribute.InputReplicationMode
    options = tf.distribute.InputOptions(experimental_replication_mode=modes.PER_REPLICA)
    with pytest.raises(ValueError, match="PER_REPLICA is not supported"):
        strategy.experimental_distribute_dataset(dataset, options)
    names = strategy.extended.worker_devices
    for fetch, places in ((True, names), (False, names[:1] * 2)):
        options = tf.distribute.InputOptions(experimental_fetch_to_device=fetch)
        for batch in strategy.experimental_distribute_dataset(dataset, options):
            assert tuple(v.device for v in batch.values) == places
    defaults = tf.distribute.InputOptions()
    assert defaults == (True, modes.PER_WORKER, False, 1)


def of_replicas(spec):
    return tf.nest.flatten(spec, expand_composites=True)


def test_specs(strategy):
    dataset = tf.data.Dataset.from_tensor_slices({"a": tf.zeros([8, 3]), "b": tf.zeros([8], tf.int32)})
    spec = strategy.experimental_distribute_dataset(dataset.batch(4, drop_remainder=True)).element_spec
    assert of_replicas(spec["a"]) == [tf.TensorSpec([2, 3])] * 2
    assert of_replicas(spec["b"]) == [tf.TensorSpec([2], tf.int32)] * 2
    odd = strategy.experimental_distribute_dataset(dataset.batch(3, drop_remainder=True)).element_spec
    assert of_replicas(odd["a"]) == [tf.TensorSpec([None, 3])] * 2
    free = strategy.experimental_distribute_dataset(dataset.batch(4)).element_spec
    assert of_replicas(free["a"]) == [tf.TensorSpec([None, 3])] * 2
    dealt = strategy.distribute_datasets_from_function(lambda _: dataset.batch(4, drop_remainder=True)).element_spec
    assert of_replicas(dealt["a"]) == [tf.TensorSpec([4, 3])] * 2
    one = tf.distribute.OneDeviceStrategy("CPU:1")
    whole = one.experimental_distribute_dataset(dataset.batch(4, drop_remainder=True))
    assert whole.element_spec == {"a": tf.TensorSpec([4, 3]), "b": tf.TensorSpec([4], tf.int32)}


def test_functions_take_datasets_and_iterators(strategy):
    dataset = strategy.experimental_distribute_dataset(tf.data.Dataset.range(5).batch(2))
    traces = []

    @tf.function
    def total(source):
        traces.append(source)
        sums = tf.constant(0, tf.int64)
        for batch in source:
            sums = 10 * sums + strategy.reduce("SUM", batch, axis=0)
        return sums

    assert [int(total(dataset)), int(total(dataset))] == [154, 154] and len(traces) == 1
    iterator = iter(dataset)
    next(iterator)
    assert int(total(iterator)) == 54 and len(traces) == 2

    @tf.function
    def following(iterator):
        optional = iterator.get_next_as_optional()
        if optional.has_value():
            return strategy.reduce("SUM", optional.get_value(), axis=0)
        return tf.constant(-1, tf.int64)

    iterator = iter(dataset)
    assert [int(following(iterator)) for _ in range(4)] == [1, 5, 4, -1]


def test_ragged_batches_stay_where_they_are(strategy):
    ragged = tf.ragged.constant([[1], [2, 3], [], [4, 5, 6]])
    batches = strategy.experimental_distribute_dataset(tf.data.Dataset.from_tensor_slices(ragged).batch(4))
    (batch,) = batches
    assert [v.to_list() for v in batch.values] == [[[1], [2, 3]], [[], [4, 5, 6]]]
