"""Ops that summarize tensors in few numbers: histograms, fingerprints, edit distances."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch

from tapeflow.array.passing import cast_to, less_static
from tapeflow.array.shaping import reshape
from tapeflow.core.context import state
from tapeflow.core.farmhash import fingerprints64
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.definition import ops
from tapeflow.core.ops.memory import UNFILLED, check_memory
from tapeflow.core.ops.op import not_differentiable, op
from tapeflow.core.ops.shape_rules import check_rank, ranked, sparse, text, unknown
from tapeflow.core.ops.static import value_of
from tapeflow.core.types.aliases import DTypeLike, TensorLike
from tapeflow.core.types.dtypes import FROM_TORCH, DType, as_dtype, int32
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.composite import CompositeTensor
from tapeflow.core.values.string_index import StringIndex
from tapeflow.core.values.strings import StringArray
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.tensor import EagerTensor, Tensor, as_numpy, invalid

# ---- histograms ------------------------------------------------------------------------------------------------------


def _histogram_rule(values: TensorShape, value_range: TensorShape, nbins: Any, *_: Any) -> TensorShape:
    if not value_range.is_compatible_with([2]):
        raise invalid("value_range should be a vector of 2 elements.")
    check_rank(nbins, 0)
    if isinstance(nbins, int) and nbins <= 0:
        raise invalid(f"Requires nbins > 0: {nbins}")
    return TensorShape([nbins if isinstance(nbins, int) else None])


@op("HistogramFixedWidth", host=("nbins",), shape=_histogram_rule)
def _histogram_fixed_width(
    values: torch.Tensor, value_range: torch.Tensor, nbins: Any, dtype: DType = int32
) -> torch.Tensor:
    """Counts the values in each of several bins of equal width."""
    if value_range.shape != (2,):
        raise invalid("value_range should be a vector of 2 elements.")
    if isinstance(nbins, tuple):
        raise invalid("nbins should be a scalar.")
    if nbins <= 0:
        raise invalid(f"nbins should be a positive number, but got '{nbins}'")
    check_memory([nbins], 12, UNFILLED)
    low, high = value_range.tolist()
    if not low < high:
        raise invalid(f"value_range should satisfy value_range[0] < value_range[1], but got '[{low:g}, {high:g}]'")
    values = values.reshape(-1).to(torch.float64)
    if values.isnan().any():
        raise invalid("Histogram values must not contain NaN")
    bins = ((values - low) / ((high - low) / nbins)).clamp(0, nbins - 1).to(torch.int64)
    return torch.bincount(bins, minlength=nbins).to(dtype.torch)


not_differentiable(_histogram_fixed_width)


def histogram_fixed_width(
    values: TensorLike,
    value_range: TensorLike,
    nbins: TensorLike = 100,
    dtype: DTypeLike = int32,
    name: str | None = None,
) -> Tensor:
    """Counts the values in each of several bins of equal width.

    Args:
        values: a real tensor of any shape.
        value_range: `[low, high]`, of the dtype of `values`; a value outside counts in the first or the last bin.
        nbins: the number of bins; 100 by default.
        dtype: the dtype of the result, int32 or int64; int32 by default.

    Returns:
        A tensor of shape `[nbins]`.

    Raises:
        InvalidArgumentError: the range is empty, there are no bins, or a value is NaN.

    Example:
        >>> tf.histogram_fixed_width([-1.0, 0.0, 1.5, 2.0, 5.0, 15.0], [0.0, 5.0], nbins=5).numpy().tolist()
        [2, 1, 1, 0, 2]
    """
    return _histogram_fixed_width(values, value_range, nbins, as_dtype(dtype), name)


def histogram_fixed_width_bins(
    values: TensorLike,
    value_range: TensorLike,
    nbins: TensorLike = 100,
    dtype: DTypeLike = int32,
    name: str | None = None,
) -> Tensor:
    """Returns the bin of each value in a histogram with bins of equal width.

    Args:
        values: a real tensor of any shape.
        value_range: `[low, high]`, of the dtype of `values`; a value outside is in the first or the last bin.
        nbins: the number of bins; 100 by default.
        dtype: ignored; the result is int32.

    Returns:
        An int32 tensor of the shape of `values`.

    Raises:
        InvalidArgumentError: there are no bins.

    Example:
        >>> tf.histogram_fixed_width_bins([-1.0, 0.0, 1.5, 2.0, 5.0, 15.0], [0.0, 5.0], nbins=5).numpy().tolist()
        [0, 0, 1, 2, 4, 4]
    """
    numbers = convert(values)
    ends = convert(value_range)
    low, high = ends[0], ends[1]
    count = convert(nbins, int32)
    if type(count) is EagerTensor and int(count) <= 0:
        raise invalid(f"nbins {count} must > 0")
    bins = cast_to(count, numbers.dtype)
    scaled = (reshape(numbers, [-1]) - low) / (high - low)
    places = ops.ClipByValue(ops.Floor(bins * scaled), 0, bins - 1)
    return reshape(cast_to(places, int32), ops.Shape(numbers))


# ---- fingerprints ----------------------------------------------------------------------------------------------------


_METHOD = "farmhash64"  # the only one


@op("Fingerprint", shape=ranked(lambda data, _: TensorShape([data[0] if data.rank else None, 8]), -1, 0), strings=True)
def _fingerprint(data: Any, method: StringArray) -> torch.Tensor:
    """Returns the fingerprints of the rows of a tensor."""
    name = method.item().decode() if isinstance(method.item(), bytes) else str(method.item())
    if name != _METHOD:
        raise invalid(f"Unsupported fingerprint method: {name}")
    if not data.ndim:
        raise invalid(f"`data` should have at least one dimension: {text(TensorShape(data.shape))}")
    count = data.shape[0]
    if isinstance(data, StringArray):
        strings = data
        if data.size > count:  # the fingerprints of the fingerprints
            strings = _rows_as_strings(fingerprints64(data).astype("<u8"), count)
    else:
        strings = _rows_as_strings(as_numpy(data.contiguous(), FROM_TORCH[data.dtype]), count)
    return torch.from_numpy(fingerprints64(strings).astype("<u8").view(np.uint8).reshape(-1, 8))


def _rows_as_strings(array: np.ndarray, count: int) -> StringArray:
    """Returns the bytes of each of `count` rows."""
    size = array.nbytes // count if count else 0
    return StringArray(array.tobytes(), np.arange(count + 1) * size)


not_differentiable(_fingerprint)


def fingerprint(data: TensorLike, method: TensorLike = "farmhash64", name: str | None = None) -> Tensor:
    """Returns the fingerprint of each slice along the first dimension: the same for the same bytes, on every machine.

    Args:
        data: a tensor of any dtype, of rank at least 1.
        method: the hash function: "farmhash64".

    Returns:
        A uint8 tensor of shape `[data.shape[0], 8]`.

    Raises:
        InvalidArgumentError: the method is unknown, or `data` is a scalar.

    Example:
        >>> tf.fingerprint(["a"]).numpy().tolist()
        [[227, 117, 223, 182, 101, 66, 69, 179]]
    """
    if state.graph is not None and isinstance(method, str) and method != _METHOD:
        raise invalid(f"Unsupported method: {method}")
    result = _fingerprint(data, method, name)
    if isinstance(method, SymbolicTensor) and value_of(method) is None:  # others may have fingerprints of other sizes
        return less_static(result, [result.shape[0], None])
    return result


# ---- edit distances --------------------------------------------------------------------------------------------------


def _levenshtein(a: np.ndarray, b: np.ndarray, a_lengths: np.ndarray, b_lengths: np.ndarray) -> np.ndarray:
    """Returns the least numbers of elements to insert, delete or replace to get from some sequences to others.

    The tables of distances of all pairs are computed at once, row by row. Without its column's number, the cost of
    insertions in a row is a running minimum of the other costs.

    Args:
        a, b: sequences of numbers, `[pairs, elements]`.
        a_lengths, b_lengths: their lengths, `[pairs]`. Those of `a` ascend.
    """
    row = np.zeros((len(b), b.shape[1] + 1), np.int64)  # the distances, less the columns' numbers
    out = b_lengths.copy()  # the distances from an empty `a`
    ends = np.searchsorted(a_lengths, np.arange(1, a.shape[1] + 2))
    for i in range(a.shape[1]):
        new = row + 1
        np.minimum(new[:, 1:], row[:, :-1] - (a[:, i : i + 1] == b), out=new[:, 1:])
        row = np.minimum.accumulate(new, 1)
        ended = np.arange(ends[i], ends[i + 1])
        if len(ended):
            out[ended] += row[ended, b_lengths[ended]]
    return out


def _numbered(*parts: Any) -> np.ndarray:
    """Returns a number for each value of two vectors, the same for equal ones."""
    if not isinstance(parts[0], StringArray):
        return np.unique(np.concatenate([p.numpy() for p in parts]), return_inverse=True, equal_nan=False)[1]
    return StringIndex().add(StringArray.concatenate(parts))


class _Sequences:
    """The sequences of a sparse tensor in the cells of a shape, as numbers."""

    def __init__(self, indices: torch.Tensor, numbers: np.ndarray, shape: list[int]) -> None:
        outer = indices[:, :-1].numpy()
        if not ((outer >= 0) & (outer < shape)).all():
            raise invalid("the indices of a sparse tensor are out of its shape")
        cells = outer @ np.array([math.prod(shape[i + 1 :]) for i in range(len(shape))], np.int64)
        self.lengths = np.bincount(cells, minlength=math.prod(shape))
        self._starts = np.cumsum(self.lengths) - self.lengths
        self._numbers = np.append(numbers[np.argsort(cells, kind="stable")], -1)

    def rows(self, cells: np.ndarray) -> np.ndarray:
        """Returns the sequences of some cells as the rows of a matrix."""
        places = self._starts[cells, None] + np.arange(self.lengths[cells].max())
        return self._numbers[np.minimum(places, len(self._numbers) - 1)]


_PAIRS = 1 << 12  # the number of pairs that are computed at once


@op("EditDistance", strings=True, shape=sparse(unknown, 0, 3))
def _edit_distance(
    hypothesis_indices: torch.Tensor,
    hypothesis_values: Any,
    hypothesis_shape: torch.Tensor,
    truth_indices: torch.Tensor,
    truth_values: Any,
    truth_shape: torch.Tensor,
    normalize: bool = True,
) -> torch.Tensor:
    """Returns the edit distances of sequences."""
    guess, true = hypothesis_shape.tolist(), truth_shape.tolist()
    if len(true) < 2:
        raise invalid(f"Input SparseTensors must have rank at least 2, but truth_shape rank is: {len(true)}")
    if len(true) != len(guess):
        raise invalid(
            "Expected truth and hypothesis to have matching ranks, but their shapes are: "
            f"[{len(true)}] and [{len(guess)}]"
        )
    shape = [max(g, t) for g, t in zip(guess[:-1], true[:-1], strict=True)]
    numbers = _numbered(hypothesis_values, truth_values)
    hypotheses = _Sequences(hypothesis_indices, numbers[: len(hypothesis_values)], shape)
    truths = _Sequences(truth_indices, numbers[len(hypothesis_values) :], shape)
    out = np.zeros(math.prod(shape), np.float32)
    used = np.flatnonzero(hypotheses.lengths + truths.lengths)
    used = used[np.lexsort((truths.lengths[used], hypotheses.lengths[used]))]  # for rows of about the same length
    for i in range(0, len(used), _PAIRS):
        cells = used[i : i + _PAIRS]
        lengths = hypotheses.lengths[cells], truths.lengths[cells]
        out[cells] = _levenshtein(hypotheses.rows(cells), truths.rows(cells), *lengths)
    if normalize:
        with np.errstate(divide="ignore"):
            out[used] /= truths.lengths[used]
    return torch.from_numpy(out.reshape(shape))


not_differentiable(_edit_distance)


def edit_distance(
    hypothesis: CompositeTensor, truth: CompositeTensor, normalize: bool = True, name: str = "edit_distance"
) -> Tensor:
    """Returns the Levenshtein distance of sequences: the number of elements to insert, delete or replace.

    Args:
        hypothesis: a `tf.SparseTensor` of rank n >= 2, with sequences along the last dimension.
        truth: a `tf.SparseTensor` of the same dtype and rank.
        normalize: divides by the length of the true sequence; True by default.

    Returns:
        A dense float32 tensor of rank n - 1.

    Raises:
        TypeError: an argument is no `tf.SparseTensor`.
        InvalidArgumentError: the ranks differ.

    Example:
        >>> one = tf.sparse.from_dense([["k", "i", "t"]])
        >>> other = tf.sparse.from_dense([["s", "i", "t", "s"]])
        >>> tf.edit_distance(one, other, normalize=False).numpy().tolist()
        [2.0]
    """
    components: list[Any] = []
    value: Any
    for value, title in ((hypothesis, "Hypothesis"), (truth, "Truth")):
        if not all(hasattr(value, part) for part in ("indices", "values", "dense_shape")):
            raise TypeError(f"{title} must be a SparseTensor.")
        components += [value.indices, value.values, value.dense_shape]
    return ops.EditDistance(*components, normalize, name)
