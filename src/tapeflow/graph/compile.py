"""From a graph to one straight-line Python function of kernel calls.

The function takes and gives raw values (`torch.Tensor`s, arrays of strings, variables). What it computes is a `Program`, which
passes have made smaller; here it is written down. Temporaries are dropped at their last use. A kernel that has not yet
shown that it computes in the dtypes at hand is called the careful way (`core/kernels.py`); once all have run, the function
is written again without, and with the passes that need to know.
"""

from __future__ import annotations

import copy
import functools
import itertools
import keyword
import linecache
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from tapeflow import errors
from tapeflow.core import device as devices
from tapeflow.core.dtypes import DType
from tapeflow.core.kernels import compute, located
from tapeflow.core.symbolic import SymbolicTensor
from tapeflow.core.tensor import EagerTensor
from tapeflow.graph import passes
from tapeflow.graph.graph import READ
from tapeflow.graph.operation import Operation, variable_of
from tapeflow.graph.program import Program, Step
from tapeflow.graph.python_op import as_eager
from tapeflow.graph.static import host_static, numbers, value_of

_SMALL = 256  # elements: temporaries below this are left to the end of the function
_numbers = itertools.count(1)
_LITERALS = frozenset({int, bool, str, type(None)})


class Compiled:
    """A graph, or a part of it, as a Python function.

    Args:
        name: the function's name.
        inputs: the tensors that it takes; those fed need not be placeholders.
        outputs: the tensors that it gives.
        effects: operations that must run whether or not an output needs them.
        resources: from a variable to what stands for it (a session's own).

    Attributes:
        function: the Python function.
        source: its source.
        stale: whether it can be written again, and will be faster.
    """

    def __init__(
        self,
        name: str,
        inputs: Sequence[SymbolicTensor],
        outputs: Sequence[SymbolicTensor],
        effects: Iterable[Operation] = (),
        resources: Callable[[Any], Any] = lambda variable: variable,
    ) -> None:
        self.name = _identifier(name)
        self._filename = f"<function {self.name} {next(_numbers)}>"
        self._program = Program(inputs, outputs, effects, resources)
        for run in passes.SIMPLIFY:
            run(self._program)
        self._write(all(step.exact for step in self._program.steps))

    def _write(self, all_ran: bool) -> None:
        """Writes and compiles the function.

        Args:
            all_ran: whether all kernels have run that will be called without care.
        """
        self.stale = False
        program = self._program
        if all_ran:
            program = copy.copy(program)
            program.steps = [copy.copy(step) for step in program.steps]
            for run in passes.SPECIALIZE:
                run(program)
        self._written = _Writer(self.name, program, self._careful)
        self.source = self._written.source
        linecache.cache[self._filename] = (len(self.source), None, self.source.splitlines(True), self._filename)
        code = compile(self.source, self._filename, "exec")
        exec(code, self._written.namespace)  # the source is this function's own
        self.function: Callable[..., Any] = self._written.namespace[self.name]

    def __del__(self) -> None:
        linecache.cache.pop(self._filename, None)

    # ---- running -------------------------------------------------------------------------------------------------

    def _careful(self, step: Step, *values: Any) -> Any:
        """Runs a kernel as eager mode does off its fast path."""
        op = step.op
        args = [
            EagerTensor(value, arg.dtype) if kind == "tensor"
            else [EagerTensor(v, t.dtype) for v, t in zip(value, arg, strict=True)] if kind == "list"
            else value
            for kind, arg, value in zip(op.kinds, step.args, values, strict=True)
        ]  # fmt: skip
        if step.placed:
            with devices.device(step.operation.device):
                return compute(op, args, step.types, step.operation.name)[0]
        result, exact = compute(op, args, step.types, step.operation.name)
        if exact:
            op.checked[op.key(step.args)] = step.outputs[0].dtype
            self.stale = True
        return result

    def refresh(self) -> None:
        """Writes the function again where it can be faster than it is."""
        if self.stale:
            self._write(all_ran=True)

    def __call__(self, *values: Any) -> Any:
        """Runs the function on raw values.

        Raises:
            OpError: an op failed.
        """
        if self.stale:
            self._write(all_ran=True)
        try:
            return self.function(*values)
        except Exception as error:
            raise self.explained(error) from (error.__cause__ if isinstance(error, errors.OpError) else error)

    def explained(self, error: Exception) -> Exception:
        """TensorFlow's error for what a kernel raised."""
        if isinstance(error, errors.OpError):
            return error
        frame, trace = None, error.__traceback__
        while trace is not None:
            if trace.tb_frame.f_code.co_filename == self._filename:
                frame = trace
            trace = trace.tb_next
        step = None if frame is None else self._written.lines.get(frame.tb_lineno)
        if frame is None or step is None:
            return error
        local = {**self._written.namespace, **frame.tb_frame.f_locals}
        values = {i: local[name] for i, name in self._written.names.items() if name in local}
        for operation in step.origins:
            if not hasattr(operation.op, "kinds"):
                return error
            try:
                _run_again(operation, values)
            except errors.OpError as said:
                return said
            except KeyError:  # a value that was dropped or written over
                return located(error, operation.op, operation.name)
            except Exception as other:
                return located(other, operation.op, operation.name)
        return error


