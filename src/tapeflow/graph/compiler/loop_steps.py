"""The steps of native loops as machine code."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import torch

from tapeflow.array.slicing import strided_slice_op
from tapeflow.array.tensor_list import list_reserve
from tapeflow.core.ops.definition import ops
from tapeflow.core.ops.elements import Element, Unsupported
from tapeflow.core.ops.static import host_static
from tapeflow.core.rng import elements as forms
from tapeflow.core.types.dtypes import DType, int32, int64, resource, uint64, variant
from tapeflow.core.types.spec import TensorSpec
from tapeflow.core.values.symbolic import SymbolicTensor
from tapeflow.graph.compiler.clusters import ClusterOp, clustered
from tapeflow.graph.compiler.expressions import ELEMENT
from tapeflow.graph.compiler.instructions import number
from tapeflow.graph.compiler.loop_code import (
    FEW,
    Code,
    Few,
    Row,
    Value,
    check_broadcast,
    contiguous,
    filled,
    transposed,
)
from tapeflow.graph.compiler.loop_control import (
    UNRECORDED,
    Entries,
    Held,
    Sparse,
    Variable,
    Version,
    entries_of,
    numbers_of,
    scalar,
    write_loop,
)
from tapeflow.graph.compiler.qualification import TooLarge
from tapeflow.graph.ir.graph import READ
from tapeflow.graph.ir.operation import VariableUpdate, variable_of
from tapeflow.graph.program.effects import has_stream
from tapeflow.graph.program.program import Program, Step

_MOST_DRAWN = 64  # random numbers of a key
_MOST_OF_FACTOR = 1 << 18  # elements of a matrix in a product: they stay in the processor's cache
_MOST_PIECES = 64  # contiguous pieces of a moved tensor
_SOURCE = 1 << 40  # the element numbers of a tensor start at a multiple of this; smaller numbers stand for zeros


class Steps:
    """The steps of a program as machine code.

    Args:
        code: the code.
        program: the program.
        inputs: the values of its inputs.
        count: the number of previous iterations of the outer loop, a 64-bit integer; None if an iteration may run the
            steps several times.
        always: True if each iteration runs the steps.
        variables: the values of the variables that the steps change, by the variables' ids. They become the new ones.

    Raises:
        Unsupported: a step can't be compiled.
    """

    def __init__(
        self,
        code: Code,
        program: Program,
        inputs: Sequence[Held],
        count: Any = None,
        always: bool = True,
        variables: dict[int, Held] | None = None,
    ) -> None:
        self._code, self._program, self._count, self._always = code, program, count, always
        self._variables = variables or {}
        self._known: dict[int, Held] = {id(t): v for t, v in zip(program.inputs, inputs, strict=True)}
        for step in clustered(program, self._computed_ahead()):
            self._run(step)
        self.outputs = [self._result(t) for t in program.outputs]

    def _computed_ahead(self) -> set[int]:
        """Returns the ids of the steps with outputs that do not change in the loop."""
        ahead: set[int] = set()
        changing = {id(t) for t in self._program.inputs if not getattr(self._known[id(t)], "ahead", False)}
        for step in self._program.steps:
            varies = not step.pure or step.must_run or not step.registered or step.op.random_fill
            if step.op is READ:
                variable = variable_of(step.args[0])
                varies = variable is not None and variable._id in self._variables
            if varies or any(id(t) in changing for t in step.inputs if t.dtype is not resource):
                changing.update(map(id, step.outputs))
            else:
                ahead.add(id(step))
        return ahead

    def _run(self, step: Step) -> None:
        """Computes the outputs of a step."""
        try:
            results = self._computed(step)
        except Unsupported as error:
            if not hasattr(error, "step"):
                error.step = step  # type: ignore[attr-defined]
            raise
        self._known.update(zip(map(id, step.outputs), map(self._settled, results), strict=True))

    # ---- values --------------------------------------------------------------------------------------------------

    def _settled(self, held: Held) -> Held:
        """Returns a result in registers if it has few elements."""
        return self._code.settled(held) if isinstance(held, Value) else held

    def _held(self, tensor: SymbolicTensor) -> Held:
        """Returns a tensor, or the last version of a list."""
        held = self._known.get(id(tensor))
        if held is None:
            held = self._known[id(tensor)] = self._constant(tensor)
        if isinstance(held, Version) and held.number != held.entries.version:
            raise Unsupported("a list is used after it was changed")
        return held

    def _result(self, tensor: SymbolicTensor) -> Held:
        """Returns an output. Among earlier versions of lists, only residuals can be outputs."""
        held = self._known.get(id(tensor))
        is_old = isinstance(held, Version) and held.number != held.entries.version
        return UNRECORDED.last if is_old else self._held(tensor)

    def _value(self, tensor: SymbolicTensor) -> Value:
        """Returns a tensor of numbers."""
        return numbers_of(self._held(tensor))

    def _entries(self, tensor: SymbolicTensor) -> Entries:
        """Returns a list."""
        return entries_of(self._held(tensor))

    def _constant(self, tensor: SymbolicTensor) -> Held:
        value, code = self._program.constant(tensor), self._code
        if tensor.op.op is list_reserve.op:
            return self.new_list(*tensor.op.args)
        if not isinstance(value, torch.Tensor):
            raise Unsupported(f"{tensor} has no value")
        shape = tuple(value.shape)
        if value.numel() > FEW:
            return code.at(code.address(("constant", value.contiguous())), shape, tensor.dtype, True)
        numbers = np.array(value.tolist(), object).reshape(shape)
        return code.of_elements(filled(shape, lambda i: code.constant(numbers[i], tensor.dtype)), tensor.dtype, True)

    # ---- steps ---------------------------------------------------------------------------------------------------

    def _computed(self, step: Step) -> Sequence[Held]:
        """Returns the outputs of a step."""
        op, code = step.op, self._code
        if op is READ:
            return [self._variable(step)]
        if isinstance(op, VariableUpdate):
            self._change(step)
            return []
        if isinstance(op, ClusterOp):
            return self._cluster(step)
        if step.op.control == "call":
            (program,) = step.programs
            return Steps(code, program, list(map(self._held, step.args)), self._count, self._always).outputs
        if step.op.control == "conditional":
            return self._conditional(step)
        if step.op.control == "loop":
            return self._loop(step)
        if op.random_fill and not op.tensors(step.args):
            return [self._drawn(step)]
        if not step.pure or step.must_run:
            raise Unsupported(f"{step.name} is not compiled")
        held = [self._held(t) for t in step.inputs]
        is_list = any(t.dtype is variant for t in step.outputs)  # it may change
        ahead = not is_list and all(isinstance(h, Value) and h.ahead for h in held)
        self._step, self._ahead = step, ahead
        self.out: SymbolicTensor | TensorSpec = step.outputs[0]
        with code.placed(ahead):
            if op.in_loops is not None:
                result = op.in_loops(self, *step.args)
                return result if isinstance(result, list) else [result]
            if op.draws is not None:
                return [self._numbers_of_stream(op.draws, *step.args[1:])]
            if op.element is not None:
                return [self._elementwise(step)]
            if op.reduced is not None:
                axes = host_static(step.args[1])
                axes = range(step.args[0].shape.rank) if axes is None else axes if type(axes) is tuple else (axes,)
                return [self._reduced(step.args[0], axes, op.reduced)]
            if op.row is not None:
                return [self._by_rows(step.args[0], op.row)]
            if op.moves:
                return self._moved(self._arguments())
        raise Unsupported(f"{step.name} is not compiled")

    def _variable(self, step: Step) -> Value:
        """Returns the value of a variable."""
        (handle,), (out,) = step.inputs, step.outputs
        variable = variable_of(handle)
        if variable is not None and variable._id in self._variables:
            return numbers_of(self._variables[variable._id])
        place = self._known.get(id(handle))
        what = ("variable", self._program.constant(handle)) if place is None else ("read", place)
        pointer = self._code.address((*what, out))
        return self._code.settled(self._code.at(pointer, tuple(out.shape.as_list()), out.dtype, True))

    def _change(self, step: Step) -> None:
        """Computes the new value of a variable."""
        handle, operand = step.args
        changed = variable_of(handle)._id
        before = numbers_of(self._variables[changed])
        self._step, self.out, self._ahead = step, TensorSpec(before.shape, before.dtype), False
        self._variables[changed] = self._of_values([before, self._value(operand)], step.op.element)

    def _elementwise(self, step: Step) -> Value:
        statics = step.op.statics(step.args)
        if any(isinstance(a, (SymbolicTensor, list, tuple)) for a in statics):
            raise Unsupported(f"{step.name} takes what is not static")
        return self._by_form(
            step.inputs, lambda b, *elements: step.op.element(b, *step.op.with_tensors(elements, statics))
        )

    def add_all(self, inputs: Sequence[SymbolicTensor]) -> Held:
        """Adds tensors, or lists."""
        if self.out.dtype is variant:
            return self._sum_of_lists(inputs)
        return self._by_form(inputs, lambda b, *elements: b.combined("add", elements))

    def _by_form(self, tensors: Sequence[SymbolicTensor], form: Callable[..., Element]) -> Value:
        """Returns a tensor of elements that a form computes from the operands' elements at the same index."""
        return self._of_values([self._value(t) for t in tensors], form)

    def _of_values(self, values: Sequence[Value], form: Callable[..., Element]) -> Value:
        """Returns a tensor of elements that a form computes from the values' elements at the same index."""
        code, out, ahead, name = self._code, self.out, self._ahead, self._step.name
        shape = tuple(out.shape.as_list())

        def element(b: Any, elements: Sequence[Element]) -> Element:
            result = b.rounded(form(b, *elements))
            if result.dtype is not out.dtype:
                raise Unsupported(f"the element form of {name} gives {result.dtype.name}")
            return result

        if out.shape.num_elements() <= FEW and all(v.elements is not None for v in values):
            for v in values:
                check_broadcast(v, shape)
            arrays = [np.broadcast_to(v.elements, shape) for v in values]
            return code.of_elements(
                filled(shape, lambda i: element(code.one, [a[i] for a in arrays])), out.dtype, ahead
            )
        result = code.buffer(shape, out.dtype, ahead)
        code.nest([result], values, lambda b, elements: [element(b, elements)])
        return result

    def _by_rows(self, tensor: SymbolicTensor, form: Callable[..., Element]) -> Value:
        """Returns the rows that a form computes from the rows of a tensor, its last dimension."""
        x = self._value(tensor)
        result = self._code.buffer(x.shape, x.dtype, self._ahead)
        self._code.nest([result], [x], lambda b, elements: [b.rounded(form(b, *elements))], rows=True)
        return result

    def _cluster(self, step: Step) -> list[Held]:
        """Returns the results of a cluster, computed in one nest if one of its tensors is in memory."""
        code, cluster = self._code, step.op.cluster
        handles, tensors = cluster.handles, step.inputs[len(cluster.handles) :]
        before = [numbers_of(self._variables[variable_of(handle)._id]) for handle in handles]
        operands = [*before, *map(self._value, tensors)]
        plan = None
        if any(x.elements is None for x in operands):
            plan = cluster.nest([torch.Size(x.shape) for x in operands[len(handles) :]])
        wanted = [tuple(t.shape.as_list()) for t in step.outputs]
        if plan is None or plan.of_outputs != wanted or cluster.draws:
            return self._one_by_one(step)
        ahead = not handles and all(x.ahead for x in operands)
        kinds = (*[ELEMENT] * len(handles), *plan.kinds)
        with code.placed(ahead):
            results = [code.buffer(x.shape, x.dtype) for x in before]
            results += [code.buffer(tuple(s), t.dtype, ahead) for s, t in zip(wanted, step.outputs, strict=True)]
            try:
                code.nest(results, operands, cluster.elements, plan.shape, kinds, plan.rows)
            except Unsupported:
                return self._one_by_one(step)
        for handle, value in zip(handles, results, strict=False):
            self._variables[variable_of(handle)._id] = value
        return list(results[len(handles) :])

    def _one_by_one(self, step: Step) -> list[Held]:
        """Returns the results of a cluster from its steps."""
        for own in step.op.part.steps:
            self._run(own)
        return [self._known[id(t)] for t in step.outputs]

    def _reduced(self, tensor: SymbolicTensor, axes: Any, form: Callable[..., Element]) -> Value:
        """Returns a reduction. Elements in registers are reduced by a balanced tree."""
        code, x, out, ahead = self._code, self._value(tensor), self.out, self._ahead
        rank = len(x.shape)
        axes = sorted(axis % rank for axis in axes) if rank else []
        if not x.dtype.is_floating:
            raise Unsupported("a reduction of integers")
        if len(set(axes)) < len(axes):
            raise Unsupported("an axis is named twice")
        shape = tuple(out.shape.as_list())
        if not axes:
            return self._by_form([tensor], lambda b, e: form(Few(b, 1), Row([e])))
        if x.elements is None:
            return self._reshaped(code.reduced(x, axes, form, ahead), shape)
        kept = [i for i in range(rank) if i not in axes]
        rows = x.elements.transpose([*kept, *axes]).reshape(*[x.shape[i] for i in kept], -1)
        few = Few(code.one, rows.shape[-1])
        elements = filled(rows.shape[:-1], lambda i: code.one.rounded(form(few, Row(rows[i]))))
        return code.of_elements(elements.reshape(shape), out.dtype, ahead)

    def _reshaped(self, value: Value, shape: tuple[int, ...]) -> Value:
        """Returns a tensor with another shape."""
        if value.size != math.prod(shape):
            raise Unsupported("a tensor has another shape than in the graph")
        if value.elements is not None:
            return self._code.of_elements(value.elements.reshape(shape), value.dtype, value.ahead)
        if not value.is_contiguous:
            value = self._code.copied(value)
        return self._code.at(value.pointer, shape, value.dtype, value.ahead)

    def sum_to_shape(self, tensor: SymbolicTensor) -> Value:
        """Sums a gradient to the shape of the operand before broadcasting."""
        x, shape = self._value(tensor), tuple(self.out.shape.as_list())
        extra = len(x.shape) - len(shape)
        axes = [i for i, n in enumerate(x.shape) if i < extra or (n != 1 and shape[i - extra] == 1)]
        if not axes:
            return x if x.shape == shape else self._reshaped(self._code.in_memory(x), shape)
        return self._reduced(tensor, axes, ops.Sum.op.reduced)

    def add_bias(self, tensor: SymbolicTensor, bias: SymbolicTensor, data_format: str) -> Value:
        """Adds a bias to each channel."""
        if data_format != "NHWC":
            raise Unsupported("channels before the last dimension")
        return self._by_form([tensor, bias], lambda b, x, y: b.add(x, y))

    def sum_channels(self, tensor: SymbolicTensor, data_format: str) -> Value:
        """Sums over all dimensions but the channels."""
        rank = tensor.shape.rank
        channel = rank - 1 if data_format == "NHWC" else 1
        return self._reduced(tensor, [i for i in range(rank) if i != channel], ops.Sum.op.reduced)

    def product(
        self, left: SymbolicTensor, right: SymbolicTensor, transpose_a: bool = False, transpose_b: bool = False
    ) -> Value:
        """Multiplies matrices."""
        code, out, a, b = self._code, self.out, self._value(left), self._value(right)
        if not out.dtype.is_floating:
            raise Unsupported("a product of integers")
        work = out.shape.num_elements() * a.shape[-2 if transpose_a else -1]
        if work > code.most or max(a.size, b.size) > _MOST_OF_FACTOR:
            raise TooLarge("a product of large matrices")
        if a.shape[-2 if transpose_a else -1] != b.shape[-1 if transpose_b else -2]:
            raise Unsupported("a tensor has another shape than in the graph")
        is_few = out.shape.rank == 2 and out.shape.num_elements() <= FEW
        if a.elements is None or b.elements is None or not is_few:
            a, b = code.in_memory(a), code.in_memory(b)
            a, b = transposed(a) if transpose_a else a, transposed(b) if transpose_b else b
            return code.product(a, b, out.dtype, self._ahead)
        x, y = a.elements.T if transpose_a else a.elements, b.elements.T if transpose_b else b.elements

        def element(index: tuple[int, ...]) -> Element:
            i, j = index
            total = code.one.mul(x[i, 0], y[0, j])
            for k in range(1, x.shape[1]):
                total = code.one.fma(x[i, k], y[k, j], total)
            return code.one.rounded(total)

        return code.of_elements(filled((x.shape[0], y.shape[1]), element), out.dtype, self._ahead)

    # ---- moves ---------------------------------------------------------------------------------------------------

    def _numbers(self, arg: Any) -> Any:
        """Returns a host argument as numbers, or as elements in registers if it is not static."""
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

    def _arguments(self) -> list[Any]:
        """Returns the arguments of the step: tensors, and numbers or elements for host arguments."""
        return self._step.op.map(self._value, self._step.args, host=self._numbers)

    def _moved(self, arguments: Sequence[Any]) -> list[Value]:
        """Computes a move of elements by running the op's own kernel on element numbers."""
        results, sources = self._numbered(self._step.op, arguments)
        outputs = self._step.outputs
        return [self._collected(r, sources, t.dtype, self._ahead) for r, t in zip(results, outputs, strict=True)]

    def strided_slice(self) -> list[Value]:
        """Slices a tensor. Indices need not be static."""
        return self._moved(self._first_indexed(self._arguments()))

    def strided_slice_gradient(self) -> list[Value]:
        """Returns zeros with a gradient at the position of the slice."""
        arguments = self._arguments()
        shape, begin, end, strides, dy, *masks = arguments
        if not any(isinstance(i, Element) for i in begin):
            return self._moved(arguments)
        result = self._zeros(shape, dy.dtype)
        numbers, sources = self._numbered(
            strided_slice_op.op, self._first_indexed([result, begin, end, strides, *masks])
        )
        target = self._view(numbers[0], sources)
        if target is None:
            raise Unsupported("a slice of several pieces")
        self._code.fill(target, dy)
        return [self._code.settled(result)]

    def slice(self) -> list[Value]:
        """Slices a tensor from start indices, which need not be static."""
        x, begin, size = self._arguments()
        for axis, i in enumerate(begin if isinstance(begin, tuple) else ()):
            if isinstance(i, Element):
                x = self._part(x, axis, i, size[axis])
                begin = (*begin[:axis], 0, *begin[axis + 1 :])
        return self._moved([x, begin, size])

    def _numbered(self, op: Any, arguments: Sequence[Any]) -> tuple[list[np.ndarray], list[Value]]:
        """Returns an op's results as element numbers, and the tensors that they number, starting at 1."""
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
        try:
            result = op.kernel(*inputs, **({"device": torch.device("cpu")} if op.creates else {}))
        except Exception as error:  # the op raises it again at run time
            raise Unsupported(f"{op.name} fails") from error
        results = result if isinstance(result, (list, tuple)) else [result]
        return [r.numpy() for r in results], sources

    def _first_indexed(self, arguments: list[Any]) -> list[Any]:
        """Applies the indices of a slice that are not static, and returns the remaining arguments."""
        x, begin, end, strides, *masks = arguments
        begin = [0 if masks[0] >> axis & 1 else i for axis, i in enumerate(begin)]
        end = [0 if masks[1] >> axis & 1 else i for axis, i in enumerate(end)]
        for axis, i in enumerate(begin):
            shrinks = masks[4] >> axis & 1
            if isinstance(i, Element):
                if not shrinks or (masks[2] | masks[3]) & ((2 << axis) - 1):
                    raise Unsupported("a slice of unknown size")
                x = self._part(x, axis, i, 1, wraps=True)
                begin[axis], end[axis] = 0, 1
            elif shrinks:
                end[axis] = begin[axis] + 1
        return [x, tuple(begin), tuple(end), strides, *masks]

    def _part(self, x: Value, axis: int, index: Any, length: int, wraps: bool = False) -> Value:
        """Returns a part of a tensor from an index in one dimension. The index need not be static."""
        code = self._code
        if not isinstance(length, int) or length < 1:
            raise Unsupported("a slice of unknown size")
        x = code.in_memory(x)
        size = x.shape[axis]
        if not isinstance(index, Element):
            index = code.one.number(index, int64)
        at = code.within(index, number(size - length + 1), wraps)
        pointer = code.moved(x.pointer, code.b.mul(at, number(x.strides[axis])), x.dtype)
        shape = (*x.shape[:axis], length, *x.shape[axis + 1 :])
        strides = (*x.strides[:axis], x.strides[axis] if length > 1 else 0, *x.strides[axis + 1 :])
        return Value(shape, x.dtype, False, pointer=pointer, strides=strides, borrowed=x.borrowed)

    def _without(self, x: Value, axis: int) -> Value:
        """Returns a tensor in memory without a dimension of size 1."""
        shape, strides = (s[:axis] + s[axis + 1 :] for s in (x.shape, x.strides))
        return Value(shape, x.dtype, x.ahead, pointer=x.pointer, strides=strides, borrowed=x.borrowed)

    def _view(self, numbers: np.ndarray, sources: Sequence[Value]) -> Value | None:
        """Returns the tensor of numbered elements as a view of their source; None for several sources."""
        strides, first = strides_of(numbers), int(numbers.flat[0])
        if strides is None or first < _SOURCE:
            return None
        code = self._code
        value, place = _source(sources, first)
        value = code.in_memory(value)
        pointer = code.moved(value.pointer, number(place), value.dtype)
        return dataclasses.replace(value, shape=numbers.shape, pointer=pointer, strides=strides, elements=None)

    def _collected(self, numbers: np.ndarray, sources: Sequence[Value], dtype: DType, ahead: bool) -> Value:
        """Returns the tensor of numbered elements, if possible as a view of their source."""
        code = self._code

        def element(index: tuple[int, ...]) -> Element:
            first = int(numbers[index])
            if first < _SOURCE:
                return code.one.number(0, dtype)
            value, place = _source(sources, first)
            if value.elements is not None:
                return value.elements.flat[place]
            at = code.at(code.moved(value.pointer, number(place), dtype), (), dtype, ahead)
            return code.element(at, [])

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
            code.fill(target, self._view(part, sources) or code.zeros((), dtype))
        return result

    def _zeros(self, shape: tuple[int, ...], dtype: DType) -> Value:
        """Returns zeros in new memory."""
        result = self._code.buffer(shape, dtype)
        self._code.fill(result, self._code.zeros((), dtype))
        return result

    def _at(self, x: Value, indices: Iterable[Any]) -> Value:
        """Returns a view of a tensor at indices in its first dimensions."""
        for i in indices:
            x = self._without(self._part(x, 0, i, 1), 0)
        return x

    def _indices(self, tensor: SymbolicTensor) -> np.ndarray:
        elements = self._value(tensor).elements
        if elements is None:
            raise Unsupported("many indices")
        return elements

    def gather(self, tensor: SymbolicTensor, places: SymbolicTensor, axis: Any, batch_dims: int) -> Value:
        """Takes parts of a tensor at indices in one dimension."""
        code, out = self._code, self.out
        x, indices, axis = code.in_memory(self._value(tensor)), self._indices(places), host_static(axis)
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

    def one_hot(self, places: SymbolicTensor, depth: Any, on: SymbolicTensor, off: SymbolicTensor, axis: int) -> Value:
        """Returns one value at each index of a new last dimension, and another elsewhere."""
        code, indices, depth = self._code, self._value(places), host_static(depth)
        if axis not in (-1, len(indices.shape)) or type(depth) is not int:
            raise Unsupported("another dimension")
        column = self._reshaped(code.in_memory(indices), (*indices.shape, 1))
        dtype = int64 if indices.dtype is int64 else int32  # 8 bits may not hold the depth
        numbers = torch.arange(depth, dtype=dtype.torch)
        row = code.at(code.address(("constant", numbers)), (depth,), dtype, True)
        return self._of_values(
            [column, row, self._value(on), self._value(off)],
            lambda b, i, j, x, y: b.select(b.equal(b.convert(i, dtype), j), x, y),
        )

    def gather_nd(self, tensor: SymbolicTensor, places: SymbolicTensor) -> Value:
        """Takes parts of a tensor at indices in its first dimensions."""
        code, x, indices = self._code, self._value(tensor), self._indices(places)
        result = code.buffer(tuple(self.out.shape.as_list()), x.dtype)
        for place in np.ndindex(indices.shape[:-1]):
            code.fill(self._at(result, place), self._at(x, indices[place]))
        return code.settled(result)

    def update(self, tensor: SymbolicTensor, places: SymbolicTensor, parts: SymbolicTensor) -> Value:
        """Writes parts of a tensor at indices."""
        code, x, indices, updates = self._code, self._value(tensor), self._indices(places), self._value(parts)
        result = code.copied(x)
        for place in np.ndindex(indices.shape[:-1]):
            code.fill(self._at(result, indices[place]), self._at(updates, place))
        return code.settled(result)

    def sum_segments(self, tensor: SymbolicTensor, places: SymbolicTensor) -> Value:
        """Adds parts of a tensor at indices in the first dimension of the result."""
        code, x, indices = self._code, self._value(tensor), self._indices(places)
        result = self._zeros(tuple(self.out.shape.as_list()), x.dtype)
        for place in np.ndindex(indices.shape):
            target = self._at(result, [indices[place]])
            code.fill(target, code.sum(target, self._at(x, place)))
        return code.settled(result)

    # ---- random numbers ------------------------------------------------------------------------------------------

    def _drawn(self, step: Step) -> Value:
        """Returns the random numbers of an iteration. They are drawn before the loop."""
        code, out = self._code, step.outputs[0]
        if self._count is None or (has_stream(step) and not self._always):
            raise Unsupported("nobody knows how many numbers to draw")
        pointer = code.address(("drawn", step))
        at = code.moved(pointer, code.b.mul(self._count, number(out.shape.num_elements())), out.dtype)
        return code.settled(code.at(at, tuple(out.shape.as_list()), out.dtype, False))

    def key_and_counter(self, seed: SymbolicTensor) -> list[Value]:
        """Returns the key and the counter of a seed."""
        code = self._code
        key, *counter = forms.key_and_counter(code.one, list(self._value(seed).elements.flat))
        rows = [np.array([None] * n) for n in (1, 2)]
        rows[0][0] = key
        rows[1][0], rows[1][1] = counter
        return [code.of_elements(row, uint64, self._ahead) for row in rows]

    def _numbers_of_stream(
        self, form: Callable[..., list[Element]], key: Any, counter: Any, alg: Any, dtype: DType
    ) -> Value:
        """Returns the random numbers of a key and a counter."""
        code, shape = self._code, tuple(self.out.shape.as_list())
        is_known = isinstance(key, SymbolicTensor) and isinstance(counter, SymbolicTensor)
        if not is_known or math.prod(shape) > _MOST_DRAWN or host_static(alg) not in (1, 3):
            raise Unsupported("many random numbers")
        elements = [e for t in (key, counter) for e in self._value(t).elements.flat]
        numbers = forms.draw_numbers(code.one, form, math.prod(shape), elements, dtype)
        places = np.arange(len(numbers)).reshape(shape)
        value = code.of_elements(filled(shape, lambda i: numbers[places[i]]), dtype, self._ahead)
        return value if value.size <= FEW else code.in_memory(value)

    # ---- lists ---------------------------------------------------------------------------------------------------

    def _place(self, entries: Entries, index: Any) -> Any:
        """Returns the address of an entry."""
        code = self._code
        if entries is UNRECORDED:
            raise Unsupported("entries that are not recorded")
        element = code.one.number(index, int64) if isinstance(index, int) else scalar(self._held(index))
        at = code.within(element, entries.length)
        return code.moved(entries.pointer, code.b.mul(at, number(math.prod(entries.shape))), entries.dtype)

    def item(self, handle: SymbolicTensor, index: Any) -> Value:
        """Returns an entry of a list."""
        code, out, entries = self._code, self.out, self._entries(handle)
        entries.tell(out)
        value = code.settled(code.at(self._place(entries, index), entries.shape, out.dtype, False))
        return code.copied(value) if value.elements is None and entries.may_change else value

    def with_item(self, handle: SymbolicTensor, index: Any, item: SymbolicTensor, resizes: bool) -> Held:
        """Returns a list after a change of an entry."""
        held = self._held(handle)
        if isinstance(held, Sparse):
            return Sparse((*held.written, (index, self._value(item))))
        if resizes and not self._code.is_gradient:
            raise Unsupported("a list that grows")
        return self._changed(entries_of(held), index, lambda _: self._value(item), item)

    def _changed(
        self, entries: Entries, index: Any, item: Callable[[Value], Value], tensor: SymbolicTensor | TensorSpec
    ) -> Version:
        """Returns a list after a change of an entry.

        Args:
            entries: the list.
            index: the place of the entry.
            item: returns the new entry, from the old one.
            tensor: a tensor with the entry's shape and dtype.
        """
        if not entries.may_change:
            raise Unsupported("a list that is used elsewhere")
        entries.tell(tensor)
        target = self._code.at(self._place(entries, index), entries.shape, entries.dtype, False)
        self._code.fill(target, item(target))
        entries.version, entries.changes = entries.version + 1, True
        return entries.last

    def _sum_of_lists(self, inputs: Sequence[SymbolicTensor]) -> Held:
        """Adds a sparse list to a list, or joins sparse lists."""
        lists = list(map(self._held, inputs))
        written = [pair for held in lists if isinstance(held, Sparse) for pair in held.written]
        others = [held for held in lists if not isinstance(held, Sparse)]
        if not others:
            return Sparse(tuple(written))
        if len(others) > 1:
            raise Unsupported("a sum of lists of many entries")
        entries = entries_of(others[0])
        for index, value in written:
            spec = TensorSpec(value.shape, value.dtype)
            self._changed(entries, index, functools.partial(_added_to, self._code, value), spec)
        return entries.last

    def length(self, handle: SymbolicTensor) -> Value:
        """Returns the number of entries of a list."""
        code, out = self._code, self.out
        length = code.one.convert(Element(self._entries(handle).length, int64), out.dtype)
        return code.of_elements(filled((), lambda _: length), out.dtype, False)

    def rows(self, tensor: SymbolicTensor) -> Version:
        """Returns the list of a tensor's rows, in new memory."""
        value = self._value(tensor)
        copy = self._code.copied(value)
        entries = Entries(copy.pointer, number(value.shape[0]), True)
        entries.tell(TensorSpec(value.shape[1:], value.dtype))
        return entries.last

    def new_list(self, element_shape: Any, num_elements: Any, dtype: DType) -> Held:
        """Returns a list of zeros."""
        code, shape, length = self._code, host_static(element_shape), host_static(num_elements)
        if type(length) is not int and code.is_gradient:
            return Sparse()
        if type(shape) is not tuple or type(length) is not int or min((length, *shape)) < 1:
            raise Unsupported("a list of unknown size")
        value = self._zeros((length, *shape), dtype)
        entries = Entries(value.pointer, number(length), True)
        entries.tell(TensorSpec(shape, dtype))
        return entries.last

    def stack(self, handle: SymbolicTensor) -> Value:
        """Returns the entries of a list as one tensor."""
        code, out, entries = self._code, self.out, self._entries(handle)
        shape = tuple(out.shape.as_list())
        entries.tell(TensorSpec(shape[1:], out.dtype))
        code.check(code.b.icmp_signed("==", entries.length, number(shape[0])))
        result = code.buffer(shape, out.dtype)
        code.fill(result, code.at(entries.pointer, shape, out.dtype, False))
        return code.settled(result)

    # ---- control -------------------------------------------------------------------------------------------------

    def _conditional(self, step: Step) -> list[Held]:
        """Returns the results of a conditional."""
        index, *operands = step.args
        held = {id(t): self._held(t) for t in operands}
        code, b, element = self._code, self._code.b, scalar(self._held(index))
        versions = {v.entries: v.number for v in held.values() if isinstance(v, Version)}
        shapes = [(None if t.dtype is variant else tuple(t.shape.as_list()), t.dtype) for t in step.outputs]
        variables = [None if shape is None else Variable(code, shape, dtype) for shape, dtype in shapes]
        lists: list[list[Entries]] = []
        latest, joined = dict(versions), code.new_block("joined")
        for i, (program, inputs) in enumerate(step.inner):
            is_last = i == len(step.programs) - 1
            if not is_last:
                chosen, following = code.new_block("branch"), code.new_block("else")
                test = element.value if element.dtype.is_bool else code.one.equal(element, i).value
                b.cbranch(test, chosen, following)
                b.position_at_end(chosen)
            for entries, version in versions.items():
                entries.version = version
            results = Steps(code, program, [held[id(t)] for t in inputs], self._count, always=False).outputs
            lists.append([entries_of(r) for r, variable in zip(results, variables, strict=True) if variable is None])
            for variable, result in zip(variables, results, strict=True):
                if variable is not None:
                    variable.store(result)
            latest = {entries: max(version, entries.version) for entries, version in latest.items()}
            b.branch(joined)
            if not is_last:
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
            limit = code.one.convert(scalar(held.pop(0)), int64).value
        variables: list[Variable | Entries] = []
        for value in held[: loop.count]:
            if isinstance(value, Value):
                variables.append(Variable(code, value.shape, value.dtype, first=value))
            else:
                variables.append(entries_of(value))
        if len(set(variables)) < len(variables):
            raise Unsupported("a list is carried twice")
        captured, (condition, program) = held[loop.count :], step.programs

        def iterate(state: list[Held], _: Any) -> list[Held]:
            return Steps(code, program, [*state, *(captured[i] for i in loop.places[1])]).outputs

        test = condition_of(code, condition, [captured[i] for i in loop.places[0]])
        write_loop(code, variables, test, iterate, limit)
        return [v.last if isinstance(v, Entries) else v.load() for v in variables]


def _added_to(code: Code, value: Value, entry: Value) -> Value:
    """Adds a tensor to an entry of a list."""
    return code.sum(entry, value)


def condition_of(code: Code, program: Program, captured: Sequence[Held]) -> Callable[[list[Held]], Any]:
    """Returns the function that writes the condition of a loop.

    Args:
        code: the code.
        program: the condition.
        captured: what it takes after the loop variables.
    """

    def test(state: list[Held]) -> Any:
        (condition,) = Steps(code, program, [*state, *captured]).outputs
        return scalar(condition).value

    return test


# ---- moves -----------------------------------------------------------------------------------------------------------


def strides_of(codes: np.ndarray) -> tuple[int, ...] | None:
    """Returns the strides of element numbers of one tensor, or of zeros; None if the numbers have no strides."""
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
    """Returns the source of a numbered element, and its place there."""
    return sources[first // _SOURCE - 1], first % _SOURCE - _SOURCE // 2


def pieces_of(codes: np.ndarray, begin: tuple[int, ...] = ()) -> Iterator[tuple[tuple[slice, ...], np.ndarray]]:
    """Divides element numbers into pieces with strides. Yields the place of each piece and its numbers.

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
