"""Rows of `tapeflow/array/`: what changes shapes, joins and repeats."""

import numpy as np

import tapeflow as tf
from op_table import NUMBERS, Row, rand, sample

Invalid = tf.errors.InvalidArgumentError
MOVED = (*NUMBERS, "bool")
M = rand(2, 3)
X = rand(2, 3, 4)


def reshape(x, shape):
    return np.reshape(x, np.asarray(shape))


def transpose(a, perm=None, conjugate=False):
    moved = np.transpose(a, perm)
    return np.conj(moved) if conjugate else moved


def squeeze(x, axis=None):
    return np.squeeze(x, None if axis is None else tuple(np.atleast_1d(axis)))


def split(x, parts, axis=0):
    if isinstance(parts, int):
        return np.split(x, parts, axis)
    parts = [x.shape[axis] - sum(parts) - 1 if p == -1 else p for p in parts]
    return np.split(x, np.cumsum(parts)[:-1], axis)


def unstack(x, num=None, axis=0):
    return [np.take(x, i, axis) for i in range(x.shape[axis])]


def tile(x, multiples):
    return np.tile(x, multiples) if np.ndim(x) else x


def roll(x, shift, axis):
    return np.roll(x, tuple(np.atleast_1d(shift)), tuple(np.atleast_1d(axis)))


def reverse_sequence(x, lengths, seq_axis, batch_axis=0):
    out = np.moveaxis(x, (batch_axis, seq_axis), (0, 1)).copy()
    for row, n in zip(out, lengths, strict=True):
        row[:n] = row[:n][::-1].copy()
    return np.moveaxis(out, (0, 1), (batch_axis, seq_axis))


