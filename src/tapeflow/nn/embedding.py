"""Looking up rows of tables by their ids."""

from __future__ import annotations

import math
from typing import Any

import tapeflow as tf
from tapeflow.core.autodiff.gradients import shape_of
from tapeflow.core.ops.convert import convert
from tapeflow.core.types.dtypes import bfloat16, float16, float32, int32, int64
from tapeflow.core.values.tensor import EagerTensor
from tapeflow.core.values.variable import Variable
from tapeflow.math.arithmetic import multiply
from tapeflow.math.division import realdiv


def embedding_lookup(params: Any, ids: Any, max_norm: Any = None, name: str | None = None) -> Any:
    """Looks up rows of a table.

    Args:
        params: the table: a tensor or variable `[rows, ...]`, or a list of them that stand for one table cut along the
            rows into parts as equal as can be, the longer ones first.
        ids: int32 or int64, of any shape (or ragged): row numbers.
        max_norm: scales down rows whose Euclidean norm exceeds this; or None.

    Returns:
        The rows, of shape `ids.shape + params.shape[1:]`. The gradient of a table is sparse.

    Raises:
        ValueError: there is no table.
        InvalidArgumentError: there is no such row.

    Example:
        >>> tf.nn.embedding_lookup([[1.0, 2.0], [3.0, 4.0]], [1]).numpy().tolist()
        [[3.0, 4.0]]
    """
    if type(ids) is EagerTensor and max_norm is None and isinstance(params, (EagerTensor, Variable)):
        return tf.gather(params, ids, name=name)
    if params is None or (isinstance(params, (list, tuple)) and not params):
        raise ValueError("params must be a table, or a list of at least one: Need at least one param.")
    if hasattr(type(ids), "flat_values"):  # ragged
        return ids.with_flat_values(embedding_lookup(params, ids.flat_values, max_norm, name))
    ids = convert(ids)
    if isinstance(params, (list, tuple)) and all(hasattr(p, "dtype") for p in params):
        if len(params) == 1:
            params = params[0]
        else:
            return _from_parts(list(params), ids, max_norm)
    return _clipped(tf.gather(params, ids), max_norm, ids)


def _from_parts(parts: list[Any], ids: Any, max_norm: Any) -> Any:
    """Rows of a table in parts: each part gives those it has, and they are put back in order."""
    flat = tf.reshape(ids, (-1,))
    rows = sum(part.shape[0] for part in parts)
    share, longer = divmod(rows, len(parts))
    # The first `longer` parts have one row more than the others.
    by_longer = tf.math.floordiv(flat, share + 1)
    by_others = tf.math.floordiv(tf.subtract(flat, longer), max(share, 1))
    part_of = tf.maximum(by_longer, by_others)
    start = tf.add(tf.multiply(part_of, share), tf.minimum(part_of, longer))
    within = tf.dynamic_partition(tf.subtract(flat, start), tf.cast(part_of, int32), len(parts))
    places = tf.dynamic_partition(tf.range(shape_of(flat)[0]), tf.cast(part_of, int32), len(parts))
    found = [_clipped(tf.gather(part, i), max_norm, i) for part, i in zip(parts, within, strict=True)]
    stitched = tf.dynamic_stitch(places, found)
    return tf.reshape(stitched, (*shape_of(ids), *shape_of(stitched)[1:]))


def _clipped(rows: Any, max_norm: Any, ids: Any) -> Any:
    if max_norm is None:
        return rows
    rank = len(shape_of(ids))
    return tf.clip_by_norm(rows, max_norm, list(range(rank, len(shape_of(rows)))))


# ---- sparse ids ------------------------------------------------------------------------------------------------------


