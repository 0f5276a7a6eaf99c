"""ATen's functions as this library's ops: the table that captured modules are translated by.

A function takes the arguments of its overload, with tensors of the graph for torch's; it returns a tensor or a list of
them, or NotImplemented where the overload itself has to be called (`aten.py`). Images are transposed to channels last
for the functions under `IMAGES`, and stay so through those under `ANY_LAYOUT`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch

from tapeflow.array.concat_and_split import concat_v2, pack_op, split_sizes
from tapeflow.array.creation import fill_op, range_op, zeros_like
from tapeflow.array.gathers import gather_v2
from tapeflow.array.identities import stop_gradient
from tapeflow.array.masks import select_v2
from tapeflow.array.properties import shape_op
from tapeflow.array.reshapes import broadcast_to, expand_dims, reshape, squeeze_op, transpose_op
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.definition import ops
from tapeflow.core.types.dtypes import FROM_TORCH, int32
from tapeflow.core.values.tensor import Tensor
from tapeflow.linalg.diagonals import band_part
from tapeflow.linalg.products import batch_matmul, matmul_op
from tapeflow.math.arithmetic import add, multiply, negative, subtract
from tapeflow.math.casting import cast_op
from tapeflow.math.comparison import equal, greater, greater_equal, less, less_equal, logical_not, not_equal
from tapeflow.math.division import div_op, floormod, realdiv, reciprocal
from tapeflow.math.elementwise import abs_op, exp, expm1, log, log1p, rsqrt, sign_op, sqrt, square
from tapeflow.math.elementwise import pow as pow_op
from tapeflow.math.error_functions import erf
from tapeflow.math.extrema import clip_by_value_op, maximum, minimum
from tapeflow.math.rounding import ceil as ceil_op
from tapeflow.math.rounding import floor, rint
from tapeflow.math.sigmoid import sigmoid, tanh
from tapeflow.math.trigonometric import cos, sin
from tapeflow.nn.activations import elu, leaky_relu_op, relu, relu6
from tapeflow.nn.batch_norm import fused_batch_norm
from tapeflow.nn.bias import bias_add_op
from tapeflow.nn.conv import conv2_d
from tapeflow.nn.dropouts import dropout
from tapeflow.nn.max_pooling import max_pool_op
from tapeflow.nn.softmaxes import log_softmax_op, softmax_op
from tapeflow.torch.aten import aten, call_of

A = torch.ops.aten
Function = Callable[..., Any]

TABLE: dict[Any, Function] = {
    A.relu.default: relu, A.tanh.default: tanh, A.sigmoid.default: sigmoid, A.exp.default: exp,
    A.log.default: log, A.log1p.default: log1p, A.expm1.default: expm1, A.sqrt.default: sqrt,
    A.rsqrt.default: rsqrt, A.neg.default: negative, A.abs.default: abs_op, A.sin.default: sin,
    A.cos.default: cos, A.erf.default: erf, A.floor.default: floor, A.ceil.default: ceil_op,
    A.round.default: rint, A.sign.default: sign_op, A.reciprocal.default: reciprocal,
    A.square.default: square, A.logical_not.default: logical_not, A.relu6.default: relu6,
    A.silu.default: lambda x: multiply(x, sigmoid(x)),
    A.hardtanh.default: lambda x, low=-1.0, high=1.0: clip_by_value_op(x, low, high),
    A.leaky_relu.default: lambda x, slope=0.01: leaky_relu_op(x, slope),
    A.elu.default: lambda x, alpha=1.0, *rest: elu(x) if (alpha, *rest) == (1.0,) else NotImplemented,
    A.hardsigmoid.default: lambda x: div_op(relu6(add(x, 3.0)), 6.0),
    A.hardswish.default: lambda x: multiply(x, div_op(relu6(add(x, 3.0)), 6.0)),
    A.clone.default: lambda x, memory_format=None: x, A.contiguous.default: lambda x, memory_format=None: x,
    A.alias.default: lambda x: x, A.lift_fresh_copy.default: lambda x: x, A.detach.default: stop_gradient,
    A.mm.default: matmul_op, A.bmm.default: batch_matmul,
    A.addmm.default: lambda bias, x, y: add(matmul_op(x, y), bias),
    A.permute.default: transpose_op, A.unsqueeze.default: expand_dims,
    A.squeeze.dim: lambda x, dim: _squeeze_dims(x, [dim]), A.squeeze.dims: lambda x, dims: _squeeze_dims(x, dims),
    A.stack.default: lambda tensors, dim=0: pack_op(tensors, dim),
    A.cat.default: lambda tensors, dim=0: concat_v2(tensors, dim) if len(tensors) > 1 else tensors[0],
    A.where.self: select_v2, A.embedding.default: lambda weight, ids, *_: gather_v2(weight, ids, 0),
    A.index_select.default: lambda x, dim, index: gather_v2(x, index, dim),
    A.amax.default: lambda x, dims=(), keep=False: ops.Max(x, _reduced_axes(x, dims), keep),
    A.amin.default: lambda x, dims=(), keep=False: ops.Min(x, _reduced_axes(x, dims), keep),
    A.zeros_like.default: lambda x, **_: zeros_like(x),
    A.softmax.int: lambda x, dim, dtype=None: _on_last(softmax_op, x, dim, dtype),
    A._softmax.default: lambda x, dim, to_float: _on_last(softmax_op, x, dim, None),
    A.log_softmax.int: lambda x, dim, dtype=None: _on_last(log_softmax_op, x, dim, dtype),
    A._log_softmax.default: lambda x, dim, to_float: _on_last(log_softmax_op, x, dim, None),
    A.dropout.default: lambda x, p, train: dropout(x, p) if train else x,
    A.native_dropout.default: lambda x, p, train: [dropout(x, p) if train else x],
    A.t.default: lambda x: transpose_op(x, [1, 0]) if x.shape.rank == 2 else x,
    A.arange.default: lambda end, **named: _arange_from(0, end, **named),
    A.masked_fill.Scalar: lambda x, mask, value: select_v2(mask, cast_op(convert(value), x.dtype), x),
    **dict.fromkeys((A.to.dtype, A._to_copy.default), lambda x, dtype=None, *_, **__: _cast_to(x, dtype)),
    **dict.fromkeys((A.view.default, A.reshape.default, A._unsafe_view.default),
                    lambda x, size: reshape(x, shape_of(size))),
}  # fmt: skip


def _scale_operand(y: Any, alpha: float) -> Any:
    """Returns `alpha * y`. A number stays a number, which takes the dtype of the other operand."""
    return y if alpha == 1 else multiply(y, alpha) if isinstance(y, Tensor) else y * alpha


# Functions of two tensors or numbers, which torch brings to one dtype first.
ARITHMETIC: dict[Any, Function] = {
    A.add.Tensor: lambda x, y, alpha=1: add(x, _scale_operand(y, alpha)),
    A.sub.Tensor: lambda x, y, alpha=1: subtract(x, _scale_operand(y, alpha)),
    A.rsub.Scalar: lambda x, y, alpha=1: subtract(y, x) if alpha == 1 else NotImplemented,
    A.mul.Tensor: multiply, A.div.Tensor: realdiv, A.maximum.default: maximum, A.minimum.default: minimum,
    A.pow.Tensor_Scalar: lambda x, y: square(x) if y == 2 else pow_op(x, y), A.pow.Tensor_Tensor: pow_op,
    A.eq.Tensor: equal, A.eq.Scalar: equal, A.ne.Tensor: not_equal, A.ne.Scalar: not_equal,
    A.lt.Tensor: less, A.lt.Scalar: less, A.le.Tensor: less_equal, A.le.Scalar: less_equal,
    A.gt.Tensor: greater, A.gt.Scalar: greater, A.ge.Tensor: greater_equal, A.ge.Scalar: greater_equal,
}  # fmt: skip
ARITHMETIC |= {A.add.Scalar: ARITHMETIC[A.add.Tensor], A.sub.Scalar: ARITHMETIC[A.sub.Tensor]}
ARITHMETIC |= {A.mul.Scalar: multiply, A.div.Scalar: realdiv}
TABLE |= ARITHMETIC

IMAGES: dict[Any, Function] = {}
ANY_LAYOUT = frozenset(
    {
        *ARITHMETIC, A.relu.default, A.tanh.default, A.sigmoid.default, A.relu6.default, A.silu.default,
        A.hardtanh.default, A.leaky_relu.default, A.elu.default, A.hardsigmoid.default, A.hardswish.default,
        A.clone.default, A.contiguous.default, A.alias.default, A.dropout.default, A.native_dropout.default,
        A.detach.default,
    }
)  # fmt: skip


def _enter_function(*overloads: Any, table: dict[Any, Function] = TABLE) -> Callable[[Function], Function]:
    """Enters a function into the table."""

    def enter(function: Function) -> Function:
        table.update(dict.fromkeys(overloads, function))
        return function

    return enter


def sizes(x: Tensor) -> list[Any]:
    """Returns the sizes of a tensor's dimensions: numbers, and scalar tensors for those that are not static."""
    static = x.shape.as_list()
    if None not in static:
        return static
    dynamic = shape_op(x)
    return [dynamic[i] if d is None else d for i, d in enumerate(static)]


