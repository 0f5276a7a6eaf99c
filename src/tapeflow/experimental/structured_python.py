"""Structured tensors from Python values, dicts and lists of them, and back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapeflow.array.creation import constant
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.types.spec import TensorSpec
from tapeflow.core.values.tensor import EagerTensor
from tapeflow.ragged.conversion import constant as ragged_constant
from tapeflow.ragged.spec import RaggedTensorSpec
from tapeflow.ragged.tensor import RaggedTensor

Path = tuple[str, ...]


def read(cls: Any, value: Any, spec: Any, path: Path) -> Any:
    """Converts a Python value.

    Args:
        cls: `StructuredTensor`.
        value: a dict, a nested list of dicts, or of values.
        spec: the spec of the result, or None.
        path: the names of the fields around it, for messages.
    """
    if isinstance(value, dict):
        return _read_dict(cls, value, spec, path)
    if not isinstance(value, (list, tuple)):
        if spec is not None and not (isinstance(spec, TensorSpec) and spec.shape.rank == 0):
            raise _mismatch_error(path, spec, value)
        return _parse_part(path, constant, value, None if spec is None else spec.dtype)
    keys: dict[str, None] = {}
    depth = _list_depth(value, keys)
    if depth is None and isinstance(spec, cls.Spec):
        depth = _depth_of_empty(value)
        if depth is None:
            raise _mismatch_error(path, spec, value)
    if depth is not None:
        return _read_dicts(cls, value, list(keys), depth, spec, path)
    if spec is None:
        return _parse_part(path, ragged_constant, value)
    if isinstance(spec, TensorSpec):
        tensor = _parse_part(path, constant, value, spec.dtype)
        if not spec.shape.is_compatible_with(tensor.shape):
            raise _mismatch_error(path, spec, value)
        return tensor
    if isinstance(spec, RaggedTensorSpec):
        inner = spec._shape[spec.ragged_rank + 1 :]
        return _parse_part(
            path, ragged_constant, value, spec._dtype, spec.ragged_rank, inner, None, spec.row_splits_dtype
        )
    raise _mismatch_error(path, spec, value)


def _mismatch_error(path: Path, one: object, other: object) -> ValueError:
    return ValueError(f"Value at {path!r} does not match typespec: {one!r} vs {other!r}")


def _parse_part(path: Path, convert: Callable[..., Any], *args: Any) -> Any:
    try:
        return convert(*args)
    except (ValueError, TypeError) as error:
        raise ValueError(f"Error parsing path {path!r}") from error


def _read_dict(cls: Any, value: dict[str, Any], spec: Any, path: Path) -> Any:
    specs = dict.fromkeys(value)
    if spec is not None:
        if not (isinstance(spec, cls.Spec) and spec.rank == 0 and set(value) == set(spec._fields)):
            raise _mismatch_error(path, value, spec)
        specs = spec._fields
    return cls.from_fields({name: read(cls, v, specs[name], (*path, name)) for name, v in value.items()})


def _read_dicts(cls: Any, value: Any, keys: list[str], rank: int, spec: Any, path: Path) -> Any:
    columns: dict[str, Any] = {key: [] for key in keys}
    for child in value:
        _append_values(child, columns, 1)
    if spec is None:
        shape = TensorShape([None] * rank)
        fields = {key: read(cls, column, None, (*path, key)) for key, column in columns.items()}
    else:
        if not isinstance(spec, cls.Spec) or set(columns) - set(spec._fields):
            raise _mismatch_error(path, value, spec)
        shape = spec.shape
        if shape.rank < rank:
            raise ValueError(f"Value at {path!r} does not match typespec (rank mismatch): {value!r} vs {spec!r}")
        fields = {key: read(cls, columns.get(key, []), inner, (*path, key)) for key, inner in spec._fields.items()}
    if not fields and spec is None:
        zeros = ragged_constant(_zero_structure(value))
        partitions = zeros._nested_row_partitions if isinstance(zeros, RaggedTensor) else None
        return cls.from_fields({}, [len(value), *[None] * (rank - 1)], len(value), partitions)
    return _parse_part(path, cls.from_fields, fields, shape)


def _list_depth(value: object, keys: dict[str, None]) -> int | None:
    """Returns how many lists are around dicts, whose keys it adds; None where there are no dicts."""
    if isinstance(value, dict):
        keys.update(dict.fromkeys(value))
        return 0
    if not isinstance(value, (list, tuple)):
        return None
    depths = {depth for child in value if (depth := _list_depth(child, keys)) is not None}
    if len(depths) > 1:
        raise ValueError("Inconsistent depth of dictionaries")
    return depths.pop() + 1 if depths else None


def _append_values(value: Any, columns: dict[str, Any], depth: int) -> None:
    """Adds the values of dicts to the lists of their keys, in lists like those around the dicts."""
    if not isinstance(value, (dict, list, tuple)):
        raise ValueError("Expected dict or nested list/tuple of dict")
    for key, column in columns.items():
        target = column
        for _ in range(1, depth):
            target = target[-1]
        target.append(value[key] if isinstance(value, dict) else [])
    if not isinstance(value, dict):
        for child in value:
            _append_values(child, columns, depth + 1)


def _depth_of_empty(value: object) -> int | None:
    if not isinstance(value, list):
        return None
    depths = [_depth_of_empty(child) for child in value]
    return None if None in depths else max((d for d in depths if d is not None), default=0) + 1


def _zero_structure(value: Any) -> Any:
    return 0 if isinstance(value, dict) else [_zero_structure(child) for child in value]


def write(value: Any) -> Any:
    """Returns a dict, or a nested list of dicts, of the values of an eager structured tensor."""
    fields = {}
    for name, field in value._fields.items():
        if isinstance(field, EagerTensor):
            array = field.numpy()
            fields[name] = array.tolist() if isinstance(array, np.ndarray) else array
        elif isinstance(field, RaggedTensor):
            fields[name] = field.to_list()
        else:
            fields[name] = field.to_pyval() if isinstance(field, type(value)) else field
    if value.rank == 0:
        return fields
    if not fields:
        return _empty_dicts([p.splits().tolist() for p in value.row_partitions], int(value.nrows()))
    return _by_record(list(fields), list(fields.values()), value.rank)


def _by_record(names: list[str], columns: list[Any], depth: int) -> Any:
    if depth == 0:
        return dict(zip(names, columns, strict=True))
    return [_by_record(names, list(parts), depth - 1) for parts in zip(*columns, strict=True)]


def _empty_dicts(splits: list[list[int]], count: int) -> Any:
    if not splits:
        return [{} for _ in range(count)]
    values = _empty_dicts(splits[1:], splits[0][-1])
    return [values[i:j] for i, j in zip(splits[0], splits[0][1:], strict=False)]
