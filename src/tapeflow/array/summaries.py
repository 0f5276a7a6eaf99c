"""Ops that summarize tensors in few numbers: histograms, fingerprints, edit distances."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from tapeflow.array.identities import cast_to, less_static
from tapeflow.array.properties import shape_op
from tapeflow.array.reshapes import reshape
from tapeflow.core.context import state
from tapeflow.core.farmhash import fingerprints64
from tapeflow.core.loops import Float64s, Int64s, Numbers, loop, simd_range
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.memory import UNFILLED, check_memory
from tapeflow.core.ops.op import not_differentiable, op
from tapeflow.core.ops.shape_rules import check_rank, check_ranks_first, sparse, text, unknown
from tapeflow.core.ops.static import value_of
from tapeflow.core.types.aliases import DTypeLike, TensorLike
from tapeflow.core.types.dtypes import FROM_TORCH, DType, as_dtype, int32
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.composite import CompositeTensor
from tapeflow.core.values.string_index import StringIndex
from tapeflow.core.values.strings import StringArray
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.tensor import EagerTensor, Tensor, as_numpy, invalid
from tapeflow.math.extrema import clip_by_value_op
from tapeflow.math.rounding import floor

# ---- histograms ------------------------------------------------------------------------------------------------------


def _histogram_rule(
    values: TensorShape, value_range: TensorShape, nbins: int | tuple[Any, ...], *_: Any
) -> TensorShape:
    if not value_range.is_compatible_with([2]):
        raise invalid("value_range should be a vector of 2 elements.")
    check_rank(nbins, 0)
    if isinstance(nbins, int) and nbins <= 0:
        raise invalid(f"Requires nbins > 0: {nbins}")
    return TensorShape([nbins if isinstance(nbins, int) else None])


@loop
def _count_in_bins(
    values: Float64s, size: int, low: float, width: float, bins: int, numbers: Int64s, counts: Int64s
) -> int:
    """Counts the values in bins, and returns the number of NaNs. `numbers` is a buffer of `_BLOCK` numbers."""
    nans = 0
    for start in range(0, size, _BLOCK):
        count = min(_BLOCK, size - start)
        for i in simd_range(count):
            value = (values[start + i] - low) / width
            value = value if value > 0.0 else 0.0
            numbers[i] = int(value if value < bins - 1 else float(bins - 1))
            nans += values[start + i] != values[start + i]
        for i in range(count):
            counts[numbers[i]] += 1
    return nans


_BLOCK = 1024


@op("HistogramFixedWidth", host=("nbins",), shape=_histogram_rule)
def _histogram_fixed_width(
    values: torch.Tensor, value_range: torch.Tensor, nbins: int, dtype: DType = int32
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
    values = values.detach().to("cpu", torch.float64).contiguous()
    numbers, counts = torch.empty(_BLOCK, dtype=torch.int64), torch.zeros(nbins, dtype=torch.int64)
    if _count_in_bins(values, values.numel(), low, (high - low) / nbins, nbins, numbers, counts):
        raise invalid("Histogram values must not contain NaN")
    return counts.to(value_range.device, dtype.torch)


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
        nbins: a scalar, the number of bins; 100 by default.
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
        nbins: a scalar, the number of bins; 100 by default.
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
    places = clip_by_value_op(floor(bins * scaled), 0, bins - 1)
    return reshape(cast_to(places, int32), shape_op(numbers))


# ---- fingerprints ----------------------------------------------------------------------------------------------------


_METHOD = "farmhash64"  # the only one


@op(
    "Fingerprint",
    shape=check_ranks_first(lambda data, _: TensorShape([data[0] if data.rank else None, 8]), -1, 0),
    strings=True,
)
def _fingerprint_op(data: StringArray | torch.Tensor, method: StringArray) -> torch.Tensor:
    """Returns the fingerprints of the rows of a tensor."""
    name = method.item().decode() if isinstance(method.item(), bytes) else str(method.item())
    if name != _METHOD:
        raise invalid(f"Unsupported fingerprint method: {name}")
    if not data.ndim:
        raise invalid(f"`data` should have at least one dimension: {text(data.shape)}")
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


not_differentiable(_fingerprint_op)


def fingerprint(data: TensorLike, method: TensorLike = "farmhash64", name: str | None = None) -> Tensor:
    """Returns the fingerprint of each slice along the first dimension: the same for the same bytes, on every machine.

    Args:
        data: a tensor of any dtype, of rank at least 1.
        method: a scalar string, the hash function: "farmhash64".

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
    result = _fingerprint_op(data, method, name)
    if isinstance(method, SymbolicTensor) and value_of(method) is None:  # others may have fingerprints of other sizes
        return less_static(result, [result.shape[0], None])
    return result


# ---- edit distances --------------------------------------------------------------------------------------------------


@loop
def _find_cells(indices: Int64s, size: int, rank: int, shape: Int64s, cells: Int64s, start: int) -> int:
    """Numbers the cells of a shape that hold the elements of a sparse tensor. The tensor has one dimension more.

    Returns 0 if the cells ascend, 1 if not, and -1 if one is out of the shape.
    """
    unordered = 0
    for i in range(size):
        cell = 0
        for d in range(rank - 1):
            index = indices[i * rank + d]
            if not 0 <= index < shape[d]:
                return -1
            cell = cell * shape[d] + index
        cells[start + i] = cell
        unordered = unordered or (i > 0 and cells[start + i - 1] > cell)
    return unordered


