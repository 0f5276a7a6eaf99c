"""Conditionals: operations that call one of several functions, and their gradients.

The gradient of a conditional is another conditional. Its branches are the backward functions of the branches. The
forward conditional returns their residuals as additional outputs. A branch returns zeros for residuals of other
branches.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from tapeflow.array.reshapes import broadcast_to
from tapeflow.array.tensor_list import empty_list
from tapeflow.core.autodiff.tape import record
from tapeflow.core.context import state
from tapeflow.core.ops.convert import convert
from tapeflow.core.types.dtypes import bool_, string, variant
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.graph.ir.operation import GraphOp, Operation, has_gradient
from tapeflow.graph.ir.python_op import spec_of_gradient
from tapeflow.graph.transform.body import Body, by_id, call, traced_body, zeros_of


class Conditional(GraphOp):
    """The op of a conditional. It calls one of several bodies. Its inputs are the index of the body, and the operands.

    Args:
        bodies: the branches, by their names as attrs. An index out of range selects the last one.
        places: for each body, the places of its inputs among the operands.
        by_truth: True if the first input is a truth value that selects the first of two bodies, not an index.
    """

    control, steering = "conditional", 1

    def __init__(self, bodies: dict[str, Body], places: dict[str, Sequence[int]], by_truth: bool) -> None:
        named_stateful = any(b.named_stateful for b in bodies.values())
        super().__init__(
            ("" if named_stateful else "Stateless") + ("If" if by_truth else "Case"), self._run, gives_tuple=True,
            stateful=any(b.stateful for b in bodies.values()), gradient=conditional_gradient,
            bodies=bodies, places=places,
        )  # fmt: skip
        self.by_truth = by_truth

    def _run(self, index: Any, *operands: Any) -> Any:
        label = list(self.bodies)[self.number_of(index)]
        return self.bodies[label].compiled(*[operands[p] for p in self.places[label]])

    def specialized(self) -> list[Any]:
        """Returns the programs of the bodies with faster kernels."""
        return [body.compiled.specialized() for body in self.bodies.values()]

    def number_of(self, index: Any) -> int:
        """Returns the number of the body that the raw value of the first input selects."""
        last = len(self.bodies) - 1
        number = (0 if index else 1) if self.by_truth else int(index)
        return number if 0 <= number <= last else last


def conditional(
    index: Any,
    operands: Sequence[Any],
    bodies: Sequence[Body],
    names: Sequence[str],
    places: Sequence[Sequence[int]],
    name: str | None,
    specs: Sequence[Any] | None = None,
) -> Operation:
    """Adds the operation that calls one of several bodies.

    Args:
        index: an integer scalar, the index of the body (out of range selects the last one); or a scalar truth value,
            which selects the first of two bodies if true.
        operands: the inputs of the bodies.
        bodies: the branches.
        names: the names of the bodies, as attrs of the operation.
        places: for each body, the places of its inputs among the operands.
        name: the operation's name.
        specs: the dtypes and shapes of the outputs; by default the most specific ones that fit all bodies.
    """
    columns = zip(*[b.outputs for b in bodies], strict=True)
    specs = [(group[0].dtype, common([t.shape for t in group])) for group in columns] if specs is None else specs
    by_name, places_of = dict(zip(names, bodies, strict=True)), dict(zip(names, places, strict=True))
    op = Conditional(by_name, places_of, not index.dtype.is_integer)
    return state.graph.node(op, [index, *operands], specs, name)


def common(shapes: Sequence[TensorShape]) -> TensorShape:
    """Returns the most specific shape that is compatible with all shapes."""
    return functools.reduce(TensorShape.most_specific_compatible_shape, shapes)


# ---- gradients -------------------------------------------------------------------------------------------------------


class _Residuals:
    """The residuals that the branches of a conditional return after their outputs.

    Attributes:
        bodies: the `differentiable` branches.
        slots: for each residual output of the conditional, the residual of each branch, or None.
    """

    def __init__(self, bodies: Sequence[Body], slots: Sequence[Sequence[SymbolicTensor | None]] = ()) -> None:
        self.bodies, self.slots = bodies, list(map(list, slots))

    def add(self, branch: int, tensor: SymbolicTensor) -> bool:
        """Adds a tensor to the outputs of a branch, in a free or new slot. Returns False if it is already returned."""
        if any(t is tensor for t in (*self.bodies[branch].outputs, *(slot[branch] for slot in self.slots))):
            return False
        for slot in self.slots:
            other = next(t for t in slot if t is not None)
            if slot[branch] is None and other.dtype is tensor.dtype and str(other.shape) == str(tensor.shape):
                slot[branch] = tensor
                return True
        self.slots.append([tensor if i == branch else None for i in range(len(self.bodies))])
        return True

    def outputs(self, branch: int) -> list[SymbolicTensor | None]:
        """Returns the tensors that a branch returns, in the order of the conditional's outputs."""
        return [*self.bodies[branch].outputs, *(slot[branch] for slot in self.slots)]

    def returned(self, branch: int) -> Body:
        """Returns a branch that also returns its residuals."""
        body, outputs = self.bodies[branch], self.outputs(branch)

        def compute(*inputs: Any) -> list[Any]:
            values = iter(call(body, [t for t in outputs if t is not None], inputs))
            slots = [next(t for t in slot if t is not None) for slot in self.slots]
            like = [*body.outputs, *slots]
            return [
                _absent_residual(other) if t is None else next(values) for t, other in zip(outputs, like, strict=True)
            ]

        return traced_body(f"forward_{body.name}", body.inputs, compute)


