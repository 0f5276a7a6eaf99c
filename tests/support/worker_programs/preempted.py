"""A training that one worker's end interrupts: all save, and the next start goes on from there."""

import json
import os
import signal
import sys

import tapeflow as tf

STEPS = 6
strategy = tf.distribute.MultiWorkerMirroredStrategy()
resolver = strategy.cluster_resolver
with strategy.scope():
    weight = tf.Variable(1.0)
    total = tf.Variable(0.0, synchronization=tf.VariableSynchronization.ON_READ, aggregation=tf.VariableAggregation.SUM)
step = tf.Variable(0)
handler = tf.distribute.experimental.PreemptionCheckpointHandler(
    resolver,
    tf.train.Checkpoint(weight=weight, total=total, step=step),
    sys.argv[1],
    tf.distribute.experimental.TerminationConfig(exit_fn=lambda: sys.exit(42)),
)


@tf.function
def train():
    def replica():
        x = tf.cast(tf.distribute.get_replica_context().replica_id_in_sync_group, tf.float32) + 1.0
        total.assign_add(x)
        return x * weight

    return strategy.reduce("SUM", strategy.run(replica), axis=None)


started_at = int(step)
while int(step) < STEPS:
    if started_at == 0 and int(step) == 3 and resolver.task_id == 1:
        os.kill(os.getpid(), signal.SIGTERM)
    weight.assign(handler.run(train) / 2.0)
    step.assign_add(1)
print(
    json.dumps({"started": started_at, "weight": float(weight), "total": float(total), "runs": handler.total_run_calls})
)
