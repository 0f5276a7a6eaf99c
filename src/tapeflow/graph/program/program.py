"""Programs: the steps of compiled functions. Passes rewrite programs.

A program is derived from a graph and belongs to one compiled function. Passes change its steps, never the graph.
"""

from __future__ import annotations

import copy
import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import torch

from tapeflow.core import device as devices
from tapeflow.core import errors
from tapeflow.core.ops.definition import ops
from tapeflow.core.ops.static import host_static
from tapeflow.core.types.dtypes import bfloat16, float16, float32, float64
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.graph.ir.graph import READ
from tapeflow.graph.ir.operation import GraphOp, Operation, reachable, symbolic_in

NATIVE = frozenset({float16, bfloat16, float32, float64})
_UNKNOWN = 32  # the estimate of a size that is not static
BYTES_OF_CALL = 1 << 15  # bytes that a kernel writes in about the time of its call
_NAMED = 3  # ops in the name of an op that computes several steps
_FEW = 8  # the limit of elements for comparing constants, such as shapes


class Miss(NamedTuple):
    """A near miss: a replacement that almost applied.

    Attributes:
        name: the name of the replacement, such as "attention".
        operation: the last operation of the pattern.
        reason: the reason for not replacing it.
        instead: the operation that does not match, or None.
    """

    name: str
    operation: Operation
    reason: str
    instead: Operation | None = None


class Step:
    """One call of a kernel.

    Attributes:
        op: a registered op, or a `GraphOp`.
        args: its arguments, as in `Operation`.
        outputs: its output tensors.
        origins: the graph's operations that it computes. The step is named after the last one.
        must_run: True if it runs even without uses of its outputs.
    """

    __slots__ = ("_programs", "args", "must_run", "op", "origins", "outputs")

    def __init__(
        self, op: Any, args: Sequence[Any], outputs: Sequence[SymbolicTensor], origins: Sequence[Operation],
        must_run: bool = False,
    ) -> None:  # fmt: skip
        self.op = op
        self.args = list(args)
        self.outputs = outputs
        self.origins = list(origins)
        self.must_run = must_run
        self._programs: Sequence[Program] | None = None

    @property
    def programs(self) -> Sequence[Program]:
        """The programs in it: of a called function, of branches, or of a loop's condition, body and hoisted part."""
        if self._programs is None:
            self._programs = [] if self.registered else self.op.programs
        return self._programs

    @programs.setter
    def programs(self, programs: Sequence[Program]) -> None:
        self._programs = programs

    @property
    def inner(self) -> list[tuple[Program, list[SymbolicTensor]]]:
        """The programs in it, with the tensors that it passes to their first inputs."""
        operands, places = self.args[self.op.steering :], self.op.places.values()
        return [(program, [operands[i] for i in own]) for program, own in zip(self.programs, places, strict=False)]

    @property
    def is_written(self) -> bool:
        """True for a conditional or loop that the source writes as `if` or `while`; a loop with residuals is a call."""
        control = self.op.control
        return control == "conditional" or (control == "loop" and self.op.kernel.residuals is None)

    @property
    def operation(self) -> Operation:
        """The operation that the step is named after."""
        return self.origins[-1]

    @property
    def name(self) -> str:
        """The name of its op."""
        return self.op.name

    @property
    def inputs(self) -> list[SymbolicTensor]:
        """The tensors among its arguments."""
        return list(symbolic_in(self.args))

    @property
    def types(self) -> dict[str, Any]:
        """The type attrs of its op, from the dtypes of its tensors; empty for a `GraphOp`."""
        return self.op.types_of(self.args, self.outputs) if self.registered else {}

    @property
    def registered(self) -> bool:
        """True if its op also exists in eager mode; False for a `GraphOp`."""
        return not isinstance(self.op, GraphOp)

    @property
    def native(self) -> bool:
        """True if all its tensors are floating-point: ATen supports these in all kernels that passes substitute."""
        return not self.registered or all(t.dtype in NATIVE for t in (*self.op.tensors(self.args), *self.outputs))

    @property
    def gives_tuple(self) -> bool:
        """True if its kernel returns a tuple or a list, even of one result."""
        if not self.registered:
            return bool(self.op.gives_tuple)
        return len(self.op.opdef.outputs) > 1 or any(out.is_list for out in self.op.opdef.outputs)

    @property
    def pure(self) -> bool:
        """True if its outputs depend only on its inputs and it has no side effects."""
        return self.registered and not self.op.opdef.stateful

    @property
    def placed(self) -> bool:
        """True if the user placed it on a device and the machine has a GPU. Without a GPU, all devices share memory."""
        return bool(self.operation.device) and devices.machine.has_gpu

    def __repr__(self) -> str:
        return f"<step {self.name} of {self.operation.name!r}>"


