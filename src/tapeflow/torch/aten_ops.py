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

from tapeflow.array.creation import zeros_like
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.definition import ops
from tapeflow.core.types.dtypes import FROM_TORCH, int32
from tapeflow.core.values.tensor import Tensor
from tapeflow.nn.batch_norm import fused_batch_norm
from tapeflow.nn.dropouts import dropout
from tapeflow.torch.aten import aten, call_of

A = torch.ops.aten
Function = Callable[..., Any]

TABLE: dict[Any, Function] = {
    A.relu.default: ops.Relu, A.tanh.default: ops.Tanh, A.sigmoid.default: ops.Sigmoid, A.exp.default: ops.Exp,
    A.log.default: ops.Log, A.log1p.default: ops.Log1p, A.expm1.default: ops.Expm1, A.sqrt.default: ops.Sqrt,
    A.rsqrt.default: ops.Rsqrt, A.neg.default: ops.Neg, A.abs.default: ops.Abs, A.sin.default: ops.Sin,
    A.cos.default: ops.Cos, A.erf.default: ops.Erf, A.floor.default: ops.Floor, A.ceil.default: ops.Ceil,
    A.round.default: ops.Rint, A.sign.default: ops.Sign, A.reciprocal.default: ops.Reciprocal,
    A.square.default: ops.Square, A.logical_not.default: ops.LogicalNot, A.relu6.default: ops.Relu6,
    A.silu.default: lambda x: ops.Mul(x, ops.Sigmoid(x)),
    A.hardtanh.default: lambda x, low=-1.0, high=1.0: ops.ClipByValue(x, low, high),
    A.leaky_relu.default: lambda x, slope=0.01: ops.LeakyRelu(x, slope),
    A.elu.default: lambda x, alpha=1.0, *rest: ops.Elu(x) if (alpha, *rest) == (1.0,) else NotImplemented,
    A.hardsigmoid.default: lambda x: ops.Div(ops.Relu6(ops.AddV2(x, 3.0)), 6.0),
    A.hardswish.default: lambda x: ops.Mul(x, ops.Div(ops.Relu6(ops.AddV2(x, 3.0)), 6.0)),
    A.clone.default: lambda x, memory_format=None: x, A.contiguous.default: lambda x, memory_format=None: x,
    A.alias.default: lambda x: x, A.lift_fresh_copy.default: lambda x: x, A.detach.default: ops.StopGradient,
    A.mm.default: ops.MatMul, A.bmm.default: ops.BatchMatMulV2,
    A.addmm.default: lambda bias, x, y: ops.AddV2(ops.MatMul(x, y), bias),
    A.permute.default: ops.Transpose, A.unsqueeze.default: ops.ExpandDims,
    A.squeeze.dim: lambda x, dim: _squeeze_dims(x, [dim]), A.squeeze.dims: lambda x, dims: _squeeze_dims(x, dims),
    A.stack.default: lambda tensors, dim=0: ops.Pack(tensors, dim),
    A.cat.default: lambda tensors, dim=0: ops.ConcatV2(tensors, dim) if len(tensors) > 1 else tensors[0],
    A.where.self: ops.SelectV2, A.embedding.default: lambda weight, ids, *_: ops.GatherV2(weight, ids, 0),
    A.index_select.default: lambda x, dim, index: ops.GatherV2(x, index, dim),
    A.amax.default: lambda x, dims=(), keep=False: ops.Max(x, _reduced_axes(x, dims), keep),
    A.amin.default: lambda x, dims=(), keep=False: ops.Min(x, _reduced_axes(x, dims), keep),
    A.zeros_like.default: lambda x, **_: zeros_like(x),
    A.softmax.int: lambda x, dim, dtype=None: _on_last(ops.Softmax, x, dim, dtype),
    A._softmax.default: lambda x, dim, to_float: _on_last(ops.Softmax, x, dim, None),
    A.log_softmax.int: lambda x, dim, dtype=None: _on_last(ops.LogSoftmax, x, dim, dtype),
    A._log_softmax.default: lambda x, dim, to_float: _on_last(ops.LogSoftmax, x, dim, None),
    A.dropout.default: lambda x, p, train: dropout(x, p) if train else x,
    A.native_dropout.default: lambda x, p, train: [dropout(x, p) if train else x],
}  # fmt: skip

