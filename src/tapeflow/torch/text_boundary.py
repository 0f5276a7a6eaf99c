"""Splits a function in two: text and lookup tables, which torch has no tensors for, and the rest.

Integers that follow from text alone, such as the positions of words in a sentence, are computed before the cut too if
fewer tensors then pass the cut. The model behind it usually takes a single tensor of word numbers.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import torch

from tapeflow.core.context import state
from tapeflow.core.logger import get_logger
from tapeflow.core.ops.convert import convert
from tapeflow.core.types.dtypes import resource, variant
from tapeflow.core.types.spec import TensorSpec
from tapeflow.core.values import nest
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.core.values.tensor import EagerTensor
from tapeflow.function import function
from tapeflow.function.concrete import ConcreteFunction
from tapeflow.graph.ir.operation import Operation, variable_of
from tapeflow.graph.program.program import Program, Step, substitute
from tapeflow.graph.program.simplify import live_steps
from tapeflow.saved_model.saving import save
from tapeflow.torch.memory import from_torch, to_torch
from tapeflow.tracking.module import Module


class Preprocessing:
    """Computes a converted module's inputs from the inputs of the TensorFlow function.

    Args:
        function: the concrete function.

    Attributes:
        function: as the argument.
        operations: the names of the ops on text and tables.
    """

    def __init__(self, function: ConcreteFunction, operations: Sequence[str]) -> None:
        self.function, self.operations = function, operations

    def __call__(self, *inputs: Any) -> list[torch.Tensor]:
        """Returns the module's inputs, as tensors of torch.

        Args:
            *inputs: tensors of TensorFlow or torch, arrays, or lists: of strings, for example.
        """
        tensors = [from_torch(x) if isinstance(x, torch.Tensor) else x for x in inputs]
        converted = [convert(x, t.dtype) for x, t in zip(tensors, self.function.graph.inputs, strict=True)]
        return [to_torch(t) for t in self.function.call_flat(converted)]

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Writes the function, with its tables, as a SavedModel of TensorFlow, whose function `preprocess` it is."""
        model: Any = Module()
        model.preprocess = self.function
        model.tables = [t.value[()] for t in self.function.captured_inputs if t.dtype is resource]
        save(model, os.fspath(folder))


class Split(NamedTuple):
    """A function in two parts: the second takes the results of the first.

    Attributes:
        preprocessing: the part with text and tables; None without these.
        rest: the other part.
    """

    preprocessing: Preprocessing | None
    rest: ConcreteFunction


def split(whole: ConcreteFunction) -> Split:
    """Splits a function where text and tables end.

    It stays whole where they come last, or all is text: the error of the conversion then names the op. Checks,
    prints and summaries are left out.
    """
    program = Program(whole.body.inputs, whole.body.outputs, whole.body.graph.effects())
    diagnostics = {id(s): s for s in program.steps if _is_diagnostic(s)}
    steps = live_steps(program.steps, program.outputs, unless=diagnostics)
    if left_out := [s for i, s in diagnostics.items() if all(s is not step for step in steps)]:
        described = ", ".join(f"{step.name} ({step.operation.name})" for step in left_out)
        get_logger().warning("torch.module leaves out what only checks, prints or records: %s", described)
        whole = _part_function(
            whole, program, steps, whole.graph.inputs, program.outputs, whole.graph.structured_outputs
        )
        program = Program(whole.body.inputs, whole.body.outputs, whole.body.graph.effects())
    textual = [step for step in program.steps if _is_textual(step)]
    cut = _best_cut(program, textual) if textual else None
    if cut is None or not cut.rest or not cut.boundary or any(t.dtype.torch is None for t in cut.boundary):
        return Split(None, whole)
    first = live_steps([s for s in program.steps if not s.must_run or id(s) in cut.before], cut.boundary)
    if any(v is not None and v.trainable for step in first for v in map(variable_of, step.inputs)):
        return Split(None, whole)  # the model comes before text
    without = {id(t) for step in program.steps if step.must_run and id(step) not in cut.before for t in step.outputs}
    if any(id(t) in without for step in first for t in step.inputs):
        return Split(None, whole)  # a step with effects comes before text, such as one that makes a dataset
    used = {id(t) for step in cut.rest for t in step.inputs} | {id(t) for t in program.outputs}
    between = [*(t for t in whole.graph.inputs if id(t) in used), *cut.boundary]
    preprocessing = _part_function(whole, program, first, whole.graph.inputs, between, between)
    rest = _part_function(whole, program, cut.rest, between, program.outputs, whole.graph.structured_outputs)
    return Split(Preprocessing(preprocessing, list(dict.fromkeys(step.name for step in textual))), rest)


class _Cut(NamedTuple):
    """A cut through a program.

    Attributes:
        before: the ids of the steps before it that decide where it is.
        boundary: the tensors that pass it.
        rest: the steps behind it.
    """

    before: frozenset[int]
    boundary: list[SymbolicTensor]
    rest: list[Step]


