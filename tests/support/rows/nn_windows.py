"""Rows of convolution and pooling: `tapeflow/nn/conv.py`, `depthwise.py`, `conv_transposed.py`, `*_pooling.py`."""

import itertools

import numpy as np

import tapeflow as tf
from op_table import Row, rand, sample

Invalid = tf.errors.InvalidArgumentError
Unimplemented = tf.errors.UnimplementedError


# ---- the references: windows cut out one by one ----------------------------------------------------------------------


def each(value, dims):
    """A value for each spatial dimension, of what the public functions take (channels last)."""
    if value is None:
        value = 1
    value = [value] if isinstance(value, int) else list(value)
    return value * dims if len(value) == 1 else value[1:-1] if len(value) == dims + 2 else value


def pads(sizes, window, strides, padding):
    if padding == "VALID":
        return [(0, 0)] * len(sizes)
    if padding != "SAME":
        return list(padding)[1:-1]
    total = [max((-(-n // s) - 1) * s + w - n, 0) for n, w, s in zip(sizes, window, strides, strict=True)]
    return [(t // 2, t - t // 2) for t in total]


def windows(x, sizes, strides, padding, dilations=None, fill=0.0):
    """Windows of `[batch, spatial..., channels]`: an array `[batch, places..., window..., channels]`."""
    dims = x.ndim - 2
    strides, rates = each(strides, dims), each(dilations, dims)
    reach = [(k - 1) * r + 1 for k, r in zip(sizes, rates, strict=True)]
    around = pads(x.shape[1:-1], reach, strides, padding)
    x = np.pad(x, [(0, 0), *around, (0, 0)], constant_values=fill)
    out = [(n - w) // s + 1 for n, w, s in zip(x.shape[1:-1], reach, strides, strict=True)]
    found = np.zeros([x.shape[0], *out, *sizes, x.shape[-1]], x.dtype)
    for place in itertools.product(*map(range, out)):
        cut = tuple(slice(p * s, p * s + w, r) for p, s, w, r in zip(place, strides, reach, rates, strict=True))
        found[(slice(None), *place)] = x[(slice(None), *cut)]
    return found


def first_to_last(function):
    """The reference for a data format with the channels first."""

    def either(x, *args, data_format="N...C", **kwargs):
        if not data_format.startswith("NC"):
            return function(x, *args, **kwargs)
        y = function(np.moveaxis(x, 1, -1), *args, **kwargs)
        return np.moveaxis(y, -1, 1)

    return either


@first_to_last
def conv(x, filters, strides=1, padding="VALID", dilations=None):
    batch, inner = x.shape[: -(filters.ndim - 1)], x.shape[-(filters.ndim - 1) :]
    x = x.reshape(-1, *inner)
    dims = filters.ndim - 2
    cut = windows(x, filters.shape[:-2], strides, padding, dilations)
    groups = x.shape[-1] // filters.shape[-2]
    parts = zip(np.split(cut, groups, -1), np.split(filters, groups, -1), strict=True)
    y = np.concatenate([np.tensordot(c, f, dims + 1) for c, f in parts], -1)
    return y.reshape(*batch, *y.shape[1:])


@first_to_last
def depthwise(x, filters, strides, padding, dilations=None):
    cut = windows(x, filters.shape[:2], strides, padding, dilations)
    y = np.einsum("nhwijc,ijcm->nhwcm", cut, filters)
    return y.reshape(*y.shape[:3], -1)


def separable(x, filters, points, strides, padding):
    return depthwise(x, filters, strides, padding) @ points[0, 0]


def conv_transpose(x, filters, shape, strides, padding="SAME"):
    """The transpose, from the convolution of each unit image."""
    forward = np.swapaxes(filters, -1, -2) if False else filters
    found = np.zeros(shape)
    for place in np.ndindex(*shape):
        unit = np.zeros(shape)
        unit[place] = 1
        found[place] = np.sum(conv(unit, forward, strides, padding) * x)
    return found


@first_to_last
def max_pool(x, ksize, strides, padding):
    dims = x.ndim - 2
    cut = windows(
        x, each(ksize, dims), strides, padding, fill=-np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min
    )
    return cut.max(tuple(range(dims + 1, 2 * dims + 1)))


@first_to_last
def avg_pool(x, ksize, strides, padding):
    dims = x.ndim - 2
    axes = tuple(range(dims + 1, 2 * dims + 1))
    return np.nanmean(windows(x, each(ksize, dims), strides, padding, fill=np.nan), axes)


# ---- samples ---------------------------------------------------------------------------------------------------------

LOOSE = {"float16": (2e-2, 2e-2), "bfloat16": (6e-2, 1e-1), "float32": (1e-4, 1e-5)}  # sums of many products
SMALL = ("float16", "bfloat16", "float32", "float64")


def img(*shape):
    return rand(*shape, seed=3)


def filters(*shape):
    return rand(*shape, seed=4)


CONV2D = [
    sample(img(2, 5, 4, 2), filters(3, 2, 2, 3), 1, "SAME"),
    sample(img(2, 5, 4, 2), filters(3, 2, 2, 3), 1, "VALID"),
    sample(img(1, 6, 6, 1), filters(3, 3, 1, 2), 2, "SAME"),
    sample(img(1, 5, 6, 2), filters(2, 2, 2, 1), [2, 1], "VALID"),
    sample(img(1, 5, 5, 2), filters(2, 3, 2, 2), 1, "SAME", dilations=2),
    sample(img(1, 6, 5, 2), filters(2, 2, 2, 2), strides=1, padding="VALID", dilations=[1, 2, 1, 1]),
    sample(img(1, 5, 4, 2), filters(3, 2, 2, 1), 2, [[0, 0], [1, 2], [0, 1], [0, 0]]),
    sample(img(1, 5, 4, 4), filters(2, 2, 2, 4), 1, "VALID"),
    sample(img(1, 2, 5, 4), filters(2, 2, 2, 3), 1, "SAME", data_format="NCHW"),
    sample(img(2, 2, 4, 4, 1), filters(2, 2, 1, 2), 1, "VALID"),
    sample(img(0, 5, 4, 2), filters(3, 2, 2, 3), 1, "SAME"),
    sample(img(1, 2, 2, 1), filters(3, 3, 1, 1), 1, "VALID"),
    sample(img(2, 4, 3, 3), filters(1, 1, 3, 2), 1, "SAME"),
    sample(img(1, 3, 3, 2), filters(1, 1, 2, 3), 1, [[0, 0], [1, 0], [0, 2], [0, 0]]),
    sample(img(1, 4, 4, 4), filters(1, 1, 2, 4), 1, "VALID"),
]  # fmt: skip

IMAGE, FILTERS = np.ones([1, 5, 4, 2]), np.ones([3, 2, 2, 3])
BAD_CONV2D = [
    (sample(IMAGE, FILTERS, 1, "same"), Invalid, "Value for attr 'padding' of \"same\" is not in the list of allowed"),
    (sample(IMAGE, FILTERS, 0, "SAME"), Invalid, "Stride must be > 0, but got 0"),
    (sample(IMAGE, FILTERS, 1, "SAME", dilations=-1), Invalid, "Dilated rates should be larger than 0"),
    (sample(IMAGE, FILTERS, [1, 1, 1], "SAME"), ValueError, "strides should be of length 1, 2 or 4"),
    (sample(IMAGE, FILTERS, [2, 1, 1, 1], "SAME"), Unimplemented, "does not yet support strides in the batch"),
    (sample(IMAGE, FILTERS[0], 1, "SAME"), Invalid, "filter must be 4-dimensional: [2, 2, 3]"),
    (sample(IMAGE, np.ones([2, 2, 3, 1]), 1, "SAME"),
    Invalid, "input depth must be evenly divisible by filter depth: 2 vs 3"),
    (sample(np.ones([1, 5, 4, 4]), np.ones([2, 2, 2, 3]), 1, "SAME"), Invalid,
     "output depth must be evenly divisible by number of groups: 3 vs 2"),
    (sample(IMAGE, np.ones([9, 9, 2, 1]), 1, "VALID"), Invalid, "Computed output size would be negative: -3"),
    (sample(IMAGE, np.ones([0, 1, 2, 1]), 1, "SAME"), Invalid, "filter must not have zero elements"),
    (sample(IMAGE, FILTERS, 1, [[1, 1], [0, 0]]), ValueError, "must be of size 4"),
    (sample(IMAGE, FILTERS, 1, "EXPLICIT"), ValueError, "'EXPLICIT' is not a valid value for `padding`"),
    (sample(IMAGE, FILTERS, 1, "SAME", "NHCW"), Invalid, "Value for attr 'data_format' of \"NHCW\""),
    (sample(tf.constant(IMAGE, tf.float32), tf.constant(FILTERS), 1, "SAME"), Invalid, "expected to be a float tensor"),
]  # fmt: skip

POOL = [
    sample(img(1, 5, 4, 2), 2, 2, "VALID"), sample(img(2, 5, 4, 2), 2, 2, "SAME"),
    sample(img(1, 5, 4, 2), 3, 1, "SAME"),
    sample(img(1, 5, 4, 1), [2, 3], [1, 2], "VALID"), sample(img(1, 4, 4, 1), 3, 2, "SAME"),
    sample(img(1, 2, 5, 4), 2, 1, "SAME", data_format="NCHW"), sample(img(0, 4, 4, 1), 2, 2, "SAME"),
    sample(img(1, 6, 6, 1), 2, 4, "SAME"),
]  # fmt: skip
SEQUENCES = [sample(img(2, 6, 2), 2, 2, "VALID"), sample(img(1, 5, 2), 3, 2, "SAME"),
             sample(img(1, 2, 5), 2, 1, "SAME", data_format="NCW")]  # fmt: skip
VOLUMES = [sample(img(1, 3, 4, 3, 2), 2, 1, "VALID"), sample(img(1, 3, 4, 3, 2), 2, 2, "SAME"),
           sample(img(1, 2, 3, 3, 3), 2, 1, "SAME", data_format="NCDHW")]  # fmt: skip
BAD_POOL = [
    (sample(IMAGE, 7, 1, "VALID"), Invalid, "Computed output size would be negative"),
    (sample(IMAGE, 2, 2, "FULL"), Invalid, "Value for attr 'padding' of \"FULL\""),
    (sample(IMAGE, 0, 1, "SAME"), Invalid, "Sliding window ksize must be positive"),
    (sample(IMAGE, 2, 0, "SAME"), Invalid, "Stride must be > 0, but got 0"),
    (sample(IMAGE[0], 2, 2, "SAME"), Invalid, "Input must be 4 or 5-dimensional"),
    (sample(IMAGE, [1, 2], [1, 2, 3], "SAME"), ValueError, "strides should be of length 1, 2 or 4"),
    (sample(IMAGE, [1, 2, 2, 2], [1, 2, 2, 2], "SAME"), Unimplemented, "depth"),
    (sample(IMAGE, [2, 2, 2, 1], [1, 2, 2, 1], "SAME"), Unimplemented, "batch dimension"),
    (sample(IMAGE, 2, 2, "SAME", "HWC"), Invalid, "Value for attr 'data_format' of \"HWC\""),
]  # fmt: skip

ROWS = [
    Row("nn.conv2d", CONV2D, conv, (*SMALL, "int32"), tolerance=LOOSE, bad=BAD_CONV2D),
    Row("nn.conv1d", [
        sample(img(2, 6, 2), filters(3, 2, 2), 1, "SAME"), sample(img(2, 6, 2), filters(3, 2, 2), 2, "VALID"),
        sample(img(1, 6, 2), filters(2, 2, 2), 1, "SAME", dilations=2),
        sample(img(3, 2, 6, 2), filters(2, 2, 1), 1, "SAME"),
        sample(img(1, 2, 6), filters(2, 2, 3), 1, "VALID", data_format="NCW"),
    ], conv, tolerance=LOOSE, bad=[
        (sample(np.ones([1, 4, 1]), np.ones([2, 1, 1]), 1, "SAME", "WC"), ValueError, "`data_format`"),
    ]),
    Row("nn.conv3d", [
        sample(img(1, 3, 4, 3, 2), filters(2, 2, 2, 2, 1), [1] * 5, "SAME"),
        sample(img(1, 3, 4, 3, 1), filters(2, 2, 1, 1, 2), [1, 2, 1, 1, 1], "VALID"),
        sample(img(1, 4, 3, 3, 1), filters(2, 1, 2, 1, 1), [1] * 5, "SAME", dilations=[1, 2, 1, 1, 1]),
        sample(img(1, 1, 3, 3, 3), filters(2, 2, 2, 1, 1), [1] * 5, "VALID", data_format="NCDHW"),
    ], conv, tolerance=LOOSE, bad=[
        (sample(np.ones([1, 2, 2, 2, 1]), np.ones([1, 1, 1, 1, 1]), [1] * 4, "SAME"),
        Invalid, "must be at least minimum 5"),
        (sample(np.ones([1, 2, 2, 2, 1]), np.ones([1, 1, 1, 1, 1]), 1, "SAME"),
        TypeError, "Expected list for 'strides'"),
    ]),
    Row("nn.convolution", [
        sample(img(1, 5, 4, 2), filters(3, 2, 2, 3)),
        sample(img(2, 6, 2), filters(3, 2, 2), padding="SAME", dilations=[2]),
        sample(img(1, 3, 3, 3, 1), filters(2, 2, 2, 1, 1), 1, "SAME"),
        sample(img(1, 5, 4, 1), filters(2, 2, 1, 1), [2, 1], "SAME"),
    ], conv, tolerance=LOOSE, bad=[
        (sample(IMAGE, FILTERS, 2, "SAME", dilations=2), ValueError, "`strides > 1` not supported in conjunction"),
    ]),
    Row("nn.depthwise_conv2d", [
        sample(img(1, 5, 4, 2), filters(3, 2, 2, 2), [1] * 4, "SAME"),
        sample(img(1, 5, 4, 2), filters(2, 2, 2, 1), [1, 2, 2, 1], "VALID"),
        sample(img(1, 5, 4, 2), filters(3, 2, 2, 1), [1] * 4, "SAME", dilations=[2, 2]),
        sample(img(1, 3, 4, 4), filters(2, 2, 3, 2), [1] * 4, "SAME", data_format="NCHW"),
    ], depthwise, tolerance=LOOSE, bad=[
        (sample(IMAGE, np.ones([2, 2, 3, 1]), [1] * 4, "SAME"), Invalid, "evenly divisible by filter depth: 2 vs 3"),
        (sample(IMAGE, np.ones([2, 2, 2, 1]), 1, "SAME"), TypeError, "Expected list for 'strides'"),
    ]),
    Row("nn.separable_conv2d", [
        sample(img(1, 5, 4, 2), filters(3, 2, 2, 2), filters(1, 1, 4, 2), [1] * 4, "SAME"),
    ], separable, tolerance=LOOSE, bad=[
        (sample(IMAGE, np.ones([2, 2, 2, 1]), np.ones([1, 2, 2, 2]), [1] * 4, "SAME"),
        ValueError, "Dimensions 2 and 1"),
    ]),
    Row("nn.atrous_conv2d", [sample(img(1, 5, 4, 2), filters(2, 2, 2, 2), 2, "SAME")],
        lambda x, f, rate, padding: conv(x, f, 1, padding, [rate, rate]), tolerance=LOOSE, bad=[
        (sample(IMAGE, FILTERS, 0, "SAME"), ValueError, "all values of `dilation_rate` must be positive"),
        (sample(IMAGE, FILTERS, 1, "FULL"), Invalid, "not in the list of allowed values"),
    ]),
    Row("nn.conv2d_transpose", [
        sample(img(1, 2, 3, 2), filters(3, 2, 1, 2), [1, 4, 6, 1], 2),
        sample(img(1, 3, 3, 1), filters(2, 2, 2, 1), [1, 3, 3, 2], 1, "SAME"),
        sample(img(1, 2, 2, 1), filters(2, 2, 1, 1), [1, 3, 3, 1], 1, "VALID"),
    ], conv_transpose, tolerance=LOOSE, bad=[
        (sample(IMAGE, np.ones([3, 2, 1, 2]), [1, 11, 8, 1], 3),
        Invalid, "Size of out_backprop doesn't match computed"),
    ]),
    Row("nn.conv1d_transpose", [sample(img(1, 3, 2), filters(3, 1, 2), [1, 6, 1], 2)], conv_transpose, tolerance=LOOSE),
    Row("nn.conv3d_transpose", [sample(img(1, 2, 1, 2, 1), filters(2, 2, 2, 1, 1), [1, 3, 2, 3, 1], 1, "VALID")],
        conv_transpose, tolerance=LOOSE),
    Row("nn.max_pool2d", [*POOL, sample(img(1, 5, 4, 1), 2, 2, [[0, 0], [1, 0], [0, 1], [0, 0]])], max_pool,
        (*SMALL, "int32", "int64", "uint8", "int8"), bad=BAD_POOL),
    Row("nn.max_pool1d", SEQUENCES, max_pool),
    Row("nn.max_pool3d", VOLUMES, max_pool, ("float32",), gradient=False, bad=[
        (sample(np.ones([1, 2, 2, 2, 1]), 2, 2, "SAME"), Invalid, "'T' of double is not in the list of allowed values"),
    ]),
    Row("nn.avg_pool2d", POOL, avg_pool, SMALL, tolerance=LOOSE, bad=BAD_POOL),
    Row("nn.avg_pool1d", SEQUENCES, avg_pool, tolerance=LOOSE),
    Row("nn.avg_pool3d", VOLUMES, avg_pool, tolerance=LOOSE),
    Row("conv", [
        sample(img(2, 5, 4, 2), filters(3, 2, 2, 3), [1, 1, 1, 1], "SAME"),
        sample(img(1, 5, 4, 2), filters(2, 2, 2, 1), [1, 2, 1, 1], "VALID", dilations=[1, 1, 2, 1]),
        sample(img(1, 3, 3, 3, 1), filters(2, 2, 2, 1, 1), [1] * 5, "SAME"),
    ], conv, tolerance=LOOSE, bad=[
        (sample(IMAGE, FILTERS, [1, 1], "SAME"), Invalid, "must specify 4 dimensions"),
        (sample(IMAGE, np.ones([2, 2, 1, 1]), [1] * 4, "SAME"), Invalid, "equal to filter depth: 2 vs 1"),
        (sample(IMAGE[0], FILTERS, [1] * 4, "SAME"), Invalid, "2 or 3 spatial dimensions but got 1"),
        (sample(IMAGE, FILTERS, [1] * 4, "SAME", groups=2), Unimplemented, "Grouped/Depthwise"),
    ]),
]  # fmt: skip
