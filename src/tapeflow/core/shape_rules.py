"""Shape rules that families of ops share.

A rule takes an op's arguments in order, with `TensorShape`s (lists of them) for tensors, and gives the shape of the
result, or raises InvalidArgumentError saying which shapes do not go together. Eager ops ask only when a kernel refused.
"""

from __future__ import annotations

from typing import Any

from tapeflow.core.shape import TensorShape
from tapeflow.core.tensor import invalid


def text(shape: TensorShape) -> str:
    """The shape as TensorFlow's messages print it: `[2,3]`."""
    if shape.rank is None:
        return "<unknown>"
    return "[" + ",".join("?" if d is None else str(d) for d in shape) + "]"


def same(x: TensorShape, *_: Any) -> TensorShape:
    """The result has the shape of the first input."""
    return x


def broadcast(x: TensorShape, y: TensorShape, *_: Any) -> TensorShape:
    """The two inputs broadcast against each other."""
    if x.rank is None or y.rank is None:
        return TensorShape(None)
    a, b = x.as_list(), y.as_list()
    rank = max(len(a), len(b))
    a, b = [1] * (rank - len(a)) + a, [1] * (rank - len(b)) + b
    out: list[int | None] = []
    for m, n in zip(a, b, strict=True):
        if m == n or n == 1:
            out.append(m)
        elif m == 1:
            out.append(n)
        elif m is None or n is None:
            out.append(m if n is None else n)
        else:
            raise invalid(f"Incompatible shapes: {text(x)} vs. {text(y)}")
    return TensorShape(out)


def broadcast_all(*shapes: Any) -> TensorShape:
    """All inputs broadcast against each other."""
    out = shapes[0]
    for shape in shapes[1:]:
        if isinstance(shape, TensorShape):
            out = broadcast(out, shape)
    return out


def reduction(x: TensorShape, axis: Any, keepdims: bool = False, *_: Any) -> TensorShape:
    """The dimensions of `axis` (all of them for None) are reduced away, or to 1."""
    if x.rank is None:
        return TensorShape(None)
    rank = x.rank
    axes = range(rank) if axis is None else [axis] if isinstance(axis, int) else axis
    reduced = set()
    for a in axes:
        if not -rank <= a < rank:
            raise invalid(f"Invalid reduction dimension ({a} for input with {rank} dimension(s)")
        if a % rank in reduced:
            raise invalid(f"Invalid reduction arguments: Axes contains duplicate dimension: {a % rank}")
        reduced.add(a % rank)
    return TensorShape([1 if i in reduced else d for i, d in enumerate(x) if i not in reduced or keepdims])
