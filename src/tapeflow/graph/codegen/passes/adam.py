"""Adam: the moving averages of a gradient and of its square, and the step along their quotient, in ATen's fused kernel.

After updating (`updating.py`) there are four passes over memory for each variable, and three temporaries; the fused
kernel reads and writes everything once, for all variables in one call. The pattern, in the order of the program, is

    AssignLerp(mean, g, 1 - beta1)
    AssignLerp(square, g * g, 1 - beta2)
    AssignSubQuotient(variable, mean, sqrt(square) + epsilon, rate)

with no other read or change of the two averages in between. (Kingma & Ba, Adam, 2015, algorithm 1 with the bias
corrections in the rate, as section 2 has it.) As with `fusing.py`, last bits may differ from eager ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import torch

from tapeflow.core import aten
from tapeflow.core.ops.definition import Op, ops
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.variable import ResourceVariable, Variable
from tapeflow.core.values.variable_updates import Locked
from tapeflow.graph.codegen.effects import touched_variables
from tapeflow.graph.codegen.passes.pruning import prune
from tapeflow.graph.codegen.program import Program, Step
from tapeflow.graph.ir.graph import READ
from tapeflow.graph.ir.operation import GraphOp, variable_of


def join_adam(program: Program) -> None:
    """Replaces Adam's updates of any number of variables by one step."""
    if any(step.name == "AssignSubQuotient" for step in program.steps):
        prune(program)  # updating leaves steps without uses
        program.steps = list(_joined(program.steps, _updates(program)))


class _Update(NamedTuple):
    """Adam's update of one variable.

    Attributes:
        tensors: the handles of the variable and of its two averages, and the gradient.
        rate: the learning rate, with the bias corrections in it.
        shares: the weights of the new values in the averages, 1 - beta1 and 1 - beta2.
        epsilon: the summand in the divisor.
        steps: the steps that it replaces; the last one changes the variable.
    """

    tensors: tuple[SymbolicTensor, ...]
    rate: SymbolicTensor
    shares: tuple[float, float]
    epsilon: float
    steps: list[Step]

    @property
    def kind(self) -> Any:
        """The settings that updates must share to be computed in one call."""
        return id(self.rate), self.shares, self.epsilon, variable_of(self.tensors[0]).dtype


# ---- matching --------------------------------------------------------------------------------------------------------


def _updates(program: Program) -> list[_Update]:
    """Returns the matches of the pattern in a program."""
    uses = program.use_counts()
    places = {id(t): i for i, step in enumerate(program.steps) for t in step.outputs}
    touched = [touched_variables(step) for step in program.steps]

    def producer(tensor: Any, op: Op) -> int | None:
        """Returns the place of the step that computes a tensor, if it is of this op and the tensor has no other use."""
        i = places.get(id(tensor))
        if i is None or uses[id(tensor)] != 1:
            return None
        step = program.steps[i]
        return i if step.op is op and step.native and not step.placed else None

    def is_square_of(tensor: Any, gradient: Any) -> bool:
        i = places.get(id(tensor))
        return i is not None and program.steps[i].op is ops.Square.op and program.steps[i].args[0] is gradient

    def average_update(read: int, until: int) -> int | None:
        """Returns the place of the update of the average read at `read`; None if others touch it before `until`."""
        variable = variable_of(program.steps[read].args[0])
        touching = [i for i in range(until) if i != read and _touches(touched[i], variable)]
        last = touching[-1] if touching else read
        return last if last < read and program.steps[last].name == "AssignLerp" else None

    def match(last: int) -> _Update | None:
        """Returns the update that ends with the `AssignSubQuotient` at place `last`, or None."""
        handle, mean, divisor, rate = program.steps[last].args
        mean_read, total = producer(mean, READ), producer(divisor, ops.AddV2.op)
        if mean_read is None or total is None:
            return None
        epsilon, summand = _epsilon_and_summand(program, total)
        root = producer(summand, ops.Sqrt.op)
        square_read = None if root is None else producer(program.steps[root].args[0], READ)
        if epsilon is None or root is None or square_read is None:
            return None
        mean_update, square_update = average_update(mean_read, last), average_update(square_read, last)
        if mean_update is None or square_update is None:
            return None
        mean_handle, gradient, share = program.steps[mean_update].args
        square_handle, squares, square_share = program.steps[square_update].args
        if not is_square_of(squares, gradient):
            return None
        tensors = (handle, mean_handle, square_handle, gradient)
        shares = _share(program, share), _share(program, square_share)
        if not _are_alike(tensors) or None in shares:
            return None
        matched = sorted({mean_update, square_update, mean_read, square_read, root, total, last})
        between = set(range(matched[0], last)) - set(matched)
        if any(touched[i] is None for i in between):
            return None
        return _Update(tensors, rate, shares, epsilon, [program.steps[i] for i in matched])  # type: ignore[arg-type]

    ends = [i for i, step in enumerate(program.steps) if step.name == "AssignSubQuotient"]
    return [update for update in map(match, ends) if update is not None]


def _touches(touched: frozenset[int] | None, variable: Any) -> bool:
    return touched is None or variable is None or variable._id in touched


def _epsilon_and_summand(program: Program, place: int) -> tuple[float | None, Any]:
    """Returns the constant, finite and not negative, in a sum and the other summand; (None, None) if there is none."""
    args = program.steps[place].args
    for number, other in (args, args[::-1]):
        value = program.constant(number)
        if isinstance(value, torch.Tensor) and not value.ndim and 0 <= value.item() < math.inf:
            return value.item(), other
    return None, None


