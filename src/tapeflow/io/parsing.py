"""Ops that parse serialized `tf.train.Example` and `SequenceExample` messages into tensors."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from google.protobuf import json_format
from google.protobuf.message import DecodeError

from tapeflow.core.context import state
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.op import not_differentiable, op
from tapeflow.core.ops.shape_rules import same
from tapeflow.core.protos import Example, SequenceExample
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.dtypes import DType, as_dtype, float32, int64, string
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.tensor import EagerTensor, Tensor, invalid
from tapeflow.graph.ir.python_op import python_op
from tapeflow.io import features as kinds
from tapeflow.io.features import FixedLenFeature, FixedLenSequenceFeature, RaggedFeature, SparseFeature, VarLenFeature
from tapeflow.ragged.tensor import RaggedTensor
from tapeflow.sparse.tensor import SparseTensor

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


def _values(features: Features, key: str, dtype: DType, index: int) -> Any:
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
            f"Name: <unknown>, Key: {key}, Index: {index}.  Data types don't match. Data type: {_SHOWN[kind]} but "
            f"expected type: {_SHOWN[_LISTS[dtype]]}"
        )
    return getattr(feature, kind).value


def _array(values: Sequence[Any], dtype: DType, shape: Sequence[int] = (-1,)) -> Any:
    """Returns Python values as a raw value: a `torch.Tensor`, or an array of strings."""
    if dtype is string:
        array = np.empty(len(values), object)
        array[:] = values
        return array.reshape(shape)
    return torch.from_numpy(np.array(values, dtype.as_numpy_dtype)).reshape(tuple(shape))


def _int64(values: Any, shape: Sequence[int] = (-1,)) -> torch.Tensor:
    return _array(values, int64, shape)


def _joined(parts: Sequence[Any], dtype: DType) -> Any:
    """Concatenates the values of several features into a raw value."""
    values = itertools.chain.from_iterable(parts)
    if dtype is string:
        return _array(list(values), dtype)
    return torch.from_numpy(np.fromiter(values, dtype.as_numpy_dtype, sum(map(len, parts))))


# ---- columns ---------------------------------------------------------------------------------------------------------
#
# A column describes the result for a feature. `outputs` are the dtypes and shapes of its tensors, for a batch of
# examples (of a size that may be None) or for one example (`single`); `read` computes their raw values; `build`
# assembles the result from the tensors.


class _Dense:
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
            else convert(default, self.dtype).value.reshape(self.shape.as_list()).ravel().tolist()
        )

    def outputs(self, size: int | None, single: bool) -> Outputs:
        return [(self.dtype, self.shape if single else TensorShape([size]).concatenate(self.shape))]

    def read(self, examples: Sequence[Features], single: bool) -> list[Any]:
        count, dims = self.shape.num_elements(), self.shape.as_list()
        rows = []
        for i, features in enumerate(examples):
            values = _values(features, self.key, self.dtype, i)
            if values is None:
                if self.default is None:
                    raise invalid(
                        f"Name: <unknown>, Feature: {self.key} (data type: {self.dtype.name}) is required but could "
                        "not be found."
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


class _Padded:
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
        rows = [_values(features, self.key, self.dtype, i) or () for i, features in enumerate(examples)]
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

    build = _Dense.build


class _Variable:
    """A feature of any number of values, as a sparse tensor."""

    def __init__(self, key: str, feature: VarLenFeature, op: str) -> None:
        self.key, self.dtype = key, _dtype(key, feature.dtype, op)

    def outputs(self, size: int | None, single: bool) -> Outputs:
        rank = 1 if single else 2
        return [(int64, [None, rank]), (self.dtype, [None]), (int64, [rank])]

    def read(self, examples: Sequence[Features], single: bool) -> list[Any]:
        rows = [_values(features, self.key, self.dtype, i) or () for i, features in enumerate(examples)]
        shape = [len(rows), max(map(len, rows), default=0)]
        indices = [(i, j) for i, row in enumerate(rows) for j in range(len(row))]
        return _sparse(indices, _joined(rows, self.dtype), shape, single)

    def build(self, tensors: Sequence[Any]) -> Any:
        return SparseTensor(*tensors)


def _sparse(indices: Sequence[Any], values: Any, shape: Sequence[int], single: bool) -> list[Any]:
    """Returns the raw values of a sparse tensor; the dimension of examples is dropped for a single one."""
    places = _int64(indices, (-1, len(shape)))
    return [places[:, 1:], values, _int64(shape)[1:]] if single else [places, values, _int64(shape)]


class _Sparse(_Variable):
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
            values = _values(features, self.key, self.dtype, i) or ()
            columns = [_values(features, k, int64, i) or () for k in self.indices]
            if any(len(c) != len(values) for c in columns):
                raise invalid(
                    f"Features {self.indices} and {self.key} of example {i} differ in their numbers of values."
                )
            rows = [((i, *index), v) for *index, v in zip(*columns, values, strict=True)]
            entries += rows if self.sorted else sorted(rows, key=lambda row: row[0])
        values = _array([v for _, v in entries], self.dtype)
        return _sparse([index for index, _ in entries], values, [len(examples), *map(int, self.size)], single)


class _Ragged:
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
            values = _values(features, self.key, self.dtype, i) or ()
            flat.extend(values)
            count = self._rows(len(values), i)
            for level in reversed(range(len(self.parts))):
                lengths = self._lengths(self.parts[level], features, count, i)
                levels[level + 1].extend(lengths)
                count = len(lengths)
            levels[0].append(count)
        lengths = [_array(level, self.splits) for level in levels]
        return [_array(flat, self.dtype, (-1, *self.inner)), *lengths[single:]]

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


_COLUMNS: dict[type, Callable[..., Any]] = {
    FixedLenFeature: _Dense, FixedLenSequenceFeature: _Padded, VarLenFeature: _Variable, SparseFeature: _Sparse,
    RaggedFeature: _Ragged,
}  # fmt: skip
_ORDER = (_Variable, _Sparse, _Dense, _Padded, _Ragged)  # of the results


def _columns(
    features: Any, allowed: Sequence[type], op: str, table: Mapping[type, Callable[..., Any]] = _COLUMNS
) -> dict[str, Any]:
    """Returns the columns of features by key, in the order of TensorFlow's results."""
    columns = {}
    for key in sorted(features):
        feature = features[key]
        if type(feature) not in allowed:
            raise ValueError(f"Unsupported {type(feature).__name__} {feature} for key {key!r}")
        columns[key] = table[type(feature)](key, feature, op)

    def order(key: str) -> int:
        return next(i for i, kind in enumerate(_ORDER) if isinstance(columns[key], kind))

    return {key: columns[key] for key in sorted(columns, key=order)}


