"""The rows of Jacobians: many gradients of one target, computed at once or one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.array.concat_and_split import pack_op
from tapeflow.array.ranges import eye
from tapeflow.array.reshapes import reshape
from tapeflow.autodiff.targets_and_sources import dims_of, zeros_of
from tapeflow.core.autodiff.tape import Tape, id_of
from tapeflow.core.context import state
from tapeflow.core.hooks import hooks
from tapeflow.core.ops.convert import convert
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.tensor import Tensor


def identity_matrix(size: Tensor | int, like: Any) -> Any:
    """Returns an identity matrix, the rows of which are the initial gradients for each element of a target."""
    return eye(size, dtype=like.dtype)


def reshape_rows(rows: Any, target: TensorShape, dims: Sequence[Any], source: Any, skipped: int = 0) -> Any:
    """Returns a Jacobian in the shape of the target followed by that of the source.

    Args:
        rows: the Jacobian, with one row for each element of the target.
        target: the static shape of the target.
        dims: the shape of the target, with scalar tensors for dimensions that are not static.
        source: a tensor or variable.
        skipped: the number of the source's first dimensions to leave out.
    """
    jacobian = reshape(rows, (*dims, *dims_of(source)[skipped:]))
    if isinstance(jacobian, SymbolicTensor):
        jacobian.set_shape(target.concatenate(source.shape[skipped:]))
    return jacobian


def rows_of(tape: Tape, target: Any, sources: list[Any], seeds: Any, chunk: int | None) -> list[Any]:
    """Computes the gradients of each source for each seed, stacked; None for a source without influence.

    Args:
        tape: the tape that recorded the target.
        target: a tensor.
        sources: tensors and variables.
        seeds: initial gradients of the target, stacked.
        chunk: the most gradients that are computed at once, or None for no limit.
    """
    calls = tape.calls
    if not tape.persistent:
        tape.calls = []
    ids = [id_of(s) for s in sources]

    def one(seed: Any) -> list[Any]:
        gradients = tape.backward(calls, {id_of(target): seed}, ids, keep=True)
        return [g if g is None or isinstance(g, Tensor) else convert(g) for g in gradients]

    from tapeflow.graph.transform.batch import BatchOptions

    if state.graph is not None or (chunk != 1 and len(seeds)):
        return hooks.on_slices(one, seeds, BatchOptions(warn=False, chunk=chunk), at_once=chunk != 1)
    rows = [one(seed) for seed in seeds]
    if not rows:
        return [zeros_of([0, *dims_of(s)], s.dtype) for s in sources]
    return [None if column[0] is None else pack_op(list(column), 0) for column in zip(*rows, strict=True)]
