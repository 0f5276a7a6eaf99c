"""Writing a program as Python source.

A step calls its op's kernel directly if the kernel supports the step's dtypes and returns the declared dtypes. For
kernels that passes substitute, this is certain (see `Step.native`). For other kernels, only a run shows it. The
kernel's name in the source therefore first stands for a function that tries the kernel, with fallbacks to other dtypes
or devices (see `core/ops/kernels.py`). After a call without a fallback, the name stands for the kernel itself. The
source is the same in both cases.
"""

from __future__ import annotations

import builtins
import functools
import keyword
import re
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from typing import Any

from tapeflow.core import device as devices
from tapeflow.core.ops.kernels import on_cpu, on_one_device, on_strings, raw_arguments, run_kernel
from tapeflow.core.ops.static import numbers, value_of
from tapeflow.core.types.dtypes import DType, resource, string, uint16, uint32, uint64, variant
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.graph.codegen.passes.result_cache import Cache, CachedBlock
from tapeflow.graph.ir.graph import READ
from tapeflow.graph.ir.names import numbered_name
from tapeflow.graph.ir.operation import variable_of
from tapeflow.graph.ir.python_op import eager_arguments
from tapeflow.graph.program.effects import has_stream, with_stream
from tapeflow.graph.program.program import Program, Step

_SMALL = 256  # elements: smaller temporaries live until the function returns
_LITERALS = frozenset({int, bool, str, type(None)})


