#!/usr/bin/env python3
"""Train a Keras model in several processes, on one machine or several: each trains on its part of every batch.

    torchrun --nproc-per-node 2 examples/multi_worker.py [--epochs N] [--batch N] [--out FOLDER]

Or start the program once for each process, with TF_CONFIG in its environment: the addresses of all workers, and which
one this is.

    TF_CONFIG='{"cluster": {"worker": ["host0:2222", "host1:2222"]}, "task": {"type": "worker", "index": 0}}'

`--batch` is the number of examples of all processes together, so that the losses are those of one process. Each epoch
ends with a checkpoint in FOLDER. If a process dies, the others end with an error within a minute, and with
`torchrun --max-restarts 3` all start again and go on from there.
"""

import argparse
import pathlib

import numpy as np

import tapeflow as tf


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("multi_worker"))
    args = parser.parse_args()

    options = tf.distribute.experimental.CommunicationOptions(timeout_seconds=60.0)
    strategy = tf.distribute.MultiWorkerMirroredStrategy(communication_options=options)
    first = not strategy.cluster_resolver.task_id
    with strategy.scope():
        model = tf.keras.Sequential(
            [tf.keras.Input((20,)), tf.keras.layers.Dense(32, activation="relu"), tf.keras.layers.Dense(1)]
        )
        model.compile("adam", "mse")
    epoch = tf.Variable(0, dtype=tf.int64)
    checkpoint = tf.train.Checkpoint(model=model, optimizer=model.optimizer, epoch=epoch)
    manager = tf.train.CheckpointManager(checkpoint, str(args.out), max_to_keep=2)
    manager.restore_or_initialize()

    rng = np.random.default_rng(0)
    x = rng.normal(size=(2048, 20)).astype("float32")
    y = np.sin(x.sum(axis=1, keepdims=True))
    dataset = tf.data.Dataset.from_tensor_slices((x, y)).batch(args.batch)
    while int(epoch) < args.epochs:
        history = model.fit(dataset, verbose=0).history
        epoch.assign_add(1)
        if first:
            manager.save()
            print(f"epoch {int(epoch)}: loss {history['loss'][0]:.4f}", flush=True)


if __name__ == "__main__":
    main()
