"""Forms of ops of shapes: the runtime and TapeFlow compute the same values."""

import numpy as np
import pytest

pytest.importorskip("ai_edge_litert")

import tapeflow as tf
from lite_runtime import assert_close, check, codes, convert, run

X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
INTS = np.arange(12, dtype=np.int32).reshape(3, 4)
IMAGES = np.arange(2 * 4 * 4 * 4, dtype=np.float32).reshape(2, 4, 4, 4)


@pytest.mark.parametrize(("function", "inputs", "batch"), [
    (lambda x: tf.transpose(x, [2, 0, 1]), [X], True),
    (lambda x: tf.transpose(x), [X], True),
    (lambda x: tf.transpose(x, tf.range(3)[::-1]), [X], True),
    (lambda x, p: tf.transpose(x, p), [X, np.int32([1, 2, 0])], False),
    (lambda x, p: tf.transpose(x, p), [X, np.int64([2, 1, 0])], False),
    (lambda x: tf.roll(x, 1, 1), [X], True),
    (lambda x: tf.roll(x, -2, 2), [X], True),
    (lambda x: tf.roll(x, [1, 2], [1, 2]), [X], True),
    (lambda x: tf.roll(x, 3, 1), [X], True),
    (lambda x: tf.roll(x, 7, -1), [X], True),
    (lambda x: tf.roll(x, [1, 1], [0, 0]), [X], False),
    (lambda x: tf.pad(x, [[0, 0], [1, 2], [0, 3]]), [X], True),
    (lambda x: tf.pad(x, [[1, 0], [0, 2]], constant_values=7), [INTS], False),
    (lambda x: tf.pad(x, [[1, 1], [1, 2]], "REFLECT"), [INTS], False),
    (lambda x: tf.pad(x, [[1, 1], [1, 2]], "SYMMETRIC"), [INTS], False),
    (lambda x: x[:, 1], [X], True),
    (lambda x: x[:, 1:, ::2], [X], True),
    (lambda x: x[:, ::-1, -1], [X], True),
    (lambda x: x[:, tf.newaxis, ..., 2:3], [X], True),
    (lambda x: x[0, 1, 2], [X], False),
    (lambda x: tf.reshape(x, [-1, 6]), [X], True),
    (lambda x: tf.reshape(x, [2, 12]), [X], False),
    (lambda x: tf.expand_dims(x, -1) + tf.expand_dims(x, 1), [INTS], True),
    (lambda x: tf.squeeze(x[:, :1], 1), [X], True),
    (lambda x: tf.concat([x, x * 2], 1), [X], True),
    (lambda x: tf.concat([x, x * 2], -1), [X], True),
    (lambda x: tf.stack([x, -x], 1), [X], True),
    (lambda x: tf.unstack(x, axis=1), [X], True),
    (lambda x: tf.split(x, 2, 2), [X], True),
    (lambda x: tf.split(x, [1, 3], -1), [X], True),
    (lambda x: tf.tile(x, [1, 2, 3]), [X], True),
    (lambda x: tf.repeat(x, 2, 1), [X], True),
    (lambda x: tf.reverse(x, [1]), [X], True),
    (lambda x: tf.reverse(x, [1, -1]), [X], False),
    (lambda x: tf.shape(x), [X], True),
    (lambda x: tf.size(x) + tf.rank(x), [X], True),
    (lambda x: tf.fill([2, 3], x[0, 0, 1]), [X], False),
    (lambda x: tf.broadcast_to(x, [2, 3, 4]), [INTS], False),
    (lambda x: tf.slice(x, [0, 1, 0], [-1, 2, 3]), [X], True),
    (lambda x: tf.linalg.diag(x), [INTS[:, :3].astype("f")], False),
    (lambda x: tf.linalg.diag_part(x), [X], False),
    (lambda x: tf.linalg.band_part(x, 1, 0), [X], False),
    (lambda x: tf.linalg.band_part(x, -1, 1), [X], False),
    (lambda x: tf.linalg.band_part(x, 0, -1), [X], False),
    (lambda x: tf.nn.depth_to_space(x, 2), [IMAGES], True),
    (lambda x: tf.nn.space_to_depth(x, 2), [IMAGES], True),
    (lambda x: tf.meshgrid(x[0], x[1]), [INTS], False),
    (lambda x: tf.one_hot(x, 5, 3.0, -1.0), [INTS[0]], True),
    (lambda x: tf.one_hot(x, 5, axis=0), [INTS[0]], False),
    (lambda x: tf.roll(x, 1, 0), [np.zeros([0, 2], np.float32)], False),
    (lambda x: tf.zeros([0, 2]) + tf.reduce_sum(x), [X], False),
])  # fmt: skip
def test_values(function, inputs, batch):
    check(function, *inputs, batch=batch)


