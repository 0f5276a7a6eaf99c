"""A training loop of one's own under `MultiWorkerMirroredStrategy`, and everything that replicas say to each other."""

import json
import sys

import numpy as np

import tapeflow as tf

GLOBAL_BATCH = 16


def train(strategy, folder):
    rng = np.random.default_rng(0)
    x, y = (rng.normal(size=(60, n)).astype("float32") for n in (5, 1))
    table = rng.normal(size=(7, 5)).astype("float32")
    keys = rng.integers(0, 7, size=60)
    kernels = [rng.normal(size=s).astype("float32") for s in ((5, 8), (8, 1))]
    worker = strategy.cluster_resolver.task_id or 0
    with strategy.scope():
        variables = [tf.Variable(k * (1 + worker)) for k in (*kernels, table)]  # all begin with the chief's
        total = tf.Variable(
            0.0, synchronization=tf.VariableSynchronization.ON_READ, aggregation=tf.VariableAggregation.SUM
        )
        average = tf.Variable(0.0, aggregation=tf.VariableAggregation.MEAN)
    data = tf.data.Dataset.from_tensor_slices((x, y, keys)).batch(GLOBAL_BATCH)
    data = strategy.experimental_distribute_dataset(data)

    def step(x, y, keys):
        with tf.GradientTape() as tape:
            hidden = tf.nn.relu((x + tf.gather(variables[2], keys)) @ variables[0])
            losses = tf.reduce_sum((hidden @ variables[1] - y) ** 2, axis=1)
            loss = tf.nn.compute_average_loss(losses, global_batch_size=GLOBAL_BATCH)
        gradients = tape.gradient(loss, variables)
        replica = tf.distribute.get_replica_context()
        gradients = replica.all_reduce("SUM", gradients)

        def update(strategy, gradients):
            for variable, gradient in zip(variables, gradients, strict=True):
                strategy.extended.update(
                    variable, lambda v, g: v.assign_sub(0.05 * tf.convert_to_tensor(g)), args=(gradient,)
                )

        replica.merge_call(update, args=(gradients,))
        total.assign_add(loss)
        average.assign(loss * strategy.num_replicas_in_sync)
        return loss

    def distributed_step(batch):
        return strategy.reduce("SUM", strategy.run(step, args=batch), axis=None)

    traced = tf.function(distributed_step)

    @tf.function
    def epoch(data):
        sum_of_losses = 0.0
        for batch in data:
            sum_of_losses += distributed_step(batch)
        return sum_of_losses

    result = {"eager": [float(distributed_step(b)) for b in data], "traced": [float(traced(b)) for b in data]}
    result["epoch"] = float(epoch(data))
    result["total"] = float(total.read_value())
    result["average"] = float(average.read_value())
    result["weights"] = [float(tf.reduce_sum(v)) for v in variables]
    manager = tf.train.CheckpointManager(tf.train.Checkpoint(v=variables, total=total), folder, max_to_keep=2)
    manager.save()
    return result


def say(strategy):
    """Returns what reductions and the like of numbers that follow from the replicas' own give."""

    def number():
        return tf.cast(tf.distribute.get_replica_context().replica_id_in_sync_group, tf.float32) + 1.0

    def replica():
        context = tf.distribute.get_replica_context()
        x = number()
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = context.all_reduce("SUM", x * x)
        rows = tf.fill([tf.cast(x, tf.int32), 2], x)
        return {
            "sum": context.all_reduce("SUM", x), "mean": context.all_reduce("MEAN", [x, 2 * x]),
            "whole": context.all_reduce("MEAN", tf.cast(x, tf.int32)), "rows": context.all_gather(rows, 0),
            "gradient": tape.gradient(y, x), "complex": context.all_reduce("SUM", tf.complex(x, -x)),
        }  # fmt: skip

    values = strategy.run(number)
    column = strategy.run(lambda: number() * tf.ones([2, 1]))
    return tf.nest.map_structure(lambda v: str(np.asarray(v).tolist()), {
        "eager": strategy.run(replica), "traced": tf.function(lambda: strategy.run(replica))(),
        "number": strategy.reduce("SUM", values, axis=None), "along": strategy.reduce("MEAN", column, axis=0),
        "gather": strategy.gather(column, axis=1), "flags": strategy.gather(column > 1.5, axis=0),
        "context": [strategy.num_replicas_in_sync, strategy.extended._in_multi_worker_mode()],
        "own": strategy.experimental_local_results(
            strategy.experimental_distribute_values_from_function(lambda c: c.replica_id_in_sync_group)
        ),
        "device": strategy.extended.worker_devices,
    })  # fmt: skip


def go_on_without_data(strategy):
    """Returns the sums of the steps of datasets of which the first worker's is longer."""

    def numbers(context):
        size = 10 if context.input_pipeline_id == 0 else 3
        return tf.data.Dataset.range(1, size + 1).map(lambda x: tf.cast(x, tf.float32)).batch(2)

    data = strategy.distribute_datasets_from_function(numbers)

    def step(batch):
        return strategy.reduce("SUM", strategy.run(tf.reduce_sum, args=(batch,)), axis=None)

    @tf.function
    def epoch(data):
        sums = tf.TensorArray(tf.float32, 0, dynamic_size=True)
        for batch in data:
            sums = sums.write(sums.size(), step(batch))
        return sums.stack()

    def steps():
        iterator, following = iter(data), tf.function(lambda iterator: step(next(iterator)))
        try:
            while True:
                yield float(following(iterator))
        except tf.errors.OutOfRangeError:
            return

    return [[float(step(batch)) for batch in data], epoch(data).numpy().tolist(), list(steps())]


if __name__ == "__main__":
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    result = {"said": say(strategy), "trained": train(strategy, sys.argv[1]), "uneven": go_on_without_data(strategy)}
    group = strategy.extended._group
    print(json.dumps(result | {"bytes": group.bytes_sent, "collectives": group.collectives}))
