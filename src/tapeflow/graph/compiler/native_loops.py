"""Loops over few numbers as machine code: every element of every tensor is a number in a register.

A loop qualifies if its tensors have few elements, of static shapes, and its ops compute element by element, reduce,
multiply small matrices, or move elements. The places of elements are static, so slices, stacks and transposes cost
nothing.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from tapeflow.core import device as devices
from tapeflow.core.ops.definition import ops
from tapeflow.core.ops.elements import DTYPES, Element, Unsupported, supports
from tapeflow.core.ops.static import host_static
from tapeflow.core.types.dtypes import DType
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.graph.codegen.program import Program, Step
from tapeflow.graph.codegen.regions import LOOPS
from tapeflow.graph.compiler.clusters import has_llvm
from tapeflow.graph.compiler.expressions import Recorder
from tapeflow.graph.compiler.target import function
from tapeflow.graph.ir.operation import GraphOp

if TYPE_CHECKING:
    from tapeflow.graph.codegen.loops import Loop

_MOST_ELEMENTS = 64  # of a tensor
_MOST_EXPRESSIONS = 1500  # of an iteration
_LEAST_WORK = 10_000  # expressions in all iterations, if their number is static: fewer take less time than compiling


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
    if loop.residuals is not None or len(step.outputs) != loop.count or not all(map(_is_small, tensors)):
        return None
    try:
        native = NativeLoop(loop, tensors)
    except Unsupported:
        return None
    limit = program.constant(step.inputs[0]) if loop.limited else None
    trips = [n for n in (_trip_count(program, loop, tensors), limit) if n is not None]
    return None if trips and min(map(int, trips)) * native.size < _LEAST_WORK else native


def _is_small(tensor: SymbolicTensor) -> bool:
    shape = tensor.shape
    return tensor.dtype in DTYPES and shape.is_fully_defined() and shape.num_elements() <= _MOST_ELEMENTS


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

    Attributes:
        size: the number of expressions of an iteration.

    Raises:
        Unsupported: the loop does not qualify.
    """

    def __init__(self, loop: Loop, tensors: Sequence[SymbolicTensor]) -> None:
        self._loop = loop
        self._shapes = [torch.Size(t.shape.as_list()) for t in tensors]
        self._recorder = b = Recorder()
        self._inputs = [_filled(t.shape.as_list(), functools.partial(b.input, 0, t.dtype, False)) for t in tensors]
        condition, body = loop.condition.compiled.program, loop.body.compiled.program
        variables, invariant = self._inputs[: loop.count], self._inputs[loop.count :]
        parts = [
            _Elements(part, [*variables, *(invariant[i] for i in places)], b)
            for part, places in zip((condition, body), loop.places, strict=True)
        ]
        (self._condition,), self._after = parts[0].outputs(), parts[1].outputs()
        for before, after in zip(variables, self._after, strict=True):
            if before.shape != after.shape:
                raise Unsupported("a loop variable changes its shape")
        self.size = b.size
        self._function: Any = None

    def __call__(self, *values: Any) -> tuple[Any, ...]:
        """Runs the loop on raw values.

        Raises:
            OpError: an op failed.
        """
        tensors = values[1:] if self._loop.limited else values
        if [v.shape for v in tensors] != self._shapes:
            return self._loop(*values)
        if self._function is None:
            try:
                self._function = function(self._text(), self._loop.name, 1 + len(tensors) + self._loop.count)
            except Unsupported:  # a function that this machine lacks
                self._function = False
        if not self._function:
            return self._loop(*values)
        limit = int(values[0]) if self._loop.limited else 2**62
        inputs = [v.contiguous() for v in tensors]
        outputs = [torch.empty(v.shape, dtype=v.dtype) for v in inputs[: self._loop.count]]
        self._function(limit, *[t.data_ptr() for t in inputs], *[t.data_ptr() for t in outputs])
        return tuple(outputs)

    def _text(self) -> str:
        from tapeflow.graph.compiler.loop_code import text  # it loads LLVM

        elements = [[e.value for e in array.flat] for array in self._inputs]
        after = [[e.value for e in array.flat] for array in self._after]
        return text(elements, self._condition.item().value, after)


def _filled(shape: Sequence[int], element: Callable[[], Any]) -> np.ndarray:
    """Returns an array of objects."""
    array = np.empty(tuple(shape), object)
    for index in np.ndindex(array.shape):
        array[index] = element()
    return array


def _objects(elements: Any) -> np.ndarray:
    """Returns an array of objects; indexing by a scalar gives the object itself."""
    return elements if isinstance(elements, np.ndarray) else _filled((), lambda: elements)


class _Row(list):
    """The elements that a reduction combines."""

    @property
    def dtype(self) -> DType:
        """Their dtype."""
        return self[0].dtype


class _Reducing:
    """A builder for the forms of reductions, over elements in registers.

    Args:
        b: the builder of their elements.
        count: how many elements are reduced.
    """

    def __init__(self, b: Recorder, count: int) -> None:
        self._b, self._count = b, count

    def __getattr__(self, name: str) -> Any:
        return getattr(self._b, name)

    def length(self, dtype: DType) -> Element:
        """Returns the number of elements."""
        return self._b.number(self._count, dtype)

    def reduce(self, name: str, row: Sequence[Element]) -> Element:
        """Returns the elements, combined in pairs."""
        row = list(row)
        while len(row) > 1:
            pairs = [getattr(self._b, name)(x, y) for x, y in zip(row[::2], row[1::2], strict=False)]
            row = pairs + (row[-1:] if len(row) % 2 else [])
        return row[0]


