"""Ops that parse serialized `tf.train.Example` and `SequenceExample` messages into tensors."""

from __future__ import annotations

import functools
import itertools
import json
import struct
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from google.protobuf import json_format

from tapeflow.core.context import state
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.definition import ops
from tapeflow.core.ops.op import not_differentiable, op
from tapeflow.core.ops.shape_rules import same
from tapeflow.core.protos import Example, SequenceExample
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.dtypes import bool_, string
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.strings import StringArray
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.tensor import EagerTensor, Tensor, invalid
from tapeflow.core.varint import varint
from tapeflow.graph.ir.python_op import python_op
from tapeflow.io.columns import (
    COLUMNS,
    STEPS,
    DenseColumn,
    PaddedColumn,
    PaddedSteps,
    RaggedColumn,
    RaggedSteps,
    VariableColumn,
    VariableSteps,
    columns_of,
)
from tapeflow.io.example_bytes import read_columns
from tapeflow.io.features import FixedLenFeature, FixedLenSequenceFeature, RaggedFeature, VarLenFeature
from tapeflow.ragged.tensor import RaggedTensor
from tapeflow.sparse.tensor import SparseTensor
from tapeflow.strings.kernels import raw_value


def _parse_columns(columns: dict[str, Any], serialized: Any, message: str, field: int, op: str) -> dict[str, Any]:
    """Parses the columns of serialized messages, at once or by an operation of the graph.

    Args:
        columns: the columns by key.
        serialized: the messages.
        message: their type.
        field: the number of the field with the maps that the columns read.
        op: the name of the op.
    """
    if serialized.shape.rank not in (0, 1):
        shape = str(serialized.shape.as_list()).replace(" ", "") if serialized.shape.rank else "<unknown>"
        raise invalid(f"Expected serialized to be a scalar or vector, got shape: {shape} [Op:{op}]")
    single = serialized.shape.rank == 0
    outputs = {key: c.outputs(None if single else serialized.shape[0], single) for key, c in columns.items()}
    specs = [spec for column_specs in outputs.values() for spec in column_specs]

    def parse(texts: EagerTensor) -> list[Any]:
        results = read_columns([*columns.values()], texts.value, message, field, single)
        raw_values = [v for values in results for v in values]
        return [EagerTensor(v, dtype) for v, (dtype, _) in zip(raw_values, specs, strict=True)]

    if isinstance(serialized, SymbolicTensor) or state.graph is not None:
        if all(_fits_op(c) for c in columns.values()):
            return (_examples_in_graph if op == "ParseExampleV2" else _sequences_in_graph)(columns, serialized)
        flat = iter(python_op(op, parse, [serialized], specs, stateful=False).outputs)
    else:
        flat = iter(parse(serialized))
    return {key: c.build([next(flat) for _ in outputs[key]]) for key, c in columns.items()}


# ---- in graphs -------------------------------------------------------------------------------------------------------


def _fits_op(column: Any) -> bool:
    """Returns True if TensorFlow's op has the column's tensors among its outputs, with nothing to compute of others."""
    if isinstance(column, RaggedColumn):
        return not column.parts and not column.inner
    return type(column) in (DenseColumn, PaddedColumn, VariableColumn, PaddedSteps, VariableSteps)


def _of_kind(columns: dict[str, Any], *kinds: type) -> list[Any]:
    return [c for c in columns.values() if type(c) in kinds]


def _column_keys(columns: list[Any]) -> Tensor:
    return EagerTensor(StringArray.of([c.key.encode() for c in columns]), string)


def _column_default(column: Any) -> Tensor:
    """Returns the default value of a dense column as the op takes it: empty if there is none."""
    if isinstance(column, PaddedColumn):
        return EagerTensor(raw_value([column.fill], column.dtype), column.dtype)
    values = [] if column.default is None else column.default
    shape = (0,) if column.default is None else column.shape.as_list()
    return EagerTensor(raw_value(values, column.dtype, shape), column.dtype)


def _op_shape(column: Any) -> TensorShape:
    return TensorShape([None]).concatenate(column.shape) if type(column) is PaddedColumn else column.shape