# Functions of two tensors or numbers, which torch brings to one dtype first.
ARITHMETIC: dict[Any, Function] = {
    A.add.Tensor: lambda x, y, alpha=1: ops.AddV2(x, y if alpha == 1 else ops.Mul(y, alpha)),
    A.sub.Tensor: lambda x, y, alpha=1: ops.Sub(x, y if alpha == 1 else ops.Mul(y, alpha)),
    A.rsub.Scalar: lambda x, y, alpha=1: ops.Sub(y, x) if alpha == 1 else NotImplemented,
    A.mul.Tensor: ops.Mul, A.div.Tensor: ops.RealDiv, A.maximum.default: ops.Maximum, A.minimum.default: ops.Minimum,
    A.pow.Tensor_Scalar: lambda x, y: ops.Square(x) if y == 2 else ops.Pow(x, y), A.pow.Tensor_Tensor: ops.Pow,
    A.eq.Tensor: ops.Equal, A.eq.Scalar: ops.Equal, A.ne.Tensor: ops.NotEqual, A.ne.Scalar: ops.NotEqual,
    A.lt.Tensor: ops.Less, A.lt.Scalar: ops.Less, A.le.Tensor: ops.LessEqual, A.le.Scalar: ops.LessEqual,
    A.gt.Tensor: ops.Greater, A.gt.Scalar: ops.Greater, A.ge.Tensor: ops.GreaterEqual, A.ge.Scalar: ops.GreaterEqual,
}  # fmt: skip
ARITHMETIC |= {A.add.Scalar: ARITHMETIC[A.add.Tensor], A.sub.Scalar: ARITHMETIC[A.sub.Tensor]}
ARITHMETIC |= {A.mul.Scalar: ops.Mul, A.div.Scalar: ops.RealDiv}
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


def sizes(x: Any) -> list[Any]:
    """Returns the sizes of a tensor's dimensions: numbers, and scalar tensors for those that are not static."""
    static = x.shape.as_list()
    if None not in static:
        return static
    dynamic = ops.Shape(x)
    return [dynamic[i] if d is None else d for i, d in enumerate(static)]


def shape_of(dims: Sequence[Any]) -> Any:
    """Returns a shape from numbers and scalar tensors."""
    if all(isinstance(d, int) for d in dims):
        return list(dims)
    return ops.Pack([convert(d, int32) if isinstance(d, int) else ops.Cast(d, int32) for d in dims])


def _reduced_axes(x: Any, dims: Sequence[int] | None) -> list[int]:
    return list(dims) if dims else list(range(x.shape.rank))


def _squeeze_dims(x: Any, dims: Sequence[int]) -> Any:
    ones = [d for d in dims if x.shape[d] == 1]
    return ops.Squeeze(x, ones) if ones else x


def _cast_to(x: Any, dtype: torch.dtype | None) -> Any:
    return x if dtype is None else ops.Cast(x, FROM_TORCH[dtype])


def _on_last(function: Function, x: Any, dim: int, dtype: torch.dtype | None) -> Any:
    """Computes a function of the last dimension along another one."""
    x, rank = _cast_to(x, dtype), x.shape.rank
    if dim % max(rank, 1) == rank - 1:
        return function(x)
    perm = list(range(rank))
    perm[dim], perm[-1] = perm[-1], perm[dim]
    return ops.Transpose(function(ops.Transpose(x, perm)), perm)


@_enter_function(A.view.default, A.reshape.default, A._unsafe_view.default)
def _lower_view(x: Any, size: Sequence[Any]) -> Any:
    return ops.Reshape(x, shape_of(size))


@_enter_function(A.flatten.using_ints)
def _lower_flatten(x: Any, start: int = 0, end: int = -1) -> Any:
    dims, rank = sizes(x), x.shape.rank
    start, end = start % rank, end % rank
    inner = dims[start : end + 1]
    joined = math.prod(inner) if all(isinstance(d, int) for d in inner) else -1
    if joined == -1 and not all(isinstance(d, int) for d in dims[:start] + dims[end + 1 :]):
        joined = ops.Prod(shape_of(inner), [0])
    return ops.Reshape(x, shape_of([*dims[:start], joined, *dims[end + 1 :]]))


@_enter_function(A.expand.default)
def _lower_expand(x: Any, size: Sequence[Any], implicit: bool = False) -> Any:
    missing = len(size) - x.shape.rank
    own = [None] * missing + sizes(x)
    return ops.BroadcastTo(
        x, shape_of([o if isinstance(s, int) and s == -1 else s for s, o in zip(size, own, strict=True)])
    )


@_enter_function(A.transpose.int)
def _lower_transpose(x: Any, first: int, second: int) -> Any:
    perm = list(range(x.shape.rank))
    perm[first], perm[second] = perm[second], perm[first]
    return ops.Transpose(x, perm)


@_enter_function(A.t.default)
def _lower_t(x: Any) -> Any:
    return ops.Transpose(x, [1, 0]) if x.shape.rank == 2 else x


@_enter_function(A.select.int)
def _lower_select(x: Any, dim: int, index: Any) -> Any:
    return x[(slice(None),) * (dim % x.shape.rank) + (index,)]


