"""Caching: computes values that depend only on variables once, and again when a variable changes.

Examples are the scales of a normalization and packed filters. The source computes them in a block. It skips the block
while each variable has the same tensor in the same version (torch counts changes in place). The cache has one entry,
for the current values. It holds only weak references to the variables' tensors: updates can still be made in place.

A program that updates variables, or returns their values for a gradient, is part of a training step and caches nothing.
Neither does a program on a machine with a GPU, because CUDA graphs may capture its calls.
"""

from __future__ import annotations

import weakref
from typing import Any

import torch

from tapeflow.core import device as devices
from tapeflow.graph.ir.graph import READ
from tapeflow.graph.ir.operation import GraphOp, variable_of
from tapeflow.graph.program.program import Program, Step, cost_of

# Costs. The unit is one call of a kernel.
_LOOKING_UP = 2
_CHECKING_A_VARIABLE = 0.25
_PREPARING = 3  # beside the call


def cache(program: Program) -> None:
    """Replaces the steps that depend only on variables by one step that caches their results."""
    steps = _cached_steps(program)
    if not steps:
        return
    block = program.part(steps)
    uses = set(map(id, block.inputs))
    reads = [step for step in program.steps if step.op is READ and id(step.outputs[0]) in uses]
    cost = sum(cost_of(s) + _PREPARING * isinstance(s.op, Preparation) for s in steps if s.op.allocates)
    if cost <= _LOOKING_UP + _CHECKING_A_VARIABLE * len(reads):
        return
    inside = {*steps, *reads}
    rest = [step for step in program.steps if step not in inside]
    block.inputs = [step.outputs[0] for step in reads]
    program.steps = [*reads, Step(CachedBlock(block), block.inputs, block.outputs, steps[-1].origins), *rest]


def fixed_tensors(program: Program) -> set[int]:
    """Returns the ids of the tensors that depend only on variables; an empty set if the program must not cache."""
    changes = any(variable_of(t) is not None for step in program.steps if step.must_run for t in step.inputs)
    if changes or not program.static or devices.machine.has_gpu:
        return set()
    returned = {id(t) for t in program.outputs}
    fixed: set[int] = set()
    for step in program.steps:
        if step.must_run:  # it may change any variable
            return fixed
        if step.op is READ:
            depends = variable_of(step.args[0]) is not None and id(step.outputs[0]) not in returned
        else:
            inputs = step.inputs
            depends = (
                any(id(t) in fixed for t in inputs)
                and all(id(t) in fixed or id(t) in program.constants for t in inputs)
                and _may_be_cached(step)
            )
        if depends:
            fixed |= {id(t) for t in step.outputs}
    return fixed


def _may_be_cached(step: Step) -> bool:
    """Returns True if a step is pure and its results take no more memory than its inputs, or if it is a
    `Preparation`."""
    if isinstance(step.op, Preparation):
        return True
    inputs = step.inputs
    tensors = (*inputs, *step.outputs)
    if not step.pure or step.placed or not all(t.shape.is_fully_defined() and t.dtype.size for t in tensors):
        return False
    sizes = [t.shape.num_elements() * t.dtype.size for t in tensors]
    return sum(sizes[len(inputs) :]) <= sum(sizes[: len(inputs)])


def _cached_steps(program: Program) -> list[Step]:
    """Returns the steps to cache.

    A result that other steps need is cached only if it owns its memory. A cached view of a variable's value would
    prevent updates in place.
    """
    fixed = fixed_tensors(program)
    returned = {id(t) for t in program.outputs}
    while True:
        needed = set(returned)  # the inputs of steps that are not cached
        cached: list[Step] = []
        for step in reversed(program.steps):
            ids = {id(t) for t in step.outputs}
            kept = ids.isdisjoint(needed) or (step.op.allocates and ids.isdisjoint(returned))
            if step.op is not READ and ids and ids <= fixed and kept:
                cached.append(step)
            else:
                needed |= {id(t) for t in step.inputs}
        first = _first_after_others(program, cached[::-1])
        if first is None:
            return cached[::-1]
        fixed -= {id(t) for t in first.outputs}


def _first_after_others(program: Program, cached: list[Step]) -> Step | None:
    """Returns the first cached step with an input from a step that is not cached, or None.

    Cached steps move to the start of the program, where this input would be missing.
    """
    available = {*program.constants, *(id(t) for step in program.steps if step.op is READ for t in step.outputs)}
    for step in cached:
        if any(id(t) not in available for t in step.inputs):
            return step
        available |= {id(t) for t in step.outputs}
    return None


class Preparation(GraphOp):
    """An op that prepares weights. Its results own their memory."""

    allocates = True


class CachedBlock(GraphOp):
    """The op of the steps with cached results.

    Attributes:
        block: a program that computes the results from the variables' values.
    """

    def __init__(self, block: Program) -> None:
        super().__init__("Cached")
        self.block = block


class Entry:
    """The results of a block for some values of its variables.

    Args:
        inputs: the values of the variables.

    Attributes:
        results: the results; None until the block has run.
    """

    __slots__ = ("_references", "_versions", "results")

    def __init__(self, inputs: tuple[torch.Tensor, ...]) -> None:
        self._references = [weakref.ref(t) for t in inputs]
        self._versions = [t._version for t in inputs]
        self.results: list[Any] | None = None

    def is_of(self, inputs: tuple[torch.Tensor, ...]) -> bool:
        """Returns True if these are the entry's tensors, unchanged since."""
        for reference, version, t in zip(self._references, self._versions, inputs, strict=True):
            if reference() is not t or t._version != version:
                return False
        return True


class Cache:
    """The newest entry of a block.

    Two threads may compute the same entry at the same time. Other threads see an entry only once it is complete.
    """

    def __init__(self) -> None:
        self.entry: Entry | None = None

    def __call__(self, *inputs: torch.Tensor) -> Entry:
        """Returns the entry for values of variables; if one has changed, a new entry without results."""
        entry = self.entry
        if entry is not None and entry.is_of(inputs):
            return entry
        self.entry = None  # frees the old results before the new ones are computed
        return Entry(inputs)
