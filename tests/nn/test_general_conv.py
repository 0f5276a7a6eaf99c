"""`tf.conv`, and the ops of gradients that take images and filters for their shapes, beside NumPy's convolutions."""

import numpy as np
import pytest

import tapeflow as tf
from support.windows import convolved

RNG = np.random.default_rng(0)
IMAGES, FILTERS = RNG.normal(size=(2, 7, 6, 3)), RNG.normal(size=(3, 2, 3, 4))
VOLUMES, CUBES = RNG.normal(size=(2, 4, 5, 3, 2)), RNG.normal(size=(2, 3, 1, 2, 3))
INVALID = tf.errors.InvalidArgumentError


@pytest.mark.parametrize("order", ["CHANNELS_LAST", "CHANNELS_FIRST"])
@pytest.mark.parametrize(
    ("strides", "rates", "padding", "explicit"),
    [
        ((1, 1), (), "SAME", ()),
        ((2, 3), (), "VALID", ()),
        ((1, 1), (2, 1), "SAME", ()),
        ((2, 1), (), "EXPLICIT", (1, 2, 0, 3)),
    ],
)
def test_convolutions_of_images(strides, rates, padding, explicit, order):
    sides = tuple(zip(explicit[::2], explicit[1::2], strict=True)) if explicit else padding
    expected = convolved(IMAGES, FILTERS, strides, rates or (1, 1), sides)
    last = order == "CHANNELS_LAST"

    def every(values):
        return [1, *values, 1] if last else [1, 1, *values]

    more = ([0, 0, *explicit, 0, 0] if last else [0, 0, 0, 0, *explicit]) if explicit else ()
    x = IMAGES if last else np.moveaxis(IMAGES, -1, 1)
    y = tf.conv(tf.constant(x), FILTERS, every(strides), padding, more, order, every(rates) if rates else ()).numpy()
    np.testing.assert_allclose(y if last else np.moveaxis(y, 1, -1), expected, 1e-9, 1e-12)


def test_convolutions_of_volumes_and_integers_and_more_batches():
    y = tf.conv(tf.constant(VOLUMES), CUBES, [1, 2, 1, 1, 1], "VALID")
    np.testing.assert_allclose(y, convolved(VOLUMES, CUBES, (2, 1, 1), (1, 1, 1), "VALID"), 1e-9, 1e-12)
    x, filters = (RNG.integers(-4, 5, shape).astype(np.int32) for shape in ((2, 3, 5, 6, 2), (2, 2, 2, 3)))
    y = tf.conv(tf.constant(x), filters, [1, 1, 1, 1], "SAME", batch_dims=2)
    assert y.dtype == tf.int32
    expected = convolved(x.reshape(6, 5, 6, 2), filters, (1, 1), (1, 1), "SAME")
    np.testing.assert_array_equal(y, expected.reshape(2, 3, 5, 6, 3))


def test_sums_of_large_integers_are_exact():
    x = tf.constant([2**24 + 1, 2**24 + 3], tf.int32)[None, :, None, None]
    y = tf.conv(x, tf.ones([2, 1, 1, 1], tf.int32), [1, 1, 1, 1], "VALID")
    assert y.numpy().item() == 2**25 + 4


def test_static_shapes():
    def shape_of(x, filters, strides=(1, 1, 1, 1), padding="VALID", **attrs):
        specs = [tf.TensorSpec(dims) for dims in (x, filters)]
        found = tf.function(lambda x, w: tf.conv(x, w, strides, padding, **attrs)).get_concrete_function(*specs)
        return None if found.output_shapes.rank is None else found.output_shapes.as_list()

    assert shape_of([None, 7, 6, 3], [3, 2, 3, 4], (1, 2, 1, 1)) == [None, 3, 5, 4]
    assert shape_of([2, 3, 7, 6, 3], [3, 2, 3, 4], batch_dims=2) == [2, 3, 5, 5, 4]
    assert shape_of([2, 3, 7, 6], [3, 2, 3, 4], data_format="CHANNELS_FIRST") == [2, 4, 5, 5]
    assert shape_of(None, [3, 2, 3, 4]) is None
    assert shape_of([2, 7, 6, 3], None) is None


@pytest.mark.parametrize(
    ("x", "filters", "options", "error", "message"),
    [
        (IMAGES, FILTERS, {"groups": 3}, tf.errors.UnimplementedError, "not supported yet"),
        (IMAGES, FILTERS, {"batch_dims": 2}, INVALID, "2 or 3 spatial dimensions but got 1"),
        (IMAGES, CUBES, {}, INVALID, "filter must be 4-dimensional"),
        (IMAGES, FILTERS, {"strides": [1, 1, 1]}, INVALID, "must specify 4 dimensions"),
        (IMAGES, FILTERS, {"strides": [2, 1, 1, 1]}, INVALID, "strides in the batch and depth"),
        (IMAGES, FILTERS, {"strides": [1, 1, 1, 2]}, INVALID, "strides in the batch and depth"),
        (IMAGES, FILTERS, {"dilations": [1, 1, 1, 2]}, INVALID, "dilation rates in the batch and depth"),
        (IMAGES[..., :2], FILTERS, {}, INVALID, "must be equal to filter depth: 2 vs 3"),
    ],
)
def test_arguments_that_are_refused(x, filters, options, error, message):
    strides = options.get("strides", [1, 1, 1, 1])
    options = {key: value for key, value in options.items() if key != "strides"}
    with pytest.raises(error, match=message):
        tf.conv(tf.constant(x), filters, strides, "SAME", **options)


def test_gradients_by_shapes_of_tensors():
    """The values of the first, or of the second tensor are not used."""
    dy = RNG.normal(size=(2, 4, 3, 4))
    attrs = {"strides": [1, 2, 2, 1], "padding": "SAME"}
    with tf.GradientTape() as tape:
        variables = [tf.constant(IMAGES), tf.constant(FILTERS)]
        tape.watch(variables)
        y = tf.nn.conv2d(*variables, [2, 2], "SAME")
    by_images, by_filters = tape.gradient(y, variables, tf.constant(dy))
    result = tf.conv2d_backprop_input_v2(tf.zeros([2, 7, 6, 3], tf.float64), FILTERS, dy, **attrs)
    np.testing.assert_allclose(result, by_images, 1e-9, 1e-12)
    result = tf.conv2d_backprop_filter_v2(IMAGES, tf.zeros([3, 2, 3, 4], tf.float64), dy, **attrs)
    np.testing.assert_allclose(result, by_filters, 1e-9, 1e-12)
