"""`tf.gradients`: the gradients of a graph's tensors, as operations of the same graph."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from tapeflow.autodiff import UnconnectedGradients
from tapeflow.autodiff.ends import dims_of
from tapeflow.autodiff.jacobians import identity_matrix, rows_of
from tapeflow.core.autodiff.tape import Tape, backpropagate, dense, summed
from tapeflow.core.context import state
from tapeflow.core.errors import UnimplementedError
from tapeflow.core.ops.convert import convert
from tapeflow.core.ops.definition import ops
from tapeflow.core.values import nest
from tapeflow.core.values.indexed_slices import IndexedSlices
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.tensor import Tensor
from tapeflow.core.values.variable import Variable
from tapeflow.graph.ir.operation import Operation


def gradients(
    ys: Any, xs: Any, grad_ys: Any, name: str, stop_gradients: Any, unconnected: UnconnectedGradients
) -> list[Any]:
    """The gradients of the sum of `ys` for each of `xs`, see `tf.gradients`."""
    from tapeflow.array.creation import zeros_like
    from tapeflow.core.scopes import name_scope

    graph = state.graph
    targets = [graph.capture(convert(y)) for y in nest.flatten(ys)]
    sources = [_source(graph, x) for x in nest.flatten(xs)]
    stopped = (
        {id(graph.capture(convert(t))) for t in nest.flatten(stop_gradients)} if stop_gradients is not None else set()
    )
    with _without_tapes(), name_scope(name or "gradients") as scope:
        seeds = _seeds(targets, grad_ys)
        tape = _recorded(targets, sources, stopped, scope)
        grads: dict[int, Any] = {}
        for t, dy in zip(targets, seeds, strict=True):
            if t.dtype.differentiable:
                grads[t._id] = summed(grads[t._id], dy) if t._id in grads else dy
        found = backpropagate(tape.calls, grads, list(map(_id, sources)), tape.roots, keep=False)
        if unconnected is UnconnectedGradients.ZERO:
            found = [zeros_like(s) if g is None else g for g, s in zip(found, sources, strict=True)]
        return [graph.capture(g) if isinstance(g, Tensor) else g for g in found]


@contextmanager
def _without_tapes() -> Iterator[None]:
    """What is written here is for the graph alone."""
    before, state.tapes = state.tapes, []
    try:
        yield
    finally:
        state.tapes = before


def _recorded(targets: Sequence[SymbolicTensor], sources: Sequence[Any], stopped: set[int], scope: str) -> Tape:
    """A tape of all that leads from sources to targets."""
    tape = Tape(persistent=False, watch_accessed=False)
    tape.watched.update(map(_id, sources))
    for operation in _leading_to(targets, stopped):
        known = len(tape.calls)
        tape.record(operation.op, operation.tensor_inputs, operation.statics, operation.outputs)
        for call in tape.calls[known:]:
            call.scope = f"{scope}{operation.name}_grad"
    # A source that others lead to is no root.
    made = {i for call in tape.calls for i in ((call.output_id,) if call.output_id else call.output_ids)}
    tape.roots.update(i for i in map(_id, sources) if i not in made)
    return tape


def _seeds(targets: Sequence[SymbolicTensor], grad_ys: Any) -> list[Any]:
    """The gradients that targets begin with: those given, or ones.

    Raises:
        ValueError: there are more or fewer of them.
        TypeError: one is not of its target's dtype, or a target has none and needs one.
    """
    from tapeflow.array.creation import ones_like

    given = grad_ys if isinstance(grad_ys, (list, tuple)) else [grad_ys] * (len(targets) if grad_ys is None else 1)
    if len(given) != len(targets):
        raise ValueError(f"Length mismatch. Passed {len(given)} grad_ys for {len(targets)} ys")
    found: list[Any] = []
    for t, seed in zip(targets, given, strict=True):
        if seed is None:
            if t.dtype.is_complex:
                raise TypeError(f"Gradients of complex tensors ({t}) must set grad_ys (y.dtype = {t.dtype.name})")
            if not (t.dtype.is_floating or t.dtype.is_integer):
                raise TypeError(
                    f"Tensor {t.name} with type {t.dtype.name} must be numeric to obtain a default gradient"
                )
            found.append(ones_like(t))
            continue
        found.append(seed if isinstance(seed, IndexedSlices) else convert(seed, hint=t.dtype))
        if found[-1].dtype is not t.dtype:
            raise TypeError(f"grad_ys has a {found[-1].dtype.name} tensor for {t.name}, which is {t.dtype.name}.")
    return found


def _source(graph: Any, x: Any) -> Any:
    return x if isinstance(x, Variable) else graph.capture(convert(x))


def _id(source: Any) -> int:
    return getattr(source, "_variable", source)._id


def _leading_to(targets: Sequence[SymbolicTensor], stopped: set[int]) -> list[Operation]:
    """The operations that targets are computed by, in the order of the graph, without those that give what is
    stopped at."""
    found: dict[int, Operation] = {}
    stack = [t.op for t in targets]
    while stack:
        operation = stack.pop()
        if id(operation) in found:
            continue
        inside = [id(t) in stopped for t in operation.outputs]
        if any(inside):
            if not all(inside):
                raise UnimplementedError(
                    None, None, f"tf.gradients can stop at all outputs of {operation.name!r}, and not at some of them"
                )
            continue
        found[id(operation)] = operation
        stack.extend(t.op for t in operation.inputs)
    return sorted((o for o in found.values() if o.outputs), key=lambda o: o.index)


def hessian(ys: Any, x: Any, name: str) -> Any:
    """The second derivatives of the sum of `ys` by a tensor, of the tensor's shape twice."""
    from tapeflow.array.creation import zeros
    from tapeflow.array.shaping import reshape
    from tapeflow.core.scopes import name_scope

    x = _source(state.graph, x)
    (first,) = gradients(ys, x, None, name, None, UnconnectedGradients.ZERO)
    with _without_tapes(), name_scope(name or "hessians") as scope:
        flat: Any = reshape(dense(first), [-1])
        size = ops.Size(flat)
        tape = _recorded([flat], [x], set(), scope)
        (rows,) = rows_of(tape, flat, [getattr(x, "_variable", x)], identity_matrix(size, flat), None)
        dims = dims_of(x)
        made = zeros((*dims, *dims), x.dtype) if rows is None else reshape(rows, (*dims, *dims))
    made.set_shape(x.shape.concatenate(x.shape))
    return made
