#!/usr/bin/env python3
"""What each pass over graphs is worth: the same functions compiled with all passes, and with all but one, in turn.

    python benchmarks/passes.py [--rounds N] [--models NAME ...]

Each row is a function, each column a pass; a cell is the time without the pass over the time with it: above 1, the pass
helps. With `--models`, the functions are training steps and predictions of models of `zoo.py`, of all without a name.
Times are those that the process spends on the CPU. In a round the variants follow each other; a cell is the median of
the rounds' ratios.
"""

import argparse
import importlib
import pathlib
import statistics
import sys
import time

import numpy as np
import torch

import tapeflow as tf
from tapeflow.graph.codegen import compile as compile_module

SMALL = ("simplify", "reuse", "bind", "cluster")
OF_MODELS = ("recognize", "select", "join_layers", "cache", "cluster")
BATCHES, BATCH_SECONDS = 5, 0.02


def programs():
    """Functions that make a `tf.function`, which takes nothing, with variables of its own."""
    rng = np.random.default_rng(0)

    def normal(*shape, scale=1.0):
        return tf.constant(scale * rng.standard_normal(shape), tf.float32)

    def train_step(layers, forward, x, update):
        variables = [tf.Variable(v) for v in layers]
        slots = [(tf.Variable(tf.zeros_like(v)), tf.Variable(tf.zeros_like(v))) for v in variables]

        def step():
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.square(forward(x, variables)))
            for v, slot, g in zip(variables, slots, tape.gradient(loss, variables), strict=True):
                update(v, slot, g)
            return loss

        return tf.function(step)

    def sgd(v, slot, g):
        v.assign_sub(1e-6 * g)

    def adam(v, slot, g):
        mean, square = slot
        mean.assign_add((g - mean) * 0.1)
        square.assign_add((tf.square(g) - square) * 0.001)
        v.assign_sub(1e-6 * mean / (tf.sqrt(square) + 1e-7))

    def dense(x, variables):
        for w, b in zip(variables[::2], variables[1::2], strict=True):
            x = tf.nn.relu(x @ w + b)
        return x

    def conv(x, variables):
        for w, b in zip(variables[::2], variables[1::2], strict=True):
            x = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(x, w, 1, "SAME"), b))
        return x

    small = [normal(*s, scale=0.1) for _ in range(8) for s in ((32, 32), (32,))]
    wide = [normal(*s, scale=0.03) for _ in range(4) for s in ((1024, 1024), (1024,))]
    kernels = [normal(3, 3, 16, 16, scale=0.1), normal(16), normal(3, 3, 16, 16, scale=0.1), normal(16)]
    cell = [normal(1, 10), normal(1, 10), normal(1, 10), normal(10, 40), normal(10, 40), normal(40)]

    def lstm():
        x, h, c, kernel, recurrent, bias = cell
        i, f, g, o = tf.split(x @ kernel + h @ recurrent + bias, 4, axis=1)
        c = tf.sigmoid(f) * c + tf.sigmoid(i) * tf.tanh(g)
        return tf.sigmoid(o) * tf.tanh(c)

    large = normal(1000, 1000)
    return {
        "8 dense layers of 32, SGD": lambda: train_step(small, dense, normal(8, 32), sgd),
        "8 dense layers of 32, Adam": lambda: train_step(small, dense, normal(8, 32), adam),
        "4 dense layers of 1024, SGD": lambda: train_step(wide, dense, normal(64, 1024), sgd),
        "2 convolutions of 16 channels, SGD": lambda: train_step(kernels, conv, normal(32, 28, 28, 16), sgd),
        "LSTM cell": lambda: tf.function(lstm),
        "tanh(x * x + x) of 4 MB": lambda: tf.function(lambda: tf.tanh(large * large + large)),
    }


def models(names):
    """Functions that make training steps and predictions of models."""
    sys.path.append(str(pathlib.Path(__file__).parent / "programs"))
    zoo = importlib.import_module("zoo")
    loop_of = importlib.import_module("models").Loop
    for name in names or zoo.MODELS:
        loop = loop_of(tf, name)
        yield f"{name}: own loop", lambda loop=loop: tf.function(loop.eager)
        yield f"{name}: predict", lambda loop=loop: tf.function(lambda: loop.model(loop.x, training=False))


def compiled(make, without):
    """A function without one pass, as fast as it gets."""
    run_passes = compile_module.run_passes
    compile_module.run_passes = lambda program, some: run_passes(
        program, [p for p in some if p.__name__.removesuffix("_small") != without]
    )
    try:
        function = make()
        for _ in range(3):
            function()
    finally:
        compile_module.run_passes = run_passes
    return function


def seconds(function):
    """The time of a call: the fastest of a few batches."""
    start = time.process_time()
    function()
    repeats = max(1, int(BATCH_SECONDS / max(time.process_time() - start, 1e-7)))
    best = float("inf")
    for _ in range(BATCHES):
        start = time.process_time()
        for _ in range(repeats):
            function()
        best = min(best, (time.process_time() - start) / repeats)
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--models", nargs="*")
    options = parser.parse_args()
    torch.set_num_threads(1)
    columns, made = (SMALL, programs().items()) if options.models is None else (OF_MODELS, models(options.models))
    print("| without | all passes |", " | ".join(f"`{name}`" for name in columns), "|")
    print("| :-- |" + " --: |" * (len(columns) + 1))
    for name, make in made:
        variants = {without: compiled(make, without) for without in ("", *columns)}
        times = {without: [] for without in variants}
        for i in range(options.rounds):
            for without in list(variants)[:: 1 if i % 2 else -1]:
                times[without].append(seconds(variants[without]))
        ratios = [statistics.median(a / b for a, b in zip(times[c], times[""], strict=True)) for c in columns]
        cells = " | ".join(f"{ratio:.2f}" for ratio in ratios)
        print(f"| {name} | {statistics.median(times['']) * 1e3:,.3g} ms | {cells} |", flush=True)


if __name__ == "__main__":
    main()
