"""From a graph to one straight-line Python function of kernel calls.

The function takes and gives raw values (`torch.Tensor`s, arrays of strings, variables). What its outputs do not need is left out,
unless it has a side effect; temporaries are dropped at their last use. A kernel that has not yet shown that it computes
in the dtypes at hand is called the careful way (`core/kernels.py`); once it has, the function is written again without.
"""

from __future__ import annotations

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
from tapeflow.graph.graph import READ
from tapeflow.graph.operation import NodeOp, Operation
from tapeflow.graph.python_op import as_eager
from tapeflow.graph.static import host_static, value_of

_SMALL = 256  # elements: temporaries below this are left to the end of the function
_numbers = itertools.count(1)
_exact: set[Any] = set()  # (op, dtypes) of kernels of several outputs that gave the dtypes that they promise
_LITERALS = frozenset({int, bool, str, type(None)})


def numbers_of(value: Any) -> Any:
    """The Python numbers of a raw value."""
    return _tuples(value.tolist())


def _tuples(value: Any) -> Any:
    return tuple([_tuples(v) for v in value]) if type(value) is list else value


class Compiled:
    """A graph, or a part of it, as a Python function.

    Args:
        name: the function's name.
        inputs: the tensors that it takes; those fed need not be placeholders.
        outputs: the tensors that it gives.
        effects: operations that must run whether or not an output needs them.
        resources: from a variable to what stands for it (a session's own).
    """

    def __init__(
        self,
        name: str,
        inputs: Sequence[SymbolicTensor],
        outputs: Sequence[SymbolicTensor],
        effects: Iterable[Operation] = (),
        resources: Callable[[Any], Any] | None = None,
    ) -> None:
        self.name = _identifier(name)
        self.inputs = list(inputs)
        self.outputs = list(outputs)
        fed = {id(t.op) for t in inputs}
        self.operations = _needed_after(outputs, effects, fed, {id(t) for t in inputs})
        self.stale = False
        self._resources = resources or (lambda variable: variable)
        self._filename = f"<function {self.name} {next(_numbers)}>"
        self.function: Callable[..., Any] = self._write()

    # ---- writing -------------------------------------------------------------------------------------------------

    def _write(self) -> Callable[..., Any]:
        """Writes and compiles the function."""
        self.stale = False
        self.namespace: dict[str, Any] = {"host": numbers_of}
        self._names: dict[int, str] = {}
        self._taken: set[str] = set()
        self._kernels: dict[Any, str] = {}
        parameters = [self._name(t) for t in self.inputs]
        lines = [f"def {self.name}({', '.join(parameters)}):"]
        self.lines: dict[int, Operation] = {}
        last = self._last_uses()
        for operation in self.operations:
            line = self._line(operation)
            if line is None:
                continue
            lines.append("    " + line)
            self.lines[len(lines)] = operation
            dead = [self._names[i] for i in last.get(id(operation), ()) if i in self._names]
            if dead:
                lines.append(f"    del {', '.join(dead)}")
        given = ", ".join(self._reference(t) for t in self.outputs)
        lines.append(f"    return ({given}{',' if len(self.outputs) == 1 else ''})")
        self.source = "\n".join(lines) + "\n"
        linecache.cache[self._filename] = (len(self.source), None, self.source.splitlines(True), self._filename)
        exec(compile(self.source, self._filename, "exec"), self.namespace)  # the source is this function's own
        return self.namespace[self.name]

    def __del__(self) -> None:
        linecache.cache.pop(self._filename, None)

    def _last_uses(self) -> dict[int, list[int]]:
        """From an operation to the temporaries that nobody takes after it."""
        kept = {id(t) for t in self.inputs} | {id(t) for t in self.outputs}
        last: dict[int, tuple[Operation, SymbolicTensor]] = {}
        for operation in self.operations:
            if operation.type in ("Const", "VarHandleOp", "Placeholder"):
                continue
            for t in operation.inputs:
                last[id(t)] = operation, t
        found: dict[int, list[int]] = {}
        for i, (operation, t) in last.items():
            if i in kept or t.op.type in ("Const", "VarHandleOp") or _is_small(t):
                continue
            found.setdefault(id(operation), []).append(i)
        return found

    def _name(self, tensor: SymbolicTensor) -> str:
        known = self._names.get(id(tensor))
        if known is None:
            name = tensor.op.name if tensor.value_index == 0 else f"{tensor.op.name}_{tensor.value_index}"
            known = self._names[id(tensor)] = self._unique(_identifier(name))
        return known

    def _unique(self, name: str) -> str:
        unique, count = name, 0
        while unique in self._taken or unique in self.namespace:
            count += 1
            unique = f"{name}_{count}"
        self._taken.add(unique)
        return unique

    def _constant(self, name: str, value: Any) -> str:
        unique = self._unique(name)
        self.namespace[unique] = value
        return unique

    def _reference(self, tensor: SymbolicTensor) -> str:
        """The expression for a tensor's value."""
        known = self._names.get(id(tensor))
        if known is not None:
            return known
        operation = tensor.op
        if operation.type == "Const":
            name = self._constant(_identifier(operation.name), operation.op.attrs["value"].value)
        elif operation.type == "VarHandleOp":
            variable = self._resources(operation.op.attrs["variable"])
            name = self._constant(_identifier(getattr(variable, "_name", "variable")), variable)
        elif operation.type == "Placeholder":
            raise errors.InvalidArgumentError(
                None,
                None,
                f"You must feed a value for placeholder tensor '{operation.name}' with dtype {tensor.dtype.name} and shape "
                f"{tensor.shape}\n\t [[node {operation.name}]]",
            )
        else:
            return self._name(tensor)
        self._names[id(tensor)] = name
        return name

    def _literal(self, value: Any) -> str:
        kind = type(value)
        if kind in _LITERALS or (kind is float and value == value and abs(value) != float("inf")):
            return repr(value)
        if kind in (tuple, list) and all(type(v) in _LITERALS or type(v) in (tuple, float) for v in value):
            items = ", ".join(map(self._literal, value))
            return f"({items}{',' if len(value) == 1 else ''})" if kind is tuple else f"[{items}]"
        key = ("literal", id(value))
        if key not in self._kernels:
            self._kernels[key] = self._constant(_identifier(value.name) if isinstance(value, DType) else "constant", value)
        return self._kernels[key]

    def _line(self, operation: Operation) -> str | None:
        op = operation.op
        if operation.type in ("Const", "VarHandleOp", "NoOp", "Placeholder") and isinstance(op, NodeOp):
            if operation.type == "Placeholder" and id(operation.outputs[0]) not in self._names:
                self._reference(operation.outputs[0])
            return None
        if isinstance(op, NodeOp):
            arguments = [self._reference(t) for t in operation.inputs]
            if op is READ and operation.args[0].op.type == "VarHandleOp":
                call = f"{arguments[0]}._value.value"
            elif op.inline:
                call = op.inline.format(*arguments)
            else:
                call = f"{self._kernel(op, op.kernel)}({', '.join(arguments)})"
        else:
            arguments = [self._argument(kind, arg) for kind, arg in zip(op.kinds, operation.args, strict=True)]
            call = f"{self._kernel_of(operation)}({', '.join(arguments)})"
        targets = [self._name(t) for t in operation.outputs]
        if not targets:
            return call
        many = len(targets) > 1 or (isinstance(op, NodeOp) and not op.inline and op is not READ and op.gives_tuple)
        many = many or (not isinstance(op, NodeOp) and (op.many or len(op.opdef.outputs) > 1))
        return f"{', '.join(targets)}{',' if many and len(targets) == 1 else ''} = {call}"

    def _argument(self, kind: str, arg: Any) -> str:
        if kind == "tensor":
            return self._reference(arg)
        if kind == "list":
            return f"[{', '.join(map(self._reference, arg))}]"
        if kind == "host" and isinstance(arg, SymbolicTensor):
            known = value_of(arg) if arg.op.type != "Placeholder" else None
            if known is not None:
                return self._literal(host_static(arg))
            return f"host({self._reference(arg)})"
        return self._literal(arg)

    def _kernel(self, op: Any, kernel: Any) -> str:
        key = id(kernel)
        if key not in self._kernels:
            self._kernels[key] = self._constant(f"op_{_identifier(op.name)}", kernel)
        return self._kernels[key]

    def _kernel_of(self, operation: Operation) -> str:
        op = operation.op
        key = op.key(operation.args)
        exact = key in op.checked or (op, key) in _exact
        if exact and not _needs_placing(operation):
            if op.creates:
                kernel = functools.partial(op.kernel, device=devices.current_or_default())
                return self._constant(f"op_{op.name}", kernel)
            return self._kernel(op, op.kernel)
        return self._constant(f"careful_{op.name}", functools.partial(self._careful, operation, key))

    # ---- running -------------------------------------------------------------------------------------------------

    def _careful(self, operation: Operation, key: Any, *values: Any) -> Any:
        """Runs a kernel as eager mode does off its fast path."""
        op = operation.op
        args = [
            EagerTensor(value, arg.dtype) if kind == "tensor"
            else [EagerTensor(v, t.dtype) for v, t in zip(value, arg, strict=True)] if kind == "list"
            else value
            for kind, arg, value in zip(op.kinds, operation.args, values, strict=True)
        ]  # fmt: skip
        if _needs_placing(operation):
            with devices.device(operation.device):
                result, exact = compute(op, args, operation.types, operation.name)
        else:
            result, exact = compute(op, args, operation.types, operation.name)
        if exact and not _needs_placing(operation):
            if op.many or len(op.opdef.outputs) > 1 or op.creates:
                _exact.add((op, key))
            else:
                op.checked[key] = operation.outputs[0].dtype
            self.stale = True
        return result

    def __call__(self, *values: Any) -> Any:
        """Runs the function on raw values.

        Raises:
            OpError: an op failed.
        """
        if self.stale:
            self.function = self._write()
        try:
            return self.function(*values)
        except Exception as error:
            raise self.explained(error) from (error.__cause__ if isinstance(error, errors.OpError) else error)

    def explained(self, error: Exception) -> Exception:
        """TensorFlow's error for what an op raised."""
        if isinstance(error, errors.OpError):
            return error
        frame, trace = None, error.__traceback__
        while trace is not None:
            if trace.tb_frame.f_code.co_filename == self._filename:
                frame = trace
            trace = trace.tb_next
        operation = None if frame is None else self.lines.get(frame.tb_lineno)
        if operation is None or isinstance(operation.op, NodeOp):
            return error
        local = {**self.namespace, **frame.tb_frame.f_locals}  # type: ignore[union-attr]
        op = operation.op

        def raw(tensor: SymbolicTensor) -> Any:
            return EagerTensor(local[self._names[id(tensor)]], tensor.dtype)

        args: list[Any] = []
        for kind, arg in zip(op.kinds, operation.args, strict=True):
            if kind == "tensor":
                args.append(raw(arg))
            elif kind == "list":
                args.append([raw(t) for t in arg])
            elif isinstance(arg, SymbolicTensor):
                known = value_of(arg)
                args.append(host_static(arg) if known is not None else numbers_of(raw(arg).value))
            else:
                args.append(arg)
        try:
            compute(op, args, operation.types, operation.name)
        except errors.OpError as said:
            return said
        except Exception as other:
            return located(other, op, operation.name)
        return error


