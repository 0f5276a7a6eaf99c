"""Crosses of features: every combination of one value from each, row by row."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from tapeflow.core.convert import convert
from tapeflow.core.dtypes import int64
from tapeflow.core.farmhash import fingerprint64
from tapeflow.core.tensor import EagerTensor, Tensor, invalid, strings
from tapeflow.sparse.tensor import SparseTensor

_WORD = (1 << 64) - 1


def _features(inputs: Any) -> list[list[list[Any]]]:
    """The values of each feature, row by row: `bytes` or ints."""
    features = []
    for value in inputs:
        if isinstance(value, SparseTensor):
            rows: list[list[Any]] = [[] for _ in range(value.shape[0] or 0)]
            for (row, *_), item in zip(value.indices._numpy().tolist(), value.values._numpy().tolist(), strict=True):
                rows[row].append(item)
        else:
            if value.shape.rank != 2:
                raise invalid(f"A dense feature must be a matrix, not of shape {value.shape} [Op:SparseCross]")
            rows = value._numpy().tolist()
        features.append(rows)
    sizes = [len(rows) for rows in features]
    if len(set(sizes)) > 1:
        raise invalid(f"Features must have the same batch size, not {sizes} [Op:SparseCross]")
    return features


def _crossed(features: list[list[list[Any]]], combine: Any) -> tuple[EagerTensor, list[Any], EagerTensor]:
    """Indices, values and shape of all combinations; the last feature varies fastest."""
    indices: list[tuple[int, int]] = []
    values: list[Any] = []
    longest = 0
    batch = len(features[0]) if features else 0
    for row in range(batch):
        combinations = list(itertools.product(*[rows[row] for rows in features]))
        longest = max(longest, len(combinations))
        indices.extend((row, i) for i in range(len(combinations)))
        values.extend(combine(c) for c in combinations)
    places = convert(np.array(indices, np.int64).reshape(-1, 2))
    return places, values, convert([batch, longest], int64)


def cross(inputs: Any, name: str | None = None, separator: str | None = None) -> SparseTensor:
    """Joins values of features: one from each, in every combination, row by row.

    Args:
        inputs: `SparseTensor`s and matrices of strings or integers, with equally many rows.
        separator: what stands between the values; by default `_X_`.

    Returns:
        A `SparseTensor` of strings.

    Raises:
        TypeError: something is neither a tensor nor sparse.

    Example:
        >>> tf.sparse.cross([tf.constant([["a", "b"]]), tf.constant([["c"]])]).values.numpy().tolist()
        [b'a_X_c', b'b_X_c']
    """
    if not all(isinstance(i, (Tensor, SparseTensor)) for i in inputs):
        raise TypeError("All inputs must be Tensor or SparseTensor.")
    between = (separator if separator is not None else "_X_").encode()
    indices, values, shape = _crossed(
        _features(inputs), lambda c: between.join(v if isinstance(v, bytes) else str(v).encode() for v in c)
    )
    array = np.empty(len(values), object)
    array[:] = values
    return SparseTensor(indices, strings(array), shape)


def _mixed(word: int) -> int:
    return word ^ (word >> 47)


def _joined_fingerprint(a: int, b: int) -> int:
    """The fingerprint of two fingerprints, by the mixing step of MurmurHash64A (TensorFlow's `FingerprintCat64`)."""
    factor = 0xC6A4A7935BD1E995
    word = a ^ factor ^ (_mixed(b * factor & _WORD) * factor & _WORD)
    word = _mixed(word * factor & _WORD) * factor & _WORD
    return _mixed(word)


def cross_hashed(
    inputs: Any, num_buckets: int = 0, hash_key: int | None = None, name: str | None = None
) -> SparseTensor:
    """Hashes values of features: one from each, in every combination, row by row.

    Args:
        inputs: `SparseTensor`s and matrices of strings or integers, with equally many rows.
        num_buckets: hashes are taken modulo this; 0 for whole hashes.
        hash_key: what the hash begins with.

    Returns:
        A `SparseTensor` of int64.

    Raises:
        TypeError: something is neither a tensor nor sparse.

    Example:
        >>> a = tf.constant([["x"]])
        >>> tf.sparse.cross_hashed([a, a]).values.numpy().tolist()
        [7363294272350108128]
    """
    if not all(isinstance(i, (Tensor, SparseTensor)) for i in inputs):
        raise TypeError("All inputs must be SparseTensors")
    start = 0xDECAFCAFFE if hash_key is None else hash_key

    def combine(combination: tuple[Any, ...]) -> int:
        word = start
        for value in combination:
            word = _joined_fingerprint(word, fingerprint64(value) if isinstance(value, bytes) else value & _WORD)
        return word % num_buckets if num_buckets else word % ((1 << 63) - 1)

    indices, values, shape = _crossed(_features(inputs), combine)
    return SparseTensor(indices, convert(np.array(values, np.int64)), shape)