def _run_again(operation: Operation, values: dict[int, Any]) -> None:
    """Runs one operation with the values that a function had, so that it raises its error again."""
    op = operation.op

    def raw(tensor: SymbolicTensor) -> Any:
        return EagerTensor(values[id(tensor)], tensor.dtype)

    args: list[Any] = []
    for kind, arg in zip(op.kinds, operation.args, strict=True):
        if kind == "tensor":
            args.append(raw(arg))
        elif kind == "list":
            args.append([raw(t) for t in arg])
        elif isinstance(arg, SymbolicTensor):
            args.append(host_static(arg) if value_of(arg) is not None else numbers(raw(arg).value))
        else:
            args.append(arg)
    result, _ = compute(op, args, operation.types, operation.name)
    for tensor, value in zip(operation.outputs, result if isinstance(result, (tuple, list)) else [result], strict=True):
        values[id(tensor)] = value


class _Writer:
    """Writes the source of a function.

    Attributes:
        source: the source.
        namespace: what its names stand for: kernels and constants.
        lines: the step of each line.
        names: the names of tensors, by the tensors' ids.
    """

    def __init__(self, name: str, program: Program, careful: Callable[..., Any]) -> None:
        self._program = program
        self._run_with_care = careful
        self.namespace: dict[str, Any] = {"host": numbers}
        self.names: dict[int, str] = {}
        self.lines: dict[int, Step] = {}
        self._taken: set[str] = set()
        self._named: dict[tuple[str, int], tuple[str, Any]] = {}  # the names of what is in the namespace, by wish and id
        self.source = self._written(name)

    def _written(self, name: str) -> str:
        program = self._program
        parameters = [self._name(t) for t in program.inputs]
        lines = [f"def {name}({', '.join(parameters)}):"]
        last = self._last_uses()
        for step in program.steps:
            lines.append("    " + self._line(step))
            self.lines[len(lines)] = step
            dead = [self.names[i] for i in last.get(id(step), ()) if i in self.names]
            if dead:
                lines.append(f"    del {', '.join(dead)}")
        given = ", ".join(self._reference(t) for t in program.outputs)
        lines.append(f"    return ({given}{',' if len(program.outputs) == 1 else ''})")
        return "\n".join(lines) + "\n"

    def _last_uses(self) -> dict[int, list[int]]:
        """From a step to the temporaries that nobody takes after it."""
        program = self._program
        kept = {id(t) for t in (*program.inputs, *program.outputs)} | set(program.constants)
        last: dict[int, Step] = {}
        for step in program.steps:
            for t in step.inputs:
                if id(t) not in kept and not _is_small(t):
                    last[id(t)] = step
        found: dict[int, list[int]] = {}
        for i, step in last.items():
            found.setdefault(id(step), []).append(i)
        return found

    # ---- names ---------------------------------------------------------------------------------------------------

    def _name(self, tensor: SymbolicTensor) -> str:
        known = self.names.get(id(tensor))
        if known is None:
            name = tensor.op.name if tensor.value_index == 0 else f"{tensor.op.name}_{tensor.value_index}"
            known = self.names[id(tensor)] = self._unique(_identifier(name))
        return known

    def _unique(self, name: str) -> str:
        unique, count = name, 0
        while unique in self._taken or unique in self.namespace:
            count += 1
            unique = f"{name}_{count}"
        self._taken.add(unique)
        return unique

    def _global(self, name: str, value: Any) -> str:
        """The name of something in the namespace."""
        key = name, id(value)
        known = self._named.get(key)
        if known is None:
            known = self._named[key] = self._unique(_identifier(name)), value
            self.namespace[known[0]] = value
        return known[0]

    def _reference(self, tensor: SymbolicTensor) -> str:
        """The expression for a tensor's value."""
        if id(tensor) in self.names or id(tensor) not in self._program.constants:
            return self._name(tensor)
        value = self._program.constants[id(tensor)]
        name = self.names[id(tensor)] = self._global(getattr(value, "_name", tensor.op.name), value)
        return name

    def _literal(self, value: Any) -> str:
        kind = type(value)
        if kind in _LITERALS or (kind is float and value == value and abs(value) != float("inf")):
            return repr(value)
        if kind in (tuple, list) and all(type(v) in _LITERALS or type(v) in (tuple, float) for v in value):
            items = ", ".join(map(self._literal, value))
            return f"({items}{',' if len(value) == 1 else ''})" if kind is tuple else f"[{items}]"
        return self._global(value.name if isinstance(value, DType) else "constant", value)

    # ---- lines ---------------------------------------------------------------------------------------------------

    def _line(self, step: Step) -> str:
        call = self._call(step)
        targets = [self._name(t) for t in step.outputs]
        if not targets:
            return call
        comma = "," if len(targets) == 1 and _gives_tuple(step) else ""
        return f"{', '.join(targets)}{comma} = {call}"

    def _call(self, step: Step) -> str:
        op = step.op
        if step.registered:
            arguments = [self._argument(kind, arg) for kind, arg in zip(op.kinds, step.args, strict=True)]
            return f"{self._kernel(step)}({', '.join(arguments)})"
        arguments = [self._reference(t) for t in step.inputs]
        if op is READ and variable_of(step.args[0]) is not None:
            return f"{arguments[0]}._value.value"
        kernel = "" if op.kernel is None else self._global(f"op_{op.name}", op.kernel)
        if op.inline:
            return op.inline.format(*arguments, kernel=kernel)
        return f"{kernel}({', '.join(arguments)})"

    def _argument(self, kind: str, arg: Any) -> str:
        if kind == "tensor":
            return self._reference(arg)
        if kind == "list":
            return f"[{', '.join(map(self._reference, arg))}]"
        if kind == "host" and isinstance(arg, SymbolicTensor):
            known = self._program.known(arg)
            if known is None and self._program.static:
                known = value_of(arg)
            return self._literal(numbers(known)) if known is not None else f"host({self._reference(arg)})"
        return self._literal(arg)

    def _kernel(self, step: Step) -> str:
        op = step.op
        if not step.exact or step.placed:
            return self._global(f"careful_{op.name}", functools.partial(self._run_with_care, step))
        if op.creates:
            return self._global(f"op_{op.name}", functools.partial(op.kernel, device=devices.current_or_default()))
        return self._global(f"op_{op.name}", op.kernel)


def _gives_tuple(step: Step) -> bool:
    op = step.op
    if step.registered:
        return op.many or len(op.opdef.outputs) > 1
    return op.gives_tuple


def _is_small(tensor: SymbolicTensor) -> bool:
    shape = tensor.shape
    return shape.is_fully_defined() and shape.num_elements() < _SMALL


def _identifier(name: str) -> str:
    made = re.sub(r"\W", "_", name)
    if not made or made[0].isdigit() or keyword.iskeyword(made):
        made = f"_{made}"
    return made


def eager_outputs(values: Iterable[Any], tensors: Iterable[SymbolicTensor]) -> list[Any]:
    """Eager tensors of what a compiled function gave."""
    return [as_eager(v, t.dtype) for v, t in zip(values, tensors, strict=True)]
