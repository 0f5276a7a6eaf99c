"""Functions to be compiled: loops (recurrent layers, descent, elementwise steps), loops over few numbers, a chain, a
dense network, and augmentations of images."""

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

    few, state = tf.constant(_normal(STEPS, 1, 32)), tf.constant([1.0, 0.0])

    def slope(y):
        return tf.stack([y[1], -tf.sin(y[0]) - 0.1 * y[1]])

    def runge_kutta(y, steps=1000):
        for _ in tf.range(steps):
            k1 = slope(y)
            k2 = slope(y + 0.005 * k1)
            k3 = slope(y + 0.005 * k2)
            y += 0.01 / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + slope(y + 0.01 * k3))
        return y

    def differentiated():
        with tf.GradientTape() as tape:
            tape.watch(state)
            loss = tf.reduce_sum(runge_kutta(state, 200) ** 2.0)
        return tape.gradient(loss, state)

    def scalars():
        x, total, i = tf.constant(0.3), tf.constant(0.0), tf.constant(0)
        while i < 5000:
            x = 3.7 * x * (1.0 - x)
            if x > 0.5:
                total += x
            i += 1
        return total

    def filtered():
        smooth, trend = few[0, 0, 0], tf.constant(0.0)
        states = tf.TensorArray(tf.float32, STEPS)
        for t in tf.range(STEPS):
            before = smooth
            smooth = 0.3 * few[t, 0, 0] + 0.7 * (smooth + trend)
            trend = 0.1 * (smooth - before) + 0.9 * trend
            states = states.write(t, smooth + trend)
        return states.stack()

    gates, inner = tf.constant(_normal(32, 256)), tf.constant(_normal(64, 256))

    def lstm_of_one():
        h = c = tf.zeros([1, WIDTH])
        states = tf.TensorArray(tf.float32, STEPS)
        for t in tf.range(STEPS):
            i, f, g, o = tf.split(few[t] @ gates + h @ inner, 4, axis=1)
            c = tf.sigmoid(f + 1.0) * c + tf.sigmoid(i) * tf.tanh(g)
            h = tf.sigmoid(o) * tf.tanh(c)
            states = states.write(t, h)
        return states.stack()

    def gru_of_one():
        h = tf.zeros([1, WIDTH])
        for t in tf.range(STEPS):
            both = tf.concat([few[t], h], 1)
            z, r = tf.split(tf.sigmoid(both @ pair), 2, axis=1)
            h += z * (tf.tanh(tf.concat([few[t], r * h], 1) @ last) - h)
        return h

    pair, last = tf.constant(_normal(96, 128)), tf.constant(_normal(96, 64))

    def hamiltonian():
        position, accepted = tf.constant([0.1, -0.2, 0.3]), tf.constant(0)
        for _ in tf.range(500):
            start = tf.random.normal([3])
            q, p = position, start
            for _ in tf.range(10):
                p -= 0.05 * q * (1.0 + 0.1 * q * q)
                q += 0.1 * p
                p -= 0.05 * q * (1.0 + 0.1 * q * q)
            before = tf.reduce_sum(position**2.0 / 2.0 + 0.025 * position**4.0 + start**2.0 / 2.0)
            after = tf.reduce_sum(q**2.0 / 2.0 + 0.025 * q**4.0 + p**2.0 / 2.0)
            if tf.math.log(tf.random.uniform([])) < before - after:
                position = q
                accepted += 1
        return position, accepted

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

    pictures = tf.constant(np.random.default_rng(0).random((16, 72, 72, 3), np.float32))
    means, deviations = tf.constant([0.485, 0.456, 0.406]), tf.constant([0.229, 0.224, 0.225])

    def augmented():
        x = tf.image.flip_left_right(pictures[:, 4:68, 4:68])
        x = tf.image.adjust_saturation(tf.image.adjust_hue(x, 0.1), 1.2)
        x = tf.image.adjust_brightness(tf.image.adjust_contrast(x, 0.9), 0.1)
        return (tf.clip_by_value(x, 0.0, 1.0) - means) / deviations

    def padded():
        x = tf.pad(pictures, [[0, 0], [4, 4], [4, 4], [0, 0]])[:, 6:70, 3:67]
        is_flipped = tf.reshape(tf.range(16) % 2 == 0, [16, 1, 1, 1])
        x = tf.image.adjust_brightness(tf.where(is_flipped, x[:, :, ::-1], x), 0.1)
        return (x - means) / deviations

    return {
        "elementwise chain of 4 MB": lambda: chain(tf, large),
        "6 dense layers: train step": dense,
        "LSTM of 80 steps: train step": training(lstm, 4),
        "GRU of 80 steps: train step": training(gru, 3),
        "100 steps of descent in a while": descent,
        "20 elementwise steps, 512x512": elementwise,
        "1,000 steps of Runge and Kutta": lambda: runge_kutta(state),
        "200 steps of Runge and Kutta: gradient": differentiated,
        "5,000 iterations of scalars and an if": scalars,
        "80 steps of a filter, in a TensorArray": filtered,
        "LSTM by hand, one sample, 80 steps": lstm_of_one,
        "GRU by hand, one sample, 80 steps": gru_of_one,
        "500 steps of Hamiltonian Monte Carlo": hamiltonian,
        "crops, flips and colors of 16 images": augmented,
        "pads, crops and flips of 16 images": padded,
    }
