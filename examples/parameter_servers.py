#!/usr/bin/env python3
"""Train a table of embeddings with parameter servers: a coordinator sends steps to workers, which share the variables.

    python examples/parameter_servers.py [--workers N] [--servers N] [--steps N] [--out FOLDER]

This starts all processes on this machine. On several machines, start the program once for each process, with TF_CONFIG
in its environment: the addresses of all, and which one this is.

    TF_CONFIG='{"cluster": {"chief": ["host0:2222"], "worker": ["host1:2222"], "ps": ["host2:2222"]},
                "task": {"type": "worker", "index": 0}}'

The table is cut into a part for each server; a step reads and changes only the rows that its batch has. Kill a worker
while it trains: its steps go to the others.
"""

import argparse
import json
import os
import pathlib
import socket
import subprocess
import sys

import tapeflow as tf

ROWS, WIDTH = 1000, 16


def dataset() -> tf.data.Dataset:
    """Returns batches of pairs of rows, and whether both are even or both odd."""
    pairs = tf.data.Dataset.random(seed=1).map(lambda n: tf.stack([n % ROWS, n // ROWS % ROWS]))
    return pairs.map(lambda p: (p, tf.cast((p[0] + p[1]) % 2 == 0, tf.float32) * 2.0 - 1.0)).batch(256)


def coordinate(resolver: tf.distribute.cluster_resolver.ClusterResolver, steps: int, out: pathlib.Path) -> None:
    servers = resolver.cluster_spec().num_tasks("ps")
    partitioner = tf.distribute.experimental.partitioners.MinSizePartitioner(min_shard_bytes=1024, max_shards=servers)
    strategy = tf.distribute.ParameterServerStrategy(resolver, variable_partitioner=partitioner)
    coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)
    with strategy.scope():
        table = tf.Variable(tf.random.normal([ROWS, WIDTH], stddev=0.3), name="table")
        trained = tf.Variable(0, dtype=tf.int64)
    manager = tf.train.CheckpointManager(tf.train.Checkpoint(table=table, steps=trained), str(out), max_to_keep=2)
    manager.restore_or_initialize()
    parts = getattr(table, "variables", [table])

    @tf.function
    def step(iterator):
        pairs, y = next(iterator)
        with tf.GradientTape() as tape:
            rows = tf.nn.embedding_lookup(table, pairs)
            loss = tf.reduce_mean((tf.reduce_sum(rows[:, 0] * rows[:, 1], 1) - y) ** 2)
        for part, dy in zip(parts, tape.gradient(loss, parts), strict=True):
            part.scatter_sub(tf.IndexedSlices(40.0 * dy.values, dy.indices))
        trained.assign_add(1)
        return loss

    iterator = iter(coordinator.create_per_worker_dataset(dataset))
    while int(trained) < steps:
        losses = [coordinator.schedule(step, args=(iterator,)) for _ in range(100)]
        coordinator.join()
        manager.save()
        print(f"{int(trained)} steps: loss {sum(coordinator.fetch(losses)) / 100:.4f}", flush=True)


def start_all(workers: int, servers: int) -> int:
    """Starts a process for each task of a cluster on this machine; returns the coordinator's exit status."""
    sockets = [socket.create_server(("localhost", 0)) for _ in range(1 + workers + servers)]
    addresses = [f"localhost:{s.getsockname()[1]}" for s in sockets]
    for each in sockets:
        each.close()
    cluster = {"chief": addresses[:1], "worker": addresses[1 : 1 + workers], "ps": addresses[1 + workers :]}
    processes = []
    for task in [{"type": job, "index": i} for job, tasks in cluster.items() for i in range(len(tasks))]:
        config = json.dumps({"cluster": cluster, "task": task})
        processes.append(subprocess.Popen([sys.executable, *sys.argv], env=os.environ | {"TF_CONFIG": config}))
    try:
        return processes[0].wait()
    finally:
        for process in processes:
            process.kill()
            process.wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--servers", type=int, default=2)
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("parameter_servers"))
    args = parser.parse_args()

    if "TF_CONFIG" not in os.environ:
        sys.exit(start_all(args.workers, args.servers))
    resolver = tf.distribute.cluster_resolver.TFConfigClusterResolver()
    if resolver.task_type in ("worker", "ps"):
        tf.distribute.Server(resolver.cluster_spec(), resolver.task_type, resolver.task_id).join()
    coordinate(resolver, args.steps, args.out)


if __name__ == "__main__":
    main()
