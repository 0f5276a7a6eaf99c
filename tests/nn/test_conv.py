"""Convolutions beside NumPy's, their gradients, and what they refuse."""

import numpy as np
import pytest

import tapeflow as tf
from support.windows import convolved

FORMATS = {"last": ("NWC", "NHWC", "NDHWC"), "first": ("NCW", "NCHW", "NCDHW")}

# Sizes, window, channels, channels of a filter, filters, strides, dilations, padding.
CASES = {
    "a line": ((9,), (3,), 2, 2, 3, (2,), (1,), "SAME"),
    "a line of groups": ((9,), (2,), 4, 2, 6, (1,), (3,), "VALID"),
    "images": ((7, 6), (3, 2), 3, 3, 4, (1, 1), (1, 1), "SAME"),
    "steps": ((7, 9), (3, 4), 3, 3, 4, (2, 3), (1, 1), "VALID"),
    "uneven borders": ((8, 5), (4, 2), 3, 3, 4, (3, 2), (1, 1), "SAME"),
    "dilated": ((9, 8), (3, 2), 2, 2, 3, (1, 1), (2, 3), "SAME"),
    "groups": ((6, 6), (3, 3), 6, 2, 9, (1, 1), (1, 1), "SAME"),
    "each channel": ((6, 5), (3, 3), 4, 1, 8, (2, 2), (1, 1), "VALID"),
    "pixels": ((4, 5), (1, 1), 3, 3, 2, (1, 1), (1, 1), "VALID"),
    "some pixels": ((4, 5), (1, 1), 3, 3, 2, (2, 3), (1, 1), "SAME"),
    "explicit": ((5, 6), (3, 2), 2, 2, 3, (1, 2), (1, 1), ((1, 3), (0, 2))),
    "few channels": ((6, 7), (3, 3), 1, 1, 5, (2, 1), (1, 1), "SAME"),
    "one window": ((3, 4), (3, 4), 2, 2, 3, (1, 1), (1, 1), "VALID"),
    "many weights": ((4, 4), (3, 3), 96, 96, 320, (2, 1), (1, 1), "SAME"),
    "many windows": ((20, 20), (3, 3), 64, 64, 128, (1, 1), (1, 1), "SAME"),
    "volumes": ((4, 5, 3), (2, 3, 2), 2, 2, 3, (1, 1, 1), (1, 1, 1), "SAME"),
    "steps in volumes": ((5, 5, 6), (2, 3, 2), 2, 2, 3, (2, 1, 3), (1, 1, 1), "VALID"),
    "dilated volumes": ((5, 6, 4), (2, 2, 3), 2, 2, 3, (1, 1, 1), (2, 3, 1), "SAME"),
    "groups of volumes": ((4, 4, 4), (2, 2, 2), 4, 2, 6, (1, 1, 1), (1, 1, 1), "VALID"),
}  # fmt: skip


def convolve(x, filters, dims, steps, rates, padding, order):
    """`tf.nn.conv1d`, `conv2d` or `conv3d` of images whose channels are last."""
    data_format = FORMATS[order][dims - 1]
    to_order = [0, dims + 1, *range(1, dims + 1)] if order == "first" else range(dims + 2)
    if dims == 2 and type(padding) is tuple:
        padding = [[0, 0], *padding, [0, 0]] if order == "last" else [[0, 0], [0, 0], *padding]
    if dims == 3:
        steps, rates = ([1, *v, 1] if order == "last" else [1, 1, *v] for v in (steps, rates))
    function = getattr(tf.nn, f"conv{dims}d")
    y = function(tf.transpose(x, to_order), filters, steps, padding, data_format, rates)
    return tf.transpose(y, [0, *range(2, dims + 2), 1]) if order == "first" else y