class Program:
    """The steps from inputs to outputs.

    Args:
        inputs: the tensors that are fed; they need not be placeholders.
        outputs: the tensors to compute.
        effects: operations that always run.
        resources: maps each variable to the variable to use (sessions have their own).
        static: True if the static values in the graph are valid. By default, they are if only placeholders are fed.

    Attributes:
        constants: the raw values of constants, by the tensors' ids.
        folded: the tensors that became constants. Holding them keeps their ids in `constants` valid.
        aliases: replacements of duplicate constants, and of the inputs and outputs of inlined functions, by the ids of
            the replaced tensors.
        static: see the argument.
        misses: the near misses of passes.

    Raises:
        InvalidArgumentError: the outputs or effects depend on a placeholder that is not fed.
    """

    def __init__(
        self,
        inputs: Sequence[SymbolicTensor],
        outputs: Sequence[SymbolicTensor],
        effects: Iterable[Operation] = (),
        resources: Callable[[Any], Any] = lambda variable: variable,
        static: bool | None = None,
    ) -> None:
        self.inputs = list(inputs)
        self.outputs = list(outputs)
        self.constants: dict[int, Any] = {}
        self.folded: list[SymbolicTensor] = []
        self.static = all(t.op.type == "Placeholder" for t in inputs) if static is None else static
        self.steps: list[Step] = []
        self.misses: list[Miss] = []
        self._effects = set(effects)
        self.aliases: dict[int, SymbolicTensor] = {}
        self._few: dict[Any, SymbolicTensor] = {}  # the first of equal constants with few elements
        self._inlined: set[int] = set()
        self._add(needed_operations(outputs, effects, {id(t) for t in inputs}), {id(t) for t in inputs}, resources)
        self.outputs = substitute(self.outputs, self.aliases)

    def _add(self, operations: list[Operation], fed: set[int], resources: Callable[[Any], Any]) -> None:
        """Adds operations as steps or constants; `fed` has the ids of the fed tensors."""
        for operation in operations:
            op = operation.op
            if not isinstance(op, GraphOp):
                self._append(operation)
            elif op.name in ("Const", "VarHandleOp"):
                value = op.attrs["value"].value if op.name == "Const" else resources(op.attrs["variable"])
                out = operation.outputs[0]
                self.constants[id(out)] = value
                self.aliases[id(out)] = self.canonical_constant(out)
            elif op.name == "Placeholder":
                if id(operation.outputs[0]) not in fed:
                    raise _not_fed(operation)
            elif op.control == "call" and self._is_inlined(operation):
                self._inline(operation, resources)
            elif op.name != "NoOp":
                self._append(operation)

    def _is_inlined(self, operation: Operation) -> bool:
        """Returns True if a call is inlined.

        A function stays a call if an argument comes from a stateful op and has an unknown shape, such as a batch that
        the program reads from a data set: the function adapts to its size.
        """
        body = operation.op.bodies["f"]
        args = substitute(operation.args, self.aliases)
        adapts = any(t.op.stateful and not t.shape.is_fully_defined() for t in args)
        return body.jit is None and id(body) not in self._inlined and not adapts

    def _append(self, operation: Operation) -> None:
        must_run = operation.stateful or operation in self._effects
        args = substitute(operation.args, self.aliases)
        self.steps.append(Step(operation.op, args, operation.outputs, [operation], must_run))

    def _inline(self, operation: Operation, resources: Callable[[Any], Any]) -> None:
        """Inlines a call: adds the function's operations. A second call of the same function stays a call."""
        op = operation.op
        body = op.bodies["f"]
        self._inlined.add(id(body))
        args = substitute(operation.args, self.aliases)
        self.aliases.update({id(t): arg for t, arg in zip(body.inputs, args, strict=True)})
        inputs = {id(t) for t in body.inputs}
        self._add(needed_operations(op.results, body.graph.effects(), inputs), inputs, resources)
        results = substitute(op.results, self.aliases)
        self.aliases.update({id(t): result for t, result in zip(operation.outputs, results, strict=True)})

    def copied(self) -> Program:
        """Returns a copy with its own steps and constants, for passes to change."""
        result = copy.copy(self)
        result.steps, result.misses = [copy.copy(step) for step in self.steps], []
        result.folded = list(self.folded)
        result.constants, result.aliases, result._few = dict(self.constants), dict(self.aliases), dict(self._few)
        return result

    def replace_tensors(self) -> dict[int, SymbolicTensor]:
        """Replaces its inputs and the outputs of its steps by new tensors that are not shared with other programs.

        Returns:
            The replaced tensors, by the ids of the new ones.
        """
        before = {id(t): t for t in (*self.inputs, *(t for step in self.steps for t in step.outputs))}
        others = {i: SymbolicTensor(t.op, t.value_index, t.dtype, t.shape) for i, t in before.items()}
        for step in self.steps:
            step.args, step.outputs = substitute(step.args, others), substitute(step.outputs, others)
        self.inputs, self.outputs = substitute(self.inputs, others), substitute(self.outputs, others)
        return {id(others[i]): t for i, t in before.items()}

    @property
    def producers(self) -> dict[int, Step]:
        """The steps that compute tensors, by the tensors' ids."""
        return {id(t): step for step in self.steps for t in step.outputs}

    @property
    def users(self) -> dict[int, list[int]]:
        """The indices of the steps that take tensors, by the tensors' ids."""
        users: dict[int, list[int]] = {}
        for i, step in enumerate(self.steps):
            for t in step.inputs:
                users.setdefault(id(t), []).append(i)
        return users

    @property
    def lasting(self) -> set[int]:
        """The ids of the tensors that outlive their last use in steps: inputs, outputs and constants."""
        return {id(t) for t in (*self.inputs, *self.outputs)} | set(self.constants)

    def part(self, steps: Sequence[Step]) -> Program:
        """Returns some of the steps as a program. Its outputs are the results with other uses."""
        part, inside = copy.copy(self), set(steps)
        others = [t for step in self.steps if step not in inside for t in step.inputs]
        used = set(map(id, (*self.outputs, *others)))
        computed = {id(t): t for step in steps for t in step.outputs}
        operands = {id(t): t for step in steps for t in step.inputs}
        part.steps, part.outputs = list(steps), [t for i, t in computed.items() if i in used]
        part.inputs = [t for i, t in operands.items() if i not in computed and i not in self.constants]
        return part

    def use_counts(self) -> dict[int, int]:
        """Returns the use counts of tensors in steps and outputs, by the tensors' ids."""
        uses = itertools.chain(self.outputs, *(step.inputs for step in self.steps))
        return Counter(map(id, uses))

    def canonical_constant(self, tensor: SymbolicTensor) -> SymbolicTensor:
        """Returns the first equal constant. Sharing it lets passes share the computations from it.

        Args:
            tensor: a constant. A large constant is returned itself.
        """
        value = self.constants[id(tensor)]
        if type(value) is not torch.Tensor or value.numel() > _FEW:  # subclasses hold values on several devices
            return tensor
        return self._few.setdefault((tensor.dtype, tuple(value.shape), repr(value.tolist())), tensor)

    def move_constants(self, device: torch.device) -> None:
        """Moves constants to a device. Integers stay, because they form shapes. Scalars work with any device."""
        for t in (t for step in self.steps for t in step.inputs):
            value = self.constants.get(id(t))
            if isinstance(value, torch.Tensor) and value.ndim and not t.dtype.is_integer and not t.dtype.is_bool:
                self.constants[id(t)] = devices.move_value(value, device)

    def constant(self, tensor: Any) -> Any:
        """Returns the raw value of a constant tensor, or None."""
        return self.constants.get(id(tensor))


