"""Rows of `tapeflow/linalg/diagonals.py` and `norms.py`."""

import numpy as np

import tapeflow as tf
from op_table import COMPLEX, FLOATS, NUMBERS, Row, rand, sample

Invalid = tf.errors.InvalidArgumentError


def band(shape, k):
    """For each diagonal from the highest: where its elements are, in their order."""
    low, high = (k, k) if isinstance(k, int) else (k[0], k[-1])
    rows, columns = shape
    for d in range(high, low - 1, -1):
        yield d, [(i, i + d) for i in range(rows) if 0 <= i + d < columns]


def padded(d, count, width, align):
    above, below = align.split("_")
    return width - count if (above if d >= 0 else below) == "RIGHT" else 0


def diag_part(x, k=0, padding_value=0, align="RIGHT_LEFT"):
    found = list(band(x.shape[-2:], k))
    width = max(len(places) for _, places in found)
    out = np.full((*x.shape[:-2], len(found), width), padding_value, x.dtype)
    for row, (d, places) in enumerate(found):
        start = padded(d, len(places), width, align)
        for j, (a, b) in enumerate(places):
            out[..., row, start + j] = x[..., a, b]
    return out[..., 0, :] if isinstance(k, int) or len(found) == 1 else out


def set_diag(x, diagonal, k=0, align="RIGHT_LEFT"):
    found, out = list(band(x.shape[-2:], k)), np.array(x)
    diagonal = diagonal[..., None, :] if isinstance(k, int) else diagonal
    for row, (d, places) in enumerate(found):
        start = padded(d, len(places), diagonal.shape[-1], align)
        for j, (a, b) in enumerate(places):
            out[..., a, b] = diagonal[..., row, start + j]
    return out


def diag(x, k=0, num_rows=-1, num_cols=-1, padding_value=0, align="RIGHT_LEFT"):
    low, high = (k, k) if isinstance(k, int) else k
    rows, columns = x.shape[-1] - min(high, 0), x.shape[-1] + max(low, 0)
    if num_rows == num_cols == -1:
        num_rows = num_cols = max(rows, columns)
    num_rows, num_cols = (rows if num_rows == -1 else num_rows), (columns if num_cols == -1 else num_cols)
    batch = x.shape[:-1] if isinstance(k, int) else x.shape[:-2]
    return set_diag(np.full((*batch, num_rows, num_cols), padding_value, x.dtype), x, k, align)


def band_part(x, low, high):
    rows, columns = np.indices(x.shape[-2:])
    kept = ((low < 0) | (rows - columns <= low)) & ((high < 0) | (columns - rows <= high))
    return np.where(kept, x, 0)


def norm(x, ord="euclidean", axis=None, keepdims=False):
    if ord == "euclidean":
        return np.sqrt(np.sum(x * x.conj(), tuple(axis) if isinstance(axis, list) else axis, keepdims=keepdims))
    x = x if axis is not None else x.reshape(-1)
    return np.linalg.norm(x, ord, tuple(axis) if isinstance(axis, list) else axis, keepdims)


def global_norm(tensors):
    return np.sqrt(sum(np.sum(np.asarray(t) ** 2) for t in tensors))


def clip_by_norm(x, clip_norm, axes=None):
    length = np.sqrt(np.sum(x**2, axis=axes if axes is None else tuple(axes), keepdims=True))
    return x * clip_norm / np.maximum(length, clip_norm)


ALIGNS = ("RIGHT_LEFT", "LEFT_RIGHT", "LEFT_LEFT", "RIGHT_RIGHT")
NORM_TOLERANCE = {"float16": (5e-3, 5e-3), "bfloat16": (5e-2, 5e-2)}  # squares and roots in the dtype itself