@pytest.mark.parametrize(
    ("name", "order"), [(name, order) for name in CASES for order in FORMATS if order == "last" or "many" not in name]
)
def test_convolutions_and_their_gradients(name, order):
    """A convolution is linear in images and in filters, so a gradient times a change is the change of the result."""
    sizes, window, channels, depth, results, steps, rates, padding = CASES[name]
    rng, dims = np.random.default_rng(0), len(sizes)
    for batch, dtype, tolerance in ((2, "float64", 1e-9), (1, "float32", 1e-4)):
        x, dx = rng.normal(size=(2, batch, *sizes, channels)).astype(dtype)
        filters, dfilters = rng.normal(size=(2, *window, depth, results)).astype(dtype)
        expected = convolved(x, filters, steps, rates, padding)
        dy = rng.normal(size=expected.shape).astype(dtype)
        variables = [tf.constant(x), tf.constant(filters)]
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(variables)
            y = convolve(*variables, dims, steps, rates, padding, order)
            by_x, by_filters = tape.gradient(y, variables, tf.constant(dy))
            second = tf.reduce_sum(by_x * dx) + tf.reduce_sum(by_filters * dfilters)
        assert y.dtype == dtype
        np.testing.assert_allclose(y, expected, tolerance, tolerance * np.abs(expected).max())
        change_x = convolved(dx, filters, steps, rates, padding)
        change_filters = convolved(x, dfilters, steps, rates, padding)
        scale = np.sqrt(dy.size) * np.abs(expected).max()
        np.testing.assert_allclose(tf.reduce_sum(by_x * dx), (dy * change_x).sum(), tolerance, tolerance * scale)
        np.testing.assert_allclose(
            tf.reduce_sum(by_filters * dfilters), (dy * change_filters).sum(), tolerance, tolerance * scale
        )
        if dtype == "float64":
            # By `x` the second one is the product of `dy` and `dfilters`; by the filters that of `dy` and `dx`.
            second_x, second_filters = tape.gradient(second, variables)
            both = convolved(dx, dfilters, steps, rates, padding)
            np.testing.assert_allclose(tf.reduce_sum(second_x * dx), (dy * both).sum(), 1e-9, 1e-9 * scale)
            np.testing.assert_allclose(tf.reduce_sum(second_filters * dfilters), (dy * both).sum(), 1e-9, 1e-9 * scale)


@pytest.mark.parametrize(("dims", "dtype"), [(1, "int32"), (2, "int32"), (2, "float16"), (3, "float16")])
def test_other_dtypes(dims, dtype):
    rng = np.random.default_rng(0)
    x, filters = rng.integers(-4, 5, (2, *[5] * dims, 2)), rng.integers(-4, 5, (*[2] * dims, 2, 3))
    y = convolve(tf.constant(x, dtype), tf.constant(filters, dtype), dims, (1,) * dims, (1,) * dims, "SAME", "last")
    assert y.dtype == dtype
    np.testing.assert_array_equal(y, convolved(x, filters, (1,) * dims, (1,) * dims, "SAME").astype(dtype))


def test_gradients_of_integers():
    rng = np.random.default_rng(0)
    x, filters, change = (
        rng.integers(-4, 5, (1, 4, 5, 2)),
        rng.integers(-4, 5, (2, 2, 2, 3)),
        rng.integers(9, size=(1, 4, 5, 2)),
    )
    dy = rng.integers(-4, 5, (1, 3, 4, 3))
    attrs = {"strides": [1, 1, 1, 1], "padding": "VALID"}
    result = tf.raw_ops.Conv2DBackpropInput(
        input_sizes=x.shape, filter=tf.constant(filters, tf.int32), out_backprop=tf.constant(dy, tf.int32), **attrs
    )
    assert result.dtype == tf.int32
    assert (result.numpy() * change).sum() == (dy * convolved(change, filters, (1, 1), (1, 1), "VALID")).sum()


@pytest.mark.parametrize("dims", [1, 2, 3])
def test_more_batch_dimensions(dims):
    rng = np.random.default_rng(0)
    x, filters = rng.normal(size=(2, 3, *[4] * dims, 2)), rng.normal(size=(*[2] * dims, 2, 3))
    y = convolve_last(tf.constant(x), tf.constant(filters), dims)
    assert y.shape == [2, 3, *[3] * dims, 3]
    expected = convolved(x.reshape(6, *x.shape[2:]), filters, (1,) * dims, (1,) * dims, "VALID")
    np.testing.assert_allclose(y, expected.reshape(y.shape), 1e-12, 1e-12)


def convolve_last(x, filters, dims):
    return getattr(tf.nn, f"conv{dims}d")(x, filters, [1] * 5 if dims == 3 else 1, "VALID")


@pytest.mark.parametrize("dims", [1, 2, 3])
def test_images_of_no_elements(dims):
    for batch, results in ((0, 3), (2, 0)):
        x, filters = tf.zeros([batch, *[4] * dims, 2]), tf.zeros([*[2] * dims, 2, results])
        with tf.GradientTape() as tape:
            tape.watch([x, filters])
            y = convolve_last(x, filters, dims)
        assert y.shape == [batch, *[3] * dims, results]
        for gradient, of in zip(tape.gradient(y, [x, filters]), (x, filters), strict=True):
            np.testing.assert_array_equal(gradient, tf.zeros_like(of))


