"""Looking up rows of tables by their ids."""

from __future__ import annotations

import math
from typing import Any

from tapeflow.array import creation, properties, sorting
from tapeflow.array.concat_and_split import concat
from tapeflow.array.creation import fill, ones_like, zeros_like
from tapeflow.array.dynamic_partition import dynamic_partition, dynamic_stitch
from tapeflow.array.gathers import gather
from tapeflow.array.masks import boolean_mask, where
from tapeflow.array.reshapes import expand_dims, reshape
from tapeflow.array.sorting import argsort
from tapeflow.array.unranked import joined_dims
from tapeflow.core.autodiff.gradients import shape_of
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.static import static_shape
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.dtypes import bfloat16, float16, float32, int32, int64
from tapeflow.core.values.composite import CompositeTensor
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.tensor import EagerTensor, Tensor
from tapeflow.core.values.variable import Variable
from tapeflow.linalg.norms import clip_by_norm
from tapeflow.math.arithmetic import add, multiply, subtract
from tapeflow.math.casting import cast
from tapeflow.math.comparison import equal, greater, greater_equal, logical_and
from tapeflow.math.cumulative import cumprod
from tapeflow.math.division import divide_no_nan, floordiv, realdiv
from tapeflow.math.elementwise import sqrt, square
from tapeflow.math.extrema import maximum, minimum
from tapeflow.math.reduction import reduce_prod, reduce_sum
from tapeflow.math.segment import segment_mean, segment_sum, unsorted_segment_sum


def embedding_lookup(
    params: TensorLike, ids: TensorLike, max_norm: TensorLike | None = None, name: str | None = None
) -> Tensor:
    """Looks up rows of a table.

    Args:
        params: the table: a tensor or variable `[rows, ...]`, or a list of them: the parts of a table split along the
            rows as evenly as possible, the longer parts first.
        ids: an int32 or int64 tensor of any shape (or ragged): row numbers.
        max_norm: a scalar; scales down rows whose Euclidean norm exceeds this; or None.

    Returns:
        The rows, of shape `ids.shape + params.shape[1:]`. The gradient of a table is sparse.

    Raises:
        ValueError: there is no table.
        InvalidArgumentError: there is no such row.

    Example:
        >>> tf.nn.embedding_lookup(tf.constant([[1.0, 2.0], [3.0, 4.0]]), [1]).numpy().tolist()
        [[3.0, 4.0]]
    """
    if type(ids) is EagerTensor and max_norm is None and isinstance(params, (EagerTensor, Variable)):
        return gather(params, ids, name=name)
    if params is None or (isinstance(params, (list, tuple)) and not params):
        raise ValueError("params must be a table, or a list of at least one: Need at least one param.")
    if hasattr(type(ids), "flat_values"):  # ragged
        ragged: Any = ids
        return ragged.with_flat_values(embedding_lookup(params, ragged.flat_values, max_norm, name))
    indices = convert(ids)
    if isinstance(params, (list, tuple)):
        if len(params) > 1:
            return _from_parts([p if hasattr(p, "dtype") else convert(p) for p in params], indices, max_norm)
        params = params[0]
    return _clip_rows(gather(params, indices), max_norm, indices)


def _from_parts(parts: list[Any], ids: Tensor, max_norm: TensorLike | None) -> Any:
    """Looks up rows of a table in parts: gathers from each part, and puts the rows back in order."""
    flat = reshape(ids, (-1,))
    rows = sum(part.shape[0] for part in parts)
    share, longer = divmod(rows, len(parts))
    # The first `longer` parts have one row more than the others.
    by_longer = floordiv(flat, share + 1)
    by_others = floordiv(subtract(flat, longer), max(share, 1))
    part_of = maximum(by_longer, by_others)
    start = add(multiply(part_of, share), minimum(part_of, longer))
    within = dynamic_partition(subtract(flat, start), cast(part_of, int32), len(parts))
    places = dynamic_partition(creation.range(shape_of(flat)[0]), cast(part_of, int32), len(parts))
    rows_of_parts = [_clip_rows(gather(part, i), max_norm, i) for part, i in zip(parts, within, strict=True)]
    stitched = dynamic_stitch(places, rows_of_parts)
    return reshape(stitched, (*shape_of(ids), *shape_of(stitched)[1:]))


