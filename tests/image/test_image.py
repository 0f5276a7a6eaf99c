"""`tf.image`, against values that TensorFlow 2.21 gave."""

import numpy as np
import pytest
import torch

import tapeflow as tf
from tapeflow.image.crops import _crop_and_resize_kernel

RAMP = np.arange(12, dtype=np.float32).reshape(1, 3, 4, 1)

RESIZED = {
    ("bilinear", False): [[1.1667, 2.5, 3.8333], [7.1667, 8.5, 9.8333]],
    ("bilinear", True): [[1.8, 3.0, 4.2], [6.8, 8.0, 9.2]],
    ("nearest", False): [[0.0, 2.0, 3.0], [8.0, 10.0, 11.0]],
    ("nearest", True): [[0.0, 2.0, 3.0], [8.0, 10.0, 11.0]],
    ("bicubic", False): [[0.7746, 2.1715, 3.5685], [7.4315, 8.8285, 10.2254]],
    ("bicubic", True): [[1.4291, 2.7392, 4.0492], [6.9508, 8.2608, 9.5709]],
    ("area", False): [[1.5833, 2.8333, 4.0833], [6.9167, 8.1667, 9.4167]],
    ("area", True): [[1.5833, 2.8333, 4.0833], [6.9167, 8.1667, 9.4167]],
    ("lanczos3", False): [[0.5787, 1.9929, 3.4071], [7.5929, 9.0071, 10.4213]],
    ("lanczos3", True): [[1.2552, 2.5958, 3.9364], [7.0636, 8.4042, 9.7448]],
    ("lanczos5", False): [[0.4235, 1.7984, 3.1733], [7.8267, 9.2016, 10.5765]],
    ("lanczos5", True): [[1.1982, 2.5369, 3.8757], [7.1243, 8.4631, 9.8018]],
    ("gaussian", False): [[1.2844, 2.5758, 3.8672], [7.1328, 8.4242, 9.7156]],
    ("gaussian", True): [[2.1714, 3.3242, 4.477], [6.523, 7.6758, 8.8286]],
    ("mitchellcubic", False): [[1.0447, 2.3855, 3.7263], [7.2737, 8.6145, 9.9553]],
    ("mitchellcubic", True): [[1.7915, 3.027, 4.2625], [6.7375, 7.973, 9.2085]],
}


@pytest.mark.parametrize(("method", "antialias"), list(RESIZED))
def test_resize(method, antialias):
    found = tf.image.resize(RAMP, [2, 3], method, antialias=antialias)
    np.testing.assert_allclose(found[0, ..., 0], RESIZED[method, antialias], rtol=1e-4, atol=1e-4)
    assert found.dtype == tf.float32
    of_bytes = tf.image.resize(RAMP[0].astype("uint8"), [2, 3], method)
    assert of_bytes.dtype == (tf.uint8 if method == "nearest" else tf.float32)


def test_resize_refuses():
    with pytest.raises(ValueError, match="3 or 4 dimensions"):
        tf.image.resize([1.0], [1, 1])
    with pytest.raises(ValueError, match="2 elements"):
        tf.image.resize(RAMP, [1])
    with pytest.raises(ValueError, match="not implemented"):
        tf.image.resize(RAMP, [1, 1], "best")
    with pytest.raises(tf.errors.InvalidArgumentError, match="must be positive"):
        tf.image.resize(RAMP, [0, 1])


def test_the_gradient_of_resize():
    x = tf.constant(RAMP)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(tf.image.resize(x, [6, 8]))
    np.testing.assert_allclose(tape.gradient(y, x), np.full_like(RAMP, 4.0), rtol=1e-5)


@pytest.mark.parametrize("method", ["bilinear", "bicubic"])
@pytest.mark.parametrize("sizes", [(5, 7, 9, 4), (70, 66, 140, 99), (90, 80, 33, 70)])
def test_the_gradient_of_resize_is_its_transpose(method, sizes):
    rng = np.random.default_rng(1)
    height, width, *size = sizes
    for dtype in ("float32", "float64"):
        x = tf.cast(rng.normal(size=[2, height, width, 3]), dtype)
        weights = tf.cast(rng.normal(size=[2, *size, 3]), "float32")
        with tf.GradientTape() as outer:
            outer.watch(weights)
            with tf.GradientTape() as tape:
                tape.watch(x)
                total = tf.reduce_sum(weights * tf.image.resize(x, size, method))
            gradient = tape.gradient(total, x)
            product = tf.reduce_sum(gradient * x)
        assert gradient.dtype == dtype
        np.testing.assert_allclose(product, total, rtol=1e-3, atol=1e-2)
        resized = tf.image.resize(x, size, method)
        np.testing.assert_allclose(outer.gradient(product, weights), resized, rtol=1e-4, atol=1e-4)


def test_halves_have_a_gradient_of_linear_interpolation_alone():
    x = tf.ones([1, 4, 4, 1], tf.float16)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        linear, cubic = (tf.image.resize(x, [8, 8], method) for method in ("bilinear", "bicubic"))
    np.testing.assert_array_equal(tape.gradient(linear, x), np.full([1, 4, 4, 1], 4.0, np.float16))
    assert tape.gradient(cubic, x) is None