class Writer:
    """Writes the source of a function.

    Attributes:
        namespace: the globals of the source: kernels and constants.
        steps: the steps, by the numbers of their lines.
        names: the names of tensors, by the tensors' ids.
    """

    deletes = True  # writes `del` for temporaries after their last use

    def __init__(self) -> None:
        self.namespace: dict[str, Any] = {"host": numbers}
        self.steps: dict[int, Step] = {}
        self.names: dict[int, str] = {}
        self._programs: list[Program] = []
        self._within: list[Step] = []  # the steps whose parts are being written, outermost first
        self._outer: dict[Program, Step] = {}  # these steps, by the parts
        self._kernels: dict[Any, str] = {}  # the names of kernels, by op and dtypes
        self._constants: dict[int, Any] = {}
        self._rows: list[str] = []
        self._used_names = set(dir(builtins))  # an operation named "range" must not hide Python's
        self._global_names: dict[tuple[str, int], tuple[str, Any]] = {}  # by the requested name and the value's id
        self._static = True
        self._wrapped: dict[int, tuple[Callable[..., Any], Any]] = {}  # kernels that accept several devices, by the ids

    @property
    def source(self) -> str:
        """The source written so far."""
        return "\n".join(self._rows) + "\n"

    def write(self, name: str, program: Program) -> None:
        """Writes the function of a program."""
        self._used_names.add(name)
        self.row(0, f"def {name}({', '.join(map(self.name, program.inputs))}):")
        self.block(program, 1)
        self.write_return(1, list(map(self.reference, program.outputs)))

    def write_return(self, indent: int, values: list[str]) -> None:
        """Writes the line that returns a tuple."""
        self.row(indent, f"return ({', '.join(values)}{',' if len(values) == 1 else ''})")

    def row(self, indent: int, text: str, step: Step | None = None) -> None:
        """Writes a line; `step` is the step that the line computes, if any."""
        self._rows.append("    " * indent + text)
        if step is not None:
            self.steps[len(self._rows)] = step

    def block(self, program: Program, indent: int) -> None:
        """Writes the steps of a program. Its inputs must have names already."""
        self._programs.append(program)
        if self._within:
            self._outer[program] = self._within[-1]
        self._constants.update(program.constants)
        self._static = self._static and program.static
        last = _last_uses(program) if self.deletes else {}
        for step in program.steps:
            self._within.append(step)
            self.step(step, indent)
            self._within.pop()
            dead = [self.names[i] for i in last.get(step, ()) if i in self.names]
            if dead:
                self.row(indent, f"del {', '.join(dead)}")

    def step(self, step: Step, indent: int) -> None:
        """Writes one step."""
        if isinstance(step.op, CachedBlock):
            self._cached_block(step.op.block, indent)
            return
        self.assign(step, self.call(step), indent, step.gives_tuple)

    def assign(self, step: Step, call: str, indent: int, is_tuple: bool) -> None:
        """Writes the line that computes a step; `is_tuple` if the expression `call` is a tuple even of one result."""
        targets = [self.name(t) for t in step.outputs]
        comma = "," if len(targets) == 1 and is_tuple else ""
        self.row(indent, f"{', '.join(targets)}{comma} = {call}" if targets else call, step)

    def _cached_block(self, block: Program, indent: int) -> None:
        """Writes a block of steps that runs only if the results of an earlier call are no longer valid."""
        cache, entry = self.named("cache", Cache()), self.unique("entry")
        self.row(indent, f"{entry} = {cache}({', '.join(map(self.reference, block.inputs))})")
        self.row(indent, f"if {entry}.results is None:")
        self.block(block, indent + 1)
        results = ", ".join(map(self.reference, block.outputs))
        self.row(indent + 1, f"{entry}.results = [{results}]")
        self.row(indent + 1, f"{cache}.entry = {entry}")
        self.row(indent, f"[{results}] = {entry}.results")

    def program_of(self, step: Step) -> Program:
        """Returns the program with a step."""
        return next(p for p in reversed(self._programs) if any(s is step for s in p.steps))

    def outer_step(self, program: Program) -> Step | None:
        """Returns the conditional or loop that a program is a part of, or None for the whole function."""
        return self._outer.get(program)

    def values(self, local: dict[str, Any], step: Step) -> dict[int, Any]:
        """Returns the raw values that tensors had in a call of the function.

        Args:
            local: the function's local variables.
            step: a step. The result includes the inputs and outputs of inlined functions around it.

        Returns:
            The values by the ids of the graph's tensors.
        """
        values = self.named_values(local)
        aliases = next((p.aliases for p in self._programs if step in p.steps), {})
        return values | {i: values[id(t)] for i, t in aliases.items() if id(t) in values}

    def named_values(self, local: dict[str, Any]) -> dict[int, Any]:
        """Returns the raw values of tensors with names, by the ids of the program's tensors."""
        return {i: local[name] for i, name in self.names.items() if name in local}

    # ---- names ---------------------------------------------------------------------------------------------------

    def name(self, tensor: SymbolicTensor) -> str:
        """Returns the name of a tensor that is computed."""
        name = self.names.get(id(tensor))
        if name is None:
            wish = tensor.op.name if tensor.value_index == 0 else f"{tensor.op.name}_{tensor.value_index}"
            name = self.names[id(tensor)] = self.unique(wish)
        return name

    def unique(self, wish: str) -> str:
        """Returns an unused name: `wish`, with a number if necessary."""
        name = numbered_name(identifier(wish), lambda name: name in self._used_names or name in self.namespace)
        self._used_names.add(name)
        return name

    def named(self, wish: str, value: Any) -> str:
        """Returns the name of a value in the namespace, after adding the value if it is new."""
        key = wish, id(value)
        entry = self._global_names.get(key)
        if entry is None:
            entry = self._global_names[key] = self.unique(wish), value
            self.namespace[entry[0]] = value
        return entry[0]

    def reference(self, tensor: SymbolicTensor) -> str:
        """Returns the expression for a tensor's value."""
        if id(tensor) in self.names or id(tensor) not in self._constants:
            return self.name(tensor)
        value = self._constants[id(tensor)]
        name = self.names[id(tensor)] = self.named(getattr(value, "_name", tensor.op.name), value)
        return name

    def literal(self, value: Any) -> str:
        """Returns the expression for a Python value."""
        kind = type(value)
        if kind in _LITERALS or (kind is float and value == value and abs(value) != float("inf")):
            return repr(value)
        if kind in (tuple, list) and all(type(v) in _LITERALS or type(v) in (tuple, float) for v in value):
            items = ", ".join(map(self.literal, value))
            return f"({items}{',' if len(value) == 1 else ''})" if kind is tuple else f"[{items}]"
        return self.named(value.name if isinstance(value, DType) else "constant", value)

    # ---- calls ---------------------------------------------------------------------------------------------------

    def call(self, step: Step) -> str:
        """Returns the expression that computes a step."""
        op = step.op
        if step.registered:
            arguments = [
                f"[{', '.join(a)}]" if type(a) is list else a
                for a in op.map(self.reference, step.args, host=self._host_argument, attr=self.literal)
            ]
            return f"{self._kernel(step)}({', '.join(arguments)})"
        arguments = [self.reference(t) for t in step.inputs]
        if op is READ and variable_of(step.args[0]) is not None:
            return f"{arguments[0]}._value.value"
        function = op.kernel
        if op.template and function is not None:
            function = self._on_one_device(function)
        kernel = "" if function is None else self.named(f"op_{op.name}", function)
        if op.template:
            return op.template.format(*arguments, kernel=kernel)
        return f"{kernel}({', '.join(arguments)})"

    def _host_argument(self, arg: Any) -> str:
        """Returns the expression for a host argument: one that the kernel takes as Python values."""
        if not isinstance(arg, SymbolicTensor):
            return self.literal(arg)
        known = static_numbers(arg, self._constants, self._static)
        return self.host(arg) if known is None else self.literal(known)

    def host(self, tensor: SymbolicTensor) -> str:
        """Returns the expression for a tensor's value as Python numbers."""
        return f"host({self.reference(tensor)})"

    def _kernel(self, step: Step) -> str:
        """Returns the name of a registered step's kernel.

        Steps of the same op and the same dtypes share a name. Steps that draw random numbers by seeds and steps placed
        on a device have their own.
        """
        op = step.op
        if runs_on_arrays(step):
            wrap = on_one_device if _of_objects(step) else on_cpu
            return self.named(f"op_{op.name}", self._on_one_device(on_strings(op), wrap))
        own = step.placed or has_stream(step)
        key = id(step) if own else (op, op.key(step.args), tuple(t.dtype for t in op.tensors(step.args)))
        name = self._kernels.get(key)
        if name is None:
            kernel = self._direct_kernel(step)
            name = self._kernels[key] = self.unique(f"placed_{op.name}" if step.placed else f"op_{op.name}")
            first = resolve(step, lambda: self.namespace.__setitem__(name, kernel))
            self.namespace[name] = kernel if first is None else with_stream(step, first)
        return name

    def _direct_kernel(self, step: Step) -> Callable[..., Any]:
        """Returns the kernel of a step for calls without a fallback."""
        op, kernel = step.op, step.op.kernel
        if step.placed:
            kernel = _placed_kernel(step)
        elif op.creates:
            kernel = functools.partial(kernel, device=devices.current_or_default(step.outputs[0].dtype.torch))
        return with_stream(step, kernel if step.placed else self._on_one_device(kernel))

    def _on_one_device(self, kernel: Callable[..., Any], wrap: Any = on_one_device) -> Callable[..., Any]:
        """Returns the kernel; on a machine with a GPU, wrapped to accept inputs on several devices."""
        if not devices.machine.has_gpu:
            return kernel
        return self._wrapped.setdefault(id(kernel), (wrap(kernel), kernel))[0]


