"""Rows of `tapeflow/array/`: what picks, places, pads and moves slices."""

import numpy as np

import tapeflow as tf
from op_table import NUMBERS, WIDE_FLOATS, Row, rand, sample

Invalid = tf.errors.InvalidArgumentError
MOVED = (*NUMBERS, "bool")
M = rand(3, 3)
X = rand(2, 3, 4)
V = rand(5)


def gather(params, indices, axis=None, batch_dims=0):
    indices = np.asarray(indices)
    axis = batch_dims if axis is None else axis
    if not batch_dims:
        return np.take(params, indices, axis)
    axis = axis % params.ndim - 1
    return np.stack([gather(p, i, axis, batch_dims - 1) for p, i in zip(params, indices, strict=True)])


def gather_nd(params, indices, batch_dims=0):
    indices = np.asarray(indices)
    if batch_dims:
        return np.stack([gather_nd(p, i, batch_dims - 1) for p, i in zip(params, indices, strict=True)])
    return params[tuple(np.moveaxis(indices, -1, 0))]


def strided_slice(x, begin, end, strides=None, begin_mask=0, end_mask=0, shrink_axis_mask=0):
    key = []
    for i, (b, e, s) in enumerate(zip(begin, end, strides or [1] * len(begin), strict=True)):
        key.append(b if shrink_axis_mask >> i & 1 else
                   slice(None if begin_mask >> i & 1 else b, None if end_mask >> i & 1 else e, s))  # fmt: skip
    return x[tuple(key)]


def placed(function, start):
    """The reference of a scatter: `function.at` on a copy of the tensor, or on zeros of a shape."""

    def reference(*args):
        tensor, indices, updates = args if start is None else (np.zeros(args[2], args[1].dtype), *args[:2])
        out = np.array(tensor)
        function.at(out, tuple(np.moveaxis(np.asarray(indices), -1, 0)), updates)
        return out

    return reference


def replaced(tensor, indices, updates):
    out = np.array(tensor)
    out[tuple(np.moveaxis(np.asarray(indices), -1, 0))] = updates
    return out


def pad(x, paddings, mode="CONSTANT", constant_values=0):
    if mode == "CONSTANT":
        return np.pad(x, paddings, constant_values=constant_values) if np.ndim(x) else x
    return np.pad(x, paddings, mode.lower())


def masked(x, mask, axis=0):
    return x[(slice(None),) * axis + (np.asarray(mask),)]


def partitioned(data, partitions, count):
    return [data[np.asarray(partitions) == i] for i in range(count)]


