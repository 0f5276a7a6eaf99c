"""Ops without a public function in TapeFlow. TensorFlow's Python writes them into graphs, and a `GraphDef` may have
them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from tapeflow.core.autodiff.tape import Call
from tapeflow.core.ops.op import not_differentiable, op
from tapeflow.core.ops.raw_kernels import defined_op
from tapeflow.core.ops.shape_rules import same
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.types.dtypes import DType, int32
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.tensor import Tensor, invalid


@op("BroadcastGradientArgs", shape=lambda s0, s1: [TensorShape([None])] * 2)
def broadcast_gradient_args(s0: torch.Tensor, s1: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Computes the axes to sum the gradients of two broadcast tensors along, for each of their two shapes."""
    shapes = s0.tolist(), s1.tolist()
    rank = max(map(len, shapes))
    a, b = ([1] * (rank - len(s)) + s for s in shapes)
    if any(x != y and 1 not in (x, y) for x, y in zip(a, b, strict=True)):
        raise invalid(f"Incompatible shapes: {shapes[0]} vs. {shapes[1]}")
    missing = [rank - len(s) for s in shapes]
    first, second = ([i for i in range(rank) if i < m or (s[i] == 1 and o[i] != 1)]
                     for m, s, o in zip(missing, (a, b), (b, a), strict=True))  # fmt: skip
    return torch.tensor(first, dtype=s0.dtype), torch.tensor(second, dtype=s0.dtype)


def _concat_offsets(axis: int, shapes: list[torch.Tensor]) -> tuple[torch.Tensor, ...]:
    lengths = [int(s[axis]) for s in shapes]
    starts = np.cumsum([0, *lengths[:-1]])
    axis %= len(shapes[0])
    return tuple([
        torch.tensor([int(start) if d == axis else 0 for d in range(len(shape))], dtype=shape.dtype)
        for shape, start in zip(shapes, starts, strict=True)
    ])  # fmt: skip


@op("ConcatOffset", kernel=_concat_offsets, host=("concat_dim",), shape=lambda axis, shapes: list(shapes))
def concat_offset(concat_dim: TensorLike, shape: Sequence[TensorLike], name: str | None = None) -> Any:
    """Returns the offset of each tensor in their concatenation along an axis."""


@op("ListDiff", shape=lambda x, y, out_idx: [TensorShape([None])] * 2)
def list_diff(x: torch.Tensor, y: torch.Tensor, out_idx: DType = int32) -> tuple[torch.Tensor, torch.Tensor]:
    """Returns the elements of a vector that another vector lacks, and their positions."""
    for label, vector in (("x", x), ("y", y)):
        if vector.ndim != 1:
            raise invalid(f"{label} should be a 1D vector, not of shape {tuple(vector.shape)}.")
    places = torch.nonzero(~torch.isin(x, y)).reshape(-1)
    return x[places], places.to(out_idx.torch)


def _select_rule(condition: TensorShape, t: TensorShape, e: TensorShape) -> TensorShape:
    try:
        data = t.merge_with(e)
        if not condition.rank or data.rank is None:
            return data
        if condition.rank > 1:
            return data.merge_with(condition)
        data[:1].merge_with(condition)  # one condition for each row
    except ValueError as error:
        raise invalid(str(error)) from None
    return data


@op("Select", moves=True, shape=_select_rule)
def select(condition: torch.Tensor, t: torch.Tensor, e: torch.Tensor) -> torch.Tensor:
    """Returns `t` where `condition` holds and `e` elsewhere; a vector of conditions chooses rows."""
    if condition.ndim == 1 and t.ndim > 1:  # whole rows
        condition = condition.reshape(-1, *[1] * (t.ndim - 1))
    return torch.where(condition, t, e)


@select.gradient(needs="input0 dtypes")
def _(call: Call, dy: Tensor) -> Any:
    nothing = dy * 0
    return None, select(call.inputs[0], dy, nothing), select(call.inputs[0], nothing, dy)


# Returns a tensor that refuses to be differentiated.
prevent_gradient = defined_op(
    "PreventGradient",
    lambda x, message: x,
    moves=True,
    shape=lambda x, message: x,
    element=lambda b, x, message: x,
    identity=True,
    view=True,
)


@prevent_gradient.gradient(needs="")
def _(call: Call, dy: Tensor) -> Any:
    raise LookupError(f"Gradient explicitly disabled. Reason: {call.attrs[0]}")


# Computes `1 / x`. Old graphs have this name.
inv = defined_op("Inv", torch.reciprocal, shape=same, element=lambda b, x: b.div(1.0, x))


@inv.gradient(needs="outputs")
def _(call: Call, dy: Tensor) -> Any:
    y = call.outputs[0]
    return -dy * y * y


not_differentiable(broadcast_gradient_args, concat_offset, list_diff)
