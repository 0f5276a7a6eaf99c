"""Loops over few numbers as machine code: without calls of kernels, and without Python.

A loop qualifies if the shapes of its tensors are static, its tensors small, except those that it only reads, and its
ops compute element by element, reduce, multiply matrices, move elements, read and write lists, or are conditionals and
loops of such. If machine code meets an index out of range, the loop runs again as Python, which raises the error.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch

from tapeflow.array.list_values import Rows, as_variant
from tapeflow.core import device as devices
from tapeflow.core.ops.definition import ops
from tapeflow.core.ops.elements import DTYPES, Unsupported
from tapeflow.core.types.dtypes import resource, variant
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.graph.codegen.program import CALLS, Program, Step, bytes_of
from tapeflow.graph.codegen.regions import CONDITIONALS, LOOPS
from tapeflow.graph.codegen.writing import has_stream, with_stream
from tapeflow.graph.compiler.clusters import has_llvm
from tapeflow.graph.compiler.target import function
from tapeflow.graph.ir.graph import READ
from tapeflow.graph.ir.operation import GraphOp, variable_in

if TYPE_CHECKING:
    from tapeflow.graph.codegen.loops import Loop

_MOST_ELEMENTS = 1 << 13  # of a tensor that is computed
_MOST_PRODUCTS = 1 << 18  # of numbers, in a product of matrices
_LEAST_STEPS = 100  # in all iterations, if their number is static: fewer take less time than compiling
_MOST_DRAWN = 1 << 22  # random numbers at a time


def compile_loops(program: Program) -> None:
    """Replaces loops over few numbers by machine code."""
    if devices.machine.has_gpu or not has_llvm():
        return
    for step in program.steps:
        if step.name in LOOPS and not step.placed:
            native = _native(program, step)
            if native is not None:
                step.op = GraphOp(f"Native{step.name}", native, gives_tuple=True)


def _native(program: Program, step: Step) -> NativeLoop | None:
    """Returns the compiled loop of a step, or None if it does not qualify."""
    loop: Loop = step.op.kernel
    tensors = step.inputs[1:] if loop.limited else step.inputs
    if loop.residuals is not None or len(step.outputs) != loop.count or not all(map(_is_static, tensors)):
        return None
    programs = [part.compiled.program for part in (loop.condition, loop.body)]
    if not all(_is_small(t) for t in tensors[: loop.count]) or not all(map(_may_compile, programs)):
        return None
    limit = program.constant(step.inputs[0]) if loop.limited else None
    trips = [n for n in (_trip_count(program, loop, tensors), limit) if n is not None]
    if trips and min(map(int, trips)) * len(programs[1].steps) < _LEAST_STEPS:
        return None
    try:
        return NativeLoop(loop, tensors)
    except Unsupported:
        return None


def _is_static(tensor: SymbolicTensor) -> bool:
    shape = tensor.shape
    return tensor.dtype in (variant, resource) or (
        tensor.dtype in DTYPES and shape.is_fully_defined() and shape.num_elements() > 0
    )


def _is_small(tensor: SymbolicTensor) -> bool:
    return _is_static(tensor) and (tensor.dtype is variant or tensor.shape.num_elements() <= _MOST_ELEMENTS)


def _may_compile(program: Program) -> bool:
    """Returns False if there is a step that can't be compiled."""
    for step in program.steps:
        op = step.op
        kept = op is READ or (step.registered and op.moves)  # it may be a view of a tensor around the loop
        if step.placed or not all(map(_is_static if kept else _is_small, step.outputs)):
            return False
        if not step.registered:
            kinds = (*CALLS, *CONDITIONALS, *LOOPS)
            if op is not READ and (step.name not in kinds or any(b.stateful for b in op.bodies.values())):
                return False
            if not all(_may_compile(body.compiled.program) for body in op.bodies.values()):
                return False
        elif op.name == ops.MatMul.op.name:
            if bytes_of(step.args[0]) // step.args[0].dtype.size * step.outputs[0].shape[1] > _MOST_PRODUCTS:
                return False
        elif op.element is None and op.over_rows is None and not op.moves:
            if op not in _others() and not op.random_fill:
                return False
    return True


def _others() -> tuple[Any, ...]:
    return (
        ops.AddN.op, ops.SumToShape.op, ops.TensorListGetItem.op, ops.TensorListSetItem.op, ops.TensorListLength.op,
        ops.TensorListFromTensor.op, ops.TensorListReserve.op, ops.TensorListStack.op,
    )  # fmt: skip


def _trip_count(program: Program, loop: Loop, tensors: Sequence[SymbolicTensor]) -> int | None:
    """Returns how often a loop runs at most, if it counts from one constant to another, or None."""
    condition = loop.condition.compiled.program
    if len(condition.steps) != 1 or condition.steps[0].op is not ops.Less.op:
        return None
    counter, limit = condition.steps[0].args
    places = {id(t): i for i, t in enumerate(condition.inputs)}
    start = tensors[places[id(counter)]] if places.get(id(counter), loop.count) < loop.count else None
    first, last = program.constant(start), condition.constant(limit)
    return None if first is None or last is None else max(int(last) - int(first), 0)


