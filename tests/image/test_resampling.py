"""Images seen through projective transforms, and resized images."""

import numpy as np
import pytest

import tapeflow as tf


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


@pytest.mark.parametrize("name", ["ResizeBilinear", "ResizeBicubic"])
def test_weights_that_no_memory_holds(name):
    """The image and its gradient are small, the matrix from one to the other is not."""
    image = tf.zeros([1, 1, 6_000_000, 1])
    with pytest.raises(tf.errors.ResourceExhaustedError, match="OOM when allocating"):
        getattr(tf.raw_ops, name)(images=image, size=[1, 5_000_000], align_corners=True)
    with pytest.raises(tf.errors.ResourceExhaustedError, match="OOM when allocating"):
        getattr(tf.raw_ops, f"{name}Grad")(grads=tf.zeros([1, 1, 5_000_000, 1]), original_image=image)
