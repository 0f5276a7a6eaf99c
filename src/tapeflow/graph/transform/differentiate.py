"""Graphs for gradients: forward graphs return residuals, and backward graphs take them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.core.autodiff.tape import Tape, backpropagate, dense, sum_gradients
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.graph.ir.func_graph import FuncGraph
from tapeflow.graph.transform.copies import copy_of


def forward_graph(graph: FuncGraph) -> FuncGraph:
    """Returns a copy of a function's graph that can return residuals for backward graphs."""
    forward = copy_of(graph)
    forward.is_differentiable = True
    return forward


def backward_graph(forward: FuncGraph, outputs: Sequence[SymbolicTensor], differentiated: Sequence[bool]) -> FuncGraph:
    """Returns the graph from the cotangents of outputs to the gradients of the inputs, and of the captures.

    It captures residuals from the forward graph. Its `structured_outputs` has None for an input without a gradient.

    Args:
        forward: a graph from `forward_graph`.
        outputs: tensors of the forward graph: its outputs, and intermediate results with cotangents.
        differentiated: for each of `outputs`, True if it has a cotangent.
    """
    graph = FuncGraph(f"backward_{forward.name}")
    graph.outer_graph, graph.compiler = forward, forward.compiler
    with graph.as_default():
        tape = Tape(persistent=False, watch_accessed=False)
        sources = [t._id for t in (*forward.inputs, *forward.internal_captures)]
        tape.watched.update(sources)
        tape.roots.update(sources)
        for operation in forward._operations:
            if operation.outputs:
                tape.record(operation.op, operation.tensor_inputs, operation.statics, operation.outputs)
        grads: dict[int, Any] = {}
        for t, has_cotangent in zip(outputs, differentiated, strict=True):
            if has_cotangent:
                dy = graph.input(t, "gradient")
                grads[t._id] = dy if t._id not in grads else sum_gradients(grads[t._id], dy)
        results = backpropagate(tape.calls, grads, sources, tape.roots, keep=False)
        graph.structured_outputs = [None if g is None else graph.capture(dense(g)) for g in results]
        graph.outputs = [g for g in graph.structured_outputs if g is not None]
    return graph