def _share(program: Program, tensor: SymbolicTensor) -> float | None:
    """Returns the value of a constant that is a valid `1 - beta`, or None."""
    value = program.constant(tensor)
    return value.item() if isinstance(value, torch.Tensor) and 0 < value.item() <= 1 else None


def _are_alike(tensors: tuple[SymbolicTensor, ...]) -> bool:
    """Returns True if the handles are of three plain variables with the gradient's dtype and static shape."""
    *handles, gradient = tensors
    variables = [variable_of(handle) for handle in handles]
    if any(type(v) is not ResourceVariable for v in variables) or len({v._id for v in variables}) < 3:
        return False
    return all(v.dtype is gradient.dtype and v.shape == gradient.shape for v in variables)


# ---- replacing -------------------------------------------------------------------------------------------------------


def _joined(steps: list[Step], updates: list[_Update]) -> Iterator[Step]:
    """Yields the steps with the updates joined, which come before the next step that touches their variables."""
    replaced = {id(step) for update in updates for step in update.steps}
    by_end = {id(update.steps[-1]): update for update in updates}
    ready: list[_Update] = []
    changed: set[int] = set()
    for step in steps:
        touched = touched_variables(step) if id(step) not in replaced else _variables_of(by_end.get(id(step)))
        if ready and (touched is None or not changed.isdisjoint(touched)):
            yield from _steps_of(ready)
            ready, changed = [], set()
        if id(step) not in replaced:
            yield step
        elif id(step) in by_end:
            ready.append(by_end[id(step)])
            changed |= _variables_of(ready[-1])
    yield from _steps_of(ready)


def _variables_of(update: _Update | None) -> frozenset[int]:
    """Returns the ids of the three variables of an update."""
    return frozenset() if update is None else frozenset(variable_of(handle)._id for handle in update.tensors[:3])


def _steps_of(updates: list[_Update]) -> list[Step]:
    """Returns a step for each kind of update."""
    kinds: dict[Any, list[_Update]] = {}
    for update in updates:
        kinds.setdefault(update.kind, []).append(update)
    return [_step_of(group) for group in kinds.values()]


def _step_of(updates: list[_Update]) -> Step:
    """Returns the step for updates of one kind."""
    columns = [list(column) for column in zip(*[u.tensors for u in updates], strict=True)]
    first = updates[0]
    kernel = _kernel(*first.shares, first.epsilon)
    step = _on_lists("ApplyAdam", kernel, columns, first.rate, [u.steps[-1] for u in updates])
    step.origins = [o for update in updates for s in update.steps for o in s.origins]
    return step


def _on_lists(
    name: str, kernel: Callable[..., Any], lists: list[list[Any]], shared: SymbolicTensor | None, steps: list[Step]
) -> Step:
    """Returns one step in the place of several, whose kernel takes lists of tensors.

    Args:
        name: the name of its op.
        kernel: called with the lists, and with `shared` if there is one.
        lists: lists of tensors with an element for each step.
        shared: a tensor that all steps take.
        steps: the steps.
    """
    args = [t for column in lists for t in column] + ([] if shared is None else [shared])
    places = iter(range(len(args)))
    columns = [f"[{', '.join(f'{{{next(places)}}}' for _ in column)}]" for column in lists]
    operands = ", ".join(columns + ([] if shared is None else [f"{{{next(places)}}}"]))
    op = GraphOp(name, kernel, template=f"{{kernel}}({operands})", gives_tuple=True)
    outputs = [t for step in steps for t in step.outputs]
    return Step(op, args, outputs, [o for s in steps for o in s.origins], must_run=any(s.must_run for s in steps))


# ---- kernels ---------------------------------------------------------------------------------------------------------

Tensors = list[torch.Tensor]
_INFINITE = torch.tensor(
    math.inf
)  # the step number; it disables the kernel's bias corrections, which the rate includes


def _kernel(share: float, square_share: float, epsilon: float) -> Callable[..., None]:
    """Returns the kernel of Adam's update for given weights of the averages and epsilon."""

    def kernel(
        variables: list[Variable], means: list[Variable], squares: list[Variable], gradients: list[torch.Tensor],
        rate: torch.Tensor,
    ) -> None:  # fmt: skip
        all_variables, count = [*variables, *means, *squares], len(variables)
        with Locked(all_variables):
            begun = [v._begin() for v in all_variables]
            memory = [m for _, m in begun]
            try:
                step(memory[:count], memory[count : 2 * count], memory[2 * count :], gradients, rate)
            finally:
                for variable, (tensor, m) in zip(all_variables, begun, strict=True):
                    variable._end(tensor, m)

    def step(values: Tensors, first: Tensors, second: Tensors, gradients: Tensors, rate: torch.Tensor) -> None:
        if not rate.is_cpu:  # `item` would wait for the device
            aten.foreach_lerp_(first, gradients, share)
            aten.foreach_lerp_(second, aten.foreach_mul(gradients, gradients), square_share)
            divisors = aten.foreach_sqrt(second)
            aten.foreach_add_(divisors, epsilon)
            aten.foreach_addcdiv_(values, aten.foreach_mul(first, rate), divisors, value=-1)
            return
        aten.fused_adam_(
            values, [g.contiguous() for g in gradients], first, second, [], [_INFINITE] * len(values), lr=rate.item(),
            beta1=1 - share, beta2=1 - square_share, weight_decay=0.0, eps=epsilon, amsgrad=False, maximize=False,
        )  # fmt: skip
        # The kernel counts no change itself; `caching.py` looks at that.
        torch.autograd.graph.increment_version([*values, *first, *second])

    return kernel