def shape_of(dims: Sequence[Any]) -> Any:
    """Returns a shape from numbers and scalar tensors."""
    if all(isinstance(d, int) for d in dims):
        return list(dims)
    return pack_op([convert(d, int32) if isinstance(d, int) else cast_op(d, int32) for d in dims])


def _reduced_axes(x: Tensor, dims: Sequence[int] | None) -> list[int]:
    return list(dims) if dims else list(range(x.shape.rank))


def _squeeze_dims(x: Tensor, dims: Sequence[int]) -> Any:
    ones = [d for d in dims if x.shape[d] == 1]
    return squeeze_op(x, ones) if ones else x


def _cast_to(x: Tensor, dtype: torch.dtype | None) -> Any:
    return x if dtype is None else cast_op(x, FROM_TORCH[dtype])


def _on_last(function: Function, x: Tensor, dim: int, dtype: torch.dtype | None) -> Any:
    """Computes a function of the last dimension along another one."""
    x, rank = _cast_to(x, dtype), x.shape.rank
    if dim % max(rank, 1) == rank - 1:
        return function(x)
    perm = list(range(rank))
    perm[dim], perm[-1] = perm[-1], perm[dim]
    return transpose_op(function(transpose_op(x, perm)), perm)


@_enter_function(A.flatten.using_ints)
def _lower_flatten(x: Tensor, start: int = 0, end: int = -1) -> Any:
    dims, rank = sizes(x), x.shape.rank
    start, end = start % rank, end % rank
    inner = dims[start : end + 1]
    joined = math.prod(inner) if all(isinstance(d, int) for d in inner) else -1
    if joined == -1 and not all(isinstance(d, int) for d in dims[:start] + dims[end + 1 :]):
        joined = ops.Prod(shape_of(inner), [0])
    return reshape(x, shape_of([*dims[:start], joined, *dims[end + 1 :]]))


