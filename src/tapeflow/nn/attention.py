"""Attention as one kernel, and its gradient as another: `softmax(scale * query @ key^T + bias) @ value`.

Programs write attention in small ops. Functions recognize them, and functions and gradients in graphs then use these
kernels (`graph/codegen/passes/attention.py`, `graph/transform/attention.py`). ATen's kernels compute the weights in
blocks and never keep them; the gradient computes them again from the logarithms of the softmax's sums (Dao et al.,
2022). For short sequences, keeping the weights is faster.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch

from tapeflow.array.masks import select_v2
from tapeflow.array.reshapes import squeeze_op
from tapeflow.core import aten
from tapeflow.core.autodiff.gradients import sum_like
from tapeflow.core.autodiff.tape import Call, Tape, id_of
from tapeflow.core.ops.batch_rules import Batch, Slices
from tapeflow.core.ops.definition import ops
from tapeflow.core.ops.elementwise_kernels import select
from tapeflow.core.ops.op import op
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.values.tensor import Tensor, invalid
from tapeflow.linalg.products import batch_matmul
from tapeflow.math.arithmetic import add, multiply, subtract
from tapeflow.math.elementwise import exp, log
from tapeflow.nn.softmaxes import softmax_op

_FEW_SCORES = 1 << 16  # of a head: for fewer, a gradient from stored weights is faster
_LARGEST_SUM = 1e3  # rounding a larger logarithm to float32 changes the weights that are computed from it


def keeps_weights(query: Sequence[Any], key: Sequence[Any]) -> bool:
    """Returns True if a gradient should use stored weights. Unknown lengths may be long.

    Args:
        query: the sizes of the queries, with positions in the last dimension but one.
        key: the sizes of the keys.
    """
    return None not in (query[-2], key[-2]) and query[-2] * key[-2] < _FEW_SCORES


class _Flash(NamedTuple):
    """The arguments of ATen's kernels.

    Attributes:
        query: the queries. Those without keys are zeros.
        key, value, mask: see the kernels. The mask is added to the scores.
        causal: True if each query has the keys up to its own position. There is no mask then.
        empty: True for each query without keys; None if there are none.
    """

    query: torch.Tensor
    key: torch.Tensor
    value: torch.Tensor
    mask: torch.Tensor | None
    causal: bool
    empty: torch.Tensor | None


def _shape_of_scores(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> tuple[int, ...]:
    """Returns the shape of the scores.

    Raises:
        InvalidArgumentError: the shapes don't belong together.
    """
    if min(query.dim(), key.dim(), value.dim()) < 2 or query.shape[-1] != key.shape[-1]:
        raise invalid(f"queries of the shape {list(query.shape)} can't be multiplied by keys {list(key.shape)}")
    if key.shape[-2] != value.shape[-2]:
        raise invalid(f"{key.shape[-2]} keys, but {value.shape[-2]} values")
    batch = query.shape[:-2]
    if key.shape[:-2] == batch and value.shape[:-2] == batch:
        return (*batch, query.shape[-2], key.shape[-2])
    try:
        batch = torch.broadcast_shapes(query.shape[:-2], key.shape[:-2], value.shape[:-2])
    except RuntimeError as error:
        shapes = ", ".join(str(list(t.shape)) for t in (query, key, value))
        raise invalid(f"queries, keys and values have the shapes {shapes}, which don't broadcast") from error
    return (*batch, query.shape[-2], key.shape[-2])


def _may_broadcast(mask: torch.Tensor, scores: tuple[int, ...]) -> bool:
    """Returns True if a mask broadcasts to the scores, and not the scores to the mask."""
    sizes = zip(reversed(mask.shape), reversed(scores), strict=False)
    return mask.dim() <= len(scores) and all(m in (1, n) for m, n in sizes)


def _for_flash(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, bias: torch.Tensor | None, mask: torch.Tensor | None,
    scores: tuple[int, ...], has_nan: bool,
) -> _Flash | None:  # fmt: skip
    """Returns the arguments of ATen's kernels, in four dimensions; None if the kernels don't compute this.

    `scores` is the shape of the scores, and `has_nan` is True if the softmax of queries without keys is NaN.
    """
    channels = query.shape[-1]
    if bias is not None and mask is not None:
        return None
    added = bias if mask is None else mask
    if (
        value.shape[-1] != channels
        or 0 in scores
        or not channels
        or not (added is None or _may_broadcast(added, scores))
    ):
        return None
    batch, empty, causal = scores[:-2], None, mask is not None and _is_causal(mask)
    if causal:
        added = None
    elif mask is not None:
        none = mask.view(torch.uint8).amax(-1, keepdim=True) == 0  # faster than `any`
        if not mask.is_cpu or none.any():  # the last one would wait for a GPU
            if has_nan:
                return None
            empty, mask = none, mask | none
            query = query.masked_fill(empty, 0.0)
        added = select(mask, query.new_tensor(0.0), query.new_tensor(-math.inf))
    elif bias is not None and bias.is_cpu and (bias.amax(-1) == -math.inf).any():  # ATen's result is 0
        return None
    query, key, value = (
        _in_heads(x if x.shape[:-2] == batch else x.expand(*batch, *x.shape[-2:])) for x in (query, key, value)
    )
    if added is not None:
        added = added.reshape(*(1,) * (len(scores) - added.dim()), *added.shape)
        added = _in_heads(added.expand(*scores[:-3], *added.shape[-3:]) if len(scores) > 4 else added)
    return _Flash(query, key, value, added, causal, empty)


def _in_heads(x: torch.Tensor) -> torch.Tensor:
    """Returns a view or copy with four dimensions. The last one is contiguous."""
    x = x.flatten(0, -4) if x.dim() > 4 else x.reshape(-1, 1, *x.shape[-2:]) if x.dim() < 4 else x
    return x if x.stride(-1) == 1 else x.contiguous()


def _is_causal(mask: torch.Tensor) -> bool:
    """Returns True if a mask leaves each query the keys up to its own position."""
    queries, keys = (1, 1, *mask.shape)[-2:]
    if mask.numel() != queries * keys or not mask.is_cpu or queries < 2 or keys < 2:
        return False
    matrix = mask.view(queries, keys)
    if queries * keys < _FEW_SCORES:
        return torch.equal(matrix, _causal_mask(queries, keys))
    if matrix[0, 1].item() or not matrix[1, 1].item():
        return False
    return torch.equal(matrix, torch.ones_like(matrix).tril_())


@functools.lru_cache(8)
def _causal_mask(queries: int, keys: int) -> torch.Tensor:
    return torch.ones((queries, keys), dtype=torch.bool).tril_()


def _softmax_weights(
    query: torch.Tensor, key: torch.Tensor, bias: torch.Tensor | None, mask: torch.Tensor | None, scale: float,
    masked: float,
) -> torch.Tensor:  # fmt: skip
    """Returns the softmax of the scores, op by op."""
    scores = torch.matmul(query, key.mT) * scale
    scores = scores if bias is None else scores + bias
    return torch.softmax(scores if mask is None else torch.where(mask, scores, masked), -1)


def attention(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    bias: torch.Tensor | None = None,
    mask: torch.Tensor | None = None,
    *,
    scale: float,
    masked: float = 0.0,
    zeroed: bool = False,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Computes attention.

    Args:
        query: queries of the shape `[..., positions, channels]`.
        key: keys of the shape `[..., key positions, channels]`.
        value: values of the shape `[..., key positions, value channels]`.
        bias: is added to the scores.
        mask: bools. False replaces a score.
        scale: multiplies the products of queries and keys.
        masked: the number that replaces scores. Its exponential is zero.
        zeroed: gives masked keys weights of zero even for queries without keys. Otherwise, their weights are equal.

    Returns:
        The result, and the logarithms of the sums of the scores' exponentials. The latter are NaN if the gradient has
        to compute the weights op by op.

    Raises:
        InvalidArgumentError: the shapes don't belong together.
    """
    scores = _shape_of_scores(query, key, value)
    shape = (*scores[:-1], value.shape[-1])
    flash = _for_flash(query, key, value, bias, mask, scores, masked == -math.inf and not zeroed)
    result: Any = None
    sums: Any = None
    if flash is not None and query.is_cpu:
        result, sums = aten.flash_attention(*flash[:3], 0.0, flash.causal, attn_mask=flash.mask, scale=scale)
        if len(shape) != 4:
            result, sums = result.reshape(shape), sums.reshape(shape[:-1])
        if (bias is not None or mask is not None) and math.isnan(torch.sum(sums).item()):
            flash = None  # a NaN among masked keys has no effect
    elif flash is not None:
        result = torch.nn.functional.scaled_dot_product_attention(
            *flash[:3], flash.mask, is_causal=flash.causal, scale=scale
        ).reshape(shape)
        if bias is not None:
            result = result.masked_fill(bias.amax(-1, keepdim=True) == -math.inf, math.nan)
    if flash is None:
        weights = _softmax_weights(query, key, bias, mask, scale, masked)
        weights = torch.where(mask, weights, 0.0) if zeroed and mask is not None else weights
        result, sums = torch.matmul(weights, value), None
    elif zeroed and flash.empty is not None:
        result = result.masked_fill(flash.empty, 0.0)
    return result, query.new_full(shape[:-1], math.nan) if sums is None else sums


