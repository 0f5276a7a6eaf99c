"""`MultiWorkerMirroredStrategy` with two workers that are threads of one process."""

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.distribute.values import MirroredValues
from worker_threads import run_workers_in_threads

SUM, MEAN = tf.distribute.ReduceOp.SUM, tf.distribute.ReduceOp.MEAN


def number():
    """1.0 in the first replica, 2.0 in the second."""
    return 1.0 + tf.cast(tf.distribute.get_replica_context().replica_id_in_sync_group, tf.float32)


def plain(nest):
    return tf.nest.map_structure(lambda v: np.asarray(v).tolist(), nest)


def test_what_a_worker_knows():
    def know(strategy):
        extended = strategy.extended
        facts = strategy.num_replicas_in_sync, extended._num_workers, extended._in_multi_worker_mode()
        return facts, extended._is_chief, extended.should_checkpoint, extended.worker_devices, strategy.cluster_resolver

    first, second = run_workers_in_threads(know, chief=True)
    assert first[0] == second[0] == (2, 2, True)
    assert first[1:3] == (True, True) and second[1:3] == (False, False)
    assert first[3] == ("/job:chief/replica:0/task:0/device:CPU:0",)
    assert second[3] == ("/job:worker/replica:0/task:0/device:CPU:0",)
    assert (second[4].task_type, second[4].task_id) == ("worker", 0)


def test_reductions():
    def reduce(strategy):
        x = strategy.run(lambda: number() * tf.constant([1.0, 4.0, 7.0]))
        whole = strategy.run(lambda: tf.cast(number() * [1.0, 4.0], tf.int32))
        scalar = strategy.run(number)
        return plain(
            {
                "sum": strategy.reduce("SUM", x, axis=None),
                "mean": strategy.reduce("MEAN", x, axis=None),
                "sum along": strategy.reduce("SUM", x, axis=0),
                "mean along": strategy.reduce("MEAN", x, axis=0),
                "mean of scalars along": strategy.reduce("MEAN", scalar, axis=0),
                "whole": [strategy.reduce(op, whole, axis=0) for op in ("SUM", "MEAN")],
                "gather": strategy.gather(x, axis=0),
                "constant": strategy.reduce("MEAN", tf.constant(3.0), axis=None),
            }
        )

    first, second = run_workers_in_threads(reduce)
    assert first == second
    assert first == {
        "sum": [3.0, 12.0, 21.0],
        "mean": [1.5, 6.0, 10.5],
        "sum along": 36.0,
        "mean along": 6.0,
        "mean of scalars along": 1.5,
        "whole": [15, 3.75],
        "gather": [1.0, 4.0, 7.0, 2.0, 8.0, 14.0],
        "constant": 3.0,
    }


def test_uneven_batches_have_the_mean_of_their_elements():
    def reduce(strategy):
        x = strategy.run(lambda: tf.range(1.0, 4.0 * number() - 1.0))
        return float(strategy.reduce("MEAN", x, axis=0)), strategy.gather(x, axis=0).numpy().tolist()

    assert run_workers_in_threads(reduce) == [(3.0, [1.0, 2.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0])] * 2


def test_collectives_in_replicas():
    def replica():
        context, x = tf.distribute.get_replica_context(), number()
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = context.all_reduce("SUM", x * x)
        slices = tf.IndexedSlices(tf.fill([1, 2], x), tf.cast([x], tf.int32), tf.constant([3, 2]))
        sparse = context.all_reduce("MEAN", slices)
        return {
            "gradient": tape.gradient(y, x),
            "rows": [sparse.values, sparse.indices, sparse.dense_shape],
            "nest": context.all_reduce("MEAN", [x, {"a": tf.cast(2 * x, tf.int32)}]),
            "columns": context.all_gather(tf.fill([2, tf.cast(x, tf.int32)], x), -1),
        }

    first, second = run_workers_in_threads(lambda strategy: plain(strategy.run(replica)))
    assert first["gradient"] == 4.0 and second["gradient"] == 8.0
    for said in (first, second):
        assert said["rows"] == [[[0.5, 0.5], [1.0, 1.0]], [1, 2], [3, 2]]
        assert said["nest"] == [1.5, {"a": 3.0}]
        assert said["columns"] == [[1.0, 2.0, 2.0]] * 2


def test_reductions_to_destinations():
    def reduce(strategy):
        with strategy.scope():
            v = tf.Variable(1.0)
        x, extended = strategy.run(number), strategy.extended
        pairs = extended.batch_reduce_to("SUM", [(x, v), (10.0 * x, v)])
        return plain([extended.reduce_to("MEAN", x, v), pairs]), v.numpy()

    assert run_workers_in_threads(reduce) == [([1.5, [3.0, 30.0]], 1.0)] * 2


def test_mirrored_values_are_their_own_means():
    def reduce(strategy):
        with strategy.scope():
            v = tf.Variable(1.0)
        mirrored, extended = MirroredValues([tf.constant(5.0)]), strategy.extended
        before = extended._group.collectives
        means = strategy.reduce("MEAN", mirrored, axis=None), extended.reduce_to("MEAN", mirrored, v)
        assert extended._group.collectives == before and means[1] is mirrored
        several = extended.batch_reduce_to("MEAN", [(mirrored, v), (strategy.run(number), v)])
        total = extended.reduce_to("SUM", mirrored, v)
        return float(means[0]), several[0] is mirrored, float(several[1]), float(total)

    assert run_workers_in_threads(reduce) == [(5.0, True, 1.5, 10.0)] * 2


