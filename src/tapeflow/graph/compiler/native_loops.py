"""Native loops: compiles loops to machine code, without kernel calls and without Python.

A loop qualifies if its ops are element-wise ops, reductions, matrix products, moves of elements, reads and writes of
lists, or conditionals and loops of such ops. The machine code is for tensors of known sizes. A loop over small tensors
of static shapes is compiled as a whole. Another loop is compiled when it runs, for the sizes of that call. If its
weights are large, kernels first compute the part that does not depend on its state, such as the input projection of a
recurrent layer, for all iterations.

If machine code meets an index out of range, the loop runs again in Python, which raises the error.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from tapeflow.array.list_values import Repeated, Rows, as_variant, spec_of
from tapeflow.core import device as devices
from tapeflow.core.ops.elements import DTYPES, Unsupported
from tapeflow.core.types.dtypes import resource, variant
from tapeflow.core.types.shape import TensorShape
from tapeflow.core.types.spec import TensorSpec
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.graph.compiler.calling import bound, contiguous, filling, table_names
from tapeflow.graph.compiler.clusters import has_llvm
from tapeflow.graph.compiler.qualification import (
    MOST_PRODUCT,
    SMALL,
    SMALL_PRODUCT,
    Parts,
    TooLarge,
    is_small,
    is_static,
    may_compile,
)
from tapeflow.graph.ir.operation import GraphOp, variable_in
from tapeflow.graph.program.effects import has_stream, with_stream
from tapeflow.graph.program.loops import Loop, counts_to_known_bound, returned_values, static_trip_count, trip_count
from tapeflow.graph.program.program import Program, Step
from tapeflow.graph.program.program_checks import run_passes
from tapeflow.graph.program.simplify import simplify
from tapeflow.graph.program.sizes import BySizes, with_shapes

_MOST_ELEMENTS = 1 << 16  # of a computed tensor: with more, threads pay
_READ_QUICKLY = 1 << 18  # loop-invariant elements: with fewer, computing in the loop is faster than reading results
_LEAST_STEPS = 100  # in all iterations, if the trip count is static: fewer do not pay for compiling
_MOST_DRAWN = 1 << 22  # random numbers per call
_AT_ONCE = 1 << 20  # iterations per call
_WORK = 1 << 24  # instructions between two looks for signals: about a hundredth of a second
_FIRST_STACKED = 64  # iterations of the first call, if the loop draws or records numbers and the trip count is unknown


def compile_loops(program: Program) -> None:
    """Replaces loops over small tensors by machine code."""
    if devices.machine.has_gpu or not has_llvm():
        return
    for step in program.steps:
        if step.op.control == "loop" and not step.placed:
            native = _native(program, step)
            if native is not None:
                step.op = GraphOp(f"Native{step.name}", native, gives_tuple=True)


def _native(program: Program, step: Step) -> NativeLoop | SizedLoop | None:
    """Returns the compiled loop of a step, or None if it does not qualify."""
    loop: Loop = step.op.kernel
    tensors = step.inputs[1:] if loop.limited else step.inputs
    if len(step.outputs) != loop.results:
        return None
    parts = Parts(loop.condition.compiled.program, body_of(loop), tensors)
    if not all(may_compile(s, None) for p in (parts.condition, parts.body) for s in p.steps):
        return None
    limit = program.constant(step.inputs[0]) if loop.limited else None
    trips = [n for n in (static_trip_count(program, loop, tensors), limit) if n is not None]
    if trips and min(map(int, trips)) * len(parts.body.steps) < _LEAST_STEPS:
        return None
    if parts.fit(loop.count, SMALL):
        try:
            return NativeLoop(loop, parts, SMALL_PRODUCT)
        except TooLarge:
            return SizedLoop(loop, tensors)
        except Unsupported:
            return None
    return SizedLoop(loop, tensors)


def body_of(loop: Loop) -> Program:
    """Returns the program of a loop's body. It also returns the residuals."""
    body = loop.body
    return (body.returning([*body.outputs, *loop.residuals]) if loop.residuals else body.compiled).program


