"""`tf.gradients`: the gradients of a graph's tensors, as operations of the same graph."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from tapeflow.array.creation import ones_like, zeros, zeros_like
from tapeflow.array.properties import size_op
from tapeflow.array.reshapes import reshape
from tapeflow.autodiff.jacobians import identity_matrix, rows_of
from tapeflow.autodiff.targets_and_sources import UnconnectedGradients, dims_of
from tapeflow.core.autodiff.tape import Tape, backpropagate, dense, sum_gradients
from tapeflow.core.context import nobody_listening, state
from tapeflow.core.errors import UnimplementedError
from tapeflow.core.ops.convert import convert
from tapeflow.core.scopes import name_scope
from tapeflow.core.types.aliases import TensorLike
from tapeflow.core.values import nest
from tapeflow.core.values.indexed_slices import IndexedSlices
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.tensor import Tensor
from tapeflow.core.values.variable import Variable
from tapeflow.graph.ir.operation import GraphOp, Operation, reachable

if TYPE_CHECKING:
    from tapeflow.graph.ir.graph import Graph


def gradients(
    ys: Any, xs: Any, grad_ys: Any, name: str, stop_gradients: Any, unconnected: UnconnectedGradients
) -> list[Any]:
    """Returns the gradients of the sum of `ys` with respect to each of `xs`, see `tf.gradients`."""
    graph = state.graph
    targets = [graph.capture(convert(y)) for y in nest.flatten(ys)]
    sources = [_source_tensor(graph, x) for x in nest.flatten(xs)]
    stops = nest.flatten(stop_gradients) if stop_gradients is not None else []
    stopped = {i for t in stops for i in _ids_outwards(graph.capture(convert(t)))}
    with nobody_listening(), name_scope(name or "gradients") as scope:
        initial = _initial_cotangents(targets, grad_ys)
        tape = _record_operations(targets, sources, stopped, scope)
        grads: dict[int, Any] = {}
        for t, dy in zip(targets, initial, strict=True):
            if t.dtype.differentiable:
                grads[t._id] = sum_gradients(grads[t._id], dy) if t._id in grads else dy
        results = backpropagate(tape.calls, grads, list(map(_source_id, sources)), tape.roots, keep=False)
        if unconnected is UnconnectedGradients.ZERO:
            results = [zeros_like(s) if g is None else g for g, s in zip(results, sources, strict=True)]
        return [graph.capture(g) if isinstance(g, Tensor) else g for g in results]


def _record_operations(
    targets: Sequence[SymbolicTensor], sources: Sequence[Any], stopped: set[int], scope: str
) -> Tape:
    """Returns a tape that has recorded the operations between sources and targets."""
    tape = Tape(persistent=False, watch_accessed=False)
    tape.watched.update(map(_source_id, sources))
    for operation in _find_ancestors(targets, stopped):
        count = len(tape.calls)
        op = operation.op
        if isinstance(op, GraphOp) and op.recorded is not None:
            op.recorded(tape, operation)
        else:
            tape.record(op, operation.tensor_inputs, operation.statics, operation.outputs)
        for call in tape.calls[count:]:
            call.scope = f"{scope}{operation.name}_grad"
    # A source that depends on other sources is not a root.
    computed = {i for call in tape.calls for i in ((call.output_id,) if call.output_id else call.output_ids)}
    tape.roots.update(i for i in map(_source_id, sources) if i not in computed)
    return tape


def _initial_cotangents(targets: Sequence[SymbolicTensor], grad_ys: TensorLike | None) -> list[Any]:
    """Returns the cotangents of the targets from `grad_ys`. Missing ones are tensors of ones.

    Raises:
        ValueError: the number of cotangents in `grad_ys` differs from the number of targets.
        TypeError: a cotangent's dtype differs from its target's, or it is missing for a dtype without a default.
    """
    specified = grad_ys if isinstance(grad_ys, (list, tuple)) else [grad_ys] * (len(targets) if grad_ys is None else 1)
    if len(specified) != len(targets):
        raise ValueError(f"Length mismatch. Passed {len(specified)} grad_ys for {len(targets)} ys")
    cotangents: list[Any] = []
    for t, dy in zip(targets, specified, strict=True):
        if dy is None:
            if t.dtype.is_complex:
                raise TypeError(f"Gradients of complex tensors ({t}) must set grad_ys (y.dtype = {t.dtype.name})")
            if not (t.dtype.is_floating or t.dtype.is_integer):
                raise TypeError(
                    f"Tensor {t.name} with type {t.dtype.name} must be numeric to obtain a default gradient"
                )
            cotangents.append(ones_like(t))
            continue
        cotangent = dy if isinstance(dy, IndexedSlices) else convert(dy, hint=t.dtype)
        if cotangent.dtype is not t.dtype:
            raise TypeError(f"grad_ys has a {cotangent.dtype.name} tensor for {t.name}, which is {t.dtype.name}.")
        cotangents.append(cotangent)
    return cotangents


def _source_tensor(graph: Graph, x: Tensor | Variable) -> Any:
    return x if isinstance(x, Variable) else graph.capture(convert(x))


def _source_id(source: Tensor | Variable) -> int:
    return getattr(source, "_variable", source)._id


def _ids_outwards(tensor: SymbolicTensor | None) -> Iterator[int]:
    """Yields the Python ids of a tensor and of the tensors of outer graphs that it stands for."""
    while tensor is not None:
        yield id(tensor)
        tensor = tensor.op.captured


def _find_ancestors(targets: Sequence[SymbolicTensor], stopped: set[int]) -> list[Operation]:
    """Returns the operations that targets depend on, in this graph and in those around it, in program order.

    Operations with stopped outputs, and operations behind only these, are omitted.
    """
    ancestors: list[Operation] = []
    graph = state.graph
    while graph is not None and targets:
        here = [t.op for t in targets if t.graph is graph and id(t) not in stopped]
        found = reachable(here, stopped, controls=False)
        ancestors = found + ancestors  # outer graphs run before
        outside = [o.captured for o in found if o.captured is not None]
        targets, graph = [*(t for t in targets if t.graph is not graph), *outside], graph.around
    partly = next((o for o in ancestors if any(id(t) in stopped for t in o.outputs)), None)
    if partly is not None:
        raise UnimplementedError.of(f"tf.gradients can stop at all outputs of {partly.name!r}, and not at some of them")
    return [operation for operation in ancestors if operation.outputs]


def hessian(ys: Any, x: Tensor, name: str) -> Any:
    """Returns the second derivatives of the sum of `ys` with respect to `x`, with the shape `x.shape + x.shape`."""
    x = _source_tensor(state.graph, x)
    (first,) = gradients(ys, x, None, name, None, UnconnectedGradients.ZERO)
    with nobody_listening(), name_scope(name or "hessians") as scope:
        flat: Any = reshape(dense(first), [-1])
        size = size_op(flat)
        tape = _record_operations([flat], [x], set(), scope)
        (rows,) = rows_of(tape, flat, [getattr(x, "_variable", x)], identity_matrix(size, flat), None)
        dims = dims_of(x)
        result = zeros((*dims, *dims), x.dtype) if rows is None else reshape(rows, (*dims, *dims))
    result.set_shape(x.shape.concatenate(x.shape))
    return result