def _best_cut(program: Program, textual: Sequence[Step]) -> _Cut:
    """Returns the last of the cuts behind the steps with text that the fewest tensors pass.

    The cut moves from step to step towards the end; `_Uses` says at each place how many tensors pass it.
    """
    before = {id(step) for step in textual}
    uses = _Uses(program, before)
    least, moved, best = uses.passing, list[int](), 0
    of_text = {id(t) for step in textual for t in step.outputs}
    of_variables = {id(t) for t in program.inputs if variable_of(t) is not None}
    for step in program.steps:
        inputs = {id(t) for t in step.inputs}
        if id(step) in before:
            continue
        if not inputs.isdisjoint(of_variables) or step.must_run:
            of_variables.update(id(t) for t in step.outputs)
        elif not inputs.isdisjoint(of_text) and all(t.dtype.is_integer or t.dtype.is_bool for t in step.outputs):
            uses.move(step)
            moved.append(id(step))
            of_text.update(id(t) for t in step.outputs)
            if uses.passing <= least:
                least, best = uses.passing, len(moved)
    return _cut_behind(program, before.union(moved[:best]))


class _Uses:
    """Counts the uses of each tensor behind a cut, while steps move before the cut one by one.

    Only the steps that the outputs need are behind the cut. A step that moves takes along the steps that it alone
    needed.

    Args:
        program: the program.
        before: the ids of the steps before the cut at first.

    Attributes:
        passing: the number of tensors that pass the cut.
    """

    def __init__(self, program: Program, before: Collection[int]) -> None:
        behind = live_steps([s for s in program.steps if id(s) not in before], program.outputs)
        self._behind = {id(step) for step in behind}
        self._producers = program.producers
        self._counts = Counter(id(t) for step in behind for t in step.inputs)
        self._counts.update(map(id, program.outputs))
        self.passing = sum(id(t) in self._counts for s in program.steps if id(s) in before for t in s.outputs)
        self._before = set(before)

    def move(self, step: Step) -> None:
        """Moves a step before the cut."""
        self._before.add(id(step))
        self.passing += sum(self._counts[id(t)] > 0 for t in step.outputs)
        leaving = [step] if id(step) in self._behind else []
        while leaving:
            left = leaving.pop()
            self._behind.remove(id(left))
            for t in left.inputs:
                self._counts[id(t)] -= 1
                producer = self._producers.get(id(t))
                if self._counts[id(t)] or producer is None:
                    continue
                if id(producer) in self._before:
                    self.passing -= 1
                elif not producer.must_run and not any(self._counts[id(o)] for o in producer.outputs):
                    leaving.append(producer)


def _cut_behind(program: Program, before: Collection[int]) -> _Cut:
    """Returns the cut behind steps with these ids."""
    rest = live_steps([s for s in program.steps if id(s) not in before], program.outputs)
    used = [*(t for step in rest for t in step.inputs), *program.outputs]
    outputs = {id(t) for step in program.steps if id(step) in before for t in step.outputs}
    return _Cut(frozenset(before), list({id(t): t for t in used if id(t) in outputs}.values()), rest)


def _is_textual(step: Step | Operation) -> bool:
    """Tests whether a step takes or gives tensors that torch has no dtype for."""
    tensors, bodies = (*step.inputs, *step.outputs), getattr(step.op, "bodies", {}).values()
    has_none = any(t.dtype.torch is None and t.dtype is not variant and variable_of(t) is None for t in tensors)
    return has_none or any(_is_textual(operation) for body in bodies for operation in body.graph._operations)


def _is_diagnostic(step: Step | Operation) -> bool:
    """Tests whether a step only checks, prints or records: an assertion, or a conditional around one."""
    bodies = getattr(step.op, "bodies", {}).values()
    effects = [operation for body in bodies for operation in body.graph.effects()]
    return getattr(step.op, "diagnostic", False) or (bool(effects) and all(map(_is_diagnostic, effects)))


def _part_function(
    whole: ConcreteFunction, program: Program, steps: Sequence[Step], inputs: Sequence[SymbolicTensor],
    outputs: Sequence[SymbolicTensor], structure: Any,
) -> ConcreteFunction:  # fmt: skip
    """Returns the function of some steps of a program.

    Args:
        whole: the function that the program is of.
        program: the program.
        steps: the steps, in order.
        inputs: the tensors that it takes.
        outputs: the tensors that it returns.
        structure: the structure of the result, a nest of `len(outputs)` tensors.
    """

    @function(autograph=False)
    def part(*arguments: Any) -> Any:
        graph = state.graph
        copies = dict(zip(map(id, inputs), arguments, strict=True))
        captured = {id(inner): outer for outer, inner in whole.graph.captures}

        def copy_of(tensor: SymbolicTensor) -> None:
            if id(tensor) in copies:
                return
            value = program.constants.get(id(tensor), captured.get(id(tensor)))
            if id(tensor) in program.constants and not hasattr(value, "handle"):
                value = EagerTensor(value, tensor.dtype)
            copies[id(tensor)] = graph.capture(value, tensor.op.name)

        for step in steps:
            for tensor in step.inputs:
                copy_of(tensor)
            operation = graph.insert(
                step.op, graph.unique_name(step.operation.name), substitute(step.args, copies), step.types
            )
            for t in step.outputs:
                operation.outputs.append(SymbolicTensor(operation, t.value_index, t.dtype, t.shape))
                copies[id(t)] = operation.outputs[-1]
        for tensor in outputs:
            copy_of(tensor)
        results = iter(substitute(outputs, copies))
        return nest.map_structure(lambda t: next(results) if isinstance(t, SymbolicTensor) else t, structure)

    return part.get_concrete_function(*[TensorSpec(t.shape, t.dtype, name=t.op.name) for t in inputs])