def substitute(args: Sequence[Any], others: dict[int, SymbolicTensor]) -> list[Any]:
    """Returns arguments or outputs after replacing tensors; `others` has the replacements by the tensors' ids."""
    return [
        others.get(id(a), a) if isinstance(a, SymbolicTensor)
        else substitute(a, others) if type(a) is list
        else tuple(substitute(a, others)) if type(a) is tuple and others
        else a
        for a in args
    ]  # fmt: skip


def needed_operations(
    outputs: Sequence[SymbolicTensor], effects: Iterable[Operation], fed: set[int]
) -> list[Operation]:
    """Returns the operations behind outputs and side effects, in program order.

    Args:
        outputs: the tensors to compute.
        effects: operations that always run.
        fed: the ids of the fed tensors. They depend on nothing.
    """
    return reachable([*(t.op for t in outputs if id(t) not in fed), *effects], fed)


def is_reshape(step: Step) -> bool:
    """Returns True if a step only changes the shape of a tensor."""
    return step.op in (ops.Reshape.op, ops.Squeeze.op, ops.ExpandDims.op)


def reduced_axes(step: Step) -> set[int]:
    """Returns the axes of a floating-point reduction, counted from the end; an empty set for other steps, for axes that
    are not static, and for one that is named twice."""
    if step.op.reduced is None or step.placed or not step.outputs[0].dtype.is_floating:
        return set()
    rank, axes = step.args[0].shape.rank or 0, host_static(step.args[1])
    axes = axes if type(axes) is tuple else (axes,)
    reduced = {a % rank - rank for a in axes} if rank > 1 and all(type(a) is int for a in axes) else set()
    return reduced if len(reduced) == len(axes) else set()


