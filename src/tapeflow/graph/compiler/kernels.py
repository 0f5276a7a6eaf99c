"""Kernels: one LLVM function with loops over elements for a group of element-wise ops, and nests of static sizes.

`write_nest` writes the loops of tensors of static sizes in native loops. The rest of this page is about kernels of
clusters. Both compute a row by the same passes (`_Row`).

A kernel takes one table: the addresses of its inputs and outputs, the sizes of its loops, the chunk size, constants and
strides. Inputs are broadcast along loops that they do not vary with. The elements of a row are contiguous. Torch's
OpenMP threads compute large ranges. Each thread takes the next chunk when it has finished one, so a busy processor does
not delay the others.

Totals over rows are summed for each chunk of rows, and then over the chunks in order. The chunk size depends only on
the tensor sizes, so the sums have the same bits for any number of threads.

Random words depend only on their positions. A range first writes the words of its next elements to the stack, in whole
blocks.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import llvmlite.ir as ir

from tapeflow.core.machine_code import target
from tapeflow.core.ops.elements import Element
from tapeflow.core.rng.elements import block_at, join_words
from tapeflow.core.types.dtypes import DType, float64, uint64
from tapeflow.graph.compiler.expressions import COLUMN, ELEMENT, ROW, WORDS, Node, Passes, emit_node
from tapeflow.graph.compiler.instructions import (
    I8,
    I32,
    I64,
    POINTER,
    allocated,
    load_entry,
    minimum,
    new_function,
    number,
    repeated,
    store_entry,
    value_of,
)
from tapeflow.graph.compiler.loops import CONTIGUOUS, EXPANDED, REPEATED, Operand
from tapeflow.graph.compiler.threads import run_worker, write_worker
from tapeflow.graph.compiler.vectors import MEMORY, Accumulator, Vectors

# Elements: for fewer, waking other threads takes longer than computing them.
_LEAST_OF_THREADS = 1 << 16
_CHUNKS_OF_THREAD = 4
_BYTES = 8  # of a total, whatever its dtype
# A pass with few values combines vectors of this many elements pairwise before adding them to its sums. The sum of up
# to twice as many equal numbers is then exact. So, as in TensorFlow, a normalization of equal numbers gives zeros.
_BLOCK = 64
_FEW_VALUES = 4


def text(inputs: Sequence[Operand], passes: Passes, loops: int) -> str:
    """Returns the module of a kernel, with `{name}` for its name.

    Args:
        inputs: the inputs.
        passes: its passes.
        loops: the number of loops, at least one. If there are rows, the last loop goes through a row.
    """
    return _Kernel(inputs, passes, loops).text()


class View(NamedTuple):
    """The elements of an operand in a nest.

    Attributes:
        pointer: the address of the first element; an element in a register if all elements are equal.
        strides: the strides along the axes, in elements; 0 broadcasts.
        dtype: its dtype.
    """

    pointer: Any
    strides: Sequence[int]
    dtype: DType


def write_nest(
    passes: Passes, vectors: Vectors, sizes: Sequence[int], ins: Sequence[View], outs: Sequence[View],
    constants: Sequence[Any], loop: Callable[..., Any] = repeated,
) -> None:  # fmt: skip
    """Writes the loops over axes of static sizes, at the place of a builder of vectors.

    Args:
        passes: the passes over the last axis.
        vectors: the builder.
        sizes: the sizes of the axes.
        ins, outs: the inputs and outputs.
        constants: the numbers of the passes' constants.
        loop: writes a loop, as `repeated` does.
    """
    b, (*outer, count) = vectors.block, sizes
    if passes.rows and 0 < count < vectors.lanes:  # combining fewer lanes takes fewer steps
        vectors = vectors.of_lanes(1 << (count - 1).bit_length())
    memory = {node: allocated(b, vectors.number_type(node.dtype), number(count + vectors.lanes))
              for node in (*passes.kept, *passes.totals)}  # fmt: skip
    kept, partial = ({node: memory[node] for node in nodes} for nodes in (passes.kept, passes.totals))

    def row(indices: Sequence[Any]) -> _Row:
        places = [place_of(vectors, view, indices) for view in (*ins, *outs)]
        strides = [view.strides[-1] for view in (*ins, *outs)]
        first = len(ins)
        return _Row(passes, vectors, constants, b, places[:first], places[first:], 0, count, kept, partial,
                    strides=strides, loop=loop)  # fmt: skip

    columns = [v.strides[:-1] for v, kind in zip(outs, passes.kinds, strict=True) if kind == COLUMN]
    first = max([i + 1 for s in columns for i, n in enumerate(s) if n], default=0)  # the axis that totals go over
    with contextlib.ExitStack() as stack:
        at = [stack.enter_context(loop(b, 0, n)) for n in outer[:first]]
        for node, pointer in partial.items():
            row(at).begin_total(node, pointer)
        with contextlib.ExitStack() as rows:
            row([*at, *(rows.enter_context(loop(b, 0, n)) for n in outer[first:])]).write()
        if partial:
            row(at).write_columns(1, 0, math.prod(outer[first:]))


def place_of(vectors: Vectors, view: View, indices: Sequence[Any]) -> Any:
    """Returns the address of a view's first element for indices in the outer axes, or its element in a register."""
    if isinstance(view.pointer, Element):
        return view.pointer
    b, offset = vectors.block, None
    for index, stride in zip(indices, view.strides, strict=False):
        if stride:
            step = index if stride == 1 else b.mul(index, number(stride))
            offset = step if offset is None else b.add(offset, step)
    return view.pointer if offset is None else vectors.moved(view.pointer, offset, view.dtype)


