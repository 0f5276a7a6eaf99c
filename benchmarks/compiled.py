"""Functions to be compiled: loops (recurrent layers, descent, elementwise steps), a chain and a dense network."""

import numpy as np
from programs.functions import chain

STEPS, BATCH, WIDTH = 80, 16, 64
EPOCHS = 100


def _normal(*shape):
    return (0.3 * np.random.default_rng(0).standard_normal(shape)).astype(np.float32)


def functions(tf):
    """Returns functions without arguments, by their names."""
    x = tf.constant(_normal(STEPS, BATCH, 32))
    samples, labels = tf.constant(_normal(256, 64)), tf.constant((_normal(256, 8) > 0).astype(np.float32))
    large, vectors = tf.constant(_normal(1024, 1024)), tf.constant(_normal(64, 128))
    image, first = tf.constant(_normal(512, 512)), tf.constant(_normal(64, 8))

    def lstm(w, u, b):
        h = c = tf.zeros([BATCH, WIDTH])
        states = tf.TensorArray(tf.float32, STEPS)
        for t in tf.range(STEPS):
            i, f, g, o = tf.split(x[t] @ w + h @ u + b, 4, axis=1)
            c = tf.sigmoid(f) * c + tf.sigmoid(i) * tf.tanh(g)
            h = tf.sigmoid(o) * tf.tanh(c)
            states = states.write(t, h)
        return states.stack()

    def gru(w, u, b):
        h = tf.zeros([BATCH, WIDTH])
        states = tf.TensorArray(tf.float32, STEPS)
        for t in tf.range(STEPS):
            inputs, recurrent = tf.split(x[t] @ w + b, 3, axis=1), tf.split(h @ u, 3, axis=1)
            z, r = (tf.sigmoid(inputs[i] + recurrent[i]) for i in range(2))
            h = z * h + (1.0 - z) * tf.tanh(inputs[2] + r * recurrent[2])
            states = states.write(t, h)
        return states.stack()

    def training(layer, gates):
        shapes = (32, gates * WIDTH), (WIDTH, gates * WIDTH), (gates * WIDTH,)
        weights = [tf.Variable(_normal(*shape)) for shape in shapes]

        def step():
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.square(layer(*weights)))
            for w, g in zip(weights, tape.gradient(loss, weights), strict=True):
                w.assign_sub(1e-6 * g)
            return loss

        return step

    def descent():
        w, velocity, epoch = first, tf.zeros_like(first), tf.constant(0)
        while epoch < EPOCHS:
            g = tf.transpose(samples) @ (tf.sigmoid(samples @ w) - labels) / 256.0
            velocity = 0.9 * velocity + g + 1e-4 * w
            w -= 0.1 * (g + 0.9 * velocity)
            epoch += 1
        return w

    def elementwise():
        y = image
        for _ in tf.range(20):
            y = tf.tanh(y * 1.01 + 0.1) * 0.9 + tf.exp(-y * y) * 0.1
        return y

    layers = [tf.Variable(_normal(128, 128)) for _ in range(6)]

    def dense():
        with tf.GradientTape() as tape:
            h = vectors
            for w in layers:
                h = tf.nn.gelu(h @ w)
            loss = tf.reduce_mean(h * h)
        for w, g in zip(layers, tape.gradient(loss, layers), strict=True):
            w.assign_sub(1e-6 * g)
        return loss

    return {
        "elementwise chain of 4 MB": lambda: chain(tf, large),
        "6 dense layers: train step": dense,
        "LSTM of 80 steps: train step": training(lstm, 4),
        "GRU of 80 steps: train step": training(gru, 3),
        "100 steps of descent in a while": descent,
        "20 elementwise steps, 512x512": elementwise,
    }