def test_sizes():
    assert tf.image.resize_with_pad(RAMP, 9, 8).shape == [1, 9, 8, 1]
    assert tf.image.resize_with_crop_or_pad(RAMP, 2, 6)[0, 0, :, 0].numpy().tolist() == [0, 0, 1, 2, 3, 0]
    assert tf.image.central_crop(RAMP, 0.5).shape == [1, 3, 2, 1]
    assert tf.image.resize(RAMP, [8, 8], preserve_aspect_ratio=True).shape == [1, 6, 8, 1]
    with pytest.raises(ValueError, match="height must be"):
        tf.image.crop_to_bounding_box(RAMP, 2, 0, 2, 2)


def test_colours_there_and_back():
    colours = np.random.default_rng(0).random((5, 4, 3)).astype(np.float32)
    for name in "hsv", "yiq", "yuv":
        there = getattr(tf.image, f"rgb_to_{name}")(colours)
        np.testing.assert_allclose(getattr(tf.image, f"{name}_to_rgb")(there), colours, atol=1e-4)
    with pytest.raises(tf.errors.FailedPreconditionError, match="3 channels"):
        tf.image.rgb_to_hsv([[1.0, 2.0]])


@pytest.mark.parametrize("k", range(5))
def test_rot90(k):
    np.testing.assert_array_equal(tf.image.rot90(RAMP[0], k), np.rot90(RAMP[0], k))


@pytest.mark.parametrize(
    ("mode", "row"),
    [
        ("CONSTANT", [9, 9, 0, 1, 2, 3, 9, 9]),
        ("NEAREST", [0, 0, 0, 1, 2, 3, 3, 3]),
        ("REFLECT", [1, 0, 0, 1, 2, 3, 3, 2]),
        ("WRAP", [2, 3, 0, 1, 2, 3, 0, 1]),
    ],
)
def test_projective_transforms_fill(mode, row):
    moved = tf.raw_ops.ImageProjectiveTransformV3(
        images=RAMP, transforms=[[1.0, 0, -2, 0, 1, 0, 0, 0]], output_shape=[1, 8], fill_value=9.0,
        interpolation="NEAREST", fill_mode=mode,
    )  # fmt: skip
    assert moved[0, 0, :, 0].numpy().tolist() == row


# ---- what goldens can't say ------------------------------------------------------------------------------------------


def test_random_changes_stay_in_their_bounds():
    x = tf.fill([4, 4, 3], 0.5)
    for _ in range(20):
        assert 0.3 <= float(tf.image.random_brightness(x, 0.2)[0, 0, 0]) <= 0.7
        np.testing.assert_allclose(tf.image.random_contrast(x, 0.2, 0.4), x, rtol=1e-6)
        place = int(tf.image.random_crop(tf.range(10), [3])[0])
        assert 0 <= place <= 7
        begin, size, box = tf.image.sample_distorted_bounding_box([40, 60, 3], [[[0.1, 0.2, 0.6, 0.7]]])
        assert 0 <= begin[0] <= begin[0] + size[0] <= 40
        np.testing.assert_allclose(box[0, 0, 0] * 40, float(begin[0]), rtol=1e-6)


def test_half_of_the_images_are_flipped():
    x = tf.reshape(tf.range(2), [1, 1, 2, 1]) * tf.ones([400, 1, 1, 1], tf.int32)
    flipped = tf.image.random_flip_left_right(x)[:, 0, 0, 0]
    assert 140 < int(tf.reduce_sum(flipped)) < 260


def test_noise_around_glimpses_is_as_wide_as_the_image():
    x = tf.random.uniform([1, 8, 8, 2], 3.0, 5.0)
    glimpse = tf.image.extract_glimpse(x, [40, 40], [[0.0, 0.0]])
    assert 3.0 <= float(tf.reduce_min(glimpse)) < 3.2
    assert 4.8 < float(tf.reduce_max(glimpse)) <= 5.0
    normal = tf.image.extract_glimpse(x, [90, 90], [[0.0, 0.0]], noise="gaussian")
    np.testing.assert_allclose(tf.reduce_mean(normal), tf.reduce_mean(x), atol=0.1)


def test_in_functions_of_unknown_sizes():
    @tf.function(input_signature=[tf.TensorSpec([None, None, None, 3]), tf.TensorSpec([2], tf.int32)])
    def changed(images, seed):
        images = tf.image.stateless_random_flip_left_right(images, seed)
        images = tf.image.stateless_random_hue(images, 0.2, seed)
        crop = tf.image.stateless_random_crop(images, tf.stack([tf.shape(images)[0], 4, 4, 3]), seed)
        return crop, tf.image.ssim(images, images * 0.5, 1.0, filter_size=3)

    x = tf.random.uniform([2, 6, 7, 3])
    crop, similarity = changed(x, [1, 2])
    by_hand = tf.image.stateless_random_hue(tf.image.stateless_random_flip_left_right(x, [1, 2]), 0.2, [1, 2])
    np.testing.assert_array_equal(crop, tf.image.stateless_random_crop(by_hand, [2, 4, 4, 3], [1, 2]))
    np.testing.assert_allclose(similarity, tf.image.ssim(by_hand, by_hand * 0.5, 1.0, filter_size=3), rtol=1e-6)


