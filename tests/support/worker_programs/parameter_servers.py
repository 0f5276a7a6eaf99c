"""Training with parameter servers: the coordinator trains, or disturbs its workers; the others serve."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import numpy as np

import tapeflow as tf
from tapeflow.transport import calls

WORKERS, ROWS, STEPS = 2, 7, 12


def data(worker=0):
    rng = np.random.default_rng(worker)
    keys, y = rng.integers(0, ROWS, size=[48, 2]), rng.normal(size=[48, 1]).astype("float32")
    return tf.data.Dataset.from_tensor_slices((keys, y)).batch(4).repeat()


def model(scope):
    """Returns the variables of a small model with an embedding, and the function of a step."""
    rng = np.random.default_rng(7)
    with scope:
        table = tf.Variable(rng.normal(size=[ROWS, 3]).astype("float32"), name="table")
        kernel = tf.Variable(rng.normal(size=[6, 1]).astype("float32"), name="kernel")
        dense = tf.keras.layers.Dense(1, kernel_initializer="ones")
        dense.build([None, 1])
        steps = tf.Variable(0, dtype=tf.int64, trainable=False)
    parts = [part for v in (table, kernel) for part in getattr(v, "variables", [v])]
    trained = [*parts, *[v.value for v in dense.trainable_variables]]

    def step(keys, y):
        with tf.GradientTape() as tape:
            rows = tf.nn.embedding_lookup(table, keys)
            loss = tf.reduce_mean((dense(tf.reshape(rows, [-1, 6]) @ kernel) - y) ** 2)
        for v, dy in zip(trained, tape.gradient(loss, trained), strict=True):
            if isinstance(dy, tf.IndexedSlices):
                v.scatter_sub(tf.IndexedSlices(0.1 * dy.values, dy.indices))
            else:
                v.assign_sub(0.1 * dy)
        steps.assign_add(1)
        return loss

    return {"table": table, "kernel": kernel, "steps": steps, "dense": dense}, step


def train_alone():
    """Returns what `train` does, of one process."""
    variables, step = model(tf.distribute.get_strategy().scope())
    iterator, traced = iter(data()), tf.function(step)
    losses = [float(traced(*next(iterator))) for _ in range(STEPS)]
    return {"losses": losses, "table": variables["table"].numpy().tolist()}


def train(strategy, coordinator, folder):
    variables, step = model(strategy.scope())

    @tf.function
    def worker_step(iterator):
        return strategy.run(step, args=next(iterator))

    @tf.function
    def dataset():
        return strategy.distribute_datasets_from_function(lambda context: data())

    iterator = iter(coordinator.create_per_worker_dataset(dataset))
    checkpoint = tf.train.Checkpoint(table=variables["table"], kernel=variables["kernel"], steps=variables["steps"])
    path = checkpoint.save(f"{folder}/ckpt")
    first = [float(coordinator.schedule(worker_step, args=(iterator,)).fetch()) for _ in range(STEPS)]
    checkpoint.restore(path)
    again = int(variables["steps"])
    for _ in range(40):
        coordinator.schedule(worker_step, args=(iterator,))
    coordinator.join()
    return {
        "losses": first, "restored": again, "steps": int(variables["steps"]),
        "devices": [v.device for v in variables["table"].variables], "done": coordinator.done(),
    }  # fmt: skip


def disturb(strategy, coordinator, folder):
    """Kills a worker, starts it again, stops one, and kills a parameter server."""
    with strategy.scope():
        total = tf.Variable(0.0)

    @tf.function
    def work(x):
        for _ in tf.range(20):
            total.assign_add(0.05)
        return x, tf.distribute.coordinator.experimental_get_current_worker_index()

    def pids():
        return [int((pathlib.Path(folder) / f"worker{i}").read_text()) for i in range(WORKERS)]

    def run(count, meanwhile):
        values = [coordinator.schedule(work, args=(tf.constant(i),)) for i in range(count)]
        meanwhile()
        coordinator.join()
        results = coordinator.fetch(values)
        return [int(x) for x, _ in results] == list(range(count)), sorted({int(w) for _, w in results})

    result = {"both": run(20, lambda: None)}
    result["killed"] = run(40, lambda: os.kill(pids()[0], signal.SIGKILL))
    result["one"] = run(5, lambda: None)
    config = json.loads(os.environ["TF_CONFIG"])
    config["task"] = {"type": "worker", "index": 0}
    environment = os.environ | {"TF_CONFIG": json.dumps(config)}
    again = subprocess.Popen([sys.executable, *sys.argv], env=environment)
    try:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and run(10, lambda: None)[1] != [0, 1]:
            pass
        result["again"] = run(20, lambda: None)
        os.kill(again.pid, signal.SIGSTOP)
        result["stopped"] = run(20, lambda: None)
        result["at least"] = float(total) >= 20 + 40 + 5 + 20 + 20 - 0.01
        os.kill(int((pathlib.Path(folder) / "ps0").read_text()), signal.SIGKILL)
        try:
            run(5, lambda: None)
        except tf.errors.UnavailableError as error:
            result["server"] = "ps:0" in error.message
    finally:
        again.kill()
        again.wait()
    return result


if __name__ == "__main__":
    for number, (name, _) in enumerate(calls.OPTIONS):  # so that a worker that hangs is noticed soon
        if "keepalive" in name or "ping_" in name:
            calls.OPTIONS[number] = (name, 1000)
    resolver = tf.distribute.cluster_resolver.TFConfigClusterResolver()
    if resolver.task_type in ("worker", "ps"):
        pathlib.Path(sys.argv[2], f"{resolver.task_type}{resolver.task_id}").write_text(str(os.getpid()))
        tf.distribute.Server(resolver.cluster_spec(), resolver.task_type, resolver.task_id).join()
    sharded = tf.distribute.experimental.partitioners.FixedShardsPartitioner(2) if sys.argv[1] == "train" else None
    strategy = tf.distribute.ParameterServerStrategy(resolver, variable_partitioner=sharded)
    coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)
    print(json.dumps(globals()[sys.argv[1]](strategy, coordinator, sys.argv[2])))
