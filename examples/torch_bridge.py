#!/usr/bin/env python3
"""One program in PyTorch and TensorFlow: a residual block of torch, trained by Keras, goes on as a module of torch.

    python examples/torch_bridge.py

Trains a Keras model with a torch block inside to tell rings from discs, turns a Keras model into a `torch.nn.Module`,
trains that with torch's optimizer, and writes it as a Python file that needs torch alone.
"""

import tempfile

import numpy as np
import torch

import tapeflow as tf


class Block(torch.nn.Module):
    """Two convolutions with a shortcut around them, on images with channels first."""

    def __init__(self, channels):
        super().__init__()
        self.convolve = torch.nn.Sequential(
            torch.nn.Conv2d(channels, channels, 3, padding=1),
            torch.nn.BatchNorm2d(channels),
            torch.nn.ReLU(),
            torch.nn.Conv2d(channels, channels, 3, padding=1),
        )

    def forward(self, x):
        return torch.relu(x + self.convolve(x))


def shapes(count):
    """Images `[count, 12, 12, 1]` of rings (1) and discs (0), with noise."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, count)
    y, x = np.mgrid[-6:6, -6:6]
    distance = np.hypot(x - rng.uniform(-1, 1, (count, 1, 1)), y - rng.uniform(-1, 1, (count, 1, 1)))
    images = (distance < 4) & ((distance > 2) | (labels == 0)[:, None, None])
    return (images + rng.normal(0, 0.3, images.shape))[..., None].astype("float32"), labels


def with_block():
    """A Keras model with a torch block, whose parameters are Keras's variables."""
    layers = tf.keras.layers
    return tf.keras.Sequential(
        [
            tf.keras.Input((12, 12, 1)),
            layers.Conv2D(8, 3, strides=2),
            layers.Permute((3, 1, 2)),
            tf.torch.Layer(Block(8)),
            layers.Flatten(),
            layers.Dense(2),
        ]
    )


def of_keras():
    """A Keras model without torch."""
    layers = tf.keras.layers
    return tf.keras.Sequential(
        [tf.keras.Input((12, 12, 1)), layers.Conv2D(8, 3, strides=2), layers.ReLU(), layers.Flatten(), layers.Dense(2)]
    )


def main():
    images, labels = shapes(512)

    model = with_block()
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(tf.keras.optimizers.Adam(0.01), loss, metrics=["accuracy"])
    accuracy = model.fit(images, labels, epochs=3, verbose=0).history["accuracy"]
    print(f"Keras trains the torch block: accuracy {accuracy[-1]:.2f}")

    module = tf.torch.module(of_keras()).train()
    x, y = torch.from_numpy(images), torch.from_numpy(labels)
    optimizer = torch.optim.Adam(module.parameters(), 0.01)
    for _ in range(30):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(module(x), y).backward()
        optimizer.step()
    accuracy = (module.eval()(x).argmax(1) == y).float().mean()
    print(f"torch trains the Keras model: accuracy {accuracy:.2f}")
    print(module.source())

    with tempfile.TemporaryDirectory() as folder:
        difference = tf.torch.convert(module, "torch", folder)
        print(f"model.py, which needs torch alone, differs by {difference:.1g}")


if __name__ == "__main__":
    main()