# ---- shapes and refusals, as TensorFlow has them ---------------------------------------------------------------------


def spec(*dims, dtype=tf.float32):
    return tf.TensorSpec(dims, dtype)


def shape_of(function, *specs):
    return tf.function(function).get_concrete_function(*specs).output_shapes.as_list()


def conv2d(x, filters, strides=(1, 1, 1, 1), padding="VALID", **attrs):
    return tf.raw_ops.Conv2D(input=x, filter=filters, strides=strides, padding=padding, **attrs)


def back_input(sizes, filters, dy, **attrs):
    attrs = {"strides": [1, 1, 1, 1], "padding": "VALID", **attrs}
    return tf.raw_ops.Conv2DBackpropInput(input_sizes=sizes, filter=filters, out_backprop=dy, **attrs)


X, W = (2, 5, 6, 4), (2, 3, 2, 6)


@pytest.mark.parametrize(
    ("x", "filters", "attrs", "expected"),
    [
        ((None, 5, None, 4), W, {}, [None, 4, None, 6]),
        ((2, 5, None, None), (None, 3, 2, 6), {"padding": "SAME", "strides": [1, 2, 3, 1]}, [2, 3, None, 6]),
        (X, W, {"dilations": [1, 2, 2, 1]}, [2, 3, 2, 6]),
        (X, W, {"padding": "EXPLICIT", "explicit_paddings": [0, 0, 1, 2, 3, 0, 0, 0]}, [2, 7, 7, 6]),
        ((2, 4, 5, 6), W, {"data_format": "NCHW"}, [2, 6, 4, 4]),
        (X, W, {"strides": [2, 1, 1, 1]}, [2, 4, 4, 6]),  # the kernel refuses it
        (X, (None, 3, 2, None), {}, [2, None, 4, None]),
    ],
)
def test_shapes_of_convolutions(x, filters, attrs, expected):
    assert shape_of(lambda x, w: conv2d(x, w, **attrs), spec(*x), spec(*filters)) == expected


@pytest.mark.parametrize(
    ("x", "filters", "attrs", "message"),
    [
        ((2, 5, 6, 5), W, {}, r"Depth of input \(5\) is not a multiple of input depth of filter \(2\)"),
        (X, (2, 3, 2, 5), {}, r"Depth of output \(5\) is not a multiple of the number of groups \(2\)"),
        (X, (2, 3, 0, 6), {}, "Depth of filter must not be 0"),
        ((2, 5, 6, 0), W, {}, "Number of groups must not be 0"),
        ((2, 1, 6, 4), W, {}, "Negative dimension size caused by subtracting 2 from 1"),
        (X[1:], W, {}, "rank"),
        (X, W[1:], {}, "rank"),
        (X, W, {"strides": [1, 0, 1, 1]}, "Stride must be > 0, but got 0"),
        (X, W, {"dilations": [1, 0, 1, 1]}, "Dilation rate must be >= 1, but got 0"),
        (X, W, {"strides": [1, 1, 1]}, "must contain 4 values|must specify 4|rank"),
        (X, W, {"padding": "EXPLICIT", "explicit_paddings": [0, 0, 1, 2, 3, 0]}, "must contain 8 values, but got: 6"),
        (X, W, {"padding": "EXPLICIT", "explicit_paddings": [0, 0, 1, 2, -3, 0, 0, 0]}, "must be nonnegative"),
        (X, W, {"padding": "EXPLICIT", "explicit_paddings": [0, 1, 1, 2, 3, 0, 0, 0]}, "Nonzero explicit padding"),
        (X, W, {"padding": "EXPLICIT", "explicit_paddings": [0, 0, 1, 2, 3, 0, 1, 0]}, "Nonzero explicit padding"),
    ],
)
def test_static_shapes_that_do_not_go_together(x, filters, attrs, message):
    with pytest.raises(ValueError, match=message):
        shape_of(lambda x, w: conv2d(x, w, **attrs), spec(*x), spec(*filters))


INVALID, UNIMPLEMENTED = tf.errors.InvalidArgumentError, tf.errors.UnimplementedError