def _clip_rows(rows: Tensor, max_norm: TensorLike | None, ids: Tensor) -> Any:
    if max_norm is None:
        return rows
    if rows.shape.rank is None or ids.shape.rank is None:
        return clip_by_norm(rows, max_norm, creation.range(properties.rank(ids), properties.rank(rows)))
    return clip_by_norm(rows, max_norm, list(range(len(ids.shape), len(rows.shape))))


# ---- sparse ids ------------------------------------------------------------------------------------------------------


def embedding_lookup_sparse(
    params: TensorLike,
    sp_ids: CompositeTensor,
    sp_weights: CompositeTensor | None,
    combiner: str | None = None,
    max_norm: TensorLike | None = None,
    name: str | None = None,
    allow_fast_lookup: bool = False,
) -> Tensor:
    """Looks up several rows of a table for each example, and combines them.

    Args:
        params: the table: a tensor or variable `[rows, ...]`, or a list of parts; see `embedding_lookup`.
        sp_ids: a sparse `[batch, n]` (or ragged) of int32 or int64: the rows of each example, which has at least one.
        sp_weights: the weights of the rows, sparse (or ragged) like `sp_ids`; or None, for 1.
        combiner: "mean" (the default), "sum", or "sqrtn": the sum over the Euclidean norm of the weights.
        max_norm: a scalar; scales down rows whose Euclidean norm exceeds this; or None.
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
    combiner = "mean" if combiner is None else combiner
    if combiner not in ("mean", "sqrtn", "sum"):
        raise ValueError(f"combiner must be one of 'mean', 'sqrtn' or 'sum', got {combiner}")
    examples, ids = _example_ids(sp_ids, "sp_ids")
    weights = None
    if sp_weights is not None:
        if _is_sparse(sp_ids) != _is_sparse(sp_weights):
            raise TypeError("sp_weights must be either None or of the same type as sp_ids")
        weights = _example_ids(sp_weights, "sp_weights")[1]
    unique, ids = sorting.unique(ids) if weights is None else (ids, ids)
    rows = embedding_lookup(params, unique, max_norm)
    low = rows.dtype in (float16, bfloat16)
    dtype = rows.dtype
    if low:
        rows = cast(rows, float32)
    if weights is None:
        segment: Any = {"mean": segment_mean, "sum": segment_sum, "sqrtn": _segment_sqrt_n}[combiner]
        combined = segment(gather(rows, ids), examples)
    else:
        combined = _weight_rows(rows, weights, examples, combiner)
    return cast(combined, dtype) if low else combined


def _is_sparse(value: object) -> bool:
    return hasattr(value, "dense_shape") and hasattr(value, "indices")


def _example_ids(value: Any, name: str) -> tuple[Any, Any]:
    """Returns the example of each value, in order, and the values."""
    if _is_sparse(value):
        return cast(value.indices[:, 0], int32), value.values
    if hasattr(type(value), "value_rowids"):
        return cast(value.value_rowids(), int32), value.values
    raise TypeError(f"{name} must be SparseTensor or RaggedTensor, got {type(value)}")


def _segment_sqrt_n(rows: Tensor, examples: Tensor) -> Any:
    counts = segment_sum(ones_like(examples, rows.dtype), examples)
    return realdiv(segment_sum(rows, examples), sqrt(_as_column(maximum(counts, 1), rows)))


def _as_column(weights: Tensor, rows: Tensor) -> Any:
    """Reshapes a vector with a number per row to broadcast against the rows."""
    if rows.shape.rank is None:
        return reshape(weights, joined_dims([-1], ones_like(properties.shape(rows)[1:])))
    return reshape(weights, (-1, *[1] * (len(rows.shape) - 1)))


def _weight_rows(rows: Tensor, weights: Tensor, examples: Tensor, combiner: str) -> Any:
    weights = cast(weights, rows.dtype)
    total = segment_sum(multiply(rows, _as_column(weights, rows)), examples)
    if combiner == "sum":
        return total
    over = segment_sum(weights, examples) if combiner == "mean" else sqrt(segment_sum(square(weights), examples))
    return divide_no_nan(total, _as_column(over, rows))


def safe_embedding_lookup_sparse(
    embedding_weights: TensorLike,
    sparse_ids: CompositeTensor,
    sparse_weights: CompositeTensor | None = None,
    combiner: str = "mean",
    default_id: TensorLike | None = None,
    max_norm: TensorLike | None = None,
    name: str | None = None,
    allow_fast_lookup: bool = False,
) -> Tensor:
    """Looks up rows of a table for each example. An example may have several rows, or none.

    Ids below 0 are left out, and so are (unless the combiner is "sum") those whose weights are not positive.

    Args:
        embedding_weights: the table: a tensor or variable `[rows, ...]`, or a list of parts; see `embedding_lookup`.
        sparse_ids: a sparse `[..., n]` (or ragged) of int32 or int64.
        sparse_weights: the weights of the rows, sparse like `sparse_ids`; or None.
        combiner: "mean", "sum" or "sqrtn"; "mean" by default.
        default_id: the row of examples without ids; None for zeros.
        max_norm: a scalar; scales down rows whose Euclidean norm exceeds this; or None.
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
    by_example: Any = sparse_ids
    with_weights: Any = sparse_weights
    if not _is_sparse(by_example):
        by_example = by_example.to_sparse()
        with_weights = None if with_weights is None else with_weights.to_sparse()
    dims = cast(by_example.dense_shape, int32)
    unranked = by_example.shape.rank is None
    shape: Any = ()
    if not unranked:
        lengths = static_shape(by_example.dense_shape)  # like TensorFlow, without lengths that only a spec has
        shape = tuple([dims[i] if n is None else n for i, n in enumerate(lengths)])
    batch = reduce_prod(dims[:-1]) if unranked else math.prod(shape[:-1])
    indices, ids = by_example.indices, by_example.values
    weights = None if with_weights is None else with_weights.values
    examples = _row_numbers_of_any_rank(indices, dims) if unranked else _row_numbers(indices, shape)
    keep = greater_equal(ids, 0)
    if weights is not None and combiner != "sum":
        keep = logical_and(keep, greater(weights, 0))
    examples, ids = boolean_mask(examples, keep), boolean_mask(ids, keep)
    weights = None if weights is None else boolean_mask(weights, keep)
    examples, ids, weights, empty = _with_every_example(examples, ids, weights, batch, default_id or 0)
    sp_ids: Any = _Sparse(expand_dims(examples, 1), ids, (batch, 1))
    sp_weights: Any = None if weights is None else _Sparse(sp_ids.indices, weights, sp_ids.dense_shape)
    rows = embedding_lookup_sparse(embedding_weights, sp_ids, sp_weights, combiner, max_norm)
    if default_id is None:
        rows = where(_as_column(empty, rows), zeros_like(rows), rows)
    if unranked or rows.shape.rank is None or isinstance(dims, SymbolicTensor):
        return reshape(rows, joined_dims(dims[:-1], properties.shape(rows)[1:]))
    return reshape(rows, (*shape[:-1], *shape_of(rows)[1:]))