@_enter_function(A.expand.default)
def _lower_expand(x: Tensor, size: Sequence[Any], implicit: bool = False) -> Any:
    missing = len(size) - x.shape.rank
    own = [None] * missing + sizes(x)
    return broadcast_to(
        x, shape_of([o if isinstance(s, int) and s == -1 else s for s, o in zip(size, own, strict=True)])
    )


@_enter_function(A.transpose.int)
def _lower_transpose(x: Tensor, first: int, second: int) -> Any:
    perm = list(range(x.shape.rank))
    perm[first], perm[second] = perm[second], perm[first]
    return transpose_op(x, perm)


@_enter_function(A.select.int)
def _lower_select(x: Tensor, dim: int, index: Tensor) -> Any:
    return x[(slice(None),) * (dim % x.shape.rank) + (index,)]


@_enter_function(A.slice.Tensor)
def _lower_slice(x: Tensor, dim: int = 0, start: Any = None, end: Any = None, step: int = 1) -> Any:
    end = None if isinstance(end, int) and end >= 2**31 - 1 else end
    return x[(slice(None),) * (dim % x.shape.rank) + (slice(start or None, end, step),)]


@_enter_function(A.split.Tensor, A.split_with_sizes.default)
def _lower_split(x: Tensor, parts: Any, dim: int = 0) -> Any:
    whole = x.shape[dim]
    if isinstance(parts, int) and whole is not None:
        parts = [min(parts, whole - begin) for begin in range(0, whole, parts)]
    return split_sizes(x, parts, dim, len(parts)) if isinstance(parts, (list, tuple)) else NotImplemented


