"""Gradients and forms of ops while a graph is built.

They call public ops, which add themselves to the graph. A gradient or form that needs numbers that are not static, such
as a dimension or an axis, becomes one operation. This operation computes it when the graph runs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tapeflow.core.autodiff import vjp
from tapeflow.core.autodiff.gradients import zeros_like_value
from tapeflow.core.autodiff.tape import Call, dense
from tapeflow.core.context import override, state
from tapeflow.core.ops.convert import convert, host_value
from tapeflow.core.ops.definition import NotStatic
from tapeflow.core.values.tensor import Tensor
from tapeflow.graph.ir import shapes
from tapeflow.graph.ir.python_op import python_op


def gradient(call: Call, dys: Sequence[Any]) -> Any:
    """Returns the gradients of a call's inputs, as operations of the graph that this thread builds."""
    op = call.op
    if not op.registered and type(op) is not vjp.KernelVjp:
        return op.gradient(call, *dys)
    with override(state, name_scope=getattr(call, "scope", state.name_scope)):
        if vjp.is_gradient_of(op):
            return _defer_gradient(call, dys)
        try:
            return op.gradient(call, *dys)
        except NotStatic:
            return _defer_gradient(call, dys)


def _defer_gradient(call: Call, dys: Sequence[Any]) -> list[Any]:
    """Returns the gradient of a call as one operation, run by the op's eager gradient."""
    op, wanted, attrs = call.op, tuple(call.wanted), list(call.attrs)
    inputs, outputs = list(call.inputs), list(call.outputs)
    dy_indices = [i for i, dy in enumerate(dys) if dy is not None]
    symbolic = [i for i, a in enumerate(attrs) if isinstance(a, Tensor)]
    n, m, k = len(inputs), len(outputs), len(dy_indices)

    def run(*tensors: Any) -> list[Any]:
        ins, outs, rest = tensors[:n], tensors[n : n + m], tensors[n + m :]
        seeds: list[Any] = [None] * m
        for i, dy in zip(dy_indices, rest[:k], strict=True):
            seeds[i] = dy
        attr_values = list(attrs)
        for i, a in zip(symbolic, rest[k:], strict=True):
            attr_values[i] = host_value(a)
        again = Call(op, attr_values, [0] * n, 0, wanted)
        again.inputs, again.outputs = list(ins), list(outs)
        again.shapes, again.dtypes = [t.value.shape for t in ins], [t.dtype for t in ins]
        if not op.none_for_zero:
            seeds = [zeros_like_value(o) if s is None else s for s, o in zip(seeds, outs, strict=True)]
        gradients = op.gradient(again, *seeds)
        gradients = list(gradients) if isinstance(gradients, (tuple, list)) else [gradients]
        return [
            zeros_like_value(t) if g is None else dense(g) for g, t, w in zip(gradients, ins, wanted, strict=True) if w
        ]

    specs = [(t.dtype, t.shape) for t, w in zip(inputs, wanted, strict=True) if w]
    arguments = [*inputs, *outputs, *(dys[i] for i in dy_indices), *(attrs[i] for i in symbolic)]
    results = iter(python_op(f"{op.name}Grad", run, arguments, specs, stateful=False, differentiable=True).outputs)
    return [next(results) if w else None for w in wanted]


def form(op: Any, arguments: Sequence[Any], types: dict[str, Any], compute: Callable[..., Sequence[Any]]) -> list[Any]:
    """Returns the outputs of a composite op, as one operation.

    Args:
        op: the op.
        arguments: its arguments, converted.
        types: its type attrs.
        compute: takes the arguments, eager ones, and returns the outputs.
    """

    inputs: list[Any] = []
    op.map(inputs.append, arguments, host=lambda a: inputs.append(a) if isinstance(a, Tensor) else None)

    def run(*tensors: Any) -> list[Any]:
        rest = iter(tensors)
        now = op.map(
            lambda _: next(rest), arguments, host=lambda a: host_value(next(rest)) if isinstance(a, Tensor) else a
        )
        return [convert(output) for output in compute(now)]

    count = shapes.output_count(op, arguments, types)
    outputs = zip(op.output_dtypes(types, count), shapes.infer(op, arguments, types, count), strict=True)
    attrs = {op.attr_names[p]: a for p, a in zip(op.params, arguments, strict=True) if p in op.attr_names} | types
    operation = python_op(op.name, run, inputs, list(outputs), False, differentiable=True, attrs=attrs)
    return list(operation.outputs)
