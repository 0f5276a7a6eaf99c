"""An executor of TensorFlow 1's control flow: `Switch`, `Merge`, `Enter`, `Exit` and `NextIteration`.

A graph with such operations is not a straight-line program. An operation runs when all its inputs have arrived. A
tensor may be dead: the output of a `Switch` for the branch that is not taken, and everything that depends on it. A loop
runs in a frame, and each iteration has its own values. See Yu et al. 2018, https://arxiv.org/abs/1805.01772. This is
the fallback for control flow that `control_flow.py` can't express by `If` and `While`, such as the gradients in
TensorFlow 1's training graphs.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import torch

from tapeflow.core import errors
from tapeflow.core.context import state
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.graph.codegen.failed_runs import locate_error
from tapeflow.graph.ir.operation import GraphOp, Operation, reachable
from tapeflow.graph.program.interpreter import interpret
from tapeflow_compat.v1_graphs.switch_merge import ControlFlowOp

_DEAD = object()  # stands for a missing value


def dataflow_operation(dataflow: Dataflow, inputs: Sequence[Any], others: Sequence[Any] = ()) -> Operation:
    """Adds an operation that runs a part of another graph to the current graph.

    Args:
        dataflow: the part.
        inputs: the values for its feeds.
        others: additional inputs: the handles of the variables that it uses.
    """

    def run(*values: Any) -> tuple[Any, ...]:
        return tuple(dataflow(*values[: len(inputs)]))

    op = GraphOp("Dataflow", run, stateful=True, gives_tuple=True, gradient=ControlFlowOp.no_gradient)
    return state.graph.node(op, [*inputs, *others], [(t.dtype, t.shape) for t in dataflow.outputs])


class Dataflow:
    """A part of a graph, as a function of raw values that executes TensorFlow 1's control flow.

    Args:
        inputs: the tensors that are fed.
        outputs: the tensors that it returns.
        effects: operations that always run.
        resources: maps each variable to the variable to use.
    """

    def __init__(
        self,
        inputs: Sequence[SymbolicTensor],
        outputs: Sequence[SymbolicTensor],
        effects: Sequence[Operation],
        resources: Callable[[Any], Any] = lambda variable: variable,
    ) -> None:
        self.inputs, self.outputs, self.resources = list(inputs), list(outputs), resources
        fed = {id(t) for t in inputs}
        wanted = [t.op for t in outputs if id(t) not in fed] + list(effects)
        self.operations = reachable(wanted, fed)
        self._plan(fed)

    @property
    def needed(self) -> bool:
        """True if this part of the graph contains TensorFlow 1's control flow."""
        return any(isinstance(o.op, ControlFlowOp) for o in self.operations)

    def _plan(self, fed: set[int]) -> None:
        """Counts the inputs that each operation waits for.

        Operations that depend only on constants, feeds and variables are `invariant`: they run once, before the others.
        All frames use their values.
        """
        self.invariant: dict[int, Operation] = {}
        for operation in self.operations:
            if (
                not isinstance(operation.op, ControlFlowOp)
                and not operation._control_inputs
                and all(id(t) in fed or id(t.op) in self.invariant for t in operation.inputs)
            ):
                self.invariant[id(operation)] = operation
        self.waits: dict[int, int] = {}  # the number of data and control inputs that must arrive, by operation
        self.consumers: dict[int, list[Operation]] = {}  # by tensor, once for each input
        self.after: dict[int, list[Operation]] = {}  # by operation, those with a control input from it
        self.enters: dict[Any, int] = {}  # the number of `Enter`s of each frame
        for operation in self.operations:
            if id(operation) in self.invariant:
                continue
            is_merge = operation.type == "Merge"
            awaited = {id(t) for t in operation.inputs if is_merge or not (id(t) in fed or id(t.op) in self.invariant)}
            controls = [c for c in operation._control_inputs if id(c) not in self.invariant]
            for tensor in awaited:
                self.consumers.setdefault(tensor, []).append(operation)
            for control in controls:
                self.after.setdefault(id(control), []).append(operation)
            self.waits[id(operation)] = len(controls) if is_merge else len(awaited) + len(controls)
            if operation.type == "Enter":
                frame = operation.op.attrs["frame_name"]
                self.enters[frame] = self.enters.get(frame, 0) + 1

    def __call__(self, *values: Any) -> list[Any]:
        """Runs the operations on the values of the tensors that are fed."""
        return _Run(self).run(dict(zip(map(id, self.inputs), values, strict=True)))


class _Iteration:
    """The inputs that have arrived in one iteration of a frame.

    Attributes:
        number: its number.
        values: by operation, the values that arrived by their tensors.
        waits: by operation, the number of inputs that have not arrived yet.
        dead: by operation, the number of dead inputs.
        fired: the `Merge`s that have run.
    """

    __slots__ = ("dead", "fired", "number", "values", "waits")

    def __init__(self, number: int) -> None:
        self.number = number
        self.values: dict[int, dict[int, Any]] = {}
        self.waits: dict[int, int] = {}
        self.dead: dict[int, int] = {}
        self.fired: set[int] = set()


