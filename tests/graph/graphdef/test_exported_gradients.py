"""Gradients of ops for tensors of unknown sizes: in a `GraphDef` they are operations that TensorFlow has."""

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.core.ops import op_def

v1 = tf.compat.v1


def numbers(*shape, low=-1.0):
    return np.random.default_rng(sum(shape)).uniform(low, 1.0, shape)


def nodes(graph_def):
    return [*graph_def.node, *(node for function in graph_def.library.function for node in function.node_def)]


def loss(found):
    return sum(tf.reduce_sum(tf.sin(t) * t) for t in tf.nest.flatten(found) if t.dtype.is_floating)


COLORS = numbers(2, 4, 3, low=0.05)
PATCHES = [1, 2, 2, 1], [1, 1, 2, 1], [1, 2, 1, 1]

OF_UNKNOWN_SIZES = {
    "qr": (lambda x: tf.linalg.qr(x), numbers(4, 3)),
    "qr of wide matrices": (lambda x: tf.linalg.qr(x), numbers(2, 2, 3)),
    "cumulative_logsumexp": (lambda x: tf.math.cumulative_logsumexp(x, 1), numbers(2, 5)),
    "cumulative_logsumexp backwards": (lambda x: tf.math.cumulative_logsumexp(x, 0, False, True), numbers(3, 2)),
    "extract_patches": (lambda x: tf.image.extract_patches(x, *PATCHES, "SAME"), numbers(2, 4, 5, 2)),
    "extract_patches within": (lambda x: tf.image.extract_patches(x, *PATCHES, "VALID"), numbers(1, 4, 5, 2)),
    "extract_volume_patches": (
        lambda x: tf.extract_volume_patches(x, [1, 2, 1, 2, 1], [1, 1, 1, 1, 1], "SAME"),
        numbers(1, 2, 2, 3, 2),
    ),
    "lstsq": (lambda x: tf.linalg.lstsq(x, tf.ones_like(x[..., :1]), fast=False), numbers(4, 3)),
    "lstsq of few equations": (lambda x: tf.linalg.lstsq(x, tf.ones_like(x[..., :1]), fast=False), numbers(2, 4)),
    "isotonic_regression": (lambda x: tf.nn.isotonic_regression(x)[0], numbers(3, 5)),
    "banded_triangular_solve": (
        lambda x: tf.linalg.banded_triangular_solve(x, tf.ones_like(x[0])[:, None]),
        numbers(2, 4, low=0.5),
    ),
    "rgb_to_hsv": (lambda x: tf.image.rgb_to_hsv(x), COLORS),
    "hsv_to_rgb": (lambda x: tf.image.hsv_to_rgb(x), COLORS),
    "dilation2d": (
        lambda x: tf.nn.dilation2d(x, x[0, :2, :2], [1, 2, 1, 1], "SAME", "NHWC", [1, 1, 2, 1]),
        numbers(2, 4, 5, 2),
    ),
    "dynamic_partition": (lambda x: tf.dynamic_partition(x, tf.cast(x > 0.0, tf.int32), 2), numbers(4, 3)),
    "rfft of a length in a tensor": (lambda x: tf.math.real(tf.signal.rfft(x, tf.shape(x)[1:] + 3)), numbers(2, 4)),
    "irfft of a length in a tensor": (
        lambda x: tf.signal.irfft(tf.complex(x, x * x), tf.shape(x)[1:] + 3),
        numbers(2, 4),
    ),
}

TABLE = numbers(4, 3)
OF_UNKNOWN_RANKS = {
    "strided_slice": lambda x: x[1:, ::-2],
    "slice": lambda x: tf.slice(x, [1, 0], [-1, 2]),
    "tile": lambda x: tf.tile(x, [2, 3]),
    "pad": lambda x: tf.pad(x, [[1, 0], [2, 1]]),
    "reduce_prod": lambda x: tf.reduce_prod(x, -1, keepdims=True) + tf.reduce_prod(x),
    "gather_nd": lambda x: tf.gather_nd(x, [[1, 2], [0, 0]]) + tf.reduce_sum(tf.gather_nd(x, [[3], [3]])),
    "top_k": lambda x: tf.math.top_k(x, 2).values,
    "segment_mean": lambda x: tf.math.segment_mean(x, [0, 0, 2, 2]),
    "segment_max": lambda x: tf.math.segment_max(x, [0, 0, 2, 2]),
    "segment_prod": lambda x: tf.math.segment_prod(x, [0, 0, 2, 2]),
    "unsorted_segment_sum": lambda x: tf.math.unsorted_segment_sum(x, [1, -1, 0, 1], 3),
    "unsorted_segment_min": lambda x: tf.math.unsorted_segment_min(x, [1, 0, 0, 1], 2),
    "unsorted_segment_mean": lambda x: tf.math.unsorted_segment_mean(x, [1, 0, 0, 1], 2),
    "tensor_scatter_nd_update": lambda x: tf.tensor_scatter_nd_update(x, [[1]], [[5.0, 6.0, 7.0]]),
    "dynamic_partition": lambda x: tf.dynamic_partition(x, [1, 0, 0, 1], 2),
    "einsum": lambda x: tf.einsum("ij,kj->ik", x, x),
}

SQUARE = numbers(3, 3) @ numbers(3, 3).T + 2.0 * np.eye(3)
OF_MATRICES_OF_UNKNOWN_RANKS = {
    "lu": lambda x: tf.linalg.lu(x)[0],
    "sqrtm": lambda x: tf.linalg.sqrtm(x),
    "tridiagonal_solve": lambda x: tf.linalg.tridiagonal_solve(x, tf.ones([3, 1], tf.float64)),
}


@pytest.mark.parametrize("name", OF_UNKNOWN_RANKS)
def test_unknown_ranks(name):
    check(OF_UNKNOWN_RANKS[name], TABLE, None)


@pytest.mark.parametrize("name", OF_MATRICES_OF_UNKNOWN_RANKS)
def test_matrices_of_unknown_ranks(name):
    check(OF_MATRICES_OF_UNKNOWN_RANKS[name], SQUARE, None)


@pytest.mark.parametrize("name", OF_UNKNOWN_SIZES)
def test_unknown_sizes(name):
    check(*OF_UNKNOWN_SIZES[name], [None] * OF_UNKNOWN_SIZES[name][1].ndim)


def check(function, value, shape):
    with tf.Graph().as_default() as graph:
        x = v1.placeholder(tf.float64, shape, name="x")
        (gradient,) = tf.gradients(loss(function(x)), x)
        fetch = tf.convert_to_tensor(gradient).name
        graph_def = graph.as_graph_def()
    for node in nodes(graph_def):
        assert node.op in {f.signature.name for f in graph_def.library.function} or op_def.get(node.op)
    with tf.GradientTape() as tape:
        x = tf.Variable(value)
        target = loss(function(x))
    expected = tf.convert_to_tensor(tape.gradient(target, x)).numpy()
    with tf.Graph().as_default(), v1.Session() as session:
        tf.import_graph_def(graph_def, name="")
        np.testing.assert_allclose(session.run(fetch, {"x:0": value}), expected, rtol=1e-9, atol=1e-12)
