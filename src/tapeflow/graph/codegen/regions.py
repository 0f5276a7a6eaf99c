"""A program with its conditionals and loops, which are written out in it as Python's own `if` and `while`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch

from tapeflow.core.types.dtypes import DType
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.graph.codegen.program import Program, Step
from tapeflow.graph.codegen.scalars import may_be_number, template
from tapeflow.graph.ir.operation import symbolic_in

if TYPE_CHECKING:
    from tapeflow.graph.control.body import Body

Numbers = dict[int, DType]  # the dtypes of tensors that are numbers, by the tensors' ids

_CONDITIONALS = frozenset({"If", "StatelessIf", "Case", "StatelessCase"})
_LOOPS = frozenset({"While", "StatelessWhile"})


class Region:
    """A program whose conditionals and loops are parts of it.

    Attributes:
        program: the program.
        branches: by the ids of its conditionals: for each branch, its region and which of the conditional's values it
            takes.
        loops: its loops, by the ids of their steps.
        packed: by the ids of vectors of numbers that are taken as Python numbers alone (shapes and indices): the
            numbers.
        indices: the ids of the steps that would make tensors of them.
        originals: the tensors of the graph that the program's own stand for, by the ids of these.

    Args:
        graphs: the ids of the graphs that programs around and before it are of. What is part of one program twice has
            tensors of its own the second time: a scalar may be a number here and a tensor there.
    """

    def __init__(self, program: Program, graphs: set[int] | None = None) -> None:
        graphs = set() if graphs is None else graphs
        own = {id(t.graph) for t in program.inputs} | {id(o.graph) for step in program.steps for o in step.origins}
        self.originals = {} if graphs.isdisjoint(own) else program.renamed()
        graphs |= own
        self.program = program
        self.branches: dict[int, list[tuple[Region, Sequence[int]]]] = {}
        self.loops: dict[int, LoopRegion] = {}
        self.packed: dict[int, list[SymbolicTensor]] = {}
        self.indices: set[int] = set()
        for step in program.steps:
            if step.registered or step.op.saved is not None:
                continue
            if step.name in _CONDITIONALS:
                bodies = step.op.bodies.items()
                self.branches[id(step)] = [(region_of(body, graphs), step.op.places[label]) for label, body in bodies]
            elif step.name in _LOOPS:
                self.loops[id(step)] = step.op.kernel.region(graphs)

    @property
    def parts(self) -> list[Region]:
        """The regions in it."""
        loops = [region for loop in self.loops.values() for region in (loop.condition, loop.body)]
        return [region for branches in self.branches.values() for region, _ in branches] + loops

    def find_numbers(self, numbers: Numbers) -> None:
        """Adds the tensors that are numbers if those in `numbers` are."""
        for step in self.program.steps:
            if id(step) in self.branches:
                self._find_in_branches(step, numbers)
            elif id(step) in self.loops:
                loop = self.loops[id(step)]
                numbers.update(loop.find_numbers())
                _add(numbers, [t for t, own in zip(step.outputs, loop.variables, strict=True) if id(own[0]) in numbers])
            elif template(step) is not None and all(self.is_number(t, numbers) for t in step.inputs):
                _add(numbers, step.outputs)

    def _find_in_branches(self, step: Step, numbers: Numbers) -> None:
        branches, values = self.branches[id(step)], step.args[1:]
        for inner, places in branches:
            taken = zip(inner.program.inputs, places, strict=True)
            _add(numbers, [t for t, p in taken if self.is_number(values[p], numbers)])
            inner.find_numbers(numbers)
        for i, out in enumerate(step.outputs):
            if all(inner.is_number(inner.program.outputs[i], numbers) for inner, _ in branches):
                _add(numbers, [out])

    def is_number(self, tensor: Any, numbers: Numbers) -> bool:
        """Whether a tensor is a number, or a constant that can be one."""
        return id(tensor) in numbers or (
            may_be_number(tensor) and isinstance(self.program.constant(tensor), torch.Tensor)
        )

    def find_indices(self, numbers: Numbers) -> None:
        """Finds the vectors of numbers that nobody takes as tensors."""
        for part in self.parts:
            part.find_indices(numbers)
        as_tensors = {id(t) for t in self.program.outputs}
        for step in self.program.steps:
            as_tensors.update(id(t) for t in symbolic_in(step.op.tensors(step.args)))
        for step in self.program.steps:
            if step.name != "Pack" or not step.registered or id(step.outputs[0]) in as_tensors:
                continue
            if all(t.dtype.is_integer and self.is_number(t, numbers) for t in step.args[0]):
                self.packed[id(step.outputs[0])] = step.args[0]
                self.indices.add(id(step))


class LoopRegion:
    """A loop.

    Attributes:
        condition, body: their regions.
        variables: for each loop variable, the inputs of condition and body that are it.
        captured: by places among the captured values: the inputs that they are.
        limited: whether the loop takes, first of all, how often its body runs at most.
    """

    def __init__(
        self, condition: Region, body: Region, count: int, places: Sequence[Sequence[int]], limited: bool
    ) -> None:
        self.condition, self.body, self.limited = condition, body, limited
        inputs = [region.program.inputs for region in (condition, body)]
        self.variables = list(zip(*[tensors[:count] for tensors in inputs], strict=True))
        self.captured: dict[int, list[SymbolicTensor]] = {}
        for tensors, taken in zip(inputs, places, strict=True):
            for t, place in zip(tensors[count:], taken, strict=True):
                self.captured.setdefault(place, []).append(t)

    def find_numbers(self) -> Numbers:
        """The loop's tensors that are numbers. A loop variable is one if the body gives a number for it."""
        outputs = self.body.program.outputs
        carried = [i for i, pair in enumerate(self.variables) if may_be_number(pair[0])]
        while True:
            numbers: Numbers = {}
            _add(numbers, [t for i in carried for t in self.variables[i]])
            _add(numbers, [t for tensors in self.captured.values() for t in tensors if may_be_number(t)])
            self.condition.find_numbers(numbers)
            self.body.find_numbers(numbers)
            still = [i for i in carried if self.body.is_number(outputs[i], numbers)]
            if still == carried:
                return numbers
            carried = still


def _add(numbers: Numbers, tensors: Sequence[SymbolicTensor]) -> None:
    numbers.update((id(t), t.dtype) for t in tensors)


def region_of(body: Body, graphs: set[int]) -> Region:
    """The region of a function's body, as fast as it gets."""
    return Region(body.compiled.specialized(), graphs)
