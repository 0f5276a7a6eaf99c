"""The effects of a function whose run failed.

TensorFlow runs the operations of a graph as soon as their inputs are there. If one fails, those that do not depend on
it run all the same: `r = next(it); v.assign_add(1)` adds at the end of the data, too. A written function stops at the
step that fails. So the later steps with effects run here, one by one, as far as they do not depend on it: not by a
tensor, not by a control dependency, and not by a variable or another resource, whose users keep their order.

Effects before the failed operation have always happened. Of the later ones, TensorFlow runs fewer if a called function
uses a resource of the failed operation: there the whole call waits, but TapeFlow has inlined its steps.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tapeflow.core.errors import OpError
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.graph.ir.graph import READ
from tapeflow.graph.ir.operation import Operation
from tapeflow.graph.program.effects import used_resources
from tapeflow.graph.program.interpreter import interpret
from tapeflow.graph.program.program import Program, Step, substitute


class _UnknownValueError(Exception):
    """A value is not known: it depends on the step that failed, or was not kept."""


class FailedRun:
    """A failed run with its remaining values and steps."""

    def __init__(self) -> None:
        self._values: dict[int, Any] = {}  # the raw values of tensors, by the tensors' ids
        self._later: dict[int, Step] = {}  # the steps that compute tensors if they are needed, by the tensors' ids
        self._others: dict[int, SymbolicTensor] = {}  # the arguments of called functions, by the ids of their inputs
        self._blocked: set[int] = set()  # the ids of tensors and operations that depend on the failure
        self._resources: set[Any] = set()  # the resources that blocked steps use

    def finish(self, program: Program, failed: Step, values: Mapping[int, Any]) -> None:
        """Runs the effects behind a step that failed in a program.

        Args:
            program: the program.
            failed: the step. If the run has finished the program in it already, its other results are known.
            values: the raw values of tensors at the time, by the tensors' ids.
        """
        place = next(i for i, step in enumerate(program.steps) if step is failed)
        rest = program.steps[place + 1 :]
        if failed.registered or failed.op.part is None or not self._blocked:
            self._block(failed)
        later = {id(t) for step in (failed, *rest) for t in step.outputs}  # in a loop, values of the last iteration
        used = itertools.chain(program.inputs, program.outputs, *(step.inputs for step in rest))
        kept = set(map(id, used)) - later
        self._values = {i: v for i, v in values.items() if i in kept} | self._values | program.constants
        self._run(_single_steps(rest, program))

    # ---- steps ---------------------------------------------------------------------------------------------------

    def _run(self, steps: Iterable[Step]) -> None:
        for step in steps:
            if self._must_wait(step):
                self._block(step)
            elif any(id(self._source(t)) in self._blocked for t in step.inputs):
                self._run_parts(step)
                self._block(step)
            elif step.op is READ and id(step.outputs[0]) in self._values:
                continue
            elif not step.must_run and step.op is not READ:
                self._later.update((id(t), step) for t in step.outputs)
            else:
                try:
                    self._compute(step)
                except Exception:  # the first error counts
                    self._block(step)

    def _must_wait(self, step: Step) -> bool:
        """Returns True if a step starts after the failed one, even if it takes none of its results."""
        controls = (id(c) for o in step.origins for c in o._control_inputs)
        return not (
            self._blocked.isdisjoint(controls) and self._resources.isdisjoint(used_resources(step, self._source))
        )

    def _block(self, step: Step) -> None:
        self._blocked.update(map(id, step.outputs))
        self._blocked.update(map(id, step.origins))
        self._blocked.update(id(t) for o in step.origins for t in o.outputs)
        self._resources |= used_resources(step, self._source)

    def _source(self, tensor: SymbolicTensor) -> SymbolicTensor:
        """Returns the argument for an input of a called function, and any other tensor itself."""
        while id(tensor) in self._others:
            tensor = self._others[id(tensor)]
        return tensor

    def _value(self, tensor: SymbolicTensor) -> Any:
        tensor = self._source(tensor)
        if id(tensor) not in self._values:
            if id(tensor) in self._blocked or id(tensor) not in self._later:
                raise _UnknownValueError
            self._compute(self._later[id(tensor)])
        return self._values[id(tensor)]

    def _compute(self, step: Step) -> None:
        results = interpret(step, self._value)
        self._values.update(zip(map(id, step.outputs), results, strict=False))

    # ---- functions, conditionals and loops that depend on the failure in part ---------------------------------------

    def _run_parts(self, step: Step) -> None:
        """Runs the effects in functions that a step calls, if they do not depend on the failure."""
        op = step.op
        if not op.control:
            return
        inner = [(body.compiled.program, args) for body, (_, args) in zip(op.bodies.values(), step.inner, strict=True)]
        try:
            if op.control == "call":
                self._run_program(*inner[0])
            elif op.control == "conditional":
                self._run_program(*inner[op.number_of(self._value(step.args[0]))])
            elif op.kernel.condition.compiled(*map(self._value, inner[0][1]))[0]:
                self._run_program(*inner[1])  # the other iterations wait for the first one
        except _UnknownValueError:
            return

    def _run_program(self, program: Program, args: Sequence[Any]) -> None:
        self._others.update((id(own), arg) for own, arg in zip(program.inputs, args, strict=False) if own is not arg)
        self._values.update(program.constants)
        self._run(_single_steps(program.steps, program))


def _single_steps(steps: Iterable[Step], program: Program) -> list[Step]:
    """Returns steps that compute one operation each, for steps of a program that may compute several."""
    singles = []
    for step in steps:
        if step.op is step.operation.op or step.op is READ:
            singles.append(step)
            continue
        if not step.registered and step.op.diagnostic:
            continue  # it shows the results of another step
        if not step.registered and step.op.part is not None:
            singles += _single_steps(step.op.part.steps, step.op.part)
            continue
        for operation in _with_reads(step.origins):
            args = substitute(operation.args, program.aliases)
            singles.append(Step(operation.op, args, operation.outputs, [operation], operation.stateful))
    return singles


def _with_reads(origins: Sequence[Operation]) -> list[Operation]:
    """Returns the operations of a step, and those that read variables for it, which a step does itself."""
    operations = list(origins)
    for tensor in (t for o in origins for t in o.inputs):
        read = tensor.op
        if read.op is READ and not any(o is read for o in operations):
            later = (i for i, o in enumerate(operations) if o.graph is read.graph and o.index > read.index)
            operations.insert(next(later, 0), read)
    return operations


# ---- errors ----------------------------------------------------------------------------------------------------------


def locate_error(error: OpError, operation: Operation) -> OpError:
    """Returns an operation's error with a message that shows the user's code lines that added the operation.

    In a session, the error's `op` is the operation.
    """
    graph: Any = operation.graph
    while graph.around is not None:
        graph = graph.around
    name, unavailable = operation.name, "<stack traces unavailable>\n"
    node = f"[[{{{{node {name}}}}}]]"
    start = "Graph execution error:\n\nDetected at node"
    frames = []
    for frame in operation.traceback:
        source = f"      {frame.line}\n" if frame.line else ""
        frames.append(f'File "{frame.filename}", line {frame.lineno}, in {frame.name}\n{source}')
    if graph.building_function:
        lines = "".join(f"  {frame}" for frame in frames) or unavailable
        function = f" [Op:{graph.inference_name}]" if graph.inference_name else ""
        text = f"{start} {name} defined at (most recent call last):\n{lines}{error.message}\n\t {node}{function}"
    else:
        lines = "".join(f"    {frame}" for frame in frames) or unavailable
        cause = f"Node: '{name}'\n{error.message}"
        text = f"{start} '{name}' defined at (most recent call last):\n{lines}{cause}\n\t {node}"
    new = error.with_message(text)
    if not graph.building_function:
        new._op, new._node_def = operation, operation.node_def
    new.operation, new.reason = operation, error.reason or error.message
    return new
