#!/usr/bin/env python3
"""Train a small convolutional network on the MNIST digits: Keras layers, and an eager loop with a gradient tape.

    python examples/mnist.py [--epochs N] [--batch N] [--learning-rate X] [--seed N] [--out FOLDER] [--restart]
    [--sample]

Shows a progress bar, draws the loss curve into FOLDER/loss.png, logs for TensorBoard into FOLDER/logs, and prints the
accuracy on the test set. Each epoch ends with a checkpoint in FOLDER/checkpoints; the next run goes on from there. The
digits are downloaded once (11 MB); without a network the sample of MNIST in examples/data is used.

To run the same file under TensorFlow, change the one import to `import tensorflow as tf`.
"""

import argparse
import math
import pathlib
import shutil
import sys

import numpy as np

import tapeflow as tf

try:
    import mnist_data
    from matplotlib.figure import Figure
    from tqdm import tqdm
except ModuleNotFoundError as missing:
    sys.exit(f"This example needs {missing.name}: pip install 'tapeflow[examples]'")

EVALUATION_BATCH = 500
EPOCHS, SAMPLE_EPOCHS = 2, 8  # the sample is a ninth of the data, so it is gone through more often


# --- the model and what is saved of it -------------------------------------------------------


def make_model():
    """Two 3x3 convolutions of stride 2, each halving the image, then one dense layer: 10 logits for each image."""
    return tf.keras.Sequential(
        [
            tf.keras.Input([28, 28, 1]),
            tf.keras.layers.Conv2D(16, 3, strides=2, padding="same", activation="relu"),
            tf.keras.layers.Conv2D(32, 3, strides=2, padding="same", activation="relu"),
            tf.keras.layers.Flatten(),
            tf.keras.layers.Dense(10),
        ]
    )


class Losses(tf.train.experimental.PythonState):
    """The loss of every step so far, in checkpoints too, so that a run that goes on draws the whole curve."""

    def __init__(self):
        self.values = []

    def serialize(self):
        return np.array(self.values, "<f4").tobytes()

    def deserialize(self, data):
        self.values = np.frombuffer(data, "<f4").tolist()


class Run:
    """A training run: the model, its optimizer, and how far it has come."""

    def __init__(self, args, digits):
        tf.keras.utils.set_random_seed(args.seed)
        self.args, self.digits = args, digits
        self.model = make_model()
        self.optimizer = tf.keras.optimizers.Adam(args.learning_rate)
        self.optimizer.build(self.model.trainable_variables)
        self.loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        self.losses = Losses()
        self.epoch = tf.Variable(0, dtype=tf.int64, trainable=False)
        self.checkpoint = tf.train.Checkpoint(
            model=self.model, optimizer=self.optimizer, losses=self.losses, epoch=self.epoch
        )
        self.manager = tf.train.CheckpointManager(self.checkpoint, args.out / "checkpoints", max_to_keep=2)

    def restore(self):
        """Goes on from the last checkpoint, if there is one."""
        try:
            found = self.manager.restore_or_initialize()
        except (tf.errors.OpError, ValueError) as error:
            sys.exit(
                f"{self.manager.latest_checkpoint} cannot be restored: {error}\n--restart begins again without it."
            )
        if found:
            self.optimizer.learning_rate = self.args.learning_rate  # this run's, not that of the checkpoint
            print(f"Going on after epoch {int(self.epoch)}, from {found} (--restart begins again).")

    def train(self, epochs):
        """Trains until so many epochs are done, and saves after each."""
        images, labels = as_images(self.digits.x_train), as_labels(self.digits.y_train)
        while (epoch := int(self.epoch)) < epochs:
            # A seed for each epoch: the order is the same, whether the run was broken off before or not.
            dataset = tf.data.Dataset.from_tensor_slices((images, labels))
            dataset = dataset.shuffle(len(labels), seed=self.args.seed + epoch).batch(self.args.batch)
            with tqdm(dataset, desc=f"epoch {epoch + 1}/{epochs}", unit="step", mininterval=0.5) as bar:
                for batch in bar:
                    loss = self.train_step(*batch)
                    self.losses.values.append(loss)
                    tf.summary.scalar("loss", loss, step=len(self.losses.values))
                    bar.set_postfix(loss=f"{np.mean(self.losses.values[-100:]):.3f}", refresh=False)
            tf.summary.scalar("test accuracy", self.accuracy(), step=len(self.losses.values))
            self.epoch.assign_add(1)
            self.manager.save()

    def train_step(self, images, labels):
        with tf.GradientTape() as tape:
            loss = self.loss(labels, self.model(images, training=True))
        gradients = tape.gradient(loss, self.model.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.model.trainable_variables, strict=True))
        if not math.isfinite(loss := float(loss)):
            sys.exit(f"The loss became {loss} in step {len(self.losses.values) + 1}: try a lower --learning-rate.")
        return loss

    def accuracy(self):
        """The share of test images whose largest logit is that of their label."""
        metric = tf.keras.metrics.SparseCategoricalAccuracy()
        dataset = tf.data.Dataset.from_tensor_slices((as_images(self.digits.x_test), as_labels(self.digits.y_test)))
        for images, labels in dataset.batch(EVALUATION_BATCH):
            metric.update_state(labels, self.model(images, training=False))
        return float(metric.result())


