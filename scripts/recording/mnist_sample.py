"""Make examples/data/mnist_sample.npz: a class-balanced sample of MNIST small enough to live in the repository.

    python scripts/record.py mnist_sample MNIST.npz [OUT.npz]

MNIST.npz holds the whole data set in Keras's layout (x_train, y_train, x_test, y_test). The same input gives the same
sample. Training images come from the training set only, test images from the test set only.
"""

import argparse
import pathlib

import numpy as np

TRAIN_PER_DIGIT = 700
TEST_PER_DIGIT = 140
SEED = 0
OUT = pathlib.Path(__file__).resolve().parents[2] / "examples" / "data" / "mnist_sample.npz"


def balanced_sample(images, labels, per_digit, rng):
    """Draws `per_digit` images of each digit, without replacement, in shuffled order."""
    picked = [rng.choice(np.flatnonzero(labels == digit), per_digit, replace=False) for digit in range(10)]
    index = rng.permutation(np.concatenate(picked))
    return images[index], labels[index]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mnist", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path, nargs="?", default=OUT)
    args = parser.parse_args()

    rng = np.random.default_rng(SEED)
    with np.load(args.mnist, allow_pickle=False) as full:
        x_train, y_train = balanced_sample(full["x_train"], full["y_train"], TRAIN_PER_DIGIT, rng)
        x_test, y_test = balanced_sample(full["x_test"], full["y_test"], TEST_PER_DIGIT, rng)
    np.savez_compressed(args.out, x_train=x_train, y_train=y_train, x_test=x_test, y_test=y_test)
    print(f"{args.out}: {len(y_train)} training and {len(y_test)} test images, {args.out.stat().st_size / 1e6:.2f} MB")
