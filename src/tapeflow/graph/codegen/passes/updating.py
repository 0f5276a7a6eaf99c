"""Updating: one kernel of ATen changes a variable and computes by how much.

Optimizers update moving averages (`v += (x - v) * share`, which is `lerp`), and variables along a gradient
(`v -= rate * g`, `addcmul`) or along a quotient (`v -= rate * m / d`, `addcdiv`). The intermediate results must have no
other use. As with `fusing.py`, last bits may differ from eager ones.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch

from tapeflow.core import aten
from tapeflow.core.ops.definition import Op, ops
from tapeflow.core.types.dtypes import float32, float64
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.tensor import EagerTensor
from tapeflow.core.values.variable import ResourceVariable, Variable
from tapeflow.graph.codegen.program import Program, Step
from tapeflow.graph.ir.graph import READ
from tapeflow.graph.ir.operation import VariableUpdate, variable_of


def update(program: Program) -> None:
    """Replaces changes of variables, and the steps that compute their operands, by one step each."""
    if any(step.name in _RULES for step in program.steps):
        updating = _Updating(program)
        program.steps = [updating.updated(step) for step in program.steps]


class _Updating:
    """The state of a walk through a program: the steps seen so far, by their outputs."""

    def __init__(self, program: Program) -> None:
        self._uses = program.use_counts()
        self._producers: dict[int, Step] = {}
        self._reads: dict[int, int] = {}  # by the ids of tensors: the id of the variable whose current value it is

    def updated(self, step: Step) -> Step:
        """Returns the step, or one that computes its producers too, which then have no uses and are pruned later."""
        rule = _RULES.get(step.name)
        variable: Any = variable_of(step.args[0]) if rule is not None and not step.registered else None
        joined = rule(self, step, variable) if rule is not None and _is_plain(variable) and not step.placed else None
        if step.op is READ:
            read = variable_of(step.args[0])
            if read is not None:
                self._reads[id(step.outputs[0])] = read._id
        elif step.must_run:
            changed = step.changed_variable
            self._reads = {t: v for t, v in self._reads.items() if changed is not None and v != changed}
        for tensor in step.outputs:
            self._producers[id(tensor)] = step
        return step if joined is None else joined

    def producer(self, tensor: SymbolicTensor, op: Op) -> Step | None:
        """Returns the step that computes a tensor, if it is of this op and the tensor has no other use."""
        step = self._producers.get(id(tensor))
        if step is None or step.op is not op or not step.native or step.placed:
            return None
        return step if self._uses[id(tensor)] == 1 else None

    def scaled(self, tensor: SymbolicTensor, variable: Variable) -> tuple[Step, SymbolicTensor, SymbolicTensor] | None:
        """Returns the product that computes a tensor, its factor of the variable's shape and its scalar; or None."""
        step = self.producer(tensor, ops.Mul.op)
        if step is None:
            return None
        for factor, scalar in (step.args, step.args[::-1]):
            if scalar.shape.rank == 0 and factor.shape == variable.shape:
                return step, factor, scalar
        return None

    def still_holds(self, variable: Variable, tensor: SymbolicTensor) -> bool:
        """Returns True if a tensor is the current value of the variable."""
        return self._reads.get(id(tensor)) == variable._id


def _is_plain(variable: Any) -> bool:
    """Returns True if it is a variable of one value, with a dtype and static shape that the kernels accept."""
    has_one_value = type(variable) is ResourceVariable
    return has_one_value and variable.dtype in (float32, float64) and variable.shape.is_fully_defined()


# ---- rules -----------------------------------------------------------------------------------------------------------


def _addition(updating: _Updating, step: Step, variable: Variable) -> Step | None:
    """Matches `v += (end - v) * scalar` and `v += factor * scalar`."""
    handle, change = step.args
    scaled = updating.scaled(change, variable)
    if scaled is None:
        return None
    product, factor, scalar = scaled
    difference = updating.producer(factor, ops.Sub.op)
    if difference is not None:
        end, start = difference.args
        if updating.still_holds(variable, start) and end.shape == variable.shape:
            return _one_step("AssignLerp", [handle, end, scalar], [difference, product, step])
    return _one_step("AssignAddProduct", [handle, factor, scalar], [product, step])