ROWS = [
    Row("slice", [sample(M, [0, 1], [2, 2]), sample(M, [1, 0], [-1, -1]), sample(M, [0, 0], [0, 3]),
                  sample(V, (5,), (0,)),
                  sample(X, np.array([1, 0, 2]), [1, 3, 2])],
        lambda x, b, s: x[tuple(slice(i, None if n == -1 else i + n) for i, n in zip(b, s, strict=True))], MOVED,
        bad=[(sample(V, [1], [10]), Invalid, "Expected size[0] in [0, 4], but got 10"),
             (sample(V, [-1], [1]), Invalid, "Expected begin[0] in [0, 5], but got -1"),
             (sample(V, [1], [-2]), Invalid, "Expected size[0] in [0, 4], but got -2"),
             (sample(V, [1, 0], [1, 1]), Invalid, "Expected begin and size arguments to be 1-D tensors of size 1"),
             (sample(V, [0.0], [1.0]), Invalid, "Value for attr 'Index' of float is not in the list")]),
    Row("strided_slice", [sample(V, [1], [4]), sample(V, [1], [5], [2]), sample(V, [-1], [-4], [-1]),
                          sample(M, [0, 0], [2, 3], [1, 2]), sample(M, [1, 1], [2, 2], begin_mask=2, end_mask=1),
                          sample(M, [1, 0], [2, 3], shrink_axis_mask=1), sample(X, [1], [2]), sample(V, [3], [1]),
                          sample(X, [0, 5, -1], [2, 0, -9], [1, -2, -3])], strided_slice, MOVED,
        bad=[(sample(V, [0], [2], [0]), Invalid, "strides[0] must be non-zero"),
             (sample(V, [0, 0], [1, 1]), Invalid, "Index out of range using input dim 1; input has only 1 dims"),
             (sample(V, [0], [1, 2]), Invalid, "Expected begin, end, and strides to be 1D equal size tensors"),
             (sample(V, [7], [8], shrink_axis_mask=1), Invalid, "slice index 7 of dimension 0 out of bounds."),
             (sample(V, [2], [0], [-1], shrink_axis_mask=1), Invalid, "only stride 1 allowed on non-range indexing.")]),
    Row("gather", [sample(V, 1), sample(V, [3, 0, 0]), sample(M, [[0, 1], [2, 0]]), sample(M, [2, 0], axis=1),
                   sample(X, [1, 2, 1], axis=-2), sample(X, [[0, 2], [1, 1]], axis=1, batch_dims=1),
                   sample(X, [[0, 3], [1, 1]], axis=-1, batch_dims=1), sample(M, np.zeros([0], np.int32)),
                   sample(rand(0, 3), np.zeros([0], np.int32)), sample(X, np.array([1, 0]), axis=2)], gather, MOVED,
        bad=[(sample(V, 5), Invalid, "indices = 5 is not in [0, 5)"),
             (sample(V, [1, -1]), Invalid, "indices[1] = -1 is not in [0, 5)"),
             (sample(M, [0], axis=2), Invalid, "Shape must be at least rank 3 but is rank 2"),
             (sample(X, [[0]], batch_dims=1), Invalid, "params.shape[0]: 2 should be equal to indices.shape[0]: 1"),
             (sample(rand(), 0), Invalid, "params must be at least 1 dimensional"),
             (sample(V, 1.0), Invalid, "Value for attr 'Tindices' of float is not in the list")]),
    Row("gather_nd", [sample(M, [0, 1]), sample(M, [[0, 0], [2, 1]]), sample(M, [[1], [0]]),
                      sample(X, [[[0, 1]], [[1, 2]]]),
                      sample(X, [[0], [2]], batch_dims=1), sample(X, [[[0], [1], [3]], [[3], [1], [0]]], batch_dims=2),
                      sample(V, np.zeros([0, 1], np.int64)), sample(M, [[1, 1], [1, 1]])], gather_nd, MOVED,
        bad=[(sample(M, [[0, 0], [3, 0]]), Invalid, "indices[1] = [3, 0] does not index into param shape [3,3]"),
             (sample(M, [[0, -1]]), Invalid, "indices[0] = [0, -1] does not index into param shape [3,3]"),
             (sample(M, [[0, 0, 0]]), Invalid, "index innermost dimension length must be <= params rank; saw: 3 vs. 2"),
             (sample(M, 0), Invalid, "indices must be at least a vector")]),
    Row("scatter_nd", [sample([[4], [3], [1]], rand(3), [6]), sample([[0], [0]], rand(2), [3]),
                       sample([[0], [2]], rand(2, 2), [3, 2]), sample([[0, 1]], rand(1), [2, 2]),
                       sample(np.zeros([0, 1], np.int32), rand(0), [3])], placed(np.add, "zeros"), NUMBERS, nth=[1],
        bad=[(sample([[6]], rand(1), [6]), Invalid, "indices[0] = [6] does not index into shape [6]"),
             (sample([[0]], rand(2), [6]), Invalid, "Dimensions [0,1) of indices[shape=[1,1]] must match"),
             (sample([[0, 0]], rand(1), [6]), Invalid, "Dimensions [2,1) of input[shape=[6]] must match")]),
    Row("tensor_scatter_nd_update", [sample(V, [[0], [4]], rand(2)), sample(M, [[0], [2]], rand(2, 3)),
                                     sample(M, [[0, 1]], rand(1))], replaced, MOVED,
        bad=[(sample(V, [[5]], rand(1)), Invalid, "indices[0] = [5] does not index into shape [5]"),
             (sample(V, [[0]], rand(2)), Invalid, "Outer dimensions of indices and update must match."),
             (sample(M, [[0]], rand(1)), Invalid, "Output: [3,3] updates: [1]")]),
    Row("tensor_scatter_nd_add", [sample(V, [[0], [0], [2]], rand(3)), sample(M, [[1, 1], [1, 1]], rand(2))],
        placed(np.add, None), NUMBERS),
    Row("tensor_scatter_nd_sub", [sample(V, [[0], [0], [2]], rand(3)), sample(M, [[1, 1], [1, 1]], rand(2))],
        placed(np.subtract, None), NUMBERS),
    Row("tensor_scatter_nd_max", [sample(V, [[0], [1]], rand(2, seed=4)), sample(M, [[1, 1], [1, 1]], rand(2))],
        placed(np.maximum, None), (*WIDE_FLOATS, "int32", "int64")),
    Row("tensor_scatter_nd_min", [sample(V, [[0], [1]], rand(2, seed=4)), sample(M, [[1, 1], [1, 1]], rand(2))],
        placed(np.minimum, None), (*WIDE_FLOATS, "int32", "int64")),
    Row("where", [sample(np.array([[True], [False]]), rand(2, 3), rand(3)), sample(True, rand(2), rand(1)),
                  sample(np.array([True, False]), rand(2), rand()), sample(np.zeros([0], bool), rand(0), rand(1))],
        np.where, MOVED,
        bad=[(sample(np.array([True, False]), rand(3), rand(3)), Invalid,
              "condition [2], then [3], and else [3] must be broadcastable"),
             (sample(np.array([True]), rand(1)), ValueError, "x and y must both be non-None or both be None."),
             (sample(rand()), Invalid, "WhereOp : Unhandled input dimensions: 0")]),
    Row("boolean_mask", [sample(V, [True, False, True, False, False]), sample(M, M > 0),
                         sample(X, np.array([[True, False, False, True]] * 3), axis=1), sample(M, [True, False, True]),
                         sample(M, [False] * 3)],
        masked, MOVED,
        bad=[(sample(V, [True, False]), ValueError, "Shapes (5,) and (2,) are incompatible"),
             (sample(V, True), ValueError, "mask cannot be scalar.")]),
    Row("pad", [sample(V, [[1, 2]]), sample(M, [[1, 0], [0, 2]]), sample(M, ((0, 0), (1, 1)), constant_values=1),
                sample(M, [[1, 2], [2, 0]], "REFLECT"), sample(M, [[1, 1], [3, 2]], mode="SYMMETRIC"),
                sample(rand(), np.zeros([0, 2], np.int32)), sample(rand(0), [[1, 1]])], pad, NUMBERS,
        bad=[(sample(V, [[1, 2], [3, 4]]), Invalid,
              "The first dimension of paddings must be the rank of inputs[2,2] [5]"),
             (sample(V, [1, 2]), Invalid, "paddings must be a matrix with 2 columns: [2]"),
             (sample(V, [[-1, 0]]), Invalid, "Paddings must be non-negative: -1 0"),
             (sample(rand(2), [[2, 0]], "REFLECT"), Invalid, "paddings must be less than the dimension size"),
             (sample(rand(2), [[3, 0]], "SYMMETRIC"), Invalid, "paddings must be no greater than the dimension size"),
             (sample(V, [[1, 0]], "WRAP"), ValueError, "Value of argument `mode` expected to be one of")]),
    Row("dynamic_partition", [sample(rand(4), [0, 1, 0, 1], 2), sample(M, [2, 0, 2], 3),
                              sample(rand(2, 2), [[0, 1], [1, 0]], 2)], partitioned, MOVED,
        bad=[(sample(rand(2), [0, 2], 2), Invalid, "partitions[1] = 2 is not in [0, 2)"),
             (sample(rand(2), [0], 2), Invalid, "data.shape must start with partitions.shape"),
             (sample(rand(2), [0, 0], 0), Invalid, "Value for attr 'num_partitions' of 0 must be at least minimum 1")]),
    Row("dynamic_stitch", [sample([[0, 3], [1, 2]], [rand(2, 3), rand(2, 3, seed=1)])],
        lambda i, d: np.concatenate(d)[np.argsort(np.concatenate(i))], MOVED, gradient=False),
]  # fmt: skip
