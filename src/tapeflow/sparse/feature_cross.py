"""Crosses of features: every combination of one value from each, row by row."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import torch

from tapeflow.core.farmhash import fingerprint64, joined_fingerprint
from tapeflow.core.ops.op import not_differentiable, op
from tapeflow.core.ops.raw_kernels import defined_op
from tapeflow.core.types.dtypes import int64, string
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.strings import StringArray
from tapeflow.core.values.tensor import Tensor, invalid
from tapeflow.math.casting import cast
from tapeflow.sparse.tensor import SparseTensor

_WORD = (1 << 64) - 1
START = 0xDECAFCAFFE  # the default key of a hash
Tensors = Sequence[torch.Tensor]
Values = Sequence[torch.Tensor | StringArray]


def sparse_rows(indices: torch.Tensor, values: torch.Tensor | StringArray, numbers: Sequence[int]) -> list[list[Any]]:
    """Returns the values of a sparse feature in the rows of these numbers: `bytes` or ints."""
    rows: dict[int, list[Any]] = {number: [] for number in numbers}
    for row, item in zip(indices[:, 0].tolist(), values.tolist(), strict=True):
        if row not in rows:
            raise invalid(f"The indices of a feature are out of bounds: there is no row {row}")
        rows[row].append(item)
    return list(rows.values())


def dense_rows(value: torch.Tensor | StringArray) -> list[list[Any]]:
    """Returns the values of a dense feature, row by row: `bytes` or ints."""
    if value.ndim != 2:
        raise invalid(f"A dense feature must be a matrix, not of shape {list(value.shape)}")
    return value.tolist()


def check_sizes(sizes: list[int]) -> None:
    """Raises InvalidArgumentError for features of different batch sizes."""
    if len(set(sizes)) > 1:
        raise invalid(f"Features must have the same batch size, not {sizes}")


def _row_features(
    indices: Tensors, values: Values, shapes: Tensors, dense: Values
) -> tuple[list[list[list[Any]]], Sequence[int], int]:
    """Returns the features row by row, the numbers of these rows, and the batch size.

    Without dense features, only rows with values are returned: a sparse batch may be larger than memory.
    """
    for position, own in enumerate(indices):
        if own.ndim != 2 or own.shape[1] != 2:
            raise invalid(f"Expected D2 of index to be 2 got {own.shape[-1]} at position {position}")
    sizes = [*(int(shape[0]) for shape in shapes), *map(len, dense)]
    check_sizes(sizes)
    batch = sizes[0] if sizes else 0
    with_values = {row for own in indices for row in own[:, 0].tolist()}
    numbers: Sequence[int] = range(batch) if dense else sorted(row for row in with_values if 0 <= row < batch)
    sparse = [sparse_rows(own, items, numbers) for own, items in zip(indices, values, strict=True)]
    return [*sparse, *map(dense_rows, dense)], numbers, batch


def combinations(features: list[list[list[Any]]]) -> list[list[tuple[Any, ...]]]:
    """Returns all combinations of one value from each feature, row by row; the last feature varies fastest."""
    check_sizes([len(rows) for rows in features])
    return [list(itertools.product(*rows)) for rows in zip(*features, strict=True)]


def _cross_features(
    features: list[list[list[Any]]], numbers: Sequence[int], batch: int, combine: Callable[..., Any]
) -> tuple[torch.Tensor, list[Any], torch.Tensor]:
    """Returns the indices, values and shape of all combinations."""
    rows = combinations(features)
    indices = [(number, j) for number, row in zip(numbers, rows, strict=True) for j in range(len(row))]
    positions = torch.tensor(indices, dtype=torch.int64).reshape(-1, 2)
    return (positions, [combine(c) for row in rows for c in row], torch.tensor([batch, max(map(len, rows), default=0)]))


def join_values(combination: tuple[Any, ...], between: bytes = b"_X_") -> bytes:
    """Joins the values of a combination to one string."""
    return between.join(v if isinstance(v, bytes) else str(v).encode() for v in combination)


def hash_values(combination: tuple[Any, ...], start: int, num_buckets: int) -> int:
    """Returns the hash of a combination; any number of 63 bits for 0 buckets."""
    word = start
    for value in combination:
        word = joined_fingerprint(word, fingerprint64(value) if isinstance(value, bytes) else value & _WORD)
    return word % num_buckets if num_buckets else word % ((1 << 63) - 1)


def _cross_shapes(*_: Any) -> list[TensorShape]:
    return [TensorShape([None, 2]), TensorShape([None]), TensorShape([2])]


@op("SparseCrossV2", strings=True, shape=_cross_shapes)
def _sparse_cross_v2(indices: Tensors, values: Values, shapes: Tensors, dense: Values, sep: StringArray) -> Any:
    """Joins the values of features in every combination."""
    features = _row_features(indices, values, shapes, dense)
    positions, words, shape = _cross_features(*features, lambda c: join_values(c, sep[()]))
    return positions, StringArray.of(words), shape


def _hash_features(indices: Tensors, values: Values, shapes: Tensors, dense: Values, *attrs: Any) -> Any:
    _, num_buckets, hash_key, *_ = attrs
    features = _row_features(indices, values, shapes, dense)
    positions, numbers, shape = _cross_features(*features, lambda c: hash_values(c, hash_key, num_buckets))
    return positions, torch.tensor(numbers, dtype=torch.int64), shape


# Hashes the values of features in every combination.
_cross_hashed = defined_op("SparseCross", _hash_features, strings=_hash_features, shape=_cross_shapes)


not_differentiable(_sparse_cross_v2, _cross_hashed)


def _split_features(inputs: Sequence[Any]) -> tuple[list[Any], list[Any], list[Any], list[Any]]:
    """Returns the components of the sparse features, and the dense features."""
    sparse = [i for i in inputs if isinstance(i, SparseTensor)]
    dense = [as_wide(i) for i in inputs if not isinstance(i, SparseTensor)]
    return [s.indices for s in sparse], [as_wide(s.values) for s in sparse], [s.dense_shape for s in sparse], dense


def as_wide(values: Tensor) -> Any:
    """Casts integers to int64; strings stay."""
    return values if values.dtype is string else cast(values, int64)


def _check_inputs(inputs: object, message: str) -> None:
    """Raises TypeError for features that are no list of tensors; `message` is said of others than tensors."""
    if not isinstance(inputs, (list, tuple)):
        raise TypeError("Inputs must be a list")
    if not all(isinstance(i, (Tensor, SparseTensor)) for i in inputs):
        raise TypeError(message)


def cross(
    inputs: Sequence[Tensor | SparseTensor], name: str | None = None, separator: str | None = None
) -> SparseTensor:
    """Joins values of features: one from each, in every combination, row by row.

    Args:
        inputs: `SparseTensor`s and matrices of strings or integers, with equally many rows.
        separator: the string between the values; by default `_X_`.

    Returns:
        A `SparseTensor` of strings.

    Raises:
        TypeError: an input is neither a tensor nor a sparse tensor.

    Example:
        >>> tf.sparse.cross([tf.constant([["a", "b"]]), tf.constant([["c"]])]).values.numpy().tolist()
        [b'a_X_c', b'b_X_c']
    """
    _check_inputs(inputs, "All inputs must be Tensor or SparseTensor.")
    return SparseTensor(*_sparse_cross_v2(*_split_features(inputs), "_X_" if separator is None else separator, name))


def cross_hashed(
    inputs: Sequence[Tensor | SparseTensor], num_buckets: int = 0, hash_key: int | None = None, name: str | None = None
) -> SparseTensor:
    """Hashes values of features: one from each, in every combination, row by row.

    Args:
        inputs: `SparseTensor`s and matrices of strings or integers, with equally many rows.
        num_buckets: results are below this number; 0 for any int64.
        hash_key: an int, the key of the hash; None for TensorFlow's own.

    Returns:
        A `SparseTensor` of int64.

    Raises:
        TypeError: an input is neither a tensor nor a sparse tensor.

    Example:
        >>> a = tf.constant([["x"]])
        >>> tf.sparse.cross_hashed([a, a]).values.numpy().tolist()
        [7363294272350108128]
    """
    _check_inputs(inputs, "All inputs must be SparseTensors")
    start = START if hash_key is None else hash_key
    return SparseTensor(*_cross_hashed(*_split_features(inputs), True, num_buckets, start, int64, string, name))