@pytest.mark.parametrize(
    ("x", "filters", "attrs", "error", "message"),
    [
        (X, (2, 3, 3, 6), {}, INVALID, "input depth must be evenly divisible by filter depth: 4 vs 3"),
        (X, (2, 3, 2, 5), {}, INVALID, "output depth must be evenly divisible by number of groups: 5 vs 2"),
        (X, (2, 3, 0, 6), {}, INVALID, "filter"),
        (X, (9, 3, 2, 6), {}, INVALID, "output size would be negative: -3 .input_size: 5, effective_filter_size: 9"),
        (X, W, {"strides": [1, 1, 1]}, INVALID, "must specify 4 dimensions"),
        (X, W, {"strides": [1, 0, 1, 1]}, INVALID, "0"),
        (X, W, {"strides": [2, 1, 1, 1]}, UNIMPLEMENTED, "support strides in the batch and depth dimensions"),
        (X, W, {"strides": [1, 1, 1, 2]}, UNIMPLEMENTED, "support strides in the batch and depth dimensions"),
        (X, W, {"dilations": [1, 0, 1, 1]}, INVALID, "Dilated rates should be larger than 0"),
        (X, W, {"dilations": [1, 1, 1, 2]}, UNIMPLEMENTED, "support dilations in the batch and depth dimensions"),
        (X, W, {"strides": [1, 2**31, 1, 1]}, INVALID, "strides.*2147483648.*out of range for an int32"),
        (X, W, {"padding": "EXPLICIT", "explicit_paddings": [0, 0, 1, 2, 3, 0]}, INVALID, "must contain 8 values"),
        (X, W, {"padding": "EXPLICIT", "explicit_paddings": [0, 0, 1, 2, -3, 0, 0, 0]}, INVALID, "nonnegative"),
        (X, W, {"padding": "EXPLICIT", "explicit_paddings": [0, 1, 1, 2, 3, 0, 0, 0]}, INVALID, "Nonzero explicit"),
        (X, W, {"padding": "FULL"}, INVALID, '"FULL" is not in the list of allowed values: "SAME", "VALID", "EXPL'),
        (X, W, {"data_format": "CHWN"}, INVALID, '"CHWN" is not in the list of allowed values: "NHWC", "NCHW"'),
        (X[1:], W, {}, INVALID, "input must be 4-dimensional: .5, ?6, ?4"),
        (X, W[:3], {}, INVALID, "filter must be 4-dimensional: .2, ?3, ?2"),
    ],
)
def test_convolutions_that_are_refused(x, filters, attrs, error, message):
    with pytest.raises(error, match=message):
        conv2d(tf.ones(x), tf.ones(filters), **attrs)


def test_a_window_that_is_a_little_too_large_gives_nothing():
    assert conv2d(tf.ones(X), tf.ones([6, 3, 2, 6])).shape == [2, 0, 4, 6]


def test_shapes_of_gradients():
    w, dy = spec(2, 3, 4, 6), spec(2, 4, 4, 6)
    for sizes, attrs, out, expected in [
        (X, {}, dy, [2, 5, 6, 4]),
        ([5, 6], {}, dy, [2, 5, 6, 4]),
        ([5, 6], {"data_format": "NCHW"}, spec(2, 6, 4, 4), [2, 4, 5, 6]),
    ]:
        assert shape_of(lambda w, y, s=sizes, a=attrs: back_input(s, w, y, **a), w, out) == expected
    for count, expected in ((4, [2, None, None, None]), (2, [2, None, None, 4]), (None, [2, None, None, None])):
        assert shape_of(back_input, spec(count, dtype=tf.int32), w, dy) == expected
    for sizes, filters, message in [
        ([2, 5, 6], (2, 3, 4, 6), "to contain 4 values or 2 values, but got: 3"),
        ([3, 5, 6, 4], (2, 3, 4, 6), "must be equal, but are 3 and 2"),
        (X, (2, 3, 4, 5), "must be equal, but are 6 and 5"),
    ]:
        with pytest.raises(ValueError, match=message):
            shape_of(lambda w, y, s=sizes: back_input(s, w, y), spec(*filters), dy)
    back_filter = tf.raw_ops.Conv2DBackpropFilter
    attrs = {"strides": [1, 1, 1, 1], "padding": "VALID"}
    by_sizes = lambda x, s, dy: back_filter(input=x, filter_sizes=s, out_backprop=dy, **attrs)  # noqa: E731
    assert shape_of(lambda x, dy: by_sizes(x, [2, 3, 4, 6], dy), spec(*X), dy) == [2, 3, 4, 6]
    assert shape_of(by_sizes, spec(*X), spec(4, dtype=tf.int32), dy) == [None] * 4
    for x, sizes, out in (((2, 5, 6), [2, 3, 4, 6], dy), (X, [2, 3, 4], dy), (X, [2, 3, 4, 6], spec(2, 4, 4))):
        with pytest.raises(ValueError, match="rank"):
            shape_of(lambda x, dy, s=sizes: by_sizes(x, s, dy), spec(*x), out)