def _parsed(
    columns: dict[str, Any], serialized: Any, message: Any, part: Callable[[Any], Any], op: str
) -> dict[str, Any]:
    """Parses the columns of serialized messages, at once or by an operation of the graph."""
    if serialized.shape.rank not in (0, 1):
        shape = str(serialized.shape.as_list()).replace(" ", "") if serialized.shape.rank else "<unknown>"
        raise invalid(f"Expected serialized to be a scalar or vector, got shape: {shape} [Op:{op}]")
    single = serialized.shape.rank == 0
    outputs = {key: c.outputs(None if single else serialized.shape[0], single) for key, c in columns.items()}
    specs = [spec for column_specs in outputs.values() for spec in column_specs]

    def parse(texts: EagerTensor) -> list[Any]:
        examples = [part(_decoded(message, t, i)) for i, t in enumerate(texts.value.reshape(-1).tolist())]
        raw_values = [v for c in columns.values() for v in c.read(examples, single)]
        return [EagerTensor(v, dtype) for v, (dtype, _) in zip(raw_values, specs, strict=True)]

    if isinstance(serialized, SymbolicTensor) or state.graph is not None:
        flat = iter(python_op(op, parse, [serialized], specs, stateful=False).outputs)
    else:
        flat = iter(parse(serialized))
    return {key: c.build([next(flat) for _ in outputs[key]]) for key, c in columns.items()}


def _decoded(message: Any, text: bytes, index: int) -> Any:
    """Parses a serialized message."""
    try:
        return message.FromString(text)
    except DecodeError:
        raise invalid(f"Could not parse example input number {index}, value: {text[:100]!r}") from None


# ---- examples --------------------------------------------------------------------------------------------------------


