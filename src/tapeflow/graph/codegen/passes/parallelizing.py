"""Parallelizing: runs steps on different CPUs at the same time, with one thread per CPU.

An example is a strategy with replicas on logical CPUs. The pass divides a program into phases. In a phase, the steps on
one CPU do not depend on steps on another CPU. Steps that belong to no CPU, such as sums over all replicas, run first in
their phase, in the function's thread.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from tapeflow.core import device as devices
from tapeflow.core.processors import most_threads
from tapeflow.graph.codegen.effects import steps_of_bodies, touched_variables
from tapeflow.graph.codegen.passes.binding import bind
from tapeflow.graph.codegen.passes.reuse import reuse
from tapeflow.graph.codegen.program import Program, Step, bytes_of
from tapeflow.graph.ir.graph import READ
from tapeflow.graph.ir.operation import GraphOp, variable_of

_SHARED = ""  # the place of steps that belong to no CPU
_MOST_SHARED = 16  # steps that become shared with one result: a longer computation is real work, which stays on its CPU
# Costs. The unit is one call of a kernel.
_LEAST_COST = 16  # of a thread's steps: starting the thread costs about as much
_BYTES = 1 << 15  # bytes of a result that cost as much as one call
# The least average cost of kernels that use several threads themselves. Cheaper kernels of two CPUs mostly wait for
# Python's lock; elementwise kernels and updates of variables wait for memory. Measured on two processors: parallel
# steps took 0.83 (64 images) and 0.96 (8 images) of the sequential time for a small convolutional network, and 1.1 to
# 1.3 for a dense network.
_LEAST_OF_KERNELS = 8


class Parallel(GraphOp):
    """The op of program parts that run at the same time.

    Attributes:
        blocks: the parts, as programs, by the names of their CPUs.
    """

    def __init__(self, blocks: dict[str, Program]) -> None:
        super().__init__("Parallel")
        self.blocks = blocks


def parallelize(program: Program) -> None:
    """Replaces independent steps on several CPUs by one step that runs them at the same time."""
    if devices.machine.has_gpu or len(devices.machine.logical_devices()) < 2:
        return
    places = _places(program)
    if len({*places} - {_SHARED}) < 2:
        return
    phases: dict[int, dict[str, list[Step]]] = {}
    for step, moment in zip(program.steps, _moments(program.steps, places), strict=True):
        phases.setdefault(moment.phase, {}).setdefault(moment.place, []).append(step)
    uses = program.use_counts()
    program.steps = []
    for _, parts in sorted(phases.items()):
        program.steps += parts.pop(_SHARED, [])
        program.steps += _at_once(program, dict(sorted(parts.items())), uses)


def _at_once(program: Program, parts: dict[str, list[Step]], uses: dict[int, int]) -> list[Step]:
    """Returns one parallel step for the parts of a phase, or the parts' own steps if threads do not pay."""
    if sum(map(_is_worth_a_thread, parts.values())) < 2:
        return [step for steps in parts.values() for step in steps]
    blocks = {place: _block(program, steps, uses) for place, steps in parts.items()}
    inputs = {id(t): t for block in blocks.values() for t in block.inputs}
    outputs = [t for block in blocks.values() for t in block.outputs]
    last = [steps[-1].operation for steps in parts.values()]
    return [Step(Parallel(blocks), list(inputs.values()), outputs, last, must_run=True)]


def _block(program: Program, steps: list[Step], uses: dict[int, int]) -> Program:
    """Returns steps as a program: its inputs come from other steps, and its outputs have uses outside."""
    computed = {id(t): t for step in steps for t in step.outputs}
    used = Counter(id(t) for step in steps for t in step.inputs)
    inputs = {id(t): t for step in steps for t in step.inputs}
    block = copy.copy(program)
    block.inputs = [t for i, t in inputs.items() if i not in computed and i not in program.constants]
    block.outputs = [t for i, t in computed.items() if uses.get(i, 0) > used[i]]
    block.steps = steps
    reuse(block)
    bind(block)
    return block


