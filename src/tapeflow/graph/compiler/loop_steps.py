"""The steps of native loops as machine code."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import llvmlite.ir as ir
import numpy as np
import torch

from tapeflow.core.ops.definition import ops
from tapeflow.core.ops.elements import Element, Unsupported
from tapeflow.core.ops.static import host_static
from tapeflow.core.types.dtypes import DType, bool_, int64, resource, variant
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.graph.codegen.program import CALLS, Program, Step
from tapeflow.graph.codegen.prologue import counter_of
from tapeflow.graph.codegen.regions import CONDITIONALS, LOOPS
from tapeflow.graph.compiler.loop_code import (
    FEW,
    Code,
    Few,
    Row,
    Value,
    combined,
    contiguous,
    filled,
    number,
    transposed,
)
from tapeflow.graph.compiler.native_loops import KEPT, body_of
from tapeflow.graph.ir.graph import READ
from tapeflow.graph.ir.operation import Operation

if TYPE_CHECKING:
    from tapeflow.graph.codegen.loops import Loop

_i64 = ir.IntType(64)
_MOST_PIECES = 64  # that a moved tensor consists of
_SOURCE = 1 << 40  # the numbers of a tensor's elements begin at a multiple of this; those of zeros are less


class Entries:
    """A list of tensors: its entries stacked in memory.

    Attributes:
        pointer: the address of the first one.
        length: the number of entries, an integer of 64 bits.
        shape, dtype: those of the entries; None as long as no step tells.
        version: the number of changes.
        may_change: whether entries may be written.
        changes: whether some are.
    """

    def __init__(self, pointer: Any, length: Any, may_change: bool) -> None:
        self.pointer, self.length, self.may_change = pointer, length, may_change
        self.shape: Any = None
        self.dtype: Any = None
        self.version = 0
        self.changes = False

    @property
    def last(self) -> Version:
        """Its last version."""
        return Version(self, self.version)

    def tell(self, tensor: SymbolicTensor) -> None:
        """Learns shape and dtype from an entry.

        Raises:
            Unsupported: entries differ.
        """
        shape = tuple(tensor.shape.as_list())
        if (self.shape or shape, self.dtype or tensor.dtype) != (shape, tensor.dtype):
            raise Unsupported("the entries of a list differ")
        self.shape, self.dtype = shape, tensor.dtype


class Version(NamedTuple):
    """A list as a tensor of the graph. A list changes in its place: only its last version can be used."""

    entries: Entries
    number: int


Held = Value | Version | int  # a number is the place of a variable among the operands of the loop


class Steps:
    """The steps of a program as machine code.

    Args:
        code: the code.
        program: the program.
        inputs: the values of its inputs.
        count: the number of iterations of the outer loop until now, an integer of 64 bits, where each iteration runs
            the steps once; else None.

    Raises:
        Unsupported: there is a step that can't be compiled.
    """

    def __init__(self, code: Code, program: Program, inputs: Sequence[Held], count: Any = None) -> None:
        self._code, self._program, self._count = code, program, count
        self._known: dict[int, Held] = {id(t): v for t, v in zip(program.inputs, inputs, strict=True)}
        self._uses = program.use_counts()
        elementwise = [step for step in program.steps if step.op.element is not None]
        self._users = {id(t): step for step in elementwise for t in step.inputs}
        for step in program.steps:
            results = self._computed(step)
            self._known.update(zip(map(id, step.outputs), results, strict=True))
        self.outputs = [self._held(t) for t in program.outputs]

    # ---- values --------------------------------------------------------------------------------------------------

    def _held(self, tensor: SymbolicTensor) -> Held:
        """Returns a tensor, or the last version of a list."""
        held = self._known.get(id(tensor))
        if held is None:
            held = self._known[id(tensor)] = self._constant(tensor)
        if isinstance(held, Version) and held.number != held.entries.version:
            raise Unsupported("a list is used after it was changed")
        return held

    def _value(self, tensor: SymbolicTensor) -> Value:
        """Returns a tensor of numbers."""
        return _numbers(self._held(tensor))

    def _entries(self, tensor: SymbolicTensor) -> Entries:
        """Returns a list."""
        return _entries_of(self._held(tensor))

    def _constant(self, tensor: SymbolicTensor) -> Held:
        value, code = self._program.constant(tensor), self._code
        if tensor.op.op is ops.TensorListReserve.op:
            return self._new_list(tensor.op)
        if not isinstance(value, torch.Tensor):
            raise Unsupported(f"{tensor} has no value")
        shape = tuple(value.shape)
        if value.numel() <= FEW:
            numbers = np.array(value.tolist(), object).reshape(shape)
            elements = filled(shape, lambda i: code.one.number(numbers[i], tensor.dtype))
            return code.of_elements(elements, tensor.dtype, True)
        return code.at(code.address(("constant", value.contiguous())), shape, tensor.dtype, True)

    # ---- steps ---------------------------------------------------------------------------------------------------

    def _computed(self, step: Step) -> Sequence[Held]:
        """Returns the outputs of a step."""
        op, code = step.op, self._code
        if op is READ:
            return [self._variable(step)]
        if step.name in CALLS:
            program = op.body.returning(op.results).program
            return Steps(code, program, list(map(self._held, step.args)), self._count).outputs
        if step.name in CONDITIONALS:
            return self._conditional(step)
        if step.name in LOOPS:
            return self._loop(step)
        if op in _OF_LISTS:
            return [_OF_LISTS[op](self, step)]
        if op.random_fill and not op.tensors(step.args):
            return [self._drawn(step)]
        if not step.pure or step.must_run:
            raise Unsupported(f"{step.name} is not compiled")
        ahead = all(self._value(t).ahead for t in step.inputs)
        with code.placed(ahead):
            if op.element is not None:
                return [self._elementwise(step, ahead)]
            if op.over_rows is not None:
                axes = host_static(step.args[1])
                axes = range(step.args[0].shape.rank) if axes is None else axes if type(axes) is tuple else (axes,)
                return [self._reduced(step, axes, op.over_rows, ahead)]
            if op is ops.SumToShape.op:
                return [self._summed(step, ahead)]
            if op is ops.AddN.op:
                return [self._added(step, ahead)]
            if op.name == ops.MatMul.op.name:
                return [self._product(step, ahead)]
            if op.moves or op in _AT_INDICES:
                return self._moved(step, ahead)
        raise Unsupported(f"{step.name} is not compiled")

    def _variable(self, step: Step) -> Value:
        """Returns the value of a variable, which nothing in the loop changes."""
        (handle,), (out,) = step.inputs, step.outputs
        place = self._known.get(id(handle))
        what = ("variable", self._program.constant(handle)) if place is None else ("read", place)
        pointer = self._code.address((*what, out))
        return self._code.settled(self._code.at(pointer, tuple(out.shape.as_list()), out.dtype, True))

    def _elementwise(self, step: Step, ahead: bool) -> Value:
        statics = step.op.statics(step.args)
        return self._by_form(
            step, step.inputs, ahead, lambda b, *elements: step.op.element(b, *step.op.with_tensors(elements, statics))
        )

    def _added(self, step: Step, ahead: bool) -> Value:
        return self._by_form(step, step.inputs, ahead, lambda b, *elements: combined(b, "add", elements))

    def _by_form(
        self, step: Step, tensors: Sequence[SymbolicTensor], ahead: bool, form: Callable[..., Element]
    ) -> Value:
        """Returns a tensor whose elements are computed by a form from the elements of others in their place."""
        code, out = self._code, step.outputs[0]
        values = [self._value(t) for t in tensors]
        shape = tuple(out.shape.as_list())

        def element(b: Any, elements: Sequence[Element]) -> Element:
            result = b.rounded(form(b, *elements))
            if result.dtype is not out.dtype:
                raise Unsupported(f"the element form of {step.name} gives {result.dtype.name}")
            return result

        if out.shape.num_elements() <= FEW and all(v.elements is not None for v in values):
            arrays = np.broadcast_arrays(*[v.elements for v in values])
            return code.of_elements(
                filled(shape, lambda i: element(code.one, [a[i] for a in arrays])), out.dtype, ahead
            )
        operands = [code.broadcast(v, shape) for v in values]
        leaves = [leaf for v in operands for leaf in v.leaves or (v,) if leaf.elements is None and leaf.form is None]
        result = Value(
            shape, out.dtype, ahead, leaves=tuple(leaves), wide=out.dtype.size == 8 or any(v.wide for v in operands),
            form=lambda b, index: element(b, [code.element(v, b, index) for v in operands]),
        )  # fmt: skip
        user = self._users.get(id(out))
        is_fused = user is not None and self._uses[id(out)] == 1 and user.outputs[0].shape == out.shape
        return result if is_fused and not ahead else code.in_memory(result)

    def _reduced(self, step: Step, axes: Any, form: Callable[..., Element], ahead: bool) -> Value:
        """Returns a reduction; of registers as a balanced tree."""
        code, x, out = self._code, self._value(step.args[0]), step.outputs[0]
        rank = len(x.shape)
        axes = sorted({axis % max(rank, 1) for axis in axes}) if rank else []
        if not x.dtype.is_floating:
            raise Unsupported("a reduction of integers")
        shape = tuple(out.shape.as_list())
        if not axes:
            return self._by_form(step, [step.args[0]], ahead, lambda b, e: form(Few(b, 1), Row([e])))
        if x.elements is None:
            return self._reshaped(code.reduced(x, axes, form, ahead), shape)
        kept = [i for i in range(rank) if i not in axes]
        rows = x.elements.transpose([*kept, *axes]).reshape(*[x.shape[i] for i in kept], -1)
        few = Few(code.one, rows.shape[-1])
        elements = filled(rows.shape[:-1], lambda i: code.one.rounded(form(few, Row(rows[i]))))
        return code.of_elements(elements.reshape(shape), out.dtype, ahead)

    def _reshaped(self, value: Value, shape: tuple[int, ...]) -> Value:
        """Returns a contiguous tensor of another shape."""
        if value.elements is not None:
            return self._code.of_elements(value.elements.reshape(shape), value.dtype, value.ahead)
        return self._code.at(value.pointer, shape, value.dtype, value.ahead)

    def _summed(self, step: Step, ahead: bool) -> Value:
        """Sums a gradient to the shape of what was broadcast."""
        x, shape = self._value(step.args[0]), tuple(step.outputs[0].shape.as_list())
        extra = len(x.shape) - len(shape)
        axes = [i for i, n in enumerate(x.shape) if i < extra or (n != 1 and shape[i - extra] == 1)]
        if not axes:
            return x if x.shape == shape else self._reshaped(self._code.in_memory(x), shape)
        return self._reduced(step, axes, ops.Sum.op.over_rows, ahead)

    def _product(self, step: Step, ahead: bool) -> Value:
        code, out = self._code, step.outputs[0]
        a, b = (self._value(t) for t in step.args[:2])
        transpose_a, transpose_b = step.args[2:4] or (False, False)
        if not out.dtype.is_floating:
            raise Unsupported("a product of integers")
        if a.elements is None or b.elements is None or out.shape.num_elements() > FEW:
            a, b = code.in_memory(a), code.in_memory(b)
            a, b = transposed(a) if transpose_a else a, transposed(b) if transpose_b else b
            return code.product(a, b, out.dtype, ahead)
        x, y = a.elements.T if transpose_a else a.elements, b.elements.T if transpose_b else b.elements

        def element(index: tuple[int, ...]) -> Element:
            i, j = index
            total = code.one.mul(x[i, 0], y[0, j])
            for k in range(1, x.shape[1]):
                total = code.one.fma(x[i, k], y[k, j], total)
            return code.one.rounded(total)

        return code.of_elements(filled((x.shape[0], y.shape[1]), element), out.dtype, ahead)

    # ---- moves ---------------------------------------------------------------------------------------------------

    def _numbers(self, arg: Any) -> Any:
        """Returns an argument that kernels take as numbers; what is not static as elements."""
        if not isinstance(arg, SymbolicTensor):
            return arg
        static = host_static(arg)
        if not isinstance(static, SymbolicTensor) and not (isinstance(static, tuple) and None in static):
            return static
        elements = self._code.settled(self._value(arg)).elements
        if elements is None or elements.ndim > 1:
            raise Unsupported("too many indices")
        known = [e if e.constant is None else int(e.constant) for e in elements.flat]
        return tuple(known) if elements.ndim else known[0]

    def _moved(self, step: Step, ahead: bool) -> list[Value]:
        """Moves numbers that stand for elements, by the op's own kernel."""
        op = step.op
        if op in _AT_INDICES:
            return [_AT_INDICES[op](self, step)]
        arguments = op.map(self._value, step.args, host=self._numbers)
        if op is ops.StridedSlice.op:
            arguments = self._first_indexed(arguments)
        elif op is ops.StridedSliceGrad.op and any(isinstance(i, Element) for i in arguments[1]):
            shape, *spec, dy = arguments[:5]
            result = self._zeros(shape, dy.dtype)
            numbers, sources = self._numbered(ops.StridedSlice.op, self._first_indexed([result, *spec, *arguments[5:]]))
            target = self._view(numbers[0], sources)
            if target is None:
                raise Unsupported("a slice of several pieces")
            self._code.fill(target, dy)
            return [self._code.settled(result)]
        elif op is ops.Slice.op:
            x, begin, size = arguments
            for axis, i in enumerate(begin if isinstance(begin, tuple) else ()):
                if isinstance(i, Element):
                    x = self._part(x, axis, i, size[axis])
                    begin = (*begin[:axis], 0, *begin[axis + 1 :])
            arguments = [x, begin, size]
        results, sources = self._numbered(op, arguments)
        return [self._collected(r, sources, t.dtype, ahead) for r, t in zip(results, step.outputs, strict=True)]

    def _numbered(self, op: Any, arguments: Sequence[Any]) -> tuple[list[np.ndarray], list[Value]]:
        """Returns the numbers of the elements in an op's results, and the tensors that they number, from 1 on."""
        attr, kinds = op.opdef.outputs[0].type_attr, list(op.kinds)
        sources: list[Value] = []

        def stand_in(value: Value) -> torch.Tensor:
            sources.append(value if value.elements is not None else self._code.in_memory(value))
            strides = contiguous(value.shape) if value.elements is not None else sources[-1].strides
            places = _places(value.shape, strides) + (len(sources) * _SOURCE + _SOURCE // 2)
            return torch.from_numpy(np.asarray(places))

        for kind, arg, declared in zip(kinds, arguments, op.opdef.inputs, strict=False):
            if kind in ("tensor", "list") and declared.type_attr != attr:
                raise Unsupported(f"{op.name} moves elements by values")
            if any(isinstance(a, Element) for a in (arg if isinstance(arg, tuple) else (arg,))):
                raise Unsupported(f"{op.name} takes what is not static")
        inputs = [
            list(map(stand_in, arg)) if kind == "list" else stand_in(arg) if kind == "tensor" else arg
            for kind, arg in zip(kinds, arguments, strict=True)
        ]
        result = op.kernel(*inputs, **({"device": torch.device("cpu")} if op.creates else {}))
        results = result if isinstance(result, (list, tuple)) else [result]
        return [r.numpy() for r in results], sources

    def _first_indexed(self, arguments: list[Any]) -> list[Any]:
        """Returns the arguments of a slice after indices that are not static were applied."""
        x, begin, end, strides, *masks = arguments
        begin = [0 if masks[0] >> axis & 1 else i for axis, i in enumerate(begin)]
        end = [0 if masks[1] >> axis & 1 else i for axis, i in enumerate(end)]
        for axis, i in enumerate(begin):
            shrinks = masks[4] >> axis & 1
            if isinstance(i, Element):
                if not shrinks or (masks[2] | masks[3]) & ((1 << axis) - 1):
                    raise Unsupported("a slice of unknown size")
                x = self._part(x, axis, i, 1, wraps=True)
                begin[axis], end[axis] = 0, 1
            elif shrinks:
                end[axis] = begin[axis] + 1
        return [x, tuple(begin), tuple(end), strides, *masks]

    def _part(self, x: Value, axis: int, index: Any, length: int, wraps: bool = False) -> Value:
        """Returns a part of a tensor from an index on that is not static, in one dimension."""
        code = self._code
        x = code.in_memory(x)
        size = x.shape[axis]
        if not isinstance(index, Element):
            index = code.one.number(index, int64)
        at = code.within(index, number(size - length + 1), wraps)
        pointer = code.moved(x.pointer, code.b.mul(at, number(x.strides[axis])), x.dtype)
        shape = (*x.shape[:axis], length, *x.shape[axis + 1 :])
        strides = (*x.strides[:axis], x.strides[axis] if length > 1 else 0, *x.strides[axis + 1 :])
        return Value(shape, x.dtype, False, pointer=pointer, strides=strides, borrowed=x.borrowed, wide=x.wide)

    def _without(self, x: Value, axis: int) -> Value:
        """Returns a tensor in memory without a dimension of size 1."""
        shape, strides = (s[:axis] + s[axis + 1 :] for s in (x.shape, x.strides))
        return Value(shape, x.dtype, x.ahead, pointer=x.pointer, strides=strides, borrowed=x.borrowed, wide=x.wide)

    def _view(self, numbers: np.ndarray, sources: Sequence[Value]) -> Value | None:
        """Returns the tensor of numbered elements in the memory of their source; None if it has several."""
        strides, first = strides_of(numbers), int(numbers.flat[0])
        if strides is None or first < _SOURCE:
            return None
        code = self._code
        value, place = _source(sources, first)
        value = code.in_memory(value)
        pointer = code.moved(value.pointer, number(place), value.dtype)
        return dataclasses.replace(value, shape=numbers.shape, pointer=pointer, strides=strides, elements=None)

    def _collected(self, numbers: np.ndarray, sources: Sequence[Value], dtype: DType, ahead: bool) -> Value:
        """Returns the tensor of numbered elements: if possible, in the memory of their source."""
        code = self._code

        def element(index: tuple[int, ...]) -> Element:
            first = int(numbers[index])
            if first < _SOURCE:
                return code.one.number(0, dtype)
            value, place = _source(sources, first)
            if value.elements is not None:
                return value.elements.flat[place]
            at = code.at(code.moved(value.pointer, number(place), dtype), (), dtype, ahead)
            return code.element(at, code.one, [])

        if numbers.size <= FEW:
            return code.of_elements(filled(numbers.shape, element), dtype, ahead)
        view = self._view(numbers, sources)
        if view is not None:
            return dataclasses.replace(view, ahead=ahead)
        result = code.buffer(numbers.shape, dtype, ahead)
        for place, part in pieces_of(numbers):
            first = sum(i.start * n for i, n in zip(place, result.strides, strict=True))
            pointer = code.moved(result.pointer, number(first), dtype)
            strides = tuple([0 if n == 1 else s for n, s in zip(part.shape, result.strides, strict=True)])
            target = Value(part.shape, dtype, ahead, pointer=pointer, strides=strides)
            code.fill(target, self._view(part, sources) or code.zeros(part.shape, dtype))
        return result

    def _zeros(self, shape: tuple[int, ...], dtype: DType) -> Value:
        """Returns zeros in new memory."""
        result = self._code.buffer(shape, dtype)
        self._code.fill(result, self._code.zeros(shape, dtype))
        return result

    def _at(self, x: Value, indices: Iterable[Any]) -> Value:
        """Returns the part of a tensor at indices in its first dimensions, in the tensor's memory."""
        for i in indices:
            x = self._without(self._part(x, 0, i, 1), 0)
        return x

    def _indices(self, tensor: SymbolicTensor) -> np.ndarray:
        elements = self._value(tensor).elements
        if elements is None:
            raise Unsupported("many indices")
        return elements

    def _gathered(self, step: Step) -> Value:
        """Takes parts of a tensor at indices in one dimension."""
        code, (x, indices, axis, batch_dims), out = self._code, step.args, step.outputs[0]
        x, indices, axis = code.in_memory(self._value(x)), self._indices(indices), host_static(axis)
        if batch_dims or type(axis) is not int:
            raise Unsupported("a batch of indices")
        axis %= len(x.shape)
        parts = [self._without(self._part(x, axis, i, 1), axis) for i in indices.flat]
        if not indices.ndim:
            return code.settled(parts[0])
        result = code.buffer((*x.shape[:axis], len(parts), *x.shape[axis + 1 :]), out.dtype)
        for i, part in enumerate(parts):
            code.fill(self._without(self._part(result, axis, i, 1), axis), part)
        return code.settled(self._reshaped(result, tuple(out.shape.as_list())))

    def _gathered_rows(self, step: Step) -> Value:
        """Takes parts of a tensor at indices in its first dimensions."""
        code, x, indices = self._code, self._value(step.args[0]), self._indices(step.args[1])
        result = code.buffer(tuple(step.outputs[0].shape.as_list()), x.dtype)
        for place in np.ndindex(indices.shape[:-1]):
            code.fill(self._at(result, place), self._at(x, indices[place]))
        return code.settled(result)

    def _updated(self, step: Step) -> Value:
        """Writes parts of a tensor at indices."""
        code, (x, indices, updates, *_) = self._code, step.args
        x, indices, updates = self._value(x), self._indices(indices), self._value(updates)
        result = code.buffer(x.shape, x.dtype)
        code.fill(result, x)
        for place in np.ndindex(indices.shape[:-1]):
            code.fill(self._at(result, indices[place]), self._at(updates, place))
        return code.settled(result)

    def _summed_rows(self, step: Step) -> Value:
        """Adds parts of a tensor at indices in the first dimension of the result."""
        code, x, indices = self._code, self._value(step.args[0]), self._indices(step.args[1])
        result = self._zeros(tuple(step.outputs[0].shape.as_list()), x.dtype)
        for place in np.ndindex(indices.shape):
            target = self._at(result, [indices[place]])
            code.fill(target, code.sum(target, self._at(x, place)))
        return code.settled(result)

    # ---- random numbers ------------------------------------------------------------------------------------------

    def _drawn(self, step: Step) -> Value:
        """Returns the random numbers of an iteration: they are drawn before the loop."""
        code, out = self._code, step.outputs[0]
        if self._count is None:
            raise Unsupported("nobody knows how many numbers to draw")
        pointer = code.address(("drawn", step))
        at = code.moved(pointer, code.b.mul(self._count, number(out.shape.num_elements())), out.dtype)
        return code.settled(code.at(at, tuple(out.shape.as_list()), out.dtype, False))

    # ---- lists ---------------------------------------------------------------------------------------------------

    def _place(self, entries: Entries, index: Any) -> Any:
        """Returns the address of an entry."""
        code = self._code
        element = code.one.number(index, int64) if isinstance(index, int) else _scalar(self._held(index))
        at = code.within(element, entries.length)
        return code.moved(entries.pointer, code.b.mul(at, number(math.prod(entries.shape))), entries.dtype)

    def _item(self, step: Step) -> Value:
        code, out, entries = self._code, step.outputs[0], self._entries(step.args[0])
        entries.tell(out)
        value = code.settled(code.at(self._place(entries, step.args[1]), entries.shape, out.dtype, False))
        if value.elements is None and entries.may_change:
            value, view = code.buffer(value.shape, value.dtype), value
            code.fill(value, view)
        return value

    def _with_item(self, step: Step) -> Version:
        handle, index, item, resizes = step.args
        code, entries = self._code, self._entries(handle)
        if resizes or not entries.may_change:
            raise Unsupported("a list that grows, or that is used elsewhere")
        entries.tell(item)
        target = code.at(self._place(entries, index), entries.shape, item.dtype, False)
        code.fill(target, self._value(item))
        entries.version, entries.changes = entries.version + 1, True
        return Version(entries, entries.version)

    def _length(self, step: Step) -> Value:
        code, out = self._code, step.outputs[0]
        length = code.one.convert(Element(self._entries(step.args[0]).length, int64), out.dtype)
        return code.of_elements(filled((), lambda _: length), out.dtype, False)

    def _rows(self, step: Step) -> Version:
        value = self._code.in_memory(self._value(step.args[0]))
        if not value.is_contiguous or value.borrowed:
            raise Unsupported("a list of rows that are not in one piece")
        return Version(Entries(value.pointer, number(value.shape[0]), False), 0)

    def _new_list(self, step: Step | Operation) -> Version:
        code, shape, length = self._code, host_static(step.args[0]), host_static(step.args[1])
        if type(shape) is not tuple or type(length) is not int or min((length, *shape)) < 1:
            raise Unsupported("a list of unknown size")
        value = code.buffer((length, *shape), step.args[2])
        code.fill(value, code.zeros(value.shape, value.dtype))
        return Version(Entries(value.pointer, number(length), True), 0)

    def _stacked(self, step: Step) -> Value:
        code, out, entries = self._code, step.outputs[0], self._entries(step.args[0])
        shape = tuple(out.shape.as_list())
        if (entries.shape or shape[1:]) != shape[1:] or (entries.dtype or out.dtype) is not out.dtype:
            raise Unsupported("the entries of a list differ")
        code.check(code.b.icmp_signed("==", entries.length, number(shape[0])))
        result = code.buffer(shape, out.dtype)
        code.fill(result, code.at(entries.pointer, shape, out.dtype, False))
        return code.settled(result)

    # ---- control -------------------------------------------------------------------------------------------------

    def _conditional(self, step: Step) -> list[Held]:
        code, b, (index, *values) = self._code, self._code.b, step.args
        element = _scalar(self._held(index))
        held = list(map(self._held, values))
        versions = {v.entries: v.number for v in held if isinstance(v, Version)}
        variables = [
            None if t.dtype is variant else Variable(code, tuple(t.shape.as_list()), t.dtype) for t in step.outputs
        ]
        lists: list[list[Entries]] = []
        latest = dict(versions)
        joined, bodies = code.new_block("joined"), step.op.bodies
        for i, (label, body) in enumerate(bodies.items()):
            if i < len(bodies) - 1:
                chosen, following = code.new_block("branch"), code.new_block("else")
                is_bool = element.dtype.is_bool
                test = element.value if is_bool else code.one.equal(element, i).value
                b.cbranch(test, chosen, following)
                b.position_at_end(chosen)
            for entries, version in versions.items():
                entries.version = version
            results = Steps(code, body.compiled.program, [held[p] for p in step.op.places[label]]).outputs
            lists.append([])
            for variable, result in zip(variables, results, strict=True):
                if variable is not None:
                    variable.store(result)
                else:
                    lists[-1].append(_entries_of(result))
            latest = {entries: max(version, entries.version) for entries, version in latest.items()}
            b.branch(joined)
            if i < len(bodies) - 1:
                b.position_at_end(following)
        b.position_at_end(joined)
        for entries, version in latest.items():
            entries.version = version + 1 if version > versions[entries] else version
        if any(other != lists[0] for other in lists):
            raise Unsupported("branches return different lists")
        same = iter(lists[0])
        return [next(same).last if variable is None else variable.load() for variable in variables]

    def _loop(self, step: Step) -> list[Held]:
        code, loop = self._code, step.op.kernel
        held = list(map(self._held, step.args))
        limit = None
        if loop.limited:
            limit = code.one.convert(_scalar(held.pop(0)), int64).value
        variables: list[Variable | Entries] = []
        for value in held[: loop.count]:
            if isinstance(value, Value):
                variables.append(Variable(code, value.shape, value.dtype, first=value))
            else:
                variables.append(_entries_of(value))
        if len(set(variables)) < len(variables):
            raise Unsupported("a list is carried twice")
        captured, program = held[loop.count :], loop.body.compiled.program

        def iterate(state: list[Held], _: Any) -> list[Held]:
            return Steps(code, program, [*state, *(captured[i] for i in loop.places[1])]).outputs

        write_loop(code, variables, _condition(code, loop, captured), iterate, limit)
        return [v.last if isinstance(v, Entries) else v.load() for v in variables]


def _entries_of(held: Held) -> Entries:
    """Returns a list.

    Raises:
        Unsupported: it is a tensor of numbers.
    """
    if not isinstance(held, Version):
        raise Unsupported("neither numbers nor a list")
    return held.entries


# ---- loops -----------------------------------------------------------------------------------------------------------


class Variable:
    """What holds a tensor that instructions change: registers, or memory.

    Args:
        code: the code.
        shape, dtype: shape and dtype of the tensor.
        pointer: the address of a tensor of many elements; by default in new memory.
        first: the tensor at first.
    """

    def __init__(
        self, code: Code, shape: tuple[int, ...], dtype: DType, pointer: Any = None, first: Value | None = None
    ) -> None:
        self._code, self.shape, self.dtype = code, shape, dtype
        self._value: Value | None = None
        if math.prod(shape) <= FEW:
            self._slots = filled(shape, lambda _: code.slot(code.one.type(dtype)))
        elif pointer is not None:
            self._value = code.at(pointer, shape, dtype, False)
        else:
            self._value = code.buffer(shape, dtype)
        if first is not None:
            self.store(first)

    def load(self, borrowed: bool = False) -> Value:
        """Returns the tensor; `borrowed` as of `Value`."""
        if self._value is not None:
            return dataclasses.replace(self._value, borrowed=borrowed)
        b, kind = self._code.b, self._code.one.type(self.dtype)
        elements = filled(self.shape, lambda i: Element(b.load(self._slots[i], typ=kind), self.dtype))
        return self._code.of_elements(elements, self.dtype, False)

    def prepared(self, held: Held) -> Value:
        """Returns a tensor to store that no other store changes.

        Raises:
            Unsupported: it has another shape.
        """
        if not isinstance(held, Value) or held.shape != self.shape or held.dtype is not self.dtype:
            raise Unsupported("a loop variable changes its shape")
        is_own = self._value is not None and held.pointer is self._value.pointer and held.is_contiguous
        if not held.borrowed or is_own:
            return held
        copy = self._code.buffer(held.shape, held.dtype)
        self._code.fill(copy, held)
        return copy

    def store(self, held: Held) -> None:
        """Changes the tensor."""
        value = self.prepared(held)
        if self._value is None:
            for index in np.ndindex(self.shape):
                self._code.b.store(value.elements[index].value, self._slots[index])
        elif value.pointer is not self._value.pointer:
            self._code.fill(self._value, value)


def write_loop(
    code: Code,
    variables: Sequence[Variable | Entries],
    test: Callable[[list[Held]], Any],
    iterate: Callable[[list[Held], Any], list[Held]],
    limit: Any = None,
) -> tuple[Any, Any]:
    """Writes a loop.

    Args:
        code: the code.
        variables: what holds its loop variables.
        test: returns the condition, from the loop variables.
        iterate: returns the loop variables after an iteration, from those before it and its number.
        limit: the most iterations, an integer of 64 bits; None if there is no limit.

    Returns:
        The number of iterations, and whether the condition holds after them.
    """
    b = code.b
    for v in variables:
        if isinstance(v, Entries):
            v.version += 1  # who captures the list sees its changes
    counter, going = code.slot(_i64), code.slot(ir.IntType(1))
    b.store(number(0), counter)
    head, body, after = (code.new_block(name) for name in ("head", "iteration", "end"))
    b.branch(head)
    b.position_at_end(head)
    count = b.load(counter, typ=_i64)
    state: list[Held] = [v.last if isinstance(v, Entries) else v.load(borrowed=True) for v in variables]
    goes_on = test(state)
    b.store(goes_on, going)
    b.cbranch(goes_on if limit is None else b.and_(goes_on, b.icmp_signed("<", count, limit)), body, after)
    b.position_at_end(body)
    prepared = []
    for v, result in zip(variables, iterate(state, count), strict=True):
        if isinstance(v, Variable):
            prepared.append((v, v.prepared(result)))
        elif _entries_of(result) is not v:
            raise Unsupported("a loop exchanges lists")
    for v, value in prepared:
        v.store(dataclasses.replace(value, borrowed=False))
    b.store(b.add(count, number(1)), counter)
    b.branch(head)
    b.position_at_end(after)
    return b.load(counter, typ=_i64), b.load(going, typ=ir.IntType(1))


def _condition(code: Code, loop: Loop, captured: Sequence[Held]) -> Callable[[list[Held]], Any]:
    """Returns the function that writes the condition of a loop."""

    def test(state: list[Held]) -> Any:
        inputs = [*state, *(captured[i] for i in loop.places[0])]
        (condition,) = Steps(code, loop.condition.compiled.program, inputs).outputs
        return _scalar(condition).value

    return test


def _numbers(held: Held) -> Value:
    """Returns a tensor of numbers.

    Raises:
        Unsupported: it is a list.
    """
    if not isinstance(held, Value):
        raise Unsupported("a list in the place of numbers")
    return held


def _scalar(held: Held) -> Element:
    """Returns the element of a scalar."""
    return _numbers(held).elements.item()


class _Function:
    """The function of a loop, which takes operands in memory.

    Attributes:
        code: its code.
        limit: the most iterations, an integer of 64 bits.
        lists: for each operand, the list that it is, or None.
    """

    def __init__(self) -> None:
        self.code = Code()
        self.limit, _ = self.code.entry(("limit",)), self.code.entry(("status",))
        self.lists: list[Entries | None] = []
        self._variables: list[tuple[Variable, Any]] = []

    def _pointer(self, dtype: DType, may_change: bool) -> Any:
        """Returns the address of the next operand, and remembers whether it is a list."""
        place = len(self.lists)
        self.lists.append(None)
        if dtype is resource:
            return place
        pointer = self.code.address(("operand", place))
        if dtype is variant:
            self.lists[-1] = Entries(pointer, self.code.entry(("length", place)), may_change)
        return pointer

    def variable(self, tensor: SymbolicTensor, may_change: bool = True) -> Variable | Entries:
        """Returns what holds the next operand, which the loop changes; or a list, which it changes if it may."""
        code, pointer = self.code, self._pointer(tensor.dtype, may_change)
        if self.lists[-1] is not None:
            return self.lists[-1]
        shape = tuple(tensor.shape.as_list())
        variable = Variable(code, shape, tensor.dtype, pointer)
        if math.prod(shape) <= FEW:
            variable.store(code.settled(code.at(pointer, shape, tensor.dtype, False)))
            self._variables.append((variable, pointer))
        return variable

    def captured(self, tensor: SymbolicTensor) -> Held:
        """Returns the next operand, which the loop does not change."""
        pointer = self._pointer(tensor.dtype, False)
        if self.lists[-1] is not None:
            return self.lists[-1].last
        if tensor.dtype is resource:
            return pointer
        return self.code.settled(self.code.at(pointer, tuple(tensor.shape.as_list()), tensor.dtype, True))

    def rows(self, tensor: SymbolicTensor) -> Callable[[Any], Value]:
        """Returns the function of a number that returns this row of the next operand."""
        pointer, shape = self._pointer(tensor.dtype, False), tuple(tensor.shape.as_list())
        return lambda i: self.code.settled(self._row(pointer, shape, tensor.dtype, i))

    def _row(self, pointer: Any, shape: tuple[int, ...], dtype: DType, i: Any) -> Value:
        offset = self.code.b.mul(i, number(math.prod(shape)))
        return self.code.at(self.code.moved(pointer, offset, dtype), shape, dtype, False)

    def record(self, held: Held, i: Any) -> None:
        """Stores a tensor of an iteration in a row of memory; once if it is the same in all iterations."""
        code, held = self.code, _numbers(held)
        pointer = code.address(("recorded", held.shape, held.dtype, held.ahead))
        with code.placed(held.ahead):
            target = self._row(pointer, held.shape, held.dtype, number(0) if held.ahead else i)
            code.fill(target, held)

    def end(self, count: Any, going: Any) -> None:
        """Ends the function after the loop."""
        code, b = self.code, self.code.b
        for variable, pointer in self._variables:
            code.fill(code.at(pointer, variable.shape, variable.dtype, False), variable.load())
        for i, value in enumerate((count, b.zext(going, _i64))):
            b.store(value, b.gep(code.arguments, [number(i)], source_etype=_i64))
        b.ret_void()


def loop_code(loop: Loop, tensors: Sequence[SymbolicTensor]) -> tuple[Code, list[Entries | None]]:
    """Returns the code of a loop, and for each of its operands the list that it is, or None.

    The table has the most iterations, which the code replaces by their number, then a number: -1 after a failure, 1 if
    the condition still holds, else 0.

    Args:
        loop: the loop.
        tensors: the tensors that it takes.

    Raises:
        Unsupported: the loop does not qualify.
    """
    function = _Function()
    variables = [function.variable(t) for t in tensors[: loop.count]]
    captured = [function.captured(t) for t in tensors[loop.count :]]

    def iterate(state: list[Held], count: Any) -> list[Held]:
        inputs = [*state, *(captured[i] for i in loop.places[1])]
        outputs = Steps(function.code, body_of(loop), inputs, count).outputs
        for held in outputs[loop.count :]:
            function.record(held, count)
        return outputs[: loop.count]

    test = _condition(function.code, loop, captured)
    function.end(*write_loop(function.code, variables, test, iterate, function.limit))
    return function.code, function.lists


def gradient_code(
    program: Program, following: Sequence[int | None], added: Sequence[int], is_shared: Sequence[bool], outputs: int
) -> tuple[Code, list[Entries | None]]:
    """Returns the code of a loop's gradient; result as of `loop_code`, other arguments as of `NativeGradient`.

    Args:
        added: the places of the outputs that are summed.

    Raises:
        Unsupported: the gradient does not qualify.
    """
    function, count = _Function(), len(following)
    code, b = function.code, function.code.b
    cotangents = [function.variable(t, may_change=False) for t in program.inputs[:count]]
    captures = program.inputs[count:]
    values: list[Any] = [
        function.captured(t) if is_same else function.rows(t) for t, is_same in zip(captures, is_shared, strict=True)
    ]
    sums = [function.variable(program.outputs[i]) for i in added]

    def iterate(state: list[Held], trip: Any) -> list[Held]:
        row = b.sub(b.sub(function.limit, trip), number(1))
        inputs = [held if is_same else held(row) for held, is_same in zip(values, is_shared, strict=True)]
        results = Steps(code, program, [*state[:count], *inputs]).outputs
        for held in results[outputs:]:
            function.record(held, row)
        after: list[Held] = []
        for held, place in zip(state, following, strict=False):
            zeros = code.zeros(held.shape, held.dtype) if isinstance(held, Value) else held
            after.append(held if place == KEPT else zeros if place is None else results[place])
        return after + [code.sum(_numbers(x), _numbers(results[i])) for x, i in zip(state[count:], added, strict=True)]

    always = code.one.number(True, bool_).value
    function.end(*write_loop(code, [*cotangents, *sums], lambda state: always, iterate, function.limit))
    return code, function.lists


def counter_of_known_bound(loop: Loop) -> int | None:
    """Returns the number of the loop variable that counts up to a bound that the loop takes, or None."""
    program = loop.condition.compiled.program
    bound = program.steps[-1].args[1] if len(program.steps) == 1 else None
    is_known = program.constant(bound) is not None or any(t is bound for t in program.inputs)
    return counter_of(loop) if is_known else None


# ---- moves -----------------------------------------------------------------------------------------------------------


def strides_of(codes: np.ndarray) -> tuple[int, ...] | None:
    """Returns the strides of numbers that stand for elements of one tensor, or of zeros; None if there are none."""
    if not codes.size or np.any(codes // _SOURCE != codes.flat[0] // _SOURCE):
        return None
    steps = [codes[(0,) * i + (1,) + (0,) * (codes.ndim - i - 1)] - codes.flat[0] if n > 1 else 0
             for i, n in enumerate(codes.shape)]  # fmt: skip
    steps = list(map(int, steps))
    return tuple(steps) if np.array_equal(codes - codes.flat[0], _places(codes.shape, steps)) else None


def _places(shape: Sequence[int], strides: Sequence[int]) -> np.ndarray:
    """Returns the places in memory of the elements of a tensor."""
    return sum((i * n for i, n in zip(np.indices(shape), strides, strict=True)), np.zeros(shape, np.int64))


def _source(sources: Sequence[Value], first: int) -> tuple[Value, int]:
    """Returns the tensor that a numbered element comes from, and its place there."""
    return sources[first // _SOURCE - 1], first % _SOURCE - _SOURCE // 2


def pieces_of(codes: np.ndarray, begin: tuple[int, ...] = ()) -> Iterator[tuple[tuple[slice, ...], np.ndarray]]:
    """Divides numbers that stand for elements: gives the place of each piece and its numbers.

    Raises:
        Unsupported: there are too many pieces.
    """
    begin = begin or (0,) * codes.ndim
    if strides_of(codes) is not None:
        yield tuple(slice(i, i + n) for i, n in zip(begin, codes.shape, strict=True)), codes
        return
    for values, order in ((codes // _SOURCE, 1), (codes, 2)):
        for axis in range(codes.ndim):
            others = tuple(i for i in range(codes.ndim) if i != axis)
            changes = np.flatnonzero(np.any(np.diff(values, order, axis) != 0, axis=others)) + 1
            if not len(changes):
                continue
            if len(changes) >= _MOST_PIECES:
                raise Unsupported("a tensor of too many pieces")
            for first, last in itertools.pairwise([0, *changes.tolist(), codes.shape[axis]]):
                part = codes[(slice(None),) * axis + (slice(first, last),)]
                yield from pieces_of(part, (*begin[:axis], begin[axis] + first, *begin[axis + 1 :]))
            return


_OF_LISTS: dict[Any, Callable[[Steps, Step], Held]] = {
    ops.TensorListGetItem.op: Steps._item, ops.TensorListSetItem.op: Steps._with_item,
    ops.TensorListLength.op: Steps._length, ops.TensorListFromTensor.op: Steps._rows,
    ops.TensorListReserve.op: Steps._new_list, ops.TensorListStack.op: Steps._stacked,
}  # fmt: skip
_AT_INDICES: dict[Any, Callable[[Steps, Step], Value]] = {
    ops.GatherV2.op: Steps._gathered, ops.GatherNd.op: Steps._gathered_rows,
    ops.TensorScatterUpdate.op: Steps._updated, ops.UnsortedSegmentSum.op: Steps._summed_rows,
}  # fmt: skip