def parse_example(
    serialized: TensorLike,
    features: Mapping[str, Any],
    example_names: TensorLike | None = None,
    name: str | None = None,
) -> dict[str, Any]:
    """Parses serialized `tf.train.Example` messages, as a batch.

    Args:
        serialized: a string vector; a scalar is parsed as by `parse_single_example`.
        features: the features by key: `tf.io.FixedLenFeature`, `FixedLenSequenceFeature` (with `allow_missing`),
            `VarLenFeature`, `SparseFeature` or `RaggedFeature`.
        example_names: without effect.

    Returns:
        A dict of tensors, `tf.SparseTensor`s and `tf.RaggedTensor`s, whose first dimension is that of examples.

    Raises:
        ValueError: there are no features, or one is of another type.
        InvalidArgumentError: an example is not valid, or lacks a feature, or has it with another dtype or size.

    Example:
        >>> example = tf.train.Example()
        >>> example.features.feature["a"].int64_list.value.extend([1, 2])
        >>> parsed = tf.io.parse_example([example.SerializeToString()], {"a": tf.io.FixedLenFeature([2], tf.int64)})
        >>> parsed["a"].numpy().tolist()
        [[1, 2]]
    """
    if not features:
        raise ValueError(f"Argument `features` cannot be None or falsy. Got {features}")
    features = dict(features)
    for feature in features.values():
        if isinstance(feature, FixedLenSequenceFeature) and not feature.allow_missing:
            raise ValueError("Unsupported: FixedLenSequenceFeature requires allow_missing to be True.")
    columns = _columns(features, list(_COLUMNS), "ParseExampleV2")
    return _parsed(columns, convert(serialized, string), Example, lambda e: e.features.feature, "ParseExampleV2")


def parse_single_example(
    serialized: TensorLike,
    features: Mapping[str, Any],
    example_names: TensorLike | None = None,
    name: str | None = None,
) -> dict[str, Any]:
    """Parses one serialized `tf.train.Example`, without a batch dimension.

    Args:
        serialized: a string scalar.
        features: see `tf.io.parse_example`.
        example_names: without effect.

    Returns:
        A dict of tensors, `tf.SparseTensor`s and `tf.RaggedTensor`s.

    Raises:
        ValueError: `serialized` is not a scalar, there are no features, or one is of another type.
        InvalidArgumentError: the example is not valid, or lacks a feature, or has it with another dtype or size.

    Example:
        >>> example = tf.train.Example()
        >>> example.features.feature["a"].bytes_list.value.append(b"text")
        >>> features = {"a": tf.io.FixedLenFeature([], tf.string)}
        >>> tf.io.parse_single_example(example.SerializeToString(), features)["a"].numpy()
        b'text'
    """
    if not features:
        raise ValueError("Invalid argument: features cannot be empty.")
    features = dict(features)
    message = convert(serialized, string)
    if message.shape.rank not in (0, None):
        raise ValueError("Input serialized must be a scalar")
    return parse_example(message, features, example_names, name)


def _from_json(texts: np.ndarray) -> np.ndarray:
    try:
        messages = [json_format.Parse(t, Example()).SerializeToString() for t in texts.reshape(-1).tolist()]
    except json_format.ParseError as error:
        raise invalid(f"Error while parsing JSON: {error}") from None
    return _array(messages, string, texts.shape)


@op("DecodeJSONExample", kernel=_from_json, strings=_from_json, shape=same, elementwise=True)
def decode_json_example(json_examples: TensorLike, name: str | None = None) -> Tensor:
    """Converts `tf.train.Example` messages from JSON to their serialized form.

    Args:
        json_examples: a string tensor.

    Returns:
        A string tensor of the same shape.

    Raises:
        InvalidArgumentError: a string is not valid JSON of such a message.

    Example:
        >>> serialized = tf.io.decode_json_example('{"features": {"feature": {"a": {"int64List": {"value": ["3"]}}}}}')
        >>> tf.train.Example.FromString(serialized.numpy()).features.feature["a"].int64_list.value[0]
        3
    """


not_differentiable(decode_json_example)


# ---- sequence examples -----------------------------------------------------------------------------------------------
#
# A feature list has a feature for each step. Its columns read all steps of all examples like examples.


def _steps(key: str, lists: Features) -> list[Features]:
    """Returns the steps of a feature list, as features by key."""
    return [{key: feature} for feature in lists[key].feature] if key in lists else []


class _PaddedSteps(_Padded):
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


class _VariableSteps(_Variable):
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


class _RaggedSteps(_Ragged):
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
        return [values, *([] if single else [_array(counts, self.splits)]), *lengths]


