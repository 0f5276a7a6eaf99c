"""Forms of gathers, scatters and products: the runtime and TapeFlow compute the same values."""

import numpy as np
import pytest

pytest.importorskip("ai_edge_litert")

import tapeflow as tf
from lite_runtime import check, convert

X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
TABLE = np.arange(20, dtype=np.float32).reshape(5, 4)
MATRIX = np.float32([[1, 2, 3], [4, 5, 7]])
PLACES = np.int32([[2, 0], [1, 1]])


@pytest.mark.parametrize(("function", "inputs", "batch"), [
    (lambda x: tf.gather(x, [2, 0], axis=1), [X], True),
    (lambda x: tf.gather(x, [[2, 0], [1, 1]], axis=-1), [X], True),
    (lambda x, i: tf.gather(x, i, axis=1, batch_dims=1), [X, PLACES], False),
    (lambda x, i: tf.gather(x, i, axis=2, batch_dims=1), [X, PLACES], False),
    (lambda x, i: tf.gather(x, i, axis=1, batch_dims=-1), [X, PLACES], False),
    (lambda i: tf.gather(TABLE, i), [PLACES], True),
    (lambda i: tf.nn.embedding_lookup(TABLE, i), [PLACES], True),
    (lambda i: tf.nn.embedding_lookup(TABLE, i), [np.int32([4, 0])], True),
    (lambda x: tf.gather_nd(x, [[0, 2], [1, 1]]), [X], False),
    (lambda x: tf.gather_nd(x, [[1], [0]], batch_dims=1), [X], False),
    (lambda x: tf.scatter_nd([[2], [0]], x, [4, 3]), [MATRIX], False),
    (lambda x: tf.tensor_scatter_nd_update(x, [[1]], [[7.0, 8.0, 9.0]]), [MATRIX], False),
    (lambda x: tf.tensor_scatter_nd_add(x, [[0, 1], [0, 1]], [7.0, 8.0]), [MATRIX], False),
    (lambda x: tf.math.invert_permutation(x), [np.int32([2, 0, 3, 1])], False),
    (lambda x: tf.boolean_mask(x, [True, False, True], axis=1), [X], False),
    (lambda x: tf.linalg.matmul(x, TABLE[:4, :3]), [X], True),
    (lambda x: tf.linalg.matmul(x, TABLE[:3, :4], transpose_b=True), [X], True),
    (lambda x, y: tf.linalg.matmul(x, y, transpose_a=True), [X, X + 1], False),
    (lambda x, y: tf.linalg.matmul(x, y, adjoint_b=True), [X, X + 1], False),
    (lambda x, y: tf.linalg.matmul(x, y, transpose_a=True), [MATRIX, MATRIX + 1], False),
    (lambda x: tf.einsum("abc,dc->bad", x, TABLE), [X], False),
    (lambda x, y: tf.einsum("abc,abd->acd", x, y), [X, X[..., :2]], False),
    (lambda x: tf.tensordot(x, TABLE[:4], 1), [X], True),
])  # fmt: skip
def test_values(function, inputs, batch):
    check(function, *inputs, batch=batch)


@pytest.mark.parametrize(("function", "shape", "message"), [
    (lambda x: tf.einsum("aa->a", x), [3, 3], "a repeated label of one operand has no form"),
    (lambda x: tf.math.invert_permutation(tf.cast(x, tf.int32)), [None], "the permutation must have a static size"),
])  # fmt: skip
def test_ops_without_a_form(function, shape, message):
    with pytest.raises(TypeError, match=message):
        convert(function, tf.TensorSpec(shape))