def name_of_steps(steps: Sequence[Step]) -> str:
    """Returns the name of an op that computes some steps: the names of the first ones, and the number of others."""
    names = [step.name for step in steps]
    return "".join(names[:_NAMED]) + (f"And{len(names) - _NAMED}More" if len(names) > _NAMED else "")


def bytes_of(tensor: SymbolicTensor) -> int:
    """Returns the estimated size of a tensor in bytes; 0 for dtypes without numbers."""
    return 0 if tensor.dtype.torch is None else tensor.dtype.size * elements_of(tensor)


def cost_of(step: Step) -> float:
    """Returns the estimated cost of a step, in calls of a small kernel."""
    if step.op is READ or step.op.view:
        return 0
    inner = sum(cost_of(s) for program in step.programs for s in program.steps)
    return 1 + (inner or sum(map(bytes_of, step.outputs)) / BYTES_OF_CALL)


def elements_of(tensor: SymbolicTensor) -> int:
    """Returns the estimated number of a tensor's elements, for costs."""
    shape = tensor.shape
    return 1 if shape.rank is None else math.prod(_UNKNOWN if d is None else d for d in shape)


def _not_fed(operation: Operation) -> Exception:
    """Returns the error for a placeholder without a value."""
    tensor = operation.outputs[0]
    return errors.InvalidArgumentError.of(
        f"You must feed a value for placeholder tensor '{operation.name}' with dtype {tensor.dtype.name} and shape "
        f"{tensor.shape}\n\t [[node {operation.name}]]"
    )
