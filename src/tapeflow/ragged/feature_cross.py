"""Crosses of ragged, sparse and dense features, as ragged rows."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import torch

from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.op import not_differentiable
from tapeflow.core.ops.raw_kernels import defined_op
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.dtypes import int32, int64, string
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.strings import StringArray
from tapeflow.core.values.tensor import invalid
from tapeflow.ragged.tensor import RaggedTensor
from tapeflow.sparse.feature_cross import (
    START,
    Tensors,
    Values,
    as_wide,
    combinations,
    dense_rows,
    hash_values,
    join_values,
    sparse_rows,
)
from tapeflow.sparse.tensor import SparseTensor
from tapeflow.strings.kernels import splits_of_rows


def _cross_rule(values: Any, splits: list[TensorShape], sparse: Any, v: Any, s: Any, dense: list[TensorShape], *_: Any
                ) -> list[TensorShape]:  # fmt: skip
    if len(values) != len(splits):
        raise invalid("ragged values and splits must have the same length.")
    if any(shape.rank not in (2, None) for shape in dense):
        raise invalid("tf.ragged.cross only supports inputs with rank=2")
    ends = [s[0] for s in splits if s.rank]
    sizes = {n - 1 for n in ends if n is not None} | {d[0] for d in dense if d.rank and d[0] is not None}
    if len(sizes) > 1:
        raise invalid("inputs must all have the same batch dimension size.")
    return [TensorShape([None]), TensorShape([next(iter(sizes)) + 1 if sizes else None])]


def _cross_features(
    ragged: Values, row_splits: Tensors, indices: Tensors, sparse: Values, shapes: Tensors, dense: Values, *attrs: Any
) -> Any:
    order, is_hashed, num_buckets, hash_key, _, splits_dtype = attrs
    features = {
        "R": iter([
            [values[i:j].tolist() for i, j in itertools.pairwise(splits.tolist())]
            for values, splits in zip(ragged, row_splits, strict=True)
        ]),
        "S": map(sparse_rows, indices, sparse, [range(int(shape[0])) for shape in shapes]),
        "D": map(dense_rows, dense),
    }  # fmt: skip
    rows = combinations([next(features[kind]) for kind in order])
    splits = splits_of_rows(rows, splits_dtype)
    if not is_hashed:
        return StringArray.of([join_values(c) for row in rows for c in row]), splits
    return torch.tensor([hash_values(c, hash_key, num_buckets) for row in rows for c in row], dtype=torch.int64), splits


# Joins or hashes the values of features in every combination: the values of the rows, and their splits.
_ragged_cross = defined_op("RaggedCross", _cross_features, strings=_cross_features, shape=_cross_rule)


not_differentiable(_ragged_cross)


def _cross_inputs(
    inputs: Sequence[Any], hashed_output: bool, num_buckets: int, hash_key: int | None, name: str | None
) -> RaggedTensor:
    if not isinstance(inputs, (list, tuple)):
        raise TypeError("Inputs must be a list")
    order = ""  # the kind of each feature: R, S or D
    ragged, sparse, dense = [], [], []
    for i, feature in enumerate(inputs):
        value = feature if isinstance(feature, (RaggedTensor, SparseTensor)) else convert(feature)
        if value.dtype is not string and not value.dtype.is_integer:
            raise ValueError(f"Unexpected dtype for inputs[{i}]: {value.dtype}")
        if isinstance(value, RaggedTensor):
            if value.ragged_rank != 1:
                raise ValueError("tf.ragged.cross only supports inputs with rank=2.")
            ragged.append(value)
            order += "R"
        elif isinstance(value, SparseTensor):
            sparse.append(value)
            order += "S"
        else:
            dense.append(as_wide(value))
            order += "D"
    splits_dtype = int32 if ragged and all(r.row_splits.dtype is int32 for r in ragged) else int64
    values, splits = _ragged_cross(
        [as_wide(r.values) for r in ragged], [r.row_splits for r in ragged], [s.indices for s in sparse],
        [as_wide(s.values) for s in sparse], [s.dense_shape for s in sparse], dense, order, hashed_output, num_buckets,
        START if hash_key is None else hash_key, int64 if hashed_output else string,
        splits_dtype, name,
    )  # fmt: skip
    return RaggedTensor.from_row_splits(values, splits, validate=False)


def cross(inputs: Sequence[TensorLike], name: str | None = None) -> RaggedTensor:
    """Joins values of features with `_X_`: one from each, in every combination, row by row.

    Args:
        inputs: ragged, sparse or dense matrices of strings or integers, with equally many rows.

    Returns:
        A ragged matrix of strings with as many rows.

    Raises:
        TypeError: `inputs` is no list.
        ValueError: a ragged input is no matrix, or a feature is neither of strings nor of integers.

    Example:
        >>> tf.ragged.cross([tf.ragged.constant([["a"], ["b", "c"]]), tf.ragged.constant([["d"], ["e"]])])
        <tf.RaggedTensor [[b'a_X_d'], [b'b_X_e', b'c_X_e']]>
    """
    return _cross_inputs(inputs, False, 0, None, name)


def cross_hashed(
    inputs: Sequence[TensorLike], num_buckets: int = 0, hash_key: int | None = None, name: str | None = None
) -> RaggedTensor:
    """Hashes values of features: one from each, in every combination, row by row. See `tf.sparse.cross_hashed`.

    Args:
        inputs: ragged, sparse or dense matrices of strings or integers, with equally many rows.
        num_buckets: results are below this number; 0 for any int64.
        hash_key: an int, the key of the hash; None for TensorFlow's own.

    Returns:
        A ragged matrix of int64 with as many rows.

    Raises:
        TypeError: `inputs` is no list.
        ValueError: a ragged input is no matrix, or a feature is neither of strings nor of integers.

    Example:
        >>> tf.ragged.cross_hashed([tf.ragged.constant([["a"], ["b", "c"]])], num_buckets=1)
        <tf.RaggedTensor [[0], [0, 0]]>
    """
    return _cross_inputs(inputs, True, num_buckets, hash_key, name)