@loop
def _find_distances(
    a_indices: Int64s, a: Int64s, a_size: int, b_indices: Int64s, b: Int64s, b_size: int, rank: int, shape: Int64s,
    cells: Int64s, row: Int64s, normalize: int, out: Numbers,
) -> int:  # fmt: skip
    """Computes the least number of elements to insert, delete or replace to get from `a` to `b`, in each cell.

    Args:
        a_indices, b_indices: the indices of the elements of two sparse tensors.
        a, b: the elements.
        a_size, b_size: their numbers.
        rank: the rank of the sparse tensors.
        shape: the shape of the cells.
        cells: receives the cells of the elements, first those of `a`.
        row: a row of the table of distances, of `b_size + 1` numbers.
        normalize: divides by the length of the sequence of `b`.
        out: the distances, which are zeros before.

    Returns:
        0; 1 if the cells do not ascend; -1 if one is out of the shape.
    """
    a_found = _find_cells(a_indices, a_size, rank, shape, cells, 0)
    b_found = _find_cells(b_indices, b_size, rank, shape, cells, a_size)
    if a_found or b_found:
        return -1 if a_found < 0 or b_found < 0 else 1
    i, j = 0, 0
    while i < a_size or j < b_size:
        cell = cells[i] if i < a_size else cells[a_size + j]
        if j < b_size:
            cell = min(cell, cells[a_size + j])
        start, first = i, j
        while i < a_size and cells[i] == cell:
            i += 1
        while j < b_size and cells[a_size + j] == cell:
            j += 1
        size = j - first
        for k in range(size + 1):
            row[k] = k
        for element in range(start, i):
            diagonal = row[0]
            row[0] += 1
            for k in range(size):
                replaced = diagonal + (a[element] != b[first + k])
                diagonal = row[k + 1]
                row[k + 1] = min(replaced, min(diagonal, row[k]) + 1)
        out[cell] = float(row[size])
        if normalize:
            out[cell] /= size
    return 0


def _number_values(first: Any, second: Any) -> Sequence[torch.Tensor]:
    """Returns an int64 for each value of two vectors, the same for equal ones."""
    if isinstance(first, StringArray):
        numbers = torch.from_numpy(StringIndex().add(StringArray.concatenate([first, second])))
    elif first.is_floating_point() or first.is_complex():
        values = torch.cat([first, second])
        values = values if first.itemsize > 2 else values.float()
        numbers = torch.from_numpy(np.unique(values.numpy(), return_inverse=True, equal_nan=False)[1])
    else:
        return first.long().contiguous(), second.long().contiguous()
    return numbers.long().split([len(first), len(second)])


@op("EditDistance", strings=True, shape=sparse(unknown, 0, 3))
def _edit_distance(
    hypothesis_indices: torch.Tensor,
    hypothesis_values: StringArray | torch.Tensor,
    hypothesis_shape: torch.Tensor,
    truth_indices: torch.Tensor,
    truth_values: StringArray | torch.Tensor,
    truth_shape: torch.Tensor,
    normalize: bool = True,
) -> torch.Tensor:
    """Returns the edit distances of sequences."""
    rank = truth_shape.numel()
    if rank < 2:
        raise invalid(f"Input SparseTensors must have rank at least 2, but truth_shape rank is: {rank}")
    if rank != hypothesis_shape.numel():
        raise invalid(
            "Expected truth and hypothesis to have matching ranks, but their shapes are: "
            f"[{rank}] and [{hypothesis_shape.numel()}]"
        )
    sizes = torch.maximum(hypothesis_shape, truth_shape)
    shape = sizes.tolist()[:-1]
    check_memory(shape)
    a, b = _number_values(hypothesis_values, truth_values)
    sides: list[list[Any]] = [
        [hypothesis_indices.contiguous(), a, a.numel()], [truth_indices.contiguous(), b, b.numel()],
    ]  # fmt: skip
    for indices, _, count in sides:
        if indices.shape != (count, rank):
            raise invalid(f"Expected indices of the shape [{count}, {rank}], got {list(indices.shape)}")
    counts = [side[-1] for side in sides]
    cells, row = torch.empty(sum(counts), dtype=torch.int64), torch.empty(counts[1] + 1, dtype=torch.int64)
    out = torch.zeros(shape)
    while found := _find_distances(*sides[0], *sides[1], rank, sizes, cells, row, normalize, out):
        if found < 0:
            raise invalid("the indices of a sparse tensor are out of its shape")
        for side, own in zip(sides, cells.split(counts), strict=True):
            order = own.argsort(stable=True)
            side[:2] = side[0][order], side[1][order]
    return out


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
        try:
            components += (value.indices, value.values, value.dense_shape)
        except AttributeError:
            raise TypeError(f"{title} must be a SparseTensor.") from None
    return _edit_distance(*components, normalize, name)