class _Sparse:
    """Indices, values and a shape, without the checks of a sparse tensor."""

    def __init__(self, indices: Tensor, values: Tensor, dense_shape: tuple[Tensor | int, ...]) -> None:
        self.indices, self.values, self.dense_shape = indices, values, dense_shape


def _row_numbers_of_any_rank(indices: Any, dims: Any) -> Any:
    """Computes the numbers of `_row_numbers` if the rank is not static."""
    steps = cumprod(cast(dims[:-1], int64), exclusive=True, reverse=True)
    return reduce_sum(multiply(indices[:, :-1], steps), 1)


def _row_numbers(indices: Tensor, shape: tuple[Any, ...]) -> Any:
    """Computes the number of each index's example, over all dimensions but the last."""
    number = indices[:, 0]
    for i in range(1, len(shape) - 1):
        number = add(multiply(number, cast(shape[i], int64)), indices[:, i])
    return cast(number, int64)


def _with_every_example(
    examples: Tensor, ids: Tensor, weights: Tensor | None, batch: Tensor | int, default: TensorLike
) -> tuple[Any, ...]:
    """Adds the default id for each example that has none; also tells which examples these are."""
    counts = unsorted_segment_sum(ones_like(examples), examples, batch)
    empty = equal(counts, 0)
    missing = cast(reshape(where(empty), (-1,)), int64)
    all_examples = concat([examples, missing], 0)
    order = argsort(all_examples, stable=True)
    filled = concat([ids, fill(properties.shape(missing), cast(default, ids.dtype))], 0)
    if weights is not None:
        weights = gather(concat([weights, ones_like(missing, weights.dtype)], 0), order)
    return gather(all_examples, order), gather(filled, order), weights, empty
