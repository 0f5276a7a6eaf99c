"""Kernels: one LLVM function with loops over elements for a group of element-wise ops.

A kernel takes the sizes of its loops and the addresses of its inputs and outputs. Inputs are contiguous, and broadcast
along loops that they do not vary with. Torch's OpenMP threads compute large ranges. Each thread takes the next chunk
when it has finished one, so a busy processor does not delay the others.

Totals over rows are summed for each chunk of rows, and then over the chunks in order. The chunk size depends only on
the tensor sizes, so the sums have the same bits for any number of threads.

Random words depend only on their positions. A range first writes the words of its next elements to the stack, in whole
blocks.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import llvmlite.ir as ir

from tapeflow.core.ops.elements import Element
from tapeflow.core.rng.elements import block_at, joined
from tapeflow.core.types.dtypes import DType, uint64
from tapeflow.graph.compiler.expressions import COLUMN, ELEMENT, ROW, Node, Passes, emitted
from tapeflow.graph.compiler.loops import Operand
from tapeflow.graph.compiler.target import target
from tapeflow.graph.compiler.vectors import MEMORY, Vectors

_i1, _i8, _i32, _i64 = (ir.IntType(n) for n in (1, 8, 32, 64))
_pointer = ir.PointerType()
# Elements: for fewer, waking other threads takes longer than computing them.
_LEAST_OF_THREADS = 1 << 16
_CHUNKS_OF_THREAD = 4
_BYTES = 8  # of a total, whatever its dtype
# A pass with few values combines vectors of this many elements pairwise before adding them to its sums. The sum of up
# to twice as many equal numbers is then exact. So, as in TensorFlow, a normalization of equal numbers gives zeros.
_BLOCK = 64
_FEW_VALUES = 4
_WORDS = 1 << 11  # random words that are computed at once: they fit into the level 1 cache
_FLOAT_BYTES = {ir.HalfType(): 2, ir.FloatType(): 4, ir.DoubleType(): 8}


def text(inputs: Sequence[Operand], passes: Passes, loops: int) -> str:
    """Returns the module of a kernel, with `{name}` for its name.

    Args:
        inputs: the inputs.
        passes: its passes.
        loops: the number of loops, at least one. If there are rows, the last loop goes through a row.
    """
    return _Kernel(inputs, passes, loops).text()


class _Kernel:
    """The functions of a kernel: `body` computes a range, `worker` the chunks of a thread, and `{name}` is called."""

    def __init__(self, inputs: Sequence[Operand], passes: Passes, loops: int) -> None:
        self._inputs, self._passes, self._loops = inputs, passes, loops
        self._outputs, self._rows = passes.outputs, passes.rows
        outputs = passes.outputs
        self._module = ir.Module("kernel")
        streams = {i for node in passes.words for i in node.extra}
        dtypes = [*(operand.dtype for i, operand in enumerate(inputs) if i not in streams), *(o.dtype for o in outputs)]
        wide = any(MEMORY[d] in (ir.DoubleType(), _i64) for d in dtypes)
        self._lanes = max(target().lanes // (2 if wide else 1), 1)
        self._b = Vectors(self._module, self._lanes)
        self._one = Vectors(self._module, 1)
        pointers = len(inputs) + len(outputs) + bool(passes.totals)  # the last one is the memory for totals
        self._pointers = pointers
        self._next = loops + pointers  # from here: the next chunk's start, size, the end
        self._fill = _written_words(self._module) if passes.words else None

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
        ins, outs, totals = self._addresses(b, arguments)
        if self._loops == 1 and not self._rows:
            words = self._words(b, ins, ir.Constant(_i64, _WORDS), end)
            if words:
                with _loop(b, begin, end, _WORDS) as loop:
                    stop = b.add(loop.index, ir.Constant(_i64, _WORDS))
                    stop = b.select(b.icmp_signed("<", stop, end), stop, end)
                    back = b.neg(loop.index)
                    at = {
                        node: b.gep(w.at(b, loop.index, stop), [back], source_etype=_i32) for node, w in words.items()
                    }
                    _Row(self, b, ins, outs, loop.index, stop, {}, words=at).write()
            else:
                _Row(self, b, ins, outs, begin, end, {}).write()
            b.ret_void()
            return function
        words = self._words(b, ins, sizes[-1], b.mul(end, sizes[-1]))
        room = b.add(sizes[-1], ir.Constant(_i64, self._lanes))
        kept = {
            node: b.inttoptr(b.ptrtoint(b.alloca(self._b.number_type(node.dtype), room), _i64), _pointer)
            for node in self._passes.kept
        }
        partial = self._partial(b, arguments, totals, begin, sizes[-1])
        for node, pointer in partial.items():
            _Row(self, b, [], [], ir.Constant(_i64, 0), sizes[-1], {}).begin_total(node, pointer)
        with _loop(b, begin, end, 1) as loop:
            row = loop.index
            starts = [self._offset(b, pointer, i, row, sizes) for pointer, i in zip(ins, self._inputs, strict=True)]
            results = []
            for pointer, node, kind in zip(outs, self._outputs, self._passes.kinds, strict=True):
                varies = (*[kind != COLUMN] * (self._loops - 1), kind == ELEMENT)
                results.append(self._offset(b, pointer, Operand(node.dtype, varies), row, sizes))
            first = b.mul(row, sizes[-1])
            at = {node: w.at(b, first, b.add(first, sizes[-1])) for node, w in words.items()}
            _Row(self, b, starts, results, ir.Constant(_i64, 0), sizes[-1], kept, partial, at).write()
        b.ret_void()
        return function

    def _words(self, b: ir.IRBuilder, ins: Sequence[Any], count: Any, end: Any) -> dict[Node, _Words]:
        """Returns memory for random words.

        Args:
            b: the builder.
            ins: the addresses of the inputs.
            count: the number of words that are needed at once.
            end: the end of the range, in elements.
        """
        return {node: _Words(b, self._fill, [ins[i] for i in node.extra], count, end) for node in self._passes.words}

    def _addresses(self, b: ir.IRBuilder, arguments: Any) -> tuple[list[Any], list[Any], Any]:
        """Returns the addresses of the inputs, of the outputs, and of the memory for totals."""
        places = range(self._loops, self._loops + self._pointers)
        pointers = [b.inttoptr(self._argument(b, arguments, i), _pointer) for i in places]
        first, last = len(self._inputs), len(self._inputs) + len(self._outputs)
        return pointers[:first], pointers[first:last], pointers[-1]

    def _partial(self, b: ir.IRBuilder, arguments: Any, memory: Any, begin: Any, columns: Any) -> dict[Node, Any]:
        """Returns the address of a chunk's partial sums, for each total."""
        if not self._passes.totals:
            return {}
        size, end = (self._argument(b, arguments, self._next + i) for i in (1, 2))
        one = ir.Constant(_i64, 1)
        chunks = b.udiv(b.sub(b.add(end, size), one), size)
        length = b.mul(self._padded(b, columns), ir.Constant(_i64, _BYTES))
        result = {}
        for i, node in enumerate(self._passes.totals):
            place = b.add(b.mul(ir.Constant(_i64, i), chunks), b.udiv(begin, size))
            result[node] = b.gep(memory, [b.mul(place, length)], source_etype=_i8)
        return result

    def _padded(self, b: ir.IRBuilder, columns: Any) -> Any:
        """Returns a number of columns, rounded up to whole vectors."""
        lanes = ir.Constant(_i64, self._lanes)
        return b.mul(b.udiv(b.add(columns, ir.Constant(_i64, self._lanes - 1)), lanes), lanes)

    def _argument(self, b: ir.IRBuilder, arguments: Any, i: int) -> Any:
        return b.load(b.gep(arguments, [ir.Constant(_i64, i)], source_etype=_i64), typ=_i64)

    def _offset(self, b: ir.IRBuilder, pointer: Any, operand: Operand, row: Any, sizes: Sequence[Any]) -> Any:
        """Returns the address of an operand's first element in a row, from the outer loops' indices."""
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
        """Writes the entry point: it takes the address of the sizes, and of each input and output."""
        function, b = self._function("kernel", *[_pointer] * (1 + self._pointers))
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
        end = count if self._loops == 1 and not self._rows else outer
        zero = ir.Constant(_i64, 0)
        finish = self._finish() if self._passes.totals else None

        def set_chunks(size: Any) -> None:
            for i, value in enumerate((zero, size, end)):
                b.store(value, b.gep(arguments, [ir.Constant(_i64, self._next + i)], source_etype=_i64))

        if finish is not None:
            set_chunks(self._argument(b, sizes, self._loops))
        if target().has("GOMP_parallel") and target().has("omp_get_max_threads"):
            least = ir.Constant(_i64, _LEAST_OF_THREADS)
            with b.if_then(b.icmp_signed(">=", count, least), likely=False):
                threads = self._declared("omp_get_max_threads", _i32, [])
                available = b.call(threads, [])
                with b.if_then(b.icmp_signed(">", available, ir.Constant(_i32, 1))):
                    if finish is None:
                        parts = b.mul(b.zext(available, _i64), ir.Constant(_i64, _CHUNKS_OF_THREAD))
                        step = ir.Constant(_i64, 4 * self._lanes if self._loops == 1 and not self._rows else 1)
                        set_chunks(b.mul(b.add(b.udiv(b.udiv(end, parts), step), ir.Constant(_i64, 1)), step))
                    start = self._declared("GOMP_parallel", ir.VoidType(), [_pointer, _pointer, _i32, _i32])
                    b.call(start, [worker, arguments, available, ir.Constant(_i32, 0)])
                    if finish is not None:
                        b.call(finish, [arguments])
                    b.ret_void()
                    b.position_at_end(function.append_basic_block("unreached"))
        if finish is None:
            b.call(body, [arguments, zero, end])
        else:
            b.call(worker, [arguments])
            b.call(finish, [arguments])
        b.ret_void()

    def _finish(self) -> Any:
        """Writes the function that adds up the chunks' partial sums, and stores the outputs with a value per column."""
        function, b = self._function("finish", _pointer)
        (arguments,) = function.args
        _, outs, memory = self._addresses(b, arguments)
        columns = self._argument(b, arguments, self._loops - 1)
        size, rows = (self._argument(b, arguments, self._next + i) for i in (1, 2))
        first = self._partial(b, arguments, memory, ir.Constant(_i64, 0), columns)
        chunks = b.udiv(b.sub(b.add(rows, size), ir.Constant(_i64, 1)), size)
        row = _Row(self, b, [], outs, ir.Constant(_i64, 0), columns, {}, first)
        row.write_columns(chunks, self._padded(b, columns), rows)
        b.ret_void()
        return function

    def _declared(self, name: str, result: Any, arguments: Sequence[Any]) -> Any:
        return ir.Function(self._module, ir.FunctionType(result, arguments), name)