def _is_worth_a_thread(steps: Sequence[Step]) -> bool:
    """Returns True if steps take long enough to gain from a thread."""
    costs = [cost for step in steps if (cost := cost_of(step))]
    if most_threads() > 1:
        computing = sum(cost_of(step) for step in steps if not all(o.op.elementwise for o in step.origins))
        return computing >= max(_LEAST_COST, _LEAST_OF_KERNELS * len(costs))
    changed = [variable_of(t) for step in steps if step.must_run for t in step.inputs]
    sizes = [v.shape.num_elements() or 0 for v in changed if v is not None and v.shape.is_fully_defined()]
    return sum(costs) + 4 * sum(sizes) / _BYTES >= _LEAST_COST


def cost_of(step: Step) -> float:
    """Returns the estimated cost of a step, in calls of a kernel."""
    if step.op is READ or step.op.view:
        return 0
    if not step.registered and step.op.bodies:
        return 1 + sum(map(cost_of, steps_of_bodies(step.op)))
    return 1 + sum(map(bytes_of, step.outputs)) / _BYTES


# ---- places ----------------------------------------------------------------------------------------------------------


def _places(program: Program) -> list[str]:
    """Returns the name of each step's CPU, or `_SHARED`.

    A step whose result another CPU needs becomes shared, with the steps before it if they are few.
    """
    steps = program.steps
    names = {_SHARED: _SHARED}
    for step in steps:
        name = step.operation.device
        if name not in names:
            device = devices.find(name)
            names[name] = _SHARED if device is None else device.name
    places = [names[step.operation.device] for step in steps]
    producers = {id(t): i for i, step in enumerate(steps) for t in step.outputs}
    for i, step in enumerate(steps):
        for t in step.inputs:
            producer = producers.get(id(t))
            if producer is not None and _SHARED != places[producer] != places[i] != _SHARED:
                for j in _origin(producer, steps, places, producers):
                    places[j] = _SHARED
    return places


def _origin(last: int, steps: Sequence[Step], places: Sequence[str], producers: dict[int, int]) -> list[int]:
    """Returns the indices of a step and of the steps on CPUs that it depends on; only its own index if these are
    many."""
    origin = {last: None}
    stack = [last]
    while stack:
        for t in steps[stack.pop()].inputs:
            i = producers.get(id(t))
            if i is not None and i not in origin and places[i] != _SHARED:
                origin[i] = None
                stack.append(i)
        if len(origin) > _MOST_SHARED:
            return [last]
    return list(origin)


# ---- phases ----------------------------------------------------------------------------------------------------------


class _Moment(NamedTuple):
    """When and where a step runs."""

    phase: int
    place: str

    def next_on(self, place: str) -> int:
        """Returns the earliest phase of a step on `place` that depends on this one."""
        return self.phase + (self.place not in (_SHARED, place))


def _moments(steps: Sequence[Step], places: Sequence[str]) -> list[_Moment]:
    """Returns the moments of steps: the earliest that data and side effects permit."""
    of_tensors: dict[int, _Moment] = {}
    changes: dict[int, _Moment] = {}  # the last change of each variable
    reads: dict[int, list[_Moment]] = {}  # the reads of each variable since its last change
    latest: dict[str, _Moment] = {}  # the last moment of each place
    first = _Moment(0, _SHARED)  # the last step with effects of any kind
    result = []
    for step, place in zip(steps, places, strict=True):
        touched = touched_variables(step)
        before = [first, *(of_tensors[id(t)] for t in step.inputs if id(t) in of_tensors)]
        if touched is None:
            place, before = _SHARED, [*before, *latest.values()]
        for variable in touched or ():
            before += [changes[variable]] if variable in changes else []
            before += reads.get(variable, []) if step.must_run else []
        moment = _Moment(max(m.next_on(place) for m in before), place)
        for variable in touched or ():
            if step.must_run:
                changes[variable], reads[variable] = moment, []
            else:
                reads.setdefault(variable, []).append(moment)
        if touched is None:
            first = moment
        latest[place] = max(moment, latest.get(place, moment))
        of_tensors.update((id(t), moment) for t in step.outputs)
        result.append(moment)
    return result