class _Kernel:
    """The functions of a kernel: `body` computes a range, `worker` the chunks of a thread, and `{name}` is called."""

    def __init__(self, inputs: Sequence[Operand], passes: Passes, loops: int) -> None:
        self._inputs, self._passes, self._loops = inputs, passes, loops
        self._outputs, self._rows = passes.outputs, passes.rows
        outputs = passes.outputs
        self._module = ir.Module("kernel")
        streams = {i for node in passes.words for i in node.extra}
        dtypes = [*(operand.dtype for i, operand in enumerate(inputs) if i not in streams), *(o.dtype for o in outputs)]
        wide = any(MEMORY[d] in (ir.DoubleType(), I64) for d in dtypes)
        self._lanes = max(target().lanes // (2 if wide else 1), 1)
        self._vectors = Vectors(self._module, self._lanes)
        pointers = len(inputs) + len(outputs) + bool(passes.totals)  # the last one is the memory for totals
        self._pointers = pointers
        # From here: the next chunk's start, size, the end; the constants; the entries of the inputs.
        self._next = loops + pointers
        self._places, self._count = [], len(passes.constants)  # of the inputs' entries after the chunks' three
        for operand in inputs:
            self._places.append(self._next + 3 + self._count)
            self._count += operand.entries()
        self._constants: list[Any] = []  # in the function that is being written
        self._fill = _written_words(self._module) if passes.words else None

    def text(self) -> str:
        body = self._body()
        self._entry(body, write_worker(body, self._next))
        return str(self._module).replace('@"kernel"', '@"{name}"')

    # ---- the range of a thread -----------------------------------------------------------------------------------

    def _body(self) -> Any:
        """Writes the function that computes a range: of elements for one loop, else of all but the inner loop."""
        function, b = new_function(self._module, "body", [POINTER, I64, I64])
        arguments, begin, end = function.args
        sizes = [load_entry(b, arguments, i) for i in range(self._loops)]
        ins, outs, totals = self._addresses(b, arguments)
        self._load_constants(b, arguments)
        strides: dict[int, list[Any]] = {}
        for i, operand in enumerate(self._inputs):
            entries = [load_entry(b, arguments, self._places[i] + j) for j in range(operand.entries())]
            if operand.access != CONTIGUOUS:
                strides[i] = entries
        if self._loops == 1 and not self._rows:
            words = self._words(b, ins, number(WORDS), end)
            if words:
                with repeated(b, begin, end, WORDS) as index:
                    stop = minimum(b, b.add(index, number(WORDS)), end)
                    back = b.neg(index)
                    at = {node: b.gep(w.at(b, index, stop), [back], source_etype=I32) for node, w in words.items()}
                    self._row(b, ins, outs, index, stop, {}, words=at).write()
            else:
                self._row(b, ins, outs, begin, end, {}).write()
            b.ret_void()
            return function
        words = self._words(b, ins, sizes[-1], b.mul(end, sizes[-1]))
        room = b.add(sizes[-1], number(self._lanes))
        kept = {node: allocated(b, self._vectors.number_type(node.dtype), room) for node in self._passes.kept}
        copies = {
            i: _Copies(b, self._vectors, operand, strides[i], sizes[-1]) for i, operand in enumerate(self._inputs)
            if operand.access in (REPEATED, EXPANDED)
        }  # fmt: skip
        partial = self._partial(b, arguments, totals, begin, sizes[-1])
        for node, pointer in partial.items():
            self._row(b, [], [], number(0), sizes[-1], {}).begin_total(node, pointer)
        with repeated(b, begin, end) as row:
            starts = [self._offset(b, pointer, operand, row, sizes, strides.get(i))
                      for i, (pointer, operand) in enumerate(zip(ins, self._inputs, strict=True))]  # fmt: skip
            starts = [copies[i].of(start) if i in copies else start for i, start in enumerate(starts)]
            results = []
            for pointer, node, kind in zip(outs, self._outputs, self._passes.kinds, strict=True):
                varies = (*[kind != COLUMN] * (self._loops - 1), kind == ELEMENT)
                results.append(self._offset(b, pointer, Operand(node.dtype, varies), row, sizes))
            first = b.mul(row, sizes[-1])
            at = {node: w.at(b, first, b.add(first, sizes[-1])) for node, w in words.items()}
            self._row(b, starts, results, number(0), sizes[-1], kept, partial, at).write()
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
        pointers = [b.inttoptr(load_entry(b, arguments, i), POINTER) for i in places]
        first, last = len(self._inputs), len(self._inputs) + len(self._outputs)
        return pointers[:first], pointers[first:last], pointers[-1]

    def _load_constants(self, b: ir.IRBuilder, arguments: Any) -> None:
        """Loads the constants for the function that is being written."""
        self._constants = []
        for i, (dtype, _) in enumerate(self._passes.constants):
            bits = load_entry(b, arguments, self._next + 3 + i)
            bits = bits if dtype is float64 else b.trunc(bits, I32)
            self._constants.append(b.bitcast(bits, self._vectors.number_type(dtype)))

    def _partial(self, b: ir.IRBuilder, arguments: Any, memory: Any, begin: Any, columns: Any) -> dict[Node, Any]:
        """Returns the address of a chunk's partial sums, for each total."""
        if not self._passes.totals:
            return {}
        size, end = (load_entry(b, arguments, self._next + i) for i in (1, 2))
        one = number(1)
        chunks = b.udiv(b.sub(b.add(end, size), one), size)
        length = b.mul(self._padded(b, columns), number(_BYTES))
        result = {}
        for i, node in enumerate(self._passes.totals):
            place = b.add(b.mul(number(i), chunks), b.udiv(begin, size))
            result[node] = b.gep(memory, [b.mul(place, length)], source_etype=I8)
        return result

    def _padded(self, b: ir.IRBuilder, columns: Any) -> Any:
        """Returns a number of columns, rounded up to whole vectors."""
        lanes = number(self._lanes)
        return b.mul(b.udiv(b.add(columns, number(self._lanes - 1)), lanes), lanes)

    def _offset(
        self, b: ir.IRBuilder, pointer: Any, operand: Operand, row: Any, sizes: Sequence[Any],
        strides: Sequence[Any] | None = None,
    ) -> Any:  # fmt: skip
        """Returns the address of an operand's first element in a row, from the outer loops' indices.

        Args:
            b: the builder.
            pointer: the address of the operand.
            operand: the operand.
            row: the index of the row.
            sizes: the sizes of the loops.
            strides: its strides along the outer loops, if it is not contiguous.
        """
        outer = operand.varies[:-1]
        if not any(outer):
            return pointer
        stride: Any = sizes[-1] if operand.varies[-1] else number(1)
        if all(outer) and strides is None:
            index = b.mul(row, stride)
        else:
            index, rest = number(0), row
            for axis in reversed(range(len(outer))):
                if outer[axis]:
                    own = stride if strides is None else strides[axis]
                    index = b.add(index, b.mul(b.urem(rest, sizes[axis]) if axis else rest, own))
                    stride = b.mul(stride, sizes[axis])
                rest = b.udiv(rest, sizes[axis]) if axis else rest
        return b.gep(pointer, [index], source_etype=MEMORY[operand.dtype])

    def _row(self, b: ir.IRBuilder, *arguments: Any, **options: Any) -> _Row:
        return _Row(self._passes, self._vectors, self._constants, b, *arguments, **options)

    # ---- the entry point -------------------------------------------------------------------------------------------

    def _entry(self, body: Any, worker: Any) -> None:
        """Writes the entry point: it takes a table of the addresses of all inputs and outputs, then the sizes."""
        function, b = new_function(self._module, "kernel", [POINTER], linkage="")
        (table,) = function.args
        arguments = b.alloca(I64, ir.Constant(I32, self._next + 3 + self._count))
        outer, count = number(1), number(1)
        for i in range(self._loops):
            size = load_entry(b, table, self._pointers + i)
            store_entry(b, size, arguments, i)
            outer = count if i else outer
            count = b.mul(count, size)
        for i in range(self._pointers):
            store_entry(b, load_entry(b, table, i), arguments, self._loops + i)
        for i in range(self._count):
            store_entry(b, load_entry(b, table, self._next + 1 + i), arguments, self._next + 3 + i)
        end = count if self._loops == 1 and not self._rows else outer
        zero = number(0)
        finish = self._finish() if self._passes.totals else None

        def set_chunks(size: Any) -> None:
            for i, value in enumerate((zero, size, end)):
                store_entry(b, value, arguments, self._next + i)

        def divide(threads: Any) -> None:
            if finish is None:
                parts = b.mul(threads, number(_CHUNKS_OF_THREAD))
                step = number(4 * self._lanes if self._loops == 1 and not self._rows else 1)
                set_chunks(b.mul(b.add(b.udiv(b.udiv(end, parts), step), number(1)), step))

        def compute_alone() -> None:
            b.call(worker, [arguments]) if finish else b.call(body, [arguments, zero, end])

        if finish is not None:
            set_chunks(load_entry(b, table, self._next))
        is_large = b.icmp_signed(">=", count, number(_LEAST_OF_THREADS))
        run_worker(b, worker, arguments, compute_alone, is_large, divide)
        if finish is not None:
            b.call(finish, [arguments])
        b.ret_void()

    def _finish(self) -> Any:
        """Writes the function that adds up the chunks' partial sums, and stores the outputs with a value per column."""
        function, b = new_function(self._module, "finish", [POINTER])
        (arguments,) = function.args
        _, outs, memory = self._addresses(b, arguments)
        self._load_constants(b, arguments)
        columns = load_entry(b, arguments, self._loops - 1)
        size, rows = (load_entry(b, arguments, self._next + i) for i in (1, 2))
        first = self._partial(b, arguments, memory, number(0), columns)
        chunks = b.udiv(b.sub(b.add(rows, size), number(1)), size)
        row = self._row(b, [], outs, number(0), columns, {}, first)
        row.write_columns(chunks, self._padded(b, columns), rows)
        b.ret_void()
        return function


class _Row:
    """The passes over one row, or over a contiguous range.

    Args:
        passes: the passes.
        vectors: the builder of vectors.
        constants: the numbers of the passes' constants.
        b: the builder of its instructions.
        ins, outs: the addresses of the inputs and outputs.
        begin, end: the range: values of 64 bits, or static integers.
        kept: the memory of values that later passes read.
        partial: the addresses of the totals' partial sums.
        words: the addresses of random words for the elements at index 0.
        strides: the strides of the inputs and then of the outputs along the range; contiguous by default.
        loop: writes a loop, as `repeated` does.
    """

    def __init__(
        self, passes: Passes, vectors: Vectors, constants: Sequence[Any], b: ir.IRBuilder, ins: Sequence[Any],
        outs: Sequence[Any], begin: Any, end: Any, kept: dict[Node, Any], partial: dict[Node, Any] | None = None,
        words: dict[Node, Any] | None = None, strides: Sequence[int] = (), loop: Callable[..., Any] = repeated,
    ) -> None:  # fmt: skip
        strides = strides or [1] * (len(ins) + len(outs))
        self._steps_in, self._steps_out, self._loop = strides[: len(ins)], strides[len(ins) :], loop
        self._constants, self._b, self._ins, self._outs = constants, b, ins, outs
        self._begin, self._end, self._kept, self._partial = begin, end, kept, partial or {}
        self._words = words or {}
        self._passes, self._vectors, self._lanes = passes, vectors, vectors.lanes
        vectors.block = b
        self._of_row: dict[Node, Any] = {}  # values of a row, in each lane

    def write(self) -> None:
        """Writes the passes, and stores their values for the row."""
        for i, roots in enumerate(self._passes.roots):
            if roots:
                self._pass(i)
        for pointer, node, kind in zip(self._outs, self._passes.outputs, self._passes.kinds, strict=True):
            if kind == ROW:
                value = Element(self._row_value(node), node.dtype)
                self._vectors.one.store(self._vectors.element_of(value, 0), pointer)

    def begin_total(self, node: Node, pointer: Any) -> None:
        """Writes the loop that initializes the partial sums of a total to its neutral element."""
        with self._loop(self._b, self._begin, self._end, self._lanes) as i:
            self._write(self._vectors.identity(node.extra[0], node.dtype), pointer, i)

    def write_columns(self, chunks: Any, length: Any, rows: Any) -> None:
        """Writes the loop over columns that adds up totals and stores outputs.

        Args:
            chunks: the number of chunks.
            length: the distance between the partial sums of two chunks, in elements of 8 bytes.
            rows: the number of rows. The numbers are values of 64 bits, or static integers.
        """
        b, vectors = self._b, self._vectors
        with self._loop(b, self._begin, self._end, self._lanes) as i:
            totals = {node: Accumulator(vectors, node.extra[0], node.dtype) for node in self._partial}
            with self._loop(b, 0 if isinstance(chunks, int) else number(0), chunks) as chunk:
                distance = b.mul(b.mul(chunk, value_of(length)), number(_BYTES))
                for node, total in totals.items():
                    first = b.gep(self._partial[node], [distance], source_etype=I8)
                    total.add(self._read(first, i, node.dtype))
            known = {node: total.load().value for node, total in totals.items()}

            def value(node: Node) -> Any:
                if node not in known:
                    if node.kind == "constant":
                        known[node] = vectors.splat(self._constants[node.extra[0]])
                    elif node.kind == "rows":
                        known[node] = vectors.splat(b.sitofp(value_of(rows), vectors.number_type(node.dtype)))
                    else:
                        known[node] = emit_node(node, vectors, [value(o) for o in node.operands])
                return known[node]

            mask = self._mask(i, self._end) if self._lanes > 1 else None
            for pointer, node, kind, step in self._results():
                if kind == COLUMN:
                    self._store(Element(value(node), node.dtype), pointer, i, step, mask)

    def _results(self) -> Iterator[tuple[Any, Node, str, int]]:
        """Yields for each output its address, its expression, its kind, and its stride."""
        return zip(self._outs, self._passes.outputs, self._passes.kinds, self._steps_out, strict=True)

    def _mask(self, index: Any, end: Any) -> Any:
        """Returns the mask of a vector's elements before the end of a range."""
        b, lanes = self._b, number(self._lanes)
        left = minimum(b, b.sub(value_of(end), index), lanes)  # it fits into 32 bits
        return self._vectors.mask_of_first(left)

    def _row_value(self, node: Node) -> Any:
        """Returns the value of an expression of the row."""
        if node not in self._of_row:
            b, vectors = self._b, self._vectors
            if node.kind == "input":
                place = self._ins[node.extra[0]]
                is_known = isinstance(place, Element)
                self._of_row[node] = (
                    vectors.splat(place.value) if is_known else vectors.load_one(place, node.dtype).value
                )
            elif node.kind == "constant":
                self._of_row[node] = vectors.splat(self._constants[node.extra[0]])
            elif node.kind == "length":
                length = b.sub(value_of(self._end), value_of(self._begin))
                self._of_row[node] = vectors.splat(b.sitofp(length, vectors.number_type(node.dtype)))
            else:
                self._of_row[node] = emit_node(node, vectors, [self._row_value(o) for o in node.operands])
        return self._of_row[node]

    def _pass(self, i: int) -> None:
        """Writes a pass: whole vectors, and then the remaining elements with a mask."""
        b, vectors, lanes = self._b, self._vectors, self._lanes
        nodes = self._passes.computed(i)
        for node in nodes:
            if node.of_row:
                self._row_value(node)
        reductions = self._passes.reductions[i]
        sums = {node: Accumulator(vectors, node.extra[0], node.dtype) for node in reductions}
        begin, whole = self._begin, self._end_of_whole(self._begin, self._end, lanes)
        if sums and len(nodes) <= _FEW_VALUES:
            step = max(_BLOCK // lanes, 1) * lanes
            blocks = self._end_of_whole(begin, whole, step)
            self._whole_vectors(i, nodes, sums, begin, blocks, step)
            begin = blocks
        self._whole_vectors(i, nodes, sums, begin, whole, lanes)
        is_static = isinstance(whole, int)
        if lanes > 1 and not (is_static and whole == self._end):
            has_rest = contextlib.nullcontext() if is_static else b.if_then(b.icmp_unsigned("<", whole, self._end))
            with has_rest:
                index = value_of(whole)
                mask = self._mask(index, self._end)
                values = self._vector(i, nodes, index, self._end - whole if is_static else mask)
                for node, total in sums.items():
                    identity = vectors.identity(node.extra[0], node.dtype).value
                    total.add(Element(b.select(mask, values[node.operands[0]], identity), node.dtype))
        for node, total in sums.items():
            one = vectors.one.combined(node.extra[0], total.elements(), halves=True)
            self._of_row[node] = vectors.splat(one.value)

    def _end_of_whole(self, begin: Any, end: Any, step: int) -> Any:
        """Returns the end of the whole steps in a range."""
        if isinstance(end, int):
            return end - (end - begin) % step
        return self._b.sub(end, self._b.urem(self._b.sub(end, begin), number(step)))

    def _whole_vectors(
        self, i: int, nodes: Sequence[Node], sums: dict[Node, Accumulator], begin: Any, end: Any, step: int
    ) -> None:
        """Writes a loop over whole vectors of a pass.

        Args:
            i: the index of the pass.
            nodes: the expressions that it computes.
            sums: the values of its reductions, which the loop changes.
            begin, end: the range.
            step: the number of elements per iteration. An iteration combines its vectors pairwise.
        """
        if isinstance(end, int) and begin == end:
            return
        with self._loop(self._b, begin, end, step) as first:
            block = []
            for lane in range(0, step, self._lanes):
                index = self._b.add(first, number(lane)) if lane else first
                block.append(self._vector(i, nodes, index, None))
            for node, total in sums.items():
                operands = [Element(values[node.operands[0]], node.dtype) for values in block]
                total.add(self._vectors.combined(node.extra[0], operands, halves=True))

    def _vector(self, i: int, nodes: Sequence[Node], index: Any, mask: Any) -> dict[Node, Any]:
        """Computes one vector of elements and stores results; with a mask or a number, only some elements."""
        values, passes, vectors = dict(self._of_row), self._passes, self._vectors
        for node in nodes:
            if node in values:
                continue
            if passes.kept.get(node, i) < i:
                values[node] = self._read(self._kept[node], index, node.dtype).value
            elif node.kind == "input":
                values[node] = self._load(node, index, mask).value
            elif node.kind == "word":
                values[node] = self._read(self._words[node], index, node.dtype).value
            else:
                values[node] = emit_node(node, vectors, [values[o] for o in node.operands])
            if passes.kept.get(node) == i:
                self._write(Element(values[node], node.dtype), self._kept[node], index)
        for node, at in passes.totals.items():
            if at == i:
                before = self._read(self._partial[node], index, node.dtype)
                x = Element(values[node.operands[0]], node.dtype)
                self._write(vectors.combined(node.extra[0], [before, x]), self._partial[node], index)
        for (pointer, node, kind, step), at in zip(self._results(), passes.pass_of, strict=True):
            if kind == ELEMENT and at == i:
                self._store(Element(values[node], node.dtype), pointer, index, step, mask)
        return values

    def _load(self, node: Node, index: Any, mask: Any) -> Element:
        """Returns a vector of an input's elements."""
        i, step = node.extra[0], self._steps_in[node.extra[0]]
        at = self._vectors.moved(self._ins[i], index if step == 1 else self._b.mul(index, number(step)), node.dtype)
        if step == 1:
            return self._vectors.load(at, node.dtype, mask)
        return self._vectors.load_strided(at, step, self._places_in(index), node.dtype)

    def _store(self, x: Element, pointer: Any, index: Any, step: int, mask: Any) -> None:
        """Stores a vector of an output's elements."""
        at = self._vectors.moved(pointer, index if step == 1 else self._b.mul(index, number(step)), x.dtype)
        if step == 1:
            self._vectors.store(x, at, mask)
        else:
            self._vectors.store_strided(x, at, step, self._places_in(index))

    def _places_in(self, index: Any) -> int:
        """Returns the number of elements of a vector before the end of a static range."""
        is_last = isinstance(index, ir.Constant)  # the remaining elements
        return min(self._end - index.constant, self._lanes) if is_last else self._lanes

    def _read(self, pointer: Any, index: Any, dtype: DType) -> Element:
        """Returns elements from memory that has the form of registers."""
        return Element(self._b.load(self._at(pointer, index, dtype), typ=self._vectors.type(dtype), align=4), dtype)

    def _write(self, x: Element, pointer: Any, index: Any) -> None:
        """Stores elements in memory that has the form of registers."""
        self._b.store(x.value, self._at(pointer, index, x.dtype), align=4)

    def _at(self, pointer: Any, index: Any, dtype: DType) -> Any:
        return self._b.gep(pointer, [index], source_etype=self._vectors.number_type(dtype))


class _Copies:
    """Memory on the stack for a row whose elements are copies: of a short row, or each of one element.

    Args:
        b: the builder of a function that goes through rows.
        vectors: the builder of vectors.
        operand: the operand.
        entries: the operand's entries of the kernel's table.
        size: the length of the row.
    """

    def __init__(self, b: ir.IRBuilder, vectors: Vectors, operand: Operand, entries: Sequence[Any], size: Any) -> None:
        self._b, self._vectors, self._operand, self._size = b, vectors, operand, size
        self._stride, self._length = entries[-2:]
        self._memory = allocated(b, MEMORY[operand.dtype], b.add(size, number(vectors.lanes)))
        self._source = allocated(b, I64)  # the address of the elements in memory
        b.store(number(0), self._source)

    def of(self, pointer: Any) -> Any:
        """Returns the address of the copies of elements at an address."""
        b = self._b
        source = b.ptrtoint(pointer, I64)
        with b.if_then(b.icmp_signed("!=", source, b.load(self._source, typ=I64))):
            b.store(source, self._source)
            self._vectors.block = b
            (self._expand if self._operand.access == EXPANDED else self._repeat)(pointer)
        return self._memory

    def _expand(self, pointer: Any) -> None:
        """Writes the loops that copy each element. What they write too much is overwritten by the next element."""
        b, dtype = self._b, self._operand.dtype
        with repeated(b, number(0), b.udiv(self._size, self._length)) as index:
            copies = self._vectors.load_one(self._vectors.moved(pointer, b.mul(index, self._stride), dtype), dtype)
            place = b.mul(index, self._length)
            with repeated(b, place, b.add(place, self._length), self._vectors.lanes) as i:
                self._vectors.store(copies, self._vectors.moved(self._memory, i, dtype))

    def _repeat(self, pointer: Any) -> None:
        """Writes the loops that copy a row: one by one to fill a vector, and then whole vectors."""
        b, dtype, lanes, length = self._b, self._operand.dtype, self._vectors.lanes, self._length
        whole = b.mul(b.udiv(b.add(length, number(lanes - 1)), length), length)
        with repeated(b, number(0), length) as i:
            element = self._vectors.one.load(self._vectors.moved(pointer, i, dtype), dtype)
            with repeated(b, i, whole, length) as place:
                self._vectors.one.store(element, self._vectors.moved(self._memory, place, dtype))
        with repeated(b, whole, self._size, lanes) as place:
            copies = self._vectors.load(self._vectors.moved(self._memory, b.sub(place, whole), dtype), dtype)
            self._vectors.store(copies, self._vectors.moved(self._memory, place, dtype))


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
        least = number(WORDS)
        room = b.add(b.select(b.icmp_signed("<", count, least), least, count), number(2 * _SPARE))
        self._room = b.and_(room, number(-_SPARE))
        self._memory = allocated(b, I32, self._room)
        self._first = allocated(b, I64)
        b.store(number(-1 << 62), self._first)  # the element of the first word; none yet

    def at(self, b: ir.IRBuilder, begin: Any, end: Any) -> Any:
        """Returns the address of an element's word. The words of the elements up to `end` follow it."""
        known = b.add(b.load(self._first, typ=I64), self._room)
        with b.if_then(b.icmp_signed(">", b.add(end, number(_SPARE // 2)), known)):
            first = b.and_(begin, number(-4))
            left = b.add(b.sub(self._end, first), number(_SPARE - 1))
            count = minimum(b, b.and_(left, number(-_SPARE)), self._room)
            blocks = [b.lshr(n, number(2)) for n in (first, count)]
            b.call(self._fill, [self._memory, *blocks, *self._stream])
            b.store(first, self._first)
        return b.gep(self._memory, [b.sub(begin, b.load(self._first, typ=I64))], source_etype=I32)


# Spare room of a buffer for words: they are written in whole vectors of blocks, and read in whole vectors.
_SPARE = 128
_CHAINS = 4  # vectors of blocks that are computed in parallel: the rounds of one block depend on each other


def _written_words(module: ir.Module) -> Any:
    """Writes the function that takes memory, the number of a block, a number of blocks, and the addresses of a key and
    a counter, and writes the words of the blocks in whole vectors."""
    function, b = new_function(module, "words", [POINTER, I64, I64, POINTER, POINTER])
    memory, first, blocks, key, counter = function.args
    lanes = _CHAINS * max(target().lanes // 2, 1)
    vectors = Vectors(module, lanes)
    vectors.block = b
    stream = [Element(vectors.splat(load_entry(b, *at)), uint64) for at in ((key, 0), (counter, 0), (counter, 1))]
    numbers = ir.Constant(vectors.type(uint64), list(range(lanes)))
    with repeated(b, number(0), blocks, lanes) as block:
        offset = b.add(vectors.splat(b.add(first, block)), numbers)
        words = block_at(vectors, stream, Element(offset, uint64))
        halves = [join_words(vectors, *words[i : i + 2]).value for i in (0, 2)]
        at = b.gep(memory, [b.mul(block, number(2))], source_etype=I64)
        order = [i + lanes * j for i in range(lanes) for j in range(2)]
        mask = ir.Constant(ir.VectorType(I32, 2 * lanes), order)
        b.store(b.shuffle_vector(*halves, mask), at, align=4)
    b.ret_void()
    return function
