"""The LLVM IR of native loops: tensors in registers and in memory.

A tensor of few elements stays in registers. A larger tensor is an array in memory, computed by vectorized loops.
Loop-invariant code is placed ahead of the loop.
"""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import llvmlite.ir as ir
import numpy as np
import torch

from tapeflow.core.machine_code import target
from tapeflow.core.ops.elements import Element, Unsupported
from tapeflow.core.types.dtypes import DType, int64
from tapeflow.graph.compiler.expressions import COLUMN, ELEMENT, MOST_STACK, ROW, Recorder, record_passes, simplifies
from tapeflow.graph.compiler.instructions import (
    I1,
    I8,
    I32,
    I64,
    POINTER,
    allocated,
    declared,
    entry,
    load_entry,
    new_function,
    number,
    repeated,
    store_entry,
)
from tapeflow.graph.compiler.kernels import View, place_of, write_nest
from tapeflow.graph.compiler.loops import Operand, fewest_axes
from tapeflow.graph.compiler.products import write_tile
from tapeflow.graph.compiler.qualification import SMALL_PRODUCT
from tapeflow.graph.compiler.threads import has_threads, run_worker
from tapeflow.graph.compiler.vectors import MEMORY, Register, Vectors

# Returns the elements of results from the elements of operands.
Compute = Callable[[Recorder, Sequence[Element]], Sequence[Element]]

FEW = 16  # the most elements that are held in registers
_OF_STACK = 1 << 12  # bytes of a tensor: larger ones are in memory that the caller passes
_MOST_MEMORY = 1 << 26  # bytes
_MOST_PARTS = 4000  # elements in registers and blocks of instructions: they take time to compile
_ACCUMULATORS = {16: 16}  # vectors that a product keeps in registers, by the lanes of the processor
_OF_A_CALL = 32  # instructions: the assumed cost of a function of vectors
_OF_A_PART = 1 << 10  # contiguous elements that a thread computes at once
_OF_THREADS = 1 << 12  # elements: fewer are computed by one thread
_WORK_OF_THREADS = 1 << 15  # instructions that threads divide: for fewer, waking another one takes longer
_ERROR = 3  # the first of three entries of the table with an exception


@dataclasses.dataclass(eq=False)
class Value:
    """A tensor of the machine code, in registers or in memory.

    Attributes:
        shape, dtype: its shape and dtype.
        ahead: True if it is computed ahead of the loop.
        elements: an array of its elements, if they are in registers.
        pointer: the address of its first element, if it is in memory.
        strides: its strides in memory, in elements; 0 for a dimension of size 1.
        borrowed: True if the memory belongs to a loop variable, which changes with the next iteration.
    """

    shape: tuple[int, ...]
    dtype: DType
    ahead: bool
    elements: Any = None
    pointer: Any = None
    strides: tuple[int, ...] = ()
    borrowed: bool = False

    @property
    def size(self) -> int:
        """The number of its elements."""
        return math.prod(self.shape)

    @property
    def is_contiguous(self) -> bool:
        """True if its elements are contiguous in memory."""
        return self.strides == contiguous(self.shape)


def contiguous(shape: Sequence[int]) -> tuple[int, ...]:
    """Returns the strides of a contiguous tensor."""
    return tuple([0 if n == 1 else math.prod(shape[i + 1 :]) for i, n in enumerate(shape)])


def filled(shape: Sequence[int], element: Callable[[tuple[int, ...]], Any]) -> np.ndarray:
    """Returns an array of objects, each computed from its index."""
    array = np.empty(tuple(shape), object)
    for index in np.ndindex(array.shape):
        array[index] = element(index)
    return array


