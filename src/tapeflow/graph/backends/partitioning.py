"""Partitions a program into parts that TorchInductor compiles, and the steps between them.

Loops, conditionals, prints, Python functions and strings are not calls of kernels on tensors. They stay steps of the
source that TapeFlow writes. The steps between them become calls of compiled functions. The bodies of loops and the
branches of conditionals are programs like any other, also in gradients, and are partitioned in the same way. So one
mechanism serves all control flow. Nothing is translated into a compiler's own loops, which have no lists of tensors, no
ordered side effects and no residuals of unknown number. The loop itself is a few lines of Python and takes little time.

The steps of a part need not follow each other: as many as possible are joined. But variables are read and changed, and
side effects happen, in the order of the program.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Collection
from typing import Any

from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.graph.codegen.program import Program, Step, bytes_of
from tapeflow.graph.ir.graph import READ
from tapeflow.graph.ir.operation import GraphOp, variable_of

MOST_PARTS = 8  # of a program: each is compiled by itself, which takes seconds
# The cost of a call of compiled code, in calls of small kernels.
LEAST_COST = 12
_BYTES = 1 << 15  # bytes that a kernel reads and writes in about the time of its call
_SHAPE = 16  # elements: smaller tensors of integers count as shapes

Function = Callable[..., Any]


class CompiledPart(GraphOp):
    """A part of a program as one step.

    Args:
        kernel: computes it.
    """

    runs_python = False

    def __init__(self, kernel: Function) -> None:
        super().__init__("CompiledPart", kernel, gives_tuple=True)


def divide(program: Program, obstacles: Collection[int], function_of: Callable[[Program], Function]) -> Program:
    """Replaces the steps that can be compiled by calls of functions.

    Args:
        program: the program. It does not change.
        obstacles: the ids of the operations whose steps can't be compiled.
        function_of: returns the function that computes a part, a program.
    """
    return _Division(program, obstacles).program(function_of)


class _Division:
    """The steps of a program, each with its level: on each level, some steps run one by one, and then a part.

    Args:
        program, obstacles: see `divide`.
    """

    def __init__(self, program: Program, obstacles: Collection[int]) -> None:
        self._program = program
        self._producers = {id(t): step for step in program.steps for t in step.outputs}
        self._scalars = {id(t) for t in program.inputs if t.shape.rank == 0}
        self._shapes: set[int] = set()  # of tensors that are computed from the shapes of others
        self._compiled: set[int] = set()  # the ids of the steps that can be compiled
        self._levels: dict[int, int] = {}
        last: dict[str, list[Step]] = {"changes": [], "reads": [], "draws": []}
        for step in program.steps:
            if not self._is_host(step) and id(step.operation) not in obstacles:
                self._compiled.add(id(step))
            self._levels[id(step)] = max([self._after(step, s) for s in self._before(step, last)], default=0)

    def _is_host(self, step: Step) -> bool:
        """Returns True for arithmetic on scalars and shapes, which counts or which others need as numbers."""
        constants = self._program.constants
        scalars = all(t.shape.rank == 0 and (id(t) in self._scalars or id(t) in constants) for t in step.inputs)
        if step.op.elementwise and scalars:
            self._scalars.update(id(t) for t in step.outputs)
            return True
        if not step.pure or not all(t.dtype.is_integer and _is_short(t) for t in step.outputs):
            return False
        if step.op.reads_shape or all(id(t) in self._shapes or id(t) in constants for t in step.inputs):
            self._shapes.update(id(t) for t in step.outputs)
            return True
        return False

    # ---- levels --------------------------------------------------------------------------------------------------

    def _before(self, step: Step, last: dict[str, list[Step]]) -> list[Step]:
        """Returns the steps that must run before one; `last` has the last ones with effects, and notes this one."""
        in_part = id(step) in self._compiled
        before = [s for t in step.inputs for s in self._sources(t, in_part)]
        if step.must_run:
            before += [s for steps in last.values() for s in steps]
            last.update(changes=[step], reads=[], draws=[step])
        elif step.op is READ or any(variable_of(t) is not None for t in step.inputs) or not step.registered:
            before += last["changes"]
            last["reads"].append(step)
        elif step.op.random:
            before += last["draws"]
            last["draws"] = [step]
        return before

    def _sources(self, tensor: SymbolicTensor, in_part: bool) -> list[Step]:
        """Returns the steps that compute a tensor; a part computes shapes itself, from the tensors that have them."""
        step = self._producers.get(id(tensor))
        if step is None:
            return []
        if not in_part or id(tensor) not in self._shapes:
            return [step]
        return [s for t in step.inputs for s in self._sources(t, True)]

    def _after(self, step: Step, other: Step) -> int:
        """Returns the first level for a step that must run after another."""
        follows = id(other) in self._compiled and id(step) not in self._compiled
        return self._levels[id(other)] + follows

    # ---- parts ---------------------------------------------------------------------------------------------------

    def program(self, function_of: Callable[[Program], Function]) -> Program:
        """Returns the program with calls of functions as steps."""
        count = max(self._levels.values(), default=-1) + 1
        single: list[list[Step]] = [[] for _ in range(count)]
        parts: list[list[Step]] = [[] for _ in range(count)]
        for step in self._program.steps:
            (parts if id(step) in self._compiled else single)[self._levels[id(step)]].append(step)
        costs = [_cost(self._program, steps) for steps in parts]
        chosen = sorted((i for i in range(count) if costs[i] and costs[i] >= LEAST_COST), key=lambda i: -costs[i])[
            :MOST_PARTS
        ]
        steps: list[Step] = []
        operands = [{id(t) for t in self._program.outputs}]
        for i in range(count):
            operands.append({id(t) for step in (*single[i], *([] if i in chosen else parts[i])) for t in step.inputs})
        blocks = {i: self._part(parts[i]) for i in sorted(chosen)}
        for i, block in blocks.items():
            others = set().union(*operands, *({id(t) for t in b.inputs} for j, b in blocks.items() if j != i))
            block.outputs = [t for step in parts[i] for t in step.outputs if id(t) in others]
        for i in range(count):
            steps += single[i]
            steps += parts[i] if i not in blocks else [self._step(blocks[i], function_of)]
        whole = copy.copy(self._program)
        whole.steps = _needed(steps, whole.outputs)
        return whole

    def _part(self, steps: list[Step]) -> Program:
        """Returns a program that computes steps, without its outputs yet."""
        within = {id(step) for step in steps}
        stack = [t for step in steps for t in step.inputs]
        while stack:
            t = stack.pop()
            step = self._producers.get(id(t))
            if id(t) in self._shapes and step is not None and id(step) not in within:
                within.add(id(step))
                stack += step.inputs
        part = copy.copy(self._program)
        part.steps = [step for step in self._program.steps if id(step) in within]
        computed = {id(t) for step in part.steps for t in step.outputs}
        inputs = {id(t): t for step in part.steps for t in step.inputs}
        part.inputs = [t for i, t in inputs.items() if i not in computed and i not in part.constants]
        part.outputs = []
        return part

    def _step(self, part: Program, function_of: Callable[[Program], Function]) -> Step:
        must_run = any(step.must_run for step in part.steps)
        operation = part.steps[-1].operation
        return Step(CompiledPart(function_of(part)), part.inputs, part.outputs, [operation], must_run=must_run)


def _needed(steps: list[Step], outputs: list[SymbolicTensor]) -> list[Step]:
    """Returns the steps that outputs and side effects depend on."""
    needed = {id(t) for t in outputs}
    result = []
    for step in reversed(steps):
        if step.must_run or any(id(t) in needed for t in step.outputs):
            result.append(step)
            needed.update(id(t) for t in step.inputs)
    return result[::-1]


def _cost(program: Program, steps: list[Step]) -> float:
    """Returns the estimated cost of steps, in calls of a small kernel; 0 if there is nothing to fuse."""
    kernels = [s for s in steps if s.op is not READ and not s.op.view and not (s.must_run and len(s.inputs) == 2)]
    if len(kernels) < 2:
        return 0
    tensors = [t for s in kernels for t in (*s.inputs, *s.outputs) if program.constant(t) is None]
    return len(kernels) + sum(map(bytes_of, tensors)) / _BYTES


def _is_short(tensor: SymbolicTensor) -> bool:
    return tensor.shape.is_fully_defined() and tensor.shape.rank < 2 and tensor.shape.num_elements() <= _SHAPE
