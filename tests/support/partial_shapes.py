"""Calls whose shapes, sizes, axes, multiples and paddings are partly static, and the static shapes of their results.

`scripts/record.py partial_shapes` runs this with TensorFlow in TapeFlow's place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import tapeflow as tf
from static_shapes import shape_text

tnp, image, random, nn, linalg, signal, v1 = (
    tf.experimental.numpy, tf.image, tf.random, tf.nn, tf.linalg, tf.signal, tf.compat.v1,
)  # fmt: skip
SEED = [1, 2]


class Inputs:
    """The arguments of a traced function, and what calls make of them.

    Attributes:
        n: an unknown int32 scalar.
        rows: a tensor of shape [None, 3].
        any: a tensor of unknown rank.
        vector: makes a vector of ints; None stands for an unknown one.
    """

    def __init__(self, n: Any, rows: Any, any: Any, vector: Callable[..., Any]) -> None:
        self.n, self.rows, self.any, self.vector = n, rows, any, vector

    def of(self, *dims: int | None, dtype: Any = None) -> Any:
        """A tensor of a static shape."""
        return tf.ensure_shape(self.any if dtype is None else tf.cast(self.any, dtype), dims)


def _shape_of(a: Inputs, dims: Any) -> Any:
    return tf.shape(a.of(*dims))


def _parts(a: Inputs, dims: Any) -> Any:
    shape = tf.shape(a.rows)
    return tf.concat([shape[:1] if d is None else tf.constant([d]) for d in dims], 0)


# How a vector is made whose numbers are partly static.
FORMS: dict[str, Callable[[Inputs, Any], Any]] = {
    "list": lambda a, dims: [a.n if d is None else d for d in dims],
    "stack": lambda a, dims: tf.stack([a.n if d is None else d for d in dims]),
    "shape": _shape_of,
    "parts": _parts,
    "slice": lambda a, dims: tf.stack([7, *(a.n if d is None else d for d in dims)])[1:],
    "int64": lambda a, dims: tf.cast(tf.stack([a.n if d is None else d for d in dims]), tf.int64),
}

Call = Callable[[Inputs], Any]

# Each takes vectors that `a.vector` makes.
VECTOR_CALLS: dict[str, Call] = {
    "zeros": lambda a: tf.zeros(a.vector(None, 3)),
    "ones": lambda a: tf.ones(a.vector(2, None, 3)),
    "fill": lambda a: tf.fill(a.vector(None, 3), 1.0),
    "broadcast_to": lambda a: tf.broadcast_to(1.0, a.vector(None, 3)),
    "broadcast_to rows": lambda a: tf.broadcast_to(a.rows, a.vector(2, None, 3)),
    "reshape": lambda a: tf.reshape(a.rows, a.vector(None, 3, 1)),
    "reshape -1": lambda a: tf.reshape(a.rows, a.vector(-1, None, 3)),
    "reshape unknown": lambda a: tf.reshape(a.any, a.vector(None, 3)),
    "tile": lambda a: tf.tile(tf.ones([2, 3]), a.vector(None, 2)),
    "tile rows": lambda a: tf.tile(a.rows, a.vector(2, None)),
    "tile 1": lambda a: tf.tile(a.rows, a.vector(None, 1)),
    "pad": lambda a: tf.pad(tf.ones([2, 3]), [a.vector(1, None), a.vector(1, 2)]),
    "pad stack": lambda a: tf.pad(tf.ones([2, 3]), tf.stack([a.vector(None, 1), a.vector(2, 2)])),
    "pad reflect": lambda a: tf.pad(tf.ones([2, 3]), [a.vector(1, None), a.vector(1, 2)], "REFLECT"),
    "slice size": lambda a: tf.slice(tf.ones([4, 5]), [0, 1], a.vector(None, 2)),
    "slice begin": lambda a: tf.slice(tf.ones([4, 5]), a.vector(None, 1), tf.cast([2, -1], int_dtype(a.vector(1)))),
    "strided_slice": lambda a: tf.strided_slice(tf.ones([4, 5]), a.vector(0, 1), a.vector(None, 3)),
    "scatter_nd": lambda a: tf.scatter_nd(
        tf.cast([[0]], int_dtype(a.vector(1))), tf.ones([1, 3]), a.vector(None, 3)),
    "transpose": lambda a: tf.transpose(tf.ones([2, 3, 4]), a.vector(0, None, None)),
    "reduce_sum": lambda a: tf.reduce_sum(tf.ones([2, 3, 4]), a.vector(0, None)),
    "reduce_sum keepdims": lambda a: tf.reduce_sum(tf.ones([2, 3, 4]), a.vector(0, None), True),
    "reverse": lambda a: tf.reverse(tf.ones([2, 3, 4]), a.vector(0, None)),
    "roll": lambda a: tf.roll(tf.ones([2, 3]), a.vector(1, None), [0, 1]),
    "split sizes": lambda a: tf.split(tf.ones([5, 3]), a.vector(2, None)),
    "split sizes axis": lambda a: tf.split(a.rows, a.vector(2, None), 1),
    "repeat": lambda a: tf.repeat(tf.ones([2, 3]), a.vector(1, None), 0),
    "eye": lambda a: tf.eye(3, batch_shape=a.vector(None, 2)),
    "linalg.eye": lambda a: linalg.eye(3, 4, a.vector(None, 2)),
    "ensure_shape": lambda a: tf.ensure_shape(a.any, [None, 3]),
    "space_to_batch": lambda a: tf.space_to_batch(
        tf.ones([1, 4, 4, 1]), [2, 2], [a.vector(0, 0), a.vector(0, None)]),
    "batch_to_space": lambda a: tf.batch_to_space(tf.ones([4, 2, 2, 1]), [2, 2], [a.vector(0, 0), a.vector(0, None)]),
    "space_to_batch block": lambda a: tf.space_to_batch(tf.ones([1, 4, 4, 1]), a.vector(None, 2), [[0, 0], [0, 0]]),
    "broadcast_dynamic_shape": lambda a: tf.zeros(tf.broadcast_dynamic_shape(a.vector(None, 3), a.vector(None, 1))),
    "unravel_index": lambda a: tf.unravel_index(tf.cast([1, 2], int_dtype(a.vector(1))), a.vector(None, 3)),
    "zeros_like of": lambda a: tf.zeros_like(tf.zeros(a.vector(None, 3))),
    "sequence_mask": lambda a: tf.sequence_mask(a.vector(None, 3), 4),
    "one_hot": lambda a: tf.one_hot(a.vector(None, 3), 4),
    "meshgrid": lambda a: tf.meshgrid(tf.zeros(a.vector(3)), tf.zeros(a.vector(4))),
    "edges": lambda a: tf.concat([tf.zeros(a.vector(None, 3)), a.rows], 0),
    "matmul": lambda a: tf.matmul(tf.zeros(a.vector(2, None)), a.rows),
    "gather": lambda a: tf.gather(tf.zeros(a.vector(None, 3)), [0, 1], axis=1),
    "tensordot": lambda a: tf.tensordot(tf.zeros(a.vector(2, None)), a.rows, 1),
    "tensor_scatter": lambda a: tf.tensor_scatter_nd_update(tf.zeros(a.vector(None, 3)), [[0]], tf.ones([1, 3])),
    "TensorArray": lambda a: tf.TensorArray(tf.float32, 1).write(0, tf.zeros(a.vector(None, 3))).stack(),
    "constant": lambda a: tf.convert_to_tensor(a.vector(None, 3)),
    "cast": lambda a: tf.zeros(tf.cast(a.vector(None, 3), tf.int64)),
    "identity": lambda a: tf.zeros(tf.identity(a.vector(None, 3))),
    "stop_gradient": lambda a: tf.zeros(tf.stop_gradient(tf.convert_to_tensor(a.vector(None, 3)))),
    "concat": lambda a: tf.zeros(tf.concat([a.vector(None, 3), tf.cast([4], int_dtype(a.vector(1)))], 0)),
    "concat front": lambda a: tf.zeros(tf.concat([tf.cast([4], int_dtype(a.vector(1))), a.vector(None, 3)], 0)),
    "slice of": lambda a: tf.zeros(tf.convert_to_tensor(a.vector(None, 3, 4))[1:]),
    "slice of from end": lambda a: tf.zeros(tf.convert_to_tensor(a.vector(None, 3, 4))[:-1]),
    "slice of reversed": lambda a: tf.zeros(tf.convert_to_tensor(a.vector(None, 3, 4))[::-1]),
    "item": lambda a: tf.zeros([tf.convert_to_tensor(a.vector(None, 3))[1], 2]),
    "unstack": lambda a: tf.zeros(tf.unstack(tf.convert_to_tensor(a.vector(None, 3)))),
    # random numbers
    "random.normal": lambda a: random.normal(a.vector(None, 3)),
    "random.uniform": lambda a: random.uniform(a.vector(None, 3)),
    "random.uniform int": lambda a: random.uniform(a.vector(None, 3), maxval=5, dtype=tf.int32),
    "random.truncated_normal": lambda a: random.truncated_normal(a.vector(None, 3)),
    "random.gamma": lambda a: random.gamma(a.vector(None, 3), [1.0, 2.0]),
    "random.poisson": lambda a: random.poisson(a.vector(None, 3), [1.0, 2.0]),
    "random.stateless_normal": lambda a: random.stateless_normal(a.vector(None, 3), SEED),
    "random.stateless_uniform": lambda a: random.stateless_uniform(a.vector(None, 3), SEED),
    "random.stateless_uniform int": lambda a: random.stateless_uniform(a.vector(None, 3), SEED, 0, 5, tf.int32),
    "random.stateless_truncated_normal": lambda a: random.stateless_truncated_normal(a.vector(None, 3), SEED),
    "random.stateless_gamma": lambda a: random.stateless_gamma(a.vector(None, 2), SEED, [1.0, 2.0]),
    "random.stateless_poisson": lambda a: random.stateless_poisson(a.vector(None, 2), SEED, [1.0, 2.0]),
    "random.stateless_binomial": lambda a: random.stateless_binomial(a.vector(None, 2), SEED, [4.0, 5.0], 0.5),
    "random.stateless_parameterized_truncated_normal": lambda a: random.stateless_parameterized_truncated_normal(
        a.vector(None, 2), SEED),
    "Generator.normal": lambda a: GENERATOR.normal(a.vector(None, 3)),
    "Generator.uniform": lambda a: GENERATOR.uniform(a.vector(None, 3)),
    "Generator.uniform_full_int": lambda a: GENERATOR.uniform_full_int(a.vector(None, 3)),
    "Generator.truncated_normal": lambda a: GENERATOR.truncated_normal(a.vector(None, 3)),
    "Generator.binomial": lambda a: GENERATOR.binomial(a.vector(None, 2), [4.0, 5.0], 0.5),
    "nn.dropout": lambda a: nn.dropout(a.rows, 0.5, noise_shape=a.vector(None, 1)),
    "nn.experimental.stateless_dropout": lambda a: nn.experimental.stateless_dropout(
        a.rows, 0.5, SEED, noise_shape=a.vector(None, 1)),
    # initializers
    "zeros_initializer": lambda a: tf.zeros_initializer()(a.vector(None, 3)),
    "random_normal_initializer": lambda a: tf.random_normal_initializer()(a.vector(None, 3)),
    # images
    "image.resize": lambda a: image.resize(tf.ones([2, 4, 4, 3]), a.vector(None, 5)),
    "image.resize one": lambda a: image.resize(tf.ones([4, 4, 3]), a.vector(5, None)),
    "image.resize antialias": lambda a: image.resize(tf.ones([2, 4, 4, 3]), a.vector(None, 5), antialias=True),
    "image.resize nearest": lambda a: image.resize(tf.ones([2, 4, 4, 3]), a.vector(None, 5), "nearest"),
    "image.random_crop": lambda a: image.random_crop(a.of(None, 4, 3), a.vector(2, None, 3)),
    "image.stateless_random_crop": lambda a: image.stateless_random_crop(a.of(None, 4, 3), a.vector(2, None, 3), SEED),
    "image.extract_glimpse": lambda a: image.extract_glimpse(
        tf.ones([2, 4, 4, 3]), a.vector(None, 2), tf.zeros([2, 2])),
    "image.crop_and_resize": lambda a: image.crop_and_resize(
        tf.ones([2, 4, 4, 3]), tf.ones([5, 4]), [0] * 5, a.vector(None, 2)),
    "v1.image.resize_bilinear": lambda a: v1.image.resize_bilinear(tf.ones([2, 4, 4, 3]), a.vector(None, 5)),
    "v1.image.resize_nearest_neighbor": lambda a: v1.image.resize_nearest_neighbor(
        tf.ones([2, 4, 4, 3]), a.vector(None, 5)),
    # networks
    "nn.conv2d_transpose": lambda a: nn.conv2d_transpose(
        a.of(None, 4, 4, 2), tf.ones([3, 3, 5, 2]), a.vector(None, 8, 8, 5), 2),
    "nn.conv1d_transpose": lambda a: nn.conv1d_transpose(
        a.of(None, 4, 2), tf.ones([3, 5, 2]), a.vector(None, 8, 5), 2),
    "nn.conv3d_transpose": lambda a: nn.conv3d_transpose(
        a.of(None, 4, 4, 4, 2), tf.ones([3, 3, 3, 5, 2]), a.vector(None, 8, 8, 8, 5), 2),
    "nn.conv_transpose": lambda a: nn.conv_transpose(
        a.of(None, 4, 4, 2), tf.ones([3, 3, 5, 2]), a.vector(None, 8, 8, 5), 2),
    "nn.depthwise_conv2d_backprop_input": lambda a: nn.depthwise_conv2d_backprop_input(
        a.vector(None, 4, 4, 2), tf.ones([2, 2, 2, 1]), a.of(None, 4, 4, 2), [1] * 4, "SAME"),
    "nn.depthwise_conv2d_backprop_filter": lambda a: nn.depthwise_conv2d_backprop_filter(
        a.of(None, 4, 4, 2), a.vector(2, 2, None, 1), a.of(None, 4, 4, 2), [1] * 4, "SAME"),
    "v1.nn.conv2d_backprop_input": lambda a: v1.nn.conv2d_backprop_input(
        a.vector(None, 4, 4, 2), tf.ones([2, 2, 2, 5]), a.of(None, 4, 4, 5), [1] * 4, "SAME"),
    "v1.nn.conv2d_backprop_filter": lambda a: v1.nn.conv2d_backprop_filter(
        a.of(None, 4, 4, 2), a.vector(2, 2, None, 5), a.of(None, 4, 4, 5), [1] * 4, "SAME"),
    "nn.bias_add": lambda a: nn.bias_add(tf.zeros(a.vector(None, 3)), tf.ones([3])),
    # signals
    "signal.rfft": lambda a: signal.rfft(a.rows, a.vector(4)),
    "signal.rfft2d": lambda a: signal.rfft2d(a.rows, a.vector(None, 4)),
    "signal.irfft2d": lambda a: signal.irfft2d(tf.cast(a.rows, tf.complex64), a.vector(None, 4)),
    "signal.rfft3d": lambda a: signal.rfft3d(a.of(2, 3, 4), a.vector(None, 4, 5)),
    "signal.fftshift": lambda a: signal.fftshift(a.rows, a.vector(0, 1)),
    # sparse and ragged
    "sparse.reshape": lambda a: tf.sparse.reshape(sparse_input(), a.vector(None, 3)),
    "sparse.slice": lambda a: tf.sparse.slice(sparse_input(), as_int64([0, 0]), as_int64(a.vector(None, 3))),
    "sparse.reset_shape": lambda a: tf.sparse.reset_shape(sparse_input(), as_int64(a.vector(None, 3))),
    "sparse.to_dense": lambda a: tf.sparse.to_dense(sparse_of(a, None, 3)),
    "sparse.transpose": lambda a: tf.sparse.transpose(sparse_of(a, None, 3)),
    "sparse.expand_dims": lambda a: tf.sparse.expand_dims(sparse_of(a, None, 3), 0),
    "sparse.reduce_sum": lambda a: tf.sparse.reduce_sum(sparse_of(a, None, 3), 0),
    "sparse.concat": lambda a: tf.sparse.concat(0, [sparse_of(a, None, 3), sparse_of(a, 2, 3)]),
    "sparse.shape": lambda a: tf.zeros(sparse_of(a, None, 3).dense_shape),
    "sparse.sparse_dense_matmul": lambda a: tf.sparse.sparse_dense_matmul(sparse_of(a, 2, None), a.rows),
    "sparse.fill_empty_rows": lambda a: tf.sparse.fill_empty_rows(sparse_of(a, None, 3), 0.0)[0],
    "sparse.from_dense": lambda a: tf.sparse.from_dense(tf.zeros(a.vector(None, 3))),
    "ragged.to_tensor": lambda a: ragged_input().to_tensor(shape=a.vector(None, 3)),
    "ragged.from_tensor": lambda a: tf.RaggedTensor.from_tensor(tf.zeros(a.vector(None, 3))).to_tensor(),
    "ragged.from_row_lengths": lambda a: tf.RaggedTensor.from_row_lengths(tf.ones([4]), a.vector(None, 3)),
    "DynamicRaggedShape": lambda a: tf.zeros(
        tf.experimental.DynamicRaggedShape.from_tensor(tf.zeros(a.vector(None, 3))).inner_shape),
    # numbers as in NumPy
    "tnp.zeros": lambda a: tnp.zeros(a.vector(None, 3)),
    "tnp.ones": lambda a: tnp.ones(a.vector(None, 3)),
    "tnp.empty": lambda a: tnp.empty(a.vector(None, 3)),
    "tnp.full": lambda a: tnp.full(a.vector(None, 3), 1.0),
    "tnp.full_like": lambda a: tnp.full_like(tf.zeros(a.vector(None, 3)), 1.0),
    "tnp.broadcast_to": lambda a: tnp.broadcast_to(2.0, a.vector(None, 3)),
    "tnp.broadcast_to rows": lambda a: tnp.broadcast_to(a.rows, a.vector(2, None, 3)),
    "tnp.reshape": lambda a: tnp.reshape(a.rows, a.vector(None, 3, 1)),
    "tnp.reshape -1": lambda a: tnp.reshape(a.rows, a.vector(3, -1)),
    "tnp.tile": lambda a: tnp.tile(tf.ones([2, 3]), a.vector(None, 2)),
    "tnp.transpose": lambda a: tnp.transpose(tf.ones([2, 3, 4]), a.vector(0, 2, 1)),
    "tnp.repeat": lambda a: tnp.repeat(tf.ones([2, 3]), a.vector(1, None), 0),
    "tnp.random.uniform": lambda a: tnp.random.uniform(size=a.vector(None, 3)),
    "tnp.random.poisson": lambda a: tnp.random.poisson(1.0, a.vector(None, 3)),
    "tnp.random.standard_normal": lambda a: tnp.random.standard_normal(a.vector(None, 3)),
    "tnp.random.random": lambda a: tnp.random.random(a.vector(None, 3)),
    "tnp.pad": lambda a: tnp.pad(tf.ones([2, 3]), [a.vector(1, None), a.vector(1, 2)], "constant"),
    "tnp.sum": lambda a: tnp.sum(tf.ones([2, 3, 4]), a.vector(0, 1)),
    "tnp.roll": lambda a: tnp.roll(tf.ones([2, 3]), a.vector(1, None), [0, 1]),
    "tnp.expand_dims": lambda a: tnp.expand_dims(tnp.zeros(a.vector(None, 3)), 0),
    "tnp.squeeze": lambda a: tnp.squeeze(tnp.zeros(a.vector(None, 1)), 1),
    "tnp.swapaxes": lambda a: tnp.swapaxes(tnp.zeros(a.vector(None, 3)), 0, 1),
    "tnp.moveaxis": lambda a: tnp.moveaxis(tnp.zeros(a.vector(None, 3, 4)), 0, -1),
    "tnp.concatenate": lambda a: tnp.concatenate([tnp.zeros(a.vector(None, 3)), a.rows], 1),
    "tnp.stack": lambda a: tnp.stack([tnp.zeros(a.vector(None, 3)), a.rows], 1),
    "tnp.ravel": lambda a: tnp.ravel(tnp.zeros(a.vector(2, 3))),
    "tnp.matmul": lambda a: tnp.matmul(tnp.zeros(a.vector(2, None)), a.rows),
    "tnp.where": lambda a: tnp.where(tnp.zeros(a.vector(None, 3)) > 0, 1.0, 2.0),
    "tnp.cumsum": lambda a: tnp.cumsum(tnp.zeros(a.vector(None, 3)), 1),
    "tnp.broadcast_arrays": lambda a: tnp.broadcast_arrays(a.rows, tf.zeros(a.vector(2, 1, 3))),
    "tnp.atleast_3d": lambda a: tnp.atleast_3d(tnp.zeros(a.vector(None, 3))),
    # Keras
    "keras.ops.zeros": lambda a: tf.keras.ops.zeros(a.vector(None, 3)),
    "keras.ops.ones": lambda a: tf.keras.ops.ones(a.vector(None, 3)),
    "keras.ops.full": lambda a: tf.keras.ops.full(a.vector(None, 3), 1.0),
    "keras.ops.reshape": lambda a: tf.keras.ops.reshape(a.rows, a.vector(None, 3, 1)),
    "keras.ops.broadcast_to": lambda a: tf.keras.ops.broadcast_to(a.rows, a.vector(2, None, 3)),
    "keras.ops.tile": lambda a: tf.keras.ops.tile(a.rows, a.vector(None, 2)),
    "keras.ops.pad": lambda a: tf.keras.ops.pad(a.rows, [a.vector(1, None), a.vector(1, 2)]),
    "keras.ops.slice": lambda a: tf.keras.ops.slice(tf.ones([4, 5]), [0, 1], a.vector(None, 2)),
    "keras.ops.scatter": lambda a: tf.keras.ops.scatter([[0]], tf.ones([1, 3]), a.vector(None, 3)),
    "keras.ops.split": lambda a: tf.keras.ops.split(a.of(None, 6), a.vector(2, 4), 1),
    "keras.ops.repeat": lambda a: tf.keras.ops.repeat(tf.ones([2, 3]), a.vector(1, None), 0),
    "keras.random.normal": lambda a: tf.keras.random.normal(a.vector(None, 3), seed=1),
    "keras.random.uniform": lambda a: tf.keras.random.uniform(a.vector(None, 3), seed=1),
    "keras.random.dropout": lambda a: tf.keras.random.dropout(a.rows, 0.5, a.vector(None, 1), seed=1),
    "keras.random.gamma": lambda a: tf.keras.random.gamma(a.vector(None, 3), 1.0, seed=1),
    "keras.random.truncated_normal": lambda a: tf.keras.random.truncated_normal(a.vector(None, 3), seed=1),
    # TensorFlow 1
    "v1.zeros": lambda a: v1.zeros(a.vector(None, 3)),
    "v1.ones": lambda a: v1.ones(a.vector(None, 3)),
    "v1.random_uniform": lambda a: v1.random_uniform(a.vector(None, 3)),
    "v1.random_normal": lambda a: v1.random_normal(a.vector(None, 3)),
    "v1.random_gamma": lambda a: v1.random_gamma(a.vector(None, 3), 1.0),
    "v1.pad": lambda a: v1.pad(tf.ones([2, 3]), [a.vector(1, None), a.vector(1, 2)]),
    "v1.reduce_sum": lambda a: v1.reduce_sum(tf.ones([2, 3, 4]), a.vector(0, None)),
    "v1.transpose": lambda a: v1.transpose(tf.ones([2, 3, 4]), a.vector(0, None, None)),
    "v1.sparse_to_dense": lambda a: v1.sparse_to_dense(
        tf.cast([[0, 0]], int_dtype(a.vector(1))), a.vector(None, 3), [1.0]),
    "v1.sparse_reshape": lambda a: v1.sparse_reshape(sparse_input(), a.vector(None, 3)),
    "v1.space_to_batch": lambda a: v1.space_to_batch(
        tf.ones([1, 4, 4, 1]), [a.vector(0, 0), a.vector(0, None)], block_size=2),
    "v1.nn.dropout": lambda a: v1.nn.dropout(a.rows, noise_shape=a.vector(None, 1), rate=0.5),
    "v1.placeholder_with_default": lambda a: v1.placeholder_with_default(tf.zeros(a.vector(None, 3)), [None, 3]),
    "v1.manip.tile": lambda a: v1.manip.tile(tf.ones([2, 3]), a.vector(None, 2)),
    # operators and constructions of linalg
    "linalg.diag": lambda a: linalg.diag(tf.zeros(a.vector(None, 3))),
    "linalg.set_diag": lambda a: linalg.set_diag(tf.zeros(a.vector(None, 3, 3)), tf.zeros(a.vector(None, 3))),
    "LinearOperatorIdentity": lambda a: linalg.LinearOperatorIdentity(3, a.vector(None, 2)).to_dense(),
    "LinearOperatorZeros": lambda a: linalg.LinearOperatorZeros(3, batch_shape=a.vector(None, 2)).to_dense(),
    "TensorShape": lambda a: tf.zeros(tf.shape(a.rows)) + tf.zeros(a.vector(None, 3)),
    # control flow
    "cond": lambda a: tf.cond(a.n > 0, lambda: tf.zeros(a.vector(None, 3)), lambda: tf.ones([1, 3])),
    "map_fn": lambda a: tf.map_fn(lambda x: tf.zeros(a.vector(2, None)) + x, tf.ones([4])),
    "while": lambda a: tf.while_loop(
        lambda i, x: i < 3, lambda i, x: (i + 1, x + 1), (0, tf.zeros(a.vector(None, 3))))[1],
    "call of a function": lambda a: tf.function(tf.zeros)(a.vector(None, 3)),
}  # fmt: skip

# Those that take scalars of which some are unknown.
SCALAR_CALLS: dict[str, Call] = {
    "eye n": lambda a: tf.eye(a.n),
    "eye n 3": lambda a: tf.eye(a.n, 3),
    "eye 3 n": lambda a: tf.eye(3, a.n, [2]),
    "one_hot": lambda a: tf.one_hot([1, 2], a.n),
    "range": lambda a: tf.range(a.n),
    "linspace": lambda a: tf.linspace(0.0, 1.0, a.n),
    "linspace axis": lambda a: tf.linspace([0.0, 1.0], [1.0, 2.0], a.n, axis=-1),
    "sequence_mask": lambda a: tf.sequence_mask([1, 2], a.n),
    "expand_dims": lambda a: tf.expand_dims(a.rows, a.n),
    "concat": lambda a: tf.concat([a.rows, a.rows], a.n),
    "argmax": lambda a: tf.argmax(tf.ones([2, 3]), a.n),
    "cumsum": lambda a: tf.cumsum(a.rows, a.n),
    "gather axis": lambda a: tf.gather(tf.ones([2, 3]), [0], axis=a.n),
    "repeat": lambda a: tf.repeat(a.rows, a.n, 0),
    "repeat axis 1": lambda a: tf.repeat(a.rows, a.n, 1),
    "repeat known": lambda a: tf.repeat(a.rows, 2, 1),
    "top_k": lambda a: nn.top_k(a.rows, a.n),
    "split": lambda a: tf.split(tf.ones([4, a.n]), 2, 0),
    "squeeze": lambda a: tf.squeeze(a.of(None, 1, 3), 1),
    "stack": lambda a: tf.stack([a.rows, tf.zeros([a.n, 3])], 1),
    "slice": lambda a: tf.ones([4, 5])[: a.n, 1:3],
    "slice both": lambda a: tf.ones([4, 5])[a.n :, : a.n],
    "slice of item": lambda a: tf.ones([4, 5])[a.n],
    "bincount": lambda a: tf.math.bincount([1, 2], minlength=a.n, maxlength=a.n),
    "unsorted_segment_sum": lambda a: tf.math.unsorted_segment_sum(a.rows, tf.zeros([a.n], tf.int32), a.n),
    "segment num": lambda a: tf.sparse.segment_sum(a.rows, [0, 1], [0, 0], num_segments=a.n),
    "confusion_matrix": lambda a: tf.math.confusion_matrix([0, 1], [1, 0], a.n),
    "resize_with_pad": lambda a: image.resize_with_pad(a.of(None, 4, 4, 3), a.n, 5),
    "resize_with_crop_or_pad": lambda a: image.resize_with_crop_or_pad(tf.ones([2, 4, 4, 3]), a.n, 5),
    "crop_to_bounding_box": lambda a: image.crop_to_bounding_box(tf.ones([2, 4, 4, 3]), 0, 0, a.n, 3),
    "pad_to_bounding_box": lambda a: image.pad_to_bounding_box(tf.ones([2, 4, 4, 3]), 0, 0, a.n, 8),
    "pad_to_bounding_box offset": lambda a: image.pad_to_bounding_box(tf.ones([2, 4, 4, 3]), a.n, 0, 6, 8),
    "central_crop": lambda a: image.central_crop(a.of(None, 4, 3), 0.5),
    "rot90": lambda a: image.rot90(tf.ones([4, 5, 3]), a.n),
    "signal.frame": lambda a: signal.frame(tf.ones([2, 16]), a.n, 4),
    "signal.frame step": lambda a: signal.frame(tf.ones([2, 16]), 4, a.n),
    "signal.stft": lambda a: signal.stft(tf.ones([2, 16]), 8, a.n),
    "signal.overlap_and_add": lambda a: signal.overlap_and_add(a.of(2, None, 4), a.n),
    "signal.hann_window": lambda a: signal.hann_window(a.n),
    "signal.dct": lambda a: signal.dct(a.rows, n=2),
    "signal.linear_to_mel": lambda a: signal.linear_to_mel_weight_matrix(5, a.n),
    "linalg.diag rows": lambda a: linalg.diag(tf.ones([2, 3]), k=0, num_rows=a.n),
    "linalg.diag_part": lambda a: linalg.diag_part(tf.ones([2, 3, 4]), k=a.n),
    "random.categorical": lambda a: random.categorical(a.rows, a.n),
    "random.stateless_categorical": lambda a: random.stateless_categorical(a.rows, a.n, SEED),
    "random.split": lambda a: random.split(SEED, a.n),
    "non_max_suppression": lambda a: image.non_max_suppression(tf.ones([5, 4]), tf.ones([5]), a.n),
    "non_max_suppression_padded": lambda a: image.non_max_suppression_padded(
        tf.ones([2, 5, 4]), tf.ones([2, 5]), a.n, pad_to_max_output_size=True),
    "strings.unsorted_segment_join": lambda a: tf.strings.unsorted_segment_join(["a"], [0], a.n),
    "reduce_sum": lambda a: tf.reduce_sum(tf.ones([2, 3]), a.n),
    "reduce_sum keepdims": lambda a: tf.reduce_sum(tf.ones([2, 3]), a.n, keepdims=True),
    "roll": lambda a: tf.roll(a.rows, a.n, 0),
    "tensordot": lambda a: tf.tensordot(a.rows, tf.ones([3, 4]), [[1], [0]]),
    "ragged.range": lambda a: tf.ragged.range(a.n),
    "ragged.segment_ids": lambda a: tf.ragged.segment_ids_to_row_splits([0, 0], a.n),
    "ragged.uniform": lambda a: tf.RaggedTensor.from_uniform_row_length(tf.ones([6, 2]), 3, nrows=a.n),
    "ragged.uniform n": lambda a: tf.RaggedTensor.from_uniform_row_length(tf.ones([6, 2]), a.n),
    "ragged.value_rowids": lambda a: tf.RaggedTensor.from_value_rowids(
        tf.ones([6, 2]), [0] * 6, nrows=tf.cast(a.n, tf.int64)),
    "sparse.eye": lambda a: tf.sparse.eye(a.n, 3),
    "sparse.softmax": lambda a: tf.sparse.softmax(sparse_of(a, 2, 3)),
    "sparse.split": lambda a: tf.sparse.split(sparse_input(), 2, 0),
    "tnp.tri": lambda a: tnp.tri(a.n, 3),
    "tnp.tile": lambda a: tnp.tile(a.rows, a.n),
    "tnp.tile 2": lambda a: tnp.tile(a.rows, 2),
    "tnp.repeat": lambda a: tnp.repeat(a.rows, a.n, 0),
    "tnp.expand_dims": lambda a: tnp.expand_dims(a.rows, 1),
    "tnp.vander": lambda a: tnp.vander(tf.ones([3]), a.n),
    "tnp.diag": lambda a: tnp.diag(tf.ones([3]), a.n),
    "tnp.broadcast_to": lambda a: tnp.broadcast_to(2.0, (a.n, 1)),
    "tnp.zeros": lambda a: tnp.zeros((a.n, tnp.shape(a.rows)[1])),
    "tnp.ones": lambda a: tnp.ones(a.n),
    "tnp.full": lambda a: tnp.full((2, a.n), [[1.0]]),
    "tnp.random.rand": lambda a: tnp.random.rand(a.n, 3),
    "tnp.random.randn": lambda a: tnp.random.randn(a.n, 3),
    "tnp.random.randint": lambda a: tnp.random.randint(5, size=(a.n, 3)),
    "tnp reshape method": lambda a: tnp.reshape(a.rows, (a.n, -1)),
    "tnp.split": lambda a: tnp.split(tf.ones([4, 3]), 2),
    "tnp.take": lambda a: tnp.take(a.rows, tf.zeros([a.n], tf.int32), 1),
    "tnp.tensordot": lambda a: tnp.tensordot(a.rows, tf.ones([3, 4]), 1),
    "keras.ops.eye": lambda a: tf.keras.ops.eye(a.n, 3),
    "keras.ops.arange": lambda a: tf.keras.ops.arange(a.n),
    "keras.ops.one_hot": lambda a: tf.keras.ops.one_hot([1, 2], 4),
    "keras.ops.repeat": lambda a: tf.keras.ops.repeat(a.rows, a.n, 0),
    "keras.ops.top_k": lambda a: tf.keras.ops.top_k(a.rows, a.n),
    "keras.ops.shape": lambda a: tf.keras.ops.reshape(a.rows, (tf.keras.ops.shape(a.rows)[0], 3, 1)),
    "keras.ops.expand_dims": lambda a: tf.keras.ops.expand_dims(a.rows, (0, 2)),
    "keras.ops.segment_sum": lambda a: tf.keras.ops.segment_sum(a.rows, tf.zeros([a.n], tf.int32), 4),
    "keras.ops.fft": lambda a: tf.keras.ops.stft(tf.ones([2, 16]), 8, 4, 8),
    "keras.ops.extract_sequences": lambda a: tf.keras.ops.extract_sequences(a.of(None, 16), 8, 4),
    "zeros of range": lambda a: tf.zeros(tf.range(2, 4)),
    "zeros of arithmetic": lambda a: tf.zeros([a.n + 1, 3 * 2]),
    "zeros of where": lambda a: tf.zeros([tf.where(a.n > 0, a.n, 1), 3]),
    "zeros of maximum": lambda a: tf.zeros([tf.maximum(tf.shape(a.rows)[1], 2), a.n]),
    "zeros of prod": lambda a: tf.zeros([tf.reduce_prod(tf.shape(tf.ones([2, 3]))), a.n]),
    "zeros of size": lambda a: tf.zeros([tf.size(tf.ones([2, 3])), a.n]),
    "zeros of rank": lambda a: tf.zeros([tf.rank(a.rows), a.n]),
    "zeros of gather": lambda a: tf.zeros(tf.gather(tf.shape(a.rows), [1])),
    "zeros of reduce": lambda a: tf.zeros([tf.reduce_max(tf.shape(a.of(2, 3))), a.n]),
    "zeros of expand_dims": lambda a: tf.zeros(tf.expand_dims(tf.shape(a.rows)[1], 0)),
    "zeros of reshape": lambda a: tf.zeros(tf.reshape(tf.shape(a.rows), [-1])),
    "zeros of reshape [2]": lambda a: tf.zeros(tf.reshape(tf.shape(a.rows), [2])),
    "zeros of squeeze": lambda a: tf.zeros(tf.squeeze([tf.shape(a.rows)], 0)),
    "zeros of tile": lambda a: tf.zeros(tf.tile(tf.shape(a.rows), [2])),
    "zeros of pad": lambda a: tf.zeros(tf.pad(tf.shape(a.rows), [[1, 0]], constant_values=4)),
    "zeros of reverse": lambda a: tf.zeros(tf.reverse(tf.shape(a.rows), [0])),
    "zeros of tensor_scatter": lambda a: tf.zeros(tf.tensor_scatter_nd_update(tf.shape(a.rows), [[0]], [5])),
    "zeros of multiplied": lambda a: tf.zeros(tf.shape(a.rows) * 2),
    "zeros of split": lambda a: tf.zeros(tf.split(tf.shape(a.rows), 2)[1]),
    "zeros of shape_n": lambda a: tf.zeros(v1.shape_n([a.rows, a.rows])[0]),
    "reshape by -1": lambda a: tf.reshape(a.of(None, 3, 4), [-1, 12]),
    "reshape by -1 of static": lambda a: tf.reshape(a.of(2, 3, 4), [-1, tf.shape(a.rows)[1]]),
    "flatten by prod": lambda a: tf.reshape(a.of(None, 3, 4), [tf.shape(a.of(None, 3, 4))[0], -1]),
}  # fmt: skip


def int_dtype(vector: Any) -> Any:
    """The dtype of a vector of ints, a list or a tensor."""
    return getattr(vector, "dtype", tf.int32)


def as_int64(vector: Any) -> Any:
    return tf.cast(vector, tf.int64)


def sparse_input() -> Any:
    return tf.SparseTensor([[0, 0], [1, 1]], [1.0, 2.0], [2, 3])


def ragged_input() -> Any:
    return tf.ragged.constant([[1.0], [2.0, 3.0]])


def sparse_of(a: Inputs, *dims: int | None) -> Any:
    """A sparse tensor with a partly static shape."""
    return tf.SparseTensor([[0, 0], [1, 1]], [1.0, 2.0], as_int64(a.vector(*dims)))


GENERATOR = tf.random.Generator.from_seed(1)


def calls() -> Iterator[tuple[str, Call, Callable[[Inputs, Any], Any]]]:
    """Each call, with the form of its vectors."""
    for name, call in VECTOR_CALLS.items():
        for form, vector in FORMS.items():
            yield f"{name}: {form}", call, vector
    for name, call in SCALAR_CALLS.items():
        yield name, call, FORMS["list"]


def static_shapes(call: Call, vector: Callable[[Inputs, Any], Any]) -> str:
    """The static shapes of a call's results as text, or "raises"."""
    static: list[Any] = []

    def body(n: Any, rows: Any, any: Any) -> Any:
        out = call(Inputs(n, rows, any, lambda *dims: vector(Inputs(n, rows, any, None), dims)))
        static[:] = [o.shape for o in tf.nest.flatten(out, expand_composites=True)]
        return out

    specs = [tf.TensorSpec([], tf.int32), tf.TensorSpec([None, 3]), tf.TensorSpec(None)]
    try:
        tf.function(body, input_signature=specs, autograph=False).get_concrete_function()
    except Exception:
        return "raises"
    return " ".join(map(shape_text, static))