def attention_gradient(
    dy: torch.Tensor,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    result: torch.Tensor,
    sums: torch.Tensor,
    bias: torch.Tensor | None = None,
    mask: torch.Tensor | None = None,
    *,
    scale: float,
    masked: float = 0.0,
    zeroed: bool = False,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Computes the gradients of queries, keys and values.

    Args:
        dy: the gradient of the result.
        result, sums: both results of `attention`. Its other arguments are the same.

    Raises:
        InvalidArgumentError: the shapes don't belong together.
    """
    scores = _shape_of_scores(query, key, value)
    shape = (*scores[:-1], value.shape[-1])
    if dy.shape != shape or result.shape != shape or sums.shape != shape[:-1]:
        raise invalid(
            f"attention has results of the shapes {list(shape)} and {list(shape[:-1])}. Its gradient got "
            f"{', '.join(str(list(t.shape)) for t in (dy, result, sums))}"
        )
    flash = None
    if query.is_cpu and (sums.abs() <= _LARGEST_SUM).all():
        flash = _for_flash(query, key, value, bias, mask, scores, masked == -math.inf and not zeroed)
    grads: Any = None
    if flash is not None:
        own = dy.masked_fill(flash.empty, 0.0) if zeroed and flash.empty is not None else dy
        dq, dk, dv = aten.flash_attention_backward(
            _in_heads(own), *flash[:3], _in_heads(result), sums.reshape(flash.query.shape[:3]).contiguous(), 0.0,
            flash.causal, attn_mask=flash.mask, scale=scale,
        )  # fmt: skip
        if dq.sum().isfinite():  # otherwise, a NaN may have come from a masked key
            dq, dk, dv = (g.reshape(*shape[:-2], *g.shape[-2:]) for g in (dq, dk, dv))
            grads = dq if flash.empty is None else dq.masked_fill(flash.empty, 0.0), dk, dv
    if grads is None:
        weights = _softmax_weights(query, key, bias, mask, scale, masked)
        dw, used = torch.matmul(dy, value.mT), weights
        if zeroed and mask is not None:
            dw, used = torch.where(mask, dw, 0.0), torch.where(mask, weights, 0.0)
        ds = (dw - (dw * weights).sum(-1, keepdim=True)) * weights
        ds = (ds if mask is None else torch.where(mask, ds, 0.0)) * scale
        grads = torch.matmul(ds, key), torch.matmul(ds.mT, query), torch.matmul(used.mT, dy)
    return tuple([g.sum_to_size(x.shape) for g, x in zip(grads, (query, key, value), strict=True)])


# ---- ops that only graphs have. A scalar stands for no bias or no mask. ----------------------------------------------

_ATTRS = "attr=T:type; attr=scale:float; attr=masked:float; attr=zeroed:bool"


def _operand_or_none(operand: torch.Tensor) -> torch.Tensor | None:
    return operand if operand.dim() else None


def _of_batch(batch: Batch, *args: Any) -> Any:
    """Computes an op of this module for a batch: another leading dimension."""
    rank = max(a.rank for a in args if isinstance(a, Slices))

    def lifted(i: int, a: Any) -> Any:
        if not isinstance(a, Slices):
            return a
        stacked = Slices(batch.stack(a), a.slice, True) if a.rank else a
        return batch.lift(stacked, rank - 1 if i == _SUMS else rank)

    return batch.run(*[lifted(i, a) for i, a in enumerate(args)])


_SUMS = 7  # the place of the operand without channels


@op(
    "AttentionLogSums",
    signature=f"query:T, key:T, value:T, bias:T, mask:bool, result:T -> sums:T; {_ATTRS}",
    shape=lambda query, key, value, bias, mask, result, *_: result[:-1],
    batching=_of_batch,
)
def attention_log_sums(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, bias: torch.Tensor, mask: torch.Tensor,
    result: torch.Tensor, scale: float, masked: float, zeroed: bool,
) -> torch.Tensor:  # fmt: skip
    """Computes the residual of attention's gradient.

    The result of attention is an input. Through it, functions find the program's own ops, and compute both by one
    kernel.
    """
    options: Any = {"scale": scale, "masked": masked, "zeroed": zeroed}
    return attention(query, key, value, _operand_or_none(bias), _operand_or_none(mask), **options)[1]


@attention_log_sums.gradient(needs="")
def _(call: Call, dy: Tensor) -> Any:
    return (None,) * 6  # the gradient of attention's gradient includes that of its residuals


@attention_log_sums.decomposition
def _(query: Any, key: Any, value: Tensor, bias: Any, mask: TensorLike, result: Tensor, *attrs: Any) -> Any:
    scores = _scores_by_ops(query, key, bias, mask, *attrs[:2])
    most = ops.Max(scores, -1, True)
    sums = log(ops.Sum(exp(subtract(scores, most)), -1, True))
    return squeeze_op(add(sums, most), [-1])


@op(
    "AttentionGrad",
    signature="dy:T, query:T, key:T, value:T, bias:T, mask:bool, result:T, sums:T -> query_gradient:T, key_gradient:T, "
    f"value_gradient:T; {_ATTRS}",
    shape=lambda dy, query, key, value, *_: (query, key, value),
    batching=_of_batch,
    autograd=False,
)
def attention_grad(
    dy: torch.Tensor, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, bias: torch.Tensor,
    mask: torch.Tensor, result: torch.Tensor, sums: torch.Tensor, scale: float, masked: float, zeroed: bool,
) -> tuple[torch.Tensor, ...]:  # fmt: skip
    """Computes the gradients of attention's queries, keys and values."""
    options: Any = {"scale": scale, "masked": masked, "zeroed": zeroed}
    return attention_gradient(
        dy, query, key, value, result, sums, _operand_or_none(bias), _operand_or_none(mask), **options
    )


@attention_grad.gradient(needs="inputs")
def _(call: Call, *dys: Any) -> Any:
    tape, sources = Tape(persistent=False, watch_accessed=False), call.inputs[:4]
    tape.watched.update(map(id_of, sources))
    tape.roots.update(map(id_of, sources))
    tape.start()
    try:
        results = _gradient_by_ops(*call.inputs, *call.attrs)
    finally:
        tape.stop()
    return [*tape.gradients(results, sources, dys), None, None, None, None]


def _scores_by_ops(query: Tensor, key: Tensor, bias: Tensor, mask: Any, scale: float, masked: float) -> Any:
    scores = multiply(batch_matmul(query, key, False, True), scale)
    scores = add(scores, bias) if bias.shape.rank else scores
    return select_v2(mask, scores, masked) if mask.shape.rank else scores


@attention_grad.decomposition
def _gradient_by_ops(
    dy: Tensor, query: Tensor, key: Tensor, value: Tensor, bias: Tensor, mask: Tensor, result: Tensor, sums: Tensor,
    scale: float, masked: float, zeroed: bool,
) -> Any:  # fmt: skip
    """Returns the gradients of attention by other ops."""
    weights = softmax_op(_scores_by_ops(query, key, bias, mask, scale, masked))
    dw, used = batch_matmul(dy, value, False, True), weights
    if zeroed and mask.shape.rank:
        dw, used = select_v2(mask, dw, 0.0), select_v2(mask, weights, 0.0)
    ds = multiply(subtract(dw, ops.Sum(multiply(dw, weights), -1, True)), weights)
    ds = multiply(select_v2(mask, ds, 0.0) if mask.shape.rank else ds, scale)
    grads = batch_matmul(ds, key), batch_matmul(ds, query, True), batch_matmul(used, dy, True)
    return [sum_like(g, x) for g, x in zip(grads, (query, key, value), strict=True)]
