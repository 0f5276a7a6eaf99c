"""The ops that parse serialized examples: all features of one kind after another, as graphs hold them.

`tf.io.parse_example` and its kin work with columns (see `parsing.py`). These ops take separate lists of keys, dtypes
and shapes, build columns of them, and return the columns' tensors by output.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import torch

from tapeflow.core.ops.batch_rules import Batch, NoRule, Slices, leading_dimensions
from tapeflow.core.ops.definition import find
from tapeflow.core.ops.raw_kernels import define, parameters
from tapeflow.core.protos import Example, SequenceExample
from tapeflow.core.types.dtypes import FROM_TORCH, DType, string
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.strings import StringArray
from tapeflow.core.values.tensor import EagerTensor, invalid
from tapeflow.io.columns import (
    DenseColumn,
    PaddedColumn,
    PaddedSteps,
    RaggedColumn,
    RaggedSteps,
    VariableColumn,
    VariableSteps,
)
from tapeflow.io.example_bytes import read_columns
from tapeflow.io.features import FixedLenFeature, FixedLenSequenceFeature, RaggedFeature, VarLenFeature

Column = Any


def _key_texts(keys: Any) -> list[str]:
    """Returns the keys that a string tensor, a list of them or an attr holds."""
    if isinstance(keys, StringArray):
        keys = keys.flat
    bare = [k.item() if isinstance(k, StringArray) else k for k in keys]
    return [k.decode() if isinstance(k, bytes) else k for k in bare]


def _dense_columns(keys: Any, defaults: Sequence[Any], dtypes: Sequence[DType], shapes: Sequence[Any]) -> list[Column]:
    columns: list[Column] = []
    for key, default, dtype, dims in zip(_key_texts(keys), defaults, dtypes, shapes, strict=True):
        shape = TensorShape(dims)
        value = None if default is None or not _value_count(default) else EagerTensor(default, dtype)
        if shape.rank and shape[0] is None:
            columns.append(PaddedColumn(key, FixedLenSequenceFeature(shape[1:], dtype, True, value), ""))
        else:
            columns.append(DenseColumn(key, FixedLenFeature(shape, dtype, value), ""))
    return columns


def _value_count(value: Any) -> int:
    return value.size if isinstance(value, StringArray) else value.numel()


def _variable_columns(keys: Any, dtypes: Sequence[DType], kind: Any = VariableColumn) -> list[Column]:
    return [kind(key, VarLenFeature(dtype), "") for key, dtype in zip(_key_texts(keys), dtypes, strict=True)]


def _ragged_columns(named: _Arguments, prefix: str, kind: Any) -> list[Column]:
    keys, dtypes, splits = (named[f"{prefix}ragged_{n}"] for n in ("keys", "value_types", "split_types"))
    features = zip(_key_texts(keys), dtypes, splits, strict=True)
    return [kind(key, RaggedFeature(dtype, row_splits_dtype=rows), "") for key, dtype, rows in features]


def _splits_of_lengths(lengths: torch.Tensor) -> torch.Tensor:
    """Returns the row splits of rows of these lengths."""
    return torch.cat([lengths.new_zeros(1), torch.cumsum(lengths, 0, dtype=lengths.dtype)])


def _by_output(rows: Sequence[Any], count: int) -> list[Any]:
    """Returns the tensors of columns of one kind, which has `count` of them: first all first ones."""
    return [row[i] for i in range(count) for row in rows]


def _of_ragged(columns: Sequence[Column], results: Sequence[Any], depth: int) -> list[Any]:
    rows = []
    for column, (values, *lengths) in zip(columns, results, strict=True):
        splits = [_splits_of_lengths(row) for row in lengths]
        rows.append([values, *[torch.zeros(0, dtype=column.splits.torch)] * (depth - len(splits)), *splits])
    return _by_output(rows, depth + 1)


def _read_groups(groups: Sequence[Sequence[Column]], *source: Any) -> list[list[Any]]:
    """Reads groups of columns, see `read_columns`; returns the results of each group."""
    results = iter(read_columns([column for group in groups for column in group], *source))
    return [[next(results) for _ in group] for group in groups]


# ---- shapes ----------------------------------------------------------------------------------------------------------


def _output_shapes(columns: Sequence[Column], serialized: TensorShape, count: int) -> list[Any]:
    """Returns the static shapes of `_by_output`."""
    if serialized.rank is None:
        return [TensorShape(None)] * (count * len(columns))
    single = serialized.rank == 0
    rows = [c.outputs(None if single else serialized[0], single) for c in columns]
    return [TensorShape(row[i][1]) for i in range(count) for row in rows]


def _ragged_shapes(count: int, serialized: TensorShape, depth: int) -> list[TensorShape]:
    splits = TensorShape([None if serialized.rank != 1 or serialized[0] is None else serialized[0] + 1])
    return [shape for shape in (TensorShape([None]), splits, TensorShape([None]))[: depth + 1] for _ in range(count)]


def _blank_keys(dtypes: Sequence[Any]) -> list[str]:
    return [""] * len(dtypes)


# ---- ops -------------------------------------------------------------------------------------------------------------


_parameters = functools.cache(parameters)


class _Arguments(dict[str, Any]):
    """Arguments by the names of an op's definition; empty if the op lacks one."""

    def __init__(self, op: str, args: Sequence[Any]) -> None:
        super().__init__(zip(_parameters(op), args, strict=False))

    def __missing__(self, name: str) -> Any:
        return ()


def _dtypes_of(values: Sequence[Any]) -> list[DType]:
    """Returns the dtypes of raw default values."""
    return [string if isinstance(v, StringArray) else FROM_TORCH[v.dtype] for v in values]