ROWS = [
    Row("linalg.diag", [
        sample(rand(3)), sample(rand(2, 3)), sample(rand(3), k=1), sample(rand(2, 3), k=-2), sample(rand(0)),
        sample(rand(3), num_rows=3, num_cols=4, padding_value=9), sample(rand(3), num_rows=5),
        sample(rand(3), num_cols=5),
        sample(rand(3), k=-1, num_cols=5), sample(rand(2, 3), k=(0, 1)), sample(rand(4, 3, 3), k=(-1, 1)),
        *[sample(rand(2, 3, 2), k=(-2, 0), num_rows=4, align=a) for a in ALIGNS],
    ], diag, NUMBERS, bad=[
        (sample(1), Invalid, "diagonal must be at least 1-dim, received shape: []"),
        (sample([[1, 2], [3, 4]], k=(1, 0)), Invalid, "lower_diag_index must not be larger than upper_diag_index"),
        (sample([1, 2, 3], num_rows=2), Invalid, "The number of rows is too small."),
        (sample([1, 2, 3], k=-1, num_cols=2), Invalid, "The number of columns is too small."),
        (sample([1, 2, 3], num_rows=5, num_cols=4), Invalid, "The number of rows or columns is not consistent"),
        (sample([1, 2, 3], k=[0, 1, 2]), Invalid, "diag_index must have only one or two elements, received 3"),
        (sample([1, 2, 3], k=[-1, 1]), Invalid, "diagonals -1 to 1 need a tensor [..., 3, length]"),
        (sample([1, 2, 3], align="BAD"), Invalid, "is not in the list of allowed values"),
    ]),
    Row("linalg.diag_part", [
        sample(rand(3, 3)), sample(rand(2, 4, 3)), sample(rand(2, 3), k=1), sample(rand(3, 2), k=-2),
        sample(rand(0, 2)), sample(rand(2, 3), k=(0, 0)), sample(rand(2, 0, 3)),
        *[sample(rand(2, 3, 4), k=(-1, 2), align=a, padding_value=9) for a in ALIGNS],
    ], diag_part, NUMBERS, bad=[
        (sample([1, 2]), Invalid, "input must be at least 2-dim, received shape: [2]"),
        (sample(np.ones([2, 3]), k=(2, 1)), Invalid, "lower_diag_index must not be larger than upper_diag_index"),
        (sample(np.ones([2, 3]), k=5), Invalid, "lower_diag_index is out of bound: 5. It must be between -2"),
        (sample(np.ones([2, 3]), k=(0, 3)), Invalid, "upper_diag_index is out of bound: 3. It must be between -2"),
    ]),
    Row("linalg.set_diag", [
        sample(rand(3, 3), rand(3)), sample(rand(2, 4, 3), rand(2, 3)), sample(rand(2, 3), rand(2), k=1),
        *[sample(rand(5, 3, 4), rand(5, 4, 3), k=(-1, 2), align=a) for a in ALIGNS],
    ], set_diag, NUMBERS, bad=[
        (sample([1, 2], [3]), Invalid, "input must be at least 2-dim, received shape: [2]"),
        (sample([[1, 2], [3, 4]], [1, 2, 3]), Invalid, "Expected diagonal shape: [2]"),
        (sample([[1, 2], [3, 4]], [1, 2], k=3), Invalid, "lower_diag_index is out of bound: 3"),
        (sample([[1, 2], [3, 4]], [1.0, 2.0]), TypeError, "Cannot convert"),
    ]),
    Row("linalg.band_part", [
        sample(rand(3, 4), 1, 0), sample(rand(3, 4), -1, 1), sample(rand(2, 4, 3), 0, -1), sample(rand(3, 3), -1, -1),
        sample(rand(3, 3), 3, 0), sample(rand(0, 3), 0, 0),
    ], band_part, NUMBERS, bad=[
        (sample([1, 2], 0, 0), Invalid, "input must be at least 2-dim, received shape: [2]"),
        (sample(np.ones([2, 3]), 3, 0), Invalid, "less or equal to number of rows (2) got: 3"),
        (sample(np.ones([2, 3]), 0, 4), Invalid, "less or equal to number of columns (3) got: 4"),
    ]),
    Row("linalg.trace", [sample(rand(3, 3)), sample(rand(2, 3, 4)), sample(rand(0, 0))],
        lambda x: np.trace(x, axis1=-2, axis2=-1), FLOATS + COMPLEX + ("int32", "uint8"), tolerance=NORM_TOLERANCE,
        bad=[(sample([1, 2]), Invalid, "input must be at least 2-dim, received shape: [2]")]),
    Row("linalg.tensor_diag", [sample(rand(3)), sample(rand(2, 3)), sample(rand(0))],
        lambda x: np.diag(x.reshape(-1)).reshape(x.shape * 2), FLOATS + COMPLEX + ("int32", "int64"),
        bad=[(sample(1), Invalid, "Input must be at least rank 1, got 0")]),
    Row("linalg.tensor_diag_part", [sample(rand(3, 3)), sample(rand(2, 3, 2, 3)), sample(rand(0, 0))],
        lambda x: np.diag(x.reshape([x.size and int(x.size**0.5)] * 2)).reshape(x.shape[: x.ndim // 2]),
        FLOATS + COMPLEX + ("int32", "int64"), bad=[
        (sample(np.ones([2, 3])), Invalid, "Invalid shape [2,3]: dimensions 0 and 1 do not match."),
        (sample([1, 2]), Invalid, "The rank of the tensor should be even and positive, got shape [2]"),
    ]),
    Row("linalg.matrix_transpose", [sample(rand(2, 3)), sample(rand(4, 2, 3)), sample(rand(2, 0)),
                                    sample(rand(2, 3), conjugate=True)],
        lambda x, conjugate=False: np.swapaxes(x.conj() if conjugate else x, -1, -2), NUMBERS,
        bad=[(sample([1, 2]), ValueError, "should be a (batch) matrix with rank >= 2")]),
    Row("linalg.adjoint", [sample(rand(2, 3)), sample(rand(4, 2, 3))], lambda x: np.swapaxes(x.conj(), -1, -2), NUMBERS,
        bad=[(sample(3), ValueError, "should be a (batch) matrix with rank >= 2")]),
    Row("norm", [
        sample(rand(3)), sample(rand(2, 3)), sample(rand(2, 3), axis=1, keepdims=True), sample(rand(2, 3), axis=[0, 1]),
        sample(rand(2, 3), ord="fro", axis=[-2, -1]), sample(rand(4, 2, 3), ord="fro", axis=(0, 2), keepdims=True),
        sample(rand()),
    ], norm, FLOATS + COMPLEX, tolerance=NORM_TOLERANCE, bad=[
        (sample([1.0], ord="fro"), ValueError, "'ord' must be a supported vector norm, got fro"),
        (sample([1.0], ord=0), ValueError, "'ord' must be a supported vector norm, got 0"),
        (sample([[1.0]], ord=3, axis=[0, 1]), ValueError, "'ord' must be a supported matrix norm"),
        (sample([[1.0]], axis=[0, 0]), ValueError, "'axis' must be None, an integer, or"),
        (sample([[1.0]], axis=[0, 1, 2]), ValueError, "'axis' must be None, an integer, or"),
        (sample([3, 4]), Invalid, "Value for attr 'T' of int32"),
        (sample([[1.0]], axis=5), Invalid, "Invalid reduction dimension"),
    ]),
    Row("linalg.norm", [
        sample(rand(2, 3), ord=1), sample(rand(2, 3), ord=2.5), sample(rand(2, 3), ord=3, axis=0),
        sample(rand(3), ord=np.inf),
        sample(rand(2, 3), ord=np.inf, axis=-1, keepdims=True), sample(rand(4, 2, 3), ord=1, axis=[1, 2]),
        sample(rand(4, 2, 3), ord=1, axis=[2, 0], keepdims=True), sample(rand(4, 2, 3), ord=np.inf, axis=[-2, -1]),
        sample(rand(4, 2, 3), ord=np.inf, axis=[0, 1], keepdims=True), sample(rand(4, 2, 3), ord=2, axis=[0, 1]),
        sample(rand(4, 2, 3), ord=2, axis=[2, 0], keepdims=True),
    ], norm),
    Row("linalg.global_norm", [sample([rand(3), rand(2, 2)]), sample((rand(),))], global_norm, gradient=False),
    Row("linalg.normalize", [
        sample(rand(3)), sample(rand(2, 3), axis=0), sample(rand(2, 3), ord=1, axis=1), sample(rand(2, 3), axis=[0, 1]),
    ], lambda x, ord="euclidean", axis=None: (x / norm(x, ord, axis, True), norm(x, ord, axis, True))),
    Row("clip_by_norm", [
        sample(rand(3), 1.0), sample(rand(2, 3), 100.0), sample(rand(2, 3), 0.5, axes=[1]), sample(rand(2, 3), 0.0),
    ], clip_by_norm, FLOATS, tolerance=NORM_TOLERANCE, bad=[
        (sample([3.0, 4.0], [[1.0], [2.0]]), ValueError, "are incompatible"),
        (sample([3, 4], 1), Invalid, "Value for attr 'T' of int32"),
    ]),
]  # fmt: skip
