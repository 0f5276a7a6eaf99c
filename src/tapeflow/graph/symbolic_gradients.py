"""`tf.gradients`: the gradients of a graph's tensors, as operations of the same graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow import nest
from tapeflow.autodiff import UnconnectedGradients
from tapeflow.core.context import state
from tapeflow.core.convert import convert
from tapeflow.core.symbolic import SymbolicTensor
from tapeflow.core.tape import Tape, backpropagate, summed
from tapeflow.core.tensor import Tensor
from tapeflow.core.variable import Variable
from tapeflow.errors import UnimplementedError
from tapeflow.graph.operation import Operation


def gradients(
    ys: Any, xs: Any, grad_ys: Any, name: str, stop_gradients: Any, unconnected: UnconnectedGradients
) -> list[Any]:
    """The gradients of the sum of `ys` for each of `xs`, see `tf.gradients`."""
    from tapeflow.array.creation import ones_like, zeros_like
    from tapeflow.scopes import name_scope

    graph = state.graph
    targets = [graph.capture(convert(y)) for y in nest.flatten(ys)]
    sources = [_source(graph, x) for x in nest.flatten(xs)]
    seeds = [None] * len(targets) if grad_ys is None else nest.flatten(grad_ys)
    if len(seeds) != len(targets):
        raise ValueError(f"Passed {len(seeds)} grad_ys for {len(targets)} ys")
    stopped = (
        {id(graph.capture(convert(t))) for t in nest.flatten(stop_gradients)} if stop_gradients is not None else set()
    )
    for t in targets:
        if not t.dtype.differentiable:
            raise TypeError(
                f"Gradients of tensors must be floating or complex for tf.gradients, not {t.dtype.name}: {t.name}"
            )
    tape = Tape(persistent=False, watch_accessed=False)
    ids = [_id(s) for s in sources]
    tape.watched.update(ids)
    tape.roots.update(ids)
    before = state.tapes
    state.tapes = []
    try:
        with name_scope(name or "gradients") as scope:
            for operation in _leading_to(targets, stopped):
                known = len(tape.calls)
                tape.record(operation.op, operation.tensor_inputs, operation.statics, operation.outputs)
                for call in tape.calls[known:]:
                    call.scope = f"{scope}{operation.name}_grad"
            grads: dict[int, Any] = {}
            for t, seed in zip(targets, seeds, strict=True):
                dy = ones_like(t) if seed is None else convert(seed, t.dtype)
                grads[t._id] = summed(grads[t._id], dy) if t._id in grads else dy
            found = backpropagate(tape.calls, grads, ids, tape.roots, keep=False)
            if unconnected is UnconnectedGradients.ZERO:
                found = [zeros_like(s) if g is None else g for g, s in zip(found, sources, strict=True)]
            return [graph.capture(g) if isinstance(g, Tensor) else g for g in found]
    finally:
        state.tapes = before


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


def hessian(y: Any, x: Any, name: str) -> Any:
    """The second derivatives of a scalar by a tensor of known size, of the tensor's shape twice."""
    from tapeflow.array.joining import stack
    from tapeflow.array.shaping import reshape

    x = _source(state.graph, x)
    shape = x.shape
    if not shape.is_fully_defined():
        raise ValueError(f"tf.hessians needs tensors of known shape, not {x}")
    (first,) = gradients(y, x, None, name, None, UnconnectedGradients.ZERO)
    flat = reshape(first, [-1])
    rows = [gradients(flat[i], x, None, name, None, UnconnectedGradients.ZERO)[0] for i in range(shape.num_elements())]
    return reshape(stack(rows), [*shape, *shape])
