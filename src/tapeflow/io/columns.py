"""The features of serialized `tf.train.Example` messages as columns of results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch

from tapeflow.core.ops.convert import convert, datatype_name
from tapeflow.core.ops.memory import UNFILLED, check_memory
from tapeflow.core.types.dtypes import DType, as_dtype, int64, string
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.strings import StringArray, numbers_within
from tapeflow.core.values.tensor import invalid
from tapeflow.io import features as kinds
from tapeflow.io.example_bytes import SHOWN, Rows
from tapeflow.io.features import FixedLenFeature, FixedLenSequenceFeature, RaggedFeature, SparseFeature, VarLenFeature
from tapeflow.ragged.tensor import RaggedTensor
from tapeflow.sparse.tensor import SparseTensor
from tapeflow.strings.kernels import raw_value

Outputs = list[tuple[DType, Any]]  # dtypes and shapes


def _feature_dtype(key: str, dtype: Any, op: str) -> DType:
    """Returns the dtype of a feature, if features can have it."""
    feature_dtype = as_dtype(dtype)
    if feature_dtype not in SHOWN:
        raise invalid(
            f"Feature {key}: dtype {feature_dtype.name} is not in the list of allowed values: float, int64, string "
            f"[Op:{op}]"
        )
    return feature_dtype


def _take_values(values: Any, places: np.ndarray) -> Any:
    """Returns values of a raw vector by their places, in the shape of the places."""
    return values.take(places) if isinstance(values, StringArray) else values[torch.from_numpy(places)]


def _pool_values(first: Any, flat: Any, dtype: DType) -> Any:
    """Returns some values and a raw vector as one raw vector."""
    parts = [raw_value(first, dtype), flat]
    return StringArray.concatenate(parts) if dtype is string else torch.cat(parts)


# ---- columns ---------------------------------------------------------------------------------------------------------
#
# A column describes the result for a feature. `keys` are the features to read. `outputs` are the dtypes
# and shapes of its tensors, for a batch of examples (of a size that may be None) or for one example (`single`); `read`
# computes their raw values from rows (see `example_bytes.py`); `build` assembles the result from the tensors.


class _Column:
    """A column of one feature."""

    key: str

    @property
    def keys(self) -> list[str]:
        return [self.key]


class DenseColumn(_Column):
    """A feature of one shape."""

    def __init__(self, key: str, feature: FixedLenFeature, op: str) -> None:
        self.key, self.dtype = key, _feature_dtype(key, feature.dtype, op)
        self.shape = TensorShape(feature.shape)
        if not self.shape.is_fully_defined():
            raise ValueError(
                f"First dimension of shape for feature {key} unknown. Consider using FixedLenSequenceFeature."
                if self.shape.rank and self.shape[0] is None
                else f"All dimensions of shape for feature {key} need to be known but received {self.shape}."
            )
        self.default = default = feature.default_value
        if default is not None:
            self.default = convert(default, self.dtype).value.reshape(self.shape.as_list()).reshape(-1).tolist()

    def outputs(self, size: int | None, single: bool) -> Outputs:
        return [(self.dtype, self.shape if single else TensorShape([size]).concatenate(self.shape))]

    def read(self, rows: Rows, single: bool) -> list[Any]:
        size, dims = self.shape.num_elements(), self.shape.as_list()
        flat, counts, least, most, kinds, missing = rows.values(self.key, self.dtype)
        if least == most == size and not missing:
            return [flat.reshape(dims if single else [len(rows), *dims])]
        bad = np.flatnonzero((counts != size) & (kinds != 0))
        lacking: Any = np.flatnonzero(kinds == 0) if missing and self.default is None else ()
        if len(lacking) and (not len(bad) or lacking[0] < bad[0]):
            raise invalid(
                f"{'' if single else 'Name: <unknown>, '}Feature: {self.key} (data type: {datatype_name(self.dtype)}) "
                "is required but could not be found."
            )
        if len(bad):
            raise invalid(
                f"Name: <unknown>, Key: {self.key}, Index: {bad[0]}.  Number of {SHOWN[self.dtype]} values != "
                f"expected.  Values size: {counts[bad[0]]} but output shape: {dims}"
            )
        if missing:
            places = np.tile(np.arange(size), (len(rows), 1))
            places[kinds != 0] = size + np.arange(int(counts.sum())).reshape(len(rows) - missing, size)
            flat = _take_values(_pool_values(self.default, flat, self.dtype), places)
        return [flat.reshape(dims if single else [len(rows), *dims])]

    def build(self, tensors: Sequence[Any]) -> Any:
        return tensors[0]


class PaddedColumn(_Column):
    """A feature that is a sequence, padded to the longest one."""

    def __init__(self, key: str, feature: FixedLenSequenceFeature, op: str) -> None:
        self.key, self.dtype = key, _feature_dtype(key, feature.dtype, op)
        self.shape = TensorShape(feature.shape)
        self.allow_missing = feature.allow_missing
        fill = feature.default_value
        self.fill = (b"" if self.dtype is string else 0) if fill is None else convert(fill, self.dtype).value.item()

    def outputs(self, size: int | None, single: bool) -> Outputs:
        front: list[int | None] = [None] if single else [size, None]
        return [(self.dtype, TensorShape(front).concatenate(self.shape))]

    def read(self, rows: Rows, single: bool) -> list[Any]:
        values = rows.values(self.key, self.dtype)
        return [self.padded(values.flat, values.counts, single)]

    def padded(self, flat: Any, counts: np.ndarray, single: bool) -> Any:
        """Returns rows of values, padded to the longest one, as a raw value."""
        part = self.shape.num_elements()
        wrong: Any = np.flatnonzero(counts % part) if part else ()
        if len(wrong):
            raise invalid(
                f"Name: <unknown>, Key: {self.key}, Index: {wrong[0]}.  Number of {SHOWN[self.dtype]} values is not a "
                f"multiple of stride length. Saw {counts[wrong[0]]} values but output shape is: {self.shape.as_list()}"
            )
        longest = int(counts.max(initial=0))
        if (counts < longest).any():
            check_memory([len(counts), longest], 16, UNFILLED)
            holds = np.arange(longest) < counts[:, None]
            places = np.zeros(holds.shape, np.int64)
            places[holds] = 1 + np.arange(int(counts.sum()))
            flat = _take_values(_pool_values([self.fill], flat, self.dtype), places)
        steps = longest // part if part else 0
        return flat.reshape(([] if single else [len(counts)]) + [steps, *self.shape.as_list()])

    build = DenseColumn.build


class VariableColumn(_Column):
    """A feature of any number of values, as a sparse tensor."""

    rank = 2  # of the sparse tensor of a batch

    def __init__(self, key: str, feature: VarLenFeature, op: str) -> None:
        self.key, self.dtype = key, _feature_dtype(key, feature.dtype, op)

    def outputs(self, size: int | None, single: bool) -> Outputs:
        rank = self.rank - single
        return [(int64, [None, rank]), (self.dtype, [None]), (int64, [rank])]

    def read(self, rows: Rows, single: bool) -> list[Any]:
        flat, counts, *_ = rows.values(self.key, self.dtype)
        indices = [np.repeat(np.arange(len(rows)), counts), numbers_within(counts)]
        return _sparse_values(indices, flat, [len(rows), int(counts.max(initial=0))], single)

    def build(self, tensors: Sequence[Any]) -> Any:
        return SparseTensor(*tensors)


def _sparse_values(indices: Sequence[np.ndarray], values: Any, shape: Sequence[int], single: bool) -> list[Any]:
    """Returns the raw values of a sparse tensor; the dimension of examples is dropped for a single one.

    Args:
        indices: the indices of each dimension.
        values: the values.
        shape: the shape.
        single: True if there is one example.
    """
    places = torch.from_numpy(np.stack(indices[single:], 1).astype(np.int64, copy=False))
    return [places, values, raw_value(shape, int64)[single:]]


class SparseColumn(VariableColumn):
    """A sparse tensor whose indices and values are features."""

    def __init__(self, key: str, feature: SparseFeature, op: str) -> None:
        self.key, self.dtype = feature.value_key, _feature_dtype(key, feature.dtype, op)
        index, size = feature.index_key, feature.size
        self.indices = [index] if isinstance(index, str) else list(index)
        self.size = list(size) if isinstance(size, (list, tuple)) else [size]
        self.rank = 1 + len(self.size)
        self.sorted = feature.already_sorted
        if len(self.indices) != len(self.size):
            raise ValueError(
                f"`index_key` and `size` of SparseFeature for {key} differ in length: {self.indices} and {self.size}."
            )

    @property
    def keys(self) -> list[str]:
        return [self.key, *self.indices]

    def read(self, rows: Rows, single: bool) -> list[Any]:
        flat, counts, *_ = rows.values(self.key, self.dtype)
        parts = [rows.values(key, int64) for key in self.indices]
        wrong = np.flatnonzero(np.any([part.counts != counts for part in parts], 0))
        if wrong.size:
            raise invalid(
                f"Features {self.indices} and {self.key} of example {wrong[0]} differ in their numbers of values."
            )
        indices = [np.repeat(np.arange(len(rows)), counts), *[part.flat.numpy() for part in parts]]
        if not self.sorted:
            order = np.lexsort(indices[::-1])
            indices, flat = [part[order] for part in indices], _take_values(flat, order)
        return _sparse_values(indices, flat, [len(rows), *map(int, self.size)], single)


class RaggedColumn(_Column):
    """A feature of any number of values, partitioned into rows."""

    def __init__(self, key: str, feature: RaggedFeature, op: str) -> None:
        self.key, self.dtype = feature.value_key or key, _feature_dtype(key, feature.dtype, op)
        self.splits = as_dtype(feature.row_splits_dtype)
        parts = list(feature.partitions)
        self.inner: list[int] = []  # partitions into rows of the same length at the end are dimensions of the values
        while parts and isinstance(parts[-1], kinds.UniformRowLength):
            self.inner.insert(0, int(parts.pop().length))
        self.parts = parts

    @property
    def keys(self) -> list[str]:
        return [self.key, *[part.key for part in self.parts if hasattr(part, "key")]]

    def outputs(self, size: int | None, single: bool) -> Outputs:
        lengths: Outputs = [(self.splits, [None])] * (len(self.parts) + (not single))
        if not single:
            lengths[0] = self.splits, [size]
        return [(self.dtype, [None, *self.inner]), *lengths]

    def read(self, rows: Rows, single: bool) -> list[Any]:
        flat, counts, *_ = rows.values(self.key, self.dtype)
        size = int(np.prod(self.inner))
        wrong: Any = np.flatnonzero(counts % size) if size else ()
        if len(wrong):
            raise invalid(
                f"Feature {self.key} of example {wrong[0]} has {counts[wrong[0]]} values, which is no multiple of "
                f"{size}."
            )
        counts = counts // size if size else 0 * counts
        levels: list[Any] = []
        for part in reversed(self.parts):
            lengths, counts = self._lengths(part, rows, counts)
            levels.append(lengths)
        lengths = [raw_value(level, self.splits) for level in [counts, *levels[::-1]]]
        return [flat.reshape((-1, *self.inner)), *lengths[single:]]

    def _lengths(self, part: Any, rows: Rows, counts: np.ndarray) -> tuple[list[int], np.ndarray]:
        """Divides the items of each example into rows. Returns their lengths, and their number in each example."""
        numbers, ends = np.empty(0, np.int64), 0 * counts
        if hasattr(part, "key"):
            values = rows.values(part.key, int64)
            numbers, ends = values.flat.numpy(), np.cumsum(values.counts)
        out: list[int] = []
        sizes, start = 0 * counts, 0
        for i, (count, end) in enumerate(zip(counts.tolist(), ends.tolist(), strict=True)):
            own, start = numbers[start:end], end
            if isinstance(part, kinds.UniformRowLength):
                lengths = [part.length] * (count // part.length if part.length else 0)
            elif isinstance(part, kinds.RowLengths):
                lengths = own.tolist()
            elif isinstance(part, kinds.ValueRowIds):
                lengths = self._lengths_of_ids(own, count)
            else:
                before = [0] if isinstance(part, kinds.RowLimits) else []
                after = [count] if isinstance(part, kinds.RowStarts) else []
                lengths = np.diff([*before, *own.tolist(), *after]).tolist()
            if sum(lengths) != count or min(lengths, default=0) < 0:
                raise invalid(
                    f"{part!r} of example {i} does not part the {count} values of feature {self.key} into rows."
                )
            sizes[i] = len(lengths)
            out += lengths
        return out, sizes

    @staticmethod
    def _lengths_of_ids(ids: np.ndarray, count: int) -> list[int]:
        if ids.size != count or (ids.size and (ids[0] < 0 or (np.diff(ids) < 0).any())):
            return [-1]
        check_memory([int(ids.max(initial=0))], 16, UNFILLED)
        return np.bincount(ids).tolist()

    def build(self, tensors: Sequence[Any]) -> Any:
        values, *lengths = tensors
        for row_lengths in reversed(lengths):
            values = RaggedTensor.from_row_lengths(values, row_lengths, validate=False)
        return values


COLUMNS: dict[type, Callable[..., Any]] = {
    FixedLenFeature: DenseColumn,
    FixedLenSequenceFeature: PaddedColumn,
    VarLenFeature: VariableColumn,
    SparseFeature: SparseColumn,
    RaggedFeature: RaggedColumn,
}
_ORDER: tuple[Any, ...] = (VariableColumn, (DenseColumn, PaddedColumn), RaggedColumn)  # of results; others come last


def columns_of(
    features: Any, allowed: Sequence[type], op: str, table: Mapping[type, Callable[..., Any]] = COLUMNS
) -> dict[str, Any]:
    """Returns the columns of features by key, in the order of TensorFlow's results."""
    columns = {}
    for key in sorted(features):
        feature = features[key]
        if type(feature) not in allowed:
            raise ValueError(f"Unsupported {type(feature).__name__} {feature} for key {key!r}")
        columns[key] = table[type(feature)](key, feature, op)

    def order(key: str) -> int:
        column = columns[key]
        if isinstance(column, (SparseColumn, RaggedColumn)) and column.key != key:  # made of other features
            return len(_ORDER)
        return next(i for i, kinds in enumerate(_ORDER) if isinstance(column, kinds))

    return {key: columns[key] for key in sorted(columns, key=order)}


