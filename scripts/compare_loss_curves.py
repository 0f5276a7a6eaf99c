#!/usr/bin/env python3
"""Trains Keras models on MNIST with the same seeds under TapeFlow and TensorFlow, and compares their loss curves.

    compare_loss_curves.py --tensorflow PYTHON [--steps N] [--seeds N] [--data mnist.npz] [--sample]

PYTHON is an interpreter that has TensorFlow. The models are those of TensorFlow's documents: two convolutions, trained
eagerly with Adam, and a larger network, trained in a `tf.function` with RMSprop. Both frameworks draw the same random
numbers, so with one seed they begin with the same weights and see the same batches. A curve is the mean loss of every
ten steps. TapeFlow's mean curve over all seeds should lie between the lowest and the highest of TensorFlow's own,
everywhere; exit status 1 says that it does not.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import time

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[1]
BATCH, BLOCK, TESTED = 32, 10, 2000


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tensorflow", metavar="PYTHON", help="an interpreter that has TensorFlow")
    parser.add_argument("--steps", type=int, default=300, help="training steps (%(default)s)")
    parser.add_argument("--seeds", type=int, default=5, help="how many runs of each model (%(default)s)")
    parser.add_argument("--data", type=pathlib.Path, help="mnist.npz; by default what the example downloads")
    parser.add_argument("--sample", action="store_true", help="train on the repository's sample of MNIST")
    parser.add_argument("--worker", choices=["tapeflow", "tensorflow"], help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.worker:
        print(json.dumps(train_all(args)))
        return 0
    if not args.tensorflow:
        parser.error("--tensorflow PYTHON is needed")
    args.data = args.data or find_data(args.sample)
    theirs, ours = (in_a_process(args, python, name) for python, name in
                    ((args.tensorflow, "tensorflow"), (sys.executable, "tapeflow")))  # fmt: skip
    return max(compare(model, ours[model], theirs[model]) for model in MODELS)


def find_data(sample):
    """Where the example keeps its digits."""
    sys.path.insert(0, str(ROOT / "examples"))
    import mnist_data

    _, is_sample = mnist_data.load(sample=sample)
    return mnist_data.SAMPLE if is_sample else mnist_data.cache_path()


def in_a_process(args, python, framework):
    command = [
        python,
        __file__,
        "--worker",
        framework,
        "--steps",
        args.steps,
        "--seeds",
        args.seeds,
        "--data",
        args.data,
    ]
    path = os.pathsep.join(filter(None, [str(ROOT / "src"), os.environ.get("PYTHONPATH")]))
    environment = os.environ | {"PYTHONPATH": path, "TF_CPP_MIN_LOG_LEVEL": "3"}
    done = subprocess.run(list(map(str, command)), env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


# --- training ---------------------------------------------------------------------------------------------------------


def train_all(args):
    if args.worker == "tapeflow":
        import tapeflow as tf
    else:
        import tensorflow as tf
    with np.load(args.data) as file:
        digits = {name: file[name] for name in file.files}
    return {
        name: [train(tf, make, digits, seed, args.steps) for seed in range(args.seeds)] for name, make in MODELS.items()
    }


def train(tf, make, digits, seed, steps):
    """The loss of each step, the share of test images that it knows then, and how many seconds it took."""
    tf.keras.utils.set_random_seed(seed)
    model, optimizer, compiled = make(tf)
    loss_of = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    def step(images, labels):
        with tf.GradientTape() as tape:
            loss = loss_of(labels, model(images, training=True))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        return loss

    if compiled:
        step = tf.function(step)
    dataset = tf.data.Dataset.from_tensor_slices(as_tensors(tf, digits["x_train"], digits["y_train"]))
    started = time.perf_counter()
    losses = [float(step(*batch)) for batch in dataset.shuffle(1000, seed=seed).repeat().batch(BATCH).take(steps)]
    seconds = time.perf_counter() - started
    images, labels = as_tensors(tf, digits["x_test"][:TESTED], digits["y_test"][:TESTED])
    guesses = np.argmax(model(images, training=False).numpy(), axis=1)
    return {"losses": losses, "accuracy": float(np.mean(guesses == labels.numpy())), "seconds": seconds}


def as_tensors(tf, images, labels):
    return tf.cast(images[..., np.newaxis] / 255, tf.float32), tf.cast(labels, tf.int64)


def small_network(tf):
    layers = tf.keras.layers
    convolutions = [layers.Conv2D(16, 3, activation="relu"), layers.Conv2D(16, 3, activation="relu")]
    model = tf.keras.Sequential(
        [tf.keras.Input([None, None, 1]), *convolutions, layers.GlobalAveragePooling2D(), layers.Dense(10)]
    )
    return model, tf.keras.optimizers.Adam(), False


def larger_network(tf):
    layers = tf.keras.layers
    convolutions = [
        layers.Conv2D(32, 3, activation="relu"), layers.MaxPooling2D(),
        layers.Conv2D(64, 3, activation="relu"), layers.MaxPooling2D(),
    ]  # fmt: skip
    dense = [layers.Dense(64, activation="relu"), layers.Dense(10)]
    model = tf.keras.Sequential([tf.keras.Input([28, 28, 1]), *convolutions, layers.Flatten(), *dense])
    rate = tf.keras.optimizers.schedules.ExponentialDecay(1e-4, decay_steps=100000, decay_rate=0.96, staircase=True)
    return model, tf.keras.optimizers.RMSprop(rate), True


MODELS = {"small network, eager, Adam": small_network, "larger network, tf.function, RMSprop": larger_network}


# --- comparing --------------------------------------------------------------------------------------------------------


def compare(model, ours, theirs):
    """Prints how the curves lie to each other; returns 1 if TapeFlow's mean curve leaves TensorFlow's band."""
    a, b = curves(ours), curves(theirs)
    low, high = b.min(axis=0), b.max(axis=0)
    mean = a.mean(axis=0)
    outside = int(np.sum((mean < low) | (mean > high)))
    inside = np.mean((a >= low) & (a <= high))
    apart, width = np.abs(a - b).mean(), np.mean(high - low)
    print(f"{model}, {len(ours)} seeds, {a.shape[1] * BLOCK} steps")
    print(f"  TapeFlow's mean curve inside TensorFlow's band:  {mean.size - outside} of {mean.size} blocks")
    print(f"  all of TapeFlow's curves inside the band:        {inside:.1%}")
    print(f"  same seed, mean difference of a block's loss:    {apart:.2e} (width of the band {width:.2e})")
    for what, of in (
        ("loss at the end", lambda runs: [np.mean(run["losses"][-BLOCK:]) for run in runs]),
        ("test accuracy", lambda runs: each(runs, "accuracy")),
        ("milliseconds a step", lambda runs: [1e3 * run["seconds"] / len(run["losses"]) for run in runs]),
    ):
        print(f"  {what + ', TapeFlow and TensorFlow:':<48} {spread(of(ours))} {spread(of(theirs))}")  # fmt: skip
    return int(outside > 0)


def curves(runs):
    losses = np.array(each(runs, "losses"))
    blocks = losses.shape[1] // BLOCK
    return losses[:, : blocks * BLOCK].reshape(len(runs), blocks, BLOCK).mean(axis=2)


def each(runs, what):
    return [run[what] for run in runs]


def spread(values):
    return f"{np.mean(values):.4f} ({np.min(values):.4f} to {np.max(values):.4f})"


if __name__ == "__main__":
    sys.exit(main())
