"""The rows of Jacobians: many gradients of one target, computed at once or one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.autodiff.ends import dims_of, zeros_of
from tapeflow.core.autodiff.tape import Tape, id_of
from tapeflow.core.context import state
from tapeflow.core.hooks import hooks
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.definition import ops
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.tensor import Tensor


def identity_matrix(size: Any, like: Any) -> Any:
    """The rows of an identity matrix: the gradients that each element of a target begins with."""
    from tapeflow.linalg import eye

    return eye(size, dtype=like.dtype)


def reshaped(rows: Any, target: TensorShape, dims: Sequence[Any], source: Any, skipped: int = 0) -> Any:
    """The rows of a Jacobian in the shape of the target, then that of the source (without its first dimensions)."""
    made = ops.Reshape(rows, (*dims, *dims_of(source)[skipped:]))
    if isinstance(made, SymbolicTensor):
        made.set_shape(target.concatenate(source.shape[skipped:]))
    return made


def rows_of(tape: Tape, target: Any, sources: list[Any], seeds: Any, chunk: int | None) -> list[Any]:
    """The gradients of each source for each seed, stacked; None where there is none.

    Args:
        chunk: how many are computed at once, or None for all.
    """
    calls = tape.calls
    if not tape.persistent:
        tape.calls = []
    ids = [id_of(s) for s in sources]

    def one(seed: Any) -> list[Any]:
        found = tape.backward(calls, {id_of(target): seed}, ids, keep=True)
        return [g if g is None or isinstance(g, Tensor) else convert(g) for g in found]

    from tapeflow.graph.batching.vmapped import Manner

    if state.graph is not None or (chunk != 1 and len(seeds)):
        return hooks.on_slices(one, seeds, Manner(warn=False, chunk=chunk), at_once=chunk != 1)
    rows = [one(seed) for seed in seeds]
    if not rows:
        return [zeros_of([0, *dims_of(s)], s.dtype) for s in sources]
    return [None if column[0] is None else ops.Pack(list(column), 0) for column in zip(*rows, strict=True)]