# ---- columns of feature lists ----------------------------------------------------------------------------------------
#
# A feature list has a feature for each step. Its columns read all steps of all examples like examples.


class PaddedSteps(PaddedColumn):
    """A feature list whose steps have the same shape, with a tensor of the lengths."""

    def outputs(self, size: int | None, single: bool) -> Outputs:
        return [*super().outputs(size, single), (int64, [] if single else [size])]

    def read(self, rows: Any, single: bool) -> list[Any]:
        if not self.allow_missing and rows.lacks(self.key):
            raise invalid(
                f"Name: <unknown>, Feature list '{self.key}' is required but could not be found.  Did you mean to "
                "include it in feature_list_dense_missing_assumed_empty or feature_list_dense_defaults?"
            )
        part = self.shape.num_elements()
        steps, lengths = rows.steps([self.key])
        flat, counts, *_ = steps.values(self.key, self.dtype)
        wrong = np.flatnonzero(counts != part)
        if wrong.size:
            raise invalid(
                f"Name: <unknown>, Key: {self.key}, Index: {numbers_within(lengths)[wrong[0]]}.  Number of "
                f"{SHOWN[self.dtype]} values != expected.  values size: {counts[wrong[0]]} but output shape: "
                f"{self.shape.as_list()}"
            )
        shown = lengths if part else 0 * lengths
        return [self.padded(flat, lengths * part, single), raw_value(shown, int64, [] if single else [-1])]

    def build(self, tensors: Sequence[Any]) -> Any:
        return tuple(tensors)


