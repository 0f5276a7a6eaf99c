"""Color spaces, beside the standard library's `colorsys` and differences of numbers."""

import colorsys
import itertools

import numpy as np
import pytest

import tapeflow as tf

LEVELS = (0.0, 0.2, 0.5, 0.7, 1.0)
GRID = np.array(list(itertools.product(LEVELS, repeat=3)))  # all orders of channels, and all ties
DIRECTIONS = {"rgb_to_hsv": colorsys.rgb_to_hsv, "hsv_to_rgb": colorsys.hsv_to_rgb}


@pytest.mark.parametrize("name", DIRECTIONS)
@pytest.mark.parametrize(("dtype", "tolerance"), [("float64", 1e-14), ("float32", 1e-6), ("float16", 2e-3)])
def test_colors_of_a_grid(name, dtype, tolerance):
    result = getattr(tf.image, name)(tf.constant(GRID.reshape(5, 5, 5, 3), dtype))
    assert result.dtype == dtype and result.shape == [5, 5, 5, 3]
    expected = [DIRECTIONS[name](*color) for color in GRID.astype(dtype).astype(float)]
    np.testing.assert_allclose(tf.reshape(result, [-1, 3]), expected, 0, tolerance)


@pytest.mark.parametrize("name", DIRECTIONS)
def test_shapes_of_colors(name):
    function = getattr(tf.image, name)

    def shape_of(*dims):
        spec = tf.TensorSpec(None if dims == (...,) else dims)
        return tf.function(function).get_concrete_function(spec).output_shapes

    assert shape_of(2, None, 3) == [2, None, 3]
    assert shape_of(4, None).as_list() == [4, 3]
    assert shape_of(...).rank is None
    with pytest.raises(ValueError, match=r"not compatible|Dimension"):
        shape_of(4, 2)
    with pytest.raises(ValueError, match="rank"):
        shape_of()
    with pytest.raises(tf.errors.FailedPreconditionError, match="must have 3 channels but input only has 4"):
        function([[1.0, 2.0, 3.0, 4.0]])
    with pytest.raises(tf.errors.InvalidArgumentError, match="at least 1D"):
        function(1.0)


@pytest.mark.parametrize("name", DIRECTIONS)
def test_gradients_of_colors_are_differences(name):
    """Of colors with three different channels, and of hues inside of the six sectors."""
    colors = np.array([c for c in itertools.product((0.15, 0.3, 0.55, 0.8, 0.95), repeat=3) if len(set(c)) == 3])
    step = 1e-6

    def function(x):
        return getattr(tf.image, name)(tf.constant(x))

    x, dy = tf.constant(colors), np.random.default_rng(0).normal(size=colors.shape)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = getattr(tf.image, name)(x)
    expected = [
        ((function(colors + step * d) - function(colors - step * d)).numpy() * dy).sum(-1) / (2 * step)
        for d in np.eye(3)
    ]
    np.testing.assert_allclose(tape.gradient(y, x, dy), np.stack(expected, -1), 1e-6, 1e-7)


@pytest.mark.parametrize("delta", [0.0, 0.1, 0.25, 0.5, 0.7, 0.95, 1.0, -0.05, -0.4, -0.8, -1.0, 2.3, -3.4])
def test_turned_hues(delta):
    """Hues are turned by a part of the circle; grays stay."""
    expected = [
        colorsys.hsv_to_rgb((h + delta) % 1.0, s, v) for h, s, v in itertools.starmap(colorsys.rgb_to_hsv, GRID)
    ]
    result = tf.raw_ops.AdjustHue(images=tf.constant(GRID.reshape(5, 25, 3), tf.float32), delta=delta)
    np.testing.assert_allclose(tf.reshape(result, [-1, 3]), expected, 0, 5e-6)


@pytest.mark.parametrize("scale", [0.0, 0.4, 1.0, 1.5, 3.0, 100.0])
def test_scaled_saturations(scale):
    scaled = ((h, min(s * scale, 1.0), v) for h, s, v in itertools.starmap(colorsys.rgb_to_hsv, GRID))
    result = tf.raw_ops.AdjustSaturation(images=tf.constant(GRID.reshape(5, 25, 3), tf.float32), scale=scale)
    np.testing.assert_allclose(
        tf.reshape(result, [-1, 3]), list(itertools.starmap(colorsys.hsv_to_rgb, scaled)), 0, 3e-6
    )


def test_a_negative_scale_takes_all_color_away():
    result = tf.raw_ops.AdjustSaturation(images=[[[0.2, 0.4, 0.6]]], scale=-2.0)
    np.testing.assert_allclose(result, [[[0.6, 0.6, 0.6]]], 1e-6)


