"""Rows of `tapeflow/array/`: order, search, blocks, patches, and what makes tensors."""

import numpy as np

import tapeflow as tf
from op_table import FLOATS, INTEGERS, NUMBERS, WIDE_FLOATS, Row, rand, sample

Invalid = tf.errors.InvalidArgumentError
MOVED = (*NUMBERS, "bool")
M = rand(3, 4)
# Numbers that stay different in every dtype, so that their order is the same in all.
DIFFERENT = np.array([[5.0, 1.0, 7.0], [2.0, 9.0, 0.0]])


def sort(x, axis=-1, direction="ASCENDING"):
    found = np.sort(x, axis)
    return found if direction == "ASCENDING" else np.flip(found, axis)


def argsort(x, axis=-1, direction="ASCENDING"):
    return np.argsort(x if direction == "ASCENDING" else -x.astype(np.float64), axis, kind="stable").astype(np.int32)


def to_batch(x, block, paddings):
    x = np.pad(x, [(0, 0), *paddings] + [(0, 0)] * (x.ndim - len(block) - 1))
    return np.concatenate([x[(slice(None), *map(slice, at, [None] * len(at), block))] for at in np.ndindex(*block)])


def to_space(x, block, crops):
    parts = np.split(x, int(np.prod(block)))
    space = [n * b for n, b in zip(x.shape[1:], block, strict=False)]
    out = np.zeros([len(parts[0]), *space, *x.shape[len(block) + 1 :]], x.dtype)
    for part, at in zip(parts, np.ndindex(*block), strict=True):
        out[(slice(None), *map(slice, at, [None] * len(at), block))] = part
    return out[(slice(None), *[slice(a, out.shape[i + 1] - b) for i, (a, b) in enumerate(crops)])]


def volume_patches(x, ksizes, strides, padding):
    assert padding == "VALID"
    _, p, r, c, _ = ksizes
    windows = np.lib.stride_tricks.sliding_window_view(x, (p, r, c), (1, 2, 3))
    windows = windows[:, :: strides[1], :: strides[2], :: strides[3]]
    return np.moveaxis(windows, 4, -1).reshape(*windows.shape[:4], -1)


