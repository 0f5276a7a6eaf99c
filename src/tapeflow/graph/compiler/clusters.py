"""Clusters: connected element-wise steps, computed in one loop.

A cluster is one step of a program. Each intermediate result stays in registers; only what other steps use is written
to memory. Its loops follow the shapes of its inputs, which it looks at when it runs: for each pattern of broadcasts it
has one kernel, for all sizes.
"""

from __future__ import annotations

import copy
import ctypes
import functools
import heapq
import importlib.util
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch

from tapeflow.core import device as devices
from tapeflow.core.ops.elements import Element, ElementBuilder, Unsupported
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.graph.codegen.program import Program, Step
from tapeflow.graph.compiler.loops import DTYPES, Operand, loops_of
from tapeflow.graph.compiler.target import function
from tapeflow.graph.ir.operation import GraphOp

_Shapes = tuple[torch.Size, ...]


class Cluster:
    """The kernel of a cluster, called with tensors.

    Args:
        name: the names of its ops.
        program: the steps, from inputs to outputs.
        numbers: the values of scalar constants, by the tensors' ids.
    """

    def __init__(self, name: str, program: Program, numbers: dict[int, Any]) -> None:
        self._name = name
        self._program = program
        self._steps, self._inputs, self._outputs = program.steps, program.inputs, program.outputs
        self._numbers = numbers
        self._dtypes = [t.dtype.torch for t in self._outputs]
        self._reached = self._inputs_of_outputs()
        self._plans: dict[_Shapes, _Plan] = {}
        self._kernels: dict[Any, Any] = {}

    @property
    def count(self) -> int:
        """The number of ops."""
        return len(self._steps)

    def text(self) -> str:
        """Returns the kernel in LLVM's language, for inputs of their static shapes, with 2 for unknown sizes."""
        shapes = tuple([torch.Size([2 if d is None else d for d in t.shape]) for t in self._inputs])
        sizes, operands = loops_of(shapes, np.broadcast_shapes(*shapes), [t.dtype for t in self._inputs])
        return self._kernel_text(operands, len(sizes)).replace("{name}", self._name)

    def _kernel_text(self, operands: Sequence[Operand], loops: int) -> str:
        from tapeflow.graph.compiler import kernels  # which loads LLVM

        return kernels.text(operands, [t.dtype for t in self._outputs], loops, self._compute)

    def __call__(self, *values: torch.Tensor) -> Any:
        """Computes the outputs: one tensor, or a tuple of them."""
        shapes = tuple([v.shape for v in values])
        plan = self._plans.get(shapes) or self._planned(shapes)
        if plan.kernel is None:
            results = self._one_by_one(*values)
            return results[0] if len(results) == 1 else results
        inputs = [v if v.is_contiguous() else v.contiguous() for v in values]
        outputs = [torch.empty(plan.shape, dtype=dtype) for dtype in self._dtypes]
        plan.kernel(plan.sizes, *[t.data_ptr() for t in inputs], *[t.data_ptr() for t in outputs])
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    @functools.cached_property
    def _one_by_one(self) -> Any:
        """The steps as calls of ATen's kernels, for tensors that the loops don't take."""
        from tapeflow.graph.codegen.compile import Compiled  # its passes make clusters

        compiled = Compiled(self._name, (), (), program=self._program)
        compiled.special_passes = ()
        return compiled

    def _planned(self, shapes: _Shapes) -> _Plan:
        """Returns the plan for inputs of these shapes.

        Raises:
            ValueError: the shapes do not go together.
        """
        shape = np.broadcast_shapes(*shapes)
        if any(np.broadcast_shapes(*[shapes[i] for i in reached]) != shape for reached in self._reached):
            return _ONE_BY_ONE  # an output has fewer elements than the loops
        sizes, operands = loops_of(shapes, shape, [t.dtype for t in self._inputs])
        key = tuple(operands)
        kernel = self._kernels.get(key)
        if kernel is None:
            try:
                kernel = function(
                    self._kernel_text(operands, len(sizes)), self._name, 1 + len(operands) + len(self._outputs)
                )
            except Unsupported:
                return _ONE_BY_ONE
            self._kernels[key] = kernel
        if len(self._plans) >= _MOST_PLANS:
            self._plans.clear()
        array = (ctypes.c_int64 * len(sizes))(*sizes)
        plan = self._plans[shapes] = _Plan(kernel, ctypes.addressof(array), shape, array)
        return plan

    def _compute(self, b: ElementBuilder, elements: Sequence[Element]) -> list[Element]:
        """Computes one element of each output."""
        known: dict[int, Element] = {id(t): e for t, e in zip(self._inputs, elements, strict=True)}

        def element(tensor: SymbolicTensor) -> Element:
            if id(tensor) not in known:
                known[id(tensor)] = b.number(self._numbers[id(tensor)], tensor.dtype)
            return known[id(tensor)]

        for step in self._steps:
            out = step.outputs[0]
            result = step.op.element(b, *step.op.map(element, step.args))
            if result.dtype is not out.dtype:
                raise Unsupported(f"the element form of {step.name} gives {result.dtype.name}, not {out.dtype.name}")
            known[id(out)] = b.rounded(result)
        return [known[id(t)] for t in self._outputs]

    def _inputs_of_outputs(self) -> list[list[int]]:
        """Returns the numbers of the inputs that each output depends on."""
        reached = {id(t): {i} for i, t in enumerate(self._inputs)}
        for step in self._steps:
            reached[id(step.outputs[0])] = set().union(*(reached.get(id(t), set()) for t in step.inputs))
        return [sorted(reached[id(t)]) for t in self._outputs]