@pytest.mark.parametrize(("function", "shape", "message"), [
    (lambda x: tf.roll(x, 1, 0), [None, 3], "it rolls along an axis of unknown size"),
    (lambda x: tf.nn.depth_to_space(x, 2, "NCHW"), [1, 4, 2, 2], "only the data format NHWC has a form"),
    (lambda x: tf.nn.space_to_depth(x, 2, "NCHW"), [1, 4, 2, 2], "only the data format NHWC has a form"),
    (lambda x: tf.linalg.diag(x, k=1), [2, 3], "only the main diagonal of a square matrix"),
    (lambda x: tf.linalg.diag_part(x, k=1), [2, 3], "only the main diagonal"),
    (lambda x: tf.linalg.diag_part(x), [2, None, 3], "only the main diagonal of matrices of static sizes"),
    (lambda x: tf.linalg.band_part(x, 1, 0), [None, None], "the matrices must have static sizes"),
    (lambda x: tf.roll(x, tf.cast(x[0, 0], tf.int32), 1), [2, 3], "must be constant"),
])  # fmt: skip
def test_ops_without_a_form(function, shape, message):
    with pytest.raises(TypeError, match=message):
        convert(function, tf.TensorSpec(shape))


@pytest.mark.parametrize(("function", "expected"), [
    (lambda x: x[:], {}),
    (lambda x: x[:, :3], {}),
    (lambda x: x[:, 0:9, ...], {}),
    (lambda x: x[:, :2], {"STRIDED_SLICE": 1}),
    (lambda x: x[:, 1:], {"STRIDED_SLICE": 1}),
    (lambda x: x[:, ::2], {"STRIDED_SLICE": 1}),
    (lambda x: x[:, 1], {"STRIDED_SLICE": 1}),
    (lambda x: x[:, tf.newaxis], {"RESHAPE": 1}),
    (lambda x: x[..., tf.newaxis, :2], {"STRIDED_SLICE": 1, "RESHAPE": 1}),
    (lambda x: tf.reduce_sum(x, 1, keepdims=True)[:, 0], {"SUM": 1, "RESHAPE": 1}),
    (lambda x: tf.concat([x, x[:, :0]], 1), {}),
    (lambda x: tf.concat([x[:, :0], x[:, :0]], 1), {"STRIDED_SLICE": 1}),
    (lambda x: tf.pad(x, [[0, 0], [1, 2], [0, 0]]), {"PAD": 1}),
    (lambda x: tf.pad(x, [[0, 0], [1, 2], [0, 0]], constant_values=0.0), {"PAD": 1}),
    (lambda x: tf.pad(x, [[0, 0], [1, 2], [0, 0]], constant_values=1.0), {"PADV2": 1}),
    (lambda x: tf.roll(x, 3, 1), {}),
    (lambda x: tf.roll(x, 1, 1), {"SPLIT_V": 1, "CONCATENATION": 1}),
    (lambda x: tf.roll(x, [1, 0], [1, 2]), {"SPLIT_V": 1, "CONCATENATION": 1}),
    (lambda x: tf.reverse(x, [1, 2]), {"REVERSE_V2": 2}),
    (lambda x: tf.transpose(x, [0, 1, 2]), {}),
    (lambda x: tf.transpose(x, [0, 2, 1]), {"TRANSPOSE": 1}),
    (lambda x: tf.transpose(x, [0, -1, -2]), {"TRANSPOSE": 1}),
    (lambda x: tf.reshape(x, [-1, 3, 4]), {}),
    (lambda x: tf.reshape(x, [-1, 12]), {"RESHAPE": 1}),
    (lambda x: tf.expand_dims(x, 1), {"RESHAPE": 1}),
    (lambda x: tf.squeeze(x[:, :1], 1), {"STRIDED_SLICE": 1, "RESHAPE": 1}),
    (lambda x: tf.shape(x), {"SHAPE": 1}),
    (lambda x: tf.size(x), {"SHAPE": 1, "REDUCE_PROD": 1}),
])  # fmt: skip
def test_operators(function, expected):
    assert codes(check(lambda x: function(x) * 2, X)) == {**expected, "MUL": 1}