def test_methods_for_libraries_are_of_cross_replica_context():
    def call(strategy):
        return strategy.run(lambda: strategy.extended.reduce_to("SUM", tf.constant(1.0), "CPU:0"))

    for error in run_workers_in_threads(call):
        assert isinstance(error, RuntimeError) and "cross-replica context" in str(error)


def test_variables_begin_with_the_first_workers_values():
    def create(strategy):
        rank = strategy.cluster_resolver.task_id
        with strategy.scope():
            v = tf.Variable(tf.fill([2, 2], 1.0 + rank))
            empty = tf.Variable(tf.zeros([0, 3]))
            flag = tf.Variable(rank == 0)
        return v.numpy().tolist(), empty.shape, bool(flag)

    assert run_workers_in_threads(create) == [([[1.0, 1.0], [1.0, 1.0]], [0, 3], True)] * 2


def test_variables_must_agree():
    def create(strategy):
        with strategy.scope():
            return tf.Variable(tf.zeros([1 + strategy.cluster_resolver.task_id]))

    for error in run_workers_in_threads(create):
        assert isinstance(error, tf.errors.InvalidArgumentError)
        assert "worker 0 is at variable Variable:0: torch.float32 [1]; worker 1 is at" in str(error)


@pytest.mark.parametrize("aggregation", [tf.VariableAggregation.SUM, tf.VariableAggregation.MEAN])
def test_variables_that_are_reduced_when_they_are_read(aggregation):
    def use(strategy):
        with strategy.scope():
            total = tf.Variable(0.0, synchronization=tf.VariableSynchronization.ON_READ, aggregation=aggregation)
        strategy.run(lambda: total.assign_add(number()))
        read = float(total.read_value())
        total.assign(8.0)
        return read, float(total.read_value()), float(strategy.experimental_local_results(total)[0])

    is_sum = aggregation is tf.VariableAggregation.SUM
    expected = (3.0, 8.0, 4.0) if is_sum else (1.5, 8.0, 8.0)
    assert run_workers_in_threads(use) == [expected] * 2


def test_training_steps_are_those_of_the_whole_batch():
    def train(strategy):
        with strategy.scope():
            v = tf.Variable([1.0, 2.0])
        batches = strategy.experimental_distribute_dataset(tf.data.Dataset.range(1, 9).batch(4))

        def step(x):
            x = tf.cast(x, tf.float32)
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(v * tf.reduce_sum(x))
            context = tf.distribute.get_replica_context()
            (gradient,) = context.all_reduce("SUM", [tape.gradient(loss, v)])
            context.merge_call(lambda s, g: s.extended.update(v, lambda v, g: v.assign_sub(0.5 * g), (g,)), (gradient,))
            return x

        seen = []
        for batch in batches:
            seen += strategy.run(step, (batch,)).numpy().tolist()
        return seen, v.numpy().tolist()

    first, second = run_workers_in_threads(train)
    assert first == ([1.0, 2.0, 5.0, 6.0], [-17.0, -16.0]) and second == ([3.0, 4.0, 7.0, 8.0], [-17.0, -16.0])


def test_functions_of_datasets_know_their_worker():
    def distribute(strategy):
        contexts = []

        def make(context):
            rank = context.input_pipeline_id
            contexts.append((context.num_input_pipelines, rank, context.num_replicas_in_sync))
            return tf.data.Dataset.range(10 * rank, 10 * rank + 2 + rank).batch(2)

        dataset = strategy.distribute_datasets_from_function(make)
        return contexts, [strategy.run(lambda x: x, (batch,)).numpy().tolist() for batch in dataset]

    first, second = run_workers_in_threads(distribute)
    assert first == ([(2, 0, 2)], [[0, 1], []]) and second == ([(2, 1, 2)], [[10, 11], [12]])


def test_endless_datasets_need_no_agreement():
    def distribute(strategy):
        dataset = strategy.distribute_datasets_from_function(lambda c: tf.data.Dataset.range(3).repeat().batch(2))
        before = strategy.extended._group.collectives
        iterator = iter(dataset)
        batches = [next(iterator).numpy().tolist() for _ in range(2)]
        return batches, strategy.extended._group.collectives - before, dataset.element_spec

    spec = tf.TensorSpec([None], tf.int64)
    assert run_workers_in_threads(distribute) == [([[0, 1], [2, 0]], 0, spec)] * 2


def test_workers_go_on_until_none_has_a_batch():
    def distribute(strategy):
        def make(context):
            size = 4 if context.input_pipeline_id == 0 else 1
            return (
                tf.data.Dataset.range(size).map(lambda i: {"x": tf.fill([3], i), "y": tf.cast(i, tf.float32)}).batch(2)
            )

        dataset = strategy.distribute_datasets_from_function(make)
        shapes = [(b["x"].shape.as_list(), b["y"].numpy().tolist()) for b in dataset]
        iterator = iter(dataset)
        following = [iterator.get_next_as_optional() for _ in range(3)]
        ended = []
        try:
            iterator.get_next()
        except tf.errors.OutOfRangeError:
            ended.append(True)
        return shapes, [bool(o.has_value()) for o in following], ended

    first, second = run_workers_in_threads(distribute)
    assert first == ([([2, 3], [0.0, 1.0]), ([2, 3], [2.0, 3.0])], [True, True, False], [True])
    assert second == ([([1, 3], [0.0]), ([0, 3], [])], [True, True, False], [True])


def test_elements_without_an_empty_batch():
    def distribute(strategy):
        def make(context):
            ragged = tf.ragged.constant([[1], [2, 3]])
            return tf.data.Dataset.from_tensor_slices(ragged).batch(1).filter(lambda x: True)

        return list(strategy.distribute_datasets_from_function(make))

    for error in run_workers_in_threads(distribute):
        assert isinstance(error, TypeError) and "there is no empty batch" in str(error)