class _Row:
    """The passes over one row, or over a contiguous range.

    Args:
        kernel: the kernel.
        b: the builder of its instructions.
        ins, outs: the addresses of the inputs and outputs.
        begin, end: the range.
        kept: the memory of values that later passes read.
        partial: the addresses of the totals' partial sums.
        words: the addresses of random words for the elements at index 0.
    """

    def __init__(
        self, kernel: _Kernel, b: ir.IRBuilder, ins: Sequence[Any], outs: Sequence[Any], begin: Any, end: Any,
        kept: dict[Node, Any], partial: dict[Node, Any] | None = None, words: dict[Node, Any] | None = None,
    ) -> None:  # fmt: skip
        self._kernel, self._b, self._ins, self._outs = kernel, b, ins, outs
        self._begin, self._end, self._kept, self._partial = begin, end, kept, partial or {}
        self._words = words or {}
        self._vectors, self._one, self._lanes = kernel._b, kernel._one, kernel._lanes
        self._passes, self._module = kernel._passes, kernel._module
        self._vectors.block = self._one.block = b
        self._of_row: dict[Node, Any] = {}  # values of a row, in each lane

    def write(self) -> None:
        """Writes the passes, and stores their values for the row."""
        for i, roots in enumerate(self._passes.roots):
            if roots:
                self._pass(i)
        for pointer, node, kind in zip(self._outs, self._passes.outputs, self._passes.kinds, strict=True):
            if kind == ROW:
                value = self._vectors.stored(Element(self._row_value(node), node.dtype))
                self._b.store(self._first(value), pointer)

    def begin_total(self, node: Node, pointer: Any) -> None:
        """Writes the loop that initializes the partial sums of a total to its neutral element."""
        with _loop(self._b, self._begin, self._end, self._lanes) as loop:
            self._b.store(self._identity(node), self._at(pointer, loop.index, node.dtype), align=4)

    def write_columns(self, chunks: Any, length: Any, rows: Any) -> None:
        """Writes the loop over columns that adds up totals and stores outputs.

        Args:
            chunks: the number of chunks.
            length: the distance between the partial sums of two chunks, in elements of 8 bytes.
            rows: the number of rows.
        """
        b, vectors = self._b, self._vectors
        with _loop(b, self._begin, self._end, self._lanes) as loop:
            known: dict[Node, Any] = {}
            with _loop(b, ir.Constant(_i64, 0), chunks, 1) as parts:
                carried = [parts.carry(self._identity(node)) for node in self._partial]
                distance = b.mul(b.mul(parts.index, length), ir.Constant(_i64, _BYTES))
                for phi, (node, first) in zip(carried, self._partial.items(), strict=True):
                    at = self._at(b.gep(first, [distance], source_etype=_i8), loop.index, node.dtype)
                    part = b.load(at, typ=vectors.type(node.dtype), align=4)
                    parts.continue_with(phi, self._combined(node, phi, part))
            known.update((node, parts.result(phi)) for node, phi in zip(self._partial, carried, strict=True))

            def value(node: Node) -> Any:
                if node not in known:
                    if node.kind == "rows":
                        known[node] = vectors.splat(b.sitofp(rows, vectors.number_type(node.dtype)))
                    else:
                        known[node] = emitted(node, vectors, [value(o) for o in node.operands])
                return known[node]

            mask = self._mask(loop.index) if self._lanes > 1 else None
            for pointer, node, kind in zip(self._outs, self._passes.outputs, self._passes.kinds, strict=True):
                if kind == COLUMN:
                    self._store(vectors.stored(Element(value(node), node.dtype)), pointer, loop.index, mask)

    def _mask(self, index: Any) -> Any:
        """Returns the mask of a vector's elements before the end of the range."""
        left = self._vectors.splat(self._b.trunc(self._b.sub(self._end, index), _i32))
        numbers = ir.Constant(ir.VectorType(_i32, self._lanes), list(range(self._lanes)))
        return self._b.icmp_signed("<", numbers, left)

    def _first(self, value: Any) -> Any:
        return value if self._lanes == 1 else self._b.extract_element(value, ir.Constant(_i32, 0))

    def _row_value(self, node: Node) -> Any:
        """Returns the value of an expression of the row."""
        if node not in self._of_row:
            b, vectors = self._b, self._vectors
            if node.kind == "input":
                number = b.load(self._ins[node.extra[0]], typ=MEMORY[node.dtype], align=node.dtype.size)
                self._of_row[node] = vectors.loaded(vectors.splat(number), node.dtype).value
            elif node.kind == "length":
                length = b.sitofp(b.sub(self._end, self._begin), vectors.number_type(node.dtype))
                self._of_row[node] = vectors.splat(length)
            else:
                self._of_row[node] = emitted(node, vectors, [self._row_value(o) for o in node.operands])
        return self._of_row[node]

    def _pass(self, i: int) -> None:
        """Writes a pass: whole vectors, and then the remaining elements with a mask."""
        b, lanes = self._b, self._lanes
        nodes = self._passes.computed(i)
        for node in nodes:
            if node.of_row:
                self._row_value(node)
        reductions = self._passes.reductions[i]
        sums = [self._identity(node) for node in reductions]
        whole = b.sub(self._end, b.urem(b.sub(self._end, self._begin), ir.Constant(_i64, lanes)))
        begin = self._begin
        if reductions and len(nodes) <= _FEW_VALUES:
            step = max(_BLOCK // lanes, 1) * lanes
            blocks = b.sub(whole, b.urem(b.sub(whole, begin), ir.Constant(_i64, step)))
            sums = self._whole_vectors(i, nodes, sums, begin, blocks, step)
            begin = blocks
        sums = self._whole_vectors(i, nodes, sums, begin, whole, lanes)
        if lanes > 1:
            before = b.block
            with b.if_then(b.icmp_unsigned("<", whole, self._end)):
                mask = self._mask(whole)
                values = self._vector(i, nodes, whole, mask)
                last = []
                for node, value in zip(reductions, sums, strict=True):
                    chosen = b.select(mask, values[node.operands[0]], self._identity(node))
                    last.append(self._combined(node, value, chosen))
                inside = b.block
            sums = [self._merged(value, before, other, inside) for value, other in zip(sums, last, strict=True)]
        for node, value in zip(reductions, sums, strict=True):
            self._of_row[node] = self._vectors.splat(self._folded(node, value))

    def _whole_vectors(
        self, i: int, nodes: Sequence[Node], sums: Sequence[Any], begin: Any, end: Any, step: int
    ) -> list[Any]:
        """Writes a loop over whole vectors, and returns the values of a pass's reductions after it.

        Args:
            i: the index of the pass.
            nodes: the expressions that it computes.
            sums: the values of its reductions before the loop.
            begin, end: the range.
            step: the number of elements per iteration. An iteration combines its vectors pairwise.
        """
        reductions = self._passes.reductions[i]
        with _loop(self._b, begin, end, step) as loop:
            carried = [loop.carry(value) for value in sums]
            block = []
            for lane in range(0, step, self._lanes):
                index = self._b.add(loop.index, ir.Constant(_i64, lane)) if lane else loop.index
                block.append(self._vector(i, nodes, index, None))
            for phi, node in zip(carried, reductions, strict=True):
                combined = self._tree(node, [values[node.operands[0]] for values in block])
                loop.continue_with(phi, self._combined(node, phi, combined))
        return [loop.result(phi) for phi in carried]

    def _merged(self, value: Any, before: Any, other: Any, inside: Any) -> Any:
        phi = self._b.phi(value.type)
        phi.add_incoming(value, before)
        phi.add_incoming(other, inside)
        return phi

    def _identity(self, node: Node) -> Any:
        numbers = {"add": 0.0, "maximum": -math.inf, "minimum": math.inf}
        return self._vectors.emit_number(numbers[node.extra[0]], node.dtype)

    def _combined(self, node: Node, x: Any, y: Any, one: bool = False) -> Any:
        builder = self._one if one else self._vectors
        return getattr(builder, node.extra[0])(Element(x, node.dtype), Element(y, node.dtype)).value

    def _folded(self, node: Node, value: Any) -> Any:
        """Combines the lanes of a vector to one number."""
        if self._lanes == 1:
            return value
        parts = [self._b.extract_element(value, ir.Constant(_i32, i)) for i in range(self._lanes)]
        return self._tree(node, parts, one=True)

    def _tree(self, node: Node, parts: list[Any], one: bool = False) -> Any:
        """Combines values pairwise. Their number is a power of two."""
        while len(parts) > 1:
            half = len(parts) // 2
            parts = [self._combined(node, x, y, one) for x, y in zip(parts[:half], parts[half:], strict=True)]
        return parts[0]

    def _vector(self, i: int, nodes: Sequence[Node], index: Any, mask: Any) -> dict[Node, Any]:
        """Computes one vector of elements and stores results; with a mask, only some elements."""
        values = dict(self._of_row)
        for node in nodes:
            if node in values:
                continue
            if self._passes.kept.get(node, i) < i:
                at = self._at(self._kept[node], index, node.dtype)
                values[node] = self._b.load(at, typ=self._vectors.type(node.dtype), align=4)
            elif node.kind == "input":
                values[node] = self._vectors.loaded(self._load(node, index, mask), node.dtype).value
            elif node.kind == "word":
                at = self._at(self._words[node], index, node.dtype)
                values[node] = self._b.load(at, typ=self._vectors.type(node.dtype), align=4)
            else:
                values[node] = emitted(node, self._vectors, [values[o] for o in node.operands])
            if self._passes.kept.get(node) == i:
                self._b.store(values[node], self._at(self._kept[node], index, node.dtype), align=4)
        passes = self._passes
        for node, at in passes.totals.items():
            if at == i:
                place = self._at(self._partial[node], index, node.dtype)
                before = self._b.load(place, typ=self._vectors.type(node.dtype), align=4)
                self._b.store(self._combined(node, before, values[node.operands[0]]), place, align=4)
        for pointer, node, kind, at in zip(self._outs, passes.outputs, passes.kinds, passes.pass_of, strict=True):
            if kind == ELEMENT and at == i:
                self._store(self._vectors.stored(Element(values[node], node.dtype)), pointer, index, mask)
        return values

    def _at(self, pointer: Any, index: Any, dtype: DType) -> Any:
        return self._b.gep(pointer, [index], source_etype=self._vectors.number_type(dtype))

    def _load(self, node: Node, i: Any, mask: Any) -> Any:
        number = MEMORY[node.dtype]
        kind = self._vectors.vector(number)
        at = self._b.gep(self._ins[node.extra[0]], [i], source_etype=number)
        if mask is None:
            return self._b.load(at, typ=kind, align=node.dtype.size)
        load = self._masked("load", kind, kind, [_pointer, _i32, mask.type, kind])
        return self._b.call(load, [at, ir.Constant(_i32, node.dtype.size), mask, ir.Constant(kind, None)])

    def _store(self, value: Any, pointer: Any, i: Any, mask: Any) -> None:
        number = value.type if self._lanes == 1 else value.type.element
        at = self._b.gep(pointer, [i], source_etype=number)
        align = number.width // 8 if isinstance(number, ir.IntType) else _FLOAT_BYTES[number]
        if mask is None:
            self._b.store(value, at, align=align)
            return
        store = self._masked("store", value.type, ir.VoidType(), [value.type, _pointer, _i32, mask.type])
        self._b.call(store, [value, at, ir.Constant(_i32, align), mask])

    def _masked(self, what: str, kind: Any, result: Any, arguments: Sequence[Any]) -> Any:
        number = kind.element
        suffix = f"i{number.width}" if isinstance(number, ir.IntType) else f"f{8 * _FLOAT_BYTES[number]}"
        name = f"llvm.masked.{what}.v{kind.count}{suffix}.p0"
        return self._module.globals.get(name) or ir.Function(self._module, ir.FunctionType(result, arguments), name)


class _Words:
    """A buffer on the stack for a stream's random words. It has the words of the next elements.

    Args:
        b: the builder of a function that goes through a range.
        fill: the function that writes blocks of words.
        stream: the addresses of the key and of the counter.
        count: the number of words that are needed at once.
        end: the end of the range.
    """

    def __init__(self, b: ir.IRBuilder, fill: Any, stream: Sequence[Any], count: Any, end: Any) -> None:
        self._fill, self._stream, self._end = fill, stream, end
        least = ir.Constant(_i64, _WORDS)
        room = b.add(b.select(b.icmp_signed("<", count, least), least, count), ir.Constant(_i64, 2 * _SPARE))
        self._room = b.and_(room, ir.Constant(_i64, -_SPARE))
        self._memory = b.inttoptr(b.ptrtoint(b.alloca(_i32, self._room), _i64), _pointer)
        self._first = b.inttoptr(b.ptrtoint(b.alloca(_i64), _i64), _pointer)
        b.store(ir.Constant(_i64, -1 << 62), self._first)  # the element of the first word; none yet

    def at(self, b: ir.IRBuilder, begin: Any, end: Any) -> Any:
        """Returns the address of an element's word. The words of the elements up to `end` follow it."""
        known = b.add(b.load(self._first, typ=_i64), self._room)
        with b.if_then(b.icmp_signed(">", b.add(end, ir.Constant(_i64, _SPARE // 2)), known)):
            first = b.and_(begin, ir.Constant(_i64, -4))
            left = b.add(b.sub(self._end, first), ir.Constant(_i64, _SPARE - 1))
            left = b.and_(left, ir.Constant(_i64, -_SPARE))
            count = b.select(b.icmp_signed("<", left, self._room), left, self._room)
            blocks = [b.lshr(n, ir.Constant(_i64, 2)) for n in (first, count)]
            b.call(self._fill, [self._memory, *blocks, *self._stream])
            b.store(first, self._first)
        return b.gep(self._memory, [b.sub(begin, b.load(self._first, typ=_i64))], source_etype=_i32)


# Spare room of a buffer for words: they are written in whole vectors of blocks, and read in whole vectors.
_SPARE = 128
_CHAINS = 4  # vectors of blocks that are computed in parallel: the rounds of one block depend on each other


def _written_words(module: ir.Module) -> Any:
    """Writes the function that takes memory, the number of a block, a number of blocks, and the addresses of a key and
    a counter, and writes the words of the blocks in whole vectors."""
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), [_pointer, _i64, _i64, _pointer, _pointer]), "words")
    function.linkage = "internal"
    b = ir.IRBuilder(function.append_basic_block("entry"))
    memory, first, blocks, key, counter = function.args
    lanes = _CHAINS * max(target().lanes // 2, 1)
    vectors = Vectors(module, lanes)
    vectors.block = b
    high = b.gep(counter, [ir.Constant(_i64, 1)], source_etype=_i64)
    stream = [Element(vectors.splat(b.load(at, typ=_i64)), uint64) for at in (key, counter, high)]
    numbers = ir.Constant(vectors.type(uint64), list(range(lanes)))
    with _loop(b, ir.Constant(_i64, 0), blocks, lanes) as loop:
        offset = b.add(vectors.splat(b.add(first, loop.index)), numbers)
        words = block_at(vectors, stream, Element(offset, uint64))
        halves = [joined(vectors, *words[i : i + 2]).value for i in (0, 2)]
        at = b.gep(memory, [b.mul(loop.index, ir.Constant(_i64, 2))], source_etype=_i64)
        order = [i + lanes * j for i in range(lanes) for j in range(2)]
        mask = ir.Constant(ir.VectorType(_i32, 2 * lanes), order)
        b.store(b.shuffle_vector(*halves, mask), at, align=4)
    b.ret_void()
    return function


class _loop:
    """A loop from `begin` to `end` in steps, as a context.

    Attributes:
        index: the index.
    """

    def __init__(self, b: ir.IRBuilder, begin: Any, end: Any, step: int) -> None:
        self._b, self._begin, self._end, self._step = b, begin, end, step
        self._carried: list[tuple[Any, Any]] = []
        self._following: dict[int, Any] = {}  # by the ids of phis

    def __enter__(self) -> _loop:
        b = self._b
        self._before = b.block
        self._body, self._after = (b.function.append_basic_block(n) for n in ("loop", "after"))
        b.cbranch(b.icmp_signed("<", self._begin, self._end), self._body, self._after)
        b.position_at_end(self._body)
        self.index = self.carry(self._begin)
        return self

    def carry(self, value: Any) -> Any:
        """Adds a loop-carried value with an initial value, and returns it."""
        phi = self._b.phi(value.type)
        phi.add_incoming(value, self._before)
        self._carried.append((phi, value))
        return phi

    def continue_with(self, phi: Any, value: Any) -> None:
        """Sets a loop-carried value for the next iteration."""
        self._following[id(phi)] = value

    def __exit__(self, kind: object, *error: object) -> None:
        if kind is not None:
            return
        b = self._b
        following = b.add(self.index, ir.Constant(_i64, self._step))
        self.continue_with(self.index, following)
        last = b.block
        for phi, _ in self._carried:
            phi.add_incoming(self._following[id(phi)], last)
        b.cbranch(b.icmp_signed("<", following, self._end), self._body, self._after)
        b.position_at_end(self._after)
        self._results = {}
        for phi, value in self._carried:
            result = self._results[id(phi)] = b.phi(phi.type)
            result.add_incoming(value, self._before)
            result.add_incoming(self._following[id(phi)], last)

    def result(self, phi: Any) -> Any:
        """Returns the final value of a loop-carried value."""
        return self._results[id(phi)]