LONG = np.arange(24, dtype=np.float32).reshape(2, 3, 1, 4)


@pytest.mark.parametrize(("function", "shape", "expected"), [
    (lambda x: tf.expand_dims(x, 1), [None, None, 1, 4], {"EXPAND_DIMS": 1}),
    (lambda x: tf.expand_dims(x, -1), [None, None, 1, 4], {"EXPAND_DIMS": 1}),
    (lambda x: tf.squeeze(x, 2), [None, None, 1, 4], {"SQUEEZE": 1}),
    (lambda x: tf.squeeze(x, -2), [None, None, 1, 4], {"SQUEEZE": 1}),
    (lambda x: tf.squeeze(x, [2]), [None, 3, 1, None], {"SQUEEZE": 1}),
    (lambda x: x[:, :, 0], [None, None, 1, 4], {"STRIDED_SLICE": 1}),
    (lambda x: x[..., 1:3], [None, None, 1, 4], {"STRIDED_SLICE": 1}),
    (lambda x: x[:, tf.newaxis], [None, None, 1, 4], {"STRIDED_SLICE": 1, "EXPAND_DIMS": 1}),
    (lambda x: x[tf.newaxis, :, 1:, 0, tf.newaxis], [None, None, 1, 4], {"STRIDED_SLICE": 1, "EXPAND_DIMS": 2}),
    (lambda x: x[..., tf.newaxis], [None, None, 1, 4], {"STRIDED_SLICE": 1, "EXPAND_DIMS": 1}),
    (lambda x: x[:, ::-1, tf.newaxis, ..., ::2], [None, None, 1, 4], {"STRIDED_SLICE": 1, "EXPAND_DIMS": 1}),
    (lambda x: tf.reshape(x, [-1, 4]), [None, None, 1, 4], {"RESHAPE": 1}),
    (lambda x: tf.reshape(x, [-1, 2, 2]), [None, None, 1, 4], {"RESHAPE": 1}),
    (lambda x: tf.reshape(x, [-1, tf.shape(x)[1] * 4]), [None, None, 1, 4], None),
    (lambda x: tf.transpose(x, [1, 0, 3, 2]), [None, None, 1, 4], {"TRANSPOSE": 1}),
    (lambda x: tf.concat([x, x], 1), [None, None, 1, 4], {"CONCATENATION": 1}),
    (lambda x: tf.stack([x, x], 2), [None, None, 1, 4], {"PACK": 1}),
    (lambda x: tf.unstack(x, axis=3), [None, None, 1, 4], {"UNPACK": 1}),
    (lambda x: tf.split(x, 2, -1), [None, None, 1, 4], {"SPLIT": 1}),
    (lambda x: tf.split(x, [1, 3], 3), [None, None, 1, 4], {"SPLIT_V": 1}),
    (lambda x: tf.tile(x, [1, 2, 3, 1]), [None, None, 1, 4], {"TILE": 1}),
    (lambda x: tf.pad(x, [[0, 0], [1, 1], [0, 0], [2, 0]]), [None, None, 1, 4], {"PAD": 1}),
    (lambda x: tf.reverse(x, [1]), [None, None, 1, 4], {"REVERSE_V2": 1}),
    (lambda x: tf.broadcast_to(x, tf.shape(x)), [None, None, 1, 4], None),
    (lambda x: tf.zeros_like(x) + x, [None, None, 1, 4], None),
    (lambda x: tf.fill(tf.shape(x)[:2], 3.0), [None, None, 1, 4], None),
    (lambda x: tf.shape_n([x, x[0]]), [None, None, 1, 4], None),
    (lambda x: x[:tf.shape(x)[1]], [None, None, 1, 4], None),
])  # fmt: skip
def test_several_sizes_are_unknown(function, shape, expected):
    content = convert(function, tf.TensorSpec(shape))
    for got, want in zip(run(content, LONG), tf.nest.flatten(function(tf.constant(LONG))), strict=True):
        assert got.shape == tuple(want.shape)
        assert_close(got, want.numpy(), 1e-6)
    assert expected is None or codes(content) == expected
