"""The features of serialized `tf.train.Example` messages as columns of results."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from google.protobuf.message import DecodeError

from tapeflow.core.ops.convert import convert, datatype_name
from tapeflow.core.types.dtypes import DType, as_dtype, float32, int64, string
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import invalid
from tapeflow.io import features as kinds
from tapeflow.io.features import FixedLenFeature, FixedLenSequenceFeature, RaggedFeature, SparseFeature, VarLenFeature
from tapeflow.ragged.tensor import RaggedTensor
from tapeflow.sparse.tensor import SparseTensor
from tapeflow.strings.kernels import raw_value

_LISTS: dict[DType, str] = {int64: "int64_list", float32: "float_list", string: "bytes_list"}
_SHOWN = {"int64_list": "int64", "float_list": "float", "bytes_list": "string"}

Features = Mapping[str, Any]  # the features of an example, by key
Outputs = list[tuple[DType, Any]]  # dtypes and shapes


# ---- values of one feature -------------------------------------------------------------------------------------------


def _dtype(key: str, dtype: Any, op: str) -> DType:
    """Returns the dtype of a feature, if features can have it."""
    feature_dtype = as_dtype(dtype)
    if feature_dtype not in _LISTS:
        raise invalid(
            f"Feature {key}: dtype {feature_dtype.name} is not in the list of allowed values: float, int64, string "
            f"[Op:{op}]"
        )
    return feature_dtype


def _place_of(key: str, index: int | None) -> str:
    """Returns the beginning of a message about a feature; `index` is the number of its example if there are several."""
    return f"Key: {key}. " if index is None else f"Name: <unknown>, Key: {key}, Index: {index}. "


def _values(features: Features, key: str, dtype: DType, index: int | None) -> Any:
    """Returns the values of a feature of one example, or None if the example lacks it.

    Raises:
        InvalidArgumentError: the values are of another dtype.
    """
    feature = features.get(key)
    kind = None if feature is None else feature.WhichOneof("kind")
    if kind is None:
        return None
    if kind != _LISTS[dtype]:
        raise invalid(
            f"{_place_of(key, index)} Data types don't match. Data type: {_SHOWN[kind]} but expected type: "
            f"{_SHOWN[_LISTS[dtype]]}"
        )
    return getattr(feature, kind).value


def _int64(values: Any, shape: Sequence[int] = (-1,)) -> torch.Tensor:
    return raw_value(values, int64, shape)


def _joined(parts: Sequence[Any], dtype: DType) -> Any:
    """Concatenates the values of several features into a raw value."""
    values = itertools.chain.from_iterable(parts)
    if dtype is string:
        return raw_value(list(values), dtype)
    return torch.from_numpy(np.fromiter(values, dtype.as_numpy_dtype, sum(map(len, parts))))


# ---- columns ---------------------------------------------------------------------------------------------------------
#
# A column describes the result for a feature. `outputs` are the dtypes and shapes of its tensors, for a batch of
# examples (of a size that may be None) or for one example (`single`); `read` computes their raw values; `build`
# assembles the result from the tensors.


class DenseColumn:
    """A feature of one shape."""

    def __init__(self, key: str, feature: FixedLenFeature, op: str) -> None:
        self.key, self.dtype = key, _dtype(key, feature.dtype, op)
        self.shape = TensorShape(feature.shape)
        if not self.shape.is_fully_defined():
            raise ValueError(
                f"First dimension of shape for feature {key} unknown. Consider using FixedLenSequenceFeature."
                if self.shape.rank and self.shape[0] is None
                else f"All dimensions of shape for feature {key} need to be known but received {self.shape}."
            )
        default = feature.default_value
        self.default = (
            None
            if default is None
            else convert(default, self.dtype).value.reshape(self.shape.as_list()).reshape(-1).tolist()
        )

    def outputs(self, size: int | None, single: bool) -> Outputs:
        return [(self.dtype, self.shape if single else TensorShape([size]).concatenate(self.shape))]

    def read(self, examples: Sequence[Features], single: bool) -> list[Any]:
        count, dims = self.shape.num_elements(), self.shape.as_list()
        rows = []
        for i, features in enumerate(examples):
            values = _values(features, self.key, self.dtype, None if single else i)
            if values is None:
                if self.default is None:
                    raise invalid(
                        f"{'' if single else 'Name: <unknown>, '}Feature: {self.key} (data type: "
                        f"{datatype_name(self.dtype)}) is required but could not be found."
                    )
                values = self.default
            if len(values) != count:
                raise invalid(
                    f"Name: <unknown>, Key: {self.key}, Index: {i}.  Number of {_SHOWN[_LISTS[self.dtype]]} values != "
                    f"expected.  Values size: {len(values)} but output shape: {dims}"
                )
            rows.append(values)
        return [_joined(rows, self.dtype).reshape(dims if single else [len(rows), *dims])]

    def build(self, tensors: Sequence[Any]) -> Any:
        return tensors[0]


class PaddedColumn:
    """A feature that is a sequence, padded to the longest one."""

    def __init__(self, key: str, feature: FixedLenSequenceFeature, op: str) -> None:
        self.key, self.dtype = key, _dtype(key, feature.dtype, op)
        self.shape = TensorShape(feature.shape)
        self.allow_missing = feature.allow_missing
        fill = feature.default_value
        self.fill = (b"" if self.dtype is string else 0) if fill is None else convert(fill, self.dtype).value.item()

    def outputs(self, size: int | None, single: bool) -> Outputs:
        front: list[int | None] = [None] if single else [size, None]
        return [(self.dtype, TensorShape(front).concatenate(self.shape))]

    def read(self, examples: Sequence[Features], single: bool) -> list[Any]:
        numbers = [None] if single else range(len(examples))
        rows = [_values(f, self.key, self.dtype, i) or () for i, f in zip(numbers, examples, strict=True)]
        return [self.padded(rows, single)]

    def padded(self, rows: Sequence[Any], single: bool) -> Any:
        """Returns rows of values, padded to the longest one, as a raw value."""
        part = self.shape.num_elements()
        for i, row in enumerate(rows):
            if part and len(row) % part:
                raise invalid(
                    f"Name: <unknown>, Key: {self.key}, Index: {i}.  Number of {_SHOWN[_LISTS[self.dtype]]} values is "
                    f"not a multiple of stride length. Saw {len(row)} values but output shape is: "
                    f"{self.shape.as_list()}"
                )
        longest = max((len(row) for row in rows), default=0)
        filled = [[*row, *[self.fill] * (longest - len(row))] for row in rows]
        steps = longest // part if part else 0
        return _joined(filled, self.dtype).reshape(([] if single else [len(rows)]) + [steps, *self.shape.as_list()])

    build = DenseColumn.build


class VariableColumn:
    """A feature of any number of values, as a sparse tensor."""

    def __init__(self, key: str, feature: VarLenFeature, op: str) -> None:
        self.key, self.dtype = key, _dtype(key, feature.dtype, op)

    def outputs(self, size: int | None, single: bool) -> Outputs:
        rank = 1 if single else 2
        return [(int64, [None, rank]), (self.dtype, [None]), (int64, [rank])]

    def read(self, examples: Sequence[Features], single: bool) -> list[Any]:
        numbers = [None] if single else range(len(examples))
        rows = [_values(f, self.key, self.dtype, i) or () for i, f in zip(numbers, examples, strict=True)]
        shape = [len(rows), max(map(len, rows), default=0)]
        indices = [(i, j) for i, row in enumerate(rows) for j in range(len(row))]
        return _sparse(indices, _joined(rows, self.dtype), shape, single)

    def build(self, tensors: Sequence[Any]) -> Any:
        return SparseTensor(*tensors)


def _sparse(indices: Sequence[Any], values: Any, shape: Sequence[int], single: bool) -> list[Any]:
    """Returns the raw values of a sparse tensor; the dimension of examples is dropped for a single one."""
    places = _int64(indices, (-1, len(shape)))
    return [places[:, 1:], values, _int64(shape)[1:]] if single else [places, values, _int64(shape)]


class SparseColumn(VariableColumn):
    """A sparse tensor whose indices and values are features."""

    def __init__(self, key: str, feature: SparseFeature, op: str) -> None:
        self.key, self.dtype = feature.value_key, _dtype(key, feature.dtype, op)
        index, size = feature.index_key, feature.size
        self.indices = [index] if isinstance(index, str) else list(index)
        self.size = list(size) if isinstance(size, (list, tuple)) else [size]
        self.sorted = feature.already_sorted
        if len(self.indices) != len(self.size):
            raise ValueError(
                f"`index_key` and `size` of SparseFeature for {key} differ in length: {self.indices} and {self.size}."
            )

    def outputs(self, size: int | None, single: bool) -> Outputs:
        rank = len(self.size) + (not single)
        return [(int64, [None, rank]), (self.dtype, [None]), (int64, [rank])]

    def read(self, examples: Sequence[Features], single: bool) -> list[Any]:
        entries = []
        for i, features in enumerate(examples):
            values = _values(features, self.key, self.dtype, None if single else i) or ()
            columns = [_values(features, k, int64, i) or () for k in self.indices]
            if any(len(c) != len(values) for c in columns):
                raise invalid(
                    f"Features {self.indices} and {self.key} of example {i} differ in their numbers of values."
                )
            rows = [((i, *index), v) for *index, v in zip(*columns, values, strict=True)]
            entries += rows if self.sorted else sorted(rows, key=lambda row: row[0])
        values = raw_value([v for _, v in entries], self.dtype)
        return _sparse([index for index, _ in entries], values, [len(examples), *map(int, self.size)], single)


class RaggedColumn:
    """A feature of any number of values, partitioned into rows."""

    def __init__(self, key: str, feature: RaggedFeature, op: str) -> None:
        self.key, self.dtype = feature.value_key or key, _dtype(key, feature.dtype, op)
        self.splits = as_dtype(feature.row_splits_dtype)
        parts = list(feature.partitions)
        self.inner: list[int] = []  # partitions into rows of the same length at the end are dimensions of the values
        while parts and isinstance(parts[-1], kinds.UniformRowLength):
            self.inner.insert(0, int(parts.pop().length))
        self.parts = parts

    def outputs(self, size: int | None, single: bool) -> Outputs:
        lengths: Outputs = [(self.splits, [None])] * (len(self.parts) + (not single))
        if not single:
            lengths[0] = self.splits, [size]
        return [(self.dtype, [None, *self.inner]), *lengths]

    def read(self, examples: Sequence[Features], single: bool) -> list[Any]:
        flat: list[Any] = []
        levels: list[list[int]] = [[] for _ in range(len(self.parts) + 1)]
        for i, features in enumerate(examples):
            values = _values(features, self.key, self.dtype, None if single else i) or ()
            flat.extend(values)
            count = self._rows(len(values), i)
            for level in reversed(range(len(self.parts))):
                lengths = self._lengths(self.parts[level], features, count, i)
                levels[level + 1].extend(lengths)
                count = len(lengths)
            levels[0].append(count)
        lengths = [raw_value(level, self.splits) for level in levels]
        return [raw_value(flat, self.dtype, (-1, *self.inner)), *lengths[single:]]

    def _rows(self, count: int, index: int) -> int:
        """Returns the number of rows in the innermost partition of `count` values of an example."""
        size = int(np.prod(self.inner))
        if size and count % size:
            raise invalid(f"Feature {self.key} of example {index} has {count} values, which is no multiple of {size}.")
        return count // size if size else 0

    def _lengths(self, part: Any, features: Features, count: int, index: int) -> list[int]:
        """Returns the lengths of the rows into which a partition divides `count` items."""
        if isinstance(part, kinds.UniformRowLength):
            lengths = [part.length] * (count // part.length if part.length else 0)
        else:
            numbers = list(_values(features, part.key, int64, index) or ())
            if isinstance(part, kinds.RowLengths):
                lengths = numbers
            elif isinstance(part, kinds.ValueRowIds):
                lengths = np.bincount(np.array(numbers, np.int64)).tolist()
            else:
                if isinstance(part, kinds.RowStarts):
                    numbers = [*numbers, count]
                elif isinstance(part, kinds.RowLimits):
                    numbers = [0, *numbers]
                lengths = np.diff(numbers).tolist()
        if sum(lengths) != count or min(lengths, default=0) < 0:
            raise invalid(
                f"{part!r} of example {index} does not part the {count} values of feature {self.key} into rows."
            )
        return lengths

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


def decoded(message: Any, text: bytes, index: int) -> Any:
    """Parses a serialized message."""
    try:
        return message.FromString(text)
    except DecodeError:
        raise invalid(f"Could not parse example input number {index}, value: {text[:100]!r}") from None


# ---- columns of feature lists ----------------------------------------------------------------------------------------
#
# A feature list has a feature for each step. Its columns read all steps of all examples like examples.


def _steps(key: str, lists: Features) -> list[Features]:
    """Returns the steps of a feature list, as features by key."""
    return [{key: feature} for feature in lists[key].feature] if key in lists else []


class PaddedSteps(PaddedColumn):
    """A feature list whose steps have the same shape, with a tensor of the lengths."""

    def outputs(self, size: int | None, single: bool) -> Outputs:
        return [*super().outputs(size, single), (int64, [] if single else [size])]

    def read(self, examples: Sequence[Features], single: bool) -> list[Any]:
        part, rows = self.shape.num_elements(), []
        for i, lists in enumerate(examples):
            if self.key not in lists and not self.allow_missing:
                raise invalid(
                    f"Name: <unknown>, Feature list '{self.key}' is required but could not be found.  Did you mean to "
                    "include it in feature_list_dense_missing_assumed_empty or feature_list_dense_defaults?"
                )
            row: list[Any] = []
            for t, step in enumerate(_steps(self.key, lists)):
                values = _values(step, self.key, self.dtype, i) or ()
                if len(values) != part:
                    raise invalid(
                        f"Name: <unknown>, Key: {self.key}, Index: {t}.  Number of {_SHOWN[_LISTS[self.dtype]]} "
                        f"values != expected.  values size: {len(values)} but output shape: {self.shape.as_list()}"
                    )
                row.extend(values)
            rows.append(row)
        lengths = [len(row) // part if part else 0 for row in rows]
        return [self.padded(rows, single), _int64(lengths, [] if single else [-1])]

    def build(self, tensors: Sequence[Any]) -> Any:
        return tuple(tensors)


class VariableSteps(VariableColumn):
    """A feature list as a sparse tensor."""

    def outputs(self, size: int | None, single: bool) -> Outputs:
        rank = 2 if single else 3
        return [(int64, [None, rank]), (self.dtype, [None]), (int64, [rank])]

    def read(self, examples: Sequence[Features], single: bool) -> list[Any]:
        rows = [
            [_values(s, self.key, self.dtype, i) or () for s in _steps(self.key, e)] for i, e in enumerate(examples)
        ]
        indices = [(i, t, j) for i, steps in enumerate(rows) for t, step in enumerate(steps) for j in range(len(step))]
        every = [step for steps in rows for step in steps]
        shape = [len(rows), max(map(len, rows), default=0), max(map(len, every), default=0)]
        return _sparse(indices, _joined(every, self.dtype), shape, single)


class RaggedSteps(RaggedColumn):
    """A feature list as a ragged tensor."""

    def outputs(self, size: int | None, single: bool) -> Outputs:
        values, *lengths = super().outputs(None, False)
        return [values, *([] if single else [(self.splits, [size])]), *lengths]

    def read(self, examples: Sequence[Features], single: bool) -> list[Any]:
        keys = [self.key, *(p.key for p in self.parts if hasattr(p, "key"))]
        steps, counts = [], []
        for lists in examples:
            columns = [lists[k].feature if k in lists else () for k in keys]
            counts.append(len(columns[0]))
            steps += [dict(zip(keys, step, strict=True)) for step in zip(*columns, strict=True)]
        values, *lengths = super().read(steps, False)
        return [values, *([] if single else [raw_value(counts, self.splits)]), *lengths]


STEPS: dict[type, Callable[..., Any]] = {
    FixedLenSequenceFeature: PaddedSteps, VarLenFeature: VariableSteps, RaggedFeature: RaggedSteps,
}  # fmt: skip