def _absent_residual(tensor: SymbolicTensor) -> Any:
    """Returns the placeholder value for a residual of another branch: zeros, or an empty list."""
    if tensor.dtype is variant:
        return empty_list((), -1, variant)
    zero = convert({string: "", bool_: False}.get(tensor.dtype, 0), tensor.dtype)
    return broadcast_to(zero, [d or 0 for d in tensor.shape]) if tensor.shape.rank else zero


def conditional_gradient(call: Any, *dys: Any) -> list[Any]:
    """Returns the gradients of the inputs of a conditional's operation."""
    operation, inputs = call.outputs[0].op, list(call.inputs)
    dy_of = {t.value_index: dy for t, dy in zip(call.outputs, dys, strict=False) if dy is not None}
    targets = sorted(dy_of)
    sources = [i for i, w in enumerate(call.wanted) if w and has_gradient(inputs[i])]
    nothing = [None] * len(inputs)
    if not sources or not targets:
        return nothing
    op, cotangents = operation.op, [dy_of[i] for i in targets]
    residuals = op.residuals
    if residuals is None or targets[-1] >= len(residuals.bodies[0].outputs):
        residuals = _Residuals([body.differentiable for body in op.bodies.values()])
    else:
        residuals = _Residuals(residuals.bodies, residuals.slots)
    backwards = [body.backward_from(targets) for body in residuals.bodies]
    reached = {
        1 + place
        for backward, places in zip(backwards, op.places.values(), strict=True)
        for place, gradient in zip(places, backward.graph.structured_outputs, strict=True)
        if gradient is not None
    }
    sources = [i for i in sources if i in reached]
    if not sources:
        return nothing
    added = [residuals.add(i, t) for i, b in enumerate(backwards) for t in b.inner_residuals]
    if any(added):
        _return_residuals(operation, residuals)
    operands: dict[int, Any] = {}
    bodies = []
    for i, (backward, places) in enumerate(zip(backwards, op.places.values(), strict=True)):
        values = by_id(residuals.outputs(i), operation.outputs)
        values.update(by_id(residuals.bodies[i].inputs, [inputs[1 + p] for p in places]))
        values.update((id(t), state.graph.capture(t)) for t in backward.outside)
        taken = [*cotangents, *(values[id(t)] for t in backward.captures)]
        bodies.append((taken, *_backward_branch(backward, taken, places, sources, inputs)))
        operands.update((id(t), t) for t in (*taken, *bodies[-1][1]))
    numbers = {i: n for n, i in enumerate(operands)}
    places_of = [[numbers[id(t)] for t in (*taken, *others)] for taken, others, _ in bodies]
    specs = [spec_of_gradient(inputs[i]) for i in sources]
    branches = [body for *_, body in bodies]
    results = conditional(inputs[0], list(operands.values()), branches, list(op.bodies), places_of, None, specs)
    grads = dict(zip(sources, results.outputs, strict=True))
    return [grads.get(i) for i in range(len(inputs))]


def _backward_branch(
    backward: Body, taken: Sequence[Any], places: Sequence[int], sources: Sequence[int], inputs: Sequence[Any]
) -> tuple[list[Any], Body]:
    """Returns the branch of a conditional's gradient, and its inputs after `taken`.

    Args:
        backward: the backward function of the conditional's branch.
        taken: its inputs.
        places: the places of the branch's inputs among the conditional's operands.
        sources: the indices of the conditional's inputs with gradients.
        inputs: the inputs of the conditional.

    Returns:
        The inputs that the branch does not use, for gradients of zeros, and the branch.
    """
    has_result = [g is not None for g in backward.graph.structured_outputs]
    result_of = {1 + p: g for p, g in zip(places, backward.graph.structured_outputs, strict=True) if g is not None}
    others = [inputs[i] for i in sources if i not in result_of]

    def compute(*values: Any) -> list[Any]:
        results = iter(call(backward, backward.outputs, values[: len(taken)]))
        by_input = {1 + p: next(results) for p, has in zip(places, has_result, strict=True) if has}
        absent = map(zeros_of, values[len(taken) :])
        return [by_input[i] if i in by_input else next(absent) for i in sources]

    return others, traced_body(f"{backward.name}_of_all", [*taken, *others], compute)


def _return_residuals(operation: Operation, residuals: _Residuals) -> None:
    """Adds the residuals of its branches to the outputs of a conditional."""
    before = operation.op
    bodies = [residuals.returned(i) for i in range(len(residuals.bodies))]
    op = Conditional(dict(zip(before.bodies, bodies, strict=True)), before.places, before.by_truth)
    op.residuals = residuals
    operation.op = op
    count = len(operation.outputs)
    for slot in residuals.slots[count - len(residuals.bodies[0].outputs) :]:
        tensor = next(t for t in slot if t is not None)
        operation.also_return(op, tensor.dtype, tensor.shape)
    if len(operation.outputs) > count:  # tapes that recorded the conditional do not know the new outputs
        record(op, operation.args, (), operation.outputs[count:])
