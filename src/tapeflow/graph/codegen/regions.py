"""Programs with their conditionals and loops, which become `if` and `while` statements of the source."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import torch

from tapeflow.core.ops.definition import ops
from tapeflow.core.types.dtypes import DType
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.graph.codegen.program import Program, Step
from tapeflow.graph.codegen.scalars import may_be_number, template
from tapeflow.graph.ir.operation import symbolic_in

if TYPE_CHECKING:
    from tapeflow.graph.control.body import Body

Numbers = dict[int, DType]  # the dtypes of the tensors that are held as Python numbers, by the tensors' ids

CONDITIONALS = frozenset({"If", "StatelessIf", "Case", "StatelessCase"})
LOOPS = frozenset({"While", "StatelessWhile"})


def specialized(body: Body) -> Program:
    """Returns the program of a function's body, after the passes that choose faster kernels."""
    return body.compiled.specialized()


class Region:
    """A program and the regions of the branches and loops in it.

    Attributes:
        program: the program.
        branches: by the ids of conditional steps: for each branch, its region and the places of its inputs among the
            step's operands.
        loops: the loops, by the ids of their steps.
        blocks: the parts that run at the same time, by the ids of the steps that run them.
        packed: the scalars of vectors that are used as Python numbers alone (shapes and indices), by the vectors' ids.
        packing_steps: the ids of the steps that would compute these vectors.
        originals: the tensors of the graph that the program's tensors replace, by the ids of the latter.

    Args:
        program: the program.
        graphs: the ids of the graphs of the regions around and before it; its own are added. A graph that occurs twice
            gets new tensors the second time: a scalar may be a number in one region and a tensor in the other.
        program_of: returns the program of a branch, or of the condition or body of a loop.
        around: the region that the program is a part of, with whose tensors it computes.
    """

    def __init__(
        self,
        program: Program,
        graphs: set[int] | None = None,
        program_of: Callable[[Body], Program] = specialized,
        around: Region | None = None,
    ) -> None:
        graphs = set() if graphs is None else graphs
        if around is None:
            own = {id(t.graph) for t in program.inputs} | {id(o.graph) for step in program.steps for o in step.origins}
            self.originals = {} if graphs.isdisjoint(own) else program.replace_tensors()
            graphs |= own
        else:
            self.originals = around.originals
        self.program = program
        self.branches: dict[int, list[tuple[Region, Sequence[int]]]] = {}
        self.loops: dict[int, LoopRegion] = {}
        self.blocks: dict[int, list[Region]] = {}
        self.packed: dict[int, list[SymbolicTensor]] = {}
        self.packing_steps: set[int] = set()
        for step in program.steps:
            if step.blocks:
                self.blocks[id(step)] = [Region(block, graphs, program_of, self) for block in step.blocks]
                continue
            if step.registered or (step.operation.record is not None and program_of is specialized):
                continue
            if step.name in CONDITIONALS:
                self.branches[id(step)] = [
                    (Region(program_of(body), graphs, program_of), step.op.places[label])
                    for label, body in step.op.bodies.items()
                ]
            elif step.name in LOOPS:
                self.loops[id(step)] = step.op.kernel.region(graphs, program_of)

    @property
    def inner(self) -> list[Region]:
        """The regions of its branches, loops and parts."""
        loops = [region for loop in self.loops.values() for region in loop.regions]
        blocks = [region for blocks in self.blocks.values() for region in blocks]
        return [region for branches in self.branches.values() for region, _ in branches] + loops + blocks

    def find_numbers(self, numbers: Numbers) -> None:
        """Adds to `numbers` the tensors that can be computed from those in it as numbers."""
        for step in self.program.steps:
            if id(step) in self.branches:
                self._find_in_branches(step, numbers)
            elif id(step) in self.loops:
                loop = self.loops[id(step)]
                numbers.update(loop.find_numbers())
                _add(numbers, [t for t, own in zip(step.outputs, loop.variables, strict=True) if id(own[0]) in numbers])
            elif id(step) in self.blocks:
                for region in self.blocks[id(step)]:
                    region.find_numbers(numbers)
            elif template(step) is not None and all(self.is_number(t, numbers) for t in step.inputs):
                _add(numbers, step.outputs)

    def _find_in_branches(self, step: Step, numbers: Numbers) -> None:
        """Adds the tensors of a conditional: outputs that are numbers in all branches, and the branches' own."""
        branches, values = self.branches[id(step)], step.args[1:]
        for inner, places in branches:
            inputs = zip(inner.program.inputs, places, strict=True)
            _add(numbers, [t for t, place in inputs if self.is_number(values[place], numbers)])
            inner.find_numbers(numbers)
        for i, out in enumerate(step.outputs):
            if all(inner.is_number(inner.program.outputs[i], numbers) for inner, _ in branches):
                _add(numbers, [out])

    def is_number(self, tensor: Any, numbers: Numbers) -> bool:
        """Returns True if a tensor is held as a number, or is a constant that can be."""
        return id(tensor) in numbers or (
            may_be_number(tensor) and isinstance(self.program.constant(tensor), torch.Tensor)
        )

    def find_indices(self, numbers: Numbers) -> None:
        """Fills `packed` and `packing_steps` with the vectors of numbers that nothing uses as tensors."""
        for region in self.inner:
            region.find_indices(numbers)
        as_tensors = {id(t) for t in self.program.outputs}
        for step in self.program.steps:
            as_tensors.update(id(t) for t in symbolic_in(step.op.tensors(step.args)))
        for step in self.program.steps:
            if step.op is not ops.Pack.op or id(step.outputs[0]) in as_tensors:
                continue
            if all(t.dtype.is_integer and self.is_number(t, numbers) for t in step.args[0]):
                self.packed[id(step.outputs[0])] = step.args[0]
                self.packing_steps.add(id(step))