class Code:
    """The function of a native loop: it takes a table of integers and addresses.

    Attributes:
        b: the builder of instructions.
        one: the builder of single elements.
        table: descriptions of the table's entries.
        limit: the first entry, the maximal trip count.
        most: the most multiplications of a matrix product.
        has_threads: True if threads may divide its work.
        is_gradient: True if lists are gradients: a list of unknown length is then zeros.
        arguments: the address of the table.
    """

    def __init__(self, most: int, is_gradient: bool = False) -> None:
        self.most, self.is_gradient = most, is_gradient
        self.module = ir.Module("loop")
        self.function = ir.Function(self.module, ir.FunctionType(ir.VoidType(), [POINTER]), "kernel")
        (self.arguments,) = self.function.args
        self._entry, self._ahead, self._start, self._failed = (
            self.function.append_basic_block(name) for name in ("entry", "ahead", "start", "failed")
        )
        self._first_ahead, self._is_ahead = self._ahead, False
        self.b = ir.IRBuilder(self._start)
        self._lanes = target().lanes
        self.one, self._wide, self._vectors = (
            Vectors(self.module, n) for n in (1, max(self._lanes // 2, 1), self._lanes)
        )
        for vectors in (self.one, self._wide, self._vectors):
            vectors.block = self.b
        self.table: list[Any] = []
        self._bytes = self._bytes_of_row = self._size = self._repeated = 0
        self._memory: tuple[Any, int] | None = None  # its address, and its entry in the table
        self.limit, _, self._most_work = (self.entry((what,)) for what in ("limit", "status", "work"))
        self.table += [("error",)] * 3
        self.has_threads = self.most > SMALL_PRODUCT and has_threads()
        self._work = Register(self.one, int64, Element(self._most_work, int64))
        self._constants: dict[Any, Element] = {}
        self._functions: dict[Any, Any] = {}  # of parts that several places call, with their work

    def text(self) -> str:
        """Returns the module, with `{name}` for the name of the function."""
        ir.IRBuilder(self._entry).branch(self._first_ahead)
        ir.IRBuilder(self._ahead).branch(self._start)
        end = ir.IRBuilder(self._failed)
        store_entry(end, number(-1), self.arguments, 1)
        end.ret_void()
        return str(self.module).replace('@"kernel"', '@"{name}"')

    def entry(self, what: Any) -> Any:
        """Returns the value of a new entry of the table, an integer."""
        self.table.append(what)
        with self.placed(True):
            return load_entry(self.b, self.arguments, len(self.table) - 1)

    def address(self, what: Any) -> Any:
        """Returns the address in a new entry of the table."""
        value = self.entry(what)
        with self.placed(True):
            return self.b.inttoptr(value, POINTER)

    @contextlib.contextmanager
    def placed(self, ahead: bool) -> Iterator[None]:
        """Places instructions ahead of the loop if `ahead`, otherwise at the current position."""
        if not ahead or self._is_ahead:
            yield
            return
        block, self._is_ahead = self.b.block, True
        self.b.position_at_end(self._ahead)
        yield
        self._ahead, self._is_ahead = self.b.block, False
        self.b.position_at_end(block)

    # ---- control -------------------------------------------------------------------------------------------------

    def new_block(self, name: str) -> Any:
        """Returns a new block of instructions."""
        self._count()
        return self.function.append_basic_block(name)

    def _count(self, elements: int = 1) -> None:
        self._size += elements
        if self._size > _MOST_PARTS:
            raise Unsupported("an iteration is too long")

    @contextlib.contextmanager
    def repeated(self, count: int, step: int = 1) -> Iterator[Any]:
        """Repeats instructions for the indices 0, `step`, ... below a count, which is not 0."""
        self._count(2 * (count > step))  # blocks
        place = self.place()
        with repeated(self.b, 0, count, step) as index:
            yield index
        self._repeated += (-(-count // step) - 1) * self.work_since(place)

    @contextlib.contextmanager
    def divided(self, count: int, elements: int) -> Iterator[Any]:
        """Repeats instructions for the indices below a count, divided among threads if there are many.

        The instructions of different indices write to different memory, and check nothing.

        Args:
            count: the number of indices.
            elements: the number of elements that all of them compute.
        """
        may_divide = self.has_threads and count > 1 and elements >= _OF_THREADS
        if not may_divide:
            with self.repeated(count) as index:
                yield index
            return
        self._count(4)  # blocks
        names = sum(1 for f in self.module.functions if f.name.startswith("threads"))
        worker, first_builder = new_function(self.module, f"threads{names}", [POINTER])
        before = self.b.block, self.function, self._is_ahead, self._repeated
        self.function, self._is_ahead = worker, True  # all of it stays in the function
        start, body, end = first_builder.block, *(worker.append_basic_block(name) for name in ("body", "end"))
        b = self.b
        b.position_at_end(start)
        first, step = (b.zext(b.call(declared(self.module, f"omp_get_{what}", I32, []), []), I64)
                       for what in ("thread_num", "num_threads"))  # fmt: skip
        b.cbranch(b.icmp_signed("<", first, number(count)), body, end)
        b.position_at_end(body)
        index = b.phi(I64)
        index.add_incoming(first, start)
        place = self.place()
        yield index
        work = self.work_since(place) * count
        following = b.add(index, step)
        index.add_incoming(following, b.block)
        b.cbranch(b.icmp_signed("<", following, number(count)), body, end)
        b.position_at_end(end)
        b.ret_void()
        outside = _values_from_outside(worker)
        kind = ir.LiteralStructType([value.type for value in outside])
        b.position_before(start.terminator)
        for i, value in enumerate(outside):
            at = b.gep(worker.args[0], [ir.Constant(I32, 0), ir.Constant(I32, i)], source_etype=kind)
            loaded = b.load(at, typ=value.type)
            for instruction in (x for block in worker.blocks for x in block.instructions):
                instruction.replace_usage(value, loaded)
                if isinstance(instruction, ir.GEPInstr):  # it has its operands twice
                    instruction.pointer, *instruction.indices = instruction.operands
        block, self.function, self._is_ahead, self._repeated = before
        self._repeated += work
        b.position_at_end(block)
        with b.goto_entry_block():
            values = allocated(b, kind)
        for i, value in enumerate(outside):
            at = b.gep(values, [ir.Constant(I32, 0), ir.Constant(I32, i)], source_etype=kind)
            b.store(value, at)
        if work < _WORK_OF_THREADS:
            b.call(worker, [values])
            return
        run_worker(b, worker, values, lambda: b.call(worker, [values]))

    def place(self) -> tuple[Any, int, int, int]:
        """Returns the current place, for `work_since`."""
        return self.b.block, len(self.b.block.instructions), len(self.function.blocks), self._repeated

    def work_since(self, place: tuple[Any, int, int, int]) -> int:
        """Returns the number of instructions after a place. Loops of a variable trip count are counted once."""
        block, first, blocks, repeated = place
        written = [*block.instructions[first:], *(i for b in self.function.blocks[blocks:] for i in b.instructions)]
        calls = [i for i in written if i.opname == "call" and not i.callee.name.startswith("llvm.")]
        return len(written) + _OF_A_CALL * len(calls) + self._repeated - repeated

    def spend(self, work: int) -> None:
        """Counts instructions. After many, a signal that the program has received ends the function."""
        if not target().has("PyErr_CheckSignals"):
            return
        b = self.b
        self._work.store(Element(b.sub(self._work.load().value, number(work)), int64))
        with b.if_then(b.icmp_signed("<", self._work.load().value, number(0)), likely=False):
            self._work.store(Element(self._most_work, int64))
            zero = ir.Constant(I32, 0)
            self.check(b.icmp_signed("==", b.call(self._signals(), [self.arguments]), zero))

    def _signals(self) -> Any:
        """Returns the function that runs Python's signal handlers. It stores the exception that one raises."""
        if "signals" in self.module.globals:
            return self.module.globals["signals"]
        function, b = new_function(self.module, "signals", [POINTER], I32)
        held = b.call(declared(self.module, "PyGILState_Ensure", I32, []), [])
        result = b.call(declared(self.module, "PyErr_CheckSignals", I32, []), [])
        with b.if_then(b.icmp_signed("!=", result, ir.Constant(I32, 0)), likely=False):
            fetch = declared(self.module, "PyErr_Fetch", ir.VoidType(), [POINTER] * 3)
            b.call(fetch, [entry(b, function.args[0], _ERROR + i) for i in range(3)])
        b.call(declared(self.module, "PyGILState_Release", ir.VoidType(), [I32]), [held])
        b.ret(result)
        return function

    def check(self, condition: Any) -> None:
        """Ends the function as failed if a condition does not hold."""
        after = self.new_block("checked")
        self.b.cbranch(condition, after, self._failed)
        self.b.position_at_end(after)

    def within(self, index: Element, size: Any, wraps: bool = False) -> Any:
        """Returns an index as an integer of 64 bits, and checks that it is in [0, size).

        Args:
            index: the index.
            size: the size, an integer of 64 bits. No index is valid if it is 0 or negative.
            wraps: True if a negative index counts from the end.
        """
        b = self.b
        value = self.one.convert(index, int64).value
        if wraps:
            value = b.select(b.icmp_signed("<", value, number(0)), b.add(value, size), value)
        self.check(b.and_(b.icmp_signed(">=", value, number(0)), b.icmp_signed("<", value, size)))
        return value

    # ---- memory --------------------------------------------------------------------------------------------------

    def buffer(self, shape: tuple[int, ...], dtype: DType, ahead: bool = False) -> Value:
        """Returns a tensor in new memory."""
        size = math.prod(shape)
        if size * dtype.size > _OF_STACK:
            return self.at(self._part_of_memory(size * dtype.size), shape, dtype, ahead)
        self._use_stack(size * dtype.size)
        with self.b.goto_entry_block():
            pointer = allocated(self.b, ir.ArrayType(MEMORY[dtype], size))
        pointer.align = 64
        return self.at(pointer, shape, dtype, ahead)

    def _part_of_memory(self, size: int) -> Any:
        """Returns the address of a part of the caller's memory.

        Args:
            size: its size, in bytes.
        """
        if self._memory is None:
            self._memory = self.address(("memory", 0)), len(self.table) - 1
        base, entry = self._memory
        place = self.table[entry][1]
        self.table[entry] = "memory", place + -(-size // 64) * 64
        if self.table[entry][1] > _MOST_MEMORY:
            raise Unsupported("the loop needs too much memory")
        with self.placed(True):
            return self.b.gep(base, [number(place)], source_etype=I8)

    def _use_stack(self, size: int, of_row: int = 0) -> None:
        """Counts bytes of the stack.

        Args:
            size: the bytes of a tensor.
            of_row: the bytes that a function of rows uses while it runs.

        Raises:
            Unsupported: they are too many.
        """
        self._bytes += size
        self._bytes_of_row = max(self._bytes_of_row, of_row)
        if self._bytes + self._bytes_of_row > MOST_STACK:
            raise Unsupported("the loop needs too much memory")

    def at(self, pointer: Any, shape: tuple[int, ...], dtype: DType, ahead: bool, borrowed: bool = False) -> Value:
        """Returns a contiguous tensor at an address."""
        return Value(shape, dtype, ahead, pointer=pointer, strides=contiguous(shape), borrowed=borrowed)

    def moved(self, pointer: Any, offset: Any, dtype: DType) -> Any:
        """Returns the address of the element at an offset."""
        return self.one.moved(pointer, offset, dtype)

    def of_elements(self, elements: np.ndarray, dtype: DType, ahead: bool) -> Value:
        """Returns a tensor in registers."""
        self._count(elements.size)
        return Value(elements.shape, dtype, ahead, elements=elements)

    def element(self, value: Value, index: list[Any]) -> Element:
        """Returns an element of a tensor in memory."""
        return self.one.load_one(self._place(value, index), value.dtype)

    def _place(self, value: Value, index: list[Any]) -> Any:
        """Returns the address of an element."""
        offset: Any = number(0)
        for i, stride in zip(index[len(index) - len(value.shape) :], value.strides, strict=True):
            if stride:
                offset = self.b.add(offset, i if stride == 1 else self.b.mul(i, number(stride)))
        return self.moved(value.pointer, offset, value.dtype)

    def settled(self, value: Value) -> Value:
        """Returns a tensor in registers if it has few elements."""
        if value.elements is not None or value.size > FEW:
            return value
        with self.placed(value.ahead):
            elements = filled(value.shape, lambda i: self.element(value, [number(j) for j in i]))
        return self.of_elements(elements, value.dtype, value.ahead)

    def in_memory(self, value: Value) -> Value:
        """Returns a tensor in memory."""
        if value.pointer is not None:
            return value if value.elements is None else dataclasses.replace(value, elements=None)
        with self.placed(value.ahead):
            result = self.buffer(value.shape, value.dtype, value.ahead)
            self.fill(result, value)
        if value.ahead:  # the memory is available wherever the tensor is
            value.pointer, value.strides = result.pointer, result.strides
        return result

    def copied(self, value: Value) -> Value:
        """Returns a tensor in new memory."""
        result = self.buffer(value.shape, value.dtype)
        self.fill(result, value)
        return result

    def zeros(self, shape: tuple[int, ...], dtype: DType) -> Value:
        """Returns zeros."""
        zero = filled((), lambda _: self.one.number(0, dtype))
        if math.prod(shape) <= FEW:
            return self.of_elements(np.broadcast_to(zero, shape), dtype, True)
        with self.placed(True):
            result = self.buffer(shape, dtype, True)
            self.fill(result, self.of_elements(zero, dtype, True))
        return result

    def sum(self, x: Value, y: Value) -> Value:
        """Returns the sum of two tensors of one shape. In memory, it replaces the first one."""
        check_broadcast(y, x.shape)
        if x.elements is not None:
            y = self.settled(y)
            pairs = filled(x.shape, lambda i: self.one.rounded(self.one.add(x.elements[i], y.elements[i])))
            return self.of_elements(pairs, x.dtype, False)
        self.nest([x], [x, y], lambda b, elements: [b.rounded(b.add(*elements))])
        return x

    def fill(self, result: Value, value: Value) -> None:
        """Stores a tensor in the memory of another one, of the same shape."""
        check_broadcast(value, result.shape)
        if value.elements is not None and value.size > 1:
            for index in np.ndindex(value.shape):
                self.one.store(value.elements[index], self._place(result, [number(i) for i in index]))
        elif value.pointer is not result.pointer or value.strides != result.strides:
            self.nest([result], [value], lambda b, elements: elements)

    # ---- nests ---------------------------------------------------------------------------------------------------

    def nest(
        self, results: Sequence[Value], operands: Sequence[Value], compute: Compute, shape: tuple[int, ...] = (),
        kinds: Sequence[str] = (), rows: bool = False,
    ) -> None:  # fmt: skip
        """Computes elements of tensors in memory from elements of operands, in the fewest loops over a shape.

        Args:
            results: the tensors.
            operands: the operands. They broadcast to the shape.
            compute: returns the elements of the results, as for `record_passes`.
            shape: the shape; by default that of the first result.
            kinds, rows: see `Passes`. By default, all results have the shape.

        Raises:
            Unsupported: a shape or dtype does not qualify.
        """
        shape, kinds = shape or results[0].shape, kinds or [ELEMENT] * len(results)
        for x in operands:
            check_broadcast(x, shape)
        operands = [x if x.elements is not None and x.size == 1 else self.in_memory(x) for x in operands]
        strides = [_strides_along(x, shape) for x in operands]
        for x, kind in zip(results, kinds, strict=True):
            if kind == ELEMENT:
                strides.append(x.strides)
            elif kind == ROW:
                strides.append((*(x.strides if len(x.shape) < len(shape) else x.strides[:-1]), 0))
            else:
                combined = len(shape) - max(len(x.shape), 1)
                strides.append((*x.strides[:-1], *[0] * combined, x.strides[-1]))
        sizes, strides = fewest_axes(shape, strides, rows)
        count = len(operands)
        inner = [s[-1] for s in strides]
        of_operands = [Operand(x.dtype, (bool(s),)) for x, s in zip(operands, inner, strict=False)]
        passes = record_passes(
            of_operands, lambda b, elements: compute(b, list(map(_with_constant, operands, elements))), kinds, rows
        )
        for x, node in zip(results, passes.outputs, strict=True):
            if node.dtype is not x.dtype:
                raise Unsupported(f"an element form gives {node.dtype.name}, not {x.dtype.name}")
        temporary = [*passes.kept, *passes.totals]
        self._use_stack(0, (sizes[-1] + self._lanes) * sum(max(node.dtype.size, 4) for node in temporary))
        work, divides = math.prod(sizes), self.has_threads and not passes.totals
        if divides and len(sizes) == 1 and sizes[0] % _OF_A_PART == 0 and not rows:
            sizes, strides = [sizes[0] // _OF_A_PART, _OF_A_PART], [(s[0] * _OF_A_PART, s[0]) for s in strides]
        tensors = [*operands, *results]
        vectors = self.vectors(*[x.dtype for x in tensors])
        numbers = [self.constant(value, dtype) for dtype, value in passes.constants]
        outside = 1 if divides and len(sizes) > 1 and work >= _OF_THREADS else 0
        with contextlib.ExitStack() as stack:
            at = [stack.enter_context(self.divided(n, work)) for n in sizes[:outside]]
            places = [place_of(self.one, View(_source_of(x), s, x.dtype), at)
                      for x, s in zip(tensors, strides, strict=True)]  # fmt: skip
            own = [s[outside:] for s in strides]

            def write(*arguments: Any) -> None:
                views = [View(Element(a, x.dtype) if isinstance(p, Element) else a, s, x.dtype)
                         for a, p, s, x in zip(arguments, places, own, tensors, strict=False)]  # fmt: skip
                write_nest(passes, vectors, sizes[outside:], views[:count], views[count:], arguments[len(views) :],
                           self._counted)  # fmt: skip

            arguments = [p.value if isinstance(p, Element) else p for p in (*places, *numbers)]
            kinds_of = [(x.dtype, str(a.type)) for x, a in zip(tensors, arguments, strict=False)]
            self._call((passes.signature(), repr(sizes[outside:]), repr(own), *kinds_of), arguments, write)

    @contextlib.contextmanager
    def _counted(self, b: ir.IRBuilder, begin: int, end: int, step: int = 1) -> Iterator[Any]:
        """Writes a loop over a static range, and counts its instructions."""
        place = self.place()
        with repeated(b, begin, end, step) as index:
            yield index
        self._repeated += (-(-(end - begin) // step) - 1) * self.work_since(place)

    def constant(self, value: Any, dtype: DType) -> Element:
        """Returns a constant. Functions that differ in such numbers alone share their code."""
        if simplifies(value, dtype):
            return self.one.number(value, dtype)
        key = repr(value), dtype
        if key not in self._constants:
            with self.placed(True):
                place = self.address(("constant", torch.tensor(value, dtype=dtype.torch)))
                loaded = self.element(self.at(place, (), dtype, True), [])
            self._constants[key] = Element(loaded.value, dtype, value)
        return self._constants[key]

    def vectors(self, *dtypes: DType) -> Vectors:
        """Returns the builder of vectors for elements of some dtypes."""
        return self._wide if any(dtype.size == 8 for dtype in dtypes) else self._vectors

    # ---- reductions ----------------------------------------------------------------------------------------------

    def reduced(self, value: Value, axes: Sequence[int], form: Callable[..., Element], ahead: bool) -> Value:
        """Returns a reduction of a tensor in memory, without the reduced dimensions.

        Args:
            value: the tensor.
            axes: the dimensions that are reduced.
            form: the form of the reduction.
            ahead: True to compute it ahead of the loop.
        """
        value = self.in_memory(value)
        kept = [i for i in range(len(value.shape)) if i not in axes]
        shape = tuple([value.shape[i] for i in kept])
        result = self.buffer(shape, value.dtype, ahead)
        last = value.strides[axes[-1]]
        is_row = last == 1 and value.shape[axes[-1]] >= self.vectors(value.dtype).lanes
        if kept and not is_row:  # totals over rows of the last dimension that is kept, for each index of the others
            view, target = _permuted(value, [*kept[:-1], *axes, kept[-1]]), result
            if _is_row(*([x[i] for i in kept] for x in (value.shape, value.strides))):
                view, target = _joined(_permuted(value, [*axes, *kept]), len(axes)), _joined(result, 0)
            self.nest([target], [view], lambda b, x: [b.rounded(form(b.over_rows(), x[0]))], view.shape, [COLUMN], True)
            return self.settled(result)
        view = _permuted(value, [*kept, *axes])
        if not _is_row(view.shape[len(kept) :], view.strides[len(kept) :]):
            view = self.copied(view)
        view = _joined(view, len(kept))
        self.nest([result], [view], lambda b, x: [b.rounded(form(b, x[0]))], view.shape, [ROW], rows=True)
        return self.settled(result)

    # ---- products ------------------------------------------------------------------------------------------------

    def product(self, a: Value, b: Value, dtype: DType, ahead: bool) -> Value:
        """Returns the product of matrices, in memory. Dimensions before the last two broadcast.

        Vectors go along the columns, or along the rows of the transposed product, whichever has contiguous elements.
        """
        a, b = self.in_memory(a), self.in_memory(b)
        outer = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
        result = self.buffer((*outer, a.shape[-2], b.shape[-1]), dtype, ahead)
        sides = [(b, False), (transposed(a), True)]
        costs = [self._cost(right, result) for right, _ in sides]
        right, is_swapped = sides[costs.index(min(costs))]
        left = transposed(b) if is_swapped else a
        if is_swapped:
            inner = contiguous(result.shape[:-3:-1])[::-1]
            result.strides = (*result.strides[:-2], *inner)
        if right.strides[-1] != 1 and right.shape[-1] > 1:
            with self.placed(right.ahead):
                packed = self.buffer(right.shape, right.dtype, right.ahead)
                self.fill(packed, right)
            right = packed
        with contextlib.ExitStack() as stack:
            at = [stack.enter_context(self.repeated(n)) for n in outer]
            matrices = [_matrix(m) for m in (left, right, transposed(result) if is_swapped else result)]
            pointers = [self._place(outside, at) for outside, _ in matrices]
            inside = [m for _, m in matrices]

            def multiply(*pointers: Any) -> None:
                self._multiply(*[dataclasses.replace(m, pointer=p) for m, p in zip(inside, pointers, strict=True)])

            self._call(tuple([(m.shape, m.strides, m.dtype) for m in inside]), pointers, multiply)
        return self.settled(result)

    def _call(self, key: Any, pointers: Sequence[Any], write: Callable[..., None]) -> None:
        """Calls an internal function. Calls with equal keys share it.

        Args:
            key: determines the function.
            pointers: the arguments, addresses or numbers.
            write: writes the function's instructions, from its arguments.
        """
        if key not in self._functions:
            kinds = [p.type for p in pointers]
            function, start = new_function(self.module, f"part{len(self._functions)}", kinds)
            function.attributes.add("noinline")
            before = self.b.block, self.function, self._is_ahead, self._repeated
            self.function, self._is_ahead = function, True  # all of it stays in the function
            self.b.position_at_end(start.block)
            place = self.place()
            write(*function.args)
            self._functions[key] = function, self.work_since(place)
            self.b.ret_void()
            block, self.function, self._is_ahead, self._repeated = before
            self.b.position_at_end(block)
        function, work = self._functions[key]
        self._repeated += work
        self.b.call(function, pointers)

    def _cost(self, right: Value, result: Value) -> float:
        """Returns the time that a product takes with vectors along the rows of its right factor, in vectors."""
        inner, columns = right.shape[-2:]
        vectors = -(-columns // self.vectors(result.dtype).lanes)
        copied = 0 if right.strides[1] == 1 or right.ahead else 2 * right.size
        return inner * vectors * result.size / columns + copied

    def _multiply(self, a: Value, b: Value, result: Value) -> None:
        """Stores a product, in blocks of rows and of vectors along the columns. A block's sums stay in registers."""
        rows, columns = result.shape
        accumulators = _ACCUMULATORS.get(self._lanes, 12)
        vectors = self.vectors(result.dtype)
        count, rest = divmod(columns, vectors.lanes)
        mask = ir.Constant(vectors.vector(I1), [lane < rest for lane in range(vectors.lanes)]) if rest else None
        blocks = [(*block, None) for block in _blocks(count, accumulators if rows == 1 else 4)]
        for first, times, wide, masked in [*blocks, *([(count, 1, 1, mask)] if rest else [])]:
            with self.divided(times, result.size * a.shape[1]) as i:
                start = number(first * vectors.lanes)
                column = self.b.add(start, self.b.mul(i, number(wide * vectors.lanes)))
                for top, repeats, height in _blocks(rows, max(accumulators // wide, 1)):
                    with self.repeated(repeats) as j:
                        row = self.b.add(number(top), self.b.mul(j, number(height)))
                        self._multiply_block(vectors, (a, b, result), (row, height), (column, wide), masked)

    def _multiply_block(
        self, vectors: Vectors, matrices: tuple[Value, Value, Value], rows: tuple[Any, int], columns: tuple[Any, int],
        mask: Any,
    ) -> None:  # fmt: skip
        a, b, result = matrices
        at_row, at_column = (
            [self.b.add(first, number(i * step)) for i in range(count)]
            for (first, count), step in ((rows, 1), (columns, vectors.lanes))
        )

        def load_left(k: Any, i: int) -> Element:
            single = self.element(a, [at_row[i], k])
            return Element(vectors.splat(single.value), single.dtype)

        def load_right(k: Any, j: int) -> Element:
            return vectors.load(self._place(b, [k, at_column[j]]), b.dtype, mask)

        size = len(at_row), len(at_column)
        sums = write_tile(vectors, result.dtype, size, self.repeated(a.shape[1]), load_left, load_right)
        for i, of_row in zip(at_row, sums, strict=True):
            for j, total in zip(at_column, of_row, strict=True):
                vectors.store(vectors.rounded(total.load()), self._place(result, [i, j]), mask)


def check_broadcast(value: Value, shape: tuple[int, ...]) -> None:
    """Checks that a tensor can be broadcast to a shape.

    Raises:
        Unsupported: it can't: a static shape of the graph is wrong.
    """
    padded = (1,) * (len(shape) - len(value.shape)) + value.shape
    if len(padded) != len(shape) or any(n not in (1, size) for n, size in zip(padded, shape, strict=True)):
        raise Unsupported("a tensor has another shape than in the graph")


def _blocks(count: int, most: int) -> list[tuple[int, int, int]]:
    """Divides a number of rows into blocks: the first row, the number of equal blocks, and the rows of one."""
    whole = count - count % most
    return [b for b in ((0, whole // most, most), (whole, 1, count - whole)) if b[1] and b[2]]


def _strides_along(value: Value, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Returns the strides of a tensor along the axes of a shape that it broadcasts to."""
    return (*[0] * (len(shape) - len(value.shape)), *(value.strides or [0] * len(value.shape)))


def _permuted(value: Value, order: Sequence[int]) -> Value:
    """Returns a view of a tensor in memory with its dimensions in another order."""
    shape, strides = (tuple([x[i] for i in order]) for x in (value.shape, value.strides))
    return dataclasses.replace(value, shape=shape, strides=strides)


def _joined(value: Value, first: int) -> Value:
    """Returns a view of a tensor in memory with one dimension for the last ones, whose elements are equally far apart.

    Args:
        value: the tensor.
        first: the first of the dimensions.
    """
    pairs = list(zip(value.shape, value.strides, strict=True))[first:]
    step = next((s for n, s in reversed(pairs) if n > 1), 0)
    shape = (*value.shape[:first], math.prod(value.shape[first:]))
    return dataclasses.replace(value, shape=shape, strides=(*value.strides[:first], step))


def _is_row(shape: Sequence[int], strides: Sequence[int]) -> bool:
    """Returns True if the elements of dimensions are equally far apart."""
    pairs = [(n, s) for n, s in zip(shape, strides, strict=True) if n > 1]
    return all(s == n * inner for (_, s), (n, inner) in itertools.pairwise(pairs))


def _with_constant(value: Value, element: Element) -> Element:
    """Returns an element of an operand, with its value if that is static."""
    known = value.elements.item() if value.elements is not None and value.size == 1 else None
    return element if known is None or known.constant is None else Element(element.value, element.dtype, known.constant)


def _source_of(value: Value) -> Any:
    """Returns the element of a tensor in registers, or the address of a tensor in memory."""
    return value.pointer if value.elements is None else value.elements.item()


def transposed(value: Value) -> Value:
    """Returns a view of matrices in memory with their two dimensions, the last ones, exchanged."""
    shape, strides = ((*v[:-2], v[-1], v[-2]) for v in (value.shape, value.strides))
    return dataclasses.replace(value, shape=shape, strides=strides)


def _matrix(value: Value) -> tuple[Value, Value]:
    """Divides a tensor in memory into its outer dimensions and its last two, a matrix."""
    parts = [dataclasses.replace(value, shape=value.shape[i], strides=value.strides[i])
             for i in (slice(None, -2), slice(-2, None))]  # fmt: skip
    return parts[0], parts[1]


def _values_from_outside(function: ir.Function) -> list[Any]:
    """Returns the values of another function that a function's instructions use."""
    values: dict[int, Any] = {}
    for block in function.blocks:
        for instruction in block.instructions:
            for value in instruction.operands:
                is_local = isinstance(value, (ir.Argument, ir.Instruction))
                place = value.parent if isinstance(value, ir.Argument) else getattr(value, "function", None)
                if is_local and place is not function:
                    values[id(value)] = value
    return list(values.values())


class Row(list):
    """The elements in registers that a reduction combines."""

    @property
    def dtype(self) -> DType:
        """Their dtype."""
        return self[0].dtype


class Few:
    """A builder for the forms of reductions of elements in registers.

    Args:
        b: the builder of the elements.
        count: the number of elements.
    """

    def __init__(self, b: Vectors, count: int) -> None:
        self._b, self._count = b, count

    def __getattr__(self, name: str) -> Any:
        return getattr(self._b, name)

    def length(self, dtype: DType) -> Element:
        """Returns the number of elements."""
        return self._b.number(self._count, dtype)

    def reduce(self, name: str, row: Sequence[Element]) -> Element:
        """Returns the elements, combined in pairs."""
        return self._b.combined(name, row)