def as_images(pixels):
    """uint8 [n, 28, 28] -> float32 [n, 28, 28, 1] between 0 and 1."""
    return tf.cast(pixels[..., tf.newaxis], tf.float32) / 255.0


def as_labels(labels):
    return tf.cast(labels, tf.int64)


def save_loss_curve(losses, epochs, path):
    width = min(50, len(losses))
    smooth = np.convolve(losses, np.full(width, 1 / width), mode="valid")
    figure = Figure(figsize=(8, 4.5), layout="constrained")
    axes = figure.add_subplot()
    passed = np.arange(1, len(losses) + 1) * epochs / len(losses)
    axes.plot(passed, losses, color="tab:blue", alpha=0.3, linewidth=0.8, label="each step")
    axes.plot(passed[width - 1 :], smooth, color="tab:blue", label=f"mean of {width} steps")
    axes.set(xlabel="epoch", ylabel="cross-entropy", yscale="log", title="MNIST, training loss")
    axes.legend()
    figure.savefig(path, dpi=120)


# --- the command line ------------------------------------------------------------------------


def positive(kind):
    def parse(text):
        value = kind(text)
        if not (math.isfinite(value) and value > 0):
            raise argparse.ArgumentTypeError(f"{text} is not above 0")
        return value

    parse.__name__ = kind.__name__  # argparse says "invalid int value" with it
    return parse


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0],
        epilog="A run in the same --out goes on from the last epoch that was finished there: with more --epochs it "
        "trains the rest of them, and once all are done it only tests. --restart begins again.",
    )
    parser.add_argument(
        "--epochs", type=positive(int), help=f"passes over the data, in all ({EPOCHS}; {SAMPLE_EPOCHS} on the sample)"
    )
    parser.add_argument("--batch", type=positive(int), default=64, help="images in a step (%(default)s)")
    parser.add_argument("--learning-rate", type=positive(float), default=2e-3, help="Adam's step size (%(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="for the weights and the order of the data (%(default)s)")
    parser.add_argument("--out", type=pathlib.Path, help="folder (runs/mnist; runs/mnist_sample on the sample)")
    parser.add_argument("--restart", action="store_true", help="forget what was trained in --out before")
    parser.add_argument("--sample", action="store_true", help="use the repository's sample of MNIST, not all of it")
    return parser.parse_args()


def prepare(out, restart):
    """Makes the folder, and with `restart` removes the checkpoints and logs of the runs before."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        for part in ("checkpoints", "logs"):
            if restart and (out / part).exists():
                shutil.rmtree(out / part)
    except OSError as error:
        sys.exit(f"Cannot use the folder --out {out}: {error.strerror}")


def main():
    args = parse_arguments()
    try:
        digits, is_sample = mnist_data.load(sample=args.sample)
    except mnist_data.ChecksumError as error:
        sys.exit(f"{error}\nRun again later, or with --sample.")
    args.out = args.out or pathlib.Path("runs", "mnist_sample" if is_sample else "mnist")
    prepare(args.out, args.restart)
    epochs = args.epochs or (SAMPLE_EPOCHS if is_sample else EPOCHS)
    print(f"{len(digits.y_train):,} training and {len(digits.y_test):,} test images, {epochs} epochs.")

    run = Run(args, digits)
    run.restore()
    with tf.summary.create_file_writer(str(args.out / "logs")).as_default():
        run.train(epochs)

    picture = args.out / "loss.png"
    save_loss_curve(run.losses.values, int(run.epoch), picture)
    print(f"Loss curve: {picture}. TensorBoard: tensorboard --logdir {args.out / 'logs'}")
    print(f"Test accuracy: {run.accuracy():.2%} of {len(digits.y_test):,} images")


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("Stopped.")