class Ahead(NamedTuple):
    """The part of a loop that is computed before it (see `Prologue`).

    Attributes:
        region: the region that computes it. Its first inputs are the number of iterations and the counter's values.
        shared: how many of its outputs are the same in all iterations; of the others, each iteration has its own.
        counter: the number of the loop variable that counts.
    """

    region: Region
    shared: int
    counter: int | None


class LoopRegion:
    """A loop, with the regions of its condition and body.

    Attributes:
        condition, body: the regions.
        ahead: what is computed before the loop, or None.
        from_ahead: the inputs of the body that it is passed to.
        variables: for each carried value, the inputs of condition and body that it is passed to.
        captured: the inputs that each loop-invariant value is passed to, by its place among these values.
        limited: whether the loop's first operand is the maximal trip count.

    Args:
        count: the number of carried values.
        places: for condition and body, the places of the loop-invariant values that follow the carried ones.
    """

    def __init__(
        self,
        condition: Region,
        body: Region,
        count: int,
        places: Sequence[Sequence[int]],
        limited: bool,
        ahead: Ahead | None = None,
    ) -> None:
        self.condition, self.body, self.limited, self.ahead = condition, body, limited, ahead
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
    def regions(self) -> list[Region]:
        """The regions of what is computed before the loop, of its condition and of its body, in this order."""
        return [*([] if self.ahead is None else [self.ahead.region]), self.condition, self.body]

    def find_numbers(self) -> Numbers:
        """Returns the loop's tensors that can be numbers. A carried value can if the body computes it as a number."""
        outputs = self.body.program.outputs
        carried = [i for i, pair in enumerate(self.variables) if may_be_number(pair[0])]
        while True:
            numbers: Numbers = {}
            _add(numbers, [t for i in carried for t in self.variables[i]])
            _add(numbers, [t for tensors in self.captured.values() for t in tensors if may_be_number(t)])
            if self.ahead is not None:
                self._find_ahead(self.ahead, numbers)
            self.condition.find_numbers(numbers)
            self.body.find_numbers(numbers)
            still = [i for i in carried if self.body.is_number(outputs[i], numbers)]
            if still == carried:
                return numbers
            carried = still

    def _find_ahead(self, ahead: Ahead, numbers: Numbers) -> None:
        """Adds the numbers that are computed before the loop."""
        program = ahead.region.program
        _add(numbers, program.inputs[:1])
        ahead.region.find_numbers(numbers)
        pairs = zip(program.outputs[: ahead.shared], self.from_ahead, strict=False)
        _add(numbers, [own for t, own in pairs if ahead.region.is_number(t, numbers)])


def _add(numbers: Numbers, tensors: Sequence[SymbolicTensor]) -> None:
    numbers.update((id(t), t.dtype) for t in tensors)
