"""Rows of moments, normalization, embeddings and the smaller ops of `tf.nn`."""

import numpy as np

import tapeflow as tf
from op_table import FLOATS, WIDE_FLOATS, Row, rand, sample

Invalid = tf.errors.InvalidArgumentError


def moments(x, axes, shift=None, keepdims=False):
    axes = tuple(axes) if isinstance(axes, list) else axes
    return x.mean(axes, keepdims=keepdims), x.var(axes, keepdims=keepdims)


def weighted_moments(x, axes, w, keepdims=False):
    w = np.broadcast_to(w, x.shape)
    axes = tuple(axes)
    mean = np.sum(w * x, axes, keepdims=True) / np.sum(w, axes, keepdims=True)
    variance = np.sum(w * (x - mean) ** 2, axes, keepdims=True) / np.sum(w, axes, keepdims=True)
    return (mean, variance) if keepdims else (mean.squeeze(axes), variance.squeeze(axes))


def normalize_moments(counts, mean_ss, variance_ss, shift):
    mean = mean_ss / counts
    return mean + (0 if shift is None else shift), variance_ss / counts - mean**2


def batch_normalization(x, mean, variance, offset, scale, epsilon):
    y = (x - mean) / np.sqrt(variance + epsilon)
    y = y if scale is None else y * scale
    return y if offset is None else y + offset


def lrn(x, depth_radius=5, bias=1.0, alpha=1.0, beta=0.5):
    sums = np.zeros_like(x)
    for c in range(x.shape[3]):
        sums[..., c] = np.sum(x[..., max(c - depth_radius, 0) : c + depth_radius + 1] ** 2, -1)
    return x / (bias + alpha * sums) ** beta