def embedding_lookup_sparse(
    params: Any,
    sp_ids: Any,
    sp_weights: Any,
    combiner: str | None = None,
    max_norm: Any = None,
    name: str | None = None,
    allow_fast_lookup: bool = False,
) -> Any:
    """Looks up several rows of a table for each example, and combines them.

    Args:
        params: the table; see `embedding_lookup`.
        sp_ids: a sparse `[batch, n]` (or ragged) of int32 or int64: the rows of each example, which has at least one.
        sp_weights: the weights of the rows, sparse (or ragged) like `sp_ids`; or None, for 1.
        combiner: "mean" (the default), "sum", or "sqrtn": the sum over the Euclidean norm of the weights.
        max_norm: scales down rows whose Euclidean norm exceeds this; or None.
        allow_fast_lookup: not used.

    Returns:
        `[batch, ...]`: a combined row for each example, up to the last that has ids.

    Raises:
        TypeError: the ids are not sparse, or the weights are neither None nor sparse.
        ValueError: the combiner is another.

    Example:
        >>> ids = tf.SparseTensor([[0, 0], [0, 1]], [0, 1], [1, 2])
        >>> tf.nn.embedding_lookup_sparse(tf.constant([[1.0], [3.0]]), ids, None).numpy().tolist()
        [[2.0]]
    """
    combiner = combiner or "mean"
    if combiner not in ("mean", "sqrtn", "sum"):
        raise ValueError(f"combiner must be one of 'mean', 'sqrtn' or 'sum', got {combiner}")
    examples, ids = _examples(sp_ids, "sp_ids")
    weights = None
    if sp_weights is not None:
        if _is_sparse(sp_ids) != _is_sparse(sp_weights):
            raise TypeError("sp_weights must be either None or of the same type as sp_ids")
        weights = _examples(sp_weights, "sp_weights")[1]
    if weights is None:
        unique, ids = tf.unique(ids)
    else:
        unique = ids
    rows = embedding_lookup(params, unique, max_norm)
    low = rows.dtype in (float16, bfloat16)
    dtype = rows.dtype
    if low:
        rows = tf.cast(rows, float32)
    if weights is None:
        segment: Any = {
            "mean": tf.math.segment_mean,
            "sum": tf.math.segment_sum,
            "sqrtn": _segment_sqrt_n,
        }[combiner]
        found = segment(tf.gather(rows, ids), examples)
    else:
        found = _weighted(rows, weights, examples, combiner)
    return tf.cast(found, dtype) if low else found


def _is_sparse(value: Any) -> bool:
    return hasattr(value, "dense_shape") and hasattr(value, "indices")


def _examples(value: Any, name: str) -> tuple[Any, Any]:
    """The example of each value, in order, and the values."""
    if _is_sparse(value):
        return tf.cast(value.indices[:, 0], int32), value.values
    if hasattr(type(value), "value_rowids"):
        return tf.cast(value.value_rowids(), int32), value.values
    raise TypeError(f"{name} must be SparseTensor or RaggedTensor, got {type(value)}")


def _segment_sqrt_n(rows: Any, examples: Any) -> Any:
    counts = tf.math.segment_sum(tf.ones_like(examples, rows.dtype), examples)
    return realdiv(tf.math.segment_sum(rows, examples), tf.sqrt(_as_column(tf.maximum(counts, 1), rows)))


def _as_column(weights: Any, rows: Any) -> Any:
    """A number for each row, as it broadcasts against the rows."""
    return tf.reshape(weights, (-1, *[1] * (len(shape_of(rows)) - 1)))


def _weighted(rows: Any, weights: Any, examples: Any, combiner: str) -> Any:
    if weights.dtype is not rows.dtype:
        weights = tf.cast(weights, rows.dtype)
    total = tf.math.segment_sum(multiply(rows, _as_column(weights, rows)), examples)
    if combiner == "sum":
        return total
    if combiner == "mean":
        over = tf.math.segment_sum(weights, examples)
    else:
        over = tf.sqrt(tf.math.segment_sum(tf.square(weights), examples))
    return tf.math.divide_no_nan(total, _as_column(over, rows))