def _placed_kernel(step: Step) -> Callable[..., Any]:
    """Returns the kernel of a step that the user placed on a device."""
    device, kernel = devices.find(step.operation.device), step.op.kernel
    if step.op.creates:
        place = devices.current_or_default(step.outputs[0].dtype.torch) if device is None else device.torch
        kernel = functools.partial(kernel, device=place)
    return lambda *values: kernel(*devices.place(values, device))


_OBJECTS = frozenset({resource, variant})


def runs_on_arrays(step: Step) -> bool:
    """Returns True if a step runs its op's kernel for arrays of objects, such as strings or lists of tensors."""
    if not step.registered or (step.op.string_kernel is None and not step.op.moves):
        return False
    dtypes = {t.dtype for t in step.operation.tensor_inputs}
    if step.op.string_kernel is step.op.kernel and _OBJECTS & (dtypes | {t.dtype for t in step.outputs}):
        return True
    return string in dtypes or (variant in dtypes and step.op.string_kernel is not None)


def _of_objects(step: Step) -> bool:
    """Returns True if a step's operands include arrays of objects with tensors, on any device."""
    return any(t.dtype is variant or t.dtype is resource for t in step.operation.tensor_inputs)


def static_numbers(tensor: SymbolicTensor, constants: Mapping[int, Any], static: bool) -> Any:
    """Returns a host argument as Python numbers if it is the same in all calls, otherwise None.

    Args:
        tensor: the argument.
        constants, static: see `Program`.
    """
    value = constants.get(id(tensor))
    value = value_of(tensor) if value is None and static else value
    return None if value is None else numbers(value)


def _last_uses(program: Program) -> dict[Step, list[int]]:
    """Returns the ids of the temporaries with their last use in each step."""
    lasting = program.lasting
    last: dict[int, Step] = {}
    for step in program.steps:
        for t in step.inputs:
            if id(t) not in lasting and not _is_small(t):
                last[id(t)] = step
    by_step: dict[Step, list[int]] = {}
    for i, step in last.items():
        by_step.setdefault(step, []).append(i)
    return by_step


def _is_small(tensor: SymbolicTensor) -> bool:
    shape = tensor.shape
    return shape.is_fully_defined() and shape.num_elements() < _SMALL


def identifier(name: str) -> str:
    """Returns a name as a valid Python identifier."""
    valid = re.sub(r"\W", "_", name)
    return f"_{valid}" if not valid or valid[0].isdigit() or keyword.iskeyword(valid) else valid


# ---- kernels ---------------------------------------------------------------------------------------------------------


def is_direct(step: Step) -> bool:
    """Returns True if an earlier run has shown that the step's kernel supports its dtypes."""
    return not step.registered or (step.op.key(step.args) in step.op.direct and not _is_partly_supported(step))


def _is_partly_supported(step: Step) -> bool:
    """Returns True if a successful run says nothing about later runs.

    ATen supports some dtypes only for some values. For example, a maximum of several elements may fail after a maximum
    of no elements succeeded. Results of such dtypes alone, such as keys of random numbers, have no such limits.
    """
    return any(t.dtype in PARTLY_SUPPORTED for t in step.op.tensors(step.args))


PARTLY_SUPPORTED = (uint16, uint32, uint64)


def resolve(step: Step, on_success: Callable[[], None]) -> Callable[..., Any] | None:
    """Returns the function for a registered step's first call, or None if its kernel can be called directly.

    Args:
        step: the step.
        on_success: called after the kernel has computed the step without a fallback.
    """
    if is_direct(step):
        return None
    op, key = step.op, step.op.key(step.args)

    def first_call(*values: Any) -> Any:
        args = eager_arguments(op, step.args, values)
        with devices.device(step.operation.device) if step.placed else nullcontext():
            result, as_called = run_kernel(op, op.kernel, args, raw_arguments(op, args), step.types)
        if as_called and not _is_partly_supported(step):
            op.direct[key] = op.result_dtypes(step.outputs)
            on_success()
        return result

    return first_call