class _Native:
    """Machine code that takes operands in memory.

    Args:
        name: the name of the function.
        code: the code.
        lists: for each operand, its list, or None for a tensor.
        shapes: for each operand, its shape; None for operands that are not tensors and for tensors bound before.
        own: the number of operands that the code may change. They come first.

    Attributes:
        bind: takes the raw values of the operands, and returns their memory; None if an operand has another shape or
            does not own memory.
        run: takes the maximal trip count and the operands' memory. Returns the number of iterations, a status and the
            recorded values. The status is 1 if the condition still holds, 0 if not, and -1 after a failure.
        recorded: the entries of the code's table for recorded values.
    """

    bind: Callable[..., tuple[Any, ...] | None]
    run: Callable[..., tuple[int, int, tuple[torch.Tensor, ...]]]

    def __init__(self, name: str, code: Any, lists: Sequence[Any], shapes: Sequence[Any], own: int) -> None:
        if any(entries is not None and entries.shape is None and entries.may_change for entries in lists):
            raise Unsupported("a list of unknown entries")
        self.recorded = [what for what in code.table if what[0] == "recorded"]
        self._lists = lists[:own] if any(entries is not None for entries in lists[:own]) else None
        operands = [f"x{i}" for i in range(len(lists))]
        namespace = table_names(
            name, code, lists=lists, stacked=_stacked, drawn=drawn, value=_value, work=_work, restore=_restore,
            **{f"shape{i}": shape for i, shape in enumerate(shapes)},
        )  # fmt: skip
        lines = [*_binding(operands, lists, shapes, own), *_running(operands, code.table)]
        exec(compile("\n".join(lines), f"<calls of {name}>", "exec"), namespace)  # it is written here alone
        self.bind, self.run = namespace["bind"], namespace["run"]

    def _results(self, operands: Sequence[Any], given: Sequence[Any], trips: int) -> Sequence[Any]:
        """Returns the new raw values of operands that the code may have changed, from their memory and old values."""
        if self._lists is None:
            return operands
        results: list[Any] = []
        for value, entries, before in zip(operands, self._lists, given, strict=False):
            is_new = entries is not None and entries.changes and trips
            results.append(as_variant(Rows(value), spec_of(before)) if is_new else value if entries is None else before)
        return results


def _binding(operands: Sequence[str], lists: Sequence[Any], shapes: Sequence[Any], own: int) -> list[str]:
    """Returns the source lines of `_Native.bind`; arguments as in `_Native`."""
    lines = [f"def bind({', '.join(operands)}):"]
    for i, (x, entries) in enumerate(zip(operands, lists, strict=True)):
        if entries is not None:
            lines += [f"    {x} = stacked({x}[()], lists[{i}])", f"    if {x} is None: return None"]
    tensors = [i for i, shape in enumerate(shapes) if shape is not None]
    lines += [f"    if {operands[i]}.shape != shape{i}: return None" for i in tensors]
    values = [operands[i] for i in tensors]
    lines += [*contiguous(values), *bound(values, [f"p{i}" for i in tensors], "None")]
    lines += [f"    {operands[i]} = {operands[i]}.clone()" for i in tensors if i < own]
    return [*lines, f"    return {', '.join(operands)}{',' if len(operands) == 1 else ''}"]


def _running(operands: Sequence[str], table: Sequence[Any]) -> list[str]:
    """Returns the source lines of `_Native.run`. They fill the table of arguments for the machine code."""
    recorded = "".join(f"b{i}, " for i, (what, *_) in enumerate(table) if what == "recorded")
    return [
        f"def run({', '.join(['limit', *operands])}):",
        *filling(table, [f"{x}.data_ptr()" for x in operands], "limit", "work()", "0, -1, ()"),
        "    if numbers[3]: restore(*numbers[3:6])",
        f"    return numbers[0], numbers[1], ({recorded})",
    ]


# Raises the exception that a signal handler raised while machine code was running.
_restore = ctypes.PYFUNCTYPE(None, *[ctypes.c_void_p] * 3)(("PyErr_Restore", ctypes.pythonapi))