def _subtraction(updating: _Updating, step: Step, variable: Variable) -> Step | None:
    """Matches `v -= factor * scalar` and `v -= factor * scalar / divisor`."""
    handle, change = step.args
    scaled = updating.scaled(change, variable)
    if scaled is not None:
        product, factor, scalar = scaled
        return _one_step("AssignSubProduct", [handle, factor, scalar], [product, step])
    quotient = updating.producer(change, ops.RealDiv.op)
    if quotient is None or quotient.args[1].shape != variable.shape:
        return None
    scaled = updating.scaled(quotient.args[0], variable)
    if scaled is None:
        return None
    product, factor, scalar = scaled
    return _one_step("AssignSubQuotient", [handle, factor, quotient.args[1], scalar], [product, quotient, step])


_RULES: dict[str, Callable[[_Updating, Step, Variable], Step | None]] = {
    "AssignAddVariableOp": _addition,
    "AssignSubVariableOp": _subtraction,
}


def _one_step(name: str, args: list[Any], steps: list[Step]) -> Step:
    return Step(VariableUpdate(name, _KERNELS[name]), args, steps[-1].outputs, [o for s in steps for o in s.origins],
                must_run=True)  # fmt: skip


# ---- kernels ---------------------------------------------------------------------------------------------------------


def _kernel(op: str, function: Callable[..., Any], in_place: Callable[..., Any]) -> Callable[..., None]:
    """Returns a kernel that changes a variable.

    Args:
        op: the name of the op in errors.
        function: computes the new value from the old one and the operands.
        in_place: the same, in the memory of the old value.
    """

    def kernel(variable: Variable, first: torch.Tensor, *rest: torch.Tensor) -> None:
        operand = EagerTensor(first, variable.dtype)
        variable._update(
            op, operand, lambda value, x: function(value, x, *rest), lambda value, x: in_place(value, x, *rest)
        )

    return kernel


def _minus_quotient(divide: Callable[..., Any], value: Any, x: Any, divisor: Any, rate: Any) -> Any:
    """Computes `value - rate * x / divisor` by `addcdiv` or `addcdiv_`."""
    if rate.is_cpu:
        return divide(value, x, divisor, value=-rate.item())
    return divide(value, x * rate, divisor, value=-1)  # `item` would wait for the device


_subtract_product = functools.partial(torch.addcmul, value=-1)
_subtract_product_in_place = functools.partial(torch.Tensor.addcmul_, value=-1)

_KERNELS: dict[str, Callable[..., None]] = {
    "AssignLerp": _kernel("AssignAddVariableOp", torch.lerp, torch.Tensor.lerp_),
    "AssignAddProduct": _kernel("AssignAddVariableOp", torch.addcmul, torch.Tensor.addcmul_),
    "AssignSubProduct": _kernel("AssignSubVariableOp", _subtract_product, _subtract_product_in_place),
    "AssignSubQuotient": _kernel(
        "AssignSubVariableOp",
        functools.partial(_minus_quotient, torch.addcdiv),
        functools.partial(_minus_quotient, torch.Tensor.addcdiv_),
    ),
}

# The same for many variables at once, as `function(values, *lists, scalar)`; see `grouping.py`.
OF_MANY: dict[str, Callable[..., Any]] = {
    "AssignLerp": lambda values, ends, share: (
        aten.foreach_lerp(values, ends, share.item()) if share.is_cpu
        else aten.foreach_add(values, aten.foreach_mul(aten.foreach_sub(ends, values), share))
    ),
    "AssignAddProduct": lambda values, by, rate: (
        aten.foreach_add(values, by, alpha=rate.item()) if rate.is_cpu
        else aten.foreach_add(values, aten.foreach_mul(by, rate))
    ),
    "AssignSubProduct": lambda values, by, rate: (
        aten.foreach_sub(values, by, alpha=rate.item()) if rate.is_cpu
        else aten.foreach_sub(values, aten.foreach_mul(by, rate))
    ),
    "AssignSubQuotient": lambda values, by, divisors, rate: (
        aten.foreach_addcdiv(values, by, divisors, value=-rate.item()) if rate.is_cpu
        else aten.foreach_addcdiv(values, aten.foreach_mul(by, rate), divisors, value=-1)
    ),
}  # fmt: skip