def safe_embedding_lookup_sparse(
    embedding_weights: Any,
    sparse_ids: Any,
    sparse_weights: Any = None,
    combiner: str = "mean",
    default_id: Any = None,
    max_norm: Any = None,
    name: str | None = None,
    allow_fast_lookup: bool = False,
) -> Any:
    """Looks up several rows of a table for each example, some of which may have none.

    Ids below 0 are left out, and so are (unless the combiner is "sum") those whose weights are not positive.

    Args:
        embedding_weights: the table; see `embedding_lookup`.
        sparse_ids: a sparse `[..., n]` (or ragged) of int32 or int64.
        sparse_weights: the weights of the rows, sparse like `sparse_ids`; or None.
        combiner: "mean", "sum" or "sqrtn".
        default_id: the row of examples without ids; None for zeros.
        max_norm: scales down rows whose Euclidean norm exceeds this; or None.
        allow_fast_lookup: not used.

    Returns:
        `[..., dimensions of a row]`.

    Raises:
        ValueError: there is no table, or the weights are of another dtype than the table.

    Example:
        >>> ids = tf.SparseTensor([[1, 0]], [1], [2, 1])
        >>> tf.nn.safe_embedding_lookup_sparse(tf.constant([[1.0], [3.0]]), ids).numpy().tolist()
        [[0.0], [3.0]]
    """
    if embedding_weights is None or (isinstance(embedding_weights, (list, tuple)) and not embedding_weights):
        raise ValueError(f"Missing embedding_weights {embedding_weights}.")
    if not _is_sparse(sparse_ids):
        sparse_ids = sparse_ids.to_sparse()
        sparse_weights = None if sparse_weights is None else sparse_weights.to_sparse()
    dims = tf.cast(sparse_ids.dense_shape, int32)
    shape = tuple([dims[i] if n is None else n for i, n in enumerate(sparse_ids.shape)])
    batch = math.prod(shape[:-1])
    indices, ids = sparse_ids.indices, sparse_ids.values
    weights = None if sparse_weights is None else sparse_weights.values
    examples = _row_numbers(indices, shape)
    keep = tf.greater_equal(ids, 0)
    if weights is not None and combiner != "sum":
        keep = tf.logical_and(keep, tf.greater(weights, 0))
    examples, ids = tf.boolean_mask(examples, keep), tf.boolean_mask(ids, keep)
    weights = None if weights is None else tf.boolean_mask(weights, keep)
    examples, ids, weights, empty = _with_every_example(examples, ids, weights, batch, default_id or 0)
    sparse = _Sparse(tf.expand_dims(examples, 1), ids, (batch, 1))
    sparse_w = None if weights is None else _Sparse(sparse.indices, weights, sparse.dense_shape)
    found = embedding_lookup_sparse(embedding_weights, sparse, sparse_w, combiner, max_norm)
    if default_id is None:
        found = tf.where(tf.reshape(empty, (-1, *[1] * (len(shape_of(found)) - 1))), tf.zeros_like(found), found)
    return tf.reshape(found, (*shape[:-1], *shape_of(found)[1:]))


class _Sparse:
    """Indices, values and a shape, where no checks of a sparse tensor are wanted."""

    def __init__(self, indices: Any, values: Any, dense_shape: Any) -> None:
        self.indices, self.values, self.dense_shape = indices, values, dense_shape


def _row_numbers(indices: Any, shape: tuple[Any, ...]) -> Any:
    """The number of the example of each index, with all dimensions but the last counted through."""
    number = indices[:, 0]
    for i in range(1, len(shape) - 1):
        number = tf.add(tf.multiply(number, tf.cast(shape[i], int64)), indices[:, i])
    return tf.cast(number, int64)


def _with_every_example(examples: Any, ids: Any, weights: Any, batch: Any, default: Any) -> tuple[Any, ...]:
    """The ids with the default one for each example that has none, and which examples these are."""
    counts = tf.math.unsorted_segment_sum(tf.ones_like(examples), examples, batch)
    empty = tf.equal(counts, 0)
    missing = tf.cast(tf.reshape(tf.where(empty), (-1,)), int64)
    all_examples = tf.concat([examples, missing], 0)
    order = tf.argsort(all_examples, stable=True)
    filled = tf.concat([ids, tf.fill(tf.shape(missing), tf.cast(default, ids.dtype))], 0)
    if weights is not None:
        weights = tf.gather(tf.concat([weights, tf.ones_like(missing, weights.dtype)], 0), order)
    return tf.gather(all_examples, order), tf.gather(filled, order), weights, empty
