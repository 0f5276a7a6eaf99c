"""The gradient of attention as one op: replaces the calls of its small ops before a gradient is built.

`backpropagate` walks the calls of a tape. If a graph is built, attention among the calls becomes one call. Its gradient
is an op that computes the weights again, so no step of the forward pass keeps them.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from tapeflow.array.reshapes import transpose_op
from tapeflow.core.autodiff.tape import Call, describe
from tapeflow.core.context import state
from tapeflow.core.ops.definition import FunctionOp
from tapeflow.core.ops.static import compute_static, value_of
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.graph.codegen.passes.attention import Attention, Parts
from tapeflow.graph.ir.graph import Graph
from tapeflow.graph.program.program import Program, Step
from tapeflow.nn.attention import attention_grad, attention_log_sums, keeps_weights
from tapeflow.nn.softmaxes import softmax_op


def with_attention(calls: list[Call], wanted: Collection[int], roots: Collection[int]) -> list[Call]:
    """Returns the calls of a tape with one call for attention, in place of its small ops.

    Args:
        calls: calls of operations.
        wanted: the ids of sources, and of tensors with cotangents.
        roots: the ids of possible sources.
    """
    if not any(call.op is softmax_op.op for call in calls):
        return calls
    outputs = [t for call in calls for t in getattr(call, "outputs", ())]  # not all calls out of graphs keep them
    graphs = {id(t.graph): t.graph for t in outputs if isinstance(t, SymbolicTensor) and _is_open(t.graph)}
    replaced: dict[int, Call] = {}
    for graph in graphs.values():
        attention = _Calls(graph, calls, wanted, roots)
        attention.replace(attention.rules())
        replaced |= attention.replaced
    return [replaced.get(id(call), call) for call in calls]


def _is_open(graph: Graph) -> bool:
    """Returns True if the graph that is built, or the one that it returns gradients of, can get other operations."""
    return graph is state.graph or (graph is state.graph.around and getattr(graph, "is_differentiable", False))


class _Calls(Attention):
    """The calls of a tape.

    Attributes:
        sums: the residuals of gradients in the graph, by the ids of attention's results.
        replaced: the calls of attention, by the ids of the calls of its last product.
    """

    def __init__(self, graph: Graph, calls: list[Call], wanted: Collection[int], roots: Collection[int]) -> None:
        program = Program([], [])
        for operation in graph._operations:
            if operation.type == "Const":
                program.constants[id(operation.outputs[0])] = operation.op.attrs["value"].value
            else:
                program.steps.append(Step(operation.op, operation.args, operation.outputs, [operation]))
        super().__init__(program)
        self.graph, self.wanted, self.roots = graph, wanted, roots
        self.calls = {call.output_id: call for call in calls if call.output_id}
        self.replaced: dict[int, Call] = {}
        self.sums: dict[int, Any] = {}
        for step in program.steps:
            if step.op is attention_log_sums.op:
                turn = self.step(step.args[5])
                y = turn.args[0] if turn is not None and turn.op is transpose_op.op else step.args[5]
                self.sums[y._id] = step.outputs[0]

    def number(self, tensor: Any) -> float | None:
        value = self._constant(tensor)
        return float(value) if value is not None and value.numel() == 1 else None

    def _constant(self, tensor: Any) -> Any:
        """Returns the value of a tensor that depends on constants alone, or None."""
        known = self.program.constant(tensor)
        known = value_of(tensor) if known is None else known
        step = self.step(tensor)
        if known is not None or step is None or not step.pure or step.outputs[0].shape.num_elements() != 1:
            return known
        values = compute_static(step.op, step.args, step.operation.types, self._constant)
        return None if values is None else values[0]

    def refuses(self, step: Step, parts: Parts) -> str | None:
        y, inner = step.outputs[0], self.between(step, parts.tensors)
        call = self.calls.get(y._id)
        if call is None or any(t._id in self.wanted for s in inner for t in s.outputs):
            return "its gradient is not needed alone"
        softmax = next(s for s in inner if s.op is softmax_op.op)
        if softmax.outputs[0]._id not in self.calls:
            return "the scores have no gradient"
        if any(t._id in self.calls or t._id in self.roots for t in parts.tensors[3:]):
            return "the mask has a gradient"
        shapes = [[rows.tensor.shape[i] for i in rows.order or range(rows.tensor.shape.rank)] for rows in parts[:2]]
        if keeps_weights(*shapes):
            return "a gradient from stored weights is faster"
        return super().refuses(step, parts)

    def write_attention(self, step: Step, parts: Parts) -> None:
        y = step.outputs[0]
        before, rows = self.calls[y._id], [rows.tensor for rows in parts[:3]]
        watched = [t._id in self.calls or t._id in self.roots for t in rows]

        def gradient(dy: Any) -> list[Any]:
            state.name_scope, scope = before.scope, state.name_scope
            try:
                # Other backward graphs get the same residual, which the forward function returns.
                if y._id not in self.sums:
                    with self.graph.extend():
                        self.sums[y._id] = attention_log_sums(*_kernel_operands(y, parts), *parts[5:8])
                dy = _transpose_rows(dy, parts.order)
                grads = attention_grad(dy, *_kernel_operands(y, parts), self.sums[y._id], *parts[5:8])
                return [_transpose_rows(g, r.order) for g, r in zip(grads, parts[:3], strict=True)]
            finally:
                state.name_scope = scope

        call = Call(FunctionOp("Attention", gradient), (), [t._id for t in rows], y._id, watched)
        describe(call, rows, step.outputs)
        call.scope = before.scope
        self.replaced[id(before)] = call


def _kernel_operands(y: Any, parts: Parts) -> list[Any]:
    """Returns the operands of attention's own ops, as tensors of the graph that is built."""
    rows = [_transpose_rows(r.tensor, r.order) for r in parts[:3]]
    masks = 0.0 if parts.bias is None else parts.bias, True if parts.mask is None else parts.mask
    return [*rows, *masks, _transpose_rows(y, parts.order)]


def _transpose_rows(tensor: Any, order: tuple[int, ...]) -> Any:
    return transpose_op(tensor, order) if order else tensor