_MOST_PLANS = 256


class _Plan(NamedTuple):
    """What a cluster calls for inputs of some shapes.

    Attributes:
        kernel: the compiled function.
        sizes: the address of the loops' sizes.
        shape: the shape of the outputs.
        array: holds the sizes.
    """

    kernel: Any
    sizes: int
    shape: tuple[int, ...]
    array: Any


_ONE_BY_ONE = _Plan(None, 0, (), None)


# ---- choosing clusters -----------------------------------------------------------------------------------------------

_LEAST_WORK = 1 << 15  # elements of intermediate results: for fewer, compiling a kernel takes longer than it ever saves


def cluster(program: Program) -> None:
    """Replaces connected element-wise steps by clusters, where the graph says that it pays."""
    _replace(program, _pays)


def cluster_all(program: Program) -> None:
    """Replaces all connected element-wise steps by clusters."""
    _replace(program, lambda steps: True)


def _replace(program: Program, pays: Callable[[Sequence[Step]], bool]) -> None:
    if devices.machine.has_gpu or not _has_llvm():
        return
    clustering = _Clustering(program)
    chosen = [group for group in clustering.groups() if pays(group.steps)]
    if chosen:
        program.steps = clustering.steps(chosen)


@functools.cache
def _has_llvm() -> bool:
    return importlib.util.find_spec("llvmlite") is not None


def _pays(steps: Sequence[Step]) -> bool:
    """Returns True if a kernel for these steps pays: it keeps results in registers, and takes a while to compile."""
    elements = [math.prod(d for d in step.outputs[0].shape if d is not None) for step in steps[1:]]
    return sum(elements) >= _LEAST_WORK


def is_elementwise(step: Step) -> bool:
    """Returns True if a step has an element form for its dtypes."""
    if step.op.element is None or step.placed or step.must_run or len(step.outputs) != 1:
        return False
    tensors = [*step.inputs, *step.outputs]
    return bool(step.outputs[0].shape.rank) and all(t.dtype in DTYPES and t.shape.rank is not None for t in tensors)


class _Group:
    """Steps that become a cluster, or a single step.

    Attributes:
        steps: the steps, in their order.
        sources: the groups that must run before it.
        first, last: the indices of its first and its last step.
    """

    __slots__ = ("first", "last", "sources", "steps")

    def __init__(self, index: int, step: Step) -> None:
        self.steps = [step]
        self.sources: set[_Group] = set()
        self.first = self.last = index

    def takes(self, shape: Any) -> bool:
        """Returns True if an element-wise step of this shape may join it."""
        return is_elementwise(self.steps[0]) and self.steps[0].outputs[0].shape.as_list() == shape