def _work() -> int:
    """Returns the number of instructions until machine code looks for signals. Only the main thread handles them."""
    return _WORK if threading.get_ident() == threading.main_thread().ident else 1 << 62


def _value(variable: Any, spec: Any) -> torch.Tensor | None:
    """Returns the contiguous value of a variable; None if it has another shape or does not own memory."""
    value: torch.Tensor = variable_in(variable)._value.value.contiguous()
    return value if list(value.shape) == spec.shape.as_list() and value.data_ptr() else None


class NativeLoop(_Native):
    """The kernel of a compiled loop. It takes the loop variables and the loop-invariant values.

    Args:
        loop: the loop, which is the fallback for other shapes.
        parts: its programs.
        most: the most multiplications of a matrix product.
        hoisted: the part that kernels compute before the loop; None without one.

    Raises:
        Unsupported: the loop does not qualify.
    """

    def __init__(self, loop: Loop, parts: Parts, most: int, hoisted: Hoisted | None = None) -> None:
        from tapeflow.graph.compiler.loop_functions import loop_code  # it loads LLVM

        self._loop, self._hoisted = loop, hoisted
        self._of_rows = [torch.Size(t.shape.as_list()) for t in parts.stacked]
        code, lists = loop_code(loop, parts, most)
        shapes = [*map(_shape, (*parts.tensors, *parts.shared)), *[None] * len(parts.stacked)]
        super().__init__(loop.name, code, lists, shapes, loop.count)
        draws = [what[1] for what in code.table if what[0] == "drawn"]
        most = max([step.outputs[0].shape.num_elements() for step in draws], default=0)
        self._most_drawn = _MOST_DRAWN // most + 1 if most else 0
        self._counts = counts_to_known_bound(loop)
        if not self._counts and any(map(has_stream, draws)):
            raise Unsupported("nobody knows how many numbers to draw from a seed")
        in_rows = (loop.residuals or ()) if hoisted is None else loop.in_rows
        self._places = {id(t): i for i, t in enumerate(in_rows)}
        is_shared = dict(zip(self._places, [what[3] for what in self.recorded], strict=True))
        if hoisted is not None:
            is_shared |= hoisted.is_shared
        takes_lists = any(t.dtype is variant for t in loop.residuals or ())  # machine code does not record lists
        if takes_lists and not all(gradient.compiles(is_shared) for gradient in loop.gradients):
            raise Unsupported("the gradient needs the lists of each iteration")

    def __call__(self, *values: Any) -> tuple[Any, ...]:
        """Runs the loop on raw values.

        Raises:
            OpError: an op failed.
        """
        loop, tensors = self._loop, values[1:] if self._loop.limited else values
        limit = max(int(values[0]), 0) if loop.limited else 2**62
        ahead, counts = self._hoisted, self._counts
        if counts and (self._most_drawn or loop.residuals or ahead):
            limit = min(limit, trip_count(loop, tensors))
        if ahead is not None and not limit:
            return loop(*values)
        hoisted = () if ahead is None else ahead.values(tensors, limit)
        stacked = hoisted[len(hoisted) - len(self._of_rows) :]
        if any(t.shape != (limit, *size) for t, size in zip(stacked, self._of_rows, strict=True)):
            return loop(*values)  # entries of a list, or a variable, have another shape than before
        operands = self.bind(*tensors, *hoisted)
        if operands is None:
            return loop(*values)
        at_once = _AT_ONCE
        if counts and (self._most_drawn or loop.residuals or ahead):
            at_once = self._most_drawn or max(limit, 1)
        elif self._most_drawn or loop.residuals:
            at_once = _FIRST_STACKED
        trips, rows = 0, []
        while True:
            count, status, recorded = self.run(min(limit - trips, at_once), *operands)
            if status < 0:
                return loop(*values)
            if recorded:
                rows.append([t if what[3] else t[:count] for t, what in zip(recorded, self.recorded, strict=True)])
            trips += count
            if not status or trips >= limit:
                break
            at_once = min(2 * at_once, self._most_drawn or _AT_ONCE)
            if stacked:
                operands = (*operands[: -len(stacked)], *(t[count:] for t in operands[-len(stacked) :]))
        last = self._results(operands[: loop.count], tensors, trips)
        if loop.residuals is None:
            return tuple(last)
        lists = self._residuals(rows, trips)
        of_ahead = {} if ahead is None else ahead.lists(hoisted, trips)
        return (*last, *returned_values(trips, [
            of_ahead[id(t)] if id(t) in of_ahead else lists[self._places[id(t)]] for t in loop.residuals
        ]))  # fmt: skip

    def _residuals(self, rows: Sequence[Sequence[torch.Tensor]], trips: int) -> list[Any]:
        """Returns the lists of the residuals, from their parts."""
        columns = zip(self.recorded, *rows, strict=True)
        return [
            Repeated(parts[0], trips) if is_shared else Rows(parts[0] if len(parts) == 1 else torch.cat(parts))
            for (*_, is_shared), *parts in columns
        ]


