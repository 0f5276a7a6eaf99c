"""Gradients of conditionals.

A differentiated conditional has one more output: a record of the residuals that the backward function of the branch
needs that ran. The gradient is an operation that calls this backward function.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tapeflow.core.autodiff.gradients import raw_zeros
from tapeflow.core.context import state
from tapeflow.core.types.dtypes import variant
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.boxed_objects import boxed
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.graph.ir.func_graph import FuncGraph
from tapeflow.graph.ir.operation import GradientOf, GraphOp, Operation, has_gradient
from tapeflow.graph.ir.python_op import spec_of_gradient

if TYPE_CHECKING:
    from tapeflow.graph.control.body import Body


class Conditional:
    """The kernel of a conditional: calls one of several bodies.

    Its inputs are the number of the body, and the operands. If a gradient needs it, it also returns a record: itself,
    the number of the body that ran, and the values of that body's residuals.

    Args:
        bodies: the branches, of which an invalid number means the last one.
        places: for each body, the places of its inputs among the operands.
        by_truth: whether the first input is a scalar that is true for the first of two bodies, and no number.
        residuals: for each body, the tensors of its graph that are recorded; None if there is no record.
    """

    def __init__(
        self,
        bodies: Sequence[Body],
        places: Sequence[Sequence[int]],
        by_truth: bool,
        residuals: Sequence[Sequence[SymbolicTensor]] | None = None,
    ) -> None:
        self.bodies, self.places, self.by_truth, self.residuals = bodies, places, by_truth, residuals
        self._functions: dict[int, Any] = {}

    def recording(self, residuals: Sequence[Sequence[SymbolicTensor]]) -> Conditional:
        """Returns the conditional that also returns a record of these tensors, and of its own residuals.

        Args:
            residuals: for each body, tensors of the graph of its `differentiable` one.
        """
        before = self.residuals or [()] * len(self.bodies)
        after = [list({id(t): t for t in (*old, *new)}.values()) for old, new in zip(before, residuals, strict=True)]
        if self.residuals is not None and list(map(len, before)) == list(map(len, after)):
            return self
        return Conditional([body.differentiable for body in self.bodies], self.places, self.by_truth, after)

    def __call__(self, index: Any, *operands: Any) -> Any:
        """Calls the body that the first value selects, on raw values.

        Raises:
            OpError: an op failed.
        """
        last = len(self.bodies) - 1
        number = (0 if index else 1) if self.by_truth else int(index)
        number = number if 0 <= number <= last else last
        function = self._functions.get(number)
        if function is None:
            body, recorded = self.bodies[number], self.residuals and self.residuals[number]
            function = body.returning([*body.outputs, *recorded]) if recorded else body.compiled
            self._functions[number] = function
        values = function(*[operands[p] for p in self.places[number]])
        if self.residuals is None:
            return values
        count = len(self.bodies[number].outputs)
        return (*values[:count], boxed((self, number, values[count:])))


def conditional_gradient(call: Any, *dys: Any) -> list[Any]:
    """Returns the gradients of the inputs of a conditional's operation."""
    operation, inputs = call.outputs[0].op, list(call.inputs)
    conditional: Conditional = operation.op.kernel
    targets = [i for i, dy in enumerate(dys[: len(conditional.bodies[0].outputs)]) if dy is not None]
    sources = [i for i, w in enumerate(call.wanted) if w and has_gradient(inputs[i])]
    if not sources or not targets:
        return [None] * len(inputs)
    kernel = ConditionalGradient(conditional, targets, sources, len(inputs))
    record = record_of(operation, kernel.conditional)

    def second_gradient(call: Any, *ddys: Any) -> list[Any]:
        cotangents, inputs = call.inputs[1 : 1 + len(targets)], call.inputs[1 + len(targets) :]
        return second_order().conditional_second_gradient(gradient_of, cotangents, inputs, ddys)

    gradient_of = GradientOf(operation, targets, sources, outside=kernel.outside)
    op = GraphOp(f"{operation.type}Grad", kernel, gradient=second_gradient, gives_tuple=True, gradient_of=gradient_of)
    captured = map(state.graph.capture, kernel.outside)
    specs = [spec_of_gradient(inputs[i]) for i in sources]
    backward = state.graph.node(op, [record, *(dys[i] for i in targets), *inputs, *captured], specs)
    grads = dict(zip(sources, backward.outputs, strict=True))
    return [grads.get(i) for i in range(len(inputs))]


class ConditionalGradient:
    """The kernel of a conditional's gradient.

    Its inputs are the conditional's record, the cotangents of the outputs `targets`, the inputs of the conditional, and
    `outside`. Its outputs are the gradients of the inputs `sources`.

    Args:
        conditional: the conditional.
        targets: indices of the outputs that have cotangents.
        sources: indices of the inputs whose gradients are wanted.
        count: the number of the conditional's inputs.

    Attributes:
        conditional: the conditional that records the residuals.
        outside: what the backward functions capture from outside of the graphs of the branches.
    """

    def __init__(self, conditional: Conditional, targets: Sequence[int], sources: Sequence[int], count: int) -> None:
        self._targets, self._sources, self._count = targets, sources, count
        self._backwards = [body.backward_from(targets) for body in conditional.bodies]
        self.outside = list({id(t): t for backward in self._backwards for t in backward.outside}.values())
        self.conditional = conditional.recording([backward.inner_residuals for backward in self._backwards])

    def __call__(self, record: Any, *values: Any) -> tuple[Any, ...]:
        """Returns the gradients of the inputs `sources`, as raw values."""
        conditional, number, residuals = record[()]
        first = len(self._targets)
        inputs = values[first : first + self._count]
        backward, places = self._backwards[number], conditional.places[number]
        known = dict(zip(map(id, conditional.residuals[number]), residuals, strict=True))
        known.update((id(t), inputs[1 + p]) for t, p in zip(conditional.bodies[number].inputs, places, strict=True))
        known.update(zip(map(id, self.outside), values[first + self._count :], strict=True))
        captured = [known[id(t)] for t in backward.captures]
        results = iter(backward.compiled(*values[:first], *captured))
        structure = backward.graph.structured_outputs
        grads = {1 + p: None if g is None else next(results) for p, g in zip(places, structure, strict=True)}
        return tuple([_zeros(inputs[i]) if grads.get(i) is None else grads[i] for i in self._sources])


def _zeros(value: Any) -> Any:
    """Returns zeros as the gradient of an input, which may be a variable."""
    return raw_zeros(value._value.value if hasattr(value, "_value") else value)


def second_order() -> Any:
    """Returns the module that computes gradients of gradients, which adds conditionals and loops to graphs itself."""
    from tapeflow.graph.gradients import second_order

    return second_order


def record_of(operation: Operation, kernel: Any) -> SymbolicTensor:
    """Returns the output of a conditional's or a loop's operation that is the record of its residuals.

    Args:
        operation: the operation.
        kernel: what it runs from now on, a `Conditional` or a `Loop` that returns the record.
    """
    op = copy.copy(operation.op)
    bodies = kernel.bodies if isinstance(kernel, Conditional) else [kernel.condition, kernel.body]
    op.kernel, op.bodies = kernel, dict(zip(op.bodies, bodies, strict=True))
    if operation.record is None:
        operation.record = operation.also_return(op, variant, TensorShape([]))
    elif kernel is not operation.op.kernel:
        operation.op = op
        if isinstance(operation.graph, FuncGraph):
            operation.graph.revision += 1
    return operation.record
