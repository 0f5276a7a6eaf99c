"""Convolutions with filters in variables give in a function what they give eagerly, packed or not."""

import numpy as np
import pytest

import tapeflow as tf

IMAGE = np.random.default_rng(0).normal(size=(3, 8, 7, 4)).astype("float32")
FILTERS = np.random.default_rng(1).normal(size=(3, 2, 4, 2)).astype("float32") / 8
CALLS = {
    "plain": lambda x, w: tf.nn.conv2d(x, w, [1, 2], "SAME"),
    "depthwise": lambda x, w: tf.nn.depthwise_conv2d(x, w, [1, 2, 2, 1], "SAME"),
    "with an activation": lambda x, w: tf.nn.relu(tf.nn.conv2d(x, w, 2, "VALID")),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("shapes", ["static", "unknown image", "unknown filters"])
def test_results(name, dtype, shapes):
    call, image = CALLS[name], tf.cast(IMAGE, dtype)
    known = shapes != "unknown filters"
    w = tf.Variable(tf.cast(FILTERS, dtype), shape=FILTERS.shape if known else tf.TensorShape([None] * 4))
    spec = tf.TensorSpec([3, 8, 7, 4] if shapes == "static" else None, dtype)
    function = tf.function(lambda x: call(x, w), input_signature=[spec])
    tolerance = {"float16": 2e-2, "bfloat16": 1e-1, "float32": 1e-5, "float64": 1e-12}[dtype]
    for factor in (1.0, 2.0):
        w.assign(tf.cast(FILTERS * factor, dtype))
        for _ in range(2):  # the second call has packed filters
            got, want = function(image), call(image, w)
            assert got.dtype == want.dtype and got.shape == want.shape
            np.testing.assert_allclose(tf.cast(got, "float64"), tf.cast(want, "float64"), rtol=0, atol=tolerance)
