"""Images seen through projective transforms, and resized images."""

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.core.ops import memory


@pytest.mark.parametrize("interpolation", ["NEAREST", "BILINEAR"])
@pytest.mark.parametrize("fill_mode", ["CONSTANT", "NEAREST", "REFLECT", "WRAP"])
def test_one_transform_serves_all_images(fill_mode, interpolation):
    images = np.random.default_rng(0).random((3, 6, 5, 2), np.float32)
    transform = np.array([[0.9, 0.2, -1.0, -0.1, 1.1, 2.0, 0.01, 0.0]], np.float32)

    def project(transforms):
        return tf.raw_ops.ImageProjectiveTransformV3(
            images=images, transforms=transforms, output_shape=[7, 4], fill_value=0.5, interpolation=interpolation,
            fill_mode=fill_mode,
        ).numpy()  # fmt: skip

    assert np.array_equal(project(transform), project(transform.repeat(3, 0)))


def test_a_point_at_infinity_is_the_nearest_pixel():
    transform = np.array([[np.nan, 0, 0, 0, 1, 0, 0, 0], [1, 0, np.inf, 0, 1, 0, 0, 0]], np.float32)
    result = tf.raw_ops.ImageProjectiveTransformV3(
        images=np.ones((2, 4, 4, 1), np.float32), transforms=transform, output_shape=[4, 4], fill_value=0.0,
        interpolation="BILINEAR", fill_mode="NEAREST",
    )  # fmt: skip
    assert np.array_equal(result[1], np.ones((4, 4, 1)))


COUNT = 40_000  # pixels; a matrix of as many rows and columns takes 13 GB


def long_rows(count):
    image = np.random.default_rng(0).normal(size=[1, 1, count, 1]).astype(np.float32)
    size, moved = [1, count], {"scale": [1.0, 1.0], "translation": [0.0, 0.0], "kernel_type": "triangle"}
    return {
        "ResizeBilinear": (image, {"images": image, "size": size, "align_corners": True}),
        "ResizeBicubic": (image, {"images": image, "size": size, "half_pixel_centers": True}),
        "ResizeArea": (image, {"images": image, "size": size}),
        "ScaleAndTranslate": (image, {"images": image, "size": size, **moved}),
        "ResizeBilinearGrad": (image, {"grads": image, "original_image": image}),
        "ResizeBicubicGrad": (image, {"grads": image, "original_image": image}),
        "ScaleAndTranslateGrad": (image, {"grads": image, "original_image": image, **moved}),
    }


@pytest.mark.parametrize("name", long_rows(1))
@pytest.mark.parametrize("special", [None, np.inf, np.nan])
def test_the_weights_of_long_rows_take_little_memory(name, special, monkeypatch):
    """An image is resized to its own size."""
    monkeypatch.setattr(memory, "_most_memory", lambda: 2**31)
    image, arguments = long_rows(COUNT)[name]
    if special is not None:
        image[0, 0, ::1000] = special
    np.testing.assert_allclose(getattr(tf.raw_ops, name)(**arguments), image, 1e-6, 1e-6)


def test_a_wide_filter_that_no_memory_holds():
    image = tf.zeros([1, 1, 500_000, 1])
    with pytest.raises(tf.errors.ResourceExhaustedError, match="OOM when allocating"):
        tf.raw_ops.ScaleAndTranslate(images=image, size=[1, 500_000], scale=[1.0, 1e-5], translation=[0.0, 0.0])


def test_scales_are_positive_numbers_of_float32():
    """The end of a filter is at a pixel's center. Its last digit decides whether the pixel has a weight."""

    def scaled(factor):
        image = tf.reshape(tf.range(1.0, 8.0), [1, 1, 7, 1])
        return tf.raw_ops.ScaleAndTranslate(
            images=image, size=[1, 2], scale=[1.0, factor], translation=[0.0, 0.0], kernel_type="box"
        )  # fmt: skip

    np.testing.assert_allclose(tf.reshape(scaled(2 / 7), [-1]), [2.0, 5.5])  # as TensorFlow
    for factor in (0.0, -1.0, np.nan):
        with pytest.raises(tf.errors.InvalidArgumentError, match="Scale must be greater than zero"):
            scaled(factor)


def test_the_area_of_a_single_pixel():
    result = tf.raw_ops.ResizeArea(images=[[[[3.0]]]], size=[1, 3], align_corners=True)
    np.testing.assert_allclose(tf.reshape(result, [-1]), [3.0, 3.0, 3.0])


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_gradients_of_scaled_images(dtype):
    """The op is linear: its gradient is the transposed matrix, and the gradient's gradient is the op."""
    rng = np.random.default_rng(0)
    x, dy = tf.constant(rng.normal(size=[1, 5, 7, 1]), dtype), tf.constant(rng.normal(size=[1, 3, 4, 1]), tf.float32)

    def gradients(x, dy):
        with tf.GradientTape() as outer:
            outer.watch(dy)
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = tf.image.resize(x, [3, 4], method="lanczos3", antialias=True)
            dx = tape.gradient(y, x, dy)
        return y, dx, outer.gradient(dx, dy, x)

    for function in (gradients, tf.function(gradients)):
        y, dx, ddy = function(x, dy)
        assert dx.dtype == x.dtype
        np.testing.assert_allclose(ddy, y, rtol=2e-2 if dtype == "float16" else 1e-5, atol=1e-6)
        dots = [tf.reduce_sum(tf.cast(a, tf.float32) * tf.cast(b, tf.float32)) for a, b in ((dx, x), (y, dy))]
        np.testing.assert_allclose(*dots, rtol=2e-2 if dtype == "float16" else 1e-5)