def depth_to_space(x, b, data_format="NHWC"):
    if data_format == "NCHW":
        return np.moveaxis(depth_to_space(np.moveaxis(x, 1, -1), b), -1, 1)
    n, h, w, c = x.shape
    return x.reshape(n, h, w, b, b, c // b**2).transpose(0, 1, 3, 2, 4, 5).reshape(n, h * b, w * b, c // b**2)


def space_to_depth(x, b, data_format="NHWC"):
    if data_format == "NCHW":
        return np.moveaxis(space_to_depth(np.moveaxis(x, 1, -1), b), -1, 1)
    n, h, w, c = x.shape
    return x.reshape(n, h // b, b, w // b, b, c).transpose(0, 1, 3, 2, 4, 5).reshape(n, h // b, w // b, c * b**2)


def dilation(x, f, strides, padding, data_format, rates, turn=1):
    (_, s, t, _), (_, a, b, _) = strides, rates
    size = [(k - 1) * r + 1 for k, r in zip(f.shape[:2], (a, b), strict=True)]
    out = [
        (n - k) // q + 1 if padding == "VALID" else -(-n // q)
        for n, k, q in zip(x.shape[1:3], size, (s, t), strict=True)
    ]
    total = [max((o - 1) * q + k - n, 0) for o, q, k, n in zip(out, (s, t), size, x.shape[1:3], strict=True)]
    around = [(0, 0), *((p // 2, p - p // 2) for p in total), (0, 0)]
    x = np.pad(x, around, constant_values=-np.inf)
    y = np.full((x.shape[0], *out, x.shape[3]), -np.inf)
    for i, j in np.ndindex(*f.shape[:2]):
        cut = x[:, i * a :: s, j * b :: t][:, : out[0], : out[1]]
        y = np.maximum(y, cut + f[i, j])
    return y


def erosion(x, f, *args):
    return -dilation(-x, f[::-1, ::-1], *args)


def embedding(table, ids, max_norm=None):
    rows = np.asarray(table)[np.asarray(ids)]
    if max_norm is not None:
        norms = np.linalg.norm(rows, axis=-1, keepdims=True)
        rows = np.where(norms > max_norm, rows * max_norm / norms, rows)
    return rows


LOW = {"float16": (5e-3, 5e-3), "bfloat16": (4e-2, 4e-2)}
X = rand(2, 3, 4)

ROWS = [
    # TensorFlow's gradient takes the mean within the variance for a constant, so that the second order is another.
    Row("nn.moments", [sample(X, [0]), sample(X, [0, 2], keepdims=True), sample(X, 1), sample(rand(4), [-1])],
        moments, FLOATS, second_order=False, tolerance=LOW, bad=[
        (sample(tf.constant([1.0]), [1]), Invalid, "Invalid reduction dimension"),
    ]),
    Row("nn.weighted_moments", [
        sample(X, [0], rand(2, 1, 4, low=0.5)), sample(X, [1, 2], rand(low=0.5), keepdims=True),
    ], weighted_moments),
    Row("nn.normalize_moments", [sample(np.array(3.0), rand(4), rand(4, low=4, high=5), None),
                                 sample(np.array(3.0), rand(4), rand(4, low=4, high=5), rand(4, seed=1))],
                                 normalize_moments),
    Row("nn.batch_normalization", [
        sample(rand(2, 3), rand(3), rand(3, low=0.5), rand(3, seed=1), rand(3, seed=2), 1e-3),
        sample(rand(2, 3), rand(3), rand(3, low=0.5), None, None, 1e-3),
    ], batch_normalization, WIDE_FLOATS),
    Row("nn.l2_loss", [sample(rand(2, 3)), sample(rand()), sample(rand(0))],
    lambda x: np.sum(x**2) / 2, FLOATS, tolerance=LOW,
        bad=[(sample([1, 2]), Invalid, "'T' of int32 is not in the list of allowed values")]),
    Row("nn.local_response_normalization", [
        sample(rand(1, 2, 1, 6), 2, 1.0, 0.5, 0.75), sample(rand(1, 1, 2, 3)), sample(rand(2, 1, 1, 4), depth_radius=0),
    ], lrn, ("float16", "bfloat16", "float32"), gradient=False, tolerance=LOW, bad=[
        (sample([1.0]), Invalid, "in must be 4-dimensional"),
        (sample(tf.ones([1, 1, 1, 1], tf.float64)), Invalid, "'T' of double is not in the list of allowed values"),
    ]),
    Row("nn.depth_to_space", [sample(rand(1, 2, 3, 8), 2), sample(rand(1, 9, 1, 2), 3, data_format="NCHW")],
    depth_to_space,
        (*FLOATS, "int32", "uint16", "complex64"), bad=[
        (sample(np.ones([1, 2, 2, 8]), 3), Invalid, "Input depth dimension 8 should be divisible by: 9"),
        (sample(np.ones([1, 2, 2, 8]), 1), Invalid, "must be at least minimum 2"),
    ]),
    Row("nn.space_to_depth", [sample(rand(1, 4, 6, 2), 2), sample(rand(1, 1, 3, 6), 3, data_format="NCHW")],
    space_to_depth,
        (*FLOATS, "int32"), bad=[(sample(np.ones([1, 2, 2, 8]), 3), Invalid, "should be divisible by block_size: 3")]),
    Row("nn.dilation2d", [
        sample(rand(1, 5, 4, 2), rand(2, 3, 2), [1] * 4, "SAME", "NHWC", [1] * 4),
        sample(rand(1, 5, 5, 1), rand(2, 2, 1), [1, 2, 1, 1], "VALID", "NHWC", [1, 2, 1, 1]),
    ], dilation, FLOATS, tolerance=LOW, bad=[
        (sample(np.ones([1, 5, 4, 2]), np.ones([2, 2, 3]), [1] * 4, "VALID", "NHWC", [1] * 4), Invalid,
         "input and filter must have the same depth: 2 vs 3"),
        (sample(np.ones([1, 5, 4, 2]), np.ones([2, 2, 2]), [1] * 4, "VALID", "NCHW", [1] * 4),
        ValueError, "`data_format`"),
    ]),
    Row("nn.erosion2d", [sample(rand(1, 5, 4, 2), rand(2, 3, 2), [1] * 4, "SAME", "NHWC", [1] * 4)], erosion),
    Row("nn.embedding_lookup", [
        sample(rand(4, 2), [3, 0, 3]), sample(rand(4, 2, 3), [[1], [2]]), sample(rand(4), 2),
        sample(rand(4, 2), np.array([1, 3]), max_norm=1.0),
    ], embedding, bad=[
        (sample(np.ones([4, 2]), [9]), Invalid, "is not in [0, 4)"),
        (sample(None, [0]), ValueError, "Need at least one param"),
    ]),
    Row("nn.isotonic_regression", [
        sample(rand(6)), sample(rand(2, 5)), sample(rand(4, 2), axis=0), sample(rand(5), decreasing=False),
    ]),
    Row("math.zero_fraction", [sample(np.array([0, 0, 3])), sample(np.array([0.0, 2.0]))], lambda x: np.mean(x == 0),
        ("float32",), gradient=False, result="float32"),
]  # fmt: skip
