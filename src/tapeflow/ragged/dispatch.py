"""Ops on ragged tensors.

An op that works element by element is applied to the flat values, after broadcasting if it takes several tensors.
Others have a handler here.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tapeflow.array.concat_and_split import concat, split_op, split_sizes, stack, tile, unstack
from tapeflow.array.dynamic_partition import dynamic_partition
from tapeflow.array.gathers import gather_nd_op, gather_v2
from tapeflow.array.masks import boolean_mask, where_op
from tapeflow.array.padding import reverse
from tapeflow.array.properties import rank, shape_op, size_op
from tapeflow.array.ranges import one_hot_op
from tapeflow.array.reshapes import expand_dims, reshape, squeeze
from tapeflow.core.context import state
from tapeflow.core.ops.convert import convert, host_value
from tapeflow.core.ops.definition import Op
from tapeflow.core.ops.static import host_static
from tapeflow.core.types.aliases import AxisLike, TensorLike
from tapeflow.core.types.dtypes import bool_, int32, string
from tapeflow.core.values.tensor import Tensor, invalid
from tapeflow.io.encodings import decode_padded_raw, decode_raw_op
from tapeflow.linalg.products import batch_matmul, matmul_op
from tapeflow.math.arithmetic import add_n_op
from tapeflow.math.casting import bitcast, cast
from tapeflow.math.cumulative import cumsum
from tapeflow.math.division import realdiv, truediv
from tapeflow.math.elementwise import exp
from tapeflow.math.reduction import reduce_all, reduce_any, reduce_max, reduce_mean, reduce_min, reduce_prod, reduce_sum
from tapeflow.math.segment import (
    unsorted_segment_max,
    unsorted_segment_min,
    unsorted_segment_prod,
    unsorted_segment_sum,
)
from tapeflow.nn.softmaxes import softmax_op
from tapeflow.ragged import broadcasting, concat_and_stack, products, reductions
from tapeflow.ragged.dynamic_shape import DynamicRaggedShape
from tapeflow.ragged.ragged_ops import stack_dynamic_partitions
from tapeflow.ragged.row_partition import tensor_of
from tapeflow.ragged.tensor import RaggedTensor, methods
from tapeflow.strings.join_and_ngrams import reduce_joined, string_join, unsorted_segment_join

Handler = Callable[..., Any]
_handlers: dict[str, Handler] = {}  # by the names of ops


def handles(*functions: Any) -> Callable[[Handler], Handler]:
    """Declares how ops are computed for ragged tensors: by a function of the same arguments, which may return
    `NotImplemented`.

    Args:
        *functions: the ops, as functions.
    """

    def decorate(handler: Handler) -> Handler:
        for function in functions:
            _handlers[function.op.name] = handler
        return handler

    return decorate


def dispatch(function: Any, args: tuple[Any, ...]) -> Any:
    """Returns the result of an op for arguments with ragged tensors, or NotImplemented.

    Args:
        function: the op, as a function.
        args: its arguments, in the order of the parameters.
    """
    op = function.op
    if not any(_has_ragged(arg) for kind, arg in zip(op.kinds, args, strict=True) if kind in ("tensor", "list")):
        return NotImplemented  # as an axis, say, none can stand
    handler = _handlers.get(op.name)
    if handler is not None:
        return handler(*args)
    if op.elementwise:
        return _apply_elementwise(function, args)
    if isinstance(args[0], RaggedTensor) and args[0].dtype is string and op in _decoding_ops():
        return _on_flat_values(function, *args)
    return NotImplemented


def _has_ragged(arg: object) -> bool:
    return isinstance(arg, RaggedTensor) or (
        isinstance(arg, (list, tuple)) and any(isinstance(item, RaggedTensor) for item in arg)
    )


def _apply_elementwise(function: Any, args: tuple[Any, ...]) -> Any:
    """Applies an elementwise op to the flat values, after broadcasting if it takes several tensors."""
    op = function.op
    tensors, statics = op.tensors(args), op.statics(args)
    if not any(isinstance(t, RaggedTensor) for t in tensors):
        return NotImplemented
    if len(tensors) == 1:
        return _on_flat_values(function, tensors[0], *statics)
    return broadcasting.apply(lambda *flat: function(*op.with_tensors(flat, statics)), tensors)


def _on_flat_values(function: Callable[..., Any], x: RaggedTensor, *others: Any) -> RaggedTensor:
    return x.with_flat_values(function(x.flat_values, *others))


@functools.cache
def _decoding_ops() -> frozenset[Op]:
    """Returns the ops that append a dimension to the shape of their strings. They load on first use, because
    `tapeflow.io` takes as long to load as the rest of `tapeflow.ragged`."""
    from tapeflow.io.encodings import decode_raw  # noqa: F401

    return frozenset({decode_raw_op.op, decode_padded_raw.op})


# ---- handlers --------------------------------------------------------------------------------------------------------


handles(add_n_op)(functools.partial(functools.reduce, operator.add))
handles(bitcast)(functools.partial(_on_flat_values, bitcast))
handles(concat)(concat_and_stack.concat)
handles(expand_dims)(concat_and_stack.expand_dims)
handles(gather_v2)(concat_and_stack.gather)
handles(matmul_op, batch_matmul)(products.matmul)
handles(rank)(lambda x: tensor_of(len(x.shape), int32))
handles(realdiv)(lambda x, y: broadcasting.apply(truediv, [x, y]))  # the operator's: integers become floats
handles(reshape)(lambda x, shape: reshape(x.flat_values, shape))
handles(shape_op)(DynamicRaggedShape.from_tensor)
handles(size_op)(lambda x, out_type: size_op(x.flat_values, out_type))
handles(split_op)(lambda axis, value, num_split: concat_and_stack.split(value, num_split, axis))
handles(stack)(concat_and_stack.stack)


@handles(gather_nd_op)
def _(params: TensorLike, indices: TensorLike, bad_indices_policy: str = "") -> Any:
    return concat_and_stack.gather_nd(params, indices) if isinstance(params, RaggedTensor) else NotImplemented


@handles(reverse)
def _(x: RaggedTensor, axis: AxisLike) -> Any:
    rank = len(x.shape)
    if not isinstance(axis, (list, tuple)) or not all(isinstance(a, int) for a in axis):
        raise TypeError("`axis` must be a list of int or a constant tensor when reversing axes in a ragged tensor")
    for i, a in enumerate(axis):
        if not -rank <= a < rank:
            raise ValueError(f"axis[{i}]={a} out of bounds: expected {-rank}<=axis[{i}]<{rank}")
    axes = {a % rank for a in axis}
    return x[tuple(slice(None, None, -1) if d in axes else slice(None) for d in range(len(x.shape)))]


@handles(split_sizes)
def _(value: RaggedTensor, size_splits: Tensor | Sequence[Any], axis: int, num_split: int) -> Any:
    if len(size_splits) != num_split:
        raise ValueError(f"`num` is {num_split}, but there are {len(size_splits)} lengths.")
    sizes = unstack(size_splits, num_split) if isinstance(size_splits, Tensor) else list(size_splits)
    return concat_and_stack.split(value, sizes, axis)


@handles(tile)
def _(x: RaggedTensor, multiples: TensorLike) -> Any:
    rank, counts = len(x.shape), host_static(host_value(multiples))
    counts = [None] * rank if isinstance(counts, Tensor) else counts
    if np.ndim(counts) != 1:
        raise ValueError(f"The shape of `multiples`, {np.shape(counts)}, must have rank 1")
    if len(counts) != rank:
        wrong = invalid if state.graph is None else ValueError
        raise wrong(f"Expected multiples argument to be a vector of length {rank} but got length {len(counts)}")
    given = unstack(multiples, rank) if None in counts else counts
    return concat_and_stack.tile(x, [given[i] if n is None else n for i, n in enumerate(counts)])


@handles(squeeze)
def _(x: RaggedTensor, axis: Any = ()) -> Any:
    for a in sorted({int(a) % len(x.shape) for a in np.ravel(axis)}, reverse=True):
        x = concat_and_stack.squeeze(x, a)
    return x


@handles(where_op)
def _(x: RaggedTensor) -> Any:
    entries = x.to_sparse()
    return boolean_mask(entries.indices, cast(entries.values, bool_))


@handles(string_join)
def _(inputs: Sequence[Any], separator: str = "") -> Any:
    return broadcasting.apply(lambda *flat: string_join(list(flat), separator), inputs)


@handles(reduce_joined)
def _join_rows(x: RaggedTensor, axis: Any, keepdims: bool = False, separator: str = "") -> Any:
    """Joins the strings of each row."""
    axes = sorted({int(a) % len(x.shape) for a in np.ravel(axis)}, reverse=True)  # the inner ones first
    if len(axes) > 1:
        for a in axes:
            x = reduce_joined(x, a, keepdims, separator)
        return x
    (a,) = axes
    if a == 0:
        partition = x._row_partition
        joined = unsorted_segment_join(x.values, partition.offsets_in_rows(), partition.longest(), separator)
        return concat_and_stack.expand_dims(joined, 0) if keepdims else joined
    if a > 1:
        join = _join_rows if isinstance(x.values, RaggedTensor) else reduce_joined
        return x.with_values(join(x.values, a - 1, keepdims, separator))
    joined = unsorted_segment_join(x.values, x.value_rowids(), x.nrows(), separator)
    return concat_and_stack.expand_dims(joined, 1) if keepdims else joined


@handles(one_hot_op)
def _(indices: RaggedTensor, depth: TensorLike, on: TensorLike, off: TensorLike, axis: int = -1) -> Any:
    if axis != -1 and axis != len(indices.shape):
        raise invalid(f"one_hot of a RaggedTensor takes axis=-1, not {axis}")
    return _on_flat_values(one_hot_op, indices, depth, on, off, -1)


@handles(softmax_op)
def _(logits: RaggedTensor) -> Any:
    powers = exp(logits - reductions.reduce(reduce_max, logits, -1, True))
    return powers / reductions.reduce(reduce_sum, powers, -1, True)


for _reduction in (reduce_all, reduce_any, reduce_max, reduce_mean, reduce_min, reduce_prod, reduce_sum):
    handles(_reduction)(functools.partial(reductions.reduce, _reduction))


def _combine_segments(function: Callable[..., Any], data: Any, segment_ids: Any, num_segments: TensorLike) -> Any:
    while isinstance(segment_ids, RaggedTensor):
        data, segment_ids = data.values, segment_ids.values
    return reductions.segments(function, data, convert(segment_ids), num_segments)


for _combine in (unsorted_segment_max, unsorted_segment_min, unsorted_segment_prod, unsorted_segment_sum):
    handles(_combine)(functools.partial(_combine_segments, _combine))


@handles(cumsum)
def _(x: RaggedTensor, axis: Tensor | int = 0, exclusive: bool = False, reverse: bool = False) -> Any:
    """Sums along the padded rows; the padding is left out again."""
    padded = cumsum(x.to_tensor(), axis, exclusive, reverse)
    return RaggedTensor.from_tensor(padded, lengths=list(x.nested_row_lengths()), row_splits_dtype=x.row_splits.dtype)


@handles(dynamic_partition)
def _(data: TensorLike, partitions: TensorLike, num_partitions: int) -> Any:
    rows = stack_dynamic_partitions(data, partitions, num_partitions)
    return [rows[i] for i in range(num_partitions)]


methods.dispatch = dispatch