def _sparse_tensors(columns: list[Any], outputs: Iterator[Any]) -> list[Any]:
    parts = [list(itertools.islice(outputs, len(columns))) for _ in range(3)]
    return [SparseTensor(*row) for row in zip(*parts, strict=True)]


def _ragged_tensors(columns: list[Any], outputs: Iterator[Any], single: bool, levels: int) -> list[Any]:
    """Returns the ragged tensors of outputs: flat values, then the row splits of each level."""
    parts = [list(itertools.islice(outputs, len(columns))) for _ in range(levels + 1)]
    rows = zip(*parts, strict=True)
    return [RaggedTensor.from_nested_row_splits(row[0], row[1 + single :], validate=False) for row in rows]


def _by_key(columns: dict[str, Any], *results: tuple[list[Any], list[Any]]) -> dict[str, Any]:
    values = {id(c): v for kind, tensors in results for c, v in zip(kind, tensors, strict=True)}
    return {key: values[id(c)] for key, c in columns.items()}


def _examples_in_graph(columns: dict[str, Any], serialized: Tensor) -> dict[str, Any]:
    single = serialized.shape.rank == 0
    variable, dense = _of_kind(columns, VariableColumn), _of_kind(columns, DenseColumn, PaddedColumn)
    ragged = _of_kind(columns, RaggedColumn)
    outputs = iter(
        ops.ParseExampleV2(
            serialized, _column_keys([]), _column_keys(variable), _column_keys(dense), _column_keys(ragged),
            [_column_default(c) for c in dense],
            len(variable), [c.dtype for c in variable], [c.dtype for c in ragged], [c.splits for c in ragged],
            [_op_shape(c) for c in dense],
        )
    )  # fmt: skip
    return _by_key(
        columns,
        (variable, _sparse_tensors(variable, outputs)),
        (dense, list(itertools.islice(outputs, len(dense)))),
        (ragged, _ragged_tensors(ragged, outputs, single, 1)),
    )


def _sequences_in_graph(columns: dict[str, Any], serialized: Tensor) -> dict[str, Any]:
    single = serialized.shape.rank == 0
    context = [_of_kind(columns, k) for k in (VariableColumn, DenseColumn, RaggedColumn)]
    lists = [_of_kind(columns, k) for k in (VariableSteps, PaddedSteps, RaggedSteps)]
    keys = [_column_keys(kind) for kind in (*context, *lists)]
    missing = convert([c.allow_missing for c in lists[1]], bool_)
    dtypes = [[c.dtype for c in kind] for kind in (*context, *lists)]
    outputs = iter(
        ops.ParseSequenceExampleV2(
            serialized, _column_keys([]), *keys, missing, [_column_default(c) for c in context[1]], len(context[0]),
            dtypes[0],
            dtypes[2], [c.splits for c in context[2]], [c.shape for c in context[1]], len(lists[0]), len(lists[1]),
            dtypes[4], dtypes[3], dtypes[5], [c.splits for c in lists[2]], [c.shape for c in lists[1]],
        )
    )  # fmt: skip
    return _by_key(
        columns,
        (context[0], _sparse_tensors(context[0], outputs)),
        (context[1], list(itertools.islice(outputs, len(context[1])))),
        (context[2], _ragged_tensors(context[2], outputs, single, 1)),
        (lists[0], _sparse_tensors(lists[0], outputs)),
        (lists[1], list(zip(*[list(itertools.islice(outputs, len(lists[1]))) for _ in range(2)], strict=True))),
        (lists[2], _ragged_tensors(lists[2], outputs, single, 2)),
    )


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
        A dict of tensors, `tf.SparseTensor`s and `tf.RaggedTensor`s. Their first dimension is the batch of examples.

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
    columns = columns_of(features, list(COLUMNS), "ParseExampleV2")
    return _parse_columns(columns, convert(serialized, string), Example, 1, "ParseExampleV2")