@_enter_function(A.mean.default, A.mean.dim)
def _lower_mean(
    x: Tensor, dims: Sequence[int] | None = None, keep: bool = False, dtype: torch.dtype | None = None
) -> Any:
    return ops.Mean(_cast_to(x, dtype), _reduced_axes(x, dims), keep)


@_enter_function(A.sum.default, A.sum.dim_IntList)
def _lower_sum(
    x: Tensor, dims: Sequence[int] | None = None, keep: bool = False, dtype: torch.dtype | None = None
) -> Any:
    if dtype is None and not x.dtype.is_floating and not x.dtype.is_complex:
        dtype = torch.int64
    return ops.Sum(_cast_to(x, dtype), _reduced_axes(x, dims), keep)


@_enter_function(A.arange.start, A.arange.start_step)
def _arange_from(start: Any, end: Any, step: Any = 1, dtype: torch.dtype | None = None, **_: Any) -> Any:
    bounds = (start, end, step)
    if any(isinstance(b, float) for b in bounds):
        return NotImplemented
    own = FROM_TORCH[dtype or torch.int64]
    return range_op(*[cast_op(b, own) if isinstance(b, Tensor) else convert(b, own) for b in bounds])


@_enter_function(A.matmul.default)
def _lower_matmul(x: Tensor, y: Tensor) -> Any:
    if x.shape.rank == 2 and y.shape.rank == 2:
        return matmul_op(x, y)
    return batch_matmul(x, y) if min(x.shape.rank, y.shape.rank) > 1 else NotImplemented


@_enter_function(A.linear.default)
def _lower_linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Any:
    if x.shape.rank < 2:
        return NotImplemented
    rows = x if x.shape.rank == 2 else reshape(x, [-1, x.shape[-1]])
    y = matmul_op(rows, weight, False, True)
    if bias is not None:
        y = bias_add_op(y, bias)
    return y if x.shape.rank == 2 else reshape(y, shape_of([*sizes(x)[:-1], weight.shape[0]]))


# ---- images, with channels last --------------------------------------------------------------------------------------


@_enter_function(A.conv2d.default, table=IMAGES)
def _lower_conv2d(
    x: Any, weight: Any, bias: Any = None, stride: Any = (1, 1), padding: Any = (0, 0), dilation: Any = (1, 1),
    groups: int = 1,
) -> Any:  # fmt: skip
    if any(len(v) != 2 for v in (stride, padding, dilation)):
        return NotImplemented
    explicit = [0, 0, padding[0], padding[0], padding[1], padding[1], 0, 0]
    kind, explicit = ("EXPLICIT", explicit) if any(padding) else ("VALID", [])
    filters = transpose_op(weight, [2, 3, 1, 0])
    y = conv2_d(x, filters, [1, *stride, 1], kind, explicit, "NHWC", [1, *dilation, 1])
    return y if bias is None else bias_add_op(y, bias)


@_enter_function(A.max_pool2d.default, table=IMAGES)
def _max_pool2d(
    x: Any, size: Any, stride: Any = (), padding: Any = (0, 0), dilation: Any = (1, 1), ceil: bool = False
) -> Any:
    if ceil or any(d != 1 for d in dilation) or any(padding) or len(size) != 2:
        return NotImplemented
    return max_pool_op(x, [1, *size, 1], [1, *(stride or size), 1], "VALID")


@_enter_function(A.adaptive_avg_pool2d.default, table=IMAGES)
def _adaptive_avg_pool2d(x: Tensor, size: Sequence[int]) -> Any:
    return ops.Mean(x, [1, 2], True) if list(size) == [1, 1] else NotImplemented


@_enter_function(A._native_batch_norm_legit_no_training.default, table=IMAGES)
def _lower_batch_norm(
    x: Tensor, scale: Any, offset: Any, mean: Any, variance: Any, momentum: float, epsilon: float
) -> Any:
    if x.shape.rank != 4 or scale is None or offset is None:
        return NotImplemented
    return [fused_batch_norm(x, scale, offset, mean, variance, epsilon, 1.0, "NHWC", False)[0]]


