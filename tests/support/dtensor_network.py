"""A small network with normalized batches, its weights in layouts, and a training loop."""

import numpy as np

import tapeflow as tf
from tapeflow.experimental import dtensor

STEPS = 4
BATCH = 32


class Network(tf.Module):
    """Two layers; plain variables without a mesh."""

    def __init__(self, mesh, layouts):
        super().__init__()
        rng = np.random.default_rng(0)
        values = [
            rng.normal(size=s).astype("float32") * scale
            for s, scale in (((16, 12), 0.3), ((12,), 0.1), ((12, 4), 0.3), ((4,), 0.1))
        ]
        if mesh is None:
            self.variables_ = [tf.Variable(v) for v in values]
        else:
            placed = [dtensor.Layout(specs, mesh) for specs in layouts]
            self.variables_ = [dtensor.DVariable(v, layout=p) for v, p in zip(values, placed, strict=True)]
        self.w1, self.b1, self.w2, self.b2 = self.variables_

    def __call__(self, x):
        hidden = tf.nn.relu(tf.matmul(x, self.w1) + self.b1)
        mean, variance = tf.nn.moments(hidden, axes=[0])
        hidden = tf.nn.batch_normalization(hidden, mean, variance, None, None, 1e-5)
        return tf.matmul(hidden, self.w2) + self.b2


def train(network, features, labels, compiled=False, steps=STEPS):
    """Returns the losses of some steps, and the gradients of the last one."""
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(BATCH, 16)).astype("float32"), rng.integers(0, 4, size=BATCH).astype("int32")
    if features is not None:
        x, y = dtensor.relayout(x, features), dtensor.relayout(y, labels)

    def step(x, y):
        with tf.GradientTape() as tape:
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(y, network(x))
            loss = tf.reduce_sum(losses) / BATCH
        gradients = tape.gradient(loss, network.variables_)
        for variable, gradient in zip(network.variables_, gradients, strict=True):
            variable.assign_sub(0.2 * gradient)
        return loss, gradients

    step = tf.function(step) if compiled else step
    results = [step(x, y) for _ in range(steps)]
    return [float(loss) for loss, _ in results], results[-1][1]
