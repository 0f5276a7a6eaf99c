"""Programs with their conditionals and loops. These become `if`, `for` and `while` statements of the source."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from tapeflow.core.ops.definition import ops
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.graph.codegen.counters import increment
from tapeflow.graph.codegen.program import Program, Step
from tapeflow.graph.ir.operation import symbolic_in

if TYPE_CHECKING:
    from tapeflow.graph.control.body import Body

CONDITIONALS = frozenset({"If", "StatelessIf", "Case", "StatelessCase"})
LOOPS = frozenset({"While", "StatelessWhile"})


def specialized(body: Body) -> Program:
    """Returns the program of a function's body after the passes that substitute faster kernels."""
    return body.compiled.specialized()


class Region:
    """A program and the regions of the branches and loops in it.

    Attributes:
        program: the program.
        branches: for each branch of a conditional, its region and the places of its inputs among the step's operands,
            by the ids of the conditionals' steps.
        loops: the loops, by the ids of their steps.
        packed: the scalars of index vectors that kernels take only as Python numbers, such as shapes, by the ids of the
            vectors. These vectors need no tensor.

    Args:
        program: the program.
        program_of: returns the program of a branch, or of a loop's condition or body.
    """

    def __init__(self, program: Program, program_of: Callable[[Body], Program] = specialized) -> None:
        self.program = program
        self.branches: dict[int, list[tuple[Region, Sequence[int]]]] = {}
        self.loops: dict[int, LoopRegion] = {}
        as_tensors = {id(t) for t in program.outputs}
        for step in program.steps:
            as_tensors.update(id(t) for t in symbolic_in(step.op.tensors(step.args)))
            if step.registered:
                continue
            if step.name in CONDITIONALS:
                self.branches[id(step)] = [
                    (Region(program_of(body), program_of), step.op.places[label])
                    for label, body in step.op.bodies.items()
                ]
            elif step.name in LOOPS and (step.op.kernel.residuals is None or program_of is not specialized):
                self.loops[id(step)] = step.op.kernel.region(program_of)
        self.packed: dict[int, list[SymbolicTensor]] = {
            id(step.outputs[0]): step.args[0]
            for step in program.steps
            if step.op is ops.Pack.op and id(step.outputs[0]) not in as_tensors and _are_indices(step.args[0])
        }


def _are_indices(tensors: Sequence[SymbolicTensor]) -> bool:
    return all(t.shape.rank == 0 and t.dtype.is_integer for t in tensors)


class Ahead(NamedTuple):
    """The hoisted part of a loop (see `Prologue`).

    Attributes:
        region: the region that computes it. Its first inputs are the trip count and the counter's values.
        shared: the number of loop-invariant outputs. They come first. Later outputs have one value per iteration.
    """

    region: Region
    shared: int


class LoopRegion:
    """A loop, with the regions of its condition and body.

    Attributes:
        condition, body: the regions.
        ahead: the hoisted part, or None.
        from_ahead: the body's inputs for its results.
        variables: for each loop variable, its inputs of condition and body.
        captured: the inputs for each loop-invariant value, by its place among these values.
        limited: True if the loop's first operand is the maximal trip count.
        counter: the index of the loop variable that counts the iterations, or None.
        numbers: the indices of loop variables that are Python numbers: each iteration adds a constant.

    Args:
        count: the number of loop variables.
        places: for condition and body, the places of the loop-invariant values that follow the loop variables.
    """

    def __init__(
        self,
        condition: Region,
        body: Region,
        count: int,
        places: Sequence[Sequence[int]],
        limited: bool,
        counter: int | None,
        ahead: Ahead | None = None,
    ) -> None:
        self.condition, self.body, self.limited = condition, body, limited
        self.counter, self.ahead = counter, ahead
        self.numbers = {i for i in range(count) if increment(body.program, i) is not None}
        inputs = [region.program.inputs for region in (condition, body)]
        self.variables = list(zip(*[tensors[:count] for tensors in inputs], strict=False))
        self.from_ahead = inputs[1][count + len(places[1]) :]
        invariant = [(tensors[count:], own) for tensors, own in zip(inputs, places, strict=True)]
        if ahead is not None:
            invariant.append((ahead.region.program.inputs[2:], places[1]))
        self.captured: dict[int, list[SymbolicTensor]] = {}
        for tensors, places_of_inputs in invariant:
            for t, place in zip(tensors, places_of_inputs, strict=False):
                self.captured.setdefault(place, []).append(t)

    @property
    def test(self) -> Step:
        """The step that computes the condition."""
        program = self.condition.program
        return next(step for step in program.steps if any(t is program.outputs[0] for t in step.outputs))