ROWS = [
    Row("reshape", [sample(M, [3, 2]), sample(X, [-1, 2]), sample(rand(), [1, 1]), sample(rand(0, 3), [3, 0]),
                    sample(M, (-1,)), sample(M, np.array([6]))], reshape, MOVED,
        bad=[(sample(M, [4]), Invalid, "Input to reshape is a tensor with 6 values, but the requested shape has 4"),
             (sample(M, [-1, -1]), Invalid, "Only one input size may be -1, not both 0 and 1"),
             (sample(M, [-1, 4]), Invalid, "requires a multiple of 4"),
             (sample(M, [-2, 3]), Invalid, "Size 0 must be non-negative, not -2"),
             (sample(M, [[2, 3]]), Invalid, "sizes input must be 1-D, not [1,2]"),
             (sample(M, [2.0, 3.0]), Invalid, "Value for attr 'Tshape' of float is not in the list of allowed values"),
             (sample(M, [2, None]), ValueError, "mixed types")]),
    Row("squeeze", [sample(rand(1, 2, 1)), sample(rand(1, 2, 1), 0), sample(rand(1, 2, 1), [0, 2]), sample(rand()),
                    sample(rand(1, 2, 1), axis=-1), sample(rand(1, 0))], squeeze, MOVED,
        bad=[(sample(M, 1), Invalid, "Can not squeeze dim[1], expected a dimension of 1, got 3"),
             (sample(M, 2), Invalid, "Tried to squeeze dim index 2 for tensor with 2 dimensions.")]),
    Row("expand_dims", [sample(M, 0), sample(M, 2), sample(M, -1), sample(M, axis=-3), sample(rand(), 0),
                        sample(rand(0), 1)], np.expand_dims, MOVED,
        bad=[(sample(M, 3), Invalid, "Tried to expand dim index 3 for tensor with 2 dimensions."),
             (sample(M, "a"), Invalid, "Value for attr 'Tdim' of string is not in the list of allowed values")]),
    Row("transpose", [sample(M), sample(X), sample(X, [1, 0, 2]), sample(X, perm=(0, 2, 1)), sample(rand()),
                      sample(X, [-1, 0, 1]), sample(M, conjugate=True), sample(rand(0, 3))], transpose, MOVED,
        bad=[(sample(M, [0]), Invalid, "transpose expects a vector of size 2. But input(1) is a vector of size 1"),
             (sample(M, [0, 0]), Invalid, "1 is missing from {0,0}."),
             (sample(M, [0, 2]), Invalid, "2 is out of range [0 .. 2)"),
             (sample(M, [0.5, 1]), Invalid, "Value for attr 'Tperm' of float")]),
    Row("broadcast_to", [sample(rand(3), [2, 3]), sample(rand(2, 1), [4, 2, 3]), sample(rand(), [2]),
                         sample(rand(), []),
                         sample(rand(1, 3), [0, 3])], np.broadcast_to, MOVED,
        bad=[(sample(M, [3]), Invalid, "Rank of input (2) must be no greater than rank of output shape (1)."),
             (sample(M, [2, 4]), Invalid, "Incompatible shapes: [2,3] vs. [2,4]"),
             (sample(M, [2, -1]), Invalid, "Dimension -1 must be >= 0"),
             (sample(M, 3), Invalid, "shape must be a vector of {int32,int64}, got shape []")]),
    Row("concat", [sample([M, M], 0), sample([M, rand(2, 1), M], 1), sample([M, M], axis=-1), sample([M], 0),
                   sample([rand(0, 3), M], 0), sample([rand(2), rand(0)], 0)],
        lambda values, axis: np.concatenate(values, axis), MOVED, gradient=False,
        bad=[(sample([M, X], 0), Invalid,
              "Ranks of all input tensors should match: shape[0] = [2,3] vs. shape[1] = [2,3,4]"),
             (sample([M, np.zeros([2, 2])], 0), Invalid, "ConcatOp : Dimension 1 in both shapes must be equal"),
             (sample([M, np.zeros([0])], 0), Invalid, "Ranks of all input tensors should match"),
             (sample([M, M], 2), Invalid, "Expected concatenating dimensions in the range [-2, 2), but got 2"),
             (sample([1, 2], 0), Invalid, "Can't concatenate scalars (use tf.stack instead)"),
             (sample([tf.constant([1]), tf.constant([1.5])], 0), Invalid, "cannot compute ConcatV2 as input #1")]),
    Row("stack", [sample([M, M]), sample([M, M, M], 1), sample([M, M], axis=-1), sample([rand(), rand()]),
                  sample([rand(0)], 1)], lambda values, axis=0: np.stack(values, axis), MOVED, gradient=False,
        bad=[(sample([tf.constant(1), tf.constant([1])]), Invalid, "values[0].shape = [] != values[1].shape = [1]"),
             (sample([tf.constant(1), tf.constant(2)], 2), ValueError, "Argument `axis` = 2 not in range [-1, 1)")]),
    Row("unstack", [sample(M), sample(M, axis=1), sample(X, 4, -1), sample(rand(3))], unstack, MOVED,
        bad=[(sample(M, 3), Invalid, "Input shape axis 0 must equal 3, got shape [2,3]"),
             (sample(rand()), ValueError, "Argument `axis` = 0 not in range [0, 0)"),
             (sample(M, axis=2), ValueError, "Argument `axis` = 2 not in range [-2, 2)")]),
    Row("split", [sample(X, 2, 2), sample(M, 3, -1), sample(M, 1), sample(M, [2, 1], axis=1),
                  sample(rand(4), [1, -1, 1]),
                  sample(rand(3), [3, 0])], split, MOVED,
        bad=[(sample(rand(3), 2), Invalid, "split_dim 0 (size = 3) and num_split 2"),
             (sample(rand(3), [1, 1]), Invalid,
              "Determined shape must either match input shape along split_dim exactly"),
             (sample(rand(3), [-1, -1]), Invalid, "There can only be one -1 in the input."),
             (sample(rand(3), 0), Invalid, "Value for attr 'num_split' of 0 must be at least minimum 1"),
             (sample(M, 2, 3), Invalid, "-input rank(-2) <= split_dim < input rank (2), but got 3"),
             (sample(M, "a"), ValueError, "Rank-0 tensors are not supported as the num_or_size_splits argument")]),
    Row("tile", [sample(M, [1, 2]), sample(M, (3, 1)), sample(M, [0, 1]), sample(rand(), []), sample(rand(0), [2])],
        tile, MOVED,
        bad=[(sample(rand(2), [1, 2]), Invalid,
              "Expected multiples argument to be a vector of length 1 but got length 2"),
             (sample(rand(2), [-1]), Invalid, "Expected multiples[0] >= 0, but got -1"),
             (sample(rand(2), 2), Invalid, "Expected multiples to be 1-D, but got shape []")]),
    Row("repeat", [sample(rand(2), 2), sample(rand(2), [3, 1]), sample(M, 2, axis=0), sample(M, [1, 2, 0], axis=1),
                   sample(M, 2), sample(rand(), 3), sample(M, 0, axis=-1)], np.repeat, MOVED,
        bad=[(sample(rand(2), [1, 2, 3]), ValueError, "Dimensions 2 and 3 are not compatible"),
             (sample(M, 2, axis=5), ValueError, "axis=5 out of bounds: expected -2<=axis<2"),
             (sample(rand(2), 1.5), TypeError, "must be of type integer")]),
    Row("reverse", [sample(M, [0]), sample(M, [-1]), sample(X, [0, 2]), sample(M, []), sample(rand(0), [0])],
        lambda x, axis: np.flip(x, tuple(axis)), MOVED,
        bad=[(sample(rand(2), [1]), Invalid, "'axis'[0] = 1 is out of valid range"),
             (sample(M, [0, 0]), Invalid, "axis 0 specified more than once."),
             (sample(M, 0), Invalid, "'dims' must be 1-dimension, not 0")]),
    Row("roll", [sample(rand(4), 1, 0), sample(M, [1, 1], [0, 1]), sample(M, [1, -2], [1, 1]), sample(M, 5, -1),
                 sample(rand(0, 2), 1, 0)], roll, MOVED,
        bad=[(sample(rand(2), 1, 1), Invalid, "axis 1 is out of range"),
             (sample(rand(2), [1, 2], [0]), Invalid, "shift and axis must have the same size"),
             (sample(rand(), 1, 0), Invalid, "input must be 1-D or higher")]),
    Row("reverse_sequence", [sample(M, [2, 3], 1), sample(M, [0, 1], seq_axis=1), sample(X, np.array([1, 3]), 1),
                             sample(X, [1, 2, 0, 2], 0, 2)], reverse_sequence, MOVED,
        bad=[(sample(M, [4, 1], 1), Invalid, "seq_lens(0) > input.dims(1)"),
             (sample(M, [1, 2, 3], 1), Invalid, "Length of seq_lengths != input.dims(0), (3 vs. 2)"),
             (sample(M, [1, 1], 0), Invalid, "batch_dim == seq_dim == 0")]),
    Row("identity", [sample(M), sample(rand())], lambda x: x, MOVED),
    Row("ensure_shape", [sample(M, [2, None]), sample(M, None)], lambda x, _: x, MOVED,
        bad=[(sample(M, [3, None]), Invalid,
              "Shape of tensor input [2,3] is not compatible with expected shape [3,?].")]),
    Row("stop_gradient", [sample(M)], lambda x: x, MOVED, gradient=False),
    Row("guarantee_const", [sample(M)], lambda x: x, MOVED, gradient=False),
    Row("identity_n", [sample([M, X])], lambda xs: xs, MOVED, gradient=False),
    Row("rank", [sample(M), sample(rand())], np.ndim, result="int32", gradient=False),
    Row("shape_n", [sample([M, X])], lambda xs: [np.array(x.shape) for x in xs], result="int32", gradient=False),
]  # fmt: skip