def test_gradients_that_are_refused():
    for sizes, filters, dy in [
        ([3, 5, 6, 4], (2, 3, 4, 6), (2, 4, 4, 6)),
        (X, (2, 3, 4, 5), (2, 4, 4, 6)),
        ([2, 5, 6], (2, 3, 4, 6), (2, 4, 4, 6)),
        (X, (2, 3, 4, 6), (2, 4, 3, 6)),
    ]:
        with pytest.raises(INVALID):
            back_input(sizes, tf.ones(filters), tf.ones(dy))
    np.testing.assert_array_equal(
        back_input([5, 6], tf.ones([2, 3, 4, 6]), tf.ones([2, 4, 4, 6])),
        back_input(X, tf.ones([2, 3, 4, 6]), tf.ones([2, 4, 4, 6])),
    )


IMAGE, KERNEL = np.ones((1, 3, 3, 1), np.float32), np.ones((2, 2, 1, 1), np.float32)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: tf.nn.conv2d(IMAGE, KERNEL, [1, 2, 3], "VALID"), ValueError, "strides should be of length 1, 2 or 4"),
        (lambda: tf.nn.conv2d(IMAGE, KERNEL, tf.constant(1), "VALID"), TypeError, "scalar tensor"),
        (lambda: tf.nn.conv2d(IMAGE, KERNEL, 1, "VALID", dilations=[1, 1, 1]), ValueError, "dilations should be of"),
        (lambda: tf.nn.conv2d(IMAGE, KERNEL, 1, [[0, 0], [1, 1]]), ValueError, "must be of size 4"),
        (lambda: tf.nn.conv2d(IMAGE, KERNEL, 1, [[0, 0], [1, 1], [1], [0, 0]]), ValueError, "list/tuple of size 2"),
        (lambda: tf.nn.conv2d(IMAGE, KERNEL, 1, "EXPLICIT"), ValueError, "'EXPLICIT' is not a valid value"),
        (lambda: tf.nn.conv1d(IMAGE[0], KERNEL[0], 1, [[0, 0], [1, 1], [0, 0]]), TypeError, "Expected string"),
        (lambda: tf.nn.conv1d(IMAGE[0], KERNEL[0], 1, "SAME", "CNW"), ValueError, "'NWC' or 'NCW'"),
        (lambda: tf.nn.conv1d(IMAGE[0], KERNEL[0], [1, 1], "SAME"), ValueError, "of length 1, 1 or 3"),
        (lambda: tf.nn.conv3d(IMAGE[None], KERNEL[None], [1, 1, 1], "VALID"), INVALID, "strides"),
        (lambda: tf.nn.conv3d(IMAGE[None], KERNEL[None], [1] * 5, "EXPLICIT"), INVALID, '"SAME", "VALID"'),
        (lambda: tf.nn.conv3d(IMAGE[None], tf.ones([1, 2, 2, 2, 1]), [1] * 5, "SAME"), INVALID, "1 vs 2"),
    ],
)
def test_arguments_that_are_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_forms_of_arguments():
    """An int, a list of one, of the spatial and of all dimensions, an array, and no list at all."""
    expected = tf.nn.conv2d(IMAGE, KERNEL, [1, 2, 2, 1], "SAME", dilations=[1, 1, 1, 1])
    for strides in (2, [2], [2, 2], (1, 2, 2, 1), np.array([2, 2]), np.int64(2), tf.constant([2, 2])):
        for dilations in (None, 1, [1, 1]):
            np.testing.assert_array_equal(tf.nn.conv2d(IMAGE, KERNEL, strides, "SAME", dilations=dilations), expected)
    first = tf.nn.conv2d(IMAGE.transpose(0, 3, 1, 2), KERNEL, [1, 1, 2, 2], "SAME", "NCHW").numpy()
    np.testing.assert_array_equal(first.transpose(0, 2, 3, 1), expected)
    np.testing.assert_array_equal(
        tf.nn.conv1d(IMAGE[0], KERNEL[0], 1, "SAME", None), tf.nn.conv1d(IMAGE[0], KERNEL[0], 1, "SAME", "NWC")
    )


