"""What a compiled function will do, step by step: what the passes work on.

A program is taken from a graph and belongs to one compiled function. Passes change its steps and leave the graph as it
is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch

from tapeflow.core import device as devices
from tapeflow.core import errors
from tapeflow.core.types.dtypes import bfloat16, float16, float32, float64
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.graph.ir.operation import GraphOp, Operation, symbolic_in, variable_of

_NATIVE = frozenset({float16, bfloat16, float32, float64})
CALLS = frozenset({"PartitionedCall", "StatefulPartitionedCall"})


class Step:
    """One call of a kernel.

    Attributes:
        op: a registered op, or a `GraphOp`.
        args: its arguments, as of an `Operation`.
        types: the op's type attrs.
        outputs: the tensors that it gives.
        origins: the operations whose work it does; the last one gives it its name.
        must_run: whether it runs also where nobody takes its outputs.
    """

    __slots__ = ("args", "must_run", "op", "origins", "outputs", "types")

    def __init__(
        self, op: Any, args: Sequence[Any], outputs: Sequence[SymbolicTensor], origins: Sequence[Operation],
        types: dict[str, Any] | None = None, must_run: bool = False,
    ) -> None:  # fmt: skip
        self.op = op
        self.args = list(args)
        self.outputs = outputs
        self.origins = list(origins)
        self.types = types or {}
        self.must_run = must_run

    @property
    def operation(self) -> Operation:
        """The operation that it is named after."""
        return self.origins[-1]

    @property
    def name(self) -> str:
        """The name of its op."""
        return self.op.name

    @property
    def inputs(self) -> list[SymbolicTensor]:
        """The tensors that it takes."""
        return list(symbolic_in(self.args))

    @property
    def registered(self) -> bool:
        """Whether its op is one that eager programs call too."""
        return not isinstance(self.op, GraphOp)

    @property
    def native(self) -> bool:
        """Whether it computes in floating dtypes alone, for which ATen has all kernels that can take its place."""
        return not self.registered or all(t.dtype in _NATIVE for t in (*self.op.tensors(self.args), *self.outputs))

    @property
    def pure(self) -> bool:
        """Whether its outputs depend on nothing but its inputs, and nothing else on it."""
        return self.registered and not self.op.opdef.stateful

    @property
    def placed(self) -> bool:
        """Whether it runs on a device that the program named."""
        return bool(self.operation.device) and len(devices.machine.logical_devices()) > 1

    @property
    def changes(self) -> int | None:
        """The id of the one variable that it changes; None where that is not known."""
        variable = variable_of(self.args[0]) if self.name.startswith("Assign") and not self.registered else None
        return None if variable is None else variable._id

    def __repr__(self) -> str:
        return f"<step {self.name} of {self.operation.name!r}>"


class Program:
    """The steps from inputs to outputs.

    Args:
        inputs: the tensors that are given; those fed need not be placeholders.
        outputs: the tensors that are asked for.
        effects: operations that run in any case.
        resources: from a variable to what stands for it (a session's own).
        keeps: whether a call of a function stays one.

    Attributes:
        constants: raw values of the tensors that are known before it runs, by the tensors' ids.
        aliases: what stands for equal constants, and for the inputs and outputs of functions that are called.
        static: whether what is known of values by the graph alone holds: nothing but placeholders is given.

    Raises:
        InvalidArgumentError: a placeholder is needed and not among the inputs.
    """

    def __init__(
        self,
        inputs: Sequence[SymbolicTensor],
        outputs: Sequence[SymbolicTensor],
        effects: Iterable[Operation] = (),
        resources: Callable[[Any], Any] = lambda variable: variable,
        keeps: Callable[[GraphOp], bool] = lambda call: False,
    ) -> None:
        self._keeps = keeps
        self.inputs = list(inputs)
        self.outputs = list(outputs)
        self.constants: dict[int, Any] = {}
        self.static = all(t.op.type == "Placeholder" for t in inputs)
        self.steps: list[Step] = []
        self._asked = {id(o) for o in effects}
        self.aliases: dict[int, SymbolicTensor] = {}
        self._numbers: dict[Any, SymbolicTensor] = {}
        self._called: set[int] = set()
        self._add(needed(outputs, effects, {id(t) for t in inputs}), {id(t) for t in inputs}, resources)
        self.outputs = substituted(self.outputs, self.aliases)

    def _add(self, operations: list[Operation], given: set[int], resources: Callable[[Any], Any]) -> None:
        for operation in operations:
            op = operation.op
            if not isinstance(op, GraphOp):
                self._append(operation)
            elif op.name in ("Const", "VarHandleOp"):
                known = op.attrs["value"].value if op.name == "Const" else resources(op.attrs["variable"])
                out = operation.outputs[0]
                self.constants[id(out)] = known
                self.aliases[id(out)] = self.equal_number(out)
            elif op.name == "Placeholder":
                if id(operation.outputs[0]) not in given:
                    raise _not_fed(operation)
            elif op.name in CALLS and self._is_written_out(op):
                self._call(operation, resources)
            elif op.name != "NoOp":
                self._append(operation)

    def _is_written_out(self, call: GraphOp) -> bool:
        body = call.bodies["f"]
        return body.jit is None and id(body) not in self._called and not self._keeps(call)

    def _append(self, operation: Operation) -> None:
        must_run = operation.stateful or id(operation) in self._asked
        args = substituted(operation.args, self.aliases)
        self.steps.append(Step(operation.op, args, operation.outputs, [operation], operation.types, must_run))

    def _call(self, operation: Operation, resources: Callable[[Any], Any]) -> None:
        """Adds what a function does, in the place of its call. One that is called again stays a call."""
        op = operation.op
        body = op.bodies["f"]
        self._called.add(id(body))
        args = substituted(operation.args, self.aliases)
        self.aliases.update({id(t): arg for t, arg in zip(body.inputs, args, strict=True)})
        given = {id(t) for t in body.inputs}
        self._add(needed(op.gives, body.graph.effects(), given), given, resources)
        given_back = substituted(op.gives, self.aliases)
        self.aliases.update({id(t): own for t, own in zip(operation.outputs, given_back, strict=True)})

    def renamed(self) -> dict[int, SymbolicTensor]:
        """Gives it tensors of its own in the place of its inputs and of those that its steps give.

        Returns:
            The tensors that they stand for, by the ids of the new ones.
        """
        before = [*self.inputs, *(t for step in self.steps for t in step.outputs)]
        others = {id(t): SymbolicTensor(t.op, t.value_index, t.dtype, t.shape) for t in before}
        for step in self.steps:
            step.args, step.outputs = substituted(step.args, others), substituted(step.outputs, others)
        self.inputs, self.outputs = substituted(self.inputs, others), substituted(self.outputs, others)
        return {id(others[id(t)]): t for t in before}

    def uses(self) -> dict[int, int]:
        """How often each tensor is taken, by the tensors' ids."""
        count: dict[int, int] = {}
        for t in self.outputs:
            count[id(t)] = count.get(id(t), 0) + 1
        for step in self.steps:
            for t in step.inputs:
                count[id(t)] = count.get(id(t), 0) + 1
        return count

    def equal_number(self, tensor: SymbolicTensor) -> SymbolicTensor:
        """The first of the constants that are the same scalar as this one, so that what is made of them is the same."""
        value = self.constants[id(tensor)]
        if not isinstance(value, torch.Tensor) or value.ndim:
            return tensor
        return self._numbers.setdefault((tensor.dtype, repr(value.item())), tensor)

    def settle(self, device: torch.device) -> None:
        """Moves the constants that are computed with to a device. Integers stay: shapes are made of them."""
        for t in (t for step in self.steps for t in step.inputs):
            value = self.constants.get(id(t))
            if isinstance(value, torch.Tensor) and value.ndim and not t.dtype.is_integer and not t.dtype.is_bool:
                self.constants[id(t)] = devices.moved(value, device)

    def constant(self, tensor: Any) -> Any:
        """The raw value of a tensor that is known before the program runs, or None."""
        return self.constants.get(id(tensor))


def substituted(args: Sequence[Any], others: dict[int, SymbolicTensor]) -> list[Any]:
    """Arguments, or outputs, with other tensors in the place of those whose ids are named."""
    return [
        others.get(id(a), a) if isinstance(a, SymbolicTensor)
        else substituted(a, others) if type(a) is list
        else tuple(substituted(a, others)) if type(a) is tuple and others
        else a
        for a in args
    ]  # fmt: skip


def needed(outputs: Sequence[SymbolicTensor], effects: Iterable[Operation], given: set[int]) -> list[Operation]:
    """The operations that outputs and side effects need, in program order; what is given needs nothing."""
    found: dict[int, Operation] = {}
    waiting = [t.op for t in outputs if id(t) not in given]
    waiting.extend(effects)
    while waiting:
        operation = waiting.pop()
        if id(operation) in found or (operation.outputs and all(id(t) in given for t in operation.outputs)):
            continue
        found[id(operation)] = operation
        waiting.extend(t.op for t in operation.inputs if id(t) not in given)
        waiting.extend(operation._control_inputs)
    return sorted(found.values(), key=lambda o: o.index)


def _not_fed(operation: Operation) -> Exception:
    tensor = operation.outputs[0]
    return errors.InvalidArgumentError(
        None,
        None,
        f"You must feed a value for placeholder tensor '{operation.name}' with dtype {tensor.dtype.name} and shape "
        f"{tensor.shape}\n\t [[node {operation.name}]]",
    )