class Hoisted:
    """The part of a loop that kernels compute before the loop.

    Args:
        loop: the loop.
    """

    def __init__(self, loop: Loop) -> None:
        self._loop, self._prologue = loop, loop.prologue
        self.shared, self.stacked = self._prologue.shared, self._prologue.stacked

    @property
    def is_shared(self) -> dict[int, bool]:
        """True for the tensors that are equal in all iterations, by their ids."""
        return {id(t): True for t in self.shared} | {id(t): False for t in self.stacked}

    def values(self, tensors: Sequence[Any], trips: int) -> list[torch.Tensor]:
        """Returns the raw values of `shared`, and the stacked ones of `stacked`.

        Args:
            tensors: the raw values of the loop's variables and of its loop-invariant values.
            trips: the trip count.
        """
        loop, counter = self._loop, self._prologue.counter
        assert counter is not None
        start = int(tensors[counter])
        dtype = self._prologue.function.program.inputs[1].dtype.torch
        counters = torch.arange(start, start + trips, dtype=dtype)
        captured = [tensors[loop.count + i] for i in loop.places[1]]
        results = self._prologue.function(torch.tensor(trips, dtype=torch.int32), counters, *captured)
        return [t.contiguous() for t in results]

    def lists(self, values: Sequence[torch.Tensor], trips: int) -> dict[int, Any]:
        """Returns the values in all iterations as lists, by the tensors' ids."""
        count = len(self.shared)
        return {id(t): Repeated(x, trips) if i < count else Rows(x)
                for i, (t, x) in enumerate(zip(self._prologue.tensors, values, strict=True))}  # fmt: skip