class _Clustering:
    """The groups of a program's steps, of which none depends on itself through another one."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._group_of: dict[int, _Group] = {}  # by the ids of the tensors that it computes
        self._all: dict[int, _Group] = {}
        last_effect: _Group | None = None
        for index, step in enumerate(program.steps):
            sources = {g for t in step.inputs if (g := self._group_of.get(id(t))) is not None}
            group = self._joined(index, step, sources) if is_elementwise(step) else None
            if group is None:
                group = _Group(index, step)
                self._all[id(group)] = group
                group.sources = sources
            if has_effect(step):
                if last_effect is not None:
                    group.sources.add(last_effect)
                last_effect = group
            for t in step.outputs:
                self._group_of[id(t)] = group

    def groups(self) -> list[_Group]:
        """Returns the groups of several steps."""
        return [group for group in self._all.values() if len(group.steps) > 1]

    def _joined(self, index: int, step: Step, sources: set[_Group]) -> _Group | None:
        """Returns the group of a producer that the step has joined; it unites the groups of several."""
        shape = step.outputs[0].shape.as_list()
        joined: _Group | None = None
        for group in sorted((g for g in sources if g.takes(shape)), key=lambda g: g.first):
            if joined is None:
                if not any(self._reaches(other, group) for other in sources if other is not group):
                    joined = group
                    joined.steps.append(step)
                    joined.last = index
                    joined.sources |= sources - {joined}
            elif group in joined.sources and not self._depend_through_others(joined, group):
                self._unite(joined, group)
        return joined

    def _depend_through_others(self, a: _Group, b: _Group) -> bool:
        """Returns True if one of two groups depends on the other through a third one."""
        return any(self._reaches(s, b) for s in a.sources if s is not b) or any(
            self._reaches(s, a) for s in b.sources if s is not a
        )

    def _unite(self, group: _Group, other: _Group) -> None:
        """Moves the steps of another group to a group."""
        group.steps += other.steps
        group.first, group.last = min(group.first, other.first), max(group.last, other.last)
        group.sources = (group.sources | other.sources) - {group, other}
        del self._all[id(other)]
        for g in self._all.values():
            if other in g.sources:
                g.sources.remove(other)
                g.sources.add(group)
        for step in other.steps:
            self._group_of[id(step.outputs[0])] = group

    def _reaches(self, group: _Group, wanted: _Group) -> bool:
        """Returns True if a group depends on another one, directly or through others."""
        stack, seen = [group], {group}
        while stack:
            for source in stack.pop().sources:
                if source is wanted:
                    return True
                if source not in seen and source.last > wanted.first:
                    seen.add(source)
                    stack.append(source)
        return False

    def steps(self, chosen: Sequence[_Group]) -> list[Step]:
        """Returns the steps of the program, with clusters for the chosen groups, as close to their order as it goes."""
        program = self._program
        units: list[list[Step]] = [group.steps for group in chosen]
        inside = {id(step) for steps in units for step in steps}
        units += [[step] for step in program.steps if id(step) not in inside]
        position = {id(step): i for i, step in enumerate(program.steps)}
        unit_of = {id(step): i for i, steps in enumerate(units) for step in steps}
        sources: list[set[int]] = [set() for _ in units]
        producer: dict[int, int] = {}
        last_effect: int | None = None
        for step in program.steps:
            unit = unit_of[id(step)]
            sources[unit] |= {producer[id(t)] for t in step.inputs if id(t) in producer}
            if has_effect(step):
                sources[unit] |= set() if last_effect is None else {last_effect}
                last_effect = unit
            producer.update((id(t), unit) for t in step.outputs)
        after: list[list[int]] = [[] for _ in units]
        for unit, before in enumerate(sources):
            before.discard(unit)
            for source in before:
                after[source].append(unit)
        last = [max(position[id(step)] for step in steps) for steps in units]
        ready = [(last[unit], unit) for unit, before in enumerate(sources) if not before]
        heapq.heapify(ready)
        ordered: list[Step] = []
        while ready:
            _, unit = heapq.heappop(ready)
            members = sorted(units[unit], key=lambda step: position[id(step)])
            ordered.append(self._cluster(members) if unit < len(chosen) else members[0])
            for user in after[unit]:
                sources[user].discard(unit)
                if not sources[user]:
                    heapq.heappush(ready, (last[user], user))
        return ordered

    def _cluster(self, steps: list[Step]) -> Step:
        """Returns the step that computes these steps in one loop."""
        program = self._program
        computed = {id(step.outputs[0]) for step in steps}
        others = [step for step in program.steps if id(step.outputs[0] if step.outputs else step) not in computed]
        used = {id(t) for step in others for t in step.inputs} | set(map(id, program.outputs))
        outputs = [step.outputs[0] for step in steps if id(step.outputs[0]) in used]
        outer = {id(t): t for step in steps for t in step.inputs if id(t) not in computed}
        numbers = {i: number for i, t in outer.items() if (number := _number(program, t)) is not None}
        part = copy.copy(program)
        part.steps, part.outputs = steps, outputs
        part.inputs = inputs = [t for i, t in outer.items() if i not in numbers]
        names = [step.name for step in steps]
        name = "".join(names[:_NAMED]) + (f"And{len(names) - _NAMED}More" if len(names) > _NAMED else "")
        kernel = Cluster(name, part, numbers)
        op = GraphOp(name, kernel, gives_tuple=len(outputs) > 1)
        op.allocates, op.runs_python = True, False
        return Step(op, inputs, outputs, [o for step in steps for o in step.origins])


_NAMED = 3  # ops that the name of a cluster tells


def has_effect(step: Step) -> bool:
    """Returns True if a step keeps its place among those that change something, or depend on such changes."""
    return not step.pure or step.must_run


def _number(program: Program, tensor: SymbolicTensor) -> Any:
    """Returns the value of a scalar constant, or None."""
    value = program.constant(tensor)
    return value.item() if isinstance(value, torch.Tensor) and not value.ndim else None
