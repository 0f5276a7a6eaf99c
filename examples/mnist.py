#!/usr/bin/env python3
"""Train a small convolutional network on the MNIST digits, eagerly, with nothing but TensorFlow ops.

    python examples/mnist.py [--epochs N] [--batch N] [--learning-rate X] [--seed N] [--out FOLDER] [--sample]

Shows a progress bar, writes the loss curve to FOLDER/loss.png and prints the accuracy on the test set. The digits are
downloaded once (11 MB); without a network the sample of MNIST in examples/data is used.

To run the same file under TensorFlow, change the one import to `import tensorflow as tf`.
"""

import argparse
import math
import pathlib
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


# --- the model -------------------------------------------------------------------------------


class ConvNet:
    """Two 3x3 convolutions of stride 2, each halving the image, then one dense layer: 10 logits for each image."""

    def __init__(self):
        self.kernel1 = tf.Variable(he_normal([3, 3, 1, 16]))
        self.bias1 = tf.Variable(tf.zeros([16]))
        self.kernel2 = tf.Variable(he_normal([3, 3, 16, 32]))
        self.bias2 = tf.Variable(tf.zeros([32]))
        self.weights = tf.Variable(he_normal([7 * 7 * 32, 10]))
        self.bias = tf.Variable(tf.zeros([10]))
        self.variables = [self.kernel1, self.bias1, self.kernel2, self.bias2, self.weights, self.bias]

    def __call__(self, images):
        """[batch, 28, 28, 1] float32 images -> [batch, 10] logits."""
        x = tf.nn.conv2d(images, self.kernel1, strides=2, padding="SAME")
        x = tf.nn.relu(tf.nn.bias_add(x, self.bias1))
        x = tf.nn.conv2d(x, self.kernel2, strides=2, padding="SAME")
        x = tf.nn.relu(tf.nn.bias_add(x, self.bias2))
        return tf.matmul(tf.reshape(x, [-1, 7 * 7 * 32]), self.weights) + self.bias


def he_normal(shape):
    """Normal numbers whose variance suits a ReLU layer with this many inputs (He et al. 2015, equation 10)."""
    return tf.random.normal(shape, stddev=math.sqrt(2 / math.prod(shape[:-1])))


class Adam:
    """Adam (Kingma and Ba 2015), with the bias correction folded into the step size as in the paper's section 2."""

    def __init__(self, variables, learning_rate, beta1=0.9, beta2=0.999, epsilon=1e-7):
        self.variables = variables
        self.learning_rate, self.beta1, self.beta2, self.epsilon = learning_rate, beta1, beta2, epsilon
        self.means = [tf.Variable(tf.zeros_like(v)) for v in variables]
        self.squares = [tf.Variable(tf.zeros_like(v)) for v in variables]
        self.steps = 0

    def apply(self, gradients):
        self.steps += 1
        rate = self.learning_rate * math.sqrt(1 - self.beta2**self.steps) / (1 - self.beta1**self.steps)
        for variable, mean, square, gradient in zip(self.variables, self.means, self.squares, gradients, strict=True):
            mean.assign_add((gradient - mean) * (1 - self.beta1))
            square.assign_add((gradient * gradient - square) * (1 - self.beta2))
            variable.assign_sub(rate * mean / (tf.sqrt(square) + self.epsilon))


# --- training --------------------------------------------------------------------------------


def train_step(model, optimizer, images, labels):
    with tf.GradientTape() as tape:
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=model(images))
        loss = tf.reduce_mean(losses)
    optimizer.apply(tape.gradient(loss, model.variables))
    return float(loss)


def train(model, optimizer, images, labels, epochs, batch, rng):
    """Goes through the data `epochs` times in random order and returns the loss of every step."""
    losses = []
    steps = math.ceil(len(labels) / batch)
    for epoch in range(1, epochs + 1):
        order = rng.permutation(len(labels))
        with tqdm(range(steps), desc=f"epoch {epoch}/{epochs}", unit="step", mininterval=0.5) as bar:
            for step in bar:
                picked = order[step * batch : (step + 1) * batch]
                loss = train_step(model, optimizer, as_images(images[picked]), as_labels(labels[picked]))
                if not math.isfinite(loss):
                    sys.exit(f"The loss became {loss} in step {step + 1}: try a lower --learning-rate.")
                losses.append(loss)
                bar.set_postfix(loss=f"{np.mean(losses[-100:]):.3f}", refresh=False)
    return losses


def accuracy(model, images, labels):
    """The share of images whose largest logit is that of their label."""
    correct = 0
    for start in range(0, len(labels), EVALUATION_BATCH):
        part = slice(start, start + EVALUATION_BATCH)
        guesses = tf.argmax(model(as_images(images[part])), axis=1)
        correct += int(tf.reduce_sum(tf.cast(tf.equal(guesses, as_labels(labels[part])), tf.int32)))
    return correct / len(labels)


def as_images(pixels):
    """uint8 [n, 28, 28] -> float32 [n, 28, 28, 1] between 0 and 1."""
    return tf.cast(tf.constant(pixels[..., np.newaxis]), tf.float32) / 255.0


def as_labels(labels):
    return tf.constant(labels, dtype=tf.int64)


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
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--epochs", type=positive(int), help=f"passes over the data ({EPOCHS}; {SAMPLE_EPOCHS} on the sample)"
    )
    parser.add_argument("--batch", type=positive(int), default=64, help="images in a step (%(default)s)")
    parser.add_argument("--learning-rate", type=positive(float), default=2e-3, help="Adam's step size (%(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="for the weights and the order of the data (%(default)s)")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("runs/mnist"), help="folder (%(default)s)")
    parser.add_argument("--sample", action="store_true", help="use the repository's sample of MNIST, not all of it")
    return parser.parse_args()


def main():
    args = parse_arguments()
    try:
        args.out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        sys.exit(f"Cannot make the folder --out {args.out}: {error.strerror}")
    try:
        mnist, is_sample = mnist_data.load(sample=args.sample)
    except mnist_data.ChecksumError as error:
        sys.exit(f"{error}\nRun again later, or with --sample.")
    epochs = args.epochs or (SAMPLE_EPOCHS if is_sample else EPOCHS)
    print(f"{len(mnist.y_train):,} training and {len(mnist.y_test):,} test images, {epochs} epochs.")

    tf.random.set_seed(args.seed)
    model = ConvNet()
    optimizer = Adam(model.variables, args.learning_rate)
    rng = np.random.default_rng(args.seed)
    losses = train(model, optimizer, mnist.x_train, mnist.y_train, epochs, args.batch, rng)

    picture = args.out / "loss.png"
    save_loss_curve(losses, epochs, picture)
    print(f"Loss curve: {picture}")
    print(f"Test accuracy: {accuracy(model, mnist.x_test, mnist.y_test):.2%} of {len(mnist.y_test):,} images")


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("Stopped.")