class SizedLoop:
    """The kernel of a loop of larger tensors or unknown sizes: it compiles the loop for the sizes of calls.

    Args:
        loop: the loop, which runs in Python for other calls.
        tensors: the inputs of the loop.
    """

    def __init__(self, loop: Loop, tensors: Sequence[SymbolicTensor]) -> None:
        self.loop, self._tensors = loop, tensors
        self._counts = counts_to_known_bound(loop)
        self._of_sizes = BySizes()

    def __call__(self, *values: Any) -> tuple[Any, ...]:
        """Runs the loop on raw values.

        Raises:
            OpError: an op failed.
        """
        loop, tensors = self.loop, values[1:] if self.loop.limited else values
        if self._counts and not trip_count(loop, tensors):
            return loop(*values)  # nothing can be computed before it
        sizes = tuple([t.shape if isinstance(t, torch.Tensor) else entry_shape(t) for t in tensors])
        native = self._of_sizes.get(sizes, lambda: self._compiled(tensors, sizes))
        results: tuple[Any, ...] = (native or loop)(*values)
        return results

    def _compiled(self, tensors: Sequence[Any], sizes: Sequence[torch.Size | None]) -> NativeLoop | None:
        """Returns the loop for some values' sizes, or None if it does not qualify."""
        loop = self.loop
        ahead = loop.prologue.tensors
        read = sum(map(_elements_of, tensors[loop.count :]))
        hoists = ahead and read > _READ_QUICKLY and self._counts
        hoisted = Hoisted(loop) if hoists else None
        values: Sequence[torch.Tensor] = ()
        if hoisted is not None:
            if any(t.dtype not in DTYPES for t in ahead):
                return None
            values = hoisted.values(tensors, 1)
        parts = self._parts(tensors, sizes, hoisted, values)
        if parts is None or not parts.fit(loop.count, _MOST_ELEMENTS):
            return None
        with contextlib.suppress(Unsupported):
            return NativeLoop(loop, parts, MOST_PRODUCT, hoisted)
        return None

    def _parts(
        self, tensors: Sequence[Any], sizes: Sequence[torch.Size | None], hoisted: Hoisted | None,
        values: Sequence[torch.Tensor],
    ) -> Parts | None:  # fmt: skip
        """Returns the programs for some sizes, or None if a shape rule rejects them.

        Args:
            tensors: the values of the loop's inputs.
            sizes: their shapes, and the shapes of lists' entries.
            hoisted: the part that kernels compute before the loop.
            values: its results for one iteration.
        """
        loop = self.loop
        count = 0 if hoisted is None else len(hoisted.shared)
        shapes = [*(x.shape for x in values[:count]), *(x.shape[1:] for x in values[count:])]
        body = body_of(loop) if hoisted is None else _rest_of(loop)
        programs = []
        for program, places in zip((loop.condition.compiled.program, body), loop.places, strict=True):
            own = [*sizes[: loop.count], *(sizes[loop.count + i] for i in places), *shapes]
            sized = sized_program(program, own[: len(program.inputs)])
            if sized is None:
                return None
            programs.append(sized)
        specs = [_spec(t, value) for t, value in zip(self._tensors, tensors, strict=True)]
        extra = [TensorSpec(size, t.dtype) for t, size in zip(loop.prologue.tensors, shapes, strict=False)]
        return Parts(programs[0], programs[1], specs, extra[:count], extra[count:])


def sized_program(program: Program, sizes: Sequence[torch.Size | None]) -> Program | None:
    """Returns a program for inputs of some sizes, or None if a shape rule rejects them.

    Args:
        program: the program.
        sizes: the shapes of the inputs, and of the entries of lists; None for those that stay.
    """

    pairs = [(t, TensorShape(size)) for t, size in zip(program.inputs, sizes, strict=True) if size is not None]
    of_lists = {id(t): size for t, size in pairs if t.dtype is variant}
    sized = with_shapes(program, {id(t): size for t, size in pairs if id(t) not in of_lists}, of_lists)
    if sized is not None:
        run_passes(sized, (simplify,))
    return sized


def _rest_of(loop: Loop) -> Program:
    """Returns the program of a loop's body without the part that is computed before the loop.

    It takes the values of that part last, and also returns the residuals that iterations compute.
    """
    own = loop.body
    inputs, outputs = [*own.inputs, *loop.prologue.tensors], [*own.outputs, *loop.in_rows]
    return own.function(own.name, inputs, outputs, static=True).program


def _spec(tensor: SymbolicTensor, value: Any) -> SymbolicTensor | TensorSpec:
    """Returns a tensor with the shape of a value, unless it is a list or a variable."""
    return TensorSpec(value.shape, tensor.dtype) if isinstance(value, torch.Tensor) else tensor


def _elements_of(value: Any) -> int:
    """Returns the number of elements of a tensor or variable; 0 for a list."""
    if isinstance(value, torch.Tensor):
        return value.numel()
    return 0 if isinstance(value, np.ndarray) else value.shape.num_elements() or 0


def entry_shape(value: Any) -> torch.Size | None:
    """Returns the shape of the entries of a list that is a tensor's rows; None for other values."""
    items = value[()] if isinstance(value, np.ndarray) else None
    return items.tensor.shape[1:] if type(items) is Rows else None


