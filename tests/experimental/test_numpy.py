"""`tf.experimental.numpy`: gradients, and dimensions that are not static.

What the functions give is recorded in `goldens/cases_numpy.py`.
"""

import numpy as np

import tapeflow as tf
from tapeflow.experimental import numpy as tnp


def test_gradients_pass_through():
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tnp.sum(tnp.take_along_axis(tnp.exp(x), tnp.argsort(x, axis=0), 0) * tnp.kron(x, [1.0]))
    np.testing.assert_allclose(tape.gradient(y, x), np.exp(x) * (1 + x), rtol=1e-6)


def test_dimensions_may_be_unknown_in_graphs():
    spec = tf.TensorSpec([None, None])
    function = tf.function(lambda x: (tnp.tile(x, 2), tnp.atleast_3d(x), tnp.kron(x, x), tnp.take(x, [1])), [spec])
    x = tf.constant([[1.0, 2.0]])
    for traced, eager in zip(
        function(x), (np.tile(x, 2), np.atleast_3d(x), np.kron(x, x), np.take(x, [1])), strict=True
    ):
        np.testing.assert_array_equal(traced, eager)