def _needed_after(
    outputs: Sequence[Any], effects: Iterable[Operation], fed: set[int], fed_tensors: set[int]
) -> list[Operation]:
    """The operations that outputs and side effects need, in program order; what is fed needs nothing."""
    found: dict[int, Operation] = {}
    waiting: list[Operation] = [o if isinstance(o, Operation) else o.op for o in outputs if id(o) not in fed_tensors]
    waiting.extend(effects)
    while waiting:
        operation = waiting.pop()
        if id(operation) in found:
            continue
        if id(operation) in fed and all(id(t) in fed_tensors for t in operation.outputs):
            continue
        found[id(operation)] = operation
        waiting.extend(t.op for t in operation.inputs if id(t) not in fed_tensors)
        waiting.extend(operation._control_inputs)
    return sorted(found.values(), key=lambda o: o.index)


def _is_small(tensor: SymbolicTensor) -> bool:
    shape = tensor.shape
    return shape.is_fully_defined() and shape.num_elements() < _SMALL


def _needs_placing(operation: Operation) -> bool:
    return bool(operation.device) and len(devices.machine.logical_devices()) > 1


def _identifier(name: str) -> str:
    made = re.sub(r"\W", "_", name)
    if not made or made[0].isdigit() or keyword.iskeyword(made):
        made = f"_{made}"
    return made


def eager_outputs(values: Iterable[Any], tensors: Iterable[SymbolicTensor]) -> list[Any]:
    """Eager tensors of what a compiled function gave."""
    return [as_eager(v, t.dtype) for v, t in zip(values, tensors, strict=True)]