@_enter_function(A._native_batch_norm_legit_functional.default, table=IMAGES)
def _batch_normalized(
    x: Tensor, scale: Any, offset: Any, mean: Any, variance: Any, training: bool, momentum: float, epsilon: float
) -> Any:
    if x.shape.rank != 4 or scale is None or offset is None or not training:
        return NotImplemented
    y, new_mean, new_variance, *_ = fused_batch_norm(x, scale, offset, mean, variance, epsilon, momentum)
    return [y, None, None, new_mean, new_variance]


@_enter_function(A.batch_norm.default, table=IMAGES)
def _batch_norm(x: Tensor, *args: Any) -> Any:
    *vectors, training, momentum, epsilon, _ = args
    result = NotImplemented if training else _lower_batch_norm(x, *vectors, momentum, epsilon)
    return result if result is NotImplemented else result[0]


# ---- one kernel here, several operations in TensorFlow --------------------------------------------------------------

DECOMPOSED: dict[Any, Function] = {}


@_enter_function(A.gelu.default, table=DECOMPOSED)
def _lower_gelu(x: Tensor, approximate: str = "none") -> Any:
    if approximate == "tanh":
        inner = multiply(add(x, multiply(multiply(multiply(x, x), x), 0.044715)), math.sqrt(2 / math.pi))
        return multiply(multiply(x, 0.5), add(tanh(inner), 1.0))
    return multiply(multiply(x, 0.5), add(erf(multiply(x, math.sqrt(0.5))), 1.0))


@_enter_function(A.layer_norm.default, table=DECOMPOSED)
def _layer_norm(
    x: Tensor, dims: Sequence[int], scale: Any = None, offset: Any = None, epsilon: float = 1e-5, *_: Any
) -> Any:
    axes = list(range(-len(dims), 0))
    centered = subtract(x, ops.Mean(x, axes, True))
    y = multiply(centered, rsqrt(add(ops.Mean(square(centered), axes, True), epsilon)))
    y = y if scale is None else multiply(y, scale)
    return y if offset is None else add(y, offset)


@_enter_function(A.index.Tensor, table=DECOMPOSED)
def _lower_index(x: Tensor, indices: Sequence[Any]) -> Any:
    """Gathers along one dimension. ATen's indices may be negative, TensorFlow's may not, so they are wrapped."""
    axes = [i for i, index in enumerate(indices) if index is not None]
    if len(axes) != 1 or indices[axes[0]].dtype.is_bool:
        return NotImplemented
    return gather_v2(x, floormod(indices[axes[0]], cast_op(shape_op(x)[axes[0]], indices[axes[0]].dtype)), axes[0])


@_enter_function(A.scaled_dot_product_attention.default, table=DECOMPOSED)
def _lower_attention(
    query: Any, key: Any, value: Tensor, mask: Tensor | None = None, dropout_p: float = 0.0, is_causal: bool = False,
    scale: float | None = None, enable_gqa: bool = False,
) -> Any:  # fmt: skip
    scores = batch_matmul(query, key, False, True)
    scores = multiply(scores, query.shape[-1] ** -0.5 if scale is None else scale)
    low = cast_op(convert(-math.inf), scores.dtype)
    if is_causal:
        ones = fill_op(shape_of([sizes(query)[-2], sizes(key)[-2]]), True)
        mask = band_part(ones, -1, 0)
    if mask is not None:
        scores = select_v2(mask, scores, low) if mask.dtype.is_bool else add(scores, mask)
    weights = softmax_op(scores)
    return batch_matmul(dropout(weights, dropout_p) if dropout_p else weights, value)


@_enter_function(A.scaled_dot_product_attention.default)
def _random_attention(
    query: Any, key: Any, value: Tensor, mask: Tensor | None = None, dropout_p: float = 0.0, *rest: Any, **named: Any
) -> Any:
    return _lower_attention(query, key, value, mask, dropout_p, *rest, **named) if dropout_p else NotImplemented


@aten.decomposition
def _(tensors: Sequence[Any], call: str, *_: Any) -> Any:
    overload, args, named = call_of(call, tensors)
    function = TABLE.get(overload) if overload not in DECOMPOSED else DECOMPOSED[overload]
    result = NotImplemented if function is None else function(*args, **named)
    return None if result is NotImplemented or isinstance(result, list) else result