class NativeLoop:
    """The kernel of a loop that is compiled: it takes the loop variables and the loop-invariant values.

    Args:
        loop: the loop, which also computes results of other shapes.
        tensors: the tensors that the loop takes.

    Raises:
        Unsupported: the loop does not qualify.
    """

    def __init__(self, loop: Loop, tensors: Sequence[SymbolicTensor]) -> None:
        from tapeflow.graph.compiler.loop_steps import counter_of_known_bound, loop_code  # it loads LLVM

        self._loop = loop
        code, self._lists = loop_code(loop, tensors)
        self._table = code.table
        self._draws = [what[1] for what in code.table if what[0] == "drawn"]
        self._counter = counter_of_known_bound(loop) if self._draws else None
        if self._draws and self._counter is None:
            raise Unsupported("nobody knows how many numbers to draw")
        self._shapes = [None if t.dtype in (variant, resource) else torch.Size(t.shape.as_list()) for t in tensors]
        for entries in self._lists:
            if entries is not None and entries.shape is None and entries.may_change:
                raise Unsupported("a list of unknown entries")
        self._code: Any = code
        self._function: Any = None

    def __call__(self, *values: Any) -> tuple[Any, ...]:
        """Runs the loop on raw values.

        Raises:
            OpError: an op failed.
        """
        loop = self._loop
        tensors = values[1:] if loop.limited else values
        limit = int(values[0]) if loop.limited else 2**62
        operands = [self._operand(i, value) for i, value in enumerate(tensors)]
        if any(value is None for value in operands):
            return loop(*values)
        at_once = limit
        if self._draws:
            limit = min(limit, self._trips(tensors))
            at_once = max(_MOST_DRAWN // max(step.outputs[0].shape.num_elements() for step in self._draws), 1)
        while True:
            count, status = self._run(operands, min(limit, at_once))
            if status < 0:
                return loop(*values)
            limit -= count
            if not status or limit <= 0:
                break
        return tuple([
            as_variant(Rows(value)) if entries is not None and entries.changes else value if entries is None else given
            for value, entries, given in zip(operands[: loop.count], self._lists, tensors, strict=False)
        ])  # fmt: skip

    def _operand(self, i: int, value: Any) -> Any:
        """Returns the memory for an operand: of its own if it is a loop variable; None if it has another shape."""
        if self._shapes[i] is not None:
            if value.shape != self._shapes[i]:
                return None
            return value.contiguous() if i >= self._loop.count else value.clone(memory_format=torch.contiguous_format)
        entries = self._lists[i]
        if entries is None:
            return value
        return _stacked(value[()], entries)

    def _trips(self, tensors: Sequence[Any]) -> int:
        """Returns the number of iterations of a loop that counts."""
        program = self._loop.condition.compiled.program
        bound = program.constant(program.steps[-1].args[1])
        if bound is None:
            places = [*range(self._loop.count), *(self._loop.count + i for i in self._loop.places[0])]
            bound = tensors[places[[id(t) for t in program.inputs].index(id(program.steps[-1].args[1]))]]
        return max(int(bound) - int(tensors[self._counter]), 0)

    def _run(self, operands: Sequence[Any], limit: int) -> tuple[int, int]:
        """Runs some iterations; returns their number and the status."""
        held: list[Any] = []
        numbers = []
        for what, *rest in self._table:
            if what in ("limit", "status"):
                numbers.append(limit)
            elif what == "length":
                numbers.append(len(operands[rest[0]]))
            else:
                value = operands[rest[0]] if what == "operand" else self._pointed(what, rest, operands, limit)
                held.append(value)
                if held[-1] is None:
                    return 0, -1
                numbers.append(held[-1].data_ptr())
        if self._function is None:
            self._function, self._code = function(self._code.text(), self._loop.name, 1), None
        table = (ctypes.c_int64 * len(numbers))(*numbers)
        self._function(ctypes.addressof(table))
        return table[0], table[1]

    def _pointed(self, what: str, rest: Sequence[Any], operands: Sequence[Any], trips: int) -> Any:
        """Returns what an entry of the table points to: a constant, random numbers, or the value of a variable."""
        if what == "constant":
            return rest[0]
        if what == "drawn":
            return _drawn(rest[0], trips)
        value = variable_in(operands[rest[0]] if what == "read" else rest[0])._value.value
        return value.contiguous() if list(value.shape) == rest[1].shape.as_list() else None


def _drawn(step: Step, trips: int) -> torch.Tensor:
    """Returns the random numbers of a step in some iterations, stacked."""
    shape, *rest = step.args
    draw = with_stream(step, functools.partial(step.op.kernel, device=torch.device("cpu")))
    if trips and has_stream(step):  # each draw moves the stream of the seeds
        return torch.stack([draw(tuple(shape), *rest) for _ in range(trips)])
    return draw((trips, *shape), *rest)


def _stacked(items: Sequence[Any], entries: Any) -> torch.Tensor | None:
    """Returns the entries of a list, stacked; None if they have other shapes."""
    if entries.shape is None or not len(items):
        return torch.empty(len(items))
    shape, dtype = torch.Size(entries.shape), entries.dtype.torch
    if isinstance(items, Rows):
        if items.tensor.shape[1:] != shape or items.tensor.dtype != dtype:
            return None
        return items.tensor.clone() if entries.changes else items.tensor.contiguous()
    result = torch.zeros((len(items), *shape), dtype=dtype)
    for i, item in enumerate(items):
        if item is not None:
            if item.shape != shape or item.dtype != dtype:
                return None
            result[i] = item
    return result
