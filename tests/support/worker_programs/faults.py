"""A worker that dies, or hangs, or does something else than the others, in the middle of its training."""

import json
import os
import signal
import sys

import tapeflow as tf

options = tf.distribute.experimental.CommunicationOptions(timeout_seconds=float(sys.argv[2]))
strategy = tf.distribute.MultiWorkerMirroredStrategy(communication_options=options)
fault = sys.argv[1]
last = strategy.cluster_resolver.task_id == 1


@tf.function
def step():
    return strategy.reduce("SUM", strategy.run(lambda: tf.constant(1.0)), axis=None)


failures = []
for _ in range(2):  # nobody waits a second time
    try:
        with strategy.scope():
            v = tf.Variable([1.0, 2.0] if fault == "differ" and last else 1.0, name="v")
        for number in range(5):
            if last and number == 2:
                os.kill(os.getpid(), {"die": signal.SIGKILL, "hang": signal.SIGSTOP}[fault])
            step()
    except tf.errors.OpError as error:
        failures.append([type(error).__name__, error.message])
print(json.dumps({"failures": failures}))