class _Frame:
    """A running loop, or the graph outside of all loops.

    Attributes:
        around: the frame and iteration around it.
        iterations: its iterations.
        children: the frames in it, by iteration and name.
        constants: the `Enter`s of loop invariants that have run, with their values.
        outstanding: the number of ready operations, running inner frames and pending `Enter`s.
        exits: the `Exit`s with a dead input in all iterations so far. False for an `Exit` that has passed its value on.
    """

    def __init__(self, around: tuple[_Frame, _Iteration] | None, enters: int) -> None:
        self.around = around
        self.iterations = [_Iteration(0)]
        self.children: dict[Any, _Frame] = {}
        self.constants: list[tuple[Operation, Any]] = []
        self.outstanding = enters
        self.exits: dict[int, Any] = {}


class _Run:
    """One run."""

    def __init__(self, plan: Dataflow) -> None:
        self.plan = plan
        self.wanted = {id(t) for t in plan.outputs}
        self.results: dict[int, Any] = {}
        self.invariant: dict[int, Any] = {}  # values by tensor, the same in all frames
        self.ready: deque[tuple[Operation, _Frame, _Iteration]] = deque()

    def run(self, fed: dict[int, Any]) -> list[Any]:
        """Returns the outputs, from the values of the tensors that are fed.

        Raises:
            InvalidArgumentError: a placeholder is not fed, or an output has no value because it is in a branch that was
                not taken or inside a loop.
        """
        self.invariant.update(fed)
        self.results.update((t, v) for t, v in fed.items() if t in self.wanted)
        root = _Frame(None, 0)
        first = root.iterations[0]
        for operation in self.plan.invariant.values():
            for tensor, value in self._outputs(operation, {}):
                self.invariant.setdefault(id(tensor), value)
                if id(tensor) in self.wanted:
                    self.results.setdefault(id(tensor), value)
        for operation in self.plan.operations:
            if operation.type == "Merge":
                for tensor in operation.inputs:
                    if id(tensor) in self.invariant:
                        self._arrive(operation, root, first, tensor, self.invariant[id(tensor)])
            elif self.plan.waits.get(id(operation)) == 0:
                self._schedule(operation, root, first)
        while self.ready:
            operation, frame, iteration = self.ready.popleft()
            self._process(operation, frame, iteration)
            self._settle(frame)
        for tensor in self.plan.outputs:
            if self.results.get(id(tensor), _DEAD) is _DEAD:
                raise errors.InvalidArgumentError.of(
                    f"Retval[0] does not have value: {tensor.name} was fetched, and it is in a branch that was not "
                    "taken, or inside of a loop. Fetch the result of the conditional or loop."
                )
        return [self.results[id(t)] for t in self.plan.outputs]

    # ---- arrivals ----------------------------------------------------------------------------------------------------

    def _schedule(self, operation: Operation, frame: _Frame, iteration: _Iteration) -> None:
        frame.outstanding += 1
        self.ready.append((operation, frame, iteration))

    def _arrive(
        self, operation: Operation, frame: _Frame, iteration: _Iteration, tensor: SymbolicTensor | None, value: Any
    ) -> None:
        """Records the arrival of an operation's input: a tensor, or None for a control input."""
        key = id(operation)
        if operation.type == "Merge":
            if tensor is None:
                iteration.waits[key] = iteration.waits.get(key, self.plan.waits[key]) - 1
            elif value is _DEAD:
                iteration.dead[key] = iteration.dead.get(key, 0) + 1
            else:
                iteration.values.setdefault(key, {}).setdefault(id(tensor), value)
            if key in iteration.fired or iteration.waits.get(key, self.plan.waits[key]):
                return
            if key in iteration.values or iteration.dead.get(key, 0) == _merged(operation, iteration.number):
                iteration.fired.add(key)
                self._schedule(operation, frame, iteration)
            return
        if value is _DEAD:
            iteration.dead[key] = 1
        elif tensor is not None:
            iteration.values.setdefault(key, {})[id(tensor)] = value
        left = iteration.waits[key] = iteration.waits.get(key, self.plan.waits[key]) - 1
        if left == 0:
            self._schedule(operation, frame, iteration)

    def _process(self, operation: Operation, frame: _Frame, iteration: _Iteration) -> None:
        """Runs an operation whose inputs have arrived, and passes its outputs on."""
        key = id(operation)
        iteration.waits.pop(key, None)
        values = iteration.values.pop(key, {})
        dead = iteration.dead.pop(key, 0)
        if operation.type == "Merge":
            is_dead = not values
        else:
            is_dead = bool(dead) and operation.type != "ControlTrigger"
        outputs = [(t, _DEAD) for t in operation.outputs] if is_dead else self._outputs(operation, values)
        self._propagate(operation, frame, iteration, outputs, is_dead)

    def _outputs(self, operation: Operation, values: dict[int, Any]) -> list[tuple[SymbolicTensor, Any]]:
        """Returns the outputs of an operation with their values."""

        def value_of(tensor: SymbolicTensor) -> Any:
            return values[id(tensor)] if id(tensor) in values else self.invariant[id(tensor)]

        kind = operation.type if isinstance(operation.op, ControlFlowOp) else ""
        if kind == "Switch":
            data, predicate = value_of(operation.inputs[0]), bool(value_of(operation.inputs[1]))
            return [(t, data if bool(t.value_index) == predicate else _DEAD) for t in operation.outputs]
        if kind == "Merge":
            places = {id(t): i for i, t in enumerate(operation.inputs)}
            arrived = next(iter(values))
            results: Any = values[arrived], torch.tensor(places[arrived], dtype=torch.int32)
        elif kind:
            results = [value_of(operation.inputs[0])]
        elif operation.type == "Placeholder":
            raise errors.InvalidArgumentError.of(
                f"You must feed a value for placeholder tensor '{operation.name}' with dtype "
                f"{operation.outputs[0].dtype.name}"
            )
        else:
            try:
                results = interpret(operation, value_of, self.plan.resources)
            except errors.OpError as error:
                raise locate_error(error, operation) from error.__cause__
        return list(zip(operation.outputs, results, strict=False))

    # ---- frames ------------------------------------------------------------------------------------------------------

    def _propagate(
        self, operation: Operation, frame: _Frame, iteration: _Iteration, outputs: Any, is_dead: bool
    ) -> None:
        """Passes the outputs of an operation to their consumers, in the consumers' frame and iteration."""
        kind = operation.type if isinstance(operation.op, ControlFlowOp) else ""
        if kind == "Enter":
            child = self._child(operation, frame, iteration)
            if operation.op.attrs["is_constant"]:
                child.constants.append((operation, outputs[0][1]))
            for each in child.iterations if operation.op.attrs["is_constant"] else child.iterations[:1]:
                self._pass_on(operation, child, each, outputs, is_dead)
            child.outstanding -= 1
            self._settle(child, processed=False)
            return
        if kind == "Exit":
            if is_dead:
                frame.exits.setdefault(id(operation), operation)
                return
            frame.exits[id(operation)] = False
            assert frame.around is not None
            frame, iteration = frame.around
        elif kind == "NextIteration":
            if is_dead:
                return
            iteration = self._next(frame, iteration)
        self._pass_on(operation, frame, iteration, outputs, is_dead)

    def _pass_on(self, operation: Operation, frame: _Frame, iteration: _Iteration, outputs: Any, is_dead: bool) -> None:
        for tensor, value in outputs:
            if frame.around is None and id(tensor) in self.wanted:
                self.results[id(tensor)] = value
            for consumer in self.plan.consumers.get(id(tensor), ()):
                self._arrive(consumer, frame, iteration, tensor, value)
        for consumer in self.plan.after.get(id(operation), ()):
            self._arrive(consumer, frame, iteration, None, _DEAD if is_dead else None)

    def _child(self, enter: Operation, frame: _Frame, iteration: _Iteration) -> _Frame:
        """Returns the frame of a loop inside an iteration, after creating it if necessary."""
        name = enter.op.attrs["frame_name"]
        child = frame.children.get((iteration.number, name))
        if child is None:
            child = frame.children[iteration.number, name] = _Frame((frame, iteration), self.plan.enters[name])
            frame.outstanding += 1
        return child

    def _next(self, frame: _Frame, iteration: _Iteration) -> _Iteration:
        """Returns the next iteration. If it is new, passes the loop invariants to it."""
        if iteration.number + 1 == len(frame.iterations):
            new = _Iteration(iteration.number + 1)
            frame.iterations.append(new)
            for enter, value in frame.constants:
                self._pass_on(enter, frame, new, [(enter.outputs[0], value)], value is _DEAD)
        return frame.iterations[iteration.number + 1]

    def _settle(self, frame: _Frame, processed: bool = True) -> None:
        """Records that an operation was processed, and ends the loop if no work is outstanding."""
        frame.outstanding -= processed
        if frame.outstanding or frame.around is None:
            return
        outer, iteration = frame.around
        for exit in frame.exits.values():
            if exit is not False:
                self._pass_on(exit, outer, iteration, [(exit.outputs[0], _DEAD)], True)
        frame.outstanding = -1  # the loop has ended
        name = next(k for k, f in outer.children.items() if f is frame)
        del outer.children[name]
        self._settle(outer)


def _merged(merge: Operation, iteration: int) -> int:
    """Returns the number of inputs of a `Merge` that arrive in one iteration."""
    back = sum(t.op.type == "NextIteration" for t in merge.inputs)
    return back if iteration else len(merge.inputs) - back