class NativeGradient(_Native):
    """The iterations of a loop's gradient, compiled if possible.

    Args:
        program: computes an iteration from the cotangents of loop variables and from captures.
        following: for each cotangent, the place of the output with its new value; None for zeros, or `KEPT`.
        added: the places of the outputs that are summed over iterations, by their indices.
        is_shared: for each capture, True if it is loop-invariant, False if its values are stacked, None for a list.
        outputs: the number of outputs. Later outputs of the program are recorded.

    Attributes:
        is_shared: see the argument.
        compiles: True if it is compiled.
    """

    def __init__(
        self,
        program: Program,
        following: Sequence[int | None],
        added: dict[int, int],
        is_shared: Sequence[bool | None],
        outputs: int,
    ) -> None:
        self.is_shared, self._count, self._added = list(is_shared), len(following), added
        self._specs = [TensorSpec(t.shape, t.dtype) for t in (program.outputs[i] for i in added.values())]
        self.compiles = False
        cotangents, captures = program.inputs[: self._count], program.inputs[self._count :]
        self._shapes = [None if is_same is None else _shape(t) for t, is_same in zip(captures, is_shared, strict=True)]
        tensors = [*cotangents, *captures, *self._specs]
        if not all(is_small(t, _MOST_ELEMENTS) for t in (*cotangents, *program.outputs)):
            return
        if not all(may_compile(step, _MOST_ELEMENTS) for step in program.steps):
            return
        if not all(map(is_static, captures)) or any(t.dtype in (variant, resource) for t in self._specs):
            return
        from tapeflow.graph.compiler.loop_functions import gradient_code  # it loads LLVM

        with contextlib.suppress(Unsupported):
            code, lists = gradient_code(program, following, list(added.values()), is_shared, outputs, MOST_PRODUCT)
            shapes = [*map(_shape, cotangents), *[None] * (len(tensors) - self._count)]
            super().__init__("gradient", code, lists, shapes, self._count)
            self.compiles = True

    def __call__(
        self, cotangents: Sequence[Any], captures: Sequence[Any], trips: int
    ) -> tuple[Sequence[Any], dict[int, Any], list[Any]] | None:
        """Computes all iterations.

        Args:
            cotangents: the cotangents of the loop variables after the last iteration.
            captures: the captures.
            trips: the number of iterations.

        Returns:
            The cotangents before the first iteration, the sums by the indices of outputs, and the recorded values; None
            for other shapes or if an index is out of range.
        """
        if not self.compiles or not self._fit(captures, trips):
            return None
        sums = [torch.zeros(spec.shape.as_list(), dtype=spec.dtype.torch) for spec in self._specs]
        captures = [c.contiguous() if isinstance(c, torch.Tensor) else c for c in captures]
        operands = self.bind(*cotangents, *captures, *sums)
        if operands is None:
            return None
        _, status, recorded = self.run(trips, *operands)
        if status < 0:
            return None
        last = self._results(operands[: self._count], cotangents, trips)
        rows = [t.expand(trips, *t.shape) if what[3] else t for t, what in zip(recorded, self.recorded, strict=True)]
        return last, dict(zip(self._added, sums, strict=True)), rows

    def _fit(self, captures: Sequence[Any], trips: int) -> bool:
        """Returns True if captures have their static shapes, and one row for each iteration if they are stacked."""
        return all(
            shape is None or (isinstance(c, torch.Tensor) and c.shape == (shape if is_same else (trips, *shape)))
            for c, shape, is_same in zip(captures, self._shapes, self.is_shared, strict=True)
        )


def _shape(tensor: SymbolicTensor | TensorSpec) -> torch.Size | None:
    return None if tensor.dtype in (variant, resource) else torch.Size(tensor.shape.as_list())


def drawn(step: Step, trips: int) -> torch.Tensor:
    """Returns the stacked random numbers of a step for some iterations."""
    _, *rest = step.args  # the shape may be computed by other steps
    shape = step.outputs[0].shape.as_list()
    draw = with_stream(step, functools.partial(step.op.kernel, device=torch.device("cpu")))
    if trips and has_stream(step):  # each draw moves the stream of the seeds
        return torch.stack([draw(tuple(shape), *rest) for _ in range(trips)])
    return draw((trips, *shape), *rest)


def _stacked(items: Sequence[Any], entries: Any) -> torch.Tensor | None:
    """Returns the stacked entries of a list; None if they have other shapes."""
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