def _read_context(named: _Arguments, prefix: str, message: Any) -> list[Any]:
    """Returns the results for the features of examples, or of the contexts of sequence examples."""
    serialized, defaults = named["serialized"], named[f"{prefix}dense_defaults"]
    shapes = named[f"{prefix}dense_shapes"]
    sparse = _variable_columns(named[f"{prefix}sparse_keys"], named[f"{prefix}sparse_types"])
    dense = _dense_columns(named[f"{prefix}dense_keys"], defaults, _dtypes_of(defaults), shapes)
    ragged = _ragged_columns(named, prefix, RaggedColumn)
    results = _read_groups([sparse, dense, ragged], serialized, message, 1, serialized.ndim == 0)
    return [*_by_output(results[0], 3), *_by_output(results[1], 1), *_of_ragged(ragged, results[2], 1)]


def _context_shapes(named: _Arguments, prefix: str, dtypes: Sequence[DType], serialized: TensorShape) -> list[Any]:
    """Returns the static shapes of `_read_context`."""
    types, shapes = named[f"{prefix}sparse_types"], named[f"{prefix}dense_shapes"]
    sparse = _variable_columns(_blank_keys(types), types)
    dense = _dense_columns(_blank_keys(dtypes), [None] * len(dtypes), dtypes, shapes)
    ragged = _ragged_shapes(len(named[f"{prefix}ragged_value_types"]), serialized, 1)
    return [*_output_shapes(sparse, serialized, 3), *_output_shapes(dense, serialized, 1), *ragged]


def _parse_examples(op: str, *args: Any) -> tuple[Any, ...]:
    named = _Arguments(op, args)
    keys, types = _key_texts(named["sparse_keys"]), named["sparse_types"]
    if len(types) != len(keys):
        raise invalid(f"len(sparse_keys) != len(sparse_types): {len(keys)} vs. {len(types)}")
    return tuple(_read_context(named, "", Example))


def _shape_of_examples(op: str, *args: Any) -> list[Any]:
    named = _Arguments(op, args)
    return _context_shapes(named, "", args[-1], TensorShape([]) if op == "ParseSingleExample" else named["serialized"])


def _batch_examples(batch: Batch, serialized: Slices, *rest: Any) -> Any:
    """Parses one example of each slice: all as a batch, if all have results of the same shapes."""
    named = _Arguments("ParseExampleV2", (serialized, *rest))
    same_shapes = all(TensorShape(shape).is_fully_defined() for shape in named["dense_shapes"])
    if serialized.rank or named["sparse_types"] or named["ragged_value_types"] or not same_shapes:
        raise NoRule
    return leading_dimensions(batch, serialized, *rest)


def _list_columns(keys: Any, dtypes: Sequence[DType], shapes: Sequence[Any], optional: Sequence[str]) -> list[Column]:
    """Returns the columns of feature lists of fixed shapes. Lists with a key in `optional` may be missing."""
    features = zip(_key_texts(keys), dtypes, shapes, strict=True)
    return [PaddedSteps(k, FixedLenSequenceFeature(s, d, k in optional), "") for k, d, s in features]


def _optional_keys(named: _Arguments) -> list[str]:
    """Returns the keys of feature lists that may be missing."""
    missing = named["feature_list_dense_missing_assumed_empty"]
    if isinstance(missing, torch.Tensor):  # a flag for each key
        flags = zip(_key_texts(named["feature_list_dense_keys"]), missing.tolist(), strict=False)
        return [key for key, flag in flags if flag]
    return _key_texts(missing)


def _parse_sequences(op: str, *args: Any) -> tuple[Any, ...]:
    named = _Arguments(op, args)
    keys, dtypes, shapes = (named[f"feature_list_dense_{n}"] for n in ("keys", "types", "shapes"))
    steps = _list_columns(keys, dtypes, shapes, _optional_keys(named))
    sparse = _variable_columns(named["feature_list_sparse_keys"], named["feature_list_sparse_types"], VariableSteps)
    ragged = _ragged_columns(named, "feature_list_", RaggedSteps)
    context, serialized = _read_context(named, "context_", SequenceExample), named["serialized"]
    lists = _read_groups([sparse, steps, ragged], serialized, SequenceExample, 2, serialized.ndim == 0)
    dense = _by_output(lists[1], 1 if op == "ParseSingleSequenceExample" else 2)
    return (*context, *_by_output(lists[0], 3), *dense, *_of_ragged(ragged, lists[2], 2))


def _shape_of_sequences(op: str, *args: Any) -> list[Any]:
    named = _Arguments(op, args)
    single = op == "ParseSingleSequenceExample"
    serialized = TensorShape([]) if single else named["serialized"]
    sparse, types = named["feature_list_sparse_types"], named["feature_list_dense_types"]
    steps = _list_columns(_blank_keys(types), types, named["feature_list_dense_shapes"], ())
    return [
        *_context_shapes(named, "context_", args[-1], serialized),
        *_output_shapes(_variable_columns(_blank_keys(sparse), sparse, VariableSteps), serialized, 3),
        *_output_shapes(steps, serialized, 1 if single else 2),
        *_ragged_shapes(len(named["feature_list_ragged_value_types"]), serialized, 2),
    ]


for _ops, _parse, _shape, _dtypes in (
    (("ParseExample", "ParseExampleV2", "ParseSingleExample"), _parse_examples, _shape_of_examples, "Tdense"),
    (
        ("ParseSequenceExample", "ParseSequenceExampleV2", "ParseSingleSequenceExample"),
        _parse_sequences, _shape_of_sequences, "Tcontext_dense",
    ),
):  # fmt: skip
    for _op in _ops:
        define(_op, functools.partial(_parse, _op), functools.partial(_shape, _op), shape_types=(_dtypes,))

find("ParseExampleV2").batching = _batch_examples
find("ParseExampleV2").exact_in_batches = True
