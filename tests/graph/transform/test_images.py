"""Ops of batches, of images and of rows, on slices that are batches themselves; their gradients; and gradients for each
slice."""

import numpy as np
import pytest

import tapeflow as tf

RNG = np.random.default_rng(0)
IMAGES = tf.constant(RNG.standard_normal((3, 2, 4, 6, 4)), tf.float32)
BOXES = tf.constant([[0.0, 0.0, 1.0, 1.0], [0.1, 0.2, 0.8, 0.9], [0.5, 0.0, 1.0, 0.4]])
SHARED = tf.Variable([1.0, 0.5, -1.0, 2.0])


def statistics(x):
    return tf.reduce_mean(x, [0, 1, 2]), tf.reduce_mean(x * x, [0, 1, 2]) + 0.5


def normalized(x, mean=None, variance=None, **options):
    norm = tf.compat.v1.nn.fused_batch_norm
    return norm(x, SHARED, SHARED * 0.5, mean, variance, is_training=mean is None, **options)[0]


def cut_anew(x):
    return tf.batch_to_space(tf.space_to_batch(x, [2, 2], [[0, 0], [0, 0]]), [1, 2], [[0, 0], [0, 2]])


# Functions of a batch of images.
FUNCTIONS = {
    "crop_and_resize": lambda x: tf.image.crop_and_resize(x * SHARED, BOXES, [0, 1, 1], [2, 3]),
    "resize": lambda x: tf.image.resize(x * SHARED, [3, 3]),
    "resize to the nearest": lambda x: tf.image.resize(x * SHARED, [3, 3], "nearest"),
    "extract_patches":
        lambda x: tf.image.extract_patches(x * SHARED, [1, 2, 2, 1], [1, 1, 2, 1], [1] * 4, "SAME"),
    "blocks": lambda x: cut_anew(x * SHARED),
    "depth": lambda x: tf.nn.space_to_depth(tf.nn.depth_to_space(x * SHARED, 2), 2),
    "response normalization": lambda x: tf.nn.local_response_normalization(x * SHARED),
    "dilation2d":
        lambda x: tf.nn.dilation2d(x * SHARED, tf.zeros([2, 2, 4]), [1] * 4, "SAME", "NHWC", [1] * 4),
    "mirrored edges": lambda x: tf.pad(x * SHARED, [[0, 0], [1, 2], [0, 1], [0, 0]], "REFLECT"),
    "max_pool3d": lambda x: tf.nn.max_pool3d(tf.expand_dims(x * SHARED, 2), [2, 1, 2], 1, "SAME"),
    "avg_pool3d": lambda x: tf.nn.avg_pool3d(tf.expand_dims(x * SHARED, 2), [2, 1, 2], 1, "SAME"),
    "avg_pool2d": lambda x: tf.nn.avg_pool2d(x * SHARED, 2, 2, "SAME"),
    "reverse_sequence": lambda x: tf.reverse_sequence(x * SHARED, [1, 3], 1, 0),
    "batch normalization in training": normalized,
    "batch normalization by its own": lambda x: normalized(x, *statistics(x)),
    "batch normalization by all slices'": lambda x: normalized(x, SHARED, SHARED * SHARED),
    "colors": lambda x: tf.image.rgb_to_hsv(tf.sigmoid(x)[..., :3]) * SHARED[:3],
    "segments": lambda x: tf.math.segment_mean(tf.transpose(x * SHARED, [1, 0, 2, 3]), [0, 0, 1, 3]),
    "spectrum": lambda x: tf.math.real(tf.signal.fftnd(tf.cast(x * SHARED, tf.complex64), axes=[1, 2])),
}  # fmt: skip
FORMS = {"eager": lambda f: f, "function": tf.function}


def close(found, want):
    for a, b in zip(found, want, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-4)


def with_gradients(mapped, x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = mapped(x)
        loss = tf.reduce_sum(y * y)
    return [y, *map(tf.convert_to_tensor, tape.gradient(loss, [x, SHARED]))]


def slice_by_slice(f, x):
    return tf.stack([f(x[i]) for i in range(3)])


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_batches_of_batches(name, form):
    f = FUNCTIONS[name]
    want = with_gradients(lambda x: slice_by_slice(f, x), IMAGES)
    close(FORMS[form](lambda x: with_gradients(lambda x: tf.vectorized_map(f, x), x))(IMAGES), want)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_gradients_for_each_slice(name, form):
    f = FUNCTIONS[name]

    def gradients(x):
        return with_gradients(f, x)[1:]

    want = [tf.stack(column) for column in zip(*map(gradients, IMAGES), strict=True)]
    close(FORMS[form](lambda x: tf.vectorized_map(gradients, x, warn=False))(IMAGES), want)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_they_stay_ops_on_batches(name):
    f = FUNCTIONS[name]
    graph = tf.function(lambda x: tf.vectorized_map(f, x)).get_concrete_function(IMAGES).graph
    assert "Vectorized" not in {o.type for o in graph.get_operations()}


@pytest.mark.parametrize("name", ["dilation2d", "mirrored edges", "max_pool3d", "response normalization"])
def test_gradients_stay_ops_on_batches(name):
    f = tf.function(lambda x: tf.vectorized_map(lambda e: with_gradients(FUNCTIONS[name], e), x))
    assert "Vectorized" not in {o.type for o in f.get_concrete_function(IMAGES).graph.get_operations()}