def parse_single_example(
    serialized: TensorLike,
    features: Mapping[str, Any],
    example_names: TensorLike | None = None,
    name: str | None = None,
) -> dict[str, Any]:
    """Parses one serialized `tf.train.Example`, without a batch dimension.

    Args:
        serialized: a string scalar.
        features: the features by key: `tf.io.FixedLenFeature`, `FixedLenSequenceFeature` (with `allow_missing`),
            `VarLenFeature`, `SparseFeature` or `RaggedFeature`.
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
    message = convert(serialized, string)
    if message.shape.rank not in (0, None):
        raise ValueError("Input serialized must be a scalar")
    return parse_example(message, features, example_names, name)


def _from_json(texts: StringArray) -> StringArray:
    try:
        messages = [_example_bytes(t) for t in texts.reshape(-1).tolist()]
    except (json_format.ParseError, RecursionError, ValueError) as error:
        raise invalid(f"Error while parsing JSON: {error}") from None
    return raw_value(messages, string, texts.shape)


def _example_bytes(text: bytes) -> bytes:
    """Returns the serialized `tf.train.Example` of a text in JSON: its features in order, and each number by itself."""
    features = json_format.Parse(text, Example()).features.feature
    parsed = json.loads(text)
    if not isinstance(parsed, dict):
        raise ValueError("expected '{'")
    if not parsed.get("features"):
        return _field_bytes(1, b"") if parsed.get("features") is not None else b""
    entries = []
    for name in parsed["features"].get("feature") or ():
        kind = features[name].WhichOneof("kind")
        content = b""
        if kind:
            values = b"".join(map(_VALUE_BYTES[kind], getattr(features[name], kind).value))
            content = _field_bytes(tuple(_VALUE_BYTES).index(kind) + 1, values)
        entries.append(_field_bytes(1, _field_bytes(1, name.encode()) + _field_bytes(2, content)))
    return _field_bytes(1, b"".join(entries))


def _field_bytes(number: int, content: bytes) -> bytes:
    """Returns a field of bytes as it stands in a message."""
    return varint(number << 3 | 2) + varint(len(content)) + content


_VALUE_BYTES: dict[str, Callable[[Any], bytes]] = {  # one value of a list, by the names of the lists in order
    "bytes_list": functools.partial(_field_bytes, 1),
    "float_list": lambda value: struct.pack("<Bf", 1 << 3 | 5, value),
    "int64_list": lambda value: varint(1 << 3) + varint(value % 2**64),
}


@op("DecodeJSONExample", kernel=_from_json, strings=_from_json, shape=same, elementwise=True)
def decode_json_example(json_examples: TensorLike, name: str | None = None) -> Tensor:
    """Converts `tf.train.Example` messages from JSON to their serialized form.

    Args:
        json_examples: a string tensor of any shape.

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
        Three dicts by key: the features of the context; the features of the sequences, of shape `[batch, steps, ...]`;
        and the lengths of padded sequences, int64 of shape `[batch]`.

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
    context = columns_of(context_features or {}, [FixedLenFeature, VarLenFeature, RaggedFeature], op)
    steps = columns_of(sequence_features or {}, list(STEPS), op, STEPS)
    messages = convert(serialized, string)
    contexts = _parse_columns(context, messages, SequenceExample, 1, op) if context else {}
    lists = _parse_columns(steps, messages, SequenceExample, 2, op) if steps else {}
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
        context_features: the features of the context, by key: `tf.io.FixedLenFeature`, `VarLenFeature` or
            `RaggedFeature`.
        sequence_features: the features of each step, by key: `tf.io.FixedLenSequenceFeature`, `VarLenFeature` or
            `RaggedFeature`.
        example_name: without effect.

    Returns:
        A dict of the features of the context, and a dict of the features of the sequences, of shape `[steps, ...]`.

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
    if not context_features and not sequence_features:
        raise ValueError("Both context_features and sequence_features are None, but at least one should have values.")
    message = convert(serialized, string)
    if message.shape.rank not in (0, None):
        raise ValueError("Input serialized must be a scalar")
    context, sequences, _ = parse_sequence_example(message, context_features, sequence_features, example_name, name)
    return context, sequences