ROWS = [
    Row("sort", [sample(DIFFERENT), sample(DIFFERENT, 0), sample(DIFFERENT, direction="DESCENDING"),
                 sample(rand(0)), sample(rand(2, 0))], sort, FLOATS + INTEGERS,
        bad=[(sample(M, direction="UP"), ValueError, "Argument `direction` should be one of ASCENDING, DESCENDING."),
             (sample(M, 2), Invalid, "out of bounds"), (sample(rand()), Invalid, "out of bounds")]),
    Row("argsort", [sample(DIFFERENT), sample(DIFFERENT, 0), sample(DIFFERENT, direction="DESCENDING"),
                    sample(np.array([1.0, 0.0, 1.0, 0.0])), sample(np.array([1.0, 0.0, 1.0]), direction="DESCENDING")],
        argsort, WIDE_FLOATS + INTEGERS, result="int32", gradient=False),
    Row("searchsorted", [sample(np.array([1.0, 3.0, 5.0]), np.array([0.0, 1.0, 4.0, 6.0])),
                         sample(np.array([1.0, 3.0, 5.0]), np.array([0.0, 1.0, 5.0]), side="right")],
        lambda s, v, side="left": np.searchsorted(s, v, side).astype(np.int32), FLOATS + INTEGERS, result="int32",
        gradient=False,
        bad=[(sample([1, 3], [1], side="x"), ValueError, "Argument `side` must be either 'right' or 'left'."),
             (sample([1, 3], [[1], [2]]), Invalid, "Leading dim_size of both tensors must match."),
             (sample(tf.constant([1, 3]), tf.constant([1.0])), Invalid, "cannot compute LowerBound as input #1")]),
    Row("math.invert_permutation", [sample([3, 4, 0, 2, 1]), sample(np.zeros([0], np.int32))], np.argsort, ("int32",),
        result="int32", gradient=False,
        bad=[(sample([0, 0]), Invalid, "0 is duplicated in the input."),
             (sample([0, 5]), Invalid, "5 is not between 0 and 2"),
             (sample([[0, 1]]), Invalid, "invert_permutation expects a 1D vector.")]),
    Row("unravel_index", [sample([0, 5, 7], [2, 4]), sample(5, [2, 3])],
        lambda i, dims: np.stack(np.unravel_index(i, dims)), ("int32",), result="int32", gradient=False,
        bad=[(sample([10], [2, 3]), Invalid, "index is out of bound as with dims")]),
    Row("histogram_fixed_width", [sample([-1.0, 0.0, 1.5, 2.0, 5.0, 15.0], [0.0, 5.0], nbins=5)],
        lambda v, r, nbins: np.histogram(np.clip(v, *r), nbins, r)[0], ("float32",), result="int32", gradient=False,
        bad=[(sample([1.0], [5.0, 5.0]), Invalid, "value_range should satisfy value_range[0] < value_range[1]"),
             (sample([1.0], [0.0, 5.0], nbins=0), Invalid, "nbins should be a positive number, but got '0'"),
             (sample([np.nan], [0.0, 5.0]), Invalid, "Histogram values must not contain NaN")]),
    Row("space_to_batch", [sample(rand(2, 4, 6, 3), [2, 3], [[0, 0], [0, 0]]), sample(rand(1, 3, 2), [2], [[1, 0]]),
                           sample(rand(2, 3), [2], [[0, 1]])], to_batch, NUMBERS,
        bad=[(sample(rand(1, 1, 2, 1), [2, 2], [[0, 0], [0, 0]]), Invalid,
              "padded_shape[0]=1 is not divisible by block_shape[0]=2"),
             (sample(rand(2), [1], [[0, 0]]), Invalid, "input rank should be >= 2 instead of 1"),
             (sample(rand(1, 2), [0], [[0, 0]]), Invalid, "All values in block_shape must be positive"),
             (sample(rand(1, 2), [2], [[-1, 1]]), Invalid, "Paddings must be non-negative")]),
    Row("batch_to_space", [sample(rand(12, 2, 2, 3), [2, 3], [[0, 0], [0, 0]]), sample(rand(4, 3, 2), [2], [[1, 2]])],
        to_space, NUMBERS,
        bad=[(sample(rand(1, 1, 1, 1), [2, 2], [[0, 0], [0, 0]]), Invalid,
              "Input batch dimension (1) is not divisible by product of block sizes (4)"),
             (sample(rand(4, 1, 1, 1), [2, 2], [[0, 3], [0, 0]]), Invalid,
              "cropped_shape[0]=-1 must be non-negative")]),
    Row("extract_volume_patches", [sample(rand(1, 3, 4, 3, 2), [1, 2, 2, 2, 1], [1, 1, 2, 1, 1], "VALID")],
        volume_patches, FLOATS),
    Row("zeros_like", [sample(M), sample(rand())], np.zeros_like, MOVED, gradient=False),
    Row("ones_like", [sample(M), sample(rand())], np.ones_like, MOVED, gradient=False,
        bad=[(sample(["a"]), Invalid, "Value for attr 'T' of string is not in the list of allowed values")]),
    Row("fill", [sample([2, 3], rand()), sample([0], rand()), sample((), rand())], np.full, MOVED,
        bad=[(sample([-1], 0), Invalid, "Dimension -1 must be >= 0"),
             (sample([2], [1, 2]), Invalid, "value must represent a scalar, got shape [2]"),
             (sample([1.5], 0), Invalid, "Value for attr 'index_type' of float is not in the list"),
             (sample([[2]], 0), Invalid, "dims must represent a vector, got shape [1,1]")]),
    Row("linspace", [sample(rand(), rand(seed=1), 5), sample(rand(2), rand(2, seed=1), 3), sample(rand(), rand(), 1),
                     sample(rand(2, 1), rand(3), 4, axis=-1)], np.linspace, WIDE_FLOATS,
        bad=[(sample(0.0, 1.0, 2.5), TypeError, "must be of type integer")]),
    Row("one_hot", [sample([0, 2, 5, -1], 3, rand(), rand(seed=1)), sample([[0, 1]], 2, rand(), rand(seed=1), 0)],
        lambda i, n, on, off, axis=-1: np.stack([np.where(np.equal(i, k), on, off) for k in range(n)], axis), MOVED,
        gradient=False,
        bad=[(sample([0], -1), Invalid, "depth must be non-negative, got: -1"),
             (sample([0.5], 2), Invalid, "Value for attr 'TI' of float is not in the list"),
             (sample([0], 2, axis=3), Invalid, "Expected axis to be -1 or between [0, 2).  But received: 3"),
             (sample([0], 2, 1, 0.5), TypeError, "of on_value does not match dtype")]),
    Row("space_to_batch_nd", [sample(rand(2, 4, 6, 3), [2, 3], [[0, 0], [0, 0]])], lambda x, b, _: np.reshape(
        x.reshape(2, 2, 2, 2, 3, 3).transpose(2, 4, 0, 1, 3, 5), (12, 2, 2, 3)), MOVED),
]  # fmt: skip