_STEPS: dict[type, Callable[..., Any]] = {
    FixedLenSequenceFeature: _PaddedSteps, VarLenFeature: _VariableSteps, RaggedFeature: _RaggedSteps,
}  # fmt: skip


def parse_sequence_example(
    serialized: TensorLike, context_features: Mapping[str, Any] | None = None,
    sequence_features: Mapping[str, Any] | None = None, example_names: TensorLike | None = None,
    name: str | None = None,
) -> tuple[dict[str, Any], dict[str, Any], dict[str, Tensor]]:  # fmt: skip
    """Parses serialized `tf.train.SequenceExample` messages, as a batch.

    Args:
        serialized: a string vector.
        context_features: the features of the context, by key: `tf.io.FixedLenFeature`, `VarLenFeature` or
            `RaggedFeature`.
        sequence_features: the features of each step, by key: `tf.io.FixedLenSequenceFeature`, `VarLenFeature` or
            `RaggedFeature`.
        example_names: without effect.

    Returns:
        Three dicts by key: the features of the context; those of the sequences, of shape `[batch, steps, ...]`; and the
        lengths of the sequences that are padded, int64 of shape `[batch]`.

    Raises:
        ValueError: there are no features, or one is of another type.
        InvalidArgumentError: an example is not valid, or lacks a feature, or has it with another dtype or size.

    Example:
        >>> example = tf.train.SequenceExample()
        >>> for number in 3, 4:
        ...     example.feature_lists.feature_list["a"].feature.add().int64_list.value.append(number)
        >>> features = {"a": tf.io.FixedLenSequenceFeature([], tf.int64)}
        >>> context, sequences, lengths = tf.io.parse_sequence_example([example.SerializeToString()], None, features)
        >>> sequences["a"].numpy().tolist(), lengths["a"].numpy().tolist()
        ([[3, 4]], [2])
    """
    if not (context_features or sequence_features):
        raise ValueError(
            "Both `context_features` and `sequence_features` argument are None, but at least one should have values."
        )
    op = "ParseSequenceExampleV2"
    context = _columns(context_features or {}, [FixedLenFeature, VarLenFeature, RaggedFeature], op)
    steps = _columns(sequence_features or {}, list(_STEPS), op, _STEPS)
    messages = convert(serialized, string)
    contexts = _parsed(context, messages, SequenceExample, lambda e: e.context.feature, op) if context else {}
    lists = _parsed(steps, messages, SequenceExample, lambda e: e.feature_lists.feature_list, op) if steps else {}
    lengths = {key: value[1] for key, value in lists.items() if type(value) is tuple}
    return contexts, {key: value[0] if type(value) is tuple else value for key, value in lists.items()}, lengths


def parse_single_sequence_example(
    serialized: TensorLike, context_features: Mapping[str, Any] | None = None,
    sequence_features: Mapping[str, Any] | None = None, example_name: TensorLike | None = None,
    name: str | None = None,
) -> tuple[dict[str, Any], dict[str, Any]]:  # fmt: skip
    """Parses one serialized `tf.train.SequenceExample`, without a batch dimension.

    Args:
        serialized: a string scalar.
        context_features, sequence_features: see `tf.io.parse_sequence_example`.
        example_name: without effect.

    Returns:
        A dict of the features of the context, and one of those of the sequences, of shape `[steps, ...]`.

    Raises:
        ValueError: `serialized` is not a scalar, there are no features, or one is of another type.
        InvalidArgumentError: the example is not valid, or lacks a feature, or has it with another dtype or size.

    Example:
        >>> feature = tf.train.Feature(int64_list=tf.train.Int64List(value=[7]))
        >>> lists = tf.train.FeatureLists(feature_list={"x": tf.train.FeatureList(feature=[feature, feature])})
        >>> example = tf.train.SequenceExample(feature_lists=lists).SerializeToString()
        >>> features = {"x": tf.io.FixedLenSequenceFeature([], tf.int64)}
        >>> tf.io.parse_single_sequence_example(example, sequence_features=features)[1]["x"].numpy().tolist()
        [7, 7]
    """
    message = convert(serialized, string)
    if message.shape.rank not in (0, None):
        raise ValueError("Input serialized must be a scalar")
    context, sequences, _ = parse_sequence_example(message, context_features, sequence_features, example_name, name)
    return context, sequences
