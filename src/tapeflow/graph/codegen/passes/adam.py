"""Adam: the moving averages of a gradient and of its square, and the step along their quotient, in ATen's fused kernel.

Updating (`updating.py`) leaves four passes over memory for each variable, and three temporaries; the fused kernel reads
and writes everything once, and all variables go together. What is looked for, in the order of the program, is

    AssignLerp(mean, g, 1 - beta1)
    AssignLerp(square, g * g, 1 - beta2)
    AssignSubQuotient(variable, mean, sqrt(square) + epsilon, rate)

with nothing between that reads or changes the two averages. (Kingma & Ba, Adam, 2015, algorithm 1 with the bias
corrections in the rate, as section 2 has it.) As with `fusing.py`, last bits may differ from eager ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import torch

from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.variable import Variable
from tapeflow.graph.codegen.passes.grouping import on_lists
from tapeflow.graph.codegen.passes.pruning import prune
from tapeflow.graph.codegen.program import Program, Step
from tapeflow.graph.ir.graph import READ
from tapeflow.graph.ir.operation import variable_of


def join_adam(program: Program) -> None:
    """Puts one step in the place of the updates that Adam makes to any number of variables."""
    if any(step.name == "AssignSubQuotient" for step in program.steps):
        prune(program)  # of what updating has left without a use
        program.steps = list(_joined(program.steps, _updates(program)))


class _Update(NamedTuple):
    """What Adam does to one variable."""

    tensors: tuple[SymbolicTensor, ...]  # the handles of the variable and of its averages, and the gradient
    rate: SymbolicTensor
    shares: tuple[float, float]  # what the averages take of what is new
    epsilon: float
    steps: list[Step]  # those that do it now; the last one changes the variable

    @property
    def kind(self) -> Any:
        """What updates must have in common to go together."""
        return id(self.rate), self.shares, self.epsilon, variable_of(self.tensors[0]).dtype


# ---- what is found ---------------------------------------------------------------------------------------------------


def _updates(program: Program) -> list[_Update]:
    uses = program.uses()
    places = {id(t): i for i, step in enumerate(program.steps) for t in step.outputs}
    touched = [_touched(step) for step in program.steps]

    def maker(tensor: Any, *names: str) -> int | None:
        """The place of the step of one of these ops that gives a tensor taken only once."""
        i = places.get(id(tensor))
        if i is None or uses[id(tensor)] != 1:
            return None
        step = program.steps[i]
        return i if step.name in names and step.native and not step.placed else None

    def is_square_of(tensor: Any, gradient: Any) -> bool:
        i = places.get(id(tensor))
        return i is not None and program.steps[i].name == "Square" and program.steps[i].args[0] is gradient

    def average(read: int, until: int) -> int | None:
        """The place of the step that moves the average which is read there; nothing else touches it until then."""
        handle = program.steps[read].args[0]
        variable = variable_of(handle)
        near = [i for i in range(until) if i != read and _touches(touched[i], variable)]
        return near[-1] if near and near[-1] < read and program.steps[near[-1]].name == "AssignLerp" else None

    def found(last: int) -> _Update | None:
        handle, mean, divisor, rate = program.steps[last].args
        mean_read, total = maker(mean, READ.name), maker(divisor, "AddV2")
        if mean_read is None or total is None:
            return None
        epsilon, roots = _number_and_other(program, total)
        root = maker(roots, "Sqrt")
        square_read = None if root is None else maker(program.steps[root].args[0], READ.name)
        if epsilon is None or root is None or square_read is None:
            return None
        mean_moved, square_moved = average(mean_read, last), average(square_read, last)
        if mean_moved is None or square_moved is None:
            return None
        mean_handle, gradient, share = program.steps[mean_moved].args
        square_handle, squares, square_share = program.steps[square_moved].args
        if not is_square_of(squares, gradient):
            return None
        tensors = (handle, mean_handle, square_handle, gradient)
        shares = _share(program, share), _share(program, square_share)
        if not _fit(tensors) or None in shares:
            return None
        at = sorted({mean_moved, square_moved, mean_read, square_read, root, total, last})
        between = set(range(at[0], last)) - set(at)
        if any(touched[i] is None for i in between):
            return None
        return _Update(tensors, rate, shares, epsilon, [program.steps[i] for i in at])  # type: ignore[arg-type]

    ends = [i for i, step in enumerate(program.steps) if step.name == "AssignSubQuotient"]
    return [update for update in map(found, ends) if update is not None]


def _touched(step: Step) -> frozenset[int] | None:
    """The ids of the variables that a step reads or changes; None where it may be any."""
    if step.op is not READ and (not step.registered or step.must_run) and step.changes is None:
        return None
    variables = (variable_of(t) for t in step.inputs)
    return frozenset(v._id for v in variables if v is not None)


def _touches(touched: frozenset[int] | None, variable: Any) -> bool:
    return touched is None or variable is None or variable._id in touched


def _number_and_other(program: Program, place: int) -> tuple[float | None, Any]:
    """The positive number that a sum adds, and what it adds it to."""
    args = program.steps[place].args
    for number, other in (args, args[::-1]):
        value = program.constant(number)
        if isinstance(value, torch.Tensor) and not value.ndim and 0 <= value.item() < math.inf:
            return value.item(), other
    return None, None


def _share(program: Program, tensor: SymbolicTensor) -> float | None:
    """A share that the kernel can take as `1 - beta`."""
    value = program.constant(tensor)
    return value.item() if isinstance(value, torch.Tensor) and 0 < value.item() <= 1 else None


def _fit(tensors: tuple[SymbolicTensor, ...]) -> bool:
    """Whether handles of three variables and a gradient are of one dtype and one known shape."""
    *handles, gradient = tensors
    variables = [variable_of(handle) for handle in handles]
    if any(type(v) is not Variable for v in variables) or len({v._id for v in variables}) < 3:
        return False
    return all(v.dtype is gradient.dtype and v.shape == gradient.shape for v in variables)


# ---- what is put in its place ----------------------------------------------------------------------------------------


def _joined(steps: list[Step], updates: list[_Update]) -> Iterator[Step]:
    """The steps without those of the updates, which come all at once, where something else wants their variables."""
    belonging = {id(step) for update in updates for step in update.steps}
    by_end = {id(update.steps[-1]): update for update in updates}
    ready: list[_Update] = []
    changed: set[int] = set()
    for step in steps:
        touched = _touched(step) if id(step) not in belonging else _variables_of(by_end.get(id(step)))
        if ready and (touched is None or not changed.isdisjoint(touched)):
            yield from _together(ready)
            ready, changed = [], set()
        if id(step) not in belonging:
            yield step
        elif id(step) in by_end:
            ready.append(by_end[id(step)])
            changed |= _variables_of(ready[-1])
    yield from _together(ready)


def _variables_of(update: _Update | None) -> frozenset[int]:
    """The ids of the three variables of an update."""
    return frozenset() if update is None else frozenset(variable_of(handle)._id for handle in update.tensors[:3])


def _together(updates: list[_Update]) -> list[Step]:
    """A step for each kind of update."""
    kinds: dict[Any, list[_Update]] = {}
    for update in updates:
        kinds.setdefault(update.kind, []).append(update)
    return [_step(alike) for alike in kinds.values()]


def _step(updates: list[_Update]) -> Step:
    columns = [list(column) for column in zip(*[u.tensors for u in updates], strict=True)]
    first = updates[0]
    kernel = _kernel(*first.shares, first.epsilon)
    made = on_lists("ApplyAdam", kernel, columns, first.rate, [u.steps[-1] for u in updates])
    made.origins = [o for update in updates for step in update.steps for o in step.origins]
    return made


# ---- kernels ---------------------------------------------------------------------------------------------------------

_FOREVER = torch.tensor(math.inf)  # the number of steps after which the kernel corrects nothing: the rate has done it


def _kernel(share: float, square_share: float, epsilon: float) -> Callable[..., None]:
    """Adam's update of variables, which knows all but gradients and rate."""

    def kernel(
        variables: list[Variable], means: list[Variable], squares: list[Variable], gradients: list[torch.Tensor],
        rate: torch.Tensor,
    ) -> None:  # fmt: skip
        values, first, second = ([v._own_memory() for v in column] for column in (variables, means, squares))
        if not rate.is_cpu:  # to ask a device for a number is to wait for it
            torch._foreach_lerp_(first, gradients, share)
            torch._foreach_lerp_(second, torch._foreach_mul(gradients, gradients), square_share)
            divisors = torch._foreach_sqrt(second)
            torch._foreach_add_(divisors, epsilon)
            torch._foreach_addcdiv_(values, torch._foreach_mul(first, rate), divisors, value=-1)
            return
        torch._fused_adam_(
            values, [g.contiguous() for g in gradients], first, second, [], [_FOREVER] * len(values), lr=rate.item(),
            beta1=1 - share, beta2=1 - square_share, weight_decay=0.0, eps=epsilon, amsgrad=False, maximize=False,
        )  # fmt: skip

    return kernel
