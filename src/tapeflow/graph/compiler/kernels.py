"""Loops over elements: one function of LLVM for a group of element-wise ops.

A kernel takes the sizes of its loops and the addresses of its inputs and outputs. Inputs are contiguous, and broadcast
along loops in which they do not vary. Large ranges are computed by torch's own OpenMP threads, which take chunks as
they finish others, so that a busy processor does not hold up the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import llvmlite.ir as ir

from tapeflow.core.ops.elements import Element
from tapeflow.core.types.dtypes import DType
from tapeflow.graph.compiler.loops import Operand
from tapeflow.graph.compiler.target import target
from tapeflow.graph.compiler.vectors import MEMORY, Vectors

_i1, _i8, _i32, _i64 = (ir.IntType(n) for n in (1, 8, 32, 64))
_pointer = ir.PointerType()
# About so many simple operations take as long as it takes to wake the other threads.
_WORK_OF_THREADS = 1 << 18
_CHUNKS_OF_THREAD = 4
_FLOAT_BYTES = {ir.HalfType(): 2, ir.FloatType(): 4, ir.DoubleType(): 8}

Compute = Callable[[Vectors, Sequence[Element]], Sequence[Element]]


def text(inputs: Sequence[Operand], outputs: Sequence[DType], loops: int, compute: Compute) -> str:
    """Returns the module of a kernel, in which `{name}` stands for its name.

    Args:
        inputs: the inputs.
        outputs: the dtypes of the outputs, which vary in all loops.
        loops: the number of loops, at least one.
        compute: computes the elements of the outputs from those of the inputs.
    """
    return _Kernel(inputs, outputs, loops, compute).text()


class _Kernel:
    """The functions of a kernel: `body` computes a range, `worker` the chunks of a thread, and `{name}` is called."""

    def __init__(self, inputs: Sequence[Operand], outputs: Sequence[DType], loops: int, compute: Compute) -> None:
        self._inputs, self._outputs, self._loops, self._compute = inputs, outputs, loops, compute
        self._module = ir.Module("kernel")
        dtypes = [*(i.dtype for i in inputs), *outputs]
        wide = any(MEMORY[d] in (ir.DoubleType(), _i64) for d in dtypes)
        self._lanes = max(target().lanes // (2 if wide else 1), 1)
        self._b = Vectors(self._module, self._lanes)
        self._count = loops + len(inputs) + len(outputs)
        self._next = self._count  # where the arguments hold the start of the next chunk, its size and the end

    def text(self) -> str:
        body = self._body()
        self._entry(body, self._worker(body))
        return str(self._module).replace('@"kernel"', '@"{name}"')

    def _function(self, name: str, *arguments: Any) -> tuple[Any, ir.IRBuilder]:
        function = ir.Function(self._module, ir.FunctionType(ir.VoidType(), arguments), name)
        function.linkage = "internal" if name != "kernel" else ""
        return function, ir.IRBuilder(function.append_basic_block("entry"))

    # ---- the range of a thread -----------------------------------------------------------------------------------

    def _body(self) -> Any:
        """Writes the function that computes a range: of elements for one loop, else of all but the inner loop."""
        function, b = self._function("body", _pointer, _i64, _i64)
        arguments, begin, end = function.args
        sizes = [self._argument(b, arguments, i) for i in range(self._loops)]
        pointers = [
            b.inttoptr(self._argument(b, arguments, self._loops + i), _pointer)
            for i in range(len(self._inputs) + len(self._outputs))
        ]
        ins, outs = pointers[: len(self._inputs)], pointers[len(self._inputs) :]
        if self._loops == 1:
            self._row(b, ins, outs, begin, end)
            b.ret_void()
            return function
        with _loop(b, begin, end, 1) as row:
            bases = [self._offset(b, pointer, i, row, sizes) for pointer, i in zip(ins, self._inputs, strict=True)]
            every = (True,) * self._loops
            results = [
                self._offset(b, pointer, Operand(dtype, every), row, sizes)
                for pointer, dtype in zip(outs, self._outputs, strict=True)
            ]
            self._row(b, bases, results, ir.Constant(_i64, 0), sizes[-1])
        b.ret_void()
        return function

    def _argument(self, b: ir.IRBuilder, arguments: Any, i: int) -> Any:
        return b.load(b.gep(arguments, [ir.Constant(_i64, i)], source_etype=_i64), typ=_i64)

    def _offset(self, b: ir.IRBuilder, pointer: Any, operand: Operand, row: Any, sizes: Sequence[Any]) -> Any:
        """Returns the address at which an operand begins in a row: a value of the outer loops' indices."""
        outer = operand.varies[:-1]
        if not any(outer):
            return pointer
        stride: Any = sizes[-1] if operand.varies[-1] else ir.Constant(_i64, 1)
        if all(outer):
            index = b.mul(row, stride)
        else:
            index, rest = ir.Constant(_i64, 0), row
            for size, varies in zip(sizes[-2::-1], outer[::-1], strict=True):
                if varies:
                    index = b.add(index, b.mul(b.urem(rest, size), stride))
                    stride = b.mul(stride, size)
                rest = b.udiv(rest, size)
        return b.gep(pointer, [index], source_etype=MEMORY[operand.dtype])

    def _row(self, b: ir.IRBuilder, ins: Sequence[Any], outs: Sequence[Any], begin: Any, end: Any) -> None:
        """Computes the inner loop: whole vectors, and then what is left, with a mask."""
        self._b.block = b
        broadcast = {
            i: self._b.loaded(self._b.splat(b.load(pointer, typ=MEMORY[operand.dtype])), operand.dtype)
            for i, (pointer, operand) in enumerate(zip(ins, self._inputs, strict=True))
            if not operand.varies[-1]
        }
        whole = b.sub(end, b.urem(b.sub(end, begin), ir.Constant(_i64, self._lanes)))
        with _loop(b, begin, whole, self._lanes) as i:
            self._vector(b, ins, outs, broadcast, i, None)
        if self._lanes == 1:
            return
        with b.if_then(b.icmp_unsigned("<", whole, end)):
            left = self._b.splat(b.trunc(b.sub(end, whole), _i32))
            numbers = ir.Constant(ir.VectorType(_i32, self._lanes), list(range(self._lanes)))
            self._vector(b, ins, outs, broadcast, whole, b.icmp_unsigned("<", numbers, left))

    def _vector(
        self, b: ir.IRBuilder, ins: Sequence[Any], outs: Sequence[Any], broadcast: dict[int, Element], i: Any, mask: Any
    ) -> None:
        """Computes one vector of elements, or those of it that a mask allows."""
        elements = [
            broadcast.get(n) or self._b.loaded(self._load(b, pointer, operand.dtype, i, mask), operand.dtype)
            for n, (pointer, operand) in enumerate(zip(ins, self._inputs, strict=True))
        ]
        for pointer, result in zip(outs, self._compute(self._b, elements), strict=True):
            self._store(b, self._b.stored(result), pointer, i, mask)

    def _load(self, b: ir.IRBuilder, pointer: Any, dtype: DType, i: Any, mask: Any) -> Any:
        number = MEMORY[dtype]
        kind = self._b.vector(number)
        at = b.gep(pointer, [i], source_etype=number)
        if mask is None:
            return b.load(at, typ=kind, align=dtype.size)
        load = self._masked("load", kind, kind, [_pointer, _i32, mask.type, kind])
        return b.call(load, [at, ir.Constant(_i32, dtype.size), mask, ir.Constant(kind, None)])

    def _store(self, b: ir.IRBuilder, value: Any, pointer: Any, i: Any, mask: Any) -> None:
        number = value.type if self._lanes == 1 else value.type.element
        at = b.gep(pointer, [i], source_etype=number)
        align = number.width // 8 if isinstance(number, ir.IntType) else _FLOAT_BYTES[number]
        if mask is None:
            b.store(value, at, align=align)
            return
        store = self._masked("store", value.type, ir.VoidType(), [value.type, _pointer, _i32, mask.type])
        b.call(store, [value, at, ir.Constant(_i32, align), mask])

    def _masked(self, what: str, kind: Any, result: Any, arguments: Sequence[Any]) -> Any:
        number = kind.element
        suffix = f"i{number.width}" if isinstance(number, ir.IntType) else {
            ir.HalfType(): "f16", ir.FloatType(): "f32", ir.DoubleType(): "f64"}[number]  # fmt: skip
        name = f"llvm.masked.{what}.v{kind.count}{suffix}.p0"
        return self._module.globals.get(name) or ir.Function(self._module, ir.FunctionType(result, arguments), name)

    # ---- threads -------------------------------------------------------------------------------------------------

    def _worker(self, body: Any) -> Any:
        """Writes the function that each thread runs: it takes chunks of the range until none is left."""
        function, b = self._function("worker", _pointer)
        (arguments,) = function.args
        start, size, end = (b.gep(arguments, [ir.Constant(_i64, self._next + i)], source_etype=_i64) for i in range(3))
        chunk, last = b.load(size, typ=_i64), b.load(end, typ=_i64)
        again, work, done = (function.append_basic_block(n) for n in ("again", "work", "done"))
        b.branch(again)
        b.position_at_end(again)
        begin = b.atomic_rmw("add", start, chunk, "monotonic")
        b.cbranch(b.icmp_signed("<", begin, last), work, done)
        b.position_at_end(work)
        stop = b.add(begin, chunk)
        b.call(body, [arguments, begin, b.select(b.icmp_signed("<", stop, last), stop, last)])
        b.branch(again)
        b.position_at_end(done)
        b.ret_void()
        return function

    def _entry(self, body: Any, worker: Any) -> None:
        """Writes the function that is called: with the address of the sizes, and one of each input and output."""
        function, b = self._function("kernel", *[_pointer] * (1 + len(self._inputs) + len(self._outputs)))
        sizes, *pointers = function.args
        arguments = b.alloca(_i64, ir.Constant(_i32, self._next + 3))
        outer, count = ir.Constant(_i64, 1), ir.Constant(_i64, 1)
        for i in range(self._loops):
            size = self._argument(b, sizes, i)
            b.store(size, b.gep(arguments, [ir.Constant(_i64, i)], source_etype=_i64))
            outer = count if i else outer
            count = b.mul(count, size)
        for i, pointer in enumerate(pointers):
            at = b.gep(arguments, [ir.Constant(_i64, self._loops + i)], source_etype=_i64)
            b.store(b.ptrtoint(pointer, _i64), at)
        end = count if self._loops == 1 else outer
        zero = ir.Constant(_i64, 0)
        if target().has("GOMP_parallel") and target().has("omp_get_max_threads"):
            least = ir.Constant(_i64, _WORK_OF_THREADS // self._cost())
            with b.if_then(b.icmp_signed(">=", count, least), likely=False):
                threads = self._declared("omp_get_max_threads", _i32, [])
                available = b.call(threads, [])
                with b.if_then(b.icmp_signed(">", available, ir.Constant(_i32, 1))):
                    parts = b.mul(b.zext(available, _i64), ir.Constant(_i64, _CHUNKS_OF_THREAD))
                    step = ir.Constant(_i64, 4 * self._lanes if self._loops == 1 else 1)
                    chunk = b.mul(b.add(b.udiv(b.udiv(end, parts), step), ir.Constant(_i64, 1)), step)
                    for i, value in enumerate((zero, chunk, end)):
                        at = b.gep(arguments, [ir.Constant(_i64, self._next + i)], source_etype=_i64)
                        b.store(value, at)
                    start = self._declared("GOMP_parallel", ir.VoidType(), [_pointer, _pointer, _i32, _i32])
                    b.call(start, [worker, arguments, available, ir.Constant(_i32, 0)])
                    b.ret_void()
                    b.position_at_end(function.append_basic_block("unreached"))
        b.call(body, [arguments, zero, end])
        b.ret_void()

    def _declared(self, name: str, result: Any, arguments: Sequence[Any]) -> Any:
        return ir.Function(self._module, ir.FunctionType(result, arguments), name)

    def _cost(self) -> int:
        """Returns about how many simple operations an element takes."""
        return 4


class _loop:
    """A loop from `begin` to `end` in steps, as a context whose value is the index."""

    def __init__(self, b: ir.IRBuilder, begin: Any, end: Any, step: int) -> None:
        self._b, self._begin, self._end, self._step = b, begin, end, step

    def __enter__(self) -> Any:
        b = self._b
        function = b.function
        before = b.block
        self._body, self._after = (function.append_basic_block(n) for n in ("loop", "after"))
        b.cbranch(b.icmp_signed("<", self._begin, self._end), self._body, self._after)
        b.position_at_end(self._body)
        self._index = b.phi(_i64)
        self._index.add_incoming(self._begin, before)
        return self._index

    def __exit__(self, *error: object) -> None:
        b = self._b
        following = b.add(self._index, ir.Constant(_i64, self._step))
        self._index.add_incoming(following, b.block)
        b.cbranch(b.icmp_signed("<", following, self._end), self._body, self._after)
        b.position_at_end(self._after)