class VariableSteps(VariableColumn):
    """A feature list as a sparse tensor."""

    rank = 3

    def read(self, rows: Any, single: bool) -> list[Any]:
        steps, lengths = rows.steps([self.key])
        flat, counts, *_ = steps.values(self.key, self.dtype)
        own = np.repeat(np.arange(len(rows)), lengths), numbers_within(lengths)
        indices = [*[np.repeat(part, counts) for part in own], numbers_within(counts)]
        shape = [len(rows), int(lengths.max(initial=0)), int(counts.max(initial=0))]
        return _sparse_values(indices, flat, shape, single)


class RaggedSteps(RaggedColumn):
    """A feature list as a ragged tensor."""

    def outputs(self, size: int | None, single: bool) -> Outputs:
        values, *lengths = super().outputs(None, False)
        return [values, *([] if single else [(self.splits, [size])]), *lengths]

    def read(self, rows: Any, single: bool) -> list[Any]:
        steps, counts = rows.steps(self.keys)
        values, *lengths = super().read(steps, False)
        return [values, *([] if single else [raw_value(counts, self.splits)]), *lengths]


STEPS: dict[type, Callable[..., Any]] = {
    FixedLenSequenceFeature: PaddedSteps, VarLenFeature: VariableSteps, RaggedFeature: RaggedSteps,
}  # fmt: skip