@_enter_function(A.slice.Tensor)
def _lower_slice(x: Any, dim: int = 0, start: Any = None, end: Any = None, step: int = 1) -> Any:
    end = None if isinstance(end, int) and end >= 2**31 - 1 else end
    return x[(slice(None),) * (dim % x.shape.rank) + (slice(start or None, end, step),)]


@_enter_function(A.split.Tensor, A.split_with_sizes.default)
def _lower_split(x: Any, parts: Any, dim: int = 0) -> Any:
    whole = x.shape[dim]
    if isinstance(parts, int) and whole is not None:
        parts = [min(parts, whole - begin) for begin in range(0, whole, parts)]
    return ops.SplitV(x, parts, dim, len(parts)) if isinstance(parts, (list, tuple)) else NotImplemented


@_enter_function(A.to.dtype, A._to_copy.default)
def _lower_to(x: Any, dtype: torch.dtype | None = None, *_: Any, **__: Any) -> Any:
    return _cast_to(x, dtype)


@_enter_function(A.mean.default, A.mean.dim)
def _lower_mean(x: Any, dims: Sequence[int] | None = None, keep: bool = False, dtype: torch.dtype | None = None) -> Any:
    return ops.Mean(_cast_to(x, dtype), _reduced_axes(x, dims), keep)


@_enter_function(A.sum.default, A.sum.dim_IntList)
def _lower_sum(x: Any, dims: Sequence[int] | None = None, keep: bool = False, dtype: torch.dtype | None = None) -> Any:
    if dtype is None and not x.dtype.is_floating and not x.dtype.is_complex:
        dtype = torch.int64
    return ops.Sum(_cast_to(x, dtype), _reduced_axes(x, dims), keep)


@_enter_function(A.arange.default)
def _lower_arange(end: Any, dtype: torch.dtype | None = None, **_: Any) -> Any:
    return _arange_from(0, end, 1, dtype)


@_enter_function(A.arange.start, A.arange.start_step)
def _arange_from(start: Any, end: Any, step: Any = 1, dtype: torch.dtype | None = None, **_: Any) -> Any:
    bounds = (start, end, step)
    if any(isinstance(b, float) for b in bounds):
        return NotImplemented
    own = FROM_TORCH[dtype or torch.int64]
    return ops.Range(*[ops.Cast(b, own) if isinstance(b, Tensor) else convert(b, own) for b in bounds])


@_enter_function(A.masked_fill.Scalar)
def _masked_fill(x: Any, mask: Any, value: float) -> Any:
    return ops.SelectV2(mask, ops.Cast(convert(value), x.dtype), x)


@_enter_function(A.matmul.default)
def _lower_matmul(x: Any, y: Any) -> Any:
    if x.shape.rank == 2 and y.shape.rank == 2:
        return ops.MatMul(x, y)
    return ops.BatchMatMulV2(x, y) if min(x.shape.rank, y.shape.rank) > 1 else NotImplemented


@_enter_function(A.linear.default)
def _lower_linear(x: Any, weight: Any, bias: Any = None) -> Any:
    if x.shape.rank < 2:
        return NotImplemented
    rows = x if x.shape.rank == 2 else ops.Reshape(x, [-1, x.shape[-1]])
    y = ops.MatMul(rows, weight, False, True)
    if bias is not None:
        y = ops.BiasAdd(y, bias)
    return y if x.shape.rank == 2 else ops.Reshape(y, shape_of([*sizes(x)[:-1], weight.shape[0]]))


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
    filters = ops.Transpose(weight, [2, 3, 1, 0])
    y = ops.Conv2D(x, filters, [1, *stride, 1], kind, explicit, "NHWC", [1, *dilation, 1])
    return y if bias is None else ops.BiasAdd(y, bias)


@_enter_function(A.max_pool2d.default, table=IMAGES)
def _max_pool2d(
    x: Any, size: Any, stride: Any = (), padding: Any = (0, 0), dilation: Any = (1, 1), ceil: bool = False
) -> Any:
    if ceil or any(d != 1 for d in dilation) or any(padding) or len(size) != 2:
        return NotImplemented
    return ops.MaxPool(x, [1, *size, 1], [1, *(stride or size), 1], "VALID")


@_enter_function(A.adaptive_avg_pool2d.default, table=IMAGES)
def _adaptive_avg_pool2d(x: Any, size: Sequence[int]) -> Any:
    return ops.Mean(x, [1, 2], True) if list(size) == [1, 1] else NotImplemented


@_enter_function(A._native_batch_norm_legit_no_training.default, table=IMAGES)
def _lower_batch_norm(
    x: Any, scale: Any, offset: Any, mean: Any, variance: Any, momentum: float, epsilon: float
) -> Any:
    if x.shape.rank != 4 or scale is None or offset is None:
        return NotImplemented
    return [fused_batch_norm(x, scale, offset, mean, variance, epsilon, 1.0, "NHWC", False)[0]]