@pytest.mark.parametrize("order", FORMATS)
@pytest.mark.parametrize(
    ("sizes", "strides", "dilations", "padding"),
    [((9,), None, 2, "VALID"), ((9,), [2], None, "SAME"), ((7, 6), 1, [2, 1], "SAME"), ((7, 6), [1, 2], 1, "VALID"),
     ((4, 5, 4), None, [1, 2, 1], "VALID"), ((4, 5, 4), 2, None, "SAME")],
)  # fmt: skip
def test_convolution_in_any_number_of_dimensions(sizes, strides, dilations, padding, order):
    rng, dims = np.random.default_rng(0), len(sizes)
    x, filters = rng.normal(size=(2, *sizes, 2)), rng.normal(size=(*[2] * dims, 2, 3))
    every = [np.broadcast_to(v or 1, (dims,)) for v in (strides, dilations)]
    expected = convolved(x, filters, *every, padding)
    data_format = FORMATS[order][dims - 1]
    images = x if order == "last" else np.moveaxis(x, -1, 1)
    y = tf.nn.convolution(tf.constant(images), filters, strides, padding, data_format, dilations).numpy()
    np.testing.assert_allclose(y if order == "last" else np.moveaxis(y, 1, -1), expected, 1e-9, 1e-12)
    if order == "last":
        y = tf.nn.convolution(tf.constant(images), filters, strides, padding, None, dilations)
        np.testing.assert_allclose(y, expected, 1e-9, 1e-12)


@pytest.mark.parametrize(
    ("x", "filters", "options", "error", "message"),
    [
        ((3, 3), (2, 1), {}, ValueError, "must be 1, 2, or 3"),
        ((1, 3, 3, 3, 3, 1), (1, 1, 1, 1, 1, 1), {}, ValueError, "must be 1, 2, or 3"),
        ((3, 3, 1), (2, 2, 1, 1), {"dilations": 2}, ValueError, "must be at least 4"),
        ((1, 5, 5, 3), (2, 2, 2, 1), {"dilations": 2}, ValueError, "not divisible by that of the filters: 3 and 2"),
        ((1, 3, 5, 5), (2, 2, 2, 1), {"dilations": 2, "data_format": "NCHW"}, ValueError, "not divisible"),
        ((1, 5, 5, 3), (2, 2, 0, 1), {"dilations": 2}, ZeroDivisionError, "by zero"),
        ((1, 5, 5, 1), (2, 2, 1, 1), {"dilations": [2, 0]}, ValueError, "must be positive"),
        ((1, 5, 5, 1), (2, 2, 1, 1), {"dilations": 2, "strides": [2, 1]}, ValueError, "not supported in conjunction"),
        ((1, 5, 5, 1), (2, 2, 1, 1), {"dilations": 2, "padding": "FULL"}, ValueError, "one of 'SAME' or 'VALID'"),
        ((1, 5, 5, 1), (2, 2, 1, 1), {"dilations": 2, "data_format": "NWC"}, ValueError, "must be 'NHWC' or 'NCHW'"),
        ((1, 5, 5, 1), (2, 2, 1, 1), {"padding": [[0, 0]] * 4}, TypeError, "Expected string"),
    ],
)
def test_convolution_of_wrong_arguments(x, filters, options, error, message):
    with pytest.raises(error, match=message):
        tf.nn.convolution(tf.ones(x), tf.ones(filters), **options)


def test_a_rank_of_filters_that_only_images_have():
    unknown, images = tf.TensorSpec(None), tf.ones([1, 5, 1])
    for specs in ((unknown, tf.TensorSpec([2, 1, 3])), (tf.TensorSpec([None, None, None]), unknown)):
        y = tf.function(tf.nn.convolution, input_signature=specs)(images, tf.ones([2, 1, 3]))
        np.testing.assert_array_equal(y, np.full((1, 4, 3), 2.0))
    with pytest.raises(ValueError, match="must be static"):
        tf.function(tf.nn.convolution).get_concrete_function(unknown, unknown)