BRIGHTNESS = [0.299, 0.587, 0.114]
SPACES = {
    "yiq": [BRIGHTNESS, [0.59590059, -0.27455667, -0.32134392], [0.2115, -0.52273617, 0.31119955]],
    "yuv": [BRIGHTNESS, [-0.14714119, -0.28886916, 0.43601035], [0.61497538, -0.51496512, -0.10001026]],
}


@pytest.mark.parametrize("name", SPACES)
def test_linear_color_spaces(name):
    x = np.random.default_rng(0).random((2, 4, 3))
    there, back = getattr(tf.image, f"rgb_to_{name}"), getattr(tf.image, f"{name}_to_rgb")
    for dtype, tolerance in (("float64", 1e-12), ("float32", 1e-6)):
        colors = there(tf.constant(x, dtype))
        assert colors.dtype == dtype
        np.testing.assert_allclose(colors, x @ np.array(SPACES[name]).T, 0, tolerance)
        np.testing.assert_allclose(back(colors), x, 0, 1e-4)  # so many digits have the matrices
    with pytest.raises(tf.errors.InvalidArgumentError):
        there([[1.0, 2.0]])


def test_brightness():
    x = np.random.default_rng(0).random((2, 4, 3))
    np.testing.assert_allclose(
        tf.image.rgb_to_grayscale(tf.constant(x, tf.float32)), x @ [[0.2989], [0.587], [0.114]], 1e-6
    )
    result = tf.image.rgb_to_grayscale(tf.constant([[200, 100, 50]], tf.uint8))
    assert result.dtype == tf.uint8 and result.numpy().tolist() == [[124]]  # 124.18


def test_colors_of_gray_images():
    assert tf.image.grayscale_to_rgb([[[7]], [[8]]]).numpy().tolist() == [[[7, 7, 7]], [[8, 8, 8]]]
    for gray, message in (([1.0], "at least two-dimensional"), ([[1.0, 2.0]], "should be size 1")):
        with pytest.raises(ValueError, match=message):
            tf.image.grayscale_to_rgb(gray)

    def convert(spec, *images):
        function = tf.function(tf.image.grayscale_to_rgb, input_signature=[tf.TensorSpec(spec)])
        return [function.get_concrete_function().output_shapes, *map(function, images)]

    assert convert([None, 4, 1], tf.ones([2, 4, 1]))[0] == [None, 4, 3]
    for spec in ([None, None, None], None):
        np.testing.assert_array_equal(convert(spec, tf.ones([2, 4, 1]))[1], np.ones([2, 4, 3]))
        with pytest.raises(tf.errors.InvalidArgumentError, match="should be size 1"):
            convert(spec, tf.ones([2, 4, 2]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="at least two-dimensional"):
        convert(None, tf.ones([1, 1]))  # as in TensorFlow, whose check wants three


# As TensorFlow gives them.
OUTSIDE = [
    ("RGBToHSV", {}, [[-0.5, -0.2, -0.1], [0.5, -0.2, 0.3], [-0.5, 0.0, 0.0]],
     [[0.54166669, 0.0, -0.1], [0.88095236, 1.4, 0.5], [0.5, 0.0, 0.0]]),
    ("HSVToRGB", {}, [[1.5, 0.5, 0.5], [-0.3, 0.5, 0.5], [0.3, 1.5, 0.5], [0.3, -0.5, 0.5], [0.3, 0.5, -0.5]],
     [[0.5, 0.25, 0.25], [0.5, 0.25, 0.25], [-0.1, 0.5, -0.25], [0.7, 0.5, 0.75], [-0.3, -0.5, -0.25]]),
    ("AdjustSaturation", {"scale": 0.5}, [[[-0.5, -0.2, -0.1], [0.5, -0.2, 0.3], [-0.5, 0.0, 0.0]]],
     [[[-0.1, -0.1, -0.1], [0.5, 0.15, 0.4], [0.0, 0.0, 0.0]]]),
    ("AdjustHue", {"delta": 0.3}, [[[-0.5, -0.2, -0.1], [0.5, -0.2, 0.3], [-0.5, 0.0, 0.0]]],
     [[[-0.1, -0.5, -0.12], [0.44, 0.5, -0.2], [-0.1, -0.5, 0.0]]]),
    ("AdjustHue", {"delta": 7.25}, [[[0.5, 0.2, 0.3]]], [[[0.45, 0.5, 0.2]]]),
    ("AdjustHue", {"delta": -7.25}, [[[0.5, 0.2, 0.3]]], [[[0.25, 0.2, 0.5]]]),
]  # fmt: skip


@pytest.mark.parametrize(("name", "attrs", "images", "expected"), OUTSIDE)
def test_numbers_out_of_range(name, attrs, images, expected):
    np.testing.assert_allclose(getattr(tf.raw_ops, name)(images=images, **attrs), expected, 0, 1e-6)