class _Elements:
    """The tensors of a program as arrays of elements.

    Args:
        program: the program.
        inputs: the elements of its inputs.
        b: the builder.

    Raises:
        Unsupported: there is a step that is not computed so.
    """

    def __init__(self, program: Program, inputs: Sequence[np.ndarray], b: Recorder) -> None:
        self._program, self._b = program, b
        self._known = {id(t): array for t, array in zip(program.inputs, inputs, strict=True)}
        for step in program.steps:
            if not step.registered or step.must_run or step.placed or not all(map(_is_small, step.outputs)):
                raise Unsupported(f"{step} is not computed element by element")
            results = self._computed(step)
            self._known.update((id(t), r) for t, r in zip(step.outputs, results, strict=True))
            if b.size > _MOST_EXPRESSIONS:
                raise Unsupported("an iteration is too long")

    def outputs(self) -> list[np.ndarray]:
        """Returns the elements of the outputs."""
        return [self._array(t) for t in self._program.outputs]

    def _array(self, tensor: SymbolicTensor) -> np.ndarray:
        """Returns the elements of a tensor."""
        if id(tensor) not in self._known:
            value = self._program.constant(tensor)
            if not isinstance(value, torch.Tensor) or not _is_small(tensor):
                raise Unsupported(f"{tensor} is no tensor of few elements")
            numbers = iter(value.flatten().tolist())
            self._known[id(tensor)] = _filled(value.shape, lambda: self._b.number(next(numbers), tensor.dtype))
        return self._known[id(tensor)]

    def _computed(self, step: Step) -> Iterable[np.ndarray]:
        op = step.op
        if op.element is not None:
            return [self._elementwise(step)]
        if op.reduced is not None:
            return [self._reduced(step)]
        if op.moves and not op.creates:
            return self._moved(step)
        if op is ops.MatMul.op:
            return [self._product(step)]
        raise Unsupported(f"{step.name} is not computed element by element")

    def _elementwise(self, step: Step) -> np.ndarray:
        op, b, out = step.op, self._b, step.outputs[0]
        statics = op.statics(step.args)
        dtypes = tuple([t.dtype for t in step.inputs])
        if any(isinstance(a, (SymbolicTensor, list, tuple)) for a in statics):
            raise Unsupported(f"{step.name} takes what is not static")
        arrays = np.broadcast_arrays(*[self._array(t) for t in step.inputs])
        result = np.empty(arrays[0].shape, object)
        for index in np.ndindex(result.shape):
            elements: list[Any] = [array[index] for array in arrays]
            if not supports(op, dtypes, tuple(statics), tuple([e.constant for e in elements])):
                raise Unsupported(f"{step.name} has no element form for {[d.name for d in dtypes]}")
            element = b.rounded(op.element(b, *op.with_tensors(elements, statics)))
            if element.dtype is not out.dtype:
                raise Unsupported(f"the element form of {step.name} gives {element.dtype.name}")
            result[index] = element
        return result

    def _reduced(self, step: Step) -> np.ndarray:
        x, axes = self._array(step.args[0]), host_static(step.args[1])
        axes = tuple(range(x.ndim)) if axes is None else axes if type(axes) is tuple else (axes,)
        if not all(type(axis) is int for axis in axes) or not x.size or not step.args[0].dtype.is_floating:
            raise Unsupported(f"{step.name} is not computed element by element")
        axes = tuple(sorted({axis % max(x.ndim, 1) for axis in axes})) if x.ndim else ()
        kept = [i for i in range(x.ndim) if i not in axes]
        rows = x.transpose([*kept, *axes]).reshape(*[x.shape[i] for i in kept], -1)
        result = np.empty(rows.shape[:-1], object)
        reducing = _Reducing(self._b, rows.shape[-1])
        for index in np.ndindex(result.shape):
            result[index] = self._b.rounded(step.op.reduced(reducing, _Row(rows[index])))
        return result.reshape(step.outputs[0].shape.as_list())

    def _moved(self, step: Step) -> list[np.ndarray]:
        """Moves indices that stand for elements, by the op's own kernel."""
        op = step.op
        attr = op.opdef.outputs[0].type_attr
        pool: list[Element] = []

        def indices(tensor: SymbolicTensor) -> torch.Tensor:
            array = self._array(tensor)
            pool.extend(array.flat)
            return torch.arange(len(pool) - array.size, len(pool)).view(array.shape)

        arguments: list[Any] = []
        for i, (kind, arg) in enumerate(zip(op.kinds, step.args, strict=True)):
            if kind == "host":
                arg = host_static(arg)
                if isinstance(arg, SymbolicTensor) or (isinstance(arg, tuple) and None in arg):
                    raise Unsupported(f"{step.name} takes what is not static")
            elif kind in ("tensor", "list"):
                if op.opdef.inputs[i].type_attr != attr:
                    raise Unsupported(f"{step.name} moves elements by values")
                arg = [indices(t) for t in arg] if kind == "list" else indices(arg)
            arguments.append(arg)
        result = op.kernel(*arguments)
        results = result if isinstance(result, (list, tuple)) else [result]
        every = np.empty(len(pool), object)
        every[:] = pool
        return [_objects(every[moved.numpy()]) for moved in results]

    def _product(self, step: Step) -> np.ndarray:
        a, b = self._array(step.args[0]), self._array(step.args[1])
        a, b = a.T if step.args[2] else a, b.T if step.args[3] else b
        if not step.outputs[0].dtype.is_floating or not a.shape[1]:
            raise Unsupported("a product of integers")
        result = np.empty((a.shape[0], b.shape[1]), object)
        for i, j in np.ndindex(result.shape):
            total = self._b.mul(a[i, 0], b[0, j])
            for k in range(1, a.shape[1]):
                total = self._b.fma(a[i, k], b[k, j], total)
            result[i, j] = self._b.rounded(total)
        return result
