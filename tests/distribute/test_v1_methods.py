"""Methods of strategies for programs of TensorFlow 1."""

import pytest

import tapeflow as tf


def parts(batch):
    return [v.numpy().tolist() for v in batch.values]


def test_iterators(strategy):
    dataset = tf.data.Dataset.range(6).batch(4)
    divided = strategy.make_dataset_iterator(dataset)
    assert [parts(divided.get_next()) for _ in range(2)] == [[[0, 1], [2, 3]], [[4], [5]]]
    with pytest.raises(tf.errors.OutOfRangeError):
        divided.get_next()
    divided.initialize()
    assert parts(strategy.experimental_run(lambda x: x * 10, divided)) == [[0, 10], [20, 30]]
    modes, contexts = tf.distribute.InputReplicationMode, []
    dealt = strategy.make_input_fn_iterator(lambda context: contexts.append(context) or dataset, modes.PER_WORKER)
    assert parts(dealt.get_next()) == [[0, 1, 2, 3], [4, 5]] and contexts[0].num_replicas_in_sync == 2
    with pytest.raises(ValueError, match="Input replication mode not supported"):
        strategy.make_input_fn_iterator(lambda context: dataset, modes.PER_REPLICA)


def test_runs_without_input(strategy):
    assert strategy.experimental_run(lambda: tf.distribute.get_strategy() is strategy) is True
    assert strategy.configure(session_config=3, cluster_spec={}) is None
    with pytest.raises(ValueError, match="can't change its cluster"):
        strategy.configure(cluster_spec={"worker": ["a:1"]}, task_type="worker", task_id=0)