def test_suppression_in_batches_and_functions():
    low = tf.random.stateless_uniform([3, 20, 2], [1, 2])
    boxes = tf.concat([low, low + tf.random.stateless_uniform([3, 20, 2], [5, 6])], -1)
    scores = tf.random.stateless_uniform([3, 20], [3, 4])

    @tf.function
    def suppressed(boxes, scores):
        return tf.image.non_max_suppression_padded(boxes, scores, 6, 0.2, pad_to_max_output_size=True)

    numbers, counts = suppressed(boxes, scores)
    assert numbers.shape == [3, 6]
    for i in range(3):
        alone = tf.image.non_max_suppression(boxes[i], scores[i], 6, 0.2)
        assert numbers[i, : int(counts[i])].numpy().tolist() == alone.numpy().tolist()


def test_drawn_boxes_have_no_gradient():
    images = tf.ones([1, 4, 4, 3])
    with tf.GradientTape() as tape:
        tape.watch(images)
        drawn = tf.image.draw_bounding_boxes(images, [[[0.0, 0.0, 0.5, 0.5]]], None)
    assert tape.gradient(drawn, images) is None


@pytest.mark.parametrize("shape", [(4, 5, 3), (2, 4, 5, 3)])
def test_slices_of_the_total_variation_have_no_ellipsis(shape):
    """Keras 2 turns each slice into a layer, and cannot save one with an ellipsis."""
    operations = tf.function(tf.image.total_variation).get_concrete_function(tf.zeros(shape)).graph.get_operations()
    slices = [op for op in operations if op.type == "StridedSlice"]
    assert len(slices) == 4 and not any(op.get_attr("ellipsis_mask") for op in slices)


@pytest.mark.parametrize("method", ["bilinear", "nearest"])
def test_crops_are_the_same_with_and_without_gradients(method):
    rng = np.random.default_rng(1)
    image = tf.constant(rng.random((3, 9, 7, 2)), tf.float32)
    boxes = tf.constant(rng.random((20, 4)) * 1.4 - 0.2, tf.float32)  # some are partly outside
    indices = rng.integers(0, 3, 20).astype("int32")
    crop = lambda boxes: tf.image.crop_and_resize(image, boxes, indices, [4, 5], method, 0.25)  # noqa: E731
    followed = boxes.value.clone().requires_grad_()
    expected = _crop_and_resize_kernel(image.value, followed, torch.as_tensor(indices), (4, 5), method, 0.25)
    np.testing.assert_allclose(crop(boxes), expected.detach(), rtol=1e-5, atol=1e-6)
    assert (crop(boxes).numpy() == 0.25).any()


@pytest.mark.parametrize("channels", [1, 2, 3, 4, 8])
def test_each_image_of_a_batch_is_resized_as_alone(channels):
    rng = np.random.default_rng(channels)
    for height, width, new_height, new_width in [
        (80, 90, 64, 64),
        (7, 5, 65, 80),
        (64, 200, 64, 150),
        (70, 70, 140, 99),
    ]:
        images = tf.constant(rng.random((5, height, width, channels)) * 255, tf.float32)
        batch = tf.image.resize(images, [new_height, new_width])
        alone = [tf.image.resize(image, [new_height, new_width]) for image in images]
        assert tf.reduce_all(batch == tf.stack(alone))


def test_large_images_are_interpolated_linearly():
    ramp = np.broadcast_to(
        np.arange(96.0, dtype="f")[:, None, None] * 2 + np.arange(80.0, dtype="f")[:, None], (96, 80, 3)
    )
    resized = tf.image.resize(ramp, [192, 160]).numpy()
    points = np.clip(np.arange(192) / 2 - 0.25, 0, 95)[:, None] * 2 + np.clip(np.arange(160) / 2 - 0.25, 0, 79)
    np.testing.assert_allclose(resized, np.repeat(points[..., None], 3, -1), rtol=1e-6, atol=1e-5)


def test_an_infinite_pixel_of_a_large_image_stays_in_its_place():
    image = np.ones((70, 70, 3), "f")
    image[35, 35, 1] = np.inf
    resized = tf.image.resize(image, [140, 140]).numpy()
    outside = np.isfinite(resized).all(-1)
    assert outside.sum() == 140 * 140 - 16 and (resized[outside] == 1).all()


@pytest.mark.parametrize(("old", "new", "place", "nearest"), [(28, 23, 11, 13), (10, 77, 38, 5), (224, 23, 11, 111)])
def test_places_of_nearest_pixels_are_rounded_as_in_tensorflow(old, new, place, nearest):
    resized = tf.image.resize(np.arange(old).reshape(1, old, 1), [1, new], "nearest")
    assert resized[0, place, 0] == nearest
