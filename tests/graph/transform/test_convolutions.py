"""Convolutions of all slices at once: with one filter for all, and with a filter for each; and their gradients."""

import numpy as np
import pytest

import tapeflow as tf

RNG = np.random.default_rng(0)
COUNT = 3


def normal(*shape):
    return tf.constant(RNG.standard_normal(shape))


# Convolutions of an input by filters: their shapes for one slice.
CONVOLUTIONS = {
    "same": (lambda x, w: tf.nn.conv2d(x, w, 2, "SAME"), [2, 7, 6, 4], [3, 2, 4, 5]),
    "valid": (lambda x, w: tf.nn.conv2d(x, w, [1, 1, 2, 1], "VALID"), [2, 7, 6, 4], [3, 2, 4, 5]),
    "of groups": (lambda x, w: tf.nn.conv2d(x, w, 1, "SAME"), [2, 7, 6, 4], [3, 2, 2, 6]),
    "dilated and padded": (lambda x, w: tf.nn.conv2d(x, w, 1, [[0, 0], [1, 2], [0, 1], [0, 0]], dilations=2),
                           [2, 7, 6, 4], [3, 2, 4, 6]),
    "channels first": (lambda x, w: tf.nn.conv2d(x, w, 1, "SAME", data_format="NCHW"), [2, 4, 7, 6], [3, 2, 4, 6]),
    "depthwise": (lambda x, w: tf.nn.depthwise_conv2d(x, w, [1, 2, 2, 1], "SAME"), [2, 7, 6, 4], [3, 2, 4, 2]),
    "transposed": (lambda x, w: tf.nn.conv2d_transpose(x, w, [2, 14, 12, 3], 2, "SAME"), [2, 7, 6, 4], [3, 2, 3, 4]),
    "one dimension": (lambda x, w: tf.nn.conv1d(x, w, 1, "SAME"), [2, 7, 4], [3, 4, 5]),
    "three dimensions": (lambda x, w: tf.nn.conv3d(x, w, [1] * 5, "SAME"), [2, 3, 4, 4, 2], [2, 2, 2, 2, 3]),
    "three dimensions, transposed": (lambda x, w: tf.nn.conv3d_transpose(x, w, [2, 3, 4, 4, 2], [1] * 5, "SAME"),
                                     [2, 3, 4, 4, 3], [2, 2, 2, 2, 3]),
}  # fmt: skip


def close(found, want):
    for a, b in zip(found, want, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)


def with_gradients(convolve, given):
    """What a function gives of an input and filters, and their gradients."""
    with tf.GradientTape() as tape:
        tape.watch(given)
        y = convolve(*given)
        loss = tf.reduce_sum(y * y)
    return [y, *map(tf.convert_to_tensor, tape.gradient(loss, given))]


@pytest.mark.parametrize("form", [lambda f: f, tf.function], ids=["eager", "function"])
@pytest.mark.parametrize("own", [(True, True), (True, False), (False, True)], ids=["both", "input", "filters"])
@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_each_slice_has_its_own(name, own, form):
    convolve, *shapes = CONVOLUTIONS[name]
    given = [normal(COUNT, *shape) if stacked else normal(*shape) for shape, stacked in zip(shapes, own, strict=True)]

    def of_slice(i, x, w):
        return convolve(*[e[i] if stacked else e for e, stacked in zip((x, w), own, strict=True)])

    def at_once(x, w):
        return tf.vectorized_map(lambda i: of_slice(i, x, w), tf.range(COUNT), fallback_to_while_loop=False)

    want = with_gradients(lambda x, w: tf.stack([of_slice(i, x, w) for i in range(COUNT)]), given)
    close(form(lambda: with_gradients(at_once, given))(), want)


def test_they_stay_ops_on_batches():
    x, w = normal(COUNT, 2, 5, 5, 2), normal(COUNT, 2, 2, 2, 3)
    mapped = tf.function(lambda x, w: tf.vectorized_map(lambda e: tf.nn.conv2d(*e, 1, "SAME"), (x, w)))
    graph = mapped.get_concrete_function(x, w).graph
    types = [o.type for o in graph.get_operations()]
    assert types.count("Conv2D") == 1
    assert "Vectorized" not in types


FILTERS = [tf.Variable(normal(3, 3, 2, 4)), tf.Variable(normal(2, 2, 4, 3))]
IMAGES = normal(5, 6, 6, 2)


def gradients_of(image):
    with tf.GradientTape() as tape:
        h = tf.nn.max_pool2d(tf.nn.relu(tf.nn.conv2d(image[None], FILTERS[0], 1, "SAME")), 2, 2, "VALID")
        loss = tf.reduce_sum(tf.nn.conv2d(h, FILTERS[1], 1, "VALID") ** 2.0)
    return tape.gradient(loss, FILTERS)


@pytest.mark.parametrize("sizes", [None, [None, 6, 6], [None, None, None]], ids=["known", "batch", "images"])
def test_gradients_for_each_example(sizes):
    signature = sizes and [tf.TensorSpec([*sizes, 2], tf.float64)]
    f = tf.function(lambda x: tf.vectorized_map(gradients_of, x), input_signature=signature)
    close(f(IMAGES), [tf.stack(column) for column in zip(*map(gradients_of, IMAGES), strict=True)])
    types = {o.type for o in f.get_concrete_function(IMAGES).graph.get_operations()}
    assert "Vectorized" not in types
    assert "Conv2DBackpropFilter" in types


@pytest.mark.parametrize("signature", [None, [tf.TensorSpec([None, 6, 6, 2], tf.float64)]], ids=["known", "unknown"])
def test_no_examples(signature):
    f = tf.function(lambda x: tf.vectorized_map(gradients_of, x), input_signature=signature)
    assert [g.shape for g in f(IMAGES[:0])] == [(0, *v.shape) for v in FILTERS]
    own = tf.function(lambda w: tf.vectorized_map(lambda w: tf.nn.conv2d(IMAGES, w, 1, "SAME"), w))
    assert own(tf.zeros([0, 3, 3, 2, 4], tf.float64)).shape == (0, 5, 6, 6, 4)
