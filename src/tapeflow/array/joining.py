"""Ops that put tensors together and take them apart."""

from __future__ import annotations

from typing import Any

import torch

from tapeflow.core.op import op
from tapeflow.core.shape import TensorShape
from tapeflow.core.shape_rules import text
from tapeflow.core.tape import Call
from tapeflow.core.tensor import invalid


def _concat_rule(values: list[TensorShape], axis: int) -> TensorShape:
    rank = values[0].rank
    for i, v in enumerate(values):
        if v.rank != rank:
            raise invalid(
                "ConcatOp : Ranks of all input tensors should match: "
                f"shape[0] = {text(values[0])} vs. shape[{i}] = {text(v)}"
            )
    if not -rank <= axis < rank:
        raise invalid(f"ConcatOp : Expected concatenating dimensions in the range [{-rank}, {rank}), but got {axis}")
    for i, v in enumerate(values):
        if any(m != n for j, (m, n) in enumerate(zip(v, values[0], strict=True)) if j != axis % rank):
            raise invalid(
                "ConcatOp : Dimension mismatch: all dimensions but that of `axis` must match: "
                f"shape[0] = {text(values[0])} vs. shape[{i}] = {text(v)}"
            )
    total = sum(v[axis] for v in values)
    return TensorShape([total if j == axis % rank else d for j, d in enumerate(values[0])])


def _cat(values: list[torch.Tensor], axis: int) -> torch.Tensor:
    return torch.cat(values, axis)


@op("ConcatV2", kernel=_cat, host=("axis",), shape=_concat_rule, moves=True)
def concat(values: Any, axis: Any, name: str | None = "concat") -> Any:
    """Joins tensors along a dimension they have.

    Args:
        values: tensors of one dtype and rank, equal in all dimensions but `axis`.
        axis: the dimension.

    Raises:
        InvalidArgumentError: the shapes do not match.

    Example:
        >>> tf.concat([[1, 2], [3]], axis=0).numpy().tolist()
        [1, 2, 3]
    """


@concat.gradient(needs="shapes")
def _(call: Call, dy: Any) -> Any:
    axis = call.attrs[0]
    grads, start = [], 0
    for i in range(len(call.wanted)):
        length = call.shape(i)[axis]
        grads.append(_narrow(dy, axis, start, length))
        start += length
    return grads


def _narrow(x: Any, axis: int, start: int, length: int) -> Any:
    """The slice of one dimension."""
    raise NotImplementedError
