"""A batch of slices, what all of them share, and what functions of slices are compared by."""

import numpy as np

import tapeflow as tf

RNG = np.random.default_rng(0)
X = tf.constant(RNG.standard_normal((4, 3)))
C = tf.constant(RNG.standard_normal(3))
W = tf.Variable(RNG.standard_normal((3, 3)))
MATRICES = tf.TensorSpec([None, 3], tf.float64)
FORMS = {"eager": lambda f: f, "function": tf.function, "unknown": lambda f: tf.function(f, input_signature=[MATRICES])}


def gradient(f, x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return tape.gradient(y, x)


def slice_by_slice(f, x):
    return tf.stack([f(x[i]) for i in range(x.shape[0])])


def results(mapped, x):
    """What a function of a batch gives, its gradients by the batch and by what it captures, and those of these."""
    with tf.GradientTape() as outer:
        outer.watch([x, C])
        with tf.GradientTape() as tape:
            tape.watch([x, C])
            y = mapped(x)
            loss = tf.reduce_sum(y * y)
        first = [tf.convert_to_tensor(g) for g in tape.gradient(loss, [x, C, W], unconnected_gradients="zero")]
        total = tf.add_n([tf.reduce_sum(g * g) for g in first])
    second = outer.gradient(total, [x, C, W], unconnected_gradients="zero")
    return [y, *first, *(tf.convert_to_tensor(g) for g in second)]


def close(got, want, tolerance=1e-9):
    for a, b in zip(got, want, strict=True):
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)
