"""Updating: the arithmetic that leads to a change of a variable, and the change, become one kernel of ATen.

Optimizers move averages (`v += (x - v) * share`, which is `lerp`), and variables along a gradient
(`v -= rate * g`, `addcmul`) or along a quotient (`v -= rate * m / d`, `addcdiv`). What is passed over must be of no
use to anybody else. As with `fusing.py`, last bits may differ from eager ones.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch

from tapeflow.core.types.dtypes import float32, float64
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.tensor import EagerTensor
from tapeflow.core.values.variable import Variable
from tapeflow.graph.codegen.program import Program, Step
from tapeflow.graph.ir.graph import READ
from tapeflow.graph.ir.operation import GraphOp, variable_of


def update(program: Program) -> None:
    """Puts one step in the place of a change and of the steps that compute what it changes by."""
    if any(step.name in _RULES for step in program.steps):
        updating = _Updating(program)
        program.steps = [updating.updated(step) for step in program.steps]


class _Updating:
    """What has been seen of a program on the way through it."""

    def __init__(self, program: Program) -> None:
        self._uses = program.uses()
        self._makers: dict[int, Step] = {}
        self._reads: dict[int, int] = {}  # by the id of a tensor: the id of the variable that still has its value

    def updated(self, step: Step) -> Step:
        """The step, or one that does the work of those before it too; these are pruned later."""
        rule = _RULES.get(step.name)
        variable: Any = variable_of(step.args[0]) if rule is not None and not step.registered else None
        made = rule(self, step, variable) if rule is not None and _may_change(variable) and not step.placed else None
        if step.op is READ:
            read = variable_of(step.args[0])
            if read is not None:
                self._reads[id(step.outputs[0])] = read._id
        elif step.must_run:
            changed = step.changes
            self._reads = {t: v for t, v in self._reads.items() if changed is not None and v != changed}
        for tensor in step.outputs:
            self._makers[id(tensor)] = step
        return step if made is None else made

    def maker(self, tensor: SymbolicTensor, name: str) -> Step | None:
        """The step of this op that gives a tensor which is taken only once."""
        found = self._makers.get(id(tensor))
        if found is None or found.name != name or not found.registered or not found.native or found.placed:
            return None
        return found if self._uses[id(tensor)] == 1 else None

    def scaled(self, tensor: SymbolicTensor, variable: Variable) -> tuple[Step, SymbolicTensor, SymbolicTensor] | None:
        """The step that gives a tensor as a product of one like the variable and a scalar, and these two."""
        step = self.maker(tensor, "Mul")
        if step is None:
            return None
        for factor, scalar in (step.args, step.args[::-1]):
            if scalar.shape.rank == 0 and factor.shape == variable.shape:
                return step, factor, scalar
        return None

    def still_holds(self, variable: Variable, tensor: SymbolicTensor) -> bool:
        """Whether a tensor is the value that the variable has now."""
        return self._reads.get(id(tensor)) == variable._id


def _may_change(variable: Any) -> bool:
    return type(variable) is Variable and variable.dtype in (float32, float64) and variable.shape.is_fully_defined()


# ---- what is found ---------------------------------------------------------------------------------------------------


def _addition(updating: _Updating, step: Step, variable: Variable) -> Step | None:
    handle, change = step.args
    found = updating.scaled(change, variable)
    if found is None:
        return None
    product, factor, scalar = found
    difference = updating.maker(factor, "Sub")
    if difference is not None:
        end, start = difference.args
        if updating.still_holds(variable, start) and end.shape == variable.shape:
            return _one_step("AssignLerp", [handle, end, scalar], [difference, product, step])
    return _one_step("AssignAddProduct", [handle, factor, scalar], [product, step])


def _subtraction(updating: _Updating, step: Step, variable: Variable) -> Step | None:
    handle, change = step.args
    found = updating.scaled(change, variable)
    if found is not None:
        product, factor, scalar = found
        return _one_step("AssignSubProduct", [handle, factor, scalar], [product, step])
    quotient = updating.maker(change, "RealDiv")
    if quotient is None or quotient.args[1].shape != variable.shape:
        return None
    found = updating.scaled(quotient.args[0], variable)
    if found is None:
        return None
    product, factor, scalar = found
    return _one_step("AssignSubQuotient", [handle, factor, quotient.args[1], scalar], [product, quotient, step])


_RULES: dict[str, Callable[[_Updating, Step, Variable], Step | None]] = {
    "AssignAddVariableOp": _addition,
    "AssignSubVariableOp": _subtraction,
}


def _one_step(name: str, args: list[Any], steps: list[Step]) -> Step:
    return Step(GraphOp(name, _KERNELS[name]), args, steps[-1].outputs, [o for s in steps for o in s.origins],
                must_run=True)  # fmt: skip


# ---- kernels ---------------------------------------------------------------------------------------------------------


def _kernel(op: str, function: Callable[..., Any], in_place: Callable[..., Any]) -> Callable[..., None]:
    """A change of a variable by `function(value, *tensors)`, or by what does that in the value's own memory."""

    def kernel(variable: Variable, first: torch.Tensor, *rest: torch.Tensor) -> None:
        first_of_all = EagerTensor(first, variable.dtype)
        variable._update(
            op, first_of_all, lambda value, x: function(value, x, *rest), lambda value, x: in_place(value, x, *rest)
        )

    return kernel


def _minus_quotient(divide: Callable[..., Any], value: Any, x: Any, divisor: Any, rate: Any) -> Any:
    if rate.is_cpu:
        return divide(value, x, divisor, value=-rate.item())
    return divide(value, x * rate, divisor, value=-1)  # to ask a device for a number is to wait for it


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
        torch._foreach_lerp(values, ends, share.item()) if share.is_cpu
        else torch._foreach_add(values, torch._foreach_mul(torch._foreach_sub(ends, values), share))
    ),
    "AssignAddProduct": lambda values, by, rate: (
        torch._foreach_add(values, by, alpha=rate.item()) if rate.is_cpu
        else torch._foreach_add(values, torch._foreach_mul(by, rate))
    ),
    "AssignSubProduct": lambda values, by, rate: (
        torch._foreach_sub(values, by, alpha=rate.item()) if rate.is_cpu
        else torch._foreach_sub(values, torch._foreach_mul(by, rate))
    ),
    "AssignSubQuotient": lambda values, by, divisors, rate: (
        torch._foreach_addcdiv(values, by, divisors, value=-rate.item()) if rate.is_cpu
        else torch._foreach_addcdiv(values, torch._foreach_mul(by, rate), divisors, value=-1)
    ),
}  # fmt: skip
