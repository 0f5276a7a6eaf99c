#!/usr/bin/env python3
"""Two replicas' training steps in two threads beside the same steps in one: what threads could gain at all.

    python benchmarks/replica_threads.py [--rounds 9]

`MirroredStrategy`'s replicas on logical CPUs take turns. Run side by side they could gain what two threads gain here,
each with a model of its own and ATen on one thread, whose kernels release Python's lock. The first row, products of
matrices alone, says what the machine gives to two threads at all: where that is not close to 2, because other work
runs, the rows below say nothing.
"""

import argparse
import os
import pathlib
import statistics
import sys
import threading
import time

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "src"))
os.environ["OMP_NUM_THREADS"] = "1"

import tapeflow as tf


def product():
    x = tf.random.normal([700, 700])
    return lambda: tf.matmul(x, x)


def training_step(kind, batch):
    keras = tf.keras
    convolutions = [keras.layers.Conv2D(n, 3, activation="relu") for n in (32, 64)]
    middle = [*convolutions, keras.layers.MaxPooling2D()] if kind == "convolutional" else []
    dense = [keras.layers.Dense(n, activation="relu") for n in ((128,) if middle else (512, 512))]
    layers = [*middle, keras.layers.Flatten(), *dense, keras.layers.Dense(10)]
    model = keras.Sequential([keras.Input((28, 28, 1)), *layers])
    losses = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    optimizer = keras.optimizers.SGD(1e-4, 0.9)
    optimizer.build(model.trainable_variables)
    rng = np.random.default_rng(0)
    x, y = tf.constant(rng.random([batch, 28, 28, 1], np.float32)), tf.constant(rng.integers(0, 10, batch))

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            loss = losses(y, model(x, training=True))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        return loss

    return step


def seconds(functions, calls):
    def call(function):
        for _ in range(calls):
            function()

    threads = [threading.Thread(target=call, args=[f]) for f in functions]
    start = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return time.perf_counter() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=9)
    args = parser.parse_args()
    cases = {"products of matrices": (product, (), 20)}
    for kind, batch, calls in (("convolutional", 32, 6), ("convolutional", 4, 20), ("dense", 64, 30), ("dense", 4, 60)):
        cases[f"{kind}, {batch} images"] = training_step, (kind, batch), calls
    for name, (create, parameters, calls) in cases.items():
        one, other = create(*parameters), create(*parameters)
        seconds([one, other], 1)  # traces
        gains = [seconds([one], 2 * calls) / seconds([one, other], calls) for _ in range(args.rounds)]
        print(f"{name:24} {statistics.median(gains):.2f}x by two threads", flush=True)


if __name__ == "__main__":
    main()
