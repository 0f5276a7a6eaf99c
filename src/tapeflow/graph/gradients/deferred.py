"""Gradients of ops while a graph is built.

An op's gradient is written with public ops, and so writes itself into the graph. Where it needs numbers that are not
known yet (a dimension, an axis), the gradient as a whole becomes one operation, which runs it when the numbers are
there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from tapeflow.core.autodiff import vjp
from tapeflow.core.autodiff.tape import Call, dense
from tapeflow.core.context import state
from tapeflow.core.ops.convert import host_value
from tapeflow.core.ops.definition import ops
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.tensor import Tensor
from tapeflow.graph.ir.operation import GraphOp
from tapeflow.graph.ir.python_op import python_op


class DynamicShape(Sequence):
    """The shape of a symbolic tensor whose dimensions are not all known: ints, and scalar tensors for the others."""

    def __init__(self, tensor: SymbolicTensor) -> None:
        self.tensor = tensor
        self._dims: tuple[Any, ...] | None = None

    def _items(self) -> tuple[Any, ...]:
        if self._dims is None:
            whole = self.__tf_tensor__()
            self._dims = tuple([whole[i] if d is None else d for i, d in enumerate(self.tensor.shape)])
        return self._dims

    def __tf_tensor__(self, dtype: Any = None, name: str | None = None) -> Any:
        return ops.Shape(self.tensor)

    def __len__(self) -> int:
        return len(self.tensor.shape)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._items())

    def __getitem__(self, key: Any) -> Any:
        if self.tensor.shape.rank is None and isinstance(key, int):
            return self.__tf_tensor__()[key]
        return self._items()[key]

    def __eq__(self, other: object) -> bool:
        """Whether the two are known to be equal."""
        return isinstance(other, DynamicShape) and self.tensor is other.tensor

    __hash__ = None  # type: ignore[assignment]


def shape_of_symbolic(tensor: Any) -> Any:
    """A tensor's shape as gradients take it: a tuple of ints where it is known."""
    shape = tensor.shape
    return tuple(shape.as_list()) if shape.is_fully_defined() else DynamicShape(tensor)


def gradient(call: Call, dys: Sequence[Any]) -> Any:
    """The gradients of a call's inputs, as operations of the graph that this thread builds."""
    op = call.op
    if op.gradient is not None and not op.registered:
        return op.gradient(call, *dys)
    before, state.name_scope = state.name_scope, getattr(call, "scope", state.name_scope)
    try:
        if op.gradient is not None:
            try:
                return op.gradient(call, *dys)
            except (TypeError, AttributeError, ValueError, IndexError, NotImplementedError, RuntimeError):
                if not _waits(call):
                    raise
        return _deferred(call, dys)
    finally:
        state.name_scope = before


def _waits(call: Call) -> bool:
    """Whether something that a gradient may need is not known before the graph runs."""
    tensors = [*call.inputs, *call.outputs]
    return any(isinstance(t, SymbolicTensor) for t in tensors) or any(isinstance(a, Tensor) for a in call.attrs)


def _deferred(call: Call, dys: Sequence[Any]) -> list[Any]:
    """The gradient of a call as one operation, run by the op's eager gradient."""
    op, wanted, attrs = call.op, tuple(call.wanted), list(call.attrs)
    inputs, outputs = list(call.inputs), list(call.outputs)
    given = [i for i, dy in enumerate(dys) if dy is not None]
    symbolic = [i for i, a in enumerate(attrs) if isinstance(a, Tensor)]
    n, m, k = len(inputs), len(outputs), len(given)

    def run(*tensors: Any) -> list[Any]:
        from tapeflow.core.autodiff.gradients import zeros_like_value

        ins, outs, rest = tensors[:n], tensors[n : n + m], tensors[n + m :]
        seeds: list[Any] = [None] * m
        for i, dy in zip(given, rest[:k], strict=True):
            seeds[i] = dy
        known = list(attrs)
        for i, a in zip(symbolic, rest[k:], strict=True):
            known[i] = host_value(a)
        again = Call(op, known, [0] * n, 0, wanted)
        again.inputs, again.outputs = list(ins), list(outs)
        again.shapes, again.dtypes = [t.value.shape for t in ins], [t.dtype for t in ins]
        if not op.none_for_zero:
            seeds = [zeros_like_value(o) if s is None else s for s, o in zip(seeds, outs, strict=True)]
        found = vjp.gradient(again, *seeds) if op.gradient is None else op.gradient(again, *seeds)
        found = list(found) if isinstance(found, (tuple, list)) else [found]
        return [zeros_like_value(t) if g is None else dense(g) for g, t, w in zip(found, ins, wanted, strict=True) if w]

    specs = [(t.dtype, t.shape) for t, w in zip(inputs, wanted, strict=True) if w]
    arguments = [*inputs, *outputs, *(dys[i] for i in given), *(attrs[i] for i in symbolic)]
    made = iter(python_op(f"{op.name}Grad", run, arguments, specs, stateful=False, differentiable=True).outputs)
    return [next(made) if w else None for w in wanted]


def sum_to_dynamic(dy: Any, shape: DynamicShape) -> Any:
    """Undoes broadcasting to a shape that is not known before the graph runs."""
    like = shape.tensor

    def kernel(value: Any, to: Any) -> Any:
        return value if value.shape == to.shape else value.sum_to_size(to.shape)

    def back(call: Any, ddy: Any) -> Any:
        return ops.BroadcastTo(ddy, shape_of_symbolic(call.inputs[0])), None

    op = GraphOp("SumToShape", kernel, gradient=back)
    op.runs_python, op.identity_if_same_shape = False, True
    return state.graph.node(op, [dy, like], [(dy.dtype, like.shape)]).outputs[0]