@_enter_function(A._native_batch_norm_legit_functional.default, table=IMAGES)
def _batch_normalized(
    x: Any, scale: Any, offset: Any, mean: Any, variance: Any, training: bool, momentum: float, epsilon: float
) -> Any:
    if x.shape.rank != 4 or scale is None or offset is None or not training:
        return NotImplemented
    y, new_mean, new_variance, *_ = fused_batch_norm(x, scale, offset, mean, variance, epsilon, momentum)
    return [y, None, None, new_mean, new_variance]


@_enter_function(A.batch_norm.default, table=IMAGES)
def _batch_norm(
    x: Any, scale: Any, offset: Any, mean: Any, variance: Any, training: bool, momentum: float, epsilon: float, _: bool
) -> Any:
    result = NotImplemented if training else _lower_batch_norm(x, scale, offset, mean, variance, momentum, epsilon)
    return result if result is NotImplemented else result[0]


# ---- one kernel here, several operations in TensorFlow --------------------------------------------------------------

DECOMPOSED: dict[Any, Function] = {}


@_enter_function(A.gelu.default, table=DECOMPOSED)
def _lower_gelu(x: Any, approximate: str = "none") -> Any:
    if approximate == "tanh":
        inner = ops.Mul(ops.AddV2(x, ops.Mul(ops.Mul(ops.Mul(x, x), x), 0.044715)), math.sqrt(2 / math.pi))
        return ops.Mul(ops.Mul(x, 0.5), ops.AddV2(ops.Tanh(inner), 1.0))
    return ops.Mul(ops.Mul(x, 0.5), ops.AddV2(ops.Erf(ops.Mul(x, math.sqrt(0.5))), 1.0))


@_enter_function(A.layer_norm.default, table=DECOMPOSED)
def _layer_norm(
    x: Any, dims: Sequence[int], scale: Any = None, offset: Any = None, epsilon: float = 1e-5, *_: Any
) -> Any:
    axes = list(range(-len(dims), 0))
    centered = ops.Sub(x, ops.Mean(x, axes, True))
    y = ops.Mul(centered, ops.Rsqrt(ops.AddV2(ops.Mean(ops.Square(centered), axes, True), epsilon)))
    y = y if scale is None else ops.Mul(y, scale)
    return y if offset is None else ops.AddV2(y, offset)


@_enter_function(A.index.Tensor, table=DECOMPOSED)
def _lower_index(x: Any, indices: Sequence[Any]) -> Any:
    """Gathers along one dimension. ATen's indices may be negative, TensorFlow's may not, so they are wrapped."""
    axes = [i for i, index in enumerate(indices) if index is not None]
    if len(axes) != 1 or indices[axes[0]].dtype.is_bool:
        return NotImplemented
    return ops.GatherV2(
        x, ops.FloorMod(indices[axes[0]], ops.Cast(ops.Shape(x)[axes[0]], indices[axes[0]].dtype)), axes[0]
    )


@_enter_function(A.scaled_dot_product_attention.default, table=DECOMPOSED)
def _lower_attention(
    query: Any, key: Any, value: Any, mask: Any = None, dropout_p: float = 0.0, is_causal: bool = False,
    scale: float | None = None, enable_gqa: bool = False,
) -> Any:  # fmt: skip
    scores = ops.BatchMatMulV2(query, key, False, True)
    scores = ops.Mul(scores, query.shape[-1] ** -0.5 if scale is None else scale)
    low = ops.Cast(convert(-math.inf), scores.dtype)
    if is_causal:
        ones = ops.Fill(shape_of([sizes(query)[-2], sizes(key)[-2]]), True)
        mask = ops.MatrixBandPart(ones, -1, 0)
    if mask is not None:
        scores = ops.SelectV2(mask, scores, low) if mask.dtype.is_bool else ops.AddV2(scores, mask)
    weights = ops.Softmax(scores)
    return ops.BatchMatMulV2(dropout(weights, dropout_p) if dropout_p else weights, value)


@_enter_function(A.scaled_dot_product_attention.default)
def _random_attention(
    query: Any, key: Any, value: Any, mask: Any = None, dropout_p: float = 0.0, *rest: Any, **named: Any
) -> Any:
    return _lower_attention(query, key, value, mask, dropout_p, *rest, **named) if dropout_p else NotImplemented


@aten.decomposition
def _(tensors: Sequence[Any], call: str, *_: Any) -> Any:
    overload, args, named = call_of(call, tensors)
    function = TABLE.get(overload) if overload not in DECOMPOSED else DECOMPOSED[overload]
    result = NotImplemented if function is None else function(*args, **named)
    return None if result is NotImplemented or isinstance(result, list) else result
